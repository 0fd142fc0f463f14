/* Reports whose lines are in separate records; see records.h. */
#include "records.h"
#include "../base/memory.h"
#include "../model/scan.h"

#include <stdlib.h>
#include <string.h>

/* ---- Paths ---- */

/* The index of an element. Collectors put only a few elements before a line. */
static bool records_index_of(const json *doc, uint32_t array, uint32_t element, uint32_t *out)
{
    enum { MAX_INDEX = 16 };
    uint32_t at = JSON_NONE;
    for (*out = 0; *out < MAX_INDEX && json_next(doc, array, &at); ++*out) {
        if (at == element)
            return true;
    }
    return false;
}

/* Finds the path from a record to a value inside it. Returns false if it is too long. */
static bool records_path_of(const json *doc, uint32_t record, uint32_t token, record_path *out)
{
    memset(out, 0, sizeof *out);
    for (; token != record; token = doc->v[token].parent) {
        uint32_t parent = doc->v[token].parent;
        if (out->count == RECORD_MAX_STEPS)
            return false;
        if (json_is(doc, parent, JSON_OBJECT))
            out->keys[out->count] = json_raw(doc, token - 1);
        else if (!records_index_of(doc, parent, token, &out->indexes[out->count]))
            return false;
        out->count++;
        MACHSYM_COUNT_WORK(1);
    }
    return true;
}

static bool records_is_same_path(const record_path *a, const record_path *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++) {
        bool is_index = a->keys[i].ptr == NULL;
        if (is_index != (b->keys[i].ptr == NULL) || a->indexes[i] != b->indexes[i] ||
            (!is_index && !str_equal(a->keys[i], b->keys[i])))
            return false;
    }
    return true;
}

/* Takes one step down from a container; JSON_NONE: no such value. */
static uint32_t records_step(const json *doc, uint32_t container, machsym_str key, uint32_t index)
{
    bool is_index = key.ptr == NULL;
    uint32_t at = JSON_NONE;
    if (!json_is(doc, container, is_index ? JSON_ARRAY : JSON_OBJECT))
        return JSON_NONE;
    for (uint32_t i = 0; json_next(doc, container, &at); i++) {
        MACHSYM_COUNT_WORK(1);
        if (is_index ? i == index : str_equal(json_raw(doc, at), key))
            return is_index ? at : at + 1;
    }
    return JSON_NONE;
}

static uint32_t records_follow(const json *doc, uint32_t record, const record_path *path)
{
    uint32_t at = record;
    for (unsigned i = path->count; i-- > 0 && at != JSON_NONE;)
        at = records_step(doc, at, path->keys[i], path->indexes[i]);
    return at;
}

/* Returns the kind of a record's line. A whole document is not a line, except after the metadata of an
 * .ips. */
static line_kind records_line_of(const json *doc, uint32_t token, line_kind last, text *room)
{
    line_kind kind = json_is(doc, token, JSON_STRING) ? told_line(json_raw(doc, token), room) : LINE_NONE;
    return kind == LINE_DOCUMENT && last != LINE_METADATA ? LINE_NONE : kind;
}

/* ---- Elements of an array ---- */

static bool records_is_certain(line_kind kind)
{
    return kind == LINE_CERTAIN || kind == LINE_METADATA;
}

/* Returns the innermost array that holds two values in different elements; JSON_NONE if the innermost common
 * container is not an array. */
static uint32_t records_common_array(const json *doc, uint32_t a, uint32_t b, uint32_t elements[2])
{
    for (unsigned i = 0; i < RECORD_MAX_STEPS && a != JSON_NONE && doc->v[a].parent != JSON_NONE; i++) {
        uint32_t above = doc->v[a].parent;
        MACHSYM_COUNT_WORK(1);
        if (b >= doc->v[above].next) {
            a = above;
            continue;
        }
        for (unsigned k = 0; k < RECORD_MAX_STEPS && doc->v[b].parent != above; k++)
            b = doc->v[b].parent;
        elements[0] = a;
        elements[1] = b;
        return json_is(doc, above, JSON_ARRAY) && doc->v[b].parent == above ? above : JSON_NONE;
    }
    return JSON_NONE;
}

