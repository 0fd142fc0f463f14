/* Groups of reports by signature; see summary.h. */
#include "../json_put.h"
#include "summary.h"

#include <stdlib.h>
#include <string.h>

/* Two signatures are similar when at least this share of their frames, of 100, is in both. */
enum { SIMILAR_PERCENT = 60, MAX_CANDIDATES = 64 };

/* A report, as it came; or those of one signature that earlier runs counted. */
typedef struct member {
    signature signature;
    const char *path; /* NULL: of earlier runs */
    size_t number;
    uint64_t reports;
    char last[11]; /* their last day; the first is the signature's */
    text versions; /* theirs, a line each */
} member;

/* Reports of one signature: they follow each other. */
typedef struct group {
    const member *first;
    size_t count; /* members */
    uint64_t reports;
    size_t family;         /* index of the group it was put beside; its own when it stands alone */
    uint64_t family_count; /* reports of the whole family, kept at its head */
} group;

struct group_list {
    member *members;
    size_t member_count;
    size_t member_cap;
    group *v;
    size_t count;
    bool has_state; /* days and versions are printed too */
};

group_list *groups_open(void)
{
    group_list *groups = tool_alloc(sizeof *groups);
    memset(groups, 0, sizeof *groups);
    return groups;
}

void groups_close(group_list *groups)
{
    for (size_t i = 0; i < groups->member_count; i++) {
        text_free(&groups->members[i].signature.text);
        text_free(&groups->members[i].versions);
    }
    free(groups->members);
    free(groups->v);
    free(groups);
}

static member *add_member(group_list *groups, const signature *s)
{
    groups->members =
        tool_room(groups->members, groups->member_count, &groups->member_cap, sizeof *groups->members);
    member *m = &groups->members[groups->member_count];
    memset(m, 0, sizeof *m);
    m->signature = *s;
    m->number = groups->member_count++;
    m->reports = 1;
    return m;
}

void groups_add(group_list *groups, const char *path, signature *s)
{
    member *m = add_member(groups, s);
    m->path = path;
    memcpy(m->last, s->day, sizeof m->last);
    text_c(&m->versions, s->version);
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
            groups->v[groups->count++] = (group){m, 0, 0, 0, 0};
        groups->v[groups->count - 1].count++;
        groups->v[groups->count - 1].reports += m->reports;
    }
}

/* ---- Similar groups ---- */

static int by_size(const void *a, const void *b)
{
    const group *x = a;
    const group *y = b;
    if (x->reports != y->reports)
        return x->reports > y->reports ? -1 : 1;
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
        groups->v[g->family].family_count += g->reports;
        if (g->family == i)
            add_head(&table, g, i);
    }
    free(table.v);
}

/* ---- When and where ---- */

/* The days and versions of a whole group. */
typedef struct span {
    const char *first;
    const char *last;
    text versions; /* a line each, sorted */
} span;

static span span_of(const group *g)
{
    span s = {"", "", {0}};
    for (size_t i = 0; i < g->count; i++) {
        const member *m = &g->first[i];
        const char *day = m->signature.day;
        s.first = day[0] != 0 && (s.first[0] == 0 || strcmp(day, s.first) < 0) ? day : s.first;
        s.last = strcmp(m->last, s.last) > 0 ? m->last : s.last;
        text_add(&s.versions, m->versions.v, m->versions.len);
        if (m->versions.len > 0 && m->versions.v[m->versions.len - 1] != '\n')
            text_char(&s.versions, '\n');
    }
    text_sort_lines(&s.versions);
    return s;
}

static void put_span(text *t, const group *g, const char *indent)
{
    span s = span_of(g);
    machsym_str rest = {s.versions.v, s.versions.len};
    machsym_str version;
    size_t from = t->len;
    text_c(t, indent);
    text_c(t, "    first seen ");
    text_c(t, s.first[0] != 0 ? s.first : "?");
    text_c(t, ", last seen ");
    text_c(t, s.last[0] != 0 ? s.last : "?");
    text_c(t, rest.len > 0 ? ", in versions" : "");
    for (bool open = false; str_take_line(&rest, &version); open = true) {
        text_c(t, open ? ", " : " ");
        text_str(t, version);
    }
    text_end_line(t, from);
    text_free(&s.versions);
}

/* ---- State ---- */

static void take_versions(const json *doc, uint32_t array, text *out)
{
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at)) {
        json_unescape(out, json_raw(doc, at));
        text_char(out, '\n');
    }
}

static void take_day(char *day, size_t size, machsym_str s)
{
    if (s.len + 1 == size) {
        memcpy(day, s.ptr, s.len);
        day[s.len] = 0;
    }
}

