#ifndef ms_ROOM_base_reader
#define ms_ROOM_base_reader
#include "../api/options.h"
#include "../api/api.h"
#include "bytes.h"

/* ==== >>reader =============================================================================================
 * Job:    reads integers, LEB128 numbers and strings from a span.
 * Offers: ms_rd (sticky failure) and, for windows already checked, ms_rd_raw_*.
 * Never:  reads past the end: such a read returns 0, marks the reader failed and moves it to the end. */

/* A place in a span. */
typedef struct ms_rd {
    const uint8_t *p;
    const uint8_t *end;
    const uint8_t *start;
    bool failed;
} ms_rd;

static ms_rd ms_rd_make(ms_span span)
{
    ms_rd rd;
    rd.start = span.ptr;
    rd.p = span.ptr;
    rd.end = span.len != 0 ? span.ptr + span.len : span.ptr;
    rd.failed = false;
    return rd;
}

static ms_rd ms_rd_at(ms_span span, uint64_t off)
{
    ms_rd rd = ms_rd_make(span);
    if (off > span.len) {
        rd.p = rd.end;
        rd.failed = true;
    } else if (off != 0) {
        rd.p += off;
    }
    return rd;
}

static size_t ms_rd_left(const ms_rd *rd)
{
    return (size_t)(rd->end - rd->p);
}

static size_t ms_rd_offset(const ms_rd *rd)
{
    return (size_t)(rd->p - rd->start);
}

static void ms_rd_fail(ms_rd *rd)
{
    rd->failed = true;
    rd->p = rd->end;
}

static bool ms_rd_need(ms_rd *rd, uint64_t count)
{
    MACHSYM_COUNT_WORK(1);
    if (count <= ms_rd_left(rd))
        return true;
    ms_rd_fail(rd);
    return false;
}

static void ms_rd_skip(ms_rd *rd, uint64_t count)
{
    if (count != 0 && ms_rd_need(rd, count))
        rd->p += count;
}

/* Plain loads; the caller has checked that the bytes are there. Compilers make one load of each. */
static inline uint16_t ms_rd_raw_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t ms_rd_raw_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t ms_rd_raw_u64(const uint8_t *p)
{
    return (uint64_t)ms_rd_raw_u32(p) | (uint64_t)ms_rd_raw_u32(p + 4) << 32;
}

static uint8_t ms_rd_u8(ms_rd *rd)
{
    if (!ms_rd_need(rd, 1))
        return 0;
    return *rd->p++;
}

static uint16_t ms_rd_u16(ms_rd *rd)
{
    if (!ms_rd_need(rd, 2))
        return 0;
    rd->p += 2;
    return ms_rd_raw_u16(rd->p - 2);
}

static ms_NOINLINE uint32_t ms_rd_u32(ms_rd *rd)
{
    if (!ms_rd_need(rd, 4))
        return 0;
    rd->p += 4;
    return ms_rd_raw_u32(rd->p - 4);
}

static uint64_t ms_rd_u64(ms_rd *rd)
{
    if (!ms_rd_need(rd, 8))
        return 0;
    rd->p += 8;
    return ms_rd_raw_u64(rd->p - 8);
}

/* Fat headers and archives are big-endian. */
static uint32_t ms_rd_be32(ms_rd *rd)
{
    uint32_t lo = ms_rd_u8(rd);
    for (unsigned i = 0; i < 3; i++)
        lo = lo << 8 | ms_rd_u8(rd);
    return lo;
}

static uint64_t ms_rd_be64(ms_rd *rd)
{
    uint64_t hi = ms_rd_be32(rd);
    return hi << 32 | ms_rd_be32(rd);
}

/* An unsigned number of 1, 2, 3, 4 or 8 bytes. */
static uint64_t ms_rd_uint(ms_rd *rd, unsigned size)
{
    switch (size) {
    case 1: return ms_rd_u8(rd);
    case 2: return ms_rd_u16(rd);
    case 3: {
        uint32_t lo = ms_rd_u16(rd);
        return lo | (uint32_t)ms_rd_u8(rd) << 16;
    }
    case 4: return ms_rd_u32(rd);
    case 8: return ms_rd_u64(rd);
    default: ms_rd_fail(rd); return 0;
    }
}

