#ifndef ms_ROOM_names_cxx_nodes
#define ms_ROOM_names_cxx_nodes
#include "../api/options.h"
#include "../base/bytes.h"
#include "core.h"

/* ==== >>cxx-nodes =========================================================================================
 * Job:    holds a C++ name while it is worked on: its characters, the fixed words, the tree.
 * Offers: ms_dmcx, ms_dmcx_node, ms_dmcx_cell, ms_dmcx_ops, ms_dmcx_words, ms_dmcx_make, ms_dmcx_append,
 *         ms_dmcx_add_sub, ms_dmcx_peek, ms_dmcx_eat, ms_dmcx_operator.
 * Never:  knows the grammar; prints.
 *
 * Grammar: Itanium C++ ABI, 5.1. The name becomes a tree of 16-byte nodes in the scratch and is printed from
 * it. A tree is needed because substitutions repeat parts, and because declarators print around their names.
 * Where the ABI leaves the spelling open, llvm-cxxfilt's is used, as Apple's tools do. */

#ifndef MACHSYM_NO_CXX
/* Texts of this many bytes or more are printed again rather than copied. */
enum { ms_DMCX_COPIED = 1 << 12 };

/* Names of 16 MB and more are not read, so that sums of numbers in a name fit 32 bits. */
enum { ms_DMCX_MAX_NAME = 1 << 24 };

#define ms_DMCX_UNSET UINT32_MAX

/* One entry of a list. A list's head is a cell too: item is the first cell, next the last one. References
 * count cells. */
typedef struct ms_dmcx_cell {
    uint32_t item; /* a node, or 0 */
    uint32_t next; /* a cell, or 0 at the end */
} ms_dmcx_cell;

/* A part of the name. The comment at its kind says what a, b, c, x and y hold. */
typedef struct ms_dmcx_node {
    uint8_t kind;
    uint8_t flags; /* ms_dmcx_flag */
    uint8_t x;
    uint8_t y;
    uint32_t a, b, c; /* nodes (0 = none), first cells of lists, or offset and length in the mangled name */
} ms_dmcx_node;

/* Part of the mangled name. */
typedef struct ms_dmcx_span {
    uint32_t off;
    uint32_t len;
} ms_dmcx_span;

typedef struct ms_dmcx {
    ms_dm *d;
    const char *s;
    uint32_t at;
    uint32_t len;

    ms_dmcx_cell *cells; /* nodes (two cells each) and cells grow up from here */
    uint32_t used;       /* cells taken */
    uint32_t limit;      /* cells that may be taken; shrinks as substitutions grow down */
    uint32_t *subs_end;  /* substitution i is subs_end[-1 - i] */
    uint32_t sub_count;

    uint32_t levels;      /* innermost template parameter level: item = its list's head, next = outer one */
    uint32_t level_count; /* how many levels */
    uint32_t auto_level;  /* in the parameters of a lambda: the level of its `auto`s, else ms_DMCX_UNSET */
    uint32_t invented[3]; /* how many names of each kind were invented for template parameters */
    uint32_t forward;     /* last conversion operator parameter that still waits for its argument */
    bool try_args;        /* <template-args> may follow a parameter or a substitution */
    bool permit_forward;  /* parameters may refer to arguments that follow (type of a conversion operator) */
    bool constraint;      /* inside a requires-clause: levels are not known, parameters print as mangled */

    uint32_t pack_index; /* printing: which element of the packs of this expansion */
    uint32_t pack_count; /* printing: ms_DMCX_UNSET until the first pack is met */
    uint32_t dependent;  /* printing: how often it mattered where a node stands */
    bool is_erased;      /* printing: something printed was taken back: no copies are made from then on */
    uint32_t brackets;   /* printing: brackets open in template arguments; in 0 a > needs its own */
    bool in_args;        /* printing: inside template arguments */
    uint32_t depth;      /* printing: nodes open */
    char last;           /* printing: last byte put */
} ms_dmcx;

/* What a name's reader tells the encoding around it. */
typedef struct ms_dmcx_name_state {
    uint32_t forward;     /* forward references below this one belong to the encoding outside */
    bool special;         /* constructor, destructor or conversion: no return type */
    bool ends_with_args;  /* a template: the return type is mangled */
    bool explicit_object; /* the first parameter is `this` */
    uint8_t quals;        /* of the member function */
    uint8_t ref;          /* 1 `&`, 2 `&&` */
} ms_dmcx_name_state;

/* ---- C++: tables ---- */

/* Fixed words: name, spelling. A reference below ms_DMCX_W_COUNT is the word of that number and needs no
 * node. */
