/* ==== >> tell/exception ====
 * Job: the exception of a report in words.
 * Offers: exception_put.
 * Never: sets facts. */
#ifndef REPORT_EXCEPTION_H
#define REPORT_EXCEPTION_H

#include "../base/text.h"
#include "../model/report.h"

/* Writes the exception and its cause, one sentence on each line. */
void exception_put(text *t, const report *r);

#endif
