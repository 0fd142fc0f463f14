#ifndef ms_ROOM_names_swift_nodes
#define ms_ROOM_names_swift_nodes
#include "../api/api.h"
#include "../base/bytes.h"
#include "core.h"

/* ==== >>swift-nodes =======================================================================================
 * Job:    the tree that a Swift name becomes, with what both of Swift's readers build it from.
 * Offers: ms_dmsw, ms_dmsw_node, ms_dmsw_rows, ms_dmsw_make, ms_dmsw_add, ms_dmsw_kid, ms_dmsw_peek,
 *         ms_dmsw_next, ms_dmsw_puny.
 * Never:  knows a grammar; prints.
 *
 * Mangled names of Swift 4 and later ($s, $S, $e, _T0, @__swiftmacro_) and of Swift 1 to 3 (_T, _Tt) become
 * one kind of tree, which one printer writes in the full or the simplified style. Mangling.rst and
 * OldMangling.rst of the Swift project define the grammar; the names of the kinds are theirs. */

#ifndef MACHSYM_NO_SWIFT
/* A reference to a node is its place in the scratch, in units of 16 bytes; 0 means none. This bit says "as
 * a type". Swift's own tools wrap such a node in one of kind Type, which would double the memory. */
#define ms_DMSW_AS_TYPE 0x80000000u

enum {
    ms_DMSW_MAX_WORDS = 26,    /* words that later identifiers may use: one for each letter */
    ms_DMSW_MAX_PARTS = 8,     /* parts of identifiers that wait: most names use no words */
    ms_DMSW_FIRST_REFS = 32,   /* references that need no memory from the scratch */
    ms_DMSW_MAX_BUILTIN = 4096 /* the largest size of a builtin type that Swift's own reader takes */
};

/* Internal styles beside machsym_demangle_flags. */
enum {
    ms_DMSW_NO_ASYNC = 1u << 24, /* leave out "(1) suspend resume partial function for " */
    ms_DMSW_NO_SUGAR = 1u << 25  /* Swift.Optional<A> for A? */
};

/* How a kind is printed: what the printer does with the row's text and the children, or what part of the
 * printer knows the kind. */
enum ms_dmsw_how {
    ms_DMSW_H_TEXT,    /* the row's text */
    ms_DMSW_H_OWN,     /* the node's text */
    ms_DMSW_H_MODULE,  /* the node's text, but in the full style only; up to here nothing has children */
    ms_DMSW_H_FIRST,   /* the row's text and the first child */
    ms_DMSW_H_ALL,     /* the row's text and all children */
    ms_DMSW_H_NAMED,   /* a declaration: context, dot, name */
    ms_DMSW_H_PART,    /* a declaration without a name: context, dot, the row's text */
    ms_DMSW_H_ACCESS,  /* an accessor: the storage, dot, the row's text */
    ms_DMSW_H_CALL,    /* a function or a storage declaration */
    ms_DMSW_H_MACRO,   /* a macro expansion */
    ms_DMSW_H_NAME,    /* names, contexts */
    ms_DMSW_H_TYPE,    /* types */
    ms_DMSW_H_FUNC,    /* function types, their parts */
    ms_DMSW_H_GENERIC, /* generic parameters, signatures, requirements */
    ms_DMSW_H_ATTR,    /* an attribute of a whole function */
    ms_DMSW_H_SPEC,    /* specializations */
    ms_DMSW_H_THUNK,   /* thunks */
    ms_DMSW_H_TABLE    /* tables, conformances */
};

enum ms_dmsw_trait {
    ms_DMSW_T_NONE = 0,
    ms_DMSW_T_CONTEXT = 1u << 0,     /* can hold declarations */
    ms_DMSW_T_NAME = 1u << 1,        /* a declaration's name */
    ms_DMSW_T_ATTR = 1u << 2,        /* says something about the whole function */
    ms_DMSW_T_SIMPLE = 1u << 3,      /* a type that needs no parentheses before ? or .Type */
    ms_DMSW_T_NOMINAL = 1u << 4,     /* any generic type */
    ms_DMSW_T_REQ = 1u << 5,         /* a generic requirement */
    ms_DMSW_T_MACRO = 1u << 6,       /* a macro expansion */
    ms_DMSW_T_CONF = 1u << 7,        /* any-protocol-conformance */
    ms_DMSW_T_DEPCONF = 1u << 8,     /* dependent-protocol-conformance */
    ms_DMSW_T_ISOLATION = 1u << 9,   /* function-isolation */
    ms_DMSW_T_FUNCTION = 1u << 10,   /* a function type that is printed without a space before it */
    ms_DMSW_T_EXISTENTIAL = 1u << 11 /* its metatype is .Protocol */
};

#define ms_DMSW_C  ms_DMSW_T_CONTEXT
#define ms_DMSW_CN (ms_DMSW_T_CONTEXT | ms_DMSW_T_NOMINAL | ms_DMSW_T_SIMPLE)
#define ms_DMSW_S  ms_DMSW_T_SIMPLE
#define ms_DMSW_0  ms_DMSW_T_NONE
#define ms_DMSW_A  ms_DMSW_T_ATTR
#define ms_DMSW_CM (ms_DMSW_T_CONTEXT | ms_DMSW_T_MACRO)
#define ms_DMSW_CF (ms_DMSW_T_CONF | ms_DMSW_T_DEPCONF)

