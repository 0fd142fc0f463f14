/* ==== >> read/strings ====
 * Job: reports inside strings and objects of JSON documents of another kind.
 * Offers: its reader, for read/formats.h.
 * Never: edits them: walk.h and write/ do.
 *
 * Reports inside strings and objects of JSON documents: of a tracker's export, of a crash service, of
 * Apple's own. */
#include "../base/json.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/carried.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "formats.h"
#include "recognise.h"

#include <stdlib.h>
#include <string.h>

/* Makes the escapes of a JSON string readable in the shadow: two bytes stay two bytes. */
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

/* What a string is of a report. */
typedef enum string_kind {
    STRING_NONE = 0,
    STRING_WHOLE,  /* a report with its images, or a document */
    STRING_STACKS, /* stacks or a header, whose images another string may have */
    STRING_IMAGES  /* images without stacks */
} string_kind;

/* A string, an array whose strings are frames, or an object that is a document of a report. */
typedef struct candidate {
    uint32_t token;
    string_kind kind;
    bool is_headed;  /* what it is a report of is said in it */
    uint32_t object; /* in which stacks and images are of one report; JSON_NONE: there is none */
} candidate;

typedef struct candidates {
    candidate *v;
    uint32_t count;
    uint32_t cap;
} candidates;

static machsym_str strings_after(machsym_str s, size_t at)
{
    return at < s.len ? str_make(s.ptr + at, s.len - at) : str_make(NULL, 0);
}

/* The end of a line in a string: escaped, or as it is, which real documents have. */
static size_t strings_find_line_end(machsym_str raw)
{
    size_t end = str_find(raw, "\\n");
    size_t plain = str_line_len(str_make(raw.ptr, end));
    size_t number = str_find(str_make(raw.ptr, plain), "\\u000a");
    end = plain < end ? plain : end;
    return number < end ? number : end;
}

/* What a document begins with: a brace, a bracket, or a string that holds one once more. */
static bool strings_begins_document(machsym_str raw)
{
    while (raw.len > 1 && (raw.ptr[0] == ' ' || str_starts(raw, "\\n")))
        raw = strings_after(raw, raw.ptr[0] == ' ' ? 1 : 2);
    return (str_starts(raw, "{") || str_starts(raw, "[") || str_starts(raw, "\\\"")) &&
           str_find(raw, "\\\"") < raw.len;
}

/* Several lines, with an address or what a report begins with; or a document. */
static bool strings_may_hold_report(machsym_str raw)
{
    static const char *const words[] = {"0x", "Incident Identifier:", "Exception Type:"};
    if (strings_begins_document(raw))
        return true;
    size_t line = strings_find_line_end(raw);
    machsym_str rest = strings_after(raw, line + 2);
    MACHSYM_COUNT_WORK(raw.len / 16);
    if (line >= raw.len || strings_find_line_end(rest) >= rest.len)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_find(raw, words[i]) < raw.len)
            return true;
    }
    return false;
}

/* "3   demo   0x0000000102a30a7c demo + 2684": an element of callStackSymbols. */
static bool strings_is_frame(const json *doc, uint32_t token)
{
    return json_is(doc, token, JSON_STRING) && scan_is_numbered(json_raw(doc, token));
}

/* ---- Which objects are documents of reports ---- */

/* Which kinds are told where they lie in another document. */
static const struct {
    report_kind kind;
    bool (*tell)(const json *doc, uint32_t object);
} object_kinds[] = {
#define STRINGS_NOTHING(...)
#define STRINGS_OBJECT(kind, words, reader, member) {REPORT_##kind, report_tell_##reader},
    REPORT_KINDS(STRINGS_NOTHING, STRINGS_NOTHING, STRINGS_OBJECT)
#undef STRINGS_NOTHING
#undef STRINGS_OBJECT
};

static report_kind strings_tell_object(const json *doc, uint32_t object)
{
    for (size_t i = 0; json_is(doc, object, JSON_OBJECT) && i < sizeof object_kinds / sizeof *object_kinds;
         i++) {
        if (object_kinds[i].tell(doc, object))
            return object_kinds[i].kind;
    }
    return REPORT_UNKNOWN;
}

