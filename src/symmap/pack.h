#ifndef ms_ROOM_symmap_pack
#define ms_ROOM_symmap_pack
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../api/api.h"

/* ==== >>pack =============================================================================================
 * Job:    packs text in blocks of 1,024 bytes, each an LZ4 block with a dictionary.
 * Offers: ms_pk_spaces, ms_pk_add_sample, ms_pk_index_dict, ms_pk_fill_dict, ms_pk_place, ms_pk_pack,
 *         ms_pk_unpack.
 * Never:  knows what the text is; writes past a block whatever the packed bytes say. */

enum {
    /* Bytes of text in a block. A name costs the unpacking of half a block on average. */
    ms_PK_BLOCK_BITS = 10,
    ms_PK_BLOCK = 1 << ms_PK_BLOCK_BITS,
    /* Bytes of the dictionary, which the matches of each block may reach. Blocks of 4 KB without one pack
     * no better. */
    ms_PK_DICT = 16384,
    /* The dictionary is made of samples from all over the text. A sample has this many bytes. */
    ms_PK_SAMPLE = 256,
    /* The writer takes one sample for each this many bytes of text, so that a small map has a small
     * dictionary. So does the map of an image of a shared cache. */
    ms_PK_PER_SAMPLE = 4096
};

/* ---- LZ4 blocks ---- */

enum {
    ms_PK_MIN = 4,       /* bytes of the shortest match */
    ms_PK_TAIL = 12,     /* no match begins within this many bytes of the end: the format wants that */
    ms_PK_LAST = 5,      /* nor ends within this many */
    ms_PK_LONG = 15,     /* a length of so much or more goes on in further bytes */
    ms_PK_USUAL = 992,   /* of a block; its last 32 bytes are not unpacked in whole steps */
    ms_PK_BITS = 9,      /* of the hash of a word in the block */
    ms_PK_DICT_BITS = 13 /* of the hash of a word in the dictionary */
};

/* The dictionary with the positions of its 4-byte words. */
typedef struct ms_pk_dict {
    uint8_t text[ms_PK_DICT];
    size_t len;
    uint16_t last[1 << ms_PK_DICT_BITS]; /* position of the last word with this hash; 0 where none has it */
} ms_pk_dict;

static size_t ms_pk_word_hash(const uint8_t *p, unsigned bits)
{
    return (ms_rd_raw_u32(p) * 2654435761u) >> (32 - bits);
}

static void ms_pk_index_dict(ms_pk_dict *dict)
{
    ms_zero(dict->last, sizeof dict->last);
    for (size_t i = 0; i + ms_PK_MIN <= dict->len; i++)
        dict->last[ms_pk_word_hash(dict->text + i, ms_PK_DICT_BITS)] = (uint16_t)i;
}

static uint8_t *ms_pk_put_length(uint8_t *out, size_t rest)
{
    for (; rest >= 255; rest -= 255)
        *out++ = 255;
    *out++ = (uint8_t)rest;
    return out;
}

/* Writes one sequence: literals, then a match. There is no match when match_len is 0. */
static uint8_t *ms_pk_put_sequence(uint8_t *out, const uint8_t *literals, size_t count, size_t back,
                                   size_t match_len)
{
    size_t code = match_len == 0 ? 0 : match_len - ms_PK_MIN;
    *out++ = (uint8_t)((count < ms_PK_LONG ? count : (size_t)ms_PK_LONG) << 4 |
                       (code < ms_PK_LONG ? code : (size_t)ms_PK_LONG));
    if (count >= ms_PK_LONG)
        out = ms_pk_put_length(out, count - ms_PK_LONG);
    if (match_len != 0 && count <= 16) { /* ms_PK_TAIL bytes follow: copies of a fixed length are fast */
        ms_copy(out, literals, 8);
        if (count > 8)
            ms_copy(out + 8, literals + 8, 8);
    } else {
        ms_copy(out, literals, count);
    }
    out += count;
    if (match_len == 0)
        return out;
    *out++ = (uint8_t)back;
    *out++ = (uint8_t)(back >> 8);
    return code >= ms_PK_LONG ? ms_pk_put_length(out, code - ms_PK_LONG) : out;
}

