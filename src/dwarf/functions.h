#ifndef ms_ROOM_dwarf_functions
#define ms_ROOM_dwarf_functions
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "forms.h"
#include "units.h"

/* ==== >>functions ==========================================================================================
 * Job:    reads the functions of a unit with the calls inlined into them.
 * Offers: ms_fn_read, ms_fn_stated_at, ms_fn_read_alone, ms_fn_look_inside, ms_fn_call_at, ms_fn_range_at,
 *         ms_fn_copy_of, ms_fn_names_of.
 * Never:  looks at lines or symbols; answers outside a function's ranges. */

/* A function, or a call inlined into one. */
typedef struct ms_fn_block {
    uint64_t die_off; /* in .debug_info */
    uint64_t origin;  /* the abstract entry in .debug_info; 0: none */
    uint64_t lo;      /* of its first range */
    uint64_t hi;
    const ms_range *ranges; /* when it has several; see ms_fn_range */
    uint32_t range_count;   /* 0: a call without code of its own, around others that have some */
    uint32_t parent;        /* block that it is inlined into; ms_SEG_NONE for a function */
    uint32_t end;           /* first block that does not stand inside this one */
    uint32_t call_file;
    uint32_t call_line;
    uint32_t call_column;
    uint32_t unread; /* of a function: how many calls stand in its entry that are not in this table */
} ms_fn_block;

/* How deep a block stands. */
typedef struct ms_fn_depth {
    uint32_t calls; /* that it is inlined through, with itself; 0: a function */
    uint32_t outer; /* the first of them, which stands in the function itself */
} ms_fn_depth;

/* The functions of a unit, with or without what is inlined into them; or one function with all that is. */
typedef struct ms_fn_table {
    const ms_fn_block *blocks; /* in the order of the entries: callers before what is inlined into them */
    size_t count;
    const ms_seg *segs; /* address to function */
    size_t seg_count;
    const ms_key *copies; /* origin, block: functions that are out-of-line copies of an abstract one */
    size_t copy_count;
    const ms_key *twins; /* first address, block: functions that share their code with others of the unit */
    size_t twin_count;
    uint32_t function_count;
    uint64_t die_count;
    uint64_t left; /* bytes of the unit after its last entry */
    bool is_damaged;
    bool has_wrong_ranges;     /* see ms_ranges */
    bool has_overlaps;         /* ranges of one list share addresses */
    bool has_real_names;       /* those of the debug info: the symbols beside it are made up */
    const ms_fn_depth *depths; /* by block; NULL: none stands deeper than MACHSYM_MAX_INLINE_DEPTH */
    const ms_key *grants;      /* of the unit: call, how long its own list of ranges is; see ms_fn_grant */
    size_t grant_count;
    bool has_grants;   /* they were looked for */
    bool shares_code;  /* functions overlap */
    bool is_alone;     /* one function of the unit, found without the others */
    size_t late_count; /* blocks at the end that a table of names states and the unit's entries do not */
} ms_fn_table;

/* A block that is open, and where it stands. */
typedef struct ms_fn_open {
    uint32_t block;
    uint32_t lists; /* how many lists of entries are open there */
    uint32_t depth; /* how many blocks a call is inlined through; 0: a function */
} ms_fn_open;

/* What an entry says that may have code. */
typedef struct ms_fn_values {
    uint64_t die_off; /* in .debug_info */
    ms_dw_value v[ms_CALL_COUNT];
    bool is_function;
} ms_fn_values;

/* A table as it grows. */
typedef struct ms_fn_walk {
    const ms_dw *dw;
    const ms_cu_root *root;
    ms_arena *arena;     /* for what the table keeps */
    ms_arena *scratch;   /* for the rest */
    ms_fn_block *blocks; /* in room, or in scratch */
    size_t count;
    size_t cap;
    ms_fn_block *room; /* in arena, for a number of blocks; NULL: there is none */
    size_t room_count;
    size_t copy_count;  /* functions that are out-of-line copies */
    ms_fn_open *opened; /* those that are open, innermost last */
    size_t open_count;
    size_t opened_cap;
    ms_piece *pieces; /* of functions */
    size_t piece_count;
    size_t piece_cap;
    ms_ranges list;   /* the ranges of the entry at hand */
    ms_key *order[2]; /* room to sort them */
    ms_range *sorted;
    size_t sorted_cap;
    uint64_t list_from; /* the entry from which on bytes are counted that allow for calls' lists of ranges */
    uint64_t lists[2];  /* list entries read since: of calls; from the start: of functions */
    uint32_t unread;    /* calls passed by, in all */
    uint32_t function_count;
    uint64_t visited;
    uint64_t left;           /* bytes after the end of the root's list of children */
    ms_fn_table *keeper;     /* of grants: the unit's table */
    const ms_fn_table *unit; /* when one function is read: the table that has it and those inside it */
    size_t known;            /* its block there; then the next one */
    bool reads_calls;
    bool made_grants;
    bool is_damaged;
    bool has_overlaps;
    bool is_deep;
    bool met_function;   /* one stands inside the one that is read */
    bool is_open;        /* entries ended before the lists of children did */
    uint64_t most_bytes; /* from the first entry on; 0: all of the unit */
} ms_fn_walk;

static bool ms_fn_add_piece(ms_fn_walk *w, uint64_t lo, uint64_t hi)
{
    ms_piece *v = (ms_piece *)ms_arena_grow(w->scratch, w->pieces, w->piece_count, &w->piece_cap, sizeof *v);
    if (v == NULL)
        return false;
    w->pieces = v;
    v += w->piece_count++;
    v->lo = lo;
    v->hi = hi;
    v->owner = (uint32_t)w->count;
    return true;
}

static inline bool ms_fn_make_room(ms_fn_walk *w)
{
    ms_fn_block *v = (ms_fn_block *)ms_arena_grow(w->scratch, w->blocks, w->count, &w->cap, sizeof *v);
    w->blocks = v != NULL ? v : w->blocks;
    return v != NULL;
}

static inline uint32_t ms_fn_u32(const ms_dw_value *value)
{
    return value->form == 0 || value->u > UINT32_MAX ? 0 : (uint32_t)value->u;
}

/* Room for sorting as many ranges as the list has. Returns false when memory is out. */
static bool ms_fn_make_sort_room(ms_fn_walk *w)
{
    size_t count = w->list.cap;
    if (w->list.count <= w->sorted_cap)
        return true;
    w->order[0] = (ms_key *)ms_arena_alloc(w->scratch, count, sizeof *w->order[0]);
    w->order[1] = (ms_key *)ms_arena_alloc(w->scratch, count, sizeof *w->order[1]);
    w->sorted = (ms_range *)ms_arena_alloc(w->scratch, count, sizeof *w->sorted);
    w->sorted_cap = w->order[0] != NULL && w->order[1] != NULL && w->sorted != NULL ? count : 0;
    return w->sorted_cap != 0;
}

/* Sorts a long list of ranges, and joins those that overlap, so that it can be searched. */
static void ms_fn_sort_ranges(ms_fn_walk *w)
{
    size_t count = w->list.count;
    ms_range *v = w->list.v;
    bool has_room = ms_fn_make_sort_room(w);
    ms_key *order = w->order[0];
    w->list.count = 0;
    if (!has_room)
        return;
    for (size_t i = 0; i < count; i++) {
        order[i].key = v[i].lo;
        order[i].item = i;
    }
    ms_sort(order, count, w->order[1]);
    for (size_t i = 0; i < count; i++)
        w->sorted[i] = v[order[i].item];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const ms_range *next = &w->sorted[i];
        bool overlaps = kept > 0 && next->lo < v[kept - 1].hi;
        w->has_overlaps |= overlaps;
        if (overlaps)
            v[kept - 1].hi = next->hi > v[kept - 1].hi ? next->hi : v[kept - 1].hi;
        else
            v[kept++] = *next;
    }
    w->list.count = kept;
}

