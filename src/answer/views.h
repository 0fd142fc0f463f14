#ifndef ms_ROOM_answer_views
#define ms_ROOM_answer_views
#include "../api/api.h"
#include "../base/memory.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/bodies.h"
#include "session.h"

/* ==== >>views ==============================================================================================
 * Job:    a unit as one of its functions sees it that share their code: with the rows of that function only.
 * Offers: ms_view_of.
 * Never:  changes what a function that has its code for itself is told of. */

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
    unit->twin_rows = ms_body_list_rows(&s->env, ms_cu_root_of(&s->env, unit->index), &unit->functions,
                                        unit->lines, &s->scratch, &s->cache);
    if (unit->twin_rows == NULL)
        return false;
    unit->views = (ms_ses_unit **)ms_arena_zeroed(&s->cache, unit->functions.twin_count, sizeof *unit->views);
    return unit->views != NULL;
}

/* The view of a function of a unit whose lines are there: the unit itself, unless the function shares its
 * code with others and the rows of each are known. NULL when memory is out. */
static ms_ses_unit *ms_view_of(machsym_session *s, ms_ses_unit *unit, uint32_t function)
{
    size_t twin = unit->functions.twin_count == 0 ? 0 : ms_body_twin(&unit->functions, function);
    if (twin == unit->functions.twin_count)
        return unit;
    if (!ms_view_begin(s, unit))
        return NULL;
    if (unit->twin_rows[twin] == ms_BODY_ALL_ROWS)
        return unit;
    if (unit->views[twin] != NULL)
        return unit->views[twin];
    ms_ses_unit *view = (ms_ses_unit *)ms_arena_zeroed(&s->cache, 1, sizeof *view);
    if (view == NULL)
        return NULL;
    view->index = unit->index;
    view->functions = unit->functions;
    view->comp_dir = unit->comp_dir;
    view->lines = ms_view_lines(s, unit->lines, unit->twin_rows[twin]);
    if (view->lines == NULL)
        return NULL;
    unit->views[twin] = view;
    return view;
}

#endif /* ms_ROOM_answer_views */
