/* The memory of a report; see report.h. */

#include "report.h"
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

report_image *report_add_image(report *r)
{
    return (report_image *)mem_add(r->memory, &r->images, &r->image_count, &r->image_cap, sizeof *r->images);
}

enum {
    RECENT_IMAGES = 16
}; /* frames often alternate between few images; an image that comes back later is listed twice */

uint32_t report_image_at(report *r, uint32_t first, uint64_t base, machsym_str path, const machsym_uuid *uuid)
{
    uint32_t last = r->image_count;
    for (uint32_t i = last; i > first && last - i < RECENT_IMAGES; i--) {
        const report_image *image = &r->images[i - 1];
        bool alike = image->has_uuid == (uuid != NULL) &&
                     (uuid == NULL || memcmp(&image->uuid, uuid, sizeof *uuid) == 0);
        if (image->base == base && alike && str_equal(image->path, path))
            return i - 1;
    }
    report_image *image = report_add_image(r);
    image->base = base;
    image->path = path;
    image->name = str_base_name(path);
    image->has_uuid = uuid != NULL;
    if (uuid != NULL)
        image->uuid = *uuid;
    return last;
}

/* Threads without a number are numbered from the first one of their report. */
report_thread *report_add_thread(report *r)
{
    uint32_t first = r->part_count > 0 ? r->parts[r->part_count - 1].thread : 0;
    report_thread *thread =
        (report_thread *)mem_add(r->memory, &r->threads, &r->thread_count, &r->thread_cap, sizeof *thread);
    thread->first = r->frame_count;
    thread->number = r->thread_count - 1 - first;
    return thread;
}

report_frame *report_add_frame(report *r)
{
    report_frame *frame =
        (report_frame *)mem_add(r->memory, &r->frames, &r->frame_count, &r->frame_cap, sizeof *frame);
    frame->image = REPORT_NONE;
    frame->thread = r->thread_count - 1;
    r->threads[frame->thread].count++;
    return frame;
}

void report_infer_frame(report *r, uint32_t below, uint64_t addr, uint32_t image)
{
    report_frame caller;
    uint32_t thread = r->frames[below].thread, at = below + 1;
    mem_add(r->memory, &r->frames, &r->frame_count, &r->frame_cap, sizeof caller);
    memmove(r->frames + at + 1, r->frames + at, (r->frame_count - 1 - at) * sizeof caller);
    memset(&caller, 0, sizeof caller);
    caller.addr = caller.given = addr;
    caller.at = caller.end = caller.symbol_at = caller.symbol_end = r->frames[below].end;
    caller.image = image;
    caller.thread = thread;
    caller.index = r->frames[below].index;
    caller.form = FORM_INFERRED;
    caller.escape = r->frames[below].escape;
    caller.is_placed = true;
    caller.found_by = "leaf";
    r->frames[at] = caller;
    r->threads[thread].count++;
    for (uint32_t i = 0; i < r->thread_count; i++)
        r->threads[i].first += i != thread && r->threads[i].first >= at;
    for (uint32_t i = 0; i < r->part_count; i++)
        r->parts[i].frame += r->parts[i].frame >= at;
}

bool report_next_other(machsym_str *rest, machsym_str *name)
{
    const char *end = rest->len > 0 ? (const char *)memchr(rest->ptr, 0, rest->len) : NULL;
    if (end == NULL)
        return false;
    *name = str_make(rest->ptr, (size_t)(end - rest->ptr));
    *rest = str_from(*rest, name->len + 1);
    return true;
}

report_call *report_add_call(report *r)
{
    return (report_call *)mem_add(r->memory, &r->calls, &r->call_count, &r->call_cap, sizeof *r->calls);
}

report_carried *report_add_carried(report *r)
{
    report_carried *carried = (report_carried *)mem_add(r->memory, &r->carried, &r->carried_count,
                                                        &r->carried_cap, sizeof *carried);
    carried->edits.added = text_in(r->memory);
    return carried;
}

void report_set_fact(report *r, report_fact fact, machsym_str value)
{
    value = str_trim(value);
    if (r->facts[fact].len == 0)
        r->facts[fact] = value;
}

machsym_str report_json_str(report *r, const json *doc, uint32_t token)
{
    machsym_str raw = json_raw(doc, token);
    text plain = text_in(r->memory);
    if (raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL)
        return raw;
    json_unescape(&plain, raw);
    raw = pool_copy(&r->strings, plain.v, plain.len);
    text_free(&plain);
    return raw;
}

void report_count_frames(report *r, resolve_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    for (uint32_t i = 0; i < r->image_count; i++)
        r->images[i].frame_count = r->images[i].missing = r->images[i].waiting = 0;
    for (uint32_t i = 0; i < r->frame_count; i++) {
        const report_frame *frame = &r->frames[i];
        if (r->threads[frame->thread].is_echo)
            continue;
        counts->frames++;
        report_image *image = frame->image != REPORT_NONE ? &r->images[frame->image] : NULL;
        bool has_line = frame->call_count > 0 && r->calls[frame->call + frame->call_count - 1].has_line;
        bool is_missing = frame->call_count == 0 && frame->named == NAME_NONE;
        if (has_line)
            counts->dwarf++;
        else if (frame->call_count > 0)
            counts->symbols++;
        else if (!is_missing)
            counts->given++;
        else
            counts->missing++;
        if (image == NULL)
            continue;
        image->frame_count++;
        image->missing += is_missing;
        image->waiting += !has_line && !frame->given_inline && frame->named != NAME_GIVEN;
    }
}

const char *report_kind_name(report_kind kind)
{
    static const char *const names[] = {
#define REPORT_KIND_WORDS(kind, words, ...) words,
        REPORT_KINDS(REPORT_KIND_WORDS, REPORT_KIND_WORDS, REPORT_KIND_WORDS)
#undef REPORT_KIND_WORDS
    };
    return names[kind];
}

const char *report_thread_kind_name(thread_kind kind)
{
    static const char *const names[] = {"thread", "last exception", "application specific"};
    return names[kind];
}

void report_close(report *r)
{
    for (uint32_t i = 0; i < r->doc_count; i++)
        json_free(&r->docs[i]);
    mem_give(r->memory, r->docs);
    mem_give(r->memory, r->images);
    mem_give(r->memory, r->threads);
    mem_give(r->memory, r->frames);
    mem_give(r->memory, r->calls);
    mem_give(r->memory, r->registers);
    mem_give(r->memory, r->parts);
    for (uint32_t i = 0; i < r->carried_count; i++) {
        mem_give(r->memory, r->carried[i].edits.v);
        text_free(&r->carried[i].edits.added);
    }
    mem_give(r->memory, r->carried);
    mem_give(r->memory, r->redactions.v);
    mem_give(r->memory, r->carried_strings);
    mem_give(r->memory, r->shadow);
    text_free(&r->changed);
    pool_free(&r->strings);
    memset(r, 0, sizeof *r);
}
