#ifndef ms_ROOM_dwarf_units
#define ms_ROOM_dwarf_units
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "forms.h"

/* ==== >>units ==============================================================================================
 * Job:    finds the unit that covers an address, by headers, root entries or .debug_aranges.
 * Offers: ms_cu_index, ms_cu_from_offset, ms_cu_number_of, ms_cu_root_of, ms_cu_text, ms_cu_by_aranges,
 *         ms_cu_by_ranges.
 * Never:  reads past a root entry; does arithmetic on the offsets in .debug_aranges. */

/* DWARF5 7.5.1 */
enum {
    ms_DW_UT_type = 0x02,
    ms_DW_UT_skeleton = 0x04,
    ms_DW_UT_split_compile = 0x05,
    ms_DW_UT_split_type = 0x06
};

/* A unit header. */
typedef struct ms_cu {
    uint64_t off; /* of the header in .debug_info */
    uint64_t end; /* first byte past the unit */
    uint64_t abbrev_off;
    uint32_t root; /* header size: where the root entry begins, from off */
    uint16_t version;
    uint8_t addr_size;
    uint8_t offset_size;
    uint8_t unit_type; /* DWARF 5; 0 before */
    bool is_whole;     /* its length has room for the header, and does not lead out of the section */
    bool is_damaged;   /* a version or size that cannot be read; the unit is left out */
} ms_cu;

/* A unit's root entry, read. */
typedef struct ms_cu_root {
    ms_dw_enc enc;
    const ms_dw_abbrevs *abbrevs;
    uint64_t off;         /* of the entry in .debug_info */
    uint64_t first_child; /* the same of its first child; enc.unit_end when there is none */
    uint16_t tag;         /* 0: there is no entry */
    bool has_line;
    uint64_t line_off;  /* DW_AT_stmt_list */
    ms_dw_value ranges; /* what it states of its code */
    ms_dw_value low_pc;
    ms_dw_value high_pc;
} ms_cu_root;

enum {
    ms_CLAIM_ARANGES = 1,      /* .debug_aranges has a set of the unit */
    ms_CLAIM_LOST_ARANGES = 2, /* and gives some of its code to another one */
    ms_CLAIM_RANGES = 4,       /* the unit states its ranges */
    ms_CLAIM_LOST_RANGES = 8,  /* and another one states some of them before */
    ms_CLAIM_DAMAGED = 16      /* its functions were asked which code they have, and are damaged */
};

/* The units of one program, and what has been decoded of their frames so far. */
typedef struct ms_cu_env {
    ms_dw *dw;
    const ms_cu *v;
    size_t count;
    ms_cu *brief;     /* v where units are found one by one, ms_CU_BRIEF at most; NULL: v lists all of them */
    bool lacks_units; /* one was asked for that could not be found so */
    bool meets_few;   /* of the kinds of entries: they are made when they are met, as where brief is set */
    ms_arena *arena;  /* for the tables and roots */
    ms_dw_abbrevs *first_table; /* the table that begins .debug_abbrev: of all encodings */
    ms_key *table_offs;         /* where the others begin: sorted, each once; item: bits of encodings */
    size_t table_count;
    ms_dw_abbrevs **tables; /* by number in table_offs: of all encodings */
    ms_cu_root **roots;     /* by unit; NULL: not read yet */
    ms_key *programs;       /* line programs: offset, unit; NULL: not listed yet */
    uint64_t *program_ends; /* where in .debug_line each is taken to end */
    size_t program_count;
    uint8_t *claims; /* by unit: ms_CLAIM_* as far as tables of claims have been made; NULL: memory is out */
    ms_arena *scratch; /* reset whenever a table of claims is made */
    ms_segs aranges;   /* what .debug_aranges says, once has_aranges */
    ms_segs ranges;    /* what the roots say, once has_ranges */
    bool has_aranges;
    bool has_ranges;
    size_t named;         /* unit of the entry that was read last for a name: any number is valid */
    uint32_t scans;       /* lookups that have scanned .debug_aranges */
    uint32_t range_scans; /* and those that have asked all roots */
} ms_cu_env;

/* ---- Headers ---- */

enum { ms_CU_HEADER = 48 }; /* no header is longer */

/* Reads the header at off from its first bytes, ms_CU_HEADER or as many as the left ones. Returns false when
 * not even its length is there. */
static bool ms_cu_read_header(ms_span first, uint64_t off, uint64_t left, ms_cu *cu)
{
    ms_rd rd = ms_rd_make(first);
    MACHSYM_COUNT_WORK(1);
    ms_zero(cu, sizeof *cu);
    cu->off = off;
    cu->offset_size = 4;
    uint64_t len = ms_rd_u32(&rd);
    bool is_reserved = len >= 0xfffffff0 && len != 0xffffffff; /* DWARF5 7.2.2 */
    if (len == 0xffffffff) {
        cu->offset_size = 8;
        len = ms_rd_u64(&rd);
    }
    if (rd.failed)
        return false;
    left -= ms_rd_offset(&rd);
    cu->end = off + ms_rd_offset(&rd) + (len <= left ? len : left);
    cu->version = ms_rd_u16(&rd);
    if (cu->version >= 5) {
        cu->unit_type = ms_rd_u8(&rd);
        cu->addr_size = ms_rd_u8(&rd);
        cu->abbrev_off = ms_rd_uint(&rd, cu->offset_size);
        if (cu->unit_type == ms_DW_UT_skeleton || cu->unit_type == ms_DW_UT_split_compile)
            ms_rd_skip(&rd, 8);
        if (cu->unit_type == ms_DW_UT_type || cu->unit_type == ms_DW_UT_split_type)
            ms_rd_skip(&rd, 8 + (uint64_t)cu->offset_size);
    } else {
        cu->abbrev_off = ms_rd_uint(&rd, cu->offset_size);
        cu->addr_size = ms_rd_u8(&rd);
    }
    cu->root = (uint32_t)ms_rd_offset(&rd);
    cu->is_whole = !is_reserved && len <= left && cu->end - off >= cu->root;
    cu->is_damaged =
        rd.failed || cu->version < 2 || cu->version > 5 || (cu->addr_size != 4 && cu->addr_size != 8);
    return true;
}

