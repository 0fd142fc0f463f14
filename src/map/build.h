#ifndef ms_ROOM_map_build
#define ms_ROOM_map_build
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "../base/segments.h"
#include "../macho/macho.h"
#include "../macho/symbols.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../answer/answer.h"
#include "pack.h"
#include "symmap.h"
#include "encode.h"
#include "merge.h"

/* ==== >>build ============================================================================================
 * Job:    makes the parts of an image's map from its debug info, and its symbols.
 * Offers: machsym_plan, ms_mb_open, ms_mb_close, ms_mb_build_part, ms_mb_merge.
 * Never:  decides which source answers: >>answer does. */

enum {
    ms_MB_STEP = 16,           /* what a question costs, in bytes of debug info */
    ms_MB_UNIT_BYTES = 4 << 20 /* of debug info in a part */
};

/* ---- Plan ---- */

typedef enum ms_mb_kind {
    ms_MB_UNITS = 0, /* a run of units */
    ms_MB_OBJECTS,   /* a run of object files of a debug map */
    ms_MB_TEXT       /* a run of blocks of text */
} ms_mb_kind;

/* One part's work: items lo to hi of its kind. */
typedef struct ms_mb_task {
    ms_mb_kind kind;
    uint64_t lo;
    uint64_t hi;
    uint64_t size;
} ms_mb_task;

struct machsym_plan {
    const machsym_image *image;
    machsym_lines lines;
    uint32_t flags;
    machsym_allocator allocator;
    machsym_session *session; /* holds what all parts share: unit segments and symbols; not used after open */
    ms_pk_spaces spaces;
    ms_pk_dict *dict;
    ms_arena arena;
    ms_mb_task *tasks;
    size_t count;
    size_t cap;
};

static void ms_mb_set_spaces(const machsym_image *image, ms_pk_spaces *spaces)
{
    ms_zero(spaces, sizeof *spaces);
    spaces->v[0] = image->dw.str;
    for (size_t i = 0; i < image->mo_count; i++)
        spaces->v[1 + i] = ms_sym_strings(&image->mo[i]);
    for (size_t i = 0; i < 3; i++) {
        uint64_t len = spaces->v[i].len;
        spaces->base[i] = spaces->total;
        spaces->total += (len + ms_PK_BLOCK - 1) / ms_PK_BLOCK * ms_PK_BLOCK;
    }
}

static void ms_mb_add_task(machsym_plan *plan, ms_mb_kind kind, uint64_t lo, uint64_t hi, uint64_t size)
{
    ms_mb_task *v =
        (ms_mb_task *)ms_arena_grow(&plan->arena, plan->tasks, plan->count, &plan->cap, sizeof *v);
    if (v == NULL)
        return;
    plan->tasks = v;
    v[plan->count].kind = kind;
    v[plan->count].lo = lo;
    v[plan->count].hi = hi;
    v[plan->count].size = size;
    plan->count++;
}

/* Opens every object file of the debug map once, to know which ones answer and how large they are, and cuts
 * them into parts. */
static void ms_mb_cut_objects(machsym_plan *plan)
{
    machsym_session *s = plan->session;
    ms_ans_objects *o = ms_ans_map_of(s);
    size_t first = 0;
    uint64_t size = 0;
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->map.count; i++) {
        const ms_ans_object *object = ms_ans_object_of(s, i);
        size += object != NULL ? object->image.dw.info.len : 0;
        plan->arena.oom |= o->statuses[i] == MACHSYM_OBJECT_UNTRIED;
        if (size < ms_MB_UNIT_BYTES && i + 1 < o->map.count)
            continue;
        ms_mb_add_task(plan, ms_MB_OBJECTS, first, i + 1, size);
        first = i + 1;
        size = 0;
    }
    ms_ans_close_objects(s);
}

