#ifndef ms_ROOM_map_folds
#define ms_ROOM_map_folds
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "../base/segments.h"
#include "../macho/symbols.h"
#include "../symmap/pack.h"
#include "../symmap/twins.h"
#include "../dwarf/units.h"
#include "../dwarf/functions.h"
#include "../dwarf/bodies.h"
#include "../dwarf/callsites.h"
#include "../answer/session.h"
#include "../answer/answer.h"
#include "../answer/folded.h"
#include "../answer/stack.h"
#include "merge.h"
#include "settle.h"
#include "writer.h"

/* ==== >>folds ============================================================================================
 * Job:    gathers the functions of a part that share code, and the calls of such ones, for a map.
 * Offers: ms_mf_hints, ms_mf_make_hints, ms_mf, ms_mf_may_have, ms_mf_add_unit, ms_mf_add_symbols,
 *         ms_mf_add_aliases, ms_mf_end, ms_mf_close.
 * Never:  reads another unit than the one at hand: >>settle puts together what units have. */

/* What all parts share. */
typedef struct ms_mf_hints {
    uint64_t *aliases; /* addresses of several symbols, ascending */
    size_t alias_count;
    ms_key *names; /* the names of those symbols, ascending: see ms_mf_name */
    size_t name_count;
} ms_mf_hints;

/* The function that an entry stands for. */
typedef struct ms_mf_target {
    uint64_t entry;
    uint64_t name;
    uint64_t lo; /* of its code; UINT64_MAX: not stated */
} ms_mf_target;

enum { ms_MF_TARGETS = 256 };

/* What gathers. The ranges of functions that RUNS does not have are handed to a writer of maps: they are few,
 * and their frames tell all that a map has. */
typedef struct ms_mf {
    machsym_allocator allocator;
    machsym_map_info info;
    machsym_writer *writer; /* NULL until a function has ranges */
    machsym_frame *frames;  /* room for those of an address */
    ms_mg_folds *folds;
    const ms_mf_hints *hints;
    ms_mf_target *targets; /* that were looked at: each has one place */
    ms_arena unit_arena;   /* emptied for every function */
    uint64_t left;         /* frames that may still be added, and names that may be compared, in bytes */
    uint64_t text_left;    /* bytes of their text */
    uint64_t walk_left;    /* bytes of entries that may be walked for calls: functions may stand in others */
} ms_mf;

/* ---- Names ---- */

/* A number for a name; 0: it has none, or there are too many bytes of names. Takes its bytes from *left. */
static uint64_t ms_mf_name(machsym_str name, uint64_t *left)
{
    if (name.len == 0 || *left <= name.len)
        return 0;
    *left -= name.len;
    uint64_t number = ms_tab_hash_all(name) ^ (uint64_t)name.len << 48;
    return number != 0 ? number : 1;
}

/* Whether names are those of one constructor or destructor that has several: C1 and C2, D1 and
 * D2. People read the same name. */
static bool ms_mf_are_variants(machsym_str a, machsym_str b)
{
    size_t at = 0;
    if (a.len != b.len)
        return false;
    while (at < a.len && a.ptr[at] == b.ptr[at])
        at++;
    bool is_number = at > 0 && at < a.len && a.ptr[at] >= '0' && a.ptr[at] <= '9' && b.ptr[at] >= '0' &&
                     b.ptr[at] <= '9' && (a.ptr[at - 1] == 'C' || a.ptr[at - 1] == 'D');
    return at == a.len || (is_number && ms_str_equal(ms_str_drop(a, at + 1), ms_str_drop(b, at + 1)));
}

