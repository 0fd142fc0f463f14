/* ==== >> read/told ====
 * Job: what a value of a JSON document is told to be: a report, what may hold one, or a line of one.
 * Offers: told_object, told_is_document, told_may_hold_report, told_line.
 * Never: reads a report. */
#ifndef REPORT_TOLD_H
#define REPORT_TOLD_H

#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* The kind of an object, or of a document; REPORT_UNKNOWN: it is no report. */
report_kind told_object(const json *doc, uint32_t object);
/* Whether a string, as written, begins as a document does: with a brace, a bracket, or a string that holds
 * one once more. */
bool told_is_document(machsym_str raw);
/* Several lines, with an address or what a report begins with; or a document. */
bool told_may_hold_report(machsym_str raw);

/* What a string is to a report whose lines each have a string of their own. */
typedef enum line_kind {
    LINE_NONE = 0, /* it has several lines */
    LINE_PLAIN,    /* one line that may be of anything */
    LINE_CERTAIN,  /* one line that is a report's */
    LINE_METADATA, /* the metadata of an .ips, whose document follows */
    LINE_DOCUMENT  /* a whole document of a report in one line */
} line_kind;

/* The kind of a string, as written. plain is room for it. */
line_kind told_line(machsym_str raw, text *plain);

#endif
