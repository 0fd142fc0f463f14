/* The modules of `machsym crash` in one piece, for programs that are built from a single file. */
#ifndef CRASH_MODULES_H
#define CRASH_MODULES_H

#ifndef MACHSYM_IMPLEMENTATION
#define MACHSYM_IMPLEMENTATION
#endif
#include "../machsym.h"

#include "../tool/tool.c"

#include "../tool/json.c"

/* Its private helpers go by the names of the report's. */
#define str_find owners_str_find
#define str_c    owners_str_c
#define str_trim owners_str_trim
#include "../tool/owners.c"
#undef str_find
#undef str_c
#undef str_trim

#include "../tool/bcsymbolmap.c"

#include "../tool/source.c"

#include "../tool/store.c"

#include "../tool/images.c"

#include "../tool/report.c"

#include "../tool/report_text.c"

#include "../tool/report_ips.c"

#include "../tool/report_other.c"

#include "../tool/resolve.c"

#include "../tool/report_write.c"

#include "../tool/report_write_text.c"

#include "../tool/report_write_json.c"

#include "../tool/summary.c"

#include "../tool/groups.c"

#endif
