/* Tests of the D demangler: own cases, names made to be expensive, the vector files. */
#define TEST_ROOM <rooms/src/names/d.h>
#include "names_harness.h"

typedef struct own_case {
    const char *name;
    const char *expected;
} own_case;

static const own_case OWN[] = {
    /* names */
    {"_Dmain", "D main"},
    {"_Dmainx", "_Dmainx"},
    {"_D1aZ", "a"},
    {"_D3foo3bari", "foo.bar"},
    {"_D3foo03bari", "foo.bar"},
    {"_D3foo4__S13bari", "foo.bar"},
    {"_D3foo5__S1a3bari", "foo.__S1a.bar"},
    {"_D3foo4__S1Z", "_D3foo4__S1Z"},
    {"_D3foo6__initZ", "initializer for foo"},
    {"_D3foo4__S16__initZ", "initializer for foo"},
    {"_D3fooFiZ6__vtblZ", "vtable for foo(int)"},
    {"_D3foo7__ClassZ", "ClassInfo for foo"},
    {"_D3foo11__InterfaceZ", "Interface for foo"},
    {"_D3foo12__ModuleInfoZ", "ModuleInfo for foo"},
    {"_D3foo9ab6__initZ", "foo.ab6__init"},
    {"_D3foo8a6__initZ", "foo.a6__init"}, /* the end of a longer name is not special */
    {"_D3foo6__initi", "foo.__init"},
    {"_D6__initZ", "initializer for"},
    {"_D3foo6__ctorMFZC3foo", "foo.this()"},
    {"_D3foo6__dtorMFZv", "foo.~this()"},
    {"_D3foo10__postblitMFZv", "foo.this(this)"},
    {"_D3foo10__postblitMFZZ", "foo.this(this)"},
    {"_D3foo10__postblitMFNaZv", "foo.__postblit()"},
    /* a function of ldc that adjusts `this`: what follows the prefix is read as c++filt -s dlang reads it after _D */
    {"_DThn16_3foo3Bar3runMFiZv", "non-virtual thunk to foo.Bar.run(int)"},
    {"_DThn8_3foo__T3BarTiZQh3runMxFAyaQdZv",
     "non-virtual thunk to foo.Bar!(int).Bar.run(immutable(char)[], immutable(char)[]) const"},
    {"_DThn_3foo3Bar3runMFZv", "_DThn_3foo3Bar3runMFZv"},
    {"_DThn163foo3Bar3runMFZv", "_DThn163foo3Bar3runMFZv"},
    {"_DThn16_", "_DThn16_"},
    {"_DThn16_3foo3Bar3runMFZ", "_DThn16_3foo3Bar3runMFZ"},
    /* functions */
    {"_D3foo3barFaXv", "foo.bar(char...)"},
    {"_D3foo3barFaYv", "foo.bar(char, ...)"},
    {"_D3foo3barFYv", "foo.bar(...)"},
    {"_D3foo3barFIaJaKaLaMaMKaNkaNkMaIKaZv", "foo.bar(in char, out char, ref char, lazy char, scope char, "
                                             "scope ref char, return char, return scope char, "
                                             "in ref char)"},
    {"_D3foo3barMxFZv", "foo.bar() const"},
    {"_D3foo3barMONgxFZv", "foo.bar() shared inout const"},
    {"_D3foo3barMyFZ3bazMFZv", "foo.bar() immutable.baz()"},
    {"_D3foo3barFNaNbNcNdNeNfNiNjNlNmZv", "foo.bar()"},
    {"_D3foo3barFNaNgiZv", "foo.bar(inout(int))"},
    {"_D3foo3barFNaNoiZv", "_D3foo3barFNaNoiZv"},
    {"_D3foo3barUiZv", "foo.bar(int)"},
    {"_D3foo3barFiZ", "_D3foo3barFiZ"},
    {"_D3foo3barFi", "_D3foo3barFi"},
    {"_D3foo3barPFNaNbZi", "foo.bar"},
    /* types */
    {"_D1aFabcdefghijklmnopqrstuvwzizkZv",
     "a(char, bool, creal, double, real, float, byte, ubyte, int, ireal, uint, long, ulong, typeof(null), "
     "ifloat, "
     "idouble, cfloat, cdouble, short, ushort, wchar, void, dchar, cent, ucent)"},
    {"_D1aFzaZv", "_D1aFzaZv"},
    {"_D1aFAaG42aHiaPaAyaZv", "a(char[], char[42], char[int], char*, immutable(char)[])"},
    {"_D1aFHG1aG2bZv", "a(bool[2][char[1]])"},
    {"_D1aFOxaNgxaNhG4fNnZv",
     "a(shared(const(char)), inout(const(char)), __vector(float[4]), typeof(*null))"},
    {"_D1aFPFaZvPUaZvPWZvPVZvPRZvPYZvZv",
     "a(void(char) function, extern(C) void(char) function, extern(Windows) void() function, "
     "extern(Pascal) void() function, extern(C++) void() function, extern(Objective-C) void() function)"},
    {"_D1aFPFNaNbNcNdNeNfNiNjNlNmZvZi",
     "a(void() pure nothrow ref @property @trusted @safe @nogc return scope @live function)"},
    {"_D1aFDFZvDxFZvDOFNaiZvZv", "a(void() delegate, void() delegate const, void(int) pure delegate shared)"},
    {"_D1aFxPFZvPxPaZv", "a(const(void() function), const(char*)*)"},
    {"_D1aFPFZPFNfZiZi", "a(int() @safe function() function)"},
    {"_D1aFB2aiBaiZZv", "a(Tuple!(char, int), Tuple!(char, int))"},
    {"_D1aFS3foo3barC3fooE1eT1tZv", "a(foo.bar, foo, e, t)"},
    {"_D1aFS3foo3barFaZ3bazZv", "a(foo.bar(char).baz)"},
    {"_D1aFGaZv", "a(char[])"},
    /* back-references */
    {"_D3foo3barFAiQcZv", "foo.bar(int[], int[])"},
    {"_D3foo3barFiQaZv", "_D3foo3barFiQaZv"},
    {"_D3foo3barFxQBaZv", "_D3foo3barFxQBaZv"},
    {"_D3foo3barFS3foo1cSQhQfZv", "foo.bar(foo.c, foo.c)"},
    {"_D3foo3barFPFZiDQdZv", "_D3foo3barFPFZiDQdZv"},
    {"_D3foo3barFPFZiDQeZv", "foo.bar(int() function, int() delegate)"},
    {"_D3fooQeFZv", "foo.foo()"},
    /* templates */
    {"_D3foo__T3barTaTiZ3bazFZv", "foo.bar!(char, int).baz()"},
    {"_D3foo__U3barTaZQhFZv", "foo.bar!(char).bar()"},
    {"_D3foo10__T3barTaZ3bazi", "foo.bar!(char).baz"},
    {"_D3foo11__T3barTaZ3bazi", "_D3foo11__T3barTaZ3bazi"},
    {"_D3foo11__T3barHTaZ3bazi", "foo.bar!(char).baz"},
    {"_D3foo__T3barZi", "foo.bar!()"},
    {"_D3foo__T0Zi", "_D3foo__T0Zi"},
    {"_D3foo__T3barVii42Vi42ViN42Vki1Vli1Vmi1Vhi1Zi", "foo.bar!(42, 42, -42, 1u, 1L, 1uL, 1u)"},
    {"_D3foo__T3barVbi0Vbi1Vai97Vai10Vui97Vwi97Zi",
     "foo.bar!(false, true, 'a', '\\x0a', '\\u0061', '\\U00000061')"},
    {"_D3foo__T3barVai31Vai32Vai126Vai127Vai128Zi", "foo.bar!('\\x1f', ' ', '~', '\\x7f', '\\x80')"},
    {"_D3foo__T3barVai99999999999Zi", "_D3foo__T3barVai99999999999Zi"},
    {"_D3foo__T3barVfe0A8P6VdeN8PN6VdeNANVdeINFVdeNINFVrc0A8P6c8P1Zi",
     "foo.bar!(0x0.A8p6, -0x8.p-6, NaN, Inf, -Inf, 0x0.A8p6+0x8.p1i)"},
    {"_D3foo__T3barVdeP5Zi", "_D3foo__T3barVdeP5Zi"},
    {"_D3foo__T3barVAyaa3_616263VAyuw1_61VAywd1_61Zi", "foo.bar!(\"abc\", \"a\"w, \"a\"d)"},
    {"_D3foo__T3barVAyaa8_090a0d0b0c0780FfZi", "foo.bar!(\"\\t\\n\\r\\v\\f\\x07\\x80\\xFf\")"},
    {"_D3foo__T3barVAyaa3_6162Zi", "_D3foo__T3barVAyaa3_6162Zi"},
    {"_D3foo__T3barVAiA2i1i2VHiiA1i1i2VAiA0Zi", "foo.bar!([1, 2], [1:2], [])"},
    {"_D3foo__T3barTHiiVQeA1i1i2Zi", "foo.bar!(int[int], [1:2])"},
    {"_D3foo__T3barVS1a1bS2i1a1_61VPinVnnZi", "foo.bar!(a.b(1, \"a\"), null, null)"},
    {"_D3foo__T3barVPFZvf_D1a9__lambda1FZvZi", "foo.bar!(a.__lambda1())"},
    {"_D3foo__T3barS1a1bS_D1a1biS6_D1a1biZi", "_D3foo__T3barS1a1bS_D1a1biS6_D1a1biZi"},
    {"_D3foo__T3barS1a1bS_D1a1biS7_D1a1biZi", "foo.bar!(a.b, a.b, a.b)"},
    {"_D3foo__T3barS41a1bS21aZi", "foo.bar!(a.b, a)"}, /* lengths in front of names that start with digits */
    {"_D3foo__T3barX4C_foZi", "foo.bar!(C_fo)"},
    {"_D3foo__T3barX9C_foZi", "_D3foo__T3barX9C_foZi"},
    /* others */
    {"_DEBUG", "_DEBUG"},
    {"_DYNAMIC", "_DYNAMIC"},
    {"_D", "_D"},
    {"_D1", "_D1"},
    {"_D0Z", "_D0Z"},
    {"_D9999999999aZ", "_D9999999999aZ"},
    {"_D3foo3bari.x", "_D3foo3bari.x"},
    {"_D3foo3barb$tlv$init", "_D3foo3barb$tlv$init"},
    {"__D3foo3bari", "__D3foo3bari"},
};

