/* Tests of the Rust demangler: own cases, names made to be expensive, the vector files. */
#define TEST_ROOM <rooms/src/names/rust.h>
#include "names_harness.h"

enum { PLAIN = 0, HASH = MACHSYM_DEMANGLE_RUST_HASH };

typedef struct own_case {
    const char *name;
    const char *plain;
    const char *hash;
} own_case;

static const own_case OWN[] = {
    /* paths */
    {"_RNvC1a1b", "a::b", "a::b"},
    {"_RNvCs_1as_1b", "a::b", "a[1]::b"},
    {"__RNvC1a1b", "a::b", "a::b"},
    {"RNvC1a1b", "a::b", "a::b"},
    {"_RNvMs_CseXNvpPnDBDp_3stdNtB4_4Path3newCs15kBYyAo9fc_7mycrate", "<std::Path>::new",
     "<std[ae4cfa2cb15e51b9]::Path>::new"},
    {"_RNvXs1_C1aNtB5_1SNtB5_1T1f", "<a::S as a::T>::f", "<a::S as a::T>::f"},
    {"_RNvYhINtC1a1bhE1f", "<u8 as a::b<u8>>::f", "<u8 as a::b<u8>>::f"},
    {"_RNCNvC1a1b0", "a::b::{closure#0}", "a::b::{closure#0}"},
    {"_RNSNvC1a1bs_4once", "a::b::{shim:once#1}", "a::b::{shim:once#1}"},
    {"_RNAC1as5_0", "a::{A#7}", "a::{A#7}"},
    {"_RNaC1a0", "a", "a"},
    /* generic arguments, types */
    {"_RINvC1a1bL_hRhQhPhOhE", "a::b::<'_, u8, &u8, &mut u8, *const u8, *mut u8>",
     "a::b::<'_, u8, &u8, &mut u8, *const u8, *mut u8>"},
    {"_RINvC1a1bAhj3_ShTEThEThbEE", "a::b::<[u8; 3], [u8], (), (u8,), (u8, bool)>",
     "a::b::<[u8; 3usize], [u8], (), (u8,), (u8, bool)>"},
    {"_RINvC1a1bFUKCEzE", "a::b::<unsafe extern \"C\" fn() -> !>", "a::b::<unsafe extern \"C\" fn() -> !>"},
    {"_RINvC1a1bFK9aapcs_vfphEuE", "a::b::<extern \"aapcs-vfp\" fn(u8)>",
     "a::b::<extern \"aapcs-vfp\" fn(u8)>"},
    {"_RINvC1a1bFG0_RL1_hRL0_tEuE", "a::b::<for<'a, 'b> fn(&'a u8, &'b u16)>",
     "a::b::<for<'a, 'b> fn(&'a u8, &'b u16)>"},
    {"_RINvC1a1bDINtC1a1bhEp1xhp1yKj1_EL_E", "a::b::<dyn a::b<u8, x = u8, y = 1>>",
     "a::b::<dyn a::b<u8, x = u8, y = 1usize>>"},
    {"_RINvC1a1bDG_NtC1a1tNtC1a1uEL_E", "a::b::<dyn for<'a> a::t + a::u>", "a::b::<dyn for<'a> a::t + a::u>"},
    {"_RINvC1a1bFG_DNtC1a1tEL0_EuE", "a::b::<for<'a> fn(dyn a::t + 'a)>",
     "a::b::<for<'a> fn(dyn a::t + 'a)>"},
    {"_RMC0WPmN", "<*const u32 is !null>", "<*const u32 is !null>"},
    {"_RMC0WmORm1_m2_Rm5_m6_E", "<u32 is 1..=2 | 5..=6>", "<u32 is 1u32..=2u32 | 5u32..=6u32>"},
    {"_RINvC1a1bFGq_RLr_huE", "_RINvC1a1bFGq_RLr_huE", "_RINvC1a1bFGq_RLr_huE"},
    {"_RINvC1a1bFGq_RL0_hEuE",
     "a::b::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, 'r, 's, 't, 'u, 'v, 'w, "
     "'x, "
     "'y, 'z, '_26, '_27> fn(&'_27 u8)>",
     "a::b::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, 'r, 's, 't, 'u, 'v, 'w, "
     "'x, "
     "'y, 'z, '_26, '_27> fn(&'_27 u8)>"},
    /* constants */
    {"_RINvC1a1bKp_E", "_RINvC1a1bKp_E", "_RINvC1a1bKp_E"},
    {"_RINvC1a1bKpKlnf_Ko10000000000000000_E", "a::b::<_, -15, 0x10000000000000000>",
     "a::b::<_, -15i32, 0x10000000000000000u128>"},
    {"_RINvC1a1bKc0_Kc27_Kc22_Kc301_Kce9_Kc7f_E",
     "a::b::<'\\0', '\\'', '\"', '\\u{301}', '\xc3\xa9', '\\u{7f}'>",
     "a::b::<'\\0', '\\'', '\"', '\\u{301}', '\xc3\xa9', '\\u{7f}'>"},
    {"_RIC0KRe0a22275c_E", "::<\"\\n\\\"'\\\\\">", "::<\"\\n\\\"'\\\\\">"},
    {"_RIC0KAe61_e62_EE", "::<{[*\"a\", *\"b\"]}>", "::<{[*\"a\", *\"b\"]}>"},
    {"_RIC0KQRe_E", "::<{&mut \"\"}>", "::<{&mut \"\"}>"},
    {"_RIC0KVNvC1a1bTj1_b1_EE", "::<{a::b(1, true)}>", "::<{a::b(1usize, true)}>"},
    {"_RIC0KVNvC1a1bSEE", "::<{a::b {  }}>", "::<{a::b {  }}>"},
    {"_RIC0KVNtC1a1bS1xj1_s_1yKp", "_RIC0KVNtC1a1bS1xj1_s_1yKp", "_RIC0KVNtC1a1bS1xj1_s_1yKp"},
    {"_RIC0KVNtC1a1bS1xj1_s_1ypEE", "::<{a::b { x: 1, y: _ }}>", "::<{a::b { x: 1usize, y: _ }}>"},
    {"_RIC0Kj7_KB3_E", "::<7, 7>", "::<7usize, 7usize>"},
    {"_RIC0KRec3_E", "_RIC0KRec3_E", "_RIC0KRec3_E"},             /* half a UTF-8 sequence */
    {"_RIC0KRec080_E", "_RIC0KRec080_E", "_RIC0KRec080_E"},       /* overlong */
    {"_RIC0KReeda080_E", "_RIC0KReeda080_E", "_RIC0KReeda080_E"}, /* surrogate */
    {"_RIC0Kcd800_E", "_RIC0Kcd800_E", "_RIC0Kcd800_E"},
    {"_RIC0Kc110000_E", "_RIC0Kc110000_E", "_RIC0Kc110000_E"},
    /* identifiers */
    {"_RNvNtCu8gdel_5qa6Escher4Bach",
     "g\xc3\xb6"
     "del::Escher::Bach",
     "g\xc3\xb6"
     "del::Escher::Bach"},
    {"_RNvC1au4fq9h", "a::\xf0\x9f\xa4\xa6", "a::\xf0\x9f\xa4\xa6"},
    /* the edges of UTF-8: U+7FF, U+800, U+FFFF, U+10000, by Python's codec */
    {"_RNvC1au3_3tb", "a::\xdf\xbf", "a::\xdf\xbf"},
    {"_RNvC1au3_4tb", "a::\xe0\xa0\x80", "a::\xe0\xa0\x80"},
    {"_RNvC1au4_1n7c", "a::\xef\xbf\xbf", "a::\xef\xbf\xbf"},
    {"_RNvC1au4_2n7c", "a::\xf0\x90\x80\x80", "a::\xf0\x90\x80\x80"},
    {"_RNvC1au7___ylb7e", "a::\xce\xb1_\xcf\x89", "a::\xce\xb1_\xcf\x89"},
    {"_RNvC1au9999999999", "_RNvC1au9999999999", "_RNvC1au9999999999"},
    {"_RNvC1au8zzzzzzzb", "a::punycode{zzzzzzzb}", "a::punycode{zzzzzzzb}"}, /* past the last code point */
    {"_RNvC1au2a_", "_RNvC1au2a_", "_RNvC1au2a_"},
    {"_RNvC2ab18446744073709551618xy", "_RNvC2ab18446744073709551618xy", "_RNvC2ab18446744073709551618xy"},
    {"_RNvCsZZZZZZZZZZZZZ_1a1b", "_RNvCsZZZZZZZZZZZZZ_1a1b", "_RNvCsZZZZZZZZZZZZZ_1a1b"},
    {"_RNvC1a\xc3\xa9", "_RNvC1a\xc3\xa9", "_RNvC1a\xc3\xa9"},
    /* suffixes */
    {"_RNvC1a1b.llvm.9D1C9369@@16", "a::b", "a::b"},
    {"_RNvC1a1b.cold.1", "a::b.cold.1", "a::b.cold.1"},
    {"_RNvC1a1b.cold.1.llvm.123", "a::b.cold.1", "a::b.cold.1"},
    {"_RNvC1a1b.llvm.12.cold", "a::b.llvm.12.cold", "a::b.llvm.12.cold"},
    {"_RNvC1a1b$tlv$init", "_RNvC1a1b$tlv$init", "_RNvC1a1b$tlv$init"},
    {"_RNvC1a1b. x", "_RNvC1a1b. x", "_RNvC1a1b. x"},
    /* C and Objective-C names */
    {"_RC4_init", "_RC4_init", "_RC4_init"},
    {"RC4_init", "RC4_init", "RC4_init"},
    {"RC2xy", "RC2xy", "RC2xy"},
    {"_RCTFatal", "_RCTFatal", "_RCTFatal"},
    {"_R", "_R", "_R"},
    {"_RB_", "_RB_", "_RB_"},
    {"-[Foo bar]", "-[Foo bar]", "-[Foo bar]"},
    /* the legacy scheme */
    {"_ZN3foo3bar17h05af221e174051e9E", "foo::bar", "foo::bar::h05af221e174051e9"},
    {"__ZN3foo3bar17h05af221e174051e9E", "foo::bar", "foo::bar::h05af221e174051e9"},
    {"ZN3foo3bar17h05af221e174051e9E", "foo::bar", "foo::bar::h05af221e174051e9"},
    {"_ZN3foo17h05af221e174051e9E.exit.i.i", "foo.exit.i.i", "foo::h05af221e174051e9.exit.i.i"},
    {"_ZN3foo17h05af221e174051e9E.llvm.12AF", "foo", "foo::h05af221e174051e9"},
    {"_ZN3fooE.llvm.9D1C9369", "foo", "foo"},
    {"_ZN3foo3barE.llvm.9D1C9369@@16", "foo::bar", "foo::bar"},
    {"_ZN3foo3barE.llvm.91369", "_ZN3foo3barE.llvm.91369", "_ZN3foo3barE.llvm.91369"}, /* clang's */
    {"_ZN3foo3barE.llvm.9D.cold", "_ZN3foo3barE.llvm.9D.cold", "_ZN3foo3barE.llvm.9D.cold"},
    {"_ZN37_$LT$a..b$LP$$RP$$C$$SP$$BP$$RF$$GT$.17h05af221e174051e9E", "<a::b(),@*&>.",
     "<a::b(),@*&>.::h05af221e174051e9"},
    {"_ZN7f$u41$z17h05af221e174051e9E", "fAz", "fAz::h05af221e174051e9"},
    {"_ZN7f$u0a$z17h05af221e174051e9E", "f$u0a$z", "f$u0a$z::h05af221e174051e9"},
    {"_ZN8f$u10e1$17h05af221e174051e9E", "f\xe1\x83\xa1", "f\xe1\x83\xa1::h05af221e174051e9"},
    {"_ZN5$XX$.17h05af221e174051e9E", "$XX$.", "$XX$.::h05af221e174051e9"},
    {"_ZN9$u20$test4foobE", " test::foob", " test::foob"},
    /* C++ names */
    {"_ZN3foo3barE", "_ZN3foo3barE", "_ZN3foo3barE"},
    {"_ZN3foo3barEv", "_ZN3foo3barEv", "_ZN3foo3barEv"},
    {"_ZN3foo17h05af221e174051e9Ev", "_ZN3foo17h05af221e174051e9Ev", "_ZN3foo17h05af221e174051e9Ev"},
    {"_ZN3foo17h05af221e174051eXE", "_ZN3foo17h05af221e174051eXE", "_ZN3foo17h05af221e174051eXE"},
    {"_ZN17h05af221e174051e9E", "_ZN17h05af221e174051e9E", "_ZN17h05af221e174051e9E"},
    {"_ZN3foo17h1111222233334444E", "_ZN3foo17h1111222233334444E", "_ZN3foo17h1111222233334444E"},
    {"_ZN3foo5h05afE", "_ZN3foo5h05afE", "_ZN3foo5h05afE"},
    {"_ZN3a$bE", "_ZN3a$bE", "_ZN3a$bE"},
    {"_ZNE", "_ZNE", "_ZNE"},
    {"_ZN99999999999999999999999999aE", "_ZN99999999999999999999999999aE", "_ZN99999999999999999999999999aE"},
    {"_ZSTD_compress", "_ZSTD_compress", "_ZSTD_compress"},
};

