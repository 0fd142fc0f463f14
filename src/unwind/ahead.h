#ifndef ms_ROOM_unwind_ahead
#define ms_ROOM_unwind_ahead
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../macho/macho.h"
#include "registers.h"
#include "tables.h"
#include "path.h"
#include "arm64.h"
#include "x86_64.h"

/* ==== >>unwind-ahead =======================================================================================
 * Job:    the caller of a frame that stopped anywhere, by the code that it would have run next.
 * Offers: ms_unl_caller, ms_unl_called_piece, ms_unl_nowhere.
 * Never:  takes more than MACHSYM_MAX_AHEAD instructions. */

#ifndef MACHSYM_NO_UNWIND

/* Where a frame stands is not in the compact table, which describes the middle of functions. Code tells: what
 * is ahead of a pc takes the rest of its frame down and returns, or completes the frame and calls something.
 * Where it returns, its registers are the caller's. Where it calls, the table holds for them. */

enum {
    ms_UNL_WAITING = 6, /* branches whose targets wait; functions rarely need 3 */
    ms_UNL_PIECE = 32,  /* instructions of a piece of code; most have 2 to 8 */
    ms_UNL_TARGETS = 24 /* that the paths have taken; none is taken twice */
};

/* The paths of a frame, and the bytes of code around the pc of one. */
typedef struct ms_unl_search {
    ms_unp_path path;
    ms_unp_path waiting[ms_UNL_WAITING];
    unsigned waiting_count;
    ms_unp_path outside; /* the path before a piece */
    uint64_t returns_at; /* where the piece returned */
    uint64_t targets[ms_UNL_TARGETS];
    unsigned target_count;
    machsym_unwind_state ended; /* the caller of a path that ended without a return or a call */
    bool has_ended;
    uint64_t code_addr;
    unsigned code_len;
    uint8_t code[64];
} ms_unl_search;

/* Returns: the code at an address, at least need bytes, unless memory ends before. */
static ms_span ms_unl_code(ms_unl_search *l, uint64_t addr, unsigned need)
{
    uint64_t off = addr - l->code_addr;
    if (off > l->code_len || l->code_len - off < need) {
        const machsym_unwind_desc *desc = l->path.desc;
        off = 0;
        l->code_addr = addr;
        l->code_len = sizeof l->code;
        while (l->code_len != 0 && !desc->read(desc->ctx, addr, l->code, l->code_len))
            l->code_len /= 2;
    }
    return ms_span_make(l->code + off, l->code_len - (size_t)off);
}

/* A stack pointer that nothing tells counts as a call: a frame of variable size is complete, and has a frame
 * pointer. */
static ms_unp_kind ms_unl_instruction(ms_unl_search *l, uint64_t *target)
{
    unsigned len = 4;
    ms_unp_kind kind = ms_UNP_FAILS;
    *target = 0;
    if (ms_unr_arch_of(l->path.desc->cputype)->is_arm64) {
        ms_span code = ms_unl_code(l, l->path.pc, 4);
        if (code.len >= 4 && l->path.pc % 4 == 0)
            kind = ms_una_step(&l->path, ms_rd_raw_u32(code.ptr), target);
    } else {
        ms_span code = ms_unl_code(l, l->path.pc, ms_UNX_MAX);
        code.len = code.len < ms_UNX_MAX ? code.len : (size_t)ms_UNX_MAX;
        kind = ms_unx_step(&l->path, code, &len, target);
    }
    if (kind == ms_UNP_GOES_ON || kind == ms_UNP_BRANCHES)
        l->path.pc += len;
    unsigned sp = ms_unr_arch_of(l->path.desc->cputype)->sp;
    if (kind == ms_UNP_GOES_ON && !ms_unr_knows(&l->path.s, sp)) {
        l->path.s.v[sp] = 0;
        kind = ms_UNP_CALLS;
    }
    return kind;
}

/* Returns: whether no path was there before. */
static bool ms_unl_is_new(ms_unl_search *l, uint64_t target)
{
    for (unsigned i = 0; i < l->target_count; i++)
        if (l->targets[i] == target)
            return false;
    if (l->target_count == ms_UNL_TARGETS)
        return false;
    l->targets[l->target_count++] = target;
    return true;
}

