#ifndef ms_ROOM_map_map
#define ms_ROOM_map_map
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../macho/macho.h"
#include "../macho/symbols.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../answer/answer.h"

/* ==== >>map ================================================================================================
 * Job:    the whole-image symbol map: build its parts, put them together, look addresses up. Format: >>manual.
 * Offers: machsym_map, machsym_plan, machsym_part, machsym_writer, ms_map_*.
 * Never:  decides which source answers: >>answer does. Trusts a number in a map: every read is checked. */

enum {
    ms_MAP_VERSION = 1,
    ms_MAP_HEAD = 256, /* bytes of the header */
    ms_MAP_MARGIN =
        64, /* zeros that end DATA: more than a record takes but for text, and than a range of a run */
    ms_MAP_RUN_MAX =
        16, /* ranges in a run: what a lookup decodes at most; 24 saves half a percent of a map */
    ms_MAP_LINKS =
        MACHSYM_MAX_INLINE_DEPTH < 4096 ? 4096 : MACHSYM_MAX_INLINE_DEPTH + 1, /* records in a chain */
    ms_MAP_BLOCK = 1024, /* bytes of text in a packed block: half of it is unpacked for a name */
    ms_MAP_DICT =
        16384, /* bytes of text that every block may refer to; 4 KB blocks without it pack no better */
    ms_MAP_SAMPLE = 256,         /* which are taken from all over the text, so many at a time */
    ms_MAP_PER_SAMPLE = 4096,    /* bytes of text for one such sample, of chunks and of tables */
    ms_MAP_STEP = 16,            /* what a question costs, in bytes of debug info */
    ms_MAP_PROBES = 1024,        /* the longest search in a hash table; real names take some ten */
    ms_MAP_UNIT_BYTES = 4 << 20, /* of debug info in a part */
    ms_MAP_TEXT_BYTES = 4 << 20  /* of text in a part */
};

#define ms_MAP_MAGIC "MACHSYM\n"

/* The tables of a map, in the order of the header. */
enum {
    ms_TABLE_NAME = 0, /* the image's name */
    ms_TABLE_PARTS,    /* {u32 first byte in DATA, u32 its file table in DATA}, by first byte */
    ms_TABLE_RUNS,     /* {u32 start, u32 at}: offset from the text base, where the run stands in DATA */
    ms_TABLE_BUCKETS, /* u32: the first run that starts in or after bucket i, of 1 << bucket_shift bytes of text */
    ms_TABLE_SYMBOL_RUNS, /* the same for ranges without debug info */
    ms_TABLE_SYMBOL_BUCKETS,
    ms_TABLE_DICT,   /* the text that blocks may refer to, as it is */
    ms_TABLE_BLOCKS, /* u32: where packed block i begins in TEXT; one more ends the last */
    ms_TABLE_DATA,   /* functions, chains, runs, file tables */
    ms_TABLE_TEXT,   /* packed names */
    ms_TABLE_COUNT
};

/* The fixed part of a map file. */
typedef struct ms_map_head {
    uint32_t version;
    uint32_t flags;
    machsym_uuid uuid;
    uint32_t cputype;
    uint32_t cpusubtype;
    uint64_t text_addr;
    uint64_t text_size;
    uint32_t lines;
    uint32_t bucket_shift;
    uint64_t size;
    uint64_t checksum;
    uint64_t text_exec_addr;
    uint64_t code_size;
    ms_range tables[ms_TABLE_COUNT]; /* lo: offset in the file, hi: first byte past it */
} ms_map_head;

struct machsym_map {
    machsym_allocator allocator;
    ms_span bytes;
    void *memory; /* from the allocator, when the map was built here */
    size_t memory_size;
    ms_map_head head;
    ms_span tables[ms_TABLE_COUNT];
    ms_span records; /* DATA without its margin */
#ifndef MACHSYM_NO_OS
    ms_os_file file;
#endif
};

/* ---- Writing numbers ---- */

typedef struct ms_map_buf {
    ms_arena *arena; /* of its own: the buffer grows in place */
    uint8_t *v;
    size_t len;
    size_t cap;
} ms_map_buf;

/* Makes room for len bytes. Returns where they go; NULL when memory is out. */
static inline uint8_t *ms_map_room(ms_map_buf *b, size_t len)
{
    while (len > b->cap - b->len) {
        uint8_t *v = (uint8_t *)ms_arena_double(b->arena, b->v, b->len, &b->cap, 1);
        if (v == NULL)
            return NULL;
        b->v = v;
    }
    return b->v + b->len;
}

static inline uint8_t *ms_map_raw_uleb(uint8_t *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

static void ms_map_put_bytes(ms_map_buf *b, const void *ptr, size_t len)
{
    uint8_t *to = ms_map_room(b, len);
    if (to == NULL)
        return;
    ms_copy(to, ptr, len);
    b->len += len;
}

static inline void ms_map_put_ulebs(ms_map_buf *b, const uint64_t *numbers, size_t count)
{
    uint8_t *to = ms_map_room(b, 10 * count);
    if (to == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        to = ms_map_raw_uleb(to, numbers[i]);
    b->len = (size_t)(to - b->v);
}

static void ms_map_put_uleb(ms_map_buf *b, uint64_t number)
{
    ms_map_put_ulebs(b, &number, 1);
}

static void ms_map_put_u32(ms_map_buf *b, uint32_t number)
{
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    ms_map_put_bytes(b, bytes, 4);
}

/* Signed numbers with small absolute values become small: 0, -1, 1, -2, ... */
static uint64_t ms_map_zigzag(int64_t number)
{
    return number < 0 ? ((uint64_t)(-(number + 1)) << 1) | 1 : (uint64_t)number << 1;
}

static int64_t ms_map_unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

static void ms_map_store_u32(uint8_t *p, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(number >> 8 * i);
}

static void ms_map_store_u64(uint8_t *p, uint64_t number)
{
    ms_map_store_u32(p, (uint32_t)number);
    ms_map_store_u32(p + 4, (uint32_t)(number >> 32));
}

/* Four lanes of multiply and rotate over 32 bytes at a time; the tail is padded with zeros. Finds damage,
 * proves nothing against an attacker: lookups do not rely on it. */
static uint64_t ms_map_checksum(ms_span bytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t lane[4] = {1, 2, 3, bytes.len};
    size_t at = 0;
    for (; at + 32 <= bytes.len; at += 32) {
        for (unsigned i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ ms_rd_raw_u64(bytes.ptr + at + 8 * i)) * odd;
            lane[i] ^= lane[i] >> 29;
        }
    }
    uint8_t tail[32];
    ms_zero(tail, sizeof tail);
    if (at < bytes.len) /* of no bytes at all there is no pointer to add to */
        ms_copy(tail, bytes.ptr + at, bytes.len - at);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        lane[i] = (lane[i] ^ ms_rd_raw_u64(tail + 8 * i)) * odd;
        sum = (sum ^ lane[i] ^ lane[i] >> 32) * odd;
    }
    return sum ^ sum >> 29;
}

/* ---- Packed text: every block is an LZ4 block with a dictionary ---- */

enum { ms_LZ_MIN = 4, ms_LZ_TAIL = 12, ms_LZ_BITS = 9, ms_LZ_DICT_BITS = 13 };

/* The dictionary, and where its 4-byte words stand. */
typedef struct ms_map_dict {
    uint8_t text[ms_MAP_DICT];
    size_t len;
    uint16_t last[1 << ms_LZ_DICT_BITS]; /* position + 1 of the last word with this hash */
} ms_map_dict;

static size_t ms_map_word_hash(const uint8_t *p, unsigned bits)
{
    return (ms_rd_raw_u32(p) * 2654435761u) >> (32 - bits);
}

static void ms_map_index_dict(ms_map_dict *dict)
{
    ms_zero(dict->last, sizeof dict->last);
    for (size_t i = 0; i + ms_LZ_MIN <= dict->len; i++)
        dict->last[ms_map_word_hash(dict->text + i, ms_LZ_DICT_BITS)] = (uint16_t)(i + 1);
}

static uint8_t *ms_map_put_length(uint8_t *out, size_t rest)
{
    for (; rest >= 255; rest -= 255)
        *out++ = 255;
    *out++ = (uint8_t)rest;
    return out;
}

/* One sequence: literals, then a match (none when match_len is 0). */
static uint8_t *ms_map_put_sequence(uint8_t *out, const uint8_t *literals, size_t count, size_t back,
                                    size_t match_len)
{
    size_t code = match_len == 0 ? 0 : match_len - ms_LZ_MIN;
    *out++ = (uint8_t)((count < 15 ? count : 15) << 4 | (code < 15 ? code : 15));
    if (count >= 15)
        out = ms_map_put_length(out, count - 15);
    ms_copy(out, literals, count);
    out += count;
    if (match_len == 0)
        return out;
    *out++ = (uint8_t)back;
    *out++ = (uint8_t)(back >> 8);
    return code >= 15 ? ms_map_put_length(out, code - 15) : out;
}

/* 0 when less than ms_LZ_MIN bytes are equal: most candidates only share their hash. */
static inline size_t ms_map_match_length(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t most = a_len < b_len ? a_len : b_len;
    size_t len = ms_LZ_MIN;
    if (most < ms_LZ_MIN || ms_rd_raw_u32(a) != ms_rd_raw_u32(b))
        return 0;
    for (; most - len >= 8; len += 8) {
        uint64_t differs = ms_rd_raw_u64(a + len) ^ ms_rd_raw_u64(b + len);
        if (differs != 0)
            return len + ms_low_zeros(differs) / 8;
    }
    while (len < most && a[len] == b[len])
        len++;
    return len;
}

/* The longer of the matches in the block and in the dictionary for the text at a position. Returns its
 * length. */
static size_t ms_map_find_match(const ms_map_dict *dict, const uint8_t *text, size_t at, size_t end,
                                uint16_t *last, size_t *back)
{
    uint16_t *slot = &last[ms_map_word_hash(text + at, ms_LZ_BITS)];
    size_t seen = *slot;
    size_t best = 0;
    *slot = (uint16_t)(at + 1);
    if (seen != 0) {
        best = ms_map_match_length(text + seen - 1, at - (seen - 1) + (end - at), text + at, end - at);
        *back = at - (seen - 1);
    }
    size_t word = dict->last[ms_map_word_hash(text + at, ms_LZ_DICT_BITS)];
    if (word != 0) {
        size_t len = ms_map_match_length(dict->text + word - 1, dict->len - (word - 1), text + at, end - at);
        if (len > best) {
            best = len;
            *back = at + dict->len - (word - 1);
        }
    }
    return best;
}

/* Packs a block of text into out, which has room for 2 * ms_MAP_BLOCK. Returns the packed size; the size of
 * the text when packing gains nothing: then out holds the text itself. */
static size_t ms_map_pack(const ms_map_dict *dict, const uint8_t *text, size_t len, uint8_t *out)
{
    uint16_t last[1 << ms_LZ_BITS];
    uint8_t *to = out;
    size_t literal = 0;
    size_t limit =
        len > ms_LZ_TAIL ? len - ms_LZ_TAIL : 0; /* the format wants its last bytes to be literals */
    ms_zero(last, sizeof last);
    for (size_t at = 0; at < limit;) {
        size_t back = 0;
        size_t match = ms_map_find_match(dict, text, at, len - 5, last, &back);
        if (match == 0) {
            at++;
            continue;
        }
        to = ms_map_put_sequence(to, text + literal, at - literal, back, match);
        at += match;
        literal = at;
    }
    to = ms_map_put_sequence(to, text + literal, len - literal, 0, 0);
    if ((size_t)(to - out) < len)
        return (size_t)(to - out);
    ms_copy(out, text, len);
    return len;
}

static size_t ms_map_get_length(ms_rd *rd, size_t code)
{
    size_t len = code;
    uint8_t more = 255;
    while (code == 15 && more == 255 && len < 2 * ms_MAP_BLOCK && !rd->failed) {
        more = ms_rd_u8(rd);
        len += more;
    }
    return len;
}

