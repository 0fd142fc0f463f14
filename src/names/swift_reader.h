#ifndef ms_ROOM_names_swift_reader
#define ms_ROOM_names_swift_reader
#include "../api/options.h"
#include "../api/api.h"
#include "core.h"
#include "swift_nodes.h"

/* ==== >>swift-reader ======================================================================================
 * Job:    reads the types of names of Swift 4 and later, with the declarations that types lie in.
 * Offers: ms_dmswr_identifier, ms_dmswr_push, ms_dmswr_pop, ms_dmswr_standard, ms_dmswr_special_type,
 *         ms_dmswr_signature, ms_dmswr_function.
 * Never:  prints.
 *
 * The mangling is postfix: an operator takes what it needs from a stack of nodes, and puts one node back. */

#ifndef MACHSYM_NO_SWIFT
/* ---- reading ---- */

/* INDEX; -1 on failure. */
static int64_t ms_dmswr_index(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, '_'))
        return 0;
    int64_t value = ms_dmsw_natural(p);
    return value >= 0 && value < INT32_MAX && ms_dmsw_next_if(p, '_') ? value + 1 : -1;
}

static uint32_t ms_dmswr_index_node(ms_dmsw *p)
{
    int64_t value = ms_dmswr_index(p);
    return value >= 0 ? ms_dmsw_make_index(p, ms_DMSW_Index, (uint64_t)value) : 0;
}

/* Enters one word of an identifier in the list of words that later identifiers may use. */
static void ms_dmswr_add_word(ms_dmsw *p, const char *s, size_t len)
{
    if (len < 2 || p->word_count >= ms_DMSW_MAX_WORDS)
        return;
    p->words[p->word_count].ptr = s;
    p->words[p->word_count++].len = len;
}

/* Splits a literal part of an identifier into words. '_' divides words, and an upper case letter starts
 * one. */
static void ms_dmswr_split(ms_dmsw *p, const char *s, size_t len)
{
    size_t start = len; /* len: not in a word */
    for (size_t i = 0; i < len && p->word_count < ms_DMSW_MAX_WORDS; i++) {
        char c = s[i];
        if (ms_dmsw_lower(c)) {
            if (start == len)
                start = i;
            while (i + 1 < len && ms_dmsw_lower(s[i + 1]))
                i++;
        } else if (c == '_' || c == '\0') {
            if (start < len)
                ms_dmswr_add_word(p, s + start, i - start);
            start = len;
        } else if (ms_dmsw_upper(c) && start < len && !ms_dmsw_upper(s[i - 1])) {
            ms_dmswr_add_word(p, s + start, i - start);
            start = i;
        } else if (start == len && !ms_dmsw_digit(c)) {
            start = i;
        }
    }
    if (start < len)
        ms_dmswr_add_word(p, s + start, len - start);
}

/* Enters the words of all parts that wait. */
static void ms_dmswr_split_parts(ms_dmsw *p)
{
    for (unsigned i = 0; i < p->part_count; i++)
        ms_dmswr_split(p, p->parts[i].ptr, p->parts[i].len);
    p->part_count = 0;
}

/* Notes a literal part of an identifier. It is split once an identifier asks for words: few names do. */
static void ms_dmswr_add_words(ms_dmsw *p, machsym_str part)
{
    if (p->word_count >= ms_DMSW_MAX_WORDS)
        return;
    if (p->part_count == ms_DMSW_MAX_PARTS)
        ms_dmswr_split_parts(p);
    p->parts[p->part_count++] = part;
}

/* Reads an identifier with word substitutions. Its text is put together in the scratch. */
static bool ms_dmswr_word_identifier(ms_dmsw *p, machsym_str *out)
{
    size_t used = 0;
    machsym_str part;
    for (bool more = true; more;) {
        for (char c = ms_dmsw_peek(p); more && (ms_dmsw_lower(c) || ms_dmsw_upper(c)); c = ms_dmsw_peek(p)) {
            more = ms_dmsw_lower(c);
            ms_dmswr_split_parts(p);
            unsigned word = (unsigned)(more ? c - 'a' : c - 'A');
            p->at++;
            if (word >= p->word_count || !ms_dmsw_grow(p, p->words[word], &used))
                return false;
        }
        if (ms_dmsw_next_if(p, '0'))
            break;
        if (!ms_dmsw_literal(p, &part) || !ms_dmsw_grow(p, part, &used))
            return false;
        ms_dmswr_add_words(p, part);
    }
    out->ptr = (const char *)p->d->mem + p->d->mem_used;
    out->len = used;
    return ms_dm_alloc(p->d, used) != NULL && used > 0;
}

/* Identifiers */
static uint32_t ms_dmswr_identifier(ms_dmsw *p)
{
    machsym_str name = {NULL, 0};
    const char *end = (const char *)p->d->mem + p->d->mem_len; /* of what holds the name: the scratch */
    if (ms_dmsw_peek(p) != '0') {
        end = p->s + p->len;
        if (!ms_dmsw_literal(p, &name))
            return 0;
        ms_dmswr_add_words(p, name);
    } else if (ms_dmsw_next_is(p, "00", 2)) {
        int64_t len = ms_dmsw_natural(p);
        ms_dmsw_next_if(p, '_');
        if (len <= 0 || (uint64_t)len > p->len - p->at || !ms_dmsw_puny(p, p->s + p->at, (size_t)len, &name))
            return 0;
        p->at += (size_t)len;
    } else {
        p->at++;
        if (!ms_dmswr_word_identifier(p, &name))
            return 0;
    }
    p->spells = true;
    return ms_dmsw_remember(p, ms_dmsw_make_part(p, ms_DMSW_Identifier, name, end));
}

/* ---- the stack of Swift 4 and later ---- */

static void ms_dmswr_push(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_append(p, &p->stack, ref);
}

static uint32_t ms_dmswr_top(const ms_dmsw *p)
{
    return p->stack.count ? p->stack.v[p->stack.count - 1] : 0;
}

static uint32_t ms_dmswr_pop_any(ms_dmsw *p)
{
    return p->stack.count ? p->stack.v[--p->stack.count] : 0;
}

/* Pops the top when it is of that kind, else returns 0. */
static uint32_t ms_dmswr_pop(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmswr_top(p);
    if (!ref || ms_dmsw_kind_of(p, ref) != kind)
        return 0;
    p->stack.count--;
    return ref;
}

/* Pops the top when its kind has one of the traits, else returns 0. */
static uint32_t ms_dmswr_pop_trait(ms_dmsw *p, unsigned traits)
{
    uint32_t ref = ms_dmswr_top(p);
    if (!ref || !(ms_dmsw_traits(p, ref) & traits))
        return 0;
    p->stack.count--;
    return ref;
}

static uint32_t ms_dmswr_pop_type(ms_dmsw *p)
{
    return ms_dmswr_pop(p, ms_DMSW_Type);
}

