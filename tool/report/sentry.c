/* Sentry events. */
#include "json_stack.h"

#include <string.h>

/* The stacks of threads.values or exception.values; an exception's is the one that crashed. */
static void add_sentry_stacks(report *r, uint32_t doc_index, const char *key)
{
    const json *doc = &r->docs[doc_index];
    uint32_t container = json_get(doc, 0, key);
    uint32_t values = json_is(doc, container, JSON_ARRAY) ? container : json_get(doc, container, "values");
    bool exception = strcmp(key, "exception") == 0;
    uint32_t at = JSON_NONE;
    while (json_next(doc, values, &at)) {
        uint32_t frames = json_get(doc, json_get(doc, at, "stacktrace"), "frames");
        if (!json_is(doc, frames, JSON_ARRAY))
            continue;
        report_thread *thread = report_add_thread(r);
        json_u64(doc, json_either(doc, at, "thread_id", "id"), &thread->number);
        thread->crashed = exception || json_true(doc, json_get(doc, at, "crashed"));
        thread->name = report_json_str(r, doc, json_get(doc, at, "name"));
        if (exception) {
            report_set_fact(r, FACT_EXCEPTION, report_json_str(r, doc, json_get(doc, at, "type")));
            report_set_fact(r, FACT_DESCRIPTION, report_json_str(r, doc, json_get(doc, at, "value")));
        }
        json_add_stack(r, doc_index, frames, FORM_SENTRY);
    }
}

bool report_parse_sentry(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t images = json_get(doc, json_get(doc, 0, "debug_meta"), "images");
    if (!json_is(doc, images, JSON_ARRAY))
        return false;
    r->kind = REPORT_SENTRY;
    r->main_doc = doc_index;
    report_set_fact(r, FACT_INCIDENT, report_json_str(r, doc, json_get(doc, 0, "event_id")));
    report_set_fact(r, FACT_DATE, report_json_str(r, doc, json_get(doc, 0, "timestamp")));
    json_add_images(r, doc, images);
    add_sentry_stacks(r, doc_index, "threads");
    add_sentry_stacks(r, doc_index, "exception");
    return true;
}
