/* Mangled names inside any text, as c++filt does. */
#define _POSIX_C_SOURCE 200809L
#include "demangle_text.h"

#include "../../machsym.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_MAX = 64 << 10 }; /* the longest names of real programs have 12 KB */

typedef struct filter { /* One run over a text. */
    FILE *out;
    uint32_t flags;
    char *result; /* where names are written, grows to the longest */
    size_t result_cap;
    bool failed;
} filter;

static void put(filter *f, const char *text, size_t len)
{
    if (fwrite(text, 1, len, f->out) != len)
        f->failed = true;
}

/* Demangles into f->result. Returns the length, or 0 when the text is no mangled name. */
static size_t demangle(filter *f, const char *text, size_t len)
{
    machsym_str name = {text, len};
    size_t need = machsym_demangle(name, f->flags, f->result, f->result_cap);
    if (need >= f->result_cap) {
        char *more = (char *)realloc(f->result, need + 1);
        if (more == NULL) {
            f->failed = true;
            return 0;
        }
        f->result = more;
        f->result_cap = need + 1;
        machsym_demangle(name, f->flags, f->result, f->result_cap);
    }
    bool same = need == len && memcmp(f->result, text, len) == 0;
    return same ? 0 : need;
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
static void put_pieces(filter *f, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t end = at + 1;
        while (end < len && is_utf8(text[end]) == is_utf8(text[at]))
            end++;
        size_t need = may_be_mangled(text[at]) ? demangle(f, text + at, end - at) : 0;
        put(f, need > 0 ? f->result : text + at, need > 0 ? need : end - at);
        at = end;
    }
}

/* Full stops at the end belong to the sentence. */
static void put_token(filter *f, const char *text, size_t len)
{
    size_t name_len = len;
    while (name_len > 0 && text[name_len - 1] == '.')
        name_len--;
    size_t need = name_len > 2 && may_be_mangled(text[0]) ? demangle(f, text, name_len) : 0;
    bool has_utf8 = false;
    for (size_t i = 0; need == 0 && i < name_len && !has_utf8; i++)
        has_utf8 = is_utf8(text[i]);
    if (need > 0)
        put(f, f->result, need);
    else if (has_utf8)
        put_pieces(f, text, name_len);
    else
        put(f, text, name_len);
    put(f, text + name_len, len - name_len);
}

/* `@` is part of a name only as its first byte: @__swiftmacro_. */
static bool is_token(int c, size_t len)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.' || c >= 0x80 || (c == '@' && len == 0);
}

static void put_byte(filter *f, int c)
{
    if (putc_unlocked(c, f->out) == EOF)
        f->failed = true;
}

/* A run of token bytes that no name can fill passes as it is. */
static void run(filter *f, FILE *in, char *token)
{
    size_t len = 0;
    bool too_long = false;
    while (!f->failed) {
        int c = getc_unlocked(in);
        if (c != EOF && is_token(c, len)) {
            if (len < TOKEN_MAX) {
                token[len++] = (char)c;
                continue;
            }
            if (!too_long)
                put(f, token, len);
            too_long = true;
            put_byte(f, c);
            continue;
        }
        if (!too_long && len > 0)
            put_token(f, token, len);
        too_long = false;
        len = 0;
        if (c == EOF)
            break;
        if (is_token(c, 0)) /* the `@` that ended one token starts another */
            token[len++] = (char)c;
        else
            put_byte(f, c);
    }
}

int filter_text(FILE *in, FILE *out, uint32_t flags)
{
    filter f = {out, flags, NULL, 4096, false};
    char *token = (char *)malloc(TOKEN_MAX);
    f.result = (char *)malloc(f.result_cap);
    if (token != NULL && f.result != NULL) {
        flockfile(in);
        flockfile(out);
        run(&f, in, token);
        funlockfile(out);
        funlockfile(in);
    } else {
        f.failed = true;
    }
    free(token);
    free(f.result);
    return f.failed || ferror(in) || fflush(out) != 0 ? -1 : 0;
}
