/* Work is bounded by input size: for each trap that a hostile file may set, such a file at one size and at
 * four times that size is opened, asked, iterated over and made a map of. The larger one may take 4.4 times
 * the work (bytes and records visited, memory taken), which is linear but for a logarithm. Of a sample
 * most traps, and in slow builds all, take one size. */
#include "bounds.h"

#include "make_cache.h"

static void check_trap(const char *name, void (*set)(trap *t, size_t n), size_t n)
{
    cost one = spring(set, n);
    if (!test_measures_growth()) {
        CHECK(within_budget(&one));
        return;
    }
    cost four = spring(set, 4 * n);
    bool linear = one.work > 0 && four.work * 10 <= one.work * 44;
    bool cheap = within_budget(&one) && within_budget(&four);
    test_count(linear);
    test_count(cheap);
    if (!linear || !cheap || getenv("VERBOSE") != NULL)
        printf(
            "%s: work %llu, at four times the size %llu: %.2f times; of %zu bytes: %.1f steps and %.1f bytes "
            "of memory a byte\n",
            name, one.work, four.work, (double)four.work / (double)one.work, four.size,
            (double)four.work / (double)four.size, (double)four.memory / (double)four.size);
    fflush(stdout);
}

/* A name on the command line runs that trap alone. */
#define TRAP(set, n)                                                                                         \
    if (argc < 2 || strcmp(argv[1], #set) == 0)                                                              \
    check_trap(#set, set, n)

/* ---- Units ---- */

/* 1: a unit of code, 2: a function, 3: a function with children, 4: a call, 5: a call with children, 6: a
 * block */
static void put_abbrevs(program *p)
{
    ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 2, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 3, TAG_subprogram, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 4, TAG_inlined_subroutine, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_call_line,
           FORM_data1);
    ABBREV(p, 5, TAG_inlined_subroutine, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_call_line,
           FORM_data1);
    ABBREV(p, 6, TAG_lexical_block, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
}

static void put_call(program *p, unsigned code, uint64_t lo, uint64_t size)
{
    put_entry(p, code, lo, size);
    put8(&p->info, 7);
}

/* Units with a function each, all of one table. */
static void units_of_one_table(trap *t, size_t n)
{
    program *p = &t->p;
    put_abbrevs(p);
    p->macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, 0);
        put_entry(p, 1, 0x1000 + 16 * i, 16);
        put_entry(p, 2, 0x1000 + 16 * i, 16);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* The tables of all units end together: each begins one entry after the last. */
static void tables_in_tables(trap *t, size_t n)
{
    program *p = &t->p;
    p->macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, p->abbrev.len);
        ABBREV(p, 1, TAG_compile_unit, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
        put_entry(p, 1, 0x1000 + 16 * i, 16);
        unit_end(p);
    }
    abbrev_end(p);
}

/* The same in units of all encodings: each reads a table by itself. */
static void tables_in_tables_of_all_encodings(trap *t, size_t n)
{
    program *p = &t->p;
    p->macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        size_t off = p->abbrev.len;
        ABBREV(p, 1, TAG_compile_unit, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_name, FORM_string,
               AT_name, FORM_string, AT_name, FORM_string, AT_name, FORM_string, AT_name, FORM_string,
               AT_name, FORM_string, AT_name, FORM_string, AT_name, FORM_string, AT_name, FORM_string);
        for (unsigned j = 0; j < 16; j++) {
            encoding enc = {2 + j / 4, (j & 1) != 0 ? 8 : 4, (j & 2) != 0 ? 8 : 4};
            unit_begin(p, enc, 1, off);
            put_entry(p, 1, 0x1000 + 16 * i, 16);
            put_zeros(&p->info, 9);
            unit_end(p);
        }
    }
    abbrev_end(p);
}

/* One large table that all encodings claim, and that begins inside of seven others. */
static void put_all_encodings(program *p)
{
    for (unsigned j = 0; j < 7 + 8; j++) {
        encoding enc = {j < 7 || j % 2 == 0 ? 4 : 2, (j & 2) != 0 ? 8 : 4, (j & 4) != 0 ? 8 : 4};
        unit_begin(p, enc, 1, p->abbrev.len);
        put_entry(p, 1, 0x1000, 16);
        unit_end(p);
        if (j < 7)
            ABBREV(p, 1, TAG_compile_unit, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    }
    ABBREV(p, 1, TAG_compile_unit, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
}

static void table_of_all_encodings(trap *t, size_t n)
{
    program *p = &t->p;
    put_all_encodings(p);
    for (size_t i = 0; i < n; i++)
        ABBREV(p, (unsigned)i + 2, TAG_subprogram, 0, AT_name, FORM_string);
    abbrev_end(p);
}

/* The same of calls, whose values all have a fixed size. */
static void calls_of_all_encodings(trap *t, size_t n)
{
    program *p = &t->p;
    put_all_encodings(p);
    for (size_t i = 0; i < n; i++)
        ABBREV(p, (unsigned)i + 2, TAG_inlined_subroutine, 0, AT_ranges, FORM_data4);
    abbrev_end(p);
}

/* Many tables of calls, each of them claimed in all encodings. */
static void tables_of_calls(trap *t, size_t n)
{
    program *p = &t->p;
    for (size_t i = 0; i < n; i++) {
        for (unsigned j = 0; j < 8; j++) {
            encoding enc = {j % 2 == 0 ? 4 : 2, (j & 2) != 0 ? 8 : 4, (j & 4) != 0 ? 8 : 4};
            unit_begin(p, enc, 1, p->abbrev.len);
            put_entry(p, 1, 0x1000, 16);
            unit_end(p);
        }
        ABBREV(p, 1, TAG_compile_unit, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
        for (unsigned j = 0; j < 60; j++)
            ABBREV(p, j + 2, TAG_inlined_subroutine, 0, AT_ranges, FORM_data4);
        abbrev_end(p);
    }
}

/* Units whose lengths lead nowhere, with what looks like headers in them. */
static void lengths_that_lead_nowhere(trap *t, size_t n)
{
    program *p = &t->p;
    put_abbrevs(p);
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, 0);
        put_entry(p, 1, 0x1000, 16);
        for (unsigned j = 0; j < 8; j++) { /* headers of wrong versions: each leads to the next */
            put32(&p->info, 7);
            put16(&p->info, j < 7 ? 9 : 4);
            put32(&p->info, 0x10000);
            put8(&p->info, 7);
        }
        patch(&p->info, p->unit_at, i % 3 == 0 ? 0 : i % 3 == 1 ? 0x7fffffff : 17, 4);
    }
}

/* Every table is of one unit. */
static void tables_apart(trap *t, size_t n)
{
    program *p = &t->p;
    p->macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, p->abbrev.len);
        ABBREV(p, 1, TAG_compile_unit, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
        abbrev_end(p);
        put_entry(p, 1, 0x1000 + 16 * i, 16);
        unit_end(p);
    }
}

/* An entry of one byte whose attributes are many and take no bytes. */
static void attributes_of_no_size(trap *t, size_t n)
{
    program *p = &t->p;
    ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    put_uleb(&p->abbrev, 2);
    put_uleb(&p->abbrev, TAG_subprogram);
    put8(&p->abbrev, 0);
    put_uleb(&p->abbrev, AT_high_pc);
    put_uleb(&p->abbrev, FORM_flag_present);
    for (size_t i = 0; i < n; i++) {
        put_uleb(&p->abbrev, AT_name);
        put_uleb(&p->abbrev, FORM_flag_present);
    }
    put16(&p->abbrev, 0);
    unit_begin(p, dwarf4, 0, 0);
    put_entry(p, 1, 0x1000, 0x1000);
    for (size_t i = 0; i < n; i++)
        die(p, 2);
    put8(&p->info, 0);
    unit_end(p);
}

/* Small units that each claim code which .debug_aranges gives to a large one. */
static void units_claim_what_one_has(trap *t, size_t n)
{
    program *p = &t->p;
    put_abbrevs(p);
    p->macho.code_size = 16 * n;
    unit_begin(p, dwarf4, 0, 0);
    put_entry(p, 1, 0x1000, (uint32_t)(16 * n));
    for (size_t i = 0; i < n; i++)
        put_entry(p, 2, 0x1000 + 16 * i, 16);
    put8(&p->info, 0);
    unit_end(p);
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, 0);
        put_entry(p, 1, 0x1000 + 16 * i, 16);
        put_entry(p, 2, 0x1000 + 16 * i, 16);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* As before, but the large one is another for every small one, and none has the code: all are asked. */
static void units_claim_what_many_have(trap *t, size_t n)
{
    program *p = &t->p;
    size_t large = n / 64;
    put_abbrevs(p);
    p->macho.code_size = 16 * n;
    for (size_t i = 0; i < large; i++) {
        unit_begin(p, dwarf4, 0, 0);
        put_entry(p, 1, 0x1000 + 16 * i * (n / large), (uint32_t)(16 * (n / large)));
        for (size_t j = 0; j < 64; j++)
            put_entry(p, 2, 0x1000 + 16 * i * (n / large), 1);
        put8(&p->info, 0);
        unit_end(p);
    }
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, 0);
        put_entry(p, 1, 0x1000 + 16 * (i * 7919 % n), 16);
        put_entry(p, 2, 0x1000 + 16 * (i * 7919 % n), 16);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* Units that state no range. */
static void units_without_ranges(trap *t, size_t n)
{
    program *p = &t->p;
    ABBREV(p, 1, TAG_compile_unit, 1, AT_call_line, FORM_data1);
    ABBREV(p, 2, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    p->macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, 0);
        die(p, 1);
        put8(&p->info, 0);
        put_entry(p, 2, 0x1000 + 16 * i, 16);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* ---- .debug_aranges ---- */

static void put_arange_set(program *p, size_t unit_off, size_t count, uint64_t lo, uint64_t step)
{
    put32(&p->aranges, 2 + 4 + 2 + 4 + 16 * (count + 1));
    put16(&p->aranges, 2);
    put32(&p->aranges, unit_off);
    put8(&p->aranges, 8);
    put8(&p->aranges, 0);
    put32(&p->aranges, 0);
    for (size_t i = 0; i < count; i++) {
        put64(&p->aranges, lo + i * step);
        put64(&p->aranges, step);
    }
    put64(&p->aranges, 0);
    put64(&p->aranges, 0);
}

/* All sets are of the unit of the last byte, and so is the code of all others. */
static void aranges_at_one_unit(trap *t, size_t n)
{
    units_of_one_table(t, n);
    for (size_t i = 0; i < n; i++)
        put_arange_set(&t->p, 0, 1, 0x1000 + 16 * i, 16);
}

/* Every unit has a function over all code, which .debug_aranges cuts into small pieces. */
static void aranges_cut_overlapping_units(trap *t, size_t n)
{
    program *p = &t->p;
    put_abbrevs(p);
    p->macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        put_arange_set(p, p->info.len, 1, 0x1000 + 16 * i, 16);
        unit_begin(p, dwarf4, 0, 0);
        put_entry(p, 1, 0x1000, (uint32_t)(16 * n));
        put_entry(p, 2, 0x1000, (uint32_t)(16 * n));
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* Every unit reaches to the end of the section, over all others after it, which sets state. */
static void units_in_each_other(trap *t, size_t n)
{
    program *p = &t->p;
    units_of_one_table(t, n);
    size_t size = p->info.len / n; /* of each */
    for (size_t i = n; i-- > 0;) {
        patch(&p->info, i * size, p->info.len - i * size - 4, 4);
        put_arange_set(p, i * size, 1, 0x1000 + 16 * i, 16);
        put_arange_set(p, i * size + 11, 1, 0x1000 + 16 * i, 16); /* the root entry's */
    }
}

/* ---- Entries ---- */

static void unit_over(program *p, uint64_t size)
{
    put_abbrevs(p);
    p->macho.code_size = size;
    unit_begin(p, dwarf4, 0, 0);
    put_entry(p, 1, 0x1000, size);
}

static void deep_nesting(trap *t, size_t n)
{
    program *p = &t->p;
    unit_over(p, 0x1000);
    put_entry(p, 3, 0x1000, 0x1000);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 6, 0x1000, 0x1000);
    for (size_t i = 0; i < n + 2; i++)
        put8(&p->info, 0);
    unit_end(p);
}

/* Calls nested n deep, and small functions that cut their function into n pieces. */
static void deep_calls_cut(trap *t, size_t n)
{
    program *p = &t->p;
    unit_over(p, 32 * n);
    put_entry(p, 3, 0x1000, 32 * n);
    for (size_t i = 0; i < n; i++)
        put_call(p, 5, 0x1000, 32 * n);
    for (size_t i = 0; i < n + 1; i++)
        put8(&p->info, 0);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 2, 0x1000 + 32 * i, 16);
    put8(&p->info, 0);
    unit_end(p);
}

/* Calls side by side in a function that small ones cut. */
static void many_calls_cut(trap *t, size_t n)
{
    program *p = &t->p;
    unit_over(p, 32 * n);
    put_entry(p, 3, 0x1000, 32 * n);
    for (size_t i = 0; i < n; i++)
        put_call(p, 4, 0x1000 + 32 * i + 20, 4);
    put8(&p->info, 0);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 2, 0x1000 + 32 * i, 16);
    put8(&p->info, 0);
    unit_end(p);
}

