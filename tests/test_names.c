/* Tests of the front of the demanglers: which language, underscores, scratch frames, the buffer, text filter.
 * With NAMES_ALL the real Swift and C++ fragments are in and all vector files are run; without, small
 * stand-ins for them show what the front calls. */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include "names_rust.h"
#include "names_d.h"

#ifdef NAMES_ALL
#include "names_swift.h"
#include "names_cxx.h"
#else

static size_t stand_in_frame; /* the scratch size that the last stand-in was given */

/* Prints `label(name)`; names with "hungry" in them need more scratch than the small frame has. */
static bool stand_in(ms_dm *d, const char *label, const char *prefix)
{
    size_t len = strlen(prefix);
    stand_in_frame = d->mem_len;
    if (d->len <= len || memcmp(d->s, prefix, len) != 0 || d->s[d->len - 1] == '!')
        return false;
    ms_dm_put(d, "half of a failed try", d->s[d->len - 1] == '?' ? 20 : 0);
    if (d->s[d->len - 1] == '?' || d->out_len != 0 || d->depth != 0 || d->failed)
        return false;
    for (size_t i = 0; i + 6 <= d->len; i++) {
        void *mem = memcmp(d->s + i, "hungry", 6) == 0 ? ms_dm_alloc(d, 100000) : d->mem;
        if (mem == NULL || ((uintptr_t)mem & 15u) != 0)
            return false;
        memset(mem, 0xA5, mem == d->mem ? 24576 : 100000);
    }
    ms_dm_put(d, label, strlen(label));
    ms_dm_put(d, "(", 1);
    ms_dm_put(d, d->s, d->len);
    ms_dm_put(d, ")", 1);
    return true;
}

static bool ms_dm_swift(ms_dm *d)
{
    return stand_in(d, "swift", "$s") || stand_in(d, "swift", "_T0") ||
           stand_in(d, "swift", "@__swiftmacro_");
}

static bool ms_dm_cxx(ms_dm *d)
{
    return stand_in(d, "c++", "_Z") || stand_in(d, "c++", "___Z");
}
#endif

#include "names_any.h"
#include "names_harness.h"
#include "examples/machsym/demangle_text.h"

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
#ifndef NAMES_ALL
        if (strstr(names[i], "Z") != NULL) /* the stand-in is less strict */
            continue;
#endif
        expect(names[i], names[i]);
    }
}

static void test_forms(void)
{
    expect("_RNvC1a1b", "a::b");
    expect("__RNvC1a1b", "a::b");
    expect("___RNvC1a1b", "___RNvC1a1b");
    expect("_D3foo3bari", "foo.bar");
    expect("__D3foo3bari", "foo.bar");
    expect("_Dmain", "D main");
    expect("__Dmain", "D main");
    expect("_ZN3foo17h05af221e174051e9E", "foo");
    expect("__ZN3foo17h05af221e174051e9E", "foo");
    expect("ZN3foo17h05af221e174051e9E", "foo");
    report(strcmp(demangle("_RNvCs_1a1b", MACHSYM_DEMANGLE_RUST_HASH), "a[1]::b") == 0, "flag", "_RNvCs_1a1b",
           out_a, "a[1]::b");
#ifdef NAMES_ALL
    expect("_ZN3foo3barEv", "foo::bar()");
    expect("__ZN3foo3barEv", "foo::bar()");
    expect("$s4main3fooyyF", "main.foo() -> ()");
    expect("_$s4main3fooyyF", "main.foo() -> ()");
#else
    expect("_Z3foov", "c++(_Z3foov)");
    expect("__Z3foov", "c++(_Z3foov)");
    expect("___Z3foov_block_invoke", "c++(___Z3foov_block_invoke)");
    expect("____Z3foov_block_invoke", "c++(___Z3foov_block_invoke)");
    expect("$s3foo", "swift($s3foo)");
    expect("_$s3foo", "swift($s3foo)");
    expect("__T03foo", "swift(_T03foo)");
    expect("@__swiftmacro_1a", "swift(@__swiftmacro_1a)");
    expect("_Z3foo?", "_Z3foo?"); /* half a result is not shown */
#endif
}

#ifndef NAMES_ALL
static void test_frames(void)
{
    expect("_Z3small_name", "c++(_Z3small_name)");
    report(stand_in_frame == ms_dm_small_frame, "frame", "small", "another", "24 KB");
#if MACHSYM_DEMANGLE_STACK > 24576
    expect("_Z3hungry", "c++(_Z3hungry)");
    report(stand_in_frame == MACHSYM_DEMANGLE_STACK, "frame", "hungry", "another", "256 KB");
    expect("_Z3hungryhungryhungry", "_Z3hungryhungryhungry"); /* too much for both */
#else
    expect("_Z3hungry", "_Z3hungry");
#endif
}
#endif

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

