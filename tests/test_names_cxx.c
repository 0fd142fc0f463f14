/* Tests of the C++ demangler: own cases, names it must refuse, broken names, names made to be expensive, the
 * vector files. */
#define TEST_ROOM <rooms/src/names/cxx_printer.h>
#include "names_harness.h"

/* ---- cases of our own ---- */

/* clang-format off */
static const char *const cases[][2] = {
    {"_Z1fv", "f()"},
    {"_Z1A", "A"},
    {"__Z1fv", "f()"},
    {"___Z1fv_block_invoke", "invocation function for block in f()"},
    {"____Z1fv_block_invoke_2.108", "invocation function for block in f()"},
    /* pack indexing and tokens of allocations, as LLVM 23 prints them; llvm-cxxfilt 22 leaves them */
    {"_Z1gILi0EJciEEDyT0_T_v", "(char, int)[0] g<0, char, int>()"},
    {"_ZN1a3barILi1EJilEEEDyT0_T_v", "(int, long)[1] a::bar<1, int, long>()"},
    {"_Z5corgeIJLi1ELx2EEEDTsyT_Lm1EEv", "decltype((1, 2ll)[1ul]) corge<1, 2ll>()"},
    {"_Z1gILi0EJciEEPDyT0_T_S1_", "(char, int)[0]* g<0, char, int>((char, int)[0])"},
    {"__alloc_token_0__Z3foov", "foo() (.alloc_token)"},
    {"__alloc_token__Znwm", "operator new(unsigned long) (.alloc_token)"},
    {"__alloc_token_0__Z3foov.cold", "foo() (.cold) (.alloc_token)"},
    {"_Z1fv.cold.1", "f() (.cold.1)"},
    {"_Z1fv.foo$x", "f() (.foo$x)"},
    {"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()"},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int>>::push_back(int const&)"},
    {"_ZNSsC1Ev", "std::basic_string<char, std::char_traits<char>, std::allocator<char>>::basic_string()"},
    {"_ZNSiD1Ev", "std::basic_istream<char, std::char_traits<char>>::~basic_istream()"},
    {"_ZNSsB3fooC1Ev", "std::string[abi:foo]::string()"},
    {"_ZltIiEvT_", "void operator<<int>(int)"},
    {"_ZlsIiEvT_", "void operator<<<int>(int)"},
    {"_Zli2_av", "operator\"\" _a()"},
    {"_Zawv", "operator co_await()"},
    {"_ZN1AcvT_IiEEv", "A::operator int<int>()"},
    {"_ZN1AcvS_I1BEEv", "A::operator A<B>()"},
    {"_ZTv0_n12_1fv", "virtual thunk to f()"},
    {"_ZTC1A0_1B", "construction vtable for B-in-A"},
    {"_ZTAXtl1ALi1EEE", "template parameter object for A{1}"},
    {"_ZGR1aS_", "reference temporary for a"},
    {"_ZGIW3fooWP3bar", "initializer for module foo:bar"},
    {"_ZW3fooWP3bar1av", "a@foo:bar()"},
    {"_ZZ1fvE1a_0", "f()::a"},
    {"_ZZ1fvE1a__10_", "f()::a"},
    {"_ZZ1fvEs_1", "f()::string literal"},
    {"_ZZ1fvEd0_NUlvE_1bE", "f()::'lambda'()::b"},
    {"_ZN1AUt_C1Ev", "A::'unnamed'::()"},
    {"_ZDC1a1bE", "[a, b]"},
    {"_ZN1AF1fEv", "A::friend f()"},
    {"_ZNH1A1fES_", "A::f(this A)"},
    {"_ZNKR1A1fEv", "A::f() const &"},
    {"_Z1fDv4_i", "f(int vector[4])"},
    {"_Z1fDv4_p", "f(pixel vector[4])"},
    {"_Z1fA3_A4_i", "f(int [3][4])"},
    {"_Z1fRA3_KPFiPcE", "f(int (* const (&) [3])(char*))"},
    {"_Z1fM1AKFvvE", "f(void (A::*)() const)"},
    {"_Z1fPDOLb1EEFvvE", "f(void (*)() noexcept(true))"},
    {"_Z1fPDwiEFvvE", "f(void (*)() throw(int))"},
    {"_Z1fU3fooIiEi", "f(int foo<int>)"},
    {"_Z1fu3fooIiE", "f(foo(int))"},
    {"_Z1fPU11objcproto1A11objc_object", "f(id<A>)"},
    {"_Z1fDF16b", "f(std::bfloat16_t)"},
    {"_Z1fDB7_S_", "f(_BitInt(7), _BitInt(7))"},
    {"_Z1fDSDRm", "f(_Sat unsigned long _Fract)"},
    {"_Z1fDKN1A1CES_", "f(A::C decltype(auto), A)"},
    {"_Z1fITpTyJicEEvDpT_", "void f<int, char>(int, char...)"},
    {"_Z1fIJicEEvDpPKT_", "void f<int, char>(int const*, char const*)"},
    {"_Z1fIJEEvDpT_", "void f<>()"},
    {"_Z1fILb1ELin1ELj2EL1A3EEvv", "void f<true, -1, 2u, (A)3>()"},
    {"_Z1fILf3f800000EEvv", "void f<0x1p+0f>()"},
    {"_Z1fILf00000001EEvv", "void f<0x1p-149f>()"},
    {"_Z1fILd0000000000000001EEvv", "void f<0x0.0000000000001p-1022>()"},
    {"_Z1fILdfff8000000000000EEvv", "void f<-nan>()"},
    {"_Z1fILe3fff8000000000000001EEvv", "void f<0x8.000000000000001p-3L>()"},
    {"_Z1fILe7fff8000000000000000EEvv", "void f<infL>()"},
    {"_Z1fILe3ff8000000000000EEvv", "void f<0x1.8p+0L>()"},
    {"_Z1fIXtlA6_cLc1ELc48ELc34EEEEvv", "void f<\"\\1\"\"0\\\"\">()"},
    {"_Z1fIXtlA6_cLc256EEEEvv", "void f<char [6]{(char)256}>()"},
    {"_Z1fIXgtLi1ELi2EEEvv", "void f<(1 > 2)>()"},
    {"_Z1fIXscigtLi1ELi2EEEvv", "void f<static_cast<int>(1 > 2)>()"},
    {"_Z1fDTgtLi1ELi2EE", "f(decltype((1 > 2)))"},
    {"_Z1fIXaSaSLi1ELi2ELi1EEEvv", "void f<(1 = 2) = 1>()"},
    {"_Z1fIXcmLi1Ecm1a1bEEvv", "void f<(1, (a, b))>()"},
    {"_Z1fIXgsnwLi1E_ipiLi2EEEEvv", "void f<::new(1) int(2)>()"},
    {"_Z1fIXfLplLi1ELi2EEEvv", "void f<(1 + ... + (2...))>()"},
    {"_Z1fIXtlA2_idi1adi1bLi1EdxLi2EdXLi1ELi2ELi3EEEEvv", "void f<int [2]{.a.b = 1, [2][1 ... 2] = 3}>()"},
    {"_Z1fIXu8__uuidoftiEEvv", "void f<__uuidof(int)>()"},
    {"_Z1fIiXgssrNT_IiE1aIiEE1cEEvv", "void f<int, int<int>::a<int>::c>()"},
    {"_Z1fIiXrQii_XLi1ENR1ATiQLi1EEEEvv",
     "void f<int, requires (int, int) { {1} noexcept -> A; typename int; requires 1; }>()"},
    {"_Z1fIiEvvQaa1CIT_E1DITL0__E", "void f<int>() requires C<T> && D<TL0_>"},
    {"_ZZ1fvENKUlTyT_E_clIiEEDaS_", "auto f()::'lambda'<typename $T>($T)::operator()<int>($T) const"},
    {"_Z1fIXsoi1an4_0pEEEvv", "void f<a.<int at offset -4>>()"},
    {"_Z1fUa9enable_ifIXLb1EEEi", "f(int) [enable_if:true]"},
    /* types that come again: where they print something else, and where their first text was taken back; as
     * llvm-cxxfilt 22 prints them */
    {"_Z1fIJicEEvDp1AI1BIT_EEDpS2_", "void f<int, char>(A<B<int>>, A<B<char>>, int, char)"},
    {"_Z1h1BIXst1AIXgtLi1ELi2EEEEES1_", "h(B<sizeof (A<1 > 2>)>, A<(1 > 2)>)"},
    {"_Z1h1BIXst1AIXgtLi1ELi2EEEE1CIS1_EE", "h(B<sizeof (A<1 > 2>), C<A<(1 > 2)>>>)"},
    {"_Z1gIJEEvDp4PairI3FooIiET_E1XIcES2_", "void g<>(X<char>, Foo<int>)"},
    {"_Z1gIJEEv1YIJDp4PairI3FooIiET_EEE1XIcES2_S3_", "void g<>(Y<>, X<char>, Foo, Foo<int>)"},
    {"_ZN1Xcv1AI1BIT_E1CIiEEIS_EES3_S5_S7_",
     "X::operator A<B<X>, C<int>><X>(B<X>, C<int>, X::operator A<B<X>, C<int>>)"},
    {"_Zcv1BIT_EIS1_ES2_S2_S0_S0_", "operator B<B<>><B<B<>>>(operator B<B<>>, operator B<B<>>, B<>, B<>)"},
    {"_ZN1Xcv1BIT_EIS2_EES1_S2_S3_", "X::operator B<B<>><B<B<>>>(B<>, B<B<>>, X::operator B<B<>>)"},
};

