/* Work on reports is bounded by their size: for each trap that a hostile report may set, such a report at
 * one size and at four times that size is parsed, looked up, written in every format, summed up and
 * grouped. The larger one may take 4.4 times the work (bytes and records visited). tests/test_bounds.c
 * does the same for files. */
#include "counters.h"

#include "test.h"

#include "../report/base/text.h"
#include "../report/model/redact.h"
#include "../report/model/report.h"
#include "../report/tell/groups.h"
#include "../report/tell/missing.h"
#include "../report/tell/summary.h"
#include "../report/write/call.h"
#include "../report/walk.h"
#include "../report/write/write.h"
#include "../tool/base/posix.h"
#include "../tool/cmd/atos/answer.h"
#include "../tool/cmd/atos/many.h"
#include "../tool/files/state.h"
#include "../tool/symbols/images.h"
#include "../tool/symbols/resolve.h"
#include "../tool/symbols/store.h"
#include "put_format.h"

static store *symbols;    /* with the demo's dSYM */
static image_pool *files; /* opened from there */

#define DEMO "4c4c44b555553144a1ba79ca685dec58"

static void put_times(text *t, const char *c_string, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_c(t, c_string);
}

/* ---- What is measured ---- */

/* What is printed of one report. */
static void print(const report *r, const resolve_counts *counts, const write_options *writing, text *out)
{
    signature sign;
    out->len = 0;
    write_text(r, writing, out);
    out->len = 0;
    write_json(r, writing, counts, out);
    out->len = 0;
    summary_put(out, r, counts, false);
    signature_of(r, NULL, &sign);
    text_free(&sign.words);
}

static walk_step look_up(void *context, report *r, resolve_counts *counts)
{
    resolve_options how;
    redactor key;
    text out = {0};
    (void)context;
    memset(&how, 0, sizeof how);
    how.all = true;
    resolve_report(r, files, &how, counts);
    redact_open(&key, "words");
    redact_report(&key, (machsym_str){r->body, r->len}, &out, NULL);
    text_free(&out);
    return WALK_ANSWER;
}

/* One of the reports that an input holds. */
static bool answer(void *context, report *one, const resolve_counts *counts)
{
    write_options writing = {false, true, false, false};
    missing_list missing;
    text out = {0};
    (void)context;
    memset(&missing, 0, sizeof missing);
    print(one, counts, &writing, &out);
    out.len = 0;
    summary_put_brief(&out, one, counts);
    missing_add_report(&missing, one);
    missing_put_text(&missing, &out);
    missing_put_json(&missing, &out);
    missing_free(&missing);
    text_free(&out);
    return true;
}

/* All of an input, as the tool goes through it. */
static unsigned long long use(const text *input)
{
    write_options writing = {false, true, false, false};
    report_walk walk;
    text out = {0};
    work = 0;
    memset(&walk, 0, sizeof walk);
    walk.same = &writing;
    walk.look_up = look_up;
    walk.answer = answer;
    CHECK(walk_all(&walk, (machsym_str){input->v, input->len}, &out));
    text_free(&out);
    return work;
}

static unsigned long long spring(void (*set)(text *t, size_t n), size_t n, size_t *size)
{
    text t = {0};
    set(&t, n);
    unsigned long long cost = use(&t);
    *size = t.len;
    text_free(&t);
    return cost;
}

/* What costs the same at any size, opening the dSYM above all, is no part of what grows. */
static void check_growth(const char *name, const unsigned long long *cost, size_t size)
{
    unsigned long long one = cost[1] - cost[0];
    unsigned long long four = cost[2] - cost[0];
    bool linear = cost[1] > cost[0] && four * 10 <= one * 44;
    test_count(linear);
    if (!linear || getenv("VERBOSE") != NULL)
        printf("%s: work %llu, at four times the size %llu: %.2f times; %.2f steps a byte\n", name, one, four,
               (double)four / (double)one, (double)four / (double)size);
    fflush(stdout);
}

static void check_trap(const char *name, void (*set)(text *t, size_t n), size_t n)
{
    unsigned long long cost[3];
    size_t size;
    cost[0] = spring(set, 1, &size);
    cost[1] = spring(set, n, &size);
    if (!test_measures_growth()) {
        CHECK(cost[1] > cost[0]);
        return;
    }
    cost[2] = spring(set, 4 * n, &size);
    check_growth(name, cost, size);
}

