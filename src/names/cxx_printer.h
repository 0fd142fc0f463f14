#ifndef ms_ROOM_names_cxx_printer
#define ms_ROOM_names_cxx_printer
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "core.h"
#include "cxx_nodes.h"
#include "cxx_reader.h"

/* ==== >>cxx-printer =======================================================================================
 * Job:    writes the tree of a C++ name in source form.
 * Offers: ms_dmcxp_run.
 * Never:  changes the tree, but for marks of what is being printed, and of where it has been printed. */

#ifndef MACHSYM_NO_CXX
/* ---- C++: printing ---- */

static void ms_dmcxp_put(ms_dmcx *p, const char *text, size_t len)
{
    if (len == 0)
        return;
    p->last = text[len - 1];
    ms_dm_put(p->d, text, len);
}

static void ms_dmcxp_put_char(ms_dmcx *p, char c)
{
    ms_dm *d = p->d;
    p->last = c;
    if (d->out_len == d->out_limit)
        d->failed = true;
    else if (d->out_len < d->cap)
        d->out[d->out_len++] = c;
    else
        d->out_len++;
}

static void ms_dmcxp_put_word(ms_dmcx *p, uint32_t word)
{
    ms_dmcxp_put(p, ms_dmcx_words[word].ptr, ms_dmcx_words[word].len);
}

#define ms_DMCX_PUT(p, text) ms_dmcxp_put(p, text, sizeof(text) - 1)

static void ms_dmcxp_put_span(ms_dmcx *p, uint32_t off, uint32_t len)
{
    if (len == 0)
        return;
    p->last = p->s[off + len - 1];
    ms_dm_put_part(p->d, p->s + off, len);
}

/* A mangled number: n is its minus. */
static void ms_dmcxp_put_number(ms_dmcx *p, uint32_t off, uint32_t len)
{
    if (len != 0 && p->s[off] == 'n') {
        ms_dmcxp_put_char(p, '-');
        off++;
        len--;
    }
    ms_dmcxp_put_span(p, off, len);
}

static void ms_dmcxp_put_decimal(ms_dmcx *p, uint32_t value)
{
    char digits[10];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    ms_dmcxp_put(p, digits + at, sizeof(digits) - at);
}

/* Opens a bracket. Inside it a > does not close template arguments. */
static void ms_dmcxp_open(ms_dmcx *p, char c)
{
    p->brackets += p->in_args;
    ms_dmcxp_put_char(p, c);
}

static void ms_dmcxp_close(ms_dmcx *p, char c)
{
    p->brackets -= p->in_args;
    ms_dmcxp_put_char(p, c);
}

static void ms_dmcxp_put_quals(ms_dmcx *p, uint32_t quals, uint32_t ref)
{
    if (quals & 1u)
        ms_DMCX_PUT(p, " const");
    if (quals & 2u)
        ms_DMCX_PUT(p, " volatile");
    if (quals & 4u)
        ms_DMCX_PUT(p, " restrict");
    if (ref == 1)
        ms_DMCX_PUT(p, " &");
    else if (ref == 2)
        ms_DMCX_PUT(p, " &&");
}

/* A hexadecimal floating number as printf's %a writes it: first digit, fraction without its trailing zeros,
 * exponent. */
static void ms_dmcxp_put_hex_float(ms_dmcx *p, uint32_t lead, uint64_t fraction, uint32_t digits,
                                   int32_t exponent)
{
    char text[16];
    uint32_t len = 0;
    ms_DMCX_PUT(p, "0x");
    ms_dmcxp_put_char(p, (char)(lead < 10 ? '0' + lead : 'a' + (lead - 10)));
    for (; digits != 0; digits--) {
        uint32_t digit = (uint32_t)(fraction >> (4u * (digits - 1))) & 15u;
        text[len++] = (char)(digit < 10 ? '0' + digit : 'a' + (digit - 10));
    }
    while (len != 0 && text[len - 1] == '0')
        len--;
    if (len != 0)
        ms_dmcxp_put_char(p, '.');
    ms_dmcxp_put(p, text, len);
    ms_dmcxp_put_char(p, 'p');
    ms_dmcxp_put_char(p, exponent < 0 ? '-' : '+');
    ms_dmcxp_put_decimal(p, (uint32_t)(exponent < 0 ? -exponent : exponent));
}

/* The x87's long double: 15 bits of exponent, 64 of mantissa with its leading one written. */
static void ms_dmcxp_put_x87(ms_dmcx *p, uint32_t exponent, uint64_t mantissa)
{
    bool is_normal = mantissa >> 63 != 0;
    if (exponent == 0x7fff && mantissa << 1 == 0 && is_normal)
        ms_DMCX_PUT(p, "inf");
    else if (exponent == 0x7fff || (exponent != 0 && !is_normal))
        ms_DMCX_PUT(p, "nan");
    else if (mantissa == 0)
        ms_DMCX_PUT(p, "0x0p+0");
    else
        ms_dmcxp_put_hex_float(p, (uint32_t)(mantissa >> 60), mantissa & (UINT64_MAX >> 4), 15,
                               (int32_t)(exponent == 0 ? 1 : exponent) - 16383 - 3);
}

/* An IEEE float or double, given as a double's parts. A float's small values are normal as doubles. */
static void ms_dmcxp_put_ieee(ms_dmcx *p, uint32_t exponent, uint64_t fraction, bool is_float)
{
    int32_t power = (int32_t)exponent - 1023;
    uint32_t lead = exponent != 0;
    if (is_float) {
        power = (int32_t)exponent - 127;
        if (exponent == 255)
            exponent = 2047;
        fraction <<= 29;
        if (exponent == 0 && fraction != 0) {
            for (power = -126; fraction >> 52 == 0; power--)
                fraction <<= 1;
            fraction &= UINT64_MAX >> 12;
            lead = 1;
        }
    } else if (exponent == 0) {
        power = -1022;
    }
    if (exponent == 2047)
        ms_dmcxp_put(p, fraction == 0 ? "inf" : "nan", 3);
    else if (lead == 0 && fraction == 0)
        ms_DMCX_PUT(p, "0x0p+0");
    else
        ms_dmcxp_put_hex_float(p, lead, fraction, 13, power);
}

static void ms_dmcxp_put_floating(ms_dmcx *p, const ms_dmcx_node *n)
{
    uint32_t high = 0; /* the bytes before the last eight: sign and exponent of an x87 number */
    uint64_t low = 0;
    for (uint32_t i = 0; i < n->b; i++) {
        char c = p->s[n->a + i];
        uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        high = high << 4 | (uint32_t)(low >> 60);
        low = low << 4 | digit;
    }
    uint32_t sign = n->b == 20 ? high >> 15 : (uint32_t)(low >> (4u * n->b - 1u)) & 1u;
    if (sign != 0)
        ms_dmcxp_put_char(p, '-');
    if (n->b == 20)
        ms_dmcxp_put_x87(p, high & 0x7fffu, low);
    else if (n->b == 16)
        ms_dmcxp_put_ieee(p, (uint32_t)(low >> 52) & 2047u, low & (UINT64_MAX >> 12), false);
    else
        ms_dmcxp_put_ieee(p, (uint32_t)(low >> 23) & 255u, low & 0x7fffffu, true);
    if (n->x != 0)
        ms_dmcxp_put_char(p, (char)n->x);
}

