/* ==== >> tell/blame ====
 * Job: who is responsible for a report: the first function of its stack that has an owner.
 * Offers: blame_find.
 * Never: knows rules of ownership: report_rules answers. */
#ifndef MACHSYM_TOOL_BLAME_H
#define MACHSYM_TOOL_BLAME_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* A function on the main stack, and its owner. */
typedef struct blame {
    machsym_str owner;
    machsym_str image;
    machsym_str name;  /* may be empty */
    machsym_str place; /* File.m:12; may be empty */
} blame;

/* Searches from the top, inlined calls first. Returns false if no rule matches, or if there are no rules;
 * then *out is empty. The place lives in *room. */
bool blame_find(const report *r, blame *out, text *room);

#endif
