#ifndef ms_ROOM_base_segments
#define ms_ROOM_base_segments
#include "../api/options.h"
#include "bytes.h"
#include "memory.h"

/* ==== >>segments ===========================================================================================
 * Job:    turns ranges that may overlap into sorted segments that do not.
 * Offers: ms_seg, ms_seg_build, ms_seg_at, ms_seg_find, ms_seg_range_at.
 * Never:  takes more than n log n steps, however the ranges overlap. */

/* The addresses from lo to below hi. */
typedef struct ms_range {
    uint64_t lo;
    uint64_t hi;
} ms_range;

/* A range with its owner. */
typedef struct ms_piece {
    uint64_t lo;
    uint64_t hi;
    uint32_t owner;
} ms_piece;

#define ms_SEG_NONE UINT32_MAX

/* The addresses from lo to below the lo of the next segment. */
typedef struct ms_seg {
    uint64_t lo;
    uint32_t owner; /* ms_SEG_NONE: no owner */
} ms_seg;

typedef struct ms_segs {
    ms_seg *v;
    size_t count;
    ms_arena *arena;
} ms_segs;

static inline void ms_seg_add(ms_segs *out, uint64_t lo, uint32_t owner)
{
    ms_seg *v = out->v;
    if (out->count > 0 && v[out->count - 1].lo == lo)
        out->count--;
    if (out->count > 0 && v[out->count - 1].owner == owner)
        return;
    v[out->count].lo = lo;
    v[out->count].owner = owner;
    out->count++;
}

/* Builds segments of ranges that nest or lie apart, where later ones lie inside earlier ones: one sweep,
 * with a stack of the open ranges. Returns false when they do not nest; then out has nothing of use. */
static bool ms_seg_sweep(const ms_piece *pieces, const ms_key *order, size_t count, uint32_t *stack,
                         ms_segs *result)
{
    size_t depth = 0;
    ms_segs segs = *result; /* a copy stays in the processor's registers */
    ms_segs *out = &segs;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = (uint32_t)order[i].item;
        const ms_piece *piece = &pieces[index];
        MACHSYM_COUNT_WORK(1);
        while (depth > 0 && pieces[stack[depth - 1]].hi <= piece->lo) {
            uint64_t end = pieces[stack[--depth]].hi;
            ms_seg_add(out, end, depth > 0 ? pieces[stack[depth - 1]].owner : ms_SEG_NONE);
        }
        if (depth > 0 && (pieces[stack[depth - 1]].hi < piece->hi || stack[depth - 1] > index))
            return false;
        stack[depth++] = index;
        ms_seg_add(out, piece->lo, piece->owner);
    }
    while (depth > 0) {
        uint64_t end = pieces[stack[--depth]].hi;
        ms_seg_add(out, end, depth > 0 ? pieces[stack[depth - 1]].owner : ms_SEG_NONE);
    }
    result->count = segs.count;
    return true;
}

static uint32_t ms_seg_next_free(uint32_t *next, uint32_t at)
{
    while (next[at] != at) {
        MACHSYM_COUNT_WORK(1);
        next[at] = next[next[at]]; /* halves the path: near-constant steps over all calls */
        at = next[at];
    }
    return at;
}

/* Builds segments of ranges that overlap in any way; the later piece wins. It cuts the line at every end of
 * a piece. Then it goes through the pieces from the last to the first, and gives each what is still
 * free. */