static void ms_dmcxp_put_operator(ms_dmcx *p, uint32_t index)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[index];
    ms_DMCX_PUT(p, "operator");
    if (op->symbol[0] >= 'a' && op->symbol[0] <= 'z')
        ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_put(p, op->symbol, op->len);
}

/* How strongly an expression binds. A node that is no expression binds strongest. */
static uint32_t ms_dmcxp_prec_of(const ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_PREFIX:
    case ms_DMCX_POSTFIX_OP:
    case ms_DMCX_BINARY:
    case ms_DMCX_SUBSCRIPT:
    case ms_DMCX_MEMBER:
    case ms_DMCX_OF: return ms_dmcx_ops[n->x].prec;
    case ms_DMCX_NEW:
    case ms_DMCX_DELETE:
    case ms_DMCX_MEMBER_CONVERT: return ms_DMCX_UNARY;
    case ms_DMCX_ENCLOSED: return n->x == ms_DMCX_W_NOEXCEPT_OF ? ms_DMCX_UNARY : ms_DMCX_PRIMARY;
    case ms_DMCX_CALL:
    case ms_DMCX_NAMED_CAST: return ms_DMCX_POSTFIX;
    case ms_DMCX_CONVERT: return ms_DMCX_CAST;
    case ms_DMCX_CHOICE: return ms_DMCX_CONDITIONAL;
    default: return ms_DMCX_PRIMARY;
    }
}

/* The name that a class's constructors repeat: its last component without arguments and tags. */
static void ms_dmcxp_put_base(ms_dmcx *p, uint32_t ref)
{
    for (;;) {
        if (ref == ms_DMCX_W_TRUE || ref == ms_DMCX_W_FALSE)
            return;
        if (ref < ms_DMCX_W_COUNT) {
            ms_dmcx_text word = ms_dmcx_words[ref];
            size_t from = ref >= ms_DMCX_W_ALLOCATOR ? sizeof("std::") - 1 : 0;
            size_t to = from;
            while (to < word.len && (word.ptr[to] != '<' || from == 0))
                to++;
            ms_dmcxp_put(p, word.ptr + from, to - from);
            return;
        }
        const ms_dmcx_node *n = ms_dmcx_at(p, ref);
        switch (n->kind) {
        case ms_DMCX_TEXT: ms_dmcxp_put_span(p, n->a, n->b); return;
        case ms_DMCX_OPERATOR: ms_dmcxp_put_operator(p, n->x); return;
        case ms_DMCX_NESTED:
        case ms_DMCX_FRIEND:
        case ms_DMCX_QUALIFIED:
        case ms_DMCX_IN_MODULE: ref = n->b; break;
        case ms_DMCX_TEMPLATE:
        case ms_DMCX_GLOBAL:
        case ms_DMCX_ABI_TAG: ref = n->a; break;
        default: return;
        }
    }
}

/* nodes hold nodes */
static void ms_dmcxp_left(ms_dmcx *p, uint32_t ref);
static void ms_dmcxp_right(ms_dmcx *p, uint32_t ref);

static void ms_dmcxp_print(ms_dmcx *p, uint32_t ref)
{
    ms_dmcxp_left(p, ref);
    if ((ms_dmcx_flags_of(p, ref) & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK)) != 0)
        ms_dmcxp_right(p, ref);
}

/* The element of a pack that is to be printed. All packs inside an expansion show the same element, and
 * the first one sets how many there are. */
static uint32_t ms_dmcxp_pack_element(ms_dmcx *p, const ms_dmcx_node *pack)
{
    p->dependent++;
    if (p->pack_count == ms_DMCX_UNSET) {
        p->pack_count = pack->b;
        p->pack_index = 0;
    }
    return p->pack_index < pack->b ? *ms_dmcx_pack_at(p, pack->a, p->pack_index) : 0;
}

/* Whether a forward reference is being printed: then it leads back to itself. */
static bool ms_dmcxp_is_open(ms_dmcx *p, const ms_dmcx_node *forward)
{
    p->dependent++;
    return forward->y != 0;
}

/* Whether a declarator has this shape. Packs and forward references are followed; they may form a circle,
 * so the hops are counted. */
static bool ms_dmcxp_has(ms_dmcx *p, uint32_t ref, uint32_t flag)
{
    for (uint32_t hops = 0; hops < MACHSYM_DEMANGLE_CXX_PRINT_DEPTH; hops++) {
        uint32_t flags = ms_dmcx_flags_of(p, ref);
        if ((flags & flag) != 0)
            return true;
        if ((flags & (flag * ms_DMCX_ASK)) == 0 || p->d->work == 0)
            return false;
        p->d->work--;
        const ms_dmcx_node *n = ms_dmcx_at(p, ref);
        switch (n->kind) {
        case ms_DMCX_PACK: ref = ms_dmcxp_pack_element(p, n); break;
        case ms_DMCX_MEMBER_PTR: ref = n->b; break;
        case ms_DMCX_FORWARD: ref = ms_dmcxp_is_open(p, n) ? 0 : n->c; break;
        case ms_DMCX_QUAL:
        case ms_DMCX_POINTER:
        case ms_DMCX_REFERENCE: ref = n->a; break;
        default: return false;
        }
    }
    return false;
}

/* Prints an operand of an operator that binds as strongly as prec. It gets parentheses when it binds less. */
static void ms_dmcxp_operand(ms_dmcx *p, uint32_t ref, uint32_t prec)
{
    if (ref < ms_DMCX_W_COUNT) {
        ms_dmcxp_put_word(p, ref);
        return;
    }
    const ms_dmcx_node *n = ms_dmcx_at(p, ref);
    bool parens = n->kind >= ms_DMCX_PREFIX && ms_dmcxp_prec_of(n) >= prec;
    if (parens)
        ms_dmcxp_open(p, '(');
    ms_dmcxp_print(p, ref);
    if (parens)
        ms_dmcxp_close(p, ')');
}

/* Prints a list with commas. An element that is an empty pack gets no comma. */
static void ms_dmcxp_list(ms_dmcx *p, uint32_t cell)
{
    bool first = true;
    for (; cell != 0 && !p->d->failed; cell = p->cells[cell].next) {
        size_t before = p->d->out_len;
        char last = p->last;
        if (!first)
            ms_DMCX_PUT(p, ", ");
        size_t after = p->d->out_len;
        ms_dmcxp_operand(p, p->cells[cell].item, ms_DMCX_COMMA);
        if (p->d->out_len != after) {
            first = false;
            continue;
        }
        p->d->out_len = before;
        p->last = last;
    }
}

static void ms_dmcxp_parens_list(ms_dmcx *p, uint32_t cell)
{
    ms_dmcxp_open(p, '(');
    ms_dmcxp_list(p, cell);
    ms_dmcxp_close(p, ')');
}

