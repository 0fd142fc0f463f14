/* The room answer: the name rule of concrete and inlined functions, what answers where debug info is silent,
 * best line, many addresses at once, iteration, the cache limit. */
#define TEST_ROOM <rooms/src/answer/engine.h>
#include "dwarf.h"

enum { EXT = 0x0f, LOCAL = 0x0e };

enum { UNIT = 1, PLAIN, LINKED, HIDDEN_OLD, ABSTRACT, COPY, INLINE, FUNCTION_OPEN, NAMELESS };

static void begin(program *p)
{
    memset(p, 0, sizeof *p);
    ABBREV(p, UNIT, TAG_compile_unit, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4,
           AT_stmt_list, FORM_sec_offset, AT_comp_dir, FORM_string);
    ABBREV(p, PLAIN, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, LINKED, TAG_subprogram, 0, AT_linkage_name, FORM_string, AT_name, FORM_string, AT_low_pc,
           FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, HIDDEN_OLD, TAG_subprogram, 0, 0x2007, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, ABSTRACT, TAG_subprogram, 0, AT_name, FORM_string);
    ABBREV(p, COPY, TAG_subprogram, 0, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, INLINE, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4, AT_call_file, FORM_data1, AT_call_line, FORM_udata);
    ABBREV(p, FUNCTION_OPEN, TAG_subprogram, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, NAMELESS, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    abbrev_end(p);
}

static void begin_unit_of(program *p, uint64_t lo, uint64_t hi)
{
    unit_begin(p, dwarf4, 1, 0);
    die(p, UNIT);
    put_str(&p->info, "unit.c");
    put64(&p->info, lo);
    put32(&p->info, hi - lo);
    put32(&p->info, 0);
    put_str(&p->info, "/comp");
}

static void begin_unit(program *p)
{
    begin_unit_of(p, 0x1000, 0x2000);
}

static void put_range(program *p, uint64_t lo, uint64_t hi)
{
    put64(&p->info, lo);
    put32(&p->info, hi - lo);
}

static void put_plain(program *p, const char *name, uint64_t lo, uint64_t hi)
{
    die(p, PLAIN);
    put_str(&p->info, name);
    put_range(p, lo, hi);
}

static void put_linked(program *p, const char *linkage_name, const char *name, uint64_t lo, uint64_t hi)
{
    die(p, LINKED);
    put_str(&p->info, linkage_name);
    put_str(&p->info, name);
    put_range(p, lo, hi);
}

static void end_unit(program *p)
{
    put8(&p->info, 0);
    unit_end(p);
}

/* A line program of version 2 whose rows are pairs of address and line; each pair is followed by the next
 * until an address 0. The last pair ends the sequence. */
static void put_lines(program *p, const uint64_t *rows)
{
    bytes *b = &p->line;
    p->enc.offset_size = 4;
    size_t at = begin_length(p, b);
    put16(b, 2);
    put32(b, 0);
    size_t start = b->len;
    put8(b, 1);
    put8(b, 1);
    put8(b, 0);
    put8(b, 1);
    put8(b, 10);
    put(b, "\0\1\1\1\1\0\0\0\1", 9);
    put8(b, 0);
    put_str(b, "unit.c");
    put_zeros(b, 3);
    put_str(b, "other.c");
    put_zeros(b, 4);
    patch(b, start - 4, b->len - start, 4);
    int64_t line = 1;
    for (; rows[0] != 0; rows += 2) {
        put8(b, 0);
        put8(b, 9);
        put8(b, 2);
        put64(b, rows[0]);
        put8(b, 3);
        put_sleb(b, (int64_t)rows[1] - line);
        line = (int64_t)rows[1];
        if (rows[2] != 0) {
            put8(b, 1);
        } else {
            put8(b, 0);
            put8(b, 1);
            put8(b, 1);
        }
    }
    end_length(p, b, at);
}

static void check_name(lookup *l, uint64_t addr, const char *linkage_name, const char *name,
                       machsym_source source)
{
    CHECK_EQ(ask(l, addr), 1);
    CHECK_STR(l->v[0].linkage_name, linkage_name);
    CHECK_STR(l->v[0].name, name);
    CHECK_EQ(l->v[0].name_source, source);
}

/* facts of the field: the linkage name; without one, or a hidden one, the symbol exactly at low_pc, of
 * several the one that equals DW_AT_name; else DW_AT_name. */
static void test_name_rule(void)
{
    static const make_symbol symbols[] = {
        {"_from_symtab", EXT, 1, 0x1000},
        {"__TFC1aP4initf", EXT, 1, 0x1100},
        {"_alias", EXT, 1, 0x1200},
        {"_same", LOCAL, 1, 0x1200},
        {"_real_name", LOCAL, 1, 0x1300},
        {"_old_real", LOCAL, 1, 0x1400},
        {"_not_at_start", EXT, 1, 0x1504},
        {"_objc_alias", EXT, 1, 0x1600},
        {"_cold_symbol", LOCAL, 1, 0x1700},
        {"_nameless", LOCAL, 1, 0x1800},
        {"_before_nameless", LOCAL, 1, 0x18f0},
    };
    program p;
    lookup l;
    begin(&p);
    p.macho.symbols = symbols;
    p.macho.symbol_count = sizeof symbols / sizeof symbols[0];
    begin_unit(&p);
    put_linked(&p, "_Zlinkage", "linkage", 0x1000, 0x1010);
    put_plain(&p, "init", 0x1100, 0x1110);
    put_plain(&p, "same", 0x1200, 0x1210);
    put_linked(&p, "__hidden#12_", "__hidden#12_", 0x1300, 0x1310);
    die(&p, HIDDEN_OLD);
    put_str(&p.info, "__hidden#4067_");
    put_range(&p, 0x1400, 0x1410);
    put_plain(&p, "no_symbol", 0x1500, 0x1510);
    put_plain(&p, "-[Player skip:]", 0x1600, 0x1610);
    put_linked(&p, "", "\001-[Gate pass:].cold.1", 0x1700, 0x1710);
    die(&p, NAMELESS);
    put_range(&p, 0x1800, 0x1810);
    die(&p, NAMELESS);
    put_range(&p, 0x1900, 0x1910);
    put_linked(&p, "_OUTLINED_FUNCTION_0", "OUTLINED_FUNCTION_0", 0x1a00, 0x1a10);
    put_linked(&p, "_other", "another", 0x1a10, 0x1a20);
    end_unit(&p);
    for (unsigned round = 0; round < 2; round++) { /* the second session asks the table, the first scans */
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        if (round == 1) {
            machsym_cursor at = {0, 0};
            machsym_symbol symbol;
            CHECK(machsym_session_next_symbol(l.session, &at, &symbol));
        }
        check_name(&l, 0x1000, "_Zlinkage", "linkage", MACHSYM_SOURCE_DWARF);
        check_name(&l, 0x1100, "_TFC1aP4initf", "init", MACHSYM_SOURCE_SYMTAB);
        check_name(&l, 0x1200, "same", "same", MACHSYM_SOURCE_DWARF);
        check_name(&l, 0x1300, "real_name", "__hidden#12_", MACHSYM_SOURCE_SYMTAB);
        check_name(&l, 0x1400, "old_real", "", MACHSYM_SOURCE_SYMTAB);
        check_name(&l, 0x1500, "", "no_symbol", MACHSYM_SOURCE_DWARF);
        check_name(&l, 0x1600, "", "-[Player skip:]", MACHSYM_SOURCE_DWARF);
        check_name(&l, 0x1700, "", "-[Gate pass:].cold.1", MACHSYM_SOURCE_DWARF);
        check_name(&l, 0x1800, "nameless", "", MACHSYM_SOURCE_SYMTAB);
        check_name(&l, 0x1a00, "OUTLINED_FUNCTION_0", "OUTLINED_FUNCTION_0", MACHSYM_SOURCE_DWARF);
        check_name(&l, 0x1a10, "_other", "another", MACHSYM_SOURCE_DWARF);
        lookup_close(&l);
    }
    program_free(&p);
}

/* An inlined function without linkage name has the symbol of its out-of-line copy, else DW_AT_name. */
static void test_inline_names(void)
{
    static const make_symbol symbols[] = {{"_copied_symbol", EXT, 1, 0x1800}, {"_f", EXT, 1, 0x1000}};
    program p;
    lookup l;
    begin(&p);
    p.macho.symbols = symbols;
    p.macho.symbol_count = 2;
    begin_unit(&p);
    size_t copied = die(&p, ABSTRACT);
    put_str(&p.info, "copied");
    size_t alone = die(&p, ABSTRACT);
    put_str(&p.info, "alone");
    die(&p, FUNCTION_OPEN);
    put_str(&p.info, "f");
    put_range(&p, 0x1000, 0x1100);
    for (unsigned i = 0; i < 2; i++) {
        die(&p, INLINE);
        put32(&p.info, local(&p, i == 0 ? copied : alone));
        put_range(&p, 0x1000 + 0x10 * i, 0x1010 + 0x10 * i);
        put8(&p.info, 2);
        put_uleb(&p.info, 7);
        put8(&p.info, 0);
    }
    put8(&p.info, 0);
    die(&p, COPY);
    put32(&p.info, local(&p, copied));
    put_range(&p, 0x1800, 0x1900);
    end_unit(&p);
    static const uint64_t lines[] = {0x1000, 5, 0x1100, 6, 0};
    put_lines(&p, lines);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1000), 2);
    CHECK_STR(l.v[0].linkage_name, "copied_symbol");
    CHECK_EQ(l.v[0].name_source, MACHSYM_SOURCE_SYMTAB);
    CHECK_STR(l.v[0].file.name, "unit.c");
    CHECK_EQ(l.v[0].line, 5);
    CHECK_STR(l.v[1].name, "f");
    CHECK_STR(l.v[1].file.name, "other.c"); /* the call's file and line, not the row's */
    CHECK_EQ(l.v[1].line, 7);
    CHECK_EQ(ask(&l, 0x1010), 2);
    CHECK_STR(l.v[0].linkage_name, "");
    CHECK_STR(l.v[0].name, "alone");
    CHECK_EQ(ask(&l, 0x1800), 1);
    CHECK_STR(l.v[0].linkage_name, "copied_symbol");
    CHECK_STR(l.v[0].name, "copied");
    lookup_close(&l);
    program_free(&p);
}

