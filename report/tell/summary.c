/* What a report means; see summary.h. */
#include "summary.h"
#include "../model/stack.h"
#include "../model/status.h"
#include "blame.h"
#include "doubt.h"
#include "exception.h"
#include "missing.h"

#include <string.h>

enum { SHOWN_FRAMES = 8 };

/* Escape sequences of a terminal; empty without colour. */
typedef struct palette {
    const char *strong;
    const char *warn;
    const char *plain;
} palette;

static void summary_put_layer(text *t, const report *r, const report_frame *frame, uint32_t layer,
                              const palette *colours)
{
    machsym_str name = stack_layer_name(r, frame, layer);
    size_t at = t->len;
    text_c(t, "    ");
    text_shown(t, stack_image_name(r, frame));
    do
        text_char(t, ' ');
    while (t->len - at < 28);
    text_c(t, colours->strong);
    if (name.len > 0) {
        text_shown(t, name);
    } else {
        text_c(t, "0x");
        text_hex(t, frame->addr, 1);
    }
    text_c(t, colours->plain);
    if (frame->call_count > 0 && r->calls[frame->call + layer].has_line) {
        const report_call *call = &r->calls[frame->call + layer];
        text_c(t, "  ");
        text_shown(t, str_base_name(call->path));
        text_char(t, ':');
        text_dec(t, call->line);
        text_c(t, call->is_inline ? "  (inlined)" : "");
    } else if (frame->where.len > 0) {
        text_c(t, "  ");
        text_shown(t, frame->where);
    }
    text_char(t, '\n');
}

/* An address outside all images has no owner: it is a jump to a place without code. */
static bool summary_is_own(const report *r, const report_frame *frame)
{
    bool is_nowhere =
        frame->image == REPORT_NONE && !frame->given_line &&
        (str_is(frame->image_name, "???") || (frame->image_name.len == 0 && r->image_count > 0));
    return !is_nowhere && stack_is_own(r, frame);
}

static bool summary_has_own(const report *r, const report_thread *thread)
{
    for (uint32_t i = 0; i < stack_count(thread); i++) {
        if (summary_is_own(r, stack_frame(r, thread, i)))
            return true;
    }
    return false;
}

/* The kernel is not an app. */
static const char *summary_frames_title(const report *r, const report_thread *thread)
{
    if (r->kind == REPORT_PANIC)
        return ", frames of the kernel and its extensions:\n";
    return summary_has_own(r, thread) ? ", the app's own frames:\n"
                                      : ", no frame of the app's own; the top of the stack:\n";
}

static void summary_put_own_frames(text *t, const report *r, const palette *colours)
{
    const report_thread *thread = stack_main(r);
    unsigned shown = 0;
    if (thread == NULL)
        return;
    text_c(t, thread->kind == THREAD_EXCEPTION       ? "  the exception was thrown at"
              : thread->crashed && stack_is_crash(r) ? "  crashed in thread "
                                                     : "  thread ");
    if (thread->kind != THREAD_EXCEPTION)
        text_dec(t, thread->number);
    if (thread->process.len > 0) {
        text_c(t, " of ");
        text_shown(t, thread->process);
    }
    if (thread->name.len + thread->queue.len > 0) {
        text_c(t, ", ");
        text_shown(t, thread->name.len > 0 ? thread->name : thread->queue);
    }
    text_c(t, summary_frames_title(r, thread));
    for (uint32_t i = 0; i < stack_count(thread) && shown < SHOWN_FRAMES; i++) {
        const report_frame *frame = stack_frame(r, thread, i);
        for (uint32_t layer = 0;
             summary_is_own(r, frame) && layer < stack_layers(frame) && shown < SHOWN_FRAMES;
             layer++, shown++)
            summary_put_layer(t, r, frame, layer, colours);
    }
    if (shown == 0)
        summary_put_layer(t, r, stack_frame(r, thread, 0), 0, colours);
}

static void summary_put_blame(text *t, const report *r, const palette *colours)
{
    blame who;
    text place = text_in(r->memory);
    bool is_owned = blame_find(r, &who, &place);
    if (r->rules != NULL) {
        text_c(t, "  whose fault: ");
        text_c(t, colours->strong);
        text_shown(t, is_owned ? who.owner : str_c("no owner that the rules name"));
        text_c(t, colours->plain);
        text_c(t, is_owned ? ", in " : "");
        text_shown(t, who.name.len > 0 ? who.name : who.image);
        text_c(t, who.place.len > 0 ? " (" : "");
        text_shown(t, who.place);
        text_c(t, who.place.len > 0 ? ")\n" : "\n");
    }
    text_free(&place);
}

static void summary_put_images(text *t, const report *r, uint32_t missing, const palette *colours)
{
    unsigned system = 0;
    bool title = false;
    for (uint32_t i = 0; i < r->image_count; i++) {
        missing_image m = missing_of(r, &r->images[i]);
        if (m.frames == 0)
            continue;
        if (m.is_system && m.status.found == IMAGE_MISSING) {
            system++;
            continue;
        }
        text_c(t, title ? "" : "  debug info is missing for:\n");
        title = true;
        text_c(t, "    ");
        text_c(t, colours->warn);
        missing_put_image(t, &m);
        text_c(t, colours->plain);
        text_char(t, '\n');
    }
    if (system > 0) {
        text_c(t, "  no symbols for ");
        text_dec(t, system);
        text_c(t, system == 1 ? " image of the system\n" : " images of the system\n");
    }
    if (r->image_count == 0 && missing > 0)
        text_c(t,
               "  the report lists no images, so nothing can be looked up; --load NAME=ADDRESS names one\n");
}

