/* Families of similar groups; see groups.h.
 *
 * The measure is a global alignment of two stacks, as in TraceSim (Rodrigues et al., Empirical Software
 * Engineering, 2022): a frame weighs the more the nearer it is to the top, and the fewer families have it.
 * Frames that are aligned with their equal count for it, those that are left over count against it, and the
 * sum is divided by the weight of all. It is computed in whole numbers, so that every machine finds the
 * same families. */

#include "groups.h"
#include "../base/memory.h"
#include <stdlib.h>
#include <string.h>

enum { SIMILAR_MAX_FRAMES = sizeof((signature *)0)->frames / sizeof(uint64_t) };

/* Weights. The top frame weighs TOP_WEIGHT. Each frame below weighs DECAY_UP / DECAY_DOWN of the one above,
 * so five frames have three quarters of the weight of an endless stack. A frame that every family has weighs
 * a fifth. Frames that are aligned SHIFT steps apart count half. Two stacks of three frames score 42 of 100
 * if one lacks the other's top frame, and 13 if their top frames differ: these are two crashes with one
 * caller. */
enum { TOP_WEIGHT = 1 << 20, DECAY_UP = 3, DECAY_DOWN = 4, COMMON = 4, SHIFT = 8, SIMILAR_PERCENT = 40 };

/* Most heads that a group is compared with, and most places that are searched for each of its frames. A frame
 * that very many heads share says little. */
enum { MAX_CANDIDATES = 64, MAX_TRIES = 64 };

/* A frame with a head that has it; in the other table, with the number of heads that have it. */
typedef struct frame_entry {
    uint64_t frame;
    group *head;
    uint64_t count;
} frame_entry;

/* An open hash table. An attacker can make many frames that hash to one place, so probes are bounded. Frames
 * that find no place count as rare, or lead to no head. */
typedef struct frame_table {
    frame_entry *v;
    size_t size;
} frame_table;

typedef struct families {
    frame_table heads;
    frame_table counts;
    uint64_t count; /* of heads */
} families;

/* ---- Tables ---- */

/* The table is at most half full. */
static void groups_table_open(frame_table *table, size_t frames)
{
    table->size = 64;
    while (table->size < frames * 2)
        table->size *= 2;
    table->v = (frame_entry *)mem_alloc(table->size * sizeof *table->v);
    memset(table->v, 0, table->size * sizeof *table->v);
}

/* Returns the next entry of a frame, or with is_new a free one; NULL: not found within the bound. *tries must
 * begin at 0. */
static frame_entry *groups_table_next(const frame_table *table, uint64_t frame, unsigned *tries, bool is_new)
{
    while (*tries < MAX_TRIES) {
        frame_entry *entry = &table->v[(frame + (*tries)++) & (table->size - 1)];
        MACHSYM_COUNT_WORK(1);
        if (entry->frame == 0)
            return is_new ? entry : NULL;
        if (entry->frame == frame && !is_new)
            return entry;
    }
    return NULL;
}

static void groups_add_head(families *all, group *head)
{
    const signature *s = &head->sign;
    all->count++;
    for (unsigned i = 0; i < s->frame_count; i++) {
        unsigned tries = 0;
        frame_entry *entry = groups_table_next(&all->heads, s->frames[i], &tries, true);
        if (entry != NULL) {
            entry->frame = s->frames[i];
            entry->head = head;
        }
        tries = 0;
        entry = groups_table_next(&all->counts, s->frames[i], &tries, false);
        tries = 0;
        if (entry == NULL)
            entry = groups_table_next(&all->counts, s->frames[i], &tries, true);
        if (entry != NULL) {
            entry->frame = s->frames[i];
            entry->count++;
        }
    }
}

/* ---- The measure ---- */

static bool groups_has_frame(const signature *s, uint64_t frame)
{
    for (unsigned i = 0; i < s->frame_count; i++) {
        if (s->frames[i] == frame)
            return true;
    }
    return false;
}

/* Weights of a stack's frames by position. The current head does not make its own frames common. */
static void groups_weigh(const families *all, const signature *s, const signature *head, int64_t *weights)
{
    uint64_t place = TOP_WEIGHT;
    for (unsigned i = 0; i < s->frame_count; i++) {
        unsigned tries = 0;
        const frame_entry *entry = groups_table_next(&all->counts, s->frames[i], &tries, false);
        uint64_t others = entry != NULL ? entry->count - groups_has_frame(head, s->frames[i]) : 0;
        weights[i] = (int64_t)(place * all->count / (all->count + COMMON * others));
        place = place * DECAY_UP / DECAY_DOWN;
    }
}

