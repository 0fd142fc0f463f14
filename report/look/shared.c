/* Functions that share their code; see shared.h. */
#include "shared.h"
#include "../base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1, SHARED_NAMED = 3 };

/* By name. Of equal names, the one with a line comes first. */
static int shared_by_name(const void *a, const void *b)
{
    const shared_one *x = (const shared_one *)a;
    const shared_one *y = (const shared_one *)b;
    int order = str_order(x->shown, y->shown);
    if (order != 0)
        return order;
    if (x->frame.line != y->frame.line)
        return x->frame.line == 0 || (y->frame.line != 0 && y->frame.line < x->frame.line) ? 1 : -1;
    return x->frame.die_offset < y->frame.die_offset ? -1 : x->frame.die_offset > y->frame.die_offset;
}

/* Adds a function. Its name is kept as a length in `names` until all are added, since `names` moves as it
 * grows. */
static void shared_add(shared_list *list, const machsym_frame *frame, const shared_asked *asked)
{
    list->v = (shared_one *)mem_more(list->names.memory, list->v, list->count, &list->cap, sizeof *list->v);
    shared_one *one = &list->v[list->count++];
    size_t from = list->names.len;
    asked->put_name(asked->context, frame, &list->names);
    one->frame = *frame;
    one->shown = str_make(NULL, list->names.len - from);
}

static bool shared_is_same_place(const machsym_frame *a, const machsym_frame *b)
{
    return a->line == b->line && str_order(a->file.name, b->file.name) == 0 &&
           str_order(a->file.dir, b->file.dir) == 0;
}

/* Sorts the list, and drops duplicates and the answer itself. */
static void shared_settle(shared_list *list, const machsym_frame *own, size_t own_len)
{
    size_t at = own_len;
    size_t kept = 0;
    const shared_one answer = {*own, {list->names.v, own_len}, false};
    for (size_t i = 0; i < list->count; i++) {
        list->v[i].shown.ptr = list->names.v + at;
        at += list->v[i].shown.len;
    }
    if (list->count > 0)
        qsort(list->v, list->count, sizeof *list->v, shared_by_name);
    list->name_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        shared_one *one = &list->v[i];
        const shared_one *before = kept > 0 ? &list->v[kept - 1] : &answer;
        bool like_answer = str_order(one->shown, answer.shown) == 0;
        bool like_before = str_order(one->shown, before->shown) == 0;
        one->is_namesake = like_answer || like_before;
        if (one->shown.len == 0 || (one->is_namesake && one->frame.line == 0) ||
            (like_answer && shared_is_same_place(&one->frame, &answer.frame)) ||
            (like_before && shared_is_same_place(&one->frame, &before->frame)))
            continue;
        list->name_count += !one->is_namesake;
        list->v[kept++] = *one;
    }
    list->count = kept;
}

void shared_find(const shared_asked *asked, uint64_t addr, const machsym_frame *own, shared_list *list)
{
    machsym_frame frames[SHARED_FRAMES];
    machsym_cursor at = {0, 0};
    list->count = 0;
    list->names.len = 0;
    if (asked->next(asked->context, addr, &at, frames, SHARED_FRAMES) == 0) /* the answer itself */
        return;
    asked->put_name(asked->context, own, &list->names);
    size_t own_len = list->names.len;
    for (size_t count; (count = asked->next(asked->context, addr, &at, frames, SHARED_FRAMES)) > 0;)
        shared_add(list, &frames[count - 1], asked);
    shared_settle(list, own, own_len);
}

void shared_put(text *t, const shared_list *list)
{
    const char *between = "";
    if (list->name_count == 0)
        return;
    text_c(t, " (or ");
    if (list->name_count > SHARED_NAMED) {
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

void shared_free(shared_list *list)
{
    mem_give(list->names.memory, list->v);
    text_free(&list->names);
    text names = list->names;
    memset(list, 0, sizeof *list);
    list->names = names;
}
