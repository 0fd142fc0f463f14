#ifndef ms_ROOM_answer_session
#define ms_ROOM_answer_session
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../base/table.h"
#include "../macho/fixups.h"
#include "../macho/sources.h"
#include "../macho/objc.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../dwarf/bodies.h"
#include "../dwarf/nametable.h"
#include "../symmap/symmap.h"
#include "../image/sections.h"
#include "../image/image.h"
#include "../image/debugmap.h"

/* ==== >>session ============================================================================================
 * Job:    keeps what one thread has decoded of an image.
 * Offers: machsym_session, ms_ses_open, ms_ses_begin, ms_ses_lacked_memory, ms_ses_units,
 *         ms_ses_functions_of, ms_ses_inside_of, ms_ses_unit_of, ms_ses_names_of, ms_ses_close_objects.
 * Never:  decides what answers for an address. */

/* A place in the source, and what it was taken from. */
typedef struct ms_ses_place {
    uint32_t file;
    uint32_t line; /* 0: none */
    uint32_t column;
    machsym_near from;
    uint64_t addr; /* of the code that has the line; 0: the line is not that of code near by */
} ms_ses_place;

/* The lines that a function or call has, of rows and of calls in it, as far as somebody wrote them. */
typedef struct ms_ses_lined {
    uint32_t file; /* of all of them; UINT32_MAX: they are of several */
    uint32_t most; /* the largest; 0: there is none */
} ms_ses_lined;

/* The same of all blocks of a function. */
typedef struct ms_ses_lines {
    ms_ses_lined *v; /* the function first; NULL: not listed */
    size_t vain;     /* steps of searches that found nothing */
} ms_ses_lines;

/* A unit, decoded. */
typedef struct ms_ses_unit {
    struct ms_ses_unit *next; /* of those decoded */
    size_t index;
    ms_fn_table functions;
    ms_fn_inside **inside;    /* by function; NULL: not asked for yet */
    const ms_ln_table *lines; /* NULL: the line program has not been run */
    machsym_str comp_dir;     /* of the paths in lines */
    ms_ln_hint hint;          /* where in lines the last search ended */
    ms_range own;             /* code without a gap of function number own_of that >>near walked last */
    uint32_t own_of;
    ms_body_rows rows_of; /* of functions, once there are views */
    struct ms_ses_unit *
        *views;           /* by function: the unit with its rows only; NULL: none is needed: see >>views */
    uint32_t plain_first; /* the files of lines that have names, but for made_file; see >>near */
    uint32_t plain_count;
    uint32_t made_file;  /* that a compiler made up */
    bool has_plain;      /* the three were looked for */
    ms_ses_lines *lined; /* by function; NULL: none was searched in vain; see >>near */
    size_t rows_listed;  /* for that */
    ms_segs
        named; /* address to function that a table of names gives, where the entries may not: see >>named */
    bool has_named; /* that was looked for */
} ms_ses_unit;

/* What holds an address in the debug info. */
typedef struct ms_ses_span {
    uint64_t lo;       /* the address */
    uint64_t hi;       /* all of it holds for the addresses up to here */
    ms_ses_unit *unit; /* NULL: no unit covers the address */
    const ms_cu_root *root;
    machsym_unit_source source;
    bool is_named;        /* the function is one of unit->named */
    uint32_t function;    /* in unit->functions; ms_SEG_NONE: none of the unit's functions has the address */
    ms_range range;       /* of the function: the one that holds the address */
    ms_fn_inside *inside; /* NULL: nothing is inlined into it */
    const ms_fn_table *table; /* that has the call; NULL: not looked for yet */
    uint32_t call;            /* the innermost call, or the function itself */
    size_t row;               /* in unit->lines; their row_count: no row tells the line */
} ms_ses_span;

/* Where the code of a span has the line that people need. */
typedef struct ms_ses_near {
    const ms_ses_unit *unit;
    uint64_t lo;
    uint64_t hi; /* lo: nothing is remembered */
    uint32_t function;
    uint32_t call;
    ms_ses_place place;
    machsym_path file; /* of the place */
} ms_ses_near;

/* A line program that several units share, and the rows it gave. */
typedef struct ms_ses_program {
    uint64_t str_offsets_base; /* what it took from the unit's root */
    uint8_t addr_size;
    ms_ln_table lines;
} ms_ses_program;

