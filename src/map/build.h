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
#include "../symmap/pack.h"
#include "../symmap/symmap.h"
#include "../image/image.h"
#include "../answer/session.h"
#include "../answer/objects.h"
#include "../answer/named.h"
#include "../answer/engine.h"
#include "../answer/near.h"
#include "../answer/answer.h"
#include "../answer/folded.h"
#include "../answer/check.h"
#include "encode.h"
#include "unwound.h"
#include "merge.h"
#include "settle.h"
#include "folds.h"

/* ==== >>build ============================================================================================
 * Job:    makes the map of an image.
 * Offers: machsym_plan, ms_mb_open, ms_mb_close, ms_mb_build_part, ms_mb_has_all, ms_mb_merge.
 * Never:  decides which source answers: >>answer does. */

enum {
    ms_MB_UNIT_BYTES = 4 << 20,  /* of debug info in a part: large parts share more records */
    ms_MB_LEAST_BYTES = 1 << 20, /* in the last parts: small ones let threads end at about the same time */
    /* A part of this many bytes likely has more ranges than are gathered at once. */
    ms_MB_LARGE_PART = 1 << 20,
    /* The last origins whose functions are known, by a few bits of their offset. The calls of a unit name the
     * same few hundred entries again and again: most are found here, without a look at the table. */
    ms_MB_RECENT_BITS = 8,
    ms_MB_RECENT = 1 << ms_MB_RECENT_BITS,
    /* Of calls that are inlined into each other, chains begin anew after this many: see ms_mb_deep_chain.
     * More than MACHSYM_MAX_INLINE_DEPTH, so that the calls before a stage do not reach the function; hardly
     * more, since a hostile file may make a chain for every few bytes. */
    ms_MB_STAGE = MACHSYM_MAX_INLINE_DEPTH + 1
};

/* ---- Plan ---- */

typedef enum ms_mb_kind {
    ms_MB_UNITS = 0, /* a run of units */
    ms_MB_OBJECTS    /* a run of object files of a debug map */
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
    uint32_t names; /* flags of sessions that say whose name counts */
    uint32_t flags;
    machsym_allocator allocator;
    machsym_session *session; /* indexes of units and symbols, which all parts share and none changes */
    ms_mf_hints hints;        /* which functions share code */
    ms_pk_spaces spaces;
    ms_pk_dict *dict;
    ms_arena arena;
    ms_mb_task *tasks;
    size_t count;
    size_t cap;
    bool is_damaged;  /* the image, as far as opening it told */
    bool is_tolerant; /* a map is made of what is misleading, too */
};

static void ms_mb_set_spaces(machsym_session *s, ms_pk_spaces *spaces)
{
    const machsym_image *image = s->image;
    ms_zero(spaces, sizeof *spaces);
    ms_ses_need(s, ms_NEEDS_STR);
    ms_pk_add_space(spaces, 0, s->dw.str);
    for (size_t i = 0; i < image->mo_count; i++)
        ms_pk_add_space(spaces, 1 + i, ms_sym_strings(&image->mo[i]));
}

/* Makes the dictionary of an image of a shared cache. Its names are a small part of the cache's one string
 * table, so samples are taken where names of this image are. */
static void ms_mb_sample_names(const ms_sym_table *symbols, const ms_pk_spaces *spaces, ms_pk_dict *dict)
{
    uint64_t len = 0;
    for (size_t i = 0; i < symbols->count; i++)
        len += ms_sym_name(symbols, symbols->v[i].item).len;
    uint64_t most = ms_PK_DICT / ms_PK_SAMPLE;
    uint64_t pieces = len / ms_PK_PER_SAMPLE < most ? len / ms_PK_PER_SAMPLE : most;
    for (uint64_t i = 0; i < pieces; i++) {
        size_t which = (size_t)(i * symbols->count / pieces);
        uint64_t place = ms_pk_place(spaces, ms_sym_name(symbols, symbols->v[which].item));
        if (place != UINT64_MAX)
            ms_pk_add_sample(spaces, place, dict);
    }
    ms_pk_index_dict(dict);
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

/* Cuts the object files of the debug map into parts. Each is opened once, to know whether it answers and
 * how large its debug info is. */
static void ms_mb_cut_objects(machsym_plan *plan)
{
    machsym_session *s = plan->session;
    ms_ses_objects *o = ms_obj_map_of(s);
    size_t first = 0;
    uint64_t size = 0;
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->map.count; i++) {
        const ms_ses_object *object = ms_obj_of(s, i);
        size += object != NULL ? object->file.image.dw.info.len : 0;
        ms_arena_admit(&plan->arena, o->statuses[i] == MACHSYM_OBJECT_UNTRIED);
        if (size < ms_MB_UNIT_BYTES && i + 1 < o->map.count)
            continue;
        ms_mb_add_task(plan, ms_MB_OBJECTS, first, i + 1, size);
        first = i + 1;
        size = 0;
    }
    ms_ses_close_objects(s);
}

