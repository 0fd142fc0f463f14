#ifndef ms_ROOM_names_swift_printer
#define ms_ROOM_names_swift_printer
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "core.h"
#include "swift_nodes.h"
#include "swift_symbols.h"

/* ==== >>swift-printer =====================================================================================
 * Job:    writes the tree of a Swift name in source form.
 * Offers: ms_dmswp_run.
 * Never:  changes the tree. Reads no name but one inside a name: the function that a specialization is of. */

#ifndef MACHSYM_NO_SWIFT
/* ---- printing ---- */

/* nodes hold nodes; a specialization holds the name of its function */
static uint32_t ms_dmswp_print_as(ms_dmsw *p, uint32_t ref, bool as_prefix);
static bool ms_dmswp_nested(ms_dmsw *p, uint32_t payload);

#define ms_dmswp_lit(p, text) ms_dm_put((p)->d, text, sizeof(text) - 1)

/* A node's text. */
static inline void ms_dmswp_text(ms_dm *d, const ms_dmsw_node *n)
{
    if (n->mark & ms_DMSW_WIDE)
        ms_dm_put_wide(d, n->u.text, n->count);
    else
        ms_dm_put(d, n->u.text, n->count);
}

static bool ms_dmswp_short(const ms_dmsw *p)
{
    return (p->style & MACHSYM_DEMANGLE_SIMPLIFIED) != 0;
}

static void ms_dmswp_char(ms_dmsw *p, char c)
{
    ms_dm_char(p->d, c);
}

/* A word from one of our tables. */
static ms_NOINLINE void ms_dmswp_word(ms_dmsw *p, const char *word)
{
    size_t len = 0;
    while (word[len] != '\0')
        len++;
    ms_dm_put(p->d, word, len);
}

static void ms_dmswp_number(ms_dmsw *p, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    ms_dm_put(p->d, digits + at, sizeof digits - at);
}

static void ms_dmswp_own(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    if (n->form == ms_DMSW_F_TEXT || n->form == ms_DMSW_F_KNOWN)
        ms_dmswp_text(p->d, n);
}

/* The text of the kind's row. */
static void ms_dmswp_row_text(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dm_put(p->d, row->text, row->len);
}

static void ms_dmswp_print(ms_dmsw *p, uint32_t ref)
{
    (void)ms_dmswp_print_as(p, ref, false);
}

static void ms_dmswp_kid(ms_dmsw *p, uint32_t ref, uint32_t i)
{
    ms_dmswp_print(p, ms_dmsw_kid(p, ref, i));
}

static void ms_dmswp_kids(ms_dmsw *p, uint32_t ref, const char *sep, size_t len)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    const uint32_t *v = ms_dmsw_kids(p, ms_dmsw_at(p, ref));
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0 && len > 0)
            ms_dm_put(p->d, sep, len);
        ms_dmswp_print(p, v[i]);
    }
}

static void ms_dmswp_commas(ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_kids(p, ref, ", ", 2);
}

static bool ms_dmswp_is_simple(const ms_dmsw *p, uint32_t type)
{
    unsigned kind = ms_dmsw_inner(p, type);
    if (kind == ms_DMSW_ProtocolList)
        return ms_dmsw_kid_count(p, ms_dmsw_kid(p, type, 0)) <= 1;
    if (kind == ms_DMSW_ProtocolListWithAnyObject)
        return ms_dmsw_kid_count(p, ms_dmsw_kid(p, ms_dmsw_kid(p, type, 0), 0)) == 0;
    return (ms_dmsw_rows[kind].traits & ms_DMSW_T_SIMPLE) != 0;
}

static void ms_dmswp_in_parens(ms_dmsw *p, uint32_t type)
{
    bool simple = ms_dmswp_is_simple(p, type);
    if (!simple)
        ms_dmswp_char(p, '(');
    ms_dmswp_print(p, type);
    if (!simple)
        ms_dmswp_char(p, ')');
}

/* Function types start with a parenthesis or an attribute: no space between the name and them. */
static bool ms_dmswp_needs_space(const ms_dmsw *p, uint32_t type)
{
    unsigned kind = ms_dmsw_inner(p, type);
    return kind != ms_DMSW_DependentGenericType && !(ms_dmsw_rows[kind].traits & ms_DMSW_T_FUNCTION);
}

static void ms_dmswp_label(ms_dmsw *p, uint32_t label)
{
    if (ms_dmsw_kind_of(p, label) == ms_DMSW_Identifier)
        ms_dmswp_print(p, label);
    else
        ms_dmswp_char(p, '_');
    ms_dmswp_char(p, ':');
}

/* Parameters in parentheses; the simplified style shows labels only. */
static void ms_dmswp_params(ms_dmsw *p, uint32_t labels, uint32_t args)
{
    bool types = !ms_dmswp_short(p);
    uint32_t params = ms_dmsw_kid(p, args, 0);
    if (ms_dmsw_inner(p, params) != ms_DMSW_Tuple) {
        ms_dmswp_char(p, '(');
        if (types)
            ms_dmswp_print(p, params);
        else
            ms_dmswp_lit(p, "_:");
        ms_dmswp_char(p, ')');
        return;
    }
    uint32_t count = ms_dmsw_kid_count(p, params);
    bool has_labels = ms_dmsw_kid_count(p, labels) > 0;
    ms_dmswp_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t param = ms_dmsw_kid(p, params, i);
        if (i > 0 && types)
            ms_dmswp_lit(p, ", ");
        if (has_labels) {
            ms_dmswp_label(p, ms_dmsw_kid(p, labels, i));
            if (types)
                ms_dmswp_char(p, ' ');
        } else if (!types) {
            uint32_t name = ms_dmsw_kid_of(p, param, ms_DMSW_TupleElementName);
            if (name)
                ms_dmswp_own(p, name);
            else
                ms_dmswp_char(p, '_');
            ms_dmswp_char(p, ':');
        }
        if (types)
            ms_dmswp_print(p, param);
    }
    ms_dmswp_char(p, ')');
}

static void ms_dmswp_diff(ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_word(p, "@differentiable");
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'f': ms_dmswp_word(p, "(_forward)"); break;
    case 'r': ms_dmswp_word(p, "(reverse)"); break;
    case 'l': ms_dmswp_word(p, "(_linear)"); break;
    default: break;
    }
}

/* What stands before the parameters of a function type. */
static void ms_dmswp_function_head(ms_dmsw *p, uint32_t ref)
{
    uint32_t clang = ms_dmsw_kid_of(p, ref, ms_DMSW_ClangType);
    ms_dmswp_row_text(p, ref);
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_CFunctionPointer:
    case ms_DMSW_ObjCBlock:
    case ms_DMSW_EscapingObjCBlock:
        if (clang) {
            ms_dmswp_word(p, ", mangledCType: \"");
            ms_dmswp_own(p, clang);
            ms_dmswp_char(p, '"');
        }
        ms_dmswp_word(p, ") ");
        break;
    default: break;
    }
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t i = 0; i + 2 < count; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        unsigned kind = ms_dmsw_kind_of(p, kid);
        if ((ms_dmsw_rows[kind].traits & ms_DMSW_T_ISOLATION) || kind == ms_DMSW_ConcurrentFunctionType ||
            kind == ms_DMSW_DifferentiableFunctionType)
            ms_dmswp_print(p, kid);
    }
}

static void ms_dmswp_function(ms_dmsw *p, uint32_t labels, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref), part;
    if (count < 2) {
        p->d->failed = true;
        return;
    }
    if (count > 2 || !(ms_dmsw_rows[ms_dmsw_inner(p, ref)].traits & ms_DMSW_T_FUNCTION))
        ms_dmswp_function_head(p, ref);
    ms_dmswp_params(p, labels, ms_dmsw_kid(p, ref, count - 2));
    if (ms_dmswp_short(p))
        return;
    if (count > 2) {
        if (ms_dmsw_kid_of(p, ref, ms_DMSW_AsyncAnnotation))
            ms_dmswp_lit(p, " async");
        if ((part = ms_dmsw_kid_of(p, ref, ms_DMSW_ThrowsAnnotation)) != 0 ||
            (part = ms_dmsw_kid_of(p, ref, ms_DMSW_TypedThrowsAnnotation)) != 0)
            ms_dmswp_print(p, part);
    }
    ms_dmswp_lit(p, " -> ");
    if (count > 2 && ms_dmsw_kid_of(p, ref, ms_DMSW_SendingResultFunctionType))
        ms_dmswp_lit(p, "sending ");
    ms_dmswp_kid(p, ref, count - 1);
}

enum ms_dmswp_type_style { ms_DMSWP_TY_NONE, ms_DMSWP_TY_COLON, ms_DMSWP_TY_FUNCTION };

typedef struct ms_dmswp_decl { /* How a declaration is to be printed. */
    unsigned type;             /* enum ms_dmswp_type_style */
    bool has_name;             /* the second child is its name */
    bool spaced;               /* extra contains a space, so the context is printed after the declaration */
    const char *extra;
    size_t extra_len;
    uint32_t macro; /* 0, or the macro's name, which belongs to extra */
    int64_t index;  /* printed after extra; -1: none */
    bool subscript; /* the name is the word subscript */
} ms_dmswp_decl;

/* The first child of each kind that a declaration may have anywhere. */
typedef struct ms_dmswp_parts {
    uint32_t type, labels, private_name;
} ms_dmswp_parts;

static ms_dmswp_parts ms_dmswp_find_parts(const ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_parts parts = {0, 0, 0};
    const uint32_t *v = ms_dmsw_kids(p, ms_dmsw_at(p, ref));
    for (uint32_t i = ms_dmsw_kid_count(p, ref); i-- > 0;) {
        unsigned kind = ms_dmsw_kind_of(p, v[i]);
        if (kind == ms_DMSW_Type)
            parts.type = v[i];
        else if (kind == ms_DMSW_LabelList)
            parts.labels = v[i];
        else if (kind == ms_DMSW_PrivateDeclName)
            parts.private_name = v[i];
    }
    return parts;
}

