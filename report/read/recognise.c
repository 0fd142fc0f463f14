/* Encodings, and the recognition of a report's kind; see recognise.h. */
#include "recognise.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/carried.h"
#include "../model/parts.h"
#include "bug_types.h"
#include "core.h"
#include "dump.h"
#include "formats.h"
#include "minidump.h"
#include "plcrash.h"
#include "records.h"
#include "unwrap.h"

#include <stdlib.h>
#include <string.h>

/* ---- Encodings ---- */

static report_encoding recognise_find_encoding(machsym_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (s.len < 4)
        return ENCODING_BYTES;
    if (FAMILY_HAS_SERVICES && plcrash_is(s))
        return ENCODING_PLCRASH;
    if (FAMILY_HAS_DUMPS && minidump_is(s))
        return ENCODING_MINIDUMP;
    if (FAMILY_HAS_DUMPS && core_is(s))
        return ENCODING_CORE;
    if (p[0] == 0xff && p[1] == 0xfe)
        return ENCODING_UTF16LE;
    if (p[0] == 0xfe && p[1] == 0xff)
        return ENCODING_UTF16BE;
    if (p[0] != 0 && p[1] == 0 && p[2] != 0 && p[3] == 0)
        return ENCODING_UTF16LE;
    return p[0] == 0 && p[1] != 0 && p[2] == 0 && p[3] != 0 ? ENCODING_UTF16BE : ENCODING_BYTES;
}

static uint32_t recognise_utf16_unit(machsym_str s, size_t i, report_encoding encoding)
{
    const unsigned char *p = (const unsigned char *)s.ptr + 2 * i;
    return encoding == ENCODING_UTF16LE ? (uint32_t)(p[1] << 8 | p[0]) : (uint32_t)(p[0] << 8 | p[1]);
}

/* An unpaired surrogate gets its own three bytes, so that the way back loses nothing. */
static uint32_t recognise_utf16_character(const report *r, size_t *i)
{
    uint32_t c = recognise_utf16_unit(r->input, *i, r->encoding);
    *i += 1;
    if (c >= 0xd800 && c < 0xdc00 && *i < r->input.len / 2) {
        uint32_t low = recognise_utf16_unit(r->input, *i, r->encoding);
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            *i += 1;
        }
    }
    return c;
}

static void recognise_decode_utf16(report *r)
{
    for (size_t i = 0; i < r->input.len / 2;)
        text_utf8(&r->changed, recognise_utf16_character(r, &i));
}

/* Returns the length of an entity that mailers and web pages write; 0 for other text. */
static size_t recognise_entity_at(const char *p, size_t left, char *c)
{
    static const struct {
        const char *name;
        char c;
    } entities[] = {{"&lt;", '<'},   {"&gt;", '>'},    {"&amp;", '&'},   {"&quot;", '"'},  {"&nbsp;", ' '},
                    {"&#39;", '\''}, {"&#x27;", '\''}, {"&#039;", '\''}, {"&apos;", '\''}, {"&#34;", '"'}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        size_t len = strlen(entities[i].name);
        if (left >= len && memcmp(p, entities[i].name, len) == 0) {
            *c = entities[i].c;
            return len;
        }
    }
    return 0;
}

/* The next byte of a kind that make_shadow replaces; NULL: no more. */
static const char *recognise_next_byte(const char *at, const char *end, int byte)
{
    return at < end ? (const char *)memchr(at, byte, (size_t)(end - at)) : NULL;
}

/* Replaces an entity by its character and spaces. */
static void recognise_shadow_entities(report *r)
{
    const char *end = r->body + r->len;
    for (const char *at = r->body; (at = recognise_next_byte(at, end, '&')) != NULL;) {
        char plain;
        size_t len = recognise_entity_at(at, (size_t)(end - at), &plain);
        if (len > 0) {
            memset(r->shadow + (at - r->body), ' ', len);
            r->shadow[at - r->body] = plain;
            r->has_entities |= plain == '<' || plain == '>';
        }
        at += len > 0 ? len : 1;
    }
}

/* Replaces a terminal's colour code, ESC [ 31 m, by spaces. */
static void recognise_shadow_colours(report *r)
{
    const char *end = r->body + r->len;
    for (const char *at = r->body; (at = recognise_next_byte(at, end, 0x1b)) != NULL; at++) {
        const char *to = at + 1;
        if (to == end || *to != '[')
            continue;
        for (to++; to < end && ((*to >= '0' && *to <= '9') || *to == ';');)
            to++;
        if (to < end && *to == 'm')
            memset(r->shadow + (at - r->body), ' ', (size_t)(to + 1 - at));
        MACHSYM_COUNT_WORK((size_t)(to - at) / 16);
    }
}