/* Padding between functions: a function never answers outside its ranges, its rows neither; the symbol may. A
 * gap in the middle of nowhere has no answer. */
static void test_gaps(void)
{
    static const make_symbol symbols[] = {{"_f", EXT, 1, 0x1010}, {"_g", EXT, 1, 0x1100}};
    static const uint64_t lines[] = {0x1010, 10, 0x1080, 11, 0x1100, 20, 0x1180, 21, 0};
    bytes starts = {NULL, 0, 0};
    program p;
    lookup l;
    begin(&p);
    put_uleb(&starts, 0x10);
    put_uleb(&starts, 0xf0);
    put_uleb(&starts, 0x100);
    put_uleb(&starts, 0);
    p.macho.symbols = symbols;
    p.macho.symbol_count = 2;
    p.macho.starts = &starts;
    begin_unit_of(&p, 0x1010, 0x1180);
    put_plain(&p, "f", 0x1010, 0x10a0);
    put_plain(&p, "g", 0x1100, 0x1180);
    end_unit(&p);
    put_lines(&p, lines);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1000), 0);
    CHECK_EQ(ask(&l, 0x100f), 0);
    check_name(&l, 0x109f, "f", "f", MACHSYM_SOURCE_DWARF);
    CHECK_EQ(l.v[0].line, 11);
    CHECK_EQ(l.v[0].function_size, 0x90);
    check_name(&l, 0x10a0, "f", "", MACHSYM_SOURCE_SYMTAB); /* padding: the row of f must not go on */
    CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_NONE);
    CHECK_EQ(l.v[0].function_start, 0x1010);
    check_name(&l, 0x10ff, "f", "", MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(l.v[0].line, 0);
    check_name(&l, 0x1180, "g", "", MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_NONE);
    check_name(&l, 0x1200, "", "", MACHSYM_SOURCE_FUNCTION_STARTS);
    CHECK_EQ(l.v[0].function_start, 0x1200);
    CHECK_EQ(ask(&l, 0x2000), 0);
    CHECK_EQ(ask(&l, UINT64_MAX), 0);
    lookup_close(&l);
    program_free(&p);
    bytes_free(&starts);
}

