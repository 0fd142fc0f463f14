#ifndef ms_ROOM_unwind_step
#define ms_ROOM_unwind_step
#include "../api/options.h"
#include "../api/api.h"
#include "../macho/macho.h"
#include "registers.h"
#include "tables.h"
#include "ahead.h"
#include "signal.h"

/* ==== >>unwind-step ========================================================================================
 * Job:    makes the caller's registers of a frame's.
 * Offers: ms_uns_next.
 * Never:  allocates; reads a stack but through the callback. */

#ifndef MACHSYM_NO_UNWIND

/* Whether the frame stopped at its pc. In all other frames the pc is a return address. */
static bool ms_uns_stopped(const machsym_unwind_state *s)
{
    return s->how == MACHSYM_UNWIND_CONTEXT || s->how == MACHSYM_UNWIND_SIGNAL;
}

/* In a frame that stopped, the table's answer is for the middle of the function. Code knows better where it
 * leads elsewhere, into an image. Of a signal trampoline only the table knows. */
static bool ms_uns_is_better(const machsym_unwind_desc *desc, const ms_unr_arch *arch,
                             const machsym_unwind_state *ahead, const machsym_unwind_state *table)
{
    uint64_t by_code = ms_mo_unsigned(desc->cputype, ahead->v[arch->pc]);
    uint64_t by_table = ms_mo_unsigned(desc->cputype, table->v[arch->pc]);
    uint64_t differ = (by_code ^ by_table) | (ahead->v[arch->sp] ^ table->v[arch->sp]);
    for (unsigned i = 0; i < arch->pc; i++)
        if ((arch->kept >> i & 1) != 0 && ms_unr_knows(ahead, i))
            differ |= (ahead->v[i] ^ table->v[i]) | (uint64_t)!ms_unr_knows(table, i);
    if (table->how == MACHSYM_UNWIND_SIGNAL || differ == 0)
        return false;
    return ms_unb_image(desc, by_code) != NULL || ms_unb_image(desc, by_table) == NULL;
}

/* Steps one frame up. A return address is looked up one byte earlier, because a call may be the last
 * instruction of its function. Without a table, only the caller's frame pointer is known to be preserved. */
static bool ms_uns_up(const machsym_unwind_desc *desc, const ms_unr_arch *arch, machsym_unwind_state *s)
{
    bool stopped = ms_uns_stopped(s), called = ms_unl_called_piece(desc, s), is_piece = false, found;
    uint64_t pc = s->v[arch->pc] - (stopped ? 0 : 1);
    uint64_t kept = (uint64_t)1 << arch->fp | (uint64_t)1 << arch->sp | (uint64_t)1 << arch->pc;
    machsym_unwind_state ahead = *s;
    const machsym_unwind_image *image = ms_unb_image(desc, pc);
    bool has_code = (stopped || called) && image != NULL && arch->word == 8 && ms_unl_caller(desc, &ahead);
    s->searched = ahead.searched;
    if (image == NULL && stopped && ms_unl_nowhere(desc, arch, s)) {
        s->known &= kept | arch->kept;
        return true;
    }
    if (image != NULL && ms_unb_step(desc, image, pc, s)) {
        kept = s->how == MACHSYM_UNWIND_SIGNAL ? UINT64_MAX : kept | arch->kept;
        found = true;
    } else {
        s->how = MACHSYM_UNWIND_FP;
        found = ms_unb_frame(desc, arch, s);
    }
    is_piece = has_code && ms_unl_called_piece(desc, &ahead);
    if (has_code && (!found || is_piece || ms_uns_is_better(desc, arch, &ahead, s))) {
        kept = is_piece ? UINT64_MAX : kept | arch->kept;
        ahead.searched = s->searched;
        *s = ahead;
        found = true;
    }
    if (s->how == MACHSYM_UNWIND_LEAF && !is_piece)
        s->v[ms_UNR_ARM64_LR] = 0;
    s->known &= kept;
    return found;
}

/* Swift's async frames. A function that may be suspended has three words in its frame: {context, the caller's
 * frame pointer with 1 in bits 60 to 63, return address}; its frame pointer points to the second. A context
 * begins with {the context of who awaits the function, where that goes on}. */

static bool ms_uns_is_tagged(uint64_t saved)
{
    return saved >> 60 == 1;
}

/* The context of an async frame. Returns false for other frames. A function that was interrupted may not have
 * stored its frame yet; then fp is still its caller's. So the caller's stack has to begin right above fp. */
static bool ms_uns_context(const machsym_unwind_desc *desc, const ms_unr_arch *arch,
                           const machsym_unwind_state *s, const machsym_unwind_state *caller,
                           uint64_t *context)
{
    uint64_t fp = s->v[arch->fp], saved;
    if (s->how == MACHSYM_UNWIND_ASYNC) {
        *context = s->v[arch->async];
        return true;
    }
    return arch->word == 8 && ms_unr_knows(s, arch->fp) && caller->v[arch->sp] == fp + 16 &&
           ms_unr_word(desc, 8, fp, &saved) && ms_uns_is_tagged(saved) &&
           ms_unr_word(desc, 8, fp - 8, context);
}

