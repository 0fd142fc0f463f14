/* The room forms: every form is skipped by its right size and read to its right value, in every encoding
 * that has it; range lists of all kinds; tombstones. */
#define TEST_ROOM <rooms/src/dwarf/forms.h>
#include "dwarf.h"

static const encoding encodings[] = {{2, 8, 4}, {2, 4, 4}, {3, 8, 4}, {4, 4, 4}, {4, 8, 4},
                                     {4, 8, 8}, {5, 4, 4}, {5, 8, 4}, {5, 8, 8}};
enum { ENCODINGS = sizeof encodings / sizeof encodings[0] };

static void put_block(bytes *b, uint64_t len)
{
    for (uint64_t i = 0; i < len; i++)
        put8(b, 0x81); /* as an abbreviation code it would be unknown */
}

/* Writes a value of any form that is well formed but means nothing. */
static void put_any(program *p, unsigned form)
{
    bytes *b = &p->info;
    switch (form) {
    case FORM_flag_present:
    case FORM_implicit_const: break;
    case FORM_block1:
        put8(b, 200);
        put_block(b, 200);
        break;
    case FORM_block2:
        put16(b, 300);
        put_block(b, 300);
        break;
    case FORM_block4:
        put32(b, 3);
        put_block(b, 3);
        break;
    case FORM_block:
    case FORM_exprloc:
        put_uleb(b, 150);
        put_block(b, 150);
        break;
    case FORM_string: put_str(b, "some text"); break;
    case FORM_sdata: put_sleb(b, -100000); break;
    case FORM_udata:
    case FORM_ref_udata:
    case FORM_strx:
    case FORM_addrx:
    case FORM_loclistx:
    case FORM_rnglistx:
    case FORM_GNU_addr_index:
    case FORM_GNU_str_index: put_uleb(b, 0x12345678); break;
    case FORM_LLVM_addrx_offset:
        put_uleb(b, 0x1234);
        put32(b, 5);
        break;
    case FORM_addr: put_addr(p, b, 0x8181); break;
    case FORM_ref_addr:
        put_uint(b, 0x8181, p->enc.version == 2 ? p->enc.addr_size : p->enc.offset_size);
        break;
    case FORM_strp:
    case FORM_strp_sup:
    case FORM_sec_offset:
    case FORM_line_strp:
    case FORM_GNU_ref_alt:
    case FORM_GNU_strp_alt: put_offset(p, b, 0x8181); break;
    case FORM_indirect:
        put_uleb(b, FORM_block1);
        put8(b, 2);
        put_block(b, 2);
        break;
    case FORM_data1:
    case FORM_flag:
    case FORM_ref1:
    case FORM_strx1:
    case FORM_addrx1: put8(b, 0x81); break;
    case FORM_data2:
    case FORM_ref2:
    case FORM_strx1 + 1:
    case FORM_addrx1 + 1: put_block(b, 2); break;
    case FORM_strx1 + 2:
    case FORM_addrx1 + 2: put_block(b, 3); break;
    case FORM_data4:
    case FORM_ref4:
    case FORM_ref_sup4:
    case FORM_strx1 + 3:
    case FORM_addrx1 + 3: put_block(b, 4); break;
    case FORM_data16: put_block(b, 16); break;
    default: put_block(b, 8); break; /* data8, ref8, ref_sig8, ref_sup8 */
    }
}

static const unsigned forms[] = {
    FORM_addr,          FORM_block2,      FORM_block4,       FORM_data2,
    FORM_data4,         FORM_data8,       FORM_string,       FORM_block,
    FORM_block1,        FORM_data1,       FORM_flag,         FORM_sdata,
    FORM_strp,          FORM_udata,       FORM_ref_addr,     FORM_ref1,
    FORM_ref2,          FORM_ref4,        FORM_ref8,         FORM_ref_udata,
    FORM_indirect,      FORM_sec_offset,  FORM_exprloc,      FORM_flag_present,
    FORM_strx,          FORM_addrx,       FORM_ref_sup4,     FORM_strp_sup,
    FORM_data16,        FORM_line_strp,   FORM_ref_sig8,     FORM_implicit_const,
    FORM_loclistx,      FORM_rnglistx,    FORM_ref_sup8,     FORM_strx1,
    FORM_strx1 + 1,     FORM_strx1 + 2,   FORM_strx1 + 3,    FORM_addrx1,
    FORM_addrx1 + 1,    FORM_addrx1 + 2,  FORM_addrx1 + 3,   FORM_GNU_addr_index,
    FORM_GNU_str_index, FORM_GNU_ref_alt, FORM_GNU_strp_alt, FORM_LLVM_addrx_offset,
};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

static void abbrev_root(program *p)
{
    ABBREV(p, 1, TAG_compile_unit, 1, AT_name, FORM_string);
}

static void put_root(program *p)
{
    die(p, 1);
    put_str(&p->info, "unit.c");
}

/* The form stands in the root, in an entry that is skipped, and in a function on both sides of what is
 * read. */
static void test_skip(encoding enc, unsigned form)
{
    program p;
    lookup l;
    int spec_root[] = {AT_unknown, (int)form, -5, 0};
    int spec_other[] = {AT_unknown, FORM_data2, AT_unknown, (int)form, -5, 0};
    int spec_function[20];
    int at = 0;
    memset(&p, 0, sizeof p);
    bool constant = form == FORM_implicit_const;
    if (!constant) {
        spec_root[2] = 0;
        spec_other[4] = 0;
    }
    abbrev(&p, 1, TAG_compile_unit, 1, spec_root);
    abbrev(&p, 2, TAG_variable, 0, spec_other);
    for (int part = 0; part < 4; part++) {
        spec_function[at++] = AT_unknown;
        spec_function[at++] = (int)form;
        if (constant)
            spec_function[at++] = 77;
        spec_function[at++] = part == 0 ? AT_name : part == 1 ? AT_low_pc : AT_high_pc;
        spec_function[at++] = part == 0 ? FORM_string : part == 1 ? FORM_addr : FORM_data4;
        if (part == 2)
            break;
    }
    spec_function[at] = 0;
    abbrev(&p, 3, TAG_subprogram, 0, spec_function);
    abbrev_end(&p);
    unit_begin(&p, enc, 1, 0);
    die(&p, 1);
    put_any(&p, form);
    for (unsigned i = 0; i < 3; i++) {
        die(&p, 2);
        put16(&p.info, 0x8181);
        put_any(&p, form);
        die(&p, 3);
        put_any(&p, form);
        put_str(&p.info, i == 0 ? "first" : i == 1 ? "second" : "third");
        put_any(&p, form);
        put_addr(&p, &p.info, 0x1000 + 0x100 * i);
        put_any(&p, form);
        put32(&p.info, 0x100);
    }
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1000), "first");
    CHECK_STR(name_at(&l, 0x11ff), "second");
    CHECK_STR(name_at(&l, 0x12ff), "third");
    CHECK_EQ(ask(&l, 0x1300), 0);
    machsym_session_counts info;
    machsym_session_count_all(l.session, &info);
    CHECK_EQ(info.damaged_units, 0);
    CHECK_EQ(info.function_count, 3);
    if (test_wrong != 0) {
        printf("form 0x%x, DWARF %u, addresses of %u, offsets of %u bytes\n", form, enc.version,
               enc.addr_size, enc.offset_size);
        exit(test_done());
    }
    lookup_close(&l);
    program_free(&p);
}