static int64_t groups_largest(int64_t a, int64_t b, int64_t c)
{
    int64_t most = a > b ? a : b;
    return most > c ? most : c;
}

/* Returns the score of the best alignment: matches minus mismatches. */
static int64_t groups_align(const signature *a, const int64_t *wa, const signature *b, const int64_t *wb)
{
    int64_t row[SIMILAR_MAX_FRAMES + 1];
    row[0] = 0;
    for (unsigned k = 0; k < b->frame_count; k++)
        row[k + 1] = row[k] - wb[k];
    for (unsigned i = 0; i < a->frame_count; i++) {
        int64_t before = row[0]; /* the value of the row above, one to the left */
        row[0] -= wa[i];
        for (unsigned k = 0; k < b->frame_count; k++) {
            int64_t steps = i > k ? i - k : k - i;
            int64_t both = wa[i] + wb[k];
            int64_t pair = a->frames[i] == b->frames[k] ? both * SHIFT / (SHIFT + steps) : -both;
            int64_t best = groups_largest(before + pair, row[k + 1] - wa[i], row[k] - wb[k]);
            before = row[k + 1];
            row[k + 1] = best;
        }
    }
    MACHSYM_COUNT_WORK(a->frame_count);
    return row[b->frame_count];
}

/* Returns the similarity of two stacks in percent; below 0 if mismatches prevail. */
static int64_t groups_similarity(const families *all, const signature *a, const signature *head)
{
    int64_t wa[SIMILAR_MAX_FRAMES];
    int64_t wb[SIMILAR_MAX_FRAMES];
    int64_t sum = 0;
    groups_weigh(all, a, head, wa);
    groups_weigh(all, head, head, wb);
    for (unsigned i = 0; i < a->frame_count; i++)
        sum += wa[i];
    for (unsigned i = 0; i < head->frame_count; i++)
        sum += wb[i];
    return sum > 0 ? groups_align(a, wa, head, wb) * 100 / sum : 0;
}

/* ---- Families ---- */

static bool groups_is_among(group *const *list, size_t count, const group *g)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == g)
            return true;
    }
    return false;
}

static group *groups_find_head(const families *all, group *g)
{
    const signature *s = &g->sign;
    group *tried[MAX_CANDIDATES];
    size_t count = 0;
    group *best = g;
    int64_t most = SIMILAR_PERCENT - 1;
    for (unsigned i = 0; i < s->frame_count; i++) {
        unsigned tries = 0;
        const frame_entry *entry;
        while (count < MAX_CANDIDATES &&
               (entry = groups_table_next(&all->heads, s->frames[i], &tries, false)) != NULL) {
            if (groups_is_among(tried, count, entry->head))
                continue;
            tried[count++] = entry->head;
            int64_t percent = groups_similarity(all, s, &entry->head->sign);
            best = percent > most ? entry->head : best;
            most = percent > most ? percent : most;
        }
    }
    return best;
}

static int groups_by_size(const void *a, const void *b)
{
    const group *x = *(group *const *)a;
    const group *y = *(group *const *)b;
    if (x->reports != y->reports)
        return x->reports > y->reports ? -1 : 1;
    return group_compare_signatures(&x->sign, &y->sign);
}

/* Groups are placed largest first, which makes the most common group the head. Every run places all of them,
 * so the order of the reports does not matter. */
void groups_find_heads(group_list *groups)
{
    families all = {{NULL, 0}, {NULL, 0}, 0};
    group **order = (group **)mem_alloc(groups->count * sizeof *order);
    size_t frames = 0;
    for (size_t i = 0; i < groups->count; i++) {
        order[i] = groups->v[i];
        frames += order[i]->sign.frame_count;
    }
    groups_table_open(&all.heads, frames);
    groups_table_open(&all.counts, frames);
    qsort(order, groups->count, sizeof *order, groups_by_size);
    for (size_t i = 0; i < groups->count; i++) {
        order[i]->head = groups_find_head(&all, order[i]);
        if (order[i]->head == order[i])
            groups_add_head(&all, order[i]);
    }
    free(all.heads.v);
    free(all.counts.v);
    free(order);
}
