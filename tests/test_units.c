/* The room units: headers of every version and type, and which unit covers an address, by .debug_aranges in
 * both conventions, by the units' own ranges, and by the functions of units that state none. */
#define TEST_ROOM <rooms/src/answer/session.h>
#include "dwarf.h"

enum { CODE_UNIT = 1, CODE_SILENT, CODE_FUNCTION, CODE_PARTIAL, CODE_TYPE, CODE_SKELETON, CODE_IMPORT };

/* Abbreviations for all that these tests write. */
static void begin(program *p)
{
    memset(p, 0, sizeof *p);
    ABBREV(p, CODE_UNIT, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, CODE_SILENT, TAG_compile_unit, 1, AT_name, FORM_string);
    ABBREV(p, CODE_FUNCTION, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, CODE_PARTIAL, TAG_partial_unit, 1, AT_name, FORM_string);
    ABBREV(p, CODE_TYPE, TAG_type_unit, 1, AT_name, FORM_string);
    ABBREV(p, CODE_SKELETON, TAG_skeleton_unit, 0, AT_name, FORM_string);
    ABBREV(p, CODE_IMPORT, TAG_imported_unit, 0, 0x18, FORM_ref_addr);
    abbrev_end(p);
}

static void put_function(program *p, const char *name, uint64_t lo, uint32_t size)
{
    die(p, CODE_FUNCTION);
    put_str(&p->info, name);
    put_addr(p, &p->info, lo);
    put32(&p->info, size);
}

/* A unit that states [lo, lo + size) and has one function there. Returns the unit's offset. */
static size_t put_unit(program *p, encoding enc, const char *name, uint64_t lo, uint32_t size)
{
    unit_begin(p, enc, 1, 0);
    die(p, CODE_UNIT);
    put_addr(p, &p->info, lo);
    put32(&p->info, size);
    put_function(p, name, lo, size);
    put8(&p->info, 0);
    unit_end(p);
    return p->unit_at;
}

/* A unit that states no range. */
static size_t put_silent(program *p, encoding enc, const char *name, uint64_t lo, uint32_t size)
{
    unit_begin(p, enc, 1, 0);
    die(p, CODE_SILENT);
    put_str(&p->info, "silent.c");
    put_function(p, name, lo, size);
    put8(&p->info, 0);
    unit_end(p);
    return p->unit_at;
}

/* A set of .debug_aranges with one tuple. */
static void put_set(program *p, uint64_t info_off, uint64_t lo, uint64_t size)
{
    bytes *b = &p->aranges;
    size_t start = b->len;
    size_t at = begin_length(p, b);
    put16(b, 2);
    put_offset(p, b, info_off);
    put8(b, p->enc.addr_size);
    put8(b, 0);
    while ((b->len - start) % (2 * p->enc.addr_size) != 0)
        put8(b, 0);
    put_addr(p, b, lo);
    put_addr(p, b, size);
    put_addr(p, b, 0);
    put_addr(p, b, 0);
    end_length(p, b, at);
}

static machsym_unit_source source_at(lookup *l, uint64_t addr)
{
    machsym_explanation e;
    machsym_session_explain_addr(l->session, addr, &e);
    return e.unit_source;
}

static machsym_session_counts info_of(lookup *l)
{
    machsym_session_counts info;
    machsym_session_count_all(l->session, &info);
    return info;
}