/* An unknown form costs its abbreviation's entries, not those of other units. */
static void test_unknown_form(void)
{
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    abbrev_root(&p);
    ABBREV(&p, 2, TAG_variable, 0, AT_unknown, 0x7777);
    ABBREV(&p, 3, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    abbrev_end(&p);
    size_t good = p.abbrev.len;
    abbrev_root(&p);
    ABBREV(&p, 3, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    abbrev_end(&p);
    for (unsigned i = 0; i < 2; i++) {
        unit_begin(&p, dwarf4, 1, i == 0 ? 0 : good);
        put_root(&p);
        die(&p, 3);
        put_str(&p.info, i == 0 ? "lost" : "kept");
        put64(&p.info, 0x1000 + 0x100 * i);
        put32(&p.info, 0x10);
        put8(&p.info, 0);
        unit_end(&p);
    }
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1000), 0);
    CHECK_STR(name_at(&l, 0x1100), "kept");
    machsym_session_counts info;
    machsym_session_count_all(l.session, &info);
    CHECK_EQ(info.damaged_units, 1);
    CHECK_EQ(info.first_damage_offset, 0);
    lookup_close(&l);
    program_free(&p);
}

/* ---- Values ---- */

/* One function whose name has the given form; put writes the value. */
static void check_name(encoding enc, int form, void (*put_value)(program *), const char *want)
{
    program p;
    lookup l;
    int spec[] = {AT_name, form, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, 0};
    memset(&p, 0, sizeof p);
    put_str(&p.str, "zero");
    put_str(&p.str, "one");
    put_str(&p.line_str, "line zero");
    put_str(&p.line_str, "line one");
    p.enc = enc;
    size_t at = enc.version >= 5 ? begin_length(&p, &p.str_offsets) : 0;
    if (enc.version >= 5)
        put32(&p.str_offsets, 5);
    size_t base = p.str_offsets.len;
    put_offset(&p, &p.str_offsets, 0);
    put_offset(&p, &p.str_offsets, 5);
    put_offset(&p, &p.str_offsets, 0x999999);
    if (enc.version >= 5)
        end_length(&p, &p.str_offsets, at);
    ABBREV(&p, 1, TAG_compile_unit, 1, AT_str_offsets_base, FORM_sec_offset);
    abbrev(&p, 2, TAG_subprogram, 0, spec);
    abbrev_end(&p);
    unit_begin(&p, enc, 1, 0);
    die(&p, 1);
    put_offset(&p, &p.info, base);
    die(&p, 2);
    put_value(&p);
    put_addr(&p, &p.info, 0x1000);
    put32(&p.info, 4);
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1003), 1);
    CHECK_STR(l.v[0].name, want);
    CHECK_EQ(l.v[0].function_size, 4);
    lookup_close(&l);
    program_free(&p);
}

static void put_inline_text(program *p)
{
    put_str(&p->info, "here");
}

static void put_offset_5(program *p)
{
    put_offset(p, &p->info, 5);
}

static void put_offset_10(program *p)
{
    put_offset(p, &p->info, 10);
}

static void put_offset_far(program *p)
{
    put_offset(p, &p->info, 0x999999);
}

static void put_index_1(program *p)
{
    put8(&p->info, 1);
}

static void put_index_2(program *p)
{
    put8(&p->info, 2); /* leads past the end of the strings */
}

static void put_index_9(program *p)
{
    put8(&p->info, 9); /* past the table */
}

static void put_index_1_2(program *p)
{
    put16(&p->info, 1);
}

static void put_index_1_3(program *p)
{
    put_uint(&p->info, 1, 3);
}

static void put_index_1_4(program *p)
{
    put32(&p->info, 1);
}

static void put_indirect_text(program *p)
{
    put_uleb(&p->info, FORM_string);
    put_str(&p->info, "indirect");
}

static void put_indirect_strp(program *p)
{
    put_uleb(&p->info, FORM_strp);
    put_offset(p, &p->info, 5);
}

static void put_number(program *p)
{
    put32(&p->info, 1);
}

static void test_names(encoding enc)
{
    check_name(enc, FORM_string, put_inline_text, "here");
    check_name(enc, FORM_strp, put_offset_5, "one");
    check_name(enc, FORM_strp, put_offset_far, "");
    check_name(enc, FORM_line_strp, put_offset_10, "line one");
    check_name(enc, FORM_strx, put_index_1, "one");
    check_name(enc, FORM_strx, put_index_2, "");
    check_name(enc, FORM_strx, put_index_9, "");
    check_name(enc, FORM_strx1, put_index_1, "one");
    check_name(enc, FORM_strx1 + 1, put_index_1_2, "one");
    check_name(enc, FORM_strx1 + 2, put_index_1_3, "one");
    check_name(enc, FORM_strx1 + 3, put_index_1_4, "one");
    check_name(enc, FORM_GNU_str_index, put_index_1, "one");
    check_name(enc, FORM_indirect, put_indirect_text, "indirect");
    check_name(enc, FORM_indirect, put_indirect_strp, "one");
    check_name(enc, FORM_data4, put_number, ""); /* a name that is no text */
}

