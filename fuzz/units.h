/* Debug info around a fuzzed part: units of several encodings, and abbreviations with everything that is
 * read. */
#ifndef MACHSYM_FUZZ_UNITS_H
#define MACHSYM_FUZZ_UNITS_H

#include "drive.h"

/* How a unit is written. */
typedef struct fuzz_encoding {
    unsigned version;
    unsigned addr_size;
    unsigned offset_size;
} fuzz_encoding;

static const fuzz_encoding fuzz_encodings[] = {{2, 8, 4}, {4, 8, 4}, {4, 4, 8}, {5, 8, 4}, {5, 4, 8}};
enum { FUZZ_ENCODINGS = sizeof fuzz_encodings / sizeof fuzz_encodings[0] };

/* A unit header whose abbreviations are the section's first, then the bytes. */
static inline void fuzz_unit(bytes *info, const fuzz_encoding *enc, const bytes *entries)
{
    size_t size = 2 + enc->offset_size + 1 + (enc->version >= 5 ? 1 : 0) + entries->len;
    if (enc->offset_size == 8)
        put32(info, 0xffffffffu);
    put_uint(info, size, enc->offset_size);
    put16(info, enc->version);
    if (enc->version >= 5) {
        put8(info, 1);
        put8(info, enc->addr_size);
    }
    put_uint(info, 0, enc->offset_size);
    if (enc->version < 5)
        put8(info, enc->addr_size);
    put_bytes(info, entries);
}

/* One abbreviation: code, tag, children, then pairs of attribute and form up to an attribute 0. */
static inline void fuzz_abbrev(bytes *b, unsigned code, unsigned tag, unsigned children, const uint16_t *spec)
{
    put_uleb(b, code);
    put_uleb(b, tag);
    put8(b, children);
    for (; *spec != 0; spec += 2) {
        put_uleb(b, spec[0]);
        put_uleb(b, spec[1]);
    }
    put16(b, 0);
}

/* Codes 1 to 11: roots, functions, inlined calls, blocks and others, small enough for a fuzzer to write. */
static inline void fuzz_abbrevs(bytes *b)
{
    static const uint16_t root[] = {0x03, 0x08, 0x10, 0x0b, 0x11, 0x01, 0x12, 0x05, 0};
    static const uint16_t root_5[] = {0x03, 0x26, 0x72, 0x17, 0x73, 0x17, 0x74,
                                      0x17, 0x55, 0x23, 0x10, 0x17, 0};
    static const uint16_t function[] = {0x03, 0x08, 0x11, 0x01, 0x12, 0x0b, 0};
    static const uint16_t function_ranges[] = {0x31, 0x11, 0x55, 0x0b, 0};
    static const uint16_t function_x[] = {0x6e, 0x1a, 0x03, 0x0e, 0x11, 0x1b, 0x12, 0x0f, 0};
    static const uint16_t inlined[] = {0x31, 0x11, 0x11, 0x01, 0x12, 0x0b, 0x58,
                                       0x0b, 0x59, 0x0b, 0x57, 0x0d, 0};
    static const uint16_t inlined_ranges[] = {0x31, 0x12, 0x55, 0x23, 0x59, 0x05, 0};
    static const uint16_t abstract[] = {0x03, 0x08, 0x6e, 0x08, 0x47, 0x11, 0};
    static const uint16_t elsewhere[] = {0x31, 0x10, 0x11, 0x1b, 0x12, 0x1b, 0};
    static const uint16_t other[] = {0x3ff0, 0x18, 0x3ff1, 0x0a, 0x3ff2, 0x16, 0x3ff3, 0x1e, 0};
    static const uint16_t none[] = {0};
    fuzz_abbrev(b, 1, 0x11, 1, root);
    fuzz_abbrev(b, 2, 0x11, 1, root_5);
    fuzz_abbrev(b, 3, 0x2e, 1, function);
    fuzz_abbrev(b, 4, 0x2e, 1, function_ranges);
    fuzz_abbrev(b, 5, 0x2e, 0, function_x);
    fuzz_abbrev(b, 6, 0x1d, 1, inlined);
    fuzz_abbrev(b, 7, 0x1d, 0, inlined_ranges);
    fuzz_abbrev(b, 8, 0x2e, 0, abstract);
    fuzz_abbrev(b, 9, 0x2e, 0, elsewhere);
    fuzz_abbrev(b, 10, 0x0b, 1, other);
    fuzz_abbrev(b, 11, 0x39, 1, none);
    put8(b, 0);
}

#endif