static const char *const refused[] = {
    "", "_", "_Z", "__", "___", "____", "_____Z1fv", "Z1fv", "f", "_Zf", "_ZSTD_decompress", "_ZIPPreEncode",
    "_ZX_N4", "_Z1", "_Z0", "_Z2f", "_Z99999999999999999999f", "_Z1fS_", "_Z1fT_", "_Z1fS99999999999_",
    "_Z1fTL99999999999__", "_ZN1fEvE", "_ZN3TPLS_E", "_ZNE", "_ZNS_E", "_ZN1AIiEIiEE", "_Z1fv_block_invoke",
    "___Z1fv", "___Z1fv_block_invoke_", "___Z1fv_block_invokex", "_Z1fLi1E", "_Z1fIXLb2EEEvv", "_Z1fDB_",
    "_ZTc0_0_1av", "_Z1fILe3ff800000000000EEvv", "_Z1fIXrqEEEvv", "_ZDtv", "_ZGTt1fv", "_ZC1v", "_Zcv",
    "_Z1fIiXsrEEvv", "_ZN1AcvT_Ev", "_Z1fv$tlv$init",
    "_Z1gILi0EJciEEDyT0_v", "_Z1gILi0EJciEEDyT0_", "_Z1gIJLi1EEEDTsyT_Ev", "__alloc_token_malloc",
    "__alloc_token_0_malloc", "__alloc_token_0_", "__alloc_token_0____Z3foov_block_invoke", "__alloc_token_0__Z",
};
/* clang-format on */

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(ms_dmcxp_run, cases[i][0], 0, cases[i][1]);
        check_caps(ms_dmcxp_run, cases[i][0], 0);
        check_truncation(ms_dmcxp_run, cases[i][0], 0);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        bool taken = run(ms_dmcxp_run, refused[i], strlen(refused[i]), 0, out_a, OUT_SIZE) != SIZE_MAX;
        report(!taken, "refused", refused[i], "taken", "refused");
    }
}

