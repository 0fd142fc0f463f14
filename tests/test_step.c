/* Frames by compact unwind: tables and stacks by hand; where registers lie is as clang 22 writes them. Whatever
 * tables and memory say, a stack ends, with its reason. */
#define TEST_ROOM <rooms/src/unwind/step.h>
#include "test.h"
#include "make.h"
#include "unwind/trace.h"

enum { LOAD = 0x100000000, STACK = 0x7000, WORDS = 32 };

/* Every instruction of 26 functions of each processor, compiled by clang 22 with -O2, as an emulator ran them:
 * tests/unwind/steps.py. Functions that call pieces of their prologues, compiled with -Oz -mllvm
 * -enable-machine-outliner: 60 functions of seed 10; 50 of seed 27 without a frame pointer. Functions that share whole
 * prologues and epilogues, which move sp and set fp, with -mllvm -homogeneous-prolog-epilog=true as well: 50 functions
 * of seed 11; 40 of seed 3 without a frame pointer and without other pieces. */
static const char *const traces[] = {
    "tests/fixtures/unwind/steps-arm64",        "tests/fixtures/unwind/steps-x86_64",
    "tests/fixtures/unwind/steps-arm64-pieces", "tests/fixtures/unwind/steps-arm64-pieces-sp",
    "tests/fixtures/unwind/steps-arm64-shared", "tests/fixtures/unwind/steps-arm64-shared-sp"};

enum { TRACES = sizeof traces / sizeof traces[0] };

static uint64_t stack[WORDS];
static uint8_t code[4096];

static bool read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
    (void)ctx;
    for (size_t i = 0; i < len; i++, addr++) {
        if (addr >= STACK && addr < STACK + sizeof stack)
            ((uint8_t *)buf)[i] = (uint8_t)(stack[(addr - STACK) / 8] >> (addr - STACK) % 8 * 8);
        else if (addr >= LOAD + 0x1000 && addr < LOAD + 0x1000 + sizeof code)
            ((uint8_t *)buf)[i] = code[addr - LOAD - 0x1000];
        else
            return false;
    }
    return true;
}

/* unwind_info_section_header, then the index: pages at 0x1000 and 0x2000 up to 0x3000. */
static void put_head(bytes *info, uint32_t commons)
{
    const uint32_t head[] = {1, 28, commons, 28, 0, 28 + 4 * commons, 3};
    uint32_t first = 28 + 4 * commons + 3 * 12;
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        put32(info, head[i]);
    for (uint32_t i = 0; i < commons; i++)
        put32(info, 0x04000001 + i);
    for (uint32_t i = 0; i < 3; i++) {
        put32(info, 0x1000 + 0x1000 * i);
        put32(info, i == 2 ? 0 : first + 24 * i);
        put32(info, 0);
    }
}

/* A regular page of two functions, and a compressed one of three whose encodings are shared, shared and own. */
static bytes two_pages(void)
{
    bytes info = {NULL, 0, 0};
    put_head(&info, 2);
    put32(&info, ms_UNT_REGULAR);
    put32(&info, 8 | 2 << 16);
    put32(&info, 0x1000);
    put32(&info, 0x02001000);
    put32(&info, 0x1800);
    put32(&info, 0x02002000);
    put32(&info, ms_UNT_COMPRESSED);
    put32(&info, 16 | 3 << 16);
    put32(&info, 12 | 1 << 16);
    put32(&info, 0x03000000);
    put32(&info, 0x01000000);
    put32(&info, 0x00000400);
    put32(&info, 0x02000800);
    return info;
}

/* One function from 0x1000 to 0x2000, on a regular page. */
static bytes one_function(uint32_t encoding)
{
    bytes info = {NULL, 0, 0};
    put_head(&info, 0);
    patch(&info, 24, 2, 4);
    patch(&info, 44, 0, 4); /* the second page only ends the first */
    put32(&info, ms_UNT_REGULAR);
    put32(&info, 8 | 1 << 16);
    put32(&info, 0x1000);
    put32(&info, encoding);
    return info;
}

static machsym_unwind_state step(uint32_t cputype, uint32_t encoding, machsym_unwind_state s)
{
    bytes info = one_function(encoding);
    machsym_unwind_image image;
    machsym_unwind_desc desc = {read_memory, NULL, &image, 1, cputype};
    memset(&image, 0, sizeof image);
    image.load_addr = LOAD;
    image.size = 0x4000;
    image.unwind_info.bytes.ptr = info.v;
    image.unwind_info.bytes.len = info.len;
    bool goes_on = machsym_unwind_next(&desc, &s);
    CHECK_EQ(goes_on, s.end == MACHSYM_UNWIND_GOES_ON);
    bytes_free(&info);
    return s;
}

static machsym_unwind_state registers(unsigned pc, unsigned sp)
{
    machsym_unwind_state s;
    memset(&s, 0, sizeof s);
    s.known = UINT64_MAX;
    s.v[pc] = (uint64_t)LOAD + 0x1010;
    s.v[sp] = STACK;
    for (unsigned i = 0; i < WORDS; i++)
        stack[i] = 0x100 + i;
    return s;
}

