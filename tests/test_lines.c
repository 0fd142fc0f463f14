/* The room lines: headers of versions 2 to 5, every opcode, sequences, and which row answers under each
 * policy. */
#define TEST_ROOM <rooms/src/dwarf/lines.h>
#include "dwarf.h"

/* What a line program's header says. */
typedef struct line_head {
    encoding enc;
    unsigned min_inst;
    unsigned max_ops;
    unsigned is_stmt;
    int line_base;
    unsigned line_range;
    unsigned opcode_base;
} line_head;

static const line_head plain4 = {{4, 8, 4}, 1, 1, 1, -5, 14, 13};

static const uint8_t operand_counts[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2, 0, 3};

static void put_names_4(bytes *b)
{
    put_str(b, "dir1");
    put_str(b, "/abs");
    put8(b, 0);
    put_str(b, "a.c"); /* in the compilation directory */
    put_uleb(b, 0);
    put_uleb(b, 1600000000);
    put_uleb(b, 12345);
    put_str(b, "b.c");
    put_uleb(b, 1);
    put_uleb(b, 0);
    put_uleb(b, 0);
    put_str(b, "c.c");
    put_uleb(b, 2);
    put_uleb(b, 0);
    put_uleb(b, 0);
    put_str(b, "d.c");
    put_uleb(b, 99); /* a directory that is not there */
    put_uleb(b, 0);
    put_uleb(b, 0);
    put8(b, 0);
}

/* Directories by line_strp, files with MD5, a vendor's content type, and sizes. */
static void put_names_5(program *p, bytes *b)
{
    static const char *const dirs[] = {"/comp", "dir1", "/abs"};
    static const char *const files[] = {"a.c", "b.c", "c.c"};
    put8(b, 1);
    put_uleb(b, 1);
    put_uleb(b, FORM_line_strp);
    put_uleb(b, 3);
    for (unsigned i = 0; i < 3; i++)
        put_offset(p, b, add_text(&p->line_str, dirs[i]));
    put8(b, 5);
    put_uleb(b, 5); /* MD5 */
    put_uleb(b, FORM_data16);
    put_uleb(b, 2);
    put_uleb(b, FORM_udata);
    put_uleb(b, 0x2001); /* a vendor's */
    put_uleb(b, FORM_block);
    put_uleb(b, 1);
    put_uleb(b, FORM_string);
    put_uleb(b, 4); /* size */
    put_uleb(b, FORM_data4);
    put_uleb(b, 3);
    for (unsigned i = 0; i < 3; i++) {
        put_zeros(b, 16);
        put_uleb(b, i);
        put_uleb(b, 3);
        put_zeros(b, 3);
        put_str(b, files[i]);
        put32(b, 100);
    }
}

static size_t line_at; /* of the length that line_end fills */

static void line_begin(program *p, const line_head *head)
{
    bytes *b = &p->line;
    p->enc = head->enc;
    line_at = begin_length(p, b);
    put16(b, head->enc.version);
    if (head->enc.version >= 5) {
        put8(b, head->enc.addr_size);
        put8(b, 0);
    }
    put_uint(b, 0, head->enc.offset_size);
    size_t start = b->len;
    put8(b, head->min_inst);
    if (head->enc.version >= 4)
        put8(b, head->max_ops);
    put8(b, head->is_stmt);
    put8(b, (uint64_t)(int64_t)head->line_base);
    put8(b, head->line_range);
    put8(b, head->opcode_base);
    for (unsigned i = 1; i < head->opcode_base; i++)
        put8(b, i <= sizeof operand_counts ? operand_counts[i - 1] : 0);
    if (head->enc.version >= 5)
        put_names_5(p, b);
    else
        put_names_4(b);
    patch(b, start - head->enc.offset_size, b->len - start, head->enc.offset_size);
}

static void line_end(program *p)
{
    end_length(p, &p->line, line_at);
}

static void set_address(program *p, uint64_t addr)
{
    put8(&p->line, 0);
    put_uleb(&p->line, 1 + p->enc.addr_size);
    put8(&p->line, 2);
    put_addr(p, &p->line, addr);
}

static void end_sequence(program *p)
{
    put8(&p->line, 0);
    put8(&p->line, 1);
    put8(&p->line, 1);
}

static void advance_pc(program *p, uint64_t by)
{
    put8(&p->line, 2);
    put_uleb(&p->line, by);
}

/* Sets the line and adds a row. The machine's line register is *line. */
static void row(program *p, int *line, int to)
{
    put8(&p->line, 3);
    put_sleb(&p->line, to - *line);
    put8(&p->line, 1);
    *line = to;
}

static void negate_stmt(program *p)
{
    put8(&p->line, 6);
}