static void ms_dmcxp_parens(ms_dmcx *p, uint32_t ref)
{
    ms_dmcxp_open(p, '(');
    ms_dmcxp_print(p, ref);
    ms_dmcxp_close(p, ')');
}

static void ms_dmcxp_angles(ms_dmcx *p, uint32_t cell)
{
    bool in_args = p->in_args;
    p->in_args = true;
    ms_dmcxp_put_char(p, '<');
    ms_dmcxp_list(p, cell);
    ms_dmcxp_put_char(p, '>');
    p->in_args = in_args;
}

/* Prints an expansion: its pattern once for each element of its packs. A pattern without packs is printed
 * with dots; it stands for a pack of function parameters. */
static void ms_dmcxp_expansion(ms_dmcx *p, uint32_t pattern)
{
    uint32_t index = p->pack_index;
    uint32_t count = p->pack_count;
    p->pack_index = ms_DMCX_UNSET;
    p->pack_count = ms_DMCX_UNSET;
    size_t before = p->d->out_len;
    char last = p->last;
    ms_dmcxp_print(p, pattern);
    if (p->pack_count == ms_DMCX_UNSET) {
        ms_DMCX_PUT(p, "...");
    } else if (p->pack_count == 0) {
        p->d->out_len = before;
        p->last = last;
        p->is_erased = true;
    }
    uint32_t elements = p->pack_count == ms_DMCX_UNSET ? 0 : p->pack_count;
    for (uint32_t i = 1; i < elements && !p->d->failed; i++) {
        ms_DMCX_PUT(p, ", ");
        p->pack_index = i;
        ms_dmcxp_print(p, pattern);
    }
    p->pack_index = index;
    p->pack_count = count;
}

/* ---- C++: printing types ---- */

/* id<P>: what a pointer to Objective-C's root object with a protocol is called. */
static bool ms_dmcxp_is_id(const ms_dmcx *p, uint32_t ref)
{
    if (ms_dmcx_kind_of(p, ref) != ms_DMCX_OBJC_PROTO)
        return false;
    return ms_dmcx_is_text(p, ms_dmcx_at(p, ref)->a, "objc_object", 11);
}

/* What stands between a type and the name or parentheses of a pointer to it. */
static void ms_dmcxp_open_declarator(ms_dmcx *p, uint32_t pointee)
{
    bool is_array = ms_dmcxp_has(p, pointee, ms_DMCX_IS_ARRAY);
    if (is_array)
        ms_dmcxp_put_char(p, ' ');
    if (is_array || ms_dmcxp_has(p, pointee, ms_DMCX_IS_FUNCTION))
        ms_dmcxp_put_char(p, '(');
}

static void ms_dmcxp_close_declarator(ms_dmcx *p, uint32_t pointee)
{
    if (ms_dmcxp_has(p, pointee, ms_DMCX_IS_ARRAY) || ms_dmcxp_has(p, pointee, ms_DMCX_IS_FUNCTION))
        ms_dmcxp_put_char(p, ')');
    ms_dmcxp_right(p, pointee);
}

static void ms_dmcxp_pointer_left(ms_dmcx *p, uint32_t pointee)
{
    if (ms_dmcxp_is_id(p, pointee)) {
        ms_DMCX_PUT(p, "id<");
        ms_dmcxp_print(p, ms_dmcx_at(p, pointee)->b);
        ms_dmcxp_put_char(p, '>');
        return;
    }
    ms_dmcxp_left(p, pointee);
    ms_dmcxp_open_declarator(p, pointee);
    ms_dmcxp_put_char(p, '*');
}

/* The node that is printed for a type: packs and forward references stand for another one. */
static uint32_t ms_dmcxp_shown(ms_dmcx *p, uint32_t ref)
{
    for (uint32_t hops = 0; hops < MACHSYM_DEMANGLE_CXX_PRINT_DEPTH && p->d->work != 0; hops++) {
        uint32_t kind = ms_dmcx_kind_of(p, ref);
        uint32_t next = 0;
        p->d->work--;
        if (kind == ms_DMCX_PACK)
            next = ms_dmcxp_pack_element(p, ms_dmcx_at(p, ref));
        else if (kind == ms_DMCX_FORWARD && !ms_dmcxp_is_open(p, ms_dmcx_at(p, ref)))
            next = ms_dmcx_at(p, ref)->c;
        if (next == 0)
            break;
        ref = next;
    }
    return ref;
}

/* Reference collapsing ([dcl.ref]): & wins. Returns what is referred to at last, 0 when that is a circle. */
static uint32_t ms_dmcxp_collapse(ms_dmcx *p, const ms_dmcx_node *n, uint32_t *ref_qual)
{
    uint32_t pointee = n->a;
    *ref_qual = n->x;
    for (uint32_t hops = 0; hops < MACHSYM_DEMANGLE_CXX_PRINT_DEPTH && p->d->work != 0; hops++) {
        uint32_t shown = ms_dmcxp_shown(p, pointee);
        if (ms_dmcx_kind_of(p, shown) != ms_DMCX_REFERENCE)
            return pointee;
        p->d->work--;
        n = ms_dmcx_at(p, shown);
        pointee = n->a;
        if (n->x < *ref_qual)
            *ref_qual = n->x;
    }
    return 0;
}

static void ms_dmcxp_reference(ms_dmcx *p, ms_dmcx_node *n, bool is_left)
{
    if (n->y != 0) {
        p->dependent++;
        return;
    }
    n->y = 1;
    uint32_t ref_qual;
    uint32_t pointee = ms_dmcxp_collapse(p, n, &ref_qual);
    if (pointee == 0) {
        n->y = 0;
        return;
    }
    if (is_left) {
        ms_dmcxp_left(p, pointee);
        ms_dmcxp_open_declarator(p, pointee);
        ms_dmcxp_put(p, "&&", ref_qual);
    } else {
        ms_dmcxp_close_declarator(p, pointee);
    }
    n->y = 0;
}

static void ms_dmcxp_member_pointer_left(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcxp_left(p, n->b);
    bool in_parens = ms_dmcxp_has(p, n->b, ms_DMCX_IS_ARRAY) || ms_dmcxp_has(p, n->b, ms_DMCX_IS_FUNCTION);
    ms_dmcxp_put_char(p, in_parens ? '(' : ' ');
    ms_dmcxp_print(p, n->a);
    ms_DMCX_PUT(p, "::*");
}

static void ms_dmcxp_function_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcxp_parens_list(p, n->b);
    ms_dmcxp_right(p, n->a);
    ms_dmcxp_put_quals(p, n->x, n->y);
    if (n->c != 0) {
        ms_dmcxp_put_char(p, ' ');
        ms_dmcxp_print(p, n->c);
    }
}

static void ms_dmcxp_array_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (p->last != ']')
        ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_put_char(p, '[');
    if (n->b != 0)
        ms_dmcxp_print(p, n->b);
    ms_dmcxp_put_char(p, ']');
    ms_dmcxp_right(p, n->a);
}

