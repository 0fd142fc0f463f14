#ifndef ms_ROOM_base_inflate
#define ms_ROOM_base_inflate
#include "../api/options.h"
#include "bytes.h"
#include "reader.h"

/* ==== >>inflate ============================================================================================
 * Job:    decompresses deflate streams (RFC 1951) and the zlib streams around them (RFC 1950).
 * Offers: ms_inf_raw, ms_inf_zlib.
 * Never:  allocates; writes past the room that it is given; trusts a size. It takes 13 KB of stack. */

#ifndef MACHSYM_NO_INFLATE

/* How a stream ended. */
typedef enum ms_inf_end {
    ms_INF_OK = 0,
    ms_INF_SHORT, /* the input ends inside the stream: what was written is what the stream has so far */
    ms_INF_FULL,  /* the stream has more bytes than there is room for */
    ms_INF_BAD,   /* no such stream */
    ms_INF_MORE   /* inside the room only: the block goes on */
} ms_inf_end;

/* Codes are looked up by their first bits in a table, and longer ones by the rest of their bits in a second
 * table after it. The cells are what a complete code of this many symbols can need with these bits. */
enum {
    ms_INF_LENGTH_BITS = 11,
    ms_INF_LENGTH_CELLS = 2342,
    ms_INF_DISTANCE_BITS = 8,
    ms_INF_DISTANCE_CELLS = 402,
    ms_INF_ORDER_BITS = 7, /* of the code for code lengths, which has no longer ones */
    ms_INF_MAX_BITS = 15,
    ms_INF_LENGTHS = 288, /* literals, the end of a block, lengths */
    ms_INF_DISTANCES = 32,
    ms_INF_END_OF_BLOCK = 256,
    ms_INF_MOST = 258,                   /* bytes that one symbol copies */
    ms_INF_IN_SLACK = 16,                /* one turn of the fast loop reads no more than two words */
    ms_INF_OUT_SLACK = ms_INF_MOST + 16, /* and writes two literals and a copy in whole words */
    ms_INF_ADLER_PRIME = 65521,
    ms_INF_ADLER_RUN = 5552 /* bytes before the sums of 32 bits could overflow: RFC 1950 9 */
};

/* A cell: bits 0 to 4: how many bits the code and what follows it take; 8 to 11: those of the code alone;
 * 16 to 30: the literal, or the least length or distance, or where the second table is. */
#define ms_INF_LITERAL 0x80000000u
#define ms_INF_SPECIAL 0x8000u /* one of the next two, or no code */
#define ms_INF_SECOND  0x4000u /* a second table, which bits 8 to 11 number */
#define ms_INF_STOP    0x2000u /* the end of the block */

/* What a table is for. */
typedef enum ms_inf_kind { ms_INF_OF_ORDER, ms_INF_OF_LENGTHS, ms_INF_OF_DISTANCES } ms_inf_kind;

/* The input, bit by bit. */
typedef struct ms_inf_flow {
    const uint8_t *p;
    const uint8_t *end;
    uint64_t bits;  /* the next ones, lowest first; above count stand none, or those at p */
    unsigned count; /* of the bits that were taken from the bytes before p */
} ms_inf_flow;

/* A stream that is being read. */
typedef struct ms_inf {
    ms_inf_flow flow;
    uint8_t *out;
    size_t at;
    size_t cap;
    bool is_fixed; /* the tables are those of RFC 1951 3.2.6 */
    uint32_t lengths[ms_INF_LENGTH_CELLS];
    uint32_t distances[ms_INF_DISTANCE_CELLS];
} ms_inf;

/* ---- Tables ---- */

/* The cell of a symbol, without the bits of its code. RFC 1951 3.2.5 has the lengths and distances as lists;
 * they follow these rules. */
