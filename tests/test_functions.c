/* The room functions: where functions lie, the calls inlined into them, and how origins and specifications
 * name them. */
#define TEST_ROOM <rooms/src/answer/engine.h>
#include "dwarf.h"

enum {
    UNIT = 1,
    NAMESPACE,
    FUNCTION,         /* name, low, high; has children */
    BLOCK,            /* a lexical block */
    INLINE,           /* origin, low, high, call_file, call_line, call_column; has children */
    INLINE_RANGES,    /* origin, ranges, call_line */
    ABSTRACT,         /* name, linkage name */
    CONCRETE,         /* origin, low, high */
    ORIGIN_ONLY,      /* an entry that only refers */
    SPECIFICATION,    /* specification, linkage name */
    FUNCTION_RANGES,  /* name, ranges */
    ORIGIN_ELSEWHERE, /* origin by ref_addr, low, high */
    DECLARATION,      /* name */
    NAMELESS,         /* low, high */
    INLINE_BARE,      /* origin, low, high; no call attributes, no children */
    INLINE_FIXED,     /* as INLINE, each value of a size that the form tells */
    INLINE_WIDE,      /* the same of other sizes, the origin by ref_addr; no children */
    AROUND,           /* origin, call_line; has children */
    AROUND_RANGES,    /* origin, ranges, call_line; has children */
    SPAN,             /* a lexical block that states nothing */
    LAST_CODE = SPAN
};

static void begin(program *p)
{
    memset(p, 0, sizeof *p);
    ABBREV(p, UNIT, TAG_compile_unit, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, NAMESPACE, TAG_namespace, 1, AT_name, FORM_string);
    ABBREV(p, FUNCTION, TAG_subprogram, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, BLOCK, TAG_lexical_block, 1, AT_low_pc, FORM_addr);
    ABBREV(p, INLINE, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4, AT_call_file, FORM_data1, AT_call_line, FORM_udata, AT_call_column,
           FORM_data2);
    ABBREV(p, INLINE_RANGES, TAG_inlined_subroutine, 0, AT_abstract_origin, FORM_ref4, AT_ranges,
           FORM_sec_offset, AT_call_line, FORM_data4);
    ABBREV(p, ABSTRACT, TAG_subprogram, 0, AT_name, FORM_string, AT_linkage_name, FORM_string);
    ABBREV(p, CONCRETE, TAG_subprogram, 0, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, ORIGIN_ONLY, TAG_subprogram, 0, AT_abstract_origin, FORM_ref4);
    ABBREV(p, SPECIFICATION, TAG_subprogram, 0, AT_specification, FORM_ref4, AT_linkage_name, FORM_string);
    ABBREV(p, FUNCTION_RANGES, TAG_subprogram, 1, AT_name, FORM_string, AT_ranges, FORM_sec_offset);
    ABBREV(p, ORIGIN_ELSEWHERE, TAG_subprogram, 0, AT_abstract_origin, FORM_ref_addr, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4);
    ABBREV(p, DECLARATION, TAG_subprogram, 0, AT_name, FORM_string);
    ABBREV(p, NAMELESS, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, INLINE_BARE, TAG_inlined_subroutine, 0, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4);
    ABBREV(p, INLINE_FIXED, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4, AT_call_file, FORM_data1, AT_call_line, FORM_data2, AT_call_column,
           FORM_data1);
    ABBREV(p, INLINE_WIDE, TAG_inlined_subroutine, 0, AT_abstract_origin, FORM_ref_addr, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data8, AT_call_file, FORM_data4, AT_call_line, FORM_data4, AT_call_column,
           FORM_data2);
    ABBREV(p, AROUND, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, AT_call_line, FORM_udata);
    ABBREV(p, AROUND_RANGES, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, AT_ranges,
           FORM_sec_offset, AT_call_line, FORM_data4);
    ABBREV(p, SPAN, TAG_lexical_block, 1, AT_name, FORM_string);
    abbrev_end(p);
}

static void begin_unit_of(program *p, uint64_t lo, uint64_t hi)
{
    unit_begin(p, dwarf4, 1, 0);
    die(p, UNIT);
    put_str(&p->info, "unit.c");
    put64(&p->info, lo);
    put32(&p->info, hi - lo);
}

static void begin_unit(program *p)
{
    begin_unit_of(p, 0x1000, 0x2000);
}

static void end_unit(program *p)
{
    put8(&p->info, 0);
    unit_end(p);
}

static void put_range(program *p, uint64_t lo, uint64_t hi)
{
    put64(&p->info, lo);
    put32(&p->info, hi - lo);
}

static size_t put_function(program *p, const char *name, uint64_t lo, uint64_t hi)
{
    size_t at = die(p, FUNCTION);
    put_str(&p->info, name);
    put_range(p, lo, hi);
    return at;
}

static size_t put_abstract(program *p, const char *name, const char *linkage_name)
{
    size_t at = die(p, ABSTRACT);
    put_str(&p->info, name);
    put_str(&p->info, linkage_name);
    return at;
}

static void put_inline(program *p, size_t origin, uint64_t lo, uint64_t hi, unsigned line)
{
    die(p, INLINE);
    put32(&p->info, local(p, origin));
    put_range(p, lo, hi);
    put8(&p->info, 3);
    put_uleb(&p->info, line);
    put16(&p->info, line + 1);
}

static void end_children(program *p)
{
    put8(&p->info, 0);
}

/* The names at an address, innermost first, joined by spaces. */
static void check_names(lookup *l, uint64_t addr, const char *want)
{
    test_begin();
    char got[1024] = "";
    size_t at = 0;
    ask(l, addr);
    for (size_t i = 0; i < l->count && i < FRAMES; i++) {
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%.*s", i == 0 ? "" : " ", (int)l->v[i].name.len,
                               l->v[i].name.ptr);
        CHECK_EQ(l->v[i].is_inline, i + 1 < l->count);
    }
    CHECK_TEXT(got, want);
    test_end(want);
}