static void functions_over_each_other(trap *t, size_t n)
{
    program *p = &t->p;
    unit_over(p, 32 * n);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 2, 0x1000 + 7 * i, 17 * n);
    put8(&p->info, 0);
    unit_end(p);
}

static void functions_in_functions(trap *t, size_t n)
{
    program *p = &t->p;
    unit_over(p, 32 * n);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 3, 0x1000 + i, 32 * n - 2 * i);
    for (size_t i = 0; i < n + 1; i++)
        put8(&p->info, 0);
    unit_end(p);
}

/* Every function's name is that of the one before it. */
static void origin_chain(trap *t, size_t n)
{
    program *p = &t->p;
    ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 2, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_abstract_origin,
           FORM_ref4);
    p->macho.code_size = 16 * n;
    unit_begin(p, dwarf4, 0, 0);
    put_entry(p, 1, 0x1000, 16 * n);
    size_t last = p->info.len;
    for (size_t i = 0; i < n; i++) {
        size_t at = die(p, 2);
        put_addr(p, &p->info, 0x1000 + 16 * i);
        put32(&p->info, 16);
        put32(&p->info, local(p, last));
        last = at;
    }
    put8(&p->info, 0);
    unit_end(p);
}

/* ---- Ranges ---- */

static void put_range_list(program *p, size_t n, uint64_t lo, uint64_t step, uint64_t size)
{
    for (size_t i = 0; i < n; i++) {
        put64(&p->ranges, lo + step * i);
        put64(&p->ranges, lo + step * i + size);
    }
    put64(&p->ranges, 0);
    put64(&p->ranges, 0);
}

