#ifndef ms_ROOM_names_swift_symbols
#define ms_ROOM_names_swift_symbols
#include "../base/bytes.h"
#include "core.h"
#include "swift_nodes.h"
#include "swift_reader.h"
#include "swift_old.h"

/* ==== >>swift-symbols =====================================================================================
 * Job:    reads whole Swift names: declarations and what is derived from them, such as thunks.
 * Offers: ms_dmsws_begin, ms_dmsws_tree, ms_dmsws_is_symbol.
 * Never:  prints. */

#ifndef MACHSYM_NO_SWIFT
/* Of 190,000 words in sources and documents, each tried after $s, $S, $e, _T and _T0, none of five letters
 * or more is a symbol that spells no identifier. */
enum { ms_DMSWS_TEXT_LETTERS = 5 };

/* ---- implementation function types ---- */

/* One parameter or result without its type; 0 when the next letter is another. */
static uint32_t ms_dmsws_impl_part(ms_dmsw *p, unsigned kind, const char *letters)
{
    int word = ms_dmsw_find(letters, ms_dmsw_peek(p));
    if (word < 0)
        return 0;
    p->at++;
    return ms_dmsw_marked(p, kind, (char)word);
}

/* PARAM-DIFFERENTIABILITY to IMPLICIT-LEADING-PARAM. A result has the first of them only. */
static void ms_dmsws_impl_marks(ms_dmsw *p, uint32_t ref, bool is_param)
{
    static const char letters[] = "wTIL";
    unsigned mark = ms_dmsw_at(p, ref)->mark;
    for (unsigned i = 0; letters[i] != '\0' && (i == 0 || is_param); i++)
        if (ms_dmsw_next_if(p, letters[i]))
            mark |= (unsigned)ms_DMSW_M_NO_DERIVATIVE << i;
    ms_dmsw_at(p, ref)->mark = (uint8_t)mark;
}

/* PATTERN-SUBS, INVOCATION-SUB */
static uint32_t ms_dmsws_impl_subs(ms_dmsw *p, unsigned kind)
{
    uint32_t retroactive = ms_dmswr_pop_retroactive(p);
    uint32_t lists = ms_dmswr_pop_bound_args(p);
    uint32_t ref = ms_dmsw_make(p, kind);
    if (kind == ms_DMSW_ImplPatternSubstitutions)
        ref = ms_dmsw_add(p, ref, ms_dmswr_pop_signature(p));
    if (ms_dmsw_kid_count(p, lists) != 1)
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_kid(p, lists, 0));
    return retroactive ? ms_dmsw_add(p, ref, retroactive) : ref;
}

/* FUNC-REPRESENTATION */
static uint32_t ms_dmsws_impl_representation(ms_dmsw *p, uint32_t ref)
{
    uint32_t name = 0, clang = 0;
    bool has_clang =
        ms_dmsw_peek(p) == 'z' && p->len - p->at > 1 && (p->s[p->at + 1] == 'B' || p->s[p->at + 1] == 'C');
    p->at += has_clang;
    switch (ms_dmsw_peek(p)) {
    case 'B': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "block"); break;
    case 'C': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "c"); break;
    case 'M': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "method"); break;
    case 'J': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "objc_method"); break;
    case 'K': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "closure"); break;
    case 'W': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "witness_method"); break;
    default: return ref;
    }
    p->at++;
    uint32_t convention = ms_dmsw_make1(p, ms_DMSW_ImplFunctionConvention, name);
    if (has_clang) {
        clang = ms_dmswr_clang_type(p);
        convention = ms_dmsw_add(p, convention, clang);
    }
    return ms_dmsw_add(p, ref, convention);
}