/* Assembly: a unit with rows but without functions tells lines to the symbols. */
static void test_assembly(void)
{
    static const make_symbol symbols[] = {{"_memcpy", EXT, 1, 0x1000}};
    static const uint64_t lines[] = {0x1000, 10, 0x1080, 11, 0x1100, 12, 0};
    program p;
    lookup l;
    begin(&p);
    p.macho.symbols = symbols;
    p.macho.symbol_count = 1;
    begin_unit_of(&p, 0x1000, 0x1100);
    end_unit(&p);
    put_lines(&p, lines);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_name(&l, 0x1090, "memcpy", "", MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(l.v[0].line, 11);
    CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_DWARF);
    check_name(&l, 0x1100, "memcpy", "", MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(l.v[0].line, 0);
    CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_NONE);
    lookup_close(&l);
    program_free(&p);
}

/* Line 0 takes the line of the nearest frame that has one, inner before outer. */
static void test_best_line(void)
{
    static const uint64_t lines[] = {0x1000, 5, 0x1010, 0, 0x1100, 6, 0};
    static const unsigned calls[] = {0, 30, 0, 40}; /* outermost first */
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    size_t a = die(&p, ABSTRACT);
    put_str(&p.info, "a");
    die(&p, FUNCTION_OPEN);
    put_str(&p.info, "f");
    put_range(&p, 0x1000, 0x1100);
    for (unsigned i = 0; i < 4; i++) {
        die(&p, INLINE);
        put32(&p.info, local(&p, a));
        put_range(&p, 0x1000, 0x1020);
        put8(&p.info, 1);
        put_uleb(&p.info, calls[i]);
    }
    put_zeros(&p.info, 5);
    end_unit(&p);
    put_lines(&p, lines);
    static const uint32_t plain[] = {0, 40, 0, 30, 0};
    static const uint32_t best[] = {40, 40, 40, 30, 30};
    static const uint32_t inner[] = {5, 40, 40, 30, 30};
    for (unsigned flag = 0; flag < 2; flag++) {
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, flag == 1 ? MACHSYM_SESSION_BEST_LINE : 0);
        CHECK_EQ(ask(&l, 0x1010), 5);
        for (unsigned i = 0; i < 5; i++)
            CHECK_EQ(l.v[i].line, flag == 1 ? best[i] : plain[i]);
        if (flag == 1) {
            ask(&l, 0x1000);
            for (unsigned i = 0; i < 5; i++)
                CHECK_EQ(l.v[i].line, inner[i]);
        }
        CHECK_EQ(ask(&l, 0x1080), 1); /* the frame has no line */
        CHECK_EQ(l.v[0].line, 0);
        lookup_close(&l);
    }
    program_free(&p);
}

/* Many at once: the answers of the same addresses one by one, whatever their order; room too small says how
 * much. */
