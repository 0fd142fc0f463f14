/* Lays an image out in memory as dyld does: segments at their distance from __TEXT, every pointer slid. */
#ifndef MACHSYM_LOADED_H
#define MACHSYM_LOADED_H

#define TEST_ROOM <rooms/src/image/image.h>
#include "test.h"

/* An image in memory. */
typedef struct loaded {
    uint8_t *v; /* malloc'd */
    size_t len;
    uint64_t addr;   /* where it claims to stand */
    uint64_t slide;  /* added to every pointer */
    const ms_mo *mo; /* of the file */
    ms_fx_data data;
} loaded;

enum { LOADED_MAX = 1 << 28 }; /* files that claim more are left out */

static inline uint64_t loaded_get(const loaded *l, uint64_t off, unsigned size)
{
    uint64_t number = 0;
    if (off > l->len || l->len - off < size)
        return 0;
    for (unsigned i = size; i-- > 0;)
        number = number << 8 | l->v[off + i];
    return number;
}

static inline void loaded_set(loaded *l, uint64_t off, unsigned size, uint64_t number)
{
    if (off > l->len || l->len - off < size)
        return;
    for (unsigned i = 0; i < size; i++)
        l->v[off + i] = (uint8_t)(number >> 8 * i);
}

/* What dyld would write for the pointer at off, which is encoded as raw: an import stands in another
 * image. */
static inline uint64_t loaded_pointer(loaded *l, const ms_mo_segment *segment, uint64_t raw)
{
    ms_fx_pointer pointer = ms_fx_decode(&l->data, segment, raw);
    return raw == 0 ? 0 : pointer.addr == 0 ? 0x7ffeeeee0000 : pointer.addr + l->slide;
}

/* How far the next pointer of a chain is; 0 ends it. fixup-chains.h */
static inline uint64_t loaded_next(unsigned format, uint64_t raw)
{
    switch (format) {
    case 1:
    case 9:
    case 12: return (raw >> 51 & 0x7ff) * 8;
    case 7: return (raw >> 51 & 0x7ff) * 4;
    case 2:
    case 6:
    case 8: return (raw >> 51 & 0xfff) * 4;
    case 11: return raw >> 51 & 0xfff;
    case 3: return (raw >> 26 & 0x1f) * 4;
    default: return 0;
    }
}

static inline void loaded_chain(loaded *l, const ms_mo_segment *segment, uint64_t off)
{
    unsigned size = l->mo->is_64 ? 8 : 4;
    for (unsigned i = 0; i < 1u << 20; i++) {
        uint64_t raw = loaded_get(l, off, size);
        uint64_t next = loaded_next(segment->fixup_format, raw);
        loaded_set(l, off, size, loaded_pointer(l, segment, raw));
        if (next == 0)
            return;
        off += next;
    }
}

/* dyld_chained_starts_in_segment */
static inline void loaded_chains(loaded *l)
{
    ms_span fixups = ms_mo_linkedit(l->mo, l->mo->loads.fixups_off, l->mo->loads.fixups_size);
    ms_rd header = ms_rd_at(fixups, fixups.len < 4 ? 0 : 4);
    uint32_t starts_off = ms_rd_u32(&header);
    ms_rd starts = ms_rd_at(fixups, starts_off);
    uint32_t count = ms_rd_u32(&starts);
    for (uint32_t i = 0; i < count && i < l->mo->segment_count; i++) {
        uint32_t off = ms_rd_u32(&starts);
        ms_rd rd = ms_rd_at(fixups, (uint64_t)starts_off + off);
        ms_rd_skip(&rd, 4);
        uint16_t page_size = ms_rd_u16(&rd);
        ms_rd_skip(&rd, 2 + 8 + 4);
        uint16_t pages = ms_rd_u16(&rd);
        ms_rd at = rd;
        for (unsigned page = 0; page < pages && off != 0 && !rd.failed; page++) {
            uint16_t start = ms_rd_u16(&at);
            uint64_t base = l->mo->segments[i].addr - l->mo->text_addr + (uint64_t)page * page_size;
            if (start == 0xffff)
                continue;
            if ((start & 0x8000) == 0) {
                loaded_chain(l, &l->mo->segments[i], base + start);
                continue;
            }
            ms_rd more = ms_rd_at(fixups, (uint64_t)starts_off + off + 22 + 2 * (uint64_t)(start & 0x7fff));
            for (bool last = false; !last && !more.failed;) { /* several chains in a page */
                uint16_t one = ms_rd_u16(&more);
                last = (one & 0x8000) != 0;
                loaded_chain(l, &l->mo->segments[i], base + (one & 0x7fff));
            }
        }
    }
}

static inline void loaded_slide_at(loaded *l, uint64_t off)
{
    unsigned size = l->mo->is_64 ? 8 : 4;
    loaded_set(l, off, size, loaded_get(l, off, size) + l->slide);
}

