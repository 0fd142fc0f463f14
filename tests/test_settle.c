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
    while ((got = machsym_session_next_folded_at_addr(session, addr, &at, frames, FRAMES)) > 0 &&
           got <= FRAMES) {
        machsym_str own =
            frames[got - 1].linkage_name.len != 0 ? frames[got - 1].linkage_name : frames[got - 1].name;
        *has = *has || (own.len == name.len && name.len != 0 && memcmp(own.ptr, name.ptr, name.len) == 0);
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
    while ((got = machsym_session_next_folded_at_addr(mapped, addr, &at, frames, FRAMES)) > 0 &&
           got <= FRAMES) {
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
    machsym_stack_addr pcs[2] = {{addr, false}, {caller, true}};
    machsym_frame got[2 * FRAMES];
    machsym_frame want[2 * FRAMES];
    machsym_stack_answer calls[2];
    machsym_stack_answer wanted[2];
    machsym_session_frames_of_stack(mapped, pcs, 2, calls, got, 2 * FRAMES);
    machsym_session_frames_of_stack(session, pcs, 2, wanted, want, 2 * FRAMES);
    if (!calls[0].is_decided)
        return false;
    CHECK(wanted[0].is_decided && wanted[0].count == calls[0].count);
    for (size_t i = 0; i < calls[0].count && calls[0].first + i < 2 * FRAMES; i++) {
        const machsym_frame *a = &got[calls[0].first + i];
        const machsym_frame *b = &want[wanted[0].first + i];
        CHECK(a->line == b->line && a->name.len == b->name.len &&
              memcmp(a->name.ptr, b->name.ptr, a->name.len) == 0);
    }
    return true;
}

/* step: between the rooms that are tried. */
static void test_room(const char *path, uint64_t step)
{
    machsym_image *image = test_open(path);
    machsym_section section;
    machsym_section code = {0};
    machsym_cursor at = {0, 0};
    const machsym_str none = {NULL, 0};
    size_t whole = 0;
    size_t cut = 0;
    size_t decided = 0;
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
            bool has;
            lacking += compare_sets(mapped, session, code.addr + off);
            bool shares = count_functions(session, code.addr + off, none, &has) > 1;
            for (uint64_t caller = 4; caller < code.size && shares && off % 24 == 0; caller += 4)
                decided += compare_stacks(mapped, session, code.addr + off, code.addr + caller);
        }
        cut += lacking != 0;
        whole += lacking == 0;
        machsym_session_close(mapped);
        machsym_session_close(session);
        machsym_image_close(made);
        machsym_map_close(map);
    }
    CHECK(cut > 0 && whole > 0 && decided > 0);
    machsym_image_close(image);
}

/* ---- Rules, by hand ---- */

enum { NONE = UINT32_MAX, A = 0x100, B = 0x200, C = 0x300, D = 0x400, SIZE = 16 };

/* Functions of two bodies, of one place where functions of two sizes begin, and of a body that a tail call may lead to
 * again. Fields: lo, size, at, number, is_first, is_visible, comes_back, name, entry. */
static const ms_mg_function functions[] = {
    {A, SIZE, 0, 0, true, true, false, 1, 11},       /* number 0 */
    {A, SIZE, 0, 0, false, true, false, 2, 12},      /* 1 */
    {A, SIZE, 16, 0, false, false, false, 3, 13},    /* 2: units cannot see it */
    {A, SIZE, 32, 0, false, true, false, 4, 14},     /* 3: another body has that name, too */
    {B, SIZE, 0, 0, true, true, false, 5, 21},       /* 0 */
    {B, SIZE, 48, 0, false, true, false, 4, 22},     /* 1 */
    {B, SIZE, 64, 0, false, true, false, 6, 23},     /* 2 */
    {B, SIZE, 80, 0, false, true, false, 6, 24},     /* 3: the name that number 2 has */
    {C, SIZE, 0, 0, true, true, false, 7, 31},       /* 0 */
    {C, SIZE + 4, 96, 0, false, true, false, 8, 32}, /* other code */
    {D, SIZE, 0, 0, true, true, true, 10, 41},       /* 0 */
    {D, SIZE, 96, 0, false, true, false, 11, 42}};   /* 1: what the first says holds for the body */

