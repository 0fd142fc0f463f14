/* The modules of `machsym crash`: JSON, recognition, the frame and image lines of every writer, the exception
 * in words, signatures, BCSymbolMaps, the store. tests/crash.sh runs the whole command. */
#include "test.h"

#include "../report/base/json.h"
#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/model/report.h"
#include "../report/model/status.h"
#include "../report/read/recognise.h"
#include "../report/read/split.h"
#include "../report/tell/exception.h"
#include "../report/tell/groups.h"
#include "../report/tell/summary.h"
#include "../tool/base/posix.h"
#include "../tool/base/readfile.h"
#include "../tool/symbols/bcsymbolmap.h"
#include "../tool/symbols/index.h"
#include "../tool/symbols/resolve.h"
#include "../tool/symbols/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Helpers ---- */

static report open_text(const char *c_string)
{
    report r;
    report_open(&r, c_string, strlen(c_string), NULL, 0);
    return r;
}

/* ---- JSON ---- */

static bool parses(const char *c_string)
{
    json doc;
    json_error err;
    bool ok = json_parse(NULL, &doc, c_string, strlen(c_string), 0, &err);
    json_free(&doc);
    return ok;
}

static void test_json_grammar(void)
{
    static const char *const good[] = {"{}",
                                       "[]",
                                       "1",
                                       "-1.5e+3",
                                       "\"\"",
                                       "true",
                                       "null",
                                       " [1, 2 ,3 ] ",
                                       "{\"a\":{\"b\":[{}]},\"c\":\"\\\"\"}",
                                       "{\"a\":1}trailing"};
    static const char *const bad[] = {"",          "{",      "[1",        "{\"a\"}",    "{\"a\":}",
                                      "{\"a\" 1}", "[1 2]",  "[1,]",      "{\"a\":1,}", "{,}",
                                      "[,]",       "\"open", "{1:2}",     "nul",        "\"a\\\"",
                                      "[\"x\\",    "}",      "{\"a\":1]", "+1",         "tru e"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(parses(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!parses(bad[i]));
        if (parses(bad[i]))
            printf("  parsed: %s\n", bad[i]);
    }
}

static void test_json_depth(void)
{
    text t = {0};
    json doc;
    json_error err = {NULL, 0};
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        text_char(&t, '[');
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        text_char(&t, ']');
    CHECK(json_parse(NULL, &doc, t.v, t.len, 0, &err));
    json_free(&doc);
    t.len = 0;
    for (int i = 0; i < 1000000; i++)
        text_char(&t, '[');
    CHECK(!json_parse(NULL, &doc, t.v, t.len, 0, &err));
    CHECK_TEXT(err.what, "nested too deep");
    CHECK_EQ(err.at, JSON_MAX_DEPTH);
    text_free(&t);
}

static void test_json_values(void)
{
    static const char input[] =
        "x{\"a\":{\"deep\":[1,2]},\"n\":42,\"h\":\"0x2a\",\"d\":\"42\",\"m\":-1,\"big\":"
        "18446744073709551615,\"over\":18446744073709551616,\"t\":true,\"s\":\"a\\n\\u00e9"
        "\\ud83d\\ude00\\/\\ud800\"}";
    json doc;
    json_error err;
    uint64_t n = 0;
    uint32_t at = JSON_NONE;
    unsigned members = 0;
    text t = {0};
    CHECK(json_parse(NULL, &doc, input, sizeof input - 1, 1, &err));
    CHECK_EQ(doc.v[0].at, 1);
    CHECK_EQ(doc.v[0].end, sizeof input - 1);
    CHECK(json_u64(&doc, json_get(&doc, 0, "n"), &n) && n == 42);
    CHECK(json_u64(&doc, json_get(&doc, 0, "h"), &n) && n == 42);
    CHECK(json_u64(&doc, json_get(&doc, 0, "d"), &n) && n == 42);
    CHECK(json_u64(&doc, json_get(&doc, 0, "m"), &n) && n == UINT64_MAX);
    CHECK(json_u64(&doc, json_get(&doc, 0, "big"), &n) && n == UINT64_MAX);
    CHECK(!json_u64(&doc, json_get(&doc, 0, "over"), &n));
    CHECK(!json_u64(&doc, json_get(&doc, 0, "t"), &n));
    CHECK(json_true(&doc, json_get(&doc, 0, "t")));
    CHECK_EQ(json_get(&doc, 0, "deep"), JSON_NONE);
    CHECK_EQ(json_get(&doc, json_get(&doc, 0, "n"), "a"), JSON_NONE);
    json_unescape(&t, json_raw(&doc, json_get(&doc, 0, "s")));
    CHECK_STR(((machsym_str){t.v, t.len}), "a\n\xc3\xa9\xf0\x9f\x98\x80/\xef\xbf\xbd");
    while (json_next(&doc, 0, &at))
        members++;
    CHECK_EQ(members, 9);
    text_free(&t);
    json_free(&doc);
}

/* ---- Image lines ---- */

typedef struct image_case {
    const char *line;
    const char *name;
    const char *arch;
    const char *path;
    uint64_t base;
    uint64_t end;
    bool has_uuid;
} image_case;

static void test_image_lines(void)
{
    static const image_case cases[] = {
        {"0x1000 - 0x1fff +App armv7  <00112233445566778899aabbccddeeff> /var/App.app/App", "App", "armv7",
         "/var/App.app/App", 0x1000, 0x2000, true},
        {"       0x10864e000 -        0x10ee0ffff +Yet Another x86_64 (400.9.4 - 1.0.0) "
         "<00112233445566778899AABBCCDDEEFF> "
         "/Users/b c/Yet Another",
         "Yet Another", "x86_64", "/Users/b c/Yet Another", 0x10864e000, 0x10ee10000, true},
        {"       0x10b8b8000 -        0x10b8e4000 com.apple.Core (6.9 - 1858) "
         "<00112233-4455-6677-8899-aabbccddeeff> /S/C",
         "com.apple.Core", "", "/S/C", 0x10b8b8000, 0x10b8e4001, true},
        {"0x1000 - 0x1fff libx.dylib arm  <(null)> /usr/lib/libx.dylib", "libx.dylib", "arm",
         "/usr/lib/libx.dylib", 0x1000, 0x2000, false},
        {"0x1000 -                ???  dyld (960) <00112233-4455-6677-8899-AABBCCDDEEFF>  /usr/lib/dyld",
         "dyld", "", "/usr/lib/dyld", 0x1000, UINT64_MAX, true},
        {"*0xfffffe0007e00000 - 0xfffffe0008ffffff  kernel (1) <00112233-4455-6677-8899-AABBCCDDEEFF>  /k",
         "kernel", "", "/k", 0xfffffe0007e00000, 0xfffffe0009000000, true},
        {"0x1000 - 0x1fff ??? <00112233-4455-6677-8899-AABBCCDDEEFF> /a/b,c", "b,c", "", "/a/b,c", 0x1000,
         0x2000, true},
        {"[  0] 00112233-4455-6677-8899-AABBCCDDEEFF 0x0000000100000000 /a/App", "App", "", "/a/App",
         0x100000000, UINT64_MAX, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        report r = open_text(cases[i].line);
        CHECK_EQ(r.image_count, 1);
        if (r.image_count == 1) {
            CHECK_STR(r.images[0].name, cases[i].name);
            CHECK_STR(r.images[0].arch, cases[i].arch);
            CHECK_STR(r.images[0].path, cases[i].path);
            CHECK_EQ(r.images[0].base, cases[i].base);
            CHECK_EQ(r.images[0].end, cases[i].end);
            CHECK_EQ(r.images[0].has_uuid, cases[i].has_uuid);
            CHECK(!cases[i].has_uuid || r.images[0].uuid.v[15] == 0xff);
        }
        report_close(&r);
    }
}

/* ---- Frame lines ---- */

typedef struct frame_case {
    const char *line;
    frame_form form;
    frame_name named;
    uint64_t addr;
    const char *image;
    const char *name;
    const char *where;
    const char *symbol; /* what a name takes the place of */
} frame_case;

static void test_frame_lines(void)
{
    static const frame_case cases[] = {
        {"0   App   \t0x0000000102268e70 0x10211c000 + 1363568", FORM_CLASSIC, NAME_NONE, 0x102268e70, "App",
         "", "", "0x10211c000 + 1363568"},
        {"0   App Name, Two   0x102268e70 0x10211c000 + 1", FORM_CLASSIC, NAME_NONE, 0x102268e70,
         "App Name, Two", "", "", "0x10211c000 + 1"},
        {"12  App   0x102268e70 <redacted> + 12", FORM_CLASSIC, NAME_NONE, 0x102268e70, "App", "", "",
         "<redacted> + 12"},
        {"12  App   0x102268e70 App + 12", FORM_CLASSIC, NAME_NONE, 0x102268e70, "App", "", "", "App + 12"},
        {"12  App   0x102268e70", FORM_CLASSIC, NAME_NONE, 0x102268e70, "App", "", "", ""},
        {"1000App Two  0x102268e70 0x10211c000 + 1", FORM_CLASSIC, NAME_NONE, 0x102268e70, "App Two", "", "",
         "0x10211c000 + 1"},
        {"16 ??? 0x0000004c000b23b8 0 + 326418244536", FORM_CLASSIC, NAME_NONE, 0x4c000b23b8, "???", "", "",
         "0 + 326418244536"},
        {"3   App 0x1000 -[A b:] + 12", FORM_CLASSIC, NAME_GIVEN, 0x1000, "App", "-[A b:]", "",
         "-[A b:] + 12"},
        {"3   App 0x1000 main (main.m:16)", FORM_CLASSIC, NAME_GIVEN, 0x1000, "App", "main", "main.m:16",
         "main (main.m:16)"},
        {"3   App 0x1000 f(int, char (*)(long)) + 12 (a b.cpp:7)", FORM_CLASSIC, NAME_GIVEN, 0x1000, "App",
         "f(int, char (*)(long))", "a b.cpp:7", "f(int, char (*)(long)) + 12 (a b.cpp:7)"},
        {"3   App 0x1000 operator+(X const&) + 4", FORM_CLASSIC, NAME_GIVEN, 0x1000, "App",
         "operator+(X const&)", "", "operator+(X const&) + 4"},
        {"3   App 0x1000 main + 63  AppDelegate.swift:22", FORM_CLASSIC, NAME_GIVEN, 0x1000, "App", "main",
         "AppDelegate.swift:22", "main + 63  AppDelegate.swift:22"},
        {"5   App 0x0000f6d9 0x8000 + 30425 (-[C t] + 101)", FORM_SIDE, NAME_WEAK, 0xf6d9, "App", "-[C t]",
         "", " (-[C t] + 101)"},
        {"  7 0x102268e70", FORM_LIST, NAME_NONE, 0x102268e70, "", "", "", ""},
        {"0x102268e70", FORM_LIST, NAME_NONE, 0x102268e70, "", "", "", ""},
        {"    +   ! 2426 ???  (in Foo)  load address 0x1000 + 0x3589  [0x4589]", FORM_SAMPLE, NAME_NONE,
         0x4589, "Foo", "", "", "???  (in Foo)  load address 0x1000 + 0x3589"},
        {"    +   ! 2426 f(int)  (in Foo) + 247  [0x4589]  f.cpp:3", FORM_SAMPLE, NAME_GIVEN, 0x4589, "Foo",
         "f(int)", "f.cpp:3", "f(int)  (in Foo) + 247"},
        {"      *2  ??? (Foo + 100) [0x4589]", FORM_SPIN, NAME_NONE, 0x4589, "Foo", "", "",
         "??? (Foo + 100)"},
        {"        2  f(int) + 3 (f.cpp:7 in Foo + 100) [0x4589]", FORM_SPIN, NAME_GIVEN, 0x4589, "Foo",
         "f(int)", "f.cpp:7", "f(int) + 3 (f.cpp:7 in Foo + 100)"},
        {"        2  ??? [0x4589]", FORM_SPIN, NAME_NONE, 0x4589, "", "", "", "???"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        report r = open_text(cases[i].line);
        CHECK_EQ(r.frame_count, 1);
        if (r.frame_count == 1) {
            const report_frame *frame = &r.frames[0];
            CHECK_EQ(frame->form, cases[i].form);
            CHECK_EQ(frame->named, cases[i].named);
            CHECK_EQ(frame->addr, cases[i].addr);
            CHECK_STR(frame->image_name, cases[i].image);
            CHECK_STR(str_trim(frame->name), cases[i].name);
            CHECK_STR(frame->where, cases[i].where);
            CHECK_STR(((machsym_str){r.body + frame->symbol_at, frame->symbol_end - frame->symbol_at}),
                      cases[i].symbol);
        } else {
            printf("  line: %s\n", cases[i].line);
        }
        report_close(&r);
    }
}

/* Lines that look like frames but are not. */
static void test_no_frames(void)
{
    static const char *const lines[] = {
        "    x0: 0x0000000000000000   x1: 0x0000000000000001",
        "  5f f3 41 0f 6f 47 08 66-0f 70 c0 4e 66 0f 7f 85  _.A.oG.f.p.Nf...",
        "VM_ALLOCATE 000000011212b000-000000011212c000 [    4K] rw-/rwx SM=PRV",
        "-4 sec CODE SIGNING: cs_invalid_page(0x11212c000): p=2214[Slack]",
        "MALLOC                           152.1M       41",
        "-[NSArray objectAtIndex:]: 0x1234 is no array [0x1234]",
        "1. take the address 0xzz and look it up",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        report r = open_text(lines[i]);
        CHECK_EQ(r.frame_count, 0);
        report_close(&r);
    }
}

/* An empty line of a document after a stack has no first byte. */
static void test_empty_lines(void)
{
    static const char said[] =
        "Thread 0 Crashed:\n0   demo   0x0000000102a30aec 0x102a30000 + 2796\n\n{\"a\":\n\n1}\n\n";
    for (size_t len = 1; len < sizeof said; len++) {
        char *copy = mem_alloc(len); /* where memory checkers see what runs past it */
        memcpy(copy, said, len);
        CHECK_EQ(split_first_len((machsym_str){copy, len}), len);
        free(copy);
    }
}

/* The frame of a report that stands at a place of the input; NULL: none does. */
static const report_frame *frame_at(const report *r, size_t at)
{
    for (uint32_t i = 0; i < r->frame_count; i++) {
        if (r->frames[i].at == at)
            return &r->frames[i];
    }
    return NULL;
}

/* What is read of a report that is cut short: nothing that the whole one does not say of the same frame. */
static void check_cut(const report *whole, const char *input, size_t len)
{
    report r;
    report_open(&r, input, len, NULL, 0);
    CHECK(r.frame_count == 0 || r.cut_at > 0);
    CHECK(r.cut_at <= len);
    for (uint32_t i = 0; i < r.frame_count; i++) {
        const report_frame *frame = &r.frames[i];
        const report_frame *same = frame_at(whole, frame->at);
        CHECK(same != NULL);
        if (same == NULL)
            continue;
        const report_image *image = frame->image != REPORT_NONE ? &r.images[frame->image] : NULL;
        CHECK(str_equal(frame->name, same->name) && frame->index == same->index);
        if (image != NULL && image->is_offset) /* its entry is lost */
            CHECK(frame->addr ==
                  same->addr - (same->image != REPORT_NONE ? whole->images[same->image].base : 0));
        else
            CHECK(frame->addr == same->addr);
        if (image != NULL && !image->is_offset)
            CHECK(memcmp(&image->uuid, &whole->images[same->image].uuid, sizeof image->uuid) == 0 &&
                  str_equal(image->name, whole->images[same->image].name));
    }
    report_close(&r);
}

/* An .ips that ends at any byte. Truth: the whole one. */
static void test_cut(const char *path, uint32_t frames)
{
    test_file file = test_read(path);
    report whole;
    uint32_t most = 0;
    report_open(&whole, (const char *)file.ptr, file.len, NULL, 0);
    CHECK(whole.cut_at == 0 && whole.frame_count == frames);
    size_t end = file.len;
    while (file.ptr[end - 1] != '}')
        end--;
    test_begin();
    for (size_t len = 1; len < end; len++) {
        char *copy = mem_alloc(len);
        memcpy(copy, file.ptr, len);
        check_cut(&whole, copy, len);
        report r;
        report_open(&r, copy, len, NULL, 0);
        CHECK(r.frame_count >= most); /* a byte more never costs a frame */
        most = r.frame_count;
        report_close(&r);
        free(copy);
    }
    CHECK_EQ(most, frames);
    test_end(path);
    report_close(&whole);
    free(file.ptr);
}

static void test_threads(void)
{
    report r = open_text(
        "Thread 0 name:  Dispatch queue: main\nThread 0:\n0 A 0x10 x + 1\n1 A 0x20 y + 1\n\n"
        "Thread 7 Crashed:: worker  Dispatch queue: q\n0 A 0x30 z + 1\n\n"
        "Last Exception Backtrace:\n(0x40 0x50)\n\nThread 7 crashed with X86 Thread State:\n  rax: 0x1\n");
    CHECK_EQ(r.thread_count, 3);
    CHECK_STR(r.threads[0].queue, "main");
    CHECK_EQ(r.threads[0].count, 2);
    CHECK(r.frames[0].exact && !r.frames[1].exact);
    CHECK_EQ(r.threads[1].number, 7);
    CHECK(r.threads[1].crashed);
    CHECK_STR(r.threads[1].name, "worker");
    CHECK_STR(r.threads[1].queue, "q");
    CHECK_EQ(r.threads[2].kind, THREAD_EXCEPTION);
    CHECK_EQ(r.threads[2].count, 2);
    CHECK_STR(((machsym_str){r.body + r.threads[2].open_at, r.threads[2].open_end - r.threads[2].open_at}),
              "(0x40 0x50)");
    report_close(&r);
    r = open_text("0 A 0x10\n1 A 0x20\n0 A 0x30\n1 A 0x40\n");
    CHECK_EQ(r.thread_count, 2); /* two stacks pasted one after the other */
    report_close(&r);
}

/* Two images of one name, and two processes whose images lie at the same place. */
static void test_image_choice(void)
{
    report r = open_text("0 App 0x2010\n1 App 0x1010\nBinary Images:\n"
                         "0x1000 - 0x1fff App arm64  <00112233445566778899aabbccddee01> /a/App\n"
                         "0x2000 - 0x2fff App arm64  <00112233445566778899aabbccddee02> /b/App\n");
    CHECK_EQ(r.frames[0].image, 1);
    CHECK_EQ(r.frames[1].image, 0);
    report_close(&r);
    r = open_text("Process: a [1]\n  2  ??? (A + 1) [0x1010]\nBinary Images:\n"
                  "0x1000 - 0x1fff A (1) <00112233-4455-6677-8899-aabbccddee01> /A\n"
                  "Process: b [2]\n  2  ??? (B + 1) [0x1010]\nBinary Images:\n"
                  "0x1000 - 0x1fff B (1) <00112233-4455-6677-8899-aabbccddee02> /B\n");
    CHECK_EQ(r.frame_count, 2);
    CHECK_EQ(r.frames[0].image, 0);
    CHECK_EQ(r.frames[1].image, 1);
    report_close(&r);
}

/* Found by fuzzing: lines inside a string of JSON that is no report were edited as text, which broke the
 * JSON. */
static void test_lines_in_json(void)
{
    report r = open_text("{\"a\":\"\n0 App 0x1010 0x1000 + 16\n\"}\n1 App 0x1020 0x1000 + 32\n");
    CHECK_EQ(r.frame_count, 1);
    CHECK_EQ(r.frames[0].addr, 0x1020);
    report_close(&r);
}

/* ---- In words ---- */

typedef struct word_case {
    const char *report;
    const char *words; /* among the sentences */
} word_case;

static void test_words(void)
{
    static const word_case cases[] = {
        {"Exception Type:  EXC_BAD_ACCESS (SIGSEGV)\nException Subtype: KERN_INVALID_ADDRESS at "
         "0x0000000000000010\n\n"
         "Thread 0 Crashed:\n0 A 0x1 f + 1\n",
         "access through a null pointer"},
        {"Exception Type:  EXC_BAD_ACCESS (SIGBUS)\nException Codes: KERN_PROTECTION_FAILURE at "
         "0x7000000000\n\n"
         "Thread 0 Crashed:\n0 A 0x1 f + 1\n",
         "may not be read or written so"},
        {"Exception Type:  EXC_BAD_ACCESS (SIGSEGV)\nException Codes: KERN_INVALID_ADDRESS at "
         "0x7000000000\n\n"
         "Thread 0 Crashed:\n0 libobjc.A.dylib 0x1 objc_release + 16\n",
         "message to a freed or damaged object"},
        {"Exception Type:  EXC_BREAKPOINT (SIGTRAP)\n\nThread 0 Crashed:\n0 A 0x1 f() + 1 (f.swift:3)\n",
         "Swift runtime"},
        {"Exception Type:  EXC_BREAKPOINT (SIGTRAP)\nApplication Specific Information:\nFatal error: Index "
         "out of range\n\n"
         "Thread 0 Crashed:\n0 A 0x1 f + 1\n",
         "Swift runtime failure: Fatal error: Index out of range"},
        {"Exception Type:  EXC_BREAKPOINT (SIGTRAP)\n\nThread 0 Crashed:\n0 A 0x1 f + 1 (f.c:3)\n",
         "__builtin_trap"},
        {"Exception Type:  EXC_CRASH (SIGKILL)\nException Codes: 0x0000000000000000, 0x0000000000000000\n"
         "Termination Reason: Namespace SPRINGBOARD, Code 0x8badf00d\nTermination Description: scene-update "
         "watchdog "
         "transgression: app exhausted real (wall clock) time allowance of 10.00 seconds\n\nThread 0:\n0 A "
         "0x1 f + 1\n",
         "(updating the scene: 10 s); the report says 10.00 s"},
        {"Exception Type:  00000020\nException Codes: 0x000000008badf00d\n\nThread 0:\n0 A 0x1 f + 1\n",
         "watchdog"},
        {"Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: Namespace RUNNINGBOARD, Code "
         "0xdead10cc\n\nThread 0:\n"
         "0 A 0x1 f + 1\n",
         "file lock or database"},
        {"Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: RUNNINGBOARD Code 3735943697\n\nThread "
         "0:\n0 A 0x1 f + 1\n",
         "the user forced the app to quit"},
        {"Exception Type:  EXC_CRASH (SIGKILL)\nException Codes: 0x00000000c00010ff\n\nThread 0:\n0 A 0x1 "
         "f\n",
         "too hot"},
        {"Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: X, Code 0xbaaaaaad\n\nThread 0:\n0 A 0x1 "
         "f\n",
         "stackshot"},
        {"Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: X, Code 0xbad22222\n\nThread 0:\n0 A 0x1 "
         "f\n",
         "VoIP"},
        {"Exception Type:  EXC_CRASH (SIGSEGV)\nException Codes: 0x000000000b100001, 0x0\n\nThread 0 "
         "Crashed:\n0 A 0x1 f\n",
         "EXC_CRASH code: SIGSEGV from EXC_BAD_ACCESS, code 0x1"},
        {"Exception Type:  EXC_CRASH (SIGABRT)\nApplication Specific Information:\n*** Terminating app due "
         "to uncaught "
         "exception 'NSRangeException', reason: '*** -[__NSArrayM objectAtIndex:]: index 4 beyond bounds [0 "
         ".. 3]'\n\n"
         "Thread 0 Crashed:\n0 A 0x1 f\n",
         "uncaught exception NSRangeException: *** -[__NSArrayM objectAtIndex:]: index 4 beyond bounds [0 .. "
         "3]\n"},
        {"Exception Type:  EXC_CRASH (SIGABRT)\n\nThread 0 Crashed:\n0 A 0x1 f\n", "called abort"},
        {"Exception Type:  EXC_CRASH (SIGABRT)\nException Note:  SIMULATED (this is NOT a crash)\n\nThread "
         "0:\n0 A 0x1 f\n",
         "SIMULATED: not a crash"},
        {"Exception Type:  EXC_BAD_ACCESS (SIGSEGV)\n\nThread 0 Crashed:\n"
         "0 libGPUSupport.dylib 0x1 gpus_ReturnNotPermittedKillClient + 12\n",
         "used the GPU while it was in the background"},
        {"Exception Type:  EXC_CRASH (SIGQUIT)\n\nThread 0:\n0 A 0x1 f\n", "another process asked"},
        {"Exception Type:  EXC_BAD_INSTRUCTION (SIGILL)\n\nThread 0 Crashed:\n0 A 0x1 f\n",
         "illegal instruction"},
        {"Exception Type:  EXC_RESOURCE\nException Subtype: CPU\n\nThread 0:\n0 A 0x1 f\n",
         "was exceeded: CPU"},
        {"Exception Type:  EXC_CRASH (SIGKILL)\n\nThread 0:\n0 A 0x1 f\n", "watchdog, memory pressure"},
        {"{\"bug_type\":\"298\",\"timestamp\":\"x\",\"os_version\":\"y\"}\n{\"processes\":[],"
         "\"largestProcess\":\"a\"}",
         "holds no stacks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        report r = open_text(cases[i].report);
        text t = {0};
        exception_put(&t, &r);
        text_add(&t, "", 1);
        CHECK(strstr(t.v, cases[i].words) != NULL);
        if (strstr(t.v, cases[i].words) == NULL)
            printf("  wanted: %s\n  got: %s", cases[i].words, t.v);
        text_free(&t);
        report_close(&r);
    }
}

/* ---- Signatures and groups ---- */

static signature sign(const char *c_string)
{
    signature s;
    report r = open_text(c_string);
    signature_of(&r, NULL, &s);
    report_close(&r);
    return s;
}

#define IMAGES                                                                                               \
    "\nBinary Images:\n0x1000 - 0x1fff App arm64  <00112233445566778899aabbccddee01> /Applications/App\n"    \
    "0x9000 - 0x9fff libsystem_c.dylib arm64  <00112233445566778899aabbccddee02> "                           \
    "/usr/lib/libsystem_c.dylib\n"

static void test_signatures(void)
{
    signature a =
        sign("Thread 0 Crashed:\n0 libsystem_c.dylib 0x9001 abort + 8\n1 App 0x1010 f + 16 (f.c:12)\n"
             "2 App 0x1020 f + 16\n3 App 0x1030 main.llvm.77 + 3\n" IMAGES);
    signature b =
        sign("Thread 3 Crashed:\n0 libsystem_c.dylib 0x9005 raise + 8\n1 App 0x1110 f + 20 (f.c:13)\n"
             "2 App 0x1030 main.llvm.88 + 3\n" IMAGES);
    signature c = sign("Thread 0 Crashed:\n0 App 0x1010 g + 16\n1 App 0x1030 main + 3\n" IMAGES);
    CHECK_STR(((machsym_str){a.words.v, a.words.len}), "f | main");
    CHECK_EQ(a.hash, b.hash);
    CHECK(a.hash != c.hash);
    text_free(&a.words);
    text_free(&b.words);
    text_free(&c.words);
}

/* Of an image that has neither a UUID nor a name nothing is looked for. */
static void test_image_without_name(void)
{
    report r =
        open_text("{\"callStackTree\":{\"callStacks\":[{\"callStackRootFrames\":[{\"address\":4339206892,"
                  "\"offsetIntoBinaryTextSegment\":2796}]}]}}");
    resolve_options how;
    resolve_counts counts;
    text t = {0};
    CHECK_EQ(r.image_count, 1);
    memset(&how, 0, sizeof how);
    resolve_report(&r, NULL, &how, &counts);
    CHECK_EQ(counts.missing, 1);
    summary_put(&t, &r, &counts, false);
    text_add(&t, "", 1);
    CHECK(strstr(t.v, "debug info is missing for:\n    ???: the report gives no UUID\n") != NULL);
    text_free(&t);
    report_close(&r);
}

/* A payload's images are made up from its frames: one for each load address and UUID, in their order. */
static void test_metric_images(void)
{
    static const char *const uuids[] = {"4C4C44B5-5555-3144-A1BA-79CA685DEC58", "",
                                        "00000000-0000-0000-0000-000000000001"};
    static const char order[] = {0, 1, 0, 2, 1, 0};
    text t = {0};
    text_c(&t, "{\"callStackTree\":{\"callStacks\":[{\"callStackRootFrames\":[");
    for (size_t i = 0; i < sizeof order; i++) {
        char frame[256];
        snprintf(frame, sizeof frame,
                 "%s{\"binaryUUID\":\"%s\",\"address\":4294967396,\"offsetIntoBinaryTextSegment\":100}",
                 i > 0 ? "," : "", uuids[(int)order[i]]);
        text_c(&t, frame);
    }
    text_c(&t, "]}]}}");
    text_add(&t, "", 1);
    report r = open_text(t.v);
    CHECK_EQ(r.frame_count, sizeof order);
    CHECK_EQ(r.image_count, 3);
    for (uint32_t i = 0; i < r.frame_count && i < sizeof order; i++)
        CHECK_EQ(r.frames[i].image, order[i]);
    CHECK(r.image_count == 3 && r.images[0].has_uuid && !r.images[1].has_uuid && r.images[2].uuid.v[15] == 1);
    text_free(&t);
    report_close(&r);
}

static void test_groups(void)
{
    static const char *const stacks[] = {
        "0 App 0x1010 a\n1 App 0x1020 b\n2 App 0x1030 c\n", "0 App 0x1010 z\n",
        "0 App 0x1010 a\n1 App 0x1020 b\n2 App 0x1030 d\n", "0 App 0x1010 z\n", "0 App 0x1010 z\n"};
    static const char *const paths[] = {"r1", "r2", "r3", "r4", "r5"};
    group_list *groups = groups_open();
    text out = {0};
    for (size_t i = 0; i < 5; i++) {
        text t = {0};
        text_c(&t, stacks[i]);
        text_c(&t, IMAGES);
        text_add(&t, "", 1);
        signature s = sign(t.v);
        groups_add(groups, paths[i], &s);
        text_free(&s.words);
        text_free(&t);
    }
    groups_print(groups, false, &out);
    text_add(&out, "", 1);
    CHECK(strncmp(out.v, "3 reports", 9) == 0);
    const char *second = strstr(out.v, "1 report ");
    const char *similar = strstr(out.v, "similar:");
    CHECK(second != NULL && similar != NULL && similar > second);
    CHECK(similar != NULL && (strstr(similar, "r1") != NULL) != (strstr(similar, "r3") != NULL));
    text_free(&out);
    groups_close(groups);
}

/* ---- BCSymbolMap ---- */

static void test_bcsymbolmap(void)
{
    char path[] = "/tmp/machsym-test-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "wb");
    fputs("BCSymbolMap Version: 2.0\n-[A b]\n_main\r\n/src/main.m", file);
    fclose(file);
    bcsymbolmap *map = bcsymbolmap_open(path);
    CHECK(map != NULL);
    CHECK_STR(bcsymbolmap_name(map, str_c("__hidden#0_")), "-[A b]");
    CHECK_STR(bcsymbolmap_name(map, str_c("_hidden#1_")), "main"); /* a symbol's underscore is gone already */
    CHECK_STR(bcsymbolmap_name(map, str_c("__hidden#1_")), "_main");
    CHECK_STR(bcsymbolmap_name(map, str_c("__hidden#2_")), "/src/main.m");
    CHECK_STR(bcsymbolmap_name(map, str_c("__hidden#3_")), "__hidden#3_");
    CHECK_STR(bcsymbolmap_name(map, str_c("__hidden#_")), "__hidden#_");
    CHECK_STR(bcsymbolmap_name(map, str_c("hidden")), "hidden");
    CHECK_STR(bcsymbolmap_name(NULL, str_c("__hidden#0_")), "__hidden#0_");
    bcsymbolmap_close(map);
    file = fopen(path, "wb");
    fputs("something else\n", file);
    fclose(file);
    CHECK(bcsymbolmap_open(path) == NULL);
    unlink(path);
}

/* ---- The index of a folder ---- */

#define DEMO "tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo"

/* A file of symbols, and folders around it. They were last changed long ago, so what an index says of them
 * holds. */
static void make_symbols(const char *root)
{
    static const char *const folders[] = {"",
                                          "/a",
                                          "/a/b",
                                          "/demo.dSYM",
                                          "/demo.dSYM/Contents",
                                          "/demo.dSYM/Contents/Resources",
                                          "/demo.dSYM/Contents/Resources/DWARF"};
    static const char *const files[] = {"/a/demo", "/a/b/none", "/demo.dSYM/Contents/Resources/DWARF/demo"};
    static const struct timespec old[2] = {{1577836800, 0}, {1577836800, 0}};
    char path[512];
    text demo = {0};
    CHECK(file_read(&demo, DEMO) == NULL);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s%s", root, folders[i]);
        CHECK(i == 0 || mkdir(path, 0777) == 0);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i]);
        FILE *file = fopen(path, "wb");
        CHECK(file != NULL && fwrite(demo.v, 1, i == 1 ? 5 : demo.len, file) > 0 && fclose(file) == 0);
        utimensat(AT_FDCWD, path, old, 0);
    }
    for (size_t i = sizeof folders / sizeof folders[0]; i-- > 0;) {
        snprintf(path, sizeof path, "%s%s", root, folders[i]);
        utimensat(AT_FDCWD, path, old, 0);
    }
    text_free(&demo);
}

/* Whether a store of the folder finds the demo, and nothing that lies elsewhere. */
static bool finds_demo(const char *root)
{
    static const machsym_uuid uuid = {
        {0x4c, 0x4c, 0x44, 0xb5, 0x55, 0x55, 0x31, 0x44, 0xa1, 0xba, 0x79, 0xca, 0x68, 0x5d, 0xec, 0x58}};
    store_options how = {false};
    const store_entry *entries[8];
    store *s = store_open(&how);
    bool ok = store_add(s, root, false);
    store_finish(s);
    size_t count = store_find(s, &uuid, str_c("arm64"), entries, 8);
    for (size_t i = 0; i < count && i < 8; i++)
        ok = ok && strncmp(entries[i]->path, root, strlen(root)) == 0;
    store_close(s);
    return ok && count > 0;
}

static void write_index(const char *path, const text *t)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(t->v, 1, t->len, file) != t->len || fclose(file) != 0)
        abort();
}