/* Copies a match, which may overlap what it makes; out has 16 bytes of slack behind the block. */
static size_t ms_map_copy_match(ms_span dict, uint8_t *out, size_t at, size_t back, size_t len)
{
    size_t end = at + len;
    if (back > at) { /* begins in the dictionary, and may run on into the block */
        const uint8_t *from = dict.ptr + (dict.len - (back - at));
        size_t stop = back - at < len ? at + (back - at) : end;
        for (; stop - at >= 8; at += 8, from += 8)
            ms_copy(out + at, from,
                    8); /* most are short: one copy of any length would take longer to begin */
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

/* Unpacks sequences as long as they are short and far from all ends: nearly all. Copies more than it needs,
 * which the next ones overwrite. Returns how far the block is unpacked. */
static size_t ms_map_unpack_short(ms_span dict, ms_rd *rd, uint8_t *out, size_t at, size_t want)
{
    const uint8_t *p = rd->p;
    while (rd->end - p >= 18 && at + 32 <= ms_MAP_BLOCK && at < want) {
        size_t literals = *p >> 4;
        size_t match = (*p & 15u) + ms_LZ_MIN;
        size_t back = ms_rd_raw_u16(p + 1 + literals);
        size_t to = at + literals;
        MACHSYM_COUNT_WORK(1);
        if (literals == 15 || match == 15 + ms_LZ_MIN || back < 8 || back > to + dict.len ||
            (back > to && back - to < 24))
            break;
        const uint8_t *from = back > to ? dict.ptr + (dict.len - (back - to)) : out + (to - back);
        ms_copy(out + at, p + 1, 16);
        ms_copy(out + to, from, 8); /* a match may overlap what it makes: 8 bytes at a time do not */
        ms_copy(out + to + 8, from + 8, 8);
        ms_copy(out + to + 16, from + 16, 8);
        p += 1 + literals + 2;
        at = to + match;
    }
    rd->p = p;
    return at;
}

/* Unpacks a block of ms_MAP_BLOCK bytes, or as much of it as holds its first want bytes. Returns how many
 * there are; fewer when it is damaged. */
static size_t ms_map_unpack(ms_span dict, ms_span packed, uint8_t *out, size_t want)
{
    ms_rd rd = ms_rd_make(packed);
    size_t at = 0;
    if (packed.len >= ms_MAP_BLOCK) {
        ms_copy(out, packed.ptr, ms_MAP_BLOCK);
        return ms_MAP_BLOCK;
    }
    while (ms_rd_left(&rd) > 0 && at < want) {
        at = ms_map_unpack_short(dict, &rd, out, at, want);
        if (at >= want)
            break;
        uint8_t token = ms_rd_u8(&rd);
        ms_span literals = ms_rd_span(&rd, ms_map_get_length(&rd, token >> 4));
        if (literals.len > ms_MAP_BLOCK - at)
            break;
        ms_copy(out + at, literals.ptr, literals.len);
        at += literals.len;
        if (ms_rd_left(&rd) == 0)
            break;
        size_t back = ms_rd_u16(&rd);
        size_t match = ms_map_get_length(&rd, token & 15) + ms_LZ_MIN;
        if (rd.failed || back == 0 || back > at + dict.len || match > ms_MAP_BLOCK - at)
            break;
        at = ms_map_copy_match(dict, out, at, back, match);
    }
    return at;
}

/* ---- References to text ---- */

/* The string tables of an image laid end to end, each on a block boundary: what a packed reference counts
 * in. */
typedef struct ms_map_spaces {
    ms_span v[3]; /* .debug_str, and the string tables of both halves */
    uint64_t base[3];
    uint64_t total;
} ms_map_spaces;

static void ms_map_set_spaces(const machsym_image *image, ms_map_spaces *spaces)
{
    ms_zero(spaces, sizeof *spaces);
    spaces->v[0] = image->dw.str;
    for (size_t i = 0; i < image->mo_count; i++)
        spaces->v[1 + i] = ms_sym_strings(&image->mo[i]);
    for (size_t i = 0; i < 3; i++) {
        uint64_t len = spaces->v[i].len;
        spaces->base[i] = spaces->total;
        spaces->total += (len + ms_MAP_BLOCK - 1) / ms_MAP_BLOCK * ms_MAP_BLOCK;
    }
}

/* The bytes of a block of the spaces; the end of a space is padded with zeros. */
static void ms_map_raw_block(const ms_map_spaces *spaces, uint64_t block, uint8_t *out)
{
    uint64_t at = block * ms_MAP_BLOCK;
    ms_zero(out, ms_MAP_BLOCK);
    for (size_t i = 3; i-- > 0;) {
        if (spaces->v[i].len == 0 || at < spaces->base[i])
            continue;
        ms_span rest = ms_span_from(spaces->v[i], at - spaces->base[i]);
        ms_copy(out, rest.ptr, rest.len < (size_t)ms_MAP_BLOCK ? rest.len : (size_t)ms_MAP_BLOCK);
        return;
    }
}

/* A sample from all over the text, in so many pieces; none of a text that is hardly longer. */
static void ms_map_fill_dict(const ms_map_spaces *spaces, uint64_t pieces, ms_map_dict *dict)
{
    uint8_t block[ms_MAP_BLOCK];
    uint64_t blocks = spaces->total / ms_MAP_BLOCK;
    dict->len = 0;
    for (uint64_t i = 0; i < pieces && blocks > pieces; i++) {
        ms_map_raw_block(spaces, i * blocks / pieces, block);
        ms_copy(dict->text + dict->len, block, ms_MAP_SAMPLE);
        dict->len += ms_MAP_SAMPLE;
    }
    ms_map_index_dict(dict);
}

/* Where a text lies in the spaces, NUL-terminated; UINT64_MAX when it lies elsewhere. */
static uint64_t ms_map_place(const ms_map_spaces *spaces, machsym_str text)
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

/* ---- Encoding ---- */

/* A hash table from two numbers to a position + 1. */
typedef struct ms_map_slot {
    uint64_t a;
    uint64_t b;
    uint32_t value;
} ms_map_slot;

typedef struct ms_map_hash {
    ms_arena *arena;
    ms_map_slot *v;
    size_t cap; /* a power of 2 */
    size_t count;
    ms_map_slot spill; /* of what was not found within ms_MAP_PROBES: forgotten at once */
} ms_map_hash;

static size_t ms_map_hash_of(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    return (size_t)(h ^ h >> 32);
}

static ms_map_slot *ms_map_hash_slot(ms_map_hash *h, uint64_t a, uint64_t b)
{
    size_t at = ms_map_hash_of(a, b) & (h->cap - 1);
    for (unsigned probes = 0; probes < ms_MAP_PROBES; probes++) {
        MACHSYM_COUNT_WORK(1);
        if (h->v[at].value == 0 || (h->v[at].a == a && h->v[at].b == b))
            return &h->v[at];
        at = (at + 1) & (h->cap - 1);
    }
    h->spill.value = 0;
    return &h->spill;
}

/* The slot of a pair; a new one has value 0, and the caller fills it. NULL when memory is out. Keys may be
 * chosen to collide: then a pair is found no more, which costs room in the map only. */
static ms_map_slot *ms_map_hash_get(ms_map_hash *h, uint64_t a, uint64_t b)
{
    if (4 * (h->count + 1) > 3 * h->cap) {
        ms_map_hash bigger = *h;
        bigger.cap = h->cap == 0 ? 256 : h->cap * 2;
        bigger.v = (ms_map_slot *)ms_arena_zeroed(h->arena, bigger.cap, sizeof *h->v);
        if (bigger.v == NULL)
            return NULL;
        for (size_t i = 0; i < h->cap; i++) {
            if (h->v[i].value != 0)
                *ms_map_hash_slot(&bigger, h->v[i].a, h->v[i].b) = h->v[i];
        }
        *h = bigger;
    }
    ms_map_slot *slot = ms_map_hash_slot(h, a, b);
    if (slot->value == 0) {
        slot->a = a;
        slot->b = b;
        h->count++;
    }
    return slot;
}

/* A run of ranges, as parts hand it over. */
typedef struct ms_map_run {
    uint64_t lo;
    uint64_t hi;
    uint32_t at;     /* in the part's data */
    bool only_lines; /* its ranges have lines, but no function */
} ms_map_run;

/* What turns ranges into a part's data. */
typedef struct ms_map_coder {
    ms_map_buf data;
    ms_arena *arena;             /* for what outlives the coding: runs, blocks in use */
    const ms_map_spaces *spaces; /* where packed text is; NULL: not in the image */
    ms_map_buf *texts;           /* where it goes, when there is no image */
    uint64_t text_addr;
    uint8_t *used;         /* one bit for every block of text that is referred to */
    ms_map_hash plain;     /* text (hash, length) to its position */
    ms_map_hash kept;      /* text (hash, length) to its place in texts */
    ms_map_hash functions; /* names to their record */
    ms_map_hash files;     /* path parts to their number */
    uint32_t *file_at;     /* records of the file table */
    size_t file_count;
    size_t file_cap;
    ms_map_run *runs;
    size_t run_count;
    size_t run_cap;
    uint64_t text_left; /* bytes of plain text that may still be written */
    bool columns;
    bool overflow; /* something does not fit the format's 32 bits */
} ms_map_coder;

static bool ms_map_plain_is(const ms_map_coder *c, uint32_t at, machsym_str text)
{
    ms_rd rd = ms_rd_at(ms_span_make(c->data.v, c->data.len), at);
    uint64_t len = ms_rd_uleb(&rd);
    return len == text.len && ms_rd_left(&rd) >= len && ms_equal(rd.p, text.ptr, text.len);
}

/* Writes a text into the data, once. Returns its position; 0, which is an empty text, when there have been
 * too many. */
static uint32_t ms_map_plain(ms_map_coder *c, machsym_str text)
{
    uint64_t hash = ms_str_hash(text);
    for (uint64_t probe = 0; probe < ms_MAP_PROBES; probe++) {
        ms_map_slot *slot = ms_map_hash_get(&c->plain, hash, (uint64_t)text.len + (probe << 40));
        if (slot == NULL)
            return 0;
        if (slot->value != 0 && ms_map_plain_is(c, slot->value - 1, text))
            return slot->value - 1;
        if (slot->value != 0)
            continue; /* another text with this hash */
        if (text.len > c->text_left)
            break;
        c->text_left -= text.len;
        slot->value = (uint32_t)c->data.len + 1;
        ms_map_put_uleb(&c->data, text.len);
        ms_map_put_bytes(&c->data, text.ptr, text.len);
        return slot->value - 1;
    }
    return 0;
}

/* Adds a name, once, to the text that will be packed. Returns its place; UINT64_MAX when it cannot be packed. */
static uint64_t ms_map_keep(ms_map_coder *c, machsym_str text)
{
    uint64_t hash = ms_str_hash(text);
    if (text.len > MACHSYM_MAX_TEXT || ms_find_byte(text.ptr, text.len, 0) != NULL ||
        c->texts->len > UINT32_MAX / 2)
        return UINT64_MAX;
    for (uint64_t probe = 0; probe < ms_MAP_PROBES; probe++) {
        ms_map_slot *slot = ms_map_hash_get(&c->kept, hash, (uint64_t)text.len + (probe << 40));
        if (slot == NULL)
            break;
        if (slot->value != 0 && ms_equal(c->texts->v + slot->value - 1, text.ptr, text.len))
            return slot->value - 1;
        if (slot->value != 0)
            continue; /* another text with this hash */
        uint8_t *to = ms_map_room(c->texts, text.len + 1);
        if (to == NULL)
            break;
        ms_copy(to, text.ptr, text.len);
        to[text.len] = 0;
        slot->value = (uint32_t)c->texts->len + 1;
        c->texts->len += text.len + 1;
        return slot->value - 1;
    }
    return UINT64_MAX;
}

/* A reference: 0 for no text; even: packed text; odd: a position in the part's data. */
static uint64_t ms_map_ref(ms_map_coder *c, machsym_str text)
{
    if (text.len == 0)
        return 0;
    uint64_t place = c->spaces != NULL  ? ms_map_place(c->spaces, text)
                     : c->texts != NULL ? ms_map_keep(c, text)
                                        : UINT64_MAX;
    if (place == UINT64_MAX)
        return (uint64_t)ms_map_plain(c, text) << 1 | 1;
    if (c->used == NULL)
        return (place + 1) << 1;
    MACHSYM_COUNT_WORK(text.len / ms_MAP_BLOCK);
    for (uint64_t block = place / ms_MAP_BLOCK; block <= (place + text.len) / ms_MAP_BLOCK; block++)
        c->used[block / 8] |= (uint8_t)(1u << block % 8);
    return (place + 1) << 1;
}

/* In the data plain text is told by its distance back from the record. */
static void ms_map_put_ref(ms_map_coder *c, size_t record, uint64_t ref)
{
    if ((ref & 1) != 0)
        ref = (uint64_t)(record - (size_t)(ref >> 1)) << 1 | 1;
    ms_map_put_uleb(&c->data, ref);
}

/* FUNCTION record: ref of the linkage name, ref of the name. Returns its position. */
static uint32_t ms_map_function(ms_map_coder *c, machsym_str linkage_name, machsym_str name)
{
    uint64_t a = ms_map_ref(c, linkage_name);
    uint64_t b = ms_map_ref(c, name);
    ms_map_slot *slot = ms_map_hash_get(&c->functions, a, b);
    if (slot == NULL)
        return 0;
    if (slot->value == 0) {
        size_t record = c->data.len;
        slot->value = (uint32_t)record + 1;
        ms_map_put_ref(c, record, a);
        ms_map_put_ref(c, record, b);
    }
    return slot->value - 1;
}

/* FILE record: refs of comp_dir, dir and name, all plain. Returns its number from 1 on; 0 is no file. */
static uint32_t ms_map_file(ms_map_coder *c, const machsym_path *path)
{
    if (path->name.len == 0)
        return 0;
    uint64_t comp_dir = path->comp_dir.len != 0 ? (uint64_t)ms_map_plain(c, path->comp_dir) << 1 | 1 : 0;
    uint64_t dir = path->dir.len != 0 ? (uint64_t)ms_map_plain(c, path->dir) << 1 | 1 : 0;
    uint64_t name = (uint64_t)ms_map_plain(c, path->name) << 1 | 1;
    ms_map_slot *slot = ms_map_hash_get(&c->files, comp_dir << 32 | dir, name);
    uint32_t *v = (uint32_t *)ms_arena_grow(c->arena, c->file_at, c->file_count, &c->file_cap, sizeof *v);
    if (slot == NULL || v == NULL)
        return 0;
    c->file_at = v;
    if (slot->value == 0) {
        size_t record = c->data.len;
        v[c->file_count++] = (uint32_t)record;
        slot->value = (uint32_t)c->file_count;
        ms_map_put_ref(c, record, comp_dir);
        ms_map_put_ref(c, record, dir);
        ms_map_put_ref(c, record, name);
    }
    return slot->value;
}

/* Where code comes from. */
typedef struct ms_map_line {
    uint32_t file; /* number in the part's file table */
    uint32_t line;
    uint32_t column;
} ms_map_line;

/* CHAIN record of a concrete function: 2 * source, distance to its FUNCTION record (0: no name), start,
 * size. */
static uint32_t ms_map_root(ms_map_coder *c, machsym_source source, uint32_t function, bool named,
                            uint64_t lo, uint64_t size)
{
    size_t record = c->data.len;
    const uint64_t fields[4] = {(uint64_t)source << 1, named ? record - function : 0, lo - c->text_addr,
                                size};
    ms_map_put_ulebs(&c->data, fields, 4);
    return (uint32_t)record;
}

/* CHAIN record of an inlined call: distance to its caller's record * 4 + 2 (name from symbols) + 1, distance
 * to its FUNCTION record, file, line and column of the call. */
static uint32_t ms_map_call(ms_map_coder *c, uint32_t caller, machsym_source source, uint32_t function,
                            const ms_map_line *call)
{
    size_t record = c->data.len;
    uint64_t what = (uint64_t)(record - caller) << 2 | (source == MACHSYM_SOURCE_SYMTAB ? 2u : 0u) | 1;
    const uint64_t fields[5] = {what, record - function, call->file, call->line, call->column};
    ms_map_put_ulebs(&c->data, fields, c->columns ? 5 : 4);
    return (uint32_t)record;
}

/* A range before it is written. */
typedef struct ms_map_item {
    uint64_t lo;
    uint64_t hi;
    uint32_t chain; /* position of its CHAIN record */
    ms_map_line line;
} ms_map_item;

static bool ms_map_same(const ms_map_item *a, const ms_map_item *b)
{
    return a->chain == b->chain && a->line.file == b->line.file && a->line.line == b->line.line &&
           a->line.column == b->line.column;
}

/* RUN record: the number of ranges, then for each: its size; zigzag(line - previous) * 4 + 2 (new file) + 1
 * (new chain); the distance back from the run to its chain, if new; its file, if new; its column, if the map
 * has columns. */
static void ms_map_put_run(ms_map_coder *c, const ms_map_item *items, size_t count, bool only_lines)
{
    ms_map_run *runs =
        (ms_map_run *)ms_arena_grow(c->arena, c->runs, c->run_count, &c->run_cap, sizeof *runs);
    if (runs == NULL)
        return;
    c->runs = runs;
    size_t at = c->data.len;
    runs[c->run_count].lo = items[0].lo;
    runs[c->run_count].hi = items[count - 1].hi;
    runs[c->run_count].at = (uint32_t)at;
    runs[c->run_count].only_lines = only_lines;
    c->run_count++;
    uint8_t *to = ms_map_room(&c->data, 10 + 50 * count);
    if (to == NULL)
        return;
    to = ms_map_raw_uleb(to, count);
    ms_map_item previous;
    ms_zero(&previous, sizeof previous);
    for (size_t i = 0; i < count; i++) {
        const ms_map_item *item = &items[i];
        bool new_chain = i == 0 || item->chain != previous.chain;
        bool new_file = item->line.file != previous.line.file;
        int64_t step = (int64_t)item->line.line - (int64_t)previous.line.line;
        to = ms_map_raw_uleb(to, item->hi - item->lo);
        to = ms_map_raw_uleb(to, ms_map_zigzag(step) << 2 | (new_file ? 2u : 0u) | (new_chain ? 1u : 0u));
        if (new_chain)
            to = ms_map_raw_uleb(to, only_lines ? 0 : at - item->chain);
        if (new_file)
            to = ms_map_raw_uleb(to, item->line.file);
        if (c->columns)
            to = ms_map_raw_uleb(to, item->line.column);
        previous = *item;
    }
    c->data.len = (size_t)(to - c->data.v);
}

/* Ranges of one function that follow each other, waiting to become runs. */
typedef struct ms_map_queue {
    ms_map_item v[ms_MAP_RUN_MAX];
    size_t count;
    bool only_lines;
} ms_map_queue;

static void ms_map_flush(ms_map_coder *c, ms_map_queue *q)
{
    if (q->count > 0)
        ms_map_put_run(c, q->v, q->count, q->only_lines);
    q->count = 0;
}

/* Adds a range; one that says the same as its neighbour makes that longer. */
static void ms_map_add(ms_map_coder *c, ms_map_queue *q, const ms_map_item *item, bool only_lines)
{
    ms_map_item *last = q->count > 0 ? &q->v[q->count - 1] : NULL;
    if (last != NULL && (last->hi != item->lo || q->only_lines != only_lines)) {
        ms_map_flush(c, q);
        last = NULL;
    }
    if (last != NULL && ms_map_same(last, item)) {
        last->hi = item->hi;
        return;
    }
    if (q->count == ms_MAP_RUN_MAX)
        ms_map_flush(c, q);
    q->only_lines = only_lines;
    q->v[q->count++] = *item;
}

/* The file table ends a part: u32 count, then u32 positions of the FILE records. Returns where it stands. */
static uint32_t ms_map_end_part(ms_map_coder *c)
{
    uint32_t at = (uint32_t)c->data.len;
    ms_map_put_u32(&c->data, (uint32_t)c->file_count);
    for (size_t i = 0; i < c->file_count; i++)
        ms_map_put_u32(&c->data, c->file_at[i]);
    c->overflow |= c->data.len > 0x7fffffff;
    return at;
}

static void ms_map_coder_init(ms_map_coder *c, ms_arena *data_arena, ms_arena *arena, ms_arena *tables)
{
    ms_zero(c, sizeof *c);
    c->data.arena = data_arena;
    c->arena = arena;
    c->plain.arena = c->kept.arena = c->functions.arena = c->files.arena = tables;
    c->text_left = UINT64_MAX;
    ms_map_put_uleb(&c->data, 0); /* no record stands at 0, so that a distance of 0 is free to mean none */
}

/* ---- Plan ---- */

typedef enum ms_map_kind {
    ms_MAP_UNITS = 0, /* a run of units */
    ms_MAP_OBJECTS,   /* a run of object files of a debug map */
    ms_MAP_TEXT       /* a run of blocks of text */
} ms_map_kind;

/* One part's work: items lo to hi of its kind. */
typedef struct ms_map_task {
    ms_map_kind kind;
    uint64_t lo;
    uint64_t hi;
    uint64_t size;
} ms_map_task;

struct machsym_plan {
    const machsym_image *image;
    machsym_lines lines;
    uint32_t flags;
    machsym_allocator allocator;
    machsym_session *session; /* holds what all parts share: unit segments and symbols; not used after open */
    ms_map_spaces spaces;
    ms_map_dict *dict;
    ms_arena arena;
    ms_map_task *tasks;
    size_t count;
    size_t cap;
};

struct machsym_part {
    ms_map_kind kind;
    ms_arena data_arena; /* only ever holds the buffer */
    ms_arena arena;
    ms_arena tables; /* of the coder: freed when the part is whole */
    ms_map_coder coder;
    uint32_t files_at;     /* file table, in the data */
    uint32_t *block_sizes; /* of text blocks; packed back to back in the data */
};

static bool ms_map_part_failed(const machsym_part *part)
{
    return part->data_arena.oom || part->arena.oom || part->tables.oom;
}

static void ms_map_add_task(machsym_plan *plan, ms_map_kind kind, uint64_t lo, uint64_t hi, uint64_t size)
{
    ms_map_task *v =
        (ms_map_task *)ms_arena_grow(&plan->arena, plan->tasks, plan->count, &plan->cap, sizeof *v);
    if (v == NULL)
        return;
    plan->tasks = v;
    v[plan->count].kind = kind;
    v[plan->count].lo = lo;
    v[plan->count].hi = hi;
    v[plan->count].size = size;
    plan->count++;
}

/* Opens every object file of the debug map once, to know which ones answer and how large they are, and cuts
 * them into parts. */
static void ms_map_cut_objects(machsym_plan *plan)
{
    machsym_session *s = plan->session;
    ms_ans_objects *o = ms_ans_map_of(s);
    size_t first = 0;
    uint64_t size = 0;
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->map.count; i++) {
        const ms_ans_object *object = ms_ans_object_of(s, i);
        size += object != NULL ? object->image.dw.info.len : 0;
        plan->arena.oom |= o->statuses[i] == MACHSYM_OBJECT_UNTRIED;
        if (size < ms_MAP_UNIT_BYTES && i + 1 < o->map.count)
            continue;
        ms_map_add_task(plan, ms_MAP_OBJECTS, first, i + 1, size);
        first = i + 1;
        size = 0;
    }
    ms_ans_close_objects(s);
}

/* Cuts the units and the text into parts of about equal size: the same ones for any number of threads. */
static void ms_map_cut_tasks(machsym_plan *plan)
{
    const machsym_image *image = plan->image;
    size_t first = 0;
    for (size_t i = 0; i < image->cu_count; i++) {
        uint64_t size = image->cus[i].end - image->cus[first].off;
        if (size < ms_MAP_UNIT_BYTES && i + 1 < image->cu_count)
            continue;
        ms_map_add_task(plan, ms_MAP_UNITS, first, i + 1, size);
        first = i + 1;
    }
    ms_map_cut_objects(plan);
    uint64_t blocks = plan->spaces.total / ms_MAP_BLOCK;
    uint64_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
    for (uint64_t lo = 0; lo < blocks; lo += step) {
        uint64_t hi = lo + step < blocks ? lo + step : blocks;
        ms_map_add_task(plan, ms_MAP_TEXT, lo, hi, (hi - lo) * ms_MAP_BLOCK);
    }
}

/* A session that decodes for one part; what the plan's session has indexed is lent to it, root entries too,
 * which all have been read. */
static machsym_session *ms_map_session(const machsym_plan *plan)
{
    machsym_session *s =
        ms_ans_open(plan->image, plan->lines, MACHSYM_SESSION_INDEX, 1, plan->allocator); /* keeps one unit */
    if (s == NULL || plan->session == NULL)
        return s;
    const machsym_session *shared = plan->session;
    s->env = shared->env;
    s->env.arena = &s->keep;
    s->aranges = shared->aranges;
    s->ranges = shared->ranges;
    s->silent = shared->silent;
    s->symbols = shared->symbols;
    s->has_aranges = s->has_ranges = s->has_silent = s->has_symbols = true;
    return s;
}

/* ---- Building the ranges of a unit ---- */

#define ms_MAP_BY_UNIT UINT32_MAX

/* What is needed to encode one unit. */
typedef struct ms_map_work {
    const machsym_plan *plan;
    machsym_session *session;
    ms_map_coder *c;
    ms_map_queue queue;
    ms_arena scratch;    /* emptied for every function */
    ms_arena unit_arena; /* emptied for every unit */
    const ms_ans_unit *unit;
    const ms_cu_root *root;
    size_t index;    /* of the unit */
    uint32_t *files; /* by the unit's file number: number in the part's table + 1; 0 not known yet */
    size_t file_count;
    uint32_t *chains;  /* by block: position of its CHAIN record; 0 none yet */
    uint32_t function; /* the one at hand */
    ms_ans_rows rows;  /* the walk of lines that the ranges before have left, up to rows_from at least */
    uint64_t rows_from;
    ms_segs calls;     /* of all its code: the innermost block; empty when nothing is inlined; in scratch */
    uint32_t *written; /* of its blocks those that have a record, which tells of range */
    size_t written_count;
    ms_range range;
    uint32_t *depths;    /* by block: how many blocks it stands in */
    ms_map_hash origins; /* entry offset and rank of its source to the FUNCTION record */
} ms_map_work;

static uint32_t ms_map_new_file(ms_map_work *w, uint64_t file)
{
    machsym_path path = ms_ln_path(w->unit->lines, w->root->comp_dir, file);
    uint32_t number = ms_map_file(w->c, &path);
    if (file < w->file_count)
        w->files[file] = number + 1;
    return number;
}

static inline void ms_map_line_at(ms_map_work *w, uint64_t file, uint32_t line, uint32_t column,
                                  ms_map_line *out)
{
    uint32_t known = file < w->file_count ? w->files[file] : 0;
    out->file = known != 0 ? known - 1 : ms_map_new_file(w, file);
    out->line = line;
    out->column = w->c->columns ? column : 0;
}

/* Where the record of a call's origin is kept: by the origin alone when it has a linkage name; else by origin
 * and unit, since an out-of-line copy in the same unit may give the name. */
static ms_map_slot *ms_map_origin_slot(ms_map_work *w, uint64_t origin)
{
    ms_map_slot *slot = ms_map_hash_get(&w->origins, origin, 0);
    if (slot == NULL || slot->value != ms_MAP_BY_UNIT)
        return slot;
    return ms_map_hash_get(&w->origins, origin, w->index + 1);
}

/* The FUNCTION record of a block, and where its name is from. Calls share the record of what they call. */
static uint32_t ms_map_block_function(ms_map_work *w, const ms_fn_block *block, machsym_source *source,
                                      bool *named)
{
    machsym_frame frame;
    bool is_inline = block->parent != ms_SEG_NONE;
    ms_map_slot *slot = is_inline && block->origin != 0 ? ms_map_origin_slot(w, block->origin) : NULL;
    if (slot != NULL && slot->value != 0) {
        *source = (slot->value & 1) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
        *named = true;
        return slot->value >> 1;
    }
    ms_zero(&frame, sizeof frame);
    frame.is_inline = is_inline;
    ms_ans_name_block(w->session, &w->unit->functions, block, &frame);
    *source = frame.name_source;
    *named = is_inline || frame.linkage_name.len != 0 || frame.name.len != 0;
    uint32_t record = *named ? ms_map_function(w->c, frame.linkage_name, frame.name) : 0;
    if (slot != NULL && slot->b == 0 && (frame.linkage_name.len == 0 || *source != MACHSYM_SOURCE_DWARF)) {
        slot->value = ms_MAP_BY_UNIT;
        slot = ms_map_origin_slot(w, block->origin);
    }
    if (slot != NULL)
        slot->value = record << 1 | (*source == MACHSYM_SOURCE_SYMTAB);
    return record;
}

/* Writes the chain from a function down to a block, callers first. Every record is written once a
 * function. */
static void ms_map_put_chain(ms_map_work *w, uint32_t block, const ms_range *range)
{
    const ms_fn_block *blocks = w->unit->functions.blocks;
    size_t depth = 0;
    for (uint32_t at = block; at != ms_SEG_NONE && w->chains[at] == 0; at = blocks[at].parent)
        depth++;
    MACHSYM_COUNT_WORK(1 + depth);
    uint32_t *path = w->written + w->written_count; /* room for every block, each of which is written once */
    w->written_count += depth;
    for (size_t i = depth; i-- > 0; block = blocks[block].parent)
        path[i] = block;
    for (size_t i = 0; i < depth; i++) {
        const ms_fn_block *one = &blocks[path[i]];
        machsym_source source;
        bool named;
        uint32_t record = ms_map_block_function(w, one, &source, &named);
        if (one->parent == ms_SEG_NONE) {
            w->chains[path[i]] = ms_map_root(w->c, source, record, named, range->lo, range->hi - range->lo);
        } else {
            ms_map_line call;
            ms_map_line_at(w, one->call_file, one->call_line, one->call_column, &call);
            w->chains[path[i]] = ms_map_call(w->c, w->chains[one->parent], source, record, &call);
        }
    }
}

/* Adds [lo, hi), which has one chain, cut where its lines change. */
static void ms_map_add_lines(ms_map_work *w, uint64_t lo, uint64_t hi, uint32_t chain, bool only_lines)
{
    const ms_ln_table *lines = w->unit->lines;
    ms_ans_rows *rows = &w->rows;
    ms_map_item item;
    if (rows->lines != lines || rows->past_end == only_lines || lo < w->rows_from)
        *rows = ms_ans_rows_of(lines, w->plan->lines, !only_lines, lo);
    w->rows_from = hi;
    item.chain = chain;
    for (item.lo = lo; item.lo < hi; item.lo = item.hi) {
        MACHSYM_COUNT_WORK(1);
        ms_ans_rows_seek(rows, item.lo);
        item.hi = rows->next < hi ? rows->next : hi;
        ms_zero(&item.line, sizeof item.line);
        if (rows->at != lines->row_count) {
            const ms_ln_row *row = &lines->rows[rows->at];
            ms_map_line_at(w, row->file, row->line, row->column, &item.line);
        } else if (only_lines) {
            continue;
        }
        ms_map_add(w->c, &w->queue, &item, only_lines);
    }
}

/* The calls inlined into a function, as segments. */
static void ms_map_call_segments(ms_map_work *w, uint32_t function)
{
    const ms_fn_table *table = &w->unit->functions;
    ms_cu_pieces pieces = {&w->scratch, NULL, 0, 0};
    ms_cu_add_piece(&pieces, 0, UINT64_MAX, function);
    for (uint32_t i = function + 1; i < table->blocks[function].end; i++) {
        const ms_fn_block *block = &table->blocks[i];
        MACHSYM_COUNT_WORK(1);
        if (block->parent == ms_SEG_NONE) {
            i = block->end - 1;
            continue;
        }
        if (w->depths[i] > MACHSYM_MAX_INLINE_DEPTH + 1)
            continue;
        for (uint32_t j = 0; j < block->range_count; j++) {
            ms_range range = ms_fn_range(block, j);
            ms_cu_add_piece(&pieces, range.lo, range.hi, i);
        }
    }
    ms_seg_build(pieces.v, pieces.count, &w->scratch, &w->calls);
}

/* Turns to a function; that before leaves no records behind. */
static void ms_map_begin_function(ms_map_work *w, uint32_t function)
{
    const ms_segs none = {NULL, 0, &w->scratch};
    ms_arena_reset(&w->scratch);
    w->function = function;
    w->calls = none;
    if (w->unit->functions.blocks[function].end > function + 1)
        ms_map_call_segments(w, function);
}

static void ms_map_forget_chains(ms_map_work *w)
{
    while (w->written_count > 0)
        w->chains[w->written[--w->written_count]] = 0;
}

/* Adds [lo, hi) of the function at hand, which has one innermost block. */
static void ms_map_add_block(ms_map_work *w, uint32_t index, uint64_t lo, uint64_t hi)
{
    const ms_fn_block *block = &w->unit->functions.blocks[index];
    if (w->depths[index] <= MACHSYM_MAX_INLINE_DEPTH) {
        ms_map_put_chain(w, index, &w->range);
        ms_map_add_lines(w, lo, hi, w->chains[index], false);
        return;
    }
    ms_map_item item;
    ms_map_put_chain(w, block->parent, &w->range);
    item.lo = lo;
    item.hi = hi;
    item.chain = w->chains[block->parent];
    ms_map_line_at(w, block->call_file, block->call_line, block->call_column, &item.line);
    ms_map_add(w->c, &w->queue, &item, false);
}

/* Encodes [lo, hi), which one range of the function at hand holds. */
static void ms_map_add_function(ms_map_work *w, const ms_range *range, uint64_t lo, uint64_t hi)
{
    const ms_segs *calls = &w->calls;
    if (range->lo != w->range.lo || range->hi != w->range.hi)
        ms_map_forget_chains(w);
    w->range = *range;
    if (calls->count == 0)
        ms_map_add_block(w, w->function, lo, hi);
    for (size_t i = ms_seg_find(calls->v, calls->count, lo); i + 1 < calls->count && calls->v[i].lo < hi;
         i++) {
        uint64_t from = calls->v[i].lo > lo ? calls->v[i].lo : lo;
        uint64_t to = calls->v[i + 1].lo < hi ? calls->v[i + 1].lo : hi;
        ms_map_add_block(w, calls->v[i].owner, from, to);
    }
    ms_map_flush(w->c, &w->queue);
}

/* Encodes [lo, hi), which one function of the unit has, as far as this unit is the one that answers there. */
static void ms_map_add_owned(ms_map_work *w, uint32_t function, uint64_t lo, uint64_t hi)
{
    const ms_fn_block *block = &w->unit->functions.blocks[function];
    while (lo < hi) {
        uint64_t end;
        MACHSYM_COUNT_WORK(1);
        ms_range range = ms_fn_range_at(block, lo);
        uint64_t until = ms_fn_range_until(block, lo);
        bool owned = ms_ans_owns(w->session, w->index, lo, &end);
        if (end > hi)
            end = hi;
        if (end > until && until > lo)
            end = until; /* ranges that touch: each has a start of its own */
        if (owned)
            ms_map_add_function(w, &range, lo, end);
        lo = end;
        if (lo < hi && !ms_ans_spend(w->session, ms_MAP_STEP)) /* others' ranges may cut it very small */
            return;
    }
}

/* Encodes the functions, each with all its segments at once, in the order of their first. */
static void ms_map_add_functions(ms_map_work *w)
{
    const ms_fn_table *functions = &w->unit->functions;
    const ms_seg *segs = functions->segs;
    uint32_t *next = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->seg_count, sizeof *next);
    uint32_t *first = (uint32_t *)ms_arena_zeroed(&w->unit_arena, functions->count, sizeof *first);
    if (next == NULL || first == NULL)
        return;
    for (size_t i = functions->seg_count; i-- > 0;) { /* numbers plus 1; 0: none */
        if (segs[i].owner == ms_SEG_NONE)
            continue;
        next[i] = first[segs[i].owner];
        first[segs[i].owner] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i + 1 < functions->seg_count; i++) {
        uint32_t function = segs[i].owner;
        if (function == ms_SEG_NONE || first[function] != i + 1)
            continue;
        ms_map_begin_function(w, function);
        for (size_t j = i + 1; j != 0; j = next[j - 1])
            ms_map_add_owned(w, function, segs[j - 1].lo, segs[j].lo);
        ms_map_forget_chains(w);
    }
}

