/* Fails allocation number N, for every N that planning, building, merging, opening and writing maps need: an
 * error that says so, no crash, no leak; and when nothing fails, the same bytes. */
#include "failer.h"
#include "maps.h"

/* One way to come to a map. */
typedef machsym_result (*maker)(const void *from, const machsym_allocator *allocator, machsym_map **out,
                                machsym_error *err);

static machsym_result make_whole(const void *from, const machsym_allocator *allocator, machsym_map **out,
                                 machsym_error *err)
{
    machsym_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.image = (const machsym_image *)from;
    desc.flags = MACHSYM_MAP_COLUMNS;
    desc.allocator = *allocator;
    return machsym_map_build(&desc, out, err);
}

/* As a tool does it: all parts are built even when one fails. */
static machsym_result make_parts(const void *from, const machsym_allocator *allocator, machsym_map **out,
                                 machsym_error *err)
{
    machsym_plan_desc desc;
    machsym_plan *plan;
    machsym_part *parts[64] = {NULL};
    memset(&desc, 0, sizeof desc);
    desc.image = (const machsym_image *)from;
    desc.flags = MACHSYM_MAP_COLUMNS;
    desc.allocator = *allocator;
    machsym_result result = machsym_plan_open(&desc, &plan, err);
    if (result != MACHSYM_OK)
        return result;
    size_t count = machsym_plan_part_count(plan);
    for (size_t i = 0; i < count && i < 64; i++) {
        machsym_result built = machsym_part_build(plan, i, &parts[i], result == MACHSYM_OK ? err : NULL);
        result = result == MACHSYM_OK ? built : result;
    }
    if (result == MACHSYM_OK)
        result = machsym_map_merge(plan, parts, count, out, err);
    for (size_t i = 0; i < count && i < 64; i++)
        machsym_part_close(parts[i]);
    machsym_plan_close(plan);
    return result;
}

/* Copies a map range by range. */
static machsym_result make_copy(const void *from, const machsym_allocator *allocator, machsym_map **out,
                                machsym_error *err)
{
    static map_answer answer;
    const machsym_map *map = (const machsym_map *)from;
    machsym_map_info info;
    machsym_writer *writer;
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    machsym_writer_desc desc;
    memset(&desc, 0, sizeof desc);
    machsym_map_get_info(map, &info);
    desc.info = &info;
    desc.allocator = *allocator;
    machsym_result result = machsym_writer_open(&desc, &writer, err);
    if (result != MACHSYM_OK)
        return result;
    while (result == MACHSYM_OK && machsym_map_next(map, &at, &range)) {
        ask_map(map, range.lo, &answer);
        result = machsym_writer_add(writer, &range, answer.frames, answer.count, err);
    }
    if (result == MACHSYM_OK)
        return machsym_writer_finish(writer, out, err);
    machsym_writer_close(writer);
    return result;
}

static machsym_result make_open(const void *from, const machsym_allocator *allocator, machsym_map **out,
                                machsym_error *err)
{
    machsym_bytes bytes = machsym_map_bytes((const machsym_map *)from);
    machsym_map_desc desc = desc_of_bytes(bytes.ptr, bytes.len, 0);
    desc.allocator = *allocator;
    return machsym_map_open(&desc, out, err);
}

static void check_maker(const void *from, maker make)
{
    test_begin();
    for (unsigned for_good = 0; for_good < 2; for_good++) {
        machsym_map *whole = NULL;
        failer f;
        machsym_allocator allocator = {failing_alloc, failing_free, &f};
        machsym_error err;
        memset(&f, 0, sizeof f);
        CHECK_EQ(make(from, &allocator, &whole, &err), MACHSYM_OK);
        size_t needed = f.calls;
        CHECK(needed > 0);
        for (size_t n = 1; n <= needed; n++) {
            machsym_map *map = NULL;
            failer g;
            machsym_allocator failing = {failing_alloc, failing_free, &g};
            memset(&g, 0, sizeof g);
            g.fail_at = n;
            g.for_good = for_good != 0;
            machsym_result result = make(from, &failing, &map, &err);
            CHECK_EQ(result, MACHSYM_ERR_MEMORY);
            CHECK_EQ(err.code, result);
            CHECK(map == NULL);
            machsym_map_close(map);
            CHECK_EQ(g.out, 0);
            CHECK_EQ(g.bytes_out, 0);
        }
        machsym_map *again = NULL;
        CHECK_EQ(make(from, &allocator, &again, &err), MACHSYM_OK);
        CHECK(again != NULL && whole != NULL && same_bytes(whole, again));
        machsym_map_close(whole);
        machsym_map_close(again);
        CHECK_EQ(f.out, 0);
        CHECK_EQ(f.bytes_out, 0);
    }
    test_end("a maker without memory");
}