/* A type without its "as a type" bit. */
static uint32_t ms_dmswr_pop_bare(ms_dmsw *p)
{
    return ms_dmswr_pop_type(p) & ~ms_DMSW_AS_TYPE;
}

static uint32_t ms_dmswr_pop_nominal(ms_dmsw *p)
{
    uint32_t ref = ms_dmswr_pop_bare(p);
    return ms_dmsw_traits(p, ref) & ms_DMSW_T_NOMINAL ? ref : 0;
}

static uint32_t ms_dmswr_pop_entity(ms_dmsw *p)
{
    uint32_t ref = ms_dmswr_pop_type(p);
    return ref ? ref : ms_dmswr_pop_trait(p, ms_DMSW_T_CONTEXT);
}

static bool ms_dmswr_pop_first(ms_dmsw *p)
{
    return ms_dmswr_pop(p, ms_DMSW_FirstElementMarker) != 0;
}

static uint32_t ms_dmswr_pop_signature(ms_dmsw *p)
{
    return ms_dmswr_pop(p, ms_DMSW_DependentGenericSignature);
}

static uint32_t ms_dmswr_pop_module(ms_dmsw *p)
{
    uint32_t name = ms_dmswr_pop(p, ms_DMSW_Identifier);
    return name ? ms_dmsw_with_kind(p, name, ms_DMSW_Module) : ms_dmswr_pop(p, ms_DMSW_Module);
}

static uint32_t ms_dmswr_pop_context(ms_dmsw *p)
{
    uint32_t module = ms_dmswr_pop_module(p);
    if (module)
        return module;
    uint32_t type = ms_dmswr_pop_bare(p);
    if (type)
        return ms_dmsw_traits(p, type) & ms_DMSW_T_CONTEXT ? type : 0;
    return ms_dmswr_pop_trait(p, ms_DMSW_T_CONTEXT);
}

static uint32_t ms_dmswr_pop_protocol(ms_dmsw *p)
{
    uint32_t type = ms_dmswr_pop_type(p);
    if (type)
        return ms_dmsw_inner(p, type) == ms_DMSW_Protocol ? type : 0;
    uint32_t name = ms_dmswr_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmswr_pop_context(p);
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_Protocol, context, name));
}

static uint32_t ms_dmswr_pop_conformance(ms_dmsw *p)
{
    uint32_t signature = ms_dmswr_pop_signature(p);
    uint32_t module = ms_dmswr_pop_module(p);
    uint32_t protocol = ms_dmswr_pop_protocol(p);
    uint32_t type = ms_dmswr_pop_type(p), name = 0;
    if (!type) { /* property behaviour */
        name = ms_dmswr_pop(p, ms_DMSW_Identifier);
        type = ms_dmswr_pop_type(p);
    }
    if (signature)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, type));
    uint32_t ref = ms_dmsw_make3(p, ms_DMSW_ProtocolConformance, type, protocol, module);
    return name ? ms_dmsw_add(p, ref, name) : ref;
}

static uint32_t ms_dmswr_pop_assoc_name(ms_dmsw *p)
{
    uint32_t protocol = ms_dmswr_pop_type(p);
    if (protocol && ms_dmsw_inner(p, protocol) != ms_DMSW_Protocol)
        return 0;
    uint32_t name = ms_dmswr_pop(p, ms_DMSW_Identifier);
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentAssociatedTypeRef, name);
    return protocol ? ms_dmsw_add(p, ref, protocol) : ref;
}

/* Pops elements up to the one that follows the first-element marker, into a new node of that kind. */
static uint32_t ms_dmswr_pop_list(ms_dmsw *p, unsigned kind, uint32_t (*element)(ms_dmsw *))
{
    uint32_t list = ms_dmsw_make(p, kind);
    bool first;
    do {
        first = ms_dmswr_pop_first(p);
        list = ms_dmsw_add(p, list, element(p));
    } while (list && !first);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* Pops such a list, or the mark of an empty one. */
static uint32_t ms_dmswr_pop_list_or_empty(ms_dmsw *p, unsigned kind, uint32_t (*element)(ms_dmsw *))
{
    return ms_dmswr_pop(p, ms_DMSW_EmptyList) ? ms_dmsw_make(p, kind) : ms_dmswr_pop_list(p, kind, element);
}

static uint32_t ms_dmswr_pop_requirement(ms_dmsw *p)
{
    return ms_dmswr_pop_trait(p, ms_DMSW_T_REQ);
}

static uint32_t ms_dmswr_pop_any_conformance(ms_dmsw *p)
{
    return ms_dmswr_pop_trait(p, ms_DMSW_T_CONF);
}

static uint32_t ms_dmswr_pop_type_list(ms_dmsw *p)
{
    return ms_dmswr_pop_list_or_empty(p, ms_DMSW_TypeList, ms_dmswr_pop_type);
}

static uint32_t ms_dmswr_pop_assoc_path(ms_dmsw *p)
{
    return ms_dmswr_pop_list(p, ms_DMSW_AssocTypePath, ms_dmswr_pop_assoc_name);
}

static uint32_t ms_dmswr_pop_tuple_element(ms_dmsw *p)
{
    uint32_t element = ms_dmsw_make(p, ms_DMSW_TupleElement);
    uint32_t variadic = ms_dmswr_pop(p, ms_DMSW_VariadicMarker);
    uint32_t name = ms_dmswr_pop(p, ms_DMSW_Identifier);
    if (variadic)
        element = ms_dmsw_add(p, element, variadic);
    if (name)
        element = ms_dmsw_add(p, element, ms_dmsw_with_kind(p, name, ms_DMSW_TupleElementName));
    return ms_dmsw_add(p, element, ms_dmswr_pop_type(p));
}

/* ---- operators of Swift 4 and later ---- */

/* A: substitution */
static uint32_t ms_dmswr_substitution(ms_dmsw *p)
{
    int64_t repeat = -1;
    for (;;) {
        char c = ms_dmsw_next(p);
        if (c == '_') {
            uint64_t i = (uint64_t)(repeat + 27);
            return i < p->subs.count ? p->subs.v[i] : 0;
        }
        bool last = ms_dmsw_upper(c);
        if (!last && !ms_dmsw_lower(c)) {
            p->at -= c != '\0';
            repeat = ms_dmsw_natural(p);
            if (repeat < 0)
                return 0;
            continue;
        }
        uint32_t i = (uint32_t)(last ? c - 'A' : c - 'a');
        if (i >= p->subs.count || repeat > MACHSYM_DEMANGLE_REPEAT)
            return 0;
        for (; repeat > 1 && ms_dmsw_step(p); repeat--)
            ms_dmswr_push(p, p->subs.v[i]);
        if (last)
            return p->subs.v[i];
        ms_dmswr_push(p, p->subs.v[i]);
        repeat = -1;
    }
}

/* KNOWN-TYPE-KIND-2 */
static uint32_t ms_dmswr_known2(ms_dmsw *p, char letter)
{
    switch (letter) {
    case 'A': return ms_dmsw_known(p, Protocol, "Actor");
    case 'C': return ms_dmsw_known(p, Structure, "CheckedContinuation");
    case 'c': return ms_dmsw_known(p, Structure, "UnsafeContinuation");
    case 'E': return ms_dmsw_known(p, Structure, "CancellationError");
    case 'e': return ms_dmsw_known(p, Structure, "UnownedSerialExecutor");
    case 'F': return ms_dmsw_known(p, Protocol, "Executor");
    case 'f': return ms_dmsw_known(p, Protocol, "SerialExecutor");
    case 'G': return ms_dmsw_known(p, Structure, "TaskGroup");
    case 'g': return ms_dmsw_known(p, Structure, "ThrowingTaskGroup");
    case 'h': return ms_dmsw_known(p, Protocol, "TaskExecutor");
    case 'I': return ms_dmsw_known(p, Protocol, "AsyncIteratorProtocol");
    case 'i': return ms_dmsw_known(p, Protocol, "AsyncSequence");
    case 'J': return ms_dmsw_known(p, Structure, "UnownedJob");
    case 'M': return ms_dmsw_known(p, Class, "MainActor");
    case 'P': return ms_dmsw_known(p, Structure, "TaskPriority");
    case 'S': return ms_dmsw_known(p, Structure, "AsyncStream");
    case 's': return ms_dmsw_known(p, Structure, "AsyncThrowingStream");
    case 'T': return ms_dmsw_known(p, Structure, "Task");
    case 't': return ms_dmsw_known(p, Structure, "UnsafeCurrentTask");
    default: return 0;
    }
}

/* S: standard-substitutions and known modules */
static uint32_t ms_dmswr_standard(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'o'))
        return ms_dmsw_module(p, ms_DMSW_MODULE_C);
    if (ms_dmsw_next_if(p, 'C'))
        return ms_dmsw_module(p, ms_DMSW_MODULE_SYNTHESIZED);
    if (ms_dmsw_next_if(p, 'g')) {
        uint32_t args = ms_dmsw_make1(p, ms_DMSW_TypeList, ms_dmswr_pop_type(p));
        uint32_t optional = ms_dmsw_standard(p, 'q');
        return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_BoundGenericEnum, optional, args)));
    }
    int64_t repeat = -1;
    if (ms_dmsw_digit(ms_dmsw_peek(p)))
        repeat = ms_dmsw_natural(p);
    bool second = ms_dmsw_next_if(p, 'c');
    char letter = ms_dmsw_next(p);
    if (repeat > MACHSYM_DEMANGLE_REPEAT)
        return 0;
    uint32_t ref = second ? ms_dmswr_known2(p, letter) : ms_dmsw_standard(p, letter);
    for (; ref && repeat > 1 && ms_dmsw_step(p); repeat--)
        ms_dmswr_push(p, ref);
    return ref;
}