/* Cuts the units and the text into parts of about equal size: the same ones for any number of threads. */
static void ms_mb_cut_tasks(machsym_plan *plan)
{
    const machsym_image *image = plan->image;
    size_t first = 0;
    for (size_t i = 0; i < image->cu_count; i++) {
        uint64_t size = image->cus[i].end - image->cus[first].off;
        if (size < ms_MB_UNIT_BYTES && i + 1 < image->cu_count)
            continue;
        ms_mb_add_task(plan, ms_MB_UNITS, first, i + 1, size);
        first = i + 1;
    }
    ms_mb_cut_objects(plan);
    uint64_t blocks = plan->spaces.total / ms_PK_BLOCK;
    uint64_t step = ms_MG_TEXT_BYTES / ms_PK_BLOCK;
    for (uint64_t lo = 0; lo < blocks; lo += step) {
        uint64_t hi = lo + step < blocks ? lo + step : blocks;
        ms_mb_add_task(plan, ms_MB_TEXT, lo, hi, (hi - lo) * ms_PK_BLOCK);
    }
}

/* A session that decodes for one part; what the plan's session has indexed is lent to it, root entries too,
 * which all have been read. */
static machsym_session *ms_mb_session(const machsym_plan *plan)
{
    machsym_session *s =
        ms_ans_open(plan->image, plan->lines, MACHSYM_SESSION_INDEX, 1, plan->allocator); /* keeps one unit */
    if (s == NULL || plan->session == NULL)
        return s;
    const machsym_session *shared = plan->session;
    s->env = shared->env;
    s->env.arena = &s->keep;
    s->aranges = shared->aranges;
    s->ranges = shared->ranges;
    s->silent = shared->silent;
    s->symbols = shared->symbols;
    s->has_aranges = s->has_ranges = s->has_silent = s->has_symbols = true;
    return s;
}

static machsym_result ms_mb_fill(machsym_plan *plan, machsym_error *err)
{
    machsym_session *session = ms_mb_session(plan);
    plan->dict = (ms_pk_dict *)ms_arena_zeroed(&plan->arena, 1, sizeof *plan->dict);
    plan->session = session;
    if (session == NULL || plan->dict == NULL)
        return ms_fail_memory(err);
    ms_ans_index(session);
    ms_mb_set_spaces(plan->image, &plan->spaces);
    ms_pk_fill_dict(&plan->spaces, ms_PK_DICT / ms_PK_SAMPLE, plan->dict);
    ms_mb_cut_tasks(plan);
    return plan->arena.oom || ms_ans_failed(session) ? ms_fail_memory(err) : MACHSYM_OK;
}

static void ms_mb_close(machsym_plan *plan)
{
    if (plan->session != NULL)
        ms_ans_close(plan->session);
    ms_arena arena = plan->arena; /* the plan lies in its own arena */
    ms_arena_free(&arena);
}

static machsym_result ms_mb_open(const machsym_plan_desc *desc, machsym_allocator allocator,
                                 machsym_plan **out, machsym_error *err)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_plan *plan = (machsym_plan *)ms_arena_zeroed(&arena, 1, sizeof *plan);
    if (plan == NULL) {
        ms_arena_free(&arena);
        return ms_fail_memory(err);
    }
    plan->arena = arena;
    plan->allocator = allocator;
    plan->image = desc->image;
    plan->lines = desc->lines;
    plan->flags = desc->flags & MACHSYM_MAP_COLUMNS;
    machsym_result result = ms_mb_fill(plan, err);
    if (result == MACHSYM_OK)
        *out = plan;
    else
        ms_mb_close(plan);
    return result;
}

static bool ms_mb_next_object_file(const machsym_plan *plan, machsym_cursor *at, machsym_object_file *out)
{
    const ms_ans_objects *o = plan->session->objects;
    if (o == NULL || at->a >= o->map.count)
        return false;
    ms_ans_get_object(o, (size_t)at->a++, out);
    return true;
}

/* ---- Building the ranges of a unit ---- */

#define ms_MB_BY_UNIT UINT32_MAX

