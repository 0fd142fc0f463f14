/* ==== >> model/carried ====
 * Job: texts that JSON documents carry in their strings, and where each byte of them stands in the document.
 * Offers: carried_text, carried_place, carried_mark_left_out, carried_begin, carried_seek,
 * carried_next_piece, carried_end.
 * Never: opens the reports in them.
 *
 * Texts that JSON documents carry in their strings, and that hold reports of their own. */
#ifndef MACHSYM_TOOL_CARRIED_H
#define MACHSYM_TOOL_CARRIED_H

#include "../base/text.h"
#include "machsym.h"
#include "report.h"

/* A document in a document doubles the backslashes of all its quotes: what lies deeper than this has 65,000
 * of them for each. */
enum { CARRIED_MAX_DEPTH = 16 };

/* Puts the carried text together, and notes where its strings lie in it. */
void carried_text(report *r, report_carried *carried, text *out);
/* Where a byte of the carried text stands in the body. */
size_t carried_place(const report *r, const report_carried *carried, size_t at);

/* Once all edits are there: which of its lines its reports have taken out. */
void carried_mark_left_out(report *r, report_carried *carried);

/* Goes through a carried text in the order of its bytes. */
typedef struct carried_cursor {
    const report *r;
    const report_carried *carried;
    uint32_t string; /* the one at hand, of those of the text */
    size_t body;     /* where that is in the body, and in the text */
    size_t plain;
    text scratch;
} carried_cursor;

carried_cursor carried_begin(const report *r, const report_carried *carried);
/* The place in the body of a piece of the text; a piece ends with its string. Pieces come in order. */
void carried_seek(carried_cursor *c, edit *piece);
/* What of a piece lies in the strings after the one at hand; false: nothing. */
bool carried_next_piece(const carried_cursor *c, size_t end, edit *piece);
void carried_end(carried_cursor *c);

#endif