static uint32_t ms_inf_cell(ms_inf_kind kind, uint32_t symbol)
{
    uint32_t extra = 0;
    uint32_t least;
    if (kind == ms_INF_OF_ORDER)
        return symbol << 16;
    if (kind == ms_INF_OF_DISTANCES) {
        if (symbol >= 30)
            return ms_INF_SPECIAL;
        extra = symbol < 4 ? 0 : (symbol >> 1) - 1;
        least = symbol < 4 ? 1 + symbol : 1 + ((2 + (symbol & 1)) << extra);
        return least << 16 | extra;
    }
    if (symbol < ms_INF_END_OF_BLOCK)
        return ms_INF_LITERAL | symbol << 16;
    if (symbol == ms_INF_END_OF_BLOCK)
        return ms_INF_SPECIAL | ms_INF_STOP;
    symbol -= ms_INF_END_OF_BLOCK + 1;
    if (symbol >= 29)
        return ms_INF_SPECIAL;
    extra = symbol < 8 || symbol == 28 ? 0 : (symbol >> 2) - 1;
    least = symbol < 8 ? 3 + symbol : 3 + ((4 + (symbol & 3)) << extra);
    return (symbol == 28 ? (uint32_t)ms_INF_MOST : least) << 16 | extra;
}

/* Whether code lengths make a code. An incomplete one is allowed only if it has one code of one bit, or none:
 * RFC 1951 3.2.7 has that for distances, and zlib takes it for lengths too. */
static bool ms_inf_is_code(const uint16_t *counts, unsigned longest, ms_inf_kind kind, bool *is_complete)
{
    int32_t left = 1;
    for (unsigned len = 1; len <= ms_INF_MAX_BITS; len++) {
        left = left * 2 - counts[len];
        if (left < 0)
            return false;
    }
    *is_complete = left == 0;
    return left == 0 || (kind != ms_INF_OF_ORDER && longest <= 1);
}

/* How many bits the second table takes that begins with a code of len bits. counts: of codes that are
 * left. */
static unsigned ms_inf_second_bits(const uint16_t *counts, unsigned len, unsigned first, unsigned longest)
{
    unsigned bits = len - first;
    int32_t left = (int32_t)1 << bits;
    while (first + bits < longest) {
        left -= counts[first + bits];
        if (left <= 0)
            break;
        bits++;
        left *= 2;
    }
    return bits;
}

/* The code after this one in order, of codes that stand with their first bit lowest. */
static uint32_t ms_inf_next_code(uint32_t code, unsigned len)
{
    uint32_t bit = (uint32_t)1 << (len - 1);
    while ((code & bit) != 0) {
        code ^= bit;
        bit >>= 1;
    }
    return code | bit;
}

/* Sorts the symbols by the lengths of their codes. Returns how many have one. */
static unsigned ms_inf_sort(const uint8_t *lens, unsigned symbols, uint16_t *counts, uint16_t *sorted)
{
    uint16_t next[ms_INF_MAX_BITS + 2];
    for (unsigned i = 0; i <= ms_INF_MAX_BITS; i++)
        counts[i] = 0;
    for (unsigned i = 0; i < symbols; i++)
        counts[lens[i]]++;
    counts[0] = 0;
    next[0] = next[1] = 0;
    for (unsigned i = 1; i <= ms_INF_MAX_BITS; i++)
        next[i + 1] = (uint16_t)(next[i] + counts[i]);
    unsigned used = next[ms_INF_MAX_BITS + 1];
    for (unsigned i = 0; i < symbols; i++) {
        if (lens[i] != 0)
            sorted[next[lens[i]]++] = (uint16_t)i;
    }
    return used;
}

/* Makes the table of a code: first bits in its first part, cap cells in all. Returns false when the lengths
 * make no code. */
