/* ==== >> read/stackshot ====
 * Job: stackshots: the stacks of all processes as pairs of an image's number and an offset.
 * Offers: stackshot_parse.
 * Never: writes one. */
#ifndef MACHSYM_TOOL_STACKSHOT_H
#define MACHSYM_TOOL_STACKSHOT_H

#include "../model/report.h"
#include "machsym.h"

/* Reads the stackshot in an object of a document. Returns false if it has none. */
bool stackshot_parse(report *r, uint32_t doc, uint32_t object);

#endif