/* C O V P a XY: any-generic-type */
static uint32_t ms_dmswr_any_generic(ms_dmsw *p, unsigned kind)
{
    uint32_t name = ms_dmswr_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmswr_pop_context(p);
    return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, kind, context, name)));
}

/* E: extension context */
static uint32_t ms_dmswr_extension(ms_dmsw *p)
{
    uint32_t signature = ms_dmswr_pop_signature(p);
    uint32_t module = ms_dmswr_pop_module(p);
    uint32_t type = ms_dmswr_pop_nominal(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_Extension, module, type);
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* o: operator names */
static uint32_t ms_dmswr_operator(ms_dmsw *p)
{
    static const char signs[] = "& @/= >    <*!|+?%-~   ^ .";
    uint32_t name = ms_dmswr_pop(p, ms_DMSW_Identifier);
    if (!name)
        return 0;
    const ms_dmsw_node *n = ms_dmsw_at(p, name);
    char *text = (char *)ms_dm_alloc(p->d, n->count + 1u);
    if (!text)
        return 0;
    for (uint32_t i = 0; i < n->count; i++) {
        char c = n->u.text[i];
        if (ms_dmsw_lower(c))
            c = signs[c - 'a'];
        else if ((unsigned char)c < 0x80)
            return 0;
        if (c == ' ')
            return 0;
        text[i] = c;
    }
    switch (ms_dmsw_next(p)) {
    case 'i': return ms_dmsw_make_text(p, ms_DMSW_InfixOperator, text, n->count);
    case 'p': return ms_dmsw_make_text(p, ms_DMSW_PrefixOperator, text, n->count);
    case 'P': return ms_dmsw_make_text(p, ms_DMSW_PostfixOperator, text, n->count);
    default: return 0;
    }
}

/* L: names with a discriminator */
static uint32_t ms_dmswr_local(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'L')) {
        uint32_t file = ms_dmswr_pop(p, ms_DMSW_Identifier);
        return ms_dmsw_make2(p, ms_DMSW_PrivateDeclName, file, ms_dmswr_pop_trait(p, ms_DMSW_T_NAME));
    }
    if (ms_dmsw_next_if(p, 'l'))
        return ms_dmsw_make1(p, ms_DMSW_PrivateDeclName, ms_dmswr_pop(p, ms_DMSW_Identifier));
    char c = ms_dmsw_peek(p);
    if ((c >= 'a' && c <= 'j') || (c >= 'A' && c <= 'J')) {
        uint32_t related = ms_dmsw_make_text(p, ms_DMSW_Identifier, p->s + p->at++, 1);
        return ms_dmsw_make2(p, ms_DMSW_RelatedEntityDeclName, related, ms_dmswr_pop_any(p));
    }
    uint32_t index = ms_dmswr_index_node(p);
    return ms_dmsw_make2(p, ms_DMSW_LocalDeclName, index, ms_dmswr_pop_trait(p, ms_DMSW_T_NAME));
}

/* B: builtin types */
static uint32_t ms_dmswr_builtin(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    uint32_t ref;
    if (c == 'f' || c == 'i') {
        ref = ms_dmsw_builtin_sized(p, c, ms_dmswr_index(p) - 1);
    } else if (c == 'v') {
        int64_t count = ms_dmswr_index(p) - 1;
        ref = ms_dmsw_builtin_vector(p, count, ms_dmswr_pop_bare(p));
    } else if (c == 'V') {
        uint32_t element = ms_dmswr_pop_type(p);
        ref = ms_dmsw_make2(p, ms_DMSW_BuiltinFixedArray, ms_dmswr_pop_type(p), element);
    } else if (c == 'W') {
        ref = ms_dmsw_make1(p, ms_DMSW_BuiltinBorrow, ms_dmswr_pop_type(p));
    } else {
        ref = ms_dmsw_builtin_simple(p, c);
    }
    return ms_dmsw_type(ref);
}

