/* ==== >> cmd/worker/answer ====
 * Job: one line to one answer.
 * Offers: reply_to_line, reply_refuse_long, reply_as, reply_is_blank.
 * Never: reads or writes a stream. */
#ifndef MACHSYM_TOOL_CMD_WORKER_ANSWER_H
#define MACHSYM_TOOL_CMD_WORKER_ANSWER_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "do.h"
#include "state.h"

/* Whether a text has nothing but blanks. The end of a line of Windows counts as one. */
bool reply_is_blank(machsym_str s);
/* Appends the answer to a line, a line itself. bytes: those that follow the line. Returns false when it is an
 * error. Threads: any. */
bool reply_to_line(worker *w, machsym_str line, machsym_str bytes, uint64_t number, text *out);
/* The same to a line that was too long to be read. Returns false. */
bool reply_refuse_long(const worker *w, uint64_t number, text *out);
/* Answers a request of a kind. Returns false when it is refused. Threads: any. */
bool reply_as(answering *a, machsym_str kind);

#endif
