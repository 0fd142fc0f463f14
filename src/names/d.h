#ifndef ms_ROOM_names_d
#define ms_ROOM_names_d
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "core.h"

/* ==== >>d =================================================================================================
 * Job:    turns D names into source form.
 * Offers: ms_dmd_run.
 * Never:  keeps a tree: what is read is printed at once.
 *
 * The D ABI's "Name Mangling". The name is printed while it is read; where the source order differs from the
 * mangled one (associative arrays, function types) the first part is skipped and read again. Every function
 * returns false where the name does not fit, so that an alternative can be tried from an earlier position;
 * d->failed is left for spent budgets. Prints as libiberty does. */

#ifndef MACHSYM_NO_D

typedef struct ms_dmd { /* The state of reading one name. */
    ms_dm *d;
    const char *s;
    size_t len;
    size_t at; /* reading position */
    /* Place of the innermost back-reference to a type that is being read. Those inside it must lie before
     * it. */
    size_t last_ref;
    size_t tail;    /* where a closing `6__initZ` or the like starts; len when there is none */
    bool tail_seen; /* the tail was read as an identifier */
    bool quiet;     /* reading a part that is not shown now */
} ms_dmd;

#define ms_dmd_lit(p, text) ms_dmd_put(p, text, sizeof(text) - 1)

static void ms_dmd_put(ms_dmd *p, const char *ptr, size_t len)
{
    if (!p->quiet)
        ms_dm_put(p->d, ptr, len);
}

static void ms_dmd_put_char(ms_dmd *p, char c)
{
    if (!p->quiet)
        ms_dm_char(p->d, c);
}

/* Prints a part of the mangled name. */
static void ms_dmd_put_part(ms_dmd *p, const char *ptr, size_t len)
{
    if (!p->quiet)
        ms_dm_put_part(p->d, ptr, len);
}

static char ms_dmd_peek(const ms_dmd *p)
{
    return p->at < p->len ? p->s[p->at] : '\0';
}

static bool ms_dmd_eat(ms_dmd *p, char c)
{
    if (ms_dmd_peek(p) != c)
        return false;
    p->at++;
    return true;
}

static bool ms_dmd_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Compares text with the bytes at position at. */
static bool ms_dmd_has(const ms_dmd *p, size_t at, const char *text, size_t len)
{
    return at <= p->len && len <= p->len - at && ms_equal(p->s + at, text, len);
}

/* Takes steps from the budget. All that a back-reference can make the reader read again has to pay. */
static bool ms_dmd_pay(ms_dmd *p, size_t steps)
{
    if (steps > p->d->work)
        p->d->failed = true;
    else
        p->d->work -= steps;
    return !p->d->failed;
}

/* Starts a type, identifier or value. Each call that succeeds needs a ms_dmd_leave. */
static bool ms_dmd_enter(ms_dmd *p)
{
    if (p->d->depth >= MACHSYM_DEMANGLE_DEPTH)
        p->d->failed = true;
    if (!ms_dmd_pay(p, 1))
        return false;
    p->d->depth++;
    return true;
}

static bool ms_dmd_leave(ms_dmd *p, bool ok)
{
    p->d->depth--;
    return ok && !p->d->failed;
}

/* Takes digits, without a limit. Returns how many. */
static size_t ms_dmd_digits(ms_dmd *p)
{
    size_t first = p->at;
    while (ms_dmd_is_digit(ms_dmd_peek(p)))
        p->at++;
    ms_dmd_pay(p, (p->at - first) / 16);
    return p->at - first;
}

