#ifndef ms_ROOM_answer_check
#define ms_ROOM_answer_check
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "session.h"

/* ==== >>check ==============================================================================================
 * Job:    finds what in a decoded unit contradicts itself.
 * Offers: ms_ck_unit.
 * Never:  changes an answer; reports what some compiler writes on purpose. */

/* ---- Lines ---- */

/* Whether a sequence from number at on has an address. Those before it end at or below the address. */
static bool ms_ck_has_row(const ms_ln_table *lines, size_t at, uint64_t addr)
{
    while (at < lines->seq_count && lines->seqs[at].hi <= addr) {
        MACHSYM_COUNT_WORK(1);
        at++;
    }
    return at < lines->seq_count && lines->seqs[at].lo <= addr;
}

/* Whether a sequence ends inside a function, and no other one goes on there. Sequences and segments both
 * ascend, so that one walk finds it. */
static bool ms_ck_ends_inside(const ms_fn_table *functions, const ms_ln_table *lines)
{
    const ms_seg *v = functions->segs;
    size_t at = 0;
    for (size_t i = 0; i < lines->seq_count; i++) {
        uint64_t hi = lines->seqs[i].hi;
        bool is_last = i + 1 == lines->seq_count || lines->seqs[i + 1].hi != hi; /* that ends there */
        MACHSYM_COUNT_WORK(1);
        for (; at + 1 < functions->seg_count && v[at + 1].lo <= hi; at++)
            MACHSYM_COUNT_WORK(1);
        if (is_last && at < functions->seg_count && v[at].lo < hi && v[at].owner != ms_SEG_NONE &&
            !ms_ck_has_row(lines, i + 1, hi))
            return true;
    }
    return false;
}

/* Code of a unit that functions share, without a gap, and the first twin past it. Twins ascend. */
typedef struct ms_ck_shared {
    uint64_t lo, hi;
    size_t next;
} ms_ck_shared;

/* Moves to the first shared code that ends past an address. There is none when it still ends before it. */
static void ms_ck_next_shared(const ms_fn_table *functions, uint64_t addr, ms_ck_shared *shared)
{
    const ms_key *twins = functions->twins;
    while (shared->hi <= addr && shared->next < functions->twin_count) {
        shared->lo = twins[shared->next].key;
        shared->hi = shared->lo;
        for (; shared->next < functions->twin_count && twins[shared->next].key <= shared->hi;
             shared->next++) {
            uint64_t hi = functions->blocks[twins[shared->next].item].hi;
            MACHSYM_COUNT_WORK(1);
            shared->hi = hi > shared->hi ? hi : shared->hi;
        }
    }
}

/* Whether sequences share addresses that no functions share. order: the sequences by their begin. */
static bool ms_ck_overlap_alone(const ms_fn_table *functions, const ms_ln_table *lines, const ms_key *order)
{
    const ms_ln_seq *before = NULL;
    ms_ck_shared shared = {0, 0, 0};
    uint64_t reach = 0; /* the largest end so far */
    for (size_t i = 0; i < lines->seq_count; i++) {
        const ms_ln_seq *seq = &lines->seqs[order[i].item];
        bool are_equal = before != NULL && seq->lo == before->lo && seq->hi == before->hi;
        uint64_t hi = reach < seq->hi ? reach : seq->hi;
        MACHSYM_COUNT_WORK(1);
        if (seq->lo < hi && !are_equal) {
            ms_ck_next_shared(functions, seq->lo, &shared);
            if (seq->lo < shared.lo || hi > shared.hi)
                return true;
        }
        reach = seq->hi > reach ? seq->hi : reach;
        before = seq;
    }
    return false;
}

/* Whether sequences share addresses. Equal ones are no contradiction: code that a linker folded has them. Nor
 * are others where functions share the addresses: dsymutil joins a folded function's sequence with the one
 * that goes on where it ends. */