/* CALLEE-ESCAPE to SENDING-RESULT */
static uint32_t ms_dmsws_impl_attributes(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_next_if(p, 'e'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplEscaping));
    if (ms_dmsw_next_if(p, 'A'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplErasedIsolation));
    else if (ms_dmsw_next_if(p, 'N'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplNonIsolated));
    if (ms_dmsw_next_if(p, 'O'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplCalledOnce));
    if (ms_dmswr_diff_letter(ms_dmsw_peek(p)))
        ref = ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_ImplDifferentiabilityKind, ms_dmsw_next(p)));
    uint32_t callee = 0;
    switch (ms_dmsw_next(p)) {
    case 'y': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_unowned"); break;
    case 'g': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_guaranteed"); break;
    case 'x': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_owned"); break;
    case 't': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@convention(thin)"); break;
    default: return 0;
    }
    ref = ms_dmsws_impl_representation(p, ms_dmsw_add(p, ref, callee));
    if (ms_dmsw_next_if(p, 'A'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@yield_once"));
    else if (ms_dmsw_next_if(p, 'I'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@yield_once_2"));
    else if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@yield_many"));
    if (ms_dmsw_next_if(p, 'h'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@Sendable"));
    if (ms_dmsw_next_if(p, 'H'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@async"));
    if (ms_dmsw_next_if(p, 'T'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplSendingResult));
    return ref;
}

/* I: impl-function-type */
static uint32_t ms_dmsws_impl_function(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_ImplFunctionType), part;
    if (ms_dmsw_next_if(p, 's'))
        ref = ms_dmsw_add(p, ref, ms_dmsws_impl_subs(p, ms_DMSW_ImplPatternSubstitutions));
    if (ms_dmsw_next_if(p, 'I'))
        ref = ms_dmsw_add(p, ref, ms_dmsws_impl_subs(p, ms_DMSW_ImplInvocationSubstitutions));
    uint32_t signature = ms_dmswr_pop_signature(p), first;
    if (signature && ms_dmsw_next_if(p, 'P'))
        signature = ms_dmsw_with_kind(p, signature, ms_DMSW_DependentPseudogenericSignature);
    ref = ms_dmsws_impl_attributes(p, ref);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    first = ms_dmsw_kid_count(p, ref);
    while (ref && (part = ms_dmsws_impl_part(p, ms_DMSW_ImplParameter, ms_dmsw_param_letters)) != 0) {
        ms_dmsws_impl_marks(p, part, true);
        ref = ms_dmsw_add(p, ref, part);
    }
    while (ref && (part = ms_dmsws_impl_part(p, ms_DMSW_ImplResult, ms_dmsw_result_letters)) != 0) {
        ms_dmsws_impl_marks(p, part, false);
        ref = ms_dmsw_add(p, ref, part);
    }
    while (ref && ms_dmsw_next_if(p, 'Y')) {
        part = ms_dmsws_impl_part(p, ms_DMSW_ImplYield, ms_dmsw_param_letters);
        if (part)
            ms_dmsws_impl_marks(p, part, true);
        ref = ms_dmsw_add(p, ref, part);
    }
    if (ms_dmsw_next_if(p, 'z')) {
        part = ms_dmsws_impl_part(p, ms_DMSW_ImplErrorResult, ms_dmsw_result_letters);
        if (part)
            ms_dmsws_impl_marks(p, part, false);
        ref = ms_dmsw_add(p, ref, part);
    }
    if (!ref || !ms_dmsw_next_if(p, '_'))
        return 0;
    for (uint32_t i = ms_dmsw_kid_count(p, ref); i > first; i--)
        if (!ms_dmsw_add(p, ms_dmsw_kid(p, ref, i - 1), ms_dmswr_pop_type(p)))
            return 0;
    return ms_dmsw_type(ref);
}

/* ---- conformances ---- */

/* DEPENDENT-CONFORMANCE-INDEX. 0 is reserved, 1 means unknown, and larger numbers are the index plus 2. */
static uint32_t ms_dmsws_conformance_index(ms_dmsw *p)
{
    int64_t index = ms_dmswr_index(p);
    if (index <= 0)
        return 0;
    return index == 1 ? ms_dmsw_make(p, ms_DMSW_UnknownIndex)
                      : ms_dmsw_make_index(p, ms_DMSW_Index, (uint64_t)index - 2);
}

static uint32_t ms_dmsws_concrete_conformance(ms_dmsw *p)
{
    uint32_t list =
        ms_dmswr_pop_list_or_empty(p, ms_DMSW_AnyProtocolConformanceList, ms_dmswr_pop_any_conformance);
    uint32_t ref = ms_dmswr_pop(p, ms_DMSW_ProtocolConformanceRefInTypeModule);
    if (!ref)
        ref = ms_dmswr_pop(p, ms_DMSW_ProtocolConformanceRefInProtocolModule);
    if (!ref) {
        uint32_t module = ms_dmswr_pop_module(p);
        ref = ms_dmsw_make2(p, ms_DMSW_ProtocolConformanceRefInOtherModule, ms_dmswr_pop_protocol(p), module);
    }
    return ms_dmsw_make3(p, ms_DMSW_ConcreteProtocolConformance, ms_dmswr_pop_type(p), ref, list);
}

/* H: conformances and runtime records */
static uint32_t ms_dmsws_conformance_op(ms_dmsw *p)
{
    uint32_t a, b, index;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'A':
        index = ms_dmsws_conformance_index(p);
        a = ms_dmswr_pop_protocol(p);
        a = ms_dmsw_make2(p, ms_DMSW_DependentAssociatedConformance, ms_dmswr_pop_type(p), a);
        b = ms_dmswr_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceAssociated, b, a, index);
    case 'D':
        index = ms_dmsws_conformance_index(p);
        a = ms_dmswr_pop_protocol(p);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceRoot, ms_dmswr_pop_type(p), a, index);
    case 'I':
        index = ms_dmsws_conformance_index(p);
        a = ms_dmswr_pop_protocol(p);
        b = ms_dmswr_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceInherited, b, a, index);
    case 'O':
        a = ms_dmswr_pop_type(p);
        b = ms_dmswr_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make2(p, ms_DMSW_DependentProtocolConformanceOpaque, b, a);
    case 'C': return ms_dmsws_concrete_conformance(p);
    case 'X':
        a = ms_dmswr_pop_list_or_empty(p, ms_DMSW_AnyProtocolConformanceList, ms_dmswr_pop_any_conformance);
        return ms_dmsw_make1(p, ms_DMSW_PackProtocolConformance, a);
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceRefInTypeModule, ms_dmswr_pop_protocol(p));
    case 'p':
        return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceRefInProtocolModule, ms_dmswr_pop_protocol(p));
    case 'c':
        return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceDescriptorRecord, ms_dmswr_pop_conformance(p));
    case 'n': return ms_dmsw_make1(p, ms_DMSW_NominalTypeDescriptorRecord, ms_dmswr_pop_type(p));
    case 'o': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorRecord, ms_dmswr_pop_any(p));
    case 'r': return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptorRecord, ms_dmswr_pop_protocol(p));
    case 'F': return ms_dmsw_make(p, ms_DMSW_AccessibleFunctionRecord);
    default: return 0;
    }
}

/* g: retroactive-conformance */
static uint32_t ms_dmsws_retroactive(ms_dmsw *p)
{
    uint32_t index = ms_dmswr_index_node(p);
    return ms_dmsw_make2(p, ms_DMSW_RetroactiveConformance, index, ms_dmswr_pop_any_conformance(p));
}

/* ---- metadata, witnesses ---- */

/* MX: context descriptors */
static uint32_t ms_dmsws_context_descriptor(ms_dmsw *p)
{
    uint32_t a;
    switch (ms_dmsw_next(p)) {
    case 'E': return ms_dmsw_make1(p, ms_DMSW_ExtensionDescriptor, ms_dmswr_pop_context(p));
    case 'M': return ms_dmsw_make1(p, ms_DMSW_ModuleDescriptor, ms_dmswr_pop_module(p));
    case 'X': return ms_dmsw_make1(p, ms_DMSW_AnonymousDescriptor, ms_dmswr_pop_context(p));
    case 'Y':
        a = ms_dmswr_pop_any(p);
        return ms_dmsw_make2(p, ms_DMSW_AnonymousDescriptor, ms_dmswr_pop_context(p), a);
    case 'A':
        a = ms_dmswr_pop_assoc_path(p);
        return ms_dmsw_make2(p, ms_DMSW_AssociatedTypeGenericParamRef, ms_dmswr_pop_type(p), a);
    default: return 0;
    }
}

/* M: metadata */
static uint32_t ms_dmsws_metadata(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'a': kind = ms_DMSW_TypeMetadataAccessFunction; break;
    case 'b': kind = ms_DMSW_CanonicalSpecializedGenericTypeMetadataAccessFunction; break;
    case 'B': kind = ms_DMSW_ReflectionMetadataBuiltinDescriptor; break;
    case 'C': kind = ms_DMSW_ReflectionMetadataSuperclassDescriptor; break;
    case 'd': /* Apple's own compilers write this letter for 'D' */
    case 'D': kind = ms_DMSW_TypeMetadataDemanglingCache; break;
    case 'f': kind = ms_DMSW_FullTypeMetadata; break;
    case 'F': kind = ms_DMSW_ReflectionMetadataFieldDescriptor; break;
    case 'i': kind = ms_DMSW_TypeMetadataInstantiationFunction; break;
    case 'I': kind = ms_DMSW_TypeMetadataInstantiationCache; break;
    case 'l': kind = ms_DMSW_TypeMetadataSingletonInitializationCache; break;
    case 'L': kind = ms_DMSW_TypeMetadataLazyCache; break;
    case 'm': kind = ms_DMSW_Metaclass; break;
    case 'M': kind = ms_DMSW_CanonicalSpecializedGenericMetaclass; break;
    case 'n': kind = ms_DMSW_NominalTypeDescriptor; break;
    case 'N': kind = ms_DMSW_NoncanonicalSpecializedGenericTypeMetadata; break;
    case 'o': kind = ms_DMSW_ClassMetadataBaseOffset; break;
    case 'P': kind = ms_DMSW_GenericTypeMetadataPattern; break;
    case 'r': kind = ms_DMSW_TypeMetadataCompletionFunction; break;
    case 'R': kind = ms_DMSW_TypeMetadataMangledNameRef; break; /* written by Apple's own compilers only */
    case 's': kind = ms_DMSW_ObjCResilientClassStub; break;
    case 't': kind = ms_DMSW_FullObjCResilientClassStub; break;
    case 'u': kind = ms_DMSW_MethodLookupFunction; break;
    case 'U': kind = ms_DMSW_ObjCMetadataUpdateFunction; break;
    case 'z': kind = ms_DMSW_CanonicalPrespecializedGenericTypeCachingOnceToken; break;
    case 'A':
        return ms_dmsw_make1(p, ms_DMSW_ReflectionMetadataAssocTypeDescriptor, ms_dmswr_pop_conformance(p));
    case 'c': return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceDescriptor, ms_dmswr_pop_conformance(p));
    case 'g': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessor, ms_dmswr_pop_any(p));
    case 'h': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorImpl, ms_dmswr_pop_any(p));
    case 'j': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorKey, ms_dmswr_pop_any(p));
    case 'k': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorVar, ms_dmswr_pop_any(p));
    case 'J':
        return ms_dmsw_make1(p, ms_DMSW_NoncanonicalSpecializedGenericTypeMetadataCache, ms_dmswr_pop_any(p));
    case 'K': return ms_dmsw_make1(p, ms_DMSW_MetadataInstantiationCache, ms_dmswr_pop_any(p));
    case 'q': return ms_dmsw_make1(p, ms_DMSW_Uniquable, ms_dmswr_pop_any(p));
    case 'Q': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptor, ms_dmswr_pop_any(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptor, ms_dmswr_pop_protocol(p));
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceDescriptor, ms_dmswr_pop_protocol(p));
    case 'V': return ms_dmsw_make1(p, ms_DMSW_PropertyDescriptor, ms_dmswr_pop_entity(p));
    case 'X': return ms_dmsws_context_descriptor(p);
    default: return 0;
    }
    return ms_dmsw_make1(p, kind, ms_dmswr_pop_type(p));
}