/* The code whose lines a unit may add: any that its program tells of; but when other units share that, which would
 * multiply the work, what its root states, from the lowest to the highest address. */
static ms_range ms_map_reach(ms_map_work *w)
{
    ms_range all = {0, UINT64_MAX};
    ms_range stated = {UINT64_MAX, 0};
    ms_ranges list = {&w->unit_arena, NULL, 0, 0, w->session->budget};
    if (ms_ans_owns_lines(w->session, w->index))
        return all;
    ms_cu_read_ranges(&w->session->env, w->index, &list);
    w->session->budget = list.budget;
    for (size_t i = 0; i < list.count; i++) {
        stated.lo = list.v[i].lo < stated.lo ? list.v[i].lo : stated.lo;
        stated.hi = list.v[i].hi > stated.hi ? list.v[i].hi : stated.hi;
    }
    return stated;
}

/* Encodes the lines of code that belongs to no function of its unit: assembly. */
static void ms_map_add_only_lines(ms_map_work *w)
{
    const ms_ln_table *lines = w->unit->lines;
    const ms_fn_table *functions = &w->unit->functions;
    ms_range reach = ms_map_reach(w);
    uint64_t from = reach.lo;
    for (size_t i = ms_ans_rows_of(lines, w->plan->lines, false, from).seq;
         i < lines->seq_count && from < reach.hi; i++) {
        uint64_t lo = lines->seqs[i].lo > from ? lines->seqs[i].lo : from;
        for (from = lines->seqs[i].hi < reach.hi ? lines->seqs[i].hi : reach.hi; lo < from;) {
            MACHSYM_COUNT_WORK(1);
            uint64_t end = ms_seg_until(functions->segs, functions->seg_count, lo);
            bool alone = ms_seg_owner(functions->segs, functions->seg_count, lo) == ms_SEG_NONE;
            if (!ms_ans_spend(w->session, alone ? ms_MAP_STEP : 1))
                return;
            if (alone) {
                uint64_t same;
                ms_ans_place place = ms_ans_find_span(w->session, lo, &same);
                end = same < end ? same : end;
                end = from < end ? from : end;
                if (place.unit == w->unit && ms_ans_has_line(w->session, &place))
                    ms_map_add_lines(w, lo, end, 0, true);
            }
            lo = end;
        }
        ms_map_flush(w->c, &w->queue);
    }
}

