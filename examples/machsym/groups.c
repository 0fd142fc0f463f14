/* Groups of reports by signature; see summary.h. */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

/* Two signatures are similar when at least this share of their frames, of 100, is in both. */
enum { SIMILAR_PERCENT = 60, MAX_CANDIDATES = 64 };

/* Reports of one signature. */
typedef struct group {
    signature signature;
    const char **paths;
    size_t count;
    size_t cap;
    size_t family;       /* index of the group it was put beside; its own when it stands alone */
    size_t family_count; /* reports of the whole family, kept at its head */
} group;

struct group_list {
    group *v;
    size_t count;
    size_t cap;
    size_t *table; /* group index + 1 by signature hash */
    size_t table_size;
};

group_list *groups_open(void)
{
    group_list *groups = tool_alloc(sizeof *groups);
    memset(groups, 0, sizeof *groups);
    return groups;
}

void groups_close(group_list *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        text_free(&groups->v[i].signature.text);
        free(groups->v[i].paths);
    }
    free(groups->v);
    free(groups->table);
    free(groups);
}

static size_t *slot_of(const group_list *groups, const signature *s)
{
    size_t at = (size_t)s->hash & (groups->table_size - 1);
    for (; groups->table[at] != 0; at = (at + 1) & (groups->table_size - 1)) {
        const signature *other = &groups->v[groups->table[at] - 1].signature;
        if (other->hash == s->hash && other->text.len == s->text.len &&
            (s->text.len == 0 || memcmp(other->text.v, s->text.v, s->text.len) == 0))
            break;
    }
    return &groups->table[at];
}

static void grow_table(group_list *groups)
{
    if (groups->count * 2 < groups->table_size)
        return;
    groups->table_size = groups->table_size == 0 ? 64 : groups->table_size * 2;
    free(groups->table);
    groups->table = tool_alloc(groups->table_size * sizeof *groups->table);
    memset(groups->table, 0, groups->table_size * sizeof *groups->table);
    for (size_t i = 0; i < groups->count; i++)
        *slot_of(groups, &groups->v[i].signature) = i + 1;
}

void groups_add(group_list *groups, const char *path, signature *s)
{
    grow_table(groups);
    size_t *slot = slot_of(groups, s);
    if (*slot == 0) {
        if (groups->count == groups->cap) {
            groups->cap = groups->cap == 0 ? 64 : groups->cap * 2;
            groups->v = tool_grow(groups->v, groups->cap * sizeof *groups->v);
        }
        group *fresh = &groups->v[groups->count++];
        memset(fresh, 0, sizeof *fresh);
        fresh->signature = *s;
        memset(s, 0, sizeof *s);
        *slot = groups->count;
    }
    group *g = &groups->v[*slot - 1];
    if (g->count == g->cap) {
        g->cap = g->cap == 0 ? 4 : g->cap * 2;
        g->paths = tool_grow(g->paths, g->cap * sizeof *g->paths);
    }
    g->paths[g->count++] = path;
}

/* ---- Similar groups ---- */

static int by_size(const void *a, const void *b)
{
    const group *x = a;
    const group *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->signature.hash < y->signature.hash ? -1 : x->signature.hash > y->signature.hash;
}

static bool is_similar(const signature *a, const signature *b)
{
    unsigned shared = 0;
    for (unsigned i = 0; i < a->frame_count; i++) {
        for (unsigned k = 0; k < b->frame_count; k++) {
            if (a->frames[i] == b->frames[k]) {
                shared++;
                break;
            }
        }
    }
    unsigned all = a->frame_count > b->frame_count ? a->frame_count : b->frame_count;
    return all > 0 && shared * 100 >= all * SIMILAR_PERCENT;
}

/* A frame of a family's head. */
typedef struct frame_owner {
    uint64_t frame;
    size_t head;
} frame_owner;

/* The heads of families by each of their frames, in an open hash table. */
typedef struct owner_table {
    frame_owner *v;
    size_t size;
} owner_table;

static void add_head(owner_table *table, const group *g, size_t head)
{
    for (unsigned i = 0; i < g->signature.frame_count; i++) {
        uint64_t frame = g->signature.frames[i];
        size_t at = (size_t)frame & (table->size - 1);
        for (unsigned tries = 0; table->v[at].frame != 0 && tries < MAX_CANDIDATES; tries++)
            at = (at + 1) & (table->size - 1);
        if (table->v[at].frame == 0)
            table->v[at] = (frame_owner){frame, head};
    }
}

/* The head that a group is similar to; its own index when there is none. A frame that very many heads share
 * is only tried with the first of them, which keeps the whole linear. */
static size_t find_head(const group_list *groups, const owner_table *table, size_t index)
{
    const signature *s = &groups->v[index].signature;
    for (unsigned i = 0; i < s->frame_count; i++) {
        size_t at = (size_t)s->frames[i] & (table->size - 1);
        for (unsigned tries = 0; table->v[at].frame != 0 && tries < MAX_CANDIDATES; tries++) {
            if (table->v[at].frame == s->frames[i] && is_similar(s, &groups->v[table->v[at].head].signature))
                return table->v[at].head;
            at = (at + 1) & (table->size - 1);
        }
    }
    return index;
}

static void find_families(group_list *groups)
{
    owner_table table = {NULL, 64};
    while (table.size < groups->count * 32)
        table.size *= 2;
    table.v = tool_alloc(table.size * sizeof *table.v);
    memset(table.v, 0, table.size * sizeof *table.v);
    qsort(groups->v, groups->count, sizeof *groups->v, by_size);
    for (size_t i = 0; i < groups->count; i++) {
        group *g = &groups->v[i];
        g->family = find_head(groups, &table, i);
        groups->v[g->family].family_count += g->count;
        if (g->family == i)
            add_head(&table, g, i);
    }
    free(table.v);
}

/* ---- Printing ---- */

static void put_group(text *t, const group *g, const char *indent)
{
    text_c(t, indent);
    text_dec(t, g->count);
    text_c(t, g->count == 1 ? " report   " : " reports  ");
    text_hex(t, g->signature.hash, 16);
    text_c(t, "  ");
    text_add(t, g->signature.text.v, g->signature.text.len);
    text_char(t, '\n');
    for (size_t i = 0; i < g->count; i++) {
        text_c(t, indent);
        text_c(t, "    ");
        text_c(t, g->paths[i]);
        text_char(t, '\n');
    }
}

/* A group's place in the output: the largest family first, in it the head, then the others by size. */
typedef struct group_place {
    size_t family_count;
    size_t family;
    size_t index;
} group_place;

static int by_family(const void *a, const void *b)
{
    const group_place *x = a;
    const group_place *y = b;
    if (x->family_count != y->family_count)
        return x->family_count > y->family_count ? -1 : 1;
    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void groups_print(group_list *groups, text *out)
{
    if (groups->count == 0)
        return;
    find_families(groups);
    group_place *places = tool_alloc(groups->count * sizeof *places);
    for (size_t i = 0; i < groups->count; i++) {
        size_t family = groups->v[i].family;
        places[i] = (group_place){groups->v[family].family_count, family, i};
    }
    qsort(places, groups->count, sizeof *places, by_family);
    for (size_t i = 0; i < groups->count; i++) {
        const group *g = &groups->v[places[i].index];
        if (places[i].index != places[i].family && places[i - 1].index == places[i].family)
            text_c(out, "  similar:\n");
        put_group(out, g, places[i].index != places[i].family ? "  " : "");
    }
    free(places);
}
