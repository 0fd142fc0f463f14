/* Mangled names inside any text, as c++filt does. */
#include "demangle_text.h"
#include "machsym.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/out.h"
#include "../base/posix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_SIZE = 64 << 10,
    STEP = 16,            /* bytes of a token that are classified at once */
    TOKEN_MAX = 64 << 10, /* the longest names of real programs have 12 KB */
    OUT_SIZE = 64 << 10,  /* so much is written at once */
    NAME_ROOM = 4096,     /* room for a name before its length is known: nearly all need one call then */
    LOOK = 16,            /* bytes before a token that stay readable: an escape sequence of a terminal */
    AHEAD_MAX = 5,        /* letters and digits of an escape that a token may begin with: u201c */
    IN_TOKEN = 1,         /* classes of bytes: ASCII that may be anywhere in a token */
    BEGINS = 2,           /* may be the first of a mangled name */
    IS_UTF8 = 4,          /* may be anywhere in a token too */
    IS_DOT = 8,           /* in a token; a name may stand after it */
    LEADS = 16 /* in no token; an escape, %22 or a colour may begin here, which a token's letters end */
};

typedef struct filter { /* One run over a text. */
    uint32_t flags;
    unsigned char class_of[256];
    text out;      /* what is not written yet */
    bool too_long; /* inside a run of token bytes that no name can fill */
} filter;

static void filter_classify(unsigned char *class_of)
{
    for (int c = 0; c < 256; c++) {
        bool in_token = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '_' || c == '$' || c == '.';
        bool begins = c == '_' || c == '$' || c == '@' || c == 'R' || c == 'Z';
        bool leads = c == '\\' || c == '%' || c == '[' || c == ';';
        class_of[c] =
            (unsigned char)((in_token ? IN_TOKEN : 0) | (begins ? BEGINS : 0) | (leads ? LEADS : 0) |
                            (c >= 0x80 ? IS_UTF8 : 0) | (c == '.' ? IS_DOT : 0));
    }
}

static unsigned filter_class_at(const filter *f, const char *ptr)
{
    return f->class_of[(unsigned char)*ptr];
}

static void filter_write_full(filter *f)
{
    if (f->out.len >= OUT_SIZE)
        out_text(&f->out);
}

static void filter_put(filter *f, const char *ptr, size_t len)
{
    if (len == 1)
        text_char(&f->out, *ptr); /* what stands between most names */
    else
        text_add(&f->out, ptr, len);
    filter_write_full(f);
}

/* Puts the name that is mangled here; false when there is none. Punycode in names may stand for any
 * character, so they are escaped; the text around them stays as it is. */
static bool filter_put_name(filter *f, const char *ptr, size_t len)
{
    machsym_str name = {ptr, len};
    text *to = &f->out;
    char *at = text_room(to, NAME_ROOM);
    size_t need = machsym_demangle(name, f->flags, at, to->cap - to->len);
    if (need >= to->cap - to->len) {
        at = text_room(to, need + 1);
        machsym_demangle(name, f->flags, at, need + 1);
    }
    if (need == len && memcmp(at, ptr, len) == 0)
        return false;
    to->len += need;
    text_escape(to, to->len - need);
    filter_write_full(f);
    return true;
}

static const char hex[] = "0123456789abcdefABCDEF";

static size_t filter_count_in(const char *ptr, size_t len, const char *set)
{
    size_t count = 0;
    while (count < len && ptr[count] != 0 && strchr(set, ptr[count]) != NULL)
        count++;
    return count;
}

/* Whether len bytes after a backslash are the rest of an escape: n, 0, 342, x1b, u201c, or 01 as LLVM
 * writes. */
static bool filter_is_escape(const char *ptr, size_t len)
{
    switch (len) {
    case 1: return filter_count_in(ptr, 1, "abefnrtv01234567") == 1;
    case 2: return filter_count_in(ptr + (*ptr == 'x'), 2, hex) >= (*ptr == 'x' ? 1u : 2u);
    case 3:
        return *ptr == 'x' ? filter_count_in(ptr + 1, 2, hex) == 2 : filter_count_in(ptr, 3, "01234567") == 3;
    case 5: return *ptr == 'u' && filter_count_in(ptr + 1, 4, hex) == 4;
    default: return false;
    }
}

