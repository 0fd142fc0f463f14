#ifndef ms_ROOM_unwind_cfa
#define ms_ROOM_unwind_cfa
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../macho/eh_frame.h"
#include "registers.h"
#include "expression.h"

/* ==== >>unwind-cfa =========================================================================================
 * Job:    the caller's registers by the CFA program of a function.
 * Offers: ms_cfa_row_at, ms_cfa_step.
 * Never:  allocates; runs a program twice. */

#ifndef MACHSYM_NO_UNWIND

/* DWARF5 7.24. An instruction may consist of its upper two bits. */
enum {
    ms_CFA_ADVANCE = 0x40,
    ms_CFA_OFFSET = 0x80,
    ms_CFA_RESTORE = 0xc0,
    ms_CFA_NOP = 0x00,
    ms_CFA_SET_LOC = 0x01,
    ms_CFA_ADVANCE1 = 0x02,
    ms_CFA_ADVANCE2 = 0x03,
    ms_CFA_ADVANCE4 = 0x04,
    ms_CFA_OFFSET_EXTENDED = 0x05,
    ms_CFA_RESTORE_EXTENDED = 0x06,
    ms_CFA_UNDEFINED = 0x07,
    ms_CFA_SAME = 0x08,
    ms_CFA_REGISTER = 0x09,
    ms_CFA_REMEMBER = 0x0a,
    ms_CFA_RESTORE_STATE = 0x0b,
    ms_CFA_DEF_CFA = 0x0c,
    ms_CFA_DEF_REGISTER = 0x0d,
    ms_CFA_DEF_OFFSET = 0x0e,
    ms_CFA_DEF_EXPRESSION = 0x0f,
    ms_CFA_EXPRESSION = 0x10,
    ms_CFA_OFFSET_SF = 0x11,
    ms_CFA_DEF_CFA_SF = 0x12,
    ms_CFA_DEF_OFFSET_SF = 0x13,
    ms_CFA_VAL_OFFSET = 0x14,
    ms_CFA_VAL_OFFSET_SF = 0x15,
    ms_CFA_VAL_EXPRESSION = 0x16,
    ms_CFA_SIGNED_WITH_PC = 0x2c, /* arm64: the return address becomes signed or unsigned */
    ms_CFA_SIGNED = 0x2d,
    ms_CFA_ARGUMENTS = 0x2e, /* GNU_args_size */
    ms_CFA_STATES = 4,       /* that a program may remember; clang's programs remember one */
    ms_CFA_REGISTERS = 33
};

/* The place of a caller's register. */
typedef enum ms_cfa_kind {
    ms_CFA_IS_SAME, /* in the register itself */
    ms_CFA_IS_UNDEFINED,
    ms_CFA_IS_AT,       /* in memory, at an offset from the CFA */
    ms_CFA_IS_OFFSET,   /* the value is the CFA plus an offset */
    ms_CFA_IS_REGISTER, /* in another register; for the CFA: a register plus an offset */
    ms_CFA_IS_AT_EXPRESSION,
    ms_CFA_IS_EXPRESSION
} ms_cfa_kind;

typedef struct ms_cfa_rule {
    const uint8_t *expression;
    int64_t value; /* an offset, a register, or the length of the expression */
    ms_cfa_kind kind;
} ms_cfa_rule;

/* The rules for all registers at one address. */
typedef struct ms_cfa_row {
    ms_cfa_rule rules[ms_CFA_REGISTERS]; /* valid where ruled has a bit; other registers are unchanged */
    uint64_t ruled;
    ms_cfa_rule cfa;
    uint64_t cfa_register;
    bool is_swapped; /* see ms_cfa_number */
} ms_cfa_row;

/* The state of a running program. */
typedef struct ms_cfa_machine {
    const ms_eh_cie *cie;
    ms_cfa_row row;
    ms_cfa_row first; /* after the CIE's program; "restore" returns to it */
    ms_cfa_row kept[ms_CFA_STATES];
    unsigned kept_count;
    const ms_eh_frames *frames;
    uint64_t pc;
} ms_cfa_machine;

/* The rules of a row that has none. */
static void ms_cfa_clear(ms_cfa_row *row)
{
    row->ruled = 0;
    ms_zero(&row->cfa, sizeof row->cfa);
    row->cfa_register = 0;
    row->is_swapped = false;
}

/* Of 33 rules few are there. */
static void ms_cfa_copy(ms_cfa_row *to, const ms_cfa_row *from)
{
    unsigned i = 0;
    to->ruled = from->ruled;
    to->cfa = from->cfa;
    to->cfa_register = from->cfa_register;
    to->is_swapped = from->is_swapped;
    for (uint64_t left = from->ruled; left != 0; left >>= 1, i++) {
        if ((left & 1) != 0)
            to->rules[i] = from->rules[i];
    }
}

