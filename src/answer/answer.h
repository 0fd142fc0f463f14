#ifndef ms_ROOM_answer_answer
#define ms_ROOM_answer_answer
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../base/table.h"
#include "../macho/macho.h"
#include "../macho/fixups.h"
#include "../macho/files.h"
#include "../macho/symbols.h"
#include "../macho/unwind.h"
#include "../macho/objc.h"
#include "../macho/swift_types.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../image/debugmap.h"

/* ==== >>answer =============================================================================================
 * Job:    policy: which source answers for an address, which name and which line.
 * Offers: machsym_image, machsym_session, ms_ans_frames.
 * Never:  parses; every byte it needs comes decoded from the floors above. */

/* A file, or a pair of files of one UUID, opened. */
struct machsym_image {
    ms_arena arena;
    ms_mo mo[2]; /* what was asked for; then the other half */
    ms_file inputs[2];
    size_t mo_count;
    ms_dw dw;
    const ms_cu *cus;
    size_t cu_count;
    machsym_str name;
    bool has_compressed_dwarf;
    bool follows_objects; /* the debug map, if there is one, tells where the debug info is */
    ms_om_places places;
    uint32_t damage_count;
};

/* A unit, decoded. */
typedef struct ms_ans_unit {
    struct ms_ans_unit *next; /* of those decoded */
    size_t index;
    ms_fn_table functions;
    ms_fn_table **inside;     /* by function: it with what is inlined into it; NULL: not read yet */
    const ms_ln_table *lines; /* NULL: the line program has not been run */
} ms_ans_unit;

/* A line program that units share, run. */
typedef struct ms_ans_program {
    uint64_t str_offsets_base; /* what it took from the unit's root */
    uint8_t addr_size;
    ms_ln_table lines;
} ms_ans_program;

struct ms_ans_object;

/* Texts that outlive the object files that they come from, each once. */
typedef struct ms_ans_texts {
    machsym_str *v;
    size_t count;
    size_t cap;
    uint64_t bytes;
    ms_tab slots; /* text to its number + 1 */
} ms_ans_texts;

/* What a session knows of a debug map. */
typedef struct ms_ans_objects {
    ms_om_map map;
    struct ms_ans_object **opened; /* by object; NULL: not open now */
    struct ms_ans_object *first;   /* of the open ones */
    size_t open_count;
    size_t live;       /* bytes of the open ones, about */
    uint8_t *statuses; /* by object: machsym_object_status */
    uint64_t *times;   /* by object: of the file that was found */
    uint32_t *tried;   /* objects in the order of being tried */
    size_t tried_count;
    ms_om_quota quota;
    ms_ans_texts texts;
    bool has_segs;
    uint32_t scans; /* lookups answered by reading all stabs so far */
} ms_ans_objects;

/* One thread's lookups. */
struct machsym_session {
    const machsym_image *image;
    machsym_session *program; /* of a session on an object file: the one that has the symbols; else NULL */
    ms_ans_objects *objects;  /* of a program whose debug map is followed, once asked for; in keep */
    machsym_lines lines;
    uint32_t flags;
    size_t cache_limit;
    machsym_allocator allocator;
    ms_arena keep;    /* indexes, root entries, abbreviations, symbols: until trim */
    ms_arena cache;   /* decoded units: dropped together when over the limit */
    ms_arena scratch; /* reset for every unit */
    ms_cu_env env;
    ms_ans_unit **units;  /* by number; NULL: not decoded */
    ms_ans_unit *decoded; /* the others */
    size_t decoded_count;
    ms_ans_program **programs; /* those that units share, by number; NULL: not run */
    uint64_t lines_run;        /* bytes of line programs run so far */
    uint64_t budget;           /* bytes of units that may still be decoded: of the session of a map's part */
    bool reads_calls; /* units are decoded whole; else the calls in a function once it is asked for */
    ms_segs aranges;
    ms_segs ranges;
    ms_segs silent;
    bool has_aranges;
    bool has_ranges;
    bool has_silent;
    bool has_symbols;
    bool has_objects;
    ms_sym_table symbols;
    bool has_objc;
    ms_oc_list objc[2]; /* of the image's halves; for iteration only */
    ms_fn_name_cache *names;
    uint32_t scans; /* lookups answered by scanning an unsorted table so far */
};

enum {
    ms_ANS_KEPT = 3,  /* units that one lookup may ask: dropping so few would decode them again at once */
    ms_ANS_SCANS = 4, /* sorting a table pays after about so many scans of it */
    ms_ANS_CACHE = 32 << 20 /* bytes of decoded units, unless the caller says */
};

/* An object file that answers for a part of a program: an image of its own with the program's symbols, and a
 * session on it. What it decodes has the program's addresses. */
typedef struct ms_ans_object {
    struct ms_ans_object *next;
    ms_om_file file;
    machsym_image image;
    machsym_session session;
    size_t index; /* in the debug map */
    size_t live;  /* bytes, as counted in the program's session */
} ms_ans_object;

/* ---- Opening and closing ---- */

static void ms_ans_clear(machsym_session *s)
{
    s->units = NULL;
    s->decoded = NULL;
    s->decoded_count = 0;
    s->programs = NULL;
    s->lines_run = 0;
    s->names = NULL;
    s->objects = NULL;
    s->has_aranges = s->has_ranges = s->has_silent = s->has_symbols = s->has_objc = s->has_objects = false;
    ms_zero(s->objc, sizeof s->objc);
    s->scans = 0;
    ms_zero(&s->env, sizeof s->env);
    ms_zero(&s->aranges, sizeof s->aranges);
    ms_zero(&s->ranges, sizeof s->ranges);
    ms_zero(&s->silent, sizeof s->silent);
    s->env.dw = &s->image->dw;
    s->env.v = s->image->cus;
    s->env.count = s->image->cu_count;
    s->env.arena = &s->keep;
    s->aranges.arena = s->ranges.arena = s->silent.arena = &s->keep;
}

static void ms_ans_start(machsym_session *s, const machsym_image *image, machsym_lines lines, uint32_t flags,
                         size_t cache_limit, machsym_allocator allocator)
{
    ms_zero(s, sizeof *s);
    s->image = image;
    s->lines = lines;
    s->flags = flags;
    s->cache_limit = cache_limit != 0 ? cache_limit : (size_t)ms_ANS_CACHE;
    s->budget = UINT64_MAX;
    s->reads_calls = (flags & MACHSYM_SESSION_INDEX) != 0;
    s->allocator = allocator;
    s->keep = ms_arena_make(allocator);
    s->cache = ms_arena_make(allocator);
    s->scratch = ms_arena_make(allocator);
    ms_ans_clear(s);
}

/* A session; NULL when memory is out. */
static machsym_session *ms_ans_open(const machsym_image *image, machsym_lines lines, uint32_t flags,
                                    size_t cache_limit, machsym_allocator allocator)
{
    machsym_session *s = (machsym_session *)allocator.alloc(allocator.user, sizeof *s);
    if (s != NULL)
        ms_ans_start(s, image, lines, flags, cache_limit, allocator);
    return s;
}

static void ms_ans_close_object(ms_ans_object *object)
{
    machsym_allocator allocator = object->session.allocator;
    ms_arena_free(&object->session.keep);
    ms_arena_free(&object->session.cache);
    ms_arena_free(&object->session.scratch);
    ms_om_close(&object->file);
    allocator.free(allocator.user, object, sizeof *object);
}

/* Whether memory ever ran out: then something may be missing from what the session decoded. */
static bool ms_ans_failed(const machsym_session *s)
{
    bool failed = s->keep.failed || s->cache.failed || s->scratch.failed;
    for (const ms_ans_object *object = s->objects != NULL ? s->objects->first : NULL;
         object != NULL && !failed; object = object->next)
        failed =
            object->session.keep.failed || object->session.cache.failed || object->session.scratch.failed;
    return failed;
}

/* Closes all object files. What their answers said stays in the texts. */
static void ms_ans_close_objects(machsym_session *s)
{
    ms_ans_objects *objects = s->objects;
    while (objects != NULL && objects->first != NULL) {
        ms_ans_object *object = objects->first;
        objects->first = object->next;
        objects->opened[object->index] = NULL;
        s->keep.failed |= ms_ans_failed(&object->session);
        ms_ans_close_object(object);
    }
    if (objects == NULL)
        return;
    objects->open_count = 0;
    objects->live = 0;
}

