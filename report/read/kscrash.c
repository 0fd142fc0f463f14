/* ==== >> read/kscrash ====
 * Job: KSCrash reports, also those of crashes while a report was written.
 * Offers: its reader, for read/formats.h.
 * Never: reads its text. */
#include "../base/json.h"
#include "../base/text.h"
#include "../model/json_stack.h"
#include "../model/parts.h"
#include "../model/registers.h"
#include "../model/report.h"
#include "formats.h"

/* What the current report is read from. */
typedef struct kscrash_reader {
    report *r;
    uint32_t doc;
    bool has_images;
} kscrash_reader;

static const json_fact system_facts[] = {
    {"process_name", FACT_PROCESS},        {"process_id", FACT_PID},
    {"CFBundleExecutablePath", FACT_PATH}, {"CFBundleIdentifier", FACT_IDENTIFIER},
    {"cpu_arch", FACT_CODE_TYPE},          {"machine", FACT_HARDWARE},
    {"device_app_hash", FACT_REPORTER},
};

/* Reads seconds (microseconds in newer versions) since 1970, or text. */
static void kscrash_set_timestamp(report *r, const json *doc, uint32_t info)
{
    enum { MICRO = 1000000 };
    uint32_t timestamp = json_get(doc, info, "timestamp");
    uint64_t number;
    if (json_is(doc, timestamp, JSON_STRING))
        report_set_fact(r, FACT_DATE, report_json_str(r, doc, timestamp));
    else if (json_u64(doc, timestamp, &number))
        report_set_time(r, FACT_DATE, number / (number > (uint64_t)MICRO * MICRO ? MICRO : 1));
}

/* Crashes without an exception: a deadlock, a termination for memory, one that the app reported. */
static void kscrash_set_event(report *r, const json *doc, uint32_t error)
{
    static const char *const exceptions[] = {"mach", "signal", "nsexception", "cpp_exception"};
    uint32_t type = json_get(doc, error, "type");
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        if (json_equals(doc, type, exceptions[i]))
            return;
    }
    fields_fact_of(r, doc, type, FACT_EVENT);
}