/* A unit with one function over the whole code, whose line program is the section's first. */
static void put_unit(program *p)
{
    ABBREV(p, 1, TAG_compile_unit, 1, AT_stmt_list, FORM_sec_offset, AT_comp_dir, FORM_string, AT_low_pc,
           FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 2, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    abbrev_end(p);
    unit_begin(p, p->enc, 1, 0);
    die(p, 1);
    put_offset(p, &p->info, 0);
    put_str(&p->info, "/comp");
    put_addr(p, &p->info, 0x1000);
    put32(&p->info, 0x1000);
    die(p, 2);
    put_str(&p->info, "f");
    put_addr(p, &p->info, 0x1000);
    put32(&p->info, 0x1000);
    put8(&p->info, 0);
    unit_end(p);
}

/* The same without a function, as assemblers write it. */
static void put_bare_unit(program *p)
{
    ABBREV(p, 1, TAG_compile_unit, 0, AT_stmt_list, FORM_sec_offset, AT_comp_dir, FORM_string, AT_low_pc,
           FORM_addr, AT_high_pc, FORM_data4);
    abbrev_end(p);
    unit_begin(p, p->enc, 1, 0);
    die(p, 1);
    put_offset(p, &p->info, 0);
    put_str(&p->info, "/comp");
    put_addr(p, &p->info, 0x1000);
    put32(&p->info, 0x1000);
    unit_end(p);
}

/* A row expected. */
typedef struct want_row {
    uint64_t addr;
    uint32_t line;
    uint32_t column;
    const char *file;
    bool is_stmt;
    bool end_sequence;
} want_row;

static void check_rows(program *p, const want_row *want, size_t count)
{
    lookup l;
    machsym_cursor at = {0, 0};
    machsym_line got;
    size_t rows = 0;
    put_unit(p);
    lookup_open(&l, p, MACHSYM_LINES_ATOS, 0);
    for (; machsym_session_next_line(l.session, &at, &got) && rows < count; rows++) {
        CHECK_EQ(got.addr, want[rows].addr);
        CHECK_EQ(got.line, want[rows].line);
        CHECK_EQ(got.column, want[rows].column);
        CHECK_EQ(got.is_stmt, want[rows].is_stmt);
        CHECK_EQ(got.end_sequence, want[rows].end_sequence);
        if (want[rows].file != NULL)
            CHECK_STR(got.file.name, want[rows].file);
    }
    CHECK_EQ(rows, count);
    CHECK(!machsym_session_next_line(l.session, &at, &got));
    lookup_close(&l);
    program_free(p);
}

/* All standard, extended and special opcodes, and unknown ones that are skipped by what the header says of
 * them. */
static void test_opcodes(const line_head *head)
{
    program p;
    memset(&p, 0, sizeof p);
    line_begin(&p, head);
    bytes *b = &p.line;
    bool v5 = head->enc.version >= 5;
    set_address(&p, 0x1000);
    put8(b, 1); /* copy */
    put8(b, 4); /* set_file */
    put_uleb(b, v5 ? 1 : 2);
    put8(b, 5); /* set_column */
    put_uleb(b, 70000);
    put8(b, 3); /* advance_line */
    put_sleb(b, 100);
    put8(b, 2); /* advance_pc */
    put_uleb(b, 8);
    put8(b, 7);  /* set_basic_block */
    put8(b, 10); /* set_prologue_end */
    put8(b, 11); /* set_epilogue_begin */
    put8(b, 12); /* set_isa */
    put_uleb(b, 300);
    put8(b, 1);
    put8(b, 6); /* negate_stmt */
    put8(b, 8); /* const_add_pc */
    put8(b, 1);
    put8(b, 9); /* fixed_advance_pc */
    put16(b, 0x100);
    put8(b, 1);
    put8(b, 3);
    put_sleb(b, -50);
    put8(b, 0); /* set_discriminator */
    put_uleb(b, 3);
    put8(b, 4);
    put_uleb(b, 1000);
    put8(b, 0); /* a vendor's, skipped by its length */
    put_uleb(b, 5);
    put8(b, 0x80);
    put32(b, 0xffffffffu);
    put8(b, 1);
    put8(b, 13); /* unknown standard opcodes with 2, 0 and 3 operands */
    put_uleb(b, 1000);
    put_uleb(b, 1);
    put8(b, 14);
    put8(b, 15);
    put_uleb(b, 1);
    put_uleb(b, 2000);
    put_uleb(b, 3);
    put8(b, 5);
    put_uleb(b, 7);
    put8(b, 16 + 14 * 2 + 7); /* special: 2 instructions, line + 2 */
    put8(b, 0);               /* define_file: number 5 in version 4 */
    put_uleb(b, 8);
    put8(b, 3);
    put_str(b, "new");
    put_uleb(b, 1);
    put_uleb(b, 0);
    put_uleb(b, 0);
    put8(b, 4);
    put_uleb(b, v5 ? 3 : 5);
    put8(b, 16 + 14); /* 1 instruction, line - 5 */
    put8(b, 2);
    put_uleb(b, 1);
    end_sequence(&p);
    line_end(&p);
    uint64_t i = head->min_inst;
    uint64_t a = 0x1000 + 8 * i;
    uint64_t add = (255 - 16) / 14 * i;
    const want_row want[] = {
        {0x1000, 1, 0, v5 ? "b.c" : "a.c", true, false},
        {a, 101, 0xffff, "b.c", true, false},
        {a + add, 101, 0xffff, "b.c", false, false},
        {a + add + 0x100, 101, 0xffff, "b.c", false, false},
        {a + add + 0x100, 51, 0xffff, "b.c", false, false},
        {a + add + 0x100 + 2 * i, 53, 7, "b.c", false, false},
        {a + add + 0x100 + 3 * i, 48, 7, "new", false, false},
        {a + add + 0x100 + 4 * i, 48, 7, "new", false, true},
    };
    check_rows(&p, want, sizeof want / sizeof want[0]);
}

/* An older opcode_base: what would be standard opcodes are special ones. */
static void test_small_opcode_base(void)
{
    static const line_head head = {{4, 8, 4}, 4, 1, 0, -1, 4, 4};
    static const want_row want[] = {{0x1004, 2, 0, "a.c", false, false}, {0x1010, 2, 0, "a.c", false, true}};
    program p;
    memset(&p, 0, sizeof p);
    line_begin(&p, &head);
    set_address(&p, 0x1000);
    put8(&p.line, 4 + 4 + 2); /* special: 1 instruction of 4 bytes, line + 1 */
    advance_pc(&p, 3);
    end_sequence(&p);
    line_end(&p);
    check_rows(&p, want, 2);
}

/* Bundles of several operations: addresses move by whole bundles. DWARF4 6.2.5.1 */
static void test_vliw(void)
{
    static const line_head head = {{4, 8, 4}, 16, 3, 1, -5, 14, 13};
    static const want_row want[] = {
        {0x1000, 1, 0, NULL, true, false}, {0x1000, 1, 0, NULL, true, false},
        {0x1010, 1, 0, NULL, true, false}, {0x1010, 1, 0, NULL, true, false},
        {0x1020, 1, 0, NULL, true, true},
    };
    program p;
    memset(&p, 0, sizeof p);
    line_begin(&p, &head);
    set_address(&p, 0x1000);
    put8(&p.line, 1);
    advance_pc(&p, 2);
    put8(&p.line, 1);
    advance_pc(&p, 2);
    put8(&p.line, 1);
    put8(&p.line, 13 + 14 + 5); /* special: 1 operation, the same line */
    advance_pc(&p, 1);
    end_sequence(&p);
    line_end(&p);
    check_rows(&p, want, 5);
}

/* line_range 0 must not divide; the rest of the program runs. */
static void test_zero_range(void)
{
    static const line_head head = {{4, 8, 4}, 1, 1, 1, 0, 0, 13};
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    line_begin(&p, &head);
    set_address(&p, 0x1000);
    put8(&p.line, 1);
    put8(&p.line, 8);
    advance_pc(&p, 0x10);
    put8(&p.line, 13);
    advance_pc(&p, 0x10);
    end_sequence(&p);
    line_end(&p);
    put_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(ask(&l, 0x1000), 1);
    CHECK_EQ(l.v[0].line, 1);
    lookup_close(&l);
    program_free(&p);
}

/* ---- Paths ---- */

static void check_path(lookup *l, uint64_t addr, const char *want)
{
    char path[64];
    CHECK_EQ(ask(l, addr), 1);
    machsym_path_join(&l->v[0].file, path, sizeof path);
    CHECK_TEXT(path, want);
}

static void test_paths(void)
{
    static const line_head head5 = {{5, 8, 4}, 1, 1, 1, -5, 14, 13};
    for (unsigned version = 4; version < 6; version++) {
        program p;
        lookup l;
        memset(&p, 0, sizeof p);
        line_begin(&p, version == 5 ? &head5 : &plain4);
        set_address(&p, 0x1000);
        for (unsigned i = 0; i < 6; i++) {
            put8(&p.line, 4);
            put_uleb(&p.line, i);
            put8(&p.line, 1);
            advance_pc(&p, 0x10);
        }
        end_sequence(&p);
        line_end(&p);
        put_unit(&p);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        if (version == 5) {
            check_path(&l, 0x1000, "/comp/a.c");
            check_path(&l, 0x1010, "/comp/dir1/b.c");
            check_path(&l, 0x1020, "/abs/c.c");
            check_path(&l, 0x1030, "");
        } else {
            check_path(&l, 0x1000, ""); /* before DWARF 5 there is no file 0 */
            check_path(&l, 0x1010, "/comp/a.c");
            check_path(&l, 0x1020, "/comp/dir1/b.c");
            check_path(&l, 0x1030, "/abs/c.c");
            check_path(&l, 0x1040, "/comp/d.c");
            check_path(&l, 0x1050, "");
        }
        lookup_close(&l);
        program_free(&p);
    }
}

/* ---- Policies ---- */

/* Under each policy: file, line. 0xffff: no line at all. */
typedef struct policy_row {
    uint64_t addr;
    uint32_t atos;
    uint32_t dwarf;
    uint32_t stmt;
} policy_row;

static void check_policies(program *p, const policy_row *rows, size_t count)
{
    put_unit(p);
    for (unsigned policy = 0; policy < 3; policy++) {
        lookup l;
        lookup_open(&l, p, (machsym_lines)policy, 0);
        for (size_t i = 0; i < count; i++) {
            uint32_t want = policy == 0 ? rows[i].atos : policy == 1 ? rows[i].dwarf : rows[i].stmt;
            CHECK_EQ(ask(&l, rows[i].addr), 1);
            if (want == 0xffff)
                CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_NONE);
            else
                CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_DWARF);
            CHECK_EQ(l.v[0].line, want == 0xffff ? 0 : want);
            if (l.v[0].line != (want == 0xffff ? 0 : want))
                printf("policy %u, address 0x%llx\n", policy, (unsigned long long)rows[i].addr);
        }
        lookup_close(&l);
    }
    program_free(p);
}

