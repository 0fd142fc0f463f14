/* ==== >> read/bug_types ====
 * Job: what the system's kinds of reports are about, by bug_type.
 * Offers: bug_type_words.
 * Never: reads a report. */
#ifndef REPORT_BUG_TYPES_H
#define REPORT_BUG_TYPES_H

#include "machsym.h"

/* "jetsam" of 298; NULL: it has no name here. Crashes and panics have none: they are what their stacks
 * tell. */
const char *bug_type_words(machsym_str bug_type);

#endif
