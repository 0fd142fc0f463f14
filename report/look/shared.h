/* ==== >> look/shared ====
 * Job: the functions that share the code of a frame, as people see them.
 * Offers: shared_asked, shared_list; shared_find, shared_put, shared_free.
 * Never: chooses one of them.
 *
 * A linker that folds identical code keeps one body for several functions. Each has its own name, and often
 * its own line. Functions on one line whose names look alike count as one: a constructor has two symbols. */
#ifndef REPORT_LOOK_SHARED_H
#define REPORT_LOOK_SHARED_H

#include "../base/text.h"
#include "machsym.h"

/* The callbacks that list them. */
typedef struct shared_asked {
    void *context;
    /* Works as machsym_session_next_folded_at_addr. */
    size_t (*next)(void *context, uint64_t addr, machsym_cursor *at, machsym_frame *frames, size_t cap);
    /* Appends the name of a frame as it is shown. */
    void (*put_name)(void *context, const machsym_frame *frame, text *t);
} shared_asked;

/* One of the functions. */
typedef struct shared_one {
    machsym_frame frame; /* of the function itself, with its place at the address */
    machsym_str shown;   /* its name */
    bool is_namesake;    /* the answer or one before it has the same name */
} shared_one;

/* The other functions beside the answer, by shown name. A zeroed list is empty. */
typedef struct shared_list {
    shared_one *v;
    size_t count;
    size_t cap;
    size_t name_count; /* without namesakes */
    text names;        /* the shown names; its memory belongs to the list */
} shared_list;

/* Fills the list with the functions that share the code of a frame at an address. The list lives until the
 * next lookup. */
void shared_find(const shared_asked *asked, uint64_t addr, const machsym_frame *own, shared_list *list);
/* Appends " (or b: one body)", or " (or 5 others)" if there are more than three. */
void shared_put(text *t, const shared_list *list);
void shared_free(shared_list *list);

#endif
