/* Mutators that know what a Mach-O file and DWARF sections look like: they break contents and keep what leads
 * to them (load commands, offsets, lengths of units, the shape of abbreviations), so that the damage gets
 * past the first checks. A target includes this and defines LLVMFuzzerCustomMutator. fuzz/README.md says what
 * each gained by it. */
#ifndef MACHSYM_FUZZ_MUTATE_H
#define MACHSYM_FUZZ_MUTATE_H

#include "units.h"

/* libFuzzer's own; absent when only seeds are replayed. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* An input that is being changed, and the part of it that is looked at: [lo, hi). */
typedef struct mutation {
    uint8_t *v;
    size_t len;
    size_t max;
    size_t lo;
    size_t hi;
    uint64_t random;
} mutation;

static inline mutation mutate_begin(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = {data, size, max, 0, size, seed * 0x9e3779b97f4a7c15u + 1};
    return m;
}

static inline size_t mutate_random(mutation *m, size_t below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return below < 2 ? 0 : (size_t)(m->random >> 11) % below;
}

/* ---- Bytes ---- */

static inline uint64_t mutate_get(const mutation *m, size_t at, unsigned size)
{
    uint64_t number = 0;
    if (at > m->hi || m->hi - at < size)
        return 0;
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)m->v[at + i] << (8 * i);
    return number;
}

static inline void mutate_set(mutation *m, size_t at, uint64_t number, unsigned size)
{
    if (at > m->hi || m->hi - at < size)
        return;
    for (unsigned i = 0; i < size; i++)
        m->v[at + i] = (uint8_t)(number >> (8 * i));
}

/* Reads a LEB128 number and moves past it. */
static inline uint64_t mutate_leb(const mutation *m, size_t *at, size_t end)
{
    uint64_t number = 0;
    for (unsigned shift = 0; *at < end; shift += 7) {
        uint8_t byte = m->v[(*at)++];
        number |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0)
            break;
    }
    return number;
}

/* Puts other bytes in the place of len bytes; hi moves along. Does nothing where there is no room. */
static inline bool mutate_replace(mutation *m, size_t at, size_t len, const uint8_t *bytes, size_t new_len)
{
    if (at > m->hi || m->hi - at < len || (new_len > len && m->max - m->len < new_len - len))
        return false;
    memmove(m->v + at + new_len, m->v + at + len, m->len - at - len);
    if (new_len != 0)
        memcpy(m->v + at, bytes, new_len);
    m->len = m->len - len + new_len;
    m->hi = m->hi - len + new_len;
    return true;
}

/* Lets libFuzzer change a piece, which may become longer when it may be resized. */
static inline void mutate_plain(mutation *m, size_t at, size_t len, bool resize)
{
    enum { GROW = 64 };
    size_t room = len + (resize ? GROW : 0);
    uint8_t *piece = (uint8_t *)calloc(room + 1, 1);
    if (piece == NULL || at > m->hi || m->hi - at < len || room == 0) {
        free(piece);
        return;
    }
    memcpy(piece, m->v + at, len);
    size_t new_len = LLVMFuzzerMutate != NULL ? LLVMFuzzerMutate(piece, len, room) : len;
    mutate_replace(m, at, len, piece, resize ? new_len : len);
    free(piece);
}

/* A number that is near another one, or at an edge. */
static inline uint64_t mutate_number(mutation *m, uint64_t number)
{
    switch (mutate_random(m, 8)) {
    case 0: return 0;
    case 1: return ~(uint64_t)0;
    case 2: return (uint64_t)1 << mutate_random(m, 64);
    case 3: return mutate_random(m, 256);
    case 4: return number - mutate_random(m, 17);
    case 5: return number ^ (uint64_t)1 << mutate_random(m, 12);
    default: return number + mutate_random(m, 65);
    }
}

/* Changes, copies or drops one of the words of a table. */
static inline void mutate_words(mutation *m, unsigned size)
{
    size_t count = (m->hi - m->lo) / size;
    uint8_t word[8];
    if (count == 0)
        return;
    size_t at = m->lo + size * mutate_random(m, count);
    size_t from = m->lo + size * mutate_random(m, count);
    memcpy(word, m->v + from, size);
    switch (mutate_random(m, 6)) {
    case 0: mutate_replace(m, at, 0, word, size); break;
    case 1: mutate_replace(m, at, size, word, 0); break;
    case 2: mutate_set(m, at, mutate_get(m, at, size) + 1, size); break;
    case 3: mutate_set(m, at, mutate_number(m, mutate_get(m, at, size)), size); break;
    default: mutate_set(m, at, mutate_number(m, mutate_get(m, from, size)), size);
    }
}

