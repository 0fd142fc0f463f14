#ifndef ms_ROOM_macho_code
#define ms_ROOM_macho_code
#include "../base/bytes.h"
#include "../base/reader.h"
#include "macho.h"

/* ==== >>code ===============================================================================================
 * Job:    tells where code that does nothing but jump goes.
 * Offers: ms_code_jump, ms_code_read_jump, ms_code_page.
 * Never:  reads more than four instructions; says anything of code that does something else first. */

typedef enum ms_code_kind {
    ms_CODE_OTHER = 0, /* it does something else */
    ms_CODE_TO,        /* to an address */
    ms_CODE_THROUGH    /* to where the pointer at an address points */
} ms_code_kind;

/* Where code jumps. */
typedef struct ms_code_jump {
    ms_code_kind kind;
    uint64_t addr;
} ms_code_jump;

static ms_code_jump ms_code_make(ms_code_kind kind, uint64_t addr)
{
    ms_code_jump jump;
    jump.kind = kind;
    jump.addr = addr;
    return jump;
}

/* A signed number of a number of bits. */
static int64_t ms_code_signed(uint32_t value, unsigned bits)
{
    uint32_t top = (uint32_t)1 << (bits - 1);
    value &= top * 2 - 1;
    return (int64_t)value - (int64_t)((uint64_t)(value & top) * 2);
}

/* The page that ADRP gives. Arm ARM C6.2.11: 21 bits, the lower two of them in bits 29 and 30. */
static uint64_t ms_code_page(uint32_t adrp, uint64_t addr)
{
    uint32_t pages = (adrp >> 3 & 0x1ffffc) | (adrp >> 29 & 3);
    return (addr & ~(uint64_t)0xfff) + (uint64_t)ms_code_signed(pages, 21) * 4096;
}

static uint32_t ms_code_word(ms_span code, size_t index)
{
    ms_rd rd = ms_rd_at(code, index * 4);
    return ms_rd_u32(&rd);
}

/* Whether an instruction jumps to the address in a register: BR, BRAA, BRAB, BRAAZ, BRABZ. */
static bool ms_code_is_branch(uint32_t word, uint32_t reg)
{
    bool is_plain = (word & 0xfffffc1f) == 0xd61f0000;
    bool is_signed = (word & 0xfefff800) == 0xd61f0800;
    return (is_plain || is_signed) && (word >> 5 & 31) == reg;
}

/* Instruction number at loads a pointer, which lies at a register plus an offset, and the next one jumps to
 * it. LDR of 64 bits, or of 32 bits as in arm64_32. */
static ms_code_jump ms_code_load(ms_span code, size_t at, uint32_t base_reg, uint64_t base)
{
    uint32_t load = ms_code_word(code, at);
    bool is_wide = (load & 0xffc00000) == 0xf9400000;
    bool is_load = (is_wide || (load & 0xffc00000) == 0xb9400000) && (load >> 5 & 31) == base_reg;
    if (!is_load || !ms_code_is_branch(ms_code_word(code, at + 1), load & 31))
        return ms_code_make(ms_CODE_OTHER, 0);
    return ms_code_make(ms_CODE_THROUGH, base + (uint64_t)(load >> 10 & 0xfff) * (is_wide ? 8 : 4));
}

/* B; ADRP, ADD, BR; ADRP, LDR, BR; ADRP, ADD, LDR, BRAA. */
static ms_code_jump ms_code_read_arm64(ms_span code, uint64_t addr)
{
    uint32_t first = ms_code_word(code, 0);
    uint32_t second = ms_code_word(code, 1);
    if ((first & 0xfc000000) == 0x14000000)
        return ms_code_make(ms_CODE_TO, addr + (uint64_t)ms_code_signed(first, 26) * 4);
    if ((first & 0x9f000000) != 0x90000000)
        return ms_code_make(ms_CODE_OTHER, 0);
    uint64_t page = ms_code_page(first, addr);
    if ((second & 0xffc00000) != 0x91000000) /* ADD of 12 bits */
        return ms_code_load(code, 1, first & 31, page);
    if ((second >> 5 & 31) != (first & 31))
        return ms_code_make(ms_CODE_OTHER, 0);
    uint64_t sum = page + (second >> 10 & 0xfff);
    if (ms_code_is_branch(ms_code_word(code, 2), second & 31))
        return ms_code_make(ms_CODE_TO, sum);
    return ms_code_load(code, 2, second & 31, sum);
}

/* JMP to a distance, and through a pointer at a distance. */
static ms_code_jump ms_code_read_x86_64(ms_span code, uint64_t addr)
{
    ms_rd rd = ms_rd_make(code);
    bool is_near = ms_rd_u8(&rd) == 0xe9;
    bool is_through = !is_near && code.len > 0 && code.ptr[0] == 0xff && ms_rd_u8(&rd) == 0x25;
    uint64_t distance = (uint64_t)ms_code_signed(ms_rd_u32(&rd), 32);
    if ((!is_near && !is_through) || rd.failed)
        return ms_code_make(ms_CODE_OTHER, 0);
    return ms_code_make(is_near ? ms_CODE_TO : ms_CODE_THROUGH, addr + (is_near ? 5 : 6) + distance);
}

/* Where code at an address goes, if all that it does is jump. */
static ms_code_jump ms_code_read_jump(uint32_t cputype, ms_span code, uint64_t addr)
{
    switch (cputype) {
    case ms_CPU_ARM64:
    case ms_CPU_ARM64_32: return ms_code_read_arm64(code, addr);
    case ms_CPU_X86_64: return ms_code_read_x86_64(code, addr);
    default: return ms_code_make(ms_CODE_OTHER, 0);
    }
}

#endif /* ms_ROOM_macho_code */
