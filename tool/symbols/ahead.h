/* ==== >> symbols/ahead ====
 * Job: a second thread that answers addresses before they are asked for.
 * Offers: ahead; ahead_worth, ahead_begin, ahead_frames, ahead_end.
 * Never: answers otherwise than the thread that asks.
 *
 * The frames of one report are asked for one after the other. A second thread begins with the last one, in a
 * session of its own, until the two meet. */
#ifndef MACHSYM_TOOL_AHEAD_H
#define MACHSYM_TOOL_AHEAD_H

#include "machsym.h"
#include "source.h"

typedef struct ahead ahead;

/* Whether a second thread is worth its start for this many addresses of a file. */
bool ahead_worth(const symbol_file *file, size_t count);
/* Starts a thread that asks a source for addresses in the file, which will be asked for in this order.
 * asks_sharing: how many functions share their code, too. Borrows the source, to which names belong. NULL
 * when no thread can be started. */
ahead *ahead_begin(symbol_source *source, const uint64_t *addrs, size_t count, bool asks_sharing);
/* The frames of the next address, once they are there, as symbol_source_shared_frames tells them. Returns false
 * when the thread did not come to it: then it will not. */
bool ahead_frames(ahead *a, uint64_t addr, machsym_frame *frames, size_t cap, size_t *count, size_t *sharing);
/* Waits until the thread has ended; NULL is allowed. */
void ahead_end(ahead *a);

#endif