/* WO: outlined value operations */
static uint32_t ms_dmsws_outlined(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'y': kind = ms_DMSW_OutlinedCopy; break;
    case 'e': kind = ms_DMSW_OutlinedConsume; break;
    case 'r': kind = ms_DMSW_OutlinedRetain; break;
    case 's': kind = ms_DMSW_OutlinedRelease; break;
    case 'b':
    case 'B': kind = ms_DMSW_OutlinedInitializeWithTake; break;
    case 'c':
    case 'C': kind = ms_DMSW_OutlinedInitializeWithCopy; break;
    case 'd':
    case 'D': kind = ms_DMSW_OutlinedAssignWithTake; break;
    case 'f':
    case 'F': kind = ms_DMSW_OutlinedAssignWithCopy; break;
    case 'h':
    case 'H': kind = ms_DMSW_OutlinedDestroy; break;
    case 'g': kind = ms_DMSW_OutlinedEnumGetTag; break;
    case 'i': kind = ms_DMSW_OutlinedEnumTagStore; break;
    case 'j': kind = ms_DMSW_OutlinedEnumProjectDataForLoad; break;
    default: return 0;
    }
    if ((kind == ms_DMSW_OutlinedEnumTagStore || kind == ms_DMSW_OutlinedEnumProjectDataForLoad) &&
        ms_dmswr_index(p) < 0)
        return 0; /* which case it is: not printed */
    uint32_t signature = ms_dmswr_pop_signature(p);
    uint32_t ref = ms_dmsw_make1(p, kind, ms_dmswr_pop_type(p));
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* INDEX-SUBSET */
static uint32_t ms_dmsws_index_subset(ms_dmsw *p)
{
    size_t start = p->at;
    while (ms_dmsw_peek(p) == 'S' || ms_dmsw_peek(p) == 'U')
        p->at++;
    return p->at > start ? ms_dmsw_make_text(p, ms_DMSW_IndexSubset, p->s + start, p->at - start) : 0;
}

/* Makes all that is on the stack the children of a new node: the function that was differentiated. */
static uint32_t ms_dmsws_pop_all(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    for (uint32_t i = 0; i < p->stack.count; i++)
        ref = ms_dmsw_add(p, ref, p->stack.v[i]);
    p->stack.count = 0;
    return ref;
}

/* Reads a kind letter, a subset and 'p', a subset and 'r'. They become children of ref, after those that
 * it has. */
static uint32_t ms_dmsws_diff_parts(ms_dmsw *p, uint32_t ref, const char *letters)
{
    if (ms_dmsw_kid_count(p, ref) == 0)
        return 0;
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find(letters, c) < 0)
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_AutoDiffFunctionKind, c));
    ref = ms_dmsw_add(p, ref, ms_dmsws_index_subset(p));
    if (!ms_dmsw_next_if(p, 'p'))
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsws_index_subset(p));
    return ms_dmsw_next_if(p, 'r') ? ref : 0;
}

/* WJ */
static uint32_t ms_dmsws_diff_witness(ms_dmsw *p)
{
    uint32_t signature = ms_dmswr_pop_signature(p);
    uint32_t ref = ms_dmsws_diff_parts(p, ms_dmsws_pop_all(p, ms_DMSW_DifferentiabilityWitness), "frdl");
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* WZ Wz */
static uint32_t ms_dmsws_once(ms_dmsw *p, unsigned kind)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_GlobalVariableOnceDeclList);
    while (list && ms_dmswr_pop_first(p))
        list = ms_dmsw_add(p, list, ms_dmswr_pop_trait(p, ms_DMSW_T_NAME));
    if (!list || ms_dmsw_kid_count(p, list) == 0)
        return 0;
    ms_dmsw_reverse(p, list, 0);
    return ms_dmsw_make2(p, kind, ms_dmswr_pop_context(p), list);
}

/* The subject of WT, Tn and TN: a path of associated types, or a type that is no protocol. */
static uint32_t ms_dmsws_pop_subject(ms_dmsw *p)
{
    uint32_t top = ms_dmswr_top(p);
    if ((top & ms_DMSW_AS_TYPE) && ms_dmsw_inner(p, top) != ms_DMSW_Protocol)
        return ms_dmswr_pop_type(p);
    return ms_dmswr_pop_assoc_path(p);
}

