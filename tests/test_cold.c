/* One address of an image that was not asked before. The address's unit is found by the unit's own header and
 * by .debug_aranges, and the answer equals that of a session that has listed all units. This holds for sound
 * files, for damaged ones, and for those made to mislead. */
#define TEST_ROOM <rooms/src/answer/session.h>
#include "dwarf.h"
#include "failer.h"

enum { CODE_UNIT = 1, CODE_FUNCTION, CODE_PARTIAL, CODE_LINKED, ROOM = 64 };

/* Abbreviations for all that these tests write. */
static void begin(program *p)
{
    memset(p, 0, sizeof *p);
    ABBREV(p, CODE_UNIT, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, CODE_FUNCTION, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, CODE_PARTIAL, TAG_partial_unit, 1, AT_name, FORM_string);
    ABBREV(p, CODE_LINKED, TAG_subprogram, 0, AT_specification, FORM_ref_addr, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4);
    abbrev_end(p);
}

static void begin_unit(program *p, uint64_t lo, uint32_t size)
{
    unit_begin(p, dwarf4, 1, 0);
    die(p, CODE_UNIT);
    put_addr(p, &p->info, lo);
    put32(&p->info, size);
}

static size_t end_unit(program *p)
{
    put8(&p->info, 0);
    unit_end(p);
    return p->unit_at;
}

/* Returns the entry's offset. */
static size_t put_function(program *p, const char *name, uint64_t lo, uint32_t size)
{
    size_t at = die(p, CODE_FUNCTION);
    put_str(&p->info, name);
    put_addr(p, &p->info, lo);
    put32(&p->info, size);
    return at;
}

static size_t put_unit(program *p, const char *name, uint64_t lo, uint32_t size)
{
    begin_unit(p, lo, size);
    put_function(p, name, lo, size);
    return end_unit(p);
}

/* Units of 256 bytes of code each, one after the other from 0x1000 on. */
static void put_whole_units(program *p, size_t *units, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        units[i] = put_unit(p, "whole", 0x1000 + 0x100 * i, 0x100);
}

/* A set of .debug_aranges with one tuple; none if size is 0. */
static void put_set(program *p, uint64_t info_off, uint64_t lo, uint64_t size)
{
    bytes *b = &p->aranges;
    p->enc = dwarf4;
    size_t at = begin_length(p, b);
    put16(b, 2);
    put32(b, info_off);
    put8(b, 8);
    put8(b, 0);
    put32(b, 0);
    if (size != 0) {
        put64(b, lo);
        put64(b, size);
    }
    put64(b, 0);
    put64(b, 0);
    end_length(p, b, at);
}

/* ---- Cold and warm ---- */

static bool same_path(const machsym_path *a, const machsym_path *b)
{
    return test_same(a->comp_dir, b->comp_dir) && test_same(a->dir, b->dir) && test_same(a->name, b->name);
}

static bool same_frame(const machsym_frame *a, const machsym_frame *b)
{
    return test_same(a->linkage_name, b->linkage_name) && test_same(a->name, b->name) &&
           same_path(&a->file, &b->file) && a->line == b->line && a->column == b->column &&
           a->function_start == b->function_start && a->function_size == b->function_size &&
           a->die_offset == b->die_offset && a->is_inline == b->is_inline &&
           a->name_source == b->name_source && a->line_source == b->line_source &&
           a->lacks_memory == b->lacks_memory;
}

static bool same_frames(machsym_session *a, machsym_session *b, uint64_t addr)
{
    machsym_frame of_a[ROOM];
    machsym_frame of_b[ROOM];
    size_t count = machsym_session_frames_at_addr(a, addr, of_a, ROOM);
    bool same = machsym_session_frames_at_addr(b, addr, of_b, ROOM) == count;
    for (size_t i = 0; same && i < count && i < ROOM; i++)
        same = same_frame(&of_a[i], &of_b[i]);
    return same;
}

