#ifndef ms_ROOM_answer_named
#define ms_ROOM_answer_named
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../macho/macho.h"
#include "../macho/symbols.h"
#include "../macho/sources.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/functions.h"
#include "../dwarf/nametable.h"
#include "../image/sections.h"
#include "session.h"

/* ==== >>named ==============================================================================================
 * Job:    finds the function of an address by its symbol and the debug info's table of names.
 * Offers: ms_named_at, ms_named_denies, ms_named_asks_first, ms_named_owner, ms_named_prepare,
 *         ms_named_leave.
 * Never:  lets an answer depend on whether a unit was decoded before.
 *
 * The rule is one for all sessions: in the unit that .debug_aranges names for an address, the function
 * answers that ms_named_ask finds; where it finds none, the one that the unit's entries give. In sound files
 * that is the same function. Sessions of few addresses ask first, and need none of the unit's other entries.
 * Others decode units. Then they ask for those entries of the table which may contradict: a function that the
 * unit's entries do not lead to, and functions that share code.
 *
 * dsymutil writes both tables for all code that has debug info. So where .debug_aranges names no unit, and
 * the table of names has no function of the symbol's name either, no unit answers. */

/* What is asked of the table of names takes as long as to decode this many bytes of a unit. */
enum { ms_NAMED_WORTH = 16384 };

/* If fewer than one in this many units was asked for, the next address is seldom in one of them. */
enum { ms_NAMED_FEW_UNITS = 16 };

/* The half of the image that has a table of names: dsymutil writes it. NULL: there is none. */
static const ms_mo *ms_named_half(const machsym_session *s)
{
    for (size_t i = 0; i < s->image->mo_count && s->program == NULL; i++) {
        const ms_mo *mo = &s->image->mo[i];
        if (mo->slice.filetype == ms_MH_DSYM && !mo->hide_symtab)
            return mo;
    }
    return NULL;
}

/* The table of names; NULL when there is none, or memory is out. */
static const ms_nt *ms_named_table(machsym_session *s)
{
    if (s->has_name_table)
        return s->name_table;
    if (ms_named_half(s) == NULL || s->image->sections == NULL) {
        s->has_name_table = true;
        return NULL;
    }
    if (!ms_ses_need(s, ms_NEEDS_NAMES))
        return NULL;
    ms_nt *table = (ms_nt *)ms_arena_alloc(&s->keep, 1, sizeof *table);
    if (table == NULL)
        return NULL;
    s->has_name_table = true;
    s->name_table = ms_nt_open(&s->dw, table) ? table : NULL;
    return s->name_table;
}

/* The symbols by address, for more than one question; NULL when memory is out. */
static const ms_sym_order *ms_named_order(machsym_session *s)
{
    return ms_src_order(&s->symbols, ms_named_half(s));
}

/* The symbol at an address. */
static bool ms_named_symbol(machsym_session *s, uint64_t addr, ms_sym_alone *out)
{
    const ms_mo *mo = ms_named_half(s);
    ms_zero(out, sizeof *out);
    if (s->symbols.order.v == NULL && s->asked_symbols++ < MACHSYM_SCANS)
        return ms_sym_scan_alone(mo, addr, &s->symbols.sides, out);
    const ms_sym_order *order = ms_named_order(s);
    return order != NULL && ms_sym_find_alone(mo, order, addr, out);
}

/* A function that was found. */
typedef struct ms_named_entry {
    uint64_t off; /* in .debug_info */
    ms_range range;
} ms_named_entry;

/* Whether an entry has the name of the symbol, or one that makes the symbol's not needed. */
static bool ms_named_fits(machsym_session *s, uint64_t off, machsym_str symbol)
{
    ms_fn_names names = ms_fn_names_of(&s->env, off, false);
    machsym_str linkage = names.linkage_name;
    if (linkage.len > 0 && linkage.ptr[0] == 1)
        linkage = ms_str_drop(linkage, 1);
    return (linkage.len != 0 && !ms_str_begins(linkage, "__hidden#")) || ms_str_equal(names.name, symbol);
}

/* Finds the function of a unit at an address: its name is that of the only symbol at or below it, it begins
 * there, and ends before the next one. Returns false when there is none, or more than one. Lowers *hi to
 * where the answer may be another. */
