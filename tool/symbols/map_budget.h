/* ==== >> symbols/map_budget ====
 * Job: how much may be made of a map, however hostile it is.
 * Offers: map_budget; budget_of, budget_spend, budget_frames.
 * Never: ends a command.
 *
 * How much may be made of a map, however hostile it is. */
#ifndef MACHSYM_TOOL_MAP_BUDGET_H
#define MACHSYM_TOOL_MAP_BUDGET_H

#include "machsym.h"
#include "source.h"

enum { MAP_MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1 };

/* How much text a command makes of a map: MAP_TEXT bytes, and MAP_TEXT_PER_BYTE more for each byte of the
 * map. Counted are what is written, and the names and paths of a range each time that they are needed. A
 * dump of a large C++ program counts 75 for each byte of its map. In a hostile map all ranges could have
 * the same long names, and one range of four bytes could fill 400,000 chunks. */
enum {
    MAP_TEXT = 4 << 20,
    MAP_TEXT_PER_BYTE = 256,
    MAP_FRAME_TEXT = 64 /* what a frame counts beside its names */
};

/* What is left of it. */
typedef struct map_budget {
    const char *path; /* of the map */
    uint64_t size;    /* of it */
    uint64_t most;
    uint64_t left;
    bool is_spent;
} map_budget;

/* times: how often a range may be asked. */
map_budget budget_of(const symbol_file *file, unsigned times);
/* Takes bytes from it. Returns false when they are more than is left, and says so once. */
bool budget_spend(map_budget *b, uint64_t bytes);
/* What the names and paths of frames count. */
uint64_t budget_frames_cost(const machsym_frame *frames, size_t count);
/* The frames at an address; none once the budget is spent. frames: room for MAP_MAX_FRAMES. */
size_t budget_frames(map_budget *b, symbol_source *source, uint64_t addr, machsym_frame *frames);

#endif
