/* ==== >> tell/stable ====
 * Job: names of functions in a form that is the same in the next build, and whichever tool wrote them.
 * Offers: stable_name, machinery_make, machinery_free, machinery_has.
 * Never: reads a list of machinery from a file. */
#ifndef MACHSYM_TOOL_STABLE_H
#define MACHSYM_TOOL_STABLE_H

#include "../base/text.h"
#include "machsym.h"

/* Adds the name: demangled, without what compilers and tools put around it, without arguments. image is that
 * of the function; Swift names may begin with it. Adds nothing for code that the compiler moved out of
 * functions. */
void stable_name(text *out, machsym_str name, machsym_str image);

/* Functions that only carry a failure on, or that every thread begins with: abort, the unwinder, run
 * loops. */
typedef struct machinery machinery;

/* A list that takes the place of the built-in one: a name a line in its stable form, which may end in *; lines that begin with
 * # count for nothing. Takes the text over. */
machinery *machinery_make(text *source);
void machinery_free(machinery *list);
/* list may be NULL: the built-in one. */
bool machinery_has(const machinery *list, machsym_str stable_name);

#endif
