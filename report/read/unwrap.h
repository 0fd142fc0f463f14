/* ==== >> read/unwrap ====
 * Job: documents whose lines have a prefix: quote marks, or the prefix of a log.
 * Offers: unwrap_text.
 * Never: reads the document: carried text is read as a file is.
 *
 * Other texts are read with the prefixes of their lines: see model/scan.h. */
#ifndef REPORT_UNWRAP_H
#define REPORT_UNWRAP_H

#include "../model/report.h"

/* Finds the next lines of a text, between `at` and hi, that form a document once their prefix is removed, and
 * adds them as carried text. Returns where they begin, or hi; sets *end to where they end. */
size_t unwrap_text(report *r, size_t at, size_t hi, size_t *end);

#endif