static void ms_dmswp_entity_type(ms_dmsw *p, uint32_t labels, uint32_t type, uint32_t args)
{
    if (!labels && !args) {
        ms_dmswp_print(p, type);
        return;
    }
    if (args) {
        ms_dmswp_char(p, '<');
        ms_dmswp_commas(p, args);
        ms_dmswp_char(p, '>');
    }
    if (ms_dmsw_inner(p, type) == ms_DMSW_DependentGenericType) {
        if (!args)
            ms_dmswp_kid(p, type, 0);
        type = ms_dmsw_kid(p, type, 1);
        if (ms_dmswp_needs_space(p, type))
            ms_dmswp_char(p, ' ');
    }
    ms_dmswp_function(p, labels, type);
}

static void ms_dmswp_extra(ms_dmsw *p, const ms_dmswp_decl *decl)
{
    ms_dm_put(p->d, decl->extra, decl->extra_len);
    if (decl->macro) {
        ms_dmswp_own(p, decl->macro);
        ms_dmswp_word(p, " expansion #");
    }
    if (decl->index >= 0)
        ms_dmswp_number(p, (uint64_t)decl->index);
}

/* Prints the name of a declaration. Returns false when that is empty, as a constructor's is. */
static bool ms_dmswp_name(ms_dmsw *p, uint32_t ref, const ms_dmswp_decl *decl, uint32_t private_name)
{
    size_t before = p->d->out_len;
    if (decl->subscript) {
        ms_dmswp_word(p, "subscript");
    } else {
        uint32_t name = ms_dmsw_kid(p, ref, 1);
        if (ms_dmsw_kind_of(p, name) != ms_DMSW_PrivateDeclName)
            ms_dmswp_print(p, name);
        if (private_name)
            ms_dmswp_print(p, private_name);
    }
    return p->d->out_len != before;
}

static void ms_dmswp_decl_type(ms_dmsw *p, const ms_dmswp_parts *parts, unsigned style, bool spaced,
                               uint32_t args)
{
    uint32_t type = parts->type;
    if (!type) {
        p->d->failed = true;
        return;
    }
    if (style == ms_DMSWP_TY_FUNCTION) {
        uint32_t t = type;
        while (ms_dmsw_inner(p, t) == ms_DMSW_DependentGenericType)
            t = ms_dmsw_kid(p, t, 1);
        unsigned kind = ms_dmsw_inner(p, t);
        if (!(ms_dmsw_rows[kind].traits & ms_DMSW_T_FUNCTION) && kind != ms_DMSW_CFunctionPointer &&
            kind != ms_DMSW_ThinFunctionType)
            style = ms_DMSWP_TY_COLON;
    }
    if (style == ms_DMSWP_TY_FUNCTION) {
        if (spaced || ms_dmswp_needs_space(p, type))
            ms_dmswp_char(p, ' ');
    } else if (ms_dmswp_short(p)) {
        return;
    } else {
        ms_dmswp_lit(p, " : ");
    }
    ms_dmswp_entity_type(p, parts->labels, type, args);
}

/* Prints a declaration with its context before it ("context.name") or after it ("name in context"). With
 * as_prefix nothing may follow the name, so a context that belongs after it is returned, for the caller
 * to print. */
static uint32_t ms_dmswp_print_decl(ms_dmsw *p, uint32_t ref, bool as_prefix, const ms_dmswp_decl *decl)
{
    uint32_t args = 0, left = 0, context;
    if (ms_dmsw_inner(p, ref) == ms_DMSW_BoundGenericFunction) {
        args = ms_dmsw_kid(p, ref, 1);
        ref = ms_dmsw_kid(p, ref, 0);
    }
    bool local = decl->has_name && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, 1)) == ms_DMSW_LocalDeclName;
    bool spaced = decl->spaced || local;
    if (as_prefix && (decl->type != ms_DMSWP_TY_NONE || spaced))
        return ref;
    context = ms_dmsw_kid(p, ref, 0);
    if (spaced) {
        left = context;
    } else {
        size_t before = p->d->out_len;
        left = ms_dmswp_print_as(p, context, true);
        if (p->d->out_len != before && !left)
            ms_dmswp_char(p, '.');
    }
    ms_dmswp_parts parts = ms_dmswp_find_parts(p, ref);
    bool extra = decl->extra_len > 0;
    if (decl->has_name || decl->subscript) {
        if (extra && spaced) {
            ms_dmswp_extra(p, decl);
            ms_dmswp_lit(p, " of ");
            extra = false;
        }
        if (ms_dmswp_name(p, ref, decl, parts.private_name) && extra)
            ms_dmswp_char(p, '.');
    }
    if (extra)
        ms_dmswp_extra(p, decl);
    if (decl->type != ms_DMSWP_TY_NONE)
        ms_dmswp_decl_type(p, &parts, decl->type, spaced, args);
    if (as_prefix || !left)
        return left;
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_DefaultArgumentInitializer:
    case ms_DMSW_Initializer:
    case ms_DMSW_PropertyWrapperBackingInitializer:
    case ms_DMSW_PropertyWrapperInitFromProjectedValue:
    case ms_DMSW_PropertyWrappedFieldInitAccessor: ms_dmswp_lit(p, " of "); break;
    default: ms_dmswp_lit(p, " in "); break;
    }
    ms_dmswp_print(p, left);
    return 0;
}

/* The number after an extra name. No program has as many closures as an int cannot count: Swift's own
 * printer leaves out what wraps there, here the name is broken. */
static int64_t ms_dmswp_extra_index(const ms_dmsw *p, uint32_t index, uint64_t add)
{
    uint64_t number = ms_dmsw_at(p, index)->u.index + add;
    p->d->failed = p->d->failed || number > INT32_MAX;
    return (int64_t)number;
}

/* A declaration whose row's text is an extra name after it, or its only name. */
static uint32_t ms_dmswp_part(ms_dmsw *p, uint32_t ref, bool as_prefix, unsigned type, int64_t index)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dmswp_decl decl = {type, false, false, row->text, row->len, 0, index, false};
    for (size_t i = 0; i < row->len; i++)
        decl.spaced = decl.spaced || row->text[i] == ' ';
    return ms_dmswp_print_decl(p, ref, as_prefix, &decl);
}

/* A named declaration. */
static uint32_t ms_dmswp_named(ms_dmsw *p, uint32_t ref, bool as_prefix, unsigned type)
{
    ms_dmswp_decl decl = {type, true, false, "", 0, 0, -1, false};
    return ms_dmswp_print_decl(p, ref, as_prefix, &decl);
}

/* A nominal type, or what else is printed as context, dot, name. Nearly all have an identifier as their name
 * and nothing else. */
static ms_NOINLINE uint32_t ms_dmswp_nominal(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    if (n->form != ms_DMSW_F_KIDS || n->count != 2 || ms_dmsw_kind_of(p, n->u.kid[1]) != ms_DMSW_Identifier)
        return ms_dmswp_named(p, ref, as_prefix, ms_DMSWP_TY_NONE);
    const ms_dmsw_node *context = ms_dmsw_at(p, n->u.kid[0]);
    size_t before = p->d->out_len;
    uint32_t left = 0;
    if (context->kind != ms_DMSW_Module)
        left = ms_dmswp_print_as(p, n->u.kid[0], true);
    else if (!ms_dmswp_short(p))
        ms_dmswp_text(p->d, context);
    if (p->d->out_len != before && !left)
        ms_dmswp_char(p, '.');
    ms_dmswp_text(p->d, ms_dmsw_at(p, n->u.kid[1]));
    if (as_prefix || !left)
        return left;
    ms_dmswp_lit(p, " in ");
    ms_dmswp_print(p, left);
    return 0;
}

/* An accessor of a variable or subscript. */
static uint32_t ms_dmswp_accessor(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    uint32_t storage = ms_dmsw_kid(p, ref, 0);
    unsigned kind = ms_dmsw_kind_of(p, storage);
    if (kind != ms_DMSW_Variable && kind != ms_DMSW_Subscript) {
        p->d->failed = true;
        return 0;
    }
    ms_dmswp_decl decl = {
        ms_DMSWP_TY_COLON,        kind == ms_DMSW_Variable, false, row->text, row->len, 0, -1,
        kind == ms_DMSW_Subscript};
    return ms_dmswp_print_decl(p, storage, as_prefix, &decl);
}

static uint32_t ms_dmswp_macro(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dmswp_decl decl = {ms_DMSWP_TY_NONE, true, true, row->text, row->len, 0, -1, false};
    unsigned kind = ms_dmsw_inner(p, ref);
    bool attached = kind != ms_DMSW_FreestandingMacroExpansion && kind != ms_DMSW_MacroExpansionUniqueName;
    uint32_t index = ms_dmsw_kid_of(p, ref, ms_DMSW_Index);
    if (attached)
        decl.macro = ms_dmsw_kid(p, ref, ms_dmsw_kid(p, ref, 2) == index ? 1 : 2);
    decl.index = ms_dmswp_extra_index(p, index, 1);
    return ms_dmswp_print_decl(p, ref, as_prefix, &decl);
}

/* The standard library's Optional, Array or Dictionary with that many arguments. */
static bool ms_dmswp_is_swift(const ms_dmsw *p, uint32_t type, const char *name, size_t len)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, type);
    if (n->form == ms_DMSW_F_KNOWN)
        return ms_dmsw_text_is(p, type, name, len);
    uint32_t context = ms_dmsw_kid(p, type, 0), id = ms_dmsw_kid(p, type, 1);
    return ms_dmsw_kind_of(p, context) == ms_DMSW_Module && ms_dmsw_text_is(p, context, "Swift", 5) &&
           ms_dmsw_kind_of(p, id) == ms_DMSW_Identifier && ms_dmsw_text_is(p, id, name, len);
}

