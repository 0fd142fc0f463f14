/* Tests of the front of the demanglers: which language, underscores, scratch frames, the buffer. */
#define TEST_ROOM <rooms/src/names/language.h>
#include "names_harness.h"

static const char *demangle(const char *name, uint32_t flags)
{
    machsym_str str = {name, strlen(name)};
    machsym_demangle(str, flags, out_a, OUT_SIZE);
    return out_a;
}

static void expect(const char *name, const char *expected)
{
    const char *got = demangle(name, 0);
    report(strcmp(got, expected) == 0, "text", name, got, expected);
}

static void test_unchanged(void)
{
    static const char *const names[] = {"",
                                        "_",
                                        "__",
                                        "____",
                                        "Z",
                                        "_Z",
                                        "R",
                                        "_R",
                                        "D",
                                        "_D",
                                        "$",
                                        "_$",
                                        "@",
                                        "$s",
                                        "main",
                                        "_main",
                                        "-[NSObject init]",
                                        "+[Foo bar:]",
                                        "-[$s4main3fooyyF init]",
                                        "_ZSTD_compress",
                                        "_TIFFOpen",
                                        "TIFFOpen",
                                        "_RCTFatal",
                                        "RCTFatal",
                                        "_DEBUG",
                                        "DEBUG",
                                        "__DATA",
                                        "___ZSTD_x",
                                        "_DYNAMIC",
                                        "RC4_init",
                                        "_RC4_init",
                                        "__RC4_init",
                                        "_OBJC_CLASS_$_Foo",
                                        "_ZLIB_VERSION",
                                        "_Test",
                                        "__TEXT",
                                        "_R2",
                                        "_Dispatch",
                                        "_Zip",
                                        "_______Z3foov",
                                        "0x1234",
                                        "???"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        expect(names[i], names[i]);
    }
}

