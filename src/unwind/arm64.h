#ifndef ms_ROOM_unwind_arm64
#define ms_ROOM_unwind_arm64
#include "../api/api.h"
#include "registers.h"
#include "path.h"

/* ==== >>unwind-arm64 =======================================================================================
 * Job:    what an instruction of arm64 does to the stack pointer, saved registers and pc.
 * Offers: ms_una_step, ms_una_calls, ms_una_calls_register, ms_una_restores.
 * Never:  computes what no frame needs: registers that it does not follow become unknown. */

#ifndef MACHSYM_NO_UNWIND

/* Arm Architecture Reference Manual, C4.1: the sign of a field that ends at bit lo. */
static uint64_t ms_una_signed(uint32_t word, unsigned lo, unsigned bits)
{
    uint64_t field = word >> lo & (((uint32_t)1 << bits) - 1);
    return (field ^ (uint64_t)1 << (bits - 1)) - ((uint64_t)1 << (bits - 1));
}

/* Whether an instruction restores the return address that a call of a piece of code overwrote: mov x30, xN,
 * or ldr x30, [sp], #16. seen: clang -Oz makes functions of code that several functions have. */
static bool ms_una_restores(uint32_t word)
{
    return (word & 0xffe0ffff) == 0xaa0003fe || word == 0xf84107fe;
}

/* Whether an instruction calls an address that it has. */
static bool ms_una_calls(uint32_t word, uint64_t pc, uint64_t *target)
{
    *target = pc + 4 * ms_una_signed(word, 0, 26);
    return word >> 26 == 0x25;
}

/* Whether an instruction calls an address that a register has: blr, blraa and their kin. */
static bool ms_una_calls_register(uint32_t word)
{
    return (word & 0xfefff800) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800;
}

/* Branches, calls and traps. Returns: false for other instructions. */
static bool ms_una_branch(const ms_unp_path *path, uint32_t word, ms_unp_kind *kind, uint64_t *target)
{
    unsigned opc = word >> 21 & 7;
    if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
        *kind = word >> 31 != 0 ? ms_UNP_CALLS : ms_UNP_JUMPS;
        *target = path->pc + 4 * ms_una_signed(word, 0, 26);
    } else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) { /* b.cond, cbz */
        *kind = ms_UNP_BRANCHES;
        *target = path->pc + 4 * ms_una_signed(word, 5, 19);
    } else if ((word & 0x7e000000) == 0x36000000) { /* tbz */
        *kind = ms_UNP_BRANCHES;
        *target = path->pc + 4 * ms_una_signed(word, 5, 14);
    } else if ((word & 0xfe000000) == 0xd6000000) { /* br, blr, ret, and those that authenticate */
        bool is_ret = opc == 2 && (word >> 5 & 0x1f) >= ms_UNR_ARM64_LR;
        *kind = is_ret ? ms_UNP_RETURNS : opc == 1 ? ms_UNP_CALLS : opc > 2 ? ms_UNP_FAILS : ms_UNP_LEAVES;
    } else if ((word & 0xff000000) == 0xd4000000 || word >> 16 == 0) { /* svc returns; brk and udf do not */
        *kind = (word & 0xffe0001f) == 0xd4000001 ? ms_UNP_GOES_ON : ms_UNP_FAILS;
    } else {
        return false;
    }
    return true;
}

/* Loads or stores a register of 64 bits at an address that is relative to a known register. Registers that
 * calls do not preserve are not loaded: nothing saves them. */
static bool ms_una_transfer(ms_unp_path *path, unsigned number, bool is_load, bool known, uint64_t addr)
{
    if (number == 31)
        return true; /* xzr */
    if (!is_load)
        return !known || number < ms_UNR_ARM64_X19 || ms_unp_store(path, addr, number);
    ms_unp_forget(path, number);
    if (known && number >= ms_UNR_ARM64_X19)
        ms_unp_load(path, number, addr);
    path->has_lr |= number == ms_UNR_ARM64_LR;
    path->undoes |= number == ms_UNR_ARM64_LR;
    return true;
}

/* Writes the stack pointer, or another base register, back. */
static bool ms_una_write_back(ms_unp_path *path, unsigned base, uint64_t by)
{
    if (base == ms_UNR_ARM64_SP)
        path->undoes = (int64_t)by > 0;
    ms_unp_set(path, base, base, by);
    return true;
}

/* C4.1.66: pairs, and single registers at an offset of 9 or 12 bits. Returns: false for other instructions,
 * and for a store that does not fit. */
