/* What one report may cost: a dSYM whose functions lie in hundreds of inlined calls with long names, and
 * reports of every form that ask for them. A report is written within the stated size, or fails; memory
 * has a bound either way. */
#include "counters.h"

#include "test.h"

#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/model/report.h"
#include "../report/read/recognise.h"
#include "../report/tell/summary.h"
#include "../report/write/call.h"
#include "../report/write/write.h"
#include "../tool/base/posix.h"
#include "../tool/base/say.h"
#include "../tool/symbols/images.h"
#include "../tool/symbols/resolve.h"
#include "../tool/symbols/store.h"
#include "dwarf.h"
#include "put_format.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What machsym.1 states: bytes of output, and of memory beside the images. */
enum { OUTPUT_FACTOR = 128, MEMORY_FACTOR = 600, MEMORY_RESOLVE = 6, MEMORY_BASE = 24 << 20 };

/* ---- A hostile dSYM ---- */

/* A function with `levels` inlined calls in each other. All have one name of name_len bytes. */
typedef struct hostile {
    unsigned levels;
    unsigned name_len;
    char letter;
} hostile;

static void put_long_name(bytes *b, const hostile *h)
{
    for (unsigned i = 0; i < h->name_len; i++)
        put8(b, (uint8_t)h->letter);
    put8(b, 0);
}

static void put_range(program *p, unsigned code)
{
    die(p, code);
    put_addr(p, &p->info, 0x1000);
    put32(&p->info, 0x1000);
}

/* Its UUID is sixteen times 0xab. */
static void write_dsym(const hostile *h, const char *path)
{
    program p;
    memset(&p, 0, sizeof p);
    ABBREV(&p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(&p, 2, TAG_subprogram, 0, AT_name, FORM_string);
    ABBREV(&p, 3, TAG_subprogram, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_abstract_origin,
           FORM_ref4);
    ABBREV(&p, 4, TAG_inlined_subroutine, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_abstract_origin,
           FORM_ref4);
    p.macho.uuid = 0xab;
    unit_begin(&p, dwarf4, 0, 0);
    put_range(&p, 1);
    uint64_t origin = local(&p, die(&p, 2));
    put_long_name(&p.info, h);
    for (unsigned i = 0; i <= h->levels; i++) {
        put_range(&p, i == 0 ? 3 : 4);
        put32(&p.info, origin);
    }
    put_zeros(&p.info, h->levels + 2);
    unit_end(&p);
    machsym_image_close(program_open(&p));
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(p.file.v, 1, p.file.len, file) != p.file.len || fclose(file) != 0)
        abort();
    program_free(&p);
}

/* ---- Reports ---- */

#define IMAGE_LINE                                                                                           \
    "\nBinary Images:\n0x100000000 - 0x100000fff demo arm64  <abababababababababababababababab> /demo\n"
#define IMAGE_UUID "abababab-abab-abab-abab-abababababab"

static void put_classic(text *t, unsigned frames)
{
    text_c(t, "Process: demo [1]\n\nThread 0:\n");
    for (unsigned i = 0; i < frames; i++)
        put_format(t, "%-3u demo                          \t0x%llx 0x100000000 + 1\n", i,
                   0x100000010ull + i % 7);
    text_c(t, IMAGE_LINE);
}

/* Every inlined call gets a line that begins as the frame's does. */
static void put_long_lines(text *t, unsigned frames)
{
    text_c(t, "Process: demo [1]\n\nThread 0:\n");
    for (unsigned i = 0; i <= frames / 20; i++) {
        put_format(t, "%-3u demo", i);
        for (unsigned k = 0; k < 1000; k++)
            text_c(t, "     ");
        put_format(t, "0x%llx 0x100000000 + 1\n", 0x100000010ull + i % 7);
    }
    text_c(t, IMAGE_LINE);
}

static void put_row(text *t, unsigned frames)
{
    text_c(t, "Last Exception Backtrace:\n(");
    for (unsigned i = 0; i < frames; i++)
        put_format(t, "0x%llx ", 0x100000010ull + i % 7);
    text_c(t, ")\n" IMAGE_LINE);
}

static void put_tree(text *t, unsigned frames)
{
    text_c(t, "Call graph:\n    1 Thread_1\n");
    for (unsigned i = 0; i < frames; i++)
        put_format(t, "    1 ???  (in demo)  load address 0x100000000 + 0x10  [0x%llx]\n",
                   0x100000010ull + i % 7);
    text_c(t, IMAGE_LINE);
}