/* How many bytes a part should have, given how many are left of all the debug info. Debug info that fits one
 * part is one part. Otherwise the last parts are small, so that threads end at about the same time. */
static uint64_t ms_mb_size_of_part(uint64_t all, uint64_t left)
{
    if (all <= ms_MB_UNIT_BYTES || left >= 4 * (uint64_t)ms_MB_UNIT_BYTES)
        return ms_MB_UNIT_BYTES;
    return left > 4 * (uint64_t)ms_MB_LEAST_BYTES ? left / 4 : (uint64_t)ms_MB_LEAST_BYTES;
}

/* Cuts the units into parts. The number of threads does not matter. */
static void ms_mb_cut_tasks(machsym_plan *plan)
{
    const ms_cu_env *env = &plan->session->env;
    uint64_t end = env->count > 0 ? env->v[env->count - 1].end : 0;
    size_t first = 0;
    for (size_t i = 0; i < env->count; i++) {
        uint64_t size = env->v[i].end - env->v[first].off;
        if (size < ms_mb_size_of_part(end, end - env->v[first].off) && i + 1 < env->count)
            continue;
        ms_mb_add_task(plan, ms_MB_UNITS, first, i + 1, size);
        first = i + 1;
    }
    ms_mb_cut_objects(plan);
}

/* A session that decodes the units of one part. It borrows what the plan's session has indexed: root
 * entries, claims, symbols. It keeps one unit. */
static machsym_session *ms_mb_session(const machsym_plan *plan)
{
    machsym_session *s =
        ms_ses_open(plan->image, plan->lines, MACHSYM_SESSION_INDEX | plan->names, 1, plan->allocator);
    if (s == NULL || plan->session == NULL)
        return s;
    const machsym_session *shared = plan->session;
    s->dw = shared->dw;
    s->env = shared->env;
    s->env.dw = &s->dw;
    s->env.arena = &s->keep;
    s->env.scratch = &s->scratch;
    s->silent = shared->silent;
    s->claims = shared->claims;
    s->claim_first = shared->claim_first;
    s->symbols = shared->symbols;
    s->has_units = s->has_silent = true;
    ms_fold_begin(s, ms_fold_losers_of(plan->session));
    /* Functions are numbered by their entry. Lines near by ask for declarations again. */
    s->asks_names_once = s->lines != MACHSYM_LINES_PEOPLE;
    return s;
}

static machsym_result ms_mb_fill(machsym_plan *plan, machsym_error *err)
{
    machsym_session *session = ms_mb_session(plan);
    plan->dict = (ms_pk_dict *)ms_arena_zeroed(&plan->arena, 1, sizeof *plan->dict);
    plan->session = session;
    if (session == NULL || plan->dict == NULL)
        return ms_fail_memory(err);
    ms_eng_index(session);
    ms_eng_list_claims(session);
    if (!ms_fold_begin(session, NULL))
        return ms_fail_memory(err);
    ms_fold_losers_of(session);
    ms_mb_set_spaces(session, &plan->spaces);
    ms_mf_make_hints(&session->symbols.table,
                     MACHSYM_PART_TEXT + plan->spaces.v[1].len + plan->spaces.v[2].len, &plan->arena,
                     &plan->hints);
    if (plan->image->mo_count > 0 && ms_mo_cache(&plan->image->mo[0]) != NULL)
        ms_mb_sample_names(&session->symbols.table, &plan->spaces, plan->dict);
    else
        ms_pk_fill_dict(&plan->spaces, ms_PK_DICT / ms_PK_SAMPLE, plan->dict);
    ms_mb_cut_tasks(plan);
    ms_ses_shrink(session); /* the parts use its indexes only, and decode units themselves */
    return plan->arena.failed || ms_ses_failed(session) ? ms_fail_memory(err) : MACHSYM_OK;
}

static void ms_mb_close(machsym_plan *plan)
{
    if (plan->session != NULL)
        ms_ses_close(plan->session);
    ms_arena arena = plan->arena; /* the plan lies in its own arena */
    ms_arena_free(&arena);
}

