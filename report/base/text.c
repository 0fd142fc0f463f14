/* Text; see text.h. */

#include "text.h"
#include <stdlib.h>

char *text_grow(text *t, size_t len)
{
    size_t cap = t->cap < 256 ? 256 : t->cap;
    while (cap - t->len < len)
        cap = mem_times(t->memory, cap, 2);
    t->v = (char *)mem_resize(t->memory, t->v, cap);
    t->cap = cap;
    return t->v + t->len;
}

void text_base_name(text *t, machsym_str path)
{
    if (path.len == 0)
        return;
    const char *end = path.ptr + path.len;
    const char *name = end;
    while (name > path.ptr && name[-1] != '/')
        name--;
    text_add(t, name, (size_t)(end - name));
}

void text_sentence(text *t, const char *words)
{
    text_c(t, words);
    text_char(t, '\n');
}

void text_dec(text *t, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    text_add(t, digits + at, sizeof digits - at);
}

void text_hex(text *t, uint64_t number, unsigned digits)
{
    char out[16];
    size_t at = sizeof out;
    do {
        out[--at] = "0123456789abcdef"[number & 15];
        number >>= 4;
    } while (number != 0 || sizeof out - at < digits);
    text_add(t, out + at, sizeof out - at);
}

/* Length of the UTF-8 sequence at p; 0 if it is not one. */
static size_t text_sequence_length(const unsigned char *p, size_t left)
{
    size_t len = p[0] < 0x80                   ? 1
                 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                               : 0;
    if (len > left)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] >= 0x90))
        return 0; /* overlong, surrogate or past U+10FFFF */
    return len;
}

/* The value of a UTF-8 sequence of len bytes. */
static uint32_t text_sequence_value(const unsigned char *p, size_t len)
{
    uint32_t value = len == 1 ? p[0] : p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++)
        value = value << 6 | (p[i] & 0x3f);
    return value;
}

/* Characters that control a terminal or change the order of a line: C0, DEL and C1, line and paragraph
 * separators, and characters that override or isolate the writing direction. */
static bool text_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* Sets the high bit of each of eight bytes that is not printable ASCII: below 0x20 it borrows, 0x7f
 * carries. */
static uint64_t text_odd_bytes(const char *p)
{
    uint64_t word;
    memcpy(&word, p, 8);
    return (word | (word - 0x20 * EACH_BYTE) | (word + EACH_BYTE)) & 0x80 * EACH_BYTE;
}

/* Returns a lower bound for the number of bytes at p that JSON needs no escape for. Tests eight at a time. */
static size_t text_json_plain(const char *p, size_t left)
{
    size_t len = 0;
    for (; left - len >= 8 && text_odd_bytes(p + len) == 0; len += 8) {
        uint64_t word;
        memcpy(&word, p + len, 8);
        if ((zero_bytes(word ^ '"' * EACH_BYTE) | zero_bytes(word ^ '\\' * EACH_BYTE)) != 0)
            break;
    }
    while (len < left && p[len] >= 0x20 && p[len] < 0x7f && p[len] != '"' && p[len] != '\\')
        len++;
    return len;
}

void text_json(text *t, machsym_str str)
{
    const unsigned char *p = (const unsigned char *)str.ptr;
    text_char(t, '"');
    for (size_t i = 0; i < str.len;) {
        size_t plain = text_json_plain(str.ptr + i, str.len - i);
        text_add(t, str.ptr + i, plain);
        i += plain;
        if (i == str.len)
            break;
        size_t len = text_sequence_length(p + i, str.len - i);
        uint32_t value = len > 0 ? text_sequence_value(p + i, len) : 0xfffd;
        if (p[i] == '"' || p[i] == '\\') {
            text_char(t, '\\');
            text_char(t, (char)p[i]);
        } else if (len == 0 || text_is_control(value)) {
            text_c(t, "\\u");
            text_hex(t, value, 4);
        } else {
            text_add(t, str.ptr + i, len);
        }
        i += len > 0 ? len : 1;
    }
    text_char(t, '"');
}