/* If units have fewer bytes than this, on average over the section's sets or the units so far, their headers
 * are read in place: the first touch of a page brings sixteen, and so eight headers or more, where a copy for
 * each costs three times as much. */
enum { ms_CU_NEAR = 8192 };

/* Copies bytes of .debug_info without touching the memory that holds them. Headers lie far apart, and in a
 * file that is mapped the first touch of a page costs several times as much as a copy. */
typedef struct ms_cu_peeker {
    bool (*copy)(const void *source, const void *at, void *out, size_t len); /* false: not possible */
    const void *source;
} ms_cu_peeker;

/* The first bytes of a unit, by way of peeker unless it is NULL. */
static ms_span ms_cu_peek(const ms_dw *dw, const ms_cu_peeker *peeker, uint64_t off, uint8_t *room)
{
    ms_span first = ms_span_from(dw->info, off);
    first.len = first.len < ms_CU_HEADER ? first.len : (size_t)ms_CU_HEADER;
    if (peeker != NULL && peeker->copy(peeker->source, first.ptr, room, first.len))
        first.ptr = room;
    return first;
}

/* Reads the header at off. Returns false at the section's end, and where not even a length is left. */
static bool ms_cu_header_at(const ms_dw *dw, const ms_cu_peeker *peeker, uint64_t off, ms_cu *cu)
{
    uint8_t room[ms_CU_HEADER];
    return off < dw->info.len &&
           ms_cu_read_header(ms_cu_peek(dw, peeker, off, room), off, dw->info.len - off, cu);
}

/* ---- Where a unit ends when its length is damaged ---- */

/* How many fields of a header, apart from its length, cannot be right. Random bytes have no wrong field at
 * most once in 10^7 times. If the version is wrong, the other fields cannot be judged. */
static unsigned ms_cu_wrong_fields(const ms_dw *dw, const ms_cu *cu)
{
    if (cu->version < 2 || cu->version > 5)
        return 1;
    bool is_type = cu->version != 5 || (cu->unit_type >= 1 && cu->unit_type <= 6) || cu->unit_type >= 0x80;
    bool is_size = cu->addr_size == 4 || cu->addr_size == 8;
    return (is_size ? 0u : 1u) + (is_type ? 0u : 1u) + (cu->abbrev_off < dw->abbrev.len ? 0u : 1u);
}

/* Whether a unit begins where this header was read. A header with one wrong field counts if its length
 * leads to a right header, because damage hits one field. */
static bool ms_cu_is_header(const ms_dw *dw, const ms_cu *at)
{
    ms_cu cu;
    for (unsigned links = MACHSYM_MAX_UNIT_LINKS; links > 0; links--) {
        unsigned wrong = ms_cu_wrong_fields(dw, at);
        if (wrong == 0)
            return true;
        if (wrong > 1 || !at->is_whole)
            return false;
        if (at->end == dw->info.len)
            return true;
        if (!ms_cu_header_at(dw, NULL, at->end, &cu))
            return false;
        at = &cu;
    }
    return false;
}

/* Whether a unit begins at an offset that nothing leads to: its header is right in all its fields, and its
 * length leads to the next one or to the section's end. */
static bool ms_cu_begins_at(const ms_dw *dw, uint64_t off, ms_cu *cu)
{
    ms_cu next;
    if (!ms_cu_header_at(dw, NULL, off, cu) || !cu->is_whole || ms_cu_wrong_fields(dw, cu) != 0)
        return false;
    return cu->end == dw->info.len ||
           (ms_cu_header_at(dw, NULL, cu->end, &next) && ms_cu_is_header(dw, &next));
}

/* The first unit that begins after an offset; the section's end when there is none. */
static uint64_t ms_cu_search(const ms_dw *dw, uint64_t off)
{
    ms_cu cu;
    for (; dw->info.len - off > 6; off++) {
        const uint8_t *p = dw->info.ptr + off;
        MACHSYM_COUNT_WORK(1);
        if (ms_rd_raw_u16(p + 4) - 2u > 3 && ms_rd_raw_u32(p) != 0xffffffff)
            continue; /* no version from 2 to 5 */
        if (ms_cu_begins_at(dw, off, &cu))
            return off;
    }
    return dw->info.len;
}

/* ---- What .debug_aranges states ---- */

/* A set of .debug_aranges: its tuples, and the unit that they belong to. */
typedef struct ms_cu_set {
    ms_rd tuples;
    uint64_t info_off; /* of the unit's header; some producers give the root entry's */
    uint8_t addr_size;
} ms_cu_set;