#define INNER "llvm leaves names whole that rustc-demangle prints with what is wrong inside"
#define ZEROS "llvm wants hexadecimal digits without leading zeros, rustc-demangle does not"
#define CXX   "no hash: a C++ name for all one can tell, and C++ prints the same or keeps the part"

typedef struct known_row { /* A vector that is meant to come out differently. */
    const char *name;
    const char *expected; /* what the vector says: one name may be listed for more than one tool */
    const char *why;
} known_row;

static const known_row KNOWN[] = {
    {"_RIC7bindersFGs_RLt_RLs_RLr_RLq_RLp_RLo_RLn_RLm_RLl_RLk_RLj_RLi_RLh_RLg_RLf_RLe_RLd_RLc_RLb_RLa_RL9_"
     "RL8_RL7_"
     "RL6_RL5_RL4_RL3_RL2_RL1_RL0_uEuE",
     "binders::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, 'r, 's, 't, 'u, 'v, "
     "'w, 'x, "
     "'y, 'z, 'z1, 'z2, 'z3, 'z4> fn(&'a &'b &'c &'d &'e &'f &'g &'h &'i &'j &'k &'l &'m &'n &'o &'p &'q &'r "
     "&'s "
     "&'t &'u &'v &'w &'x &'y &'z &'z1 &'z2 &'z3 &'z4 ())>",
     "llvm counts on with 'z1, rustc-demangle with '_26"},
    {"_RC3dot.llvm.1234", "dot (.llvm.1234)", "rustc-demangle drops this suffix"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E", "<const_generic::Char<'\\u{2202}'>>",
     "rustc-demangle shows printable characters"},
    {"_RIC7integerKi_E", "_RIC7integerKi_E", ZEROS},
    {"_RIC7integerKi00_E", "_RIC7integerKi00_E", ZEROS},
    {"_RIC7integerKi01_E", "_RIC7integerKi01_E", ZEROS},
    {"_RNvB_1a", "_RNvB_1a", INNER},
    {"_RIC7backrefSB9_E", "_RIC7backrefSB9_E", INNER},
    {"_RNvC1au21p18888888888888888888", "_RNvC1au21p18888888888888888888", INNER},
    {"_RCu8b44444yy", "_RCu8b44444yy", INNER},
    {"_RNvC1au25zzzzzzzzzzzzzzzzzzzzzzzzz", "_RNvC1au25zzzzzzzzzzzzzzzzzzzzzzzzz", INNER},
    {"_RCu8_CCCAR_u4", "_RCu8_CCCAR_u4", INNER},
    {"_ZN4main4main16h714a2e23ed7db23E", "main::main::h714a2e23ed7db23", CXX},
    {"_ZN4main4main17he714a2e23ed7db2gE", "main::main::he714a2e23ed7db2g", CXX},
    {"_ZN4test1a2bcE", "test::a::bc", CXX},
    {"ZN4testE", "test", CXX},
    {"_ZN15__STATIC_FMTSTRE", "__STATIC_FMTSTR", CXX},
    {"_ZN3fooE", "foo", CXX},
    {"_ZN3foo3barE", "foo::bar", CXX},
    {"_ZN3foo20h05af221e174051e9abcE", "foo", CXX},
    {"_ZN3foo5h05afE", "foo", CXX},
    {"_ZN17h05af221e174051e93fooE", "h05af221e174051e9::foo", CXX},
    {"_ZN3foo16ffaf221e174051e9E", "foo::ffaf221e174051e9", CXX},
    {"_ZN3foo17hg5af221e174051e9E", "foo::hg5af221e174051e9", CXX},
};

