#ifndef ms_ROOM_macho_symbols
#define ms_ROOM_macho_symbols
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "macho.h"
#include "fixups.h"
#include "code.h"

/* ==== >>symbols ============================================================================================
 * Job:    gathers names and starts of functions outside debug info into a table sorted by address.
 * Offers: ms_sym_table, ms_sym_narrow, ms_sym_add, ms_sym_sort, ms_sym_find, ms_sym_exact, ms_sym_scan_exact,
 *         ms_sym_listed_exact, ms_sym_check_names, ms_sym_walk_exports, ms_sym_selector_at.
 * Never:  names an address past the next start or the end of its section. */

/* nlist.h */
enum { ms_N_STAB = 0xe0, ms_N_PEXT = 0x10, ms_N_TYPE = 0x0e, ms_N_EXT = 0x01, ms_N_SECT = 0x0e };

#define ms_INDIRECT_SYMBOL_LOCAL 0x80000000u
#define ms_INDIRECT_SYMBOL_ABS   0x40000000u

/* An entry of LC_SYMTAB. */
typedef struct ms_sym_nlist {
    uint32_t strx;
    uint8_t type;
    uint64_t value;
} ms_sym_nlist;

static uint32_t ms_sym_nlist_size(const ms_mo *mo)
{
    return mo->is_64 ? 16 : 12;
}

static ms_span ms_sym_nlists(const ms_mo *mo)
{
    return ms_mo_table(mo, mo->loads.sym_off, mo->loads.sym_count, ms_sym_nlist_size(mo));
}

static ms_span ms_sym_strings(const ms_mo *mo)
{
    return ms_mo_table(mo, mo->loads.str_off, mo->loads.str_size, 1);
}

/* Reads entry number index of a table that has it. */
static inline ms_sym_nlist ms_sym_nlist_at(const ms_mo *mo, ms_span nlists, size_t index)
{
    const uint8_t *p = nlists.ptr + index * ms_sym_nlist_size(mo);
    ms_sym_nlist entry;
    MACHSYM_COUNT_WORK(1);
    entry.strx = ms_rd_raw_u32(p);
    entry.type = p[4];
    entry.value = mo->is_64 ? ms_rd_raw_u64(p + 8) : ms_rd_raw_u32(p + 8);
    if (mo->slice.cputype == ms_CPU_ARM)
        entry.value &= ~(uint64_t)1; /* Thumb */
    return entry;
}

/* A string table up to its last NUL, so that every text in it ends. */
static ms_span ms_sym_whole_strings(const ms_mo *mo)
{
    ms_span strings = ms_sym_strings(mo);
    while (strings.len > 0 && strings.ptr[strings.len - 1] != 0) {
        MACHSYM_COUNT_WORK(1);
        strings.len--;
    }
    return strings;
}

/* Linkers may let a name begin inside of another one that ends alike. seen: 45 percent of names, ld64 */
enum {
    ms_SYM_SAMPLE = 1024,   /* names that are looked at: each may lie on a page of its own */
    ms_SYM_FEW_NAMES = 16,  /* of fewer nothing is concluded */
    ms_SYM_MOST_INSIDE = 75 /* percent that begin inside of others in a sound file, at most */
};

/* Counts names that the string table does not have, and a string table that lies elsewhere: then most names
 * begin inside of others. The names of a cache's images and of what is in memory are no own table. */
static void ms_sym_check_names(const ms_mo *mo, ms_damage *damage)
{
    const ms_span nlists = ms_sym_nlists(mo);
    const ms_span strings = ms_sym_strings(mo);
    const size_t size = ms_sym_nlist_size(mo);
    const size_t count = nlists.len / size;
    const size_t step = count / ms_SYM_SAMPLE + 1;
    uint64_t at = ms_mo_file_offset(mo, mo->loads.str_off);
    size_t past = 0;
    size_t looked = 0;
    size_t inside = 0;
    if (ms_mo_is_mapped(mo) || strings.len == 0 || strings.len != mo->loads.str_size)
        return;
    for (size_t i = 0; i < count; i++) {
        uint32_t strx = ms_rd_raw_u32(nlists.ptr + i * size);
        MACHSYM_COUNT_WORK(1);
        past += strx >= strings.len;
        if (strx == 0 || strx >= strings.len || i % step != 0)
            continue;
        looked++;
        inside += strings.ptr[strx - 1] != 0;
    }
    if (looked >= ms_SYM_FEW_NAMES && inside * 100 > looked * ms_SYM_MOST_INSIDE)
        ms_damage_note_wrong(damage, "most names of symbols begin inside of others", "string table", at);
    else if (past != 0)
        ms_damage_note(damage, "names of symbols lie past the end of the string table", "string table", at);
}

enum { ms_SYM_HEAD = 11 }; /* of a name: no longer one is "<redacted>" */

/* The first bytes of a name. Ranking needs no more, and a table may hold a million long names. One byte is
 * enough where a name begins as names of functions do. */
static machsym_str ms_sym_head_at(ms_span whole, uint32_t strx)
{
    ms_span rest = ms_span_from(whole, strx);
    if (rest.len > 0 && (rest.ptr[0] == '_' || rest.ptr[0] == '-' || rest.ptr[0] == '+'))
        return ms_str_make((const char *)rest.ptr, 1);
    return ms_str_bounded((const char *)rest.ptr, rest.len < ms_SYM_HEAD ? rest.len : (size_t)ms_SYM_HEAD);
}

static bool ms_sym_is_defined(const ms_sym_nlist *entry)
{
    return (entry->type & ms_N_STAB) == 0 && (entry->type & ms_N_TYPE) == ms_N_SECT;
}

/* The name as compilers know it: without the mark of an unmangled name (byte 1) and without Mach-O's
 * underscore. */
static machsym_str ms_sym_c_name(machsym_str raw)
{
    if (raw.len > 0 && raw.ptr[0] == 1)
        raw = ms_str_drop(raw, 1);
    if (ms_str_begins(raw, "__hidden#")) /* a line of a BCSymbolMap, which has the underscore */
        return raw;
    return raw.len > 1 && raw.ptr[0] == '_' ? ms_str_drop(raw, 1) : raw;
}

static machsym_str ms_sym_name_at(ms_span strings, uint32_t strx)
{
    return ms_rd_str_at(strings, strx);
}