/* W: witness tables and value operations */
static uint32_t ms_dmsws_witness(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'C': return ms_dmsw_make1(p, ms_DMSW_EnumCase, ms_dmswr_pop_entity(p));
    case 'V': return ms_dmsw_make1(p, ms_DMSW_ValueWitnessTable, ms_dmswr_pop_type(p));
    case 'v':
        c = ms_dmsw_next(p);
        a = c == 'd' || c == 'i' ? ms_dmsw_make1(p, ms_DMSW_FieldOffset, ms_dmswr_pop_entity(p)) : 0;
        if (a)
            ms_dmsw_at(p, a)->mark = (uint8_t)c;
        return a;
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceWitnessTable, ms_dmswr_pop_protocol(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTable, ms_dmswr_pop_conformance(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTablePattern, ms_dmswr_pop_conformance(p));
    case 'G': return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTable, ms_dmswr_pop_conformance(p));
    case 'I':
        return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTableInstantiationFunction,
                             ms_dmswr_pop_conformance(p));
    case 'r': return ms_dmsw_make1(p, ms_DMSW_ResilientProtocolWitnessTable, ms_dmswr_pop_conformance(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTableAccessor, ms_dmswr_pop_conformance(p));
    case 'l':
    case 'L':
        a = ms_dmswr_pop_conformance(p);
        return ms_dmsw_make2(p,
                             c == 'l' ? ms_DMSW_LazyProtocolWitnessTableAccessor
                                      : ms_DMSW_LazyProtocolWitnessTableCacheVariable,
                             ms_dmswr_pop_type(p), a);
    case 't':
        a = ms_dmswr_pop_trait(p, ms_DMSW_T_NAME);
        return ms_dmsw_make2(p, ms_DMSW_AssociatedTypeMetadataAccessor, ms_dmswr_pop_conformance(p), a);
    case 'T':
        a = ms_dmswr_pop_type(p);
        b = ms_dmsws_pop_subject(p);
        return ms_dmsw_make3(p, ms_DMSW_AssociatedTypeWitnessTableAccessor, ms_dmswr_pop_conformance(p), b,
                             a);
    case 'b':
        a = ms_dmswr_pop_type(p);
        return ms_dmsw_make2(p, ms_DMSW_BaseWitnessTableAccessor, ms_dmswr_pop_conformance(p), a);
    case 'O': return ms_dmsws_outlined(p);
    case 'Z': return ms_dmsws_once(p, ms_DMSW_GlobalVariableOnceFunction);
    case 'z': return ms_dmsws_once(p, ms_DMSW_GlobalVariableOnceToken);
    case 'J': return ms_dmsws_diff_witness(p);
    default: return 0;
    }
}

/* ---- thunks and specializations ---- */

/* SPEC-INFO */
static uint32_t ms_dmsws_spec_info(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    ms_dmsw_next_if(p, 'm'); /* compilers before Swift 6: metatype parameters removed; never printed */
    if (ms_dmsw_next_if(p, 'q'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized));
    ms_dmsw_next_if(p, 'a'); /* async effect removed; not printed */
    if (ms_dmsw_next_if(p, 'r') && ref)
        ms_dmsw_at(p, ref)->mark = 1;
    return ms_dmsw_digit(ms_dmsw_next(p)) ? ref : 0;
}

/* The types on the stack become the parameters of a generic specialization. */
static uint32_t ms_dmsws_generic_spec(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsws_spec_info(p, kind), types = ms_dmswr_pop_type_list(p);
    if (!types)
        return 0;
    for (uint32_t i = 0; ref && i < ms_dmsw_kid_count(p, types); i++)
        ref = ms_dmsw_add(p, ref,
                          ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmsw_kid(p, types, i)));
    return ref;
}

/* dropped-arg: which argument is not printed */
static uint32_t ms_dmsws_generic_spec_dropped(ms_dmsw *p)
{
    p->at--;
    while (ms_dmsw_next_if(p, 't'))
        if (ms_dmsw_digit(ms_dmsw_peek(p)) && ms_dmsw_natural(p) < 0)
            return 0;
    switch (ms_dmsw_next(p)) {
    case 'g': return ms_dmsws_generic_spec(p, ms_DMSW_GenericSpecialization);
    case 'G': return ms_dmsws_generic_spec(p, ms_DMSW_GenericSpecializationNotReAbstracted);
    case 'B': return ms_dmsws_generic_spec(p, ms_DMSW_GenericSpecializationInResilienceDomain);
    default: return 0;
    }
}

/* Reads digits as text. The number may have more than 64 bits. */
static uint32_t ms_dmsws_spec_digits(ms_dmsw *p, uint32_t param)
{
    size_t start = p->at;
    while (ms_dmsw_digit(ms_dmsw_peek(p)))
        p->at++;
    return p->at > start ? ms_dmsw_spec_text(p, param, p->s + start, p->at - start) : 0;
}

/* CONST-PROP */
static uint32_t ms_dmsws_spec_const(ms_dmsw *p, uint32_t param)
{
    switch (ms_dmsw_next(p)) {
    case 'f': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_FUNCTION);
    case 'g': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_GLOBAL);
    case 'i': return ms_dmsws_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_INTEGER));
    case 'd': return ms_dmsws_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FLOAT));
    case 'k': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_KEYPATH);
    case 'S': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_STRUCT);
    case 's':
        param = ms_dmsw_spec_kind(p, param, ms_DMSW_P_STRING);
        switch (ms_dmsw_next(p)) {
        case 'b': return ms_dmsw_spec_text(p, param, "u8", 2);
        case 'w': return ms_dmsw_spec_text(p, param, "u16", 3);
        case 'c': return ms_dmsw_spec_text(p, param, "objc", 4);
        default: return 0;
        }
    default: return 0;
    }
}

/* CONST-PROP of a struct. The struct and each of its parts, which are constants too, become parameters. */
static uint32_t ms_dmsws_spec_struct(ms_dmsw *p, uint32_t param)
{
    while (param && ms_dmsw_find("fgikdsS", ms_dmsw_peek(p)) >= 0) {
        uint32_t part = ms_dmsw_make(p, ms_DMSW_FunctionSignatureSpecializationParam);
        param = ms_dmsw_add(p, param, ms_dmsws_spec_const(p, part));
    }
    return param;
}

/* The combinable rest of an ARG-SPEC-KIND */
static uint32_t ms_dmsws_spec_options(ms_dmsw *p, uint32_t param, unsigned what)
{
    if ((what & ms_DMSW_P_EXISTENTIAL) && ms_dmsw_next_if(p, 'D'))
        what |= ms_DMSW_P_DEAD;
    if ((what & (ms_DMSW_P_EXISTENTIAL | ms_DMSW_P_DEAD)) != 0) {
        if (ms_dmsw_next_if(p, 'G'))
            what |= ms_DMSW_P_OWNED_TO_GUARANTEED;
        if (ms_dmsw_next_if(p, 'O'))
            what |= ms_DMSW_P_GUARANTEED_TO_OWNED;
    }
    if (ms_dmsw_next_if(p, 'X'))
        what |= ms_DMSW_P_EXPLODED;
    return ms_dmsw_spec_kind(p, param, what);
}

/* ARG-SPEC-KIND */
static uint32_t ms_dmsws_spec_param(ms_dmsw *p, unsigned kind)
{
    uint32_t param = ms_dmsw_make(p, kind);
    switch (ms_dmsw_next(p)) {
    case 'n': return param;
    case 'c': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_CLOSURE);
    case 'E': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_ESCAPING_CLOSURE);
    case 'C': return ms_dmsws_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_SAME_CLOSURE));
    case 'p': return ms_dmsw_peek(p) == 'S' ? ms_dmsws_spec_struct(p, param) : ms_dmsws_spec_const(p, param);
    case 'e': return ms_dmsws_spec_options(p, param, ms_DMSW_P_EXISTENTIAL);
    case 'd': return ms_dmsws_spec_options(p, param, ms_DMSW_P_DEAD);
    case 'g': return ms_dmsws_spec_options(p, param, ms_DMSW_P_OWNED_TO_GUARANTEED);
    case 'o': return ms_dmsws_spec_options(p, param, ms_DMSW_P_GUARANTEED_TO_OWNED);
    case 'x': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_EXPLODED);
    case 'i': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_VALUE);
    case 's': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_STACK);
    case 'r': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_INOUT_TO_OUT);
    default: return 0;
    }
}

