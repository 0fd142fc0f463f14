#ifndef ms_ROOM_answer_folded
#define ms_ROOM_answer_folded
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../base/table.h"
#include "../macho/symbols.h"
#include "../macho/sources.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../dwarf/bodies.h"
#include "../symmap/symmap.h"
#include "../symmap/twins.h"
#include "session.h"
#include "objects.h"
#include "engine.h"
#include "answer.h"

/* ==== >>folded =============================================================================================
 * Job:    tells all functions that share the code at an address.
 * Offers: ms_fold_set, ms_fold_at, ms_fold_name, ms_fold_list_aliases, ms_fold_may_share,
 *         ms_fold_losers_of, ms_fold_frames, ms_fold_in_map, ms_fold_map_frames, ms_fold_next.
 * Never:  chooses one of them. */

enum { ms_FOLD_CLAIMS = 64 };

/* One of the functions. Units come and go, so a function is found by its entry. */
typedef struct ms_fold_one {
    size_t unit;        /* its number */
    uint64_t die_off;   /* 0: only a symbol tells of it */
    machsym_str symbol; /* its name then */
    machsym_source source;
} ms_fold_one;

/* The functions that share the code of [lo, hi). The first one is the one that ms_ans_frames tells. */
typedef struct ms_fold_set {
    uint64_t lo;
    uint64_t hi; /* lo: the set is of nothing */
    ms_fold_one *v;
    size_t count;
    size_t cap;
    bool is_whole; /* no limit cut it */
} ms_fold_set;

/* Units whose code .debug_aranges, or another unit's ranges, gave to other units. */
typedef struct ms_fold_losers {
    ms_piece *v;     /* what they claim, by address */
    uint64_t *reach; /* the largest end so far */
    size_t count;
} ms_fold_losers;

/* What a session knows of folded functions. */
typedef struct ms_ses_folded {
    ms_fold_set last; /* the set that was asked for last */
    ms_fold_losers losers;
    bool has_losers;
} ms_ses_folded;

/* ---- Units that may have a function where another one answers ---- */

/* Adds what units claim that lost some of their code, by .debug_aranges or by their own ranges. */
static void ms_fold_add_claims(machsym_session *s, ms_cu_pieces *pieces)
{
    ms_rd rd = ms_cu_sets(&s->env);
    ms_ranges list = {pieces->arena, NULL, 0, 0, ms_cu_range_budget(&s->env), false};
    ms_cu_set set;
    ms_range range;
    while (ms_cu_next_set(&rd, &set)) {
        size_t unit = ms_cu_from_offset(s->env.v, s->env.count, set.info_off);
        bool lost = unit < s->env.count && (s->env.claims[unit] & ms_CLAIM_LOST_ARANGES) != 0;
        while (lost && ms_cu_next_tuple(&set, &range))
            ms_cu_add_piece(pieces, range.lo, range.hi, unit);
    }
    for (size_t i = 0; i < s->env.count; i++) {
        if ((s->env.claims[i] & ms_CLAIM_ARANGES) != 0)
            continue;
        ms_cu_read_ranges(&s->env, i, &list);
        for (size_t j = 0; j < list.count; j++)
            ms_cu_add_piece(pieces, list.v[j].lo, list.v[j].hi, i);
    }
}

