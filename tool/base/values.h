/* ==== >> values ====
 * Job: what line policies and platforms are called.
 * Offers: parse_lines, lines_name, platform_name.
 * Never: says what is wrong with a text. */
#ifndef MACHSYM_TOOL_VALUES_H
#define MACHSYM_TOOL_VALUES_H

#include "machsym.h"

bool parse_lines(const char *written, machsym_lines *out); /* atos, dwarf, stmt, people */
const char *lines_name(machsym_lines lines);
/* LC_BUILD_VERSION's number as people call it: "iOS". */
const char *platform_name(uint32_t platform);

#endif