/* Takes what a constant or closure needs off the stack: types and the name before them. */
static bool ms_dmsws_spec_operands(ms_dmsw *p, uint32_t param, uint64_t kind)
{
    bool closure = kind == ms_DMSW_P_CLOSURE || kind == ms_DMSW_P_ESCAPING_CLOSURE;
    uint32_t type, fixed = ms_dmsw_kid_count(p, param);
    while ((type = ms_dmswr_pop_type(p)) != 0)
        if ((!closure && kind != ms_DMSW_P_KEYPATH) || !ms_dmsw_add(p, param, type))
            return false;
    uint32_t name = ms_dmswr_pop(p, ms_DMSW_Identifier);
    if (!name)
        return false;
    const char *text = ms_dmsw_at(p, name)->u.text;
    size_t len = ms_dmsw_at(p, name)->count;
    if (kind == ms_DMSW_P_STRING && len > 0 && text[0] == '_') { /* it escapes a digit or another _ */
        text++;
        len--;
    }
    if (!ms_dmsw_spec_text(p, param, text, len))
        return false;
    ms_dmsw_reverse(p, param, fixed);
    return true;
}

/* Takes the operands of an argument off the stack. Those of a struct's last part lie on top. */
static bool ms_dmsws_spec_finish(ms_dmsw *p, uint32_t param)
{
    uint32_t first = ms_dmsw_kid(p, param, 0);
    if (!first)
        return true;
    if (ms_dmsw_kind_of(p, first) == ms_DMSW_FunctionSignatureSpecializationParam) {
        for (uint32_t i = ms_dmsw_kid_count(p, param); i > 0; i--) {
            uint32_t part = ms_dmsw_kid(p, param, i - 1), kind = ms_dmsw_kid(p, part, 0);
            bool is_struct = ms_dmsw_at(p, kind)->u.index == ms_DMSW_P_STRUCT;
            if (is_struct ? !ms_dmsw_add(p, part, ms_dmswr_pop_type(p)) : !ms_dmsws_spec_finish(p, part))
                return false;
        }
        return true;
    }
    uint64_t kind = ms_dmsw_at(p, first)->u.index;
    switch (kind) {
    case ms_DMSW_P_FUNCTION:
    case ms_DMSW_P_GLOBAL:
    case ms_DMSW_P_STRING:
    case ms_DMSW_P_KEYPATH:
    case ms_DMSW_P_CLOSURE:
    case ms_DMSW_P_ESCAPING_CLOSURE: return ms_dmsws_spec_operands(p, param, kind);
    default: return true;
    }
}

/* Tf: function signature specialization */
static uint32_t ms_dmsws_function_spec(ms_dmsw *p)
{
    uint32_t ref = ms_dmsws_spec_info(p, ms_DMSW_FunctionSignatureSpecialization);
    if (ref && ms_dmsw_at(p, ref)->mark)
        return ref; /* a changed representation says nothing of the arguments */
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsws_spec_param(p, ms_DMSW_FunctionSignatureSpecializationParam));
    if (ref && !ms_dmsw_next_if(p, 'n'))
        ref = ms_dmsw_add(p, ref, ms_dmsws_spec_param(p, ms_DMSW_FunctionSignatureSpecializationReturn));
    if (!ref)
        return 0;
    for (uint32_t i = ms_dmsw_kid_count(p, ref); i > 0; i--) {
        uint32_t param = ms_dmsw_kid(p, ref, i - 1);
        if (ms_dmsw_kind_of(p, param) == ms_DMSW_FunctionSignatureSpecializationParam &&
            !ms_dmsws_spec_finish(p, param))
            return 0;
    }
    return ref;
}

/* TK Tk: key path accessors */
static uint32_t ms_dmsws_keypath_accessor(ms_dmsw *p, unsigned kind)
{
    bool serialized = ms_dmsw_next_if(p, 'q');
    uint32_t start = p->stack.count, end = start, ref;
    while (start > 0 && (p->stack.v[start - 1] & ms_DMSW_AS_TYPE))
        start--;
    if (start == end || start == 0)
        return 0;
    uint32_t types = start, what = p->stack.v[--start], signature = 0;
    if (ms_dmsw_kind_of(p, what) == ms_DMSW_DependentGenericSignature) {
        if (start == 0)
            return 0;
        signature = what;
        what = p->stack.v[--start];
    }
    ref = ms_dmsw_make1(p, kind, what);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    for (uint32_t i = types; i < end; i++)
        ref = ms_dmsw_add(p, ref, p->stack.v[i]);
    if (serialized)
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized));
    p->stack.count = start;
    return ref;
}

/* TH Th: key path equality and hash */
static uint32_t ms_dmsws_keypath_helper(ms_dmsw *p, unsigned kind)
{
    bool serialized = ms_dmsw_next_if(p, 'q');
    uint32_t signature = ms_dmswr_pop_signature(p);
    uint32_t ref = ms_dmsw_make(p, kind), type;
    bool any = false;
    while ((type = ms_dmswr_pop_type(p)) != 0) {
        ref = ms_dmsw_add(p, ref, type);
        any = true;
    }
    if (!ref || (!any && !signature))
        return 0;
    ms_dmsw_reverse(p, ref, 0);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    return serialized ? ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized)) : ref;
}

/* TR Tr Ty: reabstraction thunks; the type reached comes first in the tree, the type left last. */
static uint32_t ms_dmsws_reabstraction(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind), signature = ms_dmswr_pop_signature(p);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    if (kind == ms_DMSW_ReabstractionThunkHelperWithSelf)
        ref = ms_dmsw_add(p, ref, ms_dmswr_pop_type(p));
    ref = ms_dmsw_add(p, ref, ms_dmswr_pop_type(p));
    return ms_dmsw_add(p, ref, ms_dmswr_pop_type(p));
}

/* Te: bridge-spec */
static uint32_t ms_dmsws_bridged(ms_dmsw *p)
{
    size_t start = p->at;
    char c = ms_dmsw_next(p);
    if (c != 'o' && c != 'p' && c != 'a' && c != 'm')
        return 0;
    while (!ms_dmsw_next_if(p, '_')) {
        c = ms_dmsw_next(p);
        if (c != 'n' && c != 'b' && c != 'g')
            return 0;
    }
    return ms_dmsw_make_text(p, ms_DMSW_OutlinedBridgedMethod, p->s + start, p->at - 1 - start);
}

/* TJO: the types left and reached, then perhaps a signature */
static uint32_t ms_dmsws_self_reordering(ms_dmsw *p)
{
    uint32_t signature = ms_dmswr_pop_signature(p), to = ms_dmswr_pop_type(p), from = ms_dmswr_pop_type(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_AutoDiffSelfReorderingReabstractionThunk, from, to);
    char c = ms_dmsw_next(p);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    if (ms_dmsw_find("frdp", c) < 0)
        return 0;
    return ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_AutoDiffFunctionKind, c));
}

