/* ==== >> tell/machinery ====
 * Job: which functions tell nothing of a crash, since they only carry a failure on or run everything.
 * Offers: machinery_make, machinery_free, machinery_has, machinery_has_of_image.
 * Never: reads a list from a file. */
#ifndef REPORT_MACHINERY_H
#define REPORT_MACHINERY_H

#include "../base/text.h"
#include "machsym.h"

/* Functions beside those that are built in: abort, unwinders, run loops, and what panics of Rust, Go, .NET,
 * Kotlin, Swift, IL2CPP and Flutter go through. */
typedef struct machinery machinery;

/* A pattern a line: a name in its stable form, or IMAGE`NAME; it may end in *. Lines that begin with # count
 * for nothing. Takes the text over. */
machinery *machinery_make(text *source);
void machinery_free(machinery *list);
/* name: in its stable form. list may be NULL. */
bool machinery_has(const machinery *list, machsym_str name);
/* The same of a function that may be known by its image. */
bool machinery_has_of_image(const machinery *list, machsym_str image, machsym_str name);

#endif
