/* ==== >> write/brief ====
 * Job: a report in one line of JSON, short enough for a message: what happened, where, what is missing.
 * Offers: BRIEF_BYTES; brief_put.
 * Never: cuts a link, a number or a character. */
#ifndef REPORT_WRITE_BRIEF_H
#define REPORT_WRITE_BRIEF_H

#include "../base/text.h"
#include "../model/report.h"
#include "../tell/machinery.h"
#include "machsym.h"

/* Most bytes of a brief with its line end: about 400 tokens of a language model. */
enum { BRIEF_BYTES = 1500 };

/* Appends a crash-brief/1 and a line end. label: the report's file; may be empty. list: as in
 * signature_of. */
void brief_put(const report *r, const resolve_counts *counts, machsym_str label, const machinery *list,
               text *out);

#endif
