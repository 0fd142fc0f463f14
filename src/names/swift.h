#ifndef ms_ROOM_names_swift
#define ms_ROOM_names_swift
#include "../api/api.h"
#include "../base/bytes.h"
#include "core.h"

#ifndef MACHSYM_NO_SWIFT
/* Swift: mangled names of Swift 4 and later ($s, $S, $e, _T0, @__swiftmacro_) and of Swift 1 to 3 (_T, _Tt)
 * become one kind of tree, which one printer writes in the full or the simplified style.
 * Mangling.rst and OldMangling.rst of the Swift project define the grammar; the names below are theirs. */

/* A reference to a node: its place in the scratch in units of 16 bytes, 0 for none. The top bit says "as a
 * type": Swift's own tools wrap such a node in a node of its own, which would double the memory. */
#define ms_DMSW_AS_TYPE 0x80000000u

enum {
    ms_DMSW_MAX_WORDS = 26,    /* Identifiers: at most 26 words can be substituted */
    ms_DMSW_MAX_REPEAT = 2048, /* more repeats of one substitution than any compiler writes */
    ms_DMSW_MAX_DEPTH = 256    /* levels of nesting; a level takes 200 to 450 bytes of stack */
};

/* Internal styles beside machsym_demangle_flags. */
enum {
    ms_DMSW_NO_ASYNC = 1u << 24, /* leave out "(1) suspend resume partial function for " */
    ms_DMSW_NO_SUGAR = 1u << 25  /* Swift.Optional<A> for A? */
};

/* How a kind is printed, when its row in the table is enough. */
enum ms_dmsw_how {
    ms_DMSW_H_TEXT,   /* the row's text */
    ms_DMSW_H_FIRST,  /* the row's text and the first child */
    ms_DMSW_H_ALL,    /* the row's text and all children */
    ms_DMSW_H_OWN,    /* the node's text */
    ms_DMSW_H_NAMED,  /* a declaration: context, dot, name */
    ms_DMSW_H_PART,   /* a declaration without a name: context, dot, the row's text */
    ms_DMSW_H_ACCESS, /* an accessor: the storage, dot, the row's text */
    ms_DMSW_H_CODE    /* code in ms_dmsw_print_special */
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
    K(Type, CODE, ms_DMSW_0, "") \
    K(Global, ALL, ms_DMSW_0, "") \
    K(Suffix, CODE, ms_DMSW_0, "") \
    K(EmptyList, TEXT, ms_DMSW_0, " empty-list ") \
    K(FirstElementMarker, TEXT, ms_DMSW_0, " first-element-marker ") \
    K(VariadicMarker, TEXT, ms_DMSW_0, " variadic-marker ") \
    K(Index, CODE, ms_DMSW_0, "") \
    K(UnknownIndex, TEXT, ms_DMSW_0, "unknown index") \
    K(Identifier, OWN, ms_DMSW_T_NAME, "") \
    K(InfixOperator, CODE, ms_DMSW_T_NAME, " infix") \
    K(PrefixOperator, CODE, ms_DMSW_T_NAME, " prefix") \
    K(PostfixOperator, CODE, ms_DMSW_T_NAME, " postfix") \
    K(LocalDeclName, CODE, ms_DMSW_T_NAME, "") \
    K(PrivateDeclName, CODE, ms_DMSW_T_NAME, "") \
    K(RelatedEntityDeclName, CODE, ms_DMSW_T_NAME, "") \
    K(Module, CODE, ms_DMSW_C, "") \
    K(Extension, CODE, ms_DMSW_C, "") \
    K(AnonymousContext, CODE, ms_DMSW_C, "") \
    K(Class, NAMED, ms_DMSW_CN, "") \
    K(Structure, NAMED, ms_DMSW_CN, "") \
    K(Enum, NAMED, ms_DMSW_CN, "") \
    K(Protocol, NAMED, ms_DMSW_CN, "") \
    K(OtherNominalType, NAMED, ms_DMSW_CN, "") \
    K(TypeAlias, NAMED, ms_DMSW_CN, "") \
    K(Function, CODE, ms_DMSW_C, "") \
    K(BoundGenericFunction, CODE, ms_DMSW_0, "") \
    K(Variable, CODE, ms_DMSW_C, "") \
    K(Subscript, CODE, ms_DMSW_C, "subscript") \
    K(Macro, CODE, ms_DMSW_C, "") \
    K(GenericTypeParamDecl, NAMED, ms_DMSW_0, "") \
    K(ExplicitClosure, CODE, ms_DMSW_C, "closure #") \
    K(ImplicitClosure, CODE, ms_DMSW_C, "implicit closure #") \
    K(Initializer, PART, ms_DMSW_C, "variable initialization expression") \
    K(DefaultArgumentInitializer, CODE, ms_DMSW_C, "default argument ") \
    K(PropertyWrapperBackingInitializer, PART, ms_DMSW_C, "property wrapper backing initializer") \
    K(PropertyWrapperInitFromProjectedValue, PART, ms_DMSW_C, "property wrapper init from projected value") \
    K(PropertyWrappedFieldInitAccessor, PART, ms_DMSW_C, "property wrapped field init accessor") \
    K(Allocator, CODE, ms_DMSW_C, "init") \
    K(Constructor, CODE, ms_DMSW_C, "init") \
    K(Destructor, PART, ms_DMSW_C, "deinit") \
    K(Deallocator, CODE, ms_DMSW_C, "__deallocating_deinit") \
    K(IsolatedDeallocator, CODE, ms_DMSW_C, "__isolated_deallocating_deinit") \
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
    K(FreestandingMacroExpansion, CODE, ms_DMSW_CM, "freestanding macro expansion #") \
    K(AccessorAttachedMacroExpansion, CODE, ms_DMSW_CM, "accessor macro @") \
    K(MemberAttributeAttachedMacroExpansion, CODE, ms_DMSW_CM, "memberAttribute macro @") \
    K(MemberAttachedMacroExpansion, CODE, ms_DMSW_CM, "member macro @") \
    K(PeerAttachedMacroExpansion, CODE, ms_DMSW_CM, "peer macro @") \
    K(ConformanceAttachedMacroExpansion, CODE, ms_DMSW_CM, "conformance macro @") \
    K(ExtensionAttachedMacroExpansion, CODE, ms_DMSW_CM, "extension macro @") \
    K(PreambleAttachedMacroExpansion, CODE, ms_DMSW_CM, "preamble macro @") \
    K(BodyAttachedMacroExpansion, CODE, ms_DMSW_CM, "body macro @") \
    K(MacroExpansionUniqueName, CODE, ms_DMSW_CM, "unique name #") \
    K(MacroExpansionLoc, CODE, ms_DMSW_CM, "") \
    K(LabelList, TEXT, ms_DMSW_S, "") \
    K(TypeList, ALL, ms_DMSW_S, "") \
    K(TypeMangling, CODE, ms_DMSW_0, "") \
    /* types: ms_dmsw_print_special knows them by their place in this list */ \
    K(BuiltinTypeName, OWN, ms_DMSW_S, "") \
    K(BuiltinTupleType, TEXT, ms_DMSW_S, "Builtin.TheTupleType") \
    K(BuiltinFixedArray, CODE, ms_DMSW_S, "Builtin.FixedArray<") \
    K(BuiltinBorrow, CODE, ms_DMSW_S, "Builtin.Borrow<") \
    K(FunctionType, CODE, ms_DMSW_T_FUNCTION, "") \
    K(NoEscapeFunctionType, CODE, ms_DMSW_T_FUNCTION, "") \
    K(UncurriedFunctionType, CODE, ms_DMSW_T_FUNCTION, "") \
    K(AutoClosureType, CODE, ms_DMSW_0, "@autoclosure ") \
    K(EscapingAutoClosureType, CODE, ms_DMSW_0, "@autoclosure ") \
    K(ThinFunctionType, CODE, ms_DMSW_0, "@convention(thin) ") \
    K(CFunctionPointer, CODE, ms_DMSW_0, "@convention(c") \
    K(ObjCBlock, CODE, ms_DMSW_0, "@convention(block") \
    K(EscapingObjCBlock, CODE, ms_DMSW_0, "@escaping @convention(block") \
    K(ClangType, OWN, ms_DMSW_0, "") \
    K(ArgumentTuple, CODE, ms_DMSW_0, "") \
    K(ReturnType, ALL, ms_DMSW_S, "") \
    K(ThrowsAnnotation, TEXT, ms_DMSW_0, " throws") \
    K(TypedThrowsAnnotation, CODE, ms_DMSW_0, " throws(") \
    K(AsyncAnnotation, TEXT, ms_DMSW_0, " async") \
    K(ConcurrentFunctionType, TEXT, ms_DMSW_0, "@Sendable ") \
    K(SendingResultFunctionType, TEXT, ms_DMSW_0, "sending ") \
    K(GlobalActorFunctionType, CODE, ms_DMSW_T_ISOLATION, "@") \
    K(IsolatedAnyFunctionType, TEXT, ms_DMSW_T_ISOLATION, "@isolated(any) ") \
    K(NonIsolatedCallerFunctionType, TEXT, ms_DMSW_T_ISOLATION, "nonisolated(nonsending) ") \
    K(DifferentiableFunctionType, CODE, ms_DMSW_0, "@differentiable") \
    K(Tuple, CODE, ms_DMSW_S, "(") \
    K(TupleElement, CODE, ms_DMSW_0, "") \
    K(TupleElementName, CODE, ms_DMSW_S, "") \
    K(Pack, CODE, ms_DMSW_S, "Pack{") \
    K(SILPackDirect, CODE, ms_DMSW_S, "@direct Pack{") \
    K(SILPackIndirect, CODE, ms_DMSW_S, "@indirect Pack{") \
    K(PackExpansion, FIRST, ms_DMSW_0, "repeat ") \
    K(PackElement, CODE, ms_DMSW_0, "/* level: ") \
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
    K(BoundGenericClass, CODE, ms_DMSW_S, "") \
    K(BoundGenericStructure, CODE, ms_DMSW_S, "") \
    K(BoundGenericEnum, CODE, ms_DMSW_S, "") \
    K(BoundGenericProtocol, CODE, ms_DMSW_S, "") \
    K(BoundGenericOtherNominalType, CODE, ms_DMSW_S, "") \
    K(BoundGenericTypeAlias, CODE, ms_DMSW_S, "") \
    K(DynamicSelf, TEXT, ms_DMSW_S, "Self") \
    K(SILBoxType, FIRST, ms_DMSW_S, "@box ") \
    K(SILBoxTypeWithLayout, CODE, ms_DMSW_S, "") \
    K(SILBoxLayout, CODE, ms_DMSW_0, "{") \
    K(SILBoxMutableField, FIRST, ms_DMSW_0, "var ") \
    K(SILBoxImmutableField, FIRST, ms_DMSW_0, "let ") \
    K(Metatype, CODE, ms_DMSW_S, "") \
    K(ExistentialMetatype, CODE, ms_DMSW_S | ms_DMSW_T_EXISTENTIAL, "") \
    K(MetatypeRepresentation, OWN, ms_DMSW_S, "") \
    K(ConstrainedExistential, CODE, ms_DMSW_0, "any ") \
    K(ConstrainedExistentialRequirementList, CODE, ms_DMSW_S, "") \
    K(ConstrainedExistentialSelf, TEXT, ms_DMSW_S, "Self") \
    K(ExtendedExistentialTypeShape, CODE, ms_DMSW_0, "existential shape for ") \
    K(ProtocolList, CODE, ms_DMSW_T_EXISTENTIAL, "") \
    K(ProtocolListWithClass, CODE, ms_DMSW_T_EXISTENTIAL, "") \
    K(ProtocolListWithAnyObject, CODE, ms_DMSW_T_EXISTENTIAL, "") \
    K(AssociatedTypeRef, CODE, ms_DMSW_S, "") \
    K(ErrorType, TEXT, ms_DMSW_S, "<ERROR TYPE>") \
    K(DependentGenericParamType, CODE, ms_DMSW_S, "") \
    K(DependentGenericType, CODE, ms_DMSW_S, "") \
    K(DependentMemberType, CODE, ms_DMSW_S, "") \
    K(DependentAssociatedTypeRef, CODE, ms_DMSW_0, "") \
    K(AssocTypePath, CODE, ms_DMSW_0, "") \
    K(Integer, CODE, ms_DMSW_S, "") \
    K(NegativeInteger, CODE, ms_DMSW_S, "-") \
    K(SugaredOptional, CODE, ms_DMSW_S, "") \
    K(SugaredArray, CODE, ms_DMSW_S, "[") \
    K(SugaredDictionary, CODE, ms_DMSW_S, "[") \
    K(SugaredInlineArray, CODE, ms_DMSW_S, "[") \
    K(SugaredParen, CODE, ms_DMSW_S, "(") \
    K(OpaqueReturnType, TEXT, ms_DMSW_0, "some") \
    K(OpaqueReturnTypeOf, CODE, ms_DMSW_C, "<<opaque return type of ") \
    K(OpaqueType, CODE, ms_DMSW_0, "") \
    /* generic signatures */ \
    K(DependentGenericSignature, CODE, ms_DMSW_0, "") \
    K(DependentPseudogenericSignature, CODE, ms_DMSW_0, "") \
    K(DependentGenericParamCount, TEXT, ms_DMSW_0, "") \
    K(DependentGenericParamPackMarker, TEXT, ms_DMSW_T_REQ, "") \
    K(DependentGenericParamValueMarker, TEXT, ms_DMSW_T_REQ, "") \
    K(DependentGenericConformanceRequirement, CODE, ms_DMSW_T_REQ, ": ") \
    K(DependentGenericSameTypeRequirement, CODE, ms_DMSW_T_REQ, " == ") \
    K(DependentGenericSameShapeRequirement, CODE, ms_DMSW_T_REQ, ".shape == ") \
    K(DependentGenericInverseConformanceRequirement, CODE, ms_DMSW_T_REQ, ": ~Swift.") \
    K(DependentGenericLayoutRequirement, CODE, ms_DMSW_T_REQ, ": ") \
    /* implementation function types */ \
    K(ImplFunctionType, CODE, ms_DMSW_0, "") \
    K(ImplEscaping, TEXT, ms_DMSW_0, "@escaping") \
    K(ImplErasedIsolation, TEXT, ms_DMSW_0, "@isolated(any)") \
    K(ImplNonIsolated, TEXT, ms_DMSW_0, "nonisolated(nonsending)") \
    K(ImplCalledOnce, TEXT, ms_DMSW_0, "@called(atMostOnce)") \
    K(ImplSendingResult, TEXT, ms_DMSW_0, "sending") \
    K(ImplDifferentiabilityKind, CODE, ms_DMSW_0, "@differentiable") \
    K(ImplConvention, OWN, ms_DMSW_0, "") \
    K(ImplFunctionConvention, CODE, ms_DMSW_0, "@convention(") \
    K(ImplFunctionAttribute, OWN, ms_DMSW_0, "") \
    K(ImplParameter, CODE, ms_DMSW_0, "") \
    K(ImplResult, CODE, ms_DMSW_0, "") \
    K(ImplYield, CODE, ms_DMSW_0, "@yields ") \
    K(ImplErrorResult, CODE, ms_DMSW_0, "@error ") \
    K(ImplPatternSubstitutions, TEXT, ms_DMSW_0, "") \
    K(ImplInvocationSubstitutions, TEXT, ms_DMSW_0, "") \
    /* conformances */ \
    K(ProtocolConformance, CODE, ms_DMSW_0, "") \
    K(ConcreteProtocolConformance, CODE, ms_DMSW_T_CONF, "concrete protocol conformance ") \
    K(PackProtocolConformance, ALL, ms_DMSW_T_CONF, "pack protocol conformance ") \
    K(DependentProtocolConformanceRoot, CODE, ms_DMSW_CF, "dependent root protocol conformance ") \
    K(DependentProtocolConformanceInherited, CODE, ms_DMSW_CF, "dependent inherited protocol conformance ") \
    K(DependentProtocolConformanceAssociated, CODE, ms_DMSW_CF, \
      "dependent associated protocol conformance ") \
    K(DependentProtocolConformanceOpaque, CODE, ms_DMSW_CF, "opaque result conformance ") \
    K(DependentAssociatedConformance, ALL, ms_DMSW_0, "dependent associated conformance ") \
    K(ProtocolConformanceRefInTypeModule, ALL, ms_DMSW_0, "protocol conformance ref (type's module) ") \
    K(ProtocolConformanceRefInProtocolModule, ALL, ms_DMSW_0, \
      "protocol conformance ref (protocol's module) ") \
    K(ProtocolConformanceRefInOtherModule, ALL, ms_DMSW_0, "protocol conformance ref (retroactive) ") \
    K(AnyProtocolConformanceList, CODE, ms_DMSW_0, "") \
    K(RetroactiveConformance, ALL, ms_DMSW_0, "retroactive @ ") \
    /* attributes of whole functions */ \
    K(ObjCAttribute, TEXT, ms_DMSW_A, "@objc ") \
    K(NonObjCAttribute, TEXT, ms_DMSW_A, "@nonobjc ") \
    K(DynamicAttribute, TEXT, ms_DMSW_A, "dynamic ") \
    K(DirectMethodReferenceAttribute, TEXT, ms_DMSW_A, "super ") \
    K(VTableAttribute, TEXT, ms_DMSW_A, "override ") \
    K(PartialApplyForwarder, CODE, ms_DMSW_A, "partial apply forwarder") \
    K(PartialApplyObjCForwarder, CODE, ms_DMSW_A, "partial apply ObjC forwarder") \
    K(OutlinedVariable, CODE, ms_DMSW_A, "outlined variable #") \
    K(OutlinedReadOnlyObject, CODE, ms_DMSW_A, "outlined read-only object #") \
    K(OutlinedBridgedMethod, CODE, ms_DMSW_A, "outlined bridged method (") \
    K(MergedFunction, CODE, ms_DMSW_A, "merged ") \
    K(DistributedThunk, CODE, ms_DMSW_A, "distributed thunk ") \
    K(DistributedAccessor, CODE, ms_DMSW_A, "distributed accessor for ") \
    K(DynamicallyReplaceableFunctionKey, CODE, ms_DMSW_A, "dynamically replaceable key for ") \
    K(DynamicallyReplaceableFunctionImpl, CODE, ms_DMSW_A, "dynamically replaceable thunk for ") \
    K(DynamicallyReplaceableFunctionVar, CODE, ms_DMSW_A, "dynamically replaceable variable for ") \
    K(AsyncFunctionPointer, TEXT, ms_DMSW_A, "async function pointer to ") \
    K(CoroFunctionPointer, TEXT, ms_DMSW_A, "coro function pointer to ") \
    K(DefaultOverride, TEXT, ms_DMSW_A, "default override of ") \
    K(AsyncAwaitResumePartialFunction, CODE, ms_DMSW_A, ") await resume partial function for ") \
    K(AsyncSuspendResumePartialFunction, CODE, ms_DMSW_A, ") suspend resume partial function for ") \
    K(AccessibleFunctionRecord, CODE, ms_DMSW_A, "accessible function runtime record for ") \
    K(BackDeploymentThunk, CODE, ms_DMSW_A, "back deployment thunk for ") \
    K(BackDeploymentFallback, TEXT, ms_DMSW_A, "back deployment fallback for ") \
    K(HasSymbolQuery, TEXT, ms_DMSW_A, "#_hasSymbol query for ") \
    K(GenericSpecialization, CODE, ms_DMSW_A, "generic specialization") \
    K(GenericSpecializationInResilienceDomain, CODE, ms_DMSW_A, "generic specialization") \
    K(GenericSpecializationPrespecialized, CODE, ms_DMSW_A, "generic pre-specialization") \
    K(GenericSpecializationNotReAbstracted, CODE, ms_DMSW_A, "generic not re-abstracted specialization") \
    K(InlinedGenericFunction, CODE, ms_DMSW_A, "inlined generic function") \
    K(GenericPartialSpecialization, CODE, ms_DMSW_A, "generic partial specialization") \
    K(GenericPartialSpecializationNotReAbstracted, CODE, ms_DMSW_A, \
      "generic not-reabstracted partial specialization") \
    K(FunctionSignatureSpecialization, CODE, ms_DMSW_A, "function signature specialization") \
    K(GenericSpecializationParam, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParam, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationReturn, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParamKind, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParamPayload, CODE, ms_DMSW_0, "") \
    K(SpecializationPassID, CODE, ms_DMSW_0, "") \
    K(IsSerialized, TEXT, ms_DMSW_0, "serialized") \
    /* thunks */ \
    K(CurryThunk, FIRST, ms_DMSW_0, "curry thunk of ") \
    K(SILThunkIdentity, FIRST, ms_DMSW_0, "identity thunk of ") \
    K(SILThunkHopToMainActorIfNeeded, FIRST, ms_DMSW_0, "hop to main actor thunk of ") \
    K(DispatchThunk, FIRST, ms_DMSW_0, "dispatch thunk of ") \
    K(MethodDescriptor, FIRST, ms_DMSW_0, "method descriptor for ") \
    K(VTableThunk, CODE, ms_DMSW_0, "vtable thunk for ") \
    K(ProtocolWitness, CODE, ms_DMSW_0, "protocol witness for ") \
    K(ProtocolSelfConformanceWitness, FIRST, ms_DMSW_0, "protocol self-conformance witness for ") \
    K(ReabstractionThunk, CODE, ms_DMSW_0, "reabstraction thunk ") \
    K(ReabstractionThunkHelper, CODE, ms_DMSW_0, "reabstraction thunk helper ") \
    K(ReabstractionThunkHelperWithSelf, CODE, ms_DMSW_0, "reabstraction thunk ") \
    K(ReabstractionThunkHelperWithGlobalActor, CODE, ms_DMSW_0, "") \
    K(ObjCAsyncCompletionHandlerImpl, CODE, ms_DMSW_0, "@objc completion handler block implementation for ") \
    K(PredefinedObjCAsyncCompletionHandlerImpl, CODE, ms_DMSW_0, \
      "predefined @objc completion handler block implementation for ") \
    K(KeyPathGetterThunkHelper, CODE, ms_DMSW_0, "key path getter for ") \
    K(KeyPathSetterThunkHelper, CODE, ms_DMSW_0, "key path setter for ") \
    K(KeyPathUnappliedMethodThunkHelper, CODE, ms_DMSW_0, "key path unapplied method ") \
    K(KeyPathAppliedMethodThunkHelper, CODE, ms_DMSW_0, "key path applied method ") \
    K(KeyPathEqualsThunkHelper, CODE, ms_DMSW_0, "key path index equality operator for ") \
    K(KeyPathHashThunkHelper, CODE, ms_DMSW_0, "key path index hash operator for ") \
    K(CoroutineContinuationPrototype, FIRST, ms_DMSW_0, "coroutine continuation prototype for ") \
    K(AutoDiffFunction, CODE, ms_DMSW_C, "") \
    K(AutoDiffDerivativeVTableThunk, CODE, ms_DMSW_0, "vtable thunk for ") \
    K(AutoDiffSelfReorderingReabstractionThunk, CODE, ms_DMSW_0, \
      "autodiff self-reordering reabstraction thunk ") \
    K(AutoDiffSubsetParametersThunk, CODE, ms_DMSW_0, "autodiff subset parameters thunk for ") \
    K(AutoDiffFunctionKind, CODE, ms_DMSW_0, "") \
    K(DifferentiabilityWitness, CODE, ms_DMSW_0, "") \
    K(IndexSubset, CODE, ms_DMSW_0, "{") \
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
    K(AssociatedConformanceDescriptor, CODE, ms_DMSW_0, "associated conformance descriptor for ") \
    K(DefaultAssociatedConformanceAccessor, CODE, ms_DMSW_0, "default associated conformance accessor for ") \
    K(BaseConformanceDescriptor, CODE, ms_DMSW_0, "base conformance descriptor for ") \
    K(AssociatedTypeMetadataAccessor, CODE, ms_DMSW_0, "associated type metadata accessor for ") \
    K(AssociatedTypeWitnessTableAccessor, CODE, ms_DMSW_0, "associated type witness table accessor for ") \
    K(BaseWitnessTableAccessor, CODE, ms_DMSW_0, "base witness table accessor for ") \
    K(ValueWitness, CODE, ms_DMSW_0, "") \
    K(ValueWitnessTable, FIRST, ms_DMSW_0, "value witness table for ") \
    K(EnumCase, FIRST, ms_DMSW_0, "enum case for ") \
    K(FieldOffset, CODE, ms_DMSW_0, "field offset for ") \
    K(ProtocolWitnessTable, FIRST, ms_DMSW_0, "protocol witness table for ") \
    K(ProtocolWitnessTablePattern, FIRST, ms_DMSW_0, "protocol witness table pattern for ") \
    K(ProtocolWitnessTableAccessor, FIRST, ms_DMSW_0, "protocol witness table accessor for ") \
    K(ProtocolSelfConformanceWitnessTable, FIRST, ms_DMSW_0, "protocol self-conformance witness table for ") \
    K(GenericProtocolWitnessTable, FIRST, ms_DMSW_0, "generic protocol witness table for ") \
    K(GenericProtocolWitnessTableInstantiationFunction, FIRST, ms_DMSW_0, \
      "instantiation function for generic protocol witness table for ") \
    K(ResilientProtocolWitnessTable, FIRST, ms_DMSW_0, "resilient protocol witness table for ") \
    K(LazyProtocolWitnessTableAccessor, CODE, ms_DMSW_0, "lazy protocol witness table accessor for type ") \
    K(LazyProtocolWitnessTableCacheVariable, CODE, ms_DMSW_0, \
      "lazy protocol witness table cache variable for type ") \
    K(GlobalVariableOnceToken, CODE, ms_DMSW_C, "one-time initialization token for ") \
    K(GlobalVariableOnceFunction, CODE, ms_DMSW_C, "one-time initialization function for ") \
    K(GlobalVariableOnceDeclList, CODE, ms_DMSW_0, "") \
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
    ms_DMSW_F_KNOWN /* a type of the standard library: text is its name, its context is Swift */
};

typedef struct ms_dmsw_node { /* One node of the tree, 16 bytes. */
    uint16_t kind;
    uint8_t form;   /* enum ms_dmsw_form */
    uint8_t mark;   /* a small value whose sense depends on the kind */
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
    ms_dmsw_node *base; /* node 0 is "none" */
    const char *s;
    size_t len;
    size_t at;
    uint32_t style;     /* machsym_demangle_flags and the internal styles */
    bool old_functions; /* _T0: argument labels are part of the tuple */
    bool specialized;   /* the simplified style has printed "specialized " */
    uint8_t word_count;
    ms_dmsw_refs stack;
    ms_dmsw_refs subs;
    machsym_str words[ms_DMSW_MAX_WORDS];
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

/* The kind behind the "as a type" bit. */
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

/* Counts one step of work; false when the budget is spent. */
static bool ms_dmsw_step(ms_dmsw *p)
{
    if (p->d->work == 0) {
        p->d->failed = true;
        return false;
    }
    p->d->work--;
    return true;
}

static uint32_t ms_dmsw_make(ms_dmsw *p, unsigned kind)
{
    ms_dmsw_node *n = ms_dmsw_step(p) ? (ms_dmsw_node *)ms_dm_alloc(p->d, sizeof *n) : NULL;
    if (!n)
        return 0;
    n->kind = (uint16_t)kind;
    n->form = ms_DMSW_F_KIDS;
    n->mark = 0;
    n->count = 0;
    n->u.index = 0;
    return (uint32_t)(n - p->base);
}

static uint32_t ms_dmsw_make_text(ms_dmsw *p, unsigned kind, const char *text, size_t len)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ref) {
        ms_dmsw_node *n = ms_dmsw_at(p, ref);
        n->form = ms_DMSW_F_TEXT;
        n->count = (uint32_t)len;
        n->u.text = text;
    }
    return ref;
}

#define ms_dmsw_make_lit(p, kind, text) ms_dmsw_make_text(p, kind, text, sizeof(text) - 1)

static uint32_t ms_dmsw_make_index(ms_dmsw *p, unsigned kind, uint64_t index)
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

