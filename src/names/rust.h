#ifndef ms_ROOM_names_rust
#define ms_ROOM_names_rust
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "core.h"

/* ==== >>rust ==============================================================================================
 * Job:    turns Rust names into source form.
 * Offers: ms_dmrs_run.
 * Never:  keeps a tree: what is read is printed at once.
 *
 * Two schemes. The older ("legacy") one looks like a C++ nested name whose last part is a hash: it is taken
 * only when it has that hash, one of Rust's own $ escapes or LLVM suffixes, so that a C++ name never matches.
 * The newer one ("v0") is a prefix grammar (rustc book, "v0 Symbol Format"; RFC 2603), printed while it is
 * read. Back-references are read again at their target, so no nodes are kept. Both print as rustc-demangle
 * does, errors too: a name whose syntax is right where it stands may have back-references to what is no path
 * or type, which print `{invalid syntax}`, and `?` for what would have followed there. */

#ifndef MACHSYM_NO_RUST

enum {
    ms_DMRS_LEVELS = 500, /* rustc-demangle's limit: names print `{recursion limit reached}` after it */
    ms_DMRS_PUNY = 128    /* characters that it decodes; longer identifiers print as Punycode */
};

typedef struct ms_dmrs { /* The state of reading one v0 name. */
    ms_dm *d;
    const char *s;  /* the name after its prefix: back-references count from here */
    size_t len;     /* up to the suffix */
    size_t at;      /* reading position */
    uint64_t bound; /* lifetimes bound by the binders around */
    unsigned level; /* paths, types and constants around, as rustc-demangle counts them */
    unsigned jumps; /* back-references around */
    bool quiet;     /* reading a part that is not shown */
    bool hash;      /* show crate hashes and the types of constants */
    bool broken;    /* nothing more is read, up to the end of the innermost back-reference's target */
    bool erred;     /* an error was met somewhere */
} ms_dmrs;

typedef struct ms_dmrs_id { /* One identifier as written. */
    const char *ptr;
    size_t len;
    bool punycode;
} ms_dmrs_id;

#define ms_dmrs_lit(r, text) ms_dmrs_put(r, text, sizeof(text) - 1)

/* ---- printing ---- */

static void ms_dmrs_put(ms_dmrs *r, const char *ptr, size_t len)
{
    if (!r->quiet)
        ms_dm_put(r->d, ptr, len);
}

/* Prints value in base 10 or 16. */
static void ms_dmrs_put_number(ms_dmrs *r, uint64_t value, unsigned base)
{
    char text[20];
    size_t at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    ms_dmrs_put(r, text + at, sizeof text - at);
}

static bool ms_dmrs_is_scalar(uint64_t code)
{
    return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
}

static void ms_dmrs_put_utf8(ms_dm *d, uint32_t code)
{
    char text[4] = {(char)code};
    ms_dm_put(d, text, code < 0x80 ? 1 : ms_dm_utf8(code, text));
}

/* The code points that Rust 1.95 shows as \u{...}, of Unicode 17: controls, odd spaces, combining marks,
 * those for private use and unassigned ones. Pairs of numbers: how many are shown before a range, and how
 * many are in the range less one. A number is LEB128. 906 ranges in 1,897 bytes. */
