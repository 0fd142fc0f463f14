/* ==== >> write/html ====
 * Job: a page of reports that needs no other file.
 * Offers: html_begin, html_add, html_end; html_before, html_after.
 * Never: interprets a report: the page's script uses its JSON and its text.
 *
 * Each report is a script element of JSON, which the page shows as text. */
#ifndef REPORT_WRITE_HTML_H
#define REPORT_WRITE_HTML_H

#include "../base/text.h"
#include "../model/report.h"
#include "../tell/machinery.h"
#include "call.h"

/* The page before and after its reports, in pieces that end with NULL: html_page.c, built from
 * bindings/js/page. */
extern const char *const html_before[];
extern const char *const html_after[];

void html_begin(text *out);
/* label: the title of the report. list: functions to ignore in its group; may be NULL. */
void html_add(const report *r, const write_options *how, const resolve_counts *counts, const char *label,
              const machinery *list, text *out);
void html_end(text *out);

#endif
