/* The symbols that requests share; see state.h. */
#include "state.h"
#include "../../../report/base/memory.h"

#include <stdlib.h>

/* Images that stay open. Each maps its file, and takes some kilobytes of memory. */
enum { WORKER_OPEN = 256 };

worker_symbols *worker_open_symbols(const worker *w)
{
    const worker_options *o = w->options;
    store_options store_how = {o->lookups.no_cache};
    store *s = store_open(&store_how);
    bool ok = crash_add_named(&o->lookups, s);
    store_finish(s);
    if (!ok) {
        store_close(s);
        return NULL;
    }
    images_options how = crash_images_how(&o->lookups, s);
    how.max_open = WORKER_OPEN;
    how.max_bytes = o->host ? o->cache / 2 : o->cache; /* the other half is for chunks */
    how.folders = o->lookups.stores;
    how.folder_count = o->lookups.store_count;
    how.chunks = w->chunks;
    worker_symbols *symbols = mem_alloc(sizeof *symbols);
    *symbols = (worker_symbols){s, images_open(&how), 1};
    return symbols;
}

worker_symbols *worker_hold(worker *w)
{
    pthread_mutex_lock(&w->lock);
    worker_symbols *symbols = w->symbols;
    symbols->users++;
    pthread_mutex_unlock(&w->lock);
    return symbols;
}

void worker_release(worker *w, worker_symbols *symbols)
{
    pthread_mutex_lock(&w->lock);
    bool is_last = --symbols->users == 0;
    pthread_mutex_unlock(&w->lock);
    if (!is_last)
        return;
    images_counts counts = images_count(symbols->images);
    bool has_failed = crash_say_complaints(symbols->images) || store_failed(symbols->store);
    images_close(symbols->images);
    store_close(symbols->store);
    free(symbols);
    pthread_mutex_lock(&w->lock);
    w->has_failed |= has_failed;
    w->former.asked += counts.asked;
    w->former.opened += counts.opened;
    w->former.closed += counts.closed + counts.open;
    w->former.forgotten += counts.forgotten;
    pthread_mutex_unlock(&w->lock);
}

bool worker_reload(worker *w)
{
    worker_symbols *now = worker_open_symbols(w);
    if (now == NULL)
        return false;
    if (w->chunks != NULL)
        chunk_cache_forget(w->chunks);
    pthread_mutex_lock(&w->lock);
    worker_symbols *before = w->symbols;
    w->symbols = now;
    pthread_mutex_unlock(&w->lock);
    worker_release(w, before);
    return true;
}