/* Functions in namespaces and in functions; the inner one has its code. */
static void test_nesting(void)
{
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    die(&p, NAMESPACE);
    put_str(&p.info, "outer");
    die(&p, NAMESPACE);
    put_str(&p.info, "inner");
    put_function(&p, "deep", 0x1000, 0x1100);
    end_children(&p);
    end_children(&p);
    end_children(&p);
    put_function(&p, "around", 0x1200, 0x1300);
    die(&p, BLOCK);
    put64(&p.info, 0);
    put_function(&p, "within", 0x1240, 0x1280);
    end_children(&p);
    end_children(&p);
    end_children(&p);
    die(&p, DECLARATION);
    put_str(&p.info, "no code");
    put_function(&p, "last", 0x1400, 0x1500);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1000, "deep");
    check_names(&l, 0x10ff, "deep");
    check_names(&l, 0x1100, "");
    check_names(&l, 0x123f, "around");
    check_names(&l, 0x1240, "within");
    check_names(&l, 0x127f, "within");
    check_names(&l, 0x1280, "around");
    check_names(&l, 0x1300, "");
    check_names(&l, 0x1400, "last");
    ask(&l, 0x1250);
    CHECK_EQ(l.v[0].function_start, 0x1240);
    CHECK_EQ(l.v[0].function_size, 0x40);
    CHECK(l.v[0].die_offset != 0);
    lookup_close(&l);
    program_free(&p);
}

/* A tree of inlined calls: siblings, nested, in blocks, touching, and one that claims more than its caller
 * has. */
static void test_inline_tree(void)
{
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    size_t a = put_abstract(&p, "a", "_Za");
    size_t b = put_abstract(&p, "b", "_Zb");
    size_t c = put_abstract(&p, "c", "_Zc");
    put_function(&p, "f", 0x1000, 0x1100);
    put_inline(&p, a, 0x1010, 0x1050, 10);
    put_inline(&p, b, 0x1020, 0x1040, 20);
    die(&p, BLOCK);
    put64(&p.info, 0);
    put_inline(&p, c, 0x1030, 0x1034, 30);
    end_children(&p);
    end_children(&p);
    end_children(&p);
    put_inline(&p, c, 0x1040, 0x1044, 31);
    end_children(&p);
    end_children(&p);
    put_inline(&p, b, 0x1050, 0x1060, 40);
    end_children(&p);
    end_children(&p);
    put_function(&p, "g", 0x1100, 0x1200);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1000, "f");
    check_names(&l, 0x1010, "a f");
    check_names(&l, 0x1020, "b a f");
    check_names(&l, 0x1030, "c b a f");
    CHECK_EQ(l.v[0].line, 0); /* no line table */
    CHECK_EQ(l.v[1].line, 30);
    CHECK_EQ(l.v[1].column, 31);
    CHECK_EQ(l.v[2].line, 20);
    CHECK_EQ(l.v[3].line, 10);
    CHECK_STR(l.v[0].linkage_name, "_Zc");
    CHECK_EQ(l.v[0].name_source, MACHSYM_SOURCE_DWARF);
    CHECK_EQ(l.v[0].function_start, 0x1000); /* of the concrete function, in every frame */
    check_names(&l, 0x1033, "c b a f");
    check_names(&l, 0x1034, "b a f");
    check_names(&l, 0x1040, "c a f");
    CHECK_EQ(l.v[1].line, 31);
    check_names(&l, 0x104f, "a f");
    check_names(&l, 0x1050, "b f");
    check_names(&l, 0x1060, "f");
    check_names(&l, 0x1100, "g");
    machsym_session_counts info;
    machsym_session_count_all(l.session, &info);
    CHECK_EQ(info.function_count, 2);
    CHECK_EQ(info.inline_count, 5);
    CHECK_EQ(info.damaged_units, 0);
    lookup_close(&l);
    program_free(&p);
}

static void put_list(program *p, const uint64_t *v)
{
    for (; *v != 0; v++)
        put64(&p->ranges, *v - 0x1000); /* from the unit's low_pc */
    put_zeros(&p->ranges, 16);
}

/* A function in hot and cold pieces with another one between; an inlined call in pieces of both. */
static void test_pieces(void)
{
    static const uint64_t function[] = {0x1000 + 0x10, 0x1100, 0x1800, 0x1900, 0};
    static const uint64_t inlined[] = {0x1020, 0x1030, 0x1850, 0x1860, 0x1050, 0x1058, 0};
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    size_t a = put_abstract(&p, "a", "");
    die(&p, FUNCTION_RANGES);
    put_str(&p.info, "split");
    put32(&p.info, p.ranges.len);
    put_list(&p, function);
    die(&p, INLINE_RANGES);
    put32(&p.info, local(&p, a));
    put32(&p.info, p.ranges.len);
    put32(&p.info, 99);
    put_list(&p, inlined);
    end_children(&p);
    put_function(&p, "between", 0x1100, 0x1800);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1000, "");
    check_names(&l, 0x1010, "split");
    check_names(&l, 0x1020, "a split");
    CHECK_EQ(l.v[0].function_start, 0x1010);
    CHECK_EQ(l.v[1].line, 99);
    check_names(&l, 0x1030, "split");
    check_names(&l, 0x1057, "a split");
    check_names(&l, 0x1100, "between");
    check_names(&l, 0x17ff, "between");
    check_names(&l, 0x1800, "split");
    check_names(&l, 0x185f, "a split");
    CHECK_EQ(l.v[1].function_start, 0x1800);
    CHECK_EQ(l.v[1].function_size, 0x100);
    check_names(&l, 0x1900, "");
    machsym_cursor at = {0, 0};
    machsym_function f;
    unsigned pieces = 0;
    while (machsym_session_next_function(l.session, &at, &f))
        pieces += test_same(f.name, test_str("split"));
    CHECK_EQ(pieces, 2);
    lookup_close(&l);
    program_free(&p);
}

