/* ==== >> walk ====
 * Job: all reports that an input holds, one after the other: in a row, in parts, and carried in
 * strings.
 * Offers: walk_all.
 * Never: answers one: that is called back.
 *
 * All reports that an input holds, one after the other: in a row, in parts of a document, and
 * carried in strings of documents, however deep. */
#ifndef MACHSYM_TOOL_WALK_H
#define MACHSYM_TOOL_WALK_H

#include "base/memory.h"
#include "base/text.h"
#include "machsym.h"
#include "model/redact.h"
#include "model/report.h"
#include "write/call.h"

/* What becomes of the reports of a document, which are looked up together. */
typedef enum walk_step {
    WALK_ANSWER = 0, /* each is answered */
    WALK_LEFT_OUT,   /* none is wanted */
    WALK_BROKEN,     /* none can be answered: they stay as they are */
    WALK_STOP        /* the walk ends */
} walk_step;

/* How to go, and what is called on the way. */
typedef struct report_walk {
    mem_source *memory; /* NULL: the heap */
    const report_load *loads;
    size_t load_count;
    const redactor *redact;    /* NULL: reports stay as they are */
    report_rules rules;        /* no owner: whose code it is, is not asked */
    const write_options *same; /* the input with names in it is wanted; NULL: it is not */
    void *context;
    /* Looks up the reports of a document. Their number is set. */
    walk_step (*look_up)(void *context, report *r, resolve_counts *counts);
    /* One of them. Returns false when it is left out. */
    bool (*answer)(void *context, report *one, const resolve_counts *counts);
    /* Once all of them are answered and one was not left out; NULL: nothing is to be done. */
    void (*end)(void *context, const report *r, const resolve_counts *counts);
    uint32_t held; /* reports so far, which are numbered by it */
    bool has_number;
    bool only_counts; /* and stops at the second */
} report_walk;

/* Goes through an input. What is wanted of it comes to out. Returns false when the walk was ended. */
bool walk_all(report_walk *w, machsym_str input, text *out);

#endif