static void put_range_abbrevs(program *p)
{
    ABBREV(p, 1, TAG_compile_unit, 1, AT_call_line, FORM_data1);
    ABBREV(p, 2, TAG_subprogram, 1, AT_ranges, FORM_sec_offset);
    ABBREV(p, 3, TAG_inlined_subroutine, 0, AT_ranges, FORM_sec_offset);
    ABBREV(p, 4, TAG_inlined_subroutine, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 5, TAG_subprogram, 0, AT_ranges, FORM_sec_offset);
    ABBREV(p, 6, TAG_subprogram, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
}

static void ranges_of_every_entry(trap *t, size_t n)
{
    program *p = &t->p;
    put_range_abbrevs(p);
    p->macho.code_size = 16 * n;
    put_range_list(p, n, 0x1000, 16, 8);
    unit_begin(p, dwarf4, 0, 0);
    die(p, 1);
    put8(&p->info, 0);
    die(p, 2);
    put32(&p->info, 0);
    for (size_t i = 0; i < n; i++) {
        die(p, 3);
        put32(&p->info, 0);
    }
    put16(&p->info, 0);
    unit_end(p);
}

static void ranges_of_every_unit(trap *t, size_t n)
{
    program *p = &t->p;
    put_range_abbrevs(p);
    p->macho.code_size = 16 * n;
    put_range_list(p, n, 0x1000, 16, 8);
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, 0);
        die(p, 1);
        put8(&p->info, 0);
        die(p, 5);
        put32(&p->info, 0);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* A function with a call whose list of ranges begins at off. */
static void put_call_of_list(program *p, uint64_t lo, uint64_t off)
{
    put_entry(p, 6, lo, 16);
    die(p, 3);
    put32(&p->info, (uint32_t)off);
    put8(&p->info, 0);
}

/* A unit for each call. All calls name parts of one list, so that each is the first of its unit that does. */
static void call_lists_of_every_unit(trap *t, size_t n)
{
    program *p = &t->p;
    put_range_abbrevs(p);
    p->macho.code_size = 16 * n;
    put_range_list(p, n, 0x1000, 16, 8);
    for (size_t i = 0; i < n; i++) {
        unit_begin(p, dwarf4, 0, 0);
        die(p, 1);
        put8(&p->info, 0);
        put_call_of_list(p, 0x1000 + 16 * i, i % 8 * 16);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* The same of the functions of one unit: each call names what is left of the list before, or all of it. */
static void call_lists_of_every_function(trap *t, size_t n)
{
    program *p = &t->p;
    put_range_abbrevs(p);
    p->macho.code_size = 16 * n;
    put_range_list(p, n, 0x1000, 16, 8);
    unit_begin(p, dwarf4, 0, 0);
    die(p, 1);
    put8(&p->info, 0);
    for (size_t i = 0; i < n; i++)
        put_call_of_list(p, 0x1000 + 16 * i, i % 2 * i * 16);
    put8(&p->info, 0);
    unit_end(p);
}

/* A function of many ranges, from last to first, with a call in each. */
static void function_of_many_ranges(trap *t, size_t n)
{
    program *p = &t->p;
    put_range_abbrevs(p);
    p->macho.code_size = 16 * n;
    for (size_t i = n; i-- > 0;) {
        put64(&p->ranges, 0x1000 + 16 * i);
        put64(&p->ranges, 0x1000 + 16 * i + 8);
    }
    put64(&p->ranges, 0);
    put64(&p->ranges, 0);
    unit_begin(p, dwarf4, 0, 0);
    die(p, 1);
    put8(&p->info, 0);
    die(p, 2);
    put32(&p->info, 0);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 4, 0x1000 + 16 * i, 4);
    put16(&p->info, 0);
    unit_end(p);
}

/* ---- Lines ---- */

/* A version 4 header with one file, opcode_base 10, line_base 0, line_range 1: a special opcode advances the
 * address by opcode - 10. */
static size_t program_begin_of(program *p, size_t files)
{
    size_t at = begin_length(p, &p->line);
    put16(&p->line, 4);
    put32(&p->line, 0);
    size_t head = p->line.len;
    put8(&p->line, 1);
    put8(&p->line, 1);
    put8(&p->line, 1);
    put8(&p->line, 0);
    put8(&p->line, 1);
    put8(&p->line, 10);
    put(&p->line, "\0\1\1\1\1\0\0\0\1", 9);
    put8(&p->line, 0);
    for (size_t i = 0; i < files; i++) {
        put_str(&p->line, "a.c");
        put_zeros(&p->line, 3);
    }
    put8(&p->line, 0);
    patch(&p->line, head - 4, p->line.len - head, 4);
    return at;
}

static size_t program_begin(program *p)
{
    return program_begin_of(p, 1);
}

static void program_end(program *p, size_t at)
{
    end_length(p, &p->line, at);
}

static void put_address(program *p, uint64_t addr)
{
    put8(&p->line, 0);
    put8(&p->line, 9);
    put8(&p->line, 2);
    put64(&p->line, addr);
}

static void put_end(program *p)
{
    put8(&p->line, 0);
    put8(&p->line, 1);
    put8(&p->line, 1);
}

static void put_line_abbrevs(program *p, uint64_t code_size)
{
    p->macho.code_size = code_size;
    p->enc = dwarf4;
    ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_stmt_list,
           FORM_sec_offset);
    ABBREV(p, 2, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 3, TAG_subprogram, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 4, TAG_inlined_subroutine, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
}

static void line_unit(program *p, uint64_t lo, uint64_t size, size_t line_off)
{
    unit_begin(p, dwarf4, 0, 0);
    put_entry(p, 1, lo, size);
    put32(&p->info, line_off);
}

/* Units with 16 bytes of code each, half of them a function's, that run the first program. */
static void put_sharing_units(program *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        line_unit(p, 0x1000 + 16 * i, 16, 0);
        put_entry(p, 2, 0x1000 + 16 * i, 8);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* One program; each of the units has a piece of the code. */
static void units_of_one_line_program(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t at = program_begin(p);
    put_address(p, 0x1000);
    for (size_t i = 0; i < 16 * n; i++)
        put8(&p->line, 11);
    put_end(p);
    program_end(p, at);
    put_sharing_units(p, n);
}

/* One program of many files and few rows; each of the units has a piece of the code. */
static void units_of_one_file_table(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t at = program_begin_of(p, 8 * n);
    put_address(p, 0x1000);
    put8(&p->line, 10);
    put8(&p->line, 2);
    put_uleb(&p->line, 16 * n);
    put_end(p);
    program_end(p, at);
    put_sharing_units(p, n);
}

/* Eight programs; units that follow each other run another one. */
static void units_of_eight_line_programs(trap *t, size_t n)
{
    program *p = &t->p;
    size_t starts[8];
    put_line_abbrevs(p, 16 * n);
    for (size_t i = 0; i < 8; i++) {
        starts[i] = p->line.len;
        size_t at = program_begin(p);
        put_address(p, 0x1000);
        for (size_t j = 0; j < 2 * n; j++)
            put8(&p->line, 18);
        put_end(p);
        program_end(p, at);
    }
    for (size_t i = 0; i < n; i++) {
        line_unit(p, 0x1000 + 16 * i, 16, starts[i % 8]);
        put_entry(p, 2, 0x1000 + 16 * i, 8);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* Headers in the code of the program before: all run to the end of the section. */
static void line_programs_in_each_other(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t *starts = (size_t *)calloc(n, sizeof *starts);
    for (size_t i = 0; i < n; i++) {
        line_unit(p, 0x1000 + 16 * i, 16, p->line.len);
        put8(&p->info, 0);
        unit_end(p);
        starts[i] = program_begin(p);
        put_address(p, 0x1000 + 16 * i);
        put8(&p->line, 18);
    }
    put_end(p);
    for (size_t i = 0; i < n; i++)
        program_end(p, starts[i]);
    free(starts);
}

static void line_program_of_many_sequences(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t at = program_begin(p);
    for (size_t i = n; i-- > 0;) {
        put_address(p, 0x1000 + 16 * i);
        put8(&p->line, 10);
        put8(&p->line, 18);
        put_end(p);
    }
    program_end(p, at);
    line_unit(p, 0x1000, 16 * n, 0);
    put_entry(p, 2, 0x1000, 8 * n);
    put8(&p->info, 0);
    unit_end(p);
}

/* Units that all claim all code, of one program of many sequences; every other one has a function over it
 * all. */
static void units_over_one_program(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t at = program_begin(p);
    for (size_t i = 0; i < n; i++) {
        put_address(p, 0x1000 + 16 * i);
        put8(&p->line, 10);
        put8(&p->line, 18);
        put_end(p);
    }
    program_end(p, at);
    for (size_t i = 0; i < n; i++) {
        line_unit(p, 0x1000, 16 * n, 0);
        if (i % 2 != 0)
            put_entry(p, 2, 0x1000, 16 * n);
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* Sequences in a function of many calls. */
static void sequences_under_many_calls(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t at = program_begin(p);
    for (size_t i = 0; i < n; i++) {
        put_address(p, 0x1000 + 16 * i);
        put8(&p->line, 10);
        put8(&p->line, 18);
        put_end(p);
    }
    program_end(p, at);
    line_unit(p, 0x1000, 16 * n, 0);
    put_entry(p, 3, 0x1000, 16 * n);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 4, 0x1000 + 16 * i, 4);
    put16(&p->info, 0);
    unit_end(p);
}

/* Many rows at the first address, then a call at every other. */
static void rows_at_one_address(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t at = program_begin(p);
    put_address(p, 0x1000);
    for (size_t i = 0; i < n; i++)
        put8(&p->line, 10);
    put8(&p->line, 2);
    put_uleb(&p->line, 16 * n);
    put_end(p);
    program_end(p, at);
    line_unit(p, 0x1000, 16 * n, 0);
    put_entry(p, 3, 0x1000, 16 * n);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 4, 0x1000 + 16 * i, 4);
    put16(&p->info, 0);
    unit_end(p);
}

/* Rows of a line program. No row begins a statement. */
static void rows_without_statement(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    size_t at = program_begin(p);
    put_address(p, 0x1000);
    put8(&p->line, 6);
    for (size_t i = 0; i < 16 * n; i++)
        put8(&p->line, 11);
    put_end(p);
    program_end(p, at);
    line_unit(p, 0x1000, 16 * n, 0);
    put_entry(p, 2, 0x1000, 16 * n);
    put8(&p->info, 0);
    unit_end(p);
}

/* ---- Texts ---- */

/* n functions, whose names are ends of one long text: `names` different ones, and `linkage_names` different
 * linkage names. */
static void put_named_functions(trap *t, size_t n, size_t names, size_t linkage_names)
{
    program *p = &t->p;
    ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 2, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_name, FORM_strp,
           AT_linkage_name, FORM_strp);
    p->macho.code_size = 16 * n;
    put_long_text(&p->str, n);
    unit_begin(p, dwarf4, 0, 0);
    put_entry(p, 1, 0x1000, 16 * n);
    for (size_t i = 0; i < n; i++) {
        put_entry(p, 2, 0x1000 + 16 * i, 16);
        put32(&p->info, i % names);
        put32(&p->info, i % linkage_names);
    }
    put8(&p->info, 0);
    unit_end(p);
}

static void functions_of_one_long_name(trap *t, size_t n)
{
    put_named_functions(t, n, 16, 8);
}

static void functions_that_end_one_name(trap *t, size_t n)
{
    put_named_functions(t, n, n, n);
}

/* File names of DWARF 5, each the end of one text. */
static void files_that_end_one_text(trap *t, size_t n)
{
    program *p = &t->p;
    put_line_abbrevs(p, 16 * n);
    p->enc = dwarf5;
    put_long_text(&p->line_str, 4000);
    size_t at = begin_length(p, &p->line);
    put16(&p->line, 5);
    put8(&p->line, 8);
    put8(&p->line, 0);
    put32(&p->line, 0);
    size_t head = p->line.len;
    put(&p->line, "\1\1\1\0\1\12\0\1\1\1\1\0\0\0\1", 15);
    put8(&p->line, 0); /* directories: no format, none */
    put8(&p->line, 0);
    put8(&p->line, 1); /* files: path as line_strp */
    put8(&p->line, 1);
    put8(&p->line, FORM_line_strp);
    put_uleb(&p->line, n);
    for (size_t i = 0; i < n; i++)
        put32(&p->line, i % 32000);
    patch(&p->line, head - 4, p->line.len - head, 4);
    put_address(p, 0x1000);
    for (size_t i = 0; i < n; i++) {
        put8(&p->line, 4);
        put_uleb(&p->line, i);
        put8(&p->line, 26);
    }
    put_end(p);
    program_end(p, at);
    unit_begin(p, dwarf5, 1, 0);
    put_entry(p, 1, 0x1000, 16 * n);
    put32(&p->info, 0);
    put_entry(p, 2, 0x1000, 16 * n);
    put8(&p->info, 0);
    unit_end(p);
}

/* As many segments as sections. No section is marked as code. */
static void sections_without_code_flag(trap *t, size_t n)
{
    bytes commands = {NULL, 0, 0};
    for (size_t i = 0; i < n; i++)
        put_segment(&commands, "__TEXT", 0x1000 + 16 * i, 16, 0, 0, 0);
    put_segment(&commands, "__TEXT", 0x1000, 16 * n, 0, 0, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        put_section(&commands, "__TEXT", "__text", 0x1000 + 16 * i, 16, 0, 0, 0, 0);
    put_header(&t->file, 2, (uint32_t)n + 1, commands.len);
    put_bytes(&t->file, &commands);
    bytes_free(&commands);
}

/* ---- Compressed debug info ---- */

/* Bits of a deflate stream, lowest first. */
typedef struct bit_writer {
    bytes *to;
    uint64_t bits;
    unsigned count;
} bit_writer;

static void put_bits(bit_writer *w, uint64_t bits, unsigned count)
{
    w->bits |= bits << w->count;
    for (w->count += count; w->count >= 8; w->count -= 8, w->bits >>= 8)
        put8(w->to, w->bits);
}

static void put_compressed_head(bytes *b, uint64_t size)
{
    put(b, "ZLIB", 4);
    put_be64(b, size);
    put16(b, 0x9c78);
}

/* n blocks of 90 bits with codes of their own and nothing in them: tables are made of each. */
static void put_empty_blocks(bytes *b, size_t n)
{
    bit_writer w = {b, 0, 0};
    for (size_t i = 0; i < n; i++) {
        put_bits(&w, 2 << 1 | (uint64_t)14 << 13, 17); /* 257 lengths, 1 distance, 18 lengths of their code */
        for (unsigned j = 0; j < 18; j++)
            put_bits(&w, j == 2 || j == 17, 3); /* of 18 (zeros) and of 1: one bit each */
        put_bits(&w, 1 | (138 - 11) << 1, 8);
        put_bits(&w, 1 | (118 - 11) << 1, 8);
        put_bits(&w, 0, 3); /* the end of the block has one bit, and so has a distance; the end */
    }
    put_bits(&w, 0, 7);
}

/* A byte, and n times 258 copies of it in 13 bits each. */
static void put_copies(bytes *b, size_t n)
{
    bit_writer w = {b, 0, 0};
    put_bits(&w, 1 | 1 << 1 | 0x0c << 3, 11); /* the last block, fixed codes, a literal 0 */
    for (size_t i = 0; i < n; i++)
        put_bits(&w, 0xa3, 13);
    put_bits(&w, 0, 7);
}

/* A program of `sections` compressed sections, whose bytes are all the same. */
static void put_sections_of_one_stream(trap *t, size_t sections, const bytes *stream)
{
    static const char *const names[] = {
        "__zdebug_info",    "__zdebug_abbrev", "__zdebug_str",    "__zdebug_line",    "__zdebug_line_st",
        "__zdebug_str_off", "__zdebug_addr",   "__zdebug_ranges", "__zdebug_rnglist", "__zdebug_aranges"};
    bytes commands = {NULL, 0, 0};
    size_t tail = 32 + 2 * 72 + 80 * (sections + 1);
    put_segment(&commands, "__TEXT", 0x1000, 0x1000, 0, 0, 1);
    put_section(&commands, "__TEXT", "__text", 0x1000, 0x1000, 0, 0x80000400u, 0, 0);
    put_segment(&commands, "__DWARF", 0x10000000, 0, 0, 0, (uint32_t)sections);
    for (size_t i = 0; i < sections; i++)
        put_section(&commands, "__DWARF", names[i % 10], 0, stream->len, (uint32_t)tail, 0, 0, 0);
    put_header(&t->file, 10, 2, commands.len);
    put_bytes(&t->file, &commands);
    put_bytes(&t->file, stream);
    bytes_free(&commands);
}

/* All sections are one stream that makes tables and no bytes. */
static void compressed_sections_of_tables(trap *t, size_t n)
{
    bytes stream = {NULL, 0, 0};
    put_compressed_head(&stream, 1);
    put_empty_blocks(&stream, n);
    put_sections_of_one_stream(t, 10, &stream);
    bytes_free(&stream);
}

/* As many sections as there are copies, all of one stream; it states a size that no file may have. */
static void compressed_sections_without_number(trap *t, size_t n)
{
    bytes stream = {NULL, 0, 0};
    put_compressed_head(&stream, (uint64_t)1 << 40);
    put_copies(&stream, n);
    put_sections_of_one_stream(t, n, &stream);
    bytes_free(&stream);
}

/* The size that is stated is nearly as large as a section may have, and there are no bytes. */
static void compressed_sizes_that_lie(trap *t, size_t n)
{
    bytes stream = {NULL, 0, 0};
    put_compressed_head(&stream, MACHSYM_INFLATED_PER_BYTE * (uint64_t)n);
    put_empty_blocks(&stream, 1);
    put_sections_of_one_stream(t, 10, &stream);
    put_zeros(&t->file, n);
    bytes_free(&stream);
}

/* The stream becomes 158 times its size, and states a hundredth of that. */
static void compressed_to_more_than_stated(trap *t, size_t n)
{
    bytes stream = {NULL, 0, 0};
    put_compressed_head(&stream, 258 * n / 100);
    put_copies(&stream, n);
    put_sections_of_one_stream(t, 10, &stream);
    bytes_free(&stream);
}

/* All that a file may become: the bytes count as the file's. */
static void compressed_to_all_that_may_be(trap *t, size_t n)
{
    bytes stream = {NULL, 0, 0};
    put_compressed_head(&stream, 258 * n + 1);
    put_copies(&stream, n);
    put_sections_of_one_stream(t, 10, &stream);
    put_zeros(&t->file, 258 * n / MACHSYM_INFLATED_PER_BYTE);
    t->beside = 258 * n;
    bytes_free(&stream);
}

/* Code in many sections, and as many sequences of lines. */
static void code_in_many_sections(trap *t, size_t n)
{
    program *p = &t->p;
    bytes commands = {NULL, 0, 0};
    put_line_abbrevs(p, 32 * n);
    size_t at = program_begin(p);
    for (size_t i = 0; i < n; i++) {
        put_address(p, 0x1000 + 32 * i);
        put8(&p->line, 10);
        put8(&p->line, 18);
        put_end(p);
    }
    program_end(p, at);
    line_unit(p, 0x1000, 32 * n, 0);
    for (size_t i = 0; i < n; i++)
        put_entry(p, 2, 0x1000 + 32 * i, 16);
    put8(&p->info, 0);
    unit_end(p);
    size_t tail = 32 + 2 * 72 + 80 * (n + 3);
    put_segment(&commands, "__TEXT", 0x1000, 32 * n, 0, 0, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        put_section(&commands, "__TEXT", "__text", 0x1000 + 32 * i, 16, 0, 0x80000400u, 0, 0);
    put_segment(&commands, "__DWARF", 0x10000000, 0, 0, 0, 3);
    put_section(&commands, "__DWARF", "__debug_info", 0, p->info.len, (uint32_t)tail, 0, 0, 0);
    put_section(&commands, "__DWARF", "__debug_abbrev", 0, p->abbrev.len, (uint32_t)(tail + p->info.len), 0,
                0, 0);
    put_section(&commands, "__DWARF", "__debug_line", 0, p->line.len,
                (uint32_t)(tail + p->info.len + p->abbrev.len), 0, 0, 0);
    put_header(&t->file, 10, 2, commands.len);
    put_bytes(&t->file, &commands);
    put_bytes(&t->file, &p->info);
    put_bytes(&t->file, &p->abbrev);
    put_bytes(&t->file, &p->line);
    bytes_free(&commands);
}

/* Sections of stubs that all read the whole indirect symbol table. */
static void stub_sections_of_one_table(trap *t, size_t n)
{
    bytes commands = {NULL, 0, 0};
    size_t tail = 32 + 72 + 80 * (n + 1) + 24 + 80;
    put_segment(&commands, "__TEXT", 0x1000, 0x100000, 0, 0, (uint32_t)n + 1);
    put_section(&commands, "__TEXT", "__text", 0x1000, 0x100000, 0, 0x80000400u, 0, 0);
    for (size_t i = 0; i < n; i++)
        put_section(&commands, "__TEXT", "__stubs", 0x1000, 0x100000, 0, 0x80000408u, 0, 1);
    put_symtab(&commands, tail, 1, 16);
    put32(&commands, 0xb);
    put32(&commands, 80);
    put_zeros(&commands, 48);
    put32(&commands, tail + 32);
    put32(&commands, n);
    put_zeros(&commands, 16);
    put_header(&t->file, 2, 3, commands.len);
    put_bytes(&t->file, &commands);
    put32(&t->file, 1);
    put32(&t->file, 1);
    put64(&t->file, 0);
    put(&t->file, "\0_puts\0\0\0\0\0\0\0\0\0", 16);
    put_zeros(&t->file, 4 * n);
    bytes_free(&commands);
}

/* LC_SYMTAB over symbols made by hand: n of them, whose names begin at the offsets that step gives. */
static void put_symbols(trap *t, size_t n, uint64_t lo, uint64_t step, uint32_t name_step, size_t text)
{
    bytes commands = {NULL, 0, 0};
    size_t tail = 32 + 72 + 80 + 24;
    put_segment(&commands, "__TEXT", 0x1000, 16 * n, 0, tail, 1);
    put_section(&commands, "__TEXT", "__text", 0x1000, 16 * n, 0, 0x80000400u, 0, 0);
    put_symtab(&commands, tail, n, 16 * text + 1);
    put_header(&t->file, 2, 2, commands.len);
    put_bytes(&t->file, &commands);
    for (size_t i = 0; i < n; i++) {
        put32(&t->file, i * name_step % (16 * text));
        put32(&t->file, 0x0000010f);
        put64(&t->file, lo + step * i);
    }
    put_long_text(&t->file, text);
    t->p.macho.code_size = 16 * n;
    bytes_free(&commands);
}

static void symbols_of_one_long_name(trap *t, size_t n)
{
    put_symbols(t, n, 0x1000, 16, 1, n);
}

static void symbols_at_one_address(trap *t, size_t n)
{
    put_symbols(t, n, 0x1000, 0, 1, 64);
}

/* Functions without linkage names whose out-of-line copies are all where all the symbols are. */
static void calls_of_copies_at_one_address(trap *t, size_t n)
{
    program *p = &t->p;
    ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 2, TAG_subprogram, 0, AT_name, FORM_data1);
    ABBREV(p, 3, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data1, AT_abstract_origin,
           FORM_ref4);
    ABBREV(p, 4, TAG_subprogram, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 5, TAG_inlined_subroutine, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data1, AT_abstract_origin,
           FORM_ref4);
    ABBREV(p, 6, TAG_subprogram, 0, AT_name, FORM_string);
    p->macho.code_size = 16 * n;
    unit_begin(p, dwarf4, 0, 0);
    put_entry(p, 1, 0x1000, 16 * n);
    size_t first = p->info.len;
    for (size_t i = 0; i < n; i++) {
        die(p, 6);
        put_str(&p->info, "x");
    }
    for (size_t i = 0; i < n; i++) {
        die(p, 3);
        put_addr(p, &p->info, 0x1000);
        put8(&p->info, 1);
        put32(&p->info, local(p, first + 3 * i));
    }
    put_entry(p, 4, 0x1000, 16 * n);
    for (size_t i = 0; i < n; i++) {
        die(p, 5);
        put_addr(p, &p->info, 0x1000 + 16 * i);
        put8(&p->info, 8);
        put32(&p->info, local(p, first + 3 * i));
    }
    put16(&p->info, 0);
    unit_end(p);
    make_symbol *symbols = (make_symbol *)calloc(n, sizeof *symbols);
    for (size_t i = 0; i < n; i++) {
        symbols[i].name = "_y";
        symbols[i].type = 0x0f;
        symbols[i].section = 1;
        symbols[i].value = 0x1000;
    }
    p->macho.symbols = symbols;
    p->macho.symbol_count = n;
    machsym_image_close(program_open(p));
    put_bytes(&t->file, &p->file);
    free(symbols);
}

/* ---- Debug maps ---- */

/* Names in the string table of put_named_file: number i of each kind. */
enum { STRX_OBJECT = 2, STRX_NAME = 8, STRX_PATH = 16, STRX_MEMBER = 28, STRX_EACH = 40 };

static uint32_t strx(uint32_t kind, size_t i)
{
    return kind + (uint32_t)i * STRX_EACH;
}

/* A file with n names after its symbols, and as many ways to name the object file. */
static void put_named_file(bytes *file, uint32_t filetype, size_t n, const bytes *nlists)
{
    bytes commands = {NULL, 0, 0};
    size_t tail = 32 + 72 + 2 * 80 + 24;
    put_segment(&commands, filetype == 1 ? "" : "__TEXT", filetype == 1 ? 0 : 0x1000, 16 * n, 0, tail, 2);
    put_section(&commands, "__TEXT", "__text", filetype == 1 ? 0 : 0x1000, 16 * n, 0, 0x80000400u, 0, 0);
    put_section(&commands, "__DWARF", filetype == 1 ? "__debug_info" : "__other", 16 * n, 11, (uint32_t)tail,
                0, 0, 0);
    put_symtab(&commands, tail + 16, nlists->len / 16, 8 + STRX_EACH * n);
    put_header(file, filetype, 2, commands.len);
    put_bytes(file, &commands);
    put(file, "\7\0\0\0\4\0\0\0\0\0\10\0\0\0\0\0", 16); /* a unit that is only a header */
    put_bytes(file, nlists);
    put(file, "\0\0o.o\0\0\0", 8);
    for (size_t i = 0; i < n; i++) {
        char names[STRX_EACH + 1];
        snprintf(names, sizeof names, "_%06zu%c%06zu/o.o%c%co.o(%06zu)%c", i % 1000000, 0, i % 1000000, 0, 0,
                 i % 1000000, 0);
        put(file, names, STRX_EACH);
    }
    bytes_free(&commands);
}

/* An object file of n functions. */
static void put_object(bytes *object, size_t n)
{
    bytes nlists = {NULL, 0, 0};
    for (size_t i = 0; i < n; i++)
        put_nlist(&nlists, strx(STRX_NAME, i), 0x0e, 1, 16 * i);
    put_named_file(object, 1, n, &nlists);
    bytes_free(&nlists);
}

static void put_stab_function(bytes *nlists, size_t name, uint64_t lo, uint64_t size)
{
    put_nlist(nlists, strx(STRX_NAME, name), 0x24, 1, lo);
    put_nlist(nlists, 0, 0x24, 0, size);
}

/* A program of n object files with a function each, under one name or under n. */
static void put_objects(trap *t, size_t n, uint32_t name, size_t step)
{
    bytes nlists = {NULL, 0, 0};
    for (size_t i = 0; i < n; i++) {
        put_nlist(&nlists, strx(name, i * step), 0x66, 0, 0);
        put_stab_function(&nlists, i, 0x1000 + 16 * i, 16);
        put_nlist(&nlists, 0, 0x64, 1, 0);
    }
    put_named_file(&t->file, 2, n, &nlists);
    t->p.macho.code_size = 16 * n;
    bytes_free(&nlists);
}

/* One large object file is named again and again. */
static void objects_of_one_name(trap *t, size_t n)
{
    bytes object = {NULL, 0, 0};
    put_object(&object, n);
    jsonframe_object(&object);
    put_objects(t, n, STRX_OBJECT, 0);
    bytes_free(&object);
}

/* The same under many names. */
static void objects_of_one_file(trap *t, size_t n)
{
    bytes object = {NULL, 0, 0};
    put_object(&object, n);
    jsonframe_object(&object);
    put_objects(t, n, STRX_PATH, 1);
    bytes_free(&object);
}

static void put_member(bytes *archive, size_t name, const bytes *member)
{
    char header[61];
    snprintf(header, sizeof header, "%06zu%10s%-12s%-6s%-6s%-8s%-10zu`\n", name % 1000000, "", "0", "0", "0",
             "644", member->len);
    put(archive, header, 60);
    put_bytes(archive, member);
}

static void objects_in_one_archive(trap *t, size_t n)
{
    bytes archive = {NULL, 0, 0};
    bytes object = {NULL, 0, 0};
    bytes none = {NULL, 0, 0};
    put_object(&object, 1);
    put(&archive, "!<arch>\n", 8);
    for (size_t i = 0; i < n; i++)
        put_member(&archive, i, i + 1 < n ? &none : &object);
    jsonframe_object(&archive);
    put_objects(t, n, STRX_MEMBER, 1);
    bytes_free(&archive);
    bytes_free(&object);
}

/* Each object has a function over all those of the first. */
static void functions_of_many_objects_over_one(trap *t, size_t n)
{
    bytes nlists = {NULL, 0, 0};
    bytes object = {NULL, 0, 0};
    put_object(&object, 1);
    jsonframe_object(&object);
    put_nlist(&nlists, STRX_OBJECT, 0x66, 0, 0);
    for (size_t i = 0; i < n; i++)
        put_stab_function(&nlists, 0, 0x1000 + 16 * i, 8);
    for (size_t i = 0; i < n; i++) {
        put_nlist(&nlists, 0, 0x64, 1, 0);
        put_nlist(&nlists, STRX_OBJECT, 0x66, 0, 0);
        put_stab_function(&nlists, 0, 0x1000, 16 * n);
    }
    put_nlist(&nlists, 0, 0x64, 1, 0);
    put_named_file(&t->file, 2, n, &nlists);
    t->p.macho.code_size = 16 * n;
    bytes_free(&nlists);
    bytes_free(&object);
}

/* The second object has as many functions as the first, each over all of those. */
static void functions_of_an_object_over_another(trap *t, size_t n)
{
    bytes nlists = {NULL, 0, 0};
    bytes object = {NULL, 0, 0};
    put_object(&object, n);
    jsonframe_object(&object);
    for (unsigned pass = 0; pass < 2; pass++) {
        put_nlist(&nlists, STRX_OBJECT, 0x66, 0, 0);
        for (size_t i = 0; i < n; i++)
            put_stab_function(&nlists, i, 0x1000 + (pass == 0 ? 16 * i : i), pass == 0 ? 8 : 16 * n);
        put_nlist(&nlists, 0, 0x64, 1, 0);
    }
    put_named_file(&t->file, 2, n, &nlists);
    t->p.macho.code_size = 16 * n;
    bytes_free(&nlists);
    bytes_free(&object);
}

/* A loaded image of many segments, and as many symbols. */
static void segments_of_a_loaded_image(trap *t, size_t n)
{
    bytes commands = {NULL, 0, 0};
    size_t tail = 32 + 72 * (n + 2) + 80 + 24;
    put_segment(&commands, "__TEXT", 0, tail + 32 * n, 0, tail, 1);
    put_section(&commands, "__TEXT", "__text", 0x1000, 16 * n, 0, 0x80000400u, 0, 0);
    for (size_t i = 0; i < n; i++)
        put_segment(&commands, "__DATA", 0, 0, 0, 0, 0);
    put_segment(&commands, "__LINKEDIT", tail, 16 * n + 16, tail, 16 * n + 16, 0);
    put_symtab(&commands, tail, n, 16);
    put_header(&t->file, 2, (uint32_t)n + 3, commands.len);
    put_bytes(&t->file, &commands);
    for (size_t i = 0; i < n; i++) {
        put32(&t->file, 1);
        put32(&t->file, 0x0000010f);
        put64(&t->file, 0x1000 + 16 * i);
    }
    put(&t->file, "\0_puts\0\0\0\0\0\0\0\0\0", 16);
    t->p.macho.code_size = 16 * n;
    t->flags = MACHSYM_OPEN_LOADED;
    bytes_free(&commands);
}

/* Slices that are all the same one, with many load commands. */
static void fat_file_of_many_slices(trap *t, size_t n)
{
    put_be32(&t->file, 0xcafebabeu);
    put_be32(&t->file, n);
    for (size_t i = 0; i < n; i++) {
        put_be32(&t->file, 0x0100000cu);
        put_be32(&t->file, i);
        put_be32(&t->file, 8 + 20 * n);
        put_be32(&t->file, 32 + 8 * n);
        put_be32(&t->file, 0);
    }
    put_header(&t->file, 2, (uint32_t)n, 8 * n);
    for (size_t i = 0; i < n; i++) {
        put32(&t->file, 0x80000000u + 0x7777);
        put32(&t->file, 8);
    }
}

/* ---- Metadata ---- */

/* A file with code, and one more load command for a part of __LINKEDIT. */
static void put_linkedit(trap *t, uint32_t command, const bytes *data, size_t code)
{
    bytes commands = {NULL, 0, 0};
    size_t tail = 32 + 72 + 80 + (command == 0x22 ? 48 : 16);
    put_segment(&commands, "__TEXT", 0x1000, code, 0, tail, 1);
    put_section(&commands, "__TEXT", "__text", 0x1000, code, 0, 0x80000400u, 0, 0);
    put32(&commands, command);
    put32(&commands, command == 0x22 ? 48 : 16);
    if (command == 0x22)
        put64(&commands, 0);
    put32(&commands, tail);
    put32(&commands, data->len);
    if (command == 0x22)
        put_zeros(&commands, 24);
    put_header(&t->file, 2, 2, commands.len);
    put_bytes(&t->file, &commands);
    put_bytes(&t->file, data);
    t->p.macho.code_size = code;
    bytes_free(&commands);
}

/* Nodes each with two edges to the next: two to the n ways. */
static void exports_that_share_nodes(trap *t, size_t n)
{
    bytes trie = {NULL, 0, 0};
    for (size_t i = 0; i < n; i++) {
        put8(&trie, 2);
        put8(&trie, 0);
        put8(&trie, 8 * i % 128);
        put8(&trie, 2);
        for (unsigned j = 0; j < 2; j++) {
            put8(&trie, 'a' + j);
            put8(&trie, 0);
            put8(&trie, (trie.len + 20 - 4 * j) % 128 | 0x80);
            put8(&trie, 0x80);
            put8(&trie, 0);
        }
        size_t next = trie.len;
        for (unsigned j = 0; j < 2; j++) { /* three bytes of ULEB each */
            size_t at = next - 5 * (2 - j) + 2;
            trie.v[at] = (uint8_t)(next & 0x7f) | 0x80;
            trie.v[at + 1] = (uint8_t)(next >> 7 & 0x7f) | 0x80;
            trie.v[at + 2] = (uint8_t)(next >> 14 & 0x7f);
        }
    }
    put32(&trie, 0);
    put_linkedit(t, 0x80000033u, &trie, 0x1000);
    bytes_free(&trie);
}

/* Edges back to the root. */
static void exports_that_loop(trap *t, size_t n)
{
    bytes trie = {NULL, 0, 0};
    put8(&trie, 0);
    put8(&trie, 255);
    for (size_t i = 0; i < n; i++) {
        put_str(&trie, "a");
        put_uleb(&trie, 2 + 3 * (i * 7919 % n));
    }
    put_linkedit(t, 0x80000033u, &trie, 0x1000);
    bytes_free(&trie);
}

/* Bind code whose every opcode binds 0xffffffff times. */
static void binds_without_end(trap *t, size_t n)
{
    bytes code = {NULL, 0, 0};
    put8(&code, 0x40);
    put_str(&code, "_puts");
    for (size_t i = 0; i < n; i++) {
        put8(&code, 0xc0);
        put_uleb(&code, 0xffffffff);
        put_uleb(&code, 0);
    }
    put_linkedit(t, 0x22, &code, 0x1000);
    bytes_free(&code);
}

/* Pages of the unwind index that are all one page. */
static void unwind_pages_of_one(trap *t, size_t n)
{
    program *p = &t->p;
    bytes info = {NULL, 0, 0};
    put32(&info, 1);
    put_zeros(&info, 16);
    put32(&info, 28);
    put32(&info, n);
    for (size_t i = 0; i < n; i++) {
        put32(&info, 0);
        put32(&info, 28 + 12 * n);
        put32(&info, 0);
    }
    put32(&info, 3);
    put16(&info, 8);
    put16(&info, n < 0xffff ? n : 0xffff);
    for (size_t i = 0; i < n; i++)
        put32(&info, 16 * i);
    p->macho.code_size = 16 * n;
    make_add(&p->macho, "__unwind_info", &info);
    p->macho.filetype = 2;
    t->file = make_file(&p->macho);
    bytes_free(&info);
}

/* Classes that all have one long list of methods. The pointers get the bits of chained fixups. */
static void put_classes(trap *t, size_t n, uint64_t base, uint64_t bits)
{
    program *p = &t->p;
    bytes list = {NULL, 0, 0};
    bytes data = {NULL, 0, 0};
    uint64_t lists = 0x20000000;
    uint64_t at = 0x30000000;
    uint64_t methods = at + 40 * n + 48 + 16;
    for (size_t i = 0; i < n; i++)
        put64(&list, (at + 40 * i - base) | bits);
    for (size_t i = 0; i < n; i++) { /* isa, superclass, cache, vtable, data */
        put_zeros(&data, 32);
        put64(&data, (at + 40 * n - base) | bits);
    }
    put_zeros(&data, 24); /* class_ro_t: its name, its methods */
    put64(&data, (at + 40 * n + 48 - base) | bits);
    put64(&data, (methods - base) | bits);
    put64(&data, 0);
    put_str(&data, "Name");
    put_zeros(&data, 11);
    put32(&data, 24);
    put32(&data, n);
    for (size_t i = 0; i < n; i++) {
        put64(&data, (at + 40 * n + 48 - base) | bits);
        put64(&data, 0);
        put64(&data, (0x1000 + 16 * i - base) | bits);
    }
    p->macho.filetype = 2;
    p->macho.code_size = 16 * n;
    make_add(&p->macho, "__objc_classlist", &list);
    p->macho.sections[p->macho.section_count - 1].addr = lists;
    make_add(&p->macho, "__data", &data);
    p->macho.sections[p->macho.section_count - 1].addr = at;
    t->file = make_file(&p->macho);
    bytes_free(&list);
    bytes_free(&data);
}

static void classes_of_one_method_list(trap *t, size_t n)
{
    put_classes(t, n, 0, 0);
}

/* The same where every pointer says that the next of its chain is itself. */
static void fixup_chains_that_never_end(trap *t, size_t n)
{
    bytes fixups = {NULL, 0, 0};
    bytes command = {NULL, 0, 0};
    put32(&fixups, 0); /* version; starts; imports, symbols, no imports of format 1 */
    put32(&fixups, 28);
    put_zeros(&fixups, 12);
    put32(&fixups, 1);
    put32(&fixups, 0);
    put32(&fixups, 2); /* segments: __TEXT has none */
    put32(&fixups, 0);
    put32(&fixups, 12);
    put32(&fixups, 0xffffffff); /* size; page size, format; offset; largest pointer; pages */
    put16(&fixups, 0x1000);
    put16(&fixups, 6);
    put64(&fixups, 0);
    put32(&fixups, 0);
    put16(&fixups, 0xffff);
    put32(&command, 0x80000034u);
    put32(&command, 16);
    put32(&command, 0x1000); /* the first section's bytes */
    put32(&command, fixups.len);
    t->p.macho.commands = &command;
    t->p.macho.command_count = 1;
    make_add(&t->p.macho, "__fixups", &fixups);
    put_classes(t, n, 0x1000, (uint64_t)1 << 51);
    bytes_free(&fixups);
    bytes_free(&command);
}

/* ---- Maps ---- */

enum { TABLE_INDEX = 2, TABLE_RUNS, TABLE_TEXT = 7, TABLE_COUNT };

/* A map whose tables are given, by kind - 1; one bucket a 16 bytes of code. */
static void put_map(trap *t, bytes *tables)
{
    size_t at = 96 + 32 * TABLE_COUNT;
    bytes *b = &t->file;
    put_zeros(&tables[TABLE_RUNS], 8); /* the margin */
    put(b, "MACHSYM\n", 8);
    put32(b, 3);
    put32(b, 0);
    put_zeros(b, 16);
    put32(b, 0x0100000cu);
    put32(b, 0);
    put64(b, MAKE_TEXT);
    put64(b, t->p.macho.code_size);
    put32(b, 0);
    put32(b, TABLE_COUNT);
    put_zeros(b, 32); /* size, checksum, two numbers that are not used */
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        put32(b, i + 1);
        put32(b, 0);
        put64(b, at);
        put64(b, tables[i].len);
        put32(b, i == TABLE_INDEX ? 4 : 0);
        put32(b, i == TABLE_INDEX ? tables[i].len / 4 : 0);
        at += (tables[i].len + 7) / 8 * 8;
    }
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        put_bytes(b, &tables[i]);
        put_zeros(b, (8 - b->len % 8) % 8);
        bytes_free(&tables[i]);
    }
    patch(b, 64, b->len, 8);
    t->flags = MACHSYM_MAP_UNCHECKED;
    t->is_map = true;
}

/* A run of one range from begin to end. The range is in the innermost of n nested calls, or in their concrete
 * function if n is 0. All calls and the function have the names at place 1 of TEXT. */
static void put_run(bytes *b, size_t begin, size_t end, size_t n)
{
    static const uint8_t widths[8] = {2, 0, 0, 0, 4, 1, 0, 2};
    put32(b, begin);
    put32(b, 36 + 6 + 2 + 6 * n);
    put32(b, end);
    put32(b, 0);
    put32(b, begin);
    put16(b, 1);
    put16(b, 1);
    put16(b, n);
    put16(b, 0);
    put(b, widths, sizeof widths);
    put8(b, 1);      /* the concrete function: its source, */
    put32(b, 2 * 1); /* its names, */
    put8(b, 0);      /* its start */
    put16(b, n + 2); /* the range: its link */
    for (size_t i = 0; i < n; i++) {
        put16(b, i + 2); /* the caller */
        put32(b, 2 * 1);
    }
}

/* Calls nested n deep, which all code is in. */
static void map_of_one_long_chain(trap *t, size_t n)
{
    bytes tables[TABLE_COUNT];
    memset(tables, 0, sizeof tables);
    t->p.macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++)
        put32(&tables[TABLE_INDEX], 0);
    put_run(&tables[TABLE_RUNS], 0, 16 * n, n);
    put_map(t, tables);
}

/* n runs. The index leads from everywhere to the first one. */
static void map_of_a_false_index(trap *t, size_t n)
{
    bytes tables[TABLE_COUNT];
    memset(tables, 0, sizeof tables);
    t->p.macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        put32(&tables[TABLE_INDEX], 0);
        put_run(&tables[TABLE_RUNS], 16 * i, 16 * i + 16, 1);
    }
    put_map(t, tables);
}

/* n runs, to which the index leads by one list. */
static void map_of_one_list(trap *t, size_t n)
{
    bytes tables[TABLE_COUNT];
    memset(tables, 0, sizeof tables);
    t->p.macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++)
        put32(&tables[TABLE_INDEX], n | 1u << 31);
    put32(&tables[TABLE_INDEX], n);
    for (size_t i = 0; i < n; i++) {
        put32(&tables[TABLE_INDEX], 16 * i);
        put32(&tables[TABLE_INDEX], tables[TABLE_RUNS].len / 2);
        put_run(&tables[TABLE_RUNS], 16 * i, 16 * i + 16, 1);
    }
    put_map(t, tables);
}

