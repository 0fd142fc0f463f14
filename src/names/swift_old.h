#ifndef ms_ROOM_names_swift_old
#define ms_ROOM_names_swift_old
#include "../api/options.h"
#include "../api/api.h"
#include "core.h"
#include "swift_nodes.h"

/* ==== >>swift-old =========================================================================================
 * Job:    reads names of Swift 1 to 3, a prefix grammar, into the same tree.
 * Offers: ms_dmswo_read.
 * Never:  prints. */

#ifndef MACHSYM_NO_SWIFT
/* ---- Swift 1 to 3: OldMangling.rst, a prefix grammar ---- */

/* the grammar recurses */
static uint32_t ms_dmswo_type(ms_dmsw *p);
static uint32_t ms_dmswo_entity(ms_dmsw *p);
static uint32_t ms_dmswo_context(ms_dmsw *p);
static uint32_t ms_dmswo_global(ms_dmsw *p);

/* natural. A number that is too large wraps around, as in Swift's own reader. */
static bool ms_dmswo_natural(ms_dmsw *p, uint64_t *value)
{
    if (!ms_dmsw_digit(ms_dmsw_peek(p)))
        return false;
    for (*value = 0; ms_dmsw_digit(ms_dmsw_peek(p));)
        *value = *value * 10 + (uint64_t)(ms_dmsw_next(p) - '0');
    return true;
}

/* index */
static bool ms_dmswo_index(ms_dmsw *p, uint64_t *value)
{
    *value = 0;
    if (ms_dmsw_next_if(p, '_'))
        return true;
    if (!ms_dmswo_natural(p, value) || !ms_dmsw_next_if(p, '_'))
        return false;
    ++*value;
    return true;
}

static uint32_t ms_dmswo_index_node(ms_dmsw *p)
{
    uint64_t value;
    return ms_dmswo_index(p, &value) ? ms_dmsw_make_index(p, ms_DMSW_Index, value) : 0;
}

/* operator-char */
static bool ms_dmswo_operator_text(ms_dmsw *p, machsym_str *name)
{
    static const char signs[] = "& @/= >    <*!|+?%-~   ^ .";
    char *text = (char *)ms_dm_alloc(p->d, name->len);
    if (!text)
        return false;
    for (size_t i = 0; i < name->len; i++) {
        char c = name->ptr[i];
        if ((unsigned char)c < 0x80) {
            c = ms_dmsw_lower(c) ? signs[c - 'a'] : ' ';
            if (c == ' ')
                return false;
        }
        text[i] = c;
    }
    name->ptr = text;
    return true;
}

/* identifier */
static uint32_t ms_dmswo_identifier(ms_dmsw *p, unsigned kind)
{
    machsym_str name;
    bool puny = ms_dmsw_next_if(p, 'X'), is_operator = ms_dmsw_next_if(p, 'o');
    if (is_operator) {
        if (kind != ms_DMSW_Identifier)
            return 0;
        switch (ms_dmsw_next(p)) {
        case 'p': kind = ms_DMSW_PrefixOperator; break;
        case 'P': kind = ms_DMSW_PostfixOperator; break;
        case 'i': kind = ms_DMSW_InfixOperator; break;
        default: return 0;
        }
    }
    if (!ms_dmsw_literal(p, &name) || (puny && !ms_dmsw_puny(p, name.ptr, name.len, &name)))
        return 0;
    if (is_operator && !ms_dmswo_operator_text(p, &name))
        return 0;
    p->spells = true;
    if (name.len == 0)
        return 0;
    return puny || is_operator ? ms_dmsw_make_text(p, kind, name.ptr, name.len)
                               : ms_dmsw_make_part(p, kind, name, p->s + p->len);
}

/* decl-name */
static uint32_t ms_dmswo_decl_name(ms_dmsw *p)
{
    uint32_t first;
    if (ms_dmsw_next_if(p, 'L')) {
        first = ms_dmswo_index_node(p);
        return ms_dmsw_make2(p, ms_DMSW_LocalDeclName, first, ms_dmswo_identifier(p, ms_DMSW_Identifier));
    }
    if (ms_dmsw_next_if(p, 'P')) {
        first = ms_dmswo_identifier(p, ms_DMSW_Identifier);
        return ms_dmsw_make2(p, ms_DMSW_PrivateDeclName, first, ms_dmswo_identifier(p, ms_DMSW_Identifier));
    }
    return ms_dmswo_identifier(p, ms_DMSW_Identifier);
}

#define ms_dmswo_known(p, kind, name) (ms_dmsw_known(p, kind, name) & ~ms_DMSW_AS_TYPE)

/* substitution, known-module and known-nominal-type, after 'S' */
static uint32_t ms_dmswo_substitution(ms_dmsw *p)
{
    char c = ms_dmsw_peek(p);
    if (c == '_' || ms_dmsw_digit(c)) {
        uint64_t i;
        return ms_dmswo_index(p, &i) && i < p->subs.count ? p->subs.v[i] : 0;
    }
    c = ms_dmsw_next(p);
    switch (c) {
    case 'o': return ms_dmsw_module(p, ms_DMSW_MODULE_C);
    case 'C': return ms_dmsw_module(p, ms_DMSW_MODULE_SYNTHESIZED);
    case 'c': return ms_dmswo_known(p, Structure, "UnicodeScalar");
    case 'Q': return ms_dmswo_known(p, Enum, "ImplicitlyUnwrappedOptional");
    case 'a':
    case 'b':
    case 'd':
    case 'f':
    case 'i':
    case 'P':
    case 'p':
    case 'R':
    case 'r':
    case 'S':
    case 'u':
    case 'V':
    case 'v':
    case 'q': return ms_dmsw_standard(p, c) & ~ms_DMSW_AS_TYPE;
    default: return 0;
    }
}

