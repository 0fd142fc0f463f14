/* ==== >> read/formats ====
 * Job: which formats there are: documents of JSON, and whole texts.
 * Offers: the readers that REPORT_KINDS names; report_parse_text, report_parse_xctrace.
 * Never: reads one: each format is a file of its own.
 *
 * The readers of formats. What opens reports tries them: see recognise.c. */
#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include "../base/json.h"
#include "../model/report.h"

/* Text between lo and hi of the shadow; escape says how the bytes there are escaped. */
void report_parse_text(report *r, size_t lo, size_t hi, frame_escape escape);
/* Reads a JSON document of a kind; false when it holds nothing of a report. */
#define READ_NOTHING(...)
#define READ_DOCUMENT(kind, words, reader)       bool report_parse_##reader(report *r, uint32_t doc);
#define READ_OBJECT(kind, words, reader, member) READ_DOCUMENT(kind, words, reader)
REPORT_KINDS(READ_NOTHING, READ_DOCUMENT, READ_OBJECT)
#undef READ_DOCUMENT
#undef READ_OBJECT
/* Whether an object of a document, or its value 0, is a report of a kind. */
#define TELL_OBJECT(kind, words, reader, member) bool report_tell_##reader(const json *doc, uint32_t object);
REPORT_KINDS(READ_NOTHING, READ_NOTHING, TELL_OBJECT)
#undef TELL_OBJECT
#undef READ_NOTHING
/* A document that holds documents of several kinds: what is tried before all kinds. */
bool report_parse_mixed(report *r, uint32_t doc);
/* A document of no kind, whose strings and objects may be reports: what is tried after all kinds. */
bool report_parse_strings(report *r, uint32_t doc);
/* The facts of an .ips. */
void report_set_ips_facts(report *r, uint32_t doc);
/* Text inside a JSON string. */
void report_parse_string(report *r, uint32_t doc, uint32_t token);
/* Settles whether a stack of lldb's may use the images of the report ahead. The frames were placed before. */
void report_settle_lldb(report *r);
/* What xctrace exports as XML; false when the text is none. */
bool report_parse_xctrace(report *r);

#endif
