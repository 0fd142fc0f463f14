/* ==== >> read/minidump ====
 * Job: minidumps, which Crashpad and Breakpad write: threads and memory turned into text.
 * Offers: minidump_is, minidump_decode.
 * Never: reads that text. */
#ifndef MACHSYM_TOOL_MINIDUMP_H
#define MACHSYM_TOOL_MINIDUMP_H

#include "../base/text.h"
#include "machsym.h"

bool minidump_is(machsym_str input);
/* The dump as crash text. Where it is damaged, what is whole comes out, and a line says where. Returns that
 * place, 0: it is whole; *what: what is damaged there. */
size_t minidump_decode(machsym_str input, text *out, const char **what);

#endif