/* module */
static uint32_t ms_dmswo_module(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_module(p, ms_DMSW_MODULE_SWIFT);
    if (ms_dmsw_next_if(p, 'S')) {
        uint32_t ref = ms_dmswo_substitution(p);
        return ms_dmsw_kind_of(p, ref) == ms_DMSW_Module ? ref : 0;
    }
    return ms_dmsw_remember(p, ms_dmswo_identifier(p, ms_DMSW_Module));
}

/* declaration-name of a type */
static uint32_t ms_dmswo_declaration(ms_dmsw *p, unsigned kind)
{
    uint32_t context = ms_dmswo_context(p);
    if (!context)
        return 0;
    return ms_dmsw_remember(p, ms_dmsw_make2(p, kind, context, ms_dmswo_decl_name(p)));
}

/* nominal-type */
static uint32_t ms_dmswo_nominal(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'S': return ms_dmswo_substitution(p);
    case 'V': return ms_dmswo_declaration(p, ms_DMSW_Structure);
    case 'O': return ms_dmswo_declaration(p, ms_DMSW_Enum);
    case 'C': return ms_dmswo_declaration(p, ms_DMSW_Class);
    case 'P': return ms_dmswo_declaration(p, ms_DMSW_Protocol);
    default: return 0;
    }
}

/* protocol in a context that is already read */
static uint32_t ms_dmswo_protocol_in(ms_dmsw *p, uint32_t context)
{
    if (!context)
        return 0;
    return ms_dmsw_type(
        ms_dmsw_remember(p, ms_dmsw_make2(p, ms_DMSW_Protocol, context, ms_dmswo_decl_name(p))));
}

/* protocol */
static uint32_t ms_dmswo_protocol(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'S')) {
        uint32_t ref = ms_dmswo_substitution(p);
        unsigned kind = ms_dmsw_kind_of(p, ref);
        if (kind == ms_DMSW_Protocol)
            return ms_dmsw_type(ref);
        return kind == ms_DMSW_Module ? ms_dmswo_protocol_in(p, ref) : 0;
    }
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmswo_protocol_in(p, ms_dmsw_module(p, ms_DMSW_MODULE_SWIFT));
    return ms_dmsw_type(ms_dmswo_declaration(p, ms_DMSW_Protocol));
}

/* Types up to '_', as a list. */
static uint32_t ms_dmswo_types(ms_dmsw *p)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (list && !ms_dmsw_next_if(p, '_'))
        list = ms_dmsw_add(p, list, ms_dmswo_type(p));
    return list;
}

/* The arguments of a generic type, the outermost level first. */
static uint32_t ms_dmswo_bind(ms_dmsw *p, uint32_t nominal)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, nominal);
    if (!(ms_dmsw_rows[n->kind].traits & ms_DMSW_T_NOMINAL) || ++p->d->depth > MACHSYM_DEMANGLE_DEPTH)
        return 0;
    if (n->form != ms_DMSW_F_KNOWN) {
        uint32_t parent = ms_dmsw_kid(p, nominal, 0), name = ms_dmsw_kid(p, nominal, 1);
        unsigned kind = ms_dmsw_kind_of(p, parent);
        if (kind != ms_DMSW_Module && kind != ms_DMSW_Function && kind != ms_DMSW_Extension)
            nominal = ms_dmsw_make2(p, n->kind, ms_dmswo_bind(p, parent), name);
    }
    p->d->depth--;
    uint32_t args = nominal ? ms_dmswo_types(p) : 0;
    if (!args)
        return 0;
    if (ms_dmsw_kid_count(p, args) == 0)
        return nominal;
    unsigned kind = ms_dmsw_inner(p, nominal);
    if (kind != ms_DMSW_Class && kind != ms_DMSW_Structure && kind != ms_DMSW_Enum)
        return 0;
    return ms_dmsw_make2(p, ms_dmsw_bound_kind(kind), ms_dmsw_type(nominal), args);
}

/* generic-param-index */
static uint32_t ms_dmswo_param(ms_dmsw *p)
{
    uint64_t depth = 0, index = 0;
    if (ms_dmsw_next_if(p, 'd')) {
        if (!ms_dmswo_index(p, &depth) || !ms_dmswo_index(p, &index))
            return 0;
        depth++;
    } else if (!ms_dmsw_next_if(p, 'x')) {
        if (!ms_dmswo_index(p, &index))
            return 0;
        index++;
    }
    if (depth > UINT32_MAX || index > UINT32_MAX)
        return 0;
    return ms_dmsw_type(ms_dmsw_param_type(p, depth, index));
}

/* A member of base: assoc-type-name */
static uint32_t ms_dmswo_member(ms_dmsw *p, uint32_t base)
{
    uint32_t name;
    if (!base)
        return 0;
    if (ms_dmsw_next_if(p, 'S')) {
        name = ms_dmswo_substitution(p);
        if (ms_dmsw_kind_of(p, name) != ms_DMSW_DependentAssociatedTypeRef)
            return 0;
    } else {
        uint32_t protocol = 0;
        if (ms_dmsw_next_if(p, 'P') && (protocol = ms_dmswo_protocol(p)) == 0)
            return 0;
        name =
            ms_dmsw_make1(p, ms_DMSW_DependentAssociatedTypeRef, ms_dmswo_identifier(p, ms_DMSW_Identifier));
        if (protocol)
            name = ms_dmsw_add(p, name, protocol);
        name = ms_dmsw_remember(p, name);
    }
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, base, name));
}

/* 'W': associated type at depth */
static uint32_t ms_dmswo_members(ms_dmsw *p)
{
    uint32_t base = ms_dmswo_param(p);
    while (base && !ms_dmsw_next_if(p, '_'))
        base = ms_dmswo_member(p, base);
    return base;
}