/* TJ: functions of automatic differentiation */
static uint32_t ms_dmsws_autodiff(ms_dmsw *p)
{
    unsigned kind = ms_DMSW_AutoDiffFunction;
    if (ms_dmsw_next_if(p, 'O'))
        return ms_dmsws_self_reordering(p);
    if (ms_dmsw_next_if(p, 'S'))
        kind = ms_DMSW_AutoDiffSubsetParametersThunk;
    else if (ms_dmsw_next_if(p, 'V'))
        kind = ms_DMSW_AutoDiffDerivativeVTableThunk;
    uint32_t ref = ms_dmsws_diff_parts(p, ms_dmsws_pop_all(p, kind), "frdp");
    if (kind == ms_DMSW_AutoDiffSubsetParametersThunk) {
        ref = ms_dmsw_add(p, ref, ms_dmsws_index_subset(p));
        if (!ms_dmsw_next_if(p, 'P'))
            return 0;
    }
    return ms_dmsw_remember(p, ref);
}

/* Tz TZ: completion handlers that bridge to async functions */
static uint32_t ms_dmsws_completion(ms_dmsw *p, unsigned kind)
{
    uint32_t flag = ms_dmswr_index_node(p), signature = ms_dmswr_pop_signature(p);
    uint32_t result = ms_dmswr_pop_type(p), impl = ms_dmswr_pop_type(p);
    uint32_t ref = ms_dmsw_make3(p, kind, impl, result, flag);
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* Tw: attributes of two letters */
static uint32_t ms_dmsws_thunk_w(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'b': return ms_dmsw_make(p, ms_DMSW_BackDeploymentThunk);
    case 'B': return ms_dmsw_make(p, ms_DMSW_BackDeploymentFallback);
    case 'c': return ms_dmsw_make(p, ms_DMSW_CoroFunctionPointer);
    case 'd': return ms_dmsw_make(p, ms_DMSW_DefaultOverride);
    case 'S': return ms_dmsw_make(p, ms_DMSW_HasSymbolQuery);
    default: return 0;
    }
}

/* T: the specializations */
static uint32_t ms_dmsws_specialization(ms_dmsw *p, char c)
{
    uint32_t ref;
    switch (c) {
    case 'g': return ms_dmsws_generic_spec(p, ms_DMSW_GenericSpecialization);
    case 'G': return ms_dmsws_generic_spec(p, ms_DMSW_GenericSpecializationNotReAbstracted);
    case 'B': return ms_dmsws_generic_spec(p, ms_DMSW_GenericSpecializationInResilienceDomain);
    case 's': return ms_dmsws_generic_spec(p, ms_DMSW_GenericSpecializationPrespecialized);
    case 'i': return ms_dmsws_generic_spec(p, ms_DMSW_InlinedGenericFunction);
    case 't': return ms_dmsws_generic_spec_dropped(p);
    case 'P':
    case 'p':
        ref = ms_dmsws_spec_info(p, c == 'P' ? ms_DMSW_GenericPartialSpecializationNotReAbstracted
                                             : ms_DMSW_GenericPartialSpecialization);
        return ms_dmsw_add(p, ref,
                           ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmswr_pop_type(p)));
    default: return ms_dmsws_function_spec(p);
    }
}

/* T: descriptors of protocol parts */
static uint32_t ms_dmsws_protocol_part(ms_dmsw *p, char c)
{
    uint32_t a, b;
    switch (c) {
    case 'l': return ms_dmsw_make1(p, ms_DMSW_AssociatedTypeDescriptor, ms_dmswr_pop_assoc_name(p));
    case 'L': return ms_dmsw_make1(p, ms_DMSW_ProtocolRequirementsBaseDescriptor, ms_dmswr_pop_protocol(p));
    case 'M':
        return ms_dmsw_make1(p, ms_DMSW_DefaultAssociatedTypeMetadataAccessor, ms_dmswr_pop_assoc_name(p));
    case 'b':
        a = ms_dmswr_pop_protocol(p);
        return ms_dmsw_make2(p, ms_DMSW_BaseConformanceDescriptor, ms_dmswr_pop_type(p), a);
    default:
        a = ms_dmswr_pop_protocol(p);
        b = ms_dmsws_pop_subject(p);
        return ms_dmsw_make3(p,
                             c == 'n' ? ms_DMSW_AssociatedConformanceDescriptor
                                      : ms_DMSW_DefaultAssociatedConformanceAccessor,
                             ms_dmswr_pop_type(p), b, a);
    }
}

/* T: attributes of the whole function */
static uint32_t ms_dmsws_attribute(ms_dmsw *p, char c)
{
    switch (c) {
    case 'o': return ms_dmsw_make(p, ms_DMSW_ObjCAttribute);
    case 'O': return ms_dmsw_make(p, ms_DMSW_NonObjCAttribute);
    case 'D': return ms_dmsw_make(p, ms_DMSW_DynamicAttribute);
    case 'd': return ms_dmsw_make(p, ms_DMSW_DirectMethodReferenceAttribute);
    case 'E': return ms_dmsw_make(p, ms_DMSW_DistributedThunk);
    case 'F': return ms_dmsw_make(p, ms_DMSW_DistributedAccessor);
    case 'a': return ms_dmsw_make(p, ms_DMSW_PartialApplyObjCForwarder);
    case 'A': return ms_dmsw_make(p, ms_DMSW_PartialApplyForwarder);
    case 'm': return ms_dmsw_make(p, ms_DMSW_MergedFunction);
    case 'X': return ms_dmsw_make(p, ms_DMSW_DynamicallyReplaceableFunctionVar);
    case 'x': return ms_dmsw_make(p, ms_DMSW_DynamicallyReplaceableFunctionKey);
    case 'I': return ms_dmsw_make(p, ms_DMSW_DynamicallyReplaceableFunctionImpl);
    case 'u': return ms_dmsw_make(p, ms_DMSW_AsyncFunctionPointer);
    case 'Y': return ms_dmsw_make1(p, ms_DMSW_AsyncSuspendResumePartialFunction, ms_dmswr_index_node(p));
    case 'Q': return ms_dmsw_make1(p, ms_DMSW_AsyncAwaitResumePartialFunction, ms_dmswr_index_node(p));
    case 'w': return ms_dmsws_thunk_w(p);
    default: return 0;
    }
}