/* Reads the set at rd, and moves rd to the next. DWARF5 6.1.2; tuples are aligned from the set's start. */
static bool ms_cu_next_set(ms_rd *rd, ms_cu_set *set)
{
    uint8_t offset_size = 4;
    const uint8_t *start = rd->p;
    uint64_t len = ms_rd_u32(rd);
    if (len == 0xffffffff) {
        offset_size = 8;
        len = ms_rd_u64(rd);
    }
    if (rd->failed || len == 0)
        return false;
    ms_rd body = ms_rd_make(ms_rd_span(rd, len <= ms_rd_left(rd) ? len : ms_rd_left(rd)));
    ms_rd_u16(&body); /* version: always 2 */
    set->info_off = ms_rd_uint(&body, offset_size);
    set->addr_size = ms_rd_u8(&body);
    ms_rd_u8(&body); /* segment selector size: 0 */
    if (set->addr_size != 4 && set->addr_size != 8)
        ms_rd_fail(&body);
    else if ((size_t)(body.p - start) % (2u * set->addr_size) != 0)
        ms_rd_skip(&body, 2u * set->addr_size - (size_t)(body.p - start) % (2u * set->addr_size));
    set->tuples = body;
    return true;
}

static bool ms_cu_next_tuple(ms_cu_set *set, ms_range *range)
{
    const size_t size = set->addr_size;
    if (set->tuples.failed) /* the size is odd */
        return false;
    while (ms_rd_left(&set->tuples) >= 2 * size) {
        const uint8_t *p = set->tuples.p;
        uint64_t len = size == 8 ? ms_rd_raw_u64(p + 8) : ms_rd_raw_u32(p + 4);
        MACHSYM_COUNT_WORK(1);
        range->lo = size == 8 ? ms_rd_raw_u64(p) : ms_rd_raw_u32(p);
        set->tuples.p += 2 * size;
        if (range->lo == 0 && len == 0)
            return false;
        if (len != 0 && ms_add_ok(range->lo, len, &range->hi))
            return true;
    }
    return false;
}

static size_t ms_cu_count_sets(const ms_dw *dw)
{
    ms_cu_set set;
    size_t count = 0;
    for (ms_rd rd = ms_rd_make(dw->aranges); ms_cu_next_set(&rd, &set);)
        count++;
    return count;
}

/* Offsets of .debug_info that sets state, sorted. */
typedef struct ms_cu_stated {
    const ms_key *v;
    size_t count;
    size_t at; /* those before it were passed */
} ms_cu_stated;

/* Lists the offsets that sets state; arrays come from room. */
static ms_cu_stated ms_cu_list_stated(const ms_dw *dw, ms_arena *room)
{
    ms_cu_stated stated = {NULL, 0, 0};
    ms_cu_set set;
    size_t count = ms_cu_count_sets(dw);
    ms_key *v = (ms_key *)ms_arena_alloc(room, count, sizeof *v);
    ms_key *spare = (ms_key *)ms_arena_alloc(room, count, sizeof *v);
    if (v == NULL || spare == NULL)
        return stated;
    for (ms_rd rd = ms_rd_make(dw->aranges); ms_cu_next_set(&rd, &set); stated.count++) {
        v[stated.count].key = set.info_off;
        v[stated.count].item = 0;
    }
    ms_sort(v, count, spare);
    stated.v = v;
    return stated;
}

/* Where a unit ends: at the first unit that begins in it by what sets state, else where its length says. */
static uint64_t ms_cu_cut(const ms_dw *dw, ms_cu_stated *stated, const ms_cu *cu)
{
    ms_cu inner;
    for (; stated->at < stated->count && stated->v[stated->at].key < cu->end; stated->at++) {
        uint64_t off = stated->v[stated->at].key;
        if (off > cu->off && ms_cu_begins_at(dw, off, &inner))
            return off;
    }
    return cu->end;
}

/* ---- The list of units ---- */

typedef struct ms_cu_list {
    ms_arena *arena;
    ms_cu *v;
    size_t count;
    size_t cap;
    ms_damage damage;
} ms_cu_list;

/* Decides where a unit ends, and reads the header there into *next. Returns false when there is none. */
static bool ms_cu_end(const ms_dw *dw, const ms_cu_peeker *peeker, ms_cu_stated *stated, ms_damage *damage,
                      ms_cu *cu, ms_cu *next)
{
    bool more = ms_cu_header_at(dw, peeker, cu->end, next);
    if (!cu->is_whole || (cu->end < dw->info.len && (!more || !ms_cu_is_header(dw, next)))) {
        uint64_t end = ms_cu_search(dw, cu->off + 1);
        more = ms_cu_header_at(dw, NULL, end, next);
        cu->is_damaged = cu->is_damaged || (!cu->is_whole && !more);
        cu->end = end;
        if (!cu->is_whole && !more)
            ms_damage_note_cut(damage, "a unit runs past the end of its section", ".debug_info", cu->off);
        else
            ms_damage_note(damage, "a unit's length leads to no other one", ".debug_info", cu->off);
        return more;
    }
    uint64_t end = ms_cu_cut(dw, stated, cu);
    if (end < cu->end) {
        ms_damage_note(damage, "a unit's length leads past another one", ".debug_info", cu->off);
        cu->end = end;
        return ms_cu_header_at(dw, NULL, end, next);
    }
    if (cu->is_damaged)
        ms_damage_note(damage, "a unit's version or address size cannot be read", ".debug_info", cu->off);
    return more;
}

/* Goes from header to header. */
static void ms_cu_walk(const ms_dw *dw, const ms_cu_peeker *peeker, ms_cu_stated stated, ms_cu_list *list)
{
    ms_cu cu;
    ms_cu next;
    uint64_t average = dw->info.len / (ms_cu_count_sets(dw) + 1);
    list->count = 0;
    ms_zero(&list->damage, sizeof list->damage);
    for (bool more = ms_cu_header_at(dw, peeker, 0, &cu); more; cu = next) {
        bool is_near = average < ms_CU_NEAR || cu.end / (list->count + 1) < ms_CU_NEAR;
        more = ms_cu_end(dw, is_near ? NULL : peeker, &stated, &list->damage, &cu, &next);
        ms_cu *grown = (ms_cu *)ms_arena_grow(list->arena, list->v, list->count, &list->cap, sizeof *list->v);
        if (grown == NULL)
            break;
        list->v = grown;
        list->v[list->count++] = cu;
    }
}