static bool ms_sym_is_temporary(machsym_str raw)
{
    return ms_str_begins(raw, "ltmp") || ms_str_begins(raw, "l_") || ms_str_begins(raw, "L");
}

/* Whether a symbol of a cache tells only that a function begins: its name went to the cache's own table. */
static bool ms_sym_is_redacted(machsym_str head)
{
    return ms_str_is(head, "<redacted>");
}

/* The rank of a name among several for one address; the lowest is the best. head is the name or its
 * beginning. */
static unsigned ms_sym_rank(const ms_sym_nlist *entry, machsym_str head)
{
    if (head.len == 0 || ms_sym_is_redacted(head))
        return 4;
    if (ms_sym_is_temporary(head))
        return 3;
    if ((entry->type & ms_N_EXT) == 0)
        return 2;
    return (entry->type & ms_N_PEXT) != 0 ? 1 : 0;
}

/* ---- The table ---- */

/* The symbols of LC_SYMTAB by address: where they begin, and their numbers. */
typedef struct ms_sym_order {
    ms_key *v;
    size_t count;
} ms_sym_order;

/* The entries of LC_SYMTAB that stand nearest to an address on one side of it, whether they have names or
 * not. */
typedef struct ms_sym_side {
    uint64_t value; /* of the entries */
    size_t first;   /* all of them lie between first and end, among others */
    size_t end;     /* 0: there are none */
} ms_sym_side;

/* What a search of a half's LC_SYMTAB found next to an address. */
typedef struct ms_sym_sides {
    const ms_mo *mo; /* NULL: nothing was searched */
    uint64_t asked;
    ms_sym_side v[2]; /* at or below the address, and past it */
} ms_sym_sides;

/* The names and starts, by address. Of several at one address the best comes first. */
typedef struct ms_sym_table {
    ms_key *v; /* address; source, rank and index (ms_sym_item) */
    size_t count;
    size_t cap;
    machsym_str *names; /* of all sources but LC_SYMTAB */
    size_t name_count;
    size_t name_cap;
    ms_arena *arena;
    const ms_mo *mo; /* the image's halves */
    size_t mo_count;
    const ms_range *code;
    size_t code_count;
    ms_range recent; /* of code: where an address was found last */
    size_t sorted;   /* entries at the front that are in order */
    ms_key *crowds;  /* of addresses with many names of LC_SYMTAB: hash of name and address, entry; sorted */
    size_t crowd_count;
    uint32_t damage_count;     /* parts of the metadata left out */
    bool is_narrow;            /* only what a search for asked finds is kept */
    uint64_t asked;            /* an address of code */
    uint64_t near_lo;          /* the last start at or below it */
    uint64_t near_hi;          /* the next one, or the last byte of the code */
    const ms_sym_order *order; /* of a narrow table of one half: its symbols; NULL: they are not listed */
    const ms_sym_sides *sides; /* what was found before, maybe for another address; NULL: nothing */
} ms_sym_table;

#define ms_SYM_SOURCE_SHIFT 56
#define ms_SYM_RANK_SHIFT   48
#define ms_SYM_MO_SHIFT     40
#define ms_SYM_INDEX_MASK   (((uint64_t)1 << 40) - 1)

/* Sorting items sorts by source, then rank, then where they come from. */
static uint64_t ms_sym_item(machsym_source source, unsigned rank, size_t mo, uint64_t index)
{
    return (uint64_t)source << ms_SYM_SOURCE_SHIFT | (uint64_t)rank << ms_SYM_RANK_SHIFT |
           (uint64_t)mo << ms_SYM_MO_SHIFT | index;
}

/* Which executable section holds an address; NULL when none does. */
static const ms_range *ms_sym_code_at(const ms_sym_table *t, uint64_t addr)
{
    return ms_seg_range_at(t->code, t->code_count, addr);
}

/* Whether code holds an address. Addresses that come one after the other mostly lie in one section. */
static bool ms_sym_is_code(ms_sym_table *t, uint64_t addr)
{
    const ms_range *code = &t->recent;
    if (addr - code->lo >= code->hi - code->lo)
        code = ms_sym_code_at(t, addr);
    if (code == NULL)
        return false;
    t->recent = *code;
    return true;
}

/* Turns an empty table into one that is for one address of code only. */
static void ms_sym_narrow(ms_sym_table *t, const ms_range *code, uint64_t addr)
{
    t->is_narrow = true;
    t->asked = addr;
    t->near_lo = code->lo;
    t->near_hi = code->hi - 1;
}

/* Drops what lies outside the bounds of a narrow table. All that stays begins at one of its bounds. */
static void ms_sym_drop_far(ms_sym_table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->v[i].key >= t->near_lo && t->v[i].key <= t->near_hi)
            t->v[kept++] = t->v[i];
    }
    t->count = kept;
    t->sorted = 0;
}

/* Whether a start at an address may belong in the table. */
static bool ms_sym_is_near(ms_sym_table *t, uint64_t addr)
{
    return t->is_narrow ? addr >= t->near_lo && addr <= t->near_hi : ms_sym_is_code(t, addr);
}

/* Whether a name or start at an address belongs in the table. Narrows the bounds of a narrow table to
 * it. */
static bool ms_sym_wants(ms_sym_table *t, uint64_t addr)
{
    if (!ms_sym_is_near(t, addr))
        return false;
    if (!t->is_narrow)
        return true;
    if (addr > t->near_lo && addr <= t->asked) {
        t->near_lo = addr;
        ms_sym_drop_far(t);
    } else if (addr > t->asked && addr < t->near_hi) {
        t->near_hi = addr;
        ms_sym_drop_far(t);
    }
    return true;
}

/* Adds what the table wants. */
static void ms_sym_put(ms_sym_table *t, uint64_t addr, uint64_t item)
{
    ms_key *v = (ms_key *)ms_arena_grow(t->arena, t->v, t->count, &t->cap, sizeof *v);
    if (v == NULL)
        return;
    t->v = v;
    v[t->count].key = addr;
    v[t->count++].item = item;
}

static void ms_sym_add_item(ms_sym_table *t, uint64_t addr, uint64_t item)
{
    if (ms_sym_wants(t, addr))
        ms_sym_put(t, addr, item);
}

