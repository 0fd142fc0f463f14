/* ==== >> tell/machinery ====
 * Job: which functions say nothing about a crash, because they only pass a failure on or run everything.
 * Offers: machinery_make, machinery_free, machinery_has, machinery_has_of_image.
 * Never: reads a list from a file. */
#ifndef REPORT_MACHINERY_H
#define REPORT_MACHINERY_H

#include "../base/text.h"
#include "machsym.h"

/* A list of functions beside the built-in ones. Built in are abort, unwinders, run loops, and the panic
 * functions of Rust, Go, .NET, Kotlin, Swift, IL2CPP and Flutter. */
typedef struct machinery machinery;

/* Reads one pattern on each line: a name in its stable form, or IMAGE`NAME; it may end in *. Lines that begin
 * with # are comments. Takes over the text. */
machinery *machinery_make(text *source);
void machinery_free(machinery *list);
/* name: in its stable form. list may be NULL. */
bool machinery_has(const machinery *list, machsym_str name);
/* Does the same for a function whose image may be listed. */
bool machinery_has_of_image(const machinery *list, machsym_str image, machsym_str name);

#endif