static void vector_row(char *field[FIELDS])
{
    check(ms_dmd_run, field[0], 0, field[1]);
}

static void negative_row(char *field[FIELDS])
{
    check(ms_dmd_run, field[0], 0, field[0]);
}

static void test_bombs(void)
{
    static char name[70000];
    char *at = name;
    repeat(&at, "_D1aFAi", 1);
    for (int i = 0; i < 60; i++) /* each associative array reads its key twice */
        repeat(&at, i == 0 ? "HQcQe" : "HQfQh", 1);
    repeat(&at, "Zv", 1);
    check_time(ms_dmd_run, "doubling references", name);
    at = name;
    repeat(&at, "_D1aF", 1);
    repeat(&at, "H", 250);
    repeat(&at, "i", 251);
    repeat(&at, "Zv", 1);
    check_time(ms_dmd_run, "nested keys", name);
    at = name;
    repeat(&at, "_D1aF", 1);
    repeat(&at, "PF", 250);
    repeat(&at, "i", 1);
    repeat(&at, "Zv", 250);
    check_time(ms_dmd_run, "nested parameters", name);
    at = name;
    repeat(&at, "_D1a__T1bS", 1);
    repeat(&at, "1111__T1bS", 2000);
    check_time(ms_dmd_run, "lengths to be guessed", name);
    at = name;
    repeat(&at, "_D1aFB4294967295", 1);
    repeat(&at, "B4294967295", 4000);
    check_time(ms_dmd_run, "huge counts", name);
    at = name;
    repeat(&at, "_D1a", 1);
    repeat(&at, "MFS1a", 9000);
    check_time(ms_dmd_run, "unfinished functions", name);
    at = name;
    repeat(&at, "_D1a", 1);
    repeat(&at, "FPFNcKxS3foo", 5000);
    check_time(ms_dmd_run, "pointers to unfinished functions", name);
    at = name;
    repeat(&at, "_D1aFAG", 1);
    repeat(&at, "9", 30000);
    repeat(&at, "i", 1);
    for (int i = 0; i < 5000; i++)
        repeat(&at, "HiA", 1);
    check_time(ms_dmd_run, "long number", name);
}

