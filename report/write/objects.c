/* Names put into JSON: frame objects of .ips, logs, KSCrash, Sentry and MetricKit. */
#include "objects.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/json_stack.h"
#include "machsym.h"
#include "call.h"

/* Members to be added to an object, each with a comma before it. */
static void jsonframe_add_member(writer *w, const char *key)
{
    text_c(&w->added, ",\"");
    text_c(&w->added, key);
    text_c(&w->added, "\":");
}

/* Whether an object has a member. If so, the text up to edit_close replaces its value. */
static bool jsonframe_replace_member(writer *w, const report_frame *frame, const char *key)
{
    const json *doc = &w->r->docs[frame->doc];
    uint32_t value = json_get(doc, frame->token, key);
    if (value == JSON_NONE)
        return false;
    edit_open(w, doc->v[value].at, doc->v[value].end);
    return true;
}

/* Adds members after the last member of an object. */
static size_t jsonframe_members_end(const report *r, const report_frame *frame)
{
    const json *doc = &r->docs[frame->doc];
    uint32_t at = JSON_NONE;
    size_t end = doc->v[frame->token].at + 1;
    while (json_next(doc, frame->token, &at))
        end = doc->v[at + 1].end;
    return end;
}

/* Appends one value of a call, by its index in the words. Returns false if the call has no such value. */
typedef enum json_part {
    PART_SYMBOL = 0,
    PART_OFFSET,
    PART_FILE,
    PART_PATH,
    PART_LINE,
    PART_COLUMN,
    PART_OWNER,
    JSONFRAME_PART_COUNT
} json_part;

static const char *jsonframe_part_key(const json_words *words, json_part part)
{
    switch (part) {
    case PART_SYMBOL: return words->symbol;
    case PART_OFFSET: return words->offset != NULL ? words->offset : words->start;
    case PART_FILE: return words->file;
    case PART_PATH: return words->path;
    case PART_LINE: return words->line;
    case PART_COLUMN: return words->column;
    default: return words->owner;
    }
}

static bool jsonframe_has_part(const json_words *words, const report_call *call, json_part part)
{
    if (jsonframe_part_key(words, part) == NULL)
        return false;
    if (part == PART_OWNER)
        return call->owner.len > 0;
    if (part == PART_COLUMN)
        return call->has_line && call->column != 0;
    return part <= PART_OFFSET || call->has_line;
}

/* Returns where the function begins at run time, without a Thumb bit. */
static uint64_t jsonframe_function_start(const report *r, const report_frame *frame, const report_call *call)
{
    machsym_str arch = r->images[frame->image].arch;
    uint64_t addr = frame->addr;
    if (report_arch_is_arm32(arch))
        addr &= ~(uint64_t)1;
    return addr - call->offset;
}

static void jsonframe_put_part(writer *w, const report_frame *frame, const json_words *words,
                               const report_call *call, json_part part)
{
    text *t = &w->added;
    switch (part) {
    case PART_SYMBOL: text_json(t, call->name); break;
    case PART_OFFSET:
        if (words->offset != NULL) {
            text_dec(t, call->is_inline ? 0 : call->offset);
        } else if (words->hex) {
            text_c(t, "\"0x");
            text_hex(t, jsonframe_function_start(w->r, frame, call), 1);
            text_char(t, '"');
        } else {
            text_dec(t, jsonframe_function_start(w->r, frame, call));
        }
        break;
    case PART_FILE: text_json(t, w->how->full_path ? call->path : str_base_name(call->path)); break;
    case PART_PATH: text_json(t, call->path); break;
    case PART_LINE: text_dec(t, call->line); break;
    case PART_COLUMN: text_dec(t, call->column); break;
    default: text_json(t, call->owner); break;
    }
}

/* Appends an object for an inlined call: the frame's place, and the call. */
static void jsonframe_put_inline_object(writer *w, const report_frame *frame, const json_words *words,
                                        const report_call *call)
{
    const json *doc = &w->r->docs[frame->doc];
    size_t open = w->added.len;
    for (size_t i = 0; words->kept[i] != NULL; i++) {
        uint32_t value = json_get(doc, frame->token, words->kept[i]);
        if (value == JSON_NONE)
            continue;
        jsonframe_add_member(w, words->kept[i]);
        edit_add_body(w, doc->v[value].at, doc->v[value].end);
    }
    for (int part = 0; part < JSONFRAME_PART_COUNT; part++) {
        if (!jsonframe_has_part(words, call, (json_part)part))
            continue;
        jsonframe_add_member(w, jsonframe_part_key(words, (json_part)part));
        jsonframe_put_part(w, frame, words, call, (json_part)part);
    }
    jsonframe_add_member(w, "inline");
    text_c(&w->added, "true}");
    w->added.v[open] = '{'; /* replaces the first comma */
}