/* type-param */
static uint32_t ms_dmswo_type_param(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'w'))
        return ms_dmswo_member(p, ms_dmswo_param(p));
    return ms_dmsw_next_if(p, 'W') ? ms_dmswo_members(p) : ms_dmswo_param(p);
}

/* A layout requirement, after 'l' */
static uint32_t ms_dmswo_layout(ms_dmsw *p, uint32_t type)
{
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find("URNCDTEeMm", c) < 0)
        return 0;
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentGenericLayoutRequirement, type);
    if (!ref)
        return 0;
    ms_dmsw_at(p, ref)->mark = (uint8_t)c;
    bool two = c == 'E' || c == 'M';
    if (two || c == 'e' || c == 'm') {
        uint64_t size;
        if (!ms_dmswo_natural(p, &size))
            return 0;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_Index, size));
    }
    if (two) {
        uint64_t alignment;
        if (!ms_dmsw_next_if(p, '_') || !ms_dmswo_natural(p, &alignment))
            return 0;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_Index, alignment));
    }
    return ref;
}

/* requirement */
static uint32_t ms_dmswo_requirement(ms_dmsw *p)
{
    uint32_t type = ms_dmswo_type_param(p), bound;
    if (!type)
        return 0;
    if (ms_dmsw_next_if(p, 'z'))
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameTypeRequirement, type, ms_dmswo_type(p));
    if (ms_dmsw_next_if(p, 'l'))
        return ms_dmswo_layout(p, type);
    if (ms_dmsw_peek(p) == 'C') {
        bound = ms_dmswo_type(p);
    } else if (ms_dmsw_next_if(p, 'S')) { /* a class or protocol, or the module of a protocol */
        bound = ms_dmswo_substitution(p);
        unsigned kind = ms_dmsw_kind_of(p, bound);
        if (kind == ms_DMSW_Protocol || kind == ms_DMSW_Class)
            bound = ms_dmsw_type(bound);
        else
            bound = kind == ms_DMSW_Module ? ms_dmswo_protocol_in(p, bound) : 0;
    } else {
        bound = ms_dmswo_protocol(p);
    }
    return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type, bound);
}

/* generic-signature */
static uint32_t ms_dmswo_signature(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    bool any = false;
    while (ref && ms_dmsw_peek(p) != 'R' && ms_dmsw_peek(p) != 'r') {
        uint64_t count = 0;
        if (!ms_dmsw_next_if(p, 'z')) {
            if (!ms_dmswo_index(p, &count))
                return 0;
            count++;
        }
        any = true;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, count));
    }
    if (!any)
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, 1));
    if (ms_dmsw_next_if(p, 'r'))
        return ref;
    p->at++;
    while (ref && !ms_dmsw_next_if(p, 'r'))
        ref = ms_dmsw_add(p, ref, ms_dmswo_requirement(p));
    return ref;
}

/* 'T' 't': tuples */
static uint32_t ms_dmswo_tuple(ms_dmsw *p, bool variadic)
{
    uint32_t tuple = ms_dmsw_make(p, ms_DMSW_Tuple), element = 0;
    while (tuple && !ms_dmsw_next_if(p, '_')) {
        element = ms_dmsw_make(p, ms_DMSW_TupleElement);
        char c = ms_dmsw_peek(p);
        if (ms_dmsw_digit(c) || c == 'o')
            element = ms_dmsw_add(p, element, ms_dmswo_identifier(p, ms_DMSW_TupleElementName));
        element = ms_dmsw_add(p, element, ms_dmswo_type(p));
        tuple = ms_dmsw_add(p, tuple, element);
    }
    if (tuple && variadic && !ms_dmsw_add(p, element, ms_dmsw_make(p, ms_DMSW_VariadicMarker)))
        return 0;
    return tuple;
}

/* throws-annotation? type type */
static uint32_t ms_dmswo_function(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'z'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ThrowsAnnotation));
    ref = ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_ArgumentTuple, ms_dmswo_type(p)));
    return ref ? ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_ReturnType, ms_dmswo_type(p))) : 0;
}

/* impl-parameter, impl-result. Their letters become those of the later mangling. */
static uint32_t ms_dmswo_impl_part(ms_dmsw *p, bool is_param)
{
    static const char param_from[] = "dgeiloG", param_to[] = "ygeilxn";
    static const char result_from[] = "adDio", result_to[] = "aduro";
    unsigned kind = is_param ? ms_DMSW_ImplParameter : ms_DMSW_ImplResult;
    if (!is_param && ms_dmsw_next_if(p, 'z'))
        kind = ms_DMSW_ImplErrorResult;
    int place = ms_dmsw_find(is_param ? param_from : result_from, ms_dmsw_next(p));
    if (place < 0)
        return 0;
    int word = is_param ? ms_dmsw_find(ms_dmsw_param_letters, param_to[place])
                        : ms_dmsw_find(ms_dmsw_result_letters, result_to[place]);
    return ms_dmsw_add(p, ms_dmsw_marked(p, kind, (char)word), ms_dmswo_type(p));
}

/* impl-callee-convention and impl-function-attribute */
static uint32_t ms_dmswo_impl_head(ms_dmsw *p, uint32_t ref)
{
    uint32_t part;
    switch (ms_dmsw_next(p)) {
    case 't': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@convention(thin)"); break;
    case 'd': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_unowned"); break;
    case 'g': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_guaranteed"); break;
    case 'o': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_owned"); break;
    default: return 0;
    }
    ref = ms_dmsw_add(p, ref, part);
    if (!ms_dmsw_next_if(p, 'C'))
        return ref;
    switch (ms_dmsw_next(p)) {
    case 'b': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(block)"); break;
    case 'c': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(c)"); break;
    case 'm': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(method)"); break;
    case 'O': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(objc_method)"); break;
    case 'w': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(witness_method)"); break;
    default: return 0;
    }
    return ms_dmsw_add(p, ref, part);
}

