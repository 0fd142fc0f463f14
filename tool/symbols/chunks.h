/* ==== >> symbols/chunks ====
 * Job: looks up in maps whose chunks lie elsewhere.
 * Offers: chunk_cache, chunked, chunk_seat; chunk_cache_open, chunked_open, chunk_seat_frames.
 * Never: knows who has the chunks.
 *
 * Images whose maps lie in chunks somewhere else, in a key-value store say: docs/symmap.md. */
#ifndef MACHSYM_TOOL_CHUNKS_H
#define MACHSYM_TOOL_CHUNKS_H

#include "machsym.h"
#include "../../report/base/text.h"

/* Adds the key of a chunk. */
void chunk_key(text *out, const char *table, machsym_str image, const machsym_uuid *uuid, uint64_t index);
/* Adds the key of the list of an image's chunks. */
void chunk_list_key(text *out, const machsym_uuid *uuid);

/* How the value of a key was got. */
typedef enum chunk_got { CHUNK_GOT = 0, CHUNK_NOT_THERE, CHUNK_FAILED } chunk_got;

/* Who has them. */
typedef struct chunk_host {
    /* Gets the value of a key; of one that FAILED *why tells why. Threads: any. */
    chunk_got (*get)(void *user, machsym_str key, text *value, text *why);
    void *user;
} chunk_host;

/* Chunks that were got, of all images; of those not in use the least recently used go. Threads: any. */
typedef struct chunk_cache chunk_cache;

typedef struct chunk_counts {
    uint64_t asked;
    uint64_t fetched;   /* of these, those that the host was asked for */
    uint64_t forgotten; /* that made room */
    uint64_t count;
    uint64_t bytes;
} chunk_counts;

/* max_bytes: of chunks that no lookup uses. */
chunk_cache *chunk_cache_open(const chunk_host *host, uint64_t max_bytes);
void chunk_cache_close(chunk_cache *cache);
chunk_counts chunk_cache_count(chunk_cache *cache);
/* Forgets all chunks, since they may have been built again. */
void chunk_cache_forget(chunk_cache *cache);

/* An image in chunks: which there are. Never changes: any number of threads may share it. */
typedef struct chunked chunked;

/* Gets the list of an image's chunks. NULL: *got tells why, and of FAILED *why. */
chunked *chunked_open(chunk_cache *cache, const machsym_uuid *uuid, chunk_got *got, text *why);
void chunked_close(chunked *image);
/* A map without ranges, which tells the rest of the image. */
machsym_bytes chunked_map(const chunked *image);
bool chunked_has_dwarf(const chunked *image);

/* One thread's lookups. */
typedef struct chunk_seat chunk_seat;

chunk_seat *chunk_seat_open(chunked *image, machsym_lines lines, uint32_t session_flags);
void chunk_seat_close(chunk_seat *seat);
/* The frames at an address of the file, as symbol_source_frames has them. They live until the next call. */
size_t chunk_seat_frames(chunk_seat *seat, uint64_t addr, machsym_frame *frames, size_t cap);
/* Why a chunk could not be had that the last call needed: then it has no frames; NULL: all could. */
const char *chunk_seat_failure(chunk_seat *seat);

#endif