/* A function at [0x1010, 0x1030) whose low_pc and high_pc have these forms. */
static void check_range(encoding enc, unsigned low, uint64_t low_value, unsigned low_size, unsigned high,
                        uint64_t high_value, unsigned high_size)
{
    program p;
    lookup l;
    int spec[] = {AT_low_pc, (int)low, AT_high_pc, (int)high, (int)high_value, 0};
    if (high != FORM_implicit_const)
        spec[4] = 0;
    memset(&p, 0, sizeof p);
    p.enc = enc;
    size_t at = enc.version >= 5 ? begin_length(&p, &p.addr) : 0;
    if (enc.version >= 5) {
        put16(&p.addr, 5);
        put8(&p.addr, enc.addr_size);
        put8(&p.addr, 0);
    }
    size_t base = p.addr.len;
    put_addr(&p, &p.addr, 0x1010);
    put_addr(&p, &p.addr, 0x1030);
    if (enc.version >= 5)
        end_length(&p, &p.addr, at);
    ABBREV(&p, 1, TAG_compile_unit, 1, AT_addr_base, FORM_sec_offset);
    abbrev(&p, 2, TAG_subprogram, 0, spec);
    ABBREV(&p, 3, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data1);
    abbrev_end(&p);
    unit_begin(&p, enc, 1, 0);
    die(&p, 1);
    put_offset(&p, &p.info, base);
    die(&p, 2);
    put_uint(&p.info, low_value, low_size);
    if (high == FORM_sdata || high == FORM_udata)
        put_sleb(&p.info, (int64_t)high_value);
    else
        put_uint(&p.info, high_value, high_size);
    die(&p, 3); /* that it is found shows that all before it was read by its size */
    put_str(&p.info, "after");
    put_addr(&p, &p.info, 0x1040);
    put8(&p.info, 1);
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    machsym_cursor cursor = {0, 0};
    machsym_function function;
    CHECK(machsym_session_next_function(l.session, &cursor, &function));
    CHECK_EQ(function.lo, 0x1010);
    CHECK_EQ(function.hi, 0x1030);
    CHECK_STR(name_at(&l, 0x1040), "after");
    lookup_close(&l);
    program_free(&p);
}

static void test_addresses(encoding enc)
{
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_addr, 0x1030, enc.addr_size);
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_data1, 0x20, 1);
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_data2, 0x20, 2);
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_data4, 0x20, 4);
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_data8, 0x20, 8);
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_udata, 0x20, 0);
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_sdata, 0x20, 0);
    check_range(enc, FORM_addr, 0x1010, enc.addr_size, FORM_implicit_const, 0x20, 0);
    check_range(enc, FORM_addrx, 0, 1, FORM_addrx, 1, 1);
    check_range(enc, FORM_addrx1, 0, 1, FORM_addrx1, 1, 1);
    check_range(enc, FORM_addrx1 + 1, 0, 2, FORM_addrx1 + 1, 1, 2);
    check_range(enc, FORM_addrx1 + 2, 0, 3, FORM_addrx1 + 2, 1, 3);
    check_range(enc, FORM_addrx1 + 3, 0, 4, FORM_addrx1 + 3, 1, 4);
    check_range(enc, FORM_GNU_addr_index, 0, 1, FORM_data1, 0x20, 1);
}

/* A function whose abstract origin has this form; is_absolute: the value counts from the section's start. */
static void check_reference(encoding enc, unsigned form, unsigned size, bool is_absolute, const char *want)
{
    program p;
    lookup l;
    int spec[] = {AT_abstract_origin, (int)form, AT_low_pc, FORM_addr, AT_high_pc, FORM_data1, 0};
    memset(&p, 0, sizeof p);
    abbrev_root(&p);
    abbrev(&p, 2, TAG_subprogram, 0, spec);
    ABBREV(&p, 3, TAG_subprogram, 0, AT_name, FORM_string);
    abbrev_end(&p);
    unit_begin(&p, enc, 1, 0); /* a unit before, so that the two ways to count differ */
    put_root(&p);
    put8(&p.info, 0);
    unit_end(&p);
    unit_begin(&p, enc, 1, 0);
    put_root(&p);
    size_t origin = die(&p, 3);
    put_str(&p.info, "origin");
    die(&p, 2);
    uint64_t value = is_absolute ? origin : local(&p, origin);
    if (form == FORM_ref_udata)
        put_uleb(&p.info, value);
    else
        put_uint(&p.info, value, size);
    put_addr(&p, &p.info, 0x1000);
    put8(&p.info, 8);
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1007), 1);
    CHECK_STR(l.v[0].name, want);
    lookup_close(&l);
    program_free(&p);
}

static void test_references(encoding enc)
{
    check_reference(enc, FORM_ref1, 1, false, "origin");
    check_reference(enc, FORM_ref2, 2, false, "origin");
    check_reference(enc, FORM_ref4, 4, false, "origin");
    check_reference(enc, FORM_ref8, 8, false, "origin");
    check_reference(enc, FORM_ref_udata, 0, false, "origin");
    check_reference(enc, FORM_ref_addr, enc.version == 2 ? enc.addr_size : enc.offset_size, true, "origin");
    check_reference(enc, FORM_ref_sig8, 8, false, ""); /* a type's signature names no function */
    check_reference(enc, FORM_ref4, 4, true, "");      /* past its unit: a damaged reference leads nowhere */
}

/* ---- Ranges ---- */

/* A unit of low_pc 0x1000 with one function "f" that has a ranges attribute. */
static void begin_ranges(program *p, encoding enc, unsigned form)
{
    int spec[] = {AT_name, FORM_string, AT_ranges, (int)form, 0};
    memset(p, 0, sizeof *p);
    p->enc = enc;
    if (enc.version >= 5) {
        ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_addr_base, FORM_sec_offset,
               AT_rnglists_base, FORM_sec_offset);
        put32(&p->addr, 0); /* a header that is not read */
        put32(&p->addr, 0x00080005);
        put_addr(p, &p->addr, 0x1100);
        put_addr(p, &p->addr, 0x1180);
        put_addr(p, &p->addr, 0x9000);
    } else {
        ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr);
    }
    abbrev(p, 2, TAG_subprogram, 0, spec);
    abbrev_end(p);
}

static void end_ranges(program *p, encoding enc, unsigned form, uint64_t value, uint64_t base)
{
    unit_begin(p, enc, 1, 0);
    die(p, 1);
    put_addr(p, &p->info, 0x1000);
    if (enc.version >= 5) {
        put_offset(p, &p->info, 8);
        put_offset(p, &p->info, base);
    }
    die(p, 2);
    put_str(&p->info, "f");
    if (form == FORM_rnglistx)
        put_uleb(&p->info, value);
    else
        put_uint(&p->info, value, form == FORM_data4 ? 4 : p->enc.offset_size);
    put8(&p->info, 0);
    unit_end(p);
}