static bool ms_inf_build(const uint8_t *lens, unsigned symbols, ms_inf_kind kind, unsigned first,
                         uint32_t *table, unsigned cap)
{
    uint16_t counts[ms_INF_MAX_BITS + 1];
    uint16_t sorted[ms_INF_LENGTHS];
    uint32_t mask = ((uint32_t)1 << first) - 1;
    uint32_t second = mask + 1; /* where the second table begins */
    uint32_t second_bits = 0;
    uint32_t prefix = ~(uint32_t)0;
    uint32_t code = 0;
    unsigned longest = ms_INF_MAX_BITS;
    bool is_complete;
    unsigned used = ms_inf_sort(lens, symbols, counts, sorted);
    while (longest > 0 && counts[longest] == 0)
        longest--;
    if (!ms_inf_is_code(counts, longest, kind, &is_complete))
        return false;
    for (uint32_t i = 0; i <= mask && !is_complete; i++)
        table[i] = ms_INF_SPECIAL | 1u << 8 | 1u; /* zlib, too, takes one bit for no code */
    for (unsigned i = 0; i < used; i++) {
        unsigned len = lens[sorted[i]];
        uint32_t cell = ms_inf_cell(kind, sorted[i]);
        if (len <= first) {
            for (uint32_t at = code; at <= mask; at += (uint32_t)1 << len)
                table[at] = (cell + len) | len << 8;
        } else {
            if ((code & mask) != prefix) {
                second = prefix == ~(uint32_t)0 ? second : second + ((uint32_t)1 << second_bits);
                prefix = code & mask;
                second_bits = ms_inf_second_bits(counts, len, first, longest);
                if (second + ((uint32_t)1 << second_bits) > cap)
                    return false;
                table[prefix] = ms_INF_SPECIAL | ms_INF_SECOND | second << 16 | second_bits << 8 | first;
            }
            for (uint32_t at = code >> first; at >> second_bits == 0; at += (uint32_t)1 << (len - first))
                table[second + at] = (cell + (len - first)) | (len - first) << 8;
        }
        counts[len]--;
        code = ms_inf_next_code(code, len);
    }
    MACHSYM_COUNT_WORK(mask + symbols);
    return true;
}

/* ---- Bits ---- */

/* Takes bytes of the input while another one fits. */
static void ms_inf_fill(ms_inf_flow *s)
{
    for (; s->count <= 56 && s->p < s->end; s->count += 8)
        s->bits |= (uint64_t)*s->p++ << s->count;
}

static uint32_t ms_inf_low(uint64_t bits, unsigned count)
{
    return (uint32_t)(bits & (((uint64_t)1 << count) - 1));
}

/* Takes a number of up to 16 bits. Returns false when the input ends before. */
static bool ms_inf_take(ms_inf_flow *s, unsigned count, uint32_t *value)
{
    ms_inf_fill(s);
    if (count > s->count)
        return false;
    *value = ms_inf_low(s->bits, count);
    s->bits >>= count;
    s->count -= count;
    return true;
}

/* A symbol's cell, with its code and what follows that taken. *value: the cell's number with what follows the
 * code. Returns false when there are not as many bits. */
static bool ms_inf_decode(ms_inf_flow *s, const uint32_t *table, unsigned first, uint32_t *cell,
                          uint32_t *value)
{
    *cell = table[ms_inf_low(s->bits, first)];
    if ((*cell & ms_INF_SECOND) != 0) {
        if (first > s->count)
            return false;
        s->bits >>= first;
        s->count -= first;
        *cell = table[(*cell >> 16) + ms_inf_low(s->bits, *cell >> 8 & 15)];
    }
    unsigned taken = *cell & 31;
    if (taken > s->count)
        return false;
    *value = (*cell >> 16 & 0x7fff) + (ms_inf_low(s->bits, taken) >> (*cell >> 8 & 15));
    s->bits >>= taken;
    s->count -= taken;
    return true;
}

/* ---- Blocks ---- */

/* RFC 1951 3.2.4 */
static ms_inf_end ms_inf_stored(ms_inf *s)
{
    ms_inf_flow *in = &s->flow;
    in->p -= in->count / 8; /* bits up to the next byte are dropped, whole bytes are given back */
    in->bits = 0;
    in->count = 0;
    if (in->end - in->p < 4)
        return ms_INF_SHORT;
    uint32_t len = ms_rd_raw_u16(in->p);
    uint32_t check = ms_rd_raw_u16(in->p + 2);
    if ((len ^ check) != 0xffff)
        return ms_INF_BAD;
    in->p += 4;
    size_t left = (size_t)(in->end - in->p);
    size_t some = len < left ? len : left;
    ms_inf_end end = some < len ? ms_INF_SHORT : ms_INF_OK;
    if (some > s->cap - s->at) {
        some = s->cap - s->at;
        end = ms_INF_FULL;
    }
    if (some != 0)
        ms_copy(s->out + s->at, in->p, some);
    in->p += some;
    s->at += some;
    return end;
}

