/* Writes a report in its own format: names are spliced into the input, and every other byte stays. */
#include "write.h"
#include "../base/json.h"
#include "../base/memory.h"
#include "../model/carried.h"
#include "edit.h"
#include "lines.h"
#include "objects.h"

#include <stdlib.h>
#include <string.h>

static int write_by_edit_place(const void *a, const void *b)
{
    const edit *x = (const edit *)a;
    const edit *y = (const edit *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->text_at < y->text_at ? -1 : x->text_at > y->text_at;
}

/* If a function was looked up again, the inlined calls that the input shows for it are removed. The lookup
 * writes them again. */
static bool write_is_redone(const report *r, const report_frame *frame)
{
    const report_thread *thread = &r->threads[frame->thread];
    uint32_t at = (uint32_t)(frame - r->frames);
    for (unsigned steps = 0; steps <= MACHSYM_MAX_INLINE_DEPTH; steps++) {
        MACHSYM_COUNT_WORK(1);
        if (r->frames[at].addr != frame->addr)
            return false;
        if (!r->frames[at].given_inline)
            return r->frames[at].call_count > 0;
        if (at == (thread->callers_first ? thread->first : thread->first + thread->count - 1))
            return false;
        at = thread->callers_first ? at - 1 : at + 1;
    }
    return false;
}

static bool write_is_gap(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Skips blanks, and the line end after them. */
static size_t write_line_end(const report *r, size_t at)
{
    while (at < r->len && write_is_gap(r->body[at]) && r->body[at] != '\n')
        at++;
    return at < r->len && r->body[at] == '\n' ? at + 1 : at;
}

/* Removes a line with its newline, or an object with the comma between it and its function's. */
static void write_removal(writer *w, const report_frame *frame)
{
    const char *s = w->r->body;
    bool object = frame->form >= FORM_IPS;
    size_t at = frame->at;
    size_t end = frame->end;
    if (object && w->r->threads[frame->thread].callers_first) {
        while (at > 0 && write_is_gap(s[at - 1]))
            at--;
        at -= at > 0 && s[at - 1] == ',';
    } else {
        while (end < w->r->len && write_is_gap(s[end]) && (object || s[end] != '\n'))
            end++;
        end += end < w->r->len && s[end] == (object ? ',' : '\n');
    }
    MACHSYM_COUNT_WORK((end - at) / 64);
    edit_open(w, at, end);
    edit_close(w);
}

static void write_names(writer *w, const report_frame *frame)
{
    switch ((frame_form)frame->form) {
    case FORM_CLASSIC:
    case FORM_LEAKS:
    case FORM_LIST:
    case FORM_LLDB:
    case FORM_SWIFT:
    case FORM_SANITIZER:
    case FORM_SIDE: row_numbered(w, frame); break;
    case FORM_SAMPLE:
    case FORM_SPIN: row_tree(w, frame); break;
    case FORM_BARE: break; /* removed with its row */
    case FORM_XCTRACE: row_xctrace(w, frame); break;
    case FORM_INFERRED: break; /* it has no text yet */
    case FORM_IPS:
    case FORM_LOG:
    case FORM_KSCRASH:
    case FORM_SENTRY:
    case FORM_SENTRY_API:
    case FORM_BUGSNAG:
    case FORM_NODE: jsonframe_object(w, frame); break;
    case FORM_STACKSHOT: jsonframe_stackshot(w, frame); break;
    case FORM_METRIC: jsonframe_metric(w, frame); break;
    }
}

static void write_frame(writer *w, const report_frame *frame)
{
    if (frame->given_inline && w->how->all && write_is_redone(w->r, frame))
        write_removal(w, frame);
    if (frame->call_count != 0)
        write_names(w, frame);
    if (frame->form == FORM_INFERRED)
        row_inferred(w, frame);
    if (frame->doubt != NULL && (frame->form == FORM_CLASSIC || frame->form == FORM_INFERRED))
        row_doubt(w, frame);
}

/* ---- Reports that are left out ---- */

/* Returns, for each token of a document, the array element that it is or lies in; 0: not in an array. */
static uint32_t *write_list_elements(const json *doc)
{
    uint32_t *elements = (uint32_t *)mem_take(doc->memory, doc->count * sizeof *elements);
    for (uint32_t i = 0; i < doc->count; i++) {
        uint32_t parent = doc->v[i].parent;
        bool is_element = json_is(doc, parent, JSON_ARRAY);
        elements[i] = parent == JSON_NONE ? 0 : is_element ? i : elements[parent];
    }
    return elements;
}

/* Returns the element that contains all strings of a carried text; 0: no such element. */
static uint32_t write_element_of(const report *r, const report_carried *carried, const uint32_t *elements)
{
    const json *doc = &r->docs[carried->doc];
    const report_string *v = r->carried_strings + carried->first;
    uint32_t element = elements[v[0].token];
    while (element != 0 && v[carried->count - 1].token >= doc->v[element].next)
        element = elements[doc->v[element].parent];
    return element;
}

/* The reports of one document: ranges of r->parts and of r->carried. */
typedef struct document_reports {
    uint32_t part;
    uint32_t part_end;
    uint32_t carried;
    uint32_t carried_end;
    bool has_left_out;
    bool has_lines; /* its strings are lines of a report; single ones may be left out */
    bool has_kept;
} document_reports;

/* Both lists are in the order of the documents, so the next ranges begin where the last ones ended. */
static void write_next_document(const report *r, uint32_t doc, document_reports *d)
{
    d->part = d->part_end;
    d->carried = d->carried_end;
    d->has_left_out = d->has_lines = d->has_kept = false;
    while (d->part_end < r->part_count && r->parts[d->part_end].doc == doc) {
        const report_part *part = &r->parts[d->part_end++];
        d->has_left_out |= part->is_left_out && part->element != JSON_NONE;
        d->has_kept |= !part->is_left_out || part->element == JSON_NONE;
    }
    while (d->carried < r->carried_count && r->carried[d->carried].doc == REPORT_NONE)
        d->carried = ++d->carried_end;
    while (d->carried_end < r->carried_count && r->carried[d->carried_end].doc == doc) {
        const report_carried *carried = &r->carried[d->carried_end++];
        d->has_left_out |= carried->is_left_out;
        d->has_lines |= carried->is_lines;
        d->has_kept |= carried->is_kept;
    }
}

/* Marks the elements whose reports are all left out; the whole document if it has no other reports. */
static void write_mark_left_out(const report *r, uint32_t doc_index, const document_reports *d, bool *marks,
                                bool *keeps)
{
    const json *doc = &r->docs[doc_index];
    uint32_t *elements = write_list_elements(doc);
    marks[0] = d->has_left_out && d->carried < d->carried_end && !d->has_kept;
    for (uint32_t i = d->part; i < d->part_end; i++) {
        const report_part *part = &r->parts[i];
        if (part->element != JSON_NONE)
            (part->is_left_out ? marks : keeps)[part->element] = true;
    }
    for (uint32_t i = d->carried; i < d->carried_end; i++) {
        const report_carried *carried = &r->carried[i];
        if (carried->is_left_out && write_element_of(r, carried, elements) != 0)
            marks[write_element_of(r, carried, elements)] = true;
        for (uint32_t k = 0; k < carried->count; k++) {
            const report_string *string = &r->carried_strings[carried->first + k];
            if (string->is_left_out && string->element != JSON_NONE)
                marks[string->element] = true;
            else if (carried->is_kept)
                keeps[string->token] = true;
        }
    }
    for (uint32_t i = doc->count; i-- > 0;) { /* an element that contains something kept is kept */
        if (keeps[i] && doc->v[i].parent != JSON_NONE)
            keeps[doc->v[i].parent] = true;
        marks[i] = marks[i] && !keeps[i];
    }
    mem_give(r->memory, elements);
}

/* An element is removed with the text up to the next one. The last one is removed with the text after the
 * last element that stays. A whole document is removed with its line. */
static void write_left_out(writer *w, const json *doc, const bool *marks, uint32_t element)
{
    const json_token *v = doc->v;
    uint32_t array = v[element].parent;
    size_t at = v[element].at;
    size_t end = v[element].end;
    uint32_t other = JSON_NONE;
    if (array == JSON_NONE) {
        end = write_line_end(w->r, end);
    } else if (v[element].next < v[array].next) {
        end = v[v[element].next].at;
    } else {
        while (json_next(doc, array, &other))
            at = marks[other] ? at : v[other].end;
    }
    edit_open(w, at, end);
    edit_close(w);
}

static void write_without_parts(writer *w)
{
    const report *r = w->r;
    document_reports d;
    memset(&d, 0, sizeof d);
    for (uint32_t i = 0; i < r->doc_count; i++) {
        const json *doc = &r->docs[i];
        write_next_document(r, i, &d);
        if (!d.has_left_out && !d.has_lines)
            continue;
        bool *marks = (bool *)mem_take(w->r->memory, 2 * doc->count * sizeof *marks);
        memset(marks, 0, 2 * doc->count * sizeof *marks);
        write_mark_left_out(r, i, &d, marks, marks + doc->count);
        for (uint32_t k = 0; k < doc->count; k++) {
            if (marks[k])
                write_left_out(w, doc, marks, k);
        }
        mem_give(w->r->memory, marks);
    }
}

/* ---- What a document carries ---- */

/* Puts text into a JSON string. Invalid UTF-8 stays unchanged. */
static void write_add_escaped(text *t, machsym_str s)
{
    static const char letters[] = "\"\\nrtbf";
    static const char bytes[] = "\"\\\n\r\t\b\f";
    for (size_t i = 0; i < s.len; i++) {
        const char *found = s.ptr[i] != 0 ? strchr(bytes, s.ptr[i]) : NULL;
        if (found != NULL) {
            text_char(t, '\\');
            text_char(t, letters[found - bytes]);
        } else if ((unsigned char)s.ptr[i] < ' ') {
            text_c(t, "\\u");
            text_hex(t, (unsigned char)s.ptr[i], 4);
        } else {
            text_char(t, s.ptr[i]);
        }
    }
}

/* Added lines get the prefix of their line. */
static void write_add_lines(writer *w, const report_string *string, machsym_str added)
{
    for (size_t i = 0; i < added.len; i++) {
        text_char(&w->added, added.ptr[i]);
        if (added.ptr[i] == '\n')
            edit_add_body(w, string->from, string->at);
    }
}

/* Writes one piece of an edit; it lies in the cursor's string. */
static void write_carried_piece(writer *w, const carried_cursor *cursor, edit place, machsym_str added)
{
    const report_carried *carried = cursor->carried;
    const report_string *string = &w->r->carried_strings[carried->first + cursor->string];
    if (string->is_left_out && string->element != JSON_NONE)
        return; /* removed with its element */
    if (string->is_left_out && string->to > string->from) {
        edit_open(w, string->from, write_line_end(w->r, string->to));
        edit_close(w);
        return;
    }
    edit_open(w, place.at, place.end);
    if (carried->is_raw && carried->is_lines)
        write_add_lines(w, string, added);
    else if (carried->is_raw)
        text_str(&w->added, added);
    else
        write_add_escaped(&w->added, added);
    edit_close(w);
}

/* Converts edits of a carried text to edits of its strings. Added text goes into the first of them. */
static void write_carried(writer *w, const report_carried *carried)
{
    carried_cursor cursor;
    if (carried->edits.count == 0)
        return;
    cursor = carried_begin(w->r, carried);
    for (size_t i = 0; i < carried->edits.count; i++) {
        const edit *e = &carried->edits.v[i];
        machsym_str added = {NULL, 0};
        if (e->text_end > e->text_at)
            added = str_make(carried->edits.added.v + e->text_at, e->text_end - e->text_at);
        edit rest = *e;
        do {
            edit place = rest;
            carried_seek(&cursor, &place);
            write_carried_piece(w, &cursor, place, added);
            added.len = 0;
        } while (carried_next_piece(&cursor, e->end, &rest));
    }
    carried_end(&cursor);
}

/* ---- All together, spliced ---- */

/* Sorts the edits by place. Of overlapping edits, the first one counts: names in a part that is left out, or
 * in damaged reports. */
static void write_sort_edits(writer *w)
{
    size_t at = 0;
    size_t kept = 0;
    if (w->count > 0)
        qsort(w->edits, w->count, sizeof *w->edits, write_by_edit_place);
    for (size_t i = 0; i < w->count; i++) {
        if (w->edits[i].at < at)
            continue;
        at = w->edits[i].end;
        w->edits[kept++] = w->edits[i];
    }
    w->count = kept;
}

/* Writes the body with all edits applied. */
static void write_splice_edits(const writer *w, text *out)
{
    size_t at = 0;
    for (size_t i = 0; i < w->count; i++) {
        const edit *e = &w->edits[i];
        text_add(out, w->r->body + at, e->at - at);
        if (e->text_end > e->text_at)
            text_add(out, w->added.v + e->text_at, e->text_end - e->text_at);
        at = e->end;
    }
    text_add(out, w->r->body + at, w->r->len - at);
}

/* Converts the UTF-8 of decode_utf16 back to UTF-16. */
static void write_encode_utf16(const report *r, machsym_str s, text *out)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    for (size_t i = 0; i < s.len;) {
        size_t len = p[i] < 0x80 ? 1 : p[i] < 0xe0 ? 2 : p[i] < 0xf0 ? 3 : 4;
        uint32_t c = p[i] & (len == 1 ? 0x7fu : 0x7fu >> len);
        for (size_t k = 1; k < len && i + k < s.len; k++)
            c = c << 6 | (p[i + k] & 0x3f);
        i += len;
        uint32_t units[2] = {c, 0};
        if (c >= 0x10000) {
            units[0] = 0xd800 + ((c - 0x10000) >> 10);
            units[1] = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        for (size_t k = 0; k < (c >= 0x10000 ? 2u : 1u); k++) {
            bool little = r->encoding == ENCODING_UTF16LE;
            text_char(out, (char)(little ? units[k] & 0xff : units[k] >> 8));
            text_char(out, (char)(little ? units[k] >> 8 : units[k] & 0xff));
        }
    }
    if (r->input.len % 2 != 0)
        text_char(out, r->input.ptr[r->input.len - 1]);
}

/* Collects all edits of a report. */
static writer write_gather_edits(const report *r, const write_options *how)
{
    writer w;
    memset(&w, 0, sizeof w);
    w.added = w.part = text_in(r->memory);
    w.r = r;
    w.how = how;
    if (r->part_count > 1 || r->carried_count > 0)
        write_without_parts(&w);
    for (uint32_t i = 0; i < r->frame_count; i++)
        write_frame(&w, &r->frames[i]);
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].open_end > r->threads[i].open_at)
            row_bare(&w, &r->threads[i]);
    }
    for (uint32_t i = 0; i < r->carried_count; i++)
        write_carried(&w, &r->carried[i]);
    write_sort_edits(&w);
    return w;
}