/* Equal addresses, rows without is_stmt, line 0, and what lies past a sequence or before the first row. */
static void test_policies(void)
{
    program p;
    int line = 1;
    memset(&p, 0, sizeof p);
    line_begin(&p, &plain4);
    set_address(&p, 0x1010);
    row(&p, &line, 10); /* 0x1010: 10, 11, 12 */
    row(&p, &line, 11);
    row(&p, &line, 12);
    advance_pc(&p, 0x10);
    negate_stmt(&p);
    row(&p, &line, 0); /* 0x1020: 0, no statement */
    advance_pc(&p, 0x10);
    row(&p, &line, 14); /* 0x1030: 14, no statement */
    negate_stmt(&p);
    advance_pc(&p, 0x10);
    row(&p, &line, 15); /* 0x1040: 15, then 16 without is_stmt */
    negate_stmt(&p);
    row(&p, &line, 16);
    advance_pc(&p, 0x10);
    end_sequence(&p); /* at 0x1050, line 16 */
    line_end(&p);
    static const policy_row want[] = {
        {0x1000, 0xffff, 0xffff, 0xffff},
        {0x100f, 0xffff, 0xffff, 0xffff},
        {0x1010, 10, 12, 12},
        {0x101f, 10, 12, 12},
        {0x1020, 0, 0, 12},
        {0x1030, 14, 14, 12},
        {0x1040, 15, 16, 15},
        {0x104f, 15, 16, 15},
        {0x1050, 0xffff, 0xffff, 16},
        {0x1fff, 0xffff, 0xffff, 16}, /* stmt: the end_sequence row below */
    };
    check_policies(&p, want, sizeof want / sizeof want[0]);
}