/* A name on the command line runs that trap alone. */
#define TRAP(set, n)                                                                                         \
    if (argc < 2 || strcmp(argv[1], #set) == 0)                                                              \
    check_trap(#set, set, n)

/* ---- Text ---- */

static void put_thread(text *t, size_t number)
{
    put_format(t, "\nThread %zu:\n", number);
}

static void put_frame(text *t, size_t index, unsigned long long addr)
{
    put_format(t, "%-3zu demo                          \t0x%016llx 0x102a30000 + 1\n", index, addr);
}

static void put_demo_image(text *t)
{
    text_c(t, "\nBinary Images:\n0x102a30000 - 0x102a33fff demo arm64  <" DEMO "> /demo\n");
}

static void frames_of_one_address(text *t, size_t n)
{
    text_c(t, "Process: demo [1]\n");
    put_thread(t, 0);
    for (size_t i = 0; i < n; i++)
        put_frame(t, i, 0x102a30aec);
    put_demo_image(t);
}

static void reports_in_a_row(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        text_c(t, "Process: demo [1]\nException Type: EXC_CRASH\n");
        put_thread(t, 0);
        put_frame(t, 0, 0x102a30a7c);
        put_demo_image(t);
        text_c(t, "{\"bug_type\":\"309\",\"os_version\":\"\"}\n{}\n");
    }
}

static void frames_of_every_address(text *t, size_t n)
{
    put_thread(t, 0);
    for (size_t i = 0; i < n; i++)
        put_frame(t, i, 0x102a30000 + i * 7919 % 0x4000);
    put_demo_image(t);
}

static void threads_of_one_frame(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_format(t, "\nThread %zu name: Dispatch queue: q\n", i);
        put_thread(t, i);
        put_frame(t, 0, 0x102a30aec);
    }
    put_demo_image(t);
}

/* Each reaches over all that begin after it; in no order. */
static void images_that_overlap(text *t, size_t n)
{
    put_thread(t, 0);
    for (size_t i = 0; i < n; i++)
        put_frame(t, i, 0x100000000 + i * 104729 % n * 4096);
    text_c(t, "\nBinary Images:\n");
    for (size_t i = 0; i < n; i++)
        put_format(t, "0x%llx - 0x7fffffff0000 lib%zu arm64  <%032zx> /usr/lib/lib%zu\n",
                   0x100000000 + (unsigned long long)(i * 7919 % n) * 4096, i, i, i);
}

static void images_of_one_base(text *t, size_t n)
{
    put_thread(t, 0);
    for (size_t i = 0; i < n; i++)
        put_frame(t, i, 0x102a30aec);
    text_c(t, "\nBinary Images:\n");
    for (size_t i = 0; i < n; i++)
        put_format(t, "0x102a30000 - ??? lib%zu arm64  <%032zx> /lib%zu\n", i, i, i);
}

static void images_of_one_uuid(text *t, size_t n)
{
    put_thread(t, 0);
    for (size_t i = 0; i < n; i++)
        put_frame(t, i, 0x100000000 + i * 0x4000 + 0xaec);
    text_c(t, "\nBinary Images:\n");
    for (size_t i = 0; i < n; i++)
        put_format(t, "0x%zx - 0x%zx demo arm64  <" DEMO "> /demo\n", (size_t)0x100000000 + i * 0x4000,
                   (size_t)0x100003fff + i * 0x4000);
}

/* Each is the program, whose version is long. */
static void images_of_the_program(text *t, size_t n)
{
    text_c(t, "Process: prog [1]\nVersion: ");
    put_times(t, "1", n);
    put_thread(t, 0);
    for (size_t i = 0; i < n; i++)
        put_frame(t, i, 0x100000000 + i * 0x4000 + 0xaec);
    text_c(t, "\nBinary Images:\n");
    for (size_t i = 0; i < n; i++)
        put_format(t, "0x%zx - 0x%zx prog arm64  <%032zx> /prog\n", (size_t)0x100000000 + i * 0x4000,
                   (size_t)0x100003fff + i * 0x4000, i);
}

/* A spindump of many processes. */
static void processes_of_one_frame(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_format(t,
                   "Process: demo [%zu]\n\n  Thread 0x1  1 sample\n  1  ??? (demo + 2796) [0x102a30aec]\n\n"
                   "  Binary Images:\n 0x102a30000 - 0x102a33fff demo (1) <" DEMO "> /demo\n\n",
                   i);
    }
}

static void tree_of_many_levels(text *t, size_t n)
{
    text_c(t, "Call graph:\n    1 Thread_1\n");
    for (size_t i = 0; i < n; i++) {
        put_times(t, " ", 4 + i % 100);
        text_c(t, "1 ???  (in demo)  load address 0x102a30000 + 0xaec  [0x102a30aec]\n");
    }
    put_demo_image(t);
}

/* Pieces that the parsers look for, over and over on one line, at the begin of it and after a frame's
 * address. */
static const char *const snippets[] = {
    " + 1",      " + ",        "(",          ")",      ") (",     "<",     ">",    "[0x1",  "[",
    "] ",        "]",          "0x",         "0x1 ",   "0x1,",    " in ",  "(in ", ":",     " (a:1)",
    "/",         " /",         "1 ",         "   ",    "\\n",     "&amp;", "&",    " ",     "\t",
    "a: ",       "[inlined]",  "{",          "[{",     "\"",      "*",     "0",    "- ",    "???",
    "Thread ",   "\r",         "\n",         "(0x1\n", "[\n",     "{\n",   "+",    "!|",    "/Users/",
    "/Users/a ", "\\/home\\/", "a:b",        "\"a\":", "\"a\":{", "::",    "'",    " (0x1", "0x1\n(\n",
    "\n\n(",     "{}\n",       "{\"a\":1}\n"};

static const char *snippet;

static void one_long_line(text *t, size_t n)
{
    put_times(t, snippet, n);
}

static void one_long_frame(text *t, size_t n)
{
    put_thread(t, 0);
    text_c(t, "0   demo 0x0000000102a30aec ");
    put_times(t, snippet, n);
    put_demo_image(t);
}