static void test_arm64(void)
{
    machsym_unwind_state s = registers(32, 31), up;
    s.v[29] = STACK + 8 * 8;
    stack[8] = STACK + 20 * 8;
    stack[9] = 0x0012000100003000;          /* signed */
    up = step(ms_CPU_ARM64, 0x04000005, s); /* x19, x20, x23, x24 */
    CHECK_EQ(up.how, MACHSYM_UNWIND_COMPACT);
    CHECK_EQ(up.v[32], 0x100003000);
    CHECK_EQ(up.v[31], STACK + 10 * 8);
    CHECK_EQ(up.v[29], STACK + 20 * 8);
    CHECK_EQ(up.v[19], 0x107);
    CHECK_EQ(up.v[20], 0x106);
    CHECK_EQ(up.v[23], 0x105);
    CHECK_EQ(up.v[24], 0x104);
    s.v[30] = 0x100003000;
    up = step(ms_CPU_ARM64, 0x02002101, s); /* stp d9, d8, [sp, #-0x20]!; stp x20, x19, [sp, #0x10] */
    CHECK_EQ(up.how, MACHSYM_UNWIND_COMPACT);
    CHECK_EQ(up.v[31], STACK + 0x20);
    CHECK_EQ(up.v[19], 0x103);
    CHECK_EQ(up.v[20], 0x102);
    CHECK_EQ(up.v[32], 0x100003000);
    CHECK_EQ(up.known >> 30 & 1, 0); /* lr is the caller's no more */
    up = step(ms_CPU_ARM64, 0x03000000, s);
    CHECK_EQ(up.how, MACHSYM_UNWIND_FP);
    s.v[29] = STACK - 16;
    CHECK_EQ(step(ms_CPU_ARM64, 0x04000000, s).end, MACHSYM_UNWIND_NO_FRAME); /* memory that is not there */
}

static void test_x86_64(void)
{
    machsym_unwind_state s = registers(16, 7), up;
    s.v[6] = STACK + 8 * 8;
    stack[8] = STACK + 20 * 8;
    stack[9] = 0x100003000;
    up = step(ms_CPU_X86_64, 0x01040b11, s); /* rbx, r12, 0, 15, 0 by threes: 1, 2, 4, 5 at rbp - 32 */
    CHECK_EQ(up.how, MACHSYM_UNWIND_COMPACT);
    CHECK_EQ(up.v[16], 0x100003000);
    CHECK_EQ(up.v[7], STACK + 10 * 8);
    CHECK_EQ(up.v[3], 0x104);
    CHECK_EQ(up.v[12], 0x105);
    CHECK_EQ(up.v[14], 0x106);
    CHECK_EQ(up.v[15], 0x107);
    up = step(ms_CPU_X86_64, 0x02050800, s); /* 5 words; two of them rbx, r12 */
    CHECK_EQ(up.v[16], 0x104);
    CHECK_EQ(up.v[3], 0x102);
    CHECK_EQ(up.v[12], 0x103);
    CHECK_EQ(up.v[7], STACK + 5 * 8);
    code[4] = 0x48; /* sub rsp, 0x48 in the code, and two words that were pushed */
    up = step(ms_CPU_X86_64, 0x03044400, s);
    CHECK_EQ(up.v[7], STACK + 0x48 + 2 * 8);
    CHECK_EQ(up.v[16], 0x10a);
    CHECK_EQ(up.v[3], 0x100003000); /* stack[9] */
    s.v[6] = STACK - 1;
    CHECK_EQ(step(ms_CPU_X86_64, 0x02000000, s).end, MACHSYM_UNWIND_NO_FRAME); /* no room for an address */
    s.v[7] = STACK + 12 * 8;
    s.v[6] = STACK + 8 * 8;
    CHECK_EQ(step(ms_CPU_X86_64, 0x01000000, s).end, MACHSYM_UNWIND_WRONG_WAY);
    s.v[7] = UINT64_MAX; /* nothing is above it */
    CHECK_EQ(step(ms_CPU_X86_64, 0x01000000, s).end, MACHSYM_UNWIND_WRONG_WAY);
    stack[9] = 0;
    CHECK_EQ(step(ms_CPU_X86_64, 0x01000000, s).end, MACHSYM_UNWIND_BOTTOM);
}

/* The same functions of i386 in words of 4 bytes, two of them in each of the stack's. */
static void test_i386(void)
{
    machsym_unwind_state s = registers(8, 4), up;
    s.v[8] = (uint64_t)LOAD + 0x1010;
    s.v[5] = STACK + 8 * 8;
    stack[7] = UINT64_C(0x1122334455667788);
    stack[8] = (uint64_t)0x9000 << 32 | (STACK + 20 * 8);
    up = step(7, 0x01020025, s); /* esi, edi at ebp - 8 */
    CHECK_EQ(up.how, MACHSYM_UNWIND_COMPACT);
    CHECK_EQ(up.v[8], 0x9000);
    CHECK_EQ(up.v[4], STACK + 9 * 8);
    CHECK_EQ(up.v[5], STACK + 20 * 8);
    CHECK_EQ(up.v[6], 0x55667788);
    CHECK_EQ(up.v[7], 0x11223344);
}

/* What is no encoding, and registers that a caller cannot know. */
static void test_unknown(void)
{
    machsym_unwind_state s = registers(16, 7);
    s.v[6] = STACK + 8 * 8;
    stack[9] = 0x100003000;
    CHECK_EQ(step(ms_CPU_X86_64, 0x0205bc00, s).how, MACHSYM_UNWIND_FP); /* seven registers */
    CHECK_EQ(step(ms_CPU_X86_64, 0x020507ff, s).how, MACHSYM_UNWIND_FP); /* an invalid permutation */
    CHECK_EQ(step(ms_CPU_X86_64, 0x03ff0000, s).how, MACHSYM_UNWIND_FP); /* "sub" that is not there */
    CHECK_EQ(step(ms_CPU_X86_64, 0x04000000, s).known, 1 << 6 | 1 << 7 | 1 << 16);
    CHECK_EQ(step(ms_CPU_X86_64, 0x01000000, s).known, 0xf0c8 | 1 << 16);
    s.v[6] |= 1; /* no frame is there */
    CHECK_EQ(step(ms_CPU_X86_64, 0x04000000, s).end, MACHSYM_UNWIND_NO_FRAME);
    s.known &= ~(UINT64_C(1) << 6);
    CHECK_EQ(step(ms_CPU_X86_64, 0x01000000, s).end, MACHSYM_UNWIND_NO_FRAME);
    s.known &= ~(UINT64_C(1) << 7);
    CHECK_EQ(step(ms_CPU_X86_64, 0x01000000, s).end, MACHSYM_UNWIND_NO_REGISTERS);
    CHECK_EQ(step(ms_CPU_ARM, 0x01000000, registers(32, 31)).end, MACHSYM_UNWIND_NO_REGISTERS);
    CHECK_EQ(step(ms_CPU_X86_64, 0x0f000000, registers(16, 7)).end, MACHSYM_UNWIND_NO_FRAME);
}

