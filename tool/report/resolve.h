/* Gives the frames of a report their names and lines. */
#ifndef MACHSYM_TOOL_RESOLVE_H
#define MACHSYM_TOOL_RESOLVE_H

#include "../store/images.h"
#include "report.h"

/* What to look up. */
typedef struct resolve_options {
    bool all;           /* frames that have a name too */
    bool raw_addresses; /* take return addresses as they are */
    bool no_inline;     /* only the real function of each frame */
    frame_style style;
} resolve_options;

/* Frames by how they got their name. */
typedef struct resolve_counts {
    uint32_t frames;
    uint32_t given;   /* had one already */
    uint32_t dwarf;   /* name and line */
    uint32_t symbols; /* name only */
    uint32_t missing;
} resolve_counts;

/* Looks up what needs it, image by image, so that few images are open at a time. Fills calls, image status,
 * counts. */
void report_resolve(report *r, image_pool *all, const resolve_options *how, resolve_counts *counts);

#endif