static bool same_explanation(machsym_session *a, machsym_session *b, uint64_t addr)
{
    machsym_explanation of_a;
    machsym_explanation of_b;
    machsym_session_explain_addr(a, addr, &of_a);
    machsym_session_explain_addr(b, addr, &of_b);
    return of_a.unit_source == of_b.unit_source && of_a.unit_offset == of_b.unit_offset &&
           of_a.rival_count == of_b.rival_count && test_same(of_a.unit_name, of_b.unit_name) &&
           of_a.row_count == of_b.row_count && of_a.row_used == of_b.row_used &&
           of_a.is_damaged == of_b.is_damaged && of_a.near_kind == of_b.near_kind &&
           of_a.near_frame == of_b.near_frame && of_a.near_addr == of_b.near_addr;
}

static bool same_functions(machsym_session *a, machsym_session *b)
{
    machsym_cursor at_a = {0, 0};
    machsym_cursor at_b = {0, 0};
    machsym_function of_a;
    machsym_function of_b;
    while (machsym_session_next_function(a, &at_a, &of_a)) {
        if (!machsym_session_next_function(b, &at_b, &of_b) || of_a.lo != of_b.lo || of_a.hi != of_b.hi ||
            of_a.unit_offset != of_b.unit_offset || !test_same(of_a.name, of_b.name))
            return false;
    }
    return !machsym_session_next_function(b, &at_b, &of_b);
}

/* How often units were found without a list. */
typedef struct tally {
    unsigned asked;
    unsigned brief;
    unsigned wrong;
} tally;

/* Asks a new image for one address, and then for others, by way of what else may follow. */
static void compare_one(const test_file *file, machsym_session *warm, const uint64_t *addrs, size_t count,
                        size_t which, tally *t)
{
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    machsym_session *cold = test_session(image, warm->lines, 0);
    uint64_t addr = addrs[which];
    uint64_t other = addrs[(which + 1) % count];
    t->asked++;
    t->wrong += !same_frames(cold, warm, addr);
    t->brief += cold->env.brief != NULL && cold->env.brief[0].end != 0 && !ms_sec_has_units(image->sections);
    t->wrong += !same_frames(cold, warm, addr);
    if (which % 3 == 0)
        t->wrong += !same_frames(cold, warm, other);
    else if (which % 3 == 1)
        t->wrong += !same_explanation(cold, warm, addr);
    else
        t->wrong += !same_functions(cold, warm);
    t->wrong += cold->env.brief != NULL && !cold->has_units && which % 3 != 0;
    t->wrong += !same_frames(cold, warm, addr) + !same_frames(cold, warm, other);
    machsym_session_close(cold);
    machsym_image_close(image);
}

static void compare(const test_file *file, const uint64_t *addrs, size_t count, tally *t)
{
    machsym_image_info info;
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    CHECK(machsym_image_count_damage(image, &info)); /* lists the units */
    machsym_session *warm = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session *people = test_session(image, MACHSYM_LINES_PEOPLE, 0);
    for (size_t i = 0; i < count; i++) {
        compare_one(file, warm, addrs, count, i, t);
        compare_one(file, people, addrs, count, i, t);
    }
    machsym_session_close(warm);
    machsym_session_close(people);
    machsym_image_close(image);
}

/* ---- Compilers' files, sound and damaged ---- */

/* Where functions begin and end, and what lies between; returns how many. */
static size_t list_addresses(const test_file *file, uint64_t *addrs, size_t cap)
{
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, MACHSYM_SESSION_INDEX);
    machsym_cursor at = {0, 0};
    machsym_function function;
    size_t count = 0;
    while (count + 3 <= cap && machsym_session_next_function(session, &at, &function)) {
        addrs[count++] = function.lo;
        addrs[count++] = function.lo + (function.hi - function.lo) / 2;
        addrs[count++] = function.hi;
    }
    machsym_session_close(session);
    machsym_image_close(image);
    return count;
}

