#ifndef ms_ROOM_api_options
#define ms_ROOM_api_options

/* ==== >>options ============================================================================================
 * Define these before the include that carries MACHSYM_IMPLEMENTATION. Programs set these, or none of them:
 *
 *     MACHSYM_STATIC          all functions are static
 *     MACHSYM_NO_OS           no files, no C library
 *     MACHSYM_NO_SWIFT, MACHSYM_NO_CXX, MACHSYM_NO_RUST, MACHSYM_NO_D, MACHSYM_NO_CACHE, MACHSYM_NO_INFLATE,
 *     MACHSYM_NO_UNWIND       leave code out
 *     MACHSYM_CACHE_LIMIT     memory of a session: decoded units
 *     MACHSYM_MAX_OBJECTS     memory of a session: object files that are open
 *     MACHSYM_KEPT_PAGES      memory of a session: a map that is read by a callback
 *     MACHSYM_SMALL_FILE      which files are read and not mapped
 *     MACHSYM_DEMANGLE_STACK  stack of machsym_demangle
 *     MACHSYM_ARENA_CHUNK     how much is asked of an allocator at once
 *     MACHSYM_ASSERT          how a debug build ends with a library of another version
 *
 * All others bound what hostile input may cost, or were measured once for all. Real files stay far below the
 * bounds. To lower one makes nothing faster. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- What programs set ---- */

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

/* MACHSYM_NO_SWIFT, MACHSYM_NO_CXX, MACHSYM_NO_RUST, MACHSYM_NO_D: names of that language come back as they
 * are. Bytes that each saves, gcc 12, x86_64:
 *                        -Os       -O2
 *   MACHSYM_NO_SWIFT  79,000   140,000
 *   MACHSYM_NO_CXX    35,000    66,000
 *   MACHSYM_NO_RUST   13,000    24,000
 *   MACHSYM_NO_D      10,000    19,000 */

/* MACHSYM_NO_CACHE: dyld shared caches are refused. Saves 19,000 bytes at -Os and 28,000 at -O2, gcc 12,
 * x86_64. */

/* MACHSYM_NO_INFLATE: compressed bytes are not read, neither by machsym_inflate nor in debug info. Saves
 * 4,500 bytes at -Os and 7,000 at -O2, gcc 12, x86_64. */

/* MACHSYM_NO_UNWIND: machsym_unwind_next ends every stack. Saves 21,000 bytes at -Os and 30,200 at -O2,
 * gcc 12, x86_64. */

/* How many bytes of decoded units a session keeps, unless its descriptor says. A unit of a real C++ program
 * takes about a megabyte. The units that a large crash report asks for fit. */
#ifndef MACHSYM_CACHE_LIMIT
#define MACHSYM_CACHE_LIMIT (32u << 20)
#endif

/* How many object files of a debug map a session keeps open. When one more is needed, all are closed. Each
 * costs a mapping and about 200 KB. */
#ifndef MACHSYM_MAX_OBJECTS
#define MACHSYM_MAX_OBJECTS 64
#endif

/* How many pages of 16 KB a session keeps of a map that is read by machsym_open_desc.io. A lookup
 * needs two to six of them. 64 are a megabyte, and as much as the lookups of a crash report need. */
#ifndef MACHSYM_KEPT_PAGES
#define MACHSYM_KEPT_PAGES 64
#endif

/* Files up to this many bytes are read into memory rather than mapped: that is as fast, and stays valid when
 * another program shortens the file. */
#ifndef MACHSYM_SMALL_FILE
#define MACHSYM_SMALL_FILE 65536
#endif

/* How much scratch machsym_demangle may take, in bytes of stack. It tries the small frame first, which did
 * for every one of 210,000 names of real programs, of up to 1,000 bytes. Only longer names take the large
 * frame. Calls come on top: 10 KB for real names, at most 100 KB for names made to nest. Programs whose
 * threads have small stacks set MACHSYM_DEMANGLE_STACK to 24576: names that need more then come back as they
 * are. This saves 250 bytes of code. */