/* ---- Units of .debug_info and .debug_line ---- */

/* Where a unit's length stands, and the unit. */
typedef struct mutate_unit {
    size_t at; /* of the length */
    size_t body;
    size_t end;
    unsigned offset_size;
} mutate_unit;

static inline bool mutate_next_unit(const mutation *m, mutate_unit *u)
{
    u->at = u->end;
    if (m->hi - u->at < 12)
        return false;
    uint64_t len = mutate_get(m, u->at, 4);
    u->offset_size = len == 0xffffffffu ? 8 : 4;
    u->body = u->at + (u->offset_size == 8 ? 12 : 4);
    if (u->offset_size == 8)
        len = mutate_get(m, u->at + 4, 8);
    if (len > m->hi - u->body)
        len = m->hi - u->body;
    u->end = u->body + (size_t)len;
    return len > 8;
}

/* Chooses one of the units, each as likely as the others. */
static inline bool mutate_choose_unit(mutation *m, mutate_unit *out)
{
    mutate_unit u = {m->lo, m->lo, m->lo, 4};
    size_t seen = 0;
    while (seen < 64 && mutate_next_unit(m, &u)) {
        if (mutate_random(m, ++seen) == 0)
            *out = u;
    }
    return seen != 0;
}

/* After a change inside a unit: its length says where it ends. */
static inline void mutate_close_unit(mutation *m, const mutate_unit *u, size_t hi)
{
    size_t end = u->end + m->hi - hi; /* right modulo 2^64 when the unit became shorter */
    mutate_set(m, u->offset_size == 8 ? u->at + 4 : u->at, end - u->body, u->offset_size);
}

/* ---- Abbreviations ---- */

static const uint8_t mutate_tags[] = {0x11, 0x2e, 0x1d, 0x0b, 0x03, 0x13, 0x39, 0x3c, 0x4a, 0x41, 0x1e, 0x05};
static const uint8_t mutate_forms[] = {0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
                                       0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
                                       0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23,
                                       0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c};
static const uint8_t mutate_attrs[] = {0x01, 0x03, 0x10, 0x11, 0x12, 0x13, 0x1b, 0x25, 0x31, 0x3c, 0x3a, 0x3b,
                                       0x47, 0x52, 0x55, 0x57, 0x58, 0x59, 0x6e, 0x72, 0x73, 0x74, 0x76};

/* A place in abbreviations, and what stands there. */
typedef struct mutate_spot {
    size_t at;
    size_t len;
    unsigned
        kind; /* of abbreviations: 0 tag, 1 children, 2 attribute, 3 form; of entries: the form, 0 the code */
} mutate_spot;

enum { MUTATE_SPOTS = 512 };

typedef struct mutate_spots {
    mutate_spot v[MUTATE_SPOTS];
    size_t count;
} mutate_spots;

static inline void mutate_add_spot(mutate_spots *spots, size_t at, size_t end, unsigned kind)
{
    if (spots->count == MUTATE_SPOTS)
        return;
    mutate_spot *spot = &spots->v[spots->count++];
    spot->at = at;
    spot->len = end - at;
    spot->kind = kind;
}

/* The attributes of one abbreviation; at moves past them. */
static inline void mutate_read_abbrev(const mutation *m, size_t *at, mutate_spots *spots)
{
    uint64_t attr = 1;
    uint64_t form = 1;
    while ((attr != 0 || form != 0) && *at < m->hi) {
        size_t begin = *at;
        attr = mutate_leb(m, at, m->hi);
        size_t middle = *at;
        form = mutate_leb(m, at, m->hi);
        if (attr == 0 && form == 0)
            break;
        mutate_add_spot(spots, begin, middle, 2);
        mutate_add_spot(spots, middle, *at, 3);
        if (form == 0x21)
            mutate_leb(m, at, m->hi);
    }
}

/* Changes a tag, the children flag, an attribute or a form of [lo, hi). */
static inline void mutate_abbrev(mutation *m)
{
    mutate_spots spots;
    uint8_t byte = 0;
    spots.count = 0;
    for (size_t at = m->lo; at < m->hi;) {
        if (mutate_leb(m, &at, m->hi) == 0)
            continue;
        size_t tag = at;
        mutate_leb(m, &at, m->hi);
        if (at == m->hi)
            break;
        mutate_add_spot(&spots, tag, at, 0);
        mutate_add_spot(&spots, at, at + 1, 1);
        at++;
        mutate_read_abbrev(m, &at, &spots);
    }
    if (spots.count == 0)
        return;
    const mutate_spot *spot = &spots.v[mutate_random(m, spots.count)];
    switch (spot->kind) {
    case 0: byte = mutate_tags[mutate_random(m, sizeof mutate_tags)]; break;
    case 1: byte = (uint8_t)(m->v[spot->at] ^ 1); break;
    case 2: byte = mutate_attrs[mutate_random(m, sizeof mutate_attrs)]; break;
    default: byte = mutate_forms[mutate_random(m, sizeof mutate_forms)];
    }
    mutate_replace(m, spot->at, spot->len, &byte, 1);
}