/* A number that looks like chance, and is the same in every run. */
static uint32_t next_number(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* The parts of a file that say where units begin. */
typedef struct place {
    size_t off;
    size_t len;
} place;

static size_t list_places(const test_file *file, place *places, size_t cap)
{
    static const char *const names[] = {"__debug_info", "__debug_abbrev", "__debug_aranges", "__debug_names",
                                        "__apple_names"};
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    machsym_cursor at = {0, 0};
    machsym_section section;
    size_t count = 0;
    while (machsym_image_next_section(image, &at, &section)) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (!test_same(section.name, test_str(names[i])) || section.bytes.len == 0 || count == cap)
                continue;
            places[count].off = (size_t)section.offset;
            places[count++].len = section.bytes.len;
        }
    }
    size_t info = 0;
    while (info < count && places[info].off == 0)
        info++;
    bool oom = false;
    const ms_sec_units *units = ms_sec_units_of(image->sections, &oom);
    for (size_t i = 0; units != NULL && i < units->count && count < cap && count > 0; i++) {
        places[count].off = places[info].off + (size_t)units->v[i].off; /* headers */
        places[count++].len = 11;
    }
    machsym_image_close(image);
    return count;
}

static void damage(const test_file *file, const place *places, size_t count, uint32_t *seed)
{
    for (unsigned changes = 1 + next_number(seed) % 3; changes > 0; changes--) {
        const place *at = &places[next_number(seed) % count];
        uint8_t *byte = (uint8_t *)file->ptr + at->off + next_number(seed) % at->len;
        switch (next_number(seed) % 4) {
        case 0: *byte = (uint8_t)next_number(seed); break;
        case 1: *byte ^= (uint8_t)(1u << next_number(seed) % 8); break;
        case 2: *byte = 0; break;
        default: *byte = (uint8_t)(*byte + 1); break;
        }
    }
}

/* The bytes as they are, and with a few of them changed, again and again. */
static void test_bytes(const test_file *file, const char *what, bool is_brief)
{
    test_begin();
    uint64_t addrs[24];
    place places[40];
    tally sound = {0, 0, 0};
    tally damaged = {0, 0, 0};
    uint32_t seed = 1;
    uint8_t *copy = (uint8_t *)malloc(file->len);
    test_file changed = {copy, file->len};
    memcpy(copy, file->ptr, file->len);
    size_t count = list_addresses(file, addrs, 24);
    size_t place_count = list_places(file, places, 40);
    compare(file, addrs, count, &sound);
    CHECK(count > 0 && place_count > 2);
    CHECK_EQ(sound.wrong, 0);
    CHECK_EQ(sound.brief > 0, is_brief);
    test_end(what);
    test_begin();
    for (unsigned round = test_is_quick() ? 40 : 400; round > 0; round--) {
        damage(&changed, places, place_count, &seed);
        compare(&changed, addrs, count, &damaged);
        if (round % 3 == 0) /* so that damage adds up */
            memcpy(copy, file->ptr, file->len);
    }
    CHECK_EQ(damaged.wrong, 0);
    CHECK_EQ(damaged.brief > 0, is_brief);
    if (damaged.wrong > 0)
        printf("of %u addresses of damaged files\n", damaged.asked);
    test_end(what);
    free(copy);
}

static void test_file_of(const char *name, bool is_brief)
{
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    test_file file = test_read(path);
    test_bytes(&file, name, is_brief);
    free((void *)file.ptr);
}

/* Eight units. The functions of four units take their names from the functions of the other four. One unit
 * has two sets. */