static void summary_put_sources(text *t, const report *r)
{
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        if (!image->looked_for || image->status.found != IMAGE_FOUND || image->missing == image->frame_count)
            continue;
        text_c(t, "    ");
        text_shown(t, image->name);
        text_c(t, image->status.has_dwarf ? ": debug info of " : ": symbols of ");
        text_shown(t, str_c(image->status.path));
        if (image->status.other_lines) {
            text_c(t, ", a map built with --lines=");
            text_c(t, image->status.lines);
            text_c(t, ": some lines differ; build it with --lines=");
            text_c(t, image->status.wanted_lines);
        }
        text_char(t, '\n');
    }
}

/* Writes which images an lldb stack without image list uses. */
static void summary_put_borrowed(text *t, const report *r)
{
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].borrowed == BORROWED_NONE)
            continue;
        text_c(
            t,
            r->threads[i].borrowed == BORROWED_USED
                ? "  the stack of lldb lists no images: it has those of the report ahead of it\n"
                : "  the stack of lldb lists no images, and names others than the report ahead: no names\n");
        return;
    }
}

void summary_put(text *t, const report *r, const resolve_counts *counts, bool colour)
{
    static const palette none = {"", "", ""};
    static const palette ansi = {"\033[1m", "\033[33m", "\033[0m"};
    const palette *colours = colour ? &ansi : &none;
    bool is_named = r->facts[FACT_PROCESS].len > 0;
    if (is_named || r->facts[FACT_IDENTIFIER].len > 0) {
        text_shown(t, r->facts[is_named ? FACT_PROCESS : FACT_IDENTIFIER]);
        text_c(t, r->facts[FACT_VERSION].len > 0 ? " " : "");
        text_shown(t, r->facts[FACT_VERSION]);
        text_c(t, r->facts[FACT_OS].len > 0 ? " on " : "");
        text_shown(t, r->facts[FACT_OS]);
        text_char(t, '\n');
    }
    text words = text_in(r->memory);
    exception_put(&words, r);
    for (size_t at = 0; at < words.len;) {
        machsym_str rest = {words.v + at, words.len - at};
        size_t line = str_find(rest, "\n");
        text_c(t, "  ");
        text_add(t, rest.ptr, line + 1);
        at += line + 1;
    }
    text_free(&words);
    if (r->frame_count == 0)
        return;
    summary_put_own_frames(t, r, colours);
    summary_put_blame(t, r, colours);
    text_c(t, "  ");
    text_dec(t, counts->frames);
    text_c(t, counts->frames == 1 ? " frame: " : " frames: ");
    text_dec(t, counts->dwarf);
    text_c(t, " named with line, ");
    text_dec(t, counts->symbols);
    text_c(t, " named, ");
    text_dec(t, counts->given);
    text_c(t, " had a name, ");
    text_dec(t, counts->missing);
    text_c(t, " without\n");
    doubt_put(t, r);
    summary_put_borrowed(t, r);
    summary_put_sources(t, r);
    summary_put_images(t, r, counts->missing, colours);
}

/* ---- In one line ---- */

/* "; what: " or ", " */
static void summary_next_item(text *t, const char *what, bool *open)
{
    text_c(t, *open ? ", " : what);
    *open = true;
}

static void summary_put_found(text *t, const report *r)
{
    bool open = false;
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        if (!image->looked_for || image->status.found != IMAGE_FOUND)
            continue;
        summary_next_item(t, "; ", &open);
        text_str(t, image->name);
        text_c(t, " by ");
        text_str(t, missing_bundle(image->status.path));
    }
}

static void summary_put_not_found(text *t, const report *r)
{
    bool open = false;
    uint64_t system = 0;
    for (uint32_t i = 0; i < r->image_count; i++) {
        missing_image m = missing_of(r, &r->images[i]);
        bool is_system = m.is_system && m.status.found == IMAGE_MISSING;
        system += is_system ? m.frames : 0;
        if (is_system || m.frames == 0)
            continue;
        summary_next_item(t, "; missing: ", &open);
        text_str(t, m.name.len > 0 ? m.name : str_c("???"));
        text_c(t, " (");
        text_dec(t, m.frames);
        text_char(t, ')');
    }
    if (system > 0) {
        summary_next_item(t, "; missing: ", &open);
        text_c(t, "the system (");
        text_dec(t, system);
        text_char(t, ')');
    }
}

void summary_put_brief(text *t, const report *r, const resolve_counts *counts)
{
    if (r->frame_count == 0) {
        text_c(t, "no stacks");
        return;
    }
    text_dec(t, counts->frames - counts->missing);
    text_c(t, " of ");
    text_dec(t, counts->frames);
    text_c(t, counts->frames == 1 ? " frame named, " : " frames named, ");
    text_dec(t, (uint64_t)counts->dwarf + counts->symbols);
    text_c(t, " of them now");
    summary_put_found(t, r);
    summary_put_not_found(t, r);
    doubt_put_brief(t, r);
    if (r->image_count == 0 && counts->missing > 0)
        text_c(t, "; the report lists no images: --load NAME=ADDRESS names one");
}
