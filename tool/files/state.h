/* ==== >> files/state ====
 * Job: keeps groups of reports in a file from run to run.
 * Offers: state_read, state_write, state_look_at.
 * Never: counts a group.
 *
 * The file in which groups of reports are kept from run to run: crash-state in docs/json.md. */
#ifndef MACHSYM_TOOL_STATE_H
#define MACHSYM_TOOL_STATE_H

#include "machsym.h"
#include "../../report/tell/groups.h"

/* Takes what earlier runs counted, before the first groups_add. Returns false after a message. */
bool state_read(group_list *groups, const char *path);

typedef enum place_kind { PLACE_OTHER = 0, PLACE_FREE, PLACE_FILE } place_kind;

/* Where a state is to be written, and what lay there before the run began: another run may work on the same
 * state, and what it counted must not be lost without a word. */
typedef struct state_place {
    const char *path;
    place_kind kind;
    uint64_t sum; /* of a file: of all that it holds */
} state_place;

/* Before state_read. */
state_place state_look_at(const char *path);
/* Writes what all runs counted to the place. Returns false after a message. */
bool state_write(const group_list *groups, const state_place *place);

#endif