/* A line of the state; false when it is none. */
static bool take_state(group_list *groups, const json *doc)
{
    signature s;
    uint64_t reports = 0;
    uint32_t at = JSON_NONE;
    uint32_t frames = json_get(doc, 0, "frames");
    memset(&s, 0, sizeof s);
    if (!json_is(doc, json_get(doc, 0, "signature"), JSON_STRING) ||
        !json_u64(doc, json_get(doc, 0, "reports"), &reports))
        return false;
    json_unescape(&s.text, json_raw(doc, json_get(doc, 0, "signature")));
    s.hash = str_hash(str_make(s.text.v, s.text.len));
    while (s.frame_count < sizeof s.frames / sizeof *s.frames && json_next(doc, frames, &at))
        s.frame_count += json_u64(doc, at, &s.frames[s.frame_count]);
    take_day(s.day, sizeof s.day, json_raw(doc, json_get(doc, 0, "first")));
    member *m = add_member(groups, &s);
    m->reports = reports;
    take_day(m->last, sizeof m->last, json_raw(doc, json_get(doc, 0, "last")));
    take_versions(doc, json_get(doc, 0, "versions"), &m->versions);
    return true;
}

bool groups_read(group_list *groups, const char *path)
{
    text input = {0};
    const char *why = text_read_file(&input, path);
    size_t at = 0;
    groups->has_state = true;
    while (why == NULL) {
        json doc;
        json_error err = {"", 0};
        while (at < input.len && strchr(" \n\r\t", input.v[at]) != NULL)
            at++;
        if (at == input.len)
            break;
        if (!json_parse(&doc, input.v, input.len, at, &err)) {
            why = err.what;
            at = err.at;
            break;
        }
        if (!take_state(groups, &doc))
            why = "no state that --groups-out wrote";
        else
            at = doc.v[0].end;
        json_free(&doc);
    }
    if (why != NULL)
        tool_say("%s: %s, at byte %zu", path, why, at);
    text_free(&input);
    return why == NULL;
}

/* Members of an object: the days, and the versions as a list. */
static void put_span_json(text *t, const group *g)
{
    span s = span_of(g);
    machsym_str rest = {s.versions.v, s.versions.len};
    machsym_str version;
    json_put_str(t, "first", str_c(s.first));
    json_put_str(t, "last", str_c(s.last));
    text_c(t, ",\"versions\":[");
    for (bool open = false; str_take_line(&rest, &version); open = true) {
        text_c(t, open ? "," : "");
        text_json(t, version);
    }
    text_char(t, ']');
    text_free(&s.versions);
}

static void put_state(text *t, const group *g)
{
    const signature *sign = &g->first->signature;
    text_c(t, "{\"signature\":");
    text_json(t, str_make(sign->text.v, sign->text.len));
    text_c(t, ",\"reports\":");
    text_dec(t, g->reports);
    put_span_json(t, g);
    text_c(t, ",\"frames\":[");
    for (unsigned i = 0; i < sign->frame_count; i++) {
        text_c(t, i > 0 ? ",\"0x" : "\"0x");
        text_hex(t, sign->frames[i], 1);
        text_char(t, '"');
    }
    text_c(t, "]}\n");
}

void groups_put_state(const group_list *groups, text *out)
{
    for (size_t i = 0; i < groups->count; i++)
        put_state(out, &groups->v[i]);
}

/* ---- Printing ---- */

static void put_group(text *t, const group *g, const char *indent, bool has_state)
{
    size_t from = t->len;
    text_c(t, indent);
    text_dec(t, g->reports);
    text_c(t, g->reports == 1 ? " report   " : " reports  ");
    text_hex(t, g->first->signature.hash, 16);
    text_c(t, "  ");
    text_add(t, g->first->signature.text.v, g->first->signature.text.len);
    text_end_line(t, from);
    if (has_state)
        put_span(t, g, indent);
    for (size_t i = 0; i < g->count; i++) {
        if (g->first[i].path == NULL)
            continue;
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
    json_put_number(t, "count", g->reports);
    json_put_hash(t, "hash", g->first->signature.hash);
    json_put_str(t, "signature", (machsym_str){g->first->signature.text.v, g->first->signature.text.len});
    if (head != NULL)
        json_put_hash(t, "similar_to", head->first->signature.hash);
    else
        json_put_str(t, "similar_to", (machsym_str){NULL, 0});
    put_span_json(t, g);
    text_c(t, ",\"reports\":[");
    for (size_t i = 0, shown = 0; i < g->count; i++) {
        if (g->first[i].path == NULL)
            continue;
        text_c(t, shown++ > 0 ? "," : "");
        text_json(t, str_c(g->first[i].path));
    }
    text_c(t, "]}\n");
}

/* A group's place in the output: the largest family first, in it the head, then the others by size. */
typedef struct group_place {
    uint64_t family_count;
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
        put_group(out, g, places[i].index != places[i].family ? "  " : "", groups->has_state);
    }
    free(places);
}
