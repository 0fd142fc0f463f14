/* ==== >> symbols/map_chunks ====
 * Job: cuts a map into chunks.
 * Offers: cut_map, cut_index.
 * Never: stores a chunk.
 *
 * A map cut into chunks for a key-value store: docs/symmap.md. */
#ifndef MACHSYM_TOOL_MAP_CHUNKS_H
#define MACHSYM_TOOL_MAP_CHUNKS_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "source.h"

/* What is cut off a map at most: a chunk is no larger than 4 GB of text. */
#define CHUNK_SIZE_MOST UINT32_MAX

/* Takes a key and its value; returns how many bytes were made of them, for the budget. */
typedef uint64_t (*chunk_call)(void *user, machsym_str key, machsym_bytes value);

/* The chunks that one of the two tables has. */
typedef struct chunk_list {
    const char *name;
    uint64_t *v; /* pairs: the first chunk of a row of them, and how many follow each other */
    size_t count;
    size_t cap;
    uint64_t chunks;
    uint64_t bytes; /* of values */
} chunk_list;

/* What was cut: debug info, then symbols. */
typedef struct chunk_lists {
    chunk_list v[2];
} chunk_lists;

/* Cuts a map into chunks of chunk_size bytes of text, by address. Returns false after a message. */
bool cut_map(const symbol_file *file, uint64_t chunk_size, chunk_call put, void *user, chunk_lists *lists);
void cut_lists_free(chunk_lists *lists);
/* The value of image:UUID, which says what chunks there are. Returns false after a message. */
bool cut_index(const symbol_file *file, uint64_t chunk_size, const chunk_lists *lists, text *out);

#endif