/* Every version and format, units of several encodings side by side. */
static void test_headers(void)
{
    static const encoding encodings[] = {{2, 8, 4}, {3, 8, 4}, {3, 8, 8}, {4, 8, 4},
                                         {4, 8, 8}, {5, 8, 4}, {5, 8, 8}, {5, 4, 4}};
    enum { COUNT = sizeof encodings / sizeof encodings[0] };
    program p;
    lookup l;
    char name[] = "f0";
    begin(&p);
    for (unsigned i = 0; i < COUNT; i++) {
        name[1] = (char)('0' + i);
        put_unit(&p, encodings[i], name, 0x1000 + 0x100 * i, 0x80);
    }
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned i = 0; i < COUNT; i++) {
        name[1] = (char)('0' + i);
        CHECK_STR(name_at(&l, 0x1000 + 0x100 * i), name);
        CHECK_STR(name_at(&l, 0x107f + 0x100 * i), name);
        CHECK_EQ(ask(&l, 0x1080 + 0x100 * i), 0);
    }
    machsym_session_counts info = info_of(&l);
    CHECK_EQ(info.unit_count, COUNT);
    CHECK_EQ(info.version_count[2], 1);
    CHECK_EQ(info.version_count[3], 2);
    CHECK_EQ(info.version_count[4], 2);
    CHECK_EQ(info.version_count[5], 3);
    CHECK_EQ(info.damaged_units, 0);
    CHECK_EQ(info.function_count, COUNT);
    lookup_close(&l);
    program_free(&p);
}

/* Units that hold no code: headers only, partial, type and skeleton ones, an imported unit. None does
 * harm. */
static void test_kinds(void)
{
    program p;
    lookup l;
    begin(&p);
    put_unit(&p, dwarf5, "before", 0x1000, 0x10);
    unit_begin(&p, dwarf4, 1, 0); /* a header, and nothing else */
    unit_end(&p);
    unit_begin(&p, dwarf5, 2, 0);
    die(&p, CODE_TYPE);
    put_str(&p.info, "type");
    put8(&p.info, 0);
    unit_end(&p);
    unit_begin(&p, dwarf5, 3, 0);
    size_t partial = die(&p, CODE_PARTIAL);
    put_str(&p.info, "partial");
    put_function(&p, "in partial", 0x1100, 0x10);
    put8(&p.info, 0);
    unit_end(&p);
    unit_begin(&p, dwarf5, 4, 0);
    die(&p, CODE_SKELETON);
    put_str(&p.info, "skeleton");
    unit_end(&p);
    unit_begin(&p, dwarf4, 1, 0);
    die(&p, CODE_UNIT);
    put64(&p.info, 0x1200);
    put32(&p.info, 0x10);
    die(&p, CODE_IMPORT);
    put32(&p.info, partial);
    put_function(&p, "after", 0x1200, 0x10);
    put8(&p.info, 0);
    unit_end(&p);
    unit_begin(&p, dwarf4, 1, 0); /* a unit whose only entry is a null one */
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1008), "before");
    CHECK_STR(name_at(&l, 0x1108), "in partial");
    CHECK_STR(name_at(&l, 0x1208), "after");
    machsym_session_counts info = info_of(&l);
    CHECK_EQ(info.unit_count, 7);
    CHECK_EQ(info.damaged_units, 0);
    CHECK_EQ(info.units_without_code, 4);
    lookup_close(&l);
    program_free(&p);
}

/* The headers of all types of units (DWARF5 7.5.1): the first entry stands where the type says. */
static void test_types(void)
{
    static const encoding encodings[] = {{5, 8, 4}, {5, 8, 8}};
    program p;
    lookup l;
    char name[] = "f00";
    begin(&p);
    for (unsigned i = 0; i < 12; i++) {
        unit_begin(&p, encodings[i / 6], i % 6 + 1, 0);
        die(&p, CODE_PARTIAL);
        put_str(&p.info, "unit");
        name[1] = (char)('0' + i / 6);
        name[2] = (char)('1' + i % 6);
        put_function(&p, name, 0x1000 + 0x100 * i, 0x10);
        put8(&p.info, 0);
        unit_end(&p);
    }
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned i = 0; i < 12; i++) {
        name[1] = (char)('0' + i / 6);
        name[2] = (char)('1' + i % 6);
        CHECK_STR(name_at(&l, 0x1008 + 0x100 * i), name);
    }
    lookup_close(&l);
    program_free(&p);
}