/* kind, how, traits, text */
/* clang-format off */
#define ms_DMSW_KINDS(K) \
    K(None, TEXT, ms_DMSW_0, "") \
    K(Type, TEXT, ms_DMSW_0, "") \
    K(Global, ALL, ms_DMSW_0, "") \
    K(Suffix, NAME, ms_DMSW_0, "") \
    K(EmptyList, TEXT, ms_DMSW_0, " empty-list ") \
    K(FirstElementMarker, TEXT, ms_DMSW_0, " first-element-marker ") \
    K(VariadicMarker, TEXT, ms_DMSW_0, " variadic-marker ") \
    K(Index, NAME, ms_DMSW_0, "") \
    K(UnknownIndex, TEXT, ms_DMSW_0, "unknown index") \
    K(Identifier, OWN, ms_DMSW_T_NAME, "") \
    K(InfixOperator, NAME, ms_DMSW_T_NAME, " infix") \
    K(PrefixOperator, NAME, ms_DMSW_T_NAME, " prefix") \
    K(PostfixOperator, NAME, ms_DMSW_T_NAME, " postfix") \
    K(LocalDeclName, NAME, ms_DMSW_T_NAME, "") \
    K(PrivateDeclName, NAME, ms_DMSW_T_NAME, "") \
    K(RelatedEntityDeclName, NAME, ms_DMSW_T_NAME, "") \
    K(Module, MODULE, ms_DMSW_C, "") \
    K(Extension, NAME, ms_DMSW_C, "") \
    K(AnonymousContext, NAME, ms_DMSW_C, "") \
    K(Class, NAMED, ms_DMSW_CN, "") \
    K(Structure, NAMED, ms_DMSW_CN, "") \
    K(Enum, NAMED, ms_DMSW_CN, "") \
    K(Protocol, NAMED, ms_DMSW_CN, "") \
    K(OtherNominalType, NAMED, ms_DMSW_CN, "") \
    K(TypeAlias, NAMED, ms_DMSW_CN, "") \
    K(Function, CALL, ms_DMSW_C, "") \
    K(BoundGenericFunction, CALL, ms_DMSW_0, "") \
    K(Variable, CALL, ms_DMSW_C, "") \
    K(Subscript, CALL, ms_DMSW_C, "subscript") \
    K(Macro, CALL, ms_DMSW_C, "") \
    K(GenericTypeParamDecl, NAMED, ms_DMSW_0, "") \
    K(ExplicitClosure, NAME, ms_DMSW_C, "closure #") \
    K(ImplicitClosure, NAME, ms_DMSW_C, "implicit closure #") \
    K(Initializer, PART, ms_DMSW_C, "variable initialization expression") \
    K(DefaultArgumentInitializer, NAME, ms_DMSW_C, "default argument ") \
    K(PropertyWrapperBackingInitializer, PART, ms_DMSW_C, "property wrapper backing initializer") \
    K(PropertyWrapperInitFromProjectedValue, PART, ms_DMSW_C, "property wrapper init from projected value") \
    K(PropertyWrappedFieldInitAccessor, PART, ms_DMSW_C, "property wrapped field init accessor") \
    K(Allocator, CALL, ms_DMSW_C, "init") \
    K(Constructor, CALL, ms_DMSW_C, "init") \
    K(Destructor, PART, ms_DMSW_C, "deinit") \
    K(Deallocator, CALL, ms_DMSW_C, "__deallocating_deinit") \
    K(IsolatedDeallocator, CALL, ms_DMSW_C, "__isolated_deallocating_deinit") \
    K(IVarInitializer, PART, ms_DMSW_C, "__ivar_initializer") \
    K(IVarDestroyer, PART, ms_DMSW_C, "__ivar_destroyer") \
    K(Static, FIRST, ms_DMSW_C, "static ") \
    K(Getter, ACCESS, ms_DMSW_C, "getter") \
    K(GlobalGetter, ACCESS, ms_DMSW_C, "getter") \
    K(Setter, ACCESS, ms_DMSW_C, "setter") \
    K(MaterializeForSet, ACCESS, ms_DMSW_C, "materializeForSet") \
    K(WillSet, ACCESS, ms_DMSW_C, "willset") \
    K(DidSet, ACCESS, ms_DMSW_C, "didset") \
    K(ReadAccessor, ACCESS, ms_DMSW_C, "read") \
    K(Read2Accessor, ACCESS, ms_DMSW_C, "read2") \
    K(ModifyAccessor, ACCESS, ms_DMSW_C, "modify") \
    K(Modify2Accessor, ACCESS, ms_DMSW_C, "modify2") \
    K(BorrowAccessor, ACCESS, ms_DMSW_C, "borrow") \
    K(MutateAccessor, ACCESS, ms_DMSW_C, "mutate") \
    K(InitAccessor, ACCESS, ms_DMSW_C, "init") \
    K(OwningAddressor, ACCESS, ms_DMSW_C, "owningAddressor") \
    K(OwningMutableAddressor, ACCESS, ms_DMSW_C, "owningMutableAddressor") \
    K(NativeOwningAddressor, ACCESS, ms_DMSW_C, "nativeOwningAddressor") \
    K(NativeOwningMutableAddressor, ACCESS, ms_DMSW_C, "nativeOwningMutableAddressor") \
    K(NativePinningAddressor, ACCESS, ms_DMSW_C, "nativePinningAddressor") \
    K(NativePinningMutableAddressor, ACCESS, ms_DMSW_C, "nativePinningMutableAddressor") \
    K(UnsafeAddressor, ACCESS, ms_DMSW_C, "unsafeAddressor") \
    K(UnsafeMutableAddressor, ACCESS, ms_DMSW_C, "unsafeMutableAddressor") \
    K(RuntimeAttributeGenerator, FIRST, ms_DMSW_0, "runtime attribute generator of ") \
    K(FreestandingMacroExpansion, MACRO, ms_DMSW_CM, "freestanding macro expansion #") \
    K(AccessorAttachedMacroExpansion, MACRO, ms_DMSW_CM, "accessor macro @") \
    K(MemberAttributeAttachedMacroExpansion, MACRO, ms_DMSW_CM, "memberAttribute macro @") \
    K(MemberAttachedMacroExpansion, MACRO, ms_DMSW_CM, "member macro @") \
    K(PeerAttachedMacroExpansion, MACRO, ms_DMSW_CM, "peer macro @") \
    K(ConformanceAttachedMacroExpansion, MACRO, ms_DMSW_CM, "conformance macro @") \
    K(ExtensionAttachedMacroExpansion, MACRO, ms_DMSW_CM, "extension macro @") \
    K(PreambleAttachedMacroExpansion, MACRO, ms_DMSW_CM, "preamble macro @") \
    K(BodyAttachedMacroExpansion, MACRO, ms_DMSW_CM, "body macro @") \
    K(MacroExpansionUniqueName, MACRO, ms_DMSW_CM, "unique name #") \
    K(MacroExpansionLoc, NAME, ms_DMSW_CM, "") \
    K(LabelList, TEXT, ms_DMSW_S, "") \
    K(TypeList, ALL, ms_DMSW_S, "") \
    K(TypeMangling, NAME, ms_DMSW_0, "") \
    /* types */ \
    K(BuiltinTypeName, OWN, ms_DMSW_S, "") \
    K(BuiltinTupleType, TEXT, ms_DMSW_S, "Builtin.TheTupleType") \
    K(BuiltinFixedArray, TYPE, ms_DMSW_S, "Builtin.FixedArray<") \
    K(BuiltinBorrow, TYPE, ms_DMSW_S, "Builtin.Borrow<") \
    K(FunctionType, FUNC, ms_DMSW_T_FUNCTION, "") \
    K(NoEscapeFunctionType, FUNC, ms_DMSW_T_FUNCTION, "") \
    K(UncurriedFunctionType, FUNC, ms_DMSW_T_FUNCTION, "") \
    K(AutoClosureType, FUNC, ms_DMSW_0, "@autoclosure ") \
    K(EscapingAutoClosureType, FUNC, ms_DMSW_0, "@autoclosure ") \
    K(ThinFunctionType, FUNC, ms_DMSW_0, "@convention(thin) ") \
    K(CFunctionPointer, FUNC, ms_DMSW_0, "@convention(c") \
    K(ObjCBlock, FUNC, ms_DMSW_0, "@convention(block") \
    K(EscapingObjCBlock, FUNC, ms_DMSW_0, "@escaping @convention(block") \
    K(ClangType, OWN, ms_DMSW_0, "") \
    K(ArgumentTuple, FUNC, ms_DMSW_0, "") \
    K(ReturnType, ALL, ms_DMSW_S, "") \
    K(ThrowsAnnotation, TEXT, ms_DMSW_0, " throws") \
    K(TypedThrowsAnnotation, FUNC, ms_DMSW_0, " throws(") \
    K(AsyncAnnotation, TEXT, ms_DMSW_0, " async") \
    K(ConcurrentFunctionType, TEXT, ms_DMSW_0, "@Sendable ") \
    K(SendingResultFunctionType, TEXT, ms_DMSW_0, "sending ") \
    K(GlobalActorFunctionType, FUNC, ms_DMSW_T_ISOLATION, "@") \
    K(IsolatedAnyFunctionType, TEXT, ms_DMSW_T_ISOLATION, "@isolated(any) ") \
    K(NonIsolatedCallerFunctionType, TEXT, ms_DMSW_T_ISOLATION, "nonisolated(nonsending) ") \
    K(DifferentiableFunctionType, FUNC, ms_DMSW_0, "@differentiable") \
    K(Tuple, TYPE, ms_DMSW_S, "(") \
    K(TupleElement, TYPE, ms_DMSW_0, "") \
    K(TupleElementName, OWN, ms_DMSW_S, "") \
    K(Pack, TYPE, ms_DMSW_S, "Pack{") \
    K(SILPackDirect, TYPE, ms_DMSW_S, "@direct Pack{") \
    K(SILPackIndirect, TYPE, ms_DMSW_S, "@indirect Pack{") \
    K(PackExpansion, FIRST, ms_DMSW_0, "repeat ") \
    K(PackElement, TYPE, ms_DMSW_0, "/* level: ") \
    K(Weak, FIRST, ms_DMSW_0, "weak ") \
    K(Unowned, FIRST, ms_DMSW_0, "unowned ") \
    K(Unmanaged, FIRST, ms_DMSW_0, "unowned(unsafe) ") \
    K(InOut, FIRST, ms_DMSW_0, "inout ") \
    K(Isolated, FIRST, ms_DMSW_0, "isolated ") \
    K(Sending, FIRST, ms_DMSW_0, "sending ") \
    K(CompileTimeLiteral, FIRST, ms_DMSW_0, "_const ") \
    K(ConstValue, FIRST, ms_DMSW_0, "@const ") \
    K(Shared, FIRST, ms_DMSW_0, "__shared ") \
    K(Owned, FIRST, ms_DMSW_0, "__owned ") \
    K(NoDerivative, FIRST, ms_DMSW_0, "@noDerivative ") \
    K(BoundGenericClass, TYPE, ms_DMSW_S, "") \
    K(BoundGenericStructure, TYPE, ms_DMSW_S, "") \
    K(BoundGenericEnum, TYPE, ms_DMSW_S, "") \
    K(BoundGenericProtocol, TYPE, ms_DMSW_S, "") \
    K(BoundGenericOtherNominalType, TYPE, ms_DMSW_S, "") \
    K(BoundGenericTypeAlias, TYPE, ms_DMSW_S, "") \
    K(DynamicSelf, TEXT, ms_DMSW_S, "Self") \
    K(SILBoxType, FIRST, ms_DMSW_S, "@box ") \
    K(SILBoxTypeWithLayout, TYPE, ms_DMSW_S, "") \
    K(SILBoxLayout, TYPE, ms_DMSW_0, "{") \
    K(SILBoxMutableField, FIRST, ms_DMSW_0, "var ") \
    K(SILBoxImmutableField, FIRST, ms_DMSW_0, "let ") \
    K(Metatype, TYPE, ms_DMSW_S, "") \
    K(ExistentialMetatype, TYPE, ms_DMSW_S | ms_DMSW_T_EXISTENTIAL, "") \
    K(MetatypeRepresentation, OWN, ms_DMSW_S, "") \
    K(ConstrainedExistential, TYPE, ms_DMSW_0, "any ") \
    K(ConstrainedExistentialRequirementList, TYPE, ms_DMSW_S, "") \
    K(ConstrainedExistentialSelf, TEXT, ms_DMSW_S, "Self") \
    K(ExtendedExistentialTypeShape, TYPE, ms_DMSW_0, "existential shape for ") \
    K(ProtocolList, TYPE, ms_DMSW_T_EXISTENTIAL, "") \
    K(ProtocolListWithClass, TYPE, ms_DMSW_T_EXISTENTIAL, "") \
    K(ProtocolListWithAnyObject, TYPE, ms_DMSW_T_EXISTENTIAL, "") \
    K(AssociatedTypeRef, GENERIC, ms_DMSW_S, "") \
    K(ErrorType, TEXT, ms_DMSW_S, "<ERROR TYPE>") \
    K(DependentGenericParamType, GENERIC, ms_DMSW_S, "") \
    K(DependentGenericType, GENERIC, ms_DMSW_S, "") \
    K(DependentMemberType, GENERIC, ms_DMSW_S, "") \
    K(DependentAssociatedTypeRef, GENERIC, ms_DMSW_0, "") \
    K(AssocTypePath, GENERIC, ms_DMSW_0, "") \
    K(Integer, TYPE, ms_DMSW_S, "") \
    K(NegativeInteger, TYPE, ms_DMSW_S, "-") \
    K(SugaredOptional, TYPE, ms_DMSW_S, "") \
    K(SugaredArray, TYPE, ms_DMSW_S, "[") \
    K(SugaredDictionary, TYPE, ms_DMSW_S, "[") \
    K(SugaredInlineArray, TYPE, ms_DMSW_S, "[") \
    K(SugaredParen, TYPE, ms_DMSW_S, "(") \
    K(OpaqueReturnType, TEXT, ms_DMSW_0, "some") \
    K(OpaqueReturnTypeOf, TYPE, ms_DMSW_C, "<<opaque return type of ") \
    K(OpaqueType, TYPE, ms_DMSW_0, "") \
    /* generic signatures */ \
    K(DependentGenericSignature, GENERIC, ms_DMSW_0, "") \
    K(DependentPseudogenericSignature, GENERIC, ms_DMSW_0, "") \
    K(DependentGenericParamCount, TEXT, ms_DMSW_0, "") \
    K(DependentGenericParamPackMarker, TEXT, ms_DMSW_T_REQ, "") \
    K(DependentGenericParamValueMarker, TEXT, ms_DMSW_T_REQ, "") \
    K(DependentGenericConformanceRequirement, GENERIC, ms_DMSW_T_REQ, ": ") \
    K(DependentGenericSameTypeRequirement, GENERIC, ms_DMSW_T_REQ, " == ") \
    K(DependentGenericSameShapeRequirement, GENERIC, ms_DMSW_T_REQ, ".shape == ") \
    K(DependentGenericInverseConformanceRequirement, GENERIC, ms_DMSW_T_REQ, ": ~Swift.") \
    K(DependentGenericLayoutRequirement, GENERIC, ms_DMSW_T_REQ, ": ") \
    /* implementation function types */ \
    K(ImplFunctionType, FUNC, ms_DMSW_0, "") \
    K(ImplEscaping, TEXT, ms_DMSW_0, "@escaping") \
    K(ImplErasedIsolation, TEXT, ms_DMSW_0, "@isolated(any)") \
    K(ImplNonIsolated, TEXT, ms_DMSW_0, "nonisolated(nonsending)") \
    K(ImplCalledOnce, TEXT, ms_DMSW_0, "@called(atMostOnce)") \
    K(ImplSendingResult, TEXT, ms_DMSW_0, "sending") \
    K(ImplDifferentiabilityKind, FUNC, ms_DMSW_0, "@differentiable") \
    K(ImplConvention, OWN, ms_DMSW_0, "") \
    K(ImplFunctionConvention, FUNC, ms_DMSW_0, "@convention(") \
    K(ImplFunctionAttribute, OWN, ms_DMSW_0, "") \
    K(ImplParameter, FUNC, ms_DMSW_0, "") \
    K(ImplResult, FUNC, ms_DMSW_0, "") \
    K(ImplYield, FUNC, ms_DMSW_0, "@yields ") \
    K(ImplErrorResult, FUNC, ms_DMSW_0, "@error ") \
    K(ImplPatternSubstitutions, TEXT, ms_DMSW_0, "") \
    K(ImplInvocationSubstitutions, TEXT, ms_DMSW_0, "") \
    /* conformances */ \
    K(ProtocolConformance, TABLE, ms_DMSW_0, "") \
    K(ConcreteProtocolConformance, TABLE, ms_DMSW_T_CONF, "concrete protocol conformance ") \
    K(PackProtocolConformance, ALL, ms_DMSW_T_CONF, "pack protocol conformance ") \
    K(DependentProtocolConformanceRoot, TABLE, ms_DMSW_CF, "dependent root protocol conformance ") \
    K(DependentProtocolConformanceInherited, TABLE, ms_DMSW_CF, "dependent inherited protocol conformance ") \
    K(DependentProtocolConformanceAssociated, TABLE, ms_DMSW_CF, \
      "dependent associated protocol conformance ") \
    K(DependentProtocolConformanceOpaque, TABLE, ms_DMSW_CF, "opaque result conformance ") \
    K(DependentAssociatedConformance, ALL, ms_DMSW_0, "dependent associated conformance ") \
    K(ProtocolConformanceRefInTypeModule, ALL, ms_DMSW_0, "protocol conformance ref (type's module) ") \
    K(ProtocolConformanceRefInProtocolModule, ALL, ms_DMSW_0, \
      "protocol conformance ref (protocol's module) ") \
    K(ProtocolConformanceRefInOtherModule, ALL, ms_DMSW_0, "protocol conformance ref (retroactive) ") \
    K(AnyProtocolConformanceList, TABLE, ms_DMSW_0, "") \
    K(RetroactiveConformance, ALL, ms_DMSW_0, "retroactive @ ") \
    /* attributes of whole functions */ \
    K(ObjCAttribute, TEXT, ms_DMSW_A, "@objc ") \
    K(NonObjCAttribute, TEXT, ms_DMSW_A, "@nonobjc ") \
    K(DynamicAttribute, TEXT, ms_DMSW_A, "dynamic ") \
    K(DirectMethodReferenceAttribute, TEXT, ms_DMSW_A, "super ") \
    K(VTableAttribute, TEXT, ms_DMSW_A, "override ") \
    K(PartialApplyForwarder, ATTR, ms_DMSW_A, "partial apply forwarder") \
    K(PartialApplyObjCForwarder, ATTR, ms_DMSW_A, "partial apply ObjC forwarder") \
    K(OutlinedVariable, ATTR, ms_DMSW_A, "outlined variable #") \
    K(OutlinedReadOnlyObject, ATTR, ms_DMSW_A, "outlined read-only object #") \
    K(OutlinedBridgedMethod, ATTR, ms_DMSW_A, "outlined bridged method (") \
    K(MergedFunction, ATTR, ms_DMSW_A, "merged ") \
    K(DistributedThunk, ATTR, ms_DMSW_A, "distributed thunk ") \
    K(DistributedAccessor, ATTR, ms_DMSW_A, "distributed accessor for ") \
    K(DynamicallyReplaceableFunctionKey, ATTR, ms_DMSW_A, "dynamically replaceable key for ") \
    K(DynamicallyReplaceableFunctionImpl, ATTR, ms_DMSW_A, "dynamically replaceable thunk for ") \
    K(DynamicallyReplaceableFunctionVar, ATTR, ms_DMSW_A, "dynamically replaceable variable for ") \
    K(AsyncFunctionPointer, TEXT, ms_DMSW_A, "async function pointer to ") \
    K(CoroFunctionPointer, TEXT, ms_DMSW_A, "coro function pointer to ") \
    K(DefaultOverride, TEXT, ms_DMSW_A, "default override of ") \
    K(AsyncAwaitResumePartialFunction, ATTR, ms_DMSW_A, ") await resume partial function for ") \
    K(AsyncSuspendResumePartialFunction, ATTR, ms_DMSW_A, ") suspend resume partial function for ") \
    K(AccessibleFunctionRecord, ATTR, ms_DMSW_A, "accessible function runtime record for ") \
    K(BackDeploymentThunk, ATTR, ms_DMSW_A, "back deployment thunk for ") \
    K(BackDeploymentFallback, TEXT, ms_DMSW_A, "back deployment fallback for ") \
    K(HasSymbolQuery, TEXT, ms_DMSW_A, "#_hasSymbol query for ") \
    K(GenericSpecialization, SPEC, ms_DMSW_A, "generic specialization") \
    K(GenericSpecializationInResilienceDomain, SPEC, ms_DMSW_A, "generic specialization") \
    K(GenericSpecializationPrespecialized, SPEC, ms_DMSW_A, "generic pre-specialization") \
    K(GenericSpecializationNotReAbstracted, SPEC, ms_DMSW_A, "generic not re-abstracted specialization") \
    K(InlinedGenericFunction, SPEC, ms_DMSW_A, "inlined generic function") \
    K(GenericPartialSpecialization, SPEC, ms_DMSW_A, "generic partial specialization") \
    K(GenericPartialSpecializationNotReAbstracted, SPEC, ms_DMSW_A, \
      "generic not-reabstracted partial specialization") \
    K(FunctionSignatureSpecialization, SPEC, ms_DMSW_A, "function signature specialization") \
    K(GenericSpecializationParam, SPEC, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParam, SPEC, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationReturn, SPEC, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParamKind, SPEC, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParamPayload, SPEC, ms_DMSW_0, "") \
    K(IsSerialized, TEXT, ms_DMSW_0, "serialized") \
    /* thunks */ \
    K(CurryThunk, FIRST, ms_DMSW_0, "curry thunk of ") \
    K(SILThunkIdentity, FIRST, ms_DMSW_0, "identity thunk of ") \
    K(SILThunkHopToMainActorIfNeeded, FIRST, ms_DMSW_0, "hop to main actor thunk of ") \
    K(DispatchThunk, FIRST, ms_DMSW_0, "dispatch thunk of ") \
    K(MethodDescriptor, FIRST, ms_DMSW_0, "method descriptor for ") \
    K(VTableThunk, THUNK, ms_DMSW_0, "vtable thunk for ") \
    K(ProtocolWitness, THUNK, ms_DMSW_0, "protocol witness for ") \
    K(ProtocolSelfConformanceWitness, FIRST, ms_DMSW_0, "protocol self-conformance witness for ") \
    K(ReabstractionThunk, THUNK, ms_DMSW_0, "reabstraction thunk ") \
    K(ReabstractionThunkHelper, THUNK, ms_DMSW_0, "reabstraction thunk helper ") \
    K(ReabstractionThunkHelperWithSelf, THUNK, ms_DMSW_0, "reabstraction thunk ") \
    K(ReabstractionThunkHelperWithGlobalActor, THUNK, ms_DMSW_0, "") \
    K(ObjCAsyncCompletionHandlerImpl, THUNK, ms_DMSW_0, "@objc completion handler block implementation for ") \
    K(PredefinedObjCAsyncCompletionHandlerImpl, THUNK, ms_DMSW_0, \
      "predefined @objc completion handler block implementation for ") \
    K(KeyPathGetterThunkHelper, THUNK, ms_DMSW_0, "key path getter for ") \
    K(KeyPathSetterThunkHelper, THUNK, ms_DMSW_0, "key path setter for ") \
    K(KeyPathUnappliedMethodThunkHelper, THUNK, ms_DMSW_0, "key path unapplied method ") \
    K(KeyPathAppliedMethodThunkHelper, THUNK, ms_DMSW_0, "key path applied method ") \
    K(KeyPathEqualsThunkHelper, THUNK, ms_DMSW_0, "key path index equality operator for ") \
    K(KeyPathHashThunkHelper, THUNK, ms_DMSW_0, "key path index hash operator for ") \
    K(CoroutineContinuationPrototype, FIRST, ms_DMSW_0, "coroutine continuation prototype for ") \
    K(AutoDiffFunction, THUNK, ms_DMSW_C, "") \
    K(AutoDiffDerivativeVTableThunk, THUNK, ms_DMSW_0, "vtable thunk for ") \
    K(AutoDiffSelfReorderingReabstractionThunk, THUNK, ms_DMSW_0, \
      "autodiff self-reordering reabstraction thunk ") \
    K(AutoDiffSubsetParametersThunk, THUNK, ms_DMSW_0, "autodiff subset parameters thunk for ") \
    K(AutoDiffFunctionKind, THUNK, ms_DMSW_0, "") \
    K(DifferentiabilityWitness, THUNK, ms_DMSW_0, "") \
    K(IndexSubset, THUNK, ms_DMSW_0, "{") \
    /* metadata and witness tables */ \
    K(TypeMetadata, FIRST, ms_DMSW_0, "type metadata for ") \
    K(FullTypeMetadata, FIRST, ms_DMSW_0, "full type metadata for ") \
    K(GenericTypeMetadataPattern, FIRST, ms_DMSW_0, "generic type metadata pattern for ") \
    K(TypeMetadataAccessFunction, FIRST, ms_DMSW_0, "type metadata accessor for ") \
    K(TypeMetadataLazyCache, FIRST, ms_DMSW_0, "lazy cache variable for type metadata for ") \
    K(TypeMetadataCompletionFunction, FIRST, ms_DMSW_0, "type metadata completion function for ") \
    K(TypeMetadataInstantiationFunction, FIRST, ms_DMSW_0, "type metadata instantiation function for ") \
    K(TypeMetadataInstantiationCache, FIRST, ms_DMSW_0, "type metadata instantiation cache for ") \
    K(TypeMetadataSingletonInitializationCache, FIRST, ms_DMSW_0, \
      "type metadata singleton initialization cache for ") \
    K(TypeMetadataDemanglingCache, FIRST, ms_DMSW_0, "demangling cache variable for type metadata for ") \
    K(TypeMetadataMangledNameRef, FIRST, ms_DMSW_0, "mangled name ref for type metadata for ") \
    K(Metaclass, FIRST, ms_DMSW_0, "metaclass for ") \
    K(NominalTypeDescriptor, FIRST, ms_DMSW_0, "nominal type descriptor for ") \
    K(NominalTypeDescriptorRecord, FIRST, ms_DMSW_0, "nominal type descriptor runtime record for ") \
    K(OpaqueTypeDescriptor, FIRST, ms_DMSW_0, "opaque type descriptor for ") \
    K(OpaqueTypeDescriptorRecord, FIRST, ms_DMSW_0, "opaque type descriptor runtime record for ") \
    K(OpaqueTypeDescriptorAccessor, FIRST, ms_DMSW_0, "opaque type descriptor accessor for ") \
    K(OpaqueTypeDescriptorAccessorImpl, FIRST, ms_DMSW_0, "opaque type descriptor accessor impl for ") \
    K(OpaqueTypeDescriptorAccessorKey, FIRST, ms_DMSW_0, "opaque type descriptor accessor key for ") \
    K(OpaqueTypeDescriptorAccessorVar, FIRST, ms_DMSW_0, "opaque type descriptor accessor var for ") \
    K(MethodLookupFunction, FIRST, ms_DMSW_0, "method lookup function for ") \
    K(ObjCMetadataUpdateFunction, FIRST, ms_DMSW_0, "ObjC metadata update function for ") \
    K(ObjCResilientClassStub, FIRST, ms_DMSW_0, "ObjC resilient class stub for ") \
    K(FullObjCResilientClassStub, FIRST, ms_DMSW_0, "full ObjC resilient class stub for ") \
    K(ModuleDescriptor, FIRST, ms_DMSW_0, "module descriptor ") \
    K(ExtensionDescriptor, FIRST, ms_DMSW_0, "extension descriptor ") \
    K(AnonymousDescriptor, FIRST, ms_DMSW_0, "anonymous descriptor ") \
    K(AssociatedTypeGenericParamRef, ALL, ms_DMSW_0, "generic parameter reference for associated type ") \
    K(ProtocolDescriptor, FIRST, ms_DMSW_0, "protocol descriptor for ") \
    K(ProtocolDescriptorRecord, FIRST, ms_DMSW_0, "protocol descriptor runtime record for ") \
    K(ProtocolConformanceDescriptor, FIRST, ms_DMSW_0, "protocol conformance descriptor for ") \
    K(ProtocolConformanceDescriptorRecord, FIRST, ms_DMSW_0, \
      "protocol conformance descriptor runtime record for ") \
    K(ProtocolSelfConformanceDescriptor, FIRST, ms_DMSW_0, "protocol self-conformance descriptor for ") \
    K(ProtocolRequirementsBaseDescriptor, FIRST, ms_DMSW_0, "protocol requirements base descriptor for ") \
    K(ClassMetadataBaseOffset, FIRST, ms_DMSW_0, "class metadata base offset for ") \
    K(PropertyDescriptor, FIRST, ms_DMSW_0, "property descriptor for ") \
    K(MetadataInstantiationCache, FIRST, ms_DMSW_0, "metadata instantiation cache for ") \
    K(NoncanonicalSpecializedGenericTypeMetadata, FIRST, ms_DMSW_0, \
      "noncanonical specialized generic type metadata for ") \
    K(NoncanonicalSpecializedGenericTypeMetadataCache, FIRST, ms_DMSW_0, \
      "cache variable for noncanonical specialized generic type metadata for ") \
    K(CanonicalSpecializedGenericMetaclass, FIRST, ms_DMSW_0, "specialized generic metaclass for ") \
    K(CanonicalSpecializedGenericTypeMetadataAccessFunction, FIRST, ms_DMSW_0, \
      "canonical specialized generic type metadata accessor for ") \
    K(CanonicalPrespecializedGenericTypeCachingOnceToken, FIRST, ms_DMSW_0, \
      "flag for loading of canonical specialized generic type metadata for ") \
    K(Uniquable, FIRST, ms_DMSW_0, "uniquable ") \
    K(ReflectionMetadataBuiltinDescriptor, FIRST, ms_DMSW_0, "reflection metadata builtin descriptor ") \
    K(ReflectionMetadataFieldDescriptor, FIRST, ms_DMSW_0, "reflection metadata field descriptor ") \
    K(ReflectionMetadataAssocTypeDescriptor, FIRST, ms_DMSW_0, \
      "reflection metadata associated type descriptor ") \
    K(ReflectionMetadataSuperclassDescriptor, FIRST, ms_DMSW_0, \
      "reflection metadata superclass descriptor ") \
    K(AssociatedTypeDescriptor, FIRST, ms_DMSW_0, "associated type descriptor for ") \
    K(DefaultAssociatedTypeMetadataAccessor, FIRST, ms_DMSW_0, \
      "default associated type metadata accessor for ") \
    K(AssociatedConformanceDescriptor, TABLE, ms_DMSW_0, "associated conformance descriptor for ") \
    K(DefaultAssociatedConformanceAccessor, TABLE, ms_DMSW_0, "default associated conformance accessor for ") \
    K(BaseConformanceDescriptor, TABLE, ms_DMSW_0, "base conformance descriptor for ") \
    K(AssociatedTypeMetadataAccessor, TABLE, ms_DMSW_0, "associated type metadata accessor for ") \
    K(AssociatedTypeWitnessTableAccessor, TABLE, ms_DMSW_0, "associated type witness table accessor for ") \
    K(BaseWitnessTableAccessor, TABLE, ms_DMSW_0, "base witness table accessor for ") \
    K(ValueWitness, TABLE, ms_DMSW_0, "") \
    K(ValueWitnessTable, FIRST, ms_DMSW_0, "value witness table for ") \
    K(EnumCase, FIRST, ms_DMSW_0, "enum case for ") \
    K(FieldOffset, TABLE, ms_DMSW_0, "field offset for ") \
    K(ProtocolWitnessTable, FIRST, ms_DMSW_0, "protocol witness table for ") \
    K(ProtocolWitnessTablePattern, FIRST, ms_DMSW_0, "protocol witness table pattern for ") \
    K(ProtocolWitnessTableAccessor, FIRST, ms_DMSW_0, "protocol witness table accessor for ") \
    K(ProtocolSelfConformanceWitnessTable, FIRST, ms_DMSW_0, "protocol self-conformance witness table for ") \
    K(GenericProtocolWitnessTable, FIRST, ms_DMSW_0, "generic protocol witness table for ") \
    K(GenericProtocolWitnessTableInstantiationFunction, FIRST, ms_DMSW_0, \
      "instantiation function for generic protocol witness table for ") \
    K(ResilientProtocolWitnessTable, FIRST, ms_DMSW_0, "resilient protocol witness table for ") \
    K(LazyProtocolWitnessTableAccessor, TABLE, ms_DMSW_0, "lazy protocol witness table accessor for type ") \
    K(LazyProtocolWitnessTableCacheVariable, TABLE, ms_DMSW_0, \
      "lazy protocol witness table cache variable for type ") \
    K(GlobalVariableOnceToken, TABLE, ms_DMSW_C, "one-time initialization token for ") \
    K(GlobalVariableOnceFunction, TABLE, ms_DMSW_C, "one-time initialization function for ") \
    K(GlobalVariableOnceDeclList, ALL, ms_DMSW_0, "") \
    K(OutlinedCopy, ALL, ms_DMSW_0, "outlined copy of ") \
    K(OutlinedConsume, ALL, ms_DMSW_0, "outlined consume of ") \
    K(OutlinedRetain, FIRST, ms_DMSW_0, "outlined retain of ") \
    K(OutlinedRelease, FIRST, ms_DMSW_0, "outlined release of ") \
    K(OutlinedInitializeWithTake, FIRST, ms_DMSW_0, "outlined init with take of ") \
    K(OutlinedInitializeWithCopy, FIRST, ms_DMSW_0, "outlined init with copy of ") \
    K(OutlinedAssignWithTake, FIRST, ms_DMSW_0, "outlined assign with take of ") \
    K(OutlinedAssignWithCopy, FIRST, ms_DMSW_0, "outlined assign with copy of ") \
    K(OutlinedDestroy, FIRST, ms_DMSW_0, "outlined destroy of ") \
    K(OutlinedEnumGetTag, FIRST, ms_DMSW_0, "outlined enum get tag of ") \
    K(OutlinedEnumTagStore, FIRST, ms_DMSW_0, "outlined enum tag store of ") \
    K(OutlinedEnumProjectDataForLoad, FIRST, ms_DMSW_0, "outlined enum project data for load of ")