/* Origin, then specification, within and across units; what an entry says itself comes first. */
static void test_chains(void)
{
    program p;
    lookup l;
    begin(&p);
    begin_unit_of(&p, 0x1000, 0x1100);
    die(&p, NAMESPACE);
    put_str(&p.info, "Class");
    size_t method = die(&p, DECLARATION);
    put_str(&p.info, "method");
    end_children(&p);
    size_t spec = die(&p, SPECIFICATION);
    put32(&p.info, local(&p, method));
    put_str(&p.info, "_ZN5Class6methodEv");
    size_t middle = die(&p, ORIGIN_ONLY);
    put32(&p.info, local(&p, spec));
    die(&p, CONCRETE);
    put32(&p.info, local(&p, middle));
    put_range(&p, 0x1000, 0x1010);
    die(&p, NAMELESS);
    put_range(&p, 0x1020, 0x1030);
    end_unit(&p);
    begin_unit_of(&p, 0x1100, 0x1200);
    die(&p, ORIGIN_ELSEWHERE);
    put32(&p.info, spec);
    put_range(&p, 0x1100, 0x1110);
    die(&p, ORIGIN_ELSEWHERE); /* into the middle of nothing */
    put32(&p.info, 0xfffff0);
    put_range(&p, 0x1120, 0x1130);
    die(&p, ORIGIN_ELSEWHERE); /* a unit's header */
    put32(&p.info, 0);
    put_range(&p, 0x1140, 0x1150);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1000, "method");
    CHECK_STR(l.v[0].linkage_name, "_ZN5Class6methodEv");
    check_names(&l, 0x1020, "");
    CHECK_EQ(l.count, 1);
    check_names(&l, 0x1100, "method");
    CHECK_STR(l.v[0].linkage_name, "_ZN5Class6methodEv");
    check_names(&l, 0x1120, "");
    check_names(&l, 0x1140, "");
    CHECK_EQ(l.count, 1);
    lookup_close(&l);
    program_free(&p);
}

/* Chains that loop, and chains longer than the limit, end. */
static void test_loops(void)
{
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    size_t self = die(&p, ORIGIN_ONLY);
    put32(&p.info, local(&p, self));
    size_t a = die(&p, ORIGIN_ONLY);
    size_t to_b = p.info.len;
    put32(&p.info, 0);
    size_t b = die(&p, ORIGIN_ONLY);
    put32(&p.info, local(&p, a));
    patch(&p.info, to_b, local(&p, b), 4);
    size_t last = put_abstract(&p, "far", "");
    size_t near_enough = last;
    for (unsigned i = 0; i < 100; i++) {
        size_t next = die(&p, ORIGIN_ONLY);
        put32(&p.info, local(&p, last));
        if (i == MACHSYM_MAX_NAME_LINKS - 3)
            near_enough = next;
        last = next;
    }
    const size_t origins[] = {self, a, last, near_enough};
    for (unsigned i = 0; i < 4; i++) {
        die(&p, CONCRETE);
        put32(&p.info, local(&p, origins[i]));
        put_range(&p, 0x1000 + 0x10 * i, 0x1010 + 0x10 * i);
    }
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1000, "");
    check_names(&l, 0x1010, "");
    check_names(&l, 0x1020, "");
    check_names(&l, 0x1030, "far");
    lookup_close(&l);
    program_free(&p);
}

/* A call without code of its own. */
static void put_around(program *p, size_t origin, unsigned line)
{
    die(p, AROUND);
    put32(&p->info, local(p, origin));
    put_uleb(&p->info, line);
}

/* A call has many ranges, as where clang merges the calls of one place: none is left out. Of calls that name the
 * same list, or its rest, the first one has it; the others get no more than their bytes allow for, and the unit
 * counts as damaged. */
static void test_long_list(bool is_shared, size_t skipped, uint32_t flags)
{
    enum { RANGES = 600, SHARERS = 20 };
    program p;
    lookup l;
    size_t damaged = 0;
    begin(&p);
    for (uint64_t i = 0; i < RANGES; i++) {
        put64(&p.ranges, 4 * i); /* from the unit's low_pc */
        put64(&p.ranges, 4 * i + 2);
    }
    put_zeros(&p.ranges, 16);
    begin_unit(&p);
    size_t a = put_abstract(&p, "a", "_Za");
    for (size_t i = 0; i < (is_shared ? SHARERS : 1); i++) {
        put_function(&p, i == 0 ? "f" : "g", i == 0 ? 0x1000 : 0x1a00 + 16 * i,
                     i == 0 ? 0x1000 + 4 * RANGES : 0x1a10 + 16 * i);
        die(&p, INLINE_RANGES);
        put32(&p.info, local(&p, a));
        put32(&p.info, i == 0 ? 0 : 16 * skipped);
        put32(&p.info, 7);
        end_children(&p);
    }
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, flags);
    for (uint64_t i = 0; i < RANGES; i++) {
        check_names(&l, 0x1000 + 4 * i + 1, "a f");
        check_names(&l, 0x1000 + 4 * i + 2, "f");
    }
    for (size_t i = 1; is_shared && i < SHARERS; i++)
        check_names(&l, 0x1a00 + 16 * i, "g");
    ms_ses_unit *unit = l.session->decoded;
    for (uint32_t i = 0; unit != NULL && i < unit->functions.count; i++) {
        ms_fn_inside *inside =
            unit->functions.blocks[i].parent != ms_SEG_NONE ? NULL : ms_ses_inside_of(l.session, unit, i);
        damaged += inside != NULL && inside->table != &unit->functions && inside->table->is_damaged;
    }
    CHECK_EQ(damaged + (unit != NULL && unit->functions.is_damaged) > 0, is_shared);
    lookup_close(&l);
    program_free(&p);
}

/* What a lookup answers, and the map of the same program, at an address; its lines from the innermost caller on
 * are want, up to 0. */
static void check_chain(lookup *l, machsym_map *map, uint64_t addr, const char *want, const uint32_t *lines)
{
    test_begin();
    machsym_map_frame found[FRAMES];
    machsym_frame named[FRAMES];
    char text[4096];
    check_names(l, addr, want);
    for (size_t i = 0; lines[i] != 0; i++)
        CHECK_EQ(l->v[i + 1].line, lines[i]);
    size_t count = machsym_map_frames_at_addr(map, addr, found, FRAMES);
    CHECK_EQ(count, l->count);
    machsym_map_names(map, found, count, named, text, sizeof text);
    for (size_t i = 0; i < count; i++) {
        CHECK(test_same(named[i].name, l->v[i].name));
        CHECK_EQ(named[i].line, l->v[i].line);
        CHECK_EQ(named[i].is_inline, l->v[i].is_inline);
        CHECK_EQ(named[i].function_start, l->v[i].function_start);
        CHECK_EQ(named[i].lacks_callers, l->v[i].lacks_callers);
    }
    test_end(want);
}