/* Appends a child. Returns parent, or 0 when either is missing: a missing part makes the whole fail. */
static uint32_t ms_dmsw_add(ms_dmsw *p, uint32_t parent, uint32_t child)
{
    if (!parent || !child)
        return 0;
    ms_dmsw_node *n = ms_dmsw_at(p, parent);
    if (n->form != ms_DMSW_F_KIDS)
        return 0;
    if (n->count < 2) {
        n->u.kid[n->count++] = child;
        return parent;
    }
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

static void ms_dmsw_set_kid(ms_dmsw *p, uint32_t ref, uint32_t i, uint32_t child)
{
    ms_dmsw_node *n = ms_dmsw_at(p, ref);
    uint32_t *v = n->count <= 2 ? n->u.kid : (uint32_t *)(void *)(p->base + n->u.kid[0]);
    v[i] = child;
}

static uint32_t ms_dmsw_make1(ms_dmsw *p, unsigned kind, uint32_t a)
{
    uint32_t ref = a ? ms_dmsw_make(p, kind) : 0;
    if (ref) {
        ms_dmsw_at(p, ref)->count = 1;
        ms_dmsw_at(p, ref)->u.kid[0] = a;
    }
    return ref;
}

static uint32_t ms_dmsw_make2(ms_dmsw *p, unsigned kind, uint32_t a, uint32_t b)
{
    uint32_t ref = a && b ? ms_dmsw_make(p, kind) : 0;
    if (ref) {
        ms_dmsw_at(p, ref)->count = 2;
        ms_dmsw_at(p, ref)->u.kid[0] = a;
        ms_dmsw_at(p, ref)->u.kid[1] = b;
    }
    return ref;
}

static uint32_t ms_dmsw_make3(ms_dmsw *p, unsigned kind, uint32_t a, uint32_t b, uint32_t c)
{
    return ms_dmsw_add(p, ms_dmsw_make2(p, kind, a, b), c);
}

/* Turns round the children from place `from` on: postfix order pops lists from their end. */
static void ms_dmsw_reverse(ms_dmsw *p, uint32_t ref, uint32_t from)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t lo = from, hi = count; lo + 1 < hi; lo++, hi--) {
        uint32_t first = ms_dmsw_kid(p, ref, lo);
        ms_dmsw_set_kid(p, ref, lo, ms_dmsw_kid(p, ref, hi - 1));
        ms_dmsw_set_kid(p, ref, hi - 1, first);
    }
}

/* A copy with another kind; the node itself may be shared. */
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

static void ms_dmsw_append(ms_dmsw *p, ms_dmsw_refs *refs, uint32_t ref)
{
    if (refs->count == refs->cap) {
        uint32_t cap = refs->cap ? refs->cap * 2 : 32;
        uint32_t *v = (uint32_t *)ms_dm_alloc(p->d, cap * sizeof *v);
        if (!v)
            return;
        if (refs->count)
            ms_copy(v, refs->v, refs->count * sizeof *v);
        refs->v = v;
        refs->cap = cap;
    }
    refs->v[refs->count++] = ref;
}

static uint32_t ms_dmsw_remember(ms_dmsw *p, uint32_t ref)
{
    if (ref)
        ms_dmsw_append(p, &p->subs, ref);
    return ref;
}

/* ---- reading ---- */

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

static bool ms_dmsw_next_is(ms_dmsw *p, const char *text, size_t len)
{
    if (p->len - p->at < len || !ms_equal(p->s + p->at, text, len))
        return false;
    p->at += len;
    return true;
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

/* NATURAL; -1 when there is none or it is too large to mean anything. */
static int64_t ms_dmsw_natural(ms_dmsw *p)
{
    if (!ms_dmsw_digit(ms_dmsw_peek(p)))
        return -1;
    int64_t value = 0;
    while (ms_dmsw_digit(ms_dmsw_peek(p))) {
        value = value * 10 + (ms_dmsw_next(p) - '0');
        if (value > INT32_MAX)
            return -1;
    }
    return value;
}

/* INDEX; -1 on failure. */
static int64_t ms_dmsw_index(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, '_'))
        return 0;
    int64_t value = ms_dmsw_natural(p);
    return value >= 0 && ms_dmsw_next_if(p, '_') ? value + 1 : -1;
}

static uint32_t ms_dmsw_index_node(ms_dmsw *p)
{
    int64_t value = ms_dmsw_index(p);
    return value >= 0 ? ms_dmsw_make_index(p, ms_DMSW_Index, (uint64_t)value) : 0;
}

/* Writes one code point as UTF-8; the room was counted by the caller. Returns the bytes written. */
static size_t ms_dmsw_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | (c >> 12));
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | (c >> 18));
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* RFC 3492 6.1 */
static uint32_t ms_dmsw_puny_adapt(uint32_t delta, uint32_t points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / 700 : delta / 2;
    delta += delta / points;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* One generalized variable-length integer of RFC 3492; Swift's digits are a-z and A-J. -1 when malformed. */
static int64_t ms_dmsw_puny_delta(const char *s, size_t len, size_t *at, uint32_t bias)
{
    uint64_t value = 0, weight = 1;
    for (uint32_t k = 36;; k += 36) {
        if (*at >= len)
            return -1;
        char c = s[(*at)++];
        if (!ms_dmsw_lower(c) && (c < 'A' || c > 'J'))
            return -1;
        uint32_t digit = (uint32_t)(ms_dmsw_lower(c) ? c - 'a' : c - 'A' + 26);
        value += digit * weight;
        uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (digit < t)
            break;
        weight *= 36 - t;
        if (weight > INT32_MAX)
            return -1;
    }
    return value <= INT32_MAX ? (int64_t)value : -1;
}

/* Decodes Swift's Punycode into code points; returns their number, or -1. */
static int64_t ms_dmsw_puny_decode(ms_dmsw *p, const char *s, size_t len, uint32_t *out)
{
    size_t count = 0, at = 0;
    for (size_t i = len; i-- > 0;) {
        if (s[i] != '_')
            continue;
        for (; count < i; count++) {
            if ((unsigned char)s[count] >= 0x80)
                return -1;
            out[count] = (unsigned char)s[count];
        }
        at = i + 1;
        break;
    }
    uint32_t n = 0x80, bias = 72;
    uint64_t i = 0;
    for (bool first = true; at < len; first = false) {
        int64_t delta = ms_dmsw_puny_delta(s, len, &at, bias);
        if (delta < 0 || p->d->work < count / 32 + 1)
            return -1;
        p->d->work -= count / 32 + 1; /* each insertion moves what lies behind it */
        i += (uint64_t)delta;
        count++;
        bias = ms_dmsw_puny_adapt((uint32_t)delta, (uint32_t)count, first);
        uint64_t code = n + i / count;
        i %= count;
        if (code > 0x10ffff)
            return -1;
        n = (uint32_t)code;
        ms_move(out + i + 1, out + i, (count - 1 - (size_t)i) * sizeof *out);
        out[i++] = n;
    }
    return (int64_t)count;
}

/* A Punycode identifier as UTF-8 in the scratch. ASCII characters that no symbol can hold travel as
 * surrogates. */
static bool ms_dmsw_puny(ms_dmsw *p, const char *s, size_t len, machsym_str *out)
{
    size_t mark = p->d->mem_used;
    char *text = (char *)ms_dm_alloc(p->d, len * 4 + 16);
    uint32_t *points = (uint32_t *)ms_dm_alloc(p->d, len * sizeof *points + 16);
    if (!text || !points)
        return false;
    int64_t count = ms_dmsw_puny_decode(p, s, len, points);
    if (count < 0)
        return false;
    size_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t c = points[i];
        if (c >= 0xd800 && c < 0xd880)
            c -= 0xd800;
        else if (c >= 0xd880 && c < 0xe000)
            return false;
        used += ms_dmsw_utf8(c, text + used);
    }
    p->d->mem_used = mark + ((used + 15u) & ~(size_t)15u);
    out->ptr = text;
    out->len = used;
    return true;
}

/* Enters one word of an identifier in the list of words that later identifiers may use. */
static void ms_dmsw_add_word(ms_dmsw *p, const char *s, size_t len)
{
    if (len < 2 || p->word_count >= ms_DMSW_MAX_WORDS)
        return;
    p->words[p->word_count].ptr = s;
    p->words[p->word_count++].len = len;
}

/* The words of a literal part of an identifier: '_' divides them, and an upper case letter starts one. */
static void ms_dmsw_add_words(ms_dmsw *p, const char *s, size_t len)
{
    size_t start = len; /* len: not in a word */
    for (size_t i = 0; i < len && p->word_count < ms_DMSW_MAX_WORDS; i++) {
        char c = s[i];
        if (ms_dmsw_lower(c)) {
            if (start == len)
                start = i;
        } else if (c == '_' || c == '\0') {
            if (start < len)
                ms_dmsw_add_word(p, s + start, i - start);
            start = len;
        } else if (ms_dmsw_upper(c) && start < len && !ms_dmsw_upper(s[i - 1])) {
            ms_dmsw_add_word(p, s + start, i - start);
            start = i;
        } else if (start == len && !ms_dmsw_digit(c)) {
            start = i;
        }
    }
    if (start < len)
        ms_dmsw_add_word(p, s + start, len - start);
}

/* The literal part of an identifier that a length introduces. */
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

/* An identifier with word substitutions, put together in the scratch. */
static bool ms_dmsw_word_identifier(ms_dmsw *p, machsym_str *out)
{
    size_t used = 0;
    machsym_str part;
    for (bool more = true; more;) {
        for (char c = ms_dmsw_peek(p); more && (ms_dmsw_lower(c) || ms_dmsw_upper(c)); c = ms_dmsw_peek(p)) {
            more = ms_dmsw_lower(c);
            unsigned word = (unsigned)(more ? c - 'a' : c - 'A');
            p->at++;
            if (word >= p->word_count || !ms_dmsw_grow(p, p->words[word], &used))
                return false;
        }
        if (ms_dmsw_next_if(p, '0'))
            break;
        if (!ms_dmsw_literal(p, &part) || !ms_dmsw_grow(p, part, &used))
            return false;
        ms_dmsw_add_words(p, part.ptr, part.len);
    }
    out->ptr = (const char *)p->d->mem + p->d->mem_used;
    out->len = used;
    return ms_dm_alloc(p->d, used) != NULL && used > 0;
}

/* Identifiers */
static uint32_t ms_dmsw_identifier(ms_dmsw *p)
{
    machsym_str name = {NULL, 0};
    if (ms_dmsw_peek(p) != '0') {
        if (!ms_dmsw_literal(p, &name))
            return 0;
        ms_dmsw_add_words(p, name.ptr, name.len);
    } else if (ms_dmsw_next_is(p, "00", 2)) {
        int64_t len = ms_dmsw_natural(p);
        ms_dmsw_next_if(p, '_');
        if (len <= 0 || (uint64_t)len > p->len - p->at || !ms_dmsw_puny(p, p->s + p->at, (size_t)len, &name))
            return 0;
        p->at += (size_t)len;
    } else {
        p->at++;
        if (!ms_dmsw_word_identifier(p, &name))
            return 0;
    }
    return ms_dmsw_remember(p, ms_dmsw_make_text(p, ms_DMSW_Identifier, name.ptr, name.len));
}

/* ---- the stack of Swift 4 and later ---- */

static void ms_dmsw_push(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_append(p, &p->stack, ref);
}

static uint32_t ms_dmsw_top(const ms_dmsw *p)
{
    return p->stack.count ? p->stack.v[p->stack.count - 1] : 0;
}

static uint32_t ms_dmsw_pop_any(ms_dmsw *p)
{
    return p->stack.count ? p->stack.v[--p->stack.count] : 0;
}

/* Pops the top when it is of that kind, else returns 0. */
static uint32_t ms_dmsw_pop(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_top(p);
    if (!ref || ms_dmsw_kind_of(p, ref) != kind)
        return 0;
    p->stack.count--;
    return ref;
}

/* Pops the top when its kind has one of the traits, else returns 0. */
static uint32_t ms_dmsw_pop_trait(ms_dmsw *p, unsigned traits)
{
    uint32_t ref = ms_dmsw_top(p);
    if (!ref || !(ms_dmsw_traits(p, ref) & traits))
        return 0;
    p->stack.count--;
    return ref;
}

static uint32_t ms_dmsw_pop_type(ms_dmsw *p)
{
    return ms_dmsw_pop(p, ms_DMSW_Type);
}

/* A type without its "as a type" bit. */
static uint32_t ms_dmsw_pop_bare(ms_dmsw *p)
{
    return ms_dmsw_pop_type(p) & ~ms_DMSW_AS_TYPE;
}

static uint32_t ms_dmsw_pop_nominal(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_pop_bare(p);
    return ms_dmsw_traits(p, ref) & ms_DMSW_T_NOMINAL ? ref : 0;
}

static uint32_t ms_dmsw_pop_entity(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_pop_type(p);
    return ref ? ref : ms_dmsw_pop_trait(p, ms_DMSW_T_CONTEXT);
}

static bool ms_dmsw_pop_first(ms_dmsw *p)
{
    return ms_dmsw_pop(p, ms_DMSW_FirstElementMarker) != 0;
}

static uint32_t ms_dmsw_pop_signature(ms_dmsw *p)
{
    return ms_dmsw_pop(p, ms_DMSW_DependentGenericSignature);
}

static uint32_t ms_dmsw_pop_module(ms_dmsw *p)
{
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    return name ? ms_dmsw_with_kind(p, name, ms_DMSW_Module) : ms_dmsw_pop(p, ms_DMSW_Module);
}

static uint32_t ms_dmsw_pop_context(ms_dmsw *p)
{
    uint32_t module = ms_dmsw_pop_module(p);
    if (module)
        return module;
    uint32_t type = ms_dmsw_pop_bare(p);
    if (type)
        return ms_dmsw_traits(p, type) & ms_DMSW_T_CONTEXT ? type : 0;
    return ms_dmsw_pop_trait(p, ms_DMSW_T_CONTEXT);
}

static uint32_t ms_dmsw_pop_protocol(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_pop_type(p);
    if (type)
        return ms_dmsw_inner(p, type) == ms_DMSW_Protocol ? type : 0;
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_Protocol, context, name));
}

static uint32_t ms_dmsw_pop_conformance(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t module = ms_dmsw_pop_module(p);
    uint32_t protocol = ms_dmsw_pop_protocol(p);
    uint32_t type = ms_dmsw_pop_type(p), name = 0;
    if (!type) { /* property behaviour */
        name = ms_dmsw_pop(p, ms_DMSW_Identifier);
        type = ms_dmsw_pop_type(p);
    }
    if (signature)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, type));
    uint32_t ref = ms_dmsw_make3(p, ms_DMSW_ProtocolConformance, type, protocol, module);
    return name ? ms_dmsw_add(p, ref, name) : ref;
}

static uint32_t ms_dmsw_pop_assoc_name(ms_dmsw *p)
{
    uint32_t protocol = ms_dmsw_pop_type(p);
    if (protocol && ms_dmsw_inner(p, protocol) != ms_DMSW_Protocol)
        return 0;
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentAssociatedTypeRef, name);
    return protocol ? ms_dmsw_add(p, ref, protocol) : ref;
}

/* Pops elements up to the one that follows the first-element marker, into a new node of that kind. */
static uint32_t ms_dmsw_pop_list(ms_dmsw *p, unsigned kind, uint32_t (*element)(ms_dmsw *))
{
    uint32_t list = ms_dmsw_make(p, kind);
    bool first;
    do {
        first = ms_dmsw_pop_first(p);
        list = ms_dmsw_add(p, list, element(p));
    } while (list && !first);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* The same list, or the mark for an empty one. */
static uint32_t ms_dmsw_pop_list_or_empty(ms_dmsw *p, unsigned kind, uint32_t (*element)(ms_dmsw *))
{
    return ms_dmsw_pop(p, ms_DMSW_EmptyList) ? ms_dmsw_make(p, kind) : ms_dmsw_pop_list(p, kind, element);
}

static uint32_t ms_dmsw_pop_requirement(ms_dmsw *p)
{
    return ms_dmsw_pop_trait(p, ms_DMSW_T_REQ);
}

static uint32_t ms_dmsw_pop_any_conformance(ms_dmsw *p)
{
    return ms_dmsw_pop_trait(p, ms_DMSW_T_CONF);
}

static uint32_t ms_dmsw_pop_type_list(ms_dmsw *p)
{
    return ms_dmsw_pop_list_or_empty(p, ms_DMSW_TypeList, ms_dmsw_pop_type);
}

static uint32_t ms_dmsw_pop_assoc_path(ms_dmsw *p)
{
    return ms_dmsw_pop_list(p, ms_DMSW_AssocTypePath, ms_dmsw_pop_assoc_name);
}

static uint32_t ms_dmsw_pop_tuple_element(ms_dmsw *p)
{
    uint32_t element = ms_dmsw_make(p, ms_DMSW_TupleElement);
    uint32_t variadic = ms_dmsw_pop(p, ms_DMSW_VariadicMarker);
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    if (variadic)
        element = ms_dmsw_add(p, element, variadic);
    if (name)
        element = ms_dmsw_add(p, element, ms_dmsw_with_kind(p, name, ms_DMSW_TupleElementName));
    return ms_dmsw_add(p, element, ms_dmsw_pop_type(p));
}

/* ---- operators of Swift 4 and later ---- */

/* A: substitution */
static uint32_t ms_dmsw_substitution(ms_dmsw *p)
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
        if (i >= p->subs.count || repeat > ms_DMSW_MAX_REPEAT)
            return 0;
        for (; repeat > 1 && ms_dmsw_step(p); repeat--)
            ms_dmsw_push(p, p->subs.v[i]);
        if (last)
            return p->subs.v[i];
        ms_dmsw_push(p, p->subs.v[i]);
        repeat = -1;
    }
}

/* A predefined type of the standard library. */
static uint32_t ms_dmsw_known_type(ms_dmsw *p, unsigned kind, const char *name, size_t len)
{
    uint32_t ref = ms_dmsw_make_text(p, kind, name, len);
    if (ref)
        ms_dmsw_at(p, ref)->form = ms_DMSW_F_KNOWN;
    return ms_dmsw_type(ref);
}

#define ms_dmsw_known(p, kind, name) ms_dmsw_known_type(p, ms_DMSW_##kind, name, sizeof(name) - 1)

/* KNOWN-TYPE-KIND */
static uint32_t ms_dmsw_known1(ms_dmsw *p, char letter)
{
    switch (letter) {
    case 'A': return ms_dmsw_known(p, Structure, "AutoreleasingUnsafeMutablePointer");
    case 'a': return ms_dmsw_known(p, Structure, "Array");
    case 'B': return ms_dmsw_known(p, Protocol, "BinaryFloatingPoint");
    case 'b': return ms_dmsw_known(p, Structure, "Bool");
    case 'D': return ms_dmsw_known(p, Structure, "Dictionary");
    case 'd': return ms_dmsw_known(p, Structure, "Double");
    case 'E': return ms_dmsw_known(p, Protocol, "Encodable");
    case 'e': return ms_dmsw_known(p, Protocol, "Decodable");
    case 'F': return ms_dmsw_known(p, Protocol, "FloatingPoint");
    case 'f': return ms_dmsw_known(p, Structure, "Float");
    case 'G': return ms_dmsw_known(p, Protocol, "RandomNumberGenerator");
    case 'H': return ms_dmsw_known(p, Protocol, "Hashable");
    case 'h': return ms_dmsw_known(p, Structure, "Set");
    case 'I': return ms_dmsw_known(p, Structure, "DefaultIndices");
    case 'i': return ms_dmsw_known(p, Structure, "Int");
    case 'J': return ms_dmsw_known(p, Structure, "Character");
    case 'j': return ms_dmsw_known(p, Protocol, "Numeric");
    case 'K': return ms_dmsw_known(p, Protocol, "BidirectionalCollection");
    case 'k': return ms_dmsw_known(p, Protocol, "RandomAccessCollection");
    case 'L': return ms_dmsw_known(p, Protocol, "Comparable");
    case 'l': return ms_dmsw_known(p, Protocol, "Collection");
    case 'M': return ms_dmsw_known(p, Protocol, "MutableCollection");
    case 'm': return ms_dmsw_known(p, Protocol, "RangeReplaceableCollection");
    case 'N': return ms_dmsw_known(p, Structure, "ClosedRange");
    case 'n': return ms_dmsw_known(p, Structure, "Range");
    case 'O': return ms_dmsw_known(p, Structure, "ObjectIdentifier");
    case 'P': return ms_dmsw_known(p, Structure, "UnsafePointer");
    case 'p': return ms_dmsw_known(p, Structure, "UnsafeMutablePointer");
    case 'Q': return ms_dmsw_known(p, Protocol, "Equatable");
    case 'q': return ms_dmsw_known(p, Enum, "Optional");
    case 'R': return ms_dmsw_known(p, Structure, "UnsafeBufferPointer");
    case 'r': return ms_dmsw_known(p, Structure, "UnsafeMutableBufferPointer");
    case 'S': return ms_dmsw_known(p, Structure, "String");
    case 's': return ms_dmsw_known(p, Structure, "Substring");
    case 'T': return ms_dmsw_known(p, Protocol, "Sequence");
    case 't': return ms_dmsw_known(p, Protocol, "IteratorProtocol");
    case 'U': return ms_dmsw_known(p, Protocol, "UnsignedInteger");
    case 'u': return ms_dmsw_known(p, Structure, "UInt");
    case 'V': return ms_dmsw_known(p, Structure, "UnsafeRawPointer");
    case 'v': return ms_dmsw_known(p, Structure, "UnsafeMutableRawPointer");
    case 'W': return ms_dmsw_known(p, Structure, "UnsafeRawBufferPointer");
    case 'w': return ms_dmsw_known(p, Structure, "UnsafeMutableRawBufferPointer");
    case 'X': return ms_dmsw_known(p, Protocol, "RangeExpression");
    case 'x': return ms_dmsw_known(p, Protocol, "Strideable");
    case 'Y': return ms_dmsw_known(p, Protocol, "RawRepresentable");
    case 'y': return ms_dmsw_known(p, Protocol, "StringProtocol");
    case 'Z': return ms_dmsw_known(p, Protocol, "SignedInteger");
    case 'z': return ms_dmsw_known(p, Protocol, "BinaryInteger");
    default: return 0;
    }
}

/* KNOWN-TYPE-KIND-2 */
static uint32_t ms_dmsw_known2(ms_dmsw *p, char letter)
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
static uint32_t ms_dmsw_standard(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'o'))
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C");
    if (ms_dmsw_next_if(p, 'C'))
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C_Synthesized");
    if (ms_dmsw_next_if(p, 'g')) {
        uint32_t args = ms_dmsw_make1(p, ms_DMSW_TypeList, ms_dmsw_pop_type(p));
        uint32_t optional = ms_dmsw_known(p, Enum, "Optional");
        return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_BoundGenericEnum, optional, args)));
    }
    int64_t repeat = -1;
    if (ms_dmsw_digit(ms_dmsw_peek(p)))
        repeat = ms_dmsw_natural(p);
    bool second = ms_dmsw_next_if(p, 'c');
    char letter = ms_dmsw_next(p);
    if (repeat > ms_DMSW_MAX_REPEAT)
        return 0;
    uint32_t ref = second ? ms_dmsw_known2(p, letter) : ms_dmsw_known1(p, letter);
    for (; ref && repeat > 1 && ms_dmsw_step(p); repeat--)
        ms_dmsw_push(p, ref);
    return ref;
}

/* C O V P a XY: any-generic-type */
static uint32_t ms_dmsw_any_generic(ms_dmsw *p, unsigned kind)
{
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, kind, context, name)));
}

/* E: extension context */
static uint32_t ms_dmsw_extension(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t module = ms_dmsw_pop_module(p);
    uint32_t type = ms_dmsw_pop_nominal(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_Extension, module, type);
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* o: operator names */
static uint32_t ms_dmsw_operator(ms_dmsw *p)
{
    static const char signs[] = "& @/= >    <*!|+?%-~   ^ .";
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
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
static uint32_t ms_dmsw_local(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'L')) {
        uint32_t file = ms_dmsw_pop(p, ms_DMSW_Identifier);
        return ms_dmsw_make2(p, ms_DMSW_PrivateDeclName, file, ms_dmsw_pop_trait(p, ms_DMSW_T_NAME));
    }
    if (ms_dmsw_next_if(p, 'l'))
        return ms_dmsw_make1(p, ms_DMSW_PrivateDeclName, ms_dmsw_pop(p, ms_DMSW_Identifier));
    char c = ms_dmsw_peek(p);
    if ((c >= 'a' && c <= 'j') || (c >= 'A' && c <= 'J')) {
        uint32_t related = ms_dmsw_make_text(p, ms_DMSW_Identifier, p->s + p->at++, 1);
        return ms_dmsw_make2(p, ms_DMSW_RelatedEntityDeclName, related, ms_dmsw_pop_any(p));
    }
    uint32_t index = ms_dmsw_index_node(p);
    return ms_dmsw_make2(p, ms_DMSW_LocalDeclName, index, ms_dmsw_pop_trait(p, ms_DMSW_T_NAME));
}

/* A name made of a number between two fixed parts, in the scratch. */
static uint32_t ms_dmsw_builtin_number(ms_dmsw *p, machsym_str head, int64_t number, machsym_str tail)
{
    char digits[20];
    machsym_str middle = {digits, 0};
    if (number <= 0 || number > 4096)
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

/* B: builtin types */
static uint32_t ms_dmsw_builtin(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    uint32_t ref;
    if (c == 'f' || c == 'i') {
        ref = ms_dmsw_builtin_sized(p, c, ms_dmsw_index(p) - 1);
    } else if (c == 'v') {
        int64_t count = ms_dmsw_index(p) - 1;
        ref = ms_dmsw_builtin_vector(p, count, ms_dmsw_pop_bare(p));
    } else if (c == 'V') {
        uint32_t element = ms_dmsw_pop_type(p);
        ref = ms_dmsw_make2(p, ms_DMSW_BuiltinFixedArray, ms_dmsw_pop_type(p), element);
    } else if (c == 'W') {
        ref = ms_dmsw_make1(p, ms_DMSW_BuiltinBorrow, ms_dmsw_pop_type(p));
    } else {
        ref = ms_dmsw_builtin_simple(p, c);
    }
    return ms_dmsw_type(ref);
}

/* t: tuples */
static uint32_t ms_dmsw_tuple(ms_dmsw *p)
{
    return ms_dmsw_type(ms_dmsw_pop_list_or_empty(p, ms_DMSW_Tuple, ms_dmsw_pop_tuple_element));
}

/* params-type, result-type */
static uint32_t ms_dmsw_pop_params(ms_dmsw *p, unsigned kind)
{
    uint32_t type = ms_dmsw_pop(p, ms_DMSW_EmptyList) ? ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_Tuple))
                                                      : ms_dmsw_pop_type(p);
    return ms_dmsw_make1(p, kind, type);
}

/* C-TYPE */
static uint32_t ms_dmsw_clang_type(ms_dmsw *p)
{
    machsym_str part;
    return ms_dmsw_literal(p, &part) ? ms_dmsw_make_text(p, ms_DMSW_ClangType, part.ptr, part.len) : 0;
}