static bool ms_una_memory(ms_unp_path *path, uint32_t word, bool *fits)
{
    unsigned base = word >> 5 & 0x1f, size = word >> 30, vector = word >> 26 & 1;
    bool before = true, back = false, is_load, whole;
    uint64_t off, at;
    *fits = true;
    if ((word & 0x3a000000) == 0x28000000) { /* stp, ldp */
        unsigned mode = word >> 23 & 3;
        unsigned shift = vector != 0 ? 2 + size : size == 2 ? 3 : 2;
        is_load = (word >> 22 & 1) != 0;
        whole = size == 2 && vector == 0;
        off = ms_una_signed(word, 15, 7) << shift;
        before = mode != 1;
        back = (mode & 1) != 0;
    } else if ((word & 0x3b200000) == 0x38000000) { /* stur, ldur, and those that write back */
        is_load = (word >> 22 & 3) != 0;
        whole = size == 3 && vector == 0;
        off = ms_una_signed(word, 12, 9);
        before = (word >> 10 & 3) != 1;
        back = (word >> 10 & 1) != 0;
    } else if ((word & 0x3b000000) == 0x39000000) { /* str, ldr */
        is_load = (word >> 22 & 3) != 0;
        whole = size == 3 && vector == 0;
        off = (uint64_t)(word >> 10 & 0xfff) << size;
    } else {
        return false;
    }
    at = path->s.v[base] + (before ? off : 0);
    bool known = ms_unr_knows(&path->s, base), is_pair = (word & 0x3a000000) == 0x28000000;
    if (whole) {
        *fits = ms_una_transfer(path, word & 0x1f, is_load, known, at);
        if (is_pair)
            *fits = ms_una_transfer(path, word >> 10 & 0x1f, is_load, known, at + 8) && *fits;
    } else if (is_load && vector == 0) {
        ms_una_transfer(path, word & 0x1f, true, false, 0);
        if (is_pair)
            ms_una_transfer(path, word >> 10 & 0x1f, true, false, 0);
    }
    return !back || ms_una_write_back(path, base, off);
}

/* add, sub, and, mov that make a stack pointer, a frame pointer, or the size of a large frame. Returns: false
 * for other instructions. */
static bool ms_una_arithmetic(ms_unp_path *path, uint32_t word)
{
    unsigned to = word & 0x1f, from = word >> 5 & 0x1f, by = word >> 16 & 0x1f;
    machsym_unwind_state *s = &path->s;
    if ((word & 0xbf800000) == 0x91000000) { /* add, sub: immediate */
        uint64_t off = (uint64_t)(word >> 10 & 0xfff) << (12 * (word >> 22 & 1));
        if (to == ms_UNR_ARM64_SP)
            path->undoes = (word >> 30 & 1) == 0;
        ms_unp_set(path, to, from, (word >> 30 & 1) != 0 ? 0 - off : off);
    } else if ((word & 0xbfe0e000) == 0x8b206000) { /* add, sub: a register that is shifted */
        uint64_t off = s->v[by] << (word >> 10 & 7);
        bool knows = by != 31 && ms_unr_knows(s, by);
        ms_unp_set(path, to, from, (word >> 30 & 1) != 0 ? 0 - off : off);
        if (!knows)
            ms_unp_forget(path, to);
    } else if ((word & 0xffc0001f) == 0x9240001f) { /* and sp: the mask is ones above zeros */
        unsigned zeros = 63 - (word >> 10 & 0x3f);
        ms_unp_set(path, to, from, 0);
        s->v[to] = s->v[to] >> zeros << zeros;
        if (zeros == 0 || (word >> 16 & 0x3f) != 64 - zeros)
            ms_unp_forget(path, to);
    } else if ((word & 0xffe0ffe0) == 0xaa0003e0) { /* mov */
        if (to != 31)
            ms_unp_set(path, to, by, 0);
        if (to != 31 && by == 31)
            ms_unr_set(s, to, 0);
    } else if ((word & 0x7f800000) == 0x52800000 || (word & 0x7f800000) == 0x72800000) { /* movz, movk */
        unsigned shift = 16 * (word >> 21 & 3);
        uint64_t keep = (word >> 29 & 1) != 0 ? ~((uint64_t)0xffff << shift) : 0;
        if (to != 31) {
            s->v[to] = (s->v[to] & keep) | (uint64_t)(word >> 5 & 0xffff) << shift;
            s->known |= keep == 0 ? (uint64_t)1 << to : 0;
        }
    } else {
        return false;
    }
    if (to >= ms_UNR_ARM64_X19 && to < ms_UNR_ARM64_FP)
        ms_unp_forget(path, to); /* the function saved the caller's value, or is a piece of its caller */
    path->makes_frame |= to == ms_UNR_ARM64_FP;
    return true;
}

/* Follows an instruction. target: where a branch or a jump leads. */
static ms_unp_kind ms_una_step(ms_unp_path *path, uint32_t word, uint64_t *target)
{
    ms_unp_kind kind;
    bool fits = true;
    if (ms_una_branch(path, word, &kind, target))
        return kind;
    if ((word & 0xbe800000) == 0x0c800000 && (word >> 5 & 0x1f) == 31)
        return ms_UNP_FAILS; /* vectors are loaded or stored, and sp becomes another */
    if (!ms_una_memory(path, word, &fits) && !ms_una_arithmetic(path, word) &&
        (word & 0x1f) < ms_UNR_ARM64_FP)
        ms_unp_forget(path, word & 0x1f);
    return fits ? ms_UNP_GOES_ON : ms_UNP_FAILS;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_arm64 */