/* impl-function-type */
static uint32_t ms_dmswo_impl_function(ms_dmsw *p)
{
    uint32_t ref = ms_dmswo_impl_head(p, ms_dmsw_make(p, ms_DMSW_ImplFunctionType));
    if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmswo_signature(p, ms_DMSW_DependentGenericSignature));
    else if (ms_dmsw_next_if(p, 'g'))
        ref = ms_dmsw_add(p, ref, ms_dmswo_signature(p, ms_DMSW_DependentPseudogenericSignature));
    if (!ref || !ms_dmsw_next_if(p, '_'))
        return 0;
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmswo_impl_part(p, true));
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmswo_impl_part(p, false));
    return ref;
}

/* 'XB': SIL boxes with a layout */
static uint32_t ms_dmswo_sil_box(ms_dmsw *p)
{
    uint32_t signature = 0, layout = ms_dmsw_make(p, ms_DMSW_SILBoxLayout);
    bool generic = ms_dmsw_next_if(p, 'G');
    if (generic && (signature = ms_dmswo_signature(p, ms_DMSW_DependentGenericSignature)) == 0)
        return 0;
    while (layout && !ms_dmsw_next_if(p, '_')) {
        char c = ms_dmsw_next(p);
        if (c != 'm' && c != 'i')
            return 0;
        unsigned kind = c == 'm' ? ms_DMSW_SILBoxMutableField : ms_DMSW_SILBoxImmutableField;
        layout = ms_dmsw_add(p, layout, ms_dmsw_make1(p, kind, ms_dmswo_type(p)));
    }
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_SILBoxTypeWithLayout, layout);
    if (generic && ref)
        ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, signature), ms_dmswo_types(p));
    return ref;
}

static uint32_t ms_dmswo_metatype(ms_dmsw *p, unsigned kind)
{
    uint32_t repr = ms_dmsw_metatype_repr(p);
    return repr ? ms_dmsw_make2(p, kind, repr, ms_dmswo_type(p)) : 0;
}

/* 'X': types of two letters */
static uint32_t ms_dmswo_special(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'b': return ms_dmsw_make1(p, ms_DMSW_SILBoxType, ms_dmswo_type(p));
    case 'B': return ms_dmswo_sil_box(p);
    case 'P': return ms_dmsw_next_if(p, 'M') ? ms_dmswo_metatype(p, ms_DMSW_ExistentialMetatype) : 0;
    case 'M': return ms_dmswo_metatype(p, ms_DMSW_Metatype);
    case 'o': return ms_dmsw_make1(p, ms_DMSW_Unowned, ms_dmswo_type(p));
    case 'u': return ms_dmsw_make1(p, ms_DMSW_Unmanaged, ms_dmswo_type(p));
    case 'w': return ms_dmsw_make1(p, ms_DMSW_Weak, ms_dmswo_type(p));
    case 'F': return ms_dmswo_impl_function(p);
    case 'f': return ms_dmswo_function(p, ms_DMSW_ThinFunctionType);
    default: return 0;
    }
}

/* 'B': builtin types */
static uint32_t ms_dmswo_builtin(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    int64_t size;
    if (c == 'f' || c == 'i') {
        size = ms_dmsw_natural(p);
        return ms_dmsw_next_if(p, '_') ? ms_dmsw_builtin_sized(p, c, size) : 0;
    }
    if (c != 'v')
        return ms_dmsw_find("bBOopwtDdcejI", c) >= 0 ? ms_dmsw_builtin_simple(p, c) : 0;
    int64_t count = ms_dmsw_natural(p);
    if (!ms_dmsw_next_if(p, 'B'))
        return 0;
    c = ms_dmsw_next(p);
    if (c == 'p')
        return ms_dmsw_builtin_vector(p, count, ms_dmsw_builtin_simple(p, c));
    if (c != 'f' && c != 'i')
        return 0;
    size = ms_dmsw_natural(p);
    uint32_t element = ms_dmsw_next_if(p, '_') ? ms_dmsw_builtin_sized(p, c, size) : 0;
    return element ? ms_dmsw_builtin_vector(p, count, element) : 0;
}

/* 'Q': archetypes. Plain ones mean nothing outside their context and are refused. */
static uint32_t ms_dmswo_archetype(ms_dmsw *p)
{
    uint32_t root;
    if (ms_dmsw_next_if(p, 'u'))
        return ms_dmsw_make(p, ms_DMSW_OpaqueReturnType);
    if (ms_dmsw_next_if(p, 'U'))
        return ms_dmsw_make1(p, ms_DMSW_OpaqueReturnType, ms_dmswo_index_node(p));
    if (++p->d->depth > MACHSYM_DEMANGLE_DEPTH)
        return 0;
    if (ms_dmsw_next_if(p, 'Q'))
        root = ms_dmswo_archetype(p);
    else if (ms_dmsw_next_if(p, 'S'))
        root = ms_dmswo_substitution(p);
    else
        root = ms_dmsw_next_if(p, 's') ? ms_dmsw_module(p, ms_DMSW_MODULE_SWIFT) : 0;
    p->d->depth--;
    if (!root)
        return 0;
    uint32_t name = ms_dmswo_identifier(p, ms_DMSW_Identifier);
    return ms_dmsw_remember(p, ms_dmsw_make2(p, ms_DMSW_AssociatedTypeRef, root, name));
}