/* Refuses an image that is cut short or misleading, unless it is wanted all the same. */
static machsym_result ms_mb_check_damage(machsym_plan *plan, machsym_error *err)
{
    bool is_wanted = plan->is_tolerant;
    machsym_image_info info;
    if (!ms_im_read_info(plan->image, &info))
        return ms_fail_memory(err);
    plan->is_damaged = info.damage_count != 0 || (info.is_encrypted && !info.has_dwarf);
    if (info.damage.is_cut_short && !is_wanted)
        return ms_fail(err, MACHSYM_ERR_DAMAGED,
                       "the file is cut short; with MACHSYM_MAP_DAMAGED a map is made of what is there",
                       info.damage.where, info.damage.offset);
    if (info.damage.is_misleading && !is_wanted)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, info.damage.what, info.damage.where, info.damage.offset);
    return MACHSYM_OK;
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
    plan->names = desc->names & (MACHSYM_SESSION_NAMES_SYMTAB | MACHSYM_SESSION_NAMES_DWARF);
    plan->flags = desc->flags & (MACHSYM_MAP_COLUMNS | MACHSYM_MAP_UNWIND);
    plan->is_tolerant = (desc->flags & MACHSYM_MAP_DAMAGED) != 0;
    machsym_result result = ms_mb_check_damage(plan, err);
    if (result == MACHSYM_OK)
        result = ms_mb_fill(plan, err);
    if (result == MACHSYM_OK)
        *out = plan;
    else
        ms_mb_close(plan);
    return result;
}

static bool ms_mb_next_object_file(const machsym_plan *plan, machsym_cursor *at, machsym_object_file *out)
{
    const ms_ses_objects *o = plan->session->objects;
    if (o == NULL || at->a >= o->map.count)
        return false;
    ms_obj_get(o, (size_t)at->a++, out);
    return true;
}

/* ---- Building the ranges of a unit ---- */

#define ms_MB_BY_UNIT UINT32_MAX

/* A file of the unit at hand, if stamp is the work's. */
typedef struct ms_mb_file {
    uint32_t stamp;
    uint32_t number; /* in the part's table */
} ms_mb_file;

/* The function of an origin that a call of the unit at hand named. */
typedef struct ms_mb_recent {
    uint64_t origin;
    uint32_t stamp; /* of the unit */
    uint32_t function;
    machsym_source source;
} ms_mb_recent;

/* Encodes one unit after the other. */
typedef struct ms_mb_work {
    const machsym_plan *plan;
    machsym_session *session;
    ms_en *c;
    ms_arena unit_arena; /* emptied for every unit */
    ms_ses_unit *unit;
    const ms_ses_span *span; /* that ranges are added of */
    const ms_cu_root *root;
    uint32_t stamp;    /* of the unit: another one for each */
    ms_mb_file *files; /* by the unit's file number; in the part's tables */
    size_t file_count; /* that have room */
    uint32_t *chains;  /* by block: its link; 0 none yet */
    uint32_t *copies;  /* the same of its second link: see ms_mb_deep_chain; NULL: no call stands deep */
    bool *answers;     /* by block: the map has the begin of its code from it */
    uint32_t *written; /* blocks that have a link, which tells of the function's range */
    size_t written_count;
    uint32_t function; /* the one whose blocks have links */
    ms_range range;    /* of it */
    ms_tab origins;    /* entry offset and unit to the function's number */
    ms_mb_recent recent[ms_MB_RECENT];
    machsym_part_info counts;
    ms_damage damage; /* of units */
    ms_mf folds;
} ms_mb_work;

static uint32_t ms_mb_new_file(ms_mb_work *w, uint64_t file)
{
    machsym_path path = ms_ln_path(w->unit->lines, w->unit->comp_dir, file);
    uint32_t number = ms_en_file(w->c, &path);
    if (file < w->file_count) {
        w->files[file].stamp = w->stamp;
        w->files[file].number = number;
    }
    return number;
}

static inline void ms_mb_line_at(ms_mb_work *w, const ms_ses_place *place, ms_map_line *out)
{
    bool known = place->file < w->file_count && w->files[place->file].stamp == w->stamp;
    out->file = known ? w->files[place->file].number : ms_mb_new_file(w, place->file);
    out->line = ms_en_line(w->c, place->line, place->from != MACHSYM_NEAR_NONE);
    out->column = w->c->columns ? place->column : 0;
}

/* Where the number of a call's origin is kept: by the origin alone when it has a linkage name; else by origin
 * and unit, since an out-of-line copy in the same unit may give the name. */
static ms_tab_slot *ms_mb_origin_slot(ms_mb_work *w, uint64_t origin)
{
    ms_tab_slot *slot = ms_tab_get(&w->origins, origin, 0);
    if (slot == NULL || slot->value != ms_MB_BY_UNIT)
        return slot;
    return ms_tab_get(&w->origins, origin, w->unit->index + 1);
}

/* The number of a block's function, and where its name is from. Calls share that of what they call. */
static uint32_t ms_mb_find_function(ms_mb_work *w, const ms_fn_block *block, machsym_source *source)
{
    machsym_frame frame;
    bool is_inline = block->parent != ms_SEG_NONE;
    ms_tab_slot *slot = is_inline && block->origin != 0 ? ms_mb_origin_slot(w, block->origin) : NULL;
    if (slot != NULL && slot->value != 0) {
        *source = (slot->value & 1) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
        return (slot->value >> 1) - 1;
    }
    ms_zero(&frame, sizeof frame);
    frame.is_inline = is_inline;
    ms_ans_name_block(w->session, &w->unit->functions, block, &frame);
    *source = frame.name_source;
    uint32_t function = ms_en_function(w->c, frame.linkage_name, frame.name);
    if (slot != NULL && slot->b == 0 && (frame.linkage_name.len == 0 || *source != MACHSYM_SOURCE_DWARF)) {
        slot->value = ms_MB_BY_UNIT;
        slot = ms_mb_origin_slot(w, block->origin);
    }
    if (slot != NULL)
        slot->value = (function + 1) << 1 | (*source == MACHSYM_SOURCE_SYMTAB);
    return function;
}

