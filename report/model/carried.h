/* ==== >> model/carried ====
 * Job: texts that JSON documents carry in their strings, and the place of each byte in the document.
 * Offers: carried_text, carried_place, carried_mark_left_out, carried_begin, carried_seek,
 * carried_next_piece, carried_end.
 * Never: opens the reports in them.
 *
 * These texts hold reports of their own. */
#ifndef MACHSYM_TOOL_CARRIED_H
#define MACHSYM_TOOL_CARRIED_H

#include "../base/text.h"
#include "machsym.h"
#include "report.h"

/* Each level of nesting doubles the backslashes before a quote. At this depth a quote has 65,000 of them. */
enum { CARRIED_MAX_DEPTH = 16 };

/* Builds the carried text, and notes where its strings lie in it. */
void carried_text(report *r, report_carried *carried, text *out);
/* Returns where a byte of the carried text stands in the body. */
size_t carried_place(const report *r, const report_carried *carried, size_t at);

/* Marks the lines that its reports took out. Call it after all edits are made. */
void carried_mark_left_out(report *r, report_carried *carried);

/* Goes through a carried text in the order of its bytes. */
typedef struct carried_cursor {
    const report *r;
    const report_carried *carried;
    uint32_t string; /* the current string, counted in the text's strings */
    size_t body;     /* its place in the body; plain: in the text */
    size_t plain;
    text scratch;
} carried_cursor;

carried_cursor carried_begin(const report *r, const report_carried *carried);
/* Returns the place of a piece of the text in the body. A piece ends where its string ends. Call it with
 * pieces in order. */
void carried_seek(carried_cursor *c, edit *piece);
/* Returns the part of a piece that lies in the following strings; false if there is no such part. */
bool carried_next_piece(const carried_cursor *c, size_t end, edit *piece);
void carried_end(carried_cursor *c);

#endif
