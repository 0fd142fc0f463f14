/* ==== >> read/strings ====
 * Job: reports inside strings and objects of JSON documents of another kind.
 * Offers: its reader, for read/formats.h.
 * Never: edits them: walk.h and write/ do.
 *
 * Such documents come from a tracker's export, a crash service or Apple. */
#include "../base/json.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/carried.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "formats.h"
#include "recognise.h"
#include "records.h"
#include "told.h"

#include <stdlib.h>
#include <string.h>

/* Makes the escapes of a JSON string readable in the shadow. Two bytes stay two bytes. */
static void strings_plain_escapes(report *r, size_t lo, size_t hi)
{
    for (size_t i = lo; i + 1 < hi; i++) {
        if (r->shadow[i] != '\\')
            continue;
        char c = r->shadow[i + 1];
        r->shadow[i] = ' ';
        r->shadow[++i] = c == 'n' ? '\n' : c == 't' || c == 'r' ? ' ' : c;
    }
}

void report_parse_string(report *r, uint32_t doc, uint32_t token)
{
    const json_token *string = &r->docs[doc].v[token];
    strings_plain_escapes(r, string->at + 1, string->end - 1);
    report_parse_text(r, string->at + 1, string->end - 1, ESCAPE_JSON);
}

/* ---- Which strings are text of reports ---- */

/* The role of a string in a report. */
typedef enum string_kind {
    STRING_NONE = 0,
    STRING_WHOLE,  /* a report with its images, or a document */
    STRING_STACKS, /* stacks or a header; another string may have the images */
    STRING_IMAGES  /* images without stacks */
} string_kind;

/* A string; or an array whose strings are frames, or whose elements have lines; or an object that is the
 * document of a report. */
typedef struct candidate {
    uint32_t token;
    const record_array *lines; /* the array, if each of its elements has a line; else NULL */
    string_kind kind;
    bool is_headed;  /* its text has the subject of a report: an incident or an exception */
    uint32_t object; /* the object whose stacks and images form one report; JSON_NONE: no such object */
} candidate;

typedef struct candidates {
    candidate *v;
    uint32_t count;
    uint32_t cap;
    mem_source *memory;
} candidates;

/* "3   demo   0x0000000102a30a7c demo + 2684": an element of callStackSymbols. */
static bool strings_is_frame(const json *doc, uint32_t token)
{
    return json_is(doc, token, JSON_STRING) && scan_is_numbered(json_raw(doc, token));
}

/* ---- Which documents hold several kinds ---- */

/* Whether an array has elements of different kinds. */
static bool strings_has_unlike_elements(const json *doc)
{
    uint32_t at = JSON_NONE;
    if (!json_is(doc, 0, JSON_ARRAY) || !json_next(doc, 0, &at))
        return false;
    report_kind first = told_object(doc, at);
    while (json_next(doc, 0, &at)) {
        if (told_object(doc, at) != first)
            return true;
    }
    return false;
}

/* Whether a document contains documents of two kinds, or, not as an element, a payload of MetricKit's, which
 * has members for all its diagnostics. The search does not look inside such documents. */
static bool strings_has_own_documents(const json *doc)
{
    report_kind first = REPORT_UNKNOWN;
    uint32_t next;
    for (uint32_t i = 1; i < doc->count; i = next) {
        report_kind kind = told_object(doc, i);
        next = kind != REPORT_UNKNOWN ? doc->v[i].next : i + 1;
        bool is_other = kind != REPORT_UNKNOWN && first != REPORT_UNKNOWN && kind != first;
        bool is_element = doc->v[i].parent == 0 && json_is(doc, 0, JSON_ARRAY);
        if (is_other || (kind == REPORT_METRIC && !is_element))
            return true;
        first = kind != REPORT_UNKNOWN ? kind : first;
    }
    return false;
}

static bool strings_is_mixed(const json *doc)
{
    return told_object(doc, 0) == REPORT_UNKNOWN &&
           (strings_has_unlike_elements(doc) || strings_has_own_documents(doc));
}