/* The path returns, or another function returns for it. */
static bool ms_unl_returns(ms_unp_path *path)
{
    machsym_unwind_state *s = &path->s;
    bool is_arm64 = ms_unr_arch_of(path->desc->cputype)->is_arm64;
    if (is_arm64) {
        ms_unp_set(path, ms_UNR_ARM64_PC, ms_UNR_ARM64_LR, 0);
        s->how = path->has_lr ? MACHSYM_UNWIND_PROLOGUE : MACHSYM_UNWIND_LEAF;
        return ms_unr_knows(s, ms_UNR_ARM64_PC);
    }
    ms_unp_load(path, ms_UNR_X86_RIP, s->v[ms_UNR_X86_RSP]);
    s->v[ms_UNR_X86_RSP] += 8;
    s->how = MACHSYM_UNWIND_PROLOGUE;
    return ms_unr_knows(s, ms_UNR_X86_RIP);
}

/* The path calls: the frame is complete, and its tables hold. Without tables a frame pointer leads on that
 * the path itself has set. */
static bool ms_unl_calls(ms_unp_path *path)
{
    machsym_unwind_desc desc = *path->desc;
    const machsym_unwind_image *image = ms_unb_image(&desc, path->pc);
    machsym_unwind_state before = path->s;
    desc.read = ms_unp_read;
    desc.ctx = path;
    bool found = image != NULL && ms_unb_step(&desc, image, path->pc, &path->s);
    if (!found) {
        before.searched = path->s.searched;
        path->s = before;
        found = path->makes_frame && ms_unb_frame(&desc, ms_unr_arch_of(desc.cputype), &path->s);
    }
    path->s.how = MACHSYM_UNWIND_PROLOGUE;
    return found;
}

/* Whether an instruction of x86 that ends at an address calls: e8, or ff with ModRM, SIB and displacement. */
static bool ms_unl_follows_call(const machsym_unwind_desc *desc, uint64_t addr)
{
    uint8_t raw[8];
    ms_unx_code code;
    if (!desc->read(desc->ctx, addr - 8, raw, 8))
        return false;
    for (unsigned len = 2; len < 8; len++)
        if (ms_unx_decode(ms_span_make(raw + 8 - len, len), &code) == len && code.map == 1 &&
            (code.opcode == 0xe8 || (code.opcode == 0xff && code.group == 2)))
            return true;
    return false;
}

/* A frame that stopped where no code is: a call through a null or a damaged pointer. Nothing but the call
 * happened. So the caller has all registers, and where it goes on is in lr or on top of the stack. If the
 * frame record has that address, too, the code ran and made a frame; only its bytes are not known. */
static bool ms_unl_nowhere(const machsym_unwind_desc *desc, const ms_unr_arch *arch, machsym_unwind_state *s)
{
    uint64_t back, word, target, saved;
    uint8_t first;
    if (arch->word != 8 || desc->read(desc->ctx, s->v[arch->pc], &first, 1))
        return false;
    if (arch->is_arm64) {
        back = ms_mo_unsigned(desc->cputype, s->v[ms_UNR_ARM64_LR]);
        if (!ms_unr_knows(s, ms_UNR_ARM64_LR) || !ms_unr_word(desc, 4, back - 4, &word) ||
            !(ms_una_calls((uint32_t)word, 0, &target) || ms_una_calls_register((uint32_t)word)))
            return false;
        if (ms_unr_knows(s, arch->fp) && ms_unr_word(desc, 8, s->v[arch->fp] + 8, &saved) &&
            ms_mo_unsigned(desc->cputype, saved) == back)
            return false;
        s->known &= ~((uint64_t)1 << ms_UNR_ARM64_LR);
        s->v[ms_UNR_ARM64_LR] = 0;
    } else {
        if (!ms_unr_word(desc, 8, s->v[arch->sp], &back) || !ms_unl_follows_call(desc, back))
            return false;
        s->v[arch->sp] += 8;
    }
    s->v[arch->pc] = back;
    s->how = MACHSYM_UNWIND_LEAF;
    return true;
}

/* Whether the path is in a stub for an import of arm64. Stubs have no entry in any table, and jump by x16 or
 * x17, which the ABI gives to them. A case of a switch may jump by these, too, but in a function with an
 * entry. */
static bool ms_unl_is_stub(ms_unp_path *path)
{
    machsym_unwind_state s = path->s;
    const machsym_unwind_image *image = ms_unb_image(path->desc, path->pc);
    uint64_t word;
    if (!ms_unr_word(path->desc, 4, path->pc, &word) || (word >> 5 & 0x1e) != ms_UNR_ARM64_X16)
        return false;
    bool has_entry = image == NULL || ms_unb_step(path->desc, image, path->pc, &s);
    path->s.searched = s.searched;
    return !has_entry;
}

