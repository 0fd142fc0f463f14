#ifndef ms_ROOM_dwarf_lines
#define ms_ROOM_dwarf_lines
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "forms.h"

/* ==== >>lines ==============================================================================================
 * Job:    turns line programs into tables of rows that are searched by address.
 * Offers: ms_ln_table, ms_ln_end, ms_ln_read, ms_ln_read_code, ms_ln_find, ms_ln_path.
 * Never:  invents a row; lets a row answer past its sequence. */

/* DWARF5 6.2.5, 7.22 */
enum {
    ms_DW_LNS_copy = 1,
    ms_DW_LNS_advance_pc = 2,
    ms_DW_LNS_advance_line = 3,
    ms_DW_LNS_set_file = 4,
    ms_DW_LNS_set_column = 5,
    ms_DW_LNS_negate_stmt = 6,
    ms_DW_LNS_set_basic_block = 7,
    ms_DW_LNS_const_add_pc = 8,
    ms_DW_LNS_fixed_advance_pc = 9,
    ms_DW_LNS_set_prologue_end = 10,
    ms_DW_LNS_set_epilogue_begin = 11,
    ms_DW_LNS_set_isa = 12,

    ms_DW_LNE_end_sequence = 1,
    ms_DW_LNE_set_address = 2,
    ms_DW_LNE_define_file = 3,
    ms_DW_LNE_set_discriminator = 4,

    ms_DW_LNCT_path = 1,
    ms_DW_LNCT_directory_index = 2
};

/* What a row of the table says. */
typedef struct ms_ln_row {
    uint64_t addr;
    uint32_t line;
    uint32_t file;
    uint16_t column; /* as everybody stores it: larger ones are 0xffff */
    bool is_stmt;
    bool end_sequence;
} ms_ln_row;

/* A sequence: rows of ascending addresses without a gap. Its last row only tells where it ends. */
typedef struct ms_ln_seq {
    uint64_t lo;
    uint64_t hi;
    uint32_t first;
    uint32_t count;
    uint64_t off; /* in .debug_line: of its first opcode */
} ms_ln_seq;

/* An entry of the file table. */
typedef struct ms_ln_file {
    machsym_str name;
    uint64_t dir;
} ms_ln_file;

/* A unit's line table. */
typedef struct ms_ln_table {
    const ms_ln_row *rows;
    size_t row_count;
    const ms_ln_seq *seqs; /* by their ends */
    size_t seq_count;
    const ms_ln_file *files;
    size_t file_count;
    const machsym_str *dirs;
    size_t dir_count;
    size_t size;        /* of header and program, in bytes */
    uint64_t most_file; /* the largest number of a file that the program sets */
    uint16_t version;
    bool is_damaged;
    bool goes_back;      /* rows of a sequence do not ascend */
    bool ends_early;     /* a sequence ends before it begins, and is left out */
    bool shares_code;    /* sequences overlap */
    bool is_open;        /* the last rows have no end, and are left out */
    bool has_odd_header; /* the header contradicts the standard or itself */
    bool has_wrong_line; /* lines are counted down below 0 */
    bool is_part;        /* has the rows of one function: see ms_ln_read_code */
} ms_ln_table;

/* The header of a line program, as far as the program needs it. */
typedef struct ms_ln_head {
    ms_rd program;
    size_t size; /* of header and program */
    uint16_t version;
    uint8_t addr_size;
    uint8_t offset_size;
    uint8_t min_inst;
    uint8_t max_ops;
    bool default_is_stmt;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    ms_span opcode_lengths;
    bool is_odd; /* see ms_ln_table */
} ms_ln_head;

/* A table as it grows. */
typedef struct ms_ln_build {
    ms_arena *arena;     /* scratch */
    ms_arena *row_arena; /* for the rows, which stay where they grow */
    ms_ln_row *rows;
    size_t row_count;
    size_t row_cap;
    ms_ln_seq *seqs;
    size_t seq_count;
    size_t seq_cap;
    ms_ln_file *files;
    size_t file_count;
    size_t file_cap;
    machsym_str *dirs;
    size_t dir_count;
    size_t dir_cap;
    uint64_t begin;     /* in .debug_line: of the sequence that is open */
    uint64_t most_file; /* as in the table */
    bool goes_back;
    bool ends_early;
    bool shares_code;
    bool is_open;
    bool has_wrong_line;
} ms_ln_build;

/* ---- Header ---- */

static void ms_ln_add_dir(ms_ln_build *b, machsym_str dir)
{
    machsym_str *v = (machsym_str *)ms_arena_grow(b->arena, b->dirs, b->dir_count, &b->dir_cap, sizeof *v);
    if (v == NULL)
        return;
    b->dirs = v;
    v[b->dir_count++] = dir;
}

static void ms_ln_add_file(ms_ln_build *b, machsym_str name, uint64_t dir)
{
    ms_ln_file *v = (ms_ln_file *)ms_arena_grow(b->arena, b->files, b->file_count, &b->file_cap, sizeof *v);
    if (v == NULL)
        return;
    b->files = v;
    v[b->file_count].name = name;
    v[b->file_count].dir = dir;
    b->file_count++;
}

/* DWARF 2 to 4: names until an empty one. DWARF4 6.2.4 */
static void ms_ln_read_names_4(ms_ln_build *b, ms_rd *rd)
{
    for (machsym_str dir = ms_rd_str(rd); dir.len != 0; dir = ms_rd_str(rd))
        ms_ln_add_dir(b, dir);
    for (machsym_str name = ms_rd_str(rd); name.len != 0; name = ms_rd_str(rd)) {
        uint64_t dir = ms_rd_uleb(rd);
        ms_rd_uleb(rd); /* time */
        ms_rd_uleb(rd); /* size */
        ms_ln_add_file(b, name, dir);
    }
}

