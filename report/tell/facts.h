/* ==== >> tell/facts ====
 * Job: what happened, as data: the cause, the failed access, what libraries said, the sentences.
 * Offers: facts_find, facts_put_sentence, facts_put_json, facts_cause_name.
 * Never: has a sentence that the summary lacks: both are made by tell/exception.h.
 *
 * The facts of an incident are the same whether its .ips or its text was read, as far as the text has
 * them. */
#ifndef REPORT_TELL_FACTS_H
#define REPORT_TELL_FACTS_H

#include "../base/text.h"
#include "../model/report.h"
#include "access.h"
#include "guard.h"
#include "said.h"

/* What kind of end it was. */
#define FACTS_CAUSES(X)                                                                                      \
    X(UNKNOWN, "unknown")                                                                                    \
    X(ACCESS, "access")           /* memory was used that may not be: see fault */                           \
    X(EXCEPTION, "exception")     /* an uncaught exception */                                                \
    X(LIBRARY, "library")         /* a check in a library or the runtime failed, which said why */           \
    X(TRAP, "trap")               /* a check of the compiler, without words */                               \
    X(INSTRUCTION, "instruction") /* an instruction that the processor does not run */                       \
    X(ARITHMETIC, "arithmetic")                                                                              \
    X(ABORT, "abort")             /* abort was called, without words */                                      \
    X(SIGNAL, "signal")           /* a signal that a process sent */                                         \
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
    access_fault fault; /* of kind ACCESS_NONE where no access failed */
    said words;         /* of kind SAID_NOTHING where no library said anything */
    guard broken;       /* of type GUARD_NONE where no guard was violated */
} facts;

void facts_find(const report *r, facts *out);
const char *facts_cause_name(facts_cause cause);
/* What happened in one sentence, without the end of a line: what a library said, else the access, else why it
 * ended. */
void facts_put_sentence(text *t, const report *r);
/* The member "facts" of crash/1 and crash-summary/1. */
void facts_put_json(text *t, const report *r);

#endif
