/* Loaded before a program: its N-th call for memory fails, or all from the N-th on. See faults.c, which hands over a file
 * of this layout by FAULTS_FILE. With FAULTS_STOP in the environment a debugger stops where that happens. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "faults.h"

/* The C library's own, under names that need no search for them. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static memory_plan *plan; /* NULL: nothing fails */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTS_FILE");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = fd >= 0 ? mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (shared != MAP_FAILED)
        plan = shared;
    prctl(FAULTS_BEGIN, 0, 0, 0, 0);
}

static bool fails(void)
{
    if (plan == NULL)
        return false;
    uint64_t at = atomic_fetch_add(&plan->calls, 1) + 1;
    if (plan->fail_at == 0 || at < plan->fail_at || (at > plan->fail_at && !plan->stays))
        return false;
    if (at == plan->fail_at && getenv("FAULTS_STOP") != NULL)
        raise(SIGTRAP);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *made = fails() ? NULL : __libc_memalign(alignment, size);
    if (made == NULL)
        return ENOMEM;
    *memory = made;
    return 0;
}
