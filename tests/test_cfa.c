/* Callers by CFA programs: every instruction and every operation of expressions, tables by hand after DWARF 5 (6.4.2,
 * 2.5.1) and LSB 10.6; out of a file and out of the process alike. tests/unwind.sh has those of compilers. */
#define TEST_ROOM <rooms/src/unwind/step.h>
#include "test.h"
#include "make.h"

enum {
    LOAD = 0x10000000,
    FRAMES = LOAD + 0x4000,
    CODE = LOAD + 0x1000,
    STACK = 0x7000,
    WORDS = 64,
    CFA = STACK + 64
};

static bytes frames;
static uint64_t mcontext; /* not 0: what the word at rbx + 48 is */

/* Word number n of the stack is 0x5000 + n. */
static bool read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
    (void)ctx;
    for (size_t i = 0; i < len; i++, addr++) {
        if (mcontext != 0 && addr / 8 == (STACK + 24 + 48) / 8)
            ((uint8_t *)buf)[i] = (uint8_t)(mcontext >> addr % 8 * 8);
        else if (addr >= STACK && addr < STACK + 8 * WORDS)
            ((uint8_t *)buf)[i] = (uint8_t)((0x5000 + (addr - STACK) / 8) >> (addr - STACK) % 8 * 8);
        else if (addr >= FRAMES && addr - FRAMES < frames.len)
            ((uint8_t *)buf)[i] = frames.v[addr - FRAMES];
        else
            return false;
    }
    return true;
}

static void end_entry(size_t at)
{
    while ((frames.len - at) % 8 != 4)
        put8(&frames, 0); /* DW_CFA_nop */
    patch(&frames, at, frames.len - at - 4, 4);
}

/* A CIE, and the FDE of a function of 256 bytes that begins at CODE. cfa: a register and how far it is from the
 * CFA; the return address lies a word below that. */
static void put_frames(const char *augmentation, unsigned cfa, unsigned off, unsigned ra,
                       const bytes *program)
{
    frames.len = 0;
    put32(&frames, 0);
    put32(&frames, 0);
    put8(&frames, 1);
    put_str(&frames, augmentation);
    put8(&frames, 1);
    put_sleb(&frames, -8);
    put8(&frames, ra);
    put8(&frames, 1);
    put8(&frames, 0x1b); /* relative to the field, 4 bytes */
    put8(&frames, 0x0c);
    put8(&frames, cfa);
    put8(&frames, off);
    put8(&frames, 0x80 | ra);
    put8(&frames, 1);
    end_entry(0);
    size_t at = frames.len;
    put32(&frames, 0);
    put32(&frames, at + 4);
    put32(&frames, (uint64_t)CODE - (FRAMES + frames.len));
    put32(&frames, 0x100);
    put8(&frames, 0);
    put_bytes(&frames, program);
    end_entry(at);
}

/* Every register points into the stack, 8 bytes after the one before; frame pointers are where the stack pointers are. */
static machsym_unwind_state registers(unsigned pc)
{
    machsym_unwind_state s;
    memset(&s, 0, sizeof s);
    s.known = UINT64_MAX;
    for (unsigned i = 0; i < 33; i++)
        s.v[i] = STACK + 8 * i;
    s.v[6] = s.v[7]; /* no frame record lies below the stack pointer, of either processor */
    s.v[29] = s.v[31];
    s.v[pc] = CODE + 0x10;
    return s;
}

static machsym_unwind_state step_from(machsym_unwind_state s, uint32_t cputype, bool from_file)
{
    machsym_unwind_image image;
    machsym_unwind_desc desc = {read_memory, NULL, &image, 1, cputype};
    memset(&image, 0, sizeof image);
    image.load_addr = LOAD;
    image.size = 0x4000;
    image.eh_frame.addr = FRAMES;
    image.eh_frame.size = frames.len;
    if (from_file) {
        image.eh_frame.bytes.ptr = frames.v;
        image.eh_frame.bytes.len = frames.len;
    }
    bool goes_on = machsym_unwind_next(&desc, &s);
    CHECK_EQ(goes_on, s.end == MACHSYM_UNWIND_GOES_ON);
    return s;
}