/* Past a sequence the last line goes on for the code of a function only: of code without one nothing tells that
 * it is the same code. */
static void test_bare_end(void)
{
    for (unsigned policy = 0; policy < 3; policy++) {
        program p;
        lookup l;
        int line = 1;
        memset(&p, 0, sizeof p);
        line_begin(&p, &plain4);
        set_address(&p, 0x1000);
        row(&p, &line, 10);
        advance_pc(&p, 0x10);
        end_sequence(&p);
        line_end(&p);
        put_bare_unit(&p);
        lookup_open(&l, &p, (machsym_lines)policy, 0);
        CHECK_EQ(ask(&l, 0x100f), 1);
        CHECK_EQ(l.v[0].line, 10);
        for (uint64_t addr = 0x1010; addr < 0x2000; addr += 0xfe8)
            CHECK(ask(&l, addr) == 0 || l.v[0].line_source == MACHSYM_SOURCE_NONE);
        lookup_close(&l);
        program_free(&p);
    }
}

/* A sequence that has no statement at all answers with its rows as they are. */
static void test_no_statement(void)
{
    static const line_head head = {{4, 8, 4}, 1, 1, 0, -5, 14, 13};
    static const policy_row want[] = {{0x1000, 5, 5, 5}, {0x1010, 6, 6, 6}};
    program p;
    int line = 1;
    memset(&p, 0, sizeof p);
    line_begin(&p, &head);
    set_address(&p, 0x1000);
    row(&p, &line, 5);
    advance_pc(&p, 0x10);
    row(&p, &line, 6);
    advance_pc(&p, 0x10);
    end_sequence(&p);
    line_end(&p);
    check_policies(&p, want, 2);
}

/* ---- Sequences ---- */

