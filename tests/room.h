/* The API; where TEST_ROOM names a room (a path from this folder), its private functions too and those of the rooms below
 * it. A room is a tenth of the header's work for a compiler, and what it calls of the public functions is
 * linked. */
#ifndef MACHSYM_TEST_ROOM_H
#define MACHSYM_TEST_ROOM_H

#ifdef TEST_ROOM
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include TEST_ROOM
#define MACHSYM_H /* the rooms have declared all of the API */
#else
#include "../machsym.h"
#endif

#endif
