#ifndef ms_ROOM_macho_unwind
#define ms_ROOM_macho_unwind
#include "../api/api.h"
#include "../base/bytes.h"
#include "macho.h"
#include "pieces.h"
#include "compact.h"
#include "eh_frame.h"
#include "fixups.h"
#include "symbols.h"

/* ==== >>unwind =============================================================================================
 * Job:    finds by unwind tables where functions begin and end.
 * Offers: ms_uw_add_starts.
 * Never:  unwinds; names anything. */

static void ms_uw_add(ms_sym_table *t, const ms_mo *mo, uint64_t addr)
{
    if (mo->slice.cputype == ms_CPU_ARM)
        addr &= ~(uint64_t)1; /* Thumb */
    ms_sym_add_item(t, addr, ms_sym_item(MACHSYM_SOURCE_FUNCTION_STARTS, 0, 0, 0));
}

/* A page that cannot be read is damage, from where it ends. */
static void ms_uw_add_page(ms_sym_table *t, ms_fx_data *d, const ms_piece_source *info, uint32_t off,
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
    ms_unt_head head;
    if (section == NULL)
        return;
    ms_piece_source info = ms_piece_of_file(ms_fx_bytes(d, section), section->addr);
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

/* Reads the FDEs. Each is the range of a function. The FDEs of one CIE follow each other, so it is kept. */
static void ms_uw_add_eh_frame(ms_sym_table *t, ms_fx_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, "__eh_frame");
    uint64_t cie_off = UINT64_MAX, lo, size;
    ms_eh_entry fde, room;
    ms_eh_cie cie;
    if (section == NULL)
        return;
    ms_eh_frames frames = ms_eh_of_file(ms_fx_bytes(d, section), section->addr, d->mo->is_64 ? 8 : 4);
    ms_zero(&cie, sizeof cie);
    for (uint64_t off = 0; ms_eh_entry_at(&frames, off, &fde); off = fde.next) {
        if (fde.is_cie)
            continue;
        if (fde.cie == UINT64_MAX) {
            d->damage_count++;
            continue;
        }
        if (fde.cie != cie_off) {
            cie_off = fde.cie;
            if (!ms_eh_cie_at(&frames, &fde, &room, &cie))
                ms_zero(&cie, sizeof cie);
        }
        if (!ms_eh_range(&frames, &fde, &cie, &lo, &size))
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