/* Drops everything cached. */
static void ms_ans_forget(machsym_session *s)
{
    ms_ans_close_objects(s);
    ms_arena_free(&s->keep);
    ms_arena_free(&s->cache);
    ms_arena_free(&s->scratch);
    ms_ans_clear(s);
}

static void ms_ans_close(machsym_session *s)
{
    ms_ans_forget(s);
    s->allocator.free(s->allocator.user, s, sizeof *s);
}

/* ---- What a session decodes ---- */

static void ms_ans_drop_units(machsym_session *s)
{
    for (; s->decoded != NULL; s->decoded = s->decoded->next)
        s->units[s->decoded->index] = NULL;
    s->decoded_count = 0;
    ms_arena_reset(&s->cache);
}

/* Drops the decoded units when they take more than the limit. */
static void ms_ans_trim(machsym_session *s)
{
    if (s->objects != NULL && s->objects->open_count > 1 && s->objects->live > s->cache_limit)
        ms_ans_close_objects(s);
    if (s->cache.live > s->cache_limit && s->decoded_count > ms_ANS_KEPT)
        ms_ans_drop_units(s);
}

/* Takes cost from the budget. Returns false once it is spent. */
static bool ms_ans_spend(machsym_session *s, uint64_t cost)
{
    if (s->budget == UINT64_MAX)
        return true;
    bool enough = cost <= s->budget;
    s->budget = enough ? s->budget - cost : 0;
    return enough;
}

/* A unit's functions, decoded once. Returns NULL when it is damaged or memory is out. */
static ms_ans_unit *ms_ans_functions_of(machsym_session *s, size_t index)
{
    const ms_cu_root *root = index < s->env.count ? ms_cu_root_of(&s->env, index) : NULL;
    if (root == NULL)
        return NULL;
    if (s->units == NULL)
        s->units = (ms_ans_unit **)ms_arena_zeroed(&s->keep, s->env.count, sizeof *s->units);
    if (s->units == NULL)
        return NULL;
    if (s->units[index] != NULL)
        return s->units[index];
    if (!ms_ans_spend(s, root->enc.unit_end - root->enc.unit_off))
        return NULL;
    ms_ans_unit *unit = (ms_ans_unit *)ms_arena_zeroed(&s->cache, 1, sizeof *unit);
    if (unit == NULL)
        return NULL;
    ms_arena_reset(&s->scratch);
    ms_fn_read(s->env.dw, root, s->reads_calls, &s->scratch, &s->cache, &unit->functions);
    if (s->cache.oom || s->scratch.oom)
        return NULL;
    unit->index = index;
    unit->next = s->decoded;
    s->decoded = unit;
    s->decoded_count++;
    s->units[index] = unit;
    return unit;
}

/* A function of a unit with what is inlined into it, decoded once; *function becomes its number in that
 * table. The unit's own table when that has it all, or when memory is out. */
static const ms_fn_table *ms_ans_inside(machsym_session *s, ms_ans_unit *unit, uint32_t *function)
{
    const ms_fn_block *block = &unit->functions.blocks[*function];
    if (block->unread == 0)
        return &unit->functions;
    if (unit->inside == NULL)
        unit->inside =
            (ms_fn_table **)ms_arena_zeroed(&s->cache, unit->functions.count, sizeof *unit->inside);
    if (unit->inside == NULL)
        return &unit->functions;
    ms_fn_table *table = unit->inside[*function];
    if (table == NULL) {
        table = (ms_fn_table *)ms_arena_alloc(&s->cache, 1, sizeof *table);
        if (table == NULL)
            return &unit->functions;
        ms_arena_reset(&s->scratch);
        ms_fn_read_one(s->env.dw, ms_cu_root_of(&s->env, unit->index), &unit->functions, *function,
                       &s->scratch, &s->cache, table);
        if (table->count == 0)
            return &unit->functions;
        unit->inside[*function] = table;
    }
    *function = 0;
    return table;
}

/* Says where each of the programs listed ends. One that reaches into the next, or has a damaged unit's in its middle,
 * is cut there once such ones would multiply the work. */
static void ms_ans_end_programs(machsym_session *s)
{
    const ms_key *v = s->env.programs;
    uint64_t next = s->env.dw->line.len;
    uint64_t common = 16 * next; /* bytes that may still be run as parts of two */
    uint64_t *ends = (uint64_t *)ms_arena_alloc(&s->keep, s->env.program_count, sizeof *ends);
    for (size_t i = ends != NULL ? s->env.program_count : 0; i-- > 0;) {
        bool is_last = i + 1 == s->env.program_count;
        if (!is_last && v[i].key == v[i + 1].key) {
            ends[i] = ends[i + 1];
            continue;
        }
        next = is_last ? next : v[i + 1].key;
        ends[i] = ms_ln_end(s->env.dw, v[i].key);
        uint64_t over = ends[i] > next ? ends[i] - next : 0;
        if (over > common)
            ends[i] = next;
        else
            common -= over;
    }
    s->env.program_ends = ends;
}

/* Lists which units share line programs: before all units are decoded, and once something must have been run twice. */
static void ms_ans_list_programs(machsym_session *s)
{
    if (s->env.programs != NULL || s->env.count == 0)
        return;
    ms_arena_reset(&s->scratch);
    ms_cu_list_programs(&s->env, &s->scratch);
    ms_ans_end_programs(s);
    if (s->env.program_ends == NULL)
        s->env.program_count = 0;
}

/* Runs a unit's line program; the table's arrays come from arena. Returns false when memory is out. */
static bool ms_ans_run_lines(machsym_session *s, const ms_cu_root *root, const ms_cu_program *program,
                             ms_arena *arena, ms_ln_table *table)
{
    ms_dw dw = *s->env.dw;
    dw.line.len = (size_t)program->end;
    ms_arena_reset(&s->scratch);
    ms_ln_read(&dw, &root->enc, root->line_off, &s->scratch, arena, table);
    s->lines_run += table->size;
    return !arena->oom && !s->scratch.oom;
}

/* A program that units share: run once and kept, or else they would multiply the work. NULL when the unit's root
 * gives the names another base, the budget is spent or memory is out. */
static const ms_ln_table *ms_ans_shared_lines(machsym_session *s, const ms_cu_root *root,
                                              const ms_cu_program *program)
{
    if (s->programs == NULL)
        s->programs = (ms_ans_program **)ms_arena_zeroed(&s->keep, s->env.program_count, sizeof *s->programs);
    if (s->programs == NULL)
        return NULL;
    ms_ans_program *kept = s->programs[program->number];
    uint64_t cost = kept == NULL ? program->end - root->line_off : kept->lines.file_count;
    if (program->is_another && (cost > s->budget || !ms_ans_spend(s, cost)))
        return NULL;
    if (kept == NULL) {
        kept = (ms_ans_program *)ms_arena_alloc(&s->keep, 1, sizeof *kept);
        if (kept == NULL || !ms_ans_run_lines(s, root, program, &s->keep, &kept->lines))
            return NULL;
        kept->str_offsets_base = root->enc.str_offsets_base;
        kept->addr_size = root->enc.addr_size;
        s->programs[program->number] = kept;
    }
    bool same_base = kept->lines.version < 5 || kept->str_offsets_base == root->enc.str_offsets_base;
    return same_base && kept->addr_size == root->enc.addr_size ? &kept->lines : NULL;
}

/* A unit's line table. One that has to be left out is said to be damaged. Returns NULL when memory is out. */
static const ms_ln_table *ms_ans_lines_of(machsym_session *s, const ms_cu_root *root, size_t index)
{
    ms_ln_table *own = (ms_ln_table *)ms_arena_zeroed(&s->cache, 1, sizeof *own);
    if (own == NULL || !root->has_line)
        return own;
    if (s->lines_run > s->env.dw->line.len)
        ms_ans_list_programs(s);
    ms_cu_program program = ms_cu_program_of(&s->env, root, index);
    const ms_ln_table *shared = program.is_shared ? ms_ans_shared_lines(s, root, &program) : NULL;
    if (shared != NULL)
        return shared;
    own->is_damaged = true;
    uint64_t size = root->enc.unit_end - root->enc.unit_off;
    bool multiplies = program.is_shared && program.end - root->line_off >= 64 * size;
    return multiplies || ms_ans_run_lines(s, root, &program, &s->cache, own) ? own : NULL;
}