static void ms_dmcxp_vector_out(ms_dmcx *p, uint32_t type, uint32_t size)
{
    if (type == 0)
        ms_DMCX_PUT(p, "pixel");
    else
        ms_dmcxp_print(p, type);
    ms_DMCX_PUT(p, " vector[");
    if (size != 0)
        ms_dmcxp_print(p, size);
    ms_dmcxp_put_char(p, ']');
}

/* ---- C++: printing names ---- */

static void ms_dmcxp_requires_clause(ms_dmcx *p, uint32_t constraint)
{
    if (constraint == 0)
        return;
    ms_DMCX_PUT(p, " requires ");
    ms_dmcxp_print(p, constraint);
}

/* The part of a lambda's name after 'lambda', and all of a lambda expression's */
static void ms_dmcxp_closure_declarator(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_node *tail = ms_dmcx_at(p, n->c);
    if (n->a != 0)
        ms_dmcxp_angles(p, n->a);
    if (tail->a != 0) {
        ms_dmcxp_requires_clause(p, tail->a);
        ms_dmcxp_put_char(p, ' ');
    }
    ms_dmcxp_parens_list(p, n->b);
    ms_dmcxp_requires_clause(p, tail->b);
}

static void ms_dmcxp_encoding_left(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->a != 0) {
        ms_dmcxp_left(p, n->a);
        if (!ms_dmcxp_has(p, n->a, ms_DMCX_RIGHT))
            ms_dmcxp_put_char(p, ' ');
    }
    ms_dmcxp_print(p, n->b);
}

static void ms_dmcxp_encoding_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_node *tail = ms_dmcx_at(p, n->c);
    ms_dmcxp_parens_list(p, tail->a);
    if (n->a != 0)
        ms_dmcxp_right(p, n->a);
    ms_dmcxp_put_quals(p, n->x, n->y);
    if (tail->x != 0) {
        ms_DMCX_PUT(p, " [enable_if:");
        ms_dmcxp_list(p, tail->b);
        ms_dmcxp_put_char(p, ']');
    }
    ms_dmcxp_requires_clause(p, tail->c);
}

static void ms_dmcxp_two(ms_dmcx *p, const ms_dmcx_node *n, const char *between, size_t len)
{
    ms_dmcxp_print(p, n->a);
    ms_dmcxp_put(p, between, len);
    ms_dmcxp_print(p, n->b);
}

static void ms_dmcxp_synthetic(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcxp_put(p, n->x == 1 ? "$N" : "$TT", n->x == 2 ? 3 : 2);
    if (n->a != 0)
        ms_dmcxp_put_decimal(p, n->a - 1);
}

/* ---- C++: printing expressions ---- */

static void ms_dmcxp_binary(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[n->x];
    bool closes = op->symbol[0] == '>' && (op->len == 1 || (op->len == 2 && op->symbol[1] == '>'));
    bool parens = p->brackets == 0 && closes;
    p->dependent += closes;
    bool assigns = op->prec == ms_DMCX_ASSIGN; /* binds to the right; its left side is a logical or */
    if (parens)
        ms_dmcxp_open(p, '(');
    ms_dmcxp_operand(p, n->a, assigns ? (uint32_t)ms_DMCX_ORIF : op->prec + 1u);
    if (op->prec != ms_DMCX_COMMA)
        ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_put(p, op->symbol, op->len);
    ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_operand(p, n->b, op->prec + (assigns ? 1u : 0u));
    if (parens)
        ms_dmcxp_close(p, ')');
}

static void ms_dmcxp_fold_pack(ms_dmcx *p, uint32_t pack)
{
    ms_dmcxp_open(p, '(');
    ms_dmcxp_expansion(p, pack);
    ms_dmcxp_close(p, ')');
}

static void ms_dmcxp_fold_operator(ms_dmcx *p, uint32_t index)
{
    ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_put(p, ms_dmcx_ops[index].symbol, ms_dmcx_ops[index].len);
    ms_dmcxp_put_char(p, ' ');
}

static void ms_dmcxp_fold_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool is_left = n->y != 0;
    ms_dmcxp_open(p, '(');
    if (!is_left)
        ms_dmcxp_fold_pack(p, n->a);
    else if (n->b != 0)
        ms_dmcxp_operand(p, n->b, ms_DMCX_CAST + 1);
    if (!is_left || n->b != 0)
        ms_dmcxp_fold_operator(p, n->x);
    ms_DMCX_PUT(p, "...");
    if (is_left || n->b != 0)
        ms_dmcxp_fold_operator(p, n->x);
    if (is_left)
        ms_dmcxp_fold_pack(p, n->a);
    else if (n->b != 0)
        ms_dmcxp_operand(p, n->b, ms_DMCX_CAST + 1);
    ms_dmcxp_close(p, ')');
}

static void ms_dmcxp_new_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->y != 0)
        ms_DMCX_PUT(p, "::");
    ms_dmcxp_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    if (n->a != 0)
        ms_dmcxp_parens_list(p, n->a);
    ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_print(p, n->b);
    if (n->c != 0)
        ms_dmcxp_parens_list(p, n->c);
}

static void ms_dmcxp_delete_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->y != 0)
        ms_DMCX_PUT(p, "::");
    ms_dmcxp_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_print(p, n->a);
}

static void ms_dmcxp_call_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (ms_dmcx_ops[n->x].kind == ms_DMCX_OP_PAREN_CALL)
        ms_dmcxp_parens(p, n->a);
    else
        ms_dmcxp_print(p, n->a);
    ms_dmcxp_parens_list(p, n->b);
}

static void ms_dmcxp_choice(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcxp_operand(p, n->a, ms_DMCX_CONDITIONAL);
    ms_DMCX_PUT(p, " ? ");
    ms_dmcxp_print(p, n->b);
    ms_DMCX_PUT(p, " : ");
    ms_dmcxp_operand(p, n->c, ms_DMCX_ASSIGN + 1);
}

static void ms_dmcxp_named_cast(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_args = p->in_args;
    ms_dmcxp_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    p->in_args = true;
    ms_dmcxp_put_char(p, '<');
    ms_dmcxp_left(p, n->a);
    ms_dmcxp_put_char(p, '>');
    p->in_args = in_args;
    ms_dmcxp_parens(p, n->b);
}

/* The value of an integer literal that is a character, or 256. */
static uint32_t ms_dmcxp_char_value(const ms_dmcx *p, uint32_t ref)
{
    if (ms_dmcx_kind_of(p, ref) != ms_DMCX_INTEGER)
        return 256;
    const ms_dmcx_node *n = ms_dmcx_at(p, ref);
    uint32_t value = 0;
    if (n->b > 8)
        return 256;
    for (uint32_t i = 0; i < n->b && value < 256; i++) {
        char c = p->s[n->a + i];
        value = ms_dmcx_is_digit(c) ? value * 10u + (uint32_t)(c - '0') : 256;
    }
    return value < 256 ? value : 256;
}

/* Whether a list that initialises type is an array of char that can print as a string. */
static bool ms_dmcxp_is_string(const ms_dmcx *p, uint32_t type, uint32_t cell)
{
    if (ms_dmcx_kind_of(p, type) != ms_DMCX_ARRAY)
        return false;
    uint32_t of = ms_dmcx_at(p, type)->a;
    if (of != ms_DMCX_W_CHAR && !ms_dmcx_is_text(p, of, "char", 4))
        return false;
    for (; cell != 0; cell = p->cells[cell].next) {
        if (ms_dmcxp_char_value(p, p->cells[cell].item) == 256)
            return false;
    }
    return true;
}