/* ---- Entries ---- */

/* How entries are to be read. */
typedef struct mutate_entries {
    const bytes *abbrev;
    fuzz_encoding enc;
} mutate_entries;

/* Where the attributes of a code begin in the abbreviations; their length when there is none. */
static inline size_t mutate_find_abbrev(const mutation *abbrev, uint64_t code)
{
    mutate_spots none;
    size_t at = 0;
    while (at < abbrev->hi) {
        none.count = 0;
        uint64_t found = mutate_leb(abbrev, &at, abbrev->hi);
        if (found == 0)
            break;
        mutate_leb(abbrev, &at, abbrev->hi);
        at++;
        if (found == code)
            return at;
        mutate_read_abbrev(abbrev, &at, &none);
    }
    return abbrev->hi;
}

/* How many bytes a form of fixed size takes; 0 for others. */
static inline unsigned mutate_form_size(uint64_t form, const fuzz_encoding *enc)
{
    switch (form) {
    case 0x0b: /* data1, flag, ref1, strx1, addrx1 */
    case 0x0c:
    case 0x11:
    case 0x25:
    case 0x29: return 1;
    case 0x05: /* data2, ref2, strx2, addrx2 */
    case 0x12:
    case 0x26:
    case 0x2a: return 2;
    case 0x27: /* strx3, addrx3 */
    case 0x2b: return 3;
    case 0x06: /* data4, ref4, strx4, addrx4, ref_sup4 */
    case 0x13:
    case 0x28:
    case 0x2c:
    case 0x1c: return 4;
    case 0x07: /* data8, ref8, ref_sig8, ref_sup8 */
    case 0x14:
    case 0x20:
    case 0x24: return 8;
    case 0x1e: return 16;
    case 0x01: return enc->addr_size;
    case 0x0e: /* strp, ref_addr, sec_offset, line_strp, strp_sup */
    case 0x10:
    case 0x17:
    case 0x1f:
    case 0x1d: return enc->offset_size;
    default: return 0;
    }
}

/* Moves past a value of any form. */
static inline void mutate_skip_value(const mutation *m, uint64_t form, const fuzz_encoding *enc, size_t *at)
{
    uint64_t len = mutate_form_size(form, enc);
    switch (form) {
    case 0x08:
        while (*at < m->hi && m->v[*at] != 0)
            ++*at;
        len = 1;
        break;
    case 0x0d: /* sdata, udata, ref_udata, strx, addrx, loclistx, rnglistx */
    case 0x0f:
    case 0x15:
    case 0x1a:
    case 0x1b:
    case 0x22:
    case 0x23: mutate_leb(m, at, m->hi); break;
    case 0x09: /* block, exprloc */
    case 0x18: len = mutate_leb(m, at, m->hi); break;
    case 0x0a: len = mutate_get(m, *at, 1) + 1; break;
    case 0x03: len = mutate_get(m, *at, 2) + 2; break;
    case 0x04: len = mutate_get(m, *at, 4) + 4; break;
    default: break;
    }
    *at += len < m->hi - *at ? (size_t)len : m->hi - *at;
}

/* Collects codes and values of the entries in [lo, hi). */
static inline void mutate_read_entries(const mutation *m, const mutate_entries *how, mutate_spots *spots)
{
    mutation abbrev = {how->abbrev->v, how->abbrev->len, 0, 0, how->abbrev->len, 0};
    size_t at = m->lo;
    while (at < m->hi && spots->count < MUTATE_SPOTS) {
        mutate_spots specs;
        size_t code_at = at;
        size_t spec = mutate_find_abbrev(&abbrev, mutate_leb(m, &at, m->hi));
        mutate_add_spot(spots, code_at, at, 0);
        specs.count = 0;
        mutate_read_abbrev(&abbrev, &spec, &specs);
        for (size_t i = 1; i < specs.count && at < m->hi; i += 2) {
            size_t form_at = specs.v[i].at;
            uint64_t form = mutate_leb(&abbrev, &form_at, abbrev.hi);
            size_t begin = at;
            mutate_skip_value(m, form, &how->enc, &at);
            if (at != begin)
                mutate_add_spot(spots, begin, at, (unsigned)form);
        }
    }
}