static void sequence(program *p, uint64_t addr, uint64_t size, int line_number)
{
    int line = 1;
    set_address(p, addr);
    row(p, &line, line_number);
    advance_pc(p, size);
    end_sequence(p);
}

/* Sequences in any order, with gaps; empty ones, dead ones, and one that nothing ends say nothing. */
static void test_sequences(void)
{
    static const policy_row want[] = {
        {0x1000, 30, 30, 30}, {0x10ff, 30, 30, 30},         {0x1100, 0xffff, 0xffff, 30},
        {0x1200, 20, 20, 20}, {0x1280, 25, 25, 25},         {0x1300, 0xffff, 0xffff, 25},
        {0x1400, 10, 10, 10}, {0x1500, 0xffff, 0xffff, 10}, {0x1900, 0xffff, 0xffff, 10},
    };
    program p;
    int line = 1;
    memset(&p, 0, sizeof p);
    line_begin(&p, &plain4);
    sequence(&p, 0x1400, 0x100, 10);
    sequence(&p, 0x1280, 0x80, 25);
    sequence(&p, 0, 0x5000, 99);                 /* dead code over everything */
    sequence(&p, UINT64_MAX - 0xff, 0x2000, 98); /* wraps around */
    sequence(&p, 0x1200, 0x80, 20);
    sequence(&p, 0x1240, 0, 97); /* empty */
    sequence(&p, 0x1000, 0x100, 30);
    end_sequence(&p);
    set_address(&p, 0x1900);
    row(&p, &line, 96); /* never ended */
    line_end(&p);
    check_policies(&p, want, sizeof want / sizeof want[0]);
}

/* Thousands of sequences out of order, as -ffunction-sections makes them. */
static void test_many_sequences(void)
{
    enum { COUNT = 1000 };
    program p;
    lookup l;
    memset(&p, 0, sizeof p);
    line_begin(&p, &plain4);
    for (int i = 0; i < COUNT; i++) {
        int which = i * 7 % COUNT;
        sequence(&p, 0x1000 + 4 * (uint64_t)which, 4, 1 + which);
    }
    line_end(&p);
    put_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        wrong += ask(&l, 0x1003 + 4 * i) != 1;
        wrong += l.v[0].line != 1 + i;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(ask(&l, 0x1000 + 4 * COUNT), 1);
    CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_NONE);
    lookup_close(&l);
    program_free(&p);
}

/* Each byte of a program is a row: four times what is reserved for its length. */
static void test_rows_of_one_byte(void)
{
    enum { COUNT = 100000 };
    program p;
    lookup l;
    machsym_cursor at = {0, 0};
    machsym_line got;
    uint32_t rows = 0, wrong = 0;
    memset(&p, 0, sizeof p);
    line_begin(&p, &plain4);
    set_address(&p, 0x1000);
    for (unsigned i = 0; i < COUNT; i++)
        put8(&p.line, 13 + 6 + 14); /* special: 1 byte of code, line + 1 */
    end_sequence(&p);
    line_end(&p);
    put_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    for (; machsym_session_next_line(l.session, &at, &got) && !got.end_sequence; rows++)
        wrong += got.addr != 0x1001 + (uint64_t)rows || got.line != 2 + rows;
    CHECK_EQ(rows, COUNT);
    CHECK_EQ(wrong, 0);
    lookup_close(&l);
    program_free(&p);
}

/* ---- Damage ---- */

/* A header that cannot be read costs the lines, not the function; the unit is counted. */
static void test_damage(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        unsigned size;
    } rows[] = {
        {4, 1, 2}, /* version */
        {4, 6, 2},
        {6, 0xffffff, 4}, /* header length */
        {0, 3, 4},        /* length */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        program p;
        lookup l;
        machsym_session_counts info;
        memset(&p, 0, sizeof p);
        line_begin(&p, &plain4);
        sequence(&p, 0x1000, 0x100, 10);
        line_end(&p);
        put_unit(&p);
        patch(&p.line, rows[i].at, rows[i].value, rows[i].size);
        lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
        CHECK_EQ(ask(&l, 0x1000), 1);
        CHECK_STR(l.v[0].name, "f");
        CHECK_EQ(l.v[0].line, 0);
        CHECK_EQ(l.v[0].line_source, MACHSYM_SOURCE_NONE);
        machsym_session_count_all(l.session, &info);
        CHECK_EQ(info.damaged_units, 1);
        lookup_close(&l);
        program_free(&p);
    }
}

/* Rows of a producer that goes backwards within a sequence: whatever answers, it is a row at or below the
 * address. */