/* Lists the units that lost code. Functions that were folded from several units are there. */
static void ms_fold_list_losers(machsym_session *s, ms_fold_losers *losers)
{
    ms_cu_index_aranges(&s->env);
    ms_arena_reset(&s->scratch);
    ms_cu_pieces pieces = {&s->scratch, NULL, 0, 0};
    if (s->env.claims == NULL)
        return;
    ms_fold_add_claims(s, &pieces);
    ms_key *order = (ms_key *)ms_arena_alloc(&s->scratch, pieces.count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(&s->scratch, pieces.count, sizeof *order);
    losers->v = (ms_piece *)ms_arena_alloc(&s->keep, pieces.count, sizeof *losers->v);
    losers->reach = (uint64_t *)ms_arena_alloc(&s->keep, pieces.count, sizeof *losers->reach);
    if (order == NULL || room == NULL || losers->v == NULL || losers->reach == NULL)
        return;
    for (size_t i = 0; i < pieces.count; i++) {
        order[i].key = pieces.v[i].lo;
        order[i].item = i;
    }
    ms_sort(order, pieces.count, room);
    for (size_t i = 0; i < pieces.count; i++) {
        losers->v[i] = pieces.v[order[i].item];
        losers->reach[i] = losers->v[i].hi;
        if (i > 0)
            ms_raise_to(&losers->reach[i], losers->reach[i - 1]);
    }
    losers->count = pieces.count;
}

/* The units that lost code to others. */
static const ms_fold_losers *ms_fold_losers_of(machsym_session *s)
{
    ms_ses_folded *f = s->folded;
    if (!f->has_losers)
        ms_fold_list_losers(s, &f->losers);
    f->has_losers = true;
    return &f->losers;
}

/* ---- The set of a body ---- */

static void ms_fold_add(machsym_session *s, ms_fold_set *set, const ms_fold_one *one)
{
    if (set->count >= MACHSYM_MAX_FOLDED) {
        set->is_whole = false;
        return;
    }
    ms_fold_one *v = (ms_fold_one *)ms_arena_grow(&s->keep, set->v, set->count, &set->cap, sizeof *v);
    if (v == NULL)
        return;
    set->v = v;
    v[set->count++] = *one;
}

/* Adds the functions of a unit whose code is that of the set, but for the one that is there. */
static void ms_fold_add_unit(machsym_session *s, ms_fold_set *set, size_t index)
{
    const ms_ses_unit *unit = ms_ses_functions_of(s, index);
    if (unit == NULL)
        return;
    const ms_fn_table *functions = &unit->functions;
    size_t twins;
    size_t first = ms_body_twins(functions, set->lo, &twins);
    uint32_t owner = ms_seg_owner(functions->segs, functions->seg_count, set->lo);
    for (size_t i = 0; i < twins || (twins == 0 && i == 0); i++) {
        uint32_t number = twins == 0 ? owner : (uint32_t)functions->twins[first + i].item;
        const ms_fn_block *block = number != ms_SEG_NONE ? &functions->blocks[number] : NULL;
        MACHSYM_COUNT_WORK(1);
        if (block == NULL || block->lo != set->lo || block->hi != set->hi || block->range_count != 1 ||
            block->die_off == set->v[0].die_off)
            continue;
        ms_fold_one one = {index, block->die_off, ms_str_empty(), MACHSYM_SOURCE_DWARF};
        ms_fold_add(s, set, &one);
    }
}

/* Adds the functions of other units. */
static void ms_fold_add_units(machsym_session *s, ms_fold_set *set)
{
    const ms_fold_losers *losers = ms_fold_losers_of(s);
    size_t asked = 0;
    size_t at =
        losers->count == 0 ? 0 : ms_upper_bound(&losers->v[0].lo, losers->count, sizeof *losers->v, set->lo);
    uint64_t hi = UINT64_MAX;
    size_t own = set->v[0].unit;
    size_t owner = ms_cu_claimant(&s->env, &s->env.aranges, set->lo, &hi);
    if (owner < s->env.count && owner != own)
        ms_fold_add_unit(s, set, owner);
    for (; at > 0 && losers->reach[at - 1] > set->lo; at--) {
        const ms_piece *piece = &losers->v[at - 1];
        MACHSYM_COUNT_WORK(1);
        if (piece->hi <= set->lo || piece->owner == own || piece->owner == owner)
            continue;
        if (asked++ == MACHSYM_MAX_FOLDED_UNITS) {
            set->is_whole = false;
            return;
        }
        ms_fold_add_unit(s, set, piece->owner);
    }
}

/* Whether other functions of a unit may have the code from lo on. Linkers keep the rows of each function that
 * they fold, so sequences of the unit overlap then. Where none overlap, and one holds the code, the unit's
 * entries are not needed. This holds for all units of the fixtures and of the dSYMs in tests/real. */
static bool ms_fold_may_have_twins(const ms_ln_table *lines, uint64_t lo)
{
    size_t at = ms_ln_seq_above(lines, 0, lo);
    bool is_sound = !lines->is_damaged && !lines->shares_code && !lines->goes_back && !lines->ends_early &&
                    !lines->is_open;
    return !is_sound || at >= lines->seq_count || lines->seqs[at].lo > lo;
}

/* The block of a function; NULL when its unit cannot be read. */
static const ms_fn_block *ms_fold_block(machsym_session *s, const ms_fold_one *one, ms_ses_unit **unit)
{
    *unit = ms_ses_functions_of(s, one->unit);
    if (*unit == NULL || (*unit)->functions.count == 0)
        return NULL;
    const ms_fn_table *functions = &(*unit)->functions;
    size_t at = ms_lower_bound(&functions->blocks[0].die_off, functions->count, sizeof *functions->blocks,
                               one->die_off);
    bool found = at < functions->count && functions->blocks[at].die_off == one->die_off;
    return found ? &functions->blocks[at] : NULL;
}

/* The name of a function of a set as symbols have it; empty when it has none. */
static machsym_str ms_fold_name(machsym_session *s, const ms_fold_one *one)
{
    ms_ses_unit *unit;
    machsym_frame frame;
    if (one->die_off == 0)
        return one->symbol;
    const ms_fn_block *block = ms_fold_block(s, one, &unit);
    if (block == NULL)
        return ms_str_empty();
    ms_zero(&frame, sizeof frame);
    ms_ans_name_block(s, &unit->functions, block, &frame);
    ms_ans_settle_shared(&frame);
    return frame.linkage_name.len != 0 ? frame.linkage_name : frame.name;
}

/* Whether a text was met before; if not, it is from now on. */
static bool ms_fold_is_known(ms_tab *known, machsym_str *texts, size_t *count, machsym_str text)
{
    ms_tab_text search = ms_tab_text_of(text);
    for (ms_tab_slot *slot; (slot = ms_tab_next_text(known, &search)) != NULL;) {
        if (slot->value == 0) {
            texts[*count] = text;
            slot->value = (uint32_t)++ * count;
            return false;
        }
        if (ms_str_equal(texts[slot->value - 1], text))
            return true;
    }
    return false;
}

/* Whether a symbol tells of a function: guesses do not, nor do starts without a name or a compiler's
 * labels. */
static bool ms_fold_is_function(uint64_t item)
{
    machsym_source source = ms_sym_source(item);
    if (source == MACHSYM_SOURCE_SYMTAB)
        return (item >> ms_SYM_RANK_SHIFT & 0xff) < 3;
    return source == MACHSYM_SOURCE_EXPORTS || source == MACHSYM_SOURCE_OBJC;
}

/* Adds the symbols of the address whose names none of the functions has. */
static void ms_fold_add_symbols(machsym_session *s, ms_fold_set *set)
{
    ms_tab known;
    ms_sym_table near_table;
    ms_arena room = ms_arena_make(s->allocator);
    const ms_sym_table *t = ms_src_table_at(ms_ses_symbols(s), set->lo, &room, &near_table);
    size_t first = ms_sym_first(t, set->lo);
    bool is_there = first < t->count && t->v[first].key == set->lo;
    size_t symbols = is_there ? ms_sym_next(t, first) - first : 0;
    if (symbols == 0 || (symbols == 1 && set->count == 1)) { /* it is the function's own */
        ms_arena_admit(&s->scratch, room.failed);
        ms_arena_free(&room);
        return;
    }
    ms_zero(&known, sizeof known);
    known.arena = &room;
    machsym_str *texts = (machsym_str *)ms_arena_alloc(&room, set->count + symbols, sizeof *texts);
    size_t count = 0;
    for (size_t i = 0; texts != NULL && i < set->count; i++)
        ms_fold_is_known(&known, texts, &count, ms_fold_name(s, &set->v[i]));
    for (size_t i = first; texts != NULL && i < first + symbols; i++) {
        uint64_t item = t->v[i].item;
        machsym_str name = ms_fold_is_function(item) ? ms_sym_name(t, item) : ms_str_empty();
        ms_fold_one one = {0, 0, name, ms_sym_source(item)};
        if (name.len != 0 && !ms_fold_is_known(&known, texts, &count, name))
            ms_fold_add(s, set, &one);
    }
    ms_arena_admit(&s->scratch, room.failed);
    ms_arena_free(&room);
}

static void ms_fold_clear(ms_fold_set *set)
{
    set->lo = set->hi = 0;
    set->count = 0;
    set->is_whole = true;
}

/* Begins the set of code that no function of the debug info has. */
static void ms_fold_begin_of_symbols(machsym_session *s, uint64_t addr, ms_fold_set *set)
{
    machsym_symbol symbol;
    if (!ms_src_find(ms_ses_symbols(s), addr, &symbol) || symbol.name.len == 0)
        return;
    ms_fold_one one = {0, 0, symbol.name, symbol.source};
    set->lo = symbol.lo;
    set->hi = symbol.hi;
    ms_fold_add(s, set, &one);
}

/* Makes the set of the code at an address. */
static void ms_fold_make(machsym_session *s, uint64_t addr, ms_fold_set *set)
{
    ms_fold_clear(set);
    ms_ses_units(s);
    ms_ses_span span = ms_eng_at(s, addr);
    if (span.function != ms_SEG_NONE) {
        const ms_fn_block *block = &span.unit->functions.blocks[span.function];
        ms_fold_one one = {span.unit->index, block->die_off, ms_str_empty(), MACHSYM_SOURCE_DWARF};
        set->lo = span.range.lo;
        set->hi = span.range.hi;
        ms_fold_add(s, set, &one);
        bool is_one = set->count == 1 && block->range_count == 1;
        if (is_one && ms_fold_may_have_twins(span.unit->lines, set->lo))
            ms_fold_add_unit(s, set, one.unit);
        if (is_one)
            ms_fold_add_units(s, set);
    } else {
        ms_fold_begin_of_symbols(s, addr, set);
    }
    if (set->count != 0)
        ms_fold_add_symbols(s, set);
}

/* Makes what a session knows of folded functions. losers: those of a session that shares its indexes; NULL:
 * they are listed when they are first asked for. Returns false when memory is out. */
static bool ms_fold_begin(machsym_session *s, const ms_fold_losers *losers)
{
    if (s->folded == NULL)
        s->folded = (ms_ses_folded *)ms_arena_zeroed(&s->keep, 1, sizeof *s->folded);
    if (s->folded == NULL)
        return false;
    if (losers != NULL) {
        s->folded->losers = *losers;
        s->folded->has_losers = true;
    }
    return true;
}

/* The functions that share the code at an address, of the session's own debug info and symbols; NULL when
 * memory is out. */
static const ms_fold_set *ms_fold_at(machsym_session *s, uint64_t addr)
{
    if (!ms_fold_begin(s, NULL))
        return NULL;
    ms_fold_set *set = &s->folded->last;
    if (addr < set->lo || addr >= set->hi || set->count == 0)
        ms_fold_make(s, addr, set);
    return set;
}

/* ---- Where to look ---- */

/* Lists the addresses at which there are several symbols, one of a function among them, in their order. *v is
 * NULL when memory is out. */
static size_t ms_fold_list_aliases(const ms_sym_table *t, ms_arena *arena, uint64_t **v)
{
    size_t count = 0;
    size_t cap = 0;
    *v = NULL;
    for (size_t i = 0, end; i < t->count; i = end) {
        bool has_function = false;
        for (end = i; end < t->count && t->v[end].key == t->v[i].key; end++)
            has_function = has_function || ms_fold_is_function(t->v[end].item);
        if (end - i < 2 || !has_function)
            continue;
        uint64_t *more = (uint64_t *)ms_arena_grow(arena, *v, count, &cap, sizeof *more);
        if (more == NULL)
            return count;
        *v = more;
        more[count++] = t->v[i].key;
    }
    return count;
}

/* Whether another unit may claim the code of a function of a unit. Claims may lie around many others: after
 * ms_FOLD_CLAIMS steps it may. */
static bool ms_fold_is_claimed(machsym_session *s, size_t unit, uint64_t lo)
{
    const ms_fold_losers *losers = ms_fold_losers_of(s);
    uint64_t hi = UINT64_MAX;
    size_t owner = ms_cu_claimant(&s->env, &s->env.aranges, lo, &hi);
    if (owner < s->env.count && owner != unit)
        return true;
    size_t end =
        losers->count == 0 ? 0 : ms_upper_bound(&losers->v[0].lo, losers->count, sizeof *losers->v, lo);
    for (size_t at = end; at > 0 && losers->reach[at - 1] > lo; at--) {
        MACHSYM_COUNT_WORK(1);
        if (end - at == ms_FOLD_CLAIMS || (losers->v[at - 1].hi > lo && losers->v[at - 1].owner != unit))
            return true;
    }
    return false;
}

/* Whether a function may share its code. If not, its set has no other one. ms_fold_begin must have been
 * called. */
static bool ms_fold_may_share(machsym_session *s, const ms_ses_unit *unit, const ms_fn_block *block,
                              const uint64_t *aliases, size_t count)
{
    size_t twins;
    size_t at = count == 0 ? 0 : ms_lower_bound(aliases, count, sizeof *aliases, block->lo);
    if (at < count && aliases[at] == block->lo)
        return true;
    ms_body_twins(&unit->functions, block->lo, &twins);
    return twins != 0 || ms_fold_is_claimed(s, unit->index, block->lo);
}

/* ---- Its frames ---- */

/* The frames at an address if the code is that of one function of a set. They hold up to *until. */
static size_t ms_fold_frames(machsym_session *s, const ms_fold_set *set, const ms_fold_one *one,
                             uint64_t addr, machsym_frame *frames, size_t cap, uint64_t *until)
{
    machsym_frame spare;
    machsym_frame *first = cap > 0 ? frames : &spare;
    *until = set->hi;
    ms_zero(first, sizeof *first);
    if (one->die_off == 0) {
        first->linkage_name = one->symbol;
        first->name_source = one->source;
        first->function_start = set->lo;
        first->function_size = set->hi - set->lo;
        return 1;
    }
    ms_ses_unit *unit;
    const ms_fn_block *block = ms_fold_block(s, one, &unit);
    if (block == NULL)
        return 0;
    ms_ses_span span;
    ms_zero(&span, sizeof span);
    span.lo = addr;
    span.hi = UINT64_MAX;
    span.unit = unit;
    span.root = ms_cu_root_of(&s->env, unit->index);
    span.function = (uint32_t)(block - unit->functions.blocks);
    span.range = ms_fn_range_at(block, addr, &span.hi);
    if (!ms_eng_make_ready(s, &span))
        return 0;
    ms_eng_look(s, addr, &span);
    ms_lower_to(until, span.hi);
    size_t count = ms_ans_function_frames(s, &span, addr, frames, cap);
    if (count > 0 && count <= cap && set->count > 1)
        ms_ans_settle_shared(&frames[count - 1]);
    if ((s->flags & MACHSYM_SESSION_BEST_LINE) != 0)
        ms_ans_best_lines(frames, count < cap ? count : cap);
    return count;
}

/* ---- In a map ---- */

/* The body of a map that holds an address. Returns false when one function has that code for itself, or
 * memory is out. */
static bool ms_fold_in_map(machsym_session *s, uint64_t addr, ms_tw_body *body)
{
    const machsym_map *map = s->image->map;
    uint64_t off = addr - map->head.text_addr;
    return off <= UINT32_MAX && ms_ans_begin_map(s) &&
           ms_tw_at(map, ms_map_kept_pages(s->kept), (uint32_t)off, body);
}

/* The frames at an address of a body if the code is that of its function with a number. */
static size_t ms_fold_map_frames(machsym_session *s, const ms_tw_body *body, uint32_t number, uint64_t addr,
                                 machsym_frame *frames, size_t cap)
{
    const machsym_map *map = s->image->map;
    if (number == 0)
        return ms_ans_frames(s, addr, frames, cap);
    size_t count = ms_tw_frames(map, ms_map_kept_pages(s->kept), body, number,
                                (uint32_t)(addr - map->head.text_addr), s->found, s->found_cap);
    return ms_ans_tell_found(s, count, frames, cap);
}

/* The frames of the next function in a map. Functions that the map lacks there are passed over. */
static size_t ms_fold_next_in_map(machsym_session *s, uint64_t addr, machsym_cursor *at,
                                  machsym_frame *frames, size_t cap)
{
    ms_tw_body body;
    size_t count = 0;
    if (!ms_fold_in_map(s, addr, &body))
        return 0;
    for (; count == 0 && at->a <= body.count; at->a++)
        count = ms_fold_map_frames(s, &body, (uint32_t)at->a, addr, frames, cap);
    return count;
}

/* ---- All of them ---- */

/* The frames at an address if the code is that of the next function of its set. The first one is what
 * ms_ans_frames tells. Returns 0 at the end. */
static size_t ms_fold_next(machsym_session *s, uint64_t addr, machsym_cursor *at, machsym_frame *frames,
                           size_t cap)
{
    ms_ses_begin(s);
    if (at->a != 0 && s->image->map != NULL)
        return ms_fold_next_in_map(s, addr, at, frames, cap);
    size_t index = (size_t)at->a++;
    if (index == 0)
        return ms_ans_frames(s, addr, frames, cap);
    ms_ses_object *object = ms_obj_at(s, addr);
    machsym_session *own = object != NULL ? &object->session : s;
    const ms_fold_set *set = ms_fold_at(own, addr);
    uint64_t until;
    size_t count = 0;
    if (set != NULL && index < set->count) {
        ms_fold_one one = set->v[index];
        count = ms_fold_frames(own, set, &one, addr, frames, cap, &until);
    }
    if (object != NULL) {
        ms_obj_keep_frames(s, frames, count < cap ? count : cap);
        ms_obj_count(s->objects, object);
    }
    for (size_t i = 0; i < count && i < cap; i++)
        frames[i].lacks_memory = ms_ses_lacked_memory(s);
    return count;
}

#endif /* ms_ROOM_answer_folded */
