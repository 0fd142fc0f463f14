#ifndef ms_ROOM_names_cxx
#define ms_ROOM_names_cxx
#include "../base/bytes.h"
#include "core.h"

#ifndef MACHSYM_NO_CXX
/* ---- C++: the Itanium ABI's names ----
 * Grammar: Itanium C++ ABI, 5.1. The name becomes a tree of 16-byte nodes in the scratch and is printed from
 * it; a tree is needed because substitutions repeat parts, and because declarators print around their names.
 * Where the ABI leaves the spelling open, llvm-cxxfilt's is used, as Apple's tools do. */

/* Real names nest less than 50 deep, and need less than 50 nodes open to print. These keep the stack below
 * 128 KB. Substitutions make what is printed nest deeper than what is read. */
enum ms_dmcx_limits { ms_DMCX_MAX_DEPTH = 224, ms_DMCX_MAX_PRINT_DEPTH = 448, ms_DMCX_MAX_NAME = 1 << 24 };

#define ms_DMCX_UNSET UINT32_MAX

/* One entry of a list; also a list's head (item = first cell, next = last cell). References count cells. */
typedef struct ms_dmcx_cell {
    uint32_t item; /* a node, or 0 */
    uint32_t next; /* a cell, or 0 at the end */
} ms_dmcx_cell;

/* A part of the name; what a, b, c, x and y hold is told at its kind. */
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

/* Fixed text: name and spelling. References below ms_DMCX_W_COUNT are these words and need no node. */
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
    W(DECLTYPE_OF, "decltype") W(NOEXCEPT_OF, "noexcept ") W(SIZEOF_PACK, "sizeof... ")                      \
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

enum ms_dmcx_kind {
    ms_DMCX_WORD, /* a word; never stored */
    /* Names */
    ms_DMCX_TEXT,          /* a, b: span */
    ms_DMCX_NESTED,        /* a::b */
    ms_DMCX_FRIEND,        /* a::friend b */
    ms_DMCX_LOCAL,         /* encoding a :: entity b */
    ms_DMCX_QUALIFIED,     /* a::b of an unresolved name */
    ms_DMCX_GLOBAL,        /* ::a */
    ms_DMCX_TEMPLATE,      /* a<list b> */
    ms_DMCX_ABI_TAG,       /* a[abi:b] */
    ms_DMCX_MODULE,        /* parent a, name b, x = partition */
    ms_DMCX_IN_MODULE,     /* name b at module a */
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
    ms_DMCX_REFERENCE,        /* a; x = 1 &, 2 &&; y = being printed */
    ms_DMCX_MEMBER_PTR,       /* class a, member type b */
    ms_DMCX_ARRAY,            /* of a, dimension b */
    ms_DMCX_FUNCTION,         /* return type a, parameters b, exceptions c; x = qualifiers, y = reference */
    ms_DMCX_NOEXCEPT_IF,      /* noexcept(a) */
    ms_DMCX_THROW_LIST,       /* throw(list a) */
    ms_DMCX_VECTOR,           /* of a, dimension b */
    ms_DMCX_PIXEL,            /* dimension a */
    ms_DMCX_AFTER,            /* a, then word x */
    ms_DMCX_ELABORATED,       /* word x, then a */
    ms_DMCX_FLOAT_N,          /* span a, b */
    ms_DMCX_BIT_INT,          /* a = width; x = unsigned */
    ms_DMCX_TRANSFORM,        /* a(b) */
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
    /* Expressions; x = index in the operator table where there is one */
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
    ms_DMCX_SIZEOF_ARGS, /* list a */
    ms_DMCX_FOLD,        /* pack a, start b; y = left */
    ms_DMCX_INIT_LIST,   /* a{list b} */
    ms_DMCX_FIELD_INIT,  /* field a, value b */
    ms_DMCX_INDEX_INIT,  /* [a], value b */
    ms_DMCX_RANGE_INIT,  /* [a ... b], value c */
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

/* A declarator's shape. The upper bits say "not known before printing", for packs and forward references. */
enum ms_dmcx_flag {
    ms_DMCX_RIGHT = 1, /* has a part behind the name */
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

/* Ends the work on this name. Returns 0, the reference that means failure. */
static uint32_t ms_dmcx_fail(ms_dmcx *p)
{
    p->d->failed = true;
    return 0;
}

/* Takes count cells; 0 when the scratch is used up. It is a budget of its own, so this costs no work. */
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

/* As ms_dmcx_make, but 0 when the part it needs could not be read. */
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

/* The flags of a pointer to it, and the like: only the part behind the name shines through. */
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

/* ---- C++: reading ---- */

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

/* <number>; its length is 0 when there is none. A lone n is read all the same: llvm-cxxfilt does so. */
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
    if (ms_dmcx_eat(p, 'r'))
        quals |= 4u;
    if (ms_dmcx_eat(p, 'V'))
        quals |= 2u;
    if (ms_dmcx_eat(p, 'K'))
        quals |= 1u;
    return quals;
}

/* The operator at the reading position, which moves behind it; NULL when there is none. */
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

/* One step deeper in the grammar; false when it goes too deep or the budget is spent. */
static bool ms_dmcx_enter(ms_dmcx *p)
{
    ms_dm *d = p->d;
    if (d->failed || d->work == 0 || d->depth >= ms_DMCX_MAX_DEPTH) {
        d->failed = true;
        return false;
    }
    d->work--;
    d->depth++;
    return true;
}

/* floors: recursion */
static uint32_t ms_dmcx_type(ms_dmcx *p);
static uint32_t ms_dmcx_expr(ms_dmcx *p);
static uint32_t ms_dmcx_name(ms_dmcx *p, ms_dmcx_name_state *state);
static uint32_t ms_dmcx_encoding(ms_dmcx *p);
static uint32_t ms_dmcx_template_arg(ms_dmcx *p);
static uint32_t ms_dmcx_template_args(ms_dmcx *p, uint32_t name, bool tag);
static uint32_t ms_dmcx_param_decl(ms_dmcx *p, ms_dmcx_cell *params);
static uint32_t ms_dmcx_unnamed(ms_dmcx *p, ms_dmcx_name_state *state);
static uint32_t ms_dmcx_qualified(ms_dmcx *p);

/* The expression behind Q. It may use parameters of all enclosing templates, whose levels are not known. */
static uint32_t ms_dmcx_constraint_expr(ms_dmcx *p)
{
    bool constraint = p->constraint;
    p->constraint = true;
    uint32_t expr = ms_dmcx_expr(p);
    p->constraint = constraint;
    return expr;
}

/* The same for a concept's name that stands before a parameter. */
static uint32_t ms_dmcx_constraint_name(ms_dmcx *p)
{
    bool constraint = p->constraint;
    p->constraint = true;
    uint32_t name = ms_dmcx_name(p, NULL);
    p->constraint = constraint;
    return name;
}

/* ---- C++: template parameters ---- */

/* Opens a level. Returns its head's cell, 0 on failure. */
static uint32_t ms_dmcx_push_level(ms_dmcx *p)
{
    uint32_t head = ms_dmcx_take(p, 1);
    uint32_t level = ms_dmcx_take(p, 1);
    if (level == 0)
        return 0;
    p->cells[head] = ms_dmcx_empty();
    p->cells[level].item = head;
    p->cells[level].next = p->levels;
    p->levels = level;
    p->level_count++;
    return head;
}

static void ms_dmcx_pop_level(ms_dmcx *p)
{
    p->levels = p->cells[p->levels].next;
    p->level_count--;
}

/* Closes levels until count are left. */
static void ms_dmcx_pop_levels_to(ms_dmcx *p, uint32_t count)
{
    while (p->level_count > count)
        ms_dmcx_pop_level(p);
}

/* Element i of a pack's array: two to a cell. */
static uint32_t *ms_dmcx_pack_at(const ms_dmcx *p, uint32_t v, uint32_t i)
{
    ms_dmcx_cell *cell = &p->cells[v + i / 2];
    return i % 2 == 0 ? &cell->item : &cell->next;
}

/* What a template argument means where its parameter is used: a pack becomes a pack that expansions walk. */
static uint32_t ms_dmcx_argument(ms_dmcx *p, uint32_t arg)
{
    uint32_t kind = ms_dmcx_kind_of(p, arg);
    if (kind == ms_DMCX_QUALIFIED_ARG)
        return ms_dmcx_at(p, arg)->a;
    if (kind != ms_DMCX_ARG_PACK)
        return arg;
    if (ms_dmcx_at(p, arg)->c != 0)
        return ms_dmcx_at(p, arg)->c;
    uint32_t list = ms_dmcx_at(p, arg)->a;
    uint32_t count = 0;
    uint32_t flags = 0;
    for (uint32_t cell = list; cell != 0; cell = p->cells[cell].next) {
        uint32_t of = ms_dmcx_flags_of(p, p->cells[cell].item);
        flags |= (of & ms_DMCX_SHAPE) * ms_DMCX_ASK | (of & ms_DMCX_ASK_ALL);
        count++;
    }
    uint32_t v = ms_dmcx_take(p, count / 2 + 1);
    uint32_t pack = v == 0 ? 0 : ms_dmcx_make_flagged(p, ms_DMCX_PACK, v, count, flags);
    if (pack == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        *ms_dmcx_pack_at(p, v, i) = p->cells[list].item;
        list = p->cells[list].next;
    }
    ms_dmcx_at(p, arg)->c = pack;
    return pack;
}

/* Argument index of a level; 0 when there is none. */
static uint32_t ms_dmcx_level_argument(ms_dmcx *p, uint32_t level, uint32_t index)
{
    if (level >= p->level_count)
        return 0;
    uint32_t at = p->levels;
    for (uint32_t up = p->level_count - 1; up > level; up--)
        at = p->cells[at].next;
    uint32_t head = p->cells[at].item;
    uint32_t cell = head == 0 ? 0 : p->cells[head].item;
    if (index >= p->d->work)
        return ms_dmcx_fail(p);
    p->d->work -= index;
    for (; cell != 0 && index != 0; index--)
        cell = p->cells[cell].next;
    return cell == 0 ? 0 : ms_dmcx_argument(p, p->cells[cell].item);
}

/* `auto` of a generic lambda is mangled as a parameter of a level that is not there (ABI 5.1.8). */
static uint32_t ms_dmcx_lambda_auto(ms_dmcx *p, uint32_t level)
{
    if (p->auto_level != level || level > p->level_count)
        return 0;
    if (level == p->level_count) {
        uint32_t head = ms_dmcx_push_level(p);
        if (head == 0)
            return 0;
        p->cells[p->levels].item = 0;
    }
    return ms_DMCX_W_AUTO;
}

/* <template-param> (ABI 5.1.8) */
static uint32_t ms_dmcx_template_param(ms_dmcx *p)
{
    ms_dmcx_span t;
    t.off = p->at;
    if (!ms_dmcx_eat(p, 'T'))
        return 0;
    uint32_t level = 0;
    if (ms_dmcx_eat(p, 'L')) {
        if (!ms_dmcx_count(p, &level) || !ms_dmcx_eat(p, '_'))
            return 0;
        level++;
    }
    uint32_t index = 0;
    if (!ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_count(p, &index) || !ms_dmcx_eat(p, '_'))
            return 0;
        index++;
    }
    if (p->constraint) {
        t.len = p->at - 1 - t.off;
        return ms_dmcx_make_text(p, t);
    }
    if (p->permit_forward && level == 0) {
        uint32_t ref = ms_dmcx_make_flagged(p, ms_DMCX_FORWARD, index, p->forward, ms_DMCX_ASK_ALL);
        if (ref != 0)
            p->forward = ref;
        return ref;
    }
    uint32_t arg = ms_dmcx_level_argument(p, level, index);
    return arg != 0 ? arg : ms_dmcx_lambda_auto(p, level);
}

/* Gives the references that a conversion operator's type made to arguments behind it their arguments. */
static bool ms_dmcx_resolve_forward(ms_dmcx *p, uint32_t until)
{
    while (p->forward != until) {
        ms_dmcx_node *n = ms_dmcx_at(p, p->forward);
        uint32_t arg = ms_dmcx_level_argument(p, 0, n->a);
        if (arg == 0)
            return false;
        n->c = arg;
        p->forward = n->b;
    }
    return true;
}

static bool ms_dmcx_at_param_decl(const ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) != 'T')
        return false;
    char c = ms_dmcx_peek(p, 1);
    return c == 'y' || c == 'p' || c == 't' || c == 'n' || c == 'k';
}

/* ---- C++: names ---- */

/* <abi-tags> */
static uint32_t ms_dmcx_abi_tags(ms_dmcx *p, uint32_t base)
{
    while (base != 0 && ms_dmcx_eat(p, 'B')) {
        uint32_t tag = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
        if (tag == 0)
            return 0;
        base = ms_dmcx_make_flagged(p, ms_DMCX_ABI_TAG, base, tag, ms_dmcx_flags_of(p, base));
    }
    return base;
}

/* <substitution> but not St (ABI 5.1.10) */
static uint32_t ms_dmcx_substitution(ms_dmcx *p)
{
    if (!ms_dmcx_eat(p, 'S'))
        return 0;
    char c = ms_dmcx_peek(p, 0);
    if (c >= 'a' && c <= 'z') {
        uint32_t word = 0;
        switch (c) {
        case 'a': word = ms_DMCX_W_ALLOCATOR; break;
        case 'b': word = ms_DMCX_W_BASIC_STRING; break;
        case 's': word = ms_DMCX_W_STRING; break;
        case 'i': word = ms_DMCX_W_ISTREAM; break;
        case 'o': word = ms_DMCX_W_OSTREAM; break;
        case 'd': word = ms_DMCX_W_IOSTREAM; break;
        default: return 0;
        }
        p->at++;
        uint32_t tagged = ms_dmcx_abi_tags(p, word);
        return tagged == word ? word : ms_dmcx_add_sub(p, tagged);
    }
    uint32_t index = 0;
    if (!ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_seq_id(p, &index) || !ms_dmcx_eat(p, '_'))
            return 0;
        index++;
    }
    return index < p->sub_count ? p->subs_end[-1 - (ptrdiff_t)index] : 0;
}

/* <module-name>s before an entity: W foo WP bar. Returns false when malformed. */
static bool ms_dmcx_module(ms_dmcx *p, uint32_t *module)
{
    while (ms_dmcx_eat(p, 'W')) {
        uint32_t partition = ms_dmcx_eat(p, 'P');
        uint32_t name = ms_dmcx_source_name(p);
        uint32_t next = name == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_MODULE, *module, name, 0);
        if (ms_dmcx_add_sub(p, next) == 0)
            return false;
        ms_dmcx_at(p, next)->x = (uint8_t)partition;
        *module = next;
    }
    return true;
}

/* The class of a constructor is written out in full where its scope is an abbreviation. */
static uint32_t ms_dmcx_written_out(uint32_t scope)
{
    switch (scope) {
    case ms_DMCX_W_STRING: return ms_DMCX_W_FULL_STRING;
    case ms_DMCX_W_ISTREAM: return ms_DMCX_W_FULL_ISTREAM;
    case ms_DMCX_W_OSTREAM: return ms_DMCX_W_FULL_OSTREAM;
    case ms_DMCX_W_IOSTREAM: return ms_DMCX_W_FULL_IOSTREAM;
    default: return scope;
    }
}

