/* ==== >> read/told ====
 * Job: recognises values of JSON documents: a report, what may hold a report, or a line of one.
 * Offers: told_object, told_is_document, told_may_hold_report, told_line.
 * Never: reads a report. */
#ifndef REPORT_TOLD_H
#define REPORT_TOLD_H

#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* Returns the kind of an object or of a document; REPORT_UNKNOWN: not a report. */
report_kind told_object(const json *doc, uint32_t object);
/* Whether a string, as written, begins as a document does: with a brace, with a bracket, or with a string
 * that contains a document. */
bool told_is_document(machsym_str raw);
/* Whether a string has several lines and an address or a start of a report, or is a document. */
bool told_may_hold_report(machsym_str raw);

/* The role of a string in a report that has one string for each line. */
typedef enum line_kind {
    LINE_NONE = 0, /* it has several lines */
    LINE_PLAIN,    /* one line, possibly of a report */
    LINE_CERTAIN,  /* one line, certainly of a report */
    LINE_METADATA, /* the metadata of an .ips; its document follows */
    LINE_DOCUMENT  /* a whole document of a report on one line */
} line_kind;

/* Returns the role of a string, as written. plain is scratch memory. */
line_kind told_line(machsym_str raw, text *plain);

#endif