/* Calls without a range that has code: strict DWARF 2 states none where there would be several. Those inside
 * them that have code were inlined through them; without such ones they answer for nothing. kind: they state no
 * range, one that ends where it begins, one outside of the code, or an empty list. */
static void put_bare(program *p, size_t origin, unsigned kind, unsigned line)
{
    if (kind == 0) {
        put_around(p, origin, line);
    } else if (kind == 3) {
        die(p, AROUND_RANGES);
        put32(&p->info, local(p, origin));
        put32(&p->info, 0);
        put32(&p->info, line);
    } else if (kind == 4) { /* whose values have fixed places */
        die(p, INLINE_FIXED);
        put32(&p->info, local(p, origin));
        put_range(p, 0x9000, 0x9010);
        put8(&p->info, 3);
        put16(&p->info, line);
        put8(&p->info, 0);
    } else {
        put_inline(p, origin, kind == 1 ? 0x1010 : 0x9000, kind == 1 ? 0x1010 : 0x9010, line);
    }
}

static void test_bare_calls(unsigned kind, uint32_t flags)
{
    static const uint32_t deep[] = {30, 20, 10, 0};
    static const uint32_t second[] = {31, 20, 10, 0};
    static const uint32_t one[] = {40, 0};
    static const uint32_t beside[] = {60, 50, 0};
    program p;
    lookup l;
    machsym_map *map = NULL;
    machsym_plan_desc desc;
    begin(&p);
    put_zeros(&p.ranges, 16); /* an empty list */
    begin_unit(&p);
    size_t a = put_abstract(&p, "a", "_Za");
    size_t b = put_abstract(&p, "b", "_Zb");
    size_t c = put_abstract(&p, "c", "_Zc");
    put_function(&p, "f", 0x1000, 0x1100);
    put_bare(&p, a, kind, 10); /* two of them, and two with code in a block without any */
    put_bare(&p, b, kind, 20);
    die(&p, SPAN);
    put_str(&p.info, "");
    put_inline(&p, c, 0x1010, 0x1018, 30);
    end_children(&p);
    put_inline(&p, c, 0x1020, 0x1028, 31);
    end_children(&p);
    end_children(&p);
    end_children(&p);
    end_children(&p);
    put_bare(&p, a, kind, 12); /* two with nothing in them, and one with such a one only */
    end_children(&p);
    put_bare(&p, a, kind, 13);
    put_bare(&p, b, kind, 14);
    end_children(&p);
    end_children(&p);
    put_inline(&p, b, 0x1030, 0x1038, 40);
    put_bare(&p, c, kind, 41);
    end_children(&p);
    end_children(&p);
    put_bare(&p, b, kind, 50); /* a function in one, which answers for itself, and a call after it */
    put_function(&p, "within", 0x1040, 0x1048);
    end_children(&p);
    put_inline(&p, a, 0x1050, 0x1058, 60);
    end_children(&p);
    end_children(&p);
    end_children(&p);
    put_function(&p, "g", 0x1100, 0x1200);
    put_bare(&p, a, kind, 70);
    end_children(&p);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, flags);
    memset(&desc, 0, sizeof desc);
    desc.image = l.image;
    CHECK_EQ(machsym_map_build(&desc, &map, NULL), MACHSYM_OK);
    check_chain(&l, map, 0x1000, "f", deep + 3);
    check_chain(&l, map, 0x1010, "c b a f", deep);
    CHECK_STR(l.v[1].linkage_name, "_Zb");
    check_chain(&l, map, 0x1018, "f", deep + 3);
    check_chain(&l, map, 0x1020, "c b a f", second);
    check_chain(&l, map, 0x1030, "b f", one);
    check_chain(&l, map, 0x1040, "within", deep + 3);
    check_chain(&l, map, 0x1050, "a b f", beside);
    check_chain(&l, map, 0x1060, "f", deep + 3);
    check_chain(&l, map, 0x1100, "g", deep + 3);
    CHECK_EQ(l.session->units[0]->functions.is_damaged, false);
    machsym_session_counts info;
    machsym_session_count_all(l.session, &info);
    CHECK_EQ(info.function_count, 3);
    machsym_map_close(map);
    lookup_close(&l);
    program_free(&p);
}

/* Returns how much is wrong in an answer for `calls` nested calls. Call number n, from 1 on, is function
 * "cN", called in line N of the call before it. */
static size_t wrong_of_deep(const machsym_frame *v, size_t count, size_t calls)
{
    size_t most = (size_t)MACHSYM_MAX_INLINE_DEPTH;
    size_t told = calls < most ? calls : most;
    size_t wrong = count != told + 1;
    for (size_t i = 0; i < count; i++) {
        char name[32] = "f";
        size_t call = i < told ? calls - i : 0;
        if (call > 0)
            snprintf(name, sizeof name, "c%u", (unsigned)call);
        wrong += !test_same(v[i].name, test_str(name)) || v[i].is_inline != (call > 0) ||
                 (i > 0 && v[i].line != call + 1) || v[i].lacks_callers != (i + 1 == told && calls > told) ||
                 v[i].function_start != 0x1000;
    }
    return wrong;
}

enum { DEEP = 9000, DEEP_TEXT = 1 << 20, DEEP_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 2 };

/* Ways to ask for the frames of a deep chain: sessions on debug info and on its map, one by one and at once, the
 * map itself, and a copy of the map, made of its frames. */
