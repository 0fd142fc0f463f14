/* ==== >> read/recognise ====
 * Job: opens reports: finds the kind of an input, and calls its reader.
 * Offers: report_open, report_open_redacted, report_open_carried, report_is_one.
 * Never: looks an address up. */
#ifndef REPORT_RECOGNISE_H
#define REPORT_RECOGNISE_H

#include "../base/memory.h"
#include "../model/redact.h"
#include "../model/report.h"
#include "../model/tables.h"
#include "machsym.h"

/* Recognises and parses a report. The input must outlive it. It never fails; r->failure says why a report is
 * damaged. */
void report_open(report *r, const char *input, size_t len, const report_load *loads, size_t load_count);
/* Does the same without personal data, with memory from a source, and finds the callers of threads of dumps by
 * the unwind tables of files; tables may be NULL. */
void report_open_redacted(mem_source *memory, report *r, const char *input, size_t len,
                          const report_load *loads, size_t load_count, const report_tables *tables,
                          const redactor *how);
/* Does the same for a text that another report carries, at a nesting depth. It must be UTF-8. how may be
 * NULL. */
void report_open_carried(mem_source *memory, report *r, machsym_str input, unsigned depth,
                         const report_load *loads, size_t load_count, const redactor *how);
/* Whether the input is a report: it has stacks, or a start that only reports have. Carried texts do not
 * count. */
bool report_is_one(const report *r);

#endif
