#ifndef ms_ROOM_unwind_signal
#define ms_ROOM_unwind_signal
#include "../api/api.h"
#include "../base/reader.h"
#include "../macho/macho.h"
#include "registers.h"

/* ==== >>unwind-signal ======================================================================================
 * Job:    the registers of a frame of arm64 that a signal interrupted.
 * Offers: ms_ung_interrupted.
 * Never:  asks for names: the kernel's own pointer in the memory tells. */

#ifndef MACHSYM_NO_UNWIND

/* xnu, bsd/dev/arm/unix_signal.c. The kernel puts siginfo_t, ucontext_t and the mcontext above the stack of
 * _sigtramp. That is C: its frame has the interrupted function's lr as a return address, and no CFA program
 * tells more. Newer kernels may append to the mcontext. */
enum {
    ms_UNG_SIZE = 144,     /* uc_mcsize */
    ms_UNG_POINTER = 152,  /* uc_mcontext, after siginfo_t */
    ms_UNG_MCONTEXT = 160, /* far, esr; x0 to x28, fp, lr, sp, pc */
    ms_UNG_REGISTERS = 176,
    ms_UNG_COUNT = 33,
    ms_UNG_SIZE_MIN = 816,  /* with the vectors of NEON */
    ms_UNG_SIZE_MAX = 65536 /* with those of SME */
};

/* s has the caller of a frame. If the kernel called that frame for a signal: s becomes the interrupted frame.
 * Returns: whether it did. */
static bool ms_ung_interrupted(const machsym_unwind_desc *desc, machsym_unwind_state *s)
{
    uint8_t raw[8 * ms_UNG_COUNT];
    uint64_t sp = s->v[ms_UNR_ARM64_SP], size, at;
    if (desc->cputype != ms_CPU_ARM64 || !ms_unr_word(desc, 8, sp + ms_UNG_POINTER, &at) ||
        at != sp + ms_UNG_MCONTEXT || !ms_unr_word(desc, 8, sp + ms_UNG_SIZE, &size) ||
        size < ms_UNG_SIZE_MIN || size > ms_UNG_SIZE_MAX ||
        !desc->read(desc->ctx, sp + ms_UNG_REGISTERS, raw, sizeof raw))
        return false;
    for (unsigned i = 0; i < ms_UNG_COUNT; i++)
        s->v[i] = ms_rd_raw_u64(raw + (size_t)8 * i);
    for (unsigned i = ms_UNR_ARM64_FP; i < ms_UNG_COUNT; i++)
        s->v[i] = ms_mo_unsigned(desc->cputype, s->v[i]); /* arm64e: the kernel signs these four */
    s->known = ((uint64_t)1 << ms_UNG_COUNT) - 1;
    s->how = MACHSYM_UNWIND_SIGNAL;
    return true;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_signal */
