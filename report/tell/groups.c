/* Groups of reports by signature; see groups.h. */
#include "groups.h"
#include "../base/json_put.h"
#include "../base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Reports are collected until there are as many as groups, and at least this many. Then they are sorted
 * into the groups together. So memory is proportional to the groups, and the time for each report does not
 * grow. */
enum { LEAST_WAITING = 1024 };

group_list *groups_open(void)
{
    group_list *groups = (group_list *)mem_alloc(sizeof *groups);
    memset(groups, 0, sizeof *groups);
    return groups;
}

group *group_new(signature *s)
{
    group *g = (group *)mem_alloc(sizeof *g);
    memset(g, 0, sizeof *g);
    g->sign = *s;
    memset(s, 0, sizeof *s);
    return g;
}

void group_free(group *g)
{
    for (size_t i = 0; i < g->version_count; i++)
        text_free(&g->versions[i].name);
    text_free(&g->sign.words);
    free(g->versions);
    free(g->paths);
    free(g);
}

void groups_close(group_list *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        group_free(groups->v[i]);
    for (size_t i = 0; i < groups->waiting_count; i++)
        text_free(&groups->waiting[i].sign.words);
    free(groups->v);
    free(groups->waiting);
    free(groups);
}

/* ---- What a group counts ---- */

void group_count_day(group *g, day number, uint64_t reports)
{
    unsigned at = g->day_count;
    if (number == 0)
        return;
    g->first = g->first == 0 || number < g->first ? number : g->first;
    g->last = number > g->last ? number : g->last;
    while (at > 0 && g->days[at - 1].on > number)
        at--;
    MACHSYM_COUNT_WORK(1);
    if (at > 0 && g->days[at - 1].on == number) {
        g->days[at - 1].reports += reports;
        return;
    }
    if (g->day_count == GROUP_DAYS) {
        if (at == 0)
            return;
        memmove(g->days, g->days + 1, --at * sizeof *g->days); /* the oldest day is dropped */
    } else {
        memmove(g->days + at + 1, g->days + at, (g->day_count++ - at) * sizeof *g->days);
    }
    g->days[at].on = number;
    g->days[at].reports = reports;
}