static void test_forms(void)
{
    static const char *const rows[][2] = {
        {"_RNvC1a1b", "a::b"},
        {"__RNvC1a1b", "a::b"},
        {"___RNvC1a1b", "___RNvC1a1b"},
        {"RNvC1a1b", "a::b"},
        {"_D3foo3bari", "foo.bar"},
        {"__D3foo3bari", "foo.bar"},
        {"___D3foo3bari", "___D3foo3bari"},
        {"_Dmain", "D main"},
        {"__Dmain", "D main"},
        {"_ZN3foo17h05af221e174051e9E", "foo"},
        {"__ZN3foo17h05af221e174051e9E", "foo"},
        {"ZN3foo17h05af221e174051e9E", "foo"},
        {"_Z3foov", "foo()"},
        {"__Z3foov", "foo()"},
        {"_ZN3foo3barEv", "foo::bar()"},
        {"__ZN3foo3barEv", "foo::bar()"},
        {"___Z3foov_block_invoke", "invocation function for block in foo()"},
        {"____Z3foov_block_invoke", "invocation function for block in foo()"},
        {"_____Z3foov_block_invoke", "_____Z3foov_block_invoke"},
        {"$s4main3fooyyF", "main.foo() -> ()"},
        {"_$s4main3fooyyF", "main.foo() -> ()"},
        {"__$s4main3fooyyF", "__$s4main3fooyyF"},
        {"_T04Farm4feedyyF", "Farm.feed() -> ()"},
        {"__T04Farm4feedyyF", "Farm.feed() -> ()"},
        {"__TtC4Farm3Cow", "Farm.Cow"},
        {"_$s4main3CowCyyG_", "_$s4main3CowCyyG_"}, /* half a result is not shown */
        {"_Z3fooS_", "_Z3fooS_"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect(rows[i][0], rows[i][1]);
    report(strcmp(demangle("_RNvCs_1a1b", MACHSYM_DEMANGLE_RUST_HASH), "a[1]::b") == 0, "flag", "_RNvCs_1a1b",
           out_a, "a[1]::b");
    report(strcmp(demangle("_$s4main3fooyyF", MACHSYM_DEMANGLE_SIMPLIFIED), "foo()") == 0, "flag",
           "_$s4main3fooyyF", out_a, "foo()");
}

/* Words of programs and of text that read as names by accident, in all four languages. */
static void test_in_text(void)
{
    static const char *const words[] = {
        "$ex",      "$el",    "$sd",           "$s3foo", "$s.bak",        "$e.message", "_TSS_ID",
        "$sSafe",   "$sBOTH", "$sSIMD",        "_TMax",  "_TMSPointerUp", "_TIsize",    "_TtSi",
        "$sSaySiG", "$sTo",   "_$el",          "$sSi.x", "_Zclose",       "_Znalways",  "_ZnameChange",
        "_Z2AM",    "_Zname", "_Znamemm.cold", "_Z1x",   "_D2f7d",        "_RC7zr4PfhF"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *got = demangle(words[i], MACHSYM_DEMANGLE_IN_TEXT);
        report(strcmp(got, words[i]) == 0, "a word of text", words[i], got, words[i]);
        report(strcmp(demangle(words[i], 0), words[i]) != 0, "a name", words[i], "refused", "taken");
    }
    static const char *const names[] = {"$sypWOb",
                                        "_$sSSN",
                                        "$s4Farm3CowCMa",
                                        "$s4Farm3CowC",
                                        "_TtC4Farm3Cow",
                                        "_TtGC4Farm3BoxSi_",
                                        "$s4Farm4feedyyFTA",
                                        "_TPA__TF4Farm4feedFT_T_",
                                        "$sSaySSGMD",
                                        "_Znwm",
                                        "_Znwm.cold",
                                        "_Znam.cold.1",
                                        "_ZnwmPv",
                                        "_ZnajPv.llvm.12",
                                        "_ZnwmPKci",
                                        "_Z3opt",
                                        "_Z7options.cold",
                                        "_ZdlPv",
                                        "_Z3foov",
                                        "_ZNSolsEi",
                                        "_ZL3HEX",
                                        "_D3foo3bari",
                                        "_D1.3bari",
                                        "_D3$$$3bari",
                                        "_Dmain",
                                        "_RNvC1a1b",
                                        "_TFC4Farm3Cowg1aSS_merged"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *got = demangle(names[i], MACHSYM_DEMANGLE_IN_TEXT);
        report(strcmp(got, names[i]) != 0, "a name in text", names[i], got, "its source form");
    }
}

/* LLVM puts byte 1 in front of what is the linker's name already; a name that is not mangled keeps it. */
static void test_byte_one(void)
{
    expect("\1__Z3foov", "foo()");
    expect("\1_$s4main3fooyyF", "main.foo() -> ()");
    expect("\1-[C sel:].cold.1", "\1-[C sel:].cold.1");
    expect("\1_main", "\1_main");
    expect("\1", "\1");
}

/* A name that needs more scratch than the small frame, and one that needs more than both. */
static void test_frames(void)
{
    static char name[1 << 16];
    static const size_t counts[] = {100, 1000, 15000};
    for (size_t i = 0; i < 3; i++) {
        char *at = name;
        repeat(&at, "_Z1fI", 1);
        repeat(&at, "PKc", counts[i]);
        repeat(&at, "Evv", 1);
        ms_dm d;
        memset(&d, 0, sizeof d);
        d.s = name;
        d.len = strlen(name);
        bool ok = ms_dml_run_small(&d, ms_DML_RUST | ms_DML_CXX);
        report(ok == (i == 0) && d.no_mem == (i != 0), "frame", name, ok ? "fits" : "does not fit",
               "another");
        bool shown = strcmp(demangle(name, 0), name) != 0;
        report(shown == (i < 2), "frames", name, shown ? "taken" : "refused", "another");
    }
}

static void test_buffer(void)
{
    static const char *const names[] = {"_RNvC1a1b", "_D3foo3bari", "unchanged", ""};
    static const char *const results[] = {"a::b", "foo.bar", "unchanged", ""};
    char buf[32];
    for (size_t i = 0; i < 4; i++) {
        machsym_str name = {names[i], strlen(names[i])};
        size_t want = strlen(results[i]);
        for (size_t cap = 0; cap <= want + 2; cap++) {
            memset(buf, '#', sizeof buf);
            size_t got = machsym_demangle(name, 0, cap == 0 ? NULL : buf, cap);
            size_t kept = cap == 0 ? 0 : want < cap - 1 ? want : cap - 1;
            bool ok = got == want && memcmp(buf, results[i], kept) == 0 && buf[cap] == '#';
            report(ok && (cap == 0 || buf[kept] == '\0'), "buffer", names[i], buf, results[i]);
        }
    }
}

/* RFC 3492, 7.1: examples that Python's codec "punycode" decodes to the same. Swift writes A to J for the
 * digits. */
static void test_puny(void)
{
    static const char *const rows[][3] = {
        {"egbpdaj6bu4bxfgehfvwxn", "egbpdajGbuEbxfgehfvwxn", "ليهمابتكلموشعربي؟"},
        {"ihqwcrb4cv8a8dqg056pqjye", "ihqwcrbEcvIaIdqgAFGpqjye", "他们为什么不说中文"},
        {"Proprostnemluvesky_uyb24dma41a", "Proprostnemluvesky_uybCEdmaEBa", "Pročprostěnemluvíčesky"},
        {"3B_ww4c5e180e575a65lsy2b", "3B_wwEcFeBIAeFHFaGFlsyCb", "3年B組金八先生"},
        {"_x_", "_x_", "_x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int swift = 0; swift < 2; swift++) {
            machsym_str text = {rows[i][swift], strlen(rows[i][swift])};
            uint32_t points[64];
            char got[256];
            size_t len = 0;
            ms_dm d;
            memset(&d, 0, sizeof d);
            ms_dm_start(&d);
            size_t count = ms_dm_puny(&d, text, swift ? 'A' : '0', points);
            for (size_t k = 0; k < count && count <= 64; k++)
                len += ms_dm_utf8(points[k], got + len);
            got[len] = '\0';
            report(strcmp(got, rows[i][2]) == 0, "Punycode", text.ptr, got, rows[i][2]);
        }
    }
    static const char *const wrong[] = {"a9", "x_A", "\xc3_ega", "999999999b"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        machsym_str text = {wrong[i], strlen(wrong[i])};
        uint32_t points[64];
        ms_dm d;
        memset(&d, 0, sizeof d);
        ms_dm_start(&d);
        report(ms_dm_puny(&d, text, '0', points) == SIZE_MAX, "Punycode", text.ptr, "taken", "refused");
    }
}

/* A frame without a name: nothing is counted from NULL. */
static void test_no_name(void)
{
    const machsym_str none = {NULL, 0};
    char buf[4] = "#";
    size_t got = machsym_demangle(none, 0, buf, sizeof buf);
    report(got == 0 && buf[0] == 0, "no name", "", buf, "");
}

/* ---- vector files ---- */

/* Columns: mangled, expected; the styles of further columns are each language's own test. */
static void vector_row(char *field[FIELDS])
{
    expect(field[0], field[1]);
}

/* A row whose closure is mangled inside: Swift before 6.2.3 printed it so (tests/vectors/KNOWN.md). All but the
 * closure has to be equal; swift.tsv has the name as it is printed today. */
static void old_closure_row(const char *name, const char *expected)
{
    static const char before[] = "[Closure Propagated : ", after[] = ", Argument Types";
    const char *got = demangle(name, 0);
    const char *got_head = strstr(got, before), *want_head = strstr(expected, before);
    const char *got_tail = strstr(got, after), *want_tail = strstr(expected, after);
    bool ok = got_head != NULL && got_tail != NULL && want_tail != NULL &&
              got_head - got == want_head - expected &&
              strncmp(got, expected, (size_t)(got_head - got)) == 0 && strcmp(got_tail, want_tail) == 0 &&
              strncmp(got_head + strlen(before), "closure #", 9) == 0;
    report(ok, "all but the closure", name, got, expected);
}

/* Swift is shown in full (the third column is its short style), Rust without hashes (its third column). */
static void nlist_row(char *field[FIELDS])
{
    bool swift = field[0][1] == '$' || strncmp(field[0], "__T", 3) == 0;
    if (strstr(field[1], "[Closure Propagated : $s") != NULL)
        old_closure_row(field[0], field[1]);
    else
        expect(field[0], swift || field[2][0] == '\0' ? field[1] : field[2]);
}

static void rust_row(char *field[FIELDS])
{
    expect(field[0], field[2]);
}

static void negative_row(char *field[FIELDS])
{
    expect(field[0], field[0]);
}

/* A symbol of a real program is one in text too, but for Swift's shortest: $sSSN and _TMSi, with up to four
 * letters after the prefix. */
static void text_row(char *field[FIELDS])
{
    bool is_short = (field[0][0] == '$' || field[0][1] == 'T') && strlen(field[0]) < 7;
    bool taken = strcmp(demangle(field[0], MACHSYM_DEMANGLE_IN_TEXT), field[0]) != 0;
    report(taken || is_short || strcmp(demangle(field[0], 0), field[0]) == 0, "a symbol in text", field[0],
           field[0], field[1]);
}

/* By how many underscores a name begins with: Mach-O puts one more in front. What allocates by a token is a C++ name
 * after a prefix of exactly this spelling (clang's AllocToken.rst: "__alloc_token_<id>_<name>"). */
static void test_underscores(void)
{
    expect("__alloc_token_0__Z3foov", "foo() (.alloc_token)");
    expect("___alloc_token_0__Z3foov", "foo() (.alloc_token)");
    static const char *const others[] = {"alloc_token_0__Z3foov",
                                         "_alloc_token_0__Z3foov",
                                         "____alloc_token_0__Z3foov",
                                         "__alloc_token_",
                                         "__alloc_tokem_0__Z3foov",
                                         "_@ab",
                                         "__@ab",
                                         "Z1fv",
                                         "__$s1a1bV"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        expect(others[i], others[i]);
}

int main(void)
{
    test_unchanged();
    test_underscores();
    test_in_text();
    test_forms();
    test_byte_one();
    test_frames();
    test_buffer();
    test_no_name();
    test_puny();
    each_row("nlist-underscore.tsv", nlist_row);
    each_row("swift.tsv", vector_row);
    each_row("cxx.tsv", vector_row);
    each_row("rust.tsv", rust_row);
    each_row("d.tsv", vector_row);
    static const char *const real[] = {"swift.tsv", "swift-apple-compat.tsv", "cxx.tsv", "rust.tsv",
                                       "d.tsv",     "nlist-underscore.tsv"};
    for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
        each_row(real[i], text_row);
    each_row("swift-negative.tsv", negative_row);
    each_row("cxx-negative.tsv", negative_row);
    each_row("rust-negative.tsv", negative_row);
    each_row("d-negative.tsv", negative_row);
    return test_done();
}