static void test_arguments(void)
{
    machsym_unwind_state s = registers(32, 31), ended;
    machsym_unwind_desc desc = {NULL, NULL, NULL, 0, ms_CPU_ARM64};
    CHECK(!machsym_unwind_next(&desc, NULL));
    ended = s;
    CHECK(!machsym_unwind_next(NULL, &ended));
    CHECK_EQ(ended.end, MACHSYM_UNWIND_ARGUMENT);
    ended = s;
    CHECK(!machsym_unwind_next(&desc, &ended));
    CHECK_EQ(ended.end, MACHSYM_UNWIND_ARGUMENT);
    desc.read = read_memory;
    desc.image_count = 1;
    ended = s;
    CHECK(!machsym_unwind_next(&desc, &ended));
    CHECK_EQ(ended.end, MACHSYM_UNWIND_ARGUMENT);
    desc.image_count = 0; /* without images frame pointers lead on */
    ended = s;
    ended.v[29] = STACK;
    CHECK(machsym_unwind_next(&desc, &ended));
    CHECK_EQ(ended.how, MACHSYM_UNWIND_FP);
    ended.end = MACHSYM_UNWIND_BOTTOM; /* an end stays */
    CHECK(!machsym_unwind_next(&desc, &ended));
    CHECK_EQ(ended.end, MACHSYM_UNWIND_BOTTOM);
}

/* ---- Tables ---- */

/* A table in a process; offsets count from 0x9000. */
static bool read_table(void *ctx, uint64_t addr, void *buf, size_t len)
{
    const bytes *table = (const bytes *)ctx;
    if (addr < 0x9000 || addr - 0x9000 > table->len || len > table->len - (addr - 0x9000))
        return false;
    memcpy(buf, table->v + (addr - 0x9000), len);
    return true;
}

/* What a table says of an offset, read in both ways; 0: nothing. */
static uint32_t find(bytes *info, uint64_t off, uint64_t *lo)
{
    ms_piece_source file = ms_piece_of_file(ms_span_make(info->v, info->len), 0);
    ms_piece_source process = {{NULL, 0}, read_table, info, 0x9000, info->len};
    ms_unc_entry a = {0, 0}, b = {0, 0};
    bool found = ms_unc_find(&file, off, &a);
    CHECK_EQ(ms_unc_find(&process, off, &b), found);
    *lo = a.lo;
    if (!found)
        return 0;
    CHECK_EQ(a.lo, b.lo);
    CHECK_EQ(a.encoding, b.encoding);
    return a.encoding;
}

static const struct {
    uint32_t off;
    uint32_t lo;
    uint32_t encoding;
} rows[] = {{0xfff, 0, 0},
            {0x1000, 0x1000, 0x02001000},
            {0x17ff, 0x1000, 0x02001000},
            {0x1800, 0x1800, 0x02002000},
            {0x1fff, 0x1800, 0x02002000},
            {0x2000, 0x2000, 0x04000002},
            {0x2400, 0x2400, 0x04000001},
            {0x27ff, 0x2400, 0x04000001},
            {0x2800, 0x2800, 0x03000000},
            {0x2fff, 0x2800, 0x03000000},
            {0x3000, 0, 0},
            {0xffffffff, 0, 0}};

enum { ROWS = sizeof rows / sizeof rows[0] };

static void test_pages(void)
{
    bytes info = two_pages();
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t lo;
        CHECK_EQ(find(&info, rows[i].off, &lo), rows[i].encoding);
        if (rows[i].encoding != 0)
            CHECK_EQ(lo, rows[i].lo);
    }
    bytes_free(&info);
}

/* A table that is cut says nothing, or what the whole one does. */
static void test_cut_tables(void)
{
    bytes info = two_pages();
    size_t whole = info.len;
    for (size_t i = 0; i < ROWS; i++) {
        size_t found = 0;
        for (info.len = 0; info.len <= whole; info.len++) {
            uint64_t lo;
            uint32_t encoding = find(&info, rows[i].off, &lo);
            CHECK(encoding == 0 || encoding == rows[i].encoding);
            found += encoding != 0;
        }
        CHECK((found != 0) == (rows[i].encoding != 0));
    }
    bytes_free(&info);
}

/* Fields at their extremes: both ways of reading say the same, and nothing outside the table is read. */
static void test_extremes(void)
{
    static const uint32_t values[] = {0,          1,          2,          3,          0x7fffffff,
                                      0x80000000, 0xfffffffe, 0xffffffff, 0x0000ffff, 0xffff0000};
    for (size_t at = 0; at < 140; at += 2) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            bytes info = two_pages();
            if (at + 4 <= info.len)
                patch(&info, at, values[k], 4);
            for (size_t i = 0; i < ROWS; i++) {
                uint64_t lo;
                find(&info, rows[i].off, &lo);
            }
            bytes_free(&info);
        }
    }
}

/* ---- Memory that lies ---- */

typedef struct liar {
    unsigned reads;
    unsigned fails_at; /* this read fails, and all after it */
    uint64_t seed;     /* not 0: every read gives other bytes */
    uint64_t same;     /* else each word is this one */
} liar;

static bool lie(void *ctx, uint64_t addr, void *buf, size_t len)
{
    liar *l = (liar *)ctx;
    (void)addr;
    if (++l->reads >= l->fails_at)
        return false;
    for (size_t i = 0; i < len; i++) {
        l->seed = l->seed * UINT64_C(6364136223846793005) + (l->seed != 0);
        ((uint8_t *)buf)[i] = (uint8_t)(l->seed != 0 ? l->seed >> 56 : l->same >> i % 8 * 8);
    }
    return true;
}