#ifndef MACHSYM_DEMANGLE_SMALL_STACK
#define MACHSYM_DEMANGLE_SMALL_STACK 24576
#endif
#ifndef MACHSYM_DEMANGLE_STACK
#define MACHSYM_DEMANGLE_STACK 262144
#endif

/* How many bytes are asked of an allocator at once, at least. Unused pages of a chunk cost nothing, since the
 * system provides a page when it is first touched. 1 makes every object an allocation of its own, so that
 * memory checkers see what runs past an object's end: fuzzing and the sanitizers' tests use that. */
#ifndef MACHSYM_ARENA_CHUNK
#define MACHSYM_ARENA_CHUNK 262144
#endif

/* MACHSYM_ASSERT(condition): in a debug build (NDEBUG is not defined) it ends a program whose library was
 * built from another machsym.h. Define it before every include to do so in another way. Default: assert;
 * nothing where there is no operating system, or the implementation is in the same file. */
#if !defined(NDEBUG) && !defined(MACHSYM_IMPLEMENTATION) && !defined(MACHSYM_STATIC)
#if !defined(MACHSYM_ASSERT) && !defined(MACHSYM_NO_OS) && __STDC_HOSTED__ == 1
#include <assert.h>
#define MACHSYM_ASSERT(condition) assert(condition)
#endif
#ifdef MACHSYM_ASSERT
#define MACHSYM_CHECKS_ABI
#endif
#endif

/* ---- What was measured: no program has to set it ---- */

/* How many folders above a binary are searched for its dSYM. A binary in a framework of an application,
 * App.app/Frameworks/X.framework/Versions/A/X, needs five. */
#ifndef MACHSYM_MAX_DSYM_LEVELS
#define MACHSYM_MAX_DSYM_LEVELS 6
#endif

/* How many bytes at the beginning of a file, and of each slice, are asked of machsym_open_desc.io at first:
 * load commands of real files have 4,000 to 20,000 bytes, and asking twice takes longer than reading
 * these. */
#ifndef MACHSYM_READ_HEAD
#define MACHSYM_READ_HEAD 32768
#endif

/* A session keeps at least this many decoded units, whatever its limit. One lookup may need three; without
 * them it would decode the same units over and over. */
#ifndef MACHSYM_KEPT_UNITS
#define MACHSYM_KEPT_UNITS 3
#endif

/* How many entries with names a session remembers, 40 bytes each: calls of one function lie close together
 * and ask for the same ones. */
#ifndef MACHSYM_KEPT_NAMES
#define MACHSYM_KEPT_NAMES 1024
#endif

/* For how many calls and functions a session remembers where they have lines; 128 bytes each. */
#ifndef MACHSYM_KEPT_SITES
#define MACHSYM_KEPT_SITES 1024
#endif

/* How many lookups of a session search a table of the file from its start, before the session sorts the
 * table. Sorting costs as much as four such searches or more: symbols as much as 20. */
#ifndef MACHSYM_SCANS
#define MACHSYM_SCANS 4
#endif

/* What a lookup by the listed symbols of a dSYM costs, in symbols of a table of all names: a lookup takes
 * 4,500 instructions, a table 320 for each symbol. Once lookups have cost as much, the table is made. */
#ifndef MACHSYM_LISTED_WORTH
#define MACHSYM_LISTED_WORTH 16
#endif

/* A list of keys is sorted by insertion as long as that takes no more moves than MACHSYM_INSERTION_MOVES, and
 * MACHSYM_INSERTION_MOVES_PER_KEY for each key so far. Past that, radix passes sort by the highest bits, and
 * insertion may take MACHSYM_INSERTION_MOVES_LATER for each key. If it needs more, passes sort by all bits. A
 * move takes about 10 instructions, a pass 20 for each key. Lists of up to 26 keys always fit, and so do long
 * lists with few keys out of place. */
#ifndef MACHSYM_INSERTION_MOVES
#define MACHSYM_INSERTION_MOVES         300
#define MACHSYM_INSERTION_MOVES_PER_KEY 1
#define MACHSYM_INSERTION_MOVES_LATER   4
#endif

