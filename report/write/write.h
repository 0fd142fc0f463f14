/* ==== >> write/write ====
 * Job: writes reports: in their own format, as classic text, or as JSON.
 * Offers: write_same, write_edits, write_edit_out, write_text, write_json, write_json_images,
 * write_summary_json.
 * Never: writes to a file.
 *
 * Writes reports: in their own format with names put in, as classic text, or as machsym's JSON. */
#ifndef MACHSYM_TOOL_REPORT_WRITE_H
#define MACHSYM_TOOL_REPORT_WRITE_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "call.h"

/* The input with the names of resolved frames put in; every other byte as it was. */
void write_same(const report *r, const write_options *how, text *out);
/* The same as edits of the input, whose places count from base: for what another report carries. */
void write_edits(const report *r, const write_options *how, size_t base, edit_list *out);
/* An edit that takes the input from at to end away. */
void write_edit_out(edit_list *out, size_t at, size_t end);
/* Apple's classic text. */
void write_text(const report *r, const write_options *how, text *out);
/* One JSON object: threads, frames, inlined calls, sources, images. */
void write_json(const report *r, const write_options *how, const resolve_counts *counts, text *out);
void write_json_images(const report *r, text *out); /* the member of it, in one line */
/* The same of what a summary tells: in place of all threads the one that crashed. */
void write_summary_json(const report *r, const char *label, const resolve_counts *counts, text *out);

#endif