/* How many range list entries may be read now. For calls, bytes are counted from their function on: so a
 * function's calls get the same number, whether they are read with the unit or alone. For functions, bytes
 * are counted from the unit on, since they are only read with the unit. */
static uint64_t ms_fn_list_budget(const ms_fn_walk *w, bool is_function, uint64_t die_off)
{
    uint64_t passed = die_off - (is_function ? w->root->enc.unit_off : w->list_from);
    uint64_t budget = MACHSYM_LIST_AHEAD + passed;
    return budget > w->lists[is_function] ? budget - w->lists[is_function] : 0;
}

/* Lists where the calls' lists of ranges begin: one key for each call of the unit that names one. Returns
 * NULL when memory is out. */
static ms_key *ms_fn_list_namers(ms_fn_walk *w, size_t *count)
{
    const ms_dw_enc *enc = &w->root->enc;
    const ms_dw_abbrevs *table = w->root->abbrevs;
    const ms_span unit = ms_span_sub(w->dw->info, enc->unit_off, enc->unit_end - enc->unit_off);
    const uint8_t *p = unit.ptr + (w->root->first_child - enc->unit_off);
    const uint8_t *end = unit.ptr + unit.len;
    size_t cap = 0;
    ms_key *v = (ms_key *)ms_arena_grow(w->scratch, NULL, 0, &cap, sizeof *v);
    *count = 0;
    while (v != NULL && p != NULL && p < end) { /* every entry takes at least a byte */
        ms_dw_die die;
        ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
        uint64_t die_off = (uint64_t)(p - unit.ptr) + enc->unit_off;
        MACHSYM_COUNT_WORK(1);
        uint64_t code = ms_rd_uleb(&rd);
        p = rd.p;
        if (code == 0)
            continue;
        const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(table, code);
        if (abbrev == NULL || !abbrev->has_code || abbrev->kind != ms_KIND_INLINE) {
            p = abbrev != NULL ? ms_dw_skip_die(table, abbrev, p, end, enc) : NULL;
            continue;
        }
        p = ms_dw_read_values(table, abbrev, p, end, enc, &die);
        const ms_dw_value *ranges = p != NULL ? ms_dw_get(&die, ms_SLOT_RANGES) : NULL;
        uint64_t off;
        if (ranges == NULL || ranges->form == 0 || !ms_dw_list_off(w->dw, enc, ranges, &off))
            continue;
        v = (ms_key *)ms_arena_grow(w->scratch, v, *count, &cap, sizeof *v);
        if (v == NULL)
            return NULL;
        v[*count].key = off;
        v[(*count)++].item = die_off;
    }
    return v;
}

/* How many range list entries may be granted in a unit, beside those that its bytes allow for. */
static uint64_t ms_fn_grant_budget(const ms_fn_walk *w)
{
    const ms_dw_enc *enc = &w->root->enc;
    uint64_t entries = enc->version < 5 ? w->dw->ranges.len / (2u * enc->addr_size) : w->dw->rnglists.len / 2;
    uint64_t share = 1 + entries / (w->dw->info.len | 1);
    return MACHSYM_LIST_AHEAD + MACHSYM_LIST_SHARE * share * (enc->unit_end - enc->unit_off);
}

/* Grants each list of ranges of the unit to one call: the first that names it. Only to read the same bytes
 * for several calls multiplies work. A call that names the middle of a list that another one names gets
 * nothing. What is granted depends on the unit alone: a function that is read alone gets the same. */
static void ms_fn_grant(ms_fn_walk *w)
{
    size_t count;
    size_t kept = 0;
    uint64_t end = 0;
    ms_ranges list = {w->scratch, NULL, 0, 0, ms_fn_grant_budget(w), false};
    ms_key *v = ms_fn_list_namers(w, &count);
    ms_key *room = (ms_key *)ms_arena_alloc(w->scratch, count, sizeof *room);
    w->keeper->has_grants = w->made_grants = true;
    if (v == NULL || room == NULL)
        return;
    ms_sort(v, count, room);
    for (size_t i = 0; i < count && list.budget > 0; i++) {
        uint64_t before = list.budget;
        if (v[i].key < end)
            continue;
        list.count = 0;
        bool is_whole = ms_dw_ranges_at(w->dw, &w->root->enc, v[i].key, &list, &end);
        room[kept].key = v[i].item;
        room[kept].item = before - list.budget + 1; /* and the end of the list */
        kept += is_whole;
    }
    ms_sort(room, kept, v); /* no two have the same key */
    w->keeper->grants = room;
    w->keeper->grant_count = kept;
}

/* How many range list entries a call may read for itself alone; 0: none. */
static uint64_t ms_fn_granted(ms_fn_walk *w, uint64_t die_off)
{
    ms_fn_table *keeper = w->keeper;
    if (!keeper->has_grants)
        ms_fn_grant(w);
    size_t at = ms_lower_bound(keeper->grants, keeper->grant_count, sizeof *keeper->grants, die_off);
    return at < keeper->grant_count && keeper->grants[at].key == die_off ? keeper->grants[at].item : 0;
}

/* Moves the grants to where they stay. */
static void ms_fn_keep_grants(const ms_fn_walk *w, ms_arena *arena)
{
    ms_fn_table *keeper = w->keeper;
    if (!w->made_grants)
        return;
    keeper->grants =
        (const ms_key *)ms_arena_keep(arena, keeper->grants, keeper->grant_count, sizeof(ms_key));
    keeper->grant_count = keeper->grants != NULL ? keeper->grant_count : 0;
}

enum { ms_FN_FEW_RANGES = 16 }; /* lists up to this length need not be sorted: they are looked through */

/* Reads an entry's list of ranges. A call's list that is longer than the budget is read all the same, and not
 * counted, if it is the call's own. */
static void ms_fn_read_list(ms_fn_walk *w, const ms_fn_values *entry)
{
    const ms_dw_value *ranges = &entry->v[ms_CALL_RANGES];
    uint64_t budget = w->list.budget = ms_fn_list_budget(w, entry->is_function, entry->die_off);
    w->list.count = 0;
    bool is_whole = ms_dw_ranges(w->dw, &w->root->enc, ranges, &w->list);
    bool is_cut = !is_whole && w->list.budget == 0 && !entry->is_function;
    uint64_t granted = is_cut ? ms_fn_granted(w, entry->die_off) : 0;
    if (granted != 0) {
        w->list.count = 0;
        w->list.budget = granted;
        is_whole = ms_dw_ranges(w->dw, &w->root->enc, ranges, &w->list);
    } else {
        w->lists[entry->is_function] += budget - w->list.budget;
    }
    w->is_damaged |= !is_whole;
}

/* Whether ranges of a short list share addresses. Most lists ascend: then neighbours tell. */
static bool ms_fn_list_overlaps(const ms_ranges *list)
{
    const ms_range *v = list->v;
    size_t i = 1;
    while (i < list->count && v[i - 1].hi <= v[i].lo)
        i++;
    for (; i < list->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (v[i].lo < v[j].hi && v[j].lo < v[i].hi)
                return true;
        }
    }
    return false;
}

/* Puts the ranges of an entry that has a list of them into a block; see ms_fn_keep_ranges. Returns false when
 * it has none, or memory is out. */