/* T: thunks and specializations */
static uint32_t ms_dmsws_thunk(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'c': return ms_dmsw_make1(p, ms_DMSW_CurryThunk, ms_dmswr_pop_entity(p));
    case 'T':
        if (ms_dmsw_next_if(p, 'I'))
            return ms_dmsw_make1(p, ms_DMSW_SILThunkIdentity, ms_dmswr_pop_entity(p));
        return ms_dmsw_next_if(p, 'H')
                   ? ms_dmsw_make1(p, ms_DMSW_SILThunkHopToMainActorIfNeeded, ms_dmswr_pop_entity(p))
                   : 0;
    case 'j': return ms_dmsw_make1(p, ms_DMSW_DispatchThunk, ms_dmswr_pop_entity(p));
    case 'q': return ms_dmsw_make1(p, ms_DMSW_MethodDescriptor, ms_dmswr_pop_entity(p));
    case 'C': return ms_dmsw_make1(p, ms_DMSW_CoroutineContinuationPrototype, ms_dmswr_pop_type(p));
    case 'z': return ms_dmsws_completion(p, ms_DMSW_ObjCAsyncCompletionHandlerImpl);
    case 'Z': return ms_dmsws_completion(p, ms_DMSW_PredefinedObjCAsyncCompletionHandlerImpl);
    case 'V':
        a = ms_dmswr_pop_entity(p);
        return ms_dmsw_make2(p, ms_DMSW_VTableThunk, ms_dmswr_pop_entity(p), a);
    case 'W':
        a = ms_dmswr_pop_entity(p);
        return ms_dmsw_make2(p, ms_DMSW_ProtocolWitness, ms_dmswr_pop_conformance(p), a);
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceWitness, ms_dmswr_pop_entity(p));
    case 'R': return ms_dmsws_reabstraction(p, ms_DMSW_ReabstractionThunkHelper);
    case 'r': return ms_dmsws_reabstraction(p, ms_DMSW_ReabstractionThunk);
    case 'y': return ms_dmsws_reabstraction(p, ms_DMSW_ReabstractionThunkHelperWithSelf);
    case 'U':
        a = ms_dmswr_pop_type(p);
        b = ms_dmswr_pop_any(p);
        return ms_dmsw_make2(p, ms_DMSW_ReabstractionThunkHelperWithGlobalActor, b, a);
    case 'K':
    case 'k':
        if (ms_dmsw_next_is(p, "mu", 2))
            return ms_dmsws_keypath_accessor(p, ms_DMSW_KeyPathUnappliedMethodThunkHelper);
        if (ms_dmsw_next_is(p, "MA", 2))
            return ms_dmsws_keypath_accessor(p, ms_DMSW_KeyPathAppliedMethodThunkHelper);
        return ms_dmsws_keypath_accessor(p, c == 'K' ? ms_DMSW_KeyPathGetterThunkHelper
                                                     : ms_DMSW_KeyPathSetterThunkHelper);
    case 'H': return ms_dmsws_keypath_helper(p, ms_DMSW_KeyPathEqualsThunkHelper);
    case 'h': return ms_dmsws_keypath_helper(p, ms_DMSW_KeyPathHashThunkHelper);
    case 'v':
        a = ms_dmswr_index_node(p);
        return ms_dmsw_make1(
            p, ms_dmsw_next_if(p, 'r') ? ms_DMSW_OutlinedReadOnlyObject : ms_DMSW_OutlinedVariable, a);
    case 'e': return ms_dmsws_bridged(p);
    case 'J': return ms_dmsws_autodiff(p);
    case 'l':
    case 'L':
    case 'M':
    case 'b':
    case 'n':
    case 'N': return ms_dmsws_protocol_part(p, c);
    case 'g':
    case 'G':
    case 'B':
    case 's':
    case 'i':
    case 't':
    case 'P':
    case 'p':
    case 'f': return ms_dmsws_specialization(p, c);
    default: return ms_dmsws_attribute(p, c);
    }
}

/* ---- the whole name, Swift 4 and later ---- */

/* A type with labels, or another type, for the debugger */
static uint32_t ms_dmsws_type_mangling(ms_dmsw *p)
{
    uint32_t type = ms_dmswr_pop_type(p);
    uint32_t labels = ms_dmswr_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_TypeMangling);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

static uint32_t ms_dmsws_value_witness_op(ms_dmsw *p)
{
    return ms_dmsw_add(p, ms_dmsw_value_witness(p), ms_dmswr_pop_type(p));
}

/* Reads one operator and pops what it needs. Returns the new node, or 0 when the name is malformed. */
static uint32_t ms_dmsws_op(ms_dmsw *p)
{
    uint32_t a;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'A': return ms_dmswr_substitution(p);
    case 'B': return ms_dmswr_builtin(p);
    case 'C': return ms_dmswr_any_generic(p, ms_DMSW_Class);
    case 'D': return ms_dmsws_type_mangling(p);
    case 'E': return ms_dmswr_extension(p);
    case 'F': return ms_dmswr_function(p);
    case 'G': return ms_dmswr_bound_generic(p);
    case 'H': return ms_dmsws_conformance_op(p);
    case 'I': return ms_dmsws_impl_function(p);
    case 'K': return ms_dmsw_make(p, ms_DMSW_ThrowsAnnotation);
    case 'L': return ms_dmswr_local(p);
    case 'M': return ms_dmsws_metadata(p);
    case 'N': return ms_dmsw_make1(p, ms_DMSW_TypeMetadata, ms_dmswr_pop_type(p));
    case 'O': return ms_dmswr_any_generic(p, ms_DMSW_Enum);
    case 'P': return ms_dmswr_any_generic(p, ms_DMSW_Protocol);
    case 'Q': return ms_dmswr_archetype(p);
    case 'R': return ms_dmswr_requirement(p);
    case 'S': return ms_dmswr_standard(p);
    case 'T': return ms_dmsws_thunk(p);
    case 'V': return ms_dmswr_any_generic(p, ms_DMSW_Structure);
    case 'W': return ms_dmsws_witness(p);
    case 'X': return ms_dmswr_special_type(p);
    case 'Y': return ms_dmswr_annotation(p);
    case 'Z': return ms_dmsw_make1(p, ms_DMSW_Static, ms_dmswr_pop_entity(p));
    case 'a': return ms_dmswr_any_generic(p, ms_DMSW_TypeAlias);
    case 'c': return ms_dmswr_pop_function(p, ms_DMSW_FunctionType, false);
    case 'd': return ms_dmsw_make(p, ms_DMSW_VariadicMarker);
    case 'f': return ms_dmswr_function_entity(p);
    case 'g': return ms_dmsws_retroactive(p);
    case 'h': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Shared, ms_dmswr_pop_bare(p)));
    case 'i': return ms_dmswr_subscript(p);
    case 'l': return ms_dmswr_signature(p, false);
    case 'm': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Metatype, ms_dmswr_pop_type(p)));
    case 'n': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Owned, ms_dmswr_pop_bare(p)));
    case 'o': return ms_dmswr_operator(p);
    case 'p': return ms_dmsw_type(ms_dmswr_pop_protocols(p));
    case 'q': return ms_dmsw_type(ms_dmswr_generic_param(p));
    case 'r': return ms_dmswr_signature(p, true);
    case 's': return ms_dmsw_module(p, ms_DMSW_MODULE_SWIFT);
    case 't': return ms_dmswr_tuple(p);
    case 'u':
        a = ms_dmswr_pop_signature(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, a, ms_dmswr_pop_type(p)));
    case 'v': return ms_dmswr_accessor(p, ms_dmswr_typed_decl(p, ms_DMSW_Variable));
    case 'w': return ms_dmsws_value_witness_op(p);
    case 'x': return ms_dmsw_type(ms_dmsw_param_type(p, 0, 0));
    case 'y': return ms_dmsw_make(p, ms_DMSW_EmptyList);
    case 'z': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_InOut, ms_dmswr_pop_bare(p)));
    case '_': return ms_dmsw_make(p, ms_DMSW_FirstElementMarker);
    case '$': return ms_dmswr_integer(p);
    case '.': /* what tools add after the mangled name */
        a = ms_dmsw_make_text(p, ms_DMSW_Suffix, p->s + p->at - 1, p->len - p->at + 1);
        p->at = p->len;
        return a;
    default:
        if (!ms_dmsw_digit(c))
            return 0; /* among them the bytes of symbolic references */
        p->at--;
        return ms_dmswr_identifier(p);
    }
}