/* Unwinds until it ends. Returns how many frames there were. */
static uint32_t run(liar *l, uint32_t cputype, uint64_t seed)
{
    machsym_unwind_image image;
    machsym_unwind_desc desc = {lie, l, &image, 1, cputype};
    machsym_unwind_state s;
    unsigned sp = cputype == ms_CPU_ARM64 ? 31 : cputype == ms_CPU_X86_64 ? 7 : 4;
    uint32_t frames = 0;
    memset(&image, 0, sizeof image);
    memset(&s, 0, sizeof s);
    image.size = UINT64_MAX;
    image.unwind_info.addr = 0x1000;
    image.unwind_info.size = UINT32_MAX;
    s.known = UINT64_MAX;
    for (unsigned i = 0; i < 33; i++)
        s.v[i] = seed * (i + 1) * 16;
    for (uint64_t before = s.v[sp]; machsym_unwind_next(&desc, &s); frames++) {
        CHECK(s.v[sp] > before || (frames == 0 && s.v[sp] == before));
        before = s.v[sp];
        CHECK_EQ(s.frame_count, frames + 1);
    }
    CHECK(s.end != MACHSYM_UNWIND_GOES_ON && s.end != MACHSYM_UNWIND_ARGUMENT);
    CHECK(frames <= MACHSYM_MAX_UNWIND_FRAMES);
    return frames;
}

static void test_lies(void)
{
    static const uint32_t cputypes[] = {ms_CPU_ARM64, ms_CPU_X86_64, 7};
    for (size_t c = 0; c < 3; c++) {
        for (uint64_t seed = 1; seed < 300; seed++) {
            liar random = {0, UINT32_MAX, seed, 0}, same = {0, UINT32_MAX, 0, seed << seed % 40};
            run(&random, cputypes[c], seed);
            run(&same, cputypes[c], seed);
        }
        for (unsigned at = 1; at < 20; at++) {
            liar fails = {0, at, 0, 0x10};
            run(&fails, cputypes[c], at);
        }
    }
}

/* Each frame pointer leads to the next record; the memory never ends. */
static bool read_forever(void *ctx, uint64_t addr, void *buf, size_t len)
{
    (void)ctx;
    memset(buf, 0, len);
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)buf)[i] = (uint8_t)((addr + 16) >> 8 * (i % 8));
    return true;
}

static void test_endless(void)
{
    machsym_unwind_state s = registers(32, 31);
    machsym_unwind_desc desc = {read_forever, NULL, NULL, 0, ms_CPU_ARM64};
    s.v[29] = STACK;
    while (machsym_unwind_next(&desc, &s))
        CHECK_EQ(s.how, MACHSYM_UNWIND_FP);
    CHECK_EQ(s.end, MACHSYM_UNWIND_TOO_MANY);
    CHECK_EQ(s.frame_count, MACHSYM_MAX_UNWIND_FRAMES);
    s = registers(32, 31);
    desc.read = read_memory; /* a frame that leads to itself */
    s.v[29] = STACK;
    stack[0] = STACK;
    stack[1] = 0x100003000;
    CHECK(machsym_unwind_next(&desc, &s));
    CHECK(!machsym_unwind_next(&desc, &s));
    CHECK_EQ(s.end, MACHSYM_UNWIND_WRONG_WAY);
}

/* ---- Bounds ---- */

enum { TABLE = 0x900000 };

typedef struct corpse {
    uint64_t seed; /* of the stack; 0: records that lead up forever */
    unsigned long reads;
} corpse;

/* A stack without end, and from TABLE on an eh_frame without end, whose entries are of other code. */
static bool read_corpse(void *ctx, uint64_t addr, void *buf, size_t len)
{
    static const uint8_t cie[] = {12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 16, 0, 0, 0};
    corpse *c = (corpse *)ctx;
    c->reads++;
    for (size_t i = 0; i < len; i++, addr++) {
        uint64_t off = addr - TABLE, word = addr / 8 * 8 + 16;
        if (off < sizeof cie)
            ((uint8_t *)buf)[i] = cie[off];
        else if (addr > TABLE) /* FDEs of 24 bytes, whose distance to the CIE is what remains */
            ((uint8_t *)buf)[i] = (uint8_t)((off - 16) % 24 == 0 ? 20
                                            : (off - 16) % 24 >= 4 && (off - 16) % 24 < 8
                                                ? ((off - 16) / 24 * 24 + 20) >> 8 * ((off - 16) % 24 - 4)
                                                : 0);
        else if (c->seed == 0)
            ((uint8_t *)buf)[i] = (uint8_t)(word >> addr % 8 * 8);
        else
            ((uint8_t *)buf)[i] =
                (uint8_t)((addr / 8 + c->seed) * UINT64_C(6364136223846793005) >> (24 + addr % 8));
    }
    return true;
}

/* A table without end is searched for a while, and not again for every frame of a stack without end. */
static void test_long_search(void)
{
    corpse c = {0, 0};
    machsym_unwind_image image;
    machsym_unwind_desc desc = {read_corpse, &c, &image, 1, ms_CPU_X86_64};
    machsym_unwind_state s = registers(16, 7);
    memset(&image, 0, sizeof image);
    image.size = UINT64_MAX;
    image.eh_frame.addr = TABLE;
    image.eh_frame.size = UINT32_MAX;
    s.v[6] = STACK;
    while (machsym_unwind_next(&desc, &s))
        CHECK_EQ(s.how, MACHSYM_UNWIND_FP);
    CHECK_EQ(s.end, MACHSYM_UNWIND_TOO_MANY);
    CHECK_EQ(s.searched, MACHSYM_MAX_STACK_SEARCH);
    CHECK(c.reads < MACHSYM_MAX_STACK_SEARCH * 5);
}