/* clang-format off */
#define ms_DMCX_WORDS(W)                                                                                     \
    W(NONE, "") W(VOID, "void") W(WCHAR, "wchar_t") W(BOOL, "bool") W(CHAR, "char") W(SCHAR, "signed char")  \
    W(UCHAR, "unsigned char") W(SHORT, "short") W(USHORT, "unsigned short") W(INT, "int")                    \
    W(UINT, "unsigned int") W(LONG, "long") W(ULONG, "unsigned long") W(LLONG, "long long")                  \
    W(ULLONG, "unsigned long long") W(INT128, "__int128") W(UINT128, "unsigned __int128") W(FLOAT, "float")  \
    W(DOUBLE, "double") W(LDOUBLE, "long double") W(FLOAT128, "__float128") W(ELLIPSIS, "...")               \
    W(DEC64, "decimal64") W(DEC128, "decimal128") W(DEC32, "decimal32") W(HALF, "half")                      \
    W(BFLOAT16, "std::bfloat16_t") W(CHAR32, "char32_t") W(CHAR16, "char16_t") W(CHAR8, "char8_t")           \
    W(AUTO, "auto") W(DECLTYPE_AUTO, "decltype(auto)") W(NULLPTR_T, "std::nullptr_t") W(NULLPTR, "nullptr")  \
    W(STD, "std") W(ANONYMOUS, "(anonymous namespace)") W(STRING_LITERAL, "string literal") W(THIS, "this")  \
    W(BLOCK, "'block-literal'") W(NOEXCEPT, "noexcept") W(THROW, "throw") W(TRUE, "true") W(FALSE, "false")  \
    W(SUFFIX_U, "u") W(SUFFIX_L, "l") W(SUFFIX_UL, "ul") W(SUFFIX_LL, "ll") W(SUFFIX_ULL, "ull")             \
    W(COMPLEX, " complex") W(IMAGINARY, " imaginary") W(K_AUTO, " auto")                                     \
    W(K_DECLTYPE_AUTO, " decltype(auto)") W(ACCUM_S, "short _Accum") W(ACCUM_T, "unsigned short _Accum")     \
    W(ACCUM_I, "_Accum") W(ACCUM_J, "unsigned _Accum") W(ACCUM_L, "long _Accum")                             \
    W(ACCUM_M, "unsigned long _Accum") W(FRACT_S, "short _Fract") W(FRACT_T, "unsigned short _Fract")        \
    W(FRACT_I, "_Fract") W(FRACT_J, "unsigned _Fract") W(FRACT_L, "long _Fract")                             \
    W(FRACT_M, "unsigned long _Fract") W(SAT_ACCUM_S, "_Sat short _Accum")                                   \
    W(SAT_ACCUM_T, "_Sat unsigned short _Accum") W(SAT_ACCUM_I, "_Sat _Accum")                               \
    W(SAT_ACCUM_J, "_Sat unsigned _Accum") W(SAT_ACCUM_L, "_Sat long _Accum")                                \
    W(SAT_ACCUM_M, "_Sat unsigned long _Accum") W(SAT_FRACT_S, "_Sat short _Fract")                          \
    W(SAT_FRACT_T, "_Sat unsigned short _Fract") W(SAT_FRACT_I, "_Sat _Fract")                               \
    W(SAT_FRACT_J, "_Sat unsigned _Fract") W(SAT_FRACT_L, "_Sat long _Fract")                                \
    W(SAT_FRACT_M, "_Sat unsigned long _Fract") W(STRUCT, "struct ") W(UNION, "union ") W(ENUM, "enum ")     \
    W(DECLTYPE_OF, "decltype") W(NOEXCEPT_OF, "noexcept ") W(SIZEOF_PACK, "sizeof... ") W(ALLOC_TOKEN, ".alloc_token")                      \
    W(VTABLE, "vtable for ") W(VTT, "VTT for ") W(TYPEINFO, "typeinfo for ")                                 \
    W(TYPEINFO_NAME, "typeinfo name for ") W(COVARIANT, "covariant return thunk to ")                        \
    W(TLS_WRAPPER, "thread-local wrapper routine for ")                                                      \
    W(TLS_INIT, "thread-local initialization routine for ")                                                  \
    W(PARAM_OBJECT, "template parameter object for ") W(VIRTUAL_THUNK, "virtual thunk to ")                  \
    W(THUNK, "non-virtual thunk to ") W(GUARD, "guard variable for ")                                        \
    W(REF_TEMP, "reference temporary for ") W(MODULE_INIT, "initializer for module ")                        \
    W(BLOCK_INVOKE, "invocation function for block in ") W(ALLOCATOR, "std::allocator")                      \
    W(BASIC_STRING, "std::basic_string") W(STRING, "std::string") W(ISTREAM, "std::istream")                 \
    W(OSTREAM, "std::ostream") W(IOSTREAM, "std::iostream")                                                  \
    W(FULL_STRING, "std::basic_string<char, std::char_traits<char>, std::allocator<char>>")                  \
    W(FULL_ISTREAM, "std::basic_istream<char, std::char_traits<char>>")                                      \
    W(FULL_OSTREAM, "std::basic_ostream<char, std::char_traits<char>>")                                      \
    W(FULL_IOSTREAM, "std::basic_iostream<char, std::char_traits<char>>")