/* What a damaged index says is nonsense, but stays inside what it holds. */
static bool is_walkable(const char *path)
{
    store_index index;
    char *content;
    size_t letters = 0;
    memset(&index, 0, sizeof index);
    index_load(&index, path, &content);
    for (uint32_t i = 0; i < index.folder_count; i++) {
        const index_folder *folder = &index.folders[i];
        letters += strlen(folder->path) + (index_find(&index, folder->path) != NULL);
        for (uint32_t k = 0; k < folder->child_count; k++) {
            const index_child *child = &index.children[folder->first_child + k];
            letters += strlen(child->name);
            for (uint32_t j = 0; j < child->slice_count; j++)
                letters += index.slices[child->first_slice + j].kind <= STORE_MAP;
        }
    }
    bool ok = index.folder_count == 0 || letters > 0;
    index_free(&index);
    free(content);
    return ok;
}

/* Every byte of an index becomes others, and its hash is made right again: so it is believed. No run may
 * fail by it, and one of a damaged hash is as no index at all. */
static void test_index_mutations(void)
{
    static const char bytes[] = {0, '\n', ' ', '9', '/', 'S', 'D', 'F', '\xff'};
    char root[] = "/tmp/machsym-index-XXXXXX";
    char cache[64];
    char *end;
    text path = {0};
    text whole = {0};
    text changed = {0};
    unsigned bad = 0;
    CHECK(mkdtemp(root) != NULL);
    make_symbols(root);
    snprintf(cache, sizeof cache, "%s/.cache", root);
    setenv("XDG_CACHE_HOME", cache, 1);
    CHECK(finds_demo(root));
    CHECK(index_path(root, false, &path) && file_read(&whole, path.v) == NULL);
    size_t body = whole.len - (sizeof "end 0123456789abcdef\n" - 1);
    for (size_t at = 0; at < body; at++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            changed.len = 0;
            text_add(&changed, whole.v, body);
            changed.v[at] = bytes[i];
            uint64_t hash = str_hash(str_make(changed.v, changed.len));
            text_c(&changed, "end ");
            text_hex(&changed, hash, 16);
            text_char(&changed, '\n');
            write_index(path.v, &changed);
            bad += !is_walkable(path.v);
            if ((at * sizeof bytes + i) % 97 == 0) {
                CHECK(finds_demo(root));
                CHECK(finds_demo(root)); /* by the index that the run before has written */
            }
        }
    }
    CHECK(whole.len > 300);
    CHECK(bad == 0);
    end = changed.v + changed.len - 2;
    *end = *end == '0' ? '1' : '0';
    write_index(path.v, &changed);
    store_index index;
    memset(&index, 0, sizeof index);
    index_load(&index, path.v, &end);
    CHECK(index.folder_count == 0 && index.child_count == 0);
    free(end);
    text_free(&path);
    text_free(&whole);
    text_free(&changed);
    snprintf(cache, sizeof cache, "rm -rf %s", root);
    CHECK(system(cache) == 0);
}

/* Lines are sorted by their bytes, each once or as often as it is there; the order in which they came does not show. */
static void test_sorted_lines(void)
{
    static const char *const orders[] = {"b\na\nab\n\nB\n\303\244\na b\n", "\303\244\nab\na b\nB\nb\n\na\n"};
    for (size_t i = 0; i < 2; i++) {
        text t = {0};
        text_c(&t, orders[i]);
        text_sort_lines(&t);
        text_char(&t, '\0');
        CHECK_TEXT(t.v, "\nB\na\na b\nab\nb\n\303\244\n");
        text_free(&t);
    }
}

int main(void)
{
    test_sorted_lines();
    test_json_grammar();
    test_json_depth();
    test_json_values();
    test_image_lines();
    test_frame_lines();
    test_no_frames();
    test_empty_lines();
    test_cut("tests/fixtures/apple/ios.ips", 9);
    test_cut("tests/fixtures/facts/guard.ips", 2);
    test_threads();
    test_image_choice();
    test_lines_in_json();
    test_words();
    test_signatures();
    test_image_without_name();
    test_metric_images();
    test_groups();
    test_bcsymbolmap();
    test_index_mutations();
    return test_done();
}
