/* Documents that hold several reports; see parts.h. */

#include "parts.h"
#include "../base/json.h"
#include "../base/memory.h"
#include <stdlib.h>
#include <string.h>

/* Returns the array element that the object is, or that the object is a member of: KSCrash's report holds
 * that of the crash reporter in a member. */
static uint32_t parts_element_of(const json *doc, uint32_t object)
{
    uint32_t parent = doc->v[object].parent;
    if (json_is(doc, parent, JSON_OBJECT)) {
        object = parent;
        parent = doc->v[object].parent;
    }
    return json_is(doc, parent, JSON_ARRAY) ? object : JSON_NONE;
}

void parts_begin(report *r, uint32_t doc_index, uint32_t object)
{
    parts_end(r);
    report_part *part =
        (report_part *)mem_add(r->memory, &r->parts, &r->part_count, &r->part_cap, sizeof *part);
    part->doc = doc_index;
    part->element = parts_element_of(&r->docs[doc_index], object);
    if (r->part_count == 1)
        return; /* what stands before the first part belongs to it */
    part->thread = r->thread_count;
    part->frame = r->frame_count;
    memset(r->facts, 0, sizeof r->facts);
}

void parts_end(report *r)
{
    if (r->part_count == 0)
        return;
    report_part *part = &r->parts[r->part_count - 1];
    part->kind = r->kind;
    memcpy(part->facts, r->facts, sizeof r->facts);
}

uint32_t parts_count(const report *r)
{
    return r->part_count > 1 ? r->part_count : 1;
}

static int parts_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    MACHSYM_COUNT_WORK(1);
    return x < y ? -1 : x > y;
}

static bool parts_is_below(const void *element, const void *key)
{
    return *(const uint32_t *)element < *(const uint32_t *)key;
}

/* Registers point to images of the part, or to no image. */
static void parts_take_registers(const report *whole, report *out, const uint32_t *used)
{
    uint32_t lo = UINT32_MAX;
    uint32_t hi = 0;
    for (uint32_t i = 0; i < out->thread_count; i++) {
        const report_thread *thread = &out->threads[i];
        uint32_t end = thread->first_register + thread->register_count;
        lo = thread->register_count > 0 && thread->first_register < lo ? thread->first_register : lo;
        hi = end > hi ? end : hi;
    }
    out->register_count = lo < hi ? hi - lo : 0;
    out->registers = (report_register *)mem_take(whole->memory, out->register_count * sizeof *out->registers);
    for (uint32_t i = 0; i < out->register_count; i++) {
        report_register *one = &out->registers[i];
        *one = whole->registers[lo + i];
        size_t at = mem_lower_bound(used, out->image_count, sizeof *used, &one->image, parts_is_below);
        bool is_used = at < out->image_count && used[at] == one->image;
        one->image = is_used ? (uint32_t)at : REPORT_NONE;
    }
    for (uint32_t i = 0; i < out->thread_count && out->register_count > 0; i++)
        out->threads[i].first_register -= out->threads[i].register_count > 0 ? lo : 0;
}

/* Copies the images that the part uses, in the report's order, and renumbers the frames. */
static void parts_take_images(const report *whole, report *out)
{
    uint32_t *used = (uint32_t *)mem_take(whole->memory, out->frame_count * sizeof *used);
    uint32_t count = 0;
    for (uint32_t i = 0; i < out->frame_count; i++) {
        if (out->frames[i].image != REPORT_NONE)
            used[count++] = out->frames[i].image;
    }
    qsort(used, count, sizeof *used, parts_by_number);
    out->images = (report_image *)mem_take(whole->memory, count * sizeof *out->images);
    out->image_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && used[i] == used[i - 1])
            continue;
        used[out->image_count] = used[i];
        out->images[out->image_count++] = whole->images[used[i]];
    }
    for (uint32_t i = 0; i < out->frame_count; i++) {
        uint32_t *image = &out->frames[i].image;
        if (*image != REPORT_NONE)
            *image = (uint32_t)mem_lower_bound(used, out->image_count, sizeof *used, image, parts_is_below);
    }
    parts_take_registers(whole, out, used);
    mem_give(whole->memory, used);
}

void parts_take(const report *whole, uint32_t index, report *out)
{
    const report_part *part = &whole->parts[index];
    bool is_last = index + 1 == whole->part_count;
    uint32_t threads_end = is_last ? whole->thread_count : part[1].thread;
    uint32_t frames_end = is_last ? whole->frame_count : part[1].frame;
    *out = *whole;
    out->part = index + 1;
    out->kind = part->kind;
    out->number = (whole->number > 0 ? whole->number : 1) + index;
    out->thread_count = threads_end - part->thread;
    out->frame_count = frames_end - part->frame;
    out->threads = (report_thread *)mem_take(whole->memory, out->thread_count * sizeof *out->threads);
    out->frames = (report_frame *)mem_take(whole->memory, out->frame_count * sizeof *out->frames);
    for (uint32_t i = 0; i < out->thread_count; i++) {
        out->threads[i] = whole->threads[part->thread + i];
        out->threads[i].first -= part->frame;
    }
    for (uint32_t i = 0; i < out->frame_count; i++) {
        out->frames[i] = whole->frames[part->frame + i];
        out->frames[i].thread -= part->thread;
    }
    memcpy(out->facts, part->facts, sizeof out->facts);
    parts_take_images(whole, out);
}

void parts_free(report *part)
{
    mem_give(part->memory, part->threads);
    mem_give(part->memory, part->frames);
    mem_give(part->memory, part->images);
    mem_give(part->memory, part->registers);
}
