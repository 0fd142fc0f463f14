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

/* How many unit headers in a row may have a wrong field before the length of the unit in front of them is doubted. Damage
 * hits one; each costs a look at one more header, and only where something is damaged. */
#ifndef MACHSYM_MAX_UNIT_LINKS
#define MACHSYM_MAX_UNIT_LINKS 16
#endif

/* How many load commands in a row must be right where one is looked for behind a damaged one; real files have 40, kernel
 * collections 300. */
#ifndef MACHSYM_MAX_COMMAND_LINKS
#define MACHSYM_MAX_COMMAND_LINKS 64
#endif

/* How many platforms of an image are kept; real images have at most two. */
#ifndef MACHSYM_MAX_PLATFORMS
#define MACHSYM_MAX_PLATFORMS 4
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

/* How many bytes of names and paths a session keeps of object files: MACHSYM_KEPT_TEXT for every byte of the program and
 * of the object files, and MACHSYM_KEPT_TEXT_AHEAD more. Texts of a real file share nothing but their ends, which makes
 * less than one; in a hostile file each entry names another part of one long text. What is over is left out. */
#ifndef MACHSYM_KEPT_TEXT
#define MACHSYM_KEPT_TEXT       32
#define MACHSYM_KEPT_TEXT_AHEAD 1048576
#endif

/* How many rows of a line table a line policy may look back; compilers write some ten that it concerns. A
 * hostile program could put all its rows at one address. */
#ifndef MACHSYM_MAX_ROWS_BACK
#define MACHSYM_MAX_ROWS_BACK 1024
#endif

/* How many line rows an explanation shows: the one that answers, with two before and two behind. */
#define MACHSYM_EXPLAINED_ROWS 5

/* How many lookups of a session read a table in the file from its start before the session sorts it: sorting
 * costs as much as about four readings. */
#ifndef MACHSYM_SCANS
#define MACHSYM_SCANS 4
#endif

/* How many bytes of decoded units a session keeps, unless its descriptor says. A unit of real C++ takes about
 * a megabyte; the debug info that the addresses of a large report ask for fits. */
#ifndef MACHSYM_CACHE_LIMIT
#define MACHSYM_CACHE_LIMIT (32u << 20)
#endif

/* How many decoded units a session always keeps: one lookup may ask three, and dropping them would decode them
 * again at once. */
#ifndef MACHSYM_KEPT_UNITS
#define MACHSYM_KEPT_UNITS 3
#endif

/* Line programs may overlap in a hostile file: so many times the bytes of .debug_line are run as parts of two
 * programs. Real files have none that overlap. */
#ifndef MACHSYM_MAX_PROGRAM_OVERLAP
#define MACHSYM_MAX_PROGRAM_OVERLAP 16
#endif

/* A line program that several units share is run once for all. Where their roots differ so that each would need
 * its own run, a unit's program is run only while it has fewer bytes than so many times the unit: tiny units
 * could else run one large program over and over. */
#ifndef MACHSYM_MAX_LINES_PER_INFO
#define MACHSYM_MAX_LINES_PER_INFO 64
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

/* What the units of a part may cost when a map is built, for each byte of their debug info, beside their
 * own decoding: other units that are decoded because they may have the same code, and questions who has
 * it. Real files cost less than one fifth of a byte. Past it the rest of the part's units is left out. */
#ifndef MACHSYM_PART_WORK
#define MACHSYM_PART_WORK 16
#endif

/* How many bytes of paths, and of names that no string table holds, a part of a map may have: so many, and
 * more for each byte of debug info. Real files need less than one for a byte. Without a limit many file
 * names could be the ends of one long text. Texts past it are empty. */
#ifndef MACHSYM_PART_TEXT
#define MACHSYM_PART_TEXT 1048576
#endif
#ifndef MACHSYM_PART_TEXT_PER_BYTE
#define MACHSYM_PART_TEXT_PER_BYTE 64
#endif