static void check_deep(lookup *l, const machsym_map *map, size_t first, size_t last)
{
    static machsym_frame frames[2 * DEEP_FRAMES];
    static machsym_map_frame found[2 * DEEP_FRAMES];
    static char text[DEEP_TEXT];
    machsym_answer answers[2];
    size_t wrong = 0;
    for (size_t calls = first; calls <= last; calls++) {
        uint64_t addrs[2] = {0x1000 + calls, 0x1000 + calls};
        size_t count = machsym_session_frames_at_addr(l->session, addrs[0], frames, DEEP_FRAMES);
        wrong += wrong_of_deep(frames, count, calls);
        wrong += machsym_session_frames_at_addr(l->session, addrs[0], NULL, 0) != count;
        wrong += machsym_session_frames_at_addr(l->session, addrs[0], frames, 3) != count ||
                 frames[2].lacks_callers;
        machsym_session_frames_at_addrs(l->session, addrs, 2, answers, frames, 2 * DEEP_FRAMES);
        wrong += wrong_of_deep(frames + answers[1].first, answers[1].count, calls);
        count = machsym_map_frames_at_addr(map, addrs[0], found, DEEP_FRAMES);
        machsym_map_names(map, found, count, frames, text, sizeof text);
        wrong += wrong_of_deep(frames, count, calls);
        wrong += machsym_map_frames_at_addr(map, addrs[0], NULL, 0) != count;
        wrong += machsym_map_frames_at_addrs(map, addrs, 2, answers, found, 2 * DEEP_FRAMES) != 2 * count;
        machsym_map_names(map, found + answers[1].first, answers[1].count, frames, text, sizeof text);
        wrong += wrong_of_deep(frames, answers[1].count, calls);
    }
    CHECK_EQ(wrong, 0);
}

/* A map with what another one answers at each address of the calls. */
static machsym_map *copy_deep(const machsym_map *map, size_t calls)
{
    static machsym_frame frames[DEEP_FRAMES];
    static machsym_map_frame found[DEEP_FRAMES];
    static char text[DEEP_TEXT];
    machsym_map_info info;
    machsym_writer_desc desc;
    machsym_writer *writer = NULL;
    machsym_map *copy = NULL;
    machsym_map_get_info(map, &info);
    memset(&desc, 0, sizeof desc);
    desc.info = &info;
    CHECK_EQ(machsym_writer_open(&desc, &writer, NULL), MACHSYM_OK);
    test_begin();
    for (size_t i = 0; i <= calls; i++) {
        machsym_map_range range = {0x1000 + i, 0x1001 + i, false};
        size_t count = machsym_map_frames_at_addr(map, range.lo, found, DEEP_FRAMES);
        machsym_map_names(map, found, count, frames, text, sizeof text);
        CHECK_EQ(machsym_writer_add(writer, &range, frames, count, NULL), MACHSYM_OK);
    }
    test_end("ranges as deep as chains");
    CHECK_EQ(machsym_writer_finish(writer, &copy, NULL), MACHSYM_OK);
    return copy;
}

/* Calls are inlined into each other deeper than answers tell, and deeper than a chain of a map may be long.
 * Each call begins a byte after its caller. The innermost calls and the function stay, and the answer tells
 * that it lacks others. */
static void test_depth(uint32_t flags)
{
    static const size_t most = MACHSYM_MAX_INLINE_DEPTH;
    program p;
    lookup l;
    machsym_map *map = NULL;
    machsym_plan_desc desc;
    begin(&p);
    p.macho.code_size = 0x4000;
    begin_unit_of(&p, 0x1000, 0x4000);
    static size_t names[DEEP + 1];
    for (unsigned i = 1; i <= DEEP; i++) {
        char name[32];
        snprintf(name, sizeof name, "c%u", i);
        names[i] = put_abstract(&p, name, "");
    }
    put_function(&p, "f", 0x1000, 0x3800);
    for (unsigned i = 1; i <= DEEP; i++)
        put_inline(&p, names[i], 0x1000 + i, 0x3800, i);
    for (unsigned i = 0; i <= DEEP; i++)
        end_children(&p);
    put_function(&p, "g", 0x3800, 0x4000);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, flags);
    memset(&desc, 0, sizeof desc);
    desc.image = l.image;
    CHECK_EQ(machsym_map_build(&desc, &map, NULL), MACHSYM_OK);
    check_deep(&l, map, 0, 3);
    check_deep(&l, map, most - 2, most + 3);
    for (size_t stage = most + 1; stage < DEEP; stage += most + 1)
        check_deep(&l, map, stage - 2, stage + 2);
    check_deep(&l, map, 2 * most - 1, 2 * most + 2);
    check_deep(&l, map, DEEP, DEEP);
    machsym_map *copy = copy_deep(map, most + 300);
    check_deep(&l, copy, most - 2, most + 300);
    machsym_map_close(copy);
    check_names(&l, 0x3800, "g");
    CHECK(!l.v[0].lacks_callers);
    machsym_map_close(map);
    lookup_close(&l);
    program_free(&p);
}

/* The call's own numbers, when they are missing or larger than 32 bits. */
static void test_calls(void)
{
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    size_t a = put_abstract(&p, "a", "");
    put_function(&p, "f", 0x1000, 0x1100);
    die(&p, INLINE_BARE);
    put32(&p.info, local(&p, a));
    put_range(&p, 0x1000, 0x1010);
    put_inline(&p, a, 0x1010, 0x1020, 0);
    end_children(&p);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1000, "a f");
    CHECK_EQ(l.v[1].line, 0);
    CHECK_EQ(l.v[1].column, 0);
    check_names(&l, 0x1010, "a f");
    CHECK_EQ(l.v[1].line, 0);
    lookup_close(&l);
    program_free(&p);
}

static void put_fixed(program *p, size_t origin, uint64_t lo, uint64_t hi)
{
    die(p, INLINE_FIXED);
    put32(&p->info, local(p, origin));
    put_range(p, lo, hi);
    put8(&p->info, 3);
    put16(&p->info, 300);
    put8(&p->info, 7);
}

/* Calls whose values have fixed places: nested, without a function around, and outside the code. Enough follows
 * that they are read in one go. */
