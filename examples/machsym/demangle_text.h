#ifndef DEMANGLE_TEXT_H
#define DEMANGLE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Copies in to out and writes every mangled name it meets in source form; flags are machsym_demangle_flags.
 * Lines may have any length; memory stays within 64 KB and the longest result (about 1.3 MB).
 * Returns: 0, or -1 when reading, writing or memory failed.
 * Output is buffered by out alone: set it to line buffering for a person who waits for each line. */
int filter_text(FILE *in, FILE *out, uint32_t flags);

#endif
