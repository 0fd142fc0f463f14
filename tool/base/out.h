/* ==== >> base/out ====
 * Job: standard output, and whether what was written arrived.
 * Offers: out_write, out_text, out_format, out_line, out_flush, out_failed.
 * Never: says anything to standard error.
 *
 * Standard output, and whether what was written arrived. The only place where the tool writes to it. */
#ifndef MACHSYM_TOOL_OUT_H
#define MACHSYM_TOOL_OUT_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "posix.h"

#include <stdarg.h>
#include <stdio.h>

void out_format_to(text *t, const char *format, va_list args); /* as vprintf */

void out_write(const char *ptr, size_t len);
void out_text(text *t); /* writes and empties it */
void out_c(const char *c_string);
void out_format(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(POSIX_PRINTF, 1, 2)))
#endif
    ;
/* One line: what is in its names does not end it. The newline is added. */
void out_line(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(POSIX_PRINTF, 1, 2)))
#endif
    ;
void out_flush(void);
/* Before any output: what is written until a flush reaches the system in one call, up to 64 KB. In a pipe libraries
 * write 4 KB at a time, and each wakes the reader. */
void out_whole(void);
bool out_failed(void); /* what comes would be lost: a command may stop */
int out_failure(void); /* errno of the first write that failed; 0: none did */

#endif