static void strings_add_candidate(candidates *list, uint32_t token, string_kind kind)
{
    candidate *c = (candidate *)mem_add(list->memory, &list->v, &list->count, &list->cap, sizeof *c);
    candidate one = {token, NULL, kind, false, JSON_NONE};
    *c = one;
}

/* Adds the arrays whose elements have lines. Marks these lines. */
static void strings_add_arrays(const json *doc, const record_arrays *arrays, candidates *list, bool *marks)
{
    for (uint32_t i = 0; i < arrays->count; i++) {
        record_cursor at = {arrays->v[i].before, LINE_NONE, text_in(doc->memory)};
        strings_add_candidate(list, arrays->v[i].line, STRING_WHOLE);
        list->v[list->count - 1].lines = &arrays->v[i];
        for (uint32_t token; (token = records_next_line(doc, &arrays->v[i], &at)) != JSON_NONE;)
            marks[token] = true;
    }
}

static int strings_by_token(const void *a, const void *b)
{
    const candidate *x = (const candidate *)a;
    const candidate *y = (const candidate *)b;
    MACHSYM_COUNT_WORK(1);
    return x->token < y->token ? -1 : x->token > y->token;
}

static void strings_find_candidates(const json *doc, const record_arrays *arrays, candidates *list)
{
    bool *is_line = (bool *)mem_take(doc->memory, doc->count * sizeof *is_line);
    memset(is_line, 0, doc->count * sizeof *is_line);
    strings_add_arrays(doc, arrays, list, is_line);
    for (uint32_t i = 0; i < doc->count; i++) {
        if (json_is(doc, i, JSON_ARRAY) && strings_is_frame(doc, i + 1)) {
            strings_add_candidate(list, i, STRING_STACKS);
            i = doc->v[i].next - 1;
        } else if (i > 0 && told_object(doc, i) != REPORT_UNKNOWN) {
            strings_add_candidate(list, i, STRING_WHOLE);
            i = doc->v[i].next - 1;
        } else if (!is_line[i] && json_is(doc, i, JSON_STRING) && told_may_hold_report(json_raw(doc, i))) {
            strings_add_candidate(list, i, STRING_WHOLE);
        }
    }
    mem_give(doc->memory, is_line);
    if (arrays->count > 0)
        qsort(list->v, list->count, sizeof *list->v, strings_by_token);
}

/* Appends the unescaped text of a candidate. */
static void strings_put_plain(const json *doc, const candidate *c, text *out)
{
    record_cursor at = {c->lines != NULL ? c->lines->before : JSON_NONE, LINE_NONE, text_in(doc->memory)};
    if (c->lines == NULL)
        json_unescape(out, json_raw(doc, c->token));
    for (uint32_t token; c->lines != NULL && (token = records_next_line(doc, c->lines, &at)) != JSON_NONE;) {
        json_unescape(out, json_raw(doc, token));
        text_char(out, '\n');
    }
}

/* Finds the role of a string by reading it. Documents inside are not opened: they are separate reports. */
static void strings_tell_kind(const json *doc, candidate *c)
{
    report r;
    text plain = text_in(doc->memory);
    bool is_string = json_is(doc, c->token, JSON_STRING) && !told_is_document(json_raw(doc, c->token));
    if (c->kind != STRING_WHOLE || (c->lines == NULL && !is_string))
        return;
    strings_put_plain(doc, c, &plain);
    report_open_carried(doc->memory, &r, str_make(plain.v, plain.len), CARRIED_MAX_DEPTH, NULL, 0, NULL);
    c->is_headed = r.facts[FACT_INCIDENT].len > 0 || r.facts[FACT_EXCEPTION].len > 0;
    if (r.has_json || (r.frame_count > 0 && r.image_count > 0))
        c->kind = STRING_WHOLE;
    else if (r.frame_count > 0 || c->is_headed)
        c->kind = STRING_STACKS;
    else
        c->kind = r.image_count > 0 ? STRING_IMAGES : report_is_one(&r) ? STRING_WHOLE : STRING_NONE;
    report_close(&r);
    text_free(&plain);
}

/* ---- Stacks and images in strings of their own ---- */

