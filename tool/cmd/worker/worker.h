/* ==== >> cmd/worker/worker ====
 * Job: runs commands that answer lines of standard input, such as the worker.
 * Offers: worker_cmd_line_table, worker_cmd_run_as; the command worker.
 * Never: answers a request. */
#ifndef MACHSYM_TOOL_CMD_WORKER_WORKER_H
#define MACHSYM_TOOL_CMD_WORKER_WORKER_H

#include "machsym.h"
#include "../../base/options.h"
#include "state.h"

/* Options of all of them, for a worker_options. */
extern const option worker_cmd_line_table[];

/* Runs a command whose options are for a worker_options. Returns an exit status. */
int worker_cmd_run_as(const command *c, const worker_protocol *protocol, int argc, char **argv);

#endif