static bool ms_named_ask(machsym_session *s, const ms_cu_root *root, uint64_t addr, uint64_t *hi,
                         ms_named_entry *out)
{
    ms_sym_alone symbol;
    ms_nt_found found;
    ms_range range;
    size_t count = 0;
    bool has_symbol = ms_named_symbol(s, addr, &symbol);
    ms_lower_to(hi, symbol.hi > addr ? symbol.hi : addr + 1);
    if (!has_symbol || symbol.name.len == 0)
        return false;
    ms_nt_find(s->name_table, symbol.name, root->enc.unit_off, root->enc.unit_end, &found);
    for (size_t i = 0; i < found.count && !found.is_unsure; i++) {
        if (!ms_fn_stated_at(&s->dw, root, found.v[i], &range) || range.lo != symbol.lo ||
            range.hi > symbol.hi || (count > 0 && found.v[i] == out->off))
            continue;
        out->off = found.v[i];
        out->range = range;
        count++;
    }
    if (count != 1 || addr >= out->range.hi || !ms_named_fits(s, out->off, symbol.name))
        return false;
    ms_lower_to(hi, out->range.hi);
    return true;
}

/* Whether no unit has code at an address that .debug_aranges names no unit for: the table of names has no
 * function of the only symbol at or below it. Damage of one table leaves the other one. Lowers *hi to where
 * the answer may be another. */
static bool ms_named_denies(machsym_session *s, uint64_t addr, uint64_t *hi)
{
    ms_sym_alone symbol;
    ms_nt_found found;
    if (s->dw.aranges.len == 0 || ms_named_table(s) == NULL)
        return false;
    bool has_symbol = ms_named_symbol(s, addr, &symbol);
    ms_lower_to(hi, symbol.hi > addr ? symbol.hi : addr + 1);
    if (!has_symbol || symbol.name.len == 0)
        return false;
    ms_nt_find(s->name_table, symbol.name, 0, UINT64_MAX, &found);
    return found.count == 0 && !found.is_unsure;
}

/* ---- Few addresses ---- */

/* Makes a function a unit of its own; NULL when it cannot be read so, or memory is out. */
static ms_ses_unit *ms_named_read(machsym_session *s, const ms_cu_root *root, size_t index,
                                  const ms_named_entry *entry)
{
    ms_ses_unit *unit = (ms_ses_unit *)ms_arena_zeroed(&s->cache, 1, sizeof *unit);
    ms_fn_table *own = (ms_fn_table *)ms_arena_alloc(&s->cache, 1, sizeof *own);
    ms_fn_inside *inside = (ms_fn_inside *)ms_arena_zeroed(&s->cache, 1, sizeof *inside);
    if (unit == NULL || own == NULL || inside == NULL)
        return NULL;
    unit->inside = (ms_fn_inside **)ms_arena_zeroed(&s->cache, 1, sizeof *unit->inside);
    ms_arena_reset(&s->scratch);
    if (unit->inside == NULL || !ms_fn_read_alone(&s->dw, root, entry->off, entry->range, &s->scratch,
                                                  &s->cache, &unit->functions, own))
        return NULL;
    inside->table = own;
    unit->inside[0] = inside;
    unit->index = index;
    return unit;
}

/* Whether a unit will probably not be asked for another function. Then the rows of this one are enough. They
 * take two thirds of the time of all rows. If the unit is asked again, it has to read all, and that time is
 * lost. */
static bool ms_named_is_rare(const machsym_session *s, const ms_cu_root *root)
{
    uint64_t before = s->asked_names - 1;
    return before * ms_NAMED_FEW_UNITS * (root->enc.unit_end - root->enc.unit_off) < s->dw.info.len;
}

/* The function, read once. Where sequences of rows share code, those of a folded function may be among them:
 * then all of the unit is needed. */
static ms_ses_unit *ms_named_unit(machsym_session *s, const ms_cu_root *root, size_t index,
                                  const ms_named_entry *entry)
{
    for (ms_ses_unit *one = s->alone; one != NULL; one = one->next) {
        if (one->functions.blocks->die_off == entry->off)
            return one;
    }
    ms_ses_unit *unit = ms_named_read(s, root, index, entry);
    const ms_range *code = ms_named_is_rare(s, root) ? &entry->range : NULL;
    if (unit == NULL || !ms_ses_has_lines_of(s, unit, code) || unit->lines->shares_code)
        return NULL;
    unit->next = s->alone;
    s->alone = unit;
    return unit;
}

/* Decodes units from now on. */
static void ms_named_leave(machsym_session *s)
{
    if (s->asks_units)
        return;
    s->asks_units = true;
    s->alone = NULL;
    s->last.hi = 0;
    s->last_near.hi = 0;
}

/* Whether the table of names is asked before a unit is decoded. */
static bool ms_named_asks_first(const machsym_session *s)
{
    return !ms_SMALL_CODE && !s->asks_units && !s->reads_calls && s->budget == UINT64_MAX;
}

/* Counts an address of a unit. Returns false once the unit, or all, have been asked for often enough that
 * decoding them takes less. */
