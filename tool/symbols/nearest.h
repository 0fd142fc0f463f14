/* ==== >> symbols/nearest ====
 * Job: the nearest name below an address.
 * Offers: nearest_open, nearest_find.
 * Never: calls the guess an answer.
 *
 * The nearest name below an address, for code without a name of its own: a guess, and shown as one. */
#ifndef MACHSYM_TOOL_NEAREST_H
#define MACHSYM_TOOL_NEAREST_H

#include "machsym.h"

/* The named functions of an image, by address. Never changes: any number of threads may ask. */
typedef struct nearest nearest;

nearest *nearest_open(const machsym_image *image, machsym_session *session);
void nearest_close(nearest *n);
/* The last name at or below an address in its section. Returns false when there is none. */
bool nearest_find(const nearest *n, uint64_t addr, machsym_str *name, uint64_t *start);

#endif
