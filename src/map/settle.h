#ifndef ms_ROOM_map_settle
#define ms_ROOM_map_settle
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../symmap/symmap.h"
#include "../symmap/twins.h"
#include "encode.h"
#include "merge.h"

/* ==== >>settle ============================================================================================
 * Job:    puts the functions of all parts that share code together, and finds which ones calls call.
 * Offers: ms_mt_take, ms_mt_order, ms_mt_group_end, ms_mt_finish.
 * Never:  decides where two answers are possible. */

/* ---- What the parts have ---- */

/* Moves the ranges of a part, which count from 0 on, to where those of the parts before end. */
static void ms_mt_shift(machsym_part *part, uint32_t shift)
{
    ms_en *c = &part->coder;
    for (size_t i = 0; i < c->piece_count; i++) {
        c->pieces[i].lo += shift;
        c->pieces[i].hi += shift;
    }
    for (size_t i = 0; i < c->run_count; i++) { /* where a run begins is written with its place */
        uint8_t *run = c->data.v + c->runs[i].at;
        ms_map_store_u32(run + 8, ms_rd_raw_u32(run + 8) + shift);
        ms_map_store_u32(run + 16, ms_rd_raw_u32(run + 16) + shift);
    }
}

/* Makes room for what all parts have. Returns false when memory is out. */
static bool ms_mt_make_room(ms_mg *m)
{
    size_t functions = m->symbols->folds.function_count;
    size_t sites = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        functions += m->parts[i]->folds.function_count;
        sites += m->parts[i]->folds.site_count;
    }
    if (functions > m->folds.function_cap || m->twins == NULL) {
        ms_mg_function *v = (ms_mg_function *)ms_arena_alloc(&m->arena, functions, sizeof *v);
        if (v != NULL)
            ms_copy(v, m->folds.functions, m->folds.function_count * sizeof *v);
        m->folds.functions = v;
        m->folds.function_cap = functions;
    }
    if (m->twins == NULL) {
        m->twins = (machsym_part **)ms_arena_zeroed(&m->arena, m->part_count + 1, sizeof *m->twins);
        m->folds.sites = (ms_mg_site *)ms_arena_alloc(&m->arena, sites, sizeof *m->folds.sites);
    }
    return !m->arena.oom;
}

/* Takes over what a part knows. Ranges past 4 GB are left out, which their functions say. */
static void ms_mt_take(ms_mg *m, const machsym_part *part)
{
    const ms_mg_folds *from = &part->folds;
    ms_mg_folds *all = &m->folds;
    bool fits = all->size + from->size <= UINT32_MAX;
    if (!ms_mt_make_room(m))
        return;
    for (size_t i = 0; i < from->function_count; i++) {
        ms_mg_function *function = &all->functions[all->function_count++];
        *function = from->functions[i];
        if (function->at != ms_TW_CUT)
            function->at = fits ? function->at + (uint32_t)all->size : ms_TW_CUT;
    }
    for (size_t i = 0; i < from->site_count; i++)
        all->sites[all->site_count++] = from->sites[i];
    if (from->part == NULL || !fits)
        return;
    ms_mt_shift(from->part, (uint32_t)all->size);
    m->twins[m->twin_count++] = from->part;
    all->size += from->size;
}

/* ---- Bodies ---- */

/* The place of a function in its body: the one that RUNS has is first, those without ranges are last. */
static uint64_t ms_mt_place(const ms_mg_function *function)
{
    unsigned rank = function->is_first ? 0 : function->at != ms_TW_CUT ? 1 : 2;
    return (uint64_t)function->lo << 2 | rank;
}

/* Functions by something that they have, for which several may have the same. */
typedef struct ms_mt_index {
    ms_key *v;
    size_t count;
} ms_mt_index;

/* Room for the work on all functions and calls. */
typedef struct ms_mt_work {
    ms_key *keys;
    ms_key *room;
    ms_mg_function *functions;
    ms_tw_call *calls;
    ms_mt_index names;
    ms_mt_index entries;
} ms_mt_work;

