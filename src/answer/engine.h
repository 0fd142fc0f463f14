#ifndef ms_ROOM_answer_engine
#define ms_ROOM_answer_engine
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../macho/sources.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../image/debugmap.h"
#include "session.h"
#include "objects.h"
#include "named.h"
#include "views.h"

/* ==== >>engine =============================================================================================
 * Job:    which unit, function, call and row hold an address, and up to where they do.
 * Offers: ms_eng_at, ms_eng_owner, ms_eng_look, ms_eng_index, ms_eng_list_claims.
 * Never:  names anything. */

/* ---- Which unit and function ---- */

/* The functions of all units that state no range, or whose range another unit has, as segments. They are
 * made once, and asked last. The tables of claims tell whose ranges another unit has. */
static void ms_eng_index_silent(machsym_session *s)
{
    ms_cu_index_aranges(&s->env);
    if (!ms_cu_are_ranges_named(&s->env))
        ms_cu_index_ranges(&s->env);
    ms_arena room = ms_arena_make(s->allocator);
    ms_cu_pieces pieces = {&room, NULL, 0, 0};
    for (size_t i = 0; i < s->env.count; i++) {
        const ms_cu_root *root = ms_cu_root_of(&s->env, i);
        bool is_asked = root != NULL && (ms_cu_is_silent(root) || ms_cu_is_contested(&s->env, i));
        const ms_ses_unit *unit = is_asked ? ms_ses_functions_of(s, i) : NULL;
        if (unit != NULL && unit->functions.is_damaged && s->env.claims != NULL)
            s->env.claims[i] |= ms_CLAIM_DAMAGED;
        for (size_t j = 0; unit != NULL && j < unit->functions.seg_count; j++) {
            const ms_seg *seg = &unit->functions.segs[j];
            if (seg->owner != ms_SEG_NONE)
                ms_cu_add_piece(&pieces, seg->lo, seg[1].lo, i); /* the last segment has no owner */
        }
    }
    ms_arena_reset(&s->scratch);
    ms_cu_build_segments(&pieces, &s->scratch, &s->silent);
    ms_arena_admit(&s->scratch, room.failed);
    ms_arena_free(&room);
    s->has_silent = true;
}

/* The unit that one source names for an address; count: none. Lowers *hi to where it may name another. */
static size_t ms_eng_unit_by(machsym_session *s, machsym_unit_source source, uint64_t addr, uint64_t *hi)
{
    if (source == MACHSYM_UNIT_ARANGES)
        return ms_cu_by_aranges(&s->env, addr, hi);
    if (source == MACHSYM_UNIT_RANGES)
        return ms_cu_by_ranges(&s->env, addr, hi);
    if (!s->has_silent)
        ms_eng_index_silent(s);
    return ms_cu_claimant(&s->env, &s->silent, addr, hi);
}

/* The unit that one source names, decoded; or its function at the address alone. */
static ms_ses_unit *ms_eng_unit_at(machsym_session *s, machsym_unit_source source, size_t index,
                                   uint64_t addr, uint64_t *hi)
{
    ms_range code = {addr, *hi};
    ms_ses_unit *unit = source == MACHSYM_UNIT_ARANGES ? ms_named_at(s, index, addr, hi) : NULL;
    if (unit != NULL) {
        s->alone_code = code;
        return unit;
    }
    unit = ms_ses_functions_of(s, index);
    if (unit != NULL && source == MACHSYM_UNIT_ARANGES && !ms_named_asks_first(s))
        ms_named_prepare(s, unit);
    return unit;
}

/* Asks one source after the other, up to the last one, for the unit and function of an address; sets these
 * fields of the span, lo and hi. Returns whether other sources would change nothing, since no unit has the
 * address. */
