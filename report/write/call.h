/* ==== >> write/call ====
 * Job: one call, in words or as JSON, and how much of it is wanted.
 * Offers: call_put_place, call_put_others, call_put_function, call_put_tail, call_put, call_put_json.
 * Never: escapes it for the text around it: edit.h does. */
#ifndef REPORT_WRITE_CALL_H
#define REPORT_WRITE_CALL_H

#include "../base/text.h"
#include "../model/report.h"

/* How to write a report. */
typedef struct write_options {
    bool full_path;
    bool all;      /* calls that the input shows as inlined were looked up again */
    bool is_apple; /* exactly as Apple's tools write: without owners, and without marks of inlined calls */
    bool one_line; /* JSON on one line, for one document a line */
} write_options;

/* Writes "File.m:12" of a call, or its path and line. */
void call_put_place(text *t, const report_call *call, bool full_path);
/* Writes " (or OTHER: one body)" after the name of a function that shares its code, or " (or 5 others)" if
 * there are more than three. */
void call_put_others(text *t, const report_call *call);
/* Writes "NAME (or OTHER: one body) + 12". Inlined calls have no offset. */
void call_put_function(text *t, const report_call *call);
/* Writes the end of a line: " [OWNER]", " [callers left out]", " [inlined]". */
void call_put_tail(text *t, const report_call *call);
/* Writes "NAME + 12 (File.m:34) [OWNER]". */
void call_put(text *t, const report_call *call, bool full_path);
/* Writes a call in the form of crash/1. */
void call_put_json(text *t, const report_call *call);

#endif
