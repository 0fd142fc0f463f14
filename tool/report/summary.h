/* What a report means, in words: the exception, the app's own frames, what is missing; and its signature. */
#ifndef MACHSYM_TOOL_SUMMARY_H
#define MACHSYM_TOOL_SUMMARY_H

#include "report.h"
#include "resolve.h"
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

/* Reports that belong together. */
typedef struct group_list group_list;

group_list *groups_open(void);
/* Takes over the signature. */
void groups_add(group_list *groups, const char *path, signature *s);
/* Once, when all are added. Equal signatures, then those that share most frames, largest group first. */
void groups_print(group_list *groups, bool is_json, text *out);
void groups_close(group_list *groups);

/* Takes what earlier runs counted, before the first groups_add. Returns false after a message. */
bool groups_read(group_list *groups, const char *path);
/* What all runs counted, for groups_read: a JSON object a line. After groups_print. */
void groups_put_state(const group_list *groups, text *out);

#endif