/* clang-format on */

#define ms_DMCX_WORD_NAME(name, text) ms_DMCX_W_##name,
#define ms_DMCX_WORD_TEXT(name, text) {text, sizeof(text) - 1},
enum ms_dmcx_word { ms_DMCX_WORDS(ms_DMCX_WORD_NAME) ms_DMCX_W_COUNT };

typedef struct ms_dmcx_text {
    const char *ptr;
    size_t len;
} ms_dmcx_text;

static const ms_dmcx_text ms_dmcx_words[] = {ms_DMCX_WORDS(ms_DMCX_WORD_TEXT)};
#undef ms_DMCX_WORDS
#undef ms_DMCX_WORD_NAME
#undef ms_DMCX_WORD_TEXT

/* ABI 5.1.5, <builtin-type> of one letter; 0 = not one. */
/* clang-format off */
static const uint8_t ms_dmcx_builtins[26] = {
    ms_DMCX_W_SCHAR, ms_DMCX_W_BOOL,    ms_DMCX_W_CHAR,   ms_DMCX_W_DOUBLE,   ms_DMCX_W_LDOUBLE,
    ms_DMCX_W_FLOAT, ms_DMCX_W_FLOAT128, ms_DMCX_W_UCHAR, ms_DMCX_W_INT,      ms_DMCX_W_UINT,
    0,               ms_DMCX_W_LONG,    ms_DMCX_W_ULONG,  ms_DMCX_W_INT128,   ms_DMCX_W_UINT128,
    0,               0,                 0,                ms_DMCX_W_SHORT,    ms_DMCX_W_USHORT,
    0,               ms_DMCX_W_VOID,    ms_DMCX_W_WCHAR,  ms_DMCX_W_LLONG,    ms_DMCX_W_ULLONG,
    ms_DMCX_W_ELLIPSIS};
/* clang-format on */

/* Binding strength of expressions, strongest first (the C++ standard's grammar, [expr]). */
enum ms_dmcx_prec {
    ms_DMCX_PRIMARY,
    ms_DMCX_POSTFIX,
    ms_DMCX_UNARY,
    ms_DMCX_CAST,
    ms_DMCX_PTRMEM,
    ms_DMCX_MUL,
    ms_DMCX_ADD,
    ms_DMCX_SHIFT,
    ms_DMCX_SPACESHIP,
    ms_DMCX_RELATIONAL,
    ms_DMCX_EQUALITY,
    ms_DMCX_AND,
    ms_DMCX_XOR,
    ms_DMCX_IOR,
    ms_DMCX_ANDIF,
    ms_DMCX_ORIF,
    ms_DMCX_CONDITIONAL,
    ms_DMCX_ASSIGN,
    ms_DMCX_COMMA,
    ms_DMCX_ANY
};

/* How an operator's operands are mangled. Those after NAME_ONLY cannot name a function. */
enum ms_dmcx_op_kind {
    ms_DMCX_OP_PREFIX,
    ms_DMCX_OP_POSTFIX,
    ms_DMCX_OP_BINARY,
    ms_DMCX_OP_SUBSCRIPT,
    ms_DMCX_OP_ARROW, /* ->, ->*: nameable member access */
    ms_DMCX_OP_NEW,
    ms_DMCX_OP_NEW_ARRAY,
    ms_DMCX_OP_DELETE,
    ms_DMCX_OP_DELETE_ARRAY,
    ms_DMCX_OP_CALL,
    ms_DMCX_OP_PAREN_CALL, /* of a parenthesised name */
    ms_DMCX_OP_CONVERT,
    ms_DMCX_OP_CONDITIONAL,
    ms_DMCX_OP_NAME_ONLY,
    ms_DMCX_OP_DOT, /* ., .* */
    ms_DMCX_OP_NAMED_CAST,
    ms_DMCX_OP_OF_TYPE,
    ms_DMCX_OP_OF_EXPR
};

typedef struct ms_dmcx_op {
    char code[2];
    uint8_t kind;
    uint8_t prec;
    const char *symbol;
    size_t len;
} ms_dmcx_op;

/* ABI 5.1.3, <operator-name>, and the operator-like forms of <expression>, sorted by code. */
#define ms_DMCX_OP(c0, c1, kind, prec, symbol)                                                               \
    {                                                                                                        \
        {c0, c1}, ms_DMCX_OP_##kind, ms_DMCX_##prec, symbol, sizeof(symbol) - 1                              \
    }
