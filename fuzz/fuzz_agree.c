/* Fuzzes the making of maps from a file's bytes: what a map says at the ends of its ranges and around them,
 * and where functions and rows begin, a cold session says too, and so does one that has indexed everything
 * and keeps little; and none is silent where another one speaks. A map has no addresses below the text.
 * Run: build/fuzz/agree -dict=fuzz/macho.dict -max_len=20000 fuzz/corpus/agree */
#include "mutate_whole.h"

enum { MAX_RANGES = 300, MAX_FRAMES = 64, TEXT = 1 << 17 };

/* What all three are asked of. */
typedef struct answers {
    const machsym_map *map;
    machsym_session *indexed;
    machsym_session *cold;
    uint64_t text_addr;
} answers;

static bool same_str(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_path(const machsym_path *a, const machsym_path *b)
{
    return same_str(a->comp_dir, b->comp_dir) && same_str(a->dir, b->dir) && same_str(a->name, b->name);
}

/* Entries of debug info have no place in a map. */
static bool same_frame(const machsym_frame *a, const machsym_frame *b)
{
    bool line = a->line_source == b->line_source && a->line == b->line && a->column == b->column &&
                same_path(&a->file, &b->file);
    bool name = a->name_source == b->name_source && same_str(a->linkage_name, b->linkage_name) &&
                same_str(a->name, b->name) && a->function_start == b->function_start &&
                a->function_size == b->function_size;
    return line && name && a->is_inline == b->is_inline;
}

static void compare(const machsym_frame *got, size_t count, const machsym_frame *want, size_t wanted)
{
    if (count != wanted)
        abort();
    for (size_t i = 0; i < count && i < MAX_FRAMES; i++) {
        if (!same_frame(&got[i], &want[i]))
            abort();
    }
}

static void compare_at(const answers *a, uint64_t addr)
{
    static char text[TEXT];
    machsym_map_frame found[MAX_FRAMES];
    machsym_frame got[MAX_FRAMES];
    machsym_frame want[MAX_FRAMES];
    size_t wanted = machsym_session_frames_at_addr(a->cold, addr, want, MAX_FRAMES);
    compare(got, machsym_session_frames_at_addr(a->indexed, addr, got, MAX_FRAMES), want, wanted);
    size_t count = machsym_map_frames_at_addr(a->map, addr, found, MAX_FRAMES);
    size_t known = count < MAX_FRAMES ? count : MAX_FRAMES;
    if (addr >= a->text_addr && machsym_map_names(a->map, found, known, got, text, TEXT) <= TEXT)
        compare(got, count, want, wanted); /* else: below the text, or too long to be told */
}

/* Asks where functions and rows begin, since the map may have no range there. */
static void compare_begins(const answers *a)
{
    machsym_cursor at = {0, 0};
    machsym_function function;
    machsym_line line;
    for (unsigned i = 0; i < MAX_RANGES && machsym_session_next_function(a->indexed, &at, &function); i++) {
        compare_at(a, function.lo);
        compare_at(a, function.hi - 1);
    }
    at.a = at.b = 0;
    for (unsigned i = 0; i < MAX_RANGES && machsym_session_next_line(a->indexed, &at, &line); i++)
        compare_at(a, line.addr);
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
    machsym_map_info info;
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    machsym_map_get_info(map, &info);
    answers a = {map, open_session(image, lines, MACHSYM_SESSION_INDEX, 1), open_session(image, lines, 0, 0),
                 info.text_addr};
    for (unsigned i = 0; i < MAX_RANGES && machsym_map_next(map, &at, &range); i++) {
        compare_at(&a, range.lo - 1);
        compare_at(&a, range.lo);
        compare_at(&a, range.hi - 1);
        compare_at(&a, range.hi);
    }
    compare_begins(&a);
    machsym_session_close(a.indexed);
    machsym_session_close(a.cold);
}

/* One policy an input, by choice. */
static void build(const machsym_image *image, size_t choice)
{
    machsym_plan_desc desc;
    machsym_map *map = NULL;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = (machsym_lines)(choice % MACHSYM_LINES_COUNT);
    desc.flags = MACHSYM_MAP_COLUMNS | MACHSYM_MAP_DAMAGED;
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