static void put_ips(text *t, unsigned frames)
{
    text_c(t, "{\"usedImages\":[{\"base\":4294967296,\"size\":4096,\"uuid\":\"" IMAGE_UUID
              "\",\"name\":\"demo\"}],"
              "\"threads\":[{\"frames\":[");
    for (unsigned i = 0; i < frames; i++)
        put_format(t, "%s{\"imageIndex\":0,\"imageOffset\":%u}", i > 0 ? "," : "", 16 + i % 7);
    text_c(t, "]}]}");
}

static void put_sentry(text *t, unsigned frames)
{
    text_c(t, "{\"debug_meta\":{\"images\":[{\"debug_id\":\"" IMAGE_UUID "\",\"image_addr\":\"0x100000000\","
              "\"image_size\":4096}]},\"threads\":{\"values\":[{\"stacktrace\":{\"frames\":[");
    for (unsigned i = 0; i < frames; i++)
        put_format(t, "%s{\"instruction_addr\":\"0x%llx\"}", i > 0 ? "," : "", 0x100000010ull + i % 7);
    text_c(t, "]}}]}}");
}

static void put_metric(text *t, unsigned frames)
{
    text_c(t, "{\"callStackTree\":{\"callStackPerThread\":true,\"callStacks\":[{\"callStackRootFrames\":[");
    for (unsigned i = 0; i < frames; i++)
        put_format(t,
                   "%s{\"binaryUUID\":\"" IMAGE_UUID "\",\"offsetIntoBinaryTextSegment\":%u,\"binaryName\":"
                   "\"demo\",\"address\":%llu}",
                   i > 0 ? "," : "", 16 + i % 7, 4294967296ull + 16 + i % 7);
    text_c(t, "]}]}}");
}

static const struct {
    const char *name;
    void (*put)(text *t, unsigned frames);
} forms[] = {
    {"classic", put_classic}, {"long lines", put_long_lines}, {"row", put_row},      {"tree", put_tree},
    {"ips", put_ips},         {"sentry", put_sentry},         {"metric", put_metric}};

/* ---- What is measured ---- */

static bool is_bounded(const text *out, const text *input)
{
    return out->len <= RESOLVE_BYTES + (uint64_t)OUTPUT_FACTOR * input->len;
}

/* In a process of its own, for its memory: 0 written, 1 refused, 2 beyond what is stated. */
static int use(const text *input, image_pool *files)
{
    report r;
    resolve_counts counts;
    resolve_options how;
    write_options writing = {true, true, false, false};
    text out = {0};
    bool ok = true;
    memset(&how, 0, sizeof how);
    report_open(&r, input->v, input->len, NULL, 0);
    if (resolve_report(&r, files, &how, &counts) != NULL)
        return 1;
    write_same(&r, &writing, &out);
    ok = ok && is_bounded(&out, input);
    text_free(&out);
    write_text(&r, &writing, &out);
    ok = ok && is_bounded(&out, input);
    text_free(&out);
    write_json(&r, &writing, &counts, &out);
    ok = ok && is_bounded(&out, input);
    text_free(&out);
    summary_put(&out, &r, &counts, false);
    ok = ok && is_bounded(&out, input);
    text_free(&out);
    report_close(&r);
    return ok && counts.symbols + counts.dwarf > 0 ? 0 : 2;
}

static unsigned written;
static unsigned refused;

static void check_case(const char *form, const hostile *h, const text *input, image_pool *files)
{
    struct rusage used;
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(use(input, files));
    bool ok = child > 0 && wait4(child, &status, 0, &used) == child && WIFEXITED(status);
    int outcome = ok ? WEXITSTATUS(status) : 3;
    double memory = ok ? (double)used.ru_maxrss * 1024 : 0;
    double bound = MEMORY_BASE + (double)MEMORY_RESOLVE * RESOLVE_BYTES + (double)MEMORY_FACTOR * input->len;
    bool fits = outcome < 2 && (memory <= bound || test_is_sanitized());
    test_count(fits);
    written += outcome == 0;
    refused += outcome == 1;
    if (!fits || getenv("VERBOSE") != NULL)
        printf("%s, %u levels, %u letters, %zu bytes: outcome %d, %.0f MB, bound %.0f MB\n", form, h->levels,
               h->name_len, input->len, outcome, memory / 1e6, bound / 1e6);
}

