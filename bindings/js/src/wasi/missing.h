/* What wasi-libc lacks of POSIX and the tool uses. Every file of the tool is compiled with it. */
#ifndef WASI_MISSING_H
#define WASI_MISSING_H

/* The types of wasi-libc without its headers, which would come before those of this folder. */
int fchmod(int fd, unsigned mode);
int fchown(int fd, unsigned owner, unsigned group);
char *realpath(const char *path, char *room); /* room is NULL */

#endif