/* Whether the elements of an array are not all of one kind. */
static bool strings_has_unlike_elements(const json *doc)
{
    uint32_t at = JSON_NONE;
    if (!json_is(doc, 0, JSON_ARRAY) || !json_next(doc, 0, &at))
        return false;
    report_kind first = strings_tell_object(doc, at);
    while (json_next(doc, 0, &at)) {
        if (strings_tell_object(doc, at) != first)
            return true;
    }
    return false;
}

/* Whether documents of two kinds lie in another document, or deep in it a payload of MetricKit's, which has members that
 * all its diagnostics share. What lies in one of them is its own. */
static bool strings_has_own_documents(const json *doc)
{
    report_kind first = REPORT_UNKNOWN;
    uint32_t next;
    for (uint32_t i = 1; i < doc->count; i = next) {
        report_kind kind = strings_tell_object(doc, i);
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
    return strings_tell_object(doc, 0) == REPORT_UNKNOWN &&
           (strings_has_unlike_elements(doc) || strings_has_own_documents(doc));
}

static void strings_add_candidate(candidates *list, uint32_t token, string_kind kind)
{
    candidate *c = mem_push(&list->v, &list->count, &list->cap, sizeof *c);
    *c = (candidate){token, kind, false, JSON_NONE};
}

static void strings_find_candidates(const json *doc, candidates *list)
{
    for (uint32_t i = 0; i < doc->count; i++) {
        if (json_is(doc, i, JSON_ARRAY) && strings_is_frame(doc, i + 1)) {
            strings_add_candidate(list, i, STRING_STACKS);
            i = doc->v[i].next - 1;
        } else if (i > 0 && strings_tell_object(doc, i) != REPORT_UNKNOWN) {
            strings_add_candidate(list, i, STRING_WHOLE);
            i = doc->v[i].next - 1;
        } else if (json_is(doc, i, JSON_STRING) && strings_may_hold_report(json_raw(doc, i))) {
            strings_add_candidate(list, i, STRING_WHOLE);
        }
    }
}

/* Tells what a string is by reading it. Documents in it are not looked into: they are reports of their own. */
static void strings_tell_kind(const json *doc, candidate *c)
{
    report r;
    text plain = {0};
    machsym_str raw = json_raw(doc, c->token);
    if (c->kind != STRING_WHOLE || !json_is(doc, c->token, JSON_STRING) || strings_begins_document(raw))
        return;
    json_unescape(&plain, raw);
    report_open_carried(&r, str_make(plain.v, plain.len), CARRIED_MAX_DEPTH, NULL, 0, NULL);
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

/* Services nest no deeper between an event and the strings of its report. */
enum { MAX_CLIMB = 16 };

/* Of a kind, how many candidates stand before each token, and before the document's end. */
static uint32_t *strings_count_kind(const candidates *list, const json *doc, string_kind kind)
{
    uint32_t *before = mem_alloc(((size_t)doc->count + 1) * sizeof *before);
    uint32_t at = 0;
    uint32_t count = 0;
    for (uint32_t token = 0; token <= doc->count; token++) {
        for (; at < list->count && list->v[at].token < token; at++)
            count += list->v[at].kind == kind;
        before[token] = count;
    }
    return before;
}

/* How many stand in a token. */
static uint32_t strings_count_in(const uint32_t *before, const json *doc, uint32_t token)
{
    uint32_t next = doc->v[token].next;
    return before[next < doc->count ? next : doc->count] - before[token];
}

/* The innermost object in which a string has one of the other kind beside it; elements of an array are of
 * different reports. may says which objects count; NULL: all. */
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

/* Images go with the stacks beside them, and stacks with images that go with them. */
static void strings_find_objects(candidates *list, const json *doc)
{
    uint32_t *stacks = strings_count_kind(list, doc, STRING_STACKS);
    uint32_t *images = strings_count_kind(list, doc, STRING_IMAGES);
    bool *has_images = mem_alloc(doc->count * sizeof *has_images);
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
    free(stacks);
    free(images);
    free(has_images);
}

/* ---- What is carried ---- */

/* Candidates of one report, which are neighbours once they are sorted. */
typedef struct carried_run {
    uint32_t token; /* of the first one */
    uint32_t lo;
    uint32_t hi;
} carried_run;

/* Strings of one report have one key: their object, or none has them but the document. */
static uint64_t strings_key_of(const candidate *c)
{
    if (c->object != JSON_NONE)
        return (uint64_t)1 << 32 | c->object;
    bool is_loose = c->kind == STRING_STACKS && !c->is_headed;
    return is_loose ? (uint64_t)3 << 32 : (uint64_t)2 << 32 | c->token;
}

static int strings_by_key(const void *a, const void *b)
{
    const candidate *x = a;
    const candidate *y = b;
    MACHSYM_COUNT_WORK(1);
    if (strings_key_of(x) != strings_key_of(y))
        return strings_key_of(x) < strings_key_of(y) ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

static int strings_by_first_token(const void *a, const void *b)
{
    const carried_run *x = a;
    const carried_run *y = b;
    MACHSYM_COUNT_WORK(1);
    return x->token < y->token ? -1 : x->token > y->token;
}

static void strings_add_string(report *r, uint32_t token)
{
    report_string *string =
        mem_push(&r->carried_strings, &r->string_count, &r->string_cap, sizeof *r->carried_strings);
    string->token = token;
    r->carried[r->carried_count - 1].count++;
}

static void strings_add_carried(report *r, uint32_t doc_index, const candidate *v, uint32_t count)
{
    const json *doc = &r->docs[doc_index];
    report_carried *carried = mem_push(&r->carried, &r->carried_count, &r->carried_cap, sizeof *carried);
    carried->doc = doc_index;
    carried->first = r->string_count;
    carried->part = r->part_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = JSON_NONE;
        if (!json_is(doc, v[i].token, JSON_ARRAY))
            strings_add_string(r, v[i].token);
        while (json_is(doc, v[i].token, JSON_ARRAY) && json_next(doc, v[i].token, &at)) {
            if (json_is(doc, at, JSON_STRING))
                strings_add_string(r, at);
        }
    }
}

static void strings_add_runs(report *r, uint32_t doc_index, candidates *list)
{
    carried_run *runs = mem_alloc(list->count * sizeof *runs);
    uint32_t count = 0;
    qsort(list->v, list->count, sizeof *list->v, strings_by_key);
    for (uint32_t i = 0; i < list->count; i++) {
        const candidate *c = &list->v[i];
        bool is_alone = c->object == JSON_NONE && c->kind == STRING_IMAGES;
        if (c->kind == STRING_NONE || is_alone)
            continue;
        if (count > 0 && runs[count - 1].hi == i && strings_key_of(c) == strings_key_of(&list->v[i - 1]))
            runs[count - 1].hi++;
        else
            runs[count++] = (carried_run){c->token, i, i + 1};
    }
    if (count > 0)
        qsort(runs, count, sizeof *runs, strings_by_first_token);
    for (uint32_t i = 0; i < count; i++)
        strings_add_carried(r, doc_index, list->v + runs[i].lo, runs[i].hi - runs[i].lo);
    free(runs);
}

/* A string that is alone needs no look at what it is: whoever reads it finds out. */
bool report_parse_strings(report *r, uint32_t doc_index)
{
    candidates list = {NULL, 0, 0};
    uint32_t before = r->carried_count;
    if (r->depth >= CARRIED_MAX_DEPTH)
        return false;
    strings_find_candidates(&r->docs[doc_index], &list);
    for (uint32_t i = 0; i < list.count && list.count > 1; i++)
        strings_tell_kind(&r->docs[doc_index], &list.v[i]);
    if (list.count > 1)
        strings_find_objects(&list, &r->docs[doc_index]);
    if (list.count > 0)
        strings_add_runs(r, doc_index, &list);
    free(list.v);
    return r->carried_count > before;
}

bool report_parse_mixed(report *r, uint32_t doc_index)
{
    return strings_is_mixed(&r->docs[doc_index]) && report_parse_strings(r, doc_index);
}
