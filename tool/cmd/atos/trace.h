/* ==== >> cmd/atos/trace ====
 * Job: answers addresses that are one stack.
 * Offers: trace_answer.
 * Never: opens a file. */
#ifndef MACHSYM_TOOL_CMD_ATOS_TRACE_H
#define MACHSYM_TOOL_CMD_ATOS_TRACE_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "answer.h"

/* Answers words, the innermost address first; all but the first are return addresses. */
void trace_answer(atos *a, text *out, const machsym_str *words, size_t count);

#endif