/* ---- One line ---- */

/* Whether every byte is printable ASCII. Most names are, so eight bytes are tested at a time. The last eight
 * overlap. */
static bool text_is_ascii(const char *p, size_t len)
{
    const char *last = p + (len >= 8 ? len - 8 : 0);
    uint64_t odd = 0;
    if (len >= 8) {
        for (; p < last; p += 8)
            odd |= text_odd_bytes(p);
        return (odd | text_odd_bytes(last)) == 0;
    }
    for (; len > 0; p++, len--)
        odd |= (unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f;
    return odd == 0;
}

bool text_is_plain(machsym_str str)
{
    return text_is_ascii(str.ptr, str.len);
}

static void text_control(text *t, uint32_t value, size_t bytes)
{
    if (value == '\n' || value == '\r' || value == '\t') {
        text_char(t, '\\');
        text_char(t, value == '\n' ? 'n' : value == '\r' ? 'r' : 't');
        return;
    }
    text_c(t, bytes == 1 ? "\\x" : "\\u");
    text_hex(t, value, bytes == 1 ? 2 : 4);
}

size_t str_control(machsym_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t len = s.len > 0 ? text_sequence_length(p, s.len) : 0;
    size_t bytes = len > 0 ? len : 1;
    return s.len > 0 && text_is_control(text_sequence_value(p, bytes)) ? bytes : 0;
}

/* A byte that is not UTF-8 counts as one character, because 8-bit terminals interpret 0x80 to 0x9f. */
void text_escape(text *t, size_t from)
{
    size_t left = t->len - from;
    if (left == 0 || text_is_ascii(t->v + from, left))
        return;
    char *copy = (char *)mem_take(t->memory, left);
    const unsigned char *p = (const unsigned char *)memcpy(copy, t->v + from, left);
    t->len = from;
    while (left > 0) {
        size_t len = text_sequence_length(p, left);
        size_t bytes = len > 0 ? len : 1;
        uint32_t value = text_sequence_value(p, bytes);
        if (text_is_control(value))
            text_control(t, value, bytes);
        else
            text_add(t, (const char *)p, bytes);
        p += bytes;
        left -= bytes;
    }
    mem_give(t->memory, copy);
}

void text_shown(text *t, machsym_str str)
{
    size_t from = t->len;
    text_str(t, str);
    text_escape(t, from);
}

void text_end_line(text *t, size_t from)
{
    text_escape(t, from);
    text_char(t, '\n');
}

void text_uuid(text *t, const machsym_uuid *uuid)
{
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text_char(t, '-');
        text_char(t, "0123456789ABCDEF"[uuid->v[i] >> 4]);
        text_char(t, "0123456789ABCDEF"[uuid->v[i] & 15]);
    }
}

void text_path(text *t, const machsym_path *path)
{
    size_t len = machsym_path_join(path, NULL, 0);
    machsym_path_join(path, text_room(t, len + 1), len + 1);
    t->len += len;
}

void text_free(text *t)
{
    mem_source *memory = t->memory;
    mem_give(memory, t->v);
    *t = text_in(memory);
}

const char *text_z(text *t)
{
    *text_room(t, 1) = 0;
    return t->v;
}

/* ---- Base64, RFC 4648 ---- */

void text_base64(text *t, const uint8_t *p, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t word =
            (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0u);
        char four[4] = {digits[word >> 18], digits[word >> 12 & 63], left > 1 ? digits[word >> 6 & 63] : '=',
                        left > 2 ? digits[word & 63] : '='};
        text_add(t, four, 4);
    }
}

/* The value of each byte as a digit of base64, or this for other bytes. */
enum { TEXT_NO_DIGIT = 64 };

static void text_base64_table(uint8_t table[256])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    memset(table, TEXT_NO_DIGIT, 256);
    for (unsigned i = 0; i < 64; i++)
        table[(uint8_t)digits[i]] = (uint8_t)i;
}

/* Decodes groups of four digits, up to one with another byte. Returns the bytes that were read; *to: those
 * that were written. */