/* The same from both. */
static machsym_unwind_state step(machsym_unwind_state s, uint32_t cputype)
{
    machsym_unwind_state file = step_from(s, cputype, true);
    machsym_unwind_state process = step_from(s, cputype, false);
    CHECK(memcmp(&file, &process, sizeof file) == 0);
    return file;
}

static machsym_unwind_state run(const uint8_t *code, size_t len)
{
    bytes program = {NULL, 0, 0};
    put(&program, code, len);
    put_frames("zR", 7, 8, 16, &program);
    bytes_free(&program);
    return step(registers(16), ms_CPU_X86_64);
}

/* ---- Programs ---- */

enum { UNKNOWN = 1, SAME = STACK + 24 };

static const struct {
    uint8_t len;
    uint8_t code[12];
    uint64_t cfa;
    uint64_t r3;
} rows[] = {
    {1, {0x00}, CFA, SAME},
    {3, {0x0c, 7, 16}, CFA + 8, SAME},
    {3, {0x12, 7, 0x7e}, CFA + 8, SAME}, /* -2 words of -8 */
    {2, {0x0d, 10}, STACK + 88, SAME},
    {6, {0x0f, 2, 0x77, 16, 0x0d, 10}, STACK + 80, SAME}, /* no offset after an expression */
    {2, {0x0e, 24}, CFA + 16, SAME},
    {2, {0x13, 0x7d}, CFA + 16, SAME},
    {4, {0x0f, 2, 0x77, 16}, CFA + 8, SAME},
    {2, {0x83, 5}, CFA, 0x5003},
    {3, {0x05, 3, 5}, CFA, 0x5003},
    {3, {0x11, 3, 0x7f}, CFA, 0x5009},
    {3, {0x14, 3, 5}, CFA, STACK + 24},
    {3, {0x15, 3, 0x7f}, CFA, CFA + 8},
    {3, {0x09, 3, 12}, CFA, STACK + 96},
    {3, {0x09, 3, 99}, CFA, UNKNOWN},
    {2, {0x07, 3}, CFA, UNKNOWN},
    {5, {0x10, 3, 2, 0x23, 8}, CFA, 0x5009},
    {5, {0x16, 3, 2, 0x23, 8}, CFA, CFA + 8},
    {3, {0x83, 5, 0xc3}, CFA, SAME},
    {4, {0x83, 5, 0x06, 3}, CFA, SAME},
    {4, {0x83, 5, 0x08, 3}, CFA, SAME},
    {4, {0x0a, 0x83, 5, 0x0b}, CFA, SAME},
    {6, {0x0a, 0x0a, 0x0b, 0x83, 5, 0x0a}, CFA, 0x5003},
    {3, {0x50, 0x83, 5}, CFA, 0x5003}, /* from the pc on */
    {3, {0x51, 0x83, 5}, CFA, SAME},   /* after it */
    {4, {0x02, 0x10, 0x83, 5}, CFA, 0x5003},
    {4, {0x02, 0x11, 0x83, 5}, CFA, SAME},
    {5, {0x03, 0x10, 0, 0x83, 5}, CFA, 0x5003},
    {5, {0x03, 0, 1, 0x83, 5}, CFA, SAME},
    {7, {0x04, 0x10, 0, 0, 0, 0x83, 5}, CFA, 0x5003},
    {7, {0x04, 0, 0, 1, 0, 0x83, 5}, CFA, SAME},
    {11, {0x01, 0x10, 0x10, 0, 0x10, 0, 0, 0, 0, 0x83, 5}, CFA, 0x5003},
    {11, {0x01, 0x11, 0x10, 0, 0x10, 0, 0, 0, 0, 0x83, 5}, CFA, SAME},
    {5, {0x2e, 16, 0x2d, 0x83, 5}, CFA, 0x5003},
    {3, {0x2c, 0x83, 5}, CFA, 0x5003},
    {3, {0x05, 99, 5}, CFA, SAME}, /* a register that is not kept */
    {5, {0x10, 99, 2, 0x23, 8}, CFA, SAME},
    {2, {0x06, 99}, CFA, SAME},
};

static void test_programs(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machsym_unwind_state s = run(rows[i].code, rows[i].len);
        CHECK_EQ(s.how, MACHSYM_UNWIND_CFA);
        CHECK_EQ(s.v[7], rows[i].cfa);
        CHECK_EQ(s.v[16], 0x5000 + (rows[i].cfa - 8 - STACK) / 8);
        CHECK_EQ(s.known >> 3 & 1, rows[i].r3 != UNKNOWN);
        if (rows[i].r3 != UNKNOWN)
            CHECK_EQ(s.v[3], rows[i].r3);
    }
}