/* Adds the names of the symbols first ... end - 1, which have one address. */
static void ms_mf_add_names(const ms_sym_table *t, size_t first, size_t end, ms_arena *arena,
                            ms_mf_hints *hints, size_t *cap, uint64_t *left)
{
    bool differ = false;
    for (size_t i = first + 1; i < end; i++)
        differ =
            differ || !ms_mf_are_variants(ms_sym_name(t, t->v[first].item), ms_sym_name(t, t->v[i].item));
    for (size_t i = first; i < end && differ; i++) {
        uint64_t name = ms_mf_name(ms_sym_name(t, t->v[i].item), left);
        if (name == 0)
            return;
        ms_key *v = (ms_key *)ms_arena_grow(arena, hints->names, hints->name_count, cap, sizeof *v);
        if (v == NULL)
            return;
        hints->names = v;
        v[hints->name_count].key = name;
        v[hints->name_count].item = hints->name_count;
        hints->name_count++;
    }
}

/* Makes what all parts share. left: bytes of names that may be looked at. */
static void ms_mf_make_hints(const ms_sym_table *t, uint64_t left, ms_arena *arena, ms_mf_hints *hints)
{
    size_t cap = 0;
    hints->alias_count = ms_fold_list_aliases(t, arena, &hints->aliases);
    for (size_t i = 0; i < hints->alias_count; i++) {
        size_t first = ms_sym_first(t, hints->aliases[i]);
        ms_mf_add_names(t, first, ms_sym_next(t, first), arena, hints, &cap, &left);
    }
    ms_key *room = (ms_key *)ms_arena_alloc(arena, hints->name_count, sizeof *room);
    if (room != NULL)
        ms_sort(hints->names, hints->name_count, room);
}

static bool ms_mf_is_named(const ms_mf_hints *hints, uint64_t name)
{
    size_t at = hints->name_count == 0
                    ? 0
                    : ms_lower_bound(&hints->names[0].key, hints->name_count, sizeof(ms_key), name);
    return at < hints->name_count && hints->names[at].key == name;
}

static bool ms_mf_is_alias(const ms_mf_hints *hints, uint64_t addr)
{
    size_t at = hints->alias_count == 0
                    ? 0
                    : ms_lower_bound(hints->aliases, hints->alias_count, sizeof(uint64_t), addr);
    return at < hints->alias_count && hints->aliases[at] == addr;
}

/* ---- Functions ---- */

/* Makes what the first ranges need. Returns false when memory is out. */
static bool ms_mf_begin(ms_mf *f)
{
    if (f->frames != NULL)
        return true;
    if (f->writer == NULL)
        f->writer = ms_mw_open(&f->info, f->allocator);
    if (f->writer != NULL)
        f->frames = (machsym_frame *)ms_arena_alloc(&f->folds->arena, MACHSYM_MAX_INLINE_DEPTH + 1,
                                                    sizeof *f->frames);
    if (f->frames == NULL) {
        ms_arena_admit(&f->folds->arena, true);
        return false;
    }
    f->writer->parts[0]->coder.text_left = f->text_left;
    return true;
}

/* Adds the frames of a function for its code. Its ranges stand from an offset of TWIN RUNS on. Returns false
 * when there are more than may be added. What the writer refuses, a name that is too long, is missing. */
static bool ms_mf_add_ranges(ms_mf *f, machsym_session *s, const ms_fold_set *set, const ms_fold_one *one,
                             uint64_t to)
{
    const size_t cap = MACHSYM_MAX_INLINE_DEPTH + 1;
    machsym_map_range range;
    machsym_error err;
    ms_zero(&range, sizeof range);
    for (uint64_t addr = set->lo, until; addr < set->hi; addr = until) {
        size_t count = ms_fold_frames(s, set, one, addr, f->frames, cap, &until);
        MACHSYM_COUNT_WORK(1 + count);
        if (count == 0 || f->left <= count)
            return false;
        f->left -= 1 + count;
        ms_lower_to(&until, set->hi);
        range.lo = f->info.text_addr + to + (addr - set->lo);
        range.hi = f->info.text_addr + to + (until - set->lo);
        for (size_t i = 0; i < count && i < cap; i++)
            f->frames[i].function_start = f->info.text_addr + to;
        if (ms_mw_add(f->writer, &range, f->frames, count < cap ? count : cap, &err) == MACHSYM_ERR_MEMORY)
            ms_arena_admit(&f->folds->arena, true);
    }
    return true;
}