/* The longest name that there can be, in blocks packed as small as they may be; n runs have it. */
static void map_of_one_long_name(trap *t, size_t n)
{
    bytes tables[TABLE_COUNT];
    memset(tables, 0, sizeof tables);
    t->p.macho.code_size = 16 * n;
    for (size_t i = 0; i < n; i++) {
        put32(&tables[TABLE_INDEX], tables[TABLE_RUNS].len / 2);
        put_run(&tables[TABLE_RUNS], 16 * i, 16 * i + 16, 0);
    }
    /* LZ4: one byte, the length 65,536, one byte, the same 1013 times, 5 bytes */
    put(&tables[TABLE_TEXT], "\23\0\137\0\200\200\4a\1\0\377\377\377\345\120aaaaa", 21);
    put_zeros(&tables[TABLE_TEXT], 3);
    for (size_t i = 0; i < 64; i++) { /* one byte, the same 1018 times, 5 bytes */
        put(&tables[TABLE_TEXT], "\16\0\37a\1\0\377\377\377\352\120aaaaa", 16);
    }
    put_map(t, tables);
}

/* ---- Shared caches ---- */

static void put_jumps(trap *t, jumping j)
{
    jumping_make(&j);
    t->file = j.file;
    t->entry = JUMPING_PATH;
    t->lo = TINY_BASE + j.code_at;
    t->p.macho.code_size = 32 * j.jumps;
}