static bool ms_eng_ask(machsym_session *s, uint64_t addr, machsym_unit_source last, ms_ses_span *span)
{
    ms_zero(span, sizeof *span);
    span->function = ms_SEG_NONE;
    span->lo = addr;
    span->hi = ms_dw_code_until(s->env.dw, addr);
    for (int i = MACHSYM_UNIT_ARANGES; i <= (int)last && span->function == ms_SEG_NONE; i++) {
        machsym_unit_source source = (machsym_unit_source)i;
        size_t index = ms_eng_unit_by(s, source, addr, &span->hi);
        if (source == MACHSYM_UNIT_ARANGES && index == s->env.count && !s->env.lacks_units &&
            ms_named_denies(s, addr, &span->hi))
            return true;
        ms_ses_unit *unit = ms_eng_unit_at(s, source, index, addr, &span->hi);
        if (unit == NULL)
            continue;
        bool is_named;
        uint32_t function = ms_named_owner(unit, source, addr, &span->hi, &is_named);
        if (function == ms_SEG_NONE && span->unit != NULL)
            continue;
        span->unit = unit;
        span->source = source;
        span->function = function;
        span->is_named = is_named;
    }
    if (span->unit != NULL)
        span->root = ms_cu_root_of(&s->env, span->unit->index);
    if (span->function != ms_SEG_NONE)
        span->range = ms_fn_range_at(&span->unit->functions.blocks[span->function], addr, &span->hi);
    return false;
}

/* Finds the unit and function of an address. First the unit is asked that .debug_aranges names; if that is
 * found without a list of units and has the address, no other unit can have it. If it has no function there,
 * the unit is asked whose own ranges have the address. Last come the functions of units that state no range,
 * or whose code another unit claims too. If no function has the address, it belongs to the unit that was
 * named first. */
static ms_ses_span ms_eng_owner(machsym_session *s, uint64_t addr)
{
    ms_ses_span span;
    bool is_code = ms_dw_code_at(s->env.dw, addr) != NULL;
    if (is_code && ms_ses_begin_brief(s)) {
        bool is_denied = ms_eng_ask(s, addr, MACHSYM_UNIT_ARANGES, &span);
        if (is_denied || (span.function != ms_SEG_NONE && !s->env.lacks_units))
            return span;
    }
    bool has_units = is_code && ms_ses_units(s) != 0;
    ms_eng_ask(s, addr, has_units ? MACHSYM_UNIT_FUNCTIONS : MACHSYM_UNIT_NONE, &span);
    return span;
}

/* ---- Which call and row ---- */

/* Whether a unit's lines answer for an address that none of its functions has. Those of assembly do: it has
 * rows but no functions. Otherwise such an address is padding, whose row belongs to the function before.
 * Only the dwarf policy answers with that row, because llvm-symbolizer does, and people with it. In an object
 * file they do not, because a dSYM made from the object has no such rows. */
static bool ms_eng_has_bare_lines(const machsym_session *s, const ms_ses_unit *unit)
{
    bool takes_padding = s->lines == MACHSYM_LINES_DWARF || s->lines == MACHSYM_LINES_PEOPLE;
    return unit->functions.count == unit->functions.late_count || (takes_padding && s->program == NULL);
}

/* Decodes what tells the call and the row. Returns false when memory is out. */
static bool ms_eng_open(machsym_session *s, ms_ses_span *span)
{
    ms_ses_unit *unit = span->unit;
    if (!ms_ses_has_lines(s, unit))
        return false;
    if (span->function != ms_SEG_NONE) {
        span->inside = ms_ses_inside_of(s, unit, span->function);
        ms_ses_unit *view = span->is_named ? unit : ms_view_of(s, unit, span->function);
        if (view == NULL)
            return false;
        span->unit = view;
    }
    span->table = span->inside != NULL ? span->inside->table : &unit->functions;
    return true;
}

/* Makes the segments of a function's calls, unless it is asked for the first time: to look at each call once
 * takes less than to sort them, and many functions are asked only once. A session that decodes calls with
 * their units will ask again. Returns false when memory is out. */
static bool ms_eng_order_calls(machsym_session *s, ms_fn_inside *inside)
{
    if (!inside->is_asked && !s->reads_calls)
        return true;
    ms_arena_reset(&s->scratch);
    ms_fn_find_calls(inside, &s->scratch, &s->cache);
    return !s->scratch.oom && !s->cache.oom;
}

/* Makes a span that has a unit ready for ms_eng_look. Returns false when memory is out. */
static bool ms_eng_make_ready(machsym_session *s, ms_ses_span *span)
{
    if (span->table == NULL && !ms_eng_open(s, span))
        return false;
    return span->inside == NULL || span->inside->has_calls || ms_eng_order_calls(s, span->inside);
}