/* t: tuples */
static uint32_t ms_dmswr_tuple(ms_dmsw *p)
{
    return ms_dmsw_type(ms_dmswr_pop_list_or_empty(p, ms_DMSW_Tuple, ms_dmswr_pop_tuple_element));
}

/* params-type, result-type */
static uint32_t ms_dmswr_pop_params(ms_dmsw *p, unsigned kind)
{
    uint32_t type = ms_dmswr_pop(p, ms_DMSW_EmptyList) ? ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_Tuple))
                                                       : ms_dmswr_pop_type(p);
    return ms_dmsw_make1(p, kind, type);
}

/* C-TYPE */
static uint32_t ms_dmswr_clang_type(ms_dmsw *p)
{
    machsym_str part;
    return ms_dmsw_literal(p, &part) ? ms_dmsw_make_text(p, ms_DMSW_ClangType, part.ptr, part.len) : 0;
}

/* function-signature: the children are the optional parts in the order of the pops, parameters, result. */
static uint32_t ms_dmswr_pop_function(ms_dmsw *p, unsigned kind, bool has_clang_type)
{
    uint32_t ref = ms_dmsw_make(p, kind), part;
    if (has_clang_type && (part = ms_dmswr_clang_type(p)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmswr_pop(p, ms_DMSW_SendingResultFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmswr_pop_trait(p, ms_DMSW_T_ISOLATION)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmswr_pop(p, ms_DMSW_DifferentiableFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmswr_pop(p, ms_DMSW_ThrowsAnnotation)) != 0 ||
        (part = ms_dmswr_pop(p, ms_DMSW_TypedThrowsAnnotation)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmswr_pop(p, ms_DMSW_ConcurrentFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmswr_pop(p, ms_DMSW_AsyncAnnotation)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    ref = ms_dmsw_add(p, ref, ms_dmswr_pop_params(p, ms_DMSW_ArgumentTuple));
    ref = ms_dmsw_add(p, ref, ms_dmswr_pop_params(p, ms_DMSW_ReturnType));
    return ms_dmsw_type(ref);
}

/* Takes the labels out of the parameter tuple, where Swift 4.0 put them. */
static uint32_t ms_dmswr_labels_of_tuple(ms_dmsw *p, uint32_t tuple)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_LabelList);
    uint32_t count = ms_dmsw_kid_count(p, tuple);
    bool any = false;
    if (ms_dmsw_inner(p, tuple) != ms_DMSW_Tuple)
        return list;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t param = ms_dmsw_kid(p, tuple, i), name = ms_dmsw_kid_of(p, param, ms_DMSW_TupleElementName);
        if (!name) {
            list = ms_dmsw_add(p, list, ms_dmsw_make(p, ms_DMSW_FirstElementMarker));
            continue;
        }
        any = true;
        list = ms_dmsw_add(p, list, ms_dmsw_with_kind(p, name, ms_DMSW_Identifier));
        uint32_t bare = ms_dmsw_make(p, ms_DMSW_TupleElement);
        for (uint32_t k = 0; k < ms_dmsw_kid_count(p, param); k++)
            if (ms_dmsw_kid(p, param, k) != name)
                bare = ms_dmsw_add(p, bare, ms_dmsw_kid(p, param, k));
        ms_dmsw_set_kid(p, tuple, i, bare);
    }
    return any ? list : ms_dmsw_make(p, ms_DMSW_LabelList);
}

/* label-list; 0 when there is none. */
static uint32_t ms_dmswr_pop_labels(ms_dmsw *p, uint32_t type)
{
    if (!p->old_functions && ms_dmswr_pop(p, ms_DMSW_EmptyList))
        return ms_dmsw_make(p, ms_DMSW_LabelList);
    uint32_t params = ms_dmsw_params_of(p, type);
    if (!params)
        return 0;
    uint32_t count = ms_dmsw_inner(p, params) == ms_DMSW_Tuple ? ms_dmsw_kid_count(p, params) : 1;
    if (count == 0)
        return 0;
    if (p->old_functions)
        return ms_dmswr_labels_of_tuple(p, params);
    uint32_t list = ms_dmsw_make(p, ms_DMSW_LabelList);
    bool any = false;
    for (; list && count > 0; count--) {
        uint32_t label = ms_dmswr_pop_any(p);
        unsigned kind = ms_dmsw_kind_of(p, label);
        if (kind != ms_DMSW_Identifier && kind != ms_DMSW_FirstElementMarker)
            return 0;
        any = any || kind == ms_DMSW_Identifier;
        list = ms_dmsw_add(p, list, label);
    }
    if (!any)
        return ms_dmsw_make(p, ms_DMSW_LabelList);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* F: function */
static uint32_t ms_dmswr_function(ms_dmsw *p)
{
    uint32_t signature = ms_dmswr_pop_signature(p);
    uint32_t type = ms_dmswr_pop_function(p, ms_DMSW_FunctionType, false);
    uint32_t labels = ms_dmswr_pop_labels(p, type);
    if (signature)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, type));
    uint32_t name = ms_dmswr_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmswr_pop_context(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_Function, context, name);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

/* ACCESSOR, after the storage it belongs to */
static uint32_t ms_dmswr_accessor(ms_dmsw *p, uint32_t storage)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'm': kind = ms_DMSW_MaterializeForSet; break;
    case 's': kind = ms_DMSW_Setter; break;
    case 'g': kind = ms_DMSW_Getter; break;
    case 'G': kind = ms_DMSW_GlobalGetter; break;
    case 'w': kind = ms_DMSW_WillSet; break;
    case 'W': kind = ms_DMSW_DidSet; break;
    case 'r': kind = ms_DMSW_ReadAccessor; break;
    case 'y': kind = ms_DMSW_Read2Accessor; break;
    case 'M': kind = ms_DMSW_ModifyAccessor; break;
    case 'x': kind = ms_DMSW_Modify2Accessor; break;
    case 'b': kind = ms_DMSW_BorrowAccessor; break;
    case 'z': kind = ms_DMSW_MutateAccessor; break;
    case 'i': kind = ms_DMSW_InitAccessor; break;
    case 'a':
        switch (ms_dmsw_next(p)) {
        case 'O': kind = ms_DMSW_OwningMutableAddressor; break;
        case 'o': kind = ms_DMSW_NativeOwningMutableAddressor; break;
        case 'p': kind = ms_DMSW_NativePinningMutableAddressor; break;
        case 'u': kind = ms_DMSW_UnsafeMutableAddressor; break;
        default: return 0;
        }
        break;
    case 'l':
        switch (ms_dmsw_next(p)) {
        case 'O': kind = ms_DMSW_OwningAddressor; break;
        case 'o': kind = ms_DMSW_NativeOwningAddressor; break;
        case 'p': kind = ms_DMSW_NativePinningAddressor; break;
        case 'u': kind = ms_DMSW_UnsafeAddressor; break;
        default: return 0;
        }
        break;
    case 'p': return storage;
    default: return 0;
    }
    return ms_dmsw_make1(p, kind, storage);
}