static const unsigned char ms_dmrs_hidden[] = {
    0,   31,  95,  33,  12,  0,   210, 4,   111, 8,   1,   6,   3,   7,   0,   1,   0,   20,  0,   224, 1,
    6,   166, 1,   0,   38,  1,   50,  1,   3,   45,  1,   0,   1,   1,   1,   1,   1,   8,   27,  3,   6,
    16,  10,  10,  1,   0,   46,  20,  16,  0,   101, 7,   1,   5,   2,   1,   1,   3,   32,  1,   1,   0,
    30,  28,  89,  10,  1,   13,  43,  8,   7,   2,   24,  3,   1,   8,   1,   2,   1,   6,   15,  0,   25,
    4,   1,   0,   11,  4,   32,  15,  42,  56,  55,  0,   1,   0,   4,   7,   4,   0,   3,   6,   10,  1,
    29,  0,   2,   0,   8,   1,   2,   1,   22,  0,   7,   0,   1,   2,   4,   2,   1,   0,   2,   5,   2,
    1,   2,   0,   1,   12,  2,   0,   3,   3,   24,  4,   1,   0,   6,   3,   2,   1,   22,  0,   7,   0,
    2,   0,   2,   0,   2,   3,   3,   23,  4,   0,   1,   6,   10,  1,   3,   0,   1,   11,  1,   0,   9,
    0,   3,   0,   22,  0,   7,   0,   2,   0,   5,   2,   4,   7,   1,   0,   2,   2,   1,   14,  2,   3,
    12,  6,   1,   7,   2,   0,   8,   1,   2,   1,   22,  0,   7,   0,   2,   0,   5,   2,   1,   1,   1,
    5,   2,   1,   2,   14,  2,   0,   3,   3,   18,  10,  1,   0,   6,   2,   3,   0,   4,   2,   2,   0,
    1,   0,   2,   2,   2,   2,   3,   2,   12,  4,   1,   0,   2,   2,   3,   0,   3,   2,   1,   20,  21,
    5,   3,   0,   8,   0,   3,   0,   23,  0,   16,  2,   1,   2,   4,   18,  3,   0,   2,   1,   2,   3,
    10,  6,   10,  0,   11,  0,   3,   0,   23,  0,   10,  0,   5,   2,   2,   1,   1,   0,   2,   22,  3,
    0,   2,   3,   10,  0,   3,   13,  11,  0,   3,   0,   41,  1,   1,   0,   2,   4,   3,   0,   3,   0,
    2,   3,   3,   0,   10,  3,   26,  1,   2,   0,   18,  2,   24,  0,   9,   0,   1,   1,   7,   8,   2,
    5,   7,   6,   10,  1,   3,   11,  48,  0,   2,   10,  8,   7,   13,  36,  2,   0,   1,   0,   5,   0,
    24,  0,   1,   0,   10,  0,   2,   8,   1,   1,   5,   0,   1,   8,   10,  1,   4,   31,  24,  1,   27,
    0,   1,   0,   1,   0,   14,  0,   36,  17,  1,   4,   1,   1,   5,   48,  8,   0,   6,   0,   13,  36,
    45,  3,   1,   5,   1,   1,   2,   1,   25,  1,   4,   2,   16,  3,   13,  0,   2,   1,   6,   0,   15,
    0,   40,  0,   1,   4,   1,   1,   249, 2,   0,   4,   1,   7,   0,   1,   0,   4,   1,   41,  0,   4,
    1,   33,  0,   4,   1,   7,   0,   1,   0,   4,   1,   15,  0,   57,  0,   4,   1,   67,  4,   29,  2,
    26,  5,   86,  1,   6,   1,   128, 5,   0,   28,  2,   89,  6,   18,  12,  19,  2,   2,   8,   18,  13,
    13,  0,   3,   14,  52,  1,   1,   6,   8,   0,   2,   10,  9,   2,   10,  5,   10,  5,   11,  4,   10,
    5,   89,  6,   5,   1,   34,  0,   1,   4,   70,  9,   31,  3,   4,   1,   3,   3,   2,   0,   6,   6,
    1,   2,   42,  1,   5,   10,  44,  3,   26,  5,   11,  2,   57,  1,   2,   2,   56,  0,   1,   8,   1,
    0,   2,   7,   6,   12,  10,  5,   10,  5,   14,  85,  48,  9,   4,   2,   8,   0,   29,  8,   12,  1,
    32,  3,   2,   5,   56,  0,   1,   1,   3,   0,   1,   12,  48,  7,   2,   4,   15,  2,   62,  4,   43,
    1,   11,  10,  1,   12,  1,   6,   4,   0,   6,   0,   3,   1,   1,   4,   192, 1,   63,  150, 2,   1,
    6,   1,   38,  1,   6,   1,   8,   0,   1,   0,   1,   0,   1,   0,   31,  1,   53,  0,   15,  0,   14,
    1,   6,   0,   19,  1,   3,   0,   9,   16,  24,  7,   47,  16,  2,   1,   27,  0,   13,  2,   34,  61,
    140, 1,   3,   154, 5,   21,  11,  20,  148, 14,  1,   249, 2,   2,   2,   4,   45,  0,   1,   4,   1,
    1,   56,  6,   2,   14,  23,  8,   7,   0,   7,   0,   7,   0,   7,   0,   7,   0,   7,   0,   7,   0,
    7,   32,  94,  33,  26,  0,   89,  11,  214, 1,   25,  16,  0,   41,  5,   16,  0,   86,  3,   101, 4,
    43,  0,   94,  0,   86,  8,   48,  0,   237, 228, 1,   2,   55,  8,   220, 2,   19,  47,  3,   1,   9,
    32,  1,   80,  1,   6,   7,   221, 1,   19,  17,  0,   3,   0,   4,   0,   25,  1,   5,   3,   10,  5,
    56,  7,   68,  9,   12,  23,  13,  0,   38,  7,   25,  10,  1,   11,  30,  5,   48,  0,   2,   3,   2,
    1,   2,   0,   13,  0,   11,  3,   7,   0,   25,  0,   41,  5,   2,   1,   2,   10,  3,   0,   8,   0,
    1,   1,   10,  1,   32,  0,   51,  0,   1,   2,   2,   1,   5,   1,   1,   0,   1,   23,  17,  1,   8,
    10,  6,   1,   6,   1,   6,   8,   7,   0,   7,   0,   60,  3,   117, 0,   2,   0,   4,   2,   10,  5,
    164, 87,  11,  23,  3,   49,  131, 66,  238, 2,   1,   106, 37,  7,   11,  5,   4,   1,   0,   24,  0,
    5,   0,   1,   0,   2,   0,   2,   0,   138, 5,   31,  16,  15,  10,  21,  35,  0,   19,  0,   4,   3,
    5,   0,   135, 1,   3,   157, 1,   1,   31,  2,   6,   1,   6,   1,   6,   1,   3,   2,   7,   0,   7,
    12,  2,   1,   12,  0,   26,  0,   19,  0,   2,   0,   15,  1,   14,  33,  123, 4,   3,   3,   45,  2,
    88,  0,   13,  2,   1,   46,  45,  130, 1,   29,  2,   49,  15,  27,  3,   36,  8,   30,  4,   38,  9,
    30,  0,   37,  3,   14,  41,  158, 1,   1,   10,  5,   36,  3,   36,  3,   40,  7,   52,  10,  12,  0,
    15,  0,   7,   0,   2,   0,   11,  0,   15,  0,   7,   0,   2,   2,   52,  11,  183, 2,   8,   22,  9,
    8,   23,  6,   0,   42,  0,   9,   68,  6,   1,   1,   0,   44,  0,   2,   2,   1,   1,   23,  0,   72,
    7,   9,   47,  19,  0,   2,   4,   33,  2,   27,  4,   27,  37,  56,  3,   20,  1,   47,  14,  4,   0,
    3,   0,   29,  9,   9,   6,   9,   6,   64,  31,  37,  5,   12,  8,   54,  2,   29,  1,   27,  4,   26,
    6,   4,   11,  7,   79,  73,  54,  51,  12,  51,  6,   42,  11,  10,  5,   38,  7,   24,  7,   2,   207,
    1,   31,  0,   42,  2,   1,   1,   2,   15,  6,   7,   9,   38,  40,  7,   22,  10,  9,   21,  18,  3,
    4,   37,  28,  19,  23,  8,   1,   0,   54,  14,  7,   3,   30,  0,   2,   1,   1,   11,  49,  3,   2,
    1,   2,   0,   4,   13,  25,  6,   10,  8,   36,  4,   1,   8,   18,  7,   35,  0,   3,   10,  52,  8,
    1,   0,   8,   3,   2,   0,   16,  0,   20,  10,  18,  0,   28,  2,   2,   3,   6,   0,   2,   62,  7,
    0,   1,   0,   4,   0,   15,  0,   11,  5,   47,  0,   3,   12,  10,  7,   2,   0,   8,   1,   2,   1,
    22,  0,   7,   0,   2,   0,   5,   2,   1,   0,   1,   0,   4,   1,   2,   1,   2,   2,   1,   11,  7,
    27,  10,  0,   1,   1,   1,   0,   38,  0,   1,   0,   2,   14,  1,   0,   2,   2,   1,   0,   3,   0,
    2,   38,  56,  7,   2,   2,   1,   0,   21,  0,   1,   0,   3,   29,  48,  0,   2,   5,   1,   0,   2,
    0,   1,   1,   1,   1,   4,   7,   10,  165, 1,   47,  0,   2,   5,   4,   1,   1,   1,   27,  35,  51,
    7,   2,   0,   1,   1,   4,   10,  10,  5,   13,  18,  43,  0,   1,   0,   2,   7,   2,   5,   10,  5,
    20,  27,  27,  2,   1,   0,   2,   3,   1,   8,   23,  184, 1,   47,  8,   1,   1,   1,   99,  83,  11,
    8,   1,   1,   1,   8,   0,   2,   0,   24,  0,   5,   0,   2,   5,   4,   0,   3,   8,   10,  69,  8,
    1,   42,  7,   4,   0,   4,   26,  1,   9,   40,  5,   2,   3,   8,   8,   1,   5,   2,   2,   46,  12,
    1,   1,   9,   12,  73,  6,   10,  86,  1,   2,   1,   0,   1,   87,  34,  13,  10,  5,   9,   0,   38,
    13,  1,   0,   6,   9,   29,  2,   32,  24,  1,   6,   1,   1,   1,   74,  7,   0,   2,   0,   38,  20,
    1,   8,   10,  5,   6,   0,   2,   0,   37,  3,   2,   0,   1,   0,   1,   6,   10,  5,   44,  3,   10,
    245, 1,   19,  1,   4,   8,   15,  0,   36,  7,   2,   2,   23,  85,  1,   14,  50,  12,  155, 7,   101,
    111, 0,   5,   10,  196, 1,   203, 20,  99,  12,  176, 8,   16,  6,   24,  155, 31,  4,   199, 4,   184,
    53,  30,  11,  3,   2,   10,  197, 13,  185, 4,   6,   31,  0,   10,  3,   81,  0,   10,  5,   30,  6,
    1,   9,   48,  6,   15,  9,   10,  0,   7,   0,   21,  4,   19,  175, 3,   58,  197, 1,   91,  4,   25,
    1,   25,  43,  75,  4,   56,  10,  13,  63,  4,   13,  5,   8,   214, 57,  40,  32,  96,  115, 252, 67,
    4,   0,   7,   0,   2,   0,   163, 2,   14,  1,   28,  3,   1,   1,   13,  4,   7,   140, 3,   131, 18,
    107, 4,   13,  2,   9,   6,   10,  1,   1,   1,   1,   223, 30,  253, 1,   2,   180, 3,   5,   23,  14,
    17,  94,  116, 59,  246, 1,   9,   39,  1,   60,  4,   3,   21,  2,   6,   30,  3,   61,  20,  66,  2,
    1,   121, 20,  11,  20,  11,  87,  8,   25,  134, 1,   85,  0,   71,  0,   2,   1,   1,   1,   2,   1,
    4,   0,   12,  0,   1,   0,   7,   0,   65,  0,   4,   1,   8,   0,   7,   0,   28,  0,   4,   0,   5,
    0,   1,   2,   7,   0,   212, 2,   1,   164, 2,   1,   178, 4,   54,  4,   49,  8,   0,   14,  0,   7,
    243, 8,   31,  5,   6,   132, 2,   62,  145, 1,   45,  9,   7,   1,   10,  3,   2,   191, 2,   30,  17,
    44,  3,   10,  4,   1,   207, 3,   28,  3,   10,  213, 1,   30,  1,   11,  3,   1,   191, 1,   31,  0,
    3,   0,   2,   0,   7,   1,   5,   8,   2,   223, 1,   7,   0,   4,   0,   2,   0,   15,  0,   197, 1,
    1,   9,   47,  68,  6,   1,   3,   10,  3,   2,   144, 6,   68,  75,  61,  193, 1,   4,   0,   27,  0,
    2,   0,   1,   1,   1,   0,   10,  0,   4,   0,   1,   0,   1,   5,   1,   3,   1,   0,   1,   0,   1,
    0,   3,   0,   2,   0,   1,   1,   1,   0,   1,   0,   1,   0,   1,   0,   1,   0,   2,   0,   1,   1,
    4,   0,   7,   0,   4,   0,   4,   0,   1,   0,   10,  0,   17,  4,   3,   0,   5,   0,   17,  51,  2,
    141, 2,   44,  3,   100, 11,  15,  1,   15,  0,   15,  0,   37,  9,   174, 1,   55,  29,  12,  44,  3,
    9,   6,   2,   13,  6,   153, 1,   217, 7,   2,   17,  2,   13,  2,   218, 1,   5,   12,  3,   1,   14,
    12,  3,   56,  7,   10,  5,   40,  7,   30,  1,   12,  3,   2,   13,  9,   38,  216, 2,   7,   14,  1,
    13,  2,   11,  2,   57,  0,   1,   3,   16,  1,   12,  3,   10,  6,   147, 1,   0,   103, 132, 8,   224,
    205, 2,   31,  158, 34,  1,   142, 45,  1,   177, 58,  14,  238, 4,   161, 19,  158, 4,   225, 11,  203,
    38,  4,   170, 66,  133, 151, 55};

