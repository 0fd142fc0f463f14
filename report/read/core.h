/* ==== >> read/core ====
 * Job: core files of macOS (Mach-O of the type MH_CORE): threads and memory turned into text.
 * Offers: core_is, core_decode.
 * Never: reads that text. */
#ifndef MACHSYM_TOOL_CORE_H
#define MACHSYM_TOOL_CORE_H

#include "../base/text.h"
#include "dump.h"
#include "machsym.h"

bool core_is(machsym_str input);
/* Works as minidump_decode. */
size_t core_decode(machsym_str input, text *out, const char **what, dump_walks *walks);

#endif