/* ULEB128, DWARF5 7.6. A value of more than 64 bits is failure. Groups of zeros at its end are allowed. */
static uint64_t ms_rd_uleb_slow(ms_rd *rd)
{
    uint64_t value = 0;
    if (ms_rd_left(rd) > 1 &&
        rd->p[1] < 0x80) { /* two bytes, as nearly always: the first one says more follow */
        value = (uint64_t)(rd->p[0] & 0x7f) | (uint64_t)rd->p[1] << 7;
        rd->p += 2;
        return value;
    }
    for (unsigned shift = 0;; shift += 7) {
        if (rd->p == rd->end)
            break;
        uint8_t byte = *rd->p++;
        uint64_t bits = byte & 0x7f;
        if (shift < 64 ? (bits << shift) >> shift != bits : bits != 0)
            break;
        if (shift < 64)
            value |= bits << shift;
        if (byte < 0x80)
            return value;
    }
    ms_rd_fail(rd);
    return 0;
}

static ms_SHARED uint64_t ms_rd_uleb(ms_rd *rd)
{
    MACHSYM_COUNT_WORK(1);
    if (rd->p != rd->end && *rd->p < 0x80)
        return *rd->p++;
    return ms_rd_uleb_slow(rd);
}

/* SLEB128. Bits above bit 63 must repeat it: else the value has more than 64 bits, which is failure. */
static int64_t ms_rd_sleb_slow(ms_rd *rd)
{
    uint64_t value = 0;
    if (ms_rd_left(rd) > 1 &&
        rd->p[1] < 0x80) { /* two bytes, as nearly always: the first one says more follow */
        value = (uint64_t)(rd->p[0] & 0x7f) | (uint64_t)rd->p[1] << 7;
        rd->p += 2;
        return (int64_t)(value ^ 0x2000) - 0x2000;
    }
    for (unsigned shift = 0;; shift += 7) {
        if (rd->p == rd->end)
            break;
        uint8_t byte = *rd->p++;
        uint64_t bits = byte & 0x7f;
        if (shift < 64)
            value |= bits << shift;
        if (shift >= 63 && bits != (value >> 63 != 0 ? 0x7fu : 0u))
            break;
        if (byte < 0x80) {
            if ((byte & 0x40) != 0 && shift + 7 < 64)
                value |= ~(uint64_t)0 << (shift + 7);
            return (int64_t)value;
        }
    }
    ms_rd_fail(rd);
    return 0;
}

static inline int64_t ms_rd_sleb(ms_rd *rd)
{
    if (rd->p != rd->end && *rd->p < 0x80)
        return (int64_t)((*rd->p++ ^ 0x40u)) - 0x40;
    return ms_rd_sleb_slow(rd);
}

/* Text up to its NUL; failure when there is none. */
static machsym_str ms_rd_str(ms_rd *rd)
{
    const uint8_t *nul = (const uint8_t *)ms_find_byte(rd->p, ms_rd_left(rd), 0);
    MACHSYM_COUNT_WORK(1 + (nul == NULL ? ms_rd_left(rd) : (size_t)(nul - rd->p)) / 64);
    if (nul == NULL) {
        ms_rd_fail(rd);
        return ms_str_empty();
    }
    const char *text = (const char *)rd->p;
    rd->p = nul + 1;
    return ms_str_make(text, (size_t)(nul - (const uint8_t *)text));
}

static ms_span ms_rd_span(ms_rd *rd, uint64_t len)
{
    if (len == 0 || !ms_rd_need(rd, len))
        return ms_span_make(NULL, 0);
    ms_span span = ms_span_make(rd->p, (size_t)len);
    rd->p += span.len;
    return span;
}

/* The NUL-terminated text at an offset of a string section; empty when the offset or the NUL is missing, or
 * the text is longer than any name. */
static machsym_str ms_rd_str_at(ms_span section, uint64_t off)
{
    ms_rd rd = ms_rd_at(section, off);
    if (rd.failed)
        return ms_str_empty();
    if (ms_rd_left(&rd) > MACHSYM_MAX_TEXT)
        rd.end = rd.p + MACHSYM_MAX_TEXT;
    return ms_rd_str(&rd);
}

#endif /* ms_ROOM_base_reader */