/* Compares the ranges of f with pairs that end in 0. */
static void check_ranges(program *p, const uint64_t *want)
{
    lookup l;
    machsym_cursor cursor = {0, 0};
    machsym_function function;
    lookup_open(&l, p, MACHSYM_LINES_ATOS, 0);
    while (machsym_session_next_function(l.session, &cursor, &function)) {
        CHECK_EQ(function.lo, want[0]);
        CHECK_EQ(function.hi, want[0] == 0 ? 0 : want[1]);
        if (want[0] == 0)
            break;
        CHECK_STR(name_at(&l, function.lo), "f");
        CHECK_STR(name_at(&l, function.hi - 1), "f");
        CHECK_EQ(l.v[0].function_start, function.lo);
        want += 2;
    }
    CHECK_EQ(want[0], 0);
    lookup_close(&l);
}

static void test_ranges_4(encoding enc)
{
    program p;
    uint64_t escape = enc.addr_size == 4 ? 0xffffffffu : UINT64_MAX;
    static const uint64_t want[] = {0x1010, 0x1020, 0x1840, 0x1850, 0x1ff0, 0x2000, 0};
    begin_ranges(&p, enc, enc.version < 4 ? FORM_data4 : FORM_sec_offset);
    put_zeros(&p.ranges, 16);
    uint64_t at = p.ranges.len;
    const uint64_t entries[][2] = {
        {0x10, 0x20},     /* from the unit's low_pc */
        {5, 5},           /* empty */
        {escape, 0x1800}, /* a new base */
        {0x40, 0x50},
        {0x7f0, 0x900}, /* cut at the section's end */
        {0x60, 0x50},   /* backwards */
        {escape, 0},
        {0, 8}, /* dead code: its base is no code */
        {escape, escape - 1},
        {0, 8}, /* a tombstone */
        {0, 0},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        put_addr(&p, &p.ranges, entries[i][0]);
        put_addr(&p, &p.ranges, entries[i][1]);
    }
    put_zeros(&p.ranges, 32);
    end_ranges(&p, enc, enc.version < 4 ? FORM_data4 : FORM_sec_offset, at, 0);
    check_ranges(&p, want);
    program_free(&p);
}

static void put_entries_5(program *p)
{
    bytes *b = &p->rnglists;
    put8(b, 4); /* offset_pair, from the unit's low_pc */
    put_uleb(b, 0x10);
    put_uleb(b, 0x20);
    put8(b, 1); /* base_addressx */
    put_uleb(b, 0);
    put8(b, 4);
    put_uleb(b, 1);
    put_uleb(b, 0x11);
    put8(b, 2); /* startx_endx */
    put_uleb(b, 0);
    put_uleb(b, 1);
    put8(b, 3); /* startx_length */
    put_uleb(b, 1);
    put_uleb(b, 0x10);
    put8(b, 5); /* base_address */
    put_addr(p, b, 0x1400);
    put8(b, 4);
    put_uleb(b, 0);
    put_uleb(b, 4);
    put8(b, 6); /* start_end */
    put_addr(p, b, 0x1500);
    put_addr(p, b, 0x1508);
    put8(b, 7); /* start_length */
    put_addr(p, b, 0x1600);
    put_uleb(b, 0x80);
    put8(b, 3); /* startx_length, dead: the address is no code */
    put_uleb(b, 2);
    put_uleb(b, 0x10);
    put8(b, 2); /* startx_endx past the table: this entry only */
    put_uleb(b, 0);
    put_uleb(b, 77);
    put8(b, 7); /* tombstones */
    put_addr(p, b, UINT64_MAX);
    put_uleb(b, 0x10);
    put8(b, 7);
    put_addr(p, b, 0);
    put_uleb(b, 0x10);
    put8(b, 0);
}

static const uint64_t want_5[] = {0x1010, 0x1020, 0x1101, 0x1111, 0x1100, 0x1180, 0x1180, 0x1190,
                                  0x1400, 0x1404, 0x1500, 0x1508, 0x1600, 0x1680, 0};

static void test_ranges_5(encoding enc)
{
    program p;
    begin_ranges(&p, enc, FORM_sec_offset);
    put_zeros(&p.rnglists, 5);
    put_entries_5(&p);
    end_ranges(&p, enc, FORM_sec_offset, 5, 0);
    check_ranges(&p, want_5);
    program_free(&p);

    /* the same by index: the base stands after the header, offsets count from it */
    begin_ranges(&p, enc, FORM_rnglistx);
    size_t at = begin_length(&p, &p.rnglists);
    put16(&p.rnglists, 5);
    put8(&p.rnglists, enc.addr_size);
    put8(&p.rnglists, 0);
    put32(&p.rnglists, 2);
    uint64_t base = p.rnglists.len;
    put_offset(&p, &p.rnglists, 0);
    put_offset(&p, &p.rnglists, 2 * enc.offset_size);
    put_entries_5(&p);
    end_length(&p, &p.rnglists, at);
    end_ranges(&p, enc, FORM_rnglistx, 1, base);
    check_ranges(&p, want_5);
    program_free(&p);
}

/* A list that is damaged gives what stood before the damage, and the unit says so. */
static void test_range_damage(void)
{
    static const uint64_t first_only[] = {0x1010, 0x1020, 0};
    machsym_session_counts info;
    program p;
    lookup l;
    for (unsigned kind = 0; kind < 3; kind++) {
        begin_ranges(&p, dwarf5, FORM_sec_offset);
        put8(&p.rnglists, 4);
        put_uleb(&p.rnglists, 0x10);
        put_uleb(&p.rnglists, 0x20);
        if (kind == 0)
            put8(&p.rnglists, 0x99); /* an unknown kind */
        if (kind == 1)
            put8(&p.rnglists, 6); /* cut in its address */
        end_ranges(&p, dwarf5, FORM_sec_offset, 0, 0);
        check_ranges(&p, first_only);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        machsym_session_count_all(l.session, &info);
        CHECK_EQ(info.damaged_units, 1);
        lookup_close(&l);
        program_free(&p);
    }
    begin_ranges(&p, dwarf4, FORM_sec_offset);
    end_ranges(&p, dwarf4, FORM_sec_offset, 0x123456, 0);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1000), 0);
    machsym_session_count_all(l.session, &info);
    CHECK_EQ(info.damaged_units, 1);
    lookup_close(&l);
    program_free(&p);
}

