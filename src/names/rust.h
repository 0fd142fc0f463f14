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
 * does. */

#ifndef MACHSYM_NO_RUST

typedef struct ms_dmrs { /* The state of reading one v0 name. */
    ms_dm *d;
    const char *s;  /* the name behind its prefix: back-references count from here */
    size_t len;     /* up to the suffix */
    size_t at;      /* reading position */
    uint64_t bound; /* lifetimes bound by the binders around */
    bool quiet;     /* reading a part that is not shown */
    bool hash;      /* show crate hashes and the types of constants */
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
    char text[4];
    ms_dm_put(d, text, ms_dm_utf8(code, text));
}

/* Whether Rust shows a code point as it is. It shows controls, odd spaces, combining marks, private use
 * and unassigned code points as \u{...}. This table holds the largest of these ranges. The full list has
 * 900, of which symbol names hardly use any. */
static bool ms_dmrs_is_shown(uint32_t code)
{
    static const uint32_t v[][2] = {
        {0x00, 0x1F},     {0x7F, 0xA0},       {0xAD, 0xAD},       {0x300, 0x36F},   {0x483, 0x489},
        {0x591, 0x5BD},   {0x600, 0x605},     {0x610, 0x61A},     {0x61C, 0x61C},   {0x64B, 0x65F},
        {0x6DD, 0x6DD},   {0x70F, 0x70F},     {0x1680, 0x1680},   {0x180B, 0x180F}, {0x1AB0, 0x1ADD},
        {0x1DC0, 0x1DFF}, {0x2000, 0x200F},   {0x2028, 0x202F},   {0x205F, 0x206F}, {0x20D0, 0x20FF},
        {0x3000, 0x3000}, {0x302A, 0x302F},   {0x3099, 0x309A},   {0xE000, 0xF8FF}, {0xFDD0, 0xFDEF},
        {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},   {0xFEFF, 0xFEFF},   {0xFF9E, 0xFF9F}, {0xFFF0, 0xFFFB},
        {0xFFFE, 0xFFFF}, {0x1D173, 0x1D17A}, {0x3347A, 0x10FFFF}};
    for (size_t i = 0; i < sizeof v / sizeof v[0] && v[i][0] <= code; i++) {
        if (code <= v[i][1])
            return false;
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

/* Makes the name fail. The reader moves to the end, where nothing matches. */
static void ms_dmrs_fail(ms_dmrs *r)
{
    r->d->failed = true;
    r->at = r->len;
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

/* Takes steps from the budget. What a back-reference names is read again, perhaps without being shown, so
 * the limit on the output does not bound it. */
static void ms_dmrs_pay(ms_dmrs *r, size_t steps)
{
    if (steps > r->d->work)
        ms_dmrs_fail(r);
    else
        r->d->work -= steps;
}

/* Starts a path, type or constant. Each call that succeeds needs a ms_dmrs_leave. */
static bool ms_dmrs_enter(ms_dmrs *r)
{
    ms_dmrs_pay(r, 1);
    if (r->d->failed || r->d->depth >= MACHSYM_DEMANGLE_DEPTH) {
        ms_dmrs_fail(r);
        return false;
    }
    r->d->depth++;
    return true;
}

static void ms_dmrs_leave(ms_dmrs *r)
{
    r->d->depth--;
}

/* The value of a base-62 digit plus 1; 63 for `_`; 0 for a byte that no v0 name has. */
static unsigned ms_dmrs_digit(char c)
{
    static const unsigned char v[128] = {
        0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
        0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
        0,  0,  0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 0,  0,  0,  0,  0,  0,  0,  37,
        38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
        60, 61, 62, 0,  0,  0,  0,  63, 0,  11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 0,  0,  0,  0,  0};
    return (unsigned char)c < 128 ? v[(unsigned char)c] : 0;
}

/* base-62-number: `_` means 0, and digits mean their value plus 1. */
static uint64_t ms_dmrs_base62(ms_dmrs *r)
{
    if (ms_dmrs_eat(r, '_'))
        return 0;
    uint64_t value = 0;
    while (r->at < r->len) {
        unsigned digit = ms_dmrs_digit(r->s[r->at++]) - 1; /* the alphabet has been checked */
        if (digit == 62)
            return value + 1;
        if (value > (UINT64_MAX - 63) / 62)
            break;
        value = value * 62 + digit;
    }
    ms_dmrs_fail(r);
    return 0;
}

/* disambiguator and binder: a tag and a number. Returns the number plus 1, or 0 when the tag is missing. */
static uint64_t ms_dmrs_tagged(ms_dmrs *r, char tag)
{
    return ms_dmrs_eat(r, tag) ? ms_dmrs_base62(r) + 1 : 0;
}

/* undisambiguated-identifier */
static ms_dmrs_id ms_dmrs_ident(ms_dmrs *r)
{
    ms_dmrs_id id = {NULL, 0, false};
    id.punycode = ms_dmrs_eat(r, 'u');
    char c = ms_dmrs_next(r);
    if (c < '0' || c > '9') {
        ms_dmrs_fail(r);
        return id;
    }
    size_t len = (size_t)(c - '0');
    while (len != 0 && (c = ms_dmrs_peek(r)) >= '0' && c <= '9') {
        len = len * 10 + (size_t)(c - '0');
        r->at++;
        if (len > r->len)
            break;
    }
    ms_dmrs_eat(r, '_');
    if (len > r->len - r->at) {
        ms_dmrs_fail(r);
        return id;
    }
    id.ptr = r->s + r->at;
    id.len = len;
    r->at += len;
    if (id.punycode && (len == 0 || id.ptr[len - 1] == '_'))
        ms_dmrs_fail(r);
    return id;
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
    size_t count = ms_dm_puny(r->d, coded, '0', code);
    if (count == SIZE_MAX)
        ms_dmrs_fail(r);
    for (size_t i = 0; i < count && !r->d->failed; i++) {
        if (!ms_dmrs_is_scalar(code[i]))
            ms_dmrs_fail(r);
        ms_dmrs_put_utf8(r->d, code[i]);
    }
    r->d->mem_used = used;
}

/* Prints a lifetime, given by its de Bruijn index. The outermost bound one is 'a, and '_26 follows 'z. */
static void ms_dmrs_put_lifetime(ms_dmrs *r, uint64_t index)
{
    if (index == 0) {
        ms_dmrs_lit(r, "'_");
        return;
    }
    if (index > r->bound) {
        ms_dmrs_fail(r);
        return;
    }
    uint64_t level = r->bound - index;
    if (level < 26) {
        char text[2] = {'\'', (char)('a' + level)};
        ms_dmrs_put(r, text, 2);
        return;
    }
    ms_dmrs_lit(r, "'_");
    ms_dmrs_put_number(r, level, 10);
}

/* binder. The caller restores r->bound where the scope ends. */
static void ms_dmrs_binder(ms_dmrs *r)
{
    uint64_t count = ms_dmrs_tagged(r, 'G');
    if (count > MACHSYM_DEMANGLE_LIFETIMES) {
        ms_dmrs_fail(r);
        return;
    }
    if (count == 0 || r->quiet) {
        r->bound += count;
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

/* Behind a `B`: moves to the target and stores in *back where the name goes on. Returns false when nothing
 * is to be shown. */
static bool ms_dmrs_jump(ms_dmrs *r, size_t *back)
{
    size_t tag = r->at - 1;
    uint64_t to = ms_dmrs_base62(r);
    if (r->d->failed || to >= tag) {
        ms_dmrs_fail(r);
        return false;
    }
    *back = r->at;
    if (r->quiet)
        return false;
    r->at = (size_t)to;
    return true;
}

/* paths hold types, types hold constants, all hold paths */
static void ms_dmrs_path(ms_dmrs *r, bool in_value);
static void ms_dmrs_type(ms_dmrs *r);
static void ms_dmrs_const(ms_dmrs *r, bool in_value);

/* ---- lists ---- */

static void ms_dmrs_generic_arg(ms_dmrs *r)
{
    if (ms_dmrs_eat(r, 'L'))
        ms_dmrs_put_lifetime(r, ms_dmrs_base62(r));
    else if (ms_dmrs_eat(r, 'K'))
        ms_dmrs_const(r, false);
    else
        ms_dmrs_type(r);
}

static void ms_dmrs_const_item(ms_dmrs *r)
{
    ms_dmrs_const(r, true);
}

/* Struct literal field: identifier and value. */
static void ms_dmrs_field(ms_dmrs *r)
{
    ms_dmrs_tagged(r, 's');
    ms_dmrs_put_ident(r, ms_dmrs_ident(r));
    ms_dmrs_lit(r, ": ");
    ms_dmrs_const(r, true);
}

/* Items up to `E`, with commas; returns their number. */
static size_t ms_dmrs_list(ms_dmrs *r, void (*item)(ms_dmrs *))
{
    size_t count = 0;
    while (!r->d->failed && !ms_dmrs_eat(r, 'E')) {
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
    while (((c = ms_dmrs_next(r)) >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))
        text.len++;
    if (c != '_')
        ms_dmrs_fail(r);
    ms_dmrs_pay(r, text.len / 16);
    return text;
}

static unsigned ms_dmrs_nibble(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* Reads one number as ms_dmrs_hex does. It has at least one digit and no leading zeros. Returns false when
 * it does not fit 64 bits. */
static bool ms_dmrs_hex_number(ms_dmrs *r, machsym_str *text, uint64_t *value)
{
    *text = ms_dmrs_hex(r);
    *value = 0;
    if (text->len == 0 || (text->len > 1 && text->ptr[0] == '0'))
        ms_dmrs_fail(r);
    if (r->d->failed || text->len > 16)
        return false;
    for (size_t i = 0; i < text->len; i++)
        *value = *value << 4 | ms_dmrs_nibble(text->ptr[i]);
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
    machsym_str text;
    uint64_t value;
    if (is_signed && ms_dmrs_eat(r, 'n'))
        ms_dmrs_lit(r, "-");
    if (ms_dmrs_hex_number(r, &text, &value)) {
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
    machsym_str text = ms_dmrs_hex(r);
    if (text.len == 1 && text.ptr[0] == '0')
        ms_dmrs_lit(r, "false");
    else if (text.len == 1 && text.ptr[0] == '1')
        ms_dmrs_lit(r, "true");
    else
        ms_dmrs_fail(r);
}

static void ms_dmrs_const_char(ms_dmrs *r)
{
    machsym_str text;
    uint64_t value;
    if (!ms_dmrs_hex_number(r, &text, &value) || !ms_dmrs_is_scalar(value)) {
        ms_dmrs_fail(r);
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

static void ms_dmrs_const_str(ms_dmrs *r)
{
    machsym_str text = ms_dmrs_hex(r);
    size_t at = 0;
    ms_dmrs_lit(r, "\"");
    while (at < text.len && !r->d->failed) {
        uint32_t code = ms_dmrs_hex_utf8(text, &at);
        if (code == UINT32_MAX)
            ms_dmrs_fail(r);
        else
            ms_dmrs_put_char(r, code, '"');
    }
    ms_dmrs_lit(r, "\"");
}

/* A struct, tuple struct or unit struct literal; its type is a path. */
static void ms_dmrs_const_adt(ms_dmrs *r)
{
    ms_dmrs_path(r, true);
    switch (ms_dmrs_next(r)) {
    case 'U': break;
    case 'T':
        ms_dmrs_lit(r, "(");
        ms_dmrs_list(r, ms_dmrs_const_item);
        ms_dmrs_lit(r, ")");
        break;
    case 'S':
        ms_dmrs_lit(r, " { ");
        ms_dmrs_list(r, ms_dmrs_field);
        ms_dmrs_lit(r, " }");
        break;
    default: ms_dmrs_fail(r);
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
    case 'V': ms_dmrs_const_adt(r); break;
    default: ms_dmrs_fail(r);
    }
    if (!in_value)
        ms_dmrs_lit(r, "}");
}

static void ms_dmrs_const(ms_dmrs *r, bool in_value)
{
    size_t back;
    if (!ms_dmrs_enter(r))
        return;
    char tag = ms_dmrs_next(r);
    switch (tag) {
    case 'p': ms_dmrs_lit(r, "_"); break;
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j': ms_dmrs_const_int(r, tag, false); break;
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i': ms_dmrs_const_int(r, tag, true); break;
    case 'b': ms_dmrs_const_bool(r); break;
    case 'c': ms_dmrs_const_char(r); break;
    case 'B':
        if (ms_dmrs_jump(r, &back)) {
            ms_dmrs_const(r, in_value);
            r->at = back;
        }
        break;
    case 'R':
        if (ms_dmrs_eat(r, 'e')) { /* `&str` literals need neither `&*` nor braces */
            ms_dmrs_const_str(r);
            break;
        }
        ms_dmrs_const_expr(r, tag, in_value);
        break;
    default: ms_dmrs_const_expr(r, tag, in_value);
    }
    ms_dmrs_leave(r);
}

/* ---- types ---- */

/* The ABI's name has `_` where the source has `-`. */
static void ms_dmrs_abi(ms_dmrs *r)
{
    ms_dmrs_lit(r, "extern \"");
    if (ms_dmrs_eat(r, 'C')) {
        ms_dmrs_lit(r, "C");
    } else {
        ms_dmrs_id id = ms_dmrs_ident(r);
        if (id.len == 0 || id.punycode)
            ms_dmrs_fail(r);
        for (size_t i = 0; i < id.len; i++)
            ms_dmrs_put(r, id.ptr[i] == '_' ? "-" : id.ptr + i, 1);
    }
    ms_dmrs_lit(r, "\" ");
}

static void ms_dmrs_fn(ms_dmrs *r)
{
    uint64_t bound = r->bound;
    ms_dmrs_binder(r);
    if (ms_dmrs_eat(r, 'U'))
        ms_dmrs_lit(r, "unsafe ");
    if (ms_dmrs_eat(r, 'K'))
        ms_dmrs_abi(r);
    ms_dmrs_lit(r, "fn(");
    ms_dmrs_list(r, ms_dmrs_type);
    ms_dmrs_lit(r, ")");
    if (!ms_dmrs_eat(r, 'u')) {
        ms_dmrs_lit(r, " -> ");
        ms_dmrs_type(r);
    }
    r->bound = bound;
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
            r->at = back;
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
        ms_dmrs_put_ident(r, ms_dmrs_ident(r));
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
    for (size_t count = 0; !r->d->failed && !ms_dmrs_eat(r, 'E'); count++) {
        if (count > 0)
            ms_dmrs_lit(r, " + ");
        ms_dmrs_dyn_trait(r);
    }
    r->bound = bound;
    if (ms_dmrs_next(r) != 'L') {
        ms_dmrs_fail(r);
        return;
    }
    uint64_t lifetime = ms_dmrs_base62(r);
    if (lifetime != 0) {
        ms_dmrs_lit(r, " + ");
        ms_dmrs_put_lifetime(r, lifetime);
    }
}

/* The right side of a pattern type, `u32 is 1..=9`. */
static void ms_dmrs_pattern(ms_dmrs *r)
{
    if (!ms_dmrs_enter(r))
        return;
    switch (ms_dmrs_next(r)) {
    case 'R':
        ms_dmrs_const(r, false);
        ms_dmrs_lit(r, "..=");
        ms_dmrs_const(r, false);
        break;
    case 'O':
        ms_dmrs_pattern(r);
        while (!r->d->failed && !ms_dmrs_eat(r, 'E')) {
            ms_dmrs_lit(r, " | ");
            ms_dmrs_pattern(r);
        }
        break;
    case 'N': ms_dmrs_lit(r, "!null"); break;
    default: ms_dmrs_fail(r);
    }
    ms_dmrs_leave(r);
}

/* Types that only put something in front of another type. A loop reads them, so that they take no depth. */
static void ms_dmrs_pointers(ms_dmrs *r)
{
    for (;;) {
        char tag = ms_dmrs_peek(r);
        if (tag == 'P') {
            ms_dmrs_lit(r, "*const ");
        } else if (tag == 'O') {
            ms_dmrs_lit(r, "*mut ");
        } else if (tag == 'R' || tag == 'Q') {
            ms_dmrs_lit(r, "&");
        } else {
            return;
        }
        r->at++;
        ms_dmrs_pay(r, 1);
        if (tag != 'R' && tag != 'Q')
            continue;
        uint64_t lifetime = ms_dmrs_eat(r, 'L') ? ms_dmrs_base62(r) : 0;
        if (lifetime != 0) {
            ms_dmrs_put_lifetime(r, lifetime);
            ms_dmrs_lit(r, " ");
        }
        if (tag == 'Q')
            ms_dmrs_lit(r, "mut ");
    }
}

/* A type that has others inside. */
static void ms_dmrs_compound(ms_dmrs *r, char tag)
{
    size_t back;
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
    case 'F': ms_dmrs_fn(r); break;
    case 'D': ms_dmrs_dyn(r); break;
    case 'W':
        ms_dmrs_type(r);
        ms_dmrs_lit(r, " is ");
        ms_dmrs_pattern(r);
        break;
    case 'B':
        if (ms_dmrs_jump(r, &back)) {
            ms_dmrs_type(r);
            r->at = back;
        }
        break;
    default: ms_dmrs_fail(r);
    }
    ms_dmrs_leave(r);
}

static void ms_dmrs_type(ms_dmrs *r)
{
    ms_dmrs_pointers(r);
    char tag = ms_dmrs_peek(r);
    switch (tag) {
    case 'C':
    case 'M':
    case 'X':
    case 'Y':
    case 'N':
    case 'I': ms_dmrs_path(r, false); return;
    case 'A':
    case 'S':
    case 'T':
    case 'F':
    case 'D':
    case 'W':
    case 'B':
        r->at++;
        ms_dmrs_compound(r, tag);
        return;
    default: break;
    }
    machsym_str name = ms_dmrs_basic(tag);
    if (name.len == 0) {
        ms_dmrs_fail(r);
        return;
    }
    r->at++;
    ms_dmrs_put(r, name.ptr, name.len);
}

/* ---- paths ---- */

/* One step of a nested path. A small letter marks a plain name, a capital marks a closure, a shim and the
 * like. */
static void ms_dmrs_segment(ms_dmrs *r, char space)
{
    uint64_t number = ms_dmrs_tagged(r, 's');
    ms_dmrs_id id = ms_dmrs_ident(r);
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
    uint64_t number = ms_dmrs_tagged(r, 's');
    ms_dmrs_put_ident(r, ms_dmrs_ident(r));
    if (r->hash && number != 0) {
        ms_dmrs_lit(r, "[");
        ms_dmrs_put_number(r, number, 16);
        ms_dmrs_lit(r, "]");
    }
}

/* impl-path says where the impl stands; it is not shown. */
static void ms_dmrs_impl_path(ms_dmrs *r)
{
    bool quiet = r->quiet;
    r->quiet = true;
    ms_dmrs_tagged(r, 's');
    ms_dmrs_path(r, false);
    r->quiet = quiet;
}

/* Everything a nested path may start from. */
static void ms_dmrs_path_root(ms_dmrs *r, bool in_value)
{
    size_t back;
    char tag = ms_dmrs_next(r);
    switch (tag) {
    case 'C': ms_dmrs_crate(r); break;
    case 'M':
    case 'X':
    case 'Y':
        if (tag != 'Y')
            ms_dmrs_impl_path(r);
        ms_dmrs_lit(r, "<");
        ms_dmrs_type(r);
        if (tag != 'M') {
            ms_dmrs_lit(r, " as ");
            ms_dmrs_path(r, false);
        }
        ms_dmrs_lit(r, ">");
        break;
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
            r->at = back;
        }
        break;
    default: ms_dmrs_fail(r);
    }
}

/* in_value: generic arguments of a function or constant need `::` in front. */
static void ms_dmrs_path(ms_dmrs *r, bool in_value)
{
    size_t first = r->at, nested = 0;
    if (!ms_dmrs_enter(r))
        return;
    while (ms_dmrs_eat(r, 'N')) { /* the mangled name gives the namespace of the innermost step first */
        char space = ms_dmrs_next(r);
        if (!((space >= 'a' && space <= 'z') || (space >= 'A' && space <= 'Z')))
            ms_dmrs_fail(r);
        nested++;
    }
    ms_dmrs_path_root(r, in_value);
    ms_dmrs_pay(r, nested);
    while (nested > 0 && !r->d->failed) {
        nested--;
        ms_dmrs_segment(r, r->s[first + 2 * nested + 1]);
    }
    ms_dmrs_leave(r);
}

/* ---- whole names ---- */

/* Prints what stands behind the name, but not the number by which LLVM makes a local name unique. */
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

static bool ms_dmrs_v0(ms_dm *d, size_t prefix)
{
    ms_dmrs r = {d, d->s + prefix, 0, 0, 0, false, (d->flags & MACHSYM_DEMANGLE_RUST_HASH) != 0};
    size_t rest = d->len - prefix;
    while (r.len < rest && ms_dmrs_digit(r.s[r.len]) != 0) /* one check here saves it in every identifier */
        r.len++;
    if (r.s[0] == 'C' && (d->flags & MACHSYM_DEMANGLE_IN_TEXT) != 0) /* a crate alone is no symbol */
        return false;
    if (r.len == 0 || (r.len < rest && r.s[r.len] != '.') || ms_dmrs_is_plain_c(&r))
        return false;
    ms_dmrs_path(&r, true);
    if (r.at < r.len) { /* instantiating-crate */
        r.quiet = true;
        ms_dmrs_path(&r, false);
    }
    return !d->failed && r.at == r.len && ms_dmrs_suffix(d, r.s + r.len, rest - r.len);
}

/* ---- the legacy scheme ---- */

/* $u7b$: a code point; UINT32_MAX when it is none. */
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
    if (text.len >= 2 && text.ptr[0] == '_' && text.ptr[1] == '$') { /* `_` only makes it an identifier */
        text.ptr++;
        text.len--;
    }
    while (text.len > 0) {
        size_t n = 0;
        while (n < text.len && text.ptr[n] != '$' && text.ptr[n] != '.')
            n++;
        if (n > 0) {
            ms_dm_put(d, text.ptr, n);
        } else if (text.ptr[0] == '$') {
            uint32_t code = ms_dmrs_escape(text, &n);
            if (code == UINT32_MAX) { /* an unknown escape ends decoding */
                ms_dm_put(d, text.ptr, text.len);
                return escapes;
            }
            ms_dmrs_put_utf8(d, code);
            escapes++;
        } else {
            n = text.len > 1 && text.ptr[1] == '.' ? 2 : 1;
            ms_dm_put(d, n == 2 ? "::" : ".", n);
        }
        text.ptr += n;
        text.len -= n;
    }
    return escapes;
}

/* Reads `<length> <bytes>`; false when there is none. */
static bool ms_dmrs_part(const ms_dm *d, size_t *at, machsym_str *part)
{
    size_t len = 0, i = *at;
    while (i < d->len && d->s[i] >= '0' && d->s[i] <= '9' && len <= d->len)
        len = len * 10 + (size_t)(d->s[i++] - '0');
    if (i == *at || len > d->len - i)
        return false;
    part->ptr = d->s + i;
    part->len = len;
    *at = i + len;
    return true;
}

/* `h` and hexadecimal digits. */
static bool ms_dmrs_is_hash(machsym_str part)
{
    if (part.len == 0 || part.ptr[0] != 'h')
        return false;
    for (size_t i = 1; i < part.len; i++) {
        char c = part.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return true;
}

/* The compiler's hash has 16 digits. In all but one of millions of names at least five of them differ. */
static bool ms_dmrs_is_full_hash(machsym_str part)
{
    unsigned seen = 0, count = 0;
    if (part.len != 17 || !ms_dmrs_is_hash(part))
        return false;
    for (size_t i = 1; i < part.len; i++)
        seen |= 1u << ms_dmrs_nibble(part.ptr[i]);
    for (; seen != 0; seen &= seen - 1)
        count++;
    return count >= 5;
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
    while (ms_dmrs_part(d, &end, &part))
        count++;
    if (count == 0 || end == d->len || d->s[end] != 'E' || (end + 1 < d->len && d->s[end + 1] != '.'))
        return false;
    bool sure =
        (count > 1 && ms_dmrs_is_full_hash(part)) || ms_dmrs_is_llvm_hex(d->s + end + 1, d->len - end - 1);
    if (!sure && !ms_dmrs_has_dollar(d, prefix, end))
        return false;
    if (ms_dmrs_is_hash(part) && (d->flags & MACHSYM_DEMANGLE_RUST_HASH) == 0)
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