static void test_depth(void)
{
    static char name[3000];
    for (size_t n = 100; n <= 500; n += 400) {
        char *at = name;
        repeat(&at, "_D1aF", 1);
        repeat(&at, "A", n);
        repeat(&at, "iZv", 1);
        bool taken = run(ms_dmd_run, name, strlen(name), 0, out_a, OUT_SIZE) != SIZE_MAX;
        report(taken == (n == 100), "depth", name, taken ? "taken" : "refused", taken ? "refused" : "taken");
    }
}

/* This language needs no scratch; the one way to take it is tested here for all. */
static void test_scratch(void)
{
    unsigned char mem[64];
    ms_dm d;
    memset(&d, 0, sizeof d);
    d.mem = mem;
    d.mem_len = sizeof mem;
    bool ok = ms_dm_alloc(&d, 17) == mem && ms_dm_alloc(&d, 32) == mem + 32 && !d.no_mem;
    ok = ok && ms_dm_alloc(&d, 1) == NULL && d.no_mem && ms_dm_alloc(&d, SIZE_MAX) == NULL;
    report(ok, "scratch", "64 bytes", "more or less", "two pieces");
}

/* Columns: mangled, and what somebody else's tool prints for it: see tests/names/README.md. */
static void rare_row(char *field[FIELDS])
{
    check(ms_dmd_run, field[0], 0, field[1]);
    check_truncation(ms_dmd_run, field[0], 0);
}

