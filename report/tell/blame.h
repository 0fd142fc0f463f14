/* ==== >> tell/blame ====
 * Job: whose fault a report is: the first function of its stack that has an owner.
 * Offers: blame_find.
 * Never: knows rules of ownership: report_rules answers. */
#ifndef MACHSYM_TOOL_BLAME_H
#define MACHSYM_TOOL_BLAME_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* A function on the stack that tells, and its owner. */
typedef struct blame {
    machsym_str owner;
    machsym_str image;
    machsym_str name;  /* may be empty */
    machsym_str place; /* File.m:12; may be empty */
} blame;

/* From the top, inlined calls first. Returns false where no rule fits, or there are none; *out is empty
 * then. The place lives in *room. */
bool blame_find(const report *r, blame *out, text *room);

#endif
