/* Tests of the C++ demangler: vector files, cases of its own, names it must refuse, buffers of every size,
 * broken names, and names made to be expensive.
 * Build: cc -O1 -g -fsanitize=address,undefined -o test_names_cxx tests/test_names_cxx.c
 * Run:   ./test_names_cxx [folder with the vector files; default ../shared/vectors]
 *        ./test_names_cxx - < names    prints what becomes of each line; tests/names_cxx_diff.sh uses this */
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"
#include "../names_cxx.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned long passed;
static unsigned long failed;

static void count(bool ok, const char *what, const char *name, const char *want, const char *got)
{
    if (ok) {
        passed++;
        return;
    }
    failed++;
    if (failed <= 20)
        printf("%s: %.300s\n  want: %.500s\n  got:  %.500s\n", what, name, want, got);
}

/* One try as the entrance makes it: exact copies of name and scratch, so that a read outside is seen. */
static bool try_once(const char *name, size_t len, size_t mem_len, char *out, size_t cap, ms_dm *d)
{
    char *copy = (char *)malloc(len == 0 ? 1 : len);
    unsigned char *mem = (unsigned char *)malloc(mem_len);
    memcpy(copy, name, len);
    memset(d, 0, sizeof(*d));
    d->s = copy;
    d->len = len;
    d->out = out;
    d->cap = cap;
    d->out_limit = 256 * 1024 + 16 * len;
    d->work = 64 * len + 65536;
    d->mem = mem;
    d->mem_len = mem_len;
    bool ok = ms_dm_cxx(d);
    free(copy);
    free(mem);
    return ok;
}

/* Small scratch first, then the large one. */
static bool demangle(const char *name, size_t len, char *out, size_t cap, ms_dm *d)
{
    if (try_once(name, len, 24 * 1024, out, cap, d))
        return true;
    return d->no_mem && try_once(name, len, 256 * 1024, out, cap, d);
}

static char result[2 * 1024 * 1024];

/* The result as a string; the name itself where it is refused. */
static const char *source_form(const char *name, size_t len)
{
    ms_dm d;
    if (demangle(name, len, result, sizeof(result) - 1, &d)) {
        result[d.out_len] = '\0';
    } else {
        memcpy(result, name, len);
        result[len] = '\0';
    }
    return result;
}

/* ---- vector files ---- */

/* Names whose expected text is deliberately not ours. */
static const char *const known[][2] = {
    {"i", "a bare type: only names that begin with _Z are C++ symbols"},
    {"PKFvRiE", "a bare type"},
    {"PVFvRmOE", "a bare type"},
    {"PFvRmOE", "a bare type"},
    {"_ZN5test01hIfEEvRAcvjplstT_Le4001a000000000000000E_c",
     "invalid only where long double is not the x87's; Macs have it, and llvm-cxxfilt prints it"},
};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i][0], name) == 0)
            return true;
    }
    return false;
}

static char *read_file(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    char *text = NULL;
    size_t len = 0;
    size_t got = 0;
    do {
        text = (char *)realloc(text, len + 65536 + 1);
        got = fread(text + len, 1, 65536, f);
        len += got;
    } while (got != 0);
    fclose(f);
    text[len] = '\0';
    return text;
}

/* Cuts the text's next line off and splits it at its first two tabs; false at the end. */
static bool next_row(char **text, char *cell[3])
{
    if (**text == '\0')
        return false;
    char *end = strchr(*text, '\n');
    char *behind = end == NULL ? strchr(*text, '\0') : end + 1;
    if (end != NULL)
        *end = '\0';
    cell[0] = *text;
    for (int i = 1; i < 3; i++) {
        char *tab = cell[i - 1] == NULL ? NULL : strchr(cell[i - 1], '\t');
        if (tab != NULL)
            *tab++ = '\0';
        cell[i] = tab;
    }
    *text = behind;
    return true;
}

