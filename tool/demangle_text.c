/* Mangled names inside any text, as c++filt does. */
#include "demangle_text.h"

#include "out.h"
#include "posix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_SIZE = 64 << 10,
    TOKEN_MAX = 64 << 10 /* the longest names of real programs have 12 KB */
};

typedef struct filter { /* One run over a text. */
    uint32_t flags;
    text result; /* where names are written */
    char *token; /* the token that is being read */
    size_t token_len;
    bool too_long; /* inside a run of token bytes that no name can fill */
    bool failed;
} filter;

static void put(filter *f, const char *ptr, size_t len)
{
    out_write(ptr, len);
    f->failed |= out_failed();
}

/* Demangles into f->result. Returns the length, or 0 when the text is no mangled name. Punycode in names
 * may stand for any character, so they are escaped; the text around them stays as it is. */
static size_t demangle(filter *f, const char *ptr, size_t len)
{
    machsym_str name = {ptr, len};
    text *to = &f->result;
    to->len = 0;
    size_t need = machsym_demangle(name, f->flags, to->v, to->cap);
    if (need >= to->cap)
        machsym_demangle(name, f->flags, text_room(to, need + 1), need + 1);
    if (need == len && memcmp(to->v, ptr, len) == 0)
        return 0;
    to->len = need;
    text_escape(to, 0);
    return to->len;
}

static bool is_utf8(char c)
{
    return ((unsigned char)c & 0x80u) != 0;
}

/* The first bytes that a mangled name can have. */
static bool may_be_mangled(char c)
{
    return c == '_' || c == '$' || c == '@' || c == 'R' || c == 'Z';
}

/* A token that was not one name: bytes of UTF-8 may also be quotes or arrows beside it. */
static void put_pieces(filter *f, const char *ptr, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t end = at + 1;
        while (end < len && is_utf8(ptr[end]) == is_utf8(ptr[at]))
            end++;
        size_t need = may_be_mangled(ptr[at]) ? demangle(f, ptr + at, end - at) : 0;
        put(f, need > 0 ? f->result.v : ptr + at, need > 0 ? need : end - at);
        at = end;
    }
}

/* Full stops at the end belong to the sentence. */
static void put_token(filter *f, const char *ptr, size_t len)
{
    size_t name_len = len;
    while (name_len > 0 && ptr[name_len - 1] == '.')
        name_len--;
    size_t need = name_len > 2 && may_be_mangled(ptr[0]) ? demangle(f, ptr, name_len) : 0;
    bool has_utf8 = false;
    for (size_t i = 0; need == 0 && i < name_len && !has_utf8; i++)
        has_utf8 = is_utf8(ptr[i]);
    if (need > 0)
        put(f, f->result.v, need);
    else if (has_utf8)
        put_pieces(f, ptr, name_len);
    else
        put(f, ptr, name_len);
    put(f, ptr + name_len, len - name_len);
}

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.' || is_utf8(c);
}

/* More of the token; a run that no name can fill passes as it is. */
static void add_to_token(filter *f, const char *ptr, size_t len)
{
    if (!f->too_long && len > TOKEN_MAX - f->token_len) {
        put(f, f->token, f->token_len);
        f->too_long = true;
    }
    if (f->too_long) {
        put(f, ptr, len);
        return;
    }
    memcpy(f->token + f->token_len, ptr, len);
    f->token_len += len;
}

static void end_token(filter *f)
{
    if (!f->too_long && f->token_len > 0)
        put_token(f, f->token, f->token_len);
    f->too_long = false;
    f->token_len = 0;
}

/* Takes a piece of the text; its last token waits for the next piece. */
static void feed(filter *f, const char *ptr, size_t len)
{
    for (size_t at = 0; at < len && !f->failed;) {
        size_t end = at;
        while (end < len && is_token(ptr[end]))
            end++;
        if (end > at)
            add_to_token(f, ptr + at, end - at);
        at = end;
        if (at == len)
            return;
        end_token(f);
        while (end < len && !is_token(ptr[end]) && ptr[end] != '@')
            end++;
        put(f, ptr + at, end - at);
        at = end;
        if (at < len && ptr[at] == '@') /* part of a name only as its first byte: @__swiftmacro_ */
            add_to_token(f, ptr + at++, 1);
    }
}

/* Whether a read would wait for whoever writes. */
static bool would_wait(int in)
{
    struct pollfd p = {in, POLLIN, 0};
    return poll(&p, 1, 0) == 0;
}

static int copy_text(filter *f, int in, char *chunk)
{
    for (;;) {
        if (would_wait(in))
            out_flush();
        ssize_t got = read(in, chunk, READ_SIZE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        feed(f, chunk, (size_t)got);
        if (f->failed)
            return -1;
    }
    end_token(f);
    return f->failed ? -1 : 0;
}

int filter_text(int in, uint32_t flags)
{
    filter f = {flags, {0}, tool_alloc(TOKEN_MAX), 0, false, false};
    char *chunk = tool_alloc(READ_SIZE);
    int status = copy_text(&f, in, chunk);
    text_free(&f.result);
    free(f.token);
    free(chunk);
    return status;
}
