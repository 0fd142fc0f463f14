/* Stacks in doubt; see doubt.h. */
#include "doubt.h"
#include "../base/json_put.h"
#include "../model/stack.h"

#include <string.h>

enum { DOUBT_SHOWN = 3 };

void doubt_count(const report *r, doubt_counts *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < r->frame_count; i++) {
        const report_frame *frame = &r->frames[i];
        out->callers += frame->is_caller;
        out->checked += frame->is_caller && frame->is_checked;
        out->doubted += frame->doubt != NULL;
        out->inferred += frame->form == FORM_INFERRED;
    }
}

static const report_frame *doubt_next(const report *r, const report_thread *thread, uint32_t *at)
{
    while (*at < thread->count) {
        const report_frame *frame = &r->frames[thread->first + (*at)++];
        if (frame->doubt != NULL)
            return frame;
    }
    return NULL;
}

const report_frame *doubt_first(const report *r)
{
    const report_thread *thread = stack_main(r);
    uint32_t at = 0;
    const report_frame *first = thread != NULL ? doubt_next(r, thread, &at) : NULL;
    for (uint32_t i = 0; i < r->thread_count && first == NULL; i++) {
        at = 0;
        first = doubt_next(r, &r->threads[i], &at);
    }
    return first;
}

static void doubt_put_count(text *t, uint32_t count, const char *one, const char *many)
{
    text_dec(t, count);
    text_c(t, count == 1 ? one : many);
}

/* Images of the app with callers that were not checked, and why. */
static void doubt_put_unchecked(text *t, const report *r, const char *before)
{
    bool is_open = false;
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        if (image->no_code == NULL || image->is_system)
            continue;
        text_c(t, is_open ? ", " : before);
        text_shown(t, image->name);
        text_c(t, ": ");
        text_c(t, image->no_code);
        is_open = true;
    }
}

static void doubt_put_frame(text *t, const report *r, const report_frame *frame)
{
    text_c(t, "    thread ");
    text_dec(t, r->threads[frame->thread].number);
    text_c(t, ", frame ");
    text_dec(t, frame->index);
    text_c(t, ", ");
    machsym_str name = stack_layer_name(r, frame, frame->call_count > 0 ? frame->call_count - 1 : 0);
    if (name.len > 0) {
        text_shown(t, name);
    } else {
        text_c(t, "0x");
        text_hex(t, frame->addr, 1);
    }
    text_c(t, ": ");
    text_shown(t, str_c(frame->doubt));
    text_char(t, '\n');
}

/* The first ones of the main stack, then of the others. */
static void doubt_put_frames(text *t, const report *r)
{
    const report_thread *main_stack = stack_main(r);
    const report_frame *frame;
    unsigned shown = 0;
    uint32_t at = 0;
    while (main_stack != NULL && shown < DOUBT_SHOWN && (frame = doubt_next(r, main_stack, &at)) != NULL) {
        doubt_put_frame(t, r, frame);
        shown++;
    }
    for (uint32_t i = 0; i < r->thread_count; i++) {
        at = 0;
        while (&r->threads[i] != main_stack && shown < DOUBT_SHOWN &&
               (frame = doubt_next(r, &r->threads[i], &at)) != NULL) {
            doubt_put_frame(t, r, frame);
            shown++;
        }
    }
}

void doubt_put(text *t, const report *r)
{
    doubt_counts counts;
    if (!r->is_checked)
        return;
    doubt_count(r, &counts);
    text_c(t, "  stacks held against code: ");
    text_dec(t, counts.checked);
    text_c(t, " of ");
    doubt_put_count(t, counts.callers, " caller", " callers");
    text_c(t, " checked, ");
    text_dec(t, counts.doubted);
    text_c(t, " in doubt");
    if (counts.inferred > 0) {
        text_c(t, ", ");
        doubt_put_count(t, counts.inferred, " missing one inferred", " missing ones inferred");
    }
    text_char(t, '\n');
    doubt_put_frames(t, r);
    size_t from = t->len;
    doubt_put_unchecked(t, r, "    not checked: ");
    text_c(t, t->len > from ? "\n" : "");
}

void doubt_put_brief(text *t, const report *r)
{
    doubt_counts counts;
    if (!r->is_checked)
        return;
    doubt_count(r, &counts);
    text_c(t, "; ");
    if (counts.checked == 0) {
        text_c(t, "no caller checked");
    } else {
        text_dec(t, counts.doubted);
        text_c(t, " of ");
        doubt_put_count(t, counts.checked, " caller in doubt", " callers in doubt");
    }
    if (counts.inferred > 0) {
        text_c(t, ", ");
        text_dec(t, counts.inferred);
        text_c(t, " inferred");
    }
    doubt_put_unchecked(t, r, "; not checked: ");
}

void doubt_put_json(text *t, const report *r)
{
    doubt_counts counts;
    if (!r->is_checked)
        return;
    doubt_count(r, &counts);
    text_c(t, ",\"stack_check\":{\"callers\":");
    text_dec(t, counts.callers);
    json_put_number(t, "checked", counts.checked);
    json_put_number(t, "doubted", counts.doubted);
    json_put_number(t, "inferred", counts.inferred);
    text_char(t, '}');
}