/* Sets call and row of a span that is ready, and lowers hi, for any address up to there. */
static ms_INLINE void ms_eng_look(const machsym_session *s, uint64_t addr, ms_ses_span *span)
{
    ms_ses_unit *unit = span->unit;
    bool has_function = span->function != ms_SEG_NONE;
    span->call = span->function;
    if (span->inside != NULL)
        span->call = ms_fn_call_at(span->inside, addr, &span->hi);
    span->row = unit->lines->row_count;
    if (has_function || ms_eng_has_bare_lines(s, unit))
        span->row = ms_ln_find(unit->lines, s->lines, has_function, addr, &unit->hint, &span->hi);
}

/* The unit and function of an address. They are remembered: the next address is often in the same function,
 * or in the same code without debug info. What memory did not suffice for is asked again. */
static ms_ses_span ms_eng_owner_again(machsym_session *s, uint64_t addr)
{
    if (s->last.lo <= addr && addr < s->last.hi)
        return s->last;
    ms_ses_span span = ms_eng_owner(s, addr);
    if ((span.unit == NULL || ms_eng_open(s, &span)) && !ms_ses_failed(s))
        s->last = span;
    return span;
}

/* Finds all that holds an address: unit, function, call and row. */
static ms_ses_span ms_eng_at(machsym_session *s, uint64_t addr)
{
    ms_ses_span span = ms_eng_owner_again(s, addr);
    if (span.unit != NULL && ms_eng_make_ready(s, &span)) {
        ms_eng_look(s, addr, &span);
    } else if (span.unit != NULL) {
        ms_zero(&span, sizeof span);
        span.function = ms_SEG_NONE;
        span.hi = addr + 1;
    }
    return span;
}

/* ---- What all of a program needs ---- */

/* Makes all tables that a search by address needs. Sessions call it that lend their tables to others, or
 * that ask for every address. */
static void ms_eng_index(machsym_session *s)
{
    ms_named_leave(s);
    ms_ses_list_programs(s);
    ms_cu_index_aranges(&s->env);
    ms_cu_index_ranges(&s->env);
    if (!s->has_silent)
        ms_eng_index_silent(s);
    ms_src_table(ms_ses_symbols(s));
    ms_ses_objects *objects = ms_obj_map_of(s);
    if (objects != NULL)
        ms_om_index(&objects->map, &s->scratch, &s->keep);
}

/* Adds the segments of one source to the claims, and to the order of their begins. */
static size_t ms_eng_add_claims(const ms_segs *segs, ms_piece *pieces, ms_key *order, size_t count)
{
    for (size_t i = 0; i + 1 < segs->count; i++) { /* the last segment has no owner */
        if (segs->v[i].owner == ms_SEG_NONE)
            continue;
        pieces[count].lo = segs->v[i].lo;
        pieces[count].hi = segs->v[i + 1].lo;
        pieces[count].owner = segs->v[i].owner;
        order[count].key = segs->v[i].lo;
        order[count].item = count;
        count++;
    }
    return count;
}

/* Lists for every unit the code that some source gives it, by address: outside of that it never answers. */
static void ms_eng_list_claims(machsym_session *s)
{
    size_t cap = s->env.aranges.count + s->env.ranges.count + s->silent.count;
    ms_arena_reset(&s->scratch);
    ms_piece *pieces = (ms_piece *)ms_arena_alloc(&s->scratch, cap, sizeof *pieces);
    ms_key *order = (ms_key *)ms_arena_alloc(&s->scratch, cap, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(&s->scratch, cap, sizeof *order);
    ms_range *claims = (ms_range *)ms_arena_alloc(&s->keep, cap, sizeof *claims);
    size_t *first = (size_t *)ms_arena_zeroed(&s->keep, s->env.count + 2, sizeof *first);
    if (pieces == NULL || order == NULL || room == NULL || claims == NULL || first == NULL)
        return;
    size_t count = ms_eng_add_claims(&s->env.aranges, pieces, order, 0);
    count = ms_eng_add_claims(&s->env.ranges, pieces, order, count);
    count = ms_eng_add_claims(&s->silent, pieces, order, count);
    ms_sort(order, count, room);
    for (size_t i = 0; i < count; i++)
        first[pieces[i].owner + 2]++;
    for (size_t i = 2; i < s->env.count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < count; i++) { /* afterwards first[unit + 1] is where the unit's claims end */
        const ms_piece *piece = &pieces[order[i].item];
        ms_range *claim = &claims[first[piece->owner + 1]++];
        claim->lo = piece->lo;
        claim->hi = piece->hi;
    }
    s->claims = claims;
    s->claim_first = first;
}

#endif /* ms_ROOM_answer_engine */