static const ms_dmcx_op ms_dmcx_ops[] = {
    ms_DMCX_OP('a', 'N', BINARY, ASSIGN, "&="),
    ms_DMCX_OP('a', 'S', BINARY, ASSIGN, "="),
    ms_DMCX_OP('a', 'a', BINARY, ANDIF, "&&"),
    ms_DMCX_OP('a', 'd', PREFIX, UNARY, "&"),
    ms_DMCX_OP('a', 'n', BINARY, AND, "&"),
    ms_DMCX_OP('a', 't', OF_TYPE, UNARY, "alignof "),
    ms_DMCX_OP('a', 'w', NAME_ONLY, PRIMARY, "co_await"),
    ms_DMCX_OP('a', 'z', OF_EXPR, UNARY, "alignof "),
    ms_DMCX_OP('c', 'c', NAMED_CAST, POSTFIX, "const_cast"),
    ms_DMCX_OP('c', 'l', CALL, POSTFIX, "()"),
    ms_DMCX_OP('c', 'm', BINARY, COMMA, ","),
    ms_DMCX_OP('c', 'o', PREFIX, UNARY, "~"),
    ms_DMCX_OP('c', 'p', PAREN_CALL, POSTFIX, "()"),
    ms_DMCX_OP('c', 'v', CONVERT, CAST, ""),
    ms_DMCX_OP('d', 'V', BINARY, ASSIGN, "/="),
    ms_DMCX_OP('d', 'a', DELETE_ARRAY, UNARY, "delete[]"),
    ms_DMCX_OP('d', 'c', NAMED_CAST, POSTFIX, "dynamic_cast"),
    ms_DMCX_OP('d', 'e', PREFIX, UNARY, "*"),
    ms_DMCX_OP('d', 'l', DELETE, UNARY, "delete"),
    ms_DMCX_OP('d', 's', DOT, PTRMEM, ".*"),
    ms_DMCX_OP('d', 't', DOT, POSTFIX, "."),
    ms_DMCX_OP('d', 'v', BINARY, ASSIGN, "/"), /* looks wrong, but so llvm-cxxfilt sets its parentheses */
    ms_DMCX_OP('e', 'O', BINARY, ASSIGN, "^="),
    ms_DMCX_OP('e', 'o', BINARY, XOR, "^"),
    ms_DMCX_OP('e', 'q', BINARY, EQUALITY, "=="),
    ms_DMCX_OP('g', 'e', BINARY, RELATIONAL, ">="),
    ms_DMCX_OP('g', 't', BINARY, RELATIONAL, ">"),
    ms_DMCX_OP('i', 'x', SUBSCRIPT, POSTFIX, "[]"),
    ms_DMCX_OP('l', 'S', BINARY, ASSIGN, "<<="),
    ms_DMCX_OP('l', 'e', BINARY, RELATIONAL, "<="),
    ms_DMCX_OP('l', 's', BINARY, SHIFT, "<<"),
    ms_DMCX_OP('l', 't', BINARY, RELATIONAL, "<"),
    ms_DMCX_OP('m', 'I', BINARY, ASSIGN, "-="),
    ms_DMCX_OP('m', 'L', BINARY, ASSIGN, "*="),
    ms_DMCX_OP('m', 'i', BINARY, ADD, "-"),
    ms_DMCX_OP('m', 'l', BINARY, MUL, "*"),
    ms_DMCX_OP('m', 'm', POSTFIX, POSTFIX, "--"),
    ms_DMCX_OP('n', 'a', NEW_ARRAY, UNARY, "new[]"),
    ms_DMCX_OP('n', 'e', BINARY, EQUALITY, "!="),
    ms_DMCX_OP('n', 'g', PREFIX, UNARY, "-"),
    ms_DMCX_OP('n', 't', PREFIX, UNARY, "!"),
    ms_DMCX_OP('n', 'w', NEW, UNARY, "new"),
    ms_DMCX_OP('o', 'R', BINARY, ASSIGN, "|="),
    ms_DMCX_OP('o', 'o', BINARY, ORIF, "||"),
    ms_DMCX_OP('o', 'r', BINARY, IOR, "|"),
    ms_DMCX_OP('p', 'L', BINARY, ASSIGN, "+="),
    ms_DMCX_OP('p', 'l', BINARY, ADD, "+"),
    ms_DMCX_OP('p', 'm', ARROW, PTRMEM, "->*"),
    ms_DMCX_OP('p', 'p', POSTFIX, POSTFIX, "++"),
    ms_DMCX_OP('p', 's', PREFIX, UNARY, "+"),
    ms_DMCX_OP('p', 't', ARROW, POSTFIX, "->"),
    ms_DMCX_OP('q', 'u', CONDITIONAL, CONDITIONAL, "?"),
    ms_DMCX_OP('r', 'M', BINARY, ASSIGN, "%="),
    ms_DMCX_OP('r', 'S', BINARY, ASSIGN, ">>="),
    ms_DMCX_OP('r', 'c', NAMED_CAST, POSTFIX, "reinterpret_cast"),
    ms_DMCX_OP('r', 'm', BINARY, MUL, "%"),
    ms_DMCX_OP('r', 's', BINARY, SHIFT, ">>"),
    ms_DMCX_OP('s', 'c', NAMED_CAST, POSTFIX, "static_cast"),
    ms_DMCX_OP('s', 's', BINARY, SPACESHIP, "<=>"),
    ms_DMCX_OP('s', 't', OF_TYPE, UNARY, "sizeof "),
    ms_DMCX_OP('s', 'z', OF_EXPR, UNARY, "sizeof "),
    ms_DMCX_OP('t', 'e', OF_EXPR, POSTFIX, "typeid "),
    ms_DMCX_OP('t', 'i', OF_TYPE, POSTFIX, "typeid "),
};
#undef ms_DMCX_OP
enum ms_dmcx_op_count { ms_DMCX_OP_COUNT = sizeof(ms_dmcx_ops) / sizeof(ms_dmcx_ops[0]) };

