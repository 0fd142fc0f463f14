/* ==== >> model/termination ====
 * Job: why the system ended a process, in fields.
 * Offers: termination_parse.
 * Never: explains it: that is tell/termination.h. */
#ifndef REPORT_MODEL_TERMINATION_H
#define REPORT_MODEL_TERMINATION_H

#include "machsym.h"
#include "report.h"

/* Splits "Namespace SIGNAL, Code 11 Segmentation fault: 11" and its like into facts; may have many lines. */
void termination_parse(report *r, machsym_str s);

#endif
