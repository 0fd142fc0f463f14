/* ==== >> read/log ====
 * Job: the system's log, as `log show --style=ndjson --backtrace` prints it.
 * Offers: its reader, for read/formats.h.
 * Never: reads its plain text.
 *
 * It prints one event on each line, or an array of events. */
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "formats.h"

#include <string.h>

/* The two images that an event names: the program's, and that of the code that logged. */
typedef struct named_images {
    machsym_str uuid[2];
    machsym_str path[2];
} named_images;

static named_images log_images_of(report *r, const json *doc, uint32_t event)
{
    named_images named;
    named.uuid[0] = json_raw(doc, json_get(doc, event, "processImageUUID"));
    named.path[0] = report_json_str(r, doc, json_get(doc, event, "processImagePath"));
    named.uuid[1] = json_raw(doc, json_get(doc, event, "senderImageUUID"));
    named.path[1] = report_json_str(r, doc, json_get(doc, event, "senderImagePath"));
    return named;
}

/* Takes the file of an image, or its UUID. */
static machsym_str log_image_path(const named_images *named, machsym_str uuid)
{
    for (size_t i = 0; i < 2; i++) {
        if (named->path[i].len > 0 && str_equal(named->uuid[i], uuid))
            return named->path[i];
    }
    return uuid;
}

static void log_add_frame(report *r, uint32_t doc_index, const named_images *named, uint32_t object)
{
    const json *doc = &r->docs[doc_index];
    machsym_str written = json_raw(doc, json_get(doc, object, "imageUUID"));
    machsym_uuid uuid;
    uint64_t offset;
    if (!parse_uuid_str(written, &uuid) || !json_u64(doc, json_get(doc, object, "imageOffset"), &offset))
        return;
    uint32_t image = report_image_at(r, 0, 0, log_image_path(named, written), &uuid);
    report_frame *frame = report_add_frame(r);
    frame->form = FORM_LOG;
    frame->doc = doc_index;
    frame->token = object;
    frame->at = doc->v[object].at;
    frame->end = doc->v[object].end;
    frame->addr = offset;
    frame->image = image;
    frame->index = r->threads[frame->thread].count - 1;
    frame->name = report_json_str(r, doc, json_get(doc, object, "symbol"));
    frame->named = frame->name.len > 0 ? NAME_GIVEN : NAME_NONE;
    frame->given_inline = json_true(doc, json_get(doc, object, "inline"));
}

/* Reads one event. Returns false if it has no stack. */
static bool log_add_event(report *r, uint32_t doc_index, uint32_t event)
{
    const json *doc = &r->docs[doc_index];
    uint32_t frames = json_get(doc, json_get(doc, event, "backtrace"), "frames");
    uint32_t at = JSON_NONE;
    if (!json_is(doc, frames, JSON_ARRAY) || json_get(doc, event, "eventMessage") == JSON_NONE)
        return false;
    named_images named = log_images_of(r, doc, event);
    report_set_fact(r, FACT_PROCESS, str_base_name(named.path[0]));
    report_set_fact(r, FACT_DATE, report_json_str(r, doc, json_get(doc, event, "timestamp")));
    report_thread *thread = report_add_thread(r);
    thread->name = report_json_str(r, doc, json_get(doc, event, "eventMessage"));
    json_u64(doc, json_get(doc, event, "threadID"), &thread->number);
    while (json_next(doc, frames, &at))
        log_add_frame(r, doc_index, &named, at);
    r->kind = r->kind == REPORT_UNKNOWN ? REPORT_LOG : r->kind;
    return true;
}

bool report_parse_log(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t at = JSON_NONE;
    bool found = false;
    if (!json_is(doc, 0, JSON_ARRAY))
        return log_add_event(r, doc_index, 0);
    while (json_next(doc, 0, &at))
        found |= log_add_event(r, doc_index, at);
    return found;
}