/* ---- C++: nodes ---- */

/* The printer knows each group by its first kind. */
enum ms_dmcx_kind {
    ms_DMCX_WORD, /* a word; never stored */
    /* Names in scopes */
    ms_DMCX_TEXT,      /* a, b: span */
    ms_DMCX_NESTED,    /* a::b; c, x as in TEMPLATE */
    ms_DMCX_TEMPLATE,  /* a<list b>; c = where it was printed and how long, x = in how many steps */
    ms_DMCX_FRIEND,    /* a::friend b */
    ms_DMCX_LOCAL,     /* encoding a :: entity b */
    ms_DMCX_QUALIFIED, /* a::b of an unresolved name */
    ms_DMCX_GLOBAL,    /* ::a */
    ms_DMCX_ABI_TAG,   /* a[abi:b] */
    ms_DMCX_MODULE,    /* parent a, name b, x = partition */
    ms_DMCX_IN_MODULE, /* name b at module a */
    /* Names of entities */
    ms_DMCX_CTOR,          /* of a */
    ms_DMCX_DTOR,          /* of a */
    ms_DMCX_DTOR_NAME,     /* ~a */
    ms_DMCX_OPERATOR,      /* x = index in the table */
    ms_DMCX_LITERAL_OP,    /* operator"" a */
    ms_DMCX_CONVERSION,    /* operator a */
    ms_DMCX_UNNAMED,       /* span a, b: count */
    ms_DMCX_CLOSURE,       /* lists of template parameters a and of parameters b, tail c */
    ms_DMCX_CLOSURE_TAIL,  /* constraints a and b, count c */
    ms_DMCX_BINDING,       /* [list a] */
    ms_DMCX_SPECIAL,       /* x = word; a */
    ms_DMCX_CTOR_VTABLE,   /* a in b */
    ms_DMCX_DOT_SUFFIX,    /* a (b) */
    ms_DMCX_ENCODING,      /* return type a, name b, tail c; x = qualifiers, y = reference */
    ms_DMCX_ENCODING_TAIL, /* list of parameters a, enable_if conditions b (x = has them), constraint c */
    ms_DMCX_THIS_PARAM,    /* this a */
    /* Types */
    ms_DMCX_QUAL,        /* a; x = qualifiers */
    ms_DMCX_VENDOR_QUAL, /* a, name (perhaps with arguments) b */
    ms_DMCX_OBJC_PROTO,  /* a<b> */
    ms_DMCX_POINTER,
    ms_DMCX_REFERENCE,   /* a; x = 1 &, 2 &&; y = being printed */
    ms_DMCX_MEMBER_PTR,  /* class a, member type b */
    ms_DMCX_ARRAY,       /* of a, dimension b */
    ms_DMCX_FUNCTION,    /* return type a, parameters b, exceptions c; x = qualifiers, y = reference */
    ms_DMCX_NOEXCEPT_IF, /* noexcept(a) */
    ms_DMCX_THROW_LIST,  /* throw(list a) */
    ms_DMCX_VECTOR,      /* of a, dimension b */
    ms_DMCX_PIXEL,       /* dimension a */
    ms_DMCX_AFTER,       /* a, then word x */
    ms_DMCX_ELABORATED,  /* word x, then a */
    ms_DMCX_FLOAT_N,     /* span a, b */
    ms_DMCX_BIT_INT,     /* a = width; x = unsigned */
    ms_DMCX_TRANSFORM,   /* a(b) */
    /* Packs, template parameters */
    ms_DMCX_EXPANSION,        /* a... */
    ms_DMCX_PACK,             /* a parameter that stands for b elements, in the cells from a */
    ms_DMCX_ARG_PACK,         /* the list a as an argument; c = its PACK once asked for */
    ms_DMCX_FORWARD,          /* parameter a, waits before it b, its argument c; y = being printed */
    ms_DMCX_SYNTHETIC,        /* an invented parameter name: x = 0 T, 1 N, 2 TT; a = number */
    ms_DMCX_DECL_TYPE,        /* typename a */
    ms_DMCX_DECL_CONSTRAINED, /* constraint b, name a */
    ms_DMCX_DECL_VALUE,       /* type b, name a */
    ms_DMCX_DECL_TEMPLATE,    /* template<list b> typename a requires c */
    ms_DMCX_DECL_PACK,        /* a... */
    ms_DMCX_QUALIFIED_ARG,    /* argument a, whose parameter's declaration is not printed */
    /* Operators, calls, casts; x = index in the operator table where there is one */
    ms_DMCX_PREFIX,
    ms_DMCX_POSTFIX_OP,
    ms_DMCX_BINARY,
    ms_DMCX_SUBSCRIPT,
    ms_DMCX_MEMBER,
    ms_DMCX_NEW,        /* placement list a, type b, initialisers c; y = global */
    ms_DMCX_DELETE,     /* a; y = global */
    ms_DMCX_CALL,       /* a(list b) */
    ms_DMCX_CONVERT,    /* (a)(list b) */
    ms_DMCX_CHOICE,     /* a ? b : c */
    ms_DMCX_NAMED_CAST, /* x<a>(b) */
    ms_DMCX_OF,         /* operator x (a) */
    ms_DMCX_ENCLOSED,   /* word x (a) */
    ms_DMCX_SIZEOF_PARAM_PACK,
    ms_DMCX_PACK_INDEX,  /* element b of pack a */
    ms_DMCX_SIZEOF_ARGS, /* list a */
    ms_DMCX_FOLD,        /* pack a, start b; y = left */
    /* Values, lambdas, requirements */
    ms_DMCX_INIT_LIST,  /* a{list b} */
    ms_DMCX_FIELD_INIT, /* field a, value b */
    ms_DMCX_INDEX_INIT, /* [a], value b */
    ms_DMCX_RANGE_INIT, /* [a ... b], value c */
    ms_DMCX_THROW,
    ms_DMCX_FUNCTION_PARAM, /* fp and span a, b */
    ms_DMCX_INTEGER,        /* span a, b; word x */
    ms_DMCX_ENUM_VALUE,     /* (a) span b, c */
    ms_DMCX_FLOATING,       /* span a, b */
    ms_DMCX_STRING_OF,      /* type a */
    ms_DMCX_LAMBDA,         /* closure a */
    ms_DMCX_SUBOBJECT,      /* type a of b at offset c */
    ms_DMCX_MEMBER_CONVERT, /* (a)(b) */
    ms_DMCX_REQUIRES,       /* parameters a, requirements b */
    ms_DMCX_REQUIRE_EXPR,   /* a, noexcept x, type constraint b */
    ms_DMCX_REQUIRE_TYPE,   /* typename a */
    ms_DMCX_REQUIRE_NESTED  /* requires a */
};