static void one_long_tree_line(text *t, size_t n)
{
    text_c(t, "Call graph:\n    1 Thread_1\n    1 ???");
    put_times(t, snippet, n);
    text_c(t, " (in demo) [0x102a30aec]\n");
    put_demo_image(t);
}

static void one_long_image(text *t, size_t n)
{
    put_thread(t, 0);
    put_frame(t, 0, 0x102a30aec);
    put_demo_image(t);
    text_c(t, "0x103000000 - 0x103003fff ");
    put_times(t, snippet, n);
}

static void lines_of_one_snippet(text *t, size_t n)
{
    put_thread(t, 0);
    for (size_t i = 0; i < n; i++) {
        text_c(t, snippet);
        text_char(t, '\n');
    }
}

static void check_snippets(const char *only)
{
    static void (*const traps[])(text * t, size_t n) = {one_long_line, one_long_frame, one_long_tree_line,
                                                        one_long_image, lines_of_one_snippet};
    static const char *const names[] = {"one_long_line", "one_long_frame", "one_long_tree_line",
                                        "one_long_image", "lines_of_one_snippet"};
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++) {
        for (size_t k = 0; k < sizeof snippets / sizeof snippets[0]; k++) {
            char name[64];
            snippet = snippets[k];
            snprintf(name, sizeof name, "%s, \"%s\"", names[i], snippet);
            if (only == NULL || strcmp(only, names[i]) == 0)
                check_trap(name, traps[i], 4000);
        }
    }
}

/* A row of addresses that is never closed, and then one more of them on every line. */
static void row_that_never_ends(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_c(t, "(0x102a30aec\n0x102a30aec 0x102a30aec\n");
}

/* ---- JSON ---- */

static void json_of_depth(text *t, size_t n)
{
    put_times(t, "[{\"frames\":", n);
}

/* As deep as it may be, again and again. */
static void json_that_breaks(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_times(t, "[", 100);
        text_c(t, "\n");
    }
}

static void strings_of_escapes(text *t, size_t n)
{
    text_c(t, "{\"usedImages\":[],\"threads\":[],\"procName\":\"");
    put_times(t, "\\u00e9\\n", n);
    text_c(t, "\"}");
}

static void documents(text *t, size_t n)
{
    put_times(t, "{\"bug_type\":\"309\",\"timestamp\":\"x\"}\n", n);
}

static void put_ips(text *t, size_t images, size_t frames, const char *name, size_t name_times)
{
    text_c(t, "{\"usedImages\":[");
    for (size_t i = 0; i < images; i++) {
        put_format(
            t,
            "%s{\"base\":%llu,\"size\":16384,\"uuid\":\"4C4C44B5-5555-3144-A1BA-79CA685DEC58\",\"name\":\"",
            i > 0 ? "," : "", 4339204096 + (unsigned long long)i * 16384);
        put_times(t, name, name_times);
        text_c(t, "\",\"path\":\"/");
        put_times(t, name, name_times);
        text_c(t, "\"}");
    }
    text_c(t, "],\"faultingThread\":0,\"threads\":[{\"frames\":[");
    for (size_t i = 0; i < frames; i++)
        put_format(t, "%s{\"imageIndex\":%zu,\"imageOffset\":%zu}", i > 0 ? "," : "", i % images, i % 16384);
    text_c(t, "]}]}");
}

static void ips_of_many_images(text *t, size_t n)
{
    put_ips(t, n, n, "demo", 1);
}

/* Every frame is in an image of a long name, which is one of the system's, as the end of its path says. */
static void ips_of_one_long_name(text *t, size_t n)
{
    put_ips(t, 1, n, "name/Preboot/Cryptexes/", n);
}

static void ips_of_repeated_keys(text *t, size_t n)
{
    text_c(t, "{");
    put_times(t, "\"usedImages\":[],\"threads\":[{\"frames\":[{\"imageIndex\":0,\"imageIndex\":0}]}],", n);
    text_c(t, "\"procName\":\"demo\"}");
}

/* One frame of many unknown members. */
static void ips_of_one_long_frame(text *t, size_t n)
{
    text_c(t, "{\"usedImages\":[{\"base\":4339204096,\"size\":16384,\"uuid\":\"4C4C44B5-5555-3144-A1BA-"
              "79CA685DEC58\"}]"
              ",\"threads\":[{\"frames\":[{\"imageIndex\":0,\"imageOffset\":2796");
    put_times(t, ",\"x\":[{}]", n);
    text_c(t, "}]}]}");
}

/* Stacks as text in strings. */
static void ips_of_many_backtraces(text *t, size_t n)
{
    text_c(t, "{\"usedImages\":[{\"base\":4339204096,\"size\":16384,\"uuid\":\"4C4C44B5-5555-3144-A1BA-"
              "79CA685DEC58\"}]"
              ",\"threads\":[],\"asiBacktraces\":[");
    for (size_t i = 0; i < n; i++)
        put_format(t, "%s\"0   demo 0x0000000102a30aec 0x102a30000 + 1\\n\"", i > 0 ? "," : "");
    text_c(t, "]}");
}

/* Calls that the report shows as inlined, all of one address: they go when it is looked up anew. */
static void ips_of_inlined_calls(text *t, size_t n)
{
    text_c(t, "{\"usedImages\":[{\"base\":4339204096,\"size\":16384,\"uuid\":\"4C4C44B5-5555-3144-A1BA-"
              "79CA685DEC58\"}]"
              ",\"threads\":[{\"frames\":[");
    for (size_t i = 0; i < n; i++)
        text_c(t, "{\"imageIndex\":0,\"imageOffset\":2796,\"symbol\":\"x\",\"inline\":true},  ");
    text_c(t, "{\"imageIndex\":0,\"imageOffset\":2796}]}]}");
}