/* Names that memory is short for are missing, and only those: asked again they are there. */
static void check_names(const machsym_map *map)
{
    static map_answer answer;
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    CHECK(machsym_map_next(map, &at, &range));
    machsym_open_desc file;
    machsym_map_info info;
    machsym_map_get_info(map, &info);
    memset(&file, 0, sizeof file);
    file.bytes = machsym_map_bytes(map);
    machsym_image *image = test_open_desc(&file);
    for (size_t n = 1; n <= 6; n++) {
        machsym_session *session = NULL;
        machsym_error err;
        failer f;
        machsym_allocator failing = {failing_alloc, failing_free, &f};
        memset(&f, 0, sizeof f);
        f.fail_at = n;
        machsym_session_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.image = image;
        desc.lines = info.lines;
        desc.allocator = failing;
        machsym_result result = machsym_session_open(&desc, &session, &err);
        CHECK(result == MACHSYM_OK ? session != NULL : result == MACHSYM_ERR_MEMORY && session == NULL);
        if (result == MACHSYM_OK) {
            answer.count = machsym_session_frames_at_addr(session, range.lo, answer.frames, MAPS_FRAMES);
            bool lacked = machsym_session_lacked_memory(session);
            CHECK(lacked || f.calls < n);
            f.fail_at = 0;
            machsym_session_trim(session);
            answer.count = machsym_session_frames_at_addr(session, range.lo, answer.frames, MAPS_FRAMES);
            CHECK(answer.count > 0 && !machsym_session_lacked_memory(session));
            machsym_session_close(session);
        }
        CHECK_EQ(f.out, 0);
        CHECK_EQ(f.bytes_out, 0);
    }
    machsym_image_close(image);
}

static size_t read_bytes(void *user, uint64_t at, void *to, size_t len)
{
    const machsym_bytes *bytes = (const machsym_bytes *)user;
    size_t there = at >= bytes->len ? 0 : bytes->len - (size_t)at;
    len = len < there ? len : there;
    memcpy(to, (const char *)bytes->ptr + at, len);
    return len;
}

static uint64_t hash_text(uint64_t hash, machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (uint8_t)text.ptr[i]) * 1099511628211u;
    return hash;
}

/* A sum over what a session says of every range; frames that say no more than that memory ran out do not count. */
static uint64_t ask_all(machsym_session *session, const machsym_map *map)
{
    static machsym_frame frames[MAPS_FRAMES];
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    uint64_t sum = 0;
    while (machsym_map_next(map, &at, &range)) {
        size_t count = machsym_session_frames_at_addr(session, range.lo, frames, MAPS_FRAMES);
        for (size_t i = 0; i < count; i++) {
            if (frames[i].name_source == MACHSYM_SOURCE_NONE && frames[i].line_source == MACHSYM_SOURCE_NONE)
                continue;
            uint64_t hash = hash_text(range.lo * 31 + i, frames[i].linkage_name);
            sum += hash_text(hash_text(hash, frames[i].name), frames[i].file.name) ^ frames[i].line;
        }
    }
    return sum;
}

/* Fails each allocation of a session on a map once, and asks again with memory. Then all answers are
 * complete, and texts of earlier answers stay where they are. by_reader: the map is read by a callback. */
static void check_again(const machsym_map *map, bool by_reader)
{
    machsym_open_desc file;
    machsym_bytes bytes = machsym_map_bytes(map);
    machsym_map_info info;
    machsym_session_desc desc;
    machsym_session *session = NULL;
    machsym_frame first;
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    size_t failed = 0;
    machsym_map_get_info(map, &info);
    memset(&file, 0, sizeof file);
    memset(&desc, 0, sizeof desc);
    if (by_reader) {
        file.io.read = read_bytes;
        file.io.user = &bytes;
        file.io.size = bytes.len;
    } else {
        file.bytes = bytes;
    }
    machsym_image *image = test_open_desc(&file);
    desc.image = image;
    desc.lines = info.lines;
    CHECK_EQ(machsym_session_open(&desc, &session, NULL), MACHSYM_OK);
    const uint64_t want = ask_all(session, map);
    machsym_session_close(session);
    CHECK(machsym_map_next(map, &at, &range));
    for (size_t n = 1, calls = 2; n <= calls; n++) { /* the first is the session itself */
        failer f;
        memset(&f, 0, sizeof f);
        f.fail_at = n;
        desc.allocator.alloc = failing_alloc;
        desc.allocator.free = failing_free;
        desc.allocator.user = &f;
        if (machsym_session_open(&desc, &session, NULL) != MACHSYM_OK)
            continue;
        size_t count = machsym_session_frames_at_addr(session, range.lo, &first, 1);
        uint64_t name = count > 0 ? hash_text(1, first.linkage_name) : 0;
        ask_all(session, map);
        calls = f.calls;
        f.fail_at = 0;
        bool lacked = machsym_session_lacked_memory(session);
        failed += lacked;
        CHECK(ask_all(session, map) == want);
        CHECK(machsym_session_lacked_memory(session) == lacked);
        CHECK(count == 0 || hash_text(1, first.linkage_name) == name);
        machsym_session_close(session);
        CHECK_EQ(f.out, 0);
    }
    CHECK(failed > 1);
    machsym_image_close(image);
}

int main(void)
{
    static const char *const paths[] = {
        "tests/fixtures/bin/demo.app.dSYM",          "tests/fixtures/bin/cross-x86_64-d4-14.dwarf",
        "tests/fixtures/bin/hand-units.dwarf",       "tests/fixtures/bin/symbols-x86_64",
        "tests/fixtures/bin/folded-arm64-all.dwarf", "tests/fixtures/bin/folded-arm64-symbols.dwarf"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        machsym_image *image = test_open(paths[i]);
        machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, 0);
        check_maker(image, make_whole);
        check_maker(image, make_parts);
        check_maker(map, make_copy);
        check_maker(map, make_open);
        check_names(map);
        check_again(map, false);
        check_again(map, true);
        machsym_map_close(map);
        machsym_image_close(image);
    }
    return test_done();
}