/* Prints a character of a string. Returns whether it was written as a number: a digit after it would then
 * change its value. */
static bool ms_dmcxp_put_escaped(ms_dmcx *p, uint32_t c)
{
    char text[4];
    size_t len = 1;
    text[0] = '\\';
    if (c >= 7 && c <= 13) {
        text[len++] = "abtnvfr"[c - 7];
    } else if (c == '"' || c == '\\') {
        text[len++] = (char)c;
    } else if (c < 7) {
        text[len++] = (char)('0' + c);
    } else if (c < 32 || c == 127) {
        text[len++] = 'x';
        if (c > 15)
            text[len++] = (char)('0' + c / 16);
        text[len++] = "0123456789ABCDEF"[c % 16];
    } else {
        text[0] = (char)c;
    }
    ms_dmcxp_put(p, text, len);
    return len > 1 && (text[1] == 'x' || ms_dmcx_is_digit(text[1]));
}

static void ms_dmcxp_string_out(ms_dmcx *p, uint32_t cell)
{
    bool after_number = false;
    ms_dmcxp_put_char(p, '"');
    for (; cell != 0; cell = p->cells[cell].next) {
        uint32_t c = ms_dmcxp_char_value(p, p->cells[cell].item);
        bool is_hex = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
        if (after_number && is_hex)
            ms_DMCX_PUT(p, "\"\"");
        after_number = ms_dmcxp_put_escaped(p, c);
    }
    ms_dmcxp_put_char(p, '"');
}

static void ms_dmcxp_init_list_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->a != 0 && ms_dmcxp_is_string(p, n->a, n->b)) {
        ms_dmcxp_string_out(p, n->b);
        return;
    }
    if (n->a != 0)
        ms_dmcxp_print(p, n->a);
    ms_dmcxp_put_char(p, '{');
    ms_dmcxp_list(p, n->b);
    ms_dmcxp_put_char(p, '}');
}

static void ms_dmcxp_init_value(ms_dmcx *p, uint32_t value)
{
    uint32_t kind = ms_dmcx_kind_of(p, value);
    if (kind != ms_DMCX_FIELD_INIT && kind != ms_DMCX_INDEX_INIT && kind != ms_DMCX_RANGE_INIT)
        ms_DMCX_PUT(p, " = ");
    ms_dmcxp_print(p, value);
}

static void ms_dmcxp_initialiser(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->kind == ms_DMCX_FIELD_INIT) {
        ms_dmcxp_put_char(p, '.');
        ms_dmcxp_print(p, n->a);
        ms_dmcxp_init_value(p, n->b);
        return;
    }
    ms_dmcxp_put_char(p, '[');
    ms_dmcxp_print(p, n->a);
    if (n->kind == ms_DMCX_RANGE_INIT) {
        ms_DMCX_PUT(p, " ... ");
        ms_dmcxp_print(p, n->b);
    }
    ms_dmcxp_put_char(p, ']');
    ms_dmcxp_init_value(p, n->kind == ms_DMCX_RANGE_INIT ? n->c : n->b);
}

static void ms_dmcxp_integer_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_front = ms_dmcx_words[n->x].len > 3;
    if (in_front) {
        ms_dmcxp_open(p, '(');
        ms_dmcxp_put_word(p, n->x);
        ms_dmcxp_close(p, ')');
    }
    ms_dmcxp_put_number(p, n->a, n->b);
    if (!in_front)
        ms_dmcxp_put_word(p, n->x);
}

static void ms_dmcxp_subobject_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcxp_print(p, n->b);
    ms_DMCX_PUT(p, ".<");
    ms_dmcxp_print(p, n->a);
    ms_DMCX_PUT(p, " at offset ");
    if (n->c == 0)
        ms_dmcxp_put_char(p, '0');
    else
        ms_dmcxp_put_number(p, ms_dmcx_at(p, n->c)->a, ms_dmcx_at(p, n->c)->b);
    ms_dmcxp_put_char(p, '>');
}

static void ms_dmcxp_requirement_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_braces = n->x != 0 || n->b != 0;
    ms_dmcxp_put_char(p, ' ');
    if (in_braces)
        ms_dmcxp_open(p, '{');
    ms_dmcxp_print(p, n->a);
    if (in_braces)
        ms_dmcxp_close(p, '}');
    if (n->x != 0)
        ms_DMCX_PUT(p, " noexcept");
    if (n->b != 0) {
        ms_DMCX_PUT(p, " -> ");
        ms_dmcxp_print(p, n->b);
    }
    ms_dmcxp_put_char(p, ';');
}

static void ms_dmcxp_requires_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_DMCX_PUT(p, "requires");
    if (n->a != 0) {
        ms_dmcxp_put_char(p, ' ');
        ms_dmcxp_parens_list(p, n->a);
    }
    ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_open(p, '{');
    for (uint32_t cell = n->b; cell != 0; cell = p->cells[cell].next)
        ms_dmcxp_print(p, p->cells[cell].item);
    ms_dmcxp_put_char(p, ' ');
    ms_dmcxp_close(p, '}');
}

/* Operators, calls, casts. */
static ms_NOINLINE void ms_dmcxp_left_operator(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[n->x < ms_DMCX_OP_COUNT ? n->x : 0];
    switch (n->kind) {
    case ms_DMCX_PREFIX:
        ms_dmcxp_put(p, op->symbol, op->len);
        ms_dmcxp_operand(p, n->a, op->prec);
        break;
    case ms_DMCX_POSTFIX_OP:
        ms_dmcxp_operand(p, n->a, op->prec + 1u);
        ms_dmcxp_put(p, op->symbol, op->len);
        break;
    case ms_DMCX_BINARY: ms_dmcxp_binary(p, n); break;
    case ms_DMCX_SUBSCRIPT:
        ms_dmcxp_operand(p, n->a, op->prec);
        ms_dmcxp_open(p, '[');
        ms_dmcxp_print(p, n->b);
        ms_dmcxp_close(p, ']');
        break;
    case ms_DMCX_MEMBER:
        ms_dmcxp_operand(p, n->a, op->prec + 1u);
        ms_dmcxp_put(p, op->symbol, op->len);
        ms_dmcxp_operand(p, n->b, op->prec);
        break;
    case ms_DMCX_NEW: ms_dmcxp_new_out(p, n); break;
    case ms_DMCX_DELETE: ms_dmcxp_delete_out(p, n); break;
    case ms_DMCX_CALL: ms_dmcxp_call_out(p, n); break;
    case ms_DMCX_CONVERT:
        ms_dmcxp_parens(p, n->a);
        ms_dmcxp_parens_list(p, n->b);
        break;
    case ms_DMCX_CHOICE: ms_dmcxp_choice(p, n); break;
    case ms_DMCX_NAMED_CAST: ms_dmcxp_named_cast(p, n); break;
    case ms_DMCX_OF:
        ms_dmcxp_put(p, op->symbol, op->len);
        ms_dmcxp_parens(p, n->a);
        break;
    case ms_DMCX_ENCLOSED:
        ms_dmcxp_put_word(p, n->x);
        ms_dmcxp_parens(p, n->a);
        break;
    case ms_DMCX_SIZEOF_PARAM_PACK:
        ms_DMCX_PUT(p, "sizeof...");
        ms_dmcxp_fold_pack(p, n->a);
        break;
    case ms_DMCX_PACK_INDEX:
        ms_dmcxp_fold_pack(p, n->a);
        ms_dmcxp_open(p, '[');
        ms_dmcxp_print(p, n->b);
        ms_dmcxp_close(p, ']');
        break;
    case ms_DMCX_SIZEOF_ARGS:
        ms_DMCX_PUT(p, "sizeof... ");
        ms_dmcxp_parens_list(p, n->a);
        break;
    default: ms_dmcxp_fold_out(p, n); break; /* FOLD */
    }
}

