/* Texts that JSON documents carry; see carried.h. */
#include "carried.h"
#include "../base/json.h"

static const json_token *carried_token_of(const report *r, const report_carried *carried, uint32_t string)
{
    return &r->docs[carried->doc].v[r->carried_strings[carried->first + string].token];
}

/* An object stands as it is: it has no quotes, and its escapes are its own. */
static bool carried_is_object(const report *r, const report_carried *carried, uint32_t string)
{
    return carried_token_of(r, carried, string)->type == JSON_OBJECT;
}

static size_t carried_body_begin(const report *r, const report_carried *carried, uint32_t string)
{
    return carried_token_of(r, carried, string)->at + (carried_is_object(r, carried, string) ? 0 : 1);
}

/* Strings of one array are lines; between others stands an empty line, which ends a stack. */
static void carried_end_string(const report *r, const report_carried *carried, uint32_t string, text *out)
{
    const json *doc = &r->docs[carried->doc];
    const report_string *v = r->carried_strings + carried->first + string;
    uint32_t parent = doc->v[v[0].token].parent;
    text_char(out, '\n');
    if (parent != doc->v[v[1].token].parent || !json_is(doc, parent, JSON_ARRAY))
        text_char(out, '\n');
}

void carried_text(report *r, report_carried *carried, text *out)
{
    const json *doc = &r->docs[carried->doc];
    report_string *v = r->carried_strings + carried->first;
    for (uint32_t i = 0; i < carried->count; i++) {
        v[i].lo = out->len;
        if (carried_is_object(r, carried, i))
            text_str(out, json_raw(doc, v[i].token));
        else
            json_unescape(out, json_raw(doc, v[i].token));
        v[i].hi = out->len;
        if (i + 1 < carried->count)
            carried_end_string(r, carried, i, out);
    }
}

carried_cursor carried_begin(const report *r, const report_carried *carried)
{
    carried_cursor c = {r, carried, 0, carried_body_begin(r, carried, 0), 0, {NULL, 0, 0}};
    return c;
}

/* Moves to a byte of the string at hand. What an escape stands for is not cut. */
static void carried_move_to(carried_cursor *c, size_t plain)
{
    bool is_raw = carried_is_object(c->r, c->carried, c->string);
    machsym_str body = {c->r->body, carried_token_of(c->r, c->carried, c->string)->end - (is_raw ? 0 : 1)};
    while (c->plain < plain && c->body < body.len) {
        size_t left = body.len - c->body;
        const char *slash = is_raw ? NULL : memchr(body.ptr + c->body, '\\', left);
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

void carried_seek(carried_cursor *c, edit *piece)
{
    const report_string *v = c->r->carried_strings + c->carried->first;
    size_t end = piece->end;
    while (c->string + 1 < c->carried->count && piece->at >= v[c->string + 1].lo) {
        c->string++;
        c->plain = v[c->string].lo;
        c->body = carried_body_begin(c->r, c->carried, c->string);
        MACHSYM_COUNT_WORK(1);
    }
    carried_move_to(c, piece->at < v[c->string].hi ? piece->at : v[c->string].hi);
    piece->at = c->body;
    carried_move_to(c, end < v[c->string].hi ? end : v[c->string].hi);
    piece->end = c->body;
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
