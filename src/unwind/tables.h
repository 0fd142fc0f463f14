#ifndef ms_ROOM_unwind_tables
#define ms_ROOM_unwind_tables
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../macho/macho.h"
#include "../macho/pieces.h"
#include "../macho/eh_frame.h"
#include "registers.h"
#include "compact.h"
#include "cfa.h"

/* ==== >>unwind-tables ======================================================================================
 * Job:    the caller's registers by the tables of an image, or by a frame pointer.
 * Offers: ms_unb_image, ms_unb_step, ms_unb_frame.
 * Never:  looks into code, but for the size of a large frame of x86. */

#ifndef MACHSYM_NO_UNWIND

enum { ms_UNB_LARGE_ROW = 8 }; /* bytes of a row of large_frames */

/* Steps to the caller by a frame pointer: it points to the caller's frame pointer, and above that is the
 * return address. */
static bool ms_unb_frame(const machsym_unwind_desc *desc, const ms_unr_arch *arch, machsym_unwind_state *s)
{
    uint64_t at = s->v[arch->fp], fp, pc;
    ms_unr_words words;
    if (!ms_unr_knows(s, arch->fp) || at % arch->word != 0)
        return false;
    ms_unr_fetch(desc, arch->word, at, 2, &words);
    if (!ms_unr_fetched(desc, &words, at, &fp) || !ms_unr_fetched(desc, &words, at + arch->word, &pc))
        return false;
    ms_unr_set(s, arch->fp, fp);
    ms_unr_set(s, arch->sp, at + 2 * (uint64_t)arch->word);
    ms_unr_set(s, arch->pc, pc);
    return true;
}

/* Register pairs are saved one below the other from at down, x19 and x20 first. Pairs of floating-point
 * registers come after them, so they do not move the others. */
static void ms_unb_arm64_pairs(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding,
                               uint64_t at)
{
    ms_unr_words words;
    unsigned pairs = 0;
    for (unsigned i = 0; i < 5; i++)
        pairs += encoding >> i & 1;
    ms_unr_fetch(desc, 8, at + 8 - 16 * (uint64_t)pairs, 2 * pairs, &words);
    for (unsigned i = 0; i < 5; i++) {
        if ((encoding >> i & 1) == 0)
            continue;
        ms_unr_load(desc, s, ms_UNR_ARM64_X19 + 2 * i, &words, at);
        ms_unr_load(desc, s, ms_UNR_ARM64_X19 + 2 * i + 1, &words, at - 8);
        at -= 16;
    }
}

static bool ms_unb_arm64(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding)
{
    uint64_t fp = s->v[ms_UNR_ARM64_FP];
    switch (encoding & ms_UNC_MODE) {
    case ms_UNC_ARM64_FRAME:
        if (!ms_unb_frame(desc, ms_unr_arch_of(desc->cputype), s))
            return false;
        ms_unb_arm64_pairs(desc, s, encoding, fp - 8);
        return true;
    case ms_UNC_ARM64_FRAMELESS: {
        uint64_t size = (uint64_t)(encoding >> 12 & 0xfff) * 16;
        if (!ms_unr_knows(s, ms_UNR_ARM64_LR))
            return false; /* a call overwrote it; only the first frame can lack a record of its own */
        ms_unr_set(s, ms_UNR_ARM64_SP, s->v[ms_UNR_ARM64_SP] + size);
        ms_unb_arm64_pairs(desc, s, encoding, s->v[ms_UNR_ARM64_SP] - 8);
        ms_unr_set(s, ms_UNR_ARM64_PC, s->v[ms_UNR_ARM64_LR]);
        return true;
    }
    default: return false;
    }
}

