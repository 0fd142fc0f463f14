/* Memory for a session of many lookups: taken in large pieces, and kept for its next use when the session gives
 * it back. Where the system has large pages it lies on them. */
#ifndef MACHSYM_TOOL_ROOM_H
#define MACHSYM_TOOL_ROOM_H

#include "text.h"

typedef struct room room;

room *room_open(void);
machsym_allocator room_allocator(room *r); /* for one thread at a time; lives until the room is closed */
void room_close(room *r);                  /* frees all that was taken; NULL is allowed */
/* Asks the system to put memory that nobody touched yet on large pages: a page of 4 KB that is touched for the
 * first time takes as long as a few lookups. */
void room_enlarge_pages(void *memory, size_t size);

/* Asks for a place of memory to be brought near. */
static inline void room_fetch(const void *place)
{
#ifdef __GNUC__
    __builtin_prefetch(place);
#else
    (void)place;
#endif
}

#endif