/* Services nest at most this deep between an event and the strings of its report. */
enum { MAX_CLIMB = 16 };

/* Counts the candidates of a kind before each token, and before the document's end. */
static uint32_t *strings_count_kind(const candidates *list, const json *doc, string_kind kind)
{
    uint32_t *before = (uint32_t *)mem_take(doc->memory, ((size_t)doc->count + 1) * sizeof *before);
    uint32_t at = 0;
    uint32_t count = 0;
    for (uint32_t token = 0; token <= doc->count; token++) {
        for (; at < list->count && list->v[at].token < token; at++)
            count += list->v[at].kind == kind;
        before[token] = count;
    }
    return before;
}

/* Returns how many of these candidates are inside a token. */
static uint32_t strings_count_in(const uint32_t *before, const json *doc, uint32_t token)
{
    uint32_t next = doc->v[token].next;
    return before[next < doc->count ? next : doc->count] - before[token];
}

/* Finds the innermost object that has a candidate of the other kind beside this one. Elements of an array
 * belong to different reports. may: which objects are allowed; NULL: all. */
static void strings_find_object(const json *doc, candidate *c, const uint32_t *others, const bool *may)
{
    const json_token *v = doc->v;
    uint32_t member = c->token;
    uint32_t object = v[member].parent;
    for (unsigned i = 0; i < MAX_CLIMB && object != JSON_NONE;
         i++, member = object, object = v[object].parent) {
        MACHSYM_COUNT_WORK(1);
        if (json_is(doc, object, JSON_OBJECT) &&
            strings_count_in(others, doc, object) > strings_count_in(others, doc, member) &&
            (may == NULL || may[object])) {
            c->object = object;
            return;
        }
    }
}

/* Joins images with the stacks beside them, and then stacks with images that were joined. */
static void strings_find_objects(candidates *list, const json *doc)
{
    uint32_t *stacks = strings_count_kind(list, doc, STRING_STACKS);
    uint32_t *images = strings_count_kind(list, doc, STRING_IMAGES);
    bool *has_images = (bool *)mem_take(doc->memory, doc->count * sizeof *has_images);
    memset(has_images, 0, doc->count * sizeof *has_images);
    for (uint32_t i = 0; i < list->count; i++) {
        candidate *c = &list->v[i];
        if (c->kind == STRING_IMAGES)
            strings_find_object(doc, c, stacks, NULL);
        if (c->object != JSON_NONE)
            has_images[c->object] = true;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->v[i].kind == STRING_STACKS)
            strings_find_object(doc, &list->v[i], images, has_images);
    }
    mem_give(doc->memory, stacks);
    mem_give(doc->memory, images);
    mem_give(doc->memory, has_images);
}

/* ---- What is carried ---- */

/* Candidates of one report. After sorting they are adjacent. */
typedef struct carried_run {
    uint32_t token; /* of the first one */
    uint32_t lo;
    uint32_t hi;
} carried_run;

/* Strings of one report have the same key: their object, or the document if they have no object and no
 * header. */
static uint64_t strings_key_of(const candidate *c)
{
    if (c->object != JSON_NONE)
        return (uint64_t)1 << 32 | c->object;
    bool is_loose = c->kind == STRING_STACKS && !c->is_headed;
    return is_loose ? (uint64_t)3 << 32 : (uint64_t)2 << 32 | c->token;
}