static void sentry_of_many_threads(text *t, size_t n)
{
    text_c(t, "{\"debug_meta\":{\"images\":[");
    for (size_t i = 0; i < n; i++)
        put_format(t,
                   "%s{\"debug_id\":\"4C4C44B5-5555-3144-A1BA-79CA685DEC58\",\"image_addr\":\"0x%zx\","
                   "\"image_size\":16384}",
                   i > 0 ? "," : "", (size_t)0x100000000 + i * 16384);
    text_c(t, "]},\"threads\":{\"values\":[");
    for (size_t i = 0; i < n; i++)
        put_format(t, "%s{\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x%zx\"}]}}", i > 0 ? "," : "",
                   (size_t)0x100000aec + i * 16384);
    text_c(t, "]}}");
}

static void kscrash_of_many_images(text *t, size_t n)
{
    text_c(t, "{\"binary_images\":[");
    for (size_t i = 0; i < n; i++)
        put_format(
            t,
            "%s{\"uuid\":\"4C4C44B5-5555-3144-A1BA-79CA685DEC58\",\"image_addr\":%zu,\"image_size\":16384}",
            i > 0 ? "," : "", (size_t)0x100000000 + i * 16384);
    text_c(t, "],\"crash\":{\"threads\":[{\"backtrace\":{\"contents\":[");
    for (size_t i = 0; i < n; i++)
        put_format(t, "%s{\"instruction_addr\":%zu,\"object_name\":\"demo\"}", i > 0 ? "," : "",
                   (size_t)0x100000aec + i * 16384);
    text_c(t, "]}}]}}");
}

/* ---- PLCrashReporter ---- */

static void put_varint(text *t, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        text_char(t, (char)((number & 0x7f) | 0x80));
    text_char(t, (char)number);
}

static void put_message(text *t, unsigned field, const text *bytes)
{
    put_varint(t, field << 3 | 2);
    put_varint(t, bytes->len);
    text_add(t, bytes->v, bytes->len);
}

/* Little endian, of any size: bytes after the eighth are 0. */
static void put_le(text *t, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++, value >>= 8)
        text_char(t, (char)value);
}

/* The header, the system (macOS on arm64), and an entry of the stream that follows. */
static void put_minidump(text *t, uint32_t kind, size_t size)
{
    enum { HEADER = 32, ENTRIES = 24, SYSTEM = 56 };
    text_add(t, "MDMP\x93\xa7\0\0", 8);
    put_le(t, 2, 4);
    put_le(t, HEADER, 4);
    put_le(t, 0, 16);
    put_le(t, 7, 4);
    put_le(t, SYSTEM, 4);
    put_le(t, HEADER + ENTRIES, 4);
    put_le(t, kind, 4);
    put_le(t, size, 4);
    put_le(t, HEADER + ENTRIES + SYSTEM, 4);
    put_le(t, 12, 4);
    put_le(t, 0, 16);
    put_le(t, 0x8101, 4);
    put_le(t, 0, 32);
}

/* Threads that share a stack, in which each record of a frame leads to the next one, and their registers. */
static void minidump_of_many_threads(text *t, size_t n)
{
    enum { STREAM = 112, RECORD = 48, REGISTERS = 272 };
    size_t registers = STREAM + 4 + n * RECORD;
    put_minidump(t, 3, 4 + n * RECORD);
    put_le(t, n, 4);
    for (size_t i = 0; i < n; i++) {
        put_le(t, i, 8);
        put_le(t, 0, 16);
        put_le(t, 0x16f000000, 8);
        put_le(t, n * 16, 4);
        put_le(t, registers + REGISTERS, 4);
        put_le(t, REGISTERS, 4);
        put_le(t, registers, 4);
    }
    put_le(t, 0x400003, 8);
    put_le(t, 0, 8);
    for (size_t i = 1; i < 33; i++)
        put_le(t, i == 29 ? 0x16f000000 : i == 31 ? 0x16f000000 : 0x100000000, 8);
    for (size_t i = 0; i < n; i++) {
        put_le(t, 0x16f000000 + (i + 1) * 16, 8);
        put_le(t, 0x100000000 + i, 8);
    }
}

/* Segments that all lie at one place of the file, where an image has as many load commands. */
static void core_of_one_image(text *t, size_t n)
{
    enum { SEGMENT = 72, COMMAND = 24 };
    size_t image = 32 + n * SEGMENT;
    for (size_t i = 0; i < 2; i++) { /* the core's header, and the image's */
        put_le(t, 0xfeedfacf, 4);
        put_le(t, 0x0100000c, 8);
        put_le(t, i == 0 ? 4 : 6, 4);
        put_le(t, n, 4);
        put_le(t, n * (i == 0 ? SEGMENT : COMMAND), 4);
        put_le(t, 0, 8);
        for (size_t k = 0; k < n && i == 0; k++) {
            put_le(t, 0x19, 4);
            put_le(t, SEGMENT, 4);
            put_le(t, 0, 16);
            put_le(t, 0x100000000 + k * 0x4000000, 8);
            put_le(t, 0x4000000, 8);
            put_le(t, image, 8);
            put_le(t, 32 + n * COMMAND, 8);
            put_le(t, 0, 16);
        }
        for (size_t k = 0; k < n && i == 1; k++) {
            put_le(t, 0x1b, 4);
            put_le(t, COMMAND, 4);
            put_le(t, k, 8);
            put_le(t, k, 8);
        }
    }
}

