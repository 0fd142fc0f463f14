#ifndef ms_ROOM_macho_unwind
#define ms_ROOM_macho_unwind
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "macho.h"
#include "compact.h"
#include "fixups.h"
#include "symbols.h"

/* ==== >>unwind =============================================================================================
 * Job:    finds by unwind tables where functions begin and end.
 * Offers: ms_uw_add_starts.
 * Never:  unwinds; names anything. */

/* Pointer encodings of eh_frame (LSB 10.5.1): the low half is the size, the next bits what it is relative
 * to. */
enum { ms_DW_EH_PE_pcrel = 0x10, ms_DW_EH_PE_base = 0x70 };

static void ms_uw_add(ms_sym_table *t, const ms_mo *mo, uint64_t addr)
{
    if (mo->slice.cputype == ms_CPU_ARM)
        addr &= ~(uint64_t)1; /* Thumb */
    ms_sym_add_item(t, addr, ms_sym_item(MACHSYM_SOURCE_FUNCTION_STARTS, 0, 0, 0));
}

/* A page that cannot be read is damage, from where it ends. */
static void ms_uw_add_page(ms_sym_table *t, ms_fx_data *d, const ms_unt_table *info, uint32_t off,
                           uint32_t base)
{
    ms_unt_page page;
    bool whole = ms_unt_page_at(info, off, base, &page);
    for (uint32_t i = 0; whole && i < page.count && ms_fx_spend(d, 1); i++) {
        uint32_t word;
        whole = ms_unt_words(info, page.entries + (uint64_t)i * page.stride, &word, 1);
        if (whole)
            ms_uw_add(t, d->mo, d->mo->text_addr + ms_unt_function(&page, word));
    }
    if (!whole)
        d->damage_count++;
}

/* The pages that the index names. Its last entry only ends the one before. */
static void ms_uw_add_compact(ms_sym_table *t, ms_fx_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, "__unwind_info");
    ms_unt_table info = {{NULL, 0}, NULL, NULL, 0, 0};
    ms_unt_head head;
    if (section == NULL)
        return;
    info.bytes = ms_fx_bytes(d, section);
    if (!ms_unt_open(&info, &head))
        return;
    for (uint32_t i = 0; i < head.index_count; i++) {
        uint32_t entry[3];
        if (!ms_unt_words(&info, (uint64_t)head.index_off + (uint64_t)i * ms_UNT_INDEX_SIZE, entry, 3))
            return; /* ends with the section, whatever the count says */
        ms_uw_add(t, d->mo, d->mo->text_addr + entry[0]);
        if (entry[1] != 0)
            ms_uw_add_page(t, d, &info, entry[1], entry[0]);
    }
}

/* A pointer in eh_frame: addr is that of the field itself. */
static uint64_t ms_uw_pointer(const ms_mo *mo, ms_rd *rd, unsigned encoding, uint64_t addr)
{
    uint64_t value;
    switch (encoding & 0xf) {
    case 0x0: value = ms_mo_word(mo, rd); break;
    case 0x2: value = ms_rd_u16(rd); break;
    case 0x3: value = ms_rd_u32(rd); break;
    case 0xa: value = (uint64_t)(int64_t)(int16_t)ms_rd_u16(rd); break;
    case 0xb: value = (uint64_t)(int64_t)(int32_t)ms_rd_u32(rd); break;
    case 0x4:
    case 0xc: value = ms_rd_u64(rd); break;
    default: ms_rd_fail(rd); return 0;
    }
    if ((encoding & ms_DW_EH_PE_base) == ms_DW_EH_PE_pcrel)
        value += addr;
    return mo->is_64 ? value : value & 0xffffffff;
}

/* How a CIE says that its FDEs write addresses (augmentation R). */
static unsigned ms_uw_cie_encoding(const ms_mo *mo, ms_rd rd)
{
    unsigned version = ms_rd_u8(&rd);
    ms_span text = ms_rd_span(&rd, ms_rd_left(&rd) < 16 ? ms_rd_left(&rd) : 16);
    machsym_str augmentation = ms_str_bounded((const char *)text.ptr, text.len);
    if (augmentation.len == 0 || augmentation.ptr[0] != 'z' || augmentation.len == text.len)
        return 0;
    rd.p -= text.len - augmentation.len - 1;
    ms_rd_uleb(&rd); /* code alignment */
    ms_rd_sleb(&rd); /* data alignment */
    if (version == 1)
        ms_rd_u8(&rd); /* return address register */
    else
        ms_rd_uleb(&rd);
    ms_rd_uleb(&rd); /* length of the augmentation */
    for (size_t i = 1; i < augmentation.len; i++) {
        switch (augmentation.ptr[i]) {
        case 'R': return ms_rd_u8(&rd);
        case 'L': ms_rd_u8(&rd); break;
        case 'P': {
            unsigned encoding = ms_rd_u8(&rd);
            ms_uw_pointer(mo, &rd, encoding, 0);
            break;
        }
        default: return 0;
        }
    }
    return 0;
}

/* Reads the FDEs. Each is the range of a function. The FDEs of one CIE follow each other, so its
 * encoding is kept. */
static void ms_uw_add_eh_frame(ms_sym_table *t, ms_fx_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, "__eh_frame");
    if (section == NULL)
        return;
    ms_span frames = ms_fx_bytes(d, section);
    ms_rd rd = ms_rd_make(frames);
    uint64_t cie_off = UINT64_MAX;
    unsigned encoding = 0;
    while (ms_rd_left(&rd) >= 4) {
        uint64_t len = ms_rd_u32(&rd);
        if (len == 0xffffffff)
            len = ms_rd_u64(&rd);
        if (len == 0)
            return;
        uint64_t at = ms_rd_offset(&rd);
        ms_rd body = ms_rd_make(ms_rd_span(&rd, len));
        uint32_t back = ms_rd_u32(&body); /* 32 bits even where the length has 64 (LSB 10.6.1.1) */
        if (back == 0)                    /* a CIE */
            continue;
        if (back > at || rd.failed) {
            d->damage_count++;
            continue;
        }
        if (at - back != cie_off) {
            cie_off = at - back;
            ms_rd cie = ms_rd_at(frames, cie_off);
            ms_rd_skip(&cie, ms_rd_u32(&cie) == 0xffffffff ? 12 : 4);
            encoding = ms_uw_cie_encoding(d->mo, cie);
        }
        uint64_t field = section->addr + at + ms_rd_offset(&body);
        uint64_t lo = ms_uw_pointer(d->mo, &body, encoding, field);
        uint64_t size = ms_uw_pointer(d->mo, &body, encoding & 0xf, 0);
        if (body.failed)
            continue;
        ms_uw_add(t, d->mo, lo);
        ms_uw_add(t, d->mo, lo + size);
    }
}

/* Adds the bounds of a linked slice. An object file's are not relocated, and those that dsymutil copies into
 * a dSYM still count from where they stood in the binary (seen: dsymutil-14, every dSYM with an
 * __eh_frame). */
static void ms_uw_add_starts(ms_sym_table *t, ms_fx_data *d)
{
    if (d->mo->slice.filetype == ms_MH_OBJECT || d->mo->slice.filetype == ms_MH_DSYM)
        return;
    ms_fx_refill(d);
    ms_uw_add_compact(t, d);
    ms_uw_add_eh_frame(t, d);
}

#endif /* ms_ROOM_macho_unwind */