static void real_row(char *field[FIELDS])
{
    check(ms_dmrs_run, field[0], HASH, field[1]);
    check(ms_dmrs_run, field[0], PLAIN, field[2]);
}

/* Like check, for a vector that the table may excuse. A row that is not needed any more is a failure too. */
static void check_known(char *field[FIELDS], uint32_t flags)
{
    const char *got = run_text(ms_dmrs_run, field[0], flags);
    bool same = strcmp(got, field[1]) == 0;
    bool excused = false;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        excused =
            excused || (strcmp(KNOWN[i].name, field[0]) == 0 && strcmp(KNOWN[i].expected, field[1]) == 0);
    report(same != excused, excused ? "known, but equal" : "vector", field[0], got, field[1]);
}

/* LLVM and libiberty have the style without hashes only; a row of libiberty's was made by its C++ side. */
static void official_row(char *field[FIELDS])
{
    bool hash =
        strcmp(field[2], "rustc-demangle:full") == 0 || strcmp(field[2], "libiberty:--format=gnu-v3") == 0;
    check_known(field, hash ? HASH : PLAIN);
}

static void negative_row(char *field[FIELDS])
{
    check(ms_dmrs_run, field[0], PLAIN, field[0]);
}

/* Real C++ names never match; those of Rust's own in those lists have its hash or escapes. */
static void cxx_row(char *field[FIELDS])
{
    size_t len = strlen(field[0]);
    bool taken = run(ms_dmrs_run, field[0], len, PLAIN, out_a, OUT_SIZE) != SIZE_MAX;
    bool is_rust = strstr(field[0], "17h") != NULL || strchr(field[0], '$') != NULL;
    report(!taken || is_rust, "C++ name", field[0], "taken", "left alone");
}