/* Notes that all have one list of as many images. */
static void core_of_many_lists(text *t, size_t n)
{
    enum { NOTE = 40, IMAGE = 48 };
    size_t list = 32 + n * NOTE;
    put_le(t, 0xfeedfacf, 4);
    put_le(t, 0x0100000c, 8);
    put_le(t, 4, 4);
    put_le(t, n, 4);
    put_le(t, n * NOTE, 4);
    put_le(t, 0, 8);
    for (size_t i = 0; i < n; i++) {
        put_le(t, 0x31, 4);
        put_le(t, NOTE, 4);
        text_add(t, i % 2 == 0 ? "all image infos\0" : "load binary\0\0\0\0\0", 16);
        put_le(t, list, 8);
        put_le(t, 24 + n * IMAGE, 8);
    }
    put_le(t, 1, 4);
    put_le(t, n, 4);
    put_le(t, list + 24, 8);
    put_le(t, IMAGE, 8);
    for (size_t i = 0; i < n; i++) {
        put_le(t, list + 24 + i * IMAGE, 8);
        put_le(t, 0x4141414141414141, 8);
        put_le(t, 0x4141414141414141, 8);
        put_le(t, 0x100000000 + i * 0x4000, 8);
        put_le(t, 0x4141414141414141, 8);
        put_le(t, 0x4141414141414141, 8);
    }
}

/* n images that all have one name. The name has `characters` characters for each image. */
static void put_images_of_one_name(text *t, size_t n, size_t characters)
{
    enum { STREAM = 112, RECORD = 108 };
    put_minidump(t, 4, 4 + n * RECORD);
    put_le(t, n, 4);
    for (size_t i = 0; i < n; i++) {
        put_le(t, 0x100000000 + i * 7919 % n * 0x4000, 8);
        put_le(t, 0x4000, 4);
        put_le(t, 0, 8);
        put_le(t, STREAM + 4 + n * RECORD, 4);
        for (size_t k = 0; k < RECORD - 24; k++)
            text_char(t, 0);
    }
    put_le(t, n * characters * 2, 4);
    for (size_t i = 0; i < n * characters; i++)
        put_le(t, 'x', 2);
}

/* The name is as long as all records. */
static void minidump_of_one_long_name(text *t, size_t n)
{
    put_images_of_one_name(t, n, 54);
}

/* The last names that may be taken leave more than half of one. */
static void minidump_of_refused_names(text *t, size_t n)
{
    put_images_of_one_name(t, n, 60);
}

/* Images, and a frame in each. */
static void plcrash_of_many_images(text *t, size_t n)
{
    text thread = {0};
    text_add(t, "plcrash\1", 8);
    for (size_t i = 0; i < n; i++) {
        text image = {0};
        text frame = {0};
        text_char(&image, 1 << 3);
        put_varint(&image, 0x100000000 + i * 7919 % n * 0x4000);
        text_char(&image, 2 << 3);
        put_varint(&image, 0x4000);
        put_message(t, 4, &image);
        text_char(&frame, 3 << 3);
        put_varint(&frame, 0x100000aec + i * 0x4000);
        put_message(&thread, 2, &frame);
        text_free(&image);
        text_free(&frame);
    }
    put_message(t, 3, &thread);
    text_free(&thread);
}

/* ---- Crashlytics ---- */

/* An image a frame, and frames that have the name of one. */
static void crashlytics_of_many_images(text *t, size_t n)
{
    text_c(t, "# Crashlytics - Stack trace\nFatal Exception: E\n");
    for (size_t i = 0; i < n; i++) {
        put_format(t, "%zu  lib%zu 0xaec (Missing UUID %032zx)\n", i, i, i);
        put_format(t, "%zu  lib%zu 0xaec name + 1\n", i, n - i);
    }
}

/* ---- MetricKit ---- */

static void put_metric_frame(text *t, size_t base)
{
    put_format(
        t,
        "{\"binaryUUID\":\"4C4C44B5-5555-3144-A1BA-79CA685DEC58\",\"offsetIntoBinaryTextSegment\":2796,"
        "\"binaryName\":\"demo\",\"address\":%zu}",
        base + 2796);
}

/* Frames of images that all differ, in the order step says. */
static void put_metric(text *t, size_t n, size_t step)
{
    text_c(t, "{\"callStackTree\":{\"callStackPerThread\":true,\"callStacks\":[{\"callStackRootFrames\":[");
    for (size_t i = 0; i < 2 * n; i++) {
        text_c(t, i > 0 ? "," : "");
        put_metric_frame(t, 0x100000000 + i * 7919 % n * step);
    }
    text_c(t, "]}]}}");
}

static void metric_of_many_images(text *t, size_t n)
{
    put_metric(t, n, 0x1000);
}

static void metric_of_distant_images(text *t, size_t n)
{
    put_metric(t, n, (size_t)1 << 22);
}