static void test_many(void)
{
    enum { COUNT = 3000, ROOM = 30000 };
    static uint64_t addrs[COUNT];
    static machsym_answer answers[COUNT];
    static machsym_frame frames[ROOM];
    machsym_image *image = test_open("tests/fixtures/bin/inline-arm64-d4-14.dwarf");
    machsym_session *many = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session *single = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_section code;
    uint64_t state = 99;
    CHECK(machsym_image_next_section(image, &at, &code) && code.is_code);
    for (unsigned i = 0; i < COUNT; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        addrs[i] = code.addr - 16 + (state >> 33) % (code.size + 32);
    }
    size_t total = machsym_session_frames_at_addrs(many, addrs, COUNT, answers, frames, ROOM);
    CHECK(total > COUNT && total <= ROOM);
    unsigned wrong = 0;
    size_t sum = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        machsym_frame own[64];
        size_t count = machsym_session_frames_at_addr(single, addrs[i], own, 64);
        wrong += count != answers[i].count;
        sum += count;
        for (size_t j = 0; j < count && count == answers[i].count; j++) {
            const machsym_frame *got = &frames[answers[i].first + j];
            wrong += !test_same(got->name, own[j].name) || got->line != own[j].line ||
                     got->is_inline != own[j].is_inline || !test_same(got->file.name, own[j].file.name) ||
                     got->column != own[j].column || got->function_start != own[j].function_start;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(sum, total);
    CHECK_EQ(machsym_session_frames_at_addrs(many, addrs, COUNT, answers, frames, 100), total);
    CHECK_EQ(machsym_session_frames_at_addrs(many, addrs, COUNT, answers, NULL, 0), total);
    CHECK_EQ(machsym_session_frames_at_addrs(many, addrs, 0, answers, frames, ROOM), 0);
    machsym_session_close(many);
    machsym_session_close(single);
    machsym_image_close(image);
}

/* With hardly any cache, units are dropped and decoded again: the answers stay. trim begins anew. */
static void test_cache(void)
{
    machsym_image *image = test_open("tests/fixtures/bin/cross-arm64-d5-22.dwarf");
    machsym_session *large = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session *small = NULL;
    machsym_session_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.cache_limit = 1;
    CHECK_EQ(machsym_session_open(&desc, &small, NULL), MACHSYM_OK);
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    unsigned wrong = 0;
    unsigned found = 0;
    unsigned remembered = 0;
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t addr = info.text_addr; addr < info.text_addr + 0x1000; addr += 4) {
            machsym_frame a[16];
            machsym_frame b[16];
            size_t count = machsym_session_frames_at_addr(large, addr, a, 16);
            wrong += machsym_session_frames_at_addr(small, addr, b, 16) != count;
            found += count > 0;
            for (size_t i = 0; i < count && i < 16; i++)
                wrong += !test_same(a[i].name, b[i].name) || a[i].line != b[i].line;
            remembered += small->last.hi > addr;
            if (addr % 64 == 0) { /* with the units goes what is remembered */
                ms_ses_drop_units(small);
                wrong += small->last.hi != 0;
            }
            wrong += small->decoded == NULL && small->alone == NULL && small->last.hi != 0 &&
                     small->last.unit != NULL;
        }
        wrong += large->last.hi == 0;
        machsym_session_trim(small);
        machsym_session_trim(large);
        wrong += large->last.hi != 0;
    }
    CHECK_EQ(wrong, 0);
    CHECK(found > 20 && remembered > 20);
    machsym_session_close(large);
    machsym_session_close(small);
    machsym_image_close(image);
}

enum { SHARING = 40, SHARED_ROWS = 640 };

/* Every 16 bytes are of another unit, every 2 of another line. */
static unsigned count_wrong_lines(machsym_session *session)
{
    unsigned wrong = 0;
    for (uint64_t addr = 0x1000; addr < 0x1000 + 16 * SHARING; addr++) {
        machsym_frame frame;
        memset(&frame, 0, sizeof frame);
        machsym_session_frames_at_addr(session, addr, &frame, 1);
        wrong += frame.line != 100 + (addr - 0x1000) / 2;
    }
    return wrong;
}

/* Whether a map of the image answers as the session does from lo to hi. */
static void check_map(const lookup *l, machsym_lines lines, uint64_t lo, uint64_t hi)
{
    static char text[4096];
    machsym_plan_desc plan;
    machsym_map *map = NULL;
    unsigned wrong = 0;
    memset(&plan, 0, sizeof plan);
    plan.image = l->image;
    plan.lines = lines;
    CHECK_EQ(machsym_map_build(&plan, &map, NULL), MACHSYM_OK);
    for (uint64_t addr = lo; addr < hi; addr++) {
        machsym_map_frame found[4];
        machsym_frame got[4];
        machsym_frame want[4];
        size_t count = machsym_map_frames_at_addr(map, addr, found, 4);
        wrong += machsym_session_frames_at_addr(l->session, addr, want, 4) != count;
        machsym_map_names(map, found, count < 4 ? count : 4, got, text, sizeof text);
        for (size_t i = 0; i < count && i < 4; i++)
            wrong += got[i].line != want[i].line || got[i].function_start != want[i].function_start ||
                     got[i].function_size != want[i].function_size || !test_same(got[i].name, want[i].name);
    }
    CHECK_EQ(wrong, 0);
    machsym_map_close(map);
}

/* Units whose line program is one and large beside them all have its lines: in a map, and whatever the
 * session was asked before, which may have made it know that they share. Its rows come once. */
static void test_shared_lines(void)
{
    static uint64_t rows[2 * SHARED_ROWS + 1];
    program p;
    lookup l;
    machsym_session_counts info;
    machsym_cursor at = {0, 0};
    machsym_line row;
    unsigned count = 0;
    for (unsigned i = 0; i < SHARED_ROWS; i++) {
        rows[2 * i] = 0x1000 + 2 * i;
        rows[2 * i + 1] = 100 + i;
    }
    for (unsigned lines = 0; lines < MACHSYM_LINES_COUNT; lines++) {
        begin(&p);
        for (uint64_t lo = 0x1000; lo < 0x1000 + 16 * SHARING; lo += 16) {
            begin_unit_of(&p, lo, lo + 16);
            put_plain(&p, "f", lo, lo + 16);
            end_unit(&p);
        }
        put_lines(&p, rows);
        CHECK(p.line.len > 64 * p.info.len / SHARING);
        lookup_open(&l, &p, (machsym_lines)lines, 0);
        CHECK_EQ(count_wrong_lines(l.session), 0);
        machsym_session_count_all(l.session, &info);
        CHECK_EQ(info.line_row_count, SHARED_ROWS);
        CHECK_EQ(info.damaged_units, 0);
        CHECK_EQ(count_wrong_lines(l.session), 0);
        machsym_session_trim(l.session);
        at.a = at.b = 0;
        for (count = 0; machsym_session_next_line(l.session, &at, &row); count++)
            continue;
        CHECK_EQ(count, SHARED_ROWS);
        CHECK_EQ(count_wrong_lines(l.session), 0);
        check_map(&l, (machsym_lines)lines, 0xff0, 0x1010 + 16 * SHARING);
        lookup_close(&l);
        program_free(&p);
    }
}

