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

/* Puts the functions in the order of their bodies. Those of one body stay in the order of their units. */
static void ms_mt_order(ms_mg *m)
{
    ms_mg_folds *all = &m->folds;
    size_t count = all->function_count;
    ms_key *keys = (ms_key *)ms_arena_alloc(&m->arena, count, sizeof *keys);
    ms_key *room = (ms_key *)ms_arena_alloc(&m->arena, count, sizeof *keys);
    ms_mg_function *v = (ms_mg_function *)ms_arena_alloc(&m->arena, count, sizeof *v);
    if (m->arena.oom)
        return;
    for (size_t i = 0; i < count; i++) {
        keys[i].key = ms_mt_place(&all->functions[i]);
        keys[i].item = i;
    }
    ms_sort(keys, count, room);
    for (size_t i = 0; i < count; i++)
        v[i] = all->functions[keys[i].item];
    all->functions = v;
    all->function_cap = count;
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
    m->rows = (ms_tw_row *)ms_arena_alloc(&m->arena, 2 * m->folds.function_count, sizeof *m->rows);
    if (m->arena.oom)
        return;
    for (size_t i = 0, end; i < m->folds.function_count; i = end) {
        end = ms_mt_group_end(m, i);
        ms_mt_add_body(m, i, end);
    }
}

/* ---- Calls ---- */

/* Functions by something that they have, for which several may have the same. */
typedef struct ms_mt_index {
    ms_key *v;
    size_t count;
} ms_mt_index;

static ms_mt_index ms_mt_index_of(ms_mg *m, bool by_name)
{
    const ms_mg_folds *all = &m->folds;
    ms_mt_index index = {NULL, 0};
    ms_key *room = (ms_key *)ms_arena_alloc(&m->arena, all->function_count, sizeof *room);
    index.v = (ms_key *)ms_arena_alloc(&m->arena, all->function_count, sizeof *room);
    for (size_t i = 0; i < all->function_count && !m->arena.oom; i++) {
        uint64_t key = by_name ? all->functions[i].name : all->functions[i].entry;
        if (key == 0 || all->functions[i].number == UINT32_MAX)
            continue;
        index.v[index.count].key = key;
        index.v[index.count++].item = i;
    }
    if (!m->arena.oom)
        ms_sort(index.v, index.count, room);
    return index;
}

/* The function of an entry; NULL when it is not told of. */
static const ms_mg_function *ms_mt_by_entry(const ms_mg *m, const ms_mt_index *entries, uint64_t entry)
{
    size_t at = ms_lower_bound(&entries->v[0].key, entries->count, sizeof *entries->v, entry);
    bool is_there = at < entries->count && entries->v[at].key == entry;
    return is_there ? &m->folds.functions[entries->v[at].item] : NULL;
}

/* The function that has the name that a call names; NULL when none has, or several have. Of many functions
 * with one name no more than MACHSYM_MAX_EQUAL_HASHES are looked at. */
static const ms_mg_function *ms_mt_by_name(const ms_mg *m, const ms_mt_index *names, const ms_mg_site *site)
{
    const ms_mg_function *found = NULL;
    size_t at = ms_lower_bound(&names->v[0].key, names->count, sizeof *names->v, site->callee);
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
    const ms_mg_function *caller = site->caller != 0 ? ms_mt_by_entry(m, entries, site->caller) : NULL;
    return site->caller == 0 ? 0 : caller != NULL ? caller->number : UINT32_MAX;
}

/* Sorts the calls, and drops those that say two things of one call. */
static void ms_mt_order_calls(ms_mg *m, const ms_tw_call *calls, size_t count)
{
    ms_key *keys = (ms_key *)ms_arena_alloc(&m->arena, count, sizeof *keys);
    ms_key *room = (ms_key *)ms_arena_alloc(&m->arena, count, sizeof *keys);
    m->calls = (ms_tw_call *)ms_arena_alloc(&m->arena, count, sizeof *m->calls);
    if (m->arena.oom)
        return;
    for (size_t i = 0; i < count; i++) {
        keys[i].key = (uint64_t)calls[i].return_off << 32 | calls[i].caller;
        keys[i].item = i;
    }
    ms_sort(keys, count, room);
    for (size_t i = 0; i < count; i++) {
        bool is_one =
            (i == 0 || keys[i - 1].key != keys[i].key) && (i + 1 == count || keys[i + 1].key != keys[i].key);
        if (is_one)
            m->calls[m->call_count++] = calls[keys[i].item];
    }
}

static void ms_mt_add_calls(ms_mg *m)
{
    const ms_mg_folds *all = &m->folds;
    ms_mt_index names = ms_mt_index_of(m, true);
    ms_mt_index entries = ms_mt_index_of(m, false);
    ms_tw_call *calls = (ms_tw_call *)ms_arena_alloc(&m->arena, all->site_count, sizeof *calls);
    size_t count = 0;
    if (m->arena.oom)
        return;
    for (size_t i = 0; i < all->site_count; i++) {
        const ms_mg_site *site = &all->sites[i];
        const ms_mg_function *callee = ms_mt_by_entry(m, &entries, site->target);
        if (callee == NULL)
            callee = ms_mt_by_name(m, &names, site);
        uint32_t caller = ms_mt_caller(m, &entries, site);
        if (callee == NULL || caller == UINT32_MAX)
            continue;
        ms_tw_call call = {site->return_off, caller, callee->lo, callee->number};
        calls[count++] = call;
    }
    ms_mt_order_calls(m, calls, count);
}

/* Makes the rows of all functions and calls that were taken. */
static void ms_mt_finish(ms_mg *m)
{
    if (m->folds.function_count == 0 || m->arena.oom)
        return;
    ms_mt_order(m);
    if (!m->arena.oom)
        ms_mt_add_bodies(m);
    if (!m->arena.oom && m->row_count != 0)
        ms_mt_add_calls(m);
}

#endif /* ms_ROOM_map_settle */