/* Which unit contains an offset of .debug_info, header included; count when none does. */
static size_t ms_cu_from_offset(const ms_cu *v, size_t count, uint64_t off)
{
    size_t next = ms_upper_bound(v, count, sizeof *v, off);
    return next > 0 && off < v[next - 1].end ? next - 1 : count;
}

/* Whether the list has each unit that begins where a set says so. Sets follow the order of units. */
static bool ms_cu_has_stated(const ms_dw *dw, const ms_cu_list *list)
{
    ms_cu_set set;
    ms_cu cu;
    size_t at = 0;
    for (ms_rd rd = ms_rd_make(dw->aranges); ms_cu_next_set(&rd, &set);) {
        size_t next = at + 1;
        if (next >= list->count || list->v[next].off != set.info_off)
            next = ms_cu_from_offset(list->v, list->count, set.info_off);
        at = next < list->count ? next : at;
        if ((next == list->count || list->v[next].off != set.info_off) &&
            ms_cu_begins_at(dw, set.info_off, &cu))
            return false;
    }
    return true;
}

/* Lists the unit headers, by offset. If a unit's length leads nowhere, the unit ends at the next header
 * that is found. What it had swallowed, or had left out, is searched once. No unit reaches over another one
 * that begins where a set of .debug_aranges says: so that unit is told without the headers before it
 * (ms_cu_stated_at). Sound files are walked once, and need no list of what sets state. Returns NULL and
 * *count 0 when there are no units. */
static const ms_cu *ms_cu_index(const ms_dw *dw, const ms_cu_peeker *peeker, ms_arena *arena, size_t *count,
                                ms_damage *damage)
{
    ms_cu_list list;
    ms_cu_stated none = {NULL, 0, 0};
    ms_zero(&list, sizeof list);
    list.arena = arena;
    ms_cu_walk(dw, peeker, none, &list);
    if (!ms_cu_has_stated(dw, &list)) {
        ms_arena room = ms_arena_make(arena->allocator);
        ms_cu_walk(dw, peeker, ms_cu_list_stated(dw, &room), &list);
        ms_arena_admit(arena, room.failed);
        ms_arena_free(&room);
    }
    *damage = list.damage;
    *count = list.count;
    return list.v;
}

/* ---- Units without a list ---- */

/* The unit that contains an offset of .debug_info, as the list of all units has it, by its own header and
 * what sets state. Returns false when those do not tell it: if it begins where a set says, and no set says
 * that another one begins in it, no unit before it can change it. The last unit that is stated has to be
 * there too, as it is not in a section that is cut short. */
static bool ms_cu_stated_at(const ms_dw *dw, uint64_t off, ms_cu *cu)
{
    ms_cu_set set;
    ms_cu other;
    bool is_stated = false;
    uint64_t begin = 0;
    uint64_t next = UINT64_MAX;
    uint64_t last = 0;
    for (ms_rd rd = ms_rd_make(dw->aranges); ms_cu_next_set(&rd, &set);) {
        is_stated = is_stated || set.info_off <= off;
        if (set.info_off > off)
            ms_lower_to(&next, set.info_off);
        else if (set.info_off > begin)
            begin = set.info_off;
        last = set.info_off > last ? set.info_off : last;
    }
    return is_stated && ms_cu_begins_at(dw, begin, cu) && off < cu->end && cu->end <= next &&
           (last == begin || ms_cu_begins_at(dw, last, &other));
}

/* How many units are found one by one. An answer leads to the units of the functions that it names: to few,
 * as a rule. */
enum { ms_CU_BRIEF = 16 };

/* The number of the unit that contains an offset of .debug_info; count when none does, or it is not known.
 * Tables of abbreviations that do not begin their section are cut by the claims of all units. */
static size_t ms_cu_number_of(ms_cu_env *env, uint64_t off)
{
    ms_cu cu;
    size_t number = 0;
    if (ms_SMALL_CODE || env->brief == NULL)
        return ms_cu_from_offset(env->v, env->count, off);
    for (; number < env->count && env->brief[number].end != 0; number++) {
        if (env->brief[number].off <= off && off < env->brief[number].end)
            return number;
    }
    env->lacks_units =
        env->lacks_units || number == env->count || !ms_cu_stated_at(env->dw, off, &cu) || cu.abbrev_off != 0;
    if (env->lacks_units)
        return env->count;
    env->brief[number] = cu;
    return number;
}

/* ---- Root entries ---- */

/* The bit of a unit's encoding. A unit claims an abbreviation table by its offset and this encoding. */
static unsigned ms_cu_encoding_bit(const ms_cu *cu)
{
    return 1u << ms_dw_encoding_of(cu->version, cu->addr_size, cu->offset_size);
}