/* The shape of a declarator. The upper bits say that it is not known before printing, because the node is
 * a pack or a forward reference. */
enum ms_dmcx_flag {
    ms_DMCX_RIGHT = 1, /* has a part after the name */
    ms_DMCX_IS_ARRAY = 2,
    ms_DMCX_IS_FUNCTION = 4,
    ms_DMCX_SHAPE = 7,
    ms_DMCX_ASK = 8, /* shape bit times this: ask when printing */
    ms_DMCX_ASK_ALL = 56
};

static ms_dmcx_node *ms_dmcx_at(const ms_dmcx *p, uint32_t ref)
{
    return (ms_dmcx_node *)(void *)&p->cells[ref];
}

static uint32_t ms_dmcx_kind_of(const ms_dmcx *p, uint32_t ref)
{
    return ref < ms_DMCX_W_COUNT ? (uint32_t)ms_DMCX_WORD : ms_dmcx_at(p, ref)->kind;
}

static uint32_t ms_dmcx_flags_of(const ms_dmcx *p, uint32_t ref)
{
    return ref < ms_DMCX_W_COUNT ? 0u : ms_dmcx_at(p, ref)->flags;
}

/* Makes the name fail. Returns 0, the reference that means failure. */
static uint32_t ms_dmcx_fail(ms_dmcx *p)
{
    p->d->failed = true;
    return 0;
}