static void test_linked_units(void)
{
    program p;
    size_t named[4];
    begin(&p);
    for (unsigned i = 0; i < 4; i++) {
        begin_unit(&p, 0x1000 + 0x10 * i, 0x10);
        named[i] = put_function(&p, "named", 0x1000 + 0x10 * i, 0x10);
        put_set(&p, end_unit(&p), 0x1000 + 0x10 * i, 0x10);
    }
    for (unsigned i = 4; i < 8; i++) {
        begin_unit(&p, 0x1000 + 0x10 * i, 0x10);
        die(&p, CODE_LINKED);
        put32(&p.info, named[7 - i]);
        put_addr(&p, &p.info, 0x1000 + 0x10 * i);
        put32(&p.info, 0x10);
        put_set(&p, end_unit(&p), 0x1000 + 0x10 * i, 0x10);
    }
    put_set(&p, p.unit_at, 0x1800, 0x10);
    machsym_image_close(program_open(&p));
    test_file file = {p.file.v, p.file.len};
    test_bytes(&file, "linked units", true);
    program_free(&p);
}

/* ---- What sets state ---- */

/* Whether the session has found units without a list, since it was asked for nothing but one address. */
static bool is_brief(const lookup *l)
{
    return l->session->env.brief != NULL && !ms_sec_has_units(l->image->sections);
}

static size_t count_found(const lookup *l)
{
    size_t count = 0;
    while (count < ms_CU_BRIEF && l->session->env.brief[count].end != 0)
        count++;
    return count;
}

/* One address reads its unit's header, that of the next unit and that of the last: none of the others. */
static void test_one_of_many(void)
{
    enum { UNITS = 300 };
    program p;
    lookup l;
    size_t units[UNITS];
    begin(&p);
    for (unsigned i = 0; i < UNITS; i++) {
        units[i] = put_unit(&p, "one", 0x1000 + 8 * i, 8);
        put_set(&p, units[i], 0x1000 + 8 * i, 8);
    }
    for (unsigned i = 0; i < UNITS; i += 23) {
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        CHECK_STR(name_at(&l, 0x1004 + 8 * i), "one");
        CHECK(is_brief(&l));
        CHECK_EQ(count_found(&l), 1);
        CHECK_EQ(l.session->env.brief[0].off, units[i]);
        CHECK_STR(name_at(&l, 0x1006 + 8 * i), "one"); /* the same function */
        CHECK(is_brief(&l));
        const ms_ses_unit *unit = l.session->decoded;
        CHECK_STR(name_at(&l, 0x1000 + 8 * ((i + 1) % UNITS)), "one");
        CHECK(!is_brief(&l) && l.session->has_units);
        CHECK(l.session->units[i] == unit && unit->index == i); /* it is not decoded again */
        lookup_close(&l);
    }
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0); /* many addresses at once list the units first */
    uint64_t addrs[] = {0x1000, 0x1008};
    machsym_answer answers[2];
    CHECK_EQ(machsym_session_frames_at_addrs(l.session, addrs, 2, answers, l.v, FRAMES), 2);
    CHECK(l.session->has_units && l.session->env.brief == NULL);
    machsym_session_trim(l.session); /* and those after them take the list */
    CHECK_STR(name_at(&l, 0x1000), "one");
    CHECK(l.session->has_units);
    lookup_close(&l);
    program_free(&p);
}

/* No unit reaches over another one that a set states. */
static void test_length_over_units(void)
{
    for (unsigned bad = 0; bad < 4; bad++) {
        program p;
        lookup l;
        machsym_image_info info;
        size_t units[5];
        begin(&p);
        put_whole_units(&p, units, 5);
        for (unsigned i = 5; i-- > 0;) /* in another order than that of the units */
            put_set(&p, units[i], 0x1000 + 0x100 * i, 0x100);
        put_set(&p, units[3] + 12, 0, 0); /* nothing begins there */
        patch(&p.info, units[bad], (bad < 3 ? units[bad + 2] : p.info.len) - units[bad] - 4, 4);
        for (unsigned i = 0; i < 5; i++) {
            lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
            CHECK_STR(name_at(&l, 0x1010 + 0x100 * i), "whole");
            CHECK_EQ(is_brief(&l), i != bad && i != 3);
            for (unsigned j = 0; j < 5; j++)
                CHECK_STR(name_at(&l, 0x1010 + 0x100 * j), "whole");
            machsym_session_counts counts;
            machsym_session_count_all(l.session, &counts);
            CHECK_EQ(counts.unit_count, 5);
            CHECK(machsym_image_count_damage(l.image, &info));
            CHECK_EQ(info.damage_count, 1);
            CHECK_EQ(info.damage.offset, units[bad]);
            CHECK_TEXT(info.damage.what, "a unit's length leads past another one");
            lookup_close(&l);
        }
        program_free(&p);
    }
}