/* function-signature: the children are the optional parts in the order of the pops, parameters, result. */
static uint32_t ms_dmsw_pop_function(ms_dmsw *p, unsigned kind, bool has_clang_type)
{
    uint32_t ref = ms_dmsw_make(p, kind), part;
    if (has_clang_type && (part = ms_dmsw_clang_type(p)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_SendingResultFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop_trait(p, ms_DMSW_T_ISOLATION)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_DifferentiableFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_ThrowsAnnotation)) != 0 ||
        (part = ms_dmsw_pop(p, ms_DMSW_TypedThrowsAnnotation)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_ConcurrentFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_AsyncAnnotation)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    ref = ms_dmsw_add(p, ref, ms_dmsw_pop_params(p, ms_DMSW_ArgumentTuple));
    ref = ms_dmsw_add(p, ref, ms_dmsw_pop_params(p, ms_DMSW_ReturnType));
    return ms_dmsw_type(ref);
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

/* Swift 4.0: takes the labels out of the parameter tuple. */
static uint32_t ms_dmsw_labels_of_tuple(ms_dmsw *p, uint32_t tuple)
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
static uint32_t ms_dmsw_pop_labels(ms_dmsw *p, uint32_t type)
{
    if (!p->old_functions && ms_dmsw_pop(p, ms_DMSW_EmptyList))
        return ms_dmsw_make(p, ms_DMSW_LabelList);
    uint32_t params = ms_dmsw_params_of(p, type);
    if (!params)
        return 0;
    uint32_t count = ms_dmsw_inner(p, params) == ms_DMSW_Tuple ? ms_dmsw_kid_count(p, params) : 1;
    if (count == 0)
        return 0;
    if (p->old_functions)
        return ms_dmsw_labels_of_tuple(p, params);
    uint32_t list = ms_dmsw_make(p, ms_DMSW_LabelList);
    bool any = false;
    for (; list && count > 0; count--) {
        uint32_t label = ms_dmsw_pop_any(p);
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
static uint32_t ms_dmsw_function(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t type = ms_dmsw_pop_function(p, ms_DMSW_FunctionType, false);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    if (signature)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, type));
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_Function, context, name);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

/* ACCESSOR, after the storage it belongs to */
static uint32_t ms_dmsw_accessor(ms_dmsw *p, uint32_t storage)
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
static uint32_t ms_dmsw_typed_decl(ms_dmsw *p, unsigned kind)
{
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    uint32_t ref = ms_dmsw_make2(p, kind, context, name);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

/* i: subscript */
static uint32_t ms_dmsw_subscript(ms_dmsw *p)
{
    uint32_t private_name = ms_dmsw_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_Subscript, ms_dmsw_pop_context(p));
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    ref = ms_dmsw_add(p, ref, type);
    if (private_name)
        ref = ms_dmsw_add(p, ref, private_name);
    return ms_dmsw_accessor(p, ref);
}

/* fC fc: a type with labels and perhaps a private name */
static uint32_t ms_dmsw_constructor(ms_dmsw *p, unsigned kind)
{
    uint32_t private_name = ms_dmsw_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make1(p, kind, ms_dmsw_pop_context(p));
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    ref = ms_dmsw_add(p, ref, type);
    return private_name ? ms_dmsw_add(p, ref, private_name) : ref;
}

/* fU fu: a number and a type */
static uint32_t ms_dmsw_closure(ms_dmsw *p, unsigned kind)
{
    uint32_t index = ms_dmsw_index_node(p);
    uint32_t type = ms_dmsw_pop_type(p);
    return ms_dmsw_make3(p, kind, ms_dmsw_pop_context(p), index, type);
}

/* fMX: a place in a file of a macro's expansion */
static uint32_t ms_dmsw_macro_place(ms_dmsw *p)
{
    uint32_t line = ms_dmsw_index_node(p), column = ms_dmsw_index_node(p);
    uint32_t file = ms_dmsw_pop(p, ms_DMSW_Identifier), module = ms_dmsw_pop(p, ms_DMSW_Identifier);
    return ms_dmsw_add(p, ms_dmsw_make3(p, ms_DMSW_MacroExpansionLoc, module, file, line), column);
}

/* fM: macro expansions */
static uint32_t ms_dmsw_macro_expansion(ms_dmsw *p)
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
    case 'X': return ms_dmsw_macro_place(p);
    default: return 0;
    }
    bool attached = kind != ms_DMSW_FreestandingMacroExpansion && kind != ms_DMSW_MacroExpansionUniqueName;
    uint32_t macro = ms_dmsw_pop(p, ms_DMSW_Identifier);
    uint32_t private_name = attached ? 0 : ms_dmsw_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t decl = attached ? ms_dmsw_pop_trait(p, ms_DMSW_T_NAME) : 0;
    uint32_t context = ms_dmsw_pop_trait(p, ms_DMSW_T_MACRO);
    if (!context)
        context = ms_dmsw_pop_context(p);
    uint32_t index = ms_dmsw_index_node(p);
    uint32_t ref = ms_dmsw_make1(p, kind, context);
    if (decl)
        ref = ms_dmsw_add(p, ref, decl);
    ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, macro), index);
    return private_name ? ms_dmsw_add(p, ref, private_name) : ref;
}

/* f: entity-spec */
static uint32_t ms_dmsw_function_entity(ms_dmsw *p)
{
    uint32_t index;
    switch (ms_dmsw_next(p)) {
    case 'D': return ms_dmsw_make1(p, ms_DMSW_Deallocator, ms_dmsw_pop_context(p));
    case 'Z': return ms_dmsw_make1(p, ms_DMSW_IsolatedDeallocator, ms_dmsw_pop_context(p));
    case 'd': return ms_dmsw_make1(p, ms_DMSW_Destructor, ms_dmsw_pop_context(p));
    case 'E': return ms_dmsw_make1(p, ms_DMSW_IVarDestroyer, ms_dmsw_pop_context(p));
    case 'e': return ms_dmsw_make1(p, ms_DMSW_IVarInitializer, ms_dmsw_pop_context(p));
    case 'i': return ms_dmsw_make1(p, ms_DMSW_Initializer, ms_dmsw_pop_context(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_PropertyWrapperBackingInitializer, ms_dmsw_pop_context(p));
    case 'W': return ms_dmsw_make1(p, ms_DMSW_PropertyWrapperInitFromProjectedValue, ms_dmsw_pop_context(p));
    case 'F': return ms_dmsw_make1(p, ms_DMSW_PropertyWrappedFieldInitAccessor, ms_dmsw_pop_context(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_RuntimeAttributeGenerator, ms_dmsw_pop_context(p));
    case 'A':
        index = ms_dmsw_index_node(p);
        return ms_dmsw_make2(p, ms_DMSW_DefaultArgumentInitializer, ms_dmsw_pop_context(p), index);
    case 'C': return ms_dmsw_constructor(p, ms_DMSW_Allocator);
    case 'c': return ms_dmsw_constructor(p, ms_DMSW_Constructor);
    case 'U': return ms_dmsw_closure(p, ms_DMSW_ExplicitClosure);
    case 'u': return ms_dmsw_closure(p, ms_DMSW_ImplicitClosure);
    case 'm': return ms_dmsw_typed_decl(p, ms_DMSW_Macro);
    case 'M': return ms_dmsw_macro_expansion(p);
    case 'p': return ms_dmsw_typed_decl(p, ms_DMSW_GenericTypeParamDecl);
    default: return 0;
    }
}

/* ---- types of Swift 4 and later ---- */

static uint32_t ms_dmsw_pop_retroactive(ms_dmsw *p)
{
    uint32_t list = 0, ref;
    while ((ref = ms_dmsw_pop(p, ms_DMSW_RetroactiveConformance)) != 0)
        list = ms_dmsw_add(p, list ? list : ms_dmsw_make(p, ms_DMSW_TypeList), ref);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* bound-generic-args: a list of lists, the innermost type's arguments first. */
static uint32_t ms_dmsw_pop_bound_args(ms_dmsw *p)
{
    uint32_t lists = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (lists) {
        uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList), type;
        while ((type = ms_dmsw_pop_type(p)) != 0)
            list = ms_dmsw_add(p, list, type);
        if (list)
            ms_dmsw_reverse(p, list, 0);
        lists = ms_dmsw_add(p, lists, list);
        if (ms_dmsw_pop(p, ms_DMSW_EmptyList))
            break;
        if (!ms_dmsw_pop_first(p))
            return 0;
    }
    return lists;
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

/* Whether a list of arguments belongs to this context (a local type's arguments include its functions'). */
static bool ms_dmsw_takes_args(unsigned kind)
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
static uint32_t ms_dmsw_bind(ms_dmsw *p, uint32_t ref, uint32_t lists, uint32_t i)
{
    uint32_t list_count = ms_dmsw_kid_count(p, lists), context = ms_dmsw_kid(p, ref, 0), args;
    if (!ref || i >= list_count || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    unsigned kind = n->kind;
    bool takes = ms_dmsw_takes_args(kind);
    args = ms_dmsw_kid(p, lists, i);
    if (takes)
        i++;
    if (i < list_count) {
        uint32_t parent;
        if (ms_dmsw_kind_of(p, context) == ms_DMSW_Extension) {
            uint32_t signature = ms_dmsw_kid(p, context, 2);
            parent = ms_dmsw_bind(p, ms_dmsw_kid(p, context, 1), lists, i);
            parent = ms_dmsw_make2(p, ms_DMSW_Extension, ms_dmsw_kid(p, context, 0), parent);
            if (signature)
                parent = ms_dmsw_add(p, parent, signature);
        } else {
            parent = ms_dmsw_bind(p, context & ~ms_DMSW_AS_TYPE, lists, i);
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
static uint32_t ms_dmsw_bound_generic(ms_dmsw *p)
{
    uint32_t retroactive = ms_dmsw_pop_retroactive(p);
    uint32_t lists = ms_dmsw_pop_bound_args(p);
    uint32_t nominal = ms_dmsw_pop_nominal(p);
    if (!lists)
        return 0;
    uint32_t ref = ms_dmsw_bind(p, nominal, lists, 0);
    if (ref && retroactive) {
        /* the list of arguments may be shared: only a bound node of this type can take them */
        ref = ms_dmsw_add(p, ms_dmsw_with_kind(p, ref, ms_dmsw_inner(p, ref)), retroactive);
    }
    return ms_dmsw_remember(p, ms_dmsw_type(ref));
}

static uint32_t ms_dmsw_param_type(ms_dmsw *p, uint64_t depth, uint64_t index)
{
    return ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamType, depth << 32 | index);
}

/* GENERIC-PARAM-INDEX */
static uint32_t ms_dmsw_generic_param(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'z'))
        return ms_dmsw_param_type(p, 0, 0);
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_make(p, ms_DMSW_ConstrainedExistentialSelf);
    int64_t depth = 0, index;
    if (ms_dmsw_next_if(p, 'd')) {
        depth = ms_dmsw_index(p) + 1;
        index = ms_dmsw_index(p);
        if (depth <= 0)
            return 0;
    } else {
        index = ms_dmsw_index(p);
        index += index >= 0;
    }
    return index >= 0 ? ms_dmsw_param_type(p, (uint64_t)depth, (uint64_t)index) : 0;
}

/* An associated type of base, or of the type on the stack when base is 0. */
static uint32_t ms_dmsw_assoc_simple(ms_dmsw *p, uint32_t base)
{
    uint32_t name = ms_dmsw_pop_assoc_name(p);
    uint32_t type = base ? ms_dmsw_type(base) : ms_dmsw_pop_type(p);
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, type, name));
}

/* assoc-type-list applied to base, or to the type on the stack when base is 0. */
static uint32_t ms_dmsw_assoc_compound(ms_dmsw *p, uint32_t base)
{
    uint32_t path = ms_dmsw_pop_assoc_path(p);
    if (!path)
        return 0;
    uint32_t type = base ? ms_dmsw_type(base) : ms_dmsw_pop_type(p);
    for (uint32_t i = 0; i < ms_dmsw_kid_count(p, path); i++)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, type, ms_dmsw_kid(p, path, i)));
    return type;
}

/* 'Qo': an opaque type with the arguments of its declaration */
static uint32_t ms_dmsw_opaque_type(ms_dmsw *p)
{
    uint32_t index = ms_dmsw_index_node(p);
    uint32_t retroactive = ms_dmsw_pop_retroactive(p);
    uint32_t lists = ms_dmsw_pop_bound_args(p);
    uint32_t name = ms_dmsw_pop_any(p);
    if (lists)
        ms_dmsw_reverse(p, lists, 0);
    uint32_t ref = ms_dmsw_make3(p, ms_DMSW_OpaqueType, name, index, lists);
    if (retroactive)
        ref = ms_dmsw_add(p, ref, retroactive);
    return ms_dmsw_remember(p, ms_dmsw_type(ref));
}

/* Q: archetypes, associated types, packs and opaque types */
static uint32_t ms_dmsw_archetype(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'a':
        a = ms_dmsw_pop(p, ms_DMSW_Identifier);
        b = ms_dmsw_pop_bare(p);
        return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_AssociatedTypeRef, b, a)));
    case 'e':
        a = ms_dmsw_pop_bare(p);
        b = ms_dmsw_index_node(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_PackElement, a, b));
    case 'O': return ms_dmsw_make1(p, ms_DMSW_OpaqueReturnTypeOf, ms_dmsw_pop_context(p));
    case 'o': return ms_dmsw_opaque_type(p);
    case 'p':
        a = ms_dmsw_pop_bare(p);
        b = ms_dmsw_pop_bare(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_PackExpansion, b, a));
    case 'P': return ms_dmsw_type(ms_dmsw_pop_list_or_empty(p, ms_DMSW_Pack, ms_dmsw_pop_type));
    case 'S':
        c = ms_dmsw_next(p);
        if (c != 'd' && c != 'i')
            return 0;
        return ms_dmsw_type(ms_dmsw_pop_list_or_empty(
            p, c == 'd' ? ms_DMSW_SILPackDirect : ms_DMSW_SILPackIndirect, ms_dmsw_pop_type));
    case 'r':
    case 'u': return ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_OpaqueReturnType));
    case 'R':
    case 'U': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_OpaqueReturnType, ms_dmsw_index_node(p)));
    case 'x': return ms_dmsw_remember(p, ms_dmsw_assoc_simple(p, 0));
    case 'X': return ms_dmsw_remember(p, ms_dmsw_assoc_compound(p, 0));
    case 'y':
    case 'Y':
        a = ms_dmsw_generic_param(p);
        if (!a)
            return 0;
        return ms_dmsw_remember(p, c == 'y' ? ms_dmsw_assoc_simple(p, a) : ms_dmsw_assoc_compound(p, a));
    case 'z':
    case 'Z':
        a = ms_dmsw_param_type(p, 0, 0);
        return ms_dmsw_remember(p, c == 'z' ? ms_dmsw_assoc_simple(p, a) : ms_dmsw_assoc_compound(p, a));
    default: return 0;
    }
}

/* The constrained type of a requirement; form is one of Generic, Assoc, Compound, Substitution by letter. */
static uint32_t ms_dmsw_constrained(ms_dmsw *p, char form)
{
    if (form == 'S')
        return ms_dmsw_pop_type(p);
    uint32_t param = ms_dmsw_generic_param(p);
    if (!param)
        return 0;
    if (form == 'G')
        return ms_dmsw_type(param);
    return ms_dmsw_remember(p,
                            form == 'A' ? ms_dmsw_assoc_simple(p, param) : ms_dmsw_assoc_compound(p, param));
}

/* LAYOUT-CONSTRAINT */
static uint32_t ms_dmsw_layout(ms_dmsw *p, uint32_t type)
{
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find("URNCDTBSEeMm", c) < 0)
        return 0;
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentGenericLayoutRequirement, type);
    if (!ref)
        return 0;
    ms_dmsw_at(p, ref)->mark = (uint8_t)c;
    if (ms_dmsw_find("EMemS", c) >= 0)
        ref = ms_dmsw_add(p, ref, ms_dmsw_index_node(p));
    if (c == 'E' || c == 'M')
        ref = ms_dmsw_add(p, ref, ms_dmsw_index_node(p));
    return ref;
}

/* R: requirement, generic-param-marker */
static uint32_t ms_dmsw_requirement(ms_dmsw *p)
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
    uint32_t inverse = what == 'i' ? ms_dmsw_index_node(p) : 0;
    uint32_t type = ms_dmsw_constrained(p, form);
    switch (what) {
    case 'v': return ms_dmsw_make2(p, ms_DMSW_DependentGenericParamValueMarker, type, ms_dmsw_pop_type(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_DependentGenericParamPackMarker, type);
    case 'q':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type,
                             ms_dmsw_pop_protocol(p));
    case 'b':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type, ms_dmsw_pop_type(p));
    case 's': return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameTypeRequirement, type, ms_dmsw_pop_type(p));
    case 'h':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameShapeRequirement, type, ms_dmsw_pop_type(p));
    case 'i': return ms_dmsw_make2(p, ms_DMSW_DependentGenericInverseConformanceRequirement, type, inverse);
    default: return ms_dmsw_layout(p, type);
    }
}

/* l r: generic-signature */
static uint32_t ms_dmsw_signature(ms_dmsw *p, bool has_counts)
{
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_DependentGenericSignature), requirement;
    if (!has_counts) {
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, 1));
    } else {
        while (ref && !ms_dmsw_next_if(p, 'l')) {
            int64_t count = ms_dmsw_next_if(p, 'z') ? 0 : ms_dmsw_index(p) + 1;
            if (count < 0 || (count == 0 && p->s[p->at - 1] != 'z'))
                return 0;
            ref = ms_dmsw_add(p, ref,
                              ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, (uint64_t)count));
        }
    }
    uint32_t counts = ms_dmsw_kid_count(p, ref);
    while ((requirement = ms_dmsw_pop_requirement(p)) != 0)
        ref = ms_dmsw_add(p, ref, requirement);
    if (ref)
        ms_dmsw_reverse(p, ref, counts);
    return ref;
}

/* protocol-list */
static uint32_t ms_dmsw_pop_protocols(ms_dmsw *p)
{
    return ms_dmsw_make1(p, ms_DMSW_ProtocolList,
                         ms_dmsw_pop_list_or_empty(p, ms_DMSW_TypeList, ms_dmsw_pop_protocol));
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

/* Xx XX: SIL boxes */
static uint32_t ms_dmsw_sil_box(ms_dmsw *p, bool generic)
{
    uint32_t signature = 0, args = 0;
    if (generic) {
        signature = ms_dmsw_pop_signature(p);
        args = ms_dmsw_pop_type_list(p);
        if (!signature || !args)
            return 0;
    }
    uint32_t types = ms_dmsw_pop_type_list(p), layout = ms_dmsw_make(p, ms_DMSW_SILBoxLayout);
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
static uint32_t ms_dmsw_sugared(ms_dmsw *p)
{
    uint32_t type;
    switch (ms_dmsw_next(p)) {
    case 'q': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredOptional, ms_dmsw_pop_type(p)));
    case 'a': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredArray, ms_dmsw_pop_type(p)));
    case 'p': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredParen, ms_dmsw_pop_type(p)));
    case 'D':
        type = ms_dmsw_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_SugaredDictionary, ms_dmsw_pop_type(p), type));
    case 'A':
        type = ms_dmsw_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_SugaredInlineArray, ms_dmsw_pop_type(p), type));
    default: return 0;
    }
}

/* X: types that are rarer than one letter */
static uint32_t ms_dmsw_special_type(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'E': return ms_dmsw_pop_function(p, ms_DMSW_NoEscapeFunctionType, false);
    case 'A': return ms_dmsw_pop_function(p, ms_DMSW_EscapingAutoClosureType, false);
    case 'f': return ms_dmsw_pop_function(p, ms_DMSW_ThinFunctionType, false);
    case 'K': return ms_dmsw_pop_function(p, ms_DMSW_AutoClosureType, false);
    case 'U': return ms_dmsw_pop_function(p, ms_DMSW_UncurriedFunctionType, false);
    case 'L': return ms_dmsw_pop_function(p, ms_DMSW_EscapingObjCBlock, false);
    case 'B': return ms_dmsw_pop_function(p, ms_DMSW_ObjCBlock, false);
    case 'C': return ms_dmsw_pop_function(p, ms_DMSW_CFunctionPointer, false);
    case 'z':
        c = ms_dmsw_next(p);
        if (c != 'B' && c != 'C')
            return 0;
        return ms_dmsw_pop_function(p, c == 'B' ? ms_DMSW_ObjCBlock : ms_DMSW_CFunctionPointer, true);
    case 'g': return ms_dmsw_make1(p, ms_DMSW_ExtendedExistentialTypeShape, ms_dmsw_pop_type(p));
    case 'G':
        a = ms_dmsw_pop_type(p);
        return ms_dmsw_make2(p, ms_DMSW_ExtendedExistentialTypeShape, ms_dmsw_pop_signature(p), a);
    case 'o': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Unowned, ms_dmsw_pop_type(p)));
    case 'u': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Unmanaged, ms_dmsw_pop_type(p)));
    case 'w': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Weak, ms_dmsw_pop_type(p)));
    case 'b': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SILBoxType, ms_dmsw_pop_type(p)));
    case 'D': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_DynamicSelf, ms_dmsw_pop_type(p)));
    case 'M':
    case 'm':
        a = ms_dmsw_metatype_repr(p);
        b = ms_dmsw_pop_type(p);
        return ms_dmsw_type(
            ms_dmsw_make2(p, c == 'M' ? ms_DMSW_Metatype : ms_DMSW_ExistentialMetatype, a, b));
    case 'p': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ExistentialMetatype, ms_dmsw_pop_type(p)));
    case 'P':
        a = ms_dmsw_pop_list(p, ms_DMSW_ConstrainedExistentialRequirementList, ms_dmsw_pop_requirement);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_ConstrainedExistential, ms_dmsw_pop_type(p), a));
    case 'c':
        a = ms_dmsw_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_ProtocolListWithClass, ms_dmsw_pop_protocols(p), a));
    case 'l':
        return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ProtocolListWithAnyObject, ms_dmsw_pop_protocols(p)));
    case 'x':
    case 'X': return ms_dmsw_sil_box(p, c == 'X');
    case 'Y': return ms_dmsw_any_generic(p, ms_DMSW_OtherNominalType);
    case 'Z':
        a = ms_dmsw_pop_type_list(p);
        b = ms_dmsw_pop(p, ms_DMSW_Identifier);
        return ms_dmsw_make3(p, ms_DMSW_AnonymousContext, b, ms_dmsw_pop_context(p), a);
    case 'e': return ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_ErrorType));
    case 'S': return ms_dmsw_sugared(p);
    default: return 0;
    }
}

static uint32_t ms_dmsw_marked(ms_dmsw *p, unsigned kind, char mark)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ref)
        ms_dmsw_at(p, ref)->mark = (uint8_t)mark;
    return ref;
}

static bool ms_dmsw_diff_letter(char c)
{
    return c == 'd' || c == 'f' || c == 'l' || c == 'r';
}

/* Y: parts of function types and of parameters */
static uint32_t ms_dmsw_annotation(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'a': return ms_dmsw_make(p, ms_DMSW_AsyncAnnotation);
    case 'A': return ms_dmsw_make(p, ms_DMSW_IsolatedAnyFunctionType);
    case 'b': return ms_dmsw_make(p, ms_DMSW_ConcurrentFunctionType);
    case 'c': return ms_dmsw_make1(p, ms_DMSW_GlobalActorFunctionType, ms_dmsw_pop_type(p));
    case 'C': return ms_dmsw_make(p, ms_DMSW_NonIsolatedCallerFunctionType);
    case 'g': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ConstValue, ms_dmsw_pop_bare(p)));
    case 'i': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Isolated, ms_dmsw_pop_bare(p)));
    case 'j':
        c = ms_dmsw_next(p);
        return ms_dmsw_diff_letter(c) ? ms_dmsw_marked(p, ms_DMSW_DifferentiableFunctionType, c) : 0;
    case 'k': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_NoDerivative, ms_dmsw_pop_bare(p)));
    case 'K': return ms_dmsw_make1(p, ms_DMSW_TypedThrowsAnnotation, ms_dmsw_pop_bare(p));
    case 't': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_CompileTimeLiteral, ms_dmsw_pop_bare(p)));
    case 'T': return ms_dmsw_make(p, ms_DMSW_SendingResultFunctionType);
    case 'u': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Sending, ms_dmsw_pop_bare(p)));
    default: return 0;
    }
}

/* $: integers as types */
static uint32_t ms_dmsw_integer(ms_dmsw *p)
{
    bool negative = ms_dmsw_next_if(p, 'n');
    int64_t value = ms_dmsw_index(p);
    if (value < 0)
        return 0;
    return ms_dmsw_type(
        ms_dmsw_make_index(p, negative ? ms_DMSW_NegativeInteger : ms_DMSW_Integer, (uint64_t)value));
}

/* ---- implementation function types ---- */

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

/* One parameter or result without its type; 0 when the next letter is none. */
static uint32_t ms_dmsw_impl_part(ms_dmsw *p, unsigned kind, const char *letters)
{
    int word = ms_dmsw_find(letters, ms_dmsw_peek(p));
    if (word < 0)
        return 0;
    p->at++;
    return ms_dmsw_marked(p, kind, (char)word);
}

/* PARAM-DIFFERENTIABILITY to IMPLICIT-LEADING-PARAM; a result has only the first of them */
static void ms_dmsw_impl_marks(ms_dmsw *p, uint32_t ref, bool is_param)
{
    static const char letters[] = "wTIL";
    unsigned mark = ms_dmsw_at(p, ref)->mark;
    for (unsigned i = 0; letters[i] != '\0' && (i == 0 || is_param); i++)
        if (ms_dmsw_next_if(p, letters[i]))
            mark |= (unsigned)ms_DMSW_M_NO_DERIVATIVE << i;
    ms_dmsw_at(p, ref)->mark = (uint8_t)mark;
}

/* PATTERN-SUBS, INVOCATION-SUB */
static uint32_t ms_dmsw_impl_subs(ms_dmsw *p, unsigned kind)
{
    uint32_t retroactive = ms_dmsw_pop_retroactive(p);
    uint32_t lists = ms_dmsw_pop_bound_args(p);
    uint32_t ref = ms_dmsw_make(p, kind);
    if (kind == ms_DMSW_ImplPatternSubstitutions)
        ref = ms_dmsw_add(p, ref, ms_dmsw_pop_signature(p));
    if (ms_dmsw_kid_count(p, lists) != 1)
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_kid(p, lists, 0));
    return retroactive ? ms_dmsw_add(p, ref, retroactive) : ref;
}

/* FUNC-REPRESENTATION */
static uint32_t ms_dmsw_impl_representation(ms_dmsw *p, uint32_t ref)
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
        clang = ms_dmsw_clang_type(p);
        convention = ms_dmsw_add(p, convention, clang);
    }
    return ms_dmsw_add(p, ref, convention);
}