/* Takes count cells. Returns 0 when the scratch is used up. The scratch is a budget of its own, so this
 * takes no step. */
static uint32_t ms_dmcx_take(ms_dmcx *p, uint32_t count)
{
    uint32_t ref = p->used;
    if (count > p->limit - ref) {
        p->d->no_mem = true;
        return ms_dmcx_fail(p);
    }
    p->used = ref + count;
    return ref;
}

/* Makes a node; its flags are those of a plain name. */
static uint32_t ms_dmcx_make(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t ref = ms_dmcx_take(p, 2);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    n->kind = (uint8_t)kind;
    n->flags = 0;
    n->x = 0;
    n->y = 0;
    n->a = a;
    n->b = b;
    n->c = c;
    return ref;
}

/* Makes a node around part a. Returns 0 when a could not be read. */
static uint32_t ms_dmcx_make_of(ms_dmcx *p, uint32_t kind, uint32_t a)
{
    return a == 0 ? 0 : ms_dmcx_make(p, kind, a, 0, 0);
}

static uint32_t ms_dmcx_make_two(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t b)
{
    return a == 0 || b == 0 ? 0 : ms_dmcx_make(p, kind, a, b, 0);
}

static uint32_t ms_dmcx_make_x(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t x)
{
    uint32_t ref = ms_dmcx_make_of(p, kind, a);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)x;
    return ref;
}

static uint32_t ms_dmcx_make_flagged(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t b, uint32_t flags)
{
    uint32_t ref = ms_dmcx_make(p, kind, a, b, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->flags = (uint8_t)flags;
    return ref;
}

static uint32_t ms_dmcx_make_text(ms_dmcx *p, ms_dmcx_span t)
{
    return t.len == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_TEXT, t.off, t.len, 0);
}

/* The flags of a pointer to ref, or the like: only what is printed after the name is passed on. */
static uint32_t ms_dmcx_right_flags(const ms_dmcx *p, uint32_t ref)
{
    return ms_dmcx_flags_of(p, ref) & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK);
}

static bool ms_dmcx_append(ms_dmcx *p, ms_dmcx_cell *head, uint32_t item)
{
    if (item == 0)
        return false;
    uint32_t ref = ms_dmcx_take(p, 1);
    if (ref == 0)
        return false;
    p->cells[ref].item = item;
    p->cells[ref].next = 0;
    if (head->item == 0)
        head->item = ref;
    else
        p->cells[head->next].next = ref;
    head->next = ref;
    return true;
}

static ms_dmcx_cell ms_dmcx_empty(void)
{
    ms_dmcx_cell head;
    head.item = 0;
    head.next = 0;
    return head;
}

/* Adds a substitution candidate (ABI 5.1.10). Returns ref, or 0. */
static uint32_t ms_dmcx_add_sub(ms_dmcx *p, uint32_t ref)
{
    if (ref == 0)
        return 0;
    if ((p->sub_count & 1u) == 0) {
        if (p->limit == p->used) {
            p->d->no_mem = true;
            return ms_dmcx_fail(p);
        }
        p->limit--;
    }
    p->sub_count++;
    p->subs_end[-(ptrdiff_t)p->sub_count] = ref;
    return ref;
}

/* Element i of a pack's array: two to a cell. */
static uint32_t *ms_dmcx_pack_at(const ms_dmcx *p, uint32_t v, uint32_t i)
{
    ms_dmcx_cell *cell = &p->cells[v + i / 2];
    return i % 2 == 0 ? &cell->item : &cell->next;
}

/* ---- C++: characters ---- */

static char ms_dmcx_peek(const ms_dmcx *p, uint32_t ahead)
{
    return ahead < p->len - p->at ? p->s[p->at + ahead] : '\0';
}