/* Vector registers and others that are not kept are ignored. */
static ms_NOINLINE void ms_cfa_rule_of(ms_cfa_row *row, uint64_t number, ms_cfa_kind kind, int64_t value)
{
    if (number >= ms_CFA_REGISTERS)
        return;
    row->rules[number].kind = kind;
    row->rules[number].value = value;
    row->rules[number].expression = NULL;
    row->ruled |= (uint64_t)1 << number;
}

/* Multiplies without sign, because a hostile product may overflow. */
static int64_t ms_cfa_times(int64_t factor, uint64_t number)
{
    return (int64_t)((uint64_t)factor * number);
}

static ms_NOINLINE ms_cfa_rule ms_cfa_block(ms_rd *rd, ms_cfa_kind kind)
{
    ms_cfa_rule rule;
    uint64_t len = ms_rd_uleb(rd);
    ms_span block = ms_rd_span(rd, len);
    rule.expression = block.ptr;
    rule.value = (int64_t)block.len;
    rule.kind = kind;
    return rule;
}

static void ms_cfa_define(ms_cfa_row *row, uint64_t number, int64_t off)
{
    row->cfa.kind = ms_CFA_IS_REGISTER;
    row->cfa_register = number;
    row->cfa.value = off;
}

/* Instructions that define the CFA. Returns: false for other instructions. */
static bool ms_cfa_of_cfa(ms_cfa_machine *m, ms_rd *rd, unsigned op)
{
    ms_cfa_row *row = &m->row;
    uint64_t number;
    switch (op) {
    case ms_CFA_DEF_CFA:
        number = ms_rd_uleb(rd);
        ms_cfa_define(row, number, (int64_t)ms_rd_uleb(rd));
        return true;
    case ms_CFA_DEF_CFA_SF:
        number = ms_rd_uleb(rd);
        ms_cfa_define(row, number, ms_cfa_times(m->cie->data_align, (uint64_t)ms_rd_sleb(rd)));
        return true;
    case ms_CFA_DEF_REGISTER: /* after an expression there is no offset */
        ms_cfa_define(row, ms_rd_uleb(rd), row->cfa.kind == ms_CFA_IS_REGISTER ? row->cfa.value : 0);
        return true;
    case ms_CFA_DEF_OFFSET: ms_cfa_define(row, row->cfa_register, (int64_t)ms_rd_uleb(rd)); return true;
    case ms_CFA_DEF_OFFSET_SF:
        ms_cfa_define(row, row->cfa_register, ms_cfa_times(m->cie->data_align, (uint64_t)ms_rd_sleb(rd)));
        return true;
    case ms_CFA_DEF_EXPRESSION: row->cfa = ms_cfa_block(rd, ms_CFA_IS_EXPRESSION); return true;
    default: return false;
    }
}

static void ms_cfa_back_to_first(ms_cfa_machine *m, uint64_t number)
{
    if (number >= ms_CFA_REGISTERS)
        return;
    uint64_t bit = (uint64_t)1 << number;
    m->row.ruled = (m->row.ruled & ~bit) | (m->first.ruled & bit);
    if ((m->first.ruled & bit) != 0)
        m->row.rules[number] = m->first.rules[number];
}

static void ms_cfa_expression_of(ms_cfa_row *row, ms_rd *rd, ms_cfa_kind kind)
{
    uint64_t number = ms_rd_uleb(rd);
    ms_cfa_rule rule = ms_cfa_block(rd, kind);
    if (number >= ms_CFA_REGISTERS)
        return;
    row->rules[number] = rule;
    row->ruled |= (uint64_t)1 << number;
}