/* CALLEE-ESCAPE to SENDING-RESULT */
static uint32_t ms_dmsw_impl_attributes(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_next_if(p, 'e'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplEscaping));
    if (ms_dmsw_next_if(p, 'A'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplErasedIsolation));
    else if (ms_dmsw_next_if(p, 'N'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplNonIsolated));
    if (ms_dmsw_next_if(p, 'O'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplCalledOnce));
    if (ms_dmsw_diff_letter(ms_dmsw_peek(p)))
        ref = ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_ImplDifferentiabilityKind, ms_dmsw_next(p)));
    uint32_t callee = 0;
    switch (ms_dmsw_next(p)) {
    case 'y': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_unowned"); break;
    case 'g': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_guaranteed"); break;
    case 'x': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_owned"); break;
    case 't': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@convention(thin)"); break;
    default: return 0;
    }
    ref = ms_dmsw_impl_representation(p, ms_dmsw_add(p, ref, callee));
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
static uint32_t ms_dmsw_impl_function(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_ImplFunctionType), part;
    if (ms_dmsw_next_if(p, 's'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_impl_subs(p, ms_DMSW_ImplPatternSubstitutions));
    if (ms_dmsw_next_if(p, 'I'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_impl_subs(p, ms_DMSW_ImplInvocationSubstitutions));
    uint32_t signature = ms_dmsw_pop_signature(p), first;
    if (signature && ms_dmsw_next_if(p, 'P'))
        signature = ms_dmsw_with_kind(p, signature, ms_DMSW_DependentPseudogenericSignature);
    ref = ms_dmsw_impl_attributes(p, ref);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    first = ms_dmsw_kid_count(p, ref);
    while (ref && (part = ms_dmsw_impl_part(p, ms_DMSW_ImplParameter, ms_dmsw_param_letters)) != 0) {
        ms_dmsw_impl_marks(p, part, true);
        ref = ms_dmsw_add(p, ref, part);
    }
    while (ref && (part = ms_dmsw_impl_part(p, ms_DMSW_ImplResult, ms_dmsw_result_letters)) != 0) {
        ms_dmsw_impl_marks(p, part, false);
        ref = ms_dmsw_add(p, ref, part);
    }
    while (ref && ms_dmsw_next_if(p, 'Y')) {
        part = ms_dmsw_impl_part(p, ms_DMSW_ImplYield, ms_dmsw_param_letters);
        if (part)
            ms_dmsw_impl_marks(p, part, true);
        ref = ms_dmsw_add(p, ref, part);
    }
    if (ms_dmsw_next_if(p, 'z')) {
        part = ms_dmsw_impl_part(p, ms_DMSW_ImplErrorResult, ms_dmsw_result_letters);
        if (part)
            ms_dmsw_impl_marks(p, part, false);
        ref = ms_dmsw_add(p, ref, part);
    }
    if (!ref || !ms_dmsw_next_if(p, '_'))
        return 0;
    for (uint32_t i = ms_dmsw_kid_count(p, ref); i > first; i--)
        if (!ms_dmsw_add(p, ms_dmsw_kid(p, ref, i - 1), ms_dmsw_pop_type(p)))
            return 0;
    return ms_dmsw_type(ref);
}

/* ---- conformances ---- */

/* DEPENDENT-CONFORMANCE-INDEX: 0 is reserved, 1 means unknown, the rest is moved by two */
static uint32_t ms_dmsw_conformance_index(ms_dmsw *p)
{
    int64_t index = ms_dmsw_index(p);
    if (index <= 0)
        return 0;
    return index == 1 ? ms_dmsw_make(p, ms_DMSW_UnknownIndex)
                      : ms_dmsw_make_index(p, ms_DMSW_Index, (uint64_t)index - 2);
}

static uint32_t ms_dmsw_concrete_conformance(ms_dmsw *p)
{
    uint32_t list =
        ms_dmsw_pop_list_or_empty(p, ms_DMSW_AnyProtocolConformanceList, ms_dmsw_pop_any_conformance);
    uint32_t ref = ms_dmsw_pop(p, ms_DMSW_ProtocolConformanceRefInTypeModule);
    if (!ref)
        ref = ms_dmsw_pop(p, ms_DMSW_ProtocolConformanceRefInProtocolModule);
    if (!ref) {
        uint32_t module = ms_dmsw_pop_module(p);
        ref = ms_dmsw_make2(p, ms_DMSW_ProtocolConformanceRefInOtherModule, ms_dmsw_pop_protocol(p), module);
    }
    return ms_dmsw_make3(p, ms_DMSW_ConcreteProtocolConformance, ms_dmsw_pop_type(p), ref, list);
}

/* H: conformances and runtime records */
static uint32_t ms_dmsw_conformance_op(ms_dmsw *p)
{
    uint32_t a, b, index;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'A':
        index = ms_dmsw_conformance_index(p);
        a = ms_dmsw_pop_protocol(p);
        a = ms_dmsw_make2(p, ms_DMSW_DependentAssociatedConformance, ms_dmsw_pop_type(p), a);
        b = ms_dmsw_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceAssociated, b, a, index);
    case 'D':
        index = ms_dmsw_conformance_index(p);
        a = ms_dmsw_pop_protocol(p);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceRoot, ms_dmsw_pop_type(p), a, index);
    case 'I':
        index = ms_dmsw_conformance_index(p);
        a = ms_dmsw_pop_protocol(p);
        b = ms_dmsw_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceInherited, b, a, index);
    case 'O':
        a = ms_dmsw_pop_type(p);
        b = ms_dmsw_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make2(p, ms_DMSW_DependentProtocolConformanceOpaque, b, a);
    case 'C': return ms_dmsw_concrete_conformance(p);
    case 'X':
        a = ms_dmsw_pop_list_or_empty(p, ms_DMSW_AnyProtocolConformanceList, ms_dmsw_pop_any_conformance);
        return ms_dmsw_make1(p, ms_DMSW_PackProtocolConformance, a);
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceRefInTypeModule, ms_dmsw_pop_protocol(p));
    case 'p':
        return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceRefInProtocolModule, ms_dmsw_pop_protocol(p));
    case 'c':
        return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceDescriptorRecord, ms_dmsw_pop_conformance(p));
    case 'n': return ms_dmsw_make1(p, ms_DMSW_NominalTypeDescriptorRecord, ms_dmsw_pop_type(p));
    case 'o': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorRecord, ms_dmsw_pop_any(p));
    case 'r': return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptorRecord, ms_dmsw_pop_protocol(p));
    case 'F': return ms_dmsw_make(p, ms_DMSW_AccessibleFunctionRecord);
    default: return 0;
    }
}

/* g: retroactive-conformance */
static uint32_t ms_dmsw_retroactive(ms_dmsw *p)
{
    uint32_t index = ms_dmsw_index_node(p);
    return ms_dmsw_make2(p, ms_DMSW_RetroactiveConformance, index, ms_dmsw_pop_any_conformance(p));
}

/* ---- metadata, witnesses ---- */

/* MX: context descriptors */
static uint32_t ms_dmsw_context_descriptor(ms_dmsw *p)
{
    uint32_t a;
    switch (ms_dmsw_next(p)) {
    case 'E': return ms_dmsw_make1(p, ms_DMSW_ExtensionDescriptor, ms_dmsw_pop_context(p));
    case 'M': return ms_dmsw_make1(p, ms_DMSW_ModuleDescriptor, ms_dmsw_pop_module(p));
    case 'X': return ms_dmsw_make1(p, ms_DMSW_AnonymousDescriptor, ms_dmsw_pop_context(p));
    case 'Y':
        a = ms_dmsw_pop_any(p);
        return ms_dmsw_make2(p, ms_DMSW_AnonymousDescriptor, ms_dmsw_pop_context(p), a);
    case 'A':
        a = ms_dmsw_pop_assoc_path(p);
        return ms_dmsw_make2(p, ms_DMSW_AssociatedTypeGenericParamRef, ms_dmsw_pop_type(p), a);
    default: return 0;
    }
}

/* M: metadata */
static uint32_t ms_dmsw_metadata(ms_dmsw *p)
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
        return ms_dmsw_make1(p, ms_DMSW_ReflectionMetadataAssocTypeDescriptor, ms_dmsw_pop_conformance(p));
    case 'c': return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceDescriptor, ms_dmsw_pop_conformance(p));
    case 'g': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessor, ms_dmsw_pop_any(p));
    case 'h': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorImpl, ms_dmsw_pop_any(p));
    case 'j': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorKey, ms_dmsw_pop_any(p));
    case 'k': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorVar, ms_dmsw_pop_any(p));
    case 'J':
        return ms_dmsw_make1(p, ms_DMSW_NoncanonicalSpecializedGenericTypeMetadataCache, ms_dmsw_pop_any(p));
    case 'K': return ms_dmsw_make1(p, ms_DMSW_MetadataInstantiationCache, ms_dmsw_pop_any(p));
    case 'q': return ms_dmsw_make1(p, ms_DMSW_Uniquable, ms_dmsw_pop_any(p));
    case 'Q': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptor, ms_dmsw_pop_any(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptor, ms_dmsw_pop_protocol(p));
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceDescriptor, ms_dmsw_pop_protocol(p));
    case 'V': return ms_dmsw_make1(p, ms_DMSW_PropertyDescriptor, ms_dmsw_pop_entity(p));
    case 'X': return ms_dmsw_context_descriptor(p);
    default: return 0;
    }
    return ms_dmsw_make1(p, kind, ms_dmsw_pop_type(p));
}

/* WO: outlined value operations */
static uint32_t ms_dmsw_outlined(ms_dmsw *p)
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
        ms_dmsw_index(p) < 0)
        return 0; /* which case it is: not printed */
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t ref = ms_dmsw_make1(p, kind, ms_dmsw_pop_type(p));
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* INDEX-SUBSET */
static uint32_t ms_dmsw_index_subset(ms_dmsw *p)
{
    size_t start = p->at;
    while (ms_dmsw_peek(p) == 'S' || ms_dmsw_peek(p) == 'U')
        p->at++;
    return p->at > start ? ms_dmsw_make_text(p, ms_DMSW_IndexSubset, p->s + start, p->at - start) : 0;
}

/* Everything on the stack becomes the children: the function that an autodiff function comes from. */
static uint32_t ms_dmsw_pop_all(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    for (uint32_t i = 0; i < p->stack.count; i++)
        ref = ms_dmsw_add(p, ref, p->stack.v[i]);
    p->stack.count = 0;
    return ref;
}

/* A kind letter and two subsets, 'p' and 'r' behind them; what comes before them is ref's children. */
static uint32_t ms_dmsw_diff_parts(ms_dmsw *p, uint32_t ref, const char *letters)
{
    if (ms_dmsw_kid_count(p, ref) == 0)
        return 0;
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find(letters, c) < 0)
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_AutoDiffFunctionKind, c));
    ref = ms_dmsw_add(p, ref, ms_dmsw_index_subset(p));
    if (!ms_dmsw_next_if(p, 'p'))
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_index_subset(p));
    return ms_dmsw_next_if(p, 'r') ? ref : 0;
}

/* WJ */
static uint32_t ms_dmsw_diff_witness(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t ref = ms_dmsw_diff_parts(p, ms_dmsw_pop_all(p, ms_DMSW_DifferentiabilityWitness), "frdl");
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* WZ Wz */
static uint32_t ms_dmsw_once(ms_dmsw *p, unsigned kind)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_GlobalVariableOnceDeclList);
    while (list && ms_dmsw_pop_first(p))
        list = ms_dmsw_add(p, list, ms_dmsw_pop_trait(p, ms_DMSW_T_NAME));
    if (!list)
        return 0;
    ms_dmsw_reverse(p, list, 0);
    return ms_dmsw_make2(p, kind, ms_dmsw_pop_context(p), list);
}

/* The subject of WT, Tn and TN: a path of associated types, or a type that is no protocol. */
static uint32_t ms_dmsw_pop_subject(ms_dmsw *p)
{
    uint32_t top = ms_dmsw_top(p);
    if ((top & ms_DMSW_AS_TYPE) && ms_dmsw_inner(p, top) != ms_DMSW_Protocol)
        return ms_dmsw_pop_type(p);
    return ms_dmsw_pop_assoc_path(p);
}

/* W: witness tables and value operations */
static uint32_t ms_dmsw_witness(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'C': return ms_dmsw_make1(p, ms_DMSW_EnumCase, ms_dmsw_pop_entity(p));
    case 'V': return ms_dmsw_make1(p, ms_DMSW_ValueWitnessTable, ms_dmsw_pop_type(p));
    case 'v':
        c = ms_dmsw_next(p);
        a = c == 'd' || c == 'i' ? ms_dmsw_make1(p, ms_DMSW_FieldOffset, ms_dmsw_pop_entity(p)) : 0;
        if (a)
            ms_dmsw_at(p, a)->mark = (uint8_t)c;
        return a;
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceWitnessTable, ms_dmsw_pop_protocol(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTable, ms_dmsw_pop_conformance(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTablePattern, ms_dmsw_pop_conformance(p));
    case 'G': return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTable, ms_dmsw_pop_conformance(p));
    case 'I':
        return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTableInstantiationFunction,
                             ms_dmsw_pop_conformance(p));
    case 'r': return ms_dmsw_make1(p, ms_DMSW_ResilientProtocolWitnessTable, ms_dmsw_pop_conformance(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTableAccessor, ms_dmsw_pop_conformance(p));
    case 'l':
    case 'L':
        a = ms_dmsw_pop_conformance(p);
        return ms_dmsw_make2(p,
                             c == 'l' ? ms_DMSW_LazyProtocolWitnessTableAccessor
                                      : ms_DMSW_LazyProtocolWitnessTableCacheVariable,
                             ms_dmsw_pop_type(p), a);
    case 't':
        a = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
        return ms_dmsw_make2(p, ms_DMSW_AssociatedTypeMetadataAccessor, ms_dmsw_pop_conformance(p), a);
    case 'T':
        a = ms_dmsw_pop_type(p);
        b = ms_dmsw_pop_subject(p);
        return ms_dmsw_make3(p, ms_DMSW_AssociatedTypeWitnessTableAccessor, ms_dmsw_pop_conformance(p), b, a);
    case 'b':
        a = ms_dmsw_pop_type(p);
        return ms_dmsw_make2(p, ms_DMSW_BaseWitnessTableAccessor, ms_dmsw_pop_conformance(p), a);
    case 'O': return ms_dmsw_outlined(p);
    case 'Z': return ms_dmsw_once(p, ms_DMSW_GlobalVariableOnceFunction);
    case 'z': return ms_dmsw_once(p, ms_DMSW_GlobalVariableOnceToken);
    case 'J': return ms_dmsw_diff_witness(p);
    default: return 0;
    }
}

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

/* The two letters of a value witness; the node still lacks its type. */
static uint32_t ms_dmsw_value_witness(ms_dmsw *p)
{
    char a = ms_dmsw_next(p), b = ms_dmsw_next(p);
    for (size_t i = 0; i + 2 < sizeof ms_dmsw_vw_letters; i += 2)
        if (ms_dmsw_vw_letters[i] == a && ms_dmsw_vw_letters[i + 1] == b)
            return ms_dmsw_marked(p, ms_DMSW_ValueWitness, (char)(i / 2));
    return 0;
}

/* ---- thunks and specializations ---- */

/* SPEC-INFO */
static uint32_t ms_dmsw_spec_info(ms_dmsw *p, unsigned kind)
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
static uint32_t ms_dmsw_generic_spec(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_spec_info(p, kind), types = ms_dmsw_pop_type_list(p);
    if (!types)
        return 0;
    for (uint32_t i = 0; ref && i < ms_dmsw_kid_count(p, types); i++)
        ref = ms_dmsw_add(p, ref,
                          ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmsw_kid(p, types, i)));
    return ref;
}

/* dropped-arg: which argument is not printed */
static uint32_t ms_dmsw_generic_spec_dropped(ms_dmsw *p)
{
    p->at--;
    while (ms_dmsw_next_if(p, 't'))
        if (ms_dmsw_digit(ms_dmsw_peek(p)) && ms_dmsw_natural(p) < 0)
            return 0;
    switch (ms_dmsw_next(p)) {
    case 'g': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecialization);
    case 'G': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationNotReAbstracted);
    case 'B': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationInResilienceDomain);
    default: return 0;
    }
}

/* What happened to an argument; the first are exclusive, the last can be combined. */
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

static uint32_t ms_dmsw_spec_kind(ms_dmsw *p, uint32_t param, unsigned what)
{
    return ms_dmsw_add(p, param,
                       ms_dmsw_make_index(p, ms_DMSW_FunctionSignatureSpecializationParamKind, what));
}

static uint32_t ms_dmsw_spec_text(ms_dmsw *p, uint32_t param, const char *text, size_t len)
{
    return ms_dmsw_add(p, param,
                       ms_dmsw_make_text(p, ms_DMSW_FunctionSignatureSpecializationParamPayload, text, len));
}

/* A run of digits, printed as it stands: it may have 64 bits or more. */
static uint32_t ms_dmsw_spec_digits(ms_dmsw *p, uint32_t param)
{
    size_t start = p->at;
    while (ms_dmsw_digit(ms_dmsw_peek(p)))
        p->at++;
    return p->at > start ? ms_dmsw_spec_text(p, param, p->s + start, p->at - start) : 0;
}

/* CONST-PROP */
static uint32_t ms_dmsw_spec_const(ms_dmsw *p, uint32_t param)
{
    switch (ms_dmsw_next(p)) {
    case 'f': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_FUNCTION);
    case 'g': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_GLOBAL);
    case 'i': return ms_dmsw_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_INTEGER));
    case 'd': return ms_dmsw_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FLOAT));
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

/* CONST-PROP of a struct: it and its operands, which are constants too, each as a parameter of its own */
static uint32_t ms_dmsw_spec_struct(ms_dmsw *p, uint32_t param)
{
    while (param && ms_dmsw_find("fgikdsS", ms_dmsw_peek(p)) >= 0) {
        uint32_t part = ms_dmsw_make(p, ms_DMSW_FunctionSignatureSpecializationParam);
        param = ms_dmsw_add(p, param, ms_dmsw_spec_const(p, part));
    }
    return param;
}

/* The combinable rest of an ARG-SPEC-KIND */
static uint32_t ms_dmsw_spec_options(ms_dmsw *p, uint32_t param, unsigned what)
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
static uint32_t ms_dmsw_spec_param(ms_dmsw *p, unsigned kind)
{
    uint32_t param = ms_dmsw_make(p, kind);
    switch (ms_dmsw_next(p)) {
    case 'n': return param;
    case 'c': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_CLOSURE);
    case 'E': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_ESCAPING_CLOSURE);
    case 'C': return ms_dmsw_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_SAME_CLOSURE));
    case 'p': return ms_dmsw_peek(p) == 'S' ? ms_dmsw_spec_struct(p, param) : ms_dmsw_spec_const(p, param);
    case 'e': return ms_dmsw_spec_options(p, param, ms_DMSW_P_EXISTENTIAL);
    case 'd': return ms_dmsw_spec_options(p, param, ms_DMSW_P_DEAD);
    case 'g': return ms_dmsw_spec_options(p, param, ms_DMSW_P_OWNED_TO_GUARANTEED);
    case 'o': return ms_dmsw_spec_options(p, param, ms_DMSW_P_GUARANTEED_TO_OWNED);
    case 'x': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_EXPLODED);
    case 'i': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_VALUE);
    case 's': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_STACK);
    case 'r': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_INOUT_TO_OUT);
    default: return 0;
    }
}

/* Takes what a constant or closure needs off the stack: types and the name before them. */
static bool ms_dmsw_spec_operands(ms_dmsw *p, uint32_t param, uint64_t kind)
{
    bool closure = kind == ms_DMSW_P_CLOSURE || kind == ms_DMSW_P_ESCAPING_CLOSURE;
    uint32_t type, fixed = ms_dmsw_kid_count(p, param);
    while ((type = ms_dmsw_pop_type(p)) != 0)
        if ((!closure && kind != ms_DMSW_P_KEYPATH) || !ms_dmsw_add(p, param, type))
            return false;
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
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

/* The same for any argument; the operands of the last come off first. */
static bool ms_dmsw_spec_finish(ms_dmsw *p, uint32_t param)
{
    uint32_t first = ms_dmsw_kid(p, param, 0);
    if (!first)
        return true;
    if (ms_dmsw_kind_of(p, first) == ms_DMSW_FunctionSignatureSpecializationParam) {
        for (uint32_t i = ms_dmsw_kid_count(p, param); i > 0; i--) {
            uint32_t part = ms_dmsw_kid(p, param, i - 1), kind = ms_dmsw_kid(p, part, 0);
            bool is_struct = ms_dmsw_at(p, kind)->u.index == ms_DMSW_P_STRUCT;
            if (is_struct ? !ms_dmsw_add(p, part, ms_dmsw_pop_type(p)) : !ms_dmsw_spec_finish(p, part))
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
    case ms_DMSW_P_ESCAPING_CLOSURE: return ms_dmsw_spec_operands(p, param, kind);
    default: return true;
    }
}

/* Tf: function signature specialization */
static uint32_t ms_dmsw_function_spec(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_spec_info(p, ms_DMSW_FunctionSignatureSpecialization);
    if (ref && ms_dmsw_at(p, ref)->mark)
        return ref; /* a changed representation says nothing of the arguments */
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_spec_param(p, ms_DMSW_FunctionSignatureSpecializationParam));
    if (ref && !ms_dmsw_next_if(p, 'n'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_spec_param(p, ms_DMSW_FunctionSignatureSpecializationReturn));
    if (!ref)
        return 0;
    for (uint32_t i = ms_dmsw_kid_count(p, ref); i > 0; i--) {
        uint32_t param = ms_dmsw_kid(p, ref, i - 1);
        if (ms_dmsw_kind_of(p, param) == ms_DMSW_FunctionSignatureSpecializationParam &&
            !ms_dmsw_spec_finish(p, param))
            return 0;
    }
    return ref;
}

/* TK Tk: key path accessors */
static uint32_t ms_dmsw_keypath_accessor(ms_dmsw *p, unsigned kind)
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
static uint32_t ms_dmsw_keypath_helper(ms_dmsw *p, unsigned kind)
{
    bool serialized = ms_dmsw_next_if(p, 'q');
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t ref = ms_dmsw_make(p, kind), type;
    bool any = false;
    while ((type = ms_dmsw_pop_type(p)) != 0) {
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
static uint32_t ms_dmsw_reabstraction(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind), signature = ms_dmsw_pop_signature(p);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    if (kind == ms_DMSW_ReabstractionThunkHelperWithSelf)
        ref = ms_dmsw_add(p, ref, ms_dmsw_pop_type(p));
    ref = ms_dmsw_add(p, ref, ms_dmsw_pop_type(p));
    return ms_dmsw_add(p, ref, ms_dmsw_pop_type(p));
}

/* Te: bridge-spec */
static uint32_t ms_dmsw_bridged(ms_dmsw *p)
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
static uint32_t ms_dmsw_self_reordering(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p), to = ms_dmsw_pop_type(p), from = ms_dmsw_pop_type(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_AutoDiffSelfReorderingReabstractionThunk, from, to);
    char c = ms_dmsw_next(p);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    if (ms_dmsw_find("frdp", c) < 0)
        return 0;
    return ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_AutoDiffFunctionKind, c));
}

/* TJ: functions of automatic differentiation */
static uint32_t ms_dmsw_autodiff(ms_dmsw *p)
{
    unsigned kind = ms_DMSW_AutoDiffFunction;
    if (ms_dmsw_next_if(p, 'O'))
        return ms_dmsw_self_reordering(p);
    if (ms_dmsw_next_if(p, 'S'))
        kind = ms_DMSW_AutoDiffSubsetParametersThunk;
    else if (ms_dmsw_next_if(p, 'V'))
        kind = ms_DMSW_AutoDiffDerivativeVTableThunk;
    uint32_t ref = ms_dmsw_diff_parts(p, ms_dmsw_pop_all(p, kind), "frdp");
    if (kind == ms_DMSW_AutoDiffSubsetParametersThunk) {
        ref = ms_dmsw_add(p, ref, ms_dmsw_index_subset(p));
        if (!ms_dmsw_next_if(p, 'P'))
            return 0;
    }
    return ms_dmsw_remember(p, ref);
}

/* Tz TZ: completion handlers that bridge to async functions */
static uint32_t ms_dmsw_completion(ms_dmsw *p, unsigned kind)
{
    uint32_t flag = ms_dmsw_index_node(p), signature = ms_dmsw_pop_signature(p);
    uint32_t result = ms_dmsw_pop_type(p), impl = ms_dmsw_pop_type(p);
    uint32_t ref = ms_dmsw_make3(p, kind, impl, result, flag);
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* Tw: attributes of two letters */
static uint32_t ms_dmsw_thunk_w(ms_dmsw *p)
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
static uint32_t ms_dmsw_specialization(ms_dmsw *p, char c)
{
    uint32_t ref;
    switch (c) {
    case 'g': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecialization);
    case 'G': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationNotReAbstracted);
    case 'B': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationInResilienceDomain);
    case 's': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationPrespecialized);
    case 'i': return ms_dmsw_generic_spec(p, ms_DMSW_InlinedGenericFunction);
    case 't': return ms_dmsw_generic_spec_dropped(p);
    case 'P':
    case 'p':
        ref = ms_dmsw_spec_info(p, c == 'P' ? ms_DMSW_GenericPartialSpecializationNotReAbstracted
                                            : ms_DMSW_GenericPartialSpecialization);
        return ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmsw_pop_type(p)));
    default: return ms_dmsw_function_spec(p);
    }
}

/* T: descriptors of protocol parts */
static uint32_t ms_dmsw_protocol_part(ms_dmsw *p, char c)
{
    uint32_t a, b;
    switch (c) {
    case 'l': return ms_dmsw_make1(p, ms_DMSW_AssociatedTypeDescriptor, ms_dmsw_pop_assoc_name(p));
    case 'L': return ms_dmsw_make1(p, ms_DMSW_ProtocolRequirementsBaseDescriptor, ms_dmsw_pop_protocol(p));
    case 'M':
        return ms_dmsw_make1(p, ms_DMSW_DefaultAssociatedTypeMetadataAccessor, ms_dmsw_pop_assoc_name(p));
    case 'b':
        a = ms_dmsw_pop_protocol(p);
        return ms_dmsw_make2(p, ms_DMSW_BaseConformanceDescriptor, ms_dmsw_pop_type(p), a);
    default:
        a = ms_dmsw_pop_protocol(p);
        b = ms_dmsw_pop_subject(p);
        return ms_dmsw_make3(p,
                             c == 'n' ? ms_DMSW_AssociatedConformanceDescriptor
                                      : ms_DMSW_DefaultAssociatedConformanceAccessor,
                             ms_dmsw_pop_type(p), b, a);
    }
}

/* T: thunks and specializations */
static uint32_t ms_dmsw_thunk(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'c': return ms_dmsw_make1(p, ms_DMSW_CurryThunk, ms_dmsw_pop_entity(p));
    case 'T':
        if (ms_dmsw_next_if(p, 'I'))
            return ms_dmsw_make1(p, ms_DMSW_SILThunkIdentity, ms_dmsw_pop_entity(p));
        return ms_dmsw_next_if(p, 'H')
                   ? ms_dmsw_make1(p, ms_DMSW_SILThunkHopToMainActorIfNeeded, ms_dmsw_pop_entity(p))
                   : 0;
    case 'j': return ms_dmsw_make1(p, ms_DMSW_DispatchThunk, ms_dmsw_pop_entity(p));
    case 'q': return ms_dmsw_make1(p, ms_DMSW_MethodDescriptor, ms_dmsw_pop_entity(p));
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
    case 'Y': return ms_dmsw_make1(p, ms_DMSW_AsyncSuspendResumePartialFunction, ms_dmsw_index_node(p));
    case 'Q': return ms_dmsw_make1(p, ms_DMSW_AsyncAwaitResumePartialFunction, ms_dmsw_index_node(p));
    case 'w': return ms_dmsw_thunk_w(p);
    case 'C': return ms_dmsw_make1(p, ms_DMSW_CoroutineContinuationPrototype, ms_dmsw_pop_type(p));
    case 'z': return ms_dmsw_completion(p, ms_DMSW_ObjCAsyncCompletionHandlerImpl);
    case 'Z': return ms_dmsw_completion(p, ms_DMSW_PredefinedObjCAsyncCompletionHandlerImpl);
    case 'V':
        a = ms_dmsw_pop_entity(p);
        return ms_dmsw_make2(p, ms_DMSW_VTableThunk, ms_dmsw_pop_entity(p), a);
    case 'W':
        a = ms_dmsw_pop_entity(p);
        return ms_dmsw_make2(p, ms_DMSW_ProtocolWitness, ms_dmsw_pop_conformance(p), a);
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceWitness, ms_dmsw_pop_entity(p));
    case 'R': return ms_dmsw_reabstraction(p, ms_DMSW_ReabstractionThunkHelper);
    case 'r': return ms_dmsw_reabstraction(p, ms_DMSW_ReabstractionThunk);
    case 'y': return ms_dmsw_reabstraction(p, ms_DMSW_ReabstractionThunkHelperWithSelf);
    case 'U':
        a = ms_dmsw_pop_type(p);
        b = ms_dmsw_pop_any(p);
        return ms_dmsw_make2(p, ms_DMSW_ReabstractionThunkHelperWithGlobalActor, b, a);
    case 'K':
    case 'k':
        if (ms_dmsw_next_is(p, "mu", 2))
            return ms_dmsw_keypath_accessor(p, ms_DMSW_KeyPathUnappliedMethodThunkHelper);
        if (ms_dmsw_next_is(p, "MA", 2))
            return ms_dmsw_keypath_accessor(p, ms_DMSW_KeyPathAppliedMethodThunkHelper);
        return ms_dmsw_keypath_accessor(p, c == 'K' ? ms_DMSW_KeyPathGetterThunkHelper
                                                    : ms_DMSW_KeyPathSetterThunkHelper);
    case 'H': return ms_dmsw_keypath_helper(p, ms_DMSW_KeyPathEqualsThunkHelper);
    case 'h': return ms_dmsw_keypath_helper(p, ms_DMSW_KeyPathHashThunkHelper);
    case 'v':
        a = ms_dmsw_index_node(p);
        return ms_dmsw_make1(
            p, ms_dmsw_next_if(p, 'r') ? ms_DMSW_OutlinedReadOnlyObject : ms_DMSW_OutlinedVariable, a);
    case 'e': return ms_dmsw_bridged(p);
    case 'J': return ms_dmsw_autodiff(p);
    case 'l':
    case 'L':
    case 'M':
    case 'b':
    case 'n':
    case 'N': return ms_dmsw_protocol_part(p, c);
    case 'g':
    case 'G':
    case 'B':
    case 's':
    case 'i':
    case 't':
    case 'P':
    case 'p':
    case 'f': return ms_dmsw_specialization(p, c);
    default: return 0;
    }
}

