/* ==== >> symbols/context ====
 * Job: lines of source around a line, out of one folder.
 * Offers: context_rules, context_cache; context_find, context_close.
 * Never: reads a file outside the folder, wherever paths and links lead. */
#ifndef MACHSYM_TOOL_CONTEXT_H
#define MACHSYM_TOOL_CONTEXT_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "../../report/model/links.h"

/* More lines than these are a file to open. */
enum { CONTEXT_MAX = 20 };

/* Where sources are, and how many lines are told before and after one. */
typedef struct context_rules {
    const char *folder; /* NULL: none are told */
    unsigned lines;
    const link_rules *links; /* whose roots turn a path of a build into one of the folder */
} context_rules;

/* The file that was read last: frames of one image come file by file. */
typedef struct context_cache {
    text path; /* as debug info has it */
    text file;
    bool is_there;
} context_cache;

/* Adds the lines around the one, with \n between, and sets *first to the number of the first. Returns false,
 * and adds nothing, when the folder has no such file or the file no such line. */
bool context_find(const context_rules *rules, machsym_str path, uint32_t line, context_cache *cache,
                  text *out, uint32_t *first);
void context_close(context_cache *cache);

#endif
