/* ---- names: which language ------------------------------------------------------------------------------
 * Behind the four languages. Each can be left out with MACHSYM_NO_SWIFT, MACHSYM_NO_RUST, MACHSYM_NO_CXX and
 * MACHSYM_NO_D; its names then come back unchanged. */

/* The largest stack frame of machsym_demangle in bytes. A frame of 24 KB does for all but a few names in a
 * thousand; only those take the large one. Programs whose threads have small stacks set 24576: the few names
 * then come back unchanged. */
#ifndef MACHSYM_DEMANGLE_STACK
#define MACHSYM_DEMANGLE_STACK 262144
#endif

#if defined(__GNUC__) || defined(__clang__)
#define ms_dm_noinline __attribute__((noinline))
#elif defined(_MSC_VER)
#define ms_dm_noinline __declspec(noinline)
#else
#define ms_dm_noinline
#endif

enum { ms_dm_small_frame = 24576 };

enum ms_dm_language {
    ms_dm_is_none = 0,
    ms_dm_is_swift = 1,
    ms_dm_is_rust = 2,
    ms_dm_is_cxx = 4,
    ms_dm_is_d = 8
};

/* The languages that a name may be of, by its first bytes, and how many of those to leave out: Mach-O puts an
 * underscore in front of every C symbol, and names come with and without it. Objective-C methods are none. */
static unsigned ms_dm_detect(const char *s, size_t len, size_t *skip)
{
    size_t n = 0;
    while (n < len && n < 5 && s[n] == '_')
        n++;
    *skip = n == 2;
    if (len - n < 2)
        return ms_dm_is_none;
    switch (s[n]) {
    case '$': /* $s, $S, $e */
    case '@': /* @__swiftmacro_ */ *skip = n; return n <= 1 ? ms_dm_is_swift : ms_dm_is_none;
    case 'T': return n == 1 || n == 2 ? ms_dm_is_swift : ms_dm_is_none; /* _T0, _Tt and older */
    case 'R': return n <= 2 ? ms_dm_is_rust : ms_dm_is_none;
    case 'D': return n == 1 || n == 2 ? ms_dm_is_d : ms_dm_is_none;
    case 'Z':
        if (n == 0)
            return s[1] == 'N' ? ms_dm_is_rust : ms_dm_is_none;
        *skip = n == 2 || n == 4; /* ___Z is a block inside a C++ function */
        return n <= 4 ? ms_dm_is_rust | ms_dm_is_cxx : ms_dm_is_none;
    default: return ms_dm_is_none;
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
    case ms_dm_is_swift: return ms_dm_swift(d);
#endif
#ifndef MACHSYM_NO_RUST
    case ms_dm_is_rust: return ms_dm_rust(d);
#endif
#ifndef MACHSYM_NO_CXX
    case ms_dm_is_cxx: return ms_dm_cxx(d);
#endif
#ifndef MACHSYM_NO_D
    case ms_dm_is_d: return ms_dm_d(d);
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
    for (unsigned language = ms_dm_is_swift; language <= ms_dm_is_d && !ok; language <<= 1)
        ok = (languages & language) != 0 && ms_dm_try(d, language);
    d->s -= skip;
    d->len += skip;
    return ok;
}

/* The frame is the array: a function of its own, so that names that need none do not pay for it. */
static ms_dm_noinline bool ms_dm_run_small(ms_dm *d)
{
    uint64_t frame[ms_dm_small_frame / 8 + 1];
    d->mem = (unsigned char *)frame;
    d->mem += (uintptr_t)d->mem & 8u;
    d->mem_len = ms_dm_small_frame;
    return ms_dm_any(d);
}

#if MACHSYM_DEMANGLE_STACK > 24576
static ms_dm_noinline bool ms_dm_run_large(ms_dm *d)
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
    if (ms_dm_detect(d->s, d->len, &skip) == ms_dm_is_none)
        return false;
    bool ok = ms_dm_run_small(d);
#if MACHSYM_DEMANGLE_STACK > 24576
    if (!ok && d->no_mem)
        ok = ms_dm_run_large(d);
#endif
    d->mem = NULL;
    return ok;
}

MACHSYM_API size_t machsym_demangle(machsym_str mangled, uint32_t flags, char *buf, size_t cap)
{
    ms_dm d;
    memset(&d, 0, sizeof d);
    d.s = mangled.ptr;
    d.len = mangled.len;
    d.flags = flags;
    d.out = buf;
    d.cap = cap > 0 ? cap - 1 : 0;
    size_t len = mangled.len;
    if (ms_dm_run(&d))
        len = d.out_len;
    else if (d.cap > 0 && len > 0)
        memcpy(buf, mangled.ptr, len < d.cap ? len : d.cap);
    if (cap > 0)
        buf[len < d.cap ? len : d.cap] = '\0';
    return len;
}

#undef ms_dm_noinline