/* ---- the whole name, Swift 4 and later ---- */

/* A type with labels, or another type, for the debugger */
static uint32_t ms_dmsw_type_mangling(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_TypeMangling);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

static uint32_t ms_dmsw_value_witness_op(ms_dmsw *p)
{
    return ms_dmsw_add(p, ms_dmsw_value_witness(p), ms_dmsw_pop_type(p));
}

/* One operator: reads it, pops what it needs, returns the new node, 0 when malformed. */
static uint32_t ms_dmsw_op(ms_dmsw *p)
{
    uint32_t a;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'A': return ms_dmsw_substitution(p);
    case 'B': return ms_dmsw_builtin(p);
    case 'C': return ms_dmsw_any_generic(p, ms_DMSW_Class);
    case 'D': return ms_dmsw_type_mangling(p);
    case 'E': return ms_dmsw_extension(p);
    case 'F': return ms_dmsw_function(p);
    case 'G': return ms_dmsw_bound_generic(p);
    case 'H': return ms_dmsw_conformance_op(p);
    case 'I': return ms_dmsw_impl_function(p);
    case 'K': return ms_dmsw_make(p, ms_DMSW_ThrowsAnnotation);
    case 'L': return ms_dmsw_local(p);
    case 'M': return ms_dmsw_metadata(p);
    case 'N': return ms_dmsw_make1(p, ms_DMSW_TypeMetadata, ms_dmsw_pop_type(p));
    case 'O': return ms_dmsw_any_generic(p, ms_DMSW_Enum);
    case 'P': return ms_dmsw_any_generic(p, ms_DMSW_Protocol);
    case 'Q': return ms_dmsw_archetype(p);
    case 'R': return ms_dmsw_requirement(p);
    case 'S': return ms_dmsw_standard(p);
    case 'T': return ms_dmsw_thunk(p);
    case 'V': return ms_dmsw_any_generic(p, ms_DMSW_Structure);
    case 'W': return ms_dmsw_witness(p);
    case 'X': return ms_dmsw_special_type(p);
    case 'Y': return ms_dmsw_annotation(p);
    case 'Z': return ms_dmsw_make1(p, ms_DMSW_Static, ms_dmsw_pop_entity(p));
    case 'a': return ms_dmsw_any_generic(p, ms_DMSW_TypeAlias);
    case 'c': return ms_dmsw_pop_function(p, ms_DMSW_FunctionType, false);
    case 'd': return ms_dmsw_make(p, ms_DMSW_VariadicMarker);
    case 'f': return ms_dmsw_function_entity(p);
    case 'g': return ms_dmsw_retroactive(p);
    case 'h': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Shared, ms_dmsw_pop_bare(p)));
    case 'i': return ms_dmsw_subscript(p);
    case 'l': return ms_dmsw_signature(p, false);
    case 'm': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Metatype, ms_dmsw_pop_type(p)));
    case 'n': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Owned, ms_dmsw_pop_bare(p)));
    case 'o': return ms_dmsw_operator(p);
    case 'p': return ms_dmsw_type(ms_dmsw_pop_protocols(p));
    case 'q': return ms_dmsw_type(ms_dmsw_generic_param(p));
    case 'r': return ms_dmsw_signature(p, true);
    case 's': return ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift");
    case 't': return ms_dmsw_tuple(p);
    case 'u':
        a = ms_dmsw_pop_signature(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, a, ms_dmsw_pop_type(p)));
    case 'v': return ms_dmsw_accessor(p, ms_dmsw_typed_decl(p, ms_DMSW_Variable));
    case 'w': return ms_dmsw_value_witness_op(p);
    case 'x': return ms_dmsw_type(ms_dmsw_param_type(p, 0, 0));
    case 'y': return ms_dmsw_make(p, ms_DMSW_EmptyList);
    case 'z': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_InOut, ms_dmsw_pop_bare(p)));
    case '_': return ms_dmsw_make(p, ms_DMSW_FirstElementMarker);
    case '$': return ms_dmsw_integer(p);
    case '.': /* what tools add behind the mangled name */
        a = ms_dmsw_make_text(p, ms_DMSW_Suffix, p->s + p->at - 1, p->len - p->at + 1);
        p->at = p->len;
        return a;
    default:
        if (!ms_dmsw_digit(c))
            return 0; /* among them the bytes of symbolic references */
        p->at--;
        return ms_dmsw_identifier(p);
    }
}

/* Puts the nodes on the stack into one tree: attributes of the function first, in the order they print. */
static uint32_t ms_dmsw_assemble(ms_dmsw *p)
{
    uint32_t suffix = ms_dmsw_pop(p, ms_DMSW_Suffix), attr;
    uint32_t top = ms_dmsw_make(p, ms_DMSW_Global), parent = top;
    while ((attr = ms_dmsw_pop_trait(p, ms_DMSW_T_ATTR)) != 0) {
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

static uint32_t ms_dmsw_read(ms_dmsw *p)
{
    while (p->at < p->len && !p->d->failed) {
        uint32_t ref = ms_dmsw_op(p);
        if (!ref)
            return 0;
        ms_dmsw_push(p, ref);
    }
    return p->d->failed ? 0 : ms_dmsw_assemble(p);
}

/* ---- printing ---- */

/* floors: recursion */
static uint32_t ms_dmsw_print_as(ms_dmsw *p, uint32_t ref, bool as_prefix);
static bool ms_dmsw_nested(ms_dmsw *p, uint32_t payload);

#define ms_dmsw_lit(p, text) ms_dm_put((p)->d, text, sizeof(text) - 1)

static bool ms_dmsw_short(const ms_dmsw *p)
{
    return (p->style & MACHSYM_DEMANGLE_SIMPLIFIED) != 0;
}

static void ms_dmsw_char(ms_dmsw *p, char c)
{
    ms_dm_put(p->d, &c, 1);
}

/* A word from one of our tables. */
static void ms_dmsw_word(ms_dmsw *p, const char *word)
{
    size_t len = 0;
    while (word[len] != '\0')
        len++;
    ms_dm_put(p->d, word, len);
}

static void ms_dmsw_number(ms_dmsw *p, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    ms_dm_put(p->d, digits + at, sizeof digits - at);
}

static void ms_dmsw_own(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    if (n->form == ms_DMSW_F_TEXT || n->form == ms_DMSW_F_KNOWN)
        ms_dm_put(p->d, n->u.text, n->count);
}

/* The text of the kind's row. */
static void ms_dmsw_row_text(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dm_put(p->d, row->text, row->len);
}

static void ms_dmsw_print(ms_dmsw *p, uint32_t ref)
{
    (void)ms_dmsw_print_as(p, ref, false);
}

static void ms_dmsw_print_kid(ms_dmsw *p, uint32_t ref, uint32_t i)
{
    ms_dmsw_print(p, ms_dmsw_kid(p, ref, i));
}

static void ms_dmsw_print_kids(ms_dmsw *p, uint32_t ref, const char *sep, size_t len)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dm_put(p->d, sep, len);
        ms_dmsw_print_kid(p, ref, i);
    }
}

static void ms_dmsw_print_commas(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_print_kids(p, ref, ", ", 2);
}

static bool ms_dmsw_is_simple(const ms_dmsw *p, uint32_t type)
{
    unsigned kind = ms_dmsw_inner(p, type);
    if (kind == ms_DMSW_ProtocolList)
        return ms_dmsw_kid_count(p, ms_dmsw_kid(p, type, 0)) <= 1;
    if (kind == ms_DMSW_ProtocolListWithAnyObject)
        return ms_dmsw_kid_count(p, ms_dmsw_kid(p, ms_dmsw_kid(p, type, 0), 0)) == 0;
    return (ms_dmsw_rows[kind].traits & ms_DMSW_T_SIMPLE) != 0;
}

static void ms_dmsw_print_in_parens(ms_dmsw *p, uint32_t type)
{
    bool simple = ms_dmsw_is_simple(p, type);
    if (!simple)
        ms_dmsw_char(p, '(');
    ms_dmsw_print(p, type);
    if (!simple)
        ms_dmsw_char(p, ')');
}

/* Function types start with a parenthesis or an attribute: no space between the name and them. */
static bool ms_dmsw_needs_space(const ms_dmsw *p, uint32_t type)
{
    unsigned kind = ms_dmsw_inner(p, type);
    return kind != ms_DMSW_DependentGenericType && !(ms_dmsw_rows[kind].traits & ms_DMSW_T_FUNCTION);
}

static void ms_dmsw_print_label(ms_dmsw *p, uint32_t label)
{
    if (ms_dmsw_kind_of(p, label) == ms_DMSW_Identifier)
        ms_dmsw_print(p, label);
    else
        ms_dmsw_char(p, '_');
    ms_dmsw_char(p, ':');
}

/* Parameters in parentheses; the simplified style shows labels only. */
static void ms_dmsw_print_params(ms_dmsw *p, uint32_t labels, uint32_t args)
{
    bool types = !ms_dmsw_short(p);
    uint32_t params = ms_dmsw_kid(p, args, 0);
    if (ms_dmsw_inner(p, params) != ms_DMSW_Tuple) {
        ms_dmsw_char(p, '(');
        if (types)
            ms_dmsw_print(p, params);
        else
            ms_dmsw_lit(p, "_:");
        ms_dmsw_char(p, ')');
        return;
    }
    uint32_t count = ms_dmsw_kid_count(p, params);
    bool has_labels = ms_dmsw_kid_count(p, labels) > 0;
    ms_dmsw_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t param = ms_dmsw_kid(p, params, i);
        if (i > 0 && types)
            ms_dmsw_lit(p, ", ");
        if (has_labels) {
            ms_dmsw_print_label(p, ms_dmsw_kid(p, labels, i));
            if (types)
                ms_dmsw_char(p, ' ');
        } else if (!types) {
            uint32_t name = ms_dmsw_kid_of(p, param, ms_DMSW_TupleElementName);
            if (name)
                ms_dmsw_own(p, name);
            else
                ms_dmsw_char(p, '_');
            ms_dmsw_char(p, ':');
        }
        if (types)
            ms_dmsw_print(p, param);
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_diff(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_word(p, "@differentiable");
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'f': ms_dmsw_word(p, "(_forward)"); break;
    case 'r': ms_dmsw_word(p, "(reverse)"); break;
    case 'l': ms_dmsw_word(p, "(_linear)"); break;
    default: break;
    }
}

/* What stands before the parameters of a function type. */
static void ms_dmsw_print_function_head(ms_dmsw *p, uint32_t ref)
{
    uint32_t clang = ms_dmsw_kid_of(p, ref, ms_DMSW_ClangType);
    ms_dmsw_row_text(p, ref);
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_CFunctionPointer:
    case ms_DMSW_ObjCBlock:
    case ms_DMSW_EscapingObjCBlock:
        if (clang) {
            ms_dmsw_word(p, ", mangledCType: \"");
            ms_dmsw_own(p, clang);
            ms_dmsw_char(p, '"');
        }
        ms_dmsw_word(p, ") ");
        break;
    default: break;
    }
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t i = 0; i + 2 < count; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        unsigned kind = ms_dmsw_kind_of(p, kid);
        if ((ms_dmsw_rows[kind].traits & ms_DMSW_T_ISOLATION) || kind == ms_DMSW_ConcurrentFunctionType ||
            kind == ms_DMSW_DifferentiableFunctionType)
            ms_dmsw_print(p, kid);
    }
}

static void ms_dmsw_print_function(ms_dmsw *p, uint32_t labels, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref), part;
    if (count < 2) {
        p->d->failed = true;
        return;
    }
    if (count > 2 || !(ms_dmsw_rows[ms_dmsw_inner(p, ref)].traits & ms_DMSW_T_FUNCTION))
        ms_dmsw_print_function_head(p, ref);
    ms_dmsw_print_params(p, labels, ms_dmsw_kid(p, ref, count - 2));
    if (ms_dmsw_short(p))
        return;
    if (count > 2) {
        if (ms_dmsw_kid_of(p, ref, ms_DMSW_AsyncAnnotation))
            ms_dmsw_lit(p, " async");
        if ((part = ms_dmsw_kid_of(p, ref, ms_DMSW_ThrowsAnnotation)) != 0 ||
            (part = ms_dmsw_kid_of(p, ref, ms_DMSW_TypedThrowsAnnotation)) != 0)
            ms_dmsw_print(p, part);
    }
    ms_dmsw_lit(p, " -> ");
    if (count > 2 && ms_dmsw_kid_of(p, ref, ms_DMSW_SendingResultFunctionType))
        ms_dmsw_lit(p, "sending ");
    ms_dmsw_print_kid(p, ref, count - 1);
}

enum ms_dmsw_type_style { ms_DMSW_TY_NONE, ms_DMSW_TY_COLON, ms_DMSW_TY_FUNCTION };

typedef struct ms_dmsw_decl { /* How a declaration is to be printed. */
    unsigned type;            /* enum ms_dmsw_type_style */
    bool has_name;            /* the second child is its name */
    bool spaced;              /* extra contains a space: the context follows instead of coming first */
    const char *extra;
    size_t extra_len;
    uint32_t macro; /* 0, or the macro's name, which belongs to extra */
    int64_t index;  /* printed behind extra; -1: none */
    bool subscript; /* the name is the word subscript */
} ms_dmsw_decl;

static void ms_dmsw_print_entity_type(ms_dmsw *p, uint32_t ref, uint32_t type, uint32_t args)
{
    uint32_t labels = ms_dmsw_kid_of(p, ref, ms_DMSW_LabelList);
    if (!labels && !args) {
        ms_dmsw_print(p, type);
        return;
    }
    if (args) {
        ms_dmsw_char(p, '<');
        ms_dmsw_print_commas(p, args);
        ms_dmsw_char(p, '>');
    }
    if (ms_dmsw_inner(p, type) == ms_DMSW_DependentGenericType) {
        if (!args)
            ms_dmsw_print_kid(p, type, 0);
        type = ms_dmsw_kid(p, type, 1);
        if (ms_dmsw_needs_space(p, type))
            ms_dmsw_char(p, ' ');
    }
    ms_dmsw_print_function(p, labels, type);
}

static void ms_dmsw_print_extra(ms_dmsw *p, const ms_dmsw_decl *decl)
{
    ms_dm_put(p->d, decl->extra, decl->extra_len);
    if (decl->macro) {
        ms_dmsw_own(p, decl->macro);
        ms_dmsw_word(p, " expansion #");
    }
    if (decl->index >= 0)
        ms_dmsw_number(p, (uint64_t)decl->index);
}

/* The name of a declaration; false when it prints nothing, as a constructor's labels do. */
static bool ms_dmsw_print_name(ms_dmsw *p, uint32_t ref, const ms_dmsw_decl *decl)
{
    size_t before = p->d->out_len;
    if (decl->subscript) {
        ms_dmsw_word(p, "subscript");
    } else {
        uint32_t name = ms_dmsw_kid(p, ref, 1);
        uint32_t private_name = ms_dmsw_kid_of(p, ref, ms_DMSW_PrivateDeclName);
        if (ms_dmsw_kind_of(p, name) != ms_DMSW_PrivateDeclName)
            ms_dmsw_print(p, name);
        if (private_name)
            ms_dmsw_print(p, private_name);
    }
    return p->d->out_len != before;
}

static void ms_dmsw_print_decl_type(ms_dmsw *p, uint32_t ref, const ms_dmsw_decl *decl, bool spaced,
                                    uint32_t args)
{
    uint32_t type = ms_dmsw_kid_of(p, ref, ms_DMSW_Type);
    unsigned style = decl->type;
    if (!type) {
        p->d->failed = true;
        return;
    }
    if (style == ms_DMSW_TY_FUNCTION) {
        uint32_t t = type;
        while (ms_dmsw_inner(p, t) == ms_DMSW_DependentGenericType)
            t = ms_dmsw_kid(p, t, 1);
        unsigned kind = ms_dmsw_inner(p, t);
        if (!(ms_dmsw_rows[kind].traits & ms_DMSW_T_FUNCTION) && kind != ms_DMSW_CFunctionPointer &&
            kind != ms_DMSW_ThinFunctionType)
            style = ms_DMSW_TY_COLON;
    }
    if (style == ms_DMSW_TY_FUNCTION) {
        if (spaced || ms_dmsw_needs_space(p, type))
            ms_dmsw_char(p, ' ');
    } else if (ms_dmsw_short(p)) {
        return;
    } else {
        ms_dmsw_lit(p, " : ");
    }
    ms_dmsw_print_entity_type(p, ref, type, args);
}

/* A declaration with its context before it ("context.name") or behind it ("name in context"). Returns the
 * context that is left to print: as a prefix of something else, nothing can follow a declaration's name. */
static uint32_t ms_dmsw_print_decl(ms_dmsw *p, uint32_t ref, bool as_prefix, const ms_dmsw_decl *decl)
{
    uint32_t args = 0, left = 0, context;
    if (ms_dmsw_inner(p, ref) == ms_DMSW_BoundGenericFunction) {
        args = ms_dmsw_kid(p, ref, 1);
        ref = ms_dmsw_kid(p, ref, 0);
    }
    bool local = decl->has_name && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, 1)) == ms_DMSW_LocalDeclName;
    bool spaced = decl->spaced || local;
    if (as_prefix && (decl->type != ms_DMSW_TY_NONE || spaced))
        return ref;
    context = ms_dmsw_kid(p, ref, 0);
    if (spaced) {
        left = context;
    } else {
        size_t before = p->d->out_len;
        left = ms_dmsw_print_as(p, context, true);
        if (p->d->out_len != before && !left)
            ms_dmsw_char(p, '.');
    }
    bool extra = decl->extra_len > 0;
    if (decl->has_name || decl->subscript) {
        if (extra && spaced) {
            ms_dmsw_print_extra(p, decl);
            ms_dmsw_lit(p, " of ");
            extra = false;
        }
        if (ms_dmsw_print_name(p, ref, decl) && extra)
            ms_dmsw_char(p, '.');
    }
    if (extra)
        ms_dmsw_print_extra(p, decl);
    if (decl->type != ms_DMSW_TY_NONE)
        ms_dmsw_print_decl_type(p, ref, decl, spaced, args);
    if (as_prefix || !left)
        return left;
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_DefaultArgumentInitializer:
    case ms_DMSW_Initializer:
    case ms_DMSW_PropertyWrapperBackingInitializer:
    case ms_DMSW_PropertyWrapperInitFromProjectedValue:
    case ms_DMSW_PropertyWrappedFieldInitAccessor: ms_dmsw_lit(p, " of "); break;
    default: ms_dmsw_lit(p, " in "); break;
    }
    ms_dmsw_print(p, left);
    return 0;
}

/* The number behind an extra name; Swift's own printer holds it in an int and leaves out a negative one. */
static int64_t ms_dmsw_extra_index(const ms_dmsw *p, uint32_t index, uint64_t add)
{
    uint64_t low = (ms_dmsw_at(p, index)->u.index + add) & 0xffffffffu;
    return low > INT32_MAX ? -1 : (int64_t)low;
}

/* A declaration whose row's text is an extra name behind it, or its only name. */
static uint32_t ms_dmsw_print_part(ms_dmsw *p, uint32_t ref, bool as_prefix, unsigned type, int64_t index)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dmsw_decl decl = {type, false, false, row->text, row->len, 0, index, false};
    for (size_t i = 0; i < row->len; i++)
        decl.spaced = decl.spaced || row->text[i] == ' ';
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* A named declaration. */
static uint32_t ms_dmsw_print_named(ms_dmsw *p, uint32_t ref, bool as_prefix, unsigned type)
{
    ms_dmsw_decl decl = {type, true, false, "", 0, 0, -1, false};
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* An accessor of a variable or subscript. */
static uint32_t ms_dmsw_print_accessor(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    uint32_t storage = ms_dmsw_kid(p, ref, 0);
    unsigned kind = ms_dmsw_kind_of(p, storage);
    if (kind != ms_DMSW_Variable && kind != ms_DMSW_Subscript) {
        p->d->failed = true;
        return 0;
    }
    ms_dmsw_decl decl = {
        ms_DMSW_TY_COLON,         kind == ms_DMSW_Variable, false, row->text, row->len, 0, -1,
        kind == ms_DMSW_Subscript};
    return ms_dmsw_print_decl(p, storage, as_prefix, &decl);
}

static uint32_t ms_dmsw_print_macro(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dmsw_decl decl = {ms_DMSW_TY_NONE, true, true, row->text, row->len, 0, -1, false};
    unsigned kind = ms_dmsw_inner(p, ref);
    bool attached = kind != ms_DMSW_FreestandingMacroExpansion && kind != ms_DMSW_MacroExpansionUniqueName;
    uint32_t index = ms_dmsw_kid_of(p, ref, ms_DMSW_Index);
    if (attached)
        decl.macro = ms_dmsw_kid(p, ref, ms_dmsw_kid(p, ref, 2) == index ? 1 : 2);
    decl.index = ms_dmsw_extra_index(p, index, 1);
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* The standard library's Optional, Array or Dictionary with that many arguments. */
static bool ms_dmsw_is_swift(const ms_dmsw *p, uint32_t type, const char *name, size_t len)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, type);
    if (n->form == ms_DMSW_F_KNOWN)
        return ms_dmsw_text_is(p, type, name, len);
    uint32_t context = ms_dmsw_kid(p, type, 0), id = ms_dmsw_kid(p, type, 1);
    return ms_dmsw_kind_of(p, context) == ms_DMSW_Module && ms_dmsw_text_is(p, context, "Swift", 5) &&
           ms_dmsw_kind_of(p, id) == ms_DMSW_Identifier && ms_dmsw_text_is(p, id, name, len);
}

/* [A], [A : B], A? for the types they stand for. Returns false when it is another type. */
static bool ms_dmsw_print_sugar(ms_dmsw *p, uint32_t ref)
{
    uint32_t type = ms_dmsw_kid(p, ref, 0), args = ms_dmsw_kid(p, ref, 1);
    uint32_t count = ms_dmsw_kid_count(p, args);
    if (count == 0 || count > 2 || (p->style & ms_DMSW_NO_SUGAR) || ms_dmsw_kid_count(p, ref) != 2)
        return false;
    if (ms_dmsw_inner(p, ref) == ms_DMSW_BoundGenericEnum) {
        bool forced = ms_dmsw_is_swift(p, type, "ImplicitlyUnwrappedOptional", 27);
        if (count != 1 || (!forced && !ms_dmsw_is_swift(p, type, "Optional", 8)))
            return false;
        ms_dmsw_print_in_parens(p, ms_dmsw_kid(p, args, 0));
        ms_dmsw_char(p, forced ? '!' : '?');
        return true;
    }
    if (!(count == 1 && ms_dmsw_is_swift(p, type, "Array", 5)) &&
        !(count == 2 && ms_dmsw_is_swift(p, type, "Dictionary", 10)))
        return false;
    ms_dmsw_char(p, '[');
    ms_dmsw_print_kids(p, args, " : ", 3);
    ms_dmsw_char(p, ']');
    return true;
}

static void ms_dmsw_print_bound(ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    if (kind == ms_DMSW_BoundGenericProtocol) {
        ms_dmsw_print_kids(p, ms_dmsw_kid(p, ref, 1), "", 0);
        ms_dmsw_word(p, " as ");
        ms_dmsw_print_kid(p, ref, 0);
        return;
    }
    if ((kind == ms_DMSW_BoundGenericEnum || kind == ms_DMSW_BoundGenericStructure) &&
        ms_dmsw_print_sugar(p, ref))
        return;
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_char(p, '<');
    ms_dmsw_print_commas(p, ms_dmsw_kid(p, ref, 1));
    ms_dmsw_char(p, '>');
}

/* A, B, ... AB; deeper levels carry their number: A1 */
static void ms_dmsw_print_param_name(ms_dmsw *p, uint64_t depth, uint64_t index)
{
    do {
        ms_dmsw_char(p, (char)('A' + index % 26));
        index /= 26;
    } while (index);
    if (depth)
        ms_dmsw_number(p, depth);
}

/* Whether a generic parameter has a marker of that kind. Swift's own printer compares a marker's depth with
 * the parameter's place and its place with the depth, so that only some markers show; the same here. */
static bool ms_dmsw_has_marker(ms_dmsw *p, uint32_t ref, unsigned kind, uint64_t depth, uint64_t index)
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

static void ms_dmsw_print_signature_level(ms_dmsw *p, uint32_t ref, uint64_t depth, uint64_t count,
                                          bool markers)
{
    for (uint64_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dmsw_word(p, ", ");
        if (i >= 128) { /* as far as Swift's own printer goes */
            ms_dmsw_word(p, "...");
            break;
        }
        if (markers && ms_dmsw_has_marker(p, ref, ms_DMSW_DependentGenericParamPackMarker, depth, i))
            ms_dmsw_word(p, "each ");
        if (markers && ms_dmsw_has_marker(p, ref, ms_DMSW_DependentGenericParamValueMarker, depth, i))
            ms_dmsw_word(p, "let ");
        ms_dmsw_print_param_name(p, depth, i);
    }
}

static void ms_dmsw_print_signature(ms_dmsw *p, uint32_t ref)
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
    ms_dmsw_char(p, '<');
    for (; i < levels && !p->d->failed; i++) {
        if (i > 0)
            ms_dmsw_word(p, "><");
        ms_dmsw_print_signature_level(p, ref, i, ms_dmsw_at(p, ms_dmsw_kid(p, ref, i))->u.index,
                                      first > levels);
    }
    if (first < count && !ms_dmsw_short(p)) {
        ms_dmsw_word(p, " where ");
        for (i = first; i < count && !p->d->failed; i++) {
            if (i > first)
                ms_dmsw_word(p, ", ");
            ms_dmsw_print_kid(p, ref, i);
        }
    }
    ms_dmsw_char(p, '>');
}