/* clang-format on */

#define ms_DMSW_ENUM(name, how, traits, text) ms_DMSW_##name,
enum ms_dmsw_kind { ms_DMSW_KINDS(ms_DMSW_ENUM) ms_DMSW_KIND_COUNT };
#undef ms_DMSW_ENUM

typedef struct ms_dmsw_row { /* How one kind of node is printed. */
    const char *text;
    uint16_t traits;
    uint8_t len; /* of text */
    uint8_t how;
} ms_dmsw_row;

#define ms_DMSW_ROW(name, how, traits, text) {text, traits, (uint8_t)(sizeof(text) - 1), ms_DMSW_H_##how},
static const ms_dmsw_row ms_dmsw_rows[] = {ms_DMSW_KINDS(ms_DMSW_ROW)};
#undef ms_DMSW_ROW
#undef ms_DMSW_KINDS
#undef ms_DMSW_C
#undef ms_DMSW_CN
#undef ms_DMSW_S
#undef ms_DMSW_0
#undef ms_DMSW_A
#undef ms_DMSW_CM
#undef ms_DMSW_CF

/* What a node's union holds. */
enum ms_dmsw_form {
    ms_DMSW_F_KIDS,
    ms_DMSW_F_TEXT,
    ms_DMSW_F_INDEX,
    ms_DMSW_F_KNOWN /* a type of the standard library: text is its name, before which "Swift." stands */
};

