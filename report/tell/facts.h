/* ==== >> tell/facts ====
 * Job: what happened, as data: the cause, the failed access, what libraries said, the sentences.
 * Offers: facts_find, facts_put_sentence, facts_put_json, facts_cause_name.
 * Never: has a sentence that the summary lacks: both are made by tell/exception.h.
 *
 * An incident's .ips and its text give equal facts, as far as the text has them. */
#ifndef REPORT_TELL_FACTS_H
#define REPORT_TELL_FACTS_H

#include "../base/text.h"
#include "../model/report.h"
#include "access.h"
#include "guard.h"
#include "said.h"

/* How the process ended. */
#define FACTS_CAUSES(X)                                                                                      \
    X(UNKNOWN, "unknown")                                                                                    \
    X(ACCESS, "access")           /* forbidden access to memory: see fault */                                \
    X(EXCEPTION, "exception")     /* an uncaught exception */                                                \
    X(LIBRARY, "library")         /* a check in a library or the runtime failed, with a reason */            \
    X(TRAP, "trap")               /* a check of the compiler failed, without words */                        \
    X(INSTRUCTION, "instruction") /* an illegal instruction */                                               \
    X(ARITHMETIC, "arithmetic")                                                                              \
    X(ABORT, "abort")             /* abort was called without words */                                       \
    X(SIGNAL, "signal")           /* a process sent a signal */                                              \
    X(TERMINATION, "termination") /* the system ended the process */                                         \
    X(GUARD, "guard")             /* a guarded descriptor, port or piece of memory was misused */            \
    X(RESOURCE, "resource")       /* a limit was exceeded */                                                 \
    X(PANIC, "panic")                                                                                        \
    X(EVENT, "event") /* no end: a hang, CPU time, a stackshot */

typedef enum facts_cause {
#define FACTS_CAUSE_NUMBER(cause, name) FACTS_##cause,
    FACTS_CAUSES(FACTS_CAUSE_NUMBER)
#undef FACTS_CAUSE_NUMBER
} facts_cause;

/* What happened. Texts live in the report. */
typedef struct facts {
    facts_cause cause;
    access_fault fault; /* kind ACCESS_NONE: no access failed */
    said words;         /* kind SAID_NOTHING: no library gave a reason */
    guard broken;       /* type GUARD_NONE: no guard was violated */
} facts;

void facts_find(const report *r, facts *out);
const char *facts_cause_name(facts_cause cause);
/* Writes what happened in one sentence, without a line end: the words of a library, else the access, else why
 * the process ended. */
void facts_put_sentence(text *t, const report *r);
/* Writes the member "facts" of crash/1 and crash-summary/1. */
void facts_put_json(text *t, const report *r);

#endif