/* Whether Rust shows a code point as it is. */
static bool ms_dmrs_is_shown(uint32_t code)
{
    uint32_t at = 0, value = 0, shift = 0;
    bool in_range = false;
    for (size_t i = 0; i < sizeof ms_dmrs_hidden; i++) {
        value |= (ms_dmrs_hidden[i] & 0x7Fu) << shift;
        shift += 7;
        if (ms_dmrs_hidden[i] >= 0x80)
            continue;
        at += value + (in_range ? 1 : 0);
        if (code < at)
            return !in_range;
        in_range = !in_range;
        value = shift = 0;
    }
    return true;
}

/* Prints one character of a literal. Only the quote that encloses the literal is escaped. */
static void ms_dmrs_put_char(ms_dmrs *r, uint32_t code, char quote)
{
    if (r->quiet)
        return;
    switch (code) {
    case '\0': ms_dmrs_lit(r, "\\0"); return;
    case '\t': ms_dmrs_lit(r, "\\t"); return;
    case '\n': ms_dmrs_lit(r, "\\n"); return;
    case '\r': ms_dmrs_lit(r, "\\r"); return;
    default: break;
    }
    if (code == '\\' || code == (unsigned char)quote)
        ms_dmrs_lit(r, "\\");
    if (ms_dmrs_is_shown(code)) {
        ms_dmrs_put_utf8(r->d, code);
        return;
    }
    ms_dmrs_lit(r, "\\u{");
    ms_dmrs_put_number(r, code, 16);
    ms_dmrs_lit(r, "}");
}

/* ---- reading ---- */

/* Stops reading: the reader moves to the end, where nothing matches. */
static void ms_dmrs_stop(ms_dmrs *r)
{
    r->broken = true;
    r->erred = true;
    r->at = r->len;
}

/* What is read here is wrong. */
static void ms_dmrs_invalid(ms_dmrs *r)
{
    ms_dmrs_lit(r, "{invalid syntax}");
    ms_dmrs_stop(r);
}

/* What is asked for is not there, since it is wrong or since reading has stopped before it. The caller prints
 * nothing more of its own. */
static void ms_dmrs_fail(ms_dmrs *r)
{
    if (r->broken)
        ms_dmrs_lit(r, "?");
    else
        ms_dmrs_invalid(r);
}

static char ms_dmrs_peek(const ms_dmrs *r)
{
    return r->at < r->len ? r->s[r->at] : '\0';
}

static bool ms_dmrs_eat(ms_dmrs *r, char c)
{
    if (ms_dmrs_peek(r) != c)
        return false;
    r->at++;
    return true;
}

/* Takes the next byte. At the end of the name it fails. */
static char ms_dmrs_next(ms_dmrs *r)
{
    if (r->at < r->len)
        return r->s[r->at++];
    ms_dmrs_fail(r);
    return '\0';
}

/* Makes the whole name fail: it is printed as it is. */
static void ms_dmrs_refuse(ms_dmrs *r)
{
    r->d->failed = true;
    ms_dmrs_stop(r);
}

/* Takes steps from the budget. What a back-reference names is read again, perhaps without being shown, so
 * the limit on the output does not bound it. */
static void ms_dmrs_pay(ms_dmrs *r, size_t steps)
{
    if (steps > r->d->work)
        ms_dmrs_refuse(r);
    else
        r->d->work -= steps;
}

/* Counts a level as rustc-demangle does, which says where its limit is crossed. Only back-references can nest
 * without end: what stands in the name itself has no limit here but that of the stack. */
static bool ms_dmrs_push(ms_dmrs *r)
{
    if (r->broken) {
        ms_dmrs_fail(r);
        return false;
    }
    if (++r->level > ms_DMRS_LEVELS && r->jumps > 0) {
        ms_dmrs_lit(r, "{recursion limit reached}");
        ms_dmrs_stop(r);
        return false;
    }
    return true;
}

/* Starts what takes stack. Each call that succeeds needs a ms_dmrs_leave. */
static bool ms_dmrs_enter(ms_dmrs *r)
{
    ms_dmrs_pay(r, 1);
    if (r->d->failed || r->d->depth >= MACHSYM_DEMANGLE_DEPTH) {
        ms_dmrs_refuse(r);
        return false;
    }
    r->d->depth++;
    return true;
}

static void ms_dmrs_leave(ms_dmrs *r)
{
    r->d->depth--;
}

enum { ms_DMRS_DIGIT = 64, ms_DMRS_END = ms_DMRS_DIGIT + 62 };

/* ms_DMRS_DIGIT and a base-62 digit's value; ms_DMRS_END for `_`; 0 for a byte that no v0 name has. */
static const unsigned char ms_dmrs_digits[256] = {
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   64,  65,  66,  67,  68,  69,  70,  71,  72,  73,  0,   0,   0,   0,   0,
    0,   0,   100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118,
    119, 120, 121, 122, 123, 124, 125, 0,   0,   0,   0,   126, 0,   74,  75,  76,  77,  78,  79,  80,  81,
    82,  83,  84,  85,  86,  87,  88,  89,  90,  91,  92,  93,  94,  95,  96,  97,  98,  99};

/* How many bytes of a name are letters, digits or `_`. */
static size_t ms_dmrs_alphabet(const char *ptr, size_t len)
{
    const unsigned char *s = (const unsigned char *)ptr, *v = ms_dmrs_digits;
    size_t i = 0;
    while (len - i >= 4 && (v[s[i]] & v[s[i + 1]] & v[s[i + 2]] & v[s[i + 3]] & ms_DMRS_DIGIT) != 0)
        i += 4;
    while (i < len && v[s[i]] != 0)
        i++;
    return i;
}

/* base-62-number: `_` means 0, and digits mean their value plus 1. */
static uint64_t ms_dmrs_base62(ms_dmrs *r)
{
    const unsigned char *s = (const unsigned char *)r->s;
    size_t at = r->at, first = at, len = r->len;
    uint64_t value = 0;
    while (at < len) {
        unsigned digit = ms_dmrs_digits[s[at++]]; /* the alphabet has been checked */
        if (digit == ms_DMRS_END) {
            r->at = at;
            return value + (at - first > 1 ? 1 : 0);
        }
        digit -= ms_DMRS_DIGIT;
        if (value >= UINT64_MAX / 62 - 1 && value > (UINT64_MAX - 1 - digit) / 62)
            break;
        value = value * 62 + digit;
    }
    ms_dmrs_fail(r);
    return 0;
}