/* Makes room for the next unit. Other units that had to be asked who has some code stay as long as the cache
 * has room: they will be asked again. */
static void ms_map_trim(ms_map_work *w)
{
    machsym_session *s = w->session;
    const ms_ans_unit *last = s->decoded;
    bool asked_others = last != NULL && (last->next != NULL || last->index != w->index);
    if (!asked_others || s->cache.live > (size_t)ms_ANS_CACHE)
        ms_ans_drop_units(s);
    ms_arena_reset(&w->unit_arena);
}

static void ms_map_add_unit(ms_map_work *w, size_t index)
{
    machsym_session *s = w->session;
    ms_map_trim(w);
    s->budget +=
        2 * (s->env.v[index].end - s->env.v[index].off); /* for itself, and for gaps between functions */
    w->unit = ms_ans_unit_of(s, index);
    if (w->unit == NULL)
        return;
    const ms_fn_table *functions = &w->unit->functions;
    w->root = ms_cu_root_of(&s->env, index);
    w->index = index;
    w->rows.lines = NULL; /* the table of another unit may have lain where this one does */
    w->file_count = w->unit->lines->file_count + 1;
    w->files = (uint32_t *)ms_arena_zeroed(&w->unit_arena, w->file_count, sizeof *w->files);
    w->chains = (uint32_t *)ms_arena_zeroed(&w->unit_arena, functions->count, sizeof *w->chains);
    w->written = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->count, sizeof *w->written);
    w->depths = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->count, sizeof *w->depths);
    if (w->files == NULL || w->chains == NULL || w->written == NULL || w->depths == NULL)
        return;
    for (size_t i = 0; i < functions->count; i++) {
        uint32_t parent = functions->blocks[i].parent;
        w->depths[i] = parent == ms_SEG_NONE ? 0 : w->depths[parent] + 1;
    }
    ms_map_add_functions(w);
    ms_map_add_only_lines(w);
}

