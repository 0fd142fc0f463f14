/* ==== >> read/bug_types ====
 * Job: names of the system's kinds of reports, by bug_type.
 * Offers: bug_type_words.
 * Never: reads a report. */
#ifndef REPORT_BUG_TYPES_H
#define REPORT_BUG_TYPES_H

#include "machsym.h"

/* Returns "jetsam" for 298; NULL: not in the table. Crashes and panics are not in it, because their stacks
 * tell what they are. */
const char *bug_type_words(machsym_str bug_type);

#endif