/* MACHSYM_NO_SWIFT, MACHSYM_NO_CXX, MACHSYM_NO_RUST, MACHSYM_NO_D: names of that language come back as they
 * are. Bytes that each saves, gcc 12, x86_64:
 *                        -Os       -O2
 *   MACHSYM_NO_SWIFT  79,000   124,000
 *   MACHSYM_NO_CXX    34,000    61,000
 *   MACHSYM_NO_RUST   10,000    17,000
 *   MACHSYM_NO_D      10,000    15,000 */

/* How much scratch machsym_demangle may take, in bytes of stack. It tries the small frame first, which did for
 * every one of 210,000 names of real programs, of up to 1,000 bytes. Only longer names take the large frame.
 * Calls come on top: 10 KB for real names, at most 100 KB for names made to nest. Programs whose threads have
 * small stacks set MACHSYM_DEMANGLE_STACK to 24576: names that need more then come back as they are. This saves
 * 250 bytes of code. */
#ifndef MACHSYM_DEMANGLE_SMALL_STACK
#define MACHSYM_DEMANGLE_SMALL_STACK 24576
#endif
#ifndef MACHSYM_DEMANGLE_STACK
#define MACHSYM_DEMANGLE_STACK 262144
#endif

/* How many steps a mangled name may take, and how many more for each of its bytes. A step makes, visits or reads
 * again one part of the name. Real names take two steps a byte at most. Without a limit a short name could ask
 * for any number of steps, because parts of names stand for earlier parts. */
#ifndef MACHSYM_DEMANGLE_STEPS
#define MACHSYM_DEMANGLE_STEPS 65536
#endif
#ifndef MACHSYM_DEMANGLE_STEPS_PER_BYTE
#define MACHSYM_DEMANGLE_STEPS_PER_BYTE 64
#endif

/* The same for D, whose steps cost more: a part that does not fit one reading is read again in another. Real
 * names take less than one step a byte. */
#ifndef MACHSYM_DEMANGLE_D_STEPS
#define MACHSYM_DEMANGLE_D_STEPS 4096
#endif
#ifndef MACHSYM_DEMANGLE_D_STEPS_PER_BYTE
#define MACHSYM_DEMANGLE_D_STEPS_PER_BYTE 16
#endif

/* How many bytes the source form of a name may have, and how many more for each byte of the mangled one. The
 * longest of 30,000 real names takes 6,000. */
#ifndef MACHSYM_DEMANGLE_TEXT
#define MACHSYM_DEMANGLE_TEXT 262144
#endif
#ifndef MACHSYM_DEMANGLE_TEXT_PER_BYTE
#define MACHSYM_DEMANGLE_TEXT_PER_BYTE 16
#endif

/* How deep the parts of a Swift, Rust or D name may nest. A level takes 200 to 450 bytes of stack. The Rust
 * compiler's own limit is lower. */
#ifndef MACHSYM_DEMANGLE_DEPTH
#define MACHSYM_DEMANGLE_DEPTH 256
#endif

/* How many of these levels a function's name inside a Swift name counts for. Each such name takes a reader of its
 * own, 500 bytes of stack. */
#ifndef MACHSYM_DEMANGLE_NESTED_DEPTH
#define MACHSYM_DEMANGLE_NESTED_DEPTH 64
#endif

/* How deep a C++ name may nest while it is read, and while it is printed. Printing nests deeper, because a part
 * may stand for an earlier one. Real names nest less than 50 deep in both. These limits keep the stack below
 * 128 KB. */
#ifndef MACHSYM_DEMANGLE_CXX_DEPTH
#define MACHSYM_DEMANGLE_CXX_DEPTH 224
#endif
#ifndef MACHSYM_DEMANGLE_CXX_PRINT_DEPTH
#define MACHSYM_DEMANGLE_CXX_PRINT_DEPTH 448
#endif

/* How often a Swift name may repeat one substitution by a number before it. No compiler writes as many. */
#ifndef MACHSYM_DEMANGLE_REPEAT
#define MACHSYM_DEMANGLE_REPEAT 2048
#endif

/* How many lifetimes one binder of a Rust name may have. No source has as many, and a few bytes could ask for
 * 2^60 of them. */
#ifndef MACHSYM_DEMANGLE_LIFETIMES
#define MACHSYM_DEMANGLE_LIFETIMES 1024
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
