/* ==== >> cmd/worker/state ====
 * Job: the symbols that all requests share, until they are looked for again.
 * Offers: worker, worker_options, worker_protocol; worker_hold, worker_release, worker_reload.
 * Never: answers a request. */
#ifndef MACHSYM_TOOL_CMD_WORKER_STATE_H
#define MACHSYM_TOOL_CMD_WORKER_STATE_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "../crash/crash.h"
#include "../../symbols/chunks.h"
#include "../../symbols/images.h"
#include "../../symbols/store.h"

#include <pthread.h>

/* What the options say. */
typedef struct worker_options {
    crash_options lookups;
    uint64_t max_request;    /* bytes of a line, and of a file that it names */
    uint64_t cache;          /* bytes of what is kept decoded */
    const char *build_store; /* where build requests write maps; NULL: nowhere */
    bool paths;              /* requests may name files */
    bool unordered;
    bool host;           /* asks its host for what no file has */
    double need_seconds; /* how long it may take to answer */
} worker_options;

/* What was done so far. */
typedef struct worker_counts {
    uint64_t requests; /* that were answered */
    uint64_t refused;  /* of these, with an error */
    uint64_t needs;    /* that threads had */
    uint64_t needs_failed;
    uint64_t late; /* answers to needs that are over, or never were */
} worker_counts;

typedef struct worker_run worker_run;

/* What is known of the symbols since they were last looked for. A request keeps those that it began with. */
typedef struct worker_symbols {
    store *store;
    image_pool *images;
    unsigned users; /* guarded by the lock of the worker */
} worker_symbols;

struct worker;

/* What lines say and how they are answered. Threads: any. */
typedef struct worker_protocol {
    /* Appends the answer to a line, nothing to one that wants none. bytes: those that follow the line. Returns
     * false when it is an error that the exit status tells. */
    bool (*answer)(struct worker *w, machsym_str line, machsym_str bytes, uint64_t number, text *out);
    /* The same to a line that was too long to be read. */
    bool (*refuse_long)(const struct worker *w, uint64_t number, text *out);
    bool has_bytes; /* a line whose first member is "bytes", a number, is followed by as many bytes */
} worker_protocol;

/* What all requests share. */
typedef struct worker {
    const worker_options *options;
    const worker_protocol *protocol;
    worker_symbols *symbols;
    images_counts former; /* of symbols that are gone */
    bool has_failed;      /* some of those were damaged */
    chunk_cache *chunks;  /* NULL without a host */
    worker_run *run;
    pthread_mutex_t lock; /* of counts, and of what the loop keeps */
    worker_counts counts;
} worker;

/* Looks for all symbols. Returns NULL after a message. */
worker_symbols *worker_open_symbols(const worker *w);
/* The symbols of the moment, until they are released. Threads: any. */
worker_symbols *worker_hold(worker *w);
void worker_release(worker *w, worker_symbols *symbols);
/* Looks for all symbols again. Returns false after a message: then those of before stay. Threads: any. */
bool worker_reload(worker *w);

#endif