/* A unit whose line program begins inside another's does not take its lines from that: neither from a
 * session that knows of all programs, nor from a map. */
static void test_program_in_a_program(void)
{
    static const uint64_t rows[] = {0x1000, 100, 0x1008, 101, 0x1010, 102, 0x1018, 103, 0x1020, 104, 0};
    program p;
    lookup l;
    machsym_session_counts info;
    begin(&p);
    begin_unit_of(&p, 0x1000, 0x1020);
    put_plain(&p, "whole", 0x1000, 0x1020);
    end_unit(&p);
    begin_unit_of(&p, 0x1020, 0x1030);
    patch(&p.info, p.info.len - 10, 40, 4); /* DW_AT_stmt_list */
    put_plain(&p, "inside", 0x1020, 0x1030);
    end_unit(&p);
    put_lines(&p, rows);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQ(ask(&l, 0x1000 + 8 * i), 1);
            CHECK_EQ(l.v[0].line, 100 + i);
        }
        machsym_session_count_all(l.session, &info); /* lists them */
        CHECK_EQ(info.damaged_units, 1);
    }
    check_map(&l, MACHSYM_LINES_ATOS, 0xff0, 0x1040);
    lookup_close(&l);
    program_free(&p);
}

/* A set of .debug_aranges that gives [lo, hi) to the first unit. */
static void put_arange(program *p, size_t unit, uint64_t lo, uint64_t hi)
{
    bytes *b = &p->aranges;
    size_t at = begin_length(p, b);
    put16(b, 2);
    put32(b, unit);
    put16(b, 8);
    put32(b, 0); /* tuples are aligned to their size */
    put64(b, lo);
    put64(b, hi - lo);
    put_zeros(b, 16);
    end_length(p, b, at);
}

/* Lines of assembly that go on after the code give no answer. The same holds in a map. */
static void test_lines_behind_the_code(void)
{
    static const uint64_t rows[] = {0x1000, 100, 0x1ff8, 101, 0x2010, 102, 0};
    program p;
    lookup l;
    begin(&p);
    begin_unit_of(&p, 0x10, 0x2010); /* no range of code */
    end_unit(&p);
    put_arange(&p, 0, 0x1000, 0x2010);
    put_lines(&p, rows);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1fff), 1);
    CHECK_EQ(l.v[0].line, 101);
    CHECK_EQ(ask(&l, 0x2000), 0);
    check_map(&l, MACHSYM_LINES_ATOS, 0xff0, 0x2020);
    lookup_close(&l);
    program_free(&p);
}

/* A function whose ranges overlap has the bounds of the one that its list names first, in a map too. */
static void test_overlapping_ranges(void)
{
    static const uint64_t ranges[] = {0x10, 0x50, 0, 0x50, 0, 0};
    static const uint64_t rows[] = {0x1000, 100, 0x1050, 101, 0};
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    begin(&p);
    p.abbrev.len--; /* one more */
    ABBREV(&p, NAMELESS + 1, TAG_subprogram, 0, AT_name, FORM_string, AT_ranges, FORM_sec_offset);
    abbrev_end(&p);
    begin_unit_of(&p, 0x1000, 0x1050);
    die(&p, NAMELESS + 1);
    put_str(&p.info, "f");
    put32(&p.info, 0);
    end_unit(&p);
    put_lines(&p, rows);
    for (unsigned i = 0; i < 6; i++)
        put64(&p.ranges, ranges[i]);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x100f), 1);
    CHECK_EQ(l.v[0].function_start, 0x1000);
    CHECK_EQ(ask(&l, 0x1010), 1);
    CHECK_EQ(l.v[0].function_start, 0x1010);
    check_map(&l, MACHSYM_LINES_ATOS, 0xff0, 0x1060);
    lookup_close(&l);
    program_free(&p);
}

/* A line program of version 5 whose files are strings number 0 and 1 of whichever table the unit's root
 * names; its rows are 32 bytes of code. */
static void put_indexed_lines(program *p)
{
    bytes *b = &p->line;
    size_t at = begin_length(p, b);
    put16(b, 5);
    put8(b, 8);
    put8(b, 0);
    put32(b, 0);
    size_t start = b->len;
    put(b, "\1\1\1\0\1\12\0\1\1\1\1\0\0\0\1", 15);
    for (unsigned i = 0; i < 2; i++) { /* directories, files */
        put8(b, 1);
        put_uleb(b, 1);
        put_uleb(b, FORM_strx1);
        put_uleb(b, 1);
        put8(b, i);
    }
    patch(b, start - 4, b->len - start, 4);
    put(b, "\0\11\2", 3);
    put64(b, 0x1000);
    put(b, "\4\0\1", 3); /* file 0, a row */
    put(b, "\2\40\0\1\1", 5);
    end_length(p, b, at);
}

