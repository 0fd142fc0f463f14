/* ==== >> read/bugsnag ====
 * Job: Bugsnag events, as the app sends them and as the service hands them out.
 * Offers: its reader, for read/formats.h.
 * Never: guesses an image that no frame names.
 *
 * The app sends events in a payload or alone. */
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/json_stack.h"
#include "../model/parts.h"
#include "../model/report.h"
#include "../model/stack.h"
#include "machsym.h"
#include "formats.h"

/* The current event. */
typedef struct bugsnag_reader {
    report *r;
    uint32_t doc;
    uint32_t exception; /* the thread with the first exception's stack; may be REPORT_NONE */
} bugsnag_reader;

static void bugsnag_set_facts(report *r, const json *doc, uint32_t event)
{
    static const json_fact app_facts[] = {{"name", FACT_PROCESS}, {"id", FACT_IDENTIFIER}};
    static const json_fact device_facts[] = {
        {"model", FACT_HARDWARE}, {"time", FACT_DATE}, {"id", FACT_REPORTER}};
    uint32_t app = json_get(doc, event, "app");
    uint32_t device = json_get(doc, event, "device");
    fields_set_facts(r, doc, app, app_facts, sizeof app_facts / sizeof *app_facts);
    fields_set_facts(r, doc, device, device_facts, sizeof device_facts / sizeof *device_facts);
    fields_fact_of(r, doc, json_get(doc, event, "id"), FACT_INCIDENT);
    report_set_pair(r, FACT_VERSION, fields_text(r, doc, json_get(doc, app, "version")),
                    fields_text(r, doc, json_get(doc, app, "bundleVersion")));
    machsym_str build =
        fields_text(r, doc, json_get(doc, json_get(doc, device, "runtimeVersions"), "osBuild"));
    report_set_os(r, fields_text(r, doc, json_get(doc, device, "osName")),
                  fields_text(r, doc, json_get(doc, device, "osVersion")), build);
}

/* Every frame names its image. Equal ones are merged. */
static void bugsnag_add_image(bugsnag_reader *w, report_frame *frame)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint64_t base;
    if (!json_u64(doc, json_get(doc, frame->token, "machoLoadAddress"), &base))
        return;
    report_image *image = report_add_image(r);
    image->base = base;
    image->path = fields_text(r, doc, json_get(doc, frame->token, "machoFile"));
    image->name = str_base_name(image->path);
    image->has_uuid = parse_uuid_str(json_raw(doc, json_get(doc, frame->token, "machoUUID")), &image->uuid);
    frame->image = r->image_count - 1;
}

static report_thread *bugsnag_add_stack(bugsnag_reader *w, uint32_t owner)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t index = r->thread_count;
    report_add_thread(r);
    fields_add_stack(r, w->doc, json_get(doc, owner, "stacktrace"), FORM_BUGSNAG);
    report_thread *thread = &r->threads[index];
    for (uint32_t i = 0; i < thread->count; i++) {
        report_frame *frame = &r->frames[thread->first + i];
        frame->exact |= json_true(doc, json_get(doc, frame->token, "isPC"));
        bugsnag_add_image(w, frame);
    }
    return thread;
}

static void bugsnag_add_exceptions(bugsnag_reader *w, uint32_t array)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at)) {
        uint32_t first = r->thread_count;
        machsym_str kind = fields_text(r, doc, fields_either(doc, at, "errorClass", "error_class"));
        bool is_signal = str_starts(kind, "EXC_") || str_starts(kind, "SIG");
        report_thread *thread = bugsnag_add_stack(w, at);
        thread->crashed = is_signal;
        thread->kind = is_signal ? THREAD_PLAIN : THREAD_EXCEPTION;
        thread->number = 0;
        if (w->exception == REPORT_NONE) {
            report_set_error(r, kind, fields_text(r, doc, json_get(doc, at, "message")));
            w->exception = first;
        }
    }
}

static void bugsnag_add_threads(bugsnag_reader *w, uint32_t array)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at)) {
        report_thread *thread = bugsnag_add_stack(w, at);
        json_u64(doc, json_get(doc, at, "id"), &thread->number);
        thread->name = fields_text(r, doc, json_get(doc, at, "name"));
        thread->crashed = json_true(doc, json_get(doc, at, "errorReportingThread"));
        if (!thread->crashed || w->exception == REPORT_NONE)
            continue;
        report_thread *exception = &r->threads[w->exception];
        thread->is_echo = stack_is_same(r, exception, thread); /* of a crash by a signal */
        if (thread->is_echo && exception->kind == THREAD_PLAIN) {
            exception->number = thread->number;
            exception->name = thread->name;
        }
    }
}

/* An event has frames that name their image, in exceptions or threads. */
static bool bugsnag_has_frames(const json *doc, uint32_t array)
{
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at)) {
        uint32_t frame = JSON_NONE;
        if (json_next(doc, json_get(doc, at, "stacktrace"), &frame))
            return json_get(doc, frame, "frameAddress") != JSON_NONE;
    }
    return false;
}

bool report_tell_bugsnag(const json *doc, uint32_t object)
{
    return bugsnag_has_frames(doc, json_get(doc, object, "exceptions")) ||
           bugsnag_has_frames(doc, json_get(doc, object, "threads"));
}

static bool bugsnag_read_event(report *r, uint32_t doc_index, uint32_t event)
{
    const json *doc = &r->docs[doc_index];
    uint32_t exceptions = json_get(doc, event, "exceptions");
    uint32_t threads = json_get(doc, event, "threads");
    bugsnag_reader w = {r, doc_index, REPORT_NONE};
    if (!report_tell_bugsnag(doc, event))
        return false;
    parts_begin(r, doc_index, event);
    r->kind = REPORT_BUGSNAG;
    r->main_doc = doc_index;
    bugsnag_set_facts(r, doc, event);
    bugsnag_add_exceptions(&w, exceptions);
    bugsnag_add_threads(&w, threads);
    return true;
}

/* A payload holds several events. Each names its images; equal ones of all events are merged. */
bool report_parse_bugsnag(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t events = json_is(doc, 0, JSON_ARRAY) ? 0 : json_get(doc, 0, "events");
    uint32_t first_image = r->image_count;
    uint32_t first_frame = r->frame_count;
    uint32_t at = JSON_NONE;
    bool found = json_is(doc, 0, JSON_OBJECT) && bugsnag_read_event(r, doc_index, 0);
    while (json_next(doc, events, &at))
        found |= bugsnag_read_event(r, doc_index, at);
    report_merge_images(r, first_image, first_frame);
    return found;
}
