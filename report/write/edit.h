/* ==== >> write/edit ====
 * Job: edits of the body, which the writers of a report in its own format share.
 * Offers: edit_open, edit_close, edit_add_part, edit_add_body, edit_add_newline.
 * Never: knows a format. */
#ifndef MACHSYM_TOOL_EDIT_H
#define MACHSYM_TOOL_EDIT_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "call.h"

/* All edits of a report. */
typedef struct writer {
    const report *r;
    const write_options *how;
    edit *edits;
    size_t count;
    size_t cap;
    text added;
    text part; /* a name or place before it is escaped */
} writer;

/* The text that is added between edit_open and edit_close replaces the body from at to end. */
void edit_open(writer *w, size_t at, size_t end);
void edit_close(writer *w);
/* Moves w->part into the added text, escaped like the text around the frame. */
void edit_add_part(writer *w, const report_frame *frame);
void edit_add_body(writer *w, size_t at, size_t end); /* a part of the body, unchanged */
/* Adds the newline that ends the frame's line, or the usual one. */
void edit_add_newline(writer *w, const report_frame *frame);

#endif
