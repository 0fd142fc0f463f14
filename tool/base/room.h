/* ==== >> base/room ====
 * Job: memory for work that takes and gives back much.
 * Offers: room_open, room_allocator, room_take, room_give, room_close.
 * Never: knows what the memory is for.
 *
 * Memory for work that takes and gives back much, as a session of many lookups and a map that is built. It
 * comes in large pieces, and what is given back is kept for its next use. */
#ifndef MACHSYM_TOOL_ROOM_H
#define MACHSYM_TOOL_ROOM_H

#include "machsym.h"

typedef struct room room;

room *room_open(void);
machsym_allocator room_allocator(room *r); /* for any number of threads; lives as long as the room */
void room_close(room *r);                  /* frees its large pieces, given back or not; NULL is allowed */
void room_leave(room *r); /* closes it as soon as all that was taken is given back; NULL is allowed */
/* Takes memory, and gives it back; of no room, it is the C library's. The program ends with a message when
 * there is none. */
void *room_take(room *r, size_t size);
void room_give(room *r, void *memory, size_t size);
void *room_double(room *r, void *array, size_t *cap, size_t size); /* as mem_double */
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