static void run_vectors(const char *folder, const char *file)
{
    char *text = read_file(folder, file);
    if (text == NULL) {
        printf("skipped: %s/%s is not there\n", folder, file);
        return;
    }
    char *at = text;
    char *cell[3];
    while (next_row(&at, cell)) {
        if (cell[1] == NULL || is_known(cell[0]))
            continue;
        const char *got = source_form(cell[0], strlen(cell[0]));
        count(strcmp(got, cell[1]) == 0, file, cell[0], cell[1], got);
    }
    free(text);
}

/* Symbol-table spellings: C++ rows have two columns, Rust rows that look alike have three. */
static void run_nlist(const char *folder)
{
    char *text = read_file(folder, "nlist-underscore.tsv");
    if (text == NULL)
        return;
    char *at = text;
    char *cell[3];
    while (next_row(&at, cell)) {
        bool is_cxx = strncmp(cell[0], "__Z", 3) == 0 || strncmp(cell[0], "____Z", 5) == 0;
        if (!is_cxx || cell[1] == NULL || cell[2] != NULL)
            continue;
        const char *got = source_form(cell[0] + 1, strlen(cell[0]) - 1);
        count(strcmp(got, cell[1]) == 0, "nlist-underscore.tsv", cell[0], cell[1], got);
    }
    free(text);
}

/* ---- cases of our own ---- */

/* clang-format off */
static const char *const cases[][2] = {
    {"_Z1fv", "f()"},
    {"_Z1A", "A"},
    {"__Z1fv", "f()"},
    {"___Z1fv_block_invoke", "invocation function for block in f()"},
    {"____Z1fv_block_invoke_2.108", "invocation function for block in f()"},
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
};

static const char *const refused[] = {
    "", "_", "_Z", "__", "___", "____", "_____Z1fv", "Z1fv", "f", "_Zf", "_ZSTD_decompress", "_ZIPPreEncode",
    "_ZX_N4", "_Z1", "_Z0", "_Z2f", "_Z99999999999999999999f", "_Z1fS_", "_Z1fT_", "_Z1fS99999999999_",
    "_Z1fTL99999999999__", "_ZN1fEvE", "_ZN3TPLS_E", "_ZNE", "_ZNS_E", "_ZN1AIiEIiEE", "_Z1fv_block_invoke",
    "___Z1fv", "___Z1fv_block_invoke_", "___Z1fv_block_invokex", "_Z1fLi1E", "_Z1fIXLb2EEEvv", "_Z1fDB_",
    "_ZTc0_0_1av", "_Z1fILe3ff800000000000EEvv", "_Z1fIXrqEEEvv", "_ZDtv", "_ZGTt1fv", "_ZC1v", "_Zcv",
    "_Z1fIiXsrEEvv", "_ZN1AcvT_Ev", "_Z1fv$tlv$init",
};
/* clang-format on */

static void run_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *got = source_form(cases[i][0], strlen(cases[i][0]));
        count(strcmp(got, cases[i][1]) == 0, "case", cases[i][0], cases[i][1], got);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        ms_dm d;
        bool ok = demangle(refused[i], strlen(refused[i]), result, sizeof(result), &d);
        count(!ok, "refused", refused[i], "(refused)", "(accepted)");
    }
}

/* ---- buffers, truncation, bombs ---- */

/* Every cap gives the same length and the same beginning, and never stores past cap. */
static void run_caps(const char *name)
{
    static char whole[65536];
    ms_dm d;
    size_t len = strlen(name);
    bool ok = demangle(name, len, whole, sizeof(whole), &d);
    size_t want = d.out_len;
    for (size_t cap = 0; cap <= want + 1; cap++) {
        char *out = (char *)malloc(cap + 1);
        out[cap] = 'x';
        bool same = demangle(name, len, cap == 0 ? NULL : out, cap, &d) == ok && (!ok || d.out_len == want);
        if (same && ok)
            same = memcmp(out, whole, cap < want ? cap : want) == 0 && out[cap] == 'x';
        count(same, "cap", name, "the same for every cap", "another result");
        free(out);
    }
}