static bool ms_fn_set_ranges(ms_fn_walk *w, const ms_fn_values *entry, ms_fn_block *block)
{
    ms_range first = {0, 0};
    ms_fn_read_list(w, entry);
    first = w->list.count > 0 ? w->list.v[0] : first;
    if (w->list.count > ms_FN_FEW_RANGES)
        ms_fn_sort_ranges(w);
    else if (w->list.count > 1)
        w->has_overlaps |= ms_fn_list_overlaps(&w->list);
    first = w->list.count == 1 ? w->list.v[0] : first;
    block->range_count = (uint32_t)w->list.count;
    block->lo = first.lo;
    block->hi = first.hi;
    if (block->range_count > 1)
        block->ranges =
            (const ms_range *)ms_arena_keep(w->scratch, w->list.v, w->list.count, sizeof *w->list.v);
    return block->range_count > 1 ? block->ranges != NULL : block->range_count == 1;
}

/* A block's range by its number. */
static inline ms_range ms_fn_range(const ms_fn_block *block, size_t index)
{
    ms_range range = {block->lo, block->hi};
    return block->range_count > 1 ? block->ranges[index] : range;
}

/* Remembers where a function is, for the search by address. */
static bool ms_fn_add_pieces(ms_fn_walk *w, const ms_fn_block *block)
{
    bool ok = true;
    for (size_t i = 0; i < block->range_count && ok; i++) {
        ms_range range = ms_fn_range(block, i);
        ok = ms_fn_add_piece(w, range.lo, range.hi);
    }
    return ok;
}

/* Finds an entry's code, and puts it into a block. Returns false when it has none, or memory is out. */
static inline bool ms_fn_set_code(ms_fn_walk *w, const ms_fn_values *entry, ms_fn_block *block)
{
    ms_range range;
    block->ranges = NULL;
    if (entry->v[ms_CALL_RANGES].form != 0)
        return ms_fn_set_ranges(w, entry, block);
    if (!ms_dw_low_high(w->dw, &w->root->enc, &entry->v[ms_CALL_LOW_PC], &entry->v[ms_CALL_HIGH_PC], &range))
        return false;
    block->range_count = 1;
    block->lo = range.lo;
    block->hi = range.hi;
    return true;
}

/* How deep a call would stand that begins now; 0 when no function is open. */
static inline uint32_t ms_fn_next_depth(const ms_fn_walk *w)
{
    return w->open_count == 0 ? 0 : w->opened[w->open_count - 1].depth + 1;
}

/* Turns an entry into a block. Returns false when there is nothing to be told of it: a function has no code,
 * or a call neither code nor children. DWARF 2 wants a call with several ranges to state none, and damage may
 * cost them; calls inside it that have code were inlined through it all the same. */
static inline bool ms_fn_add_block(ms_fn_walk *w, const ms_fn_values *entry, bool has_children)
{
    bool is_function = entry->is_function;
    uint32_t depth = ms_fn_next_depth(w);
    if (!ms_fn_make_room(w) || (!is_function && depth == 0))
        return false;
    ms_fn_block *block = &w->blocks[w->count];
    bool has_code = true;
    if (is_function && w->unit != NULL)
        *block = w->unit->blocks[w->known]; /* its list is read with the unit only */
    else
        has_code = ms_fn_set_code(w, entry, block) && (!is_function || ms_fn_add_pieces(w, block));
    if (!has_code && (is_function || !has_children || w->scratch->oom))
        return false;
    if (!has_code) {
        block->lo = block->hi = 0;
        block->ranges = NULL;
        block->range_count = 0;
    }
    block->die_off = entry->die_off;
    block->origin = 0;
    ms_dw_reference(&w->root->enc, &entry->v[ms_CALL_ORIGIN], &block->origin);
    block->parent = is_function ? ms_SEG_NONE : w->opened[w->open_count - 1].block;
    block->end = (uint32_t)w->count + 1;
    block->call_file = ms_fn_u32(&entry->v[ms_CALL_FILE]);
    block->call_line = ms_fn_u32(&entry->v[ms_CALL_LINE]);
    block->call_column = ms_fn_u32(&entry->v[ms_CALL_COLUMN]);
    block->unread = 0;
    w->is_deep |= !is_function && depth > MACHSYM_MAX_INLINE_DEPTH;
    w->function_count += is_function;
    w->copy_count += is_function && block->origin != 0;
    w->count++;
    return true;
}

/* Opens the newest block: what follows stands inside it. lists are open where it stands. */
static inline void ms_fn_open_block(ms_fn_walk *w, uint32_t lists)
{
    ms_fn_open *v =
        (ms_fn_open *)ms_arena_grow(w->scratch, w->opened, w->open_count, &w->opened_cap, sizeof *v);
    ms_fn_block *block = &w->blocks[w->count - 1];
    if (v == NULL)
        return;
    bool is_function = block->parent == ms_SEG_NONE;
    v[w->open_count].depth = is_function ? 0 : ms_fn_next_depth(w);
    v[w->open_count].block = (uint32_t)(w->count - 1);
    v[w->open_count].lists = lists;
    w->opened = v;
    w->open_count++;
    block->unread = w->unread; /* so far; see ms_fn_close_blocks */
}

/* Closes the blocks whose lists of children have ended. A call without code goes if nothing with code stands
 * in it. Returns how many lists are open where the next one
 * closes. */
static uint32_t ms_fn_close_blocks(ms_fn_walk *w, uint32_t lists)
{
    while (w->open_count > 0 && w->opened[w->open_count - 1].lists >= lists) {
        ms_fn_block *block = &w->blocks[w->opened[--w->open_count].block];
        block->end = (uint32_t)w->count;
        block->unread = w->unread - block->unread;
        w->count -= block->range_count == 0 && block->end == w->opened[w->open_count].block + 1;
    }
    return w->open_count == 0 ? 0 : w->opened[w->open_count - 1].lists;
}

/* Reads an entry that may have code; p stands after its code. Returns where its values end; NULL at
 * damage. */
static const uint8_t *ms_fn_read_entry(ms_fn_walk *w, const ms_dw_abbrev *abbrev, const uint8_t *p,
                                       const uint8_t *end, ms_fn_values *entry)
{
    ms_dw_die die;
    p = ms_dw_read_values(w->root->abbrevs, abbrev, p, end, &w->root->enc, &die);
    if (p == NULL)
        return NULL;
    entry->v[ms_CALL_ORIGIN] = *ms_dw_get(&die, ms_SLOT_ORIGIN);
    entry->v[ms_CALL_LOW_PC] = *ms_dw_get(&die, ms_SLOT_LOW_PC);
    entry->v[ms_CALL_HIGH_PC] = *ms_dw_get(&die, ms_SLOT_HIGH_PC);
    entry->v[ms_CALL_RANGES] = *ms_dw_get(&die, ms_SLOT_RANGES);
    entry->v[ms_CALL_FILE] = *ms_dw_get(&die, ms_SLOT_CALL_FILE);
    entry->v[ms_CALL_LINE] = *ms_dw_get(&die, ms_SLOT_CALL_LINE);
    entry->v[ms_CALL_COLUMN] = *ms_dw_get(&die, ms_SLOT_CALL_COLUMN);
    return p;
}

