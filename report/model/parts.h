/* ==== >> model/parts ====
 * Job: the reports that one document holds, each as a report of its own.
 * Offers: parts_count, parts_take, parts_free, parts_begin, parts_end.
 * Never: reads a document. */
#ifndef MACHSYM_TOOL_PARTS_H
#define MACHSYM_TOOL_PARTS_H

#include "machsym.h"
#include "report.h"

/* How many reports a document holds, at least 1. */
uint32_t parts_count(const report *r);
/* One of them, with threads, frames and images of its own; everything else it shares with the whole, which
 * must outlive it. The whole was looked up before. */
void parts_take(const report *whole, uint32_t index, report *out);
void parts_free(report *part);

/* What follows is a report of its own in the same document, in that object: its threads, images and facts. */
void parts_begin(report *r, uint32_t doc_index, uint32_t object);
void parts_end(report *r);

#endif