/* A call, and the row that comes of it: the number of the caller and of the callee. callee NONE: there is none. */
static const struct {
    uint32_t body; /* that the call names; NONE: a declaration */
    uint64_t name;
    uint64_t target;
    uint64_t caller;
    uint32_t want_caller;
    uint32_t want_body;
    uint32_t want_callee;
} calls_made[] = {{NONE, 2, 99, 0, 0, A, 1},    /* a declaration, by its name */
                  {NONE, 2, 99, 13, 2, A, 1},   /* of a caller that shares its code */
                  {NONE, 3, 99, 0, 0, 0, NONE}, /* declarations are not of what units cannot see */
                  {A, 3, 99, 0, 0, A, 2},       /* but code there may be of it */
                  {NONE, 3, 13, 0, 0, A, 2},    /* and its entry is */
                  {NONE, 4, 99, 0, 0, 0, NONE}, /* two bodies have functions of the name */
                  {A, 4, 99, 0, 0, A, 3},       /* in one of them */
                  {B, 4, 99, 0, 0, B, 1},
                  {B, 6, 99, 0, 0, 0, NONE},    /* two functions of a body have the name */
                  {B, 6, 24, 0, 0, B, 3},       /* which their entries tell apart */
                  {B, 2, 99, 0, 0, 0, NONE},    /* the body has no function of the name */
                  {NONE, 8, 99, 0, 0, 0, NONE}, /* it has other code */
                  {NONE, 8, 32, 0, 0, 0, NONE},
                  {NONE, 2, 99, 98, 0, 0, NONE}, /* a caller that is not told of */
                  {NONE, 2, 99, 32, 0, 0, NONE}, /* it has other code */
                  {NONE, 10, 99, 0, 0, 0, NONE},
                  {NONE, 11, 42, 0, 0, 0, NONE}, /* a tail call may lead to it again */
                  {D, 10, 99, 0, 0, 0, NONE},
                  {NONE, 2, 99, 42, 1, A, 1},    /* but its caller is known, and calls one that is */
                  {NONE, 9, 99, 0, 0, 0, NONE}}; /* nothing has the name */

enum { FUNCTIONS = sizeof functions / sizeof *functions, CALLS = sizeof calls_made / sizeof *calls_made };

/* Puts the functions together with calls whose fields are those above; they return to 4, 8, 12, ... */
static void settle(ms_mg *m, machsym_part **part, const ms_mg_function *v, const ms_mg_site *sites,
                   size_t count)
{
    machsym_allocator none;
    memset(&none, 0, sizeof none);
    memset(m, 0, sizeof *m);
    m->arena = ms_arena_make(ms_arena_default(none));
    *part = ms_mg_new_part(ms_arena_default(none));
    m->symbols = ms_mg_new_part(ms_arena_default(none));
    m->parts = part;
    m->part_count = 1;
    ms_mg_folds *folds = &(*part)->folds;
    folds->functions = (ms_mg_function *)ms_arena_keep(&folds->arena, v, FUNCTIONS, sizeof *v);
    folds->function_count = FUNCTIONS;
    folds->sites = (ms_mg_site *)ms_arena_keep(&folds->arena, sites, count, sizeof *sites);
    folds->site_count = count;
    folds->size = 112;
    ms_mt_take(m, *part);
    ms_mt_finish(m);
}

static void test_rules(void)
{
    ms_mg_site sites[CALLS];
    machsym_part *part;
    ms_mg m;
    size_t row = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        ms_mg_site site = {4 + 4 * i, calls_made[i].body, calls_made[i].name, calls_made[i].target,
                           calls_made[i].caller};
        sites[i] = site;
    }
    settle(&m, &part, functions, sites, CALLS);
    CHECK_EQ(m.row_count, 7); /* three functions of A, three of B, none of C, one of D */
    for (size_t i = 0; i < m.row_count; i++)
        CHECK(m.rows[i].lo == (i < 3   ? A
                               : i < 6 ? B
                                       : D) &&
              m.rows[i].size == SIZE && m.rows[i].at == 16 * i);
    for (uint32_t i = 0; i < CALLS; i++) {
        bool is_there = row < m.call_count && m.calls[row].return_off == 4 + 4 * i;
        CHECK(is_there == (calls_made[i].want_callee != NONE));
        if (is_there)
            CHECK(m.calls[row].caller == calls_made[i].want_caller &&
                  m.calls[row].body == calls_made[i].want_body &&
                  m.calls[row].callee == calls_made[i].want_callee);
        row += is_there;
    }
    CHECK_EQ(row, m.call_count);
    ms_mg_close(&m);
}

