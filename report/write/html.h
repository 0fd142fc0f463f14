/* ==== >> write/html ====
 * Job: a page of reports that needs no other file.
 * Offers: html_begin, html_add, html_end; html_before, html_after.
 * Never: says what a report means: the page's script makes all of its JSON and its text.
 *
 * A page in HTML with reports inside: each is a script element of JSON, which the page shows as text. */
#ifndef REPORT_WRITE_HTML_H
#define REPORT_WRITE_HTML_H

#include "../base/text.h"
#include "../model/report.h"
#include "../tell/machinery.h"
#include "call.h"

/* The page before and after its reports, in pieces up to NULL: html_page.c, made of bindings/js/page. */
extern const char *const html_before[];
extern const char *const html_after[];

void html_begin(text *out);
/* label: what the report is called. list: functions that count for nothing in its group; may be NULL. */
void html_add(const report *r, const write_options *how, const resolve_counts *counts, const char *label,
              const machinery *list, text *out);
void html_end(text *out);

#endif