/* Values, lambdas, requirements. */
static ms_NOINLINE void ms_dmcxp_left_value(ms_dmcx *p, const ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_INIT_LIST: ms_dmcxp_init_list_out(p, n); break;
    case ms_DMCX_FIELD_INIT:
    case ms_DMCX_INDEX_INIT:
    case ms_DMCX_RANGE_INIT: ms_dmcxp_initialiser(p, n); break;
    case ms_DMCX_THROW:
        ms_DMCX_PUT(p, "throw ");
        ms_dmcxp_print(p, n->a);
        break;
    case ms_DMCX_FUNCTION_PARAM:
        ms_DMCX_PUT(p, "fp");
        ms_dmcxp_put_span(p, n->a, n->b);
        break;
    case ms_DMCX_INTEGER: ms_dmcxp_integer_out(p, n); break;
    case ms_DMCX_ENUM_VALUE:
        ms_dmcxp_parens(p, n->a);
        ms_dmcxp_put_number(p, n->b, n->c);
        break;
    case ms_DMCX_FLOATING: ms_dmcxp_put_floating(p, n); break;
    case ms_DMCX_STRING_OF:
        ms_DMCX_PUT(p, "\"<");
        ms_dmcxp_print(p, n->a);
        ms_DMCX_PUT(p, ">\"");
        break;
    case ms_DMCX_LAMBDA:
        ms_DMCX_PUT(p, "[]");
        if (ms_dmcx_kind_of(p, n->a) == ms_DMCX_CLOSURE)
            ms_dmcxp_closure_declarator(p, ms_dmcx_at(p, n->a));
        ms_DMCX_PUT(p, "{...}");
        break;
    case ms_DMCX_SUBOBJECT: ms_dmcxp_subobject_out(p, n); break;
    case ms_DMCX_MEMBER_CONVERT:
        ms_dmcxp_parens(p, n->a);
        ms_dmcxp_parens(p, n->b);
        break;
    case ms_DMCX_REQUIRES: ms_dmcxp_requires_out(p, n); break;
    case ms_DMCX_REQUIRE_EXPR: ms_dmcxp_requirement_out(p, n); break;
    case ms_DMCX_REQUIRE_TYPE:
        ms_DMCX_PUT(p, " typename ");
        ms_dmcxp_print(p, n->a);
        ms_dmcxp_put_char(p, ';');
        break;
    default: /* REQUIRE_NESTED */
        ms_DMCX_PUT(p, " requires ");
        ms_dmcxp_print(p, n->a);
        ms_dmcxp_put_char(p, ';');
        break;
    }
}

/* ---- C++: printing, the dispatch ---- */

static ms_NOINLINE void ms_dmcxp_left_type(ms_dmcx *p, ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_QUAL:
        ms_dmcxp_left(p, n->a);
        ms_dmcxp_put_quals(p, n->x, 0);
        break;
    case ms_DMCX_VENDOR_QUAL: ms_dmcxp_two(p, n, " ", 1); break;
    case ms_DMCX_OBJC_PROTO:
        ms_dmcxp_two(p, n, "<", 1);
        ms_dmcxp_put_char(p, '>');
        break;
    case ms_DMCX_POINTER: ms_dmcxp_pointer_left(p, n->a); break;
    case ms_DMCX_REFERENCE: ms_dmcxp_reference(p, n, true); break;
    case ms_DMCX_MEMBER_PTR: ms_dmcxp_member_pointer_left(p, n); break;
    case ms_DMCX_ARRAY: ms_dmcxp_left(p, n->a); break;
    case ms_DMCX_FUNCTION:
        ms_dmcxp_left(p, n->a);
        ms_dmcxp_put_char(p, ' ');
        break;
    case ms_DMCX_NOEXCEPT_IF:
        ms_DMCX_PUT(p, "noexcept");
        ms_dmcxp_parens(p, n->a);
        break;
    case ms_DMCX_THROW_LIST:
        ms_DMCX_PUT(p, "throw");
        ms_dmcxp_parens_list(p, n->a);
        break;
    case ms_DMCX_VECTOR: ms_dmcxp_vector_out(p, n->a, n->b); break;
    case ms_DMCX_PIXEL: ms_dmcxp_vector_out(p, 0, n->a); break;
    case ms_DMCX_AFTER:
        ms_dmcxp_left(p, n->a);
        ms_dmcxp_put_word(p, n->x);
        break;
    case ms_DMCX_ELABORATED:
        ms_dmcxp_put_word(p, n->x);
        ms_dmcxp_print(p, n->a);
        break;
    case ms_DMCX_FLOAT_N:
        ms_DMCX_PUT(p, "_Float");
        ms_dmcxp_put_span(p, n->a, n->b);
        break;
    case ms_DMCX_BIT_INT:
        if (n->x != 0)
            ms_DMCX_PUT(p, "unsigned ");
        ms_DMCX_PUT(p, "_BitInt");
        ms_dmcxp_parens(p, n->a);
        break;
    default: /* TRANSFORM */
        ms_dmcxp_two(p, n, "(", 1);
        ms_dmcxp_put_char(p, ')');
        break;
    }
}

/* Packs, and what stands for template parameters. */
static ms_NOINLINE void ms_dmcxp_left_param(ms_dmcx *p, ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_EXPANSION: ms_dmcxp_expansion(p, n->a); break;
    case ms_DMCX_PACK: {
        uint32_t element = ms_dmcxp_pack_element(p, n);
        if (element != 0)
            ms_dmcxp_left(p, element);
        break;
    }
    case ms_DMCX_ARG_PACK: ms_dmcxp_list(p, n->a); break;
    case ms_DMCX_FORWARD:
        if (!ms_dmcxp_is_open(p, n)) {
            n->y = 1;
            ms_dmcxp_left(p, n->c);
            n->y = 0;
        }
        break;
    case ms_DMCX_SYNTHETIC: ms_dmcxp_synthetic(p, n); break;
    case ms_DMCX_DECL_TYPE: ms_DMCX_PUT(p, "typename "); break;
    case ms_DMCX_DECL_CONSTRAINED:
        ms_dmcxp_print(p, n->b);
        ms_dmcxp_put_char(p, ' ');
        break;
    case ms_DMCX_DECL_VALUE:
        ms_dmcxp_left(p, n->b);
        if (!ms_dmcxp_has(p, n->b, ms_DMCX_RIGHT))
            ms_dmcxp_put_char(p, ' ');
        break;
    case ms_DMCX_DECL_TEMPLATE:
        ms_DMCX_PUT(p, "template");
        ms_dmcxp_angles(p, n->b);
        ms_DMCX_PUT(p, " typename ");
        break;
    case ms_DMCX_DECL_PACK:
        ms_dmcxp_left(p, n->a);
        ms_DMCX_PUT(p, "...");
        break;
    default: ms_dmcxp_print(p, n->a); break; /* QUALIFIED_ARG */
    }
}

