/* ==== >> tell/stable ====
 * Job: names of functions in a form that is the same in the next build, and whichever tool wrote them.
 * Offers: stable_name.
 * Never: says which of them tell nothing: that is tell/machinery.h. */
#ifndef MACHSYM_TOOL_STABLE_H
#define MACHSYM_TOOL_STABLE_H

#include "../base/text.h"
#include "machsym.h"

/* Adds the name: demangled, without what compilers and tools put around it, without arguments. image is that
 * of the function; Swift names may begin with it. Adds nothing for code that the compiler moved out of
 * functions. */
void stable_name(text *out, machsym_str name, machsym_str image);

#endif