/* disambiguator and binder: a tag and a number. Returns the number plus 1, or 0 when the tag is missing. */
static uint64_t ms_dmrs_tagged(ms_dmrs *r, char tag)
{
    if (!ms_dmrs_eat(r, tag)) {
        if (r->broken)
            ms_dmrs_fail(r);
        return 0;
    }
    uint64_t value = ms_dmrs_base62(r);
    if (value == UINT64_MAX)
        ms_dmrs_fail(r);
    return value + 1;
}

/* undisambiguated-identifier; check r->broken after it */
static ms_dmrs_id ms_dmrs_ident(ms_dmrs *r)
{
    ms_dmrs_id id = {NULL, 0, false};
    id.punycode = ms_dmrs_eat(r, 'u');
    size_t at = r->at, end = r->len, first = at, len = 0;
    while (at < end && (unsigned)(r->s[at] - '0') < 10 && len <= end) {
        len = len * 10 + (size_t)(r->s[at++] - '0');
        if (len == 0) /* no digit follows a zero */
            break;
    }
    bool ok = at > first;
    if (at < end && r->s[at] == '_')
        at++;
    if (!ok || len > end - at || (id.punycode && (len == 0 || r->s[at + len - 1] == '_'))) {
        ms_dmrs_fail(r);
        return id;
    }
    id.ptr = r->s + at;
    id.len = len;
    r->at = at + len;
    return id;
}

/* Decodes Punycode, of at most as many characters as rustc-demangle decodes. code has room for text.len of
 * them. Returns their number, or SIZE_MAX. */
static size_t ms_dmrs_puny(ms_dm *d, machsym_str text, uint32_t *code)
{
    size_t count = ms_dm_puny(d, text, '0', code);
    if (count > ms_DMRS_PUNY)
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!ms_dmrs_is_scalar(code[i]))
            return SIZE_MAX;
    }
    return count;
}

/* Punycode that cannot be decoded: as it is, but with the usual separator. */
static void ms_dmrs_put_raw_puny(ms_dm *d, machsym_str text)
{
    size_t plain = text.len;
    while (plain > 0 && text.ptr[plain - 1] != '_')
        plain--;
    ms_dm_put(d, "punycode{", 9);
    if (plain > 1) {
        ms_dm_put(d, text.ptr, plain - 1);
        ms_dm_put(d, "-", 1);
    }
    ms_dm_put(d, text.ptr + plain, text.len - plain);
    ms_dm_put(d, "}", 1);
}

/* Prints an identifier. The scratch for the code points of Punycode is given back at the end. */
static void ms_dmrs_put_ident(ms_dmrs *r, ms_dmrs_id id)
{
    if (r->quiet || r->d->failed)
        return;
    if (!id.punycode) {
        ms_dm_put(r->d, id.ptr, id.len);
        return;
    }
    size_t used = r->d->mem_used;
    uint32_t *code = (uint32_t *)ms_dm_alloc(r->d, id.len * sizeof *code);
    if (code == NULL)
        return;
    machsym_str coded = {id.ptr, id.len};
    size_t count = ms_dmrs_puny(r->d, coded, code);
    if (count == SIZE_MAX)
        ms_dmrs_put_raw_puny(r->d, coded);
    for (size_t i = 0; count != SIZE_MAX && i < count; i++)
        ms_dmrs_put_utf8(r->d, code[i]);
    r->d->mem_used = used;
}

/* Prints a lifetime, given by its de Bruijn index. The outermost bound one is 'a, and '_26 follows 'z. */
static void ms_dmrs_put_lifetime(ms_dmrs *r, uint64_t index)
{
    if (r->quiet)
        return;
    ms_dmrs_lit(r, "'");
    if (index == 0) {
        ms_dmrs_lit(r, "_");
        return;
    }
    if (index > r->bound) {
        ms_dmrs_invalid(r);
        return;
    }
    uint64_t level = r->bound - index;
    if (level < 26) {
        char letter = (char)('a' + level);
        ms_dmrs_put(r, &letter, 1);
        return;
    }
    ms_dmrs_lit(r, "_");
    ms_dmrs_put_number(r, level, 10);
}

/* binder. The caller restores r->bound where the scope ends. */
static void ms_dmrs_binder(ms_dmrs *r)
{
    uint64_t count = ms_dmrs_tagged(r, 'G');
    if (r->quiet || count == 0)
        return;
    if (count > MACHSYM_DEMANGLE_LIFETIMES) {
        ms_dmrs_refuse(r);
        return;
    }
    ms_dmrs_lit(r, "for<");
    for (uint64_t i = 0; i < count && !r->d->failed; i++) {
        if (i > 0)
            ms_dmrs_lit(r, ", ");
        r->bound++;
        ms_dmrs_put_lifetime(r, 1);
    }
    ms_dmrs_lit(r, "> ");
}

/* After a `B`: moves to the target and stores in *back where the name goes on. Returns false when nothing
 * is to be shown. Each call that succeeds needs a ms_dmrs_return. */
static bool ms_dmrs_jump(ms_dmrs *r, size_t *back)
{
    size_t tag = r->at - 1;
    uint64_t to = ms_dmrs_base62(r);
    if (r->broken)
        return false;
    if (to >= tag) {
        ms_dmrs_invalid(r);
        return false;
    }
    *back = r->at;
    ms_dmrs_pay(r, 1);
    r->jumps++;
    if (!ms_dmrs_push(r) || r->quiet) {
        r->level--;
        r->jumps--;
        return false;
    }
    r->at = (size_t)to;
    return true;
}

/* What is wrong in a target does not concern what stands after the back-reference. */
static void ms_dmrs_return(ms_dmrs *r, size_t back)
{
    r->level--;
    r->jumps--;
    r->broken = r->d->failed;
    r->at = r->d->failed ? r->len : back;
}

/* paths hold types, types hold constants, all hold paths */
static void ms_dmrs_path(ms_dmrs *r, bool in_value);
static void ms_dmrs_type(ms_dmrs *r);
static void ms_dmrs_const(ms_dmrs *r, bool in_value);

/* ---- lists ---- */

static void ms_dmrs_generic_arg(ms_dmrs *r)
{
    if (ms_dmrs_eat(r, 'L')) {
        uint64_t index = ms_dmrs_base62(r);
        if (!r->broken)
            ms_dmrs_put_lifetime(r, index);
    } else if (ms_dmrs_eat(r, 'K')) {
        ms_dmrs_const(r, false);
    } else {
        ms_dmrs_type(r);
    }
}

static void ms_dmrs_const_item(ms_dmrs *r)
{
    ms_dmrs_const(r, true);
}

/* Prints an identifier with its disambiguator before it, which it returns. */
static uint64_t ms_dmrs_named(ms_dmrs *r)
{
    uint64_t number = ms_dmrs_tagged(r, 's');
    if (r->broken)
        return 0;
    ms_dmrs_id id = ms_dmrs_ident(r);
    if (!r->broken)
        ms_dmrs_put_ident(r, id);
    return number;
}

/* Struct literal field: identifier and value. */
static void ms_dmrs_field(ms_dmrs *r)
{
    ms_dmrs_named(r);
    if (r->broken)
        return;
    ms_dmrs_lit(r, ": ");
    ms_dmrs_const(r, true);
}

/* Items up to `E`, with commas; returns their number. */
static size_t ms_dmrs_list(ms_dmrs *r, void (*item)(ms_dmrs *))
{
    size_t count = 0;
    while (!r->broken && !r->d->failed && !ms_dmrs_eat(r, 'E')) {
        if (count++ > 0)
            ms_dmrs_lit(r, ", ");
        item(r);
    }
    return count;
}