/* REBASE_OPCODE_*, loader.h */
static inline void loaded_rebase(loaded *l, ms_span code)
{
    ms_rd rd = ms_rd_make(code);
    unsigned size = l->mo->is_64 ? 8 : 4;
    uint64_t off = 0;
    while (ms_rd_left(&rd) > 0 && !rd.failed) {
        uint8_t byte = ms_rd_u8(&rd);
        uint8_t low = byte & 0xf;
        uint64_t times = 0;
        uint64_t skip = 0;
        switch (byte & 0xf0) {
        case 0x00: return;
        case 0x20:
            off = ms_rd_uleb(&rd);
            off += low < l->mo->segment_count ? l->mo->segments[low].addr - l->mo->text_addr : 0;
            break;
        case 0x30: off += ms_rd_uleb(&rd); break;
        case 0x40: off += (uint64_t)low * size; break;
        case 0x50: times = low; break;
        case 0x60: times = ms_rd_uleb(&rd); break;
        case 0x70:
            times = 1;
            skip = ms_rd_uleb(&rd);
            break;
        case 0x80:
            times = ms_rd_uleb(&rd);
            skip = ms_rd_uleb(&rd);
            break;
        default: break;
        }
        for (; times > 0 && off < l->len; times--) {
            loaded_slide_at(l, off);
            off += size + skip;
        }
    }
}

/* Images older than LC_DYLD_INFO: relocation entries, counted from the first segment that is written to in
 * 64-bit ones. */
static inline void loaded_relocate(loaded *l, uint64_t off, uint32_t count)
{
    uint64_t base = l->mo->segment_count > 0 ? l->mo->segments[0].addr : 0;
    for (uint32_t i = 0; l->mo->is_64 && i < l->mo->segment_count; i++) {
        if ((l->mo->segments[i].initprot & 2) != 0) {
            base = l->mo->segments[i].addr;
            break;
        }
    }
    ms_rd rd = ms_rd_make(ms_mo_linkedit(l->mo, off, (uint64_t)count * 8));
    while (ms_rd_left(&rd) >= 8) {
        uint32_t at = ms_rd_u32(&rd);
        ms_rd_u32(&rd);
        if ((at & 0x80000000u) != 0)
            at &= 0xffffff; /* scattered */
        loaded_slide_at(l, base + at - l->mo->text_addr);
    }
}

/* The commands that only a loader needs. */
static inline void loaded_fix(loaded *l)
{
    ms_rd rd = ms_rd_make(l->mo->bytes);
    ms_rd_skip(&rd, 16);
    uint32_t count = ms_rd_u32(&rd);
    ms_rd_skip(&rd, l->mo->is_64 ? 12 : 8);
    for (; count > 0 && ms_rd_left(&rd) >= 8; count--) {
        uint32_t command = ms_rd_u32(&rd);
        uint32_t size = ms_rd_u32(&rd);
        ms_rd body = ms_rd_make(ms_rd_span(&rd, size < 8 ? 0 : size - 8));
        if (command == 0x22 || command == 0x80000022) { /* LC_DYLD_INFO, LC_DYLD_INFO_ONLY */
            uint32_t off = ms_rd_u32(&body);
            loaded_rebase(l, ms_mo_linkedit(l->mo, off, ms_rd_u32(&body)));
        } else if (command == ms_LC_DYSYMTAB) {
            ms_rd_skip(&body, 64); /* up to locreloff */
            uint32_t off = ms_rd_u32(&body);
            loaded_relocate(l, off, ms_rd_u32(&body));
        }
    }
    loaded_chains(l);
}

/* Lays out the image of an open file. addr 0: it stands where its memory is. Returns false when it has no
 * size. */
static inline bool loaded_make(loaded *l, const machsym_image *image, uint64_t addr)
{
    uint64_t end = 0;
    ms_arena arena = ms_arena_make(image->arena.allocator);
    memset(l, 0, sizeof *l);
    l->mo = &image->mo[0];
    for (uint32_t i = 0; i < l->mo->segment_count; i++) {
        const ms_mo_segment *segment = &l->mo->segments[i];
        uint64_t last;
        if (segment->addr >= l->mo->text_addr &&
            ms_add_ok(segment->addr - l->mo->text_addr, segment->size, &last))
            end = last > end ? last : end;
    }
    if (end == 0 || end > LOADED_MAX)
        return false;
    l->len = (size_t)end;
    l->v = (uint8_t *)calloc(1, l->len);
    if (l->v == NULL)
        return false;
    for (uint32_t i = 0; i < l->mo->segment_count; i++) {
        const ms_mo_segment *segment = &l->mo->segments[i];
        uint64_t size = segment->file_size < segment->size ? segment->file_size : segment->size;
        ms_span bytes = ms_span_sub(l->mo->bytes, segment->off, size);
        if (segment->addr >= l->mo->text_addr && bytes.len != 0)
            memcpy(l->v + (segment->addr - l->mo->text_addr), bytes.ptr, bytes.len);
    }
    l->addr = addr != 0 ? addr : (uint64_t)(uintptr_t)l->v;
    l->slide = l->addr - l->mo->text_addr;
    ms_fx_open(&l->data, l->mo, NULL, &arena);
    loaded_fix(l);
    ms_arena_free(&arena);
    return true;
}

static inline machsym_image *loaded_open(const loaded *l, uint64_t len, bool at_memory)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = l->v;
    desc.bytes.len = (size_t)len;
    desc.flags = MACHSYM_OPEN_LOADED;
    desc.load_addr = at_memory ? 0 : l->addr;
    machsym_image *image = NULL;
    machsym_image_open(&desc, &image, NULL);
    return image;
}

#endif