/* Real tables and code, and a stack of random words: it ends, after so few reads. */
static void test_random_stacks(void)
{
    unsigned long most = 0, frames = 0;
    for (size_t i = 0; i < TRACES; i++) {
        trace t;
        machsym_unwind_state s;
        CHECK(trace_open(&t, traces[i]));
        for (uint64_t seed = 1; trace_next(&t, &s) && seed < 600; seed++) {
            for (size_t k = 1; k <= TRACE_RANGES; k++) {
                uint64_t random = seed;
                for (uint64_t at = 0; at < t.parts[k].len; at++) {
                    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
                    if (at % 8 == 0 || at % 8 > 4) /* some words lead into code or the stack */
                        t.parts[k].v[at] = (uint8_t)(random >> 56);
                }
            }
            t.reads = 0;
            while (machsym_unwind_next(&t.desc, &s))
                frames++;
            CHECK(s.end != MACHSYM_UNWIND_GOES_ON);
            CHECK(s.frame_count < 100);
            most = t.reads > most ? t.reads : most;
        }
        trace_close(&t);
    }
    CHECK(most < 2000);
    CHECK(frames > 500);
}

/* ---- Swift's async frames ---- */

/* Frames as Libc's __thread_stack_async_pcs and Swift's backtraces read them: a plain frame, and that of an async
 * function: {context, frame pointer with bit 60, return address}. Word 16 and those after it are contexts of
 * {parent, where it goes on}, in words of the size of addresses. cycle: the last one leads to this one. */
static machsym_unwind_state async_stack(uint32_t cputype, unsigned contexts, unsigned cycle)
{
    bool is_x86 = cputype == ms_CPU_X86_64, is_32 = cputype == ms_CPU_ARM64_32;
    uint64_t signature = cputype == ms_CPU_ARM64 ? UINT64_C(0x5a) << 56 : 0;
    machsym_unwind_state s = is_x86 ? registers(16, 7) : registers(32, 31);
    s.v[is_x86 ? 6 : 29] = STACK + 8;
    stack[1] = STACK + 5 * 8;
    stack[2] = 0x100003000;
    stack[4] = (STACK + 16 * 8) | signature;
    stack[5] = (STACK + 10 * 8) | UINT64_C(1) << 60;
    stack[6] = 0x100004000;
    stack[10] = 0;
    stack[11] = 0x100005000;
    for (unsigned i = 0; i < contexts; i++) {
        uint64_t next = STACK + 16 * 8 + 8 * (is_32 ? i + 1 : 2 * i + 2), pc = 0x10006000 + 16 * i;
        if (i + 1 == contexts)
            next = cycle < contexts ? STACK + 16 * 8 + 8 * (is_32 ? cycle : 2 * cycle) : 0;
        if (is_32)
            stack[16 + i] = next | pc << 32;
        else
            stack[16 + 2 * i] = next | (next != 0 ? signature : 0);
        if (!is_32)
            stack[17 + 2 * i] = pc | signature;
    }
    return s;
}

static void check_async(uint32_t cputype)
{
    machsym_unwind_desc desc = {read_memory, NULL, NULL, 0, cputype};
    unsigned pc = cputype == ms_CPU_X86_64 ? 16 : 32, context = cputype == ms_CPU_X86_64 ? 14 : 22;
    machsym_unwind_state s = async_stack(cputype, 4, 9);
    for (unsigned i = 0; i < 3; i++) { /* the stack: its callers only */
        CHECK(machsym_unwind_next(&desc, &s));
        CHECK_EQ(s.v[pc], 0x100003000 + 0x1000 * i);
        CHECK_EQ(s.how, MACHSYM_UNWIND_FP);
    }
    CHECK(!machsym_unwind_next(&desc, &s));
    CHECK_EQ(s.end, MACHSYM_UNWIND_NO_FRAME);
    s = async_stack(cputype, 4, 9);
    s.awaiting = true;
    CHECK(machsym_unwind_next(&desc, &s));
    CHECK_EQ(s.v[pc], 0x100003000);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(machsym_unwind_next(&desc, &s));
        CHECK_EQ(s.v[pc], 0x10006000 + 16 * i);
        CHECK_EQ(s.how, MACHSYM_UNWIND_ASYNC);
        CHECK_EQ(s.v[context] >> 47, 0);
        CHECK_EQ(s.known, (uint64_t)1 << pc | (uint64_t)1 << context);
        CHECK_EQ(s.frame_count, i + 2);
    }
    CHECK_EQ(s.v[context], 0);
    CHECK(!machsym_unwind_next(&desc, &s));
    CHECK_EQ(s.end, MACHSYM_UNWIND_BOTTOM);
    for (unsigned count = 1; count < 8; count++) {
        for (unsigned cycle = 0; cycle < count; cycle++) {
            s = async_stack(cputype, count, cycle);
            s.awaiting = true;
            while (machsym_unwind_next(&desc, &s))
                CHECK(s.frame_count < 40);
            CHECK_EQ(s.end, MACHSYM_UNWIND_WRONG_WAY);
            CHECK(s.frame_count >= count);
        }
    }
    s = async_stack(cputype, 2, 9);
    stack[4] += 4 - (cputype == ms_CPU_ARM64_32); /* a context in the middle of a word */
    s.awaiting = true;
    CHECK(machsym_unwind_next(&desc, &s));
    CHECK(!machsym_unwind_next(&desc, &s));
    CHECK_EQ(s.end, MACHSYM_UNWIND_NO_FRAME);
    s = async_stack(cputype, 2, 9);
    stack[5] |= UINT64_C(2) << 60; /* another tag */
    s.awaiting = true;
    CHECK(machsym_unwind_next(&desc, &s));
    CHECK(machsym_unwind_next(&desc, &s));
    CHECK_EQ(s.v[pc], 0x100004000);
}