/* A unit with its lines. Returns NULL as above. */
static const ms_ans_unit *ms_ans_unit_of(machsym_session *s, size_t index)
{
    ms_ans_unit *unit = ms_ans_functions_of(s, index);
    if (unit == NULL || unit->lines != NULL)
        return unit;
    unit->lines = ms_ans_lines_of(s, ms_cu_root_of(&s->env, index), index);
    return unit->lines != NULL ? unit : NULL;
}

/* Fills t, whose inputs are set, from every source. Failure shows as oom of an arena. */
static void ms_ans_read_symbols(ms_sym_table *t, ms_arena *scratch)
{
    ms_fx_data data[2];
    bool has_starts = false;
    for (size_t i = 0; i < t->mo_count; i++)
        has_starts |= t->mo[i].loads.starts_size != 0;
    for (size_t i = 0; i < t->mo_count; i++) {
        ms_fx_data *d = &data[i];
        ms_fx_open(d, &t->mo[i], scratch);
        ms_sym_add(t, i, d, scratch);
        if (!has_starts)
            ms_uw_add_starts(t, d);
        ms_oc_add_names(t, d, scratch);
        ms_oc_add_blocks(t, d);
        ms_sw_add_names(t, d);
    }
    ms_sym_sort(t, scratch);
    ms_sym_index_crowds(t, scratch);
    for (size_t i = 0; i < t->mo_count; i++)
        t->damage_count += data[i].damage_count;
    if (t->mo_count > 0 && !scratch->oom)
        ms_oc_name_blocks(t, &data[0]);
}

/* An empty table of the image's symbols; what it will hold comes from arena. */
static void ms_ans_start_symbols(const machsym_session *s, ms_sym_table *t, ms_arena *arena)
{
    ms_zero(t, sizeof *t);
    t->arena = arena;
    t->mo = s->image->mo;
    t->mo_count = s->image->mo_count;
    t->code = s->image->dw.code;
    t->code_count = s->image->dw.code_count;
}

static const ms_sym_table *ms_ans_symbols(machsym_session *s)
{
    if (s->program != NULL)
        s = s->program;
    ms_sym_table *t = &s->symbols;
    if (s->has_symbols)
        return t;
    ms_ans_start_symbols(s, t, &s->keep);
    ms_arena_reset(&s->scratch);
    ms_ans_read_symbols(t, &s->scratch);
    s->has_symbols = true;
    if (s->keep.oom || s->scratch.oom)
        t->count = 0;
    return t;
}

/* Whether reading the symbols is little work without sorting them: a dSYM has no source but LC_SYMTAB. */
static bool ms_ans_is_dsym(const machsym_session *s)
{
    for (size_t i = 0; i < s->image->mo_count; i++) {
        if (s->image->mo[i].slice.filetype != ms_MH_DSYM)
            return false;
    }
    return true;
}

/* The symbol whose range holds an address; for first, cold lookups without the whole table. Returns false
 * when there is none. */
static bool ms_ans_symbol_at(machsym_session *s, uint64_t addr, machsym_symbol *out)
{
    ms_sym_table t;
    if (s->program != NULL)
        s = s->program;
    if (s->has_symbols || !ms_ans_is_dsym(s) || s->scans >= ms_ANS_SCANS)
        return ms_sym_find(ms_ans_symbols(s), addr, out);
    s->scans++;
    const ms_range *code = ms_sym_code_at(s->image->dw.code, s->image->dw.code_count, addr);
    if (code == NULL)
        return false;
    ms_arena_reset(&s->scratch);
    ms_ans_start_symbols(s, &t, &s->keep); /* a hostile one may have names that are put together */
    ms_sym_narrow(&t, code, addr);
    ms_ans_read_symbols(&t, &s->scratch);
    return !s->keep.oom && !s->scratch.oom && ms_sym_find(&t, addr, out);
}

static const ms_oc_list *ms_ans_objc(machsym_session *s)
{
    if (s->has_objc)
        return s->objc;
    ms_arena_reset(&s->scratch);
    for (size_t i = 0; i < s->image->mo_count; i++) {
        ms_fx_data d;
        ms_fx_open(&d, &s->image->mo[i], &s->scratch);
        s->objc[i].arena = &s->keep;
        ms_oc_read(&s->objc[i], &d, &s->scratch);
    }
    s->has_objc = true;
    return s->objc;
}

static machsym_str ms_ans_symbol_exact(machsym_session *s, uint64_t addr, machsym_str want)
{
    if (s->program != NULL)
        s = s->program;
    if (!s->has_symbols && s->scans++ < ms_ANS_SCANS)
        return ms_sym_scan_exact(s->image->mo, s->image->mo_count, addr, want);
    return ms_sym_exact(ms_ans_symbols(s), addr, want);
}

/* ---- Object files of a debug map ---- */

/* The debug map, read once; NULL when the image has debug info of its own, or no map that is to be
 * followed. */
static ms_ans_objects *ms_ans_map_of(machsym_session *s)
{
    uint64_t size = 0;
    if (s->has_objects || !s->image->follows_objects)
        return s->objects;
    s->has_objects = true;
    ms_ans_objects *o = (ms_ans_objects *)ms_arena_zeroed(&s->keep, 1, sizeof *o);
    for (size_t i = 0; i < s->image->mo_count && o != NULL && o->map.count == 0; i++) {
        ms_om_list(&o->map, &s->image->mo[i], &s->keep);
        size = s->image->mo[i].bytes.len;
    }
    if (o == NULL || o->map.count == 0)
        return NULL;
    size_t count = o->map.count;
    o->opened = (ms_ans_object **)ms_arena_zeroed(&s->keep, count, sizeof *o->opened);
    o->statuses = (uint8_t *)ms_arena_zeroed(&s->keep, count, 1);
    o->times = (uint64_t *)ms_arena_zeroed(&s->keep, count, sizeof *o->times);
    o->tried = (uint32_t *)ms_arena_alloc(&s->keep, count, sizeof *o->tried);
    ms_om_start_quota(&o->quota, size, &s->keep);
    o->texts.slots.arena = &s->keep;
    if (!s->keep.oom)
        s->objects = o;
    return s->objects;
}

static void ms_ans_index_objects(machsym_session *s, ms_ans_objects *o)
{
    ms_arena_reset(&s->scratch);
    ms_om_index(&o->map, &s->scratch, &s->keep);
    o->has_segs = true;
}

/* Opens an object file for itself. Returns NULL, and why in *status, when it cannot answer. */
static ms_ans_object *ms_ans_new_object(machsym_session *program, size_t index, ms_om_quota *quota,
                                        machsym_allocator allocator, machsym_object_status *status,
                                        uint64_t *time)
{
    const ms_om_map *map = &program->objects->map;
    *status = MACHSYM_OBJECT_UNTRIED;
    ms_ans_object *object = (ms_ans_object *)allocator.alloc(allocator.user, sizeof *object);
    if (object == NULL)
        return NULL;
    ms_zero(object, sizeof *object);
    object->index = index;
    *status = ms_om_open(map, &map->v[index], &program->image->places, quota, allocator, &object->file);
    *time = object->file.time;
    if (*status != MACHSYM_OBJECT_FOUND) {
        ms_om_close(&object->file);
        allocator.free(allocator.user, object, sizeof *object);
        return NULL;
    }
    ms_dw *dw = &object->file.dw;
    dw->code = program->image->dw.code;
    dw->code_count = program->image->dw.code_count;
    object->image.dw = *dw;
    object->image.cus = object->file.cus;
    object->image.cu_count = object->file.cu_count;
    ms_ans_start(&object->session, &object->image, program->lines, program->flags, program->cache_limit,
                 allocator);
    object->session.program = program;
    return object;
}

/* What an open object takes, without the empty rest of chunks that it has anyway. */
static size_t ms_ans_object_bytes(const ms_ans_object *object)
{
    const machsym_session *s = &object->session;
    return object->file.arena.live + s->keep.live + s->cache.live + s->scratch.live;
}

/* Counts what an object has taken since it was last counted; what it could not get counts for the program
 * too. */