/* Prints Array<A> as [A], Dictionary<A, B> as [A : B] and Optional<A> as A?. Returns false for other
 * types. */
static bool ms_dmswp_sugar(ms_dmsw *p, uint32_t ref)
{
    uint32_t type = ms_dmsw_kid(p, ref, 0), args = ms_dmsw_kid(p, ref, 1);
    uint32_t count = ms_dmsw_kid_count(p, args);
    if (count == 0 || count > 2 || (p->style & ms_DMSW_NO_SUGAR) || ms_dmsw_kid_count(p, ref) != 2)
        return false;
    if (ms_dmsw_inner(p, ref) == ms_DMSW_BoundGenericEnum) {
        bool forced = ms_dmswp_is_swift(p, type, "ImplicitlyUnwrappedOptional", 27);
        if (count != 1 || (!forced && !ms_dmswp_is_swift(p, type, "Optional", 8)))
            return false;
        ms_dmswp_in_parens(p, ms_dmsw_kid(p, args, 0));
        ms_dmswp_char(p, forced ? '!' : '?');
        return true;
    }
    if (!(count == 1 && ms_dmswp_is_swift(p, type, "Array", 5)) &&
        !(count == 2 && ms_dmswp_is_swift(p, type, "Dictionary", 10)))
        return false;
    ms_dmswp_char(p, '[');
    ms_dmswp_kids(p, args, " : ", 3);
    ms_dmswp_char(p, ']');
    return true;
}

static void ms_dmswp_bound(ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    if (kind == ms_DMSW_BoundGenericProtocol) {
        ms_dmswp_kids(p, ms_dmsw_kid(p, ref, 1), "", 0);
        ms_dmswp_word(p, " as ");
        ms_dmswp_kid(p, ref, 0);
        return;
    }
    if ((kind == ms_DMSW_BoundGenericEnum || kind == ms_DMSW_BoundGenericStructure) && ms_dmswp_sugar(p, ref))
        return;
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_char(p, '<');
    ms_dmswp_commas(p, ms_dmsw_kid(p, ref, 1));
    ms_dmswp_char(p, '>');
}

/* A, B, ... AB; deeper levels carry their number: A1 */
static void ms_dmswp_param_name(ms_dmsw *p, uint64_t depth, uint64_t index)
{
    do {
        ms_dmswp_char(p, (char)('A' + index % 26));
        index /= 26;
    } while (index);
    if (depth)
        ms_dmswp_number(p, depth);
}

/* Whether a generic parameter has a marker of that kind. Swift's own printer compares the marker's depth
 * with the parameter's index and its index with the depth. It shows only some markers therefore, and so
 * does this one. */
static bool ms_dmswp_has_marker(ms_dmsw *p, uint32_t ref, unsigned kind, uint64_t depth, uint64_t index)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    if (p->d->work < count) {
        p->d->failed = true;
        return false;
    }
    p->d->work -= count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmsw_kind_of(p, kid) != kind)
            continue;
        const ms_dmsw_node *type = ms_dmsw_at(p, ms_dmsw_kid(p, kid, 0));
        if (type->kind == ms_DMSW_DependentGenericParamType && type->u.index == (index << 32 | depth))
            return true;
    }
    return false;
}

/* Swift's own printer ends the list of a level's parameters here. */
enum { ms_DMSWP_MAX_PARAMS = 128 };

static void ms_dmswp_signature_level(ms_dmsw *p, uint32_t ref, uint64_t depth, uint64_t count, bool markers)
{
    for (uint64_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dmswp_word(p, ", ");
        if (i >= ms_DMSWP_MAX_PARAMS) {
            ms_dmswp_word(p, "...");
            break;
        }
        if (markers && ms_dmswp_has_marker(p, ref, ms_DMSW_DependentGenericParamPackMarker, depth, i))
            ms_dmswp_word(p, "each ");
        if (markers && ms_dmswp_has_marker(p, ref, ms_DMSW_DependentGenericParamValueMarker, depth, i))
            ms_dmswp_word(p, "let ");
        ms_dmswp_param_name(p, depth, i);
    }
}

static void ms_dmswp_signature(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref), i = 0, first = 0;
    while (first < count &&
           ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, first)) == ms_DMSW_DependentGenericParamCount)
        first++;
    uint32_t levels = first;
    for (; first < count; first++) {
        unsigned kind = ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, first));
        if (kind != ms_DMSW_DependentGenericParamPackMarker &&
            kind != ms_DMSW_DependentGenericParamValueMarker)
            break;
    }
    ms_dmswp_char(p, '<');
    for (; i < levels && !p->d->failed; i++) {
        if (i > 0)
            ms_dmswp_word(p, "><");
        ms_dmswp_signature_level(p, ref, i, ms_dmsw_at(p, ms_dmsw_kid(p, ref, i))->u.index, first > levels);
    }
    if (first < count && !ms_dmswp_short(p)) {
        ms_dmswp_word(p, " where ");
        for (i = first; i < count && !p->d->failed; i++) {
            if (i > first)
                ms_dmswp_word(p, ", ");
            ms_dmswp_kid(p, ref, i);
        }
    }
    ms_dmswp_char(p, '>');
}

static void ms_dmswp_layout(ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_word(p, ": ");
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'U': ms_dmswp_word(p, "_UnknownLayout"); break;
    case 'R': ms_dmswp_word(p, "_RefCountedObject"); break;
    case 'N': ms_dmswp_word(p, "_NativeRefCountedObject"); break;
    case 'C': ms_dmswp_word(p, "AnyObject"); break;
    case 'D': ms_dmswp_word(p, "_NativeClass"); break;
    case 'B':
    case 'S': break; /* Swift's own printer has no words for these two */
    case 'M':
    case 'm': ms_dmswp_word(p, "_TrivialAtMost"); break;
    default: ms_dmswp_word(p, "_Trivial"); break;
    }
    if (ms_dmsw_kid_count(p, ref) < 2)
        return;
    ms_dmswp_char(p, '(');
    ms_dmswp_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ref) > 2) {
        ms_dmswp_word(p, ", ");
        ms_dmswp_kid(p, ref, 2);
    }
    ms_dmswp_char(p, ')');
}

static void ms_dmswp_inverse(ms_dmsw *p, uint32_t ref)
{
    uint64_t bit = ms_dmsw_at(p, ms_dmsw_kid(p, ref, 1))->u.index;
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_row_text(p, ref);
    if (bit == 0) {
        ms_dmswp_word(p, "Copyable");
    } else if (bit == 1) {
        ms_dmswp_word(p, "Escapable");
    } else {
        ms_dmswp_word(p, "<bit ");
        ms_dmswp_number(p, bit);
        ms_dmswp_char(p, '>');
    }
}

/* ---- printing implementation function types ---- */

static void ms_dmswp_impl_part(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    unsigned word = n->mark & ms_DMSW_M_WORD;
    bool is_param = n->kind == ms_DMSW_ImplParameter || n->kind == ms_DMSW_ImplYield;
    ms_dmswp_row_text(p, ref);
    ms_dmswp_word(p, is_param ? ms_dmsw_param_words[word] : ms_dmsw_result_words[word]);
    ms_dmswp_char(p, ' ');
    unsigned others = n->mark & (ms_DMSW_M_SENDING | ms_DMSW_M_ISOLATED | ms_DMSW_M_IMPLICIT);
    if ((others & (others - 1)) == 0) { /* Swift's own printer shows none of several */
        if (n->mark & ms_DMSW_M_NO_DERIVATIVE)
            ms_dmswp_word(p, "@noDerivative ");
        if (others == ms_DMSW_M_SENDING)
            ms_dmswp_word(p, "sending ");
        else if (others == ms_DMSW_M_ISOLATED)
            ms_dmswp_word(p, "isolated ");
        else if (others == ms_DMSW_M_IMPLICIT)
            ms_dmswp_word(p, "sil_implicit_leading_param ");
    }
    ms_dmswp_kid(p, ref, 0);
}

/* The attributes before the parameters. */
static void ms_dmswp_impl_head(ms_dmsw *p, uint32_t ref, uint32_t pattern)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        switch (ms_dmsw_kind_of(p, kid)) {
        case ms_DMSW_ImplPatternSubstitutions:
        case ms_DMSW_ImplInvocationSubstitutions:
        case ms_DMSW_ImplSendingResult:
        case ms_DMSW_ImplParameter:
        case ms_DMSW_ImplResult:
        case ms_DMSW_ImplYield:
        case ms_DMSW_ImplErrorResult: break;
        default:
            ms_dmswp_print(p, kid);
            ms_dmswp_char(p, ' ');
            break;
        }
    }
    if (pattern) {
        ms_dmswp_word(p, "@substituted ");
        ms_dmswp_kid(p, pattern, 0);
        ms_dmswp_char(p, ' ');
    }
}

/* Prints the parameters in parentheses, or the results when want_params is false. */
static void ms_dmswp_impl_list(ms_dmsw *p, uint32_t ref, bool want_params)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    bool any = false;
    ms_dmswp_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        unsigned kind = ms_dmsw_kind_of(p, kid);
        bool is_param = kind == ms_DMSW_ImplParameter;
        if (is_param != want_params || (!is_param && kind != ms_DMSW_ImplResult &&
                                        kind != ms_DMSW_ImplYield && kind != ms_DMSW_ImplErrorResult))
            continue;
        if (any)
            ms_dmswp_word(p, ", ");
        any = true;
        ms_dmswp_print(p, kid);
    }
    ms_dmswp_char(p, ')');
}

static void ms_dmswp_impl_convention(ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_row_text(p, ref);
    ms_dmswp_own(p, ms_dmsw_kid(p, ref, 0));
    if (ms_dmsw_kid_count(p, ref) > 1) {
        ms_dmswp_word(p, ", mangledCType: \"");
        ms_dmswp_own(p, ms_dmsw_kid(p, ref, 1));
        ms_dmswp_char(p, '"');
    }
    ms_dmswp_char(p, ')');
}

