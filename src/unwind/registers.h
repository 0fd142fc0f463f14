#ifndef ms_ROOM_unwind_registers
#define ms_ROOM_unwind_registers
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../macho/macho.h"

/* ==== >>unwind-registers ===================================================================================
 * Job:    the registers of a frame, and the memory that the callback reads.
 * Offers: ms_unr_arch_of, ms_unr_set, ms_unr_knows, ms_unr_word, ms_unr_words, ms_unr_fetch,
 *         ms_unr_fetched, ms_unr_load.
 * Never:  knows how a frame is laid out. */

#ifndef MACHSYM_NO_UNWIND

/* Indexes of registers in machsym_unwind_state.v */
enum {
    ms_UNR_CPU_I386 = 7, /* machine.h: CPU_TYPE_I386 */
    ms_UNR_NONE = 255,
    ms_UNR_ARM64_X16 = 16,
    ms_UNR_AT_ONCE = 20, /* words of one read: functions save up to 12 registers */
    ms_UNR_ARM64_X19 = 19,
    ms_UNR_ARM64_X22 = 22,
    ms_UNR_ARM64_FP = 29,
    ms_UNR_ARM64_LR = 30,
    ms_UNR_ARM64_SP = 31,
    ms_UNR_ARM64_PC = 32,
    ms_UNR_X86_RBX = 3,
    ms_UNR_X86_RBP = 6,
    ms_UNR_X86_RSP = 7,
    ms_UNR_X86_R12 = 12,
    ms_UNR_X86_R14 = 14,
    ms_UNR_X86_RIP = 16,
    ms_UNR_I386_ECX = 1,
    ms_UNR_I386_EDX = 2,
    ms_UNR_I386_EBX = 3,
    ms_UNR_I386_ESP = 4,
    ms_UNR_I386_EBP = 5,
    ms_UNR_I386_ESI = 6,
    ms_UNR_I386_EDI = 7,
    ms_UNR_I386_EIP = 8
};

/* The register numbers of one kind of processor. kept: one bit for each register that a function preserves.
 * word: bytes of a saved register; 0: stacks of this processor cannot be unwound. addr: bytes of an address
 * in tables. */
typedef struct ms_unr_arch {
    uint64_t kept;
    uint8_t fp, sp, pc, word, addr;
    uint8_t async; /* the register that has Swift's async context */
    bool is_arm64;
} ms_unr_arch;

static ms_NOINLINE const ms_unr_arch *ms_unr_arch_of(uint32_t cputype)
{
    /* x19 to x28, fp; rbx, rbp, r12 to r15; ebx, ebp, esi, edi. seen: gcc -m32 has a macro i386. Frames of
     * arm64_32 also have words of 8 bytes. */
    static const ms_unr_arch of_arm64 = {
        0x3ff80000, ms_UNR_ARM64_FP, ms_UNR_ARM64_SP, ms_UNR_ARM64_PC, 8, 8, ms_UNR_ARM64_X22, true};
    static const ms_unr_arch of_arm64_32 = {
        0x3ff80000, ms_UNR_ARM64_FP, ms_UNR_ARM64_SP, ms_UNR_ARM64_PC, 8, 4, ms_UNR_ARM64_X22, true};
    static const ms_unr_arch of_x86_64 = {0xf048, ms_UNR_X86_RBP, ms_UNR_X86_RSP, ms_UNR_X86_RIP, 8,
                                          8,      ms_UNR_X86_R14, false};
    static const ms_unr_arch of_i386 = {
        0xe8, ms_UNR_I386_EBP, ms_UNR_I386_ESP, ms_UNR_I386_EIP, 4, 4, ms_UNR_NONE, false};
    static const ms_unr_arch none = {0, 0, 0, 0, 0, 0, ms_UNR_NONE, false};
    switch (cputype) {
    case ms_CPU_ARM64: return &of_arm64;
    case ms_CPU_ARM64_32: return &of_arm64_32;
    case ms_CPU_X86_64: return &of_x86_64;
    case ms_UNR_CPU_I386: return &of_i386;
    default: return &none;
    }
}

static void ms_unr_set(machsym_unwind_state *s, unsigned number, uint64_t value)
{
    s->v[number] = value;
    s->known |= (uint64_t)1 << number;
}

static bool ms_unr_knows(const machsym_unwind_state *s, unsigned number)
{
    return (s->known >> number & 1) != 0;
}

static ms_NOINLINE bool ms_unr_word(const machsym_unwind_desc *desc, unsigned size, uint64_t addr,
                                    uint64_t *out)
{
    uint8_t raw[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    uint64_t end;
    if (!ms_add_ok(addr, size, &end) || !desc->read(desc->ctx, addr, raw, size))
        return false;
    *out = ms_rd_raw_u64(raw);
    return true;
}

/* Words that lie one after the other, at most ms_UNR_AT_ONCE: most often with one read, because a read may be
 * a system call. */
typedef struct ms_unr_words {
    uint64_t addr; /* of the first */
    unsigned size; /* of one */
    unsigned count;
    bool is_whole; /* all are here */
    uint8_t bytes[8 * ms_UNR_AT_ONCE];
} ms_unr_words;

static void ms_unr_fetch(const machsym_unwind_desc *desc, unsigned size, uint64_t addr, unsigned count,
                         ms_unr_words *out)
{
    uint64_t end;
    out->addr = addr;
    out->size = size;
    out->count = count;
    out->is_whole = count > 1 && count <= ms_UNR_AT_ONCE && ms_add_ok(addr, size * count, &end) &&
                    desc->read(desc->ctx, addr, out->bytes, size * count);
}

/* The word at an address. One that was not fetched is read alone: memory may end between two. */
static bool ms_unr_fetched(const machsym_unwind_desc *desc, const ms_unr_words *words, uint64_t addr,
                           uint64_t *out)
{
    uint64_t off = addr - words->addr;
    if (!words->is_whole || off > (uint64_t)words->size * (words->count - 1))
        return ms_unr_word(desc, words->size, addr, out);
    *out = words->size == 8 ? ms_rd_raw_u64(words->bytes + off) : ms_rd_raw_u32(words->bytes + off);
    return true;
}

/* Loads a saved register. If it cannot be read, it is unknown from there on. */
static void ms_unr_load(const machsym_unwind_desc *desc, machsym_unwind_state *s, unsigned number,
                        const ms_unr_words *words, uint64_t addr)
{
    uint64_t value;
    if (ms_unr_fetched(desc, words, addr, &value))
        ms_unr_set(s, number, value);
    else
        s->known &= ~((uint64_t)1 << number);
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_registers */