/* A name within a name */
static uint32_t ms_dmcx_inner_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t name = ms_dmcx_name(p, state);
    p->d->depth--;
    return name;
}

/* <ctor-dtor-name> */
static uint32_t ms_dmcx_ctor_dtor(ms_dmcx *p, uint32_t scope, ms_dmcx_name_state *state)
{
    char c = ms_dmcx_peek(p, 1);
    if (ms_dmcx_eat(p, 'D')) {
        if (c < '0' || c > '5' || c == '3')
            return 0;
        p->at++;
        if (state != NULL)
            state->special = true;
        return ms_dmcx_make_of(p, ms_DMCX_DTOR, scope);
    }
    p->at++;
    bool inherited = ms_dmcx_eat(p, 'I');
    c = ms_dmcx_peek(p, 0);
    if (c < '1' || c > '5')
        return 0;
    p->at++;
    if (state != NULL)
        state->special = true;
    if (inherited && ms_dmcx_inner_name(p, state) == 0)
        return 0;
    return ms_dmcx_make_of(p, ms_DMCX_CTOR, scope);
}

/* cv <type>: its parameters may stand for arguments that come behind it. */
static uint32_t ms_dmcx_conversion_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    bool try_args = p->try_args;
    bool permit_forward = p->permit_forward;
    p->try_args = false;
    p->permit_forward = permit_forward || state != NULL;
    uint32_t type = ms_dmcx_type(p);
    p->try_args = try_args;
    p->permit_forward = permit_forward;
    if (state != NULL)
        state->special = true;
    return ms_dmcx_make_of(p, ms_DMCX_CONVERSION, type);
}

/* <operator-name> */
static uint32_t ms_dmcx_operator_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op != NULL) {
        if (op->kind == ms_DMCX_OP_CONVERT)
            return ms_dmcx_conversion_name(p, state);
        if (op->kind > ms_DMCX_OP_NAME_ONLY)
            return 0;
        uint32_t ref = ms_dmcx_make(p, ms_DMCX_OPERATOR, 0, 0, 0);
        if (ref != 0)
            ms_dmcx_at(p, ref)->x = (uint8_t)(op - ms_dmcx_ops);
        return ref;
    }
    if (ms_dmcx_eat2(p, 'l', 'i'))
        return ms_dmcx_make_of(p, ms_DMCX_LITERAL_OP, ms_dmcx_source_name(p));
    if (ms_dmcx_peek(p, 0) == 'v' && ms_dmcx_is_digit(ms_dmcx_peek(p, 1))) {
        p->at += 2; /* vendor's operator: v, number of operands, name */
        return ms_dmcx_make_of(p, ms_DMCX_CONVERSION, ms_dmcx_source_name(p));
    }
    return 0;
}

/* DC <source-name>+ E: a structured binding. */
static uint32_t ms_dmcx_binding(ms_dmcx *p)
{
    ms_dmcx_cell names = ms_dmcx_empty();
    do {
        if (!ms_dmcx_append(p, &names, ms_dmcx_source_name(p)))
            return 0;
    } while (!ms_dmcx_eat(p, 'E'));
    return ms_dmcx_make_of(p, ms_DMCX_BINDING, names.item);
}

/* <unqualified-name> in scope (0 = none) and module (0 = none); returns it with its scope. */
static uint32_t ms_dmcx_unqualified(ms_dmcx *p, ms_dmcx_name_state *state, uint32_t scope, uint32_t module)
{
    bool is_friend = false;
    char c = ms_dmcx_peek(p, 0);
    if (c < '1' || c > '9') {
        if (!ms_dmcx_module(p, &module))
            return 0;
        is_friend = scope != 0 && ms_dmcx_eat(p, 'F');
        ms_dmcx_eat(p, 'L');
        c = ms_dmcx_peek(p, 0);
    }
    uint32_t name;
    if (c >= '1' && c <= '9') {
        name = ms_dmcx_source_name(p);
    } else if (c == 'U') {
        name = ms_dmcx_unnamed(p, state);
    } else if (ms_dmcx_eat2(p, 'D', 'C')) {
        name = ms_dmcx_binding(p);
    } else if (c == 'C' || c == 'D') {
        if (scope == 0 || module != 0)
            return 0;
        scope = ms_dmcx_written_out(scope);
        name = ms_dmcx_ctor_dtor(p, scope, state);
    } else {
        name = ms_dmcx_operator_name(p, state);
    }
    if (name != 0 && module != 0)
        name = ms_dmcx_make(p, ms_DMCX_IN_MODULE, module, name, 0);
    if (ms_dmcx_peek(p, 0) == 'B')
        name = ms_dmcx_abi_tags(p, name);
    if (scope == 0)
        return name;
    return ms_dmcx_make_two(p, is_friend ? ms_DMCX_FRIEND : ms_DMCX_NESTED, scope, name);
}

/* <unscoped-name>; *is_sub tells whether it was a substitution, which in a name must be a template's. */
static uint32_t ms_dmcx_unscoped(ms_dmcx *p, ms_dmcx_name_state *state, bool *is_sub)
{
    uint32_t scope = ms_dmcx_eat2(p, 'S', 't') ? (uint32_t)ms_DMCX_W_STD : 0u;
    uint32_t module = 0;
    if (ms_dmcx_peek(p, 0) == 'S') {
        uint32_t sub = ms_dmcx_substitution(p);
        if (sub == 0)
            return 0;
        if (ms_dmcx_kind_of(p, sub) == ms_DMCX_MODULE) {
            module = sub;
        } else if (scope == 0) {
            *is_sub = true;
            return sub;
        } else {
            return 0;
        }
    }
    return ms_dmcx_unqualified(p, state, scope, module);
}

/* <CV-qualifiers> and <ref-qualifier>, or H, at the start of a nested name */
static void ms_dmcx_member_quals(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (ms_dmcx_eat(p, 'H')) {
        if (state != NULL)
            state->explicit_object = true;
        return;
    }
    uint32_t quals = ms_dmcx_quals(p);
    uint32_t ref = ms_dmcx_eat(p, 'O') ? 2u : ms_dmcx_eat(p, 'R') ? 1u : 0u;
    if (state != NULL) {
        state->quals = (uint8_t)quals;
        state->ref = (uint8_t)ref;
    }
}

/* Dt or DT <expression> E */
static uint32_t ms_dmcx_decltype(ms_dmcx *p)
{
    p->at += 2;
    uint32_t expr = ms_dmcx_expr(p);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, expr, ms_DMCX_W_DECLTYPE_OF) : 0;
}

/* One more component of a nested name. A scope set by a substitution is no new candidate: *is_new says so. */
static uint32_t ms_dmcx_component(ms_dmcx *p, ms_dmcx_name_state *state, uint32_t scope, bool *is_new)
{
    char c = ms_dmcx_peek(p, 0);
    if (ms_dmcx_is_digit(c))
        return ms_dmcx_unqualified(p, state, scope, 0);
    if (c == 'T')
        return scope != 0 ? 0 : ms_dmcx_template_param(p);
    if (c == 'I') {
        if (scope == 0 || ms_dmcx_kind_of(p, scope) == ms_DMCX_TEMPLATE)
            return 0;
        uint32_t name = ms_dmcx_template_args(p, scope, state != NULL);
        if (state != NULL)
            state->ends_with_args = true;
        return name;
    }
    if (c == 'D' && (ms_dmcx_peek(p, 1) == 't' || ms_dmcx_peek(p, 1) == 'T'))
        return scope != 0 ? 0 : ms_dmcx_decltype(p);
    uint32_t module = 0;
    if (c == 'S') {
        uint32_t sub = ms_dmcx_eat2(p, 'S', 't') ? (uint32_t)ms_DMCX_W_STD : ms_dmcx_substitution(p);
        if (sub == 0)
            return 0;
        if (ms_dmcx_kind_of(p, sub) != ms_DMCX_MODULE) {
            *is_new = false;
            return scope != 0 ? 0 : sub;
        }
        module = sub;
    }
    return ms_dmcx_unqualified(p, state, scope, module);
}

/* <nested-name> */
static uint32_t ms_dmcx_nested(ms_dmcx *p, ms_dmcx_name_state *state)
{
    p->at++;
    ms_dmcx_member_quals(p, state);
    uint32_t scope = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        bool is_new = true;
        if (state != NULL)
            state->ends_with_args = false;
        scope = ms_dmcx_component(p, state, scope, &is_new);
        if (scope == 0)
            return 0;
        if (!is_new)
            continue;
        if (ms_dmcx_add_sub(p, scope) == 0)
            return 0;
        ms_dmcx_eat(p, 'M'); /* older ABIs marked the scope of a data member's initialiser */
    }
    if (scope == 0 || p->sub_count == 0)
        return 0;
    p->sub_count--; /* the whole name is a candidate only where it is a type, and then its reader adds it */
    if ((p->sub_count & 1u) == 0)
        p->limit++;
    return scope;
}

/* <discriminator>; it is not printed. Digits without the underscore end a name that a compiler numbered. */
static void ms_dmcx_discriminator(ms_dmcx *p)
{
    uint32_t at = p->at;
    if (ms_dmcx_peek(p, 0) == '_' && ms_dmcx_is_digit(ms_dmcx_peek(p, 1))) {
        p->at += 2;
        return;
    }
    bool wide = ms_dmcx_peek(p, 0) == '_' && ms_dmcx_peek(p, 1) == '_';
    if (wide)
        p->at += 2;
    bool any = ms_dmcx_number(p, false).len != 0;
    if (wide ? !ms_dmcx_eat(p, '_') : !any || p->at != p->len)
        p->at = at;
}

/* <local-name> */
static uint32_t ms_dmcx_local(ms_dmcx *p, ms_dmcx_name_state *state)
{
    p->at++;
    uint32_t encoding = ms_dmcx_encoding(p);
    if (encoding == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    if (ms_dmcx_eat(p, 's')) {
        ms_dmcx_discriminator(p);
        return ms_dmcx_make(p, ms_DMCX_LOCAL, encoding, ms_DMCX_W_STRING_LITERAL, 0);
    }
    uint32_t levels = p->levels;
    uint32_t level_count = p->level_count;
    p->levels = 0;
    p->level_count = 0;
    uint32_t entity = 0;
    if (ms_dmcx_eat(p, 'd')) { /* in a default argument: its number, then the entity */
        ms_dmcx_number(p, true);
        if (ms_dmcx_eat(p, '_'))
            entity = ms_dmcx_inner_name(p, state);
    } else {
        entity = ms_dmcx_inner_name(p, state);
        ms_dmcx_discriminator(p);
    }
    p->levels = levels;
    p->level_count = level_count;
    return ms_dmcx_make_two(p, ms_DMCX_LOCAL, encoding, entity);
}

/* <name>; state (NULL outside an encoding's own name) learns about it. It is no step deeper: what reads names
 * within names takes one. */
static uint32_t ms_dmcx_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'N')
        return ms_dmcx_nested(p, state);
    if (c == 'Z')
        return ms_dmcx_local(p, state);
    bool is_sub = false;
    uint32_t name = ms_dmcx_unscoped(p, state, &is_sub);
    if (ms_dmcx_peek(p, 0) != 'I')
        return is_sub ? 0 : name;
    if (!is_sub && ms_dmcx_add_sub(p, name) == 0)
        return 0;
    if (state != NULL)
        state->ends_with_args = true;
    return ms_dmcx_template_args(p, name, state != NULL);
}

/* ---- C++: unnamed types ---- */

/* Ul: the parameters of a lambda's operator(), explicit template parameters first. */
static uint32_t ms_dmcx_closure_parts(ms_dmcx *p)
{
    uint32_t head = ms_dmcx_push_level(p);
    if (head == 0)
        return 0;
    ms_dmcx_cell decls = ms_dmcx_empty();
    while (ms_dmcx_at_param_decl(p)) {
        if (!ms_dmcx_append(p, &decls, ms_dmcx_param_decl(p, &p->cells[head])))
            return 0;
    }
    if (decls.item == 0)
        ms_dmcx_pop_level(p);
    uint32_t before = 0;
    if (ms_dmcx_eat(p, 'Q') && (before = ms_dmcx_constraint_expr(p)) == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    if (!ms_dmcx_eat(p, 'v')) {
        do {
            if (!ms_dmcx_append(p, &params, ms_dmcx_type(p)))
                return 0;
        } while (ms_dmcx_peek(p, 0) != 'E' && ms_dmcx_peek(p, 0) != 'Q');
    }
    uint32_t after = 0;
    if (ms_dmcx_eat(p, 'Q') && (after = ms_dmcx_constraint_expr(p)) == 0)
        return 0;
    if (!ms_dmcx_eat(p, 'E'))
        return 0;
    ms_dmcx_span count = ms_dmcx_number(p, false);
    if (!ms_dmcx_eat(p, '_'))
        return 0;
    uint32_t tail = ms_dmcx_make(p, ms_DMCX_CLOSURE_TAIL, before, after, ms_dmcx_make_text(p, count));
    return tail == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_CLOSURE, decls.item, params.item, tail);
}

/* <unnamed-type-name>, <closure-type-name>, and blocks */
static uint32_t ms_dmcx_unnamed(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (state != NULL) {
        p->levels = 0;
        p->level_count = 0;
    }
    if (ms_dmcx_eat2(p, 'U', 't')) {
        ms_dmcx_span count = ms_dmcx_number(p, false);
        return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_UNNAMED, count.off, count.len, 0) : 0;
    }
    if (ms_dmcx_eat2(p, 'U', 'b')) {
        ms_dmcx_number(p, false);
        return ms_dmcx_eat(p, '_') ? (uint32_t)ms_DMCX_W_BLOCK : 0u;
    }
    if (!ms_dmcx_eat2(p, 'U', 'l'))
        return 0;
    uint32_t auto_level = p->auto_level;
    uint32_t level_count = p->level_count;
    p->auto_level = level_count;
    uint32_t closure = ms_dmcx_closure_parts(p);
    p->auto_level = auto_level;
    ms_dmcx_pop_levels_to(p, level_count);
    return closure;
}

/* ---- C++: template arguments ---- */

static uint32_t ms_dmcx_invented_name(ms_dmcx *p, uint32_t which, ms_dmcx_cell *params)
{
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_SYNTHETIC, p->invented[which]++, 0, 0);
    if (ref == 0)
        return 0;
    ms_dmcx_at(p, ref)->x = (uint8_t)which;
    return params != NULL && !ms_dmcx_append(p, params, ref) ? 0 : ref;
}

/* Tt <template-param-decl>* [Q <constraint>] E, behind the name that was invented for it */
static uint32_t ms_dmcx_template_decl(ms_dmcx *p, uint32_t name)
{
    uint32_t level_count = p->level_count;
    uint32_t head = ms_dmcx_push_level(p);
    if (name == 0 || head == 0)
        return 0;
    ms_dmcx_cell inner = ms_dmcx_empty();
    uint32_t constraint = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &inner, ms_dmcx_param_decl(p, &p->cells[head])))
            return 0;
        if (!ms_dmcx_eat(p, 'Q'))
            continue;
        constraint = ms_dmcx_constraint_expr(p);
        if (constraint == 0 || !ms_dmcx_eat(p, 'E'))
            return 0;
        break;
    }
    ms_dmcx_pop_levels_to(p, level_count);
    uint32_t ref = ms_dmcx_make_flagged(p, ms_DMCX_DECL_TEMPLATE, name, inner.item, ms_DMCX_RIGHT);
    if (ref != 0)
        ms_dmcx_at(p, ref)->c = constraint;
    return ref;
}