/* All stubs and islands lead into one image, which has many symbols. */
static void jumps_into_one_image(trap *t, size_t n)
{
    put_jumps(t, (jumping){.images = 1, .jumps = n, .symbols = n});
}

/* They lead into many images, which all claim the same symbols, local ones too. */
static void jumps_into_images_of_one_table(trap *t, size_t n)
{
    put_jumps(t, (jumping){.images = n, .jumps = n, .symbols = n});
}

/* The same, and their strings do not end. */
static void jumps_into_images_of_strings_without_end(trap *t, size_t n)
{
    put_jumps(t, (jumping){.images = n / 8, .jumps = n / 8, .symbols = 16, .unended = 256 * n});
}

/* The same, and the load commands of each image seem to be a megabyte. */
static void jumps_into_images_of_large_commands(trap *t, size_t n)
{
    put_jumps(
        t,
        (jumping){.images = n / 4, .jumps = n / 4, .symbols = 1, .unended = 1024 * n, .commands = 1000000});
}

/* What the traps are made of is right: stubs and islands of both architectures have the name of what they jump
 * to. */
static void check_jumps(void)
{
    for (unsigned is_x86_64 = 0; is_x86_64 < 2; is_x86_64++) {
        trap t;
        machsym_open_desc desc;
        machsym_frame frame;
        memset(&t, 0, sizeof t);
        memset(&desc, 0, sizeof desc);
        put_jumps(&t, (jumping){.images = 3, .jumps = 4, .symbols = 3, .is_x86_64 = is_x86_64 != 0});
        desc.bytes.ptr = t.file.v;
        desc.bytes.len = t.file.len;
        desc.entry = t.entry;
        machsym_image *image = test_open_desc(&desc);
        machsym_session *session = open_session(image, MACHSYM_LINES_ATOS, 0);
        for (uint64_t at = 0; at < t.p.macho.code_size; at += 16) {
            CHECK_EQ(machsym_session_frames_at_addr(session, t.lo + at, &frame, 1), 1);
            CHECK_EQ(frame.name_source, MACHSYM_SOURCE_STUB);
            CHECK_STR(frame.linkage_name, "far");
        }
        machsym_session_close(session);
        machsym_image_close(image);
        bytes_free(&t.file);
    }
}