/* What is remembered of where an inlined call or function has lines: see >>near. */
typedef struct ms_ses_site {
    uint64_t die_off; /* 0: empty; no entry stands at offset 0 */
    ms_ses_place call;
    ms_ses_place after; /* the line of code after addresses from after_from on; line 0: not known */
    uint64_t after_from;
    ms_ses_place outside; /* the line of all code of the call or function; line 0: that has none */
    bool has_outside;
    bool has_call;
    bool has_no_lines; /* no code of the function or call has a line to take */
    bool is_looked_at; /* all of it was searched for one */
    bool is_silent;    /* no code of the function has a line of its own that somebody wrote */
} ms_ses_site;

struct ms_ses_object;

/* Texts that outlive the object files that they come from, each once. */
typedef struct ms_ses_texts {
    machsym_str *v;
    size_t count;
    size_t cap;
    uint64_t bytes;
    ms_tab slots; /* text to its number + 1 */
} ms_ses_texts;

/* What a session knows of a debug map. */
typedef struct ms_ses_objects {
    ms_om_map map;
    struct ms_ses_object **opened; /* by object; NULL: not open now */
    struct ms_ses_object *first;   /* of the open ones */
    size_t open_count;
    size_t live;       /* bytes of the open ones, about */
    uint8_t *statuses; /* by object: machsym_object_status */
    uint64_t *times;   /* by object: of the file that was found */
    uint32_t *tried;   /* objects in the order of being tried */
    size_t tried_count;
    ms_om_quota quota;
    ms_ses_texts texts;
} ms_ses_objects;

/* One thread's lookups. */
struct machsym_session {
    const machsym_image *image;
    ms_map_kept *kept;        /* of a map: names that are unpacked; NULL: there are none */
    machsym_map_frame *found; /* of a map: room for the frames of one address; in keep */
    size_t found_cap;
    machsym_io_stats reads;   /* since the session was opened */
    machsym_session *program; /* of a session on an object file: the one that has the symbols; else NULL */
    ms_ses_objects *objects;  /* of a program whose debug map is followed, once asked for; in keep */
    machsym_lines lines;
    uint32_t flags;
    size_t cache_limit;
    machsym_allocator allocator;
    ms_arena keep;        /* indexes, root entries, abbreviations, symbols: until trim */
    ms_arena cache;       /* decoded units: dropped together when over the limit */
    ms_arena scratch;     /* reset for every unit */
    ms_arena held;        /* what was kept when memory ran out: texts of answers may lie there */
    ms_cu_env env;        /* its units once has_units */
    ms_dw dw;             /* sections of debug info that were needed so far */
    ms_ses_unit **units;  /* by number; NULL: not decoded */
    ms_ses_unit *decoded; /* the others */
    size_t decoded_count;
    ms_ses_unit *alone;        /* functions that were found without their units' others: see >>named */
    ms_range alone_code;       /* code of one unit, that of the last of them */
    ms_nt *name_table;         /* NULL: there is none, or it was not opened yet; in keep */
    uint32_t asked_names;      /* addresses that the table of names was asked for */
    uint32_t asked_symbols;    /* addresses that it was asked for, or would have been: their symbols were */
    uint32_t asked_in_row;     /* the same in one unit, one after the other */
    uint64_t asked_unit;       /* the offset of that */
    const ms_nt_list *stated;  /* what the table of names states; NULL: not needed yet */
    bool has_name_table;       /* it was looked for */
    bool asks_units;           /* many addresses: to decode units takes less than to ask the table of names */
    ms_ses_span last;          /* what the last search found, its hi without call and row; hi 0: nothing */
    ms_ses_program **programs; /* those that units share, by number; NULL: not run */
    uint64_t lines_run;        /* bytes of line programs run so far */
    uint64_t budget;           /* bytes of units that may still be decoded: of the session of a map's part */
    uint64_t functions_seen;   /* in the units decoded so far */
    uint64_t functions_asked;  /* those of them whose calls were asked for */
    bool reads_calls;    /* units are decoded whole; else the calls in a function once it is asked for */
    ms_segs silent;      /* functions whose unit no table of claims tells, once has_silent */
    ms_range *claims;    /* code that a unit may answer for, unit by unit; NULL: not listed */
    size_t *claim_first; /* by unit: its first claim; one more tells where the last unit's end */
    ms_src symbols;
    ms_oc_list objc[2];           /* of the image's halves, once has_objc; for iteration only */
    ms_fn_name_cache *names;      /* NULL: few were asked for */
    ms_fn_name_cache last_names;  /* those of the last entry that are not kept there */
    uint32_t names_read;          /* before there was a cache */
    ms_ses_site *sites;           /* MACHSYM_KEPT_SITES by their entry; NULL: none was needed */
    ms_ses_near last_near;        /* of the address that needed it last */
    uint32_t looked_steps;        /* that ms_near_look_at_all has taken */
    uint32_t near_walks;          /* of >>near that found nothing, up to ms_NEAR_FEW */
    struct ms_ses_folded *folded; /* of functions that share code: see >>folded; NULL: not asked for */
    bool asks_names_once;         /* each entry is asked for its names once: a cache would not help */
    bool has_units;
    bool asks_many; /* addresses: then it lists the units */
    bool lacked;    /* memory ran out, and what was decoded then is forgotten: see ms_ses_recover */
    bool has_silent;
    bool has_objects;
    bool has_objc;
};

