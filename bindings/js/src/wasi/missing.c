/* See missing.h. */
#include "missing.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The path from the root. Links and ".." stay. */
char *realpath(const char *path, char *room)
{
    char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
    size_t len = here != NULL ? strlen(here) : 0;
    char *whole = here != NULL ? malloc(len + strlen(path) + 2) : NULL;
    (void)room;
    if (whole != NULL) {
        memcpy(whole, here, len);
        if (path[0] != '/')
            whole[len++] = '/';
        strcpy(whole + len, path);
    }
    free(here);
    return whole;
}

/* Files have no owners and no modes here: a file that takes the place of another has the rights that its folder gives. */
int fchmod(int fd, unsigned mode)
{
    (void)fd;
    (void)mode;
    errno = ENOTSUP;
    return -1;
}

int fchown(int fd, unsigned owner, unsigned group)
{
    (void)fd;
    (void)owner;
    (void)group;
    errno = ENOTSUP;
    return -1;
}

/* No locks here: what a killed run left stays. */
int flock(int fd, int how)
{
    (void)fd;
    (void)how;
    errno = ENOTSUP;
    return -1;
}

enum {
    PAGE = 65536,
    LEAST_STEP = 2048, /* pages that memory grows by at least: engines clear up their garbage each time, for 10 ms; */
    STEP_SHARE = 4     /* ... large memory by a quarter. Pages that are not used cost nothing */
};

static bool grow(size_t pages)
{
    return __builtin_wasm_memory_grow(0, pages) != (size_t)-1;
}

/* The C library's allocator asks here for memory, which ends where its last page does; libc's own grows by each request. */
void *sbrk(intptr_t more)
{
    static size_t spare; /* bytes that memory has after those that were asked for */
    size_t have = __builtin_wasm_memory_size(0);
    size_t wanted = more > 0 ? (size_t)more : 0;
    if (wanted > spare) {
        size_t pages = (size_t)(((uint64_t)wanted - spare + PAGE - 1) / PAGE);
        size_t step = have / STEP_SHARE > LEAST_STEP ? have / STEP_SHARE : LEAST_STEP;
        if (step < pages)
            step = pages;
        if (!grow(step) && !grow(step = pages)) {
            errno = ENOMEM;
            return (void *)-1;
        }
        spare += step * PAGE;
        have += step;
    }
    spare -= wanted;
    return (void *)(have * PAGE - spare - wanted);
}

/* Relative paths count from where the program was called. */
__attribute__((constructor)) static void enter_folder(void)
{
    const char *folder = getenv("PWD");
    if (folder != NULL)
        chdir(folder);
}