/* A mark of nodes with a text: at least ms_DM_WIDE readable bytes begin there. */
enum { ms_DMSW_WIDE = 0x80 };

typedef struct ms_dmsw_node { /* One node of the tree, 16 bytes. */
    uint16_t kind;
    uint8_t form;   /* enum ms_dmsw_form */
    uint8_t mark;   /* a small value; the kind says what it means */
    uint32_t count; /* children, or bytes of text */
    union {
        const char *text;
        uint64_t index;
        uint32_t kid[2]; /* count <= 2: the children; more: the place and capacity of their array */
    } u;
} ms_dmsw_node;

typedef struct ms_dmsw_refs { /* A growing array of references in the scratch. */
    uint32_t *v;
    uint32_t count;
    uint32_t cap;
} ms_dmsw_refs;

typedef struct ms_dmsw { /* One name being read or printed. */
    ms_dm *d;
    ms_dmsw_node *base; /* node 0 stands for no node */
    const char *s;
    size_t len;
    size_t at;
    uint32_t style;     /* machsym_demangle_flags and the internal styles */
    bool old_functions; /* _T0: argument labels are part of the tuple */
    bool specialized;   /* the simplified style has printed "specialized " */
    bool spells;        /* the name spells an identifier */
    uint8_t word_count;
    uint8_t part_count;
    ms_dmsw_refs stack;
    ms_dmsw_refs subs;
    uint32_t first_stack[ms_DMSW_FIRST_REFS]; /* enough for nearly all names */
    uint32_t first_subs[ms_DMSW_FIRST_REFS];
    machsym_str words[ms_DMSW_MAX_WORDS];
    machsym_str parts[ms_DMSW_MAX_PARTS]; /* parts of identifiers whose words are not in the list yet */
} ms_dmsw;

