/* Zstandard; see zstd.h. Numbers of sections are those of RFC 8878. */
#include "zstd.h"
#include "../../report/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    ZSTD_BLOCK_MAX = 1 << 17, /* 3.1.1.2.4: no block holds or takes more */
    ZSTD_HUFFMAN_BITS = 11,   /* 4.2.1: the longest code of literals */
    ZSTD_WEIGHT_BITS = 6,     /* 4.2.1.2: accuracy of the weights' table */
    ZSTD_LENGTH_BITS = 9,     /* 3.1.1.3.2.1: accuracy of literals' and matches' lengths */
    ZSTD_OFFSET_BITS = 8,
    ZSTD_LENGTH_CODES = 36,
    ZSTD_MATCH_CODES = 53,
    ZSTD_OFFSET_CODES = 32, /* an offset has 31 bits at most, as zstd's own has */
    ZSTD_WEIGHTS = 256,
    ZSTD_WORD_BITS = 56 /* that one read gives at most */
};

#define ZSTD_MAGIC        0xfd2fb528u
#define ZSTD_MAGIC_SKIP   0x184d2a50u /* of frames that hold something else; its low 4 bits are free */
#define ZSTD_UNKNOWN_SIZE UINT64_MAX

/* ---- Bytes ---- */

static uint64_t zstd_get(const uint8_t *p, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static uint64_t zstd_get8(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* The highest bit of a number that is not 0. */
static unsigned zstd_high_bit(uint64_t value)
{
    unsigned bit = 0;
    while ((value >>= 1) != 0)
        bit++;
    return bit;
}

/* ---- Bits ---- */

/* Bits that are read from the last one to the first one (4.1). Before the first one stand zeros. */
typedef struct zstd_bits {
    const uint8_t *p;
    size_t len;
    int64_t left; /* bits that were not read; below 0: more were read than there are */
} zstd_bits;

/* The highest bit of the last byte is a mark: bits stand below it. */
static bool zstd_bits_begin(zstd_bits *b, const uint8_t *p, size_t len)
{
    b->p = p;
    b->len = len;
    b->left = 0;
    if (len == 0 || p[len - 1] == 0)
        return false;
    b->left = (int64_t)(len - 1) * 8 + zstd_high_bit(p[len - 1]);
    return true;
}

/* The next bits, at most ZSTD_WORD_BITS, without taking them. */
static uint64_t zstd_bits_peek(const zstd_bits *b, unsigned count)
{
    int64_t from = b->left - count;
    unsigned missing = 0;
    if (count == 0 || b->left <= 0)
        return 0;
    if (from < 0) {
        missing = (unsigned)-from;
        from = 0;
    }
    size_t at = (size_t)from / 8;
    uint64_t word = (b->len - at < 8 ? zstd_get(b->p + at, b->len - at) : zstd_get8(b->p + at)) >> (from % 8);
    return (word & (((uint64_t)1 << (count - missing)) - 1)) << missing;
}

static uint64_t zstd_bits_take(zstd_bits *b, unsigned count)
{
    uint64_t value = zstd_bits_peek(b, count);
    b->left -= count;
    return value;
}

/* ---- Tables of finite state entropy (4.1.1) ---- */

typedef struct zstd_cell {
    uint16_t base; /* of the next state */
    uint8_t symbol;
    uint8_t bits; /* that are added to it */
} zstd_cell;

typedef struct zstd_table {
    zstd_cell v[1 << ZSTD_LENGTH_BITS];
    unsigned bits;
    bool is_there;
} zstd_table;

/* Spreads symbols over a table by how often they occur; -1: less than once. */
static bool zstd_table_make(zstd_table *t, const int16_t *counts, unsigned symbols, unsigned bits)
{
    uint16_t next[ZSTD_WEIGHTS];
    size_t size = (size_t)1 << bits;
    size_t high = size;
    size_t at = 0;
    for (unsigned s = 0; s < symbols; s++) {
        next[s] = (uint16_t)(counts[s] < 0 ? 1 : counts[s]);
        if (counts[s] < 0)
            t->v[--high].symbol = (uint8_t)s;
    }
    for (unsigned s = 0; s < symbols; s++) {
        for (int16_t i = 0; i < counts[s]; i++) {
            t->v[at].symbol = (uint8_t)s;
            do
                at = (at + (size >> 1) + (size >> 3) + 3) & (size - 1);
            while (at >= high);
        }
    }
    for (size_t i = 0; i < size; i++) {
        uint16_t state = next[t->v[i].symbol]++;
        t->v[i].bits = (uint8_t)(bits - zstd_high_bit(state));
        t->v[i].base = (uint16_t)(((size_t)state << t->v[i].bits) - size);
    }
    t->bits = bits;
    t->is_there = true;
    return at == 0;
}

/* Forward bits of a table's description: the lowest first. */
typedef struct zstd_forward {
    const uint8_t *p;
    size_t len;
    size_t at; /* in bits */
} zstd_forward;

static uint32_t zstd_forward_take(zstd_forward *f, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++, f->at++) {
        if (f->at / 8 < f->len)
            value |= (uint32_t)(f->p[f->at / 8] >> (f->at % 8) & 1) << i;
    }
    return value;
}

/* Reads how often each symbol occurs. Returns how many bytes that takes, 0: it is damaged. */
static size_t zstd_table_read(zstd_table *t, const uint8_t *p, size_t len, unsigned max_symbols,
                              unsigned max_bits)
{
    int16_t counts[ZSTD_WEIGHTS];
    zstd_forward f = {p, len, 0};
    unsigned bits = zstd_forward_take(&f, 4) + 5;
    int32_t left = (int32_t)1 << bits;
    unsigned symbols = 0;
    if (bits > max_bits)
        return 0;
    while (left > 0 && symbols < max_symbols) {
        unsigned width = zstd_high_bit((uint64_t)left + 1) + 1;
        uint32_t value = zstd_forward_take(&f, width);
        uint32_t low = ((uint32_t)1 << (width - 1)) - 1;
        uint32_t spare = ((uint32_t)1 << width) - 2 - (uint32_t)left; /* this many values take a bit less */
        if ((value & low) < spare) {
            f.at--;
            value &= low;
        } else if (value > low) {
            value -= spare;
        }
        counts[symbols] = (int16_t)((int32_t)value - 1);
        left -= counts[symbols] < 0 ? 1 : counts[symbols];
        uint32_t more = counts[symbols++] == 0 ? 3 : 0;
        while (more == 3) { /* zeros follow in threes */
            more = zstd_forward_take(&f, 2);
            for (uint32_t i = 0; i < more && symbols < max_symbols; i++)
                counts[symbols++] = 0;
            if (f.at / 8 >= len)
                return 0;
        }
    }
    size_t used = (f.at + 7) / 8;
    return left == 0 && used <= len && zstd_table_make(t, counts, symbols, bits) ? used : 0;
}

/* ---- Literals (3.1.1.3.1) ---- */

typedef struct zstd_huffman {
    uint8_t symbol[1 << ZSTD_HUFFMAN_BITS];
    uint8_t length[1 << ZSTD_HUFFMAN_BITS];
    unsigned bits; /* 0: there is none */
} zstd_huffman;

/* What of a frame lives from block to block. */
typedef struct zstd_frame {
    zstd_huffman huffman;
    zstd_table lengths;
    zstd_table offsets;
    zstd_table matches;
    zstd_table weights;
    uint32_t repeated[3];
    uint8_t literals[ZSTD_BLOCK_MAX];
    size_t literal_count;
    size_t block_max;
} zstd_frame;

/* Codes by the weights of their symbols; the last one's follows from the others' sum (4.2.1). */
static bool zstd_huffman_make(zstd_huffman *h, uint8_t *weights, unsigned count)
{
    uint32_t sum = 0;
    size_t at = 0;
    for (unsigned i = 0; i < count; i++) {
        if (weights[i] > ZSTD_HUFFMAN_BITS)
            return false;
        sum += weights[i] > 0 ? (uint32_t)1 << (weights[i] - 1) : 0;
    }
    if (sum == 0 || count >= ZSTD_WEIGHTS)
        return false;
    unsigned bits = zstd_high_bit(sum) + 1;
    uint32_t rest = ((uint32_t)1 << bits) - sum;
    if (bits > ZSTD_HUFFMAN_BITS || (rest & (rest - 1)) != 0)
        return false;
    weights[count++] = (uint8_t)(zstd_high_bit(rest) + 1);
    for (unsigned weight = 1; weight <= bits; weight++) {
        for (unsigned s = 0; s < count; s++) {
            size_t cells = weights[s] == weight ? (size_t)1 << (weight - 1) : 0;
            memset(h->symbol + at, (int)s, cells);
            memset(h->length + at, (int)(bits + 1 - weight), cells);
            at += cells;
        }
    }
    h->bits = bits;
    return true;
}

/* Weights by two states that take turns (4.2.1.2). Returns how many, 0: damaged. */
static unsigned zstd_read_weights(zstd_frame *z, const uint8_t *p, size_t len, uint8_t *weights)
{
    zstd_table *t = &z->weights;
    zstd_bits b;
    unsigned count = 0;
    size_t used = zstd_table_read(t, p, len, ZSTD_HUFFMAN_BITS + 1, ZSTD_WEIGHT_BITS);
    if (used == 0 || !zstd_bits_begin(&b, p + used, len - used))
        return 0;
    uint64_t states[2];
    states[0] = zstd_bits_take(&b, t->bits);
    states[1] = zstd_bits_take(&b, t->bits);
    if (b.left < 0)
        return 0;
    for (unsigned turn = 0; count < ZSTD_WEIGHTS - 2; turn ^= 1) {
        const zstd_cell *cell = &t->v[states[turn]];
        weights[count++] = cell->symbol;
        states[turn] = cell->base + zstd_bits_take(&b, cell->bits);
        if (b.left < 0) { /* the other state has the last one */
            weights[count++] = t->v[states[turn ^ 1]].symbol;
            return count;
        }
    }
    return 0;
}

/* Reads the tree ahead of literals. Returns how many bytes it takes, 0: it is damaged. */
static size_t zstd_huffman_read(zstd_frame *z, const uint8_t *p, size_t len)
{
    uint8_t weights[ZSTD_WEIGHTS];
    enum { DIRECT = 128 };
    if (len == 0)
        return 0;
    size_t used = p[0] < DIRECT ? p[0] : (p[0] - DIRECT + 2u) / 2;
    unsigned count = p[0] < DIRECT ? 0 : p[0] - DIRECT + 1u;
    if (used > len - 1)
        return 0;
    for (unsigned i = 0; i < count; i++)
        weights[i] = i % 2 == 0 ? p[1 + i / 2] >> 4 : p[1 + i / 2] & 15;
    if (p[0] < DIRECT)
        count = zstd_read_weights(z, p + 1, used, weights);
    return count > 0 && zstd_huffman_make(&z->huffman, weights, count) ? used + 1 : 0;
}

static bool zstd_read_stream(const zstd_huffman *h, const uint8_t *p, size_t len, uint8_t *to, size_t count)
{
    zstd_bits b;
    if (!zstd_bits_begin(&b, p, len))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t code = zstd_bits_peek(&b, h->bits);
        to[i] = h->symbol[code];
        b.left -= h->length[code];
    }
    return b.left == 0;
}

