/* ==== >> cmd/map/formats ====
 * Job: maps from tables, and maps as chunks, as tables and as Breakpad's text.
 * Offers: export_breakpad, the commands map import and map export.
 * Never: builds a map from debug info. */
#ifndef MACHSYM_TOOL_CMD_MAP_FORMATS_H
#define MACHSYM_TOOL_CMD_MAP_FORMATS_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "../../files/outfile.h"
#include "../../symbols/source.h"

/* Key of the header line that marks a table made from a damaged file. */
#define MAP_DAMAGED_HEADING "Damaged"

/* Breakpad's .sym. Returns false after a message. */
bool export_breakpad(const symbol_file *file, const frame_style *style, outfile *out, text *t);

#endif