/* An object file that answers for a part of a program: an image of its own with the program's symbols, and a
 * session on it. What it decodes has the program's addresses. */
typedef struct ms_ses_object {
    struct ms_ses_object *next;
    ms_om_file file;
    machsym_session session;
    size_t index; /* in the debug map */
    size_t live;  /* bytes, as counted in the program's session */
} ms_ses_object;

/* ---- Opening and closing ---- */

static void ms_ses_clear(machsym_session *s)
{
    s->units = NULL;
    s->decoded = NULL;
    s->decoded_count = 0;
    s->alone = NULL;
    s->name_table = NULL;
    s->stated = NULL;
    s->asked_names = s->asked_symbols = s->asked_in_row = 0;
    s->has_name_table = s->asks_units = false;
    s->last.hi = 0;
    s->last_near.hi = 0;
    s->programs = NULL;
    s->lines_run = 0;
    s->functions_seen = s->functions_asked = 0;
    s->names = NULL;
    s->names_read = 0;
    s->sites = NULL;
    s->folded = NULL;
    s->kept = NULL;
    s->found = NULL;
    s->found_cap = 0;
    s->objects = NULL;
    s->claims = NULL;
    s->claim_first = NULL;
    s->has_units = s->asks_many = s->has_silent = s->has_objc = s->has_objects = false;
    ms_zero(s->objc, sizeof s->objc);
    ms_zero(&s->env, sizeof s->env);
    ms_zero(&s->silent, sizeof s->silent);
    s->dw = s->image->dw;
    s->env.dw = &s->dw;
    s->env.arena = &s->keep;
    s->env.scratch = &s->scratch;
    s->silent.arena = &s->keep;
    ms_src_start(&s->symbols, s->image->mo, s->image->mo_count, s->image->dw.code, s->image->dw.code_count,
                 s->image->names, &s->scratch, &s->keep);
    for (size_t i = 0; i < s->image->mo_count; i++) {
        if (s->image->inputs[i].io.read != NULL && !s->image->inputs[i].reads_itself)
            ms_src_leave(&s->symbols, i, &s->image->inputs[i].io, &s->reads);
    }
}

static void ms_ses_start(machsym_session *s, const machsym_image *image, machsym_lines lines, uint32_t flags,
                         size_t cache_limit, machsym_allocator allocator)
{
    ms_zero(s, sizeof *s);
    s->image = image;
    s->lines = lines;
    s->flags = flags;
    s->cache_limit = cache_limit != 0 ? cache_limit : (size_t)MACHSYM_CACHE_LIMIT;
    s->budget = UINT64_MAX;
    s->reads_calls = (flags & MACHSYM_SESSION_INDEX) != 0;
    s->allocator = allocator;
    s->keep = ms_arena_make(allocator);
    s->cache = ms_arena_make(allocator);
    s->scratch = ms_arena_make(allocator);
    s->held = ms_arena_make(allocator);
    ms_ses_clear(s);
}

/* A session; NULL when memory is out. */
static machsym_session *ms_ses_open(const machsym_image *image, machsym_lines lines, uint32_t flags,
                                    size_t cache_limit, machsym_allocator allocator)
{
    machsym_session *s = (machsym_session *)allocator.alloc(allocator.user, sizeof *s);
    if (s != NULL)
        ms_ses_start(s, image, lines, flags, cache_limit, allocator);
    return s;
}

static void ms_ses_close_object(ms_ses_object *object)
{
    machsym_allocator allocator = object->session.allocator;
    ms_arena_free(&object->session.keep);
    ms_arena_free(&object->session.cache);
    ms_arena_free(&object->session.scratch);
    ms_om_close(&object->file);
    allocator.free(allocator.user, object, sizeof *object);
}

/* Whether memory ran out for object files. */
static ms_NOINLINE bool ms_ses_objects_failed(const ms_ses_objects *objects)
{
    bool failed = false;
    for (const ms_ses_object *object = objects->first; object != NULL && !failed; object = object->next)
        failed =
            object->session.keep.failed || object->session.cache.failed || object->session.scratch.failed;
    return failed;
}

