#ifndef ms_ROOM_unwind_x86_64
#define ms_ROOM_unwind_x86_64
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "registers.h"
#include "path.h"

/* ==== >>unwind-x86_64 ======================================================================================
 * Job:    what an instruction of x86_64 does to the stack pointer, saved registers and pc.
 * Offers: ms_unx_step.
 * Never:  computes what no frame needs: registers that it does not follow become unknown. */

#ifndef MACHSYM_NO_UNWIND

enum {
    ms_UNX_MAX = 15,          /* bytes of an instruction */
    ms_UNX_MODRM = 1,         /* shapes: a byte that names operands follows the opcode */
    ms_UNX_IMM8 = 2,          /* a constant of a byte */
    ms_UNX_IMM32 = 4,         /* a constant of 4 bytes; of 2 after the prefix 66 */
    ms_UNX_CPU_RSP = 4,       /* the processor's number of rsp */
    ms_UNX_NONE = ms_UNR_NONE /* no register */
};

/* An instruction. Registers have DWARF's numbers. */
typedef struct ms_unx_code {
    ms_rd rd;
    unsigned map;    /* 1: opcodes of one byte; 2: after 0f; 3 and 4: after 0f 38 and 0f 3a */
    unsigned opcode; /* its last byte */
    unsigned rex;    /* bits of the prefix: 8: 64 bits */
    unsigned shape;
    unsigned group; /* the middle three bits of ModRM, which choose among instructions */
    unsigned reg;
    unsigned rm;   /* a register as operand, or ms_UNX_NONE: the operand is in memory */
    unsigned base; /* of the operand in memory; ms_UNX_NONE: an address that is not followed */
    int64_t disp;
    int64_t imm;
    bool is_short; /* prefix 66 */
    bool is_vector;
} ms_unx_code;

/* DWARF numbers rdx, rbx, rbp and others unlike the processor. */
static unsigned ms_unx_number(unsigned number)
{
    static const uint8_t dwarf[8] = {0, 2, 1, 3, 7, 6, 4, 5};
    return number < 8 ? dwarf[number] : number;
}

/* Intel SDM 2, A.3: one digit for each opcode from 40 on; those before repeat every 8. */
static unsigned ms_unx_shape_one(unsigned op)
{
    static const char shapes[] = "0000000000000000"  /* 40 */
                                 "0000000000000000"  /* 50 */
                                 "0001000045230000"  /* 60 */
                                 "2222222222222222"  /* 70 */
                                 "3533111111111111"  /* 80 */
                                 "0000000000000000"  /* 90 */
                                 "0000000024000000"  /* a0 */
                                 "2222222244444444"  /* b0 */
                                 "3300003500000200"  /* c0 */
                                 "1111000011111111"  /* d0 */
                                 "2222222244020000"  /* e0 */
                                 "0000001100000011"; /* f0 */
    static const char first[] = "11112400";
    return (unsigned)(op < 0x40 ? first[op & 7] : shapes[op - 0x40]) - '0';
}

/* A.3: opcodes after 0f. */
static unsigned ms_unx_shape_two(unsigned op)
{
    bool alone = (op >= 0x05 && op <= 0x0b && op != 0x0a) || (op & 0xf8) == 0x30 || op == 0x77 ||
                 (op & 0xf8) == 0xc8 || ((op & 0xf0) == 0xa0 && (op & 7) < 3);
    bool byte = (op >= 0x70 && op <= 0x73) || (op & 0xf7) == 0xa4 || op == 0xba || op == 0xc2 ||
                (op >= 0xc4 && op <= 0xc6);
    if ((op & 0xf0) == 0x80)
        return ms_UNX_IMM32;
    return alone ? 0 : byte ? ms_UNX_MODRM | ms_UNX_IMM8 : ms_UNX_MODRM;
}