/* ---- broken names, bombs ---- */

/* Each byte of a name changed to each of the grammar's busiest: it ends, within its budgets, the same
 * twice. */
static void test_broken(const char *name)
{
    test_begin();
    static const char bytes[] = "_ENIXS0T.";
    size_t len = strlen(name);
    char *copy = (char *)malloc(len + 1);
    for (size_t at = 0; at < len; at++) {
        for (size_t i = 0; bytes[i] != '\0'; i++) {
            memcpy(copy, name, len + 1);
            copy[at] = bytes[i];
            size_t a = run(ms_dmcxp_run, copy, len, 0, out_a, OUT_SIZE);
            size_t b = run(ms_dmcxp_run, copy, len, 0, NULL, 0);
            report(a == b, "broken", copy, "two results", "one");
        }
    }
    free(copy);
    test_end(name);
}

/* head, then middle many times, i, tail as many times, end: taken or not, in time. */
static void test_nested(const char *head, const char *middle, size_t count, const char *tail, const char *end,
                        bool want)
{
    static char name[1024 * 1024];
    char *at = name;
    repeat(&at, head, 1);
    repeat(&at, middle, count);
    repeat(&at, "i", 1);
    repeat(&at, tail, count);
    repeat(&at, end, 1);
    bool taken = run(ms_dmcxp_run, name, strlen(name), 0, out_a, OUT_SIZE) != SIZE_MAX;
    report(taken == want, "nested", name, taken ? "taken" : "refused", want ? "taken" : "refused");
    check_time(ms_dmcxp_run, "nested", name);
}

/* ---- types that come again ---- */

/* What is printed into no buffer cannot be copied from it, and yet spends the same budgets. */
static void check_again(const char *name, bool want)
{
    size_t len = strlen(name);
    size_t copied = run(ms_dmcxp_run, name, len, 0, out_a, OUT_SIZE);
    size_t printed = run(ms_dmcxp_run, name, len, 0, NULL, 0);
    report(copied == printed, "again", name, "two results", "one");
    report(want == (copied != SIZE_MAX), "again", name, want ? "refused" : "taken",
           want ? "taken" : "refused");
}

