/* ==== >> commands ====
 * Job: the list of all subcommands.
 * Offers: tool_commands, and each subcommand.
 * Never: has code. */
#ifndef MACHSYM_TOOL_CMD_COMMANDS_H
#define MACHSYM_TOOL_CMD_COMMANDS_H

#include "machsym.h"
#include "../base/options.h"

extern const command atos_command;
extern const command info_command;
extern const command crash_command;
extern const command objc_command;
extern const command symbols_command;
extern const command owners_command;
extern const command map_command;
extern const command find_command;
extern const command store_command;
extern const command check_command;
extern const command cache_command;
extern const command cache_extract_command;
extern const command worker_command;
extern const command mcp_command;
extern const command demangle_command;
extern const command completion_command;
extern const command install_names_command;

/* All that stand on the command line first, ended by NULL. */
extern const command *const tool_commands[];

#endif
