/* ==== >> cmd/demangle_text ====
 * Job: copies text with the mangled names in it made readable.
 * Offers: filter_text.
 * Never: keeps more than a token. */
#ifndef DEMANGLE_TEXT_H
#define DEMANGLE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Copies what can be read from in to standard output and writes every mangled name it meets in source
 * form; flags are machsym_demangle_flags. Lines may have any length; memory stays within 256 KB and the
 * longest result (about 1.3 MB). When the input pauses, what came so far is flushed: only a token at its
 * end waits for more. Returns: 0, or -1 when reading or writing failed. */
int filter_text(int in, uint32_t flags);

#endif
