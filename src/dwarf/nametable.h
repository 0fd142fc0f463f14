#ifndef ms_ROOM_dwarf_nametable
#define ms_ROOM_dwarf_nametable
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "forms.h"

/* ==== >>nametable ==========================================================================================
 * Job:    looks up names in .debug_names or .apple_names: which entries may be functions of that name.
 * Offers: ms_nt_find, ms_nt_list.
 * Never:  believes an entry: who asks reads the entry itself.
 *
 * A lookup takes few steps, however the table is damaged: where it would take more, it finds nothing.
 * DWARF5 6.1.1; .apple_names is described with LLVM as its accelerator tables. */

enum {
    ms_DW_IDX_compile_unit = 1,
    ms_DW_IDX_type_unit = 2,
    ms_DW_IDX_die_offset = 3,

    ms_DW_ATOM_die_offset = 1,

    ms_NT_APPLE_MAGIC = 0x48415348, /* "HASH" */
    ms_NT_CODES = 512,              /* codes of abbreviations below this one are known: LLVM counts from 1 */
    ms_NT_ATOMS = 8                 /* fields of an entry of .apple_names: dsymutil writes one */
};

/* What the abbreviation of an entry of .debug_names says. */
typedef struct ms_nt_abbrev {
    const uint8_t *pairs; /* what its fields are: index and form, until 0 and 0; NULL: there is none */
    uint64_t size;        /* of all fields; UINT64_MAX: not the same in all entries */
    bool is_function;
} ms_nt_abbrev;

/* Where a table of names has its parts. */
typedef struct ms_nt {
    ms_span section;
    ms_span str;        /* texts that names are compared with */
    uint32_t buckets;   /* how many there are */
    uint32_t names;     /* of .debug_names: how many names; of .apple_names: how many hashes */
    uint64_t bucket_at; /* where the parts begin */
    uint64_t hash_at;
    uint64_t str_at; /* of .debug_names only */
    uint64_t entry_at;
    uint64_t units_at; /* of .debug_names: offsets of units */
    uint32_t units;
    uint64_t pool_at; /* of .debug_names: what entries count from */
    uint64_t base;    /* of .apple_names: what offsets count from */
    uint32_t atoms;
    uint16_t atom_types[ms_NT_ATOMS];
    uint16_t atom_forms[ms_NT_ATOMS];
    ms_span pairs; /* of .debug_names: the table of abbreviations */
    ms_nt_abbrev abbrevs[ms_NT_CODES];
    bool is_apple;
} ms_nt;

/* Entries that were found: offsets in .debug_info. */
typedef struct ms_nt_found {
    uint64_t v[MACHSYM_MAX_NAMESAKES];
    size_t count;
    bool is_unsure; /* more may be there, or the table is damaged where it was read */
} ms_nt_found;

/* ---- Where the parts are ---- */

/* Bytes of a field of an entry of .debug_names; UINT64_MAX: its form does not tell. */
static uint64_t ms_nt_field_size(uint64_t form)
{
    switch (form) {
    case ms_DW_FORM_flag_present: return 0;
    case ms_DW_FORM_data1:
    case ms_DW_FORM_ref1: return 1;
    case ms_DW_FORM_data2:
    case ms_DW_FORM_ref2: return 2;
    case ms_DW_FORM_data4:
    case ms_DW_FORM_ref4: return 4;
    case ms_DW_FORM_data8:
    case ms_DW_FORM_ref8:
    case ms_DW_FORM_ref_sig8: return 8;
    default: return UINT64_MAX;
    }
}

/* Reads the abbreviations. Returns false when one of them cannot be known. */
static bool ms_nt_read_abbrevs(ms_nt *t)
{
    ms_rd rd = ms_rd_make(t->pairs);
    for (uint64_t code = ms_rd_uleb(&rd); code != 0; code = ms_rd_uleb(&rd)) {
        uint64_t tag = ms_rd_uleb(&rd);
        if (code >= ms_NT_CODES || t->abbrevs[code].pairs != NULL || rd.failed)
            return false;
        t->abbrevs[code].pairs = rd.p;
        t->abbrevs[code].is_function = tag == ms_DW_TAG_subprogram;
        uint64_t index;
        uint64_t size = 0;
        do {
            index = ms_rd_uleb(&rd);
            uint64_t form = ms_rd_uleb(&rd);
            if (rd.failed || (index == 0) != (form == 0))
                return false;
            uint64_t field = index != 0 ? ms_nt_field_size(form) : 0;
            size = size == UINT64_MAX || field == UINT64_MAX ? UINT64_MAX : size + field;
        } while (index != 0);
        t->abbrevs[code].size = size;
    }
    return !rd.failed;
}