/* A value that may be a report by itself separates the lines before it from those after it. */
static void records_push_array(const json *doc, record_array *array, bool *is_there, record_arrays *out)
{
    record_cursor at = {JSON_NONE, LINE_NONE, text_in(doc->memory)};
    uint32_t before = JSON_NONE;
    if (is_there[array->token])
        return;
    is_there[array->token] = true;
    array->line = JSON_NONE;
    for (bool is_end = false; !is_end; before = at.element) {
        is_end = !json_next(doc, array->token, &at.element);
        uint32_t token = is_end ? JSON_NONE : records_follow(doc, at.element, &array->path);
        line_kind kind = records_line_of(doc, token, at.last, &at.room);
        bool is_own = kind == LINE_NONE && json_is(doc, token, JSON_STRING) &&
                      told_may_hold_report(json_raw(doc, token));
        at.last = kind != LINE_NONE ? kind : at.last;
        if (kind != LINE_NONE && array->line == JSON_NONE) {
            array->before = before;
            array->line = token;
        }
        if ((is_end || is_own) && array->line != JSON_NONE) {
            array->end = is_end ? doc->v[array->token].next : at.element;
            *(record_array *)mem_add(doc->memory, &out->v, &out->count, &out->cap, sizeof *array) = *array;
            array->line = JSON_NONE;
        }
    }
    text_free(&at.room);
}

/* Adds an array for two certain lines, if they have the same path in two elements. */
static bool records_add_array(const json *doc, uint32_t first, uint32_t second, bool *is_there,
                              record_arrays *out)
{
    uint32_t elements[2];
    record_path other;
    record_array array;
    memset(&array, 0, sizeof array);
    array.token = records_common_array(doc, first, second, elements);
    if (array.token == JSON_NONE || !records_path_of(doc, elements[0], first, &array.path) ||
        !records_path_of(doc, elements[1], second, &other) || !records_is_same_path(&array.path, &other))
        return false;
    records_push_array(doc, &array, is_there, out);
    return true;
}

/* Whether several elements have lines at this path: a pair of a time and a line is not a list. */
static bool records_has_lines(const json *doc, const record_array *array)
{
    enum { ENOUGH = 3, LOOKED_AT = 16 };
    record_cursor at = {JSON_NONE, LINE_NONE, text_in(doc->memory)};
    unsigned lines = 0;
    for (unsigned i = 0; i < LOOKED_AT && lines < ENOUGH && json_next(doc, array->token, &at.element); i++) {
        uint32_t token = records_follow(doc, at.element, &array->path);
        lines += records_line_of(doc, token, LINE_NONE, &at.room) != LINE_NONE;
    }
    text_free(&at.room);
    return lines >= ENOUGH;
}

/* For a certain line without a second one: its records are the elements of the innermost array with lines. */
static void records_add_around(const json *doc, uint32_t token, bool *is_there, record_arrays *out)
{
    uint32_t element = token;
    for (unsigned i = 0; i < RECORD_MAX_STEPS && doc->v[element].parent != JSON_NONE; i++) {
        record_array array;
        memset(&array, 0, sizeof array);
        array.token = doc->v[element].parent;
        if (json_is(doc, array.token, JSON_ARRAY) && !is_there[array.token] &&
            records_path_of(doc, element, token, &array.path) && records_has_lines(doc, &array)) {
            records_push_array(doc, &array, is_there, out);
            return;
        }
        if (is_there[array.token])
            return;
        element = array.token;
    }
}

void records_find_arrays(const json *doc, record_arrays *out)
{
    uint32_t last = JSON_NONE;
    line_kind last_kind = LINE_NONE;
    text room = text_in(doc->memory);
    bool *is_there = (bool *)mem_take(doc->memory, doc->count * sizeof *is_there);
    memset(is_there, 0, doc->count * sizeof *is_there);
    for (uint32_t i = 0; i < doc->count; i++) {
        bool is_stack = json_is(doc, i, JSON_ARRAY) && json_is(doc, i + 1, JSON_STRING) &&
                        scan_is_numbered(json_raw(doc, i + 1));
        if (is_stack || (i > 0 && told_object(doc, i) != REPORT_UNKNOWN)) {
            i = doc->v[i].next - 1;
            continue;
        }
        line_kind kind = json_is(doc, i, JSON_STRING) ? told_line(json_raw(doc, i), &room) : LINE_NONE;
        bool is_body = kind == LINE_DOCUMENT && last_kind == LINE_METADATA;
        if (!records_is_certain(kind) && !is_body)
            continue;
        if (last == JSON_NONE || !records_add_array(doc, last, i, is_there, out))
            records_add_around(doc, i, is_there, out);
        last = i;
        last_kind = kind;
    }
    mem_give(doc->memory, is_there);
    text_free(&room);
}