static void test_async(void)
{
    check_async(ms_CPU_ARM64);
    check_async(ms_CPU_ARM64_32);
    check_async(ms_CPU_X86_64);
    machsym_unwind_desc desc = {read_memory, NULL, NULL, 0, 7};
    machsym_unwind_state s = registers(8, 4); /* no async frames of i386 */
    s.how = MACHSYM_UNWIND_ASYNC;
    s.awaiting = true;
    while (machsym_unwind_next(&desc, &s))
        CHECK(s.frame_count < 40);
}

/* Frames and tables at the end of the address space: nothing is read past it. */
static void test_last_addresses(void)
{
    machsym_unwind_image image;
    machsym_unwind_desc desc = {read_memory, NULL, NULL, 0, ms_CPU_ARM64};
    for (uint64_t fp = UINT64_MAX - 32; fp >= UINT64_MAX - 32; fp++) {
        machsym_unwind_state s = registers(32, 31);
        s.v[29] = fp;
        CHECK(!machsym_unwind_next(&desc, &s));
        CHECK(s.end != MACHSYM_UNWIND_GOES_ON);
    }
    memset(&image, 0, sizeof image);
    image.load_addr = LOAD;
    image.size = 0x4000;
    desc.images = &image;
    desc.image_count = 1;
    image.unwind_info.size = image.eh_frame.size = UINT64_MAX;
    for (uint64_t at = UINT64_MAX - 64; at >= UINT64_MAX - 64; at++) {
        machsym_unwind_state s = registers(32, 31);
        image.unwind_info.addr = image.eh_frame.addr = at;
        machsym_unwind_next(&desc, &s);
        CHECK(s.end != MACHSYM_UNWIND_GOES_ON || s.frame_count == 1);
    }
}

/* ---- Frames that stopped anywhere ---- */

static void test_every_instruction(void)
{
    for (size_t i = 0; i < TRACES; i++) {
        trace t;
        CHECK(trace_run(&t, traces[i], 5));
        CHECK(t.steps > 500);
        CHECK_EQ(t.wrong, 0);
        CHECK(t.how[MACHSYM_UNWIND_PROLOGUE] > 50);
        CHECK(t.how[MACHSYM_UNWIND_COMPACT] > 50);
        CHECK(i == 1 || t.how[MACHSYM_UNWIND_LEAF] > 20);
        trace_close(&t);
    }
}

/* A frame that stopped at the first of these instructions of a function with this entry in the compact table. */
static machsym_unwind_state stopped_in(const uint32_t *words, size_t count, uint32_t encoding)
{
    machsym_unwind_state s = registers(32, 31);
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = i < 4 * count ? (uint8_t)(words[i / 4] >> 8 * (i % 4)) : 0;
    s.v[32] = (uint64_t)LOAD + 0x1000;
    s.v[30] = (uint64_t)LOAD + 0x3000;
    s.v[31] = STACK + 8 * 8;
    s.v[29] = STACK + 20 * 8; /* the caller's record */
    machsym_unwind_state interrupted = s;
    interrupted.how = MACHSYM_UNWIND_SIGNAL; /* a signal stops a frame, too */
    interrupted = step(ms_CPU_ARM64, encoding, interrupted);
    s = step(ms_CPU_ARM64, encoding, s);
    memset(code, 0, sizeof code);
    CHECK_EQ(interrupted.v[32], s.v[32]);
    CHECK_EQ(interrupted.how, s.how);
    CHECK_EQ(s.v[32], LOAD + 0x3000);
    CHECK_EQ(s.v[31], STACK + 8 * 8);
    CHECK_EQ(s.v[29], STACK + 20 * 8);
    return s;
}

static machsym_unwind_state stopped_at(const uint32_t *words, size_t count)
{
    return stopped_in(words, count, 0x04000000);
}

/* A stub for an import has no entry; x16 and x17 are what the ABI gives to such code. The frame pointer is still its
 * caller's. seen: a PLT of aarch64 Linux; __stubs of arm64 and __auth_stubs of arm64e are alike. */
static void test_stubs(void)
{
    static const uint32_t plt[] = {0x90000510, 0xf9401a11, 0x9100c210,
                                   0xd61f0220};                          /* adrp; ldr; add; br x17 */
    static const uint32_t stub[] = {0x90000010, 0xf9400210, 0xd61f0200}; /* adrp; ldr x16; br x16 */
    static const uint32_t auth[] = {0x90000011, 0x91000231, 0xf9400230,
                                    0xd71f0a11}; /* adrp; add; ldr; braa */
    stack[20] = STACK + 30 * 8;                  /* the caller's record leads to the caller's caller */
    stack[21] = LOAD + 0x3800;
    for (unsigned at = 0; at < 4; at++) {
        CHECK_EQ(stopped_in(plt + at, 4 - at, 0).how, MACHSYM_UNWIND_LEAF);
        CHECK_EQ(stopped_in(auth + at, 4 - at, 0).how, MACHSYM_UNWIND_LEAF);
        if (at < 3)
            CHECK_EQ(stopped_in(stub + at, 3 - at, 0).how, MACHSYM_UNWIND_LEAF);
    }
}

/* A case of a switch is no stub: another register has where it is, and the function has a frame. */
static void test_switches(void)
{
    static const uint32_t other[] = {0x8b0a0128, 0xd61f0100}; /* add x8, x9, x10; br x8 */
    static const uint32_t hard[] = {0x8b110210, 0xd61f0200};  /* add x16, x16, x17; br x16 */
    machsym_unwind_state s = registers(32, 31);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < 8; k++)
            code[k] = (uint8_t)((i == 0 ? other : hard)[k / 4] >> 8 * (k % 4));
        s = registers(32, 31);
        s.v[32] = (uint64_t)LOAD + 0x1000;
        s.v[30] = (uint64_t)LOAD + 0x3000; /* of a call that has returned */
        s.v[31] = STACK + 8 * 8;
        s.v[29] = STACK + 20 * 8;
        stack[20] = STACK + 30 * 8;
        stack[21] = LOAD + 0x3800;
        s = step(ms_CPU_ARM64, i == 0 ? 0 : 0x04000000, s);
        CHECK_EQ(s.v[32], LOAD + 0x3800);
    }
    memset(code, 0, sizeof code);
}

