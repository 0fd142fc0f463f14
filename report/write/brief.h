/* ==== >> write/brief ====
 * Job: a report in a line of JSON that fits a message: what happened, where, what is missing.
 * Offers: BRIEF_BYTES; brief_put.
 * Never: cuts a link, a number or a character. */
#ifndef REPORT_WRITE_BRIEF_H
#define REPORT_WRITE_BRIEF_H

#include "../base/text.h"
#include "../model/report.h"
#include "../tell/machinery.h"
#include "machsym.h"

/* The most that a brief has, its line end too: about 400 tokens of a language model. */
enum { BRIEF_BYTES = 1500 };

/* Adds a crash-brief/1 and a line end. label: the report's file; empty: it has none. list: as of
 * signature_of. */
void brief_put(const report *r, const resolve_counts *counts, machsym_str label, const machinery *list,
               text *out);

#endif
