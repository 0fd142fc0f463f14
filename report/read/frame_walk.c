/* Stacks of stopped threads; see frame_walk.h. */
#include "frame_walk.h"
#include "../model/tables.h"

/* On arm64 and x86_64 a frame pointer points to the one before it, and the return address comes after that.
 * Swift sets this bit if the frame has an asynchronous context. */
static const uint64_t async_bit = UINT64_C(1) << 60;

/* No code lies in the first page. */
enum { WORD = 8, FIRST_PAGE = 4096 };

/* Indexes in machsym_unwind_state.v. */
enum { WALK_ARM64_LR = 30, WALK_CPU_X86_64 = 0x01000007 };

typedef struct framewalk_registers {
    unsigned fp, sp, pc;
} framewalk_registers;

static framewalk_registers framewalk_registers_of(uint32_t cputype)
{
    static const framewalk_registers of_x86_64 = {6, 7, 16};
    static const framewalk_registers of_arm64 = {29, 31, 32};
    return cputype == WALK_CPU_X86_64 ? of_x86_64 : of_arm64;
}

static bool framewalk_knows(const machsym_unwind_state *s, unsigned number)
{
    return (s->known >> number & 1) != 0;
}

static bool framewalk_word(const framewalk *walk, uint64_t addr, uint64_t *out)
{
    unsigned char raw[WORD];
    if (!walk->read(walk->context, addr, raw, sizeof raw))
        return false;
    *out = 0;
    for (unsigned i = WORD; i-- > 0;)
        *out = *out << 8 | raw[i];
    return true;
}

/* Steps to the caller by the frame pointer. A record below the stack pointer is an older one, or the stack
 * grows the wrong way. */
static bool framewalk_by_fp(const framewalk *walk, framewalk_registers at, machsym_unwind_state *s)
{
    uint64_t fp = s->v[at.fp], next, back;
    if (!framewalk_knows(s, at.fp) || !framewalk_knows(s, at.sp) || fp < s->v[at.sp] || fp % WORD != 0 ||
        fp > UINT64_MAX - 2 * WORD || !framewalk_word(walk, fp, &next) ||
        !framewalk_word(walk, fp + WORD, &back))
        return false;
    s->v[at.fp] = next;
    s->v[at.sp] = fp + 2 * WORD;
    s->v[at.pc] = machsym_plain_pc(walk->cputype, back);
    s->known = (uint64_t)1 << at.fp | (uint64_t)1 << at.sp | (uint64_t)1 << at.pc;
    s->how = MACHSYM_UNWIND_FP;
    s->frame_count++;
    return true;
}

/* Steps to the caller. A return address is looked up one byte earlier, because a call may be the last
 * instruction of its function. */
static bool framewalk_up(const framewalk *walk, framewalk_registers at, machsym_unwind_state *s)
{
    bool stopped = s->how == MACHSYM_UNWIND_CONTEXT || s->how == MACHSYM_UNWIND_SIGNAL;
    const machsym_unwind_image *image =
        walk->image != NULL ? walk->image(walk->context, s->v[at.pc] - (stopped ? 0 : 1)) : NULL;
    MACHSYM_COUNT_WORK(1);
    s->v[at.fp] &= ~async_bit;
    size_t image_count = image != NULL;
    machsym_unwind_desc desc = {walk->read, walk->context, image, image_count, walk->cputype};
    if (machsym_unwind_next(&desc, s))
        return true;
    return s->end == MACHSYM_UNWIND_LEFT_OUT && framewalk_by_fp(walk, at, s);
}

/* Makes the registers those of a caller whose call had no effect: its target is no code. On x86_64 the call
 * pushed the return address. */
static void framewalk_call_back(framewalk *walk, framewalk_registers at)
{
    machsym_unwind_state *s = &walk->state;
    s->v[at.pc] = walk->caller;
    if (walk->cputype == WALK_CPU_X86_64)
        s->v[at.sp] += WORD;
    else
        s->known &= ~((uint64_t)1 << WALK_ARM64_LR);
    s->how = MACHSYM_UNWIND_FP;
    s->frame_count++;
}

uint32_t framewalk_stack(framewalk *walk, framewalk_frame *out, uint32_t cap)
{
    framewalk_registers at = framewalk_registers_of(walk->cputype);
    machsym_unwind_state *s = &walk->state;
    uint32_t count = 0;
    if (count < cap) {
        s->v[at.pc] = machsym_plain_pc(walk->cputype, s->v[at.pc]);
        out[count].found_by = tables_how(MACHSYM_UNWIND_CONTEXT);
        out[count++].pc = s->v[at.pc];
    }
    if (count < cap && walk->caller != 0) {
        framewalk_call_back(walk, at);
        out[count].found_by = "leaf";
        out[count++].pc = walk->caller;
    }
    while (count < cap && framewalk_up(walk, at, s) && s->v[at.pc] >= FIRST_PAGE) {
        out[count].found_by = tables_how(s->how);
        out[count++].pc = s->v[at.pc];
    }
    return count;
}
