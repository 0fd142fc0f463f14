/* ==== >> tell/message ====
 * Job: what a program said before it ended, in a form that is the same for every report of a crash.
 * Offers: message_find, message_put_stable.
 * Never: takes a crash service's words for the program's. */
#ifndef REPORT_MESSAGE_H
#define REPORT_MESSAGE_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* The uncaught exception, and its words or those of a failed check. */
typedef struct message {
    machsym_str thrown; /* "NSRangeException"; empty: no exception, or unknown */
    machsym_str words;  /* as in the report; may be empty */
} message;

void message_find(const report *r, message *out);
/* Appends the words without what differs between reports of one crash: numbers, addresses, quoted text,
 * paths. */
void message_put_stable(text *out, machsym_str words);

#endif