/* The path goes where a register says. One that undid its frame goes to another function, which returns for
 * it. One that made its frame goes to a case of a switch. If it did neither, it is in a stub for an import of
 * arm64; x86 has a return address on top of the stack, or other words. */
static bool ms_unl_leaves(ms_unp_path *path)
{
    bool undone = path->undoes, made = path->makes_frame || path->store_count != 0;
    uint64_t top;
    if (!undone && !made && ms_unr_arch_of(path->desc->cputype)->is_arm64)
        undone = ms_unl_is_stub(path);
    else if (!undone && !made)
        undone = ms_unr_word(path->desc, 8, path->s.v[ms_UNR_X86_RSP], &top) &&
                 ms_unb_image(path->desc, top) != NULL && ms_unl_follows_call(path->desc, top);
    return undone ? ms_unl_returns(path) : made && ms_unl_calls(path);
}

/* Clang -Oz moves code that several functions have into a piece, which they call. A piece may save registers,
 * move sp or set the frame pointer for its function, so that the two make one frame. */

/* Returns: the instruction of arm64 at an address. If it cannot be read: 0, which traps. */
static uint32_t ms_unl_word(ms_unl_search *l, uint64_t addr)
{
    ms_span code = ms_unl_code(l, addr, 4);
    return addr % 4 == 0 && code.len >= 4 ? ms_rd_raw_u32(code.ptr) : 0;
}

/* Takes the path through code without branches that returns. Returns: false if it does not; then the path is
 * where it was. */
static bool ms_unl_through(ms_unl_search *l, uint64_t from, uint64_t back)
{
    ms_unp_path *path = &l->path;
    ms_unp_kind kind = ms_UNP_GOES_ON;
    uint64_t target;
    l->outside = *path;
    ms_unr_set(&path->s, ms_UNR_ARM64_LR, back);
    path->pc = from;
    for (unsigned i = 0; i < ms_UNL_PIECE && kind == ms_UNP_GOES_ON; i++) {
        MACHSYM_COUNT_WORK(1);
        kind = ms_unl_instruction(l, &target);
    }
    if (kind == ms_UNP_RETURNS && ms_unr_knows(&path->s, ms_UNR_ARM64_LR) &&
        path->s.v[ms_UNR_ARM64_LR] == back) {
        ms_unp_forget(path, ms_UNR_ARM64_LR);
        l->returns_at = path->pc;
        path->pc = back;
        return true;
    }
    *path = l->outside;
    return false;
}

/* A function returns with the stack pointer and the frame pointer that it was called with. A piece changes
 * one of them, or its caller restores lr after the call. Returns: whether the code was a piece. Then the
 * path is after its call. */
static bool ms_unl_through_piece(ms_unl_search *l, uint64_t from, uint64_t back)
{
    const machsym_unwind_state *in = &l->outside.s, *out = &l->path.s;
    if (from == 0 || !ms_unl_through(l, from, back))
        return false;
    if (out->v[ms_UNR_ARM64_SP] != in->v[ms_UNR_ARM64_SP] || ms_una_restores(ms_unl_word(l, back)) ||
        (ms_unr_knows(out, ms_UNR_ARM64_FP) && out->v[ms_UNR_ARM64_FP] != in->v[ms_UNR_ARM64_FP]))
        return true;
    l->path = l->outside;
    return false;
}

/* A frame that stopped in a piece: the function is its caller, with the registers as they are. Its own caller
 * is found from where the piece stopped, which v[30] keeps. */
static bool ms_unl_stopped_in_piece(ms_unl_search *l, machsym_unwind_state *s)
{
    uint64_t back = ms_mo_unsigned(l->path.desc->cputype, s->v[ms_UNR_ARM64_LR]), from;
    uint64_t pc = s->v[ms_UNR_ARM64_PC];
    if (!ms_unr_arch_of(l->path.desc->cputype)->is_arm64 || !ms_unr_knows(s, ms_UNR_ARM64_LR) ||
        !ms_una_calls(ms_unl_word(l, back - 4), back - 4, &from) || pc - from >= 4 * ms_UNL_PIECE ||
        !ms_unl_through_piece(l, from, back))
        return false;
    if (pc >
        l->returns_at) { /* seen: the piece was called before, and lies next to where the frame stopped */
        l->path = l->outside;
        return false;
    }
    s->v[ms_UNR_ARM64_LR] = pc;
    s->known &= ~((uint64_t)1 << ms_UNR_ARM64_LR);
    s->v[ms_UNR_ARM64_PC] = back;
    s->how = MACHSYM_UNWIND_LEAF;
    return true;
}

