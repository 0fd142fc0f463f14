/* Mutators of whole Mach-O files: one section or table changes, in the way of its kind, and every offset and
 * size in the load commands follows. */
#ifndef MACHSYM_FUZZ_MUTATE_MACHO_H
#define MACHSYM_FUZZ_MUTATE_MACHO_H

#include "mutate.h"

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                                 uint8_t *out, size_t max, unsigned seed);

/* A piece of the file that load commands lead to: fields say where it is and how long. */
typedef struct mutate_piece {
    char name[17]; /* of a section; empty for tables of other commands */
    size_t off_at; /* of its offset's field, 4 bytes */
    size_t size_at;
    unsigned size_size;
    unsigned unit; /* what the size counts in */
    size_t lo;
    size_t hi;
} mutate_piece;

enum { MUTATE_PIECES = 64, MUTATE_COMMANDS = 64 };

typedef struct mutate_macho {
    bool is_64;
    bool is_loaded;                       /* pieces stand where they are in memory */
    size_t commands[MUTATE_COMMANDS + 1]; /* where they begin; the end is the last */
    size_t command_count;
    mutate_piece pieces[MUTATE_PIECES];
    size_t piece_count;
} mutate_macho;

/* A file offset that a segment command holds stands elsewhere in memory; SIZE_MAX when nothing holds it. */
static inline size_t mutate_place(const mutation *m, const mutate_macho *f, uint64_t off)
{
    unsigned word = f->is_64 ? 8 : 4;
    uint64_t base = 0;
    bool has_base = false;
    for (size_t i = 0; f->is_loaded && i < f->command_count; i++) {
        size_t at = f->commands[i];
        if (mutate_get(m, at, 4) != (f->is_64 ? 0x19u : 1u))
            continue;
        uint64_t addr = mutate_get(m, at + 24, word);
        uint64_t file_off = mutate_get(m, at + 24 + 2 * word, word);
        if (!has_base)
            base = addr;
        has_base = true;
        if (off >= file_off && off - file_off < mutate_get(m, at + 24 + 3 * word, word))
            return (size_t)(off - file_off + addr - base);
    }
    return f->is_loaded ? SIZE_MAX : m->lo + (size_t)off;
}

static inline void mutate_add_piece(const mutation *m, mutate_macho *f, const char *name, size_t off_at,
                                    size_t size_at, unsigned size_size, unsigned unit)
{
    uint64_t off = mutate_get(m, off_at, 4);
    uint64_t size = mutate_get(m, size_at, size_size) * unit;
    size_t lo = mutate_place(m, f, off);
    if (off == 0 || size == 0 || lo >= m->hi || size > m->hi - lo || f->piece_count == MUTATE_PIECES)
        return;
    mutate_piece *piece = &f->pieces[f->piece_count++];
    memset(piece, 0, sizeof *piece);
    if (name != NULL)
        memcpy(piece->name, name, 16);
    piece->off_at = off_at;
    piece->size_at = size_at;
    piece->size_size = size_size;
    piece->unit = unit;
    piece->lo = lo;
    piece->hi = lo + (size_t)size;
}

static inline void mutate_read_segment(const mutation *m, mutate_macho *f, size_t at, size_t end)
{
    unsigned word = f->is_64 ? 8 : 4;
    size_t step = f->is_64 ? 80 : 68;
    for (size_t s = at + (f->is_64 ? 72 : 56); s < end && end - s >= step; s += step)
        mutate_add_piece(m, f, (const char *)m->v + s, s + 32 + 2 * word, s + 32 + word, word, 1);
}