static int groups_compare_text(machsym_str a, machsym_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Drops the version that was last seen the longest ago; of equal ones, the first by name. */
static void groups_drop_oldest_version(group *g)
{
    size_t oldest = 0;
    for (size_t i = 1; i < g->version_count; i++)
        oldest = g->versions[i].last < g->versions[oldest].last ? i : oldest;
    text_free(&g->versions[oldest].name);
    g->version_count--;
    memmove(g->versions + oldest, g->versions + oldest + 1,
            (g->version_count - oldest) * sizeof *g->versions);
}

void group_count_version(group *g, machsym_str name, uint64_t reports, day first, day last)
{
    size_t at = 0;
    int order = 1;
    if (name.len == 0)
        return;
    while (at < g->version_count) {
        order = groups_compare_text(name, str_make(g->versions[at].name.v, g->versions[at].name.len));
        MACHSYM_COUNT_WORK(1);
        if (order <= 0)
            break;
        at++;
    }
    if (at == g->version_count || order != 0) {
        g->versions =
            (version_reports *)mem_room(g->versions, g->version_count, &g->version_cap, sizeof *g->versions);
        memmove(g->versions + at + 1, g->versions + at, (g->version_count++ - at) * sizeof *g->versions);
        memset(&g->versions[at], 0, sizeof g->versions[at]);
        text_str(&g->versions[at].name, name);
    }
    version_reports *v = &g->versions[at];
    v->reports += reports;
    v->first = v->first == 0 || (first != 0 && first < v->first) ? first : v->first;
    v->last = last > v->last ? last : v->last;
    if (g->version_count > GROUP_VERSIONS)
        groups_drop_oldest_version(g);
}

/* ---- Reports into groups ---- */

int group_compare_signatures(const signature *a, const signature *b)
{
    MACHSYM_COUNT_WORK(1);
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return groups_compare_text(str_make(a->words.v, a->words.len), str_make(b->words.v, b->words.len));
}

static int groups_by_signature(const void *a, const void *b)
{
    const group_report *x = (const group_report *)a;
    const group_report *y = (const group_report *)b;
    int order = group_compare_signatures(&x->sign, &y->sign);
    return order != 0 ? order : x->number < y->number ? -1 : x->number > y->number;
}

static void groups_count_report(group *g, const group_report *one)
{
    day number = day_of(str_c(one->sign.day));
    g->reports++;
    g->added++;
    group_count_day(g, number, 1);
    group_count_version(g, str_c(one->sign.version), 1, number, number);
    g->paths = (const char **)mem_room(g->paths, g->path_count, &g->path_cap, sizeof *g->paths);
    g->paths[g->path_count++] = one->path;
}

/* Sorting, unlike a hash table, stays fast for any hashes that an attacker chooses. */
static void groups_sort_in(group_list *groups)
{
    group **old = groups->v;
    size_t old_count = groups->count;
    size_t at = 0;
    if (groups->waiting_count == 0)
        return;
    groups->v = (group **)mem_alloc((old_count + groups->waiting_count) * sizeof *groups->v);
    groups->count = 0;
    qsort(groups->waiting, groups->waiting_count, sizeof *groups->waiting, groups_by_signature);
    for (size_t i = 0; i < groups->waiting_count; i++) {
        group_report *one = &groups->waiting[i];
        while (at < old_count && group_compare_signatures(&old[at]->sign, &one->sign) <= 0)
            groups->v[groups->count++] = old[at++];
        group *last = groups->count > 0 ? groups->v[groups->count - 1] : NULL;
        if (last == NULL || group_compare_signatures(&last->sign, &one->sign) != 0) {
            group_report taken = *one;
            last = groups->v[groups->count++] = group_new(&one->sign);
            groups_count_report(last, &taken);
        } else {
            groups_count_report(last, one);
            text_free(&one->sign.words);
        }
    }
    while (at < old_count)
        groups->v[groups->count++] = old[at++];
    groups->waiting_count = 0;
    free(old);
}

void groups_add(group_list *groups, const char *path, signature *s)
{
    size_t most = groups->count > LEAST_WAITING ? groups->count : (size_t)LEAST_WAITING;
    if (groups->waiting_count >= most)
        groups_sort_in(groups);
    groups->waiting = (group_report *)mem_room(groups->waiting, groups->waiting_count, &groups->waiting_cap,
                                               sizeof *groups->waiting);
    group_report one = {*s, path, groups->waiting_count};
    groups->waiting[groups->waiting_count] = one;
    groups->waiting_count++;
    memset(s, 0, sizeof *s);
}

/* ---- Trends ---- */

/* A group is regressed if it had no report in the last QUIET_DAYS of the state and has one now. It is rising
 * if its share of the reports of the last RECENT_DAYS is at least RISING times its share before, and if at
 * least RISING_LEAST reports show it; fewer are chance. */
enum { QUIET_DAYS = 14, RECENT_DAYS = 7, RISING = 2, RISING_LEAST = 10 };

/* Reports of the last days, and of the kept days before. */
static void groups_count_recent(const group *g, day newest, uint64_t *recent, uint64_t *before)
{
    for (unsigned i = 0; i < g->day_count; i++) {
        day age = newest - g->days[i].on;
        if (age < RECENT_DAYS)
            *recent += g->days[i].reports;
        else if (age < GROUP_DAYS)
            *before += g->days[i].reports;
    }
}

group_totals groups_totals(const group_list *groups)
{
    group_totals totals = {0, 0, 0};
    for (size_t i = 0; i < groups->count; i++)
        totals.newest = groups->v[i]->last > totals.newest ? groups->v[i]->last : totals.newest;
    for (size_t i = 0; i < groups->count; i++)
        groups_count_recent(groups->v[i], totals.newest, &totals.recent, &totals.before);
    return totals;
}

group_trend group_trend_of(const group_list *groups, const group_totals *totals, const group *g)
{
    uint64_t recent = 0;
    uint64_t before = 0;
    if (groups->has_state && g->added > 0 && g->added == g->reports)
        return TREND_NEW;
    if (g->added > 0 && g->before != 0 && groups->known_until - g->before >= QUIET_DAYS)
        return TREND_REGRESSED;
    groups_count_recent(g, totals->newest, &recent, &before);
    bool is_rising =
        recent >= RISING_LEAST && totals->before > 0 &&
        (double)recent * (double)totals->before >= (double)RISING * (double)before * (double)totals->recent;
    return is_rising ? TREND_RISING : TREND_NONE;
}

const char *group_trend_name(group_trend trend)
{
    static const char *const names[] = {NULL, "new", "regressed", "rising"};
    return names[trend];
}

/* ---- Printing ---- */

/* Members of a family come after their head, the largest first. */
static int groups_by_family(const void *a, const void *b)
{
    const group *x = *(group *const *)a;
    const group *y = *(group *const *)b;
    if (x->head == y->head && (x->head == x || y->head == y))
        return x->head == x ? (y->head == y ? 0 : -1) : 1;
    if (x->head != y->head) {
        if (x->head->family_count != y->head->family_count)
            return x->head->family_count > y->head->family_count ? -1 : 1;
        return group_compare_signatures(&x->head->sign, &y->head->sign);
    }
    if (x->reports != y->reports)
        return x->reports > y->reports ? -1 : 1;
    return group_compare_signatures(&x->sign, &y->sign);
}

static void groups_put_day(text *t, const char *what, day number)
{
    text_c(t, what);
    text_day(t, number);
    text_c(t, number == 0 ? "?" : "");
}

static void groups_put_history(text *t, const group *g, group_trend trend)
{
    size_t from = t->len;
    groups_put_day(t, "    first seen ", g->first);
    groups_put_day(t, ", last seen ", g->last);
    for (size_t i = 0; i < g->version_count; i++) {
        text_c(t, i == 0 ? ", in versions " : ", ");
        text_add(t, g->versions[i].name.v, g->versions[i].name.len);
        text_c(t, ": ");
        text_dec(t, g->versions[i].reports);
    }
    text_end_line(t, from);
    if (trend == TREND_NONE)
        return;
    from = t->len;
    text_c(t, "    ");
    text_c(t, group_trend_name(trend));
    if (trend == TREND_REGRESSED)
        groups_put_day(t, ": was not seen after ", g->before);
    text_end_line(t, from);
}

static void groups_put_group(text *t, const group *g, bool has_state, group_trend trend)
{
    size_t from = t->len;
    text_dec(t, g->reports);
    text_c(t, g->reports == 1 ? " report   " : " reports  ");
    text_hex(t, g->sign.hash, 16);
    text_c(t, "  ");
    text_add(t, g->sign.words.v, g->sign.words.len);
    text_end_line(t, from);
    if (has_state)
        groups_put_history(t, g, trend);
    for (size_t i = 0; i < g->path_count; i++) {
        from = t->len;
        text_c(t, "    ");
        text_c(t, g->paths[i]);
        text_end_line(t, from);
    }
}

/* The groups without their paths, which belong to one run. */
static void groups_put_group_json(text *t, const group *g, group_trend trend)
{
    const char *name = group_trend_name(trend);
    json_begin(t, "crash-group");
    json_put_number(t, "count", g->reports);
    json_put_hash(t, "hash", g->sign.hash);
    json_put_str(t, "signature", str_make(g->sign.words.v, g->sign.words.len));
    if (g->head != g)
        json_put_hash(t, "similar_to", g->head->sign.hash);
    else
        json_put_str(t, "similar_to", str_make(NULL, 0));
    json_put_day(t, "first", g->first);
    json_put_day(t, "last", g->last);
    text_c(t, ",\"versions\":[");
    for (size_t i = 0; i < g->version_count; i++) {
        text_c(t, i > 0 ? "," : "");
        text_json(t, str_make(g->versions[i].name.v, g->versions[i].name.len));
    }
    text_c(t, "],\"version_counts\":{");
    for (size_t i = 0; i < g->version_count; i++) {
        text_c(t, i > 0 ? "," : "");
        text_json(t, str_make(g->versions[i].name.v, g->versions[i].name.len));
        text_char(t, ':');
        text_dec(t, g->versions[i].reports);
    }
    text_char(t, '}');
    json_put_str(t, "trend", name != NULL ? str_c(name) : str_make(NULL, 0));
    json_put_number(t, "added", g->added);
    text_c(t, ",\"reports\":[");
    for (size_t i = 0; i < g->path_count; i++) {
        text_c(t, i > 0 ? "," : "");
        text_json(t, str_c(g->paths[i]));
    }
    text_c(t, "]}\n");
}

/* Text of a family member is indented. */
static void groups_put_indented(text *t, const text *lines)
{
    machsym_str rest = {lines->v, lines->len};
    machsym_str line;
    while (str_take_line(&rest, &line)) {
        text_c(t, "  ");
        text_str(t, line);
        text_char(t, '\n');
    }
}

static void groups_put(const group_list *groups, group *const *order, bool is_json, text *out)
{
    group_totals totals = groups_totals(groups);
    for (size_t i = 0; i < groups->count; i++) {
        const group *g = order[i];
        group_trend trend = group_trend_of(groups, &totals, g);
        text lines = {0};
        if (is_json) {
            groups_put_group_json(out, g, trend);
            continue;
        }
        if (g->head == g) {
            groups_put_group(out, g, groups->has_state, trend);
            continue;
        }
        text_c(out, order[i - 1] == g->head ? "  similar:\n" : "");
        groups_put_group(&lines, g, groups->has_state, trend);
        groups_put_indented(out, &lines);
        text_free(&lines);
    }
}

void groups_print(group_list *groups, bool is_json, text *out)
{
    groups_sort_in(groups);
    if (groups->count == 0)
        return;
    groups_shown shown;
    groups_join(groups, &shown);
    groups_find_heads(&shown.list);
    group **order = (group **)mem_alloc(shown.list.count * sizeof *order);
    for (size_t i = 0; i < shown.list.count; i++) {
        order[i] = shown.list.v[i];
        order[i]->head->family_count += order[i]->reports;
    }
    qsort(order, shown.list.count, sizeof *order, groups_by_family);
    groups_put(&shown.list, order, is_json, out);
    free(order);
    groups_free_shown(&shown);
}

bool groups_has_state(const group_list *groups)
{
    return groups->has_state;
}