/* What states no unit, or not all of what has to be known, lists the units and changes nothing. */
static void test_sets_that_do_not_tell(void)
{
    enum { ROOT_ENTRY, INSIDE, TWICE, PAST_END, LACKS_ONE, BAD_LAST, TABLE, CASES };
    for (unsigned which = 0; which < CASES; which++) {
        program p;
        lookup l;
        machsym_image_info info;
        size_t units[3];
        begin(&p);
        put_whole_units(&p, units, 3);
        for (unsigned i = 0; i < 3; i++) {
            if (which != LACKS_ONE || i != 1)
                put_set(&p, units[i] + (which == ROOT_ENTRY ? 11 : 0), 0x1000 + 0x100 * i, 0x100);
        }
        if (which == INSIDE)
            put_set(&p, units[1] + 12, 0x1800, 0x100);
        if (which == TWICE)
            put_set(&p, units[1], 0x1800, 0x100);
        if (which == PAST_END)
            put_set(&p, p.info.len + 100, 0x1800, 0x100);
        if (which == BAD_LAST)
            patch(&p.info, units[2] + 4, 0x0909, 2);
        if (which == TABLE)
            patch(&p.info, units[1] + 6, 1, 4);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        ask(&l, 0x1110);
        CHECK_EQ(is_brief(&l), which == TWICE); /* which tells the same twice */
        if (which != TABLE)
            CHECK_STR(name_at(&l, 0x1110), "whole");
        CHECK_STR(name_at(&l, 0x1010), "whole");
        machsym_session_counts counts;
        machsym_session_count_all(l.session, &counts);
        CHECK_EQ(counts.unit_count, 3);
        CHECK(machsym_image_count_damage(l.image, &info));
        CHECK_EQ(info.damage_count, which == BAD_LAST ? 1 : 0);
        lookup_close(&l);
        program_free(&p);
    }
}

/* The first table of abbreviations is whole, however many others are claimed to begin in it. */
static void test_claims_in_the_first_table(void)
{
    enum { CLAIMS = 2 * MACHSYM_MAX_ABBREV_CLAIMS };
    program p;
    lookup l;
    machsym_image_info info;
    begin(&p);
    size_t first = put_unit(&p, "first", 0x1000, 0x100);
    put_set(&p, first, 0x1000, 0x100);
    for (unsigned i = 1; i <= CLAIMS; i++) {
        size_t unit = put_unit(&p, "damaged", 0x1000 + 0x100 * i, 0x100);
        patch(&p.info, unit + 6, i, 4);
    }
    for (unsigned listed = 0; listed < 2; listed++) {
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        CHECK(listed == 0 || machsym_image_count_damage(l.image, &info));
        CHECK_STR(name_at(&l, 0x1010), "first");
        CHECK_EQ(is_brief(&l), listed == 0);
        CHECK_EQ(ask(&l, 0x1110), 0);
        CHECK_STR(name_at(&l, 0x1010), "first");
        lookup_close(&l);
    }
    program_free(&p);
}