/* A body with a function for which there was no room: its names decide nothing, entries do. Two calls that return to one
 * address in one function say nothing, in two functions both count. */
static void test_cut_rules(void)
{
    static const ms_mg_site sites[] = {{4, NONE, 2, 99, 0},   {8, A, 3, 99, 0},     {12, NONE, 2, 12, 0},
                                       {16, NONE, 5, 99, 0},  {20, NONE, 5, 99, 0}, {20, NONE, 5, 23, 0},
                                       {24, NONE, 5, 99, 12}, {24, NONE, 5, 23, 13}};
    static const ms_tw_call want[] = {{12, 0, A, 1}, {16, 0, B, 0}, {24, 1, B, 0}, {24, 2, B, 2}};
    ms_mg_function v[FUNCTIONS];
    machsym_part *part;
    ms_mg m;
    memcpy(v, functions, sizeof v);
    v[3].at = ms_TW_CUT;
    settle(&m, &part, v, sites, sizeof sites / sizeof *sites);
    CHECK_EQ(m.row_count, 7);
    CHECK(m.rows[2].lo == A && m.rows[2].at == ms_TW_CUT && m.rows[1].at == 16);
    CHECK_EQ(m.call_count, sizeof want / sizeof *want);
    for (size_t i = 0; i < m.call_count && i < sizeof want / sizeof *want; i++)
        CHECK(memcmp(&m.calls[i], &want[i], sizeof *want) == 0);
    ms_mg_close(&m);
}

/* A caller whose body has functions that the map does not tell decides nothing. */
static void test_cut_caller(void)
{
    machsym_image *image = test_open("tests/fixtures/bin/folded-arm64-all.dwarf");
    machsym_map *map = make_map(image, 100000);
    machsym_bytes bytes = machsym_map_bytes(map);
    for (int cut = 0; cut < 2; cut++) {
        machsym_stack_addr pcs[2] = {{0x100000450, false},
                                     {0x100000480, true}}; /* area_a, or area_b, which share code */
        machsym_frame frames[2 * FRAMES];
        machsym_stack_answer calls[2];
        machsym_open_desc file;
        machsym_session_desc how;
        machsym_image *made = NULL;
        machsym_session *session = NULL;
        uint8_t *copy = (uint8_t *)malloc(bytes.len);
        memcpy(copy, bytes.ptr, bytes.len);
        uint64_t at = 0;
        for (uint32_t i = 0; i < ms_rd_raw_u32(copy + 60); i++)
            at = ms_rd_raw_u32(copy + 96 + 32 * i) == ms_MAP_TWINS ? ms_rd_raw_u64(copy + 96 + 32 * i + 8)
                                                                   : at;
        while (ms_rd_raw_u32(copy + at) != 0x46c) /* that body */
            at += ms_TW_ROW_BYTES;
        if (cut)
            ms_map_store_u32(copy + at + 8, ms_TW_CUT);
        memset(&file, 0, sizeof file);
        memset(&how, 0, sizeof how);
        file.bytes.ptr = copy;
        file.bytes.len = bytes.len;
        file.flags = MACHSYM_OPEN_UNCHECKED;
        CHECK(machsym_image_open(&file, &made, NULL) == MACHSYM_OK);
        how.lines = MACHSYM_LINES_DWARF;
        how.image = made;
        CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
        machsym_session_frames_of_stack(session, pcs, 2, calls, frames, 2 * FRAMES);
        CHECK(!calls[0].is_decided && calls[0].function_count == 3);
        CHECK_EQ(calls[1].function_count, cut ? 1 : 2);
        machsym_session_close(session);
        machsym_image_close(made);
        free(copy);
    }
    machsym_map_close(map);
    machsym_image_close(image);
}

int main(void)
{
    test_begin();
    test_rules();
    test_end("rules");
    test_begin();
    test_cut_rules();
    test_end("a cut body");
    test_begin();
    test_cut_caller();
    test_end("a cut caller");
    test_begin();
    test_room("tests/fixtures/bin/folded-arm64-all.dwarf", 7);
    test_end("all");
    test_begin();
    test_room("tests/fixtures/bin/folded-arm64-cpp.dwarf", 101);
    test_end("C++");
    return test_done();
}
