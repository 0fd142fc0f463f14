/* ==== >> tell/termination ====
 * Job: why the system ended a process, in words.
 * Offers: ending_explain, ending_why.
 * Never: sets facts. */
#ifndef MACHSYM_TOOL_TELL_TERMINATION_H
#define MACHSYM_TOOL_TELL_TERMINATION_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* Appends sentences. Returns whether the termination explains what happened. A plain signal does not. */
bool ending_explain(text *t, const report *r);
/* Returns the report's own reason, one line; empty if it has no reason, or only the number of a signal in
 * words. */
machsym_str ending_why(const report *r);

#endif