static void test_backwards(void)
{
    program p;
    lookup l;
    int line = 1;
    memset(&p, 0, sizeof p);
    line_begin(&p, &plain4);
    set_address(&p, 0x1000);
    row(&p, &line, 10);
    set_address(&p, 0x1100);
    row(&p, &line, 20);
    set_address(&p, 0x1080);
    row(&p, &line, 30);
    set_address(&p, 0x1200);
    end_sequence(&p);
    line_end(&p);
    put_unit(&p);
    lookup_open(&l, &p, MACHSYM_LINES_ATOS, 0);
    ask(&l, 0x1000);
    CHECK_EQ(l.v[0].line, 10);
    ask(&l, 0x1090);
    CHECK(l.v[0].line == 10 || l.v[0].line == 30);
    ask(&l, 0x1180);
    CHECK(l.v[0].line == 20 || l.v[0].line == 30);
    lookup_close(&l);
    program_free(&p);
}

/* An entry of the file table without a name is no file: its folder is not told either. Found by
 * fuzz/fuzz_agree.c: sessions told the folder, maps did not. */
static void test_nameless_file(void)
{
    static const ms_ln_file files[] = {{{"", 0}, 1}, {{"b.c", 3}, 1}};
    static const machsym_str dirs[] = {{"/dir", 4}};
    ms_ln_table table;
    memset(&table, 0, sizeof table);
    table.version = 4;
    table.files = files;
    table.file_count = 2;
    table.dirs = dirs;
    table.dir_count = 1;
    machsym_path path = ms_ln_path(&table, ms_str_from_c("/comp"), 1);
    CHECK(path.comp_dir.len == 0 && path.dir.len == 0 && path.name.len == 0);
    path = ms_ln_path(&table, ms_str_from_c("/comp"), 2);
    CHECK_STR(path.comp_dir, "/comp");
    CHECK_STR(path.dir, "/dir");
    CHECK_STR(path.name, "b.c");
}

/* Where the search before ended decides nothing, also where sequences overlap: one that ends first answers. */
static void test_hints(void)
{
    static const ms_ln_row rows[] = {
        {0x1000, 10, 1, 0, true, false}, {0x1040, 11, 1, 0, true, false}, {0x1100, 11, 1, 0, true, true},
        {0x1080, 20, 1, 0, true, false}, {0x1140, 21, 1, 0, true, false}, {0x1180, 22, 1, 0, true, false},
        {0x1200, 22, 1, 0, true, true},  {0x1300, 30, 1, 0, true, false}, {0x1340, 30, 1, 0, true, true},
    };
    static const ms_ln_seq seqs[] = {
        {0x1000, 0x1100, 0, 3, 0}, {0x1080, 0x1200, 3, 4, 0}, {0x1300, 0x1340, 7, 2, 0}};
    ms_ln_file file;
    ms_ln_table table;
    size_t wrong = 0;
    ms_zero(&table, sizeof table);
    file.name = ms_str_from_c("a.c");
    file.dir = 0;
    table.rows = rows;
    table.row_count = sizeof rows / sizeof rows[0];
    table.seqs = seqs;
    table.seq_count = sizeof seqs / sizeof seqs[0];
    table.files = &file;
    table.file_count = 1;
    table.version = 4;
    for (uint64_t before = 0xff0; before < 0x1360; before += 16) {
        for (uint64_t addr = 0xff0; addr < 0x1360; addr += 16) {
            ms_ln_hint none = {0, 0, 0, 0};
            ms_ln_hint hint = {0, 0, 0, 0};
            uint64_t ends[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
            ms_ln_find(&table, MACHSYM_LINES_ATOS, true, before, &hint, &ends[0]);
            size_t want = ms_ln_find(&table, MACHSYM_LINES_ATOS, true, addr, &none, &ends[1]);
            wrong += ms_ln_find(&table, MACHSYM_LINES_ATOS, true, addr, &hint, &ends[2]) != want;
            wrong += ends[1] != ends[2];
            wrong += (addr >= 0x1080 && addr < 0x1100 && want != 1) || (addr == 0x1150 && want != 4);
        }
    }
    CHECK_EQ(wrong, 0);
}

/* ---- The rows of one function ---- */

static uint64_t random_state = 38;

static unsigned random_below(unsigned limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 20) % limit;
}