/* The same, through the recent ones. */
static inline uint32_t ms_mb_block_function(ms_mb_work *w, const ms_fn_block *block, machsym_source *source)
{
    ms_mb_recent *recent = &w->recent[(block->origin ^ block->origin >> ms_MB_RECENT_BITS) % ms_MB_RECENT];
    if (block->origin == 0 || block->parent == ms_SEG_NONE)
        return ms_mb_find_function(w, block, source);
    if (recent->stamp != w->stamp || recent->origin != block->origin) {
        recent->function = ms_mb_find_function(w, block, source);
        recent->source = *source;
        recent->origin = block->origin;
        recent->stamp = w->stamp;
    }
    *source = recent->source;
    return recent->function;
}

/* Makes the link of a block that has none, below that of its caller. */
static uint32_t ms_mb_add_link(ms_mb_work *w, const ms_fn_block *block, uint32_t caller)
{
    machsym_source source;
    ms_map_line call;
    MACHSYM_COUNT_WORK(1);
    uint32_t function = ms_mb_block_function(w, block, &source);
    if (block->parent == ms_SEG_NONE)
        return ms_en_root(w->c, source, function, w->range.lo, w->range.hi - w->range.lo);
    ms_ses_place place = ms_near_call(w->session, w->span, (uint32_t)(block - w->unit->functions.blocks));
    ms_mb_line_at(w, &place, &call);
    return ms_en_call(w->c, caller, source, function, &call);
}

/* Makes the links of the chain from the function at hand down to a block, callers first, but for those that
 * are there. Returns the innermost one; 0 when memory is out. */
static ms_NOINLINE uint32_t ms_mb_add_links(ms_mb_work *w, uint32_t block)
{
    const ms_fn_block *blocks = w->unit->functions.blocks;
    uint32_t innermost = block;
    size_t depth = 0;
    for (uint32_t at = block; at != ms_SEG_NONE && w->chains[at] == 0; at = blocks[at].parent)
        depth++;
    MACHSYM_COUNT_WORK(1 + depth);
    uint32_t *path = w->written + w->written_count; /* room for every block; each with a link is in it once */
    for (size_t i = depth; i-- > 0; block = blocks[block].parent)
        path[i] = block;
    for (size_t i = 0; i < depth; i++) {
        const ms_fn_block *one = &blocks[path[i]];
        uint32_t caller = one->parent == ms_SEG_NONE ? 0 : w->chains[one->parent];
        w->chains[path[i]] = ms_mb_add_link(w, one, caller);
        if (w->chains[path[i]] == 0)
            return 0;
        w->written_count++;
    }
    return w->chains[innermost];
}

/* Where the link of a block is kept that a chain of a stage has. */
static uint32_t *ms_mb_deep_slot(ms_mb_work *w, uint32_t block, uint32_t stage)
{
    bool is_own = w->unit->functions.depths[block].calls > stage * ms_MB_STAGE;
    return is_own ? &w->chains[block] : &w->copies[block];
}

/* The chain down to a call of a function whose calls stand deeper than a chain may be long. From each
 * ms_MB_STAGE calls on a stage begins: chains of its calls have as many of the calls before it as an answer
 * tells and one more, then the outermost call and the function. Answers lack those between in any case. So a
 * call has two links at most: its own, and one for the calls of the next stage. 0: memory is out. */
static ms_NOINLINE uint32_t ms_mb_deep_chain(ms_mb_work *w, uint32_t block)
{
    const ms_fn_block *blocks = w->unit->functions.blocks;
    const ms_fn_depth *depths = w->unit->functions.depths;
    uint32_t stage = depths[block].calls > 0 ? (depths[block].calls - 1) / ms_MB_STAGE : 0;
    if (stage == 0)
        return ms_mb_add_links(w, block);
    uint32_t outer = depths[block].outer;
    uint32_t link = w->chains[outer] != 0 ? w->chains[outer] : ms_mb_add_links(w, outer);
    uint32_t *path = w->written + w->written_count; /* room for both links of each block */
    uint32_t at = block;
    size_t count = 0;
    for (; depths[at].calls >= stage * ms_MB_STAGE - MACHSYM_MAX_INLINE_DEPTH; at = blocks[at].parent) {
        MACHSYM_COUNT_WORK(1);
        if (*ms_mb_deep_slot(w, at, stage) != 0) {
            link = *ms_mb_deep_slot(w, at, stage);
            break;
        }
        count++;
    }
    for (size_t i = count; i-- > 0; block = blocks[block].parent)
        path[i] = block;
    for (size_t i = 0; i < count && link != 0; i++) {
        link = *ms_mb_deep_slot(w, path[i], stage) = ms_mb_add_link(w, &blocks[path[i]], link);
        w->written_count += link != 0;
    }
    return link;
}