/* ---- nodes ---- */

static ms_dmsw_node *ms_dmsw_at(const ms_dmsw *p, uint32_t ref)
{
    return p->base + (ref & ~ms_DMSW_AS_TYPE);
}

static unsigned ms_dmsw_kind_of(const ms_dmsw *p, uint32_t ref)
{
    return ref & ms_DMSW_AS_TYPE ? (unsigned)ms_DMSW_Type : p->base[ref].kind;
}

/* The kind after the "as a type" bit. */
static unsigned ms_dmsw_inner(const ms_dmsw *p, uint32_t ref)
{
    return ms_dmsw_at(p, ref)->kind;
}

static unsigned ms_dmsw_traits(const ms_dmsw *p, uint32_t ref)
{
    return ms_dmsw_rows[ms_dmsw_kind_of(p, ref)].traits;
}

static uint32_t ms_dmsw_type(uint32_t ref)
{
    return ref ? ref | ms_DMSW_AS_TYPE : 0;
}

/* Takes one step from the budget. Returns false when it is spent. */
static bool ms_dmsw_step(ms_dmsw *p)
{
    if (p->d->work == 0) {
        p->d->failed = true;
        return false;
    }
    p->d->work--;
    return true;
}

/* Takes room for a node, and a step for it. Returns NULL when either is missing. */
static inline ms_dmsw_node *ms_dmsw_take(ms_dmsw *p)
{
    ms_dm *d = p->d;
    if (d->work == 0 || d->mem_len - d->mem_used < sizeof(ms_dmsw_node)) {
        d->no_mem = d->no_mem || d->work != 0;
        d->failed = true;
        return NULL;
    }
    d->work--;
    d->mem_used += sizeof(ms_dmsw_node);
    return (ms_dmsw_node *)(void *)(d->mem + (d->mem_used - sizeof(ms_dmsw_node)));
}

static ms_NOINLINE uint32_t ms_dmsw_make(ms_dmsw *p, unsigned kind)
{
    ms_dmsw_node *n = ms_dmsw_take(p);
    if (!n)
        return 0;
    n->kind = (uint16_t)kind;
    n->form = ms_DMSW_F_KIDS;
    n->mark = 0;
    n->count = 0;
    n->u.index = 0;
    return (uint32_t)(n - p->base);
}

static ms_NOINLINE uint32_t ms_dmsw_make_text(ms_dmsw *p, unsigned kind, const char *text, size_t len)
{
    ms_dmsw_node *n = ms_dmsw_take(p);
    if (!n)
        return 0;
    n->kind = (uint16_t)kind;
    n->form = ms_DMSW_F_TEXT;
    n->mark = 0;
    n->count = (uint32_t)len;
    n->u.text = text;
    return (uint32_t)(n - p->base);
}

#define ms_dmsw_make_lit(p, kind, text) ms_dmsw_make_text(p, kind, text, sizeof(text) - 1)

/* Makes a node for a part of a longer text. end is where that ends. */
static uint32_t ms_dmsw_make_part(ms_dmsw *p, unsigned kind, machsym_str part, const char *end)
{
    uint32_t ref = ms_dmsw_make_text(p, kind, part.ptr, part.len);
    if (ref && (size_t)(end - part.ptr) >= ms_DM_WIDE)
        ms_dmsw_at(p, ref)->mark = ms_DMSW_WIDE;
    return ref;
}