/* The same of a call that has a layout without an index; the bytes that it takes are there. */
static inline const uint8_t *ms_fn_read_call(const ms_dw_abbrevs *table, const ms_dw_abbrev *abbrev,
                                             const uint8_t *p, ms_fn_values *entry)
{
    const ms_dw_layout *layout = &table->layouts[abbrev->layout - 1];
    entry->v[ms_CALL_ORIGIN] = ms_dw_laid_value(layout, p, ms_CALL_ORIGIN); /* a loop takes twice as long */
    entry->v[ms_CALL_LOW_PC] = ms_dw_laid_value(layout, p, ms_CALL_LOW_PC);
    entry->v[ms_CALL_HIGH_PC] = ms_dw_laid_value(layout, p, ms_CALL_HIGH_PC);
    entry->v[ms_CALL_RANGES] = ms_dw_laid_value(layout, p, ms_CALL_RANGES);
    entry->v[ms_CALL_FILE] = ms_dw_laid_value(layout, p, ms_CALL_FILE);
    entry->v[ms_CALL_LINE] = ms_dw_laid_value(layout, p, ms_CALL_LINE);
    entry->v[ms_CALL_COLUMN] = ms_dw_laid_value(layout, p, ms_CALL_COLUMN);
    return p + abbrev->skip_tail;
}

/* The index of a plain call that states one. */
typedef struct ms_fn_index {
    uint64_t number;
    const uint8_t *end; /* where it ends; NULL: it has to be read the long way */
    uint8_t bytes;      /* 0: the call states none */
} ms_fn_index;

static inline ms_fn_index ms_fn_index_of(const ms_dw_layout *layout, const uint8_t *p)
{
    ms_fn_index index = {0, p, 0};
    if (!layout->is_indexed)
        return index;
    p += layout->at[ms_CALL_LOW_PC];
    index.end = ms_dw_raw_uleb(p, &index.number);
    index.bytes = (uint8_t)(index.end != NULL ? index.end - p : 0);
    return index;
}

/* Finds where the code of a plain call begins. Returns false when that is not known. */
static inline bool ms_fn_plain_low(const ms_fn_walk *w, const ms_dw_layout *layout, const ms_fn_index *index,
                                   const uint8_t *p, uint64_t *lo)
{
    if (layout->is_indexed)
        return ms_dw_address_indexed(w->dw, &w->root->enc, index->number, lo);
    *lo = ms_dw_laid_number(layout, p, 0, ms_CALL_LOW_PC);
    return true;
}

/* Takes a call that has a plain layout into the table, as ms_fn_take_entry does, in a third of the time. */
static inline const uint8_t *ms_fn_take_plain(ms_fn_walk *w, const ms_dw_abbrev *abbrev,
                                              const ms_dw_layout *layout, const ms_fn_index *index,
                                              uint64_t die_off, const uint8_t *p, uint32_t lists)
{
    const uint8_t *next = index->end + abbrev->skip_tail;
    const uint8_t moved = index->bytes;
    uint32_t depth = ms_fn_next_depth(w);
    uint64_t lo;
    ms_range range = {0, 0};
    if (depth == 0 || !ms_fn_make_room(w))
        return next;
    bool has_code =
        ms_fn_plain_low(w, layout, index, p, &lo) &&
        ms_dw_code_range(w->dw, lo, lo + ms_dw_laid_number(layout, p, moved, ms_CALL_HIGH_PC), &range);
    if (!has_code && !abbrev->has_children)
        return next;
    ms_fn_block *block = &w->blocks[w->count++];
    block->die_off = die_off;
    block->origin = ms_dw_laid_number(layout, p, moved, ms_CALL_ORIGIN) +
                    (layout->is_in_unit ? w->root->enc.unit_off : 0);
    block->lo = has_code ? range.lo : 0;
    block->hi = has_code ? range.hi : 0;
    block->ranges = NULL;
    block->range_count = has_code;
    block->parent = w->opened[w->open_count - 1].block;
    block->end = (uint32_t)w->count;
    block->call_file = (uint32_t)ms_dw_laid_number(layout, p, moved, ms_CALL_FILE);
    block->call_line = (uint32_t)ms_dw_laid_number(layout, p, moved, ms_CALL_LINE);
    block->call_column = (uint32_t)ms_dw_laid_number(layout, p, moved, ms_CALL_COLUMN);
    block->unread = 0;
    w->is_deep |= depth > MACHSYM_MAX_INLINE_DEPTH;
    if (abbrev->has_children)
        ms_fn_open_block(w, lists);
    return next;
}

/* Takes an entry that may have code into the table, but for a plain call. Returns where its values end; NULL
 * at damage. */
static ms_NOINLINE const uint8_t *ms_fn_take_values(ms_fn_walk *w, const ms_dw_abbrev *abbrev,
                                                    uint64_t die_off, const uint8_t *p, const uint8_t *end,
                                                    uint32_t lists)
{
    ms_fn_values entry;
    bool has_layout = abbrev->layout != 0 && end - p >= ms_DW_LAYOUT_BYTES &&
                      !w->root->abbrevs->layouts[abbrev->layout - 1].is_indexed;
    entry.die_off = die_off;
    entry.is_function = abbrev->kind == ms_KIND_FUNCTION;
    if (has_layout)
        p = ms_fn_read_call(w->root->abbrevs, abbrev, p, &entry);
    else
        p = ms_fn_read_entry(w, abbrev, p, end, &entry);
    if (p == NULL)
        return NULL;
    if (entry.is_function) {
        w->list_from = die_off;
        w->lists[0] = 0;
    }
    if (ms_fn_add_block(w, &entry, abbrev->has_children) && abbrev->has_children)
        ms_fn_open_block(w, lists);
    return p;
}

/* Takes an entry that may have code into the table; die_off is its own offset, p stands after its code.
 * Returns where its values end; NULL at damage. */
static inline const uint8_t *ms_fn_take_entry(ms_fn_walk *w, const ms_dw_abbrev *abbrev, uint64_t die_off,
                                              const uint8_t *p, const uint8_t *end, uint32_t lists)
{
    bool has_layout = !ms_SMALL_CODE && abbrev->layout != 0 && end - p >= ms_DW_LAYOUT_BYTES;
    const ms_dw_layout *layout = has_layout ? &w->root->abbrevs->layouts[abbrev->layout - 1] : NULL;
    if (has_layout && layout->is_plain) {
        ms_fn_index index = ms_fn_index_of(layout, p);
        if (index.end != NULL)
            return ms_fn_take_plain(w, abbrev, layout, &index, die_off, p, lists);
    }
    return ms_fn_take_values(w, abbrev, die_off, p, end, lists);
}

/* Skips a list of entries with all that is inside them. p is where the list begins. Returns where the 0 is
 * that ends it; NULL at damage. */
static const uint8_t *ms_fn_skip_list(const ms_fn_walk *w, const uint8_t *p, const uint8_t *end)
{
    const ms_dw_abbrevs *table = w->root->abbrevs;
    uint64_t depth = 1;
    while (p != NULL && p < end) {
        const uint8_t *die = p;
        ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
        MACHSYM_COUNT_WORK(1);
        uint64_t code = ms_rd_uleb(&rd);
        p = rd.p;
        if (code == 0 && --depth == 0)
            return die;
        if (code == 0)
            continue;
        const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(table, code);
        depth += abbrev != NULL && abbrev->has_children;
        p = abbrev != NULL ? ms_dw_skip_die(table, abbrev, p, end, &w->root->enc) : NULL;
    }
    return p;
}

/* Skips a function inside the one that is read, because it answers for itself. If it has no code, its calls
 * count for the outer function, as when the whole unit is read. Returns where its values end, or its list
 * of children; NULL at damage. */