/* The chain from the function at hand down to a block. */
static inline uint32_t ms_mb_chain(ms_mb_work *w, uint32_t block)
{
    uint32_t link = w->chains[block];
    if (link != 0)
        return link;
    return w->copies == NULL ? ms_mb_add_links(w, block) : ms_mb_deep_chain(w, block);
}

/* Turns to a range of a function, or to one without a function. Links of the one before do not hold here. */
static void ms_mb_turn_to(ms_mb_work *w, const ms_ses_span *span)
{
    if (span->function == w->function && span->range.lo == w->range.lo && span->range.hi == w->range.hi)
        return;
    while (w->written_count > 0) {
        uint32_t block = w->written[--w->written_count];
        w->chains[block] = 0;
        if (w->copies != NULL)
            w->copies[block] = 0;
    }
    if (ms_en_is_full(w->c))
        ms_en_write(w->c, w->plan->dict);
    w->function = span->function;
    w->range = span->range;
}

/* Adds a range with what holds there. */
static void ms_mb_add_range(ms_mb_work *w, const ms_ses_span *span, uint64_t lo, uint64_t hi)
{
    const ms_ln_table *lines = w->unit->lines;
    bool has_function = span->function != ms_SEG_NONE;
    ms_en_item item;
    MACHSYM_COUNT_WORK(1);
    if (!has_function && span->row == lines->row_count)
        return;
    ms_zero(&item, sizeof item);
    item.lo = lo;
    item.hi = hi;
    if (has_function)
        item.chain = ms_mb_chain(w, span->call);
    if (span->row != lines->row_count) {
        ms_ses_place place = ms_near_row(w->session, span, lo);
        ms_mb_line_at(w, &place, &item.line);
    }
    ms_en_add(w->c, &item);
}

/* Adds what the unit at hand says of the code from lo to hi, one function. Returns false when memory is
 * out. */
static bool ms_mb_add_owned(ms_mb_work *w, ms_ses_span *span, uint64_t lo, uint64_t hi)
{
    ms_mb_turn_to(w, span);
    if (!ms_eng_make_ready(w->session, span))
        return false;
    w->span = span;
    for (; lo < hi; lo = span->hi) {
        span->hi = hi;
        ms_eng_look(w->session, lo, span);
        ms_mb_add_range(w, span, lo, span->hi);
    }
    return true;
}

/* Notes that the map has the begin of a function from its unit, if that lies in [lo, hi). */
static void ms_mb_note_answer(ms_mb_work *w, const ms_ses_span *span, uint64_t lo, uint64_t hi)
{
    const ms_fn_block *block =
        span->function != ms_SEG_NONE ? &w->unit->functions.blocks[span->function] : NULL;
    if (block != NULL && block->lo >= lo && block->lo < hi)
        w->answers[span->function] = true;
}

/* Adds the code of [lo, hi) as far as the unit at hand is the one that answers there. */
static void ms_mb_add_code(ms_mb_work *w, uint64_t lo, uint64_t hi)
{
    bool bare = ms_eng_has_bare_lines(w->session, w->unit);
    for (uint64_t end; lo < hi; lo = end) {
        MACHSYM_COUNT_WORK(1);
        end = hi;
        bool is_named;
        if (ms_named_owner(w->unit, MACHSYM_UNIT_ARANGES, lo, &end, &is_named) == ms_SEG_NONE && !bare)
            continue; /* no need to ask other units */
        ms_ses_span span = ms_eng_owner(w->session, lo);
        ms_lower_to(&end, span.hi);
        if (w->session->budget == 0) /* spent: not known */
            return;
        if (span.unit == w->unit)
            ms_mb_note_answer(w, &span, lo, end);
        if (span.unit == w->unit && !ms_mb_add_owned(w, &span, lo, end))
            return;
    }
}

/* Makes room for the next unit. Other units than the last one had to be asked who has some code: they stay as
 * long as the cache has room, since they will be asked again. */
static void ms_mb_trim(ms_mb_work *w)
{
    machsym_session *s = w->session;
    const ms_ses_unit *last = s->decoded;
    bool asked_others = last != NULL && (last->next != NULL || last != w->unit);
    if (!asked_others || s->cache.live > (size_t)MACHSYM_CACHE_LIMIT)
        ms_ses_drop_units(s);
    ms_arena_reset(&w->unit_arena);
}