/* <template-param-decl>; a name is invented and added to params (may be NULL). */
static uint32_t ms_dmcx_param_decl(ms_dmcx *p, ms_dmcx_cell *params)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t kind = 0;
    uint32_t name = 0;
    uint32_t of = 0;
    uint32_t ref = 0;
    if (ms_dmcx_eat2(p, 'T', 'y')) {
        kind = ms_DMCX_DECL_TYPE;
        name = ms_dmcx_invented_name(p, 0, params);
    } else if (ms_dmcx_eat2(p, 'T', 'k')) {
        kind = ms_DMCX_DECL_CONSTRAINED;
        of = ms_dmcx_constraint_name(p);
        name = of == 0 ? 0 : ms_dmcx_invented_name(p, 0, params);
    } else if (ms_dmcx_eat2(p, 'T', 'n')) {
        kind = ms_DMCX_DECL_VALUE;
        name = ms_dmcx_invented_name(p, 1, params);
        of = name == 0 ? 0 : ms_dmcx_type(p);
        name = of == 0 ? 0 : name;
    } else if (ms_dmcx_eat2(p, 'T', 't')) {
        ref = ms_dmcx_template_decl(p, ms_dmcx_invented_name(p, 2, params));
    } else if (ms_dmcx_eat2(p, 'T', 'p')) {
        kind = ms_DMCX_DECL_PACK;
        name = ms_dmcx_param_decl(p, params);
    }
    if (name != 0)
        ref = ms_dmcx_make_flagged(p, kind, name, of, ms_DMCX_RIGHT);
    p->d->depth--;
    return ref;
}

/* J <template-arg>* E */
static uint32_t ms_dmcx_arg_pack(ms_dmcx *p)
{
    p->at++;
    ms_dmcx_cell args = ms_dmcx_empty();
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &args, ms_dmcx_template_arg(p)))
            return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_ARG_PACK, args.item, 0, 0);
}

/* <template-arg> */
static uint32_t ms_dmcx_template_arg(ms_dmcx *p)
{
    uint32_t ref = 0;
    switch (ms_dmcx_peek(p, 0)) {
    case 'X':
        p->at++;
        ref = ms_dmcx_expr(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'L':
        if (ms_dmcx_peek(p, 1) != 'Z')
            return ms_dmcx_expr(p);
        p->at += 2;
        ref = ms_dmcx_encoding(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'J':
    case 'T':
        if (ms_dmcx_peek(p, 0) == 'T' && !ms_dmcx_at_param_decl(p))
            return ms_dmcx_type(p);
        if (!ms_dmcx_enter(p))
            return 0;
        if (ms_dmcx_peek(p, 0) == 'J')
            ref = ms_dmcx_arg_pack(p);
        else if (ms_dmcx_param_decl(p, NULL) != 0)
            ref = ms_dmcx_make_of(p, ms_DMCX_QUALIFIED_ARG, ms_dmcx_template_arg(p));
        p->d->depth--;
        return ref;
    default: return ms_dmcx_type(p);
    }
}

/* <template-args> of name. With tag they are what template parameters in the rest of the encoding mean. */
static uint32_t ms_dmcx_template_args(ms_dmcx *p, uint32_t name, bool tag)
{
    if (name == 0 || !ms_dmcx_eat(p, 'I'))
        return 0;
    ms_dmcx_cell args = ms_dmcx_empty();
    ms_dmcx_cell *known = &args;
    if (tag) {
        p->levels = 0;
        p->level_count = 0;
        uint32_t head = ms_dmcx_push_level(p);
        if (head == 0)
            return 0;
        known = &p->cells[head]; /* an argument may already use those before it */
    }
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, known, ms_dmcx_template_arg(p)))
            return 0;
        if (!ms_dmcx_eat(p, 'Q'))
            continue;
        if (ms_dmcx_constraint_expr(p) == 0 || !ms_dmcx_eat(p, 'E'))
            return 0;
        break;
    }
    return ms_dmcx_make(p, ms_DMCX_TEMPLATE, name, known->item, 0);
}

/* ---- C++: types ---- */

/* [DS] DA <size>, [DS] DR <size>: the fixed-point types of ISO/IEC TR 18037; 0 = it is none of them. */
static uint32_t ms_dmcx_fixed_point(ms_dmcx *p)
{
    uint32_t at = p->at;
    bool saturates = ms_dmcx_eat2(p, 'D', 'S');
    char type = ms_dmcx_peek(p, 1);
    uint32_t word = 0;
    if (ms_dmcx_peek(p, 0) == 'D' && (type == 'A' || type == 'R')) {
        switch (ms_dmcx_peek(p, 2)) {
        case 's': word = ms_DMCX_W_ACCUM_S; break;
        case 't': word = ms_DMCX_W_ACCUM_T; break;
        case 'i': word = ms_DMCX_W_ACCUM_I; break;
        case 'j': word = ms_DMCX_W_ACCUM_J; break;
        case 'l': word = ms_DMCX_W_ACCUM_L; break;
        case 'm': word = ms_DMCX_W_ACCUM_M; break;
        default: break;
        }
    }
    if (word == 0) {
        p->at = at;
        return 0;
    }
    p->at += 3;
    if (type == 'R')
        word += ms_DMCX_W_FRACT_S - ms_DMCX_W_ACCUM_S;
    if (saturates)
        word += ms_DMCX_W_SAT_ACCUM_S - ms_DMCX_W_ACCUM_S;
    return word;
}

/* <builtin-type>: a type that is no substitution candidate. 0 = it is not one. */
static uint32_t ms_dmcx_builtin(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c >= 'a' && c <= 'z') {
        uint32_t word = ms_dmcx_builtins[c - 'a'];
        p->at += word != 0;
        return word;
    }
    if (c != 'D')
        return 0;
    uint32_t word = 0;
    switch (ms_dmcx_peek(p, 1)) {
    case 'd': word = ms_DMCX_W_DEC64; break;
    case 'e': word = ms_DMCX_W_DEC128; break;
    case 'f': word = ms_DMCX_W_DEC32; break;
    case 'h': word = ms_DMCX_W_HALF; break;
    case 'i': word = ms_DMCX_W_CHAR32; break;
    case 's': word = ms_DMCX_W_CHAR16; break;
    case 'u': word = ms_DMCX_W_CHAR8; break;
    case 'a': word = ms_DMCX_W_AUTO; break;
    case 'c': word = ms_DMCX_W_DECLTYPE_AUTO; break;
    case 'n': word = ms_DMCX_W_NULLPTR_T; break;
    case 'A':
    case 'R':
    case 'S': return ms_dmcx_fixed_point(p);
    default: return 0;
    }
    p->at += 2;
    return word;
}

/* DF<n>_ */
static uint32_t ms_dmcx_float_n(ms_dmcx *p)
{
    ms_dmcx_span width = ms_dmcx_number(p, false);
    return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_FLOAT_N, width.off, width.len, 0) : 0;
}

/* The size in DB<n>_, DB<expression>_, A<n>_, A<expression>_; 0 when malformed. */
static uint32_t ms_dmcx_width(ms_dmcx *p)
{
    uint32_t width;
    if (!ms_dmcx_is_digit(ms_dmcx_peek(p, 0)))
        width = ms_dmcx_expr(p);
    else
        width = ms_dmcx_make_text(p, ms_dmcx_number(p, false));
    return ms_dmcx_eat(p, '_') ? width : 0;
}

/* Dv: a vector */
static uint32_t ms_dmcx_vector(ms_dmcx *p)
{
    p->at += 2;
    uint32_t size = 0;
    char c = ms_dmcx_peek(p, 0);
    if (c >= '1' && c <= '9') {
        size = ms_dmcx_width(p);
        if (size == 0)
            return 0;
        if (ms_dmcx_eat(p, 'p'))
            return ms_dmcx_make_of(p, ms_DMCX_PIXEL, size);
    } else if (!ms_dmcx_eat(p, '_')) {
        size = ms_dmcx_expr(p);
        if (size == 0 || !ms_dmcx_eat(p, '_'))
            return 0;
    }
    uint32_t type = ms_dmcx_type(p);
    return type == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_VECTOR, type, size, 0);
}

/* <exception-spec>; *ok is false when it is malformed, 0 is returned when there is none. */
static uint32_t ms_dmcx_exception_spec(ms_dmcx *p, bool *ok)
{
    uint32_t ref = 0;
    if (ms_dmcx_eat2(p, 'D', 'o'))
        return ms_DMCX_W_NOEXCEPT;
    if (ms_dmcx_eat2(p, 'D', 'O')) {
        ref = ms_dmcx_make_of(p, ms_DMCX_NOEXCEPT_IF, ms_dmcx_expr(p));
        *ok = ref != 0 && ms_dmcx_eat(p, 'E');
    } else if (ms_dmcx_eat2(p, 'D', 'w')) {
        ms_dmcx_cell types = ms_dmcx_empty();
        while (*ok && !ms_dmcx_eat(p, 'E'))
            *ok = ms_dmcx_append(p, &types, ms_dmcx_type(p));
        ref = *ok ? ms_dmcx_make(p, ms_DMCX_THROW_LIST, types.item, 0, 0) : 0;
    }
    return ref;
}

/* <function-type> */
static uint32_t ms_dmcx_function(ms_dmcx *p)
{
    uint32_t quals = ms_dmcx_quals(p);
    bool ok = true;
    uint32_t spec = ms_dmcx_exception_spec(p, &ok);
    ms_dmcx_eat2(p, 'D', 'x'); /* transaction safe: not printed */
    if (!ok || !ms_dmcx_eat(p, 'F'))
        return 0;
    ms_dmcx_eat(p, 'Y'); /* extern "C": not printed */
    uint32_t result = ms_dmcx_type(p);
    if (result == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    uint32_t ref_qual = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        if (ms_dmcx_eat(p, 'v'))
            continue;
        ref_qual = ms_dmcx_eat2(p, 'R', 'E') ? 1u : ms_dmcx_eat2(p, 'O', 'E') ? 2u : 0u;
        if (ref_qual != 0)
            break;
        if (!ms_dmcx_append(p, &params, ms_dmcx_type(p)))
            return 0;
    }
    uint32_t ref =
        ms_dmcx_make_flagged(p, ms_DMCX_FUNCTION, result, params.item, ms_DMCX_RIGHT | ms_DMCX_IS_FUNCTION);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    n->c = spec;
    n->x = (uint8_t)quals;
    n->y = (uint8_t)ref_qual;
    return ref;
}

/* <array-type> */
static uint32_t ms_dmcx_array(ms_dmcx *p)
{
    p->at++;
    uint32_t size = 0;
    if (!ms_dmcx_eat(p, '_')) {
        size = ms_dmcx_width(p);
        if (size == 0)
            return 0;
    }
    uint32_t type = ms_dmcx_type(p);
    if (type == 0)
        return 0;
    return ms_dmcx_make_flagged(p, ms_DMCX_ARRAY, type, size, ms_DMCX_RIGHT | ms_DMCX_IS_ARRAY);
}

/* U <source-name> [<template-args>] <type>: a vendor's qualifier, among them Objective-C's protocols, whose
 * own name is mangled inside that name. */
static uint32_t ms_dmcx_vendor_qual(ms_dmcx *p)
{
    p->at++;
    ms_dmcx_span t = ms_dmcx_source_text(p);
    if (t.len >= 9 && ms_dmcx_starts(p, t.off, "objcproto", 9)) {
        uint32_t behind = p->at;
        uint32_t len = p->len;
        p->at = t.off + 9;
        p->len = t.off + t.len;
        uint32_t proto = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
        p->at = behind;
        p->len = len;
        uint32_t type = proto == 0 ? 0 : ms_dmcx_qualified(p);
        return ms_dmcx_make_two(p, ms_DMCX_OBJC_PROTO, type, proto);
    }
    uint32_t name = ms_dmcx_make_text(p, t);
    if (name != 0 && ms_dmcx_peek(p, 0) == 'I')
        name = ms_dmcx_template_args(p, name, false);
    uint32_t type = name == 0 ? 0 : ms_dmcx_qualified(p);
    return ms_dmcx_make_two(p, ms_DMCX_VENDOR_QUAL, type, name);
}

/* <qualified-type>: only the outermost set of qualifiers is a substitution candidate. */
static uint32_t ms_dmcx_qualified(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t ref;
    if (ms_dmcx_peek(p, 0) == 'U') {
        ref = ms_dmcx_vendor_qual(p);
    } else {
        uint32_t quals = ms_dmcx_quals(p);
        ref = ms_dmcx_type(p);
        if (quals != 0 && ref != 0) {
            uint32_t type = ref;
            ref = ms_dmcx_make_flagged(p, ms_DMCX_QUAL, type, 0, ms_dmcx_flags_of(p, type));
            if (ref != 0)
                ms_dmcx_at(p, ref)->x = (uint8_t)quals;
        }
    }
    p->d->depth--;
    return ref;
}

/* Whether qualifiers at the reading position belong to a function type, as in a pointer to a const member. */
static bool ms_dmcx_at_function(const ms_dmcx *p)
{
    uint32_t ahead = 0;
    ahead += ms_dmcx_peek(p, ahead) == 'r';
    ahead += ms_dmcx_peek(p, ahead) == 'V';
    ahead += ms_dmcx_peek(p, ahead) == 'K';
    char c = ms_dmcx_peek(p, ahead);
    if (c != 'D')
        return c == 'F';
    c = ms_dmcx_peek(p, ahead + 1);
    return c == 'o' || c == 'O' || c == 'w' || c == 'x';
}

/* <pointer-to-member-type> */
static uint32_t ms_dmcx_member_pointer(ms_dmcx *p)
{
    p->at++;
    uint32_t scope = ms_dmcx_type(p);
    uint32_t member = scope == 0 ? 0 : ms_dmcx_type(p);
    if (member == 0)
        return 0;
    return ms_dmcx_make_flagged(p, ms_DMCX_MEMBER_PTR, scope, member, ms_dmcx_right_flags(p, member));
}

/* P, R, O */
static uint32_t ms_dmcx_indirection(ms_dmcx *p, uint32_t kind, uint32_t x)
{
    p->at++;
    uint32_t type = ms_dmcx_type(p);
    if (type == 0)
        return 0;
    uint32_t ref = ms_dmcx_make_flagged(p, kind, type, 0, ms_dmcx_right_flags(p, type));
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)x;
    return ref;
}