/* The types that take the place of generic ones. Swift's own demangler prints nothing between them. */
static void ms_dmswp_substitutions(ms_dmsw *p, uint32_t types)
{
    ms_dmswp_lit(p, " for <");
    ms_dmswp_kids(p, types, "", 0);
    ms_dmswp_char(p, '>');
}

static void ms_dmswp_impl_function(ms_dmsw *p, uint32_t ref)
{
    uint32_t pattern = ms_dmsw_kid_of(p, ref, ms_DMSW_ImplPatternSubstitutions);
    uint32_t invocation = ms_dmsw_kid_of(p, ref, ms_DMSW_ImplInvocationSubstitutions);
    ms_dmswp_impl_head(p, ref, pattern);
    ms_dmswp_impl_list(p, ref, true);
    ms_dmswp_lit(p, " -> ");
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_ImplSendingResult))
        ms_dmswp_lit(p, "sending ");
    ms_dmswp_impl_list(p, ref, false);
    if (pattern)
        ms_dmswp_substitutions(p, ms_dmsw_kid(p, pattern, 1));
    if (invocation)
        ms_dmswp_substitutions(p, ms_dmsw_kid(p, invocation, 0));
}

/* ---- printing specializations ---- */

static void ms_dmswp_spec_options(ms_dmsw *p, uint64_t what)
{
    static const uint32_t bits[] = {ms_DMSW_P_EXISTENTIAL, ms_DMSW_P_DEAD, ms_DMSW_P_OWNED_TO_GUARANTEED,
                                    ms_DMSW_P_GUARANTEED_TO_OWNED, ms_DMSW_P_EXPLODED};
    static const char *const words[] = {"Existential To Protocol Constrained Generic", "Dead",
                                        "Owned To Guaranteed", "Guaranteed To Owned", "Exploded"};
    bool any = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(what & bits[i]))
            continue;
        if (any)
            ms_dmswp_word(p, " and ");
        any = true;
        ms_dmswp_word(p, words[i]);
    }
}

static void ms_dmswp_spec_kind(ms_dmsw *p, uint32_t ref)
{
    uint64_t what = ms_dmsw_at(p, ref)->u.index;
    switch (what) {
    case ms_DMSW_P_FUNCTION: ms_dmswp_word(p, "Constant Propagated Function"); break;
    case ms_DMSW_P_GLOBAL: ms_dmswp_word(p, "Constant Propagated Global"); break;
    case ms_DMSW_P_INTEGER: ms_dmswp_word(p, "Constant Propagated Integer"); break;
    case ms_DMSW_P_FLOAT: ms_dmswp_word(p, "Constant Propagated Float"); break;
    case ms_DMSW_P_STRING: ms_dmswp_word(p, "Constant Propagated String"); break;
    case ms_DMSW_P_KEYPATH: ms_dmswp_word(p, "Constant Propagated KeyPath"); break;
    case ms_DMSW_P_STRUCT: ms_dmswp_word(p, "Constant Propagated Struct"); break;
    case ms_DMSW_P_CLOSURE: ms_dmswp_word(p, "Closure Propagated"); break;
    case ms_DMSW_P_ESCAPING_CLOSURE: ms_dmswp_word(p, "Escaping Closure Propagated"); break;
    case ms_DMSW_P_SAME_CLOSURE: ms_dmswp_word(p, "Same As Argument "); break;
    case ms_DMSW_P_BOX_TO_VALUE: ms_dmswp_word(p, "Value Promoted from Box"); break;
    case ms_DMSW_P_BOX_TO_STACK: ms_dmswp_word(p, "Stack Promoted from Box"); break;
    case ms_DMSW_P_INOUT_TO_OUT: ms_dmswp_word(p, "InOut Converted to Out"); break;
    default: ms_dmswp_spec_options(p, what); break;
    }
}

/* A symbol that an argument was fixed to: in source form, or as it is when it is no Swift name. */
static void ms_dmswp_spec_symbol(ms_dmsw *p, uint32_t payload)
{
    if (!ms_dmswp_nested(p, payload))
        ms_dmswp_own(p, payload);
}

/* The closure's name and the types it closes over. Swift's own demangler prints nothing between the types. */
static void ms_dmswp_spec_closure(ms_dmsw *p, uint32_t param)
{
    uint32_t count = ms_dmsw_kid_count(p, param);
    ms_dmswp_spec_symbol(p, ms_dmsw_kid(p, param, 1));
    ms_dmswp_word(p, ", Argument Types : [");
    for (uint32_t i = 2; i < count && !p->d->failed; i++)
        ms_dmswp_kid(p, param, i);
}

static void ms_dmswp_spec_const(ms_dmsw *p, uint32_t param)
{
    uint32_t kind = ms_dmsw_kid(p, param, 0), count = ms_dmsw_kid_count(p, param);
    uint64_t what = ms_dmsw_at(p, kind)->u.index;
    if (what > ms_DMSW_P_SAME_CLOSURE) {
        ms_dmswp_print(p, kind);
        return;
    }
    if (count < 2) /* a result has no operands */
        return;
    ms_dmswp_char(p, '[');
    ms_dmswp_print(p, kind);
    if (what != ms_DMSW_P_SAME_CLOSURE)
        ms_dmswp_word(p, " : ");
    switch (what) {
    case ms_DMSW_P_FUNCTION:
    case ms_DMSW_P_GLOBAL: ms_dmswp_spec_symbol(p, ms_dmsw_kid(p, param, 1)); break;
    case ms_DMSW_P_STRING:
        ms_dmswp_kid(p, param, 1);
        ms_dmswp_char(p, '\'');
        ms_dmswp_kid(p, param, 2);
        ms_dmswp_char(p, '\'');
        break;
    case ms_DMSW_P_KEYPATH:
        ms_dmswp_kid(p, param, 1);
        ms_dmswp_char(p, '<');
        ms_dmswp_kid(p, param, 2);
        ms_dmswp_char(p, ',');
        ms_dmswp_kid(p, param, 3);
        ms_dmswp_char(p, '>');
        break;
    case ms_DMSW_P_CLOSURE:
    case ms_DMSW_P_ESCAPING_CLOSURE: ms_dmswp_spec_closure(p, param); break;
    default: ms_dmswp_kid(p, param, 1); break;
    }
    ms_dmswp_char(p, ']');
}

static void ms_dmswp_spec_param(ms_dmsw *p, uint32_t param)
{
    uint32_t count = ms_dmsw_kid_count(p, param);
    if (ms_dmsw_kind_of(p, ms_dmsw_kid(p, param, 0)) != ms_DMSW_FunctionSignatureSpecializationParam) {
        ms_dmswp_spec_const(p, param);
        return;
    }
    for (uint32_t i = 0; i < count && !p->d->failed; i++)
        ms_dmswp_spec_const(p, ms_dmsw_kid(p, param, i));
}

/* Prints one part between the angle brackets. Returns false when it is empty. */
static bool ms_dmswp_spec_part(ms_dmsw *p, uint32_t ref, uint32_t kid, uint32_t arg, bool first)
{
    unsigned kind = ms_dmsw_kind_of(p, kid);
    if (kind != ms_DMSW_IsSerialized && ms_dmsw_kid_count(p, kid) == 0)
        return false;
    if (!first)
        ms_dmswp_word(p, ", ");
    if (kind == ms_DMSW_IsSerialized) {
        ms_dmswp_print(p, kid);
        return true;
    }
    unsigned outer = ms_dmsw_inner(p, ref);
    if (outer == ms_DMSW_GenericPartialSpecialization ||
        outer == ms_DMSW_GenericPartialSpecializationNotReAbstracted)
        ms_dmswp_word(p, "Signature = ");
    if (kind == ms_DMSW_FunctionSignatureSpecializationParam) {
        ms_dmswp_word(p, "Arg[");
        ms_dmswp_number(p, arg);
        ms_dmswp_word(p, "] = ");
        ms_dmswp_spec_param(p, kid);
    } else if (kind == ms_DMSW_FunctionSignatureSpecializationReturn) {
        ms_dmswp_word(p, "Return = ");
        ms_dmswp_spec_param(p, kid);
    } else {
        ms_dmswp_print(p, kid);
    }
    return true;
}

static void ms_dmswp_specialization(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmswp_short(p)) {
        if (!p->specialized)
            ms_dmswp_word(p, "specialized ");
        p->specialized = true;
        return;
    }
    uint32_t count = ms_dmsw_kid_count(p, ref), arg = 0;
    bool first = true;
    if (ms_dmsw_at(p, ref)->mark && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, 0)) != ms_DMSW_IsSerialized) {
        ms_dmswp_word(p, "representation changed of ");
        return;
    }
    ms_dmswp_row_text(p, ref);
    ms_dmswp_word(p, " <");
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmswp_spec_part(p, ref, kid, arg, first))
            first = false;
        arg += ms_dmsw_kind_of(p, kid) != ms_DMSW_IsSerialized;
    }
    ms_dmswp_word(p, "> of ");
}

static void ms_dmswp_spec_generic(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmswp_kid(p, ref, 0);
    for (uint32_t i = 1; i < count && !p->d->failed; i++) {
        if (i == 1)
            ms_dmswp_word(p, " with ");
        else
            ms_dmswp_word(p, " and ");
        ms_dmswp_kid(p, ref, i);
    }
}

/* ---- printing thunks ---- */

static void ms_dmswp_reabstraction(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    uint32_t signature = ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature);
    bool self = ms_dmsw_inner(p, ref) == ms_DMSW_ReabstractionThunkHelperWithSelf;
    if (ms_dmswp_short(p) && !self) {
        ms_dmswp_word(p, "thunk for ");
        ms_dmswp_kid(p, ref, count - 1);
        return;
    }
    ms_dmswp_row_text(p, ref);
    if (signature) {
        ms_dmswp_print(p, signature);
        ms_dmswp_char(p, ' ');
    }
    ms_dmswp_word(p, "from ");
    ms_dmswp_kid(p, ref, count - 1);
    ms_dmswp_word(p, " to ");
    ms_dmswp_kid(p, ref, count - 2);
    if (self) {
        ms_dmswp_word(p, " self ");
        ms_dmswp_kid(p, ref, count - 3);
    }
}