/* Whether memory ran out: then something may be missing from what the session decoded. */
static inline bool ms_ses_failed(const machsym_session *s)
{
    return s->keep.failed || s->cache.failed || s->scratch.failed ||
           (s->kept != NULL && ms_map_kept_failed(s->kept)) ||
           (s->objects != NULL && ms_ses_objects_failed(s->objects));
}

/* Closes all object files. What their answers said stays in the texts. */
static void ms_ses_close_objects(machsym_session *s)
{
    ms_ses_objects *objects = s->objects;
    while (objects != NULL && objects->first != NULL) {
        ms_ses_object *object = objects->first;
        objects->first = object->next;
        objects->opened[object->index] = NULL;
        ms_arena_admit(&s->keep, ms_ses_failed(&object->session));
        ms_ses_close_object(object);
    }
    if (objects == NULL)
        return;
    objects->open_count = 0;
    objects->live = 0;
}

/* Drops everything cached. */
static void ms_ses_forget(machsym_session *s)
{
    ms_ses_close_objects(s);
    if (s->kept != NULL)
        ms_map_close_kept(s->kept);
    ms_arena_free(&s->keep);
    ms_arena_free(&s->cache);
    ms_arena_free(&s->scratch);
    ms_arena_free(&s->held);
    s->lacked = false;
    ms_ses_clear(s);
}

/* The same once memory has run out. What is missing then looks like an answer: a unit that could not be read
 * like a damaged one, an index that could not be made like an empty one. So nothing of it is used for the
 * next question. What answers borrow stays: once, and again as long as all of that fits into the cache's
 * limit. */
static ms_NOINLINE void ms_ses_start_again(machsym_session *s)
{
    if (!ms_ses_failed(s) || (s->held.total != 0 && s->held.total + s->keep.total > (uint64_t)s->cache_limit))
        return;
    ms_ses_close_objects(s);
    if (s->kept != NULL)
        ms_map_hold_kept(s->kept, &s->held);
    ms_arena_take_all(&s->held, &s->keep);
    ms_arena_free(&s->cache);
    ms_arena_free(&s->scratch);
    ms_ses_clear(s);
    s->lacked = true;
}

/* Whether memory ran out for what is kept now. What failed for an object file was admitted to keep. */
static inline bool ms_ses_is_short(const machsym_session *s)
{
    return s->keep.failed || s->cache.failed || s->scratch.failed ||
           (s->kept != NULL && ms_map_kept_failed(s->kept));
}

/* Makes a session ready for a question. */
static inline void ms_ses_begin(machsym_session *s)
{
    if (ms_ses_is_short(s))
        ms_ses_start_again(s);
}

/* Whether memory ran out since the session was opened or trimmed. */
static inline bool ms_ses_lacked_memory(const machsym_session *s)
{
    return s->lacked || ms_ses_is_short(s);
}

static size_t ms_ses_memory(const machsym_session *s)
{
    size_t bytes = sizeof *s + s->keep.total + s->cache.total + s->scratch.total + s->held.total;
    if (s->kept != NULL)
        bytes += ms_map_kept_memory(s->kept);
    for (const ms_ses_object *object = s->objects != NULL ? s->objects->first : NULL; object != NULL;
         object = object->next)
        bytes += ms_ses_memory(&object->session);
    return bytes;
}

static void ms_ses_close(machsym_session *s)
{
    ms_ses_forget(s);
    s->allocator.free(s->allocator.user, s, sizeof *s);
}

/* ---- What a session decodes ---- */

/* Makes sure that sections are there. Returns false when memory is out. */
static bool ms_ses_need(machsym_session *s, uint32_t needs)
{
    return ms_cu_need(&s->env, needs);
}

static void ms_ses_drop_units(machsym_session *s)
{
    for (; s->decoded != NULL; s->decoded = s->decoded->next)
        s->units[s->decoded->index] = NULL;
    s->alone = NULL;
    s->decoded_count = 0;
    s->last.hi = 0;
    s->last_near.hi = 0;
    ms_arena_reset(&s->cache);
}

/* Forgets the units that were found one by one. */
static void ms_ses_drop_brief(machsym_session *s)
{
    ms_ses_drop_units(s);
    s->units = NULL;
    s->env.roots = NULL;
    s->env.v = s->env.brief = NULL;
    s->env.lacks_units = false;
    s->env.count = 0;
}