static void ms_ans_count_object(ms_ans_objects *o, ms_ans_object *object)
{
    size_t live = ms_ans_object_bytes(object);
    o->live = o->live - object->live + live;
    object->live = live;
    object->session.program->keep.failed |= ms_ans_failed(&object->session);
}

/* An object of the debug map, opened if it can be. It stays open until the next ms_ans_trim, or the next
 * call. */
static ms_ans_object *ms_ans_object_of(machsym_session *s, size_t index)
{
    ms_ans_objects *o = s->objects;
    if (o->opened[index] != NULL)
        return o->opened[index];
    bool is_new = o->statuses[index] == MACHSYM_OBJECT_UNTRIED;
    if (!is_new && o->statuses[index] != MACHSYM_OBJECT_FOUND)
        return NULL;
    if (o->open_count >= MACHSYM_MAX_OBJECTS)
        ms_ans_close_objects(s);
    machsym_object_status status;
    ms_ans_object *object =
        ms_ans_new_object(s, index, is_new ? &o->quota : NULL, s->allocator, &status, &o->times[index]);
    o->statuses[index] = (uint8_t)status;
    s->keep.failed |= status == MACHSYM_OBJECT_UNTRIED;
    if (is_new && status != MACHSYM_OBJECT_UNTRIED)
        o->tried[o->tried_count++] = (uint32_t)index;
    if (object == NULL) {
        s->keep.failed |= status == MACHSYM_OBJECT_UNTRIED; /* memory is out */
        return NULL;
    }
    object->next = o->first;
    o->first = object;
    o->opened[index] = object;
    o->open_count++;
    ms_ans_count_object(o, object);
    return object;
}

/* The object that has a linked address; NULL when none has, or it cannot be opened. */
static ms_ans_object *ms_ans_object_at(machsym_session *s, uint64_t addr)
{
    ms_ans_objects *o = ms_ans_map_of(s);
    size_t index;
    if (o == NULL || ms_dw_code_at(&s->image->dw, addr) == NULL)
        return NULL;
    if (!o->has_segs && o->scans++ < ms_ANS_SCANS) {
        index = ms_om_scan(&o->map, addr);
    } else {
        if (!o->has_segs)
            ms_ans_index_objects(s, o);
        index = ms_om_find(&o->map, addr);
    }
    return index < o->map.count ? ms_ans_object_of(s, index) : NULL;
}

/* ---- Texts that outlive their object file ---- */

/* Copies a text to the end of the list. Returns false when there is too much already, or memory is out. */
static bool ms_ans_add_text(ms_ans_objects *o, machsym_str text, ms_arena *arena)
{
    ms_ans_texts *texts = &o->texts;
    if (text.len > MACHSYM_KEPT_TEXT_AHEAD + MACHSYM_KEPT_TEXT * o->quota.read - texts->bytes)
        return false;
    machsym_str *v = (machsym_str *)ms_arena_grow(arena, texts->v, texts->count, &texts->cap, sizeof *v);
    char *copy = (char *)ms_arena_keep(arena, text.ptr, text.len, 1);
    if (v == NULL || copy == NULL)
        return false;
    texts->v = v;
    texts->bytes += text.len;
    v[texts->count++] = ms_str_make(copy, text.len);
    return true;
}

/* Makes a text live as long as the session's names do; empty when memory is out, or a limit is reached. */
static void ms_ans_keep_text(machsym_session *s, machsym_str *text)
{
    ms_ans_texts *texts = &s->objects->texts;
    ms_tab_text search = ms_tab_text_of(*text);
    *text = ms_str_empty();
    if (search.text.len == 0)
        return;
    for (ms_tab_slot *slot; (slot = ms_tab_next_text(&texts->slots, &search)) != NULL;) {
        if (slot->value == 0 && !ms_ans_add_text(s->objects, search.text, &s->keep))
            return;
        if (slot->value == 0)
            slot->value = (uint32_t)texts->count;
        *text = texts->v[slot->value - 1];
        if (ms_str_equal(*text, search.text))
            return;
        *text = ms_str_empty();
    }
}

static void ms_ans_keep_path(machsym_session *s, machsym_path *path)
{
    ms_ans_keep_text(s, &path->comp_dir);
    ms_ans_keep_text(s, &path->dir);
    ms_ans_keep_text(s, &path->name);
}

static void ms_ans_keep_frames(machsym_session *s, machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ms_ans_keep_text(s, &frames[i].linkage_name);
        ms_ans_keep_text(s, &frames[i].name);
        ms_ans_keep_path(s, &frames[i].file);
    }
}

/* ---- Unit for an address ---- */

static size_t ms_ans_unit_in(const ms_segs *segs, uint64_t addr, size_t none)
{
    uint32_t owner = ms_seg_owner(segs->v, segs->count, addr);
    return owner == ms_SEG_NONE ? none : owner;
}

static void ms_ans_index_aranges(machsym_session *s)
{
    if (s->has_aranges)
        return;
    ms_arena_reset(&s->scratch);
    ms_cu_arange_segments(&s->env, &s->scratch, &s->aranges);
    s->has_aranges = true;
}

static size_t ms_ans_unit_by_aranges(machsym_session *s, uint64_t addr)
{
    if (!s->has_aranges && s->scans++ < ms_ANS_SCANS)
        return ms_cu_scan_aranges(&s->env, addr);
    ms_ans_index_aranges(s);
    return ms_ans_unit_in(&s->aranges, addr, s->env.count);
}

static size_t ms_ans_unit_by_ranges(machsym_session *s, uint64_t addr)
{
    if (!s->has_ranges) {
        ms_arena_reset(&s->scratch);
        ms_cu_range_segments(&s->env, &s->scratch, &s->ranges);
        s->has_ranges = true;
    }
    return ms_ans_unit_in(&s->ranges, addr, s->env.count);
}

/* The functions of all units that state no range, or whose range another unit has, as segments: the last
 * resort, made once. The tables of ranges must be there, which tell whose they are. */
static void ms_ans_read_silent(machsym_session *s)
{
    ms_ans_index_aranges(s);
    ms_arena room = ms_arena_make(s->allocator);
    ms_cu_pieces pieces = {&room, NULL, 0, 0};
    for (size_t i = 0; i < s->env.count; i++) {
        const ms_cu_root *root = ms_cu_root_of(&s->env, i);
        bool is_asked = root != NULL && (ms_cu_is_silent(root) || ms_cu_is_contested(&s->env, i));
        const ms_ans_unit *unit = is_asked ? ms_ans_functions_of(s, i) : NULL;
        for (size_t j = 0; unit != NULL && j < unit->functions.seg_count; j++) {
            const ms_seg *seg = &unit->functions.segs[j];
            if (seg->owner != ms_SEG_NONE)
                ms_cu_add_piece(&pieces, seg->lo, seg[1].lo, i); /* the last segment is nobody's */
        }
    }
    ms_arena_reset(&s->scratch);
    ms_cu_build_segments(&pieces, &s->scratch, &s->silent);
    s->scratch.failed |= room.failed;
    ms_arena_free(&room);
    s->has_silent = true;
}

static size_t ms_ans_unit_by_functions(machsym_session *s, uint64_t addr)
{
    if (!s->has_silent)
        ms_ans_read_silent(s);
    return ms_ans_unit_in(&s->silent, addr, s->env.count);
}

/* Where in the debug info an address is. */
typedef struct ms_ans_place {
    ms_ans_unit *unit; /* NULL: no unit covers it */
    const ms_cu_root *root;
    const ms_fn_table *table; /* that has the block */
    uint32_t block;           /* ms_SEG_NONE: the unit covers it, but none of its functions does */
    machsym_unit_source source;
} ms_ans_place;

/* Looks into a unit. Returns true when one of its functions has the address. */
static bool ms_ans_try_unit(machsym_session *s, size_t index, machsym_unit_source source, uint64_t addr,
                            ms_ans_place *place)
{
    ms_ans_unit *unit = ms_ans_functions_of(s, index);
    if (unit == NULL)
        return false;
    uint32_t block = ms_seg_owner(unit->functions.segs, unit->functions.seg_count, addr);
    if (block == ms_SEG_NONE && place->unit != NULL)
        return false;
    place->unit = unit;
    place->root = ms_cu_root_of(&s->env, index);
    place->table = &unit->functions;
    place->block = block;
    place->source = source;
    return block != ms_SEG_NONE;
}