uint32_t records_next_line(const json *doc, const record_array *array, record_cursor *at)
{
    while (json_next(doc, array->token, &at->element) && at->element < array->end) {
        uint32_t token = records_follow(doc, at->element, &array->path);
        line_kind kind = records_line_of(doc, token, at->last, &at->room);
        if (kind == LINE_NONE)
            continue;
        at->last = kind;
        return token;
    }
    text_free(&at->room);
    return JSON_NONE;
}

/* ---- Documents in a row ---- */

static bool records_is_gap(const report *r, size_t at, size_t end)
{
    while (at < end && strchr(" \t\r\n", r->shadow[at]) != NULL)
        at++;
    return at == end;
}

void records_come_to(record_run *run, report *r, size_t at)
{
    if (run->end > run->begin && !records_is_gap(r, run->end, at))
        records_end(run, r);
    if (run->end == run->begin) {
        run->begin = run->end = at;
        run->part = r->part_count;
    }
}

/* Returns the only string of a document that is certainly a line of a report; JSON_NONE if there is no such
 * string, if there are several, or if one may be a report by itself. */
static uint32_t records_find_certain(const json *doc, text *room)
{
    uint32_t found = JSON_NONE;
    for (uint32_t i = 0; i < doc->count; i++) {
        if (!json_is(doc, i, JSON_STRING))
            continue;
        line_kind kind = told_line(json_raw(doc, i), room);
        bool is_own = kind == LINE_DOCUMENT || (kind == LINE_NONE && told_may_hold_report(json_raw(doc, i)));
        if (is_own || (records_is_certain(kind) && found != JSON_NONE))
            return JSON_NONE;
        found = records_is_certain(kind) ? i : found;
    }
    return found;
}

bool records_take(record_run *run, report *r, const json *doc)
{
    uint32_t token = run->has_path ? records_follow(doc, 0, &run->path) : JSON_NONE;
    line_kind kind = records_line_of(doc, token, run->last, &run->room);
    if (!json_is(doc, 0, JSON_OBJECT) || told_object(doc, 0) != REPORT_UNKNOWN)
        return false;
    if (kind == LINE_NONE) {
        token = records_find_certain(doc, &run->room);
        record_path path;
        if (token == JSON_NONE || !records_path_of(doc, 0, token, &path))
            return false;
        if (run->has_path) { /* the records of another collector begin */
            records_end(run, r);
            records_come_to(run, r, doc->v[0].at);
        }
        run->path = path;
        run->has_path = true;
        kind = records_line_of(doc, token, LINE_NONE, &run->room);
    }
    run->last = kind;
    run->end = doc->v[0].end;
    return true;
}

void records_pass(record_run *run, size_t end)
{
    run->end = end;
}

static void records_carry(record_run *run, report *r)
{
    report_carried *carried = report_add_carried(r);
    uint32_t index = r->carried_count - 1;
    line_kind last = LINE_NONE;
    carried->doc = REPORT_NONE;
    carried->at = run->begin;
    carried->first = r->string_count;
    carried->part = run->part;
    carried->is_lines = true;
    for (size_t at = run->begin; at < run->end;) {
        json doc;
        json_error err;
        while (records_is_gap(r, at, at + 1))
            at++;
        if (!json_parse(r->memory, &doc, r->body, r->len, at, &err))
            break;
        uint32_t token = records_follow(&doc, 0, &run->path);
        line_kind kind = records_line_of(&doc, token, last, &run->room);
        if (kind != LINE_NONE) {
            report_string *string = (report_string *)mem_add(r->memory, &r->carried_strings, &r->string_count,
                                                             &r->string_cap, sizeof *string);
            string->token = JSON_NONE;
            string->element = JSON_NONE;
            string->at = doc.v[token].at + 1;
            string->end = doc.v[token].end - 1;
            string->from = doc.v[0].at;
            string->to = doc.v[0].end;
            r->carried[index].count++;
            last = kind;
        }
        at = doc.v[0].end;
        json_free(&doc);
    }
    r->has_json = true;
}

void records_end(record_run *run, report *r)
{
    if (run->has_path)
        records_carry(run, r);
    text_free(&run->room);
    text room = run->room;
    memset(run, 0, sizeof *run);
    run->room = room;
}