/* Returns the register that an encoding numbers 1 to 6. 0 and 7 are no registers. */
static unsigned ms_unb_x86_register(uint32_t cputype, unsigned number)
{
    static const uint8_t of_x86_64[6] = {ms_UNR_X86_RBX, ms_UNR_X86_R12, 13, 14, 15, ms_UNR_X86_RBP};
    static const uint8_t of_i386[6] = {ms_UNR_I386_EBX, ms_UNR_I386_ECX, ms_UNR_I386_EDX,
                                       ms_UNR_I386_EDI, ms_UNR_I386_ESI, ms_UNR_I386_EBP};
    if (number == 0 || number > 6)
        return ms_UNR_NONE;
    return cputype == ms_CPU_X86_64 ? of_x86_64[number - 1] : of_i386[number - 1];
}

static bool ms_unb_x86_frame(const machsym_unwind_desc *desc, machsym_unwind_state *s, uint32_t encoding)
{
    const ms_unr_arch *arch = ms_unr_arch_of(desc->cputype);
    uint64_t at = s->v[arch->fp] - (uint64_t)arch->word * (encoding >> 16 & 0xff);
    ms_unr_words words;
    if (!ms_unb_frame(desc, arch, s))
        return false;
    ms_unr_fetch(desc, arch->word, at, (encoding & 0x7fff) != 0 ? 5 : 0, &words);
    for (unsigned i = 0; i < 5; i++) {
        unsigned number = ms_unb_x86_register(desc->cputype, encoding >> 3 * i & 7);
        if (number != ms_UNR_NONE)
            ms_unr_load(desc, s, number, &words, at);
        at += arch->word;
    }
    return true;
}

/* The size of a large frame of x86, which only the code has: at is where its instruction "sub rsp" has it. A
 * map has a row for each such function, by address: its offset from the header, and the size. */
static bool ms_unb_x86_large(const machsym_unwind_desc *desc, const machsym_unwind_image *image, uint64_t lo,
                             uint64_t at, uint64_t *size)
{
    ms_span rows = ms_span_make(image->large_frames.ptr, image->large_frames.len);
    size_t count = rows.len / ms_UNB_LARGE_ROW, first = 0;
    while (first < count) {
        size_t mid = first + (count - first) / 2;
        uint32_t off = ms_rd_raw_u32(rows.ptr + mid * ms_UNB_LARGE_ROW);
        MACHSYM_COUNT_WORK(1);
        if (off == lo) {
            *size = ms_rd_raw_u32(rows.ptr + mid * ms_UNB_LARGE_ROW + 4);
            return true;
        }
        first = off < lo ? mid + 1 : first;
        count = off < lo ? count : mid;
    }
    return ms_unr_word(desc, 4, image->load_addr + at, size);
}

/* lo: where the function begins, from the image's header. */
static bool ms_unb_x86_frameless(const machsym_unwind_desc *desc, const machsym_unwind_image *image,
                                 machsym_unwind_state *s, uint32_t encoding, uint64_t lo)
{
    const ms_unr_arch *arch = ms_unr_arch_of(desc->cputype);
    uint8_t saved[ms_UNC_SAVED_MAX];
    uint64_t size = encoding >> 16 & 0xff, pc;
    unsigned count = ms_unc_saved(encoding, saved);
    if ((encoding & ms_UNC_MODE) == ms_UNC_X86_INDIRECT) {
        if (!ms_unb_x86_large(desc, image, lo, lo + size, &size))
            return false;
        size += (uint64_t)arch->word * (encoding >> 13 & 7);
    } else {
        size *= arch->word;
    }
    if (size < (uint64_t)arch->word * (count + 1) || (count == 0 && (encoding >> 10 & 7) != 0))
        return false;
    uint64_t cfa = s->v[arch->sp] + size, at = cfa - (uint64_t)arch->word * (count + 1);
    ms_unr_words words;
    ms_unr_fetch(desc, arch->word, at, count + 1, &words);
    if (!ms_unr_fetched(desc, &words, cfa - arch->word, &pc))
        return false;
    for (unsigned i = 0; i < count; i++, at += arch->word)
        ms_unr_load(desc, s, ms_unb_x86_register(desc->cputype, saved[i]), &words, at);
    ms_unr_set(s, arch->sp, cfa);
    ms_unr_set(s, arch->pc, pc);
    return true;
}