/* Builds the shadow that text readers use: the body with spaces for NUL, no-break spaces and a byte order
 * mark, and with entities as their character and spaces. Every byte keeps its place. */
static void recognise_make_shadow(report *r)
{
    const char *end = r->body + r->len;
    r->shadow = (char *)mem_take(r->memory, r->len + 1);
    if (r->len > 0) /* memcpy must not see NULL */
        memcpy(r->shadow, r->body, r->len);
    r->shadow[r->len] = 0;
    if (r->len >= 3 && memcmp(r->body, "\xef\xbb\xbf", 3) == 0)
        memset(r->shadow, ' ', 3);
    for (const char *at = r->body; (at = recognise_next_byte(at, end, 0)) != NULL; at++)
        r->shadow[at - r->body] = ' ';
    for (const char *at = r->body; (at = recognise_next_byte(at, end, 0xc2)) != NULL; at++) {
        if (at + 1 < end && (unsigned char)at[1] == 0xa0)
            memset(r->shadow + (at - r->body), ' ', 2);
    }
    recognise_shadow_colours(r);
    recognise_shadow_entities(r);
}

/* ---- Recognition ---- */

/* Each function recognises a document of its kind by its members, and reads it. */
static bool (*const document_kinds[])(report *r, uint32_t doc) = {
#define RECOGNISE_NOTHING(...)
#define RECOGNISE_DOCUMENT(kind, words, reader)       FAMILY_IF_##kind(report_parse_##reader, )
#define RECOGNISE_OBJECT(kind, words, reader, member) FAMILY_IF_##kind(report_parse_##reader, )
    report_parse_mixed,
    REPORT_KINDS(RECOGNISE_NOTHING, RECOGNISE_DOCUMENT, RECOGNISE_OBJECT) report_parse_strings,
#undef RECOGNISE_NOTHING
#undef RECOGNISE_DOCUMENT
#undef RECOGNISE_OBJECT
};

static bool recognise_is_of_a_kind(report *r, uint32_t doc)
{
    for (size_t i = 0; i < sizeof document_kinds / sizeof *document_kinds; i++) {
        if (document_kinds[i](r, doc))
            return true;
    }
    return false;
}

/* Reads the document that begins at `at`. Returns its end; or 0 if it is not a document, and sets err->at to
 * the end of what was parsed. A cut report is read as far as it is whole. An object that is not a report is
 * skipped, since text inside it is JSON. An array may be the start of a line of text. */
static size_t recognise_add_document(report *r, size_t at, record_run *run, json_error *err)
{
    json doc;
    records_come_to(run, r, at);
    bool is_whole = json_parse(r->memory, &doc, r->body, r->len, at, err);
    if (!is_whole && !json_parse_cut(r->memory, &doc, r->body, r->len, at))
        return 0;
    size_t end = doc.v[0].end;
    if (is_whole && r->depth < CARRIED_MAX_DEPTH && records_take(run, r, &doc)) {
        json_free(&doc);
        return end;
    }
    *(json *)mem_add(r->memory, &r->docs, &r->doc_count, &r->doc_cap, sizeof doc) = doc;
    uint32_t index = r->doc_count - 1;
    if (recognise_is_of_a_kind(r, index)) {
        r->has_json = true;
        r->cut_at = is_whole ? r->cut_at : err->at;
        return end;
    }
    json_free(&r->docs[--r->doc_count]);
    if (!is_whole)
        return 0;
    err->what = NULL;
    err->at = end;
    if (r->body[at] != '{')
        return 0;
    records_pass(run, end);
    return end;
}

static size_t recognise_line_start_after(const report *r, size_t at)
{
    size_t end = at + str_line_len(str_make(r->shadow + at, r->len - at));
    return end < r->len ? end + 1 : end;
}

/* Whether a string that begins at an offset also ends its line. Quotes in text need not be JSON. */
static bool recognise_is_string_line(const report *r, size_t at)
{
    size_t end = at + str_line_len(str_make(r->body + at, r->len - at));
    MACHSYM_COUNT_WORK((end - at) / 64);
    while (end > at + 1 && (r->body[end - 1] == ' ' || r->body[end - 1] == '\t'))
        end--;
    return end > at + 2 && r->body[end - 1] == '"';
}