/* 'P': protocol types */
static uint32_t ms_dmswo_protocols(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'M'))
        return ms_dmsw_make1(p, ms_DMSW_ExistentialMetatype, ms_dmswo_type(p));
    uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (list && !ms_dmsw_next_if(p, '_'))
        list = ms_dmsw_add(p, list, ms_dmswo_protocol(p));
    return ms_dmsw_make1(p, ms_DMSW_ProtocolList, list);
}

/* 'u': generic types */
static uint32_t ms_dmswo_generic(ms_dmsw *p)
{
    uint32_t signature = ms_dmswo_signature(p, ms_DMSW_DependentGenericSignature);
    return signature ? ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, ms_dmswo_type(p)) : 0;
}

/* A type without the "as a type" bit. */
static uint32_t ms_dmswo_bare(ms_dmsw *p)
{
    char c = ms_dmsw_next(p), n = ms_dmsw_peek(p);
    switch (c) {
    case 'B': return ms_dmswo_builtin(p);
    case 'a': return ms_dmswo_declaration(p, ms_DMSW_TypeAlias);
    case 'b': return ms_dmswo_function(p, ms_DMSW_ObjCBlock);
    case 'c': return ms_dmswo_function(p, ms_DMSW_CFunctionPointer);
    case 'D': return ms_dmsw_make1(p, ms_DMSW_DynamicSelf, ms_dmswo_type(p));
    case 'E': return ms_dmsw_next_is(p, "RR", 2) ? ms_dmsw_make(p, ms_DMSW_ErrorType) : 0;
    case 'F': return ms_dmswo_function(p, ms_DMSW_FunctionType);
    case 'f': return ms_dmswo_function(p, ms_DMSW_UncurriedFunctionType);
    case 'G': return ms_dmswo_bind(p, ms_dmswo_nominal(p));
    case 'X': return ms_dmswo_special(p);
    case 'K': return ms_dmswo_function(p, ms_DMSW_AutoClosureType);
    case 'M': return ms_dmsw_make1(p, ms_DMSW_Metatype, ms_dmswo_type(p));
    case 'P': return ms_dmswo_protocols(p);
    case 'Q': return ms_dmswo_archetype(p);
    case 'q':
        if (n == 'd' || n == '_' || ms_dmsw_digit(n))
            return ms_dmswo_param(p) & ~ms_DMSW_AS_TYPE;
        return ms_dmswo_member(p, ms_dmswo_type(p)) & ~ms_DMSW_AS_TYPE;
    case 'x': return ms_dmsw_param_type(p, 0, 0);
    case 'w': return ms_dmswo_member(p, ms_dmswo_param(p)) & ~ms_DMSW_AS_TYPE;
    case 'W': return ms_dmswo_members(p) & ~ms_DMSW_AS_TYPE;
    case 'R': return ms_dmsw_make1(p, ms_DMSW_InOut, ms_dmswo_type(p));
    case 'S': return ms_dmswo_substitution(p);
    case 'T': return ms_dmswo_tuple(p, false);
    case 't': return ms_dmswo_tuple(p, true);
    case 'u': return ms_dmswo_generic(p);
    case 'C': return ms_dmswo_declaration(p, ms_DMSW_Class);
    case 'V': return ms_dmswo_declaration(p, ms_DMSW_Structure);
    case 'O': return ms_dmswo_declaration(p, ms_DMSW_Enum);
    default: return 0;
    }
}

static uint32_t ms_dmswo_type(ms_dmsw *p)
{
    if (p->d->failed || ++p->d->depth > MACHSYM_DEMANGLE_DEPTH)
        return 0;
    uint32_t ref = ms_dmswo_bare(p);
    p->d->depth--;
    return ms_dmsw_type(ref);
}

/* context */
static uint32_t ms_dmswo_context(ms_dmsw *p)
{
    char c = ms_dmsw_peek(p);
    if (c == 'E' || c == 'e') {
        uint32_t signature = 0;
        p->at++;
        uint32_t module = ms_dmswo_module(p);
        if (module && c == 'e' && (signature = ms_dmswo_signature(p, ms_DMSW_DependentGenericSignature)) == 0)
            return 0;
        uint32_t ref = module ? ms_dmsw_make2(p, ms_DMSW_Extension, module, ms_dmswo_context(p)) : 0;
        return signature ? ms_dmsw_add(p, ref, signature) : ref;
    }
    if (c == 'S') {
        p->at++;
        return ms_dmswo_substitution(p);
    }
    if (c == 's') {
        p->at++;
        return ms_dmsw_module(p, ms_DMSW_MODULE_SWIFT);
    }
    if (c == 'G') {
        p->at++;
        return ms_dmswo_bind(p, ms_dmswo_nominal(p));
    }
    return ms_dmsw_find("FIivPZCVO", c) >= 0 ? ms_dmswo_entity(p) : ms_dmswo_module(p);
}

/* protocol-conformance */
static uint32_t ms_dmswo_conformance(ms_dmsw *p)
{
    uint32_t type = ms_dmswo_type(p), protocol = type ? ms_dmswo_protocol(p) : 0;
    return protocol ? ms_dmsw_make3(p, ms_DMSW_ProtocolConformance, type, protocol, ms_dmswo_context(p)) : 0;
}