/* RFC 1951 3.2.6 */
static void ms_inf_fix(ms_inf *s)
{
    uint8_t lens[ms_INF_LENGTHS];
    if (s->is_fixed)
        return;
    for (unsigned i = 0; i < ms_INF_LENGTHS; i++)
        lens[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    ms_inf_build(lens, ms_INF_LENGTHS, ms_INF_OF_LENGTHS, ms_INF_LENGTH_BITS, s->lengths,
                 ms_INF_LENGTH_CELLS);
    for (unsigned i = 0; i < ms_INF_DISTANCES; i++)
        lens[i] = 5;
    ms_inf_build(lens, ms_INF_DISTANCES, ms_INF_OF_DISTANCES, ms_INF_DISTANCE_BITS, s->distances,
                 ms_INF_DISTANCE_CELLS);
    s->is_fixed = true;
}

/* Reads the code lengths of a block, of both codes in one row. The code that they are in stands where the
 * distances will be. */
static ms_inf_end ms_inf_read_lengths(ms_inf *s, uint8_t *lens, unsigned total)
{
    unsigned i = 0;
    while (i < total) {
        uint32_t cell;
        uint32_t value;
        uint32_t times = 1;
        uint8_t repeated = 0;
        ms_inf_fill(&s->flow);
        if (!ms_inf_decode(&s->flow, s->distances, ms_INF_ORDER_BITS, &cell, &value))
            return ms_INF_SHORT;
        if (value < 16)
            repeated = (uint8_t)value;
        else if (!ms_inf_take(&s->flow, value == 16 ? 2 : value == 17 ? 3 : 7, &times))
            return ms_INF_SHORT;
        else
            times += value == 18 ? 11 : 3;
        if (times > total - i || (value == 16 && i == 0))
            return ms_INF_BAD;
        if (value == 16)
            repeated = lens[i - 1];
        for (; times > 0; times--)
            lens[i++] = repeated;
        MACHSYM_COUNT_WORK(1);
    }
    return ms_INF_OK;
}

/* RFC 1951 3.2.7. As zlib does, it refuses more symbols than have a meaning, and codes without an end of the
 * block. */
static ms_inf_end ms_inf_read_codes(ms_inf *s)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lens[ms_INF_LENGTHS + ms_INF_DISTANCES];
    uint32_t length_count;
    uint32_t distance_count;
    uint32_t order_count;
    uint32_t len;
    s->is_fixed = false;
    if (!ms_inf_take(&s->flow, 5, &length_count) || !ms_inf_take(&s->flow, 5, &distance_count) ||
        !ms_inf_take(&s->flow, 4, &order_count))
        return ms_INF_SHORT;
    length_count += 257;
    distance_count += 1;
    order_count += 4;
    if (length_count > 286 || distance_count > 30)
        return ms_INF_BAD;
    for (unsigned i = 0; i < 19; i++) {
        len = 0;
        if (i < order_count && !ms_inf_take(&s->flow, 3, &len))
            return ms_INF_SHORT;
        lens[order[i]] = (uint8_t)len;
    }
    if (!ms_inf_build(lens, 19, ms_INF_OF_ORDER, ms_INF_ORDER_BITS, s->distances, ms_INF_DISTANCE_CELLS))
        return ms_INF_BAD;
    ms_inf_end end = ms_inf_read_lengths(s, lens, length_count + distance_count);
    if (end != ms_INF_OK)
        return end;
    bool ok = lens[ms_INF_END_OF_BLOCK] != 0 &&
              ms_inf_build(lens, length_count, ms_INF_OF_LENGTHS, ms_INF_LENGTH_BITS, s->lengths,
                           ms_INF_LENGTH_CELLS) &&
              ms_inf_build(lens + length_count, distance_count, ms_INF_OF_DISTANCES, ms_INF_DISTANCE_BITS,
                           s->distances, ms_INF_DISTANCE_CELLS);
    return ok ? ms_INF_OK : ms_INF_BAD;
}

/* ---- Symbols ---- */

/* Copies len bytes from distance bytes before. The room has ms_INF_OUT_SLACK. */
static void ms_inf_repeat(uint8_t *to, size_t distance, size_t len)
{
    const uint8_t *from = to - distance;
    uint8_t *stop = to + len;
    MACHSYM_COUNT_WORK(len / 64);
    if (distance >= 8) {
        for (; to < stop; to += 8, from += 8)
            ms_copy(to, from, 8);
        return;
    }
    while (to < stop)
        *to++ = *from++;
}

/* At least 56 bits of the input: a length, a distance and what follows them take 48. Bytes that are taken in
 * part are taken again. */
