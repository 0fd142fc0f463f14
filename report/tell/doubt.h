/* ==== >> tell/doubt ====
 * Job: how far the stacks of a report were held against code, and what is in doubt.
 * Offers: doubt_counts; doubt_count, doubt_put, doubt_put_brief, doubt_put_json, doubt_first.
 * Never: reads code: frames say what was found. */
#ifndef MACHSYM_TOOL_DOUBT_H
#define MACHSYM_TOOL_DOUBT_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

typedef struct doubt_counts {
    uint32_t callers;  /* frames that must follow a call */
    uint32_t checked;  /* of these, with their code at hand */
    uint32_t doubted;  /* of these, in doubt */
    uint32_t inferred; /* frames that the report lacks */
} doubt_counts;

void doubt_count(const report *r, doubt_counts *out);
/* Writes lines of the summary. Nothing is written if the stacks were not checked. */
void doubt_put(text *t, const report *r);
/* Writes "; 1 of 3 callers in doubt; not checked: ..." in the same case. */
void doubt_put_brief(text *t, const report *r);
/* Writes a JSON member in the same case. */
void doubt_put_json(text *t, const report *r);
/* The first frame in doubt, of the main stack if it has one; NULL: none. */
const report_frame *doubt_first(const report *r);

#endif