static unsigned ms_cu_count_bits(uint64_t bits)
{
    unsigned count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* Whether a unit claims a table that the unit before it did not claim. Most have all in common with it. */
static inline bool ms_cu_claims_table(const ms_cu_env *env, size_t i)
{
    const ms_cu *cu = &env->v[i];
    if (cu->abbrev_off == 0)
        return false;
    if (cu->is_damaged || i == 0 || cu[-1].is_damaged || cu->abbrev_off != cu[-1].abbrev_off)
        return !cu->is_damaged;
    bool is_same = cu->version == cu[-1].version && cu->addr_size == cu[-1].addr_size &&
                   cu->offset_size == cu[-1].offset_size;
    return !is_same && ms_cu_encoding_bit(cu) != ms_cu_encoding_bit(&cu[-1]);
}

/* Lists where tables begin, but for the section's first: sorted offsets, each once, with the encodings that
 * claim it. */
static bool ms_cu_list_tables(ms_cu_env *env)
{
    size_t count = 0;
    for (size_t i = 0; i < env->count; i++)
        count += ms_cu_claims_table(env, i);
    ms_key *offs = (ms_key *)ms_arena_alloc(env->arena, count, sizeof *offs);
    ms_key *room = count > 1 ? (ms_key *)ms_arena_alloc(env->arena, count, sizeof *offs) : NULL;
    ms_dw_abbrevs **tables = (ms_dw_abbrevs **)ms_arena_zeroed(env->arena, count, sizeof *tables);
    if (offs == NULL || tables == NULL)
        return false;
    count = 0;
    for (size_t i = 0; i < env->count; i++) {
        if (!ms_cu_claims_table(env, i))
            continue;
        offs[count].key = env->v[i].abbrev_off;
        offs[count++].item = i;
    }
    ms_sort(offs, count, room);
    env->table_count = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned bit = ms_cu_encoding_bit(&env->v[offs[i].item]);
        if (env->table_count > 0 && offs[env->table_count - 1].key == offs[i].key) {
            offs[env->table_count - 1].item |= bit;
            continue;
        }
        offs[env->table_count].key = offs[i].key;
        offs[env->table_count++].item = bit;
    }
    env->tables = tables;
    env->table_offs = offs;
    return true;
}

/* Where .debug_abbrev ends for a table. A table runs to its own 0, unless more than
 * MACHSYM_MAX_ABBREV_CLAIMS others are claimed to begin inside it. The section's first table always does: no
 * file has two of them, and most units of dSYMs have no other. */
static uint64_t ms_cu_table_end(const ms_cu_env *env, size_t number)
{
    unsigned claims = 0;
    for (size_t i = number; i < env->table_count; i++) {
        if (i > number && claims >= MACHSYM_MAX_ABBREV_CLAIMS)
            return env->table_offs[i].key < env->dw->abbrev.len ? env->table_offs[i].key
                                                                : env->dw->abbrev.len;
        claims += ms_cu_count_bits(env->table_offs[i].item);
    }
    return env->dw->abbrev.len;
}

static const ms_dw_abbrevs *ms_cu_abbrevs(ms_cu_env *env, const ms_cu *cu, const ms_dw_enc *enc)
{
    size_t number = 0;
    bool is_first = cu->abbrev_off == 0;
    if (!is_first && env->table_offs == NULL && !ms_cu_list_tables(env))
        return NULL;
    if (!is_first)
        number =
            ms_upper_bound(env->table_offs, env->table_count, sizeof *env->table_offs, cu->abbrev_off) - 1;
    ms_dw_abbrevs **slot = is_first ? &env->first_table : &env->tables[number];
    for (ms_dw_abbrevs *table = *slot; table != NULL; table = table->next) {
        MACHSYM_COUNT_WORK(1);
        if (table->encoding == ms_dw_encoding_of(enc->version, enc->addr_size, enc->offset_size))
            return table;
    }
    ms_dw dw = *env->dw;
    if (!is_first)
        dw.abbrev.len = (size_t)ms_cu_table_end(env, number);
    bool are_few = !ms_SMALL_CODE && is_first && (env->brief != NULL || env->meets_few);
    ms_dw_abbrevs *made = are_few ? ms_dw_abbrevs_later(&dw, enc, cu->abbrev_off, env->arena) : NULL;
    if (made == NULL)
        made = ms_dw_abbrevs_make(&dw, enc, cu->abbrev_off, env->arena);
    if (made == NULL)
        return NULL;
    made->next = *slot;
    *slot = made;
    return made;
}

static uint64_t ms_cu_base(const ms_dw_value *value, uint64_t otherwise)
{
    return value->form != 0 ? value->u : otherwise;
}

/* Reads the bases first, since texts and addresses count from them. A unit without such an attribute uses
 * the section's first table, after its header (DWARF5 7.26 to 7.28). */
static void ms_cu_read_bases(const ms_dw_die *die, ms_dw_enc *enc)
{
    uint64_t head = enc->version >= 5 ? (enc->offset_size == 8 ? 16u : 8u) : 0;
    enc->str_offsets_base = ms_cu_base(ms_dw_get(die, ms_SLOT_STR_OFFSETS_BASE), head);
    enc->addr_base = ms_cu_base(ms_dw_get(die, ms_SLOT_ADDR_BASE), head);
    enc->rnglists_base = ms_cu_base(ms_dw_get(die, ms_SLOT_RNGLISTS_BASE), head == 0 ? 0 : head + 4);
    enc->ranges_base = ms_cu_base(ms_dw_get(die, ms_SLOT_RANGES_BASE), 0);
}

/* Makes sure that sections are there. Returns false when memory is out. */
static bool ms_cu_need(ms_cu_env *env, uint32_t needs)
{
    bool has = ms_dw_need(env->dw, needs);
    ms_arena_admit(env->arena, !has);
    return has;
}

/* The same for what the values of a unit lead to. */
static bool ms_cu_need_values(ms_cu_env *env, const ms_cu_root *root)
{
    uint32_t needs = root->abbrevs->needs;
    if (root->enc.version >= 5 && (needs & ms_NEEDS_RANGES) != 0)
        needs = (needs & ~(uint32_t)ms_NEEDS_RANGES) | ms_NEEDS_RNGLISTS;
    return ms_cu_need(env, needs);
}

/* Reads the entry of a unit at an offset of .debug_info; rd is left where its values end. Returns NULL when
 * there is none, or it cannot be read. */