/* Types that begin with D and are not one word */
static uint32_t ms_dmcx_d_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 1);
    switch (c) {
    case 'F':
        p->at += 2;
        if (ms_dmcx_eat_text(p, "16b", 3))
            return ms_DMCX_W_BFLOAT16;
        return ms_dmcx_float_n(p);
    case 'B':
    case 'U': p->at += 2; return ms_dmcx_make_x(p, ms_DMCX_BIT_INT, ms_dmcx_width(p), c == 'U');
    case 'k':
    case 'K':
        p->at += 2;
        return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcx_name(p, NULL),
                              c == 'k' ? ms_DMCX_W_K_AUTO : ms_DMCX_W_K_DECLTYPE_AUTO);
    case 't':
    case 'T': return ms_dmcx_decltype(p);
    case 'v': return ms_dmcx_vector(p);
    case 'p': p->at += 2; return ms_dmcx_make_of(p, ms_DMCX_EXPANSION, ms_dmcx_type(p));
    case 'o':
    case 'O':
    case 'w':
    case 'x': return ms_dmcx_function(p);
    default: return 0;
    }
}

/* u <source-name> [I <type> E]: a vendor's type */
static uint32_t ms_dmcx_vendor_type(ms_dmcx *p)
{
    p->at++;
    uint32_t name = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
    if (name == 0 || !ms_dmcx_eat(p, 'I'))
        return name;
    uint32_t type = ms_dmcx_type(p);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_two(p, ms_DMCX_TRANSFORM, name, type) : 0;
}

/* A class, union or enumeration; *is_new is false for a bare substitution. */
static uint32_t ms_dmcx_class(ms_dmcx *p, bool *is_new)
{
    if (ms_dmcx_peek(p, 0) != 'S' || ms_dmcx_peek(p, 1) == 't')
        return ms_dmcx_name(p, NULL);
    bool is_sub = false;
    uint32_t ref = ms_dmcx_unscoped(p, NULL, &is_sub);
    if (ref == 0)
        return 0;
    if (ms_dmcx_peek(p, 0) == 'I' && (!is_sub || p->try_args)) {
        if (!is_sub && ms_dmcx_add_sub(p, ref) == 0)
            return 0;
        return ms_dmcx_template_args(p, ref, false);
    }
    *is_new = !is_sub;
    return ref;
}

/* Ts, Tu, Te <name>, or a template parameter */
static uint32_t ms_dmcx_t_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 1);
    if (c == 's' || c == 'u' || c == 'e') {
        p->at += 2;
        uint32_t word = c == 's' ? ms_DMCX_W_STRUCT : c == 'u' ? ms_DMCX_W_UNION : ms_DMCX_W_ENUM;
        return ms_dmcx_make_x(p, ms_DMCX_ELABORATED, ms_dmcx_name(p, NULL), word);
    }
    uint32_t ref = ms_dmcx_template_param(p);
    if (ref == 0 || !p->try_args || ms_dmcx_peek(p, 0) != 'I')
        return ref;
    return ms_dmcx_add_sub(p, ref) == 0 ? 0 : ms_dmcx_template_args(p, ref, false);
}

/* A type that is more than a word; *is_new tells whether it is a substitution candidate. */
static uint32_t ms_dmcx_compound(ms_dmcx *p, bool *is_new)
{
    switch (ms_dmcx_peek(p, 0)) {
    case 'r':
    case 'V':
    case 'K': return ms_dmcx_at_function(p) ? ms_dmcx_function(p) : ms_dmcx_qualified(p);
    case 'U': return ms_dmcx_qualified(p);
    case 'u': return ms_dmcx_vendor_type(p);
    case 'D': {
        char c = ms_dmcx_peek(p, 1);
        *is_new = c != 'F' && c != 'k' && c != 'K';
        return ms_dmcx_d_type(p);
    }
    case 'F': return ms_dmcx_function(p);
    case 'A': return ms_dmcx_array(p);
    case 'M': return ms_dmcx_member_pointer(p);
    case 'T': return ms_dmcx_t_type(p);
    case 'P': return ms_dmcx_indirection(p, ms_DMCX_POINTER, 0);
    case 'R': return ms_dmcx_indirection(p, ms_DMCX_REFERENCE, 1);
    case 'O': return ms_dmcx_indirection(p, ms_DMCX_REFERENCE, 2);
    case 'C': p->at++; return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcx_type(p), ms_DMCX_W_COMPLEX);
    case 'G': p->at++; return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcx_type(p), ms_DMCX_W_IMAGINARY);
    default: return ms_dmcx_class(p, is_new);
    }
}

/* <type> */
static uint32_t ms_dmcx_type(ms_dmcx *p)
{
    uint32_t ref = ms_dmcx_builtin(p);
    if (ref != 0)
        return ref;
    if (!ms_dmcx_enter(p))
        return 0;
    bool is_new = true;
    ref = ms_dmcx_compound(p, &is_new);
    if (is_new)
        ref = ms_dmcx_add_sub(p, ref);
    p->d->depth--;
    return ref;
}

/* ---- C++: expressions ---- */

/* <expression>* up to the byte end, which is read */
static bool ms_dmcx_exprs(ms_dmcx *p, char end, ms_dmcx_cell *list)
{
    while (!ms_dmcx_eat(p, end)) {
        if (!ms_dmcx_append(p, list, ms_dmcx_expr(p)))
            return false;
    }
    return true;
}

/* [n] <number> E of a literal whose type prints as word */
static uint32_t ms_dmcx_integer(ms_dmcx *p, uint32_t word)
{
    p->at++;
    ms_dmcx_span t = ms_dmcx_number(p, true);
    if (t.len == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_INTEGER, t.off, t.len, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)word;
    return ref;
}

/* The bytes of a floating literal in hexadecimal, highest first. A long double is the x87's, on ARM a
 * double. */
static uint32_t ms_dmcx_floating(ms_dmcx *p, char type)
{
    p->at++;
    uint32_t at = p->at;
    for (char c = ms_dmcx_peek(p, 0); ms_dmcx_is_digit(c) || (c >= 'a' && c <= 'f'); c = ms_dmcx_peek(p, 0))
        p->at++;
    uint32_t len = p->at - at;
    bool fits = type == 'f' ? len == 8 : len == 16 || (type == 'e' && len == 20);
    if (!fits || !ms_dmcx_eat(p, 'E'))
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_FLOATING, at, len, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = type == 'f' ? 'f' : type == 'e' ? 'L' : 0;
    return ref;
}

/* The word that an integer literal's type prints as, before or behind it; W_COUNT = no integer type. */
static uint32_t ms_dmcx_integer_word(char c)
{
    switch (c) {
    case 'w': return ms_DMCX_W_WCHAR;
    case 'c': return ms_DMCX_W_CHAR;
    case 'a': return ms_DMCX_W_SCHAR;
    case 'h': return ms_DMCX_W_UCHAR;
    case 's': return ms_DMCX_W_SHORT;
    case 't': return ms_DMCX_W_USHORT;
    case 'i': return ms_DMCX_W_NONE;
    case 'j': return ms_DMCX_W_SUFFIX_U;
    case 'l': return ms_DMCX_W_SUFFIX_L;
    case 'm': return ms_DMCX_W_SUFFIX_UL;
    case 'x': return ms_DMCX_W_SUFFIX_LL;
    case 'y': return ms_DMCX_W_SUFFIX_ULL;
    case 'n': return ms_DMCX_W_INT128;
    case 'o': return ms_DMCX_W_UINT128;
    default: return ms_DMCX_W_COUNT;
    }
}

/* <expr-primary> (ABI 5.1.6) */
static uint32_t ms_dmcx_primary(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    uint32_t ref = ms_dmcx_integer_word(c);
    if (ref != ms_DMCX_W_COUNT)
        return ms_dmcx_integer(p, ref);
    switch (c) {
    case 'b':
        p->at++;
        if (ms_dmcx_eat2(p, '0', 'E'))
            return ms_DMCX_W_FALSE;
        return ms_dmcx_eat2(p, '1', 'E') ? (uint32_t)ms_DMCX_W_TRUE : 0u;
    case 'f':
    case 'd':
    case 'e': return ms_dmcx_floating(p, c);
    case '_':
        if (!ms_dmcx_eat2(p, '_', 'Z'))
            return 0;
        ref = ms_dmcx_encoding(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'A':
        ref = ms_dmcx_type(p);
        return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_of(p, ms_DMCX_STRING_OF, ref) : 0;
    case 'D':
        if (!ms_dmcx_eat2(p, 'D', 'n'))
            return 0;
        ms_dmcx_eat(p, '0');
        return ms_dmcx_eat(p, 'E') ? (uint32_t)ms_DMCX_W_NULLPTR : 0u;
    case 'T': return 0;
    case 'U':
        if (ms_dmcx_peek(p, 1) != 'l')
            return 0;
        ref = ms_dmcx_unnamed(p, NULL);
        return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_of(p, ms_DMCX_LAMBDA, ref) : 0;
    default: break;
    }
    uint32_t type = ms_dmcx_type(p);
    ms_dmcx_span value = ms_dmcx_number(p, true);
    if (type == 0 || value.len == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    return ms_dmcx_make(p, ms_DMCX_ENUM_VALUE, type, value.off, value.len);
}

/* <function-param>: fp and fL; qualifiers and scope are not printed. */
static uint32_t ms_dmcx_function_param(ms_dmcx *p)
{
    if (ms_dmcx_eat_text(p, "fpT", 3))
        return ms_DMCX_W_THIS;
    if (!ms_dmcx_eat2(p, 'f', 'p')) {
        if (!ms_dmcx_eat2(p, 'f', 'L') || ms_dmcx_number(p, false).len == 0 || !ms_dmcx_eat(p, 'p'))
            return 0;
    }
    ms_dmcx_quals(p);
    ms_dmcx_span t = ms_dmcx_number(p, false);
    return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_FUNCTION_PARAM, t.off, t.len, 0) : 0;
}

/* fl, fr, fL, fR: a fold */
static uint32_t ms_dmcx_fold(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    if (c != 'l' && c != 'r' && c != 'L' && c != 'R')
        return 0;
    p->at++;
    bool is_left = c == 'l' || c == 'L';
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op == NULL)
        return 0;
    bool is_member = op->kind == ms_DMCX_OP_ARROW || op->kind == ms_DMCX_OP_DOT;
    if (op->kind != ms_DMCX_OP_BINARY && !(is_member && op->prec == ms_DMCX_PTRMEM))
        return 0;
    uint32_t first = ms_dmcx_expr(p);
    uint32_t second = 0;
    if (first == 0 || ((c == 'L' || c == 'R') && (second = ms_dmcx_expr(p)) == 0))
        return 0;
    bool start_first = is_left && second != 0;
    uint32_t ref =
        ms_dmcx_make(p, ms_DMCX_FOLD, start_first ? second : first, start_first ? first : second, 0);
    if (ref == 0)
        return 0;
    ms_dmcx_at(p, ref)->x = (uint8_t)(op - ms_dmcx_ops);
    ms_dmcx_at(p, ref)->y = is_left;
    return ref;
}

/* <braced-expression> */
static uint32_t ms_dmcx_braced(ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) != 'd' || !ms_dmcx_enter(p))
        return ms_dmcx_expr(p);
    uint32_t kind = 0;
    uint32_t first = 0;
    uint32_t last = 0;
    if (ms_dmcx_eat2(p, 'd', 'i')) {
        kind = ms_DMCX_FIELD_INIT;
        first = ms_dmcx_source_name(p);
    } else if (ms_dmcx_eat2(p, 'd', 'x')) {
        kind = ms_DMCX_INDEX_INIT;
        first = ms_dmcx_expr(p);
    } else if (ms_dmcx_eat2(p, 'd', 'X')) {
        kind = ms_DMCX_RANGE_INIT;
        first = ms_dmcx_expr(p);
        last = first == 0 ? 0 : ms_dmcx_expr(p);
        first = last == 0 ? 0 : first;
    }
    uint32_t ref = 0;
    if (kind == 0) {
        ref = ms_dmcx_expr(p);
    } else if (first != 0) {
        uint32_t value = ms_dmcx_braced(p);
        bool is_range = kind == ms_DMCX_RANGE_INIT;
        ref = value == 0 ? 0 : ms_dmcx_make(p, kind, first, is_range ? last : value, is_range ? value : 0);
    }
    p->d->depth--;
    return ref;
}

/* <braced-expression>* E, initialising type (0 = none) */
static uint32_t ms_dmcx_init_list(ms_dmcx *p, uint32_t type)
{
    ms_dmcx_cell values = ms_dmcx_empty();
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &values, ms_dmcx_braced(p)))
            return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_INIT_LIST, type, values.item, 0);
}

/* nw, na: <expression>* _ <type> [pi <expression>*] E */
static uint32_t ms_dmcx_new(ms_dmcx *p)
{
    ms_dmcx_cell placement = ms_dmcx_empty();
    ms_dmcx_cell values = ms_dmcx_empty();
    if (!ms_dmcx_exprs(p, '_', &placement))
        return 0;
    uint32_t type = ms_dmcx_type(p);
    if (type == 0)
        return 0;
    if (ms_dmcx_eat2(p, 'p', 'i')) {
        if (!ms_dmcx_exprs(p, 'E', &values))
            return 0;
    } else if (!ms_dmcx_eat(p, 'E')) {
        return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_NEW, placement.item, type, values.item);
}

/* cv <type> <expression>, cv <type> _ <expression>* E */
static uint32_t ms_dmcx_convert(ms_dmcx *p)
{
    bool try_args = p->try_args;
    p->try_args = false;
    uint32_t type = ms_dmcx_type(p);
    p->try_args = try_args;
    if (type == 0)
        return 0;
    ms_dmcx_cell values = ms_dmcx_empty();
    if (ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_exprs(p, 'E', &values))
            return 0;
    } else if (!ms_dmcx_append(p, &values, ms_dmcx_expr(p))) {
        return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_CONVERT, type, values.item, 0);
}

/* The operands of an operator that was just read. */
static uint32_t ms_dmcx_operands(ms_dmcx *p, const ms_dmcx_op *op)
{
    uint32_t a = 0;
    uint32_t b = 0;
    ms_dmcx_cell list = ms_dmcx_empty();
    switch (op->kind) {
    case ms_DMCX_OP_PREFIX: return ms_dmcx_make_of(p, ms_DMCX_PREFIX, ms_dmcx_expr(p));
    case ms_DMCX_OP_POSTFIX:
        if (ms_dmcx_eat(p, '_'))
            return ms_dmcx_make_of(p, ms_DMCX_PREFIX, ms_dmcx_expr(p));
        return ms_dmcx_make_of(p, ms_DMCX_POSTFIX_OP, ms_dmcx_expr(p));
    case ms_DMCX_OP_BINARY:
    case ms_DMCX_OP_SUBSCRIPT:
    case ms_DMCX_OP_ARROW:
    case ms_DMCX_OP_DOT:
        a = ms_dmcx_expr(p);
        b = a == 0 ? 0 : ms_dmcx_expr(p);
        if (op->kind == ms_DMCX_OP_BINARY)
            return ms_dmcx_make_two(p, ms_DMCX_BINARY, a, b);
        return ms_dmcx_make_two(p, op->kind == ms_DMCX_OP_SUBSCRIPT ? ms_DMCX_SUBSCRIPT : ms_DMCX_MEMBER, a,
                                b);
    case ms_DMCX_OP_NEW:
    case ms_DMCX_OP_NEW_ARRAY: return ms_dmcx_new(p);
    case ms_DMCX_OP_DELETE:
    case ms_DMCX_OP_DELETE_ARRAY: return ms_dmcx_make_of(p, ms_DMCX_DELETE, ms_dmcx_expr(p));
    case ms_DMCX_OP_CALL:
    case ms_DMCX_OP_PAREN_CALL:
        a = ms_dmcx_expr(p);
        if (a == 0 || !ms_dmcx_exprs(p, 'E', &list))
            return 0;
        return ms_dmcx_make(p, ms_DMCX_CALL, a, list.item, 0);
    case ms_DMCX_OP_CONVERT: return ms_dmcx_convert(p);
    case ms_DMCX_OP_CONDITIONAL:
        a = ms_dmcx_expr(p);
        b = a == 0 ? 0 : ms_dmcx_expr(p);
        if (b == 0)
            return 0;
        list.item = ms_dmcx_expr(p);
        return list.item == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_CHOICE, a, b, list.item);
    case ms_DMCX_OP_NAMED_CAST:
        a = ms_dmcx_type(p);
        return ms_dmcx_make_two(p, ms_DMCX_NAMED_CAST, a, a == 0 ? 0 : ms_dmcx_expr(p));
    case ms_DMCX_OP_OF_TYPE: return ms_dmcx_make_of(p, ms_DMCX_OF, ms_dmcx_type(p));
    case ms_DMCX_OP_OF_EXPR: return ms_dmcx_make_of(p, ms_DMCX_OF, ms_dmcx_expr(p));
    default: return 0;
    }
}