/* DWARF5 6.1.1.4.1. One table of 32-bit DWARF is read, as dsymutil writes it: the section's first. */
static bool ms_nt_open_names(ms_nt *t)
{
    ms_rd rd = ms_rd_make(t->section);
    uint64_t len = ms_rd_u32(&rd);
    bool is_5 = ms_rd_u16(&rd) == 5;
    ms_rd_u16(&rd); /* padding */
    t->units = ms_rd_u32(&rd);
    uint64_t types = ms_rd_u32(&rd);
    uint64_t foreign = ms_rd_u32(&rd);
    t->buckets = ms_rd_u32(&rd);
    t->names = ms_rd_u32(&rd);
    uint64_t abbrev_size = ms_rd_u32(&rd);
    uint64_t augmentation = ms_rd_u32(&rd);
    t->units_at = ms_rd_offset(&rd) + ((augmentation + 3) & ~(uint64_t)3);
    t->bucket_at = t->units_at + 4 * (t->units + types) + 8 * foreign;
    t->hash_at = t->bucket_at + 4 * (uint64_t)t->buckets;
    t->str_at = t->hash_at + 4 * (uint64_t)t->names;
    t->entry_at = t->str_at + 4 * (uint64_t)t->names;
    uint64_t abbrev_at = t->entry_at + 4 * (uint64_t)t->names;
    t->pool_at = abbrev_at + abbrev_size;
    if (rd.failed || !is_5 || t->buckets == 0 || len > t->section.len - 4 || t->pool_at > len + 4)
        return false;
    t->section.len = (size_t)len + 4;
    t->pairs = ms_span_sub(t->section, abbrev_at, abbrev_size);
    return ms_nt_read_abbrevs(t);
}

/* Bytes of a field of .apple_names; 0: its form is not known. */
static unsigned ms_nt_atom_size(uint16_t form)
{
    switch (form) {
    case ms_DW_FORM_data1: return 1;
    case ms_DW_FORM_data2: return 2;
    case ms_DW_FORM_data4: return 4;
    case ms_DW_FORM_data8: return 8;
    default: return 0;
    }
}

static bool ms_nt_open_apple(ms_nt *t)
{
    ms_rd rd = ms_rd_make(t->section);
    bool is_known = ms_rd_u32(&rd) == ms_NT_APPLE_MAGIC;
    is_known = ms_rd_u16(&rd) == 1 && is_known;
    is_known = ms_rd_u16(&rd) == 0 && is_known; /* the hash of Daniel J. Bernstein */
    t->buckets = ms_rd_u32(&rd);
    t->names = ms_rd_u32(&rd);
    uint64_t head = ms_rd_u32(&rd);
    t->bucket_at = ms_rd_offset(&rd) + head;
    t->base = ms_rd_u32(&rd);
    t->atoms = ms_rd_u32(&rd);
    if (rd.failed || !is_known || t->buckets == 0 || t->atoms == 0 || t->atoms > ms_NT_ATOMS)
        return false;
    bool has_offset = false;
    for (uint32_t i = 0; i < t->atoms; i++) {
        t->atom_types[i] = ms_rd_u16(&rd);
        t->atom_forms[i] = ms_rd_u16(&rd);
        has_offset |= t->atom_types[i] == ms_DW_ATOM_die_offset;
        if (ms_nt_atom_size(t->atom_forms[i]) == 0)
            return false;
    }
    t->hash_at = t->bucket_at + 4 * (uint64_t)t->buckets;
    t->entry_at = t->hash_at + 4 * (uint64_t)t->names;
    t->is_apple = true;
    return !rd.failed && has_offset && t->entry_at + 4 * (uint64_t)t->names <= t->section.len;
}

/* Opens the table of names that the debug info has. Returns false when it has none, or one that cannot be
 * read. */
static bool ms_nt_open(const ms_dw *dw, ms_nt *t)
{
    ms_zero(t, sizeof *t);
    t->str = dw->str;
    t->section = dw->names.len != 0 ? dw->names : dw->apple_names;
    if (t->section.len < 4)
        return false;
    return dw->names.len != 0 ? ms_nt_open_names(t) : ms_nt_open_apple(t);
}

/* Number index of a part that was found to be there. */
static inline uint32_t ms_nt_number(const ms_nt *t, uint64_t at, uint32_t index)
{
    return ms_rd_raw_u32(t->section.ptr + at + 4 * (uint64_t)index);
}

/* ---- Entries ---- */

