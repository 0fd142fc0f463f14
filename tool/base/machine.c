/* The machine; see machine.h. */
#include "machine.h"
#include "posix.h"

#ifdef __linux__
#include <sched.h>
#endif
#include <time.h>

/* A container or taskset may leave a process fewer processors than the machine has. */
static long machine_processors(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

size_t machine_threads(unsigned asked, size_t pieces)
{
    long all = asked != 0 ? (long)asked : machine_processors();
    size_t most = pieces < MAX_JOBS ? pieces : MAX_JOBS;
    return all < 1 || most < 1 ? 1 : (size_t)all < most ? (size_t)all : most;
}

double machine_seconds(void)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