/* ---- Parts ---- */

/* Sets what so many bytes of units may cost beside themselves, so that all parts together stay in proportion
 * to the file: what they decode of others (out of all bytes) and how often they ask, and how long their texts
 * are. */
static void ms_map_set_budget(ms_map_work *w, uint64_t size, uint64_t all)
{
    w->session->budget = 16 * (size + (all < ms_MAP_UNIT_BYTES ? all : (uint64_t)ms_MAP_UNIT_BYTES));
    w->c->text_left = ((uint64_t)1 << 20) + 64 * size; /* file names may be the ends of one text */
}

/* Encodes units of the session in w. Returns false when memory is out. */
static bool ms_map_add_units(ms_map_work *w, machsym_part *part, uint64_t lo, uint64_t hi)
{
    bool ok = true;
    for (uint64_t i = lo; i < hi && ok; i++) {
        ms_map_add_unit(w, (size_t)i);
        ok = !w->scratch.failed && !w->unit_arena.failed && !ms_map_part_failed(part) &&
             !ms_ans_failed(w->session);
    }
    return ok;
}

/* Encodes the units of an object file; one that cannot be opened has none. Returns false when memory is
 * out. */
static bool ms_map_add_object(ms_map_work *w, machsym_part *part, size_t index)
{
    machsym_session *program = w->plan->session;
    machsym_object_status status;
    uint64_t time;
    if (program->objects->statuses[index] != MACHSYM_OBJECT_FOUND)
        return true;
    ms_ans_object *object = ms_ans_new_object(program, index, NULL, w->plan->allocator, &status, &time);
    if (object == NULL)
        return status != MACHSYM_OBJECT_UNTRIED;
    w->session = &object->session;
    ms_zero(&w->origins, sizeof w->origins); /* of entries in this object */
    w->origins.arena = &part->tables;
    ms_ans_index(w->session);
    ms_map_set_budget(w, object->image.dw.info.len, object->image.dw.info.len);
    bool ok = ms_map_add_units(w, part, 0, object->image.cu_count);
    ms_ans_close_object(object);
    w->session = NULL;
    return ok;
}

static bool ms_map_build_units(const machsym_plan *plan, const ms_map_task *task, machsym_part *part)
{
    ms_map_work w;
    ms_zero(&w, sizeof w);
    w.plan = plan;
    w.c = &part->coder;
    w.scratch = ms_arena_make(plan->allocator);
    w.unit_arena = ms_arena_make(plan->allocator);
    part->coder.spaces = &plan->spaces;
    part->coder.text_addr = plan->image->mo[0].text_addr;
    part->coder.columns = (plan->flags & MACHSYM_MAP_COLUMNS) != 0;
    part->coder.used =
        (uint8_t *)ms_arena_zeroed(&part->arena, (size_t)(plan->spaces.total / ms_MAP_BLOCK / 8 + 1), 1);
    w.origins.arena = &part->tables;
    bool ok = part->coder.used != NULL;
    for (uint64_t i = task->lo; i < task->hi && ok && task->kind == ms_MAP_OBJECTS; i++)
        ok = ms_map_add_object(&w, part, (size_t)i);
    if (ok && task->kind == ms_MAP_UNITS) {
        w.session = ms_map_session(plan);
        if (w.session != NULL)
            ms_map_set_budget(&w, task->size, plan->image->dw.info.len);
        ok = w.session != NULL && ms_map_add_units(&w, part, task->lo, task->hi);
    }
    if (ok)
        part->files_at = ms_map_end_part(&part->coder);
    if (w.session != NULL)
        ms_ans_close(w.session);
    ms_arena_free(&w.scratch);
    ms_arena_free(&w.unit_arena);
    ms_arena_free(&part->tables);
    return ok && !ms_map_part_failed(part);
}

static bool ms_map_build_text(const ms_map_spaces *spaces, const ms_map_dict *dict, const ms_map_task *task,
                              machsym_part *part)
{
    uint8_t raw[ms_MAP_BLOCK];
    uint8_t packed[2 * ms_MAP_BLOCK];
    size_t count = (size_t)(task->hi - task->lo);
    part->block_sizes = (uint32_t *)ms_arena_alloc(&part->arena, count, sizeof *part->block_sizes);
    for (size_t i = 0; i < count && part->block_sizes != NULL; i++) {
        ms_map_raw_block(spaces, task->lo + i, raw);
        size_t size = ms_map_pack(dict, raw, ms_MAP_BLOCK, packed);
        part->block_sizes[i] = (uint32_t)size;
        ms_map_put_bytes(&part->coder.data, packed, size);
    }
    return part->block_sizes != NULL && !part->data_arena.oom;
}

static void ms_map_free_part(machsym_part *part)
{
    ms_arena_free(&part->data_arena);
    ms_arena_free(&part->tables);
    ms_arena arena = part->arena; /* the part lies in its own arena */
    ms_arena_free(&arena);
}

static machsym_part *ms_map_new_part(machsym_allocator allocator, ms_map_kind kind)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_part *part = (machsym_part *)ms_arena_zeroed(&arena, 1, sizeof *part);
    if (part == NULL)
        return NULL;
    part->arena = arena;
    part->data_arena = ms_arena_make(allocator);
    part->tables = ms_arena_make(allocator);
    part->kind = kind;
    ms_map_coder_init(&part->coder, &part->data_arena, &part->arena, &part->tables);
    if (kind == ms_MAP_TEXT)
        part->coder.data.len = 0;
    return part;
}

static machsym_part *ms_map_build_part(const machsym_plan *plan, size_t index)
{
    const ms_map_task *task = &plan->tasks[index];
    machsym_part *part =
        ms_map_new_part(plan->allocator, task->kind == ms_MAP_TEXT ? ms_MAP_TEXT : ms_MAP_UNITS);
    if (part == NULL)
        return NULL;
    bool ok = task->kind == ms_MAP_TEXT ? ms_map_build_text(&plan->spaces, plan->dict, task, part)
                                        : ms_map_build_units(plan, task, part);
    if (ok)
        return part;
    ms_map_free_part(part);
    return NULL;
}

/* ---- Putting the parts together ---- */

/* A table of runs, by address, as it is put together. */
typedef struct ms_map_index {
    uint32_t *starts; /* from the text base; one more holds the end of the last run */
    uint32_t *at;     /* in DATA */
    size_t count;
} ms_map_index;

typedef struct ms_map_merge {
    machsym_allocator allocator;
    ms_arena arena;
    machsym_part **parts;
    size_t part_count;
    machsym_part *symbols; /* made here: what the debug info leaves open */
    uint64_t *bases;       /* by part: where its data begins in DATA, or its text in the packed blocks */
    uint64_t data_size;
    uint64_t text_addr;
    ms_map_run **order; /* runs with debug info, by address */
    uint32_t *order_part;
    size_t order_count;
    ms_map_index runs;
    ms_map_index symbol_runs;
    uint8_t *used;
    uint64_t block_count;
    uint64_t text_size; /* of all packed blocks in use */
    bool too_large;
} ms_map_merge;

/* Gathers the runs of all unit parts and sorts them by address. Runs below __TEXT are left out. */
static void ms_map_sort_runs(ms_map_merge *m)
{
    size_t total = 0;
    for (size_t i = 0; i < m->part_count; i++)
        total += m->parts[i]->coder.run_count;
    ms_key *keys = (ms_key *)ms_arena_alloc(&m->arena, total, sizeof *keys);
    ms_key *room = (ms_key *)ms_arena_alloc(&m->arena, total, sizeof *keys);
    m->order = (ms_map_run **)ms_arena_alloc(&m->arena, total, sizeof *m->order);
    m->order_part = (uint32_t *)ms_arena_alloc(&m->arena, total, sizeof *m->order_part);
    if (keys == NULL || room == NULL || m->order == NULL || m->order_part == NULL)
        return;
    size_t count = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        for (size_t j = 0; j < m->parts[i]->coder.run_count; j++) {
            keys[count].key = m->parts[i]->coder.runs[j].lo;
            keys[count++].item = (uint64_t)i << 32 | j;
        }
    }
    ms_sort(keys, count, room);
    for (size_t i = 0; i < count; i++) {
        size_t part = (size_t)(keys[i].item >> 32);
        ms_map_run *run = &m->parts[part]->coder.runs[keys[i].item & 0xffffffff];
        if (run->lo < m->text_addr)
            continue;
        m->too_large |= run->hi - m->text_addr > UINT32_MAX;
        m->order[m->order_count] = run;
        m->order_part[m->order_count++] = (uint32_t)part;
    }
}

/* Whether functions of the debug info have all of [lo, hi); *at moves on through the runs. */
static bool ms_map_is_covered(const ms_map_merge *m, size_t *at, uint64_t lo, uint64_t hi)
{
    while (*at < m->order_count && m->order[*at]->hi <= lo)
        ++*at;
    for (size_t i = *at; i < m->order_count && m->order[i]->lo <= lo && !m->order[i]->only_lines; i++) {
        MACHSYM_COUNT_WORK(1);
        lo = m->order[i]->hi > lo ? m->order[i]->hi : lo;
        if (lo >= hi)
            return true;
    }
    return false;
}

/* Makes runs of the symbols that the debug info does not cover. */
static void ms_map_add_symbols(ms_map_merge *m, const ms_sym_table *symbols)
{
    ms_map_coder *c = &m->symbols->coder;
    size_t at = 0;
    machsym_symbol symbol;
    for (size_t i = 0; i < symbols->count; i = ms_sym_next(symbols, i)) {
        ms_map_item item;
        ms_sym_get(symbols, i, &symbol);
        if (symbol.lo < m->text_addr || ms_map_is_covered(m, &at, symbol.lo, symbol.hi))
            continue;
        m->too_large |= symbol.hi - m->text_addr > UINT32_MAX;
        ms_zero(&item, sizeof item);
        item.lo = symbol.lo;
        item.hi = symbol.hi;
        uint32_t function = ms_map_function(c, symbol.name, ms_str_empty());
        item.chain = ms_map_root(c, symbol.source, function, true, symbol.lo, symbol.hi - symbol.lo);
        ms_map_put_run(c, &item, 1, false);
    }
    m->symbols->files_at = ms_map_end_part(c);
}

/* Places the data of unit parts and symbols one behind the other, and says which blocks of text are
 * needed. */
static void ms_map_lay_out(ms_map_merge *m)
{
    size_t used_len = (size_t)(m->block_count / 8 + 1);
    m->used = (uint8_t *)ms_arena_zeroed(&m->arena, used_len, 1);
    m->bases = (uint64_t *)ms_arena_zeroed(&m->arena, m->part_count + 1, sizeof *m->bases);
    if (m->used == NULL || m->bases == NULL)
        return;
    for (size_t i = 0; i <= m->part_count; i++) {
        const machsym_part *part = i < m->part_count ? m->parts[i] : m->symbols;
        if (part->kind != ms_MAP_UNITS)
            continue;
        m->bases[i] = m->data_size;
        m->data_size += part->coder.data.len;
        m->too_large |= part->coder.overflow;
        for (size_t j = 0; j < used_len && part->coder.used != NULL; j++)
            m->used[j] |= part->coder.used[j];
    }
    m->too_large |= m->data_size > UINT32_MAX - ms_MAP_MARGIN;
}

static void ms_map_index_alloc(ms_map_merge *m, ms_map_index *index, size_t count)
{
    index->starts = (uint32_t *)ms_arena_alloc(&m->arena, count + 1, sizeof *index->starts);
    index->at = (uint32_t *)ms_arena_alloc(&m->arena, count + 1, sizeof *index->at);
    index->count = index->starts != NULL && index->at != NULL ? count : 0;
}

static void ms_map_index_runs(ms_map_merge *m)
{
    const ms_map_coder *c = &m->symbols->coder;
    ms_map_index_alloc(m, &m->runs, m->order_count);
    ms_map_index_alloc(m, &m->symbol_runs, c->run_count);
    if (m->bases == NULL || m->arena.oom)
        return;
    for (size_t i = 0; i < m->runs.count; i++) {
        m->runs.starts[i] = (uint32_t)(m->order[i]->lo - m->text_addr);
        m->runs.at[i] = (uint32_t)(m->order[i]->at + m->bases[m->order_part[i]]);
    }
    for (size_t i = 0; i < m->symbol_runs.count; i++) {
        m->symbol_runs.starts[i] = (uint32_t)(c->runs[i].lo - m->text_addr);
        m->symbol_runs.at[i] = (uint32_t)(c->runs[i].at + m->bases[m->part_count]);
    }
}

/* ---- The file ---- */

/* A map file as it is written, table by table. */
typedef struct ms_map_file_out {
    uint8_t *v;
    size_t len;
    size_t cap;
    ms_map_head *head;
} ms_map_file_out;

