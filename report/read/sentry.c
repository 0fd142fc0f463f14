/* ==== >> read/sentry ====
 * Job: Sentry events: alone, in an envelope, and as the service hands them out.
 * Offers: its reader, for read/formats.h.
 * Never: reads attachments.
 *
 * The app sends events alone or in an envelope. */
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/json_stack.h"
#include "../model/parts.h"
#include "../model/registers.h"
#include "../model/report.h"
#include "../model/stack.h"
#include "machsym.h"
#include "formats.h"

/* The current event. In the service's form everything is in entries, under other names. */
typedef struct sentry_reader {
    report *r;
    uint32_t doc;
    frame_form form;
    uint32_t threads; /* threads and exceptions: the lists */
    uint32_t exceptions;
    uint32_t first_thread; /* of the report */
} sentry_reader;

/* "org.example.demo@1.2+34" */
static void sentry_set_release(report *r, machsym_str release)
{
    size_t at = str_find(release, "@");
    size_t plus = str_find(release, "+");
    report_set_fact(r, FACT_IDENTIFIER, str_make(release.ptr, at < release.len ? at : 0));
    if (at < plus && plus < release.len)
        report_set_pair(r, FACT_VERSION, str_make(release.ptr + at + 1, plus - at - 1),
                        str_make(release.ptr + plus + 1, release.len - plus - 1));
    else if (at < release.len)
        report_set_fact(r, FACT_VERSION, str_make(release.ptr + at + 1, release.len - at - 1));
}

/* "1773476813.589", or text. */
static void sentry_set_time(report *r, const json *doc, uint32_t token)
{
    uint64_t seconds = 0;
    machsym_str raw = fields_text(r, doc, token);
    if (json_is(doc, token, JSON_NUMBER) && str_number_after(raw, "", &seconds))
        report_set_time(r, FACT_DATE, seconds);
    else
        report_set_fact(r, FACT_DATE, raw);
}

static void sentry_set_facts(report *r, const json *doc)
{
    static const json_fact app_facts[] = {{"app_name", FACT_PROCESS}, {"app_identifier", FACT_IDENTIFIER}};
    static const json_fact device_facts[] = {{"model", FACT_HARDWARE}, {"arch", FACT_CODE_TYPE}};
    uint32_t contexts = json_get(doc, 0, "contexts");
    uint32_t app = json_get(doc, contexts, "app");
    uint32_t os = json_get(doc, contexts, "os");
    fields_fact_of(r, doc, fields_either(doc, 0, "event_id", "eventID"), FACT_INCIDENT);
    sentry_set_time(r, doc, fields_either(doc, 0, "timestamp", "dateCreated"));
    fields_set_facts(r, doc, app, app_facts, sizeof app_facts / sizeof *app_facts);
    fields_set_facts(r, doc, json_get(doc, contexts, "device"), device_facts,
                     sizeof device_facts / sizeof *device_facts);
    machsym_str version = fields_text(r, doc, json_get(doc, app, "app_version"));
    machsym_str build = fields_text(r, doc, json_get(doc, app, "app_build"));
    if (version.len > 0)
        report_set_pair(r, FACT_VERSION, version, build);
    sentry_set_release(r, fields_text(r, doc, json_get(doc, 0, "release")));
    report_set_pair(r, FACT_VERSION, version, build); /* a build alone says less than the release */
    report_set_os(r, fields_text(r, doc, json_get(doc, os, "name")),
                  fields_text(r, doc, json_get(doc, os, "version")),
                  fields_text(r, doc, json_get(doc, os, "build")));
}

/* Finds what the system reported of a crash, beside its type. */
static void sentry_set_mechanism(report *r, const json *doc, uint32_t exception)
{
    uint32_t mechanism = json_get(doc, exception, "mechanism");
    uint32_t meta = json_get(doc, mechanism, "meta");
    meta = meta != JSON_NONE ? meta : mechanism; /* versions before 2018 put it there */
    uint32_t mach = json_get(doc, meta, "mach_exception");
    uint32_t sent = fields_either(doc, meta, "signal", "posix_signal");
    uint64_t number;
    fields_fact_of(r, doc, fields_either(doc, mach, "name", "exception_name"), FACT_EXCEPTION);
    if (json_u64(doc, json_get(doc, mach, "exception"), &number))
        report_set_exception(r, number);
    fields_fact_of(r, doc, json_get(doc, sent, "name"), FACT_SIGNAL);
    if (json_u64(doc, fields_either(doc, sent, "number", "signal"), &number))
        report_set_signal(r, number);
}

static void sentry_set_exception(report *r, const json *doc, uint32_t exception)
{
    sentry_set_mechanism(r, doc, exception);
    report_set_error(r, fields_text(r, doc, json_get(doc, exception, "type")),
                     fields_text(r, doc, json_get(doc, exception, "value")));
}