/* What cannot be run leads to the frame pointer, and leaves no trace. */
static void test_failures(void)
{
    static const struct {
        uint8_t len;
        uint8_t code[12];
    } bad[] = {
        {3, {0x83, 5, 0x3f}},                /* an unknown instruction */
        {1, {0x0b}},                         /* nothing was remembered */
        {5, {0x0a, 0x0a, 0x0a, 0x0a, 0x0a}}, /* too much is */
        {2, {0x0d, 99}},                     /* a register that does not exist */
        {4, {0x0f, 2, 0x06, 0x06}},          /* an expression that fails */
        {4, {0x0f, 100, 0x77, 16}},          /* and one that reaches out of the program */
        {12, {0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}}, /* 65 bits */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        machsym_unwind_state s = run(bad[i].code, bad[i].len);
        CHECK_EQ(s.how, MACHSYM_UNWIND_FP);
        CHECK_EQ(s.known, 1 << 6 | 1 << 7 | 1 << 16);
        CHECK_EQ(s.v[7], STACK + 56 + 16);
    }
}

/* ---- Expressions ---- */

/* Of the CFA, which lies on the stack. */
static const struct {
    uint8_t len;
    uint8_t code[12];
    uint64_t want;
    bool fails;
} values[] = {
    {1, {0x35}, 5, false},
    {2, {0x08, 0xff}, 255, false},
    {2, {0x09, 0xff}, UINT64_MAX, false},
    {3, {0x0a, 0xfe, 0xff}, 0xfffe, false},
    {3, {0x0b, 0xfe, 0xff}, UINT64_MAX - 1, false},
    {5, {0x0c, 1, 0, 0, 0x80}, 0x80000001, false},
    {5, {0x0d, 1, 0, 0, 0x80}, UINT64_C(0xffffffff80000001), false},
    {9, {0x0e, 1, 2, 3, 4, 5, 6, 7, 0x88}, UINT64_C(0x8807060504030201), false},
    {9, {0x0f, 1, 2, 3, 4, 5, 6, 7, 0x88}, UINT64_C(0x8807060504030201), false},
    {9, {0x03, 1, 2, 3, 4, 5, 6, 7, 8}, UINT64_C(0x0807060504030201), false},
    {3, {0x10, 0x80, 1}, 128, false},
    {2, {0x11, 0x7f}, UINT64_MAX, false},
    {2, {0x12, 0x22}, 2 * (uint64_t)CFA, false},
    {2, {0x31, 0x13}, CFA, false},
    {3, {0x31, 0x32, 0x14}, 1, false},
    {4, {0x31, 0x32, 0x15, 2}, CFA, false},
    {4, {0x31, 0x33, 0x16, 0x1c}, 2, false},             /* swap: 3 - 1 */
    {6, {0x31, 0x32, 0x34, 0x17, 0x13, 0x13}, 4, false}, /* rot: 4 1 2 */
    {5, {0x31, 0x32, 0x34, 0x17, 0x13}, 1, false},
    {4, {0x31, 0x32, 0x34, 0x17}, 2, false},
    {1, {0x06}, 0x5008, false},
    {2, {0x94, 1}, 8, false},
    {3, {0x09, 0xfb, 0x19}, 5, false},
    {2, {0x35, 0x19}, 5, false},
    {2, {0x35, 0x1f}, UINT64_MAX - 4, false},
    {2, {0x30, 0x20}, UINT64_MAX, false},
    {3, {0x3c, 0x3a, 0x1a}, 8, false},
    {3, {0x3c, 0x3a, 0x21}, 14, false},
    {3, {0x3c, 0x3a, 0x27}, 6, false},
    {3, {0x35, 0x33, 0x1c}, 2, false},
    {4, {0x09, 0xfa, 0x32, 0x1b}, UINT64_MAX - 2, false},
    {12, {0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b}, UINT64_C(1) << 63, false},
    {3, {0x37, 0x34, 0x1d}, 3, false},
    {3, {0x37, 0x34, 0x1e}, 28, false},
    {3, {0x31, 0x34, 0x24}, 16, false},
    {4, {0x31, 0x08, 64, 0x24}, 0, false},
    {4, {0x09, 0xff, 0x33, 0x25}, UINT64_MAX >> 3, false},
    {4, {0x31, 0x08, 64, 0x25}, 0, false},
    {4, {0x09, 0xf0, 0x32, 0x26}, UINT64_MAX - 3, false},
    {5, {0x09, 0xf0, 0x08, 99, 0x26}, UINT64_MAX, false},
    {3, {0x3f, 0x32, 0x26}, 3, false},
    {3, {0x31, 0x31, 0x29}, 1, false},
    {4, {0x09, 0xff, 0x31, 0x2a}, 0, false},
    {3, {0x32, 0x31, 0x2b}, 1, false},
    {4, {0x09, 0xff, 0x31, 0x2c}, 1, false},
    {4, {0x09, 0xff, 0x31, 0x2d}, 1, false},
    {3, {0x31, 0x31, 0x2e}, 0, false},
    {2, {0x23, 0x10}, CFA + 16, false},
    {6, {0x31, 0x28, 1, 0, 0x35, 0x96}, CFA, false}, /* bra over lit5 */
    {5, {0x30, 0x28, 1, 0, 0x35}, 5, false},
    {4, {0x2f, 1, 0, 0x35}, CFA, false},
    {2, {0x7c, 0x78}, STACK + 88, false}, /* breg12 - 8 */
    {3, {0x92, 12, 8}, STACK + 104, false},
    {2, {0x06, 0x06}, 0, true}, /* memory that is not there */
    {2, {0x94, 9}, 0, true},    /* more than a word */
    {2, {0x94, 0}, 0, true},
    {3, {0x31, 0x30, 0x1b}, 0, true}, /* by 0 */
    {3, {0x31, 0x30, 0x1d}, 0, true},
    {2, {0x13, 0x13}, 0, true}, /* nothing is left */
    {1, {0x13}, 0, true},       /* no value is */
    {1, {0x14}, 0, true},
    {1, {0x22}, 0, true},
    {2, {0x15, 1}, 0, true},
    {3, {0x2f, 1, 0}, 0, true}, /* out of the expression */
    {3, {0x2f, 0xfc, 0xff}, 0, true},
    {3, {0x2f, 0xfd, 0xff}, 0, true},       /* to itself, for ever */
    {4, {0x12, 0x2f, 0xfc, 0xff}, 0, true}, /* more than the stack holds */
    {1, {0xe0}, 0, true},
    {3, {0x92, 99, 0}, 0, true},
    {2, {0x0e, 1}, 0, true}, /* cut */
};

