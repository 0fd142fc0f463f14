#ifndef ms_ROOM_names_core
#define ms_ROOM_names_core
#include "../base/bytes.h"

/* ==== >>names ==============================================================================================
 * Job:    holds one name on its way to source form: input, output, budgets, scratch.
 * Offers: ms_dm, ms_dm_start, ms_dm_put, ms_dm_alloc.
 * Never:  allocates; reads outside the name; recurses past its depth limit; prints part of a name. */

typedef struct ms_dm {
    const char *s;      /* the mangled name */
    size_t len;         /* its length */
    size_t at;          /* reading position */
    uint32_t flags;     /* machsym_demangle_flags */
    char *out;          /* may be NULL when cap is 0 */
    size_t cap;         /* room in out; bytes past it are counted but not stored */
    size_t out_len;     /* bytes printed so far */
    size_t out_limit;   /* the output budget: printing past it sets failed */
    size_t work;        /* steps left: every node made, visited or re-read costs one; 0 sets failed */
    unsigned depth;     /* recursion depth now */
    bool failed;        /* sticky: not a mangled name of this language, or a budget is spent */
    bool no_mem;        /* scratch ran out: the caller tries once more with a larger one */
    unsigned char *mem; /* scratch for nodes, 16-byte aligned */
    size_t mem_len;
    size_t mem_used;
} ms_dm;

/* Forgets a failed try; budgets start anew, the wish for a larger frame stays. */
static void ms_dm_start(ms_dm *d)
{
    d->at = 0;
    d->out_len = 0;
    d->out_limit = ((size_t)256 << 10) + 16 * d->len;
    d->work = 65536 + 64 * d->len;
    d->depth = 0;
    d->failed = false;
    d->mem_used = 0;
}

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) || !defined(MACHSYM_NO_CXX) ||                   \
    !defined(MACHSYM_NO_D)
/* Appends to the output; the one place that stores. */
static void ms_dm_put(ms_dm *d, const char *ptr, size_t len)
{
    if (len > d->out_limit - d->out_len) {
        d->failed = true;
        return;
    }
    if (d->out_len < d->cap) {
        size_t room = d->cap - d->out_len;
        ms_copy(d->out + d->out_len, ptr, len < room ? len : room);
    }
    d->out_len += len;
}
#endif

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) || !defined(MACHSYM_NO_CXX)
/* Takes size bytes of scratch, 16-byte aligned; NULL and no_mem when it is used up. */
static void *ms_dm_alloc(ms_dm *d, size_t size)
{
    size_t need = (size + 15u) & ~(size_t)15u;
    if (need < size || need > d->mem_len - d->mem_used) {
        d->no_mem = true;
        d->failed = true;
        return NULL;
    }
    d->mem_used += need;
    return d->mem + (d->mem_used - need);
}
#endif

#endif /* ms_ROOM_names_core */