/* low_pc 0 is a tombstone, unless the code begins there. */
static void test_zero(uint64_t text_addr, uint64_t low, const char *want)
{
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    p.macho.text_addr = text_addr;
    p.macho.text_at_zero = text_addr == 0;
    abbrev_root(&p);
    ABBREV(&p, 2, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data1);
    abbrev_end(&p);
    unit_begin(&p, dwarf4, 1, 0);
    put_root(&p);
    die(&p, 2);
    put_str(&p.info, "f");
    put64(&p.info, low);
    put8(&p.info, 0x10);
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, low), want);
    lookup_close(&l);
    program_free(&p);
}

/* Abbreviation codes that are not 1, 2, 3, ... : sparse, huge, repeated (the first counts). */
static void test_codes(void)
{
    static const unsigned codes[][2] = {{7, 3}, {1, 0x4000}, {0x7fffffff, 2}, {200, 201}};
    for (unsigned i = 0; i < 4; i++) {
        program p;
        lookup l;
        memset(&p, 0, sizeof p);
        ABBREV(&p, codes[i][0], TAG_compile_unit, 1, AT_name, FORM_string);
        ABBREV(&p, codes[i][1], TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
               FORM_data1);
        ABBREV(&p, codes[i][1], TAG_variable, 0, AT_name, FORM_data1);
        abbrev_end(&p);
        unit_begin(&p, dwarf4, 1, 0);
        die(&p, codes[i][0]);
        put_str(&p.info, "unit.c");
        die(&p, codes[i][1]);
        put_str(&p.info, "f");
        put64(&p.info, 0x1000);
        put8(&p.info, 0x10);
        die(&p, 99); /* a code that is not declared: what stood before it still answers */
        put8(&p.info, 0);
        unit_end(&p);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        CHECK_STR(name_at(&l, 0x1000), "f");
        machsym_session_counts info;
        machsym_session_count_all(l.session, &info);
        CHECK_EQ(info.damaged_units, 1);
        lookup_close(&l);
        program_free(&p);
    }
}

/* A run of fixed attributes longer than a step can say. */
static void test_long_run(void)
{
    enum { VALUES = 5000 };
    static int spec[2 * VALUES + 10];
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    for (unsigned i = 0; i < VALUES; i++) {
        spec[2 * i] = AT_unknown;
        spec[2 * i + 1] = FORM_data16;
    }
    abbrev_root(&p);
    abbrev(&p, 2, TAG_variable, 0, spec);
    static const int rest[] = {AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data1, 0};
    memcpy(&spec[2 * VALUES], rest, sizeof rest);
    abbrev(&p, 3, TAG_subprogram, 0, spec);
    abbrev_end(&p);
    unit_begin(&p, dwarf5, 1, 0);
    put_root(&p);
    die(&p, 2);
    put_zeros(&p.info, 16 * VALUES);
    die(&p, 3);
    put_zeros(&p.info, 16 * VALUES);
    put_str(&p.info, "behind");
    put64(&p.info, 0x1000);
    put8(&p.info, 0x10);
    put8(&p.info, 0);
    unit_end(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&l, 0x1000), "behind");
    lookup_close(&l);
    program_free(&p);
}

/* An entry with text in it, in a unit of 5 GB. Only the bytes of the entry are touched. */
static void test_large_unit(void)
{
    static const uint8_t table_bytes[] = {
        1, TAG_subprogram, 0, AT_name, FORM_string, AT_call_line, FORM_data1, 0, 0, 0};
    static const uint8_t entry[] = {'a', 'b', 'c', 0, 42, 0, 0, 0, 0, 0, 0, 0};
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_dw dw;
    ms_dw_enc enc;
    ms_dw_die die;
    memset(&dw, 0, sizeof dw);
    memset(&enc, 0, sizeof enc);
    dw.abbrev = ms_span_make(table_bytes, sizeof table_bytes);
    enc.version = 4;
    enc.addr_size = enc.offset_size = 8;
    const ms_dw_abbrevs *table = ms_dw_abbrevs_make(&dw, &enc, 0, &arena);
    ms_rd rd = ms_rd_make(ms_span_make(entry, (size_t)5 << (sizeof(size_t) > 4 ? 30 : 8)));
    ms_dw_read_die(table, &table->v[0], &rd, &enc, &die);
    CHECK_EQ(ms_dw_get(&die, ms_SLOT_NAME)->text_len, 3);
    CHECK_EQ(ms_dw_get(&die, ms_SLOT_CALL_LINE)->u, 42);
    CHECK_EQ(ms_rd_offset(&rd), 5);
    const uint8_t *end = (const uint8_t *)((uintptr_t)entry + ((size_t)5 << (sizeof(size_t) > 4 ? 30 : 8)));
    CHECK(ms_dw_skip_die(table, &table->v[0], entry, end, &enc) == entry + 5);
    ms_arena_free(&arena);
}

/* An indirect form is what it names, except one that brings its constant along; none may nest for long. */
static void test_indirect(encoding enc)
{
    test_begin();
    ms_dw_enc own;
    memset(&own, 0, sizeof own);
    own.version = (uint16_t)enc.version;
    own.addr_size = (uint8_t)enc.addr_size;
    own.offset_size = (uint8_t)enc.offset_size;
    for (unsigned i = 0; i < FORM_COUNT; i++) {
        program p;
        memset(&p, 0, sizeof p);
        p.enc = enc;
        put_uleb(&p.info, forms[i]);
        size_t named = p.info.len;
        put_any(&p, forms[i]);
        put8(&p.info, 0x81);
        ms_rd skip = ms_rd_make(ms_span_make(p.info.v, p.info.len));
        ms_rd read = skip;
        ms_rd direct = skip;
        ms_rd_skip(&direct, named);
        ms_dw_skip_value(&skip, FORM_indirect, &own);
        ms_dw_value value = ms_dw_read_value(&read, FORM_indirect, 7, &own);
        ms_dw_value want = ms_dw_read_value(&direct, forms[i], 7, &own);
        CHECK_EQ(skip.failed, forms[i] == FORM_implicit_const);
        CHECK(skip.failed || ms_rd_left(&skip) == 1);
        CHECK_EQ(read.failed, forms[i] == FORM_implicit_const || forms[i] == FORM_indirect);
        CHECK(read.failed || (ms_rd_left(&read) == 1 && value.u == want.u && value.form == forms[i]));
        bytes_free(&p.info);
    }
    static const uint8_t bad[][8] = {
        {FORM_indirect, FORM_indirect, FORM_indirect, FORM_indirect, FORM_data1, 0, 0, 0},
        {0, 0, 0, 0, 0, 0, 0, 0},
        {0x8b, 0x80, 0x04, 0, 0, 0, 0, 0}, /* 0x1000b: not data1 */
        {0x7f, 0, 0, 0, 0, 0, 0, 0}};      /* no form has this number */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ms_rd skip = ms_rd_make(ms_span_make(bad[i], sizeof bad[i]));
        ms_rd read = skip;
        ms_dw_skip_value(&skip, FORM_indirect, &own);
        ms_dw_read_value(&read, FORM_indirect, 7, &own);
        CHECK(skip.failed && read.failed);
    }
    test_end("an indirect form");
}

