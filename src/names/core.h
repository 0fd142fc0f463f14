#ifndef ms_ROOM_names_core
#define ms_ROOM_names_core
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"

/* ==== >>names ==============================================================================================
 * Job:    holds one name on its way to source form: input, output, budgets, scratch.
 * Offers: ms_dm, ms_dm_start, ms_dm_put, ms_dm_put_wide, ms_dm_put_part, ms_dm_alloc, ms_dm_utf8,
 *         ms_dm_puny.
 * Never:  allocates; reads outside the name; recurses past its depth limit; prints part of a name. */

/* This many bytes are copied at once. Nearly all identifiers and words have fewer. */
enum { ms_DM_WIDE = 32 };

typedef struct ms_dm {
    const char *s;      /* the mangled name */
    size_t len;         /* its length */
    size_t at;          /* reading position */
    uint32_t flags;     /* machsym_demangle_flags */
    char *out;          /* may be NULL when cap is 0 */
    size_t cap;         /* bytes that out holds; what is printed past them is counted only */
    size_t out_len;     /* bytes printed so far */
    size_t out_limit;   /* the output budget: printing past it sets failed */
    size_t room;        /* the smaller of cap and out_limit */
    size_t work;        /* steps left; a node that is made, visited or read again costs one */
    unsigned depth;     /* recursion depth now */
    bool failed;        /* stays set: this is no name of the language, or a budget is spent */
    bool no_mem;        /* the scratch is too small; the caller tries again with a larger one */
    unsigned char *mem; /* scratch for nodes, 16-byte aligned */
    size_t mem_len;
    size_t mem_used;
} ms_dm;

/* Begins a try. It forgets what an earlier try printed and spent. no_mem stays set. */
static void ms_dm_start(ms_dm *d)
{
    d->at = 0;
    d->out_len = 0;
    d->out_limit = MACHSYM_DEMANGLE_TEXT + MACHSYM_DEMANGLE_TEXT_PER_BYTE * d->len;
    d->room = d->cap < d->out_limit ? d->cap : d->out_limit;
    d->work = MACHSYM_DEMANGLE_STEPS + MACHSYM_DEMANGLE_STEPS_PER_BYTE * d->len;
    d->depth = 0;
    d->failed = false;
    d->mem_used = 0;
}

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) || !defined(MACHSYM_NO_CXX) ||                   \
    !defined(MACHSYM_NO_D)
/* Appends what is long, or does not fit, or is empty. */
static void ms_dm_put_any(ms_dm *d, const char *ptr, size_t len)
{
    if (len > d->out_limit - d->out_len) {
        d->failed = true;
        d->work = 0; /* what counts steps stops too */
        return;
    }
    if (d->out_len < d->cap) {
        size_t room = d->cap - d->out_len;
        ms_copy(d->out + d->out_len, ptr, len < room ? len : room);
    }
    d->out_len += len;
}

/* Appends one character. */
static inline void ms_dm_char(ms_dm *d, char c)
{
    if (d->out_len < d->room)
        d->out[d->out_len++] = c;
    else
        ms_dm_put_any(d, &c, 1);
}

/* Appends to the output. Most of what is printed is short: it is copied without a call, its two halves by
 * words that may overlap. */
static void ms_dm_put(ms_dm *d, const char *ptr, size_t len)
{
    size_t end = d->out_len + len;
    if (ms_SMALL_CODE || len - 1 > 31 || end > d->room) {
        ms_dm_put_any(d, ptr, len);
        return;
    }
    char *to = d->out + d->out_len;
    d->out_len = end;
    if (len >= 16) {
        uint64_t first[2], last[2];
        ms_copy(first, ptr, 16);
        ms_copy(last, ptr + len - 16, 16);
        ms_copy(to, first, 16);
        ms_copy(to + len - 16, last, 16);
    } else if (len >= 8) {
        uint64_t first, last;
        ms_copy(&first, ptr, 8);
        ms_copy(&last, ptr + len - 8, 8);
        ms_copy(to, &first, 8);
        ms_copy(to + len - 8, &last, 8);
    } else if (len >= 4) {
        uint32_t first, last;
        ms_copy(&first, ptr, 4);
        ms_copy(&last, ptr + len - 4, 4);
        ms_copy(to, &first, 4);
        ms_copy(to + len - 4, &last, 4);
    } else {
        to[0] = ptr[0];
        to[len / 2] = ptr[len / 2];
        to[len - 1] = ptr[len - 1];
    }
}