/* Finds the list of threads or exceptions. */
static uint32_t sentry_values(const json *doc, uint32_t container)
{
    return json_is(doc, container, JSON_ARRAY) ? container : json_get(doc, container, "values");
}

static bool sentry_add_stack(sentry_reader *w, uint32_t owner, const char *number, bool crashed)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t stack = json_get(doc, owner, "stacktrace");
    uint32_t frames = json_get(doc, stack, "frames");
    if (!json_is(doc, frames, JSON_ARRAY))
        return false;
    report_thread *thread = report_add_thread(r);
    json_u64(doc, json_get(doc, owner, number), &thread->number);
    thread->name = fields_text(r, doc, json_get(doc, owner, "name"));
    thread->crashed = crashed;
    if (crashed)
        registers_of_json(r, thread, doc, json_get(doc, stack, "registers"));
    fields_add_stack(r, w->doc, frames, w->form);
    return true;
}

static void sentry_add_threads(sentry_reader *w)
{
    const json *doc = &w->r->docs[w->doc];
    uint32_t at = JSON_NONE;
    while (json_next(doc, w->threads, &at))
        sentry_add_stack(w, at, "id", json_true(doc, json_get(doc, at, "crashed")));
}

/* The thread of an exception has no stack of its own, or an equal one, which is counted once. */
static void sentry_join_thread(sentry_reader *w, machsym_str id)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    report_thread *main = &r->threads[r->thread_count - 1];
    uint32_t at = JSON_NONE;
    for (uint32_t i = w->first_thread; i + 1 < r->thread_count; i++)
        r->threads[i].is_echo = r->threads[i].crashed && stack_is_same(r, main, &r->threads[i]);
    while (id.len > 0 && json_next(doc, w->threads, &at)) {
        if (str_equal(fields_text(r, doc, json_get(doc, at, "id")), id)) {
            main->name = fields_text(r, doc, json_get(doc, at, "name"));
            return;
        }
    }
}

/* The last exception crashed. The earlier ones are its causes. */
static void sentry_add_exceptions(sentry_reader *w)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    const char *number = w->form == FORM_SENTRY ? "thread_id" : "threadId";
    uint32_t last = JSON_NONE;
    uint32_t at = JSON_NONE;
    while (json_next(doc, w->exceptions, &at))
        last = at;
    sentry_set_exception(r, doc, last);
    at = JSON_NONE;
    while (json_next(doc, w->exceptions, &at)) {
        if (sentry_add_stack(w, at, number, at == last) && at == last)
            sentry_join_thread(w, fields_text(r, doc, json_get(doc, at, number)));
    }
}

/* Returns the data of an entry; JSON_NONE if no entry has the type. */
static uint32_t sentry_entry_data(const json *doc, uint32_t event, const char *type)
{
    uint32_t entries = json_get(doc, event, "entries");
    uint32_t at = JSON_NONE;
    while (json_next(doc, entries, &at)) {
        if (json_equals(doc, json_get(doc, at, "type"), type))
            return json_get(doc, at, "data");
    }
    return JSON_NONE;
}

/* Reads the images of an event, in the form of the app or of the service. */
static uint32_t sentry_images(const json *doc, uint32_t event, frame_form *form)
{
    uint32_t images = json_get(doc, json_get(doc, event, "debug_meta"), "images");
    *form = images != JSON_NONE ? FORM_SENTRY : FORM_SENTRY_API;
    return images != JSON_NONE ? images : json_get(doc, sentry_entry_data(doc, event, "debugmeta"), "images");
}

bool report_tell_sentry(const json *doc, uint32_t object)
{
    frame_form form;
    return json_is(doc, sentry_images(doc, object, &form), JSON_ARRAY);
}

bool report_parse_sentry(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t first_frame = r->frame_count;
    uint32_t first_image = r->image_count;
    sentry_reader w = {r, doc_index, FORM_SENTRY, JSON_NONE, JSON_NONE, r->thread_count};
    uint32_t images = sentry_images(doc, 0, &w.form);
    if (!json_is(doc, images, JSON_ARRAY))
        return false;
    bool is_api = w.form == FORM_SENTRY_API;
    parts_begin(r, doc_index, 0);
    r->kind = REPORT_SENTRY;
    r->main_doc = doc_index;
    sentry_set_facts(r, doc);
    fields_add_images(r, doc, images);
    w.threads =
        sentry_values(doc, is_api ? sentry_entry_data(doc, 0, "threads") : json_get(doc, 0, "threads"));
    w.exceptions =
        sentry_values(doc, is_api ? sentry_entry_data(doc, 0, "exception") : json_get(doc, 0, "exception"));
    sentry_add_threads(&w);
    sentry_add_exceptions(&w);
    report_place_frames(r, first_frame, first_image);
    return true;
}