/* Makes room for more entries at once. A table that grows step by step leaves old copies in memory. */
static void ms_sym_reserve_entries(ms_sym_table *t, size_t more)
{
    size_t cap = t->count + more;
    ms_key *v = cap > t->cap ? (ms_key *)ms_arena_alloc(t->arena, cap, sizeof *v) : NULL;
    if (v == NULL)
        return;
    ms_copy(v, t->v, t->count * sizeof *v);
    t->v = v;
    t->cap = cap;
}

/* The same for entries with names. */
static void ms_sym_reserve(ms_sym_table *t, size_t more)
{
    size_t cap = t->name_count + more;
    ms_sym_reserve_entries(t, more);
    machsym_str *names =
        cap > t->name_cap ? (machsym_str *)ms_arena_alloc(t->arena, cap, sizeof *names) : NULL;
    if (names == NULL)
        return;
    ms_copy(names, t->names, t->name_count * sizeof *names);
    t->names = names;
    t->name_cap = cap;
}

/* Adds a name that lives as long as the table. Used by every source but LC_SYMTAB. Of the names of a
 * source at one address that with the lowest rank is the best. */
static void ms_sym_add_ranked(ms_sym_table *t, uint64_t addr, machsym_source source, unsigned rank,
                              machsym_str name)
{
    if (!ms_sym_wants(t, addr))
        return;
    machsym_str *names =
        (machsym_str *)ms_arena_grow(t->arena, t->names, t->name_count, &t->name_cap, sizeof *names);
    if (names == NULL)
        return;
    t->names = names;
    names[t->name_count] = name;
    ms_sym_put(t, addr, ms_sym_item(source, rank, 0, t->name_count));
    t->name_count++;
}

static void ms_sym_add_name(ms_sym_table *t, uint64_t addr, machsym_source source, machsym_str name)
{
    ms_sym_add_ranked(t, addr, source, 0, name);
}

/* Adds one entry of a half's LC_SYMTAB; strings are those of ms_sym_whole_strings. *redacted is where the
 * name is that most symbols of a cache share, once one was seen; offset 0 is no name. */
static void ms_sym_add_nlist(ms_sym_table *t, size_t mo_index, ms_span strings, const ms_sym_nlist *entry,
                             size_t index, uint32_t *redacted)
{
    if (!ms_sym_is_defined(entry) || !ms_sym_is_near(t, entry->value))
        return;
    bool is_known = *redacted != 0 && entry->strx == *redacted;
    machsym_str head = is_known ? ms_str_empty() : ms_sym_head_at(strings, entry->strx);
    unsigned rank = ms_sym_rank(entry, head);
    if (rank == 4 && !is_known && ms_sym_is_redacted(head))
        *redacted = entry->strx;
    if (rank < 4)
        ms_sym_add_item(t, entry->value, ms_sym_item(MACHSYM_SOURCE_SYMTAB, rank, mo_index, index));
    else if (*redacted != 0 && entry->strx == *redacted)
        ms_sym_add_item(t, entry->value, ms_sym_item(MACHSYM_SOURCE_FUNCTION_STARTS, 0, 0, 0));
}

enum { ms_SYM_BLOCK = 8, ms_SYM_NLIST_64 = 16, ms_SYM_PROBE = 64 };

/* How far the value of entry i from p on lies above lo; one below it lies very far. */
static inline uint64_t ms_sym_above(const uint8_t *p, unsigned i, uint64_t lo)
{
    return ms_rd_raw_u64(p + i * (unsigned)ms_SYM_NLIST_64 + 8) - lo;
}

static inline uint64_t ms_sym_lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether one of the next eight entries of a 64-bit file has a value from lo up to lo + width. */
static inline bool ms_sym_block_has(const uint8_t *p, uint64_t lo, uint64_t width)
{
    uint64_t a = ms_sym_lesser(ms_sym_above(p, 0, lo), ms_sym_above(p, 1, lo));
    uint64_t b = ms_sym_lesser(ms_sym_above(p, 2, lo), ms_sym_above(p, 3, lo));
    uint64_t c = ms_sym_lesser(ms_sym_above(p, 4, lo), ms_sym_above(p, 5, lo));
    uint64_t d = ms_sym_lesser(ms_sym_above(p, 6, lo), ms_sym_above(p, 7, lo));
    MACHSYM_COUNT_WORK(ms_SYM_BLOCK);
    return ms_sym_lesser(ms_sym_lesser(a, b), ms_sym_lesser(c, d)) <= width;
}

/* Brings the values of both sides nearer to an address by a sample of the entries. Linkers sort them by
 * address: without the sample each entry below it would be the nearest one for a while. */
static void ms_sym_near_sides(const ms_mo *mo, ms_span nlists, uint64_t asked, ms_sym_side sides[2])
{
    size_t count = nlists.len / ms_sym_nlist_size(mo);
    for (size_t i = 0; i < count; i += ms_SYM_PROBE) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (entry.value >= sides[0].value && entry.value <= sides[1].value && ms_sym_is_defined(&entry))
            sides[entry.value > asked].value = entry.value;
    }
}

/* Finds the entries next to an address: those at or below it, and those past it. The sides come with the
 * values that bound the search. */
static void ms_sym_find_sides(const ms_mo *mo, ms_span nlists, uint64_t asked, ms_sym_side sides[2])
{
    const uint64_t mask = mo->slice.cputype == ms_CPU_ARM ? ~(uint64_t)1 : UINT64_MAX; /* Thumb */
    const bool is_64 = mo->is_64;
    size_t size = ms_sym_nlist_size(mo);
    size_t count = nlists.len / size;
    const uint8_t *p = nlists.ptr;
    ms_sym_near_sides(mo, nlists, asked, sides);
    uint64_t lo = sides[0].value;
    uint64_t width = sides[1].value - lo;
    for (size_t i = 0; i < count; i++, p += size) {
        while (is_64 && i % ms_SYM_BLOCK == 0 && count - i >= ms_SYM_BLOCK &&
               !ms_sym_block_has(p, lo, width)) {
            i += ms_SYM_BLOCK; /* nearly all: a table may have 100,000 of them */
            p += (size_t)ms_SYM_BLOCK * size;
        }
        if (i == count)
            break;
        uint64_t value = (is_64 ? ms_rd_raw_u64(p + 8) : ms_rd_raw_u32(p + 8)) & mask;
        MACHSYM_COUNT_WORK(1);
        if (value - lo > width)
            continue;
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (!ms_sym_is_defined(&entry))
            continue;
        ms_sym_side *side = &sides[value > asked];
        if (value != side->value || side->end == 0)
            side->first = i;
        side->value = value;
        side->end = i + 1;
        lo = sides[0].value;
        width = sides[1].value - lo;
    }
}

