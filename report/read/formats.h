/* ==== >> read/formats ====
 * Job: which formats there are: documents of JSON, and whole texts.
 * Offers: READ_DOCUMENTS, the table of documents; report_parse_text, report_parse_xctrace.
 * Never: reads one: each format is a file of its own.
 *
 * The readers of formats. Whoever opens reports tries them: see recognise.c. */
#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include "../model/report.h"

/* Text between lo and hi of the shadow; escape says how the bytes there are escaped. */
void report_parse_text(report *r, size_t lo, size_t hi, frame_escape escape);
/* The formats that are a JSON document, in the order in which they are tried. Each is a function of a file of its own. */
#define READ_DOCUMENTS(X)                                                                                    \
    X(mixed)     /* which holds documents of several kinds */                                                \
    X(panic)     /* which may hold a stackshot */                                                            \
    X(stackshot) /* both are .ips without images */                                                          \
    X(jetsam)    /* too */                                                                                   \
    X(ips)       /* the usual one */                                                                         \
    X(kscrash)   /* by report and system */                                                                  \
    X(sentry)    /* by debug_meta */                                                                         \
    X(bugsnag)   /* by frameAddress */                                                                       \
    X(datadog)   /* by error and its images */                                                               \
    X(metric)    /* by callStackRootFrames */                                                                \
    X(log)       /* by backtrace and eventMessage */                                                         \
    X(strings)   /* what is none of these: its strings may be reports */

/* Reads one JSON document; false when it holds nothing of a report. */
#define READ_DOCUMENT(name) bool report_parse_##name(report *r, uint32_t doc);
READ_DOCUMENTS(READ_DOCUMENT)
#undef READ_DOCUMENT
/* The facts of an .ips. */
void report_set_ips_facts(report *r, uint32_t doc);
/* Text inside a JSON string. */
void report_parse_string(report *r, uint32_t doc, uint32_t token);
/* Settles whether a stack of lldb's may use the images of the report ahead. The frames were placed before. */
void report_settle_lldb(report *r);
/* What xctrace exports as XML; false when the text is none. */
bool report_parse_xctrace(report *r);

#endif