static void ms_dmswp_completion(ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_row_text(p, ref);
    if (ms_dmsw_kid_count(p, ref) > 3)
        ms_dmswp_kid(p, ref, 3);
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_word(p, " with result type ");
    ms_dmswp_kid(p, ref, 1);
    switch (ms_dmsw_at(p, ms_dmsw_kid(p, ref, 2))->u.index) {
    case 0: break;
    case 1: ms_dmswp_word(p, " nonzero on error"); break;
    case 2: ms_dmswp_word(p, " zero on error"); break;
    default: ms_dmswp_word(p, " <invalid error flag>"); break;
    }
}

static void ms_dmswp_keypath_accessor(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmswp_row_text(p, ref);
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_word(p, " : ");
    for (uint32_t i = 1; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmsw_kind_of(p, kid) == ms_DMSW_IsSerialized)
            ms_dmswp_word(p, ", ");
        ms_dmswp_print(p, kid);
    }
}

static void ms_dmswp_keypath_helper(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    bool first = true;
    ms_dmswp_row_text(p, ref);
    ms_dmswp_print(p, ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature));
    ms_dmswp_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (!(kid & ms_DMSW_AS_TYPE))
            continue;
        if (!first)
            ms_dmswp_word(p, ", ");
        first = false;
        ms_dmswp_print(p, kid);
    }
    ms_dmswp_char(p, ')');
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_IsSerialized))
        ms_dmswp_word(p, ", serialized");
}

static void ms_dmswp_diff_kind(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'f': ms_dmswp_word(p, "forward-mode derivative"); break;
    case 'r': ms_dmswp_word(p, "reverse-mode derivative"); break;
    case 'd': ms_dmswp_word(p, "differential"); break;
    default: ms_dmswp_word(p, "pullback"); break;
    }
}

static void ms_dmswp_index_subset(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    bool first = true;
    ms_dmswp_char(p, '{');
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->u.text[i] != 'S')
            continue;
        if (!first)
            ms_dmswp_word(p, ", ");
        first = false;
        ms_dmswp_number(p, i);
    }
    ms_dmswp_char(p, '}');
}

/* The place of the kind letter's node among the children. */
static uint32_t ms_dmswp_diff_at(const ms_dmsw *p, uint32_t ref)
{
    uint32_t i = 0, count = ms_dmsw_kid_count(p, ref);
    while (i < count && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, i)) != ms_DMSW_AutoDiffFunctionKind)
        i++;
    return i;
}

static void ms_dmswp_respect(ms_dmsw *p, uint32_t ref, uint32_t at)
{
    ms_dmswp_word(p, " with respect to parameters ");
    ms_dmswp_kid(p, ref, at + 1);
    ms_dmswp_word(p, " and results ");
    ms_dmswp_kid(p, ref, at + 2);
}

static void ms_dmswp_autodiff(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmswp_diff_at(p, ref), end = at;
    uint32_t signature = end > 0 ? ms_dmsw_kid(p, ref, end - 1) : 0;
    if (ms_dmsw_kind_of(p, signature) == ms_DMSW_DependentGenericSignature)
        end--;
    else
        signature = 0;
    ms_dmswp_row_text(p, ref);
    ms_dmswp_kid(p, ref, at);
    ms_dmswp_word(p, " of ");
    for (uint32_t i = 0; i < end && !p->d->failed; i++)
        ms_dmswp_kid(p, ref, i);
    if (ms_dmswp_short(p))
        return;
    ms_dmswp_respect(p, ref, at);
    if (signature) {
        ms_dmswp_word(p, " with ");
        ms_dmswp_print(p, signature);
    }
}

static void ms_dmswp_diff_witness(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmswp_diff_at(p, ref);
    switch (ms_dmsw_at(p, ms_dmsw_kid(p, ref, at))->mark) {
    case 'f': ms_dmswp_word(p, "forward-mode"); break;
    case 'r': ms_dmswp_word(p, "reverse-mode"); break;
    case 'l': ms_dmswp_word(p, "linear"); break;
    default: ms_dmswp_word(p, "normal"); break;
    }
    ms_dmswp_word(p, " differentiability witness for ");
    for (uint32_t i = 0; i < at && !p->d->failed; i++)
        ms_dmswp_kid(p, ref, i);
    ms_dmswp_respect(p, ref, at);
    if (ms_dmsw_kid(p, ref, at + 3)) {
        ms_dmswp_word(p, " with ");
        ms_dmswp_kid(p, ref, at + 3);
    }
}

static void ms_dmswp_subset_thunk(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmswp_diff_at(p, ref), from = at > 1 ? at - 1 : at;
    ms_dmswp_row_text(p, ref);
    ms_dmswp_kid(p, ref, at);
    ms_dmswp_word(p, " from ");
    for (uint32_t i = 0; i < from && !p->d->failed; i++)
        ms_dmswp_kid(p, ref, i);
    if (ms_dmswp_short(p))
        return;
    ms_dmswp_respect(p, ref, at);
    ms_dmswp_word(p, " to parameters ");
    ms_dmswp_kid(p, ref, at + 3);
    if (from < at) {
        ms_dmswp_word(p, " of type ");
        ms_dmswp_kid(p, ref, from);
    }
}

static void ms_dmswp_self_reordering(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmswp_diff_at(p, ref);
    uint32_t signature = ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature);
    ms_dmswp_row_text(p, ref);
    ms_dmswp_word(p, "for ");
    if (ms_dmswp_short(p)) {
        ms_dmswp_kid(p, ref, 0);
        return;
    }
    ms_dmswp_kid(p, ref, at);
    if (signature) { /* Swift's own demangler writes no blank before it, and two after it */
        ms_dmswp_print(p, signature);
        ms_dmswp_char(p, ' ');
    }
    ms_dmswp_word(p, " from ");
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_word(p, " to ");
    ms_dmswp_kid(p, ref, 1);
}

/* ---- printing names and the rest ---- */

static void ms_dmswp_private(ms_dmsw *p, uint32_t ref)
{
    bool shown = !ms_dmswp_short(p), named = ms_dmsw_kid_count(p, ref) > 1;
    if (shown && named)
        ms_dmswp_char(p, '(');
    if (named)
        ms_dmswp_kid(p, ref, 1);
    if (!shown)
        return;
    if (named)
        ms_dmswp_word(p, " in ");
    else
        ms_dmswp_word(p, "(in ");
    ms_dmswp_own(p, ms_dmsw_kid(p, ref, 0));
    ms_dmswp_char(p, ')');
}

static void ms_dmswp_quoted(ms_dmsw *p, uint32_t ref)
{
    static const char hex[] = "0123456789ABCDEF";
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    ms_dmswp_word(p, " with unmangled suffix \"");
    for (uint32_t i = 0; i < n->count && !p->d->failed; i++) {
        char c = n->u.text[i];
        switch (c) {
        case '\\': ms_dmswp_word(p, "\\\\"); break;
        case '\t': ms_dmswp_word(p, "\\t"); break;
        case '\n': ms_dmswp_word(p, "\\n"); break;
        case '\r': ms_dmswp_word(p, "\\r"); break;
        case '"': ms_dmswp_word(p, "\\\""); break;
        case '\0': ms_dmswp_word(p, "\\0"); break;
        default:
            if ((unsigned char)c >= 0x20 && (unsigned char)c < 0x7f) {
                ms_dmswp_char(p, c);
            } else {
                ms_dmswp_word(p, "\\x");
                ms_dmswp_char(p, hex[(unsigned char)c >> 4]);
                ms_dmswp_char(p, hex[(unsigned char)c & 15]);
            }
            break;
        }
    }
    ms_dmswp_char(p, '"');
}

static void ms_dmswp_extension(ms_dmsw *p, uint32_t ref)
{
    if (!ms_dmswp_short(p)) {
        ms_dmswp_lit(p, "(extension in ");
        (void)ms_dmswp_print_as(p, ms_dmsw_kid(p, ref, 0), true);
        ms_dmswp_lit(p, "):");
    }
    ms_dmswp_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ref) > 2)
        ms_dmswp_kid(p, ref, 2);
}

static void ms_dmswp_anonymous(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmswp_short(p))
        return;
    ms_dmswp_kid(p, ref, 1);
    ms_dmswp_word(p, ".(unknown context at ");
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_char(p, ')');
    if (ms_dmsw_kid_count(p, ms_dmsw_kid(p, ref, 2)) > 0) {
        ms_dmswp_char(p, '<');
        ms_dmswp_kid(p, ref, 2);
        ms_dmswp_char(p, '>');
    }
}

static void ms_dmswp_tuple_element(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    if (n->form == ms_DMSW_F_KIDS && n->count == 1 && (n->u.kid[0] & ms_DMSW_AS_TYPE) != 0) {
        ms_dmswp_print(p, n->u.kid[0]); /* a type alone, as most elements are */
        return;
    }
    uint32_t name = ms_dmsw_kid_of(p, ref, ms_DMSW_TupleElementName);
    if (name) {
        ms_dmswp_own(p, name);
        ms_dmswp_lit(p, ": ");
    }
    ms_dmswp_print(p, ms_dmsw_kid_of(p, ref, ms_DMSW_Type));
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_VariadicMarker))
        ms_dmswp_lit(p, "...");
}