/* How many bytes at each end of a text go into its hash. Most texts are shorter and are hashed whole; in a
 * hostile file many long texts share their bytes. */
#ifndef MACHSYM_HASHED_ENDS
#define MACHSYM_HASHED_ENDS 256
#endif

/* How many names are tried for the temporary file that a map is written to. Names that are taken belong to
 * files left over from programs that ended while they wrote. */
#ifndef MACHSYM_MAX_TEMPORARY_NAMES
#define MACHSYM_MAX_TEMPORARY_NAMES 1000
#endif

/* How many line rows an explanation shows: the one that answers, with two before and two after. */
#define MACHSYM_EXPLAINED_ROWS 5

/* ---- What bounds hostile input: no program has to set it ---- */

/* How many abstract_origin and specification links are followed to find a function's name; real files need
 * 3. */
#ifndef MACHSYM_MAX_NAME_LINKS
#define MACHSYM_MAX_NAME_LINKS 16
#endif

/* The longest text that is read from a string table, in bytes. Names of real files stay below 30,000. Longer
 * texts count as missing: in a hostile file every entry could name the same long text. */
#ifndef MACHSYM_MAX_TEXT
#define MACHSYM_MAX_TEXT 65536
#endif

/* How many abbreviation tables (one for each offset and encoding) may share bytes. A table runs to its own
 * end, even where another unit's header states a table that begins inside it: that is what one damaged unit
 * header looks like, and it must cost only its unit. Past this many such begins, a table ends where the next
 * one begins. So to read the tables of a hostile file takes at most this many times the bytes of the section.
 * The section's first table is never cut: there is one of it, and all units of most dSYMs use it. */
#ifndef MACHSYM_MAX_ABBREV_CLAIMS
#define MACHSYM_MAX_ABBREV_CLAIMS 8
#endif

/* How many unit headers in a row may have a wrong field before the length of the unit before them is taken to
 * be wrong. Damage hits one header. Each costs a look at one more header, and only where something is
 * damaged. */
#ifndef MACHSYM_MAX_UNIT_LINKS
#define MACHSYM_MAX_UNIT_LINKS 16
#endif

/* After a damaged load command the next one is searched. A position is accepted if this many valid commands
 * follow it, or if all up to the end are valid. Real files have 40 commands, kernel collections 300. */
#ifndef MACHSYM_MAX_COMMAND_LINKS
#define MACHSYM_MAX_COMMAND_LINKS 64
#endif

/* How many platforms of an image are kept; real images have at most two. */
#ifndef MACHSYM_MAX_PLATFORMS
#define MACHSYM_MAX_PLATFORMS 4
#endif

/* How many inlined calls an answer has; real files reach about 60. Of a longer chain it has the innermost
 * calls, which say where the code is, and the function that contains all of them. So no lookup gives more
 * than MACHSYM_MAX_INLINE_DEPTH + 1 frames (machsym_frame.lacks_callers). Each costs a name, and a hostile
 * file may nest a call in every second byte. */
#ifndef MACHSYM_MAX_INLINE_DEPTH
#define MACHSYM_MAX_INLINE_DEPTH 256
#endif

/* How many range list entries are read for the functions of a unit, and for the calls in a function: this
 * many, and one more for each byte of the entries (DIEs) that were passed. Without a limit every entry of a
 * hostile file could name the same long list. A call's list that is longer is read all the same if it is the
 * call's own; see MACHSYM_LIST_SHARE. */
#ifndef MACHSYM_LIST_AHEAD
#define MACHSYM_LIST_AHEAD 32
#endif

/* A list of ranges belongs to the first call of a unit that names it. A call's own list is read however long
 * it is: to read bytes once does not multiply work, only to read them for several calls does. All units of a
 * hostile file could name the same lists. So what a unit's own lists may have in all is MACHSYM_LIST_AHEAD
 * entries and this many times its share: as many for each byte of the unit as the file's lists have for each
 * byte of .debug_info, and one more. In a file of one unit that is more than there are. Real calls need it
 * when the compiler merges many into one: up to 560 ranges after 81 bytes of entries (seen: cmark 0.30.2,
 * case_fold_switch.inc, clang 22 -O2 for x86_64). */
