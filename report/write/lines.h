/* ==== >> write/lines ====
 * Job: puts names into the lines of frames that are text.
 * Offers: row_numbered, row_inferred, row_doubt, row_tree, row_bare, row_xctrace.
 * Never: touches other bytes. */
#ifndef REPORT_WRITE_LINES_H
#define REPORT_WRITE_LINES_H

#include "../model/report.h"
#include "edit.h"

void row_numbered(writer *w, const report_frame *frame);
/* Adds the line of a frame that the report lacks, after the one before it. */
void row_inferred(writer *w, const report_frame *frame);
/* Adds why the frame is in doubt to its line. */
void row_doubt(writer *w, const report_frame *frame);
void row_tree(writer *w, const report_frame *frame);
/* If an address of a row was found, the row becomes a list of frames. */
void row_bare(writer *w, const report_thread *thread);
void row_xctrace(writer *w, const report_frame *frame);

#endif