/* The only symbol at an address, and the code up to the next one. */
typedef struct ms_sym_alone {
    uint64_t lo;
    uint64_t hi;
    machsym_str name; /* empty: several symbols begin there */
} ms_sym_alone;

/* Finds the symbol of LC_SYMTAB at or below an address. Returns false when there is none. *found is what was
 * searched. */
static bool ms_sym_scan_alone(const ms_mo *mo, uint64_t addr, ms_sym_sides *found, ms_sym_alone *out)
{
    ms_span nlists = ms_sym_nlists(mo);
    ms_sym_side *sides = found->v;
    unsigned count = 0;
    ms_zero(found, sizeof *found);
    found->mo = mo;
    found->asked = addr;
    sides[1].value = UINT64_MAX;
    ms_sym_find_sides(mo, nlists, addr, sides);
    ms_zero(out, sizeof *out);
    out->lo = sides[0].value;
    out->hi = sides[1].value;
    for (size_t i = sides[0].first; i < sides[0].end; i++) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (entry.value != out->lo || !ms_sym_is_defined(&entry))
            continue;
        out->name =
            count++ == 0 ? ms_sym_c_name(ms_sym_name_at(ms_sym_strings(mo), entry.strx)) : ms_str_empty();
    }
    return count != 0;
}

/* Lists them. Returns false when memory is out. */
static bool ms_sym_list_order(const ms_mo *mo, ms_arena *scratch, ms_arena *arena, ms_sym_order *out)
{
    ms_span nlists = ms_sym_nlists(mo);
    size_t all = nlists.len / ms_sym_nlist_size(mo);
    ms_key *v = (ms_key *)ms_arena_alloc(arena, all, sizeof *v);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, all, sizeof *v);
    out->count = 0;
    if (v == NULL || room == NULL)
        return false;
    for (size_t i = 0; i < all; i++) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (!ms_sym_is_defined(&entry))
            continue;
        v[out->count].key = entry.value;
        v[out->count++].item = i;
    }
    ms_sort(v, out->count, room);
    out->v = v;
    return true;
}

/* The same as ms_sym_scan_alone by the list. */
static bool ms_sym_find_alone(const ms_mo *mo, const ms_sym_order *order, uint64_t addr, ms_sym_alone *out)
{
    const ms_key *v = order->v;
    size_t next = ms_upper_bound(v, order->count, sizeof *v, addr);
    ms_zero(out, sizeof *out);
    out->hi = next < order->count ? v[next].key : UINT64_MAX;
    if (next == 0)
        return false;
    out->lo = v[next - 1].key;
    if (next > 1 && v[next - 2].key == out->lo)
        return true;
    ms_sym_nlist entry = ms_sym_nlist_at(mo, ms_sym_nlists(mo), (size_t)v[next - 1].item);
    out->name = ms_sym_c_name(ms_sym_name_at(ms_sym_strings(mo), entry.strx));
    return true;
}

/* The same as ms_sym_find_sides by the list. first and end are places there. */
static void ms_sym_find_listed_sides(const ms_sym_order *order, uint64_t asked, ms_sym_side sides[2])
{
    const ms_key *v = order->v;
    size_t past = ms_upper_bound(v, order->count, sizeof *v, asked);
    if (past > 0 && v[past - 1].key >= sides[0].value) {
        sides[0].value = v[past - 1].key;
        sides[0].first = ms_lower_bound(v, past, sizeof *v, sides[0].value);
        sides[0].end = past;
    }
    if (past < order->count && v[past].key <= sides[1].value) {
        sides[1].value = v[past].key;
        sides[1].first = past;
        sides[1].end = past + ms_upper_bound(v + past, order->count - past, sizeof *v, sides[1].value);
    }
}

/* The same by what a search without bounds found. */
static void ms_sym_take_sides(const ms_sym_sides *found, ms_sym_side sides[2])
{
    if (found->v[0].end != 0 && found->v[0].value >= sides[0].value)
        sides[0] = found->v[0];
    if (found->v[1].end != 0 && found->v[1].value <= sides[1].value)
        sides[1] = found->v[1];
}

/* Adds the entries of LC_SYMTAB that stand next to the address of a narrow table. They are found by their
 * values alone: linkers sort entries by address, so a search by name would rank half of them and drop them
 * again. Returns false when an entry that stands there has no name: then another one is the nearest. */
static bool ms_sym_add_nearest(ms_sym_table *t, size_t mo_index, ms_span nlists, ms_span strings)
{
    const ms_mo *mo = &t->mo[mo_index];
    const ms_key *listed = t->order != NULL ? t->order->v : NULL;
    ms_sym_side sides[2] = {{t->near_lo, 0, 0}, {t->near_hi, 0, 0}};
    uint32_t redacted = 0;
    if (listed != NULL)
        ms_sym_find_listed_sides(t->order, t->asked, sides);
    else if (t->sides != NULL && t->sides->mo == mo && t->sides->asked == t->asked)
        ms_sym_take_sides(t->sides, sides);
    else
        ms_sym_find_sides(mo, nlists, t->asked, sides);
    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = sides[side].first; i < sides[side].end; i++) {
            size_t index = listed != NULL ? (size_t)listed[i].item : i;
            ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, index);
            if (entry.value == sides[side].value)
                ms_sym_add_nlist(t, mo_index, strings, &entry, index, &redacted);
        }
    }
    return t->near_lo == sides[0].value && t->near_hi == sides[1].value;
}