/* What is needed to encode one unit. */
typedef struct ms_mb_work {
    const machsym_plan *plan;
    machsym_session *session;
    ms_en *c;
    ms_en_queue queue;
    ms_arena scratch;    /* emptied for every function */
    ms_arena unit_arena; /* emptied for every unit */
    const ms_ans_unit *unit;
    const ms_cu_root *root;
    size_t index;    /* of the unit */
    uint32_t *files; /* by the unit's file number: number in the part's table + 1; 0 not known yet */
    size_t file_count;
    uint32_t *chains;  /* by block: position of its CHAIN record; 0 none yet */
    uint32_t function; /* the one at hand */
    ms_ans_rows rows;  /* the walk of lines that the ranges before have left, up to rows_from at least */
    uint64_t rows_from;
    ms_segs calls;     /* of all its code: the innermost block; empty when nothing is inlined; in scratch */
    uint32_t *written; /* of its blocks those that have a record, which tells of range */
    size_t written_count;
    ms_range range;
    uint32_t *depths; /* by block: how many blocks it stands in */
    ms_tab origins;   /* entry offset and rank of its source to the FUNCTION record */
} ms_mb_work;

static uint32_t ms_mb_new_file(ms_mb_work *w, uint64_t file)
{
    machsym_path path = ms_ln_path(w->unit->lines, w->root->comp_dir, file);
    uint32_t number = ms_en_file(w->c, &path);
    if (file < w->file_count)
        w->files[file] = number + 1;
    return number;
}

static inline void ms_mb_line_at(ms_mb_work *w, uint64_t file, uint32_t line, uint32_t column,
                                 ms_map_line *out)
{
    uint32_t known = file < w->file_count ? w->files[file] : 0;
    out->file = known != 0 ? known - 1 : ms_mb_new_file(w, file);
    out->line = line;
    out->column = w->c->columns ? column : 0;
}

/* Where the record of a call's origin is kept: by the origin alone when it has a linkage name; else by origin
 * and unit, since an out-of-line copy in the same unit may give the name. */
static ms_tab_slot *ms_mb_origin_slot(ms_mb_work *w, uint64_t origin)
{
    ms_tab_slot *slot = ms_tab_get(&w->origins, origin, 0);
    if (slot == NULL || slot->value != ms_MB_BY_UNIT)
        return slot;
    return ms_tab_get(&w->origins, origin, w->index + 1);
}

/* The FUNCTION record of a block, and where its name is from. Calls share the record of what they call. */
static uint32_t ms_mb_block_function(ms_mb_work *w, const ms_fn_block *block, machsym_source *source,
                                     bool *named)
{
    machsym_frame frame;
    bool is_inline = block->parent != ms_SEG_NONE;
    ms_tab_slot *slot = is_inline && block->origin != 0 ? ms_mb_origin_slot(w, block->origin) : NULL;
    if (slot != NULL && slot->value != 0) {
        *source = (slot->value & 1) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
        *named = true;
        return slot->value >> 1;
    }
    ms_zero(&frame, sizeof frame);
    frame.is_inline = is_inline;
    ms_ans_name_block(w->session, &w->unit->functions, block, &frame);
    *source = frame.name_source;
    *named = is_inline || frame.linkage_name.len != 0 || frame.name.len != 0;
    uint32_t record = *named ? ms_en_function(w->c, frame.linkage_name, frame.name) : 0;
    if (slot != NULL && slot->b == 0 && (frame.linkage_name.len == 0 || *source != MACHSYM_SOURCE_DWARF)) {
        slot->value = ms_MB_BY_UNIT;
        slot = ms_mb_origin_slot(w, block->origin);
    }
    if (slot != NULL)
        slot->value = record << 1 | (*source == MACHSYM_SOURCE_SYMTAB);
    return record;
}

/* Writes the chain from a function down to a block, callers first. Every record is written once a
 * function. */