/* Units that run one line program but read its names from tables of their own do not share them. */
static void test_shared_program_of_two_bases(void)
{
    static const char *const names[] = {"/d", "first.c", "/d", "second.c"};
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    ABBREV(&p, UNIT, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_stmt_list,
           FORM_sec_offset, AT_str_offsets_base, FORM_sec_offset);
    ABBREV(&p, PLAIN, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    abbrev_end(&p);
    p.enc = dwarf5;
    size_t at = begin_length(&p, &p.str_offsets);
    put32(&p.str_offsets, 5);
    for (unsigned i = 0; i < 4; i++)
        put32(&p.str_offsets, add_text(&p.str, names[i]));
    end_length(&p, &p.str_offsets, at);
    put_indexed_lines(&p);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t lo = 0x1000 + 16 * i;
        unit_begin(&p, dwarf5, 1, 0);
        die(&p, UNIT);
        put_range(&p, lo, lo + 16);
        put32(&p.info, 0);
        put32(&p.info, 8 + 8 * i);
        put_plain(&p, "f", lo, lo + 16);
        end_unit(&p);
    }
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned round = 0; round < 2; round++) {
        machsym_session_counts info;
        for (unsigned i = 0; i < 2; i++) {
            CHECK_EQ(ask(&l, 0x1000 + 16 * i), 1);
            CHECK_STR(l.v[0].file.name, names[2 * i + 1]);
        }
        machsym_session_count_all(l.session, &info); /* now it knows that they share */
        CHECK_EQ(info.damaged_units, 0);
    }
    lookup_close(&l);
    program_free(&p);
}

/* What iteration gives agrees with what lookups answer, over a whole file. */
static void test_iteration(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    machsym_image *image = test_open(path);
    machsym_session *session = test_session(image, MACHSYM_LINES_DWARF, 0);
    machsym_cursor at = {0, 0};
    machsym_function f;
    machsym_line row;
    machsym_session_counts info;
    unsigned wrong = 0;
    unsigned functions = 0;
    unsigned rows = 0;
    machsym_frame frames[64];
    while (machsym_session_next_function(session, &at, &f)) {
        size_t count = machsym_session_frames_at_addr(session, f.lo, frames, 64);
        functions++;
        if (count == 0 || count > 64) {
            wrong++;
            continue;
        }
        const machsym_frame *outer = &frames[count - 1];
        wrong += !test_same(outer->name, f.name) || !test_same(outer->linkage_name, f.linkage_name) ||
                 outer->function_start != f.lo || outer->function_size != f.hi - f.lo ||
                 outer->die_offset != f.die_offset || outer->name_source != f.name_source;
    }
    memset(&at, 0, sizeof at);
    while (machsym_session_next_line(session, &at, &row))
        rows++;
    machsym_session_count_all(session, &info);
    CHECK_EQ(wrong, 0);
    CHECK(functions > 0 && functions >= info.function_count);
    CHECK_EQ(rows, info.line_row_count);
    CHECK_EQ(info.damaged_units, 0);
    machsym_session_close(session);
    machsym_image_close(image);
}

/* A unit of functions, each with an inlined call, 16 bytes apart from lo. */
static void put_unit_of_calls(program *p, uint64_t lo, unsigned count)
{
    begin_unit_of(p, lo, lo + 16 * count);
    size_t callee = die(p, ABSTRACT);
    put_str(&p->info, "callee");
    for (unsigned i = 0; i < count; i++) {
        die(p, FUNCTION_OPEN);
        put_str(&p->info, "caller");
        put_range(p, lo + 16 * i, lo + 16 * i + 16);
        die(p, INLINE);
        put32(&p->info, (unsigned)local(p, callee));
        put_range(p, lo + 16 * i, lo + 16 * i + 8);
        put8(&p->info, 1);
        put_uleb(&p->info, 7);
        put16(&p->info, 0); /* ends the call's children, and the function's */
    }
    end_unit(p);
}

/* A session that is asked for most functions begins to decode calls with their unit. A cursor stays where it
 * is when its unit is decoded again in that way. */
static void test_cursor_stays(void)
{
    enum { UNITS = 5, EACH = 200, AT = 100 };
    program p;
    machsym_function f;
    machsym_frame frames[FRAMES];
    machsym_cursor at = {0, 0};
    machsym_session_desc desc;
    machsym_session *session = NULL;
    unsigned next = 0;
    begin(&p);
    p.macho.code_size = 16 * UNITS * EACH;
    for (unsigned i = 0; i < UNITS; i++)
        put_unit_of_calls(&p, 0x1000 + 16 * i * EACH, EACH);
    memset(&desc, 0, sizeof desc);
    machsym_image *image = program_open(&p);
    desc.image = image;
    desc.lines = MACHSYM_LINES_DWARF;
    desc.cache_limit = 1;
    CHECK_EQ(machsym_session_open(&desc, &session, NULL), MACHSYM_OK);
    for (; machsym_session_next_function(session, &at, &f) && f.lo == 0x1000 + 16 * next; next++) {
        for (unsigned i = EACH; next == AT && i < UNITS * EACH; i++)
            CHECK_EQ(machsym_session_frames_at_addr(session, 0x1000 + 16 * i, frames, FRAMES), 2);
    }
    CHECK_EQ(next, UNITS * EACH);
    machsym_session_close(session);
    machsym_image_close(image);
    program_free(&p);
}

/* Rows are shown around an address that rows are of, whether they answer or not. After the last row of all code none is, by any
 * policy: only a function that goes on there takes the last line. */
