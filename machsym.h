/* machsym - names, files, lines and inline chains for addresses of Apple programs, on any machine.
 *
 * MIT or public domain, at your choice: see the end of this file.
 */
/* ==== >>manual ============================================================================================ */
#ifndef MACHSYM_H
#define MACHSYM_H

#define MACHSYM_VERSION_MAJOR 0
#define MACHSYM_VERSION_MINOR 1
#define MACHSYM_VERSION_PATCH 0
#define MACHSYM_VERSION "0.1.0"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ==== >>options =========================================================================================== */
#ifndef MACHSYM_API
#ifdef MACHSYM_STATIC
#define MACHSYM_API static
#else
#define MACHSYM_API extern
#endif
#endif

/* ==== >>api =============================================================================================== */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct machsym_str { /* A view of bytes; never NUL-terminated. */
    const char *ptr;
    size_t len;
} machsym_str;

enum machsym_demangle_flags {
    MACHSYM_DEMANGLE_FULL = 0,            /* as `swift demangle` prints; C++, Rust and D have this style only */
    MACHSYM_DEMANGLE_SIMPLIFIED = 1u << 0, /* Swift as Apple's reports print it, async prefixes kept */
    MACHSYM_DEMANGLE_RUST_HASH = 1u << 1  /* keep Rust's hashes (rustc-demangle's plain style) */
};

/* Writes the source form of a mangled C++, Swift, Rust or D name; any other name is copied unchanged.
 * Returns: the length of the result without the closing NUL, as snprintf does; at most cap - 1 bytes are written
 *          and a NUL behind them (nothing when cap is 0).
 * Owns / Borrows: keeps nothing. Threads: any. Cost: linear in input plus output; no allocation. */
MACHSYM_API size_t machsym_demangle(machsym_str mangled, uint32_t flags, char *buf, size_t cap);

#ifdef __cplusplus
}
#endif
#endif /* MACHSYM_H */

#if defined(MACHSYM_IMPLEMENTATION) && !defined(MACHSYM_IMPLEMENTED)
#define MACHSYM_IMPLEMENTED

#include <string.h>

/* ==== >>names =============================================================================================
 * Job:    turns mangled names into source form, one switch per language.
 * Uses:   bytes.
 * Offers: ms_dm_demangle.
 * Never:  allocates, reads outside the name, recurses past MS_DM depth, prints a partial name. */

typedef struct ms_dm {
    const char *s;       /* the mangled name */
    size_t len;          /* its length */
    size_t at;           /* reading position */
    uint32_t flags;      /* machsym_demangle_flags */
    char *out;           /* may be NULL when cap is 0 */
    size_t cap;          /* room in out; bytes past it are counted but not stored */
    size_t out_len;      /* bytes printed so far */
    size_t out_limit;    /* the output budget: printing past it sets failed */
    size_t work;         /* steps left: every node made, visited or re-read costs one; 0 sets failed */
    unsigned depth;      /* recursion depth now */
    bool failed;         /* sticky: not a mangled name of this language, or a budget is spent */
    bool no_mem;         /* scratch ran out: the caller tries once more with a larger one */
    unsigned char *mem;  /* scratch for nodes, 16-byte aligned */
    size_t mem_len;
    size_t mem_used;
} ms_dm;

/* Appends to the output; the one place that stores. */
static void ms_dm_put(ms_dm *d, const char *ptr, size_t len)
{
    if (len > d->out_limit - d->out_len) {
        d->failed = true;
        return;
    }
    if (d->out_len < d->cap) {
        size_t room = d->cap - d->out_len;
        memcpy(d->out + d->out_len, ptr, len < room ? len : room);
    }
    d->out_len += len;
}

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

#endif /* MACHSYM_IMPLEMENTATION */