/* The codes of the exception, which have members of their own here. */
static void kscrash_set_codes(report *r, const json *doc, uint32_t code_at, uint32_t subcode_at)
{
    uint64_t code;
    uint64_t subcode;
    text t = text_in(r->memory);
    if (!json_u64(doc, code_at, &code) || !json_u64(doc, subcode_at, &subcode))
        return;
    text_c(&t, "0x");
    text_hex(&t, code, 16);
    text_c(&t, ", 0x");
    text_hex(&t, subcode, 16);
    report_set_fact(r, FACT_RAW_CODES, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

/* The same for reports of version 1, where all is in one object. */
static void kscrash_set_first_error(report *r, const json *doc, uint32_t error)
{
    uint64_t number;
    fields_fact_of(r, doc, json_get(doc, error, "mach_exception"), FACT_EXCEPTION);
    if (!json_u64(doc, json_get(doc, error, "mach_code"), &number) || number != 0)
        fields_fact_of(r, doc, json_get(doc, error, "mach_code_name"), FACT_SUBTYPE);
    kscrash_set_codes(r, doc, json_get(doc, error, "mach_code"), json_get(doc, error, "mach_subcode"));
    fields_fact_of(r, doc, json_get(doc, error, "signal_name"), FACT_SIGNAL);
    if (json_u64(doc, json_get(doc, error, "signal"), &number))
        report_set_signal(r, number);
}

static void kscrash_set_error(report *r, const json *doc, uint32_t error)
{
    uint32_t mach = json_get(doc, error, "mach");
    uint32_t thrown = json_get(doc, error, "nsexception");
    uint32_t reason = json_get(doc, thrown, "reason");
    uint64_t number;
    kscrash_set_event(r, doc, error);
    fields_fact_of(r, doc, json_get(doc, mach, "exception_name"), FACT_EXCEPTION);
    if (json_u64(doc, json_get(doc, mach, "exception"), &number))
        report_set_exception(r, number);
    fields_fact_of(r, doc, json_get(doc, mach, "code_name"), FACT_SUBTYPE);
    kscrash_set_codes(r, doc, json_get(doc, mach, "code"), json_get(doc, mach, "subcode"));
    fields_fact_of(r, doc, json_get(doc, json_get(doc, error, "signal"), "name"), FACT_SIGNAL);
    if (json_u64(doc, json_get(doc, json_get(doc, error, "signal"), "signal"), &number))
        report_set_signal(r, number);
    if (mach == JSON_NONE)
        kscrash_set_first_error(r, doc, error);
    reason = reason != JSON_NONE ? reason : json_get(doc, error, "reason");
    thrown = thrown != JSON_NONE ? thrown : json_get(doc, error, "cpp_exception");
    report_set_thrown(r, fields_text(r, doc, json_get(doc, thrown, "name")), fields_text(r, doc, reason));
}

static void kscrash_set_facts(report *r, const json *doc, uint32_t object, uint32_t crash)
{
    uint32_t info = json_get(doc, object, "report");
    uint32_t system = json_get(doc, object, "system");
    fields_set_facts(r, doc, system, system_facts, sizeof system_facts / sizeof *system_facts);
    fields_fact_of(r, doc, json_get(doc, info, "process_name"), FACT_PROCESS);
    fields_fact_of(r, doc, json_get(doc, info, "id"), FACT_INCIDENT);
    fields_fact_of(r, doc, json_get(doc, object, "crash_id"), FACT_INCIDENT); /* of version 1 */
    kscrash_set_timestamp(r, doc, info != JSON_NONE ? info : object);
    report_set_pair(r, FACT_VERSION, fields_text(r, doc, json_get(doc, system, "CFBundleShortVersionString")),
                    fields_text(r, doc, json_get(doc, system, "CFBundleVersion")));
    report_set_os(r, fields_text(r, doc, json_get(doc, system, "system_name")),
                  fields_text(r, doc, json_get(doc, system, "system_version")),
                  fields_text(r, doc, json_get(doc, system, "os_version")));
    kscrash_set_error(r, doc, json_get(doc, crash, "error"));
    fields_fact_of(r, doc, json_get(doc, crash, "diagnosis"), FACT_DESCRIPTION);
}

/* Reads bytes around the stack pointer. */
static void kscrash_set_stack(report *r, const json *doc, uint32_t stack, report_thread *thread)
{
    uint32_t contents = json_get(doc, stack, "contents");
    if (json_is(doc, contents, JSON_STRING) &&
        json_u64(doc, json_get(doc, stack, "dump_start"), &thread->stack_at))
        thread->stack = report_json_str(r, doc, contents);
}

static void kscrash_add_thread(kscrash_reader *w, uint32_t object)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    report_thread *thread = report_add_thread(r);
    json_u64(doc, json_get(doc, object, "index"), &thread->number);
    thread->crashed = json_true(doc, json_get(doc, object, "crashed"));
    thread->name = fields_text(r, doc, json_get(doc, object, "name"));
    thread->queue = fields_text(r, doc, json_get(doc, object, "dispatch_queue"));
    if (thread->crashed) {
        uint32_t registers = json_get(doc, object, "registers");
        uint32_t basic = json_get(doc, registers, "basic");
        registers_of_json(r, thread, doc, basic != JSON_NONE ? basic : registers);
        registers_of_json(r, thread, doc, json_get(doc, registers, "exception"));
        kscrash_set_stack(r, doc, json_get(doc, object, "stack"), thread);
    }
    uint32_t stack = json_get(doc, object, "backtrace");
    bool is_first = json_is(doc, stack, JSON_ARRAY); /* of version 1 */
    fields_add_stack(r, w->doc, is_first ? stack : json_get(doc, stack, "contents"), FORM_KSCRASH);
}

/* Adds the last exception object that was freed, if the crash is of its kind. */
static void kscrash_add_freed_exception(kscrash_reader *w, uint32_t object)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t freed = json_get(doc, json_get(doc, object, "process"), "last_dealloced_nsexception");
    uint32_t contents = json_get(doc, json_get(doc, freed, "backtrace"), "contents");
    if (!json_is(doc, contents, JSON_ARRAY))
        return;
    report_thread *thread = report_add_thread(r);
    thread->kind = THREAD_SPECIFIC;
    thread->number = 0;
    thread->name = fields_text(r, doc, json_get(doc, freed, "name"));
    fields_add_stack(r, w->doc, contents, FORM_KSCRASH);
}