static const uint8_t *ms_fn_pass_function(ms_fn_walk *w, const ms_dw_abbrev *abbrev, uint64_t die_off,
                                          const uint8_t *p, const uint8_t *end)
{
    const ms_fn_table *unit = w->unit;
    w->met_function = true;
    while (w->known < unit->count && unit->blocks[w->known].die_off < die_off)
        w->known++;
    bool has_code = w->known < unit->count && unit->blocks[w->known].die_off == die_off;
    p = ms_dw_skip_die(w->root->abbrevs, abbrev, p, end, &w->root->enc);
    return p != NULL && has_code && abbrev->has_children ? ms_fn_skip_list(w, p, end) : p;
}

/* Reads or skips an entry the long way; p stands after its code. Returns where its values end; NULL at
 * damage. */
static const uint8_t *ms_fn_take_any(ms_fn_walk *w, const ms_dw_abbrev *abbrev, uint64_t die_off,
                                     const uint8_t *p, const uint8_t *end, uint32_t lists)
{
    bool is_call = abbrev->has_code && abbrev->kind == ms_KIND_INLINE;
    if (abbrev->has_code && !is_call && w->unit != NULL && w->count > 0)
        return ms_fn_pass_function(w, abbrev, die_off, p, end);
    if (abbrev->has_code && (!is_call || w->reads_calls))
        return ms_fn_take_entry(w, abbrev, die_off, p, end, lists);
    w->unread += is_call;
    return ms_dw_skip_die(w->root->abbrevs, abbrev, p, end, &w->root->enc);
}

/* What the walk over a unit's entries counts. */
typedef struct ms_fn_count {
    uint64_t entries; /* seen */
    uint32_t lists;   /* of children that are open */
    uint32_t unread;  /* calls passed by */
} ms_fn_count;

/* Skips entries by their briefs, one after the other: most entries of a unit are types and variables.
 * brief_end is where so few bytes are left that a brief may lead past the end; close is how many lists are
 * open where the innermost block closes. Returns where the first entry begins that must be looked at. */
static inline const uint8_t *ms_fn_skip_briefs(const ms_dw_abbrevs *table, unsigned stops_at,
                                               const uint8_t *p, const uint8_t *brief_end, uint32_t close,
                                               ms_fn_count *count)
{
    const ms_dw_brief *briefs = table->briefs;
    const size_t most = table->brief_count;
    ms_fn_count sum = *count;
    while (p < brief_end) {
        const uint8_t *values = p + 1;
        size_t code = *p;
        if (code >= 0x80)
            code = (code & 0x7f) | (size_t)*values++ << 7;
        if (code > most) /* also a longer code: its second byte makes it too large */
            break;
        const ms_dw_brief *brief = &briefs[code];
        values += brief->skip;
        if (brief->flags != 0) {
            bool ends = (brief->flags & ms_BRIEF_END) != 0;
            if ((brief->flags & stops_at) != 0 || (ends && sum.lists <= close + 1))
                break;
            values = ms_dw_skip_varying(brief, values);
            if (values == NULL)
                break;
            sum.unread += (brief->flags & ms_BRIEF_CALL) != 0;
            sum.lists -= ends;
        }
        MACHSYM_COUNT_WORK(1);
        p = values;
        sum.entries++;
        sum.lists += brief->has_children;
    }
    *count = sum;
    return p;
}

/* Reads the entries from an offset on, in one flat loop. It ends when as many lists of children have ended
 * as were open. Every entry takes at least a byte. */
static void ms_fn_walk_entries(ms_fn_walk *w, uint64_t off, uint32_t lists)
{
    const ms_dw_enc *enc = &w->root->enc;
    const ms_dw_abbrevs *table = w->root->abbrevs;
    const ms_span unit = ms_span_sub(w->dw->info, enc->unit_off, enc->unit_end - enc->unit_off);
    const unsigned stops_at = w->reads_calls ? ms_BRIEF_LONG | ms_BRIEF_CALL : ms_BRIEF_LONG;
    const uint8_t *p = unit.ptr + (off - enc->unit_off);
    const uint8_t *end = unit.ptr + unit.len;
    if (w->most_bytes != 0 && (uint64_t)(end - p) > w->most_bytes)
        end = p + w->most_bytes;
    const uint8_t *brief_end = unit.len > table->brief_max ? end - table->brief_max : unit.ptr;
    ms_fn_count count = {0, lists, 0};
    uint32_t close = 0; /* how many lists are open where the innermost block closes; 0: none */
    do {
        p = ms_fn_skip_briefs(table, stops_at, p, brief_end, close, &count);
        w->unread += count.unread;
        count.unread = 0;
        if (p >= end)
            break;
        const uint8_t *values = p + 1;
        uint64_t code = *p;
        if (code >= 0x80) {
            ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
            code = ms_rd_uleb(&rd);
            values = rd.p;
        }
        count.entries++;
        if (code == 0) { /* also in more bytes than it needs */
            p = values;
            count.lists--;
            if (count.lists <= close)
                close = ms_fn_close_blocks(w, count.lists);
            continue;
        }
        const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(table, code);
        if (abbrev == NULL) {
            p = NULL;
            break;
        }
        p = ms_fn_take_any(w, abbrev, (uint64_t)(p - unit.ptr) + enc->unit_off, values, end, count.lists);
        close = w->open_count == 0 ? 0 : w->opened[w->open_count - 1].lists;
        count.lists += abbrev->has_children;
    } while (count.lists != 0 && p != NULL);
    ms_fn_close_blocks(w, 0);
    w->is_damaged |= p == NULL;
    w->is_open = count.lists != 0;
    w->left = p != NULL && count.lists == 0 ? (uint64_t)(end - p) : 0;
    w->visited = count.entries;
}

/* Lists out-of-line copies by their origin. A copy has the linkage name that an inlined call itself
 * lacks. */
static void ms_fn_list_copies(const ms_fn_walk *w, ms_arena *arena, ms_fn_table *table)
{
    ms_key *copies = (ms_key *)ms_arena_alloc(arena, w->copy_count, sizeof *copies);
    ms_key *room = (ms_key *)ms_arena_alloc(w->scratch, w->copy_count, sizeof *copies);
    if (copies == NULL || room == NULL)
        return;
    for (size_t i = 0; i < w->count && table->copy_count < w->copy_count; i++) {
        if (w->blocks[i].parent != ms_SEG_NONE || w->blocks[i].origin == 0)
            continue;
        copies[table->copy_count].key = w->blocks[i].origin;
        copies[table->copy_count++].item = i;
    }
    ms_sort(copies, w->copy_count, room);
    table->copies = copies;
}

/* Whether each range that functions have is found by its segments. */
static bool ms_fn_has_all_pieces(const ms_fn_walk *w, const ms_segs *segs)
{
    size_t owned = 0;
    for (size_t i = 0; i < segs->count; i++)
        owned += segs->v[i].owner != ms_SEG_NONE;
    return owned >= w->piece_count;
}

/* Whether two functions have the same code, which is one range. */
static bool ms_fn_are_twins(const ms_fn_block *a, const ms_fn_block *b)
{
    return a->lo == b->lo && a->hi == b->hi && a->range_count == 1 && b->range_count == 1;
}

