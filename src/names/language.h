#ifndef ms_ROOM_names_language
#define ms_ROOM_names_language
#include "../api/options.h"
#include "../base/bytes.h"
#include "core.h"
#include "swift_printer.h"
#include "rust.h"
#include "cxx_printer.h"
#include "d.h"

/* ==== >>language ==========================================================================================
 * Job:    hands a mangled name to the language that it may be of.
 * Offers: ms_dml_run.
 * Never:  takes more stack than the name needs: a small frame first, the large one when that is too small.
 *
 * Each language can be left out with MACHSYM_NO_SWIFT, MACHSYM_NO_RUST, MACHSYM_NO_CXX and MACHSYM_NO_D. Its
 * names then come back unchanged. */

enum ms_dml_language { ms_DML_NONE = 0, ms_DML_SWIFT = 1, ms_DML_RUST = 2, ms_DML_CXX = 4, ms_DML_D = 8 };

/* Returns the languages that a name may be of, by its first bytes. *skip is how many bytes to leave out:
 * Mach-O puts an underscore in front of every C symbol, and names come with and without it. Objective-C
 * methods belong to none of the languages. */
static unsigned ms_dml_detect(const char *s, size_t len, size_t *skip)
{
    size_t n = 0;
    while (n < len && n < 5 && s[n] == '_')
        n++;
    *skip = n == 2;
    if (len - n < 2)
        return ms_DML_NONE;
    switch (s[n]) {
    case '$': return n <= 1 ? ms_DML_SWIFT : ms_DML_NONE; /* $s, $S, $e; the reader knows them as _$s too */
    case '@': /* @__swiftmacro_ */ *skip = n; return n <= 1 ? ms_DML_SWIFT : ms_DML_NONE;
    case 'T': return n == 1 || n == 2 ? ms_DML_SWIFT : ms_DML_NONE; /* _T0, _Tt and older */
    case 'R': return n <= 2 ? ms_DML_RUST : ms_DML_NONE;
    case 'D': return n == 1 || n == 2 ? ms_DML_D : ms_DML_NONE;
    case 'a': /* __alloc_token_0__Znwm */
        *skip = n == 3;
        return (n == 2 || n == 3) && len - n > 12 && ms_equal(s + n, "alloc_token_", 12) ? ms_DML_CXX
                                                                                         : ms_DML_NONE;
    case 'Z':
        if (n == 0)
            return s[1] == 'N' ? ms_DML_RUST : ms_DML_NONE;
        *skip = n == 2 || n == 4; /* ___Z is a block inside a C++ function */
        return n <= 4 ? ms_DML_RUST | ms_DML_CXX : ms_DML_NONE;
    default: return ms_DML_NONE;
    }
}

static bool ms_dml_try(ms_dm *d, unsigned language)
{
    ms_dm_start(d);
    switch (language) {
#ifndef MACHSYM_NO_SWIFT
    case ms_DML_SWIFT: return ms_dmswp_run(d);
#endif
#ifndef MACHSYM_NO_RUST
    case ms_DML_RUST: return ms_dmrs_run(d);
#endif
#ifndef MACHSYM_NO_CXX
    case ms_DML_CXX: return ms_dmcxp_run(d);
#endif
#ifndef MACHSYM_NO_D
    case ms_DML_D: return ms_dmd_run(d);
#endif
    default: return false;
    }
}

/* Tries the languages that a name may be of. Rust is tried before C++: a name of its older scheme is a C++
 * name too, but few C++ names are names of that scheme. */
static bool ms_dml_any(ms_dm *d, unsigned languages)
{
    for (; languages != 0; languages &= languages - 1)
        if (ms_dml_try(d, languages & (0u - languages)))
            return true;
    return false;
}

/* The scratch is this function's stack frame. It is not inlined, so that other names do not pay for the
 * frame. */
static ms_NOINLINE bool ms_dml_run_small(ms_dm *d, unsigned languages)
{
    uint64_t frame[MACHSYM_DEMANGLE_SMALL_STACK / 8 + 1];
    d->mem = (unsigned char *)frame;
    d->mem += (uintptr_t)d->mem & 8u;
    d->mem_len = MACHSYM_DEMANGLE_SMALL_STACK;
    return ms_dml_any(d, languages);
}

#if MACHSYM_DEMANGLE_STACK > MACHSYM_DEMANGLE_SMALL_STACK
static ms_NOINLINE bool ms_dml_run_large(ms_dm *d, unsigned languages)
{
    uint64_t frame[MACHSYM_DEMANGLE_STACK / 8 + 1];
    d->no_mem = false;
    d->mem = (unsigned char *)frame;
    d->mem += (uintptr_t)d->mem & 8u;
    d->mem_len = MACHSYM_DEMANGLE_STACK & ~(size_t)15u;
    return ms_dml_any(d, languages);
}
#endif

static bool ms_dml_run(ms_dm *d)
{
    size_t skip;
    if (d->len > 0 && d->s[0] == '\1') { /* LLVM marks names with this byte that get no underscore in front */
        d->s++;
        d->len--;
    }
    unsigned languages = ms_dml_detect(d->s, d->len, &skip);
    if (languages == ms_DML_NONE)
        return false;
    d->s += skip;
    d->len -= skip;
    bool ok = ms_dml_run_small(d, languages);
#if MACHSYM_DEMANGLE_STACK > MACHSYM_DEMANGLE_SMALL_STACK
    if (!ok && d->no_mem)
        ok = ms_dml_run_large(d, languages);
#endif
    d->mem = NULL;
    return ok;
}

#endif /* ms_ROOM_names_language */