/* Finds the list of images, which version 1 keeps in the crash. */
static uint32_t kscrash_images_of(const json *doc, uint32_t object)
{
    uint32_t images = json_get(doc, object, "binary_images");
    return images != JSON_NONE ? images : json_get(doc, json_get(doc, object, "crash"), "binary_images");
}

/* Reads the report of a crash in the crash reporter, which has one thread. */
static bool kscrash_is_minimal(const json *doc, uint32_t object)
{
    return !json_is(doc, json_get(doc, json_get(doc, object, "crash"), "threads"), JSON_ARRAY);
}

static void kscrash_read_crash(kscrash_reader *w, uint32_t object, bool is_recrash)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t crash = json_get(doc, object, "crash");
    uint32_t threads = json_get(doc, crash, "threads");
    uint32_t only = json_get(doc, crash, "crashed_thread");
    uint32_t images = kscrash_images_of(doc, object);
    uint32_t at = JSON_NONE;
    if (json_is(doc, images, JSON_ARRAY)) {
        fields_add_images(r, doc, images);
        w->has_images = true;
    }
    bool is_report = w->has_images || json_is(doc, json_get(doc, object, "report"), JSON_OBJECT);
    if (!is_report || (!json_is(doc, threads, JSON_ARRAY) && !json_is(doc, only, JSON_OBJECT)))
        return;
    parts_begin(r, w->doc, object);
    r->kind = REPORT_KSCRASH;
    r->main_doc = w->doc;
    if (is_recrash)
        report_set_fact(r, FACT_NOTE, str_c("RECRASH"));
    kscrash_set_facts(r, doc, object, crash);
    while (json_next(doc, threads, &at))
        kscrash_add_thread(w, at);
    if (json_is(doc, only, JSON_OBJECT)) {
        kscrash_add_thread(w, only);
        r->threads[r->thread_count - 1].crashed = true;
    }
    kscrash_add_freed_exception(w, object);
}

/* Reads one report in an object of the document. If the crash reporter crashed, there are two: since version
 * 3, the crash in the reporter contains the report that was being written; before, it was contained in that
 * one. The images are those of the first crash. */
static void kscrash_read_report(kscrash_reader *w, uint32_t object)
{
    const json *doc = &w->r->docs[w->doc];
    uint32_t other = json_get(doc, object, "recrash_report");
    bool has_other = json_is(doc, other, JSON_OBJECT);
    bool is_second = has_other && kscrash_is_minimal(doc, object);
    if (is_second)
        kscrash_read_report(w, other);
    kscrash_read_crash(w, object, is_second);
    if (has_other && !is_second)
        kscrash_read_crash(w, other, true);
}

/* A KSCrash report without a crash is a profile; its samples are not read. */
static bool kscrash_is_without_crash(const json *doc)
{
    uint32_t info = json_get(doc, 0, "report");
    return json_is(doc, json_get(doc, 0, "binary_images"), JSON_ARRAY) &&
           json_is(doc, json_get(doc, info, "id"), JSON_STRING) && json_get(doc, info, "type") != JSON_NONE;
}

bool report_tell_kscrash(const json *doc, uint32_t object)
{
    return json_is(doc, json_get(doc, object, "recrash_report"), JSON_OBJECT) ||
           (json_is(doc, json_get(doc, object, "crash"), JSON_OBJECT) &&
            json_is(doc, kscrash_images_of(doc, object), JSON_ARRAY));
}

/* Reads a report, or an array of several, as servers receive them. */
bool report_parse_kscrash(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t at = JSON_NONE;
    bool is_array = json_is(doc, 0, JSON_ARRAY);
    while (!is_array || json_next(doc, 0, &at)) {
        kscrash_reader w = {r, doc_index, false};
        uint32_t first_frame = r->frame_count;
        uint32_t first_image = r->image_count;
        kscrash_read_report(&w, is_array ? at : 0);
        if (r->frame_count > first_frame)
            report_place_frames(r, first_frame, first_image);
        if (!is_array)
            break;
    }
    if (r->main_doc != doc_index && r->kind == REPORT_UNKNOWN && kscrash_is_without_crash(doc)) {
        r->kind = REPORT_STACKLESS;
        report_set_fact(r, FACT_EVENT, str_c("a report of KSCrash's without a crash"));
        return true;
    }
    return r->main_doc == doc_index;
}