static void jsonframe_write_members(writer *w, const report_frame *frame, const json_words *words,
                                    const report_call *call)
{
    bool missing[JSONFRAME_PART_COUNT] = {false};
    for (int part = 0; part < JSONFRAME_PART_COUNT; part++) {
        if (!jsonframe_has_part(words, call, (json_part)part))
            continue;
        missing[part] = !jsonframe_replace_member(w, frame, jsonframe_part_key(words, (json_part)part));
        if (missing[part])
            continue;
        jsonframe_put_part(w, frame, words, call, (json_part)part);
        edit_close(w);
    }
    size_t end = jsonframe_members_end(w->r, frame);
    edit_open(w, end, end);
    for (int part = 0; part < JSONFRAME_PART_COUNT; part++) {
        if (!missing[part])
            continue;
        jsonframe_add_member(w, jsonframe_part_key(words, (json_part)part));
        jsonframe_put_part(w, frame, words, call, (json_part)part);
    }
    edit_close(w);
}

void jsonframe_object(writer *w, const report_frame *frame)
{
    const json_words *words = fields_words_of((frame_form)frame->form);
    const report_call *calls = &w->r->calls[frame->call];
    uint32_t real = frame->call_count - 1;
    bool callers_first = w->r->threads[frame->thread].callers_first;
    size_t at = callers_first ? frame->end : frame->at;
    if (real > 0) {
        edit_open(w, at, at);
        for (uint32_t i = 0; i < real; i++) {
            text_c(&w->added, callers_first ? "," : "");
            jsonframe_put_inline_object(w, frame, words, &calls[callers_first ? real - 1 - i : i]);
            text_c(&w->added, callers_first ? "" : ",");
        }
        edit_close(w);
    }
    jsonframe_write_members(w, frame, words, &calls[real]);
}

/* Appends the members of a call in a MetricKit frame. */
static void jsonframe_put_metric_call(writer *w, const report_call *call)
{
    text_c(&w->added, "\"symbol\":");
    text_json(&w->added, call->name);
    if (!call->is_inline) {
        text_c(&w->added, ",\"symbolLocation\":");
        text_dec(&w->added, call->offset);
    }
    if (call->has_line) {
        text_c(&w->added, ",\"sourceFile\":");
        text_json(&w->added, w->how->full_path ? call->path : str_base_name(call->path));
        text_c(&w->added, ",\"sourceLine\":");
        text_dec(&w->added, call->line);
    }
    if (call->owner.len > 0) {
        text_c(&w->added, ",\"owner\":");
        text_json(&w->added, call->owner);
    }
}

/* MetricKit frames contain their callers, so all members go to the front, and inlined calls into a list of
 * their own. */
void jsonframe_metric(writer *w, const report_frame *frame)
{
    const report_call *calls = &w->r->calls[frame->call];
    uint32_t real = frame->call_count - 1;
    edit_open(w, frame->at + 1, frame->at + 1);
    jsonframe_put_metric_call(w, &calls[real]);
    for (uint32_t i = 0; i < real; i++) {
        text_c(&w->added, i == 0 ? ",\"inlined\":[{" : ",{");
        jsonframe_put_metric_call(w, &calls[i]);
        text_char(&w->added, '}');
    }
    text_c(&w->added, real > 0 ? "]," : ",");
    edit_close(w);
}

/* A frame of a stackshot is an array of two numbers. Each call is added as a text after them, the real
 * function last. */
void jsonframe_stackshot(writer *w, const report_frame *frame)
{
    const json *doc = &w->r->docs[frame->doc];
    size_t numbers_end = doc->v[frame->token + 2].end;
    edit_open(w, numbers_end, frame->end - 1);
    for (uint32_t i = 0; i < frame->call_count; i++) {
        text t = text_in(w->r->memory);
        const report_call *call = &w->r->calls[frame->call + i];
        call_put(&t, call, w->how->full_path);
        text_char(&w->added, ',');
        text_json(&w->added, str_make(t.v, t.len));
        text_free(&t);
    }
    edit_close(w);
}
