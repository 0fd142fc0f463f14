/* Stacks by frame pointers; see frame_walk.h. */
#include "frame_walk.h"

/* On arm64 and x86_64 a frame pointer points to the one before it, and the return address comes after that.
 * Swift sets this bit if the frame has an asynchronous context. */
static const uint64_t async_bit = UINT64_C(1) << 60;

/* No code lies in the first page. */
enum { WORD = 8, FIRST_PAGE = 4096 };

uint32_t framewalk_stack(const framewalk *walk, uint64_t *out, uint32_t cap)
{
    uint64_t lowest = walk->sp;
    uint64_t fp = walk->fp & ~async_bit;
    uint32_t count = 0;
    if (count < cap)
        out[count++] = machsym_plain_pc(walk->cputype, walk->pc);
    if (count < cap && walk->caller != 0)
        out[count++] = walk->caller;
    while (count < cap && fp >= lowest && fp % WORD == 0 && fp <= UINT64_MAX - 2 * WORD) {
        uint64_t next;
        uint64_t back;
        MACHSYM_COUNT_WORK(1);
        if (!walk->read(walk->context, fp, &next) || !walk->read(walk->context, fp + WORD, &back))
            break;
        back = machsym_plain_pc(walk->cputype, back);
        if (back < FIRST_PAGE)
            break;
        out[count++] = back;
        lowest = fp + 2 * WORD; /* a lower record is this one again, or the stack grows the wrong way */
        fp = next & ~async_bit;
    }
    return count;
}