/* Gives a unit, and its views, the place in a list of units. */
static void ms_ses_renumber(ms_ses_unit *unit, size_t index)
{
    unit->index = index;
    for (size_t i = 0; unit->views != NULL && i < unit->functions.count; i++) {
        if (unit->views[i] != NULL)
            unit->views[i]->index = index;
    }
}

/* Puts units that were found one by one, with what is known of them, where the list of all has them. Returns
 * false when memory is out. */
static bool ms_ses_move_brief(machsym_session *s, const ms_sec_units *all)
{
    const ms_cu *v = s->env.brief;
    ms_cu_root **roots = (ms_cu_root **)ms_arena_zeroed(&s->keep, all->count, sizeof *roots);
    ms_ses_unit **units = (ms_ses_unit **)ms_arena_zeroed(&s->keep, all->count, sizeof *units);
    if (roots == NULL || units == NULL)
        return false;
    for (size_t i = 0; i < s->env.count && v[i].end != 0; i++) {
        size_t number = ms_cu_from_offset(all->v, all->count, v[i].off);
        if (number == all->count || all->v[number].off != v[i].off || all->v[number].end != v[i].end) {
            ms_ses_drop_brief(s); /* somebody wrote into the file meanwhile */
            return true;
        }
        roots[number] = s->env.roots != NULL ? s->env.roots[i] : NULL;
        units[number] = s->units != NULL ? s->units[i] : NULL;
    }
    for (size_t number = 0; number < all->count; number++) {
        if (units[number] != NULL)
            ms_ses_renumber(units[number], number);
    }
    for (ms_ses_unit *one = s->alone; one != NULL; one = one->next)
        ms_ses_renumber(one, ms_cu_from_offset(all->v, all->count, one->functions.blocks->die_off));
    s->env.roots = roots;
    s->env.brief = NULL;
    s->env.lacks_units = false;
    s->env.named = 0;
    s->units = units;
    return true;
}

/* How many units there are. Their headers are read once an image, when they are first asked for; the session
 * finds none of them one by one any more. */
static size_t ms_ses_units(machsym_session *s)
{
    bool oom = false;
    if (s->has_units)
        return s->env.count;
    for (ms_dw_abbrevs *table = s->env.first_table; table != NULL && !oom; table = table->next)
        oom = !ms_dw_make_rest(table); /* other threads may borrow them */
    const ms_sec_units *units = s->image->sections != NULL ? ms_sec_units_of(s->image->sections, &oom) : NULL;
    if (units != NULL && s->env.brief != NULL)
        oom = !ms_ses_move_brief(s, units);
    if (units != NULL && !oom) {
        s->env.v = units->v;
        s->env.count = units->count;
    } else if (s->env.brief != NULL) {
        ms_ses_drop_brief(s);
    }
    ms_arena_admit(&s->keep, oom);
    s->has_units = !oom;
    return s->env.count;
}

/* Begins to find units one by one, for the first address that a session is asked for. To list the units reads
 * a header of each, which takes longer than an answer. Returns false when the units are to be listed. */
static bool ms_ses_begin_brief(machsym_session *s)
{
    if (ms_SMALL_CODE || s->has_units || s->asks_many || s->program != NULL || s->image->sections == NULL)
        return false;
    s->asks_many = true;
    if (ms_sec_has_units(s->image->sections) || !ms_ses_need(s, ms_NEEDS_UNITS | ms_NEEDS_ARANGES))
        return false;
    s->env.v = s->env.brief = (ms_cu *)ms_arena_zeroed(&s->keep, ms_CU_BRIEF, sizeof *s->env.brief);
    s->env.count = s->env.brief != NULL ? ms_CU_BRIEF : 0;
    return s->env.brief != NULL;
}

/* Gives back the memory of decoded units and of work in progress. */
static void ms_ses_shrink(machsym_session *s)
{
    ms_arena_admit(&s->keep, ms_ses_failed(s));
    ms_ses_drop_units(s);
    ms_arena_free(&s->cache);
    ms_arena_free(&s->scratch);
}

/* Drops the decoded units when they take more than the limit. */
static void ms_ses_trim(machsym_session *s)
{
    if (s->objects != NULL && s->objects->open_count > 1 && s->objects->live > s->cache_limit)
        ms_ses_close_objects(s);
    if (s->cache.live > s->cache_limit && (s->decoded_count > MACHSYM_KEPT_UNITS || s->alone != NULL))
        ms_ses_drop_units(s);
}

