/* ==== >> read/split ====
 * Job: where one report of a file ends and the next one begins.
 * Offers: split_first_len, split_is_metadata, split_has_member_of_report, split_is_certain.
 * Never: reads a report.
 *
 * Files that hold several reports one after the other: where each ends. */
#ifndef MACHSYM_TOOL_SPLIT_H
#define MACHSYM_TOOL_SPLIT_H

#include "machsym.h"

#include <stdbool.h>

/* How long the first report of a text is; the text's length where nothing after it is another. */
size_t split_first_len(machsym_str s);
/* Whether a line is the metadata of an .ips, whose document follows. */
bool split_is_metadata(machsym_str line);
/* Whether a line is what only a report has: the words that a tool begins with, a stack, a list of images. */
bool split_is_certain(machsym_str line);
/* Whether a text has a member that only documents of reports have. */
bool split_has_member_of_report(machsym_str s);

#endif
