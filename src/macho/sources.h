#ifndef ms_ROOM_macho_sources
#define ms_ROOM_macho_sources
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "macho.h"
#include "fixups.h"
#include "symbols.h"
#include "jumps.h"
#include "unwind.h"
#include "objc.h"
#include "swift_types.h"

/* ==== >>sources ============================================================================================
 * Job:    reads all sources of names outside debug info into one table, once that pays.
 * Offers: ms_src, ms_src_start, ms_src_leave, ms_src_order, ms_src_table, ms_src_table_at, ms_src_find,
 *         ms_src_exact, ms_src_shared, ms_src_start_shared, ms_src_drop.
 * Never:  lets an answer depend on how many came before. */

/* A table that all lookups in an image share once one of them has made it. It never changes again. If two
 * threads make it, the second one throws its own away. */
typedef struct ms_src_shared {
    machsym_allocator allocator;
    void *made; /* ms_src_made; NULL: it was not needed yet */
} ms_src_shared;

typedef struct ms_src_made {
    ms_arena arena; /* that this lies in */
    ms_sym_table table;
} ms_src_made;

/* The names outside an image's debug info. */
typedef struct ms_src {
    ms_sym_table table;    /* its inputs are set; the rest once is_read */
    ms_arena *scratch;     /* reset whenever a table is read */
    ms_fx_rest rests[2];   /* of each half: sections that are read when they are asked for */
    ms_src_shared *shared; /* NULL: what is made is for these lookups only */
    size_t last;           /* the entry that was found last */
    machsym_symbol recent; /* the symbol of it */
    uint32_t scans;        /* lookups that have read LC_SYMTAB from its start */
    ms_sym_order order;    /* the symbols of one half by address, once they are listed */
    ms_sym_sides sides;    /* what a search of LC_SYMTAB found last */
    size_t listed;         /* what lookups by this list have cost, in symbols */
    bool lists; /* a dSYM without other names: the list does as long as making a table takes longer */
    bool is_read;
} ms_src;

/* Whether the names can be read without sorting at little cost: a dSYM has no source but LC_SYMTAB. */
static bool ms_src_is_dsym(const ms_src *names)
{
    for (size_t i = 0; i < names->table.mo_count; i++) {
        if (names->table.mo[i].slice.filetype != ms_MH_DSYM)
            return false;
    }
    return true;
}

/* Whether a section of a dSYM is part of its debug info, and has no names that this room reads. */
static bool ms_src_is_debug(const ms_mo_section *section)
{
    return (section->flags & ms_SECTION_TYPE) != ms_S_SYMBOL_STUBS &&
           (ms_str_begins(section->name, "__debug_") || ms_str_begins(section->name, "__apple_") ||
            ms_str_begins(section->name, "__zdebug_") || ms_str_is(section->name, "__eh_frame") ||
            ms_str_is(section->name, "__swift_ast"));
}

/* Whether an image has no source of names but LC_SYMTAB of one dSYM. */
static bool ms_src_is_plain(const ms_src *names)
{
    const ms_mo *mo = names->table.mo;
    if (names->table.mo_count != 1 || !ms_src_is_dsym(names) || mo->hide_symtab ||
        mo->loads.starts_size != 0 || mo->loads.exports_size != 0)
        return false;
    for (uint32_t i = 0; i < mo->section_count; i++) {
        const ms_mo_section *section = &mo->sections[i];
        if ((section->bytes.len != 0 || section->unread != 0) && !ms_src_is_debug(section))
            return false;
    }
    return true;
}

/* Starts with the image's halves and executable sections. What is kept comes from arena, but for what is
 * shared. */
static void ms_src_start(ms_src *names, const ms_mo *mo, size_t mo_count, const ms_range *code,
                         size_t code_count, ms_src_shared *shared, ms_arena *scratch, ms_arena *arena)
{
    ms_zero(names, sizeof *names);
    names->shared = shared;
    names->scratch = scratch;
    names->table.arena = arena;
    names->table.mo = mo;
    names->table.mo_count = mo_count;
    names->table.code = code;
    names->table.code_count = code_count;
    names->lists = !ms_SMALL_CODE && ms_src_is_plain(names);
}

/* Sections that the image left unread are read through io, and counted in reads. */
static void ms_src_leave(ms_src *names, size_t half, const machsym_io *io, machsym_io_stats *reads)
{
    names->shared = NULL; /* each counts what it reads */
    ms_fx_rest *rest = &names->rests[half];
    rest->io = *io;
    rest->left = names->table.mo[half].bytes.len;
    rest->arena = names->table.arena;
    rest->reads = reads;
}