static ms_NOINLINE uint32_t ms_dmsw_make_index(ms_dmsw *p, unsigned kind, uint64_t index)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ref) {
        ms_dmsw_at(p, ref)->form = ms_DMSW_F_INDEX;
        ms_dmsw_at(p, ref)->u.index = index;
    }
    return ref;
}

static const uint32_t *ms_dmsw_kids(const ms_dmsw *p, const ms_dmsw_node *n)
{
    return n->count <= 2 ? n->u.kid : (const uint32_t *)(const void *)(p->base + n->u.kid[0]);
}

static uint32_t ms_dmsw_kid_count(const ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    return n->form == ms_DMSW_F_KIDS ? n->count : 0;
}

static uint32_t ms_dmsw_kid(const ms_dmsw *p, uint32_t ref, uint32_t i)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    return n->form == ms_DMSW_F_KIDS && i < n->count ? ms_dmsw_kids(p, n)[i] : 0;
}

/* The first child of that kind, or 0. */
static uint32_t ms_dmsw_kid_of(const ms_dmsw *p, uint32_t ref, unsigned kind)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    if (n->form != ms_DMSW_F_KIDS)
        return 0;
    const uint32_t *v = ms_dmsw_kids(p, n);
    for (uint32_t i = 0; i < n->count; i++)
        if (ms_dmsw_kind_of(p, v[i]) == kind)
            return v[i];
    return 0;
}

/* Appends a third or later child. */
static ms_NOINLINE uint32_t ms_dmsw_add_more(ms_dmsw *p, uint32_t parent, uint32_t child)
{
    ms_dmsw_node *n = ms_dmsw_at(p, parent);
    if (n->count == 2 || n->count == n->u.kid[1]) {
        uint32_t cap = n->count * 2;
        uint32_t *v = (uint32_t *)ms_dm_alloc(p->d, cap * sizeof *v);
        if (!v)
            return 0;
        ms_copy(v, ms_dmsw_kids(p, n), n->count * sizeof *v);
        n->u.kid[0] = (uint32_t)((ms_dmsw_node *)(void *)v - p->base);
        n->u.kid[1] = cap;
    }
    n->count++;
    ((uint32_t *)(void *)(p->base + n->u.kid[0]))[n->count - 1] = child;
    return parent;
}

/* Appends a child. Returns parent, or 0 when either is missing, so that a missing part makes the whole
 * fail. */
static ms_NOINLINE uint32_t ms_dmsw_add(ms_dmsw *p, uint32_t parent, uint32_t child)
{
    if (!parent || !child)
        return 0;
    ms_dmsw_node *n = ms_dmsw_at(p, parent);
    if (n->form != ms_DMSW_F_KIDS)
        return 0;
    if (n->count >= 2)
        return ms_dmsw_add_more(p, parent, child);
    n->u.kid[n->count++] = child;
    return parent;
}

static void ms_dmsw_set_kid(ms_dmsw *p, uint32_t ref, uint32_t i, uint32_t child)
{
    ms_dmsw_node *n = ms_dmsw_at(p, ref);
    uint32_t *v = n->count <= 2 ? n->u.kid : (uint32_t *)(void *)(p->base + n->u.kid[0]);
    v[i] = child;
}

static ms_NOINLINE uint32_t ms_dmsw_make1(ms_dmsw *p, unsigned kind, uint32_t a)
{
    ms_dmsw_node *n = a ? ms_dmsw_take(p) : NULL;
    if (!n)
        return 0;
    n->kind = (uint16_t)kind;
    n->form = ms_DMSW_F_KIDS;
    n->mark = 0;
    n->count = 1;
    n->u.kid[0] = a;
    n->u.kid[1] = 0;
    return (uint32_t)(n - p->base);
}

static ms_NOINLINE uint32_t ms_dmsw_make2(ms_dmsw *p, unsigned kind, uint32_t a, uint32_t b)
{
    ms_dmsw_node *n = a && b ? ms_dmsw_take(p) : NULL;
    if (!n)
        return 0;
    n->kind = (uint16_t)kind;
    n->form = ms_DMSW_F_KIDS;
    n->mark = 0;
    n->count = 2;
    n->u.kid[0] = a;
    n->u.kid[1] = b;
    return (uint32_t)(n - p->base);
}

static uint32_t ms_dmsw_make3(ms_dmsw *p, unsigned kind, uint32_t a, uint32_t b, uint32_t c)
{
    return ms_dmsw_add(p, ms_dmsw_make2(p, kind, a, b), c);
}

/* Reverses the children from place `from` on. The mangling is postfix, so lists are read from their end. */
static void ms_dmsw_reverse(ms_dmsw *p, uint32_t ref, uint32_t from)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t lo = from, hi = count; lo + 1 < hi; lo++, hi--) {
        uint32_t first = ms_dmsw_kid(p, ref, lo);
        ms_dmsw_set_kid(p, ref, lo, ms_dmsw_kid(p, ref, hi - 1));
        ms_dmsw_set_kid(p, ref, hi - 1, first);
    }
}

/* Copies a node and gives the copy another kind. The node itself may have several parents. */
static uint32_t ms_dmsw_with_kind(ms_dmsw *p, uint32_t ref, unsigned kind)
{
    uint32_t copy = ref ? ms_dmsw_make(p, kind) : 0;
    if (copy) {
        *ms_dmsw_at(p, copy) = *ms_dmsw_at(p, ref);
        ms_dmsw_at(p, copy)->kind = (uint16_t)kind;
    }
    return copy;
}

static bool ms_dmsw_text_is(const ms_dmsw *p, uint32_t ref, const char *text, size_t len)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    return (n->form == ms_DMSW_F_TEXT || n->form == ms_DMSW_F_KNOWN) && n->count == len &&
           ms_equal(n->u.text, text, len);
}

/* Makes room for more references. */
static ms_NOINLINE bool ms_dmsw_more(ms_dmsw *p, ms_dmsw_refs *refs)
{
    uint32_t cap = refs->cap * 2;
    uint32_t *v = (uint32_t *)ms_dm_alloc(p->d, cap * sizeof *v);
    if (!v)
        return false;
    ms_copy(v, refs->v, refs->count * sizeof *v);
    refs->v = v;
    refs->cap = cap;
    return true;
}

static inline void ms_dmsw_append(ms_dmsw *p, ms_dmsw_refs *refs, uint32_t ref)
{
    if (refs->count < refs->cap || ms_dmsw_more(p, refs))
        refs->v[refs->count++] = ref;
}

static uint32_t ms_dmsw_remember(ms_dmsw *p, uint32_t ref)
{
    if (ref)
        ms_dmsw_append(p, &p->subs, ref);
    return ref;
}

/* ---- words that nodes stand for ---- */

/* PARAM-CONVENTION and RESULT-CONVENTION: the letters, and the words in the same order */
static const char ms_dmsw_param_letters[] = "iclbnXxgeyvpm";
static const char *const ms_dmsw_param_words[] = {
    "@in",         "@in_constant",     "@inout",      "@inout_aliasable", "@in_guaranteed",
    "@in_cxx",     "@owned",           "@guaranteed", "@deallocating",    "@unowned",
    "@pack_owned", "@pack_guaranteed", "@pack_inout"};
static const char ms_dmsw_result_letters[] = "roduaklgm";
static const char *const ms_dmsw_result_words[] = {"@out",
                                                   "@owned",
                                                   "@unowned",
                                                   "@unowned_inner_pointer",
                                                   "@autoreleased",
                                                   "@pack_out",
                                                   "@guaranteed_address",
                                                   "@guaranteed",
                                                   "@inout"};

/* The mark of a parameter or result. */
enum {
    ms_DMSW_M_WORD = 0x0f, /* place in one of the tables above */
    ms_DMSW_M_NO_DERIVATIVE = 0x10,
    ms_DMSW_M_SENDING = 0x20,
    ms_DMSW_M_ISOLATED = 0x40,
    ms_DMSW_M_IMPLICIT = 0x80
};

/* What a specialization did to an argument. The first values exclude one another, the last five are bits. */
enum ms_dmsw_spec {
    ms_DMSW_P_FUNCTION = 1,
    ms_DMSW_P_GLOBAL,
    ms_DMSW_P_INTEGER,
    ms_DMSW_P_FLOAT,
    ms_DMSW_P_STRING,
    ms_DMSW_P_KEYPATH,
    ms_DMSW_P_STRUCT,
    ms_DMSW_P_CLOSURE,
    ms_DMSW_P_ESCAPING_CLOSURE,
    ms_DMSW_P_SAME_CLOSURE,
    ms_DMSW_P_BOX_TO_VALUE,
    ms_DMSW_P_BOX_TO_STACK,
    ms_DMSW_P_INOUT_TO_OUT,
    ms_DMSW_P_EXISTENTIAL = 1u << 4,
    ms_DMSW_P_DEAD = 1u << 5,
    ms_DMSW_P_OWNED_TO_GUARANTEED = 1u << 6,
    ms_DMSW_P_GUARANTEED_TO_OWNED = 1u << 7,
    ms_DMSW_P_EXPLODED = 1u << 8
};