/* so: <type> <expression> [<number>] (_ [<number>])* [p] E; the union members chosen are not printed. */
static uint32_t ms_dmcx_subobject(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_type(p);
    uint32_t of = type == 0 ? 0 : ms_dmcx_expr(p);
    if (of == 0)
        return 0;
    uint32_t offset = ms_dmcx_make_text(p, ms_dmcx_number(p, true));
    while (ms_dmcx_eat(p, '_'))
        ms_dmcx_number(p, false);
    ms_dmcx_eat(p, 'p');
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make(p, ms_DMCX_SUBOBJECT, type, of, offset) : 0;
}

/* mc: <type> <expression> [<number>] E */
static uint32_t ms_dmcx_member_convert(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_type(p);
    uint32_t of = type == 0 ? 0 : ms_dmcx_expr(p);
    ms_dmcx_number(p, true);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_two(p, ms_DMCX_MEMBER_CONVERT, type, of) : 0;
}

/* sZ: the size of a parameter pack, or of a function's */
static uint32_t ms_dmcx_sizeof_pack(ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) == 'T')
        return ms_dmcx_make_of(p, ms_DMCX_SIZEOF_PARAM_PACK, ms_dmcx_template_param(p));
    return ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, ms_dmcx_function_param(p), ms_DMCX_W_SIZEOF_PACK);
}

/* u <source-name> <template-arg>* E: a vendor's expression. Older compilers gave __uuidof one operand and
 * no E. */
static uint32_t ms_dmcx_vendor_expr(ms_dmcx *p)
{
    uint32_t name = ms_dmcx_source_name(p);
    if (name == 0)
        return 0;
    ms_dmcx_cell args = ms_dmcx_empty();
    bool is_uuid = ms_dmcx_is_text(p, name, "__uuidof", 8);
    if (is_uuid && ms_dmcx_eat(p, 't')) {
        if (!ms_dmcx_append(p, &args, ms_dmcx_type(p)))
            return 0;
    } else if (is_uuid && ms_dmcx_eat(p, 'z')) {
        if (!ms_dmcx_append(p, &args, ms_dmcx_expr(p)))
            return 0;
    } else {
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &args, ms_dmcx_template_arg(p)))
                return 0;
        }
    }
    return ms_dmcx_make(p, ms_DMCX_CALL, name, args.item, 0);
}

/* <requirement> */
static uint32_t ms_dmcx_requirement(ms_dmcx *p)
{
    if (ms_dmcx_eat(p, 'T'))
        return ms_dmcx_make_of(p, ms_DMCX_REQUIRE_TYPE, ms_dmcx_type(p));
    if (ms_dmcx_eat(p, 'Q'))
        return ms_dmcx_make_of(p, ms_DMCX_REQUIRE_NESTED, ms_dmcx_expr(p));
    if (!ms_dmcx_eat(p, 'X'))
        return 0;
    uint32_t expr = ms_dmcx_expr(p);
    if (expr == 0)
        return 0;
    bool is_noexcept = ms_dmcx_eat(p, 'N');
    uint32_t type = 0;
    if (ms_dmcx_eat(p, 'R') && (type = ms_dmcx_name(p, NULL)) == 0)
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_REQUIRE_EXPR, expr, type, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = is_noexcept;
    return ref;
}

/* rq <requirement>+ E, rQ <type>* _ <requirement>+ E */
static uint32_t ms_dmcx_requires(ms_dmcx *p, bool has_params)
{
    ms_dmcx_cell params = ms_dmcx_empty();
    ms_dmcx_cell list = ms_dmcx_empty();
    while (has_params && !ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_append(p, &params, ms_dmcx_type(p)))
            return 0;
    }
    do {
        if (!ms_dmcx_append(p, &list, ms_dmcx_requirement(p)))
            return 0;
    } while (!ms_dmcx_eat(p, 'E'));
    return ms_dmcx_make(p, ms_DMCX_REQUIRES, params.item, list.item, 0);
}

/* ---- C++: unresolved names ---- */

/* <simple-id> */
static uint32_t ms_dmcx_simple_id(ms_dmcx *p)
{
    uint32_t name = ms_dmcx_source_name(p);
    return name != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcx_template_args(p, name, false) : name;
}

/* <unresolved-type> */
static uint32_t ms_dmcx_unresolved_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'T')
        return ms_dmcx_add_sub(p, ms_dmcx_template_param(p));
    if (c != 'D')
        return ms_dmcx_substitution(p);
    c = ms_dmcx_peek(p, 1);
    return c == 't' || c == 'T' ? ms_dmcx_add_sub(p, ms_dmcx_decltype(p)) : 0;
}

/* <unresolved-type> [<template-args>] */
static uint32_t ms_dmcx_unresolved_scope(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_unresolved_type(p);
    return type != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcx_template_args(p, type, false) : type;
}

/* <base-unresolved-name> */
static uint32_t ms_dmcx_unresolved_base(ms_dmcx *p)
{
    if (ms_dmcx_is_digit(ms_dmcx_peek(p, 0)))
        return ms_dmcx_simple_id(p);
    if (ms_dmcx_eat2(p, 'd', 'n')) {
        bool is_name = ms_dmcx_is_digit(ms_dmcx_peek(p, 0));
        return ms_dmcx_make_of(p, ms_DMCX_DTOR_NAME,
                               is_name ? ms_dmcx_simple_id(p) : ms_dmcx_unresolved_type(p));
    }
    ms_dmcx_eat2(p, 'o', 'n');
    uint32_t name = ms_dmcx_operator_name(p, NULL);
    return name != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcx_template_args(p, name, false) : name;
}

/* <simple-id>* E, below scope (0 = none) */
static uint32_t ms_dmcx_unresolved_levels(ms_dmcx *p, uint32_t scope)
{
    while (!ms_dmcx_eat(p, 'E')) {
        uint32_t id = ms_dmcx_simple_id(p);
        if (id == 0)
            return 0;
        scope = scope == 0 ? id : ms_dmcx_make(p, ms_DMCX_QUALIFIED, scope, id, 0);
    }
    return scope;
}

/* <unresolved-name> */
static uint32_t ms_dmcx_unresolved(ms_dmcx *p, bool is_global)
{
    uint32_t scope = 0;
    if (ms_dmcx_eat_text(p, "srN", 3)) {
        scope = ms_dmcx_unresolved_scope(p);
        scope = scope == 0 ? 0 : ms_dmcx_unresolved_levels(p, scope);
    } else if (!ms_dmcx_eat2(p, 's', 'r')) {
        uint32_t name = ms_dmcx_unresolved_base(p);
        return is_global ? ms_dmcx_make_of(p, ms_DMCX_GLOBAL, name) : name;
    } else if (ms_dmcx_is_digit(ms_dmcx_peek(p, 0))) {
        scope = ms_dmcx_simple_id(p);
        if (is_global)
            scope = ms_dmcx_make_of(p, ms_DMCX_GLOBAL, scope);
        scope = scope == 0 ? 0 : ms_dmcx_unresolved_levels(p, scope);
    } else {
        scope = ms_dmcx_unresolved_scope(p);
    }
    return scope == 0 ? 0 : ms_dmcx_make_two(p, ms_DMCX_QUALIFIED, scope, ms_dmcx_unresolved_base(p));
}

/* Expressions that are marked by two letters and are no operators; *found tells whether one was there. */
static uint32_t ms_dmcx_marked(ms_dmcx *p, bool *found)
{
    *found = true;
    if (ms_dmcx_eat2(p, 'i', 'l'))
        return ms_dmcx_init_list(p, 0);
    if (ms_dmcx_eat2(p, 'm', 'c'))
        return ms_dmcx_member_convert(p);
    if (ms_dmcx_eat2(p, 'n', 'x'))
        return ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, ms_dmcx_expr(p), ms_DMCX_W_NOEXCEPT_OF);
    if (ms_dmcx_eat2(p, 's', 'o'))
        return ms_dmcx_subobject(p);
    if (ms_dmcx_eat2(p, 's', 'p'))
        return ms_dmcx_make_of(p, ms_DMCX_EXPANSION, ms_dmcx_expr(p));
    if (ms_dmcx_eat2(p, 's', 'Z'))
        return ms_dmcx_sizeof_pack(p);
    if (ms_dmcx_eat2(p, 's', 'P')) {
        ms_dmcx_cell args = ms_dmcx_empty();
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &args, ms_dmcx_template_arg(p)))
                return 0;
        }
        return ms_dmcx_make(p, ms_DMCX_SIZEOF_ARGS, args.item, 0, 0);
    }
    if (ms_dmcx_eat2(p, 't', 'l')) {
        uint32_t type = ms_dmcx_type(p);
        return type == 0 ? 0 : ms_dmcx_init_list(p, type);
    }
    if (ms_dmcx_eat2(p, 't', 'r'))
        return ms_DMCX_W_THROW;
    if (ms_dmcx_eat2(p, 't', 'w'))
        return ms_dmcx_make_of(p, ms_DMCX_THROW, ms_dmcx_expr(p));
    if (ms_dmcx_eat2(p, 'r', 'q'))
        return ms_dmcx_requires(p, false);
    if (ms_dmcx_eat2(p, 'r', 'Q'))
        return ms_dmcx_requires(p, true);
    *found = false;
    return 0;
}

static uint32_t ms_dmcx_expr_inside(ms_dmcx *p)
{
    bool is_global = ms_dmcx_eat2(p, 'g', 's');
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op != NULL) {
        uint32_t ref = ms_dmcx_operands(p, op);
        if (ref == 0)
            return 0;
        ms_dmcx_node *n = ms_dmcx_at(p, ref);
        n->x = (uint8_t)(op - ms_dmcx_ops);
        n->y = is_global;
        return ref;
    }
    if (p->len - p->at < 2)
        return 0;
    switch (p->s[p->at]) {
    case 'L': return ms_dmcx_primary(p);
    case 'T': return ms_dmcx_template_param(p);
    case 'f':
        if (ms_dmcx_peek(p, 1) == 'p' || (ms_dmcx_peek(p, 1) == 'L' && ms_dmcx_is_digit(ms_dmcx_peek(p, 2))))
            return ms_dmcx_function_param(p);
        return ms_dmcx_fold(p);
    case 'u': p->at++; return ms_dmcx_vendor_expr(p);
    default: break;
    }
    bool found;
    uint32_t ref = ms_dmcx_marked(p, &found);
    return found ? ref : ms_dmcx_unresolved(p, is_global);
}

/* <expression> (ABI 5.1.6) */
static uint32_t ms_dmcx_expr(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t ref = ms_dmcx_expr_inside(p);
    p->d->depth--;
    return ref;
}

/* ---- C++: encodings ---- */

/* <call-offset>: not printed */
static bool ms_dmcx_call_offset(ms_dmcx *p)
{
    if (ms_dmcx_eat(p, 'h'))
        return ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_');
    return ms_dmcx_eat(p, 'v') && ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_') &&
           ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_');
}

static uint32_t ms_dmcx_special_name(ms_dmcx *p, uint32_t child, uint32_t word)
{
    return ms_dmcx_make_x(p, ms_DMCX_SPECIAL, child, word);
}

/* TC <type> <offset> _ <base type> */
static uint32_t ms_dmcx_ctor_vtable(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_type(p);
    if (type == 0 || ms_dmcx_number(p, true).len == 0 || !ms_dmcx_eat(p, '_'))
        return 0;
    return ms_dmcx_make_two(p, ms_DMCX_CTOR_VTABLE, ms_dmcx_type(p), type);
}

/* <special-name> that begins with T */
static uint32_t ms_dmcx_special_t(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    p->at += c != '\0';
    switch (c) {
    case 'A': return ms_dmcx_special_name(p, ms_dmcx_template_arg(p), ms_DMCX_W_PARAM_OBJECT);
    case 'V': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_VTABLE);
    case 'T': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_VTT);
    case 'I': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_TYPEINFO);
    case 'S': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_TYPEINFO_NAME);
    case 'c':
        if (!ms_dmcx_call_offset(p) || !ms_dmcx_call_offset(p))
            return 0;
        return ms_dmcx_special_name(p, ms_dmcx_encoding(p), ms_DMCX_W_COVARIANT);
    case 'C': return ms_dmcx_ctor_vtable(p);
    case 'W': return ms_dmcx_special_name(p, ms_dmcx_name(p, NULL), ms_DMCX_W_TLS_WRAPPER);
    case 'H': return ms_dmcx_special_name(p, ms_dmcx_name(p, NULL), ms_DMCX_W_TLS_INIT);
    default: break;
    }
    p->at -= c != '\0';
    if (!ms_dmcx_call_offset(p))
        return 0;
    return ms_dmcx_special_name(p, ms_dmcx_encoding(p), c == 'v' ? ms_DMCX_W_VIRTUAL_THUNK : ms_DMCX_W_THUNK);
}

/* <special-name> that begins with G */
static uint32_t ms_dmcx_special_g(ms_dmcx *p)
{
    uint32_t name = 0;
    if (ms_dmcx_eat2(p, 'G', 'V'))
        return ms_dmcx_special_name(p, ms_dmcx_name(p, NULL), ms_DMCX_W_GUARD);
    if (ms_dmcx_eat2(p, 'G', 'R')) {
        name = ms_dmcx_name(p, NULL);
        uint32_t id;
        bool has_id = ms_dmcx_seq_id(p, &id);
        if (!ms_dmcx_eat(p, '_') && has_id)
            return 0;
        return ms_dmcx_special_name(p, name, ms_DMCX_W_REF_TEMP);
    }
    if (ms_dmcx_eat2(p, 'G', 'I') && ms_dmcx_module(p, &name))
        return ms_dmcx_special_name(p, name, ms_DMCX_W_MODULE_INIT);
    return 0;
}