static const ms_dw_abbrev *ms_cu_entry_at(const ms_dw *dw, const ms_cu_root *root, uint64_t off, ms_rd *rd,
                                          ms_dw_die *die)
{
    *rd = ms_rd_make(ms_span_sub(dw->info, off, root->enc.unit_end - off));
    const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(root->abbrevs, ms_rd_uleb(rd));
    if (abbrev == NULL)
        return NULL;
    ms_dw_read_die(root->abbrevs, abbrev, rd, &root->enc, die);
    return rd->failed ? NULL : abbrev;
}

static bool ms_cu_read_root(ms_cu_env *env, const ms_cu *cu, ms_cu_root *root)
{
    ms_dw_die die;
    ms_zero(root, sizeof *root);
    root->enc.unit_off = cu->off;
    root->enc.unit_end = cu->end;
    root->enc.version = cu->version;
    root->enc.addr_size = cu->addr_size;
    root->enc.offset_size = cu->offset_size;
    root->off = cu->off + cu->root;
    root->first_child = cu->end;
    if (!ms_cu_need(env, ms_NEEDS_UNITS))
        return false;
    ms_rd rd = ms_rd_make(ms_span_sub(env->dw->info, cu->off, cu->end - cu->off));
    ms_rd_skip(&rd, cu->root);
    if (ms_rd_left(&rd) == 0)
        return true; /* seen: Swift 3 dSYMs end in units that are only a header */
    root->abbrevs = ms_cu_abbrevs(env, cu, &root->enc);
    if (root->abbrevs == NULL || !ms_cu_need_values(env, root))
        return false;
    if (ms_rd_uleb(&rd) == 0)
        return !rd.failed;
    const ms_dw_abbrev *abbrev = ms_cu_entry_at(env->dw, root, root->off, &rd, &die);
    if (abbrev == NULL || abbrev->kind != ms_KIND_UNIT)
        return false;
    root->tag = abbrev->tag;
    if (abbrev->has_children)
        root->first_child = root->off + ms_rd_offset(&rd);
    ms_cu_read_bases(&die, &root->enc);
    root->ranges = *ms_dw_get(&die, ms_SLOT_RANGES);
    root->low_pc = *ms_dw_get(&die, ms_SLOT_LOW_PC);
    root->high_pc = *ms_dw_get(&die, ms_SLOT_HIGH_PC);
    const ms_dw_value *base = ms_dw_get(&die, ms_SLOT_LOW_PC);
    if (base->form == 0) /* DWARF3 2.17.3 allows it; seen: libarclite of 2011 */
        base = ms_dw_get(&die, ms_SLOT_ENTRY_PC);
    if (!ms_dw_address(env->dw, &root->enc, base, &root->enc.low_pc))
        root->enc.low_pc = 0;
    root->has_line = ms_dw_get(&die, ms_SLOT_STMT_LIST)->form != 0;
    root->line_off = ms_dw_get(&die, ms_SLOT_STMT_LIST)->u;
    return true;
}

/* A text of a unit's root entry; empty when it has none. It is read when it is asked for: all roots may be
 * read for one address, and their texts lie on pages of their own. */
static machsym_str ms_cu_text(const ms_dw *dw, const ms_cu_root *root, ms_dw_slot slot)
{
    ms_dw_die die;
    ms_rd rd;
    if (root->tag == 0 || ms_cu_entry_at(dw, root, root->off, &rd, &die) == NULL)
        return ms_str_empty();
    return ms_dw_string(dw, &root->enc, ms_dw_get(&die, slot));
}

/* The root entry of a unit; NULL when the unit is damaged or memory is out. Read once. */
static const ms_cu_root *ms_cu_root_of(ms_cu_env *env, size_t index)
{
    if (env->v[index].is_damaged)
        return NULL;
    if (env->roots == NULL) {
        env->roots = (ms_cu_root **)ms_arena_zeroed(env->arena, env->count, sizeof *env->roots);
        if (env->roots == NULL)
            return NULL;
    }
    if (env->roots[index] == NULL) {
        ms_cu_root *root = (ms_cu_root *)ms_arena_alloc(env->arena, 1, sizeof *root);
        if (root == NULL)
            return NULL;
        if (!ms_cu_read_root(env, &env->v[index], root))
            root->enc.version = 0; /* remembered as damaged */
        env->roots[index] = root;
    }
    return env->roots[index]->enc.version == 0 ? NULL : env->roots[index];
}

/* ---- Line programs that units share ---- */

/* Lists which unit runs which line program: for sessions that decode all units. Reads all roots. */
static void ms_cu_list_programs(ms_cu_env *env, ms_arena *scratch)
{
    ms_key *programs = (ms_key *)ms_arena_alloc(env->arena, env->count, sizeof *programs);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, env->count, sizeof *programs);
    if (programs == NULL || room == NULL)
        return;
    for (size_t i = 0; i < env->count; i++) {
        const ms_cu_root *root = ms_cu_root_of(env, i);
        if (root == NULL || !root->has_line)
            continue;
        programs[env->program_count].key = root->line_off;
        programs[env->program_count++].item = i;
    }
    ms_sort(programs, env->program_count, room);
    env->programs = programs;
}

/* A unit's line program among all. */
typedef struct ms_cu_program {
    uint64_t end;    /* where .debug_line ends for it */
    size_t number;   /* the place of its first unit in the list */
    bool is_shared;  /* other units run it too */
    bool is_another; /* the unit is not the first of those */
} ms_cu_program;

/* What is known of a unit's line program. Before the programs are listed, each is taken to run to the end of
 * the section and to belong to one unit. */