static void ms_mb_put_chain(ms_mb_work *w, uint32_t block, const ms_range *range)
{
    const ms_fn_block *blocks = w->unit->functions.blocks;
    size_t depth = 0;
    for (uint32_t at = block; at != ms_SEG_NONE && w->chains[at] == 0; at = blocks[at].parent)
        depth++;
    MACHSYM_COUNT_WORK(1 + depth);
    uint32_t *path = w->written + w->written_count; /* room for every block, each of which is written once */
    w->written_count += depth;
    for (size_t i = depth; i-- > 0; block = blocks[block].parent)
        path[i] = block;
    for (size_t i = 0; i < depth; i++) {
        const ms_fn_block *one = &blocks[path[i]];
        machsym_source source;
        bool named;
        uint32_t record = ms_mb_block_function(w, one, &source, &named);
        if (one->parent == ms_SEG_NONE) {
            w->chains[path[i]] = ms_en_root(w->c, source, record, named, range->lo, range->hi - range->lo);
        } else {
            ms_map_line call;
            ms_mb_line_at(w, one->call_file, one->call_line, one->call_column, &call);
            w->chains[path[i]] = ms_en_call(w->c, w->chains[one->parent], source, record, &call);
        }
    }
}

/* Adds [lo, hi), which has one chain, cut where its lines change. */
static void ms_mb_add_lines(ms_mb_work *w, uint64_t lo, uint64_t hi, uint32_t chain, bool only_lines)
{
    const ms_ln_table *lines = w->unit->lines;
    ms_ans_rows *rows = &w->rows;
    ms_en_item item;
    if (rows->lines != lines || rows->past_end == only_lines || lo < w->rows_from)
        *rows = ms_ans_rows_of(lines, w->plan->lines, !only_lines, lo);
    w->rows_from = hi;
    item.chain = chain;
    for (item.lo = lo; item.lo < hi; item.lo = item.hi) {
        MACHSYM_COUNT_WORK(1);
        ms_ans_rows_seek(rows, item.lo);
        item.hi = rows->next < hi ? rows->next : hi;
        ms_zero(&item.line, sizeof item.line);
        if (rows->at != lines->row_count) {
            const ms_ln_row *row = &lines->rows[rows->at];
            ms_mb_line_at(w, row->file, row->line, row->column, &item.line);
        } else if (only_lines) {
            continue;
        }
        ms_en_add(w->c, &w->queue, &item, only_lines);
    }
}

/* The calls inlined into a function, as segments. */
static void ms_mb_call_segments(ms_mb_work *w, uint32_t function)
{
    const ms_fn_table *table = &w->unit->functions;
    ms_cu_pieces pieces = {&w->scratch, NULL, 0, 0};
    ms_cu_add_piece(&pieces, 0, UINT64_MAX, function);
    for (uint32_t i = function + 1; i < table->blocks[function].end; i++) {
        const ms_fn_block *block = &table->blocks[i];
        MACHSYM_COUNT_WORK(1);
        if (block->parent == ms_SEG_NONE) {
            i = block->end - 1;
            continue;
        }
        if (w->depths[i] > MACHSYM_MAX_INLINE_DEPTH + 1)
            continue;
        for (uint32_t j = 0; j < block->range_count; j++) {
            ms_range range = ms_fn_range(block, j);
            ms_cu_add_piece(&pieces, range.lo, range.hi, i);
        }
    }
    ms_seg_build(pieces.v, pieces.count, &w->scratch, &w->calls);
}

/* Turns to a function; that before leaves no records behind. */
static void ms_mb_begin_function(ms_mb_work *w, uint32_t function)
{
    const ms_segs none = {NULL, 0, &w->scratch};
    ms_arena_reset(&w->scratch);
    w->function = function;
    w->calls = none;
    if (w->unit->functions.blocks[function].end > function + 1)
        ms_mb_call_segments(w, function);
}

static void ms_mb_forget_chains(ms_mb_work *w)
{
    while (w->written_count > 0)
        w->chains[w->written[--w->written_count]] = 0;
}

/* Adds [lo, hi) of the function at hand, which has one innermost block. */
static void ms_mb_add_block(ms_mb_work *w, uint32_t index, uint64_t lo, uint64_t hi)
{
    const ms_fn_block *block = &w->unit->functions.blocks[index];
    if (w->depths[index] <= MACHSYM_MAX_INLINE_DEPTH) {
        ms_mb_put_chain(w, index, &w->range);
        ms_mb_add_lines(w, lo, hi, w->chains[index], false);
        return;
    }
    ms_en_item item;
    ms_mb_put_chain(w, block->parent, &w->range);
    item.lo = lo;
    item.hi = hi;
    item.chain = w->chains[block->parent];
    ms_mb_line_at(w, block->call_file, block->call_line, block->call_column, &item.line);
    ms_en_add(w->c, &w->queue, &item, false);
}

