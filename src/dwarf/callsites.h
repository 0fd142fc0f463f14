#ifndef ms_ROOM_dwarf_callsites
#define ms_ROOM_dwarf_callsites
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "forms.h"
#include "units.h"

/* ==== >>callsites ==========================================================================================
 * Job:    lists the calls of a function, as the debug info has them.
 * Offers: ms_call_site, ms_call_begin, ms_call_begin_tails, ms_call_next, ms_call_target, ms_call_has_all.
 * Never:  looks at code; follows the entry that it finds. */

/* What an entry of a call says. DWARF 5 has names of its own for what GNU's extension says otherwise. */
enum {
    ms_CALLSITE_RETURN_PC,
    ms_CALLSITE_LOW_PC,
    ms_CALLSITE_TARGET,
    ms_CALLSITE_ORIGIN,
    ms_CALLSITE_TAIL,
    ms_CALLSITE_GNU_TAIL,
    ms_CALLSITE_COUNT
};

/* A call, as the debug info has it. */
typedef struct ms_call_site {
    uint64_t return_pc; /* of a tail call 0 */
    uint64_t target; /* the entry of the function that is called, which may be a declaration; 0: not told */
} ms_call_site;

/* A walk through the entries of one function. */
typedef struct ms_call_walk {
    const ms_dw *dw;
    const ms_cu_root *root;
    const uint8_t *p; /* NULL: it is at its end */
    const uint8_t *end;
    uint64_t len;     /* bytes that it has walked */
    uint64_t lists;   /* that are open */
    uint64_t passed;  /* how many were open where a function inside began; UINT64_MAX: none did */
    bool wants_tails; /* tail calls instead of those that return */
} ms_call_walk;

/* The linked address of one that an object file states. */
static uint64_t ms_call_linked(const ms_dw *dw, uint64_t pc)
{
    if (dw->moves == NULL)
        return pc;
    size_t at = ms_dw_move_at(dw, pc - 1); /* the call itself */
    bool is_moved = at < dw->move_count && dw->moves[at].lo < pc;
    return is_moved ? dw->moves[at].to + (pc - dw->moves[at].lo) : 0;
}

/* Reads what an entry of a call says; rd is at its values. *is_site: it is one that the walk is for. Returns
 * false when the unit ends before. */
static bool ms_call_read(const ms_call_walk *w, const ms_dw_abbrev *abbrev, ms_rd *rd, ms_call_site *site,
                         bool *is_site)
{
    static const uint16_t list[ms_CALLSITE_COUNT] = {ms_DW_AT_call_return_pc, ms_DW_AT_low_pc,
                                                     ms_DW_AT_call_origin,    ms_DW_AT_abstract_origin,
                                                     ms_DW_AT_call_tail_call, ms_DW_AT_GNU_tail_call};
    ms_dw_value v[ms_CALLSITE_COUNT];
    const ms_dw_enc *enc = &w->root->enc;
    bool is_gnu = abbrev->tag == ms_DW_TAG_GNU_call_site;
    *is_site = false;
    if (!ms_dw_read_listed(w->dw, w->root->abbrevs, abbrev, rd, enc, list, ms_CALLSITE_COUNT, v))
        return false;
    const ms_dw_value *at = is_gnu ? &v[ms_CALLSITE_LOW_PC] : &v[ms_CALLSITE_RETURN_PC];
    const ms_dw_value *to = is_gnu ? &v[ms_CALLSITE_ORIGIN] : &v[ms_CALLSITE_TARGET];
    bool is_tail = v[ms_CALLSITE_TAIL].u != 0 || v[ms_CALLSITE_GNU_TAIL].u != 0; /* nothing returns there */
    site->return_pc = 0;
    if (is_tail != w->wants_tails || (!is_tail && !ms_dw_address(w->dw, enc, at, &site->return_pc)))
        return true;
    site->return_pc = is_tail ? 0 : ms_call_linked(w->dw, site->return_pc);
    if (!ms_dw_reference(enc, to, &site->target))
        site->target = 0;
    *is_site = true;
    return true;
}

/* Begins a walk through the calls of a function: those of what is inlined into it, too. Functions that stand
 * inside it are others. */
static ms_call_walk ms_call_begin(const ms_dw *dw, const ms_cu_root *root, uint64_t function)
{
    ms_span rest = ms_span_sub(dw->info, function, root->enc.unit_end - function);
    ms_call_walk w = {dw, root, rest.ptr, rest.ptr + rest.len, 0, 0, UINT64_MAX, false};
    return w;
}

