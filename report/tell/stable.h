/* ==== >> tell/stable ====
 * Job: names of functions in a form that does not change with the build or with the tool that wrote them.
 * Offers: stable_name.
 * Never: decides which of them say nothing: that is tell/machinery.h. */
#ifndef MACHSYM_TOOL_STABLE_H
#define MACHSYM_TOOL_STABLE_H

#include "../base/text.h"
#include "machsym.h"

/* Appends the name: demangled, without arguments, and without what compilers and tools add to it. image: that
 * of the function, because Swift names may begin with it. Appends nothing for code that the compiler moved
 * out of functions. */
void stable_name(text *out, machsym_str name, machsym_str image);

#endif