static void test_expressions(void)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint8_t code[15] = {0x16, 3, values[i].len};
        memcpy(code + 3, values[i].code, values[i].len);
        machsym_unwind_state s = run(code, 3u + values[i].len);
        CHECK_EQ(s.how, MACHSYM_UNWIND_CFA);
        CHECK_EQ(s.known >> 3 & 1, !values[i].fails);
        if (!values[i].fails)
            CHECK_EQ(s.v[3], values[i].want);
    }
}

/* ---- Frames ---- */

/* After the frame of a signal handler comes the interrupted one. All its registers are known, and its stack
 * may be below. Its pc is where it stopped, so the next step looks the pc up as it is. */
static void test_signal(void)
{
    static const uint8_t down[] = {0x0f, 2, 0x70, 16}; /* the CFA is in r0: STACK + 16 */
    bytes program = {NULL, 0, 0};
    put(&program, down, sizeof down);
    put_frames("zRS", 7, 8, 16, &program);
    machsym_unwind_state s = step(registers(16), ms_CPU_X86_64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_SIGNAL);
    CHECK_EQ(s.v[7], STACK + 16);
    CHECK_EQ(s.v[16], 0x5001);
    CHECK_EQ(s.known, UINT64_MAX);
    put_frames("zR", 7, 8, 16, &program);
    CHECK_EQ(step(registers(16), ms_CPU_X86_64).end, MACHSYM_UNWIND_WRONG_WAY);
    program.len = 0;
    put_frames("zR", 7, 8, 16, &program);
    s = registers(16);
    s.v[16] = CODE;
    CHECK_EQ(step(s, ms_CPU_X86_64).how, MACHSYM_UNWIND_CFA);
    s.how = MACHSYM_UNWIND_SIGNAL;
    s.frame_count = 3;
    CHECK_EQ(step(s, ms_CPU_X86_64).how, MACHSYM_UNWIND_CFA);
    s.how = MACHSYM_UNWIND_CFA; /* a call's: the byte before is of another function */
    CHECK_EQ(step(s, ms_CPU_X86_64).how, MACHSYM_UNWIND_FP);
    bytes_free(&program);
}

