/* ==== >> cmd/map/build ====
 * Job: builds maps with threads, of one image or of all of a cache.
 * Offers: build_options; build_image, build_each_image, build_say_lost.
 * Never: decides where a map lies. */
#ifndef MACHSYM_TOOL_CMD_MAP_BUILD_H
#define MACHSYM_TOOL_CMD_MAP_BUILD_H

#include "machsym.h"
#include "../../../report/base/text.h"

#include <stdatomic.h>

typedef struct build_options {
    unsigned jobs; /* 0: all processors */
    bool progress;
    double until;   /* the build fails when machine_seconds is past it; 0: it may take any time */
    bool can_force; /* the command takes --damaged, and messages say so */
} build_options;

extern const char map_took_too_long[];

/* Says in one line what the map of a damaged file lacks. */
void build_say_lost(const char *path, const machsym_image_info *info, const machsym_part_info *counts,
                    const machsym_map *map);

/* Builds the map of an image. *counts: its units, and how many of them are damaged. Returns NULL after a
 * message. */
machsym_map *build_image(const machsym_plan_desc *desc, const char *path, const build_options *how,
                         machsym_part_info *counts);

/* Builds something of one image of a cache, which the description opens, and adds what is to be printed.
 * *size: the bytes that it made. */
typedef bool (*map_build_call)(const void *user, const machsym_open_desc *open, text *told, uint64_t *size);

/* Calls it for each image of a cache whose path fits the pattern (NULL: all), by a number of threads (0: all
 * processors), and prints what they told in the order of the list, and a last line that sums it up. No more
 * are begun once *is_full, which a call sets that finds no room on the disk, or once all are too large for
 * the cache.
 * Returns false after a message when the cache does not open, nothing fits, or a call failed. */
bool build_each_image(const machsym_open_desc *cache, const char *pattern, unsigned jobs,
                      map_build_call build, const void *user, const atomic_bool *is_full);

#endif