static size_t text_base64_groups(char *p, size_t len, const uint8_t *table, size_t *to)
{
    const uint8_t *in = (const uint8_t *)p;
    size_t at = 0;
    for (; len - at >= 4; at += 4) {
        unsigned a = table[in[at]];
        unsigned b = table[in[at + 1]];
        unsigned c = table[in[at + 2]];
        unsigned d = table[in[at + 3]];
        if (((a | b | c | d) & TEXT_NO_DIGIT) != 0)
            break;
        p[(*to)++] = (char)(a << 2 | b >> 4);
        p[(*to)++] = (char)((b & 15) << 4 | c >> 2);
        p[(*to)++] = (char)((c & 3) << 6 | d);
    }
    return at;
}

/* Text with bytes other than digits, padding and white space is not base64. */
bool text_from_base64(text *t)
{
    uint8_t table[256];
    uint32_t word = 0;
    unsigned bits = 0;
    size_t to = 0;
    text_base64_table(table);
    for (size_t i = text_base64_groups(t->v, t->len, table, &to); i < t->len; i++) {
        char c = t->v[i];
        unsigned digit = table[(uint8_t)c];
        if (c == '=' || c == '\n' || c == '\r' || c == ' ')
            continue;
        if (digit == TEXT_NO_DIGIT)
            return false;
        word = word << 6 | digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            t->v[to++] = (char)(word >> bits & 0xff);
        }
    }
    t->len = to;
    return true;
}