static uint64_t ms_map_align(uint64_t at)
{
    return (at + 7) & ~(uint64_t)7;
}

static uint8_t *ms_map_begin_table(ms_map_file_out *out, unsigned table, uint64_t size)
{
    out->head->tables[table].lo = out->len;
    out->head->tables[table].hi = out->len + size;
    uint8_t *at = out->v + out->len;
    out->len = (size_t)ms_map_align(out->len + size);
    ms_zero(at + size, out->len - (size_t)out->head->tables[table].hi);
    return at;
}

static uint32_t ms_map_bucket_count(const ms_map_index *index, uint32_t shift)
{
    return index->count == 0 ? 0 : (index->starts[index->count - 1] >> shift) + 2;
}

/* So many bytes of text a bucket that a bucket has about four runs. */
static uint32_t ms_map_bucket_shift(const ms_map_index *index)
{
    uint32_t shift = 6;
    while (shift < 31 && index->count > 0 && (index->starts[index->count - 1] >> shift) > index->count / 4)
        shift++;
    return shift;
}

static void ms_map_write_index(ms_map_file_out *out, unsigned runs, const ms_map_index *index, uint32_t shift)
{
    uint8_t *p = ms_map_begin_table(out, runs, (uint64_t)index->count * 8);
    for (size_t i = 0; i < index->count; i++) {
        ms_map_store_u32(p + 8 * i, index->starts[i]);
        ms_map_store_u32(p + 8 * i + 4, index->at[i]);
    }
    uint32_t buckets = ms_map_bucket_count(index, shift);
    p = ms_map_begin_table(out, runs + 1, (uint64_t)buckets * 4);
    for (uint32_t bucket = 0, run = 0; bucket < buckets; bucket++) {
        while (run < index->count && index->starts[run] >> shift < bucket)
            run++;
        ms_map_store_u32(p + 4 * (size_t)bucket, run);
    }
}

static void ms_map_write_data(ms_map_merge *m, ms_map_file_out *out)
{
    size_t units = 0;
    for (size_t i = 0; i < m->part_count; i++)
        units += m->parts[i]->kind == ms_MAP_UNITS;
    uint8_t *table = ms_map_begin_table(out, ms_TABLE_PARTS, (uint64_t)(units + 1) * 8);
    uint8_t *data = ms_map_begin_table(out, ms_TABLE_DATA, m->data_size + ms_MAP_MARGIN);
    ms_zero(data + m->data_size, ms_MAP_MARGIN);
    for (size_t i = 0; i <= m->part_count; i++) {
        machsym_part *part = i < m->part_count ? m->parts[i] : m->symbols;
        if (part->kind != ms_MAP_UNITS)
            continue;
        ms_map_store_u32(table, (uint32_t)m->bases[i]);
        ms_map_store_u32(table + 4, (uint32_t)(m->bases[i] + part->files_at));
        table += 8;
        ms_copy(data + m->bases[i], part->coder.data.v, part->coder.data.len);
        ms_map_free_part(part);
        if (i < m->part_count)
            m->parts[i] = NULL;
        else
            m->symbols = NULL;
    }
}

static bool ms_map_block_used(const ms_map_merge *m, uint64_t block)
{
    return (m->used[block / 8] >> block % 8 & 1) != 0;
}

/* The packed blocks that something refers to; the others have no bytes. */
static void ms_map_write_text(ms_map_merge *m, ms_map_file_out *out)
{
    uint8_t *blocks = ms_map_begin_table(out, ms_TABLE_BLOCKS, (m->block_count + 1) * 4);
    uint8_t *text = ms_map_begin_table(out, ms_TABLE_TEXT, m->text_size);
    uint64_t block = 0;
    uint32_t to = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        const machsym_part *part = m->parts[i];
        if (part == NULL || part->kind != ms_MAP_TEXT)
            continue;
        size_t from = 0;
        size_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
        for (size_t j = 0; j < step && block < m->block_count; j++, block++) {
            ms_map_store_u32(blocks + 4 * block, to);
            if (ms_map_block_used(m, block)) {
                ms_copy(text + to, part->coder.data.v + from, part->block_sizes[j]);
                to += part->block_sizes[j];
            }
            from += part->block_sizes[j];
        }
    }
    ms_map_store_u32(blocks + 4 * block, to);
}

static void ms_map_size_text(ms_map_merge *m)
{
    uint64_t block = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        const machsym_part *part = m->parts[i];
        size_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
        for (size_t j = 0; part->kind == ms_MAP_TEXT && j < step && block < m->block_count; j++, block++)
            m->text_size += ms_map_block_used(m, block) ? part->block_sizes[j] : 0;
    }
    m->too_large |= m->text_size > UINT32_MAX;
}

static void ms_map_store_head(const ms_map_head *head, uint8_t *p)
{
    ms_zero(p, ms_MAP_HEAD);
    ms_copy(p, ms_MAP_MAGIC, 8);
    ms_map_store_u32(p + 8, head->version);
    ms_map_store_u32(p + 12, head->flags);
    ms_copy(p + 16, head->uuid.v, 16);
    ms_map_store_u32(p + 32, head->cputype);
    ms_map_store_u32(p + 36, head->cpusubtype);
    ms_map_store_u64(p + 40, head->text_addr);
    ms_map_store_u64(p + 48, head->text_size);
    ms_map_store_u32(p + 56, head->lines);
    ms_map_store_u32(p + 60, head->bucket_shift);
    ms_map_store_u64(p + 64, head->size);
    ms_map_store_u64(p + 72, head->checksum);
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++) {
        ms_map_store_u64(p + 80 + 16 * i, head->tables[i].lo);
        ms_map_store_u64(p + 88 + 16 * i, head->tables[i].hi);
    }
    ms_map_store_u64(p + 240, head->text_exec_addr);
    ms_map_store_u64(p + 248, head->code_size);
}

static void ms_map_load_head(const uint8_t *p, ms_map_head *head)
{
    head->version = ms_rd_raw_u32(p + 8);
    head->flags = ms_rd_raw_u32(p + 12);
    ms_copy(head->uuid.v, p + 16, 16);
    head->cputype = ms_rd_raw_u32(p + 32);
    head->cpusubtype = ms_rd_raw_u32(p + 36);
    head->text_addr = ms_rd_raw_u64(p + 40);
    head->text_size = ms_rd_raw_u64(p + 48);
    head->lines = ms_rd_raw_u32(p + 56);
    head->bucket_shift = ms_rd_raw_u32(p + 60);
    head->size = ms_rd_raw_u64(p + 64);
    head->checksum = ms_rd_raw_u64(p + 72);
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++) {
        head->tables[i].lo = ms_rd_raw_u64(p + 80 + 16 * i);
        head->tables[i].hi = ms_rd_raw_u64(p + 88 + 16 * i);
    }
    head->text_exec_addr = ms_rd_raw_u64(p + 240);
    head->code_size = ms_rd_raw_u64(p + 248);
}

/* The checksum counts its own field as zero. */
static uint64_t ms_map_sum_of(ms_span bytes)
{
    uint8_t head[ms_MAP_HEAD];
    ms_copy(head, bytes.ptr, ms_MAP_HEAD);
    ms_map_store_u64(head + 72, 0);
    uint64_t sum = ms_map_checksum(ms_span_make(head, ms_MAP_HEAD));
    return sum ^ ms_map_checksum(ms_span_from(bytes, ms_MAP_HEAD));
}

static void ms_map_set_tables(machsym_map *map)
{
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++)
        map->tables[i] =
            ms_span_sub(map->bytes, map->head.tables[i].lo, map->head.tables[i].hi - map->head.tables[i].lo);
    ms_span data = map->tables[ms_TABLE_DATA];
    map->records = ms_span_make(data.ptr, data.len < ms_MAP_MARGIN ? 0 : data.len - ms_MAP_MARGIN);
}

/* Writes the whole file into one piece of memory. Takes the parts apart on the way. */
static machsym_map *ms_map_write(ms_map_merge *m, ms_map_head *head, machsym_str name,
                                 const ms_map_dict *dict)
{
    uint64_t size = ms_MAP_HEAD + ms_map_align(name.len) + ms_map_align((uint64_t)(m->part_count + 1) * 8);
    head->bucket_shift = ms_map_bucket_shift(m->runs.count > 0 ? &m->runs : &m->symbol_runs);
    size += ms_map_align((uint64_t)m->runs.count * 8) + ms_map_align((uint64_t)m->symbol_runs.count * 8);
    size += ms_map_align((uint64_t)ms_map_bucket_count(&m->runs, head->bucket_shift) * 4);
    size += ms_map_align((uint64_t)ms_map_bucket_count(&m->symbol_runs, head->bucket_shift) * 4);
    size += ms_map_align(dict->len) + ms_map_align((m->block_count + 1) * 4);
    size += ms_map_align(m->data_size + ms_MAP_MARGIN) + ms_map_align(m->text_size);
    machsym_map *map = (machsym_map *)m->allocator.alloc(m->allocator.user, sizeof *map);
    uint8_t *memory = (uint8_t *)m->allocator.alloc(m->allocator.user, (size_t)size);
    if (map == NULL || memory == NULL) {
        if (map != NULL)
            m->allocator.free(m->allocator.user, map, sizeof *map);
        if (memory != NULL)
            m->allocator.free(m->allocator.user, memory, (size_t)size);
        return NULL;
    }
    ms_map_file_out out = {memory, ms_MAP_HEAD, (size_t)size, head};
    ms_zero(map, sizeof *map);
    ms_copy(ms_map_begin_table(&out, ms_TABLE_NAME, name.len), name.ptr, name.len);
    ms_map_write_index(&out, ms_TABLE_RUNS, &m->runs, head->bucket_shift);
    ms_map_write_index(&out, ms_TABLE_SYMBOL_RUNS, &m->symbol_runs, head->bucket_shift);
    ms_copy(ms_map_begin_table(&out, ms_TABLE_DICT, dict->len), dict->text, dict->len);
    ms_map_write_text(m, &out);
    ms_map_write_data(m, &out);
    head->size = out.len;
    head->checksum = 0;
    ms_map_store_head(head, memory);
    head->checksum = ms_map_sum_of(ms_span_make(memory, out.len));
    ms_map_store_head(head, memory);
    map->allocator = m->allocator;
    map->memory = memory;
    map->memory_size = (size_t)size;
    map->bytes = ms_span_make(memory, out.len);
    map->head = *head;
    ms_map_set_tables(map);
    return map;
}

