/* What wasi-libc lacks of POSIX and the tool uses. Every file of the tool is compiled with it. */
#ifndef WASI_MISSING_H
#define WASI_MISSING_H

char *realpath(const char *path, char *room); /* room is NULL */

#endif
