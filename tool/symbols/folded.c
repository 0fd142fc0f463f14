/* Functions that share their code; see folded.h. */
#include "folded.h"
#include "../../report/base/memory.h"
#include "frames.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDED_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1, FOLDED_NAMED = 3 };

/* By name; of equal names the one with a line comes first. */
static int folded_by_name(const void *a, const void *b)
{
    const folded_one *x = a;
    const folded_one *y = b;
    int order = str_order(x->shown, y->shown);
    if (order != 0)
        return order;
    if (x->frame.line != y->frame.line)
        return x->frame.line == 0 || (y->frame.line != 0 && y->frame.line < x->frame.line) ? 1 : -1;
    return x->frame.die_offset < y->frame.die_offset ? -1 : x->frame.die_offset > y->frame.die_offset;
}

/* Adds a function. Its name is a length in names until all are there, since names move as they grow. */
static void folded_add(folded_list *list, const machsym_frame *frame, const frame_style *style)
{
    list->v = mem_room(list->v, list->count, &list->cap, sizeof *list->v);
    folded_one *one = &list->v[list->count++];
    size_t from = list->names.len;
    frame_put_name(&list->names, frame, style);
    one->frame = *frame;
    one->shown = (machsym_str){NULL, list->names.len - from};
}

static bool folded_is_same_place(const machsym_frame *a, const machsym_frame *b)
{
    return a->line == b->line && str_order(a->file.name, b->file.name) == 0 &&
           str_order(a->file.dir, b->file.dir) == 0;
}

/* Sorts the list, and drops what is there twice or is the answer itself. */
static void folded_settle(folded_list *list, const machsym_frame *own, size_t own_len)
{
    size_t at = own_len;
    size_t kept = 0;
    const folded_one answer = {*own, {list->names.v, own_len}, false};
    for (size_t i = 0; i < list->count; i++) {
        list->v[i].shown.ptr = list->names.v + at;
        at += list->v[i].shown.len;
    }
    if (list->count > 0)
        qsort(list->v, list->count, sizeof *list->v, folded_by_name);
    list->name_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        folded_one *one = &list->v[i];
        const folded_one *before = kept > 0 ? &list->v[kept - 1] : &answer;
        bool like_answer = str_order(one->shown, answer.shown) == 0;
        bool like_before = str_order(one->shown, before->shown) == 0;
        one->is_namesake = like_answer || like_before;
        if (one->shown.len == 0 || (one->is_namesake && one->frame.line == 0) ||
            (like_answer && folded_is_same_place(&one->frame, &answer.frame)) ||
            (like_before && folded_is_same_place(&one->frame, &before->frame)))
            continue;
        list->name_count += !one->is_namesake;
        list->v[kept++] = *one;
    }
    list->count = kept;
}

void folded_find(symbol_source *source, uint64_t addr, const machsym_frame *own, const frame_style *style,
                 folded_list *list)
{
    machsym_frame frames[FOLDED_FRAMES];
    machsym_cursor at = {0, 0};
    list->count = 0;
    list->names.len = 0;
    if (symbol_source_next_folded(source, addr, &at, frames, FOLDED_FRAMES) == 0) /* the answer itself */
        return;
    frame_put_name(&list->names, own, style);
    size_t own_len = list->names.len;
    for (size_t count; (count = symbol_source_next_folded(source, addr, &at, frames, FOLDED_FRAMES)) > 0;)
        folded_add(list, &frames[count - 1], style);
    folded_settle(list, own, own_len);
}

void folded_put(text *t, const folded_list *list)
{
    const char *between = "";
    if (list->name_count == 0)
        return;
    text_c(t, " (or ");
    if (list->name_count > FOLDED_NAMED) {
        text_dec(t, list->name_count);
        text_c(t, " others)");
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->v[i].is_namesake)
            continue;
        text_c(t, between);
        text_str(t, list->v[i].shown);
        between = ", ";
    }
    text_c(t, ": one body)");
}

void folded_put_json(text *t, const folded_list *list, uint64_t addr, const frame_style *style)
{
    if (list->count == 0)
        return;
    text_c(t, ",\"folded\":[");
    for (size_t i = 0; i < list->count; i++) {
        text_c(t, i > 0 ? "," : "");
        frame_put_json(t, &list->v[i].frame, addr, style);
    }
    text_char(t, ']');
}

void folded_free(folded_list *list)
{
    free(list->v);
    text_free(&list->names);
    memset(list, 0, sizeof *list);
}