/* Makes room for the work, and for the rows that come of it. Returns false when memory is out. */
static bool ms_mt_begin(ms_mg *m, ms_mt_work *w)
{
    size_t functions = m->folds.function_count;
    size_t sites = m->folds.site_count;
    size_t most = functions > sites ? functions : sites;
    ms_zero(w, sizeof *w);
    w->keys = (ms_key *)ms_arena_alloc(&m->arena, most, sizeof *w->keys);
    w->room = (ms_key *)ms_arena_alloc(&m->arena, most, sizeof *w->room);
    w->functions = (ms_mg_function *)ms_arena_alloc(&m->arena, functions, sizeof *w->functions);
    w->calls = (ms_tw_call *)ms_arena_alloc(&m->arena, sites, sizeof *w->calls);
    w->names.v = (ms_key *)ms_arena_alloc(&m->arena, functions, sizeof *w->names.v);
    w->entries.v = (ms_key *)ms_arena_alloc(&m->arena, functions, sizeof *w->entries.v);
    m->rows = (ms_tw_row *)ms_arena_alloc(&m->arena, 2 * functions, sizeof *m->rows);
    m->calls = (ms_tw_call *)ms_arena_alloc(&m->arena, sites, sizeof *m->calls);
    return !m->arena.oom;
}

/* Puts the functions in the order of their bodies. Those of one body stay in the order of their units. */
static void ms_mt_sort(ms_mg *m, ms_mt_work *w)
{
    ms_mg_folds *all = &m->folds;
    size_t count = all->function_count;
    for (size_t i = 0; i < count; i++) {
        w->keys[i].key = ms_mt_place(&all->functions[i]);
        w->keys[i].item = i;
    }
    ms_sort(w->keys, count, w->room);
    for (size_t i = 0; i < count; i++)
        w->functions[i] = all->functions[w->keys[i].item];
    all->functions = w->functions;
    all->function_cap = count;
}

/* The same of what was taken until now. */
static void ms_mt_order(ms_mg *m)
{
    ms_mt_work w;
    if (ms_mt_begin(m, &w))
        ms_mt_sort(m, &w);
}

/* Where the functions end that begin where one does. */
static size_t ms_mt_group_end(const ms_mg *m, size_t first)
{
    const ms_mg_function *v = m->folds.functions;
    size_t end = first;
    while (end < m->folds.function_count && v[end].lo == v[first].lo)
        end++;
    return end;
}

/* Adds the rows of functions first ... end - 1, which begin at one address. A function of another size has
 * other code. */
static void ms_mt_add_body(ms_mg *m, size_t first, size_t end)
{
    ms_mg_function *v = m->folds.functions;
    uint32_t size = v[first].size;
    uint32_t number = 0;
    bool is_cut = false;
    for (size_t i = first; i < end; i++) {
        v[i].number = UINT32_MAX;
        v[i].comes_back = v[first].comes_back;
        if (!v[first].is_first || (i > first && v[i].is_first) || v[i].size != size)
            continue;
        is_cut |= v[i].at == ms_TW_CUT;
        if (v[i].at == ms_TW_CUT)
            continue;
        v[i].number = number++;
        ms_tw_row row = {v[i].lo, size, v[i].at};
        if (i > first)
            m->rows[m->row_count++] = row;
    }
    ms_tw_row more = {v[first].lo, size, ms_TW_CUT};
    if (is_cut)
        m->rows[m->row_count++] = more;
    for (size_t i = first; i < end && is_cut;
         i++) /* the name that a call means may be among those left out */
        v[i].name = 0;
}

static void ms_mt_add_bodies(ms_mg *m)
{
    for (size_t i = 0, end; i < m->folds.function_count; i = end) {
        end = ms_mt_group_end(m, i);
        ms_mt_add_body(m, i, end);
    }
}

/* ---- Calls ---- */

/* Fills an index. */
static void ms_mt_fill(const ms_mg *m, ms_mt_work *w, bool by_name, ms_mt_index *index)
{
    const ms_mg_folds *all = &m->folds;
    for (size_t i = 0; i < all->function_count; i++) {
        uint64_t key = by_name ? all->functions[i].name : all->functions[i].entry;
        if (key == 0 || all->functions[i].number == UINT32_MAX)
            continue;
        index->v[index->count].key = key;
        index->v[index->count++].item = i;
    }
    ms_sort(index->v, index->count, w->room);
}

