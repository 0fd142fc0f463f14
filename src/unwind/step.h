#ifndef ms_ROOM_unwind_step
#define ms_ROOM_unwind_step
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../macho/macho.h"
#include "../macho/compact.h"
#include "compact.h"

/* ==== >>unwind step ========================================================================================
 * Job:    makes the caller's registers of a frame's.
 * Offers: ms_uns_next.
 * Never:  allocates; reads a stack but through the callback. */

#ifndef MACHSYM_NO_UNWIND

/* Places of registers in machsym_unwind_state.v */
enum {
    ms_UNS_CPU_I386 = 7, /* machine.h: CPU_TYPE_I386 */
    ms_UNS_NONE = 255,
    ms_UNS_ARM64_X19 = 19,
    ms_UNS_ARM64_FP = 29,
    ms_UNS_ARM64_LR = 30,
    ms_UNS_ARM64_SP = 31,
    ms_UNS_ARM64_PC = 32,
    ms_UNS_X86_RBX = 3,
    ms_UNS_X86_RBP = 6,
    ms_UNS_X86_RSP = 7,
    ms_UNS_X86_R12 = 12,
    ms_UNS_X86_RIP = 16,
    ms_UNS_I386_ECX = 1,
    ms_UNS_I386_EDX = 2,
    ms_UNS_I386_EBX = 3,
    ms_UNS_I386_ESP = 4,
    ms_UNS_I386_EBP = 5,
    ms_UNS_I386_ESI = 6,
    ms_UNS_I386_EDI = 7,
    ms_UNS_I386_EIP = 8
};

/* What one kind of processor calls its registers. kept: those that a function hands back as it got them, a
 * bit for each. word: the bytes of a saved register; 0: no processor that can be unwound. */
typedef struct ms_uns_arch {
    uint64_t kept;
    uint8_t fp, sp, pc, word;
    bool is_arm64;
} ms_uns_arch;

static ms_uns_arch ms_uns_arch_of(uint32_t cputype)
{
    /* x19 to x28, fp; rbx, rbp, r12 to r15; ebx, ebp, esi, edi. seen: gcc -m32 has a macro i386. */
    static const ms_uns_arch of_arm64 = {0x3ff80000, ms_UNS_ARM64_FP, ms_UNS_ARM64_SP, ms_UNS_ARM64_PC, 8,
                                         true};
    static const ms_uns_arch of_x86_64 = {0xf048, ms_UNS_X86_RBP, ms_UNS_X86_RSP, ms_UNS_X86_RIP, 8, false};
    static const ms_uns_arch of_i386 = {0xe8, ms_UNS_I386_EBP, ms_UNS_I386_ESP, ms_UNS_I386_EIP, 4, false};
    static const ms_uns_arch none = {0, 0, 0, 0, 0, false};
    switch (cputype) {
    case ms_CPU_ARM64:
    case ms_CPU_ARM64_32: return of_arm64; /* its frames have words of 8 bytes, too */
    case ms_CPU_X86_64: return of_x86_64;
    case ms_UNS_CPU_I386: return of_i386;
    default: return none;
    }
}

static void ms_uns_set(machsym_unwind_state *s, unsigned number, uint64_t value)
{
    s->v[number] = value;
    s->known |= (uint64_t)1 << number;
}

static bool ms_uns_knows(const machsym_unwind_state *s, unsigned number)
{
    return (s->known >> number & 1) != 0;
}