/* Prefixes and the opcode. C4, C5 and 62 begin vector instructions, whose bits choose the map. */
static void ms_unx_opcode(ms_unx_code *code)
{
    ms_rd *rd = &code->rd;
    unsigned op = ms_rd_u8(rd);
    while (op == 0x66 || op == 0xf2 || op == 0xf3 || op == 0xf0 || (op & 0xfc) == 0x64 ||
           (op & 0xe7) == 0x26) {
        code->is_short |= op == 0x66;
        op = ms_rd_u8(rd); /* ends: a failed reader gives 0 */
    }
    code->is_short = code->is_short && (op & 0xf8) != 0x48;
    if ((op & 0xf0) == 0x40) {
        code->rex = op & 0xf;
        op = ms_rd_u8(rd);
    }
    code->map = 1;
    if (op == 0xc4 || op == 0xc5 || op == 0x62) {
        unsigned bits = ms_rd_u8(rd);
        code->map = op == 0xc5 ? 2 : (bits & 7) + 1;
        ms_rd_skip(rd, op == 0xc5 ? 0 : op == 0xc4 ? 1 : 2);
        code->is_vector = true;
        op = ms_rd_u8(rd);
    } else if (op == 0x0f) {
        op = ms_rd_u8(rd);
        code->map = op == 0x38 ? 3 : op == 0x3a ? 4 : 2;
        if (code->map != 2)
            op = ms_rd_u8(rd);
    }
    code->opcode = op;
    code->shape = code->map == 1   ? ms_unx_shape_one(op)
                  : code->map == 2 ? ms_unx_shape_two(op)
                  : code->map == 4 ? ms_UNX_MODRM | ms_UNX_IMM8
                                   : ms_UNX_MODRM;
}

/* 2.1.5: ModRM, SIB and displacement. */
static void ms_unx_operands(ms_unx_code *code)
{
    ms_rd *rd = &code->rd;
    unsigned modrm = ms_rd_u8(rd), mod = modrm >> 6, low = modrm & 7;
    bool has_index = false;
    code->group = modrm >> 3 & 7;
    code->reg = ms_unx_number(code->group | (code->rex & 4) << 1);
    if (mod == 3) {
        code->rm = ms_unx_number(low | (code->rex & 1) << 3);
        return;
    }
    code->base = ms_unx_number(low | (code->rex & 1) << 3);
    if (low == ms_UNX_CPU_RSP) {
        unsigned sib = ms_rd_u8(rd);
        low = sib & 7;
        has_index = ((sib >> 3 & 7) | (code->rex & 2) << 2) != ms_UNX_CPU_RSP;
        code->base = ms_unx_number(low | (code->rex & 1) << 3);
    }
    if (mod == 1)
        code->disp = (int8_t)ms_rd_u8(rd);
    else if (mod == 2 || low == 5)
        code->disp = (int32_t)ms_rd_u32(rd);
    if (has_index || (mod == 0 && low == 5)) /* or relative to rip */
        code->base = ms_UNX_NONE;
}

/* The constant. test (f6, f7) has one in two of its groups, mov (b8 to bf) one of 64 bits, and moves from and
 * to far addresses (a0 to a3), ret, enter have shapes of their own. */
static void ms_unx_constant(ms_unx_code *code)
{
    ms_rd *rd = &code->rd;
    unsigned op = code->opcode;
    if (code->map == 1 && (op & 0xfe) == 0xf6 && code->group < 2)
        code->shape |= op == 0xf6 ? ms_UNX_IMM8 : ms_UNX_IMM32;
    if (code->map == 1 && (op & 0xfc) == 0xa0)
        ms_rd_skip(rd, 8);
    else if (code->map == 1 && ((op & 0xf7) == 0xc2 || op == 0xc8))
        ms_rd_skip(rd, op == 0xc8 ? 3 : 2);
    else if (code->map == 1 && (op & 0xf8) == 0xb8 && (code->rex & 8) != 0)
        code->imm = (int64_t)ms_rd_u64(rd);
    else if ((code->shape & ms_UNX_IMM8) != 0)
        code->imm = (int8_t)ms_rd_u8(rd);
    else if ((code->shape & ms_UNX_IMM32) != 0 && code->is_short && op != 0xe8 && op != 0xe9)
        ms_rd_skip(rd, 2);
    else if ((code->shape & ms_UNX_IMM32) != 0)
        code->imm = (int32_t)ms_rd_u32(rd);
}