/* Replaces s by the function that awaits it. Contexts lie anywhere in memory. A cycle of them is found by a
 * context that is kept in v[0], each time after twice as many steps (Brent's algorithm). */
static machsym_unwind_end ms_uns_await(const machsym_unwind_desc *desc, const ms_unr_arch *arch,
                                       uint64_t context, machsym_unwind_state *s)
{
    uint64_t next, pc;
    bool begins = s->how != MACHSYM_UNWIND_ASYNC;
    context = ms_mo_unsigned(desc->cputype, context);
    if (context == 0)
        return MACHSYM_UNWIND_BOTTOM;
    if (context % arch->addr != 0 || !ms_unr_word(desc, arch->addr, context, &next) ||
        !ms_unr_word(desc, arch->addr, context + arch->addr, &pc))
        return MACHSYM_UNWIND_NO_FRAME;
    next = ms_mo_unsigned(desc->cputype, next);
    pc = ms_mo_unsigned(desc->cputype, pc);
    if (pc == 0)
        return MACHSYM_UNWIND_BOTTOM;
    if (next == context || (!begins && next == s->v[0]))
        return MACHSYM_UNWIND_WRONG_WAY;
    s->frame_count++;
    if (begins || (s->frame_count & (s->frame_count - 1)) == 0)
        s->v[0] = next;
    s->known = 0;
    ms_unr_set(s, arch->async, next);
    ms_unr_set(s, arch->pc, pc);
    s->how = MACHSYM_UNWIND_ASYNC;
    return MACHSYM_UNWIND_GOES_ON;
}

/* Replaces s by its caller if the stack continues. Stacks grow down, so the caller's stack pointer must be
 * above this one. This ends every cycle except one through signals, because a handler may have its own stack.
 * In an arm64 frame that stopped, or called a piece, the stack pointer may be equal, because the return
 * address may be in a register. */
static machsym_unwind_end ms_uns_step(const machsym_unwind_desc *desc, machsym_unwind_state *s)
{
    const ms_unr_arch *arch = ms_unr_arch_of(desc->cputype);
    machsym_unwind_state caller = *s;
    bool is_async = s->how == MACHSYM_UNWIND_ASYNC && arch->async != ms_UNR_NONE;
    uint64_t context;
    if (desc->read == NULL || (desc->images == NULL && desc->image_count != 0))
        return MACHSYM_UNWIND_ARGUMENT;
    if (arch->word == 0 || !ms_unr_knows(s, arch->pc) || !ms_unr_knows(s, is_async ? arch->async : arch->sp))
        return MACHSYM_UNWIND_NO_REGISTERS;
    if (s->frame_count >= MACHSYM_MAX_UNWIND_FRAMES)
        return MACHSYM_UNWIND_TOO_MANY;
    if (!is_async && !ms_uns_up(desc, arch, &caller))
        return MACHSYM_UNWIND_NO_FRAME;
    bool interrupted = !is_async && ms_ung_interrupted(desc, &caller);
    if (!interrupted && (is_async || s->awaiting) && ms_uns_context(desc, arch, s, &caller, &context))
        return ms_uns_await(desc, arch, context, s);
    if (ms_uns_is_tagged(caller.v[arch->fp]))
        caller.v[arch->fp] &= ~((uint64_t)1 << 60);
    caller.v[arch->pc] = ms_mo_unsigned(desc->cputype, caller.v[arch->pc]);
    caller.v[arch->fp] = ms_mo_unsigned(desc->cputype, caller.v[arch->fp]);
    if (caller.v[arch->pc] == 0)
        return MACHSYM_UNWIND_BOTTOM;
    bool same = caller.v[arch->sp] == s->v[arch->sp] && arch->is_arm64 &&
                (ms_uns_stopped(s) || ms_unl_called_piece(desc, s));
    if (caller.v[arch->sp] <= s->v[arch->sp] && !same && caller.how != MACHSYM_UNWIND_SIGNAL)
        return MACHSYM_UNWIND_WRONG_WAY;
    /* what lies below the stack pointer is left from a call that has returned */
    if (caller.how == MACHSYM_UNWIND_FP && s->v[arch->fp] < s->v[arch->sp])
        return MACHSYM_UNWIND_WRONG_WAY;
    caller.frame_count++;
    *s = caller;
    return MACHSYM_UNWIND_GOES_ON;
}

static bool ms_uns_next(const machsym_unwind_desc *desc, machsym_unwind_state *s)
{
    if (s->end == MACHSYM_UNWIND_GOES_ON)
        s->end = ms_uns_step(desc, s);
    return s->end == MACHSYM_UNWIND_GOES_ON;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_step */
