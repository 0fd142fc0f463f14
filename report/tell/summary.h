/* ==== >> tell/summary ====
 * Job: what a report means, in words: the exception, the app's own frames, what is missing.
 * Offers: summary_put, summary_put_brief.
 * Never: changes a report.
 *
 * The summary ends with the signature. */
#ifndef MACHSYM_TOOL_SUMMARY_H
#define MACHSYM_TOOL_SUMMARY_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

void summary_put(text *t, const report *r, const resolve_counts *counts, bool colour);
/* How many frames are named, which file named each image, and what is missing, in one line. */
void summary_put_brief(text *t, const report *r, const resolve_counts *counts);

#endif