/* A set names the unit's header, or its first entry: both lead to the unit. The set is believed although the
 * unit states no range. */
static void test_aranges(encoding enc, unsigned convention)
{
    program p;
    lookup l;
    size_t head = enc.offset_size == 8 ? (enc.version >= 5 ? 24 : 23) : (enc.version >= 5 ? 12 : 11);
    begin(&p);
    size_t first = put_silent(&p, enc, "first", 0x1000, 0x100);
    size_t second = put_silent(&p, enc, "second", 0x1100, 0x100);
    put_set(&p, second + convention * head, 0x1100, 0x100);
    put_set(&p, first + convention * head, 0x1000, 0x100);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned round = 0; round < 8; round++) { /* the first few lookups scan, later ones search */
        CHECK_STR(name_at(&l, 0x1000 + round), "first");
        CHECK_STR(name_at(&l, 0x1100 + round), "second");
    }
    CHECK_EQ(source_at(&l, 0x1000), MACHSYM_UNIT_ARANGES);
    CHECK_EQ(source_at(&l, 0x11ff), MACHSYM_UNIT_ARANGES);
    CHECK_EQ(source_at(&l, 0x1200), MACHSYM_UNIT_NONE);
    CHECK_EQ(info_of(&l).arange_set_count, 2);
    lookup_close(&l);
    program_free(&p);
}

/* Sets are hints: where they lie, or have no word, the units' own ranges answer, then the functions. */
static void test_fallback(void)
{
    program p;
    lookup l;
    begin(&p);
    size_t first = put_unit(&p, dwarf4, "first", 0x1000, 0x100);
    put_unit(&p, dwarf4, "second", 0x1100, 0x100);
    put_silent(&p, dwarf4, "third", 0x1200, 0x100);
    put_silent(&p, dwarf5, "fourth", 0x1300, 0x100);
    put_set(&p, first, 0x1000, 0x180);          /* claims half of the second */
    put_set(&p, 0xfffff, 0x1000, 0x1000);       /* belongs to no unit */
    put_set(&p, first, UINT64_MAX - 5, 0x1000); /* wraps */
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned round = 0; round < 6; round++) {
        CHECK_STR(name_at(&l, 0x1000), "first");
        CHECK_STR(name_at(&l, 0x1110), "second");
        CHECK_STR(name_at(&l, 0x11ff), "second");
        CHECK_STR(name_at(&l, 0x1210), "third");
        CHECK_STR(name_at(&l, 0x13ff), "fourth");
        CHECK_EQ(ask(&l, 0x1400), 0);
    }
    CHECK_EQ(source_at(&l, 0x1000), MACHSYM_UNIT_ARANGES);
    CHECK_EQ(source_at(&l, 0x1110), MACHSYM_UNIT_RANGES);
    CHECK_EQ(source_at(&l, 0x11f0), MACHSYM_UNIT_RANGES);
    CHECK_EQ(source_at(&l, 0x1210), MACHSYM_UNIT_FUNCTIONS);
    CHECK_EQ(info_of(&l).units_without_ranges, 2);
    lookup_close(&l);
    program_free(&p);
}

/* Of units that claim the same code, the first has it; the claim of a unit that has no function there costs
 * nothing. */
static void test_overlap(void)
{
    program p;
    lookup l;
    begin(&p);
    put_unit(&p, dwarf4, "first", 0x1000, 0x100);
    put_unit(&p, dwarf4, "second", 0x1080, 0x100);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1080), "first");
    CHECK_STR(name_at(&l, 0x1100), "second");
    lookup_close(&l);
    program_free(&p);
}

static machsym_explanation explain(lookup *l, uint64_t addr)
{
    machsym_explanation e;
    machsym_session_explain_addr(l->session, addr, &e);
    return e;
}