/* Returns: whether a frame is that of a function that called a piece. */
static bool ms_unl_called_piece(const machsym_unwind_desc *desc, const machsym_unwind_state *s)
{
    return s->how == MACHSYM_UNWIND_LEAF && ms_unr_arch_of(desc->cputype)->is_arm64 &&
           !ms_unr_knows(s, ms_UNR_ARM64_LR) && s->v[ms_UNR_ARM64_LR] != 0;
}

/* Goes on with a branch that waits. */
static bool ms_unl_other(ms_unl_search *l)
{
    if (l->waiting_count == 0)
        return false;
    uint32_t searched = l->path.s.searched;
    l->path = l->waiting[--l->waiting_count];
    l->path.s.searched = searched;
    return true;
}

/* Both ways of a branch lead to the caller. The next instruction goes first. */
static bool ms_unl_branch(ms_unl_search *l, uint64_t target)
{
    if (l->waiting_count < ms_UNL_WAITING && ms_unl_is_new(l, target)) {
        ms_unp_path *other = &l->waiting[l->waiting_count++];
        *other = l->path;
        other->pc = target;
    }
    return true;
}

/* The path traps, comes to where a path was before, or is too long. If it made the frame, the table holds.
 * Another path counts more, if it returns or calls. */
static void ms_unl_ends(ms_unl_search *l, const machsym_unwind_state *s)
{
    unsigned sp = ms_unr_arch_of(l->path.desc->cputype)->sp;
    bool made = l->path.makes_frame || l->path.s.v[sp] != s->v[sp];
    if (l->has_ended || !made || l->path.undoes || !ms_unr_knows(&l->path.s, sp))
        return;
    l->has_ended = ms_unl_calls(&l->path) && l->path.s.v[sp] >= s->v[sp];
    l->ended = l->path.s;
}

/* Follows the code of a frame that stopped, in itself or in a piece that it called. Returns: false where no
 * path leads to the caller. */
static bool ms_unl_caller(const machsym_unwind_desc *desc, machsym_unwind_state *s)
{
    ms_unl_search l;
    const ms_unr_arch *arch = ms_unr_arch_of(desc->cputype);
    uint64_t target = 0;
    ms_zero(&l.path, sizeof l.path);
    l.waiting_count = l.target_count = l.code_len = 0; /* what they count is written before it is read */
    l.returns_at = l.code_addr = 0;
    l.has_ended = false;
    l.path.desc = desc;
    l.path.s = *s;
    l.path.pc = s->v[arch->pc];
    if (ms_unl_called_piece(desc, s)) {
        if (!ms_unl_through(&l, s->v[ms_UNR_ARM64_LR], s->v[arch->pc]))
            return false;
    } else if (ms_unl_stopped_in_piece(&l, s)) {
        return true;
    }
    for (unsigned i = 1; i <= MACHSYM_MAX_AHEAD; i++) {
        bool goes_on = true, found = false;
        MACHSYM_COUNT_WORK(1);
        switch (ms_unl_instruction(&l, &target)) {
        case ms_UNP_GOES_ON: break;
        case ms_UNP_BRANCHES: ms_unl_branch(&l, target); break;
        case ms_UNP_JUMPS:
            goes_on = ms_unl_is_new(&l, target);
            l.path.pc = target;
            break;
        case ms_UNP_LEAVES:
            goes_on = false;
            found = ms_unl_leaves(&l.path);
            break;
        case ms_UNP_RETURNS:
            goes_on = false;
            found = ms_unl_returns(&l.path);
            break;
        case ms_UNP_CALLS:
            goes_on = arch->is_arm64 && ms_unl_through_piece(&l, target, l.path.pc + 4);
            found = !goes_on && ms_unl_calls(&l.path);
            break;
        default: goes_on = false; break;
        }
        if (found && l.path.s.v[arch->sp] >= s->v[arch->sp]) {
            *s = l.path.s;
            return true;
        }
        if (!found && (!goes_on || i == MACHSYM_MAX_AHEAD))
            ms_unl_ends(&l, s);
        if (!goes_on && !ms_unl_other(&l))
            break;
    }
    if (l.has_ended)
        *s = l.ended;
    s->searched = l.path.s.searched;
    return l.has_ended;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_ahead */