/* The kind of accessor that a letter of entity-name stands for; None when it stands for none. */
static unsigned ms_dmswo_accessor(ms_dmsw *p)
{
    char kind = ms_dmsw_peek(p);
    switch (kind) {
    case 'g': p->at++; return ms_DMSW_Getter;
    case 'G': p->at++; return ms_DMSW_GlobalGetter;
    case 's': p->at++; return ms_DMSW_Setter;
    case 'm': p->at++; return ms_DMSW_MaterializeForSet;
    case 'w': p->at++; return ms_DMSW_WillSet;
    case 'W': p->at++; return ms_DMSW_DidSet;
    case 'r': p->at++; return ms_DMSW_ReadAccessor;
    case 'M': p->at++; return ms_DMSW_ModifyAccessor;
    case 'a':
    case 'l': break;
    default: return ms_DMSW_None;
    }
    p->at++;
    switch (ms_dmsw_next(p)) {
    case 'O': return kind == 'a' ? ms_DMSW_OwningMutableAddressor : ms_DMSW_OwningAddressor;
    case 'o': return kind == 'a' ? ms_DMSW_NativeOwningMutableAddressor : ms_DMSW_NativeOwningAddressor;
    case 'p': return kind == 'a' ? ms_DMSW_NativePinningMutableAddressor : ms_DMSW_NativePinningAddressor;
    case 'u': return kind == 'a' ? ms_DMSW_UnsafeMutableAddressor : ms_DMSW_UnsafeAddressor;
    default: return ms_DMSW_KIND_COUNT;
    }
}

/* Reads an accessor. A variable of the name "subscript" is a subscript. */
static uint32_t ms_dmswo_storage(ms_dmsw *p, unsigned kind, uint32_t context)
{
    uint32_t name = ms_dmswo_decl_name(p), type = name ? ms_dmswo_type(p) : 0, storage;
    uint32_t word = ms_dmsw_kind_of(p, name) == ms_DMSW_PrivateDeclName ? ms_dmsw_kid(p, name, 1) : name;
    if (!type)
        return 0;
    if (ms_dmsw_inner(p, word) == ms_DMSW_Identifier && ms_dmsw_text_is(p, word, "subscript", 9)) {
        storage = ms_dmsw_make2(p, ms_DMSW_Subscript, context, type);
        if (word != name) /* the file's discriminator stays */
            storage =
                ms_dmsw_add(p, storage, ms_dmsw_make1(p, ms_DMSW_PrivateDeclName, ms_dmsw_kid(p, name, 0)));
    } else {
        storage = ms_dmsw_make3(p, ms_DMSW_Variable, context, name, type);
    }
    return ms_dmsw_make1(p, kind, storage);
}

/* entity-name, but of no accessor. kind is what entity-kind said. */
static uint32_t ms_dmswo_named(ms_dmsw *p, unsigned kind, uint32_t context)
{
    uint32_t name;
    switch (ms_dmsw_peek(p)) {
    case 'D': p->at++; return ms_dmsw_make1(p, ms_DMSW_Deallocator, context);
    case 'Z': p->at++; return ms_dmsw_make1(p, ms_DMSW_IsolatedDeallocator, context);
    case 'd': p->at++; return ms_dmsw_make1(p, ms_DMSW_Destructor, context);
    case 'e': p->at++; return ms_dmsw_make1(p, ms_DMSW_IVarInitializer, context);
    case 'E': p->at++; return ms_dmsw_make1(p, ms_DMSW_IVarDestroyer, context);
    case 'C': p->at++; return ms_dmsw_make2(p, ms_DMSW_Allocator, context, ms_dmswo_type(p));
    case 'c': p->at++; return ms_dmsw_make2(p, ms_DMSW_Constructor, context, ms_dmswo_type(p));
    case 'U':
    case 'u':
        kind = ms_dmsw_next(p) == 'U' ? ms_DMSW_ExplicitClosure : ms_DMSW_ImplicitClosure;
        name = ms_dmswo_index_node(p);
        return name ? ms_dmsw_make3(p, kind, context, name, ms_dmswo_type(p)) : 0;
    case 'A':
        if (kind != ms_DMSW_Initializer)
            break;
        p->at++;
        return ms_dmsw_make2(p, ms_DMSW_DefaultArgumentInitializer, context, ms_dmswo_index_node(p));
    case 'i':
        if (kind != ms_DMSW_Initializer)
            break;
        p->at++;
        return ms_dmsw_make1(p, ms_DMSW_Initializer, context);
    default: break;
    }
    name = ms_dmswo_decl_name(p);
    uint32_t type = name ? ms_dmswo_type(p) : 0;
    if (!type)
        return 0;
    return kind == ms_DMSW_Subscript ? ms_dmsw_make2(p, kind, context, type)
                                     : ms_dmsw_make3(p, kind, context, name, type);
}

/* entity */
static uint32_t ms_dmswo_entity(ms_dmsw *p)
{
    bool is_static = ms_dmsw_next_if(p, 'Z');
    unsigned kind;
    uint32_t ref, context;
    if (p->d->failed || ++p->d->depth > MACHSYM_DEMANGLE_DEPTH)
        return 0;
    switch (ms_dmsw_peek(p)) {
    case 'F': kind = ms_DMSW_Function; break;
    case 'v': kind = ms_DMSW_Variable; break;
    case 'I': kind = ms_DMSW_Initializer; break;
    case 'i': kind = ms_DMSW_Subscript; break;
    default: kind = ms_DMSW_None; break;
    }
    if (kind == ms_DMSW_None) {
        ref = ms_dmswo_nominal(p);
    } else {
        p->at++;
        context = ms_dmswo_context(p);
        if (!context)
            return 0;
        unsigned accessor = ms_dmswo_accessor(p);
        if (accessor == ms_DMSW_KIND_COUNT)
            return 0;
        ref = accessor != ms_DMSW_None ? ms_dmswo_storage(p, accessor, context)
                                       : ms_dmswo_named(p, kind, context);
    }
    p->d->depth--;
    return is_static ? ms_dmsw_make1(p, ms_DMSW_Static, ref) : ref;
}

