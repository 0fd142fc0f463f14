/* What the parts of machsym store share. */
#ifndef MACHSYM_TOOL_CMD_STORE_H
#define MACHSYM_TOOL_CMD_STORE_H

#include "json_put.h"
#include "store/keep.h"

extern const command store_add_command;
extern const command store_list_command;
extern const command store_missing_command;
extern const command store_gc_command;
extern const command store_verify_command;

/* "NAME VERSION (BUILD)" */
void store_put_name(text *t, const char *name, const char *version, const char *build);
/* The members that all of the command's schemas have. */
void store_put_json(text *t, const machsym_uuid *uuid, const char *arch, const char *name,
                    const char *version, const char *build);

#endif
