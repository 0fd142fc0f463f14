/* What groups keep from run to run; see groups.h, and crash-state in docs/json.md. */
#include "groups.h"
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/json_put.h"
#include "../base/memory.h"

#include <string.h>

static const char head_schema[] = "crash-state";
static const char group_schema[] = "crash-state-group";

/* The names of a signature's parts in a state. */
static const char *const part_names[PART_COUNT] = {"exception", "thrown", "termination", "message", "stack"};

/* ---- Writing ---- */

static void groups_put_days(text *t, const group *g)
{
    text_c(t, ",\"days\":{");
    for (unsigned i = 0; i < g->day_count; i++) {
        text_c(t, i > 0 ? ",\"" : "\"");
        text_day(t, g->days[i].on);
        text_c(t, "\":");
        text_dec(t, g->days[i].reports);
    }
    text_char(t, '}');
}

static void groups_put_versions(text *t, const group *g)
{
    text_c(t, ",\"versions\":[");
    for (size_t i = 0; i < g->version_count; i++) {
        const version_reports *v = &g->versions[i];
        text_c(t, i > 0 ? ",{\"version\":" : "{\"version\":");
        text_json(t, str_make(v->name.v, v->name.len));
        json_put_number(t, "reports", v->reports);
        json_put_day(t, "first", v->first);
        json_put_day(t, "last", v->last);
        text_char(t, '}');
    }
    text_char(t, ']');
}

static void groups_put_kept(text *t, const group *g)
{
    json_begin(t, group_schema);
    for (unsigned i = 0; i < PART_COUNT; i++)
        json_put_str(t, part_names[i], signature_part_of(&g->sign, (signature_part)i));
    json_put_number(t, "reports", g->reports);
    json_put_day(t, "first", g->first);
    json_put_day(t, "last", g->last);
    groups_put_days(t, g);
    groups_put_versions(t, g);
    text_c(t, ",\"frames\":[");
    for (unsigned i = 0; i < g->sign.frame_count; i++) {
        text_c(t, i > 0 ? ",\"" : "\"");
        text_hex(t, g->sign.frames[i], 16);
        text_char(t, '"');
    }
    text_c(t, "]}\n");
}

void groups_put_state(const group_list *groups, text *out)
{
    text lines = {0};
    for (size_t i = 0; i < groups->count; i++)
        groups_put_kept(&lines, groups->v[i]);
    json_begin(out, head_schema);
    json_put_number(out, "groups", groups->count);
    json_put_hash(out, "sum", str_hash(str_make(lines.v, lines.len)));
    text_c(out, "}\n");
    text_add(out, lines.v, lines.len);
    text_free(&lines);
}

/* ---- Reading ---- */

/* A state that is being read. */
typedef struct reading {
    group_list *groups;
    machsym_str rest;
    const char *why;
} reading;

static bool groups_fail(reading *r, const char *why)
{
    r->why = why;
    return false;
}

/* Parses the next line. Returns false at the end, and for a line that is not an object of the schema. */
static bool groups_take_line(reading *r, const char *schema, json *doc)
{
    machsym_str line;
    text wanted = {0};
    json_error err = {"", 0};
    machsym_str before = r->rest;
    if (!str_take_line(&r->rest, &line))
        return groups_fail(r, "it ends too soon");
    if (!json_parse(NULL, doc, line.ptr, line.len, 0, &err)) {
        r->rest = before;
        return groups_fail(r, err.what);
    }
    text_c(&wanted, schema);
    text_c(&wanted, "/" JSON_SCHEMA_VERSION);
    bool fits = json_equals(doc, json_get(doc, 0, "schema"), text_z(&wanted));
    text_free(&wanted);
    if (fits)
        return true;
    bool is_other = str_starts(json_raw(doc, json_get(doc, 0, "schema")), schema);
    json_free(doc);
    r->rest = before;
    return groups_fail(r, is_other ? "a state of another version" : "no state that --groups-out wrote");
}

static uint64_t groups_number_of(const json *doc, uint32_t object, const char *key)
{
    uint64_t number = 0;
    return json_u64(doc, json_get(doc, object, key), &number) ? number : 0;
}