/* Encodes [lo, hi), which one range of the function at hand holds. */
static void ms_mb_add_function(ms_mb_work *w, const ms_range *range, uint64_t lo, uint64_t hi)
{
    const ms_segs *calls = &w->calls;
    if (range->lo != w->range.lo || range->hi != w->range.hi)
        ms_mb_forget_chains(w);
    w->range = *range;
    if (calls->count == 0)
        ms_mb_add_block(w, w->function, lo, hi);
    for (size_t i = ms_seg_find(calls->v, calls->count, lo); i + 1 < calls->count && calls->v[i].lo < hi;
         i++) {
        uint64_t from = calls->v[i].lo > lo ? calls->v[i].lo : lo;
        uint64_t to = calls->v[i + 1].lo < hi ? calls->v[i + 1].lo : hi;
        ms_mb_add_block(w, calls->v[i].owner, from, to);
    }
    ms_en_flush(w->c, &w->queue);
}

/* Encodes [lo, hi), which one function of the unit has, as far as this unit is the one that answers there. */
static void ms_mb_add_owned(ms_mb_work *w, uint32_t function, uint64_t lo, uint64_t hi)
{
    const ms_fn_block *block = &w->unit->functions.blocks[function];
    while (lo < hi) {
        uint64_t end;
        MACHSYM_COUNT_WORK(1);
        ms_range range = ms_fn_range_at(block, lo);
        uint64_t until = ms_fn_range_until(block, lo);
        bool owned = ms_ans_owns(w->session, w->index, lo, &end);
        if (end > hi)
            end = hi;
        if (end > until && until > lo)
            end = until; /* ranges that touch: each has a start of its own */
        if (owned)
            ms_mb_add_function(w, &range, lo, end);
        lo = end;
        if (lo < hi && !ms_ans_spend(w->session, ms_MB_STEP)) /* others' ranges may cut it very small */
            return;
    }
}

/* Encodes the functions, each with all its segments at once, in the order of their first. */
static void ms_mb_add_functions(ms_mb_work *w)
{
    const ms_fn_table *functions = &w->unit->functions;
    const ms_seg *segs = functions->segs;
    uint32_t *next = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->seg_count, sizeof *next);
    uint32_t *first = (uint32_t *)ms_arena_zeroed(&w->unit_arena, functions->count, sizeof *first);
    if (next == NULL || first == NULL)
        return;
    for (size_t i = functions->seg_count; i-- > 0;) { /* numbers plus 1; 0: none */
        if (segs[i].owner == ms_SEG_NONE)
            continue;
        next[i] = first[segs[i].owner];
        first[segs[i].owner] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i + 1 < functions->seg_count; i++) {
        uint32_t function = segs[i].owner;
        if (function == ms_SEG_NONE || first[function] != i + 1)
            continue;
        ms_mb_begin_function(w, function);
        for (size_t j = i + 1; j != 0; j = next[j - 1])
            ms_mb_add_owned(w, function, segs[j - 1].lo, segs[j].lo);
        ms_mb_forget_chains(w);
    }
}

/* The code whose lines a unit may add: any that its program tells of; but when other units share that, which would
 * multiply the work, what its root states, from the lowest to the highest address. */
static ms_range ms_mb_reach(ms_mb_work *w)
{
    ms_range all = {0, UINT64_MAX};
    ms_range stated = {UINT64_MAX, 0};
    ms_ranges list = {&w->unit_arena, NULL, 0, 0, w->session->budget};
    if (ms_ans_owns_lines(w->session, w->index))
        return all;
    ms_cu_read_ranges(&w->session->env, w->index, &list);
    w->session->budget = list.budget;
    for (size_t i = 0; i < list.count; i++) {
        stated.lo = list.v[i].lo < stated.lo ? list.v[i].lo : stated.lo;
        stated.hi = list.v[i].hi > stated.hi ? list.v[i].hi : stated.hi;
    }
    return stated;
}

