/* The JSON reader; see json.h. */

#include "json.h"
#include "digits.h"
#include <stdlib.h>
#include <string.h>

/* The state of one parse. */
typedef struct json_parser {
    json *doc;
    const char *p;
    size_t len;
    size_t at;
    uint32_t open; /* innermost open container; JSON_NONE at the root */
    unsigned depth;
    json_error *err;
} json_parser;

static bool json_fail(json_parser *p, const char *what)
{
    p->err->what = what;
    p->err->at = p->at;
    return false;
}

static void json_skip_space(json_parser *p)
{
    while (p->at < p->len &&
           (p->p[p->at] == ' ' || p->p[p->at] == '\t' || p->p[p->at] == '\n' || p->p[p->at] == '\r'))
        p->at++;
}

static json_token *json_add(json_parser *p, json_type type, size_t at, size_t end)
{
    json *doc = p->doc;
    json_token *token = (json_token *)mem_add(doc->memory, &doc->v, &doc->count, &doc->cap, sizeof *token);
    MACHSYM_COUNT_WORK(1 + (end - at) / 64);
    token->type = type;
    token->at = (uint32_t)at;
    token->end = (uint32_t)end;
    token->next = doc->count;
    token->parent = p->open;
    return token;
}

/* Whether one of eight bytes is a quote or a backslash. */
static bool json_has_mark(const char *p)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t word;
    memcpy(&word, p, 8);
    uint64_t quote = word ^ ones * '"';
    uint64_t slash = word ^ ones * '\\';
    return ((((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & ones << 7) != 0;
}

/* Real reports hold raw control bytes in strings, so they are accepted. */
static bool json_read_string(json_parser *p, json_type type)
{
    size_t at = p->at++;
    while (p->len - p->at >= 8 && !json_has_mark(p->p + p->at))
        p->at += 8;
    for (; p->at < p->len && p->p[p->at] != '"'; p->at++) {
        if (p->p[p->at] == '\\')
            p->at++;
    }
    if (p->at >= p->len) {
        p->at = at;
        return json_fail(p, "a string is not closed");
    }
    p->at++;
    json_add(p, type, at, p->at);
    return true;
}

static bool json_is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

static bool json_read_word(json_parser *p)
{
    static const char *const literals[] = {"true", "false", "null"};
    size_t at = p->at;
    while (p->at < p->len && json_is_word(p->p[p->at]))
        p->at++;
    size_t len = p->at - at;
    for (size_t i = 0; i < 3; i++) {
        if (len == strlen(literals[i]) && memcmp(p->p + at, literals[i], len) == 0) {
            json_add(p, JSON_LITERAL, at, p->at);
            return true;
        }
    }
    if (len > 0 && (p->p[at] == '-' || (p->p[at] >= '0' && p->p[at] <= '9'))) {
        json_add(p, JSON_NUMBER, at, p->at);
        return true;
    }
    p->at = at;
    return json_fail(p, at == p->len ? "the text ends inside a value" : "no JSON value");
}

static bool json_open_container(json_parser *p)
{
    json_type type = p->p[p->at] == '{' ? JSON_OBJECT : JSON_ARRAY;
    if (p->depth == JSON_MAX_DEPTH)
        return json_fail(p, "nested too deep");
    json_add(p, type, p->at, p->at + 1);
    p->open = p->doc->count - 1;
    p->depth++;
    p->at++;
    return true;
}

static void json_close_container(json_parser *p)
{
    json_token *token = &p->doc->v[p->open];
    p->at++;
    token->end = (uint32_t)p->at;
    token->next = p->doc->count;
    p->open = token->parent;
    p->depth--;
}

static bool json_read_value(json_parser *p)
{
    json_skip_space(p);
    if (p->at >= p->len)
        return json_fail(p, "the text ends inside a value");
    if (p->p[p->at] == '{' || p->p[p->at] == '[')
        return json_open_container(p);
    if (p->p[p->at] == '"')
        return json_read_string(p, JSON_STRING);
    return json_read_word(p);
}

static bool json_read_key(json_parser *p)
{
    json_skip_space(p);
    if (p->at >= p->len || p->p[p->at] != '"')
        return json_fail(p, "a member has no name");
    if (!json_read_string(p, JSON_KEY))
        return false;
    json_skip_space(p);
    if (p->at >= p->len || p->p[p->at] != ':')
        return json_fail(p, "a colon is missing");
    p->at++;
    return true;
}

/* Parses the next element of the open container, or closes it. */
static bool json_step(json_parser *p)
{
    const json_token *open = &p->doc->v[p->open];
    bool object = open->type == JSON_OBJECT;
    bool first = p->open + 1 == p->doc->count;
    json_skip_space(p);
    if (p->at >= p->len)
        return json_fail(p, object ? "an object is not closed" : "an array is not closed");
    if (p->p[p->at] == (object ? '}' : ']')) {
        json_close_container(p);
        return true;
    }
    if (!first && p->p[p->at] != ',')
        return json_fail(p, "a comma is missing");
    p->at += !first;
    return (!object || json_read_key(p)) && json_read_value(p);
}

static bool json_parse_all(json_parser *p)
{
    json *doc = p->doc;
    mem_source *memory = doc->memory;
    memset(doc, 0, sizeof *doc);
    doc->memory = memory;
    doc->input = p->p;
    bool ok = p->len < UINT32_MAX ? json_read_value(p) : json_fail(p, "too long");
    while (ok && p->open != JSON_NONE)
        ok = json_step(p);
    return ok;
}

bool json_parse(mem_source *memory, json *doc, const char *input, size_t len, size_t at, json_error *err)
{
    json_parser p = {doc, input, len, at, JSON_NONE, 0, err};
    doc->memory = memory;
    bool ok = json_parse_all(&p);
    if (!ok)
        json_free(doc);
    return ok;
}

/* Removes the tokens from one on, and also the key that it is the value of. */
static void json_drop_from(json *doc, uint32_t token)
{
    doc->count = token;
    if (token > 0 && doc->v[token - 1].type == JSON_KEY)
        doc->count--;
}

/* Whether a parse stopped because the text ended. Then only a part of a value follows. */
static bool json_has_ended(const json_parser *p)
{
    size_t at = p->at;
    if (at < p->len && p->p[at] == '"') /* only an unterminated string stops at a quote */
        return strcmp(p->err->what, "a string is not closed") == 0;
    while (at < p->len && json_is_word(p->p[at]))
        at++;
    return at >= p->len;
}

/* Whether one of the tokens from here on is an array. */
static bool json_has_array(const json *doc, uint32_t from)
{
    while (from < doc->count && doc->v[from].type != JSON_ARRAY)
        from++;
    return from < doc->count;
}

bool json_parse_cut(mem_source *memory, json *doc, const char *input, size_t len, size_t at)
{
    json_error err;
    json_parser p = {doc, input, len, at, JSON_NONE, 0, &err};
    bool has_array = false;
    doc->memory = memory;
    if (json_parse_all(&p) || p.open == JSON_NONE || !json_has_ended(&p)) {
        json_free(doc);
        return false;
    }
    const json_token *last = &doc->v[doc->count - 1];
    if (last->type == JSON_KEY || (last->type == JSON_NUMBER && last->end == len))
        json_drop_from(doc, doc->count - (last->type == JSON_NUMBER));
    while (p.open != JSON_NONE) {
        json_token *open = &doc->v[p.open];
        uint32_t index = p.open;
        p.open = open->parent;
        open->end = (uint32_t)len;
        open->next = doc->count;
        has_array = has_array || json_has_array(doc, index);
        if (open->type == JSON_OBJECT && p.open != JSON_NONE && !has_array)
            json_drop_from(doc, index);
    }
    doc->is_cut = true;
    return true;
}

void json_free(json *doc)
{
    mem_give(doc->memory, doc->v);
    memset(doc, 0, sizeof *doc);
}

bool json_next(const json *doc, uint32_t container, uint32_t *at)
{
    MACHSYM_COUNT_WORK(1);
    if (container >= doc->count || doc->v[container].type > JSON_ARRAY)
        return false;
    if (*at == JSON_NONE)
        *at = container + 1;
    else
        *at = doc->v[*at].type == JSON_KEY ? doc->v[*at + 1].next : doc->v[*at].next;
    return *at < doc->v[container].next;
}

bool json_is(const json *doc, uint32_t token, json_type type)
{
    return token < doc->count && doc->v[token].type == type;
}

machsym_str json_raw(const json *doc, uint32_t token)
{
    machsym_str none = {NULL, 0};
    if (token >= doc->count)
        return none;
    const json_token *t = &doc->v[token];
    unsigned quote = t->type == JSON_STRING || t->type == JSON_KEY;
    return str_make(doc->input + t->at + quote, t->end - t->at - 2 * quote);
}

bool json_equals(const json *doc, uint32_t token, const char *c_string)
{
    machsym_str raw = json_raw(doc, token);
    return raw.ptr != NULL && raw.len == strlen(c_string) && memcmp(raw.ptr, c_string, raw.len) == 0;
}

bool json_true(const json *doc, uint32_t token)
{
    return json_is(doc, token, JSON_LITERAL) && doc->input[doc->v[token].at] == 't';
}

uint32_t json_get(const json *doc, uint32_t object, const char *key)
{
    size_t len = strlen(key);
    if (!json_is(doc, object, JSON_OBJECT))
        return JSON_NONE;
    for (uint32_t at = object + 1; at < doc->v[object].next; at = doc->v[at + 1].next) {
        const json_token *t = &doc->v[at];
        MACHSYM_COUNT_WORK(1);
        if (t->end - t->at - 2 == len && memcmp(doc->input + t->at + 1, key, len) == 0)
            return at + 1;
    }
    return JSON_NONE;
}

bool json_u64(const json *doc, uint32_t token, uint64_t *out)
{
    machsym_str raw = json_raw(doc, token);
    bool negative = raw.len > 0 && raw.ptr[0] == '-';
    uint64_t number = 0;
    if (raw.len == 0 || doc->v[token].type < JSON_STRING || doc->v[token].type > JSON_NUMBER)
        return false;
    if (raw.len > 2 && raw.ptr[0] == '0' && (raw.ptr[1] == 'x' || raw.ptr[1] == 'X'))
        return parse_hex(raw.ptr, raw.len, out);
    for (size_t i = negative; i < raw.len; i++) {
        unsigned digit = (unsigned)(unsigned char)raw.ptr[i] - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *out = negative ? 0 - number : number;
    return raw.len > negative;
}

/* ---- Strings ---- */

void text_utf8(text *t, uint32_t c)
{
    if (c < 0x80) {
        text_char(t, (char)c);
    } else if (c < 0x800) {
        text_char(t, (char)(0xc0 | c >> 6));
        text_char(t, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        text_char(t, (char)(0xe0 | c >> 12));
        text_char(t, (char)(0x80 | (c >> 6 & 0x3f)));
        text_char(t, (char)(0x80 | (c & 0x3f)));
    } else {
        text_char(t, (char)(0xf0 | c >> 18));
        text_char(t, (char)(0x80 | (c >> 12 & 0x3f)));
        text_char(t, (char)(0x80 | (c >> 6 & 0x3f)));
        text_char(t, (char)(0x80 | (c & 0x3f)));
    }
}

/* Reads the four digits of \uXXXX; i is the index after the u. */
static bool json_read_u(machsym_str raw, size_t i, uint32_t *out)
{
    uint64_t number;
    if (raw.len - i < 4 || raw.ptr[i + 1] == 'x' || !parse_hex(raw.ptr + i, 4, &number))
        return false;
    *out = (uint32_t)number;
    return true;
}

size_t json_unescape_one(text *t, machsym_str raw, size_t i)
{
    static const char letters[] = "nrtbf";
    static const char bytes[] = "\n\r\t\b\f";
    uint32_t high;
    uint32_t low;
    const char *letter = raw.ptr[i] != 0 ? strchr(letters, raw.ptr[i]) : NULL;
    if (letter != NULL) {
        text_char(t, bytes[letter - letters]);
        return i + 1;
    }
    if (raw.ptr[i] != 'u' || !json_read_u(raw, i + 1, &high)) {
        text_char(t, raw.ptr[i]);
        return i + 1;
    }
    if (high >= 0xd800 && high < 0xdc00 && raw.len - i > 10 && raw.ptr[i + 5] == '\\' &&
        raw.ptr[i + 6] == 'u' && json_read_u(raw, i + 7, &low) && low >= 0xdc00 && low < 0xe000) {
        text_utf8(t, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
        return i + 11;
    }
    text_utf8(t, high >= 0xd800 && high < 0xe000 ? 0xfffd : high);
    return i + 5;
}

void json_unescape(text *t, machsym_str raw)
{
    for (size_t i = 0; i < raw.len;) {
        const char *slash = (const char *)memchr(raw.ptr + i, '\\', raw.len - i);
        size_t plain = slash != NULL ? (size_t)(slash - raw.ptr) : raw.len;
        text_add(t, raw.ptr + i, plain - i);
        i = plain;
        if (i + 1 < raw.len)
            i = json_unescape_one(t, raw, i + 1);
        else if (i < raw.len)
            i++; /* a lone backslash at the end */
    }
}