/* _sigtramp of x86_64 in libsystem_platform: rbx has the ucontext_t, which has a pointer to the mcontext at 48. Its
 * registers are at these offsets, rip at 144; the CFA is rsp. */
static void test_trampoline(void)
{
    static const uint8_t at[16] = {16, 40, 32, 24, 56, 48, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136};
    static const uint8_t rsp[] = {0x0f, 8, 0x73, 48, 0x06, 0x23, 0xc8, 0, 0x06, 0x96};
    bytes program = {NULL, 0, 0};
    put(&program, rsp, sizeof rsp);
    for (unsigned i = 0; i <= 16; i++) {
        put8(&program, 0x10);
        put8(&program, i);
        put8(&program, 6);
        put8(&program, 0x73);
        put8(&program, 48);
        put8(&program, 0x06);
        put8(&program, 0x23);
        unsigned off = i == 16 ? 144 : at[i];
        put8(&program, 0x80 | (off & 0x7f)); /* ULEB128 */
        put8(&program, off >> 7);
    }
    put_frames("zRS", 7, 8, 16, &program);
    machsym_unwind_state s = registers(16);
    mcontext = STACK + 128;
    s = step(s, ms_CPU_X86_64);
    mcontext = 0;
    CHECK_EQ(s.how, MACHSYM_UNWIND_SIGNAL);
    CHECK_EQ(s.known & 0x1ffff, 0x1ffff);
    for (unsigned i = 0; i < 16; i++)
        CHECK_EQ(s.v[i], 0x5000 + (128 + at[i]) / 8);
    CHECK_EQ(s.v[16], 0x5000 + (128 + 144) / 8);
    bytes_free(&program);
}

static void test_bottom(void)
{
    static const uint8_t undefined[] = {0x07, 16};
    CHECK_EQ(run(undefined, sizeof undefined).end, MACHSYM_UNWIND_BOTTOM);
}

/* The return address of arm64 is where lr is; that of a frame that stopped may still be in it. */
static void test_arm64(void)
{
    static const uint8_t record[] = {0x0c, 29, 16, 0x9e, 1, 0x9d, 2};
    static const uint8_t leaf[] = {0xde, 0x08, 30};
    bytes program = {NULL, 0, 0};
    machsym_unwind_state s = registers(32);
    s.v[29] = STACK + 40 * 8;
    put(&program, record, sizeof record);
    put_frames("zR", 31, 0, 30, &program);
    s = step(s, ms_CPU_ARM64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_CFA);
    CHECK_EQ(s.v[31], STACK + 42 * 8);
    CHECK_EQ(s.v[32], 0x5000 + 41);
    CHECK_EQ(s.v[29], 0x5000 + 40);
    CHECK_EQ(s.known >> 30 & 1, 0);
    program.len = 0;
    put(&program, leaf, sizeof leaf);
    put_frames("zR", 31, 0, 30, &program);
    s = step(registers(32), ms_CPU_ARM64);
    CHECK_EQ(s.how, MACHSYM_UNWIND_CFA);
    CHECK_EQ(s.v[31], STACK + 31 * 8);
    CHECK_EQ(s.v[32], STACK + 30 * 8);
    s = registers(32);
    s.known &= ~(UINT64_C(1) << 30);
    CHECK_EQ(step(s, ms_CPU_ARM64).how, MACHSYM_UNWIND_FP);
    bytes_free(&program);
}

