/* ==== >> read/frame_walk ====
 * Job: the return addresses on the stack of a stopped thread, by its frame pointers.
 * Offers: framewalk_stack.
 * Never: reads unwind tables. */
#ifndef MACHSYM_TOOL_FRAME_WALK_H
#define MACHSYM_TOOL_FRAME_WALK_H

#include "machsym.h"

/* A stopped thread, and the memory that its stack lies in. */
typedef struct framewalk {
    /* Reads eight bytes of memory. Returns false if they are not there. */
    bool (*read)(const void *context, uint64_t addr, uint64_t *out);
    const void *context;
    uint32_t cputype;
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    uint64_t caller; /* a return address that is known without the stack; 0: unknown */
} framewalk;

/* Writes the addresses of the stack to out, at most cap: the pc first, without pointer authentication. Each
 * frame record lies above the one before, so every stack ends. Returns how many, at least 1 if cap is at least
 * 1. */
uint32_t framewalk_stack(const framewalk *walk, uint64_t *out, uint32_t cap);

#endif