/* Whether an address lies in the unit that was decoded last, or whose function was read last. */
static bool ms_ses_is_in_newest(const machsym_session *s, uint64_t addr)
{
    const ms_fn_table *newest = s->decoded != NULL ? &s->decoded->functions : NULL;
    if (s->alone != NULL && s->alone_code.lo <= addr && addr < s->alone_code.hi)
        return true;
    return newest != NULL && ms_seg_owner(newest->segs, newest->seg_count, addr) != ms_SEG_NONE;
}

/* The same before an address is asked for. As long as addresses lie in the newest unit, it stays: a unit that
 * takes more than the limit would else be decoded twice, and its line program be run for each function. */
static void ms_ses_trim_for(machsym_session *s, uint64_t addr)
{
    if (s->cache.live > s->cache_limit && ms_ses_is_in_newest(s, addr))
        return;
    ms_ses_trim(s);
}

/* Takes cost from the budget. Returns false once it is spent. */
static bool ms_ses_spend(machsym_session *s, uint64_t cost)
{
    if (s->budget == UINT64_MAX)
        return true;
    bool enough = cost <= s->budget;
    s->budget = enough ? s->budget - cost : 0;
    return enough;
}

/* A session of many addresses is asked for the calls of most functions. To decode those with their unit takes
 * less than to walk each function a second time, once a third of the functions is asked for. */
enum {
    ms_SES_FEW_FUNCTIONS =
        256,              /* from fewer nothing is concluded: a crash report asks for some in each unit */
    ms_SES_MANY_ASKED = 3 /* one function of this many */
};

/* Whether the calls of the next unit are decoded with it. */
static bool ms_ses_reads_calls(const machsym_session *s)
{
    bool many = s->functions_seen >= ms_SES_FEW_FUNCTIONS &&
                s->functions_asked >= s->functions_seen / ms_SES_MANY_ASKED;
    return s->reads_calls || many;
}

/* A unit's functions, decoded once. Returns NULL when it is damaged or memory is out. */
static ms_ses_unit *ms_ses_functions_of(machsym_session *s, size_t index)
{
    if (s->units != NULL && index < s->env.count && s->units[index] != NULL)
        return s->units[index];
    const ms_cu_root *root = index < s->env.count ? ms_cu_root_of(&s->env, index) : NULL;
    if (root == NULL)
        return NULL;
    if (s->units == NULL)
        s->units = (ms_ses_unit **)ms_arena_zeroed(&s->keep, s->env.count, sizeof *s->units);
    if (s->units == NULL)
        return NULL;
    if (!ms_ses_spend(s, root->enc.unit_end - root->enc.unit_off))
        return NULL;
    ms_ses_unit *unit = (ms_ses_unit *)ms_arena_zeroed(&s->cache, 1, sizeof *unit);
    if (unit == NULL)
        return NULL;
    ms_arena_reset(&s->scratch);
    ms_fn_read(s->env.dw, root, ms_ses_reads_calls(s), &s->scratch, &s->cache, &unit->functions);
    if (s->cache.oom || s->scratch.oom)
        return NULL;
    s->functions_seen += unit->functions.function_count;
    unit->index = index;
    unit->next = s->decoded;
    s->decoded = unit;
    s->decoded_count++;
    s->units[index] = unit;
    return unit;
}

/* A function of a unit with what is inlined into it, made once; NULL when nothing is, or memory is out. */
static ms_fn_inside *ms_ses_inside_of(machsym_session *s, ms_ses_unit *unit, uint32_t function)
{
    ms_fn_table *functions = &unit->functions;
    const ms_fn_block *block = &functions->blocks[function];
    if (block->unread == 0 && block->end == function + 1)
        return NULL;
    if (unit->inside == NULL)
        unit->inside = (ms_fn_inside **)ms_arena_zeroed(&s->cache, functions->count, sizeof *unit->inside);
    if (unit->inside == NULL)
        return NULL;
    if (unit->inside[function] == NULL) {
        ms_arena_reset(&s->scratch);
        s->functions_asked++;
        unit->inside[function] = ms_fn_look_inside(s->env.dw, ms_cu_root_of(&s->env, unit->index), functions,
                                                   function, &s->scratch, &s->cache);
    }
    return unit->inside[function];
}

/* Decides where each of the listed programs ends. Programs may overlap, and a damaged unit may name the
 * middle of one. If running them all would cost more than MACHSYM_MAX_PROGRAM_OVERLAP times the section, a
 * program ends where the next one begins. */
