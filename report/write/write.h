/* Writes reports: in their own format with names put in, as classic text, or as machsym's JSON. */
#ifndef MACHSYM_TOOL_REPORT_WRITE_H
#define MACHSYM_TOOL_REPORT_WRITE_H

#include "../base/json_put.h"
#include "../model/report.h"

/* How to write. */
typedef struct write_options {
    bool full_path;
    bool all;      /* calls that the input shows as inlined were looked up anew */
    bool is_apple; /* text without what Apple's tools do not write: owners, and marks of inlined calls */
    bool one_line; /* of JSON: for one document a line */
} write_options;

/* The input with the names of resolved frames put in; every other byte as it was. */
void report_write_same(const report *r, const write_options *how, text *out);
/* The same as edits of the input, whose places count from base: for what another report carries. */
void report_edit_same(const report *r, const write_options *how, size_t base, edit_list *out);
/* An edit that takes the input from at to end away. */
void report_edit_out(edit_list *out, size_t at, size_t end);
/* Apple's classic text. */
void report_write_text(const report *r, const write_options *how, text *out);
/* One JSON object: threads, frames, inlined calls, sources, images. */
void report_write_json(const report *r, const write_options *how, const resolve_counts *counts, text *out);
/* The same of what a summary tells: in place of all threads the one that crashed. */
void report_summary_json(const report *r, const char *label, const resolve_counts *counts, text *out);
/* "File.m:12" of a call, or its path and line. */
void text_call_place(text *t, const report_call *call, bool full_path);

#endif