static void test_bombs(void)
{
    static char name[70000];
    char *at = name;
    repeat(&at, "_RIC0", 1);
    repeat(&at, "ThhE", 1);
    for (int i = 0; i < 200; i++) /* each tuple holds the one before twice */
        at += sprintf(at, "TB%c_B%c_E", "05cjqx"[i % 6], "05cjqx"[i % 6]);
    repeat(&at, "E", 1);
    check_time(ms_dmrs_run, "exponential tuples", name);
    at = name;
    repeat(&at, "_RINvC1a1bTphE", 1);
    repeat(&at, "TB6_B6_B6_B6_E", 4000);
    check_time(ms_dmrs_run, "many references", name);
    at = name;
    repeat(&at, "_RIC0", 1);
    repeat(&at, "MB_u", 8000);
    check_time(ms_dmrs_run, "references in hidden parts", name);
    at = name;
    repeat(&at, "_RIC0", 1);
    repeat(&at, "R", 60000);
    check_time(ms_dmrs_run, "long pointer", name);
    at = name;
    repeat(&at, "_R", 1);
    repeat(&at, "Nv", 30000);
    check_time(ms_dmrs_run, "long nesting", name);
    at = name;
    repeat(&at, "_RNvC1au30000", 1);
    repeat(&at, "a", 30000);
    check_time(ms_dmrs_run, "long Punycode", name);
    at = name;
    repeat(&at, "_RIC0", 1);
    repeat(&at, "FGf7_", 12000);
    check_time(ms_dmrs_run, "many lifetimes", name);
}