/* VALUE-WITNESS-KIND, the letters and the words in the same order */
static const char ms_dmsw_vw_letters[] = "alcatadexxXXXxCPCpcpTKTktkprxsxgCcTttTugupuietst";
static const char *const ms_dmsw_vw_words[] = {"allocateBuffer",
                                               "assignWithCopy",
                                               "assignWithTake",
                                               "deallocateBuffer",
                                               "destroy",
                                               "destroyBuffer",
                                               "destroyArray",
                                               "initializeBufferWithCopyOfBuffer",
                                               "initializeBufferWithCopy",
                                               "initializeWithCopy",
                                               "initializeBufferWithTakeOfBuffer",
                                               "initializeBufferWithTake",
                                               "initializeWithTake",
                                               "projectBuffer",
                                               "storeExtraInhabitant",
                                               "getExtraInhabitantIndex",
                                               "initializeArrayWithCopy",
                                               "initializeArrayWithTakeFrontToBack",
                                               "initializeArrayWithTakeBackToFront",
                                               "getEnumTag",
                                               "destructiveProjectEnumData",
                                               "destructiveInjectEnumTag",
                                               "getEnumTagSinglePayload",
                                               "storeEnumTagSinglePayload"};

/* ---- characters ---- */

static char ms_dmsw_peek(const ms_dmsw *p)
{
    return p->at < p->len ? p->s[p->at] : '\0';
}

static char ms_dmsw_next(ms_dmsw *p)
{
    return p->at < p->len ? p->s[p->at++] : '\0';
}

static bool ms_dmsw_next_if(ms_dmsw *p, char c)
{
    if (p->at >= p->len || p->s[p->at] != c)
        return false;
    p->at++;
    return true;
}

/* Takes a text of two characters or more. */
static ms_NOINLINE bool ms_dmsw_next_all(ms_dmsw *p, const char *text, size_t len)
{
    if (p->len - p->at < len || !ms_equal(p->s + p->at, text, len))
        return false;
    p->at += len;
    return true;
}

/* Nearly all texts that are tried differ in their first or second character. */
static inline bool ms_dmsw_next_is(ms_dmsw *p, const char *text, size_t len)
{
    return p->len - p->at > 1 && p->s[p->at] == text[0] && p->s[p->at + 1] == text[1] &&
           ms_dmsw_next_all(p, text, len);
}

static bool ms_dmsw_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool ms_dmsw_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool ms_dmsw_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The place of a letter in a list of letters, -1 when it is not there. */
static int ms_dmsw_find(const char *letters, char c)
{
    for (int i = 0; letters[i] != '\0'; i++)
        if (letters[i] == c)
            return i;
    return -1;
}

/* NATURAL; -1 when there is none, or when it is larger than any name needs. */
static int64_t ms_dmsw_natural(ms_dmsw *p)
{
    size_t first = p->at, at = first, len = p->len;
    unsigned digit;
    uint64_t value = 0;
    for (; at < len && (digit = (unsigned char)p->s[at] - (unsigned)'0') < 10 && value <= INT32_MAX; at++)
        value = value * 10 + digit;
    p->at = at;
    return at > first && value <= INT32_MAX ? (int64_t)value : -1;
}

/* Reads a length and as many bytes: an identifier, or a literal part of one. */
static bool ms_dmsw_literal(ms_dmsw *p, machsym_str *part)
{
    int64_t len = ms_dmsw_natural(p);
    if (len <= 0 || (uint64_t)len > p->len - p->at)
        return false;
    part->ptr = p->s + p->at;
    part->len = (size_t)len;
    p->at += (size_t)len;
    return true;
}

/* Decodes a Punycode identifier to UTF-8, in the scratch. Surrogates stand for the ASCII characters that
 * no symbol can have. */
static bool ms_dmsw_puny(ms_dmsw *p, const char *s, size_t len, machsym_str *out)
{
    machsym_str coded = {s, len};
    size_t mark = p->d->mem_used;
    char *text = (char *)ms_dm_alloc(p->d, len * 4 + 16);
    uint32_t *points = (uint32_t *)ms_dm_alloc(p->d, len * sizeof *points + 16);
    if (!text || !points)
        return false;
    size_t count = ms_dm_puny(p->d, coded, 'A', points);
    if (count == SIZE_MAX)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t c = points[i];
        if (c >= 0xd800 && c < 0xd880)
            c -= 0xd800;
        else if (c >= 0xd880 && c < 0xe000)
            return false;
        used += ms_dm_utf8(c, text + used);
    }
    p->d->mem_used = mark + ((used + 15u) & ~(size_t)15u);
    out->ptr = text;
    out->len = used;
    return true;
}

/* ---- nodes of both manglings ---- */

#define ms_DMSW_SWIFT "Swift."
enum { ms_DMSW_SWIFT_LEN = sizeof(ms_DMSW_SWIFT) - 1 };

/* A predefined type of the standard library. name is after "Swift.". */
static ms_NOINLINE uint32_t ms_dmsw_known_type(ms_dmsw *p, unsigned kind, const char *name, size_t len)
{
    uint32_t ref = ms_dmsw_make_text(p, kind, name, len);
    if (ref)
        ms_dmsw_at(p, ref)->form = ms_DMSW_F_KNOWN;
    return ms_dmsw_type(ref);
}

#define ms_dmsw_known(p, kind, name)                                                                         \
    ms_dmsw_known_type(p, ms_DMSW_##kind, &(ms_DMSW_SWIFT name)[ms_DMSW_SWIFT_LEN], sizeof(name) - 1)

typedef struct ms_dmsw_standard_type {
    uint8_t kind;
    uint8_t len; /* of the name; 0: there is no such type */
    char text[sizeof(ms_DMSW_SWIFT) + ms_DM_WIDE + 1];
} ms_dmsw_standard_type;

#define ms_DMSW_STANDARD(kind, name)                                                                         \
    {                                                                                                        \
        ms_DMSW_##kind, sizeof(name) - 1, ms_DMSW_SWIFT name                                                 \
    }

/* KNOWN-TYPE-KIND: the types that are one letter in both manglings, A to Z and a to z */
static uint32_t ms_dmsw_standard(ms_dmsw *p, char letter)
{
    static const ms_dmsw_standard_type types[] = {
        ms_DMSW_STANDARD(Structure, "AutoreleasingUnsafeMutablePointer"),
        ms_DMSW_STANDARD(Protocol, "BinaryFloatingPoint"),
        {0, 0, ""},
        ms_DMSW_STANDARD(Structure, "Dictionary"),
        ms_DMSW_STANDARD(Protocol, "Encodable"),
        ms_DMSW_STANDARD(Protocol, "FloatingPoint"),
        ms_DMSW_STANDARD(Protocol, "RandomNumberGenerator"),
        ms_DMSW_STANDARD(Protocol, "Hashable"),
        ms_DMSW_STANDARD(Structure, "DefaultIndices"),
        ms_DMSW_STANDARD(Structure, "Character"),
        ms_DMSW_STANDARD(Protocol, "BidirectionalCollection"),
        ms_DMSW_STANDARD(Protocol, "Comparable"),
        ms_DMSW_STANDARD(Protocol, "MutableCollection"),
        ms_DMSW_STANDARD(Structure, "ClosedRange"),
        ms_DMSW_STANDARD(Structure, "ObjectIdentifier"),
        ms_DMSW_STANDARD(Structure, "UnsafePointer"),
        ms_DMSW_STANDARD(Protocol, "Equatable"),
        ms_DMSW_STANDARD(Structure, "UnsafeBufferPointer"),
        ms_DMSW_STANDARD(Structure, "String"),
        ms_DMSW_STANDARD(Protocol, "Sequence"),
        ms_DMSW_STANDARD(Protocol, "UnsignedInteger"),
        ms_DMSW_STANDARD(Structure, "UnsafeRawPointer"),
        ms_DMSW_STANDARD(Structure, "UnsafeRawBufferPointer"),
        ms_DMSW_STANDARD(Protocol, "RangeExpression"),
        ms_DMSW_STANDARD(Protocol, "RawRepresentable"),
        ms_DMSW_STANDARD(Protocol, "SignedInteger"),
        ms_DMSW_STANDARD(Structure, "Array"),
        ms_DMSW_STANDARD(Structure, "Bool"),
        {0, 0, ""},
        ms_DMSW_STANDARD(Structure, "Double"),
        ms_DMSW_STANDARD(Protocol, "Decodable"),
        ms_DMSW_STANDARD(Structure, "Float"),
        {0, 0, ""},
        ms_DMSW_STANDARD(Structure, "Set"),
        ms_DMSW_STANDARD(Structure, "Int"),
        ms_DMSW_STANDARD(Protocol, "Numeric"),
        ms_DMSW_STANDARD(Protocol, "RandomAccessCollection"),
        ms_DMSW_STANDARD(Protocol, "Collection"),
        ms_DMSW_STANDARD(Protocol, "RangeReplaceableCollection"),
        ms_DMSW_STANDARD(Structure, "Range"),
        {0, 0, ""},
        ms_DMSW_STANDARD(Structure, "UnsafeMutablePointer"),
        ms_DMSW_STANDARD(Enum, "Optional"),
        ms_DMSW_STANDARD(Structure, "UnsafeMutableBufferPointer"),
        ms_DMSW_STANDARD(Structure, "Substring"),
        ms_DMSW_STANDARD(Protocol, "IteratorProtocol"),
        ms_DMSW_STANDARD(Structure, "UInt"),
        ms_DMSW_STANDARD(Structure, "UnsafeMutableRawPointer"),
        ms_DMSW_STANDARD(Structure, "UnsafeMutableRawBufferPointer"),
        ms_DMSW_STANDARD(Protocol, "Strideable"),
        ms_DMSW_STANDARD(Protocol, "StringProtocol"),
        ms_DMSW_STANDARD(Protocol, "BinaryInteger")};
    unsigned i = (unsigned char)letter - (letter >= 'a' ? (unsigned)'a' : (unsigned)'A');
    if (i >= 26)
        return 0;
    i += letter >= 'a' ? 26 : 0;
    if (types[i].len == 0)
        return 0;
    uint32_t ref = ms_dmsw_known_type(p, types[i].kind, types[i].text + ms_DMSW_SWIFT_LEN, types[i].len);
    if (ref)
        ms_dmsw_at(p, ref)->mark = ms_DMSW_WIDE;
    return ref;
}

#undef ms_DMSW_STANDARD

enum { ms_DMSW_MODULE_SWIFT, ms_DMSW_MODULE_C, ms_DMSW_MODULE_SYNTHESIZED };

/* A module that the manglings have a letter for. */
static uint32_t ms_dmsw_module(ms_dmsw *p, unsigned which)
{
    static const char names[][ms_DM_WIDE] = {"Swift", "__C", "__C_Synthesized"};
    static const unsigned char lens[] = {5, 3, 15};
    machsym_str name = {names[which], lens[which]};
    return ms_dmsw_make_part(p, ms_DMSW_Module, name, names[which] + ms_DM_WIDE);
}

static unsigned ms_dmsw_bound_kind(unsigned kind)
{
    switch (kind) {
    case ms_DMSW_Class: return ms_DMSW_BoundGenericClass;
    case ms_DMSW_Structure: return ms_DMSW_BoundGenericStructure;
    case ms_DMSW_Enum: return ms_DMSW_BoundGenericEnum;
    case ms_DMSW_Protocol: return ms_DMSW_BoundGenericProtocol;
    case ms_DMSW_OtherNominalType: return ms_DMSW_BoundGenericOtherNominalType;
    case ms_DMSW_TypeAlias: return ms_DMSW_BoundGenericTypeAlias;
    case ms_DMSW_Function:
    case ms_DMSW_Constructor: return ms_DMSW_BoundGenericFunction;
    default: return ms_DMSW_None;
    }
}

static uint32_t ms_dmsw_param_type(ms_dmsw *p, uint64_t depth, uint64_t index)
{
    return ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamType, depth << 32 | index);
}

