/* Code that only jumps: every form as llvm-mc encodes it, cut short, and code that does something else. */
#define TEST_ROOM <rooms/src/macho/code.h>
#include "test.h"
#include "make.h"

enum { AT = 0x100000ff8, PAGE = 0x100005000 }; /* ADRP x, #0x5000 at AT gives PAGE */

static const uint32_t adrp_16 = 0xb0000030; /* adrp x16, #0x5000 */
static const uint32_t adrp_17 = 0xb0000031;
static const uint32_t add_16 = 0x91048e10;  /* add x16, x16, #0x123 */
static const uint32_t add_17 = 0x91008231;  /* add x17, x17, #0x20 */
static const uint32_t load_17 = 0xf9400230; /* ldr x16, [x17] */
static const uint32_t load_16 = 0xf9401610; /* ldr x16, [x16, #0x28] */
static const uint32_t load_32 = 0xb9401610; /* ldr w16, [x16, #0x14] */
static const uint32_t br_16 = 0xd61f0200;
static const uint32_t braa = 0xd71f0a11;  /* braa x16, x17 */
static const uint32_t brab = 0xd71f0e11;  /* brab x16, x17 */
static const uint32_t braaz = 0xd61f0a1f; /* braaz x16 */
static const uint32_t blr_16 = 0xd63f0200;
static const uint32_t ret = 0xd65f03c0;

static void is(uint32_t cputype, bytes *code, ms_code_kind kind, uint64_t addr)
{
    ms_code_jump jump = ms_code_read_jump(cputype, ms_span_make(code->v, code->len), AT);
    CHECK_EQ(jump.kind, kind);
    CHECK_EQ(jump.addr, addr);
    for (size_t len = 0; len < code->len && kind != ms_CODE_OTHER; len++)
        CHECK_EQ(ms_code_read_jump(cputype, ms_span_make(code->v, len), AT).kind, ms_CODE_OTHER);
    bytes_free(code);
}

static void arm64(uint32_t a, uint32_t b, uint32_t c, uint32_t d, ms_code_kind kind, uint64_t addr)
{
    uint32_t words[4];
    bytes code = {NULL, 0, 0};
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
    for (unsigned i = 0; i < 4 && words[i] != 0; i++)
        put32(&code, words[i]);
    is(ms_CPU_ARM64, &code, kind, addr);
}

static void test_arm64(void)
{
    arm64(0x14000400, 0, 0, 0, ms_CODE_TO, (uint64_t)AT + 0x1000); /* b */
    arm64(0x17fffffe, 0, 0, 0, ms_CODE_TO, (uint64_t)AT - 8);
    arm64(adrp_16, add_16, br_16, 0, ms_CODE_TO, (uint64_t)PAGE + 0x123);
    arm64(adrp_16, load_16, br_16, 0, ms_CODE_THROUGH, (uint64_t)PAGE + 0x28);
    arm64(adrp_16, load_16, braaz, 0, ms_CODE_THROUGH, (uint64_t)PAGE + 0x28);
    arm64(adrp_16, load_32, br_16, 0, ms_CODE_THROUGH, (uint64_t)PAGE + 0x14);
    arm64(adrp_17, add_17, load_17, braa, ms_CODE_THROUGH, (uint64_t)PAGE + 0x20);
    arm64(adrp_17, add_17, load_17, brab, ms_CODE_THROUGH, (uint64_t)PAGE + 0x20);
    arm64(adrp_17, add_16, br_16, 0, ms_CODE_OTHER, 0);  /* of another register */
    arm64(adrp_17, load_16, br_16, 0, ms_CODE_OTHER, 0); /* the same */
    arm64(adrp_16, add_16, load_17, br_16, ms_CODE_OTHER, 0);
    arm64(adrp_16, load_16, blr_16, 0, ms_CODE_OTHER, 0); /* a call, which comes back */
    arm64(adrp_16, load_16, ret, 0, ms_CODE_OTHER, 0);
    arm64(adrp_16, ret, 0, 0, ms_CODE_OTHER, 0);
    arm64(ret, br_16, 0, 0, ms_CODE_OTHER, 0);
}

/* The ends of what each field can say. The codes are those of llvm-mc. */
static void test_arm64_ends(void)
{
    const uint32_t add_all = 0x913ffe10;  /* add x16, x16, #0xfff */
    const uint32_t load_all = 0xf97ffe10; /* ldr x16, [x16, #0x7ff8] */
    const uint64_t page = AT & ~(uint64_t)0xfff;
    arm64(0x15ffffff, 0, 0, 0, ms_CODE_TO, (uint64_t)AT + 0x7fffffc);            /* b #0x7fffffc */
    arm64(0x16000000, 0, 0, 0, ms_CODE_TO, (uint64_t)AT - 0x8000000);            /* b #-0x8000000 */
    arm64(0xf0ffffd0, br_16, 0, 0, ms_CODE_OTHER, 0);                            /* adrp alone */
    arm64(0xf0ffffd0, add_all, br_16, 0, ms_CODE_TO, page - 0x5000 + 0xfff);     /* adrp x16, #-0x5000 */
    arm64(0xf07ffff0, add_all, br_16, 0, ms_CODE_TO, page + 0xfffff000 + 0xfff); /* #0xfffff000 */
    arm64(0x90800010, load_all, br_16, 0, ms_CODE_THROUGH, page - 0x100000000 + 0x7ff8); /* #-0x100000000 */
}

static void x86_64(const char *text, size_t len, ms_code_kind kind, uint64_t addr)
{
    bytes code = {NULL, 0, 0};
    put(&code, text, len);
    is(ms_CPU_X86_64, &code, kind, addr);
}

static void test_x86_64(void)
{
    x86_64("\xff\x25\x34\x12\0\0", 6, ms_CODE_THROUGH, (uint64_t)AT + 6 + 0x1234);
    x86_64("\xff\x25\xf0\xff\xff\xff", 6, ms_CODE_THROUGH, (uint64_t)AT + 6 - 0x10);
    x86_64("\xe9\0\x10\0\0", 5, ms_CODE_TO, (uint64_t)AT + 5 + 0x1000);
    x86_64("\xff\x15\x10\0\0\0", 6, ms_CODE_OTHER, 0); /* a call */
    x86_64("\x90\xe9\0\0\0\0", 6, ms_CODE_OTHER, 0);
}

int main(void)
{
    bytes code = {NULL, 0, 0};
    put32(&code, 0x14000400);
    is(ms_CPU_ARM, &code, ms_CODE_OTHER, 0); /* 32-bit code is not read */
    test_arm64();
    test_arm64_ends();
    test_x86_64();
    return test_done();
}