/* decl-name label-list? type with a context before it */
static uint32_t ms_dmswr_typed_decl(ms_dmsw *p, unsigned kind)
{
    uint32_t type = ms_dmswr_pop_type(p);
    uint32_t labels = ms_dmswr_pop_labels(p, type);
    uint32_t name = ms_dmswr_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmswr_pop_context(p);
    uint32_t ref = ms_dmsw_make2(p, kind, context, name);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

/* i: subscript */
static uint32_t ms_dmswr_subscript(ms_dmsw *p)
{
    uint32_t private_name = ms_dmswr_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t type = ms_dmswr_pop_type(p);
    uint32_t labels = ms_dmswr_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_Subscript, ms_dmswr_pop_context(p));
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    ref = ms_dmsw_add(p, ref, type);
    if (private_name)
        ref = ms_dmsw_add(p, ref, private_name);
    return ms_dmswr_accessor(p, ref);
}

/* fC fc: a type with labels and perhaps a private name */
static uint32_t ms_dmswr_constructor(ms_dmsw *p, unsigned kind)
{
    uint32_t private_name = ms_dmswr_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t type = ms_dmswr_pop_type(p);
    uint32_t labels = ms_dmswr_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make1(p, kind, ms_dmswr_pop_context(p));
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    ref = ms_dmsw_add(p, ref, type);
    return private_name ? ms_dmsw_add(p, ref, private_name) : ref;
}

/* fU fu: a number and a type */
static uint32_t ms_dmswr_closure(ms_dmsw *p, unsigned kind)
{
    uint32_t index = ms_dmswr_index_node(p);
    uint32_t type = ms_dmswr_pop_type(p);
    return ms_dmsw_make3(p, kind, ms_dmswr_pop_context(p), index, type);
}

/* fMX: a place in a file of a macro's expansion */
static uint32_t ms_dmswr_macro_place(ms_dmsw *p)
{
    uint32_t line = ms_dmswr_index_node(p), column = ms_dmswr_index_node(p);
    uint32_t file = ms_dmswr_pop(p, ms_DMSW_Identifier), module = ms_dmswr_pop(p, ms_DMSW_Identifier);
    return ms_dmsw_add(p, ms_dmsw_make3(p, ms_DMSW_MacroExpansionLoc, module, file, line), column);
}

/* fM: macro expansions */
static uint32_t ms_dmswr_macro_expansion(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'a': kind = ms_DMSW_AccessorAttachedMacroExpansion; break;
    case 'r': kind = ms_DMSW_MemberAttributeAttachedMacroExpansion; break;
    case 'f': kind = ms_DMSW_FreestandingMacroExpansion; break;
    case 'm': kind = ms_DMSW_MemberAttachedMacroExpansion; break;
    case 'p': kind = ms_DMSW_PeerAttachedMacroExpansion; break;
    case 'c': kind = ms_DMSW_ConformanceAttachedMacroExpansion; break;
    case 'e': kind = ms_DMSW_ExtensionAttachedMacroExpansion; break;
    case 'q': kind = ms_DMSW_PreambleAttachedMacroExpansion; break;
    case 'b': kind = ms_DMSW_BodyAttachedMacroExpansion; break;
    case 'u': kind = ms_DMSW_MacroExpansionUniqueName; break;
    case 'X': return ms_dmswr_macro_place(p);
    default: return 0;
    }
    bool attached = kind != ms_DMSW_FreestandingMacroExpansion && kind != ms_DMSW_MacroExpansionUniqueName;
    uint32_t macro = ms_dmswr_pop(p, ms_DMSW_Identifier);
    uint32_t private_name = attached ? 0 : ms_dmswr_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t decl = attached ? ms_dmswr_pop_trait(p, ms_DMSW_T_NAME) : 0;
    uint32_t context = ms_dmswr_pop_trait(p, ms_DMSW_T_MACRO);
    if (!context)
        context = ms_dmswr_pop_context(p);
    uint32_t index = ms_dmswr_index_node(p);
    uint32_t ref = ms_dmsw_make1(p, kind, context);
    if (decl)
        ref = ms_dmsw_add(p, ref, decl);
    ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, macro), index);
    return private_name ? ms_dmsw_add(p, ref, private_name) : ref;
}