/* In eh_frame, i386's 5 is esp and its 4 is ebp. */
static void test_i386(void)
{
    static const uint8_t frame[] = {0x0c, 4, 8, 0x84, 1};
    bytes program = {NULL, 0, 0};
    put(&program, frame, sizeof frame);
    put_frames("zR", 5, 4, 8, &program);
    machsym_unwind_state s = registers(8);
    s.v[5] = STACK + 20 * 8; /* ebp */
    s = step(s, 7);
    CHECK_EQ(s.how, MACHSYM_UNWIND_CFA);
    CHECK_EQ(s.v[4], STACK + 21 * 8);
    CHECK_EQ(s.v[5], 0x5000 + 20);
    bytes_free(&program);
}

/* A CIE of __debug_frame, and the FDE of a function of 256 bytes: both have addresses of the file. */
static void put_debug_frame(unsigned version, unsigned word, unsigned ra, uint64_t lo, const bytes *program,
                            bool is_long)
{
    frames.len = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (is_long)
            put32(&frames, 0xffffffff);
        size_t at = frames.len;
        put_uint(&frames, 0, is_long ? 8 : 4);
        put_uint(&frames, i == 0 ? UINT64_MAX : 0, is_long ? 8 : 4);
        if (i == 0) {
            put8(&frames, version);
            put8(&frames, 0);
            if (version == 4) {
                put8(&frames, word);
                put8(&frames, 0);
            }
            put8(&frames, 1);
            put_sleb(&frames, -(int)word);
            put8(&frames, ra);
        } else {
            put_uint(&frames, lo, word);
            put_uint(&frames, 0x100, word);
            put_bytes(&frames, program);
        }
        patch(&frames, at, frames.len - at - (is_long ? 8 : 4), is_long ? 8 : 4);
    }
}

/* file_addr: of the header. The function is at CODE in the process. */
static machsym_unwind_state step_debug(machsym_unwind_state s, uint32_t cputype, uint64_t file_addr)
{
    machsym_unwind_image image;
    machsym_unwind_desc desc = {read_memory, NULL, &image, 1, cputype};
    memset(&image, 0, sizeof image);
    image.load_addr = LOAD;
    image.size = 0x4000;
    image.debug_frame.bytes.ptr = frames.v;
    image.debug_frame.bytes.len = frames.len;
    image.file_addr = file_addr;
    machsym_unwind_next(&desc, &s);
    return s;
}

/* Wherever the image lies, in every version and both formats. i386's 4 is esp there. */
static void test_debug_frame(void)
{
    static const uint8_t code[] = {0x0c, 7, 8, 0x90, 1, 0x83, 5};
    static const uint8_t far_code[] = {0x0c, 7, 8, 0x90, 1, 0x01, 0x10, 0x10, 0, 0x40, 0, 0, 0, 0, 0x0e, 16};
    static const uint8_t code_i386[] = {0x0c, 4, 4, 0x88, 1};
    bytes program = {NULL, 0, 0};
    put(&program, code, sizeof code);
    for (unsigned version = 1; version <= 5; version++) {
        for (unsigned i = 0; i < 4; i++) {
            uint64_t file_addr = i % 2 == 0 ? 0x40000000 : LOAD;
            put_debug_frame(version, 8, 16, file_addr + CODE - LOAD, &program, i > 1);
            machsym_unwind_state s = step_debug(registers(16), ms_CPU_X86_64, file_addr);
            CHECK_EQ(s.how, version == 5 ? MACHSYM_UNWIND_FP : MACHSYM_UNWIND_CFA);
            CHECK_EQ(s.v[7], version == 5 ? STACK + 56 + 16 : CFA);
            CHECK_EQ(step_debug(registers(16), ms_CPU_X86_64, 0x123000).how, MACHSYM_UNWIND_FP);
        }
    }
    put_debug_frame(4, 4, 16, 0x40001000, &program, false); /* addresses of 4 bytes, and those of 8 */
    CHECK_EQ(step_debug(registers(16), ms_CPU_X86_64, 0x40000000).how, MACHSYM_UNWIND_FP);
    program.len = 0;
    put(&program, far_code, sizeof far_code); /* set_loc goes to the pc */
    put_debug_frame(1, 8, 16, 0x40001000, &program, false);
    CHECK_EQ(step_debug(registers(16), ms_CPU_X86_64, 0x40000000).v[7], CFA + 8);
    program.len = 0;
    put(&program, code_i386, sizeof code_i386);
    put_debug_frame(1, 4, 8, 0x1000, &program, false);
    machsym_unwind_state s = registers(8);
    s.v[4] = STACK + 20 * 8;
    s = step_debug(s, 7, 0);
    CHECK_EQ(s.how, MACHSYM_UNWIND_CFA);
    CHECK_EQ(s.v[4], STACK + 20 * 8 + 4);
    CHECK_EQ(s.v[8], 0x5000 + 20);
    bytes_free(&program);
}