/* How many bytes are equal at a and b, where the first ms_PK_MIN are. */
static inline size_t ms_pk_match_length(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t most = a_len < b_len ? a_len : b_len;
    size_t len = ms_PK_MIN;
    for (; most - len >= 8; len += 8) {
        uint64_t differs = ms_rd_raw_u64(a + len) ^ ms_rd_raw_u64(b + len);
        if (differs != 0)
            return len + ms_low_zeros(differs) / 8;
    }
    while (len < most && a[len] == b[len])
        len++;
    return len;
}

/* Looks for the text at a position in the block before it and in the dictionary. Returns the length of the
 * longer match, and how far back it begins; 0 when there is none. A slot that was never set tells of position
 * 0, where the word is compared too: whether a slot was set cannot be predicted, and most candidates only
 * share their hash, so that there is one branch for both. */
static inline size_t ms_pk_find_match(const ms_pk_dict *dict, const uint8_t *text, size_t at, size_t end,
                                      uint16_t *last, size_t *back)
{
    uint32_t word = ms_rd_raw_u32(text + at);
    uint16_t *slot = &last[ms_pk_word_hash(text + at, ms_PK_BITS)];
    size_t seen = *slot;
    size_t known = dict->last[ms_pk_word_hash(text + at, ms_PK_DICT_BITS)];
    unsigned in_text = (unsigned)(ms_rd_raw_u32(text + seen) == word) & (unsigned)(seen != at);
    unsigned in_dict =
        (unsigned)(ms_rd_raw_u32(dict->text + known) == word) & (unsigned)(dict->len >= ms_PK_MIN);
    size_t best = 0;
    *slot = (uint16_t)at;
    if ((in_text | in_dict) == 0)
        return 0;
    if (in_text != 0) {
        best = ms_pk_match_length(text + seen, end - seen, text + at, end - at);
        *back = at - seen;
    }
    if (in_dict != 0) {
        size_t len = ms_pk_match_length(dict->text + known, dict->len - known, text + at, end - at);
        if (len > best) {
            best = len;
            *back = at + dict->len - known;
        }
    }
    return best;
}

/* Packs a block of text into out, which has room for 2 * ms_PK_BLOCK. Returns the packed size. When
 * packing gains nothing, out holds the text itself, and the size of the text is returned. */
static size_t ms_pk_pack(const ms_pk_dict *dict, const uint8_t *text, size_t len, uint8_t *out)
{
    uint16_t last[1 << ms_PK_BITS];
    uint8_t *to = out;
    size_t literal = 0;
    size_t limit = len > ms_PK_TAIL ? len - ms_PK_TAIL : 0;
    ms_zero(last, sizeof last);
    for (size_t at = 0; at < limit;) {
        size_t back = 0;
        size_t match = ms_pk_find_match(dict, text, at, len - ms_PK_LAST, last, &back);
        if (match == 0) {
            at++;
            continue;
        }
        to = ms_pk_put_sequence(to, text + literal, at - literal, back, match);
        at += match;
        literal = at;
    }
    to = ms_pk_put_sequence(to, text + literal, len - literal, 0, 0);
    if ((size_t)(to - out) < len)
        return (size_t)(to - out);
    ms_copy(out, text, len);
    return len;
}

static size_t ms_pk_get_length(ms_rd *rd, size_t code)
{
    size_t len = code;
    uint8_t more = 255;
    while (code == ms_PK_LONG && more == 255 && len < 2 * ms_PK_BLOCK && !rd->failed) {
        more = ms_rd_u8(rd);
        len += more;
    }
    return len;
}

