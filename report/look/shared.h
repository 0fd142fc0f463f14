/* ==== >> look/shared ====
 * Job: the functions that share the code of a frame, as people see them.
 * Offers: shared_asked, shared_list; shared_find, shared_put, shared_free.
 * Never: chooses one of them.
 *
 * A linker that folds identical code keeps one body for several functions. Each has a name of its own, and
 * often a line. Functions whose names look alike on one line are one for people: a constructor has two
 * symbols. */
#ifndef REPORT_LOOK_SHARED_H
#define REPORT_LOOK_SHARED_H

#include "../base/text.h"
#include "machsym.h"

/* Whom they are asked of. */
typedef struct shared_asked {
    void *context;
    /* As machsym_session_next_folded. */
    size_t (*next)(void *context, uint64_t addr, machsym_cursor *at, machsym_frame *frames, size_t cap);
    /* Adds the name of a frame as it is shown. */
    void (*put_name)(void *context, const machsym_frame *frame, text *t);
} shared_asked;

/* One of the functions. */
typedef struct shared_one {
    machsym_frame frame; /* of the function itself, with where it stands at the address */
    machsym_str shown;   /* its name */
    bool is_namesake;    /* the answer or one before it has the same name */
} shared_one;

/* Those beside the function that answers, by their shown names. Zero is an empty list. */
typedef struct shared_list {
    shared_one *v;
    size_t count;
    size_t cap;
    size_t name_count; /* without namesakes */
    text names;        /* that the list's shown names lie in; its memory is the list's */
} shared_list;

/* Fills the list with the functions that share the code at an address with the one of a frame. Lives until the next
 * lookup. */
void shared_find(const shared_asked *asked, uint64_t addr, const machsym_frame *own, shared_list *list);
/* Puts " (or b: one body)"; " (or 5 others)" where there are more than three. */
void shared_put(text *t, const shared_list *list);
void shared_free(shared_list *list);

#endif