/* Next places of the bytes that begin a JSON document; the report's length: no more. */
typedef struct openings {
    size_t brace;
    size_t bracket;
    size_t quote;
} openings;

static size_t recognise_next_in_shadow(const report *r, size_t at, int byte)
{
    const char *found = recognise_next_byte(r->shadow + at, r->shadow + r->len, byte);
    size_t to = found != NULL ? (size_t)(found - r->shadow) : r->len;
    MACHSYM_COUNT_WORK(1 + (to - at) / 64);
    return to;
}

/* Returns where the next line begins with such a byte after blanks. lo must be the start of a line. */
static size_t recognise_next_opening(const report *r, size_t lo, openings *next)
{
    for (size_t at = lo;;) {
        if (next->brace < at)
            next->brace = recognise_next_in_shadow(r, at, '{');
        if (next->bracket < at)
            next->bracket = recognise_next_in_shadow(r, at, '[');
        if (next->quote < at)
            next->quote = recognise_next_in_shadow(r, at, '"');
        size_t first = next->brace < next->bracket ? next->brace : next->bracket;
        first = first < next->quote ? first : next->quote;
        size_t begin = first;
        while (first < r->len && begin > lo && (r->shadow[begin - 1] == ' ' || r->shadow[begin - 1] == '\t'))
            begin--;
        MACHSYM_COUNT_WORK((first - begin) / 64);
        if (first == r->len || begin == lo || r->shadow[begin - 1] == '\n' || r->shadow[begin - 1] == '\r')
            return first;
        at = first + 1;
    }
}

