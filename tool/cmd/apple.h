/* ==== >> cmd/apple ====
 * Job: answers to the names of Apple's tools: atos, symbolicatecrash, dwarfdump.
 * Offers: called_commands, called_name; the command install-names.
 * Never: answers otherwise than the commands of machsym do. */
#ifndef TOOL_CMD_APPLE_H
#define TOOL_CMD_APPLE_H

#include "../base/options.h"

extern const command called_dwarfdump_command;

/* The commands that have names of Apple's tools, ended by NULL. */
extern const command *const called_commands[];

/* The name of Apple's tool under which the program was called; NULL: another name. */
const char *called_name(const char *program);

#endif