static void ms_dmsw_print_layout(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, ": ");
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'U': ms_dmsw_word(p, "_UnknownLayout"); break;
    case 'R': ms_dmsw_word(p, "_RefCountedObject"); break;
    case 'N': ms_dmsw_word(p, "_NativeRefCountedObject"); break;
    case 'C': ms_dmsw_word(p, "AnyObject"); break;
    case 'D': ms_dmsw_word(p, "_NativeClass"); break;
    case 'B':
    case 'S': break; /* Swift's own printer has no words for these two */
    case 'M':
    case 'm': ms_dmsw_word(p, "_TrivialAtMost"); break;
    default: ms_dmsw_word(p, "_Trivial"); break;
    }
    if (ms_dmsw_kid_count(p, ref) < 2)
        return;
    ms_dmsw_char(p, '(');
    ms_dmsw_print_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ref) > 2) {
        ms_dmsw_word(p, ", ");
        ms_dmsw_print_kid(p, ref, 2);
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_inverse(ms_dmsw *p, uint32_t ref)
{
    uint64_t bit = ms_dmsw_at(p, ms_dmsw_kid(p, ref, 1))->u.index;
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_row_text(p, ref);
    if (bit == 0) {
        ms_dmsw_word(p, "Copyable");
    } else if (bit == 1) {
        ms_dmsw_word(p, "Escapable");
    } else {
        ms_dmsw_word(p, "<bit ");
        ms_dmsw_number(p, bit);
        ms_dmsw_char(p, '>');
    }
}

/* ---- printing implementation function types ---- */

static void ms_dmsw_print_impl_part(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    unsigned word = n->mark & ms_DMSW_M_WORD;
    bool is_param = n->kind == ms_DMSW_ImplParameter || n->kind == ms_DMSW_ImplYield;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_word(p, is_param ? ms_dmsw_param_words[word] : ms_dmsw_result_words[word]);
    ms_dmsw_char(p, ' ');
    unsigned others = n->mark & (ms_DMSW_M_SENDING | ms_DMSW_M_ISOLATED | ms_DMSW_M_IMPLICIT);
    if ((others & (others - 1)) == 0) { /* Swift's own printer shows none of several */
        if (n->mark & ms_DMSW_M_NO_DERIVATIVE)
            ms_dmsw_word(p, "@noDerivative ");
        if (others == ms_DMSW_M_SENDING)
            ms_dmsw_word(p, "sending ");
        else if (others == ms_DMSW_M_ISOLATED)
            ms_dmsw_word(p, "isolated ");
        else if (others == ms_DMSW_M_IMPLICIT)
            ms_dmsw_word(p, "sil_implicit_leading_param ");
    }
    ms_dmsw_print_kid(p, ref, 0);
}

/* The attributes before the parameters. */
static void ms_dmsw_print_impl_head(ms_dmsw *p, uint32_t ref, uint32_t pattern)
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
            ms_dmsw_print(p, kid);
            ms_dmsw_char(p, ' ');
            break;
        }
    }
    if (pattern) {
        ms_dmsw_word(p, "@substituted ");
        ms_dmsw_print_kid(p, pattern, 0);
        ms_dmsw_char(p, ' ');
    }
}

/* The parameters (or, with want false, the results) in parentheses. */
static void ms_dmsw_print_impl_list(ms_dmsw *p, uint32_t ref, bool want_params)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    bool any = false;
    ms_dmsw_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        unsigned kind = ms_dmsw_kind_of(p, kid);
        bool is_param = kind == ms_DMSW_ImplParameter;
        if (is_param != want_params || (!is_param && kind != ms_DMSW_ImplResult &&
                                        kind != ms_DMSW_ImplYield && kind != ms_DMSW_ImplErrorResult))
            continue;
        if (any)
            ms_dmsw_word(p, ", ");
        any = true;
        ms_dmsw_print(p, kid);
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_impl_convention(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
    if (ms_dmsw_kid_count(p, ref) > 1) {
        ms_dmsw_word(p, ", mangledCType: \"");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 1));
        ms_dmsw_char(p, '"');
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_impl_function(ms_dmsw *p, uint32_t ref)
{
    uint32_t pattern = ms_dmsw_kid_of(p, ref, ms_DMSW_ImplPatternSubstitutions);
    uint32_t invocation = ms_dmsw_kid_of(p, ref, ms_DMSW_ImplInvocationSubstitutions);
    ms_dmsw_print_impl_head(p, ref, pattern);
    ms_dmsw_print_impl_list(p, ref, true);
    ms_dmsw_lit(p, " -> ");
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_ImplSendingResult))
        ms_dmsw_lit(p, "sending ");
    ms_dmsw_print_impl_list(p, ref, false);
    if (pattern) {
        ms_dmsw_lit(p, " for <");
        ms_dmsw_print_commas(p, ms_dmsw_kid(p, pattern, 1));
        ms_dmsw_char(p, '>');
    }
    if (invocation) {
        ms_dmsw_lit(p, " for <");
        ms_dmsw_print_commas(p, ms_dmsw_kid(p, invocation, 0));
        ms_dmsw_char(p, '>');
    }
}

/* ---- printing specializations ---- */

static void ms_dmsw_print_spec_options(ms_dmsw *p, uint64_t what)
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
            ms_dmsw_word(p, " and ");
        any = true;
        ms_dmsw_word(p, words[i]);
    }
}

static void ms_dmsw_print_spec_kind(ms_dmsw *p, uint32_t ref)
{
    uint64_t what = ms_dmsw_at(p, ref)->u.index;
    switch (what) {
    case ms_DMSW_P_FUNCTION: ms_dmsw_word(p, "Constant Propagated Function"); break;
    case ms_DMSW_P_GLOBAL: ms_dmsw_word(p, "Constant Propagated Global"); break;
    case ms_DMSW_P_INTEGER: ms_dmsw_word(p, "Constant Propagated Integer"); break;
    case ms_DMSW_P_FLOAT: ms_dmsw_word(p, "Constant Propagated Float"); break;
    case ms_DMSW_P_STRING: ms_dmsw_word(p, "Constant Propagated String"); break;
    case ms_DMSW_P_KEYPATH: ms_dmsw_word(p, "Constant Propagated KeyPath"); break;
    case ms_DMSW_P_STRUCT: ms_dmsw_word(p, "Constant Propagated Struct"); break;
    case ms_DMSW_P_CLOSURE: ms_dmsw_word(p, "Closure Propagated"); break;
    case ms_DMSW_P_ESCAPING_CLOSURE: ms_dmsw_word(p, "Escaping Closure Propagated"); break;
    case ms_DMSW_P_SAME_CLOSURE: ms_dmsw_word(p, "Same As Argument "); break;
    case ms_DMSW_P_BOX_TO_VALUE: ms_dmsw_word(p, "Value Promoted from Box"); break;
    case ms_DMSW_P_BOX_TO_STACK: ms_dmsw_word(p, "Stack Promoted from Box"); break;
    case ms_DMSW_P_INOUT_TO_OUT: ms_dmsw_word(p, "InOut Converted to Out"); break;
    default: ms_dmsw_print_spec_options(p, what); break;
    }
}

/* The closure's name and the types it closes over. */
static void ms_dmsw_print_spec_closure(ms_dmsw *p, uint32_t param)
{
    uint32_t count = ms_dmsw_kid_count(p, param);
    ms_dmsw_print_kid(p, param, 1);
    ms_dmsw_word(p, ", Argument Types : [");
    for (uint32_t i = 2; i < count && !p->d->failed; i++) {
        if (i > 2)
            ms_dmsw_word(p, ", ");
        ms_dmsw_print_kid(p, param, i);
    }
}

static void ms_dmsw_print_spec_const(ms_dmsw *p, uint32_t param)
{
    uint32_t kind = ms_dmsw_kid(p, param, 0), count = ms_dmsw_kid_count(p, param);
    uint64_t what = ms_dmsw_at(p, kind)->u.index;
    if (what > ms_DMSW_P_SAME_CLOSURE) {
        ms_dmsw_print(p, kind);
        return;
    }
    if (count < 2) /* a result has no operands */
        return;
    ms_dmsw_char(p, '[');
    ms_dmsw_print(p, kind);
    if (what != ms_DMSW_P_SAME_CLOSURE)
        ms_dmsw_word(p, " : ");
    switch (what) {
    case ms_DMSW_P_FUNCTION:
    case ms_DMSW_P_GLOBAL:
        if (!ms_dmsw_nested(p, ms_dmsw_kid(p, param, 1)))
            ms_dmsw_own(p, ms_dmsw_kid(p, param, 1));
        break;
    case ms_DMSW_P_STRING:
        ms_dmsw_print_kid(p, param, 1);
        ms_dmsw_char(p, '\'');
        ms_dmsw_print_kid(p, param, 2);
        ms_dmsw_char(p, '\'');
        break;
    case ms_DMSW_P_KEYPATH:
        ms_dmsw_print_kid(p, param, 1);
        ms_dmsw_char(p, '<');
        ms_dmsw_print_kid(p, param, 2);
        ms_dmsw_char(p, ',');
        ms_dmsw_print_kid(p, param, 3);
        ms_dmsw_char(p, '>');
        break;
    case ms_DMSW_P_CLOSURE:
    case ms_DMSW_P_ESCAPING_CLOSURE: ms_dmsw_print_spec_closure(p, param); break;
    default: ms_dmsw_print_kid(p, param, 1); break;
    }
    ms_dmsw_char(p, ']');
}

static void ms_dmsw_print_spec_param(ms_dmsw *p, uint32_t param)
{
    uint32_t count = ms_dmsw_kid_count(p, param);
    if (ms_dmsw_kind_of(p, ms_dmsw_kid(p, param, 0)) != ms_DMSW_FunctionSignatureSpecializationParam) {
        ms_dmsw_print_spec_const(p, param);
        return;
    }
    for (uint32_t i = 0; i < count && !p->d->failed; i++)
        ms_dmsw_print_spec_const(p, ms_dmsw_kid(p, param, i));
}

/* One part between the angle brackets; false when it prints nothing. */
static bool ms_dmsw_print_spec_part(ms_dmsw *p, uint32_t ref, uint32_t kid, uint32_t arg, bool first)
{
    unsigned kind = ms_dmsw_kind_of(p, kid);
    if (kind != ms_DMSW_IsSerialized && ms_dmsw_kid_count(p, kid) == 0)
        return false;
    if (!first)
        ms_dmsw_word(p, ", ");
    if (kind == ms_DMSW_IsSerialized) {
        ms_dmsw_print(p, kid);
        return true;
    }
    unsigned outer = ms_dmsw_inner(p, ref);
    if (outer == ms_DMSW_GenericPartialSpecialization ||
        outer == ms_DMSW_GenericPartialSpecializationNotReAbstracted)
        ms_dmsw_word(p, "Signature = ");
    if (kind == ms_DMSW_FunctionSignatureSpecializationParam) {
        ms_dmsw_word(p, "Arg[");
        ms_dmsw_number(p, arg);
        ms_dmsw_word(p, "] = ");
        ms_dmsw_print_spec_param(p, kid);
    } else if (kind == ms_DMSW_FunctionSignatureSpecializationReturn) {
        ms_dmsw_word(p, "Return = ");
        ms_dmsw_print_spec_param(p, kid);
    } else {
        ms_dmsw_print(p, kid);
    }
    return true;
}

static void ms_dmsw_print_specialization(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_short(p)) {
        if (!p->specialized)
            ms_dmsw_word(p, "specialized ");
        p->specialized = true;
        return;
    }
    uint32_t count = ms_dmsw_kid_count(p, ref), arg = 0;
    bool first = true;
    if (ms_dmsw_at(p, ref)->mark && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, 0)) != ms_DMSW_IsSerialized) {
        ms_dmsw_word(p, "representation changed of ");
        return;
    }
    ms_dmsw_row_text(p, ref);
    ms_dmsw_word(p, " <");
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmsw_print_spec_part(p, ref, kid, arg, first))
            first = false;
        arg += ms_dmsw_kind_of(p, kid) != ms_DMSW_IsSerialized;
    }
    ms_dmsw_word(p, "> of ");
}

static void ms_dmsw_print_spec_generic(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmsw_print_kid(p, ref, 0);
    for (uint32_t i = 1; i < count && !p->d->failed; i++) {
        if (i == 1)
            ms_dmsw_word(p, " with ");
        else
            ms_dmsw_word(p, " and ");
        ms_dmsw_print_kid(p, ref, i);
    }
}

/* ---- printing thunks ---- */

static void ms_dmsw_print_reabstraction(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    uint32_t signature = ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature);
    bool self = ms_dmsw_inner(p, ref) == ms_DMSW_ReabstractionThunkHelperWithSelf;
    if (ms_dmsw_short(p) && !self) {
        ms_dmsw_word(p, "thunk for ");
        ms_dmsw_print_kid(p, ref, count - 1);
        return;
    }
    ms_dmsw_row_text(p, ref);
    if (signature) {
        ms_dmsw_print(p, signature);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_word(p, "from ");
    ms_dmsw_print_kid(p, ref, count - 1);
    ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, count - 2);
    if (self) {
        ms_dmsw_word(p, " self ");
        ms_dmsw_print_kid(p, ref, count - 3);
    }
}

static void ms_dmsw_print_completion(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_row_text(p, ref);
    if (ms_dmsw_kid_count(p, ref) > 3)
        ms_dmsw_print_kid(p, ref, 3);
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " with result type ");
    ms_dmsw_print_kid(p, ref, 1);
    switch (ms_dmsw_at(p, ms_dmsw_kid(p, ref, 2))->u.index) {
    case 0: break;
    case 1: ms_dmsw_word(p, " nonzero on error"); break;
    case 2: ms_dmsw_word(p, " zero on error"); break;
    default: ms_dmsw_word(p, " <invalid error flag>"); break;
    }
}

static void ms_dmsw_print_keypath_accessor(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " : ");
    for (uint32_t i = 1; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmsw_kind_of(p, kid) == ms_DMSW_IsSerialized)
            ms_dmsw_word(p, ", ");
        ms_dmsw_print(p, kid);
    }
}

static void ms_dmsw_print_keypath_helper(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    bool first = true;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print(p, ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature));
    ms_dmsw_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (!(kid & ms_DMSW_AS_TYPE))
            continue;
        if (!first)
            ms_dmsw_word(p, ", ");
        first = false;
        ms_dmsw_print(p, kid);
    }
    ms_dmsw_char(p, ')');
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_IsSerialized))
        ms_dmsw_word(p, ", serialized");
}

static void ms_dmsw_print_diff_kind(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'f': ms_dmsw_word(p, "forward-mode derivative"); break;
    case 'r': ms_dmsw_word(p, "reverse-mode derivative"); break;
    case 'd': ms_dmsw_word(p, "differential"); break;
    default: ms_dmsw_word(p, "pullback"); break;
    }
}

static void ms_dmsw_print_index_subset(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    bool first = true;
    ms_dmsw_char(p, '{');
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->u.text[i] != 'S')
            continue;
        if (!first)
            ms_dmsw_word(p, ", ");
        first = false;
        ms_dmsw_number(p, i);
    }
    ms_dmsw_char(p, '}');
}

/* The place of the kind letter's node among the children. */
static uint32_t ms_dmsw_diff_at(const ms_dmsw *p, uint32_t ref)
{
    uint32_t i = 0, count = ms_dmsw_kid_count(p, ref);
    while (i < count && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, i)) != ms_DMSW_AutoDiffFunctionKind)
        i++;
    return i;
}

static void ms_dmsw_print_respect(ms_dmsw *p, uint32_t ref, uint32_t at)
{
    ms_dmsw_word(p, " with respect to parameters ");
    ms_dmsw_print_kid(p, ref, at + 1);
    ms_dmsw_word(p, " and results ");
    ms_dmsw_print_kid(p, ref, at + 2);
}

static void ms_dmsw_print_autodiff(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref), end = at;
    uint32_t signature = end > 0 ? ms_dmsw_kid(p, ref, end - 1) : 0;
    if (ms_dmsw_kind_of(p, signature) == ms_DMSW_DependentGenericSignature)
        end--;
    else
        signature = 0;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, at);
    ms_dmsw_word(p, " of ");
    for (uint32_t i = 0; i < end && !p->d->failed; i++)
        ms_dmsw_print_kid(p, ref, i);
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_print_respect(p, ref, at);
    if (signature) {
        ms_dmsw_word(p, " with ");
        ms_dmsw_print(p, signature);
    }
}

static void ms_dmsw_print_diff_witness(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref);
    switch (ms_dmsw_at(p, ms_dmsw_kid(p, ref, at))->mark) {
    case 'f': ms_dmsw_word(p, "forward-mode"); break;
    case 'r': ms_dmsw_word(p, "reverse-mode"); break;
    case 'l': ms_dmsw_word(p, "linear"); break;
    default: ms_dmsw_word(p, "normal"); break;
    }
    ms_dmsw_word(p, " differentiability witness for ");
    for (uint32_t i = 0; i < at && !p->d->failed; i++)
        ms_dmsw_print_kid(p, ref, i);
    ms_dmsw_print_respect(p, ref, at);
    if (ms_dmsw_kid(p, ref, at + 3)) {
        ms_dmsw_word(p, " with ");
        ms_dmsw_print_kid(p, ref, at + 3);
    }
}

static void ms_dmsw_print_subset_thunk(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref), from = at > 1 ? at - 1 : at;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, at);
    ms_dmsw_word(p, " from ");
    for (uint32_t i = 0; i < from && !p->d->failed; i++)
        ms_dmsw_print_kid(p, ref, i);
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_print_respect(p, ref, at);
    ms_dmsw_word(p, " to parameters ");
    ms_dmsw_print_kid(p, ref, at + 3);
    if (from < at) {
        ms_dmsw_word(p, " of type ");
        ms_dmsw_print_kid(p, ref, from);
    }
}

static void ms_dmsw_print_self_reordering(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref);
    uint32_t signature = ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature);
    ms_dmsw_row_text(p, ref);
    if (signature && !ms_dmsw_short(p)) {
        ms_dmsw_print(p, signature);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_word(p, "for ");
    if (ms_dmsw_short(p)) {
        ms_dmsw_print_kid(p, ref, 0);
        return;
    }
    ms_dmsw_print_kid(p, ref, at);
    ms_dmsw_word(p, " from ");
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, 1);
}

/* ---- printing names and the rest ---- */

static void ms_dmsw_print_private(ms_dmsw *p, uint32_t ref)
{
    bool shown = !ms_dmsw_short(p), named = ms_dmsw_kid_count(p, ref) > 1;
    if (shown && named)
        ms_dmsw_char(p, '(');
    if (named)
        ms_dmsw_print_kid(p, ref, 1);
    if (!shown)
        return;
    if (named)
        ms_dmsw_word(p, " in ");
    else
        ms_dmsw_word(p, "(in ");
    ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_quoted(ms_dmsw *p, uint32_t ref)
{
    static const char hex[] = "0123456789ABCDEF";
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    ms_dmsw_word(p, " with unmangled suffix \"");
    for (uint32_t i = 0; i < n->count && !p->d->failed; i++) {
        char c = n->u.text[i];
        switch (c) {
        case '\\': ms_dmsw_word(p, "\\\\"); break;
        case '\t': ms_dmsw_word(p, "\\t"); break;
        case '\n': ms_dmsw_word(p, "\\n"); break;
        case '\r': ms_dmsw_word(p, "\\r"); break;
        case '"': ms_dmsw_word(p, "\\\""); break;
        case '\'': ms_dmsw_word(p, "\\'"); break;
        case '\0': ms_dmsw_word(p, "\\0"); break;
        default:
            if ((unsigned char)c >= 0x20 && (unsigned char)c < 0x7f) {
                ms_dmsw_char(p, c);
            } else {
                ms_dmsw_word(p, "\\x");
                ms_dmsw_char(p, hex[(unsigned char)c >> 4]);
                ms_dmsw_char(p, hex[(unsigned char)c & 15]);
            }
            break;
        }
    }
    ms_dmsw_char(p, '"');
}

static void ms_dmsw_print_extension(ms_dmsw *p, uint32_t ref)
{
    if (!ms_dmsw_short(p)) {
        ms_dmsw_lit(p, "(extension in ");
        (void)ms_dmsw_print_as(p, ms_dmsw_kid(p, ref, 0), true);
        ms_dmsw_lit(p, "):");
    }
    ms_dmsw_print_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ref) > 2)
        ms_dmsw_print_kid(p, ref, 2);
}

static void ms_dmsw_print_anonymous(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_print_kid(p, ref, 1);
    ms_dmsw_word(p, ".(unknown context at ");
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_char(p, ')');
    if (ms_dmsw_kid_count(p, ms_dmsw_kid(p, ref, 2)) > 0) {
        ms_dmsw_char(p, '<');
        ms_dmsw_print_kid(p, ref, 2);
        ms_dmsw_char(p, '>');
    }
}

static void ms_dmsw_print_tuple_element(ms_dmsw *p, uint32_t ref)
{
    uint32_t name = ms_dmsw_kid_of(p, ref, ms_DMSW_TupleElementName);
    if (name) {
        ms_dmsw_own(p, name);
        ms_dmsw_lit(p, ": ");
    }
    ms_dmsw_print(p, ms_dmsw_kid_of(p, ref, ms_DMSW_Type));
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_VariadicMarker))
        ms_dmsw_lit(p, "...");
}

static void ms_dmsw_print_metatype(ms_dmsw *p, uint32_t ref)
{
    uint32_t last = ms_dmsw_kid_count(p, ref) - 1, type = ms_dmsw_kid(p, ref, last);
    if (last > 0) {
        ms_dmsw_print_kid(p, ref, 0);
        ms_dmsw_char(p, ' ');
    }
    if (ms_dmsw_inner(p, ref) == ms_DMSW_ExistentialMetatype) {
        ms_dmsw_print(p, type);
        ms_dmsw_word(p, ".Type");
        return;
    }
    ms_dmsw_print_in_parens(p, type);
    if (ms_dmsw_rows[ms_dmsw_inner(p, type)].traits & ms_DMSW_T_EXISTENTIAL)
        ms_dmsw_word(p, ".Protocol");
    else
        ms_dmsw_word(p, ".Type");
}

static void ms_dmsw_print_protocols(ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    uint32_t list = ms_dmsw_kid(p, kind == ms_DMSW_ProtocolList ? ref : ms_dmsw_kid(p, ref, 0), 0);
    uint32_t count = ms_dmsw_kid_count(p, list);
    if (kind == ms_DMSW_ProtocolListWithClass) {
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_word(p, " & ");
    }
    ms_dmsw_print_kids(p, list, " & ", 3);
    if (kind == ms_DMSW_ProtocolListWithAnyObject) {
        if (count > 0)
            ms_dmsw_word(p, " & ");
        ms_dmsw_word(p, "Swift.AnyObject");
    } else if (count == 0 && kind == ms_DMSW_ProtocolList) {
        ms_dmsw_word(p, "Any");
    }
}

static void ms_dmsw_print_sil_layout(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmsw_char(p, '{');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dmsw_char(p, ',');
        ms_dmsw_char(p, ' ');
        ms_dmsw_print_kid(p, ref, i);
    }
    ms_dmsw_word(p, " }");
}

static void ms_dmsw_print_sil_box(ms_dmsw *p, uint32_t ref)
{
    bool generic = ms_dmsw_kid_count(p, ref) > 2;
    if (generic) {
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_print_kid(p, ref, 0);
    if (generic) {
        ms_dmsw_word(p, " <");
        ms_dmsw_print_commas(p, ms_dmsw_kid(p, ref, 2));
        ms_dmsw_char(p, '>');
    }
}

static void ms_dmsw_print_conformance(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_kid_count(p, ref) == 4) {
        ms_dmsw_lit(p, "property behavior storage of ");
        ms_dmsw_print_kid(p, ref, 2);
        ms_dmsw_lit(p, " in ");
        ms_dmsw_print_kid(p, ref, 0);
        ms_dmsw_lit(p, " : ");
        ms_dmsw_print_kid(p, ref, 1);
        return;
    }
    ms_dmsw_print_kid(p, ref, 0);
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_lit(p, " : ");
    ms_dmsw_print_kid(p, ref, 1);
    ms_dmsw_lit(p, " in ");
    ms_dmsw_print_kid(p, ref, 2);
}

/* The row's text, a known index, two children with a word between them. */
static void ms_dmsw_print_dependent_conformance(ms_dmsw *p, uint32_t ref)
{
    uint32_t index = ms_dmsw_kid(p, ref, 2);
    bool opaque = ms_dmsw_inner(p, ref) == ms_DMSW_DependentProtocolConformanceOpaque;
    ms_dmsw_row_text(p, ref);
    if (index && ms_dmsw_kind_of(p, index) == ms_DMSW_Index) {
        ms_dmsw_char(p, '#');
        ms_dmsw_print(p, index);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_print_kid(p, ref, 0);
    if (opaque)
        ms_dmsw_word(p, " of ");
    else
        ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, 1);
}

static void ms_dmsw_print_concrete_conformance(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ms_dmsw_kid(p, ref, 2)) > 0) {
        ms_dmsw_word(p, " with conditional requirements: ");
        ms_dmsw_print_kid(p, ref, 2);
    }
}

/* The row's text and two or three children in an order of their own with texts between them. */
static void ms_dmsw_print_woven(ms_dmsw *p, uint32_t ref, uint32_t a, const char *ab, uint32_t b,
                                const char *bc, uint32_t c)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, a);
    ms_dmsw_word(p, ab);
    ms_dmsw_print_kid(p, ref, b);
    if (!bc)
        return;
    ms_dmsw_word(p, bc);
    ms_dmsw_print_kid(p, ref, c);
}

static void ms_dmsw_print_value_witness(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_word(p, ms_dmsw_vw_words[ms_dmsw_at(p, ref)->mark]);
    if (ms_dmsw_short(p))
        ms_dmsw_word(p, " for ");
    else
        ms_dmsw_word(p, " value witness for ");
    ms_dmsw_print_kid(p, ref, 0);
}

static void ms_dmsw_print_once(ms_dmsw *p, uint32_t ref)
{
    uint32_t list = ms_dmsw_kid(p, ref, 1);
    bool several = ms_dmsw_kid_count(p, list) > 1;
    ms_dmsw_row_text(p, ref);
    if (several)
        ms_dmsw_char(p, '(');
    ms_dmsw_print_commas(p, list);
    if (several)
        ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_partial_apply(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_short(p))
        ms_dmsw_word(p, "partial apply");
    else
        ms_dmsw_row_text(p, ref);
    if (ms_dmsw_kid_count(p, ref) > 0) {
        ms_dmsw_word(p, " for ");
        ms_dmsw_print_kids(p, ref, "", 0);
    }
}

static void ms_dmsw_print_type_mangling(ms_dmsw *p, uint32_t ref)
{
    uint32_t first = ms_dmsw_kid(p, ref, 0);
    if (ms_dmsw_kind_of(p, first) != ms_DMSW_LabelList) {
        ms_dmsw_print(p, first);
        return;
    }
    uint32_t type = ms_dmsw_kid(p, ref, 1);
    if (ms_dmsw_params_of(p, type))
        ms_dmsw_print_entity_type(p, ref, type, 0);
    else
        ms_dmsw_print(p, type);
}

/* The text of the row and the children in brackets that close with `close`. */
static void ms_dmsw_print_list(ms_dmsw *p, uint32_t ref, const char *sep, size_t len, char close)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kids(p, ref, sep, len);
    ms_dmsw_char(p, close);
}