/* Names may stand in other units: one that sets state is found, for another one the units are listed. */
static void test_names_of_other_units(void)
{
    for (unsigned stated = 0; stated < 2; stated++) {
        program p;
        lookup l;
        begin(&p);
        size_t first = put_unit(&p, "first", 0x1000, 0x100);
        unit_begin(&p, dwarf4, 1, 0);
        size_t partial = p.unit_at;
        die(&p, CODE_PARTIAL);
        put_str(&p.info, "partial");
        size_t named = put_function(&p, "named elsewhere", 0, 0);
        end_unit(&p);
        begin_unit(&p, 0x1100, 0x100);
        size_t last = p.unit_at;
        die(&p, CODE_LINKED);
        put32(&p.info, named);
        put_addr(&p, &p.info, 0x1100);
        put32(&p.info, 0x100);
        end_unit(&p);
        put_set(&p, first, 0x1000, 0x100);
        if (stated != 0)
            put_set(&p, partial, 0, 0);
        put_set(&p, last, 0x1100, 0x100);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        CHECK_STR(name_at(&l, 0x1110), "named elsewhere");
        CHECK_EQ(is_brief(&l), stated);
        CHECK_EQ(stated == 0 || count_found(&l) == 2, true);
        CHECK_STR(name_at(&l, 0x1110), "named elsewhere");
        CHECK_STR(name_at(&l, 0x1010), "first");
        CHECK_STR(name_at(&l, 0x1110), "named elsewhere");
        lookup_close(&l);
        program_free(&p);
    }
}

/* Calls of functions of more units than are found one by one. */
static void test_names_of_many_units(void)
{
    enum { CODE_OUTER = CODE_LINKED + 1, CODE_CALL, MOST = ms_CU_BRIEF + 3 };
    for (unsigned units = ms_CU_BRIEF - 1; units < MOST; units++) {
        program p;
        lookup l;
        size_t named[MOST];
        char name[] = "a";
        begin(&p);
        p.abbrev.len--; /* the table goes on */
        ABBREV(&p, CODE_OUTER, TAG_subprogram, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
               FORM_data4);
        ABBREV(&p, CODE_CALL, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref_addr, AT_low_pc,
               FORM_addr, AT_high_pc, FORM_data4);
        abbrev_end(&p);
        for (unsigned i = 0; i < units; i++) {
            name[0] = (char)('a' + i);
            begin_unit(&p, 0x1000 + 0x10 * i, 0x10);
            named[i] = put_function(&p, name, 0x1000 + 0x10 * i, 0x10);
            put_set(&p, end_unit(&p), 0x1000 + 0x10 * i, 0x10);
        }
        begin_unit(&p, 0x1800, 0x100);
        die(&p, CODE_OUTER);
        put_str(&p.info, "outer");
        put64(&p.info, 0x1800);
        put32(&p.info, 0x100);
        for (unsigned i = 0; i < units; i++) {
            die(&p, CODE_CALL);
            put32(&p.info, named[i]);
            put64(&p.info, 0x1800);
            put32(&p.info, 0x80);
        }
        put_zeros(&p.info, units + 1);
        put_set(&p, end_unit(&p), 0x1800, 0x100);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        for (unsigned round = 0; round < 2; round++) {
            CHECK_EQ(ask(&l, 0x1810), units + 1);
            for (unsigned i = 0; i < units; i++) {
                name[0] = (char)('a' + units - 1 - i);
                CHECK_STR(l.v[i].name, name);
            }
            CHECK_STR(l.v[units].name, "outer");
            CHECK_EQ(is_brief(&l), units < ms_CU_BRIEF);
        }
        lookup_close(&l);
        program_free(&p);
    }
}

/* ---- What goes wrong meanwhile ---- */

