/* Texts that JSON documents carry; see carried.h. */
#include "carried.h"
#include "../base/json.h"

/* The strings of one array are lines. Between other strings goes an empty line, which ends a stack. */
static void carried_end_string(const report *r, const report_carried *carried, uint32_t string, text *out)
{
    const report_string *v = r->carried_strings + carried->first + string;
    bool is_last = string + 1 == carried->count;
    if (carried->is_lines || (v[0].element != JSON_NONE && !is_last && v[1].element != JSON_NONE)) {
        if (v[0].hi == v[0].lo ||
            out->v[out->len - 1] != '\n') /* some collectors leave the line end in the string */
            text_char(out, '\n');
        return;
    }
    const json *doc = &r->docs[carried->doc];
    uint32_t parent = doc->v[v[0].token].parent;
    text_char(out, '\n');
    if (parent != doc->v[v[1].token].parent || !json_is(doc, parent, JSON_ARRAY))
        text_char(out, '\n');
}

void carried_text(report *r, report_carried *carried, text *out)
{
    report_string *v = r->carried_strings + carried->first;
    for (uint32_t i = 0; i < carried->count; i++) {
        machsym_str raw = {r->body + v[i].at, v[i].end - v[i].at};
        v[i].lo = out->len;
        if (carried->is_raw)
            text_str(out, raw);
        else
            json_unescape(out, raw);
        v[i].hi = out->len;
        if (i + 1 < carried->count || carried->is_lines)
            carried_end_string(r, carried, i, out);
    }
}

carried_cursor carried_begin(const report *r, const report_carried *carried)
{
    carried_cursor c = {r, carried, 0, r->carried_strings[carried->first].at, 0, text_in(r->memory)};
    return c;
}

/* Moves to a byte of the current string. Stops only between the characters that escapes stand for. */
static void carried_move_to(carried_cursor *c, size_t plain)
{
    machsym_str body = {c->r->body, c->r->carried_strings[c->carried->first + c->string].end};
    while (c->plain < plain && c->body < body.len) {
        size_t left = body.len - c->body;
        const char *slash = c->carried->is_raw ? NULL : (const char *)memchr(body.ptr + c->body, '\\', left);
        size_t run = slash != NULL ? (size_t)(slash - body.ptr) - c->body : left;
        run = run < plain - c->plain ? run : plain - c->plain;
        MACHSYM_COUNT_WORK(1 + run / 64);
        c->body += run;
        c->plain += run;
        if (run > 0)
            continue;
        c->scratch.len = 0;
        c->body = c->body + 1 < body.len ? json_unescape_one(&c->scratch, body, c->body + 1) : body.len;
        c->plain += c->scratch.len;
    }
}

void carried_mark_left_out(report *r, report_carried *carried)
{
    report_string *v = r->carried_strings + carried->first;
    uint32_t string = 0;
    for (size_t i = 0; i < carried->edits.count && carried->is_lines; i++) {
        const edit *e = &carried->edits.v[i];
        while (string < carried->count && v[string].lo < e->at)
            string++;
        for (; string < carried->count && v[string].hi <= e->end && e->end > e->at; string++)
            v[string].is_left_out = e->text_end == e->text_at;
    }
}

void carried_seek(carried_cursor *c, edit *piece)
{
    const report_string *v = c->r->carried_strings + c->carried->first;
    size_t end = piece->end;
    while (c->string + 1 < c->carried->count && piece->at >= v[c->string + 1].lo) {
        c->string++;
        c->plain = v[c->string].lo;
        c->body = v[c->string].at;
        MACHSYM_COUNT_WORK(1);
    }
    carried_move_to(c, piece->at < v[c->string].hi ? piece->at : v[c->string].hi);
    piece->at = c->body;
    carried_move_to(c, end < v[c->string].hi ? end : v[c->string].hi);
    piece->end = c->body;
}

bool carried_next_piece(const carried_cursor *c, size_t end, edit *piece)
{
    const report_string *v = c->r->carried_strings + c->carried->first;
    if (c->string + 1 >= c->carried->count || v[c->string + 1].lo >= end)
        return false;
    piece->at = v[c->string + 1].lo;
    piece->end = end;
    return true;
}

void carried_end(carried_cursor *c)
{
    text_free(&c->scratch);
}

size_t carried_place(const report *r, const report_carried *carried, size_t at)
{
    carried_cursor c = carried_begin(r, carried);
    edit piece = {at, at, 0, 0};
    carried_seek(&c, &piece);
    carried_end(&c);
    return piece.at;
}
