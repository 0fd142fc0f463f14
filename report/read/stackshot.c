/* Stackshots; see stackshot.h. xnu, tools/lldbmacros/kcdata.py writes them alike. */
#include "stackshot.h"
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/text.h"
#include "formats.h"

#include <string.h>

/* The state of one pass over a stackshot. */
typedef struct stackshot_pass {
    report *r;
    uint32_t doc;
    uint32_t first_image; /* its images are added in the order of their numbers */
    uint32_t image_count;
} stackshot_pass;

/* ["447d769e-1cb7-3086-a0b4-32226837b587", 18446741875691290624, "T"]: T means __TEXT_EXEC, A addresses
 * outside all images. */
static void stackshot_add_image(stackshot_pass *s, uint32_t entry)
{
    report *r = s->r;
    const json *doc = &r->docs[s->doc];
    report_image *image = report_add_image(r);
    uint32_t at = JSON_NONE;
    bool has_uuid = json_next(doc, entry, &at) && parse_uuid_str(json_raw(doc, at), &image->uuid);
    machsym_str uuid = json_raw(doc, at);
    if (has_uuid && json_next(doc, entry, &at))
        json_u64(doc, at, &image->base);
    bool has_type = has_uuid && json_next(doc, entry, &at);
    image->has_uuid = has_uuid && !(has_type && json_equals(doc, at, "A"));
    image->is_text_exec = has_type && json_equals(doc, at, "T");
    image->name = image->has_uuid ? uuid : str_make(NULL, 0);
    s->image_count++;
}

/* Text that this tool put after the numbers. The last one is the real function. */
static void stackshot_set_given(stackshot_pass *s, report_frame *frame, uint32_t at)
{
    const json *doc = &s->r->docs[s->doc];
    while (json_next(doc, frame->token, &at)) {
        frame->name = report_json_str(s->r, doc, at);
        frame->named = frame->name.len > 0 ? NAME_GIVEN : NAME_NONE;
    }
}

/* [15, 5026128]. Old stackshots have the image's address instead of its number. */
static void stackshot_add_frame(stackshot_pass *s, uint32_t array, bool is_top)
{
    report *r = s->r;
    const json *doc = &r->docs[s->doc];
    uint32_t at = JSON_NONE;
    uint64_t number;
    uint64_t offset;
    if (!json_is(doc, array, JSON_ARRAY) || !json_next(doc, array, &at) || !json_u64(doc, at, &number) ||
        !json_next(doc, array, &at) || !json_u64(doc, at, &offset))
        return;
    const report_image *image =
        number < s->image_count ? &r->images[s->first_image + (uint32_t)number] : NULL;
    uint64_t addr = (image != NULL ? image->base : number) + offset;
    if (addr == 0)
        return; /* the end of a kernel stack */
    report_frame *frame = report_add_frame(r);
    frame->form = FORM_STACKSHOT;
    frame->doc = s->doc;
    frame->token = array;
    frame->at = doc->v[array].at;
    frame->end = doc->v[array].end;
    frame->index = r->threads[frame->thread].count - 1;
    frame->exact = is_top;
    frame->addr = addr;
    if (image != NULL && image->has_uuid)
        frame->image = s->first_image + (uint32_t)number;
    stackshot_set_given(s, frame, at);
}

static void stackshot_add_frames(stackshot_pass *s, uint32_t thread, const char *key)
{
    const json *doc = &s->r->docs[s->doc];
    uint32_t frames = json_get(doc, thread, key);
    uint32_t at = JSON_NONE;
    bool is_top = true;
    while (json_next(doc, frames, &at)) {
        stackshot_add_frame(s, at, is_top);
        is_top = false;
    }
}

/* "SpringBoard [33]". */
static machsym_str stackshot_process_name(stackshot_pass *s, uint32_t process)
{
    report *r = s->r;
    const json *doc = &r->docs[s->doc];
    text t = text_in(r->memory);
    text_str(&t, report_json_str(r, doc, json_get(doc, process, "procname")));
    text_c(&t, " [");
    text_str(&t, json_raw(doc, json_get(doc, process, "pid")));
    text_char(&t, ']');
    machsym_str name = pool_copy(&r->strings, t.v, t.len);
    text_free(&t);
    return name;
}

/* The kernel's frames lie on top of those of the process. */
static void stackshot_add_process(stackshot_pass *s, uint32_t process)
{
    report *r = s->r;
    const json *doc = &r->docs[s->doc];
    uint32_t threads = json_get(doc, process, "threadById");
    machsym_str name = stackshot_process_name(s, process);
    uint32_t at = JSON_NONE;
    while (json_is(doc, threads, JSON_OBJECT) && json_next(doc, threads, &at)) {
        uint32_t thread = at + 1;
        report_thread *added = report_add_thread(r);
        added->process = name;
        added->name = report_json_str(r, doc, json_get(doc, thread, "name"));
        added->queue = report_json_str(r, doc, json_get(doc, thread, "dispatch_queue_label"));
        json_u64(doc, json_get(doc, thread, "id"), &added->number);
        stackshot_add_frames(s, thread, "kernelFrames");
        stackshot_add_frames(s, thread, "userFrames");
    }
}

bool stackshot_parse(report *r, uint32_t doc_index, uint32_t object)
{
    const json *doc = &r->docs[doc_index];
    uint32_t processes = json_get(doc, object, "processByPid");
    uint32_t images = json_get(doc, object, "binaryImages");
    stackshot_pass s = {r, doc_index, r->image_count, 0};
    uint32_t at = JSON_NONE;
    if (!json_is(doc, processes, JSON_OBJECT))
        return false;
    report_set_fact(r, FACT_EVENT, report_json_str(r, doc, json_get(doc, object, "reason")));
    while (json_is(doc, images, JSON_ARRAY) && json_next(doc, images, &at))
        stackshot_add_image(&s, at);
    at = JSON_NONE;
    while (json_next(doc, processes, &at))
        stackshot_add_process(&s, at + 1);
    return true;
}

/* The system's watchdog puts one into its report about a service that did not answer (bug_type 409). */
static uint32_t stackshot_object(const json *doc, uint32_t object)
{
    uint32_t inner = json_get(doc, object, "stackshot");
    bool is_inside = json_is(doc, inner, JSON_OBJECT) && json_get(doc, object, "usedImages") == JSON_NONE;
    return is_inside ? inner : object;
}

bool report_tell_stackshot(const json *doc, uint32_t object)
{
    return json_is(doc, json_get(doc, stackshot_object(doc, object), "processByPid"), JSON_OBJECT);
}

bool report_parse_stackshot(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t object = stackshot_object(doc, 0);
    if (!stackshot_parse(r, doc_index, object))
        return false;
    r->kind = REPORT_STACKSHOT;
    if (object != 0)
        report_set_ips_facts(r, doc_index);
    report_set_fact(r, FACT_OS, report_json_str(r, doc, json_get(doc, 0, "build")));
    report_set_fact(r, FACT_HARDWARE, report_json_str(r, doc, json_get(doc, 0, "product")));
    report_set_fact(r, FACT_DATE, report_json_str(r, doc, json_get(doc, 0, "date")));
    return true;
}