/* Deep names work up to the limit and are refused after it. */
static void test_depth(void)
{
    static char name[8000];
    for (size_t n = 200; n <= 600; n += 400) {
        char *at = name;
        repeat(&at, "_R", 1);
        repeat(&at, "IC1a", n);
        repeat(&at, "E", n);
        bool taken = run(ms_dmrs_run, name, strlen(name), PLAIN, out_a, OUT_SIZE) != SIZE_MAX;
        report(taken == (n == 200), "depth", name, taken ? "taken" : "refused", taken ? "refused" : "taken");
    }
    char *at = name; /* nested paths are a loop: no limit */
    repeat(&at, "_R", 1);
    repeat(&at, "Nt", 1000);
    repeat(&at, "C1a", 1);
    repeat(&at, "1b", 1000);
    size_t len = run(ms_dmrs_run, name, strlen(name), PLAIN, out_a, OUT_SIZE);
    report(len == 1 + 3 * 1000, "depth", "1000 modules", "another length", "a::b::b...");
}

/* A long result, as real futures have: every level repeats the one before. */
static void test_long(void)
{
    static char name[4000];
    char *at = name;
    repeat(&at, "_RINvC9some_name4call", 1);
    size_t last = (size_t)(at - name) - 2; /* the first tuple's position after the prefix */
    repeat(&at, "TNtC9some_name20a_rather_long_name_xE", 1);
    for (int i = 0; i < 9; i++) {
        size_t here = (size_t)(at - name) - 2;
        char digits[8];
        size_t n = 0, value = last - 1;
        do {
            digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % 62];
            value /= 62;
        } while (value != 0);
        repeat(&at, "T", 1);
        for (int k = 0; k < 2; k++) {
            *at++ = 'B';
            for (size_t j = n; j > 0; j--)
                *at++ = digits[j - 1];
            *at++ = '_';
        }
        repeat(&at, "E", 1);
        last = here;
    }
    repeat(&at, "E", 1);
    size_t len = run(ms_dmrs_run, name, strlen(name), PLAIN, out_a, OUT_SIZE);
    report(len != SIZE_MAX && len > 30000, "long", name, "refused or short", "more than 30000 bytes");
}