/* Prints a name in a scope or a template by a copy of what it printed before. In the names of templates the
 * same types come again and again. A copy takes as many steps as printing. Returns false if these are too
 * many or might lead too deep: then the node is to be printed as if for the first time. */
static bool ms_dmcxp_copy(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->c == 0 || p->is_erased || n->x > p->d->work || p->depth + n->x >= MACHSYM_DEMANGLE_CXX_PRINT_DEPTH)
        return false;
    p->d->work -= n->x;
    ms_dmcxp_put(p, p->d->out + n->c / ms_DMCX_COPIED, n->c % ms_DMCX_COPIED);
    return true;
}

/* Remembers what such a node printed, if that would be the same everywhere. */
static void ms_dmcxp_remember(ms_dmcx *p, ms_dmcx_node *n, size_t from, size_t steps)
{
    size_t len = p->d->out_len - from;
    if (len >= ms_DMCX_COPIED || from > UINT32_MAX / ms_DMCX_COPIED - 1 || p->d->out_len > p->d->room ||
        steps > UINT8_MAX)
        return;
    n->c = (uint32_t)(from * ms_DMCX_COPIED + len);
    n->x = (uint8_t)steps;
}

/* Names in scopes and templates, which may have been printed before. */
static ms_NOINLINE void ms_dmcxp_left_known(ms_dmcx *p, ms_dmcx_node *n)
{
    if (ms_dmcxp_copy(p, n))
        return;
    size_t from = p->d->out_len, work = p->d->work;
    uint32_t dependent = p->dependent;
    if (n->kind == ms_DMCX_NESTED) {
        ms_dmcxp_two(p, n, "::", 2);
    } else {
        ms_dmcxp_print(p, n->a);
        ms_dmcxp_angles(p, n->b);
    }
    if (p->dependent == dependent)
        ms_dmcxp_remember(p, n, from, work - p->d->work);
}

/* Names in other scopes: of functions, of modules. */
static ms_NOINLINE void ms_dmcxp_left_scope(ms_dmcx *p, const ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_LOCAL:
    case ms_DMCX_QUALIFIED: ms_dmcxp_two(p, n, "::", 2); break;
    case ms_DMCX_FRIEND: ms_dmcxp_two(p, n, "::friend ", 9); break;
    case ms_DMCX_GLOBAL:
        ms_DMCX_PUT(p, "::");
        ms_dmcxp_print(p, n->a);
        break;
    case ms_DMCX_ABI_TAG:
        ms_dmcxp_left(p, n->a);
        ms_DMCX_PUT(p, "[abi:");
        ms_dmcxp_print(p, n->b);
        ms_dmcxp_put_char(p, ']');
        break;
    case ms_DMCX_MODULE:
        if (n->a != 0)
            ms_dmcxp_print(p, n->a);
        if (n->a != 0 || n->x != 0)
            ms_dmcxp_put_char(p, n->x != 0 ? ':' : '.');
        ms_dmcxp_print(p, n->b);
        break;
    default: /* IN_MODULE */
        ms_dmcxp_print(p, n->b);
        ms_dmcxp_put_char(p, '@');
        ms_dmcxp_print(p, n->a);
        break;
    }
}

/* Names of entities. */
static ms_NOINLINE void ms_dmcxp_left_name(ms_dmcx *p, const ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_DTOR:
        ms_dmcxp_put_char(p, '~');
        ms_dmcxp_put_base(p, n->a);
        break;
    case ms_DMCX_CTOR: ms_dmcxp_put_base(p, n->a); break;
    case ms_DMCX_DTOR_NAME:
        ms_dmcxp_put_char(p, '~');
        ms_dmcxp_left(p, n->a);
        break;
    case ms_DMCX_OPERATOR: ms_dmcxp_put_operator(p, n->x); break;
    case ms_DMCX_LITERAL_OP:
        ms_DMCX_PUT(p, "operator\"\" ");
        ms_dmcxp_print(p, n->a);
        break;
    case ms_DMCX_CONVERSION:
        ms_DMCX_PUT(p, "operator ");
        ms_dmcxp_print(p, n->a);
        break;
    case ms_DMCX_UNNAMED:
        ms_DMCX_PUT(p, "'unnamed");
        ms_dmcxp_put_span(p, n->a, n->b);
        ms_dmcxp_put_char(p, '\'');
        break;
    case ms_DMCX_CLOSURE:
        ms_DMCX_PUT(p, "'lambda");
        if (ms_dmcx_at(p, n->c)->c != 0)
            ms_dmcxp_print(p, ms_dmcx_at(p, n->c)->c);
        ms_dmcxp_put_char(p, '\'');
        ms_dmcxp_closure_declarator(p, n);
        break;
    case ms_DMCX_BINDING:
        ms_dmcxp_open(p, '[');
        ms_dmcxp_list(p, n->a);
        ms_dmcxp_close(p, ']');
        break;
    case ms_DMCX_SPECIAL:
        ms_dmcxp_put_word(p, n->x);
        ms_dmcxp_print(p, n->a);
        break;
    case ms_DMCX_CTOR_VTABLE:
        ms_DMCX_PUT(p, "construction vtable for ");
        ms_dmcxp_two(p, n, "-in-", 4);
        break;
    case ms_DMCX_DOT_SUFFIX:
        ms_dmcxp_two(p, n, " (", 2);
        ms_dmcxp_put_char(p, ')');
        break;
    case ms_DMCX_ENCODING: ms_dmcxp_encoding_left(p, n); break;
    default: /* THIS_PARAM */
        ms_DMCX_PUT(p, "this ");
        ms_dmcxp_print(p, n->a);
        break;
    }
}

/* Goes one node deeper. Returns false when that is too deep or the budget is spent. */
static bool ms_dmcxp_enter_node(ms_dmcx *p)
{
    ms_dm *d = p->d;
    if (d->failed || d->work == 0 || p->depth >= MACHSYM_DEMANGLE_CXX_PRINT_DEPTH) {
        d->failed = true;
        return false;
    }
    d->work--;
    p->depth++;
    return true;
}

/* Prints a node. Of a declarator it prints what stands before the name. Half of all nodes are words or texts:
 * what the others need is not inlined, so that these pay for no frame. */
