/* Fuzzes symbol maps: the input is a map file, whose magic, version, size and checksum are made right first, so that the
 * damage gets as far as lookups, names and iteration.
 * Run: build/fuzz/map fuzz/corpus/map */
#define MACHSYM_IMPLEMENTATION
#include "drive.h"

enum { MAX_RANGES = 300, MAX_FRAMES = 64, TEXT = 1 << 16 };

static void repair(uint8_t *bytes, size_t len)
{
    ms_copy(bytes, ms_MAP_MAGIC, 8);
    ms_map_store_u32(bytes + 8, ms_MAP_VERSION);
    ms_map_store_u64(bytes + 64, len);
    ms_map_store_u64(bytes + 72, 0);
    ms_map_store_u64(bytes + 72, ms_map_sum_of(ms_span_make(bytes, len)));
}

static void ask(const machsym_map *map, uint64_t addr)
{
    static char text[TEXT];
    machsym_frame frames[MAX_FRAMES];
    size_t count = machsym_map_frames(map, addr, frames, MAX_FRAMES);
    if (machsym_map_frames(map, addr, NULL, 0) != count)
        abort(); /* how many there are does not depend on the room */
    count = count < MAX_FRAMES ? count : MAX_FRAMES;
    size_t need = machsym_map_names(map, frames, count, text, TEXT);
    for (size_t i = 0; i < count; i++) {
        drive_text(frames[i].linkage_name);
        drive_text(frames[i].name);
        drive_text(frames[i].file.comp_dir);
        drive_text(frames[i].file.dir);
        drive_path(&frames[i].file);
    }
    if (need < TEXT && machsym_map_names(map, frames, count, text, need) != need)
        abort(); /* what was needed is enough */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machsym_map *map;
    machsym_map_info info;
    machsym_map_range range;
    machsym_cursor at = {0, 0};
    uint8_t *copy =
        (uint8_t *)malloc(size + (size == 0)); /* of exactly this size: a byte past it is noticed */
    if (copy == NULL)
        return 0;
    ms_copy(copy, data, size);
    if (size >= ms_MAP_HEAD)
        repair(copy, size);
    machsym_bytes bytes = {copy, size};
    if (machsym_map_open(NULL, bytes, 0, NULL, &map, NULL) == MACHSYM_OK) {
        machsym_map_get_info(map, &info);
        drive_text(info.name);
        for (size_t i = 0; i < MAX_RANGES && machsym_map_next(map, &at, &range); i++) {
            if (range.lo >= range.hi)
                abort();
            ask(map, range.lo);
            ask(map, range.hi - 1);
        }
        for (size_t i = 0; i + 4 <= size && i < 64; i += 4)
            ask(map, info.text_addr + ms_rd_raw_u32(data + i));
        machsym_map_close(map);
    }
    free(copy);
    return 0;
}