/* Columns: mangled, and what somebody else's tool prints for it: see tests/names/README.md. */
static void rare_row(char *field[FIELDS])
{
    check(ms_dmrs_run, field[0], HASH, field[1]);
    check_truncation(ms_dmrs_run, field[0], HASH);
}

/* Names that are one edit away from others. */
static void edited_row(char *field[FIELDS])
{
    check(ms_dmrs_run, field[0], 0, field[1]);
}

/* A decimal number has no zero ahead of it (the grammar's decimal-number): a zero alone is an identifier of no
 * letters, so what follows it is read as something else. Of each name every length gets one. */
static void zero_row(char *field[FIELDS])
{
    const char *name = field[0];
    size_t all = strlen(name);
    size_t len = run(ms_dmrs_run, name, all, HASH, out_a, OUT_SIZE);
    char with[2048];
    if (len == SIZE_MAX || strncmp(name, "_R", 2) != 0 || all + 1 >= sizeof with)
        return;
    test_begin();
    test_count(true);
    for (size_t at = 2; at < all; at++) {
        char *rest;
        unsigned long count = name[at] >= '1' && name[at] <= '9' && strchr("Cvtu", name[at - 1]) != NULL
                                  ? strtoul(name + at, &rest, 10)
                                  : 0;
        if (count == 0 || count > strlen(rest))
            continue;
        snprintf(with, sizeof with, "%.*s0%s", (int)at, name, name + at);
        size_t got = run(ms_dmrs_run, with, all + 1, HASH, out_b, OUT_SIZE);
        report(got != len || memcmp(out_a, out_b, len) != 0, "a zero ahead", with, "the same",
               "something else");
    }
    test_end(name);
}