static void ms_dmswp_metatype(ms_dmsw *p, uint32_t ref)
{
    uint32_t last = ms_dmsw_kid_count(p, ref) - 1, type = ms_dmsw_kid(p, ref, last);
    if (last > 0) {
        ms_dmswp_kid(p, ref, 0);
        ms_dmswp_char(p, ' ');
    }
    if (ms_dmsw_inner(p, ref) == ms_DMSW_ExistentialMetatype) {
        ms_dmswp_print(p, type);
        ms_dmswp_word(p, ".Type");
        return;
    }
    ms_dmswp_in_parens(p, type);
    if (ms_dmsw_rows[ms_dmsw_inner(p, type)].traits & ms_DMSW_T_EXISTENTIAL)
        ms_dmswp_word(p, ".Protocol");
    else
        ms_dmswp_word(p, ".Type");
}

static void ms_dmswp_protocols(ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    uint32_t list = ms_dmsw_kid(p, kind == ms_DMSW_ProtocolList ? ref : ms_dmsw_kid(p, ref, 0), 0);
    uint32_t count = ms_dmsw_kid_count(p, list);
    if (kind == ms_DMSW_ProtocolListWithClass) {
        ms_dmswp_kid(p, ref, 1);
        ms_dmswp_word(p, " & ");
    }
    ms_dmswp_kids(p, list, " & ", 3);
    if (kind == ms_DMSW_ProtocolListWithAnyObject) {
        if (count > 0)
            ms_dmswp_word(p, " & ");
        ms_dmswp_word(p, "Swift.AnyObject");
    } else if (count == 0 && kind == ms_DMSW_ProtocolList) {
        ms_dmswp_word(p, "Any");
    }
}

static void ms_dmswp_sil_layout(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmswp_char(p, '{');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dmswp_char(p, ',');
        ms_dmswp_char(p, ' ');
        ms_dmswp_kid(p, ref, i);
    }
    ms_dmswp_word(p, " }");
}

static void ms_dmswp_sil_box(ms_dmsw *p, uint32_t ref)
{
    bool generic = ms_dmsw_kid_count(p, ref) > 2;
    if (generic) {
        ms_dmswp_kid(p, ref, 1);
        ms_dmswp_char(p, ' ');
    }
    ms_dmswp_kid(p, ref, 0);
    if (generic) {
        ms_dmswp_word(p, " <");
        ms_dmswp_commas(p, ms_dmsw_kid(p, ref, 2));
        ms_dmswp_char(p, '>');
    }
}

static void ms_dmswp_conformance(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_kid_count(p, ref) == 4) {
        ms_dmswp_lit(p, "property behavior storage of ");
        ms_dmswp_kid(p, ref, 2);
        ms_dmswp_lit(p, " in ");
        ms_dmswp_kid(p, ref, 0);
        ms_dmswp_lit(p, " : ");
        ms_dmswp_kid(p, ref, 1);
        return;
    }
    ms_dmswp_kid(p, ref, 0);
    if (ms_dmswp_short(p))
        return;
    ms_dmswp_lit(p, " : ");
    ms_dmswp_kid(p, ref, 1);
    ms_dmswp_lit(p, " in ");
    ms_dmswp_kid(p, ref, 2);
}

/* The row's text, a known index, two children with a word between them. */
static void ms_dmswp_dependent_conformance(ms_dmsw *p, uint32_t ref)
{
    uint32_t index = ms_dmsw_kid(p, ref, 2);
    bool opaque = ms_dmsw_inner(p, ref) == ms_DMSW_DependentProtocolConformanceOpaque;
    ms_dmswp_row_text(p, ref);
    if (index && ms_dmsw_kind_of(p, index) == ms_DMSW_Index) {
        ms_dmswp_char(p, '#');
        ms_dmswp_print(p, index);
        ms_dmswp_char(p, ' ');
    }
    ms_dmswp_kid(p, ref, 0);
    if (opaque)
        ms_dmswp_word(p, " of ");
    else
        ms_dmswp_word(p, " to ");
    ms_dmswp_kid(p, ref, 1);
}

static void ms_dmswp_concrete_conformance(ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_row_text(p, ref);
    ms_dmswp_kid(p, ref, 0);
    ms_dmswp_word(p, " to ");
    ms_dmswp_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ms_dmsw_kid(p, ref, 2)) > 0) {
        ms_dmswp_word(p, " with conditional requirements: ");
        ms_dmswp_kid(p, ref, 2);
    }
}

/* Prints the row's text and two or three children, in the order a, b, c, with texts between them. */
static void ms_dmswp_woven(ms_dmsw *p, uint32_t ref, uint32_t a, const char *ab, uint32_t b, const char *bc,
                           uint32_t c)
{
    ms_dmswp_row_text(p, ref);
    ms_dmswp_kid(p, ref, a);
    ms_dmswp_word(p, ab);
    ms_dmswp_kid(p, ref, b);
    if (!bc)
        return;
    ms_dmswp_word(p, bc);
    ms_dmswp_kid(p, ref, c);
}

static void ms_dmswp_value_witness(ms_dmsw *p, uint32_t ref)
{
    ms_dmswp_word(p, ms_dmsw_vw_words[ms_dmsw_at(p, ref)->mark]);
    if (ms_dmswp_short(p))
        ms_dmswp_word(p, " for ");
    else
        ms_dmswp_word(p, " value witness for ");
    ms_dmswp_kid(p, ref, 0);
}

static void ms_dmswp_once(ms_dmsw *p, uint32_t ref)
{
    uint32_t list = ms_dmsw_kid(p, ref, 1);
    bool several = ms_dmsw_kid_count(p, list) > 1;
    ms_dmswp_row_text(p, ref);
    if (several)
        ms_dmswp_char(p, '(');
    ms_dmswp_commas(p, list);
    if (several)
        ms_dmswp_char(p, ')');
}

static void ms_dmswp_partial_apply(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmswp_short(p))
        ms_dmswp_word(p, "partial apply");
    else
        ms_dmswp_row_text(p, ref);
    if (ms_dmsw_kid_count(p, ref) > 0) {
        ms_dmswp_word(p, " for ");
        ms_dmswp_kids(p, ref, "", 0);
    }
}

static void ms_dmswp_type_mangling(ms_dmsw *p, uint32_t ref)
{
    uint32_t first = ms_dmsw_kid(p, ref, 0);
    if (ms_dmsw_kind_of(p, first) != ms_DMSW_LabelList) {
        ms_dmswp_print(p, first);
        return;
    }
    uint32_t type = ms_dmsw_kid(p, ref, 1);
    if (ms_dmsw_params_of(p, type))
        ms_dmswp_entity_type(p, ms_dmsw_kid_of(p, ref, ms_DMSW_LabelList), type, 0);
    else
        ms_dmswp_print(p, type);
}

/* The text of the row and the children in brackets that close with `close`. */
static void ms_dmswp_list(ms_dmsw *p, uint32_t ref, const char *sep, size_t len, char close)
{
    ms_dmswp_row_text(p, ref);
    ms_dmswp_kids(p, ref, sep, len);
    ms_dmswp_char(p, close);
}

/* A function, a part of one, or a storage declaration. Returns the context that is left to print. */
static uint32_t ms_dmswp_callable(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    bool is_class = ms_dmsw_inner(p, ms_dmsw_kid(p, ref, 0)) == ms_DMSW_Class;
    unsigned kind = ms_dmsw_inner(p, ref);
    ms_dmswp_decl decl = {ms_DMSWP_TY_FUNCTION, false, false, "", 0, 0, -1, false};
    switch (kind) {
    case ms_DMSW_Variable: return ms_dmswp_named(p, ref, as_prefix, ms_DMSWP_TY_COLON);
    case ms_DMSW_Macro:
        return ms_dmswp_named(p, ref, as_prefix,
                              ms_dmsw_kid_count(p, ref) == 3 ? ms_DMSWP_TY_COLON : ms_DMSWP_TY_FUNCTION);
    case ms_DMSW_Subscript: decl.subscript = true; break;
    case ms_DMSW_Allocator:
        decl.extra = is_class ? "__allocating_init" : "init";
        decl.extra_len = is_class ? 17 : 4;
        break;
    case ms_DMSW_Constructor:
        decl.has_name = ms_dmsw_kid_count(p, ref) > 2;
        decl.extra = "init";
        decl.extra_len = 4;
        break;
    case ms_DMSW_Deallocator:
    case ms_DMSW_IsolatedDeallocator:
        decl.type = ms_DMSWP_TY_NONE;
        decl.extra = is_class ? ms_dmsw_rows[kind].text : "deinit";
        decl.extra_len = is_class ? ms_dmsw_rows[kind].len : 6;
        break;
    default: decl.has_name = true; break;
    }
    return ms_dmswp_print_decl(p, ref, as_prefix, &decl);
}