/* Makes room for what is known of the unit's files and blocks. Returns false when memory is out. */
static bool ms_mb_begin_unit(ms_mb_work *w)
{
    size_t blocks = w->unit->functions.count;
    bool is_deep = w->unit->functions.depths != NULL;
    size_t files = w->unit->lines->file_count + 1;
    if (files > w->file_count) {
        w->file_count = 2 * files;
        w->files = (ms_mb_file *)ms_arena_zeroed(w->origins.arena, w->file_count, sizeof *w->files);
    }
    w->stamp++;
    w->function = ms_SEG_NONE;
    ms_zero(&w->range, sizeof w->range);
    w->written_count = 0;
    w->chains = (uint32_t *)ms_arena_zeroed(&w->unit_arena, blocks, sizeof *w->chains);
    w->answers = (bool *)ms_arena_zeroed(&w->unit_arena, blocks, sizeof *w->answers);
    w->copies = is_deep ? (uint32_t *)ms_arena_zeroed(&w->unit_arena, blocks, sizeof *w->copies) : NULL;
    w->written =
        (uint32_t *)ms_arena_alloc(&w->unit_arena, is_deep ? 2 * blocks : blocks, sizeof *w->written);
    return w->files != NULL && w->chains != NULL && w->answers != NULL && w->written != NULL &&
           (w->copies != NULL || !is_deep);
}

/* Adds the ranges of a unit: all that it may answer for, once, from the text on. */
static void ms_mb_add_unit(ms_mb_work *w, size_t index)
{
    machsym_session *s = w->session;
    const ms_range *claims = s->claims + s->claim_first[index];
    size_t count = s->claim_first[index + 1] - s->claim_first[index];
    uint64_t from = w->c->text_addr;
    w->root = ms_cu_root_of(&s->env, index);
    w->counts.unit_count++;
    uint64_t off = s->env.v[index].off;
    if (count == 0) { /* damage may have cost all that it had */
        if (w->root == NULL || (s->env.claims != NULL && (s->env.claims[index] & ms_CLAIM_DAMAGED) != 0))
            ms_damage_note(&w->damage, "a unit cannot be read", ".debug_info", off);
        if (w->root == NULL || !ms_mf_may_have(&w->folds, s)) /* its functions may share others' code */
            return;
    }
    ms_mb_trim(w);
    s->budget += s->env.v[index].end - s->env.v[index].off; /* for itself */
    w->unit = ms_ses_unit_of(s, index);
    if (w->unit != NULL)
        ms_named_prepare(s, w->unit);
    if (w->unit == NULL || !ms_mb_begin_unit(w)) {
        ms_damage_note(&w->damage, "a unit cannot be read", ".debug_info", off);
        return;
    }
    uint32_t found = w->damage.count;
    ms_ck_unit(s, w->unit, &w->damage);
    for (size_t i = 0; i < count; i++) {
        ms_mb_add_code(w, claims[i].lo > from ? claims[i].lo : from, claims[i].hi);
        from = claims[i].hi > from ? claims[i].hi : from;
    }
    ms_mf_add_unit(&w->folds, s, w->unit, w->answers);
    if (w->damage.count == found && (s->budget == 0 || w->c->lost_text))
        ms_damage_note(&w->damage, "a unit says more than a map may have", ".debug_info", off);
}

/* ---- Parts ---- */

/* What the map says of the image. */
static machsym_map_info ms_mb_info(const machsym_plan *plan)
{
    const machsym_image *image = plan->image;
    const ms_mo *mo = &image->mo[0];
    machsym_map_info info;
    ms_zero(&info, sizeof info);
    info.flags = plan->flags;
    if (plan->is_damaged || plan->session->symbols.table.damage_count != 0)
        info.flags |= (uint32_t)MACHSYM_MAP_DAMAGED;
    info.uuid = mo->slice.uuid;
    info.cputype = mo->slice.cputype;
    info.cpusubtype = mo->slice.cpusubtype;
    info.text_addr = mo->text_addr;
    info.text_size = mo->text_size;
    info.text_exec_addr = mo->text_exec_addr;
    for (size_t i = 0; i < image->dw.code_count; i++) {
        uint64_t hi = image->dw.code[i].hi;
        if (hi > mo->text_addr && hi - mo->text_addr > info.code_size)
            info.code_size = hi - mo->text_addr;
    }
    info.lines = plan->lines;
    return info;
}

/* Sets the budgets of units that have size bytes, in debug info that has all bytes. The sum of all parts'
 * budgets is in proportion to the debug info. */
static void ms_mb_set_budget(ms_mb_work *w, uint64_t size, uint64_t all)
{
    uint64_t others = all < ms_MB_UNIT_BYTES ? all : (uint64_t)ms_MB_UNIT_BYTES;
    w->session->budget = MACHSYM_PART_WORK * (size + others);
    w->c->text_left = MACHSYM_PART_TEXT + MACHSYM_PART_TEXT_PER_BYTE * size;
}