/* One entry of a DWARF 5 table; formats is a reader over (content, form) pairs. */
static void ms_ln_read_entry_5(const ms_dw *dw, const ms_dw_enc *enc, ms_rd formats, ms_rd *rd,
                               ms_ln_file *entry)
{
    while (ms_rd_left(&formats) > 0 && !rd->failed) {
        uint64_t content = ms_rd_uleb(&formats);
        uint64_t form = ms_rd_uleb(&formats);
        ms_dw_value value = ms_dw_read_value(rd, form > 0xffff ? 0xffffu : (uint32_t)form, 0, enc);
        if (content == ms_DW_LNCT_path)
            entry->name = ms_dw_string(dw, enc, &value);
        if (content == ms_DW_LNCT_directory_index)
            entry->dir = value.u;
    }
}

/* A DWARF 5 directory or file table, DWARF5 6.2.4.1. */
static void ms_ln_read_names_5(ms_ln_build *b, const ms_dw *dw, const ms_dw_enc *enc, ms_rd *rd,
                               bool are_files)
{
    ms_rd formats = *rd;
    for (unsigned pairs = ms_rd_u8(rd); pairs > 0; pairs--) {
        ms_rd_uleb(rd);
        ms_rd_uleb(rd);
    }
    ms_rd_u8(&formats);
    formats.end = rd->p;
    uint64_t count = ms_rd_uleb(rd);
    bool has_bytes = ms_rd_left(&formats) > 0;
    for (; count > 0 && has_bytes && ms_rd_left(rd) > 0 && !b->arena->oom; count--) {
        ms_ln_file entry = {ms_str_empty(), 0};
        const uint8_t *before = rd->p;
        ms_ln_read_entry_5(dw, enc, formats, rd, &entry);
        if (rd->failed || rd->p == before)
            break;
        if (are_files)
            ms_ln_add_file(b, entry.name, entry.dir);
        else
            ms_ln_add_dir(b, entry.name);
    }
}

/* Where the program at off ends, as its length says. */
static uint64_t ms_ln_end(const ms_dw *dw, uint64_t off)
{
    ms_rd rd = ms_rd_at(dw->line, off);
    uint64_t len = ms_rd_u32(&rd);
    if (len == 0xffffffff)
        len = ms_rd_u64(&rd);
    uint64_t left = ms_rd_left(&rd);
    return dw->line.len - left + (len < left ? len : left);
}

/* The sections that the names of the program at off may lead to. */
static uint32_t ms_ln_needs(const ms_dw *dw, uint64_t off)
{
    ms_rd rd = ms_rd_at(dw->line, off);
    ms_rd_skip(&rd, ms_rd_u32(&rd) == 0xffffffff ? 8 : 0);
    return ms_rd_u16(&rd) == 5 ? ms_NEEDS_LINE_STR | ms_NEEDS_STRX : 0u;
}