/* arm64_32 saves registers of 8 bytes; its addresses in tables have 4. */
static void test_arm64_32(void)
{
    static const uint8_t record[] = {0x0c, 29, 16, 0x9e, 1, 0x9d, 2};
    bytes program = {NULL, 0, 0};
    machsym_unwind_state s = registers(32);
    s.v[29] = STACK + 40 * 8;
    put(&program, record, sizeof record);
    put_frames("zR", 31, 0, 30, &program);
    size_t fde = 4 + ms_rd_raw_u32(frames.v);
    frames.v[16] = 0x10; /* the address has the size of a word */
    CHECK_EQ(frames.v[fde + 8], (CODE - FRAMES - fde - 8) & 0xff);
    s = step(s, ms_CPU_ARM64_32);
    CHECK_EQ(s.how, MACHSYM_UNWIND_CFA);
    CHECK_EQ(s.v[31], STACK + 42 * 8);
    CHECK_EQ(s.v[32], 0x5000 + 41);
    bytes_free(&program);
}

/* The FDE that the compact table names, and no other. */
static void test_by_offset(void)
{
    bytes program = {NULL, 0, 0};
    put_frames("zR", 7, 8, 16, &program);
    ms_eh_frames source = ms_eh_of_file(ms_span_make(frames.v, frames.len), FRAMES, 8);
    machsym_unwind_desc desc = {read_memory, NULL, NULL, 0, ms_CPU_X86_64};
    size_t fde = 4 + ms_rd_raw_u32(frames.v);
    for (size_t off = 0; off < frames.len + 9; off++) {
        machsym_unwind_state s = registers(16);
        bool found = ms_cfa_step(&desc, &source, off, CODE + 0x10, &s);
        CHECK_EQ(found, off == fde || off == 0);
    }
    bytes_free(&program);
}

/* An entry longer than its room is read out of a file only. */
static void test_long_entry(void)
{
    bytes program = {NULL, 0, 0};
    put_zeros(&program, MACHSYM_MAX_FRAME_ENTRY);
    put_frames("zR", 7, 8, 16, &program);
    CHECK_EQ(step_from(registers(16), ms_CPU_X86_64, true).how, MACHSYM_UNWIND_CFA);
    CHECK_EQ(step_from(registers(16), ms_CPU_X86_64, false).how, MACHSYM_UNWIND_FP);
    bytes_free(&program);
}

/* A table that is cut or has a byte of another value: both sources say the same, and nothing outside is read. */
static void test_damage(void)
{
    static const uint8_t values_of[] = {0, 1, 0x7f, 0x80, 0xff, 0x2f, 0x0a, 0x10};
    static const uint8_t code[] = {0x0a, 0x83, 5, 0x16, 6, 3, 0x77, 8, 0x06, 0x0e, 16, 0x0b, 0x0e, 8};
    bytes program = {NULL, 0, 0};
    put(&program, code, sizeof code);
    put_frames("zR", 7, 8, 16, &program);
    size_t whole = frames.len;
    for (frames.len = 0; frames.len < whole; frames.len++)
        CHECK_EQ(step(registers(16), ms_CPU_X86_64).how, MACHSYM_UNWIND_FP);
    for (size_t at = 0; at < whole; at++) {
        uint8_t before = frames.v[at];
        for (size_t i = 0; i < sizeof values_of; i++) {
            frames.v[at] = values_of[i];
            step(registers(16), ms_CPU_X86_64);
        }
        frames.v[at] = before;
    }
    CHECK_EQ(step(registers(16), ms_CPU_X86_64).how, MACHSYM_UNWIND_CFA);
    bytes_free(&program);
}

int main(void)
{
    test_programs();
    test_failures();
    test_expressions();
    test_signal();
    test_trampoline();
    test_bottom();
    test_arm64();
    test_i386();
    test_debug_frame();
    test_arm64_32();
    test_by_offset();
    test_long_entry();
    test_damage();
    bytes_free(&frames);
    return test_done();
}