static void ms_seg_paint(const ms_piece *pieces, size_t count, ms_arena *scratch, ms_segs *out)
{
    size_t cut_count = 2 * count;
    ms_key *cuts = (ms_key *)ms_arena_alloc(scratch, cut_count, sizeof *cuts);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, cut_count, sizeof *cuts);
    uint32_t *next = (uint32_t *)ms_arena_alloc(scratch, cut_count + 1, sizeof *next);
    uint32_t *owner = (uint32_t *)ms_arena_alloc(scratch, cut_count + 1, sizeof *owner);
    if (cuts == NULL || room == NULL || next == NULL || owner == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        cuts[2 * i].key = pieces[i].lo;
        cuts[2 * i].item = 2 * i;
        cuts[2 * i + 1].key = pieces[i].hi;
        cuts[2 * i + 1].item = 2 * i + 1;
    }
    ms_sort(cuts, cut_count, room);
    for (size_t i = 0; i <= cut_count; i++) {
        next[i] = (uint32_t)i;
        owner[i] = ms_SEG_NONE;
    }
    for (size_t i = count; i-- > 0;) {
        size_t lo = ms_lower_bound(cuts, cut_count, sizeof *cuts, pieces[i].lo);
        size_t hi = ms_lower_bound(cuts, cut_count, sizeof *cuts, pieces[i].hi);
        for (uint32_t at = ms_seg_next_free(next, (uint32_t)lo); at < hi; at = ms_seg_next_free(next, at)) {
            MACHSYM_COUNT_WORK(1);
            owner[at] = pieces[i].owner;
            next[at] = at + 1;
        }
    }
    for (size_t i = 0; i < cut_count; i++) {
        if (i + 1 == cut_count || cuts[i + 1].key != cuts[i].key)
            ms_seg_add(out, cuts[i].key, owner[i]);
    }
}

/* Makes segments of count non-empty pieces (fewer than 2^31). Where pieces overlap, the later one wins.
 * Temporary memory comes from scratch, the result from out->arena. When memory is out, one of the two has
 * oom set. */
static void ms_seg_build(const ms_piece *pieces, size_t count, ms_arena *scratch, ms_segs *out)
{
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    uint32_t *stack = (uint32_t *)ms_arena_alloc(scratch, count, sizeof *stack);
    out->count = 0;
    out->v = (ms_seg *)ms_arena_alloc(out->arena, 2 * count, sizeof *out->v); /* one at every end */
    if (order == NULL || room == NULL || stack == NULL || out->v == NULL || count >= 0x7fffffff)
        return;
    for (size_t i = 0; i < count; i++) {
        order[i].key = pieces[i].lo;
        order[i].item = i;
    }
    ms_sort(order, count, room);
    if (!ms_seg_sweep(pieces, order, count, stack, out)) {
        out->count = 0;
        ms_seg_paint(pieces, count, scratch, out);
    }
    ms_arena_fit(out->arena, out->v, out->count, 2 * count, sizeof *out->v);
}

/* Index of the segment that holds an address; count when it lies before the first. */
static size_t ms_seg_find(const ms_seg *v, size_t count, uint64_t addr)
{
    size_t next = ms_upper_bound(v, count, sizeof *v, addr);
    return next == 0 ? count : next - 1;
}

/* Whether segment number at holds an address, and another one follows it. */
static inline bool ms_seg_holds(const ms_seg *v, size_t count, size_t at, uint64_t addr)
{
    return at + 1 < count && v[at].lo <= addr && addr < v[at + 1].lo;
}

/* The owner of an address; ms_SEG_NONE when it has none. Lowers *hi to where another owner begins. */
static uint32_t ms_seg_at(const ms_seg *v, size_t count, uint64_t addr, uint64_t *hi)
{
    size_t at = ms_seg_find(v, count, addr);
    size_t next = at == count ? 0 : at + 1;
    if (next < count)
        ms_lower_to(hi, v[next].lo);
    return at == count ? ms_SEG_NONE : v[at].owner;
}

static uint32_t ms_seg_owner(const ms_seg *v, size_t count, uint64_t addr)
{
    uint64_t hi = UINT64_MAX;
    return ms_seg_at(v, count, addr, &hi);
}

/* The one of count sorted ranges that holds an address; NULL when none does. The ranges do not overlap. */
static inline const ms_range *ms_seg_range_at(const ms_range *v, size_t count, uint64_t addr)
{
    size_t next = ms_upper_bound(v, count, sizeof *v, addr);
    return next > 0 && addr < v[next - 1].hi ? &v[next - 1] : NULL;
}

#endif /* ms_ROOM_base_segments */