/* The function of an entry; NULL when it is not told of. */
static const ms_mg_function *ms_mt_by_entry(const ms_mg *m, const ms_mt_index *entries, uint64_t entry)
{
    size_t at = entries->count == 0
                    ? 0
                    : ms_lower_bound(&entries->v[0].key, entries->count, sizeof *entries->v, entry);
    bool is_there = at < entries->count && entries->v[at].key == entry;
    return is_there ? &m->folds.functions[entries->v[at].item] : NULL;
}

/* The function that has the name that a call names; NULL when none has, or several have. Of many functions
 * with one name no more than MACHSYM_MAX_EQUAL_HASHES are looked at. */
static const ms_mg_function *ms_mt_by_name(const ms_mg *m, const ms_mt_index *names, const ms_mg_site *site)
{
    const ms_mg_function *found = NULL;
    size_t at = names->count == 0
                    ? 0
                    : ms_lower_bound(&names->v[0].key, names->count, sizeof *names->v, site->callee);
    for (size_t i = at; i < names->count && names->v[i].key == site->callee; i++) {
        const ms_mg_function *function = &m->folds.functions[names->v[i].item];
        MACHSYM_COUNT_WORK(1);
        bool may_be = site->body == UINT32_MAX ? function->is_visible : function->lo == site->body;
        if ((may_be && found != NULL) || i - at == MACHSYM_MAX_EQUAL_HASHES)
            return NULL;
        found = may_be ? function : found;
    }
    return found;
}

/* The number of the function that has a call, in its body; UINT32_MAX when it is not told of. */
static uint32_t ms_mt_caller(const ms_mg *m, const ms_mt_index *entries, const ms_mg_site *site)
{
    if (site->caller == 0)
        return 0;
    const ms_mg_function *caller = ms_mt_by_entry(m, entries, site->caller);
    return caller != NULL ? caller->number : UINT32_MAX;
}

/* Takes over the calls in their order, but for those that say two things of one call, or do not tell of the
 * frame inside. */
static void ms_mt_order_calls(ms_mg *m, ms_mt_work *w, size_t count)
{
    const ms_key *keys = w->keys;
    for (size_t i = 0; i < count; i++) {
        w->keys[i].key = (uint64_t)w->calls[i].return_off << 32 | w->calls[i].caller;
        w->keys[i].item = i;
    }
    ms_sort(w->keys, count, w->room);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && keys[end].key == keys[i].key;)
            end++;
        if (end == i + 1 && w->calls[keys[i].item].callee != UINT32_MAX)
            m->calls[m->call_count++] = w->calls[keys[i].item];
    }
}

static void ms_mt_add_calls(ms_mg *m, ms_mt_work *w)
{
    const ms_mg_folds *all = &m->folds;
    size_t count = 0;
    ms_mt_fill(m, w, true, &w->names);
    ms_mt_fill(m, w, false, &w->entries);
    for (size_t i = 0; i < all->site_count; i++) {
        const ms_mg_site *site = &all->sites[i];
        const ms_mg_function *callee = ms_mt_by_entry(m, &w->entries, site->target);
        if (callee == NULL)
            callee = ms_mt_by_name(m, &w->names, site);
        uint32_t caller = ms_mt_caller(m, &w->entries, site);
        if (callee == NULL || caller == UINT32_MAX)
            continue;
        uint32_t number = callee->comes_back ? UINT32_MAX : callee->number;
        ms_tw_call call = {site->return_off, caller, callee->lo, number};
        w->calls[count++] = call;
    }
    ms_mt_order_calls(m, w, count);
}

/* Makes the rows of all functions and calls that were taken. */
static void ms_mt_finish(ms_mg *m)
{
    ms_mt_work w;
    if (!ms_mt_begin(m, &w))
        return;
    ms_mt_sort(m, &w);
    ms_mt_add_bodies(m);
    ms_mt_add_calls(m, &w);
}

#endif /* ms_ROOM_map_settle */