/* Tuples of one have a comma. */
static void ms_dmrs_tuple(ms_dmrs *r, void (*item)(ms_dmrs *))
{
    ms_dmrs_lit(r, "(");
    if (ms_dmrs_list(r, item) == 1)
        ms_dmrs_lit(r, ",");
    ms_dmrs_lit(r, ")");
}

/* ---- constants ---- */

/* const-data up to its `_`: lower-case hexadecimal digits. */
static machsym_str ms_dmrs_hex(ms_dmrs *r)
{
    machsym_str text = {r->s + r->at, 0};
    char c;
    while (((c = ms_dmrs_peek(r)) >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
        text.len++;
        r->at++;
    }
    if (!ms_dmrs_eat(r, '_'))
        ms_dmrs_fail(r);
    ms_dmrs_pay(r, text.len / 16);
    return text;
}

static unsigned ms_dmrs_nibble(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* The number that digits stand for; false when it does not fit 64 bits. */
static bool ms_dmrs_hex_value(machsym_str text, uint64_t *value)
{
    size_t zeros = 0;
    *value = 0;
    while (zeros < text.len && text.ptr[zeros] == '0')
        zeros++;
    if (text.len - zeros > 16)
        return false;
    for (size_t i = zeros; i < text.len; i++)
        *value = *value << 4 | ms_dmrs_nibble(text.ptr[i]);
    return true;
}

/* The basic-type that a tag names; empty when it names none. */
static machsym_str ms_dmrs_basic(char tag)
{
    static const char names[26][6] = {"i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
                                      "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
                                      "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};
    static const unsigned char lens[26] = {2, 4, 4, 3, 3, 3, 0, 2, 5, 5, 0, 3, 3,
                                           4, 4, 1, 0, 0, 3, 3, 2, 3, 0, 3, 3, 1};
    machsym_str name = {"", 0};
    if (tag >= 'a' && tag <= 'z') {
        name.ptr = names[tag - 'a'];
        name.len = lens[tag - 'a'];
    }
    return name;
}

static void ms_dmrs_const_int(ms_dmrs *r, char tag, bool is_signed)
{
    uint64_t value;
    if (is_signed && ms_dmrs_eat(r, 'n'))
        ms_dmrs_lit(r, "-");
    machsym_str text = ms_dmrs_hex(r);
    if (r->broken)
        return;
    if (ms_dmrs_hex_value(text, &value)) {
        ms_dmrs_put_number(r, value, 10);
    } else {
        ms_dmrs_lit(r, "0x");
        ms_dmrs_put(r, text.ptr, text.len);
    }
    if (r->hash) {
        machsym_str name = ms_dmrs_basic(tag);
        ms_dmrs_put(r, name.ptr, name.len);
    }
}

static void ms_dmrs_const_bool(ms_dmrs *r)
{
    uint64_t value;
    machsym_str text = ms_dmrs_hex(r);
    if (r->broken)
        return;
    if (!ms_dmrs_hex_value(text, &value) || value > 1)
        ms_dmrs_invalid(r);
    else if (value == 1)
        ms_dmrs_lit(r, "true");
    else
        ms_dmrs_lit(r, "false");
}

static void ms_dmrs_const_char(ms_dmrs *r)
{
    uint64_t value;
    machsym_str text = ms_dmrs_hex(r);
    if (r->broken)
        return;
    if (!ms_dmrs_hex_value(text, &value) || !ms_dmrs_is_scalar(value)) {
        ms_dmrs_invalid(r);
        return;
    }
    ms_dmrs_lit(r, "'");
    ms_dmrs_put_char(r, (uint32_t)value, '\'');
    ms_dmrs_lit(r, "'");
}

/* Reads one UTF-8 sequence from pairs of digits. Returns UINT32_MAX when it is malformed. */
static uint32_t ms_dmrs_hex_utf8(machsym_str text, size_t *at)
{
    uint32_t code = 0;
    size_t more = 0;
    for (size_t i = 0; i <= more; i++) {
        if (text.len - *at < 2)
            return UINT32_MAX;
        uint32_t byte = ms_dmrs_nibble(text.ptr[*at]) << 4 | ms_dmrs_nibble(text.ptr[*at + 1]);
        *at += 2;
        if (i > 0) {
            if ((byte & 0xC0u) != 0x80)
                return UINT32_MAX;
            code = code << 6 | (byte & 0x3Fu);
            continue;
        }
        if ((byte >= 0x80 && byte < 0xC2) || byte > 0xF4)
            return UINT32_MAX;
        more = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
        code = more == 0 ? byte : byte & (0x3Fu >> more);
    }
    if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000) || !ms_dmrs_is_scalar(code))
        return UINT32_MAX;
    return code;
}

/* A string literal. It is decoded before the first quote is printed, so that none is left open. */
static void ms_dmrs_const_str(ms_dmrs *r)
{
    size_t at = 0;
    uint32_t code = 0;
    machsym_str text = ms_dmrs_hex(r);
    if (r->broken)
        return;
    while (at < text.len && code != UINT32_MAX)
        code = ms_dmrs_hex_utf8(text, &at);
    if (code == UINT32_MAX) {
        ms_dmrs_invalid(r);
        return;
    }
    ms_dmrs_lit(r, "\"");
    for (at = 0; at < text.len && !r->d->failed;)
        ms_dmrs_put_char(r, ms_dmrs_hex_utf8(text, &at), '"');
    ms_dmrs_lit(r, "\"");
}

/* A struct, tuple struct or unit struct literal; its type is a path. Returns false when its kind is wrong. */
static bool ms_dmrs_const_adt(ms_dmrs *r)
{
    ms_dmrs_path(r, true);
    switch (ms_dmrs_peek(r)) {
    case 'U': r->at++; return true;
    case 'T':
        r->at++;
        ms_dmrs_lit(r, "(");
        ms_dmrs_list(r, ms_dmrs_const_item);
        ms_dmrs_lit(r, ")");
        return true;
    case 'S':
        r->at++;
        ms_dmrs_lit(r, " { ");
        ms_dmrs_list(r, ms_dmrs_field);
        ms_dmrs_lit(r, " }");
        return true;
    default: ms_dmrs_fail(r); return false;
    }
}

/* Constants that are expressions. Braces keep them apart from types, but one pair is enough. */
static void ms_dmrs_const_expr(ms_dmrs *r, char tag, bool in_value)
{
    if (!in_value)
        ms_dmrs_lit(r, "{");
    switch (tag) {
    case 'e':
        ms_dmrs_lit(r, "*");
        ms_dmrs_const_str(r);
        break;
    case 'R':
        ms_dmrs_lit(r, "&");
        ms_dmrs_const(r, true);
        break;
    case 'Q':
        ms_dmrs_lit(r, "&mut ");
        ms_dmrs_const(r, true);
        break;
    case 'A':
        ms_dmrs_lit(r, "[");
        ms_dmrs_list(r, ms_dmrs_const_item);
        ms_dmrs_lit(r, "]");
        break;
    case 'T': ms_dmrs_tuple(r, ms_dmrs_const_item); break;
    default:
        if (!ms_dmrs_const_adt(r))
            return;
    }
    if (!in_value)
        ms_dmrs_lit(r, "}");
}

/* The constant after its tag. */
static void ms_dmrs_const_body(ms_dmrs *r, char tag, bool in_value)
{
    size_t back;
    switch (tag) {
    case 'p': ms_dmrs_lit(r, "_"); return;
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j': ms_dmrs_const_int(r, tag, false); return;
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i': ms_dmrs_const_int(r, tag, true); return;
    case 'b': ms_dmrs_const_bool(r); return;
    case 'c': ms_dmrs_const_char(r); return;
    case 'B':
        if (ms_dmrs_jump(r, &back)) {
            ms_dmrs_const(r, in_value);
            ms_dmrs_return(r, back);
        }
        return;
    case 'R':
        if (ms_dmrs_eat(r, 'e')) /* `&str` literals need neither `&*` nor braces */
            ms_dmrs_const_str(r);
        else
            ms_dmrs_const_expr(r, tag, in_value);
        return;
    case 'e':
    case 'Q':
    case 'A':
    case 'T':
    case 'V': ms_dmrs_const_expr(r, tag, in_value); return;
    default: ms_dmrs_invalid(r);
    }
}

static void ms_dmrs_const(ms_dmrs *r, bool in_value)
{
    unsigned level = r->level;
    char tag = ms_dmrs_next(r);
    if (r->broken || !ms_dmrs_push(r) || !ms_dmrs_enter(r))
        return;
    ms_dmrs_const_body(r, tag, in_value);
    ms_dmrs_leave(r);
    r->level = level;
}

/* ---- types ---- */

/* Reads an ABI. Its name has `_` where the source has `-`. */
static ms_dmrs_id ms_dmrs_abi(ms_dmrs *r)
{
    ms_dmrs_id id = {"C", 1, false};
    if (ms_dmrs_eat(r, 'C'))
        return id;
    id = ms_dmrs_ident(r);
    if (!r->broken && (id.len == 0 || id.punycode))
        ms_dmrs_invalid(r);
    return id;
}

/* A function's type after its binder. */
static void ms_dmrs_fn(ms_dmrs *r)
{
    ms_dmrs_id abi = {NULL, 0, false};
    bool is_unsafe = ms_dmrs_eat(r, 'U');
    if (ms_dmrs_eat(r, 'K'))
        abi = ms_dmrs_abi(r);
    if (r->broken)
        return;
    if (is_unsafe)
        ms_dmrs_lit(r, "unsafe ");
    if (abi.len > 0) {
        ms_dmrs_lit(r, "extern \"");
        for (size_t i = 0; i < abi.len; i++)
            ms_dmrs_put(r, abi.ptr[i] == '_' ? "-" : abi.ptr + i, 1);
        ms_dmrs_lit(r, "\" ");
    }
    ms_dmrs_lit(r, "fn(");
    ms_dmrs_list(r, ms_dmrs_type);
    ms_dmrs_lit(r, ")");
    if (!ms_dmrs_eat(r, 'u')) {
        ms_dmrs_lit(r, " -> ");
        ms_dmrs_type(r);
    }
}

/* A path without its closing `>`, so that the caller may add arguments. Returns whether a `>` is missing. */
static bool ms_dmrs_open_path(ms_dmrs *r)
{
    size_t back;
    bool open = false;
    if (!ms_dmrs_enter(r))
        return false;
    if (ms_dmrs_eat(r, 'B')) {
        if (ms_dmrs_jump(r, &back)) {
            open = ms_dmrs_open_path(r);
            ms_dmrs_return(r, back);
        }
    } else if (ms_dmrs_eat(r, 'I')) {
        ms_dmrs_path(r, false);
        ms_dmrs_lit(r, "<");
        ms_dmrs_list(r, ms_dmrs_generic_arg);
        open = true;
    } else {
        ms_dmrs_path(r, false);
    }
    ms_dmrs_leave(r);
    return open;
}

/* dyn-trait: associated types and constants go among the generic arguments. */
static void ms_dmrs_dyn_trait(ms_dmrs *r)
{
    bool open = ms_dmrs_open_path(r);
    while (!r->d->failed && ms_dmrs_eat(r, 'p')) {
        ms_dmrs_put(r, open ? ", " : "<", open ? 2 : 1);
        open = true;
        ms_dmrs_id id = ms_dmrs_ident(r);
        if (r->broken)
            return;
        ms_dmrs_put_ident(r, id);
        ms_dmrs_lit(r, " = ");
        if (ms_dmrs_eat(r, 'K'))
            ms_dmrs_const(r, false);
        else
            ms_dmrs_type(r);
    }
    if (open)
        ms_dmrs_lit(r, ">");
}

static void ms_dmrs_dyn(ms_dmrs *r)
{
    uint64_t bound = r->bound;
    ms_dmrs_lit(r, "dyn ");
    ms_dmrs_binder(r);
    for (size_t count = 0; !r->broken && !r->d->failed && !ms_dmrs_eat(r, 'E'); count++) {
        if (count > 0)
            ms_dmrs_lit(r, " + ");
        ms_dmrs_dyn_trait(r);
    }
    r->bound = bound;
    if (!ms_dmrs_eat(r, 'L')) {
        ms_dmrs_invalid(r);
        return;
    }
    uint64_t lifetime = ms_dmrs_base62(r);
    if (!r->broken && lifetime != 0) {
        ms_dmrs_lit(r, " + ");
        ms_dmrs_put_lifetime(r, lifetime);
    }
}

/* The right side of a pattern type, `u32 is 1..=9`. */
static void ms_dmrs_pattern(ms_dmrs *r)
{
    unsigned level = r->level;
    char tag = ms_dmrs_next(r);
    if (r->broken || !ms_dmrs_enter(r))
        return;
    switch (tag) {
    case 'R':
        ms_dmrs_const(r, false);
        ms_dmrs_lit(r, "..=");
        ms_dmrs_const(r, false);
        break;
    case 'O':
        if (!ms_dmrs_push(r))
            break;
        ms_dmrs_pattern(r);
        while (!r->broken && !r->d->failed && !ms_dmrs_eat(r, 'E')) {
            ms_dmrs_lit(r, " | ");
            ms_dmrs_pattern(r);
        }
        break;
    case 'N': ms_dmrs_lit(r, "!null"); break;
    default: ms_dmrs_invalid(r);
    }
    ms_dmrs_leave(r);
    r->level = level;
}

/* Types that only put something in front of another type. A loop reads them, so that they take no stack.
 * Returns false when none can follow. */
static bool ms_dmrs_pointers(ms_dmrs *r)
{
    for (;;) {
        char tag = ms_dmrs_peek(r);
        if (tag != 'R' && tag != 'Q' && tag != 'P' && tag != 'O')
            return true;
        r->at++;
        ms_dmrs_pay(r, 1);
        if (!ms_dmrs_push(r))
            return false;
        if (tag == 'P' || tag == 'O') {
            ms_dmrs_put(r, tag == 'P' ? "*const " : "*mut ", tag == 'P' ? 7 : 5);
            continue;
        }
        ms_dmrs_lit(r, "&");
        uint64_t lifetime = ms_dmrs_eat(r, 'L') ? ms_dmrs_base62(r) : 0;
        if (r->broken)
            return false;
        if (lifetime != 0) {
            ms_dmrs_put_lifetime(r, lifetime);
            ms_dmrs_lit(r, " ");
        }
        if (tag == 'Q')
            ms_dmrs_lit(r, "mut ");
    }
}

/* A type that has others inside, after its tag. */
static void ms_dmrs_compound(ms_dmrs *r, char tag)
{
    uint64_t bound = r->bound;
    if (!ms_dmrs_enter(r))
        return;
    switch (tag) {
    case 'A':
    case 'S':
        ms_dmrs_lit(r, "[");
        ms_dmrs_type(r);
        if (tag == 'A') {
            ms_dmrs_lit(r, "; ");
            ms_dmrs_const(r, true);
        }
        ms_dmrs_lit(r, "]");
        break;
    case 'T': ms_dmrs_tuple(r, ms_dmrs_type); break;
    case 'F':
        ms_dmrs_binder(r);
        if (!r->broken)
            ms_dmrs_fn(r);
        r->bound = bound;
        break;
    case 'D': ms_dmrs_dyn(r); break;
    default: /* W */
        ms_dmrs_type(r);
        ms_dmrs_lit(r, " is ");
        ms_dmrs_pattern(r);
    }
    ms_dmrs_leave(r);
}

/* What stands at the end of pointers and back-references: a basic type, one that has others inside, a
 * path. */
static void ms_dmrs_plain_type(ms_dmrs *r)
{
    char tag = ms_dmrs_peek(r);
    machsym_str name = ms_dmrs_basic(tag);
    if (name.len > 0) {
        r->at++;
        ms_dmrs_put(r, name.ptr, name.len);
        return;
    }
    if (r->at == r->len) {
        ms_dmrs_fail(r);
        return;
    }
    if (!ms_dmrs_push(r))
        return;
    switch (tag) {
    case 'A':
    case 'S':
    case 'T':
    case 'F':
    case 'D':
    case 'W':
        r->at++;
        ms_dmrs_compound(r, tag);
        return;
    default: ms_dmrs_path(r, false);
    }
}

/* Pointers and back-references take no stack: a loop reads them, and returns where the first of these
 * ends. */
static void ms_dmrs_type(ms_dmrs *r)
{
    unsigned level = r->level, jumps = r->jumps;
    size_t back = 0, first = 0;
    bool go = ms_dmrs_pointers(r);
    while (go && ms_dmrs_eat(r, 'B')) {
        go = ms_dmrs_push(r) && ms_dmrs_jump(r, &back);
        if (go && first == 0)
            first = back;
        go = go && ms_dmrs_pointers(r);
    }
    if (go)
        ms_dmrs_plain_type(r);
    if (first != 0)
        ms_dmrs_return(r, first);
    r->level = level;
    r->jumps = jumps;
}

/* ---- paths ---- */

/* One step of a nested path. A small letter marks a plain name, a capital marks a closure, a shim and the
 * like. */
static void ms_dmrs_segment(ms_dmrs *r, char space)
{
    if (r->broken)
        ms_dmrs_lit(r, "::");
    uint64_t number = ms_dmrs_tagged(r, 's');
    if (r->broken)
        return;
    ms_dmrs_id id = ms_dmrs_ident(r);
    if (r->broken)
        return;
    if (space >= 'a' && space <= 'z') {
        if (id.len > 0) {
            ms_dmrs_lit(r, "::");
            ms_dmrs_put_ident(r, id);
        }
        return;
    }
    ms_dmrs_lit(r, "::{");
    if (space == 'C')
        ms_dmrs_lit(r, "closure");
    else if (space == 'S')
        ms_dmrs_lit(r, "shim");
    else
        ms_dmrs_put(r, &space, 1);
    if (id.len > 0) {
        ms_dmrs_lit(r, ":");
        ms_dmrs_put_ident(r, id);
    }
    ms_dmrs_lit(r, "#");
    ms_dmrs_put_number(r, number, 10);
    ms_dmrs_lit(r, "}");
}

/* crate-root. A disambiguator of 0 marks names that are no crates, such as f128. */
static void ms_dmrs_crate(ms_dmrs *r)
{
    uint64_t number = ms_dmrs_named(r);
    if (!r->broken && r->hash && number != 0) {
        ms_dmrs_lit(r, "[");
        ms_dmrs_put_number(r, number, 16);
        ms_dmrs_lit(r, "]");
    }
}

/* `<type>` or `<type as trait>`, after their tag. */
static void ms_dmrs_impl(ms_dmrs *r, char tag)
{
    if (tag != 'Y') { /* impl-path says where the impl stands; it is not shown */
        ms_dmrs_tagged(r, 's');
        if (r->broken)
            return;
        bool quiet = r->quiet;
        r->quiet = true;
        ms_dmrs_path(r, false);
        r->quiet = quiet;
    }
    ms_dmrs_lit(r, "<");
    ms_dmrs_type(r);
    if (tag != 'M') {
        ms_dmrs_lit(r, " as ");
        ms_dmrs_path(r, false);
    }
    ms_dmrs_lit(r, ">");
}

/* Everything a nested path may start from. */
static void ms_dmrs_path_root(ms_dmrs *r, bool in_value)
{
    size_t back;
    char tag = ms_dmrs_next(r);
    if (r->broken)
        return;
    switch (tag) {
    case 'C': ms_dmrs_crate(r); break;
    case 'M':
    case 'X':
    case 'Y': ms_dmrs_impl(r, tag); break;
    case 'I':
        ms_dmrs_path(r, in_value);
        if (in_value)
            ms_dmrs_lit(r, "::");
        ms_dmrs_lit(r, "<");
        ms_dmrs_list(r, ms_dmrs_generic_arg);
        ms_dmrs_lit(r, ">");
        break;
    case 'B':
        if (ms_dmrs_jump(r, &back)) {
            ms_dmrs_path(r, in_value);
            ms_dmrs_return(r, back);
        }
        break;
    default: ms_dmrs_invalid(r);
    }
}

/* The tags in front of a nested path's root: the mangled name gives the innermost step's first. Returns their
 * number. */
static size_t ms_dmrs_path_tags(ms_dmrs *r)
{
    size_t count = 0;
    while (ms_dmrs_eat(r, 'N')) {
        char space = ms_dmrs_peek(r);
        if (!((space >= 'a' && space <= 'z') || (space >= 'A' && space <= 'Z'))) {
            ms_dmrs_fail(r);
            break;
        }
        r->at++;
        count++;
        if (!ms_dmrs_push(r))
            break;
    }
    return count;
}

/* in_value: generic arguments of a function or constant need `::` in front. */
static void ms_dmrs_path(ms_dmrs *r, bool in_value)
{
    size_t first = r->at;
    unsigned level = r->level;
    if (!ms_dmrs_push(r) || !ms_dmrs_enter(r))
        return;
    size_t nested = ms_dmrs_path_tags(r);
    if (!r->broken)
        ms_dmrs_path_root(r, in_value);
    ms_dmrs_pay(r, nested);
    while (nested > 0 && !r->d->failed) {
        nested--;
        ms_dmrs_segment(r, r->s[first + 2 * nested + 1]);
    }
    ms_dmrs_leave(r);
    r->level = level;
}

/* ---- whole names ---- */

/* Prints what stands after the name, but not the number by which LLVM makes a local name unique. */
static bool ms_dmrs_suffix(ms_dm *d, const char *ptr, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (ptr[i] <= ' ' || ptr[i] > '~')
            return false;
    }
    for (size_t i = 0; len >= 6 && i <= len - 6; i++) {
        if (!ms_equal(ptr + i, ".llvm.", 6))
            continue;
        size_t k = i + 6;
        while (k < len &&
               (ptr[k] == '@' || (ptr[k] >= '0' && ptr[k] <= '9') || (ptr[k] >= 'A' && ptr[k] <= 'F')))
            k++;
        len = k == len ? i : len;
        break;
    }
    if (len > 0 && ptr[0] != '.')
        return false;
    ms_dm_put(d, ptr, len);
    return !d->failed;
}