static bool ms_ck_overlap(const ms_fn_table *functions, const ms_ln_table *lines, ms_arena *scratch)
{
    const ms_ln_seq *v = lines->seqs;
    size_t at = 1;
    while (at < lines->seq_count &&
           (v[at].lo >= v[at - 1].hi || (v[at].lo == v[at - 1].lo && v[at].hi == v[at - 1].hi)))
        at++;
    if (at >= lines->seq_count || functions->twin_count == 0)
        return at < lines->seq_count;
    ms_arena_reset(scratch);
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, lines->seq_count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, lines->seq_count, sizeof *room);
    if (order == NULL || room == NULL)
        return false;
    for (size_t i = 0; i < lines->seq_count; i++) {
        order[i].key = v[i].lo;
        order[i].item = i;
    }
    ms_sort(order, lines->seq_count, room);
    return ms_ck_overlap_alone(functions, lines, order);
}

/* What contradicts itself in a unit's lines; NULL: nothing does. Of version 5, one file more than there are
 * is no contradiction: compilers counted from 1 when it was new. */
static const char *ms_ck_lines(const ms_fn_table *functions, const ms_ln_table *lines, ms_arena *scratch)
{
    if (lines->has_odd_header)
        return "the header of a line program contradicts itself";
    if (lines->goes_back)
        return "rows of a line program go back";
    if (lines->has_wrong_line)
        return "a line program counts lines down below 0";
    if (lines->most_file > lines->file_count)
        return "a line program names a file that it does not have";
    if (ms_ck_overlap(functions, lines, scratch))
        return "sequences of a line program share addresses";
    return ms_ck_ends_inside(functions, lines) ? "a sequence of a line program ends inside a function" : NULL;
}

/* ---- Ranges ---- */

/* Whether a block with ranges has all addresses of [lo, hi). Takes its steps from *steps; once they are spent
 * is not known, which is no contradiction. */
static bool ms_ck_holds(const ms_fn_block *block, uint64_t lo, uint64_t hi, uint64_t *steps)
{
    if (block->range_count == 1)
        return lo >= block->lo && hi <= block->hi;
    while (lo<hi && * steps> 0) {
        const ms_range *range = ms_fn_list_at(block->ranges, block->range_count, lo);
        if (range == NULL)
            return false;
        lo = range->hi;
        --*steps;
    }
    return true;
}

/* Whether a call has code that what it is inlined into does not have. Calls without ranges of their own are
 * passed over. */
static ms_NOINLINE bool ms_ck_leaves(const ms_fn_table *functions, const ms_fn_block *call, uint64_t *steps)
{
    const ms_fn_block *parent = &functions->blocks[call->parent];
    for (; parent->range_count == 0 && parent->parent != ms_SEG_NONE && *steps > 0; --*steps)
        parent = &functions->blocks[parent->parent];
    for (size_t i = 0; i < call->range_count && parent->range_count > 0; i++) {
        ms_range range = ms_fn_range(call, i);
        MACHSYM_COUNT_WORK(1);
        if (!ms_ck_holds(parent, range.lo, range.hi, steps))
            return true;
    }
    return false;
}

/* Whether a call has code outside of what it is inlined into. Nearly all have one range, as their parents. */
static bool ms_ck_calls_leave(const ms_fn_table *functions, uint64_t steps)
{
    const ms_fn_block *blocks = functions->blocks;
    for (size_t i = 0; i < functions->count; i++) {
        const ms_fn_block *call = &blocks[i];
        if (call->parent == ms_SEG_NONE)
            continue;
        const ms_fn_block *parent = &blocks[call->parent];
        bool are_plain = call->range_count == 1 && parent->range_count == 1;
        if (are_plain ? call->lo < parent->lo || call->hi > parent->hi
                      : ms_ck_leaves(functions, call, &steps))
            return true;
    }
    return false;
}

/* Whether segments give all code of functions to an owner. */
static bool ms_ck_has_functions(const ms_segs *segs, uint32_t owner, const ms_fn_table *functions)
{
    size_t at = 0; /* functions mostly ascend */
    for (size_t i = 0; i < functions->count; i++) {
        const ms_fn_block *block = &functions->blocks[i];
        for (size_t j = 0; j < block->range_count && block->parent == ms_SEG_NONE; j++) {
            ms_range range = ms_fn_range(block, j);
            MACHSYM_COUNT_WORK(1);
            if (!ms_seg_holds(segs->v, segs->count, at, range.lo))
                at = ms_seg_find(segs->v, segs->count, range.lo);
            if (at + 1 >= segs->count || segs->v[at].owner != owner || range.hi > segs->v[at + 1].lo)
                return false;
        }
    }
    return true;
}

