/* ==== >> symbols/objects ====
 * Job: where object files of debug maps are, and what to say of those that do not answer.
 * Offers: object_options; object_options_apply, object_say.
 * Never: reads an object file.
 *
 * Object files of debug maps: the options that tell where they are, and what to say of those that do not
 * answer. */
#ifndef MACHSYM_TOOL_OBJECTS_H
#define MACHSYM_TOOL_OBJECTS_H

#include "machsym.h"
#include "../base/options.h"

enum { MAX_OSO = 64 };

/* What --oso-prefix and its kin say. */
typedef struct object_options {
    machsym_oso_prefix prefixes[MAX_OSO];
    size_t prefix_count;
    const char *dirs[MAX_OSO];
    size_t dir_count;
    bool any_time;
    bool none;
} object_options;

extern const option object_option_table[];
/* desc borrows the options. */
void object_options_apply(const object_options *from, machsym_open_desc *desc);

/* Says why an object file does not answer, and what to do; nothing of one that does. Returns whether it said
 * so. */
bool object_say(const machsym_object_file *file);
/* Says it of the files that the session tried since the cursor was here. */
void object_say_new(const machsym_session *session, machsym_cursor *at);
/* Says it of the first of a plan's files, and how many more there are. */
void object_say_plan(const machsym_plan *plan);

#endif