/* Whether len bytes end what ESC [ began, as in ESC [ 1 ; 31 m: a terminal's colour. */
static bool filter_ends_colour(const char *ptr, size_t len)
{
    size_t back = 1;
    if (len == 0 || filter_count_in(ptr, len - 1, "0123456789") != len - 1)
        return false;
    while (back < LOOK - 1 && filter_count_in(ptr - back, 1, "0123456789;") == 1)
        back++;
    return ptr[-(ptrdiff_t)back] == '[' && ptr[-(ptrdiff_t)back - 1] == '\033';
}

/* How many bytes of a token stand ahead of what may be a name: LLVM and SIL write @ before symbols; in
 * "\n_Z3foov" the token begins with the n of the escape. LOOK bytes can be read before ptr. */
static size_t filter_ahead_of_name(const filter *f, const char *ptr, size_t len)
{
    size_t count = *ptr == '@';
    while (count < len && count <= AHEAD_MAX && (filter_class_at(f, ptr + count) & BEGINS) == 0)
        count++;
    if (count == 0 || count == len || count > AHEAD_MAX)
        return 0;
    if (*ptr == '@' || *ptr == '.')
        return filter_count_in(ptr, count, "@.") == count ? count : 0;
    bool is_ahead = false;
    switch (ptr[-1]) {
    case '\\': is_ahead = filter_is_escape(ptr, count); break;
    case '%': is_ahead = count == 2 && filter_count_in(ptr, 2, hex) == 2; break;
    case '[':
    case ';': is_ahead = filter_ends_colour(ptr, count); break;
    default: break;
    }
    return is_ahead ? count : 0;
}

/* Puts a token or a part of one that is no name, with the name that it may end with. */
static void filter_put_others(filter *f, const char *ptr, size_t len)
{
    size_t ahead = filter_ahead_of_name(f, ptr, len);
    if (ahead > 0)
        filter_put(f, ptr, ahead);
    if (ahead == 0 || !filter_put_name(f, ptr + ahead, len - ahead))
        filter_put(f, ptr + ahead, len - ahead);
}

/* A token that was not one name: bytes of UTF-8 may also be quotes or arrows beside it. */
static void filter_put_pieces(filter *f, const char *ptr, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t end = at + 1;
        while (end < len && ((filter_class_at(f, ptr + end) ^ filter_class_at(f, ptr + at)) & IS_UTF8) == 0)
            end++;
        if ((filter_class_at(f, ptr + at) & BEGINS) == 0 || !filter_put_name(f, ptr + at, end - at))
            filter_put_others(f, ptr + at, end - at);
        at = end;
    }
}

/* Puts a token in which a name may be. Full stops at the end belong to the sentence. */
static void filter_put_token(filter *f, const char *ptr, size_t len, bool has_utf8)
{
    size_t name_len = len;
    while (name_len > 0 && ptr[name_len - 1] == '.')
        name_len--;
    bool done = name_len > 2 && (filter_class_at(f, ptr) & BEGINS) != 0 && filter_put_name(f, ptr, name_len);
    if (!done && has_utf8)
        filter_put_pieces(f, ptr, name_len);
    else if (!done)
        filter_put_others(f, ptr, name_len);
    if (len > name_len)
        filter_put(f, ptr + name_len, len - name_len);
}

/* How many of the next STEP bytes are of the class IN_TOKEN, before the first that is not. Most of the text
 * is names, so they are compared together where the compiler has vectors. */
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
typedef unsigned char step_bytes __attribute__((vector_size(STEP)));