/* Encodes units of the session in w. Returns false when memory is out. */
static bool ms_mb_add_units(ms_mb_work *w, machsym_part *part, uint64_t lo, uint64_t hi)
{
    bool ok = true;
    for (uint64_t i = lo; i < hi && ok; i++) {
        ms_mb_add_unit(w, (size_t)i);
        const ms_arena *names =
            w->session->symbols.table.arena; /* sessions of parts have one of the plan's */
        ok = !w->unit_arena.failed && !ms_mg_part_failed(part) && !ms_ses_failed(w->session) &&
             (names == NULL || !names->failed);
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
    ms_ses_object *object = ms_obj_new(program, index, NULL, w->plan->allocator, &status, &time);
    if (object == NULL)
        return status != MACHSYM_OBJECT_UNTRIED;
    w->session = &object->session;
    ms_zero(&w->origins, sizeof w->origins); /* of entries in this object */
    w->origins.arena = &part->tables;
    ms_eng_index(w->session);
    ms_eng_list_claims(w->session);
    ms_mb_set_budget(w, object->file.image.dw.info.len, object->file.image.dw.info.len);
    bool ok = ms_mb_add_units(w, part, 0, ms_ses_units(w->session));
    ms_ses_close_object(object);
    w->session = NULL;
    return ok;
}

static void ms_mb_begin_part(const machsym_plan *plan, machsym_part *part)
{
    ms_en *c = &part->coder;
    c->spaces = &plan->spaces;
    c->text_addr = plan->image->mo[0].text_addr;
    c->columns = (plan->flags & MACHSYM_MAP_COLUMNS) != 0;
    c->tells_near = plan->lines == MACHSYM_LINES_PEOPLE;
}

/* Begins to gather the functions of a part that share code. size: of its debug info, or of what the symbols
 * have in its place. */
static void ms_mb_begin_folds(const machsym_plan *plan, machsym_part *part, uint64_t size, ms_mf *f)
{
    ms_zero(f, sizeof *f);
    f->allocator = plan->allocator;
    f->info = ms_mb_info(plan);
    f->folds = &part->folds;
    f->hints = &plan->hints;
    f->unit_arena = ms_arena_make(plan->allocator);
    f->left = MACHSYM_PART_TWINS + size;
    f->text_left = MACHSYM_PART_TEXT + size;
    f->walk_left = MACHSYM_PART_TEXT + 4 * size;
}

static bool ms_mb_build_units(const machsym_plan *plan, const ms_mb_task *task, machsym_part *part)
{
    ms_mb_work w;
    ms_zero(&w, sizeof w);
    ms_mb_begin_folds(plan, part, task->size, &w.folds);
    w.damage.first.what = w.damage.first.where = "";
    w.plan = plan;
    w.c = &part->coder;
    w.unit_arena = ms_arena_make(plan->allocator);
    ms_mb_begin_part(plan, part);
    if (task->size >= ms_MB_LARGE_PART)
        ms_en_reserve(&part->coder);
    part->coder.most_gap = ms_EN_MOST_GAP;
    w.origins.arena = &part->tables;
    if (task->kind == ms_MB_UNITS && task->size >= ms_MB_LARGE_PART)
        ms_tab_enlarge(&w.origins, 2 * ms_EN_GATHERED);
    bool ok = true;
    for (uint64_t i = task->lo; i < task->hi && ok && task->kind == ms_MB_OBJECTS; i++)
        ok = ms_mb_add_object(&w, part, (size_t)i);
    if (ok && task->kind == ms_MB_UNITS) {
        w.session = ms_mb_session(plan);
        if (w.session != NULL)
            ms_mb_set_budget(&w, task->size, plan->session->dw.info.len);
        ok = w.session != NULL && ms_mb_add_units(&w, part, task->lo, task->hi);
    }
    part->info = w.counts;
    part->info.damaged_units = w.damage.count;
    part->info.damage = w.damage.first;
    if (w.session != NULL)
        ms_ses_close(w.session);
    ms_arena_free(&w.unit_arena);
    ok = ok && ms_mf_end(&w.folds, plan->dict) && ms_mg_end_part(part, plan->dict);
    ms_mf_close(&w.folds);
    return ok;
}

static machsym_part *ms_mb_build_part(const machsym_plan *plan, size_t index)
{
    const ms_mb_task *task = &plan->tasks[index];
    machsym_part *part = ms_mg_new_part(plan->allocator);
    if (part == NULL)
        return NULL;
    if (ms_mb_build_units(plan, task, part))
        return part;
    ms_mg_free_part(part);
    return NULL;
}

/* ---- The whole map ---- */

/* Makes runs of the symbols that the debug info does not cover. */
static void ms_mb_add_symbols(ms_mg *m, machsym_session *session, ms_mf *folds)
{
    const ms_sym_table *symbols = &session->symbols.table;
    ms_en *c = &m->symbols->coder;
    size_t at = 0;
    machsym_symbol symbol;
    for (size_t i = 0; i < symbols->count; i = ms_sym_next(symbols, i)) {
        ms_en_item item;
        ms_sym_get(symbols, i, &symbol);
        uint64_t lo = symbol.lo < m->text_addr ? m->text_addr : symbol.lo;
        if (lo >= symbol.hi || ms_mg_is_covered(m, &at, lo, symbol.hi))
            continue;
        m->too_large |= symbol.hi - m->text_addr > UINT32_MAX;
        ms_zero(&item, sizeof item);
        item.lo = lo;
        item.hi = symbol.hi;
        uint32_t function = ms_en_function(c, symbol.name, ms_str_empty());
        item.chain = ms_en_root(c, symbol.source, function, symbol.lo, symbol.hi - symbol.lo);
        ms_en_add(c, &item);
        ms_mf_add_symbols(folds, session, m, &symbol, ms_mg_bare_until(m, at, lo, symbol.hi));
    }
}

/* Whether these are all parts of the plan. */
static bool ms_mb_has_all(const machsym_plan *plan, machsym_part *const *parts, size_t count)
{
    size_t i = 0;
    while (i < count && parts[i] != NULL)
        i++;
    return i == count && count == plan->count;
}

/* Refuses parts with a unit that contradicts itself, unless they are wanted all the same. */
static machsym_result ms_mb_check_parts(const machsym_plan *plan, machsym_part *const *parts, size_t count,
                                        machsym_error *err)
{
    for (size_t i = 0; i < count && !plan->is_tolerant; i++) {
        const machsym_damage *damage = &parts[i]->info.damage;
        if (damage->is_misleading)
            return ms_fail(err, MACHSYM_ERR_DAMAGED, damage->what, damage->where, damage->offset);
    }
    return MACHSYM_OK;
}

/* How many bytes of names the symbols may have. Names of a string table may be ends of one long text, so they
 * need a limit. Names from metadata were made within a budget of the image's size, which is added whole. */
static uint64_t ms_mb_symbol_text(const machsym_plan *plan)
{
    const machsym_image *image = plan->image;
    uint64_t len =
        MACHSYM_PART_TEXT + MACHSYM_PART_TEXT_PER_BYTE * (plan->spaces.v[1].len + plan->spaces.v[2].len);
    for (size_t i = 0; i < image->mo_count; i++)
        len += MACHSYM_METADATA_WORK_PER_BYTE * ms_mo_size(&image->mo[i]);
    return len;
}

/* Puts the parts together with the symbols that the debug info does not cover. Closes the parts. */
static machsym_result ms_mb_merge(const machsym_plan *plan, machsym_part **parts, size_t count,
                                  machsym_map **out, machsym_error *err)
{
    ms_mg m;
    ms_map_head head;
    ms_mf folds;
    ms_zero(&m, sizeof m);
    ms_zero(&folds, sizeof folds);
    m.allocator = plan->allocator;
    m.arena = ms_arena_make(plan->allocator);
    m.parts = parts;
    m.part_count = count;
    m.text_addr = plan->image->mo[0].text_addr;
    m.symbols = ms_mg_new_part(plan->allocator);
    machsym_result result = ms_mb_check_parts(plan, parts, count, err);
    bool is_refused = result != MACHSYM_OK;
    result = is_refused ? result : MACHSYM_ERR_MEMORY;
    if (m.symbols != NULL && !is_refused) {
        ms_mb_begin_part(plan, m.symbols);
        m.symbols->coder.text_left = ms_mb_symbol_text(plan);
        machsym_map_info info = ms_mb_info(plan);
        ms_mg_set_head(&info, &head);
        ms_mg_sort_pieces(&m);
        ms_mb_begin_folds(plan, m.symbols, plan->spaces.v[1].len, &folds);
        for (size_t i = 0; i < count && !m.arena.oom; i++)
            ms_mt_take(&m, parts[i]);
        if ((plan->flags & MACHSYM_MAP_UNWIND) != 0)
            ms_mu_gather(plan->image->mo, plan->image->mo_count, plan->session->symbols.rests, &m.arena,
                         &m.unwind);
        if (!m.arena.oom)
            ms_mt_order(&m);
        if (!m.arena.oom) {
            ms_mb_add_symbols(&m, plan->session, &folds);
            ms_mf_add_aliases(&folds, plan->session, &m);
        }
        if (ms_mf_end(&folds, plan->dict) && ms_mg_end_part(m.symbols, plan->dict)) {
            ms_mt_take(&m, m.symbols);
            ms_mt_finish(&m);
            result = ms_mg_finish(&m, &head, plan->image->name, plan->dict, out, err);
        }
    }
    ms_mf_close(&folds);
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
