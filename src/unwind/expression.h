#ifndef ms_ROOM_unwind_expression
#define ms_ROOM_unwind_expression
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "registers.h"

/* ==== >>unwind-expression ==================================================================================
 * Job:    the value of a DWARF expression over the registers and the memory of a frame.
 * Offers: ms_une_value.
 * Never:  takes more than MACHSYM_MAX_FRAME_STEPS; reads variables. */

#ifndef MACHSYM_NO_UNWIND

/* DWARF5 7.7.1 */
enum {
    ms_UNE_ADDR = 0x03,
    ms_UNE_DEREF = 0x06,
    ms_UNE_CONST1U = 0x08,
    ms_UNE_CONSTU = 0x10,
    ms_UNE_CONSTS = 0x11,
    ms_UNE_DUP = 0x12,
    ms_UNE_DROP = 0x13,
    ms_UNE_OVER = 0x14,
    ms_UNE_PICK = 0x15,
    ms_UNE_SWAP = 0x16,
    ms_UNE_ROT = 0x17,
    ms_UNE_ABS = 0x19,
    ms_UNE_AND = 0x1a,
    ms_UNE_DIV = 0x1b,
    ms_UNE_MINUS = 0x1c,
    ms_UNE_MOD = 0x1d,
    ms_UNE_MUL = 0x1e,
    ms_UNE_NEG = 0x1f,
    ms_UNE_NOT = 0x20,
    ms_UNE_OR = 0x21,
    ms_UNE_PLUS = 0x22,
    ms_UNE_PLUS_UCONST = 0x23,
    ms_UNE_SHL = 0x24,
    ms_UNE_SHR = 0x25,
    ms_UNE_SHRA = 0x26,
    ms_UNE_XOR = 0x27,
    ms_UNE_BRA = 0x28,
    ms_UNE_EQ = 0x29,
    ms_UNE_GE = 0x2a,
    ms_UNE_GT = 0x2b,
    ms_UNE_LE = 0x2c,
    ms_UNE_LT = 0x2d,
    ms_UNE_NE = 0x2e,
    ms_UNE_SKIP = 0x2f,
    ms_UNE_LIT0 = 0x30,
    ms_UNE_BREG0 = 0x70,
    ms_UNE_BREGX = 0x92,
    ms_UNE_DEREF_SIZE = 0x94,
    ms_UNE_NOP = 0x96,
    ms_UNE_STACK = 32
};

/* A stack machine. Each operation first checks its operands, so that no access is outside of the stack. */
typedef struct ms_une {
    const machsym_unwind_desc *desc;
    const machsym_unwind_state *s;
    ms_rd rd;
    uint64_t v[ms_UNE_STACK];
    unsigned count;
    unsigned word;
    bool failed;
} ms_une;

static ms_NOINLINE void ms_une_push(ms_une *m, uint64_t value)
{
    if (m->count == ms_UNE_STACK)
        m->failed = true;
    else
        m->v[m->count++] = m->word == 8 ? value : value & 0xffffffff;
}

/* Returns the value at a depth below the top. */
static ms_NOINLINE uint64_t ms_une_peek(ms_une *m, unsigned depth)
{
    if (depth < m->count)
        return m->v[m->count - 1 - depth];
    m->failed = true;
    return 0;
}

static ms_NOINLINE uint64_t ms_une_pop(ms_une *m)
{
    uint64_t value = ms_une_peek(m, 0);
    if (!m->failed)
        m->count--;
    return value;
}

/* Extends the sign of a word. */
static int64_t ms_une_signed(const ms_une *m, uint64_t value)
{
    return m->word == 8 ? (int64_t)value : (int64_t)(int32_t)(uint32_t)value;
}

static void ms_une_register(ms_une *m, uint64_t number, int64_t off)
{
    if (number > 32 || !ms_unr_knows(m->s, (unsigned)number))
        m->failed = true;
    else
        ms_une_push(m, m->s->v[number] + (uint64_t)off);
}

static void ms_une_load(ms_une *m, unsigned size)
{
    uint64_t value = 0;
    if (size == 0 || size > m->word || !ms_unr_word(m->desc, size, ms_une_pop(m), &value))
        m->failed = true;
    ms_une_push(m, value);
}

/* Each signed constant of 1, 2, 4 or 8 bytes has the number after the unsigned one of its size. */
static void ms_une_constant(ms_une *m, unsigned op)
{
    unsigned size = 1u << (op - ms_UNE_CONST1U) / 2;
    uint64_t value = ms_rd_uint(&m->rd, size);
    if ((op & 1) != 0 && size != 8 && (value >> (8 * size - 1) & 1) != 0)
        value |= ~(uint64_t)0 << 8 * size;
    ms_une_push(m, value);
}

/* A jump out of the expression fails. */
static void ms_une_jump(ms_une *m, bool taken)
{
    int64_t by = (int16_t)ms_rd_u16(&m->rd);
    int64_t at = (int64_t)ms_rd_offset(&m->rd) + by;
    if (!taken)
        return;
    if (at < 0 || at > m->rd.end - m->rd.start)
        m->failed = true;
    else
        m->rd.p = m->rd.start + at;
}

static void ms_une_stack(ms_une *m, unsigned op)
{
    uint64_t a = 0, b = 0, c;
    switch (op) {
    case ms_UNE_DUP: ms_une_push(m, ms_une_peek(m, 0)); return;
    case ms_UNE_DROP: ms_une_pop(m); return;
    case ms_UNE_OVER: ms_une_push(m, ms_une_peek(m, 1)); return;
    case ms_UNE_PICK: ms_une_push(m, ms_une_peek(m, ms_rd_u8(&m->rd))); return;
    default: break;
    }
    a = ms_une_pop(m);
    b = ms_une_pop(m);
    if (op == ms_UNE_SWAP) {
        ms_une_push(m, a);
        ms_une_push(m, b);
        return;
    }
    c = ms_une_pop(m); /* rot: the top moves below the next two */
    ms_une_push(m, a);
    ms_une_push(m, c);
    ms_une_push(m, b);
}

