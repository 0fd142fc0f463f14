#ifndef ms_ROOM_names_names
#define ms_ROOM_names_names
#include "../api/options.h"
#include "core.h"
#include "swift.h"
#include "rust.h"
#include "cxx.h"
#include "d.h"

/* ---- names: which language ------------------------------------------------------------------------------
 * Behind the four languages. Each can be left out with MACHSYM_NO_SWIFT, MACHSYM_NO_RUST, MACHSYM_NO_CXX and
 * MACHSYM_NO_D; its names then come back unchanged. */

#if defined(__GNUC__) || defined(__clang__)
#define ms_DM_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define ms_DM_NOINLINE __declspec(noinline)
#else
#define ms_DM_NOINLINE
#endif

enum { ms_DM_SMALL_FRAME = 24576 };

enum ms_dm_language { ms_DM_NONE = 0, ms_DM_SWIFT = 1, ms_DM_RUST = 2, ms_DM_CXX = 4, ms_DM_D = 8 };

/* The languages that a name may be of, by its first bytes, and how many of those to leave out: Mach-O puts an
 * underscore in front of every C symbol, and names come with and without it. Objective-C methods are none. */
static unsigned ms_dm_detect(const char *s, size_t len, size_t *skip)
{
    size_t n = 0;
    while (n < len && n < 5 && s[n] == '_')
        n++;
    *skip = n == 2;
    if (len - n < 2)
        return ms_DM_NONE;
    switch (s[n]) {
    case '$': /* $s, $S, $e */
    case '@': /* @__swiftmacro_ */ *skip = n; return n <= 1 ? ms_DM_SWIFT : ms_DM_NONE;
    case 'T': return n == 1 || n == 2 ? ms_DM_SWIFT : ms_DM_NONE; /* _T0, _Tt and older */
    case 'R': return n <= 2 ? ms_DM_RUST : ms_DM_NONE;
    case 'D': return n == 1 || n == 2 ? ms_DM_D : ms_DM_NONE;
    case 'Z':
        if (n == 0)
            return s[1] == 'N' ? ms_DM_RUST : ms_DM_NONE;
        *skip = n == 2 || n == 4; /* ___Z is a block inside a C++ function */
        return n <= 4 ? ms_DM_RUST | ms_DM_CXX : ms_DM_NONE;
    default: return ms_DM_NONE;
    }
}

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

static bool ms_dm_try(ms_dm *d, unsigned language)
{
    ms_dm_start(d);
    switch (language) {
#ifndef MACHSYM_NO_SWIFT
    case ms_DM_SWIFT: return ms_dm_swift(d);
#endif
#ifndef MACHSYM_NO_RUST
    case ms_DM_RUST: return ms_dm_rust(d);
#endif
#ifndef MACHSYM_NO_CXX
    case ms_DM_CXX: return ms_dm_cxx(d);
#endif
#ifndef MACHSYM_NO_D
    case ms_DM_D: return ms_dm_d(d);
#endif
    default: return false;
    }
}

/* Rust goes before C++: its older scheme is a C++ name by form, but asks for more. */
static bool ms_dm_any(ms_dm *d)
{
    size_t skip;
    unsigned languages = ms_dm_detect(d->s, d->len, &skip);
    d->s += skip;
    d->len -= skip;
    bool ok = false;
    for (unsigned language = ms_DM_SWIFT; language <= ms_DM_D && !ok; language <<= 1)
        ok = (languages & language) != 0 && ms_dm_try(d, language);
    d->s -= skip;
    d->len += skip;
    return ok;
}

/* The frame is the array: a function of its own, so that names that need none do not pay for it. */
static ms_DM_NOINLINE bool ms_dm_run_small(ms_dm *d)
{
    uint64_t frame[ms_DM_SMALL_FRAME / 8 + 1];
    d->mem = (unsigned char *)frame;
    d->mem += (uintptr_t)d->mem & 8u;
    d->mem_len = ms_DM_SMALL_FRAME;
    return ms_dm_any(d);
}

#if MACHSYM_DEMANGLE_STACK > 24576
static ms_DM_NOINLINE bool ms_dm_run_large(ms_dm *d)
{
    uint64_t frame[MACHSYM_DEMANGLE_STACK / 8 + 1];
    d->no_mem = false;
    d->mem = (unsigned char *)frame;
    d->mem += (uintptr_t)d->mem & 8u;
    d->mem_len = MACHSYM_DEMANGLE_STACK & ~(size_t)15u;
    return ms_dm_any(d);
}
#endif

static bool ms_dm_run(ms_dm *d)
{
    size_t skip;
    if (d->len > 0 && d->s[0] == '\1') { /* LLVM's mark of a name that is the linker's already */
        d->s++;
        d->len--;
    }
    if (ms_dm_detect(d->s, d->len, &skip) == ms_DM_NONE)
        return false;
    bool ok = ms_dm_run_small(d);
#if MACHSYM_DEMANGLE_STACK > 24576
    if (!ok && d->no_mem)
        ok = ms_dm_run_large(d);
#endif
    d->mem = NULL;
    return ok;
}

#endif /* ms_ROOM_names_names */