/* A unit that states [lo, lo + size) and has a function of 16 bytes at its start. */
static size_t put_hollow(program *p, const char *name, uint64_t lo, uint32_t size)
{
    unit_begin(p, dwarf4, 1, 0);
    die(p, CODE_UNIT);
    put_addr(p, &p->info, lo);
    put32(&p->info, size);
    put_function(p, name, lo, 16);
    put8(&p->info, 0);
    unit_end(p);
    return p->unit_at;
}

/* Units that claim the same code, where the first has no function: the next one that has is asked, cold and
 * warm, by .debug_aranges and without, in maps too; and the explanation says so. */
static void test_contested(unsigned aranges)
{
    static const uint32_t flags[] = {0, MACHSYM_SESSION_INDEX};
    for (unsigned i = 0; i < 2; i++) {
        program p;
        lookup l;
        begin(&p);
        size_t units[4];
        units[0] = put_hollow(&p, "first", 0x1000, 0x400);
        units[1] = put_hollow(&p, "second", 0x1100, 0x300);
        units[2] = put_unit(&p, dwarf4, "third", 0x1180, 0x100);
        units[3] = put_unit(&p, dwarf4, "fourth", 0x1200, 0x100);
        for (unsigned j = 0; j < 4 && aranges != 0; j++)
            put_set(&p, units[j], 0x1000 + 0x100 * (j < 2 ? j : j - 1), j == 0 ? 0x400 : 0x200);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, flags[i]);
        CHECK_STR(name_at(&l, 0x1100), "second");
        CHECK_STR(name_at(&l, 0x1180), "third");
        CHECK_STR(name_at(&l, 0x127f), "third"); /* the first of two that have it */
        CHECK_STR(name_at(&l, 0x1280), "fourth");
        CHECK_STR(name_at(&l, 0x1000), "first");
        CHECK_EQ(ask(&l, 0x1300), 0);
        CHECK_EQ(source_at(&l, 0x1180), MACHSYM_UNIT_FUNCTIONS);
        CHECK_EQ(explain(&l, 0x1000).rival_count, 0);
        CHECK_EQ(explain(&l, 0x1190).rival_count, 0);
        CHECK_EQ(explain(&l, 0x1240).rival_count, 1);
        CHECK_EQ(explain(&l, 0x1300).rival_count, 0);
        machsym_plan_desc desc;
        machsym_map *map = NULL;
        machsym_map_frame found;
        machsym_frame frame;
        char room[64];
        memset(&desc, 0, sizeof desc);
        desc.image = l.image;
        CHECK_EQ(machsym_map_build(&desc, &map, NULL), MACHSYM_OK);
        CHECK_EQ(machsym_map_frames_at_addr(map, 0x1180, &found, 1), 1);
        machsym_map_names(map, &found, 1, &frame, room, sizeof room);
        CHECK_STR(frame.name, "third");
        CHECK_EQ(machsym_map_frames_at_addr(map, 0x1300, &found, 1), 0);
        machsym_map_close(map);
        lookup_close(&l);
        program_free(&p);
    }
}

/* With hardly any cache, units are dropped, but for the few that one lookup needs: the answers stay. The unit
 * decoded last stays too, as long as addresses lie in it. */
static void test_small_cache(void)
{
    enum { UNITS = 8 };
    program p;
    machsym_session_desc desc;
    machsym_session *session = NULL;
    machsym_frame frame;
    begin(&p);
    for (unsigned i = 0; i < UNITS; i++)
        put_unit(&p, dwarf4, "unit", 0x1000 + 0x100 * i, 0x100);
    machsym_image *image = program_open(&p);
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.cache_limit = 1;
    CHECK_EQ(machsym_session_open(&desc, &session, NULL), MACHSYM_OK);
    for (unsigned i = 0; i < 3 * UNITS; i++) {
        CHECK_EQ(machsym_session_frames_at_addr(session, 0x1010 + 0x100 * (i % UNITS), &frame, 1), 1);
        CHECK_EQ(frame.function_start, 0x1000 + 0x100 * (i % UNITS));
        CHECK(session->decoded_count >= 1 && session->decoded_count <= MACHSYM_KEPT_UNITS + 1);
        uint64_t seen = session->functions_seen;
        CHECK_EQ(machsym_session_frames_at_addr(session, 0x1020 + 0x100 * (i % UNITS), &frame, 1), 1);
        CHECK_EQ(session->functions_seen, seen);
    }
    machsym_session_close(session);
    machsym_image_close(image);
    program_free(&p);
}