static void ms_ses_end_programs(machsym_session *s)
{
    const ms_key *v = s->env.programs;
    uint64_t next = s->env.dw->line.len;
    uint64_t common = MACHSYM_MAX_PROGRAM_OVERLAP * next; /* bytes that may still be run as parts of two */
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

/* Lists which units share line programs. Needed before all units are decoded, and as soon as one program
 * would be run twice. */
static void ms_ses_list_programs(machsym_session *s)
{
    if (s->env.programs != NULL || ms_ses_units(s) == 0 || !ms_ses_need(s, ms_NEEDS_LINE))
        return;
    ms_arena_reset(&s->scratch);
    ms_cu_list_programs(&s->env, &s->scratch);
    ms_ses_end_programs(s);
    if (s->env.program_ends == NULL)
        s->env.program_count = 0;
}

/* Runs a unit's line program; the table's arrays come from arena. With code the rows of that suffice. Returns
 * false when memory is out. */
static bool ms_ses_run_lines(machsym_session *s, const ms_cu_root *root, const ms_cu_program *program,
                             const ms_range *code, ms_arena *arena, ms_ln_table *table)
{
    if (!ms_ses_need(s, ms_ln_needs(&s->dw, root->line_off)))
        return false;
    ms_dw dw = s->dw;
    dw.line.len = (size_t)program->end;
    ms_arena_reset(&s->scratch);
    if (code == NULL || !ms_ln_read_code(&dw, &root->enc, root->line_off, *code, &s->scratch, arena, table)) {
        ms_arena_reset(&s->scratch);
        ms_ln_read(&dw, &root->enc, root->line_off, &s->scratch, arena, table);
    }
    s->lines_run += table->size;
    return !arena->oom && !s->scratch.oom;
}

/* The rows of a program that several units share. It is run once and kept, since running it for each unit
 * would multiply the work. NULL when the unit's root gives the names another base, the budget is spent or
 * memory is out. */
static const ms_ln_table *ms_ses_shared_lines(machsym_session *s, const ms_cu_root *root,
                                              const ms_cu_program *program)
{
    if (s->programs == NULL)
        s->programs = (ms_ses_program **)ms_arena_zeroed(&s->keep, s->env.program_count, sizeof *s->programs);
    if (s->programs == NULL)
        return NULL;
    ms_ses_program *kept = s->programs[program->number];
    uint64_t cost = kept == NULL ? program->end - root->line_off : kept->lines.file_count;
    if (program->is_another && (cost > s->budget || !ms_ses_spend(s, cost)))
        return NULL;
    if (kept == NULL) {
        kept = (ms_ses_program *)ms_arena_alloc(&s->keep, 1, sizeof *kept);
        if (kept == NULL || !ms_ses_run_lines(s, root, program, NULL, &s->keep, &kept->lines))
            return NULL;
        kept->str_offsets_base = root->enc.str_offsets_base;
        kept->addr_size = root->enc.addr_size;
        s->programs[program->number] = kept;
    }
    bool same_base = kept->lines.version < 5 || kept->str_offsets_base == root->enc.str_offsets_base;
    return same_base && kept->addr_size == root->enc.addr_size ? &kept->lines : NULL;
}

/* A unit's line table; with code the rows of that suffice. If it has to be left out, the table says that it
 * is damaged. Returns NULL when memory is out. */
static const ms_ln_table *ms_ses_lines_of(machsym_session *s, const ms_cu_root *root, const ms_ses_unit *unit,
                                          const ms_range *code)
{
    ms_ln_table *own = (ms_ln_table *)ms_arena_zeroed(&s->cache, 1, sizeof *own);
    if (own == NULL || !root->has_line)
        return own;
    if (!ms_ses_need(s, ms_NEEDS_LINE))
        return NULL;
    if (s->lines_run > s->env.dw->line.len)
        ms_ses_list_programs(s);
    ms_cu_program program = ms_cu_program_of(&s->env, root, unit->index);
    const ms_ln_table *shared = program.is_shared ? ms_ses_shared_lines(s, root, &program) : NULL;
    if (shared != NULL)
        return shared;
    own->is_damaged = true;
    uint64_t size = root->enc.unit_end - root->enc.unit_off;
    bool multiplies = program.is_shared && program.end - root->line_off >= MACHSYM_MAX_LINES_PER_INFO * size;
    return multiplies || ms_ses_run_lines(s, root, &program, code, &s->cache, own) ? own : NULL;
}

/* Takes the lines of a unit from where they are already: its functions may have been found alone. Returns
 * whether one of them was. */
static bool ms_ses_share_lines(const machsym_session *s, ms_ses_unit *unit)
{
    const ms_ses_unit *from = s->units != NULL && unit->index < s->env.count ? s->units[unit->index] : NULL;
    bool was_alone = false;
    for (const ms_ses_unit *one = s->alone; one != NULL && (from == NULL || from->lines == NULL);
         one = one->next) {
        was_alone |= one->index == unit->index;
        from = one->index == unit->index && !one->lines->is_part ? one : from;
    }
    if (from != NULL) {
        unit->lines = from->lines;
        unit->comp_dir = from->comp_dir;
    }
    return was_alone;
}

/* Makes sure that a unit's lines are there, or those of some code of it: the first time. Returns false when
 * memory is out. */
static bool ms_ses_has_lines_of(machsym_session *s, ms_ses_unit *unit, const ms_range *code)
{
    bool was_alone = unit->lines == NULL && ms_ses_share_lines(s, unit);
    if (unit->lines != NULL)
        return true;
    const ms_cu_root *root = ms_cu_root_of(&s->env, unit->index);
    unit->lines = ms_ses_lines_of(s, root, unit, was_alone ? NULL : code);
    unit->comp_dir = ms_cu_text(&s->dw, root, ms_SLOT_COMP_DIR);
    return unit->lines != NULL;
}

/* The same of all lines. */
static bool ms_ses_has_lines(machsym_session *s, ms_ses_unit *unit)
{
    return ms_ses_has_lines_of(s, unit, NULL);
}

/* A unit with its lines. Returns NULL as above. */
static ms_ses_unit *ms_ses_unit_of(machsym_session *s, size_t index)
{
    ms_ses_unit *unit = ms_ses_functions_of(s, index);
    return unit != NULL && ms_ses_has_lines(s, unit) ? unit : NULL;
}

/* Whether a unit is the first of those that run its line program, now that all are listed. */
static bool ms_ses_owns_lines(machsym_session *s, size_t index)
{
    const ms_cu_root *root = ms_cu_root_of(&s->env, index);
    return root != NULL && !ms_cu_program_of(&s->env, root, index).is_another;
}

/* The first 16 names are read without a cache, because clearing one takes longer. Sessions with
 * MACHSYM_SESSION_INDEX allocate it at once, so that repeated lookups need no memory. */
enum { ms_SES_FEW_NAMES = 16 };

/* Reads the names of an entry, into its place in the cache when there is one. */
static ms_NOINLINE const ms_fn_names *ms_ses_read_names(machsym_session *s, uint64_t die_off)
{
    bool with_decl = s->lines == MACHSYM_LINES_PEOPLE; /* see >>near */
    bool are_few = s->names == NULL && !s->reads_calls && s->names_read++ < ms_SES_FEW_NAMES;
    bool is_kept = !are_few && !s->asks_names_once;
    if (is_kept && s->names == NULL)
        s->names = (ms_fn_name_cache *)ms_arena_zeroed(&s->keep, MACHSYM_KEPT_NAMES, sizeof *s->names);
    ms_fn_name_cache *cached = is_kept && s->names != NULL
                                   ? &s->names[(die_off ^ die_off >> 10) % MACHSYM_KEPT_NAMES]
                                   : &s->last_names;
    cached->names = ms_fn_names_of(&s->env, die_off, with_decl);
    cached->die_off = die_off;
    return &cached->names;
}

/* Names of an entry, and its declaration if lines are for people, through the session's cache of names. They
 * stay until the next call. */
static inline const ms_fn_names *ms_ses_names_of(machsym_session *s, uint64_t die_off)
{
    const ms_fn_name_cache *cached =
        s->names != NULL ? &s->names[(die_off ^ die_off >> 10) % MACHSYM_KEPT_NAMES] : NULL;
    return cached != NULL && cached->die_off == die_off ? &cached->names : ms_ses_read_names(s, die_off);
}

/* The names outside debug info: of the program, when the session is on an object file of it. */
static ms_src *ms_ses_symbols(machsym_session *s)
{
    return s->program != NULL ? &s->program->symbols : &s->symbols;
}

static const ms_oc_list *ms_ses_objc(machsym_session *s)
{
    if (s->has_objc)
        return s->objc;
    ms_arena_reset(&s->scratch);
    for (size_t i = 0; i < s->image->mo_count; i++) {
        ms_fx_data d;
        ms_fx_open(&d, &s->image->mo[i], &s->symbols.rests[i], &s->scratch);
        s->objc[i].arena = &s->keep;
        ms_oc_read(&s->objc[i], &d, &s->scratch);
    }
    s->has_objc = true;
    return s->objc;
}

#endif /* ms_ROOM_answer_session */