static ms_cu_program ms_cu_program_of(const ms_cu_env *env, const ms_cu_root *root, size_t index)
{
    ms_cu_program program = {env->dw->line.len, 0, false, false};
    const ms_key *v = env->programs;
    size_t next = ms_upper_bound(v, env->program_count, sizeof *v, root->line_off);
    size_t first = ms_lower_bound(v, env->program_count, sizeof *v, root->line_off);
    if (first == next)
        return program;
    program.end = env->program_ends[first];
    program.number = first;
    program.is_shared = next - first > 1;
    program.is_another = v[first].item != index;
    return program;
}

/* ---- Which unit covers an address ---- */

/* How many list entries may be read for the ranges of all roots. Roots may share lists. */
static uint64_t ms_cu_range_budget(ms_cu_env *env)
{
    ms_cu_need(env, ms_NEEDS_RANGES | ms_NEEDS_RNGLISTS);
    return env->dw->ranges.len + env->dw->rnglists.len + env->count + env->dw->move_count;
}

/* Reads what a unit's root states of its code. */
static void ms_cu_read_ranges(ms_cu_env *env, size_t index, ms_ranges *list)
{
    const ms_cu_root *root = ms_cu_root_of(env, index);
    list->count = 0;
    if (root == NULL || root->abbrevs == NULL)
        return;
    if (root->ranges.form != 0)
        ms_dw_ranges(env->dw, &root->enc, &root->ranges, list);
    else
        ms_dw_add_low_high(env->dw, &root->enc, &root->low_pc, &root->high_pc, list);
}

/* Where the sets begin. */
static ms_rd ms_cu_sets(ms_cu_env *env)
{
    ms_cu_need(env, ms_NEEDS_ARANGES);
    return ms_rd_make(env->dw->aranges);
}

/* Searches .debug_aranges from its start, for a first, cold lookup. The first set that has an address tells
 * the unit. Returns the unit's number; count when there is none. Lowers *hi to where another unit may be
 * named. */
static size_t ms_cu_scan_aranges(ms_cu_env *env, uint64_t addr, uint64_t *hi)
{
    ms_rd rd = ms_cu_sets(env);
    ms_cu_set set;
    ms_range range;
    while (ms_cu_next_set(&rd, &set)) {
        while (ms_cu_next_tuple(&set, &range)) {
            if (addr < range.lo)
                ms_lower_to(hi, range.lo);
            if (addr < range.lo || addr >= range.hi)
                continue;
            size_t unit = ms_cu_number_of(env, set.info_off);
            if (unit == env->count)
                continue;
            ms_lower_to(hi, range.hi);
            return unit;
        }
    }
    return env->count;
}

/* Which units claim an address, by .debug_aranges or by their own ranges. Returns NULL when memory is out. */
static const bool *ms_cu_claims(ms_cu_env *env, uint64_t addr, ms_arena *room)
{
    bool *claims = (bool *)ms_arena_zeroed(room, env->count, sizeof *claims);
    ms_ranges list = {room, NULL, 0, 0, 0, false};
    ms_rd rd = ms_cu_sets(env);
    ms_cu_set set;
    ms_range range;
    list.budget = ms_cu_range_budget(env);
    while (claims != NULL && ms_cu_next_set(&rd, &set)) {
        size_t unit = ms_cu_from_offset(env->v, env->count, set.info_off);
        while (unit < env->count && ms_cu_next_tuple(&set, &range))
            claims[unit] |= range.lo <= addr && addr < range.hi;
    }
    for (size_t i = 0; claims != NULL && i < env->count; i++) {
        ms_cu_read_ranges(env, i, &list);
        for (size_t j = 0; j < list.count; j++)
            claims[i] |= list.v[j].lo <= addr && addr < list.v[j].hi;
    }
    return claims;
}

typedef struct ms_cu_pieces {
    ms_arena *arena;
    ms_piece *v;
    size_t count;
    size_t cap;
} ms_cu_pieces;

static void ms_cu_add_piece(ms_cu_pieces *pieces, uint64_t lo, uint64_t hi, size_t unit)
{
    if (lo >= hi)
        return;
    ms_piece *v = (ms_piece *)ms_arena_grow(pieces->arena, pieces->v, pieces->count, &pieces->cap, sizeof *v);
    if (v == NULL)
        return;
    pieces->v = v;
    v[pieces->count].lo = lo;
    v[pieces->count].hi = hi;
    v[pieces->count].owner = (uint32_t)unit;
    pieces->count++;
}

/* Makes segments of claims. Where units claim the same code the first unit has it, so it is painted last. */
static void ms_cu_build_segments(ms_cu_pieces *pieces, ms_arena *scratch, ms_segs *out)
{
    for (size_t i = 0, j = pieces->count; i + 1 < j--; i++) {
        ms_piece swap = pieces->v[i];
        pieces->v[i] = pieces->v[j];
        pieces->v[j] = swap;
    }
    ms_seg_build(pieces->v, pieces->count, scratch, out);
}

/* Makes segments of what units claim. For each unit it is remembered whether another unit got some of its
 * code, since that other unit may have no function there. */
static void ms_cu_claim_segments(ms_cu_env *env, ms_cu_pieces *pieces, uint8_t claim, ms_segs *out)
{
    out->arena = env->arena;
    ms_cu_build_segments(pieces, env->scratch, out);
    if (env->claims == NULL)
        env->claims = (uint8_t *)ms_arena_zeroed(env->arena, env->count, sizeof *env->claims);
    for (size_t i = 0; env->claims != NULL && i < pieces->count; i++) {
        const ms_piece *piece = &pieces->v[i];
        uint64_t hi = UINT64_MAX;
        bool is_whole = ms_seg_at(out->v, out->count, piece->lo, &hi) == piece->owner && hi >= piece->hi;
        if (ms_dw_code_at(env->dw, piece->lo) != NULL) /* dead code is claimed by many */
            env->claims[piece->owner] |= (uint8_t)(is_whole ? claim : claim | claim << 1);
    }
}