/* Lists the functions that share their code: a linker folded them. They have no segment but the last one. */
static void ms_fn_list_twins(const ms_fn_walk *w, const ms_segs *segs, ms_arena *arena, ms_fn_table *table)
{
    size_t count = 0;
    size_t kept = 0;
    if (ms_fn_has_all_pieces(w, segs))
        return;
    ms_key *v = (ms_key *)ms_arena_alloc(w->scratch, w->function_count, sizeof *v);
    ms_key *room = (ms_key *)ms_arena_alloc(w->scratch, w->function_count, sizeof *v);
    if (v == NULL || room == NULL)
        return;
    for (size_t i = 0; i < w->count && count < w->function_count; i++) {
        if (w->blocks[i].parent != ms_SEG_NONE)
            continue;
        v[count].key = w->blocks[i].lo;
        v[count++].item = i;
    }
    ms_sort(v, count, room);
    for (size_t i = 0; i < count; i++) {
        const ms_fn_block *block = &w->blocks[v[i].item];
        bool is_twin = (i > 0 && ms_fn_are_twins(block, &w->blocks[v[i - 1].item])) ||
                       (i + 1 < count && ms_fn_are_twins(block, &w->blocks[v[i + 1].item]));
        if (is_twin)
            room[kept++] = v[i];
    }
    table->twins = (const ms_key *)ms_arena_keep(arena, room, kept, sizeof *room);
    table->twin_count = table->twins != NULL ? kept : 0;
}

enum {
    /* Bytes of a unit for which room for a block is made ahead: C++ spends 45 to 250 on one, Rust 30 to 70.
     * An array that grows is copied; the room that is not used is not touched either. */
    ms_FN_BLOCK_BYTES = 40
};

/* Makes room for blocks where they will stay. */
static void ms_fn_make_blocks(ms_fn_walk *w, uint64_t count)
{
    w->room = (ms_fn_block *)ms_arena_alloc(w->arena, (size_t)count, sizeof *w->room);
    w->room_count = w->room != NULL ? (size_t)count : 0;
    w->blocks = w->room;
    w->cap = w->room_count;
}

/* Moves the blocks to where they stay, unless they are there. The room that they do not need is given back:
 * until now nothing else was taken from arena. */
static void ms_fn_keep_blocks(ms_fn_walk *w)
{
    bool stay = w->room != NULL && w->blocks == w->room;
    ms_arena_fit(w->arena, w->room, stay ? w->count : 0, w->room_count, sizeof *w->room);
    if (!stay)
        w->blocks = (ms_fn_block *)ms_arena_keep(w->arena, w->blocks, w->count, sizeof *w->blocks);
}

/* Moves the lists of ranges to where they stay, from block first on. */
static void ms_fn_keep_ranges(ms_fn_walk *w, size_t first)
{
    for (size_t i = first; i < w->count && w->blocks != NULL; i++) {
        ms_fn_block *block = &w->blocks[i];
        if (block->range_count > 1)
            block->ranges = (const ms_range *)ms_arena_keep(w->arena, block->ranges, block->range_count,
                                                            sizeof *block->ranges);
    }
}

static void ms_fn_begin(ms_fn_walk *w, const ms_dw *dw, const ms_cu_root *root, bool reads_calls,
                        ms_arena *scratch, ms_arena *arena)
{
    ms_zero(w, sizeof *w);
    w->dw = dw;
    w->root = root;
    w->arena = arena;
    w->scratch = scratch;
    w->list.arena = scratch;
    w->reads_calls = reads_calls;
}

/* How deep each block stands. */
static const ms_fn_depth *ms_fn_depths_of(const ms_fn_block *blocks, size_t count, ms_arena *arena)
{
    ms_fn_depth *depths = (ms_fn_depth *)ms_arena_alloc(arena, count, sizeof *depths);
    for (uint32_t i = 0; depths != NULL && i < count; i++) {
        uint32_t parent = blocks[i].parent;
        depths[i].calls = parent == ms_SEG_NONE ? 0 : depths[parent].calls + 1;
        depths[i].outer = depths[i].calls > 1 ? depths[parent].outer : i;
    }
    return depths;
}

/* Gives the walk's arrays to a table. Returns false when memory is out; the table is empty then. */
static bool ms_fn_finish(ms_fn_walk *w, ms_fn_table *table)
{
    table->blocks = w->blocks;
    table->is_damaged = w->is_damaged;
    table->has_wrong_ranges = w->list.is_wrong;
    table->has_overlaps = w->has_overlaps;
    table->die_count = w->visited;
    table->left = w->left;
    if (w->is_deep && w->blocks != NULL)
        table->depths = ms_fn_depths_of(w->blocks, w->count, w->arena);
    if (w->scratch->oom || w->arena->oom)
        return false;
    table->count = w->count;
    table->function_count = w->function_count;
    return true;
}

/* Whether ranges of functions overlap: then they have more bytes than their segments. */
static bool ms_fn_shares_code(const ms_fn_walk *w, const ms_segs *segs)
{
    uint64_t ranges = 0;
    uint64_t owned = 0;
    for (size_t i = 0; i < w->piece_count; i++)
        ranges += w->pieces[i].hi - w->pieces[i].lo;
    for (size_t i = 0; i + 1 < segs->count; i++)
        owned += segs->v[i].owner != ms_SEG_NONE ? segs->v[i + 1].lo - segs->v[i].lo : 0;
    return ranges != owned;
}

/* Reads the functions of a unit, and the calls inlined into them when they are asked for. Work is done in
 * scratch; the table's arrays come from arena. */
static void ms_fn_read(const ms_dw *dw, const ms_cu_root *root, bool reads_calls, ms_arena *scratch,
                       ms_arena *arena, ms_fn_table *table)
{
    ms_fn_walk w;
    ms_segs segs = {NULL, 0, arena};
    ms_zero(table, sizeof *table);
    if (root->abbrevs == NULL || root->first_child >= root->enc.unit_end || !ms_dw_make_rest(root->abbrevs))
        return;
    /* dart, runtime/vm/dwarf.cc: --obfuscate renames symbols, and leaves the debug info alone */
    table->has_real_names = ms_str_is(ms_cu_text(dw, root, ms_SLOT_PRODUCER), "Dart VM");
    ms_fn_begin(&w, dw, root, reads_calls, scratch, arena);
    w.keeper = table;
    if (reads_calls)
        ms_fn_make_blocks(&w, (root->enc.unit_end - root->first_child) / ms_FN_BLOCK_BYTES);
    ms_fn_walk_entries(&w, root->first_child, 1);
    ms_fn_keep_blocks(&w);
    ms_fn_keep_ranges(&w, 0);
    ms_fn_keep_grants(&w, arena);
    ms_seg_build(w.pieces, w.piece_count, scratch, &segs);
    if (w.blocks != NULL) {
        ms_fn_list_copies(&w, arena, table);
        ms_fn_list_twins(&w, &segs, arena, table);
    }
    if (!ms_fn_finish(&w, table))
        return;
    table->segs = segs.v;
    table->seg_count = segs.count;
    table->shares_code = ms_fn_shares_code(&w, &segs);
}

/* Reads one function of a unit, by its number in the unit's table, with what is inlined into it: block 0 is
 * the function. The table has no segments and no copies. */
static void ms_fn_read_one(const ms_dw *dw, const ms_cu_root *root, ms_fn_table *unit, uint32_t function,
                           ms_arena *scratch, ms_arena *arena, ms_fn_table *table)
{
    ms_fn_walk w;
    ms_zero(table, sizeof *table);
    ms_fn_begin(&w, dw, root, true, scratch, arena);
    ms_fn_make_blocks(&w, (uint64_t)unit->blocks[function].unread + 1);
    w.keeper = unit;
    w.unit = unit;
    w.known = function;
    ms_fn_walk_entries(&w, unit->blocks[function].die_off, 0);
    ms_fn_keep_blocks(&w);
    ms_fn_keep_ranges(&w, 1); /* the function's own list stays with the unit's table */
    ms_fn_keep_grants(&w, arena);
    ms_fn_finish(&w, table);
}