static void test_fixed_calls(void)
{
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    size_t a = put_abstract(&p, "a", "");
    put_fixed(&p, a, 0x1300, 0x1310);
    end_children(&p);
    put_function(&p, "f", 0x1000, 0x1100);
    put_fixed(&p, a, 0x1000, 0x1040);
    die(&p, INLINE_WIDE);
    put32(&p.info, a);
    put64(&p.info, 0x1010);
    put64(&p.info, 0x10);
    put32(&p.info, 70000);
    put32(&p.info, 100000);
    put16(&p.info, 500);
    end_children(&p);
    put_fixed(&p, a, 0, 0x10);
    end_children(&p);
    end_children(&p);
    for (int i = 0; i < 20; i++)
        put_abstract(&p, "follows", "_follows");
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1010, "a a f");
    CHECK_EQ(l.v[1].line, 100000);
    CHECK_EQ(l.v[1].column, 500);
    CHECK_EQ(l.v[2].line, 300);
    CHECK_EQ(l.v[2].column, 7);
    check_names(&l, 0x101f, "a a f");
    check_names(&l, 0x1020, "a f");
    CHECK_EQ(l.v[1].line, 300);
    check_names(&l, 0x1040, "f");
    check_names(&l, 0x1300, "");
    const ms_fn_table *table = ms_ses_inside_of(l.session, l.session->units[0], 0)->table;
    CHECK_EQ(table->blocks[1].call_file, 3);
    CHECK_EQ(table->blocks[2].call_file, 70000);
    CHECK_EQ(table->blocks[2].parent, 1);
    CHECK_EQ(table->blocks[0].end, 3);
    machsym_session_counts info;
    machsym_session_count_all(l.session, &info); /* now the unit is read with all calls */
    CHECK_EQ(info.inline_count, 2);
    check_names(&l, 0x1010, "a a f");
    CHECK_EQ(l.v[1].line, 100000);
    check_names(&l, 0x1300, "");
    lookup_close(&l);
    program_free(&p);
}

/* A call of DWARF 5. Its index takes `index_bytes` bytes, as damage or a strange producer may write it. */
static void put_indexed(program *p, size_t origin, unsigned index, unsigned index_bytes, unsigned size)
{
    die(p, 4);
    put32(&p->info, local(p, origin));
    for (unsigned i = 0; i + 1 < index_bytes; i++, index >>= 7)
        put8(&p->info, 0x80 | (index & 0x7f));
    put8(&p->info, index & 0x7f);
    put32(&p->info, size);
    put8(&p->info, 3);
    put16(&p->info, 300 + size);
    put8(&p->info, 7);
}

/* Calls whose code begins at an index: of all lengths, past the table, in the way for many and, where nothing
 * follows, in the way for few bytes. */
static void test_indexed_calls(unsigned index_bytes, int followers)
{
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    ABBREV(&p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_addr_base,
           FORM_sec_offset);
    ABBREV(&p, 2, TAG_subprogram, 0, AT_name, FORM_string);
    ABBREV(&p, 3, TAG_subprogram, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(&p, 4, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addrx, AT_high_pc,
           FORM_data4, AT_call_file, FORM_data1, AT_call_line, FORM_data2, AT_call_column, FORM_data1);
    abbrev_end(&p);
    for (uint64_t i = 0; i < 200; i++)
        put64(&p.addr, 0x1000 + 0x10 * i);
    unit_begin(&p, dwarf5, 1, 0);
    die(&p, 1);
    put64(&p.info, 0x1000);
    put32(&p.info, 0x2000);
    put32(&p.info, 0);
    size_t a = die(&p, 2);
    put_str(&p.info, "a");
    die(&p, 3);
    put_str(&p.info, "f");
    put_range(&p, 0x1000, 0x3000);
    put_indexed(&p, a, 1, index_bytes, 0x40);
    put_indexed(&p, a, 2, index_bytes, 0x10);
    end_children(&p);
    end_children(&p);
    put_indexed(&p, a, index_bytes > 1 ? 180 : 100, index_bytes, 0x20);
    end_children(&p);
    put_indexed(&p, a, index_bytes > 1 ? 200 : 127, index_bytes, 0x20); /* of two bytes: past the table */
    put_indexed(&p, a, 10, index_bytes, 0x30);
    end_children(&p);
    end_children(&p);
    end_children(&p);
    for (int i = 0; i < followers; i++) {
        die(&p, 2);
        put_str(&p.info, "follows");
    }
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1010, "a f");
    CHECK_EQ(l.v[1].line, 300 + 0x40);
    CHECK_EQ(l.v[1].column, 7);
    check_names(&l, 0x1020, "a a f");
    CHECK_EQ(l.v[1].line, 300 + 0x10);
    CHECK_EQ(l.v[2].line, 300 + 0x40);
    check_names(&l, 0x1030, "a f");
    check_names(&l, 0x1050, "f");
    check_names(&l, index_bytes > 1 ? 0x1b50 : 0x165f, "a f");
    CHECK_EQ(l.v[1].line, 300 + 0x20);
    check_names(&l, index_bytes > 1 ? 0x1b60 : 0x1660, "f");
    check_names(&l, 0x10a0, "a a f"); /* in a call whose own code is elsewhere, or nowhere */
    const ms_fn_table *table = ms_ses_inside_of(l.session, l.session->units[0], 0)->table;
    CHECK_EQ(table->count, 6);
    CHECK_EQ(table->blocks[1].call_file, 3);
    CHECK_EQ(table->blocks[4].range_count, index_bytes > 1 ? 0 : 1);
    lookup_close(&l);
    program_free(&p);
}

/* An inlined call without a function around it says nothing; one that leaves its function's range answers
 * only where it is asked, and never harms a neighbour. */
static void test_strays(void)
{
    program p;
    lookup l;
    begin(&p);
    begin_unit(&p);
    size_t a = put_abstract(&p, "a", "");
    put_inline(&p, a, 0x1000, 0x1010, 1);
    end_children(&p);
    put_function(&p, "f", 0x1100, 0x1200);
    end_children(&p);
    put_function(&p, "g", 0x1200, 0x1300);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1000, "");
    check_names(&l, 0x1100, "f");
    check_names(&l, 0x1200, "g");
    lookup_close(&l);
    program_free(&p);
}

/* The end of a list of children in two bytes, of tables whose codes count up from 1 and of others. */
static void test_long_end(bool is_dense)
{
    program p;
    lookup l;
    begin(&p);
    if (!is_dense) {
        p.abbrev.len--;
        ABBREV(&p, 300, TAG_variable, 0, AT_name, FORM_string);
        abbrev_end(&p);
    }
    begin_unit(&p);
    put_function(&p, "f", 0x1100, 0x1200);
    put16(&p.info, 0x0080);
    put_function(&p, "g", 0x1200, 0x1300);
    end_children(&p);
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    check_names(&l, 0x1100, "f");
    check_names(&l, 0x1200, "g");
    lookup_close(&l);
    program_free(&p);
}