/* The number of a field of an entry of .debug_names; a form that is not known fails rd. */
static uint64_t ms_nt_field(ms_rd *rd, uint64_t form)
{
    switch (form) {
    case ms_DW_FORM_flag_present: return 1;
    case ms_DW_FORM_data1:
    case ms_DW_FORM_ref1: return ms_rd_u8(rd);
    case ms_DW_FORM_data2:
    case ms_DW_FORM_ref2: return ms_rd_u16(rd);
    case ms_DW_FORM_data4:
    case ms_DW_FORM_ref4: return ms_rd_u32(rd);
    case ms_DW_FORM_data8:
    case ms_DW_FORM_ref8:
    case ms_DW_FORM_ref_sig8: return ms_rd_u64(rd);
    case ms_DW_FORM_udata:
    case ms_DW_FORM_ref_udata: return ms_rd_uleb(rd);
    default: ms_rd_fail(rd); return 0;
    }
}

/* Reads one entry of .debug_names. Returns false at the end of a name's entries, or at damage, which fails
 * rd. *off is where the entry stands in .debug_info if it is a function; else UINT64_MAX. */
static bool ms_nt_next_name(const ms_nt *t, ms_rd *rd, uint64_t *off)
{
    uint64_t code = ms_rd_uleb(rd);
    uint64_t unit = 0;
    uint64_t die = 0;
    bool has_die = false;
    bool is_type = false;
    if (rd->failed || code == 0)
        return false;
    if (code >= ms_NT_CODES || t->abbrevs[code].pairs == NULL) {
        ms_rd_fail(rd);
        return false;
    }
    *off = UINT64_MAX;
    if (!t->abbrevs[code].is_function && t->abbrevs[code].size != UINT64_MAX) { /* most are inlined calls */
        ms_rd_skip(rd, t->abbrevs[code].size);
        return !rd->failed;
    }
    const uint8_t *p = t->abbrevs[code].pairs;
    ms_rd pairs = ms_rd_make(ms_span_make(p, (size_t)(t->pairs.ptr + t->pairs.len - p)));
    for (uint64_t index = ms_rd_uleb(&pairs); index != 0 && !rd->failed; index = ms_rd_uleb(&pairs)) {
        uint64_t value = ms_nt_field(rd, ms_rd_uleb(&pairs));
        MACHSYM_COUNT_WORK(1);
        unit = index == ms_DW_IDX_compile_unit ? value : unit;
        die = index == ms_DW_IDX_die_offset ? value : die;
        has_die |= index == ms_DW_IDX_die_offset;
        is_type |= index == ms_DW_IDX_type_unit;
    }
    if (!rd->failed && t->abbrevs[code].is_function && has_die && !is_type && unit < t->units)
        *off = ms_nt_number(t, t->units_at, (uint32_t)unit) + die;
    return !rd->failed;
}

/* Reads the offset of one entry of .apple_names. */
static uint64_t ms_nt_read_atoms(const ms_nt *t, ms_rd *rd)
{
    uint64_t off = 0;
    for (uint32_t i = 0; i < t->atoms; i++) {
        uint64_t value = ms_rd_uint(rd, ms_nt_atom_size(t->atom_forms[i]));
        off = t->atom_types[i] == ms_DW_ATOM_die_offset ? t->base + value : off;
    }
    MACHSYM_COUNT_WORK(1);
    return off;
}

/* ---- One name ---- */

static uint32_t ms_nt_hash(machsym_str name, bool folds)
{
    uint32_t hash = 5381;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = (uint8_t)name.ptr[i];
        hash = hash * 33 + (folds && c >= 'A' && c <= 'Z' ? c + 32u : c);
    }
    return hash;
}

/* Adds an entry if it stands from lo to below hi. */
static void ms_nt_add(ms_nt_found *found, uint64_t off, uint64_t lo, uint64_t hi)
{
    if (off < lo || off >= hi)
        return;
    if (found->count == MACHSYM_MAX_NAMESAKES)
        found->is_unsure = true;
    else
        found->v[found->count++] = off;
}

static bool ms_nt_is_name(const ms_nt *t, uint64_t off, machsym_str name)
{
    ms_span rest = ms_span_from(t->str, off);
    return rest.len > name.len && rest.ptr[name.len] == 0 && ms_equal(rest.ptr, name.ptr, name.len);
}

/* Adds the functions that name number index of .debug_names has. */
static void ms_nt_take_name(const ms_nt *t, uint32_t index, uint64_t lo, uint64_t hi, unsigned *left,
                            ms_nt_found *found)
{
    uint64_t off;
    ms_rd rd = ms_rd_at(t->section, t->pool_at + ms_nt_number(t, t->entry_at, index));
    while (ms_nt_next_name(t, &rd, &off)) {
        if (*left == 0) {
            found->is_unsure = true;
            return;
        }
        --*left;
        ms_nt_add(found, off, lo, hi);
    }
    found->is_unsure |= rd.failed;
}