static void write_free_edits(writer *w)
{
    mem_give(w->r->memory, w->edits);
    text_free(&w->added);
    text_free(&w->part);
}

void write_same(const report *r, const write_options *how, text *out)
{
    writer w = write_gather_edits(r, how);
    if (w.count == 0 && !r->is_redacted && !report_is_binary(r)) {
        text_str(out, r->input);
    } else if (r->encoding == ENCODING_BYTES || report_is_binary(r)) {
        write_splice_edits(&w, out);
    } else {
        text plain = text_in(r->memory);
        write_splice_edits(&w, &plain);
        write_encode_utf16(r, str_make(plain.v, plain.len), out);
        text_free(&plain);
    }
    write_free_edits(&w);
}

static void write_add_edit(edit_list *out, size_t at, size_t end, size_t text_at)
{
    out->v = (edit *)mem_more(out->added.memory, out->v, out->count, &out->cap, sizeof *out->v);
    edit one = {at, end, text_at, out->added.len};
    out->v[out->count++] = one;
}

void write_edit_out(edit_list *out, size_t at, size_t end)
{
    write_add_edit(out, at, end, out->added.len);
}

/* Converts edits of a redacted body to edits of the input, merged with the replacements of --redact. */
static void write_redacted(const writer *w, size_t base, edit_list *out)
{
    const report *r = w->r;
    const edit_list *taken = &r->redactions;
    size_t shift = base; /* converts a place in the body to one in the input */
    size_t done = 0;     /* up to here the body is written */
    size_t k = 0;
    for (size_t i = 0; i < w->count || k < taken->count;) {
        size_t from = out->added.len;
        if (i == w->count || (k < taken->count && taken->v[k].text_end <= w->edits[i].at)) {
            const edit *t = &taken->v[k++];
            text_add(&out->added, r->body + t->text_at, t->text_end - t->text_at);
            write_add_edit(out, base + t->at, base + t->end, from);
            shift = base + t->end - t->text_end;
            continue;
        }
        const edit *e = &w->edits[i++];
        if (e->at < done)
            continue;
        size_t at = shift + e->at;
        size_t end = shift + e->end;
        if (k < taken->count && taken->v[k].text_at < e->at) { /* it begins in a replaced name */
            at = base + taken->v[k].at;
            text_add(&out->added, r->body + taken->v[k].text_at, e->at - taken->v[k].text_at);
        }
        text_add(&out->added, w->added.v + e->text_at, e->text_end - e->text_at);
        done = e->end;
        for (; k < taken->count && taken->v[k].text_at < e->end; k++) {
            const edit *t = &taken->v[k];
            shift = base + t->end - t->text_end;
            end = base + t->end;
            done = t->text_end > e->end ? t->text_end : e->end;
        }
        if (done > e->end)
            text_add(&out->added, r->body + e->end, done - e->end);
        else
            end = shift + e->end;
        write_add_edit(out, at, end, from);
    }
}

void write_edits(const report *r, const write_options *how, size_t base, edit_list *out)
{
    writer w = write_gather_edits(r, how);
    if (r->is_redacted) {
        write_redacted(&w, base, out);
        w.count = 0;
    }
    for (size_t i = 0; i < w.count; i++) {
        const edit *e = &w.edits[i];
        size_t from = out->added.len;
        text_add(&out->added, w.added.v + e->text_at, e->text_end - e->text_at);
        write_add_edit(out, base + e->at, base + e->end, from);
    }
    write_free_edits(&w);
}
