/* ==== >> read/jetsam ====
 * Job: jetsam reports: what every process held when memory was short, and which was ended.
 * Offers: its reader, for read/formats.h.
 * Never: finds stacks: jetsam reports have no stacks.
 *
 * https://developer.apple.com/documentation/xcode/identifying-high-memory-use-with-jetsam-event-reports */
#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "formats.h"

#include <string.h>

/* Processes that are named individually. A report may list a thousand ended ones. */
enum { SHOWN_PROCESSES = 4 };

static const char *const reasons[][2] = {
    {"per-process-limit", "it used more memory than one process may"},
    {"vm-pageshortage", "the system had no more free memory, and it was the least important"},
    {"vm-compressor-space-shortage", "the system had no more space for compressed memory"},
    {"vm-compressor-thrashing",
     "the system only compressed and decompressed memory, and it was the least important"},
    {"fc-thrashing", "the system only read files anew that it had to forget, and it was the least important"},
    {"vnode-limit", "the system had no more vnodes: too many files were open"},
    {"highwater", "it went above the memory mark set for it, while memory was short"},
    {"jettisoned", "memory was wanted for something else"},
    {"zone-map-exhaustion", "the kernel had no more memory of its own"},
    {"disk-space-shortage", "the system had no more space on disk"},
    {"idle-exit", "it was idle, and its memory was wanted"},
};

/* The report that is read. */
typedef struct jetsam_pass {
    report *r;
    const json *doc;
    uint64_t page_size; /* 0: unknown */
    text words;
    unsigned ended; /* how many processes were ended */
} jetsam_pass;

/* "1562 MB (100000 pages)", or the pages alone. */
static void jetsam_put_pages(jetsam_pass *j, uint64_t pages)
{
    if (j->page_size > 0 && pages < UINT64_MAX / j->page_size) {
        text_dec(&j->words, (pages * j->page_size + (1 << 19)) >> 20);
        text_c(&j->words, " MB (");
    }
    text_dec(&j->words, pages);
    text_c(&j->words, j->page_size > 0 ? " pages)" : " pages");
}

static void jetsam_put_name(jetsam_pass *j, uint32_t process)
{
    text_str(&j->words, report_json_str(j->r, j->doc, json_get(j->doc, process, "name")));
    text_c(&j->words, " [");
    text_str(&j->words, json_raw(j->doc, json_get(j->doc, process, "pid")));
    text_char(&j->words, ']');
}

/* Writes the memory of a process, at most and at last, and its activity. */
static void jetsam_put_memory(jetsam_pass *j, uint32_t process)
{
    uint64_t pages;
    uint32_t at = JSON_NONE;
    const char *between = ", ";
    if (json_u64(j->doc, json_get(j->doc, process, "rpages"), &pages)) {
        text_c(&j->words, "; it held ");
        jetsam_put_pages(j, pages);
    }
    if (json_u64(j->doc, json_get(j->doc, process, "lifetimeMax"), &pages)) {
        text_c(&j->words, ", at most ");
        jetsam_put_pages(j, pages);
    }
    uint32_t states = json_get(j->doc, process, "states");
    while (json_next(j->doc, states, &at)) {
        text_c(&j->words, between);
        text_str(&j->words, json_raw(j->doc, at));
        between = " and ";
    }
}

static void jetsam_put_ended(jetsam_pass *j, uint32_t process)
{
    machsym_str reason = report_json_str(j->r, j->doc, json_get(j->doc, process, "reason"));
    if (reason.len == 0 || j->ended++ >= SHOWN_PROCESSES)
        return;
    text_c(&j->words, "ended: ");
    jetsam_put_name(j, process);
    text_c(&j->words, ", ");
    text_str(&j->words, reason);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (str_is(reason, reasons[i][0])) {
            text_c(&j->words, ": ");
            text_c(&j->words, reasons[i][1]);
        }
    }
    jetsam_put_memory(j, process);
    text_char(&j->words, '\n');
}