/* b is the top, a the value below it. A shift by more than the word gives 0, or the sign. */
static uint64_t ms_une_two(ms_une *m, unsigned op, uint64_t a, uint64_t b)
{
    int64_t sa = ms_une_signed(m, a), sb = ms_une_signed(m, b);
    uint64_t most = m->word * 8 - 1;
    switch (op) {
    case ms_UNE_AND: return a & b;
    case ms_UNE_DIV:
    case ms_UNE_MOD:
        if (b == 0)
            m->failed = true;
        else if (op == ms_UNE_MOD)
            return a % b;
        else if (sb == -1)
            return 0 - a; /* the lowest number has no positive counterpart */
        else
            return (uint64_t)(sa / sb);
        return 0;
    case ms_UNE_MINUS: return a - b;
    case ms_UNE_MUL: return a * b;
    case ms_UNE_OR: return a | b;
    case ms_UNE_PLUS: return a + b;
    case ms_UNE_SHL: return b > most ? 0 : a << b;
    case ms_UNE_SHR: return b > most ? 0 : a >> b;
    case ms_UNE_SHRA: {
        uint64_t by = b > most ? most : b;
        return sa < 0 ? ~(~(uint64_t)sa >> by) : (uint64_t)sa >> by;
    }
    case ms_UNE_XOR: return a ^ b;
    case ms_UNE_EQ: return sa == sb;
    case ms_UNE_GE: return sa >= sb;
    case ms_UNE_GT: return sa > sb;
    case ms_UNE_LE: return sa <= sb;
    case ms_UNE_LT: return sa < sb;
    case ms_UNE_NE: return sa != sb;
    default: m->failed = true; return 0;
    }
}

static void ms_une_arithmetic(ms_une *m, unsigned op)
{
    uint64_t b = ms_une_pop(m);
    switch (op) {
    case ms_UNE_ABS: ms_une_push(m, ms_une_signed(m, b) < 0 ? 0 - b : b); return;
    case ms_UNE_NEG: ms_une_push(m, 0 - b); return;
    case ms_UNE_NOT: ms_une_push(m, ~b); return;
    case ms_UNE_PLUS_UCONST: ms_une_push(m, b + ms_rd_uleb(&m->rd)); return;
    default: {
        uint64_t a = ms_une_pop(m);
        ms_une_push(m, ms_une_two(m, op, a, b));
        return;
    }
    }
}

static void ms_une_step(ms_une *m)
{
    unsigned op = ms_rd_u8(&m->rd);
    if (op >= ms_UNE_LIT0 && op < ms_UNE_LIT0 + 32)
        ms_une_push(m, op - ms_UNE_LIT0);
    else if (op >= ms_UNE_BREG0 && op < ms_UNE_BREG0 + 32)
        ms_une_register(m, op - ms_UNE_BREG0, ms_rd_sleb(&m->rd));
    else if (op == ms_UNE_BREGX) {
        uint64_t number = ms_rd_uleb(&m->rd);
        ms_une_register(m, number, ms_rd_sleb(&m->rd));
    } else if (op == ms_UNE_ADDR)
        ms_une_push(m, ms_rd_uint(&m->rd, m->word));
    else if (op >= ms_UNE_CONST1U && op < ms_UNE_CONSTU)
        ms_une_constant(m, op);
    else if (op == ms_UNE_CONSTU)
        ms_une_push(m, ms_rd_uleb(&m->rd));
    else if (op == ms_UNE_CONSTS)
        ms_une_push(m, (uint64_t)ms_rd_sleb(&m->rd));
    else if (op == ms_UNE_DEREF)
        ms_une_load(m, m->word);
    else if (op == ms_UNE_DEREF_SIZE)
        ms_une_load(m, ms_rd_u8(&m->rd));
    else if (op >= ms_UNE_DUP && op <= ms_UNE_ROT)
        ms_une_stack(m, op);
    else if (op == ms_UNE_SKIP)
        ms_une_jump(m, true);
    else if (op == ms_UNE_BRA)
        ms_une_jump(m, ms_une_pop(m) != 0);
    else if (op >= ms_UNE_ABS && op <= ms_UNE_NE)
        ms_une_arithmetic(m, op);
    else if (op != ms_UNE_NOP)
        m->failed = true;
}

/* Computes an expression. first: the initial value on the stack; NULL: an empty stack. Returns: false if it
 * cannot be computed. */
static bool ms_une_value(const machsym_unwind_desc *desc, const machsym_unwind_state *s, ms_span expression,
                         const uint64_t *first, uint64_t *out)
{
    ms_une m;
    m.desc = desc;
    m.s = s;
    m.rd = ms_rd_make(expression);
    m.count = 0;
    m.word = ms_unr_arch_of(desc->cputype)->word;
    m.failed = false;
    if (first != NULL)
        ms_une_push(&m, *first);
    for (unsigned steps = 0; ms_rd_left(&m.rd) != 0 && !m.failed; steps++) {
        MACHSYM_COUNT_WORK(1);
        if (steps == MACHSYM_MAX_FRAME_STEPS)
            return false;
        ms_une_step(&m);
    }
    *out = ms_une_peek(&m, 0);
    return !m.failed && !m.rd.failed;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_expression */
