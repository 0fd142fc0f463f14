/* ==== >> write/apple ====
 * Job: writes all of a report of Apple's JSON but its stacks, in the form of Apple's text.
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

/* The forms of Apple's text for .ips reports. */
typedef enum apple_form {
    APPLE_IOS = 0, /* devices, and programs of a simulator: report version 104 */
    APPLE_MAC,     /* macOS 12 to 15: report version 12 */
    APPLE_MAC26,   /* macOS 26 and later: no report version */
    APPLE_CONSOLE  /* programs of a simulator on macOS 12: bundle names, images in order */
} apple_form;

/* Source and destination of all parts of a text. */
typedef struct apple_text {
    text *t;
    const report *r;
    const json *doc; /* NULL: the report is not an .ips, and only its facts are known */
    const write_options *how;
    apple_form form;
    bool is_mac; /* threads and images have the form of macOS */
} apple_text;

apple_text apple_open(const report *r, const write_options *how, text *out);
/* Writes the header and all that comes before the stacks. */
void apple_put_head(const apple_text *a);
/* Writes what comes between the exceptions' stacks and the threads. */
void apple_put_triage(const apple_text *a);
/* Writes registers and code of the crashed thread. */
void apple_put_state(const apple_text *a);
/* Writes what follows the images. */
void apple_put_tail(const apple_text *a);

/* ---- For its parts ---- */

/* Writes the value of a member as text; nothing if it is absent. Lines and tabs stay; other control
 * characters are escaped. */
void apple_put_value(const apple_text *a, uint32_t token);
bool apple_has(const apple_text *a, uint32_t object, const char *key);

#endif
