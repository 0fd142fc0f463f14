/* ==== >> read/plcrash ====
 * Job: PLCrashReporter's reports, which HockeyApp and App Center kept too: protobuf turned into text.
 * Offers: plcrash_is, plcrash_decode.
 * Never: reads that text. */
#ifndef MACHSYM_TOOL_PLCRASH_H
#define MACHSYM_TOOL_PLCRASH_H

#include "../base/text.h"
#include "machsym.h"

bool plcrash_is(machsym_str input);
/* The report as crash text, with all that it holds. Where it is damaged, what is whole comes out, and a line
 * says where. Returns that place; 0: it is whole. */
size_t plcrash_decode(machsym_str input, text *out);

#endif