#ifndef MACHSYM_LIST_SHARE
#define MACHSYM_LIST_SHARE 4
#endif

/* A symbol's name is compared with those of this many symbols before it at the same address, so that a name
 * of two tables is one alias. Real addresses have one or two names; in a hostile file all symbols may lie at
 * one address. Past this many a name may be listed twice. */
#ifndef MACHSYM_ALIASES_COMPARED
#define MACHSYM_ALIASES_COMPARED 16
#endif

/* How many bytes of names and paths of object files a session keeps: MACHSYM_KEPT_TEXT for each byte of the
 * program and of the object files, and MACHSYM_KEPT_TEXT_AHEAD more. Real files need less than one a byte,
 * since their texts share nothing but their ends. In a hostile file each entry could name another part of one
 * long text. Texts past the limit are left out. */
#ifndef MACHSYM_KEPT_TEXT
#define MACHSYM_KEPT_TEXT       32
#define MACHSYM_KEPT_TEXT_AHEAD 1048576
#endif

/* How many slices of a fat file are looked at; real files have ten. Each costs a look at its load
 * commands. */
#ifndef MACHSYM_MAX_SLICES
#define MACHSYM_MAX_SLICES 256
#endif

/* How many segments of a loaded image are searched for a table. Every table searches them again. Real images
 * have ten. */
#ifndef MACHSYM_MAX_LOADED_SEGMENTS
#define MACHSYM_MAX_LOADED_SEGMENTS 64
#endif

/* How many segments of a kernel collection tell how pointers are encoded. Every segment of an image in the
 * collection searches them again. Real collections have ten. */
#ifndef MACHSYM_MAX_COLLECTION_SEGMENTS
#define MACHSYM_MAX_COLLECTION_SEGMENTS 64
#endif

/* How many mappings of a file of a dyld shared cache are read, and how many files one may have. Real files
 * have 8, real caches 70. Each file that is found costs an open file and a mapping. */
#ifndef MACHSYM_MAX_CACHE_FILES
#define MACHSYM_MAX_CACHE_FILES    256
#define MACHSYM_MAX_CACHE_MAPPINGS 64
#endif

/* How many bytes a page of a shared cache's slide info may have. To copy one byte of a page takes a walk
 * along its pointers. Real pages have 4,096 or 16,384 bytes. */
#ifndef MACHSYM_MAX_SLIDE_PAGE
#define MACHSYM_MAX_SLIDE_PAGE 65536
#endif

/* How many bytes of load commands are read of a kernel collection, and of an image in a cache. Opening an
 * image by name reads them. Real collections have 300 images and 50,000 bytes. */
#ifndef MACHSYM_MAX_COLLECTION_COMMANDS
#define MACHSYM_MAX_COLLECTION_COMMANDS 1048576
#endif

/* How many bytes of load commands are read of an image in a kernel collection. Images may lie over each
 * other, so that to open each of them reads the same bytes again. Ten segments with a hundred sections have
 * 8,720 bytes. */
#ifndef MACHSYM_MAX_ENTRY_COMMANDS
#define MACHSYM_MAX_ENTRY_COMMANDS 65536
#endif

/* How many symbols of a shared cache's images are looked at to name the stubs and islands of one image, and
 * how many to name what its Swift code overrides or implements. Load commands count as symbols of that size.
 * Exports may be read up to the bytes that this many symbols have. A system has five million symbols; the
 * images that one image calls have a tenth of them. Without a limit, a list of images that share one table of
 * symbols could be read once for each. Names that are left out count as damage. */
#ifndef MACHSYM_JUMP_SYMBOLS
#define MACHSYM_JUMP_SYMBOLS 4194304
#endif

/* How many bytes and records one reader of metadata (exports trie, binds, Objective-C, Swift, unwind tables)
 * may read: MACHSYM_METADATA_WORK, and MACHSYM_METADATA_WORK_PER_BYTE for each byte of the image. Real files
 * need less than one a byte. Without a limit, records that point to each other could be read without end. */
