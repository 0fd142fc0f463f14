/* ==== >> cmd/info/cache ====
 * Job: what machsym info tells of a shared cache.
 * Offers: info_cache_print.
 * Never: opens images of it. */
#ifndef MACHSYM_TOOL_CMD_INFO_CACHE_H
#define MACHSYM_TOOL_CMD_INFO_CACHE_H

#include "machsym.h"

/* machsym info of a cache: its files and images. */
void info_cache_print(const machsym_image *cache, bool json);

#endif