/* Bytes that can follow an encoding; none begins a type. */
static bool ms_dmcx_at_end(const ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    return p->at == p->len || c == 'E' || c == '.' || c == '_';
}

/* The parameters, conditions and constraint of a function; its name is known. */
static uint32_t ms_dmcx_bare_function(ms_dmcx *p, const ms_dmcx_name_state *state, uint32_t name)
{
    ms_dmcx_cell conditions = ms_dmcx_empty();
    bool is_conditional = ms_dmcx_eat_text(p, "Ua9enable_ifI", 13);
    if (is_conditional) {
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &conditions, ms_dmcx_template_arg(p)))
                return 0;
        }
    }
    uint32_t result = 0;
    if (!state->special && state->ends_with_args && (result = ms_dmcx_type(p)) == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    if (!ms_dmcx_eat(p, 'v')) {
        do {
            uint32_t type = ms_dmcx_type(p);
            if (state->explicit_object && params.item == 0)
                type = ms_dmcx_make_of(p, ms_DMCX_THIS_PARAM, type);
            if (!ms_dmcx_append(p, &params, type))
                return 0;
        } while (!ms_dmcx_at_end(p) && ms_dmcx_peek(p, 0) != 'Q');
    }
    uint32_t constraint = 0;
    if (ms_dmcx_eat(p, 'Q') && (constraint = ms_dmcx_constraint_expr(p)) == 0)
        return 0;
    uint32_t tail = ms_dmcx_make(p, ms_DMCX_ENCODING_TAIL, params.item, conditions.item, constraint);
    uint32_t flags = ms_DMCX_RIGHT | ms_DMCX_IS_FUNCTION;
    uint32_t ref = tail == 0 ? 0 : ms_dmcx_make_flagged(p, ms_DMCX_ENCODING, result, name, flags);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    ms_dmcx_at(p, tail)->x = is_conditional;
    n->c = tail;
    n->x = state->quals;
    n->y = state->ref;
    return ref;
}

static uint32_t ms_dmcx_encoding_inside(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'T')
        return ms_dmcx_special_t(p);
    if (c == 'G')
        return ms_dmcx_special_g(p);
    ms_dmcx_name_state state;
    ms_zero(&state, sizeof(state));
    state.forward = p->forward;
    uint32_t name = ms_dmcx_name(p, &state);
    if (name == 0 || !ms_dmcx_resolve_forward(p, state.forward))
        return 0;
    return ms_dmcx_at_end(p) ? name : ms_dmcx_bare_function(p, &state, name);
}

/* <encoding>; template parameters in it are its own. */
static uint32_t ms_dmcx_encoding(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t levels = p->levels;
    uint32_t level_count = p->level_count;
    p->levels = 0;
    p->level_count = 0;
    uint32_t ref = ms_dmcx_encoding_inside(p);
    p->levels = levels;
    p->level_count = level_count;
    p->d->depth--;
    return ref;
}

/* The whole name; 0 when it is malformed. */
static uint32_t ms_dmcx_mangled(ms_dmcx *p)
{
    while (ms_dmcx_eat(p, '_'))
        continue;
    bool is_block = p->at >= 3;
    p->at++;
    uint32_t ref = ms_dmcx_encoding(p);
    if (ref == 0)
        return 0;
    if (is_block) {
        if (!ms_dmcx_eat_text(p, "_block_invoke", 13))
            return 0;
        bool needs_number = ms_dmcx_eat(p, '_');
        if (ms_dmcx_number(p, false).len == 0 && needs_number)
            return 0;
        if (ms_dmcx_peek(p, 0) != '.' && p->at != p->len)
            return 0;
        return ms_dmcx_special_name(p, ref, ms_DMCX_W_BLOCK_INVOKE);
    }
    if (ms_dmcx_peek(p, 0) == '.') {
        ms_dmcx_span t;
        t.off = p->at;
        t.len = p->len - p->at;
        return ms_dmcx_make_two(p, ms_DMCX_DOT_SUFFIX, ref, ms_dmcx_make_text(p, t));
    }
    return p->at == p->len ? ref : 0;
}

/* ---- C++: printing ---- */

static void ms_dmcx_put(ms_dmcx *p, const char *text, size_t len)
{
    if (len == 0)
        return;
    p->last = text[len - 1];
    ms_dm_put(p->d, text, len);
}

static void ms_dmcx_put_char(ms_dmcx *p, char c)
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

static void ms_dmcx_put_word(ms_dmcx *p, uint32_t word)
{
    ms_dmcx_put(p, ms_dmcx_words[word].ptr, ms_dmcx_words[word].len);
}

#define ms_DMCX_PUT(p, text) ms_dmcx_put(p, text, sizeof(text) - 1)

static void ms_dmcx_put_span(ms_dmcx *p, uint32_t off, uint32_t len)
{
    ms_dmcx_put(p, p->s + off, len);
}

/* A mangled number: n is its minus. */
static void ms_dmcx_put_number(ms_dmcx *p, uint32_t off, uint32_t len)
{
    if (len != 0 && p->s[off] == 'n') {
        ms_dmcx_put_char(p, '-');
        off++;
        len--;
    }
    ms_dmcx_put_span(p, off, len);
}

static void ms_dmcx_put_decimal(ms_dmcx *p, uint32_t value)
{
    char digits[10];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    ms_dmcx_put(p, digits + at, sizeof(digits) - at);
}

/* A bracket inside which a > closes no template arguments */
static void ms_dmcx_open(ms_dmcx *p, char c)
{
    p->brackets += p->in_args;
    ms_dmcx_put_char(p, c);
}

static void ms_dmcx_close(ms_dmcx *p, char c)
{
    p->brackets -= p->in_args;
    ms_dmcx_put_char(p, c);
}

static void ms_dmcx_put_quals(ms_dmcx *p, uint32_t quals, uint32_t ref)
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
static void ms_dmcx_put_hex_float(ms_dmcx *p, uint32_t lead, uint64_t fraction, uint32_t digits,
                                  int32_t exponent)
{
    char text[16];
    uint32_t len = 0;
    ms_DMCX_PUT(p, "0x");
    ms_dmcx_put_char(p, (char)(lead < 10 ? '0' + lead : 'a' + (lead - 10)));
    for (; digits != 0; digits--) {
        uint32_t digit = (uint32_t)(fraction >> (4u * (digits - 1))) & 15u;
        text[len++] = (char)(digit < 10 ? '0' + digit : 'a' + (digit - 10));
    }
    while (len != 0 && text[len - 1] == '0')
        len--;
    if (len != 0)
        ms_dmcx_put_char(p, '.');
    ms_dmcx_put(p, text, len);
    ms_dmcx_put_char(p, 'p');
    ms_dmcx_put_char(p, exponent < 0 ? '-' : '+');
    ms_dmcx_put_decimal(p, (uint32_t)(exponent < 0 ? -exponent : exponent));
}

/* The x87's long double: 15 bits of exponent, 64 of mantissa with its leading one written. */
static void ms_dmcx_put_x87(ms_dmcx *p, uint32_t exponent, uint64_t mantissa)
{
    bool is_normal = mantissa >> 63 != 0;
    if (exponent == 0x7fff && mantissa << 1 == 0 && is_normal)
        ms_DMCX_PUT(p, "inf");
    else if (exponent == 0x7fff || (exponent != 0 && !is_normal))
        ms_DMCX_PUT(p, "nan");
    else if (mantissa == 0)
        ms_DMCX_PUT(p, "0x0p+0");
    else
        ms_dmcx_put_hex_float(p, (uint32_t)(mantissa >> 60), mantissa & (UINT64_MAX >> 4), 15,
                              (int32_t)(exponent == 0 ? 1 : exponent) - 16383 - 3);
}

/* An IEEE float or double, given as a double's parts. A float's small values are normal as doubles. */
static void ms_dmcx_put_ieee(ms_dmcx *p, uint32_t exponent, uint64_t fraction, bool is_float)
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
        ms_dmcx_put(p, fraction == 0 ? "inf" : "nan", 3);
    else if (lead == 0 && fraction == 0)
        ms_DMCX_PUT(p, "0x0p+0");
    else
        ms_dmcx_put_hex_float(p, lead, fraction, 13, power);
}

static void ms_dmcx_put_floating(ms_dmcx *p, const ms_dmcx_node *n)
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
        ms_dmcx_put_char(p, '-');
    if (n->b == 20)
        ms_dmcx_put_x87(p, high & 0x7fffu, low);
    else if (n->b == 16)
        ms_dmcx_put_ieee(p, (uint32_t)(low >> 52) & 2047u, low & (UINT64_MAX >> 12), false);
    else
        ms_dmcx_put_ieee(p, (uint32_t)(low >> 23) & 255u, low & 0x7fffffu, true);
    if (n->x != 0)
        ms_dmcx_put_char(p, (char)n->x);
}

static void ms_dmcx_put_operator(ms_dmcx *p, uint32_t index)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[index];
    ms_DMCX_PUT(p, "operator");
    if (op->symbol[0] >= 'a' && op->symbol[0] <= 'z')
        ms_dmcx_put_char(p, ' ');
    ms_dmcx_put(p, op->symbol, op->len);
}

/* How strongly an expression binds; what is none binds strongest. */
static uint32_t ms_dmcx_prec_of(const ms_dmcx_node *n)
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
static void ms_dmcx_put_base(ms_dmcx *p, uint32_t ref)
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
            ms_dmcx_put(p, word.ptr + from, to - from);
            return;
        }
        const ms_dmcx_node *n = ms_dmcx_at(p, ref);
        switch (n->kind) {
        case ms_DMCX_TEXT: ms_dmcx_put_span(p, n->a, n->b); return;
        case ms_DMCX_OPERATOR: ms_dmcx_put_operator(p, n->x); return;
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

/* floors: recursion */
static void ms_dmcx_left(ms_dmcx *p, uint32_t ref);
static void ms_dmcx_right(ms_dmcx *p, uint32_t ref);

static void ms_dmcx_print(ms_dmcx *p, uint32_t ref)
{
    ms_dmcx_left(p, ref);
    if ((ms_dmcx_flags_of(p, ref) & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK)) != 0)
        ms_dmcx_right(p, ref);
}

/* Packs inside an expansion all show the same element; the first one met tells how many there are. */
static uint32_t ms_dmcx_pack_element(ms_dmcx *p, const ms_dmcx_node *pack)
{
    if (p->pack_count == ms_DMCX_UNSET) {
        p->pack_count = pack->b;
        p->pack_index = 0;
    }
    return p->pack_index < pack->b ? *ms_dmcx_pack_at(p, pack->a, p->pack_index) : 0;
}

/* Whether a declarator has a shape, looking through packs and forward references, which may form a circle. */
static bool ms_dmcx_has(ms_dmcx *p, uint32_t ref, uint32_t flag)
{
    for (uint32_t hops = 0; hops < ms_DMCX_MAX_PRINT_DEPTH; hops++) {
        uint32_t flags = ms_dmcx_flags_of(p, ref);
        if ((flags & flag) != 0)
            return true;
        if ((flags & (flag * ms_DMCX_ASK)) == 0 || p->d->work == 0)
            return false;
        p->d->work--;
        const ms_dmcx_node *n = ms_dmcx_at(p, ref);
        switch (n->kind) {
        case ms_DMCX_PACK: ref = ms_dmcx_pack_element(p, n); break;
        case ms_DMCX_MEMBER_PTR: ref = n->b; break;
        case ms_DMCX_FORWARD: ref = n->y != 0 ? 0 : n->c; break;
        case ms_DMCX_QUAL:
        case ms_DMCX_POINTER:
        case ms_DMCX_REFERENCE: ref = n->a; break;
        default: return false;
        }
    }
    return false;
}

/* An operand of something that binds as strongly as prec, in parentheses where it binds less. */
static void ms_dmcx_operand(ms_dmcx *p, uint32_t ref, uint32_t prec)
{
    if (ref < ms_DMCX_W_COUNT) {
        ms_dmcx_put_word(p, ref);
        return;
    }
    const ms_dmcx_node *n = ms_dmcx_at(p, ref);
    bool parens = n->kind >= ms_DMCX_PREFIX && ms_dmcx_prec_of(n) >= prec;
    if (parens)
        ms_dmcx_open(p, '(');
    ms_dmcx_print(p, ref);
    if (parens)
        ms_dmcx_close(p, ')');
}

/* A list with commas; an element that is an empty pack leaves no comma. */
static void ms_dmcx_list(ms_dmcx *p, uint32_t cell)
{
    bool first = true;
    for (; cell != 0 && !p->d->failed; cell = p->cells[cell].next) {
        size_t before = p->d->out_len;
        char last = p->last;
        if (!first)
            ms_DMCX_PUT(p, ", ");
        size_t behind = p->d->out_len;
        ms_dmcx_operand(p, p->cells[cell].item, ms_DMCX_COMMA);
        if (p->d->out_len != behind) {
            first = false;
            continue;
        }
        p->d->out_len = before;
        p->last = last;
    }
}