static void metric_of_repeated_keys(text *t, size_t n)
{
    text_c(t, "{\"a\":{");
    put_times(t, "\"b\":0,\"callStackTree\":{},\"diagnosticMetaData\":{},", n);
    put_times(t, "\"callStackRootFrames\":[{\"callStackRootFrames\":[]}],", n);
    text_c(t, "\"b\":0}}");
}

/* Diagnostics of one payload, each a report of its own. */
static void metric_of_many_diagnostics(text *t, size_t n)
{
    text_c(t, "{\"hangDiagnostics\":[");
    for (size_t i = 0; i < n; i++) {
        text_c(t, i > 0 ? "," : "");
        text_c(t, "{\"callStackTree\":{\"callStacks\":[{\"callStackRootFrames\":[");
        put_metric_frame(t, 0x100000000 + i * 0x1000);
        text_c(t, "]}]},\"diagnosticMetaData\":{\"hangDuration\":\"1 sec\"}}");
    }
    text_c(t, "]");
    for (size_t i = 0; i < n; i++)
        text_c(t, ",\"b\":0");
    text_c(t, "}");
}

/* Branches of branches, the heaviest one last. */
static void metric_of_branches(text *t, size_t n)
{
    size_t depth = 100;
    text_c(t, "{\"callStackTree\":{\"callStacks\":[{\"callStackRootFrames\":[");
    for (size_t i = 0; i < depth; i++) {
        for (size_t k = 0; k < n / depth; k++) {
            put_metric_frame(t, 0x100000000);
            text_char(t, ',');
        }
        text_c(
            t,
            "{\"address\":4339206892,\"offsetIntoBinaryTextSegment\":2796,\"sampleCount\":9,\"subFrames\":[");
    }
    put_times(t, "]}", depth);
    text_c(t, "]}]}}");
}

/* Frames in frames, and trees in trees. */
static void metric_of_depth(text *t, size_t n)
{
    size_t depth = 1000;
    text_c(t, "{\"callStackTree\":{\"callStacks\":[");
    for (size_t i = 0; i < n / depth + 1; i++) {
        text_c(t, i > 0 ? ",{\"callStackRootFrames\":[" : "{\"callStackRootFrames\":[");
        for (size_t k = 0; k < depth; k++) {
            text_c(t, "{\"address\":4339206892,\"offsetIntoBinaryTextSegment\":2796,\"subFrames\":[");
        }
        put_times(t, "]}", depth + 1);
    }
    text_c(t, "]}}");
}

/* ---- Encodings ---- */

static void reports_in_utf16(text *t, size_t n)
{
    text plain = {0};
    frames_of_one_address(&plain, n);
    text_add(t, "\xff\xfe", 2);
    for (size_t i = 0; i < plain.len; i++) {
        text_char(t, plain.v[i]);
        text_char(t, 0);
    }
    text_free(&plain);
}

/* ---- Groups ---- */

/* Reports of some signatures, on top of a state when there is one. */
typedef struct grouping {
    uint64_t step; /* from one hash to the next */
    size_t count;  /* of signatures; 0: as many as reports */
    const char *state;
    size_t of_stack; /* the number of exceptions in a row with one stack; 0: each has its own */
} grouping;

static group_list *add_reports(size_t n, const grouping *how)
{
    group_list *groups = groups_open();
    CHECK(how->state == NULL || state_read(groups, how->state));
    for (size_t i = 0; i < n; i++) {
        size_t number = how->count != 0 ? i % how->count : i;
        signature s;
        memset(&s, 0, sizeof s);
        text name = {0};
        text exception = {0};
        put_format(&name, "name%zu", how->of_stack > 0 ? number / how->of_stack : number);
        put_format(&exception, "kind%zu", how->of_stack > 0 ? number % how->of_stack : 0);
        machsym_str parts[PART_COUNT] = {{NULL, 0}};
        parts[PART_EXCEPTION] = str_make(exception.v, exception.len);
        parts[PART_STACK] = str_make(name.v, name.len);
        signature_compose(&s, parts);
        text_free(&name);
        text_free(&exception);
        s.hash = how->state != NULL ? s.hash : number * how->step;
        s.frames[0] = s.hash + 1;
        s.frame_count = 1;
        snprintf(s.day, sizeof s.day, "2026-03-%02u", (unsigned)(i % 31 + 1));
        snprintf(s.version, sizeof s.version, "1.%u", (unsigned)(i % 100));
        groups_add(groups, "report", &s);
    }
    return groups;
}

static unsigned long long group_reports(size_t n, const grouping *how)
{
    text out = {0};
    work = 0;
    group_list *groups = add_reports(n, how);
    groups_print(groups, false, &out);
    groups_close(groups);
    text_free(&out);
    return work;
}

static void check_groups(const char *name, const grouping *how)
{
    unsigned long long cost[3];
    cost[0] = group_reports(1, how);
    cost[1] = group_reports(1000, how);
    cost[2] = group_reports(4000, how);
    check_growth(name, cost, 4000);
}