/* Whether this is a C name such as _RC4_init. It reads as a crate root, but compilers write its `_` only
 * where an identifier begins with a digit or `_`. */
static bool ms_dmrs_is_plain_c(const ms_dmrs *r)
{
    size_t i = 1;
    if (r->s[0] != 'C')
        return false;
    while (i < r->len && r->s[i] >= '0' && r->s[i] <= '9')
        i++;
    return i + 1 < r->len && r->s[i] == '_' && r->s[i + 1] != '_' &&
           !(r->s[i + 1] >= '0' && r->s[i + 1] <= '9');
}

/* Reads on to the name's end without showing anything: the crate that instantiated it is not shown. If
 * there was an error, the name must at least be right where it stands: all but the targets of its
 * back-references. */
static void ms_dmrs_check(ms_dmrs *r)
{
    r->quiet = true;
    if (r->erred) {
        r->broken = false;
        r->at = 0;
        ms_dmrs_path(r, false);
    }
    if (r->at < r->len && !r->broken)
        ms_dmrs_path(r, false);
}

static bool ms_dmrs_v0(ms_dm *d, size_t prefix)
{
    bool hash = (d->flags & MACHSYM_DEMANGLE_RUST_HASH) != 0;
    ms_dmrs r = {d, d->s + prefix, 0, 0, 0, 0, 0, false, hash, false, false};
    size_t rest = d->len - prefix;
    r.len = ms_dmrs_alphabet(r.s, rest); /* one check here saves it in every identifier */
    if (r.s[0] == 'C' && (d->flags & MACHSYM_DEMANGLE_IN_TEXT) != 0) /* a crate alone is no symbol */
        return false;
    if (r.len == 0 || (r.len < rest && r.s[r.len] != '.') || ms_dmrs_is_plain_c(&r))
        return false;
    ms_dmrs_path(&r, true);
    if (r.at < r.len || r.erred)
        ms_dmrs_check(&r);
    return !d->failed && !r.broken && r.at == r.len && ms_dmrs_suffix(d, r.s + r.len, rest - r.len);
}