/* Types. */
static void ms_dmswp_type(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_BuiltinFixedArray:
    case ms_DMSW_BuiltinBorrow: ms_dmswp_list(p, ref, ", ", 2, '>'); break;
    case ms_DMSW_Tuple:
    case ms_DMSW_SugaredParen: ms_dmswp_list(p, ref, ", ", 2, ')'); break;
    case ms_DMSW_TupleElement: ms_dmswp_tuple_element(p, ref); break;
    case ms_DMSW_Pack:
    case ms_DMSW_SILPackDirect:
    case ms_DMSW_SILPackIndirect: ms_dmswp_list(p, ref, ", ", 2, '}'); break;
    case ms_DMSW_PackElement:
        ms_dmswp_row_text(p, ref);
        ms_dmswp_kid(p, ref, 1);
        ms_dmswp_word(p, " */ each ");
        ms_dmswp_kid(p, ref, 0);
        break;
    case ms_DMSW_SILBoxTypeWithLayout: ms_dmswp_sil_box(p, ref); break;
    case ms_DMSW_SILBoxLayout: ms_dmswp_sil_layout(p, ref); break;
    case ms_DMSW_Metatype:
    case ms_DMSW_ExistentialMetatype: ms_dmswp_metatype(p, ref); break;
    case ms_DMSW_ConstrainedExistential:
        ms_dmswp_woven(p, ref, 0, "<", 1, NULL, 0);
        ms_dmswp_char(p, '>');
        break;
    case ms_DMSW_ConstrainedExistentialRequirementList: ms_dmswp_commas(p, ref); break;
    case ms_DMSW_ExtendedExistentialTypeShape:
        ms_dmswp_row_text(p, ref);
        if (n->count > 1) {
            ms_dmswp_kid(p, ref, 0);
            ms_dmswp_char(p, ' ');
        }
        ms_dmswp_word(p, "any ");
        ms_dmswp_kid(p, ref, n->count - 1);
        break;
    case ms_DMSW_ProtocolList:
    case ms_DMSW_ProtocolListWithClass:
    case ms_DMSW_ProtocolListWithAnyObject: ms_dmswp_protocols(p, ref); break;
    case ms_DMSW_OpaqueType: ms_dmswp_woven(p, ref, 0, ".", 1, NULL, 0); break;
    case ms_DMSW_OpaqueReturnTypeOf:
        ms_dmswp_list(p, ref, "", 0, '>');
        ms_dmswp_char(p, '>');
        break;
    case ms_DMSW_NegativeInteger:
        ms_dmswp_char(p, '-');
        ms_dmswp_number(p, n->u.index);
        break;
    case ms_DMSW_SugaredOptional:
        ms_dmswp_in_parens(p, ms_dmsw_kid(p, ref, 0));
        ms_dmswp_char(p, '?');
        break;
    case ms_DMSW_SugaredArray: ms_dmswp_list(p, ref, "", 0, ']'); break;
    case ms_DMSW_SugaredDictionary: ms_dmswp_list(p, ref, " : ", 3, ']'); break;
    case ms_DMSW_SugaredInlineArray: ms_dmswp_list(p, ref, " of ", 4, ']'); break;
    case ms_DMSW_Integer: ms_dmswp_number(p, n->u.index); break;
    default: ms_dmswp_bound(p, ref); break; /* BoundGenericClass and its kin */
    }
}

/* Function types, and their parts. */
static void ms_dmswp_function_part(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_ArgumentTuple: ms_dmswp_params(p, 0, ref); break;
    case ms_DMSW_GlobalActorFunctionType: ms_dmswp_list(p, ref, "", 0, ' '); break;
    case ms_DMSW_DifferentiableFunctionType:
        ms_dmswp_diff(p, ref);
        ms_dmswp_char(p, ' ');
        break;
    case ms_DMSW_ImplDifferentiabilityKind: ms_dmswp_diff(p, ref); break;
    case ms_DMSW_FunctionType:
    case ms_DMSW_NoEscapeFunctionType:
    case ms_DMSW_UncurriedFunctionType:
    case ms_DMSW_AutoClosureType:
    case ms_DMSW_EscapingAutoClosureType:
    case ms_DMSW_ThinFunctionType:
    case ms_DMSW_CFunctionPointer:
    case ms_DMSW_ObjCBlock:
    case ms_DMSW_EscapingObjCBlock: ms_dmswp_function(p, 0, ref); break;
    case ms_DMSW_ImplFunctionType: ms_dmswp_impl_function(p, ref); break;
    case ms_DMSW_ImplFunctionConvention: ms_dmswp_impl_convention(p, ref); break;
    case ms_DMSW_TypedThrowsAnnotation: ms_dmswp_list(p, ref, "", 0, ')'); break;
    default: ms_dmswp_impl_part(p, ref); break; /* ImplParameter, ImplResult, ImplYield, ImplErrorResult */
    }
}

/* Generic parameters, signatures and their requirements. */
static void ms_dmswp_generic(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_AssociatedTypeRef:
    case ms_DMSW_DependentMemberType:
    case ms_DMSW_AssocTypePath: ms_dmswp_kids(p, ref, ".", 1); break;
    case ms_DMSW_DependentGenericParamType:
        ms_dmswp_param_name(p, n->u.index >> 32, n->u.index & 0xffffffffu);
        break;
    case ms_DMSW_DependentGenericType:
        ms_dmswp_kid(p, ref, 0);
        if (ms_dmswp_needs_space(p, ms_dmsw_kid(p, ref, 1)))
            ms_dmswp_char(p, ' ');
        ms_dmswp_kid(p, ref, 1);
        break;
    case ms_DMSW_DependentAssociatedTypeRef:
        if (n->count > 1) {
            ms_dmswp_kid(p, ref, 1);
            ms_dmswp_char(p, '.');
        }
        ms_dmswp_kid(p, ref, 0);
        break;
    case ms_DMSW_DependentGenericConformanceRequirement: ms_dmswp_kids(p, ref, ": ", 2); break;
    case ms_DMSW_DependentGenericSameTypeRequirement: ms_dmswp_kids(p, ref, " == ", 4); break;
    case ms_DMSW_DependentGenericSameShapeRequirement:
        ms_dmswp_kids(p, ref, ".shape == ", 10);
        ms_dmswp_word(p, ".shape");
        break;
    case ms_DMSW_DependentGenericInverseConformanceRequirement: ms_dmswp_inverse(p, ref); break;
    case ms_DMSW_DependentGenericLayoutRequirement: ms_dmswp_layout(p, ref); break;
    default: ms_dmswp_signature(p, ref); break; /* DependentGenericSignature, and the pseudogeneric one */
    }
}

/* Attributes of a whole function. The simplified style leaves out most. */
static void ms_dmswp_attribute(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_PartialApplyForwarder:
    case ms_DMSW_PartialApplyObjCForwarder: ms_dmswp_partial_apply(p, ref); break;
    case ms_DMSW_OutlinedVariable:
    case ms_DMSW_OutlinedReadOnlyObject:
        ms_dmswp_list(p, ref, "", 0, ' ');
        ms_dmswp_word(p, "of ");
        break;
    case ms_DMSW_OutlinedBridgedMethod:
        ms_dmswp_row_text(p, ref);
        ms_dmswp_own(p, ref);
        ms_dmswp_word(p, ") of ");
        break;
    case ms_DMSW_AsyncAwaitResumePartialFunction:
    case ms_DMSW_AsyncSuspendResumePartialFunction:
        if (p->style & ms_DMSW_NO_ASYNC)
            break;
        ms_dmswp_char(p, '(');
        ms_dmswp_kid(p, ref, 0);
        ms_dmswp_row_text(p, ref);
        break;
    default:
        if (!ms_dmswp_short(p))
            ms_dmswp_row_text(p, ref);
        break;
    }
}

/* Specializations, and their parts. */
static void ms_dmswp_special(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_GenericSpecializationParam: ms_dmswp_spec_generic(p, ref); break;
    case ms_DMSW_FunctionSignatureSpecializationParamKind: ms_dmswp_spec_kind(p, ref); break;
    case ms_DMSW_FunctionSignatureSpecializationParamPayload: ms_dmswp_own(p, ref); break;
    default: ms_dmswp_specialization(p, ref); break;
    }
}

/* Thunks. */
static void ms_dmswp_thunk(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_VTableThunk: ms_dmswp_woven(p, ref, 1, " dispatching to ", 0, NULL, 0); break;
    case ms_DMSW_ProtocolWitness: ms_dmswp_woven(p, ref, 1, " in conformance ", 0, NULL, 0); break;
    case ms_DMSW_ReabstractionThunk:
    case ms_DMSW_ReabstractionThunkHelper:
    case ms_DMSW_ReabstractionThunkHelperWithSelf: ms_dmswp_reabstraction(p, ref); break;
    case ms_DMSW_ReabstractionThunkHelperWithGlobalActor:
        ms_dmswp_woven(p, ref, 0, " with global actor constraint ", 1, NULL, 0);
        break;
    case ms_DMSW_ObjCAsyncCompletionHandlerImpl:
    case ms_DMSW_PredefinedObjCAsyncCompletionHandlerImpl: ms_dmswp_completion(p, ref); break;
    case ms_DMSW_KeyPathGetterThunkHelper:
    case ms_DMSW_KeyPathSetterThunkHelper:
    case ms_DMSW_KeyPathUnappliedMethodThunkHelper:
    case ms_DMSW_KeyPathAppliedMethodThunkHelper: ms_dmswp_keypath_accessor(p, ref); break;
    case ms_DMSW_KeyPathEqualsThunkHelper:
    case ms_DMSW_KeyPathHashThunkHelper: ms_dmswp_keypath_helper(p, ref); break;
    case ms_DMSW_AutoDiffFunction:
    case ms_DMSW_AutoDiffDerivativeVTableThunk: ms_dmswp_autodiff(p, ref); break;
    case ms_DMSW_AutoDiffSelfReorderingReabstractionThunk: ms_dmswp_self_reordering(p, ref); break;
    case ms_DMSW_AutoDiffSubsetParametersThunk: ms_dmswp_subset_thunk(p, ref); break;
    case ms_DMSW_AutoDiffFunctionKind: ms_dmswp_diff_kind(p, ref); break;
    case ms_DMSW_DifferentiabilityWitness: ms_dmswp_diff_witness(p, ref); break;
    default: ms_dmswp_index_subset(p, ref); break; /* IndexSubset */
    }
}

