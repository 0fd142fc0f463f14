/* What the parts of machsym map share. */
#ifndef MACHSYM_TOOL_CMD_MAP_H
#define MACHSYM_TOOL_CMD_MAP_H

#include "../../symbols/map_budget.h"
#include "../../files/outfile.h"

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

/* ---- Building with threads ---- */

typedef struct build_options {
    unsigned jobs; /* 0: all processors */
    bool progress;
    double until; /* the build fails when map_seconds is past it; 0: it may take any time */
} build_options;

extern const char map_took_too_long[];

/* Seconds of a clock that no one sets. */
double map_seconds(void);
/* Says in one line what the map of a damaged file lacks. */
void map_say_lost(const char *path, const machsym_image_info *info, const machsym_part_info *counts,
                  const machsym_map *map);

/* Builds the map of an image. *counts: its units, and how many of them are damaged. Returns NULL after a
 * message. */
machsym_map *map_build_image(const machsym_plan_desc *desc, const char *path, const build_options *how,
                             machsym_part_info *counts);

/* Builds something of one image of a cache, which the description opens, and adds what is to be printed. *size: the bytes
 * that it made. */
typedef bool (*map_build_call)(const void *user, const machsym_open_desc *open, text *told, uint64_t *size);

/* Calls it for each image of a cache whose path fits the pattern (NULL: all), by so many threads (0: all
 * processors), and prints what they told in the order of the list, and a last line that sums it up. No more
 * are begun once *is_full, which a call sets that finds no room on the disk, or once all are too large for the
 * cache.
 * Returns false after a message when the cache does not open, nothing fits, or a call failed. */
bool map_each_image(const machsym_open_desc *cache, const char *pattern, unsigned jobs, map_build_call build,
                    const void *user, const atomic_bool *is_full);

/* ---- Other formats ---- */

/* The key of the line above the rows of a table that says that it is of a damaged file. */
#define MAP_DAMAGED_HEADING "Damaged"

bool text_from_base64(text *t); /* in place; false when it is not base64 */
/* Breakpad's .sym. Returns false after a message. */
bool export_breakpad(const symbol_file *file, const frame_style *style, outfile *out, text *t);

#endif