/* Sorts carried texts by place: a run of records may end after the document that follows it. */
static int recognise_by_place(const void *a, const void *b)
{
    const report_carried *x = (const report_carried *)a;
    const report_carried *y = (const report_carried *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Whether text that does not parse was meant as a document. {level=info} is the mark of a log. */
static bool recognise_looks_like_document(const report *r, size_t at)
{
    size_t next = at + 1;
    while (next < r->len && strchr(" \t\r\n", r->shadow[next]) != NULL)
        next++;
    bool is_mark = r->shadow[at] == '{' && next < r->len && r->shadow[next] != '"' && r->shadow[next] != '}';
    return (r->shadow[at] == '{' || at == 0) && !is_mark;
}

/* Reads text, and documents that prefixes on their lines hide. */
static void recognise_parse_text(report *r, size_t at, size_t hi)
{
    while (at < hi && r->depth < CARRIED_MAX_DEPTH) {
        size_t end;
        size_t begin = unwrap_text(r, at, hi, &end);
        report_parse_text(r, at, begin, ESCAPE_NONE);
        at = end;
    }
    if (at < hi)
        report_parse_text(r, at, hi, ESCAPE_NONE);
}

/* A report is text, JSON documents at the start of lines, or both in turn. After a broken document, text is
 * read up to the place of the error, and no other document is tried before it. So the time stays linear. */
static void recognise_parse_parts(report *r)
{
    size_t text_at = 0;
    size_t no_json_before = 0;
    openings next = {recognise_next_in_shadow(r, 0, '{'), recognise_next_in_shadow(r, 0, '['),
                     recognise_next_in_shadow(r, 0, '"')};
    size_t at = 0;
    size_t first;
    record_run run;
    memset(&run, 0, sizeof run);
    run.room = text_in(r->memory);
    if (FAMILY_HAS_PROFILES && report_parse_xctrace(r))
        return;
    while ((first = recognise_next_opening(r, at, &next)) < r->len) {
        json_error err;
        if (first >= no_json_before && (r->shadow[first] != '"' || recognise_is_string_line(r, first))) {
            size_t end = recognise_add_document(r, first, &run, &err);
            if (end != 0) {
                recognise_parse_text(r, text_at, first);
                text_at = at = end;
                continue;
            }
            no_json_before = err.at + 1;
            if (r->failure == NULL && err.what != NULL && recognise_looks_like_document(r, first)) {
                r->failure = err.what;
                r->failed_at = err.at;
            }
        }
        at = recognise_line_start_after(r, first);
    }
    records_end(&run, r);
    recognise_parse_text(r, text_at, r->len);
    if (r->carried_count > 0)
        qsort(r->carried, r->carried_count, sizeof *r->carried, recognise_by_place);
}

/* ---- Reports that are there twice ---- */

static bool recognise_is_same_stack(const report *r, const report_thread *a, const report_thread *b)
{
    MACHSYM_COUNT_WORK(1);
    if (a->kind != b->kind || a->number != b->number)
        return false;
    return a->count == 0 || (b->count > 0 && r->frames[a->first].addr == r->frames[b->first].addr);
}

/* Whether the text before an .ips is its translation: its stacks follow as JSON in the same order. The text
 * may lack some. */
static bool recognise_is_translation(const report *r)
{
    uint32_t at = r->main_thread;
    for (uint32_t i = 0; i < r->main_thread; i++) {
        while (at < r->thread_count && !recognise_is_same_stack(r, &r->threads[i], &r->threads[at]))
            at++;
        if (at++ == r->thread_count)
            return false;
    }
    return r->main_thread > 0;
}

/* Counts a translated report once. The images of the text are removed, and its frames are placed again. */
static void recognise_drop_echo(report *r)
{
    uint32_t images = r->main_image;
    if (r->kind != REPORT_IPS || !recognise_is_translation(r))
        return;
    for (uint32_t i = 0; i < r->main_thread; i++)
        r->threads[i].is_echo = true;
    for (uint32_t i = 0; i < r->frame_count; i++) {
        uint32_t image = r->frames[i].image;
        if (image != REPORT_NONE)
            r->frames[i].image = image >= images ? image - images : REPORT_NONE;
        if (r->frames[i].thread < r->main_thread)
            r->frames[i].is_placed = false;
    }
    for (uint32_t i = 0; i < r->register_count; i++) {
        uint32_t *image = &r->registers[i].image;
        if (*image != REPORT_NONE)
            *image = *image >= images ? *image - images : REPORT_NONE;
    }
    r->image_count -= images;
    memmove(r->images, r->images + images, r->image_count * sizeof *r->images);
    r->main_image = 0;
}

/* Kinds without stacks that are not in this table are shown by their bug_type. */
static void recognise_name_unknown(report *r)
{
    text t = text_in(r->memory);
    if (r->kind != REPORT_UNKNOWN || r->frame_count > 0 || r->meta_doc == REPORT_NONE ||
        r->facts[FACT_EVENT].len > 0 || r->failure != NULL)
        return;
    text_c(&t, "bug_type ");
    text_str(&t, r->facts[FACT_BUG_TYPE]);
    r->kind = REPORT_STACKLESS;
    report_set_fact(r, FACT_EVENT, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

static void recognise_name_kind(report *r)
{
    if (r->encoding == ENCODING_PLCRASH)
        r->kind = REPORT_PLCRASH;
    if (r->encoding == ENCODING_MINIDUMP)
        r->kind = REPORT_MINIDUMP;
    if (r->encoding == ENCODING_CORE)
        r->kind = REPORT_CORE;
    if (r->kind == REPORT_UNKNOWN && r->frame_count > 0)
        r->kind = REPORT_TEXT;
    if (r->frame_count > 0)
        r->failure =
            r->has_text ? NULL : r->failure; /* broken JSON inside text is not an error of the report */
    const char *words = r->frame_count == 0 ? bug_type_words(r->facts[FACT_BUG_TYPE]) : NULL;
    if (words != NULL) {
        r->kind = REPORT_STACKLESS;
        r->failure = NULL;
        report_set_fact(r, FACT_EVENT, str_c(words));
    }
    machsym_str event = r->facts[FACT_EVENT];
    if (str_starts(event, "jetsam") && r->frame_count == 0)
        r->kind = REPORT_STACKLESS;
    recognise_name_unknown(r);
}

static void recognise_redact(report *r, const redactor *how)
{
    text plain = text_in(r->memory);
    redact_report(how, str_make(r->body, r->len), &plain, &r->redactions);
    text_free(&r->changed);
    r->changed = plain;
    r->body = plain.len > 0 ? plain.v : "";
    r->len = plain.len;
    r->is_redacted = true;
}

void report_open(report *r, const char *input, size_t len, const report_load *loads, size_t load_count)
{
    report_open_redacted(NULL, r, input, len, loads, load_count, NULL, NULL);
}

static void recognise_begin(mem_source *memory, report *r, machsym_str input, unsigned depth)
{
    memset(r, 0, sizeof *r);
    r->memory = memory;
    r->changed = r->redactions.added = text_in(memory);
    r->strings.memory = memory;
    r->main_doc = REPORT_NONE;
    r->meta_doc = REPORT_NONE;
    r->input = input;
    r->body = input.ptr;
    r->len = input.len;
    r->depth = depth;
}

/* The place in the input of a place in the text that was read from UTF-16. */
static size_t recognise_place_in_utf16(const report *r, size_t at)
{
    size_t units = 0;
    for (size_t seen = 0; seen < at && units < r->input.len / 2;) {
        uint32_t c = recognise_utf16_character(r, &units);
        seen += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    return 2 * units;
}

/* The place of a place in the body before --redact; of one in a replacement, where that begins. */
static size_t recognise_place_unredacted(const report *r, size_t at)
{
    size_t i = r->redactions.count;
    while (i > 0 && r->redactions.v[i - 1].text_at > at)
        i--;
    if (i == 0)
        return at;
    const edit *last = &r->redactions.v[i - 1];
    return at < last->text_end ? last->at : at - last->text_end + last->end;
}

/* The place in the input of a place in the body; 0 stays 0: nowhere. */
static size_t recognise_place_in_input(const report *r, size_t at)
{
    if (at == 0)
        return 0;
    at = recognise_place_unredacted(r, at);
    return r->encoding == ENCODING_BYTES ? at : recognise_place_in_utf16(r, at);
}

static void recognise_parse(report *r, const report_load *loads, size_t load_count, const redactor *how)
{
    if (how != NULL)
        recognise_redact(r, how);
    if (r->len >= UINT32_MAX) {
        r->failure = "longer than 4 GB";
        r->len = 0;
    }
    recognise_make_shadow(r);
    recognise_parse_parts(r);
    parts_end(r);
    if (r->part_count > 1)
        memcpy(r->facts, r->parts[0].facts, sizeof r->facts);
    recognise_name_kind(r);
    report_settle_version(r);
    recognise_drop_echo(r);
    report_place_in_loads(r, loads, load_count);
    if (FAMILY_HAS_STACKS)
        report_settle_lldb(r);
    report_finish_images(r);
    if (!report_is_binary(r)) { /* of binary input these are its places already */
        r->failed_at = recognise_place_in_input(r, r->failed_at);
        r->cut_at = recognise_place_in_input(r, r->cut_at);
    }
}

void report_open_carried(mem_source *memory, report *r, machsym_str input, unsigned depth,
                         const report_load *loads, size_t load_count, const redactor *how)
{
    recognise_begin(memory, r, input, depth);
    recognise_parse(r, loads, load_count, how);
}

static void recognise_decode(report *r, dump_walks *walks)
{
    if (FAMILY_HAS_SERVICES && r->encoding == ENCODING_PLCRASH)
        r->failed_at = plcrash_decode(r->input, &r->changed);
    else if (FAMILY_HAS_DUMPS && r->encoding == ENCODING_MINIDUMP)
        r->failed_at = minidump_decode(r->input, &r->changed, &r->damage, walks);
    else if (FAMILY_HAS_DUMPS && r->encoding == ENCODING_CORE)
        r->failed_at = core_decode(r->input, &r->changed, &r->damage, walks);
    else
        recognise_decode_utf16(r);
    if (r->failed_at > 0)
        r->failure = r->damage != NULL ? r->damage : "the protobuf is damaged";
}

/* Tells of each frame how it was found. A text of the dump that looked like a frame would shift them. */
static void recognise_take_walks(report *r, const dump_walks *walks)
{
    for (uint32_t i = 0; walks->count == r->frame_count && i < walks->count; i++)
        r->frames[i].found_by = walks->v[i];
}

void report_open_redacted(mem_source *memory, report *r, const char *input, size_t len,
                          const report_load *loads, size_t load_count, const report_tables *tables,
                          const redactor *how)
{
    dump_walks walks = {tables, NULL, 0, 0};
    recognise_begin(memory, r, str_make(input, len), 0);
    r->encoding = recognise_find_encoding(r->input);
    if (r->encoding != ENCODING_BYTES) {
        recognise_decode(r, &walks);
        if (tables != NULL && tables->leave != NULL)
            tables->leave(tables->context);
        r->body = r->changed.v;
        r->len = r->changed.len;
    }
    recognise_parse(r, loads, load_count, how);
    recognise_take_walks(r, &walks);
    mem_give(memory, walks.v);
}

bool report_is_one(const report *r)
{
    return r->frame_count > 0 || r->kind != REPORT_UNKNOWN || r->facts[FACT_INCIDENT].len > 0 ||
           r->facts[FACT_EXCEPTION].len > 0 || r->facts[FACT_BUG_TYPE].len > 0;
}