/* A code in `bytes` bytes, also in more than it needs. */
static void put_code(program *p, unsigned code, unsigned bytes)
{
    for (; bytes > 1; bytes--, code >>= 7)
        put8(&p->info, (code & 0x7f) | 0x80);
    put8(&p->info, code & 0x7f);
}

/* Entries that are skipped between functions, of 300 kinds: their codes take one to four bytes. */
static void test_long_codes(void)
{
    enum { FIRST = LAST_CODE + 1, KINDS = 300, FUNCTIONS = 64 };
    static const int forms[] = {FORM_udata, FORM_data1, FORM_exprloc, FORM_ref4};
    program p;
    lookup l;
    begin(&p);
    p.abbrev.len--;
    for (unsigned code = FIRST; code < KINDS; code++) {
        const int spec[] = {AT_unknown, FORM_data2, AT_unknown + 1, forms[code % 4], 0};
        abbrev(&p, code, TAG_variable, code % 5 == 0, spec);
    }
    abbrev_end(&p);
    begin_unit(&p);
    uint64_t state = 3;
    for (unsigned i = 0; i < FUNCTIONS * 40; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        unsigned code = FIRST + (unsigned)(state >> 40) % (KINDS - FIRST);
        unsigned least = code < 0x80 ? 1 : 2;
        put_code(&p, code, least + (unsigned)(state >> 60) % (5 - least));
        put16(&p.info, (uint16_t)(state >> 20));
        if (code % 4 == 0)
            put_code(&p, (unsigned)(state >> 36) & 0x7f, 1 + (unsigned)(state >> 50) % 4);
        else if (code % 4 == 2)
            put8(&p.info, 0);
        else
            put_zeros(&p.info, code % 4 == 1 ? 1 : 4);
        if (code % 5 == 0)
            end_children(&p);
        if (i % 40 == 39) {
            char name[8];
            snprintf(name, sizeof name, "f%u", i / 40);
            put_function(&p, name, 0x1000 + 16 * (i / 40), 0x1010 + 16 * (i / 40));
            end_children(&p);
        }
    }
    end_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", i);
        check_names(&l, 0x1008 + 16 * i, name);
    }
    lookup_close(&l);
    program_free(&p);
}

/* A function in more pieces than are searched one by one, listed from last to first: each knows its own
 * bounds. */
static void test_many_pieces(void)
{
    enum { PIECES = 40 };
    program p;
    lookup l;
    begin(&p);
    begin_unit_of(&p, 0x1000, 0x2000);
    die(&p, FUNCTION_RANGES);
    put_str(&p.info, "scattered");
    put32(&p.info, p.ranges.len);
    for (uint64_t i = PIECES; i-- > 0;) {
        put64(&p.ranges, 0x20 * i);
        put64(&p.ranges, 0x20 * i + 0x10);
    }
    put_zeros(&p.ranges, 16);
    put16(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (uint64_t i = 0; i < PIECES; i++) {
        CHECK_STR(name_at(&l, 0x1000 + 0x20 * i + 0xf), "scattered");
        CHECK_EQ(l.v[0].function_start, 0x1000 + 0x20 * i);
        CHECK_EQ(l.v[0].function_size, 0x10);
        CHECK_EQ(ask(&l, 0x1000 + 0x20 * i + 0x10), 0);
    }
    lookup_close(&l);
    program_free(&p);
}

/* A function that nothing names takes the name of the symbol below it. */
static void test_nameless(void)
{
    static const make_symbol symbols[] = {{"_below", 0x0f, 1, 0x1000}};
    program p;
    lookup l;
    begin(&p);
    p.macho.symbols = symbols;
    p.macho.symbol_count = 1;
    begin_unit_of(&p, 0x1000, 0x2000);
    die(&p, NAMELESS);
    put64(&p.info, 0x1010);
    put32(&p.info, 0x10);
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1018), 1);
    CHECK_STR(l.v[0].linkage_name, "below");
    CHECK_EQ(l.v[0].name_source, MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(l.v[0].function_start, 0x1010);
    lookup_close(&l);
    program_free(&p);
}

/* Units with DW_AT_entry_pc and no DW_AT_low_pc: ranges count from it. What llvm-symbolizer says of the
 * file. */
static void test_entry_pc(void)
{
    static const struct {
        uint64_t addr;
        const char *inlined;
        const char *function;
        uint32_t lines[2];
    } rows[] = {
        {0x100001012, NULL, "old", {20, 0}},           {0x10000101a, "old_inlined", "old", {11, 21}},
        {0x100001022, NULL, "old", {22, 0}},           {0x100001032, NULL, "new", {30, 0}},
        {0x10000103a, "new_inlined", "new", {12, 21}}, {0x100001042, NULL, "new", {32, 0}},
    };
    machsym_image *image = test_open("tests/fixtures/bin/hand-entry.dwarf");
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machsym_frame frames[4];
        machsym_explanation e;
        size_t count = rows[i].inlined != NULL ? 2 : 1;
        CHECK_EQ(machsym_session_frames_at_addr(session, rows[i].addr, frames, 4), count);
        CHECK_STR(frames[count - 1].linkage_name, rows[i].function);
        CHECK_EQ(frames[0].line, rows[i].lines[0]);
        if (rows[i].inlined != NULL) {
            CHECK_STR(frames[0].name, rows[i].inlined);
            CHECK_EQ(frames[1].line, rows[i].lines[1]);
        }
        machsym_session_explain_addr(session, rows[i].addr, &e);
        CHECK_EQ(e.unit_source, MACHSYM_UNIT_RANGES);
    }
    machsym_session_close(session);
    machsym_image_close(image);
}

/* Dart's --obfuscate renames symbols and leaves the debug info alone: its names are the real ones. */
static void test_dart(void)
{
    static const struct {
        uint64_t addr;
        const char *inner;
        size_t count;
    } rows[] = {{0x100001000, "Player.skip", 1}, {0x100001008, "Queue.at", 2}, {0x100001014, "Queue.at", 1}};
    machsym_image *image = test_open("tests/fixtures/bin/hand-dart.dwarf");
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machsym_frame frames[4];
        CHECK_EQ(machsym_session_frames_at_addr(session, rows[i].addr, frames, 4), rows[i].count);
        CHECK_STR(frames[0].name, rows[i].inner);
        CHECK_EQ(frames[0].linkage_name.len, 0);
        CHECK_EQ(frames[0].name_source, MACHSYM_SOURCE_DWARF);
        CHECK_STR(frames[rows[i].count - 1].name, i < 2 ? "Player.skip" : "Queue.at");
    }
    machsym_session_close(session);
    machsym_image_close(image);
}

