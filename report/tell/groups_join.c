/* Groups of reports that say less are shown with the one group that says more; see groups.h. */
#include "groups.h"
#include "../base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Groups of one stack to compare with each other. If more exceptions and messages share a stack, a report
 * without them cannot be assigned. */
enum { MAX_OF_STACK = 64 };

/* ---- Which group says more ---- */

static unsigned groups_told(const group *g)
{
    unsigned told = 0;
    for (unsigned i = 0; i < PART_STACK; i++)
        told += g->sign.part_len[i] > 0;
    return told;
}

/* Whether one has all parts of the other and more. Their stacks are equal. If the other's frames identify
 * nothing, the exception must be there. */
static bool groups_tells_more(const group *one, const group *other)
{
    bool has_more = false;
    if (!signature_tells(&other->sign) && other->sign.part_len[PART_EXCEPTION] == 0)
        return false;
    for (unsigned i = 0; i < PART_STACK; i++) {
        machsym_str a = signature_part_of(&one->sign, (signature_part)i);
        machsym_str b = signature_part_of(&other->sign, (signature_part)i);
        if (b.len > 0 && !str_equal(a, b))
            return false;
        has_more |= a.len > b.len;
    }
    MACHSYM_COUNT_WORK(1);
    return has_more;
}

static int groups_by_stack(const void *a, const void *b)
{
    const group *x = *(group *const *)a;
    const group *y = *(group *const *)b;
    machsym_str sx = signature_part_of(&x->sign, PART_STACK);
    machsym_str sy = signature_part_of(&y->sign, PART_STACK);
    size_t len = sx.len < sy.len ? sx.len : sy.len;
    int order = len > 0 ? memcmp(sx.ptr, sy.ptr, len) : 0;
    unsigned tx = groups_told(x);
    unsigned ty = groups_told(y);
    MACHSYM_COUNT_WORK(1);
    if (order != 0 || sx.len != sy.len)
        return order != 0 ? order : sx.len < sy.len ? -1 : 1;
    return tx != ty ? (tx > ty ? -1 : 1) : group_compare_signatures(&x->sign, &y->sign);
}

/* Joins the groups of one stack, starting with those that say most. So each group's place is known before a
 * group that says less asks for it. */
static void groups_join_stack(group **v, size_t count)
{
    if (count > MAX_OF_STACK || v[0]->sign.frame_count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        group *only = NULL;
        size_t fits = 0;
        for (size_t k = 0; k < i; k++) {
            if (v[k]->joined == NULL && groups_tells_more(v[k], v[i])) {
                only = v[k];
                fits++;
            }
        }
        v[i]->joined = fits == 1 ? only : NULL;
    }
}

/* ---- What is shown ---- */

static void groups_add_to(group *sum, const group *g)
{
    sum->reports += g->reports;
    sum->added += g->added;
    sum->before = g->before > sum->before ? g->before : sum->before;
    for (unsigned i = 0; i < g->day_count; i++)
        group_count_day(sum, g->days[i].on, g->days[i].reports);
    sum->first = sum->first == 0 || (g->first != 0 && g->first < sum->first) ? g->first : sum->first;
    sum->last = g->last > sum->last ? g->last : sum->last;
    for (size_t i = 0; i < g->version_count; i++) {
        const version_reports *v = &g->versions[i];
        group_count_version(sum, str_make(v->name.v, v->name.len), v->reports, v->first, v->last);
    }
    for (size_t i = 0; i < g->path_count; i++) {
        sum->paths = (const char **)mem_room(sum->paths, sum->path_count, &sum->path_cap, sizeof *sum->paths);
        sum->paths[sum->path_count++] = g->paths[i];
    }
}

static group *groups_copy(const group *g)
{
    signature s = g->sign;
    memset(&s.words, 0, sizeof s.words);
    text_add(&s.words, g->sign.words.v, g->sign.words.len);
    group *copy = group_new(&s);
    groups_add_to(copy, g);
    return copy;
}

/* A group that stands alone is shown itself. If others join it, their sum is shown instead. */
static void groups_show(group **order, size_t count, groups_shown *out)
{
    for (size_t i = 0; i < count; i++)
        order[i]->head = NULL;
    for (size_t i = 0; i < count; i++) {
        group *to = order[i]->joined;
        if (to == NULL)
            continue;
        if (to->head == NULL)
            out->list.v[out->made++] = to->head = groups_copy(to);
        groups_add_to(to->head, order[i]);
    }
    out->list.count = out->made;
    for (size_t i = 0; i < count; i++) {
        if (order[i]->joined == NULL && order[i]->head == NULL)
            out->list.v[out->list.count++] = order[i];
    }
}

void groups_join(const group_list *groups, groups_shown *out)
{
    group **order = (group **)mem_alloc(groups->count * sizeof *order);
    memset(out, 0, sizeof *out);
    out->list.known_until = groups->known_until;
    out->list.has_state = groups->has_state;
    out->list.v = (group **)mem_alloc(groups->count * sizeof *out->list.v);
    for (size_t i = 0; i < groups->count; i++)
        order[i] = groups->v[i];
    qsort(order, groups->count, sizeof *order, groups_by_stack);
    for (size_t lo = 0, hi; lo < groups->count; lo = hi) {
        machsym_str stack = signature_part_of(&order[lo]->sign, PART_STACK);
        hi = lo + 1;
        while (hi < groups->count && str_equal(signature_part_of(&order[hi]->sign, PART_STACK), stack))
            hi++;
        groups_join_stack(order + lo, hi - lo);
    }
    groups_show(order, groups->count, out);
    free(order);
}

void groups_free_shown(groups_shown *shown)
{
    for (size_t i = 0; i < shown->made; i++)
        group_free(shown->list.v[i]);
    free(shown->list.v);
}