/* Damage costs the unit, not its neighbours, as long as its length holds. */
static void test_damage(void)
{
    program p;
    lookup l;
    begin(&p);
    put_unit(&p, dwarf4, "first", 0x1000, 0x100);
    size_t bad_version = put_unit(&p, dwarf4, "lost", 0x1100, 0x100);
    size_t bad_addr_size = put_unit(&p, dwarf4, "lost", 0x1200, 0x100);
    size_t bad_abbrev = put_unit(&p, dwarf4, "lost", 0x1300, 0x100);
    put_unit(&p, dwarf4, "last", 0x1400, 0x100);
    size_t cut = put_unit(&p, dwarf4, "cut", 0x1500, 0x100);
    patch(&p.info, bad_version + 4, 6, 2);
    patch(&p.info, bad_addr_size + 10, 3, 1);
    patch(&p.info, bad_abbrev + 6, 0x10000, 4);
    patch(&p.info, cut, 0x1000, 4); /* longer than the section */
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1000), "first");
    CHECK_EQ(ask(&l, 0x1100), 0);
    CHECK_EQ(ask(&l, 0x1200), 0);
    CHECK_EQ(ask(&l, 0x1300), 0);
    CHECK_STR(name_at(&l, 0x1400), "last");
    machsym_session_counts info = info_of(&l);
    CHECK_EQ(info.damaged_units, 4);
    CHECK_EQ(info.first_damage_offset, bad_version);
    machsym_image_info image_info;
    CHECK(machsym_image_count_damage(l.image, &image_info));
    CHECK(image_info.damage_count >= 3);
    CHECK_TEXT(image_info.damage.where, ".debug_info");
    CHECK_EQ(image_info.damage.offset, bad_version);
    CHECK(image_info.damage.is_cut_short); /* by the last unit, not by the first damage */
    lookup_close(&l);
    program_free(&p);

    begin(&p); /* a length that is reserved: nothing after it can be found */
    put_unit(&p, dwarf4, "first", 0x1000, 0x100);
    put32(&p.info, 0xfffffff5u);
    put_zeros(&p.info, 100);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1000), "first");
    CHECK(machsym_image_count_damage(l.image, &image_info));
    CHECK_EQ(image_info.damage_count, 1);
    lookup_close(&l);
    program_free(&p);
}

/* One unit's damaged table offset, which points into the table of the others, costs that unit alone. */
static void test_table_offset(void)
{
    for (unsigned bit = 0; bit < 32; bit++) {
        program p;
        lookup l;
        begin(&p);
        for (unsigned i = 0; i < 3; i++)
            put_unit(&p, dwarf4, "whole", 0x1000 + 0x100 * i, 0x100);
        size_t damaged = put_unit(&p, dwarf4, "damaged", 0x1300, 0x100);
        patch(&p.info, damaged + 6, (uint32_t)1 << bit, 4);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        for (unsigned i = 0; i < 3; i++)
            CHECK_STR(name_at(&l, 0x1010 + 0x100 * i), "whole");
        lookup_close(&l);
        program_free(&p);
    }
}

