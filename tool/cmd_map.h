/* What the parts of machsym map share. */
#ifndef MACHSYM_TOOL_CMD_MAP_H
#define MACHSYM_TOOL_CMD_MAP_H

#include "outfile.h"
#include "source.h"

enum { MAP_MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1 };

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
bool map_open_source(const symbol_desc *desc, symbol_file *file); /* refuses an image */
bool map_write(const machsym_map *map, const char *path);
/* NAME.symmap, or NAME-ARCH.symmap; ends in a NUL. */
void map_default_name(text *out, machsym_str name, const char *arch);

/* ---- Building with threads ---- */

typedef struct build_options {
    unsigned jobs; /* 0: all processors */
    bool progress;
} build_options;

/* Builds the map of an image. *counts: its units, and how many of them are damaged. Returns NULL after a message. */
machsym_map *map_build_image(const machsym_plan_desc *desc, const char *path, const build_options *how,
                             machsym_part_info *counts);

/* ---- Other formats ---- */

/* The key of the line above the rows of a table that says that it is of a damaged file. */
#define MAP_DAMAGED_HEADING "Damaged"

bool text_from_base64(text *t); /* in place; false when it is not base64 */
/* Breakpad's .sym. */
void export_breakpad(const symbol_file *file, const frame_style *style, outfile *out, text *t);

#endif