static void check_dsym(const hostile *h)
{
    static const unsigned frames[] = {1, 60, 2000};
    char path[] = "/tmp/machsym-limits-XXXXXX";
    store_options store_how = {true};
    images_options how;
    close(mkstemp(path));
    write_dsym(h, path);
    store *symbols = store_open(&store_how);
    CHECK(store_add(symbols, path, false));
    store_finish(symbols);
    memset(&how, 0, sizeof how);
    how.store = symbols;
    how.lines = MACHSYM_LINES_DWARF;
    how.jobs = 1;
    image_pool *files = images_open(&how);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        for (size_t k = 0; k < sizeof frames / sizeof frames[0]; k++) {
            text input = {0};
            forms[i].put(&input, frames[k]);
            check_case(forms[i].name, h, &input, files);
            text_free(&input);
        }
    }
    images_close(files);
    store_close(symbols);
    unlink(path);
}

/* What a call of a function with this name counts, and how long its report is as HTML text and as JSON. */
typedef struct counted {
    uint64_t cost;
    size_t html;
    size_t json;
} counted;

static counted count_letter(char letter)
{
    hostile h = {0, 10, letter};
    char path[] = "/tmp/machsym-limits-XXXXXX";
    store_options store_how = {true};
    images_options how;
    resolve_options what;
    resolve_counts counts;
    write_options writing = {true, true, false, false};
    counted c = {0, 0, 0};
    report r;
    text input = {0}, out = {0};
    close(mkstemp(path));
    write_dsym(&h, path);
    store *symbols = store_open(&store_how);
    CHECK(store_add(symbols, path, false));
    store_finish(symbols);
    memset(&how, 0, sizeof how);
    memset(&what, 0, sizeof what);
    how.store = symbols;
    how.lines = MACHSYM_LINES_DWARF;
    how.jobs = 1;
    image_pool *files = images_open(&how);
    put_classic(&input, 1);
    text_c(&input, "&lt;pre&gt;\n"); /* from a page: names are written as it writes them */
    report_open(&r, input.v, input.len, NULL, 0);
    CHECK(resolve_report(&r, files, &what, &counts) == NULL && r.call_count == 1);
    c.cost = r.call_count == 1 ? r.calls[0].cost : 0;
    write_same(&r, &writing, &out);
    c.html = out.len;
    text_free(&out);
    write_json(&r, &writing, &counts, &out);
    c.json = out.len;
    text_free(&out);
    report_close(&r);
    text_free(&input);
    images_close(files);
    store_close(symbols);
    unlink(path);
    return c;
}

/* Every byte counts at least what it takes as HTML and as JSON, and printable ones that stay what they are count one. */
static void check_letters(void)
{
    counted plain = count_letter('x');
    for (unsigned i = 1; i < 256; i++) {
        counted c = count_letter((char)i);
        bool is_longer = c.html > plain.html || c.json > plain.json;
        CHECK(c.cost >= plain.cost && c.html <= plain.html + (c.cost - plain.cost));
        CHECK(c.json <= plain.json + (c.cost - plain.cost));
        if (is_longer)
            CHECK_EQ(c.cost,
                     plain.cost + (i == 1 ? 44 : 50)); /* five bytes more for each; a first \1 is no letter */
        else if (i >= ' ' && i < 0x7f)
            CHECK_EQ(c.cost, plain.cost);
    }
}

/* What would need more bytes than a size holds ends the program: on 32 bits real reports come near. */
static void check_sizes(void)
{
    for (int is_text = 0; is_text < 2; is_text++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            text t = {NULL, SIZE_MAX / 2 + 2, SIZE_MAX / 2 + 2};
            size_t cap = SIZE_MAX / 8;
            close(STDERR_FILENO);
            if (is_text)
                text_grow(&t, 10);
            else
                mem_double(NULL, &cap, 64);
            _exit(0);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
              WEXITSTATUS(status) == TOOL_ERROR);
    }
}

int main(void)
{
    static const hostile dsyms[] = {{0, 10, 'x'},   {0, 60000, '\1'}, {2, 1500, '\\'},
                                    {40, 200, '<'}, {250, 60, 'x'},   {250, 60000, 'x'}};
    /* A quick test takes every other one, from the largest names on. */
    size_t step = test_is_quick() ? 2 : 1;
    for (size_t i = step - 1; i < sizeof dsyms / sizeof dsyms[0]; i += step)
        check_dsym(&dsyms[i]);
    CHECK(written > 20 / step);
    CHECK(refused > 10 / step);
    check_letters();
    check_sizes();
    return test_done();
}
