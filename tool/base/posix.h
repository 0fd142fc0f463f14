/* ==== >> base/posix ====
 * Job: what differs between systems, under the names of POSIX.
 * Offers: posix_open_to_read, posix_read, posix_hold_file, posix_take_rights, posix_is_fault,
 * posix_random, posix_own_path, posix_link_to.
 * Never: decides what a failure means.
 *
 * What MinGW's library lacks of POSIX, under its POSIX names, so that the tool has one text for all
 * systems. */
#ifndef POSIX_H
#define POSIX_H

#include <stdbool.h>
#include <stddef.h>

#ifdef _WIN32
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

typedef struct posix_dir posix_dir;

struct posix_entry {
    char d_name[260 * 3 + 1]; /* a name has 260 units of UTF-16 at most */
};

int poll(struct pollfd *fds, unsigned long count, int milliseconds); /* count is 1 */
long sysconf(int name);                                              /* the number of processors */

/* Paths are UTF-8, in any script; Windows has them in UTF-16. */
int posix_open(const char *path, int flags, ...);
int posix_stat(const char *path, struct stat *st);
int posix_access(const char *path, int how);
int posix_mkdir(const char *path);
int posix_unlink(const char *path);
int posix_rmdir(const char *path);
int posix_rename(const char *from, const char *to); /* replaces, as POSIX wants */
int posix_link(const char *from, const char *to);
char *posix_realpath(const char *path);
char *posix_getenv(const char *name); /* stays where it is until the end */
posix_dir *posix_opendir(const char *path);
struct posix_entry *posix_readdir(posix_dir *dir);
void posix_closedir(posix_dir *dir);
/* Files are bytes, not lines of text. The arguments become UTF-8. */
void posix_start(int *argc, char ***argv);

#undef fstat
#undef stat
#define stat                        _stat64
#define fstat                       _fstat64
#define _stat64(path, st)           posix_stat(path, st)
#define lstat(path, st)             posix_stat(path, st)
#define open(...)                   posix_open(__VA_ARGS__)
#define access(path, how)           posix_access(path, how)
#define mkdir(path, mode)           posix_mkdir(path)
#define unlink(path)                posix_unlink(path)
#define rmdir(path)                 posix_rmdir(path)
#define rename(from, to)            posix_rename(from, to)
#define link(from, to)              posix_link(from, to)
#define realpath(path, room)        posix_realpath(path)
#define getenv(name)                posix_getenv(name)
#define DIR                         posix_dir
#define dirent                      posix_entry
#define opendir(path)               posix_opendir(path)
#define readdir(dir)                posix_readdir(dir)
#define closedir(dir)               posix_closedir(dir)
#define fsync(fd)                   _commit(fd)
#define gmtime_r(when, parts)       (gmtime_s(parts, when) == 0 ? (parts) : NULL)
#define posix_type(entry)           DT_UNKNOWN
#define posix_nanoseconds(st)       0
#define posix_is_slash(c)           ((c) == '/' || (c) == '\\' || (c) == ':')
#define posix_hold(fd)              true
#define posix_take_rights(fd, path) ((void)(fd), (void)(path))
#define posix_open_device(path)     posix_open(path, O_WRONLY)
#define posix_begin_sync(fd)        ((void)0)
#define POSIX_CLOSE_FIRST           true /* an open file cannot get another name */
#else
#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#define POSIX_PRINTF            printf
#define posix_start(argc, argv) ((void)0)
#define posix_type(entry)       ((entry)->d_type)
#define posix_is_slash(c)       ((c) == '/')
#define POSIX_CLOSE_FIRST       false

/* Tells other runs that a new file is being written. Returns false when one has removed it already. */
bool posix_hold(int fd);
/* Gives an open file that is empty the mode, owner, group and access list (Linux) of the file that it
 * replaces. What may not be given is no more than all others may. A link is not followed: nothing is taken
 * where there is no file. */
void posix_take_rights(int fd, const char *path);
/* Opens a device or pipe to write to. A pipe without a reader fails with ENXIO, and does not wait. */
int posix_open_device(const char *path);
/* Has the system begin to write a file to the disk, where it can without waiting. */
#ifdef __linux__
#include <fcntl.h>
#define posix_begin_sync(fd) ((void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE))
#else
#define posix_begin_sync(fd) ((void)0)
#endif
#ifdef __APPLE__
#define posix_nanoseconds(st) ((st)->st_mtimespec.tv_nsec)
#else
#define posix_nanoseconds(st) ((st)->st_mtim.tv_nsec)
#endif
#endif

/* Holds a file that runs replace: no other run holds it until the descriptor is closed, which may be after
 * it was replaced. Returns -1 when another run has it or it is not there. */
int posix_hold_file(const char *path);

/* Ends that, and closes the descriptor. */
void posix_let_go(int fd);

/* Whether a temporary file is held by no run any more, because the one that made it was killed. */
bool posix_is_abandoned(const char *path);
/* Removes it if it is. Returns whether it did. */
bool posix_remove_abandoned(const char *path);

/* Opens a file to read, and does not wait for a FIFO's writer. An interrupted call is made again, as by the
 * functions below. Returns -1 with errno. */
int posix_open_to_read(const char *path);
/* Reads len bytes; fewer only at the end. Returns -1 with errno. */
long posix_read(int fd, void *out, size_t len);
/* The next entry of a folder; NULL with errno 0 at its end, and with another errno when it cannot be read
 * on. */
struct dirent *posix_next_entry(DIR *dir);
/* Whether an errno tells of the system (a disk, memory, too many open files), not of a path or its
 * permission: what the path leads to is not known then. */
bool posix_is_fault(int error);

/* Bytes that cannot be guessed. Returns false when the system has none. */
bool posix_random(void *out, size_t len);

/* The path of this program, from malloc; NULL where the system does not tell it. */
char *posix_own_path(void);
/* Makes a symbolic link. Returns false with errno. */
bool posix_link_to(const char *target, const char *path);

#endif