static void ms_sym_add_nlists(ms_sym_table *t, size_t mo_index)
{
    const ms_mo *mo = &t->mo[mo_index];
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_whole_strings(mo);
    size_t count = mo->hide_symtab ? 0 : nlists.len / ms_sym_nlist_size(mo);
    uint32_t redacted = 0;
    if (count == 0 || (t->is_narrow && ms_sym_add_nearest(t, mo_index, nlists, strings)))
        return;
    if (!ms_SMALL_CODE && !t->is_narrow)
        ms_sym_reserve_entries(t, count);
    for (size_t i = 0; i < count; i++) { /* what is there already is dropped when the table is sorted */
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        ms_sym_add_nlist(t, mo_index, strings, &entry, i, &redacted);
    }
}

/* LC_FUNCTION_STARTS: distances from __TEXT on; 0 ends them. */
static void ms_sym_add_function_starts(ms_sym_table *t, size_t mo_index)
{
    const ms_mo *mo = &t->mo[mo_index];
    ms_rd rd = ms_rd_make(ms_mo_linkedit(mo, mo->loads.starts_off, mo->loads.starts_size));
    uint64_t addr = mo->text_addr;
    ms_sym_reserve(
        t, 2 * ms_rd_left(&rd)); /* a byte or two each; metadata names about as many methods, at most */
    for (uint64_t delta = ms_rd_uleb(&rd); delta != 0 && !rd.failed; delta = ms_rd_uleb(&rd)) {
        addr += delta;
        uint64_t start = mo->slice.cputype == ms_CPU_ARM ? addr & ~(uint64_t)1 : addr;
        ms_sym_add_item(t, start, ms_sym_item(MACHSYM_SOURCE_FUNCTION_STARTS, 0, 0, 0));
    }
}

/* The stubs of one section: entry n of it calls what entry reserved1 + n of the indirect table names. */
static void ms_sym_add_stub_section(ms_sym_table *t, ms_fx_data *d, ms_span strings,
                                    const ms_mo_section *section)
{
    const ms_mo *mo = d->mo;
    ms_span indirect = ms_mo_table(mo, mo->loads.indirect_off, mo->loads.indirect_count, 4);
    ms_span nlists = ms_sym_nlists(mo);
    uint64_t count = section->reserved2 == 0 ? 0 : section->size / section->reserved2;
    for (uint64_t i = 0; i < count && section->reserved1 + i < indirect.len / 4 && ms_fx_spend(d, 1); i++) {
        uint32_t index = ms_rd_raw_u32(indirect.ptr + 4 * (section->reserved1 + i));
        MACHSYM_COUNT_WORK(1);
        if ((index & (ms_INDIRECT_SYMBOL_LOCAL | ms_INDIRECT_SYMBOL_ABS)) != 0 ||
            index >= nlists.len / ms_sym_nlist_size(mo))
            continue;
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, index);
        machsym_str name = ms_sym_c_name(ms_fx_str_in(d, ms_span_from(strings, entry.strx)));
        if (name.len != 0)
            ms_sym_add_name(t, section->addr + i * section->reserved2, MACHSYM_SOURCE_STUB, name);
    }
}

static void ms_sym_add_stubs(ms_sym_table *t, ms_fx_data *d)
{
    const ms_mo *mo = d->mo;
    ms_span strings = ms_sym_strings(mo);
    ms_fx_refill(d);
    for (uint32_t i = 0; i < mo->section_count; i++) {
        if ((mo->sections[i].flags & ms_SECTION_TYPE) == ms_S_SYMBOL_STUBS)
            ms_sym_add_stub_section(t, d, strings, &mo->sections[i]);
    }
}

/* What the names of a crowded address are found by. An address with more than MACHSYM_MAX_CROWD names is
 * crowded: there the linker folded functions of equal code. */
static uint64_t ms_sym_crowd_key(uint64_t addr, machsym_str name)
{
    return ms_str_hash(name) ^ addr * 0x9e3779b97f4a7c15u;
}

/* Puts entries of one key in order, wherever several follow each other. */
static void ms_sym_sort_equal(ms_key *v, size_t count)
{
    for (size_t lo = 0, hi; lo < count; lo = hi) {
        for (hi = lo + 1; hi < count && v[hi].key == v[lo].key;)
            hi++;
        if (hi - lo > 1)
            ms_key_heap_sort(&v[lo], hi - lo);
    }
}

/* Sorts the entries that a source has added, then merges them into those before. Most sources have theirs in
 * order: sorting all of them at once would take several times as long. */
static void ms_sym_sort_new(ms_sym_table *t, ms_arena *scratch)
{
    size_t old = t->sorted;
    size_t count = t->count - old;
    ms_key *room = count != 0 ? (ms_key *)ms_arena_alloc(scratch, count, sizeof *room) : NULL;
    if (room == NULL)
        return;
    ms_sort(&t->v[old], count, room);
    ms_sym_sort_equal(&t->v[old], count); /* their items did not ascend */
    t->sorted = t->count;
    if (old == 0 || !ms_key_less(&t->v[old], &t->v[old - 1]))
        return;
    ms_copy(room, &t->v[old], count * sizeof *room);
    MACHSYM_COUNT_WORK(t->count);
    for (size_t at = t->count; count > 0; at--) {
        bool is_old = old > 0 && ms_key_less(&room[count - 1], &t->v[old - 1]);
        t->v[at - 1] = is_old ? t->v[old - 1] : room[count - 1];
        old -= is_old;
        count -= !is_old;
    }
}

/* Sorts by address, then by source, then by rank. */
static void ms_sym_sort(ms_sym_table *t, ms_arena *scratch)
{
    ms_sym_sort_new(t, scratch);
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) { /* two tables may tell of one start */
        if (kept == 0 || t->v[kept - 1].key != t->v[i].key || t->v[kept - 1].item != t->v[i].item)
            t->v[kept++] = t->v[i];
    }
    t->count = kept;
    t->sorted = kept;
}

static machsym_source ms_sym_source(uint64_t item)
{
    return (machsym_source)(item >> ms_SYM_SOURCE_SHIFT);
}

static machsym_str ms_sym_name(const ms_sym_table *t, uint64_t item)
{
    uint64_t index = item & ms_SYM_INDEX_MASK;
    if (ms_sym_source(item) == MACHSYM_SOURCE_FUNCTION_STARTS)
        return ms_str_empty();
    if (ms_sym_source(item) != MACHSYM_SOURCE_SYMTAB)
        return t->names[index];
    const ms_mo *mo = &t->mo[(item >> ms_SYM_MO_SHIFT) & 0xff];
    ms_sym_nlist entry = ms_sym_nlist_at(mo, ms_sym_nlists(mo), (size_t)index);
    return ms_sym_c_name(ms_sym_name_at(ms_sym_strings(mo), entry.strx));
}