/* f: entity-spec */
static uint32_t ms_dmswr_function_entity(ms_dmsw *p)
{
    uint32_t index;
    switch (ms_dmsw_next(p)) {
    case 'D': return ms_dmsw_make1(p, ms_DMSW_Deallocator, ms_dmswr_pop_context(p));
    case 'Z': return ms_dmsw_make1(p, ms_DMSW_IsolatedDeallocator, ms_dmswr_pop_context(p));
    case 'd': return ms_dmsw_make1(p, ms_DMSW_Destructor, ms_dmswr_pop_context(p));
    case 'E': return ms_dmsw_make1(p, ms_DMSW_IVarDestroyer, ms_dmswr_pop_context(p));
    case 'e': return ms_dmsw_make1(p, ms_DMSW_IVarInitializer, ms_dmswr_pop_context(p));
    case 'i': return ms_dmsw_make1(p, ms_DMSW_Initializer, ms_dmswr_pop_context(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_PropertyWrapperBackingInitializer, ms_dmswr_pop_context(p));
    case 'W': return ms_dmsw_make1(p, ms_DMSW_PropertyWrapperInitFromProjectedValue, ms_dmswr_pop_context(p));
    case 'F': return ms_dmsw_make1(p, ms_DMSW_PropertyWrappedFieldInitAccessor, ms_dmswr_pop_context(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_RuntimeAttributeGenerator, ms_dmswr_pop_context(p));
    case 'A':
        index = ms_dmswr_index_node(p);
        return ms_dmsw_make2(p, ms_DMSW_DefaultArgumentInitializer, ms_dmswr_pop_context(p), index);
    case 'C': return ms_dmswr_constructor(p, ms_DMSW_Allocator);
    case 'c': return ms_dmswr_constructor(p, ms_DMSW_Constructor);
    case 'U': return ms_dmswr_closure(p, ms_DMSW_ExplicitClosure);
    case 'u': return ms_dmswr_closure(p, ms_DMSW_ImplicitClosure);
    case 'm': return ms_dmswr_typed_decl(p, ms_DMSW_Macro);
    case 'M': return ms_dmswr_macro_expansion(p);
    case 'p': return ms_dmswr_typed_decl(p, ms_DMSW_GenericTypeParamDecl);
    default: return 0;
    }
}

/* ---- types of Swift 4 and later ---- */

static uint32_t ms_dmswr_pop_retroactive(ms_dmsw *p)
{
    uint32_t list = 0, ref;
    while ((ref = ms_dmswr_pop(p, ms_DMSW_RetroactiveConformance)) != 0)
        list = ms_dmsw_add(p, list ? list : ms_dmsw_make(p, ms_DMSW_TypeList), ref);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* bound-generic-args: a list of lists, the innermost type's arguments first. */
static uint32_t ms_dmswr_pop_bound_args(ms_dmsw *p)
{
    uint32_t lists = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (lists) {
        uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList), type;
        while ((type = ms_dmswr_pop_type(p)) != 0)
            list = ms_dmsw_add(p, list, type);
        if (list)
            ms_dmsw_reverse(p, list, 0);
        lists = ms_dmsw_add(p, lists, list);
        if (ms_dmswr_pop(p, ms_DMSW_EmptyList))
            break;
        if (!ms_dmswr_pop_first(p))
            return 0;
    }
    return lists;
}

/* Whether a context of this kind has a list of generic arguments. The functions around a local type do. */
static bool ms_dmswr_takes_args(unsigned kind)
{
    switch (kind) {
    case ms_DMSW_Variable:
    case ms_DMSW_Subscript:
    case ms_DMSW_ImplicitClosure:
    case ms_DMSW_ExplicitClosure:
    case ms_DMSW_DefaultArgumentInitializer:
    case ms_DMSW_Initializer:
    case ms_DMSW_PropertyWrapperBackingInitializer:
    case ms_DMSW_PropertyWrapperInitFromProjectedValue:
    case ms_DMSW_Static: return false;
    default: return true;
    }
}

/* Gives each level of a nested type its arguments, from the innermost outwards. */
static uint32_t ms_dmswr_bind(ms_dmsw *p, uint32_t ref, uint32_t lists, uint32_t i)
{
    uint32_t list_count = ms_dmsw_kid_count(p, lists), context = ms_dmsw_kid(p, ref, 0), args;
    if (!ref || i >= list_count || ++p->d->depth > MACHSYM_DEMANGLE_DEPTH)
        return 0;
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    unsigned kind = n->kind;
    bool takes = ms_dmswr_takes_args(kind);
    args = ms_dmsw_kid(p, lists, i);
    if (takes)
        i++;
    if (i < list_count) {
        uint32_t parent;
        if (ms_dmsw_kind_of(p, context) == ms_DMSW_Extension) {
            uint32_t signature = ms_dmsw_kid(p, context, 2);
            parent = ms_dmswr_bind(p, ms_dmsw_kid(p, context, 1), lists, i);
            parent = ms_dmsw_make2(p, ms_DMSW_Extension, ms_dmsw_kid(p, context, 0), parent);
            if (signature)
                parent = ms_dmsw_add(p, parent, signature);
        } else {
            parent = ms_dmswr_bind(p, context & ~ms_DMSW_AS_TYPE, lists, i);
        }
        uint32_t rebuilt = ms_dmsw_make1(p, kind, parent);
        for (uint32_t k = 1; k < ms_dmsw_kid_count(p, ref); k++)
            rebuilt = ms_dmsw_add(p, rebuilt, ms_dmsw_kid(p, ref, k));
        ref = rebuilt;
    }
    p->d->depth--;
    if (!ref || !takes || ms_dmsw_kid_count(p, args) == 0)
        return ref;
    unsigned bound = ms_dmsw_bound_kind(kind);
    if (bound == ms_DMSW_None)
        return 0;
    return ms_dmsw_make2(p, bound, bound == ms_DMSW_BoundGenericFunction ? ref : ms_dmsw_type(ref), args);
}

/* G: bound generic type */
static uint32_t ms_dmswr_bound_generic(ms_dmsw *p)
{
    uint32_t retroactive = ms_dmswr_pop_retroactive(p);
    uint32_t lists = ms_dmswr_pop_bound_args(p);
    uint32_t nominal = ms_dmswr_pop_nominal(p);
    if (!lists)
        return 0;
    uint32_t ref = ms_dmswr_bind(p, nominal, lists, 0);
    if (ref && retroactive) {
        /* the list may have several parents: only a bound node of this type can take the arguments */
        ref = ms_dmsw_add(p, ms_dmsw_with_kind(p, ref, ms_dmsw_inner(p, ref)), retroactive);
    }
    return ms_dmsw_remember(p, ms_dmsw_type(ref));
}

/* GENERIC-PARAM-INDEX */
static uint32_t ms_dmswr_generic_param(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'z'))
        return ms_dmsw_param_type(p, 0, 0);
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_make(p, ms_DMSW_ConstrainedExistentialSelf);
    int64_t depth = 0, index;
    if (ms_dmsw_next_if(p, 'd')) {
        depth = ms_dmswr_index(p) + 1;
        index = ms_dmswr_index(p);
        if (depth <= 0)
            return 0;
    } else {
        index = ms_dmswr_index(p);
        index += index >= 0;
    }
    return index >= 0 ? ms_dmsw_param_type(p, (uint64_t)depth, (uint64_t)index) : 0;
}

/* An associated type of base, or of the type on the stack when base is 0. */
static uint32_t ms_dmswr_assoc_simple(ms_dmsw *p, uint32_t base)
{
    uint32_t name = ms_dmswr_pop_assoc_name(p);
    uint32_t type = base ? ms_dmsw_type(base) : ms_dmswr_pop_type(p);
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, type, name));
}

/* assoc-type-list applied to base, or to the type on the stack when base is 0. */
static uint32_t ms_dmswr_assoc_compound(ms_dmsw *p, uint32_t base)
{
    uint32_t path = ms_dmswr_pop_assoc_path(p);
    if (!path)
        return 0;
    uint32_t type = base ? ms_dmsw_type(base) : ms_dmswr_pop_type(p);
    for (uint32_t i = 0; i < ms_dmsw_kid_count(p, path); i++)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, type, ms_dmsw_kid(p, path, i)));
    return type;
}

/* 'Qo': an opaque type with the arguments of its declaration */
static uint32_t ms_dmswr_opaque_type(ms_dmsw *p)
{
    uint32_t index = ms_dmswr_index_node(p);
    uint32_t retroactive = ms_dmswr_pop_retroactive(p);
    uint32_t lists = ms_dmswr_pop_bound_args(p);
    uint32_t name = ms_dmswr_pop_any(p);
    if (lists)
        ms_dmsw_reverse(p, lists, 0);
    uint32_t ref = ms_dmsw_make3(p, ms_DMSW_OpaqueType, name, index, lists);
    if (retroactive)
        ref = ms_dmsw_add(p, ref, retroactive);
    return ms_dmsw_remember(p, ms_dmsw_type(ref));
}