/* Number: it has at least one digit, fits 32 bits and does not end the name. */
static bool ms_dmd_number(ms_dmd *p, uint32_t *out)
{
    size_t first = p->at, at = first, len = p->len;
    uint32_t value = 0, digit;
    for (; at < len && (digit = (unsigned char)p->s[at] - (uint32_t)'0') < 10; at++) {
        if (value > (UINT32_MAX - 9) / 10 && value > (UINT32_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    p->at = at;
    *out = value;
    return at > first && at < len;
}

/* NumberBackRef after the `Q` at position q: base 26, the last digit is a small letter. */
static bool ms_dmd_ref(const ms_dmd *p, size_t q, size_t *end, size_t *target)
{
    size_t value = 0;
    for (size_t at = q + 1; at < p->len && at - q <= 8; at++) { /* 26^8 exceeds any name */
        char c = p->s[at];
        bool last = c >= 'a' && c <= 'z';
        if ((!last && (c < 'A' || c > 'Z')) || value > p->len)
            return false;
        value = value * 26 + (size_t)(c - (last ? 'a' : 'A'));
        if (last) {
            *end = at + 1;
            *target = q - value;
            return value > 0 && value <= q;
        }
    }
    return false;
}

static bool ms_dmd_is_template(const ms_dmd *p, size_t at)
{
    return ms_dmd_has(p, at, "__", 2) && at + 2 < p->len && (p->s[at + 2] == 'T' || p->s[at + 2] == 'U');
}

/* A SymbolName may start at position at. */
static bool ms_dmd_is_symbol(const ms_dmd *p, size_t at)
{
    size_t end, target;
    if (at >= p->len)
        return false;
    if (ms_dmd_is_digit(p->s[at]))
        return true;
    if (p->s[at] == 'Q')
        return ms_dmd_ref(p, at, &end, &target) && ms_dmd_is_digit(p->s[target]);
    return ms_dmd_is_template(p, at);
}

static bool ms_dmd_is_function(char c)
{
    switch (c) {
    case 'F':
    case 'R':
    case 'U':
    case 'V':
    case 'W':
    case 'Y': return true;
    default: return false;
    }
}

/* types hold names, names hold template arguments, which hold types and values */
static bool ms_dmd_type(ms_dmd *p);
static bool ms_dmd_ident(ms_dmd *p);
static bool ms_dmd_qualified(ms_dmd *p, bool with_modifiers);
static bool ms_dmd_value(ms_dmd *p, char type, size_t type_at);

/* Reads a type without showing it. */
static bool ms_dmd_skip_type(ms_dmd *p)
{
    bool quiet = p->quiet;
    p->quiet = true;
    bool ok = ms_dmd_type(p);
    p->quiet = quiet;
    return ok;
}

/* MangledName */
static bool ms_dmd_mangle(ms_dmd *p)
{
    p->at += 2;
    if (!ms_dmd_qualified(p, true))
        return false;
    return ms_dmd_eat(p, 'Z') || ms_dmd_skip_type(p);
}

static bool ms_dmd_is_mangle(const ms_dmd *p)
{
    return ms_dmd_has(p, p->at, "_D", 2) && ms_dmd_is_symbol(p, p->at + 2);
}

/* ---- functions ---- */

/* FuncAttrs, each shown with a blank after it. */
static bool ms_dmd_attributes(ms_dmd *p)
{
    while (ms_dmd_peek(p) == 'N' && p->at + 1 < p->len) {
        switch (p->s[p->at + 1]) {
        case 'a': ms_dmd_lit(p, "pure "); break;
        case 'b': ms_dmd_lit(p, "nothrow "); break;
        case 'c': ms_dmd_lit(p, "ref "); break;
        case 'd': ms_dmd_lit(p, "@property "); break;
        case 'e': ms_dmd_lit(p, "@trusted "); break;
        case 'f': ms_dmd_lit(p, "@safe "); break;
        case 'i': ms_dmd_lit(p, "@nogc "); break;
        case 'j': ms_dmd_lit(p, "return "); break;
        case 'l': ms_dmd_lit(p, "scope "); break;
        case 'm': ms_dmd_lit(p, "@live "); break;
        case 'g':
        case 'h':
        case 'k':
        case 'n': return true; /* start the first parameter */
        default: return false;
        }
        p->at += 2;
    }
    return true;
}

static bool ms_dmd_parameter(ms_dmd *p)
{
    for (;;) { /* `return scope` and `scope return` differ, so both orders are written */
        if (ms_dmd_eat(p, 'M')) {
            ms_dmd_lit(p, "scope ");
        } else if (ms_dmd_has(p, p->at, "Nk", 2)) {
            p->at += 2;
            ms_dmd_lit(p, "return ");
        } else {
            break;
        }
    }
    if (ms_dmd_eat(p, 'I')) {
        ms_dmd_lit(p, "in ");
        if (ms_dmd_eat(p, 'K'))
            ms_dmd_lit(p, "ref ");
    } else if (ms_dmd_eat(p, 'J')) {
        ms_dmd_lit(p, "out ");
    } else if (ms_dmd_eat(p, 'K')) {
        ms_dmd_lit(p, "ref ");
    } else if (ms_dmd_eat(p, 'L')) {
        ms_dmd_lit(p, "lazy ");
    }
    return ms_dmd_type(p);
}

/* Parameters up to their end mark. */
static bool ms_dmd_parameters(ms_dmd *p)
{
    for (size_t count = 0;; count++) {
        switch (ms_dmd_peek(p)) {
        case 'Y':
            if (count > 0)
                ms_dmd_lit(p, ", ");
            ms_dmd_lit(p, "...");
            p->at++;
            return true;
        case 'X':
            ms_dmd_lit(p, "...");
            p->at++;
            return true;
        case 'Z': p->at++; return true;
        default: break;
        }
        if (count > 0)
            ms_dmd_lit(p, ", ");
        if (!ms_dmd_parameter(p))
            return false;
    }
}

/* TypeFunctionNoReturn as part of a symbol: only the parameters are shown. */
static bool ms_dmd_signature(ms_dmd *p)
{
    if (!ms_dmd_is_function(ms_dmd_peek(p)))
        return false;
    p->at++;
    bool quiet = p->quiet;
    p->quiet = true;
    bool ok = ms_dmd_attributes(p);
    p->quiet = quiet;
    ms_dmd_put_char(p, '(');
    ok = ok && ms_dmd_parameters(p);
    ms_dmd_put_char(p, ')');
    return ok;
}

/* TypeModifiers of a `this` or context pointer. */
static void ms_dmd_modifiers(ms_dmd *p)
{
    for (;;) {
        if (ms_dmd_eat(p, 'x')) {
            ms_dmd_lit(p, " const");
            return;
        }
        if (ms_dmd_eat(p, 'y')) {
            ms_dmd_lit(p, " immutable");
            return;
        }
        if (ms_dmd_eat(p, 'O')) {
            ms_dmd_lit(p, " shared");
        } else if (ms_dmd_has(p, p->at, "Ng", 2)) {
            p->at += 2;
            ms_dmd_lit(p, " inout");
        } else {
            return;
        }
    }
}

static void ms_dmd_skip_modifiers(ms_dmd *p)
{
    bool quiet = p->quiet;
    p->quiet = true;
    ms_dmd_modifiers(p);
    p->quiet = quiet;
}

/* TypeFunction as a type: `ret(params) attributes `. The caller adds `function` or `delegate`. */
static bool ms_dmd_function_type(ms_dmd *p)
{
    switch (ms_dmd_peek(p)) {
    case 'F': break;
    case 'U': ms_dmd_lit(p, "extern(C) "); break;
    case 'W': ms_dmd_lit(p, "extern(Windows) "); break;
    case 'V': ms_dmd_lit(p, "extern(Pascal) "); break;
    case 'R': ms_dmd_lit(p, "extern(C++) "); break;
    case 'Y': ms_dmd_lit(p, "extern(Objective-C) "); break;
    default: return false;
    }
    size_t attributes = ++p->at;
    bool quiet = p->quiet;
    p->quiet = true;
    bool ok = ms_dmd_attributes(p);
    size_t parameters = p->at;
    ok = ok && ms_dmd_parameters(p);
    p->quiet = quiet;
    if (!ok || !ms_dmd_type(p))
        return false;
    if (quiet)
        return true;
    size_t end = p->at;
    p->at = parameters;
    ms_dmd_put_char(p, '(');
    ok = ms_dmd_parameters(p);
    ms_dmd_lit(p, ") ");
    p->at = attributes;
    ok = ok && ms_dmd_attributes(p);
    p->at = end;
    return ok;
}

/* ---- types ---- */

/* TypeBackRef */
static bool ms_dmd_type_ref(ms_dmd *p, bool is_function)
{
    size_t q = p->at, end, target;
    if (!ms_dmd_ref(p, q, &end, &target) || q >= p->last_ref)
        return false;
    size_t last_ref = p->last_ref;
    p->last_ref = q;
    p->at = target;
    bool ok = is_function ? ms_dmd_function_type(p) : ms_dmd_type(p);
    p->last_ref = last_ref;
    p->at = end;
    return ok;
}

static bool ms_dmd_delegate(ms_dmd *p)
{
    size_t modifiers = p->at;
    ms_dmd_skip_modifiers(p);
    bool ok = ms_dmd_peek(p) == 'Q' ? ms_dmd_type_ref(p, true) : ms_dmd_function_type(p);
    size_t end = p->at;
    ms_dmd_lit(p, "delegate");
    p->at = modifiers;
    ms_dmd_modifiers(p);
    p->at = end;
    return ok;
}

/* TypeStaticArray. The size stands in front of the type, in source after it. */
static bool ms_dmd_static_array(ms_dmd *p)
{
    size_t first = p->at, len = ms_dmd_digits(p);
    bool ok = ms_dmd_type(p);
    ms_dmd_put_char(p, '[');
    ms_dmd_put(p, p->s + first, len);
    ms_dmd_put_char(p, ']');
    return ok;
}

/* TypeAssocArray: the key comes first, but is shown after the value. */
static bool ms_dmd_assoc_array(ms_dmd *p)
{
    size_t key = p->at;
    if (!ms_dmd_skip_type(p) || !ms_dmd_type(p))
        return false;
    if (p->quiet)
        return true;
    size_t end = p->at;
    p->at = key;
    ms_dmd_put_char(p, '[');
    bool ok = ms_dmd_type(p);
    ms_dmd_put_char(p, ']');
    p->at = end;
    return ok;
}

/* TypeTuple: a count and types, or (the newer form) parameters and `Z`. */
static bool ms_dmd_tuple(ms_dmd *p)
{
    uint32_t count;
    bool ok = true;
    ms_dmd_lit(p, "Tuple!(");
    if (!ms_dmd_is_digit(ms_dmd_peek(p))) {
        ok = ms_dmd_parameters(p) && p->s[p->at - 1] == 'Z';
    } else {
        if (!ms_dmd_number(p, &count))
            return false;
        for (uint32_t i = 0; i < count && ok; i++) {
            if (i > 0)
                ms_dmd_lit(p, ", ");
            ok = ms_dmd_type(p);
        }
    }
    ms_dmd_put_char(p, ')');
    return ok;
}

static bool ms_dmd_wrapped(ms_dmd *p, const char *open, size_t len)
{
    ms_dmd_put(p, open, len);
    bool ok = ms_dmd_type(p);
    ms_dmd_put_char(p, ')');
    return ok;
}

/* Types that start with `N`. */
static bool ms_dmd_type_n(ms_dmd *p)
{
    if (ms_dmd_eat(p, 'g'))
        return ms_dmd_wrapped(p, "inout(", 6);
    if (ms_dmd_eat(p, 'h'))
        return ms_dmd_wrapped(p, "__vector(", 9);
    if (!ms_dmd_eat(p, 'n'))
        return false;
    ms_dmd_lit(p, "typeof(*null)");
    return true;
}

/* Types with others inside. */
static bool ms_dmd_compound(ms_dmd *p)
{
    bool ok;
    char tag = ms_dmd_peek(p);
    if (ms_dmd_is_function(tag)) {
        ok = ms_dmd_function_type(p);
        ms_dmd_lit(p, "function");
        return ok;
    }
    if (tag == 'Q')
        return ms_dmd_type_ref(p, false);
    p->at++;
    switch (tag) {
    case 'O': return ms_dmd_wrapped(p, "shared(", 7);
    case 'x': return ms_dmd_wrapped(p, "const(", 6);
    case 'y': return ms_dmd_wrapped(p, "immutable(", 10);
    case 'N': return ms_dmd_type_n(p);
    case 'A':
        ok = ms_dmd_type(p);
        ms_dmd_lit(p, "[]");
        return ok;
    case 'G': return ms_dmd_static_array(p);
    case 'H': return ms_dmd_assoc_array(p);
    case 'P':
        tag = ms_dmd_peek(p);
        ok = ms_dmd_type(p);
        if (!ms_dmd_is_function(tag)) /* a function pointer is shown without a star */
            ms_dmd_put_char(p, '*');
        return ok;
    case 'C':
    case 'S':
    case 'E':
    case 'T':
    case 'I': return ms_dmd_qualified(p, false);
    case 'D': return ms_dmd_delegate(p);
    case 'B': return ms_dmd_tuple(p);
    default: return false;
    }
}

static bool ms_dmd_type(ms_dmd *p)
{
    static const char names[26][13] = {
        "char",  "bool",   "creal", "double", "real",         "float",  "byte",    "ubyte",  "int",
        "ireal", "uint",   "long",  "ulong",  "typeof(null)", "ifloat", "idouble", "cfloat", "cdouble",
        "short", "ushort", "wchar", "void",   "dchar",        "",       "",        ""};
    static const unsigned char lens[26] = {4,  4, 5, 6, 4, 5, 4, 5, 3, 5, 4, 4, 5,
                                           12, 6, 7, 6, 7, 5, 6, 5, 4, 5, 0, 0, 0};
    char tag = ms_dmd_peek(p);
    if (tag >= 'a' && tag <= 'w') {
        p->at++;
        ms_dmd_put(p, names[tag - 'a'], lens[tag - 'a']);
        return ms_dmd_pay(p, 1);
    }
    if (tag == 'z') {
        p->at++;
        char wide = ms_dmd_peek(p);
        p->at++;
        ms_dmd_put(p, wide == 'k' ? "ucent" : "cent", wide == 'k' ? 5 : 4);
        return wide == 'k' || wide == 'i';
    }
    return ms_dmd_enter(p) && ms_dmd_leave(p, ms_dmd_compound(p));
}

/* ---- values of template arguments ---- */

static bool ms_dmd_is_hex(char c)
{
    return ms_dmd_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static unsigned ms_dmd_nibble(char c)
{
    return ms_dmd_is_digit(c) ? (unsigned)(c - '0') : ((unsigned)(c - 'A') & 31u) + 10;
}

/* A char, wchar or dchar. Printable ASCII is printed as it is, all else as a number with the digits of the
 * type's width or more. */
static bool ms_dmd_char(ms_dmd *p, char type)
{
    uint32_t value;
    char text[8];
    size_t at = sizeof text, width = type == 'a' ? 2 : type == 'u' ? 4 : 8;
    if (!ms_dmd_number(p, &value))
        return false;
    ms_dmd_put_char(p, '\'');
    if (type == 'a' && value >= 0x20 && value < 0x7F) {
        char c = (char)value;
        ms_dmd_put(p, &c, 1);
    } else {
        while (value != 0 || sizeof text - at < width) {
            text[--at] = "0123456789abcdef"[value & 15u];
            value >>= 4;
        }
        ms_dmd_put(p, type == 'a' ? "\\x" : type == 'u' ? "\\u" : "\\U", 2);
        ms_dmd_put(p, text + at, sizeof text - at);
    }
    ms_dmd_put_char(p, '\'');
    return true;
}

/* A number, printed as a value of its type. */
static bool ms_dmd_integer(ms_dmd *p, char type)
{
    uint32_t value;
    size_t first = p->at;
    if (!ms_dmd_is_digit(ms_dmd_peek(p)))
        return false;
    if (type == 'a' || type == 'u' || type == 'w')
        return ms_dmd_char(p, type);
    if (type == 'b') {
        if (!ms_dmd_number(p, &value))
            return false;
        ms_dmd_put(p, value != 0 ? "true" : "false", value != 0 ? 4 : 5);
        return true;
    }
    ms_dmd_put(p, p->s + first, ms_dmd_digits(p));
    switch (type) {
    case 'h':
    case 't':
    case 'k': ms_dmd_put_char(p, 'u'); break;
    case 'l': ms_dmd_put_char(p, 'L'); break;
    case 'm': ms_dmd_lit(p, "uL"); break;
    default: break;
    }
    return true;
}

/* HexFloat */
static bool ms_dmd_real(ms_dmd *p)
{
    if (ms_dmd_has(p, p->at, "NAN", 3)) {
        p->at += 3;
        ms_dmd_lit(p, "NaN");
        return true;
    }
    if (ms_dmd_eat(p, 'N'))
        ms_dmd_put_char(p, '-');
    if (ms_dmd_has(p, p->at, "INF", 3)) {
        p->at += 3;
        ms_dmd_lit(p, "Inf");
        return true;
    }
    size_t first = p->at;
    while (ms_dmd_is_hex(ms_dmd_peek(p)))
        p->at++;
    size_t len = p->at - first;
    if (len == 0 || !ms_dmd_eat(p, 'P') || !ms_dmd_pay(p, len / 16))
        return false;
    ms_dmd_lit(p, "0x");
    ms_dmd_put(p, p->s + first, 1);
    ms_dmd_put_char(p, '.');
    ms_dmd_put(p, p->s + first + 1, len - 1);
    ms_dmd_put_char(p, 'p');
    if (ms_dmd_eat(p, 'N'))
        ms_dmd_put_char(p, '-');
    first = p->at;
    ms_dmd_put(p, p->s + first, ms_dmd_digits(p));
    return true;
}

/* `<count> _ <two digits for each byte>` */
static bool ms_dmd_string(ms_dmd *p, char kind)
{
    uint32_t count;
    if (!ms_dmd_number(p, &count) || !ms_dmd_eat(p, '_') || count > (p->len - p->at) / 2 ||
        !ms_dmd_pay(p, count / 8))
        return false;
    ms_dmd_put_char(p, '"');
    for (uint32_t i = 0; i < count; i++) {
        const char *at = p->s + p->at;
        if (!ms_dmd_is_hex(at[0]) || !ms_dmd_is_hex(at[1]))
            return false;
        char c = (char)(ms_dmd_nibble(at[0]) << 4 | ms_dmd_nibble(at[1]));
        p->at += 2;
        switch (c) {
        case '\t': ms_dmd_lit(p, "\\t"); break;
        case '\n': ms_dmd_lit(p, "\\n"); break;
        case '\r': ms_dmd_lit(p, "\\r"); break;
        case '\f': ms_dmd_lit(p, "\\f"); break;
        case '\v': ms_dmd_lit(p, "\\v"); break;
        default:
            if (c >= ' ' && c <= '~') {
                ms_dmd_put(p, &c, 1);
            } else {
                ms_dmd_lit(p, "\\x");
                ms_dmd_put(p, at, 2);
            }
        }
    }
    ms_dmd_put_char(p, '"');
    if (kind != 'a')
        ms_dmd_put(p, &kind, 1);
    return true;
}

/* A count and as many values, pairs when it is an associative array. */
static bool ms_dmd_values(ms_dmd *p, bool pairs)
{
    uint32_t count;
    if (!ms_dmd_number(p, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            ms_dmd_lit(p, ", ");
        if (!ms_dmd_value(p, '\0', 0))
            return false;
        if (!pairs)
            continue;
        ms_dmd_put_char(p, ':');
        if (!ms_dmd_value(p, '\0', 0))
            return false;
    }
    return true;
}

/* A struct literal starts with its type, which was read before it. */
static bool ms_dmd_struct(ms_dmd *p, size_t type_at)
{
    if (type_at != 0 && !p->quiet) {
        size_t back = p->at;
        p->at = type_at;
        if (!ms_dmd_type(p))
            return false;
        p->at = back;
    }
    ms_dmd_put_char(p, '(');
    bool ok = ms_dmd_values(p, false);
    ms_dmd_put_char(p, ')');
    return ok;
}

static bool ms_dmd_any_value(ms_dmd *p, char type, size_t type_at)
{
    char tag = ms_dmd_peek(p);
    bool ok;
    if (ms_dmd_is_digit(tag)) /* early compilers wrote no `i` */
        return ms_dmd_integer(p, type);
    p->at++;
    switch (tag) {
    case 'n': ms_dmd_lit(p, "null"); return true;
    case 'i': return ms_dmd_integer(p, type);
    case 'N': ms_dmd_put_char(p, '-'); return ms_dmd_integer(p, type);
    case 'e': return ms_dmd_real(p);
    case 'c':
        if (!ms_dmd_real(p) || !ms_dmd_eat(p, 'c'))
            return false;
        ms_dmd_put_char(p, '+');
        ok = ms_dmd_real(p);
        ms_dmd_put_char(p, 'i');
        return ok;
    case 'a':
    case 'w':
    case 'd': return ms_dmd_string(p, tag);
    case 'A':
        ms_dmd_put_char(p, '[');
        ok = ms_dmd_values(p, type == 'H');
        ms_dmd_put_char(p, ']');
        return ok;
    case 'S': return ms_dmd_struct(p, type_at);
    case 'f': return ms_dmd_is_mangle(p) && ms_dmd_mangle(p);
    default: return false;
    }
}

/* type: the first letter of the value's type, '\0' inside literals, whose types are not written. */
static bool ms_dmd_value(ms_dmd *p, char type, size_t type_at)
{
    return ms_dmd_enter(p) && ms_dmd_leave(p, ms_dmd_any_value(p, type, type_at));
}

static bool ms_dmd_value_arg(ms_dmd *p)
{
    size_t type_at = p->at, end, target;
    char type = ms_dmd_peek(p);
    if (type == 'Q') {
        if (!ms_dmd_ref(p, p->at, &end, &target))
            return false;
        type = p->s[target];
    }
    return ms_dmd_skip_type(p) && ms_dmd_value(p, type, type_at);
}

/* ---- template arguments ---- */

/* Reads a symbol of size bytes at position at. A size of 0 means any size. */
static bool ms_dmd_sized_symbol(ms_dmd *p, size_t at, uint64_t size)
{
    size_t out_len = p->d->out_len;
    bool ok;
    p->at = at;
    if (ms_dmd_is_symbol(p, at))
        ok = ms_dmd_qualified(p, false);
    else
        ok = ms_dmd_is_mangle(p) && ms_dmd_mangle(p);
    if (ok && (size == 0 || p->at - at == size))
        return true;
    p->d->out_len = out_len;
    return false;
}

/* Compilers before 2.077 wrote the symbol's length in front of it. The symbol may begin with a digit too,
 * so it is not clear where the length ends. The longest length that fits is taken, then shorter ones, then
 * none. */
static bool ms_dmd_symbol_arg(ms_dmd *p)
{
    uint32_t size;
    size_t first = p->at;
    if (ms_dmd_is_mangle(p))
        return ms_dmd_mangle(p);
    if (ms_dmd_peek(p) == 'Q')
        return ms_dmd_qualified(p, false);
    if (!ms_dmd_number(p, &size) || size == 0)
        return false;
    for (size_t at = p->at; size != 0 && !p->d->failed; at--, size /= 10) {
        if (ms_dmd_sized_symbol(p, at, size))
            return true;
    }
    return ms_dmd_sized_symbol(p, first, 0);
}

/* ExternallyMangledName: shown as it is. */
static bool ms_dmd_external_arg(ms_dmd *p)
{
    uint32_t len;
    if (!ms_dmd_number(p, &len) || len > p->len - p->at)
        return false;
    ms_dmd_put(p, p->s + p->at, len);
    p->at += len;
    return true;
}

static bool ms_dmd_template_arg(ms_dmd *p)
{
    ms_dmd_eat(p, 'H'); /* a specialised parameter; not shown */
    char tag = ms_dmd_peek(p);
    p->at++;
    switch (tag) {
    case 'T': return ms_dmd_type(p);
    case 'V': return ms_dmd_value_arg(p);
    case 'S': return ms_dmd_symbol_arg(p);
    case 'X': return ms_dmd_external_arg(p);
    default: return false;
    }
}

/* TemplateInstanceName; size is the length in front of it, 0 when there was none. */
static bool ms_dmd_template(ms_dmd *p, size_t size)
{
    size_t first = p->at;
    if (!ms_dmd_is_symbol(p, first + 3) || p->s[first + 3] == '0')
        return false;
    p->at += 3;
    if (!ms_dmd_ident(p))
        return false;
    ms_dmd_lit(p, "!(");
    for (size_t count = 0; !ms_dmd_eat(p, 'Z'); count++) {
        if (count > 0)
            ms_dmd_lit(p, ", ");
        if (!ms_dmd_template_arg(p))
            return false;
    }
    ms_dmd_put_char(p, ')');
    return size == 0 || p->at - first == size;
}

/* ---- names ---- */

/* Prints an LName of len bytes. Some names, such as __ctor, are printed as what they mean. */
static void ms_dmd_name(ms_dmd *p, size_t len)
{
    const char *name = p->s + p->at;
    if (len == 6 && ms_equal(name, "__ctor", 6)) {
        ms_dmd_lit(p, "this");
    } else if (len == 6 && ms_equal(name, "__dtor", 6)) {
        ms_dmd_lit(p, "~this");
    } else if (len == 10 && ms_dmd_has(p, p->at, "__postblitMFZ", 13)) {
        ms_dmd_lit(p, "this(this)");
        len = 13;
    } else {
        ms_dmd_put_part(p, name, len);
    }
    p->at += len;
}

/* IdentifierBackRef: a name that stands earlier. */
static bool ms_dmd_ident_ref(ms_dmd *p)
{
    size_t end, target;
    uint32_t len;
    if (!ms_dmd_ref(p, p->at, &end, &target))
        return false;
    p->at = target;
    if (!ms_dmd_number(p, &len) || len == 0 || len > p->len - p->at)
        return false;
    ms_dmd_name(p, len);
    p->at = end;
    return true;
}

/* `__S` and digits: a number for a scope inside a function, not shown. */
static bool ms_dmd_is_scope(const ms_dmd *p, size_t len)
{
    if (len < 4 || !ms_equal(p->s + p->at, "__S", 3))
        return false;
    for (size_t i = 3; i < len; i++) {
        if (!ms_dmd_is_digit(p->s[p->at + i]))
            return false;
    }
    return true;
}

static bool ms_dmd_any_ident(ms_dmd *p)
{
    uint32_t len;
    for (;;) {
        if (p->at == p->tail && !p->quiet) {
            p->tail_seen = true;
            p->at = p->len - 1;
            return true;
        }
        char first = ms_dmd_peek(p);
        if (first == 'Q')
            return ms_dmd_ident_ref(p);
        if (first == '_' && ms_dmd_is_template(p, p->at))
            return ms_dmd_template(p, 0);
        if (!ms_dmd_number(p, &len) || len == 0 || len > p->len - p->at || !ms_dmd_pay(p, len / 16))
            return false;
        if (!ms_dmd_is_scope(p, len))
            break;
        p->at += len;
    }
    if (len >= 5 && ms_dmd_is_template(p, p->at))
        return ms_dmd_template(p, len);
    ms_dmd_name(p, len);
    return true;
}

/* Prints an LName that means nothing but itself; nearly all do. Returns false, with nothing read, for another
 * kind of name. */
static ms_NOINLINE bool ms_dmd_plain_ident(ms_dmd *p)
{
    ms_dm *d = p->d;
    const char *s = p->s + p->at, *end = p->s + p->len;
    size_t len = 0, digit;
    for (; s < end && (digit = (size_t)(unsigned char)*s - '0') < 10 && len < MACHSYM_DEMANGLE_D_STEPS; s++)
        len = len * 10 + digit;
    if (len == 0 || len > (size_t)(end - s) || *s == '_' || p->at == p->tail || d->work <= len)
        return false;
    d->work -= 1 + len / 16;
    p->at = (size_t)(s - p->s) + len;
    ms_dmd_put_part(p, s, len);
    return true;
}

static ms_NOINLINE bool ms_dmd_odd_ident(ms_dmd *p)
{
    return ms_dmd_enter(p) && ms_dmd_leave(p, ms_dmd_any_ident(p));
}

static bool ms_dmd_ident(ms_dmd *p)
{
    return ms_dmd_plain_ident(p) || ms_dmd_odd_ident(p);
}

/* Reads the function type that may follow a name, but not the type of a variable. Modifiers of `this` are
 * printed after the parameters. */
static void ms_dmd_maybe_signature(ms_dmd *p, bool with_modifiers)
{
    size_t first = p->at, out_len = p->d->out_len, modifiers = 0;
    if (ms_dmd_eat(p, 'M')) {
        modifiers = p->at;
        ms_dmd_skip_modifiers(p);
    }
    if (!ms_dmd_signature(p) || p->at >= p->len) {
        p->at = first;
        p->d->out_len = out_len;
        return;
    }
    if (with_modifiers && modifiers != 0) {
        size_t end = p->at;
        p->at = modifiers;
        ms_dmd_modifiers(p);
        p->at = end;
    }
}

static bool ms_dmd_qualified(ms_dmd *p, bool with_modifiers)
{
    size_t count = 0;
    do {
        if (ms_dmd_peek(p) == '0') { /* anonymous */
            p->at++;
            continue;
        }
        size_t out_len = p->d->out_len;
        if (count++ > 0)
            ms_dmd_put_char(p, '.');
        if (!ms_dmd_ident(p))
            return false;
        if (p->tail_seen)
            p->d->out_len = out_len;
        else if (ms_dmd_peek(p) == 'M' || ms_dmd_is_function(ms_dmd_peek(p)))
            ms_dmd_maybe_signature(p, with_modifiers);
    } while (!p->d->failed && ms_dmd_is_symbol(p, p->at));
    return !p->d->failed;
}

/* ---- whole names ---- */

/* A symbol that the compiler made. Words in front of the name take the place of its last identifier. */
typedef struct ms_dmd_special {
    const char *tail;
    const char *text;
    unsigned char tail_len, text_len;
} ms_dmd_special;

static const ms_dmd_special *ms_dmd_find_special(const char *s, size_t len)
{
    static const ms_dmd_special v[] = {{"6__initZ", "initializer for ", 8, 16},
                                       {"6__vtblZ", "vtable for ", 8, 11},
                                       {"7__ClassZ", "ClassInfo for ", 9, 14},
                                       {"11__InterfaceZ", "Interface for ", 14, 14},
                                       {"12__ModuleInfoZ", "ModuleInfo for ", 15, 15}};
    if (s[len - 1] != 'Z')
        return NULL;
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        if (len > v[i].tail_len && ms_equal(s + len - v[i].tail_len, v[i].tail, v[i].tail_len))
            return &v[i];
    }
    return NULL;
}

/* Where the name begins, after _D. ldc makes one more function of a method of an interface, which adjusts
 * `this`: its symbol has Thn, the bytes and _ before the name. */
static size_t ms_dmd_name_at(const ms_dm *d)
{
    size_t at = 5;
    if (d->len < 8 || !ms_equal(d->s + 2, "Thn", 3))
        return 2;
    while (at < d->len && d->s[at] >= '0' && d->s[at] <= '9')
        at++;
    return at > 5 && at < d->len && d->s[at] == '_' ? at + 1 : 2;
}

/* Reads the whole name, which begins at `from`. special is the compiler-made symbol that its end stands for,
 * or NULL. */
static bool ms_dmd_read(ms_dm *d, size_t from, const ms_dmd_special *special)
{
    ms_dmd p = {d, d->s, d->len, from - 2, d->len, d->len, false, false};
    d->out_len = 0;
    if (from != 2)
        ms_dmd_lit(&p, "non-virtual thunk to ");
    if (special != NULL) {
        p.tail = d->len - special->tail_len;
        ms_dm_put(d, special->text, special->text_len);
    }
    if (!ms_dmd_mangle(&p) || p.at != p.len || p.tail_seen != (special != NULL) || d->failed)
        return false;
    if (special != NULL && d->out_len == special->text_len)
        d->out_len--; /* no name at all: no blank either */
    return true;
}

/* Whether a word of ordinary text is a symbol: a module and a name in it. _D2f7d is not. */
static bool ms_dmd_in_text(const ms_dm *d, size_t from)
{
    size_t at = from, len = 0;
    while (at < d->len && d->s[at] >= '0' && d->s[at] <= '9' && len <= d->len)
        len = len * 10 + (size_t)(d->s[at++] - '0');
    if (at == from || len >= d->len - at)
        return false;
    char next = d->s[at + len];
    return (next >= '0' && next <= '9') || next == 'Q' || next == '_';
}

static bool ms_dmd_run(ms_dm *d)
{
    if (d->len < 4 || d->s[0] != '_' || d->s[1] != 'D')
        return false;
    if (d->len == 6 && ms_equal(d->s, "_Dmain", 6)) {
        ms_dm_put(d, "D main", 6);
        return !d->failed;
    }
    size_t from = ms_dmd_name_at(d);
    if ((d->flags & MACHSYM_DEMANGLE_IN_TEXT) != 0 && !ms_dmd_in_text(d, from))
        return false;
    ms_dmd probe = {d, d->s, d->len, 0, d->len, d->len, false, false};
    if (!ms_dmd_is_symbol(&probe, from))
        return false;
    size_t most = MACHSYM_DEMANGLE_D_STEPS + MACHSYM_DEMANGLE_D_STEPS_PER_BYTE * d->len;
    if (d->work > most)
        d->work = most;
    const ms_dmd_special *special = from == 2 ? ms_dmd_find_special(d->s, d->len) : NULL;
    if (special != NULL && ms_dmd_read(d, from, special))
        return true;
    return ms_dmd_read(d, from, NULL) && d->out_len > 0;
}

#endif /* MACHSYM_NO_D */

#endif /* ms_ROOM_names_d */