/* The same as looking through all sections of code, however many there are. */
static void test_code_until(void)
{
    enum { COUNT = 45 };
    ms_range code[COUNT];
    ms_dw dw;
    memset(&dw, 0, sizeof dw);
    for (uint64_t i = 0; i < COUNT; i++) {
        code[i].lo = 100 * i + 10;
        code[i].hi = code[i].lo + (i % 3 == 0 ? 100 : 50);
    }
    dw.code = code;
    test_begin();
    for (dw.code_count = 0; dw.code_count <= COUNT; dw.code_count += 15) {
        for (uint64_t addr = 0; addr < 100 * COUNT + 100; addr += 5) {
            uint64_t want = UINT64_MAX;
            for (size_t i = dw.code_count; i-- > 0;) {
                want = addr < code[i].hi ? code[i].hi : want;
                want = addr < code[i].lo ? code[i].lo : want;
            }
            CHECK(ms_dw_code_until(&dw, addr) == want);
        }
    }
    test_end("up to where code goes, or does not");
}

/* Entries of .debug_rnglists that name addresses or lists which are not there, DWARF5 2.17.3: they say
 * nothing, and what follows them counts. */
static void test_missing_addresses(void)
{
    static const uint8_t lists[] = {1, 0x77,       /* base_addressx: not there */
                                    4, 0x10, 0x20, /* offset_pair: counts from 0 then, where no code is */
                                    2, 0x77, 0x78, /* startx_endx: neither is there */
                                    2, 0x00, 0x77, /* the end is not there */
                                    2, 0x77, 0x00, /* the start is not there */
                                    3, 0x77, 0x10, /* startx_length */
                                    5, 0,    0x10, 0, 0, /* base_address 0x1000 */
                                    4, 0x30, 0x40,       /* 0x1030 to 0x1040 */
                                    3, 0x00, 0x10,       /* 0x1100 to 0x1110 */
                                    0};
    static const uint8_t addrs[] = {0, 0x11, 0, 0};
    static const ms_range code = {0x1000, 0x2000};
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_ranges list = {&arena, NULL, 0, 0, 100, false};
    ms_dw dw;
    ms_dw_enc enc;
    memset(&dw, 0, sizeof dw);
    memset(&enc, 0, sizeof enc);
    dw.rnglists = ms_span_make(lists, sizeof lists);
    dw.addr = ms_span_make(addrs, sizeof addrs);
    dw.code = &code;
    dw.code_count = 1;
    enc.version = 5;
    enc.addr_size = enc.offset_size = 4;
    enc.low_pc = 0x1000;
    ms_dw_value value = {0, NULL, 0, FORM_sec_offset};
    CHECK(ms_dw_ranges(&dw, &enc, &value, &list));
    CHECK_EQ(list.count, 2);
    CHECK_EQ(list.v[0].lo, 0x1030);
    CHECK_EQ(list.v[0].hi, 0x1040);
    CHECK_EQ(list.v[1].lo, 0x1100);
    CHECK_EQ(list.v[1].hi, 0x1110);
    value.form = FORM_rnglistx;
    static const uint64_t far[] = {1000, 9, UINT64_MAX}; /* after the section, across its end, no number */
    for (size_t i = 0; i < 3; i++) {
        value.u = far[i];
        CHECK(!ms_dw_ranges(&dw, &enc, &value, &list));
    }
    value.u = 0;
    enc.rnglists_base = UINT64_MAX - 1;
    value.u = 1;
    CHECK(!ms_dw_ranges(&dw, &enc, &value, &list));
    enc.rnglists_base = 0;
    value.form = FORM_sec_offset;
    value.u = 0;
    list.count = 0;
    list.budget = 8; /* ends before the last but one */
    CHECK(!ms_dw_ranges(&dw, &enc, &value, &list));
    CHECK_EQ(list.count, 1);
    enc.version = 4;
    dw.ranges = dw.rnglists;
    list.budget = 0;
    CHECK(!ms_dw_ranges(&dw, &enc, &value, &list));
    static const uint64_t indexes[] = {UINT64_MAX, 2, 1};
    uint64_t addr = 0;
    for (size_t i = 0; i < 3; i++)
        CHECK(!ms_dw_address_indexed(&dw, &enc, indexes[i], &addr));
    enc.addr_base = UINT64_MAX;
    CHECK(!ms_dw_address_indexed(&dw, &enc, 1, &addr));
    enc.addr_base = 3; /* an address across the end */
    CHECK(!ms_dw_address_indexed(&dw, &enc, 0, &addr));
    enc.addr_base = 0;
    CHECK(ms_dw_address_indexed(&dw, &enc, 0, &addr) && addr == 0x1100);
    enc.str_offsets_base = UINT64_MAX;
    dw.str_offsets = dw.addr;
    CHECK_EQ(ms_dw_string_indexed(&dw, &enc, 1).len, 0);
    ms_arena_free(&arena);
}

/* A table of .debug_abbrev; how many of its entries are understood. */
static size_t count_abbrevs(const bytes *b, uint64_t code, unsigned tag)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_dw dw;
    ms_dw_enc enc;
    memset(&dw, 0, sizeof dw);
    memset(&enc, 0, sizeof enc);
    dw.abbrev = ms_span_make(b->v, b->len);
    enc.version = 5;
    enc.addr_size = 8;
    enc.offset_size = 4;
    const ms_dw_abbrevs *table = ms_dw_abbrevs_make(&dw, &enc, 0, &arena);
    const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(table, code);
    CHECK_EQ(abbrev != NULL ? abbrev->tag : 0, tag);
    size_t count = table->count;
    ms_arena_free(&arena);
    return count;
}