static inline void ms_inf_refill(ms_inf_flow *s)
{
    s->bits |= ms_rd_raw_u64(s->p) << s->count;
    s->p += (63 - s->count) >> 3;
    s->count |= 56;
}

/* Takes the code of a cell, and what follows it. Returns the cell's number with that. */
static inline uint32_t ms_inf_value(ms_inf_flow *s, uint32_t cell)
{
    unsigned taken = cell & 31;
    uint32_t more = ms_inf_low(s->bits, taken) >> (cell >> 8 & 15);
    s->bits >>= taken;
    s->count -= taken;
    return (cell >> 16) + more;
}

/* The cell of the next code; bits that lead to a second table are taken. */
static inline uint32_t ms_inf_find(ms_inf_flow *s, const uint32_t *table, unsigned first)
{
    uint32_t cell = table[ms_inf_low(s->bits, first)];
    if ((cell & ms_INF_SECOND) == 0)
        return cell;
    s->bits >>= first;
    s->count -= first;
    return table[(cell >> 16) + ms_inf_low(s->bits, cell >> 8 & 15)];
}

/* Decodes symbols while neither the input nor the room is near its end. Returns ms_INF_MORE there. */
static ms_inf_end ms_inf_run(ms_inf *shared)
{
    const uint32_t *lengths = shared->lengths;
    const uint32_t *distances = shared->distances;
    ms_inf_flow flow = shared->flow; /* a copy of its own stays in registers */
    ms_inf_flow *s = &flow;
    uint8_t *out = shared->out + shared->at;
    ms_inf_end end = ms_INF_MORE;
    if (s->end - s->p < ms_INF_IN_SLACK || shared->cap - shared->at < ms_INF_OUT_SLACK)
        return end;
    const uint8_t *last_in = s->end - ms_INF_IN_SLACK;
    const uint8_t *last_out = shared->out + shared->cap - ms_INF_OUT_SLACK;
    while (end == ms_INF_MORE && s->p <= last_in && out <= last_out) {
        MACHSYM_COUNT_WORK(1);
        ms_inf_refill(s);
        uint32_t cell = lengths[ms_inf_low(s->bits, ms_INF_LENGTH_BITS)];
        for (unsigned i = 0; i < 2 && (cell & ms_INF_LITERAL) != 0; i++) { /* 22 bits at most */
            *out++ = (uint8_t)ms_inf_value(s, cell);
            cell = lengths[ms_inf_low(s->bits, ms_INF_LENGTH_BITS)];
        }
        ms_inf_refill(s);
        cell = ms_inf_find(s, lengths, ms_INF_LENGTH_BITS);
        if ((cell & (ms_INF_LITERAL | ms_INF_SPECIAL)) != 0) {
            uint32_t literal = ms_inf_value(s, cell);
            if ((cell & ms_INF_LITERAL) != 0)
                *out++ = (uint8_t)literal;
            else
                end = (cell & ms_INF_STOP) != 0 ? ms_INF_OK : ms_INF_BAD;
            continue;
        }
        size_t len = ms_inf_value(s, cell);
        cell = ms_inf_find(s, distances, ms_INF_DISTANCE_BITS);
        size_t distance = ms_inf_value(s, cell);
        if ((cell & ms_INF_SPECIAL) != 0 || distance > (size_t)(out - shared->out)) {
            end = ms_INF_BAD;
            break;
        }
        ms_inf_repeat(out, distance, len);
        out += len;
    }
    shared->flow = flow;
    shared->at = (size_t)(out - shared->out);
    return end;
}

/* Decodes one symbol near the end of the input or of the room. */
static ms_inf_end ms_inf_step(ms_inf *s)
{
    uint32_t cell;
    uint32_t len;
    uint32_t distance;
    ms_inf_flow *in = &s->flow;
    MACHSYM_COUNT_WORK(1);
    ms_inf_fill(in);
    if (!ms_inf_decode(in, s->lengths, ms_INF_LENGTH_BITS, &cell, &len))
        return ms_INF_SHORT;
    if ((cell & ms_INF_LITERAL) != 0) {
        if (s->at == s->cap)
            return ms_INF_FULL;
        s->out[s->at++] = (uint8_t)(cell >> 16);
        return ms_INF_MORE;
    }
    if ((cell & ms_INF_SPECIAL) != 0)
        return (cell & ms_INF_STOP) != 0 ? ms_INF_OK : ms_INF_BAD;
    if (!ms_inf_decode(in, s->distances, ms_INF_DISTANCE_BITS, &cell, &distance))
        return ms_INF_SHORT;
    if ((cell & ms_INF_SPECIAL) != 0 || distance > s->at)
        return ms_INF_BAD;
    for (; len > 0 && s->at < s->cap; len--, s->at++)
        s->out[s->at] = s->out[s->at - distance];
    return len > 0 ? ms_INF_FULL : ms_INF_MORE;
}

