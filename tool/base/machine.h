/* ==== >> machine ====
 * Job: what the machine has to work with: processors and a clock.
 * Offers: MAX_JOBS, machine_threads, machine_seconds.
 * Never: starts a thread. */
#ifndef MACHSYM_TOOL_MACHINE_H
#define MACHSYM_TOOL_MACHINE_H

#include "machsym.h"

#include <stddef.h>

enum { MAX_JOBS = 256 };

/* How many threads do work of a number of pieces: those asked for, or, of 0, one for each processor that this
 * process may use. From 1 to MAX_JOBS, and no more than there are pieces. */
size_t machine_threads(unsigned asked, size_t pieces);
/* Seconds of a clock that no one sets. */
double machine_seconds(void);

#endif
