/* ==== >> read/split ====
 * Job: where one report of a file ends and the next one begins.
 * Offers: split_first_len.
 * Never: reads a report.
 *
 * Files that hold several reports one after the other: where each ends. */
#ifndef MACHSYM_TOOL_SPLIT_H
#define MACHSYM_TOOL_SPLIT_H

#include "machsym.h"

/* How long the first report of a text is; the text's length where nothing after it is another. */
size_t split_first_len(machsym_str s);

#endif
