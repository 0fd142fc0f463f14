/* What MinGW's library lacks of POSIX, under its POSIX names, so that the tool has one text for all
 * systems. */
#ifndef POSIX_H
#define POSIX_H

#include <stdbool.h>

#ifdef _WIN32
#include <dirent.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    O_CLOEXEC = 0,
    O_NONBLOCK = 0,
    O_NOFOLLOW = 0,
    POLLIN = 1,
    DT_UNKNOWN = 0,
    DT_DIR = 4,
    DT_REG = 8,
    DT_LNK = 10,
    _SC_NPROCESSORS_ONLN = 84
};

#define POSIX_PRINTF gnu_printf

struct pollfd {
    int fd;
    short events;
    short revents;
};

int poll(struct pollfd *fds, unsigned long count, int milliseconds); /* count is 1 */
long sysconf(int name);                                              /* the number of processors */
void *memmem(const void *hay, size_t hay_len, const void *needle, size_t needle_len);
int posix_replace(const char *from, const char *to); /* rename, which there refuses to replace */
int link(const char *from, const char *to);
void posix_start(void); /* files are bytes, not lines of text */

#define rename(from, to)        posix_replace(from, to)
#define fsync(fd)               _commit(fd)
#define mkdir(path, mode)       mkdir(path)
#define lstat(path, st)         stat(path, st)
#define realpath(path, room)    _fullpath(room, path, 0)
#define gmtime_r(when, parts)   (gmtime_s(parts, when) == 0 ? (parts) : NULL)
#define posix_type(entry)       DT_UNKNOWN
#define posix_nanoseconds(st)   0
#define posix_is_slash(c)       ((c) == '/' || (c) == '\\' || (c) == ':')
#define posix_hold(fd)          true
#define posix_open_device(path) open(path, O_WRONLY)
#define POSIX_CLOSE_FIRST       true /* an open file cannot get another name */
#else
#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#define POSIX_PRINTF      printf
#define posix_start()     ((void)0)
#define posix_type(entry) ((entry)->d_type)
#define posix_is_slash(c) ((c) == '/')
#define POSIX_CLOSE_FIRST false

/* Tells other runs that a new file is being written. Returns false when one has removed it already. */
bool posix_hold(int fd);
/* Opens a device or pipe to write to. A pipe that nobody reads fails with ENXIO, and does not wait. */
int posix_open_device(const char *path);
#ifdef __APPLE__
#define posix_nanoseconds(st) ((st)->st_mtimespec.tv_nsec)
#else
#define posix_nanoseconds(st) ((st)->st_mtim.tv_nsec)
#endif
#endif

/* Removes a temporary file that no run holds any more, because the one that made it was killed. */
void posix_remove_abandoned(const char *path);

#endif