/* Whether the ranges that a root states have all code of the unit's functions, by the root's own list. The
 * bytes of the unit bound how long a list is read, since all roots of a hostile file could name the same one.
 * Of a list that is longer, or has no code, nothing is known. */
static bool ms_ck_states_functions(machsym_session *s, const ms_cu_root *root, const ms_ses_unit *unit)
{
    ms_ranges list = {&s->scratch, NULL, 0, 0, 0, false};
    ms_segs own = {NULL, 0, &s->scratch};
    ms_arena_reset(&s->scratch);
    list.budget = MACHSYM_LIST_AHEAD + (root->enc.unit_end - root->enc.unit_off);
    ms_cu_need(&s->env, ms_NEEDS_RANGES | ms_NEEDS_RNGLISTS);
    ms_cu_read_ranges(&s->env, unit->index, &list);
    ms_piece *pieces = (ms_piece *)ms_arena_alloc(&s->scratch, list.count, sizeof *pieces);
    if (list.count == 0 || list.budget == 0 || pieces == NULL)
        return true;
    for (size_t i = 0; i < list.count; i++) {
        pieces[i].lo = list.v[i].lo;
        pieces[i].hi = list.v[i].hi;
        pieces[i].owner = 0;
    }
    ms_seg_build(pieces, list.count, &s->scratch, &own);
    return s->scratch.oom || ms_ck_has_functions(&own, 0, &unit->functions);
}

/* Whether functions have code that their unit does not state. The index of all units' ranges tells most that
 * have not; the rest share code with another unit. */
static bool ms_ck_functions_leave(machsym_session *s, const ms_cu_root *root, const ms_ses_unit *unit)
{
    bool is_stated = root->ranges.form != 0 || root->high_pc.form != 0;
    return is_stated && !ms_ck_has_functions(&s->env.ranges, (uint32_t)unit->index, &unit->functions) &&
           !ms_ck_states_functions(s, root, unit);
}

/* What contradicts itself in a unit's ranges; NULL: nothing does. */
static const char *ms_ck_ranges(machsym_session *s, const ms_cu_root *root, const ms_ses_unit *unit)
{
    const ms_fn_table *functions = &unit->functions;
    if (functions->has_wrong_ranges)
        return "a range ends before it begins, or leaves its section";
    if (ms_ck_calls_leave(functions, root->enc.unit_end - root->enc.unit_off))
        return "an inlined call has code outside of what it is inlined into";
    return ms_ck_functions_leave(s, root, unit) ? "a function has code outside of its unit's ranges" : NULL;
}

/* ---- Unit ---- */

/* Looks at a unit that has been decoded with its calls and lines, and counts it if it is damaged. The roots'
 * ranges have been indexed. Of units that share a line program the first answers for it: to look at it for
 * each of them would multiply the work. */
static void ms_ck_unit(machsym_session *s, const ms_ses_unit *unit, ms_damage *damage)
{
    const ms_fn_table *functions = &unit->functions;
    const ms_ln_table *lines = unit->lines;
    const ms_cu_root *root = ms_cu_root_of(&s->env, unit->index);
    uint64_t off = s->env.v[unit->index].off;
    bool owns_lines = root != NULL && !ms_cu_program_of(&s->env, root, unit->index).is_another;
    const char *what = owns_lines ? ms_ck_lines(functions, lines, &s->scratch) : NULL;
    if (what == NULL && root != NULL)
        what = ms_ck_ranges(s, root, unit);
    if (what != NULL)
        ms_damage_note_wrong(damage, what, ".debug_info", off);
    else if (functions->is_damaged || lines->is_damaged)
        ms_damage_note(damage, "entries, ranges or lines of a unit cannot be read", ".debug_info", off);
    else if (functions->left != 0)
        ms_damage_note(damage, "entries of a unit end before the unit does", ".debug_info", off);
    else if (lines->is_open)
        ms_damage_note(damage, "rows of a line program have no end", ".debug_info", off);
    else if (lines->ends_early)
        ms_damage_note(damage, "a sequence of a line program ends before it begins", ".debug_info", off);
    else if (functions->has_overlaps)
        ms_damage_note(damage, "ranges of one list share addresses", ".debug_info", off);
}

#endif /* ms_ROOM_answer_check */