/* Encodes the lines of code that belongs to no function of its unit: assembly. */
static void ms_mb_add_only_lines(ms_mb_work *w)
{
    const ms_ln_table *lines = w->unit->lines;
    const ms_fn_table *functions = &w->unit->functions;
    ms_range reach = ms_mb_reach(w);
    uint64_t from = reach.lo;
    for (size_t i = ms_ans_rows_of(lines, w->plan->lines, false, from).seq;
         i < lines->seq_count && from < reach.hi; i++) {
        uint64_t lo = lines->seqs[i].lo > from ? lines->seqs[i].lo : from;
        for (from = lines->seqs[i].hi < reach.hi ? lines->seqs[i].hi : reach.hi; lo < from;) {
            MACHSYM_COUNT_WORK(1);
            uint64_t end = ms_seg_until(functions->segs, functions->seg_count, lo);
            bool alone = ms_seg_owner(functions->segs, functions->seg_count, lo) == ms_SEG_NONE;
            if (!ms_ans_spend(w->session, alone ? ms_MB_STEP : 1))
                return;
            if (alone) {
                uint64_t same;
                ms_ans_place place = ms_ans_find_span(w->session, lo, &same);
                end = same < end ? same : end;
                end = from < end ? from : end;
                if (place.unit == w->unit && ms_ans_has_line(w->session, &place))
                    ms_mb_add_lines(w, lo, end, 0, true);
            }
            lo = end;
        }
        ms_en_flush(w->c, &w->queue);
    }
}

/* Makes room for the next unit. Other units that had to be asked who has some code stay as long as the cache
 * has room: they will be asked again. */
static void ms_mb_trim(ms_mb_work *w)
{
    machsym_session *s = w->session;
    const ms_ans_unit *last = s->decoded;
    bool asked_others = last != NULL && (last->next != NULL || last->index != w->index);
    if (!asked_others || s->cache.live > (size_t)ms_ANS_CACHE)
        ms_ans_drop_units(s);
    ms_arena_reset(&w->unit_arena);
}

static void ms_mb_add_unit(ms_mb_work *w, size_t index)
{
    machsym_session *s = w->session;
    ms_mb_trim(w);
    s->budget +=
        2 * (s->env.v[index].end - s->env.v[index].off); /* for itself, and for gaps between functions */
    w->unit = ms_ans_unit_of(s, index);
    if (w->unit == NULL)
        return;
    const ms_fn_table *functions = &w->unit->functions;
    w->root = ms_cu_root_of(&s->env, index);
    w->index = index;
    w->rows.lines = NULL; /* the table of another unit may have lain where this one does */
    w->file_count = w->unit->lines->file_count + 1;
    w->files = (uint32_t *)ms_arena_zeroed(&w->unit_arena, w->file_count, sizeof *w->files);
    w->chains = (uint32_t *)ms_arena_zeroed(&w->unit_arena, functions->count, sizeof *w->chains);
    w->written = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->count, sizeof *w->written);
    w->depths = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->count, sizeof *w->depths);
    if (w->files == NULL || w->chains == NULL || w->written == NULL || w->depths == NULL)
        return;
    for (size_t i = 0; i < functions->count; i++) {
        uint32_t parent = functions->blocks[i].parent;
        w->depths[i] = parent == ms_SEG_NONE ? 0 : w->depths[parent] + 1;
    }
    ms_mb_add_functions(w);
    ms_mb_add_only_lines(w);
}

/* ---- Parts ---- */

/* Sets what so many bytes of units may cost beside themselves, so that all parts together stay in proportion
 * to the file: what they decode of others (out of all bytes) and how often they ask, and how long their texts
 * are. */
static void ms_mb_set_budget(ms_mb_work *w, uint64_t size, uint64_t all)
{
    w->session->budget = 16 * (size + (all < ms_MB_UNIT_BYTES ? all : (uint64_t)ms_MB_UNIT_BYTES));
    w->c->text_left = ((uint64_t)1 << 20) + 64 * size; /* file names may be the ends of one text */
}

