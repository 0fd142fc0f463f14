/* Groups of reports by signature; see summary.h. */
#include "../json_put.h"
#include "summary.h"

#include <stdlib.h>
#include <string.h>

/* Two signatures are similar when at least this share of their frames, of 100, is in both. */
enum { SIMILAR_PERCENT = 60, MAX_CANDIDATES = 64 };

/* A report, as it came. */
typedef struct member {
    signature signature;
    const char *path;
    size_t number;
} member;

/* Reports of one signature: they follow each other. */
typedef struct group {
    const member *first;
    size_t count;
    size_t family;       /* index of the group it was put beside; its own when it stands alone */
    size_t family_count; /* reports of the whole family, kept at its head */
} group;

struct group_list {
    member *members;
    size_t member_count;
    size_t member_cap;
    group *v;
    size_t count;
};

group_list *groups_open(void)
{
    group_list *groups = tool_alloc(sizeof *groups);
    memset(groups, 0, sizeof *groups);
    return groups;
}

void groups_close(group_list *groups)
{
    for (size_t i = 0; i < groups->member_count; i++)
        text_free(&groups->members[i].signature.text);
    free(groups->members);
    free(groups->v);
    free(groups);
}

void groups_add(group_list *groups, const char *path, signature *s)
{
    groups->members =
        tool_room(groups->members, groups->member_count, &groups->member_cap, sizeof *groups->members);
    groups->members[groups->member_count] = (member){*s, path, groups->member_count};
    groups->member_count++;
    memset(s, 0, sizeof *s);
}

/* ---- Equal signatures ---- */

static int compare_signatures(const signature *a, const signature *b)
{
    size_t len = a->text.len < b->text.len ? a->text.len : b->text.len;
    MACHSYM_COUNT_WORK(1);
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    int order = len > 0 ? memcmp(a->text.v, b->text.v, len) : 0;
    return order != 0 ? order : a->text.len < b->text.len ? -1 : a->text.len > b->text.len;
}

static int by_signature(const void *a, const void *b)
{
    const member *x = a;
    const member *y = b;
    int order = compare_signatures(&x->signature, &y->signature);
    return order != 0 ? order : x->number < y->number ? -1 : x->number > y->number;
}

/* Sorting, unlike a table, stays fast whatever hashes the reports were made to have. */
static void find_groups(group_list *groups)
{
    groups->v = tool_alloc(groups->member_count * sizeof *groups->v);
    qsort(groups->members, groups->member_count, sizeof *groups->members, by_signature);
    for (size_t i = 0; i < groups->member_count; i++) {
        const member *m = &groups->members[i];
        if (i == 0 || compare_signatures(&m[-1].signature, &m->signature) != 0)
            groups->v[groups->count++] = (group){m, 0, 0, 0};
        groups->v[groups->count - 1].count++;
    }
}

/* ---- Similar groups ---- */

static int by_size(const void *a, const void *b)
{
    const group *x = a;
    const group *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return compare_signatures(&x->first->signature, &y->first->signature);
}

static bool is_similar(const signature *a, const signature *b)
{
    unsigned shared = 0;
    MACHSYM_COUNT_WORK(1);
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
    const signature *s = &g->first->signature;
    for (unsigned i = 0; i < s->frame_count; i++) {
        uint64_t frame = s->frames[i];
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
    const signature *s = &groups->v[index].first->signature;
    for (unsigned i = 0; i < s->frame_count; i++) {
        size_t at = (size_t)s->frames[i] & (table->size - 1);
        for (unsigned tries = 0; table->v[at].frame != 0 && tries < MAX_CANDIDATES; tries++) {
            if (table->v[at].frame == s->frames[i] &&
                is_similar(s, &groups->v[table->v[at].head].first->signature))
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
    size_t from = t->len;
    text_c(t, indent);
    text_dec(t, g->count);
    text_c(t, g->count == 1 ? " report   " : " reports  ");
    text_hex(t, g->first->signature.hash, 16);
    text_c(t, "  ");
    text_add(t, g->first->signature.text.v, g->first->signature.text.len);
    text_end_line(t, from);
    for (size_t i = 0; i < g->count; i++) {
        from = t->len;
        text_c(t, indent);
        text_c(t, "    ");
        text_c(t, g->first[i].path);
        text_end_line(t, from);
    }
}

/* head: of the family, when the group is only similar to it. */
static void put_group_json(text *t, const group *g, const group *head)
{
    json_begin(t, "crash-group");
    json_put_number(t, "count", g->count);
    json_put_hash(t, "hash", g->first->signature.hash);
    json_put_str(t, "signature", (machsym_str){g->first->signature.text.v, g->first->signature.text.len});
    if (head != NULL)
        json_put_hash(t, "similar_to", head->first->signature.hash);
    else
        json_put_str(t, "similar_to", (machsym_str){NULL, 0});
    text_c(t, ",\"reports\":[");
    for (size_t i = 0; i < g->count; i++) {
        text_c(t, i > 0 ? "," : "");
        text_json(t, str_c(g->first[i].path));
    }
    text_c(t, "]}\n");
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

void groups_print(group_list *groups, bool is_json, text *out)
{
    if (groups->member_count == 0)
        return;
    find_groups(groups);
    find_families(groups);
    group_place *places = tool_alloc(groups->count * sizeof *places);
    for (size_t i = 0; i < groups->count; i++) {
        size_t family = groups->v[i].family;
        places[i] = (group_place){groups->v[family].family_count, family, i};
    }
    qsort(places, groups->count, sizeof *places, by_family);
    for (size_t i = 0; i < groups->count; i++) {
        const group *g = &groups->v[places[i].index];
        if (is_json) {
            put_group_json(out, g, places[i].index != places[i].family ? &groups->v[places[i].family] : NULL);
            continue;
        }
        if (places[i].index != places[i].family && places[i - 1].index == places[i].family)
            text_c(out, "  similar:\n");
        put_group(out, g, places[i].index != places[i].family ? "  " : "");
    }
    free(places);
}