static size_t filter_step_in_token(const filter *f, const char *ptr)
{
    step_bytes c;
    uint64_t out[2]; /* 0xff for each byte that is not of the class */
    (void)f;
    memcpy(&c, ptr, STEP);
    step_bytes letter = (c | 0x20) - 'a', digit = c - '0';
    step_bytes in = (step_bytes)(letter < 26) | (step_bytes)(digit < 10) | (step_bytes)(c == '_') |
                    (step_bytes)(c == '$') | (step_bytes)(c == '.');
    in = ~in;
    memcpy(out, &in, STEP);
    if ((out[0] | out[1]) == 0)
        return STEP;
    return (size_t)(out[0] != 0 ? __builtin_ctzll(out[0]) / 8 : 8 + __builtin_ctzll(out[1]) / 8);
}
#else
static size_t filter_step_in_token(const filter *f, const char *ptr)
{
    size_t len = 0;
    while (len < STEP && (filter_class_at(f, ptr + len) & IN_TOKEN) != 0)
        len++;
    return len;
}
#endif

/* Finds where a token ends. STEP bytes of another class stand after the text. */
static size_t filter_token_end(const filter *f, const char *ptr, size_t at, bool *has_utf8)
{
    for (size_t len = STEP; len == STEP; at += len)
        len = filter_step_in_token(f, ptr + at);
    if ((filter_class_at(f, ptr + at) & IS_UTF8) == 0)
        return at;
    *has_utf8 = true;
    while ((filter_class_at(f, ptr + at) & (IN_TOKEN | IS_UTF8)) != 0)
        at++;
    return at;
}

/* Takes a piece of the text, before which LOOK bytes can be read, and after which STEP zeros stand. Returns
 * how much of it is done: the rest is a token that may go on. */
static size_t filter_feed(filter *f, const char *ptr, size_t len, bool is_last)
{
    bool has_utf8 = false;
    size_t done = 0, at = f->too_long ? filter_token_end(f, ptr, 0, &has_utf8) : 0;
    f->too_long = f->too_long && at == len;
    for (;;) {
        while (at < len && (filter_class_at(f, ptr + at) & ~(unsigned)LEADS) == 0)
            at++;
        if (at == len)
            break;
        size_t start = at;
        unsigned hints = filter_class_at(f, ptr + start) | (filter_class_at(f, ptr + start - 1) & LEADS);
        has_utf8 = (hints & IS_UTF8) != 0;
        at = filter_token_end(f, ptr, start + 1, &has_utf8); /* @ is part of a name only as its first byte */
        bool is_short = at - start <= TOKEN_MAX;
        if (at == len && !is_last && is_short) {
            filter_put(f, ptr + done, start - done);
            return start;
        }
        f->too_long = at == len;
        if (!is_short || (hints == IN_TOKEN && !has_utf8))
            continue;
        if ((hints & BEGINS) != 0 || has_utf8 || filter_ahead_of_name(f, ptr + start, at - start) > 0) {
            filter_put(f, ptr + done, start - done);
            filter_put_token(f, ptr + start, at - start, has_utf8);
            done = at;
        }
    }
    filter_put(f, ptr + done, len - done);
    return len;
}

/* Whether a read would wait for the writer. */
static bool filter_would_wait(int in)
{
    struct pollfd p = {in, POLLIN, 0};
    return poll(&p, 1, 0) == 0;
}

/* memory has room for LOOK bytes, a token, what is read after it and STEP zeros. */
static int filter_copy_text(filter *f, int in, char *memory)
{
    char *buffer = memory + LOOK;
    size_t held = 0;
    memset(memory, 0, LOOK);
    while (!out_failed()) {
        if (filter_would_wait(in)) {
            out_text(&f->out);
            out_flush();
        }
        ssize_t got = read(in, buffer + held, READ_SIZE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        size_t len = held + (size_t)got;
        memset(buffer + len, 0, STEP);
        size_t done = filter_feed(f, buffer, len, got == 0);
        held = len - done;
        memmove(memory, memory + done, LOOK + held);
        if (got == 0)
            break;
    }
    out_text(&f->out);
    return out_failed() ? -1 : 0;
}

int filter_text(int in, uint32_t flags)
{
    filter f = {flags, {0}, {0}, false};
    char *memory = mem_alloc(LOOK + TOKEN_MAX + READ_SIZE + STEP);
    filter_classify(f.class_of);
    int status = filter_copy_text(&f, in, memory);
    text_free(&f.out);
    free(memory);
    return status;
}