/* Four streams, whose sizes stand ahead of them but for the last one's. */
static bool zstd_read_four(zstd_frame *z, const uint8_t *p, size_t len)
{
    enum { JUMPS = 6 };
    size_t part = (z->literal_count + 3) / 4;
    size_t at = JUMPS;
    size_t done = 0;
    if (len < JUMPS || part * 3 > z->literal_count)
        return false;
    for (unsigned i = 0; i < 4; i++) {
        size_t size = i < 3 ? (size_t)zstd_get(p + 2 * i, 2) : len - at;
        size_t count = i < 3 ? part : z->literal_count - done;
        if (size > len - at || !zstd_read_stream(&z->huffman, p + at, size, z->literals + done, count))
            return false;
        at += size;
        done += count;
    }
    return true;
}

/* Literals that are compressed: their sizes have 10, 10, 14 or 18 bits each. */
static size_t zstd_read_compressed(zstd_frame *z, const uint8_t *p, size_t len)
{
    static const uint8_t widths[] = {10, 10, 14, 18};
    static const uint8_t headers[] = {3, 3, 4, 5};
    unsigned format = p[0] >> 2 & 3;
    size_t head = headers[format];
    if (len < head)
        return 0;
    uint64_t sizes = zstd_get(p, head) >> 4;
    uint64_t mask = ((uint64_t)1 << widths[format]) - 1;
    size_t packed = (size_t)(sizes >> widths[format] & mask);
    z->literal_count = (size_t)(sizes & mask);
    if (packed > len - head || z->literal_count > z->block_max)
        return 0;
    size_t tree = (p[0] & 3) == 2 ? zstd_huffman_read(z, p + head, packed) : 0;
    if ((tree == 0 && (p[0] & 3) == 2) || z->huffman.bits == 0)
        return 0;
    bool ok = format == 0 ? zstd_read_stream(&z->huffman, p + head + tree, packed - tree, z->literals,
                                             z->literal_count)
                          : zstd_read_four(z, p + head + tree, packed - tree);
    return ok ? head + packed : 0;
}

