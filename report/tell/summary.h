/* What a report means, in words: the exception, the app's own frames, what is missing; and its signature. */
#ifndef MACHSYM_TOOL_SUMMARY_H
#define MACHSYM_TOOL_SUMMARY_H

#include "../model/report.h"
#include "stable.h"

/* A crash in a form that is the same for every report of it: the top frames of the app, innermost first. */
typedef struct signature {
    text text;           /* "EXC_BREAKPOINT: a | b | c" */
    uint64_t hash;       /* of text */
    uint64_t frames[16]; /* hashes of all app frames, most */
    unsigned frame_count;
    char day[11];     /* of the report, "2026-03-14"; empty: not told */
    char version[64]; /* of the program, as much as fits; empty: not told */
} signature;

/* The exception and what it comes from, a sentence a line. */
void text_exception(text *t, const report *r);
void text_summary(text *t, const report *r, const resolve_counts *counts, bool colour);
/* How many frames are named, which file named each image, and what is missing, in one line. */
void text_brief(text *t, const report *r, const resolve_counts *counts);
/* list: functions that count for nothing where the system's have to tell; NULL: the built-in one. */
void report_signature(const report *r, const machinery *list, signature *out);

#endif