/* Every allocation of two lookups fails in turn: a frame says so, and the next try answers. */
static void test_memory(const char *name)
{
    test_begin();
    char path[256];
    uint64_t addrs[24];
    machsym_frame frames[ROOM];
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    test_file file = test_read(path);
    size_t count = list_addresses(&file, addrs, 24);
    unsigned wrong = 0;
    for (size_t fail_at = 1, calls = 1; fail_at <= calls; fail_at++) {
        failer f = {0, 0, false, 0, 0};
        machsym_session_desc how;
        machsym_session *session = NULL;
        machsym_image *image = test_open_bytes(file.ptr, file.len);
        memset(&how, 0, sizeof how);
        how.image = image;
        how.allocator.alloc = failing_alloc;
        how.allocator.free = failing_free;
        how.allocator.user = &f;
        CHECK_EQ(machsym_session_open(&how, &session, NULL), MACHSYM_OK);
        machsym_session *whole = test_session(image, MACHSYM_LINES_ATOS, 0);
        f.fail_at = f.calls + fail_at;
        for (size_t i = 0; i < 2 * count; i++) {
            size_t got = machsym_session_frames_at_addr(session, addrs[i % count], frames, ROOM);
            wrong += machsym_session_lacked_memory(session) && (got == 0 || !frames[0].lacks_memory);
        }
        calls = f.calls - (f.fail_at - fail_at);
        f.fail_at = 0;
        machsym_session_trim(session);
        for (size_t i = 0; i < count; i++)
            wrong += !same_frames(session, whole, addrs[i]);
        machsym_session_close(whole);
        machsym_session_close(session);
        machsym_image_close(image);
        wrong += f.out != 0;
    }
    CHECK_EQ(wrong, 0);
    free((void *)file.ptr);
    test_end(name);
}

/* Somebody writes into a mapped file between two questions: what was found is dropped. */
static void test_file_that_changes(void)
{
    program p;
    lookup l;
    begin(&p);
    size_t units[3];
    for (unsigned i = 0; i < 3; i++) {
        units[i] = put_unit(&p, "whole", 0x1000 + 0x100 * i, 0x100);
        put_set(&p, units[i], 0x1000 + 0x100 * i, 0x100);
    }
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1110), "whole");
    CHECK(is_brief(&l));
    uint8_t *info = (uint8_t *)(size_t)l.session->dw.info.ptr;
    info[units[0]] = (uint8_t)(units[2] - 4); /* the first unit swallows the second ... */
    uint8_t *aranges = (uint8_t *)(size_t)l.session->dw.aranges.ptr;
    memset(aranges, 0, l.session->dw.aranges.len); /* ... which nothing states any more */
    ask(&l, 0x1110);
    ask(&l, 0x1210);
    CHECK(l.session->has_units);
    CHECK_EQ(l.session->env.count, 2);
    CHECK(l.session->env.roots[0] == NULL || l.session->env.roots[0]->enc.unit_off == 0);
    CHECK(l.session->env.roots[1] == NULL || l.session->env.roots[1]->enc.unit_off == units[2]);
    lookup_close(&l);
    program_free(&p);
}

int main(void)
{
    test_one_of_many();
    test_length_over_units();
    test_sets_that_do_not_tell();
    test_claims_in_the_first_table();
    test_names_of_other_units();
    test_names_of_many_units();
    test_file_that_changes();
    test_memory("cross-arm64-d5-22.dwarf");
    test_memory("inline-x86_64-d4-22.dwarf");
    test_linked_units();
    test_file_of("cross-arm64-d5-22.dwarf", true);
    test_file_of("cross-x86_64-d4-14.dwarf", true);
    test_file_of("inline-arm64-d4-14.dwarf", true);
    test_file_of("inline-x86_64-d2-14.dwarf", true);
    test_file_of("inline-x86_64-d5-O0-22.dwarf", true);
    test_file_of("zoo-x86_64-d5-22.dwarf", true);
    test_file_of("hand-dwarf64.dwarf", true);
    test_file_of("hand-units.dwarf", false);
    test_file_of("inline-x86_64-d4-aranges-die.dwarf", false);
    test_file_of("inline-x86_64-d4-noaranges.dwarf", false);
    test_file_of("inline-x86_64-d4-headers.dwarf", true);
    return test_done();
}