size_t str_mark_len(machsym_str s)
{
    return s.len >= 3 && memcmp(s.ptr, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* ---- Memory for many texts ---- */

struct pool_chunk {
    pool_chunk *next;
    size_t len;
    size_t cap;
};

/* Room that does not move. */
static char *pool_room(pool *p, size_t len)
{
    MACHSYM_COUNT_WORK(1 + len / 64);
    if (p->chunks == NULL || p->chunks->cap - p->chunks->len < len) {
        size_t cap = len > 1 << 16 ? len : 1 << 16;
        pool_chunk *chunk = (pool_chunk *)mem_take(p->memory, sizeof *chunk + cap);
        chunk->next = p->chunks;
        chunk->len = 0;
        chunk->cap = cap;
        p->chunks = chunk;
    }
    char *to = (char *)(p->chunks + 1) + p->chunks->len; /* texts come after the chunk's header */
    p->chunks->len += len;
    return to;
}

machsym_str pool_copy(pool *p, const char *ptr, size_t len)
{
    char *to = pool_room(p, len);
    if (len > 0)
        memcpy(to, ptr, len);
    return str_make(to, len);
}

char *pool_copy_z(pool *p, const char *ptr, size_t len)
{
    char *to = pool_room(p, len + 1);
    if (len > 0)
        memcpy(to, ptr, len);
    to[len] = 0;
    return to;
}

void pool_free(pool *p)
{
    while (p->chunks != NULL) {
        pool_chunk *next = p->chunks->next;
        mem_give(p->memory, p->chunks);
        p->chunks = next;
    }
}

/* ---- Views ---- */

machsym_str str_trim_end(machsym_str s)
{
    while (s.len > 0 && strchr(" \t\r\n", s.ptr[s.len - 1]) != NULL)
        s.len--;
    return s;
}

machsym_str str_trim(machsym_str s)
{
    machsym_str t = s;
    while (t.len > 0 && (t.ptr[0] == ' ' || t.ptr[0] == '\t')) {
        t.ptr++;
        t.len--;
    }
    while (t.len > 0 && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\t'))
        t.len--;
    MACHSYM_COUNT_WORK((s.len - t.len) / 64);
    return t;
}

/* Chooses which byte of a needle to search for: lines are full of blanks and digits. */
static size_t text_rare_byte(const char *needle)
{
    for (size_t i = 0; needle[i] != 0; i++) {
        if (needle[i] != ' ' && (needle[i] < '0' || needle[i] > '9'))
            return i;
    }
    return 0;
}

/* memmem of some libraries first builds a table, which takes longer than searching a line. */
size_t str_find(machsym_str s, const char *needle)
{
    size_t len = strlen(needle);
    size_t rare = text_rare_byte(needle);
    size_t found = s.len;
    if (len == 0)
        return 0;
    for (size_t at = 0; s.len >= len && at <= s.len - len; at++) {
        const char *next = (const char *)memchr(s.ptr + at + rare, needle[rare], s.len - len - at + 1);
        if (next == NULL)
            break;
        at = (size_t)(next - s.ptr) - rare;
        if (memcmp(s.ptr + at, needle, len) == 0) {
            found = at;
            break;
        }
    }
    MACHSYM_COUNT_WORK(1 + found / 64);
    return found;
}

machsym_str str_from(machsym_str s, size_t count)
{
    return count < s.len ? str_make(s.ptr + count, s.len - count) : str_make(s.ptr, 0);
}

machsym_str str_after(machsym_str s, const char *needle)
{
    return str_from(s, str_find(s, needle) + strlen(needle));
}

bool str_is_windows_path(machsym_str path)
{
    char first = path.len >= 3 ? (char)(path.ptr[0] | 0x20) : 0;
    if (first >= 'a' && first <= 'z')
        return path.ptr[1] == ':' && (path.ptr[2] == '\\' || path.ptr[2] == '/');
    return str_starts(path, "\\\\");
}

machsym_str str_base_name(machsym_str path)
{
    size_t at = path.len;
    bool is_windows = str_is_windows_path(path);
    while (at > 0 && path.ptr[at - 1] != '/' && !(is_windows && path.ptr[at - 1] == '\\'))
        at--;
    MACHSYM_COUNT_WORK((path.len - at) / 64);
    return str_make(path.len > at ? path.ptr + at : path.ptr, path.len - at);
}

char *str_copy_z(machsym_str s)
{
    char *copy = (char *)mem_alloc(s.len + 1);
    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = 0;
    return copy;
}

uint64_t str_hash(machsym_str s)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
    return hash;
}

size_t str_line_len(machsym_str s)
{
    size_t at = 0;
    for (; s.len - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, s.ptr + at, 8);
        if ((zero_bytes(word ^ '\n' * EACH_BYTE) | zero_bytes(word ^ '\r' * EACH_BYTE)) != 0)
            break;
    }
    while (at < s.len && s.ptr[at] != '\n' && s.ptr[at] != '\r')
        at++;
    MACHSYM_COUNT_WORK(1 + at / 64);
    return at;
}

bool str_take_line(machsym_str *rest, machsym_str *line)
{
    if (rest->len == 0)
        return false;
    const char *end = (const char *)memchr(rest->ptr, '\n', rest->len);
    size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    size_t skip = len < rest->len ? len + 1 : len;
    *line = str_make(rest->ptr, len > 0 && rest->ptr[len - 1] == '\r' ? len - 1 : len);
    *rest = str_make(rest->ptr + skip, rest->len - skip);
    return true;
}

static int text_by_bytes(const void *a, const void *b)
{
    const machsym_str *x = (const machsym_str *)a;
    const machsym_str *y = (const machsym_str *)b;
    int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

void text_sort_lines(text *t)
{
    text sorted = text_in(t->memory);
    machsym_str *lines = NULL;
    size_t count = 0;
    size_t cap = 0;
    machsym_str rest = {t->v, t->len};
    machsym_str line;
    while (str_take_line(&rest, &line)) {
        lines = (machsym_str *)mem_more(t->memory, lines, count, &cap, sizeof *lines);
        lines[count++] = line;
    }
    if (count > 1)
        qsort(lines, count, sizeof *lines, text_by_bytes);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && text_by_bytes(&lines[i - 1], &lines[i]) == 0)
            continue;
        text_str(&sorted, lines[i]);
        text_char(&sorted, '\n');
    }
    mem_give(t->memory, lines);
    text_free(t);
    *t = sorted;
}
