/* ==== >> base/text ====
 * Job: text: a growing buffer, and views of text in other memory.
 * Offers: text_grow, text_base_name, text_sentence, text_dec, text_hex, text_json, text_escape,
 * text_is_plain, text_shown, text_end_line, text_sort_lines, text_uuid, text_path, text_free and its kin.
 * Never: reads a file. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "machsym.h"
#include "memory.h"

#include <string.h>

/* A growing buffer. */
typedef struct text {
    char *v;
    size_t len;
    size_t cap;
    mem_source *memory; /* NULL: the heap */
} text;

/* Returns an empty buffer. */
static inline text text_in(mem_source *memory)
{
    text t = {NULL, 0, 0, memory};
    return t;
}

char *text_grow(text *t, size_t len); /* makes room for len more bytes; returns where to write them */

/* Short functions are inline, because answers consist of millions of small pieces. Where size counts they are
 * not, because clang would copy them to a thousand places: 470 KB instead of 330. */
#if defined(__GNUC__) && defined(__OPTIMIZE_SIZE__)
#define TEXT_INLINE __attribute__((noinline, unused))
#else
#define TEXT_INLINE inline
#endif

static TEXT_INLINE char *text_room(text *t, size_t len)
{
    return len <= t->cap - t->len ? t->v + t->len : text_grow(t, len);
}

static TEXT_INLINE void text_add(text *t, const char *ptr, size_t len)
{
    MACHSYM_COUNT_WORK(1 + len / 64);
    if (len == 0)
        return;
    memcpy(text_room(t, len), ptr, len);
    t->len += len;
}

static TEXT_INLINE void text_str(text *t, machsym_str str)
{
    text_add(t, str.ptr, str.len);
}

static TEXT_INLINE void text_c(text *t, const char *c_string)
{
    text_add(t, c_string, strlen(c_string));
}

static TEXT_INLINE void text_char(text *t, char c)
{
    *text_room(t, 1) = c;
    t->len++;
}

void text_base_name(text *t, machsym_str path); /* appends what follows the last slash */
void text_sentence(text *t, const char *words); /* appends the words and a line end */
void text_dec(text *t, uint64_t number);
void text_hex(text *t, uint64_t number, unsigned digits); /* at least digits digits, lower case, no 0x */
void text_json(text *t, machsym_str str);                 /* quoted; invalid UTF-8 becomes U+FFFD */
/* Escapes control characters in the text added since `from` (\n, \x1b, \u202e and the like), so that a
 * name cannot begin a line or control a terminal. All output passes through it, except JSON and bytes of
 * an input. */
void text_escape(text *t, size_t from);
bool text_is_plain(machsym_str str);       /* only printable ASCII: no escape needed */
void text_shown(text *t, machsym_str str); /* adds a name or path, escaped */
void text_end_line(text *t, size_t from);  /* escapes the line since from, and ends it */
/* Sorts the lines of a text and removes duplicates. */
void text_sort_lines(text *t);
void text_uuid(text *t, const machsym_uuid *uuid); /* upper case, with dashes */
void text_path(text *t, const machsym_path *path);
void text_free(text *t);
/* The text with a NUL after it, which len does not count. */
const char *text_z(text *t);

void text_base64(text *t, const uint8_t *p, size_t len);
bool text_from_base64(text *t); /* decodes in place; false when it is not base64 */

/* ---- Memory for many texts ---- */

typedef struct pool_chunk pool_chunk;

/* Pieces of text that do not move until all are freed. */
typedef struct pool {
    pool_chunk *chunks;
    mem_source *memory; /* NULL: the heap */
} pool;

machsym_str pool_copy(pool *p, const char *ptr, size_t len);
char *pool_copy_z(pool *p, const char *ptr, size_t len); /* with a NUL after it */
void pool_free(pool *p);

/* ---- Views ---- */

static inline machsym_str str_make(const char *ptr, size_t len)
{
    machsym_str s = {ptr, len};
    return s;
}

#define EACH_BYTE 0x0101010101010101u

/* Sets the high bit of each of eight bytes that is zero. */
static inline uint64_t zero_bytes(uint64_t word)
{
    return ~(((word & 0x7f * EACH_BYTE) + 0x7f * EACH_BYTE) | word) & 0x80 * EACH_BYTE;
}

/* Inline, so that the length of a literal costs nothing. */
static inline machsym_str str_c(const char *c_string)
{
    return str_make(c_string, strlen(c_string));
}

static TEXT_INLINE bool str_equal(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Compares bytes, as memcmp: below 0, 0 or above. */
static TEXT_INLINE int str_order(machsym_str a, machsym_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len != 0 ? memcmp(a.ptr, b.ptr, len) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static TEXT_INLINE bool str_is(machsym_str s, const char *c_string)
{
    return str_equal(s, str_c(c_string));
}

static TEXT_INLINE bool str_starts(machsym_str s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.len >= len && memcmp(s.ptr, prefix, len) == 0;
}

machsym_str str_trim(machsym_str s);
machsym_str str_trim_end(machsym_str s); /* trims line ends, too */
/* Returns the offset of needle in s, or s.len. Time is proportional to the product of both lengths, so
 * needles must be short. */
size_t str_find(machsym_str s, const char *needle);
/* Returns the length of the control character at the start of s, as text_escape knows them; else 0. */
size_t str_control(machsym_str s);
/* Return the text after a number of bytes, or after the first needle; empty if there is no needle. */
machsym_str str_from(machsym_str s, size_t count);
machsym_str str_after(machsym_str s, const char *needle);
/* Whether a path begins with a drive or a server, as those of Windows do. */
bool str_is_windows_path(machsym_str path);
machsym_str str_base_name(machsym_str path);
char *str_copy_z(machsym_str s);  /* from malloc, with a NUL after it */
uint64_t str_hash(machsym_str s); /* FNV-1a */
/* Returns the length of a byte order mark at the start of the text: 3 or 0. */
size_t str_mark_len(machsym_str s);
/* Returns the distance to the first line feed or carriage return. */
size_t str_line_len(machsym_str s);
/* Removes a line from the front and returns it without its end. Returns false if no line is left. */
bool str_take_line(machsym_str *rest, machsym_str *line);

#endif
