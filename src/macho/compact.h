#ifndef ms_ROOM_macho_compact
#define ms_ROOM_macho_compact
#include "../base/reader.h"
#include "pieces.h"

/* ==== >>compact ============================================================================================
 * Job:    reads the pages of a compact unwind table, out of a file or out of a process.
 * Offers: ms_unt_words, ms_unt_open, ms_unt_page_at, ms_unt_function, ms_unt_numbered.
 * Never:  says what an encoding means. */

/* compact_unwind_encoding.h: kinds of second-level pages. */
enum { ms_UNT_REGULAR = 2, ms_UNT_COMPRESSED = 3, ms_UNT_INDEX_SIZE = 12 };

/* unwind_info_section_header */
typedef struct ms_unt_head {
    uint32_t common_off; /* encodings that all pages share */
    uint32_t common_count;
    uint32_t index_off; /* entries of three words: a function, the offset of its page, data of languages */
    uint32_t index_count;
} ms_unt_head;

/* A second-level page. */
typedef struct ms_unt_page {
    uint64_t off;
    uint64_t entries; /* offset of the first */
    uint32_t count;
    uint32_t stride;
    uint32_t base; /* offsets of functions count from here, in their bits of mask */
    uint32_t mask;
} ms_unt_page;

/* Reads count words, at most seven. */
static bool ms_unt_words(const ms_piece_source *table, uint64_t off, uint32_t *out, size_t count)
{
    uint8_t room[28];
    const uint8_t *p = count <= sizeof room / 4 ? ms_piece_at(table, off, count * 4, room) : NULL;
    for (size_t i = 0; p != NULL && i < count; i++)
        out[i] = ms_rd_raw_u32(p + 4 * i);
    return p != NULL;
}

/* Returns: whether the table has the one version that there is. */
static bool ms_unt_open(const ms_piece_source *table, ms_unt_head *head)
{
    uint32_t words[7]; /* the fourth and fifth are personalities */
    if (!ms_unt_words(table, 0, words, 7) || words[0] != 1)
        return false;
    head->common_off = words[1];
    head->common_count = words[2];
    head->index_off = words[5];
    head->index_count = words[6];
    return true;
}

/* base: the function that the index names for the page. Returns: false for a page of a kind that is not
 * knows. */
static bool ms_unt_page_at(const ms_piece_source *table, uint32_t off, uint32_t base, ms_unt_page *page)
{
    uint32_t words[2];
    if (!ms_unt_words(table, off, words, 2) || (words[0] != ms_UNT_REGULAR && words[0] != ms_UNT_COMPRESSED))
        return false;
    bool is_regular = words[0] == ms_UNT_REGULAR;
    page->off = off;
    page->entries = (uint64_t)off + (words[1] & 0xffff);
    page->count = words[1] >> 16;
    page->stride = is_regular ? 8 : 4;
    page->base = is_regular ? 0 : base;
    page->mask = is_regular ? UINT32_MAX : 0xffffff;
    return true;
}

/* The offset of a page's function from the image's header, by the first word of its entry. */
static uint64_t ms_unt_function(const ms_unt_page *page, uint32_t word)
{
    return (uint64_t)page->base + (word & page->mask);
}

/* In a compressed page, the bits above an entry's offset are the number of its encoding. The numbers count
 * first the encodings that all pages share, and then the page's own. */
static bool ms_unt_numbered(const ms_piece_source *table, const ms_unt_head *head, const ms_unt_page *page,
                            uint32_t number, uint32_t *encoding)
{
    uint32_t own; /* offset and count of the page's own encodings */
    if (number < head->common_count)
        return ms_unt_words(table, (uint64_t)head->common_off + (uint64_t)number * 4, encoding, 1);
    number -= head->common_count;
    return ms_unt_words(table, page->off + 8, &own, 1) && number < own >> 16 &&
           ms_unt_words(table, page->off + (own & 0xffff) + (uint64_t)number * 4, encoding, 1);
}

#endif /* ms_ROOM_macho_compact */