/* Runs the filter over text and compares. */
static void filter(const char *text, size_t len, const char *expected, size_t expected_len)
{
    FILE *in = tmpfile(), *out = tmpfile();
    if (in == NULL || out == NULL) {
        report(false, "filter", "tmpfile", "none", "two");
        return;
    }
    fwrite(text, 1, len, in);
    rewind(in);
    int result = filter_text(in, out, 0);
    rewind(out);
    size_t got = fread(out_b, 1, OUT_SIZE - 1, out);
    out_b[got] = '\0';
    bool ok = result == 0 && got == expected_len && memcmp(out_b, expected, got) == 0;
    report(ok, "filter", len < 200 ? text : "(long)", got < 200 ? out_b : "(long)",
           len < 200 ? expected : "(long)");
    fclose(in);
    fclose(out);
}

static void test_filter(void)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"\n", "\n"},
        {"no names here\n", "no names here\n"},
        {"_RNvC1a1b", "a::b"},
        {"0   App  0x1234 _RNvC1a1b + 12\r\n1   Lib  0x1 __D3foo3bari + 3\n",
         "0   App  0x1234 a::b + 12\r\n1   Lib  0x1 foo.bar + 3\n"},
        {"calls _RNvC1a1b. And (_RNvC1a1c), \"_RNvC1a1d\"...", "calls a::b. And (a::c), \"a::d\"..."},
        {"_RNvC1a1b.llvm.12AF@@GLIBC_2.0 x_RNvC1a1b", "a::b@@GLIBC_2.0 x_RNvC1a1b"},
        {"\xe2\x86\x92_RNvC1a1b\xe2\x80\xa6 \xc3\xa9 _RNvC1a1b\xe2\x80\x9d",
         "\xe2\x86\x92"
         "a::b\xe2\x80\xa6 \xc3\xa9 a::b\xe2\x80\x9d"},
        {"-[Foo _RNvC1a1b]", "-[Foo a::b]"},
#ifndef NAMES_ALL
        {"a@__swiftmacro_1a $s3\xc3\xa9", "aswift(@__swiftmacro_1a) swift($s3\xc3\xa9)"},
#endif
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        filter(rows[i][0], strlen(rows[i][0]), rows[i][1], strlen(rows[i][1]));
    filter("x\0_RNvC1a1b\n", 12, "x\0a::b\n", 7); /* a NUL is a byte like any other */
}

/* A line of many pieces, and a run of token bytes longer than any name, followed by a name. */
static void test_filter_long(void)
{
    enum { RUN = 200000 };
    char *text = (char *)malloc(RUN + 100), *expected = (char *)malloc(RUN + 100);
    memset(text, 'x', RUN);
    memcpy(expected, text, RUN);
    strcpy(text + RUN, " _RNvC1a1b x\n");
    strcpy(expected + RUN, " a::b x\n");
    filter(text, strlen(text), expected, strlen(expected));
    memcpy(text, "_RNvC1a1b.", 10); /* a name's beginning does not make the run one */
    memcpy(expected, "_RNvC1a1b.", 10);
    filter(text, strlen(text), expected, strlen(expected));
    char *at = text;
    repeat(&at, "_RNvC1a1b,", 5000);
    at = expected;
    repeat(&at, "a::b,", 5000);
    filter(text, strlen(text), expected, strlen(expected));
    free(text);
    free(expected);
}

#ifdef NAMES_ALL
/* Columns: mangled, expected; the styles of further columns are each language's own test. */
static void vector_row(char *field[4])
{
    expect(field[0], field[1]);
}

/* Swift is shown in full (the third column is its short style), Rust without hashes (its third column). */
static void nlist_row(char *field[4])
{
    bool swift = field[0][1] == '$' || strncmp(field[0], "__T", 3) == 0;
    expect(field[0], swift || field[2][0] == '\0' ? field[1] : field[2]);
}

static void rust_row(char *field[4])
{
    expect(field[0], field[2]);
}

static void negative_row(char *field[4])
{
    expect(field[0], field[0]);
}
#endif

int main(int argc, char **argv)
{
    test_unchanged();
    test_forms();
    test_buffer();
    test_filter();
    test_filter_long();
#ifdef NAMES_ALL
    const char *dir = argc > 1 ? argv[1] : "../shared/vectors";
    each_row(dir, "nlist-underscore.tsv", nlist_row);
    each_row(dir, "swift.tsv", vector_row);
    each_row(dir, "cxx.tsv", vector_row);
    each_row(dir, "rust.tsv", rust_row);
    each_row(dir, "d.tsv", vector_row);
    each_row(dir, "swift-negative.tsv", negative_row);
    each_row(dir, "cxx-negative.tsv", negative_row);
    each_row(dir, "rust-negative.tsv", negative_row);
    each_row(dir, "d-negative.tsv", negative_row);
#else
    (void)argc;
    (void)argv;
    test_frames();
#endif
    return finish();
}
