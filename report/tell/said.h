/* ==== >> tell/said ====
 * Job: what the libraries of a process said before it ended: Application Specific Information, the
 * exception's reason.
 * Offers: said_find, said_put, said_kind_name.
 * Never: takes a message of every start or abort for a cause: "abort() called", "dyld4 config". */
#ifndef REPORT_TELL_SAID_H
#define REPORT_TELL_SAID_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* Who reports it, and the first words in the summary. */
#define SAID_KINDS(X)                                                                                        \
    X(NOTHING, "nothing", "")                                                                                \
    X(THROWN, "exception", "uncaught exception")                                                             \
    X(REASON, "reason", "reason")                                                                            \
    X(CXX, "cxx_exception", "uncaught C++ exception")                                                        \
    X(SWIFT, "swift", "Swift runtime failure")                                                               \
    X(CLIENT, "client_bug", "a library was misused")                                                         \
    X(LIBRARY, "library_bug", "a library found a bug of its own")                                            \
    X(MALLOC, "malloc", "malloc found the heap or a pointer wrong")                                          \
    X(ZOMBIE, "zombie", "message to a freed object")                                                         \
    X(NULL_OBJECT, "null_object", "a null object was retained or released")                                  \
    X(ASSERTION, "assertion", "an assertion failed")                                                         \
    X(OVERFLOW, "overflow", "a buffer overflowed")                                                           \
    X(OBJC, "objc", "the Objective-C runtime found something wrong")                                         \
    X(OTHER, "other", "a library said")

typedef enum said_kind {
#define SAID_KIND_NUMBER(kind, name, words) SAID_##kind,
    SAID_KINDS(SAID_KIND_NUMBER)
#undef SAID_KIND_NUMBER
} said_kind;

/* A message of a library. Texts live in the report. */
typedef struct said {
    said_kind kind;
    machsym_str name;  /* of the exception, or of the misused library; may be empty */
    machsym_str words; /* may be empty */
    machsym_str file;  /* source file of a check; may be empty */
    uint64_t line;     /* 0: unknown */
} said;

void said_find(const report *r, said *out);
/* Writes one line; nothing if there is no message. */
void said_put(text *t, const said *what);
const char *said_kind_name(said_kind kind);

#endif