static bool ms_named_count(machsym_session *s, const ms_cu_root *root)
{
    if (!ms_named_asks_first(s))
        return false;
    if (s->asked_unit != root->enc.unit_off)
        s->asked_in_row = 0;
    s->asked_unit = root->enc.unit_off;
    s->asked_in_row++;
    if ((uint64_t)s->asked_in_row * ms_NAMED_WORTH >
            root->enc.unit_end - root->enc.unit_off + ms_NAMED_WORTH ||
        (uint64_t)s->asked_names * ms_NAMED_WORTH > s->dw.info.len)
        ms_named_leave(s);
    return !s->asks_units;
}

/* The function of a unit at an address, as a unit that has it alone. NULL when the unit has to be decoded. */
static ms_ses_unit *ms_named_at(machsym_session *s, size_t index, uint64_t addr, uint64_t *hi)
{
    ms_named_entry entry = {0, {0, 0}};
    if (index >= s->env.count || !ms_named_asks_first(s) || ms_named_table(s) == NULL)
        return NULL;
    const ms_cu_root *root = ms_cu_root_of(&s->env, index);
    if (root == NULL || !ms_named_count(s, root))
        return NULL;
    bool found = ms_named_ask(s, root, addr, hi, &entry);
    s->asked_names++;
    return found ? ms_named_unit(s, root, index, &entry) : NULL;
}

/* ---- Decoded units ---- */

/* Lists what the table of names finds for the image's symbols: of a table that has too many entries to list
 * them. NULL when memory is out. */
static const ms_nt_list *ms_named_try_all(machsym_session *s)
{
    ms_arena room = ms_arena_make(s->allocator);
    ms_nt_list *list = (ms_nt_list *)ms_arena_zeroed(&s->keep, 1, sizeof *list);
    const ms_sym_order *order = ms_named_order(s);
    bool ok = list != NULL && order != NULL;
    ms_cu_index_aranges(&s->env);
    if (list != NULL)
        list->arena = &s->keep;
    for (size_t i = 0; ok && i < order->count && !s->keep.oom; i++) {
        uint64_t hi = UINT64_MAX;
        uint64_t addr = order->v[i].key;
        ms_named_entry entry = {0, {0, 0}};
        size_t index = ms_cu_claimant(&s->env, &s->env.aranges, addr, &hi);
        const ms_cu_root *root = index < s->env.count ? ms_cu_root_of(&s->env, index) : NULL;
        if (root != NULL && ms_named_ask(s, root, addr, &hi, &entry))
            ms_nt_put(list, entry.off);
    }
    ms_key *spare = (ms_key *)ms_arena_alloc(&room, ok ? list->count : 0, sizeof *spare);
    if (ok && spare != NULL)
        ms_sort(list->v, list->count, spare);
    ok = ok && spare != NULL;
    ms_arena_free(&room);
    return ok && !s->keep.oom ? list : NULL;
}

/* What the table of names states; NULL when memory is out. */
static const ms_nt_list *ms_named_stated(machsym_session *s)
{
    if (s->stated != NULL)
        return s->stated;
    s->stated = ms_sec_stated_of(s->image->sections, s->name_table);
    if (s->stated != NULL && s->stated->is_short)
        s->stated = ms_named_try_all(s);
    ms_arena_admit(&s->keep, s->stated == NULL);
    return s->stated;
}

/* The number of the function of a unit that has an entry; count when it has none. */
static size_t ms_named_number(const ms_fn_table *table, uint64_t off)
{
    size_t at = table->count == 0
                    ? 0
                    : ms_lower_bound(&table->blocks[0].die_off, table->count, sizeof *table->blocks, off);
    bool is_there = at < table->count && table->blocks[at].die_off == off;
    return is_there && table->blocks[at].parent == ms_SEG_NONE ? at : table->count;
}

/* Functions of a unit that the table of names gives, as they are listed. */
typedef struct ms_named_list {
    ms_arena *room;
    ms_piece *pieces;
    size_t count;
    size_t cap;
    ms_fn_block *late; /* blocks that the unit's table lacks */
    size_t late_count;
    size_t late_cap;
    bool is_deep;
} ms_named_list;

static void ms_named_add_piece(ms_named_list *list, ms_range range, size_t owner)
{
    ms_piece *v = (ms_piece *)ms_arena_grow(list->room, list->pieces, list->count, &list->cap, sizeof *v);
    if (v == NULL)
        return;
    list->pieces = v;
    v[list->count].lo = range.lo;
    v[list->count].hi = range.hi;
    v[list->count++].owner = (uint32_t)owner;
}