/* Fills t, whose inputs are those of names, from every source. Returns false when memory is out. */
static bool ms_src_read(ms_src *names, ms_sym_table *t)
{
    ms_arena *scratch = names->scratch;
    ms_fx_data data[2];
    bool has_starts = false;
    ms_arena_reset(scratch);
    for (size_t i = 0; i < t->mo_count; i++)
        has_starts |= t->mo[i].loads.starts_size != 0;
    for (size_t i = 0; i < t->mo_count; i++) {
        ms_fx_data *d = &data[i];
        ms_fx_open(d, &t->mo[i], &names->rests[i], scratch);
        ms_sym_add(t, i, d, scratch);
        ms_oc_add_blocks(t, d);
        if (ms_mo_is_encrypted(&t->mo[i]))
            continue; /* the rest begins in __TEXT */
        if (!has_starts)
            ms_uw_add_starts(t, d);
        ms_oc_add_names(t, d, scratch);
        ms_sw_add_names(t, d, scratch);
    }
    ms_sym_sort(t, scratch);
    if (t->mo_count > 0 && ms_jmp_add_names(t, &data[0], scratch))
        ms_sym_sort(t, scratch);
    ms_sym_index_crowds(t, scratch);
    for (size_t i = 0; i < t->mo_count; i++)
        t->damage_count += data[i].damage_count + names->rests[i].lost;
    if (t->mo_count > 0 && !scratch->oom)
        ms_oc_name_blocks(t, &data[0]);
    return !t->arena->oom && !scratch->oom;
}

/* What the lookups in one image share; NULL when memory is out, or in small code. */
static ms_src_shared *ms_src_start_shared(ms_arena *arena)
{
    ms_src_shared *shared = ms_SMALL_CODE ? NULL : (ms_src_shared *)ms_arena_zeroed(arena, 1, sizeof *shared);
    if (shared != NULL)
        shared->allocator = arena->allocator;
    return shared;
}

static void ms_src_free(ms_src_made *made)
{
    ms_arena arena = made->arena;
    ms_arena_free(&arena);
}

/* Frees what was shared, once no lookups are left. */
static void ms_src_drop(ms_src_shared *shared)
{
    ms_src_made *made = !ms_SMALL_CODE && shared != NULL ? (ms_src_made *)ms_once_get(&shared->made) : NULL;
    if (made != NULL)
        ms_src_free(made);
}

