#ifndef ms_ROOM_unwind_compact
#define ms_ROOM_unwind_compact
#include "../base/reader.h"
#include "../macho/pieces.h"
#include "../macho/compact.h"

/* ==== >>unwind-compact =====================================================================================
 * Job:    finds the compact unwind encoding of an address.
 * Offers: ms_unc_find, ms_unc_saved.
 * Never:  reads registers or a stack. */

#ifndef MACHSYM_NO_UNWIND

/* compact_unwind_encoding.h */
enum {
    ms_UNC_MODE = 0x0f000000,
    ms_UNC_X86_FRAME = 0x01000000,
    ms_UNC_X86_IMMEDIATE = 0x02000000,
    ms_UNC_X86_INDIRECT = 0x03000000,
    ms_UNC_X86_DWARF = 0x04000000,
    ms_UNC_ARM64_FRAMELESS = 0x02000000,
    ms_UNC_ARM64_DWARF = 0x03000000,
    ms_UNC_ARM64_FRAME = 0x04000000,
    ms_UNC_DWARF_OFFSET = 0x00ffffff,
    ms_UNC_SAVED_MAX = 6,
    ms_UNC_AT_ONCE = 512 /* bytes of a table in a process: a read may be a system call */
};

/* The table's entry for an address. */
typedef struct ms_unc_entry {
    uint64_t lo; /* where its function begins, from the image's header */
    uint32_t encoding;
} ms_unc_entry;

/* Finds the last word that is at most key. There are count words, stride bytes apart; mask selects the bits
 * to compare. The search halves the count, so it ends whatever the words are. Returns: false if every word is
 * above key, or if a read failed. */
static bool ms_unc_search(const ms_piece_source *table, uint64_t off, uint32_t count, uint32_t stride,
                          uint32_t mask, uint64_t key, uint32_t *at)
{
    uint8_t room[ms_UNC_AT_ONCE];
    uint64_t most = table->read != NULL ? sizeof room : table->bytes.len;
    const uint8_t *words = NULL; /* of the entries from first on */
    bool is_asked = false;
    uint32_t lo = 0, hi = count, first = 0, word;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        uint64_t len = (uint64_t)(hi - lo) * stride;
        if (!is_asked && len <= most) {
            words = ms_piece_at(table, off + (uint64_t)lo * stride, (size_t)len, room);
            first = lo;
            is_asked = true;
        }
        if (words != NULL)
            word = ms_rd_raw_u32(words + (size_t)(mid - first) * stride);
        else if (!ms_unt_words(table, off + (uint64_t)mid * stride, &word, 1))
            return false;
        if ((word & mask) <= key)
            lo = mid + 1;
        else
            hi = mid;
    }
    *at = lo - 1;
    return lo != 0;
}

/* off counts from the image's header. The last entry of the index only ends the one before it. Returns:
 * whether the table has an entry for off. */
static bool ms_unc_find(const ms_piece_source *table, uint64_t off, ms_unc_entry *out)
{
    ms_unt_head head;
    ms_unt_page page;
    uint32_t at, index[2], word;
    if (!ms_unt_open(table, &head) ||
        !ms_unc_search(table, head.index_off, head.index_count, ms_UNT_INDEX_SIZE, UINT32_MAX, off, &at) ||
        at >= head.index_count - 1 ||
        !ms_unt_words(table, (uint64_t)head.index_off + (uint64_t)at * ms_UNT_INDEX_SIZE, index, 2) ||
        index[1] == 0 || !ms_unt_page_at(table, index[1], index[0], &page) || off < page.base ||
        !ms_unc_search(table, page.entries, page.count, page.stride, page.mask, off - page.base, &at))
        return false;
    uint64_t entry = page.entries + (uint64_t)at * page.stride;
    if (!ms_unt_words(table, entry, &word, 1))
        return false;
    out->lo = ms_unt_function(&page, word);
    if (page.mask == UINT32_MAX)
        return ms_unt_words(table, entry + 4, &out->encoding, 1);
    return ms_unt_numbered(table, &head, &page, word >> 24, &out->encoding);
}

/* The registers that an x86 function without a frame pushed, from the lowest address up, as numbers of the
 * encoding (1 to 6). The permutation numbers each register among the remaining ones. The factor of place i is
 * the number of arrangements of the places after it. Returns: how many; 0 for an invalid permutation. */
static unsigned ms_unc_saved(uint32_t encoding, uint8_t saved[ms_UNC_SAVED_MAX])
{
    uint32_t count = encoding >> 10 & 7, permutation = encoding & 0x3ff;
    bool used[ms_UNC_SAVED_MAX + 1] = {false, false, false, false, false, false, false};
    if (count > ms_UNC_SAVED_MAX)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t factor = 1;
        for (uint32_t k = i + 1; k < count; k++)
            factor *= ms_UNC_SAVED_MAX - k;
        uint32_t rank = permutation / factor, number = 0;
        permutation %= factor;
        if (rank >= ms_UNC_SAVED_MAX - i)
            return 0;
        do
            rank -= used[++number] ? 0u : 1u;
        while (rank != UINT32_MAX); /* ends: more than rank numbers are left */
        used[number] = true;
        saved[i] = (uint8_t)number;
    }
    return count;
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_compact */