/* Metadata, witness tables, conformances. */
static void ms_dmswp_table(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_AssociatedConformanceDescriptor:
    case ms_DMSW_DefaultAssociatedConformanceAccessor: ms_dmswp_woven(p, ref, 0, ".", 1, ": ", 2); break;
    case ms_DMSW_BaseConformanceDescriptor: ms_dmswp_woven(p, ref, 0, ": ", 1, NULL, 0); break;
    case ms_DMSW_AssociatedTypeMetadataAccessor:
    case ms_DMSW_BaseWitnessTableAccessor: ms_dmswp_woven(p, ref, 1, " in ", 0, NULL, 0); break;
    case ms_DMSW_AssociatedTypeWitnessTableAccessor: ms_dmswp_woven(p, ref, 1, " : ", 2, " in ", 0); break;
    case ms_DMSW_ValueWitness: ms_dmswp_value_witness(p, ref); break;
    case ms_DMSW_FieldOffset:
        if (ms_dmsw_at(p, ref)->mark == 'd')
            ms_dmswp_word(p, "direct ");
        else
            ms_dmswp_word(p, "indirect ");
        ms_dmswp_row_text(p, ref);
        ms_dmswp_kid(p, ref, 0);
        break;
    case ms_DMSW_LazyProtocolWitnessTableAccessor:
    case ms_DMSW_LazyProtocolWitnessTableCacheVariable:
        ms_dmswp_woven(p, ref, 0, " and conformance ", 1, NULL, 0);
        break;
    case ms_DMSW_GlobalVariableOnceToken:
    case ms_DMSW_GlobalVariableOnceFunction: ms_dmswp_once(p, ref); break;
    case ms_DMSW_ProtocolConformance: ms_dmswp_conformance(p, ref); break;
    case ms_DMSW_ConcreteProtocolConformance: ms_dmswp_concrete_conformance(p, ref); break;
    case ms_DMSW_DependentProtocolConformanceRoot:
    case ms_DMSW_DependentProtocolConformanceInherited:
    case ms_DMSW_DependentProtocolConformanceAssociated:
    case ms_DMSW_DependentProtocolConformanceOpaque: ms_dmswp_dependent_conformance(p, ref); break;
    default: /* AnyProtocolConformanceList */
        if (ms_dmsw_kid_count(p, ref) == 0)
            break;
        ms_dmswp_char(p, '(');
        ms_dmswp_commas(p, ref);
        ms_dmswp_char(p, ')');
        break;
    }
}

/* Names and contexts. Returns the context that is left to print. */
static uint32_t ms_dmswp_name_part(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    bool is_short = ms_dmswp_short(p);
    switch (n->kind) {
    case ms_DMSW_Suffix:
        if (!is_short)
            ms_dmswp_quoted(p, ref);
        return 0;
    case ms_DMSW_Index: ms_dmswp_number(p, n->u.index); return 0;
    case ms_DMSW_InfixOperator:
    case ms_DMSW_PrefixOperator:
    case ms_DMSW_PostfixOperator:
        ms_dmswp_own(p, ref);
        ms_dmswp_row_text(p, ref);
        return 0;
    case ms_DMSW_LocalDeclName:
        ms_dmswp_kid(p, ref, 1);
        ms_dmswp_word(p, " #");
        ms_dmswp_number(p, ms_dmsw_at(p, ms_dmsw_kid(p, ref, 0))->u.index + 1);
        return 0;
    case ms_DMSW_PrivateDeclName: ms_dmswp_private(p, ref); return 0;
    case ms_DMSW_RelatedEntityDeclName:
        ms_dmswp_word(p, "related decl '");
        ms_dmswp_own(p, ms_dmsw_kid(p, ref, 0));
        ms_dmswp_word(p, "' for ");
        ms_dmswp_kid(p, ref, 1);
        return 0;
    case ms_DMSW_Extension: ms_dmswp_extension(p, ref); return 0;
    case ms_DMSW_AnonymousContext: ms_dmswp_anonymous(p, ref); return 0;
    case ms_DMSW_ExplicitClosure:
    case ms_DMSW_ImplicitClosure:
        return ms_dmswp_part(p, ref, as_prefix, is_short ? ms_DMSWP_TY_NONE : ms_DMSWP_TY_FUNCTION,
                             ms_dmswp_extra_index(p, ms_dmsw_kid(p, ref, 1), 1));
    case ms_DMSW_DefaultArgumentInitializer:
        return ms_dmswp_part(p, ref, as_prefix, ms_DMSWP_TY_NONE,
                             ms_dmswp_extra_index(p, ms_dmsw_kid(p, ref, 1), 0));
    case ms_DMSW_TypeMangling: ms_dmswp_type_mangling(p, ref); return 0;
    default: /* MacroExpansionLoc */
        ms_dmswp_word(p, "module ");
        ms_dmswp_own(p, ms_dmsw_kid(p, ref, 0));
        ms_dmswp_word(p, " file ");
        ms_dmswp_own(p, ms_dmsw_kid(p, ref, 1));
        ms_dmswp_word(p, " line ");
        ms_dmswp_kid(p, ref, 2);
        ms_dmswp_word(p, " column ");
        ms_dmswp_kid(p, ref, 3);
        return 0;
    }
}

/* Prints a node that has children or needs words around it. */
static ms_NOINLINE uint32_t ms_dmswp_tree(ms_dmsw *p, uint32_t ref, bool as_prefix, const ms_dmsw_row *row)
{
    switch (row->how) {
    case ms_DMSW_H_FIRST:
        ms_dm_put(p->d, row->text, row->len);
        ms_dmswp_kid(p, ref, 0);
        return 0;
    case ms_DMSW_H_ALL:
        if (row->len > 0)
            ms_dm_put(p->d, row->text, row->len);
        ms_dmswp_kids(p, ref, "", 0);
        return 0;
    case ms_DMSW_H_PART: return ms_dmswp_part(p, ref, as_prefix, ms_DMSWP_TY_NONE, -1);
    case ms_DMSW_H_ACCESS: return ms_dmswp_accessor(p, ref, as_prefix);
    case ms_DMSW_H_CALL: return ms_dmswp_callable(p, ref, as_prefix);
    case ms_DMSW_H_MACRO: return ms_dmswp_macro(p, ref, as_prefix);
    case ms_DMSW_H_NAME: return ms_dmswp_name_part(p, ref, as_prefix);
    case ms_DMSW_H_TYPE: ms_dmswp_type(p, ref); return 0;
    case ms_DMSW_H_FUNC: ms_dmswp_function_part(p, ref); return 0;
    case ms_DMSW_H_GENERIC: ms_dmswp_generic(p, ref); return 0;
    case ms_DMSW_H_ATTR: ms_dmswp_attribute(p, ref); return 0;
    case ms_DMSW_H_SPEC: ms_dmswp_special(p, ref); return 0;
    case ms_DMSW_H_THUNK: ms_dmswp_thunk(p, ref); return 0;
    default: ms_dmswp_table(p, ref); return 0;
    }
}

/* A standard type: its name, in the full style with its module before it. */
static void ms_dmswp_known(ms_dmsw *p, const ms_dmsw_node *n)
{
    uint32_t module = ms_dmswp_short(p) ? 0 : ms_DMSW_SWIFT_LEN;
    if (n->mark & ms_DMSW_WIDE)
        ms_dm_put_wide(p->d, n->u.text - module, n->count + module);
    else
        ms_dm_put(p->d, n->u.text - module, n->count + module);
}

/* Prints one node. Returns the context that the caller has to print after it, as ms_dmswp_print_decl
 * does. A node that is one text is printed here: half of all are. */
static uint32_t ms_dmswp_print_as(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    ms_dm *d = p->d;
    if (!ref)
        return 0;
    if (d->work == 0 || d->depth >= MACHSYM_DEMANGLE_DEPTH) {
        d->failed = true;
        return 0;
    }
    d->work--;
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    const ms_dmsw_row *row = ms_dmsw_rows + n->kind;
    if (row->how <= ms_DMSW_H_MODULE) {
        if (row->how == ms_DMSW_H_TEXT) {
            if (row->len > 0)
                ms_dm_put(d, row->text, row->len);
        } else if (n->form == ms_DMSW_F_TEXT && (row->how == ms_DMSW_H_OWN || !ms_dmswp_short(p))) {
            ms_dmswp_text(d, n);
        }
        return 0;
    }
    if (n->form == ms_DMSW_F_KNOWN) { /* a nominal type */
        ms_dmswp_known(p, n);
        return 0;
    }
    d->depth++;
    uint32_t left = row->how == ms_DMSW_H_NAMED ? ms_dmswp_nominal(p, ref, as_prefix)
                                                : ms_dmswp_tree(p, ref, as_prefix, row);
    d->depth--;
    return left;
}

/* ---- entrance ---- */

/* Demangles a symbol's name inside a name, without sugar. Returns false when it is no Swift name. */
static bool ms_dmswp_nested(ms_dmsw *p, uint32_t payload)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, payload);
    ms_dmsw inner;
    if (n->count < 3 || p->d->depth + MACHSYM_DEMANGLE_NESTED_DEPTH > MACHSYM_DEMANGLE_DEPTH)
        return false;
    size_t used = p->d->mem_used;
    ms_dmsws_begin(&inner, p->d, n->u.text, n->count, ms_DMSW_NO_SUGAR);
    inner.base = p->base;
    p->d->depth += MACHSYM_DEMANGLE_NESTED_DEPTH;
    uint32_t top = ms_dmsws_tree(&inner);
    if (top)
        ms_dmswp_print(&inner, top);
    p->d->depth -= MACHSYM_DEMANGLE_NESTED_DEPTH;
    p->d->mem_used = used;
    return top != 0;
}

static bool ms_dmswp_run(ms_dm *d)
{
    ms_dmsw p;
    if (d->len < 3 || (d->s[0] != '$' && d->s[0] != '_' && d->s[0] != '@'))
        return false;
    if (d->s[0] == '_' && d->s[1] != 'T' && d->s[1] != '$')
        return false;
    ms_dmsws_begin(&p, d, d->s, d->len, d->flags);
    if (d->len > UINT32_MAX / 16)
        return false;
    (void)ms_dmsw_make(&p, ms_DMSW_None); /* node 0, which stands for none */
    size_t before = d->out_len;
    uint32_t top = ms_dmsws_tree(&p);
    if (!top || ((d->flags & MACHSYM_DEMANGLE_IN_TEXT) != 0 && !ms_dmsws_is_symbol(&p, top)))
        return false;
    ms_dmswp_print(&p, top);
    return !d->failed && d->out_len > before;
}

#endif /* MACHSYM_NO_SWIFT */

#endif /* ms_ROOM_names_swift_printer */