/* ---- the legacy scheme ---- */

/* $u7b$: a code point; UINT32_MAX when it is not. */
static uint32_t ms_dmrs_escape_hex(machsym_str text, size_t *used)
{
    uint32_t code = 0;
    size_t i = 2;
    if (text.len < 4 || text.ptr[1] != 'u')
        return UINT32_MAX;
    for (; i < text.len && i < 9 && text.ptr[i] != '$'; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return UINT32_MAX;
        code = code << 4 | ms_dmrs_nibble(c);
    }
    bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    if (i == 2 || i == text.len || text.ptr[i] != '$' || is_control || !ms_dmrs_is_scalar(code))
        return UINT32_MAX;
    *used = i + 1;
    return code;
}

/* The character that an escape stands for, with the escape's length in *used. text begins with '$'.
 * UINT32_MAX: it is no escape. */
static uint32_t ms_dmrs_escape(machsym_str text, size_t *used)
{
    static const char v[][4] = {"@SP", "*BP", "&RF", "<LT", ">GT", "(LP", ")RP"};
    if (text.len > 2 && text.ptr[1] == 'C' && text.ptr[2] == '$') {
        *used = 3;
        return ',';
    }
    for (size_t i = 0; text.len > 3 && text.ptr[3] == '$' && i < sizeof v / sizeof v[0]; i++) {
        if (text.ptr[1] == v[i][1] && text.ptr[2] == v[i][2]) {
            *used = 4;
            return (unsigned char)v[i][0];
        }
    }
    return ms_dmrs_escape_hex(text, used);
}