/* A<x, x> of itself, again and again: the text doubles with every step. */
static void test_doubling(size_t steps, bool want)
{
    char name[4096];
    size_t len = (size_t)snprintf(name, sizeof name, "_Z1f1AIiiE");
    for (size_t i = 0; i < steps; i++) {
        char digit = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i];
        len += (size_t)snprintf(name + len, sizeof name - len, "S_IS%c_S%c_E", digit, digit);
    }
    bool taken = run(ms_dmcxp_run, name, len, 0, out_a, OUT_SIZE) != SIZE_MAX;
    report(taken == want, "doubling", name, taken ? "taken" : "refused", want ? "taken" : "refused");
    check_again(name, want);
    check_time(ms_dmcxp_run, "doubling", name);
}

/* The substitution of a number from 1 on. */
static void put_substitution(char **at, size_t number)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    *(*at)++ = 'S';
    if (number > 36)
        *(*at)++ = digits[(number - 1) / 36];
    *(*at)++ = digits[(number - 1) % 36];
    *(*at)++ = '_';
}

/* A type of `pointers` pointers, doubled `doublings` times. Its steps are spent before its text is. */
static void test_pointers(size_t pointers, size_t doublings, bool want)
{
    static char name[4096];
    char *at = name;
    repeat(&at, "_Z1f1AI", 1);
    repeat(&at, "P", pointers);
    repeat(&at, "iE", 1);
    for (size_t i = 0; i < doublings; i++) {
        size_t newest = pointers + 1 + 2 * i; /* after a template's name and all types before */
        repeat(&at, "1BI", 1);
        put_substitution(&at, newest);
        put_substitution(&at, newest);
        repeat(&at, "E", 1);
    }
    check_again(name, want);
}

/* A type of some depth, then this in a second one, and that in a third one. */
static void test_depth(const size_t depths[3], bool want)
{
    static char name[8192];
    char *at = name;
    size_t count = 0; /* of substitutions */
    repeat(&at, "_Z1f", 1);
    for (size_t i = 0; i < 3; i++) {
        repeat(&at, "1AI", depths[i]);
        if (i == 0)
            repeat(&at, "i", 1);
        else
            put_substitution(&at, count - 1);
        repeat(&at, "E", depths[i]);
        count += 2 * depths[i]; /* the names of templates, then the types */
    }
    check_again(name, want);
}

/* f(A<name of len bytes, 1, 1...>, A<the same>): its text and its steps may be too many to copy. */
static void test_long(size_t len, size_t args)
{
    static char name[32768], want[65536];
    char *at = name;
    at += snprintf(at, 64, "_Z1f1AI%zu", len);
    repeat(&at, "n", len);
    for (size_t i = 0; i < args; i++)
        repeat(&at, "Li1E", 1);
    repeat(&at, "ES1_", 1);
    at = want;
    for (int again = 0; again < 2; again++) {
        repeat(&at, again == 0 ? "f(A<" : ", A<", 1);
        repeat(&at, "n", len);
        repeat(&at, ", 1", args);
        repeat(&at, ">", 1);
    }
    repeat(&at, ")", 1);
    check(ms_dmcxp_run, name, 0, want);
    check_again(name, true);
}

static void test_again(void)
{
    for (size_t i = 1; i < 30; i++) {
        test_doubling(i, i <= 13);
        test_pointers(60, i, i <= 9);
    }
    for (size_t i = 120; i < 170; i++) {
        size_t depths[3] = {150, 150, i};
        test_depth(depths, i <= 147);
    }
    for (size_t i = 0; i < 30; i++) {
        test_long(4070 + i, 1);
        test_long(3, 240 + i);
    }
}

static void test_bombs(void)
{
    test_doubling(4, true);
    test_doubling(30, false);
    test_nested("_Z1f", "P", 200, "", "", true);
    test_nested("_Z1f", "P", 100000, "", "", false);
    test_nested("_Z1f", "1AI", 100, "E", "", true);
    test_nested("_Z1f", "1AI", 5000, "E", "", false);
    test_nested("_Z1f", "DTst", 5000, "E", "", false);
    test_nested("_Z1fI", "J", 5000, "E", "Evv", false);
    test_nested("_Z1fI", "TtTn", 5000, "E", "Evv", false);
    test_nested("_Z1fIXtl", "di1a", 5000, "", "EEEvv", false);
    test_nested("_Z", "ZN1AI", 5000, "EvE1b", "", false);
    test_nested("_ZT", "Th0_T", 5000, "", "", false);
    test_nested("_Z1fI", "i", 3000, "", "Evv", true);
}