/* Encodes units of the session in w. Returns false when memory is out. */
static bool ms_mb_add_units(ms_mb_work *w, machsym_part *part, uint64_t lo, uint64_t hi)
{
    bool ok = true;
    for (uint64_t i = lo; i < hi && ok; i++) {
        ms_mb_add_unit(w, (size_t)i);
        ok = !w->scratch.failed && !w->unit_arena.failed && !ms_mg_part_failed(part) &&
             !ms_ans_failed(w->session);
    }
    return ok;
}

/* Encodes the units of an object file; one that cannot be opened has none. Returns false when memory is
 * out. */
static bool ms_mb_add_object(ms_mb_work *w, machsym_part *part, size_t index)
{
    machsym_session *program = w->plan->session;
    machsym_object_status status;
    uint64_t time;
    if (program->objects->statuses[index] != MACHSYM_OBJECT_FOUND)
        return true;
    ms_ans_object *object = ms_ans_new_object(program, index, NULL, w->plan->allocator, &status, &time);
    if (object == NULL)
        return status != MACHSYM_OBJECT_UNTRIED;
    w->session = &object->session;
    ms_zero(&w->origins, sizeof w->origins); /* of entries in this object */
    w->origins.arena = &part->tables;
    ms_ans_index(w->session);
    ms_mb_set_budget(w, object->image.dw.info.len, object->image.dw.info.len);
    bool ok = ms_mb_add_units(w, part, 0, object->image.cu_count);
    ms_ans_close_object(object);
    w->session = NULL;
    return ok;
}

static void ms_mb_begin_records(const machsym_plan *plan, machsym_part *part)
{
    ms_en *c = &part->coder;
    c->spaces = &plan->spaces;
    c->text_addr = plan->image->mo[0].text_addr;
    c->columns = (plan->flags & MACHSYM_MAP_COLUMNS) != 0;
    c->used = (uint8_t *)ms_arena_zeroed(&part->arena, (size_t)(plan->spaces.total / ms_PK_BLOCK / 8 + 1), 1);
}

static bool ms_mb_build_units(const machsym_plan *plan, const ms_mb_task *task, machsym_part *part)
{
    ms_mb_work w;
    ms_zero(&w, sizeof w);
    w.plan = plan;
    w.c = &part->coder;
    w.scratch = ms_arena_make(plan->allocator);
    w.unit_arena = ms_arena_make(plan->allocator);
    ms_mb_begin_records(plan, part);
    w.origins.arena = &part->tables;
    bool ok = part->coder.used != NULL;
    for (uint64_t i = task->lo; i < task->hi && ok && task->kind == ms_MB_OBJECTS; i++)
        ok = ms_mb_add_object(&w, part, (size_t)i);
    if (ok && task->kind == ms_MB_UNITS) {
        w.session = ms_mb_session(plan);
        if (w.session != NULL)
            ms_mb_set_budget(&w, task->size, plan->image->dw.info.len);
        ok = w.session != NULL && ms_mb_add_units(&w, part, task->lo, task->hi);
    }
    if (ok)
        part->files_at = ms_en_end_part(&part->coder);
    if (w.session != NULL)
        ms_ans_close(w.session);
    ms_arena_free(&w.scratch);
    ms_arena_free(&w.unit_arena);
    ms_arena_free(&part->tables);
    return ok && !ms_mg_part_failed(part);
}

static machsym_part *ms_mb_build_part(const machsym_plan *plan, size_t index)
{
    const ms_mb_task *task = &plan->tasks[index];
    machsym_part *part =
        ms_mg_new_part(plan->allocator, task->kind == ms_MB_TEXT ? ms_MG_TEXT : ms_MG_RECORDS);
    if (part == NULL)
        return NULL;
    bool ok = task->kind == ms_MB_TEXT ? ms_mg_build_text(&plan->spaces, plan->dict, task->lo, task->hi, part)
                                       : ms_mb_build_units(plan, task, part);
    if (ok)
        return part;
    ms_mg_free_part(part);
    return NULL;
}

/* ---- The whole map ---- */