/* The tables that one command leads to. */
static inline void mutate_read_command(const mutation *m, mutate_macho *f, size_t at, size_t end)
{
    uint64_t command = mutate_get(m, at, 4);
    if (command == 1 || command == 0x19) {
        mutate_read_segment(m, f, at, end);
    } else if (command == 2) { /* LC_SYMTAB */
        mutate_add_piece(m, f, NULL, at + 8, at + 12, 4, f->is_64 ? 16 : 12);
        mutate_add_piece(m, f, NULL, at + 16, at + 20, 4, 1);
    } else if (command == 0xb) { /* LC_DYSYMTAB: indirect symbols */
        mutate_add_piece(m, f, NULL, at + 56, at + 60, 4, 4);
    } else if ((command & 0x7fffffff) == 0x22) { /* LC_DYLD_INFO */
        for (size_t i = 8; i < 48 && at + i + 8 <= end; i += 8)
            mutate_add_piece(m, f, NULL, at + i, at + i + 4, 4, 1);
    } else if (command == 0x26 || command == 0x80000033u || command == 0x80000034u) {
        mutate_add_piece(m, f, NULL, at + 8, at + 12, 4, 1);
    }
}

/* Moves [lo, hi) to a slice when the file is fat. */
static inline void mutate_open_slice(mutation *m)
{
    static const uint8_t fat[] = {0xca, 0xfe, 0xba, 0xbe};
    if (m->hi - m->lo < 28 || memcmp(m->v + m->lo, fat, 4) != 0)
        return;
    size_t arch = m->lo + 8;
    if (m->hi - m->lo >= 48 && m->v[m->lo + 7] > 1 && mutate_random(m, 2) == 1)
        arch += 20;
    size_t off = (size_t)m->v[arch + 8] << 24 | (size_t)m->v[arch + 9] << 16 | (size_t)m->v[arch + 10] << 8 |
                 m->v[arch + 11];
    if (off < m->hi - m->lo)
        m->lo += off;
}

/* Reads the commands of the file in [lo, hi). Returns: whether it is one. */
static inline bool mutate_read_macho(const mutation *m, mutate_macho *f)
{
    memset(f, 0, sizeof *f);
    uint64_t magic = mutate_get(m, m->lo, 4);
    f->is_64 = magic == 0xfeedfacfu;
    if (!f->is_64 && magic != 0xfeedfaceu)
        return false;
    size_t at = m->lo + (f->is_64 ? 32 : 28);
    uint64_t count = mutate_get(m, m->lo + 16, 4);
    for (; f->command_count < count && f->command_count < MUTATE_COMMANDS && at < m->hi; f->command_count++) {
        uint64_t size = mutate_get(m, at + 4, 4);
        if (size < 8 || size > m->hi - at)
            break;
        f->commands[f->command_count] = at;
        at += (size_t)size;
    }
    f->commands[f->command_count] = at;
    return f->command_count != 0;
}

static inline void mutate_read_pieces(const mutation *m, mutate_macho *f, bool is_loaded)
{
    f->is_loaded = is_loaded;
    f->piece_count = 0;
    for (size_t i = 0; i < f->command_count; i++)
        mutate_read_command(m, f, f->commands[i], f->commands[i + 1]);
}

/* After a piece grew or shrank (by grown, modulo 2^64): its own size, and the offsets of all after it. */
static inline void mutate_follow(mutation *m, const mutate_macho *f, const mutate_piece *changed,
                                 size_t grown)
{
    unsigned word = f->is_64 ? 8 : 4;
    size_t end = changed->hi - m->lo;
    mutate_set(m, changed->size_at, (changed->hi - changed->lo + grown) / changed->unit, changed->size_size);
    for (size_t i = 0; i < f->piece_count; i++) {
        const mutate_piece *piece = &f->pieces[i];
        if (piece != changed && piece->lo >= changed->hi)
            mutate_set(m, piece->off_at, piece->lo - m->lo + grown, 4);
    }
    for (size_t i = 0; i < f->command_count; i++) {
        size_t at = f->commands[i] + 24 + 2 * word;
        if (mutate_get(m, f->commands[i], 4) != (f->is_64 ? 0x19u : 1u))
            continue;
        uint64_t off = mutate_get(m, at, word);
        uint64_t size = mutate_get(m, at + word, word);
        if (off >= end)
            mutate_set(m, at, off + grown, word);
        else if (size >= end - off)
            mutate_set(m, at + word, size + grown, word);
    }
}

static inline const mutate_piece *mutate_find_piece(const mutate_macho *f, const char *name)
{
    for (size_t i = 0; i < f->piece_count; i++) {
        if (strcmp(f->pieces[i].name, name) == 0)
            return &f->pieces[i];
    }
    return NULL;
}