/* Instructions that define a register's place. Returns: false for other instructions. */
static bool ms_cfa_of_register(ms_cfa_machine *m, ms_rd *rd, unsigned op)
{
    int64_t align = m->cie->data_align;
    ms_cfa_row *row = &m->row;
    uint64_t number;
    switch (op) {
    case ms_CFA_OFFSET_EXTENDED:
    case ms_CFA_VAL_OFFSET:
        number = ms_rd_uleb(rd);
        ms_cfa_rule_of(row, number, op == ms_CFA_VAL_OFFSET ? ms_CFA_IS_OFFSET : ms_CFA_IS_AT,
                       ms_cfa_times(align, ms_rd_uleb(rd)));
        return true;
    case ms_CFA_OFFSET_SF:
    case ms_CFA_VAL_OFFSET_SF:
        number = ms_rd_uleb(rd);
        ms_cfa_rule_of(row, number, op == ms_CFA_VAL_OFFSET_SF ? ms_CFA_IS_OFFSET : ms_CFA_IS_AT,
                       ms_cfa_times(align, (uint64_t)ms_rd_sleb(rd)));
        return true;
    case ms_CFA_RESTORE_EXTENDED: ms_cfa_back_to_first(m, ms_rd_uleb(rd)); return true;
    case ms_CFA_UNDEFINED: ms_cfa_rule_of(row, ms_rd_uleb(rd), ms_CFA_IS_UNDEFINED, 0); return true;
    case ms_CFA_SAME: ms_cfa_rule_of(row, ms_rd_uleb(rd), ms_CFA_IS_SAME, 0); return true;
    case ms_CFA_REGISTER:
        number = ms_rd_uleb(rd);
        ms_cfa_rule_of(row, number, ms_CFA_IS_REGISTER, (int64_t)ms_rd_uleb(rd));
        return true;
    case ms_CFA_EXPRESSION: ms_cfa_expression_of(row, rd, ms_CFA_IS_AT_EXPRESSION); return true;
    case ms_CFA_VAL_EXPRESSION: ms_cfa_expression_of(row, rd, ms_CFA_IS_EXPRESSION); return true;
    default: return false;
    }
}

/* Instructions that advance the address. Returns: false for other instructions. */
static bool ms_cfa_of_place(ms_cfa_machine *m, ms_rd *rd, unsigned op, uint64_t *pc)
{
    switch (op) {
    case ms_CFA_SET_LOC: *pc = ms_rd_uint(rd, m->frames->word) + m->frames->slide; return true;
    case ms_CFA_ADVANCE1: *pc += m->cie->code_align * ms_rd_u8(rd); return true;
    case ms_CFA_ADVANCE2: *pc += m->cie->code_align * ms_rd_u16(rd); return true;
    case ms_CFA_ADVANCE4: *pc += m->cie->code_align * ms_rd_u32(rd); return true;
    default: return false;
    }
}

/* The remaining instructions. Returns: false for unknown ones, and if too many or too few states are
 * remembered. */
static bool ms_cfa_of_rest(ms_cfa_machine *m, ms_rd *rd, unsigned op)
{
    switch (op) {
    case ms_CFA_NOP:
    case ms_CFA_SIGNED_WITH_PC: /* signatures are always removed from addresses */
    case ms_CFA_SIGNED: return true;
    case ms_CFA_ARGUMENTS: ms_rd_uleb(rd); return true;
    case ms_CFA_REMEMBER:
        if (m->kept_count == ms_CFA_STATES)
            return false;
        ms_cfa_copy(&m->kept[m->kept_count++], &m->row);
        return true;
    case ms_CFA_RESTORE_STATE:
        if (m->kept_count == 0)
            return false;
        ms_cfa_copy(&m->row, &m->kept[--m->kept_count]);
        return true;
    default: return false;
    }
}

/* Runs a program up to the row that holds target. It ends at the latest with the program's bytes. */
static bool ms_cfa_run(ms_cfa_machine *m, ms_rd rd, uint64_t target)
{
    while (ms_rd_left(&rd) != 0) {
        unsigned byte = ms_rd_u8(&rd), low = byte & 0x3f;
        uint64_t pc = m->pc;
        if ((byte & 0xc0) == ms_CFA_ADVANCE)
            pc += m->cie->code_align * low;
        else if ((byte & 0xc0) == ms_CFA_OFFSET)
            ms_cfa_rule_of(&m->row, low, ms_CFA_IS_AT, ms_cfa_times(m->cie->data_align, ms_rd_uleb(&rd)));
        else if ((byte & 0xc0) == ms_CFA_RESTORE)
            ms_cfa_back_to_first(m, low);
        else if (!ms_cfa_of_place(m, &rd, low, &pc) && !ms_cfa_of_cfa(m, &rd, low) &&
                 !ms_cfa_of_register(m, &rd, low) && !ms_cfa_of_rest(m, &rd, low))
            return false;
        if (pc > target)
            return !rd.failed;
        m->pc = pc;
    }
    return !rd.failed;
}

/* Whether a register is not unchanged. */
static bool ms_cfa_has_rule(const ms_cfa_row *row, unsigned number)
{
    return (row->ruled >> number & 1) != 0 && row->rules[number].kind != ms_CFA_IS_SAME;
}