/* Indexes the crowded addresses of a sorted table. */
static void ms_sym_index_crowds(ms_sym_table *t, ms_arena *scratch)
{
    size_t count = 0;
    for (size_t lo = 0, hi; lo < t->count; lo = hi) {
        for (hi = lo + 1; hi < t->count && t->v[hi].key == t->v[lo].key;)
            hi++;
        count += hi - lo > MACHSYM_MAX_CROWD ? hi - lo : 0;
    }
    ms_key *crowds = (ms_key *)ms_arena_alloc(t->arena, count, sizeof *crowds);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, count, sizeof *crowds);
    if (count == 0 || crowds == NULL || room == NULL)
        return;
    for (size_t lo = 0, hi; lo < t->count; lo = hi) {
        for (hi = lo + 1; hi < t->count && t->v[hi].key == t->v[lo].key;)
            hi++;
        for (size_t i = lo; i < hi && hi - lo > MACHSYM_MAX_CROWD; i++) {
            crowds[t->crowd_count].key = ms_sym_crowd_key(t->v[i].key, ms_sym_name(t, t->v[i].item));
            crowds[t->crowd_count++].item = i;
        }
    }
    ms_sort(crowds, count, room);
    t->crowds = crowds;
}

/* The first entry at or past an address. */
static size_t ms_sym_first(const ms_sym_table *t, uint64_t addr)
{
    return ms_lower_bound(t->v, t->count, sizeof *t->v, addr);
}

enum { ms_SYM_STEPS = 4 }; /* entries at one address: mostly a name, an export, a start */

/* The first entry past those at one address. */
static size_t ms_sym_next(const ms_sym_table *t, size_t at)
{
    uint64_t addr = t->v[at].key;
    for (size_t end = at + ms_SYM_STEPS; at < end; at++) {
        if (at == t->count || t->v[at].key != addr)
            return at;
    }
    return at + ms_upper_bound(t->v + at, t->count - at, sizeof *t->v, addr);
}

/* Whether the name of an entry differs from those of the entries before it from first on. Of many it compares
 * the last MACHSYM_ALIASES_COMPARED. */
static bool ms_sym_is_new(const ms_sym_table *t, size_t first, size_t at)
{
    machsym_str name = ms_sym_name(t, t->v[at].item);
    if (at - first > MACHSYM_ALIASES_COMPARED)
        first = at - MACHSYM_ALIASES_COMPARED;
    for (; first < at; first++) {
        if (ms_str_equal(ms_sym_name(t, t->v[first].item), name))
            return false;
    }
    return true;
}

/* The symbol of an entry. It ends at the next start, or at the end of its section. */
static void ms_sym_get(const ms_sym_table *t, size_t at, machsym_symbol *out)
{
    uint64_t addr = t->v[at].key;
    const ms_range *code = ms_sym_code_at(t, addr);
    size_t next = ms_sym_next(t, at);
    out->lo = addr;
    out->hi = code->hi;
    if (next < t->count && t->v[next].key < out->hi)
        out->hi = t->v[next].key;
    out->source = ms_sym_source(t->v[at].item);
    out->name = ms_sym_name(t, t->v[at].item);
}

/* The first entry past an address. *last is where the last search ended: the next one is often near. */
static size_t ms_sym_past(const ms_sym_table *t, uint64_t addr, size_t *last)
{
    size_t at = *last < t->count && t->v[*last].key <= addr ? *last : t->count;
    if (ms_SMALL_CODE)
        return ms_upper_bound(t->v, t->count, sizeof *t->v, addr);
    for (size_t end = at + ms_SYM_STEPS; at < end; at++) {
        if (at >= t->count)
            break;
        if (t->v[at].key > addr)
            return *last = at;
    }
    return *last = ms_upper_bound(t->v, t->count, sizeof *t->v, addr);
}

/* The symbol whose range holds an address. Returns false when none does. */
static bool ms_sym_find(const ms_sym_table *t, uint64_t addr, size_t *last, machsym_symbol *out)
{
    size_t at = ms_sym_past(t, addr, last);
    if (at == 0)
        return false;
    at--;
    if (at > 0 && t->v[at - 1].key == t->v[at].key)
        at = ms_sym_first(t, t->v[at].key);
    ms_sym_get(t, at, out);
    return addr < out->hi;
}

/* Whether the name at an offset of a string table is this one, without its underscore or with it. */
static bool ms_sym_name_is(ms_span whole, uint32_t strx, machsym_str want)
{
    ms_span rest = ms_span_from(whole, strx);
    machsym_str head = ms_str_make((const char *)rest.ptr, rest.len < want.len + 3 ? rest.len : want.len + 3);
    machsym_str raw = ms_str_bounded(head.ptr, head.len); /* byte 1, underscore, name, NUL at most */
    return ms_str_equal(ms_sym_c_name(raw), want);
}

/* The symtab name that starts exactly at an address: the one that equals want, else the best. */
static machsym_str ms_sym_exact(const ms_sym_table *t, uint64_t addr, machsym_str want)
{
    size_t first = ms_sym_first(t, addr);
    if (first == t->count || t->v[first].key != addr ||
        ms_sym_source(t->v[first].item) != MACHSYM_SOURCE_SYMTAB)
        return ms_str_empty();
    bool is_crowd = ms_sym_next(t, first) - first > MACHSYM_MAX_CROWD;
    const ms_key *v = is_crowd ? t->crowds : t->v;
    size_t count = is_crowd ? t->crowd_count : t->count;
    uint64_t key = is_crowd ? ms_sym_crowd_key(addr, want) : addr;
    size_t at = is_crowd ? ms_lower_bound(v, count, sizeof *v, key) : first;
    for (size_t i = 0; i < MACHSYM_MAX_CROWD && at < count && v[at].key == key && want.len != 0; i++, at++) {
        uint64_t item = t->v[is_crowd ? (size_t)v[at].item : at].item;
        if (ms_sym_source(item) != MACHSYM_SOURCE_SYMTAB) /* the best source: none follows another */
            break;
        const ms_mo *mo = &t->mo[(item >> ms_SYM_MO_SHIFT) & 0xff];
        ms_sym_nlist entry = ms_sym_nlist_at(mo, ms_sym_nlists(mo), (size_t)(item & ms_SYM_INDEX_MASK));
        if (ms_sym_name_is(ms_sym_strings(mo), entry.strx, want))
            return ms_sym_name(t, item);
    }
    return ms_sym_name(t, t->v[first].item);
}