/* A name cut anywhere, and each of its bytes changed, ends without reading outside it. */
static void run_broken(const char *name)
{
    static const char bytes[] = "_ENIXS0T.";
    size_t len = strlen(name);
    char *copy = (char *)malloc(len + 1);
    ms_dm d;
    for (size_t cut = 0; cut <= len; cut++) {
        demangle(name, cut, result, sizeof(result), &d);
        for (size_t i = 0; cut < len && bytes[i] != '\0'; i++) {
            memcpy(copy, name, len);
            copy[cut] = bytes[i];
            bool ok = demangle(copy, len, result, sizeof(result), &d);
            count(!ok || d.out_len <= d.out_limit, "broken", name, "within the budget", "past it");
        }
    }
    free(copy);
}

static size_t append(char *name, size_t len, const char *text, size_t repeat)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < repeat; i++) {
        memcpy(name + len, text, n);
        len += n;
    }
    return len;
}

/* head, then middle many times, i, tail as many times, end: it must end within its budgets. */
static void run_nested(const char *head, const char *middle, size_t repeat, const char *tail, const char *end,
                       bool want)
{
    static char name[1024 * 1024];
    size_t len = append(name, 0, head, 1);
    len = append(name, len, middle, repeat);
    len = append(name, len, "i", 1);
    len = append(name, len, tail, repeat);
    len = append(name, len, end, 1);
    name[len] = '\0';
    ms_dm d;
    bool ok = demangle(name, len, result, sizeof(result), &d);
    count(ok == want, "nested", name, want ? "accepted" : "refused", ok ? "accepted" : "refused");
}

/* A<x, x> of itself, again and again: the text doubles with every step. */
static void run_doubling(size_t steps, bool want)
{
    char name[4096];
    size_t len = (size_t)sprintf(name, "_Z1f1AIiiE");
    for (size_t i = 0; i < steps; i++) {
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        len += (size_t)sprintf(name + len, "S_IS%c_S%c_E", digits[i], digits[i]);
    }
    ms_dm d;
    bool ok = demangle(name, len, result, sizeof(result), &d);
    count(ok == want, "doubling", name, want ? "accepted" : "refused", ok ? "accepted" : "refused");
}

static void run_bombs(void)
{
    run_doubling(4, true);
    run_doubling(30, false);
    run_nested("_Z1f", "P", 200, "", "", true);
    run_nested("_Z1f", "P", 100000, "", "", false);
    run_nested("_Z1f", "1AI", 100, "E", "", true);
    run_nested("_Z1f", "1AI", 5000, "E", "", false);
    run_nested("_Z1f", "DTst", 5000, "E", "", false);
    run_nested("_Z1fI", "J", 5000, "E", "Evv", false);
    run_nested("_Z1fI", "TtTn", 5000, "E", "Evv", false);
    run_nested("_Z1fIXtl", "di1a", 5000, "", "EEEvv", false);
    run_nested("_Z", "ZN1AI", 5000, "EvE1b", "", false);
    run_nested("_ZT", "Th0_T", 5000, "", "", false);
    run_nested("_Z1fI", "i", 3000, "", "Evv", true);
}

/* Copies standard input, each line demangled. */
static int filter(void)
{
    static char line[1024 * 1024];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        size_t len = strcspn(line, "\n");
        puts(source_form(line, len));
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "-") == 0)
        return filter();
    const char *folder = argc > 1 ? argv[1] : "../shared/vectors";
    run_vectors(folder, "cxx.tsv");
    run_vectors(folder, "cxx-official.tsv");
    run_vectors(folder, "cxx-official-invalid.tsv");
    run_vectors(folder, "cxx-negative.tsv");
    run_nlist(folder);
    run_cases();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run_caps(cases[i][0]);
        run_broken(cases[i][0]);
    }
    run_bombs();
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
