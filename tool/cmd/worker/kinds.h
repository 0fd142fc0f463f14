/* ==== >> worker's kinds of requests ====
 * Job: the list of the kinds that have a file of their own.
 * Offers: worker_crash_kind and the like.
 * Never: has code. */
#ifndef MACHSYM_TOOL_CMD_WORKER_KINDS_H
#define MACHSYM_TOOL_CMD_WORKER_KINDS_H

#include "machsym.h"
#include "do.h"

extern const request_kind worker_crash_kind;
extern const request_kind worker_signature_kind;
extern const request_kind worker_build_kind;
extern const request_kind worker_profile_kind;
extern const request_kind worker_missing_kind;
extern const request_kind worker_search_kind;

#endif