static day groups_day_in(const json *doc, uint32_t object, const char *key)
{
    return day_of(json_raw(doc, json_get(doc, object, key)));
}

static bool groups_hash_in(const json *doc, uint32_t token, uint64_t *hash)
{
    machsym_str raw = json_raw(doc, token);
    return json_is(doc, token, JSON_STRING) && parse_hex(raw.ptr, raw.len, hash);
}

static void groups_take_versions(const json *doc, group *g)
{
    uint32_t array = json_get(doc, 0, "versions");
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at)) {
        text name = {0};
        json_unescape(&name, json_raw(doc, json_get(doc, at, "version")));
        group_count_version(g, str_make(name.v, name.len), groups_number_of(doc, at, "reports"),
                            groups_day_in(doc, at, "first"), groups_day_in(doc, at, "last"));
        text_free(&name);
    }
}

static void groups_take_days(const json *doc, group *g)
{
    uint32_t object = json_get(doc, 0, "days");
    uint32_t at = JSON_NONE;
    while (json_is(doc, object, JSON_OBJECT) && json_next(doc, object, &at)) {
        uint64_t reports = 0;
        if (json_u64(doc, at + 1, &reports))
            group_count_day(g, day_of(json_raw(doc, at)), reports);
    }
    g->first = groups_day_in(doc, 0, "first");
    g->before = g->last;
}

static void groups_take_signature(const json *doc, signature *s)
{
    text made[PART_COUNT] = {{0}};
    machsym_str parts[PART_COUNT];
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < PART_COUNT; i++) {
        uint32_t part = json_get(doc, 0, part_names[i]);
        if (json_is(doc, part, JSON_STRING))
            json_unescape(&made[i], json_raw(doc, part));
        parts[i] = str_make(made[i].v, made[i].len);
    }
    signature_compose(s, parts);
    for (unsigned i = 0; i < PART_COUNT; i++)
        text_free(&made[i]);
}

static bool groups_take_group(reading *r, const json *doc)
{
    signature s;
    uint32_t at = JSON_NONE;
    uint32_t frames = json_get(doc, 0, "frames");
    if (!json_is(doc, json_get(doc, 0, "stack"), JSON_STRING))
        return groups_fail(r, "a group without its stack");
    groups_take_signature(doc, &s);
    while (s.frame_count < sizeof s.frames / sizeof *s.frames && json_next(doc, frames, &at))
        s.frame_count += groups_hash_in(doc, at, &s.frames[s.frame_count]);
    group_list *groups = r->groups;
    group *g = group_new(&s);
    if (groups->count > 0 && group_compare_signatures(&groups->v[groups->count - 1]->sign, &g->sign) >= 0) {
        group_free(g);
        return groups_fail(r, "its groups are out of order");
    }
    g->reports = groups_number_of(doc, 0, "reports");
    groups_take_days(doc, g);
    groups_take_versions(doc, g);
    groups->known_until = g->last > groups->known_until ? g->last : groups->known_until;
    groups->v[groups->count++] = g;
    return true;
}

static bool groups_read_state(reading *r)
{
    json doc;
    uint64_t sum = 0;
    if (!groups_take_line(r, head_schema, &doc))
        return false;
    uint64_t count = groups_number_of(&doc, 0, "groups");
    bool has_sum = groups_hash_in(&doc, json_get(&doc, 0, "sum"), &sum);
    json_free(&doc);
    if (!has_sum || sum != str_hash(r->rest) || count > r->rest.len)
        return groups_fail(r, "cut short or changed: its sum is another");
    r->groups->v = (group **)mem_alloc((size_t)count * sizeof *r->groups->v);
    for (uint64_t i = 0; i < count; i++) {
        if (!groups_take_line(r, group_schema, &doc))
            return false;
        bool ok = groups_take_group(r, &doc);
        json_free(&doc);
        if (!ok)
            return false;
    }
    return r->rest.len == 0 || groups_fail(r, "there is something after its end");
}

const char *groups_take_state(group_list *groups, machsym_str input, size_t *at)
{
    reading r = {groups, input, NULL};
    groups->has_state = true;
    bool ok = groups_read_state(&r);
    *at = input.len - r.rest.len;
    return ok ? NULL : r.why;
}
