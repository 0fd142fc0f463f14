/* Why the system ended a process, in fields and in words. */
#ifndef MACHSYM_TOOL_TERMINATION_H
#define MACHSYM_TOOL_TERMINATION_H

#include "../model/report.h"

/* Splits "Namespace SIGNAL, Code 11 Segmentation fault: 11" and its like into facts; may have many lines. */
void termination_parse(report *r, machsym_str s);
/* Adds sentences. Returns whether the termination says what happened: of a plain signal it does not. */
bool termination_explain(text *t, const report *r);

#endif