/* Finds the first process that was ended; the report is about it. */
static void jetsam_set_process(jetsam_pass *j, uint32_t process)
{
    size_t from = j->words.len;
    if (j->r->facts[FACT_PROCESS].len > 0 || json_get(j->doc, process, "reason") == JSON_NONE)
        return;
    jetsam_put_name(j, process);
    report_set_fact(j->r, FACT_PROCESS, pool_copy(&j->r->strings, j->words.v + from, j->words.len - from));
    j->words.len = from;
}

static void jetsam_put_largest(jetsam_pass *j, uint32_t processes)
{
    machsym_str largest = report_json_str(j->r, j->doc, json_get(j->doc, 0, "largestProcess"));
    uint32_t at = JSON_NONE;
    uint64_t pages;
    if (largest.len == 0)
        return;
    text_c(&j->words, "the largest process: ");
    text_str(&j->words, largest);
    while (json_next(j->doc, processes, &at)) {
        machsym_str name = report_json_str(j->r, j->doc, json_get(j->doc, at, "name"));
        if (str_equal(name, largest) && json_u64(j->doc, json_get(j->doc, at, "rpages"), &pages)) {
            text_c(&j->words, ", ");
            jetsam_put_pages(j, pages);
            break;
        }
    }
    text_char(&j->words, '\n');
}

static void jetsam_put_free(jetsam_pass *j, uint32_t status)
{
    uint64_t pages;
    if (!json_u64(j->doc, json_get(j->doc, json_get(j->doc, status, "memoryPages"), "free"), &pages))
        return;
    text_c(&j->words, "free memory of the machine: ");
    jetsam_put_pages(j, pages);
    text_char(&j->words, '\n');
}

bool report_tell_jetsam(const json *doc, uint32_t object)
{
    return json_is(doc, json_get(doc, object, "processes"), JSON_ARRAY) &&
           (json_get(doc, object, "memoryStatus") != JSON_NONE ||
            json_get(doc, object, "largestProcess") != JSON_NONE);
}

bool report_parse_jetsam(report *r, uint32_t doc_index)
{
    jetsam_pass j = {r, &r->docs[doc_index], 0, text_in(r->memory), 0};
    uint32_t processes = json_get(j.doc, 0, "processes");
    uint32_t status = json_get(j.doc, 0, "memoryStatus");
    uint32_t at = JSON_NONE;
    if (!report_tell_jetsam(j.doc, 0))
        return false;
    if (r->kind == REPORT_UNKNOWN)
        r->kind = REPORT_STACKLESS;
    report_set_fact(r, FACT_EVENT, str_c("jetsam"));
    report_set_fact(r, FACT_OS, report_json_str(r, j.doc, json_get(j.doc, 0, "build")));
    report_set_fact(r, FACT_HARDWARE, report_json_str(r, j.doc, json_get(j.doc, 0, "product")));
    if (!json_u64(j.doc, json_get(j.doc, status, "pageSize"), &j.page_size))
        json_u64(j.doc, json_get(j.doc, 0, "pageSize"), &j.page_size);
    while (json_next(j.doc, processes, &at)) {
        jetsam_set_process(&j, at);
        jetsam_put_ended(&j, at);
    }
    if (j.ended > SHOWN_PROCESSES) {
        text_c(&j.words, "and ");
        text_dec(&j.words, j.ended - SHOWN_PROCESSES);
        text_c(&j.words, " more were ended\n");
    }
    if (j.ended == 0)
        text_c(&j.words,
               "no process is marked as ended: the report shows what each held when memory was short\n");
    jetsam_put_largest(&j, processes);
    jetsam_put_free(&j, status);
    report_set_fact(r, FACT_DETAILS, pool_copy(&r->strings, j.words.v, j.words.len));
    text_free(&j.words);
    return true;
}