static void test_rows_explained_past_end(void)
{
    static const uint64_t lines[] = {0x1000, 5, 0x1010, 6, 0x1040, 7, 0x1050, 8, 0};
    static const machsym_lines policies[] = {MACHSYM_LINES_ATOS, MACHSYM_LINES_DWARF, MACHSYM_LINES_STMT};
    for (unsigned i = 0; i < 3; i++) {
        program p;
        lookup l;
        machsym_explanation e;
        begin(&p);
        begin_unit(&p);
        put_plain(&p, "f", 0x1000, 0x1020);
        end_unit(&p);
        put_lines(&p, lines);
        lookup_open(&l, &p, policies[i], 0);
        machsym_session_explain_addr(l.session, 0x1042, &e); /* rows, but no function */
        CHECK(e.row_count == 4 || e.row_count == 5);
        machsym_session_explain_addr(l.session, 0x1800, &e);
        CHECK_EQ(e.unit_source, MACHSYM_UNIT_RANGES);
        CHECK_EQ(e.row_count, 0);
        CHECK_EQ(e.row_used, 0);
        lookup_close(&l);
        program_free(&p);
    }
}

/* The explanation tells what the frames say. */
static void test_explanation(void)
{
    static const make_symbol symbols[] = {{"_f", EXT, 1, 0x1000}};
    static const uint64_t lines[] = {0x1000, 5, 0x1010, 6, 0x1020, 7, 0x1030, 8, 0x1040, 9, 0x1050, 10, 0};
    program p;
    lookup l;
    machsym_explanation e;
    begin(&p);
    p.macho.symbols = symbols;
    p.macho.symbol_count = 1;
    begin_unit(&p);
    put_plain(&p, "f", 0x1000, 0x1100);
    end_unit(&p);
    put_lines(&p, lines);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    machsym_session_explain_addr(l.session, 0x1025, &e);
    CHECK_EQ(e.unit_source, MACHSYM_UNIT_RANGES);
    CHECK_EQ(e.unit_version, 4);
    CHECK_STR(e.unit_name, "unit.c");
    CHECK_EQ(e.row_count, 5);
    CHECK_EQ(e.row_used, 2);
    CHECK_EQ(e.rows[2].line, 7);
    CHECK(e.has_symbol);
    CHECK_STR(e.symbol.name, "f");
    machsym_session_explain_addr(l.session, 0x10f0, &e); /* no row */
    CHECK_EQ(e.row_used, e.row_count);
    machsym_session_explain_addr(l.session, 0x9000, &e);
    CHECK_EQ(e.unit_source, MACHSYM_UNIT_NONE);
    CHECK(!e.has_symbol && e.row_count == 0);
    lookup_close(&l);
    program_free(&p);
}

/* Where the symbol table says something else, and where the unit is damaged, the explanation says so. */
static void test_doubts(void)
{
    static const make_symbol symbols[] = {{"_same", EXT, 1, 0x1000},
                                          {"_alias", EXT, 1, 0x1000},
                                          {"_other", EXT, 1, 0x1100},
                                          {"_before", EXT, 1, 0x1200},
                                          {"_inside", EXT, 1, 0x1380}};
    static const uint64_t lines[] = {0x1000, 5, 0x1400, 6, 0};
    program p;
    lookup l;
    machsym_explanation e;
    begin(&p);
    p.macho.symbols = symbols;
    p.macho.symbol_count = sizeof symbols / sizeof symbols[0];
    begin_unit(&p);
    put_plain(&p, "same", 0x1000, 0x1100);
    put_plain(&p, "name", 0x1100, 0x1200);
    put_plain(&p, "late", 0x1300, 0x1400);
    end_unit(&p);
    put_lines(&p, lines);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    static const struct {
        uint64_t addr;
        bool differs;
    } rows[] = {{0x1010, false}, {0x1110, true}, {0x1210, false}, {0x1310, true}, {0x1390, true}};
    check_name(&l, 0x1110, "", "name",
               MACHSYM_SOURCE_DWARF); /* the symbol, which is another name, is passed over */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machsym_session_explain_addr(l.session, rows[i].addr, &e);
        CHECK_EQ(e.symbol_differs, rows[i].differs);
        CHECK(!e.is_damaged && e.has_symbol);
    }
    lookup_close(&l);
    program_free(&p);

    begin(&p);
    begin_unit(&p);
    put_plain(&p, "whole", 0x1000, 0x1100);
    die(&p, 99); /* no such abbreviation */
    end_unit(&p);
    put_lines(&p, lines);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1010), "whole");
    machsym_session_explain_addr(l.session, 0x1010, &e);
    CHECK(e.is_damaged);
    lookup_close(&l);
    program_free(&p);
}

/* Two units share a line program. .debug_aranges gives the second one code that its root does not state:
 * its lines answer there, in maps too. */
static void test_lines_by_aranges(void)
{
    static const uint64_t rows[] = {0x1000, 100, 0x1200, 101, 0x1400, 102, 0x1800, 103, 0};
    program p;
    lookup l;
    begin(&p);
    begin_unit_of(&p, 0x1000, 0x1100);
    end_unit(&p);
    begin_unit_of(&p, 0x1100, 0x1200);
    put_arange(&p, p.unit_at, 0x1300, 0x1500);
    end_unit(&p);
    put_lines(&p, rows);
    for (unsigned lines = 0; lines < MACHSYM_LINES_COUNT; lines++) {
        lookup_open(&l, &p, (machsym_lines)lines, 0);
        CHECK_EQ(ask(&l, 0x1420), 1);
        CHECK_EQ(l.v[0].line, 102);
        CHECK_EQ(ask(&l, 0x1600), 0);
        check_map(&l, (machsym_lines)lines, 0xff0, 0x1820);
        lookup_close(&l);
    }
    program_free(&p);
}

