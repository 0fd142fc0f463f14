#ifndef ms_ROOM_answer_views
#define ms_ROOM_answer_views
#include "../api/api.h"
#include "../base/memory.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/bodies.h"
#include "session.h"

/* ==== >>views ==============================================================================================
 * Job:    a unit in which functions share their code as one of them sees it: with its own rows only.
 * Offers: ms_view_of.
 * Never:  changes a unit in which every function has its code for itself. */

/* The lines of a unit with one sequence, or none. NULL when memory is out. */
static const ms_ln_table *ms_view_lines(machsym_session *s, const ms_ln_table *lines, uint32_t sequence)
{
    ms_ln_table *own = (ms_ln_table *)ms_arena_alloc(&s->cache, 1, sizeof *own);
    if (own == NULL)
        return NULL;
    *own = *lines;
    own->seqs = sequence == ms_BODY_NO_ROWS ? NULL : &lines->seqs[sequence];
    own->seq_count = sequence != ms_BODY_NO_ROWS;
    return own;
}

/* Makes room for the views of a unit, and finds the rows of each. Returns false when memory is out. */
static bool ms_view_begin(machsym_session *s, ms_ses_unit *unit)
{
    if (unit->views != NULL)
        return true;
    ms_arena_reset(&s->scratch);
    if (!ms_body_list(&s->env, ms_cu_root_of(&s->env, unit->index), &unit->functions, unit->lines,
                      &s->scratch, &s->cache, &unit->rows_of))
        return false;
    unit->views = (ms_ses_unit **)ms_arena_zeroed(&s->cache, unit->functions.count, sizeof *unit->views);
    return unit->views != NULL;
}

/* The view of a function of a unit whose lines are there: the unit itself, unless functions of the unit share
 * their code and the rows of this one are known. Sequences of such a unit overlap, so the other functions
 * have a view, too. NULL when memory is out. */
static ms_ses_unit *ms_view_of(machsym_session *s, ms_ses_unit *unit, uint32_t function)
{
    if (unit->functions.twin_count == 0)
        return unit;
    if (!ms_view_begin(s, unit))
        return NULL;
    uint32_t sequence = ms_body_rows_of(&unit->rows_of, &unit->functions, function);
    if (sequence == ms_BODY_ALL_ROWS)
        return unit;
    if (unit->views[function] != NULL)
        return unit->views[function];
    ms_ses_unit *view = (ms_ses_unit *)ms_arena_zeroed(&s->cache, 1, sizeof *view);
    if (view == NULL)
        return NULL;
    view->index = unit->index;
    view->functions = unit->functions;
    view->comp_dir = unit->comp_dir;
    view->lines = ms_view_lines(s, unit->lines, sequence);
    if (view->lines == NULL)
        return NULL;
    unit->views[function] = view;
    return view;
}

#endif /* ms_ROOM_answer_views */