/* What ms_sym_exact looks for, while the entries at the address are looked at one by one. */
typedef struct ms_sym_search {
    machsym_str want;
    machsym_str best;
    unsigned best_rank;
} ms_sym_search;

/* Looks at an entry that begins at the address. Returns true when its name is the one that is wanted. */
static bool ms_sym_look_at(ms_span strings, const ms_sym_nlist *entry, ms_sym_search *search)
{
    if (!ms_sym_is_defined(entry))
        return false;
    unsigned rank = ms_sym_rank(entry, ms_sym_head_at(strings, entry->strx));
    bool is_wanted = search->want.len != 0 && rank < 4 && ms_sym_name_is(strings, entry->strx, search->want);
    if (is_wanted || rank < search->best_rank) {
        search->best_rank = rank;
        search->best = ms_sym_c_name(ms_sym_name_at(strings, entry->strx));
    }
    return is_wanted;
}

/* The same without a table, by reading all of LC_SYMTAB. This is for a first, cold lookup. */
static machsym_str ms_sym_scan_exact(const ms_mo *mos, size_t mo_count, uint64_t addr, machsym_str want)
{
    ms_sym_search search = {want, ms_str_empty(), 4};
    for (size_t m = 0; m < mo_count; m++) {
        const ms_mo *mo = &mos[m];
        ms_span nlists = ms_sym_nlists(mo);
        ms_span strings = ms_sym_whole_strings(mo);
        size_t size = ms_sym_nlist_size(mo);
        size_t count = mo->hide_symtab ? 0 : nlists.len / size;
        for (size_t i = 0; i < count; i++) {
            while (mo->is_64 && i % ms_SYM_BLOCK == 0 && count - i >= ms_SYM_BLOCK &&
                   !ms_sym_block_has(nlists.ptr + i * size, addr, 0))
                i += ms_SYM_BLOCK;
            if (i == count)
                break;
            ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
            if (entry.value == addr && ms_sym_look_at(strings, &entry, &search))
                return search.best;
        }
    }
    return search.best;
}

/* The same by the list of one half's symbols. *looked is how many begin at the address. */
static machsym_str ms_sym_listed_exact(const ms_mo *mo, const ms_sym_order *order, ms_span strings,
                                       uint64_t addr, machsym_str want, size_t *looked)
{
    ms_sym_search search = {want, ms_str_empty(), 4};
    const ms_key *v = order->v;
    size_t first = ms_lower_bound(v, order->count, sizeof *v, addr);
    size_t at = first;
    for (bool is_found = false; at < order->count && v[at].key == addr && !is_found; at++) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, ms_sym_nlists(mo), (size_t)v[at].item);
        is_found = ms_sym_look_at(strings, &entry, &search);
    }
    *looked = at - first;
    return search.best;
}

/* ---- Exports trie ---- */

/* loader.h: EXPORT_SYMBOL_FLAGS_* */
enum { ms_EXPORT_KIND = 3, ms_EXPORT_REEXPORT = 8, ms_EXPORT_STUB_AND_RESOLVER = 16 };

/* A node on the way down. */
typedef struct ms_sym_trie_node {
    ms_rd edges;   /* those not taken yet */
    unsigned left; /* how many */
    uint64_t off;
    size_t name_len; /* of what the way here spells */
} ms_sym_trie_node;

/* A walk over an exports trie. */
typedef struct ms_sym_trie {
    ms_span bytes;
    ms_sym_trie_node *nodes; /* MACHSYM_MAX_TRIE_DEPTH of them */
    size_t depth;
    uint8_t *on_path; /* a bit for each byte of the trie: an edge back to such a node is a loop */
    char *name;       /* MACHSYM_MAX_TRIE_NAME bytes */
    size_t name_len;
} ms_sym_trie;