/* A damaged length costs nothing: the next header is found, and the unit ends there. */
static void test_lengths(void)
{
    static const uint64_t lengths[] = {0, 3, 7, 11, 30, 60, 61, 150, 0x7fffffff, 0xfffffff5u, 0xffffffffu};
    for (unsigned i = 0; i < 3 * sizeof lengths / sizeof lengths[0]; i++) {
        program p;
        lookup l;
        size_t units[3];
        begin(&p);
        for (unsigned j = 0; j < 3; j++)
            units[j] = put_unit(&p, j == 1 ? dwarf5 : dwarf4, "whole", 0x1000 + 0x100 * j, 0x100);
        patch(&p.info, units[i % 3], lengths[i / 3], 4);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        for (unsigned j = 0; j < 3; j++) {
            if (j != i % 3)
                CHECK_STR(name_at(&l, 0x1010 + 0x100 * j), "whole");
        }
        CHECK(info_of(&l).unit_count <= 3);
        lookup_close(&l);
        program_free(&p);
    }
}

/* The file says where code is: ranges elsewhere are dead, whatever the unit claims. */
static void test_dead_units(void)
{
    program p;
    lookup l;
    begin(&p);
    put_unit(&p, dwarf4, "dead", 0, 0x100);
    put_unit(&p, dwarf4, "dead too", 0x2000, 0x100);
    put_unit(&p, dwarf4, "half", 0x1f80, 0x100);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0), 0);
    CHECK_EQ(ask(&l, 0x2000), 0);
    CHECK_STR(name_at(&l, 0x1fff), "half");
    CHECK_EQ(l.v[0].function_size, 0x80);
    lookup_close(&l);
    program_free(&p);
}

/* The committed files of compilers, by each way to find a unit. */
static void test_fixtures(void)
{
    static const struct {
        const char *path;
        machsym_unit_source source;
    } rows[] = {
        {"inline-x86_64-d4-22.dwarf", MACHSYM_UNIT_ARANGES},
        {"inline-x86_64-d4-aranges-die.dwarf", MACHSYM_UNIT_ARANGES},
        {"inline-x86_64-d4-noaranges.dwarf", MACHSYM_UNIT_RANGES},
        {"inline-x86_64-d4-headers.dwarf", MACHSYM_UNIT_ARANGES},
    };
    machsym_frame want[16];
    size_t want_count = 0;
    uint64_t addr = 0;
    machsym_image *first = NULL;
    machsym_session *first_session = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[256];
        machsym_frame frames[16];
        machsym_explanation e;
        snprintf(path, sizeof path, "tests/fixtures/bin/%s", rows[i].path);
        machsym_image *image = test_open(path);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_cursor at = {0, 0};
        machsym_function function;
        if (i == 0) { /* the middle of the function with most frames in the first file is asked of all */
            while (machsym_session_next_function(session, &at, &function)) {
                for (uint64_t a = function.lo; a < function.hi; a++) {
                    size_t count = machsym_session_frames_at_addr(session, a, frames, 16);
                    if (count > want_count) {
                        want_count = count;
                        addr = a;
                        memcpy(want, frames, sizeof want);
                    }
                }
            }
            first = image;
            first_session = session;
            CHECK(want_count >= 6);
        }
        CHECK_EQ(machsym_session_frames_at_addr(session, addr, frames, 16), want_count);
        for (size_t j = 0; j < want_count; j++) {
            CHECK(test_same(frames[j].name, want[j].name));
            CHECK_EQ(frames[j].line, want[j].line);
        }
        machsym_session_explain_addr(session, addr, &e);
        CHECK_EQ(e.unit_source, rows[i].source);
        if (i > 0) {
            machsym_session_close(session);
            machsym_image_close(image);
        }
    }
    machsym_session_close(first_session);
    machsym_image_close(first);
}

/* Pieces are listed as they came, but for empty ones, which change nothing: before the first, and when the array
 * is full. Each array has a chunk of its own here, so it moves when it grows. */
