/* Object files of debug maps: the options that tell where they are, and what to say of those that do not
 * answer. */
#ifndef MACHSYM_TOOL_OBJECTS_H
#define MACHSYM_TOOL_OBJECTS_H

#include "../tool.h"

enum { MAX_OSO = 64 };

/* What --oso-prefix and its kin say. */
typedef struct object_options {
    machsym_oso_prefix prefixes[MAX_OSO];
    size_t prefix_count;
    const char *dirs[MAX_OSO];
    size_t dir_count;
    uint32_t flags; /* machsym_open_flags */
} object_options;

#define OBJECT_USAGE                                                                                         \
    "  --oso-prefix FROM=TO  a program without dSYM: its object files moved from FROM to TO; may repeat\n"   \
    "  --oso-dir DIR       ... look for them under DIR too, by the end of their paths; may repeat\n"         \
    "  --oso-any-time      ... take them although they changed after the program was linked\n"               \
    "  --no-objects        ... do not look for them: only symbols answer\n"

/* Takes the current option if it is one of these. *ok: whether its value is right; a message was printed if
 * not. */
bool object_option(object_options *to, options *o, const char *name, bool *ok);
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