/* A function, a part of one, or a storage declaration. Returns the context that is left to print. */
static uint32_t ms_dmsw_print_callable(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    bool is_class = ms_dmsw_inner(p, ms_dmsw_kid(p, ref, 0)) == ms_DMSW_Class;
    unsigned kind = ms_dmsw_inner(p, ref);
    ms_dmsw_decl decl = {ms_DMSW_TY_FUNCTION, false, false, "", 0, 0, -1, false};
    switch (kind) {
    case ms_DMSW_Variable: return ms_dmsw_print_named(p, ref, as_prefix, ms_DMSW_TY_COLON);
    case ms_DMSW_Macro:
        return ms_dmsw_print_named(p, ref, as_prefix,
                                   ms_dmsw_kid_count(p, ref) == 3 ? ms_DMSW_TY_COLON : ms_DMSW_TY_FUNCTION);
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
        decl.type = ms_DMSW_TY_NONE;
        decl.extra = is_class ? ms_dmsw_rows[kind].text : "deinit";
        decl.extra_len = is_class ? ms_dmsw_rows[kind].len : 6;
        break;
    default: decl.has_name = true; break;
    }
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* Types and their parts. */
static void ms_dmsw_print_type(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    switch (n->kind) {
    case ms_DMSW_BuiltinFixedArray:
    case ms_DMSW_BuiltinBorrow: ms_dmsw_print_list(p, ref, ", ", 2, '>'); break;
    case ms_DMSW_ArgumentTuple: ms_dmsw_print_params(p, 0, ref); break;
    case ms_DMSW_TypedThrowsAnnotation:
    case ms_DMSW_Tuple:
    case ms_DMSW_SugaredParen: ms_dmsw_print_list(p, ref, ", ", 2, ')'); break;
    case ms_DMSW_GlobalActorFunctionType: ms_dmsw_print_list(p, ref, "", 0, ' '); break;
    case ms_DMSW_DifferentiableFunctionType:
        ms_dmsw_print_diff(p, ref);
        ms_dmsw_char(p, ' ');
        break;
    case ms_DMSW_ImplDifferentiabilityKind: ms_dmsw_print_diff(p, ref); break;
    case ms_DMSW_TupleElement: ms_dmsw_print_tuple_element(p, ref); break;
    case ms_DMSW_Pack:
    case ms_DMSW_SILPackDirect:
    case ms_DMSW_SILPackIndirect: ms_dmsw_print_list(p, ref, ", ", 2, '}'); break;
    case ms_DMSW_PackElement:
        ms_dmsw_row_text(p, ref);
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_word(p, " */ each ");
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_SILBoxTypeWithLayout: ms_dmsw_print_sil_box(p, ref); break;
    case ms_DMSW_SILBoxLayout: ms_dmsw_print_sil_layout(p, ref); break;
    case ms_DMSW_Metatype:
    case ms_DMSW_ExistentialMetatype: ms_dmsw_print_metatype(p, ref); break;
    case ms_DMSW_ConstrainedExistential:
        ms_dmsw_print_woven(p, ref, 0, "<", 1, NULL, 0);
        ms_dmsw_char(p, '>');
        break;
    case ms_DMSW_ConstrainedExistentialRequirementList: ms_dmsw_print_commas(p, ref); break;
    case ms_DMSW_ExtendedExistentialTypeShape:
        ms_dmsw_row_text(p, ref);
        if (n->count > 1) {
            ms_dmsw_print_kid(p, ref, 0);
            ms_dmsw_char(p, ' ');
        }
        ms_dmsw_word(p, "any ");
        ms_dmsw_print_kid(p, ref, n->count - 1);
        break;
    case ms_DMSW_ProtocolList:
    case ms_DMSW_ProtocolListWithClass:
    case ms_DMSW_ProtocolListWithAnyObject: ms_dmsw_print_protocols(p, ref); break;
    case ms_DMSW_AssociatedTypeRef:
    case ms_DMSW_DependentMemberType:
    case ms_DMSW_AssocTypePath: ms_dmsw_print_kids(p, ref, ".", 1); break;
    case ms_DMSW_OpaqueType: ms_dmsw_print_woven(p, ref, 0, ".", 1, NULL, 0); break;
    case ms_DMSW_OpaqueReturnTypeOf:
        ms_dmsw_print_list(p, ref, "", 0, '>');
        ms_dmsw_char(p, '>');
        break;
    case ms_DMSW_DependentGenericParamType:
        ms_dmsw_print_param_name(p, n->u.index >> 32, n->u.index & 0xffffffffu);
        break;
    case ms_DMSW_DependentGenericType:
        ms_dmsw_print_kid(p, ref, 0);
        if (ms_dmsw_needs_space(p, ms_dmsw_kid(p, ref, 1)))
            ms_dmsw_char(p, ' ');
        ms_dmsw_print_kid(p, ref, 1);
        break;
    case ms_DMSW_DependentAssociatedTypeRef:
        if (n->count > 1) {
            ms_dmsw_print_kid(p, ref, 1);
            ms_dmsw_char(p, '.');
        }
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_NegativeInteger:
        ms_dmsw_char(p, '-');
        ms_dmsw_number(p, n->u.index);
        break;
    case ms_DMSW_SugaredOptional:
        ms_dmsw_print_in_parens(p, ms_dmsw_kid(p, ref, 0));
        ms_dmsw_char(p, '?');
        break;
    case ms_DMSW_SugaredArray: ms_dmsw_print_list(p, ref, "", 0, ']'); break;
    case ms_DMSW_SugaredDictionary: ms_dmsw_print_list(p, ref, " : ", 3, ']'); break;
    case ms_DMSW_SugaredInlineArray: ms_dmsw_print_list(p, ref, " of ", 4, ']'); break;
    case ms_DMSW_DependentGenericConformanceRequirement: ms_dmsw_print_kids(p, ref, ": ", 2); break;
    case ms_DMSW_DependentGenericSameTypeRequirement: ms_dmsw_print_kids(p, ref, " == ", 4); break;
    case ms_DMSW_DependentGenericSameShapeRequirement:
        ms_dmsw_print_kids(p, ref, ".shape == ", 10);
        ms_dmsw_word(p, ".shape");
        break;
    case ms_DMSW_DependentGenericInverseConformanceRequirement: ms_dmsw_print_inverse(p, ref); break;
    case ms_DMSW_DependentGenericLayoutRequirement: ms_dmsw_print_layout(p, ref); break;
    case ms_DMSW_DependentGenericSignature:
    case ms_DMSW_DependentPseudogenericSignature: ms_dmsw_print_signature(p, ref); break;
    case ms_DMSW_FunctionType:
    case ms_DMSW_NoEscapeFunctionType:
    case ms_DMSW_UncurriedFunctionType:
    case ms_DMSW_AutoClosureType:
    case ms_DMSW_EscapingAutoClosureType:
    case ms_DMSW_ThinFunctionType:
    case ms_DMSW_CFunctionPointer:
    case ms_DMSW_ObjCBlock:
    case ms_DMSW_EscapingObjCBlock: ms_dmsw_print_function(p, 0, ref); break;
    case ms_DMSW_BoundGenericClass:
    case ms_DMSW_BoundGenericStructure:
    case ms_DMSW_BoundGenericEnum:
    case ms_DMSW_BoundGenericProtocol:
    case ms_DMSW_BoundGenericOtherNominalType:
    case ms_DMSW_BoundGenericTypeAlias: ms_dmsw_print_bound(p, ref); break;
    case ms_DMSW_Integer: ms_dmsw_number(p, n->u.index); break;
    case ms_DMSW_ImplFunctionType: ms_dmsw_print_impl_function(p, ref); break;
    case ms_DMSW_ImplFunctionConvention: ms_dmsw_print_impl_convention(p, ref); break;
    default: ms_dmsw_print_impl_part(p, ref); break;
    }
}

/* Thunks, tables and attributes of whole functions. */
static void ms_dmsw_print_global(ms_dmsw *p, uint32_t ref)
{
    bool is_short = ms_dmsw_short(p);
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_PartialApplyForwarder:
    case ms_DMSW_PartialApplyObjCForwarder: ms_dmsw_print_partial_apply(p, ref); break;
    case ms_DMSW_OutlinedVariable:
    case ms_DMSW_OutlinedReadOnlyObject:
        ms_dmsw_print_list(p, ref, "", 0, ' ');
        ms_dmsw_word(p, "of ");
        break;
    case ms_DMSW_OutlinedBridgedMethod:
        ms_dmsw_row_text(p, ref);
        ms_dmsw_own(p, ref);
        ms_dmsw_word(p, ") of ");
        break;
    case ms_DMSW_MergedFunction:
    case ms_DMSW_DistributedThunk:
    case ms_DMSW_DistributedAccessor:
    case ms_DMSW_DynamicallyReplaceableFunctionKey:
    case ms_DMSW_DynamicallyReplaceableFunctionImpl:
    case ms_DMSW_DynamicallyReplaceableFunctionVar:
    case ms_DMSW_BackDeploymentThunk:
    case ms_DMSW_AccessibleFunctionRecord:
        if (!is_short)
            ms_dmsw_row_text(p, ref);
        break;
    case ms_DMSW_AsyncAwaitResumePartialFunction:
    case ms_DMSW_AsyncSuspendResumePartialFunction:
        if (p->style & ms_DMSW_NO_ASYNC)
            break;
        ms_dmsw_char(p, '(');
        ms_dmsw_print_kid(p, ref, 0);
        ms_dmsw_row_text(p, ref);
        break;
    case ms_DMSW_GenericSpecializationParam: ms_dmsw_print_spec_generic(p, ref); break;
    case ms_DMSW_FunctionSignatureSpecializationParamKind: ms_dmsw_print_spec_kind(p, ref); break;
    case ms_DMSW_FunctionSignatureSpecializationParamPayload:
        if (!ms_dmsw_at(p, ref)->mark || !ms_dmsw_nested(p, ref))
            ms_dmsw_own(p, ref);
        break;
    case ms_DMSW_VTableThunk: ms_dmsw_print_woven(p, ref, 1, " dispatching to ", 0, NULL, 0); break;
    case ms_DMSW_ProtocolWitness: ms_dmsw_print_woven(p, ref, 1, " in conformance ", 0, NULL, 0); break;
    case ms_DMSW_ReabstractionThunk:
    case ms_DMSW_ReabstractionThunkHelper:
    case ms_DMSW_ReabstractionThunkHelperWithSelf: ms_dmsw_print_reabstraction(p, ref); break;
    case ms_DMSW_ReabstractionThunkHelperWithGlobalActor:
        ms_dmsw_print_woven(p, ref, 0, " with global actor constraint ", 1, NULL, 0);
        break;
    case ms_DMSW_ObjCAsyncCompletionHandlerImpl:
    case ms_DMSW_PredefinedObjCAsyncCompletionHandlerImpl: ms_dmsw_print_completion(p, ref); break;
    case ms_DMSW_KeyPathGetterThunkHelper:
    case ms_DMSW_KeyPathSetterThunkHelper:
    case ms_DMSW_KeyPathUnappliedMethodThunkHelper:
    case ms_DMSW_KeyPathAppliedMethodThunkHelper: ms_dmsw_print_keypath_accessor(p, ref); break;
    case ms_DMSW_KeyPathEqualsThunkHelper:
    case ms_DMSW_KeyPathHashThunkHelper: ms_dmsw_print_keypath_helper(p, ref); break;
    case ms_DMSW_AutoDiffFunction:
    case ms_DMSW_AutoDiffDerivativeVTableThunk: ms_dmsw_print_autodiff(p, ref); break;
    case ms_DMSW_AutoDiffSelfReorderingReabstractionThunk: ms_dmsw_print_self_reordering(p, ref); break;
    case ms_DMSW_AutoDiffSubsetParametersThunk: ms_dmsw_print_subset_thunk(p, ref); break;
    case ms_DMSW_AutoDiffFunctionKind: ms_dmsw_print_diff_kind(p, ref); break;
    case ms_DMSW_DifferentiabilityWitness: ms_dmsw_print_diff_witness(p, ref); break;
    case ms_DMSW_IndexSubset: ms_dmsw_print_index_subset(p, ref); break;
    case ms_DMSW_AssociatedConformanceDescriptor:
    case ms_DMSW_DefaultAssociatedConformanceAccessor: ms_dmsw_print_woven(p, ref, 0, ".", 1, ": ", 2); break;
    case ms_DMSW_BaseConformanceDescriptor: ms_dmsw_print_woven(p, ref, 0, ": ", 1, NULL, 0); break;
    case ms_DMSW_AssociatedTypeMetadataAccessor:
    case ms_DMSW_BaseWitnessTableAccessor: ms_dmsw_print_woven(p, ref, 1, " in ", 0, NULL, 0); break;
    case ms_DMSW_AssociatedTypeWitnessTableAccessor:
        ms_dmsw_print_woven(p, ref, 1, " : ", 2, " in ", 0);
        break;
    case ms_DMSW_ValueWitness: ms_dmsw_print_value_witness(p, ref); break;
    case ms_DMSW_FieldOffset:
        if (ms_dmsw_at(p, ref)->mark == 'd')
            ms_dmsw_word(p, "direct ");
        else
            ms_dmsw_word(p, "indirect ");
        ms_dmsw_row_text(p, ref);
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_LazyProtocolWitnessTableAccessor:
    case ms_DMSW_LazyProtocolWitnessTableCacheVariable:
        ms_dmsw_print_woven(p, ref, 0, " and conformance ", 1, NULL, 0);
        break;
    case ms_DMSW_GlobalVariableOnceToken:
    case ms_DMSW_GlobalVariableOnceFunction: ms_dmsw_print_once(p, ref); break;
    case ms_DMSW_ProtocolConformance: ms_dmsw_print_conformance(p, ref); break;
    case ms_DMSW_ConcreteProtocolConformance: ms_dmsw_print_concrete_conformance(p, ref); break;
    case ms_DMSW_DependentProtocolConformanceRoot:
    case ms_DMSW_DependentProtocolConformanceInherited:
    case ms_DMSW_DependentProtocolConformanceAssociated:
    case ms_DMSW_DependentProtocolConformanceOpaque: ms_dmsw_print_dependent_conformance(p, ref); break;
    case ms_DMSW_AnyProtocolConformanceList:
        if (ms_dmsw_kid_count(p, ref) == 0)
            break;
        ms_dmsw_char(p, '(');
        ms_dmsw_print_commas(p, ref);
        ms_dmsw_char(p, ')');
        break;
    default: ms_dmsw_print_specialization(p, ref); break;
    }
}

/* Names, contexts and declarations. Returns the context that is left to print. */
static uint32_t ms_dmsw_print_special(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    bool is_short = ms_dmsw_short(p);
    if (n->kind >= ms_DMSW_BuiltinTypeName && n->kind <= ms_DMSW_ImplInvocationSubstitutions) {
        ms_dmsw_print_type(p, ref);
        return 0;
    }
    switch (n->kind) {
    case ms_DMSW_Suffix:
        if (!is_short)
            ms_dmsw_print_quoted(p, ref);
        return 0;
    case ms_DMSW_Index: ms_dmsw_number(p, n->u.index); return 0;
    case ms_DMSW_InfixOperator:
    case ms_DMSW_PrefixOperator:
    case ms_DMSW_PostfixOperator:
        ms_dmsw_own(p, ref);
        ms_dmsw_row_text(p, ref);
        return 0;
    case ms_DMSW_LocalDeclName:
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_word(p, " #");
        ms_dmsw_number(p, ms_dmsw_at(p, ms_dmsw_kid(p, ref, 0))->u.index + 1);
        return 0;
    case ms_DMSW_PrivateDeclName: ms_dmsw_print_private(p, ref); return 0;
    case ms_DMSW_RelatedEntityDeclName:
        ms_dmsw_word(p, "related decl '");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
        ms_dmsw_word(p, "' for ");
        ms_dmsw_print_kid(p, ref, 1);
        return 0;
    case ms_DMSW_Module:
        if (!is_short)
            ms_dmsw_own(p, ref);
        return 0;
    case ms_DMSW_Extension: ms_dmsw_print_extension(p, ref); return 0;
    case ms_DMSW_AnonymousContext: ms_dmsw_print_anonymous(p, ref); return 0;
    case ms_DMSW_ExplicitClosure:
    case ms_DMSW_ImplicitClosure:
        return ms_dmsw_print_part(p, ref, as_prefix, is_short ? ms_DMSW_TY_NONE : ms_DMSW_TY_FUNCTION,
                                  ms_dmsw_extra_index(p, ms_dmsw_kid(p, ref, 1), 1));
    case ms_DMSW_DefaultArgumentInitializer:
        return ms_dmsw_print_part(p, ref, as_prefix, ms_DMSW_TY_NONE,
                                  ms_dmsw_extra_index(p, ms_dmsw_kid(p, ref, 1), 0));
    case ms_DMSW_TypeMangling: ms_dmsw_print_type_mangling(p, ref); return 0;
    case ms_DMSW_Function:
    case ms_DMSW_BoundGenericFunction:
    case ms_DMSW_Variable:
    case ms_DMSW_Subscript:
    case ms_DMSW_Macro:
    case ms_DMSW_Allocator:
    case ms_DMSW_Constructor:
    case ms_DMSW_Deallocator:
    case ms_DMSW_IsolatedDeallocator: return ms_dmsw_print_callable(p, ref, as_prefix);
    case ms_DMSW_MacroExpansionLoc:
        ms_dmsw_word(p, "module ");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
        ms_dmsw_word(p, " file ");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 1));
        ms_dmsw_word(p, " line ");
        ms_dmsw_print_kid(p, ref, 2);
        ms_dmsw_word(p, " column ");
        ms_dmsw_print_kid(p, ref, 3);
        return 0;
    default:
        if (ms_dmsw_rows[n->kind].traits & ms_DMSW_T_MACRO)
            return ms_dmsw_print_macro(p, ref, as_prefix);
        ms_dmsw_print_global(p, ref);
        return 0;
    }
}

/* Prints one node. Returns the context that is left to print when a declaration cannot be a prefix. */
static uint32_t ms_dmsw_print_as(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    if (!ref || p->d->failed || !ms_dmsw_step(p))
        return 0;
    if (++p->d->depth > ms_DMSW_MAX_DEPTH) {
        p->d->failed = true;
        return 0;
    }
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    const ms_dmsw_row *row = ms_dmsw_rows + n->kind;
    uint32_t left = 0;
    switch (row->how) {
    case ms_DMSW_H_FIRST:
        ms_dm_put(p->d, row->text, row->len);
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_H_ALL:
        ms_dm_put(p->d, row->text, row->len);
        ms_dmsw_print_kids(p, ref, "", 0);
        break;
    case ms_DMSW_H_TEXT: ms_dm_put(p->d, row->text, row->len); break;
    case ms_DMSW_H_OWN: ms_dmsw_own(p, ref); break;
    case ms_DMSW_H_NAMED:
        if (n->form == ms_DMSW_F_KNOWN) {
            if (!ms_dmsw_short(p))
                ms_dmsw_lit(p, "Swift.");
            ms_dmsw_own(p, ref);
        } else {
            left = ms_dmsw_print_named(p, ref, as_prefix, ms_DMSW_TY_NONE);
        }
        break;
    case ms_DMSW_H_PART: left = ms_dmsw_print_part(p, ref, as_prefix, ms_DMSW_TY_NONE, -1); break;
    case ms_DMSW_H_ACCESS: left = ms_dmsw_print_accessor(p, ref, as_prefix); break;
    default: left = ms_dmsw_print_special(p, ref, as_prefix); break;
    }
    p->d->depth--;
    return left;
}

/* ---- Swift 1 to 3: OldMangling.rst, a prefix grammar ---- */

/* floors: recursion */
static uint32_t ms_dmsw_old_type(ms_dmsw *p);
static uint32_t ms_dmsw_old_entity(ms_dmsw *p);
static uint32_t ms_dmsw_old_context(ms_dmsw *p);
static uint32_t ms_dmsw_old_global(ms_dmsw *p);

/* natural: too large a number wraps round, as in Swift's own reader */
static bool ms_dmsw_old_natural(ms_dmsw *p, uint64_t *value)
{
    if (!ms_dmsw_digit(ms_dmsw_peek(p)))
        return false;
    for (*value = 0; ms_dmsw_digit(ms_dmsw_peek(p));)
        *value = *value * 10 + (uint64_t)(ms_dmsw_next(p) - '0');
    return true;
}

/* index */
static bool ms_dmsw_old_index(ms_dmsw *p, uint64_t *value)
{
    *value = 0;
    if (ms_dmsw_next_if(p, '_'))
        return true;
    if (!ms_dmsw_old_natural(p, value) || !ms_dmsw_next_if(p, '_'))
        return false;
    ++*value;
    return true;
}

static uint32_t ms_dmsw_old_index_node(ms_dmsw *p)
{
    uint64_t value;
    return ms_dmsw_old_index(p, &value) ? ms_dmsw_make_index(p, ms_DMSW_Index, value) : 0;
}

/* operator-char */
static bool ms_dmsw_old_operator_text(ms_dmsw *p, machsym_str *name)
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
static uint32_t ms_dmsw_old_identifier(ms_dmsw *p, unsigned kind)
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
    if (is_operator && !ms_dmsw_old_operator_text(p, &name))
        return 0;
    return name.len > 0 ? ms_dmsw_make_text(p, kind, name.ptr, name.len) : 0;
}

/* decl-name */
static uint32_t ms_dmsw_old_decl_name(ms_dmsw *p)
{
    uint32_t first;
    if (ms_dmsw_next_if(p, 'L')) {
        first = ms_dmsw_old_index_node(p);
        return ms_dmsw_make2(p, ms_DMSW_LocalDeclName, first, ms_dmsw_old_identifier(p, ms_DMSW_Identifier));
    }
    if (ms_dmsw_next_if(p, 'P')) {
        first = ms_dmsw_old_identifier(p, ms_DMSW_Identifier);
        return ms_dmsw_make2(p, ms_DMSW_PrivateDeclName, first,
                             ms_dmsw_old_identifier(p, ms_DMSW_Identifier));
    }
    return ms_dmsw_old_identifier(p, ms_DMSW_Identifier);
}

#define ms_dmsw_old_known(p, kind, name) (ms_dmsw_known(p, kind, name) & ~ms_DMSW_AS_TYPE)

/* substitution, known-module and known-nominal-type, after 'S' */
static uint32_t ms_dmsw_old_substitution(ms_dmsw *p)
{
    char c = ms_dmsw_peek(p);
    if (c == '_' || ms_dmsw_digit(c)) {
        uint64_t i;
        return ms_dmsw_old_index(p, &i) && i < p->subs.count ? p->subs.v[i] : 0;
    }
    switch (ms_dmsw_next(p)) {
    case 'o': return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C");
    case 'C': return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C_Synthesized");
    case 'a': return ms_dmsw_old_known(p, Structure, "Array");
    case 'b': return ms_dmsw_old_known(p, Structure, "Bool");
    case 'c': return ms_dmsw_old_known(p, Structure, "UnicodeScalar");
    case 'd': return ms_dmsw_old_known(p, Structure, "Double");
    case 'f': return ms_dmsw_old_known(p, Structure, "Float");
    case 'i': return ms_dmsw_old_known(p, Structure, "Int");
    case 'V': return ms_dmsw_old_known(p, Structure, "UnsafeRawPointer");
    case 'v': return ms_dmsw_old_known(p, Structure, "UnsafeMutableRawPointer");
    case 'P': return ms_dmsw_old_known(p, Structure, "UnsafePointer");
    case 'p': return ms_dmsw_old_known(p, Structure, "UnsafeMutablePointer");
    case 'R': return ms_dmsw_old_known(p, Structure, "UnsafeBufferPointer");
    case 'r': return ms_dmsw_old_known(p, Structure, "UnsafeMutableBufferPointer");
    case 'S': return ms_dmsw_old_known(p, Structure, "String");
    case 'u': return ms_dmsw_old_known(p, Structure, "UInt");
    case 'q': return ms_dmsw_old_known(p, Enum, "Optional");
    case 'Q': return ms_dmsw_old_known(p, Enum, "ImplicitlyUnwrappedOptional");
    default: return 0;
    }
}

/* module */
static uint32_t ms_dmsw_old_module(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift");
    if (ms_dmsw_next_if(p, 'S')) {
        uint32_t ref = ms_dmsw_old_substitution(p);
        return ms_dmsw_kind_of(p, ref) == ms_DMSW_Module ? ref : 0;
    }
    return ms_dmsw_remember(p, ms_dmsw_old_identifier(p, ms_DMSW_Module));
}

/* declaration-name of a type */
static uint32_t ms_dmsw_old_declaration(ms_dmsw *p, unsigned kind)
{
    uint32_t context = ms_dmsw_old_context(p);
    if (!context)
        return 0;
    return ms_dmsw_remember(p, ms_dmsw_make2(p, kind, context, ms_dmsw_old_decl_name(p)));
}

/* nominal-type */
static uint32_t ms_dmsw_old_nominal(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'S': return ms_dmsw_old_substitution(p);
    case 'V': return ms_dmsw_old_declaration(p, ms_DMSW_Structure);
    case 'O': return ms_dmsw_old_declaration(p, ms_DMSW_Enum);
    case 'C': return ms_dmsw_old_declaration(p, ms_DMSW_Class);
    case 'P': return ms_dmsw_old_declaration(p, ms_DMSW_Protocol);
    default: return 0;
    }
}

/* protocol in a context that is already read */
static uint32_t ms_dmsw_old_protocol_in(ms_dmsw *p, uint32_t context)
{
    if (!context)
        return 0;
    return ms_dmsw_type(
        ms_dmsw_remember(p, ms_dmsw_make2(p, ms_DMSW_Protocol, context, ms_dmsw_old_decl_name(p))));
}

/* protocol */
static uint32_t ms_dmsw_old_protocol(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'S')) {
        uint32_t ref = ms_dmsw_old_substitution(p);
        unsigned kind = ms_dmsw_kind_of(p, ref);
        if (kind == ms_DMSW_Protocol)
            return ms_dmsw_type(ref);
        return kind == ms_DMSW_Module ? ms_dmsw_old_protocol_in(p, ref) : 0;
    }
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_old_protocol_in(p, ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift"));
    return ms_dmsw_type(ms_dmsw_old_declaration(p, ms_DMSW_Protocol));
}

/* Types up to '_', as a list. */
static uint32_t ms_dmsw_old_types(ms_dmsw *p)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (list && !ms_dmsw_next_if(p, '_'))
        list = ms_dmsw_add(p, list, ms_dmsw_old_type(p));
    return list;
}

/* The arguments of a generic type, the outermost level first. */
static uint32_t ms_dmsw_old_bind(ms_dmsw *p, uint32_t nominal)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, nominal);
    if (!(ms_dmsw_rows[n->kind].traits & ms_DMSW_T_NOMINAL) || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    if (n->form != ms_DMSW_F_KNOWN) {
        uint32_t parent = ms_dmsw_kid(p, nominal, 0), name = ms_dmsw_kid(p, nominal, 1);
        unsigned kind = ms_dmsw_kind_of(p, parent);
        if (kind != ms_DMSW_Module && kind != ms_DMSW_Function && kind != ms_DMSW_Extension)
            nominal = ms_dmsw_make2(p, n->kind, ms_dmsw_old_bind(p, parent), name);
    }
    p->d->depth--;
    uint32_t args = nominal ? ms_dmsw_old_types(p) : 0;
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
static uint32_t ms_dmsw_old_param(ms_dmsw *p)
{
    uint64_t depth = 0, index = 0;
    if (ms_dmsw_next_if(p, 'd')) {
        if (!ms_dmsw_old_index(p, &depth) || !ms_dmsw_old_index(p, &index))
            return 0;
        depth++;
    } else if (!ms_dmsw_next_if(p, 'x')) {
        if (!ms_dmsw_old_index(p, &index))
            return 0;
        index++;
    }
    if (depth > UINT32_MAX || index > UINT32_MAX)
        return 0;
    return ms_dmsw_type(ms_dmsw_param_type(p, depth, index));
}

/* A member of base: assoc-type-name */
static uint32_t ms_dmsw_old_member(ms_dmsw *p, uint32_t base)
{
    uint32_t name;
    if (!base)
        return 0;
    if (ms_dmsw_next_if(p, 'S')) {
        name = ms_dmsw_old_substitution(p);
        if (ms_dmsw_kind_of(p, name) != ms_DMSW_DependentAssociatedTypeRef)
            return 0;
    } else {
        uint32_t protocol = 0;
        if (ms_dmsw_next_if(p, 'P') && (protocol = ms_dmsw_old_protocol(p)) == 0)
            return 0;
        name = ms_dmsw_make1(p, ms_DMSW_DependentAssociatedTypeRef,
                             ms_dmsw_old_identifier(p, ms_DMSW_Identifier));
        if (protocol)
            name = ms_dmsw_add(p, name, protocol);
        name = ms_dmsw_remember(p, name);
    }
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, base, name));
}

/* 'W': associated type at depth */
static uint32_t ms_dmsw_old_members(ms_dmsw *p)
{
    uint32_t base = ms_dmsw_old_param(p);
    while (base && !ms_dmsw_next_if(p, '_'))
        base = ms_dmsw_old_member(p, base);
    return base;
}

/* type-param */
static uint32_t ms_dmsw_old_type_param(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'w'))
        return ms_dmsw_old_member(p, ms_dmsw_old_param(p));
    return ms_dmsw_next_if(p, 'W') ? ms_dmsw_old_members(p) : ms_dmsw_old_param(p);
}

/* A layout requirement, after 'l' */
static uint32_t ms_dmsw_old_layout(ms_dmsw *p, uint32_t type)
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
        if (!ms_dmsw_old_natural(p, &size))
            return 0;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_Index, size));
    }
    if (two) {
        uint64_t alignment;
        if (!ms_dmsw_next_if(p, '_') || !ms_dmsw_old_natural(p, &alignment))
            return 0;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_Index, alignment));
    }
    return ref;
}

