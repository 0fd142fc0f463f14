/* ==== >> read/minidump ====
 * Job: minidumps, which Crashpad and Breakpad write: threads and memory turned into text.
 * Offers: minidump_is, minidump_decode.
 * Never: reads that text. */
#ifndef MACHSYM_TOOL_MINIDUMP_H
#define MACHSYM_TOOL_MINIDUMP_H

#include "../base/text.h"
#include "dump.h"
#include "machsym.h"

bool minidump_is(machsym_str input);
/* Converts the dump to crash text. If it is damaged, the whole parts are converted, and a line says where the
 * damage is. Returns that place; 0: undamaged. *what: the damage. */
size_t minidump_decode(machsym_str input, text *out, const char **what, dump_walks *walks);

#endif