/* The whole of .debug_aranges as segments: for many lookups. */
static void ms_cu_index_aranges(ms_cu_env *env)
{
    ms_rd rd = ms_cu_sets(env);
    ms_cu_pieces pieces = {env->scratch, NULL, 0, 0};
    ms_cu_set set;
    ms_range range;
    if (env->has_aranges)
        return;
    ms_arena_reset(env->scratch);
    while (ms_cu_next_set(&rd, &set)) {
        size_t unit = ms_cu_from_offset(env->v, env->count, set.info_off);
        while (unit < env->count && ms_cu_next_tuple(&set, &range))
            ms_cu_add_piece(&pieces, range.lo, range.hi, unit);
    }
    ms_cu_claim_segments(env, &pieces, ms_CLAIM_ARANGES, &env->aranges);
    env->has_aranges = true;
}

/* Whether a unit may have code although its root states no range. */
static bool ms_cu_is_silent(const ms_cu_root *root)
{
    return root->ranges.form == 0 && root->high_pc.form == 0 && root->first_child != root->enc.unit_end;
}

/* Whether a unit may have functions where another unit is asked, now that all claims are known. The ranges
 * that units state overlap in many files, because they reach from the first function to the last one. Those
 * of .debug_aranges are exact. */
static bool ms_cu_is_contested(const ms_cu_env *env, size_t index)
{
    unsigned claims = env->claims != NULL ? env->claims[index] : 0;
    return (claims & ms_CLAIM_LOST_ARANGES) != 0 ||
           ((claims & ms_CLAIM_LOST_RANGES) != 0 && (claims & ms_CLAIM_ARANGES) == 0);
}

/* Whether .debug_aranges names every unit whose root states ranges: then those ranges make no unit contested.
 * .debug_aranges must have been indexed. */
static bool ms_cu_are_ranges_named(ms_cu_env *env)
{
    for (size_t i = 0; env->claims != NULL && i < env->count; i++) {
        const ms_cu_root *root = ms_cu_root_of(env, i);
        bool is_stated = root != NULL && (root->ranges.form != 0 || root->high_pc.form != 0);
        if (is_stated && (env->claims[i] & ms_CLAIM_ARANGES) == 0)
            return false;
    }
    return env->claims != NULL;
}

/* What the roots of all units state, as segments. */
static void ms_cu_index_ranges(ms_cu_env *env)
{
    ms_cu_pieces pieces = {env->scratch, NULL, 0, 0};
    ms_ranges list = {env->scratch, NULL, 0, 0, 0, false};
    if (env->has_ranges)
        return;
    ms_arena_reset(env->scratch);
    list.budget = ms_cu_range_budget(env);
    for (size_t i = 0; i < env->count; i++) {
        ms_cu_read_ranges(env, i, &list);
        for (size_t j = 0; j < list.count; j++)
            ms_cu_add_piece(&pieces, list.v[j].lo, list.v[j].hi, i);
    }
    ms_cu_claim_segments(env, &pieces, ms_CLAIM_RANGES, &env->ranges);
    env->has_ranges = true;
}

/* The unit of a table of claims at an address; count: none. Lowers *hi to where another one begins. */
static size_t ms_cu_claimant(const ms_cu_env *env, const ms_segs *claims, uint64_t addr, uint64_t *hi)
{
    uint32_t owner = ms_seg_at(claims->v, claims->count, addr, hi);
    return owner == ms_SEG_NONE ? env->count : owner;
}

/* The unit that .debug_aranges names for an address; count: none. Lowers *hi to where it may name another. */
static size_t ms_cu_by_aranges(ms_cu_env *env, uint64_t addr, uint64_t *hi)
{
    if (env->brief != NULL || (!env->has_aranges && env->scans++ < MACHSYM_SCANS))
        return ms_cu_scan_aranges(env, addr, hi);
    ms_cu_index_aranges(env);
    return ms_cu_claimant(env, &env->aranges, addr, hi);
}

/* Asks the roots of all units, for a first, cold lookup. The first one that states the address has it.
 * Returns the unit's number; count when there is none. Lowers *hi to where another unit may state it. */
static size_t ms_cu_scan_ranges(ms_cu_env *env, uint64_t addr, uint64_t *hi)
{
    ms_ranges list = {env->scratch, NULL, 0, 0, 0, false};
    ms_arena_reset(env->scratch);
    list.budget = ms_cu_range_budget(env);
    for (size_t i = 0; i < env->count; i++) {
        ms_cu_read_ranges(env, i, &list);
        for (size_t j = 0; j < list.count; j++) {
            const ms_range *range = &list.v[j];
            if (addr < range->lo && range->lo < range->hi)
                ms_lower_to(hi, range->lo);
            if (addr < range->lo || addr >= range->hi)
                continue;
            ms_lower_to(hi, range->hi);
            return i;
        }
    }
    return env->count;
}

/* The unit whose root states an address; count: none. Lowers *hi to where that may be another. */
static size_t ms_cu_by_ranges(ms_cu_env *env, uint64_t addr, uint64_t *hi)
{
    if (!env->has_ranges && env->range_scans++ < MACHSYM_SCANS)
        return ms_cu_scan_ranges(env, addr, hi);
    ms_cu_index_ranges(env);
    return ms_cu_claimant(env, &env->ranges, addr, hi);
}

#endif /* ms_ROOM_dwarf_units */