/* Where the entry of a spot begins: its number among the spots. */
static inline size_t mutate_entry_of(const mutate_spots *spots, size_t i)
{
    while (i > 0 && spots->v[i].kind != 0)
        i--;
    return i;
}

/* Copies the entry of one spot in front of that of another, or drops it. */
static inline void mutate_move_entry(mutation *m, const mutate_spots *spots, size_t i, size_t to)
{
    uint8_t copy[256];
    size_t first = mutate_entry_of(spots, i);
    size_t next = first + 1;
    while (next < spots->count && spots->v[next].kind != 0)
        next++;
    size_t at = spots->v[first].at;
    size_t end = next < spots->count ? spots->v[next].at : m->hi;
    size_t len = end - at < sizeof copy ? end - at : sizeof copy;
    memcpy(copy, m->v + at, len);
    if (mutate_random(m, 3) == 0)
        mutate_replace(m, at, len, copy, 0);
    else
        mutate_replace(m, spots->v[mutate_entry_of(spots, to)].at, 0, copy, len);
}

/* Changes a value: to one near its own, near one of the same form, or to the place of an entry when it
 * refers. */
static inline void mutate_value(mutation *m, const mutate_spots *spots, size_t i, size_t other, size_t base)
{
    const mutate_spot *spot = &spots->v[i];
    unsigned size = spot->len < 8 ? (unsigned)spot->len : 8;
    uint64_t number = mutate_get(m, spot->at, size);
    bool is_ref = (spot->kind >= 0x10 && spot->kind <= 0x15) && mutate_random(m, 4) != 0;
    if (is_ref)
        number = spots->v[mutate_entry_of(spots, other)].at - base;
    else if (spots->v[other].kind == spot->kind && other != i)
        number = mutate_get(m, spots->v[other].at, size) + mutate_random(m, 2) * mutate_random(m, 33);
    else
        number = mutate_number(m, number);
    mutate_set(m, spot->at, number, size);
}

/* Changes the entries in [lo, hi); references count from base. */
static inline void mutate_in_entries(mutation *m, const mutate_entries *how, size_t base)
{
    mutate_spots spots;
    spots.count = 0;
    mutate_read_entries(m, how, &spots);
    if (spots.count == 0)
        return;
    size_t i = mutate_random(m, spots.count);
    size_t other = mutate_random(m, spots.count);
    for (unsigned tries = 0; tries < 8 && spots.v[other].kind != spots.v[i].kind; tries++)
        other = mutate_random(m, spots.count);
    if (mutate_random(m, 4) == 0)
        mutate_move_entry(m, &spots, i, other);
    else if (spots.v[i].kind == 0)
        mutate_set(m, spots.v[i].at, mutate_random(m, 16), 1);
    else
        mutate_value(m, &spots, i, other, base);
}

/* Changes one unit of the .debug_info in [lo, hi): its header or its entries. */
static inline void mutate_info(mutation *m, const bytes *abbrev)
{
    mutate_unit u;
    size_t hi = m->hi;
    size_t lo = m->lo;
    if (!mutate_choose_unit(m, &u))
        return;
    mutate_entries how = {abbrev, {(unsigned)mutate_get(m, u.body, 2), 8, u.offset_size}};
    bool is_5 = how.enc.version >= 5;
    size_t header = u.body + 2 + u.offset_size + (is_5 ? 2 : 1);
    if (header > u.end)
        return;
    how.enc.addr_size = m->v[is_5 ? u.body + 3 : header - 1] == 4 ? 4 : 8;
    if (mutate_random(m, 16) == 0) {
        mutate_plain(m, u.body, header - u.body, false);
        return;
    }
    m->lo = header;
    m->hi = u.end;
    mutate_in_entries(m, &how, u.at);
    m->hi = hi + m->hi - u.end;
    m->lo = lo;
    mutate_close_unit(m, &u, hi);
}

/* ---- Line programs ---- */

