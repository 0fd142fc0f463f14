/* ==== >> read/formats ====
 * Job: which formats there are: documents of JSON, and whole texts.
 * Offers: the readers that REPORT_KINDS names; report_parse_text, report_parse_xctrace; which families of
 * them are compiled, as FAMILY_HAS_DUMPS and its like.
 * Never: reads one: each format is a file of its own.
 *
 * recognise.c tries these readers. */
#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include "../base/json.h"
#include "../model/report.h"
#include "machsym.h"

/* ---- Families that a program leaves out: api.h says what each switch is for ---- */

#define FAMILY_KEEPS(...) __VA_ARGS__
#define FAMILY_DROPS(...)

#ifdef MACHSYM_REPORT_NO_DUMPS
#define FAMILY_HAS_DUMPS 0
#else
#define FAMILY_HAS_DUMPS 1
#endif

#ifdef MACHSYM_REPORT_NO_SERVICES
#define FAMILY_HAS_SERVICES 0
#define FAMILY_SERVICES     FAMILY_DROPS
#else
#define FAMILY_HAS_SERVICES 1
#define FAMILY_SERVICES     FAMILY_KEEPS
#endif

#ifdef MACHSYM_REPORT_NO_PROFILES
#define FAMILY_HAS_PROFILES 0
#define FAMILY_PROFILES     FAMILY_DROPS
#else
#define FAMILY_HAS_PROFILES 1
#define FAMILY_PROFILES     FAMILY_KEEPS
#endif

#ifdef MACHSYM_REPORT_NO_SYSTEM
#define FAMILY_HAS_SYSTEM 0
#define FAMILY_SYSTEM     FAMILY_DROPS
#else
#define FAMILY_HAS_SYSTEM 1
#define FAMILY_SYSTEM     FAMILY_KEEPS
#endif

#ifdef MACHSYM_REPORT_NO_STACKS
#define FAMILY_HAS_STACKS 0
#define FAMILY_STACKS     FAMILY_DROPS
#else
#define FAMILY_HAS_STACKS 1
#define FAMILY_STACKS     FAMILY_KEEPS
#endif

/* What stands in a list only if a kind is compiled. Every kind of REPORT_KINDS that has a reader has its row. */
#define FAMILY_IF_PANIC     FAMILY_SYSTEM
#define FAMILY_IF_STACKSHOT FAMILY_SYSTEM
#define FAMILY_IF_STACKLESS FAMILY_SYSTEM
#define FAMILY_IF_IPS       FAMILY_KEEPS
#define FAMILY_IF_KSCRASH   FAMILY_SERVICES
#define FAMILY_IF_SENTRY    FAMILY_SERVICES
#define FAMILY_IF_BUGSNAG   FAMILY_SERVICES
#define FAMILY_IF_DATADOG   FAMILY_SERVICES
#define FAMILY_IF_NODE      FAMILY_STACKS
#define FAMILY_IF_METRIC    FAMILY_PROFILES
#define FAMILY_IF_LOG       FAMILY_SYSTEM

/* ---- Readers ---- */

/* Reads text between lo and hi of the shadow. escape: how the bytes there are escaped. */
void report_parse_text(report *r, size_t lo, size_t hi, frame_escape escape);
/* Read a JSON document of a kind. Return false if it has nothing of a report. */
#define READ_NOTHING(...)
#define READ_DOCUMENT(kind, words, reader)       bool report_parse_##reader(report *r, uint32_t doc);
#define READ_OBJECT(kind, words, reader, member) READ_DOCUMENT(kind, words, reader)
REPORT_KINDS(READ_NOTHING, READ_DOCUMENT, READ_OBJECT)
#undef READ_DOCUMENT
#undef READ_OBJECT
/* Whether an object of a document (0: the document itself) is a report of a kind. */
#define TELL_OBJECT(kind, words, reader, member) bool report_tell_##reader(const json *doc, uint32_t object);
REPORT_KINDS(READ_NOTHING, READ_NOTHING, TELL_OBJECT)
#undef TELL_OBJECT
#undef READ_NOTHING
/* Reads a document that holds documents of several kinds. Tried before all kinds. */
bool report_parse_mixed(report *r, uint32_t doc);
/* Reads a document of an unknown kind whose strings and objects may be reports. Tried after all kinds. */
bool report_parse_strings(report *r, uint32_t doc);
/* Reads the facts of an .ips. */
void report_set_ips_facts(report *r, uint32_t doc);
/* Reads text inside a JSON string. */
void report_parse_string(report *r, uint32_t doc, uint32_t token);
/* Decides whether an lldb stack may use the images of the report before it. The frames must be placed. */
void report_settle_lldb(report *r);
/* Reads the XML that xctrace exports. Returns false for other text. */
bool report_parse_xctrace(report *r);

#endif