/* Text put together from parts, which lives as long as the table; paid from the budget of d. */
static machsym_str ms_sym_join(ms_sym_table *t, ms_fx_data *d, const machsym_str *parts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    char *text = ms_fx_spend(d, len) ? (char *)ms_arena_alloc(t->arena, len, 1) : NULL;
    if (text == NULL)
        return ms_str_empty();
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        ms_copy(text + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    return ms_str_make(text, len);
}

/* Takes what a node exports. */
static void ms_sym_take_export(ms_sym_table *t, ms_fx_data *d, const ms_sym_trie *trie, ms_span info)
{
    ms_rd rd = ms_rd_make(info);
    uint64_t flags = ms_rd_uleb(&rd);
    uint64_t offs[2] = {0, 0};
    if ((flags & ms_EXPORT_KIND) != 0 || (flags & ms_EXPORT_REEXPORT) != 0)
        return; /* thread-local and absolute values are no code; that of a re-export is in another image */
    offs[0] = ms_rd_uleb(&rd);
    bool has_resolver = (flags & ms_EXPORT_STUB_AND_RESOLVER) != 0;
    if (has_resolver)
        offs[1] = ms_rd_uleb(&rd);
    d->damage_count += rd.failed;
    for (unsigned i = 0; i < 1u + has_resolver && !rd.failed; i++) {
        uint64_t addr = d->mo->text_addr + offs[i];
        machsym_str parts[1] = {ms_sym_c_name(ms_str_make(trie->name, trie->name_len))};
        if (d->mo->slice.cputype == ms_CPU_ARM)
            addr &= ~(uint64_t)1;
        machsym_str name = ms_sym_is_code(t, addr) ? ms_sym_join(t, d, parts, 1) : ms_str_empty();
        if (name.len != 0)
            ms_sym_add_name(t, addr, MACHSYM_SOURCE_EXPORTS, name);
    }
}

/* Goes down to a node. */
static void ms_sym_enter(ms_sym_table *t, ms_fx_data *d, ms_sym_trie *trie, uint64_t off)
{
    if (trie->depth == MACHSYM_MAX_TRIE_DEPTH || off >= trie->bytes.len ||
        (trie->on_path[off / 8] >> (off % 8) & 1) != 0) {
        d->damage_count++;
        return;
    }
    MACHSYM_COUNT_WORK(1);
    ms_rd rd = ms_rd_at(trie->bytes, off);
    ms_span info = ms_rd_span(&rd, ms_rd_uleb(&rd));
    if (info.len != 0)
        ms_sym_take_export(t, d, trie, info);
    ms_sym_trie_node *node = &trie->nodes[trie->depth++];
    node->left = ms_rd_u8(&rd);
    node->edges = rd;
    node->off = off;
    node->name_len = trie->name_len;
    trie->on_path[off / 8] |= (uint8_t)(1u << off % 8);
    d->damage_count += rd.failed;
}

/* Walks the exports trie, depth first. Nodes may be shared. Every step is paid from the budget, so shared
 * nodes cannot multiply the work. Takes what lies in the table's code. */
static void ms_sym_walk_exports(ms_sym_table *t, ms_fx_data *d, ms_arena *scratch)
{
    ms_sym_trie trie;
    ms_zero(&trie, sizeof trie);
    trie.bytes = ms_mo_linkedit(d->mo, d->mo->loads.exports_off, d->mo->loads.exports_size);
    if (trie.bytes.len == 0 || !ms_fx_spend(d, trie.bytes.len / 8))
        return;
    trie.nodes = (ms_sym_trie_node *)ms_arena_alloc(scratch, MACHSYM_MAX_TRIE_DEPTH, sizeof *trie.nodes);
    trie.name = (char *)ms_arena_alloc(scratch, MACHSYM_MAX_TRIE_NAME, 1);
    trie.on_path = (uint8_t *)ms_arena_zeroed(scratch, trie.bytes.len / 8 + 1, 1);
    if (trie.nodes == NULL || trie.name == NULL || trie.on_path == NULL)
        return;
    ms_sym_enter(t, d, &trie, 0);
    while (trie.depth > 0) {
        ms_sym_trie_node *node = &trie.nodes[trie.depth - 1];
        if (node->left == 0 || node->edges.failed) {
            trie.on_path[node->off / 8] &= (uint8_t) ~(1u << node->off % 8);
            trie.depth--;
            continue;
        }
        node->left--;
        machsym_str edge = ms_rd_str(&node->edges);
        uint64_t off = ms_rd_uleb(&node->edges);
        if (node->edges.failed || edge.len > MACHSYM_MAX_TRIE_NAME - node->name_len) {
            d->damage_count++;
            continue;
        }
        if (!ms_fx_spend(d, edge.len + 1))
            return;
        ms_copy(trie.name + node->name_len, edge.ptr, edge.len);
        trie.name_len = node->name_len + edge.len;
        ms_sym_enter(t, d, &trie, off);
    }
}

static void ms_sym_add_exports(ms_sym_table *t, ms_fx_data *d, ms_arena *scratch)
{
    ms_fx_refill(d);
    ms_sym_walk_exports(t, d, scratch);
}

/* ---- Selectors ---- */

/* The selector at an address; empty when there is other text. Compilers write no other characters than these.
 * Linkers let a selector that ends another one begin in its middle. */
static machsym_str ms_sym_selector_at(ms_fx_data *d, uint64_t addr)
{
    /* a bit for each byte: $ . 0-9 : then A-Z _ then a-z, and what is past ASCII */
    static const uint32_t in_selectors[8] = {0, 0x07ff4010, 0x87fffffe, 0x07fffffe, ~0u, ~0u, ~0u, ~0u};
    machsym_str text = ms_fx_str_at(d, addr);
    uint32_t fits = 1;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        fits &= in_selectors[c >> 5] >> (c & 31);
    }
    return (fits & 1) != 0 ? text : ms_str_empty();
}

/* __objc_stubs: each begins with adrp x1, page; ldr x1, [x1, off] of a selector reference, or in a shared
 * cache adrp x1, page; add x1, x1, off of the selector itself, then calls objc_msgSend. Arm ARM C6.2:
 * ADRP, LDR (immediate, unsigned offset), ADD (immediate). */
static void ms_sym_add_selector_stubs(ms_sym_table *t, ms_fx_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, "__objc_stubs");
    if (section == NULL || d->mo->slice.cputype != ms_CPU_ARM64)
        return;
    ms_span bytes = ms_fx_bytes(d, section);
    ms_fx_refill(d);
    for (size_t at = 0; at + 8 <= bytes.len; at += 4) {
        uint32_t adrp = ms_rd_raw_u32(bytes.ptr + at);
        uint32_t next = ms_rd_raw_u32(bytes.ptr + at + 4);
        bool is_load = (next & 0xffc003ff) == 0xf9400021;
        bool is_sum = (next & 0xffc003ff) == 0x91000021;
        if ((adrp & 0x9f00001f) != 0x90000001 || (!is_load && !is_sum))
            continue;
        uint64_t page = ms_code_page(adrp, section->addr + at);
        uint64_t off = next >> 10 & 0xfff;
        machsym_str parts[2];
        parts[0] = ms_str_from_c("objc_msgSend$");
        uint64_t selector = is_sum ? page + off : ms_fx_pointer_at(d, page + off * 8).addr;
        parts[1] = ms_sym_selector_at(d, selector);
        machsym_str name = parts[1].len != 0 ? ms_sym_join(t, d, parts, 2) : ms_str_empty();
        if (name.len != 0)
            ms_sym_add_name(t, section->addr + at, MACHSYM_SOURCE_OBJC, name);
    }
}

/* Adds all that this room reads of a half of the image. */
static void ms_sym_add(ms_sym_table *t, size_t mo_index, ms_fx_data *d, ms_arena *scratch)
{
    ms_sym_add_nlists(t, mo_index);
    ms_sym_sort_new(t, scratch);
    ms_sym_add_stubs(t, d);
    ms_sym_add_selector_stubs(t, d);
    ms_sym_add_exports(t, d, scratch);
    ms_sym_sort_new(t, scratch);
    ms_sym_add_function_starts(t, mo_index);
    ms_sym_sort_new(t, scratch);
}

#endif /* ms_ROOM_macho_symbols */
