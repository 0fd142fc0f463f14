/* Images and stacks of JSON reports; see json_stack.h. */
#include "json_stack.h"
#include "../base/digits.h"
#include "../base/text.h"
#include "stack.h"

#include <string.h>

/* ---- Values ---- */

/* Returns the first member of an object that has one of two names. */
uint32_t fields_either(const json *doc, uint32_t object, const char *a, const char *b)
{
    uint32_t value = json_get(doc, object, a);
    return value != JSON_NONE ? value : json_get(doc, object, b);
}

machsym_str fields_text(report *r, const json *doc, uint32_t token)
{
    if (!json_is(doc, token, JSON_STRING) && !json_is(doc, token, JSON_NUMBER))
        return str_make(NULL, 0);
    return report_json_str(r, doc, token);
}

void fields_fact_of(report *r, const json *doc, uint32_t token, report_fact fact)
{
    report_set_fact(r, fact, fields_text(r, doc, token));
}

void fields_set_facts(report *r, const json *doc, uint32_t object, const json_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fields_fact_of(r, doc, json_get(doc, object, facts[i].key), facts[i].fact);
}

/* ---- Words ---- */

static const json_words ips_words = {NULL,         NULL,  "symbol",     "symbolLocation",
                                     NULL,         false, "sourceFile", NULL,
                                     "sourceLine", NULL,  "owner",      {"imageOffset", "imageIndex"}};
static const json_words log_words = {NULL,         NULL,  "symbol",     "symbolLocation",
                                     NULL,         false, "sourceFile", NULL,
                                     "sourceLine", NULL,  "owner",      {"imageOffset", "imageUUID"}};
static const json_words kscrash_words = {
    "instruction_addr", "object_name", "symbol_name", NULL,
    "symbol_addr",      false,         "source_file", NULL,
    "source_line",      NULL,          "owner",       {"instruction_addr", "object_addr", "object_name"}};
static const json_words sentry_words = {
    "instruction_addr", "package", "function", NULL,
    "symbol_addr",      true,      "filename", "abs_path",
    "lineno",           "colno",   "owner",    {"instruction_addr", "image_addr", "package", "in_app"}};
static const json_words sentry_api_words = {
    "instructionAddr", "package", "function", NULL,    "symbolAddr", true,
    "filename",        "absPath", "lineNo",   "colNo", "owner",      {"instructionAddr", "package", "inApp"}};
static const json_words bugsnag_words = {
    "frameAddress",
    "machoFile",
    "method",
    NULL,
    "symbolAddress",
    true,
    "file",
    NULL,
    "lineNumber",
    "columnNumber",
    "owner",
    {"frameAddress", "machoFile", "machoLoadAddress", "machoUUID", "machoVMAddress", "inProject"}};
static const json_words node_words = {/* members from image on are ours: Node does not write them */ "pc",
                                      "image",
                                      "symbol",
                                      NULL,
                                      "start",
                                      true,
                                      "file",
                                      NULL,
                                      "line",
                                      NULL,
                                      "owner",
                                      {"pc"}};

const json_words *fields_words_of(frame_form form)
{
    switch (form) {
    case FORM_LOG: return &log_words;
    case FORM_KSCRASH: return &kscrash_words;
    case FORM_SENTRY: return &sentry_words;
    case FORM_SENTRY_API: return &sentry_api_words;
    case FORM_BUGSNAG: return &bugsnag_words;
    case FORM_NODE: return &node_words;
    default: return &ips_words;
    }
}

/* ---- Images and stacks ---- */

/* An image of KSCrash or Sentry: the same fields under nearly the same names. */
static void fields_add_image(report *r, const json *doc, uint32_t object)
{
    uint64_t size = 0;
    uint64_t cpu;
    uint64_t sub = 0;
    report_image *image = report_add_image(r);
    json_u64(doc, json_get(doc, object, "image_addr"), &image->base);
    if (json_u64(doc, json_get(doc, object, "image_size"), &size) && size <= UINT64_MAX - image->base)
        image->end = image->base + size;
    image->path = fields_text(r, doc, fields_either(doc, object, "code_file", "name"));
    image->name = str_base_name(image->path);
    machsym_str uuid = json_raw(doc, fields_either(doc, object, "uuid", "debug_id"));
    uuid.len = uuid.len > 36 ? 36 : uuid.len; /* Sentry's debug_id may end with an age */
    image->has_uuid = parse_uuid_str(uuid, &image->uuid);
    image->arch = fields_text(r, doc, json_get(doc, object, "arch"));
    if (json_u64(doc, json_get(doc, object, "cpu_type"), &cpu)) {
        json_u64(doc, json_get(doc, object, "cpu_subtype"), &sub);
        image->arch = str_c(machsym_arch_name((uint32_t)cpu, (uint32_t)sub));
    }
}

void fields_add_images(report *r, const json *doc, uint32_t array)
{
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at))
        fields_add_image(r, doc, at);
}

/* Takes the source line that a frame already has: "File.m:12". */
static void fields_set_where(report *r, report_frame *frame, machsym_str path, uint64_t line)
{
    text t = text_in(r->memory);
    if (path.len == 0 || line == 0)
        return;
    text_str(&t, str_base_name(path));
    text_char(&t, ':');
    text_dec(&t, line);
    frame->where = pool_copy(&r->strings, t.v, t.len);
    frame->given_line = true;
    text_free(&t);
}

/* Reads the frames of an array. A name without a line was looked up on the device, among exported symbols
 * only. */
void fields_add_stack(report *r, uint32_t doc_index, uint32_t array, frame_form form)
{
    const json *doc = &r->docs[doc_index];
    const json_words *words = fields_words_of(form);
    report_thread *thread = &r->threads[r->thread_count - 1];
    uint32_t at = JSON_NONE;
    thread->callers_first = form == FORM_SENTRY || form == FORM_SENTRY_API;
    while (json_next(doc, array, &at)) {
        uint64_t addr;
        if (!json_u64(doc, json_get(doc, at, words->address), &addr))
            continue;
        report_frame *frame = report_add_frame(r);
        frame->addr = addr;
        frame->form = (uint8_t)form;
        frame->doc = doc_index;
        frame->token = at;
        frame->at = doc->v[at].at;
        frame->end = doc->v[at].end;
        frame->name = fields_text(r, doc, json_get(doc, at, words->symbol));
        frame->image_name = str_base_name(fields_text(r, doc, json_get(doc, at, words->image)));
        frame->given_folded = report_is_folded_name(frame->name);
        frame->given_inline = json_true(doc, json_get(doc, at, "inline"));
        uint64_t line;
        if (json_u64(doc, json_get(doc, at, words->line), &line))
            fields_set_where(r, frame, fields_text(r, doc, json_get(doc, at, words->file)), line);
        if (!report_is_no_name(frame->name, stack_image_name(r, frame)))
            frame->named = frame->given_line ? NAME_GIVEN : NAME_WEAK;
    }
    uint32_t index = 0;
    for (uint32_t i = 0; i < thread->count; i++) {
        report_frame *frame = &r->frames[thread->first + (thread->callers_first ? thread->count - 1 - i : i)];
        frame->index = index;
        frame->exact = index == 0;
        index += !frame->given_inline;
    }
}
