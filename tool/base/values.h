/* ==== >> values ====
 * Job: what line policies and platforms are called.
 * Offers: value_parse_lines, value_lines_name, value_platform_name.
 * Never: says what is wrong with a text. */
#ifndef MACHSYM_TOOL_VALUES_H
#define MACHSYM_TOOL_VALUES_H

#include "machsym.h"

bool value_parse_lines(const char *written, machsym_lines *out); /* atos, dwarf, stmt, people */
const char *value_lines_name(machsym_lines lines);
/* LC_BUILD_VERSION's number as people call it: "iOS". */
const char *value_platform_name(uint32_t platform);

#endif
