/* Loaded before a program: kills it at its KILL_AT-th step, as a power cut or the kernel's memory killer
 * would. Each call that changes files is two steps, before and after; a write stops half way, too. See
 * surroundings.sh. With SYNC_LOG, what is made safe against power cuts, and what gets its name, is written into that file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The function of that name after this file. */
#define NEXT(name) __typeof__(name) *next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static long steps;

static void step(void)
{
    const char *at = getenv("KILL_AT");
    if (at != NULL && ++steps == atol(at))
        kill(getpid(), SIGKILL);
}

static int after(int status)
{
    step();
    return status;
}

ssize_t write(int fd, const void *ptr, size_t len)
{
    NEXT(write);
    struct stat st;
    size_t half = len / 2;
    if (fd < 3 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return next(fd, ptr, len);
    step();
    ssize_t done = next(fd, ptr, half);
    if (done != (ssize_t)half)
        return done;
    step();
    ssize_t rest = next(fd, (const char *)ptr + half, len - half);
    step();
    return rest < 0 ? done : done + rest;
}

/* What open does, and open64, as it is called where the sizes of files have 64 bits. */
#define OPEN(name)                                                                                           \
    int name(const char *path, int flags, ...)                                                               \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        va_list args;                                                                                        \
        va_start(args, flags);                                                                               \
        int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0;                                           \
        va_end(args);                                                                                        \
        if ((flags & O_CREAT) == 0)                                                                          \
            return next(path, flags);                                                                        \
        step();                                                                                              \
        return after(next(path, flags, mode));                                                               \
    }
OPEN(open)
OPEN(open64)

/* A line of the log: what was done, and to which file as the system names it. */
static void told(const char *what, const char *path)
{
    const char *log = getenv("SYNC_LOG");
    char *whole = log != NULL ? realpath(path, NULL) : NULL;
    FILE *f = whole != NULL ? fopen(log, "a") : NULL;
    if (f != NULL) {
        fprintf(f, "%s %s\n", what, whole);
        fclose(f);
    }
    free(whole);
}

int fsync(int fd)
{
    NEXT(fsync);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    told("fsync", path);
    step();
    return after(next(fd));
}

int rename(const char *from, const char *to)
{
    NEXT(rename);
    told("rename", from);
    step();
    int status = after(next(from, to));
    told("is", to);
    return status;
}

int link(const char *from, const char *to)
{
    NEXT(link);
    step();
    return after(next(from, to));
}

int unlink(const char *path)
{
    NEXT(unlink);
    step();
    return after(next(path));
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    step();
    return after(next(path, mode));
}