/* Makes one tree of the nodes on the stack. Attributes of the function come first, in the order in which
 * they are printed. */
static uint32_t ms_dmsws_assemble(ms_dmsw *p)
{
    uint32_t suffix = ms_dmswr_pop(p, ms_DMSW_Suffix), attr;
    uint32_t top = ms_dmsw_make(p, ms_DMSW_Global), parent = top;
    while ((attr = ms_dmswr_pop_trait(p, ms_DMSW_T_ATTR)) != 0) {
        if (!ms_dmsw_add(p, parent, attr))
            return 0;
        unsigned kind = ms_dmsw_kind_of(p, attr);
        if (kind == ms_DMSW_PartialApplyForwarder || kind == ms_DMSW_PartialApplyObjCForwarder)
            parent = attr;
    }
    for (uint32_t i = 0; i < p->stack.count; i++)
        if (!ms_dmsw_add(p, parent, p->stack.v[i]))
            return 0;
    if (suffix)
        top = ms_dmsw_add(p, top, suffix);
    return ms_dmsw_kid_count(p, top) ? top : 0;
}

static uint32_t ms_dmsws_read(ms_dmsw *p)
{
    while (p->at < p->len && !p->d->failed) {
        uint32_t ref = ms_dmsws_op(p);
        if (!ref)
            return 0;
        ms_dmswr_push(p, ref);
    }
    return p->d->failed ? 0 : ms_dmsws_assemble(p);
}

/* ---- the whole name, of any age ---- */

/* The length of the prefix of Swift 4 and later; 0: another name. */
static size_t ms_dmsws_prefix(const char *s, size_t len)
{
    static const char macro[] = "@__swiftmacro_";
    if (len >= 2 && s[0] == '$' && (s[1] == 's' || s[1] == 'S' || s[1] == 'e'))
        return 2;
    if (len >= 3 && s[0] == '_') {
        if (s[1] == 'T' && s[2] == '0')
            return 3;
        return s[1] == '$' && (s[2] == 's' || s[2] == 'S' || s[2] == 'e') ? 3 : 0;
    }
    return len >= sizeof macro - 1 && ms_equal(s, macro, sizeof macro - 1) ? sizeof macro - 1 : 0;
}

/* Whether a type is one that a program declares: Farm.Cow or Farm.Box<Swift.Int>, but not Swift.Int or
 * [Farm.Cow]. */
static bool ms_dmsws_is_declared_type(const ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    if (kind >= ms_DMSW_BoundGenericClass && kind <= ms_DMSW_BoundGenericTypeAlias)
        ref = ms_dmsw_kid(p, ref, 0);
    return (ms_dmsw_rows[ms_dmsw_inner(p, ref)].traits & ms_DMSW_T_NOMINAL) != 0 &&
           ms_dmsw_at(p, ref)->form == ms_DMSW_F_KIDS;
}

/* Whether a node is what a symbol stands for: a declaration, or a thunk, metadata or a witness of one. */
static bool ms_dmsws_is_global(const ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    if (ref & ms_DMSW_AS_TYPE || kind <= ms_DMSW_TypeAlias)
        return ms_dmsws_is_declared_type(p, ref);
    return kind < ms_DMSW_MacroExpansionLoc || kind == ms_DMSW_TypeMangling || kind >= ms_DMSW_CurryThunk;
}

static bool ms_dmsws_is_forwarder(unsigned kind)
{
    return kind == ms_DMSW_PartialApplyForwarder || kind == ms_DMSW_PartialApplyObjCForwarder;
}

/* Whether a node's children are one global with its attributes. */
static bool ms_dmsws_holds_global(const ms_dmsw *p, uint32_t top)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ms_dmsw_kid_count(p, top); i++) {
        uint32_t ref = ms_dmsw_kid(p, top, i);
        unsigned kind = ms_dmsw_inner(p, ref);
        if (ms_dmsws_is_forwarder(kind) && !ms_dmsws_is_forwarder(ms_dmsw_inner(p, top))) {
            count += ms_dmsws_holds_global(p, ref);
        } else if (kind == ms_DMSW_Suffix) { /* names of Swift 1 to 3 take any: _TMSPointerUp */
            char first = ms_dmsw_at(p, ref)->u.text[0];
            if (first != '.' && first != '_')
                return false;
        } else if ((ms_dmsw_rows[kind].traits & ms_DMSW_T_ATTR) == 0) {
            if (!ms_dmsws_is_global(p, ref))
                return false;
            count++;
        }
    }
    return count == 1;
}

/* Whether a name's tree is of one symbol, as a whole. Short words of ordinary text read as names too: $el
 * as a generic signature, $s3foo as a module, $e.message as a suffix of nothing, $sBOTH and $sSafe as
 * accessors of standard types. A name that spells no identifier therefore needs five letters, or the
 * linker's underscore. */
static bool ms_dmsws_is_symbol(const ms_dmsw *p, uint32_t top)
{
    size_t prefix = ms_dmsws_prefix(p->s, p->len);
    bool is_linker = p->s[0] == '_' && p->s[1] == '$';
    if (!p->spells && !is_linker && p->len - (prefix ? prefix : 2) < ms_DMSWS_TEXT_LETTERS)
        return false;
    return ms_dmsws_holds_global(p, top);
}

static void ms_dmsws_begin(ms_dmsw *p, ms_dm *d, const char *s, size_t len, uint32_t style)
{
    ms_dmsw_refs stack = {p->first_stack, 0, ms_DMSW_FIRST_REFS};
    ms_dmsw_refs subs = {p->first_subs, 0, ms_DMSW_FIRST_REFS};
    p->d = d;
    p->base = (ms_dmsw_node *)(void *)(d->mem + d->mem_used);
    p->s = s;
    p->len = len;
    p->at = 0;
    p->style = style;
    p->old_functions = false;
    p->specialized = false;
    p->spells = false;
    p->word_count = 0;
    p->part_count = 0;
    p->stack = stack;
    p->subs = subs;
}

/* Reads the whole name into a tree; 0 when it is no Swift name. */
static uint32_t ms_dmsws_tree(ms_dmsw *p)
{
    size_t prefix = ms_dmsws_prefix(p->s, p->len);
    unsigned depth = p->d->depth;
    uint32_t top = 0;
    if (prefix) {
        p->at = prefix;
        p->old_functions = p->s[1] == 'T';
        top = ms_dmsws_read(p);
    } else if (p->len > 2 && p->s[0] == '_' && p->s[1] == 'T') {
        p->at = 2;
        top = ms_dmswo_read(p);
    }
    p->d->depth = depth;
    return p->d->failed ? 0 : top;
}

#endif /* MACHSYM_NO_SWIFT */

#endif /* ms_ROOM_names_swift_symbols */