/* Makes the table to share; NULL when memory is out. */
static const ms_src_made *ms_src_make(ms_src *names)
{
    ms_arena arena = ms_arena_make(names->shared->allocator);
    ms_src_made *made = (ms_src_made *)ms_arena_zeroed(&arena, 1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->arena = arena;
    made->table = names->table;
    made->table.arena = &made->arena;
    ms_arena scratch = ms_arena_make(names->shared->allocator); /* much is needed, once */
    ms_arena *own = names->scratch;
    names->scratch = &scratch;
    bool ok = ms_src_read(names, &made->table);
    names->scratch = own;
    ms_arena_free(&scratch);
    if (!ok) {
        ms_src_free(made);
        return NULL;
    }
    ms_src_made *kept = (ms_src_made *)ms_once_put(&names->shared->made, made);
    if (kept != made)
        ms_src_free(made);
    return kept;
}

/* Takes the shared table, made now if it was not made yet. Returns false when memory is out. */
static bool ms_src_share(ms_src *names)
{
    ms_arena *own = names->table.arena;
    const ms_src_made *made = (const ms_src_made *)ms_once_get(&names->shared->made);
    if (made == NULL)
        made = ms_src_make(names);
    if (made != NULL)
        names->table = made->table;
    names->table.arena = own;
    ms_arena_admit(own, made == NULL);
    return made != NULL;
}

static const ms_sym_table *ms_src_table(ms_src *names)
{
    bool ok = names->is_read;
    if (!ok)
        ok =
            !ms_SMALL_CODE && names->shared != NULL ? ms_src_share(names) : ms_src_read(names, &names->table);
    if (!ok)
        names->table.count = 0;
    names->is_read = true;
    return &names->table;
}

/* Lists the symbols of one file of a pair by address. All calls pass the same file. NULL: memory is out. */
static const ms_sym_order *ms_src_order(ms_src *names, const ms_mo *mo)
{
    if (names->order.v != NULL)
        return &names->order;
    ms_arena room = ms_arena_make(names->table.arena->allocator); /* the scratch may be in use */
    bool ok = ms_sym_list_order(mo, &room, names->table.arena, &names->order);
    ms_arena_admit(names->table.arena, !ok);
    ms_arena_free(&room);
    return ok ? &names->order : NULL;
}

/* Whether the whole table is there. */
static bool ms_src_is_made(const ms_src *names)
{
    return names->is_read ||
           (!ms_SMALL_CODE && names->shared != NULL && ms_once_get(&names->shared->made) != NULL);
}

/* Fills t with the symbols at an address of code and beside it, by the list, with memory of arena. Returns
 * false when there is no list. The list is given up when the symbols at the address have no names, or when
 * lookups have cost as much as the table. */
static bool ms_src_try_list(ms_src *names, uint64_t addr, const ms_range *code, ms_arena *arena,
                            ms_sym_table *t)
{
    *t = names->table;
    if (!names->lists || ms_src_is_made(names))
        return false;
    ms_sym_narrow(t, code, addr);
    t->arena = arena;
    t->order = ms_src_order(names, t->mo);
    ms_span strings = ms_sym_whole_strings(t->mo);
    bool ok = t->order != NULL && ms_sym_add_nearest(t, 0, ms_sym_nlists(t->mo), strings);
    names->listed += MACHSYM_LISTED_WORTH + t->count + (ms_sym_strings(t->mo).len - strings.len);
    names->lists = ok && names->listed <= names->order.count;
    if (ok)
        ms_sym_sort(t, arena);
    return ok && !arena->oom;
}

/* All names at an address: they are in *near_table, whose memory comes from arena, or in the whole table. */
static const ms_sym_table *ms_src_table_at(ms_src *names, uint64_t addr, ms_arena *arena,
                                           ms_sym_table *near_table)
{
    const ms_range *code = ms_sym_code_at(&names->table, addr);
    bool by_list = code != NULL && ms_src_try_list(names, addr, code, arena, near_table);
    return by_list ? near_table : ms_src_table(names);
}

/* ms_src_find by the whole table. */
static bool ms_src_find_in_table(ms_src *names, uint64_t addr, machsym_symbol *out)
{
    const machsym_symbol *recent = &names->recent;
    bool found = addr - recent->lo < recent->hi - recent->lo ||
                 ms_sym_find(ms_src_table(names), addr, &names->last, &names->recent);
    if (found)
        *out = *recent;
    return found;
}

/* The symbol whose range holds an address. Returns false when there is none. The first few lookups in a dSYM
 * do without the whole table. */
static bool ms_src_find(ms_src *names, uint64_t addr, machsym_symbol *out)
{
    bool is_listed = names->lists && (names->order.v != NULL || names->scans >= MACHSYM_SCANS);
    if (ms_src_is_made(names) || !ms_src_is_dsym(names) || (names->scans >= MACHSYM_SCANS && !is_listed))
        return ms_src_find_in_table(names, addr, out);
    ms_sym_table t = names->table; /* a hostile dSYM may have names that are put together: they are kept */
    const ms_range *code = ms_sym_code_at(&t, addr);
    size_t last = 0;
    names->scans += !is_listed;
    if (code == NULL)
        return false;
    ms_arena_reset(names->scratch);
    if (is_listed)
        return ms_src_try_list(names, addr, code, names->scratch, &t)
                   ? ms_sym_find(&t, addr, &last, out)
                   : ms_src_find_in_table(names, addr, out);
    ms_sym_narrow(&t, code, addr);
    t.sides = &names->sides;
    return ms_src_read(names, &t) && ms_sym_find(&t, addr, &last, out);
}

/* The same by the list, which is given up as in ms_src_try_list. Returns false when there is no list. */
static bool ms_src_try_exact(ms_src *names, uint64_t addr, machsym_str want, machsym_str *out)
{
    const ms_mo *mo = names->table.mo;
    const ms_sym_order *order = ms_src_order(names, mo);
    ms_span strings = ms_sym_whole_strings(mo);
    size_t looked;
    if (order == NULL)
        return false;
    *out = ms_sym_listed_exact(mo, order, strings, addr, want, &looked);
    names->listed += MACHSYM_LISTED_WORTH + looked + (ms_sym_strings(mo).len - strings.len);
    names->lists = names->listed <= order->count;
    return true;
}

/* To list the symbols costs as much as this many searches from the start of LC_SYMTAB. */
enum { ms_SRC_LIST_SCANS = 16 };

/* The symbol of LC_SYMTAB that starts at an address: of several the one that is wanted, else the best. */
static machsym_str ms_src_exact(ms_src *names, uint64_t addr, machsym_str want)
{
    machsym_str name;
    uint32_t scans = names->lists ? (uint32_t)ms_SRC_LIST_SCANS : (uint32_t)MACHSYM_SCANS;
    bool is_made = ms_src_is_made(names);
    bool is_listed = names->lists && (names->order.v != NULL || names->scans >= scans);
    if (!is_made && is_listed && ms_src_try_exact(names, addr, want, &name))
        return name;
    if (!is_made && names->scans++ < scans)
        return ms_sym_scan_exact(names->table.mo, names->table.mo_count, addr, want);
    return ms_sym_exact(ms_src_table(names), addr, want);
}

#endif /* ms_ROOM_macho_sources */
