/* ==== >> symbols/folded ====
 * Job: the functions that share the code of a frame, as people see them.
 * Offers: folded_list; folded_find, folded_put, folded_put_json, folded_free.
 * Never: chooses one of them.
 *
 * A linker that folds identical code keeps one body for several functions. Each has a name of its own, and
 * often a line. Functions whose names look alike on one line are one for people: a constructor has two
 * symbols. */
#ifndef MACHSYM_TOOL_FOLDED_H
#define MACHSYM_TOOL_FOLDED_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "source.h"

/* One of the functions. */
typedef struct folded_one {
    machsym_frame frame; /* of the function itself, with where it stands at the address */
    machsym_str shown;   /* its name */
    bool is_namesake;    /* the answer or one before it has the same name */
} folded_one;

/* Those beside the function that answers, by their shown names. Zero is an empty list. */
typedef struct folded_list {
    folded_one *v;
    size_t count;
    size_t cap;
    size_t name_count; /* without namesakes */
    text names;        /* that the list's shown names lie in */
} folded_list;

/* Fills the list with the functions that share the code at an address with the one of a frame. Lives until
 * the next lookup. */
void folded_find(symbol_source *source, uint64_t addr, const machsym_frame *own, const frame_style *style,
                 folded_list *list);
/* Puts " (or b: one body)"; " (or 5 others)" where there are more than three. */
void folded_put(text *t, const folded_list *list);
/* Puts the member "folded", unless the list is empty. */
void folded_put_json(text *t, const folded_list *list, uint64_t addr, const frame_style *style);
void folded_free(folded_list *list);

#endif
