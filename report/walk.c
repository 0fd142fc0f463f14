/* All reports that an input holds; see walk.h. */
#include "walk.h"
#include "model/carried.h"
#include "model/parts.h"
#include "read/recognise.h"
#include "read/split.h"
#include "write/write.h"

#include <string.h>

/* ---- Where an input lies ---- */

/* An input, or a text that a report carries. */
typedef struct walk_place {
    const struct walk_place *up; /* NULL: the input */
    const report *r;             /* the report that carries the text */
    const report_carried *carried;
    size_t base; /* begin of the current piece */
    unsigned depth;
} walk_place;

/* Returns where a byte of the current piece lies in the input. */
static size_t walk_place_in_input(const walk_place *place, size_t at)
{
    for (; place->up != NULL; place = place->up)
        at = carried_place(place->r, place->carried, place->base + at);
    return place->base + at;
}

/* Opens a piece. If a report carries it, user names were already replaced there, but not its fields, which
 * are recognised only now. */
static void walk_open_piece(const report_walk *w, machsym_str piece, const walk_place *place, report *r)
{
    if (place->up == NULL) {
        report_open_redacted(w->memory, r, piece.ptr, piece.len, w->loads, w->load_count, w->tables,
                             w->redact);
    } else {
        redactor again = {{0, 0}, false, false};
        if (w->redact != NULL)
            again = *w->redact;
        again.is_again = true;
        again.is_raw = place->carried->is_raw;
        report_open_carried(w->memory, r, piece, place->depth, w->loads, w->load_count,
                            w->redact != NULL ? &again : NULL);
    }
    r->rules = w->rules.owner != NULL ? &w->rules : NULL;
    if (r->failure != NULL && r->failed_at > 0)
        r->failed_at = walk_place_in_input(place, r->failed_at);
    if (r->cut_at > 0)
        r->cut_at = walk_place_in_input(place, r->cut_at);
}

/* ---- One document ---- */

/* What was found in a piece of an input, or in all of it. */
typedef struct walk_result {
    bool has_stopped;
    uint32_t found;
    uint32_t kept;
} walk_result;

/* rooms: recursion */
static walk_result walk_text(report_walk *w, machsym_str input, const walk_place *place, text *out,
                             edit_list *edits);

static walk_result walk_carried(report_walk *w, report *r, uint32_t index, const walk_place *place)
{
    report_carried *carried = &r->carried[index];
    walk_place inner = {place, r, carried, 0, r->depth + 1};
    text plain = text_in(r->memory);
    carried_text(r, carried, &plain);
    walk_result result = walk_text(w, str_make(plain.v, plain.len), &inner, NULL, &carried->edits);
    if (carried->edits.count > 0) { /* a document may carry a million texts, so unused memory is freed */
        carried->edits.v =
            (edit *)mem_resize(r->memory, carried->edits.v, carried->edits.count * sizeof *carried->edits.v);
        carried->edits.cap = carried->edits.count;
    }
    carried_mark_left_out(r, carried);
    carried->is_kept = result.kept > 0;
    carried->is_left_out = result.found > 0 && result.kept == 0;
    text_free(&plain);
    return result;
}

/* Whether a carried text comes before a part of the report, or before the only one. */
static bool walk_is_before(const report *r, const report_carried *carried, uint32_t part)
{
    if (r->part_count > 1)
        return carried->part <= part;
    return r->frame_count == 0 || carried->at < r->frames[0].at;
}

static void walk_add_result(walk_result *to, walk_result result)
{
    to->has_stopped |= result.has_stopped;
    to->found += result.found;
    to->kept += result.kept;
}

/* The document's own reports. They are looked up together, when the first one is reached. */
typedef struct walk_own {
    resolve_counts counts;
    walk_step step;
    uint32_t kept;
} walk_own;

static void walk_answer_own(report_walk *w, report *r, uint32_t part, walk_own *own)
{
    uint32_t count = parts_count(r);
    r->number = w->has_number ? w->held + 1 - part : 0;
    if (w->only_counts) {
        own->kept++;
    } else if (part == 0) {
        memset(&own->counts, 0, sizeof own->counts);
        own->step = w->look_up(w->context, r, &own->counts);
    }
    w->held++;
    if (w->only_counts || own->step == WALK_STOP)
        return;
    if (own->step == WALK_BROKEN) {
        own->kept++;
    } else if (count == 1) {
        own->kept += own->step == WALK_ANSWER && w->answer(w->context, r, &own->counts);
    } else if (own->step == WALK_ANSWER) {
        report one;
        resolve_counts counts;
        parts_take(r, part, &one);
        report_count_frames(&one, &counts);
        r->parts[part].is_left_out = !w->answer(w->context, &one, &counts);
        own->kept += !r->parts[part].is_left_out;
        parts_free(&one);
    }
}

