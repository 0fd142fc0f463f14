/* ==== >> cmd/map/map ====
 * Job: opens, writes and shows maps.
 * Offers: map_open, map_write, map_print_info, map_open_source; the commands of map.
 * Never: decodes the format. */
#ifndef MACHSYM_TOOL_CMD_MAP_H
#define MACHSYM_TOOL_CMD_MAP_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "../../base/options.h"
#include "../../symbols/source.h"

#include <stdatomic.h>

extern const command map_build_command;
extern const command map_lookup_command;
extern const command map_info_command;
extern const command map_dump_command;
extern const command map_verify_command;
extern const command map_export_command;
extern const command map_import_command;
extern const command map_chunk_command;

/* Opens a map, and on failure says why. */
machsym_map *map_open(const char *path, uint32_t flags);
/* Prints what a map says of itself. Returns false when it does not open, or is one of a damaged file. */
bool map_print_info(const char *path, uint32_t flags, bool is_json);
bool map_open_source(const symbol_desc *desc, symbol_file *file); /* refuses an image */
bool map_write(const machsym_map *map, const char *path);
/* NAME.symmap, or NAME-ARCH.symmap; ends in a NUL. */
void map_default_name(text *out, machsym_str name, const char *arch);

#endif
