/* Edits of the body; see edit.h. */

#include "edit.h"
#include "../base/memory.h"
#include <string.h>

/* ---- Edits ---- */

void edit_open(writer *w, size_t at, size_t end)
{
    w->edits = (edit *)mem_more(w->r->memory, w->edits, w->count, &w->cap, sizeof *w->edits);
    edit one = {at, end, w->added.len, w->added.len};
    w->edits[w->count++] = one;
}

void edit_close(writer *w)
{
    w->edits[w->count - 1].text_end = w->added.len;
}

/* ---- Added text ---- */

static void edit_add_html(text *t, machsym_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '<')
            text_c(t, "&lt;");
        else if (s.ptr[i] == '>')
            text_c(t, "&gt;");
        else if (s.ptr[i] == '&')
            text_c(t, "&amp;");
        else if (s.ptr[i] == '"')
            text_c(t, "&quot;");
        else
            text_char(t, s.ptr[i]);
    }
}

/* Moves w->part into the added text, escaped like the text around the frame. */
void edit_add_part(writer *w, const report_frame *frame)
{
    text_escape(&w->part, 0);
    machsym_str part = {w->part.v, w->part.len};
    if (frame->escape == ESCAPE_HTML) {
        edit_add_html(&w->added, part);
    } else if (frame->escape == ESCAPE_JSON) {
        size_t at = w->added.len;
        text_json(&w->added, part); /* without its quotes */
        memmove(w->added.v + at, w->added.v + at + 1, part.len == 0 ? 0 : w->added.len - at - 2);
        w->added.len -= 2;
    } else {
        text_str(&w->added, part);
    }
    w->part.len = 0;
}

void edit_add_body(writer *w, size_t at, size_t end)
{
    text_add(&w->added, w->r->body + at, end - at);
}

/* Adds the newline that ends the frame's line, or the usual one. */
void edit_add_newline(writer *w, const report_frame *frame)
{
    size_t at = frame->end;
    const report *r = w->r;
    if (frame->escape == ESCAPE_JSON) {
        text_c(&w->added, "\\n");
        return;
    }
    while (at < r->len && (r->shadow[at] == ' ' || r->shadow[at] == '\t'))
        at++;
    if (at < r->len && r->body[at] == '\r')
        text_c(&w->added, at + 1 < r->len && r->body[at + 1] == '\n' ? "\r\n" : "\r");
    else
        text_char(&w->added, '\n');
}