/* Whether two spans have the same row. A session that has not indexed anything may have read only the rows of one function, so
 * the row's number says nothing. */
static bool same_row(const ms_ses_span *a, const ms_ses_span *b)
{
    bool has_a = a->row < a->unit->lines->row_count, has_b = b->row < b->unit->lines->row_count;
    if (!has_a || !has_b)
        return has_a == has_b;
    const ms_ln_row *x = &a->unit->lines->rows[a->row], *y = &b->unit->lines->rows[b->row];
    return x->addr == y->addr && x->line == y->line && x->file == y->file && x->column == y->column &&
           x->is_stmt == y->is_stmt && x->end_sequence == y->end_sequence;
}

/* Whether all that holds an address is the same in two spans. */
static bool same_span(const ms_ses_span *a, const ms_ses_span *b)
{
    uint64_t a_off = a->unit != NULL ? a->root->enc.unit_off : UINT64_MAX;
    uint64_t b_off = b->unit != NULL ? b->root->enc.unit_off : UINT64_MAX;
    if (a_off != b_off || a->unit == NULL)
        return a_off == b_off;
    bool same_call = a->function == ms_SEG_NONE
                         ? b->function == ms_SEG_NONE
                         : b->function != ms_SEG_NONE &&
                               a->table->blocks[a->call].die_off == b->table->blocks[b->call].die_off;
    return same_call && same_row(a, b) && a->range.lo == b->range.lo && a->range.hi == b->range.hi;
}

/* What a span says holds up to its end: every address says the same, to a session that has not indexed
 * anything too. */
static void test_spans(const char *name, machsym_lines lines)
{
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    machsym_image *image = test_open(path);
    machsym_session *walk = test_session(image, lines, MACHSYM_SESSION_INDEX);
    machsym_session *each = test_session(image, lines, 0);
    machsym_cursor at = {0, 0};
    machsym_section code;
    unsigned wrong = 0;
    size_t count = 0;
    while (machsym_image_next_section(image, &at, &code)) {
        uint64_t end = code.addr + code.size;
        for (uint64_t addr = code.is_code ? code.addr : end; addr < end; count++) {
            ms_ses_span span = ms_eng_at(walk, addr);
            wrong += span.hi <= addr;
            for (uint64_t hi = span.hi > addr && span.hi < end ? span.hi : addr + 1; addr < hi; addr++) {
                if (addr % 16 == 0) /* as if it were the first question */
                    machsym_session_trim(each);
                each->last.hi = 0; /* walk remembers functions, and each does not */
                ms_ses_span one = ms_eng_at(each, addr);
                wrong += !same_span(&span, &one);
            }
        }
    }
    CHECK(count > 10);
    CHECK_EQ(wrong, 0);
    machsym_session_close(each);
    machsym_session_close(walk);
    machsym_image_close(image);
}

/* Bytes that a session's answers have taken, without what is only work in progress. */
static size_t taken(const machsym_session *session)
{
    size_t keep = session->keep.head != NULL ? session->keep.head->used : 0;
    size_t cache = session->cache.head != NULL ? session->cache.head->used : 0;
    return session->keep.live + keep + session->cache.live + cache;
}

/* A session with MACHSYM_SESSION_INDEX answers without memory what it was asked before, however often. */
static void test_again(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    machsym_image *image = test_open(path);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, MACHSYM_SESSION_INDEX);
    machsym_cursor at = {0, 0};
    machsym_section section;
    machsym_frame frames[64];
    unsigned wrong = 0;
    unsigned asked = 0;
    while (machsym_image_next_section(image, &at, &section)) {
        for (uint64_t i = 0; section.is_code && i < section.size; i += 4, asked++) {
            machsym_session_frames_at_addr(session, section.addr + i, frames, 64);
            size_t before = taken(session);
            for (unsigned again = 0; again < 20; again++)
                machsym_session_frames_at_addr(session, section.addr + i, frames, 64);
            wrong += taken(session) != before;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(asked > 20);
    machsym_session_close(session);
    machsym_image_close(image);
}

int main(void)
{
    test_again("inline-arm64-d4-14.dwarf");
    test_again("zoo-x86_64-d5-22.dwarf");
    test_lines_by_aranges();
    test_spans("inline-arm64-d4-14.dwarf", MACHSYM_LINES_ATOS);
    test_spans("inline-x86_64-d2-14.dwarf", MACHSYM_LINES_DWARF);
    test_spans("cross-arm64-d5-22.dwarf", MACHSYM_LINES_STMT);
    test_spans("hand-lines.dwarf", MACHSYM_LINES_DWARF);
    test_spans("hand-units.dwarf", MACHSYM_LINES_STMT);
    test_name_rule();
    test_inline_names();
    test_gaps();
    test_assembly();
    test_best_line();
    test_many();
    test_cache();
    test_shared_lines();
    test_shared_program_of_two_bases();
    test_program_in_a_program();
    test_lines_behind_the_code();
    test_overlapping_ranges();
    test_iteration("inline-arm64-d4-14.dwarf");
    test_iteration("inline-x86_64-d2-14.dwarf");
    test_iteration("inline-x86_64-d3-22.dwarf");
    test_iteration("inline-x86_64-d5-O0-22.dwarf");
    test_iteration("inline-arm64_32-d4-22.dwarf");
    test_iteration("cross-arm64-d5-22.dwarf");
    test_iteration("zoo-x86_64-d5-22.dwarf");
    test_iteration("hand-dwarf64.dwarf");
    test_cursor_stays();
    test_explanation();
    test_rows_explained_past_end();
    test_doubts();
    return test_done();
}