/* Changes [lo, hi), the contents of a section, in the way that its name asks for. */
static inline void mutate_section(mutation *m, const mutate_macho *f, const mutate_piece *piece)
{
    bytes abbrev = {NULL, 0, 0};
    const mutate_piece *from = mutate_find_piece(f, "__debug_abbrev");
    if (strcmp(piece->name, "__debug_info") == 0 && from != NULL) {
        put(&abbrev, m->v + from->lo, from->hi - from->lo);
        mutate_info(m, &abbrev);
        bytes_free(&abbrev);
    } else if (strcmp(piece->name, "__debug_abbrev") == 0) {
        mutate_abbrev(m);
    } else if (strcmp(piece->name, "__debug_line") == 0) {
        mutate_line(m);
    } else if (piece->unit > 1 || strstr(piece->name, "ranges") != NULL ||
               strstr(piece->name, "list") != NULL) {
        mutate_words(m, piece->unit % 8 == 0 ? 8 : 4);
    } else {
        mutate_plain(m, m->lo, m->hi - m->lo, true);
    }
}

static inline void mutate_in_piece(mutation *m, const mutate_macho *f)
{
    const mutate_piece *piece = &f->pieces[mutate_random(m, f->piece_count)];
    mutation in = *m;
    in.lo = piece->lo;
    in.hi = piece->hi;
    if (f->is_loaded) {
        mutate_plain(m, piece->lo, piece->hi - piece->lo, false);
        return;
    }
    mutate_section(&in, f, piece);
    size_t grown = in.hi - piece->hi;
    m->len = in.len;
    m->hi += grown;
    m->random = in.random;
    if (grown != 0)
        mutate_follow(m, f, piece, grown);
}

/* Changes one load command after its size. */
static inline void mutate_command(mutation *m, const mutate_macho *f)
{
    size_t i = mutate_random(m, f->command_count);
    size_t at = f->commands[i];
    size_t len = f->commands[i + 1] - at;
    if (len < 12)
        return;
    if (mutate_random(m, 2) == 0) {
        mutate_plain(m, at + 8, len - 8, false);
        return;
    }
    size_t word = at + 8 + 4 * mutate_random(m, (len - 8) / 4);
    mutate_set(m, word, mutate_number(m, mutate_get(m, word, 4)), 4);
}

/* Changes the Mach-O file in [lo, hi). */
static inline void mutate_file(mutation *m, bool is_loaded)
{
    mutate_macho f;
    size_t lo = m->lo;
    mutate_open_slice(m);
    bool is_macho = mutate_read_macho(m, &f);
    if (is_macho)
        mutate_read_pieces(m, &f, is_loaded);
    size_t choice = mutate_random(m, 8);
    if (!is_macho || f.piece_count == 0 || choice < 2)
        mutate_plain(m, m->lo, m->hi - m->lo, true);
    else if (choice == 2)
        mutate_command(m, &f);
    else
        mutate_in_piece(m, &f);
    m->lo = lo;
}

/* Gives a file the section of another one that has the same name. Returns the new size; 0 when they share
 * none. */
static inline size_t mutate_cross(mutation *m, const mutation *from)
{
    mutate_macho f;
    mutate_macho g;
    if (!mutate_read_macho(m, &f) || !mutate_read_macho(from, &g))
        return 0;
    mutate_read_pieces(m, &f, false);
    mutate_read_pieces(from, &g, false);
    size_t first = mutate_random(m, f.piece_count);
    for (size_t i = 0; i < f.piece_count; i++) {
        const mutate_piece *piece = &f.pieces[(first + i) % f.piece_count];
        const mutate_piece *other = piece->name[0] != 0 ? mutate_find_piece(&g, piece->name) : NULL;
        if (other == NULL)
            continue;
        size_t len = other->hi - other->lo;
        if (!mutate_replace(m, piece->lo, piece->hi - piece->lo, from->v + other->lo, len))
            return 0;
        mutate_follow(m, &f, piece, len - (piece->hi - piece->lo));
        return m->len;
    }
    return 0;
}

#endif
