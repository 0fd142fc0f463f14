/* ==== >> model/redact ====
 * Job: takes out of a report who and whose device it is of.
 * Offers: redact_open, redact_report, redact_users.
 * Never: draws a random key: that is handed to it.
 *
 * Takes out of a report who and whose device it is of: see machsym.1, --redact, for what. A value becomes
 * another one that a secret key makes of it: equal values stay equal, so that reports can be grouped, and
 * without the key the value cannot be found by trying. */
#ifndef MACHSYM_TOOL_REDACT_H
#define MACHSYM_TOOL_REDACT_H

#include "../base/text.h"
#include "machsym.h"
#include "report.h"

/* Never changes after it is made: any number of threads may use it. */
typedef struct redactor {
    uint64_t key[2];
    bool is_again; /* names of users were replaced before: what was put there stays */
    bool is_raw;   /* and so were members of JSON */
} redactor;

/* With a key made from words. Who guesses them can try names: a key for one run is 16 bytes at random, put
 * into key. */
void redact_open(redactor *out, const char *words);
/* Makes a report, text or JSON or both, without what tells of persons. Linear in its length. places: what of
 * the report became what of the output, in the order of both; NULL: not asked. */
void redact_report(const redactor *how, machsym_str report, text *out, edit_list *places);
/* Adds a name or path without the names of users' folders in it. */
void redact_users(const redactor *how, machsym_str s, text *out);

#endif