/* Decodes the instruction at the beginning of bytes. Returns: its length; 0: it does not end there. */
static unsigned ms_unx_decode(ms_span bytes, ms_unx_code *code)
{
    ms_zero(code, sizeof *code);
    code->rd = ms_rd_make(bytes);
    code->reg = code->rm = code->base = ms_UNX_NONE;
    ms_unx_opcode(code);
    if ((code->shape & ms_UNX_MODRM) != 0)
        ms_unx_operands(code);
    ms_unx_constant(code);
    return code->rd.failed ? 0 : (unsigned)ms_rd_offset(&code->rd);
}

static bool ms_unx_push(ms_unp_path *path, unsigned number)
{
    path->s.v[ms_UNR_X86_RSP] -= 8;
    path->undoes = false;
    return ms_unp_store(path, path->s.v[ms_UNR_X86_RSP], number);
}

/* number: ms_UNX_NONE: the word goes elsewhere. */
static bool ms_unx_pop(ms_unp_path *path, unsigned number)
{
    uint64_t at = path->s.v[ms_UNR_X86_RSP];
    path->s.v[ms_UNR_X86_RSP] += 8;
    path->undoes = true;
    if (number != ms_UNX_NONE)
        ms_unp_load(path, number, at);
    return number != ms_UNR_X86_RSP;
}

/* push, pop and leave. Returns: false for other instructions. */
static bool ms_unx_stack(ms_unp_path *path, const ms_unx_code *code, bool *fits)
{
    unsigned op = code->opcode, number = ms_unx_number((op & 7) | (code->rex & 1) << 3);
    if ((op & 0xf8) == 0x50)
        *fits = ms_unx_push(path, number);
    else if ((op & 0xf8) == 0x58)
        *fits = ms_unx_pop(path, number);
    else if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && code->group == 6))
        *fits = ms_unx_push(path, ms_UNX_NONE);
    else if (op == 0x9d || op == 0x8f)
        *fits = ms_unx_pop(path, ms_UNX_NONE);
    else if (op == 0xc9) {
        ms_unp_set(path, ms_UNR_X86_RSP, ms_UNR_X86_RBP, 0);
        *fits = ms_unx_pop(path, ms_UNR_X86_RBP);
    } else
        return false;
    return true;
}

/* Sets a register to another one plus an offset. */
static void ms_unx_set(ms_unp_path *path, unsigned to, unsigned from, int64_t off)
{
    if (from == ms_UNX_NONE)
        ms_unp_forget(path, to);
    else
        ms_unp_set(path, to, from, (uint64_t)off);
    if (to == ms_UNR_X86_RSP)
        path->undoes = from != to || off > 0;
    path->makes_frame |= to == ms_UNR_X86_RBP && from == ms_UNR_X86_RSP;
}

/* add, sub and and with a constant or a register. Returns: false for other instructions. */
static bool ms_unx_add(ms_unp_path *path, const ms_unx_code *code)
{
    machsym_unwind_state *s = &path->s;
    unsigned op = code->opcode, to = code->rm, by = code->reg;
    bool by_constant = (op & 0xfd) == 0x81 && to != ms_UNX_NONE;
    if (by_constant && (code->group == 0 || code->group == 5))
        ms_unx_set(path, to, to, code->group == 5 ? -code->imm : code->imm);
    else if (by_constant && code->group == 4)
        s->v[to] &= (uint64_t)code->imm;
    else if ((op == 0x29 || op == 0x01) && to != ms_UNX_NONE && ms_unr_knows(s, by))
        ms_unx_set(path, to, to, (int64_t)(op == 0x29 ? 0 - s->v[by] : s->v[by]));
    else
        return false;
    return true;
}

/* Moves of 64 bits, lea and arithmetic. Returns: false for other instructions. */
static bool ms_unx_move(ms_unp_path *path, const ms_unx_code *code)
{
    unsigned op = code->opcode;
    if ((op & 0xf8) == 0xb8) { /* a constant; 32 bits clear those above */
        ms_unr_set(&path->s, ms_unx_number((op & 7) | (code->rex & 1) << 3),
                   (code->rex & 8) != 0 ? (uint64_t)code->imm : (uint64_t)code->imm & 0xffffffff);
        return true;
    }
    if ((code->rex & 8) == 0)
        return false;
    if (op == 0x89 && code->rm != ms_UNX_NONE)
        ms_unx_set(path, code->rm, code->reg, 0);
    else if (op == 0x8b && code->rm != ms_UNX_NONE)
        ms_unx_set(path, code->reg, code->rm, 0);
    else if (op == 0x8d && code->rm == ms_UNX_NONE)
        ms_unx_set(path, code->reg, code->base, code->disp);
    else
        return ms_unx_add(path, code);
    return true;
}

