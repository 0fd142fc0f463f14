/* Makes a build of the header and of the tool's modules count what it does: the Makefile includes this before each of them
 * and links them with programs that include counters.h. Objects of an arena get memory almost one by one, so that
 * memory follows use, and each of them can fail. */
#ifndef COUNT_WORK_H
#define COUNT_WORK_H

#include <stdlib.h>

extern unsigned long long work;    /* bytes and records visited */
extern unsigned long long mallocs; /* calls of malloc */

static inline void *counted_malloc(size_t size)
{
    mallocs++;
    return malloc(size);
}

#define malloc                counted_malloc
#define MACHSYM_COUNT_WORK(n) ((void)(work += (n)))
#undef MACHSYM_ARENA_CHUNK
#define MACHSYM_ARENA_CHUNK 256

#endif