/* The tuple or the single type of a function's parameters, 0 when type is no function. */
static uint32_t ms_dmsw_params_of(const ms_dmsw *p, uint32_t type)
{
    if (!(type & ms_DMSW_AS_TYPE))
        return 0;
    if (ms_dmsw_inner(p, type) == ms_DMSW_DependentGenericType)
        type = ms_dmsw_kid(p, type, 1);
    unsigned kind = ms_dmsw_inner(p, type);
    if (kind != ms_DMSW_FunctionType && kind != ms_DMSW_NoEscapeFunctionType)
        return 0;
    uint32_t args = ms_dmsw_kid_of(p, type, ms_DMSW_ArgumentTuple);
    return ms_dmsw_kid(p, args, 0) & ~ms_DMSW_AS_TYPE;
}

static uint32_t ms_dmsw_marked(ms_dmsw *p, unsigned kind, char mark)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ref)
        ms_dmsw_at(p, ref)->mark = (uint8_t)mark;
    return ref;
}

static uint32_t ms_dmsw_metatype_repr(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 't': return ms_dmsw_make_lit(p, ms_DMSW_MetatypeRepresentation, "@thin");
    case 'T': return ms_dmsw_make_lit(p, ms_DMSW_MetatypeRepresentation, "@thick");
    case 'o': return ms_dmsw_make_lit(p, ms_DMSW_MetatypeRepresentation, "@objc_metatype");
    default: return 0;
    }
}

/* Appends a part to the text that grows at the end of the scratch. */
static bool ms_dmsw_grow(ms_dmsw *p, machsym_str part, size_t *used)
{
    ms_dm *d = p->d;
    if (part.len > d->mem_len - d->mem_used - *used) {
        d->no_mem = d->failed = true;
        return false;
    }
    ms_copy(d->mem + d->mem_used + *used, part.ptr, part.len);
    *used += part.len;
    return true;
}

/* A name made of a number between two fixed parts, in the scratch. */
static uint32_t ms_dmsw_builtin_number(ms_dmsw *p, machsym_str head, int64_t number, machsym_str tail)
{
    char digits[20];
    machsym_str middle = {digits, 0};
    if (number <= 0 || number > ms_DMSW_MAX_BUILTIN)
        return 0;
    for (int64_t n = number; n > 0; n /= 10)
        middle.len++;
    for (size_t i = middle.len; i-- > 0; number /= 10)
        digits[i] = (char)('0' + number % 10);
    size_t used = 0;
    const char *text = (const char *)p->d->mem + p->d->mem_used;
    if (!ms_dmsw_grow(p, head, &used) || !ms_dmsw_grow(p, middle, &used) || !ms_dmsw_grow(p, tail, &used) ||
        !ms_dm_alloc(p->d, used))
        return 0;
    return ms_dmsw_make_text(p, ms_DMSW_BuiltinTypeName, text, used);
}

/* Builtin.Vec<n>x<element> */
static uint32_t ms_dmsw_builtin_vector(ms_dmsw *p, int64_t count, uint32_t element)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, element);
    if (!element || n->kind != ms_DMSW_BuiltinTypeName || n->count <= 8)
        return 0;
    machsym_str head = {"Builtin.Vec", 11}, tail;
    size_t used = 0;
    machsym_str x = {"x", 1}, rest = {n->u.text + 8, n->count - 8u};
    tail.ptr = (const char *)p->d->mem + p->d->mem_used;
    if (!ms_dmsw_grow(p, x, &used) || !ms_dmsw_grow(p, rest, &used) || !ms_dm_alloc(p->d, used))
        return 0;
    tail.len = used;
    return ms_dmsw_builtin_number(p, head, count, tail);
}

static uint32_t ms_dmsw_builtin_sized(ms_dmsw *p, char c, int64_t size)
{
    machsym_str tail = {"", 0};
    machsym_str fp = {"Builtin.FPIEEE", 14}, integer = {"Builtin.Int", 11};
    return ms_dmsw_builtin_number(p, c == 'f' ? fp : integer, size, tail);
}

#define ms_dmsw_builtin_name(p, name) ms_dmsw_make_lit(p, ms_DMSW_BuiltinTypeName, "Builtin." name)

/* The builtin types that are one letter in both manglings. */
static uint32_t ms_dmsw_builtin_simple(ms_dmsw *p, char c)
{
    switch (c) {
    case 'A': return ms_dmsw_builtin_name(p, "ImplicitActor");
    case 'b': return ms_dmsw_builtin_name(p, "BridgeObject");
    case 'B': return ms_dmsw_builtin_name(p, "UnsafeValueBuffer");
    case 'c': return ms_dmsw_builtin_name(p, "RawUnsafeContinuation");
    case 'D': return ms_dmsw_builtin_name(p, "DefaultActorStorage");
    case 'd': return ms_dmsw_builtin_name(p, "NonDefaultDistributedActorStorage");
    case 'e': return ms_dmsw_builtin_name(p, "Executor");
    case 'I': return ms_dmsw_builtin_name(p, "IntLiteral");
    case 'j': return ms_dmsw_builtin_name(p, "Job");
    case 'O': return ms_dmsw_builtin_name(p, "UnknownObject");
    case 'o': return ms_dmsw_builtin_name(p, "NativeObject");
    case 'P': return ms_dmsw_builtin_name(p, "PackIndex");
    case 'p': return ms_dmsw_builtin_name(p, "RawPointer");
    case 't': return ms_dmsw_builtin_name(p, "SILToken");
    case 'T': return ms_dmsw_make(p, ms_DMSW_BuiltinTupleType);
    case 'w': return ms_dmsw_builtin_name(p, "Word");
    default: return 0;
    }
}

/* Reads the two letters of a value witness. The caller adds the type. */
static uint32_t ms_dmsw_value_witness(ms_dmsw *p)
{
    char a = ms_dmsw_next(p), b = ms_dmsw_next(p);
    for (size_t i = 0; i + 2 < sizeof ms_dmsw_vw_letters; i += 2)
        if (ms_dmsw_vw_letters[i] == a && ms_dmsw_vw_letters[i + 1] == b)
            return ms_dmsw_marked(p, ms_DMSW_ValueWitness, (char)(i / 2));
    return 0;
}

static ms_NOINLINE uint32_t ms_dmsw_spec_kind(ms_dmsw *p, uint32_t param, unsigned what)
{
    return ms_dmsw_add(p, param,
                       ms_dmsw_make_index(p, ms_DMSW_FunctionSignatureSpecializationParamKind, what));
}

static uint32_t ms_dmsw_spec_text(ms_dmsw *p, uint32_t param, const char *text, size_t len)
{
    return ms_dmsw_add(p, param,
                       ms_dmsw_make_text(p, ms_DMSW_FunctionSignatureSpecializationParamPayload, text, len));
}

#endif /* MACHSYM_NO_SWIFT */

#endif /* ms_ROOM_names_swift_nodes */