/* A call of no function, as through a null pointer: only the call itself happened. The frame pointer is the caller's. */
static void test_nowhere(void)
{
    static const uint32_t calls[] = {0xd63f0100, 0xd73f0a11, 0x94000003}; /* blr x8; blraa x16, x17; bl */
    static const uint8_t x86_64[][8] = {
        {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0},  /* call rax */
        {0x90, 0x90, 0x90, 0x90, 0xff, 0x55, 0xf8, 0x90},  /* not right before */
        {0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x55, 0xf8}}; /* call [rbp - 8] */
    for (unsigned i = 0; i < 4; i++) {
        machsym_unwind_state s = registers(32, 31);
        memset(code, 0, sizeof code);
        for (unsigned k = 0; k < 4 && i < 3; k++)
            code[k] = (uint8_t)(calls[i] >> 8 * k);
        s.v[32] = i;
        s.v[30] = (uint64_t)LOAD + 0x1004;
        s.v[31] = STACK + 8 * 8;
        s.v[29] = STACK + 20 * 8;
        stack[20] = STACK + 30 * 8;
        stack[21] = LOAD + 0x3800;
        s = step(ms_CPU_ARM64, 0x04000000, s);
        CHECK_EQ(s.how, i < 3 ? MACHSYM_UNWIND_LEAF : MACHSYM_UNWIND_FP);
        CHECK_EQ(s.v[32], i < 3 ? LOAD + 0x1004 : LOAD + 0x3800);
        CHECK_EQ(s.v[31], i < 3 ? STACK + 8 * 8 : STACK + 22 * 8);
        CHECK_EQ(s.known >> 30 & 1, 0);
        if (i == 1) { /* code that is not known has made its frame: the record has the same */
            machsym_unwind_state made = registers(32, 31);
            made.v[32] = 8;
            stack[20] = STACK + 30 * 8;
            made.v[30] = stack[21] = (uint64_t)LOAD + 0x1004;
            made.v[31] = made.v[29] = STACK + 20 * 8;
            made = step(ms_CPU_ARM64, 0x04000000, made);
            CHECK_EQ(made.how, MACHSYM_UNWIND_FP);
            CHECK_EQ(made.v[29], STACK + 30 * 8);
            stack[21] = LOAD + 0x3800;
        }
        if (i == 0) { /* and what calls, does so as any function does */
            s = step(ms_CPU_ARM64, 0x04000000, s);
            CHECK_EQ(s.v[32], LOAD + 0x3800);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        machsym_unwind_state s = registers(16, 7);
        memset(code, 0, sizeof code);
        memcpy(code, x86_64[i], 8);
        s.v[16] = i;
        s.v[7] = STACK + 8 * 8;
        s.v[6] = STACK + 20 * 8;
        stack[8] = LOAD + 0x1008;
        stack[20] = STACK + 30 * 8;
        stack[21] = LOAD + 0x3800;
        s = step(ms_CPU_X86_64, 0x01000000, s);
        CHECK_EQ(s.v[16], i != 1 ? LOAD + 0x1008 : LOAD + 0x3800);
        CHECK_EQ(s.v[7], STACK + (i != 1 ? 9 : 22) * 8);
        CHECK_EQ(s.v[6], STACK + (i != 1 ? 20 : 30) * 8);
    }
    memset(code, 0, sizeof code);
}

/* A function of x86_64 takes its frame down and goes to another one by a register, which returns for it, or returns. What it
 * returns to need not follow a call that can be seen: 0x3000 has no code. */
static void test_takes_down(void)
{
    static const uint8_t leaves[][12] = {
        {0x48, 0x83, 0xc4, 0x18, 0xff, 0xe0},             /* add rsp, 0x18; jmp rax */
        {0x48, 0x83, 0xec, 0xe8, 0xff, 0xe0},             /* sub rsp, -0x18; jmp rax */
        {0xf6, 0xc3, 0x01, 0x48, 0x83, 0xc4, 0x18, 0xc3}, /* test bl, 1; add rsp, 0x18; ret */
        {0xf7, 0xc3, 0x01, 0x00, 0x00, 0x00, 0x48, 0x83, 0xc4, 0x18, 0xc3}, /* test ebx, 1; the same */
        {0xf6, 0xd3, 0x48, 0x83, 0xc4, 0x18, 0xc3}, /* not bl, which has no constant */
    };
    for (unsigned i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        machsym_unwind_state s = registers(16, 7);
        memset(code, 0, sizeof code);
        memcpy(code, leaves[i], sizeof leaves[i]);
        s.v[16] = LOAD + 0x1000;
        s.v[7] = STACK + 5 * 8;
        s.v[6] = STACK + 20 * 8;
        stack[8] = LOAD + 0x3000;
        stack[20] = STACK + 30 * 8;
        stack[21] = LOAD + 0x3800;
        s = step(ms_CPU_X86_64, 0x01000000, s);
        CHECK_EQ(s.v[16], LOAD + 0x3000);
        CHECK_EQ(s.v[7], STACK + 9 * 8);
        CHECK_EQ(s.v[6], STACK + 20 * 8);
    }
    memset(code, 0, sizeof code);
}

/* Pieces of a prologue that do one thing only: set fp; nothing, and their caller restores lr. */
static void test_one_thing(void)
{
    static const uint32_t sets_fp[] = {
        0xa9bf7bfd,                         /* stp x29, x30, [sp, #-16]! */
        0x94000003, 0x94000005, 0x00000000, /* bl the piece; bl another function */
        0x910003fd, 0xd65f03c0, 0x00000000, /* the piece: mov x29, sp; ret */
        0xd65f03c0,                         /* the other: ret */
    };
    static const uint32_t restores_lr[] = {
        0xaa1e03ef,                         /* mov x15, x30 */
        0x94000003, 0xaa0f03fe, 0xd65f03c0, /* bl; mov x30, x15; ret */
        0x91000400, 0xd65f03c0,             /* the piece: add x0, x0, #1; ret */
    };
    CHECK_EQ(stopped_at(sets_fp, sizeof sets_fp / 4).how, MACHSYM_UNWIND_PROLOGUE);
    CHECK_EQ(stopped_at(restores_lr, sizeof restores_lr / 4).how, MACHSYM_UNWIND_LEAF);
}

/* Functions that never return, in their first instruction: one loops, one traps. */
static void test_never_returns(void)
{
    static const uint32_t loops[] = {0xa9bf7bfd, 0x910003fd, 0x14000000}; /* stp; mov x29, sp; b . */
    static const uint32_t traps[] = {0xa9bf7bfd, 0x910003fd, 0xd4200020}; /* stp; mov x29, sp; brk #1 */
    static const uint32_t later[] = {0xd10083ff, 0xa9017bfd, 0x910043fd,  /* sub sp; stp; add x29, sp, #16 */
                                     0x34000060, 0xd503201f, 0xd4200020,  /* cbz over the trap */
                                     0x14000000};
    static const uint8_t x86_64[] = {0x55, 0x48, 0x89, 0xe5, 0xeb, 0xfe}; /* push rbp; mov rbp, rsp; jmp . */
    CHECK_EQ(stopped_at(loops, 3).how, MACHSYM_UNWIND_PROLOGUE);
    CHECK_EQ(stopped_at(traps, 3).how, MACHSYM_UNWIND_PROLOGUE);
    CHECK_EQ(stopped_at(later, 7).how, MACHSYM_UNWIND_PROLOGUE);
    uint32_t longer[MACHSYM_MAX_AHEAD + 20]; /* than what is followed */
    for (unsigned i = 0; i < sizeof longer / 4; i++)
        longer[i] = i < 2 ? loops[i] : 0xd503201f; /* nop */
    CHECK_EQ(stopped_at(longer, sizeof longer / 4).how, MACHSYM_UNWIND_PROLOGUE);
    for (unsigned done = 0; done < 3; done++) { /* before push, before mov, after both */
        machsym_unwind_state s = registers(16, 7);
        memcpy(code, x86_64, sizeof x86_64);
        s.v[16] = LOAD + 0x1000 + (done == 0 ? 0 : done == 1 ? 1 : 4);
        s.v[7] = STACK + 8 * 8 - (done == 0 ? 0 : 8);
        s.v[6] = done == 2 ? STACK + 7 * 8 : STACK + 20 * 8;
        stack[7] = STACK + 20 * 8;
        stack[8] = LOAD + 0x3000;
        s = step(ms_CPU_X86_64, 0x01000000, s);
        memset(code, 0, sizeof code);
        CHECK_EQ(s.v[16], LOAD + 0x3000);
        CHECK_EQ(s.v[7], STACK + 9 * 8);
        CHECK_EQ(s.v[6], STACK + 20 * 8);
    }
}

/* The caller of a leaf is no piece: its own caller's stack has to lie above it. */
static void test_after_leaf(void)
{
    static const uint32_t leaf[] = {0xd65f03c0};
    machsym_unwind_state s = stopped_at(leaf, 1);
    CHECK_EQ(s.how, MACHSYM_UNWIND_LEAF);
    s.v[29] = s.v[31] - 16;
    s = step(ms_CPU_ARM64, 0x04000000, s);
    CHECK_EQ(s.end, MACHSYM_UNWIND_WRONG_WAY);
}

/* Memory that goes away in the middle of a step costs the frame, or the answer is the table's. */
static void test_failing_reads(void)
{
    for (size_t i = 0; i < TRACES; i++) {
        machsym_unwind_state s;
        trace t;
        CHECK(trace_open(&t, traces[i]));
        for (unsigned n = 0; n < 400 && trace_next(&t, &s); n++) {
            machsym_unwind_state first = s;
            for (t.fails_at = 1; t.fails_at < 40; t.fails_at += 1 + t.fails_at / 4) {
                t.reads = 0;
                s = first;
                machsym_unwind_next(&t.desc, &s);
                CHECK(s.end != MACHSYM_UNWIND_GOES_ON || s.frame_count == 1);
            }
            t.fails_at = 0;
        }
        trace_close(&t);
    }
}

/* Code of other bytes: whatever it says, a step ends, and a caller is above its callee. */
static void test_other_code(void)
{
    uint64_t seed = 1, found = 0;
    for (size_t i = 0; i < TRACES; i++) {
        machsym_unwind_state s;
        trace t;
        CHECK(trace_open(&t, traces[i]));
        for (unsigned n = 0; n < 900 && trace_next(&t, &s); n++) {
            machsym_unwind_state first = s;
            uint64_t off = s.v[t.pc] - t.parts[0].addr;
            for (unsigned k = 0; k < 24; k++) {
                seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
                uint8_t *byte = &t.parts[0].v[off + (seed >> 59)];
                uint8_t before = *byte;
                *byte = (uint8_t)(seed >> 40);
                s = first;
                found += machsym_unwind_next(&t.desc, &s);
                CHECK(s.end != MACHSYM_UNWIND_GOES_ON || s.v[t.sp] >= first.v[t.sp]);
                if (k % 3 == 0)
                    *byte = before;
            }
        }
        trace_close(&t);
    }
    CHECK(found > 1000);
}

int main(void)
{
    test_every_instruction();
    test_one_thing();
    test_stubs();
    test_switches();
    test_nowhere();
    test_takes_down();
    test_never_returns();
    test_after_leaf();
    test_failing_reads();
    test_other_code();
    test_arm64();
    test_last_addresses();
    test_x86_64();
    test_i386();
    test_unknown();
    test_arguments();
    test_pages();
    test_cut_tables();
    test_extremes();
    test_lies();
    test_endless();
    test_async();
    test_long_search();
    test_random_stacks();
    return test_done();
}
