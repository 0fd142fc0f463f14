#ifndef ms_ROOM_api_options
#define ms_ROOM_api_options

/* ==== >>options ============================================================================================
 * Define these before the include that carries MACHSYM_IMPLEMENTATION. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MACHSYM_STATIC: every function becomes static; for use inside one translation unit. */
#ifndef MACHSYM_API
#if defined(MACHSYM_STATIC) && defined(__GNUC__)
#define MACHSYM_API static __attribute__((unused))
#elif defined(MACHSYM_STATIC)
#define MACHSYM_API static
#else
#define MACHSYM_API extern
#endif
#endif

/* MACHSYM_NO_OS: no file is opened and no C library function is called; images come as bytes and every
 * descriptor must carry an allocator. Saves about 3 KB. */

/* How many abstract_origin and specification links a name may be away; real files need 3. */
#ifndef MACHSYM_MAX_NAME_LINKS
#define MACHSYM_MAX_NAME_LINKS 16
#endif

/* The longest text that is read from a string table, in bytes; real names stay below 30,000. Longer ones
 * count as missing: a hostile file would let every entry share one. */
#ifndef MACHSYM_MAX_TEXT
#define MACHSYM_MAX_TEXT 65536
#endif

/* How many tables of abbreviations may share their bytes. A table runs to its own end; but where so many units
 * claim tables inside it (one for each offset and encoding), it ends at the next one. Damage of a unit's header
 * makes one such claim, so this is how many damaged units cost only themselves. A hostile file takes so many
 * times the section to read. */
#ifndef MACHSYM_MAX_ABBREV_CLAIMS
#define MACHSYM_MAX_ABBREV_CLAIMS 8
#endif

/* How many object files of a debug map a session keeps open; past it all are closed. Each costs a mapping and
 * about 200 KB. */
#ifndef MACHSYM_MAX_OBJECTS
#define MACHSYM_MAX_OBJECTS 64
#endif

/* How deep an inline chain may be; real files reach about 60. Deeper calls are dropped, innermost first. */
#ifndef MACHSYM_MAX_INLINE_DEPTH
#define MACHSYM_MAX_INLINE_DEPTH 256
#endif

/* How many entries of range lists are read for the functions of a unit, and for the calls in a function: this many, and
 * one more for every byte of entries passed. A hostile file names one list again and again. The most that a real file
 * was seen to need is 29 entries for the first call in a function, and 16 more than one a byte later on. */
#ifndef MACHSYM_LIST_AHEAD
#define MACHSYM_LIST_AHEAD 64
#endif

/* How many slots of a hash table are looked at for a key; real keys need about ten. Keys of a hostile file may be made
 * to collide: a key that finds no slot is treated as new each time, which costs room but no answer. */
#ifndef MACHSYM_MAX_PROBES
#define MACHSYM_MAX_PROBES 1024
#endif

/* How many texts of one hash a table of texts keeps apart. From the second one on all bytes go into the hash, so two
 * of one hash are rare in real files; a hostile file can make any number of them. Texts past the limit are left out. */
#ifndef MACHSYM_MAX_EQUAL_HASHES
#define MACHSYM_MAX_EQUAL_HASHES 16
#endif

/* MACHSYM_NO_SWIFT, MACHSYM_NO_CXX, MACHSYM_NO_RUST, MACHSYM_NO_D: names of that language come back as they
 * are. Bytes that each saves, gcc 12, x86_64:
 *                        -Os       -O2
 *   MACHSYM_NO_SWIFT  79,000   124,000
 *   MACHSYM_NO_CXX    34,000    61,000
 *   MACHSYM_NO_RUST   10,000    17,000
 *   MACHSYM_NO_D      10,000    15,000 */

/* How much scratch machsym_demangle may take, in bytes of stack. 24,576 did for every one of 210,000 names of
 * real programs, of up to 1,000 bytes; only longer names take the large frame. Calls come on top: 10 KB for
 * real names, at most 100 KB for names made to nest. Programs whose threads have small stacks set 24576:
 * names that need more then come back as they are. Saves 250 bytes of code. */
#ifndef MACHSYM_DEMANGLE_STACK
#define MACHSYM_DEMANGLE_STACK 262144
#endif

/* MACHSYM_ARENA_CHUNK: the least that is asked of an allocator at once, in bytes; what is not used of 1 MB
 * costs nothing, since pages come when touched. 1: every object is asked for by itself, so that a memory
 * checker sees what goes past its end; fuzzing and the sanitizers' tests do that. */
#ifndef MACHSYM_ARENA_CHUNK
#define MACHSYM_ARENA_CHUNK 1048576
#endif

/* MACHSYM_ASSERT(condition): in a debug build (NDEBUG is not defined) it ends a program whose library was built
 * from another machsym.h. Define it before every include to do so in another way. Default: assert; nothing
 * where there is no operating system, or the implementation is in the same file. */
#if !defined(NDEBUG) && !defined(MACHSYM_IMPLEMENTATION) && !defined(MACHSYM_STATIC)
#if !defined(MACHSYM_ASSERT) && !defined(MACHSYM_NO_OS) && __STDC_HOSTED__ == 1
#include <assert.h>
#define MACHSYM_ASSERT(condition) assert(condition)
#endif
#ifdef MACHSYM_ASSERT
#define MACHSYM_CHECKS_ABI
#endif
#endif

/* MACHSYM_COUNT_WORK(n): evaluated wherever a loop visits n bytes or records of input, so that tests can
 * compare how work grows with input. Costs nothing where it is not defined. */
#ifndef MACHSYM_COUNT_WORK
#define MACHSYM_COUNT_WORK(n) ((void)0)
#endif

#endif /* ms_ROOM_api_options */
