/* ==== >> read/datadog ====
 * Job: Datadog's error events: stacks as text in strings, images beside them.
 * Offers: its reader, for read/formats.h.
 * Never: reads logs of Datadog. */
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/json_stack.h"
#include "../model/parts.h"
#include "../model/report.h"
#include "../model/stack.h"
#include "machsym.h"
#include "formats.h"

static const json_fact meta_facts[] = {
    {"process", FACT_PROCESS},       {"path", FACT_PATH},           {"incident_identifier", FACT_INCIDENT},
    {"parent_process", FACT_PARENT}, {"code_type", FACT_CODE_TYPE}, {"exception_type", FACT_EXCEPTION},
    {"exception_codes", FACT_CODES},
};

static void datadog_set_facts(report *r, const json *doc, uint32_t event, uint32_t error)
{
    uint32_t meta = json_get(doc, error, "meta");
    uint32_t os = json_get(doc, event, "os");
    uint64_t milliseconds;
    fields_set_facts(r, doc, meta, meta_facts, sizeof meta_facts / sizeof *meta_facts);
    report_set_pair(r, FACT_VERSION, fields_text(r, doc, json_get(doc, event, "version")),
                    fields_text(r, doc, json_get(doc, event, "build_version")));
    fields_fact_of(r, doc, json_get(doc, event, "service"), FACT_IDENTIFIER);
    fields_fact_of(r, doc, json_get(doc, json_get(doc, event, "device"), "model"), FACT_HARDWARE);
    fields_fact_of(r, doc, json_get(doc, error, "type"), FACT_SIGNAL);
    fields_fact_of(r, doc, json_get(doc, error, "message"), FACT_DESCRIPTION);
    if (json_u64(doc, json_get(doc, event, "date"), &milliseconds))
        report_set_time(r, FACT_DATE, milliseconds / 1000);
    report_set_os(r, fields_text(r, doc, json_get(doc, os, "name")),
                  fields_text(r, doc, json_get(doc, os, "version")),
                  fields_text(r, doc, json_get(doc, os, "build")));
}

static void datadog_add_image(report *r, const json *doc, uint32_t object)
{
    report_image *image = report_add_image(r);
    uint64_t last;
    json_u64(doc, json_get(doc, object, "load_address"), &image->base);
    if (json_u64(doc, json_get(doc, object, "max_address"), &last))
        image->end = last + (last < UINT64_MAX);
    image->name = fields_text(r, doc, json_get(doc, object, "name"));
    image->arch = fields_text(r, doc, json_get(doc, object, "arch"));
    image->has_uuid = parse_uuid_str(json_raw(doc, json_get(doc, object, "uuid")), &image->uuid);
}

/* The SDK calls each thread "Thread 5"; the number is the thread's. */
static bool datadog_is_number(machsym_str name, uint64_t *out)
{
    size_t at = sizeof "Thread " - 1;
    *out = 0;
    if (!str_starts(name, "Thread ") || name.len == at)
        return false;
    for (; at < name.len; at++) {
        unsigned digit = (unsigned)(unsigned char)name.ptr[at] - '0';
        if (digit > 9 || *out > (UINT64_MAX - digit) / 10)
            return false;
        *out = *out * 10 + digit;
    }
    return true;
}

/* Reads the stack in a string, which is one thread. */
static void datadog_add_stack(report *r, uint32_t doc_index, uint32_t owner, bool crashed)
{
    const json *doc = &r->docs[doc_index];
    uint32_t stack = json_get(doc, owner, "stack");
    uint32_t first = r->thread_count;
    uint64_t number;
    if (!json_is(doc, stack, JSON_STRING))
        return;
    report_parse_string(r, doc_index, stack);
    machsym_str name = fields_text(r, &r->docs[doc_index], json_get(&r->docs[doc_index], owner, "name"));
    bool is_number = datadog_is_number(name, &number);
    for (uint32_t i = first; i < r->thread_count; i++) {
        r->threads[i].crashed = crashed;
        if (is_number)
            r->threads[i].number = number;
        else
            r->threads[i].name = name;
    }
}

/* The thread list repeats the stack of the error. */
static void datadog_join_thread(report *r, uint32_t main, uint32_t listed)
{
    report_thread *error = &r->threads[main];
    report_thread *thread = &r->threads[listed];
    thread->is_echo = stack_is_same(r, error, thread);
    if (thread->is_echo) {
        error->number = thread->number;
        error->name = thread->name;
    }
}

bool report_tell_datadog(const json *doc, uint32_t object)
{
    uint32_t error = json_get(doc, object, "error");
    return json_is(doc, json_get(doc, error, "binary_images"), JSON_ARRAY) &&
           json_is(doc, json_get(doc, error, "stack"), JSON_STRING);
}

/* The crashed thread has the stack of the error, too. */
bool report_parse_datadog(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t error = json_get(doc, 0, "error");
    uint32_t images = json_get(doc, error, "binary_images");
    uint32_t threads = json_get(doc, error, "threads");
    uint32_t first_frame = r->frame_count;
    uint32_t first_image = r->image_count;
    uint32_t at = JSON_NONE;
    if (!report_tell_datadog(doc, 0))
        return false;
    parts_begin(r, doc_index, 0);
    r->kind = REPORT_DATADOG;
    datadog_set_facts(r, doc, 0, error);
    while (json_next(doc, images, &at))
        datadog_add_image(r, doc, at);
    datadog_add_stack(r, doc_index, error, true);
    uint32_t main = r->thread_count > 0 ? r->thread_count - 1 : 0;
    at = JSON_NONE;
    while (json_next(doc, threads, &at)) {
        uint32_t first = r->thread_count;
        bool crashed = json_true(doc, json_get(doc, at, "crashed"));
        datadog_add_stack(r, doc_index, at, crashed);
        if (crashed && first < r->thread_count && main < first)
            datadog_join_thread(r, main, first);
    }
    report_place_frames(r, first_frame, first_image);
    return true;
}