static machsym_result ms_map_finish(ms_map_merge *m, ms_map_head *head, machsym_str name,
                                    const ms_map_dict *dict, const ms_sym_table *symbols, machsym_map **out,
                                    machsym_error *err)
{
    ms_map_sort_runs(m);
    if (symbols != NULL && !m->arena.oom)
        ms_map_add_symbols(m, symbols);
    ms_map_lay_out(m);
    if (!m->arena.oom) {
        ms_map_size_text(m);
        ms_map_index_runs(m);
    }
    if (m->too_large)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds 4 GB of text and of data at most", "", 0);
    if (m->arena.oom || ms_map_part_failed(m->symbols))
        return ms_fail_memory(err);
    *out = ms_map_write(m, head, name, dict);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

/* ---- Lookup ---- */

static uint32_t ms_map_u32_at(ms_span table, uint64_t index)
{
    return ms_rd_raw_u32(table.ptr + 4 * index);
}

/* A number of a record, of ten bytes at most: wherever one may begin, ms_MAP_MARGIN bytes can be read. It is where
 * lookups spend their time. */
static inline uint64_t ms_map_get(const uint8_t **at)
{
    const uint8_t *p = *at;
    MACHSYM_COUNT_WORK(1);
    uint64_t number = p[0] & 0x7fu;
    if (p[0] < 0x80) {
        *at = p + 1;
        return number;
    }
    number |= (uint64_t)(p[1] & 0x7fu) << 7;
    if (p[1] < 0x80) {
        *at = p + 2;
        return number;
    }
    size_t len = 2;
    do {
        number |= (uint64_t)(p[len] & 0x7fu) << 7 * len;
    } while (p[len++] >= 0x80 && len < 10);
    *at = p + len;
    return number;
}

/* Has a run come into the cache, and what stands before it: nine of ten chains stand there. */
static void ms_map_fetch_record(const machsym_map *map, uint64_t at)
{
    ms_span data = map->tables[ms_TABLE_DATA];
    for (unsigned line = 0; line < 4 && at < data.len && 64 * line <= at; line++)
        ms_fetch(data.ptr + (at - 64 * line));
}

/* A range found, and what it says. */
typedef struct ms_map_hit {
    uint64_t lo; /* from the text base */
    uint64_t hi;
    uint32_t chain; /* in DATA; 0: lines only */
    ms_map_line line;
    uint64_t run; /* its run's place in DATA */
} ms_map_hit;

/* The last run that starts at or below off; the number of runs when there is none. */
static uint64_t ms_map_run_at(const machsym_map *map, unsigned runs, uint64_t off)
{
    ms_span table = map->tables[runs];
    ms_span buckets = map->tables[runs + 1];
    uint64_t count = table.len / 8;
    uint64_t bucket_count = buckets.len / 4;
    uint64_t bucket = off >> map->head.bucket_shift;
    if (count == 0 || bucket_count < 2)
        return count;
    if (bucket > bucket_count - 2)
        bucket = bucket_count - 2;
    uint64_t lo = ms_map_u32_at(buckets, bucket);
    uint64_t hi = ms_map_u32_at(buckets, bucket + 1);
    if (bucket == bucket_count - 2 || hi > count)
        hi = count;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (ms_rd_raw_u32(table.ptr + 8 * mid) <= off)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo == 0 || lo > count ? count : lo - 1;
}

/* Decodes the run until the range that holds off. Returns false when the run ends before, or is damaged. */
static bool ms_map_in_run(const machsym_map *map, uint64_t start, uint64_t at, uint64_t off, ms_map_hit *hit)
{
    if (at >= map->records.len)
        return false;
    const uint8_t *p = map->records.ptr + at;
    const uint8_t *end = map->records.ptr + map->records.len;
    bool columns = (map->head.flags & MACHSYM_MAP_COLUMNS) != 0;
    uint64_t count = ms_map_get(&p);
    uint64_t lo = start;
    uint64_t distance = 0;
    uint64_t file = 0;
    uint64_t line = 0;
    uint64_t column = 0;
    for (uint64_t i = 0; i < count && i < ms_MAP_RUN_MAX && p < end; i++) {
        MACHSYM_COUNT_WORK(1);
        uint64_t hi = lo + ms_map_get(&p);
        uint64_t what = ms_map_get(&p);
        line += (uint64_t)ms_map_unzigzag(what >> 2);
        if ((what & 1) != 0)
            distance = ms_map_get(&p);
        if ((what & 2) != 0)
            file = ms_map_get(&p);
        if (columns)
            column = ms_map_get(&p);
        if (off < hi) {
            hit->lo = lo;
            hit->hi = hi;
            hit->chain = distance == 0 || distance > at ? 0 : (uint32_t)(at - distance);
            hit->line.file = (uint32_t)file;
            hit->line.line = (uint32_t)line;
            hit->line.column = (uint32_t)column;
            hit->run = at;
            return hi <= UINT32_MAX;
        }
        if (hi < lo)
            return false;
        lo = hi;
    }
    return false;
}

static bool ms_map_find(const machsym_map *map, unsigned runs, uint64_t off, ms_map_hit *hit)
{
    uint64_t run = ms_map_run_at(map, runs, off);
    ms_span table = map->tables[runs];
    if (run >= table.len / 8)
        return false;
    uint64_t start = ms_map_u32_at(table, 2 * run);
    uint64_t at = ms_map_u32_at(table, 2 * run + 1);
    ms_map_fetch_record(map, at);
    return start <= off && ms_map_in_run(map, start, at, off, hit);
}

/* Plain text: its length, then its bytes. */
static machsym_str ms_map_plain_at(ms_span data, uint64_t at)
{
    ms_rd rd = ms_rd_at(data, at);
    ms_span text = ms_rd_span(&rd, ms_rd_uleb(&rd));
    return ms_str_make((const char *)text.ptr, text.len);
}

static machsym_str ms_map_plain_ref(ms_span data, uint64_t record, uint64_t ref)
{
    return (ref & 1) == 0 || ref >> 1 > record ? ms_str_empty() : ms_map_plain_at(data, record - (ref >> 1));
}

/* The file table of a part. */
typedef struct ms_map_files {
    uint64_t base;    /* of the part, in DATA */
    const uint8_t *v; /* u32: file i at v + 4 * i */
    uint64_t count;
} ms_map_files;

/* The files of the part that a record lies in. */
static ms_map_files ms_map_files_of(const machsym_map *map, uint64_t record)
{
    ms_span parts = map->tables[ms_TABLE_PARTS];
    ms_span data = map->records;
    ms_map_files files = {0, NULL, 0};
    uint64_t lo = 0;
    for (uint64_t left = parts.len / 8; left > 1;) { /* without branches that nobody can predict */
        uint64_t half = left / 2;
        lo += ms_map_u32_at(parts, 2 * (lo + half)) <= record ? half : 0;
        left -= half;
    }
    if (parts.len < 8 || ms_map_u32_at(parts, 2 * lo) > record)
        return files;
    uint64_t at = ms_map_u32_at(parts, 2 * lo + 1);
    if (at >= data.len)
        return files;
    files.base = ms_map_u32_at(parts, 2 * lo);
    files.v = data.ptr + at;
    files.count = ms_rd_raw_u32(files.v);
    if (files.count > (data.len - at) / 4) /* the margin makes up for the count itself */
        files.count = (data.len - at) / 4;
    return files;
}

/* Sets a frame's line, and where its FILE record stands. */
static inline void ms_map_set_line(const ms_map_files *files, const ms_map_line *line, machsym_frame *frame)
{
    frame->line = line->line;
    frame->column = line->column;
    frame->file_ref = 0;
    if ((uint64_t)line->file - 1 < files->count)
        frame->file_ref = (uint32_t)(files->base + ms_rd_raw_u32(files->v + 4 * (uint64_t)line->file));
    if (line->line != 0 || frame->file_ref != 0)
        frame->line_source = MACHSYM_SOURCE_DWARF;
}

/* The file of a FILE record. */
static void ms_map_set_file(const machsym_map *map, machsym_frame *frame)
{
    ms_span data = map->tables[ms_TABLE_DATA];
    ms_rd rd = ms_rd_at(data, frame->file_ref);
    frame->file.comp_dir = ms_map_plain_ref(data, frame->file_ref, ms_rd_uleb(&rd));
    frame->file.dir = ms_map_plain_ref(data, frame->file_ref, ms_rd_uleb(&rd));
    frame->file.name = ms_map_plain_ref(data, frame->file_ref, ms_rd_uleb(&rd));
}

/* A CHAIN record. */
typedef struct ms_map_link {
    uint64_t caller; /* 0: this is the concrete function */
    uint32_t function;
    machsym_source source;
    ms_map_line call;
    uint64_t start; /* of the concrete function, from the text base */
    uint64_t size;
} ms_map_link;

static bool ms_map_read_link(const machsym_map *map, uint64_t at, ms_map_link *link)
{
    if (at >= map->records.len)
        return false;
    const uint8_t *p = map->records.ptr + at;
    uint64_t what = ms_map_get(&p);
    uint64_t function = ms_map_get(&p);
    uint64_t a = ms_map_get(&p);
    uint64_t b = ms_map_get(&p);
    link->function = function == 0 || function > at ? 0 : (uint32_t)(at - function);
    if ((what & 1) != 0) {
        uint64_t distance = what >> 2;
        link->caller = distance == 0 || distance >= at ? 0 : at - distance;
        link->source = (what & 2) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
        link->call.file = (uint32_t)a;
        link->call.line = (uint32_t)b;
        link->call.column = (map->head.flags & MACHSYM_MAP_COLUMNS) != 0 ? (uint32_t)ms_map_get(&p) : 0;
        link->start = link->size = 0;
        return link->caller != 0;
    }
    link->caller = 0;
    link->call.file = link->call.line = link->call.column = 0;
    link->source = (machsym_source)(what >> 1 < MACHSYM_SOURCE_COUNT ? what >> 1 : 0);
    link->start = a;
    link->size = b;
    return true;
}

/* The frames of a chain. Callers stand below what they call, so the walk ends; no frames when it is too long. */
static size_t ms_map_chain_frames(const machsym_map *map, const ms_map_hit *hit, machsym_frame *frames,
                                  size_t cap)
{
    ms_map_link link;
    ms_map_line line = hit->line;
    size_t count = 0;
    uint64_t at = hit->chain;
    machsym_frame blank; /* copying one is several times faster than clearing one */
    ms_zero(&blank, sizeof blank);
    ms_map_files files = ms_map_files_of(map, hit->run);
    do {
        MACHSYM_COUNT_WORK(1);
        if (count == ms_MAP_LINKS || !ms_map_read_link(map, at, &link))
            return 0;
        if (count < cap) {
            machsym_frame *frame = &frames[count];
            *frame = blank;
            frame->is_inline = link.caller != 0;
            frame->name_ref = link.function;
            frame->name_source = link.source;
            ms_map_set_line(&files, &line, frame);
        }
        line = link.call;
        at = link.caller;
        count++;
    } while (at != 0);
    for (size_t i = 0; i < count && i < cap; i++) {
        frames[i].function_start = map->head.text_addr + link.start;
        frames[i].function_size = link.size;
    }
    return count;
}

static size_t ms_map_frames(const machsym_map *map, uint64_t addr, machsym_frame *frames, size_t cap)
{
    ms_map_hit hit;
    ms_map_hit symbol;
    uint64_t off = addr - map->head.text_addr;
    if (addr < map->head.text_addr || off > UINT32_MAX)
        return 0;
    bool found = ms_map_find(map, ms_TABLE_RUNS, off, &hit);
    if (found && hit.chain != 0)
        return ms_map_chain_frames(map, &hit, frames, cap);
    size_t count = ms_map_find(map, ms_TABLE_SYMBOL_RUNS, off, &symbol) && symbol.chain != 0
                       ? ms_map_chain_frames(map, &symbol, frames, cap)
                       : 0;
    if (!found)
        return count;
    ms_map_files files = ms_map_files_of(map, hit.run);
    if (cap > 0 && count == 0)
        ms_zero(frames, sizeof *frames);
    if (cap > 0)
        ms_map_set_line(&files, &hit.line, frames);
    return 1;
}

/* ---- Names ---- */

/* The block of text unpacked last, or its beginning. */
typedef struct ms_map_page {
    uint64_t block; /* number + 1; 0: none */
    size_t len;
    uint8_t v[ms_MAP_BLOCK + 16];
} ms_map_page;

/* Unpacks a block so far that want bytes of it are there. Returns false when they are not. */
static bool ms_map_turn_to(const machsym_map *map, uint64_t block, size_t want, ms_map_page *page)
{
    ms_span blocks = map->tables[ms_TABLE_BLOCKS];
    if (page->block == block + 1 && page->len >= want)
        return true;
    if (block >= blocks.len / 4 || block + 1 >= blocks.len / 4)
        return false;
    uint32_t lo = ms_map_u32_at(blocks, block);
    uint32_t hi = ms_map_u32_at(blocks, block + 1);
    ms_span packed = hi > lo ? ms_span_sub(map->tables[ms_TABLE_TEXT], lo, hi - lo) : ms_span_make(NULL, 0);
    page->block = block + 1;
    page->len = ms_map_unpack(map->tables[ms_TABLE_DICT], packed, page->v, want);
    return page->len >= want;
}

/* Copies the text at a place in the spaces to out. Returns its length, even if it is more than cap; 0 when it
 * is longer than any name. */
static size_t ms_map_packed_text(const machsym_map *map, uint64_t place, ms_map_page *page, char *out,
                                 size_t cap)
{
    size_t len = 0;
    bool ended = false;
    size_t ahead = 128; /* most names end within so many bytes; only the others need the whole block */
    while (!ended && len <= MACHSYM_MAX_TEXT) {
        size_t at = (size_t)(place % ms_MAP_BLOCK);
        size_t want = ahead < ms_MAP_BLOCK - at ? at + ahead : (size_t)ms_MAP_BLOCK;
        if (!ms_map_turn_to(map, place / ms_MAP_BLOCK, want, page))
            break;
        MACHSYM_COUNT_WORK(1 + want / 64);
        machsym_str piece = ms_str_bounded((const char *)page->v + at, page->len - at);
        ended = at + piece.len < page->len;
        ahead = ms_MAP_BLOCK;
        if (!ended && page->len < ms_MAP_BLOCK)
            continue;
        if (len < cap)
            ms_copy(out + len, piece.ptr, piece.len < cap - len ? piece.len : cap - len);
        len += piece.len;
        place += piece.len;
        if (len > MACHSYM_MAX_TEXT)
            return 0;
    }
    return len <= MACHSYM_MAX_TEXT ? len : 0;
}

/* What a FUNCTION record refers to; 0 where there is no text, and without a record. */
typedef struct ms_map_refs {
    uint64_t linkage_name;
    uint64_t name;
} ms_map_refs;

static inline ms_map_refs ms_map_refs_of(const machsym_map *map, uint64_t record)
{
    ms_map_refs refs = {0, 0};
    if (record == 0 || record >= map->records.len)
        return refs;
    const uint8_t *p = map->records.ptr + record;
    refs.linkage_name = ms_map_get(&p);
    refs.name = ms_map_get(&p);
    return refs;
}

/* Gives one name of a FUNCTION record: a view of the map, or of text behind *used. */
static machsym_str ms_map_name(const machsym_map *map, uint64_t record, uint64_t ref, ms_map_page *page,
                               char *text, size_t cap, size_t *used)
{
    if ((ref & 1) != 0)
        return ms_map_plain_ref(map->tables[ms_TABLE_DATA], record, ref);
    size_t room = *used < cap ? cap - *used : 0;
    char *to = room > 0 ? text + *used : NULL;
    size_t len = ms_map_packed_text(map, (ref >> 1) - 1, page, to, room);
    *used += len;
    return len <= room ? ms_str_make(to, len) : ms_str_empty();
}

static size_t ms_map_names(const machsym_map *map, machsym_frame *frames, size_t count, char *text,
                           size_t cap)
{
    ms_map_page
        linkage_page; /* of its own: names that follow each other lie apart from their linkage names */
    ms_map_page page;
    size_t used = 0;
    linkage_page.block = page.block = 0;
    for (size_t i = 0; i < count; i++) {
        if (frames[i].file_ref != 0)
            ms_map_set_file(map, &frames[i]);
        uint64_t record = frames[i].name_ref;
        ms_map_refs refs = ms_map_refs_of(map, record);
        if (refs.linkage_name != 0)
            frames[i].linkage_name =
                ms_map_name(map, record, refs.linkage_name, &linkage_page, text, cap, &used);
        if (refs.name != 0)
            frames[i].name = ms_map_name(map, record, refs.name, &page, text, cap, &used);
    }
    return used;
}

/* ---- Names that were unpacked before ---- */

enum { ms_MAP_FILES_KEPT = 256 };

struct machsym_names {
    const machsym_map *map;
    ms_arena arena;      /* of this and of pages */
    ms_arena cache;      /* of what can be dropped */
    ms_map_page **pages; /* by block; NULL: not unpacked */
    size_t page_count;
    uint32_t file_refs[ms_MAP_FILES_KEPT]; /* by a hash of it, what a FILE record says; 0: none */
    machsym_path files[ms_MAP_FILES_KEPT];
};

static void ms_map_kept_file(machsym_names *names, machsym_frame *frame)
{
    size_t slot = (frame->file_ref * 2654435761u) >> 24;
    if (names->file_refs[slot] != frame->file_ref) {
        ms_map_set_file(names->map, frame);
        names->file_refs[slot] = frame->file_ref;
        names->files[slot] = frame->file;
    }
    frame->file = names->files[slot];
}

static machsym_names *ms_map_open_names(const machsym_map *map, machsym_allocator allocator)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_names *names = (machsym_names *)ms_arena_zeroed(&arena, 1, sizeof *names);
    size_t page_count = map->tables[ms_TABLE_BLOCKS].len / 4;
    ms_map_page **pages = (ms_map_page **)ms_arena_zeroed(&arena, page_count, sizeof *pages);
    if (names == NULL || pages == NULL) {
        ms_arena_free(&arena);
        return NULL;
    }
    names->map = map;
    names->pages = pages;
    names->page_count = page_count;
    names->cache = ms_arena_make(allocator);
    names->arena = arena;
    return names;
}