/* ---- The session's cache ---- */

/* A unit larger than the cache is decoded once, not for every lookup. */
static void check_small_cache(void)
{
    unsigned long long costs[2];
    for (unsigned small = 0; small < 2; small++) {
        trap t;
        memset(&t, 0, sizeof t);
        many_calls_cut(&t, 1000);
        machsym_image *image = program_open(&t.p);
        machsym_session *session = open_session(image, MACHSYM_LINES_ATOS, small != 0 ? 1 : 0);
        work = 0;
        look_up(session, 0x1000, 32000);
        costs[small] = work;
        machsym_session_close(session);
        machsym_image_close(image);
        program_free(&t.p);
    }
    CHECK(costs[1] <= costs[0] + costs[0] / 10);
}

/* How many of n object files that are all one are read, and how many are left out. */
static void count_objects(size_t n, size_t *found, size_t *left_out)
{
    const char *dir = folder;
    trap t;
    machsym_open_desc desc;
    machsym_plan_desc how;
    machsym_plan *plan = NULL;
    machsym_object_file file;
    machsym_cursor at = {0, 0};
    memset(&t, 0, sizeof t);
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    objects_of_one_file(&t, n);
    desc.bytes.ptr = t.file.v;
    desc.bytes.len = t.file.len;
    desc.oso_dirs = &dir;
    desc.oso_dir_count = 1;
    machsym_image *image = test_open_desc(&desc);
    how.image = image;
    how.flags = MACHSYM_MAP_DAMAGED; /* names of object files are ends of one text */
    *found = *left_out = 0;
    CHECK_EQ(machsym_plan_open(&how, &plan, NULL), MACHSYM_OK);
    while (plan != NULL && machsym_plan_next_object_file(plan, &at, &file)) {
        *found += *left_out == 0 && file.status == MACHSYM_OBJECT_FOUND;
        *left_out += file.status == MACHSYM_OBJECT_OVER_BUDGET;
    }
    machsym_plan_close(plan);
    machsym_image_close(image);
    bytes_free(&t.file);
    program_free(&t.p);
}