static void begin_abbrev(bytes *b, uint64_t code, uint64_t tag)
{
    put_uleb(b, code);
    put_uleb(b, tag);
    put8(b, 0);
}

static void put_pair(bytes *b, uint64_t attribute, uint64_t form)
{
    put_uleb(b, attribute);
    put_uleb(b, form);
}

/* A table keeps what stands before its damage, DWARF5 7.5.3. */
static void test_tables(void)
{
    for (unsigned kind = 0; kind < 6; kind++) {
        bytes b = {NULL, 0, 0};
        begin_abbrev(&b, 1, TAG_variable);
        put_pair(&b, AT_name, FORM_string);
        put_pair(&b, 0, 0);
        begin_abbrev(&b, 2, kind == 0 ? 0x12345 : TAG_subprogram);
        switch (kind) {
        case 0:
            put_pair(&b, AT_name, FORM_string);
            break; /* a tag that does not fit becomes one that is not known */
        case 1: put_pair(&b, 0, FORM_data1); break;    /* an attribute without a name is one to skip */
        case 2: put_pair(&b, AT_name, 0x10008); break; /* a form that does not fit is not form 8 */
        case 3: put_pair(&b, AT_name, FORM_ref_sup8 + 0x40); break;
        case 4:
            for (unsigned i = 0; i < 0x8010; i++) /* more steps than an entry may have, read and skipped */
                put_pair(&b, AT_name, FORM_string);
            break;
        default: put_pair(&b, AT_unknown, 0); break; /* an attribute without a form */
        }
        put_pair(&b, 0, 0);
        begin_abbrev(&b, 3, TAG_variable);
        put_pair(&b, 0, 0);
        put8(&b, 0);
        bool kept = kind < 2;
        CHECK_EQ(count_abbrevs(&b, 1, TAG_variable), kept ? 3 : 1);
        CHECK_EQ(count_abbrevs(&b, 2, !kept ? 0 : kind == 0 ? 0xffff : TAG_subprogram), kept ? 3 : 1);
        CHECK_EQ(count_abbrevs(&b, 3, kept ? TAG_variable : 0), kept ? 3 : 1);
        b.len = 3; /* cut in the first: nothing is left */
        CHECK_EQ(count_abbrevs(&b, 1, 0), 0);
        bytes_free(&b);
    }
}

/* Zeros may pad a number beyond 10 bytes, as llvm-dwarfdump has it; bits above 64 may not. Skipping
 * agrees. */
static void test_long_numbers(void)
{
    static const uint8_t table_bytes[] = {1, TAG_subprogram, 0, AT_call_line, FORM_udata, 0, 0, 0};
    uint8_t entry[16];
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_dw dw;
    ms_dw_enc enc;
    memset(&dw, 0, sizeof dw);
    memset(&enc, 0, sizeof enc);
    dw.abbrev = ms_span_make(table_bytes, sizeof table_bytes);
    enc.version = 4;
    enc.addr_size = 8;
    enc.offset_size = 4;
    const ms_dw_abbrevs *table = ms_dw_abbrevs_make(&dw, &enc, 0, &arena);
    for (size_t len = 1; len <= 12; len++) { /* 5, padded to len bytes */
        ms_dw_die die;
        memset(entry, 0x80, sizeof entry);
        entry[0] = len == 1 ? 5 : 0x85;
        entry[len - 1] = len == 1 ? 5 : 0;
        ms_rd rd = ms_rd_make(ms_span_make(entry, sizeof entry));
        ms_dw_read_die(table, &table->v[0], &rd, &enc, &die);
        const uint8_t *end = ms_dw_skip_die(table, &table->v[0], entry, entry + sizeof entry, &enc);
        CHECK(!rd.failed && ms_rd_offset(&rd) == len);
        CHECK_EQ(ms_dw_get(&die, ms_SLOT_CALL_LINE)->u, 5);
        CHECK(end == entry + len);
        entry[len - 1] = 0x80;
        memset(entry + len, 0xff, sizeof entry - len);
        rd = ms_rd_make(ms_span_make(entry, sizeof entry));
        ms_dw_read_die(table, &table->v[0], &rd, &enc, &die);
        CHECK(rd.failed);
        CHECK(ms_dw_skip_die(table, &table->v[0], entry, entry + sizeof entry, &enc) == NULL);
    }
    ms_arena_free(&arena);
}

/* Numbers of one to nine bytes, as DWARF5 7.6 writes them, with both signs; a tenth byte is for the checked path. */
static void test_raw_numbers(void)
{
    test_begin();
    for (unsigned len = 1; len <= 10; len++) {
        for (unsigned bit = 0; bit <= 7 * len && bit < 63; bit++) {
            uint8_t code[10];
            uint64_t number = ((uint64_t)1 << bit) - (bit == 7 * len), got = 0;
            for (unsigned i = 0; i < len; i++)
                code[i] = (uint8_t)((number >> (i < 9 ? 7 * i : 63) & 0x7f) | (i + 1 < len ? 0x80 : 0));
            bool is_negative = len < 10 && (code[len - 1] & 0x40) != 0;
            const uint8_t *next = ms_dw_raw_uleb(code, &got);
            CHECK(next == (len < 10 ? code + len : NULL));
            CHECK(len == 10 || got == number);
            next = ms_dw_raw_sleb(code, &got);
            CHECK(next == (len < 10 ? code + len : NULL));
            CHECK(len == 10 || got == number - (is_negative ? (uint64_t)1 << 7 * len : 0));
        }
    }
    test_end("numbers of one to ten bytes");
}

static void check_steps(const ms_dw_abbrevs *a, const ms_dw_abbrev *of_a, const ms_dw_abbrevs *b,
                        const ms_dw_abbrev *of_b)
{
    size_t count = (size_t)of_a->skip_count + of_a->read_count;
    for (size_t i = 0; i < count; i++) {
        const ms_dw_step *x = &a->steps[of_a->skip_first + i];
        const ms_dw_step *y = &b->steps[of_b->skip_first + i];
        CHECK(x->skip == y->skip && x->form == y->form && x->how == y->how && x->slot == y->slot &&
              x->size == y->size && x->bits == y->bits);
    }
}