/* 'M': metadata */
static uint32_t ms_dmswo_metadata(ms_dmsw *p)
{
    unsigned kind = ms_DMSW_TypeMetadata;
    switch (ms_dmsw_peek(p)) {
    case 'P': kind = ms_DMSW_GenericTypeMetadataPattern; break;
    case 'a': kind = ms_DMSW_TypeMetadataAccessFunction; break;
    case 'L': kind = ms_DMSW_TypeMetadataLazyCache; break;
    case 'm': kind = ms_DMSW_Metaclass; break;
    case 'n': kind = ms_DMSW_NominalTypeDescriptor; break;
    case 'f': kind = ms_DMSW_FullTypeMetadata; break;
    case 'p': p->at++; return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptor, ms_dmswo_protocol(p));
    default: break;
    }
    p->at += kind != ms_DMSW_TypeMetadata;
    return ms_dmsw_make1(p, kind, ms_dmswo_type(p));
}

/* 'W': witness tables */
static uint32_t ms_dmswo_witness(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'V': return ms_dmsw_make1(p, ms_DMSW_ValueWitnessTable, ms_dmswo_type(p));
    case 'v':
        c = ms_dmsw_next(p);
        if (c != 'd' && c != 'i')
            return 0;
        return ms_dmsw_add(p, ms_dmsw_marked(p, ms_DMSW_FieldOffset, c), ms_dmswo_entity(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTable, ms_dmswo_conformance(p));
    case 'G': return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTable, ms_dmswo_conformance(p));
    case 'I':
        return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTableInstantiationFunction,
                             ms_dmswo_conformance(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTableAccessor, ms_dmswo_conformance(p));
    case 'l':
    case 'L':
        a = ms_dmswo_type(p);
        return a ? ms_dmsw_make2(p,
                                 c == 'l' ? ms_DMSW_LazyProtocolWitnessTableAccessor
                                          : ms_DMSW_LazyProtocolWitnessTableCacheVariable,
                                 a, ms_dmswo_conformance(p))
                 : 0;
    case 't':
        a = ms_dmswo_conformance(p);
        return a ? ms_dmsw_make2(p, ms_DMSW_AssociatedTypeMetadataAccessor, a, ms_dmswo_decl_name(p)) : 0;
    case 'T':
        a = ms_dmswo_conformance(p);
        b = a ? ms_dmswo_decl_name(p) : 0;
        return b ? ms_dmsw_make3(p, ms_DMSW_AssociatedTypeWitnessTableAccessor, a, b, ms_dmswo_protocol(p))
                 : 0;
    default: return 0;
    }
}

/* reabstract-signature: the type reached, the type left */
static uint32_t ms_dmswo_reabstraction(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmswo_signature(p, ms_DMSW_DependentGenericSignature));
    if (ref)
        ref = ms_dmsw_add(p, ref, ms_dmswo_type(p));
    return ref ? ms_dmsw_add(p, ref, ms_dmswo_type(p)) : 0;
}

/* A partial application forwarder, after 'PA' */
static uint32_t ms_dmswo_forwarder(ms_dmsw *p)
{
    unsigned kind =
        ms_dmsw_next_if(p, 'o') ? ms_DMSW_PartialApplyObjCForwarder : ms_DMSW_PartialApplyForwarder;
    uint32_t ref = ms_dmsw_make(p, kind);
    return ms_dmsw_next_is(p, "__T", 3) ? ms_dmsw_add(p, ref, ms_dmswo_global(p)) : ref;
}

/* global */
static uint32_t ms_dmswo_global(ms_dmsw *p)
{
    uint32_t ref;
    if (p->d->failed || ++p->d->depth > MACHSYM_DEMANGLE_DEPTH)
        return 0;
    if (ms_dmsw_next_if(p, 'M')) {
        ref = ms_dmswo_metadata(p);
    } else if (ms_dmsw_next_is(p, "PA", 2)) {
        ref = ms_dmswo_forwarder(p);
    } else if (ms_dmsw_next_if(p, 't')) {
        ref = ms_dmsw_make1(p, ms_DMSW_TypeMangling, ms_dmswo_type(p));
    } else if (ms_dmsw_next_if(p, 'w')) {
        ref = ms_dmsw_value_witness(p);
        ref = ref ? ms_dmsw_add(p, ref, ms_dmswo_type(p)) : 0;
    } else if (ms_dmsw_next_if(p, 'W')) {
        ref = ms_dmswo_witness(p);
    } else if (ms_dmsw_next_is(p, "TR", 2)) {
        ref = ms_dmswo_reabstraction(p, ms_DMSW_ReabstractionThunkHelper);
    } else if (ms_dmsw_next_is(p, "Tr", 2)) {
        ref = ms_dmswo_reabstraction(p, ms_DMSW_ReabstractionThunk);
    } else if (ms_dmsw_next_is(p, "TW", 2)) {
        uint32_t conformance = ms_dmswo_conformance(p);
        ref = conformance ? ms_dmsw_make2(p, ms_DMSW_ProtocolWitness, conformance, ms_dmswo_entity(p)) : 0;
    } else {
        ref = ms_dmswo_entity(p);
    }
    p->d->depth--;
    return ref;
}

/* The parameters of a generic specialization */
static uint32_t ms_dmswo_generic_spec(ms_dmsw *p, uint32_t ref)
{
    while (ref && !ms_dmsw_next_if(p, '_')) {
        uint32_t param = ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmswo_type(p));
        while (param && !ms_dmsw_next_if(p, '_'))
            param = ms_dmsw_add(p, param, ms_dmswo_conformance(p));
        ref = ms_dmsw_add(p, ref, param);
    }
    return ref;
}

/* Reads the name of a symbol, which the printer demangles. */
static uint32_t ms_dmswo_spec_name(ms_dmsw *p, uint32_t param)
{
    return ms_dmsw_add(p, param, ms_dmswo_identifier(p, ms_DMSW_FunctionSignatureSpecializationParamPayload));
}