/* One file may stand in a debug map many times, but not without end. Entries past the limit are reported as
 * left out. */
static void check_left_out(void)
{
    size_t found;
    size_t left_out;
    count_objects(50, &found, &left_out);
    CHECK_EQ(found, 50);
    count_objects(4000, &found, &left_out);
    CHECK(found >= 50 && left_out > 0);
    CHECK_EQ(found + left_out, 4000);
}

/* How many of the first n functions of 16 bytes have a name in a map. */
static size_t count_named(const machsym_map *map, size_t n)
{
    machsym_image *image = test_open_bytes(machsym_map_bytes(map).ptr, machsym_map_bytes(map).len);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_frame frame;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += machsym_session_frames_at_addr(session, 0x1000 + 16 * i, &frame, 1) == 1 &&
                 frame.linkage_name.len + frame.name.len != 0;
    machsym_session_close(session);
    machsym_image_close(image);
    return count;
}

/* Whether the map of a trap's file lacks names. If it does, it says so. */
static bool lacks_names(void (*set)(trap *t, size_t n), size_t n)
{
    trap t;
    machsym_plan_desc how;
    machsym_map_info info;
    machsym_map *map = NULL;
    memset(&t, 0, sizeof t);
    memset(&how, 0, sizeof how);
    set(&t, n);
    machsym_image *image = t.file.len != 0 ? test_open_bytes(t.file.v, t.file.len) : program_open(&t.p);
    how.image = image;
    how.flags =
        MACHSYM_MAP_DAMAGED; /* names that begin inside of others look like a string table that moved */
    CHECK_EQ(machsym_map_build(&how, &map, NULL), MACHSYM_OK);
    machsym_map_get_info(map, &info);
    size_t named = count_named(map, n);
    CHECK(named != 0);
    CHECK(named == n || (info.flags & MACHSYM_MAP_DAMAGED) != 0);
    machsym_map_close(map);
    machsym_image_close(image);
    bytes_free(&t.file);
    program_free(&t.p);
    return named != n;
}