/* ---- One function, without the unit's others ---- */

/* Whether a function stands at an offset of a unit that states one range of code; which it is. */
static bool ms_fn_stated_at(const ms_dw *dw, const ms_cu_root *root, uint64_t off, ms_range *range)
{
    ms_rd rd;
    ms_dw_die die;
    if (root->abbrevs == NULL || off < root->first_child || off >= root->enc.unit_end)
        return false;
    const ms_dw_abbrev *abbrev = ms_cu_entry_at(dw, root, off, &rd, &die);
    return abbrev != NULL && abbrev->kind == ms_KIND_FUNCTION && abbrev->has_code &&
           ms_dw_get(&die, ms_SLOT_RANGES)->form == 0 &&
           ms_dw_low_high(dw, &root->enc, ms_dw_get(&die, ms_SLOT_LOW_PC), ms_dw_get(&die, ms_SLOT_HIGH_PC),
                          range);
}

/* Reads the function that stands at an offset of a unit and has this range, with what is inlined into it.
 * *unit becomes a table of the unit that has it alone, *own the one of its calls. Returns false when it
 * cannot be told without the unit's other entries: it is damaged, or a function stands in it; or it has more
 * than MACHSYM_MAX_ALONE bytes. */
static bool ms_fn_read_alone(const ms_dw *dw, const ms_cu_root *root, uint64_t off, ms_range range,
                             ms_arena *scratch, ms_arena *arena, ms_fn_table *unit, ms_fn_table *own)
{
    ms_fn_walk w;
    ms_fn_block *block = (ms_fn_block *)ms_arena_zeroed(arena, 1, sizeof *block);
    ms_seg *segs = (ms_seg *)ms_arena_alloc(arena, 2, sizeof *segs);
    ms_zero(unit, sizeof *unit);
    ms_zero(own, sizeof *own);
    if (block == NULL || segs == NULL)
        return false;
    block->die_off = off;
    block->lo = segs[0].lo = range.lo;
    block->hi = segs[1].lo = range.hi;
    block->range_count = 1;
    block->parent = segs[1].owner = ms_SEG_NONE;
    block->end = 1;
    block->unread = 1; /* or more: they are in the other table */
    segs[0].owner = 0;
    unit->blocks = block;
    unit->segs = segs;
    unit->seg_count = 2;
    unit->count = unit->function_count = 1;
    unit->is_alone = true;
    unit->has_real_names = ms_str_is(ms_cu_text(dw, root, ms_SLOT_PRODUCER), "Dart VM");
    ms_fn_begin(&w, dw, root, true, scratch, arena);
    w.keeper = unit;
    w.unit = unit;
    w.most_bytes = MACHSYM_MAX_ALONE;
    ms_fn_walk_entries(&w, off, 0);
    ms_fn_keep_blocks(&w);
    ms_fn_keep_ranges(&w, 1);
    ms_fn_keep_grants(&w, arena);
    if (!ms_fn_finish(&w, own) || w.is_damaged || w.met_function || w.is_open || own->count == 0)
        return false;
    block->origin = own->blocks[0].origin;
    return true;
}

/* ---- Which call holds an address ---- */

/* A function with what is inlined into it. */
typedef struct ms_fn_inside {
    const ms_fn_table *table; /* that has its blocks */
    uint32_t function;        /* its number there */
    ms_segs calls;            /* address to innermost block, once has_calls; empty when nothing is inlined */
    size_t hint;              /* where in calls the last search ended: the next one is often near */
    bool has_calls;
    bool is_asked; /* somebody has searched it */
} ms_fn_inside;

/* Ranges of calls as they are listed. */
typedef struct ms_fn_pieces {
    ms_arena *arena;
    ms_piece *v;
    size_t count;
    size_t cap;
} ms_fn_pieces;

/* Adds a range. Returns false when memory is out. */
static bool ms_fn_add_range(ms_fn_pieces *pieces, uint64_t lo, uint64_t hi, uint32_t owner)
{
    ms_piece *v = (ms_piece *)ms_arena_grow(pieces->arena, pieces->v, pieces->count, &pieces->cap, sizeof *v);
    if (v == NULL)
        return false;
    pieces->v = v;
    v += pieces->count++;
    v->lo = lo;
    v->hi = hi;
    v->owner = owner;
    return true;
}

/* Makes the segments of a function's calls. Calls nest, so the last one that holds an address is the
 * innermost. Where a producer let calls overlap, the later one has the code. */
static void ms_fn_find_calls(ms_fn_inside *inside, ms_arena *scratch, ms_arena *arena)
{
    const ms_fn_table *table = inside->table;
    ms_fn_pieces pieces = {scratch, NULL, 0, 0};
    uint32_t end = table->blocks[inside->function].end;
    uint64_t least = UINT64_MAX;
    bool ok = ms_fn_add_range(&pieces, 0, UINT64_MAX, inside->function);
    inside->calls.arena = arena;
    for (uint32_t i = inside->function + 1; i < end && ok;) {
        const ms_fn_block *block = &table->blocks[i];
        MACHSYM_COUNT_WORK(1);
        if (block->parent == ms_SEG_NONE) { /* a function in a function answers for itself */
            i = block->end;
            continue;
        }
        for (uint32_t j = 0; j < block->range_count && ok; j++) {
            ms_range range = ms_fn_range(block, j);
            ok = ms_fn_add_range(&pieces, range.lo, range.hi, i);
            ms_lower_to(&least, range.lo);
        }
        i++;
    }
    if (ok && pieces.count > 1) {
        pieces.v[0].lo =
            least > 0 ? least - 1 : 0; /* near the others: the fewer bits vary, the faster is a sort */
        ms_seg_build(pieces.v, pieces.count, scratch, &inside->calls);
        if (inside->calls.count > 0)
            inside->calls.v[0].lo = 0; /* the function's, unless a call begins at 0 */
    }
    inside->has_calls = true;
}

/* A function of a unit with what is inlined into it, without segments; NULL when memory is out. Work is
 * done in scratch; the result comes from arena. */
static ms_fn_inside *ms_fn_look_inside(const ms_dw *dw, const ms_cu_root *root, ms_fn_table *unit,
                                       uint32_t function, ms_arena *scratch, ms_arena *arena)
{
    const ms_fn_block *block = &unit->blocks[function];
    ms_fn_inside *inside = (ms_fn_inside *)ms_arena_zeroed(arena, 1, sizeof *inside);
    if (inside == NULL)
        return NULL;
    inside->table = unit;
    inside->function = function;
    if (block->unread != 0) {
        ms_fn_table *own = (ms_fn_table *)ms_arena_alloc(arena, 1, sizeof *own);
        if (own == NULL)
            return NULL;
        ms_fn_read_one(dw, root, unit, function, scratch, arena, own);
        inside->table = own->count != 0 ? own : unit;
        inside->function = own->count != 0 ? 0 : function;
    }
    return scratch->oom || arena->oom ? NULL : inside;
}

/* The range of a list that holds an address; NULL when none does. Short lists are in the file's order, and
 * may overlap; longer ones have been sorted. */
static inline const ms_range *ms_fn_list_at(const ms_range *v, size_t count, uint64_t addr)
{
    if (count > ms_FN_FEW_RANGES)
        return ms_seg_range_at(v, count, addr);
    for (size_t i = 0; i < count; i++) {
        MACHSYM_COUNT_WORK(1);
        if (addr >= v[i].lo && addr < v[i].hi)
            return &v[i];
    }
    return NULL;
}

