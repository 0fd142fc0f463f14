/* Frames of arm64 that a signal interrupted: the kernel's words above the stack of _sigtramp, laid out by hand as
 * signal.h and ucontext.h of the macOS SDK have them. The same in an emulator: tests/stacks/generated.py. */
#define TEST_ROOM <rooms/src/unwind/step.h>
#include "test.h"
#include "make.h"

enum { STACK = 0x7000, BYTES = 0x1000, FRAME = STACK + 0x200, FP = 29, LR = 30, SP = 31, PC = 32 };

static const uint64_t interrupted = 0x100003004, caller = 0x100004444;
static uint8_t stack[BYTES];
static uint64_t missing; /* this byte of the memory cannot be read */

static bool read_stack(void *ctx, uint64_t addr, void *buf, size_t len)
{
    (void)ctx;
    if (addr < STACK || addr - STACK > BYTES || len > BYTES - (addr - STACK) ||
        (missing != 0 && addr <= missing && missing - addr < len))
        return false;
    memcpy(buf, stack + (addr - STACK), len);
    return true;
}

static void put_word(uint64_t addr, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        stack[addr - STACK + i] = (uint8_t)(value >> 8 * i);
}

/* struct { siginfo_t info; ucontext_t context; mcontext64 state; } at FRAME; below it the record of _sigtramp, which is
 * the first frame, with the fp and lr of the interrupted function. Its registers are 0x1000 + their number. */
static machsym_unwind_state signal_frame(uint64_t sp)
{
    const uint64_t ucontext = FRAME + 104, mcontext = FRAME + 160;
    machsym_unwind_state s;
    memset(stack, 0, sizeof stack);
    put_word(ucontext + 40, 816); /* uc_mcsize */
    put_word(ucontext + 48, mcontext);
    for (unsigned i = 0; i < FP; i++)
        put_word(mcontext + 16 + 8 * i, 0x1000 + i);
    put_word(mcontext + 16 + 8 * FP, sp + 0x40);
    put_word(mcontext + 16 + 8 * LR, caller);
    put_word(mcontext + 16 + 8 * SP, sp);
    put_word(mcontext + 16 + 8 * PC, interrupted);
    put_word(FRAME - 16, sp + 0x40);
    put_word(FRAME - 8, caller);
    memset(&s, 0, sizeof s);
    s.known = UINT64_MAX;
    s.how = MACHSYM_UNWIND_COMPACT;
    s.v[PC] = 0x180001234;
    s.v[SP] = FRAME - 48;
    s.v[FP] = FRAME - 16;
    return s;
}

static machsym_unwind_state step(machsym_unwind_state s, uint32_t cputype)
{
    const machsym_unwind_desc desc = {read_stack, NULL, NULL, 0, cputype};
    machsym_unwind_next(&desc, &s);
    return s;
}

static void test_found(void)
{
    machsym_unwind_state s = step(signal_frame(STACK + 0x800), ms_CPU_ARM64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_SIGNAL);
    CHECK_EQ(s.v[PC], interrupted);
    CHECK_EQ(s.v[SP], STACK + 0x800);
    CHECK_EQ(s.v[FP], STACK + 0x840);
    CHECK_EQ(s.v[LR], caller);
    CHECK_EQ(s.known, (UINT64_C(1) << 33) - 1);
    CHECK_EQ(s.frame_count, 1);
    for (unsigned i = 0; i < FP; i++)
        CHECK_EQ(s.v[i], 0x1000 + i);
    put_word(STACK + 0x840, STACK + 0x900);
    put_word(STACK + 0x848, 0x100005555);
    s = step(s, ms_CPU_ARM64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_FP);
    CHECK_EQ(s.v[PC], 0x100005555);
}

/* A handler may have a stack of its own, above or below. */
static void test_other_stack(void)
{
    machsym_unwind_state s = step(signal_frame(STACK + 0x10), ms_CPU_ARM64);
    CHECK_EQ(s.end, MACHSYM_UNWIND_GOES_ON);
    CHECK_EQ(s.v[SP], STACK + 0x10);
    CHECK_EQ(s.v[PC], interrupted);
}