/* Names past what a map may have are left out, and the map says so. */
static void check_lost_names(void)
{
    CHECK(!lacks_names(symbols_of_one_long_name, 100));
    CHECK(lacks_names(symbols_of_one_long_name, 4000));
    CHECK(!lacks_names(functions_that_end_one_name, 100));
    CHECK(lacks_names(functions_that_end_one_name, 4000));
}

int main(int argc, char **argv)
{
    char path[64];
    if (mkdtemp(folder) == NULL)
        return 1;
    check_small_cache();
    check_left_out();
    check_lost_names();
    check_jumps();
    TRAP(units_of_one_table, 2000);
    TRAP(tables_in_tables, 2000);
    TRAP(tables_in_tables_of_all_encodings, 200);
    TRAP(table_of_all_encodings, 10000);
    TRAP(calls_of_all_encodings, 10000);
    TRAP(tables_of_calls, 250);
    TRAP(lengths_that_lead_nowhere, 2000);
    TRAP(tables_apart, 2000);
    TRAP(attributes_of_no_size, 2000);
    TRAP(units_claim_what_one_has, 1000);
    TRAP(units_claim_what_many_have, 1024);
    TRAP(units_without_ranges, 2000);
    TRAP(aranges_at_one_unit, 2000);
    TRAP(aranges_cut_overlapping_units, 2000);
    TRAP(units_in_each_other, 2000);
    TRAP(deep_nesting, 2000);
    TRAP(deep_calls_cut, 2500); /* 10,000 */
    TRAP(many_calls_cut, 2000);
    TRAP(functions_over_each_other, 2000);
    TRAP(functions_in_functions, 2000);
    TRAP(origin_chain, 2000);
    TRAP(ranges_of_every_entry, 2000);
    TRAP(ranges_of_every_unit, 1000);
    TRAP(call_lists_of_every_unit, 2000);
    TRAP(call_lists_of_every_function, 2000);
    TRAP(function_of_many_ranges, 2000);
    TRAP(units_of_one_line_program, 2000);
    TRAP(units_of_one_line_program, 16000);
    TRAP(units_of_one_file_table, 500);
    TRAP(units_of_one_file_table, 16000);
    TRAP(units_of_eight_line_programs, 500);
    TRAP(units_of_eight_line_programs, 16000);
    TRAP(line_programs_in_each_other, 2000);
    TRAP(line_program_of_many_sequences, 2000);
    TRAP(units_over_one_program, 1000);
    TRAP(units_over_one_program, 8000);
    TRAP(sequences_under_many_calls, 2000);
    TRAP(rows_at_one_address, 2000);
    TRAP(rows_without_statement, 1000);
    TRAP(functions_of_one_long_name, 8000);
    TRAP(files_that_end_one_text, 8000);
    TRAP(sections_without_code_flag, 1000);
    TRAP(code_in_many_sections, 2000);
    TRAP(compressed_sections_of_tables, 1000);
    TRAP(compressed_sections_without_number, 2000);
    TRAP(compressed_sizes_that_lie, 100000);
    TRAP(compressed_to_more_than_stated, 20000);
    TRAP(compressed_to_all_that_may_be, 4000);
    TRAP(stub_sections_of_one_table, 1000);
    TRAP(symbols_of_one_long_name, 8000);
    TRAP(symbols_at_one_address, 4000);
    TRAP(calls_of_copies_at_one_address, 2000);
    /* A multiple of LOOKUPS, so that the addresses asked for lie alike in the functions at both sizes. */
    TRAP(functions_of_an_object_over_another, 2000);
    TRAP(functions_of_many_objects_over_one, 1000);
    TRAP(objects_of_one_name, 2000);
    TRAP(objects_of_one_file, 2000);
    TRAP(objects_in_one_archive, 2000);
    TRAP(segments_of_a_loaded_image, 1000);
    TRAP(fat_file_of_many_slices, 1000);
    TRAP(exports_that_share_nodes, 1000);
    TRAP(exports_that_loop, 1000);
    TRAP(binds_without_end, 1000);
    TRAP(unwind_pages_of_one, 2000);
    TRAP(classes_of_one_method_list, 2000);
    TRAP(fixup_chains_that_never_end, 2000);
    TRAP(map_of_one_long_chain, 2000);
    TRAP(map_of_a_false_index, 2000);
    TRAP(map_of_one_list, 2000);
    TRAP(map_of_one_long_name, 200);
    TRAP(jumps_into_one_image, 1000);
    TRAP(jumps_into_images_of_one_table, 1000);
    TRAP(jumps_into_images_of_strings_without_end, 1000);
    TRAP(jumps_into_images_of_large_commands, 1000);
    snprintf(path, sizeof path, "%s/o.o", folder);
    unlink(path);
    rmdir(folder);
    return test_done();
}
