/* ==== >> model/parts ====
 * Job: the reports that one document holds, each as a report of its own.
 * Offers: parts_count, parts_take, parts_free, parts_begin, parts_end.
 * Never: reads a document. */
#ifndef MACHSYM_TOOL_PARTS_H
#define MACHSYM_TOOL_PARTS_H

#include "machsym.h"
#include "report.h"

/* Returns how many reports a document holds, at least 1. */
uint32_t parts_count(const report *r);
/* Takes out one of them, with its own threads, frames and images. It shares all else with the whole, which
 * must outlive it. The whole must have been looked up. */
void parts_take(const report *whole, uint32_t index, report *out);
void parts_free(report *part);

/* Begins a report in the same document, in that object. Threads, images and facts that follow belong to
 * it. */
void parts_begin(report *r, uint32_t doc_index, uint32_t object);
void parts_end(report *r);

#endif
