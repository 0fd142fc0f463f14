/* The API; where TEST_ROOM names a room, its private functions too and those of the rooms below it.
 * <rooms/src/ROOM> is the copy whose private functions are linked (tests/open_rooms): a compiler only reads
 * it. "../src/ROOM", a path from this folder, compiles into the program: for a program that sets the room's options.
 * What the rooms call of the public functions is linked. */
#ifndef MACHSYM_TEST_ROOM_H
#define MACHSYM_TEST_ROOM_H

#ifdef TEST_ROOM
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define ROOM_FN extern inline __attribute__((gnu_inline))
#include TEST_ROOM
#define MACHSYM_H /* the rooms have declared all of the API */
#else
#include "machsym.h" /* the declarations alone: src/join --api */
#endif

#endif
