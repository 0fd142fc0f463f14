#ifndef ms_ROOM_dwarf_callsites
#define ms_ROOM_dwarf_callsites
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "forms.h"
#include "units.h"

/* ==== >>callsites ==========================================================================================
 * Job:    finds which function the call before a return address calls, as the debug info has it.
 * Offers: ms_call_target.
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

/* A walk through the entries of one function. */
typedef struct ms_call_walk {
    const ms_dw *dw;
    const ms_cu_root *root;
    uint64_t return_pc;
    uint64_t target; /* the entry that was found; 0: none */
    bool differs;    /* two calls with this return address call different functions */
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

/* Takes what an entry of a call says, if it has the return address; rd is at its values. Returns false when
 * the unit ends before. */
static bool ms_call_take(ms_call_walk *w, const ms_dw_abbrev *abbrev, ms_rd *rd)
{
    static const uint16_t list[ms_CALLSITE_COUNT] = {ms_DW_AT_call_return_pc, ms_DW_AT_low_pc,
                                                     ms_DW_AT_call_origin,    ms_DW_AT_abstract_origin,
                                                     ms_DW_AT_call_tail_call, ms_DW_AT_GNU_tail_call};
    ms_dw_value v[ms_CALLSITE_COUNT];
    const ms_dw_enc *enc = &w->root->enc;
    bool is_gnu = abbrev->tag == ms_DW_TAG_GNU_call_site;
    uint64_t pc = 0;
    uint64_t target = 0;
    if (!ms_dw_read_listed(w->dw, w->root->abbrevs, abbrev, rd, enc, list, ms_CALLSITE_COUNT, v))
        return false;
    const ms_dw_value *at = is_gnu ? &v[ms_CALLSITE_LOW_PC] : &v[ms_CALLSITE_RETURN_PC];
    const ms_dw_value *to = is_gnu ? &v[ms_CALLSITE_ORIGIN] : &v[ms_CALLSITE_TARGET];
    if (v[ms_CALLSITE_TAIL].u != 0 || v[ms_CALLSITE_GNU_TAIL].u != 0 || /* nothing returns there */
        !ms_dw_address(w->dw, enc, at, &pc) || ms_call_linked(w->dw, pc) != w->return_pc)
        return true;
    if (!ms_dw_reference(enc, to, &target))
        target = 0;
    w->differs |= w->target != 0 && w->target != target;
    w->target = target;
    return true;
}

/* Which function is called where a function's return address is: its entry in .debug_info, which may be a
 * declaration; 0 when the debug info does not tell. function: the entry of the caller, whose inlined calls
 * count as its own. Functions that stand inside it are others. */
static uint64_t ms_call_target(const ms_dw *dw, const ms_cu_root *root, uint64_t function, uint64_t return_pc)
{
    const ms_dw_abbrevs *table = root->abbrevs;
    ms_span rest = ms_span_sub(dw->info, function, root->enc.unit_end - function);
    const uint8_t *p = rest.ptr;
    const uint8_t *end = rest.ptr + rest.len;
    ms_call_walk w = {dw, root, return_pc, 0, false};
    uint64_t lists = 0;
    uint64_t passed = UINT64_MAX;  /* how many lists are open where a function inside began */
    while (p != NULL && p < end) { /* every entry takes at least a byte */
        ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
        MACHSYM_COUNT_WORK(1);
        uint64_t code = ms_rd_uleb(&rd);
        if (code == 0) {
            p = rd.p;
            lists -= lists != 0;
            passed = lists <= passed ? UINT64_MAX : passed;
        } else {
            const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(table, code);
            if (abbrev == NULL)
                break;
            bool is_call = abbrev->tag == ms_DW_TAG_call_site || abbrev->tag == ms_DW_TAG_GNU_call_site;
            bool is_inside = abbrev->kind == ms_KIND_FUNCTION && abbrev->has_code && lists != 0;
            if (is_inside && passed == UINT64_MAX && abbrev->has_children)
                passed = lists;
            if (is_call && passed == UINT64_MAX)
                p = ms_call_take(&w, abbrev, &rd) ? rd.p : NULL;
            else
                p = ms_dw_skip_die(table, abbrev, rd.p, end, &root->enc);
            lists += abbrev->has_children;
        }
        if (lists == 0)
            break;
    }
    return w.differs ? 0 : w.target;
}

#endif /* ms_ROOM_dwarf_callsites */