/* Writes one instruction with operands. Returns its length. */
static inline size_t mutate_make_opcode(mutation *m, uint8_t *out)
{
    bytes b = {NULL, 0, 0};
    size_t opcode = mutate_random(m, 18);
    put8(&b, opcode < 13 ? opcode : opcode < 17 ? 13 + mutate_random(m, 243) : 0);
    if (opcode == 0 || opcode == 17) {
        static const uint8_t extended[] = {1, 2, 3, 4, 0x80};
        size_t which = mutate_random(m, sizeof extended);
        put_uleb(&b, which == 1 ? 9 : which == 3 ? 2 : 1);
        put8(&b, extended[which]);
        if (which == 1)
            put64(&b, 0x1000 + mutate_random(m, 0x1100));
        else if (which == 3)
            put8(&b, mutate_random(m, 128));
    } else if (opcode == 3) {
        put_sleb(&b, (int64_t)mutate_random(m, 200) - 100);
    } else if (opcode == 9) {
        put16(&b, mutate_random(m, 300));
    } else if (opcode == 2 || opcode == 4 || opcode == 5 || opcode == 12) {
        put_uleb(&b, mutate_random(m, 8) == 0 ? mutate_number(m, 0) : mutate_random(m, 40));
    }
    size_t len = b.len;
    memcpy(out, b.v, len);
    bytes_free(&b);
    return len;
}

/* Where the instructions of a line program begin, as the standard lengths say. */
static inline void mutate_read_program(const mutation *m, mutate_spots *spots, size_t at, size_t end)
{
    static const uint8_t operands[13] = {0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1};
    while (at < end && spots->count < MUTATE_SPOTS) {
        size_t begin = at;
        uint8_t opcode = m->v[at++];
        if (opcode == 0) {
            uint64_t len = mutate_leb(m, &at, end);
            at += len < end - at ? (size_t)len : end - at;
        } else if (opcode == 9) {
            at += end - at < 2 ? end - at : 2;
        } else if (opcode < 13 && operands[opcode] != 0) {
            mutate_leb(m, &at, end);
        }
        mutate_add_spot(spots, begin, at, opcode);
    }
}

/* Puts an instruction into a program, drops one, or lets libFuzzer change one. */
static inline void mutate_program(mutation *m, size_t program, size_t end)
{
    mutate_spots spots;
    uint8_t made[32];
    spots.count = 0;
    mutate_read_program(m, &spots, program, end);
    size_t i = mutate_random(m, spots.count + 1);
    size_t at = i < spots.count ? spots.v[i].at : program;
    size_t choice = mutate_random(m, 8);
    if (choice < 4 || spots.count == 0)
        mutate_replace(m, at, 0, made, mutate_make_opcode(m, made));
    else if (choice == 4 && i < spots.count)
        mutate_replace(m, at, spots.v[i].len, made, 0);
    else if (i < spots.count)
        mutate_plain(m, at, spots.v[i].len, choice == 5);
}

/* Changes one unit of the .debug_line in [lo, hi): header, tables of names, or program. */
static inline void mutate_line(mutation *m)
{
    mutate_unit u;
    size_t hi = m->hi;
    if (!mutate_choose_unit(m, &u))
        return;
    size_t length_at = u.body + (mutate_get(m, u.body, 2) >= 5 ? 4 : 2);
    size_t tables = length_at + u.offset_size;
    if (tables >= u.end)
        return;
    uint64_t length = mutate_get(m, length_at, u.offset_size);
    size_t program = tables + (length < u.end - tables ? (size_t)length : u.end - tables);
    size_t choice = mutate_random(m, 8);
    if (choice == 0) {
        size_t fixed = program - tables < 18 ? program - tables : 18;
        mutate_plain(m, tables, fixed, false);
    } else if (choice == 1) {
        mutate_plain(m, tables, program - tables, true);
        mutate_set(m, length_at, program - tables + m->hi - hi, u.offset_size);
    } else {
        mutate_program(m, program, u.end);
    }
    mutate_close_unit(m, &u, hi);
}

/* ---- Inputs in parts ---- */

/* The parts of an input that drive_part takes: the first is [2, 2 + its length), the second is the rest. */
static inline size_t mutate_first_len(const mutation *m)
{
    if (m->len < 2)
        return 0;
    size_t len = (size_t)(m->v[0] | m->v[1] << 8);
    return len < m->len - 2 ? len : m->len - 2;
}

/* Before a change: [lo, hi) is that part. */
static inline void mutate_open_part(mutation *m, bool first)
{
    size_t len = mutate_first_len(m);
    m->lo = first ? 2 : 2 + len;
    m->hi = first ? 2 + len : m->len;
}

/* After it: the first part is as long as it became. */
static inline void mutate_close_part(mutation *m, bool first)
{
    if (!first)
        return;
    size_t len = m->hi - 2;
    m->v[0] = (uint8_t)len;
    m->v[1] = (uint8_t)(len >> 8);
}

#endif