/* Whether the header gives the standard's opcodes as many operands as the standard does (DWARF5 6.2.5.2). */
static bool ms_ln_has_usual_lengths(const ms_ln_head *head)
{
    static const uint8_t usual[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    size_t count = head->opcode_lengths.len < sizeof usual ? head->opcode_lengths.len : sizeof usual;
    return ms_equal(head->opcode_lengths.ptr, usual, count);
}

/* Reads the header at off. Returns false when the program cannot be run. */
static bool ms_ln_read_head(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_ln_head *head,
                            ms_ln_build *b)
{
    ms_rd rd = ms_rd_at(dw->line, off);
    ms_dw_enc line_enc = *enc;
    ms_zero(head, sizeof *head);
    head->offset_size = 4;
    uint64_t len = ms_rd_u32(&rd);
    if (len == 0xffffffff) {
        head->offset_size = 8;
        len = ms_rd_u64(&rd);
    }
    ms_rd body = ms_rd_make(ms_rd_span(&rd, len <= ms_rd_left(&rd) ? len : ms_rd_left(&rd)));
    head->size = ms_rd_left(&body);
    head->version = ms_rd_u16(&body);
    head->addr_size = enc->addr_size;
    if (head->version < 2 || head->version > 5)
        return false;
    if (head->version == 5) {
        head->addr_size = ms_rd_u8(&body);
        ms_rd_u8(&body); /* segment selector size */
    }
    uint64_t head_len = ms_rd_uint(&body, head->offset_size);
    head->program = body;
    ms_rd_skip(&head->program, head_len);
    if (head->program.failed)
        return false;
    body.end = head->program.p;
    head->min_inst = ms_rd_u8(&body);
    head->max_ops = head->version >= 4 ? ms_rd_u8(&body) : 1;
    head->default_is_stmt = ms_rd_u8(&body) != 0;
    head->line_base = (int8_t)ms_rd_u8(&body);
    head->line_range = ms_rd_u8(&body);
    head->opcode_base = ms_rd_u8(&body);
    head->opcode_lengths = ms_rd_span(&body, head->opcode_base > 0 ? head->opcode_base - 1u : 0);
    if (body.failed || (head->addr_size != 4 && head->addr_size != 8))
        return false;
    line_enc.addr_size = head->addr_size;
    line_enc.offset_size = head->offset_size;
    if (head->version == 5) {
        ms_ln_read_names_5(b, dw, &line_enc, &body, false);
        ms_ln_read_names_5(b, dw, &line_enc, &body, true);
    } else {
        ms_ln_read_names_4(b, &body);
    }
    head->is_odd = body.failed || body.p != body.end || !ms_ln_has_usual_lengths(head);
    return true;
}

/* ---- Program ---- */

/* The state machine's registers, DWARF5 6.2.2. */
typedef struct ms_ln_regs {
    uint64_t addr;
    uint64_t op_index;
    uint64_t most_file; /* that was set since the sequence began */
    uint32_t line_bits; /* of the lines that were set since then, together */
    uint32_t line;
    uint32_t file;   /* as a row has it */
    uint16_t column; /* the same */
    bool is_stmt;
    uint32_t first_row; /* of the sequence that is open */
} ms_ln_regs;

static ms_ln_regs ms_ln_start(const ms_ln_head *head, const ms_ln_build *b)
{
    ms_ln_regs regs;
    ms_zero(&regs, sizeof regs);
    regs.file = 1;
    regs.line = 1;
    regs.is_stmt = head->default_is_stmt;
    regs.first_row = (uint32_t)b->row_count;
    return regs;
}

/* Sets the file of the rows to come. */
static inline void ms_ln_set_file(ms_ln_regs *regs, uint64_t file)
{
    regs->file = file > UINT32_MAX ? UINT32_MAX : (uint32_t)file;
    ms_raise_to(&regs->most_file, file);
}

static inline void ms_ln_set_column(ms_ln_regs *regs, uint64_t column)
{
    regs->column = (uint16_t)(column > 0xffff ? 0xffff : column);
}

/* Lines are counted down below 0 by damage only; their largest bit tells it. */
static inline void ms_ln_move_line(ms_ln_regs *regs, uint64_t lines)
{
    regs->line += (uint32_t)lines;
    regs->line_bits |= regs->line;
}

static inline void ms_ln_set_row(ms_ln_row *row, const ms_ln_regs *regs, bool end_sequence)
{
    row->addr = regs->addr;
    row->line = regs->line;
    row->file = regs->file;
    row->column = regs->column;
    row->is_stmt = regs->is_stmt;
    row->end_sequence = end_sequence;
}

/* Adds a row. Returns false when memory is out. */
static inline bool ms_ln_add_row(ms_ln_build *b, const ms_ln_regs *regs, bool end_sequence)
{
    ms_ln_row *v = (ms_ln_row *)ms_arena_grow(b->row_arena, b->rows, b->row_count, &b->row_cap, sizeof *v);
    if (v == NULL)
        return false;
    b->rows = v;
    ms_ln_set_row(&v[b->row_count++], regs, end_sequence);
    return true;
}

/* Notes that rows do not ascend, if the code where they begin is live. A sequence that ends at its lowest
 * row, or before, has no addresses: it is left out, so that its lines are missing rather than wrong. Some
 * linkers write one. The pieces that the linker moved get ends of their own. */
static void ms_ln_note_order(const ms_dw *dw, ms_ln_build *b, uint64_t begin, size_t first)
{
    if (dw->moves == NULL && ms_dw_code_at(dw, begin) == NULL)
        return;
    if (dw->moves == NULL && b->rows[b->row_count - 1].addr <= b->rows[first].addr)
        b->ends_early = true;
    else
        b->goes_back = true;
}

/* Rows of a sequence ascend (DWARF5 6.2.5.2). Where they do not, they are put in order; equal ones stay as
 * they were. */
static void ms_ln_order_rows(const ms_dw *dw, ms_ln_build *b, size_t first)
{
    const ms_ln_row *row = b->rows + first + 1;
    const ms_ln_row *end = b->rows + b->row_count;
    while (row < end && row[-1].addr <= row->addr)
        row++;
    if (row >= end)
        return;
    size_t count = b->row_count - first;
    uint64_t begin = b->rows[first].addr;
    ms_key *order = (ms_key *)ms_arena_alloc(b->arena, count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(b->arena, count, sizeof *order);
    ms_ln_row *rows = (ms_ln_row *)ms_arena_alloc(b->arena, count, sizeof *rows);
    if (order == NULL || room == NULL || rows == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        order[i].key = b->rows[first + i].addr;
        order[i].item = i;
    }
    ms_sort(order, count - 1, room); /* the end_sequence row stays last */
    for (size_t i = 0; i < count; i++)
        rows[i] = b->rows[first + order[i].item];
    ms_copy(b->rows + first, rows, count * sizeof *rows);
    ms_ln_note_order(dw, b, begin, first);
}

/* Lists a sequence. Returns false when it is empty, its code is dead, or memory is out. */
static bool ms_ln_list_sequence(const ms_dw *dw, ms_ln_build *b, const ms_ln_seq *seq)
{
    if (seq->lo >= seq->hi || ms_dw_code_at(dw, seq->lo) == NULL)
        return false;
    ms_ln_seq *v = (ms_ln_seq *)ms_arena_grow(b->arena, b->seqs, b->seq_count, &b->seq_cap, sizeof *v);
    if (v == NULL)
        return false;
    b->seqs = v;
    v[b->seq_count++] = *seq;
    return true;
}

/* Makes a sequence of the rows from first on. Drops them when it is not listed. */
static void ms_ln_add_sequence(const ms_dw *dw, ms_ln_build *b, size_t first)
{
    ms_ln_seq seq;
    if (b->row_count <= first + 1) { /* nothing before the end, or no memory */
        b->row_count = first;
        return;
    }
    seq.lo = b->rows[first].addr;
    seq.hi = b->rows[b->row_count - 1].addr;
    seq.off = b->begin;
    seq.first = (uint32_t)first;
    seq.count = (uint32_t)(b->row_count - first);
    if (!ms_ln_list_sequence(dw, b, &seq))
        b->row_count = first;
}

static void ms_ln_copy_row(ms_ln_build *b, const ms_ln_row *row, uint64_t addr, bool end_sequence)
{
    ms_ln_row *v = (ms_ln_row *)ms_arena_grow(b->row_arena, b->rows, b->row_count, &b->row_cap, sizeof *v);
    if (v == NULL)
        return;
    b->rows = v;
    v += b->row_count++;
    *v = *row;
    v->addr = addr;
    v->end_sequence = end_sequence;
}

/* The sequence of an object runs through all its functions as the compiler laid them out. Every piece that
 * the linker moved becomes a sequence of its own, which ends where the piece does. */
static void ms_ln_move_sequence(const ms_dw *dw, ms_ln_build *b, size_t first)
{
    size_t count = b->row_count - first;
    ms_ln_row *rows = (ms_ln_row *)ms_arena_alloc(b->arena, count, sizeof *rows);
    if (rows == NULL)
        return;
    ms_copy(rows, b->rows + first, count * sizeof *rows);
    b->row_count = first;
    size_t move = ms_dw_move_at(dw, rows[0].addr);
    for (size_t i = 0; i + 1 < count;) {
        if (move < dw->move_count && dw->moves[move].hi <= rows[i].addr)
            move = ms_dw_move_at(dw, rows[i].addr);
        if (move == dw->move_count)
            return;
        const ms_dw_move *m = &dw->moves[move];
        size_t from = b->row_count;
        for (; i + 1 < count && rows[i].addr < m->lo; i++)
            continue;
        size_t begin = i;
        for (; i + 1 < count && rows[i].addr < m->hi; i++)
            ms_ln_copy_row(b, &rows[i], m->to + (rows[i].addr - m->lo), false);
        uint64_t end = rows[count - 1].addr < m->hi ? rows[count - 1].addr : m->hi;
        if (i > begin && end < rows[i - 1].addr)
            end = rows[i - 1].addr; /* a damaged end */
        if (i > begin)
            ms_ln_copy_row(b, &rows[i - 1], m->to + (end - m->lo), true);
        ms_ln_add_sequence(dw, b, from);
    }
}

/* Closes the sequence at an end_sequence row. Sequences of dead code, and empty ones, leave no rows. */
static void ms_ln_end_sequence(const ms_dw *dw, ms_ln_build *b, ms_ln_regs *regs)
{
    size_t first = regs->first_row;
    ms_raise_to(&b->most_file, regs->most_file);
    b->has_wrong_line |= regs->line_bits > INT32_MAX;
    ms_ln_add_row(b, regs, true);
    if (b->row_count > first + 1)
        ms_ln_order_rows(dw, b, first);
    if (dw->moves != NULL && b->row_count > first + 1)
        ms_ln_move_sequence(dw, b, first);
    else
        ms_ln_add_sequence(dw, b, first);
}

/* DWARF5 6.2.5.1: op_index counts the operations of a VLIW bundle; 1 a bundle everywhere else. */
static inline void ms_ln_advance(const ms_ln_head *head, ms_ln_regs *regs, uint64_t operations)
{
    if (head->max_ops <= 1) {
        regs->addr += head->min_inst * operations;
        return;
    }
    uint64_t sum = regs->op_index + operations;
    regs->addr += head->min_inst * (sum / head->max_ops);
    regs->op_index = sum % head->max_ops;
}

static void ms_ln_define_file(ms_ln_build *b, ms_rd *rd)
{
    machsym_str name = ms_rd_str(rd);
    uint64_t dir = ms_rd_uleb(rd);
    ms_ln_add_file(b, name, dir);
}

static void ms_ln_extended(const ms_dw *dw, const ms_ln_head *head, ms_ln_build *b, ms_ln_regs *regs,
                           ms_rd *rd)
{
    uint64_t len = ms_rd_uleb(rd);
    ms_rd body = ms_rd_make(ms_rd_span(rd, len));
    if (len == 0 || rd->failed)
        return;
    switch (ms_rd_u8(&body)) {
    case ms_DW_LNE_end_sequence:
        ms_ln_end_sequence(dw, b, regs);
        *regs = ms_ln_start(head, b);
        b->begin = (uint64_t)(rd->p - dw->line.ptr);
        break;
    case ms_DW_LNE_set_address:
        regs->addr = ms_rd_uint(&body, (unsigned)ms_rd_left(&body));
        regs->op_index = 0;
        break;
    case ms_DW_LNE_define_file: ms_ln_define_file(b, &body); break;
    default: break; /* discriminators, and what vendors add */
    }
}

static void ms_ln_skip_unknown(const ms_ln_head *head, uint8_t opcode, ms_rd *rd)
{
    for (unsigned count = head->opcode_lengths.ptr[opcode - 1]; count > 0; count--)
        ms_rd_uleb(rd);
}

static void ms_ln_standard(const ms_ln_head *head, ms_ln_build *b, ms_ln_regs *regs, uint8_t opcode,
                           ms_rd *rd)
{
    switch (opcode) {
    case ms_DW_LNS_copy: ms_ln_add_row(b, regs, false); break;
    case ms_DW_LNS_advance_pc: ms_ln_advance(head, regs, ms_rd_uleb(rd)); break;
    case ms_DW_LNS_advance_line: ms_ln_move_line(regs, (uint64_t)ms_rd_sleb(rd)); break;
    case ms_DW_LNS_set_file: ms_ln_set_file(regs, ms_rd_uleb(rd)); break;
    case ms_DW_LNS_set_column: ms_ln_set_column(regs, ms_rd_uleb(rd)); break;
    case ms_DW_LNS_negate_stmt: regs->is_stmt = !regs->is_stmt; break;
    case ms_DW_LNS_const_add_pc:
        if (head->line_range != 0)
            ms_ln_advance(head, regs, (255u - head->opcode_base) / head->line_range);
        break;
    case ms_DW_LNS_fixed_advance_pc:
        regs->addr += ms_rd_u16(rd);
        regs->op_index = 0;
        break;
    case ms_DW_LNS_set_basic_block:
    case ms_DW_LNS_set_prologue_end:
    case ms_DW_LNS_set_epilogue_begin: break;
    case ms_DW_LNS_set_isa: ms_rd_uleb(rd); break;
    default: ms_ln_skip_unknown(head, opcode, rd); break;
    }
}

/* What each special opcode does, DWARF5 6.2.5.1: a table, since most opcodes are special and a division takes
 * longer than all the rest. */
typedef struct ms_ln_special {
    uint8_t operations[256];
    uint32_t bytes[256]; /* of code; the bundles of a VLIW apart */
    uint32_t lines[256];
} ms_ln_special;

static void ms_ln_list_special(const ms_ln_head *head, ms_ln_special *special)
{
    unsigned range = head->line_range != 0 ? head->line_range : 1;
    unsigned operations = 0;
    unsigned line = 0;
    for (unsigned i = head->opcode_base; i < 256; i++) {
        special->operations[i] = (uint8_t)operations;
        special->bytes[i] = (uint32_t)head->min_inst * operations;
        special->lines[i] = (uint32_t)(head->line_base + (int)line);
        line = line + 1 == range ? 0 : line + 1;
        operations += line == 0;
    }
}

/* Runs an opcode of one of the kinds that nearly all others than special ones are of; p stands after it, with
 * a window of 10 bytes. Returns where the next one is; NULL for another kind, a number that is longer, and a
 * step of more than most. The commonest kinds come first, and numbers of one byte. */
static ms_INLINE const uint8_t *ms_ln_run_usual(const ms_ln_head *head, uint64_t constant, uint64_t most,
                                                uint8_t opcode, const uint8_t *p, ms_ln_regs *regs)
{
    uint64_t number = *p;
    bool is_short = number < 0x80;
    if (opcode == ms_DW_LNS_set_column) {
        if (is_short) {
            regs->column = (uint16_t)number;
            return p + 1;
        }
        p = ms_dw_raw_uleb(p, &number);
        if (p != NULL)
            ms_ln_set_column(regs, number);
        return p;
    }
    if (opcode == ms_DW_LNS_negate_stmt) {
        regs->is_stmt = !regs->is_stmt;
        return p;
    }
    if (opcode == ms_DW_LNS_advance_line) {
        p = ms_dw_raw_sleb(p, &number);
        ms_ln_move_line(regs, number);
        return p;
    }
    switch (opcode) {
    case ms_DW_LNS_set_file:
        p = is_short ? p + 1 : ms_dw_raw_uleb(p, &number);
        if (p != NULL)
            ms_ln_set_file(regs, number);
        return p;
    case ms_DW_LNS_advance_pc:
        p = ms_dw_raw_uleb(p, &number);
        if (p == NULL || number > most)
            return NULL;
        regs->addr += head->min_inst * number;
        return p;
    case ms_DW_LNS_const_add_pc: regs->addr += constant; return p;
    case ms_DW_LNS_set_basic_block:
    case ms_DW_LNS_set_prologue_end:
    case ms_DW_LNS_set_epilogue_begin: return p;
    default: return NULL;
    }
}

enum { ms_LN_WINDOW = 11 }; /* an opcode with its number */

/* Runs opcodes as long as they are special or usual, there is room for rows, and the end of the program is
 * not near. Registers and rows stay in the processor's registers. */
static inline void ms_ln_run_ahead(const ms_ln_head *head, const ms_ln_special *special, ms_ln_build *b,
                                   ms_ln_regs *out, ms_rd *rd)
{
    const uint8_t *p = rd->p;
    const uint8_t *last = ms_rd_left(rd) >= ms_LN_WINDOW ? rd->end - ms_LN_WINDOW : p - 1;
    ms_ln_regs regs = *out;
    ms_ln_row *row = b->rows + b->row_count;
    const ms_ln_row *stop = b->rows + b->row_cap;
    const uint8_t base = head->opcode_base;
    const uint64_t constant = head->line_range != 0 ? special->bytes[255] : 0; /* const_add_pc */
    while (p <= last) {
        uint8_t opcode = *p;
        if (opcode >= base) {
            if (row == stop)
                break;
            regs.addr += special->bytes[opcode];
            regs.line += special->lines[opcode];
            ms_ln_set_row(row++, &regs, false);
            p++;
        } else {
            const uint8_t *next = ms_ln_run_usual(head, constant, UINT64_MAX, opcode, p + 1, &regs);
            if (next == NULL)
                break;
            p = next;
        }
        MACHSYM_COUNT_WORK(1);
    }
    rd->p = p;
    *out = regs;
    b->row_count = (size_t)(row - b->rows);
}

static void ms_ln_run(const ms_dw *dw, const ms_ln_head *head, ms_ln_build *b)
{
    ms_rd rd = head->program;
    ms_ln_regs regs = ms_ln_start(head, b);
    ms_ln_special special;
    ms_ln_list_special(head, &special);
    b->begin = (uint64_t)(rd.p - dw->line.ptr);
    while (rd.p < rd.end) {
        if (!ms_SMALL_CODE && head->max_ops <= 1)
            ms_ln_run_ahead(head, &special, b, &regs, &rd);
        uint8_t opcode = *rd.p++;
        MACHSYM_COUNT_WORK(1);
        if (opcode >= head->opcode_base) {
            ms_ln_advance(head, &regs, special.operations[opcode]);
            regs.line += special.lines[opcode];
            if (!ms_ln_add_row(b, &regs, false))
                break;
            continue;
        }
        if (opcode == 0)
            ms_ln_extended(dw, head, b, &regs, &rd);
        else
            ms_ln_standard(head, b, &regs, opcode, &rd);
        if (b->arena->oom || b->row_arena->oom)
            break;
    }
    b->is_open = b->row_count > regs.first_row;
    b->row_count = regs.first_row; /* rows that no end_sequence closes say nothing about where they end */
}

/* ---- The rows of one function ---- */

/* What is kept of the sequences while the rows of some code are looked for. */
typedef struct ms_ln_part {
    ms_range code;
    uint64_t lo;   /* the first row of the sequence that is open, once has_row */
    size_t before; /* rows when that began */
    bool has_row;
    bool is_full; /* the last row that was added tells where the code's rows end */
} ms_ln_part;

/* In one step the address moves on by no more units. So an address that became too large ends below where its
 * sequence began. */
enum { ms_LN_MOST_STEP = 1 << 20 };

/* What an opcode does to the address; how to get past it. A table, since that is all that is asked of most
 * opcodes of a program. */
typedef struct ms_ln_moves {
    uint32_t bytes[256]; /* of code */
    uint8_t sizes[256];  /* with a number of one byte; 0: unusual */
    uint8_t checks[256]; /* the bit that a longer number has in the byte after the opcode; 1: unusual */
} ms_ln_moves;

static void ms_ln_list_moves(const ms_ln_head *head, const ms_ln_special *special, ms_ln_moves *moves)
{
    static const uint8_t sizes[] = {0, 0, 0, 2, 2, 2, 1, 1, 1, 0, 1, 1}; /* by opcode */
    ms_zero(moves, sizeof *moves);
    moves->checks[0] = 1;
    for (unsigned i = 1; i < 256; i++) {
        bool is_special = i >= head->opcode_base;
        bool moves_on = is_special || (i == ms_DW_LNS_const_add_pc && head->line_range != 0);
        moves->sizes[i] = is_special ? 1 : i < sizeof sizes ? sizes[i] : 0;
        moves->checks[i] = moves->sizes[i] == 2 ? 0x80 : moves->sizes[i] == 0;
        moves->bytes[i] = moves_on ? special->bytes[is_special ? i : 255] : 0;
    }
}

/* Runs opcodes for the address alone, up to one that is unusual or the end of the sequence. */
static inline void ms_ln_pass_on(const ms_ln_moves *moves, ms_ln_regs *regs, ms_rd *rd)
{
    const uint8_t *p = rd->p;
    const uint8_t *last = ms_rd_left(rd) >= ms_LN_WINDOW ? rd->end - ms_LN_WINDOW : p - 1;
    uint64_t addr = regs->addr;
    while (p <= last) {
        uint8_t opcode = *p;
        if (((p[1] | 1u) & moves->checks[opcode]) != 0) {
            uint64_t number;
            const uint8_t *next = moves->sizes[opcode] != 0 ? ms_dw_raw_uleb(p + 1, &number) : NULL;
            if (next == NULL)
                break;
            p = next;
        } else {
            addr += moves->bytes[opcode];
            p += moves->sizes[opcode];
        }
        MACHSYM_COUNT_WORK(1);
    }
    rd->p = p;
    regs->addr = addr;
}

/* Runs opcodes up to the first row at or above an address, or to one that is unusual. Returns whether it
 * ended at a row. */
static inline bool ms_ln_pass_rows(const ms_ln_head *head, const ms_ln_special *special, uint64_t from,
                                   ms_ln_regs *out, ms_rd *rd)
{
    const uint8_t *p = rd->p;
    const uint8_t *last = ms_rd_left(rd) >= ms_LN_WINDOW ? rd->end - ms_LN_WINDOW : p - 1;
    ms_ln_regs regs = *out;
    const uint8_t base = head->opcode_base;
    const uint64_t constant = head->line_range != 0 ? special->bytes[255] : 0; /* const_add_pc */
    bool is_row = false;
    while (p <= last) {
        uint8_t opcode = *p;
        MACHSYM_COUNT_WORK(1);
        if (opcode >= base) {
            regs.addr += special->bytes[opcode];
            regs.line += special->lines[opcode];
            p++;
            if (regs.addr >= from) {
                is_row = true;
                break;
            }
        } else {
            const uint8_t *next = ms_ln_run_usual(head, constant, ms_LN_MOST_STEP, opcode, p + 1, &regs);
            if (next == NULL)
                break;
            p = next;
        }
    }
    rd->p = p;
    *out = regs;
    return is_row;
}

/* Takes a row: the first one of a sequence that begins at or below the code, and those of the code. */
static void ms_ln_take_row(ms_ln_build *b, const ms_ln_regs *regs, ms_ln_part *part)
{
    if (!part->has_row)
        part->lo = regs->addr;
    part->has_row = true;
    if (part->is_full || part->lo > part->code.lo || regs->addr < part->code.lo)
        return;
    ms_ln_add_row(b, regs, false);
    part->is_full = regs->addr >= part->code.hi;
}

/* Ends a sequence. Its rows stay if it has all of the code. Returns false when its rows do not ascend. */
static bool ms_ln_end_part(const ms_dw *dw, ms_ln_build *b, const ms_ln_regs *regs, ms_ln_part *part)
{
    ms_ln_seq seq = {part->lo, regs->addr, 0, 0, 0};
    if (part->has_row && seq.hi < seq.lo)
        return false;
    bool holds = part->has_row && ms_ln_list_sequence(dw, b, &seq) && seq.lo <= part->code.lo &&
                 seq.hi >= part->code.hi;
    if (holds && !part->is_full)
        ms_ln_add_row(b, regs, true);
    if (!holds)
        b->row_count = part->before;
    part->is_full = b->row_count != 0;
    part->before = b->row_count;
    part->has_row = false;
    return true;
}

static bool ms_ln_extend_part(const ms_dw *dw, const ms_ln_head *head, ms_ln_build *b, ms_ln_regs *regs,
                              ms_rd *rd, ms_ln_part *part)
{
    uint64_t len = ms_rd_uleb(rd);
    ms_rd body = ms_rd_make(ms_rd_span(rd, len));
    uint8_t opcode = ms_rd_u8(&body);
    if (rd->failed || len == 0 || opcode == ms_DW_LNE_define_file)
        return false;
    if (opcode == ms_DW_LNE_end_sequence) {
        bool ascends = ms_ln_end_part(dw, b, regs, part);
        *regs = ms_ln_start(head, b);
        return ascends;
    }
    if (opcode == ms_DW_LNE_set_address) {
        regs->addr = ms_rd_uint(&body, (unsigned)ms_rd_left(&body));
        return !part->has_row;
    }
    return true;
}

/* Runs one opcode. Returns false when the rows of some code cannot be told without the others. */
static bool ms_ln_step_part(const ms_dw *dw, const ms_ln_head *head, const ms_ln_special *special,
                            ms_ln_build *b, ms_ln_regs *regs, ms_rd *rd, ms_ln_part *part)
{
    uint8_t opcode = *rd->p++;
    MACHSYM_COUNT_WORK(1);
    if (opcode == 0)
        return ms_ln_extend_part(dw, head, b, regs, rd, part);
    if (opcode >= head->opcode_base) {
        ms_ln_advance(head, regs, special->operations[opcode]);
        regs->line += special->lines[opcode];
        ms_ln_take_row(b, regs, part);
    } else if (opcode == ms_DW_LNS_copy) {
        ms_ln_take_row(b, regs, part);
    } else if (opcode == ms_DW_LNS_advance_pc) {
        uint64_t units = ms_rd_uleb(rd);
        ms_ln_advance(head, regs, units);
        return !rd->failed && units <= ms_LN_MOST_STEP;
    } else {
        ms_ln_standard(head, b, regs, opcode, rd);
    }
    return !rd->failed;
}

/* Runs a program for the rows of some code. Returns false as above. */
static bool ms_ln_run_part(const ms_dw *dw, const ms_ln_head *head, ms_ln_build *b, ms_ln_part *part)
{
    ms_rd rd = head->program;
    ms_ln_regs regs = ms_ln_start(head, b);
    ms_ln_special special;
    ms_ln_moves moves;
    ms_ln_list_special(head, &special);
    ms_ln_list_moves(head, &special, &moves);
    while (rd.p < rd.end) {
        bool is_row = false;
        if (part->has_row && (part->is_full || part->lo > part->code.lo))
            ms_ln_pass_on(&moves, &regs, &rd);
        else
            is_row = ms_ln_pass_rows(head, &special, part->has_row ? part->code.lo : 0, &regs, &rd);
        if (is_row)
            ms_ln_take_row(b, &regs, part);
        else if (!ms_ln_step_part(dw, head, &special, b, &regs, &rd, part))
            return false;
        if (b->arena->oom || b->row_arena->oom)
            return false;
    }
    return !part->has_row;
}

/* ---- Table ---- */

static void ms_ln_sort_seqs(ms_ln_build *b, ms_arena *scratch)
{
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, b->seq_count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, b->seq_count, sizeof *order);
    ms_ln_seq *sorted = (ms_ln_seq *)ms_arena_alloc(scratch, b->seq_count, sizeof *sorted);
    if (order == NULL || room == NULL || sorted == NULL)
        return;
    for (size_t i = 0; i < b->seq_count; i++) {
        order[i].key = b->seqs[i].hi;
        order[i].item = i;
    }
    ms_sort(order, b->seq_count, room);
    for (size_t i = 0; i < b->seq_count; i++)
        sorted[i] = b->seqs[order[i].item];
    ms_copy(b->seqs, sorted, b->seq_count * sizeof *sorted);
    for (size_t i = 1; i < b->seq_count; i++)
        b->shares_code |= sorted[i].lo < sorted[i - 1].hi;
}

/* Makes a table of what was read, but for its sequences. */
static void ms_ln_keep(const ms_ln_build *b, const ms_ln_head *head, ms_arena *arena, ms_ln_table *table)
{
    table->rows = b->rows;
    table->files = (const ms_ln_file *)ms_arena_keep(arena, b->files, b->file_count, sizeof *b->files);
    table->dirs = (const machsym_str *)ms_arena_keep(arena, b->dirs, b->dir_count, sizeof *b->dirs);
    table->size = head->size;
    if (b->arena->oom || arena->oom)
        return;
    table->row_count = b->row_count;
    table->file_count = b->file_count;
    table->dir_count = b->dir_count;
    table->version = head->version;
    table->has_odd_header = head->is_odd;
}

/* Runs the line program at off. Work is done in scratch; the table's arrays come from arena. */
static void ms_ln_read(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_arena *scratch,
                       ms_arena *arena, ms_ln_table *table)
{
    ms_ln_build b;
    ms_ln_head head;
    ms_zero(&b, sizeof b);
    ms_zero(table, sizeof *table);
    b.arena = scratch;
    b.row_arena = arena;
    table->is_damaged = !ms_ln_read_head(dw, enc, off, &head, &b);
    table->size = head.size;
    if (table->is_damaged)
        return;
    b.row_cap = ms_rd_left(&head.program) / 4 + 1; /* compilers spend 5 to 10 bytes on a row */
    b.rows = (ms_ln_row *)ms_arena_alloc(arena, b.row_cap, sizeof *b.rows);
    if (b.rows == NULL)
        return;
    ms_ln_run(dw, &head, &b);
    ms_ln_sort_seqs(&b, scratch);
    ms_arena_fit(arena, b.rows, b.row_count, b.row_cap, sizeof *b.rows);
    table->seqs = (const ms_ln_seq *)ms_arena_keep(arena, b.seqs, b.seq_count, sizeof *b.seqs);
    ms_ln_keep(&b, &head, arena, table);
    if (scratch->oom || arena->oom)
        return;
    table->seq_count = b.seq_count;
    table->most_file = b.most_file;
    table->goes_back = b.goes_back;
    table->ends_early = b.ends_early;
    table->shares_code = b.shares_code;
    table->is_open = b.is_open;
    table->has_wrong_line = b.has_wrong_line;
}

/* The same for one function of a unit: the table has the rows of its code in one sequence, and tells nothing
 * of the numbers of files and lines that others set. Returns false when all rows are needed: the code begins
 * without a statement's row, no sequence has all of it, sequences overlap, or something is damaged. */
static bool ms_ln_read_code(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_range code,
                            ms_arena *scratch, ms_arena *arena, ms_ln_table *table)
{
    ms_ln_build b;
    ms_ln_head head;
    ms_ln_part part;
    ms_zero(&b, sizeof b);
    ms_zero(&part, sizeof part);
    ms_zero(table, sizeof *table);
    b.arena = scratch;
    b.row_arena = arena;
    part.code = code;
    if (dw->moves != NULL || !ms_ln_read_head(dw, enc, off, &head, &b) || head.max_ops > 1 ||
        !ms_ln_run_part(dw, &head, &b, &part))
        return false;
    ms_ln_sort_seqs(&b, scratch);
    ms_ln_seq *seq = (ms_ln_seq *)ms_arena_zeroed(arena, 1, sizeof *seq);
    if (seq == NULL || b.shares_code || b.row_count < 2 || b.rows[0].addr != code.lo || !b.rows[0].is_stmt)
        return false;
    ms_ln_keep(&b, &head, arena, table);
    seq->lo = code.lo;
    seq->hi = b.rows[b.row_count - 1].addr;
    seq->count = (uint32_t)b.row_count;
    table->seqs = seq;
    table->seq_count = 1;
    table->is_part = true;
    return !scratch->oom && !arena->oom;
}

/* Whether the table has file number index, as its version counts, and a name for it. */
static bool ms_ln_has_file(const ms_ln_table *table, uint64_t index)
{
    uint64_t at = table->version >= 5 ? index : index - 1; /* 0 - 1 is past every table */
    return at < table->file_count && table->files[at].name.len != 0;
}

/* The path of file number index, as the table's version counts: empty when it has no name. */
static machsym_path ms_ln_path(const ms_ln_table *table, machsym_str comp_dir, uint64_t index)
{
    machsym_path path = {ms_str_empty(), ms_str_empty(), ms_str_empty()};
    uint64_t at = table->version >= 5 ? index : index - 1; /* 0 - 1 is past every table */
    if (!ms_ln_has_file(table, index))
        return path;
    const ms_ln_file *file = &table->files[at];
    uint64_t dir = table->version >= 5 ? file->dir : file->dir - 1;
    path.comp_dir = comp_dir;
    path.name = file->name;
    if (dir < table->dir_count)
        path.dir = table->dirs[dir];
    return path;
}

/* Where in a table the last search ended, since the next one is often near. It belongs to one table. Zero is
 * a valid one. */
typedef struct ms_ln_hint {
    uint64_t lo; /* the addresses from lo to below hi are those of sequence number seq */
    uint64_t hi;
    size_t seq;
    size_t row; /* of that sequence, unless lo is hi */
} ms_ln_hint;

enum { ms_LN_NEAR = 4 }; /* rows after a hint that are looked at one by one: fewer steps than a search */

/* Whether number at is the first sequence that ends above an address. */
static inline bool ms_ln_is_seq(const ms_ln_table *table, size_t at, uint64_t addr)
{
    return at < table->seq_count && table->seqs[at].hi > addr && (at == 0 || table->seqs[at - 1].hi <= addr);
}

/* The first sequence that ends above an address; seq_count when none does. */
static size_t ms_ln_seq_above(const ms_ln_table *table, size_t hint, uint64_t addr)
{
    if (ms_ln_is_seq(table, hint, addr))
        return hint;
    if (ms_ln_is_seq(table, hint + 1, addr))
        return hint + 1;
    return table->seq_count == 0
               ? 0
               : ms_upper_bound(&table->seqs->hi, table->seq_count, sizeof *table->seqs, addr);
}

/* The last row at or below an address that a sequence holds; hint is a row of the sequence. */
static ms_INLINE size_t ms_ln_last_at(const ms_ln_row *rows, const ms_ln_seq *seq, size_t hint, uint64_t addr)
{
    size_t lo = seq->first;
    size_t hi = lo + seq->count - 1; /* ends the sequence, above the address */
    if (rows[hint].addr <= addr) {
        lo = hint;
        for (unsigned i = 0; i < ms_LN_NEAR; i++, lo++) {
            if (rows[lo + 1].addr > addr)
                return lo;
        }
    }
    return lo + ms_upper_bound(&rows[lo + 1], hi - lo - 1, sizeof *rows, addr);
}

/* Turns the hint to the sequence of an address that it does not hold. Returns false when no sequence does:
 * then hint->seq is the first one above the address, and *hi is lowered to where that begins. */
static ms_NOINLINE bool ms_ln_turn_to(const ms_ln_table *table, uint64_t addr, ms_ln_hint *hint, uint64_t *hi)
{
    size_t number = hint->seq = ms_ln_seq_above(table, hint->seq, addr);
    const ms_ln_seq *seq = number < table->seq_count ? &table->seqs[number] : NULL;
    hint->lo = hint->hi = 0;
    if (seq == NULL || seq->lo > addr) {
        if (seq != NULL)
            ms_lower_to(hi, seq->lo);
        return false;
    }
    hint->lo = number > 0 && table->seqs[number - 1].hi > seq->lo ? table->seqs[number - 1].hi : seq->lo;
    hint->hi = seq->hi;
    hint->row = seq->first;
    return true;
}

/* The row that answers under a policy, where at is the last row at or below the address. */
static ms_INLINE size_t ms_ln_choose(const ms_ln_table *table, machsym_lines lines, const ms_ln_seq *seq,
                                     size_t at)
{
    const ms_ln_row *rows = table->rows;
    size_t first = seq->first;
    size_t best = at;
    if (lines == MACHSYM_LINES_ATOS) {
        while (best > first && rows[best - 1].addr == rows[at].addr && at - best < MACHSYM_MAX_ROWS_BACK) {
            MACHSYM_COUNT_WORK(1);
            best--;
        }
        return best;
    }
    if (lines == MACHSYM_LINES_STMT) {
        while (best > first && !rows[best].is_stmt && at - best < MACHSYM_MAX_ROWS_BACK) {
            MACHSYM_COUNT_WORK(1);
            best--;
        }
        return rows[best].is_stmt ? best : at;
    }
    return at;
}

/* The row that answers for an address under a policy; row_count when none does. Lowers *hi to where another
 * row may answer. past_end: under the stmt policy code after a sequence takes its last line. A row of a file
 * that the table does not have is damage, and no answer. */
static ms_INLINE size_t ms_ln_find(const ms_ln_table *table, machsym_lines lines, bool past_end,
                                   uint64_t addr, ms_ln_hint *hint, uint64_t *hi)
{
    size_t at = table->row_count;
    if ((addr >= hint->lo && addr < hint->hi) || ms_ln_turn_to(table, addr, hint, hi)) {
        const ms_ln_seq *seq = &table->seqs[hint->seq];
        size_t last = hint->row = ms_ln_last_at(table->rows, seq, hint->row, addr);
        ms_lower_to(hi, table->rows[last + 1].addr);
        at = ms_ln_choose(table, lines, seq, last);
    } else if (hint->seq > 0 && past_end && lines == MACHSYM_LINES_STMT) {
        const ms_ln_seq *before = &table->seqs[hint->seq - 1];
        at = (size_t)before->first + before->count - 1;
    }
    if (at != table->row_count && !ms_ln_has_file(table, table->rows[at].file))
        at = table->row_count;
    return at;
}

#endif /* ms_ROOM_dwarf_lines */