/* Adds a function for the code of [lo, hi). is_first: RUNS has it. */
static void ms_mf_add_function(ms_mf *f, machsym_session *s, const ms_fold_one *one, uint64_t lo, uint64_t hi,
                               bool is_first)
{
    ms_mg_folds *folds = f->folds;
    ms_fold_set set;
    ms_mg_function function;
    ms_mg_function *v = (ms_mg_function *)ms_arena_grow(
        &folds->arena, folds->functions, folds->function_count, &folds->function_cap, sizeof *v);
    if (v == NULL)
        return;
    folds->functions = v;
    if (!ms_mf_begin(f))
        return;
    ms_zero(&set, sizeof set);
    set.lo = lo;
    set.hi = hi;
    set.count = 2; /* others have the code, too */
    ms_zero(&function, sizeof function);
    function.lo = (uint32_t)(lo - f->info.text_addr);
    function.size = (uint32_t)(hi - lo);
    function.at = ms_TW_CUT;
    function.is_first = is_first;
    function.is_visible = ms_stk_is_visible(&s->env, one);
    function.name = ms_mf_name(ms_fold_name(s, one), &f->left);
    function.entry = one->die_off;
    function.comes_back = is_first && ms_stk_may_come_back(s, lo, one->die_off, &f->walk_left);
    bool fits = is_first || folds->size + function.size <= UINT32_MAX;
    if (is_first || (fits && ms_mf_add_ranges(f, s, &set, one, folds->size)))
        function.at = (uint32_t)folds->size;
    if (!is_first && fits)
        folds->size += function.size;
    v[folds->function_count++] = function;
}

/* ---- Calls ---- */

/* The function that an entry stands for. Entries that are asked for again stay in their places. */
static const ms_mf_target *ms_mf_target_of(ms_mf *f, machsym_session *s, uint64_t entry)
{
    ms_mf_target *target = &f->targets[ms_tab_hash(entry, 0) % ms_MF_TARGETS];
    if (target->entry == entry)
        return target;
    ms_fn_names names = ms_fn_names_of(&s->env, entry, false);
    machsym_str name = names.linkage_name.len != 0 ? names.linkage_name : names.name;
    target->entry = entry;
    target->lo = ms_stk_code_of(&s->env, entry);
    target->name = ms_mf_name(ms_ans_linkage(ms_ans_clean(name), ms_ans_clean(names.name)), &f->left);
    return target;
}

/* Whether the function of an entry may share its code, as far as symbols tell, or functions of the unit.
 * Where no address has several symbols, they tell nothing. */
static bool ms_mf_may_be_shared(const ms_mf *f, const ms_fn_table *functions, const ms_mf_target *target)
{
    size_t twins = 0;
    if (target->lo != UINT64_MAX)
        ms_body_twins(functions, target->lo, &twins);
    return twins != 0 || f->hints->alias_count == 0 || ms_mf_is_named(f->hints, target->name) ||
           ms_mf_is_alias(f->hints, target->lo);
}

/* Adds a call if its callee may share its code. */
static void ms_mf_add_site(ms_mf *f, machsym_session *s, const ms_fn_table *functions, uint64_t return_pc,
                           uint64_t entry, uint64_t caller)
{
    ms_mg_folds *folds = f->folds;
    const ms_mf_target *target = ms_mf_target_of(f, s, entry);
    uint64_t off = return_pc - f->info.text_addr;
    uint64_t body = target->lo == UINT64_MAX ? UINT32_MAX : target->lo - f->info.text_addr;
    if (target->name == 0 || off > UINT32_MAX || body > UINT32_MAX ||
        !ms_mf_may_be_shared(f, functions, target))
        return;
    ms_mg_site *v = (ms_mg_site *)ms_arena_grow(&folds->arena, folds->sites, folds->site_count,
                                                &folds->site_cap, sizeof *v);
    if (v == NULL)
        return;
    folds->sites = v;
    ms_mg_site site = {(uint32_t)off, (uint32_t)body, target->name, entry, caller};
    v[folds->site_count++] = site;
}