/* Tomorrow's reports of groups that the state knows. */
static void check_state(void)
{
    char path[] = "/tmp/machsym-test-XXXXXX";
    grouping how = {0, 200, NULL, 0};
    text out = {0};
    FILE *file = fdopen(mkstemp(path), "wb");
    group_list *groups = add_reports(200, &how);
    for (size_t i = 0; i < groups->waiting_count; i++) {
        signature *s = &groups->waiting[i].sign;
        s->hash = str_hash(str_make(s->words.v, s->words.len));
    }
    groups_print(groups, false, &out);
    out.len = 0;
    groups_put_state(groups, &out);
    groups_close(groups);
    CHECK(file != NULL && fwrite(out.v, 1, out.len, file) == out.len && fclose(file) == 0);
    text_free(&out);
    how.state = path;
    check_groups("reports on top of a state", &how);
    remove(path);
}

/* Signatures whose hashes end in the same bits, or are the same: who makes reports can make such names. */
static void check_all_groups(void)
{
    static const grouping alike = {(uint64_t)1 << 32, 0, NULL, 0};
    static const grouping same = {0, 0, NULL, 0};
    static const grouping few = {1, 50, NULL, 0};
    static const grouping of_stack = {1, 0, NULL, 60};
    static const grouping of_one = {1, 0, NULL, 1000000};
    check_groups("signatures that end alike", &alike);
    check_groups("signatures of one hash", &same);
    check_groups("sixty exceptions of each stack", &of_stack);
    check_groups("all exceptions of one stack", &of_one);
    check_groups("many reports of few groups", &few);
    check_state();
}

/* ---- Developers' stacks, and reports of the system ---- */

/* Each frame has a module of its own. */
static void sanitizer_of_many_images(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_format(t, "    #%zu 0x102a30aec in f (m%zu:arm64+0x100000aec) (BuildId: " DEMO ")\n", i, i);
}

/* Each line may begin what is looked for below it, and ends the search for the one ahead. */
static void headers_and_braces(text *t, size_t n)
{
    put_times(t, "Call graph:\n{\nDate/Time:\n", n);
}

/* The words of runtimes and logs, whose stacks are looked for below them. */
static void runtimes_without_stacks(text *t, size_t n)
{
    text_c(t, "goroutine 1 [running]:\n#0 0x102a30aec\n");
    put_times(t, "panic: a\nthread 'a' panicked at b\na.c:1:2: runtime error: c\n", n);
}

static void objects_in_objects(text *t, size_t n)
{
    size_t depth = 50;
    text_c(t, "{\"rows\":[");
    for (size_t i = 0; i < n / depth + 1; i++) {
        text_c(t, i > 0 ? "," : "");
        put_times(t, "{\"crash\":{},\"error\":{},\"debug_meta\":{\"a\":[", depth / 2);
        put_times(t, "]}}", depth / 2);
    }
    text_c(t, "]}\n");
}

/* Each object is searched for the members of reports. The document has many other members. */
static void objects_beside_each_other(text *t, size_t n)
{
    text_c(t, "[1");
    put_times(t, ",{\"a\":{\"b\":[{\"exceptions\":[{\"stacktrace\":[{}]}]}]}}", n);
    text_c(t, "]\n");
}

/* After each report a brace could begin a document, but does not. */
static void reports_and_braces(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        text_c(t, "Incident Identifier: 1\nProcess: a [1]\nException Type: EXC_CRASH\nThread 0:\n0 a 0x1 0x0 "
                  "+ 1\n");
        text_c(t, "\nBinary Images:\n0x0 - 0x10 a arm64 <0> /a\n\n{\n");
    }
}

/* Each line could go on after each of its ends. */
static void lines_behind_prefixes(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_c(t, "> > a: b] c| d) 1 2 Z 3] 4: 5| 0 x 0x1 0x2\n");
}

/* One line that each parser may search from each of its places. */
static void frames_of_one_long_name(text *t, size_t n)
{
    text_c(t, "frame #0: 0x102a30aec demo`");
    put_times(t, " at  in  + 1 [opt]", n);
    text_c(t, "\n0 [ra] 0x102a30aec ");
    put_times(t, " in  at  + 1", n);
    text_c(t, " in demo\n#0 0x102a30aec in ");
    put_times(t, "a+0x1 (b) (c:d+0x1)", n);
    text_c(t, "\n#00 abs 102a30aec ");
    put_times(t, " + 1 (a:1)", n);
}

static void log_of_repeated_keys(text *t, size_t n)
{
    text_c(t, "{\"eventMessage\":\"m\",");
    put_times(t, "\"k\":1,", n);
    text_c(t, "\"backtrace\":{\"frames\":[");
    put_times(t, "{\"imageOffset\":2684,\"imageUUID\":\"4C4C44B5-5555-3144-A1BA-79CA685DEC58\"},", n);
    text_c(t, "0]}}\n");
}

/* Every frame is told once, and referred to from then on. */
static void xctrace_of_references(text *t, size_t n)
{
    text_c(t, "<trace-query-result><backtrace id=\"1\">");
    for (size_t i = 0; i < n; i++)
        put_format(t, "<frame id=\"%zu\" addr=\"0x102a30aec\"><binary ref=\"%zu\"/></frame>", i + 2, i);
    for (size_t i = 0; i < n; i++)
        put_format(t, "<frame ref=\"%zu\"/>", i + 2);
}