static bool ms_unb_compact(const machsym_unwind_desc *desc, const machsym_unwind_image *image,
                           machsym_unwind_state *s, uint32_t encoding, uint64_t lo)
{
    if (ms_unr_arch_of(desc->cputype)->is_arm64)
        return ms_unb_arm64(desc, s, encoding);
    switch (encoding & ms_UNC_MODE) {
    case ms_UNC_X86_FRAME: return ms_unb_x86_frame(desc, s, encoding);
    case ms_UNC_X86_IMMEDIATE:
    case ms_UNC_X86_INDIRECT: return ms_unb_x86_frameless(desc, image, s, encoding, lo);
    default: return false;
    }
}

static bool ms_unb_holds(const machsym_unwind_image *image, uint64_t pc)
{
    return pc >= image->load_addr && pc - image->load_addr < image->size;
}

/* Images that are sorted by address are found at once. Others are looked through. */
static const machsym_unwind_image *ms_unb_image(const machsym_unwind_desc *desc, uint64_t pc)
{
    size_t lo = 0, hi = desc->image_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        MACHSYM_COUNT_WORK(1);
        if (desc->images[mid].load_addr <= pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo != 0 && ms_unb_holds(&desc->images[lo - 1], pc))
        return &desc->images[lo - 1];
    for (size_t i = 0; i < desc->image_count; i++) {
        MACHSYM_COUNT_WORK(1);
        if (ms_unb_holds(&desc->images[i], pc))
            return &desc->images[i];
    }
    return NULL;
}

static ms_piece_source ms_unb_source(const machsym_unwind_desc *desc, const machsym_unwind_section *section)
{
    ms_piece_source source;
    source.bytes = ms_span_make(section->bytes.ptr, section->bytes.len);
    source.read = section->bytes.ptr != NULL ? NULL : desc->read;
    source.ctx = desc->ctx;
    source.addr = section->addr;
    source.size = section->size;
    return source;
}

static ms_eh_frames ms_unb_frames(const machsym_unwind_desc *desc, const machsym_unwind_image *image,
                                  bool is_debug)
{
    ms_eh_frames frames;
    frames.source = ms_unb_source(desc, is_debug ? &image->debug_frame : &image->eh_frame);
    frames.word = ms_unr_arch_of(desc->cputype)->addr;
    frames.is_debug = is_debug;
    frames.slide = is_debug ? image->load_addr - image->file_addr : 0;
    return frames;
}

/* Steps by the tables of an image. The compact table comes first. If it refers to DWARF or fails, the
 * function's FDE is used, in the section that the process also has, or else in the debugger's. */
static bool ms_unb_step(const machsym_unwind_desc *desc, const machsym_unwind_image *image, uint64_t pc,
                        machsym_unwind_state *s)
{
    ms_piece_source info = ms_unb_source(desc, &image->unwind_info);
    ms_eh_frames frames = ms_unb_frames(desc, image, false);
    ms_unc_entry entry = {0, 0};
    uint32_t dwarf = ms_unr_arch_of(desc->cputype)->is_arm64 ? ms_UNC_ARM64_DWARF : ms_UNC_X86_DWARF;
    uint64_t off = 0;
    s->how = MACHSYM_UNWIND_COMPACT;
    if (ms_unc_find(&info, pc - image->load_addr, &entry)) {
        if (ms_unb_compact(desc, image, s, entry.encoding, entry.lo))
            return true;
        if ((entry.encoding & ms_UNC_MODE) == dwarf)
            off = entry.encoding & ms_UNC_DWARF_OFFSET;
    }
    if (ms_cfa_step(desc, &frames, off, pc, s))
        return true;
    frames = ms_unb_frames(desc, image, true);
    return ms_cfa_step(desc, &frames, 0, pc, s);
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_tables */
