/* ==== >> write/apple ====
 * Job: what a report of Apple's JSON says beside its stacks, as Apple's text has it.
 * Offers: apple_open, apple_put_head, apple_put_triage, apple_put_state, apple_put_tail, apple_put_value,
 * apple_has.
 * Never: writes stacks. */
#ifndef MACHSYM_TOOL_WRITE_APPLE_H
#define MACHSYM_TOOL_WRITE_APPLE_H

#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "call.h"

/* The forms that Apple's text has had for .ips reports. */
typedef enum apple_form {
    APPLE_IOS = 0, /* devices, and programs of a simulator: report version 104 */
    APPLE_MAC,     /* macOS 12 to 15: report version 12 */
    APPLE_MAC26,   /* macOS 26 and later: no report version */
    APPLE_CONSOLE  /* programs of a simulator on macOS 12: names of bundles, images in order */
} apple_form;

/* Where the parts of one text come from and go to. */
typedef struct apple_text {
    text *t;
    const report *r;
    const json *doc; /* NULL: the report is no .ips, and only its facts are known */
    const write_options *how;
    apple_form form;
    bool is_mac; /* threads and images are written as on macOS */
} apple_text;

apple_text apple_open(const report *r, const write_options *how, text *out);
/* The header, up to and with what stands before the stacks. */
void apple_put_head(const apple_text *a);
/* What stands between the stacks of exceptions and the threads. */
void apple_put_triage(const apple_text *a);
/* Registers and code of the thread that crashed. */
void apple_put_state(const apple_text *a);
/* What follows the images. */
void apple_put_tail(const apple_text *a);

/* ---- For its parts ---- */

/* The value of a member, as its text; nothing when there is none. Lines and tabs stay, other control
 * characters are escaped. */
void apple_put_value(const apple_text *a, uint32_t token);
bool apple_has(const apple_text *a, uint32_t object, const char *key);

#endif
