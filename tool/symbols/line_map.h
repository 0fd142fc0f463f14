/* ==== >> symbols/line_map ====
 * Job: which line of C# a line of C++ comes from.
 * Offers: line_map; line_map_read, line_map_find.
 * Never: looks an address up.
 *
 * Which line of C# a line of C++ comes from, for programs of Unity's IL2CPP. */
#ifndef MACHSYM_TOOL_LINE_MAP_H
#define MACHSYM_TOOL_LINE_MAP_H

#include "machsym.h"

typedef struct line_map line_map;

/* Adds what PATH tells: LineNumberMappings.json, a C++ file that il2cpp wrote, or a folder of such files.
 * *map NULL begins one. Says what is wrong, and returns false. */
bool line_map_read(line_map **map, const char *path);
/* Where the C++ line comes from; false when nothing tells. Folders of the path are ignored, because
 * il2cpp's file names are unique. Threads: any. */
bool line_map_find(const line_map *map, machsym_str cpp_path, uint32_t cpp_line, machsym_str *path,
                   uint32_t *line);
void line_map_free(line_map *map);

#endif
