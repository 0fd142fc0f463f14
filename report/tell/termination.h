/* ==== >> tell/termination ====
 * Job: why the system ended a process, in words.
 * Offers: ending_explain, ending_why.
 * Never: sets facts. */
#ifndef MACHSYM_TOOL_TELL_TERMINATION_H
#define MACHSYM_TOOL_TELL_TERMINATION_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* Adds sentences. Returns whether the termination says what happened: of a plain signal it does not. */
bool ending_explain(text *t, const report *r);
/* The report's own reason for it, a line; empty: it has none, or only a signal's number in words. */
machsym_str ending_why(const report *r);

#endif