static void *take_memory(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void give_memory(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}

/* What a compiler does not write, or only where something went wrong. */
static void put_odd_opcode(program *p)
{
    static const uint8_t file[] = {0, 7, 3, 'x', '.', 'c', 0, 0, 0, 0};
    static const uint64_t steps[] = {1u << 20, (1u << 20) + 1, (uint64_t)-64, (uint64_t)-0x400, 1u << 30};
    static const uint8_t longer[] = {5, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0};
    switch (random_below(7)) {
    case 0: set_address(p, 0x1000 + random_below(0x600)); break;
    case 1: advance_pc(p, steps[random_below(5)]); break;
    case 2: put(&p->line, file, sizeof file - 2); break; /* define_file */
    case 3: put(&p->line, longer, sizeof longer); break;
    case 4: put_zeros(&p->line, 2); break; /* an opcode without bytes */
    case 5: put8(&p->line, 13 + random_below(3)); break;
    default: end_sequence(p); break;
    }
}

static void put_random_opcode(program *p, const line_head *head)
{
    bytes *b = &p->line;
    static const uint8_t plain[] = {1, 6, 7, 8, 10, 11};
    switch (random_below(10)) {
    case 0: put8(b, 5), put_uleb(b, random_below(2) != 0 ? random_below(90) : random_below(70000)); break;
    case 1: put8(b, 3), put_sleb(b, (int)random_below(400) - 100); break;
    case 2: put8(b, 4), put_uleb(b, random_below(7)); break;
    case 3: put8(b, plain[random_below(6)]); break;
    case 4: advance_pc(p, random_below(20)); break;
    case 5:
        if (random_below(2) != 0) {
            put8(b, 9), put16(b, random_below(20));
        } else {
            put8(b, 12), put_uleb(b, random_below(300));
        }
        break;
    case 6: put8(b, 0), put8(b, 2), put8(b, 4), put8(b, random_below(100)); break; /* discriminator */
    default: put8(b, head->opcode_base + random_below(256 - head->opcode_base)); break;
    }
}

enum { SEQUENCES = 3 };

/* Where the addresses of a program's sequences stand in its bytes. */
typedef struct begins {
    size_t at[SEQUENCES];
    unsigned count;
} begins;

/* Sequences from 0x1000 on, each after the one before; with odd opcodes: some overlap, or begin at the end of all
 * addresses. */
static void put_random_program(program *p, const line_head *head, bool is_odd, begins *begin)
{
    uint64_t at = 0x1000;
    line_begin(p, head);
    begin->count = 0;
    for (unsigned left = 1 + random_below(SEQUENCES); left > 0; left--) {
        set_address(p, at);
        begin->at[begin->count++] = p->line.len - 8;
        for (unsigned count = random_below(40); count > 0; count--) {
            if (is_odd && random_below(30) == 0)
                put_odd_opcode(p);
            put_random_opcode(p, head);
        }
        if (!is_odd || random_below(20) != 0)
            end_sequence(p);
        at += is_odd && random_below(4) == 0 ? 0x40 : 0x8000;
        at = is_odd && random_below(10) == 0 ? UINT64_MAX - random_below(0x40) : at;
    }
    if (is_odd && random_below(20) == 0)
        put8(&p->line, 5); /* a number is missing */
    line_end(p);
}

/* The first row of some code that one sequence has; row_count: none has all of it from a row on. */
static size_t first_of(const ms_ln_table *t, ms_range code)
{
    for (size_t i = 0; i < t->seq_count; i++) {
        const ms_ln_seq *seq = &t->seqs[i];
        if (seq->lo > code.lo || seq->hi < code.hi)
            continue;
        for (size_t j = seq->first; j + 1 < (size_t)seq->first + seq->count; j++) {
            if (t->rows[j].addr == code.lo)
                return j;
        }
    }
    return t->row_count;
}

/* Whether a program tells the rows of some code, and nothing is wrong with it. */
static bool has_code(const ms_ln_table *t, ms_range code)
{
    size_t first = first_of(t, code);
    bool is_sound = !t->goes_back && !t->ends_early && !t->shares_code && !t->is_open;
    return is_sound && first < t->row_count && t->rows[first].is_stmt;
}

static bool same_answer(const ms_ln_table *a, const ms_ln_table *b, machsym_lines lines, uint64_t addr,
                        uint64_t end)
{
    ms_ln_hint hints[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    uint64_t his[2] = {end, end};
    size_t x = ms_ln_find(a, lines, true, addr, &hints[0], &his[0]);
    size_t y = ms_ln_find(b, lines, true, addr, &hints[1], &his[1]);
    if (his[0] != his[1] || (x == a->row_count) != (y == b->row_count))
        return false;
    return x == a->row_count || memcmp(&a->rows[x], &b->rows[y], offsetof(ms_ln_row, end_sequence)) == 0;
}

/* The rows of the code, one after the other. */
static bool same_rows(const ms_ln_table *whole, const ms_ln_table *part, ms_range code)
{
    size_t first = first_of(whole, code);
    for (size_t i = 0; i + 1 < part->row_count; i++) {
        if (first + i >= whole->row_count || part->rows[i].addr >= code.hi ||
            memcmp(&whole->rows[first + i], &part->rows[i], offsetof(ms_ln_row, end_sequence)) != 0)
            return false;
    }
    return first + part->row_count <= whole->row_count &&
           whole->rows[first + part->row_count - 1].addr >= code.hi;
}

/* Moves each sequence to the end of the one before, or to a byte next to that, in any order: one byte of a step is
 * then the difference between sequences that share code and sequences that do not. */
static void move_together(program *p, const ms_dw *dw, const ms_dw_enc *enc, const begins *begin)
{
    machsym_allocator allocator = {take_memory, give_memory, NULL};
    ms_arena scratch = ms_arena_make(allocator);
    ms_arena arena = ms_arena_make(allocator);
    ms_ln_table whole;
    uint64_t at = 0x1000;
    ms_ln_read(dw, enc, 0, &scratch, &arena, &whole);
    unsigned turned = random_below(begin->count);
    for (unsigned i = 0; i < begin->count && whole.seq_count == begin->count; i++) {
        unsigned k = (i + turned) % begin->count;
        uint64_t to = at - (whole.seqs[k].lo - (0x1000 + 0x8000 * k));
        for (unsigned byte = 0; byte < 8; byte++)
            p->line.v[begin->at[k] + byte] = (uint8_t)(to >> (8 * byte));
        at += whole.seqs[k].hi - whole.seqs[k].lo;
        if (random_below(3) == 0)
            at = at + 1 - random_below(3);
    }
    ms_arena_free(&scratch);
    ms_arena_free(&arena);
}

/* Reads one program whole and for some code. Returns whether the code alone was read. */
static bool check_part(const ms_dw *dw, const ms_dw_enc *enc, bool is_odd, unsigned *wrong)
{
    machsym_allocator allocator = {take_memory, give_memory, NULL};
    ms_arena scratch = ms_arena_make(allocator);
    ms_arena arena = ms_arena_make(allocator);
    ms_ln_table whole;
    ms_ln_table part;
    ms_ln_read(dw, enc, 0, &scratch, &arena, &whole);
    ms_range code = {0x1000 + random_below(0x100), 0};
    if (whole.row_count > 0)
        code.lo = whole.rows[random_below((unsigned)whole.row_count)].addr;
    code.hi = code.lo + 1 + random_below(0x80);
    bool is_read = ms_ln_read_code(dw, enc, 0, code, &scratch, &arena, &part);
    if (is_read) {
        *wrong += !has_code(&whole, code) || !same_rows(&whole, &part, code);
        *wrong += part.is_damaged || part.shares_code || part.goes_back || part.ends_early || part.is_open;
        *wrong += part.file_count != whole.file_count || part.dir_count != whole.dir_count;
        for (uint64_t addr = code.lo; addr < code.hi; addr++) {
            for (int lines = 0; lines < MACHSYM_LINES_COUNT; lines++)
                *wrong += !same_answer(&whole, &part, (machsym_lines)lines, addr, code.hi);
        }
    }
    *wrong += !is_odd && is_read != has_code(&whole, code);
    ms_arena_free(&scratch);
    ms_arena_free(&arena);
    return is_read;
}

/* The rows of one function answer as all rows of its program do, or all are asked for. */
static void test_part(void)
{
    enum { PROGRAMS = 20000 };
    unsigned wrong = 0;
    unsigned read[2] = {0, 0};
    for (unsigned i = 0; i < PROGRAMS; i++) {
        program p;
        ms_dw dw;
        ms_dw_enc enc;
        static const ms_range all = {0, 0x20000};
        begins begin;
        bool is_odd = i % 2 != 0;
        line_head head = {{4, 8, 4}, 1 + 3 * random_below(2),  1, random_below(4) != 0,
                          -5,        11 + 3 * random_below(2), 13};
        head.max_ops += is_odd && random_below(8) == 0;
        memset(&p, 0, sizeof p);
        memset(&dw, 0, sizeof dw);
        memset(&enc, 0, sizeof enc);
        put_random_program(&p, &head, is_odd, &begin);
        dw.line = ms_span_make(p.line.v, p.line.len);
        dw.code = &all;
        dw.code_count = 1;
        enc.addr_size = 8;
        enc.offset_size = 4;
        enc.version = 4;
        if (!is_odd && i % 4 == 0)
            move_together(&p, &dw, &enc, &begin);
        read[is_odd] += check_part(&dw, &enc, is_odd, &wrong);
        program_free(&p);
    }
    CHECK_EQ(wrong, 0);
    CHECK(read[false] > PROGRAMS / 8 && read[true] > PROGRAMS / 40);
}

int main(void)
{
    test_nameless_file();
    static const encoding encodings[] = {{2, 8, 4}, {3, 4, 4}, {3, 8, 8}, {4, 8, 4},
                                         {5, 8, 4}, {5, 4, 4}, {5, 8, 8}};
    for (unsigned i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        line_head head = {{0, 0, 0}, 1, 1, 1, -5, 14, 16};
        head.enc = encodings[i];
        test_opcodes(&head);
        head.min_inst = 4;
        test_opcodes(&head);
    }
    test_small_opcode_base();
    test_vliw();
    test_zero_range();
    test_paths();
    test_policies();
    test_bare_end();
    test_no_statement();
    test_sequences();
    test_many_sequences();
    test_rows_of_one_byte();
    test_damage();
    test_backwards();
    test_hints();
    test_part();
    return test_done();
}
