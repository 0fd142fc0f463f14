/* ==== >> cmd/worker/run ====
 * Job: reads lines, has threads answer them, and writes the answers in order.
 * Offers: loop_run, loop_get.
 * Never: knows what a line asks for. */
#ifndef MACHSYM_TOOL_CMD_WORKER_RUN_H
#define MACHSYM_TOOL_CMD_WORKER_RUN_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "state.h"
#include "../../symbols/chunks.h"

/* The get of a chunk_host whose user is the worker: asks who drives it. Threads: those of the loop. */
chunk_got loop_get(void *user, machsym_str key, text *value, text *why);
/* Answers all lines of standard input. Returns an exit status. */
int loop_run(worker *w);

#endif