/* Names that are one edit away from others. */
static void edited_row(char *field[FIELDS])
{
    check(ms_dmd_run, field[0], 0, field[1]);
}

/* Truth: c++filt -s dlang of binutils 2.40, for one and for 300 of each. */
static void test_siblings(void)
{
    /* clang-format off */
    static const char *const ends0[4] = {"_D1a1fF", "Zv", "a.f(", ")"};
    static const char *const units0[][2] = {
        {"Ai", "int[]"},
        {"Pi", "int*"},
        {"G2i", "int[2]"},
        {"Hii", "int[int]"},
        {"S1a1b", "a.b"},
        {"PFiZv", "void(int) function"},
        {"xi", "const(int)"},
        {"DFiZv", "void(int) delegate"},
        {"C1a1b", "a.b"},
    };
    /* clang-format on */
    check_siblings(ms_dmd_run, ends0, units0, sizeof units0 / sizeof units0[0]);
}

int main(void)
{
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++) {
        check(ms_dmd_run, OWN[i].name, 0, OWN[i].expected);
        check_truncation(ms_dmd_run, OWN[i].name, 0);
        if (strcmp(OWN[i].name, OWN[i].expected) != 0)
            check_caps(ms_dmd_run, OWN[i].name, 0);
    }
    test_bombs();
    test_siblings();
    test_depth();
    test_scratch();
    each_row_in("tests/names", "d.tsv", rare_row);
    each_row_in("tests/names", "d-edited.tsv", edited_row);
    each_row_in("tests/names", "d-grafted.tsv", edited_row);
    each_row("d.tsv", vector_row);
    each_row("d-official.tsv", vector_row);
    each_row("d-negative.tsv", negative_row);
    each_row("cxx-negative.tsv", negative_row);
    each_row("rust-negative.tsv", negative_row);
    return test_done();
}