/* arm64e: fp, lr, sp and pc are signed. */
static void test_signed(void)
{
    static const uint64_t key = UINT64_C(0x25) << 48;
    machsym_unwind_state s = signal_frame(STACK + 0x800);
    for (unsigned i = FP; i <= PC; i++)
        stack[FRAME + 176 + 8 * i + 6 - STACK] = (uint8_t)(key >> 48);
    s = step(s, ms_CPU_ARM64);
    CHECK_EQ(s.v[PC], interrupted);
    CHECK_EQ(s.v[SP], STACK + 0x800);
    CHECK_EQ(s.v[FP], STACK + 0x840);
    CHECK_EQ(s.v[LR], caller);
}

/* Swift sets bit 60 of fp before it stores it. A signal in between is no async frame. */
static void test_tagged(void)
{
    machsym_unwind_state s = signal_frame(STACK + 0x800);
    put_word(FRAME - 16, UINT64_C(1) << 60 | (STACK + 0x840));
    s.awaiting = true;
    s = step(s, ms_CPU_ARM64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_SIGNAL);
    CHECK_EQ(s.v[PC], interrupted);
    s = signal_frame(FRAME); /* of another stack; the words look like an async frame's, with a context */
    put_word(FRAME - 16, UINT64_C(1) << 60 | (STACK + 0x840));
    put_word(FRAME - 24, STACK + 0x100);
    put_word(STACK + 0x108, 0x100007777);
    s.awaiting = true;
    s = step(s, ms_CPU_ARM64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_SIGNAL);
    CHECK_EQ(s.v[PC], interrupted);
}

/* A function that is awaited has no stack: what the stack pointer of the frame before says is not looked at. */
static void test_awaited(void)
{
    machsym_unwind_state s = signal_frame(STACK + 0x800);
    put_word(STACK + 0x100, STACK + 0x180);
    put_word(STACK + 0x108, 0x100007777);
    s.how = MACHSYM_UNWIND_ASYNC;
    s.v[22] = STACK + 0x100;
    s.v[SP] = FRAME;
    s = step(s, ms_CPU_ARM64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_ASYNC);
    CHECK_EQ(s.v[PC], 0x100007777);
}

/* The caller is then the return address of the record. */
static void check_not(machsym_unwind_state s, uint32_t cputype)
{
    s = step(s, cputype);
    CHECK_EQ(s.how, MACHSYM_UNWIND_FP);
    CHECK_EQ(s.v[PC], caller);
}

static void test_not(void)
{
    static const uint64_t sizes[] = {0, 1, 815, 65537, UINT64_MAX};
    machsym_unwind_state s = signal_frame(STACK + 0x800);
    check_not(s, ms_CPU_ARM64_32); /* its kernel's frames are not known */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put_word(FRAME + 144, sizes[i]);
        check_not(s, ms_CPU_ARM64);
    }
    put_word(FRAME + 144, 65536);
    CHECK_EQ(step(s, ms_CPU_ARM64).how, MACHSYM_UNWIND_SIGNAL);
    put_word(FRAME + 152, FRAME + 168); /* the mcontext is elsewhere */
    check_not(s, ms_CPU_ARM64);
    s = signal_frame(STACK + 0x800);
    put_word(FRAME - 48 + 152,
             FRAME - 48 + 160); /* the words of a frame itself do not belong to its caller */
    put_word(FRAME - 48 + 144, 816);
    CHECK_EQ(step(s, ms_CPU_ARM64).v[PC], interrupted);
    for (missing = FRAME + 144; missing < FRAME + 440; missing++)
        if (missing < FRAME + 160 || missing >= FRAME + 176)
            check_not(s, ms_CPU_ARM64);
    missing = 0;
}

/* A signal in a signal's handler; and words that lead back to themselves: the stack ends. */
static void test_again(void)
{
    machsym_unwind_state s = signal_frame(FRAME - 48);
    put_word(FRAME + 176 + 8 * FP, FRAME - 16);
    const machsym_unwind_desc desc = {read_stack, NULL, NULL, 0, ms_CPU_ARM64};
    while (machsym_unwind_next(&desc, &s))
        CHECK(s.frame_count <= MACHSYM_MAX_UNWIND_FRAMES);
    CHECK_EQ(s.end, MACHSYM_UNWIND_TOO_MANY);
}

int main(void)
{
    test_found();
    test_other_stack();
    test_signed();
    test_tagged();
    test_awaited();
    test_not();
    test_again();
    return test_done();
}