/* Lists the calls of a function by where they return to. Returns NULL when there are none, memory is out, or
 * the walks have taken too many bytes. */
static ms_key *ms_mf_list_sites(ms_mf *f, machsym_session *s, const ms_cu_root *root, uint64_t entry,
                                size_t *count)
{
    ms_call_walk walk = ms_call_begin(s->env.dw, root, entry);
    ms_call_site site;
    ms_key *v = NULL;
    size_t cap = 0;
    *count = 0;
    if (f->walk_left == 0)
        return NULL;
    while (ms_call_next(&walk, &site)) {
        ms_key *more = (ms_key *)ms_arena_grow(&f->unit_arena, v, *count, &cap, sizeof *v);
        if (more == NULL)
            return NULL;
        v = more;
        v[*count].key = site.return_pc;
        v[(*count)++].item = site.target;
    }
    f->walk_left -= walk.len < f->walk_left ? walk.len : f->walk_left;
    return v;
}

/* Adds the calls of a function. Two calls that return to one address tell nothing, unless they agree. */
static void ms_mf_add_sites(ms_mf *f, machsym_session *s, const ms_ses_unit *unit, const ms_fn_block *block,
                            uint64_t caller)
{
    size_t count;
    ms_arena_reset(&f->unit_arena);
    ms_key *v = ms_mf_list_sites(f, s, ms_cu_root_of(&s->env, unit->index), block->die_off, &count);
    if (v == NULL)
        return;
    ms_sort(v, count, NULL);
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t target = v[i].item;
        for (end = i; end < count && v[end].key == v[i].key; end++)
            target = v[end].item == target ? target : 0;
        if (target != 0)
            ms_mf_add_site(f, s, &unit->functions, v[i].key, target, caller);
    }
}

/* ---- Units and symbols ---- */

/* Whether functions share code at all, as far as symbols and units' claims tell. */
static bool ms_mf_may_have(const ms_mf *f, machsym_session *s)
{
    return f->hints->alias_count != 0 || (ms_fold_begin(s, NULL) && ms_fold_losers_of(s)->count != 0);
}

/* Whether calls may be told of: there may be one of them, and entries are those of the whole program. */
static bool ms_mf_wants_sites(ms_mf *f, const machsym_session *s, const ms_ses_unit *unit)
{
    const ms_mf_hints *hints = f->hints;
    bool may_be = hints->name_count != 0 || hints->alias_count == 0 || unit->functions.twin_count != 0;
    if (s->env.dw->moves != NULL || !may_be)
        return false;
    if (f->targets == NULL)
        f->targets = (ms_mf_target *)ms_arena_zeroed(&f->folds->arena, ms_MF_TARGETS, sizeof *f->targets);
    return f->targets != NULL;
}

/* Adds the functions of a unit that share their code. answers: by function, whether RUNS has it. */
static void ms_mf_add_unit(ms_mf *f, machsym_session *s, const ms_ses_unit *unit, const bool *answers)
{
    const ms_fn_table *functions = &unit->functions;
    bool may_share = ms_fold_begin(s, NULL) && (functions->twin_count != 0 || ms_mf_may_have(f, s));
    bool wants_sites = may_share && ms_mf_wants_sites(f, s, unit);
    for (size_t i = 0; i < functions->count && may_share; i++) {
        const ms_fn_block *block = &functions->blocks[i];
        ms_fold_one one = {unit->index, block->die_off, ms_str_empty(), MACHSYM_SOURCE_DWARF};
        if (block->parent != ms_SEG_NONE || block->range_count != 1 || block->lo >= block->hi ||
            block->lo < f->info.text_addr || block->hi - f->info.text_addr > UINT32_MAX)
            continue;
        bool shares = ms_fold_may_share(s, unit, block, f->hints->aliases, f->hints->alias_count);
        if (shares)
            ms_mf_add_function(f, s, &one, block->lo, block->hi, answers[i]);
        if (wants_sites && (shares || answers[i]))
            ms_mf_add_sites(f, s, unit, block, shares ? block->die_off : 0);
    }
}