static void ms_map_close_names(machsym_names *names)
{
    ms_arena arena = names->arena; /* the object lies in it */
    ms_arena_free(&names->cache);
    ms_arena_free(&arena);
}

/* What is unpacked of a block from a byte on; empty when the block is damaged or there is none. */
static machsym_str ms_map_unpacked(machsym_names *names, uint64_t block, size_t at)
{
    if (block >= names->page_count)
        return ms_str_empty();
    ms_map_page *page = names->pages[block];
    if (page == NULL) {
        page = (ms_map_page *)ms_arena_alloc(&names->cache, 1, sizeof *page);
        if (page == NULL)
            return ms_str_empty();
        page->block = page->len = 0;
        ms_map_turn_to(names->map, block, ms_MAP_BLOCK, page);
        names->pages[block] = page;
    }
    return page->len <= at ? ms_str_empty() : ms_str_make((const char *)page->v + at, page->len - at);
}

/* Copies a text that runs on into other blocks. */
static machsym_str ms_map_long_text(machsym_names *names, uint64_t place)
{
    size_t len = 0;
    size_t cap = 0;
    char *v = NULL;
    while (len <= MACHSYM_MAX_TEXT) {
        machsym_str rest = ms_map_unpacked(names, place / ms_MAP_BLOCK, (size_t)(place % ms_MAP_BLOCK));
        machsym_str piece = ms_str_bounded(rest.ptr, rest.len);
        if (piece.len == 0)
            return ms_str_make(v, len);
        while (piece.len > cap - len) {
            char *more = (char *)ms_arena_double(&names->cache, v, len, &cap, 1);
            if (more == NULL)
                return ms_str_empty();
            v = more;
        }
        ms_copy(v + len, piece.ptr, piece.len);
        len += piece.len;
        place += piece.len;
        if (piece.len < rest.len)
            return ms_str_make(v, len);
    }
    return ms_str_empty();
}

static machsym_str ms_map_kept_name(machsym_names *names, uint64_t record, uint64_t ref)
{
    if ((ref & 1) != 0)
        return ms_map_plain_ref(names->map->tables[ms_TABLE_DATA], record, ref);
    uint64_t place = (ref >> 1) - 1;
    machsym_str rest = ms_map_unpacked(names, place / ms_MAP_BLOCK, (size_t)(place % ms_MAP_BLOCK));
    machsym_str text = ms_str_bounded(rest.ptr, rest.len);
    return text.len < rest.len ? text : ms_map_long_text(names, place);
}

static void ms_map_trim_names(machsym_names *names, size_t limit)
{
    if (names->cache.live <= limit)
        return;
    ms_arena_reset(&names->cache);
    ms_zero(names->pages, names->page_count * sizeof *names->pages);
}

static bool ms_map_get_names(machsym_names *names, machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (frames[i].file_ref != 0)
            ms_map_kept_file(names, &frames[i]);
        ms_map_refs refs = ms_map_refs_of(names->map, frames[i].name_ref);
        if (refs.linkage_name != 0)
            frames[i].linkage_name = ms_map_kept_name(names, frames[i].name_ref, refs.linkage_name);
        if (refs.name != 0)
            frames[i].name = ms_map_kept_name(names, frames[i].name_ref, refs.name);
    }
    bool ok = !names->cache.oom;
    names->cache.oom = false;
    return ok;
}

/* ---- Ranges ---- */

/* Where the next run starts; UINT64_MAX behind the last. */
static uint64_t ms_map_next_start(const machsym_map *map, unsigned runs, uint64_t off)
{
    ms_span table = map->tables[runs];
    uint64_t run = ms_map_run_at(map, runs, off);
    run = run == table.len / 8 ? 0 : run + 1;
    uint64_t start = run < table.len / 8 ? ms_map_u32_at(table, 2 * run) : UINT64_MAX;
    return start > off ? start : UINT64_MAX; /* a table out of order ends here */
}

static bool ms_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out)
{
    ms_map_hit hit;
    while (at->a <= UINT32_MAX) {
        uint64_t off = at->a;
        uint64_t next = ms_map_next_start(map, ms_TABLE_RUNS, off);
        bool found = ms_map_find(map, ms_TABLE_RUNS, off, &hit);
        out->is_symbol = !found;
        if (!found && ms_map_find(map, ms_TABLE_SYMBOL_RUNS, off, &hit)) {
            found = true;
            hit.hi = hit.hi < next ? hit.hi : next;
        }
        if (found) {
            out->lo = map->head.text_addr + off;
            out->hi = map->head.text_addr + hit.hi;
            at->a = hit.hi;
            return true;
        }
        uint64_t symbol = ms_map_next_start(map, ms_TABLE_SYMBOL_RUNS, off);
        at->a = next < symbol ? next : symbol;
    }
    return false;
}

/* ---- Writing range by range ---- */

struct machsym_writer {
    machsym_allocator allocator;
    machsym_part *parts[2]; /* with debug info; symbols */
    ms_map_buf texts;       /* names of both */
    ms_arena text_arena;    /* only ever holds them */
    ms_map_queue queue;
    machsym_map_info info;
    uint64_t end[2];    /* of the last range of each */
    ms_map_hash chains; /* caller's record and site, or function and start, to their CHAIN record */
    ms_map_hash sites;  /* called function, file, line and column to a number */
    ms_arena arena;
};

/* The CHAIN record of a concrete function, written once for every start. Returns 0 when memory is out. */
static uint32_t ms_map_writer_root(machsym_writer *w, ms_map_coder *c, const machsym_frame *frame)
{
    uint32_t function = ms_map_function(c, frame->linkage_name, frame->name);
    bool named = frame->linkage_name.len != 0 || frame->name.len != 0;
    uint64_t kind = (c == &w->parts[1]->coder ? (uint64_t)1 << 33 : 0) | (uint64_t)1 << 32;
    ms_map_slot *slot = ms_map_hash_get(&w->chains, kind | function, frame->function_start);
    if (slot != NULL && slot->value == 0)
        slot->value =
            ms_map_root(c, frame->name_source, function, named, frame->function_start, frame->function_size);
    return slot == NULL ? 0 : slot->value;
}

/* The CHAIN record of a call from the frame behind it. */
static uint32_t ms_map_writer_call(machsym_writer *w, ms_map_coder *c, const machsym_frame *frame,
                                   uint32_t caller)
{
    const machsym_frame *from = frame + 1;
    ms_map_line call = {ms_map_file(c, &from->file), from->line, c->columns ? from->column : 0};
    uint32_t function = ms_map_function(c, frame->linkage_name, frame->name);
    ms_map_slot *site = ms_map_hash_get(&w->sites, (uint64_t)call.file << 32 | call.line,
                                        (uint64_t)call.column << 32 | function);
    if (site == NULL)
        return 0;
    if (site->value == 0)
        site->value = (uint32_t)w->sites.count;
    ms_map_slot *slot = ms_map_hash_get(&w->chains, site->value, caller);
    if (slot != NULL && slot->value == 0)
        slot->value = ms_map_call(c, caller, frame->name_source, function, &call);
    return slot == NULL ? 0 : slot->value;
}

static machsym_result ms_map_writer_add(machsym_writer *w, const machsym_map_range *range,
                                        const machsym_frame *frames, size_t count, machsym_error *err)
{
    unsigned which = range->is_symbol ? 1 : 0;
    ms_map_coder *c = &w->parts[which]->coder;
    ms_map_item item;
    if (range->lo >= range->hi || range->lo < w->end[which] || range->lo < w->info.text_addr || count == 0)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "ranges must ascend, lie above the text base and have a frame", "", range->lo);
    if (count > ms_MAP_LINKS)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds chains of 4096 frames at most", "", range->lo);
    if (range->hi - w->info.text_addr > UINT32_MAX)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds 4 GB of text and of data at most", "", range->lo);
    ms_zero(&item, sizeof item);
    item.lo = range->lo;
    item.hi = w->end[which] = range->hi;
    item.line.file = ms_map_file(c, &frames[0].file);
    item.line.line = frames[0].line;
    item.line.column = c->columns ? frames[0].column : 0;
    item.chain = ms_map_writer_root(w, c, &frames[count - 1]);
    for (size_t i = count - 1; i-- > 0;)
        item.chain = ms_map_writer_call(w, c, &frames[i], item.chain);
    if (w->arena.oom || w->text_arena.oom || ms_map_part_failed(w->parts[which]))
        return ms_fail_memory(err);
    if (range->is_symbol)
        ms_map_put_run(c, &item, 1, false);
    else
        ms_map_add(c, &w->queue, &item, false);
    return MACHSYM_OK;
}

/* Hands all parts over to a merge, with the kept names packed behind them. Returns false when memory is out. */
static bool ms_map_writer_pack(machsym_writer *w, ms_map_merge *m, ms_map_dict *dict)
{
    ms_map_spaces spaces;
    size_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
    ms_zero(&spaces, sizeof spaces);
    spaces.v[0] = ms_span_make(w->texts.v, w->texts.len);
    spaces.total = ((uint64_t)w->texts.len + ms_MAP_BLOCK - 1) / ms_MAP_BLOCK * ms_MAP_BLOCK;
    m->block_count = spaces.total / ms_MAP_BLOCK;
    uint64_t pieces = w->texts.len / ms_MAP_PER_SAMPLE;
    uint64_t most = ms_MAP_DICT / ms_MAP_SAMPLE;
    ms_map_fill_dict(&spaces, pieces < most ? pieces : most, dict);
    m->parts = (machsym_part **)ms_arena_zeroed(&m->arena, 1 + ((size_t)m->block_count + step - 1) / step,
                                                sizeof(machsym_part *));
    uint8_t *used = (uint8_t *)ms_arena_zeroed(&w->arena, (size_t)(m->block_count / 8 + 1), 1);
    if (m->parts == NULL || used == NULL)
        return false;
    for (uint64_t i = 0; i < m->block_count; i++)
        used[i / 8] |= (uint8_t)(1u << i % 8);
    w->parts[0]->coder.used = used;
    m->symbols = w->parts[1];
    m->parts[m->part_count++] = w->parts[0];
    w->parts[0] = w->parts[1] = NULL; /* the merge has them */
    for (uint64_t lo = 0; lo < m->block_count; lo += step) {
        uint64_t hi = lo + step < m->block_count ? lo + step : m->block_count;
        ms_map_task task = {ms_MAP_TEXT, lo, hi, (hi - lo) * ms_MAP_BLOCK};
        machsym_part *part = ms_map_new_part(w->allocator, ms_MAP_TEXT);
        m->parts[m->part_count++] = part;
        if (part == NULL || !ms_map_build_text(&spaces, dict, &task, part))
            return false;
    }
    return true;
}

#endif /* ms_ROOM_map_map */