/* Columns: mangled, and what rustc-demangle prints for it with hashes and without. */
static void error_row(char *field[FIELDS])
{
    check(ms_dmrs_run, field[0], HASH, field[1]);
    check(ms_dmrs_run, field[0], PLAIN, field[2]);
    check_truncation(ms_dmrs_run, field[0], HASH);
}

/* Truth: llvm-cxxfilt 22, for one and for 300 of each. */
static void test_siblings(void)
{
    /* clang-format off */
    static const char *const ends0[4] = {"_RINvC1a1b", "E", "a::b::<", ">"};
    static const char *const units0[][2] = {
        {"Rh", "&u8"},
        {"Qh", "&mut u8"},
        {"Ph", "*const u8"},
        {"Sh", "[u8]"},
        {"ThhE", "(u8, u8)"},
        {"INtC1c1dhE", "c::d<u8>"},
        {"Kh1_", "1"},
        {"Ahj2_", "[u8; 2]"},
        {"FhEu", "fn(u8)"},
        {"NtC1c1d", "c::d"},
        {"DNtC1c1dEL_", "dyn c::d"},
        {"FG_RL0_hEu", "for<'a> fn(&'a u8)"},
        {"Kc61_", "'a'"},
        {"Klnf_", "-15"},
        {"YNtC1c1dNtC1e1f", "<c::d as e::f>"},
        {"NvNtC1c1d1e", "c::d::e"},
    };
    /* rustc-demangle, for one of each: LLVM does not know types with patterns */
    static const char *const patterns[][2] = {
        {"WmRm1_m9_", "u32 is 1..=9"},
        {"WPhN", "*const u8 is !null"},
        {"WmORm1_m2_Rm5_m6_E", "u32 is 1..=2 | 5..=6"},
        {"WmORm1_m2_E", "u32 is 1..=2"},
    };
    /* clang-format on */
    check_siblings(ms_dmrs_run, ends0, units0, sizeof units0 / sizeof units0[0]);
    check_siblings(ms_dmrs_run, ends0, patterns, sizeof patterns / sizeof patterns[0]);
}

/* Alternatives of a pattern are not nested, however many they are: rustc-demangle leaves each before the next. The
 * second time they are reached by a back-reference, where levels have a limit. */
static void test_alternatives(void)
{
    enum { COUNT = 600 };
    static char name[COUNT * 16], type[COUNT * 16], want[COUNT * 64];
    size_t at = (size_t)sprintf(name, "_RINvC1a1bWmO"), to = (size_t)sprintf(type, "u32 is ");
    for (unsigned i = 0; i < COUNT; i++) {
        at += (size_t)sprintf(name + at, "ORm1_m2_E");
        to += (size_t)sprintf(type + to, "%s1..=2", i > 0 ? " | " : "");
    }
    sprintf(name + at, "EB7_E");
    snprintf(want, sizeof want, "a::b::<%s, %s>", type, type);
    check(ms_dmrs_run, name, 0, want);
}

int main(void)
{
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++) {
        check(ms_dmrs_run, OWN[i].name, PLAIN, OWN[i].plain);
        check(ms_dmrs_run, OWN[i].name, HASH, OWN[i].hash);
        check_truncation(ms_dmrs_run, OWN[i].name, HASH);
        if (strcmp(OWN[i].name, OWN[i].plain) != 0)
            check_caps(ms_dmrs_run, OWN[i].name, HASH);
    }
    test_bombs();
    test_siblings();
    test_alternatives();
    test_depth();
    test_long();
    each_row_in("tests/names", "rust.tsv", rare_row);
    each_row_in("tests/names", "rust-edited.tsv", edited_row);
    each_row_in("tests/names", "rust-grafted.tsv", edited_row);
    each_row_in("tests/names", "rust-errors.tsv", error_row);
    each_row("rust.tsv", real_row);
    each_row("rust.tsv", zero_row);
    each_row("rust-official.tsv", official_row);
    each_row("rust-negative.tsv", negative_row);
    each_row("cxx.tsv", cxx_row);
    each_row("cxx-official.tsv", cxx_row);
    each_row("cxx-negative.tsv", negative_row);
    return test_done();
}