/* The text up to '_' */
static uint32_t ms_dmswo_spec_text(ms_dmsw *p, uint32_t param)
{
    size_t start = p->at;
    while (p->at < p->len && p->s[p->at] != '_')
        p->at++;
    return p->at > start ? ms_dmsw_spec_text(p, param, p->s + start, p->at - start) : 0;
}

/* funcsigspecializationconstantpropinfo */
static uint32_t ms_dmswo_spec_const(ms_dmsw *p, uint32_t param)
{
    if (ms_dmsw_next_is(p, "fr", 2)) {
        param = ms_dmswo_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FUNCTION));
    } else if (ms_dmsw_next_if(p, 'g')) {
        param = ms_dmswo_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_GLOBAL));
    } else if (ms_dmsw_next_if(p, 'i')) {
        param = ms_dmswo_spec_text(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_INTEGER));
    } else if (ms_dmsw_next_is(p, "fl", 2)) {
        param = ms_dmswo_spec_text(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FLOAT));
    } else if (ms_dmsw_next_is(p, "se", 2)) {
        param = ms_dmsw_spec_kind(p, param, ms_DMSW_P_STRING);
        char encoding = ms_dmsw_next(p);
        if ((encoding != '0' && encoding != '1') || !ms_dmsw_next_if(p, 'v'))
            return 0;
        param =
            encoding == '0' ? ms_dmsw_spec_text(p, param, "u8", 2) : ms_dmsw_spec_text(p, param, "u16", 3);
        param = ms_dmsw_add(p, param,
                            ms_dmswo_identifier(p, ms_DMSW_FunctionSignatureSpecializationParamPayload));
    } else {
        return 0;
    }
    return ms_dmsw_next_if(p, '_') ? param : 0;
}

/* A specialized closure: its name and the types it closes over */
static uint32_t ms_dmswo_spec_closure(ms_dmsw *p, uint32_t param)
{
    param = ms_dmswo_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_CLOSURE));
    while (param && !ms_dmsw_next_if(p, '_'))
        param = ms_dmsw_add(p, param, ms_dmswo_type(p));
    return param;
}

/* funcsigspecializationarginfo */
static uint32_t ms_dmswo_spec_param(ms_dmsw *p)
{
    uint32_t param = ms_dmsw_make(p, ms_DMSW_FunctionSignatureSpecializationParam);
    if (ms_dmsw_next_is(p, "n_", 2))
        return param;
    if (ms_dmsw_next_is(p, "cp", 2))
        return ms_dmswo_spec_const(p, param);
    if (ms_dmsw_next_is(p, "cl", 2))
        return ms_dmswo_spec_closure(p, param);
    if (ms_dmsw_next_is(p, "i_", 2))
        return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_VALUE);
    if (ms_dmsw_next_is(p, "k_", 2))
        return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_STACK);
    if (ms_dmsw_next_is(p, "r_", 2))
        return ms_dmsw_spec_kind(p, param, ms_DMSW_P_INOUT_TO_OUT);
    unsigned what = 0;
    if (ms_dmsw_next_if(p, 'd'))
        what |= ms_DMSW_P_DEAD;
    if (ms_dmsw_next_if(p, 'g'))
        what |= ms_DMSW_P_OWNED_TO_GUARANTEED;
    if (ms_dmsw_next_if(p, 'o'))
        what |= ms_DMSW_P_GUARANTEED_TO_OWNED;
    if (ms_dmsw_next_if(p, 's'))
        what |= ms_DMSW_P_EXPLODED;
    return what && ms_dmsw_next_if(p, '_') ? ms_dmsw_spec_kind(p, param, what) : 0;
}

/* specializationinfo */
static uint32_t ms_dmswo_specialization(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'g': kind = ms_DMSW_GenericSpecialization; break;
    case 'r': kind = ms_DMSW_GenericSpecializationNotReAbstracted; break;
    case 'f': kind = ms_DMSW_FunctionSignatureSpecialization; break;
    default: return 0;
    }
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'q'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized));
    if (!ms_dmsw_digit(ms_dmsw_next(p)))
        return 0;
    if (kind != ms_DMSW_FunctionSignatureSpecialization)
        return ms_dmswo_generic_spec(p, ref);
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmswo_spec_param(p));
    return ref;
}

/* The whole name, after "_T" */
static uint32_t ms_dmswo_read(ms_dmsw *p)
{
    uint32_t top = ms_dmsw_make(p, ms_DMSW_Global), part = 0;
    if (ms_dmsw_next_is(p, "TS", 2)) {
        do {
            top = ms_dmsw_add(p, top, ms_dmswo_specialization(p));
            p->subs.count = 0; /* each part has substitutions of its own */
        } while (top && ms_dmsw_next_is(p, "_TTS", 4));
        if (!top || !ms_dmsw_next_is(p, "_T", 2))
            return 0;
    } else if (ms_dmsw_next_is(p, "To", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_ObjCAttribute);
    } else if (ms_dmsw_next_is(p, "TO", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_NonObjCAttribute);
    } else if (ms_dmsw_next_is(p, "TD", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_DynamicAttribute);
    } else if (ms_dmsw_next_is(p, "Td", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_DirectMethodReferenceAttribute);
    } else if (ms_dmsw_next_is(p, "TV", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_VTableAttribute);
    }
    if (part)
        top = ms_dmsw_add(p, top, part);
    top = top ? ms_dmsw_add(p, top, ms_dmswo_global(p)) : 0;
    if (top && p->at < p->len)
        top = ms_dmsw_add(p, top, ms_dmsw_make_text(p, ms_DMSW_Suffix, p->s + p->at, p->len - p->at));
    return top;
}

#endif /* MACHSYM_NO_SWIFT */

#endif /* ms_ROOM_names_swift_old */