static int strings_by_key(const void *a, const void *b)
{
    const candidate *x = (const candidate *)a;
    const candidate *y = (const candidate *)b;
    MACHSYM_COUNT_WORK(1);
    if (strings_key_of(x) != strings_key_of(y))
        return strings_key_of(x) < strings_key_of(y) ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

static int strings_by_first_token(const void *a, const void *b)
{
    const carried_run *x = (const carried_run *)a;
    const carried_run *y = (const carried_run *)b;
    MACHSYM_COUNT_WORK(1);
    return x->token < y->token ? -1 : x->token > y->token;
}

static void strings_add_string(report *r, uint32_t token, uint32_t element)
{
    const json_token *v = &r->docs[r->carried[r->carried_count - 1].doc].v[token];
    size_t quote = v->type == JSON_STRING ? 1 : 0;
    report_string *string = (report_string *)mem_add(r->memory, &r->carried_strings, &r->string_count,
                                                     &r->string_cap, sizeof *r->carried_strings);
    string->token = token;
    string->element = element;
    string->at = v->at + quote;
    string->end = v->end - quote;
    r->carried[r->carried_count - 1].count++;
}

static void strings_add_candidate_strings(report *r, const json *doc, const candidate *c)
{
    record_cursor line = {c->lines != NULL ? c->lines->before : JSON_NONE, LINE_NONE, text_in(doc->memory)};
    uint32_t at = JSON_NONE;
    if (c->lines == NULL && !json_is(doc, c->token, JSON_ARRAY))
        strings_add_string(r, c->token, JSON_NONE);
    while (c->lines == NULL && json_is(doc, c->token, JSON_ARRAY) && json_next(doc, c->token, &at)) {
        if (json_is(doc, at, JSON_STRING))
            strings_add_string(r, at, JSON_NONE);
    }
    for (uint32_t token; c->lines != NULL && (token = records_next_line(doc, c->lines, &line)) != JSON_NONE;)
        strings_add_string(r, token, line.element);
}

static void strings_add_carried(report *r, uint32_t doc_index, const candidate *v, uint32_t count)
{
    const json *doc = &r->docs[doc_index];
    report_carried *carried = report_add_carried(r);
    carried->doc = doc_index;
    carried->at = doc->v[0].at;
    carried->first = r->string_count;
    carried->part = r->part_count;
    carried->is_raw = json_is(doc, v[0].token, JSON_OBJECT);
    carried->is_lines = count == 1 && v[0].lines != NULL;
    for (uint32_t i = 0; i < count; i++)
        strings_add_candidate_strings(r, doc, &v[i]);
}

static void strings_add_runs(report *r, uint32_t doc_index, candidates *list)
{
    carried_run *runs = (carried_run *)mem_take(r->memory, list->count * sizeof *runs);
    uint32_t count = 0;
    qsort(list->v, list->count, sizeof *list->v, strings_by_key);
    for (uint32_t i = 0; i < list->count; i++) {
        const candidate *c = &list->v[i];
        bool is_alone = c->object == JSON_NONE && c->kind == STRING_IMAGES;
        if (c->kind == STRING_NONE || is_alone)
            continue;
        if (count > 0 && runs[count - 1].hi == i && strings_key_of(c) == strings_key_of(&list->v[i - 1]))
            runs[count - 1].hi++;
        else {
            carried_run one = {c->token, i, i + 1};
            runs[count++] = one;
        }
    }
    if (count > 0)
        qsort(runs, count, sizeof *runs, strings_by_first_token);
    for (uint32_t i = 0; i < count; i++)
        strings_add_carried(r, doc_index, list->v + runs[i].lo, runs[i].hi - runs[i].lo);
    mem_give(r->memory, runs);
}

/* A single string is not examined: its reader recognises it. */
bool report_parse_strings(report *r, uint32_t doc_index)
{
    candidates list = {NULL, 0, 0, r->memory};
    record_arrays arrays = {NULL, 0, 0};
    uint32_t before = r->carried_count;
    if (r->depth >= CARRIED_MAX_DEPTH)
        return false;
    records_find_arrays(&r->docs[doc_index], &arrays);
    strings_find_candidates(&r->docs[doc_index], &arrays, &list);
    for (uint32_t i = 0; i < list.count && list.count > 1; i++)
        strings_tell_kind(&r->docs[doc_index], &list.v[i]);
    if (list.count > 1)
        strings_find_objects(&list, &r->docs[doc_index]);
    if (list.count > 0)
        strings_add_runs(r, doc_index, &list);
    mem_give(r->memory, list.v);
    mem_give(r->memory, arrays.v);
    return r->carried_count > before;
}

bool report_parse_mixed(report *r, uint32_t doc_index)
{
    return strings_is_mixed(&r->docs[doc_index]) && report_parse_strings(r, doc_index);
}