/* requirement */
static uint32_t ms_dmsw_old_requirement(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_old_type_param(p), bound;
    if (!type)
        return 0;
    if (ms_dmsw_next_if(p, 'z'))
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameTypeRequirement, type, ms_dmsw_old_type(p));
    if (ms_dmsw_next_if(p, 'l'))
        return ms_dmsw_old_layout(p, type);
    if (ms_dmsw_peek(p) == 'C') {
        bound = ms_dmsw_old_type(p);
    } else if (ms_dmsw_next_if(p, 'S')) { /* a class or protocol, or the module of a protocol */
        bound = ms_dmsw_old_substitution(p);
        unsigned kind = ms_dmsw_kind_of(p, bound);
        if (kind == ms_DMSW_Protocol || kind == ms_DMSW_Class)
            bound = ms_dmsw_type(bound);
        else
            bound = kind == ms_DMSW_Module ? ms_dmsw_old_protocol_in(p, bound) : 0;
    } else {
        bound = ms_dmsw_old_protocol(p);
    }
    return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type, bound);
}

/* generic-signature */
static uint32_t ms_dmsw_old_signature(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    bool any = false;
    while (ref && ms_dmsw_peek(p) != 'R' && ms_dmsw_peek(p) != 'r') {
        uint64_t count = 0;
        if (!ms_dmsw_next_if(p, 'z')) {
            if (!ms_dmsw_old_index(p, &count))
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
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_requirement(p));
    return ref;
}

/* 'T' 't': tuples */
static uint32_t ms_dmsw_old_tuple(ms_dmsw *p, bool variadic)
{
    uint32_t tuple = ms_dmsw_make(p, ms_DMSW_Tuple), element = 0;
    while (tuple && !ms_dmsw_next_if(p, '_')) {
        element = ms_dmsw_make(p, ms_DMSW_TupleElement);
        char c = ms_dmsw_peek(p);
        if (ms_dmsw_digit(c) || c == 'o')
            element = ms_dmsw_add(p, element, ms_dmsw_old_identifier(p, ms_DMSW_TupleElementName));
        element = ms_dmsw_add(p, element, ms_dmsw_old_type(p));
        tuple = ms_dmsw_add(p, tuple, element);
    }
    if (tuple && variadic && !ms_dmsw_add(p, element, ms_dmsw_make(p, ms_DMSW_VariadicMarker)))
        return 0;
    return tuple;
}

/* throws-annotation? type type */
static uint32_t ms_dmsw_old_function(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'z'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ThrowsAnnotation));
    ref = ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_ArgumentTuple, ms_dmsw_old_type(p)));
    return ref ? ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_ReturnType, ms_dmsw_old_type(p))) : 0;
}

/* impl-parameter, impl-result: the letters of the later mangling that mean the same */
static uint32_t ms_dmsw_old_impl_part(ms_dmsw *p, bool is_param)
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
    return ms_dmsw_add(p, ms_dmsw_marked(p, kind, (char)word), ms_dmsw_old_type(p));
}

/* impl-callee-convention and impl-function-attribute */
static uint32_t ms_dmsw_old_impl_head(ms_dmsw *p, uint32_t ref)
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
static uint32_t ms_dmsw_old_impl_function(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_old_impl_head(p, ms_dmsw_make(p, ms_DMSW_ImplFunctionType));
    if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature));
    else if (ms_dmsw_next_if(p, 'g'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_signature(p, ms_DMSW_DependentPseudogenericSignature));
    if (!ref || !ms_dmsw_next_if(p, '_'))
        return 0;
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_impl_part(p, true));
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_impl_part(p, false));
    return ref;
}

/* 'XB': SIL boxes with a layout */
static uint32_t ms_dmsw_old_sil_box(ms_dmsw *p)
{
    uint32_t signature = 0, layout = ms_dmsw_make(p, ms_DMSW_SILBoxLayout);
    bool generic = ms_dmsw_next_if(p, 'G');
    if (generic && (signature = ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature)) == 0)
        return 0;
    while (layout && !ms_dmsw_next_if(p, '_')) {
        char c = ms_dmsw_next(p);
        if (c != 'm' && c != 'i')
            return 0;
        unsigned kind = c == 'm' ? ms_DMSW_SILBoxMutableField : ms_DMSW_SILBoxImmutableField;
        layout = ms_dmsw_add(p, layout, ms_dmsw_make1(p, kind, ms_dmsw_old_type(p)));
    }
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_SILBoxTypeWithLayout, layout);
    if (generic && ref)
        ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, signature), ms_dmsw_old_types(p));
    return ref;
}

static uint32_t ms_dmsw_old_metatype(ms_dmsw *p, unsigned kind)
{
    uint32_t repr = ms_dmsw_metatype_repr(p);
    return repr ? ms_dmsw_make2(p, kind, repr, ms_dmsw_old_type(p)) : 0;
}

/* 'X': types of two letters */
static uint32_t ms_dmsw_old_special(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'b': return ms_dmsw_make1(p, ms_DMSW_SILBoxType, ms_dmsw_old_type(p));
    case 'B': return ms_dmsw_old_sil_box(p);
    case 'P': return ms_dmsw_next_if(p, 'M') ? ms_dmsw_old_metatype(p, ms_DMSW_ExistentialMetatype) : 0;
    case 'M': return ms_dmsw_old_metatype(p, ms_DMSW_Metatype);
    case 'o': return ms_dmsw_make1(p, ms_DMSW_Unowned, ms_dmsw_old_type(p));
    case 'u': return ms_dmsw_make1(p, ms_DMSW_Unmanaged, ms_dmsw_old_type(p));
    case 'w': return ms_dmsw_make1(p, ms_DMSW_Weak, ms_dmsw_old_type(p));
    case 'F': return ms_dmsw_old_impl_function(p);
    case 'f': return ms_dmsw_old_function(p, ms_DMSW_ThinFunctionType);
    default: return 0;
    }
}

/* 'B': builtin types */
static uint32_t ms_dmsw_old_builtin(ms_dmsw *p)
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

/* 'Q': archetypes; the plain ones have no meaning outside their context and are refused. */
static uint32_t ms_dmsw_old_archetype(ms_dmsw *p)
{
    uint32_t root;
    if (ms_dmsw_next_if(p, 'u'))
        return ms_dmsw_make(p, ms_DMSW_OpaqueReturnType);
    if (ms_dmsw_next_if(p, 'U'))
        return ms_dmsw_make1(p, ms_DMSW_OpaqueReturnType, ms_dmsw_old_index_node(p));
    if (++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    if (ms_dmsw_next_if(p, 'Q'))
        root = ms_dmsw_old_archetype(p);
    else if (ms_dmsw_next_if(p, 'S'))
        root = ms_dmsw_old_substitution(p);
    else
        root = ms_dmsw_next_if(p, 's') ? ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift") : 0;
    p->d->depth--;
    if (!root)
        return 0;
    uint32_t name = ms_dmsw_old_identifier(p, ms_DMSW_Identifier);
    return ms_dmsw_remember(p, ms_dmsw_make2(p, ms_DMSW_AssociatedTypeRef, root, name));
}

/* 'P': protocol types */
static uint32_t ms_dmsw_old_protocols(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'M'))
        return ms_dmsw_make1(p, ms_DMSW_ExistentialMetatype, ms_dmsw_old_type(p));
    uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (list && !ms_dmsw_next_if(p, '_'))
        list = ms_dmsw_add(p, list, ms_dmsw_old_protocol(p));
    return ms_dmsw_make1(p, ms_DMSW_ProtocolList, list);
}

/* 'u': generic types */
static uint32_t ms_dmsw_old_generic(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature);
    return signature ? ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, ms_dmsw_old_type(p)) : 0;
}

/* A type without the "as a type" bit. */
static uint32_t ms_dmsw_old_bare(ms_dmsw *p)
{
    char c = ms_dmsw_next(p), n = ms_dmsw_peek(p);
    switch (c) {
    case 'B': return ms_dmsw_old_builtin(p);
    case 'a': return ms_dmsw_old_declaration(p, ms_DMSW_TypeAlias);
    case 'b': return ms_dmsw_old_function(p, ms_DMSW_ObjCBlock);
    case 'c': return ms_dmsw_old_function(p, ms_DMSW_CFunctionPointer);
    case 'D': return ms_dmsw_make1(p, ms_DMSW_DynamicSelf, ms_dmsw_old_type(p));
    case 'E': return ms_dmsw_next_is(p, "RR", 2) ? ms_dmsw_make(p, ms_DMSW_ErrorType) : 0;
    case 'F': return ms_dmsw_old_function(p, ms_DMSW_FunctionType);
    case 'f': return ms_dmsw_old_function(p, ms_DMSW_UncurriedFunctionType);
    case 'G': return ms_dmsw_old_bind(p, ms_dmsw_old_nominal(p));
    case 'X': return ms_dmsw_old_special(p);
    case 'K': return ms_dmsw_old_function(p, ms_DMSW_AutoClosureType);
    case 'M': return ms_dmsw_make1(p, ms_DMSW_Metatype, ms_dmsw_old_type(p));
    case 'P': return ms_dmsw_old_protocols(p);
    case 'Q': return ms_dmsw_old_archetype(p);
    case 'q':
        if (n == 'd' || n == '_' || ms_dmsw_digit(n))
            return ms_dmsw_old_param(p) & ~ms_DMSW_AS_TYPE;
        return ms_dmsw_old_member(p, ms_dmsw_old_type(p)) & ~ms_DMSW_AS_TYPE;
    case 'x': return ms_dmsw_param_type(p, 0, 0);
    case 'w': return ms_dmsw_old_member(p, ms_dmsw_old_param(p)) & ~ms_DMSW_AS_TYPE;
    case 'W': return ms_dmsw_old_members(p) & ~ms_DMSW_AS_TYPE;
    case 'R': return ms_dmsw_make1(p, ms_DMSW_InOut, ms_dmsw_old_type(p));
    case 'S': return ms_dmsw_old_substitution(p);
    case 'T': return ms_dmsw_old_tuple(p, false);
    case 't': return ms_dmsw_old_tuple(p, true);
    case 'u': return ms_dmsw_old_generic(p);
    case 'C': return ms_dmsw_old_declaration(p, ms_DMSW_Class);
    case 'V': return ms_dmsw_old_declaration(p, ms_DMSW_Structure);
    case 'O': return ms_dmsw_old_declaration(p, ms_DMSW_Enum);
    default: return 0;
    }
}

static uint32_t ms_dmsw_old_type(ms_dmsw *p)
{
    if (p->d->failed || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    uint32_t ref = ms_dmsw_old_bare(p);
    p->d->depth--;
    return ms_dmsw_type(ref);
}

/* context */
static uint32_t ms_dmsw_old_context(ms_dmsw *p)
{
    char c = ms_dmsw_peek(p);
    if (c == 'E' || c == 'e') {
        uint32_t signature = 0;
        p->at++;
        uint32_t module = ms_dmsw_old_module(p);
        if (module && c == 'e' &&
            (signature = ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature)) == 0)
            return 0;
        uint32_t ref = module ? ms_dmsw_make2(p, ms_DMSW_Extension, module, ms_dmsw_old_context(p)) : 0;
        return signature ? ms_dmsw_add(p, ref, signature) : ref;
    }
    if (c == 'S') {
        p->at++;
        return ms_dmsw_old_substitution(p);
    }
    if (c == 's') {
        p->at++;
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift");
    }
    if (c == 'G') {
        p->at++;
        return ms_dmsw_old_bind(p, ms_dmsw_old_nominal(p));
    }
    return ms_dmsw_find("FIivPZCVO", c) >= 0 ? ms_dmsw_old_entity(p) : ms_dmsw_old_module(p);
}

/* protocol-conformance */
static uint32_t ms_dmsw_old_conformance(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_old_type(p), protocol = type ? ms_dmsw_old_protocol(p) : 0;
    return protocol ? ms_dmsw_make3(p, ms_DMSW_ProtocolConformance, type, protocol, ms_dmsw_old_context(p))
                    : 0;
}

/* The accessor a letter of entity-name stands for, None when it is none. */
static unsigned ms_dmsw_old_accessor(ms_dmsw *p)
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

/* An accessor of a variable, or of a subscript: one of that name. */
static uint32_t ms_dmsw_old_storage(ms_dmsw *p, unsigned kind, uint32_t context)
{
    uint32_t name = ms_dmsw_old_decl_name(p), type = name ? ms_dmsw_old_type(p) : 0, storage;
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

/* entity-name of what is no accessor; kind is that of entity-kind */
static uint32_t ms_dmsw_old_named(ms_dmsw *p, unsigned kind, uint32_t context)
{
    uint32_t name;
    switch (ms_dmsw_peek(p)) {
    case 'D': p->at++; return ms_dmsw_make1(p, ms_DMSW_Deallocator, context);
    case 'Z': p->at++; return ms_dmsw_make1(p, ms_DMSW_IsolatedDeallocator, context);
    case 'd': p->at++; return ms_dmsw_make1(p, ms_DMSW_Destructor, context);
    case 'e': p->at++; return ms_dmsw_make1(p, ms_DMSW_IVarInitializer, context);
    case 'E': p->at++; return ms_dmsw_make1(p, ms_DMSW_IVarDestroyer, context);
    case 'C': p->at++; return ms_dmsw_make2(p, ms_DMSW_Allocator, context, ms_dmsw_old_type(p));
    case 'c': p->at++; return ms_dmsw_make2(p, ms_DMSW_Constructor, context, ms_dmsw_old_type(p));
    case 'U':
    case 'u':
        kind = ms_dmsw_next(p) == 'U' ? ms_DMSW_ExplicitClosure : ms_DMSW_ImplicitClosure;
        name = ms_dmsw_old_index_node(p);
        return name ? ms_dmsw_make3(p, kind, context, name, ms_dmsw_old_type(p)) : 0;
    case 'A':
        if (kind != ms_DMSW_Initializer)
            break;
        p->at++;
        return ms_dmsw_make2(p, ms_DMSW_DefaultArgumentInitializer, context, ms_dmsw_old_index_node(p));
    case 'i':
        if (kind != ms_DMSW_Initializer)
            break;
        p->at++;
        return ms_dmsw_make1(p, ms_DMSW_Initializer, context);
    default: break;
    }
    name = ms_dmsw_old_decl_name(p);
    uint32_t type = name ? ms_dmsw_old_type(p) : 0;
    if (!type)
        return 0;
    return kind == ms_DMSW_Subscript ? ms_dmsw_make2(p, kind, context, type)
                                     : ms_dmsw_make3(p, kind, context, name, type);
}

/* entity */
static uint32_t ms_dmsw_old_entity(ms_dmsw *p)
{
    bool is_static = ms_dmsw_next_if(p, 'Z');
    unsigned kind;
    uint32_t ref, context;
    if (p->d->failed || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    switch (ms_dmsw_peek(p)) {
    case 'F': kind = ms_DMSW_Function; break;
    case 'v': kind = ms_DMSW_Variable; break;
    case 'I': kind = ms_DMSW_Initializer; break;
    case 'i': kind = ms_DMSW_Subscript; break;
    default: kind = ms_DMSW_None; break;
    }
    if (kind == ms_DMSW_None) {
        ref = ms_dmsw_old_nominal(p);
    } else {
        p->at++;
        context = ms_dmsw_old_context(p);
        if (!context)
            return 0;
        unsigned accessor = ms_dmsw_old_accessor(p);
        if (accessor == ms_DMSW_KIND_COUNT)
            return 0;
        ref = accessor != ms_DMSW_None ? ms_dmsw_old_storage(p, accessor, context)
                                       : ms_dmsw_old_named(p, kind, context);
    }
    p->d->depth--;
    return is_static ? ms_dmsw_make1(p, ms_DMSW_Static, ref) : ref;
}

/* 'M': metadata */
static uint32_t ms_dmsw_old_metadata(ms_dmsw *p)
{
    unsigned kind = ms_DMSW_TypeMetadata;
    switch (ms_dmsw_peek(p)) {
    case 'P': kind = ms_DMSW_GenericTypeMetadataPattern; break;
    case 'a': kind = ms_DMSW_TypeMetadataAccessFunction; break;
    case 'L': kind = ms_DMSW_TypeMetadataLazyCache; break;
    case 'm': kind = ms_DMSW_Metaclass; break;
    case 'n': kind = ms_DMSW_NominalTypeDescriptor; break;
    case 'f': kind = ms_DMSW_FullTypeMetadata; break;
    case 'p': p->at++; return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptor, ms_dmsw_old_protocol(p));
    default: break;
    }
    p->at += kind != ms_DMSW_TypeMetadata;
    return ms_dmsw_make1(p, kind, ms_dmsw_old_type(p));
}

/* 'W': witness tables */
static uint32_t ms_dmsw_old_witness(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'V': return ms_dmsw_make1(p, ms_DMSW_ValueWitnessTable, ms_dmsw_old_type(p));
    case 'v':
        c = ms_dmsw_next(p);
        if (c != 'd' && c != 'i')
            return 0;
        return ms_dmsw_add(p, ms_dmsw_marked(p, ms_DMSW_FieldOffset, c), ms_dmsw_old_entity(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTable, ms_dmsw_old_conformance(p));
    case 'G': return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTable, ms_dmsw_old_conformance(p));
    case 'I':
        return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTableInstantiationFunction,
                             ms_dmsw_old_conformance(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTableAccessor, ms_dmsw_old_conformance(p));
    case 'l':
    case 'L':
        a = ms_dmsw_old_type(p);
        return a ? ms_dmsw_make2(p,
                                 c == 'l' ? ms_DMSW_LazyProtocolWitnessTableAccessor
                                          : ms_DMSW_LazyProtocolWitnessTableCacheVariable,
                                 a, ms_dmsw_old_conformance(p))
                 : 0;
    case 't':
        a = ms_dmsw_old_conformance(p);
        return a ? ms_dmsw_make2(p, ms_DMSW_AssociatedTypeMetadataAccessor, a, ms_dmsw_old_decl_name(p)) : 0;
    case 'T':
        a = ms_dmsw_old_conformance(p);
        b = a ? ms_dmsw_old_decl_name(p) : 0;
        return b ? ms_dmsw_make3(p, ms_DMSW_AssociatedTypeWitnessTableAccessor, a, b, ms_dmsw_old_protocol(p))
                 : 0;
    default: return 0;
    }
}

/* reabstract-signature: the type reached, the type left */
static uint32_t ms_dmsw_old_reabstraction(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature));
    if (ref)
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_type(p));
    return ref ? ms_dmsw_add(p, ref, ms_dmsw_old_type(p)) : 0;
}

/* A partial application forwarder, after 'PA' */
static uint32_t ms_dmsw_old_forwarder(ms_dmsw *p)
{
    unsigned kind =
        ms_dmsw_next_if(p, 'o') ? ms_DMSW_PartialApplyObjCForwarder : ms_DMSW_PartialApplyForwarder;
    uint32_t ref = ms_dmsw_make(p, kind);
    return ms_dmsw_next_is(p, "__T", 3) ? ms_dmsw_add(p, ref, ms_dmsw_old_global(p)) : ref;
}

/* global */
static uint32_t ms_dmsw_old_global(ms_dmsw *p)
{
    uint32_t ref;
    if (p->d->failed || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    if (ms_dmsw_next_if(p, 'M')) {
        ref = ms_dmsw_old_metadata(p);
    } else if (ms_dmsw_next_is(p, "PA", 2)) {
        ref = ms_dmsw_old_forwarder(p);
    } else if (ms_dmsw_next_if(p, 't')) {
        ref = ms_dmsw_make1(p, ms_DMSW_TypeMangling, ms_dmsw_old_type(p));
    } else if (ms_dmsw_next_if(p, 'w')) {
        ref = ms_dmsw_value_witness(p);
        ref = ref ? ms_dmsw_add(p, ref, ms_dmsw_old_type(p)) : 0;
    } else if (ms_dmsw_next_if(p, 'W')) {
        ref = ms_dmsw_old_witness(p);
    } else if (ms_dmsw_next_is(p, "TR", 2)) {
        ref = ms_dmsw_old_reabstraction(p, ms_DMSW_ReabstractionThunkHelper);
    } else if (ms_dmsw_next_is(p, "Tr", 2)) {
        ref = ms_dmsw_old_reabstraction(p, ms_DMSW_ReabstractionThunk);
    } else if (ms_dmsw_next_is(p, "TW", 2)) {
        uint32_t conformance = ms_dmsw_old_conformance(p);
        ref = conformance ? ms_dmsw_make2(p, ms_DMSW_ProtocolWitness, conformance, ms_dmsw_old_entity(p)) : 0;
    } else {
        ref = ms_dmsw_old_entity(p);
    }
    p->d->depth--;
    return ref;
}

/* The parameters of a generic specialization */
static uint32_t ms_dmsw_old_generic_spec(ms_dmsw *p, uint32_t ref)
{
    while (ref && !ms_dmsw_next_if(p, '_')) {
        uint32_t param = ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmsw_old_type(p));
        while (param && !ms_dmsw_next_if(p, '_'))
            param = ms_dmsw_add(p, param, ms_dmsw_old_conformance(p));
        ref = ms_dmsw_add(p, ref, param);
    }
    return ref;
}

/* The name of a symbol or constant; names of functions are read in turn when they are printed. */
static uint32_t ms_dmsw_old_spec_name(ms_dmsw *p, uint32_t param)
{
    uint32_t name = ms_dmsw_old_identifier(p, ms_DMSW_FunctionSignatureSpecializationParamPayload);
    if (name)
        ms_dmsw_at(p, name)->mark = 1;
    return ms_dmsw_add(p, param, name);
}

/* The text up to '_' */
static uint32_t ms_dmsw_old_spec_text(ms_dmsw *p, uint32_t param)
{
    size_t start = p->at;
    while (p->at < p->len && p->s[p->at] != '_')
        p->at++;
    return p->at > start ? ms_dmsw_spec_text(p, param, p->s + start, p->at - start) : 0;
}

/* funcsigspecializationconstantpropinfo */
static uint32_t ms_dmsw_old_spec_const(ms_dmsw *p, uint32_t param)
{
    if (ms_dmsw_next_is(p, "fr", 2)) {
        param = ms_dmsw_old_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FUNCTION));
    } else if (ms_dmsw_next_if(p, 'g')) {
        param = ms_dmsw_old_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_GLOBAL));
    } else if (ms_dmsw_next_if(p, 'i')) {
        param = ms_dmsw_old_spec_text(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_INTEGER));
    } else if (ms_dmsw_next_is(p, "fl", 2)) {
        param = ms_dmsw_old_spec_text(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FLOAT));
    } else if (ms_dmsw_next_is(p, "se", 2)) {
        param = ms_dmsw_spec_kind(p, param, ms_DMSW_P_STRING);
        char encoding = ms_dmsw_next(p);
        if ((encoding != '0' && encoding != '1') || !ms_dmsw_next_if(p, 'v'))
            return 0;
        param =
            encoding == '0' ? ms_dmsw_spec_text(p, param, "u8", 2) : ms_dmsw_spec_text(p, param, "u16", 3);
        param = ms_dmsw_add(p, param,
                            ms_dmsw_old_identifier(p, ms_DMSW_FunctionSignatureSpecializationParamPayload));
    } else {
        return 0;
    }
    return ms_dmsw_next_if(p, '_') ? param : 0;
}

/* A specialized closure: its name and the types it closes over */
static uint32_t ms_dmsw_old_spec_closure(ms_dmsw *p, uint32_t param)
{
    param = ms_dmsw_old_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_CLOSURE));
    while (param && !ms_dmsw_next_if(p, '_'))
        param = ms_dmsw_add(p, param, ms_dmsw_old_type(p));
    return param;
}

/* funcsigspecializationarginfo */
static uint32_t ms_dmsw_old_spec_param(ms_dmsw *p)
{
    uint32_t param = ms_dmsw_make(p, ms_DMSW_FunctionSignatureSpecializationParam);
    if (ms_dmsw_next_is(p, "n_", 2))
        return param;
    if (ms_dmsw_next_is(p, "cp", 2))
        return ms_dmsw_old_spec_const(p, param);
    if (ms_dmsw_next_is(p, "cl", 2))
        return ms_dmsw_old_spec_closure(p, param);
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
static uint32_t ms_dmsw_old_specialization(ms_dmsw *p)
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
        return ms_dmsw_old_generic_spec(p, ref);
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_spec_param(p));
    return ref;
}

/* The whole name, behind "_T" */
static uint32_t ms_dmsw_old_read(ms_dmsw *p)
{
    uint32_t top = ms_dmsw_make(p, ms_DMSW_Global), part = 0;
    if (ms_dmsw_next_is(p, "TS", 2)) {
        do {
            top = ms_dmsw_add(p, top, ms_dmsw_old_specialization(p));
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
    top = top ? ms_dmsw_add(p, top, ms_dmsw_old_global(p)) : 0;
    if (top && p->at < p->len)
        top = ms_dmsw_add(p, top, ms_dmsw_make_text(p, ms_DMSW_Suffix, p->s + p->at, p->len - p->at));
    return top;
}

/* ---- entrance ---- */

/* The length of the prefix of Swift 4 and later; 0: another name. */
static size_t ms_dmsw_prefix(const char *s, size_t len)
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

static void ms_dmsw_begin(ms_dmsw *p, ms_dm *d, const char *s, size_t len, uint32_t style)
{
    ms_dmsw_refs none = {NULL, 0, 0};
    p->d = d;
    p->base = (ms_dmsw_node *)(void *)(d->mem + d->mem_used);
    p->s = s;
    p->len = len;
    p->at = 0;
    p->style = style;
    p->old_functions = false;
    p->specialized = false;
    p->word_count = 0;
    p->stack = none;
    p->subs = none;
}

/* Reads the whole name into a tree; 0 when it is no Swift name. */
static uint32_t ms_dmsw_tree(ms_dmsw *p)
{
    size_t prefix = ms_dmsw_prefix(p->s, p->len);
    unsigned depth = p->d->depth;
    uint32_t top = 0;
    if (prefix) {
        p->at = prefix;
        p->old_functions = p->s[1] == 'T';
        top = ms_dmsw_read(p);
    } else if (p->len > 2 && p->s[0] == '_' && p->s[1] == 'T') {
        p->at = 2;
        top = ms_dmsw_old_read(p);
    }
    p->d->depth = depth;
    return p->d->failed ? 0 : top;
}

/* Prints what a symbol's name inside a name means, without sugar; false when it is none. */
static bool ms_dmsw_nested(ms_dmsw *p, uint32_t payload)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, payload);
    ms_dmsw inner;
    if (n->count < 3 || p->d->depth + 64 > ms_DMSW_MAX_DEPTH)
        return false;
    ms_dmsw_begin(&inner, p->d, n->u.text, n->count, ms_DMSW_NO_SUGAR);
    inner.base = p->base;
    p->d->depth += 64;
    uint32_t top = ms_dmsw_tree(&inner);
    if (top)
        ms_dmsw_print(&inner, top);
    p->d->depth -= 64;
    return top != 0;
}

static bool ms_dm_swift(ms_dm *d)
{
    ms_dmsw p;
    if (d->len < 3 || (d->s[0] != '$' && d->s[0] != '_' && d->s[0] != '@'))
        return false;
    if (d->s[0] == '_' && d->s[1] != 'T' && d->s[1] != '$')
        return false;
    ms_dmsw_begin(&p, d, d->s, d->len, d->flags);
    if (d->len > UINT32_MAX / 16)
        return false;
    (void)ms_dmsw_make(&p, ms_DMSW_None); /* node 0, which stands for none */
    size_t before = d->out_len;
    uint32_t top = ms_dmsw_tree(&p);
    if (!top)
        return false;
    ms_dmsw_print(&p, top);
    return !d->failed && d->out_len > before;
}
#endif /* MACHSYM_NO_SWIFT */

#endif /* ms_ROOM_names_swift */
