/* Maps with less room than the functions that share code need: what such a map tells and decides, its file does. */
#include <stdint.h>
static uint64_t part_twins;
#define MACHSYM_PART_TWINS part_twins
#define TEST_ROOM          "../src/map/build.h" /* compiled here, with that option */
#include "test.h"

enum { FRAMES = 32 };

/* Makes a map of an image. left: how many frames and names its parts may have for functions that share code. */
static machsym_map *make_map(const machsym_image *image, uint64_t left)
{
    machsym_allocator none;
    memset(&none, 0, sizeof none);
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    machsym_map *map = NULL;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = MACHSYM_LINES_DWARF;
    CHECK(ms_mb_open(&desc, ms_arena_default(none), &plan, NULL) == MACHSYM_OK);
    CHECK(plan->count == 1);
    part_twins = left - plan->tasks[0].size; /* the bytes of the debug info are added to it */
    CHECK(ms_mb_build(plan, &map, NULL) == MACHSYM_OK);
    ms_mb_close(plan);
    return map;
}

/* How many functions with lines an address has; whether one of them has a name. */
static size_t count_functions(machsym_session *session, uint64_t addr, machsym_str name, bool *has)
{
    machsym_frame frames[FRAMES];
    machsym_cursor at = {0, 0};
    size_t functions = 0;
    size_t got;
    *has = false;
    while ((got = machsym_session_next_folded(session, addr, &at, frames, FRAMES)) > 0 && got <= FRAMES) {
        machsym_str own =
            frames[got - 1].linkage_name.len != 0 ? frames[got - 1].linkage_name : frames[got - 1].name;
        *has = *has || (own.len == name.len && memcmp(own.ptr, name.ptr, name.len) == 0);
        functions += frames[got - 1].line != 0;
    }
    return functions;
}

/* Every function that the map tells, the file tells. Returns how many the map has no lines of: symbols may tell
 * their names. */
static size_t compare_sets(machsym_session *mapped, machsym_session *session, uint64_t addr)
{
    machsym_frame frames[FRAMES];
    machsym_cursor at = {0, 0};
    size_t functions = 0;
    size_t all = 0;
    size_t got;
    while ((got = machsym_session_next_folded(mapped, addr, &at, frames, FRAMES)) > 0 && got <= FRAMES) {
        bool has;
        machsym_str own =
            frames[got - 1].linkage_name.len != 0 ? frames[got - 1].linkage_name : frames[got - 1].name;
        all = count_functions(session, addr, own, &has);
        CHECK(has);
        functions += frames[got - 1].line != 0;
    }
    CHECK(functions <= all);
    return all - functions;
}

/* What the map decides is what the file decides. Returns whether it decides. */
static bool compare_stacks(machsym_session *mapped, machsym_session *session, uint64_t addr, uint64_t caller)
{
    machsym_pc pcs[2] = {{addr, false}, {caller, true}};
    machsym_frame got[2 * FRAMES];
    machsym_frame want[2 * FRAMES];
    machsym_call calls[2];
    machsym_call wanted[2];
    machsym_session_stack(mapped, pcs, 2, calls, got, 2 * FRAMES);
    machsym_session_stack(session, pcs, 2, wanted, want, 2 * FRAMES);
    if (!calls[0].is_decided)
        return false;
    CHECK(wanted[0].is_decided && wanted[0].count == calls[0].count);
    for (size_t i = 0; i < calls[0].count && i < FRAMES; i++)
        CHECK(got[i].line == want[i].line && got[i].name.len == want[i].name.len &&
              memcmp(got[i].name.ptr, want[i].name.ptr, got[i].name.len) == 0);
    return true;
}

/* step: between the rooms that are tried. */
static void test_room(const char *path, uint64_t step)
{
    machsym_image *image = test_open(path);
    machsym_section section;
    machsym_section code = {0};
    machsym_cursor at = {0, 0};
    size_t whole = 0;
    size_t cut = 0;
    while (machsym_image_next_section(image, &at, &section)) {
        if (section.is_code && code.size == 0)
            code = section;
    }
    for (uint64_t left = 1; left < 60 * step; left += step) {
        machsym_map *map = make_map(image, left);
        machsym_open_desc file;
        machsym_session_desc how;
        machsym_image *made = NULL;
        machsym_session *mapped = NULL;
        machsym_session *session = NULL;
        size_t lacking = 0;
        memset(&file, 0, sizeof file);
        memset(&how, 0, sizeof how);
        file.bytes = machsym_map_bytes(map);
        CHECK(machsym_image_open(&file, &made, NULL) == MACHSYM_OK);
        how.lines = MACHSYM_LINES_DWARF;
        how.image = made;
        CHECK(machsym_session_open(&how, &mapped, NULL) == MACHSYM_OK);
        how.image = image;
        CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
        for (uint64_t off = 0; off < code.size; off += 8) {
            lacking += compare_sets(mapped, session, code.addr + off);
            for (uint64_t caller = 4; caller < code.size; caller += 28)
                compare_stacks(mapped, session, code.addr + off, code.addr + caller);
        }
        cut += lacking != 0;
        whole += lacking == 0;
        machsym_session_close(mapped);
        machsym_session_close(session);
        machsym_image_close(made);
        machsym_map_close(map);
    }
    CHECK(cut > 0 && whole > 0);
    machsym_image_close(image);
}

int main(void)
{
    test_begin();
    test_room("tests/fixtures/bin/folded-arm64-all.dwarf", 7);
    test_end("all");
    test_begin();
    test_room("tests/fixtures/bin/folded-arm64-cpp.dwarf", 101);
    test_end("C++");
    return test_done();
}
