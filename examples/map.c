/* A map: a whole image resolved once, and answers without its dSYM. The map in memory is the saved file byte for byte, and
 * is used as it lies there. A lookup in it allocates nothing and takes no lock; names are unpacked by a second call.
 *     cc -I. examples/map.c -o map && ./map demo.symmap */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include <stdio.h>

/* Resolves all of a dSYM into a map file. */
static int build(const char *dsym, const char *path)
{
    machsym_open_desc file = {.path = dsym};
    machsym_plan_desc plan = {0};
    machsym_image *image;
    machsym_map *map;
    if (machsym_image_open(&file, &image, NULL) != MACHSYM_OK)
        return 1;
    plan.image = image;
    int failed = machsym_map_build(&plan, &map, NULL) != MACHSYM_OK;
    machsym_image_close(image);
    if (failed)
        return 1;
    failed = machsym_map_save(map, path, NULL) != MACHSYM_OK;
    machsym_map_close(map);
    return failed;
}

int main(int argc, char **argv)
{
    machsym_map_desc file = {.path = argc > 1 ? argv[1] : "demo.symmap"};
    machsym_map *map;
    machsym_map_frame found[16];
    machsym_frame frames[16];
    char names[4096], name[1024];

    if (build("tests/fixtures/bin/demo.app.dSYM", file.path) != 0)
        return 1;
    if (machsym_map_open(&file, &map, NULL) != MACHSYM_OK)
        return 1;
    size_t count =
        machsym_map_frames_at_addr(map, machsym_map_addr_of_pc(map, 0x102a30000, 0x102a309b6), found, 16);
    if (count > 16)
        count = 16;
    machsym_map_names(map, found, count, frames, names, sizeof names);
    for (size_t i = 0; i < count; i++) {
        machsym_frame_name(&frames[i], 0, name, sizeof name);
        printf("%s (%.*s:%u)\n", name, (int)frames[i].file.name.len, frames[i].file.name.ptr, frames[i].line);
    }
    machsym_map_close(map);
    return 0;
}
