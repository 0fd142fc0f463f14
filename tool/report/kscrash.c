/* KSCrash reports. */
#include "json_stack.h"

static void set_kscrash_facts(report *r, const json *doc, uint32_t crash)
{
    uint32_t error = json_get(doc, crash, "error");
    uint32_t system = json_get(doc, 0, "system");
    uint32_t mach = json_get(doc, error, "mach");
    uint32_t thrown = json_get(doc, error, "nsexception");
    report_set_fact(r, FACT_PROCESS, report_json_str(r, doc, json_get(doc, system, "process_name")));
    report_set_fact(r, FACT_IDENTIFIER, report_json_str(r, doc, json_get(doc, system, "CFBundleIdentifier")));
    report_set_fact(r, FACT_VERSION,
                    report_json_str(r, doc, json_get(doc, system, "CFBundleShortVersionString")));
    report_set_fact(r, FACT_OS, report_json_str(r, doc, json_get(doc, system, "system_version")));
    report_set_fact(r, FACT_HARDWARE, report_json_str(r, doc, json_get(doc, system, "machine")));
    report_set_fact(r, FACT_EXCEPTION, report_json_str(r, doc, json_get(doc, mach, "exception_name")));
    report_set_fact(r, FACT_SUBTYPE, report_json_str(r, doc, json_get(doc, mach, "code_name")));
    report_set_fact(r, FACT_SIGNAL,
                    report_json_str(r, doc, json_get(doc, json_get(doc, error, "signal"), "name")));
    report_set_fact(r, FACT_REASON, report_json_str(r, doc, json_get(doc, thrown, "reason")));
    report_set_fact(r, FACT_REASON, report_json_str(r, doc, json_get(doc, error, "reason")));
    report_set_fact(r, FACT_DESCRIPTION, report_json_str(r, doc, json_get(doc, crash, "diagnosis")));
}

bool report_parse_kscrash(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t crash = json_get(doc, 0, "crash");
    uint32_t threads = json_get(doc, crash, "threads");
    uint32_t images = json_get(doc, 0, "binary_images");
    uint32_t at = JSON_NONE;
    if (!json_is(doc, threads, JSON_ARRAY) || !json_is(doc, images, JSON_ARRAY))
        return false;
    r->kind = REPORT_KSCRASH;
    r->main_doc = doc_index;
    set_kscrash_facts(r, doc, crash);
    json_add_images(r, doc, images);
    while (json_next(doc, threads, &at)) {
        report_thread *thread = report_add_thread(r);
        json_u64(doc, json_get(doc, at, "index"), &thread->number);
        thread->crashed = json_true(doc, json_get(doc, at, "crashed"));
        thread->name = report_json_str(r, doc, json_get(doc, at, "name"));
        thread->queue = report_json_str(r, doc, json_get(doc, at, "dispatch_queue"));
        json_add_stack(r, doc_index, json_get(doc, json_get(doc, at, "backtrace"), "contents"), FORM_KSCRASH);
    }
    return true;
}
