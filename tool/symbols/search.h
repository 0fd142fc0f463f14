/* ==== >> symbols/search ====
 * Job: finds the functions of a file whose names have a text in them.
 * Offers: search_names.
 * Never: prints them. */
#ifndef MACHSYM_TOOL_SEARCH_H
#define MACHSYM_TOOL_SEARCH_H

#include "machsym.h"
#include "resolve.h"
#include "source.h"

/* What a search found. */
typedef struct search_result {
    uint64_t *v; /* addresses in the file where such functions begin, in order, each once; from malloc */
    size_t count;
    size_t cap;
} search_result;

/* Looks through all names, as the linker knows them and in source form; letters of ASCII are the same in both
 * cases. Ends early when the budget does. */
void search_names(symbol_source *source, machsym_str wanted, resolve_budget *left, search_result *out);

#endif