/* Whether a kind of entry is the same in two tables, with its brief. */
static void check_kind(const ms_dw_abbrevs *a, const ms_dw_abbrevs *b, size_t code)
{
    const ms_dw_abbrev *of_a = ms_dw_abbrev_from_code(a, code);
    const ms_dw_abbrev *of_b = ms_dw_abbrev_from_code(b, code);
    CHECK(of_a != NULL && of_b != NULL && of_a->is_made && of_b->is_made);
    CHECK(of_a->tag == of_b->tag && of_a->kind == of_b->kind && of_a->has_children == of_b->has_children);
    CHECK(of_a->has_code == of_b->has_code && of_a->slots == of_b->slots && of_a->specs == of_b->specs);
    CHECK(of_a->skip_count == of_b->skip_count && of_a->read_count == of_b->read_count);
    CHECK(of_a->skip_tail == of_b->skip_tail && of_a->skip_max == of_b->skip_max);
    CHECK(of_a->read_max == of_b->read_max);
    CHECK(memcmp(&a->briefs[code], &b->briefs[code], sizeof *a->briefs) == 0);
    CHECK(a->brief_max >= 4u + a->briefs[code].skip + a->briefs[code].tail);
    check_steps(a, of_a, b, of_b);
}

/* A table whose kinds are made when they are met, in any order, has the same ones as one that is made at
 * once. Damaged ones are not made so. */
static void test_later(void)
{
    static const unsigned attributes[] = {AT_name, AT_call_line, 0x11, 0x12,   0x55,
                                          0x31,    0x47,         0x3a, 0x2007, 0x49};
    static const unsigned tags[] = {TAG_subprogram, TAG_variable, TAG_compile_unit, 0x1d};
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    uint32_t dice = 1;
    test_begin();
    for (unsigned round = 0; round < 300; round++) {
        bytes b = {NULL, 0, 0};
        ms_dw dw;
        ms_dw_enc enc;
        memset(&dw, 0, sizeof dw);
        memset(&enc, 0, sizeof enc);
        enc.version = (uint16_t)(2 + round % 4);
        enc.addr_size = round % 8 < 4 ? 8 : 4;
        enc.offset_size = 4;
        size_t kinds = 1 + round % 40;
        for (size_t code = 1; code <= kinds; code++) {
            put_uleb(&b, code);
            put_uleb(&b, tags[(dice >> 20) % 4]);
            put8(&b, (uint8_t)(dice >> 24 & 1));
            for (unsigned i = 0; i < (dice >> 16) % 12; i++) {
                dice = dice * 1664525 + 1013904223;
                unsigned form = 1 + (dice >> 16) % 0x2c;
                put_uleb(&b, attributes[(dice >> 8) % 10]);
                put_uleb(&b, form == 2 ? 0x0bu : form);
                if (form == 0x21)
                    put_uleb(&b, dice >> 28);
            }
            put8(&b, 0);
            put8(&b, 0);
            dice = dice * 1664525 + 1013904223;
        }
        put8(&b, 0);
        dw.abbrev = ms_span_make(b.v, b.len);
        ms_dw_abbrevs *whole = ms_dw_abbrevs_make(&dw, &enc, 0, &arena);
        ms_dw_abbrevs *later = ms_dw_abbrevs_later(&dw, &enc, 0, &arena);
        CHECK(whole->count == kinds && later != NULL && later->count == kinds &&
              later->needs == whole->needs);
        for (size_t code = kinds; code > 0; code -= code > 2 ? 2 : code)
            check_kind(later, whole, code);
        CHECK(ms_dw_abbrev_from_code(later, kinds + 1) == NULL && ms_dw_abbrev_from_code(later, 0) == NULL);
        CHECK(ms_dw_make_rest(later) && later->rest == NULL);
        for (size_t code = 1; code <= kinds; code++) {
            check_kind(later, whole, code);
            CHECK_EQ(later->v[code - 1].layout, whole->v[code - 1].layout);
        }
        for (size_t len = round % 10 == 0 ? 0 : b.len - 1; len < b.len; len++) { /* its end is missing */
            dw.abbrev.len = len;
            CHECK(ms_dw_abbrevs_later(&dw, &enc, 0, &arena) == NULL);
        }
        bytes_free(&b);
        ms_arena_reset(&arena);
    }
    ms_arena_free(&arena);
    test_end("kinds of entries that are made when they are met");
}

/* A kind whose values have forms of DWARF 5, or of GNU and LLVM that are known, is made later; others never. */
static void test_later_forms(void)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_dw dw;
    ms_dw_enc enc;
    memset(&dw, 0, sizeof dw);
    memset(&enc, 0, sizeof enc);
    enc.version = 5;
    enc.addr_size = 8;
    enc.offset_size = 4;
    for (unsigned form = 1; form < 0x2100; form++) {
        bool is_standard = form == 1 || (form >= 3 && form <= 0x2c);
        bool is_vendor =
            form == 0x1f01 || form == 0x1f02 || form == 0x1f20 || form == 0x1f21 || form == 0x2001;
        bytes b = {NULL, 0, 0};
        put_uleb(&b, 1);
        put_uleb(&b, TAG_subprogram);
        put8(&b, 0);
        put_uleb(&b, AT_name);
        put_uleb(&b, form);
        if (form == 0x21)
            put_uleb(&b, 0x81);
        put16(&b, 0);
        put8(&b, 0);
        dw.abbrev = ms_span_make(b.v, b.len);
        CHECK_EQ(ms_dw_abbrevs_later(&dw, &enc, 0, &arena) != NULL, is_standard || is_vendor);
        bytes_free(&b);
        ms_arena_reset(&arena);
    }
    ms_arena_free(&arena);
}

int main(void)
{
    test_later_forms();
    test_large_unit();
    test_raw_numbers();
    for (unsigned i = 0; i < ENCODINGS; i++) {
        test_begin(); /* an encoding is a case, its forms are steps */
        for (unsigned j = 0; j < FORM_COUNT; j++)
            test_skip(encodings[i], forms[j]);
        test_end("forms of an encoding");
        test_names(encodings[i]);
        test_addresses(encodings[i]);
        test_references(encodings[i]);
        test_indirect(encodings[i]);
        if (encodings[i].version < 5)
            test_ranges_4(encodings[i]);
        else
            test_ranges_5(encodings[i]);
    }
    test_unknown_form();
    test_range_damage();
    test_zero(0x1000, 0, "");
    test_zero(0, 0, "f");
    test_zero(0x1000, 1, "");
    test_codes();
    test_long_run();
    test_code_until();
    test_missing_addresses();
    test_tables();
    test_long_numbers();
    test_later();
    return test_done();
}
