/* ==== >> read/node ====
 * Job: Node's diagnostic reports: the native stack, and what JavaScript threw.
 * Offers: its reader, for read/formats.h.
 * Never: assigns an address to an image: the report does not say where images were loaded. */
#include "../base/json.h"
#include "../base/text.h"
#include "../model/json_stack.h"
#include "../model/parts.h"
#include "../model/report.h"
#include "machsym.h"
#include "formats.h"

static const json_fact header_facts[] = {
    {"processId", FACT_PID},      {"dumpEventTime", FACT_DATE},    {"arch", FACT_CODE_TYPE},
    {"osMachine", FACT_HARDWARE}, {"nodejsVersion", FACT_VERSION},
};

/* "JavaScript API, GetReport": what the report was made for. */
static void node_set_event(report *r, const json *doc, uint32_t header)
{
    machsym_str trigger = fields_text(r, doc, json_get(doc, header, "trigger"));
    text t = text_in(r->memory);
    text_str(&t, fields_text(r, doc, json_get(doc, header, "event")));
    text_c(&t, trigger.len > 0 ? ", " : "");
    text_str(&t, trigger);
    report_set_fact(r, FACT_EVENT, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

/* The first word of the command line is the program. */
static void node_set_process(report *r, const json *doc, uint32_t header)
{
    uint32_t words = json_get(doc, header, "commandLine");
    uint32_t first = JSON_NONE;
    if (json_next(doc, words, &first))
        report_set_fact(r, FACT_PROCESS, str_base_name(fields_text(r, doc, first)));
}

/* Reads "TypeError: boom" and the lines of JavaScript's stack. Returns false if there was no error; then the
 * text is "No stack." */
static bool node_set_thrown(report *r, const json *doc, uint32_t stack)
{
    machsym_str message = fields_text(r, doc, json_get(doc, stack, "message"));
    uint32_t lines = json_get(doc, stack, "stack");
    uint32_t at = JSON_NONE;
    size_t colon = str_find(message, ": ");
    bool is_error = colon < message.len &&
                    !str_starts(message, "Error [ERR_SYNTHETIC]"); /* it marks a request, not an error */
    text t = text_in(r->memory);
    if (is_error)
        report_set_error(r, str_make(message.ptr, colon), str_from(message, colon + 2));
    while (colon < message.len && json_next(doc, lines, &at)) {
        text_c(&t, t.len > 0 ? "\n" : "");
        text_str(&t, fields_text(r, doc, at));
    }
    if (t.len > 0)
        report_set_fact(r, FACT_DETAILS, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
    return is_error;
}

/* "NAME [IMAGE]": a function as Node writes it. The name may be missing. */
static void node_split_name(report_frame *frame)
{
    machsym_str name = frame->name;
    size_t at = name.len;
    while (at > 0 && name.ptr[at - 1] != '[')
        at--;
    if (name.len < 3 || name.ptr[name.len - 1] != ']' || at == 0)
        return;
    frame->name = str_trim(str_make(name.ptr, at - 1));
    frame->named = frame->name.len > 0 ? NAME_WEAK : NAME_NONE;
    if (frame->name.len > 0) /* the address of code without a name differs between runs */
        frame->image_name = str_base_name(str_make(name.ptr + at, name.len - 1 - at));
}

bool report_tell_node(const json *doc, uint32_t object)
{
    return json_is(doc, json_get(doc, object, "nativeStack"), JSON_ARRAY) &&
           json_is(doc, json_get(doc, json_get(doc, object, "header"), "nodejsVersion"), JSON_STRING);
}

bool report_parse_node(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t header = json_get(doc, 0, "header");
    if (!report_tell_node(doc, 0))
        return false;
    uint32_t first = r->frame_count;
    parts_begin(r, doc_index, 0);
    r->kind = REPORT_NODE;
    r->main_doc = doc_index;
    fields_set_facts(r, doc, header, header_facts, sizeof header_facts / sizeof *header_facts);
    report_set_pair(r, FACT_OS, fields_text(r, doc, json_get(doc, header, "osName")),
                    fields_text(r, doc, json_get(doc, header, "osRelease")));
    node_set_process(r, doc, header);
    if (!node_set_thrown(r, doc, json_get(doc, 0, "javascriptStack")))
        node_set_event(r, doc, header);
    report_thread *thread = report_add_thread(r);
    json_u64(doc, json_get(doc, header, "threadId"), &thread->number);
    thread->crashed = true;
    fields_add_stack(r, doc_index, json_get(doc, 0, "nativeStack"), FORM_NODE);
    for (uint32_t i = first; i < r->frame_count; i++)
        node_split_name(&r->frames[i]);
    return true;
}