/* The same of a hash of .apple_names: it has several names. */
static void ms_nt_take_hash(const ms_nt *t, uint32_t index, machsym_str name, uint64_t lo, uint64_t hi,
                            unsigned *left, ms_nt_found *found)
{
    ms_rd rd = ms_rd_at(t->section, ms_nt_number(t, t->entry_at, index));
    for (uint64_t str = ms_rd_u32(&rd); str != 0 && !rd.failed; str = ms_rd_u32(&rd)) {
        bool is_name = ms_nt_is_name(t, str, name);
        for (uint32_t count = ms_rd_u32(&rd); count > 0 && !rd.failed; count--) {
            uint64_t off = ms_nt_read_atoms(t, &rd);
            if (*left == 0) {
                found->is_unsure = true;
                return;
            }
            --*left;
            if (is_name)
                ms_nt_add(found, off, lo, hi);
        }
    }
    found->is_unsure |= rd.failed;
}

/* Finds the entries of a name that stand from lo to below hi in .debug_info. Of .debug_names they are those
 * of functions; .apple_names has others, too. */
static void ms_nt_find(const ms_nt *t, machsym_str name, uint64_t lo, uint64_t hi, ms_nt_found *found)
{
    uint32_t hash = ms_nt_hash(name, !t->is_apple);
    uint32_t bucket = hash % t->buckets;
    uint32_t at = ms_nt_number(t, t->bucket_at, bucket);
    unsigned left = MACHSYM_MAX_NAME_ENTRIES;
    unsigned hashes = MACHSYM_MAX_NAME_ENTRIES;
    ms_zero(found, sizeof *found);
    for (size_t i = 0; i < name.len; i++)
        found->is_unsure |= (uint8_t)name.ptr[i] >= 0x80; /* is folded by the rules of Unicode */
    if (!t->is_apple && at-- == 0)
        return;
    for (; at < t->names && !found->is_unsure; at++) {
        uint32_t other = ms_nt_number(t, t->hash_at, at);
        MACHSYM_COUNT_WORK(1);
        if (other % t->buckets != bucket)
            return;
        if (hashes-- == 0)
            found->is_unsure = true;
        else if (other != hash)
            continue;
        else if (t->is_apple)
            ms_nt_take_hash(t, at, name, lo, hi, &left, found);
        else if (ms_nt_is_name(t, ms_nt_number(t, t->str_at, at), name))
            ms_nt_take_name(t, at, lo, hi, &left, found);
    }
}

/* ---- All names ---- */

/* Offsets in .debug_info. */
typedef struct ms_nt_list {
    ms_arena *arena;
    ms_key *v; /* sorted; each may be there several times */
    size_t count;
    size_t cap;
    bool is_short; /* the table has more than a sound one of its size: not all are there */
} ms_nt_list;

static void ms_nt_put(ms_nt_list *list, uint64_t off)
{
    ms_key *v = (ms_key *)ms_arena_grow(list->arena, list->v, list->count, &list->cap, sizeof *v);
    if (v == NULL)
        return;
    list->v = v;
    v[list->count].key = off;
    v[list->count++].item = 0;
}

/* Adds all entries of a name or hash. *left is how many bytes may still be read. */
static void ms_nt_put_all(const ms_nt *t, uint32_t index, uint64_t *left, ms_nt_list *list)
{
    uint64_t off;
    ms_rd rd = ms_rd_at(t->section, t->pool_at + ms_nt_number(t, t->entry_at, index));
    rd.end = ms_rd_left(&rd) > *left ? rd.p + *left : rd.end;
    const uint8_t *from = rd.p;
    if (!t->is_apple) {
        while (ms_nt_next_name(t, &rd, &off)) {
            if (off != UINT64_MAX)
                ms_nt_put(list, off);
        }
    } else {
        for (uint64_t str = ms_rd_u32(&rd); str != 0 && !rd.failed; str = ms_rd_u32(&rd)) {
            for (uint32_t count = ms_rd_u32(&rd); count > 0 && !rd.failed; count--)
                ms_nt_put(list, ms_nt_read_atoms(t, &rd));
        }
    }
    *left -= (uint64_t)(rd.p - from);
    list->is_short |= *left == 0;
}

/* Lists where all entries stand that a lookup may find, in an order. In a sound table no two names have the
 * same bytes; in another one no more are read than the section has, twice. Returns false when memory is
 * out. */
static bool ms_nt_list_all(const ms_nt *t, ms_arena *scratch, ms_nt_list *list)
{
    uint64_t left = 2 * (uint64_t)t->section.len;
    for (uint32_t i = 0; i < t->names && !list->is_short && !list->arena->oom; i++)
        ms_nt_put_all(t, i, &left, list);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, list->count, sizeof *room);
    if (room == NULL || list->arena->oom)
        return false;
    ms_sort(list->v, list->count, room);
    return true;
}

#endif /* ms_ROOM_dwarf_nametable */