/* Adds the blocks of a function, which are numbered from base on. */
static void ms_named_add_late(ms_named_list *list, const ms_fn_table *own, size_t base)
{
    for (size_t i = 0; i < own->count; i++) {
        ms_fn_block *v = (ms_fn_block *)ms_arena_grow(list->room, list->late, list->late_count,
                                                      &list->late_cap, sizeof *v);
        if (v == NULL)
            return;
        list->late = v;
        v += list->late_count++;
        *v = own->blocks[i];
        v->parent = v->parent == ms_SEG_NONE ? ms_SEG_NONE : v->parent + (uint32_t)base;
        v->end += (uint32_t)base;
    }
    list->is_deep |= own->depths != NULL;
}

/* Adds the function of an entry that the table of names states, if that is what it finds at its address. */
static void ms_named_take(machsym_session *s, const ms_cu_root *root, ms_ses_unit *unit, uint64_t off,
                          ms_named_list *list)
{
    ms_fn_table one;
    ms_fn_table own;
    ms_named_entry entry = {0, {0, 0}};
    ms_range range;
    uint64_t hi = UINT64_MAX;
    const ms_fn_table *table = &unit->functions;
    size_t number = ms_named_number(table, off);
    if (number < table->count && !table->shares_code)
        return;
    if (!ms_fn_stated_at(&s->dw, root, off, &range) || !ms_named_ask(s, root, range.lo, &hi, &entry) ||
        entry.off != off || !ms_ses_has_lines(s, unit) || unit->lines->shares_code)
        return;
    ms_arena_reset(&s->scratch);
    if (!ms_fn_read_alone(&s->dw, root, off, range, &s->scratch, &s->cache, &one, &own))
        return;
    size_t base = table->count + list->late_count;
    if (number == table->count)
        ms_named_add_late(list, &own, base);
    ms_named_add_piece(list, range, number < table->count ? number : base);
}

/* Puts blocks at the end of a unit's table. */
static void ms_named_append(machsym_session *s, ms_fn_table *table, const ms_named_list *list)
{
    size_t count = table->count + list->late_count;
    ms_fn_block *v = (ms_fn_block *)ms_arena_alloc(&s->cache, count, sizeof *v);
    bool is_deep = table->depths != NULL || list->is_deep;
    if (v == NULL || list->late_count == 0)
        return;
    ms_copy(v, table->blocks, table->count * sizeof *v);
    ms_copy(v + table->count, list->late, list->late_count * sizeof *v);
    table->blocks = v;
    table->count = count;
    table->late_count = list->late_count;
    if (is_deep)
        table->depths = ms_fn_depths_of(v, count, &s->cache);
}

/* Finds where the table of names gives a decoded unit another function than its entries do: once. */
static void ms_named_prepare(machsym_session *s, ms_ses_unit *unit)
{
    const ms_nt_list *stated;
    if (unit->has_named || unit->functions.is_alone || ms_named_table(s) == NULL ||
        (stated = ms_named_stated(s)) == NULL)
        return;
    if (ms_named_order(s) == NULL) /* now, so that no address between functions needs memory for it later */
        return;
    ms_arena room = ms_arena_make(s->allocator);
    ms_named_list list;
    ms_zero(&list, sizeof list);
    list.room = &room;
    unit->has_named = true;
    const ms_cu_root *root = ms_cu_root_of(&s->env, unit->index);
    size_t at = ms_lower_bound(stated->v, stated->count, sizeof *stated->v, root->enc.unit_off);
    for (uint64_t last = 0; at < stated->count && stated->v[at].key < root->enc.unit_end; at++) {
        if (stated->v[at].key != last)
            ms_named_take(s, root, unit, stated->v[at].key, &list);
        last = stated->v[at].key;
    }
    if (list.count != 0) {
        unit->named.arena = &s->cache;
        ms_arena_reset(&s->scratch);
        ms_seg_build(list.pieces, list.count, &s->scratch, &unit->named);
        ms_named_append(s, &unit->functions, &list);
        unit->inside = NULL; /* has room for fewer */
    }
    ms_arena_admit(&s->cache, room.failed);
    ms_arena_free(&room);
}

/* The function of a unit at an address that a source named the unit for; ms_SEG_NONE: none. Lowers *hi to
 * where another one begins. */
static uint32_t ms_named_owner(const ms_ses_unit *unit, machsym_unit_source source, uint64_t addr,
                               uint64_t *hi, bool *is_named)
{
    *is_named = false;
    if (source == MACHSYM_UNIT_ARANGES && unit->named.count != 0) {
        uint32_t function = ms_seg_at(unit->named.v, unit->named.count, addr, hi);
        *is_named = function != ms_SEG_NONE;
        if (*is_named)
            return function;
    }
    return ms_seg_at(unit->functions.segs, unit->functions.seg_count, addr, hi);
}

#endif /* ms_ROOM_answer_named */