/* The same through the tail calls, where no more bytes of entries are read than given. */
static ms_call_walk ms_call_begin_tails(const ms_dw *dw, const ms_cu_root *root, uint64_t function,
                                        uint64_t bytes)
{
    ms_call_walk w = ms_call_begin(dw, root, function);
    w.wants_tails = true;
    if (bytes < (uint64_t)(w.end - w.p))
        w.end = w.p + bytes;
    return w;
}

/* Closes a list of entries. */
static void ms_call_end_list(ms_call_walk *w)
{
    w->lists -= w->lists != 0;
    w->passed = w->lists <= w->passed ? UINT64_MAX : w->passed;
}

/* Reads an entry; rd is after its code. Returns true for a call that the walk is for. */
static bool ms_call_take(ms_call_walk *w, const ms_dw_abbrev *abbrev, ms_rd *rd, ms_call_site *site)
{
    bool is_call = abbrev->tag == ms_DW_TAG_call_site || abbrev->tag == ms_DW_TAG_GNU_call_site;
    bool is_inside = abbrev->kind == ms_KIND_FUNCTION && abbrev->has_code && w->lists != 0;
    bool is_site = false;
    if (is_inside && w->passed == UINT64_MAX && abbrev->has_children)
        w->passed = w->lists;
    if (is_call && w->passed == UINT64_MAX)
        w->p = ms_call_read(w, abbrev, rd, site, &is_site) ? rd->p : NULL;
    else
        w->p = ms_dw_skip_die(w->root->abbrevs, abbrev, rd->p, w->end, &w->root->enc);
    w->lists += abbrev->has_children;
    return is_site;
}

/* The next call that the walk is for. Returns false at the end; lists that are open then were not read to
 * their ends. */
static bool ms_call_next(ms_call_walk *w, ms_call_site *site)
{
    bool is_site = false;
    while (!is_site && w->p != NULL && w->p < w->end) { /* every entry takes at least a byte */
        const uint8_t *at = w->p;
        ms_rd rd = ms_rd_make(ms_span_make(at, (size_t)(w->end - at)));
        MACHSYM_COUNT_WORK(1);
        uint64_t code = ms_rd_uleb(&rd);
        const ms_dw_abbrev *abbrev = code != 0 ? ms_dw_abbrev_from_code(w->root->abbrevs, code) : NULL;
        w->p = rd.p;
        if (code == 0)
            ms_call_end_list(w);
        else if (abbrev != NULL)
            is_site = ms_call_take(w, abbrev, &rd, site);
        w->len += w->p != NULL ? (uint64_t)(w->p - at) : 0;
        if (w->lists == 0 || (code != 0 && abbrev == NULL))
            w->p = NULL;
    }
    return is_site;
}

/* Which function is called where a function's return address is: its entry in .debug_info, which may be a
 * declaration; 0 when the debug info does not tell, or tells of two. function: the entry of the caller. */
static uint64_t ms_call_target(const ms_dw *dw, const ms_cu_root *root, uint64_t function, uint64_t return_pc)
{
    ms_call_walk w = ms_call_begin(dw, root, function);
    ms_call_site site;
    uint64_t target = 0;
    while (ms_call_next(&w, &site)) {
        if (site.return_pc != return_pc)
            continue;
        if (target != 0 && target != site.target)
            return 0;
        target = site.target;
    }
    return target;
}

/* Whether a function's entry says that all its tail calls have entries. */
static bool ms_call_has_all(const ms_dw *dw, const ms_cu_root *root, uint64_t function)
{
    enum { ALL = 4 };
    static const uint16_t list[ALL] = {ms_DW_AT_call_all_calls, ms_DW_AT_call_all_tail_calls,
                                       ms_DW_AT_GNU_all_call_sites, ms_DW_AT_GNU_all_tail_call_sites};
    ms_dw_value v[ALL];
    ms_rd rd = ms_rd_make(ms_span_sub(dw->info, function, root->enc.unit_end - function));
    const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(root->abbrevs, ms_rd_uleb(&rd));
    if (abbrev == NULL || !ms_dw_read_listed(dw, root->abbrevs, abbrev, &rd, &root->enc, list, ALL, v))
        return false;
    return (v[0].u | v[1].u | v[2].u | v[3].u) != 0;
}

#endif /* ms_ROOM_dwarf_callsites */