static void ms_dmcx_parens_list(ms_dmcx *p, uint32_t cell)
{
    ms_dmcx_open(p, '(');
    ms_dmcx_list(p, cell);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_parens(ms_dmcx *p, uint32_t ref)
{
    ms_dmcx_open(p, '(');
    ms_dmcx_print(p, ref);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_angles(ms_dmcx *p, uint32_t cell)
{
    bool in_args = p->in_args;
    p->in_args = true;
    ms_dmcx_put_char(p, '<');
    ms_dmcx_list(p, cell);
    ms_dmcx_put_char(p, '>');
    p->in_args = in_args;
}

/* <pattern>...: the pattern once for every element of its packs; with the dots where it has none (a pack of
 * function parameters). */
static void ms_dmcx_expansion(ms_dmcx *p, uint32_t pattern)
{
    uint32_t index = p->pack_index;
    uint32_t count = p->pack_count;
    p->pack_index = ms_DMCX_UNSET;
    p->pack_count = ms_DMCX_UNSET;
    size_t before = p->d->out_len;
    char last = p->last;
    ms_dmcx_print(p, pattern);
    if (p->pack_count == ms_DMCX_UNSET) {
        ms_DMCX_PUT(p, "...");
    } else if (p->pack_count == 0) {
        p->d->out_len = before;
        p->last = last;
    }
    uint32_t elements = p->pack_count == ms_DMCX_UNSET ? 0 : p->pack_count;
    for (uint32_t i = 1; i < elements && !p->d->failed; i++) {
        ms_DMCX_PUT(p, ", ");
        p->pack_index = i;
        ms_dmcx_print(p, pattern);
    }
    p->pack_index = index;
    p->pack_count = count;
}

/* ---- C++: printing types ---- */

/* id<P>: what a pointer to Objective-C's root object with a protocol is called. */
static bool ms_dmcx_is_id(const ms_dmcx *p, uint32_t ref)
{
    if (ms_dmcx_kind_of(p, ref) != ms_DMCX_OBJC_PROTO)
        return false;
    return ms_dmcx_is_text(p, ms_dmcx_at(p, ref)->a, "objc_object", 11);
}

/* What stands between a type and the name or parentheses of a pointer to it. */
static void ms_dmcx_open_declarator(ms_dmcx *p, uint32_t pointee)
{
    bool is_array = ms_dmcx_has(p, pointee, ms_DMCX_IS_ARRAY);
    if (is_array)
        ms_dmcx_put_char(p, ' ');
    if (is_array || ms_dmcx_has(p, pointee, ms_DMCX_IS_FUNCTION))
        ms_dmcx_put_char(p, '(');
}

static void ms_dmcx_close_declarator(ms_dmcx *p, uint32_t pointee)
{
    if (ms_dmcx_has(p, pointee, ms_DMCX_IS_ARRAY) || ms_dmcx_has(p, pointee, ms_DMCX_IS_FUNCTION))
        ms_dmcx_put_char(p, ')');
    ms_dmcx_right(p, pointee);
}

static void ms_dmcx_pointer_left(ms_dmcx *p, uint32_t pointee)
{
    if (ms_dmcx_is_id(p, pointee)) {
        ms_DMCX_PUT(p, "id<");
        ms_dmcx_print(p, ms_dmcx_at(p, pointee)->b);
        ms_dmcx_put_char(p, '>');
        return;
    }
    ms_dmcx_left(p, pointee);
    ms_dmcx_open_declarator(p, pointee);
    ms_dmcx_put_char(p, '*');
}

/* What is printed for a type where packs and forward references stand for something else. */
static uint32_t ms_dmcx_shown(ms_dmcx *p, uint32_t ref)
{
    for (uint32_t hops = 0; hops < ms_DMCX_MAX_PRINT_DEPTH && p->d->work != 0; hops++) {
        uint32_t kind = ms_dmcx_kind_of(p, ref);
        uint32_t next = 0;
        p->d->work--;
        if (kind == ms_DMCX_PACK)
            next = ms_dmcx_pack_element(p, ms_dmcx_at(p, ref));
        else if (kind == ms_DMCX_FORWARD && ms_dmcx_at(p, ref)->y == 0)
            next = ms_dmcx_at(p, ref)->c;
        if (next == 0)
            break;
        ref = next;
    }
    return ref;
}

/* Reference collapsing ([dcl.ref]): & wins. Returns what is referred to at last, 0 when that is a circle. */
static uint32_t ms_dmcx_collapse(ms_dmcx *p, const ms_dmcx_node *n, uint32_t *ref_qual)
{
    uint32_t pointee = n->a;
    *ref_qual = n->x;
    for (uint32_t hops = 0; hops < ms_DMCX_MAX_PRINT_DEPTH && p->d->work != 0; hops++) {
        uint32_t shown = ms_dmcx_shown(p, pointee);
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

static void ms_dmcx_reference(ms_dmcx *p, ms_dmcx_node *n, bool is_left)
{
    if (n->y != 0)
        return;
    n->y = 1;
    uint32_t ref_qual;
    uint32_t pointee = ms_dmcx_collapse(p, n, &ref_qual);
    if (pointee == 0) {
        n->y = 0;
        return;
    }
    if (is_left) {
        ms_dmcx_left(p, pointee);
        ms_dmcx_open_declarator(p, pointee);
        ms_dmcx_put(p, "&&", ref_qual);
    } else {
        ms_dmcx_close_declarator(p, pointee);
    }
    n->y = 0;
}

static void ms_dmcx_member_pointer_left(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_left(p, n->b);
    bool in_parens = ms_dmcx_has(p, n->b, ms_DMCX_IS_ARRAY) || ms_dmcx_has(p, n->b, ms_DMCX_IS_FUNCTION);
    ms_dmcx_put_char(p, in_parens ? '(' : ' ');
    ms_dmcx_print(p, n->a);
    ms_DMCX_PUT(p, "::*");
}

static void ms_dmcx_function_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_parens_list(p, n->b);
    ms_dmcx_right(p, n->a);
    ms_dmcx_put_quals(p, n->x, n->y);
    if (n->c != 0) {
        ms_dmcx_put_char(p, ' ');
        ms_dmcx_print(p, n->c);
    }
}

static void ms_dmcx_array_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (p->last != ']')
        ms_dmcx_put_char(p, ' ');
    ms_dmcx_put_char(p, '[');
    if (n->b != 0)
        ms_dmcx_print(p, n->b);
    ms_dmcx_put_char(p, ']');
    ms_dmcx_right(p, n->a);
}

static void ms_dmcx_vector_out(ms_dmcx *p, uint32_t type, uint32_t size)
{
    if (type == 0)
        ms_DMCX_PUT(p, "pixel");
    else
        ms_dmcx_print(p, type);
    ms_DMCX_PUT(p, " vector[");
    if (size != 0)
        ms_dmcx_print(p, size);
    ms_dmcx_put_char(p, ']');
}

/* ---- C++: printing names ---- */

static void ms_dmcx_requires_clause(ms_dmcx *p, uint32_t constraint)
{
    if (constraint == 0)
        return;
    ms_DMCX_PUT(p, " requires ");
    ms_dmcx_print(p, constraint);
}

/* The part of a lambda's name behind 'lambda', and all of a lambda expression's */
static void ms_dmcx_closure_declarator(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_node *tail = ms_dmcx_at(p, n->c);
    if (n->a != 0)
        ms_dmcx_angles(p, n->a);
    if (tail->a != 0) {
        ms_dmcx_requires_clause(p, tail->a);
        ms_dmcx_put_char(p, ' ');
    }
    ms_dmcx_parens_list(p, n->b);
    ms_dmcx_requires_clause(p, tail->b);
}

static void ms_dmcx_encoding_left(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->a != 0) {
        ms_dmcx_left(p, n->a);
        if (!ms_dmcx_has(p, n->a, ms_DMCX_RIGHT))
            ms_dmcx_put_char(p, ' ');
    }
    ms_dmcx_print(p, n->b);
}

static void ms_dmcx_encoding_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_node *tail = ms_dmcx_at(p, n->c);
    ms_dmcx_parens_list(p, tail->a);
    if (n->a != 0)
        ms_dmcx_right(p, n->a);
    ms_dmcx_put_quals(p, n->x, n->y);
    if (tail->x != 0) {
        ms_DMCX_PUT(p, " [enable_if:");
        ms_dmcx_list(p, tail->b);
        ms_dmcx_put_char(p, ']');
    }
    ms_dmcx_requires_clause(p, tail->c);
}

static void ms_dmcx_two(ms_dmcx *p, const ms_dmcx_node *n, const char *between, size_t len)
{
    ms_dmcx_print(p, n->a);
    ms_dmcx_put(p, between, len);
    ms_dmcx_print(p, n->b);
}

static void ms_dmcx_synthetic(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_put(p, n->x == 1 ? "$N" : "$TT", n->x == 2 ? 3 : 2);
    if (n->a != 0)
        ms_dmcx_put_decimal(p, n->a - 1);
}

/* ---- C++: printing expressions ---- */

static void ms_dmcx_binary(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[n->x];
    bool closes = op->symbol[0] == '>' && (op->len == 1 || (op->len == 2 && op->symbol[1] == '>'));
    bool parens = p->brackets == 0 && closes;
    bool assigns = op->prec == ms_DMCX_ASSIGN; /* binds to the right; its left side is a logical or */
    if (parens)
        ms_dmcx_open(p, '(');
    ms_dmcx_operand(p, n->a, assigns ? (uint32_t)ms_DMCX_ORIF : op->prec + 1u);
    if (op->prec != ms_DMCX_COMMA)
        ms_dmcx_put_char(p, ' ');
    ms_dmcx_put(p, op->symbol, op->len);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_operand(p, n->b, op->prec + (assigns ? 1u : 0u));
    if (parens)
        ms_dmcx_close(p, ')');
}

static void ms_dmcx_fold_pack(ms_dmcx *p, uint32_t pack)
{
    ms_dmcx_open(p, '(');
    ms_dmcx_expansion(p, pack);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_fold_operator(ms_dmcx *p, uint32_t index)
{
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_put(p, ms_dmcx_ops[index].symbol, ms_dmcx_ops[index].len);
    ms_dmcx_put_char(p, ' ');
}

static void ms_dmcx_fold_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool is_left = n->y != 0;
    ms_dmcx_open(p, '(');
    if (!is_left)
        ms_dmcx_fold_pack(p, n->a);
    else if (n->b != 0)
        ms_dmcx_operand(p, n->b, ms_DMCX_CAST + 1);
    if (!is_left || n->b != 0)
        ms_dmcx_fold_operator(p, n->x);
    ms_DMCX_PUT(p, "...");
    if (is_left || n->b != 0)
        ms_dmcx_fold_operator(p, n->x);
    if (is_left)
        ms_dmcx_fold_pack(p, n->a);
    else if (n->b != 0)
        ms_dmcx_operand(p, n->b, ms_DMCX_CAST + 1);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_new_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->y != 0)
        ms_DMCX_PUT(p, "::");
    ms_dmcx_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    if (n->a != 0)
        ms_dmcx_parens_list(p, n->a);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_print(p, n->b);
    if (n->c != 0)
        ms_dmcx_parens_list(p, n->c);
}

static void ms_dmcx_delete_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->y != 0)
        ms_DMCX_PUT(p, "::");
    ms_dmcx_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_print(p, n->a);
}

static void ms_dmcx_call_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (ms_dmcx_ops[n->x].kind == ms_DMCX_OP_PAREN_CALL)
        ms_dmcx_parens(p, n->a);
    else
        ms_dmcx_print(p, n->a);
    ms_dmcx_parens_list(p, n->b);
}

static void ms_dmcx_choice(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_operand(p, n->a, ms_DMCX_CONDITIONAL);
    ms_DMCX_PUT(p, " ? ");
    ms_dmcx_print(p, n->b);
    ms_DMCX_PUT(p, " : ");
    ms_dmcx_operand(p, n->c, ms_DMCX_ASSIGN + 1);
}

static void ms_dmcx_named_cast(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_args = p->in_args;
    ms_dmcx_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    p->in_args = true;
    ms_dmcx_put_char(p, '<');
    ms_dmcx_left(p, n->a);
    ms_dmcx_put_char(p, '>');
    p->in_args = in_args;
    ms_dmcx_parens(p, n->b);
}

/* The value of an integer literal that is a character, or 256. */
static uint32_t ms_dmcx_char_value(const ms_dmcx *p, uint32_t ref)
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
static bool ms_dmcx_is_string(const ms_dmcx *p, uint32_t type, uint32_t cell)
{
    if (ms_dmcx_kind_of(p, type) != ms_DMCX_ARRAY)
        return false;
    uint32_t of = ms_dmcx_at(p, type)->a;
    if (of != ms_DMCX_W_CHAR && !ms_dmcx_is_text(p, of, "char", 4))
        return false;
    for (; cell != 0; cell = p->cells[cell].next) {
        if (ms_dmcx_char_value(p, p->cells[cell].item) == 256)
            return false;
    }
    return true;
}

/* A character of a string. Returns whether it was written as a number, which a digit behind would extend. */
static bool ms_dmcx_put_escaped(ms_dmcx *p, uint32_t c)
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
    ms_dmcx_put(p, text, len);
    return len > 1 && (text[1] == 'x' || ms_dmcx_is_digit(text[1]));
}

static void ms_dmcx_string_out(ms_dmcx *p, uint32_t cell)
{
    bool after_number = false;
    ms_dmcx_put_char(p, '"');
    for (; cell != 0; cell = p->cells[cell].next) {
        uint32_t c = ms_dmcx_char_value(p, p->cells[cell].item);
        bool is_hex = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
        if (after_number && is_hex)
            ms_DMCX_PUT(p, "\"\"");
        after_number = ms_dmcx_put_escaped(p, c);
    }
    ms_dmcx_put_char(p, '"');
}

static void ms_dmcx_init_list_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->a != 0 && ms_dmcx_is_string(p, n->a, n->b)) {
        ms_dmcx_string_out(p, n->b);
        return;
    }
    if (n->a != 0)
        ms_dmcx_print(p, n->a);
    ms_dmcx_put_char(p, '{');
    ms_dmcx_list(p, n->b);
    ms_dmcx_put_char(p, '}');
}

static void ms_dmcx_init_value(ms_dmcx *p, uint32_t value)
{
    uint32_t kind = ms_dmcx_kind_of(p, value);
    if (kind != ms_DMCX_FIELD_INIT && kind != ms_DMCX_INDEX_INIT && kind != ms_DMCX_RANGE_INIT)
        ms_DMCX_PUT(p, " = ");
    ms_dmcx_print(p, value);
}

static void ms_dmcx_initialiser(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->kind == ms_DMCX_FIELD_INIT) {
        ms_dmcx_put_char(p, '.');
        ms_dmcx_print(p, n->a);
        ms_dmcx_init_value(p, n->b);
        return;
    }
    ms_dmcx_put_char(p, '[');
    ms_dmcx_print(p, n->a);
    if (n->kind == ms_DMCX_RANGE_INIT) {
        ms_DMCX_PUT(p, " ... ");
        ms_dmcx_print(p, n->b);
    }
    ms_dmcx_put_char(p, ']');
    ms_dmcx_init_value(p, n->kind == ms_DMCX_RANGE_INIT ? n->c : n->b);
}

static void ms_dmcx_integer_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_front = ms_dmcx_words[n->x].len > 3;
    if (in_front) {
        ms_dmcx_open(p, '(');
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_close(p, ')');
    }
    ms_dmcx_put_number(p, n->a, n->b);
    if (!in_front)
        ms_dmcx_put_word(p, n->x);
}

static void ms_dmcx_subobject_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_print(p, n->b);
    ms_DMCX_PUT(p, ".<");
    ms_dmcx_print(p, n->a);
    ms_DMCX_PUT(p, " at offset ");
    if (n->c == 0)
        ms_dmcx_put_char(p, '0');
    else
        ms_dmcx_put_number(p, ms_dmcx_at(p, n->c)->a, ms_dmcx_at(p, n->c)->b);
    ms_dmcx_put_char(p, '>');
}

static void ms_dmcx_requirement_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_braces = n->x != 0 || n->b != 0;
    ms_dmcx_put_char(p, ' ');
    if (in_braces)
        ms_dmcx_open(p, '{');
    ms_dmcx_print(p, n->a);
    if (in_braces)
        ms_dmcx_close(p, '}');
    if (n->x != 0)
        ms_DMCX_PUT(p, " noexcept");
    if (n->b != 0) {
        ms_DMCX_PUT(p, " -> ");
        ms_dmcx_print(p, n->b);
    }
    ms_dmcx_put_char(p, ';');
}

static void ms_dmcx_requires_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_DMCX_PUT(p, "requires");
    if (n->a != 0) {
        ms_dmcx_put_char(p, ' ');
        ms_dmcx_parens_list(p, n->a);
    }
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_open(p, '{');
    for (uint32_t cell = n->b; cell != 0; cell = p->cells[cell].next)
        ms_dmcx_print(p, p->cells[cell].item);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_close(p, '}');
}