static void test_pieces(void)
{
    ms_arena arena = ms_arena_make(ms_arena_default((machsym_allocator){NULL, NULL, NULL}));
    ms_cu_pieces pieces = {&arena, NULL, 0, 0};
    ms_cu_add_piece(&pieces, 5, 5, 9);
    CHECK_EQ(pieces.count, 0);
    for (size_t i = 0; i < 100; i++) {
        ms_cu_add_piece(&pieces, 10 * i, 10 * i + 5, i);
        if (pieces.count == pieces.cap) { /* else the array would grow where it stands */
            ms_arena_alloc(&arena, 1, 1);
            ms_cu_add_piece(&pieces, 7, 6, 9);
            CHECK_EQ(pieces.count, pieces.cap);
        }
    }
    CHECK_EQ(pieces.count, 100);
    for (size_t i = 0; i < pieces.count; i++) {
        CHECK_EQ(pieces.v[i].lo, 10 * i);
        CHECK_EQ(pieces.v[i].owner, i);
    }
    ms_arena_free(&arena);
}

/* Tuples of .debug_aranges, of both sizes of addresses: those that tell of code, up to one that is 0. */
static void test_tuples(void)
{
    static const uint64_t tuples[][2] = {
        {0x1000, 0x10},      {0x2000, 0}, {0, 0x20}, {UINT64_MAX, 2},
        {UINT64_MAX - 1, 1}, {0x3000, 1}, {0, 0},    {0x4000, 1},
    };
    static const ms_range want[] = {
        {0x1000, 0x1010}, {0, 0x20}, {UINT64_MAX - 1, UINT64_MAX}, {0x3000, 0x3001}};
    static const ms_range want_4[] = {
        {0x1000, 0x1010},
        {0, 0x20},
        {UINT32_MAX, (uint64_t)UINT32_MAX + 2}, /* no address of 32 bits ends there */
        {UINT32_MAX - 1, UINT32_MAX},
        {0x3000, 0x3001}};
    for (unsigned size = 0; size < 10; size++) {
        bytes b = {NULL, 0, 0};
        ms_cu_set set;
        ms_range range;
        size_t count = 0;
        size_t pad = size == 8 || size == 4 ? (2 * size - 12 % (2 * size)) % (2 * size) : 0;
        put32(&b, 8 + pad + sizeof tuples / sizeof tuples[0] * 2 * size);
        put16(&b, 2);
        put32(&b, 0);
        put8(&b, size);
        put8(&b, 0);
        put_uint(&b, 0, (unsigned)pad);
        for (size_t i = 0; i < sizeof tuples / sizeof tuples[0]; i++) {
            put_uint(&b, tuples[i][0], size);
            put_uint(&b, tuples[i][1], size);
        }
        ms_span span = {b.v, b.len};
        ms_rd rd = ms_rd_make(span);
        CHECK(ms_cu_next_set(&rd, &set));
        const ms_range *expected = size == 4 ? want_4 : want;
        while (ms_cu_next_tuple(&set, &range)) {
            CHECK_EQ(range.lo, expected[count].lo);
            CHECK_EQ(range.hi, expected[count].hi);
            count++;
        }
        CHECK_EQ(count, size == 8   ? sizeof want / sizeof want[0]
                        : size == 4 ? sizeof want_4 / sizeof want_4[0]
                                    : 0);
        free(b.v);
    }
}

int main(void)
{
    test_tuples();
    test_types();
    static const encoding encodings[] = {{2, 8, 4}, {4, 8, 4}, {4, 4, 4}, {4, 8, 8}, {5, 8, 4}, {5, 8, 8}};
    test_headers();
    test_kinds();
    for (unsigned i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        test_aranges(encodings[i], 0);
        test_aranges(encodings[i], 1);
    }
    test_fallback();
    test_overlap();
    test_contested(0);
    test_contested(1);
    test_small_cache();
    test_damage();
    test_table_offset();
    test_lengths();
    test_dead_units();
    test_pieces();
    test_fixtures();
    return test_done();
}
