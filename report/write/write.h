/* ==== >> write/write ====
 * Job: writes reports: in their own format, as classic text, or as JSON.
 * Offers: write_same, write_edits, write_edit_out, write_text, write_json, write_fact, write_json_images,
 * write_summary_json.
 * Never: writes to a file.
 *
 * In their own format, reports get names put in. */
#ifndef MACHSYM_TOOL_REPORT_WRITE_H
#define MACHSYM_TOOL_REPORT_WRITE_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "call.h"

/* Writes the input with the names of resolved frames put in. Every other byte is unchanged. */
void write_same(const report *r, const write_options *how, text *out);
/* Returns the same as edits of the input, with places counted from base. For reports that another report
 * carries. */
void write_edits(const report *r, const write_options *how, size_t base, edit_list *out);
/* Adds an edit that removes the input from at to end. */
void write_edit_out(edit_list *out, size_t at, size_t end);
/* Writes Apple's classic text. */
void write_text(const report *r, const write_options *how, text *out);
/* Writes one JSON object: threads, frames, inlined calls, sources, images. */
void write_json(const report *r, const write_options *how, const resolve_counts *counts, text *out);
/* Returns the name that JSON has for a fact, and its text, which may be empty. Returns false after the last. */
bool write_fact(const report *r, size_t index, const char **name, machsym_str *value);
void write_json_images(const report *r, text *out); /* its member with the images, on one line */
/* Writes the same with the data of a summary: only the crashed thread instead of all. */
void write_summary_json(const report *r, const char *label, const resolve_counts *counts, text *out);

#endif