/* Copies a match to out + at. Returns where it ends. A match may overlap what it makes. The copies of 8
 * bytes may go past the end: out has 16 bytes of room after the block. Most matches are short, and a copy
 * of any length would take longer to begin. */
static size_t ms_pk_copy_match(ms_span dict, uint8_t *out, size_t at, size_t back, size_t len)
{
    size_t end = at + len;
    if (back > at) { /* the match begins in the dictionary, and may go on in the block */
        const uint8_t *from = dict.ptr + (dict.len - (back - at));
        size_t stop = back - at < len ? at + (back - at) : end;
        for (; stop - at >= 8; at += 8, from += 8)
            ms_copy(out + at, from, 8);
        for (; at < stop; at++)
            out[at] = *from++;
    }
    if (back >= 8) {
        for (; at < end; at += 8)
            ms_copy(out + at, out + at - back, 8);
    }
    for (; at < end; at++)
        out[at] = out[at - back];
    return end;
}

/* Copies in steps of 16 bytes, up to 15 bytes more than len. */
static inline void ms_pk_copy_literals(uint8_t *out, const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i += 16)
        ms_copy(out + i, from + i, 16);
}

/* Unpacks sequences without a check of each byte, which does for nearly all. It stops before the first
 * sequence that has a length of more than one further byte, whose match overlaps itself by less than 8 bytes
 * or crosses the end of the dictionary, or that is near the end of the packed bytes or of the block. Copies
 * are of whole steps; the next sequence overwrites what was too much, and out has 16 bytes of room after the
 * block. Returns how far the block is unpacked. */
static size_t ms_pk_unpack_usual(ms_span dict, ms_rd *rd, uint8_t *out, size_t at, size_t want)
{
    const size_t stop = want < ms_PK_USUAL ? want : (size_t)ms_PK_USUAL;
    const uint8_t *p = rd->p;
    while (rd->end - p >= 18 && at < stop) { /* token, 14 literals, distance, further byte */
        const uint8_t *next = p + 1;
        size_t literals = *p >> 4;
        size_t match = (*p & 15u) + ms_PK_MIN;
        MACHSYM_COUNT_WORK(1);
        if (literals == ms_PK_LONG) {
            literals += *next++;
            if (literals > ms_PK_USUAL - at || literals == ms_PK_LONG + 255 ||
                (size_t)(rd->end - next) < literals + 19)
                break;
            ms_pk_copy_literals(out + at, next, literals);
        } else {
            ms_copy(out + at, next, 16);
        }
        size_t to = at + literals;
        size_t back = ms_rd_raw_u16(next + literals);
        next += literals + 2;
        if (match == ms_PK_LONG + ms_PK_MIN)
            match += *next++;
        if (match > ms_PK_BLOCK - to || match == ms_PK_LONG + ms_PK_MIN + 255 || back < 8 ||
            back > to + dict.len || (back > to && back - to < match + 24))
            break;
        const uint8_t *from = back > to ? dict.ptr + (dict.len - (back - to)) : out + (to - back);
        ms_copy(out + to, from, 8); /* steps of 8: a match may overlap what it makes */
        ms_copy(out + to + 8, from + 8, 8);
        ms_copy(out + to + 16, from + 16, 8);
        for (size_t i = 24; i < match; i += 8)
            ms_copy(out + to + i, from + i, 8);
        p = next;
        at = to + match;
    }
    rd->p = p;
    return at;
}

/* Unpacks a block until its first want bytes are there. The first at bytes are there already, and rd
 * goes on with the packed bytes. Returns how many bytes there are: fewer than want when the packed bytes are
 * damaged, and then as many whatever was wanted. */