/* Q: archetypes, associated types, packs and opaque types */
static uint32_t ms_dmswr_archetype(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'a':
        a = ms_dmswr_pop(p, ms_DMSW_Identifier);
        b = ms_dmswr_pop_bare(p);
        return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_AssociatedTypeRef, b, a)));
    case 'e':
        a = ms_dmswr_pop_bare(p);
        b = ms_dmswr_index_node(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_PackElement, a, b));
    case 'O': return ms_dmsw_make1(p, ms_DMSW_OpaqueReturnTypeOf, ms_dmswr_pop_context(p));
    case 'o': return ms_dmswr_opaque_type(p);
    case 'p':
        a = ms_dmswr_pop_bare(p);
        b = ms_dmswr_pop_bare(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_PackExpansion, b, a));
    case 'P': return ms_dmsw_type(ms_dmswr_pop_list_or_empty(p, ms_DMSW_Pack, ms_dmswr_pop_type));
    case 'S':
        c = ms_dmsw_next(p);
        if (c != 'd' && c != 'i')
            return 0;
        return ms_dmsw_type(ms_dmswr_pop_list_or_empty(
            p, c == 'd' ? ms_DMSW_SILPackDirect : ms_DMSW_SILPackIndirect, ms_dmswr_pop_type));
    case 'r':
    case 'u': return ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_OpaqueReturnType));
    case 'R':
    case 'U': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_OpaqueReturnType, ms_dmswr_index_node(p)));
    case 'x': return ms_dmsw_remember(p, ms_dmswr_assoc_simple(p, 0));
    case 'X': return ms_dmsw_remember(p, ms_dmswr_assoc_compound(p, 0));
    case 'y':
    case 'Y':
        a = ms_dmswr_generic_param(p);
        if (!a)
            return 0;
        return ms_dmsw_remember(p, c == 'y' ? ms_dmswr_assoc_simple(p, a) : ms_dmswr_assoc_compound(p, a));
    case 'z':
    case 'Z':
        a = ms_dmsw_param_type(p, 0, 0);
        return ms_dmsw_remember(p, c == 'z' ? ms_dmswr_assoc_simple(p, a) : ms_dmswr_assoc_compound(p, a));
    default: return 0;
    }
}

/* The constrained type of a requirement; form is one of Generic, Assoc, Compound, Substitution by letter. */
static uint32_t ms_dmswr_constrained(ms_dmsw *p, char form)
{
    if (form == 'S')
        return ms_dmswr_pop_type(p);
    uint32_t param = ms_dmswr_generic_param(p);
    if (!param)
        return 0;
    if (form == 'G')
        return ms_dmsw_type(param);
    return ms_dmsw_remember(p, form == 'A' ? ms_dmswr_assoc_simple(p, param)
                                           : ms_dmswr_assoc_compound(p, param));
}

/* LAYOUT-CONSTRAINT */
static uint32_t ms_dmswr_layout(ms_dmsw *p, uint32_t type)
{
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find("URNCDTBSEeMm", c) < 0)
        return 0;
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentGenericLayoutRequirement, type);
    if (!ref)
        return 0;
    ms_dmsw_at(p, ref)->mark = (uint8_t)c;
    if (ms_dmsw_find("EMemS", c) >= 0)
        ref = ms_dmsw_add(p, ref, ms_dmswr_index_node(p));
    if (c == 'E' || c == 'M')
        ref = ms_dmsw_add(p, ref, ms_dmswr_index_node(p));
    return ref;
}

/* R: requirement, generic-param-marker */
static uint32_t ms_dmswr_requirement(ms_dmsw *p)
{
    /* letter, form of the constrained type, what it is */
    static const char table[] = "VGv"
                                "vGp"
                                "cAb"
                                "CCb"
                                "bGb"
                                "BSb"
                                "tAs"
                                "TCs"
                                "sGs"
                                "SSs"
                                "mAl"
                                "MCl"
                                "lGl"
                                "LSl"
                                "pAq"
                                "PCq"
                                "QSq"
                                "hGh"
                                "iGi"
                                "ISi"
                                "jAi"
                                "JCi";
    char c = ms_dmsw_peek(p), form = 'G', what = 'q';
    for (size_t i = 0; c != '\0' && i + 2 < sizeof table; i += 3) {
        if (table[i] != c)
            continue;
        form = table[i + 1];
        what = table[i + 2];
        p->at++;
        break;
    }
    uint32_t inverse = what == 'i' ? ms_dmswr_index_node(p) : 0;
    uint32_t type = ms_dmswr_constrained(p, form);
    switch (what) {
    case 'v': return ms_dmsw_make2(p, ms_DMSW_DependentGenericParamValueMarker, type, ms_dmswr_pop_type(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_DependentGenericParamPackMarker, type);
    case 'q':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type,
                             ms_dmswr_pop_protocol(p));
    case 'b':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type, ms_dmswr_pop_type(p));
    case 's':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameTypeRequirement, type, ms_dmswr_pop_type(p));
    case 'h':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameShapeRequirement, type, ms_dmswr_pop_type(p));
    case 'i': return ms_dmsw_make2(p, ms_DMSW_DependentGenericInverseConformanceRequirement, type, inverse);
    default: return ms_dmswr_layout(p, type);
    }
}

/* l r: generic-signature */
static uint32_t ms_dmswr_signature(ms_dmsw *p, bool has_counts)
{
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_DependentGenericSignature), requirement;
    if (!has_counts) {
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, 1));
    } else {
        while (ref && !ms_dmsw_next_if(p, 'l')) {
            int64_t count = ms_dmsw_next_if(p, 'z') ? 0 : ms_dmswr_index(p) + 1;
            if (count < 0 || (count == 0 && p->s[p->at - 1] != 'z'))
                return 0;
            ref = ms_dmsw_add(p, ref,
                              ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, (uint64_t)count));
        }
    }
    uint32_t counts = ms_dmsw_kid_count(p, ref);
    while ((requirement = ms_dmswr_pop_requirement(p)) != 0)
        ref = ms_dmsw_add(p, ref, requirement);
    if (ref)
        ms_dmsw_reverse(p, ref, counts);
    return ref;
}

/* protocol-list */
static uint32_t ms_dmswr_pop_protocols(ms_dmsw *p)
{
    return ms_dmsw_make1(p, ms_DMSW_ProtocolList,
                         ms_dmswr_pop_list_or_empty(p, ms_DMSW_TypeList, ms_dmswr_pop_protocol));
}

/* Xx XX: SIL boxes */
static uint32_t ms_dmswr_sil_box(ms_dmsw *p, bool generic)
{
    uint32_t signature = 0, args = 0;
    if (generic) {
        signature = ms_dmswr_pop_signature(p);
        args = ms_dmswr_pop_type_list(p);
        if (!signature || !args)
            return 0;
    }
    uint32_t types = ms_dmswr_pop_type_list(p), layout = ms_dmsw_make(p, ms_DMSW_SILBoxLayout);
    if (!types)
        return 0;
    for (uint32_t i = 0; i < ms_dmsw_kid_count(p, types); i++) {
        uint32_t type = ms_dmsw_kid(p, types, i);
        unsigned kind = ms_DMSW_SILBoxImmutableField;
        if (ms_dmsw_inner(p, type) == ms_DMSW_InOut) { /* how a mutable field is written */
            kind = ms_DMSW_SILBoxMutableField;
            type = ms_dmsw_kid(p, type, 0);
        }
        layout = ms_dmsw_add(p, layout, ms_dmsw_make1(p, kind, type));
    }
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_SILBoxTypeWithLayout, layout);
    if (generic)
        ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, signature), args);
    return ms_dmsw_type(ref);
}