/* What the search for the innermost call means. The result is the function's last call, in the order of the
 * entries, that has the address. Without such a call it is the function. Calls of a function inside the
 * function do not count. */
static uint32_t call_by_rule(const ms_fn_table *table, uint32_t function, uint64_t addr)
{
    uint32_t best = function;
    for (uint32_t i = function + 1; i < table->blocks[function].end;) {
        const ms_fn_block *block = &table->blocks[i];
        if (block->parent == ms_SEG_NONE) {
            i = block->end;
            continue;
        }
        if (addr >= block->lo && addr < block->hi)
            best = i;
        i++;
    }
    return best;
}

/* Compares every address of the function with the rule, and the ends of what holds there with what follows.
 * Returns how many are wrong. */
static unsigned wrong_calls(machsym_session *session, uint64_t lo, uint64_t hi)
{
    unsigned wrong = 0;
    uint64_t until = lo;
    uint32_t last = ms_SEG_NONE;
    for (uint64_t addr = lo; addr < hi; addr++) {
        if (addr % 3 == 0) { /* the first question about a function is answered without segments */
            ms_ses_drop_units(session);
            until = addr;
        }
        ms_ses_span span = ms_eng_at(session, addr);
        uint32_t function = span.call;
        if (span.function == ms_SEG_NONE || span.hi <= addr)
            return wrong + 1;
        while (span.table->blocks[function].parent != ms_SEG_NONE)
            function = span.table->blocks[function].parent;
        wrong += span.call != call_by_rule(span.table, function, addr);
        wrong += addr < until && span.call != last;
        last = span.call;
        until = span.hi > until ? span.hi : until;
    }
    return wrong;
}

/* Calls of all kinds: nested, side by side, out of order, over each other, reaching out of their callers,
 * with a function in between. The search gives what the rule says, in a session that decodes units whole
 * too. */
static void test_call_search(void)
{
    uint64_t state = 5;
    for (unsigned round = 0; round < 40; round++) {
        program p;
        lookup l;
        unsigned depth = 0;
        begin(&p);
        begin_unit_of(&p, 0x1000, 0x1400);
        size_t origin = put_abstract(&p, "callee", "callee");
        put_function(&p, "caller", 0x1000, 0x1200);
        for (unsigned i = 0; i < 60; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint64_t lo = 0x1000 + (state >> 33) % 0x1f0;
            uint64_t size = 1 + (state >> 43) % (round % 2 != 0 ? 0x10 : 0x80);
            if (i == 30)
                put_function(&p, "inner", 0x1200, 0x1300);
            else
                put_inline(&p, origin, lo, lo + size, i + 1);
            depth++;
            for (unsigned close = (unsigned)(state >> 55) % 3; close > 0 && depth > 0; close--, depth--)
                end_children(&p);
        }
        for (; depth > 0; depth--)
            end_children(&p);
        end_children(&p);
        end_unit(&p);
        for (unsigned whole = 0; whole < 2; whole++) {
            lookup_open(&l, &p, MACHSYM_LINES_ATOS, whole != 0 ? MACHSYM_SESSION_INDEX : 0);
            CHECK_EQ(wrong_calls(l.session, 0x1000, 0x1300), 0);
            lookup_close(&l);
        }
        program_free(&p);
    }
}

/* Once many functions of a unit are asked for, the next unit is decoded with its calls. The answers stay. */
static void test_many_asked(void)
{
    test_begin();
    enum { FUNCTIONS = 300, SIZE = 16 };
    program p;
    lookup l;
    begin(&p);
    p.macho.code_size = 0x4000;
    for (uint64_t at = 0x1000, i = 0; i < 2; i++) {
        begin_unit_of(&p, at, at + FUNCTIONS * SIZE);
        size_t a = put_abstract(&p, "a", "_Za");
        for (unsigned j = 0; j < FUNCTIONS; j++, at += SIZE) {
            put_function(&p, "f", at, at + SIZE);
            die(&p, INLINE_BARE);
            put32(&p.info, local(&p, a));
            put_range(&p, at + 4, at + 8);
            put_inline(&p, a, at + 8, at + 12, j);
            end_children(&p);
            end_children(&p);
        }
        end_unit(&p);
    }
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (unsigned i = 0; i < 2 * FUNCTIONS; i++) {
        check_names(&l, 0x1000 + i * SIZE, "f");
        check_names(&l, 0x1004 + i * SIZE, "a f");
        check_names(&l, 0x1008 + i * SIZE, "a f");
        CHECK_EQ(l.v[1].line, i % FUNCTIONS);
    }
    CHECK_EQ(l.session->units[0]->functions.count, FUNCTIONS);
    CHECK_EQ(l.session->units[1]->functions.count, 3 * FUNCTIONS);
    lookup_close(&l);
    program_free(&p);
    test_end("many functions");
}

int main(void)
{
    test_call_search();
    test_entry_pc();
    test_dart();
    test_nameless();
    test_many_pieces();
    test_nesting();
    test_inline_tree();
    test_pieces();
    test_chains();
    test_loops();
    for (unsigned kind = 0; kind < 5; kind++) {
        test_bare_calls(kind, 0);
        test_bare_calls(kind, MACHSYM_SESSION_INDEX);
    }
    for (unsigned i = 0; i < 8; i++)
        test_long_list(i % 2 != 0, i / 4 * 100, i / 2 % 2 != 0 ? MACHSYM_SESSION_INDEX : 0);
    test_depth(0);
    test_depth(MACHSYM_SESSION_INDEX);
    test_calls();
    test_fixed_calls();
    for (unsigned i = 1; i <= 10; i++) {
        test_indexed_calls(i, 50);
        test_indexed_calls(i, 0);
    }
    test_strays();
    test_long_end(true);
    test_long_end(false);
    test_long_codes();
    test_many_asked();
    return test_done();
}