#ifndef MACHSYM_METADATA_WORK_PER_BYTE
#define MACHSYM_METADATA_WORK_PER_BYTE 4
#define MACHSYM_METADATA_WORK          4096
#endif

/* Where functions of a unit share their code, this many steps are taken for each of its rows to find which
 * rows belong to which function. Real units take fewer than one. In a hostile file all sequences may have all
 * code; past the limit functions have the rows of any of them. */
#ifndef MACHSYM_BODY_WORK
#define MACHSYM_BODY_WORK 16
#endif

/* How many functions that share one address are reported. Real programs have up to some thousand: empty
 * functions, and those that return 0. */
#ifndef MACHSYM_MAX_FOLDED
#define MACHSYM_MAX_FOLDED 65536
#endif

/* If a caller in a stack shares its code with other functions, and nothing decides which one it is, this many
 * of them are asked what they call. They must agree. */
#ifndef MACHSYM_MAX_CALLERS
#define MACHSYM_MAX_CALLERS 16
#endif

/* A frame in code that functions share is the called one's if no tail call may lead there again. How many
 * functions, and bytes of their entries, are looked at to see that. */
#ifndef MACHSYM_MAX_TAIL_CALLEES
#define MACHSYM_MAX_TAIL_CALLEES 64
#endif
#ifndef MACHSYM_MAX_TAIL_BYTES
#define MACHSYM_MAX_TAIL_BYTES 65536
#endif

/* In how many units, besides the one that answers, functions that share its code are searched. Each is
 * decoded. In files without .debug_aranges units may claim each other's code. */
#ifndef MACHSYM_MAX_FOLDED_UNITS
#define MACHSYM_MAX_FOLDED_UNITS 1024
#endif

/* How many names of one address are compared one by one. Where the linker folded functions of equal code, an
 * address has some thousand names: more than this are found by their hash, and at most this many of one hash
 * are compared. */
#ifndef MACHSYM_MAX_CROWD
#define MACHSYM_MAX_CROWD 64
#endif

/* How deep the exports trie may be, in nodes, and how long a name it may spell, in bytes. Real ones stay
 * below 100 and 5,000. Deeper and longer parts are left out. */
#ifndef MACHSYM_MAX_TRIE_DEPTH
#define MACHSYM_MAX_TRIE_DEPTH 4096
#define MACHSYM_MAX_TRIE_NAME  65536
#endif

/* How many contexts (types, extensions, modules) a Swift type may lie in. What is further out is left out of
 * its name. Two views a level lie on the stack. */
#ifndef MACHSYM_MAX_SWIFT_CONTEXTS
#define MACHSYM_MAX_SWIFT_CONTEXTS 16
#endif

/* The longest path of a debug map, in bytes: no system has longer ones. A longer one is a damaged string
 * table, and counts as missing. */
#ifndef MACHSYM_MAX_OBJECT_PATH
#define MACHSYM_MAX_OBJECT_PATH 4096
#endif

/* How long the names of an object file's symbols may be on average, in bytes; real ones have about 100. In a
 * hostile file every symbol could have the same long name. Symbols past the limit are left out. */
#ifndef MACHSYM_OBJECT_NAME
#define MACHSYM_OBJECT_NAME 4096
#endif

/* How many bytes of object files may be read again: MACHSYM_READ_AGAIN, and MACHSYM_READ_AGAIN_PER_BYTE for
 * each byte that is read for the first time. A debug map may name one file many times: by links, in folders
 * that are searched, and in an archive that is read from its front for every member. Real debug maps name
 * every file once. They do search long archives, at 60 bytes for each member that is passed. Past the limit,
 * object files are left out: MACHSYM_OBJECT_OVER_BUDGET. */
#ifndef MACHSYM_READ_AGAIN
#define MACHSYM_READ_AGAIN          1048576
#define MACHSYM_READ_AGAIN_PER_BYTE 32
#endif

