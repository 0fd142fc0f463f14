/* machsym map build of a shared cache: a map for each image, by several threads. */
#include "build.h"
#include "../../../report/base/memory.h"
#include "../../base/machine.h"
#include "../../base/out.h"
#include "../../base/say.h"
#include "../../files/caches.h"
#include "../../files/open.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Images may share all that they have, and the map of each holds it again. So no map is begun once all have
 * more than 16 MB and 4 bytes for each of the cache. Maps of 3,000 images with five million symbols have half
 * a byte for each byte of their names and symbol tables alone (tests/cache/many.py). */
enum { MAPS_BYTES = 16 << 20, MAPS_PER_BYTE = 4 };

/* An image that is wanted, and what came of it. */
typedef struct cached_image {
    char *name;
    text told;
} cached_image;

/* What the threads share; the lock guards what is below it. */
typedef struct cached_build {
    const machsym_open_desc *open; /* how to open an image, but for its name */
    map_build_call build;
    const void *user;
    const atomic_bool *is_full;
    uint64_t most; /* bytes of maps before the last one is begun */
    cached_image *v;
    size_t count;
    size_t cap;
    pthread_mutex_t lock;
    size_t next;
    size_t made;
    uint64_t size; /* of all maps */
} cached_build;

/* Whether a text fits a pattern with * and ?. A * takes as little as it can; when what follows does not
 * fit, the last one takes one more: so the steps are no more than the product of both lengths. */
static bool build_each_fits(machsym_str s, const char *pattern)
{
    const char *star = NULL;
    size_t star_at = 0;
    size_t at = 0;
    while (at < s.len) {
        if (*pattern == '*') {
            star = ++pattern;
            star_at = at;
        } else if (*pattern != 0 && (*pattern == '?' || *pattern == s.ptr[at])) {
            pattern++;
            at++;
        } else if (star != NULL) {
            pattern = star;
            at = ++star_at;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}

static void *build_images(void *argument)
{
    cached_build *b = argument;
    pthread_mutex_lock(&b->lock);
    while (b->next < b->count && b->size <= b->most && !atomic_load(b->is_full)) {
        uint64_t size;
        cached_image *image = &b->v[b->next++];
        machsym_open_desc open = *b->open;
        pthread_mutex_unlock(&b->lock);
        open.entry = image->name;
        bool ok = b->build(b->user, &open, &image->told, &size);
        pthread_mutex_lock(&b->lock);
        b->made += ok;
        b->size += size;
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void build_each_run_threads(cached_build *b, unsigned jobs)
{
    pthread_t threads[MAX_JOBS];
    size_t wanted = machine_threads(jobs, b->count);
    size_t started = 0;
    pthread_mutex_init(&b->lock, NULL);
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, build_images, b) == 0)
        started++;
    build_images(b); /* this thread is one of them */
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&b->lock);
}

static void build_each_list_images(cached_build *b, const machsym_image *cache, const char *pattern)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    while (cache_next_entry(cache, &at, &entry)) {
        if (pattern != NULL && !build_each_fits(entry.name, pattern))
            continue;
        b->v = mem_room(b->v, b->count, &b->cap, sizeof *b->v);
        cached_image *image = &b->v[b->count++];
        memset(image, 0, sizeof *image);
        image->name = str_copy_z(entry.name);
    }
}

/* What came of all images, in a line. */
static void build_each_tell_all(const cached_build *b, const char *path)
{
    unsigned long long left = b->count - b->made;
    if (atomic_load(b->is_full))
        say_message("%s: the disk is full: %llu of %llu images have no map", path, left,
                    (unsigned long long)b->count);
    else if (b->next < b->count)
        say_message(
            "%s: its maps have more than %d MB and %d times the bytes of the cache, so its images lie "
            "over each "
            "other: %llu of %llu have no map; --images=GLOB chooses some",
            path, MAPS_BYTES >> 20, MAPS_PER_BYTE, left, (unsigned long long)b->count);
    else
        say_plain("%s: %llu of %llu maps are made", path, (unsigned long long)b->made,
                  (unsigned long long)b->count);
}

bool build_each_image(const machsym_open_desc *cache, const char *pattern, unsigned jobs,
                      map_build_call build, const void *user, const atomic_bool *is_full)
{
    machsym_open_desc open = *cache;
    machsym_error err;
    cached_build b;
    memset(&b, 0, sizeof b);
    open.from = cache_open(cache->path, cache->flags, &err);
    if (open.from == NULL) {
        say_error(cache->path, &err);
        return false;
    }
    open_say_damage(open.from);
    b.open = &open;
    b.build = build;
    b.user = user;
    b.is_full = is_full;
    b.most = MAPS_BYTES + MAPS_PER_BYTE * cache_bytes(open.from);
    build_each_list_images(&b, open.from, pattern);
    if (b.count == 0)
        say_message("%s: no image of the shared cache %s; `machsym info CACHE` lists them", cache->path,
                    pattern != NULL ? "fits the pattern" : "is listed in this file");
    build_each_run_threads(&b, jobs);
    for (size_t i = 0; i < b.count; i++) {
        out_text(&b.v[i].told);
        text_free(&b.v[i].told);
        free(b.v[i].name);
    }
    free(b.v);
    build_each_tell_all(&b, cache->path);
    return b.count > 0 && b.made == b.count;
}
