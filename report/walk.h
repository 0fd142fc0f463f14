/* ==== >> walk ====
 * Job: all reports that an input holds, one after the other: in a row, in parts, and carried in
 * strings.
 * Offers: walk_all.
 * Never: answers one: callbacks do.
 *
 * Strings of documents may carry reports at any depth. */
#ifndef MACHSYM_TOOL_WALK_H
#define MACHSYM_TOOL_WALK_H

#include "base/memory.h"
#include "base/text.h"
#include "machsym.h"
#include "model/redact.h"
#include "model/report.h"
#include "model/tables.h"
#include "write/call.h"

/* The result of looking up the reports of a document. */
typedef enum walk_step {
    WALK_ANSWER = 0, /* each is answered */
    WALK_LEFT_OUT,   /* no report of it is wanted */
    WALK_BROKEN,     /* it cannot be answered: its reports stay unchanged */
    WALK_STOP        /* the walk ends */
} walk_step;

/* Settings and callbacks of a walk. */
typedef struct report_walk {
    mem_source *memory; /* NULL: the heap */
    const report_load *loads;
    size_t load_count;
    const report_tables *tables; /* NULL: no files of images */
    const redactor *redact;      /* NULL: reports are not redacted */
    report_rules rules;          /* owner NULL: owners are not asked for */
    const write_options *same;   /* NULL: the input with names put in is not wanted */
    void *context;
    /* Looks up the reports of a document. Their numbers are set. */
    walk_step (*look_up)(void *context, report *r, resolve_counts *counts);
    /* Answers one report. Returns false to leave it out. */
    bool (*answer)(void *context, report *one, const resolve_counts *counts);
    /* Called after all reports are answered, if one was not left out; may be NULL. */
    void (*end)(void *context, const report *r, const resolve_counts *counts);
    uint32_t held; /* reports so far; they are numbered by it */
    bool has_number;
    bool only_counts; /* stops at the second report */
} report_walk;

/* Walks over an input. If `same` is set, the result goes to out. Returns false if a callback stopped the
 * walk. */
bool walk_all(report_walk *w, machsym_str input, text *out);

#endif