/* How many parts a path may have that is searched in other folders by its ends; real paths have 20. Longer
 * ones are not searched there. */
#ifndef MACHSYM_MAX_PATH_ENDS
#define MACHSYM_MAX_PATH_ENDS 64
#endif

/* Into how many pieces a function of an object file may be cut, on average, by functions of other objects.
 * Real ones stay whole. The rest of the pieces is left out. */
#ifndef MACHSYM_MAX_PIECES
#define MACHSYM_MAX_PIECES 16
#endif

/* How many entries of one name a lookup in a table of names (.debug_names, .apple_names) reads. A name of a
 * real program has some hundred entries where it is inlined often. A name that has more is searched among the
 * unit's entries. */
#ifndef MACHSYM_MAX_NAME_ENTRIES
#define MACHSYM_MAX_NAME_ENTRIES 4096
#endif

/* If a unit has more functions of one name than this, they are not searched by their name. */
#ifndef MACHSYM_MAX_NAMESAKES
#define MACHSYM_MAX_NAMESAKES 64
#endif

/* A function with more bytes of entries than this is not read without the other functions of its unit. Few
 * functions of C++ have more. A hostile file may have such a function for each of its symbols. */
#ifndef MACHSYM_MAX_ALONE
#define MACHSYM_MAX_ALONE 65536
#endif

/* How many rows of a line table a line policy may look back. Compilers write about ten rows at one address; a
 * hostile program could put all its rows there. */
#ifndef MACHSYM_MAX_ROWS_BACK
#define MACHSYM_MAX_ROWS_BACK 1024
#endif

/* How many rows and calls of a function or inlined call the line policy people searches for a line near by.
 * With 256 all calls in four Swift frameworks still have a line. A hostile program could put all its rows
 * between. */
#ifndef MACHSYM_MAX_NEAR_STEPS
#define MACHSYM_MAX_NEAR_STEPS 512
#endif

/* How many callers the line policy people asks for a line that an inlined call lacks. */
#ifndef MACHSYM_MAX_NEAR_CALLS
#define MACHSYM_MAX_NEAR_CALLS 32
#endif

/* Line programs of a hostile file may overlap. They are run whole as long as all of them together read no
 * more than this many times .debug_line; past that, a program ends where the next one begins. Programs of
 * real files do not overlap. */
#ifndef MACHSYM_MAX_PROGRAM_OVERLAP
#define MACHSYM_MAX_PROGRAM_OVERLAP 16
#endif

/* Several units may share a line program, which is then run once for all of them. Units whose roots differ
 * need a run of their own. A unit gets one only if the program has less than this many times the bytes of the
 * unit: otherwise many tiny units could each run one large program. */
#ifndef MACHSYM_MAX_LINES_PER_INFO
#define MACHSYM_MAX_LINES_PER_INFO 64
#endif

/* How many slots of a hash table are looked at for a key; real keys need about ten. In a hostile file keys
 * can be made to collide. A key that finds no slot is treated as new each time: that costs memory, but no
 * answer. */
#ifndef MACHSYM_MAX_PROBES
#define MACHSYM_MAX_PROBES 1024
#endif

/* How long an entry of an __eh_frame may be that is read out of a process. 890 of real images have at most 84
 * bytes. */
#ifndef MACHSYM_MAX_FRAME_ENTRY
#define MACHSYM_MAX_FRAME_ENTRY 1024
#endif

/* How many entries of an __eh_frame or a __debug_frame are looked through for a function, how many for all
 * frames of a stack, and how many steps an expression may take. Real expressions take 20. */
#ifndef MACHSYM_MAX_FRAME_SEARCH
#define MACHSYM_MAX_FRAME_SEARCH 16384
#endif
#ifndef MACHSYM_MAX_STACK_SEARCH
#define MACHSYM_MAX_STACK_SEARCH 1048576
#endif
#ifndef MACHSYM_MAX_FRAME_STEPS
#define MACHSYM_MAX_FRAME_STEPS 1024
#endif

