/* ==== >> cmd/atos/many ====
 * Job: answers the words of an input, many of them by several threads.
 * Offers: many_answer_part, many_answer_stream.
 * Never: opens a file. */
#ifndef MACHSYM_TOOL_CMD_ATOS_MANY_H
#define MACHSYM_TOOL_CMD_ATOS_MANY_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "answer.h"

/* Answers what is whole of the input, and takes it off. fresh: bytes at its end that came since the last
 * call. */
void many_answer_part(atos *a, text *input, size_t fresh);
/* Answers whole lines as they come. Returns an exit status. */
int many_answer_stream(atos *a, int fd);

#endif