/* Whether a name is one of functions that have code: first ... end - 1 of those. */
static bool ms_mf_is_known(const ms_mg_function *v, size_t first, size_t end, uint64_t name)
{
    MACHSYM_COUNT_WORK(end - first);
    while (first < end && v[first].name != name)
        first++;
    return first < end;
}

/* Adds the symbols at an address whose names none of the functions there has: first ... end - 1 of m, and
 * those of this part from own on. Names that are too many to compare are functions left out. */
static void ms_mf_add_others(ms_mf *f, machsym_session *s, const ms_mg *m, size_t first, size_t end,
                             size_t own, uint64_t lo, uint64_t hi)
{
    const ms_sym_table *t = &s->symbols.table;
    for (size_t i = ms_sym_first(t, lo); i < t->count && t->v[i].key == lo; i++) {
        ms_fold_one one = {0, 0, ms_sym_name(t, t->v[i].item), ms_sym_source(t->v[i].item)};
        size_t cost = end - first + f->folds->function_count - own;
        if (!ms_fold_is_function(t->v[i].item) || one.symbol.len == 0)
            continue;
        f->left -= cost < f->left ? cost : f->left;
        uint64_t name = ms_mf_name(one.symbol, &f->left);
        if (name == 0 || (!ms_mf_is_known(m->folds.functions, first, end, name) &&
                          !ms_mf_is_known(f->folds->functions, own, f->folds->function_count, name)))
            ms_mf_add_function(f, s, &one, lo, hi, false);
    }
}

/* Adds the symbols at the address of one that begins code without a function, up to hi. */
static void ms_mf_add_symbols(ms_mf *f, machsym_session *s, const ms_mg *m, const machsym_symbol *symbol,
                              uint64_t hi)
{
    ms_fold_one one = {0, 0, symbol->name, symbol->source};
    size_t own = f->folds->function_count;
    if (!ms_mf_is_alias(f->hints, symbol->lo) || symbol->lo < f->info.text_addr || hi <= symbol->lo ||
        hi - f->info.text_addr > UINT32_MAX || !ms_fold_begin(s, NULL))
        return;
    ms_mf_add_function(f, s, &one, symbol->lo, hi, true);
    ms_mf_add_others(f, s, m, 0, 0, own, symbol->lo, hi);
}

/* Adds the symbols of the functions that >>settle took and put in order. */
static void ms_mf_add_aliases(ms_mf *f, machsym_session *s, const ms_mg *m)
{
    const ms_mg_function *v = m->folds.functions;
    for (size_t i = 0, end; i < m->folds.function_count && ms_fold_begin(s, NULL); i = end) {
        uint64_t lo = f->info.text_addr + v[i].lo;
        end = ms_mt_group_end(m, i);
        if (v[i].is_first)
            ms_mf_add_others(f, s, m, i, end, f->folds->function_count, lo, lo + v[i].size);
    }
}

/* Writes what was gathered. Returns false when memory is out. */
static bool ms_mf_end(ms_mf *f, const ms_pk_dict *dict)
{
    if (f->writer == NULL)
        return !f->folds->arena.failed && !f->unit_arena.failed;
    machsym_part *part = f->writer->parts[0];
    f->writer->parts[0] = NULL;
    f->folds->part = part;
    return ms_mg_end_part(part, dict) && !f->folds->arena.failed && !f->unit_arena.failed;
}

static void ms_mf_close(ms_mf *f)
{
    ms_arena_free(&f->unit_arena);
    if (f->writer != NULL)
        ms_mw_close(f->writer);
}

#endif /* ms_ROOM_map_folds */