/* Makes runs of the symbols that the debug info does not cover. */
static void ms_mb_add_symbols(ms_mg *m, const ms_sym_table *symbols)
{
    ms_en *c = &m->symbols->coder;
    size_t at = 0;
    machsym_symbol symbol;
    for (size_t i = 0; i < symbols->count; i = ms_sym_next(symbols, i)) {
        ms_en_item item;
        ms_sym_get(symbols, i, &symbol);
        if (symbol.lo < m->text_addr || ms_mg_is_covered(m, &at, symbol.lo, symbol.hi))
            continue;
        m->too_large |= symbol.hi - m->text_addr > UINT32_MAX;
        ms_zero(&item, sizeof item);
        item.lo = symbol.lo;
        item.hi = symbol.hi;
        uint32_t function = ms_en_function(c, symbol.name, ms_str_empty());
        item.chain = ms_en_root(c, symbol.source, function, true, symbol.lo, symbol.hi - symbol.lo);
        ms_en_put_run(c, &item, 1, false);
    }
    m->symbols->files_at = ms_en_end_part(c);
}

static void ms_mb_set_head(const machsym_plan *plan, ms_map_head *head)
{
    const machsym_image *image = plan->image;
    const ms_mo *mo = &image->mo[0];
    ms_zero(head, sizeof *head);
    head->version = ms_MAP_VERSION;
    head->flags = plan->flags;
    head->uuid = mo->slice.uuid;
    head->cputype = mo->slice.cputype;
    head->cpusubtype = mo->slice.cpusubtype;
    head->text_addr = mo->text_addr;
    head->text_size = mo->text_size;
    head->text_exec_addr = mo->text_exec_addr;
    for (size_t i = 0; i < image->dw.code_count; i++) {
        uint64_t hi = image->dw.code[i].hi;
        if (hi > mo->text_addr && hi - mo->text_addr > head->code_size)
            head->code_size = hi - mo->text_addr;
    }
    head->lines = (uint32_t)plan->lines;
}

/* Puts the parts, and the symbols that they leave open, together. Closes the parts. */
static machsym_result ms_mb_merge(const machsym_plan *plan, machsym_part **parts, size_t count,
                                  machsym_map **out, machsym_error *err)
{
    ms_mg m;
    ms_map_head head;
    ms_zero(&m, sizeof m);
    m.allocator = plan->allocator;
    m.arena = ms_arena_make(plan->allocator);
    m.parts = parts;
    m.part_count = count;
    m.text_addr = plan->image->mo[0].text_addr;
    m.block_count = plan->spaces.total / ms_PK_BLOCK;
    m.symbols = ms_mg_new_part(plan->allocator, ms_MG_RECORDS);
    machsym_result result = MACHSYM_ERR_MEMORY;
    if (m.symbols != NULL)
        ms_mb_begin_records(plan, m.symbols);
    if (m.symbols != NULL && m.symbols->coder.used != NULL) {
        ms_mb_set_head(plan, &head);
        ms_mg_sort_runs(&m);
        if (!m.arena.oom)
            ms_mb_add_symbols(&m, &plan->session->symbols);
        result = ms_mg_finish(&m, &head, plan->image->name, plan->dict, out, err);
    }
    ms_mg_close(&m);
    return result == MACHSYM_ERR_MEMORY ? ms_fail_memory(err) : result;
}

static machsym_result ms_mb_build(machsym_plan *plan, machsym_map **out, machsym_error *err)
{
    machsym_result result = MACHSYM_OK;
    machsym_part **parts =
        (machsym_part **)ms_arena_zeroed(&plan->arena, plan->count, sizeof(machsym_part *));
    if (parts == NULL)
        return ms_fail_memory(err);
    for (size_t i = 0; i < plan->count && result == MACHSYM_OK; i++) {
        parts[i] = ms_mb_build_part(plan, i);
        if (parts[i] == NULL)
            result = ms_fail_memory(err);
    }
    if (result == MACHSYM_OK)
        return ms_mb_merge(plan, parts, plan->count, out, err);
    for (size_t i = 0; i < plan->count; i++) {
        if (parts[i] != NULL)
            ms_mg_free_part(parts[i]);
    }
    return result;
}

#endif /* ms_ROOM_map_build */