/* Computes the rules at an address of a function that begins at lo. */
static bool ms_cfa_row_at(const ms_eh_frames *frames, const ms_eh_cie *cie, ms_rd program, uint64_t lo,
                          uint64_t pc, ms_cfa_row *out)
{
    ms_cfa_machine m;
    m.cie = cie;
    m.kept_count = 0;
    m.frames = frames;
    m.pc = lo;
    ms_cfa_clear(&m.row);
    ms_cfa_clear(&m.first);
    if (!ms_cfa_run(&m, cie->program, UINT64_MAX))
        return false;
    ms_cfa_copy(&m.first, &m.row);
    m.pc = lo;
    if (!ms_cfa_run(&m, program, pc))
        return false;
    ms_cfa_copy(out, &m.row);
    return true;
}

/* eh_frame of i386 exchanges the numbers of esp and ebp; debug_frame does not. */
static unsigned ms_cfa_number(const ms_cfa_row *row, uint64_t number)
{
    if (row->is_swapped && number == ms_UNR_I386_ESP)
        return ms_UNR_I386_EBP;
    if (row->is_swapped && number == ms_UNR_I386_EBP)
        return ms_UNR_I386_ESP;
    return number < ms_CFA_REGISTERS ? (unsigned)number : (unsigned)ms_UNR_NONE;
}

static bool ms_cfa_value(const machsym_unwind_desc *desc, const machsym_unwind_state *s,
                         const ms_cfa_row *row, uint64_t *out)
{
    unsigned number = ms_cfa_number(row, row->cfa_register);
    if (row->cfa.kind == ms_CFA_IS_EXPRESSION)
        return ms_une_value(desc, s, ms_span_make(row->cfa.expression, (size_t)row->cfa.value), NULL, out);
    if (row->cfa.kind != ms_CFA_IS_REGISTER || number == ms_UNR_NONE || !ms_unr_knows(s, number))
        return false;
    *out = s->v[number] + (uint64_t)row->cfa.value;
    return true;
}

/* Fetches what the rules have in memory around the CFA: registers are saved next to each other. */
static void ms_cfa_fetch(const machsym_unwind_desc *desc, unsigned word, const ms_cfa_row *row, uint64_t cfa,
                         ms_unr_words *out)
{
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    unsigned i = 0, count = 0;
    for (uint64_t left = row->ruled; left != 0; left >>= 1, i++) {
        if ((left & 1) == 0 || row->rules[i].kind != ms_CFA_IS_AT)
            continue;
        lo = row->rules[i].value < lo ? row->rules[i].value : lo;
        hi = row->rules[i].value > hi ? row->rules[i].value : hi;
        count++;
    }
    uint64_t words = count > 1 ? ((uint64_t)hi - (uint64_t)lo) / word + 1 : 0;
    ms_unr_fetch(desc, word, cfa + (uint64_t)lo, words <= ms_UNR_AT_ONCE ? (unsigned)words : 0, out);
}

/* Computes register i by its rule in the frame s. Returns: false if the value is unknown. */
static bool ms_cfa_apply(const machsym_unwind_desc *desc, const machsym_unwind_state *s,
                         const ms_cfa_row *row, unsigned i, uint64_t cfa, const ms_unr_words *words,
                         uint64_t *out)
{
    const ms_cfa_rule *rule = &row->rules[i];
    unsigned from = ms_cfa_number(row, i);
    bool is_ruled = (row->ruled >> i & 1) != 0;
    ms_span expression =
        is_ruled ? ms_span_make(rule->expression, (size_t)rule->value) : ms_span_make(NULL, 0);
    uint64_t addr = is_ruled ? cfa + (uint64_t)rule->value : 0;
    switch (is_ruled ? rule->kind : ms_CFA_IS_SAME) {
    case ms_CFA_IS_UNDEFINED: return false;
    case ms_CFA_IS_OFFSET: *out = addr; return true;
    case ms_CFA_IS_EXPRESSION: return ms_une_value(desc, s, expression, &cfa, out);
    case ms_CFA_IS_AT_EXPRESSION:
        if (!ms_une_value(desc, s, expression, &cfa, &addr))
            return false;
        return ms_unr_word(desc, words->size, addr, out);
    case ms_CFA_IS_AT: return ms_unr_fetched(desc, words, addr, out);
    case ms_CFA_IS_REGISTER: from = ms_cfa_number(row, (uint64_t)rule->value); break;
    default: break; /* unchanged */
    }
    if (from == ms_UNR_NONE || !ms_unr_knows(s, from))
        return false;
    *out = s->v[from];
    return true;
}