/* Appends a text that is the beginning of ms_DM_WIDE readable bytes or more. All of them are copied, and
 * those after the text are printed over. So no branch depends on the length. */
static inline void ms_dm_put_wide(ms_dm *d, const char *ptr, size_t len)
{
    if (ms_SMALL_CODE || len > ms_DM_WIDE || d->out_len + ms_DM_WIDE > d->room) {
        ms_dm_put_any(d, ptr, len);
        return;
    }
    uint64_t v[ms_DM_WIDE / 8];
    ms_copy(v, ptr, ms_DM_WIDE);
    ms_copy(d->out + d->out_len, v, ms_DM_WIDE);
    d->out_len += len;
}

/* Appends a part of the mangled name. */
static inline void ms_dm_put_part(ms_dm *d, const char *ptr, size_t len)
{
    if ((size_t)(d->s + d->len - ptr) >= ms_DM_WIDE)
        ms_dm_put_wide(d, ptr, len);
    else
        ms_dm_put(d, ptr, len);
}
#endif

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) || !defined(MACHSYM_NO_CXX)
/* Takes size bytes of scratch, aligned to 16. Sets no_mem and returns NULL when too few are left. */
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

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST)
/* Writes a code point as UTF-8. Returns its length, at most 4 bytes. */
static size_t ms_dm_utf8(uint32_t code, char *out)
{
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80u | (code & 0x3Fu));
        code >>= 6;
    }
    out[0] = (char)(len == 1 ? code : ((0xF00u >> len) & 0xFFu) | code);
    return len;
}

/* RFC 3492 6.1: the step that adapts the bias. */
static uint32_t ms_dm_puny_adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta /= first ? 700 : 2;
    for (delta += delta / count; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* RFC 3492 6.2: one variable-length number; false when it is malformed. Both languages use a to z as the
 * digits 0 to 25. digit_26 is the first of the ten others. */
static bool ms_dm_puny_delta(machsym_str text, size_t *at, char digit_26, uint32_t bias, uint32_t *delta)
{
    uint32_t value = 0, weight = 1;
    for (uint32_t k = 36; *at < text.len; k += 36) {
        char c = text.ptr[(*at)++];
        bool is_low = c >= 'a' && c <= 'z';
        uint32_t digit = is_low ? (uint32_t)(c - 'a') : (uint32_t)(c - digit_26);
        if (!is_low && digit >= 10)
            return false;
        digit += is_low ? 0 : 26;
        if (digit > (UINT32_MAX - value) / weight)
            return false;
        value += digit * weight;
        uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (digit < t) {
            *delta = value;
            return true;
        }
        if (weight > UINT32_MAX / (36 - t))
            return false;
        weight *= 36 - t;
    }
    return false;
}

/* Decodes Punycode into code points: plain characters, '_', then what is inserted between them. out has room
 * for text.len of them. Returns their number, or SIZE_MAX when the text is malformed or the budget spent. */
static size_t ms_dm_puny(ms_dm *d, machsym_str text, char digit_26, uint32_t *out)
{
    uint32_t code = 0x80, i = 0, bias = 72, delta;
    size_t count = 0, at = text.len;
    while (at > 0 && text.ptr[at - 1] != '_')
        at--;
    for (; count + 1 < at; count++) {
        out[count] = (unsigned char)text.ptr[count];
        if (out[count] >= 0x80)
            return SIZE_MAX;
    }
    for (bool first = true; at < text.len; first = false) {
        if (!ms_dm_puny_delta(text, &at, digit_26, bias, &delta) || delta > UINT32_MAX - i)
            return SIZE_MAX;
        i += delta;
        count++;
        bias = ms_dm_puny_adapt(delta, (uint32_t)count, first);
        uint64_t next = (uint64_t)code + i / count;
        i %= (uint32_t)count;
        size_t cost = (count - i) / 64 + 1; /* of the move below */
        if (next > 0x10FFFF || cost > d->work)
            return SIZE_MAX;
        d->work -= cost;
        code = (uint32_t)next;
        ms_move(out + i + 1, out + i, (count - 1 - i) * sizeof *out);
        out[i++] = code;
    }
    return count;
}
#endif

#endif /* ms_ROOM_names_core */
