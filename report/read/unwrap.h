/* ==== >> read/unwrap ====
 * Job: documents whose lines each have something ahead: the marks of a quote, the prefix of a log.
 * Offers: unwrap_text.
 * Never: reads the document: what is carried is read as a file is.
 *
 * Texts that are no documents are read with what stands ahead of their lines: see model/scan.h. */
#ifndef REPORT_UNWRAP_H
#define REPORT_UNWRAP_H

#include "../model/report.h"

/* Finds the next lines of a text, from `at` up to hi, that are a document once their prefix is gone; they are
 * carried. Returns where they begin, or hi, and sets *end to where they end. */
size_t unwrap_text(report *r, size_t at, size_t hi, size_t *end);

#endif