/* How many instructions ahead of a pc are followed until one returns or calls. */
#ifndef MACHSYM_MAX_AHEAD
#define MACHSYM_MAX_AHEAD 512
#endif

/* Most frames of a stack that is unwound. The smallest frames fill a stack of 8 MB with 524,288. */
#ifndef MACHSYM_MAX_UNWIND_FRAMES
#define MACHSYM_MAX_UNWIND_FRAMES 4096
#endif

/* How many texts with the same hash a table of texts keeps apart. Equal hashes are rare in real files, since
 * from the second text on all bytes go into the hash. A hostile file can have any number of them. Texts past
 * the limit are left out. */
#ifndef MACHSYM_MAX_EQUAL_HASHES
#define MACHSYM_MAX_EQUAL_HASHES 16
#endif

/* How much work the units of a part may cause when a map is built, in bytes for each byte of their debug
 * info. Their own decoding is not counted. Counted are the other units that are decoded because they may have
 * the same code, and the questions which unit has it. Real files need less than a fifth of a byte. Past the
 * limit the rest of the part's units is left out. */
#ifndef MACHSYM_PART_WORK
#define MACHSYM_PART_WORK 16
#endif

/* Where functions share code: how many frames a part of a map may have of all but the first one of each body,
 * and one more for each byte of debug info. Real files have at most one for 20 bytes. Without a limit many
 * functions could have the rows of one large body each. A map past the limit says that it is incomplete. */
#ifndef MACHSYM_PART_TWINS
#define MACHSYM_PART_TWINS 65536
#endif

/* How many bytes of names and paths a part of a map may have: MACHSYM_PART_TEXT, and
 * MACHSYM_PART_TEXT_PER_BYTE for each byte of debug info. Real files need less than one a byte. Without a
 * limit many names could be ends of one long text. Texts past the limit are empty, and the map says that it
 * is damaged. Symbols may have MACHSYM_PART_TEXT_PER_BYTE for each byte of the string tables, and
 * MACHSYM_METADATA_WORK_PER_BYTE for each byte of the image: a stripped image has names in metadata only. */
#ifndef MACHSYM_PART_TEXT
#define MACHSYM_PART_TEXT 1048576
#endif
#ifndef MACHSYM_PART_TEXT_PER_BYTE
#define MACHSYM_PART_TEXT_PER_BYTE 64
#endif

/* How many bytes the compressed sections of a file (__zdebug_*) may become: MACHSYM_INFLATED, and
 * MACHSYM_INFLATED_PER_BYTE for each byte of the file. Real ones become less than 4 a byte. A stream can make
 * 1,032 of each byte, and all that is promised of work and memory counts decompressed bytes. A section past
 * the limit is damage. */
#ifndef MACHSYM_INFLATED
#define MACHSYM_INFLATED          1048576
#define MACHSYM_INFLATED_PER_BYTE 16
#endif

/* How many steps a mangled name may take, and how many more for each of its bytes. A step makes, visits or
 * reads again one part of the name. Real names take two steps a byte at most. Without a limit a short name
 * could ask for any number of steps, because parts of names stand for earlier parts. */
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

/* Some Swift names hold the names of whole functions. Each of these takes a reader of its own, with 500 bytes
 * of stack, and counts as this many levels of MACHSYM_DEMANGLE_DEPTH. */
#ifndef MACHSYM_DEMANGLE_NESTED_DEPTH
#define MACHSYM_DEMANGLE_NESTED_DEPTH 64
#endif

/* How deep a C++ name may nest while it is read, and while it is printed. Printing nests deeper, because a
 * part may stand for an earlier one. Real names nest less than 50 deep in both. These limits keep the stack
 * below 128 KB. */
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

/* ---- For the tests of machsym ---- */

/* MACHSYM_COUNT_WORK(n): evaluated wherever a loop visits n bytes or records of input, so that tests can
 * compare how work grows with input. Costs nothing where it is not defined. */
#ifndef MACHSYM_COUNT_WORK
#define MACHSYM_COUNT_WORK(n) ((void)0)
#endif

#endif /* ms_ROOM_api_options */