static void stackshot_of_many_frames(text *t, size_t n)
{
    text_c(t, "{\"binaryImages\":[");
    put_times(t, "[\"4c4c44b5-5555-3144-a1ba-79ca685dec58\",4339204096,\"P\"],", n);
    text_c(t, "0],\"processByPid\":{\"1\":{\"threadById\":{\"1\":{\"userFrames\":[");
    for (size_t i = 0; i < n; i++)
        put_format(t, "[%zu,2684],", i);
    text_c(t, "0]}}}}}\n");
}

static void panic_of_many_extensions(text *t, size_t n)
{
    text_c(t,
           "panic(cpu 0 caller 0xfffffe0057271718): p\nKernel UUID: 4C4C44B5-5555-3144-A1BA-79CA685DEC58\n");
    for (size_t i = 0; i < n; i++)
        put_format(t, "lr: 0x%zx  fp: 0x1\nk%zu(1)[4C4C44B5-5555-3144-A1BA-79CA685DEC58]@0x%zx->0x%zx\n",
                   i * 4096 + 4, i, i * 4096, i * 4096 + 8);
}

static void arrays_of_frames(text *t, size_t n)
{
    text_c(t, "{\"a\":[");
    put_times(t, "[\"1 demo 0x0000000102a30a7c demo + 2684\",\"2 demo 0x0000000102a309fc x\"],", n);
    text_c(t, "0]}\n");
}

/* ---- atos ---- */

/* Answers a line that comes in pieces, as a pipe hands it over. The answers are not read. */
static unsigned long long answer_in_pieces(size_t n, const char *piece)
{
    atos a;
    text input = {0};
    memset(&a, 0, sizeof a);
    a.delimiter = "\n";
    work = 0;
    for (size_t i = 0; i < n; i++) {
        text_c(&input, piece);
        many_answer_part(&a, &input, strlen(piece));
    }
    text_free(&input);
    return work;
}

static void check_line(const char *piece)
{
    unsigned long long cost[3];
    cost[0] = answer_in_pieces(1, piece);
    cost[1] = answer_in_pieces(20000, piece);
    cost[2] = answer_in_pieces(80000, piece);
    check_growth("atos: one long line in pieces", cost, 80000 * strlen(piece));
}

int main(int argc, char **argv)
{
    store_options store_how = {true};
    images_options how;
    symbols = store_open(&store_how);
    CHECK(store_add(symbols, "tests/fixtures/bin/demo.app.dSYM", false));
    store_finish(symbols);
    memset(&how, 0, sizeof how);
    how.store = symbols;
    how.lines = MACHSYM_LINES_DWARF;
    how.jobs = 1;
    files = images_open(&how);
    TRAP(frames_of_one_address, 2000);
    TRAP(reports_in_a_row, 200);
    TRAP(frames_of_every_address, 4000);
    TRAP(threads_of_one_frame, 2000);
    TRAP(images_that_overlap, 2000);
    TRAP(images_of_one_base, 2000);
    TRAP(images_of_one_uuid, 2000);
    TRAP(images_of_the_program, 2000);
    TRAP(processes_of_one_frame, 1000);
    TRAP(tree_of_many_levels, 2000);
    TRAP(row_that_never_ends, 2000);
    TRAP(json_of_depth, 8000);
    TRAP(json_that_breaks, 2000);
    TRAP(strings_of_escapes, 4000);
    TRAP(documents, 2000);
    TRAP(ips_of_many_images, 2000);
    TRAP(ips_of_one_long_name, 4000);
    TRAP(ips_of_repeated_keys, 2000);
    TRAP(ips_of_one_long_frame, 4000);
    TRAP(ips_of_many_backtraces, 2000);
    TRAP(ips_of_inlined_calls, 2000);
    TRAP(sentry_of_many_threads, 2000);
    TRAP(kscrash_of_many_images, 2000);
    TRAP(plcrash_of_many_images, 2000);
    TRAP(minidump_of_many_threads, 2000);
    TRAP(minidump_of_one_long_name, 2000);
    TRAP(minidump_of_refused_names, 2000);
    TRAP(core_of_one_image, 2000);
    TRAP(core_of_many_lists, 2000);
    TRAP(crashlytics_of_many_images, 2000);
    TRAP(metric_of_many_images, 2000);
    TRAP(metric_of_distant_images, 2000);
    TRAP(metric_of_repeated_keys, 2000);
    TRAP(metric_of_depth, 4000);
    TRAP(metric_of_many_diagnostics, 2000);
    TRAP(metric_of_branches, 4000);
    TRAP(reports_in_utf16, 2000);
    TRAP(sanitizer_of_many_images, 1000);
    TRAP(reports_and_braces, 1000);
    TRAP(headers_and_braces, 1000);
    TRAP(runtimes_without_stacks, 1000);
    TRAP(objects_in_objects, 2000);
    TRAP(objects_beside_each_other, 1000);
    TRAP(lines_behind_prefixes, 1000);
    TRAP(frames_of_one_long_name, 2000);
    TRAP(log_of_repeated_keys, 1000);
    TRAP(xctrace_of_references, 1000);
    TRAP(stackshot_of_many_frames, 1000);
    TRAP(panic_of_many_extensions, 1000);
    TRAP(arrays_of_frames, 500);
    check_snippets(argc < 2 ? NULL : argv[1]);
    if (argc < 2) {
        check_line("x");
        check_line("0x1 ");
        check_all_groups();
    }
    images_close(files);
    store_close(symbols);
    return test_done();
}
