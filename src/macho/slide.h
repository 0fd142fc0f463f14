#ifndef ms_ROOM_macho_slide
#define ms_ROOM_macho_slide
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "cache.h"

/* ==== >>slide ==============================================================================================
 * Job:    copies data of a shared cache with its pointers as dyld leaves them.
 * Offers: ms_sl_read.
 * Never:  adds a slide; signs a pointer; keeps its tags. */

/* dyld_cache_format.h: what the start of a page's chain says besides where it is. */
#define ms_SL_V2_NONE  0x4000 /* the page has no pointers */
#define ms_SL_NONE     0xffff /* the same in the other versions */
#define ms_SL_EXTRAS   0x8000 /* the page has several chains */
#define ms_SL_LAST     0x8000 /* of its chains */
#define ms_SL_V2_INDEX 0x3fff
#define ms_SL_V4_INDEX 0x7fff

/* A copy of a part of a mapping. */
typedef struct ms_sl_copy {
    const ms_dc_mapping *mapping;
    uint8_t *to;
    uint64_t lo, hi; /* offsets in the mapping */
    unsigned size;   /* of a pointer */
    uint64_t page_size;
    uint64_t steps; /* that are left for the chains of a page: as many as it has places */
} ms_sl_copy;

/* The value of a place in a chain. Chains of version 4 run through small numbers too. */
static uint64_t ms_sl_value(const ms_sl_copy *c, uint64_t off, uint64_t raw)
{
    if (c->mapping->slide_version != 4)
        return ms_dc_decode(c->mapping, raw);
    uint64_t pointer = ms_dc_decode(c->mapping, raw);
    return pointer != 0 ? pointer : ms_dc_number_in(c->mapping, off);
}

/* How far the next place of a chain is; 0: it ends. */
static uint64_t ms_sl_step(const ms_dc_mapping *mapping, uint64_t raw)
{
    if (mapping->slide_version == 3)
        return (raw >> 51 & 0x7ff) * 8;
    if (mapping->slide_version == 5)
        return (raw >> 52 & 0x7ff) * 8;
    uint64_t lowest = mapping->delta_mask & (~mapping->delta_mask + 1);
    return lowest != 0 ? (raw & mapping->delta_mask) / lowest * 4 : 0;
}

/* Puts the pointers of a chain that begins at an offset of the mapping, and ends with its page. */
static void ms_sl_follow(ms_sl_copy *c, uint64_t off, uint64_t end)
{
    uint64_t step = 1;
    for (; step != 0 && off < end && c->steps > 0; off += step, c->steps--) {
        ms_span place = ms_span_sub(c->mapping->bytes, off, c->size);
        MACHSYM_COUNT_WORK(1);
        if (place.len == 0)
            return;
        uint64_t raw = c->size == 8 ? ms_rd_raw_u64(place.ptr) : ms_rd_raw_u32(place.ptr);
        uint64_t value = ms_sl_value(c, off, raw);
        for (unsigned i = 0; i < c->size; i++) {
            if (off + i >= c->lo && off + i < c->hi)
                c->to[off + i - c->lo] = (uint8_t)(value >> 8 * i);
        }
        step = ms_sl_step(c->mapping, raw);
    }
}

/* Puts the pointers of a page whose entry in the list of starts is start. */
static void ms_sl_do_page(ms_sl_copy *c, uint64_t page, uint32_t start, ms_span extras)
{
    uint64_t lo = page * c->page_size;
    uint64_t hi = lo + c->page_size;
    bool is_second = c->mapping->slide_version == 2;
    uint32_t mask = is_second ? ms_SL_V2_INDEX : ms_SL_V4_INDEX;
    c->steps = c->page_size / 4;
    if (start == (is_second ? ms_SL_V2_NONE : ms_SL_NONE))
        return;
    if (c->mapping->slide_version == 3 || c->mapping->slide_version == 5) {
        ms_sl_follow(c, lo + start, hi);
        return;
    }
    if ((start & ms_SL_EXTRAS) == 0) {
        ms_sl_follow(c, lo + (uint64_t)start * 4, hi);
        return;
    }
    ms_rd rd = ms_rd_at(extras, (uint64_t)(start & mask) * 2);
    for (uint64_t left = c->steps; left > 0 && c->steps > 0; left--) { /* no chain without a place */
        MACHSYM_COUNT_WORK(1);
        uint32_t extra = ms_rd_u16(&rd);
        if (rd.failed)
            return;
        ms_sl_follow(c, lo + (uint64_t)(extra & mask) * 4, hi);
        if ((extra & ms_SL_LAST) != 0)
            return;
    }
}

/* Puts the pointers of the part that was copied. */
static void ms_sl_undo(ms_sl_copy *c)
{
    ms_span info = c->mapping->slide;
    uint32_t version = c->mapping->slide_version;
    bool has_extras = version == 2 || version == 4;
    uint64_t count = ms_dc_u32(info, has_extras ? 12 : 8);
    ms_span starts = ms_span_from(info, has_extras ? ms_dc_u32(info, 8) : 24);
    ms_span extras = ms_span_make(NULL, 0);
    c->page_size = ms_dc_u32(info, 4);
    c->size = version == 4 || (version == 2 && c->mapping->delta_mask >> 32 == 0) ? 4 : 8;
    if (version < 2 || version > 5 || c->page_size == 0)
        return; /* pointers are as they are */
    if (has_extras)
        extras = ms_span_sub(info, ms_dc_u32(info, 16), (uint64_t)ms_dc_u32(info, 20) * 2);
    uint64_t page = c->lo / c->page_size;
    ms_rd rd = ms_rd_at(starts, page * 2);
    for (; page < count && page * c->page_size < c->hi; page++) {
        uint32_t start = ms_rd_u16(&rd);
        if (rd.failed)
            return;
        ms_sl_do_page(c, page, start, extras);
    }
}

/* Copies what lies at an address of a cache and after it, through mappings that follow each other.
 * Returns how many bytes: fewer than len where no file that is there has them, or it is not known how their
 * pointers are stored. */
static size_t ms_sl_read(const ms_dc *dc, uint64_t addr, uint8_t *to, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ms_sl_copy c;
        ms_zero(&c, sizeof c);
        c.mapping = ms_dc_mapping_at(dc, addr + done);
        if (c.mapping == NULL || c.mapping->slide_version == UINT32_MAX)
            break;
        c.lo = addr + done - c.mapping->addr;
        ms_span rest = ms_span_from(c.mapping->bytes, c.lo);
        size_t count = rest.len < len - done ? rest.len : len - done;
        if (count == 0)
            break;
        c.hi = c.lo + count;
        c.to = to + done;
        ms_copy(c.to, rest.ptr, count);
        ms_sl_undo(&c);
        done += count;
    }
    return done;
}

#endif /* ms_ROOM_macho_slide */