/* Whether an opcode of one byte writes its operand that may be in memory (ModRM.rm), or the other one. */
static bool ms_unx_writes(const ms_unx_code *code, bool rm)
{
    unsigned op = code->opcode, group = code->group;
    if (op < 0x40)
        return (op & 4) == 0 && (op & 0x38) != 0x38 && ((op & 2) == 0) == rm;
    switch (op) {
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x8a:
    case 0x8b:
    case 0x8d: return !rm;
    case 0x86:
    case 0x87: return true; /* xchg */
    case 0x80:
    case 0x81:
    case 0x83: return rm && group != 7;
    case 0xf6:
    case 0xf7: return rm && (group == 2 || group == 3);
    case 0xfe:
    case 0xff: return rm && group < 2;
    default: return rm && (op == 0x88 || op == 0x89 || (op & 0xfe) == 0xc0 || (op & 0xfe) == 0xc6);
    }
}

/* Other instructions: registers that they may write are unknown. Those of more than one byte may have vector
 * registers, which have the numbers of others; a function has saved what it writes of these. */
static void ms_unx_forget(ms_unp_path *path, const ms_unx_code *code)
{
    const uint64_t saved = 0xf0c8; /* rbx, rbp, rsp, r12 to r15 */
    const unsigned own = code->map == 1 && (code->opcode & 0xf8) == 0xb0
                             ? ms_unx_number((code->opcode & 7) | (code->rex & 1) << 3)
                             : 0;
    uint64_t written = 3; /* rax and rdx have operations of their own */
    uint64_t reg = code->reg != ms_UNX_NONE ? (uint64_t)1 << code->reg : 0;
    uint64_t rm = code->rm != ms_UNX_NONE ? (uint64_t)1 << code->rm : 0;
    if (code->map == 1) {
        written |= ms_unx_writes(code, true) ? rm : 0;
        written |= ms_unx_writes(code, false) ? reg : 0;
        written |= (uint64_t)1 << own;
    } else {
        written |= (reg | rm) & ~saved;
    }
    path->s.known &= ~written;
}

/* Follows an instruction. bytes: its first 15 or fewer. target: where a branch or a jump leads. */
static ms_unp_kind ms_unx_step(ms_unp_path *path, ms_span bytes, unsigned *len, uint64_t *target)
{
    ms_unx_code code;
    bool fits = true;
    *len = ms_unx_decode(bytes, &code);
    *target = path->pc + *len + (uint64_t)code.imm;
    if (*len == 0)
        return ms_UNP_FAILS;
    unsigned op = code.opcode;
    if (code.map == 2 && !code.is_vector) {
        if ((op & 0xf0) == 0x80)
            return ms_UNP_BRANCHES;
        if (op == 0x0b || op == 0xb9 || op == 0xff)
            return ms_UNP_FAILS; /* ud2 and its kin */
    }
    if (code.map == 1) {
        if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0)
            return ms_UNP_BRANCHES;
        if (op == 0xe9 || op == 0xeb)
            return ms_UNP_JUMPS;
        if (op == 0xe8 || (op == 0xff && code.group == 2))
            return ms_UNP_CALLS;
        if (op == 0xff && code.group == 4) {
            path->undoes |= code.rm == ms_UNX_NONE; /* a case of a switch jumps to a register */
            return ms_UNP_LEAVES;
        }
        if ((op & 0xfe) == 0xc2)
            return ms_UNP_RETURNS;
        if (op == 0xcc || op == 0xf4 || op == 0xf1)
            return ms_UNP_FAILS;
    }
    if (code.map != 1 || (!ms_unx_stack(path, &code, &fits) && !ms_unx_move(path, &code)))
        ms_unx_forget(path, &code);
    return fits ? ms_UNP_GOES_ON : ms_UNP_FAILS;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_x86_64 */