/* Replaces the registers of s by those of the caller. All rules use the registers of the frame. Without a
 * rule, the stack pointer becomes the CFA. An undefined return address ends the stack, as where a thread
 * begins. */
static bool ms_cfa_caller(const machsym_unwind_desc *desc, const ms_cfa_row *row, uint64_t return_register,
                          machsym_unwind_state *s)
{
    const ms_unr_arch *arch = ms_unr_arch_of(desc->cputype);
    machsym_unwind_state frame = *s;
    ms_unr_words words;
    uint64_t cfa, value, ruled = row->ruled;
    unsigned i = 0, sp = ms_cfa_number(row, arch->sp), back = (unsigned)return_register;
    if (return_register >= ms_CFA_REGISTERS || !ms_cfa_value(desc, s, row, &cfa))
        return false;
    ms_cfa_fetch(desc, arch->word, row, cfa, &words);
    if (!ms_cfa_has_rule(row, sp))
        ms_unr_set(s, arch->sp, cfa);
    for (; ruled != 0; ruled >>= 1, i++) { /* the others are unchanged */
        if ((ruled & 1) == 0 || row->rules[i].kind == ms_CFA_IS_SAME)
            continue;
        if (ms_cfa_apply(desc, &frame, row, i, cfa, &words, &value))
            ms_unr_set(s, ms_cfa_number(row, i), value);
        else
            s->known &= ~((uint64_t)1 << ms_cfa_number(row, i));
    }
    if (ms_cfa_has_rule(row, back) && row->rules[back].kind == ms_CFA_IS_UNDEFINED)
        value = 0;
    else if (!ms_cfa_apply(desc, &frame, row, back, cfa, &words, &value))
        return false;
    ms_unr_set(s, arch->pc, value);
    return ms_unr_knows(s, arch->sp);
}

/* A function of a table: its FDE and CIE, and where it begins. */
typedef struct ms_cfa_function {
    ms_eh_entry fde;
    ms_eh_entry room; /* the bytes of the CIE */
    ms_eh_cie cie;
    uint64_t lo;
} ms_cfa_function;

/* Finds the FDE of an address: the one at off, or if off is 0, the first one whose range has the address. The
 * FDEs of one CIE follow each other, so it is kept. searched: grows by the entries that were read. */
static bool ms_cfa_find(const ms_eh_frames *frames, uint64_t off, uint64_t pc, uint32_t *searched,
                        ms_cfa_function *out)
{
    uint64_t at = off, size, cie = 0;
    bool has_cie = false;
    for (unsigned i = 0; i < MACHSYM_MAX_FRAME_SEARCH && *searched < MACHSYM_MAX_STACK_SEARCH &&
                         ms_eh_entry_at(frames, at, &out->fde);
         i++) {
        ++*searched;
        at = out->fde.next;
        if (!out->fde.is_cie && (!has_cie || out->fde.cie != cie)) {
            cie = out->fde.cie;
            has_cie = ms_eh_cie_at(frames, &out->fde, &out->room, &out->cie);
        }
        if (!out->fde.is_cie && has_cie && ms_eh_range(frames, &out->fde, &out->cie, &out->lo, &size) &&
            pc >= out->lo && pc - out->lo < size)
            return true;
        if (off != 0)
            return false;
    }
    return false;
}

/* Returns the program of an FDE, which follows its addresses and data. */
static ms_rd ms_cfa_program(ms_cfa_function *function)
{
    ms_rd *body = &function->fde.body;
    if (function->cie.has_data)
        ms_rd_skip(body, ms_rd_uleb(body));
    return *body;
}

/* Replaces the registers of s by those of its caller. off: place of the FDE; 0: search for it. Returns:
 * false, and changes nothing of s but searched, if no program finds the caller. */
static bool ms_cfa_step(const machsym_unwind_desc *desc, const ms_eh_frames *frames, uint64_t off,
                        uint64_t pc, machsym_unwind_state *s)
{
    machsym_unwind_state caller = *s;
    ms_cfa_function function;
    ms_cfa_row row;
    bool found = ms_cfa_find(frames, off, pc, &s->searched, &function);
    caller.searched = s->searched;
    if (!found || !ms_cfa_row_at(frames, &function.cie, ms_cfa_program(&function), function.lo, pc, &row))
        return false;
    row.is_swapped = desc->cputype == ms_UNR_CPU_I386 && !frames->is_debug;
    if (!ms_cfa_caller(desc, &row, function.cie.return_register, &caller))
        return false;
    caller.how = function.cie.is_signal ? MACHSYM_UNWIND_SIGNAL : MACHSYM_UNWIND_CFA;
    *s = caller;
    return true;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_cfa */