/* If a report cannot be answered, its names are removed. */
static void walk_drop_names(report *r)
{
    for (uint32_t i = 0; i < r->frame_count; i++)
        r->frames[i].call_count = 0;
}

static bool walk_is_over(const report_walk *w, const walk_result *result)
{
    return result->has_stopped || (w->only_counts && w->held > 1);
}

/* Walks over a document's own reports and its carried texts, in their order. */
static walk_result walk_document(report_walk *w, report *r, const walk_place *place)
{
    walk_result result = {false, 0, 0};
    walk_own own;
    uint32_t count = report_is_one(r) ? parts_count(r) : 0;
    uint32_t next = 0;
    memset(&own, 0, sizeof own);
    for (uint32_t i = 0; i <= count && !walk_is_over(w, &result); i++) {
        for (; next < r->carried_count && (i == count || walk_is_before(r, &r->carried[next], i)); next++) {
            if (walk_is_over(w, &result))
                return result;
            walk_add_result(&result, walk_carried(w, r, next, place));
        }
        if (i < count && !walk_is_over(w, &result)) {
            walk_answer_own(w, r, i, &own);
            result.found++;
            result.has_stopped |= own.step == WALK_STOP;
        }
    }
    if (count == 0 && result.found == 0 && place->up == NULL && !walk_is_over(w, &result)) {
        walk_answer_own(w, r, 0, &own); /* it reports why the input is not a report */
        result.found++;
        result.has_stopped |= own.step == WALK_STOP;
    }
    result.kept += own.kept;
    if (own.step == WALK_BROKEN)
        walk_drop_names(r);
    else if (own.kept > 0 && w->end != NULL && !w->only_counts)
        w->end(w->context, r, &own.counts);
    return result;
}

/* ---- All of them ---- */

/* Reports are numbered only if the input has several. */
static bool walk_has_several(const report_walk *w, report *r, const walk_place *place)
{
    report_walk counting = *w;
    counting.only_counts = true;
    counting.held = 0;
    if (r->carried_count > 0)
        walk_document(&counting, r, place);
    for (uint32_t i = 0; i < r->carried_count; i++)
        r->carried[i].is_kept = false;
    return counting.held > 1;
}

static void walk_write_piece(const report_walk *w, const report *r, const walk_result *result,
                             const walk_place *place, text *out, edit_list *edits)
{
    bool is_left_out = result->found > 0 && result->kept == 0;
    if (w->same == NULL || w->only_counts)
        return;
    if (out != NULL && result->kept > 0)
        write_same(r, w->same, out);
    else if (edits != NULL && is_left_out)
        write_edit_out(edits, place->base, place->base + r->input.len);
    else if (edits != NULL)
        write_edits(r, w->same, place->base, edits);
}

/* Walks over the pieces of an input, one after the other. */
static walk_result walk_text(report_walk *w, machsym_str input, const walk_place *place, text *out,
                             edit_list *edits)
{
    walk_result all = {false, 0, 0};
    walk_place piece = *place;
    bool is_first = true;
    while ((is_first || piece.base < input.len) && !walk_is_over(w, &all)) {
        machsym_str rest = {input.ptr + piece.base, input.len - piece.base};
        report r;
        rest.len = split_first_len(rest);
        walk_open_piece(w, rest, &piece, &r);
        if (is_first && place->up == NULL)
            w->has_number = rest.len < input.len || walk_has_several(w, &r, &piece);
        walk_result result = walk_document(w, &r, &piece);
        walk_write_piece(w, &r, &result, &piece, out, edits);
        walk_add_result(&all, result);
        report_close(&r);
        piece.base += rest.len;
        is_first = false;
    }
    return all;
}

bool walk_all(report_walk *w, machsym_str input, text *out)
{
    walk_place place = {NULL, NULL, NULL, 0, 0};
    w->held = 0;
    return !walk_text(w, input, &place, out, NULL).has_stopped;
}
