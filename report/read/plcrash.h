/* ==== >> read/plcrash ====
 * Job: PLCrashReporter's reports, which HockeyApp and App Center kept too: protobuf turned into text.
 * Offers: plcrash_is, plcrash_decode.
 * Never: reads that text. */
#ifndef MACHSYM_TOOL_PLCRASH_H
#define MACHSYM_TOOL_PLCRASH_H

#include "../base/text.h"
#include "machsym.h"

bool plcrash_is(machsym_str input);
/* Converts the whole report to crash text. If it is damaged, the whole parts are converted, and a line says
 * where the damage is. Returns that place; 0: undamaged. */
size_t plcrash_decode(machsym_str input, text *out);

#endif