static size_t ms_pk_unpack(ms_span dict, ms_rd *rd, uint8_t *out, size_t at, size_t want)
{
    if (at == 0 && ms_rd_left(rd) >= ms_PK_BLOCK) {
        ms_copy(out, rd->p, ms_PK_BLOCK);
        return ms_PK_BLOCK;
    }
    while (ms_rd_left(rd) > 0 && at < want) {
        at = ms_pk_unpack_usual(dict, rd, out, at, want);
        if (at >= want)
            break;
        uint8_t token = ms_rd_u8(rd);
        ms_span literals = ms_rd_span(rd, ms_pk_get_length(rd, token >> 4));
        bool fits = literals.len <= ms_PK_BLOCK - at;
        if (fits)
            ms_copy(out + at, literals.ptr, literals.len);
        at += fits ? literals.len : 0;
        if (fits && ms_rd_left(rd) == 0)
            break;
        size_t back = ms_rd_u16(rd);
        size_t match = ms_pk_get_length(rd, token & 15) + ms_PK_MIN;
        if (!fits || rd->failed || back == 0 || back > at + dict.len || match > ms_PK_BLOCK - at) {
            rd->p = rd->end; /* what follows would be taken for something else */
            break;
        }
        at = ms_pk_copy_match(dict, out, at, back, match);
    }
    return at;
}

/* ---- The text that is cut into blocks ---- */

/* The text that is packed: string tables one after the other, each from a block boundary on. */
typedef struct ms_pk_spaces {
    ms_span v[3];     /* .debug_str, and the string tables of both halves of the image */
    uint64_t base[3]; /* the place where each begins */
    uint64_t total;   /* bytes of all, whole blocks */
} ms_pk_spaces;

/* Adds string table i after those before it. */
static void ms_pk_add_space(ms_pk_spaces *spaces, size_t i, ms_span table)
{
    spaces->v[i] = table;
    spaces->base[i] = spaces->total;
    spaces->total += ((uint64_t)table.len + ms_PK_BLOCK - 1) / ms_PK_BLOCK * ms_PK_BLOCK;
}

/* Copies the text at a place. The end of a string table is padded with zeros. */
static void ms_pk_raw(const ms_pk_spaces *spaces, uint64_t at, uint8_t *out, size_t len)
{
    ms_zero(out, len);
    for (size_t i = 3; i-- > 0;) {
        if (spaces->v[i].len == 0 || at < spaces->base[i])
            continue;
        ms_span rest = ms_span_from(spaces->v[i], at - spaces->base[i]);
        ms_copy(out, rest.ptr, rest.len < len ? rest.len : len);
        return;
    }
}

/* Adds the text at a place to a dictionary that has room for one more sample. */
static void ms_pk_add_sample(const ms_pk_spaces *spaces, uint64_t at, ms_pk_dict *dict)
{
    ms_pk_raw(spaces, at, dict->text + dict->len, ms_PK_SAMPLE);
    dict->len += ms_PK_SAMPLE;
}

/* Makes the dictionary of samples from all over the text. A text that is hardly longer gets none. */
static void ms_pk_fill_dict(const ms_pk_spaces *spaces, uint64_t pieces, ms_pk_dict *dict)
{
    uint64_t blocks = spaces->total / ms_PK_BLOCK;
    dict->len = 0;
    for (uint64_t i = 0; i < pieces && blocks > pieces; i++)
        ms_pk_add_sample(spaces, i * blocks / pieces * ms_PK_BLOCK, dict);
    ms_pk_index_dict(dict);
}

/* The place of a string, when it lies in one of the tables and a NUL ends it; else UINT64_MAX. */
static uint64_t ms_pk_place(const ms_pk_spaces *spaces, machsym_str text)
{
    uintptr_t at = (uintptr_t)text.ptr;
    for (size_t i = 0; i < 3; i++) {
        uintptr_t lo = (uintptr_t)spaces->v[i].ptr;
        if (spaces->v[i].len != 0 && at >= lo && at - lo < spaces->v[i].len &&
            text.len < spaces->v[i].len - (at - lo) && text.ptr[text.len] == 0)
            return spaces->base[i] + (at - lo);
    }
    return UINT64_MAX;
}

#endif /* ms_ROOM_symmap_pack */