/* Reads a block. */
static ms_inf_end ms_inf_block(ms_inf *s, bool *is_last)
{
    uint32_t head;
    if (!ms_inf_take(&s->flow, 3, &head))
        return ms_INF_SHORT;
    *is_last = (head & 1) != 0;
    switch (head >> 1) {
    case 0: return ms_inf_stored(s);
    case 1: ms_inf_fix(s); break;
    case 2: {
        ms_inf_end end = ms_inf_read_codes(s);
        if (end != ms_INF_OK)
            return end;
        break;
    }
    default: return ms_INF_BAD;
    }
    ms_inf_end end;
    do {
        end = ms_inf_run(s);
        if (end == ms_INF_MORE)
            end = ms_inf_step(s);
    } while (end == ms_INF_MORE);
    return end;
}

/* ---- Streams ---- */

/* Decompresses a deflate stream. *len: how many of the cap bytes at out were written, whatever the end is.
 * *used: how many bytes of the input the stream took. */
static ms_inf_end ms_inf_raw(ms_span in, uint8_t *out, size_t cap, size_t *len, size_t *used)
{
    ms_inf s;
    bool is_last = false;
    ms_inf_end end = ms_INF_OK;
    s.flow.p = in.ptr;
    s.flow.end = in.len != 0 ? in.ptr + in.len : in.ptr;
    s.flow.bits = 0;
    s.flow.count = 0;
    s.out = out;
    s.at = 0;
    s.cap = cap;
    s.is_fixed = false;
    while (end == ms_INF_OK && !is_last)
        end = ms_inf_block(&s, &is_last);
    *len = s.at;
    *used = (size_t)(s.flow.p - in.ptr) - s.flow.count / 8;
    return end;
}

/* RFC 1950 9 */
static uint32_t ms_inf_adler(const uint8_t *ptr, size_t len)
{
    uint32_t a = 1;
    uint32_t b = 0;
    while (len > 0) {
        size_t run = len < ms_INF_ADLER_RUN ? len : (size_t)ms_INF_ADLER_RUN;
        for (size_t i = 0; i < run; i++) {
            a += ptr[i];
            b += a;
        }
        a %= ms_INF_ADLER_PRIME;
        b %= ms_INF_ADLER_PRIME;
        ptr += run;
        len -= run;
    }
    return b << 16 | a;
}

/* Decompresses a zlib stream, and compares its checksum. The arguments are those of ms_inf_raw. */
static ms_inf_end ms_inf_zlib(ms_span in, uint8_t *out, size_t cap, size_t *len, size_t *used)
{
    ms_rd rd = ms_rd_make(in);
    uint32_t method = ms_rd_u8(&rd);
    uint32_t flags = ms_rd_u8(&rd);
    *len = *used = 0;
    if (rd.failed)
        return ms_INF_SHORT;
    /* deflate, a window of up to 32 KB, no dictionary */
    if ((method & 15) != 8 || method >> 4 > 7 || (method << 8 | flags) % 31 != 0 || (flags & 32) != 0)
        return ms_INF_BAD;
    ms_inf_end end = ms_inf_raw(ms_span_from(in, 2), out, cap, len, used);
    *used += 2;
    if (end != ms_INF_OK)
        return end;
    rd = ms_rd_at(in, *used);
    uint32_t adler = ms_rd_be32(&rd);
    if (rd.failed)
        return ms_INF_SHORT;
    *used += 4;
    return adler == ms_inf_adler(out, *len) ? ms_INF_OK : ms_INF_BAD;
}

#endif /* MACHSYM_NO_INFLATE */

#endif /* ms_ROOM_base_inflate */
