/* ==== >> cmd/atos/atos ====
 * Job: the command line of atos, map lookup and map chunk.
 * Offers: atos_run, their tables of options.
 * Never: looks an address up. */
#ifndef MACHSYM_TOOL_CMD_ATOS_H
#define MACHSYM_TOOL_CMD_ATOS_H

#include "machsym.h"
#include "../../base/options.h"

/* machsym atos, map lookup and map chunk: which operands and inputs they have. */
typedef enum atos_way { ATOS_FILES = 0, ATOS_FIRST_IS_FILE, ATOS_CHUNK } atos_way;

/* Their options: which file; all that maps answer, too; what needs an image. */
extern const option atos_file_option_table[];
extern const option atos_option_table[];
extern const option atos_image_option_table[];
int atos_run(const command *c, atos_way way, int argc, char **argv);

#endif
