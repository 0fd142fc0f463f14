/* ==== >> tell/message ====
 * Job: what a program said before it ended, in a form that is the same for every report of a crash.
 * Offers: message_find, message_put_stable.
 * Never: takes what a crash service says of a crash for what the program said. */
#ifndef REPORT_MESSAGE_H
#define REPORT_MESSAGE_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* The uncaught exception, and the words of it or of a check that failed. */
typedef struct message {
    machsym_str thrown; /* "NSRangeException"; empty: none, or not told */
    machsym_str words;  /* as the report has them; may be empty */
} message;

void message_find(const report *r, message *out);
/* Adds the words without what differs between reports of one crash: numbers, addresses, what is quoted,
 * paths. */
void message_put_stable(text *out, machsym_str words);

#endif
