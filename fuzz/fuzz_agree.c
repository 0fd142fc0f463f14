/* Fuzzes the making of maps from a file's bytes: what a map says at the ends of its ranges and around them, a cold session
 * says too, and so does one that has indexed everything and keeps little. Both may say less, since they have budgets, and
 * a map knows nothing that begins below the text. Run:
 * build/fuzz/agree -dict=fuzz/macho.dict -max_len=20000 fuzz/corpus/agree */
#include "mutate_whole.h"

enum { MAX_RANGES = 300, MAX_FRAMES = 64, TEXT = 1 << 17 };

static bool same_str(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_path(const machsym_path *a, const machsym_path *b)
{
    return same_str(a->comp_dir, b->comp_dir) && same_str(a->dir, b->dir) && same_str(a->name, b->name);
}

/* What is not known is not said; entries of debug info have no place in a map. */
static bool says_so(const machsym_frame *got, const machsym_frame *want)
{
    bool line = got->line_source == MACHSYM_SOURCE_NONE ||
                (got->line_source == want->line_source && got->line == want->line &&
                 (got->file.name.len == 0 || same_path(&got->file, &want->file)));
    bool name = got->name_source == MACHSYM_SOURCE_NONE ||
                (got->name_source == want->name_source && same_str(got->linkage_name, want->linkage_name) &&
                 same_str(got->name, want->name) && got->function_start == want->function_start &&
                 got->function_size == want->function_size);
    return line && name && got->is_inline == want->is_inline;
}

static void compare(const machsym_frame *got, size_t count, machsym_session *session, uint64_t addr)
{
    machsym_frame want[MAX_FRAMES];
    if (count == 0)
        return;
    if (count != machsym_session_frames(session, addr, want, MAX_FRAMES))
        abort();
    for (size_t i = 0; i < count && i < MAX_FRAMES; i++) {
        if (!says_so(&got[i], &want[i]))
            abort();
    }
}

static void compare_at(const machsym_map *map, machsym_session *indexed, machsym_session *cold, uint64_t addr)
{
    static char text[TEXT];
    machsym_map_frame found[MAX_FRAMES];
    machsym_frame got[MAX_FRAMES];
    size_t count = machsym_map_frames(map, addr, found, MAX_FRAMES);
    if (machsym_map_names(map, found, count < MAX_FRAMES ? count : MAX_FRAMES, got, text, TEXT) <= TEXT)
        compare(got, count, cold, addr); /* else: too long to be told */
    count = machsym_session_frames(indexed, addr, got, MAX_FRAMES);
    compare(got, count, cold, addr);
}

static machsym_session *open_session(const machsym_image *image, machsym_lines lines, uint32_t flags,
                                     size_t limit)
{
    machsym_session_desc desc;
    machsym_session *session;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = lines;
    desc.flags = flags;
    desc.cache_limit = limit;
    if (machsym_session_open(&desc, &session, NULL) != MACHSYM_OK)
        abort();
    return session;
}

static void compare_all(const machsym_image *image, const machsym_map *map, machsym_lines lines)
{
    machsym_session *cold = open_session(image, lines, 0, 0);
    machsym_session *indexed = open_session(image, lines, MACHSYM_SESSION_INDEX, 1);
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    for (unsigned i = 0; i < MAX_RANGES && machsym_map_next(map, &at, &range); i++) {
        compare_at(map, indexed, cold, range.lo - 1);
        compare_at(map, indexed, cold, range.lo);
        compare_at(map, indexed, cold, range.hi - 1);
        compare_at(map, indexed, cold, range.hi);
    }
    machsym_session_close(indexed);
    machsym_session_close(cold);
}

/* One policy an input, by choice. */
static void build(const machsym_image *image, size_t choice)
{
    machsym_plan_desc desc;
    machsym_map *map = NULL;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = (machsym_lines)(choice % MACHSYM_LINES_COUNT);
    if (machsym_map_build(&desc, &map, NULL) == MACHSYM_OK) /* else: too large for one */
        compare_all(image, map, desc.lines);
    machsym_map_close(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machsym_open_desc desc;
    machsym_image *image;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = data;
    desc.bytes.len = size;
    if (size == 0 || machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return 0;
    build(image, size);
    machsym_image_close(image);
    return 0;
}