static void ms_dmcxp_left(ms_dmcx *p, uint32_t ref)
{
    if (ref < ms_DMCX_W_COUNT) {
        ms_dmcxp_put_word(p, ref);
        return;
    }
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    if (n->kind == ms_DMCX_TEXT) {
        ms_dmcxp_put_span(p, n->a, n->b);
        return;
    }
    if (!ms_dmcxp_enter_node(p))
        return;
    if (n->kind < ms_DMCX_FRIEND)
        ms_dmcxp_left_known(p, n);
    else if (n->kind < ms_DMCX_CTOR)
        ms_dmcxp_left_scope(p, n);
    else if (n->kind < ms_DMCX_QUAL)
        ms_dmcxp_left_name(p, n);
    else if (n->kind < ms_DMCX_EXPANSION)
        ms_dmcxp_left_type(p, n);
    else if (n->kind < ms_DMCX_PREFIX)
        ms_dmcxp_left_param(p, n);
    else if (n->kind < ms_DMCX_INIT_LIST)
        ms_dmcxp_left_operator(p, n);
    else
        ms_dmcxp_left_value(p, n);
    p->depth--;
}

/* Prints what stands after a declarator's name. */
static void ms_dmcxp_right_inside(ms_dmcx *p, ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_ENCODING: ms_dmcxp_encoding_right(p, n); break;
    case ms_DMCX_QUAL: ms_dmcxp_right(p, n->a); break;
    case ms_DMCX_POINTER:
        if (!ms_dmcxp_is_id(p, n->a))
            ms_dmcxp_close_declarator(p, n->a);
        break;
    case ms_DMCX_REFERENCE: ms_dmcxp_reference(p, n, false); break;
    case ms_DMCX_MEMBER_PTR: ms_dmcxp_close_declarator(p, n->b); break;
    case ms_DMCX_ARRAY: ms_dmcxp_array_right(p, n); break;
    case ms_DMCX_FUNCTION: ms_dmcxp_function_right(p, n); break;
    case ms_DMCX_PACK: {
        uint32_t element = ms_dmcxp_pack_element(p, n);
        if (element != 0)
            ms_dmcxp_right(p, element);
        break;
    }
    case ms_DMCX_FORWARD:
        if (!ms_dmcxp_is_open(p, n)) {
            n->y = 1;
            ms_dmcxp_right(p, n->c);
            n->y = 0;
        }
        break;
    case ms_DMCX_DECL_TYPE:
    case ms_DMCX_DECL_CONSTRAINED: ms_dmcxp_print(p, n->a); break;
    case ms_DMCX_DECL_VALUE:
        ms_dmcxp_print(p, n->a);
        ms_dmcxp_right(p, n->b);
        break;
    case ms_DMCX_DECL_TEMPLATE:
        ms_dmcxp_print(p, n->a);
        ms_dmcxp_requires_clause(p, n->c);
        break;
    case ms_DMCX_DECL_PACK: ms_dmcxp_right(p, n->a); break;
    default: break;
    }
}

static void ms_dmcxp_right(ms_dmcx *p, uint32_t ref)
{
    uint32_t flags = ms_dmcx_flags_of(p, ref);
    if ((flags & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK)) == 0 || !ms_dmcxp_enter_node(p))
        return;
    ms_dmcxp_right_inside(p, ms_dmcx_at(p, ref));
    p->depth--;
}

/* ---- C++: entry ---- */

/* Whether the name looks like C++'s: _Z after up to three more underscores (two and three mark blocks). */
static bool ms_dmcxp_is_mangled(const ms_dm *d)
{
    size_t first = ms_dmcxr_alloc_token(d->s, d->len), at = first;
    while (at - first < 4 && at < d->len && d->s[at] == '_')
        at++;
    return at != first && at < d->len && d->s[at] == 'Z' && d->len <= ms_DMCX_MAX_NAME;
}

/* The fewest letters of a variable's name in text: _Z2AM and _Z1x are words. */
enum { ms_DMCXP_TEXT_LETTERS = 3 };

/* Whether new or delete has no parameter after its own, a pointer or a reference, or a suffix: _Znwm.cold and
 * _ZnwmPv, but not _Zname. */
static bool ms_dmcxp_memory_ends(const char *s, size_t len)
{
    return len == 0 || s[0] == '.' || s[0] == 'P' || s[0] == 'R';
}

/* Whether a word of ordinary text is a symbol, not _Zclose or _Z2AM by accident. Operators have a parameter
 * of a type that the program declares, but for new and delete. A variable outside of namespaces is seldom
 * mangled. */
static bool ms_dmcxp_in_text(const ms_dm *d)
{
    static const char memory[][5] = {"nwm", "nwj", "nam", "naj", "dlPv", "daPv"};
    size_t at = ms_dmcxr_alloc_token(d->s, d->len), len = 0;
    while (d->s[at] == '_') /* a Z follows: ms_dmcxp_is_mangled */
        at++;
    const char *s = d->s + at + 1;
    size_t rest = d->len - at - 1, digits = 0;
    while (digits < rest && s[digits] >= '0' && s[digits] <= '9' && len <= rest)
        len = len * 10 + (size_t)(s[digits++] - '0');
    if (digits > 0)
        return len != rest - digits || len >= ms_DMCXP_TEXT_LETTERS;
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        size_t n = i < 4 ? 3 : 4;
        if (rest >= n && ms_equal(s, memory[i], n) && (n == 4 || ms_dmcxp_memory_ends(s + n, rest - n)))
            return true;
    }
    for (size_t i = 0; i < rest; i++) {
        if (s[i] >= '0' && s[i] <= '9')
            return true;
    }
    return rest > 0 && (s[0] == 'N' || s[0] == 'T' || s[0] == 'G');
}

static bool ms_dmcxp_run(ms_dm *d)
{
    if (!ms_dmcxp_is_mangled(d) || ((d->flags & MACHSYM_DEMANGLE_IN_TEXT) != 0 && !ms_dmcxp_in_text(d)))
        return false;
    ms_dmcx p;
    ms_zero(&p, sizeof(p));
    p.d = d;
    p.s = d->s;
    p.len = (uint32_t)d->len;
    size_t room = (d->mem_len - d->mem_used) & ~(size_t)15;
    unsigned char *mem = (unsigned char *)ms_dm_alloc(d, room);
    if (mem == NULL)
        return false;
    p.limit = (uint32_t)(room / sizeof(ms_dmcx_cell));
    p.used = ms_DMCX_W_COUNT; /* references below are words */
    if (p.limit < p.used) {
        d->no_mem = true;
        return false;
    }
    p.cells = (ms_dmcx_cell *)(void *)mem;
    p.subs_end = (uint32_t *)(void *)(mem + room);
    p.auto_level = ms_DMCX_UNSET;
    p.try_args = true;
    uint32_t ref = ms_dmcxr_mangled(&p);
    if (ref == 0 || d->failed)
        return false;
    p.pack_index = ms_DMCX_UNSET;
    p.pack_count = ms_DMCX_UNSET;
    ms_dmcxp_print(&p, ref);
    return !d->failed;
}

#endif /* MACHSYM_NO_CXX */

#endif /* ms_ROOM_names_cxx_printer */
