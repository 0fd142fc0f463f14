/* ==== >> read/split ====
 * Job: where one report of a file ends and the next one begins.
 * Offers: split_first_len, split_is_metadata, split_has_member_of_report, split_is_certain.
 * Never: reads a report.
 *
 * For files with several reports. */
#ifndef MACHSYM_TOOL_SPLIT_H
#define MACHSYM_TOOL_SPLIT_H

#include "machsym.h"

#include <stdbool.h>

/* Returns the length of a text's first report; the text's length if no other report follows. */
size_t split_first_len(machsym_str s);
/* Whether a line is the metadata of an .ips. Its document follows. */
bool split_is_metadata(machsym_str line);
/* Whether a line is one that only reports have: the first words of a tool, a stack, an image list. */
bool split_is_certain(machsym_str line);
/* Whether a text has a member that only documents of reports have. */
bool split_has_member_of_report(machsym_str s);

#endif