/* Returns how many bytes the literals take of a block, 0: they are damaged. */
static size_t zstd_read_literals(zstd_frame *z, const uint8_t *p, size_t len)
{
    if (len == 0)
        return 0;
    if ((p[0] & 2) != 0)
        return zstd_read_compressed(z, p, len);
    bool is_run = (p[0] & 1) != 0;
    size_t head = (p[0] & 4) == 0 ? 1 : (p[0] & 8) == 0 ? 2 : 3;
    if (len < head)
        return 0;
    z->literal_count = (size_t)(zstd_get(p, head) >> (head == 1 ? 3 : 4));
    size_t packed = is_run ? 1 : z->literal_count;
    if (z->literal_count > z->block_max || packed > len - head)
        return 0;
    if (is_run)
        memset(z->literals, p[head], z->literal_count);
    else
        memcpy(z->literals, p + head, packed);
    return head + packed;
}

/* ---- Sequences (3.1.1.3.2) ---- */

/* A length: its least value, and how many bits are added. */
typedef struct zstd_code {
    uint32_t base;
    uint8_t bits;
} zstd_code;

static const zstd_code length_codes[ZSTD_LENGTH_CODES] = {
    {0, 0},     {1, 0},      {2, 0},      {3, 0},     {4, 0},   {5, 0},     {6, 0},     {7, 0},
    {8, 0},     {9, 0},      {10, 0},     {11, 0},    {12, 0},  {13, 0},    {14, 0},    {15, 0},
    {16, 1},    {18, 1},     {20, 1},     {22, 1},    {24, 2},  {28, 2},    {32, 3},    {40, 3},
    {48, 4},    {64, 6},     {128, 7},    {256, 8},   {512, 9}, {1024, 10}, {2048, 11}, {4096, 12},
    {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};
static const zstd_code match_codes[ZSTD_MATCH_CODES] = {
    {3, 0},   {4, 0},     {5, 0},     {6, 0},     {7, 0},     {8, 0},      {9, 0},      {10, 0},    {11, 0},
    {12, 0},  {13, 0},    {14, 0},    {15, 0},    {16, 0},    {17, 0},     {18, 0},     {19, 0},    {20, 0},
    {21, 0},  {22, 0},    {23, 0},    {24, 0},    {25, 0},    {26, 0},     {27, 0},     {28, 0},    {29, 0},
    {30, 0},  {31, 0},    {32, 0},    {33, 0},    {34, 0},    {35, 1},     {37, 1},     {39, 1},    {41, 1},
    {43, 2},  {47, 2},    {51, 3},    {59, 3},    {67, 4},    {83, 4},     {99, 5},     {131, 7},   {259, 8},
    {515, 9}, {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

/* How often symbols occur where a block says nothing (3.1.1.3.2.2). */
static const int16_t length_counts[ZSTD_LENGTH_CODES] = {4, 3, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2,
                                                         2, 1, 1, 1, 2, 2, 2, 2, 2,  2,  2,  2,
                                                         2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
static const int16_t match_counts[ZSTD_MATCH_CODES] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
static const int16_t offset_counts[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

/* One of the three tables of a block. */
typedef struct zstd_kind {
    const int16_t *counts;
    unsigned count;
    unsigned bits; /* of the table of counts */
    unsigned max_bits;
    unsigned symbols;
} zstd_kind;

/* Takes a table in one of four ways. Returns how many bytes that takes; SIZE_MAX: it is damaged. */
static size_t zstd_take_table(zstd_table *t, const zstd_kind *kind, unsigned mode, const uint8_t *p,
                              size_t len)
{
    enum { PREDEFINED, RUN, DESCRIBED, REPEATED };
    size_t used;
    switch (mode) {
    case PREDEFINED: return zstd_table_make(t, kind->counts, kind->count, kind->bits) ? 0 : SIZE_MAX;
    case RUN:
        if (len == 0 || p[0] >= kind->symbols)
            return SIZE_MAX;
        memset(&t->v[0], 0, sizeof t->v[0]);
        t->v[0].symbol = p[0];
        t->bits = 0;
        t->is_there = true;
        return 1;
    case DESCRIBED:
        used = zstd_table_read(t, p, len, kind->symbols, kind->max_bits);
        return used > 0 ? used : SIZE_MAX;
    default: return t->is_there ? 0 : SIZE_MAX;
    }
}

static size_t zstd_take_tables(zstd_frame *z, const uint8_t *p, size_t len)
{
    static const zstd_kind kinds[3] = {
        {length_counts, ZSTD_LENGTH_CODES, 6, ZSTD_LENGTH_BITS, ZSTD_LENGTH_CODES},
        {offset_counts, sizeof offset_counts / sizeof *offset_counts, 5, ZSTD_OFFSET_BITS, ZSTD_OFFSET_CODES},
        {match_counts, ZSTD_MATCH_CODES, 6, ZSTD_LENGTH_BITS, ZSTD_MATCH_CODES}};
    zstd_table *tables[3];
    size_t at = 1;
    tables[0] = &z->lengths;
    tables[1] = &z->offsets;
    tables[2] = &z->matches;
    if (len == 0 || (p[0] & 3) != 0)
        return SIZE_MAX;
    for (unsigned i = 0; i < 3; i++) {
        size_t used = zstd_take_table(tables[i], &kinds[i], p[0] >> (6 - 2 * i) & 3, p + at, len - at);
        if (used == SIZE_MAX)
            return SIZE_MAX;
        at += used;
    }
    return at;
}

/* Values up to 3 stand for the offsets that were used last (3.1.1.5). Returns 0 for a damaged one. */
static uint32_t zstd_offset(zstd_frame *z, uint64_t value, bool has_literals)
{
    uint32_t *last = z->repeated;
    uint64_t which = value - 1 + !has_literals;
    uint64_t offset = value > 3 ? value - 3 : which < 3 ? last[which] : (uint64_t)last[0] - 1;
    if (offset == 0 || offset > UINT32_MAX || (value <= 3 && which == 0))
        return (uint32_t)(offset > UINT32_MAX ? 0 : offset);
    if (value > 3 || which > 1)
        last[2] = last[1];
    last[1] = last[0];
    last[0] = (uint32_t)offset;
    return last[0];
}

/* Copies from what was written before; a match may reach into itself. */
static void zstd_copy(char *to, size_t offset, size_t len)
{
    const char *from = to - offset;
    if (offset >= len) {
        memcpy(to, from, len);
        return;
    }
    for (size_t i = 0; i < len; i++)
        to[i] = from[i];
}

/* What a block writes to. */
typedef struct zstd_target {
    text *out;
    size_t from; /* where the frame begins */
    size_t end;  /* where the block has to end */
} zstd_target;

/* One sequence: literals, and a match of bytes before. *used literals are gone. */
static bool zstd_run_one(zstd_frame *z, zstd_target *to, size_t literals, size_t match, uint32_t offset,
                         size_t *used)
{
    text *out = to->out;
    if (literals > z->literal_count - *used || literals + match > to->end - out->len)
        return false;
    memcpy(out->v + out->len, z->literals + *used, literals);
    out->len += literals;
    *used += literals;
    if (offset == 0 || offset > out->len - to->from)
        return false;
    zstd_copy(out->v + out->len, offset, match);
    out->len += match;
    return true;
}

static bool zstd_run_sequences(zstd_frame *z, zstd_bits *b, size_t count, zstd_target *to)
{
    size_t used = 0;
    uint64_t length = zstd_bits_take(b, z->lengths.bits);
    uint64_t offset = zstd_bits_take(b, z->offsets.bits);
    uint64_t match = zstd_bits_take(b, z->matches.bits);
    for (size_t i = 0; i < count; i++) {
        const zstd_cell *length_cell = &z->lengths.v[length];
        const zstd_cell *offset_cell = &z->offsets.v[offset];
        const zstd_cell *match_cell = &z->matches.v[match];
        uint64_t value = ((uint64_t)1 << offset_cell->symbol) + zstd_bits_take(b, offset_cell->symbol);
        const zstd_code *code = &match_codes[match_cell->symbol];
        size_t copied = code->base + (size_t)zstd_bits_take(b, code->bits);
        code = &length_codes[length_cell->symbol];
        size_t literals = code->base + (size_t)zstd_bits_take(b, code->bits);
        if (b->left < 0 || !zstd_run_one(z, to, literals, copied, zstd_offset(z, value, literals > 0), &used))
            return false;
        if (i + 1 == count)
            break;
        length = length_cell->base + zstd_bits_take(b, length_cell->bits);
        match = match_cell->base + zstd_bits_take(b, match_cell->bits);
        offset = offset_cell->base + zstd_bits_take(b, offset_cell->bits);
    }
    size_t rest = z->literal_count - used;
    if (b->left != 0 || rest > to->end - to->out->len)
        return false;
    memcpy(to->out->v + to->out->len, z->literals + used, rest);
    to->out->len += rest;
    return true;
}

/* How many sequences follow; *head: the bytes that say so, 0: they are cut short. */
static size_t zstd_count_sequences(const uint8_t *p, size_t len, size_t *head)
{
    enum { LONG = 0x7f00 };
    *head = len == 0 ? 0 : p[0] < 128 ? 1 : p[0] < 255 ? 2 : 3;
    if (*head == 0 || *head > len) {
        *head = 0;
        return 0;
    }
    return *head == 1   ? p[0]
           : *head == 2 ? ((size_t)(p[0] - 128) << 8) + p[1]
                        : (size_t)zstd_get(p + 1, 2) + LONG;
}

static bool zstd_read_block(zstd_frame *z, const uint8_t *p, size_t len, zstd_target *to)
{
    zstd_bits b;
    size_t head;
    size_t at = zstd_read_literals(z, p, len);
    if (at == 0)
        return false;
    size_t count = zstd_count_sequences(p + at, len - at, &head);
    at += head;
    if (head == 0 || (count == 0 && at != len))
        return false;
    if (count == 0) {
        if (z->literal_count > to->end - to->out->len)
            return false;
        memcpy(to->out->v + to->out->len, z->literals, z->literal_count);
        to->out->len += z->literal_count;
        return true;
    }
    size_t tables = zstd_take_tables(z, p + at, len - at);
    return tables != SIZE_MAX && zstd_bits_begin(&b, p + at + tables, len - at - tables) &&
           zstd_run_sequences(z, &b, count, to);
}

/* ---- Checksums: XXH64 with seed 0 ---- */

#define XXH_1 0x9e3779b185ebca87u
#define XXH_2 0xc2b2ae3d27d4eb4fu
#define XXH_3 0x165667b19e3779f9u
#define XXH_4 0x85ebca77c2b2ae63u
#define XXH_5 0x27d4eb2f165667c5u

static uint64_t zstd_rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static uint64_t zstd_hash_round(uint64_t sum, uint64_t word)
{
    return zstd_rotate(sum + word * XXH_2, 31) * XXH_1;
}

static uint64_t zstd_hash(const uint8_t *p, size_t len)
{
    uint64_t sums[4];
    uint64_t hash = XXH_5;
    size_t at = 0;
    sums[0] = XXH_1 + XXH_2;
    sums[1] = XXH_2;
    sums[2] = 0;
    sums[3] = 0 - XXH_1;
    for (; len - at >= 32; at += 32) {
        for (unsigned i = 0; i < 4; i++)
            sums[i] = zstd_hash_round(sums[i], zstd_get8(p + at + 8 * i));
    }
    if (len >= 32) {
        hash = zstd_rotate(sums[0], 1) + zstd_rotate(sums[1], 7) + zstd_rotate(sums[2], 12) +
               zstd_rotate(sums[3], 18);
        for (unsigned i = 0; i < 4; i++)
            hash = (hash ^ zstd_hash_round(0, sums[i])) * XXH_1 + XXH_4;
    }
    hash += len;
    for (; len - at >= 8; at += 8)
        hash = zstd_rotate(hash ^ zstd_hash_round(0, zstd_get8(p + at)), 27) * XXH_1 + XXH_4;
    if (len - at >= 4) {
        hash = zstd_rotate(hash ^ zstd_get(p + at, 4) * XXH_1, 23) * XXH_2 + XXH_3;
        at += 4;
    }
    for (; at < len; at++)
        hash = zstd_rotate(hash ^ p[at] * XXH_5, 11) * XXH_1;
    hash = (hash ^ hash >> 33) * XXH_2;
    hash = (hash ^ hash >> 29) * XXH_3;
    return hash ^ hash >> 32;
}

/* ---- Frames (3.1.1) ---- */

/* What the header of a frame says. */
typedef struct zstd_header {
    size_t len;
    uint64_t size; /* of what it holds; ZSTD_UNKNOWN_SIZE: not told */
    uint64_t window;
    uint32_t dictionary;
    bool has_checksum;
} zstd_header;

static zstd_end zstd_read_header(const uint8_t *p, size_t len, zstd_header *h)
{
    static const uint8_t id_lengths[] = {0, 1, 2, 4};
    if (len < 6)
        return ZSTD_SHORT;
    uint8_t flags = p[4];
    bool is_single = (flags & 0x20) != 0;
    size_t id = id_lengths[flags & 3];
    size_t size = flags >> 6 == 0 ? is_single : (size_t)1 << (flags >> 6);
    size_t at = 5 + !is_single;
    h->len = at + id + size;
    if ((flags & 8) != 0)
        return ZSTD_BAD;
    if (len < h->len)
        return ZSTD_SHORT;
    h->dictionary = (uint32_t)zstd_get(p + at, id);
    h->size = size > 0 ? zstd_get(p + at + id, size) + (size == 2 ? 256 : 0) : ZSTD_UNKNOWN_SIZE;
    uint64_t window = (uint64_t)1 << (10 + (p[5] >> 3));
    h->window = is_single ? h->size : window + window / 8 * (p[5] & 7);
    h->has_checksum = (flags & 4) != 0;
    return ZSTD_DONE;
}

/* One block, whose header is at p. *used: the bytes that it takes. */
static zstd_end zstd_take_block(zstd_frame *z, const uint8_t *p, size_t len, uint64_t max, zstd_target *to,
                                size_t *used)
{
    enum { STORED, RUN, COMPRESSED, HEADER = 3 };
    uint64_t header = zstd_get(p, HEADER);
    unsigned kind = header >> 1 & 3;
    size_t size = (size_t)(header >> 3);
    size_t packed = kind == RUN ? 1 : size;
    size_t most = kind == COMPRESSED ? z->block_max : size;
    if (kind > COMPRESSED || size > z->block_max)
        return ZSTD_BAD;
    if (packed > len - HEADER)
        return ZSTD_SHORT;
    uint64_t room = max - to->out->len < most ? max - to->out->len : most;
    char *at = text_room(to->out, (size_t)room + 1);
    to->end = to->out->len + (size_t)room;
    *used = HEADER + packed;
    if (kind == COMPRESSED)
        return zstd_read_block(z, p + HEADER, packed, to) ? ZSTD_DONE : room < most ? ZSTD_FULL : ZSTD_BAD;
    if (room < size)
        return ZSTD_FULL;
    if (kind == RUN)
        memset(at, p[HEADER], size);
    else
        memcpy(at, p + HEADER, size);
    to->out->len += size;
    return ZSTD_DONE;
}

static void zstd_frame_begin(zstd_frame *z, const zstd_header *h)
{
    z->huffman.bits = 0;
    z->lengths.is_there = z->offsets.is_there = z->matches.is_there = false;
    z->repeated[0] = 1;
    z->repeated[1] = 4;
    z->repeated[2] = 8;
    z->block_max = h->window < ZSTD_BLOCK_MAX ? (size_t)h->window : ZSTD_BLOCK_MAX;
}

/* How much is decompressed. Both count what is in out before, too. */
typedef struct zstd_bounds {
    uint64_t max;    /* more bytes are an error */
    uint64_t enough; /* with as many, no further block is taken */
} zstd_bounds;

static zstd_end zstd_take_frame(zstd_frame *z, const uint8_t *p, size_t len, const zstd_bounds *bounds,
                                text *out, size_t *at)
{
    uint64_t max = bounds->max;
    zstd_header h;
    zstd_target to = {out, out->len, out->len};
    zstd_end end = zstd_read_header(p, len, &h);
    bool is_last = false;
    if (end != ZSTD_DONE)
        return end;
    if (h.dictionary != 0)
        return ZSTD_DICTIONARY;
    if (h.size != ZSTD_UNKNOWN_SIZE && h.size > max - out->len)
        return ZSTD_FULL;
    zstd_frame_begin(z, &h);
    for (*at = h.len; !is_last;) {
        size_t used = 0;
        if (len - *at < 3)
            return ZSTD_SHORT;
        is_last = (p[*at] & 1) != 0;
        end = zstd_take_block(z, p + *at, len - *at, max, &to, &used);
        if (end != ZSTD_DONE)
            return end;
        *at += used;
        if (out->len >= bounds->enough)
            return ZSTD_DONE;
    }
    size_t size = out->len - to.from;
    if (h.size != ZSTD_UNKNOWN_SIZE && h.size != size)
        return ZSTD_BAD;
    if (!h.has_checksum)
        return ZSTD_DONE;
    if (len - *at < 4)
        return ZSTD_SHORT;
    *at += 4;
    uint64_t hash = zstd_hash((const uint8_t *)out->v + to.from, size);
    return zstd_get(p + *at - 4, 4) == (hash & UINT32_MAX) ? ZSTD_DONE : ZSTD_BAD;
}

bool zstd_is(machsym_bytes bytes)
{
    const uint8_t *p = (const uint8_t *)bytes.ptr;
    uint32_t magic = bytes.len >= 4 ? (uint32_t)zstd_get(p, 4) : 0;
    return magic == ZSTD_MAGIC || (magic & ~15u) == ZSTD_MAGIC_SKIP;
}

static zstd_end zstd_take_frames(machsym_bytes in, const zstd_bounds *bounds, text *out, size_t *at)
{
    const uint8_t *p = (const uint8_t *)in.ptr;
    zstd_frame *z = mem_alloc(sizeof *z);
    zstd_end end = ZSTD_DONE;
    memset(z, 0, sizeof *z);
    for (*at = 0; end == ZSTD_DONE && *at < in.len && out->len < bounds->enough;) {
        const uint8_t *frame = p + *at;
        size_t len = in.len - *at;
        size_t used = 0;
        machsym_bytes rest = {frame, len};
        if (len < 8 || !zstd_is(rest)) {
            end = len < 8 ? ZSTD_SHORT : ZSTD_BAD;
        } else if (zstd_get(frame, 4) != ZSTD_MAGIC) {
            uint64_t skipped = zstd_get(frame + 4, 4) + 8;
            end = skipped <= len ? ZSTD_DONE : ZSTD_SHORT;
            used = (size_t)(skipped <= len ? skipped : len);
        } else {
            end = zstd_take_frame(z, frame, len, bounds, out, &used);
        }
        *at += used;
    }
    free(z);
    return end;
}

zstd_end zstd_decode(machsym_bytes in, uint64_t max, text *out, size_t *at)
{
    zstd_bounds bounds = {max < UINT64_MAX - out->len ? max + out->len : UINT64_MAX, UINT64_MAX};
    return zstd_take_frames(in, &bounds, out, at);
}

zstd_end zstd_decode_begin(machsym_bytes in, size_t max, text *out, size_t *at)
{
    zstd_bounds bounds = {UINT64_MAX, (uint64_t)out->len + max};
    zstd_end end = zstd_take_frames(in, &bounds, out, at);
    if (out->len > bounds.enough)
        out->len = (size_t)bounds.enough;
    return end;
}