/* ---- vector files ---- */

/* Vectors whose text is deliberately not ours; tests/vectors/KNOWN.md says why. */
static const char *const known[] = {"i", "PKFvRiE", "PVFvRmOE", "PFvRmOE",
                                    "_ZN5test01hIfEEvRAcvjplstT_Le4001a000000000000000E_c"};

/* A name that is known and yet equal fails too: its row has to go. */
static void vector_row(char *field[FIELDS])
{
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known = is_known || strcmp(known[i], field[0]) == 0;
    const char *got = run_text(ms_dmcxp_run, field[0], 0);
    bool same = strcmp(got, field[1]) == 0;
    report(same != is_known, is_known ? "known, but equal" : "vector", field[0], got, field[1]);
}

/* One of these holds a NUL: it is tried up to there. */
static void unchanged_row(char *field[FIELDS])
{
    field[1] = field[0];
    vector_row(field);
}

/* Symbol-table spellings: C++ rows have two columns, Rust rows that look alike have three. */
static void nlist_row(char *field[FIELDS])
{
    bool is_cxx = strncmp(field[0], "__Z", 3) == 0 || strncmp(field[0], "____Z", 5) == 0;
    if (is_cxx && field[1][0] != '\0' && field[2][0] == '\0')
        check(ms_dmcxp_run, field[0] + 1, 0, field[1]);
}

/* Columns: mangled, and what somebody else's tool prints for it: see tests/names/README.md. */
static void rare_row(char *field[FIELDS])
{
    check(ms_dmcxp_run, field[0], 0, field[1]);
    check_truncation(ms_dmcxp_run, field[0], 0);
}

/* Names that are one edit away from others. */
static void edited_row(char *field[FIELDS])
{
    check(ms_dmcxp_run, field[0], 0, field[1]);
}

/* Truth: llvm-cxxfilt 22, for one and for 300 of each. */
static void test_siblings(void)
{
    /* clang-format off */
    static const char *const ends0[4] = {"_Z1f", "", "f(", ")"};
    static const char *const units0[][2] = {
        {"Pi", "int*"},
        {"RKi", "int const&"},
        {"N1a1bE", "a::b"},
        {"1aIiE", "a<int>"},
        {"PFivE", "int (*)()"},
        {"A3_i", "int [3]"},
        {"M1aFvvE", "void (a::*)()"},
        {"Z1gvE1a", "g()::a"},
        {"U3vecPi", "int* vec"},
        {"Dv4_f", "float vector[4]"},
        {"DpPi", "int*..."},
    };
    static const char *const ends1[4] = {"_Z1fI", "Evv", "void f<", ">()"};
    static const char *const units1[][2] = {
        {"Li1E", "1"},
        {"XplLi1ELi2EE", "1 + 2"},
        {"XtlA1_iLi1EEE", "int [1]{1}"},
        {"XL_Z1gvEE", "g()"},
        {"XszLi1EE", "sizeof (1)"},
        {"XstiE", "sizeof (int)"},
        {"XcvPiLi0EE", "(int*)(0)"},
        {"XclL_Z1gvEEE", "g()()"},
        {"Xil1aEE", "{a}"},
        {"XquLb1ELi1ELi2EE", "true ? 1 : 2"},
        {"X1aE", "a"},
        {"JiiE", "int, int"},
        {"XnwLi1E_iEE", "new(1) int"},
    };
    /* clang-format on */
    check_siblings(ms_dmcxp_run, ends0, units0, sizeof units0 / sizeof units0[0]);
    check_siblings(ms_dmcxp_run, ends1, units1, sizeof units1 / sizeof units1[0]);
}

int main(void)
{
    test_cases();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        test_broken(cases[i][0]);
    test_bombs();
    test_siblings();
    test_again();
    each_row_in("tests/names", "cxx.tsv", rare_row);
    each_row_in("tests/names", "cxx-edited.tsv", edited_row);
    each_row_in("tests/names", "cxx-grafted.tsv", edited_row);
    each_row("cxx.tsv", vector_row);
    each_row("cxx-official.tsv", vector_row);
    each_row("cxx-official-invalid.tsv", unchanged_row);
    each_row("cxx-negative.tsv", unchanged_row);
    each_row("nlist-underscore.tsv", nlist_row);
    return test_done();
}