/* aranges are a hint: where the unit that they name has no such function, the units' own ranges are asked,
 * then the functions of units that state none and of those whose code others claim too. The place's block is
 * a function; the unit's lines may not have been read. */
static ms_ans_place ms_ans_seek(machsym_session *s, uint64_t addr)
{
    ms_ans_place place = {NULL, NULL, NULL, ms_SEG_NONE, MACHSYM_UNIT_NONE};
    if (s->env.count == 0 || ms_dw_code_at(s->env.dw, addr) == NULL)
        return place;
    if (ms_ans_try_unit(s, ms_ans_unit_by_aranges(s, addr), MACHSYM_UNIT_ARANGES, addr, &place))
        return place;
    if (ms_ans_try_unit(s, ms_ans_unit_by_ranges(s, addr), MACHSYM_UNIT_RANGES, addr, &place))
        return place;
    ms_ans_try_unit(s, ms_ans_unit_by_functions(s, addr), MACHSYM_UNIT_FUNCTIONS, addr, &place);
    return place;
}

/* The innermost block at an address, in a unit with its lines. */
static ms_ans_place ms_ans_find(machsym_session *s, uint64_t addr)
{
    const ms_ans_place nowhere = {NULL, NULL, NULL, ms_SEG_NONE, MACHSYM_UNIT_NONE};
    ms_ans_place place = ms_ans_seek(s, addr);
    if (place.unit == NULL)
        return place;
    if (place.block != ms_SEG_NONE) {
        place.table = ms_ans_inside(s, place.unit, &place.block);
        place.block = ms_fn_block_at(place.table, place.block, addr);
    }
    return ms_ans_unit_of(s, place.unit->index) != NULL ? place : nowhere;
}

/* Gives back the memory of decoded units and of work in progress. */
static void ms_ans_shrink(machsym_session *s)
{
    s->keep.failed |= ms_ans_failed(s);
    ms_ans_drop_units(s);
    ms_arena_free(&s->cache);
    ms_arena_free(&s->scratch);
}

/* Makes all that a search by address needs: for sessions that lend it to others, or ask for every address. */
static void ms_ans_index(machsym_session *s)
{
    s->scans = ms_ANS_SCANS;
    ms_ans_list_programs(s);
    ms_ans_unit_by_aranges(s, 0);
    ms_ans_unit_by_ranges(s, 0);
    ms_ans_unit_by_functions(s, 0);
    ms_ans_symbols(s);
    ms_ans_objects *o = ms_ans_map_of(s);
    if (o != NULL && !o->has_segs)
        ms_ans_index_objects(s, o);
    ms_ans_shrink(s); /* the units that were asked may be large */
}

/* What ms_ans_seek tells, and up to which address it tells the same. Needs ms_ans_index. */
static ms_ans_place ms_ans_find_span(machsym_session *s, uint64_t addr, uint64_t *end)
{
    const ms_segs *tables[3] = {&s->aranges, &s->ranges, &s->silent};
    MACHSYM_COUNT_WORK(1);
    *end = ms_dw_code_until(s->env.dw, addr);
    for (size_t i = 0; i < 3; i++) {
        uint64_t until = ms_seg_until(tables[i]->v, tables[i]->count, addr);
        const ms_ans_unit *asked = ms_ans_functions_of(s, ms_ans_unit_in(tables[i], addr, s->env.count));
        *end = until < *end ? until : *end;
        if (asked == NULL)
            continue;
        until = ms_seg_until(asked->functions.segs, asked->functions.seg_count, addr);
        *end = until < *end ? until : *end;
    }
    return ms_ans_seek(s, addr);
}

/* Whether a unit that has a function at an address is the one that answers there, and up to where that
 * holds. */
static bool ms_ans_owns(machsym_session *s, size_t index, uint64_t addr, uint64_t *end)
{
    if (ms_ans_unit_in(&s->aranges, addr, s->env.count) == index) {
        *end = ms_seg_until(s->aranges.v, s->aranges.count, addr);
        return true;
    }
    ms_ans_place place = ms_ans_find_span(s, addr, end);
    return place.unit != NULL && place.unit->index == index && s->budget != 0; /* spent: nobody knows */
}

/* ---- Names ---- */

/* A name that bitcode compilation hid: __hidden#12_ */
static bool ms_ans_is_hidden(machsym_str name)
{
    return ms_str_begins(name, "__hidden#");
}

static machsym_str ms_ans_clean(machsym_str name)
{
    return name.len > 0 && name.ptr[0] == 1 ? ms_str_drop(name, 1) : name;
}

/* The linkage name without Mach-O's underscore, which LLVM's outliner and asm("_name") leave on it. */
static machsym_str ms_ans_linkage(machsym_str linkage, machsym_str name)
{
    bool is_symbol = linkage.len == name.len + 1 && name.len != 0 && linkage.ptr[0] == '_' &&
                     ms_str_equal(ms_str_drop(linkage, 1), name);
    return is_symbol ? name : linkage;
}

/* The debug info's linkage name, else the symbol at start (a function's own, or an out-of-line copy's), else
 * the name in the source. */
static void ms_ans_name(machsym_session *s, ms_fn_names names, bool has_start, uint64_t start,
                        machsym_frame *frame)
{
    frame->name = ms_ans_clean(names.name);
    frame->linkage_name = ms_ans_linkage(ms_ans_clean(names.linkage_name), frame->name);
    frame->name_source = MACHSYM_SOURCE_DWARF;
    bool is_objc = ms_str_begins(frame->name, "-[") || ms_str_begins(frame->name, "+[");
    bool hidden = ms_ans_is_hidden(frame->linkage_name);
    if ((frame->linkage_name.len != 0 && !hidden) || is_objc || !has_start)
        return;
    machsym_str symbol = ms_ans_symbol_exact(s, start, frame->name);
    if (symbol.len == 0 || (ms_ans_is_hidden(symbol) && ms_ans_is_hidden(frame->name)))
        return;
    frame->linkage_name = symbol;
    if (!ms_str_equal(symbol, frame->name))
        frame->name_source = MACHSYM_SOURCE_SYMTAB;
}

/* Names of an entry, through the session's cache of names. */
static ms_fn_names ms_ans_names_of(machsym_session *s, uint64_t die_off)
{
    if (s->names == NULL)
        s->names = (ms_fn_name_cache *)ms_arena_zeroed(&s->keep, ms_FN_NAMES, sizeof *s->names);
    if (s->names == NULL)
        return ms_fn_names_of(&s->env, die_off);
    ms_fn_name_cache *cached = &s->names[(die_off ^ die_off >> 10) % ms_FN_NAMES];
    if (cached->die_off != die_off) {
        cached->names = ms_fn_names_of(&s->env, die_off);
        cached->die_off = die_off;
    }
    return cached->names;
}

static void ms_ans_name_block(machsym_session *s, const ms_fn_table *functions, const ms_fn_block *block,
                              machsym_frame *frame)
{
    const ms_fn_block *real = frame->is_inline ? ms_fn_copy_of(functions, block) : block;
    bool from_origin = frame->is_inline && block->origin != 0; /* a call has no name of its own */
    ms_fn_names names = ms_ans_names_of(s, from_origin ? block->origin : block->die_off);
    ms_ans_name(s, names, real != NULL, real != NULL ? real->lo : 0, frame);
    machsym_symbol symbol;
    if (frame->name.len != 0 || frame->linkage_name.len != 0 || frame->is_inline)
        return;
    if (ms_ans_symbol_at(s, block->lo, &symbol)) { /* a function without a name of its own */
        frame->linkage_name = symbol.name;
        frame->name_source = symbol.source;
    }
}

/* ---- Lines ---- */

static void ms_ans_set_line(const ms_ans_place *place, uint64_t file, uint32_t line, uint32_t column,
                            machsym_frame *frame)
{
    frame->file = ms_ln_path(place->unit->lines, place->root->comp_dir, file);
    frame->line = line;
    frame->column = column;
    if (frame->file.name.len != 0 || line != 0)
        frame->line_source = MACHSYM_SOURCE_DWARF;
}