/* Prints one part of a path. Returns how many escapes it has. */
static size_t ms_dmrs_put_part(ms_dm *d, machsym_str text)
{
    size_t escapes = 0;
    const char *ptr = text.ptr, *end = text.ptr + text.len;
    if (text.len >= 2 && ptr[0] == '_' && ptr[1] == '$') /* `_` only makes it an identifier */
        ptr++;
    while (ptr < end) {
        const char *from = ptr;
        while (ptr < end && *ptr != '$' && *ptr != '.')
            ptr++;
        if (ptr > from)
            ms_dm_put(d, from, (size_t)(ptr - from));
        if (ptr == end)
            break;
        if (*ptr == '.') {
            bool is_path = end - ptr > 1 && ptr[1] == '.';
            ms_dm_put(d, is_path ? "::" : ".", is_path ? 2 : 1);
            ptr += is_path ? 2 : 1;
            continue;
        }
        size_t used = 0;
        machsym_str rest = {ptr, (size_t)(end - ptr)};
        uint32_t code = ms_dmrs_escape(rest, &used);
        if (code == UINT32_MAX) { /* an unknown escape ends decoding */
            ms_dm_put(d, rest.ptr, rest.len);
            break;
        }
        ms_dmrs_put_utf8(d, code);
        escapes++;
        ptr += used;
    }
    return escapes;
}

/* Reads `<length> <bytes>`; false when there is none. */
static bool ms_dmrs_part(const ms_dm *d, size_t *at, machsym_str *part)
{
    const char *s = d->s;
    size_t len = 0, i = *at, end = d->len;
    while (i < end && (unsigned)(s[i] - '0') < 10 && len <= end)
        len = len * 10 + (size_t)(s[i++] - '0');
    if (i == *at || len > end - i)
        return false;
    part->ptr = s + i;
    part->len = len;
    *at = i + len;
    return true;
}

/* Whether a part is `h` and hexadecimal digits. *seen gets a bit for each digit that it has. */
static bool ms_dmrs_is_hash(machsym_str part, unsigned *seen)
{
    *seen = 0;
    if (part.len == 0 || part.ptr[0] != 'h')
        return false;
    for (size_t i = 1; i < part.len; i++) {
        unsigned digit = ms_dmrs_digits[(unsigned char)part.ptr[i]] - (unsigned)ms_DMRS_DIGIT;
        if (digit > 15)
            return false;
        *seen |= 1u << digit;
    }
    return true;
}

/* The compiler's hash has 16 digits. In all but one of millions of names at least five of them differ. */
static bool ms_dmrs_is_full_hash(machsym_str part, unsigned seen)
{
    unsigned count = 0;
    for (; seen != 0 && count < 5; seen &= seen - 1)
        count++;
    return part.len == 17 && count == 5;
}

static bool ms_dmrs_has_dollar(const ms_dm *d, size_t lo, size_t hi)
{
    while (lo < hi && d->s[lo] != '$')
        lo++;
    return lo < hi;
}

/* Whether a suffix is `.llvm.` with a hexadecimal number that has a letter. Rust's compilers have written
 * such; clang writes decimal numbers. */
static bool ms_dmrs_is_llvm_hex(const char *ptr, size_t len)
{
    bool has_letter = false;
    if (len <= 6 || !ms_equal(ptr, ".llvm.", 6))
        return false;
    for (size_t i = 6; i < len && ptr[i] != '@'; i++) {
        bool is_letter = ptr[i] >= 'A' && ptr[i] <= 'F';
        if (!is_letter && (ptr[i] < '0' || ptr[i] > '9'))
            return false;
        has_letter = has_letter || is_letter;
    }
    return has_letter;
}

static bool ms_dmrs_legacy(ms_dm *d, size_t prefix)
{
    machsym_str part = {NULL, 0};
    size_t end = prefix, count = 0, escapes = 0;
    if (d->s[d->len - 1] != 'E' && ms_find_byte(d->s, d->len, '.') == NULL)
        return false; /* neither an end nor a suffix: most names of C++ */
    while (ms_dmrs_part(d, &end, &part))
        count++;
    if (count == 0 || end == d->len || d->s[end] != 'E' || (end + 1 < d->len && d->s[end + 1] != '.'))
        return false;
    unsigned seen;
    bool has_hash = ms_dmrs_is_hash(part, &seen);
    bool sure = (has_hash && count > 1 && ms_dmrs_is_full_hash(part, seen)) ||
                ms_dmrs_is_llvm_hex(d->s + end + 1, d->len - end - 1);
    if (!sure && !ms_dmrs_has_dollar(d, prefix, end))
        return false;
    if (has_hash && (d->flags & MACHSYM_DEMANGLE_RUST_HASH) == 0)
        count--;
    for (size_t i = 0, at = prefix; i < count && ms_dmrs_part(d, &at, &part); i++) {
        if (i > 0)
            ms_dm_put(d, "::", 2);
        escapes += ms_dmrs_put_part(d, part);
    }
    return (sure || escapes > 0) && !d->failed && ms_dmrs_suffix(d, d->s + end + 1, d->len - end - 1);
}

/* The entry: `_ZN`, `_R` and the forms with one underscore less (Windows) or more (Mach-O). */
static bool ms_dmrs_run(ms_dm *d)
{
    size_t at = 0;
    while (at < 2 && at < d->len && d->s[at] == '_')
        at++;
    if (d->len - at < 3)
        return false;
    if (d->s[at] == 'Z' && d->s[at + 1] == 'N')
        return ms_dmrs_legacy(d, at + 2);
    /* a name without an underscore must be more than a crate root: C names such as RC2xy read as one */
    return d->s[at] == 'R' && (at > 0 || d->s[1] != 'C') && ms_dmrs_v0(d, at + 1);
}

#endif /* MACHSYM_NO_RUST */

#endif /* ms_ROOM_names_rust */
