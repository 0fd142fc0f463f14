/* The system's log as `log show --style=ndjson --backtrace` prints it: an event a line, or an array of
 * them. */
#include "report.h"

#include <string.h>

/* The file of an image, where the event tells it. */
static machsym_str image_path(report *r, const json *doc, uint32_t event, machsym_str uuid)
{
    static const char *const names[][2] = {{"processImageUUID", "processImagePath"},
                                           {"senderImageUUID", "senderImagePath"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        machsym_str path = report_json_str(r, doc, json_get(doc, event, names[i][1]));
        if (path.len > 0 && str_equal(json_raw(doc, json_get(doc, event, names[i][0])), uuid))
            return path;
    }
    return uuid;
}

static void add_frame(report *r, uint32_t doc_index, uint32_t event, uint32_t object, uint32_t first_image)
{
    const json *doc = &r->docs[doc_index];
    machsym_str written = json_raw(doc, json_get(doc, object, "imageUUID"));
    machsym_uuid uuid;
    uint64_t offset;
    if (!parse_uuid_str(written, &uuid) || !json_u64(doc, json_get(doc, object, "imageOffset"), &offset))
        return;
    uint32_t image = report_image_at(r, first_image, 0, image_path(r, doc, event, written), &uuid);
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

/* One event; false when it has no stack. */
static bool add_event(report *r, uint32_t doc_index, uint32_t event, uint32_t first_image)
{
    const json *doc = &r->docs[doc_index];
    uint32_t frames = json_get(doc, json_get(doc, event, "backtrace"), "frames");
    uint32_t at = JSON_NONE;
    if (!json_is(doc, frames, JSON_ARRAY) || json_get(doc, event, "eventMessage") == JSON_NONE)
        return false;
    report_set_fact(r, FACT_PROCESS,
                    str_base_name(report_json_str(r, doc, json_get(doc, event, "processImagePath"))));
    report_set_fact(r, FACT_DATE, report_json_str(r, doc, json_get(doc, event, "timestamp")));
    report_thread *thread = report_add_thread(r);
    thread->name = report_json_str(r, doc, json_get(doc, event, "eventMessage"));
    json_u64(doc, json_get(doc, event, "threadID"), &thread->number);
    while (json_next(doc, frames, &at))
        add_frame(r, doc_index, event, at, first_image);
    r->kind = r->kind == REPORT_UNKNOWN ? REPORT_LOG : r->kind;
    return true;
}

bool report_parse_log(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t at = JSON_NONE;
    bool found = false;
    if (!json_is(doc, 0, JSON_ARRAY))
        return add_event(r, doc_index, 0, 0);
    while (json_next(doc, 0, &at))
        found |= add_event(r, doc_index, at, 0);
    return found;
}