/* The end_sequence row nearest below an address that no sequence holds; row_count when there is none. */
static size_t ms_ans_end_row_below(const ms_ln_table *lines, uint64_t addr)
{
    size_t best = lines->seq_count;
    for (size_t lo = 0, left = lines->seq_count; left > 0;) {
        size_t half = left / 2;
        if (lines->seqs[lo + half].hi <= addr) {
            best = lo + half;
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return best == lines->seq_count ? lines->row_count
                                    : (size_t)lines->seqs[best].first + lines->seqs[best].count - 1;
}

/* The row for an address; row_count when there is none. past_end: under the stmt policy code behind a
 * sequence takes its last line. A row of a file that the table does not have is damage, and no answer. */
static inline size_t ms_ans_usable_row(const ms_ln_table *lines, machsym_lines policy, bool past_end,
                                       uint64_t addr, size_t at)
{
    if (at == lines->row_count && past_end && policy == MACHSYM_LINES_STMT)
        at = ms_ans_end_row_below(lines, addr);
    if (at != lines->row_count && !ms_ln_has_file(lines, lines->rows[at].file))
        at = lines->row_count;
    return at;
}

/* The line of the code at an address, for the innermost frame. */
static void ms_ans_line(const machsym_session *s, const ms_ans_place *place, bool past_end, uint64_t addr,
                        machsym_frame *frame)
{
    const ms_ln_table *lines = place->unit->lines;
    size_t at = ms_ans_usable_row(lines, s->lines, past_end, addr, ms_ln_find(lines, s->lines, addr));
    if (at != lines->row_count)
        ms_ans_set_line(place, lines->rows[at].file, lines->rows[at].line, lines->rows[at].column, frame);
}

enum { ms_ANS_NEAR = 16 }; /* sequences and rows that are farther ahead are searched for */

/* A walk over the rows by ascending address. */
typedef struct ms_ans_rows {
    const ms_ln_table *lines;
    machsym_lines policy;
    bool past_end;
    size_t seq;    /* the first one that ends above the address */
    size_t row;    /* the last one of it at or below the address; 0: not known */
    size_t at;     /* the row that answers; row_count: none */
    uint64_t next; /* up to where it does */
} ms_ans_rows;

/* Finds the first sequence that ends above addr. */
static void ms_ans_rows_find(ms_ans_rows *rows, uint64_t addr)
{
    rows->seq = rows->row = 0;
    for (size_t left = rows->lines->seq_count; left > 0;) {
        size_t half = left / 2;
        if (rows->lines->seqs[rows->seq + half].hi <= addr) {
            rows->seq += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
}

static ms_ans_rows ms_ans_rows_of(const ms_ln_table *lines, machsym_lines policy, bool past_end,
                                  uint64_t addr)
{
    ms_ans_rows rows;
    ms_zero(&rows, sizeof rows);
    rows.lines = lines;
    rows.policy = policy;
    rows.past_end = past_end;
    ms_ans_rows_find(&rows, addr);
    return rows;
}

static void ms_ans_rows_seek(ms_ans_rows *rows, uint64_t addr)
{
    const ms_ln_table *lines = rows->lines;
    size_t far = rows->seq + ms_ANS_NEAR;
    if (far < lines->seq_count && lines->seqs[far].hi <= addr)
        ms_ans_rows_find(rows, addr);
    for (; rows->seq < lines->seq_count && lines->seqs[rows->seq].hi <= addr; rows->seq++)
        rows->row = 0;
    const ms_ln_seq *seq = rows->seq < lines->seq_count ? &lines->seqs[rows->seq] : NULL;
    rows->at = lines->row_count;
    rows->next = UINT64_MAX;
    if (seq != NULL && seq->lo > addr) {
        rows->next = seq->lo;
    } else if (seq != NULL) {
        size_t last = seq->first + seq->count - 1; /* ends the sequence, above the address */
        size_t near = rows->row != 0 && last - rows->row > ms_ANS_NEAR ? rows->row + ms_ANS_NEAR : last;
        if (rows->row == 0 || lines->rows[near].addr <= addr)
            rows->row = ms_ln_last_at(lines->rows, seq->first, seq->count - 1, addr);
        while (lines->rows[rows->row + 1].addr <= addr)
            rows->row++;
        rows->next = lines->rows[rows->row + 1].addr;
        rows->at = ms_ln_choose(lines, rows->policy, seq, rows->row);
    }
    rows->at = ms_ans_usable_row(lines, rows->policy, rows->past_end, addr, rows->at);
}

/* Line 0 is nobody's line: take that of the nearest frame that has one, inner before outer. */
static void ms_ans_best_lines(machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t from = count;
        for (size_t j = i; j-- > 0 && from == count;)
            from = frames[j].line != 0 ? j : count;
        for (size_t j = i + 1; j < count && from == count; j++)
            from = frames[j].line != 0 ? j : count;
        if (frames[i].line != 0 || from == count)
            continue;
        frames[i].file = frames[from].file;
        frames[i].line = frames[from].line;
        frames[i].column = frames[from].column;
    }
}

/* ---- Frames ---- */

/* Frames of the function at a place, innermost first. Returns how many there are. */
static size_t ms_ans_function_frames(machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                     machsym_frame *frames, size_t cap)
{
    const ms_fn_table *table = place->table;
    uint32_t root = place->block;
    size_t depth = 0;
    for (; table->blocks[root].parent != ms_SEG_NONE; depth++)
        root = table->blocks[root].parent;
    size_t drop = depth > MACHSYM_MAX_INLINE_DEPTH ? depth - MACHSYM_MAX_INLINE_DEPTH : 0;
    ms_range range = ms_fn_range_at(&table->blocks[root], addr);
    size_t count = 0;
    const ms_fn_block *inner = NULL;
    for (uint32_t at = place->block; at != ms_SEG_NONE; at = table->blocks[at].parent) {
        MACHSYM_COUNT_WORK(1);
        const ms_fn_block *block = &table->blocks[at];
        if (drop > 0) {
            drop--;
        } else if (count++ < cap) {
            machsym_frame *frame = &frames[count - 1];
            ms_zero(frame, sizeof *frame);
            frame->is_inline = block->parent != ms_SEG_NONE;
            frame->die_offset = block->die_off;
            frame->function_start = range.lo;
            frame->function_size = range.hi - range.lo;
            ms_ans_name_block(s, &place->unit->functions, block, frame);
            if (inner == NULL)
                ms_ans_line(s, place, true, addr, frame);
            else
                ms_ans_set_line(place, inner->call_file, inner->call_line, inner->call_column, frame);
        }
        inner = block;
    }
    return count;
}

/* Whether the unit knows the line of an address that none of its functions has. Assembly has rows but no
 * functions. Between functions lies padding, whose row belongs to the function before: only the dwarf policy,
 * which takes rows literally as llvm-symbolizer does, answers with it; but not in an object file, as a dSYM
 * made from it has no such rows. */
static bool ms_ans_has_line(const machsym_session *s, const ms_ans_place *place)
{
    return place->unit != NULL && place->block == ms_SEG_NONE &&
           (place->unit->functions.count == 0 || (s->lines == MACHSYM_LINES_DWARF && s->program == NULL));
}

/* The frame of an address that no function of the debug info has. */
static size_t ms_ans_symbol_frame(machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                  machsym_frame *frame)
{
    machsym_symbol symbol;
    ms_zero(frame, sizeof *frame);
    bool named = ms_ans_symbol_at(s, addr, &symbol);
    if (named) {
        frame->linkage_name = symbol.name;
        frame->function_start = symbol.lo;
        frame->function_size = symbol.hi - symbol.lo;
        frame->name_source = symbol.source;
    }
    if (ms_ans_has_line(s, place))
        ms_ans_line(s, place, false, addr, frame);
    return named || frame->line_source != MACHSYM_SOURCE_NONE;
}

/* All frames at an address that the session's own debug info and symbols know. */
static size_t ms_ans_own_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    machsym_frame one;
    size_t count;
    ms_ans_trim(s);
    ms_ans_place place = ms_ans_find(s, addr);
    if (place.block != ms_SEG_NONE) {
        count = ms_ans_function_frames(s, &place, addr, frames, cap);
    } else {
        count = ms_ans_symbol_frame(s, &place, addr, cap > 0 ? frames : &one);
    }
    if ((s->flags & MACHSYM_SESSION_BEST_LINE) != 0)
        ms_ans_best_lines(frames, count < cap ? count : cap);
    return count;
}

/* All frames at an address. */
static size_t ms_ans_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    ms_ans_trim(s);
    ms_ans_object *object = ms_ans_object_at(s, addr);
    if (object == NULL)
        return ms_ans_own_frames(s, addr, frames, cap);
    size_t count = ms_ans_own_frames(&object->session, addr, frames, cap);
    ms_ans_keep_frames(s, frames, count < cap ? count : cap);
    ms_ans_count_object(s->objects, object);
    return count;
}

/* Frames of many addresses: by address, which is by unit, so that every unit is decoded once. */
static size_t ms_ans_many(machsym_session *s, const uint64_t *addrs, size_t count, machsym_answer *answers,
                          machsym_frame *frames, size_t cap)
{
    ms_arena room = ms_arena_make(s->allocator); /* the session's scratch is in use below */
    ms_key *order = (ms_key *)ms_arena_alloc(&room, count, sizeof *order);
    ms_key *spare = (ms_key *)ms_arena_alloc(&room, count, sizeof *order);
    size_t total = 0;
    if (order != NULL) {
        for (size_t i = 0; i < count; i++) {
            order[i].key = addrs[i];
            order[i].item = i;
        }
        ms_sort(order, count, spare);
    }
    for (size_t i = 0; i < count; i++) {
        size_t which = order != NULL ? (size_t)order[i].item : i;
        machsym_answer *answer = &answers[which];
        answer->first = total;
        answer->count = ms_ans_frames(s, addrs[which], total < cap ? frames + total : NULL,
                                      total < cap ? cap - total : 0);
        total += answer->count;
    }
    ms_arena_free(&room);
    return total;
}

/* ---- Iteration ---- */

/* Functions: cursor a is the unit, b the segment in it. Blocks' ranges in the order of the entries would name
 * parts that another function covers; segments say what is really looked up, but a function that inlined
 * calls cut is one range. */
static bool ms_ans_own_function(machsym_session *s, machsym_cursor *at, machsym_function *out)
{
    for (; at->a < s->env.count; at->a++, at->b = 0) {
        ms_ans_trim(s);
        const ms_ans_unit *unit = ms_ans_functions_of(s, (size_t)at->a);
        const ms_fn_table *table = unit != NULL ? &unit->functions : NULL;
        while (table != NULL && (at->b >> 32) < table->count) {
            const ms_fn_block *block = &table->blocks[at->b >> 32];
            uint32_t piece = (uint32_t)at->b;
            if (block->parent != ms_SEG_NONE || piece >= block->range_count) {
                at->b = ((at->b >> 32) + 1) << 32;
                continue;
            }
            at->b++;
            machsym_frame frame;
            ms_zero(&frame, sizeof frame);
            ms_ans_name_block(s, table, block, &frame);
            out->lo = ms_fn_range(block, piece).lo;
            out->hi = ms_fn_range(block, piece).hi;
            out->linkage_name = frame.linkage_name;
            out->name = frame.name;
            out->name_source = frame.name_source;
            out->die_offset = block->die_off;
            out->unit_offset = s->env.v[at->a].off;
            return true;
        }
    }
    return false;
}

static void ms_ans_get_row(const ms_ln_table *lines, const ms_cu_root *root, size_t index, machsym_line *out)
{
    const ms_ln_row *row = &lines->rows[index];
    out->addr = row->addr;
    out->file = ms_ln_path(lines, root->comp_dir, row->file);
    out->line = row->line;
    out->column = row->column;
    out->is_stmt = row->is_stmt;
    out->end_sequence = row->end_sequence;
}

/* Whether a unit is the first of those that run its line program, now that all are listed. */
static bool ms_ans_owns_lines(machsym_session *s, size_t index)
{
    const ms_cu_root *root = ms_cu_root_of(&s->env, index);
    return root != NULL && !ms_cu_program_of(&s->env, root, index).is_another;
}

static bool ms_ans_own_line(machsym_session *s, machsym_cursor *at, machsym_line *out)
{
    ms_ans_list_programs(s);
    for (; at->a < s->env.count; at->a++, at->b = 0) {
        ms_ans_trim(s);
        if (at->b == 0 && !ms_ans_owns_lines(s, (size_t)at->a))
            continue; /* rows of a program that units share come with one of them */
        const ms_ans_unit *unit = ms_ans_unit_of(s, (size_t)at->a);
        if (unit == NULL || at->b >= unit->lines->row_count)
            continue;
        ms_ans_get_row(unit->lines, ms_cu_root_of(&s->env, (size_t)at->a), (size_t)at->b++, out);
        return true;
    }
    return false;
}

/* Moves a cursor over a debug map, whose upper half of a is the object, to the first one that opens; inner is
 * the cursor in it. Returns NULL at the end, or when there is no debug map. */
static ms_ans_object *ms_ans_cursor_object(machsym_session *s, machsym_cursor *at, machsym_cursor *inner)
{
    ms_ans_objects *o = ms_ans_map_of(s);
    for (; o != NULL && (at->a >> 32) < o->map.count; at->a = ((at->a >> 32) + 1) << 32, at->b = 0) {
        ms_ans_trim(s);
        ms_ans_object *object = ms_ans_object_of(s, (size_t)(at->a >> 32));
        inner->a = (uint32_t)at->a;
        inner->b = at->b;
        if (object != NULL)
            return object;
    }
    return NULL;
}

/* Takes the cursor in an object back; at its end, to the next object. */
static void ms_ans_cursor_back(machsym_session *s, ms_ans_object *object, machsym_cursor *at,
                               const machsym_cursor *inner, bool more)
{
    at->a = more ? (at->a >> 32) << 32 | inner->a : ((at->a >> 32) + 1) << 32;
    at->b = more ? inner->b : 0;
    ms_ans_count_object(s->objects, object);
}

static bool ms_ans_next_function(machsym_session *s, machsym_cursor *at, machsym_function *out)
{
    machsym_cursor inner;
    if (ms_ans_map_of(s) == NULL)
        return ms_ans_own_function(s, at, out);
    for (ms_ans_object *object; (object = ms_ans_cursor_object(s, at, &inner)) != NULL;) {
        bool more = ms_ans_own_function(&object->session, &inner, out);
        ms_ans_cursor_back(s, object, at, &inner, more);
        if (!more)
            continue;
        ms_ans_keep_text(s, &out->linkage_name);
        ms_ans_keep_text(s, &out->name);
        return true;
    }
    return false;
}

static bool ms_ans_next_line(machsym_session *s, machsym_cursor *at, machsym_line *out)
{
    machsym_cursor inner;
    if (ms_ans_map_of(s) == NULL)
        return ms_ans_own_line(s, at, out);
    for (ms_ans_object *object; (object = ms_ans_cursor_object(s, at, &inner)) != NULL;) {
        bool more = ms_ans_own_line(&object->session, &inner, out);
        ms_ans_cursor_back(s, object, at, &inner, more);
        if (!more)
            continue;
        ms_ans_keep_path(s, &out->file);
        return true;
    }
    return false;
}

/* The owner of metadata that a cursor stands at: a is the class or category (all halves counted on). NULL at the end. */
static const ms_oc_owner *ms_ans_objc_owner(const machsym_session *s, const ms_oc_list **list,
                                            const machsym_cursor *at)
{
    uint64_t index = at->a;
    for (size_t i = 0; i + 1 < s->image->mo_count && index >= (*list)->owner_count; i++)
        index -= (*list)++->owner_count;
    return index < (*list)->owner_count ? &(*list)->owners[index] : NULL;
}

/* The metadata: cursor b is 0 for an owner itself, else its method plus 1. */
static bool ms_ans_next_objc(machsym_session *s, machsym_cursor *at, machsym_objc *out)
{
    const ms_oc_list *list = ms_ans_objc(s);
    const ms_oc_owner *owner = ms_ans_objc_owner(s, &list, at);
    if (owner != NULL && at->b > owner->count) { /* a list read again may be shorter: memory ran out */
        at->a++;
        at->b = 0;
        list = ms_ans_objc(s);
        owner = ms_ans_objc_owner(s, &list, at);
    }
    if (owner == NULL)
        return false;
    ms_zero(out, sizeof *out);
    out->kind = owner->is_category ? MACHSYM_OBJC_CATEGORY : MACHSYM_OBJC_CLASS;
    out->class_name = owner->class_name;
    out->category = owner->category;
    out->super_name = owner->super_name;
    out->is_swift = owner->is_swift;
    out->addr = owner->addr;
    if (at->b > 0) {
        const ms_oc_method *method = &list->methods[owner->first + at->b - 1];
        out->kind = MACHSYM_OBJC_METHOD;
        out->selector = method->selector;
        out->addr = method->addr;
        out->is_class_method = method->is_class_method;
    }
    if (at->b++ == owner->count) {
        at->a++;
        at->b = 0;
    }
    return true;
}

/* The debug map: cursor a is the half and, shifted, the entry of the object file plus 1; b the entry. */
static bool ms_ans_next_object(const machsym_session *s, machsym_cursor *at, machsym_object *out)
{
    for (; (at->a & 1) < s->image->mo_count && at->a != UINT64_MAX; at->b = 0) {
        uint64_t oso = at->a >> 1;
        bool found = ms_om_next_function(&s->image->mo[at->a & 1], &at->b, &oso, out);
        at->a = (at->a & 1) | oso << 1;
        if (found)
            return true;
        at->a = (at->a & 1) != 0 ? UINT64_MAX : 1;
    }
    return false;
}

/* What is known of an object of the debug map. */
static void ms_ans_get_object(const ms_ans_objects *o, size_t index, machsym_object_file *out)
{
    const ms_om_object *object = &o->map.v[index];
    out->path = object->path;
    out->member = object->member;
    out->time = object->time;
    out->found_time = o->times[index];
    out->status = (machsym_object_status)o->statuses[index];
}

/* ---- Explanation and counts ---- */

static void ms_ans_explain_rows(const machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                machsym_explanation *out)
{
    const ms_ln_table *lines = place->unit->lines;
    size_t at = ms_ln_find(lines, s->lines, addr);
    if (at == lines->row_count)
        return;
    size_t first = at < 2 ? 0 : at - 2;
    for (size_t i = first; i < lines->row_count && out->row_count < 5; i++) {
        if (i == at)
            out->row_used = out->row_count;
        ms_ans_get_row(lines, place->root, i, &out->rows[out->row_count++]);
    }
}

/* Whether LC_SYMTAB says something else of the function that answers at a place than the debug info. */
static bool ms_ans_symbol_differs(machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                  const machsym_symbol *symbol)
{
    if (place->block == ms_SEG_NONE || symbol->source != MACHSYM_SOURCE_SYMTAB ||
        ms_ans_is_hidden(symbol->name))
        return false;
    const ms_fn_table *table = place->table;
    uint32_t root = place->block;
    while (table->blocks[root].parent != ms_SEG_NONE)
        root = table->blocks[root].parent;
    machsym_frame frame;
    ms_zero(&frame, sizeof frame);
    ms_ans_name_block(s, &place->unit->functions, &table->blocks[root], &frame);
    machsym_str name = frame.linkage_name.len != 0 ? frame.linkage_name : frame.name;
    return symbol->lo != ms_fn_range_at(&table->blocks[root], addr).lo ||
           !ms_str_equal(ms_ans_symbol_exact(s, symbol->lo, name), name);
}

/* How many units have a function at an address beside the one that answers. */
static uint32_t ms_ans_count_rivals(machsym_session *s, const ms_ans_place *place, uint64_t addr)
{
    ms_arena room = ms_arena_make(s->allocator);
    const bool *claims = place->unit != NULL ? ms_cu_claims(&s->env, addr, &room) : NULL;
    uint32_t count = 0;
    for (size_t i = 0; claims != NULL && i < s->env.count; i++) {
        const ms_ans_unit *unit = claims[i] && i != place->unit->index ? ms_ans_functions_of(s, i) : NULL;
        count += unit != NULL &&
                 ms_seg_owner(unit->functions.segs, unit->functions.seg_count, addr) != ms_SEG_NONE;
    }
    s->scratch.failed |= room.failed;
    ms_arena_free(&room);
    return count;
}

static void ms_ans_explain_own(machsym_session *s, uint64_t addr, machsym_explanation *out)
{
    ms_zero(out, sizeof *out);
    out->row_used = 5;
    ms_ans_place place = ms_ans_find(s, addr);
    if (place.unit != NULL) {
        out->unit_source = place.source;
        out->unit_offset = place.root->enc.unit_off;
        out->unit_version = place.root->enc.version;
        out->unit_name = place.root->name;
        out->unit_producer = place.root->producer;
        out->is_damaged = place.unit->functions.is_damaged || place.unit->lines->is_damaged;
        ms_ans_explain_rows(s, &place, addr, out);
    }
    if (out->row_used == 5)
        out->row_used = out->row_count;
    out->has_symbol = ms_ans_symbol_at(s, addr, &out->symbol);
    out->symbol_differs = out->has_symbol && ms_ans_symbol_differs(s, &place, addr, &out->symbol);
    out->rival_count = ms_ans_count_rivals(s, &place, addr);
}

static void ms_ans_explain(machsym_session *s, uint64_t addr, machsym_explanation *out)
{
    ms_ans_object *object = ms_ans_object_at(s, addr);
    if (object == NULL) {
        ms_ans_explain_own(s, addr, out);
        return;
    }
    ms_ans_explain_own(&object->session, addr, out);
    ms_ans_keep_text(s, &out->unit_name);
    ms_ans_keep_text(s, &out->unit_producer);
    for (unsigned i = 0; i < out->row_count; i++)
        ms_ans_keep_path(s, &out->rows[i].file);
    for (size_t i = 0; i < s->objects->map.count; i++) {
        if (s->objects->opened[i] != object)
            continue;
        out->object_path = s->objects->map.v[i].path;
        out->object_member = s->objects->map.v[i].member;
    }
    ms_ans_count_object(s->objects, object);
}

static void ms_ans_count_sets(const machsym_session *s, machsym_session_info *out)
{
    ms_rd rd = ms_rd_make(s->env.dw->aranges);
    ms_cu_set set;
    while (ms_cu_next_set(&rd, &set))
        out->arange_set_count++;
}

static void ms_ans_count_own(machsym_session *s, machsym_session_info *out)
{
    bool reads_calls = s->reads_calls;
    ms_ans_drop_units(s); /* they may have been read without calls */
    s->reads_calls = true;
    ms_ans_count_sets(s, out);
    out->unit_count += (uint32_t)s->env.count;
    ms_ans_list_programs(s);
    for (size_t i = 0; i < s->env.count; i++) {
        ms_ans_trim(s);
        const ms_cu *cu = &s->env.v[i];
        const ms_ans_unit *unit = ms_ans_unit_of(s, i);
        bool damaged = unit == NULL || unit->functions.is_damaged || unit->lines->is_damaged;
        out->version_count[cu->version < 6 ? cu->version : 0]++;
        if (damaged && out->damaged_units++ == 0)
            out->first_damage_offset = cu->off;
        if (unit == NULL)
            continue;
        out->units_without_code += unit->functions.count == 0;
        out->units_without_ranges += ms_cu_is_silent(ms_cu_root_of(&s->env, i));
        out->function_count += unit->functions.function_count;
        out->inline_count += unit->functions.count - unit->functions.function_count;
        out->line_row_count += ms_ans_owns_lines(s, i) ? unit->lines->row_count : 0;
        out->die_count += unit->functions.die_count;
    }
    s->reads_calls = reads_calls;
}

static void ms_ans_count(machsym_session *s, machsym_session_info *out)
{
    ms_zero(out, sizeof *out);
    ms_ans_count_own(s, out);
    out->damaged_metadata = ms_ans_symbols(s)->damage_count;
    ms_ans_objects *o = ms_ans_map_of(s);
    for (size_t i = 0; o != NULL && i < o->map.count; i++) {
        ms_ans_trim(s);
        ms_ans_object *object = ms_ans_object_of(s, i);
        out->object_count++;
        out->missing_object_count += object == NULL;
        if (object == NULL)
            continue;
        ms_ans_count_own(&object->session, out);
        ms_ans_count_object(o, object);
    }
}

#endif /* ms_ROOM_answer_answer */
