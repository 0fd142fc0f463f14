/* The modules of `machsym crash` in one piece, for programs that are built from a single file. */
#ifndef CRASH_MODULES_H
#define CRASH_MODULES_H

#ifndef MACHSYM_IMPLEMENTATION
#define MACHSYM_IMPLEMENTATION
#endif
#include "../machsym.h"

#include "../examples/machsym/tool.c"

#include "../examples/machsym/json.c"

/* Its private helpers go by the names of the report's. */
#define str_find owners_str_find
#define str_c    owners_str_c
#define str_trim owners_str_trim
#include "../examples/machsym/owners.c"
#undef str_find
#undef str_c
#undef str_trim

#include "../examples/machsym/bcsymbolmap.c"

#include "../examples/machsym/source.c"

#include "../examples/machsym/store.c"

#include "../examples/machsym/images.c"

#include "../examples/machsym/report.c"

#include "../examples/machsym/report_text.c"

#include "../examples/machsym/report_ips.c"

#include "../examples/machsym/report_other.c"

#include "../examples/machsym/resolve.c"

#include "../examples/machsym/report_write.c"

#include "../examples/machsym/report_write_text.c"

#include "../examples/machsym/report_write_json.c"

#include "../examples/machsym/summary.c"

#include "../examples/machsym/groups.c"

#endif