static bool ms_dmcx_eat(ms_dmcx *p, char c)
{
    if (p->at == p->len || p->s[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool ms_dmcx_eat2(ms_dmcx *p, char c0, char c1)
{
    if (p->len - p->at < 2 || p->s[p->at] != c0 || p->s[p->at + 1] != c1)
        return false;
    p->at += 2;
    return true;
}

static bool ms_dmcx_starts(const ms_dmcx *p, uint32_t off, const char *text, uint32_t len)
{
    return len <= p->len - off && ms_equal(p->s + off, text, len);
}

static bool ms_dmcx_eat_text(ms_dmcx *p, const char *text, uint32_t len)
{
    if (!ms_dmcx_starts(p, p->at, text, len))
        return false;
    p->at += len;
    return true;
}

static bool ms_dmcx_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads a <number>. Its length is 0 when there is none; a lone n is taken even then, as llvm-cxxfilt does. */
static ms_dmcx_span ms_dmcx_number(ms_dmcx *p, bool may_be_negative)
{
    ms_dmcx_span t;
    t.off = p->at;
    t.len = 0;
    uint32_t at = p->at;
    if (may_be_negative && ms_dmcx_peek(p, 0) == 'n')
        at++;
    uint32_t digits = at;
    while (at < p->len && ms_dmcx_is_digit(p->s[at]))
        at++;
    p->at = at;
    t.len = at == digits ? 0 : at - t.off;
    return t;
}

/* A decimal number that fits a name's length. */
static bool ms_dmcx_count(ms_dmcx *p, uint32_t *out)
{
    uint32_t value = 0;
    uint32_t at = p->at;
    while (at < p->len && ms_dmcx_is_digit(p->s[at])) {
        value = value * 10u + (uint32_t)(p->s[at] - '0');
        if (value > ms_DMCX_MAX_NAME)
            return false;
        at++;
    }
    bool any = at != p->at;
    p->at = at;
    *out = value;
    return any;
}

/* <seq-id>: base 36. */
static bool ms_dmcx_seq_id(ms_dmcx *p, uint32_t *out)
{
    uint32_t value = 0;
    uint32_t start = p->at;
    for (; p->at < p->len; p->at++) {
        char c = p->s[p->at];
        if (ms_dmcx_is_digit(c))
            value = value * 36u + (uint32_t)(c - '0');
        else if (c >= 'A' && c <= 'Z')
            value = value * 36u + (uint32_t)(c - 'A') + 10u;
        else
            break;
        if (value > ms_DMCX_MAX_NAME)
            value = ms_DMCX_MAX_NAME; /* more than there can be candidates */
    }
    *out = value;
    return p->at != start;
}

/* <source-name>'s text; its length is 0 when there is none. */
static ms_dmcx_span ms_dmcx_source_text(ms_dmcx *p)
{
    ms_dmcx_span t;
    t.off = 0;
    t.len = 0;
    uint32_t len;
    if (!ms_dmcx_count(p, &len) || len > p->len - p->at)
        return t;
    t.off = p->at;
    t.len = len;
    p->at += len;
    return t;
}

static uint32_t ms_dmcx_source_name(ms_dmcx *p)
{
    ms_dmcx_span t = ms_dmcx_source_text(p);
    if (t.len >= 10 && ms_dmcx_starts(p, t.off, "_GLOBAL__N", 10))
        return ms_DMCX_W_ANONYMOUS;
    return ms_dmcx_make_text(p, t);
}

static bool ms_dmcx_is_text(const ms_dmcx *p, uint32_t ref, const char *text, uint32_t len)
{
    if (ms_dmcx_kind_of(p, ref) != ms_DMCX_TEXT)
        return false;
    const ms_dmcx_node *n = ms_dmcx_at(p, ref);
    return n->b == len && ms_equal(p->s + n->a, text, len);
}

/* <CV-qualifiers>: 1 const, 2 volatile, 4 restrict. */
static uint32_t ms_dmcx_quals(ms_dmcx *p)
{
    uint32_t quals = 0;
    char c = ms_dmcx_peek(p, 0);
    if (c != 'r' && c != 'V' && c != 'K')
        return 0;
    if (ms_dmcx_eat(p, 'r'))
        quals |= 4u;
    if (ms_dmcx_eat(p, 'V'))
        quals |= 2u;
    if (ms_dmcx_eat(p, 'K'))
        quals |= 1u;
    return quals;
}

/* Reads an operator. Returns NULL when there is none. */
static const ms_dmcx_op *ms_dmcx_operator(ms_dmcx *p)
{
    if (p->len - p->at < 2)
        return NULL;
    char c0 = p->s[p->at];
    char c1 = p->s[p->at + 1];
    uint32_t lo = 0;
    uint32_t hi = ms_DMCX_OP_COUNT;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const ms_dmcx_op *op = &ms_dmcx_ops[mid];
        if (op->code[0] < c0 || (op->code[0] == c0 && op->code[1] < c1))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == ms_DMCX_OP_COUNT || ms_dmcx_ops[lo].code[0] != c0 || ms_dmcx_ops[lo].code[1] != c1)
        return NULL;
    p->at += 2;
    return &ms_dmcx_ops[lo];
}

/* Goes one level deeper in the grammar. Returns false when that is too deep or the budget is spent. */
static bool ms_dmcx_enter(ms_dmcx *p)
{
    ms_dm *d = p->d;
    if (d->failed || d->work == 0 || d->depth >= MACHSYM_DEMANGLE_CXX_DEPTH) {
        d->failed = true;
        return false;
    }
    d->work--;
    d->depth++;
    return true;
}

#endif /* MACHSYM_NO_CXX */

#endif /* ms_ROOM_names_cxx_nodes */