static bool ms_uns_word(const machsym_unwind_desc *desc, unsigned size, uint64_t addr, uint64_t *out)
{
    uint8_t raw[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    uint64_t end;
    if (!ms_add_ok(addr, size, &end) || !desc->read(desc->ctx, addr, raw, size))
        return false;
    *out = ms_rd_raw_u64(raw);
    return true;
}

/* Loads a register that was saved. One that cannot be read is not known from there on. */
static void ms_uns_load(const machsym_unwind_desc *desc, machsym_unwind_state *s, unsigned number,
                        unsigned size, uint64_t addr)
{
    uint64_t value;
    if (ms_uns_word(desc, size, addr, &value))
        ms_uns_set(s, number, value);
    else
        s->known &= ~((uint64_t)1 << number);
}

/* The frame that a frame pointer leads to: the caller's frame pointer, above it the return address. */
static bool ms_uns_frame(const machsym_unwind_desc *desc, ms_uns_arch arch, machsym_unwind_state *s)
{
    uint64_t at = s->v[arch.fp], fp, pc;
    if (!ms_uns_knows(s, arch.fp) || at % arch.word != 0 || !ms_uns_word(desc, arch.word, at, &fp) ||
        !ms_uns_word(desc, arch.word, at + arch.word, &pc))
        return false;
    ms_uns_set(s, arch.fp, fp);
    ms_uns_set(s, arch.sp, at + 2 * (uint64_t)arch.word);
    ms_uns_set(s, arch.pc, pc);
    return true;
}

/* Pairs of registers are saved below each other from at down, x19 and x20 first. The pairs of floating-point
 * registers come after them, so that they move none. */
static void ms_uns_arm64_pairs(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding,
                               uint64_t at)
{
    for (unsigned i = 0; i < 5; i++) {
        if ((encoding >> i & 1) == 0)
            continue;
        ms_uns_load(desc, s, ms_UNS_ARM64_X19 + 2 * i, 8, at);
        ms_uns_load(desc, s, ms_UNS_ARM64_X19 + 2 * i + 1, 8, at - 8);
        at -= 16;
    }
}

static bool ms_uns_arm64(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding)
{
    uint64_t fp = s->v[ms_UNS_ARM64_FP];
    switch (encoding & ms_UNC_MODE) {
    case ms_UNC_ARM64_FRAME:
        if (!ms_uns_frame(desc, ms_uns_arch_of(desc->cputype), s))
            return false;
        ms_uns_arm64_pairs(desc, s, encoding, fp - 8);
        return true;
    case ms_UNC_ARM64_FRAMELESS: {
        uint64_t size = (uint64_t)(encoding >> 12 & 0xfff) * 16;
        if (!ms_uns_knows(s, ms_UNS_ARM64_LR))
            return false; /* a call has overwritten it: only the first frame can be without one of its own */
        ms_uns_set(s, ms_UNS_ARM64_SP, s->v[ms_UNS_ARM64_SP] + size);
        ms_uns_arm64_pairs(desc, s, encoding, s->v[ms_UNS_ARM64_SP] - 8);
        ms_uns_set(s, ms_UNS_ARM64_PC, s->v[ms_UNS_ARM64_LR]);
        return true;
    }
    default: return false;
    }
}

/* The register that an encoding calls 1 to 6; 0 and 7 are none. */
static unsigned ms_uns_x86_register(uint32_t cputype, unsigned number)
{
    static const uint8_t of_x86_64[6] = {ms_UNS_X86_RBX, ms_UNS_X86_R12, 13, 14, 15, ms_UNS_X86_RBP};
    static const uint8_t of_i386[6] = {ms_UNS_I386_EBX, ms_UNS_I386_ECX, ms_UNS_I386_EDX,
                                       ms_UNS_I386_EDI, ms_UNS_I386_ESI, ms_UNS_I386_EBP};
    if (number == 0 || number > 6)
        return ms_UNS_NONE;
    return cputype == ms_CPU_X86_64 ? of_x86_64[number - 1] : of_i386[number - 1];
}

static bool ms_uns_x86_frame(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding)
{
    ms_uns_arch arch = ms_uns_arch_of(desc->cputype);
    uint64_t at = s->v[arch.fp] - (uint64_t)arch.word * (encoding >> 16 & 0xff);
    if (!ms_uns_frame(desc, arch, s))
        return false;
    for (unsigned i = 0; i < 5; i++) {
        unsigned number = ms_uns_x86_register(desc->cputype, encoding >> 3 * i & 7);
        if (number != ms_UNS_NONE)
            ms_uns_load(desc, s, number, arch.word, at);
        at += arch.word;
    }
    return true;
}

/* start: where the function begins, whose "sub rsp" has the size of a large stack. */
static bool ms_uns_x86_frameless(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding,
                                 uint64_t start)
{
    ms_uns_arch arch = ms_uns_arch_of(desc->cputype);
    uint8_t saved[ms_UNC_SAVED_MAX];
    uint64_t size = encoding >> 16 & 0xff, pc;
    unsigned count = ms_unc_saved(encoding, saved);
    if ((encoding & ms_UNC_MODE) == ms_UNC_X86_INDIRECT) {
        if (!ms_uns_word(desc, 4, start + size, &size))
            return false;
        size += (uint64_t)arch.word * (encoding >> 13 & 7);
    } else {
        size *= arch.word;
    }
    if (size < (uint64_t)arch.word * (count + 1) || (count == 0 && (encoding >> 10 & 7) != 0))
        return false;
    uint64_t cfa = s->v[arch.sp] + size, at = cfa - (uint64_t)arch.word * (count + 1);
    if (!ms_uns_word(desc, arch.word, cfa - arch.word, &pc))
        return false;
    for (unsigned i = 0; i < count; i++, at += arch.word)
        ms_uns_load(desc, s, ms_uns_x86_register(desc->cputype, saved[i]), arch.word, at);
    ms_uns_set(s, arch.sp, cfa);
    ms_uns_set(s, arch.pc, pc);
    return true;
}

static bool ms_uns_compact(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding,
                           uint64_t start)
{
    if (ms_uns_arch_of(desc->cputype).is_arm64)
        return ms_uns_arm64(desc, s, encoding);
    switch (encoding & ms_UNC_MODE) {
    case ms_UNC_X86_FRAME: return ms_uns_x86_frame(desc, s, encoding);
    case ms_UNC_X86_IMMEDIATE:
    case ms_UNC_X86_INDIRECT: return ms_uns_x86_frameless(desc, s, encoding, start);
    default: return false;
    }
}

static const machsym_unwind_image *ms_uns_image(const machsym_unwind_desc *desc, uint64_t pc)
{
    for (size_t i = 0; i < desc->image_count; i++) {
        MACHSYM_COUNT_WORK(1);
        if (pc >= desc->images[i].load_addr && pc - desc->images[i].load_addr < desc->images[i].size)
            return &desc->images[i];
    }
    return NULL;
}

static bool ms_uns_entry(const machsym_unwind_desc *desc, const machsym_unwind_image *image, uint64_t pc,
                         ms_unc_entry *out)
{
    const machsym_unwind_section *section = &image->unwind_info;
    ms_unt_table table;
    table.bytes = ms_span_make(section->bytes.ptr, section->bytes.len);
    table.read = section->bytes.ptr != NULL ? NULL : desc->read;
    table.ctx = desc->ctx;
    table.addr = section->addr;
    table.size = section->size;
    return ms_unc_find(&table, pc - image->load_addr, out);
}

/* One frame up. The address of a call is looked up a byte before its return address: a call may be the last
 * instruction of its function. Of a function without a table, only the frame pointer is known to be as its
 * caller left it. */
static bool ms_uns_up(const machsym_unwind_desc *desc, ms_uns_arch arch, machsym_unwind_state *s)
{
    uint64_t pc = s->v[arch.pc] - (s->frame_count != 0 ? 1 : 0);
    const machsym_unwind_image *image = ms_uns_image(desc, pc);
    uint64_t kept = (uint64_t)1 << arch.fp | (uint64_t)1 << arch.sp | (uint64_t)1 << arch.pc;
    ms_unc_entry entry = {0, 0};
    s->how = MACHSYM_UNWIND_FP;
    if (image != NULL && ms_uns_entry(desc, image, pc, &entry) &&
        ms_uns_compact(desc, s, entry.encoding, image->load_addr + entry.lo)) {
        s->how = MACHSYM_UNWIND_COMPACT;
        kept |= arch.kept;
    } else if (!ms_uns_frame(desc, arch, s)) {
        return false;
    }
    s->known &= kept;
    return true;
}

/* Makes s the caller's, if its stack goes on. Stacks grow down, so a caller's stack pointer is above: that
 * ends every cycle. Only the first frame of arm64 may leave it as it was, since its return address may be in
 * a register. */
static machsym_unwind_end ms_uns_step(const machsym_unwind_desc *desc, machsym_unwind_state *s)
{
    ms_uns_arch arch = ms_uns_arch_of(desc->cputype);
    machsym_unwind_state caller = *s;
    if (desc->read == NULL || (desc->images == NULL && desc->image_count != 0))
        return MACHSYM_UNWIND_ARGUMENT;
    if (arch.word == 0 || !ms_uns_knows(s, arch.pc) || !ms_uns_knows(s, arch.sp))
        return MACHSYM_UNWIND_NO_REGISTERS;
    if (s->frame_count >= MACHSYM_MAX_UNWIND_FRAMES)
        return MACHSYM_UNWIND_TOO_MANY;
    if (!ms_uns_up(desc, arch, &caller))
        return MACHSYM_UNWIND_NO_FRAME;
    caller.v[arch.pc] = ms_mo_unsigned(desc->cputype, caller.v[arch.pc]);
    caller.v[arch.fp] = ms_mo_unsigned(desc->cputype, caller.v[arch.fp]);
    if (caller.v[arch.pc] == 0)
        return MACHSYM_UNWIND_BOTTOM;
    bool may_stay = arch.is_arm64 && s->frame_count == 0;
    if (caller.v[arch.sp] < s->v[arch.sp] || (caller.v[arch.sp] == s->v[arch.sp] && !may_stay))
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