/* The innermost block at an address, by a look at each, without segments. */
static uint32_t ms_fn_call_by_blocks(const ms_fn_inside *inside, uint64_t addr)
{
    const ms_fn_block *blocks = inside->table->blocks;
    uint32_t end = blocks[inside->function].end;
    uint32_t best = inside->function;
    for (uint32_t i = inside->function + 1; i < end;) {
        const ms_fn_block *block = &blocks[i];
        MACHSYM_COUNT_WORK(1);
        if (block->parent == ms_SEG_NONE) { /* a function in a function answers for itself */
            i = block->end;
            continue;
        }
        bool has = block->range_count > 1 ? ms_fn_list_at(block->ranges, block->range_count, addr) != NULL
                                          : block->lo <= addr && addr < block->hi;
        best = has ? i : best;
        i++;
    }
    return best;
}

/* The same by the segments. Lowers *hi to where another block may begin. */
static ms_INLINE uint32_t ms_fn_call_by_segments(ms_fn_inside *inside, uint64_t addr, uint64_t *hi)
{
    const ms_seg *v = inside->calls.v;
    size_t count = inside->calls.count;
    size_t at = inside->hint;
    if (count == 0)
        return inside->function;
    if (!ms_seg_holds(v, count, at, addr)) {
        at++;
        if (!ms_seg_holds(v, count, at, addr))
            at = ms_seg_find(v, count, addr);
        inside->hint = at;
    }
    if (at + 1 < count)
        ms_lower_to(hi, v[at + 1].lo);
    return v[at].owner;
}

/* The innermost block at an address that the function has. Lowers *hi to where another one may begin, which
 * without segments is not known. */
static ms_INLINE uint32_t ms_fn_call_at(ms_fn_inside *inside, uint64_t addr, uint64_t *hi)
{
    uint32_t index = inside->function;
    if (inside->has_calls) {
        index = ms_fn_call_by_segments(inside, addr, hi);
    } else {
        index = ms_fn_call_by_blocks(inside, addr);
        ms_lower_to(hi, addr + 1);
    }
    inside->is_asked = true;
    return index;
}

/* The range of a block that holds an address; its first one when none does. Lowers *hi to where it ends; a
 * damaged function's ranges may overlap. */
static ms_range ms_fn_range_at(const ms_fn_block *block, uint64_t addr, uint64_t *hi)
{
    ms_range range = {block->lo, block->hi};
    const ms_range *v = block->ranges;
    if (block->range_count > 1) {
        const ms_range *one = ms_fn_list_at(v, block->range_count, addr);
        range = one != NULL ? *one : range;
    }
    if (addr < range.hi)
        ms_lower_to(hi, range.hi);
    for (size_t i = 0; i < block->range_count && block->range_count <= ms_FN_FEW_RANGES; i++) {
        if (block->range_count > 1 && v[i].lo > addr)
            ms_lower_to(hi, v[i].lo);
    }
    return range;
}

/* The out-of-line copy of what block is inlined from; NULL when the unit has none. */
static const ms_fn_block *ms_fn_copy_of(const ms_fn_table *table, const ms_fn_block *block)
{
    size_t at = block->origin == 0
                    ? table->copy_count
                    : ms_lower_bound(table->copies, table->copy_count, sizeof *table->copies, block->origin);
    if (at >= table->copy_count || table->copies[at].key != block->origin)
        return NULL;
    return &table->blocks[table->copies[at].item];
}

/* ---- Names ---- */

/* Where a function was written. */
typedef struct ms_fn_decl {
    const ms_cu_root *root; /* of the unit that counts file; NULL: no file is stated */
    uint64_t file;
    uint64_t line;      /* 0: none is stated */
    bool is_artificial; /* a compiler made it */
} ms_fn_decl;

/* What the debug info calls a function. */
typedef struct ms_fn_names {
    machsym_str linkage_name;
    machsym_str name;
    ms_fn_decl decl; /* when it was asked for */
} ms_fn_names;

/* The root of the unit that has an entry at an offset of .debug_info; NULL when none may have one. The unit
 * of the last entry is tried first: entries lead to others of their unit. */
static const ms_cu_root *ms_fn_unit_of(ms_cu_env *env, uint64_t die_off)
{
    size_t unit = env->named;
    if (unit >= env->count || die_off < env->v[unit].off || die_off >= env->v[unit].end)
        unit = env->named = ms_cu_number_of(env, die_off);
    const ms_cu_root *root = unit < env->count ? ms_cu_root_of(env, unit) : NULL;
    bool has_entry =
        root != NULL && root->abbrevs != NULL && die_off >= root->enc.unit_off + env->v[unit].root;
    return has_entry ? root : NULL;
}

static bool ms_fn_is_function(const ms_dw_abbrev *abbrev)
{
    return abbrev != NULL && (abbrev->kind == ms_KIND_FUNCTION || abbrev->kind == ms_KIND_INLINE);
}

/* Reads the entry at an offset of .debug_info. Returns its unit's root; NULL when there is no such entry to
 * read. */
static const ms_cu_root *ms_fn_entry(ms_cu_env *env, uint64_t die_off, ms_dw_die *die)
{
    ms_rd rd;
    const ms_cu_root *root = ms_fn_unit_of(env, die_off);
    const ms_dw_abbrev *abbrev = root != NULL ? ms_cu_entry_at(env->dw, root, die_off, &rd, die) : NULL;
    return ms_fn_is_function(abbrev) ? root : NULL;
}

/* An entry whose names were read lately: the calls of one function often name the same entries. */
typedef struct ms_fn_name_cache {
    uint64_t die_off; /* 0: empty; no entry stands at offset 0 */
    ms_fn_names names;
} ms_fn_name_cache;

/* Adds what an entry says of its declaration to what others said that lead to it: a definition states only
 * what differs from its specification. */
static void ms_fn_add_decl(const ms_dw_die *die, const ms_cu_root *root, ms_fn_decl *decl)
{
    const ms_dw_value *file = ms_dw_get(die, ms_SLOT_DECL_FILE);
    if (decl->root == NULL && file->form != 0) {
        decl->root = root;
        decl->file = file->u;
    }
    decl->line = decl->line == 0 ? ms_dw_get(die, ms_SLOT_DECL_LINE)->u : decl->line;
    decl->is_artificial |= ms_dw_get(die, ms_SLOT_ARTIFICIAL)->u != 0;
}

/* Collects the names of an entry, of its abstract origin and of its specification, across units; with_decl:
 * its declaration, too. Such links may run in circles, so their number is limited. */
static ms_fn_names ms_fn_names_of(ms_cu_env *env, uint64_t die_off, bool with_decl)
{
    ms_fn_names names;
    ms_dw_die die;
    ms_zero(&names, sizeof names);
    for (unsigned links = 0; links < MACHSYM_MAX_NAME_LINKS; links++) {
        const ms_cu_root *root = ms_fn_entry(env, die_off, &die);
        if (root == NULL)
            break;
        if (names.linkage_name.len == 0)
            names.linkage_name = ms_dw_string(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_LINKAGE_NAME));
        if (names.name.len == 0)
            names.name = ms_dw_string(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_NAME));
        if (with_decl)
            ms_fn_add_decl(&die, root, &names.decl);
        else if (names.linkage_name.len != 0 && names.name.len != 0)
            break;
        if (!ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_ORIGIN), &die_off) &&
            !ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_SPECIFICATION), &die_off))
            break;
    }
    if (ms_str_equal(names.linkage_name, names.name)) /* Crystal's: its symbols have more */
        names.linkage_name = ms_str_empty();
    return names;
}

#endif /* ms_ROOM_dwarf_functions */