static void ms_dmcx_left_expr(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[n->x < ms_DMCX_OP_COUNT ? n->x : 0];
    switch (n->kind) {
    case ms_DMCX_PREFIX:
        ms_dmcx_put(p, op->symbol, op->len);
        ms_dmcx_operand(p, n->a, op->prec);
        break;
    case ms_DMCX_POSTFIX_OP:
        ms_dmcx_operand(p, n->a, op->prec + 1u);
        ms_dmcx_put(p, op->symbol, op->len);
        break;
    case ms_DMCX_BINARY: ms_dmcx_binary(p, n); break;
    case ms_DMCX_SUBSCRIPT:
        ms_dmcx_operand(p, n->a, op->prec);
        ms_dmcx_open(p, '[');
        ms_dmcx_print(p, n->b);
        ms_dmcx_close(p, ']');
        break;
    case ms_DMCX_MEMBER:
        ms_dmcx_operand(p, n->a, op->prec + 1u);
        ms_dmcx_put(p, op->symbol, op->len);
        ms_dmcx_operand(p, n->b, op->prec);
        break;
    case ms_DMCX_NEW: ms_dmcx_new_out(p, n); break;
    case ms_DMCX_DELETE: ms_dmcx_delete_out(p, n); break;
    case ms_DMCX_CALL: ms_dmcx_call_out(p, n); break;
    case ms_DMCX_CONVERT:
        ms_dmcx_parens(p, n->a);
        ms_dmcx_parens_list(p, n->b);
        break;
    case ms_DMCX_CHOICE: ms_dmcx_choice(p, n); break;
    case ms_DMCX_NAMED_CAST: ms_dmcx_named_cast(p, n); break;
    case ms_DMCX_OF:
        ms_dmcx_put(p, op->symbol, op->len);
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_ENCLOSED:
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_SIZEOF_PARAM_PACK:
        ms_DMCX_PUT(p, "sizeof...");
        ms_dmcx_fold_pack(p, n->a);
        break;
    case ms_DMCX_SIZEOF_ARGS:
        ms_DMCX_PUT(p, "sizeof... ");
        ms_dmcx_parens_list(p, n->a);
        break;
    case ms_DMCX_FOLD: ms_dmcx_fold_out(p, n); break;
    case ms_DMCX_INIT_LIST: ms_dmcx_init_list_out(p, n); break;
    case ms_DMCX_FIELD_INIT:
    case ms_DMCX_INDEX_INIT:
    case ms_DMCX_RANGE_INIT: ms_dmcx_initialiser(p, n); break;
    case ms_DMCX_THROW:
        ms_DMCX_PUT(p, "throw ");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_FUNCTION_PARAM:
        ms_DMCX_PUT(p, "fp");
        ms_dmcx_put_span(p, n->a, n->b);
        break;
    case ms_DMCX_INTEGER: ms_dmcx_integer_out(p, n); break;
    case ms_DMCX_ENUM_VALUE:
        ms_dmcx_parens(p, n->a);
        ms_dmcx_put_number(p, n->b, n->c);
        break;
    case ms_DMCX_FLOATING: ms_dmcx_put_floating(p, n); break;
    case ms_DMCX_STRING_OF:
        ms_DMCX_PUT(p, "\"<");
        ms_dmcx_print(p, n->a);
        ms_DMCX_PUT(p, ">\"");
        break;
    case ms_DMCX_LAMBDA:
        ms_DMCX_PUT(p, "[]");
        if (ms_dmcx_kind_of(p, n->a) == ms_DMCX_CLOSURE)
            ms_dmcx_closure_declarator(p, ms_dmcx_at(p, n->a));
        ms_DMCX_PUT(p, "{...}");
        break;
    case ms_DMCX_SUBOBJECT: ms_dmcx_subobject_out(p, n); break;
    case ms_DMCX_MEMBER_CONVERT:
        ms_dmcx_parens(p, n->a);
        ms_dmcx_parens(p, n->b);
        break;
    case ms_DMCX_REQUIRES: ms_dmcx_requires_out(p, n); break;
    case ms_DMCX_REQUIRE_EXPR: ms_dmcx_requirement_out(p, n); break;
    case ms_DMCX_REQUIRE_TYPE:
        ms_DMCX_PUT(p, " typename ");
        ms_dmcx_print(p, n->a);
        ms_dmcx_put_char(p, ';');
        break;
    default: /* REQUIRE_NESTED */
        ms_DMCX_PUT(p, " requires ");
        ms_dmcx_print(p, n->a);
        ms_dmcx_put_char(p, ';');
        break;
    }
}

/* ---- C++: printing, the dispatch ---- */

static void ms_dmcx_left_type(ms_dmcx *p, ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_QUAL:
        ms_dmcx_left(p, n->a);
        ms_dmcx_put_quals(p, n->x, 0);
        break;
    case ms_DMCX_VENDOR_QUAL: ms_dmcx_two(p, n, " ", 1); break;
    case ms_DMCX_OBJC_PROTO:
        ms_dmcx_two(p, n, "<", 1);
        ms_dmcx_put_char(p, '>');
        break;
    case ms_DMCX_POINTER: ms_dmcx_pointer_left(p, n->a); break;
    case ms_DMCX_REFERENCE: ms_dmcx_reference(p, n, true); break;
    case ms_DMCX_MEMBER_PTR: ms_dmcx_member_pointer_left(p, n); break;
    case ms_DMCX_ARRAY: ms_dmcx_left(p, n->a); break;
    case ms_DMCX_FUNCTION:
        ms_dmcx_left(p, n->a);
        ms_dmcx_put_char(p, ' ');
        break;
    case ms_DMCX_NOEXCEPT_IF:
        ms_DMCX_PUT(p, "noexcept");
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_THROW_LIST:
        ms_DMCX_PUT(p, "throw");
        ms_dmcx_parens_list(p, n->a);
        break;
    case ms_DMCX_VECTOR: ms_dmcx_vector_out(p, n->a, n->b); break;
    case ms_DMCX_PIXEL: ms_dmcx_vector_out(p, 0, n->a); break;
    case ms_DMCX_AFTER:
        ms_dmcx_left(p, n->a);
        ms_dmcx_put_word(p, n->x);
        break;
    case ms_DMCX_ELABORATED:
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_FLOAT_N:
        ms_DMCX_PUT(p, "_Float");
        ms_dmcx_put_span(p, n->a, n->b);
        break;
    case ms_DMCX_BIT_INT:
        if (n->x != 0)
            ms_DMCX_PUT(p, "unsigned ");
        ms_DMCX_PUT(p, "_BitInt");
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_TRANSFORM:
        ms_dmcx_two(p, n, "(", 1);
        ms_dmcx_put_char(p, ')');
        break;
    case ms_DMCX_EXPANSION: ms_dmcx_expansion(p, n->a); break;
    case ms_DMCX_PACK: {
        uint32_t element = ms_dmcx_pack_element(p, n);
        if (element != 0)
            ms_dmcx_left(p, element);
        break;
    }
    case ms_DMCX_ARG_PACK: ms_dmcx_list(p, n->a); break;
    case ms_DMCX_FORWARD:
        if (n->y == 0) {
            n->y = 1;
            ms_dmcx_left(p, n->c);
            n->y = 0;
        }
        break;
    case ms_DMCX_SYNTHETIC: ms_dmcx_synthetic(p, n); break;
    case ms_DMCX_DECL_TYPE: ms_DMCX_PUT(p, "typename "); break;
    case ms_DMCX_DECL_CONSTRAINED:
        ms_dmcx_print(p, n->b);
        ms_dmcx_put_char(p, ' ');
        break;
    case ms_DMCX_DECL_VALUE:
        ms_dmcx_left(p, n->b);
        if (!ms_dmcx_has(p, n->b, ms_DMCX_RIGHT))
            ms_dmcx_put_char(p, ' ');
        break;
    case ms_DMCX_DECL_TEMPLATE:
        ms_DMCX_PUT(p, "template");
        ms_dmcx_angles(p, n->b);
        ms_DMCX_PUT(p, " typename ");
        break;
    case ms_DMCX_DECL_PACK:
        ms_dmcx_left(p, n->a);
        ms_DMCX_PUT(p, "...");
        break;
    default: ms_dmcx_print(p, n->a); break; /* QUALIFIED_ARG */
    }
}

static void ms_dmcx_left_name(ms_dmcx *p, const ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_NESTED:
    case ms_DMCX_LOCAL:
    case ms_DMCX_QUALIFIED: ms_dmcx_two(p, n, "::", 2); break;
    case ms_DMCX_FRIEND: ms_dmcx_two(p, n, "::friend ", 9); break;
    case ms_DMCX_GLOBAL:
        ms_DMCX_PUT(p, "::");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_TEMPLATE:
        ms_dmcx_print(p, n->a);
        ms_dmcx_angles(p, n->b);
        break;
    case ms_DMCX_ABI_TAG:
        ms_dmcx_left(p, n->a);
        ms_DMCX_PUT(p, "[abi:");
        ms_dmcx_print(p, n->b);
        ms_dmcx_put_char(p, ']');
        break;
    case ms_DMCX_MODULE:
        if (n->a != 0)
            ms_dmcx_print(p, n->a);
        if (n->a != 0 || n->x != 0)
            ms_dmcx_put_char(p, n->x != 0 ? ':' : '.');
        ms_dmcx_print(p, n->b);
        break;
    case ms_DMCX_IN_MODULE:
        ms_dmcx_print(p, n->b);
        ms_dmcx_put_char(p, '@');
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_DTOR:
        ms_dmcx_put_char(p, '~');
        ms_dmcx_put_base(p, n->a);
        break;
    case ms_DMCX_CTOR: ms_dmcx_put_base(p, n->a); break;
    case ms_DMCX_DTOR_NAME:
        ms_dmcx_put_char(p, '~');
        ms_dmcx_left(p, n->a);
        break;
    case ms_DMCX_OPERATOR: ms_dmcx_put_operator(p, n->x); break;
    case ms_DMCX_LITERAL_OP:
        ms_DMCX_PUT(p, "operator\"\" ");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_CONVERSION:
        ms_DMCX_PUT(p, "operator ");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_UNNAMED:
        ms_DMCX_PUT(p, "'unnamed");
        ms_dmcx_put_span(p, n->a, n->b);
        ms_dmcx_put_char(p, '\'');
        break;
    case ms_DMCX_CLOSURE:
        ms_DMCX_PUT(p, "'lambda");
        if (ms_dmcx_at(p, n->c)->c != 0)
            ms_dmcx_print(p, ms_dmcx_at(p, n->c)->c);
        ms_dmcx_put_char(p, '\'');
        ms_dmcx_closure_declarator(p, n);
        break;
    case ms_DMCX_BINDING:
        ms_dmcx_open(p, '[');
        ms_dmcx_list(p, n->a);
        ms_dmcx_close(p, ']');
        break;
    case ms_DMCX_SPECIAL:
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_CTOR_VTABLE:
        ms_DMCX_PUT(p, "construction vtable for ");
        ms_dmcx_two(p, n, "-in-", 4);
        break;
    case ms_DMCX_DOT_SUFFIX:
        ms_dmcx_two(p, n, " (", 2);
        ms_dmcx_put_char(p, ')');
        break;
    case ms_DMCX_ENCODING: ms_dmcx_encoding_left(p, n); break;
    default: /* THIS_PARAM */
        ms_DMCX_PUT(p, "this ");
        ms_dmcx_print(p, n->a);
        break;
    }
}

/* One node deeper; false when the name nests too deep or a budget is spent. */
static bool ms_dmcx_enter_node(ms_dmcx *p)
{
    ms_dm *d = p->d;
    if (d->failed || d->work == 0 || p->depth >= ms_DMCX_MAX_PRINT_DEPTH) {
        d->failed = true;
        return false;
    }
    d->work--;
    p->depth++;
    return true;
}

/* Prints a node, or of a declarator what stands before its name. */
static void ms_dmcx_left(ms_dmcx *p, uint32_t ref)
{
    if (ref < ms_DMCX_W_COUNT) {
        ms_dmcx_put_word(p, ref);
        return;
    }
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    if (n->kind == ms_DMCX_TEXT) {
        ms_dmcx_put_span(p, n->a, n->b);
        return;
    }
    if (!ms_dmcx_enter_node(p))
        return;
    if (n->kind < ms_DMCX_QUAL)
        ms_dmcx_left_name(p, n);
    else if (n->kind < ms_DMCX_PREFIX)
        ms_dmcx_left_type(p, n);
    else
        ms_dmcx_left_expr(p, n);
    p->depth--;
}

/* Prints what stands behind a declarator's name. */
static void ms_dmcx_right_inside(ms_dmcx *p, ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_ENCODING: ms_dmcx_encoding_right(p, n); break;
    case ms_DMCX_QUAL: ms_dmcx_right(p, n->a); break;
    case ms_DMCX_POINTER:
        if (!ms_dmcx_is_id(p, n->a))
            ms_dmcx_close_declarator(p, n->a);
        break;
    case ms_DMCX_REFERENCE: ms_dmcx_reference(p, n, false); break;
    case ms_DMCX_MEMBER_PTR: ms_dmcx_close_declarator(p, n->b); break;
    case ms_DMCX_ARRAY: ms_dmcx_array_right(p, n); break;
    case ms_DMCX_FUNCTION: ms_dmcx_function_right(p, n); break;
    case ms_DMCX_PACK: {
        uint32_t element = ms_dmcx_pack_element(p, n);
        if (element != 0)
            ms_dmcx_right(p, element);
        break;
    }
    case ms_DMCX_FORWARD:
        if (n->y == 0) {
            n->y = 1;
            ms_dmcx_right(p, n->c);
            n->y = 0;
        }
        break;
    case ms_DMCX_DECL_TYPE:
    case ms_DMCX_DECL_CONSTRAINED: ms_dmcx_print(p, n->a); break;
    case ms_DMCX_DECL_VALUE:
        ms_dmcx_print(p, n->a);
        ms_dmcx_right(p, n->b);
        break;
    case ms_DMCX_DECL_TEMPLATE:
        ms_dmcx_print(p, n->a);
        ms_dmcx_requires_clause(p, n->c);
        break;
    case ms_DMCX_DECL_PACK: ms_dmcx_right(p, n->a); break;
    default: break;
    }
}

static void ms_dmcx_right(ms_dmcx *p, uint32_t ref)
{
    uint32_t flags = ms_dmcx_flags_of(p, ref);
    if ((flags & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK)) == 0 || !ms_dmcx_enter_node(p))
        return;
    ms_dmcx_right_inside(p, ms_dmcx_at(p, ref));
    p->depth--;
}

/* ---- C++: entry ---- */

/* Whether the name looks like C++'s: _Z behind up to three more underscores (two and three mark blocks). */
static bool ms_dmcx_is_mangled(const ms_dm *d)
{
    size_t at = 0;
    while (at < 4 && at < d->len && d->s[at] == '_')
        at++;
    return at != 0 && at < d->len && d->s[at] == 'Z' && d->len <= ms_DMCX_MAX_NAME;
}

static bool ms_dm_cxx(ms_dm *d)
{
    if (!ms_dmcx_is_mangled(d))
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
    uint32_t ref = ms_dmcx_mangled(&p);
    if (ref == 0 || d->failed)
        return false;
    p.pack_index = ms_DMCX_UNSET;
    p.pack_count = ms_DMCX_UNSET;
    ms_dmcx_print(&p, ref);
    return !d->failed;
}

#endif /* MACHSYM_NO_CXX */

#endif /* ms_ROOM_names_cxx */
