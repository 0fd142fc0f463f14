/* ==== >> model/redact ====
 * Job: removes from a report what identifies a person or a device.
 * Offers: redact_open, redact_report, redact_users, redact_people.
 * Never: makes a random key: the caller gives it.
 *
 * machsym.1, --redact, lists what is removed. A secret key maps each value to another one. Equal values stay
 * equal, so that reports can be grouped. Without the key, the value cannot be found by trying. */
#ifndef MACHSYM_TOOL_REDACT_H
#define MACHSYM_TOOL_REDACT_H

#include "../base/text.h"
#include "machsym.h"
#include "report.h"

/* It does not change after redact_open: any number of threads may use it. */
typedef struct redactor {
    uint64_t key[2];
    bool is_again; /* names of users were replaced before: replacements are kept */
    bool is_raw;   /* members of JSON were replaced before, too */
} redactor;

/* Makes the key from words. Anyone who guesses the words can test names. For a key that lasts one run, write
 * 16 random bytes to `key`. */
void redact_open(redactor *out, const char *words);
/* Writes a report (text, JSON or both) without personal data. The time is linear in its length. places:
 * receives which bytes of the report became which bytes of the output, in the order of both; may be NULL. */
void redact_report(const redactor *how, machsym_str report, text *out, edit_list *places);
/* Appends, as a list of JSON, the values that name the report's user, or the installation of that user: those
 * that redact_report replaces under keys of users, reporters and vendors. */
void redact_people(machsym_str report, text *out);
/* Appends a name or path without the names of users' folders. */
void redact_users(const redactor *how, machsym_str s, text *out);

#endif