/* XS: sugared types of the debugger */
static uint32_t ms_dmswr_sugared(ms_dmsw *p)
{
    uint32_t type;
    switch (ms_dmsw_next(p)) {
    case 'q': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredOptional, ms_dmswr_pop_type(p)));
    case 'a': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredArray, ms_dmswr_pop_type(p)));
    case 'p': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredParen, ms_dmswr_pop_type(p)));
    case 'D':
        type = ms_dmswr_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_SugaredDictionary, ms_dmswr_pop_type(p), type));
    case 'A':
        type = ms_dmswr_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_SugaredInlineArray, ms_dmswr_pop_type(p), type));
    default: return 0;
    }
}

/* X: types that are rarer than one letter */
static uint32_t ms_dmswr_special_type(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'E': return ms_dmswr_pop_function(p, ms_DMSW_NoEscapeFunctionType, false);
    case 'A': return ms_dmswr_pop_function(p, ms_DMSW_EscapingAutoClosureType, false);
    case 'f': return ms_dmswr_pop_function(p, ms_DMSW_ThinFunctionType, false);
    case 'K': return ms_dmswr_pop_function(p, ms_DMSW_AutoClosureType, false);
    case 'U': return ms_dmswr_pop_function(p, ms_DMSW_UncurriedFunctionType, false);
    case 'L': return ms_dmswr_pop_function(p, ms_DMSW_EscapingObjCBlock, false);
    case 'B': return ms_dmswr_pop_function(p, ms_DMSW_ObjCBlock, false);
    case 'C': return ms_dmswr_pop_function(p, ms_DMSW_CFunctionPointer, false);
    case 'z':
        c = ms_dmsw_next(p);
        if (c != 'B' && c != 'C')
            return 0;
        return ms_dmswr_pop_function(p, c == 'B' ? ms_DMSW_ObjCBlock : ms_DMSW_CFunctionPointer, true);
    case 'g': return ms_dmsw_make1(p, ms_DMSW_ExtendedExistentialTypeShape, ms_dmswr_pop_type(p));
    case 'G':
        a = ms_dmswr_pop_type(p);
        return ms_dmsw_make2(p, ms_DMSW_ExtendedExistentialTypeShape, ms_dmswr_pop_signature(p), a);
    case 'o': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Unowned, ms_dmswr_pop_type(p)));
    case 'u': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Unmanaged, ms_dmswr_pop_type(p)));
    case 'w': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Weak, ms_dmswr_pop_type(p)));
    case 'b': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SILBoxType, ms_dmswr_pop_type(p)));
    case 'D': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_DynamicSelf, ms_dmswr_pop_type(p)));
    case 'M':
    case 'm':
        a = ms_dmsw_metatype_repr(p);
        b = ms_dmswr_pop_type(p);
        return ms_dmsw_type(
            ms_dmsw_make2(p, c == 'M' ? ms_DMSW_Metatype : ms_DMSW_ExistentialMetatype, a, b));
    case 'p': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ExistentialMetatype, ms_dmswr_pop_type(p)));
    case 'P':
        a = ms_dmswr_pop_list(p, ms_DMSW_ConstrainedExistentialRequirementList, ms_dmswr_pop_requirement);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_ConstrainedExistential, ms_dmswr_pop_type(p), a));
    case 'c':
        a = ms_dmswr_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_ProtocolListWithClass, ms_dmswr_pop_protocols(p), a));
    case 'l':
        return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ProtocolListWithAnyObject, ms_dmswr_pop_protocols(p)));
    case 'x':
    case 'X': return ms_dmswr_sil_box(p, c == 'X');
    case 'Y': return ms_dmswr_any_generic(p, ms_DMSW_OtherNominalType);
    case 'Z':
        a = ms_dmswr_pop_type_list(p);
        b = ms_dmswr_pop(p, ms_DMSW_Identifier);
        return ms_dmsw_make3(p, ms_DMSW_AnonymousContext, b, ms_dmswr_pop_context(p), a);
    case 'e': return ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_ErrorType));
    case 'S': return ms_dmswr_sugared(p);
    default: return 0;
    }
}

static bool ms_dmswr_diff_letter(char c)
{
    return c == 'd' || c == 'f' || c == 'l' || c == 'r';
}

/* Y: parts of function types and of parameters */
static uint32_t ms_dmswr_annotation(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'a': return ms_dmsw_make(p, ms_DMSW_AsyncAnnotation);
    case 'A': return ms_dmsw_make(p, ms_DMSW_IsolatedAnyFunctionType);
    case 'b': return ms_dmsw_make(p, ms_DMSW_ConcurrentFunctionType);
    case 'c': return ms_dmsw_make1(p, ms_DMSW_GlobalActorFunctionType, ms_dmswr_pop_type(p));
    case 'C': return ms_dmsw_make(p, ms_DMSW_NonIsolatedCallerFunctionType);
    case 'g': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ConstValue, ms_dmswr_pop_bare(p)));
    case 'i': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Isolated, ms_dmswr_pop_bare(p)));
    case 'j':
        c = ms_dmsw_next(p);
        return ms_dmswr_diff_letter(c) ? ms_dmsw_marked(p, ms_DMSW_DifferentiableFunctionType, c) : 0;
    case 'k': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_NoDerivative, ms_dmswr_pop_bare(p)));
    case 'K': return ms_dmsw_make1(p, ms_DMSW_TypedThrowsAnnotation, ms_dmswr_pop_bare(p));
    case 't': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_CompileTimeLiteral, ms_dmswr_pop_bare(p)));
    case 'T': return ms_dmsw_make(p, ms_DMSW_SendingResultFunctionType);
    case 'u': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Sending, ms_dmswr_pop_bare(p)));
    default: return 0;
    }
}

/* $: integers as types */
static uint32_t ms_dmswr_integer(ms_dmsw *p)
{
    bool negative = ms_dmsw_next_if(p, 'n');
    int64_t value = ms_dmswr_index(p);
    if (value < 0 || (negative && value == 0))
        return 0;
    return ms_dmsw_type(
        ms_dmsw_make_index(p, negative ? ms_DMSW_NegativeInteger : ms_DMSW_Integer, (uint64_t)value));
}

#endif /* MACHSYM_NO_SWIFT */

#endif /* ms_ROOM_names_swift_reader */
