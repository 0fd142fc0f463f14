/* machsym - function, file, line and inline chain for addresses of iPhone and Mac programs, on any machine.
 *
 * One header, no dependency but the C library. MIT or public domain, at your choice: the texts are at the
 * end.
 */

/* ==== >>manual =============================================================================================
 * What it is: one header that turns an address of an iPhone or Mac program into function, file, line and
 * inline chain, from the dSYM, the binary, or both. It runs wherever there is a C compiler. In one C file of
 * a program:
 *
 *     #define MACHSYM_IMPLEMENTATION
 *     #include "machsym.h"
 *
 * and everywhere else the include alone. Then (examples/minimal.c):
 *
 *     machsym_open_desc file = {.path = "demo.app.dSYM"};
 *     machsym_session_desc how = {0};
 *     machsym_image *image;
 *     machsym_session *session;
 *     machsym_frame f[16];
 *     machsym_image_open(&file, &image, NULL);
 *     how.image = image;
 *     machsym_session_open(&how, &session, NULL);
 *     size_t count = machsym_session_frames(session, machsym_image_addr(image, load_addr, pc), f, 16);
 *
 * Does: fat and thin Mach-O, 64 and 32 bit, every file type, kernel collections among them; DWARF 2 to 5; debug maps to object files; symbol
 * tables, stubs, exports, Objective-C and Swift metadata, function starts where there is no DWARF; names of
 * C++, Swift, Rust and D; whole-image maps that answer in a fraction of a microsecond.
 * Does not: read ELF or PE; inflate __zdebug_* sections (symbols answer there); unwind; talk to a network;
 * know report formats (the tool in examples/machsym does).
 *
 * Address spaces. A *runtime* address is what a crash report shows. The *file* address is what the file calls
 * it: runtime - load address + vmaddr of __TEXT; machsym_image_addr does this. All functions but that one
 * take file addresses. Return addresses point behind the call: subtract 1 before asking.
 *
 * Threads. const means shareable: a function that takes const T * may run on many threads with the same T. A
 * T * without const belongs to one thread at a time. So: one image, one session a thread. There are no locks
 * and no globals.
 *
 * Lifetimes. Input is mapped once and never written. Names and paths in frames are views into it and live
 * until the image is closed; the few that are put together from parts, and those from the object files of a
 * debug map, live until the session is trimmed or closed. A mapped file that another process truncates raises
 * SIGBUS, and one that it writes to changes the answers: where that may happen, open it with MACHSYM_OPEN_COPY, which
 * reads it into memory first, at the cost of that memory and of reading all of it; files that appear under
 * their names by rename, as linkers, dsymutil and machsym_map_save make them, need no copy. Object files of a debug map
 * are opened in the same way.
 *
 * Memory comes from the allocator of each descriptor, in large pieces, and goes back when the object is
 * closed. A lookup in a function that the session has decoded, and every lookup in a map, allocates nothing.
 *
 * Errors. What cannot be opened or built returns a machsym_result and fills a machsym_error. Damage inside a
 * file never fails a lookup: it costs the unit, and is counted. Nothing known of an address is 0 frames, and
 * no error. What is missing from a descriptor, and a NULL where a result should go, is MACHSYM_ERR_ARGUMENT; objects must
 * not be NULL but where they are closed, and may be closed once only. A debug build whose library was made from
 * another machsym.h, with structs of other sizes, ends with a message at the first call that opens something
 * (MACHSYM_ASSERT).
 *
 * Trust. Files may come from strangers: every offset, count and size is checked where it is read, every loop
 * ends with its input or its budget, recursion is bounded. To open a file of N bytes, look 1,000 addresses up, iterate over
 * everything and make a map takes at most 2,048 N + 4,000,000 steps (a step: a record, or 64 bytes of text) and memory of
 * at most 640 N + 16 MB, whatever the file says; real files take about 4 N of each. A program without debug info names the object files
 * that it was linked from, and they are opened for reading: MACHSYM_OPEN_NO_OBJECTS forbids it. N counts each of
 * those once, however often it is named (MACHSYM_OBJECT_OVER_BUDGET); while it is open it takes up to 4 chunks of
 * memory (MACHSYM_ARENA_CHUNK) besides.
 *
 * In a running process, MACHSYM_OPEN_LOADED opens an image as dyld laid it out; examples/backtrace.c does that
 * to its own stack. Lookups in a map, and those in an indexed session that repeat what it has decoded, are
 * async-signal-safe.
 *
 * ---- The map format, version 1 ----
 *
 * A .symmap is used as it lies in the file. All numbers are little-endian. Tables begin at multiples of 8;
 * nothing else is aligned. "uleb" is an unsigned LEB128 number: 7 bits a byte, the lowest first, bit 7 set on
 * all but the last. "zigzag" makes a signed number of one: n / 2 when n is even, else -(n / 2) - 1. Offsets
 * of code count from the text base, which is the vmaddr of __TEXT; an address of the file is text base +
 * offset, and a runtime one load address + offset.
 *
 * Header, 256 bytes:
 *      0  "MACHSYM" and a line feed     32  u32 cputype, as in Mach-O     64  u64 size of the file
 *      8  u32 version: 1                36  u32 cpusubtype                72  u64 checksum
 *     12  u32 flags: 1 columns,         40  u64 text base                 80  ten tables: u64 begin, u64 end,
 *         2 chunk                       48  u64 size of __TEXT                from the start of the file
 *     16  UUID, 16 bytes                56  u32 line policy: 0 atos,     240  u64 vmaddr of __TEXT_EXEC
 *                                           1 dwarf, 2 stmt           248  u64 text base to end of code
 *                                       60  u32 bucket shift
 *
 * Tables, in the order of the header:
 *     0 NAME            the image's name; not ended by a NUL
 *     1 PARTS           {u32 begin, u32 files}: parts of DATA, ascending: where the part begins, where its
 *                       file table stands
 *     2 RUNS            {u32 offset, u32 at}: ascending by offset: a run begins at this offset of code; its
 *                       RUN record stands at this position of DATA
 *     3 BUCKETS         u32: number i is how many of RUNS begin below i << bucket shift
 *     4 SYMBOL RUNS     the same as RUNS for ranges that debug info says nothing of
 *     5 SYMBOL BUCKETS  and their buckets
 *     6 DICT            text that packed blocks may refer to
 *     7 BLOCKS          u32: where packed block i begins in TEXT; one number more than there are blocks
 *     8 DATA            the records below. Its first byte is unused, so that position 0 means none; its last
 *                       64 are zeros, so that a record's numbers can be read without a look at each
 *     9 TEXT            packed blocks of names
 *
 * Records in DATA. Records refer back only, by distances ("back d" is the record's own position - d; d = 0
 * means none), so that parts can be made apart from each other and every walk ends:
 *     TEXT      uleb length, the bytes.
 *     FUNCTION  ref of the linkage name, ref of the name. A ref is a uleb r: 0 no text; r odd: a TEXT record
 *               back r >> 1; r even: the packed text at place (r >> 1) - 1.
 *     FILE      ref of the compilation directory, of the directory, of the file name: never packed.
 *     CHAIN     uleb w, uleb f: the FUNCTION back f (f = 0: no name). Then, when w is
 *               odd:  an inlined call. Its caller is the CHAIN back w >> 2. Its name is from a symbol table
 *                     when w & 2, else from debug info. uleb file, uleb line, and with columns uleb column:
 *                     of the call.
 *               even: a concrete function. w >> 1 is the source of its name (machsym_source). uleb offset
 *                     where it begins, uleb size. The offset wraps around 64 bits when no function is known.
 *               A walk of more than 4,096 records is damage.
 *     RUN       uleb count (16 at most); then ranges that follow each other, the first at the run's offset.
 *               Of each: uleb size; uleb w; if w & 1, uleb d: its CHAIN is back d from the RUN (d = 0: lines,
 *               but no function), else that of the range before; if w & 2, uleb file, else that of the range
 *               before (0 at first); with columns, uleb column. Its line is that of the range before (0 at
 *               first) + zigzag(w >> 2).
 *     FILES     the file table that ends a part: u32 count, then u32 for file 1, 2, ...: position of the FILE
 *               record, counted from the part's begin. A file number counts in the table of the part that the
 *               RUN stands in; 0 is no file.
 *
 * Packed text: names lie, each ended by a NUL, in one long text that is cut into blocks of 1024 bytes (the
 * string tables of the image, with the strings nobody needs left in). The text at place p begins in block p /
 * 1024 at byte p % 1024, and may run on into the next. Block i is TEXT[BLOCKS[i], BLOCKS[i + 1]): no bytes
 * when nothing refers to it, 1024 bytes as they are, else an LZ4 block (github.com/lz4/lz4,
 * doc/lz4_Block_format.md) that unpacks to 1024 bytes, with DICT before it as what matches may reach back
 * into. Where a match reaches past the end of DICT it goes on at the begin of the block.
 *
 * To look up offset o:
 *  1. In RUNS find the last run with offset <= o: in bucket b = o >> bucket shift (the last but one when
 *     there are fewer) only runs BUCKETS[b] - 1 to BUCKETS[b + 1] - 1 come into question; in the last bucket
 *     all that follow.
 *  2. Decode its RUN until the range that holds o. If there is one with a CHAIN, follow that: the first frame
 *     has the range's file and line, each next one is the caller with file and line of the call, the even
 *     CHAIN is the last. All frames have its begin and size.
 *  3. Else do the same in SYMBOL RUNS: one frame. If the range of step 2 was there, with lines but without a
 *     CHAIN, the frame (an empty one when there is none) takes file and line from it.
 * A range of a symbol may run on below ranges from debug info; those answer first.
 *
 * Checksum: of the file with the checksum's 8 bytes zero; the sum of the header, xor the sum of the rest. The
 * sum of n bytes: K = 0x9e3779b97f4a7c15; lanes of 64 bits begin as 1, 2, 3, n. Of each 32 bytes lane i takes
 * number i: lane = (lane xor number) * K; lane = lane xor (lane >> 29). The tail of less than 32 bytes,
 * padded with zeros, goes in the same way but without the last step. sum = 0; for each lane sum = (sum xor
 * lane xor (lane >> 32)) * K; the result is sum xor (sum >> 29). It finds damage; it is no protection against
 * forgery, and readers must check every bound.
 *
 * A lookup in bytes: the demo's map (tests/fixtures/bin/demo.app.dSYM), address 0x100000aec. The header says
 * text base 0x100000000, bucket shift 11, RUNS at 0x108, BUCKETS at 0x140, DATA at 0x500; so o = 0xaec,
 * bucket 1.
 *  - BUCKETS is 0, 0, 7: run number 6 or one before it. RUNS[6] = {0xa94, 0xee}: the last that begins at or
 *    below 0xaec.
 *  - The RUN at DATA + 0xee says 0d: 13 ranges. Line 0, file 0, o = 0xa94 to begin with.
 *      08 93 01 0c 03   size 8, w = 0x93: chain back 0x0c: 0xe2, file 3, line +18 = 18  [0xa94, 0xa9c)
 *      04 8d 01 15      size 4, w = 0x8d: chain back 0x15: 0xd9, line -18 = 0   [0xa9c, 0xaa0)
 *      ... ten more; the line is 21 after them ...
 *      04 77 04 03      size 4, w = 0x77: chain back 0x04: 0xea, file 3, line -15 = 6   [0xaec, 0xaf0)
 *  - CHAIN 0xea: 11 4a 03 0d. w = 0x11 is odd: the caller is back 4, 0xe6; FUNCTION back 0x4a: 0xa0; called
 *    in file 3, line 13. The FUNCTION at 0xa0: fe 09 96 0a, refs 0x4fe and 0x516, both even: places 0x27e and
 *    0x28a, in block 0: "_Z7requireb" and "require". First frame: that, in file 3, line 6.
 *  - PARTS[0] = {0, 0x11b}: the part begins at 0, its file table stands at 0x11b; number 3 is 0xb3. The FILE
 *    there: d1 02 1f 15, three odd refs: TEXT back 0xa8, 0x0f and 0x0a: "/fixtures", "demo", "queue.hpp".
 *  - CHAIN 0xe6: 11 4e 03 13: caller 0xe2, FUNCTION 0x98, "_ZN5QueueIiE2atEi", in file 3, line 13; called in
 *    line 19.
 *  - CHAIN 0xe2: 25 04 02 13: caller 0xd9, FUNCTION 0xde, "_ZN5QueueIiE4dropEi", in file 3, line 19; called
 *    in file 2, line 19.
 *  - CHAIN 0xd9: 02 03 94 15 5c: even: source 1 (debug info), FUNCTION 0xd6: 00 98 09, no linkage name,
 *    "-[Player skip:]", in file 2, line 19; it begins at 0xa94 and is 92 bytes long.
 *
 * Chunks: a chunk is a map with flag 2, which holds the ranges that touch bytes [i * N, (i + 1) * N) of the
 * text, whole, also those that begin before or end behind it; offsets count from the same text base. There
 * are two tables of chunks, "dwarf" and "symbol_table"; a reader asks dwarf first. The key of a chunk is
 * TABLE:IMAGE:UUID:I, the UUID in upper case with dashes, I decimal; in IMAGE the bytes up to space, 0x7f and
 * : { } % " \ are written %XX. A chunk without ranges has no key. Nothing outside a chunk is needed to read it:
 * it has a DICT and packed text of its own.
 *
 * A store is a folder with the map of each UUID at XX/UUID.symmap, XX being the UUID's first two digits.
 *
 * Versions: 1, the first one. A reader refuses any other; unknown flags may be ignored.
 *
 * Contents; search for the tag:
 *   >>options    what may be defined before the include
 *   >>api        everything a user may touch
 *   >>platform   map a file, look into a folder
 *   >>bytes      spans, text views, sort, search, errors
 *   >>reader     integers, LEB128 and strings from a span
 *   >>memory     arenas
 *   >>segments   overlapping ranges to segments
 *   >>macho      fat files and load commands
 *   >>symbols    one table of names outside the debug info
 *   >>unwind     where functions begin, from unwind tables
 *   >>objc       Objective-C metadata
 *   >>swift      Swift type metadata
 *   >>forms      DWARF sections, abbreviations, values
 *   >>units      unit headers; which unit covers an address
 *   >>lines      line programs
 *   >>functions  functions and the calls inlined into them
 *   >>debugmap   programs whose debug info still lies in their object files
 *   >>answer     which source answers
 *   >>map        symbol maps of whole images
 *   >>names      mangled names to source form
 *   >>entrance   the public functions
 */
#ifndef MACHSYM_H
#define MACHSYM_H

#define MACHSYM_VERSION_MAJOR 0
#define MACHSYM_VERSION_MINOR 1
#define MACHSYM_VERSION_PATCH 0
#define MACHSYM_VERSION       "0.1.0"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ==== >>options ============================================================================================
 * Define these before the include that carries MACHSYM_IMPLEMENTATION. */

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

/* How many object files of a debug map a session keeps open; past it all are closed. Each costs a mapping and
 * about 200 KB. */
#ifndef MACHSYM_MAX_OBJECTS
#define MACHSYM_MAX_OBJECTS 64
#endif

/* How deep an inline chain may be; real files reach about 60. Deeper calls are dropped, innermost first. */
#ifndef MACHSYM_MAX_INLINE_DEPTH
#define MACHSYM_MAX_INLINE_DEPTH 256
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

/* ==== >>api ============================================================================================= */
#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plain values ---- */

/* A view of text: not NUL-terminated, any bytes, may be empty. */
typedef struct machsym_str {
    const char *ptr;
    size_t len;
} machsym_str;

/* A view of raw input. */
typedef struct machsym_bytes {
    const void *ptr;
    size_t len;
} machsym_bytes;

/* A file name in the parts that debug info stores; machsym_path_join puts them together. */
typedef struct machsym_path {
    machsym_str comp_dir;
    machsym_str dir;
    machsym_str name;
} machsym_path;

typedef struct machsym_uuid {
    uint8_t v[16];
} machsym_uuid;

/* Where an iteration stands; zero it to begin. */
typedef struct machsym_cursor {
    uint64_t a;
    uint64_t b;
} machsym_cursor;

/* Memory for everything that is opened; alloc NULL means malloc and free. */
typedef struct machsym_allocator {
    void *(*alloc)(void *user, size_t size);
    void (*free)(void *user, void *ptr, size_t size);
    void *user;
} machsym_allocator;

/* ---- Errors ---- */

#define MACHSYM_RESULTS(X)                                                                                   \
    X(OK, "no error")                                                                                        \
    X(ERR_ARGUMENT, "an argument is missing or contradicts another")                                         \
    X(ERR_MEMORY, "the allocator has no memory left")                                                        \
    X(ERR_IO, "the file cannot be read or written")                                                          \
    X(ERR_FORMAT, "not a Mach-O file")                                                                       \
    X(ERR_DAMAGED, "the file is cut short or contradicts itself")                                            \
    X(ERR_ARCH, "the file has no slice for this architecture")                                               \
    X(ERR_UUID, "the file has no slice with this UUID")                                                      \
    X(ERR_AMBIGUOUS, "the file has several slices; name an architecture or a UUID")                          \
    X(ERR_UNSUPPORTED, "this kind of file is not supported")                                                 \
    X(ERR_PAIR, "the two files do not belong together")                                                      \
    X(ERR_VERSION, "the map was written in another format version")                                          \
    X(ERR_CHECKSUM, "the map's checksum does not match its bytes")                                           \
    X(ERR_POLICY, "the map was built for another line policy")                                               \
    X(ERR_LIMIT, "a limit of the format was exceeded")

typedef enum machsym_result {
#define MACHSYM_X(name, text) MACHSYM_##name,
    MACHSYM_RESULTS(MACHSYM_X)
#undef MACHSYM_X
        MACHSYM_RESULT_COUNT
} machsym_result;

/* Why something could not be opened or built; all strings are static. */
typedef struct machsym_error {
    machsym_result code;
    int os_errno;      /* with ERR_IO, else 0 */
    const char *what;  /* one clause: what is wrong */
    const char *where; /* the part of the file: "fat header", "load commands", ... ; or "" */
    uint64_t offset;   /* in the file, of the part that is wrong */
} machsym_error;

/* ---- Names of things ---- */

/* Where a name or a line comes from, best first. */
typedef enum machsym_source {
    MACHSYM_SOURCE_NONE = 0,
    MACHSYM_SOURCE_DWARF,           /* debug info */
    MACHSYM_SOURCE_SYMTAB,          /* LC_SYMTAB */
    MACHSYM_SOURCE_STUB,            /* an import stub, named by what it calls */
    MACHSYM_SOURCE_EXPORTS,         /* the exports trie */
    MACHSYM_SOURCE_OBJC,            /* Objective-C metadata */
    MACHSYM_SOURCE_BLOCK,           /* a guess: a block literal's function, named by the method above it */
    MACHSYM_SOURCE_SWIFT,           /* a guess: Swift type metadata */
    MACHSYM_SOURCE_FUNCTION_STARTS, /* no name: only where the function starts */
    MACHSYM_SOURCE_COUNT
} machsym_source;

/* Which row of the line table answers. */
typedef enum machsym_lines {
    MACHSYM_LINES_ATOS = 0, /* the row as it is; of rows at one address the first: what atos prints */
    MACHSYM_LINES_DWARF, /* the row as it is; of rows at one address the last: what llvm-symbolizer prints */
    MACHSYM_LINES_STMT,  /* the nearest row at or below that begins a statement: fewer lines 0 */
    MACHSYM_LINES_COUNT
} machsym_lines;

/* The version of the implementation, "1.2.3". Compare with MACHSYM_VERSION to find a stale library. */
MACHSYM_API const char *machsym_version(void);
/* MACHSYM_ABI of the library. A program that was compiled with structs of other sizes passes garbage. Debug
 * builds find that out by themselves (see MACHSYM_ASSERT); where the library is shared, a release may compare
 * it with MACHSYM_ABI once. */
MACHSYM_API uint64_t machsym_abi(void);
/* "ERR_ARCH" and so on; "?" for a number that is none. */
MACHSYM_API const char *machsym_result_name(machsym_result result);
/* "dwarf", "symtab", ... as the tool's JSON has them; "?" for a number that is none. */
MACHSYM_API const char *machsym_source_name(machsym_source source);
/* "arm64e" and so on for Mach-O's numbers; "unknown" when there is no name. Ignores the ABI and library
 * bits. */
MACHSYM_API const char *machsym_arch_name(uint32_t cputype, uint32_t cpusubtype);

/* Puts a path together: comp_dir/dir/name, where an absolute later part drops the earlier ones.
 * Returns: the length of the whole without the closing NUL, as snprintf does; writes at most cap bytes with
 * the NUL.
 * Threads: any. Cost: one copy. */
MACHSYM_API size_t machsym_path_join(const machsym_path *path, char *buf, size_t cap);

/* ---- Image: a file opened for lookups. Never changes after open, so any number of threads may share it ---- */

enum machsym_open_flags {
    MACHSYM_OPEN_COPY =
        1u << 0, /* read files into memory (by malloc), as those up to 64 KB are anyway: see the manual */
    MACHSYM_OPEN_NO_PAIR = 1u << 1, /* do not look for NAME.dSYM beside a binary */
    MACHSYM_OPEN_LOADED = 1u << 2,  /* bytes is an image as dyld laid it out in memory: see load_addr */
    MACHSYM_OPEN_NO_SYMTAB =
        1u << 3, /* ignore the names LC_SYMTAB has for the image's own code, as if stripped */
    MACHSYM_OPEN_NO_OBJECTS =
        1u << 4, /* do not follow the debug map: no file that the program names is opened */
    MACHSYM_OPEN_ANY_TIME = 1u << 5 /* take object files whose time is not the one in the debug map */
};

/* Where the object files of a debug map went: paths that begin with from are looked up with to in its
 * place. */
typedef struct machsym_oso_prefix {
    const char *from;
    const char *to;
} machsym_oso_prefix;

/* What to open; zero means the default everywhere. */
typedef struct machsym_open_desc {
    const char *path;         /* a Mach-O file, or a .dSYM bundle */
    machsym_bytes bytes;      /* the file's bytes, in place of path; they must outlive the image */
    const char *pair_path;    /* the other half: the binary to a dSYM, or the dSYM to a binary */
    machsym_bytes pair_bytes; /* the same as bytes */
    const char *arch;         /* "arm64", ...; NULL: the file has one slice, or uuid chooses */
    const machsym_uuid *uuid; /* NULL: any */
    const char *entry;        /* the image of this name in a kernel collection: see machsym_entry; or NULL */
    uint32_t flags;           /* machsym_open_flags */
    uint64_t load_addr;       /* with OPEN_LOADED: where bytes stands in memory, if not at bytes.ptr itself */
    const machsym_oso_prefix *oso_prefixes; /* for a program without debug info, whose object files moved */
    size_t oso_prefix_count;
    const char *const
        *oso_dirs; /* where else to look for object files: by the end of their path, down to the name */
    size_t oso_dir_count;
    machsym_allocator allocator;
} machsym_open_desc;

/* One architecture of a file. */
typedef struct machsym_slice {
    uint32_t cputype;
    uint32_t cpusubtype;
    const char *arch; /* static */
    machsym_uuid uuid;
    bool has_uuid;
    uint32_t filetype; /* MH_EXECUTE 2, MH_DYLIB 6, MH_DSYM 10, ... */
    uint64_t offset;   /* in the file */
    uint64_t size;
} machsym_slice;

typedef struct machsym_image machsym_image;

/* What is known of an open image. */
typedef struct machsym_image_info {
    machsym_slice slice;
    machsym_str name;      /* base name of the file, ".dSYM" removed; empty for bytes */
    const char *path;      /* of the Mach-O file that was opened; NULL for bytes */
    const char *pair_path; /* of the other half; NULL when there is none */
    uint64_t text_addr;    /* vmaddr of __TEXT: what a load address stands for */
    uint64_t text_size;
    uint64_t text_exec_addr; /* vmaddr of __TEXT_EXEC (kernels), else 0 */
    unsigned address_size;   /* 4 or 8 */
    uint32_t platform; /* LC_BUILD_VERSION's number, or the one that LC_VERSION_MIN_* stands for; 0 unknown */
    uint32_t min_os;   /* xxxx.yy.zz as 16.8.8 bits */
    uint32_t sdk;      /* the same */
    uint64_t source_version; /* A.B.C.D.E as 24.10.10.10.10 bits; 0 none */
    bool has_dwarf;
    bool has_compressed_dwarf; /* __zdebug_* sections: recognised, not read */
    bool has_function_starts;
    uint32_t symbol_count; /* entries in LC_SYMTAB, stabs included; of both halves */
    uint32_t
        damage_count; /* parts of the file that had to be left out so far: see machsym_session_get_info */
} machsym_image_info;

/* One section of the image. */
typedef struct machsym_section {
    machsym_str segment;
    machsym_str name;
    uint64_t addr;
    uint64_t size;
    uint64_t offset;     /* in the slice; 64-bit even where the file's own field wrapped */
    machsym_bytes bytes; /* empty for zero-fill, and for sections a dSYM only mentions */
    uint32_t flags;
    bool is_code;
    bool is_pair; /* from the other half */
} machsym_section;

/* Lists the slices of a file without opening one.
 * Returns: how many there are (at most cap are written); 0 and err when there is none to list.
 * Owns / Borrows: keeps nothing. Threads: any. Cost: reads headers only. */
MACHSYM_API size_t machsym_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                                       machsym_error *err);

/* One image of a kernel collection (MH_FILESET): the kernel, an extension. Opened by itself its name is this
 * one, its addresses are the collection's. The collection as a whole answers for nothing. */
typedef struct machsym_entry {
    machsym_str name; /* "com.apple.kernel" and so on: what machsym_open_desc.entry takes */
    uint64_t addr;    /* of its Mach-O header */
    uint64_t offset;  /* of the same in the slice */
} machsym_entry;

/* Opens a slice for lookups: maps the file, reads load commands and unit headers.
 * Returns: OK and *out; else an error, *out NULL, err filled when given.
 * A program without debug info, opened by its path, is answered for by the object files that its debug map
 * (N_OSO) names; sessions and plans open them when they need them. oso_prefixes and oso_dirs turn that on for
 * bytes too. With OPEN_LOADED, bytes is the memory of an image from its header on, as far as it may be read
 * (dyld maps the segments apart: their end is the end of the last one). Segments beyond bytes.len are left
 * out. dyld writes over chained fixups: what they named in other images (a category's class) is "?" there.
 * Owns: *out, until machsym_image_close. Borrows: desc->bytes for as long; nothing else of desc.
 * Threads: any. Cost: proportional to the number of load commands and units, not to the file. */
MACHSYM_API machsym_result machsym_image_open(const machsym_open_desc *desc, machsym_image **out,
                                              machsym_error *err);
/* Closes an image; NULL is allowed. Sessions and every view into the image must be gone before. */
MACHSYM_API void machsym_image_close(machsym_image *image);
MACHSYM_API void machsym_image_get_info(const machsym_image *image, machsym_image_info *out);
/* Iterates over the sections of the image and of its pair, in file order. Returns: false at the end. */
MACHSYM_API bool machsym_image_next_section(const machsym_image *image, machsym_cursor *at,
                                            machsym_section *out);
/* Iterates over the images of a kernel collection. Returns: false at the end, and for other files. */
MACHSYM_API bool machsym_image_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out);

/* The address inside the file that a runtime address stands for: pc - load_addr + __TEXT's vmaddr; on arm64e
 * the pointer authentication bits of pc are dropped, on 32-bit ARM the Thumb bit is.
 * Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_image_addr(const machsym_image *image, uint64_t load_addr, uint64_t pc);

/* One image of a process. */
typedef struct machsym_loaded {
    uint64_t lo;                /* load address */
    uint64_t hi;                /* first address past it */
    const machsym_image *image; /* may be NULL */
    void *user;
} machsym_loaded;

/* Which of a process's loaded images holds a runtime address.
 * Returns: the entry, or NULL. images must be sorted by lo, without overlap. Threads: any. Cost: a binary
 * search. */
MACHSYM_API const machsym_loaded *machsym_loaded_from_pc(const machsym_loaded *images, size_t count,
                                                         uint64_t pc);

/* ---- Session: one thread's lookups in an image, with a cache of what they needed ---- */

typedef struct machsym_session machsym_session;

enum machsym_session_flags {
    MACHSYM_SESSION_BEST_LINE =
        1u << 0, /* a frame with line 0 takes the line of the nearest frame that has one */
    MACHSYM_SESSION_INDEX =
        1u << 1 /* make all tables of units and symbols at once, not as they pay, and decode units
                                     * whole, not without what is inlined into functions that nobody asks for */
};

/* How to look up; zero means the default everywhere but for image. */
typedef struct machsym_session_desc {
    const machsym_image *image;
    machsym_lines lines;
    uint32_t flags; /* machsym_session_flags */
    size_t
        cache_limit; /* bytes of decoded units to keep; past it all are dropped, if more than three. 0: 32 MB */
    machsym_allocator allocator;
} machsym_session_desc;

/* One function at an address, concrete or inlined. */
typedef struct machsym_frame {
    machsym_str
        linkage_name; /* mangled, as the linker knows it, without Mach-O's leading underscore; may be empty */
    machsym_str name; /* as written in the source, without its scope; may be empty */
    machsym_path file;
    uint32_t line;           /* 0: not known, or code that belongs to no line */
    uint32_t column;         /* 0: not known */
    uint64_t function_start; /* of the concrete function, in the file's addresses */
    uint64_t function_size;  /* 0: not known */
    uint32_t file_ref;       /* of a map's frame: stands for its file until machsym_map_names */
    uint32_t name_ref;       /* of a map's frame: stands for its names until machsym_map_names */
    uint64_t
        die_offset; /* of the function's entry in .debug_info, the object file's if one answers; 0: none */
    machsym_source name_source;
    machsym_source line_source;
    bool is_inline;
} machsym_frame;

/* The frames of one address among those of many. */
typedef struct machsym_answer {
    size_t first;
    size_t count;
} machsym_answer;

/* Opens a session on an image.
 * Returns: OK and *out; else an error. Owns: *out. Borrows: the image. Threads: any; the session then belongs
 * to one thread at a time. Cost: constant; the work is done by lookups. */
MACHSYM_API machsym_result machsym_session_open(const machsym_session_desc *desc, machsym_session **out,
                                                machsym_error *err);
MACHSYM_API void machsym_session_close(machsym_session *session);
/* Drops everything cached. Names that were put together from parts (see machsym_session_frames) end here. */
MACHSYM_API void machsym_session_trim(machsym_session *session);
/* Whether memory ran out since the session was opened or trimmed. Then answers may lack frames, names or
 * lines; without it they never do. Threads: the session's. Cost: constant. */
MACHSYM_API bool machsym_session_lacked_memory(const machsym_session *session);

/* Which functions hold an address: the innermost inlined call first, the real function last. addr is an
 * address of the file (machsym_image_addr). Subtract 1 from return addresses before.
 * Returns: the number of frames, even if it is more than cap; 0 when nothing is known of the address.
 * Borrows: names and paths are views into the image; those that are put together from parts (Objective-C
 * methods without symbols) or come from an object file of a debug map live until machsym_session_trim or
 * close.
 * Threads: the session's. Cost: a unit's functions are decoded when it is first needed, what is inlined into a function at
 * its first lookup (in a session with MACHSYM_SESSION_INDEX, with the unit); then some binary searches, no allocation.
 * Signals: in a session with MACHSYM_SESSION_INDEX, a lookup that finds its unit decoded (one of the
 * same address came before; no trim since; the cache under its limit, no more than MACHSYM_MAX_OBJECTS object
 * files asked) allocates nothing, takes no lock, and calls nothing but memcpy, memcmp, memchr and memset:
 * async-signal-safe, as long as the signal did not interrupt a call on this very session. Without debug info
 * there are no units: there every lookup is so. */
MACHSYM_API size_t machsym_session_frames(machsym_session *session, uint64_t addr, machsym_frame *frames,
                                          size_t cap);

/* The same for many addresses, taken in the order that decodes every unit once.
 * answers[i] says which frames belong to addrs[i]; frames are written while they fit into cap.
 * Returns: how many frames there are in all; if more than cap, ask again with more room or fewer
 * addresses. */
MACHSYM_API size_t machsym_session_lookup(machsym_session *session, const uint64_t *addrs, size_t count,
                                          machsym_answer *answers, machsym_frame *frames, size_t cap);

/* A concrete function of the debug info. */
typedef struct machsym_function {
    uint64_t lo; /* of one of its ranges */
    uint64_t hi;
    machsym_str linkage_name;
    machsym_str name;
    uint64_t die_offset;
    uint64_t unit_offset;
    machsym_source name_source;
} machsym_function;

/* A row of a line table. */
typedef struct machsym_line {
    uint64_t addr;
    machsym_path file;
    uint32_t line;
    uint32_t column;
    bool is_stmt;
    bool end_sequence;
} machsym_line;

/* A name outside the debug info. */
typedef struct machsym_symbol {
    uint64_t lo;
    uint64_t hi;      /* where the guess ends: next symbol, function start or section end */
    machsym_str name; /* without Mach-O's leading underscore; empty for a bare function start */
    machsym_source source;
} machsym_symbol;

/* Iterate over all functions, line rows and symbols. Functions and rows come unit by unit; symbols by
 * address.
 * Returns: false at the end. Borrows: as machsym_session_frames. Threads: the session's. Cost: linear over
 * all. */
MACHSYM_API bool machsym_session_next_function(machsym_session *session, machsym_cursor *at,
                                               machsym_function *out);
MACHSYM_API bool machsym_session_next_line(machsym_session *session, machsym_cursor *at, machsym_line *out);
MACHSYM_API bool machsym_session_next_symbol(machsym_session *session, machsym_cursor *at,
                                             machsym_symbol *out);

/* Every name of every source and every bare start, by address, the best of an address first: what next_symbol
 * chooses from. Returns: false at the end. Borrows, Threads, Cost: as above. */
MACHSYM_API bool machsym_session_next_name(machsym_session *session, machsym_cursor *at, machsym_symbol *out);

/* The names that share a start address, best first: the linker folds functions of equal code.
 * Returns: false at the end. Borrows, Threads: as above. Cost: a search. */
MACHSYM_API bool machsym_session_next_alias(machsym_session *session, uint64_t addr, machsym_cursor *at,
                                            machsym_str *out);

typedef enum machsym_objc_kind {
    MACHSYM_OBJC_CLASS = 0,
    MACHSYM_OBJC_CATEGORY,
    MACHSYM_OBJC_METHOD /* of the class or category that came last */
} machsym_objc_kind;

/* A class, a category or a method of the Objective-C metadata. */
typedef struct machsym_objc {
    machsym_objc_kind kind;
    machsym_str class_name; /* "?" when it is in another image and the file does not name it */
    machsym_str category;   /* empty for a class */
    machsym_str super_name; /* of a class; empty for a root class */
    machsym_str selector;   /* of a method */
    uint64_t addr;          /* of the record; of a method: its code */
    bool is_class_method;
    bool is_swift;
} machsym_objc;

/* Iterates over the Objective-C metadata in the file's order: classes, then categories, each with its
 * methods.
 * Returns: false at the end. Borrows, Threads: as above. Cost: reads all of it once. */
MACHSYM_API bool machsym_session_next_objc(machsym_session *session, machsym_cursor *at, machsym_objc *out);

/* A function and the object file that the linker took it from, as a debug map tells (N_OSO, N_FUN). */
typedef struct machsym_object {
    uint64_t lo;
    uint64_t hi;
    machsym_str path;   /* of the object file, or of the archive that holds it */
    machsym_str member; /* in the archive; empty for a file of its own */
} machsym_object;

/* Iterates over the functions of the debug map in the file's order.
 * Returns: false at the end. Borrows, Threads: as above. Cost: linear over LC_SYMTAB. */
MACHSYM_API bool machsym_session_next_object(machsym_session *session, machsym_cursor *at,
                                             machsym_object *out);

/* Whether an object file of the debug map answers. */
typedef enum machsym_object_status {
    MACHSYM_OBJECT_UNTRIED = 0,
    MACHSYM_OBJECT_FOUND,
    MACHSYM_OBJECT_MISSING,     /* there is no such file, or it cannot be read */
    MACHSYM_OBJECT_NO_MEMBER,   /* the archive does not hold it any more */
    MACHSYM_OBJECT_CHANGED,     /* its time is not the one that the linker saw */
    MACHSYM_OBJECT_NO_OBJECT,   /* no Mach-O file of the program's architecture */
    MACHSYM_OBJECT_NO_DWARF,    /* compiled without debug info */
    MACHSYM_OBJECT_OVER_BUDGET, /* left out: the debug map has few files read again and again */
    MACHSYM_OBJECT_STATUS_COUNT
} machsym_object_status;

/* An object file of the debug map that was looked for. */
typedef struct machsym_object_file {
    machsym_str path;    /* as the program names it; of the archive, when it lies in one */
    machsym_str member;  /* in the archive; empty for a file of its own */
    uint64_t time;       /* that the linker saw, in seconds since 1970; 0: not recorded */
    uint64_t found_time; /* of the file or member that was found; 0: none */
    machsym_object_status status;
} machsym_object_file;

/* Iterates over the object files that the session's lookups tried so far, in that order. Keep the cursor to
 * hear of later ones. Where the status is not FOUND, the symbol table answers in the object's place.
 * Returns: false when there is none yet that the cursor has not passed. Borrows: views into the image.
 * Threads: the session's. Cost: constant. */
MACHSYM_API bool machsym_session_next_object_file(const machsym_session *session, machsym_cursor *at,
                                                  machsym_object_file *out);

/* How the unit that covers an address was found. */
typedef enum machsym_unit_source {
    MACHSYM_UNIT_NONE = 0,
    MACHSYM_UNIT_ARANGES,  /* .debug_aranges */
    MACHSYM_UNIT_RANGES,   /* the unit's own DW_AT_low_pc or DW_AT_ranges */
    MACHSYM_UNIT_FUNCTIONS /* the functions of a unit that states no range, or whose range another unit has */
} machsym_unit_source;

/* How an answer came about. */
typedef struct machsym_explanation {
    machsym_unit_source unit_source;
    uint64_t unit_offset; /* of the unit header in .debug_info */
    uint16_t unit_version;
    machsym_str unit_name;
    machsym_str unit_producer;
    machsym_str object_path; /* of a debug map: the object file or archive that answers; else empty */
    machsym_str object_member;
    machsym_line rows[5]; /* the line rows around the address, in table order */
    unsigned row_count;
    unsigned row_used; /* which of rows answered; row_count when none */
    bool has_symbol;
    machsym_symbol symbol; /* the nearest one at or below the address */
    bool symbol_differs;   /* LC_SYMTAB has another name, or another start, for the function that answers */
    uint32_t rival_count;  /* other units that have a function at the address too; the first unit answers */
    bool is_damaged;       /* the unit: a part of its functions or lines is missing */
} machsym_explanation;

/* Tells how machsym_session_frames comes to its answer for an address. Same rules; not meant to be fast. */
MACHSYM_API void machsym_session_explain(machsym_session *session, uint64_t addr, machsym_explanation *out);

/* Counts over what was read so far, or over all units. */
typedef struct machsym_session_info {
    uint32_t unit_count;
    uint32_t units_without_code; /* skeletons, headers only, declarations only */
    uint32_t units_without_ranges;
    uint32_t damaged_units;
    uint32_t damaged_metadata; /* parts of exports trie, binds, unwind info, Objective-C and Swift left out */
    uint32_t arange_set_count;
    uint32_t object_count;         /* object files in the debug map that is followed; 0: none is */
    uint32_t missing_object_count; /* those that cannot answer */
    uint32_t version_count[6];     /* [n]: units of DWARF version n */
    uint64_t function_count;
    uint64_t inline_count;
    uint64_t line_row_count;
    uint64_t die_count;           /* entries visited */
    uint64_t first_damage_offset; /* in .debug_info; of the first damaged unit */
} machsym_session_info;

/* Decodes every unit once and counts. Threads: the session's. Cost: the whole debug info. */
MACHSYM_API void machsym_session_get_info(machsym_session *session, machsym_session_info *out);

/* ---- Map: a whole image resolved once; the file is the structure in memory ---- */

typedef struct machsym_map machsym_map;
typedef struct machsym_plan machsym_plan;
typedef struct machsym_part machsym_part;
typedef struct machsym_writer machsym_writer;

enum machsym_map_flags {
    MACHSYM_MAP_COLUMNS = 1u << 0,   /* the map holds columns */
    MACHSYM_MAP_CHUNK = 1u << 1,     /* the map holds a part of an image only */
    MACHSYM_MAP_UNCHECKED = 1u << 2, /* open: do not compare the checksum; lookups stay safe without it */
    MACHSYM_MAP_COPY = 1u << 3       /* open: read the file into memory, as MACHSYM_OPEN_COPY */
};

/* What to build a map from; zero means the default everywhere but for image. */
typedef struct machsym_plan_desc {
    const machsym_image *image;
    machsym_lines lines;         /* recorded in the map */
    uint32_t flags;              /* MACHSYM_MAP_COLUMNS */
    machsym_allocator allocator; /* called from every thread that builds a part */
} machsym_plan_desc;

/* Divides the work on an image into parts that any threads may build in any order.
 * Returns: OK and *out; else an error. Owns: *out, until machsym_plan_close. Borrows: the image.
 * Threads: the finished plan may be shared. Cost: root entries of all units and all symbols. */
MACHSYM_API machsym_result machsym_plan_open(const machsym_plan_desc *desc, machsym_plan **out,
                                             machsym_error *err);
MACHSYM_API void machsym_plan_close(machsym_plan *plan);
MACHSYM_API size_t machsym_plan_part_count(const machsym_plan *plan);
/* How many bytes of input a part stands for: for showing progress. */
MACHSYM_API uint64_t machsym_plan_part_size(const machsym_plan *plan, size_t index);

/* Iterates over the object files of the debug map that the plan works from, all of them.
 * Returns: false at the end, at once for an image with debug info of its own. Threads: any. Cost:
 * constant. */
MACHSYM_API bool machsym_plan_next_object_file(const machsym_plan *plan, machsym_cursor *at,
                                               machsym_object_file *out);

/* Builds one part. The result depends on the plan and the index only.
 * Owns: *out, until machsym_part_close. Borrows: the plan. Threads: any. Cost: decodes the part's units
 * once. */
MACHSYM_API machsym_result machsym_part_build(const machsym_plan *plan, size_t index, machsym_part **out,
                                              machsym_error *err);
MACHSYM_API void machsym_part_close(machsym_part *part);

/* Puts all parts of a plan, in their order, into a map. The parts are closed one by one on the way, also on
 * failure but for MACHSYM_ERR_ARGUMENT, and parts[i] becomes NULL: no more than one copy of the map is in memory.
 * Owns: *out, until machsym_map_close. Threads: one. Cost: a copy of the map. */
MACHSYM_API machsym_result machsym_map_merge(const machsym_plan *plan, machsym_part **parts, size_t count,
                                             machsym_map **out, machsym_error *err);
/* All of the above with one thread. */
MACHSYM_API machsym_result machsym_map_build(const machsym_plan_desc *desc, machsym_map **out,
                                             machsym_error *err);

/* Opens a map file, or the bytes of one, for lookups in place.
 * Returns: OK and *out; else an error: every table is checked to lie inside the file, and the checksum to
 * match. What the tables point to is checked where it is read, so that no file can lead a lookup astray.
 * Owns: *out. Borrows: bytes. Threads: a map never changes; share it. Cost: reads the file once; with
 * MACHSYM_MAP_UNCHECKED, only its header. */
MACHSYM_API machsym_result machsym_map_open(const char *path, machsym_bytes bytes, uint32_t flags,
                                            const machsym_allocator *allocator, machsym_map **out,
                                            machsym_error *err);
MACHSYM_API void machsym_map_close(machsym_map *map);
/* The map's bytes: what machsym_map_save writes. */
MACHSYM_API machsym_bytes machsym_map_bytes(const machsym_map *map);
/* Writes the map to a file: whole, or not at all. */
MACHSYM_API machsym_result machsym_map_save(const machsym_map *map, const char *path, machsym_error *err);

/* What a map says of itself. */
typedef struct machsym_map_info {
    machsym_str name; /* of the image */
    machsym_uuid uuid;
    uint32_t cputype;
    uint32_t cpusubtype;
    const char *arch; /* static */
    uint64_t text_addr;
    uint64_t text_size;
    uint64_t text_exec_addr; /* vmaddr of __TEXT_EXEC (kernels), else 0 */
    uint64_t code_size;      /* from text_addr to the end of the last code; may be more than __TEXT */
    machsym_lines lines;
    uint32_t flags;
    uint32_t version;
    uint64_t size;
    uint64_t run_count;        /* of ranges from debug info */
    uint64_t symbol_run_count; /* of ranges from symbols */
    uint64_t text_bytes;       /* names before packing */
    uint64_t packed_bytes;     /* and after */
    uint64_t data_bytes;       /* ranges, chains, functions */
} machsym_map_info;

MACHSYM_API void machsym_map_get_info(const machsym_map *map, machsym_map_info *out);

/* The address inside the file that a runtime address stands for, as machsym_image_addr.
 * Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_map_addr(const machsym_map *map, uint64_t load_addr, uint64_t pc);

/* Which functions hold an address of the file, as machsym_session_frames tells it, but for die_offset. Names
 * and files are not looked up yet: name_ref and file_ref stand for them until machsym_map_names.
 * Threads: any. Cost: about 0.2 microseconds; no allocation, no lock, no call to the system: usable in signal
 * handlers. */
MACHSYM_API size_t machsym_map_frames(const machsym_map *map, uint64_t addr, machsym_frame *frames,
                                      size_t cap);
/* Sets linkage_name, name and file of frames. Files are views into the map; names are unpacked into text.
 * Returns: the bytes of text needed; names that do not fit stay empty.
 * Cost: about a microsecond a name; no allocation, lock or call to the system: usable in signal handlers
 * too. */
MACHSYM_API size_t machsym_map_names(const machsym_map *map, machsym_frame *frames, size_t count, char *text,
                                     size_t cap);

/* What one thread has unpacked of a map's names: for many lookups, in place of machsym_map_names. */
typedef struct machsym_names machsym_names;
/* Opens it; allocator may be NULL.
 * Owns: *out, until machsym_names_close. Borrows: the map. Threads: any; *out then belongs to one at a time. */
MACHSYM_API machsym_result machsym_names_open(const machsym_map *map, const machsym_allocator *allocator,
                                              machsym_names **out, machsym_error *err);
MACHSYM_API void machsym_names_close(machsym_names *names);
/* Drops what is unpacked when it takes more than limit bytes: between lookups, so that it cannot grow to all
 * of the map's text. */
MACHSYM_API void machsym_names_trim(machsym_names *names, size_t limit);
/* Sets linkage_name, name and file of frames, as machsym_map_names. They live until machsym_names_trim or close.
 * Returns: false when memory was short; then names may be missing.
 * Cost: text is unpacked once, 1,024 bytes at a time; of what is unpacked a name takes some 50 ns. */
MACHSYM_API bool machsym_names_get(machsym_names *names, machsym_frame *frames, size_t count);

/* Iterates over the ranges of a map by address. Returns: false at the end. Ask for the frames of lo. Signals:
 * as above. */
typedef struct machsym_map_range {
    uint64_t lo;
    uint64_t hi;
    bool is_symbol; /* not from debug info */
} machsym_map_range;
MACHSYM_API bool machsym_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out);

/* Writes a map range by range: for chunks of another map, and for symbol tables of other formats. Ranges must
 * ascend without overlap; those from debug info and those from symbols (is_symbol) each by themselves. */
MACHSYM_API machsym_result machsym_writer_open(const machsym_map_info *info,
                                               const machsym_allocator *allocator, machsym_writer **out,
                                               machsym_error *err);
MACHSYM_API void machsym_writer_close(machsym_writer *writer);
MACHSYM_API machsym_result machsym_writer_add(machsym_writer *writer, const machsym_map_range *range,
                                              const machsym_frame *frames, size_t count, machsym_error *err);
/* Makes the map and closes the writer, also on failure. */
MACHSYM_API machsym_result machsym_writer_finish(machsym_writer *writer, machsym_map **out,
                                                 machsym_error *err);

/* ---- Names ---- */

enum machsym_demangle_flags {
    MACHSYM_DEMANGLE_FULL = 0, /* as `swift demangle` prints; C++, Rust and D have one style only */
    MACHSYM_DEMANGLE_SIMPLIFIED = 1u << 0, /* Swift as Apple's reports print it, async prefixes kept */
    MACHSYM_DEMANGLE_RUST_HASH = 1u << 1   /* keep Rust's hashes */
};

/* Writes the source form of a mangled C++, Swift, Rust or D name; any other name is copied unchanged.
 * Returns: the length of the result without the closing NUL, as snprintf does; at most cap - 1 bytes are
 * written
 *          and a NUL behind them (nothing when cap is 0).
 * A leading byte 1 and Mach-O's extra underscore may be there or not.
 * Owns / Borrows: keeps nothing. Threads: any. Cost: linear in input plus output; no allocation. */
MACHSYM_API size_t machsym_demangle(machsym_str mangled, uint32_t flags, char *buf, size_t cap);

/* ---- Version skew ---- */

/* The public structs, each with a weight of its own. */
#define MACHSYM_STRUCTS(X)                                                                                   \
    X(machsym_str, 1)                                                                                        \
    X(machsym_bytes, 3)                                                                                      \
    X(machsym_path, 7)                                                                                       \
    X(machsym_cursor, 31)                                                                                    \
    X(machsym_allocator, 127)                                                                                \
    X(machsym_error, 509)                                                                                    \
    X(machsym_open_desc, 2039)                                                                               \
    X(machsym_slice, 8191)                                                                                   \
    X(machsym_image_info, 32749)                                                                             \
    X(machsym_section, 131071)                                                                               \
    X(machsym_loaded, 524287)                                                                                \
    X(machsym_session_desc, 2097143)                                                                         \
    X(machsym_frame, 8388593)                                                                                \
    X(machsym_answer, 33554393)                                                                              \
    X(machsym_function, 134217689)                                                                           \
    X(machsym_line, 536870909)                                                                               \
    X(machsym_symbol, 2147483647)                                                                            \
    X(machsym_objc, 8589934583)                                                                              \
    X(machsym_object, 34359738337)                                                                           \
    X(machsym_object_file, 137438953447)                                                                     \
    X(machsym_explanation, 549755813881)                                                                     \
    X(machsym_session_info, 2199023255531)                                                                   \
    X(machsym_plan_desc, 8796093022151)                                                                      \
    X(machsym_map_info, 35184372088777)                                                                      \
    X(machsym_map_range, 140737488355213)                                                                    \
    X(machsym_oso_prefix, 562949953421231)                                                                   \
    X(machsym_entry, 2251799813685119)                                                                       \
    X(machsym_uuid, 9007199254740881)
#define MACHSYM_WEIGH(type, weight) +(uint64_t)sizeof(type) * (uint64_t)weight
#define MACHSYM_ABI                 ((uint64_t)0 MACHSYM_STRUCTS(MACHSYM_WEIGH)) /* see machsym_abi */

/* What opens anything compares sizes first: see MACHSYM_ASSERT. */
#ifdef MACHSYM_CHECKS_ABI
static inline void machsym_require_abi(void)
{
    bool same = machsym_abi() == MACHSYM_ABI;
    (void)same;
    MACHSYM_ASSERT(same && "the machsym library was built from another machsym.h than this program");
}

#define MACHSYM_CHECKED(result, name, parameters, arguments)                                                 \
    static inline result name##_checked parameters                                                           \
    {                                                                                                        \
        machsym_require_abi();                                                                               \
        return name arguments;                                                                               \
    }
MACHSYM_CHECKED(size_t, machsym_list_slices,
                (const machsym_open_desc *desc, machsym_slice *slices, size_t cap, machsym_error *err),
                (desc, slices, cap, err))
MACHSYM_CHECKED(machsym_result, machsym_image_open,
                (const machsym_open_desc *desc, machsym_image **out, machsym_error *err), (desc, out, err))
MACHSYM_CHECKED(machsym_result, machsym_session_open,
                (const machsym_session_desc *desc, machsym_session **out, machsym_error *err),
                (desc, out, err))
MACHSYM_CHECKED(machsym_result, machsym_plan_open,
                (const machsym_plan_desc *desc, machsym_plan **out, machsym_error *err), (desc, out, err))
MACHSYM_CHECKED(machsym_result, machsym_map_build,
                (const machsym_plan_desc *desc, machsym_map **out, machsym_error *err), (desc, out, err))
MACHSYM_CHECKED(machsym_result, machsym_map_open,
                (const char *path, machsym_bytes bytes, uint32_t flags, const machsym_allocator *allocator,
                 machsym_map **out, machsym_error *err),
                (path, bytes, flags, allocator, out, err))
MACHSYM_CHECKED(machsym_result, machsym_names_open,
                (const machsym_map *map, const machsym_allocator *allocator, machsym_names **out,
                 machsym_error *err),
                (map, allocator, out, err))
MACHSYM_CHECKED(machsym_result, machsym_writer_open,
                (const machsym_map_info *info, const machsym_allocator *allocator, machsym_writer **out,
                 machsym_error *err),
                (info, allocator, out, err))
#undef MACHSYM_CHECKED
#define machsym_list_slices  machsym_list_slices_checked
#define machsym_image_open   machsym_image_open_checked
#define machsym_session_open machsym_session_open_checked
#define machsym_plan_open    machsym_plan_open_checked
#define machsym_map_build    machsym_map_build_checked
#define machsym_map_open     machsym_map_open_checked
#define machsym_names_open   machsym_names_open_checked
#define machsym_writer_open  machsym_writer_open_checked
#endif

#ifdef __cplusplus
}
#endif
#endif /* MACHSYM_H */

/* ======================================================================================================== */
#if defined(MACHSYM_IMPLEMENTATION) && !defined(MACHSYM_IMPLEMENTED)
#define MACHSYM_IMPLEMENTED
#ifdef MACHSYM_CHECKS_ABI /* by an include before this one */
#undef machsym_list_slices
#undef machsym_image_open
#undef machsym_session_open
#undef machsym_plan_open
#undef machsym_map_build
#undef machsym_map_open
#undef machsym_names_open
#undef machsym_writer_open
#endif

/* ==== >>platform ===========================================================================================
 * Job:    the only calls to the operating system: map or read a file, look into a folder.
 * Uses:   nothing.
 * Offers: ms_os_open, ms_os_peek, ms_os_settle, ms_os_map, ms_os_unmap, ms_os_is_folder, ms_os_is_file, ms_os_first_file.
 * Never:  looks at contents. */

struct ms_os_file; /* floors below name it even where there are none */

#ifndef MACHSYM_NO_OS
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole file in memory, read-only. */
typedef struct ms_os_file {
    void *ptr;
    size_t len;
    uint64_t time; /* of its last change, in seconds since 1970 */
    bool mapped;   /* else allocated with malloc */
    bool is_open;  /* fd is open, until ms_os_settle */
    int fd;
} ms_os_file;

#ifdef _MSC_VER
#error "define MACHSYM_NO_OS with this compiler: its library lacks dirent.h and unistd.h"
#endif
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _WIN32 /* with MinGW's library: files are read, not mapped */
#include <io.h>
#ifdef __cplusplus
extern "C"
#endif
    __declspec(dllimport) int __stdcall MoveFileExA(const char *from, const char *to, unsigned long flags);
#define ms_OS_OPEN                      O_BINARY
#define ms_OS_NEW                       O_BINARY
#define ms_os_count(len)                ((unsigned)(len))
#define ms_os_read_at(fd, out, len, at) ((void)(out), -1)
#define ms_os_sync(fd)                  _commit(fd)
#define ms_os_rename(from, to)          (MoveFileExA(from, to, 1) != 0 ? 0 : -1) /* MOVEFILE_REPLACE_EXISTING */
#define ms_os_fstat(fd, st)             _fstat64(fd, st)
#define ms_os_stat(path, st)            _stat64(path, st)
typedef struct _stat64 ms_os_info;

static void *ms_os_map_bytes(int fd, size_t len)
{
    (void)fd;
    (void)len;
    return NULL;
}

static void ms_os_unmap_bytes(void *ptr, size_t len)
{
    (void)ptr;
    (void)len;
}
#else
#include <sys/mman.h>
#ifdef O_CLOEXEC
#define ms_OS_NEW                       O_CLOEXEC
#define ms_os_read_at(fd, out, len, at) pread(fd, out, len, at)
#else /* POSIX 2008 is not declared under a strict -std=c99 */
#define ms_OS_NEW                       0
#define ms_os_read_at(fd, out, len, at) (lseek(fd, at, SEEK_SET) < 0 ? -1 : read(fd, out, len))
#endif
#define ms_OS_OPEN             (ms_OS_NEW | O_NONBLOCK) /* of a FIFO nobody may write to */
#define ms_os_count(len)       (len)
#define ms_os_sync(fd)         fsync(fd)
#define ms_os_rename(from, to) rename(from, to)
#define ms_os_fstat(fd, st)    fstat(fd, st)
#define ms_os_stat(path, st)   stat(path, st)
typedef struct stat ms_os_info;

/* Maps a file. Returns NULL when that cannot be: it is read then. */
static void *ms_os_map_bytes(int fd, size_t len)
{
    void *ptr = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

static void ms_os_unmap_bytes(void *ptr, size_t len)
{
    munmap(ptr, len);
}
#endif

enum {
    ms_OS_NO_FILE = -1,  /* no errno has this value */
    ms_OS_SMALL = 65536, /* files up to this size are read: that is as fast as mapping, and safer */
    ms_OS_STEP = 1 << 30 /* bytes read or written at once */
};

/* Reads len bytes into malloc'd memory; for files that others may change while we look. */
static int ms_os_read_all(int fd, ms_os_file *file)
{
    size_t done = 0;
    char *memory = (char *)malloc(file->len + 1);
    if (memory == NULL)
        return ENOMEM;
    while (done < file->len) {
        size_t left = file->len - done < ms_OS_STEP ? file->len - done : (size_t)ms_OS_STEP;
        ssize_t got = read(fd, memory + done, ms_os_count(left));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int code = errno;
            free(memory);
            return code;
        }
        if (got == 0)
            break;
        done += (size_t)got;
    }
    file->ptr = memory;
    file->len = done;
    return 0;
}

static int ms_os_map_fd(int fd, bool copy, ms_os_file *file)
{
    ms_os_info st;
    if (ms_os_fstat(fd, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode))
        return ms_OS_NO_FILE; /* a FIFO or a device: would block, or never end */
    file->time = st.st_mtime > 0 ? (uint64_t)st.st_mtime : 0;
    if (st.st_size <= 0)
        return 0;
    if ((uint64_t)st.st_size > (uint64_t)SIZE_MAX / 2)
        return EFBIG;
    file->len = (size_t)st.st_size;
    if (!copy && file->len > ms_OS_SMALL)
        file->ptr = ms_os_map_bytes(fd, file->len);
    file->mapped = file->ptr != NULL;
    return file->mapped ? 0 : ms_os_read_all(fd, file);
}

/* Returns 0, an errno, or ms_OS_NO_FILE. An empty file gives ptr NULL and len 0. A mapped file stays open
 * until ms_os_settle. */
static int ms_os_open(const char *path, bool copy, ms_os_file *file)
{
    const ms_os_file none = {NULL, 0, 0, false, false, 0};
    *file = none;
    int fd = open(path, O_RDONLY | ms_OS_OPEN);
    if (fd < 0)
        return errno;
    int code = ms_os_map_fd(fd, copy, file);
    if (code != 0)
        *file = none;
    file->is_open = file->mapped;
    file->fd = fd;
    if (!file->is_open)
        close(fd);
    return code;
}

/* Copies a few bytes out of a mapped file without touching the map: a page that is touched once costs several
 * times as much. Returns false when that is not possible. */
static bool ms_os_peek(const ms_os_file *file, const void *at, void *out, size_t len)
{
    const char *begin = (const char *)file->ptr;
    const char *p = (const char *)at;
    return file->is_open && p >= begin && len <= file->len && p <= begin + (file->len - len) &&
           ms_os_read_at(file->fd, out, len, (off_t)(p - begin)) == (ssize_t)len;
}

/* The file is opened: no more peeks. */
static void ms_os_settle(ms_os_file *file)
{
    if (file->is_open)
        close(file->fd);
    file->is_open = false;
}

/* The same, settled. */
static int ms_os_map(const char *path, bool copy, ms_os_file *file)
{
    int code = ms_os_open(path, copy, file);
    ms_os_settle(file);
    return code;
}

static void ms_os_unmap(ms_os_file *file)
{
    ms_os_settle(file);
    if (file->mapped)
        ms_os_unmap_bytes(file->ptr, file->len);
    else
        free(file->ptr);
    file->ptr = NULL;
    file->len = 0;
}

static bool ms_os_is_folder(const char *path)
{
    ms_os_info st;
    return ms_os_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool ms_os_is_file(const char *path)
{
    ms_os_info st;
    return ms_os_stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The name of the first file in a folder, in byte order, without hidden ones: malloc'd path, or NULL. */
static char *ms_os_first_file(const char *folder)
{
    DIR *dir = opendir(folder);
    char *best = NULL;
    if (dir == NULL)
        return NULL;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        if (entry->d_name[0] == '.')
            continue;
        char *path = (char *)malloc(size);
        if (path == NULL)
            break;
        snprintf(path, size, "%s/%s", folder, entry->d_name);
        if (!ms_os_is_file(path) || (best != NULL && strcmp(path, best) > 0)) {
            free(path);
            continue;
        }
        free(best);
        best = path;
    }
    closedir(dir);
    return best;
}

/* Writes all bytes. Returns 0, or an errno. */
static int ms_os_write_all(int fd, const char *ptr, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, ptr, ms_os_count(len < ms_OS_STEP ? len : (size_t)ms_OS_STEP));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        ptr += put;
        len -= (size_t)put;
    }
    return ms_os_sync(fd) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

/* Opens a new file beside path for its later name; of several writers each has its own. */
static int ms_os_open_beside(const char *path, char *beside, size_t cap)
{
    int fd = -1;
    for (unsigned i = 0; i < 1000 && fd < 0; i++) {
        snprintf(beside, cap, "%s.%ld.%u.tmp", path, (long)getpid(), i);
        fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | ms_OS_NEW, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Makes a file of these bytes: whole under its name, or not at all. Returns 0, or an errno. */
static int ms_os_write(const char *path, const void *ptr, size_t len)
{
    size_t cap = strlen(path) + 48;
    char *beside = (char *)malloc(cap);
    if (beside == NULL)
        return ENOMEM;
    int fd = ms_os_open_beside(path, beside, cap);
    int code = fd < 0 ? errno : ms_os_write_all(fd, (const char *)ptr, len);
    if (fd >= 0 && close(fd) != 0 && code == 0)
        code = errno;
    if (code == 0 && ms_os_rename(beside, path) != 0)
        code = errno;
    if (code != 0 && fd >= 0)
        unlink(beside);
    free(beside);
    return code;
}
#endif /* MACHSYM_NO_OS */

/* ==== >>bytes ==============================================================================================
 * Job:    spans of input, views of text, memory helpers, sort order and search, the error record.
 * Uses:   nothing.
 * Offers: ms_span, ms_span_sub, ms_str_*, ms_copy, ms_zero, ms_equal, ms_add_ok, ms_key, ms_sort, ms_upper_bound, ms_fail.
 * Never:  allocates; touches a byte outside its arguments. */

#ifdef MACHSYM_NO_OS
static void ms_copy(void *to, const void *from, size_t len)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    for (size_t i = 0; i < len; i++)
        t[i] = f[i];
}

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) /* for names in Punycode */
/* The two may overlap. */
static void ms_move(void *to, const void *from, size_t len)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    for (size_t i = 0; i < len; i++) {
        size_t at = t > f ? len - 1 - i : i;
        t[at] = f[at];
    }
}
#endif

static void ms_zero(void *ptr, size_t len)
{
    unsigned char *p = (unsigned char *)ptr;
    for (size_t i = 0; i < len; i++)
        p[i] = 0;
}

static bool ms_equal(const void *a, const void *b, size_t len)
{
    const unsigned char *x = (const unsigned char *)a;
    const unsigned char *y = (const unsigned char *)b;
    for (size_t i = 0; i < len; i++) {
        if (x[i] != y[i])
            return false;
    }
    return true;
}

static const void *ms_find_byte(const void *ptr, size_t len, unsigned char byte)
{
    const unsigned char *p = (const unsigned char *)ptr;
    for (size_t i = 0; i < len; i++) {
        if (p[i] == byte)
            return p + i;
    }
    return NULL;
}
#else
#include <string.h>

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) /* for names in Punycode */
static void ms_move(void *to, const void *from, size_t len)
{
    if (len != 0)
        memmove(to, from, len);
}
#endif

/* memcpy and its like must not see NULL, even for no bytes (C99 7.21.1). */
static void ms_copy(void *to, const void *from, size_t len)
{
    MACHSYM_COUNT_WORK(len / 64);
    if (len != 0)
        memcpy(to, from, len);
}

static void ms_zero(void *ptr, size_t len)
{
    MACHSYM_COUNT_WORK(len / 64);
    if (len != 0)
        memset(ptr, 0, len);
}

static bool ms_equal(const void *a, const void *b, size_t len)
{
    MACHSYM_COUNT_WORK(len / 64);
    return len == 0 || memcmp(a, b, len) == 0;
}

static const void *ms_find_byte(const void *ptr, size_t len, unsigned char byte)
{
    return len == 0 ? NULL : memchr(ptr, byte, len);
}
#endif

/* A piece of input. */
typedef struct ms_span {
    const uint8_t *ptr;
    size_t len;
} ms_span;

static ms_span ms_span_make(const void *ptr, size_t len)
{
    ms_span span;
    span.ptr = (const uint8_t *)ptr;
    span.len = len;
    return span;
}

/* The only way to a smaller span: empty when [off, off + len) is not wholly inside. */
static ms_span ms_span_sub(ms_span span, uint64_t off, uint64_t len)
{
    if (off > span.len || len > span.len - off || len == 0)
        return ms_span_make(NULL, 0);
    return ms_span_make(span.ptr + off, (size_t)len);
}

/* What is left of a span from off on; empty past the end. */
static ms_span ms_span_from(ms_span span, uint64_t off)
{
    if (off >= span.len)
        return ms_span_make(NULL, 0);
    return ms_span_make(span.ptr + off, span.len - (size_t)off);
}

static bool ms_add_ok(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

static machsym_str ms_str_make(const char *ptr, size_t len)
{
    machsym_str str;
    str.ptr = ptr;
    str.len = len;
    return str;
}

static machsym_str ms_str_empty(void)
{
    return ms_str_make(NULL, 0);
}

/* The text up to a NUL or max bytes, for strings of the program (never file data without a bound). */
static machsym_str ms_str_bounded(const char *ptr, size_t max)
{
    const char *end = (const char *)ms_find_byte(ptr, max, 0);
    MACHSYM_COUNT_WORK((end != NULL ? (size_t)(end - ptr) : max) / 64);
    return ms_str_make(ptr, end != NULL ? (size_t)(end - ptr) : max);
}

static machsym_str ms_str_from_c(const char *text)
{
    size_t len = 0;
    while (text != NULL && text[len] != 0)
        len++;
    return ms_str_make(text, len);
}

enum { ms_HASHED = 256 }; /* bytes of each end of a text that its hash takes in */

/* FNV-1a over the length and both ends of a text: in a hostile file many long texts share their bytes. Equal
 * hashes can be made, so whoever uses it bounds how many of one hash are looked at. */
static uint64_t ms_str_hash(machsym_str str)
{
    uint64_t h = 0xcbf29ce484222325u ^ str.len;
    size_t end = str.len < ms_HASHED ? str.len : (size_t)ms_HASHED;
    size_t tail = str.len - end < ms_HASHED ? end : str.len - ms_HASHED;
    MACHSYM_COUNT_WORK((end + str.len - tail) / 64);
    for (size_t i = 0; i < end; i++)
        h = (h ^ (unsigned char)str.ptr[i]) * 0x100000001b3u;
    for (size_t i = tail; i < str.len; i++)
        h = (h ^ (unsigned char)str.ptr[i]) * 0x100000001b3u;
    return h;
}

static machsym_str ms_str_drop(machsym_str str, size_t count)
{
    return count >= str.len ? ms_str_empty() : ms_str_make(str.ptr + count, str.len - count);
}

static bool ms_str_equal(machsym_str a, machsym_str b)
{
    return a.len == b.len && ms_equal(a.ptr, b.ptr, a.len);
}

static bool ms_str_is(machsym_str str, const char *text)
{
    return ms_str_equal(str, ms_str_from_c(text));
}

static bool ms_str_begins(machsym_str str, const char *text)
{
    machsym_str head = ms_str_from_c(text);
    return str.len >= head.len && ms_equal(str.ptr, head.ptr, head.len);
}

static bool ms_str_ends(machsym_str str, const char *text)
{
    machsym_str tail = ms_str_from_c(text);
    return str.len >= tail.len && ms_equal(str.ptr + (str.len - tail.len), tail.ptr, tail.len);
}

/* The part behind the last slash. */
static machsym_str ms_str_base_name(machsym_str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return at == 0 ? path : ms_str_make(path.ptr + at, path.len - at); /* NULL + 0 is undefined */
}

/* What gets sorted: a key, and which item it belongs to. */
typedef struct ms_key {
    uint64_t key;
    uint64_t item;
} ms_key;

static bool ms_key_less(const ms_key *a, const ms_key *b)
{
    return a->key != b->key ? a->key < b->key : a->item < b->item;
}

static void ms_key_sift(ms_key *v, size_t root, size_t count)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count)
            return;
        if (child + 1 < count && ms_key_less(&v[child], &v[child + 1]))
            child++;
        if (!ms_key_less(&v[root], &v[child]))
            return;
        ms_key swap = v[root];
        v[root] = v[child];
        v[child] = swap;
        root = child;
    }
}

static void ms_key_heap_sort(ms_key *v, size_t count)
{
    MACHSYM_COUNT_WORK(count);
    for (size_t i = count / 2; i-- > 0;)
        ms_key_sift(v, i, count);
    for (size_t i = count; i-- > 1;) {
        ms_key swap = v[0];
        v[0] = v[i];
        v[i] = swap;
        ms_key_sift(v, 0, i);
    }
}

/* Sorts keys of which few stand far from their place. Returns false, with all keys there in some order, when that takes
 * more than so many moves. */
static bool ms_key_insertion_sort(ms_key *v, size_t count, size_t moves)
{
    for (size_t i = 1; i < count; i++) {
        ms_key moved = v[i];
        size_t j = i;
        for (; j > 0 && ms_key_less(&moved, &v[j - 1]); j--)
            v[j] = v[j - 1];
        v[j] = moved;
        if (i - j > moves)
            return false;
        moves -= i - j;
    }
    return true;
}

/* Sorts by key, then item. Radix passes of 8 bits into room (count keys), skipping bytes that all keys share;
 * items must ascend in the input, which makes the stable passes a full order. Falls back to a heap where room
 * is NULL. */
static void ms_sort(ms_key *v, size_t count, ms_key *room)
{
    size_t sorted = 1;
    MACHSYM_COUNT_WORK(count);
    while (sorted < count && !ms_key_less(&v[sorted], &v[sorted - 1]))
        sorted++;
    if (sorted >= count || ms_key_insertion_sort(v, count, 300 + 4 * count)) /* always of 24 */
        return;
    if (room == NULL) {
        ms_key_heap_sort(v, count);
        return;
    }
    uint64_t varying = 0;
    for (size_t i = 1; i < count; i++)
        varying |= v[i].key ^ v[0].key;
    ms_key *from = v;
    ms_key *to = room;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (((varying >> shift) & 0xff) == 0)
            continue;
        size_t start[257];
        ms_zero(start, sizeof start);
        for (size_t i = 0; i < count; i++)
            start[((from[i].key >> shift) & 0xff) + 1]++;
        for (size_t i = 0; i < 256; i++)
            start[i + 1] += start[i];
        for (size_t i = 0; i < count; i++)
            to[start[(from[i].key >> shift) & 0xff]++] = from[i];
        ms_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        ms_copy(v, from, count * sizeof *v);
}

/* How many of the sorted keys are at or below key. */
static size_t ms_upper_bound(const ms_key *v, size_t count, uint64_t key)
{
    size_t lo = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (v[lo + half].key <= key) {
            lo += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return lo;
}

/* ---- Errors ---- */

static machsym_result ms_fail(machsym_error *err, machsym_result code, const char *what, const char *where,
                              uint64_t offset)
{
    if (err != NULL) {
        err->code = code;
        err->os_errno = 0;
        err->what = what;
        err->where = where;
        err->offset = offset;
    }
    return code;
}

static machsym_result ms_fail_memory(machsym_error *err)
{
    return ms_fail(err, MACHSYM_ERR_MEMORY, "the allocator has no memory left", "", 0);
}

/* How many low bits of a number that is not 0 are 0. */
static inline unsigned ms_low_zeros(uint64_t number)
{
#ifdef __GNUC__
    return (unsigned)__builtin_ctzll(number);
#else
    unsigned zeros = 0;
    for (; (number & 1) == 0; number >>= 1)
        zeros++;
    return zeros;
#endif
}

/* Has a place of memory come into the cache, where compilers can say so. */
static inline void ms_fetch(const void *ptr)
{
#ifdef __GNUC__
    __builtin_prefetch(ptr);
#else
    (void)ptr;
#endif
}

/* ==== >>reader =============================================================================================
 * Job:    reads integers, LEB128 numbers and strings from a span.
 * Uses:   bytes.
 * Offers: ms_rd (sticky failure) and, for windows already checked, ms_rd_raw_*.
 * Never:  reads past the end: such a read returns 0, marks the reader failed and moves it to the end. */

/* A place in a span. */
typedef struct ms_rd {
    const uint8_t *p;
    const uint8_t *end;
    const uint8_t *start;
    bool failed;
} ms_rd;

static ms_rd ms_rd_make(ms_span span)
{
    ms_rd rd;
    rd.start = span.ptr;
    rd.p = span.ptr;
    rd.end = span.len != 0 ? span.ptr + span.len : span.ptr;
    rd.failed = false;
    return rd;
}

static ms_rd ms_rd_at(ms_span span, uint64_t off)
{
    ms_rd rd = ms_rd_make(span);
    if (off > span.len) {
        rd.p = rd.end;
        rd.failed = true;
    } else if (off != 0) {
        rd.p += off;
    }
    return rd;
}

static size_t ms_rd_left(const ms_rd *rd)
{
    return (size_t)(rd->end - rd->p);
}

static size_t ms_rd_offset(const ms_rd *rd)
{
    return (size_t)(rd->p - rd->start);
}

static void ms_rd_fail(ms_rd *rd)
{
    rd->failed = true;
    rd->p = rd->end;
}

static bool ms_rd_need(ms_rd *rd, uint64_t count)
{
    MACHSYM_COUNT_WORK(1);
    if (count <= ms_rd_left(rd))
        return true;
    ms_rd_fail(rd);
    return false;
}

static void ms_rd_skip(ms_rd *rd, uint64_t count)
{
    if (count != 0 && ms_rd_need(rd, count))
        rd->p += count;
}

/* Plain loads; the caller has checked that the bytes are there. Compilers make one load of each. */
static uint16_t ms_rd_raw_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t ms_rd_raw_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t ms_rd_raw_u64(const uint8_t *p)
{
    return (uint64_t)ms_rd_raw_u32(p) | (uint64_t)ms_rd_raw_u32(p + 4) << 32;
}

static uint8_t ms_rd_u8(ms_rd *rd)
{
    if (!ms_rd_need(rd, 1))
        return 0;
    return *rd->p++;
}

static uint16_t ms_rd_u16(ms_rd *rd)
{
    if (!ms_rd_need(rd, 2))
        return 0;
    rd->p += 2;
    return ms_rd_raw_u16(rd->p - 2);
}

static uint32_t ms_rd_u32(ms_rd *rd)
{
    if (!ms_rd_need(rd, 4))
        return 0;
    rd->p += 4;
    return ms_rd_raw_u32(rd->p - 4);
}

static uint64_t ms_rd_u64(ms_rd *rd)
{
    if (!ms_rd_need(rd, 8))
        return 0;
    rd->p += 8;
    return ms_rd_raw_u64(rd->p - 8);
}

/* Fat headers and archives are big-endian. */
static uint32_t ms_rd_be32(ms_rd *rd)
{
    uint32_t lo = ms_rd_u8(rd);
    for (unsigned i = 0; i < 3; i++)
        lo = lo << 8 | ms_rd_u8(rd);
    return lo;
}

static uint64_t ms_rd_be64(ms_rd *rd)
{
    uint64_t hi = ms_rd_be32(rd);
    return hi << 32 | ms_rd_be32(rd);
}

/* An unsigned number of 1, 2, 3, 4 or 8 bytes. */
static uint64_t ms_rd_uint(ms_rd *rd, unsigned size)
{
    switch (size) {
    case 1: return ms_rd_u8(rd);
    case 2: return ms_rd_u16(rd);
    case 3: {
        uint32_t lo = ms_rd_u16(rd);
        return lo | (uint32_t)ms_rd_u8(rd) << 16;
    }
    case 4: return ms_rd_u32(rd);
    case 8: return ms_rd_u64(rd);
    default: ms_rd_fail(rd); return 0;
    }
}

/* ULEB128, DWARF5 7.6. More than 64 bits of value is failure; leading zero groups are allowed. */
static uint64_t ms_rd_uleb_slow(ms_rd *rd)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (rd->p == rd->end)
            break;
        uint8_t byte = *rd->p++;
        uint64_t bits = byte & 0x7f;
        if (shift < 64 ? (bits << shift) >> shift != bits : bits != 0)
            break;
        if (shift < 64)
            value |= bits << shift;
        if (byte < 0x80)
            return value;
    }
    ms_rd_fail(rd);
    return 0;
}

static inline uint64_t ms_rd_uleb(ms_rd *rd)
{
    MACHSYM_COUNT_WORK(1);
    if (rd->p != rd->end && *rd->p < 0x80)
        return *rd->p++;
    return ms_rd_uleb_slow(rd);
}

static int64_t ms_rd_sleb_slow(ms_rd *rd)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (rd->p == rd->end)
            break;
        uint8_t byte = *rd->p++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        else if ((byte & 0x7f) != 0 && (byte & 0x7f) != 0x7f)
            break;
        if (byte < 0x80) {
            if ((byte & 0x40) != 0 && shift + 7 < 64)
                value |= ~(uint64_t)0 << (shift + 7);
            return (int64_t)value;
        }
    }
    ms_rd_fail(rd);
    return 0;
}

static inline int64_t ms_rd_sleb(ms_rd *rd)
{
    if (rd->p != rd->end && *rd->p < 0x80)
        return (int64_t)((*rd->p++ ^ 0x40u)) - 0x40;
    return ms_rd_sleb_slow(rd);
}

/* Text up to its NUL; failure when there is none. */
static machsym_str ms_rd_str(ms_rd *rd)
{
    const uint8_t *nul = (const uint8_t *)ms_find_byte(rd->p, ms_rd_left(rd), 0);
    MACHSYM_COUNT_WORK(1 + (nul == NULL ? ms_rd_left(rd) : (size_t)(nul - rd->p)) / 64);
    if (nul == NULL) {
        ms_rd_fail(rd);
        return ms_str_empty();
    }
    const char *text = (const char *)rd->p;
    rd->p = nul + 1;
    return ms_str_make(text, (size_t)(nul - (const uint8_t *)text));
}

static ms_span ms_rd_span(ms_rd *rd, uint64_t len)
{
    if (len == 0 || !ms_rd_need(rd, len))
        return ms_span_make(NULL, 0);
    ms_span span = ms_span_make(rd->p, (size_t)len);
    rd->p += span.len;
    return span;
}

/* The NUL-terminated text at an offset of a string section; empty when the offset or the NUL is missing, or
 * the text is longer than any name. */
static machsym_str ms_rd_str_at(ms_span section, uint64_t off)
{
    ms_rd rd = ms_rd_at(section, off);
    if (rd.failed)
        return ms_str_empty();
    if (ms_rd_left(&rd) > MACHSYM_MAX_TEXT)
        rd.end = rd.p + MACHSYM_MAX_TEXT;
    return ms_rd_str(&rd);
}

/* ==== >>memory =============================================================================================
 * Job:    gives out memory from chunks of the user's allocator, all of it freed together.
 * Uses:   bytes.
 * Offers: ms_arena, ms_arena_alloc, ms_arena_grow, ms_arena_keep.
 * Never:  frees a single object; loses a failure: a failed allocation sets oom, which the caller checks once. */

#ifndef MACHSYM_NO_OS
#include <stdlib.h>

static void *ms_arena_malloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void ms_arena_libc_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}
#endif

/* The head of a block from the allocator; its memory follows. */
typedef struct ms_arena_chunk {
    struct ms_arena_chunk *next;
    size_t size; /* with this head */
    size_t used;
    size_t unused_padding;
} ms_arena_chunk;

typedef struct ms_arena {
    machsym_allocator allocator;
    ms_arena_chunk *head;  /* the one in use; older ones behind it */
    ms_arena_chunk *spare; /* empty ones that a reset left */
    size_t total;          /* bytes taken from the allocator */
    size_t live;           /* bytes of the chunks that hold objects */
    bool oom;              /* sticky, until a reset */
    bool failed;           /* the same, but a reset keeps it */
} ms_arena;

static machsym_allocator ms_arena_default(machsym_allocator allocator)
{
#ifndef MACHSYM_NO_OS
    if (allocator.alloc == NULL) {
        allocator.alloc = ms_arena_malloc;
        allocator.free = ms_arena_libc_free;
        allocator.user = NULL;
    }
#endif
    return allocator;
}

static ms_arena ms_arena_make(machsym_allocator allocator)
{
    ms_arena arena;
    ms_zero(&arena, sizeof arena);
    arena.allocator = allocator;
    return arena;
}

/* Forgets all objects and keeps the chunks for the next ones. */
static void ms_arena_reset(ms_arena *arena)
{
    while (arena->head != NULL) {
        ms_arena_chunk *chunk = arena->head;
        arena->head = chunk->next;
        chunk->next = arena->spare;
        chunk->used = sizeof *chunk;
        arena->spare = chunk;
    }
    arena->live = 0;
    arena->oom = false;
}

static void ms_arena_free(ms_arena *arena)
{
    ms_arena_reset(arena);
    while (arena->spare != NULL) {
        ms_arena_chunk *chunk = arena->spare;
        arena->spare = chunk->next;
        arena->allocator.free(arena->allocator.user, chunk, chunk->size);
    }
    arena->total = 0;
    arena->failed = false;
}

/* A spare chunk with room for size bytes; NULL when there is none. */
static ms_arena_chunk *ms_arena_take_spare(ms_arena *arena, size_t size)
{
    for (ms_arena_chunk **link = &arena->spare; *link != NULL; link = &(*link)->next) {
        ms_arena_chunk *chunk = *link;
        if (size <= chunk->size - sizeof *chunk) {
            *link = chunk->next;
            return chunk;
        }
    }
    return NULL;
}

static ms_arena_chunk *ms_arena_new_chunk(ms_arena *arena, size_t size)
{
    const size_t least = MACHSYM_ARENA_CHUNK;
    size_t want =
        least > 1 ? arena->total / 2 : 0; /* chunks grow with use: few calls, at most a third unused */
    if (want < least)
        want = least;
    if (want > ((size_t)4 << 20))
        want = (size_t)4 << 20;
    if (want < size + sizeof(ms_arena_chunk))
        want = size + sizeof(ms_arena_chunk);
    ms_arena_chunk *chunk = (ms_arena_chunk *)arena->allocator.alloc(arena->allocator.user, want);
    if (chunk == NULL)
        return NULL;
    chunk->size = want;
    chunk->used = sizeof *chunk;
    arena->total += want;
    return chunk;
}

static bool ms_arena_more(ms_arena *arena, size_t size)
{
    ms_arena_chunk *chunk = ms_arena_take_spare(arena, size);
    if (chunk == NULL)
        chunk = ms_arena_new_chunk(arena, size);
    if (chunk == NULL)
        return false;
    chunk->next = arena->head;
    arena->head = chunk;
    arena->live += chunk->size;
    return true;
}

/* Returns count objects of size bytes, 16-byte aligned and not cleared; NULL sets oom. */
static void *ms_arena_alloc(ms_arena *arena, size_t count, size_t size)
{
    size_t need = 0;
    if (arena->oom)
        return NULL;
    if (size != 0 && count <= ((size_t)-1 / 4) / size)
        need = (count * size + 15u) & ~(size_t)15u;
    if (need == 0 && count != 0) {
        arena->oom = arena->failed = true;
        return NULL;
    }
    if (arena->head == NULL || need > arena->head->size - arena->head->used) {
        if (!ms_arena_more(arena, need)) {
            arena->oom = arena->failed = true;
            return NULL;
        }
    }
    uint8_t *memory = (uint8_t *)arena->head + arena->head->used;
    arena->head->used += need;
    MACHSYM_COUNT_WORK(need / 64);
    return memory;
}

static void *ms_arena_zeroed(ms_arena *arena, size_t count, size_t size)
{
    void *memory = ms_arena_alloc(arena, count, size);
    if (memory != NULL)
        ms_zero(memory, count * size);
    return memory;
}

/* Doubles *cap: in place when the array is the newest object and its chunk has room, else by copying. */
static void *ms_arena_double(ms_arena *arena, void *array, size_t count, size_t *cap, size_t size)
{
    size_t new_cap = *cap < 16 ? 32 : *cap * 2;
    size_t old_need = (*cap * size + 15u) & ~(size_t)15u;
    if (new_cap > ((size_t)-1 / 4) / size) {
        arena->oom = arena->failed = true;
        return NULL;
    }
    size_t more = ((new_cap * size + 15u) & ~(size_t)15u) - old_need;
    ms_arena_chunk *head = arena->head;
    if (head != NULL && array != NULL && (uint8_t *)array + old_need == (uint8_t *)head + head->used &&
        more <= head->size - head->used) {
        head->used += more;
        *cap = new_cap;
        return array;
    }
    void *bigger = ms_arena_alloc(arena, new_cap, size);
    if (bigger == NULL)
        return NULL;
    ms_copy(bigger, array, count * size);
    *cap = new_cap;
    return bigger;
}

/* A copy of an array from another arena, of no more than it needs. NULL when memory is out. */
static void *ms_arena_keep(ms_arena *arena, const void *array, size_t count, size_t size)
{
    void *kept = ms_arena_alloc(arena, count, size);
    if (kept != NULL)
        ms_copy(kept, array, count * size);
    return kept;
}

/* Gives back what an array that grew does not use, if it is still the newest object. */
static void ms_arena_fit(ms_arena *arena, const void *array, size_t count, size_t cap, size_t size)
{
    size_t need = (count * size + 15u) & ~(size_t)15u;
    size_t had = (cap * size + 15u) & ~(size_t)15u;
    ms_arena_chunk *head = arena->head;
    if (head != NULL && array != NULL && (const uint8_t *)array + had == (const uint8_t *)head + head->used)
        head->used -= had - need;
}

/* Makes room for at least count + 1 objects. Returns the array, or NULL (and oom) with the old one
 * untouched. */
static inline void *ms_arena_grow(ms_arena *arena, void *array, size_t count, size_t *cap, size_t size)
{
    return count < *cap ? array : ms_arena_double(arena, array, count, cap, size);
}

/* ==== >>segments ===========================================================================================
 * Job:    turns ranges that may overlap into sorted segments that do not, so that one search finds the owner.
 * Uses:   bytes, memory.
 * Offers: ms_seg, ms_seg_build, ms_seg_find.
 * Never:  takes more than n log n steps, however the ranges overlap. */

/* Half-open. */
typedef struct ms_range {
    uint64_t lo;
    uint64_t hi;
} ms_range;

/* A range and whose it is. */
typedef struct ms_piece {
    uint64_t lo;
    uint64_t hi;
    uint32_t owner;
} ms_piece;

#define ms_SEG_NONE UINT32_MAX

/* From lo to the next segment's lo. */
typedef struct ms_seg {
    uint64_t lo;
    uint32_t owner; /* ms_SEG_NONE: nobody's */
} ms_seg;

typedef struct ms_segs {
    ms_seg *v;
    size_t count;
    ms_arena *arena;
} ms_segs;

static inline void ms_seg_add(ms_segs *out, uint64_t lo, uint32_t owner)
{
    ms_seg *v = out->v;
    if (out->count > 0 && v[out->count - 1].lo == lo)
        out->count--;
    if (out->count > 0 && v[out->count - 1].owner == owner)
        return;
    v[out->count].lo = lo;
    v[out->count].owner = owner;
    out->count++;
}

/* Ranges that nest or lie apart, later ones inside earlier ones: one sweep with a stack of the open ones.
 * Returns false, having written nothing of use, when they do not nest. */
static bool ms_seg_sweep(const ms_piece *pieces, const ms_key *order, size_t count, uint32_t *stack,
                         ms_segs *out)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = (uint32_t)order[i].item;
        const ms_piece *piece = &pieces[index];
        MACHSYM_COUNT_WORK(1);
        while (depth > 0 && pieces[stack[depth - 1]].hi <= piece->lo) {
            uint64_t end = pieces[stack[--depth]].hi;
            ms_seg_add(out, end, depth > 0 ? pieces[stack[depth - 1]].owner : ms_SEG_NONE);
        }
        if (depth > 0 && (pieces[stack[depth - 1]].hi < piece->hi || stack[depth - 1] > index))
            return false;
        stack[depth++] = index;
        ms_seg_add(out, piece->lo, piece->owner);
    }
    while (depth > 0) {
        uint64_t end = pieces[stack[--depth]].hi;
        ms_seg_add(out, end, depth > 0 ? pieces[stack[depth - 1]].owner : ms_SEG_NONE);
    }
    return true;
}

static uint32_t ms_seg_next_free(uint32_t *next, uint32_t at)
{
    while (next[at] != at) {
        MACHSYM_COUNT_WORK(1);
        next[at] = next[next[at]]; /* halves the path: near-constant steps over all calls */
        at = next[at];
    }
    return at;
}

/* Any overlap: the later piece wins. Cuts the line at every end, then paints backwards over what is still
 * free. */
static void ms_seg_paint(const ms_piece *pieces, size_t count, ms_arena *scratch, ms_segs *out)
{
    size_t cut_count = 2 * count;
    ms_key *cuts = (ms_key *)ms_arena_alloc(scratch, cut_count, sizeof *cuts);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, cut_count, sizeof *cuts);
    uint32_t *next = (uint32_t *)ms_arena_alloc(scratch, cut_count + 1, sizeof *next);
    uint32_t *owner = (uint32_t *)ms_arena_alloc(scratch, cut_count + 1, sizeof *owner);
    if (cuts == NULL || room == NULL || next == NULL || owner == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        cuts[2 * i].key = pieces[i].lo;
        cuts[2 * i].item = 2 * i;
        cuts[2 * i + 1].key = pieces[i].hi;
        cuts[2 * i + 1].item = 2 * i + 1;
    }
    ms_sort(cuts, cut_count, room);
    for (size_t i = 0; i <= cut_count; i++) {
        next[i] = (uint32_t)i;
        owner[i] = ms_SEG_NONE;
    }
    for (size_t i = count; i-- > 0;) {
        size_t lo = pieces[i].lo == 0 ? 0 : ms_upper_bound(cuts, cut_count, pieces[i].lo - 1);
        size_t hi = pieces[i].hi == 0 ? 0 : ms_upper_bound(cuts, cut_count, pieces[i].hi - 1);
        for (uint32_t at = ms_seg_next_free(next, (uint32_t)lo); at < hi; at = ms_seg_next_free(next, at)) {
            MACHSYM_COUNT_WORK(1);
            owner[at] = pieces[i].owner;
            next[at] = at + 1;
        }
    }
    for (size_t i = 0; i < cut_count; i++) {
        if (i + 1 == cut_count || cuts[i + 1].key != cuts[i].key)
            ms_seg_add(out, cuts[i].key, owner[i]);
    }
}

/* Makes segments of count non-empty pieces (under 2^31); where pieces overlap the later one wins. Temporary
 * memory comes from scratch, the result from out->arena; failure shows as oom of either. */
static void ms_seg_build(const ms_piece *pieces, size_t count, ms_arena *scratch, ms_segs *out)
{
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    uint32_t *stack = (uint32_t *)ms_arena_alloc(scratch, count, sizeof *stack);
    out->count = 0;
    out->v = (ms_seg *)ms_arena_alloc(out->arena, 2 * count, sizeof *out->v); /* one at every end */
    if (order == NULL || room == NULL || stack == NULL || out->v == NULL || count >= 0x7fffffff)
        return;
    for (size_t i = 0; i < count; i++) {
        order[i].key = pieces[i].lo;
        order[i].item = i;
    }
    ms_sort(order, count, room);
    if (!ms_seg_sweep(pieces, order, count, stack, out)) {
        out->count = 0;
        ms_seg_paint(pieces, count, scratch, out);
    }
    ms_arena_fit(out->arena, out->v, out->count, 2 * count, sizeof *out->v);
}

/* Index of the segment that holds an address; count when it lies before the first. */
static size_t ms_seg_find(const ms_seg *v, size_t count, uint64_t addr)
{
    size_t lo = 0;
    size_t left = count;
    while (left > 0) {
        size_t half = left / 2;
        if (v[lo + half].lo <= addr) {
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return lo == 0 ? count : lo - 1;
}

/* Where the segment that holds an address ends; UINT64_MAX behind the last. */
static uint64_t ms_seg_until(const ms_seg *v, size_t count, uint64_t addr)
{
    size_t at = ms_seg_find(v, count, addr);
    size_t next = at == count ? 0 : at + 1;
    return next < count ? v[next].lo : UINT64_MAX;
}

static uint32_t ms_seg_owner(const ms_seg *v, size_t count, uint64_t addr)
{
    size_t at = ms_seg_find(v, count, addr);
    return at == count ? ms_SEG_NONE : v[at].owner;
}

/* ==== >>macho ==============================================================================================
 * Job:    turns fat files and load commands into slices, segments, sections, spans and decoded pointers.
 * Uses:   platform, bytes, reader, memory, segments.
 * Offers: ms_mo_input_open, ms_mo_slice_at, ms_mo_choose, ms_mo_load, ms_mo_load_entry, ms_mo_next_entry,
 *         ms_mo_section_named, ms_mo_linkedit, ms_mo_data_open, ms_mo_at_addr, ms_mo_pointer_at.
 * Never:  looks inside debug info or symbols; trusts a count or an offset. */

/* loader.h, machine.h, fat.h */
enum {
    ms_MH_OBJECT = 1,
    ms_MH_DSYM = 10,
    ms_MH_FILESET = 12,
    ms_LC_SEGMENT = 0x1,
    ms_LC_SYMTAB = 0x2,
    ms_LC_DYSYMTAB = 0xb,
    ms_LC_SEGMENT_64 = 0x19,
    ms_LC_UUID = 0x1b,
    ms_LC_DYLD_INFO = 0x22,
    ms_LC_VERSION_MIN_MACOSX = 0x24,
    ms_LC_VERSION_MIN_IPHONEOS = 0x25,
    ms_LC_FUNCTION_STARTS = 0x26,
    ms_LC_SOURCE_VERSION = 0x2a,
    ms_LC_VERSION_MIN_TVOS = 0x2f,
    ms_LC_VERSION_MIN_WATCHOS = 0x30,
    ms_LC_BUILD_VERSION = 0x32,
    ms_LC_DYLD_EXPORTS_TRIE = 0x33,
    ms_LC_DYLD_CHAINED_FIXUPS = 0x34,
    ms_LC_FILESET_ENTRY = 0x35,
    ms_CPU_ARM = 12,
    ms_SECTION_TYPE = 0xff,
    ms_S_ZEROFILL = 0x1,
    ms_S_SYMBOL_STUBS = 0x8,
    ms_S_GB_ZEROFILL = 0xc,
    ms_S_THREAD_LOCAL_ZEROFILL = 0x12,
    ms_VM_PROT_READ = 1,
    ms_VM_PROT_EXECUTE = 4
};

#define ms_FAT_MAGIC_32 0xcafebabeu
#define ms_FAT_MAGIC_64 0xcafebabfu
#define ms_MH_MAGIC     0xfeedfaceu
#define ms_MH_MAGIC_64  0xfeedfacfu
#define ms_MH_CIGAM     0xcefaedfeu
#define ms_MH_CIGAM_64  0xcffaedfeu
#define ms_LC_REQ_DYLD  0x80000000u
#define ms_CPU_ARM64    0x0100000cu
#define ms_CPU_IS_64    0x01000000u /* CPU_ARCH_ABI64; arm64_32 has another bit */
#define ms_CPU_SUBTYPE  0x00ffffffu /* without capability bits: arm64e's ABI version, LIB64 */
#define ms_S_ATTR_DEBUG 0x02000000u
#define ms_S_ATTR_CODE  0x80000400u /* S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS */

/* A section with its bytes, if the file has them. */
typedef struct ms_mo_section {
    machsym_str segment;
    machsym_str name; /* at most 16 bytes: longer names are cut by their producers */
    uint64_t addr;
    uint64_t size;
    uint64_t off;
    ms_span bytes;
    uint32_t flags;
    uint32_t reserved1; /* stubs: first index into the indirect symbol table */
    uint32_t reserved2; /* stubs: size of one */
    uint32_t reloc_off;
    uint32_t reloc_count;
    uint32_t segment_index;
    bool is_code;
} ms_mo_section;

/* A segment as it is mapped. */
typedef struct ms_mo_segment {
    machsym_str name;
    uint64_t addr;
    uint64_t size;
    uint64_t off;
    uint64_t file_size;
    uint32_t initprot;
    uint16_t fixup_format;      /* DYLD_CHAINED_PTR_*; 0: pointers are plain */
    uint32_t max_valid_pointer; /* of DYLD_CHAINED_PTR_32: chains run through integers above it too */
} ms_mo_segment;

/* Where LC_* say their data lies, offsets in the slice. */
typedef struct ms_mo_loads {
    uint64_t sym_off;
    uint32_t sym_count;
    uint64_t str_off;
    uint32_t str_size;
    uint64_t indirect_off;
    uint32_t indirect_count;
    uint64_t starts_off;
    uint32_t starts_size;
    uint64_t exports_off;
    uint32_t exports_size;
    uint64_t fixups_off;
    uint32_t fixups_size;
    uint64_t bind_off; /* LC_DYLD_INFO: rebase opcodes are not needed, file pointers hold their targets */
    uint32_t bind_size;
    uint64_t lazy_bind_off;
    uint32_t lazy_bind_size;
} ms_mo_loads;

/* One slice, parsed. */
typedef struct ms_mo {
    ms_span bytes; /* the slice; with is_loaded, the memory from the header on */
    uint64_t
        header_off; /* in bytes; not 0 for an image of a kernel collection, whose bytes are the collection's */
    ms_span commands;
    machsym_slice slice;
    bool is_64;
    bool is_loaded;
    bool hide_symtab;      /* names of the image's own code in LC_SYMTAB do not count */
    uint64_t slide;        /* with is_loaded: what dyld added to every pointer */
    uint32_t damage_count; /* load commands and sections left out */
    ms_mo_segment *segments;
    uint32_t segment_count;
    ms_mo_section *sections;
    uint32_t section_count;
    uint64_t text_addr;
    uint64_t text_size;
    uint64_t text_exec_addr;
    uint64_t fixup_base; /* what offsets in encoded pointers count from */
    uint32_t platform;
    uint32_t min_os;
    uint32_t sdk;
    uint64_t source_version;
    ms_mo_loads loads;
} ms_mo;

/* A name for cputype and cpusubtype; any subtype when it is all ones. */
typedef struct ms_mo_arch {
    uint32_t cputype;
    uint32_t cpusubtype;
    const char *name;
} ms_mo_arch;

/* More specific ones first: the last line of a cputype takes what is left. */
static const ms_mo_arch ms_mo_archs[] = {
    {0x0100000cu, 2, "arm64e"},
    {0x0100000cu, 1, "arm64v8"},
    {0x0100000cu, ~0u, "arm64"},
    {0x0200000cu, ~0u, "arm64_32"},
    {12, 5, "armv4t"},
    {12, 6, "armv6"},
    {12, 7, "armv5"},
    {12, 8, "xscale"},
    {12, 9, "armv7"},
    {12, 10, "armv7f"},
    {12, 11, "armv7s"},
    {12, 12, "armv7k"},
    {12, 13, "armv8"},
    {12, 14, "armv6m"},
    {12, 15, "armv7m"},
    {12, 16, "armv7em"},
    {12, ~0u, "arm"},
    {0x01000007u, 8, "x86_64h"},
    {0x01000007u, ~0u, "x86_64"},
    {7, ~0u, "i386"},
    {0x01000012u, ~0u, "ppc64"},
    {18, ~0u, "ppc"},
};

static const char *ms_mo_arch_name(uint32_t cputype, uint32_t cpusubtype)
{
    for (size_t i = 0; i < sizeof ms_mo_archs / sizeof ms_mo_archs[0]; i++) {
        const ms_mo_arch *arch = &ms_mo_archs[i];
        if (arch->cputype == cputype &&
            (arch->cpusubtype == ~0u || arch->cpusubtype == (cpusubtype & ms_CPU_SUBTYPE)))
            return arch->name;
    }
    return "unknown";
}

/* ---- Load commands ---- */

/* How many segments of a loaded image are searched, again for every table, and how many slices a fat file may
 * have: real ones have ten. */
enum { ms_MO_LOADED_SEGMENTS = 64, ms_MO_SLICES = 256 };

/* How many segments of a kernel collection and how many bytes of load commands it and its images may have: it
 * is read again for each. Real ones have ten segments, 300 images and 50,000 bytes. */
enum { ms_MO_FILESET_SEGMENTS = 64, ms_MO_FILESET_COMMANDS = 1 << 20 };

/* The memory of a segment of a loaded image, as far as the caller has it. What lies between segments is not
 * touched: it need not be mapped. A segment that nobody may read has none. */
static ms_span ms_mo_segment_bytes(const ms_mo *mo, const ms_mo_segment *segment)
{
    ms_span none = {NULL, 0};
    if (segment->addr < mo->text_addr || (segment->initprot & ms_VM_PROT_READ) == 0)
        return none;
    ms_span rest = ms_span_from(mo->bytes, segment->addr - mo->text_addr);
    return ms_span_sub(rest, 0, segment->size < rest.len ? segment->size : rest.len);
}

/* The bytes of a range of the slice that is no section: symbol tables and the rest of __LINKEDIT. */
static ms_span ms_mo_linkedit(const ms_mo *mo, uint64_t off, uint64_t len)
{
    if (!mo->is_loaded)
        return ms_span_sub(mo->bytes, off, len);
    for (uint32_t i = 0; i < mo->segment_count && i < ms_MO_LOADED_SEGMENTS; i++) {
        const ms_mo_segment *segment = &mo->segments[i];
        MACHSYM_COUNT_WORK(1);
        if (off >= segment->off && off - segment->off < segment->file_size)
            return ms_span_sub(ms_mo_segment_bytes(mo, segment), off - segment->off, len);
    }
    return ms_span_make(NULL, 0);
}

/* A table of count entries: as many as are really there. */
static ms_span ms_mo_table(const ms_mo *mo, uint64_t off, uint32_t count, uint32_t size)
{
    uint64_t len = (uint64_t)count * size;
    ms_span table = ms_mo_linkedit(mo, off, len);
    if (table.len == len || mo->is_loaded)
        return table;
    table = ms_span_from(mo->bytes, off);
    return ms_span_sub(table, 0, table.len - table.len % size);
}

static machsym_str ms_mo_fixed_name(ms_rd *rd)
{
    ms_span span = ms_rd_span(rd, 16);
    return ms_str_bounded((const char *)span.ptr, span.len);
}

static bool ms_mo_is_zero_fill(uint32_t flags)
{
    uint32_t type = flags & ms_SECTION_TYPE;
    return type == ms_S_ZEROFILL || type == ms_S_GB_ZEROFILL || type == ms_S_THREAD_LOCAL_ZEROFILL;
}

static uint64_t ms_mo_word(const ms_mo *mo, ms_rd *rd)
{
    return mo->is_64 ? ms_rd_u64(rd) : ms_rd_u32(rd);
}

/* section.offset has 32 bits and wraps in files over 4 GB; sections lie in order, so a step back is a
 * carry. */
static uint64_t ms_mo_carry(const ms_mo *mo, uint64_t off, uint64_t previous)
{
    uint64_t carried = (previous & ~(uint64_t)0xffffffff) | off;
    uint64_t len = mo->bytes.len; /* wider than size_t on 32-bit hosts, where the comparison is idle */
    if (len <= 0xffffffff || off == 0)
        return off;
    return carried < previous ? carried + 0x100000000 : carried;
}

static void ms_mo_read_section(ms_mo *mo, ms_rd *rd, uint64_t *previous)
{
    ms_mo_section *section = &mo->sections[mo->section_count];
    ms_zero(section, sizeof *section);
    section->name = ms_mo_fixed_name(rd);
    section->segment = ms_mo_fixed_name(rd);
    section->addr = ms_mo_word(mo, rd);
    section->size = ms_mo_word(mo, rd);
    uint32_t off = ms_rd_u32(rd);
    ms_rd_u32(rd); /* align */
    section->reloc_off = ms_rd_u32(rd);
    section->reloc_count = ms_rd_u32(rd);
    section->flags = ms_rd_u32(rd);
    section->reserved1 = ms_rd_u32(rd);
    section->reserved2 = ms_rd_u32(rd);
    if (mo->is_64)
        ms_rd_u32(rd); /* reserved3 */
    section->is_code = (section->flags & ms_S_ATTR_CODE) != 0;
    section->segment_index = mo->segment_count - 1;
    mo->section_count++;
    if (section->size == 0 || ms_mo_is_zero_fill(section->flags))
        return;
    if (mo->is_loaded) {
        const ms_mo_segment *segment = &mo->segments[section->segment_index];
        if (section->addr >= segment->addr)
            section->bytes =
                ms_span_sub(ms_mo_segment_bytes(mo, segment), section->addr - segment->addr, section->size);
        mo->damage_count += section->bytes.len == 0;
        return;
    }
    if (off == 0) /* a dSYM names the binary's sections without having their bytes */
        return;
    section->off = ms_mo_carry(mo, off, *previous);
    *previous = section->off;
    section->bytes = ms_span_sub(mo->bytes, section->off, section->size);
    if (section->bytes.len == 0)
        mo->damage_count++;
}

static void ms_mo_read_segment(ms_mo *mo, ms_rd *rd)
{
    ms_mo_segment *segment = &mo->segments[mo->segment_count];
    segment->name = ms_mo_fixed_name(rd);
    segment->addr = ms_mo_word(mo, rd);
    segment->size = ms_mo_word(mo, rd);
    segment->off = ms_mo_word(mo, rd);
    segment->file_size = ms_mo_word(mo, rd);
    ms_rd_u32(rd); /* maxprot */
    segment->initprot = ms_rd_u32(rd);
    segment->fixup_format = 0;
    segment->max_valid_pointer = 0;
    uint32_t count = ms_rd_u32(rd);
    ms_rd_u32(rd); /* flags */
    if (rd->failed)
        return;
    mo->segment_count++;
    bool is_object =
        mo->slice.filetype == ms_MH_OBJECT; /* all its sections are in one segment without a name */
    if (ms_str_is(segment->name, "__TEXT") || (is_object && mo->segment_count == 1)) {
        mo->text_addr = segment->addr;
        mo->text_size = segment->size;
    }
    if (ms_str_is(segment->name, "__TEXT_EXEC"))
        mo->text_exec_addr = segment->addr;
    uint64_t previous = segment->off;
    size_t one = mo->is_64 ? 80 : 68;
    for (; count > 0 && ms_rd_left(rd) >= one; count--)
        ms_mo_read_section(mo, rd, &previous);
    if (count > 0)
        mo->damage_count++;
}

static void ms_mo_read_build_version(ms_mo *mo, ms_rd *rd)
{
    mo->platform = ms_rd_u32(rd);
    mo->min_os = ms_rd_u32(rd);
    mo->sdk = ms_rd_u32(rd);
}

static void ms_mo_read_version_min(ms_mo *mo, ms_rd *rd, uint32_t platform)
{
    mo->platform = platform;
    mo->min_os = ms_rd_u32(rd);
    mo->sdk = ms_rd_u32(rd);
}

static void ms_mo_read_linkedit(ms_rd *rd, uint64_t *off, uint32_t *size)
{
    *off = ms_rd_u32(rd);
    *size = ms_rd_u32(rd);
}

static void ms_mo_read_dyld_info(ms_mo *mo, ms_rd *rd)
{
    ms_rd_skip(rd, 8); /* rebase */
    ms_mo_read_linkedit(rd, &mo->loads.bind_off, &mo->loads.bind_size);
    ms_rd_skip(rd, 8); /* weak bind */
    ms_mo_read_linkedit(rd, &mo->loads.lazy_bind_off, &mo->loads.lazy_bind_size);
    ms_mo_read_linkedit(rd, &mo->loads.exports_off, &mo->loads.exports_size);
}

static void ms_mo_read_command(ms_mo *mo, uint32_t command, ms_rd *rd)
{
    ms_mo_loads *loads = &mo->loads;
    switch (command & ~ms_LC_REQ_DYLD) {
    case ms_LC_SEGMENT:
    case ms_LC_SEGMENT_64: ms_mo_read_segment(mo, rd); break;
    case ms_LC_SYMTAB:
        ms_mo_read_linkedit(rd, &loads->sym_off, &loads->sym_count);
        ms_mo_read_linkedit(rd, &loads->str_off, &loads->str_size);
        break;
    case ms_LC_DYSYMTAB:
        ms_rd_skip(rd, 48);
        ms_mo_read_linkedit(rd, &loads->indirect_off, &loads->indirect_count);
        break;
    case ms_LC_UUID: {
        ms_span uuid = ms_rd_span(rd, 16);
        ms_copy(mo->slice.uuid.v, uuid.ptr, uuid.len);
        mo->slice.has_uuid = uuid.len == 16;
        break;
    }
    case ms_LC_DYLD_INFO: ms_mo_read_dyld_info(mo, rd); break;
    case ms_LC_FUNCTION_STARTS: ms_mo_read_linkedit(rd, &loads->starts_off, &loads->starts_size); break;
    case ms_LC_DYLD_EXPORTS_TRIE: ms_mo_read_linkedit(rd, &loads->exports_off, &loads->exports_size); break;
    case ms_LC_DYLD_CHAINED_FIXUPS: ms_mo_read_linkedit(rd, &loads->fixups_off, &loads->fixups_size); break;
    case ms_LC_SOURCE_VERSION: mo->source_version = ms_rd_u64(rd); break;
    case ms_LC_BUILD_VERSION: ms_mo_read_build_version(mo, rd); break;
    case ms_LC_VERSION_MIN_MACOSX: ms_mo_read_version_min(mo, rd, 1); break;
    case ms_LC_VERSION_MIN_IPHONEOS: ms_mo_read_version_min(mo, rd, 2); break;
    case ms_LC_VERSION_MIN_TVOS: ms_mo_read_version_min(mo, rd, 3); break;
    case ms_LC_VERSION_MIN_WATCHOS: ms_mo_read_version_min(mo, rd, 4); break;
    default: break;
    }
    if (rd->failed)
        mo->damage_count++;
}

/* Room for all segments and sections: no command is smaller than 8 bytes, no segment than 56, no section than
 * 68. */
static bool ms_mo_make_room(ms_mo *mo, ms_arena *arena, size_t commands_size)
{
    mo->segments = (ms_mo_segment *)ms_arena_alloc(arena, commands_size / 56 + 1, sizeof *mo->segments);
    mo->sections = (ms_mo_section *)ms_arena_alloc(arena, commands_size / 68 + 1, sizeof *mo->sections);
    return mo->segments != NULL && mo->sections != NULL;
}

/* In a loaded image __TEXT must be known before any address can be followed. */
static void ms_mo_find_text(ms_mo *mo, ms_rd rd)
{
    while (ms_rd_left(&rd) >= 8) {
        uint32_t command = ms_rd_u32(&rd);
        uint32_t size = ms_rd_u32(&rd);
        ms_rd body = ms_rd_make(ms_rd_span(&rd, size < 8 ? 0 : size - 8));
        if (size < 8)
            return;
        if ((command == ms_LC_SEGMENT || command == ms_LC_SEGMENT_64) &&
            ms_str_is(ms_mo_fixed_name(&body), "__TEXT"))
            mo->text_addr = ms_mo_word(mo, &body);
    }
}

/* Code is where sections say so; a file without a single such flag goes by its segments' protection. */
static void ms_mo_mark_code(ms_mo *mo)
{
    for (uint32_t i = 0; i < mo->section_count; i++) {
        if (mo->sections[i].is_code)
            return;
    }
    for (uint32_t i = 0; i < mo->section_count; i++) {
        const ms_mo_segment *segment = &mo->segments[mo->sections[i].segment_index];
        mo->sections[i].is_code = ms_str_equal(mo->sections[i].segment, segment->name) &&
                                  (segment->initprot & ms_VM_PROT_EXECUTE) != 0;
    }
}

/* LC_DYLD_CHAINED_FIXUPS says for each segment how its pointers are encoded (fixup-chains.h:
 * dyld_chained_fixups_header, dyld_chained_starts_in_image, dyld_chained_starts_in_segment). The chains
 * themselves need not be walked: a pointer is decoded where it is read. */
static void ms_mo_read_fixup_formats(ms_mo *mo)
{
    ms_span fixups = ms_mo_linkedit(mo, mo->loads.fixups_off, mo->loads.fixups_size);
    ms_rd header = ms_rd_make(fixups);
    ms_rd_u32(&header); /* version */
    uint32_t starts_off = ms_rd_u32(&header);
    ms_rd starts = ms_rd_at(fixups, starts_off);
    uint32_t count = ms_rd_u32(&starts);
    for (uint32_t i = 0; i < count && i < mo->segment_count && !header.failed; i++) {
        uint32_t off = ms_rd_u32(&starts);
        ms_rd rd = ms_rd_at(fixups, (uint64_t)starts_off + off);
        ms_rd_skip(&rd, 6); /* size, page_size */
        uint16_t format = ms_rd_u16(&rd);
        ms_rd_u64(&rd); /* segment_offset */
        uint32_t max_valid_pointer = ms_rd_u32(&rd);
        if (off == 0 || starts.failed || rd.failed) /* 0: a segment without fixups */
            continue;
        mo->segments[i].fixup_format = format;
        mo->segments[i].max_valid_pointer = max_valid_pointer;
    }
}

/* Parses the load commands of one slice, mo->bytes, into mo. */
static machsym_result ms_mo_load(ms_mo *mo, ms_arena *arena, machsym_error *err)
{
    ms_rd rd = ms_rd_at(mo->bytes, mo->header_off);
    uint32_t magic = ms_rd_u32(&rd);
    uint64_t at = mo->slice.offset;
    if (magic == ms_MH_CIGAM || magic == ms_MH_CIGAM_64)
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED,
                       "a big-endian (PowerPC) image; only little-endian ones are read", "Mach-O header", at);
    if (magic != ms_MH_MAGIC && magic != ms_MH_MAGIC_64)
        return ms_fail(err, MACHSYM_ERR_FORMAT, "not a Mach-O file", "Mach-O header", at);
    mo->is_64 = magic == ms_MH_MAGIC_64;
    mo->slice.cputype = ms_rd_u32(&rd);
    mo->slice.cpusubtype = ms_rd_u32(&rd);
    mo->slice.arch = ms_mo_arch_name(mo->slice.cputype, mo->slice.cpusubtype);
    mo->slice.filetype = ms_rd_u32(&rd);
    uint32_t count = ms_rd_u32(&rd);
    uint32_t size = ms_rd_u32(&rd);
    ms_rd_skip(&rd, mo->is_64 ? 8 : 4);
    if (rd.failed)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the file ends inside its header", "Mach-O header", at);
    size_t most = ms_rd_left(&rd);
    if ((mo->header_off != 0 || mo->slice.filetype == ms_MH_FILESET) && most > ms_MO_FILESET_COMMANDS)
        most = ms_MO_FILESET_COMMANDS;
    if (size > most) {
        size = (uint32_t)most;
        mo->damage_count++;
    }
    mo->commands = ms_rd_span(&rd, size);
    ms_rd commands = ms_rd_make(mo->commands);
    if (arena != NULL && !ms_mo_make_room(mo, arena, size))
        return ms_fail_memory(err);
    if (mo->is_loaded)
        ms_mo_find_text(mo, commands);
    for (; count > 0 && ms_rd_left(&commands) >= 8; count--) {
        uint32_t command = ms_rd_u32(&commands);
        uint32_t command_size = ms_rd_u32(&commands);
        if (command_size < 8 || command_size - 8 > ms_rd_left(&commands))
            break;
        ms_rd body = ms_rd_make(ms_rd_span(&commands, command_size - 8));
        uint32_t kind = command & ~ms_LC_REQ_DYLD;
        if (arena != NULL || (kind != ms_LC_SEGMENT && kind != ms_LC_SEGMENT_64))
            ms_mo_read_command(mo, command, &body);
    }
    if (count > 0)
        mo->damage_count++;
    if (arena != NULL) {
        ms_mo_mark_code(mo);
        ms_mo_read_fixup_formats(mo);
    }
    mo->fixup_base = mo->text_addr;
    return MACHSYM_OK;
}

/* ---- Kernel collections ---- */

/* Reads the next LC_FILESET_ENTRY; *at: where to go on in the load commands. */
static bool ms_mo_next_entry(const ms_mo *mo, uint64_t *at, machsym_entry *out)
{
    while (mo->slice.filetype == ms_MH_FILESET && *at < mo->commands.len) {
        ms_rd rd = ms_rd_at(mo->commands, *at);
        uint32_t command = ms_rd_u32(&rd);
        uint32_t size = ms_rd_u32(&rd);
        ms_span body = ms_rd_span(&rd, size < 8 ? 0 : size - 8);
        if (size < 8 || rd.failed)
            return false;
        *at += size;
        if ((command & ~ms_LC_REQ_DYLD) != ms_LC_FILESET_ENTRY)
            continue;
        ms_rd fields = ms_rd_make(body);
        out->addr = ms_rd_u64(&fields);
        out->offset = ms_rd_u64(&fields);
        uint32_t name = ms_rd_u32(&fields); /* counted from the begin of the command */
        ms_span rest = ms_span_from(body, name < 8 ? body.len : name - 8);
        out->name = ms_str_bounded((const char *)rest.ptr, rest.len);
        if (!fields.failed)
            return true;
    }
    return false;
}

/* In a collection the pointers of all images are encoded as its own header says, and count from its own
 * __TEXT. */
static void ms_mo_take_fixups(ms_mo *mo, const ms_mo *collection)
{
    mo->fixup_base = collection->text_addr;
    for (uint32_t i = 0; i < mo->segment_count; i++) {
        ms_mo_segment *own = &mo->segments[i];
        for (uint32_t j = 0; j < collection->segment_count && j < ms_MO_FILESET_SEGMENTS; j++) {
            const ms_mo_segment *segment = &collection->segments[j];
            MACHSYM_COUNT_WORK(1);
            if (own->addr < segment->addr || own->addr - segment->addr >= segment->size ||
                segment->fixup_format == 0)
                continue;
            own->fixup_format = segment->fixup_format;
            own->max_valid_pointer = segment->max_valid_pointer;
        }
    }
}

/* Parses the image of this name in the collection that mo->bytes is. */
static machsym_result ms_mo_load_entry(ms_mo *mo, machsym_str name, ms_arena *arena, machsym_error *err)
{
    ms_mo collection = *mo;
    machsym_entry entry;
    uint64_t at = 0;
    machsym_result result = ms_mo_load(&collection, arena, err);
    if (result != MACHSYM_OK)
        return result;
    if (collection.slice.filetype != ms_MH_FILESET)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "no kernel collection: it has no images by name",
                       "Mach-O header", mo->slice.offset);
    do {
        if (!ms_mo_next_entry(&collection, &at, &entry))
            return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the kernel collection has no image of this name",
                           "load commands", mo->slice.offset);
    } while (!ms_str_equal(entry.name, name) || entry.offset == 0);
    mo->header_off = entry.offset;
    mo->slice.offset += entry.offset;
    mo->slice.size = ms_span_from(mo->bytes, entry.offset).len;
    mo->slice.has_uuid = false;
    result = ms_mo_load(mo, arena, err);
    if (result == MACHSYM_OK)
        ms_mo_take_fixups(mo, &collection);
    return result;
}

static const ms_mo_section *ms_mo_section_named(const ms_mo *mo, const char *segment, const char *name)
{
    for (uint32_t i = 0; i < mo->section_count; i++) {
        const ms_mo_section *section = &mo->sections[i];
        MACHSYM_COUNT_WORK(1);
        if (ms_str_is(section->name, name) && (segment == NULL || ms_str_is(section->segment, segment)))
            return section;
    }
    return NULL;
}

/* ---- The image's own data: what lies at an address, what a pointer there stands for ---- */

/* fixup-chains.h: how a pointer with a fixup is encoded. Formats of the shared cache and of firmware are left
 * out. */
enum {
    ms_DYLD_CHAINED_PTR_ARM64E = 1,
    ms_DYLD_CHAINED_PTR_64 = 2,
    ms_DYLD_CHAINED_PTR_32 = 3,
    ms_DYLD_CHAINED_PTR_64_OFFSET = 6,
    ms_DYLD_CHAINED_PTR_ARM64E_KERNEL = 7,
    ms_DYLD_CHAINED_PTR_64_KERNEL_CACHE = 8,
    ms_DYLD_CHAINED_PTR_ARM64E_USERLAND = 9,
    ms_DYLD_CHAINED_PTR_X86_64_KERNEL_CACHE = 11,
    ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24 = 12
};

/* loader.h: the upper half of a byte of bind code, and the types of relocation used. */
enum {
    ms_BIND_OPCODE_DONE = 0x00,
    ms_BIND_OPCODE_SET_DYLIB_ORDINAL_ULEB = 0x20,
    ms_BIND_OPCODE_SET_SYMBOL_TRAILING_FLAGS_IMM = 0x40,
    ms_BIND_OPCODE_SET_ADDEND_SLEB = 0x60,
    ms_BIND_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB = 0x70,
    ms_BIND_OPCODE_ADD_ADDR_ULEB = 0x80,
    ms_BIND_OPCODE_DO_BIND = 0x90,
    ms_BIND_OPCODE_DO_BIND_ADD_ADDR_ULEB = 0xa0,
    ms_BIND_OPCODE_DO_BIND_ADD_ADDR_IMM_SCALED = 0xb0,
    ms_BIND_OPCODE_DO_BIND_ULEB_TIMES_SKIPPING_ULEB = 0xc0,
    ms_BIND_OPCODE_THREADED = 0xd0
};

/* What a pointer stands for; all zero: NULL, or nothing that could be decoded. */
typedef struct ms_mo_pointer {
    uint64_t addr;      /* 0 for an import */
    machsym_str import; /* the symbol in another image, with its underscore */
} ms_mo_pointer;

/* In ms_mo_data's binds: the item is no index of a name but an address of this image. */
#define ms_MO_BIND_IS_VALUE ((uint64_t)1 << 63)

/* Where a section lies that was asked for lately. */
typedef struct ms_mo_recent {
    uint64_t lo;
    uint64_t size;
    const ms_mo_section *section;
} ms_mo_recent;

enum { ms_MO_RECENT = 4 }; /* lists of methods, references, names and code are read in turn */

/* Reads the data of one slice by address. */
typedef struct ms_mo_data {
    const ms_mo *mo;
    ms_segs sections; /* which section holds an address */
    ms_mo_recent recent[ms_MO_RECENT];
    unsigned recent_at; /* the one that is replaced next */
    ms_span imports;    /* of chained fixups */
    unsigned one;       /* size of an import */
    ms_span names;      /* of imports */
    ms_key *binds;      /* sorted; address, index into bind_names (or ms_MO_BIND_IS_VALUE) */
    size_t bind_count;
    size_t bind_cap;
    machsym_str *bind_names;
    size_t name_count;
    size_t name_cap;
    bool is_threaded; /* the first arm64e files: bind code without chains' headers, pointers as in ARM64E */
    uint64_t
        budget; /* bytes and records that may still be read: what a file repeats without end stops here */
    bool is_spent;
    uint32_t damage_count;
} ms_mo_data;

/* Every reader of metadata starts with a full budget, so that none can starve the next. Real files need less
 * than their size for all of them. */
static void ms_mo_refill(ms_mo_data *d)
{
    d->budget = (uint64_t)d->mo->bytes.len * 4 + 0x1000;
    d->is_spent = false;
}

/* Takes cost from the budget. Returns false once it is spent. */
static bool ms_mo_spend(ms_mo_data *d, uint64_t cost)
{
    if (cost > d->budget) {
        d->damage_count += !d->is_spent;
        d->is_spent = true;
        d->budget = 0;
        return false;
    }
    d->budget -= cost;
    return true;
}

/* The section whose bytes hold an address; NULL when the file has none. */
static const ms_mo_section *ms_mo_section_at(ms_mo_data *d, uint64_t addr)
{
    MACHSYM_COUNT_WORK(1);
    for (unsigned i = 0; i < ms_MO_RECENT; i++) {
        if (addr - d->recent[i].lo < d->recent[i].size)
            return d->recent[i].section;
    }
    size_t at = ms_seg_find(d->sections.v, d->sections.count, addr);
    if (at + 1 >= d->sections.count ||
        d->sections.v[at].owner == ms_SEG_NONE) /* the last segment is nobody's */
        return NULL;
    ms_mo_recent *recent = &d->recent[d->recent_at++ % ms_MO_RECENT];
    recent->lo = d->sections.v[at].lo;
    recent->size = d->sections.v[at + 1].lo - recent->lo;
    recent->section = &d->mo->sections[d->sections.v[at].owner];
    return recent->section;
}

/* What is left of the section at an address from there on; empty when the file has no such bytes. */
static ms_span ms_mo_from_addr(ms_mo_data *d, uint64_t addr)
{
    const ms_mo_section *section = ms_mo_section_at(d, addr);
    return section == NULL ? ms_span_make(NULL, 0) : ms_span_from(section->bytes, addr - section->addr);
}

static ms_span ms_mo_at_addr(ms_mo_data *d, uint64_t addr, uint64_t len)
{
    return ms_span_sub(ms_mo_from_addr(d, addr), 0, len);
}

static uint32_t ms_mo_u32_at(ms_mo_data *d, uint64_t addr)
{
    ms_span span = ms_mo_at_addr(d, addr, 4);
    return span.len == 4 ? ms_rd_raw_u32(span.ptr) : 0;
}

static unsigned ms_mo_pointer_size(const ms_mo_data *d)
{
    return d->mo->is_64 ? 8 : 4;
}

/* The text up to the NUL in what is left of a section or table; empty when there is none. Paid for. */
static machsym_str ms_mo_str_in(ms_mo_data *d, ms_span rest)
{
    if (rest.len > d->budget)
        rest.len = (size_t)d->budget;
    machsym_str str = ms_rd_str_at(rest, 0);
    ms_mo_spend(d, str.ptr != NULL ? str.len + 1 : rest.len);
    return str;
}

static machsym_str ms_mo_str_at(ms_mo_data *d, uint64_t addr)
{
    return ms_mo_str_in(d, ms_mo_from_addr(d, addr));
}

/* An address relative to its own place, 32 bits wide; 0 when it is NULL or missing. */
static uint64_t ms_mo_relative_at(ms_mo_data *d, uint64_t addr)
{
    uint32_t raw = ms_mo_u32_at(d, addr);
    return raw == 0 ? 0 : addr + (uint64_t)(int64_t)(int32_t)raw;
}

/* ---- Imports ---- */

static machsym_str ms_mo_import(ms_mo_data *d, uint64_t ordinal)
{
    if (d->is_threaded)
        return ordinal < d->name_count ? d->bind_names[ordinal] : ms_str_empty();
    if (d->one == 0 || ordinal >= d->imports.len / d->one)
        return ms_str_empty();
    const uint8_t *p = d->imports.ptr + ordinal * d->one;
    uint64_t off = d->one == 16 ? ms_rd_raw_u64(p) >> 32 : ms_rd_raw_u32(p) >> 9;
    return ms_mo_str_in(d, ms_span_from(d->names, off));
}

/* dyld_chained_fixups_header: where imports and their names are. */
static void ms_mo_read_imports(ms_mo_data *d)
{
    ms_span fixups = ms_mo_linkedit(d->mo, d->mo->loads.fixups_off, d->mo->loads.fixups_size);
    ms_rd rd = ms_rd_make(fixups);
    ms_rd_skip(&rd, 8); /* version, starts_offset */
    uint32_t imports_off = ms_rd_u32(&rd);
    uint32_t symbols_off = ms_rd_u32(&rd);
    uint32_t count = ms_rd_u32(&rd);
    uint32_t format = ms_rd_u32(&rd); /* 1: 32 bits; 2: with an addend; 3: 64 bits with one */
    uint32_t symbols_format = ms_rd_u32(&rd);
    if (rd.failed || symbols_format != 0 || format < 1 || format > 3) /* 1: zlib, which no linker writes */
        return;
    d->one = format == 1 ? 4 : format == 2 ? 8 : 16;
    d->imports = ms_span_sub(fixups, imports_off, (uint64_t)count * d->one);
    d->names = ms_span_from(fixups, symbols_off);
}

static void ms_mo_add_bind(ms_mo_data *d, uint64_t addr, uint64_t item, ms_arena *arena)
{
    ms_key *v = (ms_key *)ms_arena_grow(arena, d->binds, d->bind_count, &d->bind_cap, sizeof *v);
    if (v == NULL)
        return;
    d->binds = v;
    v[d->bind_count].key = addr;
    v[d->bind_count++].item = item;
}

static void ms_mo_add_bind_name(ms_mo_data *d, machsym_str name, ms_arena *arena)
{
    machsym_str *v =
        (machsym_str *)ms_arena_grow(arena, d->bind_names, d->name_count, &d->name_cap, sizeof *v);
    if (v == NULL)
        return;
    d->bind_names = v;
    v[d->name_count++] = name;
}

/* Where bind code stands: the variables of its little machine. */
typedef struct ms_mo_binder {
    uint64_t addr;
    uint64_t times;
    uint64_t skip;
    machsym_str name;
} ms_mo_binder;

/* Binds as often as one instruction says; in threaded files it only adds to the list of imports. */
static void ms_mo_do_bind(ms_mo_data *d, ms_mo_binder *b, ms_arena *arena)
{
    if (d->is_threaded) {
        ms_mo_add_bind_name(d, b->name, arena);
        return;
    }
    for (; b->times > 0 && d->name_count > 0 && ms_mo_spend(d, 1) && !arena->oom; b->times--) {
        ms_mo_add_bind(d, b->addr, d->name_count - 1, arena);
        b->addr += b->skip + ms_mo_pointer_size(d);
    }
}

/* Runs the bind code of LC_DYLD_INFO; lazy binds are of stubs only, which have names already. */
static void ms_mo_read_binds(ms_mo_data *d, ms_span code, ms_arena *arena)
{
    ms_rd rd = ms_rd_make(code);
    ms_mo_binder b;
    ms_zero(&b, sizeof b);
    while (ms_rd_left(&rd) > 0 && !arena->oom) {
        uint8_t byte = ms_rd_u8(&rd);
        uint8_t low = byte & 0xf;
        b.times = 1;
        b.skip = 0;
        switch (byte & 0xf0) {
        case ms_BIND_OPCODE_DONE: return;
        case ms_BIND_OPCODE_SET_DYLIB_ORDINAL_ULEB: ms_rd_uleb(&rd); break;
        case ms_BIND_OPCODE_SET_ADDEND_SLEB: ms_rd_sleb(&rd); break;
        case ms_BIND_OPCODE_SET_SYMBOL_TRAILING_FLAGS_IMM:
            b.name = ms_rd_str(&rd);
            if (!d->is_threaded)
                ms_mo_add_bind_name(d, b.name, arena);
            break;
        case ms_BIND_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB:
            b.addr = ms_rd_uleb(&rd) + (low < d->mo->segment_count ? d->mo->segments[low].addr : 0);
            break;
        case ms_BIND_OPCODE_ADD_ADDR_ULEB: b.addr += ms_rd_uleb(&rd); break;
        case ms_BIND_OPCODE_DO_BIND: ms_mo_do_bind(d, &b, arena); break;
        case ms_BIND_OPCODE_DO_BIND_ADD_ADDR_ULEB:
            b.skip = ms_rd_uleb(&rd);
            ms_mo_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_DO_BIND_ADD_ADDR_IMM_SCALED:
            b.skip = (uint64_t)low * ms_mo_pointer_size(d);
            ms_mo_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_DO_BIND_ULEB_TIMES_SKIPPING_ULEB:
            b.times = ms_rd_uleb(&rd);
            b.skip = ms_rd_uleb(&rd);
            ms_mo_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_THREADED:
            if (low == 0) { /* the binds that follow fill a table of so many imports; 1 walks the chains */
                ms_rd_uleb(&rd);
                d->is_threaded = true;
                d->name_count = 0;
            }
            break;
        default: break; /* dylib ordinals and types in the low bits */
        }
    }
    d->damage_count += rd.failed;
}

/* ---- Pointers ---- */

/* A plain address without the bits that arm64e signs; bit 55 tells kernel from user space. */
static uint64_t ms_mo_plain(const ms_mo_data *d, uint64_t raw)
{
    if (d->mo->slice.cputype != ms_CPU_ARM64)
        return raw;
    uint64_t low = ((uint64_t)1 << 47) - 1;
    return (raw & ((uint64_t)1 << 55)) == 0 ? raw & low : raw | ~low;
}

static ms_mo_pointer ms_mo_to_import(ms_mo_data *d, uint64_t ordinal)
{
    ms_mo_pointer pointer = {0, ms_mo_import(d, ordinal)};
    return pointer;
}

/* DYLD_CHAINED_PTR_ARM64E and its kin: bit 63 authenticated, bit 62 an import. */
static ms_mo_pointer ms_mo_decode_arm64e(ms_mo_data *d, unsigned format, uint64_t raw)
{
    ms_mo_pointer pointer = {0, {NULL, 0}};
    bool is_auth = raw >> 63 != 0;
    bool is_24 = format == ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24;
    if ((raw >> 62 & 1) != 0)
        return ms_mo_to_import(d, raw & (is_24 ? 0xffffff : 0xffff));
    if (is_auth)
        pointer.addr = d->mo->fixup_base + (raw & 0xffffffff);
    else
        pointer.addr = (raw & 0x7ffffffffff) + (format == ms_DYLD_CHAINED_PTR_ARM64E ? 0 : d->mo->fixup_base);
    return pointer;
}

/* Undoes the encoding of a pointer that is not NULL. */
static ms_mo_pointer ms_mo_decode(ms_mo_data *d, const ms_mo_segment *segment, uint64_t raw)
{
    ms_mo_pointer pointer = {0, {NULL, 0}};
    unsigned format = segment->fixup_format;
    uint64_t base = d->mo->fixup_base;
    switch (format) {
    case 0: pointer.addr = ms_mo_plain(d, raw); break;
    case ms_DYLD_CHAINED_PTR_ARM64E:
    case ms_DYLD_CHAINED_PTR_ARM64E_KERNEL:
    case ms_DYLD_CHAINED_PTR_ARM64E_USERLAND:
    case ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24: return ms_mo_decode_arm64e(d, format, raw);
    case ms_DYLD_CHAINED_PTR_64:
    case ms_DYLD_CHAINED_PTR_64_OFFSET:
        if (raw >> 63 != 0)
            return ms_mo_to_import(d, raw & 0xffffff);
        pointer.addr = (raw & 0xfffffffff) + (format == ms_DYLD_CHAINED_PTR_64 ? 0 : base);
        break;
    case ms_DYLD_CHAINED_PTR_32:
        if (raw >> 31 != 0)
            return ms_mo_to_import(d, raw & 0xfffff);
        if ((raw & 0x3ffffff) <= segment->max_valid_pointer)
            pointer.addr = raw & 0x3ffffff;
        break;
    case ms_DYLD_CHAINED_PTR_64_KERNEL_CACHE:
    case ms_DYLD_CHAINED_PTR_X86_64_KERNEL_CACHE:
        if ((raw >> 30 & 3) == 0) /* other levels are other files of the cache */
            pointer.addr = base + (raw & 0x3fffffff);
        break;
    default: break;
    }
    return pointer;
}

/* What the pointer at an address stands for. */
static ms_mo_pointer ms_mo_pointer_at(ms_mo_data *d, uint64_t addr)
{
    ms_mo_pointer pointer = {0, {NULL, 0}};
    const ms_mo_section *section = ms_mo_section_at(d, addr);
    ms_span span = ms_mo_at_addr(d, addr, ms_mo_pointer_size(d));
    if (section == NULL || span.len == 0)
        return pointer;
    uint64_t raw = d->mo->is_64 ? ms_rd_raw_u64(span.ptr) : ms_rd_raw_u32(span.ptr);
    size_t at = ms_upper_bound(d->binds, d->bind_count, addr);
    if (at > 0 && d->binds[at - 1].key == addr) {
        uint64_t item = d->binds[at - 1].item;
        if ((item & ms_MO_BIND_IS_VALUE) != 0)
            pointer.addr = (item & ~ms_MO_BIND_IS_VALUE) + raw;
        else
            pointer.import = d->bind_names[item];
        return pointer;
    }
    if (raw == 0)
        return pointer;
    if (d->mo->is_loaded) {
        pointer.addr = ms_mo_plain(d, raw) - d->mo->slide;
        return pointer;
    }
    if (d->is_threaded)
        return ms_mo_decode_arm64e(d, ms_DYLD_CHAINED_PTR_ARM64E, raw);
    return ms_mo_decode(d, &d->mo->segments[section->segment_index], raw);
}

/* Relocations of an object file: pointers to symbols, which hold only what is added to them. */
static void ms_mo_read_relocations(ms_mo_data *d, const ms_mo_section *section, ms_arena *arena)
{
    const ms_mo *mo = d->mo;
    uint32_t one = mo->is_64 ? 16 : 12; /* nlist.h */
    uint32_t want_length = mo->is_64 ? 3 : 2;
    ms_span nlists = ms_mo_table(mo, mo->loads.sym_off, mo->loads.sym_count, one);
    ms_span strings = ms_mo_table(mo, mo->loads.str_off, mo->loads.str_size, 1);
    ms_rd rd = ms_rd_make(ms_mo_table(mo, section->reloc_off, section->reloc_count, 8));
    while (ms_rd_left(&rd) >= 8 && ms_mo_spend(d, 1) && !arena->oom) {
        uint32_t off = ms_rd_u32(&rd);
        uint32_t bits = ms_rd_u32(&rd); /* reloc.h: symbol 24 bits, pcrel 1, length 2, extern 1, type 4 */
        uint32_t index = bits & 0xffffff;
        bool is_pointer = (bits >> 24 & 1) == 0 && (bits >> 25 & 3) == want_length && bits >> 28 == 0;
        if (off >> 31 != 0 || !is_pointer || (bits >> 27 & 1) == 0 || index >= nlists.len / one)
            continue; /* scattered, or by section: then the file holds the address */
        const uint8_t *p = nlists.ptr + (size_t)index * one;
        uint64_t value = mo->is_64 ? ms_rd_raw_u64(p + 8) : ms_rd_raw_u32(p + 8);
        bool is_undefined = (p[4] & 0x0e) == 0;
        if (is_undefined)
            ms_mo_add_bind_name(d, ms_mo_str_in(d, ms_span_from(strings, ms_rd_raw_u32(p))), arena);
        ms_mo_add_bind(d, section->addr + off, is_undefined ? d->name_count - 1 : ms_MO_BIND_IS_VALUE | value,
                       arena);
    }
}

/* Makes a slice's data readable by address. Failure shows as oom of an arena. */
static void ms_mo_data_open(ms_mo_data *d, const ms_mo *mo, ms_arena *arena)
{
    ms_zero(d, sizeof *d);
    d->mo = mo;
    ms_mo_refill(d);
    d->sections.arena = arena;
    ms_piece *pieces = (ms_piece *)ms_arena_alloc(arena, mo->section_count, sizeof *pieces);
    size_t count = 0;
    for (uint32_t i = 0; i < mo->section_count && pieces != NULL; i++) {
        const ms_mo_section *section = &mo->sections[i];
        uint64_t hi;
        if (section->bytes.len == 0 || !ms_add_ok(section->addr, section->bytes.len, &hi))
            continue;
        pieces[count].lo = section->addr;
        pieces[count].hi = hi;
        pieces[count++].owner = i;
    }
    ms_seg_build(pieces, count, arena, &d->sections);
    ms_mo_read_imports(d);
    ms_mo_read_binds(d, ms_mo_linkedit(mo, mo->loads.bind_off, mo->loads.bind_size), arena);
    for (uint32_t i = 0; i < mo->section_count && mo->slice.filetype == ms_MH_OBJECT; i++) {
        if ((mo->sections[i].flags & ms_S_ATTR_DEBUG) == 0)
            ms_mo_read_relocations(d, &mo->sections[i], arena);
    }
    ms_key_heap_sort(d->binds, d->bind_count);
}

/* ---- Fat files ---- */

/* Reads slice number index of a file from its headers.
 * Returns: false when there is none. *count: how many the file has; a thin file is its own only slice. */
static bool ms_mo_slice_at(ms_span file, uint32_t index, uint32_t *count, ms_span *slice, uint64_t *offset)
{
    ms_rd rd = ms_rd_make(file);
    uint32_t magic = ms_rd_be32(&rd);
    size_t one = magic == ms_FAT_MAGIC_64 ? 32 : 20;
    *count = 1;
    *offset = 0;
    *slice = file;
    if (magic != ms_FAT_MAGIC_32 && magic != ms_FAT_MAGIC_64)
        return index == 0;
    *count = ms_rd_be32(&rd);
    if (*count > ms_rd_left(&rd) / one)
        *count = (uint32_t)(ms_rd_left(&rd) / one);
    if (*count > ms_MO_SLICES)
        *count = ms_MO_SLICES;
    if (index >= *count)
        return false;
    ms_rd_skip(&rd, (uint64_t)index * one + 8);
    *offset = magic == ms_FAT_MAGIC_64 ? ms_rd_be64(&rd) : ms_rd_be32(&rd);
    uint64_t size = magic == ms_FAT_MAGIC_64 ? ms_rd_be64(&rd) : ms_rd_be32(&rd);
    *slice = ms_span_sub(file, *offset, size);
    if (slice->len == 0)
        *slice = ms_span_from(file, *offset); /* cut short: what is left may still answer */
    return true;
}

/* Reads the header, UUID and symbol table commands of a slice, without its sections. */
static machsym_result ms_mo_peek(ms_span slice, uint64_t offset, ms_mo *mo, machsym_error *err)
{
    ms_zero(mo, sizeof *mo);
    mo->bytes = slice;
    mo->slice.offset = offset;
    mo->slice.size = slice.len;
    return ms_mo_load(mo, NULL, err);
}

/* What a file is that is no Mach-O, for the error. */
static machsym_result ms_mo_refuse(ms_span file, machsym_error *err)
{
    machsym_str text = ms_str_make((const char *)file.ptr, file.len);
    if (file.len == 0)
        return ms_fail(err, MACHSYM_ERR_FORMAT, "the file is empty", "", 0);
    if (ms_str_begins(text, "\177ELF"))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "an ELF file, not Mach-O", "", 0);
    if (ms_str_begins(text, "!<arch>\n"))
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED,
                       "a static library; name a linked file or an object in it", "", 0);
    return ms_fail(err, MACHSYM_ERR_FORMAT, "not a Mach-O file", "", 0);
}

static bool ms_mo_same_uuid(const machsym_slice *slice, const machsym_uuid *uuid)
{
    return slice->has_uuid && ms_equal(slice->uuid.v, uuid->v, sizeof uuid->v);
}

/* Chooses the slice that arch and uuid (each may be NULL) ask for.
 * arm64e is content with arm64, as Apple's tools are; the reverse is not. */
static machsym_result ms_mo_choose(ms_span file, const char *arch, const machsym_uuid *uuid, ms_mo *out,
                                   machsym_error *err)
{
    ms_span slice;
    uint64_t offset = 0;
    uint32_t count = 0;
    uint32_t matches = 0;
    bool uuid_seen = false;
    bool by_name = false;
    ms_mo mo;
    machsym_result first_error = MACHSYM_OK;
    for (uint32_t i = 0; ms_mo_slice_at(file, i, &count, &slice, &offset); i++) {
        machsym_result result = ms_mo_peek(slice, offset, &mo, first_error == MACHSYM_OK ? err : NULL);
        if (result != MACHSYM_OK) {
            first_error = result;
            continue;
        }
        if (uuid != NULL && !ms_mo_same_uuid(&mo.slice, uuid))
            continue;
        uuid_seen = true;
        bool exact = arch == NULL || ms_str_is(ms_str_from_c(arch), mo.slice.arch);
        bool similar = !exact && ms_str_is(ms_str_from_c(arch), "arm64e") &&
                       ms_str_is(ms_str_from_c(mo.slice.arch), "arm64");
        if (!exact && !(similar && !by_name))
            continue;
        if (exact && arch != NULL && by_name)
            continue; /* the first of equals */
        by_name = by_name || (exact && arch != NULL);
        matches++;
        *out = mo;
    }
    if (count == 0)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "a fat file without slices", "fat header", 4);
    if (matches == 0 && first_error != MACHSYM_OK)
        return first_error;
    if (matches == 0 && uuid != NULL && !uuid_seen)
        return ms_fail(err, MACHSYM_ERR_UUID, "the file has no slice with this UUID", "", 0);
    if (matches == 0)
        return ms_fail(err, MACHSYM_ERR_ARCH, "the file has no slice for this architecture", "", 0);
    if (matches > 1 && arch == NULL && uuid == NULL)
        return ms_fail(err, MACHSYM_ERR_AMBIGUOUS,
                       "the file has several slices; name an architecture or a UUID", "", 0);
    return MACHSYM_OK;
}

/* ---- Files ---- */

/* A whole file, from the caller's bytes or opened by us. */
typedef struct ms_mo_input {
    ms_span bytes;
    char *path; /* malloc'd: what was opened in the end; NULL for the caller's bytes */
#ifndef MACHSYM_NO_OS
    ms_os_file file;
#endif
} ms_mo_input;

static void ms_mo_input_close(ms_mo_input *input)
{
#ifndef MACHSYM_NO_OS
    ms_os_unmap(&input->file);
    free(input->path);
#endif
    input->path = NULL;
    input->bytes = ms_span_make(NULL, 0);
}

#ifndef MACHSYM_NO_OS
static char *ms_mo_text(machsym_str a, const char *b, machsym_str c)
{
    size_t b_len = strlen(b);
    char *text = (char *)malloc(a.len + b_len + c.len + 1);
    if (text == NULL)
        return NULL;
    ms_copy(text, a.ptr, a.len);
    ms_copy(text + a.len, b, b_len);
    ms_copy(text + a.len + b_len, c.ptr, c.len);
    text[a.len + b_len + c.len] = 0;
    return text;
}

static machsym_str ms_mo_without_slashes(const char *path)
{
    machsym_str text = ms_str_from_c(path);
    while (text.len > 1 && text.ptr[text.len - 1] == '/')
        text.len--;
    return text;
}

/* The DWARF file inside a bundle: the one named like the bundle, else the first. malloc'd; NULL when there is
 * none. */
static char *ms_mo_in_bundle(const char *bundle)
{
    machsym_str path = ms_mo_without_slashes(bundle);
    machsym_str name = ms_str_base_name(path);
    if (ms_str_ends(name, ".dSYM"))
        name.len -= 5;
    char *same = ms_mo_text(path, "/Contents/Resources/DWARF/", name);
    if (same != NULL && ms_os_is_file(same))
        return same;
    free(same);
    char *folder = ms_mo_text(path, "/Contents/Resources/DWARF", ms_str_empty());
    char *first = folder != NULL ? ms_os_first_file(folder) : NULL;
    free(folder);
    return first;
}

/* A file that ms_os_map did not open. */
static machsym_result ms_mo_fail_file(machsym_error *err, int code)
{
    if (code == ms_OS_NO_FILE)
        return ms_fail(err, MACHSYM_ERR_IO, "a FIFO or a device, not a regular file", "", 0);
    ms_fail(err, MACHSYM_ERR_IO, "the file cannot be read", "", 0);
    if (err != NULL)
        err->os_errno = code;
    return MACHSYM_ERR_IO;
}

static machsym_result ms_mo_open_path(const char *path, uint32_t flags, ms_mo_input *input,
                                      machsym_error *err)
{
    if (ms_os_is_folder(path)) {
        input->path = ms_mo_in_bundle(path);
        if (input->path == NULL)
            return ms_fail(
                err, MACHSYM_ERR_IO,
                "a folder without Contents/Resources/DWARF/FILE in it; name a Mach-O file or a .dSYM", "", 0);
    } else {
        input->path = ms_mo_text(ms_str_from_c(path), "", ms_str_empty());
        if (input->path == NULL)
            return ms_fail_memory(err);
    }
    int code = ms_os_open(input->path, (flags & MACHSYM_OPEN_COPY) != 0, &input->file);
    if (code != 0)
        return ms_mo_fail_file(err, code);
    input->bytes = ms_span_make(input->file.ptr, input->file.len);
    return MACHSYM_OK;
}
#endif

/* Opens a path, or takes the caller's bytes. */
static machsym_result ms_mo_input_open(const char *path, machsym_bytes bytes, uint32_t flags,
                                       ms_mo_input *input, machsym_error *err)
{
    ms_zero(input, sizeof *input);
    machsym_result result = MACHSYM_OK;
    if (bytes.ptr != NULL)
        input->bytes = ms_span_make(bytes.ptr, bytes.len);
#ifndef MACHSYM_NO_OS
    else if (path != NULL)
        result = ms_mo_open_path(path, flags, input, err);
#endif
    else
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "neither a path nor bytes to open", "", 0);
    (void)path;
    (void)flags;
    if (result == MACHSYM_OK) {
        ms_rd rd = ms_rd_make(input->bytes);
        uint32_t magic = ms_rd_be32(&rd);
        bool is_mach = magic == ms_FAT_MAGIC_32 || magic == ms_FAT_MAGIC_64 || magic == ms_MH_MAGIC ||
                       magic == ms_MH_MAGIC_64 || magic == ms_MH_CIGAM || magic == ms_MH_CIGAM_64;
        if (!is_mach)
            result = ms_mo_refuse(input->bytes, err);
    }
    if (result != MACHSYM_OK)
        ms_mo_input_close(input);
    return result;
}

/* ==== >>symbols ============================================================================================
 * Job:    one table, sorted by address, of every name and start of a function outside the debug info.
 * Uses:   bytes, reader, memory, macho.
 * Offers: ms_sym_table, ms_sym_narrow, ms_sym_add, ms_sym_sort, ms_sym_find, ms_sym_exact, ms_sym_scan_exact.
 * Never:  names an address past the next start or the end of its section. */

/* nlist.h */
enum { ms_N_STAB = 0xe0, ms_N_PEXT = 0x10, ms_N_TYPE = 0x0e, ms_N_EXT = 0x01, ms_N_SECT = 0x0e };

#define ms_INDIRECT_SYMBOL_LOCAL 0x80000000u
#define ms_INDIRECT_SYMBOL_ABS   0x40000000u

/* An entry of LC_SYMTAB. */
typedef struct ms_sym_nlist {
    uint32_t strx;
    uint8_t type;
    uint64_t value;
} ms_sym_nlist;

static uint32_t ms_sym_nlist_size(const ms_mo *mo)
{
    return mo->is_64 ? 16 : 12;
}

static ms_span ms_sym_nlists(const ms_mo *mo)
{
    return ms_mo_table(mo, mo->loads.sym_off, mo->loads.sym_count, ms_sym_nlist_size(mo));
}

static ms_span ms_sym_strings(const ms_mo *mo)
{
    return ms_mo_table(mo, mo->loads.str_off, mo->loads.str_size, 1);
}

/* Reads entry number index of a table that has it. */
static inline ms_sym_nlist ms_sym_nlist_at(const ms_mo *mo, ms_span nlists, size_t index)
{
    const uint8_t *p = nlists.ptr + index * ms_sym_nlist_size(mo);
    ms_sym_nlist entry;
    MACHSYM_COUNT_WORK(1);
    entry.strx = ms_rd_raw_u32(p);
    entry.type = p[4];
    entry.value = mo->is_64 ? ms_rd_raw_u64(p + 8) : ms_rd_raw_u32(p + 8);
    if (mo->slice.cputype == ms_CPU_ARM)
        entry.value &= ~(uint64_t)1; /* Thumb */
    return entry;
}

/* A string table up to its last NUL, so that every text in it ends. */
static ms_span ms_sym_whole_strings(const ms_mo *mo)
{
    ms_span strings = ms_sym_strings(mo);
    while (strings.len > 0 && strings.ptr[strings.len - 1] != 0)
        strings.len--;
    return strings;
}

/* The first bytes of a name, as many as ranking needs: a table may hold a million long names. */
static machsym_str ms_sym_head_at(ms_span whole, uint32_t strx)
{
    ms_span rest = ms_span_from(whole, strx);
    return ms_str_bounded((const char *)rest.ptr, rest.len < 8 ? rest.len : 8);
}

static bool ms_sym_is_defined(const ms_sym_nlist *entry)
{
    return (entry->type & ms_N_STAB) == 0 && (entry->type & ms_N_TYPE) == ms_N_SECT;
}

/* The name as compilers know it: without the mark of an unmangled name (byte 1) and without Mach-O's
 * underscore. */
static machsym_str ms_sym_c_name(machsym_str raw)
{
    if (raw.len > 0 && raw.ptr[0] == 1)
        raw = ms_str_drop(raw, 1);
    if (ms_str_begins(raw, "__hidden#")) /* a line of a BCSymbolMap, which has the underscore */
        return raw;
    return raw.len > 1 && raw.ptr[0] == '_' ? ms_str_drop(raw, 1) : raw;
}

static machsym_str ms_sym_name_at(ms_span strings, uint32_t strx)
{
    return ms_rd_str_at(strings, strx);
}

static bool ms_sym_is_temporary(machsym_str raw)
{
    return ms_str_begins(raw, "ltmp") || ms_str_begins(raw, "l_") || ms_str_begins(raw, "L");
}

/* Which of several names for one address is best; lower is better. head is the name or its beginning. */
static unsigned ms_sym_rank(const ms_sym_nlist *entry, machsym_str head)
{
    if (head.len == 0)
        return 4;
    if (ms_sym_is_temporary(head))
        return 3;
    if ((entry->type & ms_N_EXT) == 0)
        return 2;
    return (entry->type & ms_N_PEXT) != 0 ? 1 : 0;
}

/* ---- The table ---- */

/* Names and starts by address; of several at one address the best comes first. */
typedef struct ms_sym_table {
    ms_key *v; /* address; source, rank and index (ms_sym_item) */
    size_t count;
    size_t cap;
    machsym_str *names; /* of all sources but LC_SYMTAB */
    size_t name_count;
    size_t name_cap;
    ms_arena *arena;
    const ms_mo *mo; /* the image's halves */
    size_t mo_count;
    const ms_range *code;
    size_t code_count;
    ms_key *crowds; /* of addresses with many names of LC_SYMTAB: hash of name and address, entry; sorted */
    size_t crowd_count;
    uint32_t damage_count; /* parts of the metadata left out */
    bool is_narrow;        /* only what a search for near finds is kept */
    uint64_t near;         /* an address of code */
    uint64_t near_lo;      /* the last start at or below it */
    uint64_t near_hi;      /* the next one, or the last byte of the code */
} ms_sym_table;

#define ms_SYM_SOURCE_SHIFT 56
#define ms_SYM_RANK_SHIFT   48
#define ms_SYM_MO_SHIFT     40
#define ms_SYM_INDEX_MASK   (((uint64_t)1 << 40) - 1)

/* Sorting items sorts by source, then rank, then where they come from. */
static uint64_t ms_sym_item(machsym_source source, unsigned rank, size_t mo, uint64_t index)
{
    return (uint64_t)source << ms_SYM_SOURCE_SHIFT | (uint64_t)rank << ms_SYM_RANK_SHIFT |
           (uint64_t)mo << ms_SYM_MO_SHIFT | index;
}

/* code is sorted and does not overlap. */
static const ms_range *ms_sym_code_at(const ms_range *code, size_t count, uint64_t addr)
{
    size_t lo = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (code[lo + half].lo <= addr) {
            lo += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return lo > 0 && addr < code[lo - 1].hi ? &code[lo - 1] : NULL;
}

/* Turns an empty table into one that is for one address of code only. */
static void ms_sym_narrow(ms_sym_table *t, const ms_range *code, uint64_t addr)
{
    t->is_narrow = true;
    t->near = addr;
    t->near_lo = code->lo;
    t->near_hi = code->hi - 1;
}

/* Drops what lies outside the bounds of a narrow table: what it holds besides starts at one of them. */
static void ms_sym_drop_far(ms_sym_table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->v[i].key >= t->near_lo && t->v[i].key <= t->near_hi)
            t->v[kept++] = t->v[i];
    }
    t->count = kept;
}

/* Whether a start at an address may belong in the table. */
static bool ms_sym_is_near(const ms_sym_table *t, uint64_t addr)
{
    return t->is_narrow ? addr >= t->near_lo && addr <= t->near_hi
                        : ms_sym_code_at(t->code, t->code_count, addr) != NULL;
}

/* Whether a name or start at an address belongs in the table. It closes in on a narrow one. */
static bool ms_sym_wants(ms_sym_table *t, uint64_t addr)
{
    if (!ms_sym_is_near(t, addr))
        return false;
    if (!t->is_narrow)
        return true;
    if (addr > t->near_lo && addr <= t->near) {
        t->near_lo = addr;
        ms_sym_drop_far(t);
    } else if (addr > t->near && addr < t->near_hi) {
        t->near_hi = addr;
        ms_sym_drop_far(t);
    }
    return true;
}

/* Adds what the table wants. */
static void ms_sym_put(ms_sym_table *t, uint64_t addr, uint64_t item)
{
    ms_key *v = (ms_key *)ms_arena_grow(t->arena, t->v, t->count, &t->cap, sizeof *v);
    if (v == NULL)
        return;
    t->v = v;
    v[t->count].key = addr;
    v[t->count++].item = item;
}

static void ms_sym_add_item(ms_sym_table *t, uint64_t addr, uint64_t item)
{
    if (ms_sym_wants(t, addr))
        ms_sym_put(t, addr, item);
}

/* Makes room for so many more names at once, which spares the copies that growing step by step leaves
 * behind. */
static void ms_sym_reserve(ms_sym_table *t, size_t more)
{
    size_t cap = t->count + more;
    size_t name_cap = t->name_count + more;
    ms_key *v = cap > t->cap ? (ms_key *)ms_arena_alloc(t->arena, cap, sizeof *v) : NULL;
    machsym_str *names =
        name_cap > t->name_cap ? (machsym_str *)ms_arena_alloc(t->arena, name_cap, sizeof *names) : NULL;
    if (v != NULL) {
        ms_copy(v, t->v, t->count * sizeof *v);
        t->v = v;
        t->cap = cap;
    }
    if (names != NULL) {
        ms_copy(names, t->names, t->name_count * sizeof *names);
        t->names = names;
        t->name_cap = name_cap;
    }
}

/* Adds a name that lives as long as the table. Used by every source but LC_SYMTAB. */
static void ms_sym_add_name(ms_sym_table *t, uint64_t addr, machsym_source source, machsym_str name)
{
    if (!ms_sym_wants(t, addr))
        return;
    machsym_str *names =
        (machsym_str *)ms_arena_grow(t->arena, t->names, t->name_count, &t->name_cap, sizeof *names);
    if (names == NULL)
        return;
    t->names = names;
    names[t->name_count] = name;
    ms_sym_put(t, addr, ms_sym_item(source, 0, 0, t->name_count));
    t->name_count++;
}

static void ms_sym_add_nlists(ms_sym_table *t, size_t mo_index)
{
    const ms_mo *mo = &t->mo[mo_index];
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_whole_strings(mo);
    size_t count = mo->hide_symtab ? 0 : nlists.len / ms_sym_nlist_size(mo);
    for (size_t i = 0; i < count; i++) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (!ms_sym_is_defined(&entry) || !ms_sym_is_near(t, entry.value))
            continue;
        unsigned rank = ms_sym_rank(&entry, ms_sym_head_at(strings, entry.strx));
        if (rank < 4)
            ms_sym_add_item(t, entry.value, ms_sym_item(MACHSYM_SOURCE_SYMTAB, rank, mo_index, i));
    }
}

/* LC_FUNCTION_STARTS: distances from __TEXT on; 0 ends them. */
static void ms_sym_add_function_starts(ms_sym_table *t, size_t mo_index)
{
    const ms_mo *mo = &t->mo[mo_index];
    ms_rd rd = ms_rd_make(ms_mo_linkedit(mo, mo->loads.starts_off, mo->loads.starts_size));
    uint64_t addr = mo->text_addr;
    ms_sym_reserve(
        t, 2 * ms_rd_left(&rd)); /* a byte or two each; metadata names about as many methods, at most */
    for (uint64_t delta = ms_rd_uleb(&rd); delta != 0 && !rd.failed; delta = ms_rd_uleb(&rd)) {
        addr += delta;
        uint64_t start = mo->slice.cputype == ms_CPU_ARM ? addr & ~(uint64_t)1 : addr;
        ms_sym_add_item(t, start, ms_sym_item(MACHSYM_SOURCE_FUNCTION_STARTS, 0, 0, 0));
    }
}

/* The stubs of one section: entry n of it calls what entry reserved1 + n of the indirect table names. */
static void ms_sym_add_stub_section(ms_sym_table *t, ms_mo_data *d, ms_span strings,
                                    const ms_mo_section *section)
{
    const ms_mo *mo = d->mo;
    ms_span indirect = ms_mo_table(mo, mo->loads.indirect_off, mo->loads.indirect_count, 4);
    ms_span nlists = ms_sym_nlists(mo);
    uint64_t count = section->reserved2 == 0 ? 0 : section->size / section->reserved2;
    for (uint64_t i = 0; i < count && section->reserved1 + i < indirect.len / 4 && ms_mo_spend(d, 1); i++) {
        uint32_t index = ms_rd_raw_u32(indirect.ptr + 4 * (section->reserved1 + i));
        MACHSYM_COUNT_WORK(1);
        if ((index & (ms_INDIRECT_SYMBOL_LOCAL | ms_INDIRECT_SYMBOL_ABS)) != 0 ||
            index >= nlists.len / ms_sym_nlist_size(mo))
            continue;
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, index);
        machsym_str name = ms_sym_c_name(ms_mo_str_in(d, ms_span_from(strings, entry.strx)));
        if (name.len != 0)
            ms_sym_add_name(t, section->addr + i * section->reserved2, MACHSYM_SOURCE_STUB, name);
    }
}

static void ms_sym_add_stubs(ms_sym_table *t, ms_mo_data *d)
{
    const ms_mo *mo = d->mo;
    ms_span strings = ms_sym_strings(mo);
    ms_mo_refill(d);
    for (uint32_t i = 0; i < mo->section_count; i++) {
        if ((mo->sections[i].flags & ms_SECTION_TYPE) == ms_S_SYMBOL_STUBS)
            ms_sym_add_stub_section(t, d, strings, &mo->sections[i]);
    }
}

/* The linker folds functions of equal code: some thousand names at one address. Those of more than
 * ms_SYM_CROWD are found by their hash, of which no more than ms_SYM_CROWD are compared. */
enum { ms_SYM_CROWD = 64 };

static uint64_t ms_sym_crowd_key(uint64_t addr, machsym_str name)
{
    return ms_str_hash(name) ^ addr * 0x9e3779b97f4a7c15u;
}

/* Sorts by address; of equal ones by source and rank. */
static void ms_sym_sort(ms_sym_table *t, ms_arena *scratch)
{
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, t->count, sizeof *room);
    if (room == NULL)
        return;
    ms_sort(t->v, t->count, room);
    for (size_t lo = 0, hi; lo < t->count; lo = hi) {
        for (hi = lo + 1; hi < t->count && t->v[hi].key == t->v[lo].key;)
            hi++;
        if (hi - lo > 1) /* items did not ascend: the sources came one after the other */
            ms_key_heap_sort(&t->v[lo], hi - lo);
    }
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) { /* two tables may tell of one start */
        if (kept == 0 || t->v[kept - 1].key != t->v[i].key || t->v[kept - 1].item != t->v[i].item)
            t->v[kept++] = t->v[i];
    }
    t->count = kept;
}

static machsym_source ms_sym_source(uint64_t item)
{
    return (machsym_source)(item >> ms_SYM_SOURCE_SHIFT);
}

static machsym_str ms_sym_name(const ms_sym_table *t, uint64_t item)
{
    uint64_t index = item & ms_SYM_INDEX_MASK;
    if (ms_sym_source(item) == MACHSYM_SOURCE_FUNCTION_STARTS)
        return ms_str_empty();
    if (ms_sym_source(item) != MACHSYM_SOURCE_SYMTAB)
        return t->names[index];
    const ms_mo *mo = &t->mo[(item >> ms_SYM_MO_SHIFT) & 0xff];
    ms_sym_nlist entry = ms_sym_nlist_at(mo, ms_sym_nlists(mo), (size_t)index);
    return ms_sym_c_name(ms_sym_name_at(ms_sym_strings(mo), entry.strx));
}

/* Indexes the crowded addresses of a sorted table. */
static void ms_sym_index_crowds(ms_sym_table *t, ms_arena *scratch)
{
    size_t count = 0;
    for (size_t lo = 0, hi; lo < t->count; lo = hi) {
        for (hi = lo + 1; hi < t->count && t->v[hi].key == t->v[lo].key;)
            hi++;
        count += hi - lo > ms_SYM_CROWD ? hi - lo : 0;
    }
    ms_key *crowds = (ms_key *)ms_arena_alloc(t->arena, count, sizeof *crowds);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, count, sizeof *crowds);
    if (count == 0 || crowds == NULL || room == NULL)
        return;
    for (size_t lo = 0, hi; lo < t->count; lo = hi) {
        for (hi = lo + 1; hi < t->count && t->v[hi].key == t->v[lo].key;)
            hi++;
        for (size_t i = lo; i < hi && hi - lo > ms_SYM_CROWD; i++) {
            crowds[t->crowd_count].key = ms_sym_crowd_key(t->v[i].key, ms_sym_name(t, t->v[i].item));
            crowds[t->crowd_count++].item = i;
        }
    }
    ms_sort(crowds, count, room);
    t->crowds = crowds;
}

/* The first entry at or past an address. */
static size_t ms_sym_first(const ms_sym_table *t, uint64_t addr)
{
    return addr == 0 ? 0 : ms_upper_bound(t->v, t->count, addr - 1);
}

/* The first entry past those at one address. */
static size_t ms_sym_next(const ms_sym_table *t, size_t at)
{
    return ms_upper_bound(t->v, t->count, t->v[at].key);
}

/* Whether the name of an entry differs from those of the entries before it from first on; of many, the last
 * 16. */
static bool ms_sym_is_new(const ms_sym_table *t, size_t first, size_t at)
{
    machsym_str name = ms_sym_name(t, t->v[at].item);
    if (at - first > 16)
        first = at - 16;
    for (; first < at; first++) {
        if (ms_str_equal(ms_sym_name(t, t->v[first].item), name))
            return false;
    }
    return true;
}

/* Entry at, with its end: the next start, or the end of its section. */
static void ms_sym_get(const ms_sym_table *t, size_t at, machsym_symbol *out)
{
    uint64_t addr = t->v[at].key;
    const ms_range *code = ms_sym_code_at(t->code, t->code_count, addr);
    size_t next = ms_sym_next(t, at);
    out->lo = addr;
    out->hi = code->hi;
    if (next < t->count && t->v[next].key < out->hi)
        out->hi = t->v[next].key;
    out->source = ms_sym_source(t->v[at].item);
    out->name = ms_sym_name(t, t->v[at].item);
}

/* The symbol whose range holds an address. Returns false when none does. */
static bool ms_sym_find(const ms_sym_table *t, uint64_t addr, machsym_symbol *out)
{
    size_t at = ms_upper_bound(t->v, t->count, addr);
    if (at == 0)
        return false;
    ms_sym_get(t, ms_sym_first(t, t->v[at - 1].key), out);
    return addr < out->hi;
}

/* Whether the name at an offset of a string table is this one, without its underscore or with it. */
static bool ms_sym_name_is(ms_span whole, uint32_t strx, machsym_str want)
{
    ms_span rest = ms_span_from(whole, strx);
    machsym_str head = ms_str_make((const char *)rest.ptr, rest.len < want.len + 3 ? rest.len : want.len + 3);
    machsym_str raw = ms_str_bounded(head.ptr, head.len); /* byte 1, underscore, name, NUL at most */
    return ms_str_equal(ms_sym_c_name(raw), want);
}

/* The symtab name that starts exactly at an address: the one that equals want, else the best. */
static machsym_str ms_sym_exact(const ms_sym_table *t, uint64_t addr, machsym_str want)
{
    size_t first = ms_sym_first(t, addr);
    if (first == t->count || t->v[first].key != addr ||
        ms_sym_source(t->v[first].item) != MACHSYM_SOURCE_SYMTAB)
        return ms_str_empty();
    bool is_crowd = ms_sym_next(t, first) - first > ms_SYM_CROWD;
    const ms_key *v = is_crowd ? t->crowds : t->v;
    size_t count = is_crowd ? t->crowd_count : t->count;
    uint64_t key = is_crowd ? ms_sym_crowd_key(addr, want) : addr;
    size_t at = key == 0 ? 0 : ms_upper_bound(v, count, key - 1);
    for (size_t i = 0; i < ms_SYM_CROWD && at < count && v[at].key == key && want.len != 0; i++, at++) {
        uint64_t item = t->v[is_crowd ? (size_t)v[at].item : at].item;
        if (ms_sym_source(item) != MACHSYM_SOURCE_SYMTAB) /* the best source: none follows another */
            break;
        const ms_mo *mo = &t->mo[(item >> ms_SYM_MO_SHIFT) & 0xff];
        ms_sym_nlist entry = ms_sym_nlist_at(mo, ms_sym_nlists(mo), (size_t)(item & ms_SYM_INDEX_MASK));
        if (ms_sym_name_is(ms_sym_strings(mo), entry.strx, want))
            return ms_sym_name(t, item);
    }
    return ms_sym_name(t, t->v[first].item);
}

/* The same without a table, by reading all of LC_SYMTAB: for a first, cold lookup. */
static machsym_str ms_sym_scan_exact(const ms_mo *mos, size_t mo_count, uint64_t addr, machsym_str want)
{
    machsym_str best = ms_str_empty();
    unsigned best_rank = 4;
    for (size_t m = 0; m < mo_count; m++) {
        const ms_mo *mo = &mos[m];
        ms_span nlists = ms_sym_nlists(mo);
        ms_span strings = ms_sym_whole_strings(mo);
        size_t count = mo->hide_symtab ? 0 : nlists.len / ms_sym_nlist_size(mo);
        for (size_t i = 0; i < count; i++) {
            ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
            if (entry.value != addr || !ms_sym_is_defined(&entry))
                continue;
            unsigned rank = ms_sym_rank(&entry, ms_sym_head_at(strings, entry.strx));
            if (want.len != 0 && rank < 4 && ms_sym_name_is(strings, entry.strx, want))
                return ms_sym_c_name(ms_sym_name_at(strings, entry.strx));
            if (rank < best_rank) {
                best_rank = rank;
                best = ms_sym_c_name(ms_sym_name_at(strings, entry.strx));
            }
        }
    }
    return best;
}

/* ---- Exports trie ---- */

/* loader.h: EXPORT_SYMBOL_FLAGS_* */
enum { ms_EXPORT_KIND = 3, ms_EXPORT_REEXPORT = 8, ms_EXPORT_STUB_AND_RESOLVER = 16 };

/* A path through the trie may be so deep and spell a name so long; real ones stay below 100 and 5,000. */
enum { ms_SYM_TRIE_DEPTH = 4096, ms_SYM_TRIE_NAME = 1 << 16 };

/* A node on the way down. */
typedef struct ms_sym_trie_node {
    ms_rd edges;   /* those not taken yet */
    unsigned left; /* how many */
    uint64_t off;
    size_t name_len; /* of what the way here spells */
} ms_sym_trie_node;

/* A walk over an exports trie. */
typedef struct ms_sym_trie {
    ms_span bytes;
    ms_sym_trie_node *nodes; /* ms_SYM_TRIE_DEPTH of them */
    size_t depth;
    uint8_t *on_path; /* a bit for each byte of the trie: an edge back to such a node is a loop */
    char *name;       /* ms_SYM_TRIE_NAME bytes */
    size_t name_len;
} ms_sym_trie;

/* Text put together from parts, which lives as long as the table; paid from the budget of d. */
static machsym_str ms_sym_join(ms_sym_table *t, ms_mo_data *d, const machsym_str *parts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    char *text = ms_mo_spend(d, len) ? (char *)ms_arena_alloc(t->arena, len, 1) : NULL;
    if (text == NULL)
        return ms_str_empty();
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        ms_copy(text + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    return ms_str_make(text, len);
}

/* Takes what a node exports. */
static void ms_sym_take_export(ms_sym_table *t, ms_mo_data *d, const ms_sym_trie *trie, ms_span info)
{
    ms_rd rd = ms_rd_make(info);
    uint64_t flags = ms_rd_uleb(&rd);
    uint64_t offs[2] = {0, 0};
    if ((flags & ms_EXPORT_KIND) != 0 || (flags & ms_EXPORT_REEXPORT) != 0)
        return; /* thread-local and absolute values are no code; that of a re-export is in another image */
    offs[0] = ms_rd_uleb(&rd);
    bool has_resolver = (flags & ms_EXPORT_STUB_AND_RESOLVER) != 0;
    if (has_resolver)
        offs[1] = ms_rd_uleb(&rd);
    d->damage_count += rd.failed;
    for (unsigned i = 0; i < 1u + has_resolver && !rd.failed; i++) {
        uint64_t addr = d->mo->text_addr + offs[i];
        machsym_str parts[1] = {ms_sym_c_name(ms_str_make(trie->name, trie->name_len))};
        if (d->mo->slice.cputype == ms_CPU_ARM)
            addr &= ~(uint64_t)1;
        machsym_str name = ms_sym_code_at(t->code, t->code_count, addr) == NULL ? ms_str_empty()
                                                                                : ms_sym_join(t, d, parts, 1);
        if (name.len != 0)
            ms_sym_add_name(t, addr, MACHSYM_SOURCE_EXPORTS, name);
    }
}

/* Goes down to a node. */
static void ms_sym_enter(ms_sym_table *t, ms_mo_data *d, ms_sym_trie *trie, uint64_t off)
{
    if (trie->depth == ms_SYM_TRIE_DEPTH || off >= trie->bytes.len ||
        (trie->on_path[off / 8] >> (off % 8) & 1) != 0) {
        d->damage_count++;
        return;
    }
    ms_rd rd = ms_rd_at(trie->bytes, off);
    ms_span info = ms_rd_span(&rd, ms_rd_uleb(&rd));
    if (info.len != 0)
        ms_sym_take_export(t, d, trie, info);
    ms_sym_trie_node *node = &trie->nodes[trie->depth++];
    node->left = ms_rd_u8(&rd);
    node->edges = rd;
    node->off = off;
    node->name_len = trie->name_len;
    trie->on_path[off / 8] |= (uint8_t)(1u << off % 8);
    d->damage_count += rd.failed;
}

/* The exports trie, depth first. Nodes may be shared; every step is paid for, so that sharing cannot
 * multiply. */
static void ms_sym_add_exports(ms_sym_table *t, ms_mo_data *d, ms_arena *scratch)
{
    ms_sym_trie trie;
    ms_zero(&trie, sizeof trie);
    trie.bytes = ms_mo_linkedit(d->mo, d->mo->loads.exports_off, d->mo->loads.exports_size);
    ms_mo_refill(d);
    if (trie.bytes.len == 0)
        return;
    trie.nodes = (ms_sym_trie_node *)ms_arena_alloc(scratch, ms_SYM_TRIE_DEPTH, sizeof *trie.nodes);
    trie.name = (char *)ms_arena_alloc(scratch, ms_SYM_TRIE_NAME, 1);
    trie.on_path = (uint8_t *)ms_arena_zeroed(scratch, trie.bytes.len / 8 + 1, 1);
    if (trie.nodes == NULL || trie.name == NULL || trie.on_path == NULL)
        return;
    ms_sym_enter(t, d, &trie, 0);
    while (trie.depth > 0) {
        ms_sym_trie_node *node = &trie.nodes[trie.depth - 1];
        if (node->left == 0 || node->edges.failed) {
            trie.on_path[node->off / 8] &= (uint8_t) ~(1u << node->off % 8);
            trie.depth--;
            continue;
        }
        node->left--;
        machsym_str edge = ms_rd_str(&node->edges);
        uint64_t off = ms_rd_uleb(&node->edges);
        if (node->edges.failed || edge.len > ms_SYM_TRIE_NAME - node->name_len) {
            d->damage_count++;
            continue;
        }
        if (!ms_mo_spend(d, edge.len + 1))
            return;
        ms_copy(trie.name + node->name_len, edge.ptr, edge.len);
        trie.name_len = node->name_len + edge.len;
        ms_sym_enter(t, d, &trie, off);
    }
}

/* ---- Selector stubs ---- */

/* __objc_stubs: each begins with adrp x1, page; ldr x1, [x1, off] of a selector reference, then calls
 * objc_msgSend. Arm ARM C6.2: ADRP, LDR (immediate, unsigned offset). */
static void ms_sym_add_selector_stubs(ms_sym_table *t, ms_mo_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, "__objc_stubs");
    if (section == NULL || d->mo->slice.cputype != ms_CPU_ARM64)
        return;
    ms_mo_refill(d);
    for (size_t at = 0; at + 8 <= section->bytes.len; at += 4) {
        uint32_t adrp = ms_rd_raw_u32(section->bytes.ptr + at);
        uint32_t load = ms_rd_raw_u32(section->bytes.ptr + at + 4);
        if ((adrp & 0x9f00001f) != 0x90000001 || (load & 0xffc003ff) != 0xf9400021)
            continue;
        uint32_t pages = (adrp >> 3 & 0x1ffffc) | (adrp >> 29 & 3); /* 21 bits, signed */
        int64_t page = (int64_t)pages - (int64_t)((pages & 0x100000) << 1);
        uint64_t ref = ((section->addr + at) & ~(uint64_t)0xfff) + (uint64_t)page * 4096 +
                       (uint64_t)(load >> 10 & 0xfff) * 8;
        machsym_str parts[2];
        parts[0] = ms_str_from_c("objc_msgSend$");
        parts[1] = ms_mo_str_at(d, ms_mo_pointer_at(d, ref).addr);
        machsym_str name = parts[1].len != 0 ? ms_sym_join(t, d, parts, 2) : ms_str_empty();
        if (name.len != 0)
            ms_sym_add_name(t, section->addr + at, MACHSYM_SOURCE_OBJC, name);
    }
}

/* Adds all that this floor reads of a half of the image. */
static void ms_sym_add(ms_sym_table *t, size_t mo_index, ms_mo_data *d, ms_arena *scratch)
{
    ms_sym_add_nlists(t, mo_index);
    ms_sym_add_stubs(t, d);
    ms_sym_add_selector_stubs(t, d);
    ms_sym_add_exports(t, d, scratch);
    ms_sym_add_function_starts(t, mo_index);
}

/* ==== >>unwind =============================================================================================
 * Job:    where functions begin and end, by unwind tables, for files without LC_FUNCTION_STARTS.
 * Uses:   bytes, reader, macho, symbols.
 * Offers: ms_uw_add_starts.
 * Never:  unwinds; names anything. */

/* compact_unwind_encoding.h: kinds of second-level pages. */
enum { ms_UNWIND_SECOND_LEVEL_REGULAR = 2, ms_UNWIND_SECOND_LEVEL_COMPRESSED = 3 };

/* Pointer encodings of eh_frame (LSB 10.5.1): the low half is the size, the next bits what it is relative
 * to. */
enum { ms_DW_EH_PE_pcrel = 0x10, ms_DW_EH_PE_base = 0x70 };

static void ms_uw_add(ms_sym_table *t, const ms_mo *mo, uint64_t addr)
{
    if (mo->slice.cputype == ms_CPU_ARM)
        addr &= ~(uint64_t)1; /* Thumb */
    ms_sym_add_item(t, addr, ms_sym_item(MACHSYM_SOURCE_FUNCTION_STARTS, 0, 0, 0));
}

/* unwind_info_regular_second_level_page_header, unwind_info_compressed_second_level_page_header */
static void ms_uw_add_page(ms_sym_table *t, ms_mo_data *d, ms_span info, uint32_t off, uint32_t base)
{
    ms_rd header = ms_rd_at(info, off);
    uint32_t kind = ms_rd_u32(&header);
    uint16_t entries_off = ms_rd_u16(&header);
    uint16_t count = ms_rd_u16(&header);
    uint64_t text = d->mo->text_addr;
    ms_rd rd = ms_rd_at(info, (uint64_t)off + entries_off);
    bool known = kind == ms_UNWIND_SECOND_LEVEL_REGULAR || kind == ms_UNWIND_SECOND_LEVEL_COMPRESSED;
    if (header.failed || rd.failed || !known)
        d->damage_count++;
    for (; known && count > 0 && ms_rd_left(&rd) >= 4 && ms_mo_spend(d, 1); count--) {
        uint32_t entry = ms_rd_u32(&rd);
        if (kind == ms_UNWIND_SECOND_LEVEL_REGULAR) {
            ms_rd_skip(&rd, 4); /* encoding */
            ms_uw_add(t, d->mo, text + entry);
        } else {
            ms_uw_add(t, d->mo, text + base + (entry & 0xffffff));
        }
    }
}

/* unwind_info_section_header and its first-level index; the last entry only ends the one before. */
static void ms_uw_add_compact(ms_sym_table *t, ms_mo_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, "__unwind_info");
    if (section == NULL)
        return;
    ms_rd header = ms_rd_make(section->bytes);
    uint32_t version = ms_rd_u32(&header);
    ms_rd_skip(&header, 16); /* common encodings, personalities */
    uint32_t index_off = ms_rd_u32(&header);
    uint32_t count = ms_rd_u32(&header);
    ms_rd rd = ms_rd_at(section->bytes, index_off);
    if (version != 1)
        return;
    for (; count > 0 && ms_rd_left(&rd) >= 12; count--) {
        uint32_t base = ms_rd_u32(&rd);
        uint32_t page_off = ms_rd_u32(&rd);
        ms_rd_u32(&rd); /* language-specific data */
        ms_uw_add(t, d->mo, d->mo->text_addr + base);
        if (page_off != 0)
            ms_uw_add_page(t, d, section->bytes, page_off, base);
    }
}

/* A pointer in eh_frame: addr is that of the field itself. */
static uint64_t ms_uw_pointer(const ms_mo *mo, ms_rd *rd, unsigned encoding, uint64_t addr)
{
    uint64_t value;
    switch (encoding & 0xf) {
    case 0x0: value = ms_mo_word(mo, rd); break;
    case 0x2: value = ms_rd_u16(rd); break;
    case 0x3: value = ms_rd_u32(rd); break;
    case 0xa: value = (uint64_t)(int64_t)(int16_t)ms_rd_u16(rd); break;
    case 0xb: value = (uint64_t)(int64_t)(int32_t)ms_rd_u32(rd); break;
    case 0x4:
    case 0xc: value = ms_rd_u64(rd); break;
    default: ms_rd_fail(rd); return 0;
    }
    if ((encoding & ms_DW_EH_PE_base) == ms_DW_EH_PE_pcrel)
        value += addr;
    return mo->is_64 ? value : value & 0xffffffff;
}

/* How a CIE says that its FDEs write addresses (augmentation R). */
static unsigned ms_uw_cie_encoding(const ms_mo *mo, ms_rd rd)
{
    unsigned version = ms_rd_u8(&rd);
    ms_span text = ms_rd_span(&rd, ms_rd_left(&rd) < 16 ? ms_rd_left(&rd) : 16);
    machsym_str augmentation = ms_str_bounded((const char *)text.ptr, text.len);
    if (augmentation.len == 0 || augmentation.ptr[0] != 'z' || augmentation.len == text.len)
        return 0;
    rd.p -= text.len - augmentation.len - 1;
    ms_rd_uleb(&rd); /* code alignment */
    ms_rd_sleb(&rd); /* data alignment */
    if (version == 1)
        ms_rd_u8(&rd); /* return address register */
    else
        ms_rd_uleb(&rd);
    ms_rd_uleb(&rd); /* length of the augmentation */
    for (size_t i = 1; i < augmentation.len; i++) {
        switch (augmentation.ptr[i]) {
        case 'R': return ms_rd_u8(&rd);
        case 'L': ms_rd_u8(&rd); break;
        case 'P': {
            unsigned encoding = ms_rd_u8(&rd);
            ms_uw_pointer(mo, &rd, encoding, 0);
            break;
        }
        default: return 0;
        }
    }
    return 0;
}

/* Each FDE is the range of a function; FDEs of one CIE follow it, so its encoding is kept. */
static void ms_uw_add_eh_frame(ms_sym_table *t, ms_mo_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, "__eh_frame");
    if (section == NULL)
        return;
    ms_rd rd = ms_rd_make(section->bytes);
    uint64_t cie_off = UINT64_MAX;
    unsigned encoding = 0;
    while (ms_rd_left(&rd) >= 4) {
        uint64_t len = ms_rd_u32(&rd);
        if (len == 0xffffffff)
            len = ms_rd_u64(&rd);
        if (len == 0)
            return;
        uint64_t at = ms_rd_offset(&rd);
        ms_rd body = ms_rd_make(ms_rd_span(&rd, len));
        uint32_t back = ms_rd_u32(&body); /* 32 bits even where the length has 64 (LSB 10.6.1.1) */
        if (back == 0)                    /* a CIE */
            continue;
        if (back > at || rd.failed) {
            d->damage_count++;
            continue;
        }
        if (at - back != cie_off) {
            cie_off = at - back;
            ms_rd cie = ms_rd_at(section->bytes, cie_off);
            ms_rd_skip(&cie, ms_rd_u32(&cie) == 0xffffffff ? 12 : 4);
            encoding = ms_uw_cie_encoding(d->mo, cie);
        }
        uint64_t field = section->addr + at + ms_rd_offset(&body);
        uint64_t lo = ms_uw_pointer(d->mo, &body, encoding, field);
        uint64_t size = ms_uw_pointer(d->mo, &body, encoding & 0xf, 0);
        if (body.failed)
            continue;
        ms_uw_add(t, d->mo, lo);
        ms_uw_add(t, d->mo, lo + size);
    }
}

/* Adds the bounds of a linked slice. An object file's are not relocated, and those that dsymutil copies into
 * a dSYM still count from where they stood in the binary (seen: dsymutil-14, every dSYM with an
 * __eh_frame). */
static void ms_uw_add_starts(ms_sym_table *t, ms_mo_data *d)
{
    if (d->mo->slice.filetype == ms_MH_OBJECT || d->mo->slice.filetype == ms_MH_DSYM)
        return;
    ms_mo_refill(d);
    ms_uw_add_compact(t, d);
    ms_uw_add_eh_frame(t, d);
}

/* ==== >>objc ===============================================================================================
 * Job:    Objective-C metadata to classes, categories and methods; names of methods, and guesses for blocks.
 * Uses:   bytes, reader, memory, macho, symbols.
 * Offers: ms_oc_list, ms_oc_read, ms_oc_add_names, ms_oc_add_blocks, ms_oc_name_blocks.
 * Never:  assumes the layout of a class that a running process has realised; reads protocols. */

/* objc-runtime-new.h: class_t, class_ro_t, method_list_t */
#define ms_OC_SMALL_LIST       0x80000000u /* entries are relative */
#define ms_OC_DIRECT_SELECTORS 0x40000000u /* of a small list: to the selector, not to a reference to it */
#define ms_OC_ENTRY_SIZE       0xfffcu

/* A class or a category. */
typedef struct ms_oc_owner {
    machsym_str class_name; /* "?": of another image, which the file does not name */
    machsym_str category;
    machsym_str super_name;
    uint64_t addr;
    uint32_t first; /* of its methods */
    uint32_t count;
    bool is_category;
    bool is_swift;
} ms_oc_owner;

typedef struct ms_oc_method {
    machsym_str selector;
    uint64_t addr; /* of the code */
    bool is_class_method;
} ms_oc_method;

/* All of a slice's metadata. */
typedef struct ms_oc_list {
    ms_arena *arena;
    ms_sym_table *names; /* where the methods' names go, class by class, in place of staying here; or NULL */
    ms_oc_owner *owners;
    size_t owner_count;
    size_t owner_cap;
    ms_oc_method *methods;
    size_t method_count;
    size_t method_cap;
} ms_oc_list;

/* ---- Names and lists ---- */

/* Text that may be a name: no control characters. */
static bool ms_oc_is_name(machsym_str str)
{
    for (size_t i = 0; i < str.len; i++) {
        if ((unsigned char)str.ptr[i] < 0x20 || str.ptr[i] == 0x7f)
            return false;
    }
    return str.len != 0;
}

static machsym_str ms_oc_imported_class(machsym_str import)
{
    return ms_str_begins(import, "_OBJC_CLASS_$_") ? ms_str_drop(import, 14) : ms_str_empty();
}

/* The address of a class's class_ro_t, without the bits that mark Swift classes. */
static uint64_t ms_oc_data(ms_mo_data *d, uint64_t cls, bool *is_swift)
{
    unsigned word = ms_mo_pointer_size(d);
    uint64_t data = ms_mo_pointer_at(d, cls + 4 * word).addr;
    uint64_t flags = d->mo->is_64 ? 7 : 3;
    *is_swift = (data & 3) != 0;
    return data & ~flags;
}

/* The name of the class that a pointer stands for. */
static machsym_str ms_oc_class_name(ms_mo_data *d, ms_mo_pointer cls)
{
    bool is_swift;
    if (cls.import.len != 0)
        return ms_oc_imported_class(cls.import);
    if (cls.addr == 0)
        return ms_str_empty();
    uint64_t ro = ms_oc_data(d, cls.addr, &is_swift);
    machsym_str name = ms_mo_str_at(d, ms_mo_pointer_at(d, ro + (d->mo->is_64 ? 24 : 16)).addr);
    return ms_oc_is_name(name) ? name : ms_str_empty();
}

static void ms_oc_add_method(ms_oc_list *list, ms_mo_data *d, uint64_t selector_addr, uint64_t code,
                             bool is_class_method)
{
    machsym_str selector = ms_mo_str_at(d, selector_addr);
    if (!ms_oc_is_name(selector))
        return;
    ms_oc_method *v = (ms_oc_method *)ms_arena_grow(list->arena, list->methods, list->method_count,
                                                    &list->method_cap, sizeof *v);
    if (v == NULL)
        return;
    list->methods = v;
    ms_oc_method *method = &v[list->method_count++];
    method->selector = selector;
    method->addr = d->mo->slice.cputype == ms_CPU_ARM ? code & ~(uint64_t)1 : code;
    method->is_class_method = is_class_method;
}

/* A method_list_t: pointers to selector, types and code; or, in a small one, distances. */
static void ms_oc_read_methods(ms_oc_list *list, ms_mo_data *d, uint64_t addr, bool is_class_method)
{
    uint32_t head = ms_mo_u32_at(d, addr);
    uint32_t count = ms_mo_u32_at(d, addr + 4);
    uint32_t entry = head & ms_OC_ENTRY_SIZE;
    bool is_small = (head & ms_OC_SMALL_LIST) != 0;
    bool is_direct = (head & ms_OC_DIRECT_SELECTORS) != 0;
    unsigned word = is_small ? 4 : ms_mo_pointer_size(d);
    size_t left = ms_mo_from_addr(d, addr).len;
    if (addr == 0 || count == 0)
        return;
    if (entry < 3 * word || left < 8 || count > (left - 8) / entry) {
        d->damage_count++;
        count = entry < 3 * word || left < 8 ? 0 : (uint32_t)((left - 8) / entry);
    }
    uint64_t at = addr + 8;
    for (; count > 0 && ms_mo_spend(d, 1) && !list->arena->oom; count--, at += entry) {
        uint64_t selector = is_small ? ms_mo_relative_at(d, at) : ms_mo_pointer_at(d, at).addr;
        uint64_t code = is_small ? ms_mo_relative_at(d, at + 8) : ms_mo_pointer_at(d, at + 2 * word).addr;
        if (is_small && !is_direct)
            selector = ms_mo_pointer_at(d, selector).addr;
        ms_oc_add_method(list, d, selector, code, is_class_method);
    }
}

/* What baseMethods points to: a list, or (bit 0) a list of lists of several images, each entry an image
 * number in 16 bits and a distance in 48. */
static void ms_oc_read_lists(ms_oc_list *list, ms_mo_data *d, uint64_t addr, bool is_class_method)
{
    if ((addr & 1) == 0) {
        ms_oc_read_methods(list, d, addr, is_class_method);
        return;
    }
    addr &= ~(uint64_t)1;
    uint32_t entry = ms_mo_u32_at(d, addr);
    uint32_t count = ms_mo_u32_at(d, addr + 4);
    uint64_t at = addr + 8;
    for (; count > 0 && entry >= 8 && ms_mo_spend(d, 1); count--, at += entry) {
        ms_span span = ms_mo_at_addr(d, at, 8);
        if (span.len == 0)
            return;
        uint64_t distance = ms_rd_raw_u64(span.ptr) >> 16;
        if (distance >> 47 != 0)
            distance |= (uint64_t)0xffff << 48;
        ms_oc_read_methods(list, d, at + distance, is_class_method);
    }
}

static ms_oc_owner *ms_oc_add_owner(ms_oc_list *list, uint64_t addr, machsym_str class_name)
{
    ms_oc_owner *v = (ms_oc_owner *)ms_arena_grow(list->arena, list->owners, list->owner_count,
                                                  &list->owner_cap, sizeof *v);
    if (v == NULL)
        return NULL;
    list->owners = v;
    ms_oc_owner *owner = &v[list->owner_count++];
    ms_zero(owner, sizeof *owner);
    owner->addr = addr;
    owner->class_name = class_name.len != 0 ? class_name : ms_str_from_c("?");
    owner->first = (uint32_t)list->method_count;
    return owner;
}

/* Adds -[Class(Category) selector] for every method of an owner. */
static void ms_oc_name_methods(ms_sym_table *t, ms_mo_data *d, const ms_oc_list *list,
                               const ms_oc_owner *owner)
{
    for (uint32_t i = 0; i < owner->count; i++) {
        const ms_oc_method *method = &list->methods[owner->first + i];
        machsym_str parts[8];
        size_t count = 0;
        if (ms_sym_code_at(t->code, t->code_count, method->addr) == NULL)
            continue;
        parts[count++] = ms_str_from_c(method->is_class_method ? "+[" : "-[");
        parts[count++] = owner->class_name;
        if (owner->is_category) {
            parts[count++] = ms_str_from_c("(");
            parts[count++] = owner->category;
            parts[count++] = ms_str_from_c(")");
        }
        parts[count++] = ms_str_from_c(" ");
        parts[count++] = method->selector;
        parts[count++] = ms_str_from_c("]");
        machsym_str name = ms_sym_join(t, d, parts, count);
        if (name.len != 0)
            ms_sym_add_name(t, method->addr, MACHSYM_SOURCE_OBJC, name);
    }
}

static void ms_oc_end_owner(ms_oc_list *list, ms_mo_data *d)
{
    ms_oc_owner *owner = &list->owners[list->owner_count - 1];
    owner->count = (uint32_t)list->method_count - owner->first;
    if (list->names == NULL)
        return;
    ms_oc_name_methods(list->names, d, list, owner);
    list->owner_count = 0;
    list->method_count = 0;
}

/* ---- The runtime of today ---- */

/* class_t {isa, superclass, cache, vtable, data}; class methods are those of the metaclass, which isa points
 * to. */
static void ms_oc_read_class(ms_oc_list *list, ms_mo_data *d, uint64_t cls)
{
    unsigned word = ms_mo_pointer_size(d);
    ms_mo_pointer self = {cls, {NULL, 0}};
    machsym_str name = ms_oc_class_name(d, self);
    bool is_swift;
    bool is_meta_swift;
    uint64_t ro = ms_oc_data(d, cls, &is_swift);
    uint64_t methods_off = d->mo->is_64 ? 32 : 20;
    if (name.len == 0) {
        d->damage_count++;
        return;
    }
    ms_oc_owner *owner = ms_oc_add_owner(list, cls, name);
    if (owner == NULL)
        return;
    owner->is_swift = is_swift;
    owner->super_name = ms_oc_class_name(d, ms_mo_pointer_at(d, cls + word));
    ms_oc_read_lists(list, d, ms_mo_pointer_at(d, ro + methods_off).addr, false);
    uint64_t meta = ms_mo_pointer_at(d, cls).addr;
    uint64_t meta_ro = meta != 0 ? ms_oc_data(d, meta, &is_meta_swift) : 0;
    if (meta_ro != 0)
        ms_oc_read_lists(list, d, ms_mo_pointer_at(d, meta_ro + methods_off).addr, true);
    ms_oc_end_owner(list, d);
}

/* category_t {name, cls, instanceMethods, classMethods, ...} */
static void ms_oc_read_category(ms_oc_list *list, ms_mo_data *d, uint64_t addr)
{
    unsigned word = ms_mo_pointer_size(d);
    machsym_str category = ms_mo_str_at(d, ms_mo_pointer_at(d, addr).addr);
    if (!ms_oc_is_name(category)) {
        d->damage_count++;
        return;
    }
    ms_mo_pointer cls = ms_mo_pointer_at(d, addr + word);
    ms_oc_owner *owner = ms_oc_add_owner(list, addr, ms_oc_class_name(d, cls));
    if (owner == NULL)
        return;
    owner->category = category;
    owner->is_category = true;
    ms_oc_read_lists(list, d, ms_mo_pointer_at(d, addr + 2 * word).addr, false);
    ms_oc_read_lists(list, d, ms_mo_pointer_at(d, addr + 3 * word).addr, true);
    ms_oc_end_owner(list, d);
}

/* The sections of pointers to classes, or to categories. */
static bool ms_oc_is_list(const ms_mo_section *section, bool categories)
{
    return categories
               ? ms_str_is(section->name, "__objc_catlist") || ms_str_is(section->name, "__objc_nlcatlist")
               : ms_str_is(section->name, "__objc_classlist") || ms_str_is(section->name, "__objc_nlclslist");
}

/* Reads what those sections point to, each record once: a class with +load is in two of them. */
static void ms_oc_read_records(ms_oc_list *list, ms_mo_data *d, bool categories, ms_arena *scratch)
{
    unsigned word = ms_mo_pointer_size(d);
    size_t max = 0;
    size_t count = 0;
    size_t kept = 0;
    for (uint32_t i = 0; i < d->mo->section_count; i++) {
        if (ms_oc_is_list(&d->mo->sections[i], categories) && ms_mo_spend(d, d->mo->sections[i].bytes.len))
            max += d->mo->sections[i].bytes.len / word;
    }
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, max, sizeof *order);
    for (uint32_t i = 0; i < d->mo->section_count && order != NULL; i++) {
        const ms_mo_section *section = &d->mo->sections[i];
        for (size_t at = 0;
             ms_oc_is_list(section, categories) && count < max && at + word <= section->bytes.len;
             at += word, count++) {
            order[count].key = ms_mo_pointer_at(d, section->addr + at).addr;
            order[count].item = count;
        }
    }
    if (order == NULL)
        return;
    ms_key_heap_sort(order, count);
    uint64_t previous = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t addr = order[i].key;
        if (addr == previous)
            continue;
        previous = addr;
        order[kept].key = order[i].item; /* back to the file's order */
        order[kept++].item = addr;
    }
    ms_key_heap_sort(order, kept);
    for (size_t i = 0; i < kept && ms_mo_spend(d, word); i++) {
        if (categories)
            ms_oc_read_category(list, d, order[i].item);
        else
            ms_oc_read_class(list, d, order[i].item);
    }
}

/* ---- The old runtime (i386, PowerPC's heir): objc-runtime-old.h ---- */

/* objc_method_list {obsolete, count, {selector, types, code} ...} */
static void ms_oc_read_old_methods(ms_oc_list *list, ms_mo_data *d, uint64_t addr, bool is_class_method)
{
    uint32_t count = ms_mo_u32_at(d, addr + 4);
    size_t left = ms_mo_from_addr(d, addr).len;
    if (addr == 0 || left < 8)
        return;
    if (count > (left - 8) / 12) {
        d->damage_count++;
        count = (uint32_t)((left - 8) / 12);
    }
    uint64_t at = addr + 8;
    for (; count > 0 && ms_mo_spend(d, 1) && !list->arena->oom; count--, at += 12)
        ms_oc_add_method(list, d, ms_mo_pointer_at(d, at).addr, ms_mo_pointer_at(d, at + 8).addr,
                         is_class_method);
}

/* old_class {isa, super_class, name, version, info, instance_size, ivars, methodLists, ...}; in a file isa
 * points to the metaclass and super_class to a name. */
static void ms_oc_read_old_class(ms_oc_list *list, ms_mo_data *d, uint64_t cls)
{
    machsym_str name = ms_mo_str_at(d, ms_mo_pointer_at(d, cls + 8).addr);
    ms_oc_owner *owner = ms_oc_is_name(name) ? ms_oc_add_owner(list, cls, name) : NULL;
    if (owner == NULL) {
        d->damage_count += name.len == 0;
        return;
    }
    owner->super_name = ms_mo_str_at(d, ms_mo_pointer_at(d, cls + 4).addr);
    ms_oc_read_old_methods(list, d, ms_mo_pointer_at(d, cls + 28).addr, false);
    uint64_t meta = ms_mo_pointer_at(d, cls).addr;
    if (meta != 0)
        ms_oc_read_old_methods(list, d, ms_mo_pointer_at(d, meta + 28).addr, true);
    ms_oc_end_owner(list, d);
}

/* old_category {category_name, class_name, instance_methods, class_methods, ...} */
static void ms_oc_read_old_category(ms_oc_list *list, ms_mo_data *d, uint64_t addr)
{
    machsym_str category = ms_mo_str_at(d, ms_mo_pointer_at(d, addr).addr);
    machsym_str name = ms_mo_str_at(d, ms_mo_pointer_at(d, addr + 4).addr);
    if (!ms_oc_is_name(category) || !ms_oc_is_name(name)) {
        d->damage_count++;
        return;
    }
    ms_oc_owner *owner = ms_oc_add_owner(list, addr, name);
    if (owner == NULL)
        return;
    owner->category = category;
    owner->is_category = true;
    ms_oc_read_old_methods(list, d, ms_mo_pointer_at(d, addr + 8).addr, false);
    ms_oc_read_old_methods(list, d, ms_mo_pointer_at(d, addr + 12).addr, true);
    ms_oc_end_owner(list, d);
}

/* __OBJC,__module_info: old_module {version, size, name, symtab}; old_symtab {sel_ref_cnt, refs, cls_def_cnt,
 * cat_def_cnt, classes then categories ...} */
static void ms_oc_read_modules(ms_oc_list *list, ms_mo_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, "__OBJC", "__module_info");
    if (section == NULL || d->mo->is_64)
        return;
    for (uint64_t at = 0; at + 16 <= section->bytes.len; at += 16) {
        uint64_t symtab = ms_mo_pointer_at(d, section->addr + at + 12).addr;
        uint32_t counts = ms_mo_u32_at(d, symtab + 8);
        uint32_t classes = counts & 0xffff;
        uint32_t total = classes + (counts >> 16);
        for (uint32_t i = 0; symtab != 0 && i < total && ms_mo_spend(d, 4); i++) {
            uint64_t addr = ms_mo_pointer_at(d, symtab + 12 + 4 * (uint64_t)i).addr;
            if (addr == 0)
                continue;
            if (i < classes)
                ms_oc_read_old_class(list, d, addr);
            else
                ms_oc_read_old_category(list, d, addr);
        }
    }
}

/* Reads all of a slice's classes, then its categories. list->arena is set. */
static void ms_oc_read(ms_oc_list *list, ms_mo_data *d, ms_arena *scratch)
{
    ms_mo_refill(d);
    ms_oc_read_records(list, d, false, scratch);
    ms_oc_read_records(list, d, true, scratch);
    ms_oc_read_modules(list, d);
}

static void ms_oc_add_names(ms_sym_table *t, ms_mo_data *d, ms_arena *scratch)
{
    ms_oc_list list;
    ms_zero(&list, sizeof list);
    list.arena = scratch;
    list.names = t;
    ms_oc_read(&list, d, scratch);
}

/* ---- Blocks ---- */

/* Block_private.h: BLOCK_IS_GLOBAL in the flags of a block literal {isa, flags, reserved, invoke,
 * descriptor}. */
#define ms_OC_BLOCK_IS_GLOBAL 0x10000000u

/* Literals of blocks that capture nothing lie in __const; others are put together on the stack. */
static void ms_oc_add_section_blocks(ms_sym_table *t, ms_mo_data *d, const ms_mo_section *section)
{
    unsigned word = ms_mo_pointer_size(d);
    ms_span bytes = section->bytes;
    for (size_t at = 0; at + 3 * word + 8 <= bytes.len; at += word) {
        uint32_t flags = ms_rd_raw_u32(bytes.ptr + at + word);
        uint32_t reserved = ms_rd_raw_u32(bytes.ptr + at + word + 4);
        if ((flags & ms_OC_BLOCK_IS_GLOBAL) == 0 || (flags & 0xffff) != 0 || reserved != 0)
            continue;
        ms_mo_pointer isa = ms_mo_pointer_at(d, section->addr + at);
        if (!d->mo->is_loaded && !ms_str_is(isa.import, "__NSConcreteGlobalBlock"))
            continue;
        uint64_t code = ms_mo_pointer_at(d, section->addr + at + word + 8).addr;
        if (d->mo->slice.cputype == ms_CPU_ARM)
            code &= ~(uint64_t)1;
        ms_sym_add_name(t, code, MACHSYM_SOURCE_BLOCK, ms_str_from_c("block"));
    }
}

static void ms_oc_add_blocks(ms_sym_table *t, ms_mo_data *d)
{
    ms_mo_refill(d);
    for (uint32_t i = 0; i < d->mo->section_count; i++) {
        const ms_mo_section *section = &d->mo->sections[i];
        if (ms_str_is(section->name, "__const") && !section->is_code &&
            ms_mo_spend(d, section->bytes.len / 8))
            ms_oc_add_section_blocks(t, d, section);
    }
}

/* Names the blocks of a sorted table by the nearest function with a name below: compilers put a block's
 * function behind the function that the block is written in. */
static void ms_oc_name_blocks(ms_sym_table *t, ms_mo_data *d)
{
    size_t above = t->count;
    ms_mo_refill(d);
    for (size_t at = 0, next; at < t->count && d->budget > 0; at = next) {
        for (next = at + 1; next < t->count && t->v[next].key == t->v[at].key;)
            next++;
        machsym_source source = ms_sym_source(t->v[at].item);
        const ms_range *code = ms_sym_code_at(t->code, t->code_count, t->v[at].key);
        if (above < t->count && t->v[above].key < code->lo)
            above = t->count; /* never across sections */
        if (source == MACHSYM_SOURCE_SYMTAB || source == MACHSYM_SOURCE_EXPORTS ||
            source == MACHSYM_SOURCE_OBJC)
            above = at;
        if (source != MACHSYM_SOURCE_BLOCK || above == t->count)
            continue;
        machsym_str parts[2] = {ms_str_from_c("block in "), ms_sym_name(t, t->v[above].item)};
        machsym_str name = ms_sym_join(t, d, parts, 2);
        if (name.len != 0)
            t->names[t->v[at].item & ms_SYM_INDEX_MASK] = name;
    }
}

/* ==== >>swift ==============================================================================================
 * Job:    Swift type metadata to guesses: to which type a function belongs, and as what.
 * Uses:   bytes, reader, memory, macho, symbols.
 * Offers: ms_sw_add_names.
 * Never:  knows a method's name: the metadata does not hold it, only its place in a table. */

/* MetadataValues.h: ContextDescriptorKind, ContextDescriptorFlags, TypeContextDescriptorFlags */
enum {
    ms_SW_KIND_MODULE = 0,
    ms_SW_KIND_EXTENSION = 1,
    ms_SW_KIND_ANONYMOUS = 2,
    ms_SW_KIND_CLASS = 16,
    ms_SW_KIND_MASK = 31
};
#define ms_SW_IS_GENERIC               0x80u
#define ms_SW_METADATA_INIT            0x30000u /* 1: singleton, 2: foreign */
#define ms_SW_METADATA_INIT_SINGLETON  0x10000u
#define ms_SW_METADATA_INIT_FOREIGN    0x20000u
#define ms_SW_HAS_RESILIENT_SUPERCLASS 0x20000000u
#define ms_SW_HAS_OVERRIDE_TABLE       0x40000000u
#define ms_SW_HAS_VTABLE               0x80000000u

/* ConformanceFlags */
#define ms_SW_IS_RETROACTIVE          0x40u
#define ms_SW_HAS_RESILIENT_WITNESSES 0x10000u
#define ms_SW_CONDITIONAL_PACKS       0xff000000u

enum { ms_SW_DEPTH = 16 }; /* of types in types */

/* Where descriptors' fields lie, all of 32 bits. */
enum {
    ms_SW_PARENT = 4,
    ms_SW_NAME = 8,
    ms_SW_ACCESSOR = 12,
    ms_SW_STRUCT_END = 28,
    ms_SW_CLASS_END = 44,
    ms_SW_REQUIREMENTS = 24 /* of a protocol */
};

/* A distance whose bit 0 says that it leads to a pointer. Bit 1 may hold a flag. */
static ms_mo_pointer ms_sw_indirect(ms_mo_data *d, uint64_t addr)
{
    uint32_t raw = ms_mo_u32_at(d, addr);
    uint64_t to = addr + (uint64_t)(int64_t)(int32_t)(raw & ~3u);
    ms_mo_pointer pointer = {0, {NULL, 0}};
    if (raw == 0)
        return pointer;
    if ((raw & 1) != 0)
        return ms_mo_pointer_at(d, to);
    pointer.addr = to;
    return pointer;
}

/* The code that a distance leads to; of an asynchronous function through its record {distance of the code,
 * size}. */
static uint64_t ms_sw_code(const ms_sym_table *t, ms_mo_data *d, uint64_t addr)
{
    uint64_t to = ms_mo_relative_at(d, addr);
    if (to == 0 || ms_sym_code_at(t->code, t->code_count, to) != NULL)
        return to;
    return ms_mo_relative_at(d, to);
}

/* Module.Outer.Inner of a context descriptor; empty when a part is missing. */
static machsym_str ms_sw_type_name(ms_sym_table *t, ms_mo_data *d, uint64_t descriptor)
{
    machsym_str parts[2 * ms_SW_DEPTH];
    size_t at = 2 * ms_SW_DEPTH;
    for (unsigned depth = 0; descriptor != 0 && depth < ms_SW_DEPTH; depth++) {
        unsigned kind = ms_mo_u32_at(d, descriptor) & ms_SW_KIND_MASK;
        if (kind != ms_SW_KIND_EXTENSION && kind != ms_SW_KIND_ANONYMOUS) {
            machsym_str name = ms_mo_str_at(d, ms_mo_relative_at(d, descriptor + ms_SW_NAME));
            if (name.len == 0)
                return name;
            if (at < 2 * ms_SW_DEPTH)
                parts[--at] = ms_str_from_c(".");
            parts[--at] = name;
        }
        if (kind == ms_SW_KIND_MODULE)
            break;
        descriptor = ms_sw_indirect(d, descriptor + ms_SW_PARENT).addr;
    }
    return ms_sym_join(t, d, &parts[at], 2 * ms_SW_DEPTH - at);
}

/* "[12]", in 12 bytes of room. */
static machsym_str ms_sw_index(char *room, uint32_t index)
{
    size_t at = 12;
    room[--at] = ']';
    do {
        room[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index != 0);
    room[--at] = '[';
    return ms_str_make(room + at, 12 - at);
}

/* Adds a guess put together from parts. */
static void ms_sw_add(ms_sym_table *t, ms_mo_data *d, uint64_t code, const machsym_str *parts, size_t count)
{
    if (ms_sym_code_at(t->code, t->code_count, code) == NULL)
        return;
    machsym_str name = ms_sym_join(t, d, parts, count);
    if (name.len != 0)
        ms_sym_add_name(t, code, MACHSYM_SOURCE_SWIFT, name);
}

static void ms_sw_add_about(ms_sym_table *t, ms_mo_data *d, uint64_t code, const char *what, machsym_str type)
{
    machsym_str parts[2] = {ms_str_from_c(what), type};
    ms_sw_add(t, d, code, parts, 2);
}

/* ---- Types ---- */

/* Where a generic context's parameters and requirements end; 0 for kinds that are not known. */
static uint64_t ms_sw_past_generics(ms_mo_data *d, uint64_t at)
{
    uint32_t counts = ms_mo_u32_at(d, at + 8); /* behind cache and pattern: parameters, requirements */
    uint32_t extra = ms_mo_u32_at(d, at + 12); /* arguments, flags */
    uint64_t params = counts & 0xffff;
    uint64_t requirements = counts >> 16;
    unsigned flags = extra >> 16;
    at += 16 + ((params + 3) & ~(uint64_t)3) + 12 * requirements;
    if (flags == 1) /* type packs: a header and 8 bytes each */
        at += 4 + 8 * (uint64_t)(ms_mo_u32_at(d, at) & 0xffff);
    return flags > 1 ? 0 : at;
}

/* MethodDescriptorFlags: the low 4 bits. */
static const char *ms_sw_method_kind(uint32_t flags)
{
    static const char *const kinds[] = {".method", ".init", ".getter", ".setter", ".modify", ".read"};
    return (flags & 15) < sizeof kinds / sizeof kinds[0] ? kinds[flags & 15] : ".method";
}

/* The mangled name of a method or a protocol's requirement that another image declares; empty for one of
 * this. */
static machsym_str ms_sw_requirement(ms_mo_data *d, uint64_t addr)
{
    machsym_str name = ms_sym_c_name(ms_sw_indirect(d, addr).import);
    if (ms_str_ends(name, "Tq")) /* "method descriptor for": what it describes is before it */
        name.len -= 2;
    return name;
}

/* A class's own methods, then those it overrides. */
static void ms_sw_add_class(ms_sym_table *t, ms_mo_data *d, uint64_t at, uint32_t flags, machsym_str type)
{
    char room[12];
    if ((flags & ms_SW_HAS_VTABLE) != 0) {
        uint32_t count = ms_mo_u32_at(d, at + 4);
        at += 8;
        for (uint32_t i = 0; i < count && ms_mo_at_addr(d, at, 8).len != 0 && ms_mo_spend(d, 8);
             i++, at += 8) {
            machsym_str parts[3] = {type, ms_str_from_c(ms_sw_method_kind(ms_mo_u32_at(d, at))),
                                    ms_sw_index(room, i)};
            ms_sw_add(t, d, ms_sw_code(t, d, at + 4), parts, 3);
        }
    }
    if ((flags & ms_SW_HAS_OVERRIDE_TABLE) != 0) {
        uint32_t count = ms_mo_u32_at(d, at);
        at += 4;
        for (uint32_t i = 0; i < count && ms_mo_at_addr(d, at, 12).len != 0 && ms_mo_spend(d, 8);
             i++, at += 12) {
            machsym_str method = ms_sw_requirement(d, at + 4);
            machsym_str parts[3] = {type, ms_str_from_c(method.len != 0 ? ".override of " : ".override"),
                                    method};
            if (method.len == 0)
                parts[2] = ms_sw_index(room, i);
            ms_sw_add(t, d, ms_sw_code(t, d, at + 8), parts, 3);
        }
    }
}

/* A nominal type descriptor: class, struct or enum. */
static void ms_sw_add_type(ms_sym_table *t, ms_mo_data *d, uint64_t descriptor)
{
    uint32_t flags = ms_mo_u32_at(d, descriptor);
    bool is_class = (flags & ms_SW_KIND_MASK) == ms_SW_KIND_CLASS;
    machsym_str type = ms_sw_type_name(t, d, descriptor);
    if (type.len == 0) {
        d->damage_count++;
        return;
    }
    ms_sw_add_about(t, d, ms_sw_code(t, d, descriptor + ms_SW_ACCESSOR), "type metadata accessor for ", type);
    uint64_t at = descriptor + (is_class ? ms_SW_CLASS_END : ms_SW_STRUCT_END);
    if ((flags & ms_SW_IS_GENERIC) != 0)
        at = ms_sw_past_generics(d, at);
    if (at == 0)
        return;
    if (is_class && (flags & ms_SW_HAS_RESILIENT_SUPERCLASS) != 0)
        at += 4;
    if ((flags & ms_SW_METADATA_INIT) == ms_SW_METADATA_INIT_FOREIGN) {
        at += 4;
    } else if ((flags & ms_SW_METADATA_INIT) == ms_SW_METADATA_INIT_SINGLETON) {
        ms_sw_add_about(t, d, ms_sw_code(t, d, at + 8), "type metadata completion function for ", type);
        at += 12;
    }
    if (is_class)
        ms_sw_add_class(t, d, at, flags, type);
}

/* ---- Protocols ---- */

/* A protocol descriptor: default implementations of its requirements. */
static void ms_sw_add_protocol(ms_sym_table *t, ms_mo_data *d, uint64_t descriptor)
{
    char room[12];
    machsym_str name = ms_sw_type_name(t, d, descriptor);
    uint32_t in_signature = ms_mo_u32_at(d, descriptor + 12);
    uint32_t count = ms_mo_u32_at(d, descriptor + 16);
    uint64_t at = descriptor + ms_SW_REQUIREMENTS + 12 * (uint64_t)in_signature;
    for (uint32_t i = 0; i < count && ms_mo_at_addr(d, at, 8).len != 0 && ms_mo_spend(d, 8); i++, at += 8) {
        machsym_str parts[3] = {name, ms_str_from_c(".default"), ms_sw_index(room, i)};
        if (name.len != 0)
            ms_sw_add(t, d, ms_sw_code(t, d, at + 4), parts, 3);
    }
}

/* The type that conforms: a descriptor, or an Objective-C class. */
static machsym_str ms_sw_conforming(ms_sym_table *t, ms_mo_data *d, uint64_t conformance, uint32_t flags)
{
    uint64_t field = conformance + 4;
    unsigned kind = flags >> 3 & 7;
    ms_mo_pointer to = {ms_mo_relative_at(d, field), {NULL, 0}};
    if (kind == 1 || kind == 3)
        to = ms_mo_pointer_at(d, to.addr);
    if (kind == 2)
        return ms_mo_str_at(d, to.addr);
    if (to.import.len != 0)
        return ms_sym_c_name(to.import);
    return kind < 2 ? ms_sw_type_name(t, d, to.addr) : ms_str_empty();
}

/* Witnesses of a protocol that may grow in another image: each names the requirement that it fulfils. */
static void ms_sw_add_resilient(ms_sym_table *t, ms_mo_data *d, uint64_t at, machsym_str type)
{
    uint32_t count = ms_mo_u32_at(d, at);
    char room[12];
    at += 4;
    for (uint32_t i = 0; i < count && ms_mo_at_addr(d, at, 8).len != 0 && ms_mo_spend(d, 8); i++, at += 8) {
        machsym_str requirement = ms_sw_requirement(d, at);
        bool named = requirement.len != 0;
        machsym_str parts[5] = {ms_str_from_c("protocol witness"),
                                named ? ms_str_from_c(" for ") : ms_sw_index(room, i), requirement,
                                ms_str_from_c(" in conformance "), type};
        ms_sw_add(t, d, ms_sw_code(t, d, at + 4), parts, 5);
    }
}

/* A protocol conformance descriptor: {protocol, type, witness table, flags}. The table of a protocol of this
 * image is as long as its list of requirements; how long others are is nowhere in the file. */
static void ms_sw_add_conformance(ms_sym_table *t, ms_mo_data *d, uint64_t conformance)
{
    uint32_t flags = ms_mo_u32_at(d, conformance + 12);
    ms_mo_pointer protocol = ms_sw_indirect(d, conformance);
    uint64_t table = ms_mo_relative_at(d, conformance + 8);
    machsym_str type = ms_sw_conforming(t, d, conformance, flags);
    unsigned word = ms_mo_pointer_size(d);
    char room[12];
    if (type.len == 0)
        return;
    if (protocol.addr != 0 && table != 0) {
        machsym_str name = ms_sw_type_name(t, d, protocol.addr);
        uint32_t count = name.len != 0 ? ms_mo_u32_at(d, protocol.addr + 16) : 0;
        machsym_str parts[6] = {ms_str_from_c("protocol witness"),
                                ms_str_empty(),
                                ms_str_from_c(" for "),
                                name,
                                ms_str_from_c(" in conformance "),
                                type};
        for (uint32_t i = 0; i < count && ms_mo_at_addr(d, table, word).len != 0 && ms_mo_spend(d, 8); i++) {
            table += word; /* the first entry is the conformance itself */
            parts[1] = ms_sw_index(room, i);
            ms_sw_add(t, d, ms_mo_pointer_at(d, table).addr, parts, 6);
        }
    }
    uint64_t at = conformance + 16 + ((flags & ms_SW_IS_RETROACTIVE) != 0 ? 4 : 0) +
                  12 * (uint64_t)(flags >> 8 & 0xff); /* its module; conditions on the type's parameters */
    if ((flags & ms_SW_HAS_RESILIENT_WITNESSES) != 0 && (flags & ms_SW_CONDITIONAL_PACKS) == 0)
        ms_sw_add_resilient(t, d, at, type);
}

/* ---- Sections ---- */

/* Sections of distances, each to a descriptor. */
static void ms_sw_add_section(ms_sym_table *t, ms_mo_data *d, const char *name,
                              void (*add)(ms_sym_table *t, ms_mo_data *d, uint64_t descriptor))
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, name);
    size_t count = section != NULL ? section->bytes.len / 4 : 0;
    for (size_t i = 0; i < count && ms_mo_spend(d, 4) && !t->arena->oom; i++) {
        uint64_t descriptor = ms_sw_indirect(d, section->addr + 4 * i).addr;
        if (descriptor != 0)
            add(t, d, descriptor);
    }
}

static void ms_sw_add_names(ms_sym_table *t, ms_mo_data *d)
{
    ms_mo_refill(d);
    ms_sw_add_section(t, d, "__swift5_types", ms_sw_add_type);
    ms_sw_add_section(t, d, "__swift5_protos", ms_sw_add_protocol);
    ms_sw_add_section(t, d, "__swift5_proto", ms_sw_add_conformance);
}

/* ==== >>forms ==============================================================================================
 * Job:    DWARF's sections, abbreviations and attribute values.
 * Uses:   bytes, reader, memory.
 * Offers: ms_dw, ms_dw_abbrevs, ms_dw_skip_die, ms_dw_read_die, ms_dw_string, ms_dw_address, ms_dw_ranges.
 * Never:  knows what a unit or a function is for. */

/* DWARF5 7.5.3 to 7.5.6 and the vendors' own */
enum {
    ms_DW_TAG_compile_unit = 0x11,
    ms_DW_TAG_inlined_subroutine = 0x1d,
    ms_DW_TAG_subprogram = 0x2e,
    ms_DW_TAG_partial_unit = 0x3c,
    ms_DW_TAG_type_unit = 0x41,
    ms_DW_TAG_skeleton_unit = 0x4a,

    ms_DW_AT_name = 0x03,
    ms_DW_AT_stmt_list = 0x10,
    ms_DW_AT_low_pc = 0x11,
    ms_DW_AT_high_pc = 0x12,
    ms_DW_AT_comp_dir = 0x1b,
    ms_DW_AT_producer = 0x25,
    ms_DW_AT_abstract_origin = 0x31,
    ms_DW_AT_specification = 0x47,
    ms_DW_AT_ranges = 0x55,
    ms_DW_AT_call_column = 0x57,
    ms_DW_AT_call_file = 0x58,
    ms_DW_AT_call_line = 0x59,
    ms_DW_AT_linkage_name = 0x6e,
    ms_DW_AT_str_offsets_base = 0x72,
    ms_DW_AT_addr_base = 0x73,
    ms_DW_AT_rnglists_base = 0x74,
    ms_DW_AT_MIPS_linkage_name = 0x2007,
    ms_DW_AT_GNU_ranges_base = 0x2132,
    ms_DW_AT_GNU_addr_base = 0x2133,

    ms_DW_FORM_addr = 0x01,
    ms_DW_FORM_block2 = 0x03,
    ms_DW_FORM_block4 = 0x04,
    ms_DW_FORM_data2 = 0x05,
    ms_DW_FORM_data4 = 0x06,
    ms_DW_FORM_data8 = 0x07,
    ms_DW_FORM_string = 0x08,
    ms_DW_FORM_block = 0x09,
    ms_DW_FORM_block1 = 0x0a,
    ms_DW_FORM_data1 = 0x0b,
    ms_DW_FORM_flag = 0x0c,
    ms_DW_FORM_sdata = 0x0d,
    ms_DW_FORM_strp = 0x0e,
    ms_DW_FORM_udata = 0x0f,
    ms_DW_FORM_ref_addr = 0x10,
    ms_DW_FORM_ref1 = 0x11,
    ms_DW_FORM_ref2 = 0x12,
    ms_DW_FORM_ref4 = 0x13,
    ms_DW_FORM_ref8 = 0x14,
    ms_DW_FORM_ref_udata = 0x15,
    ms_DW_FORM_indirect = 0x16,
    ms_DW_FORM_sec_offset = 0x17,
    ms_DW_FORM_exprloc = 0x18,
    ms_DW_FORM_flag_present = 0x19,
    ms_DW_FORM_strx = 0x1a,
    ms_DW_FORM_addrx = 0x1b,
    ms_DW_FORM_ref_sup4 = 0x1c,
    ms_DW_FORM_strp_sup = 0x1d,
    ms_DW_FORM_data16 = 0x1e,
    ms_DW_FORM_line_strp = 0x1f,
    ms_DW_FORM_ref_sig8 = 0x20,
    ms_DW_FORM_implicit_const = 0x21,
    ms_DW_FORM_loclistx = 0x22,
    ms_DW_FORM_rnglistx = 0x23,
    ms_DW_FORM_ref_sup8 = 0x24,
    ms_DW_FORM_strx1 = 0x25,
    ms_DW_FORM_strx2 = 0x26,
    ms_DW_FORM_strx3 = 0x27,
    ms_DW_FORM_strx4 = 0x28,
    ms_DW_FORM_addrx1 = 0x29,
    ms_DW_FORM_addrx2 = 0x2a,
    ms_DW_FORM_addrx3 = 0x2b,
    ms_DW_FORM_addrx4 = 0x2c,
    ms_DW_FORM_GNU_addr_index = 0x1f01,
    ms_DW_FORM_GNU_str_index = 0x1f02,
    ms_DW_FORM_GNU_ref_alt = 0x1f20,
    ms_DW_FORM_GNU_strp_alt = 0x1f21,
    ms_DW_FORM_LLVM_addrx_offset = 0x2001,

    ms_DW_RLE_end_of_list = 0x00,
    ms_DW_RLE_base_addressx = 0x01,
    ms_DW_RLE_startx_endx = 0x02,
    ms_DW_RLE_startx_length = 0x03,
    ms_DW_RLE_offset_pair = 0x04,
    ms_DW_RLE_base_address = 0x05,
    ms_DW_RLE_start_end = 0x06,
    ms_DW_RLE_start_length = 0x07
};

/* Code of an object file that the linker moved: what the object has at lo stands at to in the program. */
typedef struct ms_dw_move {
    uint64_t lo;
    uint64_t hi;
    uint64_t to;
} ms_dw_move;

/* One program's debug info: sections, and where its code lies. Never changes. */
typedef struct ms_dw {
    ms_span info;
    ms_span abbrev;
    ms_span str;
    ms_span line;
    ms_span line_str;
    ms_span str_offsets;
    ms_span addr;
    ms_span ranges;
    ms_span rnglists;
    ms_span aranges;
    const ms_range
        *code; /* executable sections, sorted, apart: what lies elsewhere is a tombstone of dead code */
    size_t code_count;
    const ms_dw_move
        *moves; /* of an object in a debug map, sorted, apart; NULL: addresses are the program's */
    size_t move_count;
} ms_dw;

/* How a unit encodes its values. */
typedef struct ms_dw_enc {
    uint64_t unit_off; /* of the unit header in .debug_info: what local references count from */
    uint64_t unit_end;
    uint16_t version;
    uint8_t addr_size;
    uint8_t offset_size;       /* 4, or 8 in 64-bit DWARF */
    uint64_t str_offsets_base; /* the three bases: 0 until the unit's entry has been read */
    uint64_t addr_base;
    uint64_t rnglists_base;
    uint64_t ranges_base; /* GNU split DWARF */
    uint64_t low_pc;      /* what ranges count from */
} ms_dw_enc;

/* ---- Abbreviations ---- */

/* The attributes that are read; all others are skipped. */
typedef enum ms_dw_slot {
    ms_SLOT_NONE = 0,
    ms_SLOT_NAME,
    ms_SLOT_LINKAGE_NAME,
    ms_SLOT_ORIGIN,
    ms_SLOT_SPECIFICATION,
    ms_SLOT_LOW_PC,
    ms_SLOT_HIGH_PC,
    ms_SLOT_RANGES,
    ms_SLOT_CALL_FILE,
    ms_SLOT_CALL_LINE,
    ms_SLOT_CALL_COLUMN,
    ms_SLOT_STMT_LIST,
    ms_SLOT_COMP_DIR,
    ms_SLOT_PRODUCER,
    ms_SLOT_STR_OFFSETS_BASE,
    ms_SLOT_ADDR_BASE,
    ms_SLOT_RNGLISTS_BASE,
    ms_SLOT_RANGES_BASE,
    ms_SLOT_COUNT
} ms_dw_slot;

/* How a step gets at its value. */
typedef enum ms_dw_how {
    ms_HOW_END = 0, /* no value: only the skip */
    ms_HOW_CONST,   /* the value stands in the abbreviation */
    ms_HOW_1,       /* fixed sizes */
    ms_HOW_2,
    ms_HOW_4,
    ms_HOW_8,
    ms_HOW_ULEB,
    ms_HOW_BLOCK, /* ULEB length, then so many bytes */
    ms_HOW_FORM   /* by its form, the long way */
} ms_dw_how;

/* Skip some bytes, then skip or read one value. */
typedef struct ms_dw_step {
    uint16_t skip;
    uint16_t form;
    uint8_t how;
    uint8_t slot;     /* ms_SLOT_NONE: skip the value too */
    int64_t implicit; /* with ms_HOW_CONST */
} ms_dw_step;

/* What the walk does with an entry. */
typedef enum ms_dw_kind {
    ms_KIND_OTHER = 0, /* skips it */
    ms_KIND_FUNCTION,
    ms_KIND_INLINE,
    ms_KIND_UNIT
} ms_dw_kind;

/* One kind of entry, compiled to steps. */
typedef struct ms_dw_abbrev {
    uint32_t skip_first; /* steps that skip an entry, up to its last value of varying size */
    uint16_t skip_count;
    uint16_t read_count; /* steps that read one; 0 for ms_KIND_OTHER */
    uint32_t skip_tail;  /* bytes behind the last step that skips */
    uint32_t skip_max;   /* no entry takes more bytes than this to skip, blocks aside; UINT32_MAX: no bound */
    uint32_t read_max;   /* the same for reading */
    uint32_t read_first;
    uint16_t tag;
    uint8_t kind;
    uint8_t has_children;
    bool has_code; /* a function or call that may state where its code lies */
} ms_dw_abbrev;

enum {
    ms_BRIEF_LONG = 1, /* there is more to do than to skip it, or more to skip than a brief can tell */
    ms_BRIEF_CALL = 2  /* an inlined call that may state where its code lies */
};

/* How to skip one kind of entry at a glance: some bytes, at most one value of varying size, some bytes. */
typedef struct ms_dw_brief {
    uint16_t skip;
    uint16_t tail;  /* with the value's first byte */
    uint8_t more;   /* of the value's first byte, the bit that says that it goes on: of a number */
    uint8_t counts; /* 1: it counts bytes to skip: of a block */
    uint8_t has_children;
    uint8_t flags;
} ms_dw_brief;

/* A table of abbreviations as the units of one encoding see it. */
typedef struct ms_dw_abbrevs {
    struct ms_dw_abbrevs *next; /* in the cache */
    uint64_t off;
    uint16_t version;
    uint8_t addr_size;
    uint8_t offset_size;
    bool dense; /* codes are 1, 2, 3, ...: v[code - 1] */
    const ms_dw_abbrev *v;
    size_t count;
    const ms_key *by_code; /* when not dense: code, index into v */
    const ms_dw_step *steps;
    const ms_dw_brief *briefs; /* by code, when dense */
    size_t brief_count;        /* 0: none */
    uint32_t brief_max; /* no entry, its code included, takes more bytes than this to skip by a brief */
} ms_dw_abbrevs;

/* Bytes that a value of this form takes; -1 when that is in the data. */
static int ms_dw_form_size(uint32_t form, const ms_dw_enc *enc)
{
    switch (form) {
    case ms_DW_FORM_flag_present:
    case ms_DW_FORM_implicit_const: return 0;
    case ms_DW_FORM_data1:
    case ms_DW_FORM_flag:
    case ms_DW_FORM_ref1:
    case ms_DW_FORM_strx1:
    case ms_DW_FORM_addrx1: return 1;
    case ms_DW_FORM_data2:
    case ms_DW_FORM_ref2:
    case ms_DW_FORM_strx2:
    case ms_DW_FORM_addrx2: return 2;
    case ms_DW_FORM_strx3:
    case ms_DW_FORM_addrx3: return 3;
    case ms_DW_FORM_data4:
    case ms_DW_FORM_ref4:
    case ms_DW_FORM_ref_sup4:
    case ms_DW_FORM_strx4:
    case ms_DW_FORM_addrx4: return 4;
    case ms_DW_FORM_data8:
    case ms_DW_FORM_ref8:
    case ms_DW_FORM_ref_sig8:
    case ms_DW_FORM_ref_sup8: return 8;
    case ms_DW_FORM_data16: return 16;
    case ms_DW_FORM_addr: return enc->addr_size;
    case ms_DW_FORM_ref_addr: return enc->version <= 2 ? enc->addr_size : enc->offset_size; /* DWARF2 7.5.4 */
    case ms_DW_FORM_strp:
    case ms_DW_FORM_strp_sup:
    case ms_DW_FORM_sec_offset:
    case ms_DW_FORM_line_strp:
    case ms_DW_FORM_GNU_ref_alt:
    case ms_DW_FORM_GNU_strp_alt: return enc->offset_size;
    default: return -1;
    }
}

static bool ms_dw_form_known(uint32_t form, const ms_dw_enc *enc)
{
    switch (form) {
    case ms_DW_FORM_block:
    case ms_DW_FORM_block1:
    case ms_DW_FORM_block2:
    case ms_DW_FORM_block4:
    case ms_DW_FORM_exprloc:
    case ms_DW_FORM_string:
    case ms_DW_FORM_sdata:
    case ms_DW_FORM_udata:
    case ms_DW_FORM_ref_udata:
    case ms_DW_FORM_indirect:
    case ms_DW_FORM_strx:
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_loclistx:
    case ms_DW_FORM_rnglistx:
    case ms_DW_FORM_GNU_addr_index:
    case ms_DW_FORM_GNU_str_index:
    case ms_DW_FORM_LLVM_addrx_offset: return true;
    default: return ms_dw_form_size(form, enc) >= 0;
    }
}

static ms_dw_slot ms_dw_slot_of(uint64_t attribute)
{
    switch (attribute) {
    case ms_DW_AT_name: return ms_SLOT_NAME;
    case ms_DW_AT_linkage_name:
    case ms_DW_AT_MIPS_linkage_name: return ms_SLOT_LINKAGE_NAME;
    case ms_DW_AT_abstract_origin: return ms_SLOT_ORIGIN;
    case ms_DW_AT_specification: return ms_SLOT_SPECIFICATION;
    case ms_DW_AT_low_pc: return ms_SLOT_LOW_PC;
    case ms_DW_AT_high_pc: return ms_SLOT_HIGH_PC;
    case ms_DW_AT_ranges: return ms_SLOT_RANGES;
    case ms_DW_AT_call_file: return ms_SLOT_CALL_FILE;
    case ms_DW_AT_call_line: return ms_SLOT_CALL_LINE;
    case ms_DW_AT_call_column: return ms_SLOT_CALL_COLUMN;
    case ms_DW_AT_stmt_list: return ms_SLOT_STMT_LIST;
    case ms_DW_AT_comp_dir: return ms_SLOT_COMP_DIR;
    case ms_DW_AT_producer: return ms_SLOT_PRODUCER;
    case ms_DW_AT_str_offsets_base: return ms_SLOT_STR_OFFSETS_BASE;
    case ms_DW_AT_addr_base:
    case ms_DW_AT_GNU_addr_base: return ms_SLOT_ADDR_BASE;
    case ms_DW_AT_rnglists_base: return ms_SLOT_RNGLISTS_BASE;
    case ms_DW_AT_GNU_ranges_base: return ms_SLOT_RANGES_BASE;
    default: return ms_SLOT_NONE;
    }
}

static ms_dw_kind ms_dw_kind_of(uint64_t tag)
{
    switch (tag) {
    case ms_DW_TAG_subprogram: return ms_KIND_FUNCTION;
    case ms_DW_TAG_inlined_subroutine: return ms_KIND_INLINE;
    case ms_DW_TAG_compile_unit:
    case ms_DW_TAG_partial_unit:
    case ms_DW_TAG_type_unit:
    case ms_DW_TAG_skeleton_unit: return ms_KIND_UNIT;
    default: return ms_KIND_OTHER;
    }
}

/* Two step lists of one entry, as they grow. */
typedef struct ms_dw_compiler {
    ms_arena *arena;
    ms_dw_step *v;
    size_t count;
    size_t cap;
    uint32_t run; /* fixed bytes not yet put into a step */
} ms_dw_compiler;

static ms_dw_how ms_dw_how_of(uint32_t form, const ms_dw_enc *enc)
{
    switch (form) {
    case 0: return ms_HOW_END;
    case ms_DW_FORM_implicit_const:
    case ms_DW_FORM_flag_present: return ms_HOW_CONST;
    case ms_DW_FORM_udata:
    case ms_DW_FORM_ref_udata:
    case ms_DW_FORM_strx:
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_loclistx:
    case ms_DW_FORM_rnglistx:
    case ms_DW_FORM_GNU_addr_index:
    case ms_DW_FORM_GNU_str_index: return ms_HOW_ULEB;
    case ms_DW_FORM_block:
    case ms_DW_FORM_exprloc: return ms_HOW_BLOCK;
    default: break;
    }
    switch (ms_dw_form_size(form, enc)) {
    case 1: return ms_HOW_1;
    case 2: return ms_HOW_2;
    case 4: return ms_HOW_4;
    case 8: return ms_HOW_8;
    default: return ms_HOW_FORM;
    }
}

static void ms_dw_emit(ms_dw_compiler *c, const ms_dw_enc *enc, uint32_t form, uint32_t slot,
                       int64_t implicit)
{
    bool done = false;
    while (!done) {
        ms_dw_step *grown = (ms_dw_step *)ms_arena_grow(c->arena, c->v, c->count, &c->cap, sizeof *c->v);
        if (grown == NULL)
            return;
        c->v = grown;
        ms_dw_step *step = &c->v[c->count++];
        uint32_t part = c->run < 0xffff ? c->run : 0xffff;
        c->run -= part;
        done = c->run == 0;
        step->skip = (uint16_t)part;
        step->form = (uint16_t)(done ? form : 0);
        step->slot = (uint8_t)(done ? slot : (uint32_t)ms_SLOT_NONE);
        step->how = (uint8_t)ms_dw_how_of(step->form, enc);
        step->implicit = form == ms_DW_FORM_flag_present ? 1 : implicit;
    }
}

/* Adds an attribute to the steps; want is the slot, or ms_SLOT_NONE to skip it. */
static void ms_dw_compile_value(ms_dw_compiler *c, const ms_dw_enc *enc, uint32_t form, ms_dw_slot want,
                                int64_t implicit)
{
    int size = ms_dw_form_size(form, enc);
    if (want == ms_SLOT_NONE && size >= 0 && c->run < 0x7fffff)
        c->run += (uint32_t)size;
    else
        ms_dw_emit(c, enc, form, (uint32_t)want, implicit);
}

/* Reads the attribute specifications of one abbreviation twice: once to skip such an entry, once to read it.
 * Returns false at a form that nobody knows: nothing behind it can be found. */
static bool ms_dw_compile(ms_dw_compiler *c, const ms_dw_enc *enc, ms_rd *rd, ms_dw_abbrev *abbrev,
                          bool reading)
{
    uint32_t seen = 0; /* slots; of an attribute that is given twice the first counts: it may take no bytes */
    for (;;) {
        uint64_t attribute = ms_rd_uleb(rd);
        uint64_t form = ms_rd_uleb(rd);
        int64_t implicit = form == ms_DW_FORM_implicit_const ? ms_rd_sleb(rd) : 0;
        if (rd->failed)
            return false;
        if (attribute == 0 && form == 0)
            break;
        if (form > 0xffff || !ms_dw_form_known((uint32_t)form, enc))
            return false;
        bool is_code = attribute == ms_DW_AT_high_pc || attribute == ms_DW_AT_ranges;
        abbrev->has_code |= is_code && (abbrev->kind == ms_KIND_FUNCTION || abbrev->kind == ms_KIND_INLINE);
        ms_dw_slot slot = reading ? ms_dw_slot_of(attribute) : ms_SLOT_NONE;
        ms_dw_compile_value(c, enc, (uint32_t)form, (seen >> slot & 1) == 0 ? slot : ms_SLOT_NONE, implicit);
        seen |= 1u << slot;
    }
    return true;
}

/* An abbreviation table as it grows. */
typedef struct ms_dw_table {
    ms_dw_compiler steps;
    ms_dw_abbrev *v;
    ms_key *codes;
    size_t count;
    size_t cap;
    size_t code_cap;
} ms_dw_table;

/* How many bytes the steps may touch when every value takes its most; blocks are checked where they occur. */
static uint32_t ms_dw_most_bytes(const ms_dw_step *steps, size_t count, uint32_t tail)
{
    static const uint8_t most[] = {0, 0, 1, 2, 4, 8, 10, 10, 0};
    uint32_t sum = tail;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].how == ms_HOW_FORM || sum > 0x7fffffff)
            return UINT32_MAX;
        sum += steps[i].skip + (uint32_t)most[steps[i].how];
    }
    return sum;
}

static bool ms_dw_add_abbrev(ms_dw_table *t, const ms_dw_enc *enc, ms_rd *rd, uint64_t code)
{
    ms_arena *arena = t->steps.arena;
    uint64_t tag = ms_rd_uleb(rd);
    uint8_t children = ms_rd_u8(rd);
    ms_dw_abbrev *v = (ms_dw_abbrev *)ms_arena_grow(arena, t->v, t->count, &t->cap, sizeof *v);
    ms_key *codes = (ms_key *)ms_arena_grow(arena, t->codes, t->count, &t->code_cap, sizeof *codes);
    if (v == NULL || codes == NULL)
        return false;
    t->v = v;
    t->codes = codes;
    ms_dw_abbrev *abbrev = &v[t->count];
    ms_zero(abbrev, sizeof *abbrev);
    abbrev->tag = (uint16_t)(tag > 0xffff ? 0xffff : tag);
    abbrev->kind = (uint8_t)ms_dw_kind_of(tag);
    abbrev->has_children = children != 0;
    ms_rd again = *rd;
    size_t first = t->steps.count;
    if (!ms_dw_compile(&t->steps, enc, rd, abbrev, false))
        return false;
    abbrev->skip_first = (uint32_t)first;
    abbrev->skip_tail = t->steps.run;
    t->steps.run = 0;
    size_t mid = t->steps.count;
    if (abbrev->kind != ms_KIND_OTHER) {
        if (!ms_dw_compile(&t->steps, enc, &again, abbrev, true))
            return false;
        ms_dw_emit(&t->steps, enc, 0, 0, 0);
    }
    if (t->steps.count - first > 0xffff)
        return false;
    abbrev->skip_count = (uint16_t)(mid - first);
    abbrev->skip_max = ms_dw_most_bytes(t->steps.v + first, mid - first, abbrev->skip_tail);
    abbrev->read_first = (uint32_t)mid;
    abbrev->read_count = (uint16_t)(t->steps.count - mid);
    abbrev->read_max = ms_dw_most_bytes(t->steps.v + mid, t->steps.count - mid, 0);
    codes[t->count].key = code;
    codes[t->count].item = t->count;
    t->count++;
    return true;
}

/* The brief of one kind of entry. */
static ms_dw_brief ms_dw_brief_of(const ms_dw_abbrev *abbrev, const ms_dw_step *steps)
{
    ms_dw_brief brief;
    const ms_dw_step *step = abbrev->skip_count == 1 ? &steps[abbrev->skip_first] : NULL;
    ms_zero(&brief, sizeof brief);
    brief.has_children = abbrev->has_children;
    brief.flags = abbrev->has_code ? (abbrev->kind == ms_KIND_INLINE ? ms_BRIEF_CALL : ms_BRIEF_LONG) : 0;
    if (abbrev->skip_count > 1 || abbrev->skip_tail > 0x7fff ||
        (step != NULL && step->how != ms_HOW_ULEB && step->how != ms_HOW_BLOCK)) {
        brief.flags |= ms_BRIEF_LONG;
        return brief;
    }
    brief.tail = (uint16_t)abbrev->skip_tail;
    if (step != NULL) {
        brief.skip = step->skip;
        brief.tail++;
        brief.more = step->how == ms_HOW_ULEB ? 0x80 : 0;
        brief.counts = step->how == ms_HOW_BLOCK;
    }
    return brief;
}

static void ms_dw_add_briefs(ms_dw_abbrevs *table, ms_arena *arena)
{
    ms_dw_brief *briefs = (ms_dw_brief *)ms_arena_zeroed(arena, table->count + 1, sizeof *briefs);
    if (briefs == NULL)
        return;
    for (size_t i = 0; i < table->count; i++) {
        ms_dw_brief *brief = &briefs[i + 1];
        *brief = ms_dw_brief_of(&table->v[i], table->steps);
        uint32_t most = 4u + brief->skip + brief->tail + 0x7fu;
        table->brief_max = table->brief_max < most ? most : table->brief_max;
    }
    table->briefs = briefs;
    table->brief_count = table->count;
}

/* Decodes the table at an offset of .debug_abbrev. A damaged table keeps what came before the damage. */
static ms_dw_abbrevs *ms_dw_abbrevs_make(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_arena *arena)
{
    ms_rd rd = ms_rd_at(dw->abbrev, off);
    ms_dw_table t;
    ms_zero(&t, sizeof t);
    t.steps.arena = arena;
    t.steps.v = (ms_dw_step *)ms_arena_grow(arena, NULL, 0, &t.steps.cap, sizeof *t.steps.v);
    if (t.steps.v == NULL) /* never NULL below: tables without a step are indexed too */
        return NULL;
    bool dense = true;
    for (uint64_t code = ms_rd_uleb(&rd); code != 0 && !rd.failed; code = ms_rd_uleb(&rd)) {
        if (!ms_dw_add_abbrev(&t, enc, &rd, code))
            break;
        dense = dense && code == t.count;
    }
    ms_dw_abbrevs *table = (ms_dw_abbrevs *)ms_arena_zeroed(arena, 1, sizeof *table);
    if (table == NULL)
        return NULL;
    if (!dense)
        ms_sort(t.codes, t.count, (ms_key *)ms_arena_alloc(arena, t.count, sizeof *t.codes));
    if (arena->oom)
        return NULL;
    table->off = off;
    table->version = enc->version;
    table->addr_size = enc->addr_size;
    table->offset_size = enc->offset_size;
    table->dense = dense;
    table->v = t.v;
    table->count = t.count;
    table->by_code = t.codes;
    table->steps = t.steps.v;
    if (dense)
        ms_dw_add_briefs(table, arena);
    return arena->oom ? NULL : table;
}

static inline const ms_dw_abbrev *ms_dw_abbrev_from_code(const ms_dw_abbrevs *table, uint64_t code)
{
    if (code - 1 < table->count && table->dense)
        return &table->v[code - 1];
    if (table->dense)
        return NULL;
    size_t at = ms_upper_bound(table->by_code, table->count, code - 1); /* the first of equal codes */
    if (at == table->count || table->by_code[at].key != code)
        return NULL;
    return &table->v[table->by_code[at].item];
}

/* ---- Values ---- */

/* Skips a value whose size is in the data. */
static void ms_dw_skip_value(ms_rd *rd, uint32_t form, const ms_dw_enc *enc)
{
    for (unsigned budget = 4; budget > 0; budget--) {
        switch (form) {
        case 0: return;
        case ms_DW_FORM_block1: ms_rd_skip(rd, ms_rd_u8(rd)); return;
        case ms_DW_FORM_block2: ms_rd_skip(rd, ms_rd_u16(rd)); return;
        case ms_DW_FORM_block4: ms_rd_skip(rd, ms_rd_u32(rd)); return;
        case ms_DW_FORM_block:
        case ms_DW_FORM_exprloc: ms_rd_skip(rd, ms_rd_uleb(rd)); return;
        case ms_DW_FORM_string: ms_rd_str(rd); return;
        case ms_DW_FORM_sdata: ms_rd_sleb(rd); return;
        case ms_DW_FORM_udata:
        case ms_DW_FORM_ref_udata:
        case ms_DW_FORM_strx:
        case ms_DW_FORM_addrx:
        case ms_DW_FORM_loclistx:
        case ms_DW_FORM_rnglistx:
        case ms_DW_FORM_GNU_addr_index:
        case ms_DW_FORM_GNU_str_index: ms_rd_uleb(rd); return;
        case ms_DW_FORM_LLVM_addrx_offset:
            ms_rd_uleb(rd);
            ms_rd_skip(rd, 4);
            return;
        case ms_DW_FORM_indirect: {
            uint64_t actual = ms_rd_uleb(rd);
            form = actual > 0xffff || actual == 0 ? 0xffffu : (uint32_t)actual;
            break;
        }
        default: {
            int size = ms_dw_form_size(form, enc);
            if (size < 0 ||
                form == ms_DW_FORM_implicit_const) /* an indirect form cannot bring its constant along */
                ms_rd_fail(rd);
            else
                ms_rd_skip(rd, (uint64_t)size);
            return;
        }
        }
    }
    ms_rd_fail(rd);
}

/* Skips what steps tell from step on, each checked against the end of the unit. Returns NULL when that comes
 * first. */
static const uint8_t *ms_dw_skip_slowly(const ms_dw_abbrev *abbrev, const ms_dw_step *step,
                                        const ms_dw_step *stop, const uint8_t *p, const uint8_t *end,
                                        const ms_dw_enc *enc)
{
    ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
    for (; step < stop && !rd.failed; step++) {
        ms_rd_skip(&rd, step->skip);
        ms_dw_skip_value(&rd, step->form, enc);
    }
    ms_rd_skip(&rd, abbrev->skip_tail);
    return rd.failed ? NULL : rd.p;
}

/* Skips the values of an entry. Returns NULL when the unit ends before they do. One check covers all numbers
 * of up to 10 bytes; a block is checked where it ends, and whatever else is left goes the long way. */
static inline const uint8_t *ms_dw_skip_die(const ms_dw_abbrevs *table, const ms_dw_abbrev *abbrev,
                                            const uint8_t *p, const uint8_t *end, const ms_dw_enc *enc)
{
    const ms_dw_step *step = &table->steps[abbrev->skip_first];
    const ms_dw_step *stop = step + abbrev->skip_count;
    if (abbrev->skip_max > (size_t)(end - p))
        return ms_dw_skip_slowly(abbrev, step, stop, p, end, enc);
    for (; step < stop; step++) {
        MACHSYM_COUNT_WORK(1);
        p += step->skip;
        const uint8_t *value = p;
        while (*p >= 0x80 && p - value < 9)
            p++;
        uint8_t first = *value;
        if (*p++ >= 0x80) /* longer than any number */
            return NULL;
        if (step->how == ms_HOW_ULEB)
            continue;
        if (step->how != ms_HOW_BLOCK || first >= 0x80 || first > end - p ||
            abbrev->skip_max > (size_t)(end - p) - first)
            return ms_dw_skip_slowly(abbrev, step, stop, value - step->skip, end, enc);
        p += first;
    }
    return p + abbrev->skip_tail;
}

/* Skips the values of an entry at a glance, at least brief_max bytes before the end. Returns NULL when it
 * takes the long way. Jumps that are foreseen beat arithmetic here: the next entry is found before this one's
 * bytes are there. */
static inline const uint8_t *ms_dw_skip_brief(const ms_dw_brief *brief, uint8_t stops_at, const uint8_t *p)
{
    if ((brief->flags & stops_at) != 0)
        return NULL;
    p += brief->skip;
    if ((*p & brief->more) != 0 && *++p >= 0x80 && *++p >= 0x80)
        return NULL;
    if (brief->counts != 0) {
        if (*p >= 0x80)
            return NULL;
        p += *p;
    }
    return p + brief->tail;
}

/* An attribute's value as stored. */
typedef struct ms_dw_value {
    uint64_t u;       /* number, offset, index, or signed number */
    const char *text; /* of DW_FORM_string */
    uint32_t text_len;
    uint32_t form; /* 0: the entry has no such attribute */
} ms_dw_value;

static ms_dw_value ms_dw_read_value(ms_rd *rd, uint32_t form, int64_t implicit, const ms_dw_enc *enc)
{
    ms_dw_value value;
    value.u = 0;
    value.text = NULL;
    value.text_len = 0;
    if (form == ms_DW_FORM_indirect) {
        uint64_t actual = ms_rd_uleb(rd);
        form = actual > 0xffff ? 0 : (uint32_t)actual;
        if (form == 0 || form == ms_DW_FORM_indirect || form == ms_DW_FORM_implicit_const)
            ms_rd_fail(rd);
    }
    value.form = form;
    switch (form) {
    case ms_DW_FORM_flag_present: value.u = 1; break;
    case ms_DW_FORM_implicit_const: value.u = (uint64_t)implicit; break;
    case ms_DW_FORM_sdata: value.u = (uint64_t)ms_rd_sleb(rd); break;
    case ms_DW_FORM_udata:
    case ms_DW_FORM_ref_udata:
    case ms_DW_FORM_strx:
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_rnglistx:
    case ms_DW_FORM_GNU_addr_index:
    case ms_DW_FORM_GNU_str_index: value.u = ms_rd_uleb(rd); break;
    case ms_DW_FORM_string: {
        machsym_str text = ms_rd_str(rd);
        value.text = text.ptr;
        value.text_len = text.len > UINT32_MAX ? UINT32_MAX : (uint32_t)text.len;
        break;
    }
    case ms_DW_FORM_data16: ms_rd_skip(rd, 16); break;
    default: {
        int size = ms_dw_form_size(form, enc);
        if (size >= 0)
            value.u = ms_rd_uint(rd, (unsigned)size);
        else
            ms_dw_skip_value(rd, form, enc);
        break;
    }
    }
    return value;
}

/* The attributes of an entry that matter, by slot. */
typedef struct ms_dw_die {
    uint32_t present; /* one bit for every slot that is set */
    ms_dw_value v[ms_SLOT_COUNT];
} ms_dw_die;

/* An attribute of an entry; a value of form 0 when the entry does not have it. */
static inline const ms_dw_value *ms_dw_get(const ms_dw_die *die, ms_dw_slot slot)
{
    static const ms_dw_value absent = {0, NULL, 0, 0};
    return (die->present >> slot & 1) != 0 ? &die->v[slot] : &absent;
}

static void ms_dw_read_slowly(const ms_dw_step *step, size_t count, ms_rd *rd, const ms_dw_enc *enc,
                              ms_dw_die *die)
{
    for (; count > 0 && !rd->failed; step++, count--) {
        MACHSYM_COUNT_WORK(1);
        ms_rd_skip(rd, step->skip);
        if (step->slot == ms_SLOT_NONE)
            ms_dw_skip_value(rd, step->form, enc);
        else
            die->v[step->slot] = ms_dw_read_value(rd, step->form, step->implicit, enc);
        die->present |= 1u << step->slot;
    }
}

/* A ULEB128 number in a window of 10 bytes. Returns NULL when it is longer. */
static inline const uint8_t *ms_dw_raw_uleb(const uint8_t *p, uint64_t *out)
{
    uint64_t value = *p & 0x7f;
    if (*p++ < 0x80) {
        *out = value;
        return p;
    }
    for (unsigned shift = 7; shift < 63; shift += 7) {
        value |= (uint64_t)(*p & 0x7f) << shift;
        if (*p++ < 0x80) {
            *out = value;
            return p;
        }
    }
    return NULL;
}

/* Reads an entry inside a window that was checked once: room bytes at p are there, and no value but a block
 * takes more than ms_dw_most_bytes counted. Returns NULL where that does not hold: the long way reads it
 * then. */
static const uint8_t *ms_dw_read_window(const ms_dw_step *step, size_t count, const uint8_t *p,
                                        const uint8_t *end, size_t most, ms_dw_die *die)
{
    uint32_t present = 0;
    for (; count > 0; step++, count--) {
        MACHSYM_COUNT_WORK(1);
        uint64_t u = 0;
        p += step->skip;
        switch (step->how) {
        case ms_HOW_CONST: u = (uint64_t)step->implicit; break;
        case ms_HOW_1: u = *p++; break;
        case ms_HOW_2: u = ms_rd_raw_u16(p), p += 2; break;
        case ms_HOW_4: u = ms_rd_raw_u32(p), p += 4; break;
        case ms_HOW_8: u = ms_rd_raw_u64(p), p += 8; break;
        case ms_HOW_ULEB:
        case ms_HOW_BLOCK: p = ms_dw_raw_uleb(p, &u); break;
        default: break;
        }
        if (p == NULL)
            return NULL;
        if (step->how == ms_HOW_BLOCK) {
            if (u > (size_t)(end - p) || (size_t)(end - p) - u < most)
                return NULL;
            p += u;
        }
        die->v[step->slot].u = u; /* skipped values land in slot 0, which nobody reads */
        die->v[step->slot].form = step->form;
        present |= 1u << step->slot;
    }
    die->present = present;
    return p;
}

/* Reads the values of an entry whose kind is not ms_KIND_OTHER. */
static void ms_dw_read_die(const ms_dw_abbrevs *table, const ms_dw_abbrev *abbrev, ms_rd *rd,
                           const ms_dw_enc *enc, ms_dw_die *die)
{
    const ms_dw_step *steps = &table->steps[abbrev->read_first];
    const uint8_t *p = NULL;
    die->present = 0;
    if (abbrev->read_max <= ms_rd_left(rd))
        p = ms_dw_read_window(steps, abbrev->read_count, rd->p, rd->end, abbrev->read_max, die);
    if (p != NULL)
        rd->p = p;
    else
        ms_dw_read_slowly(steps, abbrev->read_count, rd, enc, die);
}

/* The n-th entry of .debug_str_offsets, from this unit's base on. DWARF5 7.26 */
static machsym_str ms_dw_string_indexed(const ms_dw *dw, const ms_dw_enc *enc, uint64_t index)
{
    uint64_t at;
    if (index > dw->str_offsets.len || !ms_add_ok(enc->str_offsets_base, index * enc->offset_size, &at))
        return ms_str_empty();
    ms_rd rd = ms_rd_at(dw->str_offsets, at);
    uint64_t off = ms_rd_uint(&rd, enc->offset_size);
    return rd.failed ? ms_str_empty() : ms_rd_str_at(dw->str, off);
}

/* The text that a value stands for; empty when it is none, or is damaged. */
static machsym_str ms_dw_string(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *value)
{
    switch (value->form) {
    case ms_DW_FORM_string:
        return value->text_len < MACHSYM_MAX_TEXT ? ms_str_make(value->text, value->text_len)
                                                  : ms_str_empty();
    case ms_DW_FORM_strp: return ms_rd_str_at(dw->str, value->u);
    case ms_DW_FORM_line_strp: return ms_rd_str_at(dw->line_str, value->u);
    case ms_DW_FORM_strx:
    case ms_DW_FORM_strx1:
    case ms_DW_FORM_strx2:
    case ms_DW_FORM_strx3:
    case ms_DW_FORM_strx4:
    case ms_DW_FORM_GNU_str_index: return ms_dw_string_indexed(dw, enc, value->u);
    default: return ms_str_empty();
    }
}

static bool ms_dw_address_indexed(const ms_dw *dw, const ms_dw_enc *enc, uint64_t index, uint64_t *out)
{
    uint64_t at;
    if (index > dw->addr.len || !ms_add_ok(enc->addr_base, index * enc->addr_size, &at) ||
        at > dw->addr.len || dw->addr.len - at < enc->addr_size)
        return false;
    *out = enc->addr_size == 8 ? ms_rd_raw_u64(dw->addr.ptr + at) : ms_rd_raw_u32(dw->addr.ptr + at);
    return true;
}

/* The address that a value stands for. Returns false when it is none. */
static bool ms_dw_address(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *value, uint64_t *out)
{
    switch (value->form) {
    case ms_DW_FORM_addr: *out = value->u; return true;
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_addrx1:
    case ms_DW_FORM_addrx2:
    case ms_DW_FORM_addrx3:
    case ms_DW_FORM_addrx4:
    case ms_DW_FORM_GNU_addr_index: return ms_dw_address_indexed(dw, enc, value->u, out);
    default: return false;
    }
}

/* The offset in .debug_info that a reference stands for. Returns false when it is none, or leaves its
 * unit. */
static bool ms_dw_reference(const ms_dw_enc *enc, const ms_dw_value *value, uint64_t *out)
{
    switch (value->form) {
    case ms_DW_FORM_ref_addr: *out = value->u; return true;
    case ms_DW_FORM_ref1:
    case ms_DW_FORM_ref2:
    case ms_DW_FORM_ref4:
    case ms_DW_FORM_ref8:
    case ms_DW_FORM_ref_udata:
        *out = enc->unit_off + value->u;
        return value->u < enc->unit_end - enc->unit_off;
    default: return false;
    }
}

/* ---- Ranges ---- */

/* A growing list, in the order found. */
typedef struct ms_ranges {
    ms_arena *arena;
    ms_range *v;
    size_t count;
    size_t cap;
    uint64_t budget; /* list entries that may still be read: lists may overlap in a hostile file */
} ms_ranges;

enum { ms_DW_FEW_RANGES = 16 }; /* lists up to this length need not be sorted: they are looked through */

/* The range of a list that holds an address; NULL when none does. Longer lists are sorted and do not overlap. */
static inline const ms_range *ms_dw_range_at(const ms_range *v, size_t count, uint64_t addr)
{
    while (count > ms_DW_FEW_RANGES) {
        size_t half = count / 2;
        bool above = v[half].lo <= addr;
        v += above ? half : 0;
        count = above ? count - half : half;
    }
    for (size_t i = 0; i < count; i++) {
        MACHSYM_COUNT_WORK(1);
        if (addr >= v[i].lo && addr < v[i].hi)
            return &v[i];
    }
    return NULL;
}

/* Which executable section holds an address; NULL when none does. */
static const ms_range *ms_dw_code_at(const ms_dw *dw, uint64_t addr)
{
    return ms_dw_range_at(dw->code, dw->code_count, addr);
}

/* The first move that ends above an object's address; move_count when none does. */
static size_t ms_dw_move_at(const ms_dw *dw, uint64_t addr)
{
    size_t lo = 0;
    for (size_t left = dw->move_count; left > 0;) {
        size_t half = left / 2;
        if (dw->moves[lo + half].hi <= addr) {
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return lo;
}

/* Turns an object's range, as far as it moved as one piece, into the program's. Returns false for what the
 * linker left out. */
static bool ms_dw_move_range(const ms_dw *dw, uint64_t *lo, uint64_t *hi)
{
    size_t at = ms_dw_move_at(dw, *lo);
    if (at == dw->move_count || *lo < dw->moves[at].lo)
        return false;
    const ms_dw_move *move = &dw->moves[at];
    uint64_t end = *hi < move->hi ? *hi : move->hi;
    *hi = move->to + (end - move->lo);
    *lo = move->to + (*lo - move->lo);
    return true;
}

/* Makes [lo, hi) a range of code; ends of sections cut it. Returns false when it is none. */
static inline bool ms_dw_code_range(const ms_dw *dw, uint64_t lo, uint64_t hi, ms_range *out)
{
    if (dw->moves != NULL && (lo >= hi || !ms_dw_move_range(dw, &lo, &hi)))
        return false;
    const ms_range *code = lo < hi ? ms_dw_code_at(dw, lo) : NULL;
    if (code == NULL)
        return false;
    out->lo = lo;
    out->hi = hi < code->hi ? hi : code->hi;
    return true;
}

static void ms_dw_add_piece(const ms_dw *dw, ms_ranges *list, uint64_t lo, uint64_t hi)
{
    ms_range range;
    if (!ms_dw_code_range(dw, lo, hi, &range))
        return;
    ms_range *v = (ms_range *)ms_arena_grow(list->arena, list->v, list->count, &list->cap, sizeof *v);
    if (v == NULL)
        return;
    list->v = v;
    v[list->count++] = range;
}

/* Adds [lo, hi): in an object, every piece of it that moved by itself. */
static void ms_dw_add_range(const ms_dw *dw, ms_ranges *list, uint64_t lo, uint64_t hi)
{
    if (dw->moves == NULL) {
        ms_dw_add_piece(dw, list, lo, hi);
        return;
    }
    for (size_t i = ms_dw_move_at(dw, lo); i < dw->move_count && dw->moves[i].lo < hi; i++) {
        ms_dw_add_piece(dw, list, dw->moves[i].lo > lo ? dw->moves[i].lo : lo, hi);
        if (list->budget == 0)
            return;
        list->budget--;
    }
}

static uint64_t ms_dw_all_ones(const ms_dw_enc *enc)
{
    return enc->addr_size >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * enc->addr_size)) - 1;
}

/* .debug_ranges, DWARF4 2.17.3. */
static bool ms_dw_ranges_4(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_ranges *list)
{
    ms_rd rd = ms_rd_at(dw->ranges, off);
    uint64_t base = enc->low_pc;
    uint64_t escape = ms_dw_all_ones(enc);
    for (; !rd.failed && list->budget > 0; list->budget--) {
        uint64_t lo = ms_rd_uint(&rd, enc->addr_size);
        uint64_t hi = ms_rd_uint(&rd, enc->addr_size);
        if (rd.failed || (lo == 0 && hi == 0))
            break;
        if (lo == escape)
            base = hi;
        else
            ms_dw_add_range(dw, list, (base + lo) & escape, (base + hi) & escape);
    }
    return !rd.failed && list->budget > 0;
}

/* One entry of a .debug_rnglists list. Returns false at the end of the list, or at damage, which fails rd. */
static bool ms_dw_range_entry(const ms_dw *dw, const ms_dw_enc *enc, ms_rd *rd, uint64_t *base,
                              ms_ranges *list)
{
    uint64_t lo = 0;
    uint64_t hi = 0;
    bool known = true;
    switch (ms_rd_u8(rd)) {
    case ms_DW_RLE_end_of_list: return false;
    case ms_DW_RLE_base_addressx:
        if (!ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), base))
            *base = 0;
        return true;
    case ms_DW_RLE_base_address: *base = ms_rd_uint(rd, enc->addr_size); return true;
    case ms_DW_RLE_startx_endx:
        known = ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), &lo);
        known = ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), &hi) && known;
        break;
    case ms_DW_RLE_startx_length:
        known = ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), &lo);
        hi = lo + ms_rd_uleb(rd);
        break;
    case ms_DW_RLE_offset_pair:
        lo = *base + ms_rd_uleb(rd);
        hi = *base + ms_rd_uleb(rd);
        break;
    case ms_DW_RLE_start_end:
        lo = ms_rd_uint(rd, enc->addr_size);
        hi = ms_rd_uint(rd, enc->addr_size);
        break;
    case ms_DW_RLE_start_length:
        lo = ms_rd_uint(rd, enc->addr_size);
        hi = lo + ms_rd_uleb(rd);
        break;
    default: ms_rd_fail(rd); return false;
    }
    if (known && !rd->failed)
        ms_dw_add_range(dw, list, lo, hi);
    return true;
}

/* .debug_rnglists, DWARF5 2.17.3. */
static bool ms_dw_ranges_5(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_ranges *list)
{
    ms_rd rd = ms_rd_at(dw->rnglists, off);
    uint64_t base = enc->low_pc;
    while (!rd.failed && list->budget > 0 && ms_dw_range_entry(dw, enc, &rd, &base, list))
        list->budget--;
    return !rd.failed && list->budget > 0;
}

/* Adds the ranges that a DW_AT_ranges value stands for. Returns false when the list is damaged or missing. */
static bool ms_dw_ranges(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *value, ms_ranges *list)
{
    uint64_t off = value->u;
    if (enc->version < 5)
        return ms_dw_ranges_4(dw, enc, enc->ranges_base + off, list);
    if (value->form == ms_DW_FORM_rnglistx) {
        uint64_t at;
        if (off > dw->rnglists.len || !ms_add_ok(enc->rnglists_base, off * enc->offset_size, &at))
            return false;
        ms_rd rd = ms_rd_at(dw->rnglists, at);
        off = enc->rnglists_base + ms_rd_uint(&rd, enc->offset_size);
        if (rd.failed)
            return false;
    }
    return ms_dw_ranges_5(dw, enc, off, list);
}

/* Where an entry's code lies by low_pc with high_pc, which is an address or a size (DWARF4 2.17.2).
 * Returns false when the entry has none that is alive. */
static inline bool ms_dw_low_high(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *low,
                                  const ms_dw_value *high, ms_range *out)
{
    uint64_t lo;
    uint64_t hi;
    if (low->form == 0 || high->form == 0 || !ms_dw_address(dw, enc, low, &lo))
        return false;
    if (!ms_dw_address(dw, enc, high, &hi))
        hi = lo + high->u;
    return ms_dw_code_range(dw, lo, hi, out);
}

/* The same of an entry whose code may have moved in several pieces: adds them. */
static void ms_dw_add_low_high(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *low,
                               const ms_dw_value *high, ms_ranges *list)
{
    uint64_t lo;
    uint64_t hi;
    if (low->form == 0 || high->form == 0 || !ms_dw_address(dw, enc, low, &lo))
        return;
    if (!ms_dw_address(dw, enc, high, &hi))
        hi = lo + high->u;
    if (lo < hi)
        ms_dw_add_range(dw, list, lo, hi);
}

/* ==== >>units ==============================================================================================
 * Job:    unit headers and root entries, and which unit covers an address.
 * Uses:   platform, bytes, reader, memory, segments, forms.
 * Offers: ms_cu_index, ms_cu_from_offset, ms_cu_root, ms_cu_scan_aranges, ms_cu_arange_segments, ms_cu_range_segments.
 * Never:  reads past a root entry; does arithmetic on the offsets in .debug_aranges. */

/* DWARF5 7.5.1 */
enum {
    ms_DW_UT_type = 0x02,
    ms_DW_UT_skeleton = 0x04,
    ms_DW_UT_split_compile = 0x05,
    ms_DW_UT_split_type = 0x06
};

/* A unit header. */
typedef struct ms_cu {
    uint64_t off; /* of the header in .debug_info */
    uint64_t end; /* first byte past the unit */
    uint64_t abbrev_off;
    uint32_t root; /* header size: where the root entry begins, from off */
    uint16_t version;
    uint8_t addr_size;
    uint8_t offset_size;
    uint8_t unit_type; /* DWARF 5; 0 before */
    bool is_damaged;   /* a version or size that cannot be read; the unit is left out */
} ms_cu;

/* A unit's root entry, read. */
typedef struct ms_cu_root {
    ms_dw_enc enc;
    const ms_dw_abbrevs *abbrevs;
    uint64_t first_child; /* offset in .debug_info; enc.unit_end when there is none */
    uint16_t tag;
    bool has_line;
    uint64_t line_off; /* DW_AT_stmt_list */
    machsym_str name;
    machsym_str comp_dir;
    machsym_str producer;
    ms_dw_value ranges; /* what it states of its code */
    ms_dw_value low_pc;
    ms_dw_value high_pc;
} ms_cu_root;

enum {
    ms_CLAIM_ARANGES = 1,      /* .debug_aranges has a set of the unit */
    ms_CLAIM_LOST_ARANGES = 2, /* and gives some of its code to another one */
    ms_CLAIM_RANGES = 4,       /* the unit states its ranges */
    ms_CLAIM_LOST_RANGES = 8   /* and another one states some of them before */
};

/* The units of one program, and what has been decoded of their frames so far. */
typedef struct ms_cu_env {
    const ms_dw *dw;
    const ms_cu *v;
    size_t count;
    ms_arena *arena;    /* for the tables and roots */
    ms_key *table_offs; /* where units' abbreviations begin: sorted, each once */
    size_t table_count;
    ms_dw_abbrevs **tables; /* by number in table_offs: of all encodings */
    ms_cu_root **roots;     /* by unit; NULL: not read yet */
    ms_key *programs;       /* line programs: offset, unit; NULL: not listed yet */
    size_t program_count;
    uint8_t *claims; /* by unit: ms_CLAIM_* as far as tables of claims have been made; NULL: memory is out */
} ms_cu_env;

/* ---- Headers ---- */

enum { ms_CU_HEADER = 48 }; /* no header is longer */

/* Reads the header at off from its first bytes, ms_CU_HEADER or as many as the left ones. Returns false when
 * no next header can be found. */
static bool ms_cu_read_header(ms_span first, uint64_t off, uint64_t left, ms_cu *cu)
{
    ms_rd rd = ms_rd_make(first);
    ms_zero(cu, sizeof *cu);
    cu->off = off;
    cu->offset_size = 4;
    uint64_t len = ms_rd_u32(&rd);
    if (len == 0xffffffff) {
        cu->offset_size = 8;
        len = ms_rd_u64(&rd);
    } else if (len >= 0xfffffff0) {
        ms_rd_fail(&rd); /* reserved, DWARF5 7.2.2 */
    }
    if (rd.failed || len == 0)
        return false;
    left -= ms_rd_offset(&rd);
    bool whole = len <= left;
    len = whole ? len : left;
    cu->end = off + ms_rd_offset(&rd) + len;
    if (len < ms_rd_left(&rd))
        rd.end = rd.p + len;
    cu->version = ms_rd_u16(&rd);
    if (cu->version >= 5) {
        cu->unit_type = ms_rd_u8(&rd);
        cu->addr_size = ms_rd_u8(&rd);
        cu->abbrev_off = ms_rd_uint(&rd, cu->offset_size);
        if (cu->unit_type == ms_DW_UT_skeleton || cu->unit_type == ms_DW_UT_split_compile)
            ms_rd_skip(&rd, 8);
        if (cu->unit_type == ms_DW_UT_type || cu->unit_type == ms_DW_UT_split_type)
            ms_rd_skip(&rd, 8 + (uint64_t)cu->offset_size);
    } else {
        cu->abbrev_off = ms_rd_uint(&rd, cu->offset_size);
        cu->addr_size = ms_rd_u8(&rd);
    }
    cu->root = (uint32_t)ms_rd_offset(&rd);
    cu->is_damaged = rd.failed || cu->version < 2 || cu->version > 5 || !whole ||
                     (cu->addr_size != 4 && cu->addr_size != 8);
    return whole;
}

/* The first bytes of a unit. Headers lie far apart: they are copied out of a file (NULL: there is none) that
 * is mapped. */
static ms_span ms_cu_peek(const ms_dw *dw, const struct ms_os_file *file, uint64_t off, uint8_t *room)
{
    ms_span first = ms_span_from(dw->info, off);
    first.len = first.len < ms_CU_HEADER ? first.len : (size_t)ms_CU_HEADER;
#ifndef MACHSYM_NO_OS
    if (file != NULL && ms_os_peek(file, first.ptr, room, first.len))
        first.ptr = room;
#else
    (void)file;
    (void)room;
#endif
    return first;
}

/* Lists the unit headers, by offset. Returns NULL and *count 0 when there are none. */
static const ms_cu *ms_cu_index(const ms_dw *dw, const struct ms_os_file *file, ms_arena *arena,
                                size_t *count, uint32_t *damage_count)
{
    ms_cu *v = NULL;
    size_t cap = 0;
    bool more = true;
    *count = 0;
    for (uint64_t off = 0; more && off < dw->info.len; off = v[*count - 1].end) {
        ms_cu cu;
        uint8_t room[ms_CU_HEADER];
        more = ms_cu_read_header(ms_cu_peek(dw, file, off, room), off, dw->info.len - off, &cu);
        if (cu.end == 0) {
            ++*damage_count;
            break;
        }
        ms_cu *grown = (ms_cu *)ms_arena_grow(arena, v, *count, &cap, sizeof *v);
        if (grown == NULL)
            break;
        v = grown;
        v[(*count)++] = cu;
        *damage_count += cu.is_damaged;
    }
    return v;
}

/* Which unit contains an offset of .debug_info, header included; count when none does. */
static size_t ms_cu_from_offset(const ms_cu *v, size_t count, uint64_t off)
{
    size_t lo = 0;
    size_t left = count;
    while (left > 0) {
        size_t half = left / 2;
        if (v[lo + half].off <= off) {
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return lo > 0 && off < v[lo - 1].end ? lo - 1 : count;
}

/* ---- Root entries ---- */

/* Lists where tables begin. A table ends where the next begins, so that none can be read many times over. */
static bool ms_cu_list_tables(ms_cu_env *env)
{
    size_t count = 0;
    for (size_t i = 0; i < env->count; i++)
        count += i == 0 || env->v[i].abbrev_off != env->v[i - 1].abbrev_off;
    ms_key *offs = (ms_key *)ms_arena_alloc(env->arena, count, sizeof *offs);
    ms_key *room = count > 1 ? (ms_key *)ms_arena_alloc(env->arena, count, sizeof *offs) : NULL;
    ms_dw_abbrevs **tables = (ms_dw_abbrevs **)ms_arena_zeroed(env->arena, count, sizeof *tables);
    if (offs == NULL || tables == NULL)
        return false;
    count = 0;
    for (size_t i = 0; i < env->count; i++) {
        if (i > 0 && env->v[i].abbrev_off == env->v[i - 1].abbrev_off)
            continue;
        offs[count].key = env->v[i].abbrev_off;
        offs[count].item = count;
        count++;
    }
    ms_sort(offs, count, room);
    env->table_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || offs[i].key != offs[i - 1].key)
            offs[env->table_count++] = offs[i];
    }
    env->tables = tables;
    env->table_offs = offs;
    return true;
}

static const ms_dw_abbrevs *ms_cu_abbrevs(ms_cu_env *env, const ms_cu *cu, const ms_dw_enc *enc)
{
    if (env->table_offs == NULL && !ms_cu_list_tables(env))
        return NULL;
    size_t next = ms_upper_bound(env->table_offs, env->table_count, cu->abbrev_off);
    ms_dw_abbrevs **slot = &env->tables[next - 1];
    for (ms_dw_abbrevs *table = *slot; table != NULL; table = table->next) {
        MACHSYM_COUNT_WORK(1);
        if (table->off == cu->abbrev_off && table->version == enc->version &&
            table->addr_size == enc->addr_size && table->offset_size == enc->offset_size)
            return table;
    }
    ms_dw dw = *env->dw;
    if (next < env->table_count && env->table_offs[next].key < dw.abbrev.len)
        dw.abbrev.len = (size_t)env->table_offs[next].key;
    ms_dw_abbrevs *made = ms_dw_abbrevs_make(&dw, enc, cu->abbrev_off, env->arena);
    if (made == NULL)
        return NULL;
    made->next = *slot;
    *slot = made;
    return made;
}

static uint64_t ms_cu_base(const ms_dw_value *value, uint64_t otherwise)
{
    return value->form != 0 ? value->u : otherwise;
}

/* The bases must be known before the texts and addresses that count from them. Without the attribute a unit's
 * table is the section's first, behind its header (DWARF5 7.26 to 7.28). */
static void ms_cu_read_bases(const ms_dw_die *die, ms_dw_enc *enc)
{
    uint64_t head = enc->version >= 5 ? (enc->offset_size == 8 ? 16u : 8u) : 0;
    enc->str_offsets_base = ms_cu_base(ms_dw_get(die, ms_SLOT_STR_OFFSETS_BASE), head);
    enc->addr_base = ms_cu_base(ms_dw_get(die, ms_SLOT_ADDR_BASE), head);
    enc->rnglists_base = ms_cu_base(ms_dw_get(die, ms_SLOT_RNGLISTS_BASE), head == 0 ? 0 : head + 4);
    enc->ranges_base = ms_cu_base(ms_dw_get(die, ms_SLOT_RANGES_BASE), 0);
}

static bool ms_cu_read_root(ms_cu_env *env, const ms_cu *cu, ms_cu_root *root)
{
    ms_dw_die die;
    ms_zero(root, sizeof *root);
    root->enc.unit_off = cu->off;
    root->enc.unit_end = cu->end;
    root->enc.version = cu->version;
    root->enc.addr_size = cu->addr_size;
    root->enc.offset_size = cu->offset_size;
    root->first_child = cu->end;
    ms_rd rd = ms_rd_make(ms_span_sub(env->dw->info, cu->off, cu->end - cu->off));
    ms_rd_skip(&rd, cu->root);
    if (ms_rd_left(&rd) == 0)
        return true; /* seen: Swift 3 dSYMs end in units that are only a header */
    root->abbrevs = ms_cu_abbrevs(env, cu, &root->enc);
    if (root->abbrevs == NULL)
        return false;
    uint64_t code = ms_rd_uleb(&rd);
    if (code == 0)
        return !rd.failed;
    const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(root->abbrevs, code);
    if (abbrev == NULL || abbrev->kind != ms_KIND_UNIT)
        return false;
    ms_dw_read_die(root->abbrevs, abbrev, &rd, &root->enc, &die);
    if (rd.failed)
        return false;
    root->tag = abbrev->tag;
    if (abbrev->has_children)
        root->first_child = cu->off + ms_rd_offset(&rd);
    ms_cu_read_bases(&die, &root->enc);
    root->ranges = *ms_dw_get(&die, ms_SLOT_RANGES);
    root->low_pc = *ms_dw_get(&die, ms_SLOT_LOW_PC);
    root->high_pc = *ms_dw_get(&die, ms_SLOT_HIGH_PC);
    if (!ms_dw_address(env->dw, &root->enc, &root->low_pc, &root->enc.low_pc))
        root->enc.low_pc = 0;
    root->has_line = ms_dw_get(&die, ms_SLOT_STMT_LIST)->form != 0;
    root->line_off = ms_dw_get(&die, ms_SLOT_STMT_LIST)->u;
    root->name = ms_dw_string(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_NAME));
    root->comp_dir = ms_dw_string(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_COMP_DIR));
    root->producer = ms_dw_string(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_PRODUCER));
    return true;
}

/* The root entry of a unit; NULL when the unit is damaged or memory is out. Read once. */
static const ms_cu_root *ms_cu_root_of(ms_cu_env *env, size_t index)
{
    if (env->v[index].is_damaged)
        return NULL;
    if (env->roots == NULL) {
        env->roots = (ms_cu_root **)ms_arena_zeroed(env->arena, env->count, sizeof *env->roots);
        if (env->roots == NULL)
            return NULL;
    }
    if (env->roots[index] == NULL) {
        ms_cu_root *root = (ms_cu_root *)ms_arena_alloc(env->arena, 1, sizeof *root);
        if (root == NULL)
            return NULL;
        if (!ms_cu_read_root(env, &env->v[index], root))
            root->enc.version = 0; /* remembered as damaged */
        env->roots[index] = root;
    }
    return env->roots[index]->enc.version == 0 ? NULL : env->roots[index];
}

/* ---- Line programs that units share ---- */

/* Lists which unit runs which line program: for sessions that decode all units. Reads all roots. */
static void ms_cu_list_programs(ms_cu_env *env, ms_arena *scratch)
{
    ms_key *programs = (ms_key *)ms_arena_alloc(env->arena, env->count, sizeof *programs);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, env->count, sizeof *programs);
    if (programs == NULL || room == NULL)
        return;
    for (size_t i = 0; i < env->count; i++) {
        const ms_cu_root *root = ms_cu_root_of(env, i);
        if (root == NULL || !root->has_line)
            continue;
        programs[env->program_count].key = root->line_off;
        programs[env->program_count++].item = i;
    }
    ms_sort(programs, env->program_count, room);
    env->programs = programs;
}

/* Where .debug_line ends for a unit: where the next program begins. Of units that name one program the first
 * has it; others only if it is not too large beside them: sharing would multiply the work. */
static uint64_t ms_cu_line_end(const ms_cu_env *env, const ms_cu_root *root, size_t index)
{
    uint64_t end = env->dw->line.len;
    const ms_key *v = env->programs;
    size_t next = ms_upper_bound(v, env->program_count, root->line_off);
    size_t first = root->line_off == 0 ? 0 : ms_upper_bound(v, env->program_count, root->line_off - 1);
    if (first == next) /* not listed */
        return end;
    if (next < env->program_count && v[next].key < end)
        end = v[next].key;
    return v[first].item == index || end - root->line_off < 64 * (root->enc.unit_end - root->enc.unit_off)
               ? end
               : 0;
}

/* ---- Which unit covers an address ---- */

/* A set of .debug_aranges: its tuples, and the unit that they belong to. */
/* List entries that may be read of the ranges of all units' roots, which may share them. */
static uint64_t ms_cu_range_budget(const ms_cu_env *env)
{
    return env->dw->ranges.len + env->dw->rnglists.len + env->count + env->dw->move_count;
}

/* Reads what a unit's root states of its code. */
static void ms_cu_read_ranges(ms_cu_env *env, size_t index, ms_ranges *list)
{
    const ms_cu_root *root = ms_cu_root_of(env, index);
    list->count = 0;
    if (root == NULL || root->abbrevs == NULL)
        return;
    if (root->ranges.form != 0)
        ms_dw_ranges(env->dw, &root->enc, &root->ranges, list);
    else
        ms_dw_add_low_high(env->dw, &root->enc, &root->low_pc, &root->high_pc, list);
}

typedef struct ms_cu_set {
    ms_rd tuples;
    uint64_t info_off; /* of the unit's header; some producers give the root entry's */
    uint8_t addr_size;
} ms_cu_set;

/* Reads the set at rd, and moves rd to the next. DWARF5 6.1.2; tuples are aligned from the set's start. */
static bool ms_cu_next_set(ms_rd *rd, ms_cu_set *set)
{
    uint8_t offset_size = 4;
    const uint8_t *start = rd->p;
    uint64_t len = ms_rd_u32(rd);
    if (len == 0xffffffff) {
        offset_size = 8;
        len = ms_rd_u64(rd);
    }
    if (rd->failed || len == 0)
        return false;
    ms_rd body = ms_rd_make(ms_rd_span(rd, len <= ms_rd_left(rd) ? len : ms_rd_left(rd)));
    ms_rd_u16(&body); /* version: always 2 */
    set->info_off = ms_rd_uint(&body, offset_size);
    set->addr_size = ms_rd_u8(&body);
    ms_rd_u8(&body); /* segment selector size: 0 */
    if (set->addr_size != 4 && set->addr_size != 8)
        ms_rd_fail(&body);
    else if ((size_t)(body.p - start) % (2u * set->addr_size) != 0)
        ms_rd_skip(&body, 2u * set->addr_size - (size_t)(body.p - start) % (2u * set->addr_size));
    set->tuples = body;
    return true;
}

static bool ms_cu_next_tuple(ms_cu_set *set, ms_range *range)
{
    uint64_t len;
    do {
        if (ms_rd_left(&set->tuples) < 2u * set->addr_size)
            return false;
        range->lo = ms_rd_uint(&set->tuples, set->addr_size);
        len = ms_rd_uint(&set->tuples, set->addr_size);
        if (range->lo == 0 && len == 0)
            return false;
    } while (len == 0 || !ms_add_ok(range->lo, len, &range->hi));
    return true;
}

/* Searches .debug_aranges from its start: for a first, cold lookup. Returns the unit's number; count when
 * none has it. */
static size_t ms_cu_scan_aranges(const ms_cu_env *env, uint64_t addr)
{
    ms_rd rd = ms_rd_make(env->dw->aranges);
    ms_cu_set set;
    ms_range range;
    while (ms_cu_next_set(&rd, &set)) {
        while (ms_cu_next_tuple(&set, &range)) {
            if (addr < range.lo || addr >= range.hi)
                continue;
            size_t unit = ms_cu_from_offset(env->v, env->count, set.info_off);
            if (unit < env->count)
                return unit;
        }
    }
    return env->count;
}

/* Which units claim an address, by .debug_aranges or by their own ranges. Returns NULL when memory is out. */
static const bool *ms_cu_claims(ms_cu_env *env, uint64_t addr, ms_arena *room)
{
    bool *claims = (bool *)ms_arena_zeroed(room, env->count, sizeof *claims);
    ms_ranges list = {room, NULL, 0, 0, 0};
    ms_rd rd = ms_rd_make(env->dw->aranges);
    ms_cu_set set;
    ms_range range;
    list.budget = ms_cu_range_budget(env);
    while (claims != NULL && ms_cu_next_set(&rd, &set)) {
        size_t unit = ms_cu_from_offset(env->v, env->count, set.info_off);
        while (unit < env->count && ms_cu_next_tuple(&set, &range))
            claims[unit] |= range.lo <= addr && addr < range.hi;
    }
    for (size_t i = 0; claims != NULL && i < env->count; i++) {
        ms_cu_read_ranges(env, i, &list);
        for (size_t j = 0; j < list.count; j++)
            claims[i] |= list.v[j].lo <= addr && addr < list.v[j].hi;
    }
    return claims;
}

typedef struct ms_cu_pieces {
    ms_arena *arena;
    ms_piece *v;
    size_t count;
    size_t cap;
} ms_cu_pieces;

static void ms_cu_add_piece(ms_cu_pieces *pieces, uint64_t lo, uint64_t hi, size_t unit)
{
    ms_piece *v = (ms_piece *)ms_arena_grow(pieces->arena, pieces->v, pieces->count, &pieces->cap, sizeof *v);
    if (v == NULL || lo >= hi)
        return;
    pieces->v = v;
    v[pieces->count].lo = lo;
    v[pieces->count].hi = hi;
    v[pieces->count].owner = (uint32_t)unit;
    pieces->count++;
}

/* Of units that claim the same code the first one has it, so they are painted last. */
static void ms_cu_build_segments(ms_cu_pieces *pieces, ms_arena *scratch, ms_segs *out)
{
    for (size_t i = 0, j = pieces->count; i + 1 < j--; i++) {
        ms_piece swap = pieces->v[i];
        pieces->v[i] = pieces->v[j];
        pieces->v[j] = swap;
    }
    ms_seg_build(pieces->v, pieces->count, scratch, out);
}

/* Segments of what units claim. It is remembered who claims what another one gets: that may have no function
 * there. */
static void ms_cu_claim_segments(ms_cu_env *env, ms_cu_pieces *pieces, uint8_t claim, ms_arena *scratch,
                                 ms_segs *out)
{
    ms_cu_build_segments(pieces, scratch, out);
    if (env->claims == NULL)
        env->claims = (uint8_t *)ms_arena_zeroed(env->arena, env->count, sizeof *env->claims);
    for (size_t i = 0; env->claims != NULL && i < pieces->count; i++) {
        const ms_piece *piece = &pieces->v[i];
        bool is_whole = ms_seg_owner(out->v, out->count, piece->lo) == piece->owner &&
                        ms_seg_until(out->v, out->count, piece->lo) >= piece->hi;
        if (ms_dw_code_at(env->dw, piece->lo) != NULL) /* dead code is claimed by many */
            env->claims[piece->owner] |= (uint8_t)(is_whole ? claim : claim | claim << 1);
    }
}

/* The whole of .debug_aranges as segments: for many lookups. */
static void ms_cu_arange_segments(ms_cu_env *env, ms_arena *scratch, ms_segs *out)
{
    ms_rd rd = ms_rd_make(env->dw->aranges);
    ms_cu_pieces pieces = {scratch, NULL, 0, 0};
    ms_cu_set set;
    ms_range range;
    while (ms_cu_next_set(&rd, &set)) {
        size_t unit = ms_cu_from_offset(env->v, env->count, set.info_off);
        while (unit < env->count && ms_cu_next_tuple(&set, &range))
            ms_cu_add_piece(&pieces, range.lo, range.hi, unit);
    }
    ms_cu_claim_segments(env, &pieces, ms_CLAIM_ARANGES, scratch, out);
}

/* Whether a unit may have code although its root states no range. */
static bool ms_cu_is_silent(const ms_cu_root *root)
{
    return root->ranges.form == 0 && root->high_pc.form == 0 && root->first_child != root->enc.unit_end;
}

/* Whether a unit may have functions where another unit is asked, now that all claims are known. Ranges that
 * units state overlap in many files, as they reach from the first function to the last; .debug_aranges is
 * exact. */
static bool ms_cu_is_contested(const ms_cu_env *env, size_t index)
{
    unsigned claims = env->claims != NULL ? env->claims[index] : 0;
    return (claims & ms_CLAIM_LOST_ARANGES) != 0 ||
           ((claims & ms_CLAIM_LOST_RANGES) != 0 && (claims & ms_CLAIM_ARANGES) == 0);
}

/* What the roots of all units state, as segments. */
static void ms_cu_range_segments(ms_cu_env *env, ms_arena *scratch, ms_segs *out)
{
    ms_cu_pieces pieces = {scratch, NULL, 0, 0};
    ms_ranges list = {scratch, NULL, 0, 0, 0};
    list.budget = ms_cu_range_budget(env);
    for (size_t i = 0; i < env->count; i++) {
        ms_cu_read_ranges(env, i, &list);
        for (size_t j = 0; j < list.count; j++)
            ms_cu_add_piece(&pieces, list.v[j].lo, list.v[j].hi, i);
    }
    ms_cu_claim_segments(env, &pieces, ms_CLAIM_RANGES, scratch, out);
}

/* ==== >>lines ==============================================================================================
 * Job:    runs line programs to rows, and finds the row of an address.
 * Uses:   bytes, reader, memory, forms.
 * Offers: ms_ln_table, ms_ln_read, ms_ln_find, ms_ln_path.
 * Never:  invents a row; lets a row answer past its sequence. */

/* DWARF5 6.2.5, 7.22 */
enum {
    ms_DW_LNS_copy = 1,
    ms_DW_LNS_advance_pc = 2,
    ms_DW_LNS_advance_line = 3,
    ms_DW_LNS_set_file = 4,
    ms_DW_LNS_set_column = 5,
    ms_DW_LNS_negate_stmt = 6,
    ms_DW_LNS_set_basic_block = 7,
    ms_DW_LNS_const_add_pc = 8,
    ms_DW_LNS_fixed_advance_pc = 9,
    ms_DW_LNS_set_prologue_end = 10,
    ms_DW_LNS_set_epilogue_begin = 11,
    ms_DW_LNS_set_isa = 12,

    ms_DW_LNE_end_sequence = 1,
    ms_DW_LNE_set_address = 2,
    ms_DW_LNE_define_file = 3,
    ms_DW_LNE_set_discriminator = 4,

    ms_DW_LNCT_path = 1,
    ms_DW_LNCT_directory_index = 2
};

/* What a row of the table says. */
typedef struct ms_ln_row {
    uint64_t addr;
    uint32_t line;
    uint32_t file;
    uint16_t column; /* as everybody stores it: larger ones are 0xffff */
    bool is_stmt;
    bool end_sequence;
} ms_ln_row;

/* Rows of growing addresses without a gap; the last one only ends it. */
typedef struct ms_ln_seq {
    uint64_t lo;
    uint64_t hi;
    uint32_t first;
    uint32_t count;
} ms_ln_seq;

/* An entry of the file table. */
typedef struct ms_ln_file {
    machsym_str name;
    uint64_t dir;
} ms_ln_file;

/* A unit's line table. */
typedef struct ms_ln_table {
    const ms_ln_row *rows;
    size_t row_count;
    const ms_ln_seq *seqs; /* by their ends */
    size_t seq_count;
    const ms_ln_file *files;
    size_t file_count;
    const machsym_str *dirs;
    size_t dir_count;
    uint16_t version;
    bool is_damaged;
} ms_ln_table;

/* The header of a line program, as far as the program needs it. */
typedef struct ms_ln_head {
    ms_rd program;
    uint16_t version;
    uint8_t addr_size;
    uint8_t offset_size;
    uint8_t min_inst;
    uint8_t max_ops;
    bool default_is_stmt;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    ms_span opcode_lengths;
} ms_ln_head;

/* A table as it grows. */
typedef struct ms_ln_build {
    ms_arena *arena;     /* scratch */
    ms_arena *row_arena; /* for the rows, which stay where they grow */
    ms_ln_row *rows;
    size_t row_count;
    size_t row_cap;
    ms_ln_seq *seqs;
    size_t seq_count;
    size_t seq_cap;
    ms_ln_file *files;
    size_t file_count;
    size_t file_cap;
    machsym_str *dirs;
    size_t dir_count;
    size_t dir_cap;
} ms_ln_build;

/* ---- Header ---- */

static void ms_ln_add_dir(ms_ln_build *b, machsym_str dir)
{
    machsym_str *v = (machsym_str *)ms_arena_grow(b->arena, b->dirs, b->dir_count, &b->dir_cap, sizeof *v);
    if (v == NULL)
        return;
    b->dirs = v;
    v[b->dir_count++] = dir;
}

static void ms_ln_add_file(ms_ln_build *b, machsym_str name, uint64_t dir)
{
    ms_ln_file *v = (ms_ln_file *)ms_arena_grow(b->arena, b->files, b->file_count, &b->file_cap, sizeof *v);
    if (v == NULL)
        return;
    b->files = v;
    v[b->file_count].name = name;
    v[b->file_count].dir = dir;
    b->file_count++;
}

/* DWARF 2 to 4: names until an empty one. DWARF4 6.2.4 */
static void ms_ln_read_names_4(ms_ln_build *b, ms_rd *rd)
{
    for (machsym_str dir = ms_rd_str(rd); dir.len != 0; dir = ms_rd_str(rd))
        ms_ln_add_dir(b, dir);
    for (machsym_str name = ms_rd_str(rd); name.len != 0; name = ms_rd_str(rd)) {
        uint64_t dir = ms_rd_uleb(rd);
        ms_rd_uleb(rd); /* time */
        ms_rd_uleb(rd); /* size */
        ms_ln_add_file(b, name, dir);
    }
}

/* One entry of a DWARF 5 table; formats is a reader over (content, form) pairs. */
static void ms_ln_read_entry_5(const ms_dw *dw, const ms_dw_enc *enc, ms_rd formats, ms_rd *rd,
                               ms_ln_file *entry)
{
    while (ms_rd_left(&formats) > 0 && !rd->failed) {
        uint64_t content = ms_rd_uleb(&formats);
        uint64_t form = ms_rd_uleb(&formats);
        ms_dw_value value = ms_dw_read_value(rd, form > 0xffff ? 0xffffu : (uint32_t)form, 0, enc);
        if (content == ms_DW_LNCT_path)
            entry->name = ms_dw_string(dw, enc, &value);
        if (content == ms_DW_LNCT_directory_index)
            entry->dir = value.u;
    }
}

/* A DWARF 5 directory or file table, DWARF5 6.2.4.1. */
static void ms_ln_read_names_5(ms_ln_build *b, const ms_dw *dw, const ms_dw_enc *enc, ms_rd *rd,
                               bool are_files)
{
    ms_rd formats = *rd;
    for (unsigned pairs = ms_rd_u8(rd); pairs > 0; pairs--) {
        ms_rd_uleb(rd);
        ms_rd_uleb(rd);
    }
    ms_rd_u8(&formats);
    formats.end = rd->p;
    uint64_t count = ms_rd_uleb(rd);
    bool has_bytes = ms_rd_left(&formats) > 0;
    for (; count > 0 && has_bytes && ms_rd_left(rd) > 0 && !b->arena->oom; count--) {
        ms_ln_file entry = {ms_str_empty(), 0};
        const uint8_t *before = rd->p;
        ms_ln_read_entry_5(dw, enc, formats, rd, &entry);
        if (rd->failed || rd->p == before)
            break;
        if (are_files)
            ms_ln_add_file(b, entry.name, entry.dir);
        else
            ms_ln_add_dir(b, entry.name);
    }
}

/* Reads the header at off. Returns false when the program cannot be run. */
static bool ms_ln_read_head(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_ln_head *head,
                            ms_ln_build *b)
{
    ms_rd rd = ms_rd_at(dw->line, off);
    ms_dw_enc line_enc = *enc;
    ms_zero(head, sizeof *head);
    head->offset_size = 4;
    uint64_t len = ms_rd_u32(&rd);
    if (len == 0xffffffff) {
        head->offset_size = 8;
        len = ms_rd_u64(&rd);
    }
    ms_rd body = ms_rd_make(ms_rd_span(&rd, len <= ms_rd_left(&rd) ? len : ms_rd_left(&rd)));
    head->version = ms_rd_u16(&body);
    head->addr_size = enc->addr_size;
    if (head->version < 2 || head->version > 5)
        return false;
    if (head->version == 5) {
        head->addr_size = ms_rd_u8(&body);
        ms_rd_u8(&body); /* segment selector size */
    }
    uint64_t head_len = ms_rd_uint(&body, head->offset_size);
    head->program = body;
    ms_rd_skip(&head->program, head_len);
    if (head->program.failed)
        return false;
    body.end = head->program.p;
    head->min_inst = ms_rd_u8(&body);
    head->max_ops = head->version >= 4 ? ms_rd_u8(&body) : 1;
    head->default_is_stmt = ms_rd_u8(&body) != 0;
    head->line_base = (int8_t)ms_rd_u8(&body);
    head->line_range = ms_rd_u8(&body);
    head->opcode_base = ms_rd_u8(&body);
    head->opcode_lengths = ms_rd_span(&body, head->opcode_base > 0 ? head->opcode_base - 1u : 0);
    if (body.failed || (head->addr_size != 4 && head->addr_size != 8))
        return false;
    line_enc.addr_size = head->addr_size;
    line_enc.offset_size = head->offset_size;
    if (head->version == 5) {
        ms_ln_read_names_5(b, dw, &line_enc, &body, false);
        ms_ln_read_names_5(b, dw, &line_enc, &body, true);
    } else {
        ms_ln_read_names_4(b, &body);
    }
    return true;
}

/* ---- Program ---- */

/* The state machine's registers, DWARF5 6.2.2. */
typedef struct ms_ln_regs {
    uint64_t addr;
    uint64_t op_index;
    uint64_t file;
    uint64_t column;
    uint32_t line;
    bool is_stmt;
    uint32_t first_row; /* of the sequence that is open */
} ms_ln_regs;

static ms_ln_regs ms_ln_start(const ms_ln_head *head, const ms_ln_build *b)
{
    ms_ln_regs regs;
    ms_zero(&regs, sizeof regs);
    regs.file = 1;
    regs.line = 1;
    regs.is_stmt = head->default_is_stmt;
    regs.first_row = (uint32_t)b->row_count;
    return regs;
}

static void ms_ln_add_row(ms_ln_build *b, const ms_ln_regs *regs, bool end_sequence)
{
    ms_ln_row *v = b->rows;
    if (b->row_count == b->row_cap) {
        v = (ms_ln_row *)ms_arena_grow(b->row_arena, v, b->row_count, &b->row_cap, sizeof *v);
        if (v == NULL)
            return;
        b->rows = v;
    }
    v += b->row_count++;
    v->addr = regs->addr;
    v->line = regs->line;
    v->file = regs->file > UINT32_MAX ? UINT32_MAX : (uint32_t)regs->file;
    v->column = (uint16_t)(regs->column > 0xffff ? 0xffff : regs->column);
    v->is_stmt = regs->is_stmt;
    v->end_sequence = end_sequence;
}

/* Rows of a sequence ascend (DWARF5 6.2.5.2). Where they do not, they are put in order; equal ones stay as
 * they were. */
static void ms_ln_order_rows(ms_ln_build *b, size_t first)
{
    size_t sorted = first + 1;
    while (sorted < b->row_count && b->rows[sorted - 1].addr <= b->rows[sorted].addr)
        sorted++;
    if (sorted >= b->row_count)
        return;
    size_t count = b->row_count - first;
    ms_key *order = (ms_key *)ms_arena_alloc(b->arena, count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(b->arena, count, sizeof *order);
    ms_ln_row *rows = (ms_ln_row *)ms_arena_alloc(b->arena, count, sizeof *rows);
    if (order == NULL || room == NULL || rows == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        order[i].key = b->rows[first + i].addr;
        order[i].item = i;
    }
    ms_sort(order, count - 1, room); /* the end_sequence row stays last */
    for (size_t i = 0; i < count; i++)
        rows[i] = b->rows[first + order[i].item];
    ms_copy(b->rows + first, rows, count * sizeof *rows);
}

/* Makes the rows from first on a sequence; drops them when it is empty or of dead code. */
static void ms_ln_add_sequence(const ms_dw *dw, ms_ln_build *b, size_t first)
{
    ms_ln_seq seq;
    if (b->row_count <= first + 1) { /* nothing before the end, or no memory */
        b->row_count = first;
        return;
    }
    seq.lo = b->rows[first].addr;
    seq.hi = b->rows[b->row_count - 1].addr;
    seq.first = (uint32_t)first;
    seq.count = (uint32_t)(b->row_count - first);
    ms_ln_seq *v = b->seqs;
    bool live = seq.lo < seq.hi && ms_dw_code_at(dw, seq.lo) != NULL;
    if (live)
        v = (ms_ln_seq *)ms_arena_grow(b->arena, v, b->seq_count, &b->seq_cap, sizeof *v);
    if (!live || v == NULL) {
        b->row_count = first;
        return;
    }
    b->seqs = v;
    v[b->seq_count++] = seq;
}

static void ms_ln_copy_row(ms_ln_build *b, const ms_ln_row *row, uint64_t addr, bool end_sequence)
{
    ms_ln_row *v = (ms_ln_row *)ms_arena_grow(b->row_arena, b->rows, b->row_count, &b->row_cap, sizeof *v);
    if (v == NULL)
        return;
    b->rows = v;
    v += b->row_count++;
    *v = *row;
    v->addr = addr;
    v->end_sequence = end_sequence;
}

/* The sequence of an object runs through all its functions as the compiler laid them out. Every piece that
 * the linker moved becomes a sequence of its own, which ends where the piece does. */
static void ms_ln_move_sequence(const ms_dw *dw, ms_ln_build *b, size_t first)
{
    size_t count = b->row_count - first;
    ms_ln_row *rows = (ms_ln_row *)ms_arena_alloc(b->arena, count, sizeof *rows);
    if (rows == NULL)
        return;
    ms_copy(rows, b->rows + first, count * sizeof *rows);
    b->row_count = first;
    size_t move = ms_dw_move_at(dw, rows[0].addr);
    for (size_t i = 0; i + 1 < count;) {
        if (move < dw->move_count && dw->moves[move].hi <= rows[i].addr)
            move = ms_dw_move_at(dw, rows[i].addr);
        if (move == dw->move_count)
            return;
        const ms_dw_move *m = &dw->moves[move];
        size_t from = b->row_count;
        for (; i + 1 < count && rows[i].addr < m->lo; i++)
            continue;
        size_t begin = i;
        for (; i + 1 < count && rows[i].addr < m->hi; i++)
            ms_ln_copy_row(b, &rows[i], m->to + (rows[i].addr - m->lo), false);
        uint64_t end = rows[count - 1].addr < m->hi ? rows[count - 1].addr : m->hi;
        if (i > begin && end < rows[i - 1].addr)
            end = rows[i - 1].addr; /* a damaged end */
        if (i > begin)
            ms_ln_copy_row(b, &rows[i - 1], m->to + (end - m->lo), true);
        ms_ln_add_sequence(dw, b, from);
    }
}

/* Closes the sequence at an end_sequence row. Sequences of dead code, and empty ones, leave no rows. */
static void ms_ln_end_sequence(const ms_dw *dw, ms_ln_build *b, ms_ln_regs *regs)
{
    size_t first = regs->first_row;
    ms_ln_add_row(b, regs, true);
    if (b->row_count > first + 1)
        ms_ln_order_rows(b, first);
    if (dw->moves != NULL && b->row_count > first + 1)
        ms_ln_move_sequence(dw, b, first);
    else
        ms_ln_add_sequence(dw, b, first);
}

/* DWARF5 6.2.5.1: op_index counts the operations of a VLIW bundle; 1 a bundle everywhere else. */
static void ms_ln_advance(const ms_ln_head *head, ms_ln_regs *regs, uint64_t operations)
{
    if (head->max_ops <= 1) {
        regs->addr += head->min_inst * operations;
        return;
    }
    uint64_t sum = regs->op_index + operations;
    regs->addr += head->min_inst * (sum / head->max_ops);
    regs->op_index = sum % head->max_ops;
}

static void ms_ln_define_file(ms_ln_build *b, ms_rd *rd)
{
    machsym_str name = ms_rd_str(rd);
    uint64_t dir = ms_rd_uleb(rd);
    ms_ln_add_file(b, name, dir);
}

static void ms_ln_extended(const ms_dw *dw, const ms_ln_head *head, ms_ln_build *b, ms_ln_regs *regs,
                           ms_rd *rd)
{
    uint64_t len = ms_rd_uleb(rd);
    ms_rd body = ms_rd_make(ms_rd_span(rd, len));
    if (len == 0 || rd->failed)
        return;
    switch (ms_rd_u8(&body)) {
    case ms_DW_LNE_end_sequence:
        ms_ln_end_sequence(dw, b, regs);
        *regs = ms_ln_start(head, b);
        break;
    case ms_DW_LNE_set_address:
        regs->addr = ms_rd_uint(&body, (unsigned)ms_rd_left(&body));
        regs->op_index = 0;
        break;
    case ms_DW_LNE_define_file: ms_ln_define_file(b, &body); break;
    default: break; /* discriminators, and what vendors add */
    }
}

static void ms_ln_skip_unknown(const ms_ln_head *head, uint8_t opcode, ms_rd *rd)
{
    for (unsigned count = head->opcode_lengths.ptr[opcode - 1]; count > 0; count--)
        ms_rd_uleb(rd);
}

static void ms_ln_standard(const ms_ln_head *head, ms_ln_build *b, ms_ln_regs *regs, uint8_t opcode,
                           ms_rd *rd)
{
    switch (opcode) {
    case ms_DW_LNS_copy: ms_ln_add_row(b, regs, false); break;
    case ms_DW_LNS_advance_pc: ms_ln_advance(head, regs, ms_rd_uleb(rd)); break;
    case ms_DW_LNS_advance_line: regs->line += (uint32_t)ms_rd_sleb(rd); break;
    case ms_DW_LNS_set_file: regs->file = ms_rd_uleb(rd); break;
    case ms_DW_LNS_set_column: regs->column = ms_rd_uleb(rd); break;
    case ms_DW_LNS_negate_stmt: regs->is_stmt = !regs->is_stmt; break;
    case ms_DW_LNS_const_add_pc:
        if (head->line_range != 0)
            ms_ln_advance(head, regs, (255u - head->opcode_base) / head->line_range);
        break;
    case ms_DW_LNS_fixed_advance_pc:
        regs->addr += ms_rd_u16(rd);
        regs->op_index = 0;
        break;
    case ms_DW_LNS_set_basic_block:
    case ms_DW_LNS_set_prologue_end:
    case ms_DW_LNS_set_epilogue_begin: break;
    case ms_DW_LNS_set_isa: ms_rd_uleb(rd); break;
    default: ms_ln_skip_unknown(head, opcode, rd); break;
    }
}

static void ms_ln_run(const ms_dw *dw, const ms_ln_head *head, ms_ln_build *b)
{
    ms_rd rd = head->program;
    ms_ln_regs regs = ms_ln_start(head, b);
    uint8_t range = head->line_range != 0 ? head->line_range : 1;
    while (rd.p < rd.end && !b->arena->oom && !b->row_arena->oom) {
        uint8_t opcode = *rd.p++;
        MACHSYM_COUNT_WORK(1);
        if (opcode >= head->opcode_base) {
            unsigned adjusted = opcode - (unsigned)head->opcode_base;
            ms_ln_advance(head, &regs, adjusted / range);
            regs.line += (uint32_t)(head->line_base + (int)(adjusted % range));
            ms_ln_add_row(b, &regs, false);
        } else if (opcode == 0) {
            ms_ln_extended(dw, head, b, &regs, &rd);
        } else {
            ms_ln_standard(head, b, &regs, opcode, &rd);
        }
    }
    b->row_count = regs.first_row; /* rows that no end_sequence closes say nothing about where they end */
}

/* ---- Table ---- */

static void ms_ln_sort_seqs(ms_ln_build *b, ms_arena *scratch)
{
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, b->seq_count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, b->seq_count, sizeof *order);
    ms_ln_seq *sorted = (ms_ln_seq *)ms_arena_alloc(scratch, b->seq_count, sizeof *sorted);
    if (order == NULL || room == NULL || sorted == NULL)
        return;
    for (size_t i = 0; i < b->seq_count; i++) {
        order[i].key = b->seqs[i].hi;
        order[i].item = i;
    }
    ms_sort(order, b->seq_count, room);
    for (size_t i = 0; i < b->seq_count; i++)
        sorted[i] = b->seqs[order[i].item];
    ms_copy(b->seqs, sorted, b->seq_count * sizeof *sorted);
}

/* Runs the line program at off. Work is done in scratch; the table's arrays come from arena. */
static void ms_ln_read(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_arena *scratch,
                       ms_arena *arena, ms_ln_table *table)
{
    ms_ln_build b;
    ms_ln_head head;
    ms_zero(&b, sizeof b);
    ms_zero(table, sizeof *table);
    b.arena = scratch;
    b.row_arena = arena;
    table->is_damaged = !ms_ln_read_head(dw, enc, off, &head, &b);
    if (table->is_damaged)
        return;
    ms_ln_run(dw, &head, &b);
    ms_ln_sort_seqs(&b, scratch);
    ms_arena_fit(arena, b.rows, b.row_count, b.row_cap, sizeof *b.rows);
    table->rows = b.rows;
    table->seqs = (const ms_ln_seq *)ms_arena_keep(arena, b.seqs, b.seq_count, sizeof *b.seqs);
    table->files = (const ms_ln_file *)ms_arena_keep(arena, b.files, b.file_count, sizeof *b.files);
    table->dirs = (const machsym_str *)ms_arena_keep(arena, b.dirs, b.dir_count, sizeof *b.dirs);
    if (scratch->oom || arena->oom)
        return;
    table->row_count = b.row_count;
    table->seq_count = b.seq_count;
    table->file_count = b.file_count;
    table->dir_count = b.dir_count;
    table->version = head.version;
}

/* Whether the table has file number index, as its version counts, and a name for it. */
static bool ms_ln_has_file(const ms_ln_table *table, uint64_t index)
{
    uint64_t at = table->version >= 5 ? index : index - 1; /* 0 - 1 is past every table */
    return at < table->file_count && table->files[at].name.len != 0;
}

/* The path of file number index, as the table's version counts. */
static machsym_path ms_ln_path(const ms_ln_table *table, machsym_str comp_dir, uint64_t index)
{
    machsym_path path = {ms_str_empty(), ms_str_empty(), ms_str_empty()};
    uint64_t at = table->version >= 5 ? index : index - 1; /* 0 - 1 is past every table */
    if (at >= table->file_count)
        return path;
    const ms_ln_file *file = &table->files[at];
    uint64_t dir = table->version >= 5 ? file->dir : file->dir - 1;
    path.comp_dir = comp_dir;
    path.name = file->name;
    if (dir < table->dir_count)
        path.dir = table->dirs[dir];
    return path;
}

/* The last row at or below an address among rows [first, first + count). */
static size_t ms_ln_last_at(const ms_ln_row *rows, size_t first, size_t count, uint64_t addr)
{
    size_t lo = first;
    while (count > 0) {
        size_t half = count / 2;
        if (rows[lo + half].addr <= addr) {
            lo += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return lo - 1; /* the sequence begins at or below addr */
}

/* The sequence that holds an address; NULL when none does. */
static const ms_ln_seq *ms_ln_seq_at(const ms_ln_table *table, uint64_t addr)
{
    size_t lo = 0;
    size_t left = table->seq_count;
    while (left > 0) {
        size_t half = left / 2;
        if (table->seqs[lo + half].hi <= addr) {
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return lo < table->seq_count && table->seqs[lo].lo <= addr ? &table->seqs[lo] : NULL;
}

enum { ms_LN_BACK = 1024 }; /* how many rows a policy may look back; compilers write some ten */

/* The row that answers under a policy, where at is the last row at or below the address. */
static inline size_t ms_ln_choose(const ms_ln_table *table, machsym_lines lines, const ms_ln_seq *seq,
                                  size_t at)
{
    size_t stop = at - seq->first > ms_LN_BACK ? at - ms_LN_BACK : seq->first;
    if (lines == MACHSYM_LINES_ATOS) {
        for (; at > stop && table->rows[at - 1].addr == table->rows[at].addr; at--)
            MACHSYM_COUNT_WORK(1);
    }
    if (lines == MACHSYM_LINES_STMT) {
        size_t statement = at;
        for (; statement > stop && !table->rows[statement].is_stmt; statement--)
            MACHSYM_COUNT_WORK(1);
        if (table->rows[statement].is_stmt)
            at = statement;
    }
    return at;
}

/* The row that answers for an address under a policy; row_count when none does. */
static size_t ms_ln_find(const ms_ln_table *table, machsym_lines lines, uint64_t addr)
{
    const ms_ln_seq *seq = ms_ln_seq_at(table, addr);
    if (seq == NULL)
        return table->row_count;
    return ms_ln_choose(table, lines, seq, ms_ln_last_at(table->rows, seq->first, seq->count - 1, addr));
}

/* ==== >>functions ==========================================================================================
 * Job:    walks a unit's entries to functions and the calls inlined into them, and names them.
 * Uses:   bytes, reader, memory, segments, forms, units.
 * Offers: ms_fn_read, ms_fn_read_one, ms_fn_block_at, ms_fn_range_at, ms_fn_copy_of, ms_fn_names_of.
 * Never:  looks at lines or symbols; answers outside a function's ranges. */

/* A function, or a call inlined into one. */
typedef struct ms_fn_block {
    uint64_t die_off; /* in .debug_info */
    uint64_t origin;  /* the abstract entry in .debug_info; 0: none */
    uint64_t lo;      /* of its first range */
    uint64_t hi;
    uint32_t range_first; /* its ranges, when it has several */
    uint32_t range_count; /* 1: lo and hi say all */
    uint32_t parent;      /* block that it is inlined into; ms_SEG_NONE for a function */
    uint32_t end;         /* first block that does not stand inside this one */
    uint32_t call_file;
    uint32_t call_line;
    uint32_t call_column;
    uint32_t unread; /* of a function: how many calls stand in its entry that are not in this table */
} ms_fn_block;

/* The functions of a unit, with or without what is inlined into them; or one function with all that is. */
typedef struct ms_fn_table {
    const ms_fn_block *blocks; /* in the order of the entries: callers before what is inlined into them */
    size_t count;
    const ms_seg *segs; /* address to function */
    size_t seg_count;
    const ms_range *ranges;
    const ms_key *copies; /* origin, block: functions that are out-of-line copies of an abstract one */
    size_t copy_count;
    uint32_t function_count;
    uint64_t die_count;
    bool is_damaged;
} ms_fn_table;

/* A table as it grows. */
typedef struct ms_fn_walk {
    const ms_dw *dw;
    const ms_cu_root *root;
    ms_arena *arena;   /* for blocks */
    ms_arena *scratch; /* for the rest */
    ms_fn_block *blocks;
    size_t count;
    size_t cap;
    uint32_t *outer;  /* by block: the block open around it, ms_SEG_NONE if none */
    uint32_t *depths; /* by block: how many lists were open where it stands */
    size_t outer_cap;
    size_t depth_cap;
    ms_piece *pieces; /* of functions */
    size_t piece_count;
    size_t piece_cap;
    ms_ranges list;     /* all ranges of blocks with several */
    uint64_t list_from; /* the entry from which on bytes are counted that allow for calls' lists of ranges */
    uint64_t lists[2];  /* list entries read since: of calls; from the start: of functions */
    uint32_t open;      /* innermost open block */
    uint32_t unread;    /* calls passed by, in all */
    uint32_t function_count;
    uint64_t visited;
    bool reads_calls;
    bool is_damaged;
} ms_fn_walk;

static bool ms_fn_add_piece(ms_fn_walk *w, uint64_t lo, uint64_t hi)
{
    ms_piece *v = (ms_piece *)ms_arena_grow(w->scratch, w->pieces, w->piece_count, &w->piece_cap, sizeof *v);
    if (v == NULL)
        return false;
    w->pieces = v;
    v += w->piece_count++;
    v->lo = lo;
    v->hi = hi;
    v->owner = (uint32_t)w->count;
    return true;
}

static bool ms_fn_make_room(ms_fn_walk *w)
{
    if (w->count < w->cap)
        return true;
    ms_fn_block *blocks =
        (ms_fn_block *)ms_arena_grow(w->arena, w->blocks, w->count, &w->cap, sizeof *blocks);
    uint32_t *outer = (uint32_t *)ms_arena_grow(w->scratch, w->outer, w->count, &w->outer_cap, sizeof *outer);
    uint32_t *depths =
        (uint32_t *)ms_arena_grow(w->scratch, w->depths, w->count, &w->depth_cap, sizeof *depths);
    if (blocks == NULL || outer == NULL || depths == NULL)
        return false;
    w->blocks = blocks;
    w->outer = outer;
    w->depths = depths;
    return true;
}

static uint32_t ms_fn_u32(const ms_dw_value *value)
{
    return value->form == 0 || value->u > UINT32_MAX ? 0 : (uint32_t)value->u;
}

/* Sorts a long list of ranges, and joins those that overlap, so that it can be searched. Returns how many are
 * left. */
static size_t ms_fn_sort_ranges(ms_fn_walk *w, size_t first)
{
    size_t count = w->list.count - first;
    ms_range *v = w->list.v + first;
    ms_key *order = (ms_key *)ms_arena_alloc(w->scratch, count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(w->scratch, count, sizeof *order);
    ms_range *sorted = (ms_range *)ms_arena_alloc(w->scratch, count, sizeof *sorted);
    if (order == NULL || room == NULL || sorted == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        order[i].key = v[i].lo;
        order[i].item = i;
    }
    ms_sort(order, count, room);
    for (size_t i = 0; i < count; i++)
        sorted[i] = v[order[i].item];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && sorted[i].lo < v[kept - 1].hi)
            v[kept - 1].hi = sorted[i].hi > v[kept - 1].hi ? sorted[i].hi : v[kept - 1].hi;
        else
            v[kept++] = sorted[i];
    }
    w->list.count = first + kept;
    return kept;
}

/* How many list entries may be read now: some for every byte of entries (real files need a quarter), since
 * lists may be shared. Counted so that a function's calls get the same whether they are read with the unit or
 * alone. */
static uint64_t ms_fn_list_budget(const ms_fn_walk *w, bool is_function, uint64_t die_off)
{
    uint64_t budget =
        is_function ? 64 + 2 * (die_off - w->root->enc.unit_off) : 256 + 4 * (die_off - w->list_from);
    return budget > w->lists[is_function] ? budget - w->lists[is_function] : 0;
}

/* Finds an entry's code: a single range in *single, or several in the list from *first on. Returns how many. */
static size_t ms_fn_ranges_of(ms_fn_walk *w, uint64_t die_off, bool is_function, const ms_dw_die *die,
                              ms_range *single, size_t *first)
{
    const ms_dw_enc *enc = &w->root->enc;
    *first = w->list.count;
    if (ms_dw_get(die, ms_SLOT_RANGES)->form == 0)
        return ms_dw_low_high(w->dw, enc, ms_dw_get(die, ms_SLOT_LOW_PC), ms_dw_get(die, ms_SLOT_HIGH_PC),
                              single);
    uint64_t budget = w->list.budget = ms_fn_list_budget(w, is_function, die_off);
    if (!ms_dw_ranges(w->dw, enc, ms_dw_get(die, ms_SLOT_RANGES), &w->list))
        w->is_damaged = true;
    w->lists[is_function] += budget - w->list.budget;
    size_t count = w->list.count - *first;
    if (count > 0)
        *single = w->list.v[*first];
    if (count > ms_DW_FEW_RANGES)
        count = ms_fn_sort_ranges(w, *first);
    if (count == 1)
        *single = w->list.v[*first];
    if (count <= 1)
        w->list.count = *first;
    return count;
}

/* Remembers where a function is, for the search by address. */
static bool ms_fn_add_pieces(ms_fn_walk *w, const ms_range *single, size_t first, size_t count)
{
    bool ok = count != 1 || ms_fn_add_piece(w, single->lo, single->hi);
    for (size_t i = first; i < w->list.count && ok; i++)
        ok = ms_fn_add_piece(w, w->list.v[i].lo, w->list.v[i].hi);
    return ok;
}

/* Turns an entry with code into a block. Returns false when it has none. */
static bool ms_fn_add_block(ms_fn_walk *w, uint64_t die_off, bool is_function, const ms_dw_die *die,
                            uint32_t depth)
{
    ms_range single = {0, 0};
    size_t first;
    size_t count = ms_fn_ranges_of(w, die_off, is_function, die, &single, &first);
    if (count == 0 || (!is_function && w->open == ms_SEG_NONE) || !ms_fn_make_room(w) ||
        (is_function && !ms_fn_add_pieces(w, &single, first, count))) {
        w->list.count = first;
        return false;
    }
    ms_fn_block *block = &w->blocks[w->count];
    block->die_off = die_off;
    block->origin = 0;
    ms_dw_reference(&w->root->enc, ms_dw_get(die, ms_SLOT_ORIGIN), &block->origin);
    block->lo = single.lo;
    block->hi = single.hi;
    block->range_first = (uint32_t)first;
    block->range_count = (uint32_t)count;
    block->parent = is_function ? ms_SEG_NONE : w->open;
    block->end = (uint32_t)w->count + 1;
    block->call_file = ms_fn_u32(ms_dw_get(die, ms_SLOT_CALL_FILE));
    block->call_line = ms_fn_u32(ms_dw_get(die, ms_SLOT_CALL_LINE));
    block->call_column = ms_fn_u32(ms_dw_get(die, ms_SLOT_CALL_COLUMN));
    block->unread = w->unread; /* so far; see ms_fn_close_blocks */
    w->outer[w->count] = w->open;
    w->depths[w->count] = depth;
    w->function_count += is_function;
    w->count++;
    return true;
}

/* Closes the blocks whose lists of children have ended. Returns the depth at which the next one closes. */
static uint32_t ms_fn_close_blocks(ms_fn_walk *w, uint32_t depth)
{
    while (w->open != ms_SEG_NONE && w->depths[w->open] >= depth) {
        ms_fn_block *block = &w->blocks[w->open];
        block->end = (uint32_t)w->count;
        block->unread = w->unread - block->unread;
        w->open = w->outer[w->open];
    }
    return w->open == ms_SEG_NONE ? 0 : w->depths[w->open];
}

/* Reads an entry that may have code; die_off is its own offset, p stands behind its code. Returns where its
 * values end; NULL at damage. */
static const uint8_t *ms_fn_take_entry(ms_fn_walk *w, const ms_dw_abbrev *abbrev, uint64_t die_off,
                                       const uint8_t *p, const uint8_t *end, uint32_t depth)
{
    ms_dw_die values;
    bool is_function = abbrev->kind == ms_KIND_FUNCTION;
    ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
    ms_dw_read_die(w->root->abbrevs, abbrev, &rd, &w->root->enc, &values);
    if (rd.failed)
        return NULL;
    if (is_function) {
        w->list_from = die_off;
        w->lists[0] = 0;
    }
    if (!ms_fn_add_block(w, die_off, is_function, &values, depth))
        return rd.p;
    if (abbrev->has_children)
        w->open = (uint32_t)(w->count - 1);
    else
        w->blocks[w->count - 1].unread = 0;
    return rd.p;
}

/* Reads or skips an entry the long way; p stands behind its code. Returns where its values end; NULL at
 * damage. */
static const uint8_t *ms_fn_take_any(ms_fn_walk *w, const ms_dw_abbrev *abbrev, uint64_t die_off,
                                     const uint8_t *p, const uint8_t *end, uint32_t depth)
{
    bool is_call = abbrev->has_code && abbrev->kind == ms_KIND_INLINE;
    if (abbrev->has_code && (!is_call || w->reads_calls))
        return ms_fn_take_entry(w, abbrev, die_off, p, end, depth);
    w->unread += is_call;
    return ms_dw_skip_die(w->root->abbrevs, abbrev, p, end, &w->root->enc);
}

/* The entries from an offset on, in one flat loop, until as many lists of children have ended as were open;
 * depth counts them. Every entry takes at least a byte. */
static void ms_fn_walk_entries(ms_fn_walk *w, uint64_t off, uint32_t depth)
{
    const ms_dw_enc *enc = &w->root->enc;
    const ms_dw_abbrevs *table = w->root->abbrevs;
    const ms_span unit = ms_span_sub(w->dw->info, enc->unit_off, enc->unit_end - enc->unit_off);
    const uint8_t stops_at = w->reads_calls ? ms_BRIEF_LONG | ms_BRIEF_CALL : ms_BRIEF_LONG;
    const uint8_t *p = unit.ptr + (off - enc->unit_off);
    const uint8_t *end = unit.ptr + unit.len;
    const uint8_t *brief_end = unit.len > table->brief_max ? end - table->brief_max : unit.ptr;
    uint64_t count = 0;
    uint32_t close = 0; /* the depth at which the innermost block closes; 0: the end of all */
    do {
        const uint8_t *die = p;
        MACHSYM_COUNT_WORK(1);
        uint64_t code = *p++;
        count++;
        if (code >= 0x80) {
            ms_rd rd = ms_rd_make(ms_span_make(die, (size_t)(end - die)));
            code = ms_rd_uleb(&rd);
            p = rd.p;
        }
        if (code == 0) { /* also in more bytes than it needs */
            depth--;
            if (depth <= close)
                close = ms_fn_close_blocks(w, depth);
            continue;
        }
        if (p < brief_end && code <= table->brief_count) {
            const ms_dw_brief *brief = &table->briefs[code];
            const uint8_t *next = ms_dw_skip_brief(brief, stops_at, p);
            if (next != NULL) {
                p = next;
                depth += brief->has_children;
                w->unread += brief->flags >> 1;
                continue;
            }
        }
        const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(table, code);
        if (abbrev == NULL) {
            p = NULL;
            break;
        }
        p = ms_fn_take_any(w, abbrev, (uint64_t)(die - unit.ptr) + enc->unit_off, p, end, depth);
        close = w->open == ms_SEG_NONE ? 0 : w->depths[w->open];
        depth += abbrev->has_children;
    } while (depth != 0 && p != NULL && p < end);
    ms_fn_close_blocks(w, 0);
    w->is_damaged |= p == NULL;
    w->visited = count;
}

/* Out-of-line copies by their origin: they name inlined calls that have no linkage name themselves. */
static void ms_fn_list_copies(const ms_fn_walk *w, ms_arena *arena, ms_fn_table *table)
{
    ms_key *copies;
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++)
        count += w->blocks[i].parent == ms_SEG_NONE && w->blocks[i].origin != 0;
    copies = (ms_key *)ms_arena_alloc(arena, count, sizeof *copies);
    ms_key *room = (ms_key *)ms_arena_alloc(w->scratch, count, sizeof *copies);
    if (copies == NULL || room == NULL)
        return;
    for (size_t i = 0; i < w->count; i++) {
        if (w->blocks[i].parent != ms_SEG_NONE || w->blocks[i].origin == 0)
            continue;
        copies[table->copy_count].key = w->blocks[i].origin;
        copies[table->copy_count++].item = i;
    }
    ms_sort(copies, count, room);
    table->copies = copies;
}

static void ms_fn_begin(ms_fn_walk *w, const ms_dw *dw, const ms_cu_root *root, bool reads_calls,
                        ms_arena *scratch, ms_arena *arena)
{
    ms_zero(w, sizeof *w);
    w->dw = dw;
    w->root = root;
    w->open = ms_SEG_NONE;
    w->arena = arena;
    w->scratch = scratch;
    w->list.arena = scratch;
    w->reads_calls = reads_calls;
}

/* Gives the walk's arrays to a table. Returns false when memory is out; the table is empty then. */
static bool ms_fn_finish(ms_fn_walk *w, ms_fn_table *table)
{
    ms_arena_fit(w->arena, w->blocks, w->count, w->cap, sizeof *w->blocks);
    table->blocks = w->blocks;
    table->ranges = (const ms_range *)ms_arena_keep(w->arena, w->list.v, w->list.count, sizeof *w->list.v);
    table->is_damaged = w->is_damaged;
    table->die_count = w->visited;
    if (w->scratch->oom || w->arena->oom)
        return false;
    table->count = w->count;
    table->function_count = w->function_count;
    return true;
}

/* Reads the functions of a unit, and the calls inlined into them when they are asked for. Work is done in
 * scratch; the table's arrays come from arena. */
static void ms_fn_read(const ms_dw *dw, const ms_cu_root *root, bool reads_calls, ms_arena *scratch,
                       ms_arena *arena, ms_fn_table *table)
{
    ms_fn_walk w;
    ms_segs segs = {NULL, 0, arena};
    ms_zero(table, sizeof *table);
    if (root->abbrevs == NULL || root->first_child >= root->enc.unit_end)
        return;
    ms_fn_begin(&w, dw, root, reads_calls, scratch, arena);
    ms_fn_walk_entries(&w, root->first_child, 1);
    ms_seg_build(w.pieces, w.piece_count, scratch, &segs);
    ms_fn_list_copies(&w, arena, table);
    if (!ms_fn_finish(&w, table))
        return;
    table->segs = segs.v;
    table->seg_count = segs.count;
}

/* Reads one function of a unit with what is inlined into it: block 0 is the function. The table has no
 * segments and no copies. */
static void ms_fn_read_one(const ms_dw *dw, const ms_cu_root *root, const ms_fn_block *function,
                           ms_arena *scratch, ms_arena *arena, ms_fn_table *table)
{
    ms_fn_walk w;
    ms_zero(table, sizeof *table);
    ms_fn_begin(&w, dw, root, true, scratch, arena);
    ms_fn_walk_entries(&w, function->die_off, 0);
    ms_fn_finish(&w, table);
}

/* The range of a block that holds an address; NULL when none does. */
static const ms_range *ms_fn_range_of(const ms_fn_table *table, const ms_fn_block *block, uint64_t addr)
{
    return ms_dw_range_at(table->ranges + block->range_first, block->range_count, addr);
}

static bool ms_fn_holds(const ms_fn_table *table, const ms_fn_block *block, uint64_t addr)
{
    if (block->range_count == 1)
        return addr >= block->lo && addr < block->hi;
    return ms_fn_range_of(table, block, addr) != NULL;
}

/* The innermost block at an address that a function has. Calls nest, so the last one that holds the address
 * is the innermost; where a producer let calls overlap, the later one has it. */
static uint32_t ms_fn_block_at(const ms_fn_table *table, uint32_t function, uint64_t addr)
{
    uint32_t best = function;
    uint32_t end = table->blocks[function].end;
    for (uint32_t i = function + 1; i < end;) {
        const ms_fn_block *block = &table->blocks[i];
        MACHSYM_COUNT_WORK(1);
        if (block->parent == ms_SEG_NONE) { /* a function in a function answers for itself */
            i = block->end;
            continue;
        }
        if (ms_fn_holds(table, block, addr))
            best = i;
        i++;
    }
    return best;
}

/* The range of a block that holds an address; its first one when none does. */
static ms_range ms_fn_range_at(const ms_fn_table *table, const ms_fn_block *block, uint64_t addr)
{
    ms_range range = {block->lo, block->hi};
    const ms_range *one = block->range_count > 1 ? ms_fn_range_of(table, block, addr) : NULL;
    return one != NULL ? *one : range;
}

/* The out-of-line copy of what block is inlined from; NULL when the unit has none. */
static const ms_fn_block *ms_fn_copy_of(const ms_fn_table *table, const ms_fn_block *block)
{
    size_t at = block->origin == 0 ? table->copy_count
                                   : ms_upper_bound(table->copies, table->copy_count, block->origin - 1);
    if (at >= table->copy_count || table->copies[at].key != block->origin)
        return NULL;
    return &table->blocks[table->copies[at].item];
}

/* ---- Names ---- */

/* What the debug info calls a function. */
typedef struct ms_fn_names {
    machsym_str linkage_name;
    machsym_str name;
} ms_fn_names;

/* Reads the entry at an offset of .debug_info. Returns its unit's root; NULL when there is no such entry to
 * read. */
static const ms_cu_root *ms_fn_entry(ms_cu_env *env, uint64_t die_off, ms_dw_die *die)
{
    size_t unit = ms_cu_from_offset(env->v, env->count, die_off);
    const ms_cu_root *root = unit < env->count ? ms_cu_root_of(env, unit) : NULL;
    if (root == NULL || root->abbrevs == NULL || die_off < root->enc.unit_off + env->v[unit].root)
        return NULL;
    ms_rd rd = ms_rd_make(ms_span_sub(env->dw->info, die_off, root->enc.unit_end - die_off));
    const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(root->abbrevs, ms_rd_uleb(&rd));
    if (abbrev == NULL || (abbrev->kind != ms_KIND_FUNCTION && abbrev->kind != ms_KIND_INLINE))
        return NULL;
    ms_dw_read_die(root->abbrevs, abbrev, &rd, &root->enc, die);
    return rd.failed ? NULL : root;
}

/* Entries whose names were read last: calls of one function cluster. */
typedef struct ms_fn_name_cache {
    uint64_t die_off; /* 0: empty; no entry stands at offset 0 */
    ms_fn_names names;
} ms_fn_name_cache;

enum { ms_FN_NAMES = 1024 };

/* Collects names from an entry, its abstract origin and its specification, across units. Loops occur: the
 * number of links is limited. */
static ms_fn_names ms_fn_names_of(ms_cu_env *env, uint64_t die_off)
{
    ms_fn_names names = {ms_str_empty(), ms_str_empty()};
    ms_dw_die die;
    for (unsigned links = 0; links < MACHSYM_MAX_NAME_LINKS; links++) {
        const ms_cu_root *root = ms_fn_entry(env, die_off, &die);
        if (root == NULL)
            break;
        if (names.linkage_name.len == 0)
            names.linkage_name = ms_dw_string(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_LINKAGE_NAME));
        if (names.name.len == 0)
            names.name = ms_dw_string(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_NAME));
        if (names.linkage_name.len != 0 && names.name.len != 0)
            break;
        if (!ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_ORIGIN), &die_off) &&
            !ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_SPECIFICATION), &die_off))
            break;
    }
    return names;
}

/* ==== >>debugmap ===========================================================================================
 * Job:    finds the debug info of a program that was linked without a dSYM: in the object files of its debug map.
 * Uses:   platform, bytes, reader, memory, segments, macho, symbols, forms, units.
 * Offers: ms_om_map, ms_om_list, ms_om_find, ms_om_open, ms_om_read_dwarf, ms_om_next_function.
 * Never:  answers; keeps an object open that the caller does not hold. */

/* stab.h, reloc.h. Of the stabs of code N_FUN tells all: N_BNSYM and N_ENSYM stand around it and repeat it,
 * N_STSYM and N_GSYM are of data. */
enum {
    ms_N_FUN = 0x24,
    ms_N_SO = 0x64,
    ms_N_OSO = 0x66,
    ms_RELOC_UNSIGNED = 0, /* of every architecture; called VANILLA on the 32-bit ones */
    ms_ARM64_RELOC_SUBTRACTOR = 1,
    ms_X86_64_RELOC_SUBTRACTOR = 5
};

#define ms_R_SCATTERED 0x80000000u
#define ms_CPU_X86_64  0x01000007u

/* No path of a system is longer: more is a damaged string table. The names of an object are shorter on
 * average: a hostile file lets every entry have one long name. */
enum { ms_OM_PATH = 4096, ms_OM_NAME = 4096 };

/* The same file may stand in the debug map under many names: with links, in folders that are searched for the
 * ends of paths, in an archive that is read from its front for every member. Reading what was not read before
 * is free, and earns ms_OM_AGAIN bytes of reading again for every byte, as the program's own do. Real debug
 * maps name every file once; they search long archives, at 60 bytes a member passed. */
enum {
    ms_OM_AGAIN = 32,
    ms_OM_FIRST = 1 << 20, /* bytes of reading again that are there before anything is read */
    ms_OM_ENDS = 64,       /* of a path, to search folders for; real paths have 20 */
    ms_OM_PIECES = 16, /* that a function may be cut into by those of other objects; real ones stay whole */
    ms_OM_PROBES = 16
};

/* ---- Stabs ---- */

/* An object file that the debug map names. */
typedef struct ms_om_object {
    uint32_t first; /* its N_OSO in LC_SYMTAB; its functions follow */
    uint32_t end;
    uint64_t time; /* when the file had last changed as the linker read it; 0: not recorded */
    machsym_str path;
    machsym_str member; /* in the archive; empty for a file of its own */
} ms_om_object;

/* The debug map of a program. */
typedef struct ms_om_map {
    const ms_mo *mo;
    ms_span nlists;
    ms_span strings;
    ms_om_object *v;
    size_t count;
    size_t cap;
    ms_segs segs; /* linked address to object; empty until ms_om_index */
} ms_om_map;

/* A function as the debug map has it. */
typedef struct ms_om_function {
    uint32_t strx;
    uint64_t lo; /* in the program */
    uint64_t size;
} ms_om_function;

/* The next function between two entries. It is two of them: its name and address, then no name and its
 * size. */
static bool ms_om_next(const ms_mo *mo, ms_span nlists, size_t *at, size_t end, ms_om_function *out)
{
    const uint32_t one = ms_sym_nlist_size(mo);
    for (; *at + 1 < end; ++*at) {
        if (nlists.ptr[*at * one + 4] != ms_N_FUN || nlists.ptr[(*at + 1) * one + 4] != ms_N_FUN)
            continue;
        ms_sym_nlist name = ms_sym_nlist_at(mo, nlists, *at);
        const uint8_t *size = nlists.ptr + (*at + 1) * one + 8; /* unlike an address, it has no Thumb bit */
        uint64_t hi;
        out->strx = name.strx;
        out->lo = name.value;
        out->size = mo->is_64 ? ms_rd_raw_u64(size) : ms_rd_raw_u32(size);
        if (out->size == 0 || !ms_add_ok(out->lo, out->size, &hi))
            continue;
        *at += 2;
        return true;
    }
    return false;
}

/* The path that an N_OSO names: "libx.a(member.o)" in its two parts. */
static void ms_om_read_path(ms_span strings, uint32_t strx, machsym_str *path, machsym_str *member)
{
    ms_span rest = ms_span_from(strings, strx);
    *path = ms_rd_str_at(ms_span_sub(rest, 0, rest.len < ms_OM_PATH ? rest.len : (size_t)ms_OM_PATH), 0);
    size_t open = path->len;
    MACHSYM_COUNT_WORK(path->len / 64);
    *member = ms_str_empty();
    while (open > 0 && ms_str_ends(*path, ")") && path->ptr[open - 1] != '(')
        open--;
    if (open > 0 && open < path->len) {
        *member = ms_str_make(path->ptr + open, path->len - open - 1);
        path->len = open - 1;
    }
}

/* The next function of the debug map of one half at or past entry *at; *oso: entry of its object file plus
 * 1. */
static bool ms_om_next_function(const ms_mo *mo, uint64_t *at, uint64_t *oso, machsym_object *out)
{
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo);
    const uint32_t one = ms_sym_nlist_size(mo);
    size_t count = mo->hide_symtab ? 0 : nlists.len / one;
    for (; *at < count; ++*at) {
        uint8_t type = nlists.ptr[(size_t)*at * one + 4];
        ms_om_function function;
        size_t next = (size_t)*at;
        if (type == ms_N_OSO)
            *oso = *at + 1;
        else if (type == ms_N_SO)
            *oso = 0; /* the object file follows its source file */
        if (type != ms_N_FUN || *oso == 0 || *at + 1 >= count ||
            !ms_om_next(mo, nlists, &next, next + 2, &function))
            continue;
        *at = next;
        out->lo = function.lo;
        out->hi = function.lo + function.size;
        ms_om_read_path(strings, ms_sym_nlist_at(mo, nlists, (size_t)*oso - 1).strx, &out->path,
                        &out->member);
        return true;
    }
    return false;
}

static void ms_om_add_object(ms_om_map *m, size_t entry, ms_arena *arena)
{
    ms_om_object *v = (ms_om_object *)ms_arena_grow(arena, m->v, m->count, &m->cap, sizeof *v);
    if (v == NULL)
        return;
    ms_sym_nlist oso = ms_sym_nlist_at(m->mo, m->nlists, entry);
    const uint8_t *value = m->nlists.ptr + entry * ms_sym_nlist_size(m->mo) + 8;
    m->v = v;
    v += m->count++;
    v->first = v->end = (uint32_t)entry;
    v->time = m->mo->is_64 ? ms_rd_raw_u64(value) : ms_rd_raw_u32(value);
    ms_om_read_path(m->strings, oso.strx, &v->path, &v->member);
}

/* Lists the object files of a program's debug map, in its order. */
static void ms_om_list(ms_om_map *m, const ms_mo *mo, ms_arena *arena)
{
    ms_zero(m, sizeof *m);
    m->mo = mo;
    m->nlists = ms_sym_nlists(mo);
    m->strings = ms_sym_strings(mo);
    const uint32_t one = ms_sym_nlist_size(mo);
    size_t count = mo->hide_symtab ? 0 : m->nlists.len / one;
    bool open = false;
    MACHSYM_COUNT_WORK(count);
    for (size_t i = 0; i < count; i++) {
        uint8_t type = m->nlists.ptr[i * one + 4];
        if ((type & ms_N_STAB) == 0 ? !open : type != ms_N_SO && type != ms_N_OSO)
            continue; /* a symbol outside of the stabs, or a stab inside of an object: nearly all */
        if (open)
            m->v[m->count - 1].end = (uint32_t)i;
        open = false;
        if (type != ms_N_OSO)
            continue;
        size_t before = m->count;
        ms_om_add_object(m, i, arena);
        open = m->count > before;
    }
    if (open)
        m->v[m->count - 1].end = (uint32_t)count;
}

/* The object that has a linked address, by reading all stabs: for a first, cold lookup. count when none
 * has. */
static size_t ms_om_scan(const ms_om_map *m, uint64_t addr)
{
    for (size_t i = 0; i < m->count; i++) {
        ms_om_function function;
        for (size_t at = m->v[i].first; ms_om_next(m->mo, m->nlists, &at, m->v[i].end, &function);) {
            if (addr >= function.lo && addr - function.lo < function.size)
                return i;
        }
    }
    return m->count;
}

/* The whole debug map as segments: for many lookups. Of objects that claim the same code (the linker folds
 * equal functions) the first has it, so they are painted last. */
static void ms_om_index(ms_om_map *m, ms_arena *scratch, ms_arena *arena)
{
    ms_cu_pieces pieces = {scratch, NULL, 0, 0};
    m->segs.arena = arena;
    for (size_t i = 0; i < m->count; i++) {
        ms_om_function function;
        for (size_t at = m->v[i].first; ms_om_next(m->mo, m->nlists, &at, m->v[i].end, &function);)
            ms_cu_add_piece(&pieces, function.lo, function.lo + function.size, i);
    }
    ms_cu_build_segments(&pieces, scratch, &m->segs);
}

static size_t ms_om_find(const ms_om_map *m, uint64_t addr)
{
    uint32_t owner = ms_seg_owner(m->segs.v, m->segs.count, addr);
    return owner == ms_SEG_NONE ? m->count : owner;
}

/* ---- What may be read again ---- */

/* Which files were read, and how much may be read again. */
typedef struct ms_om_quota {
    uint64_t *seen; /* hashes of what was read; 0: free */
    size_t cap;     /* a power of 2 */
    uint64_t left;  /* bytes */
} ms_om_quota;

static void ms_om_start_quota(ms_om_quota *quota, size_t objects, uint64_t program, ms_arena *arena)
{
    quota->cap = 64;
    while (quota->cap < 4 * objects)
        quota->cap *= 2;
    quota->seen = (uint64_t *)ms_arena_zeroed(arena, quota->cap, sizeof *quota->seen);
    quota->left = ms_OM_FIRST + ms_OM_AGAIN * program;
}

#ifndef MACHSYM_NO_OS
/* Takes bytes from what may be read again. */
static void ms_om_pay(ms_om_quota *quota, uint64_t bytes)
{
    MACHSYM_COUNT_WORK(bytes / 64);
    if (quota != NULL)
        quota->left = bytes < quota->left ? quota->left - bytes : 0;
}

static bool ms_om_is_spent(const ms_om_quota *quota)
{
    return quota != NULL && quota->left == 0;
}

/* Whether a part of a file is read for the first time. A file is known by its time and its length: that tells
 * links from copies on every system, and files that are alike by chance only cost a little. */
static bool ms_om_is_new(ms_om_quota *quota, const ms_os_file *file, ms_span part)
{
    uint64_t place = part.ptr != NULL ? (uint64_t)(part.ptr - (const uint8_t *)file->ptr) : 0;
    uint64_t key[4] = {file->time, file->len, place, part.len};
    uint64_t hash = ms_str_hash(ms_str_make((const char *)key, sizeof key)) | 1;
    if (quota == NULL)
        return true;
    for (size_t i = 0; i < ms_OM_PROBES; i++) {
        uint64_t *slot = &quota->seen[(size_t)((hash >> 8) + i) & (quota->cap - 1)];
        if (*slot != 0 && *slot != hash)
            continue;
        bool is_new = *slot == 0;
        *slot = hash;
        quota->left += is_new ? ms_OM_AGAIN * (uint64_t)part.len : 0;
        return is_new;
    }
    return false;
}

/* ---- Archives ---- */

/* A member of an archive, as its header tells. */
typedef struct ms_om_member {
    machsym_str name;
    uint64_t time;
    ms_span bytes; /* empty in a thin archive: the name is a path then */
} ms_om_member;

/* An archive, and what it takes to read it from front to back. */
typedef struct ms_om_archive {
    ms_rd rd;
    bool is_thin;
    ms_span long_names; /* of the GNU kind */
} ms_om_archive;

/* A field of a header: decimal digits, then spaces. */
static uint64_t ms_om_decimal(machsym_str text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && i < 18; i++)
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    return number;
}

static machsym_str ms_om_field(ms_rd *rd, size_t len)
{
    ms_span span = ms_rd_span(rd, len);
    return ms_str_make((const char *)span.ptr, span.len);
}

static bool ms_om_archive_open(ms_om_archive *a, ms_span file)
{
    machsym_str text = ms_str_make((const char *)file.ptr, file.len);
    ms_zero(a, sizeof *a);
    a->rd = ms_rd_at(file, file.len < 8 ? file.len : 8);
    a->is_thin = ms_str_begins(text, "!<thin>\n");
    return a->is_thin || ms_str_begins(text, "!<arch>\n");
}

/* The name in a header: BSD's "#1/N" stands before the bytes, N long; GNU's "/N" at N of the table of long
 * names; short ones end in a slash or in spaces. */
static machsym_str ms_om_name(const ms_om_archive *a, machsym_str field, ms_span *body)
{
    if (ms_str_begins(field, "#1/")) {
        uint64_t len = ms_om_decimal(ms_str_drop(field, 3));
        ms_span name = ms_span_sub(*body, 0, len);
        *body = ms_span_from(*body, len);
        return ms_str_bounded((const char *)name.ptr, name.len);
    }
    if (field.len > 1 && field.ptr[0] == '/' && field.ptr[1] >= '0' && field.ptr[1] <= '9') {
        ms_span rest = ms_span_from(a->long_names, ms_om_decimal(ms_str_drop(field, 1)));
        const uint8_t *end = (const uint8_t *)ms_find_byte(rest.ptr, rest.len, '\n');
        machsym_str name =
            ms_str_make((const char *)rest.ptr, end != NULL ? (size_t)(end - rest.ptr) : rest.len);
        if (ms_str_ends(name, "/"))
            name.len--;
        return name;
    }
    while (field.len > 0 && field.ptr[field.len - 1] == ' ')
        field.len--;
    if (field.len > 1 && field.ptr[0] != '/' && ms_str_ends(field, "/"))
        field.len--;
    return field;
}

/* Reads the next member: a header of 60 bytes (ar.h), then its bytes, on even offsets. Tables of symbols, of
 * 32 and of 64 bits, are members with names that no object has. */
static bool ms_om_next_member(ms_om_archive *a, ms_om_member *out)
{
    while (ms_rd_left(&a->rd) >= 60) {
        machsym_str field = ms_om_field(&a->rd, 16);
        out->time = ms_om_decimal(ms_om_field(&a->rd, 12));
        ms_rd_skip(&a->rd, 20); /* owner, group, mode */
        uint64_t size = ms_om_decimal(ms_om_field(&a->rd, 10));
        ms_rd_skip(&a->rd, 2);
        bool is_table = field.len > 1 && field.ptr[0] == '/' && (field.ptr[1] < '0' || field.ptr[1] > '9');
        if (size > ms_rd_left(&a->rd) && (!a->is_thin || is_table))
            size = ms_rd_left(&a->rd);
        out->bytes = ms_span_make(NULL, 0);
        if (!a->is_thin || is_table) {
            out->bytes = ms_rd_span(&a->rd, size);
            if ((size & 1) != 0 && ms_rd_left(&a->rd) > 0)
                ms_rd_skip(&a->rd, 1);
        }
        if (field.len > 1 && field.ptr[0] == '/' && field.ptr[1] == '/')
            a->long_names = out->bytes;
        out->name = ms_om_name(a, field, &out->bytes);
        if (!is_table)
            return true;
    }
    return false;
}

/* Finds a member by its name. An archive may hold several of one name: time chooses, else the first is
 * taken. Ends where the quota does. */
static bool ms_om_find_member(ms_span file, machsym_str name, uint64_t time, ms_om_quota *quota,
                              ms_om_member *out)
{
    ms_om_archive archive;
    ms_om_member member;
    bool found = false;
    if (!ms_om_archive_open(&archive, file))
        return false;
    while (ms_om_next_member(&archive, &member) && !ms_om_is_spent(quota)) {
        ms_om_pay(quota, 60);
        bool same = ms_str_equal(archive.is_thin ? ms_str_base_name(member.name) : member.name, name) ||
                    ms_str_equal(member.name, name);
        if (!same || (found && member.time != time))
            continue;
        *out = member;
        found = true;
        if (time == 0 || member.time == time)
            break;
    }
    return found;
}

/* The slice of a fat file, of objects or of archives, for the program's architecture; a thin file itself. */
static ms_span ms_om_slice(ms_span file, const ms_mo *program)
{
    ms_span best = ms_span_make(NULL, 0);
    ms_span slice;
    uint64_t offset;
    uint32_t count;
    ms_rd rd = ms_rd_make(file);
    uint32_t magic = ms_rd_be32(&rd);
    if (magic != ms_FAT_MAGIC_32 && magic != ms_FAT_MAGIC_64)
        return file;
    for (uint32_t i = 0; ms_mo_slice_at(file, i, &count, &slice, &offset); i++) {
        ms_rd entry = ms_rd_at(file, 8 + (uint64_t)i * (magic == ms_FAT_MAGIC_64 ? 32 : 20));
        uint32_t cputype = ms_rd_be32(&entry);
        uint32_t cpusubtype = ms_rd_be32(&entry);
        bool exact = ((cpusubtype ^ program->slice.cpusubtype) & ms_CPU_SUBTYPE) == 0;
        if (cputype == program->slice.cputype && (exact || best.len == 0))
            best = slice;
    }
    return best;
}
#endif

/* ---- Relocations ---- */

/* Adds the address of a symbol to the value at off, or takes it away: what relocation_info asks for. */
static void ms_om_relocate(const ms_mo *mo, uint8_t *bytes, size_t len, uint32_t off, uint32_t bits)
{
    ms_span nlists = ms_sym_nlists(mo);
    uint32_t index = bits & 0xffffff; /* symbol 24 bits, pcrel 1, length 2, extern 1, type 4 */
    size_t size = (size_t)1 << (bits >> 25 & 3);
    unsigned type = bits >> 28;
    bool subtracts = type == (mo->slice.cputype == ms_CPU_X86_64 ? (unsigned)ms_X86_64_RELOC_SUBTRACTOR
                                                                 : (unsigned)ms_ARM64_RELOC_SUBTRACTOR);
    if (off > len || size > len - off || index >= nlists.len / ms_sym_nlist_size(mo) ||
        (type != ms_RELOC_UNSIGNED && !subtracts))
        return;
    ms_sym_nlist symbol = ms_sym_nlist_at(mo, nlists, index);
    uint64_t value = ms_sym_is_defined(&symbol) ? symbol.value : 0;
    uint64_t sum = 0;
    for (size_t i = size; i-- > 0;)
        sum = sum << 8 | bytes[off + i];
    sum = subtracts ? sum - value : sum + value;
    for (size_t i = 0; i < size; i++)
        bytes[off + i] = (uint8_t)(sum >> 8 * i);
}

/* A section with the relocations applied that its values need. Those against a section, and the scattered
 * ones of the 32-bit kinds (SECTDIFF among them), leave in the file what holds in the object's own addresses;
 * only those against a symbol (r_extern) do not, which makes a copy necessary. */
static ms_span ms_om_relocated(const ms_mo *mo, const ms_mo_section *section, ms_arena *arena)
{
    uint8_t *copy = NULL;
    ms_rd rd = ms_rd_make(ms_mo_table(mo, section->reloc_off, section->reloc_count, 8));
    while (ms_rd_left(&rd) >= 8) {
        uint32_t off = ms_rd_u32(&rd);
        uint32_t bits = ms_rd_u32(&rd);
        if ((off & ms_R_SCATTERED) != 0 || (bits >> 27 & 1) == 0)
            continue;
        if (copy == NULL) {
            copy = (uint8_t *)ms_arena_alloc(arena, section->bytes.len, 1);
            if (copy == NULL)
                return ms_span_make(NULL, 0);
            ms_copy(copy, section->bytes.ptr, section->bytes.len);
        }
        ms_om_relocate(mo, copy, section->bytes.len, off, bits);
    }
    return copy != NULL ? ms_span_make(copy, section->bytes.len) : section->bytes;
}

static ms_span ms_om_debug_section(const ms_mo *mo, const char *name, ms_arena *arena)
{
    const ms_mo_section *section = ms_mo_section_named(mo, NULL, name);
    if (section == NULL)
        return ms_span_make(NULL, 0);
    return mo->slice.filetype == ms_MH_OBJECT ? ms_om_relocated(mo, section, arena) : section->bytes;
}

/* Finds the debug info of a file; in an object file, with relocations applied. */
static void ms_om_read_dwarf(const ms_mo *mo, ms_arena *arena, ms_dw *dw)
{
    dw->info = ms_om_debug_section(mo, "__debug_info", arena);
    dw->abbrev = ms_om_debug_section(mo, "__debug_abbrev", arena);
    dw->str = ms_om_debug_section(mo, "__debug_str", arena);
    dw->line = ms_om_debug_section(mo, "__debug_line", arena);
    dw->line_str = ms_om_debug_section(mo, "__debug_line_str", arena);
    dw->str_offsets = ms_om_debug_section(mo, "__debug_str_offs", arena); /* names are cut at 16 characters */
    dw->addr = ms_om_debug_section(mo, "__debug_addr", arena);
    dw->ranges = ms_om_debug_section(mo, "__debug_ranges", arena);
    dw->rnglists = ms_om_debug_section(mo, "__debug_rnglists", arena);
    dw->aranges = ms_om_debug_section(mo, "__debug_aranges", arena);
}

#ifndef MACHSYM_NO_OS
/* ---- Where the linker put the object's code ---- */

/* Functions of the debug map or symbols of the object, by the hash of their names. */
typedef struct ms_om_names {
    ms_key *v; /* hash, entry */
    size_t count;
} ms_om_names;

/* Takes a name from what all may cost. Returns false once that is spent. */
static bool ms_om_spend(uint64_t *budget, machsym_str name)
{
    uint64_t cost = name.ptr != NULL ? name.len + 1 : MACHSYM_MAX_TEXT; /* looked for its end in vain */
    *budget = cost < *budget ? *budget - cost : 0;
    return *budget != 0;
}

static void ms_om_sort_names(ms_om_names *names, ms_arena *scratch)
{
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, names->count, sizeof *room);
    ms_sort(names->v, names->count, room);
}

static ms_om_names ms_om_function_names(const ms_om_map *m, const ms_om_object *object, ms_arena *scratch)
{
    ms_om_names names = {NULL, 0};
    ms_om_function function;
    uint64_t budget = MACHSYM_MAX_TEXT + (uint64_t)ms_OM_NAME * (object->end - object->first);
    names.v = (ms_key *)ms_arena_alloc(scratch, (object->end - object->first) / 2 + 1, sizeof *names.v);
    if (names.v == NULL)
        return names;
    for (size_t at = object->first; ms_om_next(m->mo, m->nlists, &at, object->end, &function);) {
        machsym_str name = ms_sym_name_at(m->strings, function.strx);
        if (!ms_om_spend(&budget, name))
            break;
        names.v[names.count].key = ms_str_hash(name);
        names.v[names.count++].item = at - 2;
    }
    ms_om_sort_names(&names, scratch);
    return names;
}

static ms_om_names ms_om_symbol_names(const ms_mo *mo, ms_arena *scratch)
{
    ms_om_names names = {NULL, 0};
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo);
    size_t count = nlists.len / ms_sym_nlist_size(mo);
    uint64_t budget = MACHSYM_MAX_TEXT + (uint64_t)ms_OM_NAME * count;
    names.v = (ms_key *)ms_arena_alloc(scratch, count + 1, sizeof *names.v);
    if (names.v == NULL)
        return names;
    for (size_t i = 0; i < count; i++) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (!ms_sym_is_defined(&entry))
            continue;
        machsym_str name = ms_sym_name_at(strings, entry.strx);
        if (!ms_om_spend(&budget, name))
            break;
        names.v[names.count].key = ms_str_hash(name);
        names.v[names.count++].item = i;
    }
    ms_om_sort_names(&names, scratch);
    return names;
}

/* Sorts moves by the object's addresses, cuts overlaps, and joins those that moved together. */
static size_t ms_om_join_moves(ms_dw_move *moves, size_t count, ms_arena *scratch)
{
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    ms_dw_move *sorted = (ms_dw_move *)ms_arena_alloc(scratch, count, sizeof *sorted);
    size_t kept = 0;
    if (order == NULL || room == NULL || sorted == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        order[i].key = moves[i].lo;
        order[i].item = i;
    }
    ms_sort(order, count, room);
    for (size_t i = 0; i < count; i++)
        sorted[i] = moves[order[i].item];
    for (size_t i = 0; i < count; i++) {
        ms_dw_move move = sorted[i];
        if (i + 1 < count && move.hi > sorted[i + 1].lo)
            move.hi = sorted[i + 1].lo;
        if (move.lo >= move.hi)
            continue;
        ms_dw_move *last = kept > 0 ? &moves[kept - 1] : NULL;
        if (last != NULL && last->hi == move.lo && last->to - last->lo == move.to - move.lo)
            last->hi = move.hi;
        else
            moves[kept++] = move;
    }
    return kept;
}

/* Moves as they are collected. */
typedef struct ms_om_moves {
    ms_arena *arena;
    ms_dw_move *v;
    size_t count;
    size_t cap;
    size_t left; /* pieces that functions may still be cut into */
} ms_om_moves;

static void ms_om_add_move(ms_om_moves *moves, uint64_t lo, uint64_t len, uint64_t to)
{
    ms_dw_move *v = (ms_dw_move *)ms_arena_grow(moves->arena, moves->v, moves->count, &moves->cap, sizeof *v);
    if (v == NULL)
        return;
    moves->v = v;
    v += moves->count++;
    v->lo = lo;
    v->hi = lo + len;
    v->to = to;
}

/* Adds what the object has of a function: once the map is indexed, all but what another object has too and
 * answers for. */
static void ms_om_add_owned(const ms_om_map *m, size_t index, uint64_t addr, const ms_om_function *function,
                            ms_om_moves *moves)
{
    uint64_t until;
    if (m->segs.count == 0) {
        ms_om_add_move(moves, addr, function->size, function->lo);
        return;
    }
    for (uint64_t off = 0; off < function->size && moves->left > 0; off = until - function->lo) {
        MACHSYM_COUNT_WORK(1);
        moves->left--;
        until = ms_seg_until(m->segs.v, m->segs.count, function->lo + off);
        if (until > function->lo + function->size)
            until = function->lo + function->size;
        if (ms_om_find(m, function->lo + off) == index)
            ms_om_add_move(moves, addr + off, until - function->lo - off, function->lo + off);
    }
}

/* Matches the functions of the debug map with the symbols of the object. Of several of one name the first of
 * the one is the first of the other, and so on. */
static void ms_om_read_moves(const ms_om_map *m, const ms_om_object *object, const ms_mo *mo, ms_arena *arena,
                             ms_arena *scratch, ms_dw *dw)
{
    ms_om_names functions = ms_om_function_names(m, object, scratch);
    ms_om_names symbols = ms_om_symbol_names(mo, scratch);
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo);
    ms_om_moves moves = {scratch, NULL, 0, 0, ms_OM_PIECES * functions.count};
    if (functions.v == NULL || symbols.v == NULL)
        return;
    for (size_t i = 0, j = 0; i < functions.count && j < symbols.count;) {
        if (functions.v[i].key != symbols.v[j].key) {
            if (functions.v[i].key < symbols.v[j].key)
                i++;
            else
                j++;
            continue;
        }
        ms_om_function function;
        uint64_t end;
        size_t at = (size_t)functions.v[i++].item;
        ms_sym_nlist symbol = ms_sym_nlist_at(mo, nlists, (size_t)symbols.v[j++].item);
        if (ms_om_next(m->mo, m->nlists, &at, at + 2, &function) &&
            ms_str_equal(ms_sym_name_at(m->strings, function.strx), ms_sym_name_at(strings, symbol.strx)) &&
            ms_add_ok(symbol.value, function.size, &end))
            ms_om_add_owned(m, (size_t)(object - m->v), symbol.value, &function, &moves);
    }
    size_t count = ms_om_join_moves(moves.v, moves.count, scratch);
    ms_dw_move *kept = (ms_dw_move *)ms_arena_alloc(arena, count + 1, sizeof *kept);
    if (kept == NULL)
        return;
    ms_copy(kept, moves.v, count * sizeof *kept);
    dw->moves = kept;
    dw->move_count = count;
}
#endif

/* ---- Opening an object ---- */

/* Where object files may have gone, and how exact one is about them. */
typedef struct ms_om_places {
    const machsym_oso_prefix *prefixes;
    size_t prefix_count;
    const char *const *dirs;
    size_t dir_count;
    uint32_t flags; /* machsym_open_flags */
} ms_om_places;

/* An object file of a debug map, opened: its debug info with the program's addresses. */
typedef struct ms_om_file {
    ms_arena arena;
    ms_mo mo;
    ms_dw dw;
    const ms_cu *cus;
    size_t cu_count;
    uint32_t damage_count;
    uint64_t time; /* of the file, or of the member */
#ifndef MACHSYM_NO_OS
    ms_os_file files[2]; /* the file; then what a thin archive names */
#endif
} ms_om_file;

static void ms_om_close(ms_om_file *file)
{
#ifndef MACHSYM_NO_OS
    ms_os_unmap(&file->files[0]);
    ms_os_unmap(&file->files[1]);
#endif
    ms_arena_free(&file->arena);
}

#ifndef MACHSYM_NO_OS
/* a, then b, as text of the program. */
static const char *ms_om_path(machsym_str a, const char *between, machsym_str b, ms_arena *scratch)
{
    machsym_str middle = ms_str_from_c(between);
    MACHSYM_COUNT_WORK(1 + (a.len + b.len) / 64);
    char *path = (char *)ms_arena_alloc(scratch, a.len + middle.len + b.len + 1, 1);
    if (path == NULL)
        return NULL;
    ms_copy(path, a.ptr, a.len);
    ms_copy(path + a.len, middle.ptr, middle.len);
    ms_copy(path + a.len + middle.len, b.ptr, b.len);
    path[a.len + middle.len + b.len] = 0;
    return path;
}

/* What a path of the debug map could be here, by number: with each prefix that fits replaced; as it is; then
 * under each folder, the longest end of the path first. Returns false at the end; *path NULL: nothing under
 * this number. */
static bool ms_om_candidate(const ms_om_places *places, machsym_str path, size_t number, ms_arena *scratch,
                            const char **out)
{
    *out = NULL;
    if (number < places->prefix_count) {
        const machsym_oso_prefix *prefix = &places->prefixes[number];
        if (ms_str_begins(path, prefix->from))
            *out = ms_om_path(ms_str_from_c(prefix->to), "",
                              ms_str_drop(path, ms_str_from_c(prefix->from).len), scratch);
        return true;
    }
    number -= places->prefix_count;
    if (number == 0) {
        *out = ms_om_path(path, "", ms_str_empty(), scratch);
        return true;
    }
    number--;
    size_t ends = 1; /* of the path: one a slash, and the whole of a relative one */
    for (size_t i = 1; i < path.len; i++)
        ends += path.ptr[i] == '/';
    if (ends > ms_OM_ENDS || number >= places->dir_count * ends)
        return false;
    size_t drop = path.len > 0 && path.ptr[0] == '/' ? 1 : 0;
    for (size_t skip = number % ends; skip > 0; drop++)
        skip -= path.ptr[drop] == '/';
    *out = ms_om_path(ms_str_from_c(places->dirs[number / ends]), "/", ms_str_drop(path, drop), scratch);
    return true;
}

/* The file that a thin archive names, relative to where the archive lies. */
static ms_span ms_om_thin_member(const char *archive, machsym_str name, bool copy, ms_om_file *file,
                                 ms_arena *scratch)
{
    machsym_str folder = ms_str_from_c(archive);
    folder.len -= ms_str_base_name(folder).len;
    if (name.len > 0 && name.ptr[0] == '/')
        folder.len = 0;
    const char *path = ms_om_path(folder, "", name, scratch);
    if (path == NULL || ms_os_map(path, copy, &file->files[1]) != 0)
        return ms_span_make(NULL, 0);
    return ms_span_make(file->files[1].ptr, file->files[1].len);
}

/* Opens what lies at a path, and finds the object in it. */
static machsym_object_status ms_om_open_at(const ms_om_map *m, const ms_om_object *object, const char *path,
                                           const ms_om_places *places, ms_om_quota *quota, ms_om_file *file,
                                           ms_arena *scratch, ms_span *bytes)
{
    ms_om_member member;
    bool copy = (places->flags & MACHSYM_OPEN_COPY) != 0;
    if (ms_os_map(path, copy, &file->files[0]) != 0)
        return MACHSYM_OBJECT_MISSING;
    ms_os_file *outer = &file->files[0];
    bool fits = object->time == 0 || object->time == outer->time;
    file->time = outer->time;
    *bytes = ms_om_slice(ms_span_make(outer->ptr, outer->len), m->mo);
    ms_span looked_at = ms_span_sub(*bytes, 0, object->member.len != 0 ? bytes->len : 0);
    if (!ms_om_is_new(quota, outer, looked_at) && !outer->mapped)
        ms_om_pay(quota, outer->len / 16); /* copying is cheap beside reading */
    if (object->member.len != 0) {
        if (!ms_om_find_member(*bytes, object->member, object->time, quota, &member))
            return ms_om_is_spent(quota) ? MACHSYM_OBJECT_OVER_BUDGET : MACHSYM_OBJECT_NO_MEMBER;
        *bytes = member.bytes;
        if (member.bytes.len == 0)
            *bytes = ms_om_thin_member(path, member.name, copy, file, scratch);
        /* an archive made without times has 0 in its headers: then its own time counts */
        if (member.time != 0)
            file->time = member.time;
        fits = fits || object->time == file->time;
    }
    return fits || (places->flags & MACHSYM_OPEN_ANY_TIME) != 0 ? MACHSYM_OBJECT_FOUND
                                                                : MACHSYM_OBJECT_CHANGED;
}

/* Reads the debug info of an object whose bytes are there. */
static machsym_object_status ms_om_read(const ms_om_map *m, const ms_om_object *object, ms_span bytes,
                                        ms_om_quota *quota, ms_om_file *file, ms_arena *scratch)
{
    const ms_os_file *os_file = &file->files[file->files[1].ptr != NULL ? 1 : 0];
    if (!ms_om_is_new(quota, os_file, bytes))
        ms_om_pay(quota, bytes.len);
    if (ms_om_is_spent(quota))
        return MACHSYM_OBJECT_OVER_BUDGET;
    file->mo.bytes = bytes;
    if (ms_mo_load(&file->mo, &file->arena, NULL) != MACHSYM_OK || file->mo.slice.filetype != ms_MH_OBJECT ||
        file->mo.slice.cputype != m->mo->slice.cputype)
        return MACHSYM_OBJECT_NO_OBJECT;
    ms_om_read_dwarf(&file->mo, &file->arena, &file->dw);
    if (file->dw.info.len == 0)
        return MACHSYM_OBJECT_NO_DWARF;
    file->dw.aranges = ms_span_make(NULL, 0); /* in the object's addresses, and rare: the roots' ranges do */
    ms_om_read_moves(m, object, &file->mo, &file->arena, scratch, &file->dw);
    file->cus = ms_cu_index(&file->dw, NULL, &file->arena, &file->cu_count, &file->damage_count);
    return file->dw.moves != NULL ? MACHSYM_OBJECT_FOUND : MACHSYM_OBJECT_MISSING;
}
#endif

/* Finds and opens an object file of a debug map. quota is NULL when it was opened before. Returns FOUND, and a
 * file to close; else the best that can be said; UNTRIED when memory is out. */
static machsym_object_status ms_om_open(const ms_om_map *m, const ms_om_object *object,
                                        const ms_om_places *places, ms_om_quota *quota,
                                        machsym_allocator allocator, ms_om_file *file)
{
    machsym_object_status best = MACHSYM_OBJECT_MISSING;
    uint64_t best_time = 0;
    ms_arena scratch = ms_arena_make(allocator);
    ms_zero(file, sizeof *file);
    file->arena = ms_arena_make(allocator);
#ifdef MACHSYM_NO_OS
    (void)m;
    (void)object;
    (void)places;
    (void)quota;
#else
    const char *path;
    if (ms_om_is_spent(quota))
        best = MACHSYM_OBJECT_OVER_BUDGET;
    for (size_t i = 0; !ms_om_is_spent(quota) && ms_om_candidate(places, object->path, i, &scratch, &path);
         i++) {
        ms_span bytes;
        if (path == NULL)
            continue;
        machsym_object_status status = ms_om_open_at(m, object, path, places, quota, file, &scratch, &bytes);
        if (status == MACHSYM_OBJECT_FOUND)
            status = ms_om_read(m, object, bytes, quota, file, &scratch);
        if (file->arena.failed || scratch.failed)
            best = status = MACHSYM_OBJECT_UNTRIED;
        if (status == MACHSYM_OBJECT_FOUND) {
            ms_arena_free(&scratch);
            return status;
        }
        if (best == MACHSYM_OBJECT_MISSING && status != MACHSYM_OBJECT_MISSING) {
            best = status;
            best_time = file->time;
        }
        ms_om_close(file);
        ms_zero(file, sizeof *file);
        file->arena = ms_arena_make(allocator);
        ms_arena_reset(&scratch);
        if (best == MACHSYM_OBJECT_UNTRIED)
            break;
    }
    if (scratch.failed)
        best = MACHSYM_OBJECT_UNTRIED;
#endif
    ms_arena_free(&scratch);
    file->time = best_time;
    return best;
}

/* ==== >>answer =============================================================================================
 * Job:    policy: which source answers for an address, which name and which line.
 * Uses:   every floor above.
 * Offers: machsym_image, machsym_session, ms_ans_frames.
 * Never:  parses; every byte it needs comes decoded from the floors above. */

/* A file, or a pair of files of one UUID, opened. */
struct machsym_image {
    ms_arena arena;
    ms_mo mo[2]; /* what was asked for; then the other half */
    ms_mo_input inputs[2];
    size_t mo_count;
    ms_dw dw;
    const ms_cu *cus;
    size_t cu_count;
    machsym_str name;
    bool has_compressed_dwarf;
    bool follows_objects; /* the debug map, if there is one, tells where the debug info is */
    ms_om_places places;
    uint32_t damage_count;
};

/* A unit, decoded. */
typedef struct ms_ans_unit {
    struct ms_ans_unit *next; /* of those decoded */
    size_t index;
    bool has_lines;    /* the line program has been run */
    uint64_t line_end; /* up to where in .debug_line */
    ms_fn_table functions;
    ms_fn_table **inside; /* by function: it with what is inlined into it; NULL: not read yet */
    ms_ln_table lines;
} ms_ans_unit;

struct ms_ans_object;

/* Texts that outlive the object files that they come from, each once. */
typedef struct ms_ans_texts {
    machsym_str *v; /* a hash table; ptr NULL: free */
    size_t count;
    size_t cap; /* a power of two */
} ms_ans_texts;

/* What a session knows of a debug map. */
typedef struct ms_ans_objects {
    ms_om_map map;
    struct ms_ans_object **opened; /* by object; NULL: not open now */
    struct ms_ans_object *first;   /* of the open ones */
    size_t open_count;
    size_t live;       /* bytes of the open ones, about */
    uint8_t *statuses; /* by object: machsym_object_status */
    uint64_t *times;   /* by object: of the file that was found */
    uint32_t *tried;   /* objects in the order of being tried */
    size_t tried_count;
    ms_om_quota quota;
    ms_ans_texts texts;
    bool has_segs;
    uint32_t scans; /* lookups answered by reading all stabs so far */
} ms_ans_objects;

/* One thread's lookups. */
struct machsym_session {
    const machsym_image *image;
    machsym_session *program; /* of a session on an object file: the one that has the symbols; else NULL */
    ms_ans_objects *objects;  /* of a program whose debug map is followed, once asked for; in keep */
    machsym_lines lines;
    uint32_t flags;
    size_t cache_limit;
    machsym_allocator allocator;
    ms_arena keep;    /* indexes, root entries, abbreviations, symbols: until trim */
    ms_arena cache;   /* decoded units: dropped together when over the limit */
    ms_arena scratch; /* reset for every unit */
    ms_cu_env env;
    ms_ans_unit **units;  /* by number; NULL: not decoded */
    ms_ans_unit *decoded; /* the others */
    size_t decoded_count;
    uint64_t budget;  /* bytes of units that may still be decoded: of the session of a map's part */
    bool reads_calls; /* units are decoded whole; else the calls in a function once it is asked for */
    ms_segs aranges;
    ms_segs ranges;
    ms_segs silent;
    bool has_aranges;
    bool has_ranges;
    bool has_silent;
    bool has_symbols;
    bool has_objects;
    ms_sym_table symbols;
    bool has_objc;
    ms_oc_list objc[2]; /* of the image's halves; for iteration only */
    ms_fn_name_cache *names;
    uint32_t scans; /* lookups answered by scanning an unsorted table so far */
};

enum {
    ms_ANS_KEPT = 3,  /* units that one lookup may ask: dropping so few would decode them again at once */
    ms_ANS_SCANS = 4, /* sorting a table pays after about so many scans of it */
    ms_ANS_CACHE = 32 << 20 /* bytes of decoded units, unless the caller says */
};

/* An object file that answers for a part of a program: an image of its own with the program's symbols, and a
 * session on it. What it decodes has the program's addresses. */
typedef struct ms_ans_object {
    struct ms_ans_object *next;
    ms_om_file file;
    machsym_image image;
    machsym_session session;
    size_t index; /* in the debug map */
    size_t live;  /* bytes, as counted in the program's session */
} ms_ans_object;

/* ---- Opening and closing ---- */

static void ms_ans_clear(machsym_session *s)
{
    s->units = NULL;
    s->decoded = NULL;
    s->decoded_count = 0;
    s->names = NULL;
    s->objects = NULL;
    s->has_aranges = s->has_ranges = s->has_silent = s->has_symbols = s->has_objc = s->has_objects = false;
    ms_zero(s->objc, sizeof s->objc);
    s->scans = 0;
    ms_zero(&s->env, sizeof s->env);
    ms_zero(&s->aranges, sizeof s->aranges);
    ms_zero(&s->ranges, sizeof s->ranges);
    ms_zero(&s->silent, sizeof s->silent);
    s->env.dw = &s->image->dw;
    s->env.v = s->image->cus;
    s->env.count = s->image->cu_count;
    s->env.arena = &s->keep;
    s->aranges.arena = s->ranges.arena = s->silent.arena = &s->keep;
}

static void ms_ans_start(machsym_session *s, const machsym_image *image, machsym_lines lines, uint32_t flags,
                         size_t cache_limit, machsym_allocator allocator)
{
    ms_zero(s, sizeof *s);
    s->image = image;
    s->lines = lines;
    s->flags = flags;
    s->cache_limit = cache_limit != 0 ? cache_limit : (size_t)ms_ANS_CACHE;
    s->budget = UINT64_MAX;
    s->reads_calls = (flags & MACHSYM_SESSION_INDEX) != 0;
    s->allocator = allocator;
    s->keep = ms_arena_make(allocator);
    s->cache = ms_arena_make(allocator);
    s->scratch = ms_arena_make(allocator);
    ms_ans_clear(s);
}

/* A session; NULL when memory is out. */
static machsym_session *ms_ans_open(const machsym_image *image, machsym_lines lines, uint32_t flags,
                                    size_t cache_limit, machsym_allocator allocator)
{
    machsym_session *s = (machsym_session *)allocator.alloc(allocator.user, sizeof *s);
    if (s != NULL)
        ms_ans_start(s, image, lines, flags, cache_limit, allocator);
    return s;
}

static void ms_ans_close_object(ms_ans_object *object)
{
    machsym_allocator allocator = object->session.allocator;
    ms_arena_free(&object->session.keep);
    ms_arena_free(&object->session.cache);
    ms_arena_free(&object->session.scratch);
    ms_om_close(&object->file);
    allocator.free(allocator.user, object, sizeof *object);
}

/* Whether memory ever ran out: then something may be missing from what the session decoded. */
static bool ms_ans_failed(const machsym_session *s)
{
    bool failed = s->keep.failed || s->cache.failed || s->scratch.failed;
    for (const ms_ans_object *object = s->objects != NULL ? s->objects->first : NULL;
         object != NULL && !failed; object = object->next)
        failed =
            object->session.keep.failed || object->session.cache.failed || object->session.scratch.failed;
    return failed;
}

/* Closes all object files. What their answers said stays in the texts. */
static void ms_ans_close_objects(machsym_session *s)
{
    ms_ans_objects *objects = s->objects;
    while (objects != NULL && objects->first != NULL) {
        ms_ans_object *object = objects->first;
        objects->first = object->next;
        objects->opened[object->index] = NULL;
        s->keep.failed |= ms_ans_failed(&object->session);
        ms_ans_close_object(object);
    }
    if (objects == NULL)
        return;
    objects->open_count = 0;
    objects->live = 0;
}

/* Drops everything cached. */
static void ms_ans_forget(machsym_session *s)
{
    ms_ans_close_objects(s);
    ms_arena_free(&s->keep);
    ms_arena_free(&s->cache);
    ms_arena_free(&s->scratch);
    ms_ans_clear(s);
}

static void ms_ans_close(machsym_session *s)
{
    ms_ans_forget(s);
    s->allocator.free(s->allocator.user, s, sizeof *s);
}

/* ---- What a session decodes ---- */

static void ms_ans_drop_units(machsym_session *s)
{
    for (; s->decoded != NULL; s->decoded = s->decoded->next)
        s->units[s->decoded->index] = NULL;
    s->decoded_count = 0;
    ms_arena_reset(&s->cache);
}

/* Drops the decoded units when they take more than the limit. */
static void ms_ans_trim(machsym_session *s)
{
    if (s->objects != NULL && s->objects->open_count > 1 && s->objects->live > s->cache_limit)
        ms_ans_close_objects(s);
    if (s->cache.live > s->cache_limit && s->decoded_count > ms_ANS_KEPT)
        ms_ans_drop_units(s);
}

/* Takes cost from the budget. Returns false once it is spent. */
static bool ms_ans_spend(machsym_session *s, uint64_t cost)
{
    if (s->budget == UINT64_MAX)
        return true;
    bool enough = cost <= s->budget;
    s->budget = enough ? s->budget - cost : 0;
    return enough;
}

/* A unit's functions, decoded once. Returns NULL when it is damaged or memory is out. */
static ms_ans_unit *ms_ans_functions_of(machsym_session *s, size_t index)
{
    const ms_cu_root *root = index < s->env.count ? ms_cu_root_of(&s->env, index) : NULL;
    if (root == NULL)
        return NULL;
    if (s->units == NULL)
        s->units = (ms_ans_unit **)ms_arena_zeroed(&s->keep, s->env.count, sizeof *s->units);
    if (s->units == NULL)
        return NULL;
    if (s->units[index] != NULL)
        return s->units[index];
    if (!ms_ans_spend(s, root->enc.unit_end - root->enc.unit_off))
        return NULL;
    ms_ans_unit *unit = (ms_ans_unit *)ms_arena_zeroed(&s->cache, 1, sizeof *unit);
    if (unit == NULL)
        return NULL;
    ms_arena_reset(&s->scratch);
    ms_fn_read(s->env.dw, root, s->reads_calls, &s->scratch, &s->cache, &unit->functions);
    if (s->cache.oom || s->scratch.oom)
        return NULL;
    unit->index = index;
    unit->next = s->decoded;
    s->decoded = unit;
    s->decoded_count++;
    s->units[index] = unit;
    return unit;
}

/* A function of a unit with what is inlined into it, decoded once; *function becomes its number in that
 * table. The unit's own table when that has it all, or when memory is out. */
static const ms_fn_table *ms_ans_inside(machsym_session *s, ms_ans_unit *unit, uint32_t *function)
{
    const ms_fn_block *block = &unit->functions.blocks[*function];
    if (block->unread == 0)
        return &unit->functions;
    if (unit->inside == NULL)
        unit->inside =
            (ms_fn_table **)ms_arena_zeroed(&s->cache, unit->functions.count, sizeof *unit->inside);
    if (unit->inside == NULL)
        return &unit->functions;
    ms_fn_table *table = unit->inside[*function];
    if (table == NULL) {
        table = (ms_fn_table *)ms_arena_alloc(&s->cache, 1, sizeof *table);
        if (table == NULL)
            return &unit->functions;
        ms_arena_reset(&s->scratch);
        ms_fn_read_one(s->env.dw, ms_cu_root_of(&s->env, unit->index), block, &s->scratch, &s->cache, table);
        if (table->count == 0)
            return &unit->functions;
        unit->inside[*function] = table;
    }
    *function = 0;
    return table;
}

/* Takes the line table over from a unit decoded lately that ran the same program. Returns false when there is
 * none. */
static bool ms_ans_reuse_lines(machsym_session *s, ms_ans_unit *unit, const ms_cu_root *root, uint64_t end)
{
    const ms_ans_unit *other = s->decoded;
    for (unsigned i = 0; other != NULL && i < 4; i++, other = other->next) {
        const ms_cu_root *its = ms_cu_root_of(&s->env, other->index);
        if (!other->has_lines || !its->has_line || its->line_off != root->line_off ||
            other->line_end != end || its->enc.version != root->enc.version ||
            its->enc.addr_size != root->enc.addr_size ||
            its->enc.str_offsets_base != root->enc.str_offsets_base)
            continue;
        unit->lines = other->lines;
        return true;
    }
    return false;
}

/* A unit with its lines. Returns NULL as above. */
static const ms_ans_unit *ms_ans_unit_of(machsym_session *s, size_t index)
{
    ms_ans_unit *unit = ms_ans_functions_of(s, index);
    if (unit == NULL || unit->has_lines)
        return unit;
    const ms_cu_root *root = ms_cu_root_of(&s->env, index);
    uint64_t end = ms_cu_line_end(&s->env, root, index);
    if (root->has_line && !ms_ans_reuse_lines(s, unit, root, end)) {
        ms_dw dw = *s->env.dw;
        dw.line.len = (size_t)end;
        ms_arena_reset(&s->scratch);
        ms_ln_read(&dw, &root->enc, root->line_off, &s->scratch, &s->cache, &unit->lines);
    }
    if (s->cache.oom || s->scratch.oom)
        return NULL;
    unit->line_end = end;
    unit->has_lines = true;
    return unit;
}

/* Before all units are decoded: sees to it that no line program is run too often. */
static void ms_ans_list_programs(machsym_session *s)
{
    if (s->env.programs != NULL || s->env.count == 0)
        return;
    ms_arena_reset(&s->scratch);
    ms_cu_list_programs(&s->env, &s->scratch);
}

/* Fills t, whose inputs are set, from every source. Failure shows as oom of an arena. */
static void ms_ans_read_symbols(ms_sym_table *t, ms_arena *scratch)
{
    ms_mo_data data[2];
    bool has_starts = false;
    for (size_t i = 0; i < t->mo_count; i++)
        has_starts |= t->mo[i].loads.starts_size != 0;
    for (size_t i = 0; i < t->mo_count; i++) {
        ms_mo_data *d = &data[i];
        ms_mo_data_open(d, &t->mo[i], scratch);
        ms_sym_add(t, i, d, scratch);
        if (!has_starts)
            ms_uw_add_starts(t, d);
        ms_oc_add_names(t, d, scratch);
        ms_oc_add_blocks(t, d);
        ms_sw_add_names(t, d);
    }
    ms_sym_sort(t, scratch);
    ms_sym_index_crowds(t, scratch);
    for (size_t i = 0; i < t->mo_count; i++)
        t->damage_count += data[i].damage_count;
    if (t->mo_count > 0 && !scratch->oom)
        ms_oc_name_blocks(t, &data[0]);
}

/* An empty table of the image's symbols; what it will hold comes from arena. */
static void ms_ans_start_symbols(const machsym_session *s, ms_sym_table *t, ms_arena *arena)
{
    ms_zero(t, sizeof *t);
    t->arena = arena;
    t->mo = s->image->mo;
    t->mo_count = s->image->mo_count;
    t->code = s->image->dw.code;
    t->code_count = s->image->dw.code_count;
}

static const ms_sym_table *ms_ans_symbols(machsym_session *s)
{
    if (s->program != NULL)
        s = s->program;
    ms_sym_table *t = &s->symbols;
    if (s->has_symbols)
        return t;
    ms_ans_start_symbols(s, t, &s->keep);
    ms_arena_reset(&s->scratch);
    ms_ans_read_symbols(t, &s->scratch);
    s->has_symbols = true;
    if (s->keep.oom || s->scratch.oom)
        t->count = 0;
    return t;
}

/* Whether reading the symbols is little work without sorting them: a dSYM has no source but LC_SYMTAB. */
static bool ms_ans_is_dsym(const machsym_session *s)
{
    for (size_t i = 0; i < s->image->mo_count; i++) {
        if (s->image->mo[i].slice.filetype != ms_MH_DSYM)
            return false;
    }
    return true;
}

/* The symbol whose range holds an address; for first, cold lookups without the whole table. Returns false
 * when there is none. */
static bool ms_ans_symbol_at(machsym_session *s, uint64_t addr, machsym_symbol *out)
{
    ms_sym_table t;
    if (s->program != NULL)
        s = s->program;
    if (s->has_symbols || !ms_ans_is_dsym(s) || s->scans >= ms_ANS_SCANS)
        return ms_sym_find(ms_ans_symbols(s), addr, out);
    s->scans++;
    const ms_range *code = ms_sym_code_at(s->image->dw.code, s->image->dw.code_count, addr);
    if (code == NULL)
        return false;
    ms_arena_reset(&s->scratch);
    ms_ans_start_symbols(s, &t, &s->keep); /* a hostile one may have names that are put together */
    ms_sym_narrow(&t, code, addr);
    ms_ans_read_symbols(&t, &s->scratch);
    return !s->keep.oom && !s->scratch.oom && ms_sym_find(&t, addr, out);
}

static const ms_oc_list *ms_ans_objc(machsym_session *s)
{
    if (s->has_objc)
        return s->objc;
    ms_arena_reset(&s->scratch);
    for (size_t i = 0; i < s->image->mo_count; i++) {
        ms_mo_data d;
        ms_mo_data_open(&d, &s->image->mo[i], &s->scratch);
        s->objc[i].arena = &s->keep;
        ms_oc_read(&s->objc[i], &d, &s->scratch);
    }
    s->has_objc = true;
    return s->objc;
}

static machsym_str ms_ans_symbol_exact(machsym_session *s, uint64_t addr, machsym_str want)
{
    if (s->program != NULL)
        s = s->program;
    if (!s->has_symbols && s->scans++ < ms_ANS_SCANS)
        return ms_sym_scan_exact(s->image->mo, s->image->mo_count, addr, want);
    return ms_sym_exact(ms_ans_symbols(s), addr, want);
}

/* ---- Object files of a debug map ---- */

/* The debug map, read once; NULL when the image has debug info of its own, or no map that is to be
 * followed. */
static ms_ans_objects *ms_ans_map_of(machsym_session *s)
{
    uint64_t size = 0;
    if (s->has_objects || !s->image->follows_objects)
        return s->objects;
    s->has_objects = true;
    ms_ans_objects *o = (ms_ans_objects *)ms_arena_zeroed(&s->keep, 1, sizeof *o);
    for (size_t i = 0; i < s->image->mo_count && o != NULL && o->map.count == 0; i++) {
        ms_om_list(&o->map, &s->image->mo[i], &s->keep);
        size = s->image->mo[i].bytes.len;
    }
    if (o == NULL || o->map.count == 0)
        return NULL;
    size_t count = o->map.count;
    o->opened = (ms_ans_object **)ms_arena_zeroed(&s->keep, count, sizeof *o->opened);
    o->statuses = (uint8_t *)ms_arena_zeroed(&s->keep, count, 1);
    o->times = (uint64_t *)ms_arena_zeroed(&s->keep, count, sizeof *o->times);
    o->tried = (uint32_t *)ms_arena_alloc(&s->keep, count, sizeof *o->tried);
    ms_om_start_quota(&o->quota, count, size, &s->keep);
    if (!s->keep.oom)
        s->objects = o;
    return s->objects;
}

static void ms_ans_index_objects(machsym_session *s, ms_ans_objects *o)
{
    ms_arena_reset(&s->scratch);
    ms_om_index(&o->map, &s->scratch, &s->keep);
    o->has_segs = true;
}

/* Opens an object file for itself. Returns NULL, and why in *status, when it cannot answer. */
static ms_ans_object *ms_ans_new_object(machsym_session *program, size_t index, ms_om_quota *quota,
                                        machsym_allocator allocator, machsym_object_status *status,
                                        uint64_t *time)
{
    const ms_om_map *map = &program->objects->map;
    *status = MACHSYM_OBJECT_UNTRIED;
    ms_ans_object *object = (ms_ans_object *)allocator.alloc(allocator.user, sizeof *object);
    if (object == NULL)
        return NULL;
    ms_zero(object, sizeof *object);
    object->index = index;
    *status = ms_om_open(map, &map->v[index], &program->image->places, quota, allocator, &object->file);
    *time = object->file.time;
    if (*status != MACHSYM_OBJECT_FOUND) {
        ms_om_close(&object->file);
        allocator.free(allocator.user, object, sizeof *object);
        return NULL;
    }
    ms_dw *dw = &object->file.dw;
    dw->code = program->image->dw.code;
    dw->code_count = program->image->dw.code_count;
    object->image.dw = *dw;
    object->image.cus = object->file.cus;
    object->image.cu_count = object->file.cu_count;
    ms_ans_start(&object->session, &object->image, program->lines, program->flags, program->cache_limit,
                 allocator);
    object->session.program = program;
    return object;
}

/* What an open object takes, without the empty rest of chunks that it has anyway. */
static size_t ms_ans_object_bytes(const ms_ans_object *object)
{
    const machsym_session *s = &object->session;
    return object->file.arena.live + s->keep.live + s->cache.live + s->scratch.live;
}

/* Counts what an object has taken since it was last counted; what it could not get counts for the program
 * too. */
static void ms_ans_count_object(ms_ans_objects *o, ms_ans_object *object)
{
    size_t live = ms_ans_object_bytes(object);
    o->live = o->live - object->live + live;
    object->live = live;
    object->session.program->keep.failed |= ms_ans_failed(&object->session);
}

/* An object of the debug map, opened if it can be. It stays open until the next ms_ans_trim, or the next
 * call. */
static ms_ans_object *ms_ans_object_of(machsym_session *s, size_t index)
{
    ms_ans_objects *o = s->objects;
    if (o->opened[index] != NULL)
        return o->opened[index];
    bool is_new = o->statuses[index] == MACHSYM_OBJECT_UNTRIED;
    if (!is_new && o->statuses[index] != MACHSYM_OBJECT_FOUND)
        return NULL;
    if (o->open_count >= MACHSYM_MAX_OBJECTS)
        ms_ans_close_objects(s);
    machsym_object_status status;
    ms_ans_object *object =
        ms_ans_new_object(s, index, is_new ? &o->quota : NULL, s->allocator, &status, &o->times[index]);
    o->statuses[index] = (uint8_t)status;
    s->keep.failed |= status == MACHSYM_OBJECT_UNTRIED;
    if (is_new && status != MACHSYM_OBJECT_UNTRIED)
        o->tried[o->tried_count++] = (uint32_t)index;
    if (object == NULL) {
        s->keep.failed |= status == MACHSYM_OBJECT_UNTRIED; /* memory is out */
        return NULL;
    }
    object->next = o->first;
    o->first = object;
    o->opened[index] = object;
    o->open_count++;
    ms_ans_count_object(o, object);
    return object;
}

/* The object that has a linked address; NULL when none has, or it cannot be opened. */
static ms_ans_object *ms_ans_object_at(machsym_session *s, uint64_t addr)
{
    ms_ans_objects *o = ms_ans_map_of(s);
    size_t index;
    if (o == NULL || ms_dw_code_at(&s->image->dw, addr) == NULL)
        return NULL;
    if (!o->has_segs && o->scans++ < ms_ANS_SCANS) {
        index = ms_om_scan(&o->map, addr);
    } else {
        if (!o->has_segs)
            ms_ans_index_objects(s, o);
        index = ms_om_find(&o->map, addr);
    }
    return index < o->map.count ? ms_ans_object_of(s, index) : NULL;
}

/* ---- Texts that outlive their object file ---- */

static machsym_str *ms_ans_text_slot(const ms_ans_texts *texts, machsym_str text)
{
    size_t at = (size_t)ms_str_hash(text) & (texts->cap - 1);
    while (texts->v[at].ptr != NULL && !ms_str_equal(texts->v[at], text))
        at = (at + 1) & (texts->cap - 1);
    return &texts->v[at];
}

static bool ms_ans_grow_texts(ms_ans_texts *texts, ms_arena *arena)
{
    ms_ans_texts bigger = {NULL, texts->count, texts->cap == 0 ? 256 : texts->cap * 2};
    bigger.v = (machsym_str *)ms_arena_zeroed(arena, bigger.cap, sizeof *bigger.v);
    if (bigger.v == NULL)
        return false;
    for (size_t i = 0; i < texts->cap; i++) {
        if (texts->v[i].ptr != NULL)
            *ms_ans_text_slot(&bigger, texts->v[i]) = texts->v[i];
    }
    *texts = bigger;
    return true;
}

/* Makes a text live as long as the session's names do; empty when memory is out. */
static void ms_ans_keep_text(machsym_session *s, machsym_str *text)
{
    ms_ans_texts *texts = &s->objects->texts;
    machsym_str given = *text;
    *text = ms_str_empty();
    if (given.len == 0 || (texts->count >= texts->cap / 2 && !ms_ans_grow_texts(texts, &s->keep)))
        return;
    machsym_str *slot = ms_ans_text_slot(texts, given);
    if (slot->ptr == NULL) {
        char *copy = (char *)ms_arena_alloc(&s->keep, given.len, 1);
        if (copy == NULL)
            return;
        ms_copy(copy, given.ptr, given.len);
        *slot = ms_str_make(copy, given.len);
        texts->count++;
    }
    *text = *slot;
}

static void ms_ans_keep_path(machsym_session *s, machsym_path *path)
{
    ms_ans_keep_text(s, &path->comp_dir);
    ms_ans_keep_text(s, &path->dir);
    ms_ans_keep_text(s, &path->name);
}

static void ms_ans_keep_frames(machsym_session *s, machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ms_ans_keep_text(s, &frames[i].linkage_name);
        ms_ans_keep_text(s, &frames[i].name);
        ms_ans_keep_path(s, &frames[i].file);
    }
}

/* ---- Unit for an address ---- */

static size_t ms_ans_unit_in(const ms_segs *segs, uint64_t addr, size_t none)
{
    uint32_t owner = ms_seg_owner(segs->v, segs->count, addr);
    return owner == ms_SEG_NONE ? none : owner;
}

static void ms_ans_index_aranges(machsym_session *s)
{
    if (s->has_aranges)
        return;
    ms_arena_reset(&s->scratch);
    ms_cu_arange_segments(&s->env, &s->scratch, &s->aranges);
    s->has_aranges = true;
}

static size_t ms_ans_unit_by_aranges(machsym_session *s, uint64_t addr)
{
    if (!s->has_aranges && s->scans++ < ms_ANS_SCANS)
        return ms_cu_scan_aranges(&s->env, addr);
    ms_ans_index_aranges(s);
    return ms_ans_unit_in(&s->aranges, addr, s->env.count);
}

static size_t ms_ans_unit_by_ranges(machsym_session *s, uint64_t addr)
{
    if (!s->has_ranges) {
        ms_arena_reset(&s->scratch);
        ms_cu_range_segments(&s->env, &s->scratch, &s->ranges);
        s->has_ranges = true;
    }
    return ms_ans_unit_in(&s->ranges, addr, s->env.count);
}

/* The functions of all units that state no range, or whose range another unit has, as segments: the last
 * resort, made once. The tables of ranges must be there, which tell whose they are. */
static void ms_ans_read_silent(machsym_session *s)
{
    ms_ans_index_aranges(s);
    ms_arena room = ms_arena_make(s->allocator);
    ms_cu_pieces pieces = {&room, NULL, 0, 0};
    for (size_t i = 0; i < s->env.count; i++) {
        const ms_cu_root *root = ms_cu_root_of(&s->env, i);
        bool is_asked = root != NULL && (ms_cu_is_silent(root) || ms_cu_is_contested(&s->env, i));
        const ms_ans_unit *unit = is_asked ? ms_ans_functions_of(s, i) : NULL;
        for (size_t j = 0; unit != NULL && j < unit->functions.seg_count; j++) {
            const ms_seg *seg = &unit->functions.segs[j];
            if (seg->owner != ms_SEG_NONE)
                ms_cu_add_piece(&pieces, seg->lo, seg[1].lo, i); /* the last segment is nobody's */
        }
    }
    ms_arena_reset(&s->scratch);
    ms_cu_build_segments(&pieces, &s->scratch, &s->silent);
    s->scratch.failed |= room.failed;
    ms_arena_free(&room);
    s->has_silent = true;
}

static size_t ms_ans_unit_by_functions(machsym_session *s, uint64_t addr)
{
    if (!s->has_silent)
        ms_ans_read_silent(s);
    return ms_ans_unit_in(&s->silent, addr, s->env.count);
}

/* Where in the debug info an address is. */
typedef struct ms_ans_place {
    ms_ans_unit *unit; /* NULL: no unit covers it */
    const ms_cu_root *root;
    const ms_fn_table *table; /* that has the block */
    uint32_t block;           /* ms_SEG_NONE: the unit covers it, but none of its functions does */
    machsym_unit_source source;
} ms_ans_place;

/* Looks into a unit. Returns true when one of its functions has the address. */
static bool ms_ans_try_unit(machsym_session *s, size_t index, machsym_unit_source source, uint64_t addr,
                            ms_ans_place *place)
{
    ms_ans_unit *unit = ms_ans_functions_of(s, index);
    if (unit == NULL)
        return false;
    uint32_t block = ms_seg_owner(unit->functions.segs, unit->functions.seg_count, addr);
    if (block == ms_SEG_NONE && place->unit != NULL)
        return false;
    place->unit = unit;
    place->root = ms_cu_root_of(&s->env, index);
    place->table = &unit->functions;
    place->block = block;
    place->source = source;
    return block != ms_SEG_NONE;
}

/* aranges are a hint: where the unit that they name has no such function, the units' own ranges are asked,
 * then the functions of units that state none and of those whose code others claim too. The place's block is
 * a function; the unit's lines may not have been read. */
static ms_ans_place ms_ans_seek(machsym_session *s, uint64_t addr)
{
    ms_ans_place place = {NULL, NULL, NULL, ms_SEG_NONE, MACHSYM_UNIT_NONE};
    if (s->env.count == 0 || ms_dw_code_at(s->env.dw, addr) == NULL)
        return place;
    if (ms_ans_try_unit(s, ms_ans_unit_by_aranges(s, addr), MACHSYM_UNIT_ARANGES, addr, &place))
        return place;
    if (ms_ans_try_unit(s, ms_ans_unit_by_ranges(s, addr), MACHSYM_UNIT_RANGES, addr, &place))
        return place;
    ms_ans_try_unit(s, ms_ans_unit_by_functions(s, addr), MACHSYM_UNIT_FUNCTIONS, addr, &place);
    return place;
}

/* The innermost block at an address, in a unit with its lines. */
static ms_ans_place ms_ans_find(machsym_session *s, uint64_t addr)
{
    const ms_ans_place nowhere = {NULL, NULL, NULL, ms_SEG_NONE, MACHSYM_UNIT_NONE};
    ms_ans_place place = ms_ans_seek(s, addr);
    if (place.unit == NULL)
        return place;
    if (place.block != ms_SEG_NONE) {
        place.table = ms_ans_inside(s, place.unit, &place.block);
        place.block = ms_fn_block_at(place.table, place.block, addr);
    }
    return ms_ans_unit_of(s, place.unit->index) != NULL ? place : nowhere;
}

/* Makes all that a search by address needs: for sessions that lend it to others, or ask for every address. */
static void ms_ans_index(machsym_session *s)
{
    s->scans = ms_ANS_SCANS;
    ms_ans_list_programs(s);
    ms_ans_unit_by_aranges(s, 0);
    ms_ans_unit_by_ranges(s, 0);
    ms_ans_unit_by_functions(s, 0);
    ms_ans_symbols(s);
    ms_ans_objects *o = ms_ans_map_of(s);
    if (o != NULL && !o->has_segs)
        ms_ans_index_objects(s, o);
}

/* What ms_ans_seek tells, and up to which address it tells the same. Needs ms_ans_index. */
static ms_ans_place ms_ans_find_span(machsym_session *s, uint64_t addr, uint64_t *end)
{
    const ms_segs *tables[3] = {&s->aranges, &s->ranges, &s->silent};
    MACHSYM_COUNT_WORK(1);
    *end = UINT64_MAX;
    for (size_t i = 0; i < 3; i++) {
        uint64_t until = ms_seg_until(tables[i]->v, tables[i]->count, addr);
        const ms_ans_unit *asked = ms_ans_functions_of(s, ms_ans_unit_in(tables[i], addr, s->env.count));
        *end = until < *end ? until : *end;
        if (asked == NULL)
            continue;
        until = ms_seg_until(asked->functions.segs, asked->functions.seg_count, addr);
        *end = until < *end ? until : *end;
    }
    return ms_ans_seek(s, addr);
}

/* Whether a unit that has a function at an address is the one that answers there, and up to where that
 * holds. */
static bool ms_ans_owns(machsym_session *s, size_t index, uint64_t addr, uint64_t *end)
{
    if (ms_ans_unit_in(&s->aranges, addr, s->env.count) == index) {
        *end = ms_seg_until(s->aranges.v, s->aranges.count, addr);
        return true;
    }
    ms_ans_place place = ms_ans_find_span(s, addr, end);
    return place.unit != NULL && place.unit->index == index && s->budget != 0; /* spent: nobody knows */
}

/* ---- Names ---- */

/* A name that bitcode compilation hid: __hidden#12_ */
static bool ms_ans_is_hidden(machsym_str name)
{
    return ms_str_begins(name, "__hidden#");
}

static machsym_str ms_ans_clean(machsym_str name)
{
    return name.len > 0 && name.ptr[0] == 1 ? ms_str_drop(name, 1) : name;
}

/* The linkage name without Mach-O's underscore, which LLVM's outliner and asm("_name") leave on it. */
static machsym_str ms_ans_linkage(machsym_str linkage, machsym_str name)
{
    bool is_symbol = linkage.len == name.len + 1 && name.len != 0 && linkage.ptr[0] == '_' &&
                     ms_str_equal(ms_str_drop(linkage, 1), name);
    return is_symbol ? name : linkage;
}

/* The debug info's linkage name, else the symbol at start (a function's own, or an out-of-line copy's), else
 * the name in the source. */
static void ms_ans_name(machsym_session *s, ms_fn_names names, bool has_start, uint64_t start,
                        machsym_frame *frame)
{
    frame->name = ms_ans_clean(names.name);
    frame->linkage_name = ms_ans_linkage(ms_ans_clean(names.linkage_name), frame->name);
    frame->name_source = MACHSYM_SOURCE_DWARF;
    bool is_objc = ms_str_begins(frame->name, "-[") || ms_str_begins(frame->name, "+[");
    bool hidden = ms_ans_is_hidden(frame->linkage_name);
    if ((frame->linkage_name.len != 0 && !hidden) || is_objc || !has_start)
        return;
    machsym_str symbol = ms_ans_symbol_exact(s, start, frame->name);
    if (symbol.len == 0 || (ms_ans_is_hidden(symbol) && ms_ans_is_hidden(frame->name)))
        return;
    frame->linkage_name = symbol;
    if (!ms_str_equal(symbol, frame->name))
        frame->name_source = MACHSYM_SOURCE_SYMTAB;
}

/* Names of an entry, through the session's cache of names. */
static ms_fn_names ms_ans_names_of(machsym_session *s, uint64_t die_off)
{
    if (s->names == NULL)
        s->names = (ms_fn_name_cache *)ms_arena_zeroed(&s->keep, ms_FN_NAMES, sizeof *s->names);
    if (s->names == NULL)
        return ms_fn_names_of(&s->env, die_off);
    ms_fn_name_cache *cached = &s->names[(die_off ^ die_off >> 10) % ms_FN_NAMES];
    if (cached->die_off != die_off) {
        cached->names = ms_fn_names_of(&s->env, die_off);
        cached->die_off = die_off;
    }
    return cached->names;
}

static void ms_ans_name_block(machsym_session *s, const ms_fn_table *functions, const ms_fn_block *block,
                              machsym_frame *frame)
{
    const ms_fn_block *real = frame->is_inline ? ms_fn_copy_of(functions, block) : block;
    bool from_origin = frame->is_inline && block->origin != 0; /* a call has no name of its own */
    ms_fn_names names = ms_ans_names_of(s, from_origin ? block->origin : block->die_off);
    ms_ans_name(s, names, real != NULL, real != NULL ? real->lo : 0, frame);
    machsym_symbol symbol;
    if (frame->name.len != 0 || frame->linkage_name.len != 0 || frame->is_inline)
        return;
    if (ms_ans_symbol_at(s, block->lo, &symbol)) { /* a function without a name of its own */
        frame->linkage_name = symbol.name;
        frame->name_source = symbol.source;
    }
}

/* ---- Lines ---- */

static void ms_ans_set_line(const ms_ans_place *place, uint64_t file, uint32_t line, uint32_t column,
                            machsym_frame *frame)
{
    frame->file = ms_ln_path(&place->unit->lines, place->root->comp_dir, file);
    frame->line = line;
    frame->column = column;
    if (frame->file.name.len != 0 || line != 0)
        frame->line_source = MACHSYM_SOURCE_DWARF;
}

/* The end_sequence row nearest below an address that no sequence holds; row_count when there is none. */
static size_t ms_ans_end_row_below(const ms_ln_table *lines, uint64_t addr)
{
    size_t best = lines->seq_count;
    for (size_t lo = 0, left = lines->seq_count; left > 0;) {
        size_t half = left / 2;
        if (lines->seqs[lo + half].hi <= addr) {
            best = lo + half;
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return best == lines->seq_count ? lines->row_count
                                    : (size_t)lines->seqs[best].first + lines->seqs[best].count - 1;
}

/* The row for an address; row_count when there is none. past_end: under the stmt policy code behind a
 * sequence takes its last line. A row of a file that the table does not have is damage, and no answer. */
static inline size_t ms_ans_usable_row(const ms_ln_table *lines, machsym_lines policy, bool past_end,
                                       uint64_t addr, size_t at)
{
    if (at == lines->row_count && past_end && policy == MACHSYM_LINES_STMT)
        at = ms_ans_end_row_below(lines, addr);
    if (at != lines->row_count && !ms_ln_has_file(lines, lines->rows[at].file))
        at = lines->row_count;
    return at;
}

/* The line of the code at an address, for the innermost frame. */
static void ms_ans_line(const machsym_session *s, const ms_ans_place *place, bool past_end, uint64_t addr,
                        machsym_frame *frame)
{
    const ms_ln_table *lines = &place->unit->lines;
    size_t at = ms_ans_usable_row(lines, s->lines, past_end, addr, ms_ln_find(lines, s->lines, addr));
    if (at != lines->row_count)
        ms_ans_set_line(place, lines->rows[at].file, lines->rows[at].line, lines->rows[at].column, frame);
}

enum { ms_ANS_NEAR = 16 }; /* sequences and rows that are farther ahead are searched for */

/* A walk over the rows by ascending address. */
typedef struct ms_ans_rows {
    const ms_ln_table *lines;
    machsym_lines policy;
    bool past_end;
    size_t seq;    /* the first one that ends above the address */
    size_t row;    /* the last one of it at or below the address; 0: not known */
    size_t at;     /* the row that answers; row_count: none */
    uint64_t next; /* up to where it does */
} ms_ans_rows;

/* Finds the first sequence that ends above addr. */
static void ms_ans_rows_find(ms_ans_rows *rows, uint64_t addr)
{
    rows->seq = rows->row = 0;
    for (size_t left = rows->lines->seq_count; left > 0;) {
        size_t half = left / 2;
        if (rows->lines->seqs[rows->seq + half].hi <= addr) {
            rows->seq += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
}

static ms_ans_rows ms_ans_rows_of(const ms_ln_table *lines, machsym_lines policy, bool past_end,
                                  uint64_t addr)
{
    ms_ans_rows rows;
    ms_zero(&rows, sizeof rows);
    rows.lines = lines;
    rows.policy = policy;
    rows.past_end = past_end;
    ms_ans_rows_find(&rows, addr);
    return rows;
}

static void ms_ans_rows_seek(ms_ans_rows *rows, uint64_t addr)
{
    const ms_ln_table *lines = rows->lines;
    size_t far = rows->seq + ms_ANS_NEAR;
    if (far < lines->seq_count && lines->seqs[far].hi <= addr)
        ms_ans_rows_find(rows, addr);
    for (; rows->seq < lines->seq_count && lines->seqs[rows->seq].hi <= addr; rows->seq++)
        rows->row = 0;
    const ms_ln_seq *seq = rows->seq < lines->seq_count ? &lines->seqs[rows->seq] : NULL;
    rows->at = lines->row_count;
    rows->next = UINT64_MAX;
    if (seq != NULL && seq->lo > addr) {
        rows->next = seq->lo;
    } else if (seq != NULL) {
        size_t last = seq->first + seq->count - 1; /* ends the sequence, above the address */
        size_t near = rows->row != 0 && last - rows->row > ms_ANS_NEAR ? rows->row + ms_ANS_NEAR : last;
        if (rows->row == 0 || lines->rows[near].addr <= addr)
            rows->row = ms_ln_last_at(lines->rows, seq->first, seq->count - 1, addr);
        while (lines->rows[rows->row + 1].addr <= addr)
            rows->row++;
        rows->next = lines->rows[rows->row + 1].addr;
        rows->at = ms_ln_choose(lines, rows->policy, seq, rows->row);
    }
    rows->at = ms_ans_usable_row(lines, rows->policy, rows->past_end, addr, rows->at);
}

/* Line 0 is nobody's line: take that of the nearest frame that has one, inner before outer. */
static void ms_ans_best_lines(machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t from = count;
        for (size_t j = i; j-- > 0 && from == count;)
            from = frames[j].line != 0 ? j : count;
        for (size_t j = i + 1; j < count && from == count; j++)
            from = frames[j].line != 0 ? j : count;
        if (frames[i].line != 0 || from == count)
            continue;
        frames[i].file = frames[from].file;
        frames[i].line = frames[from].line;
        frames[i].column = frames[from].column;
    }
}

/* ---- Frames ---- */

/* Frames of the function at a place, innermost first. Returns how many there are. */
static size_t ms_ans_function_frames(machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                     machsym_frame *frames, size_t cap)
{
    const ms_fn_table *table = place->table;
    uint32_t root = place->block;
    size_t depth = 0;
    for (; table->blocks[root].parent != ms_SEG_NONE; depth++)
        root = table->blocks[root].parent;
    size_t drop = depth > MACHSYM_MAX_INLINE_DEPTH ? depth - MACHSYM_MAX_INLINE_DEPTH : 0;
    ms_range range = ms_fn_range_at(table, &table->blocks[root], addr);
    size_t count = 0;
    const ms_fn_block *inner = NULL;
    for (uint32_t at = place->block; at != ms_SEG_NONE; at = table->blocks[at].parent) {
        MACHSYM_COUNT_WORK(1);
        const ms_fn_block *block = &table->blocks[at];
        if (drop > 0) {
            drop--;
        } else if (count++ < cap) {
            machsym_frame *frame = &frames[count - 1];
            ms_zero(frame, sizeof *frame);
            frame->is_inline = block->parent != ms_SEG_NONE;
            frame->die_offset = block->die_off;
            frame->function_start = range.lo;
            frame->function_size = range.hi - range.lo;
            ms_ans_name_block(s, &place->unit->functions, block, frame);
            if (inner == NULL)
                ms_ans_line(s, place, true, addr, frame);
            else
                ms_ans_set_line(place, inner->call_file, inner->call_line, inner->call_column, frame);
        }
        inner = block;
    }
    return count;
}

/* Whether the unit knows the line of an address that none of its functions has. Assembly has rows but no
 * functions. Between functions lies padding, whose row belongs to the function before: only the dwarf policy,
 * which takes rows literally as llvm-symbolizer does, answers with it; but not in an object file, as a dSYM
 * made from it has no such rows. */
static bool ms_ans_has_line(const machsym_session *s, const ms_ans_place *place)
{
    return place->unit != NULL && place->block == ms_SEG_NONE &&
           (place->unit->functions.count == 0 || (s->lines == MACHSYM_LINES_DWARF && s->program == NULL));
}

/* The frame of an address that no function of the debug info has. */
static size_t ms_ans_symbol_frame(machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                  machsym_frame *frame)
{
    machsym_symbol symbol;
    ms_zero(frame, sizeof *frame);
    bool named = ms_ans_symbol_at(s, addr, &symbol);
    if (named) {
        frame->linkage_name = symbol.name;
        frame->function_start = symbol.lo;
        frame->function_size = symbol.hi - symbol.lo;
        frame->name_source = symbol.source;
    }
    if (ms_ans_has_line(s, place))
        ms_ans_line(s, place, false, addr, frame);
    return named || frame->line_source != MACHSYM_SOURCE_NONE;
}

/* All frames at an address that the session's own debug info and symbols know. */
static size_t ms_ans_own_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    machsym_frame one;
    size_t count;
    ms_ans_trim(s);
    ms_ans_place place = ms_ans_find(s, addr);
    if (place.block != ms_SEG_NONE) {
        count = ms_ans_function_frames(s, &place, addr, frames, cap);
    } else {
        count = ms_ans_symbol_frame(s, &place, addr, cap > 0 ? frames : &one);
    }
    if ((s->flags & MACHSYM_SESSION_BEST_LINE) != 0)
        ms_ans_best_lines(frames, count < cap ? count : cap);
    return count;
}

/* All frames at an address. */
static size_t ms_ans_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    ms_ans_trim(s);
    ms_ans_object *object = ms_ans_object_at(s, addr);
    if (object == NULL)
        return ms_ans_own_frames(s, addr, frames, cap);
    size_t count = ms_ans_own_frames(&object->session, addr, frames, cap);
    ms_ans_keep_frames(s, frames, count < cap ? count : cap);
    ms_ans_count_object(s->objects, object);
    return count;
}

/* Frames of many addresses: by address, which is by unit, so that every unit is decoded once. */
static size_t ms_ans_many(machsym_session *s, const uint64_t *addrs, size_t count, machsym_answer *answers,
                          machsym_frame *frames, size_t cap)
{
    ms_arena room = ms_arena_make(s->allocator); /* the session's scratch is in use below */
    ms_key *order = (ms_key *)ms_arena_alloc(&room, count, sizeof *order);
    ms_key *spare = (ms_key *)ms_arena_alloc(&room, count, sizeof *order);
    size_t total = 0;
    if (order != NULL) {
        for (size_t i = 0; i < count; i++) {
            order[i].key = addrs[i];
            order[i].item = i;
        }
        ms_sort(order, count, spare);
    }
    for (size_t i = 0; i < count; i++) {
        size_t which = order != NULL ? (size_t)order[i].item : i;
        machsym_answer *answer = &answers[which];
        answer->first = total;
        answer->count = ms_ans_frames(s, addrs[which], total < cap ? frames + total : NULL,
                                      total < cap ? cap - total : 0);
        total += answer->count;
    }
    ms_arena_free(&room);
    return total;
}

/* ---- Iteration ---- */

/* Functions: cursor a is the unit, b the segment in it. Blocks' ranges in the order of the entries would name
 * parts that another function covers; segments say what is really looked up, but a function that inlined
 * calls cut is one range. */
static bool ms_ans_own_function(machsym_session *s, machsym_cursor *at, machsym_function *out)
{
    for (; at->a < s->env.count; at->a++, at->b = 0) {
        ms_ans_trim(s);
        const ms_ans_unit *unit = ms_ans_functions_of(s, (size_t)at->a);
        const ms_fn_table *table = unit != NULL ? &unit->functions : NULL;
        while (table != NULL && (at->b >> 32) < table->count) {
            const ms_fn_block *block = &table->blocks[at->b >> 32];
            uint32_t piece = (uint32_t)at->b;
            if (block->parent != ms_SEG_NONE || piece >= block->range_count) {
                at->b = ((at->b >> 32) + 1) << 32;
                continue;
            }
            at->b++;
            machsym_frame frame;
            ms_zero(&frame, sizeof frame);
            ms_ans_name_block(s, table, block, &frame);
            out->lo = block->range_count > 1 ? table->ranges[block->range_first + piece].lo : block->lo;
            out->hi = block->range_count > 1 ? table->ranges[block->range_first + piece].hi : block->hi;
            out->linkage_name = frame.linkage_name;
            out->name = frame.name;
            out->name_source = frame.name_source;
            out->die_offset = block->die_off;
            out->unit_offset = s->env.v[at->a].off;
            return true;
        }
    }
    return false;
}

static void ms_ans_get_row(const ms_ln_table *lines, const ms_cu_root *root, size_t index, machsym_line *out)
{
    const ms_ln_row *row = &lines->rows[index];
    out->addr = row->addr;
    out->file = ms_ln_path(lines, root->comp_dir, row->file);
    out->line = row->line;
    out->column = row->column;
    out->is_stmt = row->is_stmt;
    out->end_sequence = row->end_sequence;
}

/* Whether a unit may run its line program now that all programs are listed; it may have been decoded before. */
static bool ms_ans_owns_lines(machsym_session *s, const ms_ans_unit *unit)
{
    return ms_cu_line_end(&s->env, ms_cu_root_of(&s->env, unit->index), unit->index) != 0;
}

static bool ms_ans_own_line(machsym_session *s, machsym_cursor *at, machsym_line *out)
{
    ms_ans_list_programs(s);
    for (; at->a < s->env.count; at->a++, at->b = 0) {
        ms_ans_trim(s);
        const ms_ans_unit *unit = ms_ans_unit_of(s, (size_t)at->a);
        if (unit == NULL || at->b >= unit->lines.row_count || (at->b == 0 && !ms_ans_owns_lines(s, unit)))
            continue; /* rows of a program that units share come with one of them */
        ms_ans_get_row(&unit->lines, ms_cu_root_of(&s->env, (size_t)at->a), (size_t)at->b++, out);
        return true;
    }
    return false;
}

/* Moves a cursor over a debug map, whose upper half of a is the object, to the first one that opens; inner is
 * the cursor in it. Returns NULL at the end, or when there is no debug map. */
static ms_ans_object *ms_ans_cursor_object(machsym_session *s, machsym_cursor *at, machsym_cursor *inner)
{
    ms_ans_objects *o = ms_ans_map_of(s);
    for (; o != NULL && (at->a >> 32) < o->map.count; at->a = ((at->a >> 32) + 1) << 32, at->b = 0) {
        ms_ans_trim(s);
        ms_ans_object *object = ms_ans_object_of(s, (size_t)(at->a >> 32));
        inner->a = (uint32_t)at->a;
        inner->b = at->b;
        if (object != NULL)
            return object;
    }
    return NULL;
}

/* Takes the cursor in an object back; at its end, to the next object. */
static void ms_ans_cursor_back(machsym_session *s, ms_ans_object *object, machsym_cursor *at,
                               const machsym_cursor *inner, bool more)
{
    at->a = more ? (at->a >> 32) << 32 | inner->a : ((at->a >> 32) + 1) << 32;
    at->b = more ? inner->b : 0;
    ms_ans_count_object(s->objects, object);
}

static bool ms_ans_next_function(machsym_session *s, machsym_cursor *at, machsym_function *out)
{
    machsym_cursor inner;
    if (ms_ans_map_of(s) == NULL)
        return ms_ans_own_function(s, at, out);
    for (ms_ans_object *object; (object = ms_ans_cursor_object(s, at, &inner)) != NULL;) {
        bool more = ms_ans_own_function(&object->session, &inner, out);
        ms_ans_cursor_back(s, object, at, &inner, more);
        if (!more)
            continue;
        ms_ans_keep_text(s, &out->linkage_name);
        ms_ans_keep_text(s, &out->name);
        return true;
    }
    return false;
}

static bool ms_ans_next_line(machsym_session *s, machsym_cursor *at, machsym_line *out)
{
    machsym_cursor inner;
    if (ms_ans_map_of(s) == NULL)
        return ms_ans_own_line(s, at, out);
    for (ms_ans_object *object; (object = ms_ans_cursor_object(s, at, &inner)) != NULL;) {
        bool more = ms_ans_own_line(&object->session, &inner, out);
        ms_ans_cursor_back(s, object, at, &inner, more);
        if (!more)
            continue;
        ms_ans_keep_path(s, &out->file);
        return true;
    }
    return false;
}

/* The metadata: cursor a is the class or category (all halves counted on), b 0 for itself, else its method
 * plus 1. */
static bool ms_ans_next_objc(machsym_session *s, machsym_cursor *at, machsym_objc *out)
{
    const ms_oc_list *list = ms_ans_objc(s);
    size_t index = (size_t)at->a;
    for (size_t i = 0; i + 1 < s->image->mo_count && index >= list->owner_count; i++)
        index -= (list++)->owner_count;
    if (index >= list->owner_count)
        return false;
    const ms_oc_owner *owner = &list->owners[index];
    ms_zero(out, sizeof *out);
    out->kind = owner->is_category ? MACHSYM_OBJC_CATEGORY : MACHSYM_OBJC_CLASS;
    out->class_name = owner->class_name;
    out->category = owner->category;
    out->super_name = owner->super_name;
    out->is_swift = owner->is_swift;
    out->addr = owner->addr;
    if (at->b > 0) {
        const ms_oc_method *method = &list->methods[owner->first + at->b - 1];
        out->kind = MACHSYM_OBJC_METHOD;
        out->selector = method->selector;
        out->addr = method->addr;
        out->is_class_method = method->is_class_method;
    }
    if (at->b++ == owner->count) {
        at->a++;
        at->b = 0;
    }
    return true;
}

/* The debug map: cursor a is the half and, shifted, the entry of the object file plus 1; b the entry. */
static bool ms_ans_next_object(const machsym_session *s, machsym_cursor *at, machsym_object *out)
{
    for (; (at->a & 1) < s->image->mo_count && at->a != UINT64_MAX; at->b = 0) {
        uint64_t oso = at->a >> 1;
        bool found = ms_om_next_function(&s->image->mo[at->a & 1], &at->b, &oso, out);
        at->a = (at->a & 1) | oso << 1;
        if (found)
            return true;
        at->a = (at->a & 1) != 0 ? UINT64_MAX : 1;
    }
    return false;
}

/* What is known of an object of the debug map. */
static void ms_ans_get_object(const ms_ans_objects *o, size_t index, machsym_object_file *out)
{
    const ms_om_object *object = &o->map.v[index];
    out->path = object->path;
    out->member = object->member;
    out->time = object->time;
    out->found_time = o->times[index];
    out->status = (machsym_object_status)o->statuses[index];
}

/* ---- Explanation and counts ---- */

static void ms_ans_explain_rows(const machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                machsym_explanation *out)
{
    const ms_ln_table *lines = &place->unit->lines;
    size_t at = ms_ln_find(lines, s->lines, addr);
    if (at == lines->row_count)
        return;
    size_t first = at < 2 ? 0 : at - 2;
    for (size_t i = first; i < lines->row_count && out->row_count < 5; i++) {
        if (i == at)
            out->row_used = out->row_count;
        ms_ans_get_row(lines, place->root, i, &out->rows[out->row_count++]);
    }
}

/* Whether LC_SYMTAB says something else of the function that answers at a place than the debug info. */
static bool ms_ans_symbol_differs(machsym_session *s, const ms_ans_place *place, uint64_t addr,
                                  const machsym_symbol *symbol)
{
    if (place->block == ms_SEG_NONE || symbol->source != MACHSYM_SOURCE_SYMTAB ||
        ms_ans_is_hidden(symbol->name))
        return false;
    const ms_fn_table *table = place->table;
    uint32_t root = place->block;
    while (table->blocks[root].parent != ms_SEG_NONE)
        root = table->blocks[root].parent;
    machsym_frame frame;
    ms_zero(&frame, sizeof frame);
    ms_ans_name_block(s, &place->unit->functions, &table->blocks[root], &frame);
    machsym_str name = frame.linkage_name.len != 0 ? frame.linkage_name : frame.name;
    return symbol->lo != ms_fn_range_at(table, &table->blocks[root], addr).lo ||
           !ms_str_equal(ms_ans_symbol_exact(s, symbol->lo, name), name);
}

/* How many units have a function at an address beside the one that answers. */
static uint32_t ms_ans_count_rivals(machsym_session *s, const ms_ans_place *place, uint64_t addr)
{
    ms_arena room = ms_arena_make(s->allocator);
    const bool *claims = place->unit != NULL ? ms_cu_claims(&s->env, addr, &room) : NULL;
    uint32_t count = 0;
    for (size_t i = 0; claims != NULL && i < s->env.count; i++) {
        const ms_ans_unit *unit = claims[i] && i != place->unit->index ? ms_ans_functions_of(s, i) : NULL;
        count += unit != NULL &&
                 ms_seg_owner(unit->functions.segs, unit->functions.seg_count, addr) != ms_SEG_NONE;
    }
    s->scratch.failed |= room.failed;
    ms_arena_free(&room);
    return count;
}

static void ms_ans_explain_own(machsym_session *s, uint64_t addr, machsym_explanation *out)
{
    ms_zero(out, sizeof *out);
    out->row_used = 5;
    ms_ans_place place = ms_ans_find(s, addr);
    if (place.unit != NULL) {
        out->unit_source = place.source;
        out->unit_offset = place.root->enc.unit_off;
        out->unit_version = place.root->enc.version;
        out->unit_name = place.root->name;
        out->unit_producer = place.root->producer;
        out->is_damaged = place.unit->functions.is_damaged || place.unit->lines.is_damaged;
        ms_ans_explain_rows(s, &place, addr, out);
    }
    if (out->row_used == 5)
        out->row_used = out->row_count;
    out->has_symbol = ms_ans_symbol_at(s, addr, &out->symbol);
    out->symbol_differs = out->has_symbol && ms_ans_symbol_differs(s, &place, addr, &out->symbol);
    out->rival_count = ms_ans_count_rivals(s, &place, addr);
}

static void ms_ans_explain(machsym_session *s, uint64_t addr, machsym_explanation *out)
{
    ms_ans_object *object = ms_ans_object_at(s, addr);
    if (object == NULL) {
        ms_ans_explain_own(s, addr, out);
        return;
    }
    ms_ans_explain_own(&object->session, addr, out);
    ms_ans_keep_text(s, &out->unit_name);
    ms_ans_keep_text(s, &out->unit_producer);
    for (unsigned i = 0; i < out->row_count; i++)
        ms_ans_keep_path(s, &out->rows[i].file);
    for (size_t i = 0; i < s->objects->map.count; i++) {
        if (s->objects->opened[i] != object)
            continue;
        out->object_path = s->objects->map.v[i].path;
        out->object_member = s->objects->map.v[i].member;
    }
    ms_ans_count_object(s->objects, object);
}

static void ms_ans_count_sets(const machsym_session *s, machsym_session_info *out)
{
    ms_rd rd = ms_rd_make(s->env.dw->aranges);
    ms_cu_set set;
    while (ms_cu_next_set(&rd, &set))
        out->arange_set_count++;
}

static void ms_ans_count_own(machsym_session *s, machsym_session_info *out)
{
    bool reads_calls = s->reads_calls;
    ms_ans_drop_units(s); /* they may have been read without calls */
    s->reads_calls = true;
    ms_ans_count_sets(s, out);
    out->unit_count += (uint32_t)s->env.count;
    ms_ans_list_programs(s);
    for (size_t i = 0; i < s->env.count; i++) {
        ms_ans_trim(s);
        const ms_cu *cu = &s->env.v[i];
        const ms_ans_unit *unit = ms_ans_unit_of(s, i);
        bool damaged = unit == NULL || unit->functions.is_damaged || unit->lines.is_damaged;
        out->version_count[cu->version < 6 ? cu->version : 0]++;
        if (damaged && out->damaged_units++ == 0)
            out->first_damage_offset = cu->off;
        if (unit == NULL)
            continue;
        out->units_without_code += unit->functions.count == 0;
        out->units_without_ranges += ms_cu_is_silent(ms_cu_root_of(&s->env, i));
        out->function_count += unit->functions.function_count;
        out->inline_count += unit->functions.count - unit->functions.function_count;
        out->line_row_count += unit->lines.row_count;
        out->die_count += unit->functions.die_count;
    }
    s->reads_calls = reads_calls;
}

static void ms_ans_count(machsym_session *s, machsym_session_info *out)
{
    ms_zero(out, sizeof *out);
    ms_ans_count_own(s, out);
    out->damaged_metadata = ms_ans_symbols(s)->damage_count;
    ms_ans_objects *o = ms_ans_map_of(s);
    for (size_t i = 0; o != NULL && i < o->map.count; i++) {
        ms_ans_trim(s);
        ms_ans_object *object = ms_ans_object_of(s, i);
        out->object_count++;
        out->missing_object_count += object == NULL;
        if (object == NULL)
            continue;
        ms_ans_count_own(&object->session, out);
        ms_ans_count_object(o, object);
    }
}

/* ==== >>map ================================================================================================
 * Job:    the whole-image symbol map: build its parts, put them together, look addresses up. Format: >>manual.
 * Uses:   platform, bytes, reader, memory, segments, macho, symbols, units, lines, functions, answer.
 * Offers: machsym_map, machsym_plan, machsym_part, machsym_writer, ms_map_*.
 * Never:  decides which source answers: >>answer does. Trusts a number in a map: every read is checked. */

enum {
    ms_MAP_VERSION = 1,
    ms_MAP_HEAD = 256, /* bytes of the header */
    ms_MAP_MARGIN =
        64, /* zeros that end DATA: more than a record takes but for text, and than a range of a run */
    ms_MAP_RUN_MAX =
        16, /* ranges in a run: what a lookup decodes at most; 24 saves half a percent of a map */
    ms_MAP_LINKS =
        MACHSYM_MAX_INLINE_DEPTH < 4096 ? 4096 : MACHSYM_MAX_INLINE_DEPTH + 1, /* records in a chain */
    ms_MAP_BLOCK = 1024, /* bytes of text in a packed block: half of it is unpacked for a name */
    ms_MAP_DICT =
        16384, /* bytes of text that every block may refer to; 4 KB blocks without it pack no better */
    ms_MAP_SAMPLE = 256,         /* which are taken from all over the text, so many at a time */
    ms_MAP_PER_SAMPLE = 4096,    /* bytes of text for one such sample, of chunks and of tables */
    ms_MAP_STEP = 16,            /* what a question costs, in bytes of debug info */
    ms_MAP_PROBES = 1024,        /* the longest search in a hash table; real names take some ten */
    ms_MAP_UNIT_BYTES = 4 << 20, /* of debug info in a part */
    ms_MAP_TEXT_BYTES = 4 << 20  /* of text in a part */
};

#define ms_MAP_MAGIC "MACHSYM\n"

/* The tables of a map, in the order of the header. */
enum {
    ms_TABLE_NAME = 0, /* the image's name */
    ms_TABLE_PARTS,    /* {u32 first byte in DATA, u32 its file table in DATA}, by first byte */
    ms_TABLE_RUNS,     /* {u32 start, u32 at}: offset from the text base, where the run stands in DATA */
    ms_TABLE_BUCKETS, /* u32: the first run that starts in or after bucket i, of 1 << bucket_shift bytes of text */
    ms_TABLE_SYMBOL_RUNS, /* the same for ranges without debug info */
    ms_TABLE_SYMBOL_BUCKETS,
    ms_TABLE_DICT,   /* the text that blocks may refer to, as it is */
    ms_TABLE_BLOCKS, /* u32: where packed block i begins in TEXT; one more ends the last */
    ms_TABLE_DATA,   /* functions, chains, runs, file tables */
    ms_TABLE_TEXT,   /* packed names */
    ms_TABLE_COUNT
};

/* The fixed part of a map file. */
typedef struct ms_map_head {
    uint32_t version;
    uint32_t flags;
    machsym_uuid uuid;
    uint32_t cputype;
    uint32_t cpusubtype;
    uint64_t text_addr;
    uint64_t text_size;
    uint32_t lines;
    uint32_t bucket_shift;
    uint64_t size;
    uint64_t checksum;
    uint64_t text_exec_addr;
    uint64_t code_size;
    ms_range tables[ms_TABLE_COUNT]; /* lo: offset in the file, hi: first byte past it */
} ms_map_head;

struct machsym_map {
    machsym_allocator allocator;
    ms_span bytes;
    void *memory; /* from the allocator, when the map was built here */
    size_t memory_size;
    ms_map_head head;
    ms_span tables[ms_TABLE_COUNT];
    ms_span records; /* DATA without its margin */
#ifndef MACHSYM_NO_OS
    ms_os_file file;
#endif
};

/* ---- Writing numbers ---- */

typedef struct ms_map_buf {
    ms_arena *arena; /* of its own: the buffer grows in place */
    uint8_t *v;
    size_t len;
    size_t cap;
} ms_map_buf;

/* Makes room for len bytes. Returns where they go; NULL when memory is out. */
static inline uint8_t *ms_map_room(ms_map_buf *b, size_t len)
{
    while (len > b->cap - b->len) {
        uint8_t *v = (uint8_t *)ms_arena_double(b->arena, b->v, b->len, &b->cap, 1);
        if (v == NULL)
            return NULL;
        b->v = v;
    }
    return b->v + b->len;
}

static inline uint8_t *ms_map_raw_uleb(uint8_t *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

static void ms_map_put_bytes(ms_map_buf *b, const void *ptr, size_t len)
{
    uint8_t *to = ms_map_room(b, len);
    if (to == NULL)
        return;
    ms_copy(to, ptr, len);
    b->len += len;
}

static inline void ms_map_put_ulebs(ms_map_buf *b, const uint64_t *numbers, size_t count)
{
    uint8_t *to = ms_map_room(b, 10 * count);
    if (to == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        to = ms_map_raw_uleb(to, numbers[i]);
    b->len = (size_t)(to - b->v);
}

static void ms_map_put_uleb(ms_map_buf *b, uint64_t number)
{
    ms_map_put_ulebs(b, &number, 1);
}

static void ms_map_put_u32(ms_map_buf *b, uint32_t number)
{
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    ms_map_put_bytes(b, bytes, 4);
}

/* Signed numbers with small absolute values become small: 0, -1, 1, -2, ... */
static uint64_t ms_map_zigzag(int64_t number)
{
    return number < 0 ? ((uint64_t)(-(number + 1)) << 1) | 1 : (uint64_t)number << 1;
}

static int64_t ms_map_unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

static void ms_map_store_u32(uint8_t *p, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(number >> 8 * i);
}

static void ms_map_store_u64(uint8_t *p, uint64_t number)
{
    ms_map_store_u32(p, (uint32_t)number);
    ms_map_store_u32(p + 4, (uint32_t)(number >> 32));
}

/* Four lanes of multiply and rotate over 32 bytes at a time; the tail is padded with zeros. Finds damage,
 * proves nothing against an attacker: lookups do not rely on it. */
static uint64_t ms_map_checksum(ms_span bytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t lane[4] = {1, 2, 3, bytes.len};
    size_t at = 0;
    for (; at + 32 <= bytes.len; at += 32) {
        for (unsigned i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ ms_rd_raw_u64(bytes.ptr + at + 8 * i)) * odd;
            lane[i] ^= lane[i] >> 29;
        }
    }
    uint8_t tail[32];
    ms_zero(tail, sizeof tail);
    if (at < bytes.len) /* of no bytes at all there is no pointer to add to */
        ms_copy(tail, bytes.ptr + at, bytes.len - at);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        lane[i] = (lane[i] ^ ms_rd_raw_u64(tail + 8 * i)) * odd;
        sum = (sum ^ lane[i] ^ lane[i] >> 32) * odd;
    }
    return sum ^ sum >> 29;
}

/* ---- Packed text: every block is an LZ4 block with a dictionary ---- */

enum { ms_LZ_MIN = 4, ms_LZ_TAIL = 12, ms_LZ_BITS = 9, ms_LZ_DICT_BITS = 13 };

/* The dictionary, and where its 4-byte words stand. */
typedef struct ms_map_dict {
    uint8_t text[ms_MAP_DICT];
    size_t len;
    uint16_t last[1 << ms_LZ_DICT_BITS]; /* position + 1 of the last word with this hash */
} ms_map_dict;

static size_t ms_map_word_hash(const uint8_t *p, unsigned bits)
{
    return (ms_rd_raw_u32(p) * 2654435761u) >> (32 - bits);
}

static void ms_map_index_dict(ms_map_dict *dict)
{
    ms_zero(dict->last, sizeof dict->last);
    for (size_t i = 0; i + ms_LZ_MIN <= dict->len; i++)
        dict->last[ms_map_word_hash(dict->text + i, ms_LZ_DICT_BITS)] = (uint16_t)(i + 1);
}

static uint8_t *ms_map_put_length(uint8_t *out, size_t rest)
{
    for (; rest >= 255; rest -= 255)
        *out++ = 255;
    *out++ = (uint8_t)rest;
    return out;
}

/* One sequence: literals, then a match (none when match_len is 0). */
static uint8_t *ms_map_put_sequence(uint8_t *out, const uint8_t *literals, size_t count, size_t back,
                                    size_t match_len)
{
    size_t code = match_len == 0 ? 0 : match_len - ms_LZ_MIN;
    *out++ = (uint8_t)((count < 15 ? count : 15) << 4 | (code < 15 ? code : 15));
    if (count >= 15)
        out = ms_map_put_length(out, count - 15);
    ms_copy(out, literals, count);
    out += count;
    if (match_len == 0)
        return out;
    *out++ = (uint8_t)back;
    *out++ = (uint8_t)(back >> 8);
    return code >= 15 ? ms_map_put_length(out, code - 15) : out;
}

/* 0 when less than ms_LZ_MIN bytes are equal: most candidates only share their hash. */
static inline size_t ms_map_match_length(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t most = a_len < b_len ? a_len : b_len;
    size_t len = ms_LZ_MIN;
    if (most < ms_LZ_MIN || ms_rd_raw_u32(a) != ms_rd_raw_u32(b))
        return 0;
    for (; most - len >= 8; len += 8) {
        uint64_t differs = ms_rd_raw_u64(a + len) ^ ms_rd_raw_u64(b + len);
        if (differs != 0)
            return len + ms_low_zeros(differs) / 8;
    }
    while (len < most && a[len] == b[len])
        len++;
    return len;
}

/* The longer of the matches in the block and in the dictionary for the text at a position. Returns its
 * length. */
static size_t ms_map_find_match(const ms_map_dict *dict, const uint8_t *text, size_t at, size_t end,
                                uint16_t *last, size_t *back)
{
    uint16_t *slot = &last[ms_map_word_hash(text + at, ms_LZ_BITS)];
    size_t seen = *slot;
    size_t best = 0;
    *slot = (uint16_t)(at + 1);
    if (seen != 0) {
        best = ms_map_match_length(text + seen - 1, at - (seen - 1) + (end - at), text + at, end - at);
        *back = at - (seen - 1);
    }
    size_t word = dict->last[ms_map_word_hash(text + at, ms_LZ_DICT_BITS)];
    if (word != 0) {
        size_t len = ms_map_match_length(dict->text + word - 1, dict->len - (word - 1), text + at, end - at);
        if (len > best) {
            best = len;
            *back = at + dict->len - (word - 1);
        }
    }
    return best;
}

/* Packs a block of text into out, which has room for 2 * ms_MAP_BLOCK. Returns the packed size; the size of
 * the text when packing gains nothing: then out holds the text itself. */
static size_t ms_map_pack(const ms_map_dict *dict, const uint8_t *text, size_t len, uint8_t *out)
{
    uint16_t last[1 << ms_LZ_BITS];
    uint8_t *to = out;
    size_t literal = 0;
    size_t limit =
        len > ms_LZ_TAIL ? len - ms_LZ_TAIL : 0; /* the format wants its last bytes to be literals */
    ms_zero(last, sizeof last);
    for (size_t at = 0; at < limit;) {
        size_t back = 0;
        size_t match = ms_map_find_match(dict, text, at, len - 5, last, &back);
        if (match == 0) {
            at++;
            continue;
        }
        to = ms_map_put_sequence(to, text + literal, at - literal, back, match);
        at += match;
        literal = at;
    }
    to = ms_map_put_sequence(to, text + literal, len - literal, 0, 0);
    if ((size_t)(to - out) < len)
        return (size_t)(to - out);
    ms_copy(out, text, len);
    return len;
}

static size_t ms_map_get_length(ms_rd *rd, size_t code)
{
    size_t len = code;
    uint8_t more = 255;
    while (code == 15 && more == 255 && len < 2 * ms_MAP_BLOCK && !rd->failed) {
        more = ms_rd_u8(rd);
        len += more;
    }
    return len;
}

/* Copies a match, which may overlap what it makes; out has 16 bytes of slack behind the block. */
static size_t ms_map_copy_match(ms_span dict, uint8_t *out, size_t at, size_t back, size_t len)
{
    size_t end = at + len;
    if (back > at) { /* begins in the dictionary, and may run on into the block */
        const uint8_t *from = dict.ptr + (dict.len - (back - at));
        size_t stop = back - at < len ? at + (back - at) : end;
        for (; stop - at >= 8; at += 8, from += 8)
            ms_copy(out + at, from,
                    8); /* most are short: one copy of any length would take longer to begin */
        for (; at < stop; at++)
            out[at] = *from++;
    }
    if (back >= 8) {
        for (; at < end; at += 8)
            ms_copy(out + at, out + at - back, 8);
    }
    for (; at < end; at++)
        out[at] = out[at - back];
    return end;
}

/* Unpacks sequences as long as they are short and far from all ends: nearly all. Copies more than it needs,
 * which the next ones overwrite. Returns how far the block is unpacked. */
static size_t ms_map_unpack_short(ms_span dict, ms_rd *rd, uint8_t *out, size_t at, size_t want)
{
    const uint8_t *p = rd->p;
    while (rd->end - p >= 18 && at + 32 <= ms_MAP_BLOCK && at < want) {
        size_t literals = *p >> 4;
        size_t match = (*p & 15u) + ms_LZ_MIN;
        size_t back = ms_rd_raw_u16(p + 1 + literals);
        size_t to = at + literals;
        MACHSYM_COUNT_WORK(1);
        if (literals == 15 || match == 15 + ms_LZ_MIN || back < 8 || back > to + dict.len ||
            (back > to && back - to < 24))
            break;
        const uint8_t *from = back > to ? dict.ptr + (dict.len - (back - to)) : out + (to - back);
        ms_copy(out + at, p + 1, 16);
        ms_copy(out + to, from, 8); /* a match may overlap what it makes: 8 bytes at a time do not */
        ms_copy(out + to + 8, from + 8, 8);
        ms_copy(out + to + 16, from + 16, 8);
        p += 1 + literals + 2;
        at = to + match;
    }
    rd->p = p;
    return at;
}

/* Unpacks a block of ms_MAP_BLOCK bytes, or as much of it as holds its first want bytes. Returns how many
 * there are; fewer when it is damaged. */
static size_t ms_map_unpack(ms_span dict, ms_span packed, uint8_t *out, size_t want)
{
    ms_rd rd = ms_rd_make(packed);
    size_t at = 0;
    if (packed.len >= ms_MAP_BLOCK) {
        ms_copy(out, packed.ptr, ms_MAP_BLOCK);
        return ms_MAP_BLOCK;
    }
    while (ms_rd_left(&rd) > 0 && at < want) {
        at = ms_map_unpack_short(dict, &rd, out, at, want);
        if (at >= want)
            break;
        uint8_t token = ms_rd_u8(&rd);
        ms_span literals = ms_rd_span(&rd, ms_map_get_length(&rd, token >> 4));
        if (literals.len > ms_MAP_BLOCK - at)
            break;
        ms_copy(out + at, literals.ptr, literals.len);
        at += literals.len;
        if (ms_rd_left(&rd) == 0)
            break;
        size_t back = ms_rd_u16(&rd);
        size_t match = ms_map_get_length(&rd, token & 15) + ms_LZ_MIN;
        if (rd.failed || back == 0 || back > at + dict.len || match > ms_MAP_BLOCK - at)
            break;
        at = ms_map_copy_match(dict, out, at, back, match);
    }
    return at;
}

/* ---- References to text ---- */

/* The string tables of an image laid end to end, each on a block boundary: what a packed reference counts
 * in. */
typedef struct ms_map_spaces {
    ms_span v[3]; /* .debug_str, and the string tables of both halves */
    uint64_t base[3];
    uint64_t total;
} ms_map_spaces;

static void ms_map_set_spaces(const machsym_image *image, ms_map_spaces *spaces)
{
    ms_zero(spaces, sizeof *spaces);
    spaces->v[0] = image->dw.str;
    for (size_t i = 0; i < image->mo_count; i++)
        spaces->v[1 + i] = ms_sym_strings(&image->mo[i]);
    for (size_t i = 0; i < 3; i++) {
        uint64_t len = spaces->v[i].len;
        spaces->base[i] = spaces->total;
        spaces->total += (len + ms_MAP_BLOCK - 1) / ms_MAP_BLOCK * ms_MAP_BLOCK;
    }
}

/* The bytes of a block of the spaces; the end of a space is padded with zeros. */
static void ms_map_raw_block(const ms_map_spaces *spaces, uint64_t block, uint8_t *out)
{
    uint64_t at = block * ms_MAP_BLOCK;
    ms_zero(out, ms_MAP_BLOCK);
    for (size_t i = 3; i-- > 0;) {
        if (spaces->v[i].len == 0 || at < spaces->base[i])
            continue;
        ms_span rest = ms_span_from(spaces->v[i], at - spaces->base[i]);
        ms_copy(out, rest.ptr, rest.len < (size_t)ms_MAP_BLOCK ? rest.len : (size_t)ms_MAP_BLOCK);
        return;
    }
}

/* A sample from all over the text, in so many pieces; none of a text that is hardly longer. */
static void ms_map_fill_dict(const ms_map_spaces *spaces, uint64_t pieces, ms_map_dict *dict)
{
    uint8_t block[ms_MAP_BLOCK];
    uint64_t blocks = spaces->total / ms_MAP_BLOCK;
    dict->len = 0;
    for (uint64_t i = 0; i < pieces && blocks > pieces; i++) {
        ms_map_raw_block(spaces, i * blocks / pieces, block);
        ms_copy(dict->text + dict->len, block, ms_MAP_SAMPLE);
        dict->len += ms_MAP_SAMPLE;
    }
    ms_map_index_dict(dict);
}

/* Where a text lies in the spaces, NUL-terminated; UINT64_MAX when it lies elsewhere. */
static uint64_t ms_map_place(const ms_map_spaces *spaces, machsym_str text)
{
    uintptr_t at = (uintptr_t)text.ptr;
    for (size_t i = 0; i < 3; i++) {
        uintptr_t lo = (uintptr_t)spaces->v[i].ptr;
        if (spaces->v[i].len != 0 && at >= lo && at - lo < spaces->v[i].len &&
            text.len < spaces->v[i].len - (at - lo) && text.ptr[text.len] == 0)
            return spaces->base[i] + (at - lo);
    }
    return UINT64_MAX;
}

/* ---- Encoding ---- */

/* A hash table from two numbers to a position + 1. */
typedef struct ms_map_slot {
    uint64_t a;
    uint64_t b;
    uint32_t value;
} ms_map_slot;

typedef struct ms_map_hash {
    ms_arena *arena;
    ms_map_slot *v;
    size_t cap; /* a power of 2 */
    size_t count;
    ms_map_slot spill; /* of what was not found within ms_MAP_PROBES: forgotten at once */
} ms_map_hash;

static size_t ms_map_hash_of(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    return (size_t)(h ^ h >> 32);
}

static ms_map_slot *ms_map_hash_slot(ms_map_hash *h, uint64_t a, uint64_t b)
{
    size_t at = ms_map_hash_of(a, b) & (h->cap - 1);
    for (unsigned probes = 0; probes < ms_MAP_PROBES; probes++) {
        MACHSYM_COUNT_WORK(1);
        if (h->v[at].value == 0 || (h->v[at].a == a && h->v[at].b == b))
            return &h->v[at];
        at = (at + 1) & (h->cap - 1);
    }
    h->spill.value = 0;
    return &h->spill;
}

/* The slot of a pair; a new one has value 0, and the caller fills it. NULL when memory is out. Keys may be
 * chosen to collide: then a pair is found no more, which costs room in the map only. */
static ms_map_slot *ms_map_hash_get(ms_map_hash *h, uint64_t a, uint64_t b)
{
    if (4 * (h->count + 1) > 3 * h->cap) {
        ms_map_hash bigger = *h;
        bigger.cap = h->cap == 0 ? 256 : h->cap * 2;
        bigger.v = (ms_map_slot *)ms_arena_zeroed(h->arena, bigger.cap, sizeof *h->v);
        if (bigger.v == NULL)
            return NULL;
        for (size_t i = 0; i < h->cap; i++) {
            if (h->v[i].value != 0)
                *ms_map_hash_slot(&bigger, h->v[i].a, h->v[i].b) = h->v[i];
        }
        *h = bigger;
    }
    ms_map_slot *slot = ms_map_hash_slot(h, a, b);
    if (slot->value == 0) {
        slot->a = a;
        slot->b = b;
        h->count++;
    }
    return slot;
}

/* A run of ranges, as parts hand it over. */
typedef struct ms_map_run {
    uint64_t lo;
    uint64_t hi;
    uint32_t at;     /* in the part's data */
    bool only_lines; /* its ranges have lines, but no function */
} ms_map_run;

/* What turns ranges into a part's data. */
typedef struct ms_map_coder {
    ms_map_buf data;
    ms_arena *arena;             /* for what outlives the coding: runs, blocks in use */
    const ms_map_spaces *spaces; /* where packed text is; NULL: not in the image */
    ms_map_buf *texts;           /* where it goes, when there is no image */
    uint64_t text_addr;
    uint8_t *used;         /* one bit for every block of text that is referred to */
    ms_map_hash plain;     /* text (hash, length) to its position */
    ms_map_hash kept;      /* text (hash, length) to its place in texts */
    ms_map_hash functions; /* names to their record */
    ms_map_hash files;     /* path parts to their number */
    uint32_t *file_at;     /* records of the file table */
    size_t file_count;
    size_t file_cap;
    ms_map_run *runs;
    size_t run_count;
    size_t run_cap;
    uint64_t text_left; /* bytes of plain text that may still be written */
    bool columns;
    bool overflow; /* something does not fit the format's 32 bits */
} ms_map_coder;

static bool ms_map_plain_is(const ms_map_coder *c, uint32_t at, machsym_str text)
{
    ms_rd rd = ms_rd_at(ms_span_make(c->data.v, c->data.len), at);
    uint64_t len = ms_rd_uleb(&rd);
    return len == text.len && ms_rd_left(&rd) >= len && ms_equal(rd.p, text.ptr, text.len);
}

/* Writes a text into the data, once. Returns its position; 0, which is an empty text, when there have been
 * too many. */
static uint32_t ms_map_plain(ms_map_coder *c, machsym_str text)
{
    uint64_t hash = ms_str_hash(text);
    for (uint64_t probe = 0; probe < ms_MAP_PROBES; probe++) {
        ms_map_slot *slot = ms_map_hash_get(&c->plain, hash, (uint64_t)text.len + (probe << 40));
        if (slot == NULL)
            return 0;
        if (slot->value != 0 && ms_map_plain_is(c, slot->value - 1, text))
            return slot->value - 1;
        if (slot->value != 0)
            continue; /* another text with this hash */
        if (text.len > c->text_left)
            break;
        c->text_left -= text.len;
        slot->value = (uint32_t)c->data.len + 1;
        ms_map_put_uleb(&c->data, text.len);
        ms_map_put_bytes(&c->data, text.ptr, text.len);
        return slot->value - 1;
    }
    return 0;
}

/* Adds a name, once, to the text that will be packed. Returns its place; UINT64_MAX when it cannot be packed. */
static uint64_t ms_map_keep(ms_map_coder *c, machsym_str text)
{
    uint64_t hash = ms_str_hash(text);
    if (text.len > MACHSYM_MAX_TEXT || ms_find_byte(text.ptr, text.len, 0) != NULL ||
        c->texts->len > UINT32_MAX / 2)
        return UINT64_MAX;
    for (uint64_t probe = 0; probe < ms_MAP_PROBES; probe++) {
        ms_map_slot *slot = ms_map_hash_get(&c->kept, hash, (uint64_t)text.len + (probe << 40));
        if (slot == NULL)
            break;
        if (slot->value != 0 && ms_equal(c->texts->v + slot->value - 1, text.ptr, text.len))
            return slot->value - 1;
        if (slot->value != 0)
            continue; /* another text with this hash */
        uint8_t *to = ms_map_room(c->texts, text.len + 1);
        if (to == NULL)
            break;
        ms_copy(to, text.ptr, text.len);
        to[text.len] = 0;
        slot->value = (uint32_t)c->texts->len + 1;
        c->texts->len += text.len + 1;
        return slot->value - 1;
    }
    return UINT64_MAX;
}

/* A reference: 0 for no text; even: packed text; odd: a position in the part's data. */
static uint64_t ms_map_ref(ms_map_coder *c, machsym_str text)
{
    if (text.len == 0)
        return 0;
    uint64_t place = c->spaces != NULL  ? ms_map_place(c->spaces, text)
                     : c->texts != NULL ? ms_map_keep(c, text)
                                        : UINT64_MAX;
    if (place == UINT64_MAX)
        return (uint64_t)ms_map_plain(c, text) << 1 | 1;
    if (c->used == NULL)
        return (place + 1) << 1;
    MACHSYM_COUNT_WORK(text.len / ms_MAP_BLOCK);
    for (uint64_t block = place / ms_MAP_BLOCK; block <= (place + text.len) / ms_MAP_BLOCK; block++)
        c->used[block / 8] |= (uint8_t)(1u << block % 8);
    return (place + 1) << 1;
}

/* In the data plain text is told by its distance back from the record. */
static void ms_map_put_ref(ms_map_coder *c, size_t record, uint64_t ref)
{
    if ((ref & 1) != 0)
        ref = (uint64_t)(record - (size_t)(ref >> 1)) << 1 | 1;
    ms_map_put_uleb(&c->data, ref);
}

/* FUNCTION record: ref of the linkage name, ref of the name. Returns its position. */
static uint32_t ms_map_function(ms_map_coder *c, machsym_str linkage_name, machsym_str name)
{
    uint64_t a = ms_map_ref(c, linkage_name);
    uint64_t b = ms_map_ref(c, name);
    ms_map_slot *slot = ms_map_hash_get(&c->functions, a, b);
    if (slot == NULL)
        return 0;
    if (slot->value == 0) {
        size_t record = c->data.len;
        slot->value = (uint32_t)record + 1;
        ms_map_put_ref(c, record, a);
        ms_map_put_ref(c, record, b);
    }
    return slot->value - 1;
}

/* FILE record: refs of comp_dir, dir and name, all plain. Returns its number from 1 on; 0 is no file. */
static uint32_t ms_map_file(ms_map_coder *c, const machsym_path *path)
{
    if (path->name.len == 0)
        return 0;
    uint64_t comp_dir = path->comp_dir.len != 0 ? (uint64_t)ms_map_plain(c, path->comp_dir) << 1 | 1 : 0;
    uint64_t dir = path->dir.len != 0 ? (uint64_t)ms_map_plain(c, path->dir) << 1 | 1 : 0;
    uint64_t name = (uint64_t)ms_map_plain(c, path->name) << 1 | 1;
    ms_map_slot *slot = ms_map_hash_get(&c->files, comp_dir << 32 | dir, name);
    uint32_t *v = (uint32_t *)ms_arena_grow(c->arena, c->file_at, c->file_count, &c->file_cap, sizeof *v);
    if (slot == NULL || v == NULL)
        return 0;
    c->file_at = v;
    if (slot->value == 0) {
        size_t record = c->data.len;
        v[c->file_count++] = (uint32_t)record;
        slot->value = (uint32_t)c->file_count;
        ms_map_put_ref(c, record, comp_dir);
        ms_map_put_ref(c, record, dir);
        ms_map_put_ref(c, record, name);
    }
    return slot->value;
}

/* Where code comes from. */
typedef struct ms_map_line {
    uint32_t file; /* number in the part's file table */
    uint32_t line;
    uint32_t column;
} ms_map_line;

/* CHAIN record of a concrete function: 2 * source, distance to its FUNCTION record (0: no name), start,
 * size. */
static uint32_t ms_map_root(ms_map_coder *c, machsym_source source, uint32_t function, bool named,
                            uint64_t lo, uint64_t size)
{
    size_t record = c->data.len;
    const uint64_t fields[4] = {(uint64_t)source << 1, named ? record - function : 0, lo - c->text_addr,
                                size};
    ms_map_put_ulebs(&c->data, fields, 4);
    return (uint32_t)record;
}

/* CHAIN record of an inlined call: distance to its caller's record * 4 + 2 (name from symbols) + 1, distance
 * to its FUNCTION record, file, line and column of the call. */
static uint32_t ms_map_call(ms_map_coder *c, uint32_t caller, machsym_source source, uint32_t function,
                            const ms_map_line *call)
{
    size_t record = c->data.len;
    uint64_t what = (uint64_t)(record - caller) << 2 | (source == MACHSYM_SOURCE_SYMTAB ? 2u : 0u) | 1;
    const uint64_t fields[5] = {what, record - function, call->file, call->line, call->column};
    ms_map_put_ulebs(&c->data, fields, c->columns ? 5 : 4);
    return (uint32_t)record;
}

/* A range before it is written. */
typedef struct ms_map_item {
    uint64_t lo;
    uint64_t hi;
    uint32_t chain; /* position of its CHAIN record */
    ms_map_line line;
} ms_map_item;

static bool ms_map_same(const ms_map_item *a, const ms_map_item *b)
{
    return a->chain == b->chain && a->line.file == b->line.file && a->line.line == b->line.line &&
           a->line.column == b->line.column;
}

/* RUN record: the number of ranges, then for each: its size; zigzag(line - previous) * 4 + 2 (new file) + 1
 * (new chain); the distance back from the run to its chain, if new; its file, if new; its column, if the map
 * has columns. */
static void ms_map_put_run(ms_map_coder *c, const ms_map_item *items, size_t count, bool only_lines)
{
    ms_map_run *runs =
        (ms_map_run *)ms_arena_grow(c->arena, c->runs, c->run_count, &c->run_cap, sizeof *runs);
    if (runs == NULL)
        return;
    c->runs = runs;
    size_t at = c->data.len;
    runs[c->run_count].lo = items[0].lo;
    runs[c->run_count].hi = items[count - 1].hi;
    runs[c->run_count].at = (uint32_t)at;
    runs[c->run_count].only_lines = only_lines;
    c->run_count++;
    uint8_t *to = ms_map_room(&c->data, 10 + 50 * count);
    if (to == NULL)
        return;
    to = ms_map_raw_uleb(to, count);
    ms_map_item previous;
    ms_zero(&previous, sizeof previous);
    for (size_t i = 0; i < count; i++) {
        const ms_map_item *item = &items[i];
        bool new_chain = i == 0 || item->chain != previous.chain;
        bool new_file = item->line.file != previous.line.file;
        int64_t step = (int64_t)item->line.line - (int64_t)previous.line.line;
        to = ms_map_raw_uleb(to, item->hi - item->lo);
        to = ms_map_raw_uleb(to, ms_map_zigzag(step) << 2 | (new_file ? 2u : 0u) | (new_chain ? 1u : 0u));
        if (new_chain)
            to = ms_map_raw_uleb(to, only_lines ? 0 : at - item->chain);
        if (new_file)
            to = ms_map_raw_uleb(to, item->line.file);
        if (c->columns)
            to = ms_map_raw_uleb(to, item->line.column);
        previous = *item;
    }
    c->data.len = (size_t)(to - c->data.v);
}

/* Ranges of one function that follow each other, waiting to become runs. */
typedef struct ms_map_queue {
    ms_map_item v[ms_MAP_RUN_MAX];
    size_t count;
    bool only_lines;
} ms_map_queue;

static void ms_map_flush(ms_map_coder *c, ms_map_queue *q)
{
    if (q->count > 0)
        ms_map_put_run(c, q->v, q->count, q->only_lines);
    q->count = 0;
}

/* Adds a range; one that says the same as its neighbour makes that longer. */
static void ms_map_add(ms_map_coder *c, ms_map_queue *q, const ms_map_item *item, bool only_lines)
{
    ms_map_item *last = q->count > 0 ? &q->v[q->count - 1] : NULL;
    if (last != NULL && (last->hi != item->lo || q->only_lines != only_lines)) {
        ms_map_flush(c, q);
        last = NULL;
    }
    if (last != NULL && ms_map_same(last, item)) {
        last->hi = item->hi;
        return;
    }
    if (q->count == ms_MAP_RUN_MAX)
        ms_map_flush(c, q);
    q->only_lines = only_lines;
    q->v[q->count++] = *item;
}

/* The file table ends a part: u32 count, then u32 positions of the FILE records. Returns where it stands. */
static uint32_t ms_map_end_part(ms_map_coder *c)
{
    uint32_t at = (uint32_t)c->data.len;
    ms_map_put_u32(&c->data, (uint32_t)c->file_count);
    for (size_t i = 0; i < c->file_count; i++)
        ms_map_put_u32(&c->data, c->file_at[i]);
    c->overflow |= c->data.len > 0x7fffffff;
    return at;
}

static void ms_map_coder_init(ms_map_coder *c, ms_arena *data_arena, ms_arena *arena, ms_arena *tables)
{
    ms_zero(c, sizeof *c);
    c->data.arena = data_arena;
    c->arena = arena;
    c->plain.arena = c->kept.arena = c->functions.arena = c->files.arena = tables;
    c->text_left = UINT64_MAX;
    ms_map_put_uleb(&c->data, 0); /* no record stands at 0, so that a distance of 0 is free to mean none */
}

/* ---- Plan ---- */

typedef enum ms_map_kind {
    ms_MAP_UNITS = 0, /* a run of units */
    ms_MAP_OBJECTS,   /* a run of object files of a debug map */
    ms_MAP_TEXT       /* a run of blocks of text */
} ms_map_kind;

/* One part's work: items lo to hi of its kind. */
typedef struct ms_map_task {
    ms_map_kind kind;
    uint64_t lo;
    uint64_t hi;
    uint64_t size;
} ms_map_task;

struct machsym_plan {
    const machsym_image *image;
    machsym_lines lines;
    uint32_t flags;
    machsym_allocator allocator;
    machsym_session *session; /* holds what all parts share: unit segments and symbols; not used after open */
    ms_map_spaces spaces;
    ms_map_dict *dict;
    ms_arena arena;
    ms_map_task *tasks;
    size_t count;
    size_t cap;
};

struct machsym_part {
    ms_map_kind kind;
    ms_arena data_arena; /* only ever holds the buffer */
    ms_arena arena;
    ms_arena tables; /* of the coder: freed when the part is whole */
    ms_map_coder coder;
    uint32_t files_at;     /* file table, in the data */
    uint32_t *block_sizes; /* of text blocks; packed back to back in the data */
};

static bool ms_map_part_failed(const machsym_part *part)
{
    return part->data_arena.oom || part->arena.oom || part->tables.oom;
}

static void ms_map_add_task(machsym_plan *plan, ms_map_kind kind, uint64_t lo, uint64_t hi, uint64_t size)
{
    ms_map_task *v =
        (ms_map_task *)ms_arena_grow(&plan->arena, plan->tasks, plan->count, &plan->cap, sizeof *v);
    if (v == NULL)
        return;
    plan->tasks = v;
    v[plan->count].kind = kind;
    v[plan->count].lo = lo;
    v[plan->count].hi = hi;
    v[plan->count].size = size;
    plan->count++;
}

/* Opens every object file of the debug map once, to know which ones answer and how large they are, and cuts
 * them into parts. */
static void ms_map_cut_objects(machsym_plan *plan)
{
    machsym_session *s = plan->session;
    ms_ans_objects *o = ms_ans_map_of(s);
    size_t first = 0;
    uint64_t size = 0;
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->map.count; i++) {
        const ms_ans_object *object = ms_ans_object_of(s, i);
        size += object != NULL ? object->image.dw.info.len : 0;
        plan->arena.oom |= o->statuses[i] == MACHSYM_OBJECT_UNTRIED;
        if (size < ms_MAP_UNIT_BYTES && i + 1 < o->map.count)
            continue;
        ms_map_add_task(plan, ms_MAP_OBJECTS, first, i + 1, size);
        first = i + 1;
        size = 0;
    }
    ms_ans_close_objects(s);
}

/* Cuts the units and the text into parts of about equal size: the same ones for any number of threads. */
static void ms_map_cut_tasks(machsym_plan *plan)
{
    const machsym_image *image = plan->image;
    size_t first = 0;
    for (size_t i = 0; i < image->cu_count; i++) {
        uint64_t size = image->cus[i].end - image->cus[first].off;
        if (size < ms_MAP_UNIT_BYTES && i + 1 < image->cu_count)
            continue;
        ms_map_add_task(plan, ms_MAP_UNITS, first, i + 1, size);
        first = i + 1;
    }
    ms_map_cut_objects(plan);
    uint64_t blocks = plan->spaces.total / ms_MAP_BLOCK;
    uint64_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
    for (uint64_t lo = 0; lo < blocks; lo += step) {
        uint64_t hi = lo + step < blocks ? lo + step : blocks;
        ms_map_add_task(plan, ms_MAP_TEXT, lo, hi, (hi - lo) * ms_MAP_BLOCK);
    }
}

/* A session that decodes for one part; what the plan's session has indexed is lent to it, root entries too,
 * which all have been read. */
static machsym_session *ms_map_session(const machsym_plan *plan)
{
    machsym_session *s =
        ms_ans_open(plan->image, plan->lines, MACHSYM_SESSION_INDEX, 1, plan->allocator); /* keeps one unit */
    if (s == NULL || plan->session == NULL)
        return s;
    const machsym_session *shared = plan->session;
    s->env = shared->env;
    s->env.arena = &s->keep;
    s->aranges = shared->aranges;
    s->ranges = shared->ranges;
    s->silent = shared->silent;
    s->symbols = shared->symbols;
    s->has_aranges = s->has_ranges = s->has_silent = s->has_symbols = true;
    return s;
}

/* ---- Building the ranges of a unit ---- */

#define ms_MAP_BY_UNIT UINT32_MAX

/* What is needed to encode one unit. */
typedef struct ms_map_work {
    const machsym_plan *plan;
    machsym_session *session;
    ms_map_coder *c;
    ms_map_queue queue;
    ms_arena scratch;    /* emptied for every function */
    ms_arena unit_arena; /* emptied for every unit */
    const ms_ans_unit *unit;
    const ms_cu_root *root;
    size_t index;    /* of the unit */
    uint32_t *files; /* by the unit's file number: number in the part's table + 1; 0 not known yet */
    size_t file_count;
    uint32_t *chains;  /* by block: position of its CHAIN record; 0 none yet */
    uint32_t function; /* the one at hand */
    ms_ans_rows rows;  /* the walk of lines that the ranges before have left, up to rows_from at least */
    uint64_t rows_from;
    ms_segs calls;     /* of all its code: the innermost block; empty when nothing is inlined; in scratch */
    uint32_t *written; /* of its blocks those that have a record, which tells of range */
    size_t written_count;
    ms_range range;
    uint32_t *depths;    /* by block: how many blocks it stands in */
    ms_map_hash origins; /* entry offset and rank of its source to the FUNCTION record */
} ms_map_work;

static uint32_t ms_map_new_file(ms_map_work *w, uint64_t file)
{
    machsym_path path = ms_ln_path(&w->unit->lines, w->root->comp_dir, file);
    uint32_t number = ms_map_file(w->c, &path);
    if (file < w->file_count)
        w->files[file] = number + 1;
    return number;
}

static inline void ms_map_line_at(ms_map_work *w, uint64_t file, uint32_t line, uint32_t column,
                                  ms_map_line *out)
{
    uint32_t known = file < w->file_count ? w->files[file] : 0;
    out->file = known != 0 ? known - 1 : ms_map_new_file(w, file);
    out->line = line;
    out->column = w->c->columns ? column : 0;
}

/* Where the record of a call's origin is kept: by the origin alone when it has a linkage name; else by origin
 * and unit, since an out-of-line copy in the same unit may give the name. */
static ms_map_slot *ms_map_origin_slot(ms_map_work *w, uint64_t origin)
{
    ms_map_slot *slot = ms_map_hash_get(&w->origins, origin, 0);
    if (slot == NULL || slot->value != ms_MAP_BY_UNIT)
        return slot;
    return ms_map_hash_get(&w->origins, origin, w->index + 1);
}

/* The FUNCTION record of a block, and where its name is from. Calls share the record of what they call. */
static uint32_t ms_map_block_function(ms_map_work *w, const ms_fn_block *block, machsym_source *source,
                                      bool *named)
{
    machsym_frame frame;
    bool is_inline = block->parent != ms_SEG_NONE;
    ms_map_slot *slot = is_inline && block->origin != 0 ? ms_map_origin_slot(w, block->origin) : NULL;
    if (slot != NULL && slot->value != 0) {
        *source = (slot->value & 1) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
        *named = true;
        return slot->value >> 1;
    }
    ms_zero(&frame, sizeof frame);
    frame.is_inline = is_inline;
    ms_ans_name_block(w->session, &w->unit->functions, block, &frame);
    *source = frame.name_source;
    *named = is_inline || frame.linkage_name.len != 0 || frame.name.len != 0;
    uint32_t record = *named ? ms_map_function(w->c, frame.linkage_name, frame.name) : 0;
    if (slot != NULL && slot->b == 0 && (frame.linkage_name.len == 0 || *source != MACHSYM_SOURCE_DWARF)) {
        slot->value = ms_MAP_BY_UNIT;
        slot = ms_map_origin_slot(w, block->origin);
    }
    if (slot != NULL)
        slot->value = record << 1 | (*source == MACHSYM_SOURCE_SYMTAB);
    return record;
}

/* Writes the chain from a function down to a block, callers first. Every record is written once a
 * function. */
static void ms_map_put_chain(ms_map_work *w, uint32_t block, const ms_range *range)
{
    const ms_fn_block *blocks = w->unit->functions.blocks;
    size_t depth = 0;
    for (uint32_t at = block; at != ms_SEG_NONE && w->chains[at] == 0; at = blocks[at].parent)
        depth++;
    MACHSYM_COUNT_WORK(1 + depth);
    uint32_t *path = w->written + w->written_count; /* room for every block, each of which is written once */
    w->written_count += depth;
    for (size_t i = depth; i-- > 0; block = blocks[block].parent)
        path[i] = block;
    for (size_t i = 0; i < depth; i++) {
        const ms_fn_block *one = &blocks[path[i]];
        machsym_source source;
        bool named;
        uint32_t record = ms_map_block_function(w, one, &source, &named);
        if (one->parent == ms_SEG_NONE) {
            w->chains[path[i]] = ms_map_root(w->c, source, record, named, range->lo, range->hi - range->lo);
        } else {
            ms_map_line call;
            ms_map_line_at(w, one->call_file, one->call_line, one->call_column, &call);
            w->chains[path[i]] = ms_map_call(w->c, w->chains[one->parent], source, record, &call);
        }
    }
}

/* Adds [lo, hi), which has one chain, cut where its lines change. */
static void ms_map_add_lines(ms_map_work *w, uint64_t lo, uint64_t hi, uint32_t chain, bool only_lines)
{
    const ms_ln_table *lines = &w->unit->lines;
    ms_ans_rows *rows = &w->rows;
    ms_map_item item;
    if (rows->lines != lines || rows->past_end == only_lines || lo < w->rows_from)
        *rows = ms_ans_rows_of(lines, w->plan->lines, !only_lines, lo);
    w->rows_from = hi;
    item.chain = chain;
    for (item.lo = lo; item.lo < hi; item.lo = item.hi) {
        MACHSYM_COUNT_WORK(1);
        ms_ans_rows_seek(rows, item.lo);
        item.hi = rows->next < hi ? rows->next : hi;
        ms_zero(&item.line, sizeof item.line);
        if (rows->at != lines->row_count) {
            const ms_ln_row *row = &lines->rows[rows->at];
            ms_map_line_at(w, row->file, row->line, row->column, &item.line);
        } else if (only_lines) {
            continue;
        }
        ms_map_add(w->c, &w->queue, &item, only_lines);
    }
}

/* The calls inlined into a function, as segments. */
static void ms_map_call_segments(ms_map_work *w, uint32_t function)
{
    const ms_fn_table *table = &w->unit->functions;
    ms_cu_pieces pieces = {&w->scratch, NULL, 0, 0};
    ms_cu_add_piece(&pieces, 0, UINT64_MAX, function);
    for (uint32_t i = function + 1; i < table->blocks[function].end; i++) {
        const ms_fn_block *block = &table->blocks[i];
        MACHSYM_COUNT_WORK(1);
        if (block->parent == ms_SEG_NONE) {
            i = block->end - 1;
            continue;
        }
        if (w->depths[i] > MACHSYM_MAX_INLINE_DEPTH + 1)
            continue;
        for (uint32_t j = 0; j < block->range_count; j++) {
            ms_range range = {block->lo, block->hi};
            if (block->range_count > 1)
                range = table->ranges[block->range_first + j];
            ms_cu_add_piece(&pieces, range.lo, range.hi, i);
        }
    }
    ms_seg_build(pieces.v, pieces.count, &w->scratch, &w->calls);
}

/* Turns to a function; that before leaves no records behind. */
static void ms_map_begin_function(ms_map_work *w, uint32_t function)
{
    const ms_segs none = {NULL, 0, &w->scratch};
    ms_arena_reset(&w->scratch);
    w->function = function;
    w->calls = none;
    if (w->unit->functions.blocks[function].end > function + 1)
        ms_map_call_segments(w, function);
}

static void ms_map_forget_chains(ms_map_work *w)
{
    while (w->written_count > 0)
        w->chains[w->written[--w->written_count]] = 0;
}

/* Adds [lo, hi) of the function at hand, which has one innermost block. */
static void ms_map_add_block(ms_map_work *w, uint32_t index, uint64_t lo, uint64_t hi)
{
    const ms_fn_block *block = &w->unit->functions.blocks[index];
    if (w->depths[index] <= MACHSYM_MAX_INLINE_DEPTH) {
        ms_map_put_chain(w, index, &w->range);
        ms_map_add_lines(w, lo, hi, w->chains[index], false);
        return;
    }
    ms_map_item item;
    ms_map_put_chain(w, block->parent, &w->range);
    item.lo = lo;
    item.hi = hi;
    item.chain = w->chains[block->parent];
    ms_map_line_at(w, block->call_file, block->call_line, block->call_column, &item.line);
    ms_map_add(w->c, &w->queue, &item, false);
}

/* Encodes [lo, hi), which one range of the function at hand holds. */
static void ms_map_add_function(ms_map_work *w, const ms_range *range, uint64_t lo, uint64_t hi)
{
    const ms_segs *calls = &w->calls;
    if (range->lo != w->range.lo || range->hi != w->range.hi)
        ms_map_forget_chains(w);
    w->range = *range;
    if (calls->count == 0)
        ms_map_add_block(w, w->function, lo, hi);
    for (size_t i = ms_seg_find(calls->v, calls->count, lo); i + 1 < calls->count && calls->v[i].lo < hi;
         i++) {
        uint64_t from = calls->v[i].lo > lo ? calls->v[i].lo : lo;
        uint64_t to = calls->v[i + 1].lo < hi ? calls->v[i + 1].lo : hi;
        ms_map_add_block(w, calls->v[i].owner, from, to);
    }
    ms_map_flush(w->c, &w->queue);
}

/* Encodes [lo, hi), which one function of the unit has, as far as this unit is the one that answers there. */
static void ms_map_add_owned(ms_map_work *w, uint32_t function, uint64_t lo, uint64_t hi)
{
    while (lo < hi) {
        uint64_t end;
        MACHSYM_COUNT_WORK(1);
        ms_range range = ms_fn_range_at(&w->unit->functions, &w->unit->functions.blocks[function], lo);
        bool owned = ms_ans_owns(w->session, w->index, lo, &end);
        if (end > hi)
            end = hi;
        if (end > range.hi && range.hi > lo)
            end = range.hi; /* ranges that touch: each has a start of its own */
        if (owned)
            ms_map_add_function(w, &range, lo, end);
        lo = end;
        if (lo < hi && !ms_ans_spend(w->session, ms_MAP_STEP)) /* others' ranges may cut it very small */
            return;
    }
}

/* Encodes the functions, each with all its segments at once, in the order of their first. */
static void ms_map_add_functions(ms_map_work *w)
{
    const ms_fn_table *functions = &w->unit->functions;
    const ms_seg *segs = functions->segs;
    uint32_t *next = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->seg_count, sizeof *next);
    uint32_t *first = (uint32_t *)ms_arena_zeroed(&w->unit_arena, functions->count, sizeof *first);
    if (next == NULL || first == NULL)
        return;
    for (size_t i = functions->seg_count; i-- > 0;) { /* numbers plus 1; 0: none */
        if (segs[i].owner == ms_SEG_NONE)
            continue;
        next[i] = first[segs[i].owner];
        first[segs[i].owner] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i + 1 < functions->seg_count; i++) {
        uint32_t function = segs[i].owner;
        if (function == ms_SEG_NONE || first[function] != i + 1)
            continue;
        ms_map_begin_function(w, function);
        for (size_t j = i + 1; j != 0; j = next[j - 1])
            ms_map_add_owned(w, function, segs[j - 1].lo, segs[j].lo);
        ms_map_forget_chains(w);
    }
}

/* Encodes the lines of code that belongs to no function of its unit: assembly. */
static void ms_map_add_only_lines(ms_map_work *w)
{
    const ms_ln_table *lines = &w->unit->lines;
    const ms_fn_table *functions = &w->unit->functions;
    uint64_t from = 0;
    for (size_t i = 0; i < lines->seq_count; i++) {
        uint64_t lo = lines->seqs[i].lo > from ? lines->seqs[i].lo : from;
        for (from = lines->seqs[i].hi; lo < from;) {
            MACHSYM_COUNT_WORK(1);
            uint64_t end = ms_seg_until(functions->segs, functions->seg_count, lo);
            if (ms_seg_owner(functions->segs, functions->seg_count, lo) == ms_SEG_NONE) {
                if (!ms_ans_spend(w->session, ms_MAP_STEP))
                    return;
                uint64_t same;
                ms_ans_place place = ms_ans_find_span(w->session, lo, &same);
                end = same < end ? same : end;
                end = from < end ? from : end;
                if (place.unit == w->unit && ms_ans_has_line(w->session, &place))
                    ms_map_add_lines(w, lo, end, 0, true);
            }
            lo = end;
        }
        ms_map_flush(w->c, &w->queue);
    }
}

/* Makes room for the next unit. Other units that had to be asked who has some code stay as long as the cache
 * has room: they will be asked again. */
static void ms_map_trim(ms_map_work *w)
{
    machsym_session *s = w->session;
    const ms_ans_unit *last = s->decoded;
    bool asked_others = last != NULL && (last->next != NULL || last->index != w->index);
    if (!asked_others || s->cache.live > (size_t)ms_ANS_CACHE)
        ms_ans_drop_units(s);
    ms_arena_reset(&w->unit_arena);
}

static void ms_map_add_unit(ms_map_work *w, size_t index)
{
    machsym_session *s = w->session;
    ms_map_trim(w);
    s->budget +=
        2 * (s->env.v[index].end - s->env.v[index].off); /* for itself, and for gaps between functions */
    w->unit = ms_ans_unit_of(s, index);
    if (w->unit == NULL)
        return;
    const ms_fn_table *functions = &w->unit->functions;
    w->root = ms_cu_root_of(&s->env, index);
    w->index = index;
    w->rows.lines = NULL; /* the table of another unit may have lain where this one does */
    w->file_count = w->unit->lines.file_count + 1;
    w->files = (uint32_t *)ms_arena_zeroed(&w->unit_arena, w->file_count, sizeof *w->files);
    w->chains = (uint32_t *)ms_arena_zeroed(&w->unit_arena, functions->count, sizeof *w->chains);
    w->written = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->count, sizeof *w->written);
    w->depths = (uint32_t *)ms_arena_alloc(&w->unit_arena, functions->count, sizeof *w->depths);
    if (w->files == NULL || w->chains == NULL || w->written == NULL || w->depths == NULL)
        return;
    for (size_t i = 0; i < functions->count; i++) {
        uint32_t parent = functions->blocks[i].parent;
        w->depths[i] = parent == ms_SEG_NONE ? 0 : w->depths[parent] + 1;
    }
    ms_map_add_functions(w);
    ms_map_add_only_lines(w);
}

/* ---- Parts ---- */

/* Sets what so many bytes of units may cost beside themselves, so that all parts together stay in proportion
 * to the file: what they decode of others (out of all bytes) and how often they ask, and how long their texts
 * are. */
static void ms_map_set_budget(ms_map_work *w, uint64_t size, uint64_t all)
{
    w->session->budget = 16 * (size + (all < ms_MAP_UNIT_BYTES ? all : (uint64_t)ms_MAP_UNIT_BYTES));
    w->c->text_left = ((uint64_t)1 << 20) + 64 * size; /* file names may be the ends of one text */
}

/* Encodes units of the session in w. Returns false when memory is out. */
static bool ms_map_add_units(ms_map_work *w, machsym_part *part, uint64_t lo, uint64_t hi)
{
    bool ok = true;
    for (uint64_t i = lo; i < hi && ok; i++) {
        ms_map_add_unit(w, (size_t)i);
        ok = !w->scratch.failed && !w->unit_arena.failed && !ms_map_part_failed(part) &&
             !ms_ans_failed(w->session);
    }
    return ok;
}

/* Encodes the units of an object file; one that cannot be opened has none. Returns false when memory is
 * out. */
static bool ms_map_add_object(ms_map_work *w, machsym_part *part, size_t index)
{
    machsym_session *program = w->plan->session;
    machsym_object_status status;
    uint64_t time;
    if (program->objects->statuses[index] != MACHSYM_OBJECT_FOUND)
        return true;
    ms_ans_object *object = ms_ans_new_object(program, index, NULL, w->plan->allocator, &status, &time);
    if (object == NULL)
        return status != MACHSYM_OBJECT_UNTRIED;
    w->session = &object->session;
    ms_zero(&w->origins, sizeof w->origins); /* of entries in this object */
    w->origins.arena = &part->tables;
    ms_ans_index(w->session);
    ms_map_set_budget(w, object->image.dw.info.len, object->image.dw.info.len);
    bool ok = ms_map_add_units(w, part, 0, object->image.cu_count);
    ms_ans_close_object(object);
    w->session = NULL;
    return ok;
}

static bool ms_map_build_units(const machsym_plan *plan, const ms_map_task *task, machsym_part *part)
{
    ms_map_work w;
    ms_zero(&w, sizeof w);
    w.plan = plan;
    w.c = &part->coder;
    w.scratch = ms_arena_make(plan->allocator);
    w.unit_arena = ms_arena_make(plan->allocator);
    part->coder.spaces = &plan->spaces;
    part->coder.text_addr = plan->image->mo[0].text_addr;
    part->coder.columns = (plan->flags & MACHSYM_MAP_COLUMNS) != 0;
    part->coder.used =
        (uint8_t *)ms_arena_zeroed(&part->arena, (size_t)(plan->spaces.total / ms_MAP_BLOCK / 8 + 1), 1);
    w.origins.arena = &part->tables;
    bool ok = part->coder.used != NULL;
    for (uint64_t i = task->lo; i < task->hi && ok && task->kind == ms_MAP_OBJECTS; i++)
        ok = ms_map_add_object(&w, part, (size_t)i);
    if (ok && task->kind == ms_MAP_UNITS) {
        w.session = ms_map_session(plan);
        if (w.session != NULL)
            ms_map_set_budget(&w, task->size, plan->image->dw.info.len);
        ok = w.session != NULL && ms_map_add_units(&w, part, task->lo, task->hi);
    }
    if (ok)
        part->files_at = ms_map_end_part(&part->coder);
    if (w.session != NULL)
        ms_ans_close(w.session);
    ms_arena_free(&w.scratch);
    ms_arena_free(&w.unit_arena);
    ms_arena_free(&part->tables);
    return ok && !ms_map_part_failed(part);
}

static bool ms_map_build_text(const ms_map_spaces *spaces, const ms_map_dict *dict, const ms_map_task *task,
                              machsym_part *part)
{
    uint8_t raw[ms_MAP_BLOCK];
    uint8_t packed[2 * ms_MAP_BLOCK];
    size_t count = (size_t)(task->hi - task->lo);
    part->block_sizes = (uint32_t *)ms_arena_alloc(&part->arena, count, sizeof *part->block_sizes);
    for (size_t i = 0; i < count && part->block_sizes != NULL; i++) {
        ms_map_raw_block(spaces, task->lo + i, raw);
        size_t size = ms_map_pack(dict, raw, ms_MAP_BLOCK, packed);
        part->block_sizes[i] = (uint32_t)size;
        ms_map_put_bytes(&part->coder.data, packed, size);
    }
    return part->block_sizes != NULL && !part->data_arena.oom;
}

static void ms_map_free_part(machsym_part *part)
{
    ms_arena_free(&part->data_arena);
    ms_arena_free(&part->tables);
    ms_arena arena = part->arena; /* the part lies in its own arena */
    ms_arena_free(&arena);
}

static machsym_part *ms_map_new_part(machsym_allocator allocator, ms_map_kind kind)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_part *part = (machsym_part *)ms_arena_zeroed(&arena, 1, sizeof *part);
    if (part == NULL)
        return NULL;
    part->arena = arena;
    part->data_arena = ms_arena_make(allocator);
    part->tables = ms_arena_make(allocator);
    part->kind = kind;
    ms_map_coder_init(&part->coder, &part->data_arena, &part->arena, &part->tables);
    if (kind == ms_MAP_TEXT)
        part->coder.data.len = 0;
    return part;
}

static machsym_part *ms_map_build_part(const machsym_plan *plan, size_t index)
{
    const ms_map_task *task = &plan->tasks[index];
    machsym_part *part =
        ms_map_new_part(plan->allocator, task->kind == ms_MAP_TEXT ? ms_MAP_TEXT : ms_MAP_UNITS);
    if (part == NULL)
        return NULL;
    bool ok = task->kind == ms_MAP_TEXT ? ms_map_build_text(&plan->spaces, plan->dict, task, part)
                                        : ms_map_build_units(plan, task, part);
    if (ok)
        return part;
    ms_map_free_part(part);
    return NULL;
}

/* ---- Putting the parts together ---- */

/* A table of runs, by address, as it is put together. */
typedef struct ms_map_index {
    uint32_t *starts; /* from the text base; one more holds the end of the last run */
    uint32_t *at;     /* in DATA */
    size_t count;
} ms_map_index;

typedef struct ms_map_merge {
    machsym_allocator allocator;
    ms_arena arena;
    machsym_part **parts;
    size_t part_count;
    machsym_part *symbols; /* made here: what the debug info leaves open */
    uint64_t *bases;       /* by part: where its data begins in DATA, or its text in the packed blocks */
    uint64_t data_size;
    uint64_t text_addr;
    ms_map_run **order; /* runs with debug info, by address */
    uint32_t *order_part;
    size_t order_count;
    ms_map_index runs;
    ms_map_index symbol_runs;
    uint8_t *used;
    uint64_t block_count;
    uint64_t text_size; /* of all packed blocks in use */
    bool too_large;
} ms_map_merge;

/* Gathers the runs of all unit parts and sorts them by address. Runs below __TEXT are left out. */
static void ms_map_sort_runs(ms_map_merge *m)
{
    size_t total = 0;
    for (size_t i = 0; i < m->part_count; i++)
        total += m->parts[i]->coder.run_count;
    ms_key *keys = (ms_key *)ms_arena_alloc(&m->arena, total, sizeof *keys);
    ms_key *room = (ms_key *)ms_arena_alloc(&m->arena, total, sizeof *keys);
    m->order = (ms_map_run **)ms_arena_alloc(&m->arena, total, sizeof *m->order);
    m->order_part = (uint32_t *)ms_arena_alloc(&m->arena, total, sizeof *m->order_part);
    if (keys == NULL || room == NULL || m->order == NULL || m->order_part == NULL)
        return;
    size_t count = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        for (size_t j = 0; j < m->parts[i]->coder.run_count; j++) {
            keys[count].key = m->parts[i]->coder.runs[j].lo;
            keys[count++].item = (uint64_t)i << 32 | j;
        }
    }
    ms_sort(keys, count, room);
    for (size_t i = 0; i < count; i++) {
        size_t part = (size_t)(keys[i].item >> 32);
        ms_map_run *run = &m->parts[part]->coder.runs[keys[i].item & 0xffffffff];
        if (run->lo < m->text_addr)
            continue;
        m->too_large |= run->hi - m->text_addr > UINT32_MAX;
        m->order[m->order_count] = run;
        m->order_part[m->order_count++] = (uint32_t)part;
    }
}

/* Whether functions of the debug info have all of [lo, hi); *at moves on through the runs. */
static bool ms_map_is_covered(const ms_map_merge *m, size_t *at, uint64_t lo, uint64_t hi)
{
    while (*at < m->order_count && m->order[*at]->hi <= lo)
        ++*at;
    for (size_t i = *at; i < m->order_count && m->order[i]->lo <= lo && !m->order[i]->only_lines; i++) {
        MACHSYM_COUNT_WORK(1);
        lo = m->order[i]->hi > lo ? m->order[i]->hi : lo;
        if (lo >= hi)
            return true;
    }
    return false;
}

/* Makes runs of the symbols that the debug info does not cover. */
static void ms_map_add_symbols(ms_map_merge *m, const ms_sym_table *symbols)
{
    ms_map_coder *c = &m->symbols->coder;
    size_t at = 0;
    machsym_symbol symbol;
    for (size_t i = 0; i < symbols->count; i = ms_sym_next(symbols, i)) {
        ms_map_item item;
        ms_sym_get(symbols, i, &symbol);
        if (symbol.lo < m->text_addr || ms_map_is_covered(m, &at, symbol.lo, symbol.hi))
            continue;
        m->too_large |= symbol.hi - m->text_addr > UINT32_MAX;
        ms_zero(&item, sizeof item);
        item.lo = symbol.lo;
        item.hi = symbol.hi;
        uint32_t function = ms_map_function(c, symbol.name, ms_str_empty());
        item.chain = ms_map_root(c, symbol.source, function, true, symbol.lo, symbol.hi - symbol.lo);
        ms_map_put_run(c, &item, 1, false);
    }
    m->symbols->files_at = ms_map_end_part(c);
}

/* Places the data of unit parts and symbols one behind the other, and says which blocks of text are
 * needed. */
static void ms_map_lay_out(ms_map_merge *m)
{
    size_t used_len = (size_t)(m->block_count / 8 + 1);
    m->used = (uint8_t *)ms_arena_zeroed(&m->arena, used_len, 1);
    m->bases = (uint64_t *)ms_arena_zeroed(&m->arena, m->part_count + 1, sizeof *m->bases);
    if (m->used == NULL || m->bases == NULL)
        return;
    for (size_t i = 0; i <= m->part_count; i++) {
        const machsym_part *part = i < m->part_count ? m->parts[i] : m->symbols;
        if (part->kind != ms_MAP_UNITS)
            continue;
        m->bases[i] = m->data_size;
        m->data_size += part->coder.data.len;
        m->too_large |= part->coder.overflow;
        for (size_t j = 0; j < used_len && part->coder.used != NULL; j++)
            m->used[j] |= part->coder.used[j];
    }
    m->too_large |= m->data_size > UINT32_MAX - ms_MAP_MARGIN;
}

static void ms_map_index_alloc(ms_map_merge *m, ms_map_index *index, size_t count)
{
    index->starts = (uint32_t *)ms_arena_alloc(&m->arena, count + 1, sizeof *index->starts);
    index->at = (uint32_t *)ms_arena_alloc(&m->arena, count + 1, sizeof *index->at);
    index->count = index->starts != NULL && index->at != NULL ? count : 0;
}

static void ms_map_index_runs(ms_map_merge *m)
{
    const ms_map_coder *c = &m->symbols->coder;
    ms_map_index_alloc(m, &m->runs, m->order_count);
    ms_map_index_alloc(m, &m->symbol_runs, c->run_count);
    if (m->bases == NULL || m->arena.oom)
        return;
    for (size_t i = 0; i < m->runs.count; i++) {
        m->runs.starts[i] = (uint32_t)(m->order[i]->lo - m->text_addr);
        m->runs.at[i] = (uint32_t)(m->order[i]->at + m->bases[m->order_part[i]]);
    }
    for (size_t i = 0; i < m->symbol_runs.count; i++) {
        m->symbol_runs.starts[i] = (uint32_t)(c->runs[i].lo - m->text_addr);
        m->symbol_runs.at[i] = (uint32_t)(c->runs[i].at + m->bases[m->part_count]);
    }
}

/* ---- The file ---- */

/* A map file as it is written, table by table. */
typedef struct ms_map_file_out {
    uint8_t *v;
    size_t len;
    size_t cap;
    ms_map_head *head;
} ms_map_file_out;

static uint64_t ms_map_align(uint64_t at)
{
    return (at + 7) & ~(uint64_t)7;
}

static uint8_t *ms_map_begin_table(ms_map_file_out *out, unsigned table, uint64_t size)
{
    out->head->tables[table].lo = out->len;
    out->head->tables[table].hi = out->len + size;
    uint8_t *at = out->v + out->len;
    out->len = (size_t)ms_map_align(out->len + size);
    ms_zero(at + size, out->len - (size_t)out->head->tables[table].hi);
    return at;
}

static uint32_t ms_map_bucket_count(const ms_map_index *index, uint32_t shift)
{
    return index->count == 0 ? 0 : (index->starts[index->count - 1] >> shift) + 2;
}

/* So many bytes of text a bucket that a bucket has about four runs. */
static uint32_t ms_map_bucket_shift(const ms_map_index *index)
{
    uint32_t shift = 6;
    while (shift < 31 && index->count > 0 && (index->starts[index->count - 1] >> shift) > index->count / 4)
        shift++;
    return shift;
}

static void ms_map_write_index(ms_map_file_out *out, unsigned runs, const ms_map_index *index, uint32_t shift)
{
    uint8_t *p = ms_map_begin_table(out, runs, (uint64_t)index->count * 8);
    for (size_t i = 0; i < index->count; i++) {
        ms_map_store_u32(p + 8 * i, index->starts[i]);
        ms_map_store_u32(p + 8 * i + 4, index->at[i]);
    }
    uint32_t buckets = ms_map_bucket_count(index, shift);
    p = ms_map_begin_table(out, runs + 1, (uint64_t)buckets * 4);
    for (uint32_t bucket = 0, run = 0; bucket < buckets; bucket++) {
        while (run < index->count && index->starts[run] >> shift < bucket)
            run++;
        ms_map_store_u32(p + 4 * (size_t)bucket, run);
    }
}

static void ms_map_write_data(ms_map_merge *m, ms_map_file_out *out)
{
    size_t units = 0;
    for (size_t i = 0; i < m->part_count; i++)
        units += m->parts[i]->kind == ms_MAP_UNITS;
    uint8_t *table = ms_map_begin_table(out, ms_TABLE_PARTS, (uint64_t)(units + 1) * 8);
    uint8_t *data = ms_map_begin_table(out, ms_TABLE_DATA, m->data_size + ms_MAP_MARGIN);
    ms_zero(data + m->data_size, ms_MAP_MARGIN);
    for (size_t i = 0; i <= m->part_count; i++) {
        machsym_part *part = i < m->part_count ? m->parts[i] : m->symbols;
        if (part->kind != ms_MAP_UNITS)
            continue;
        ms_map_store_u32(table, (uint32_t)m->bases[i]);
        ms_map_store_u32(table + 4, (uint32_t)(m->bases[i] + part->files_at));
        table += 8;
        ms_copy(data + m->bases[i], part->coder.data.v, part->coder.data.len);
        ms_map_free_part(part);
        if (i < m->part_count)
            m->parts[i] = NULL;
        else
            m->symbols = NULL;
    }
}

static bool ms_map_block_used(const ms_map_merge *m, uint64_t block)
{
    return (m->used[block / 8] >> block % 8 & 1) != 0;
}

/* The packed blocks that something refers to; the others have no bytes. */
static void ms_map_write_text(ms_map_merge *m, ms_map_file_out *out)
{
    uint8_t *blocks = ms_map_begin_table(out, ms_TABLE_BLOCKS, (m->block_count + 1) * 4);
    uint8_t *text = ms_map_begin_table(out, ms_TABLE_TEXT, m->text_size);
    uint64_t block = 0;
    uint32_t to = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        const machsym_part *part = m->parts[i];
        if (part == NULL || part->kind != ms_MAP_TEXT)
            continue;
        size_t from = 0;
        size_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
        for (size_t j = 0; j < step && block < m->block_count; j++, block++) {
            ms_map_store_u32(blocks + 4 * block, to);
            if (ms_map_block_used(m, block)) {
                ms_copy(text + to, part->coder.data.v + from, part->block_sizes[j]);
                to += part->block_sizes[j];
            }
            from += part->block_sizes[j];
        }
    }
    ms_map_store_u32(blocks + 4 * block, to);
}

static void ms_map_size_text(ms_map_merge *m)
{
    uint64_t block = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        const machsym_part *part = m->parts[i];
        size_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
        for (size_t j = 0; part->kind == ms_MAP_TEXT && j < step && block < m->block_count; j++, block++)
            m->text_size += ms_map_block_used(m, block) ? part->block_sizes[j] : 0;
    }
    m->too_large |= m->text_size > UINT32_MAX;
}

static void ms_map_store_head(const ms_map_head *head, uint8_t *p)
{
    ms_zero(p, ms_MAP_HEAD);
    ms_copy(p, ms_MAP_MAGIC, 8);
    ms_map_store_u32(p + 8, head->version);
    ms_map_store_u32(p + 12, head->flags);
    ms_copy(p + 16, head->uuid.v, 16);
    ms_map_store_u32(p + 32, head->cputype);
    ms_map_store_u32(p + 36, head->cpusubtype);
    ms_map_store_u64(p + 40, head->text_addr);
    ms_map_store_u64(p + 48, head->text_size);
    ms_map_store_u32(p + 56, head->lines);
    ms_map_store_u32(p + 60, head->bucket_shift);
    ms_map_store_u64(p + 64, head->size);
    ms_map_store_u64(p + 72, head->checksum);
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++) {
        ms_map_store_u64(p + 80 + 16 * i, head->tables[i].lo);
        ms_map_store_u64(p + 88 + 16 * i, head->tables[i].hi);
    }
    ms_map_store_u64(p + 240, head->text_exec_addr);
    ms_map_store_u64(p + 248, head->code_size);
}

static void ms_map_load_head(const uint8_t *p, ms_map_head *head)
{
    head->version = ms_rd_raw_u32(p + 8);
    head->flags = ms_rd_raw_u32(p + 12);
    ms_copy(head->uuid.v, p + 16, 16);
    head->cputype = ms_rd_raw_u32(p + 32);
    head->cpusubtype = ms_rd_raw_u32(p + 36);
    head->text_addr = ms_rd_raw_u64(p + 40);
    head->text_size = ms_rd_raw_u64(p + 48);
    head->lines = ms_rd_raw_u32(p + 56);
    head->bucket_shift = ms_rd_raw_u32(p + 60);
    head->size = ms_rd_raw_u64(p + 64);
    head->checksum = ms_rd_raw_u64(p + 72);
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++) {
        head->tables[i].lo = ms_rd_raw_u64(p + 80 + 16 * i);
        head->tables[i].hi = ms_rd_raw_u64(p + 88 + 16 * i);
    }
    head->text_exec_addr = ms_rd_raw_u64(p + 240);
    head->code_size = ms_rd_raw_u64(p + 248);
}

/* The checksum counts its own field as zero. */
static uint64_t ms_map_sum_of(ms_span bytes)
{
    uint8_t head[ms_MAP_HEAD];
    ms_copy(head, bytes.ptr, ms_MAP_HEAD);
    ms_map_store_u64(head + 72, 0);
    uint64_t sum = ms_map_checksum(ms_span_make(head, ms_MAP_HEAD));
    return sum ^ ms_map_checksum(ms_span_from(bytes, ms_MAP_HEAD));
}

static void ms_map_set_tables(machsym_map *map)
{
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++)
        map->tables[i] =
            ms_span_sub(map->bytes, map->head.tables[i].lo, map->head.tables[i].hi - map->head.tables[i].lo);
    ms_span data = map->tables[ms_TABLE_DATA];
    map->records = ms_span_make(data.ptr, data.len < ms_MAP_MARGIN ? 0 : data.len - ms_MAP_MARGIN);
}

/* Writes the whole file into one piece of memory. Takes the parts apart on the way. */
static machsym_map *ms_map_write(ms_map_merge *m, ms_map_head *head, machsym_str name,
                                 const ms_map_dict *dict)
{
    uint64_t size = ms_MAP_HEAD + ms_map_align(name.len) + ms_map_align((uint64_t)(m->part_count + 1) * 8);
    head->bucket_shift = ms_map_bucket_shift(m->runs.count > 0 ? &m->runs : &m->symbol_runs);
    size += ms_map_align((uint64_t)m->runs.count * 8) + ms_map_align((uint64_t)m->symbol_runs.count * 8);
    size += ms_map_align((uint64_t)ms_map_bucket_count(&m->runs, head->bucket_shift) * 4);
    size += ms_map_align((uint64_t)ms_map_bucket_count(&m->symbol_runs, head->bucket_shift) * 4);
    size += ms_map_align(dict->len) + ms_map_align((m->block_count + 1) * 4);
    size += ms_map_align(m->data_size + ms_MAP_MARGIN) + ms_map_align(m->text_size);
    machsym_map *map = (machsym_map *)m->allocator.alloc(m->allocator.user, sizeof *map);
    uint8_t *memory = (uint8_t *)m->allocator.alloc(m->allocator.user, (size_t)size);
    if (map == NULL || memory == NULL) {
        if (map != NULL)
            m->allocator.free(m->allocator.user, map, sizeof *map);
        if (memory != NULL)
            m->allocator.free(m->allocator.user, memory, (size_t)size);
        return NULL;
    }
    ms_map_file_out out = {memory, ms_MAP_HEAD, (size_t)size, head};
    ms_zero(map, sizeof *map);
    ms_copy(ms_map_begin_table(&out, ms_TABLE_NAME, name.len), name.ptr, name.len);
    ms_map_write_index(&out, ms_TABLE_RUNS, &m->runs, head->bucket_shift);
    ms_map_write_index(&out, ms_TABLE_SYMBOL_RUNS, &m->symbol_runs, head->bucket_shift);
    ms_copy(ms_map_begin_table(&out, ms_TABLE_DICT, dict->len), dict->text, dict->len);
    ms_map_write_text(m, &out);
    ms_map_write_data(m, &out);
    head->size = out.len;
    head->checksum = 0;
    ms_map_store_head(head, memory);
    head->checksum = ms_map_sum_of(ms_span_make(memory, out.len));
    ms_map_store_head(head, memory);
    map->allocator = m->allocator;
    map->memory = memory;
    map->memory_size = (size_t)size;
    map->bytes = ms_span_make(memory, out.len);
    map->head = *head;
    ms_map_set_tables(map);
    return map;
}

static machsym_result ms_map_finish(ms_map_merge *m, ms_map_head *head, machsym_str name,
                                    const ms_map_dict *dict, const ms_sym_table *symbols, machsym_map **out,
                                    machsym_error *err)
{
    ms_map_sort_runs(m);
    if (symbols != NULL && !m->arena.oom)
        ms_map_add_symbols(m, symbols);
    ms_map_lay_out(m);
    if (!m->arena.oom) {
        ms_map_size_text(m);
        ms_map_index_runs(m);
    }
    if (m->too_large)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds 4 GB of text and of data at most", "", 0);
    if (m->arena.oom || ms_map_part_failed(m->symbols))
        return ms_fail_memory(err);
    *out = ms_map_write(m, head, name, dict);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

/* ---- Lookup ---- */

static uint32_t ms_map_u32_at(ms_span table, uint64_t index)
{
    return ms_rd_raw_u32(table.ptr + 4 * index);
}

/* A number of a record, of ten bytes at most: wherever one may begin, ms_MAP_MARGIN bytes can be read. It is where
 * lookups spend their time. */
static inline uint64_t ms_map_get(const uint8_t **at)
{
    const uint8_t *p = *at;
    MACHSYM_COUNT_WORK(1);
    uint64_t number = p[0] & 0x7fu;
    if (p[0] < 0x80) {
        *at = p + 1;
        return number;
    }
    number |= (uint64_t)(p[1] & 0x7fu) << 7;
    if (p[1] < 0x80) {
        *at = p + 2;
        return number;
    }
    size_t len = 2;
    do {
        number |= (uint64_t)(p[len] & 0x7fu) << 7 * len;
    } while (p[len++] >= 0x80 && len < 10);
    *at = p + len;
    return number;
}

/* Has a run come into the cache, and what stands before it: nine of ten chains stand there. */
static void ms_map_fetch_record(const machsym_map *map, uint64_t at)
{
    ms_span data = map->tables[ms_TABLE_DATA];
    for (unsigned line = 0; line < 4 && at < data.len && 64 * line <= at; line++)
        ms_fetch(data.ptr + (at - 64 * line));
}

/* A range found, and what it says. */
typedef struct ms_map_hit {
    uint64_t lo; /* from the text base */
    uint64_t hi;
    uint32_t chain; /* in DATA; 0: lines only */
    ms_map_line line;
    uint64_t run; /* its run's place in DATA */
} ms_map_hit;

/* The last run that starts at or below off; the number of runs when there is none. */
static uint64_t ms_map_run_at(const machsym_map *map, unsigned runs, uint64_t off)
{
    ms_span table = map->tables[runs];
    ms_span buckets = map->tables[runs + 1];
    uint64_t count = table.len / 8;
    uint64_t bucket_count = buckets.len / 4;
    uint64_t bucket = off >> map->head.bucket_shift;
    if (count == 0 || bucket_count < 2)
        return count;
    if (bucket > bucket_count - 2)
        bucket = bucket_count - 2;
    uint64_t lo = ms_map_u32_at(buckets, bucket);
    uint64_t hi = ms_map_u32_at(buckets, bucket + 1);
    if (bucket == bucket_count - 2 || hi > count)
        hi = count;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (ms_rd_raw_u32(table.ptr + 8 * mid) <= off)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo == 0 || lo > count ? count : lo - 1;
}

/* Decodes the run until the range that holds off. Returns false when the run ends before, or is damaged. */
static bool ms_map_in_run(const machsym_map *map, uint64_t start, uint64_t at, uint64_t off, ms_map_hit *hit)
{
    if (at >= map->records.len)
        return false;
    const uint8_t *p = map->records.ptr + at;
    const uint8_t *end = map->records.ptr + map->records.len;
    bool columns = (map->head.flags & MACHSYM_MAP_COLUMNS) != 0;
    uint64_t count = ms_map_get(&p);
    uint64_t lo = start;
    uint64_t distance = 0;
    uint64_t file = 0;
    uint64_t line = 0;
    uint64_t column = 0;
    for (uint64_t i = 0; i < count && i < ms_MAP_RUN_MAX && p < end; i++) {
        MACHSYM_COUNT_WORK(1);
        uint64_t hi = lo + ms_map_get(&p);
        uint64_t what = ms_map_get(&p);
        line += (uint64_t)ms_map_unzigzag(what >> 2);
        if ((what & 1) != 0)
            distance = ms_map_get(&p);
        if ((what & 2) != 0)
            file = ms_map_get(&p);
        if (columns)
            column = ms_map_get(&p);
        if (off < hi) {
            hit->lo = lo;
            hit->hi = hi;
            hit->chain = distance == 0 || distance > at ? 0 : (uint32_t)(at - distance);
            hit->line.file = (uint32_t)file;
            hit->line.line = (uint32_t)line;
            hit->line.column = (uint32_t)column;
            hit->run = at;
            return hi <= UINT32_MAX;
        }
        if (hi < lo)
            return false;
        lo = hi;
    }
    return false;
}

static bool ms_map_find(const machsym_map *map, unsigned runs, uint64_t off, ms_map_hit *hit)
{
    uint64_t run = ms_map_run_at(map, runs, off);
    ms_span table = map->tables[runs];
    if (run >= table.len / 8)
        return false;
    uint64_t start = ms_map_u32_at(table, 2 * run);
    uint64_t at = ms_map_u32_at(table, 2 * run + 1);
    ms_map_fetch_record(map, at);
    return start <= off && ms_map_in_run(map, start, at, off, hit);
}

/* Plain text: its length, then its bytes. */
static machsym_str ms_map_plain_at(ms_span data, uint64_t at)
{
    ms_rd rd = ms_rd_at(data, at);
    ms_span text = ms_rd_span(&rd, ms_rd_uleb(&rd));
    return ms_str_make((const char *)text.ptr, text.len);
}

static machsym_str ms_map_plain_ref(ms_span data, uint64_t record, uint64_t ref)
{
    return (ref & 1) == 0 || ref >> 1 > record ? ms_str_empty() : ms_map_plain_at(data, record - (ref >> 1));
}

/* The file table of a part. */
typedef struct ms_map_files {
    uint64_t base;    /* of the part, in DATA */
    const uint8_t *v; /* u32: file i at v + 4 * i */
    uint64_t count;
} ms_map_files;

/* The files of the part that a record lies in. */
static ms_map_files ms_map_files_of(const machsym_map *map, uint64_t record)
{
    ms_span parts = map->tables[ms_TABLE_PARTS];
    ms_span data = map->records;
    ms_map_files files = {0, NULL, 0};
    uint64_t lo = 0;
    for (uint64_t left = parts.len / 8; left > 1;) { /* without branches that nobody can predict */
        uint64_t half = left / 2;
        lo += ms_map_u32_at(parts, 2 * (lo + half)) <= record ? half : 0;
        left -= half;
    }
    if (parts.len < 8 || ms_map_u32_at(parts, 2 * lo) > record)
        return files;
    uint64_t at = ms_map_u32_at(parts, 2 * lo + 1);
    if (at >= data.len)
        return files;
    files.base = ms_map_u32_at(parts, 2 * lo);
    files.v = data.ptr + at;
    files.count = ms_rd_raw_u32(files.v);
    if (files.count > (data.len - at) / 4) /* the margin makes up for the count itself */
        files.count = (data.len - at) / 4;
    return files;
}

/* Sets a frame's line, and where its FILE record stands. */
static inline void ms_map_set_line(const ms_map_files *files, const ms_map_line *line, machsym_frame *frame)
{
    frame->line = line->line;
    frame->column = line->column;
    frame->file_ref = 0;
    if ((uint64_t)line->file - 1 < files->count)
        frame->file_ref = (uint32_t)(files->base + ms_rd_raw_u32(files->v + 4 * (uint64_t)line->file));
    if (line->line != 0 || frame->file_ref != 0)
        frame->line_source = MACHSYM_SOURCE_DWARF;
}

/* The file of a FILE record. */
static void ms_map_set_file(const machsym_map *map, machsym_frame *frame)
{
    ms_span data = map->tables[ms_TABLE_DATA];
    ms_rd rd = ms_rd_at(data, frame->file_ref);
    frame->file.comp_dir = ms_map_plain_ref(data, frame->file_ref, ms_rd_uleb(&rd));
    frame->file.dir = ms_map_plain_ref(data, frame->file_ref, ms_rd_uleb(&rd));
    frame->file.name = ms_map_plain_ref(data, frame->file_ref, ms_rd_uleb(&rd));
}

/* A CHAIN record. */
typedef struct ms_map_link {
    uint64_t caller; /* 0: this is the concrete function */
    uint32_t function;
    machsym_source source;
    ms_map_line call;
    uint64_t start; /* of the concrete function, from the text base */
    uint64_t size;
} ms_map_link;

static bool ms_map_read_link(const machsym_map *map, uint64_t at, ms_map_link *link)
{
    if (at >= map->records.len)
        return false;
    const uint8_t *p = map->records.ptr + at;
    uint64_t what = ms_map_get(&p);
    uint64_t function = ms_map_get(&p);
    uint64_t a = ms_map_get(&p);
    uint64_t b = ms_map_get(&p);
    link->function = function == 0 || function > at ? 0 : (uint32_t)(at - function);
    if ((what & 1) != 0) {
        uint64_t distance = what >> 2;
        link->caller = distance == 0 || distance >= at ? 0 : at - distance;
        link->source = (what & 2) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
        link->call.file = (uint32_t)a;
        link->call.line = (uint32_t)b;
        link->call.column = (map->head.flags & MACHSYM_MAP_COLUMNS) != 0 ? (uint32_t)ms_map_get(&p) : 0;
        link->start = link->size = 0;
        return link->caller != 0;
    }
    link->caller = 0;
    link->call.file = link->call.line = link->call.column = 0;
    link->source = (machsym_source)(what >> 1 < MACHSYM_SOURCE_COUNT ? what >> 1 : 0);
    link->start = a;
    link->size = b;
    return true;
}

/* The frames of a chain. Callers stand below what they call, so the walk ends; no frames when it is too long. */
static size_t ms_map_chain_frames(const machsym_map *map, const ms_map_hit *hit, machsym_frame *frames,
                                  size_t cap)
{
    ms_map_link link;
    ms_map_line line = hit->line;
    size_t count = 0;
    uint64_t at = hit->chain;
    machsym_frame blank; /* copying one is several times faster than clearing one */
    ms_zero(&blank, sizeof blank);
    ms_map_files files = ms_map_files_of(map, hit->run);
    do {
        MACHSYM_COUNT_WORK(1);
        if (count == ms_MAP_LINKS || !ms_map_read_link(map, at, &link))
            return 0;
        if (count < cap) {
            machsym_frame *frame = &frames[count];
            *frame = blank;
            frame->is_inline = link.caller != 0;
            frame->name_ref = link.function;
            frame->name_source = link.source;
            ms_map_set_line(&files, &line, frame);
        }
        line = link.call;
        at = link.caller;
        count++;
    } while (at != 0);
    for (size_t i = 0; i < count && i < cap; i++) {
        frames[i].function_start = map->head.text_addr + link.start;
        frames[i].function_size = link.size;
    }
    return count;
}

static size_t ms_map_frames(const machsym_map *map, uint64_t addr, machsym_frame *frames, size_t cap)
{
    ms_map_hit hit;
    ms_map_hit symbol;
    uint64_t off = addr - map->head.text_addr;
    if (addr < map->head.text_addr || off > UINT32_MAX)
        return 0;
    bool found = ms_map_find(map, ms_TABLE_RUNS, off, &hit);
    if (found && hit.chain != 0)
        return ms_map_chain_frames(map, &hit, frames, cap);
    size_t count = ms_map_find(map, ms_TABLE_SYMBOL_RUNS, off, &symbol) && symbol.chain != 0
                       ? ms_map_chain_frames(map, &symbol, frames, cap)
                       : 0;
    if (!found)
        return count;
    ms_map_files files = ms_map_files_of(map, hit.run);
    if (cap > 0 && count == 0)
        ms_zero(frames, sizeof *frames);
    if (cap > 0)
        ms_map_set_line(&files, &hit.line, frames);
    return 1;
}

/* ---- Names ---- */

/* The block of text unpacked last, or its beginning. */
typedef struct ms_map_page {
    uint64_t block; /* number + 1; 0: none */
    size_t len;
    uint8_t v[ms_MAP_BLOCK + 16];
} ms_map_page;

/* Unpacks a block so far that want bytes of it are there. Returns false when they are not. */
static bool ms_map_turn_to(const machsym_map *map, uint64_t block, size_t want, ms_map_page *page)
{
    ms_span blocks = map->tables[ms_TABLE_BLOCKS];
    if (page->block == block + 1 && page->len >= want)
        return true;
    if (block >= blocks.len / 4 || block + 1 >= blocks.len / 4)
        return false;
    uint32_t lo = ms_map_u32_at(blocks, block);
    uint32_t hi = ms_map_u32_at(blocks, block + 1);
    ms_span packed = hi > lo ? ms_span_sub(map->tables[ms_TABLE_TEXT], lo, hi - lo) : ms_span_make(NULL, 0);
    page->block = block + 1;
    page->len = ms_map_unpack(map->tables[ms_TABLE_DICT], packed, page->v, want);
    return page->len >= want;
}

/* Copies the text at a place in the spaces to out. Returns its length, even if it is more than cap; 0 when it
 * is longer than any name. */
static size_t ms_map_packed_text(const machsym_map *map, uint64_t place, ms_map_page *page, char *out,
                                 size_t cap)
{
    size_t len = 0;
    bool ended = false;
    size_t ahead = 128; /* most names end within so many bytes; only the others need the whole block */
    while (!ended && len <= MACHSYM_MAX_TEXT) {
        size_t at = (size_t)(place % ms_MAP_BLOCK);
        size_t want = ahead < ms_MAP_BLOCK - at ? at + ahead : (size_t)ms_MAP_BLOCK;
        if (!ms_map_turn_to(map, place / ms_MAP_BLOCK, want, page))
            break;
        MACHSYM_COUNT_WORK(1 + want / 64);
        machsym_str piece = ms_str_bounded((const char *)page->v + at, page->len - at);
        ended = at + piece.len < page->len;
        ahead = ms_MAP_BLOCK;
        if (!ended && page->len < ms_MAP_BLOCK)
            continue;
        if (len < cap)
            ms_copy(out + len, piece.ptr, piece.len < cap - len ? piece.len : cap - len);
        len += piece.len;
        place += piece.len;
        if (len > MACHSYM_MAX_TEXT)
            return 0;
    }
    return len <= MACHSYM_MAX_TEXT ? len : 0;
}

/* What a FUNCTION record refers to; 0 where there is no text, and without a record. */
typedef struct ms_map_refs {
    uint64_t linkage_name;
    uint64_t name;
} ms_map_refs;

static inline ms_map_refs ms_map_refs_of(const machsym_map *map, uint64_t record)
{
    ms_map_refs refs = {0, 0};
    if (record == 0 || record >= map->records.len)
        return refs;
    const uint8_t *p = map->records.ptr + record;
    refs.linkage_name = ms_map_get(&p);
    refs.name = ms_map_get(&p);
    return refs;
}

/* Gives one name of a FUNCTION record: a view of the map, or of text behind *used. */
static machsym_str ms_map_name(const machsym_map *map, uint64_t record, uint64_t ref, ms_map_page *page,
                               char *text, size_t cap, size_t *used)
{
    if ((ref & 1) != 0)
        return ms_map_plain_ref(map->tables[ms_TABLE_DATA], record, ref);
    size_t room = *used < cap ? cap - *used : 0;
    char *to = room > 0 ? text + *used : NULL;
    size_t len = ms_map_packed_text(map, (ref >> 1) - 1, page, to, room);
    *used += len;
    return len <= room ? ms_str_make(to, len) : ms_str_empty();
}

static size_t ms_map_names(const machsym_map *map, machsym_frame *frames, size_t count, char *text,
                           size_t cap)
{
    ms_map_page
        linkage_page; /* of its own: names that follow each other lie apart from their linkage names */
    ms_map_page page;
    size_t used = 0;
    linkage_page.block = page.block = 0;
    for (size_t i = 0; i < count; i++) {
        if (frames[i].file_ref != 0)
            ms_map_set_file(map, &frames[i]);
        uint64_t record = frames[i].name_ref;
        ms_map_refs refs = ms_map_refs_of(map, record);
        if (refs.linkage_name != 0)
            frames[i].linkage_name =
                ms_map_name(map, record, refs.linkage_name, &linkage_page, text, cap, &used);
        if (refs.name != 0)
            frames[i].name = ms_map_name(map, record, refs.name, &page, text, cap, &used);
    }
    return used;
}

/* ---- Names that were unpacked before ---- */

enum { ms_MAP_FILES_KEPT = 256 };

struct machsym_names {
    const machsym_map *map;
    ms_arena arena;      /* of this and of pages */
    ms_arena cache;      /* of what can be dropped */
    ms_map_page **pages; /* by block; NULL: not unpacked */
    size_t page_count;
    uint32_t file_refs[ms_MAP_FILES_KEPT]; /* by a hash of it, what a FILE record says; 0: none */
    machsym_path files[ms_MAP_FILES_KEPT];
};

static void ms_map_kept_file(machsym_names *names, machsym_frame *frame)
{
    size_t slot = (frame->file_ref * 2654435761u) >> 24;
    if (names->file_refs[slot] != frame->file_ref) {
        ms_map_set_file(names->map, frame);
        names->file_refs[slot] = frame->file_ref;
        names->files[slot] = frame->file;
    }
    frame->file = names->files[slot];
}

static machsym_names *ms_map_open_names(const machsym_map *map, machsym_allocator allocator)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_names *names = (machsym_names *)ms_arena_zeroed(&arena, 1, sizeof *names);
    size_t page_count = map->tables[ms_TABLE_BLOCKS].len / 4;
    ms_map_page **pages = (ms_map_page **)ms_arena_zeroed(&arena, page_count, sizeof *pages);
    if (names == NULL || pages == NULL) {
        ms_arena_free(&arena);
        return NULL;
    }
    names->map = map;
    names->pages = pages;
    names->page_count = page_count;
    names->cache = ms_arena_make(allocator);
    names->arena = arena;
    return names;
}

static void ms_map_close_names(machsym_names *names)
{
    ms_arena arena = names->arena; /* the object lies in it */
    ms_arena_free(&names->cache);
    ms_arena_free(&arena);
}

/* What is unpacked of a block from a byte on; empty when the block is damaged or there is none. */
static machsym_str ms_map_unpacked(machsym_names *names, uint64_t block, size_t at)
{
    if (block >= names->page_count)
        return ms_str_empty();
    ms_map_page *page = names->pages[block];
    if (page == NULL) {
        page = (ms_map_page *)ms_arena_alloc(&names->cache, 1, sizeof *page);
        if (page == NULL)
            return ms_str_empty();
        page->block = page->len = 0;
        ms_map_turn_to(names->map, block, ms_MAP_BLOCK, page);
        names->pages[block] = page;
    }
    return page->len <= at ? ms_str_empty() : ms_str_make((const char *)page->v + at, page->len - at);
}

/* Copies a text that runs on into other blocks. */
static machsym_str ms_map_long_text(machsym_names *names, uint64_t place)
{
    size_t len = 0;
    size_t cap = 0;
    char *v = NULL;
    while (len <= MACHSYM_MAX_TEXT) {
        machsym_str rest = ms_map_unpacked(names, place / ms_MAP_BLOCK, (size_t)(place % ms_MAP_BLOCK));
        machsym_str piece = ms_str_bounded(rest.ptr, rest.len);
        if (piece.len == 0)
            return ms_str_make(v, len);
        while (piece.len > cap - len) {
            char *more = (char *)ms_arena_double(&names->cache, v, len, &cap, 1);
            if (more == NULL)
                return ms_str_empty();
            v = more;
        }
        ms_copy(v + len, piece.ptr, piece.len);
        len += piece.len;
        place += piece.len;
        if (piece.len < rest.len)
            return ms_str_make(v, len);
    }
    return ms_str_empty();
}

static machsym_str ms_map_kept_name(machsym_names *names, uint64_t record, uint64_t ref)
{
    if ((ref & 1) != 0)
        return ms_map_plain_ref(names->map->tables[ms_TABLE_DATA], record, ref);
    uint64_t place = (ref >> 1) - 1;
    machsym_str rest = ms_map_unpacked(names, place / ms_MAP_BLOCK, (size_t)(place % ms_MAP_BLOCK));
    machsym_str text = ms_str_bounded(rest.ptr, rest.len);
    return text.len < rest.len ? text : ms_map_long_text(names, place);
}

static void ms_map_trim_names(machsym_names *names, size_t limit)
{
    if (names->cache.live <= limit)
        return;
    ms_arena_reset(&names->cache);
    ms_zero(names->pages, names->page_count * sizeof *names->pages);
}

static bool ms_map_get_names(machsym_names *names, machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (frames[i].file_ref != 0)
            ms_map_kept_file(names, &frames[i]);
        ms_map_refs refs = ms_map_refs_of(names->map, frames[i].name_ref);
        if (refs.linkage_name != 0)
            frames[i].linkage_name = ms_map_kept_name(names, frames[i].name_ref, refs.linkage_name);
        if (refs.name != 0)
            frames[i].name = ms_map_kept_name(names, frames[i].name_ref, refs.name);
    }
    bool ok = !names->cache.oom;
    names->cache.oom = false;
    return ok;
}

/* ---- Ranges ---- */

/* Where the next run starts; UINT64_MAX behind the last. */
static uint64_t ms_map_next_start(const machsym_map *map, unsigned runs, uint64_t off)
{
    ms_span table = map->tables[runs];
    uint64_t run = ms_map_run_at(map, runs, off);
    run = run == table.len / 8 ? 0 : run + 1;
    uint64_t start = run < table.len / 8 ? ms_map_u32_at(table, 2 * run) : UINT64_MAX;
    return start > off ? start : UINT64_MAX; /* a table out of order ends here */
}

static bool ms_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out)
{
    ms_map_hit hit;
    while (at->a <= UINT32_MAX) {
        uint64_t off = at->a;
        uint64_t next = ms_map_next_start(map, ms_TABLE_RUNS, off);
        bool found = ms_map_find(map, ms_TABLE_RUNS, off, &hit);
        out->is_symbol = !found;
        if (!found && ms_map_find(map, ms_TABLE_SYMBOL_RUNS, off, &hit)) {
            found = true;
            hit.hi = hit.hi < next ? hit.hi : next;
        }
        if (found) {
            out->lo = map->head.text_addr + off;
            out->hi = map->head.text_addr + hit.hi;
            at->a = hit.hi;
            return true;
        }
        uint64_t symbol = ms_map_next_start(map, ms_TABLE_SYMBOL_RUNS, off);
        at->a = next < symbol ? next : symbol;
    }
    return false;
}

/* ---- Writing range by range ---- */

struct machsym_writer {
    machsym_allocator allocator;
    machsym_part *parts[2]; /* with debug info; symbols */
    ms_map_buf texts;       /* names of both */
    ms_arena text_arena;    /* only ever holds them */
    ms_map_queue queue;
    machsym_map_info info;
    uint64_t end[2];    /* of the last range of each */
    ms_map_hash chains; /* caller's record and site, or function and start, to their CHAIN record */
    ms_map_hash sites;  /* called function, file, line and column to a number */
    ms_arena arena;
};

/* The CHAIN record of a concrete function, written once for every start. Returns 0 when memory is out. */
static uint32_t ms_map_writer_root(machsym_writer *w, ms_map_coder *c, const machsym_frame *frame)
{
    uint32_t function = ms_map_function(c, frame->linkage_name, frame->name);
    bool named = frame->linkage_name.len != 0 || frame->name.len != 0;
    uint64_t kind = (c == &w->parts[1]->coder ? (uint64_t)1 << 33 : 0) | (uint64_t)1 << 32;
    ms_map_slot *slot = ms_map_hash_get(&w->chains, kind | function, frame->function_start);
    if (slot != NULL && slot->value == 0)
        slot->value =
            ms_map_root(c, frame->name_source, function, named, frame->function_start, frame->function_size);
    return slot == NULL ? 0 : slot->value;
}

/* The CHAIN record of a call from the frame behind it. */
static uint32_t ms_map_writer_call(machsym_writer *w, ms_map_coder *c, const machsym_frame *frame,
                                   uint32_t caller)
{
    const machsym_frame *from = frame + 1;
    ms_map_line call = {ms_map_file(c, &from->file), from->line, c->columns ? from->column : 0};
    uint32_t function = ms_map_function(c, frame->linkage_name, frame->name);
    ms_map_slot *site = ms_map_hash_get(&w->sites, (uint64_t)call.file << 32 | call.line,
                                        (uint64_t)call.column << 32 | function);
    if (site == NULL)
        return 0;
    if (site->value == 0)
        site->value = (uint32_t)w->sites.count;
    ms_map_slot *slot = ms_map_hash_get(&w->chains, site->value, caller);
    if (slot != NULL && slot->value == 0)
        slot->value = ms_map_call(c, caller, frame->name_source, function, &call);
    return slot == NULL ? 0 : slot->value;
}

static machsym_result ms_map_writer_add(machsym_writer *w, const machsym_map_range *range,
                                        const machsym_frame *frames, size_t count, machsym_error *err)
{
    unsigned which = range->is_symbol ? 1 : 0;
    ms_map_coder *c = &w->parts[which]->coder;
    ms_map_item item;
    if (range->lo >= range->hi || range->lo < w->end[which] || range->lo < w->info.text_addr || count == 0)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "ranges must ascend, lie above the text base and have a frame", "", range->lo);
    if (count > ms_MAP_LINKS)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds chains of 4096 frames at most", "", range->lo);
    if (range->hi - w->info.text_addr > UINT32_MAX)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds 4 GB of text and of data at most", "", range->lo);
    ms_zero(&item, sizeof item);
    item.lo = range->lo;
    item.hi = w->end[which] = range->hi;
    item.line.file = ms_map_file(c, &frames[0].file);
    item.line.line = frames[0].line;
    item.line.column = c->columns ? frames[0].column : 0;
    item.chain = ms_map_writer_root(w, c, &frames[count - 1]);
    for (size_t i = count - 1; i-- > 0;)
        item.chain = ms_map_writer_call(w, c, &frames[i], item.chain);
    if (w->arena.oom || w->text_arena.oom || ms_map_part_failed(w->parts[which]))
        return ms_fail_memory(err);
    if (range->is_symbol)
        ms_map_put_run(c, &item, 1, false);
    else
        ms_map_add(c, &w->queue, &item, false);
    return MACHSYM_OK;
}

/* Hands all parts over to a merge, with the kept names packed behind them. Returns false when memory is out. */
static bool ms_map_writer_pack(machsym_writer *w, ms_map_merge *m, ms_map_dict *dict)
{
    ms_map_spaces spaces;
    size_t step = ms_MAP_TEXT_BYTES / ms_MAP_BLOCK;
    ms_zero(&spaces, sizeof spaces);
    spaces.v[0] = ms_span_make(w->texts.v, w->texts.len);
    spaces.total = ((uint64_t)w->texts.len + ms_MAP_BLOCK - 1) / ms_MAP_BLOCK * ms_MAP_BLOCK;
    m->block_count = spaces.total / ms_MAP_BLOCK;
    uint64_t pieces = w->texts.len / ms_MAP_PER_SAMPLE;
    uint64_t most = ms_MAP_DICT / ms_MAP_SAMPLE;
    ms_map_fill_dict(&spaces, pieces < most ? pieces : most, dict);
    m->parts = (machsym_part **)ms_arena_zeroed(&m->arena, 1 + ((size_t)m->block_count + step - 1) / step,
                                                sizeof(machsym_part *));
    uint8_t *used = (uint8_t *)ms_arena_zeroed(&w->arena, (size_t)(m->block_count / 8 + 1), 1);
    if (m->parts == NULL || used == NULL)
        return false;
    for (uint64_t i = 0; i < m->block_count; i++)
        used[i / 8] |= (uint8_t)(1u << i % 8);
    w->parts[0]->coder.used = used;
    m->symbols = w->parts[1];
    m->parts[m->part_count++] = w->parts[0];
    w->parts[0] = w->parts[1] = NULL; /* the merge has them */
    for (uint64_t lo = 0; lo < m->block_count; lo += step) {
        uint64_t hi = lo + step < m->block_count ? lo + step : m->block_count;
        ms_map_task task = {ms_MAP_TEXT, lo, hi, (hi - lo) * ms_MAP_BLOCK};
        machsym_part *part = ms_map_new_part(w->allocator, ms_MAP_TEXT);
        m->parts[m->part_count++] = part;
        if (part == NULL || !ms_map_build_text(&spaces, dict, &task, part))
            return false;
    }
    return true;
}

/* ==== >>names ==============================================================================================
 * Job:    turns mangled names into source form, one switch per language.
 * Uses:   bytes.
 * Offers: ms_dm, ms_dm_run.
 * Never:  allocates; reads outside the name; recurses past its depth limit; prints part of a name. */

typedef struct ms_dm {
    const char *s;      /* the mangled name */
    size_t len;         /* its length */
    size_t at;          /* reading position */
    uint32_t flags;     /* machsym_demangle_flags */
    char *out;          /* may be NULL when cap is 0 */
    size_t cap;         /* room in out; bytes past it are counted but not stored */
    size_t out_len;     /* bytes printed so far */
    size_t out_limit;   /* the output budget: printing past it sets failed */
    size_t work;        /* steps left: every node made, visited or re-read costs one; 0 sets failed */
    unsigned depth;     /* recursion depth now */
    bool failed;        /* sticky: not a mangled name of this language, or a budget is spent */
    bool no_mem;        /* scratch ran out: the caller tries once more with a larger one */
    unsigned char *mem; /* scratch for nodes, 16-byte aligned */
    size_t mem_len;
    size_t mem_used;
} ms_dm;

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) || !defined(MACHSYM_NO_CXX) ||                   \
    !defined(MACHSYM_NO_D)
/* Appends to the output; the one place that stores. */
static void ms_dm_put(ms_dm *d, const char *ptr, size_t len)
{
    if (len > d->out_limit - d->out_len) {
        d->failed = true;
        return;
    }
    if (d->out_len < d->cap) {
        size_t room = d->cap - d->out_len;
        ms_copy(d->out + d->out_len, ptr, len < room ? len : room);
    }
    d->out_len += len;
}
#endif

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) || !defined(MACHSYM_NO_CXX)
/* Takes size bytes of scratch, 16-byte aligned; NULL and no_mem when it is used up. */
static void *ms_dm_alloc(ms_dm *d, size_t size)
{
    size_t need = (size + 15u) & ~(size_t)15u;
    if (need < size || need > d->mem_len - d->mem_used) {
        d->no_mem = true;
        d->failed = true;
        return NULL;
    }
    d->mem_used += need;
    return d->mem + (d->mem_used - need);
}
#endif

#ifndef MACHSYM_NO_SWIFT
/* Swift: mangled names of Swift 4 and later ($s, $S, $e, _T0, @__swiftmacro_) and of Swift 1 to 3 (_T, _Tt)
 * become one kind of tree, which one printer writes in the full or the simplified style.
 * Mangling.rst and OldMangling.rst of the Swift project define the grammar; the names below are theirs. */

/* A reference to a node: its place in the scratch in units of 16 bytes, 0 for none. The top bit says "as a
 * type": Swift's own tools wrap such a node in a node of its own, which would double the memory. */
#define ms_DMSW_AS_TYPE 0x80000000u

enum {
    ms_DMSW_MAX_WORDS = 26,    /* Identifiers: at most 26 words can be substituted */
    ms_DMSW_MAX_REPEAT = 2048, /* more repeats of one substitution than any compiler writes */
    ms_DMSW_MAX_DEPTH = 256    /* levels of nesting; a level takes 200 to 450 bytes of stack */
};

/* Internal styles beside machsym_demangle_flags. */
enum {
    ms_DMSW_NO_ASYNC = 1u << 24, /* leave out "(1) suspend resume partial function for " */
    ms_DMSW_NO_SUGAR = 1u << 25  /* Swift.Optional<A> for A? */
};

/* How a kind is printed, when its row in the table is enough. */
enum ms_dmsw_how {
    ms_DMSW_H_TEXT,   /* the row's text */
    ms_DMSW_H_FIRST,  /* the row's text and the first child */
    ms_DMSW_H_ALL,    /* the row's text and all children */
    ms_DMSW_H_OWN,    /* the node's text */
    ms_DMSW_H_NAMED,  /* a declaration: context, dot, name */
    ms_DMSW_H_PART,   /* a declaration without a name: context, dot, the row's text */
    ms_DMSW_H_ACCESS, /* an accessor: the storage, dot, the row's text */
    ms_DMSW_H_CODE    /* code in ms_dmsw_print_special */
};

enum ms_dmsw_trait {
    ms_DMSW_T_NONE = 0,
    ms_DMSW_T_CONTEXT = 1u << 0,     /* can hold declarations */
    ms_DMSW_T_NAME = 1u << 1,        /* a declaration's name */
    ms_DMSW_T_ATTR = 1u << 2,        /* says something about the whole function */
    ms_DMSW_T_SIMPLE = 1u << 3,      /* a type that needs no parentheses before ? or .Type */
    ms_DMSW_T_NOMINAL = 1u << 4,     /* any generic type */
    ms_DMSW_T_REQ = 1u << 5,         /* a generic requirement */
    ms_DMSW_T_MACRO = 1u << 6,       /* a macro expansion */
    ms_DMSW_T_CONF = 1u << 7,        /* any-protocol-conformance */
    ms_DMSW_T_DEPCONF = 1u << 8,     /* dependent-protocol-conformance */
    ms_DMSW_T_ISOLATION = 1u << 9,   /* function-isolation */
    ms_DMSW_T_FUNCTION = 1u << 10,   /* a function type that is printed without a space before it */
    ms_DMSW_T_EXISTENTIAL = 1u << 11 /* its metatype is .Protocol */
};

#define ms_DMSW_C  ms_DMSW_T_CONTEXT
#define ms_DMSW_CN (ms_DMSW_T_CONTEXT | ms_DMSW_T_NOMINAL | ms_DMSW_T_SIMPLE)
#define ms_DMSW_S  ms_DMSW_T_SIMPLE
#define ms_DMSW_0  ms_DMSW_T_NONE
#define ms_DMSW_A  ms_DMSW_T_ATTR
#define ms_DMSW_CM (ms_DMSW_T_CONTEXT | ms_DMSW_T_MACRO)
#define ms_DMSW_CF (ms_DMSW_T_CONF | ms_DMSW_T_DEPCONF)

/* kind, how, traits, text */
/* clang-format off */
#define ms_DMSW_KINDS(K) \
    K(None, TEXT, ms_DMSW_0, "") \
    K(Type, CODE, ms_DMSW_0, "") \
    K(Global, ALL, ms_DMSW_0, "") \
    K(Suffix, CODE, ms_DMSW_0, "") \
    K(EmptyList, TEXT, ms_DMSW_0, " empty-list ") \
    K(FirstElementMarker, TEXT, ms_DMSW_0, " first-element-marker ") \
    K(VariadicMarker, TEXT, ms_DMSW_0, " variadic-marker ") \
    K(Index, CODE, ms_DMSW_0, "") \
    K(UnknownIndex, TEXT, ms_DMSW_0, "unknown index") \
    K(Identifier, OWN, ms_DMSW_T_NAME, "") \
    K(InfixOperator, CODE, ms_DMSW_T_NAME, " infix") \
    K(PrefixOperator, CODE, ms_DMSW_T_NAME, " prefix") \
    K(PostfixOperator, CODE, ms_DMSW_T_NAME, " postfix") \
    K(LocalDeclName, CODE, ms_DMSW_T_NAME, "") \
    K(PrivateDeclName, CODE, ms_DMSW_T_NAME, "") \
    K(RelatedEntityDeclName, CODE, ms_DMSW_T_NAME, "") \
    K(Module, CODE, ms_DMSW_C, "") \
    K(Extension, CODE, ms_DMSW_C, "") \
    K(AnonymousContext, CODE, ms_DMSW_C, "") \
    K(Class, NAMED, ms_DMSW_CN, "") \
    K(Structure, NAMED, ms_DMSW_CN, "") \
    K(Enum, NAMED, ms_DMSW_CN, "") \
    K(Protocol, NAMED, ms_DMSW_CN, "") \
    K(OtherNominalType, NAMED, ms_DMSW_CN, "") \
    K(TypeAlias, NAMED, ms_DMSW_CN, "") \
    K(Function, CODE, ms_DMSW_C, "") \
    K(BoundGenericFunction, CODE, ms_DMSW_0, "") \
    K(Variable, CODE, ms_DMSW_C, "") \
    K(Subscript, CODE, ms_DMSW_C, "subscript") \
    K(Macro, CODE, ms_DMSW_C, "") \
    K(GenericTypeParamDecl, NAMED, ms_DMSW_0, "") \
    K(ExplicitClosure, CODE, ms_DMSW_C, "closure #") \
    K(ImplicitClosure, CODE, ms_DMSW_C, "implicit closure #") \
    K(Initializer, PART, ms_DMSW_C, "variable initialization expression") \
    K(DefaultArgumentInitializer, CODE, ms_DMSW_C, "default argument ") \
    K(PropertyWrapperBackingInitializer, PART, ms_DMSW_C, "property wrapper backing initializer") \
    K(PropertyWrapperInitFromProjectedValue, PART, ms_DMSW_C, "property wrapper init from projected value") \
    K(PropertyWrappedFieldInitAccessor, PART, ms_DMSW_C, "property wrapped field init accessor") \
    K(Allocator, CODE, ms_DMSW_C, "init") \
    K(Constructor, CODE, ms_DMSW_C, "init") \
    K(Destructor, PART, ms_DMSW_C, "deinit") \
    K(Deallocator, CODE, ms_DMSW_C, "__deallocating_deinit") \
    K(IsolatedDeallocator, CODE, ms_DMSW_C, "__isolated_deallocating_deinit") \
    K(IVarInitializer, PART, ms_DMSW_C, "__ivar_initializer") \
    K(IVarDestroyer, PART, ms_DMSW_C, "__ivar_destroyer") \
    K(Static, FIRST, ms_DMSW_C, "static ") \
    K(Getter, ACCESS, ms_DMSW_C, "getter") \
    K(GlobalGetter, ACCESS, ms_DMSW_C, "getter") \
    K(Setter, ACCESS, ms_DMSW_C, "setter") \
    K(MaterializeForSet, ACCESS, ms_DMSW_C, "materializeForSet") \
    K(WillSet, ACCESS, ms_DMSW_C, "willset") \
    K(DidSet, ACCESS, ms_DMSW_C, "didset") \
    K(ReadAccessor, ACCESS, ms_DMSW_C, "read") \
    K(Read2Accessor, ACCESS, ms_DMSW_C, "read2") \
    K(ModifyAccessor, ACCESS, ms_DMSW_C, "modify") \
    K(Modify2Accessor, ACCESS, ms_DMSW_C, "modify2") \
    K(BorrowAccessor, ACCESS, ms_DMSW_C, "borrow") \
    K(MutateAccessor, ACCESS, ms_DMSW_C, "mutate") \
    K(InitAccessor, ACCESS, ms_DMSW_C, "init") \
    K(OwningAddressor, ACCESS, ms_DMSW_C, "owningAddressor") \
    K(OwningMutableAddressor, ACCESS, ms_DMSW_C, "owningMutableAddressor") \
    K(NativeOwningAddressor, ACCESS, ms_DMSW_C, "nativeOwningAddressor") \
    K(NativeOwningMutableAddressor, ACCESS, ms_DMSW_C, "nativeOwningMutableAddressor") \
    K(NativePinningAddressor, ACCESS, ms_DMSW_C, "nativePinningAddressor") \
    K(NativePinningMutableAddressor, ACCESS, ms_DMSW_C, "nativePinningMutableAddressor") \
    K(UnsafeAddressor, ACCESS, ms_DMSW_C, "unsafeAddressor") \
    K(UnsafeMutableAddressor, ACCESS, ms_DMSW_C, "unsafeMutableAddressor") \
    K(RuntimeAttributeGenerator, FIRST, ms_DMSW_0, "runtime attribute generator of ") \
    K(FreestandingMacroExpansion, CODE, ms_DMSW_CM, "freestanding macro expansion #") \
    K(AccessorAttachedMacroExpansion, CODE, ms_DMSW_CM, "accessor macro @") \
    K(MemberAttributeAttachedMacroExpansion, CODE, ms_DMSW_CM, "memberAttribute macro @") \
    K(MemberAttachedMacroExpansion, CODE, ms_DMSW_CM, "member macro @") \
    K(PeerAttachedMacroExpansion, CODE, ms_DMSW_CM, "peer macro @") \
    K(ConformanceAttachedMacroExpansion, CODE, ms_DMSW_CM, "conformance macro @") \
    K(ExtensionAttachedMacroExpansion, CODE, ms_DMSW_CM, "extension macro @") \
    K(PreambleAttachedMacroExpansion, CODE, ms_DMSW_CM, "preamble macro @") \
    K(BodyAttachedMacroExpansion, CODE, ms_DMSW_CM, "body macro @") \
    K(MacroExpansionUniqueName, CODE, ms_DMSW_CM, "unique name #") \
    K(MacroExpansionLoc, CODE, ms_DMSW_CM, "") \
    K(LabelList, TEXT, ms_DMSW_S, "") \
    K(TypeList, ALL, ms_DMSW_S, "") \
    K(TypeMangling, CODE, ms_DMSW_0, "") \
    /* types: ms_dmsw_print_special knows them by their place in this list */ \
    K(BuiltinTypeName, OWN, ms_DMSW_S, "") \
    K(BuiltinTupleType, TEXT, ms_DMSW_S, "Builtin.TheTupleType") \
    K(BuiltinFixedArray, CODE, ms_DMSW_S, "Builtin.FixedArray<") \
    K(BuiltinBorrow, CODE, ms_DMSW_S, "Builtin.Borrow<") \
    K(FunctionType, CODE, ms_DMSW_T_FUNCTION, "") \
    K(NoEscapeFunctionType, CODE, ms_DMSW_T_FUNCTION, "") \
    K(UncurriedFunctionType, CODE, ms_DMSW_T_FUNCTION, "") \
    K(AutoClosureType, CODE, ms_DMSW_0, "@autoclosure ") \
    K(EscapingAutoClosureType, CODE, ms_DMSW_0, "@autoclosure ") \
    K(ThinFunctionType, CODE, ms_DMSW_0, "@convention(thin) ") \
    K(CFunctionPointer, CODE, ms_DMSW_0, "@convention(c") \
    K(ObjCBlock, CODE, ms_DMSW_0, "@convention(block") \
    K(EscapingObjCBlock, CODE, ms_DMSW_0, "@escaping @convention(block") \
    K(ClangType, OWN, ms_DMSW_0, "") \
    K(ArgumentTuple, CODE, ms_DMSW_0, "") \
    K(ReturnType, ALL, ms_DMSW_S, "") \
    K(ThrowsAnnotation, TEXT, ms_DMSW_0, " throws") \
    K(TypedThrowsAnnotation, CODE, ms_DMSW_0, " throws(") \
    K(AsyncAnnotation, TEXT, ms_DMSW_0, " async") \
    K(ConcurrentFunctionType, TEXT, ms_DMSW_0, "@Sendable ") \
    K(SendingResultFunctionType, TEXT, ms_DMSW_0, "sending ") \
    K(GlobalActorFunctionType, CODE, ms_DMSW_T_ISOLATION, "@") \
    K(IsolatedAnyFunctionType, TEXT, ms_DMSW_T_ISOLATION, "@isolated(any) ") \
    K(NonIsolatedCallerFunctionType, TEXT, ms_DMSW_T_ISOLATION, "nonisolated(nonsending) ") \
    K(DifferentiableFunctionType, CODE, ms_DMSW_0, "@differentiable") \
    K(Tuple, CODE, ms_DMSW_S, "(") \
    K(TupleElement, CODE, ms_DMSW_0, "") \
    K(TupleElementName, CODE, ms_DMSW_S, "") \
    K(Pack, CODE, ms_DMSW_S, "Pack{") \
    K(SILPackDirect, CODE, ms_DMSW_S, "@direct Pack{") \
    K(SILPackIndirect, CODE, ms_DMSW_S, "@indirect Pack{") \
    K(PackExpansion, FIRST, ms_DMSW_0, "repeat ") \
    K(PackElement, CODE, ms_DMSW_0, "/* level: ") \
    K(Weak, FIRST, ms_DMSW_0, "weak ") \
    K(Unowned, FIRST, ms_DMSW_0, "unowned ") \
    K(Unmanaged, FIRST, ms_DMSW_0, "unowned(unsafe) ") \
    K(InOut, FIRST, ms_DMSW_0, "inout ") \
    K(Isolated, FIRST, ms_DMSW_0, "isolated ") \
    K(Sending, FIRST, ms_DMSW_0, "sending ") \
    K(CompileTimeLiteral, FIRST, ms_DMSW_0, "_const ") \
    K(ConstValue, FIRST, ms_DMSW_0, "@const ") \
    K(Shared, FIRST, ms_DMSW_0, "__shared ") \
    K(Owned, FIRST, ms_DMSW_0, "__owned ") \
    K(NoDerivative, FIRST, ms_DMSW_0, "@noDerivative ") \
    K(BoundGenericClass, CODE, ms_DMSW_S, "") \
    K(BoundGenericStructure, CODE, ms_DMSW_S, "") \
    K(BoundGenericEnum, CODE, ms_DMSW_S, "") \
    K(BoundGenericProtocol, CODE, ms_DMSW_S, "") \
    K(BoundGenericOtherNominalType, CODE, ms_DMSW_S, "") \
    K(BoundGenericTypeAlias, CODE, ms_DMSW_S, "") \
    K(DynamicSelf, TEXT, ms_DMSW_S, "Self") \
    K(SILBoxType, FIRST, ms_DMSW_S, "@box ") \
    K(SILBoxTypeWithLayout, CODE, ms_DMSW_S, "") \
    K(SILBoxLayout, CODE, ms_DMSW_0, "{") \
    K(SILBoxMutableField, FIRST, ms_DMSW_0, "var ") \
    K(SILBoxImmutableField, FIRST, ms_DMSW_0, "let ") \
    K(Metatype, CODE, ms_DMSW_S, "") \
    K(ExistentialMetatype, CODE, ms_DMSW_S | ms_DMSW_T_EXISTENTIAL, "") \
    K(MetatypeRepresentation, OWN, ms_DMSW_S, "") \
    K(ConstrainedExistential, CODE, ms_DMSW_0, "any ") \
    K(ConstrainedExistentialRequirementList, CODE, ms_DMSW_S, "") \
    K(ConstrainedExistentialSelf, TEXT, ms_DMSW_S, "Self") \
    K(ExtendedExistentialTypeShape, CODE, ms_DMSW_0, "existential shape for ") \
    K(ProtocolList, CODE, ms_DMSW_T_EXISTENTIAL, "") \
    K(ProtocolListWithClass, CODE, ms_DMSW_T_EXISTENTIAL, "") \
    K(ProtocolListWithAnyObject, CODE, ms_DMSW_T_EXISTENTIAL, "") \
    K(AssociatedTypeRef, CODE, ms_DMSW_S, "") \
    K(ErrorType, TEXT, ms_DMSW_S, "<ERROR TYPE>") \
    K(DependentGenericParamType, CODE, ms_DMSW_S, "") \
    K(DependentGenericType, CODE, ms_DMSW_S, "") \
    K(DependentMemberType, CODE, ms_DMSW_S, "") \
    K(DependentAssociatedTypeRef, CODE, ms_DMSW_0, "") \
    K(AssocTypePath, CODE, ms_DMSW_0, "") \
    K(Integer, CODE, ms_DMSW_S, "") \
    K(NegativeInteger, CODE, ms_DMSW_S, "-") \
    K(SugaredOptional, CODE, ms_DMSW_S, "") \
    K(SugaredArray, CODE, ms_DMSW_S, "[") \
    K(SugaredDictionary, CODE, ms_DMSW_S, "[") \
    K(SugaredInlineArray, CODE, ms_DMSW_S, "[") \
    K(SugaredParen, CODE, ms_DMSW_S, "(") \
    K(OpaqueReturnType, TEXT, ms_DMSW_0, "some") \
    K(OpaqueReturnTypeOf, CODE, ms_DMSW_C, "<<opaque return type of ") \
    K(OpaqueType, CODE, ms_DMSW_0, "") \
    /* generic signatures */ \
    K(DependentGenericSignature, CODE, ms_DMSW_0, "") \
    K(DependentPseudogenericSignature, CODE, ms_DMSW_0, "") \
    K(DependentGenericParamCount, TEXT, ms_DMSW_0, "") \
    K(DependentGenericParamPackMarker, TEXT, ms_DMSW_T_REQ, "") \
    K(DependentGenericParamValueMarker, TEXT, ms_DMSW_T_REQ, "") \
    K(DependentGenericConformanceRequirement, CODE, ms_DMSW_T_REQ, ": ") \
    K(DependentGenericSameTypeRequirement, CODE, ms_DMSW_T_REQ, " == ") \
    K(DependentGenericSameShapeRequirement, CODE, ms_DMSW_T_REQ, ".shape == ") \
    K(DependentGenericInverseConformanceRequirement, CODE, ms_DMSW_T_REQ, ": ~Swift.") \
    K(DependentGenericLayoutRequirement, CODE, ms_DMSW_T_REQ, ": ") \
    /* implementation function types */ \
    K(ImplFunctionType, CODE, ms_DMSW_0, "") \
    K(ImplEscaping, TEXT, ms_DMSW_0, "@escaping") \
    K(ImplErasedIsolation, TEXT, ms_DMSW_0, "@isolated(any)") \
    K(ImplNonIsolated, TEXT, ms_DMSW_0, "nonisolated(nonsending)") \
    K(ImplCalledOnce, TEXT, ms_DMSW_0, "@called(atMostOnce)") \
    K(ImplSendingResult, TEXT, ms_DMSW_0, "sending") \
    K(ImplDifferentiabilityKind, CODE, ms_DMSW_0, "@differentiable") \
    K(ImplConvention, OWN, ms_DMSW_0, "") \
    K(ImplFunctionConvention, CODE, ms_DMSW_0, "@convention(") \
    K(ImplFunctionAttribute, OWN, ms_DMSW_0, "") \
    K(ImplParameter, CODE, ms_DMSW_0, "") \
    K(ImplResult, CODE, ms_DMSW_0, "") \
    K(ImplYield, CODE, ms_DMSW_0, "@yields ") \
    K(ImplErrorResult, CODE, ms_DMSW_0, "@error ") \
    K(ImplPatternSubstitutions, TEXT, ms_DMSW_0, "") \
    K(ImplInvocationSubstitutions, TEXT, ms_DMSW_0, "") \
    /* conformances */ \
    K(ProtocolConformance, CODE, ms_DMSW_0, "") \
    K(ConcreteProtocolConformance, CODE, ms_DMSW_T_CONF, "concrete protocol conformance ") \
    K(PackProtocolConformance, ALL, ms_DMSW_T_CONF, "pack protocol conformance ") \
    K(DependentProtocolConformanceRoot, CODE, ms_DMSW_CF, "dependent root protocol conformance ") \
    K(DependentProtocolConformanceInherited, CODE, ms_DMSW_CF, "dependent inherited protocol conformance ") \
    K(DependentProtocolConformanceAssociated, CODE, ms_DMSW_CF, \
      "dependent associated protocol conformance ") \
    K(DependentProtocolConformanceOpaque, CODE, ms_DMSW_CF, "opaque result conformance ") \
    K(DependentAssociatedConformance, ALL, ms_DMSW_0, "dependent associated conformance ") \
    K(ProtocolConformanceRefInTypeModule, ALL, ms_DMSW_0, "protocol conformance ref (type's module) ") \
    K(ProtocolConformanceRefInProtocolModule, ALL, ms_DMSW_0, \
      "protocol conformance ref (protocol's module) ") \
    K(ProtocolConformanceRefInOtherModule, ALL, ms_DMSW_0, "protocol conformance ref (retroactive) ") \
    K(AnyProtocolConformanceList, CODE, ms_DMSW_0, "") \
    K(RetroactiveConformance, ALL, ms_DMSW_0, "retroactive @ ") \
    /* attributes of whole functions */ \
    K(ObjCAttribute, TEXT, ms_DMSW_A, "@objc ") \
    K(NonObjCAttribute, TEXT, ms_DMSW_A, "@nonobjc ") \
    K(DynamicAttribute, TEXT, ms_DMSW_A, "dynamic ") \
    K(DirectMethodReferenceAttribute, TEXT, ms_DMSW_A, "super ") \
    K(VTableAttribute, TEXT, ms_DMSW_A, "override ") \
    K(PartialApplyForwarder, CODE, ms_DMSW_A, "partial apply forwarder") \
    K(PartialApplyObjCForwarder, CODE, ms_DMSW_A, "partial apply ObjC forwarder") \
    K(OutlinedVariable, CODE, ms_DMSW_A, "outlined variable #") \
    K(OutlinedReadOnlyObject, CODE, ms_DMSW_A, "outlined read-only object #") \
    K(OutlinedBridgedMethod, CODE, ms_DMSW_A, "outlined bridged method (") \
    K(MergedFunction, CODE, ms_DMSW_A, "merged ") \
    K(DistributedThunk, CODE, ms_DMSW_A, "distributed thunk ") \
    K(DistributedAccessor, CODE, ms_DMSW_A, "distributed accessor for ") \
    K(DynamicallyReplaceableFunctionKey, CODE, ms_DMSW_A, "dynamically replaceable key for ") \
    K(DynamicallyReplaceableFunctionImpl, CODE, ms_DMSW_A, "dynamically replaceable thunk for ") \
    K(DynamicallyReplaceableFunctionVar, CODE, ms_DMSW_A, "dynamically replaceable variable for ") \
    K(AsyncFunctionPointer, TEXT, ms_DMSW_A, "async function pointer to ") \
    K(CoroFunctionPointer, TEXT, ms_DMSW_A, "coro function pointer to ") \
    K(DefaultOverride, TEXT, ms_DMSW_A, "default override of ") \
    K(AsyncAwaitResumePartialFunction, CODE, ms_DMSW_A, ") await resume partial function for ") \
    K(AsyncSuspendResumePartialFunction, CODE, ms_DMSW_A, ") suspend resume partial function for ") \
    K(AccessibleFunctionRecord, CODE, ms_DMSW_A, "accessible function runtime record for ") \
    K(BackDeploymentThunk, CODE, ms_DMSW_A, "back deployment thunk for ") \
    K(BackDeploymentFallback, TEXT, ms_DMSW_A, "back deployment fallback for ") \
    K(HasSymbolQuery, TEXT, ms_DMSW_A, "#_hasSymbol query for ") \
    K(GenericSpecialization, CODE, ms_DMSW_A, "generic specialization") \
    K(GenericSpecializationInResilienceDomain, CODE, ms_DMSW_A, "generic specialization") \
    K(GenericSpecializationPrespecialized, CODE, ms_DMSW_A, "generic pre-specialization") \
    K(GenericSpecializationNotReAbstracted, CODE, ms_DMSW_A, "generic not re-abstracted specialization") \
    K(InlinedGenericFunction, CODE, ms_DMSW_A, "inlined generic function") \
    K(GenericPartialSpecialization, CODE, ms_DMSW_A, "generic partial specialization") \
    K(GenericPartialSpecializationNotReAbstracted, CODE, ms_DMSW_A, \
      "generic not-reabstracted partial specialization") \
    K(FunctionSignatureSpecialization, CODE, ms_DMSW_A, "function signature specialization") \
    K(GenericSpecializationParam, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParam, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationReturn, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParamKind, CODE, ms_DMSW_0, "") \
    K(FunctionSignatureSpecializationParamPayload, CODE, ms_DMSW_0, "") \
    K(SpecializationPassID, CODE, ms_DMSW_0, "") \
    K(IsSerialized, TEXT, ms_DMSW_0, "serialized") \
    /* thunks */ \
    K(CurryThunk, FIRST, ms_DMSW_0, "curry thunk of ") \
    K(SILThunkIdentity, FIRST, ms_DMSW_0, "identity thunk of ") \
    K(SILThunkHopToMainActorIfNeeded, FIRST, ms_DMSW_0, "hop to main actor thunk of ") \
    K(DispatchThunk, FIRST, ms_DMSW_0, "dispatch thunk of ") \
    K(MethodDescriptor, FIRST, ms_DMSW_0, "method descriptor for ") \
    K(VTableThunk, CODE, ms_DMSW_0, "vtable thunk for ") \
    K(ProtocolWitness, CODE, ms_DMSW_0, "protocol witness for ") \
    K(ProtocolSelfConformanceWitness, FIRST, ms_DMSW_0, "protocol self-conformance witness for ") \
    K(ReabstractionThunk, CODE, ms_DMSW_0, "reabstraction thunk ") \
    K(ReabstractionThunkHelper, CODE, ms_DMSW_0, "reabstraction thunk helper ") \
    K(ReabstractionThunkHelperWithSelf, CODE, ms_DMSW_0, "reabstraction thunk ") \
    K(ReabstractionThunkHelperWithGlobalActor, CODE, ms_DMSW_0, "") \
    K(ObjCAsyncCompletionHandlerImpl, CODE, ms_DMSW_0, "@objc completion handler block implementation for ") \
    K(PredefinedObjCAsyncCompletionHandlerImpl, CODE, ms_DMSW_0, \
      "predefined @objc completion handler block implementation for ") \
    K(KeyPathGetterThunkHelper, CODE, ms_DMSW_0, "key path getter for ") \
    K(KeyPathSetterThunkHelper, CODE, ms_DMSW_0, "key path setter for ") \
    K(KeyPathUnappliedMethodThunkHelper, CODE, ms_DMSW_0, "key path unapplied method ") \
    K(KeyPathAppliedMethodThunkHelper, CODE, ms_DMSW_0, "key path applied method ") \
    K(KeyPathEqualsThunkHelper, CODE, ms_DMSW_0, "key path index equality operator for ") \
    K(KeyPathHashThunkHelper, CODE, ms_DMSW_0, "key path index hash operator for ") \
    K(CoroutineContinuationPrototype, FIRST, ms_DMSW_0, "coroutine continuation prototype for ") \
    K(AutoDiffFunction, CODE, ms_DMSW_C, "") \
    K(AutoDiffDerivativeVTableThunk, CODE, ms_DMSW_0, "vtable thunk for ") \
    K(AutoDiffSelfReorderingReabstractionThunk, CODE, ms_DMSW_0, \
      "autodiff self-reordering reabstraction thunk ") \
    K(AutoDiffSubsetParametersThunk, CODE, ms_DMSW_0, "autodiff subset parameters thunk for ") \
    K(AutoDiffFunctionKind, CODE, ms_DMSW_0, "") \
    K(DifferentiabilityWitness, CODE, ms_DMSW_0, "") \
    K(IndexSubset, CODE, ms_DMSW_0, "{") \
    /* metadata and witness tables */ \
    K(TypeMetadata, FIRST, ms_DMSW_0, "type metadata for ") \
    K(FullTypeMetadata, FIRST, ms_DMSW_0, "full type metadata for ") \
    K(GenericTypeMetadataPattern, FIRST, ms_DMSW_0, "generic type metadata pattern for ") \
    K(TypeMetadataAccessFunction, FIRST, ms_DMSW_0, "type metadata accessor for ") \
    K(TypeMetadataLazyCache, FIRST, ms_DMSW_0, "lazy cache variable for type metadata for ") \
    K(TypeMetadataCompletionFunction, FIRST, ms_DMSW_0, "type metadata completion function for ") \
    K(TypeMetadataInstantiationFunction, FIRST, ms_DMSW_0, "type metadata instantiation function for ") \
    K(TypeMetadataInstantiationCache, FIRST, ms_DMSW_0, "type metadata instantiation cache for ") \
    K(TypeMetadataSingletonInitializationCache, FIRST, ms_DMSW_0, \
      "type metadata singleton initialization cache for ") \
    K(TypeMetadataDemanglingCache, FIRST, ms_DMSW_0, "demangling cache variable for type metadata for ") \
    K(TypeMetadataMangledNameRef, FIRST, ms_DMSW_0, "mangled name ref for type metadata for ") \
    K(Metaclass, FIRST, ms_DMSW_0, "metaclass for ") \
    K(NominalTypeDescriptor, FIRST, ms_DMSW_0, "nominal type descriptor for ") \
    K(NominalTypeDescriptorRecord, FIRST, ms_DMSW_0, "nominal type descriptor runtime record for ") \
    K(OpaqueTypeDescriptor, FIRST, ms_DMSW_0, "opaque type descriptor for ") \
    K(OpaqueTypeDescriptorRecord, FIRST, ms_DMSW_0, "opaque type descriptor runtime record for ") \
    K(OpaqueTypeDescriptorAccessor, FIRST, ms_DMSW_0, "opaque type descriptor accessor for ") \
    K(OpaqueTypeDescriptorAccessorImpl, FIRST, ms_DMSW_0, "opaque type descriptor accessor impl for ") \
    K(OpaqueTypeDescriptorAccessorKey, FIRST, ms_DMSW_0, "opaque type descriptor accessor key for ") \
    K(OpaqueTypeDescriptorAccessorVar, FIRST, ms_DMSW_0, "opaque type descriptor accessor var for ") \
    K(MethodLookupFunction, FIRST, ms_DMSW_0, "method lookup function for ") \
    K(ObjCMetadataUpdateFunction, FIRST, ms_DMSW_0, "ObjC metadata update function for ") \
    K(ObjCResilientClassStub, FIRST, ms_DMSW_0, "ObjC resilient class stub for ") \
    K(FullObjCResilientClassStub, FIRST, ms_DMSW_0, "full ObjC resilient class stub for ") \
    K(ModuleDescriptor, FIRST, ms_DMSW_0, "module descriptor ") \
    K(ExtensionDescriptor, FIRST, ms_DMSW_0, "extension descriptor ") \
    K(AnonymousDescriptor, FIRST, ms_DMSW_0, "anonymous descriptor ") \
    K(AssociatedTypeGenericParamRef, ALL, ms_DMSW_0, "generic parameter reference for associated type ") \
    K(ProtocolDescriptor, FIRST, ms_DMSW_0, "protocol descriptor for ") \
    K(ProtocolDescriptorRecord, FIRST, ms_DMSW_0, "protocol descriptor runtime record for ") \
    K(ProtocolConformanceDescriptor, FIRST, ms_DMSW_0, "protocol conformance descriptor for ") \
    K(ProtocolConformanceDescriptorRecord, FIRST, ms_DMSW_0, \
      "protocol conformance descriptor runtime record for ") \
    K(ProtocolSelfConformanceDescriptor, FIRST, ms_DMSW_0, "protocol self-conformance descriptor for ") \
    K(ProtocolRequirementsBaseDescriptor, FIRST, ms_DMSW_0, "protocol requirements base descriptor for ") \
    K(ClassMetadataBaseOffset, FIRST, ms_DMSW_0, "class metadata base offset for ") \
    K(PropertyDescriptor, FIRST, ms_DMSW_0, "property descriptor for ") \
    K(MetadataInstantiationCache, FIRST, ms_DMSW_0, "metadata instantiation cache for ") \
    K(NoncanonicalSpecializedGenericTypeMetadata, FIRST, ms_DMSW_0, \
      "noncanonical specialized generic type metadata for ") \
    K(NoncanonicalSpecializedGenericTypeMetadataCache, FIRST, ms_DMSW_0, \
      "cache variable for noncanonical specialized generic type metadata for ") \
    K(CanonicalSpecializedGenericMetaclass, FIRST, ms_DMSW_0, "specialized generic metaclass for ") \
    K(CanonicalSpecializedGenericTypeMetadataAccessFunction, FIRST, ms_DMSW_0, \
      "canonical specialized generic type metadata accessor for ") \
    K(CanonicalPrespecializedGenericTypeCachingOnceToken, FIRST, ms_DMSW_0, \
      "flag for loading of canonical specialized generic type metadata for ") \
    K(Uniquable, FIRST, ms_DMSW_0, "uniquable ") \
    K(ReflectionMetadataBuiltinDescriptor, FIRST, ms_DMSW_0, "reflection metadata builtin descriptor ") \
    K(ReflectionMetadataFieldDescriptor, FIRST, ms_DMSW_0, "reflection metadata field descriptor ") \
    K(ReflectionMetadataAssocTypeDescriptor, FIRST, ms_DMSW_0, \
      "reflection metadata associated type descriptor ") \
    K(ReflectionMetadataSuperclassDescriptor, FIRST, ms_DMSW_0, \
      "reflection metadata superclass descriptor ") \
    K(AssociatedTypeDescriptor, FIRST, ms_DMSW_0, "associated type descriptor for ") \
    K(DefaultAssociatedTypeMetadataAccessor, FIRST, ms_DMSW_0, \
      "default associated type metadata accessor for ") \
    K(AssociatedConformanceDescriptor, CODE, ms_DMSW_0, "associated conformance descriptor for ") \
    K(DefaultAssociatedConformanceAccessor, CODE, ms_DMSW_0, "default associated conformance accessor for ") \
    K(BaseConformanceDescriptor, CODE, ms_DMSW_0, "base conformance descriptor for ") \
    K(AssociatedTypeMetadataAccessor, CODE, ms_DMSW_0, "associated type metadata accessor for ") \
    K(AssociatedTypeWitnessTableAccessor, CODE, ms_DMSW_0, "associated type witness table accessor for ") \
    K(BaseWitnessTableAccessor, CODE, ms_DMSW_0, "base witness table accessor for ") \
    K(ValueWitness, CODE, ms_DMSW_0, "") \
    K(ValueWitnessTable, FIRST, ms_DMSW_0, "value witness table for ") \
    K(EnumCase, FIRST, ms_DMSW_0, "enum case for ") \
    K(FieldOffset, CODE, ms_DMSW_0, "field offset for ") \
    K(ProtocolWitnessTable, FIRST, ms_DMSW_0, "protocol witness table for ") \
    K(ProtocolWitnessTablePattern, FIRST, ms_DMSW_0, "protocol witness table pattern for ") \
    K(ProtocolWitnessTableAccessor, FIRST, ms_DMSW_0, "protocol witness table accessor for ") \
    K(ProtocolSelfConformanceWitnessTable, FIRST, ms_DMSW_0, "protocol self-conformance witness table for ") \
    K(GenericProtocolWitnessTable, FIRST, ms_DMSW_0, "generic protocol witness table for ") \
    K(GenericProtocolWitnessTableInstantiationFunction, FIRST, ms_DMSW_0, \
      "instantiation function for generic protocol witness table for ") \
    K(ResilientProtocolWitnessTable, FIRST, ms_DMSW_0, "resilient protocol witness table for ") \
    K(LazyProtocolWitnessTableAccessor, CODE, ms_DMSW_0, "lazy protocol witness table accessor for type ") \
    K(LazyProtocolWitnessTableCacheVariable, CODE, ms_DMSW_0, \
      "lazy protocol witness table cache variable for type ") \
    K(GlobalVariableOnceToken, CODE, ms_DMSW_C, "one-time initialization token for ") \
    K(GlobalVariableOnceFunction, CODE, ms_DMSW_C, "one-time initialization function for ") \
    K(GlobalVariableOnceDeclList, CODE, ms_DMSW_0, "") \
    K(OutlinedCopy, ALL, ms_DMSW_0, "outlined copy of ") \
    K(OutlinedConsume, ALL, ms_DMSW_0, "outlined consume of ") \
    K(OutlinedRetain, FIRST, ms_DMSW_0, "outlined retain of ") \
    K(OutlinedRelease, FIRST, ms_DMSW_0, "outlined release of ") \
    K(OutlinedInitializeWithTake, FIRST, ms_DMSW_0, "outlined init with take of ") \
    K(OutlinedInitializeWithCopy, FIRST, ms_DMSW_0, "outlined init with copy of ") \
    K(OutlinedAssignWithTake, FIRST, ms_DMSW_0, "outlined assign with take of ") \
    K(OutlinedAssignWithCopy, FIRST, ms_DMSW_0, "outlined assign with copy of ") \
    K(OutlinedDestroy, FIRST, ms_DMSW_0, "outlined destroy of ") \
    K(OutlinedEnumGetTag, FIRST, ms_DMSW_0, "outlined enum get tag of ") \
    K(OutlinedEnumTagStore, FIRST, ms_DMSW_0, "outlined enum tag store of ") \
    K(OutlinedEnumProjectDataForLoad, FIRST, ms_DMSW_0, "outlined enum project data for load of ")

/* clang-format on */

#define ms_DMSW_ENUM(name, how, traits, text) ms_DMSW_##name,
enum ms_dmsw_kind { ms_DMSW_KINDS(ms_DMSW_ENUM) ms_DMSW_KIND_COUNT };
#undef ms_DMSW_ENUM

typedef struct ms_dmsw_row { /* How one kind of node is printed. */
    const char *text;
    uint16_t traits;
    uint8_t len; /* of text */
    uint8_t how;
} ms_dmsw_row;

#define ms_DMSW_ROW(name, how, traits, text) {text, traits, (uint8_t)(sizeof(text) - 1), ms_DMSW_H_##how},
static const ms_dmsw_row ms_dmsw_rows[] = {ms_DMSW_KINDS(ms_DMSW_ROW)};
#undef ms_DMSW_ROW
#undef ms_DMSW_KINDS
#undef ms_DMSW_C
#undef ms_DMSW_CN
#undef ms_DMSW_S
#undef ms_DMSW_0
#undef ms_DMSW_A
#undef ms_DMSW_CM
#undef ms_DMSW_CF

/* What a node's union holds. */
enum ms_dmsw_form {
    ms_DMSW_F_KIDS,
    ms_DMSW_F_TEXT,
    ms_DMSW_F_INDEX,
    ms_DMSW_F_KNOWN /* a type of the standard library: text is its name, its context is Swift */
};

typedef struct ms_dmsw_node { /* One node of the tree, 16 bytes. */
    uint16_t kind;
    uint8_t form;   /* enum ms_dmsw_form */
    uint8_t mark;   /* a small value whose sense depends on the kind */
    uint32_t count; /* children, or bytes of text */
    union {
        const char *text;
        uint64_t index;
        uint32_t kid[2]; /* count <= 2: the children; more: the place and capacity of their array */
    } u;
} ms_dmsw_node;

typedef struct ms_dmsw_refs { /* A growing array of references in the scratch. */
    uint32_t *v;
    uint32_t count;
    uint32_t cap;
} ms_dmsw_refs;

typedef struct ms_dmsw { /* One name being read or printed. */
    ms_dm *d;
    ms_dmsw_node *base; /* node 0 is "none" */
    const char *s;
    size_t len;
    size_t at;
    uint32_t style;     /* machsym_demangle_flags and the internal styles */
    bool old_functions; /* _T0: argument labels are part of the tuple */
    bool specialized;   /* the simplified style has printed "specialized " */
    uint8_t word_count;
    ms_dmsw_refs stack;
    ms_dmsw_refs subs;
    machsym_str words[ms_DMSW_MAX_WORDS];
} ms_dmsw;

/* ---- nodes ---- */

static ms_dmsw_node *ms_dmsw_at(const ms_dmsw *p, uint32_t ref)
{
    return p->base + (ref & ~ms_DMSW_AS_TYPE);
}

static unsigned ms_dmsw_kind_of(const ms_dmsw *p, uint32_t ref)
{
    return ref & ms_DMSW_AS_TYPE ? (unsigned)ms_DMSW_Type : p->base[ref].kind;
}

/* The kind behind the "as a type" bit. */
static unsigned ms_dmsw_inner(const ms_dmsw *p, uint32_t ref)
{
    return ms_dmsw_at(p, ref)->kind;
}

static unsigned ms_dmsw_traits(const ms_dmsw *p, uint32_t ref)
{
    return ms_dmsw_rows[ms_dmsw_kind_of(p, ref)].traits;
}

static uint32_t ms_dmsw_type(uint32_t ref)
{
    return ref ? ref | ms_DMSW_AS_TYPE : 0;
}

/* Counts one step of work; false when the budget is spent. */
static bool ms_dmsw_step(ms_dmsw *p)
{
    if (p->d->work == 0) {
        p->d->failed = true;
        return false;
    }
    p->d->work--;
    return true;
}

static uint32_t ms_dmsw_make(ms_dmsw *p, unsigned kind)
{
    ms_dmsw_node *n = ms_dmsw_step(p) ? (ms_dmsw_node *)ms_dm_alloc(p->d, sizeof *n) : NULL;
    if (!n)
        return 0;
    n->kind = (uint16_t)kind;
    n->form = ms_DMSW_F_KIDS;
    n->mark = 0;
    n->count = 0;
    n->u.index = 0;
    return (uint32_t)(n - p->base);
}

static uint32_t ms_dmsw_make_text(ms_dmsw *p, unsigned kind, const char *text, size_t len)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ref) {
        ms_dmsw_node *n = ms_dmsw_at(p, ref);
        n->form = ms_DMSW_F_TEXT;
        n->count = (uint32_t)len;
        n->u.text = text;
    }
    return ref;
}

#define ms_dmsw_make_lit(p, kind, text) ms_dmsw_make_text(p, kind, text, sizeof(text) - 1)

static uint32_t ms_dmsw_make_index(ms_dmsw *p, unsigned kind, uint64_t index)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ref) {
        ms_dmsw_at(p, ref)->form = ms_DMSW_F_INDEX;
        ms_dmsw_at(p, ref)->u.index = index;
    }
    return ref;
}

static const uint32_t *ms_dmsw_kids(const ms_dmsw *p, const ms_dmsw_node *n)
{
    return n->count <= 2 ? n->u.kid : (const uint32_t *)(const void *)(p->base + n->u.kid[0]);
}

static uint32_t ms_dmsw_kid_count(const ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    return n->form == ms_DMSW_F_KIDS ? n->count : 0;
}

static uint32_t ms_dmsw_kid(const ms_dmsw *p, uint32_t ref, uint32_t i)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    return n->form == ms_DMSW_F_KIDS && i < n->count ? ms_dmsw_kids(p, n)[i] : 0;
}

/* The first child of that kind, or 0. */
static uint32_t ms_dmsw_kid_of(const ms_dmsw *p, uint32_t ref, unsigned kind)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    if (n->form != ms_DMSW_F_KIDS)
        return 0;
    const uint32_t *v = ms_dmsw_kids(p, n);
    for (uint32_t i = 0; i < n->count; i++)
        if (ms_dmsw_kind_of(p, v[i]) == kind)
            return v[i];
    return 0;
}

/* Appends a child. Returns parent, or 0 when either is missing: a missing part makes the whole fail. */
static uint32_t ms_dmsw_add(ms_dmsw *p, uint32_t parent, uint32_t child)
{
    if (!parent || !child)
        return 0;
    ms_dmsw_node *n = ms_dmsw_at(p, parent);
    if (n->form != ms_DMSW_F_KIDS)
        return 0;
    if (n->count < 2) {
        n->u.kid[n->count++] = child;
        return parent;
    }
    if (n->count == 2 || n->count == n->u.kid[1]) {
        uint32_t cap = n->count * 2;
        uint32_t *v = (uint32_t *)ms_dm_alloc(p->d, cap * sizeof *v);
        if (!v)
            return 0;
        ms_copy(v, ms_dmsw_kids(p, n), n->count * sizeof *v);
        n->u.kid[0] = (uint32_t)((ms_dmsw_node *)(void *)v - p->base);
        n->u.kid[1] = cap;
    }
    n->count++;
    ((uint32_t *)(void *)(p->base + n->u.kid[0]))[n->count - 1] = child;
    return parent;
}

static void ms_dmsw_set_kid(ms_dmsw *p, uint32_t ref, uint32_t i, uint32_t child)
{
    ms_dmsw_node *n = ms_dmsw_at(p, ref);
    uint32_t *v = n->count <= 2 ? n->u.kid : (uint32_t *)(void *)(p->base + n->u.kid[0]);
    v[i] = child;
}

static uint32_t ms_dmsw_make1(ms_dmsw *p, unsigned kind, uint32_t a)
{
    uint32_t ref = a ? ms_dmsw_make(p, kind) : 0;
    if (ref) {
        ms_dmsw_at(p, ref)->count = 1;
        ms_dmsw_at(p, ref)->u.kid[0] = a;
    }
    return ref;
}

static uint32_t ms_dmsw_make2(ms_dmsw *p, unsigned kind, uint32_t a, uint32_t b)
{
    uint32_t ref = a && b ? ms_dmsw_make(p, kind) : 0;
    if (ref) {
        ms_dmsw_at(p, ref)->count = 2;
        ms_dmsw_at(p, ref)->u.kid[0] = a;
        ms_dmsw_at(p, ref)->u.kid[1] = b;
    }
    return ref;
}

static uint32_t ms_dmsw_make3(ms_dmsw *p, unsigned kind, uint32_t a, uint32_t b, uint32_t c)
{
    return ms_dmsw_add(p, ms_dmsw_make2(p, kind, a, b), c);
}

/* Turns round the children from place `from` on: postfix order pops lists from their end. */
static void ms_dmsw_reverse(ms_dmsw *p, uint32_t ref, uint32_t from)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t lo = from, hi = count; lo + 1 < hi; lo++, hi--) {
        uint32_t first = ms_dmsw_kid(p, ref, lo);
        ms_dmsw_set_kid(p, ref, lo, ms_dmsw_kid(p, ref, hi - 1));
        ms_dmsw_set_kid(p, ref, hi - 1, first);
    }
}

/* A copy with another kind; the node itself may be shared. */
static uint32_t ms_dmsw_with_kind(ms_dmsw *p, uint32_t ref, unsigned kind)
{
    uint32_t copy = ref ? ms_dmsw_make(p, kind) : 0;
    if (copy) {
        *ms_dmsw_at(p, copy) = *ms_dmsw_at(p, ref);
        ms_dmsw_at(p, copy)->kind = (uint16_t)kind;
    }
    return copy;
}

static bool ms_dmsw_text_is(const ms_dmsw *p, uint32_t ref, const char *text, size_t len)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    return (n->form == ms_DMSW_F_TEXT || n->form == ms_DMSW_F_KNOWN) && n->count == len &&
           ms_equal(n->u.text, text, len);
}

static void ms_dmsw_append(ms_dmsw *p, ms_dmsw_refs *refs, uint32_t ref)
{
    if (refs->count == refs->cap) {
        uint32_t cap = refs->cap ? refs->cap * 2 : 32;
        uint32_t *v = (uint32_t *)ms_dm_alloc(p->d, cap * sizeof *v);
        if (!v)
            return;
        if (refs->count)
            ms_copy(v, refs->v, refs->count * sizeof *v);
        refs->v = v;
        refs->cap = cap;
    }
    refs->v[refs->count++] = ref;
}

static uint32_t ms_dmsw_remember(ms_dmsw *p, uint32_t ref)
{
    if (ref)
        ms_dmsw_append(p, &p->subs, ref);
    return ref;
}

/* ---- reading ---- */

static char ms_dmsw_peek(const ms_dmsw *p)
{
    return p->at < p->len ? p->s[p->at] : '\0';
}

static char ms_dmsw_next(ms_dmsw *p)
{
    return p->at < p->len ? p->s[p->at++] : '\0';
}

static bool ms_dmsw_next_if(ms_dmsw *p, char c)
{
    if (p->at >= p->len || p->s[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool ms_dmsw_next_is(ms_dmsw *p, const char *text, size_t len)
{
    if (p->len - p->at < len || !ms_equal(p->s + p->at, text, len))
        return false;
    p->at += len;
    return true;
}

static bool ms_dmsw_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool ms_dmsw_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool ms_dmsw_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The place of a letter in a list of letters, -1 when it is not there. */
static int ms_dmsw_find(const char *letters, char c)
{
    for (int i = 0; letters[i] != '\0'; i++)
        if (letters[i] == c)
            return i;
    return -1;
}

/* NATURAL; -1 when there is none or it is too large to mean anything. */
static int64_t ms_dmsw_natural(ms_dmsw *p)
{
    if (!ms_dmsw_digit(ms_dmsw_peek(p)))
        return -1;
    int64_t value = 0;
    while (ms_dmsw_digit(ms_dmsw_peek(p))) {
        value = value * 10 + (ms_dmsw_next(p) - '0');
        if (value > INT32_MAX)
            return -1;
    }
    return value;
}

/* INDEX; -1 on failure. */
static int64_t ms_dmsw_index(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, '_'))
        return 0;
    int64_t value = ms_dmsw_natural(p);
    return value >= 0 && ms_dmsw_next_if(p, '_') ? value + 1 : -1;
}

static uint32_t ms_dmsw_index_node(ms_dmsw *p)
{
    int64_t value = ms_dmsw_index(p);
    return value >= 0 ? ms_dmsw_make_index(p, ms_DMSW_Index, (uint64_t)value) : 0;
}

/* Writes one code point as UTF-8; the room was counted by the caller. Returns the bytes written. */
static size_t ms_dmsw_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | (c >> 12));
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | (c >> 18));
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* RFC 3492 6.1 */
static uint32_t ms_dmsw_puny_adapt(uint32_t delta, uint32_t points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / 700 : delta / 2;
    delta += delta / points;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* One generalized variable-length integer of RFC 3492; Swift's digits are a-z and A-J. -1 when malformed. */
static int64_t ms_dmsw_puny_delta(const char *s, size_t len, size_t *at, uint32_t bias)
{
    uint64_t value = 0, weight = 1;
    for (uint32_t k = 36;; k += 36) {
        if (*at >= len)
            return -1;
        char c = s[(*at)++];
        if (!ms_dmsw_lower(c) && (c < 'A' || c > 'J'))
            return -1;
        uint32_t digit = (uint32_t)(ms_dmsw_lower(c) ? c - 'a' : c - 'A' + 26);
        value += digit * weight;
        uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (digit < t)
            break;
        weight *= 36 - t;
        if (weight > INT32_MAX)
            return -1;
    }
    return value <= INT32_MAX ? (int64_t)value : -1;
}

/* Decodes Swift's Punycode into code points; returns their number, or -1. */
static int64_t ms_dmsw_puny_decode(ms_dmsw *p, const char *s, size_t len, uint32_t *out)
{
    size_t count = 0, at = 0;
    for (size_t i = len; i-- > 0;) {
        if (s[i] != '_')
            continue;
        for (; count < i; count++) {
            if ((unsigned char)s[count] >= 0x80)
                return -1;
            out[count] = (unsigned char)s[count];
        }
        at = i + 1;
        break;
    }
    uint32_t n = 0x80, bias = 72;
    uint64_t i = 0;
    for (bool first = true; at < len; first = false) {
        int64_t delta = ms_dmsw_puny_delta(s, len, &at, bias);
        if (delta < 0 || p->d->work < count / 32 + 1)
            return -1;
        p->d->work -= count / 32 + 1; /* each insertion moves what lies behind it */
        i += (uint64_t)delta;
        count++;
        bias = ms_dmsw_puny_adapt((uint32_t)delta, (uint32_t)count, first);
        uint64_t code = n + i / count;
        i %= count;
        if (code > 0x10ffff)
            return -1;
        n = (uint32_t)code;
        ms_move(out + i + 1, out + i, (count - 1 - (size_t)i) * sizeof *out);
        out[i++] = n;
    }
    return (int64_t)count;
}

/* A Punycode identifier as UTF-8 in the scratch. ASCII characters that no symbol can hold travel as
 * surrogates. */
static bool ms_dmsw_puny(ms_dmsw *p, const char *s, size_t len, machsym_str *out)
{
    size_t mark = p->d->mem_used;
    char *text = (char *)ms_dm_alloc(p->d, len * 4 + 16);
    uint32_t *points = (uint32_t *)ms_dm_alloc(p->d, len * sizeof *points + 16);
    if (!text || !points)
        return false;
    int64_t count = ms_dmsw_puny_decode(p, s, len, points);
    if (count < 0)
        return false;
    size_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t c = points[i];
        if (c >= 0xd800 && c < 0xd880)
            c -= 0xd800;
        else if (c >= 0xd880 && c < 0xe000)
            return false;
        used += ms_dmsw_utf8(c, text + used);
    }
    p->d->mem_used = mark + ((used + 15u) & ~(size_t)15u);
    out->ptr = text;
    out->len = used;
    return true;
}

/* Enters one word of an identifier in the list of words that later identifiers may use. */
static void ms_dmsw_add_word(ms_dmsw *p, const char *s, size_t len)
{
    if (len < 2 || p->word_count >= ms_DMSW_MAX_WORDS)
        return;
    p->words[p->word_count].ptr = s;
    p->words[p->word_count++].len = len;
}

/* The words of a literal part of an identifier: '_' divides them, and an upper case letter starts one. */
static void ms_dmsw_add_words(ms_dmsw *p, const char *s, size_t len)
{
    size_t start = len; /* len: not in a word */
    for (size_t i = 0; i < len && p->word_count < ms_DMSW_MAX_WORDS; i++) {
        char c = s[i];
        if (ms_dmsw_lower(c)) {
            if (start == len)
                start = i;
        } else if (c == '_' || c == '\0') {
            if (start < len)
                ms_dmsw_add_word(p, s + start, i - start);
            start = len;
        } else if (ms_dmsw_upper(c) && start < len && !ms_dmsw_upper(s[i - 1])) {
            ms_dmsw_add_word(p, s + start, i - start);
            start = i;
        } else if (start == len && !ms_dmsw_digit(c)) {
            start = i;
        }
    }
    if (start < len)
        ms_dmsw_add_word(p, s + start, len - start);
}

/* The literal part of an identifier that a length introduces. */
static bool ms_dmsw_literal(ms_dmsw *p, machsym_str *part)
{
    int64_t len = ms_dmsw_natural(p);
    if (len <= 0 || (uint64_t)len > p->len - p->at)
        return false;
    part->ptr = p->s + p->at;
    part->len = (size_t)len;
    p->at += (size_t)len;
    return true;
}

/* Appends a part to the text that grows at the end of the scratch. */
static bool ms_dmsw_grow(ms_dmsw *p, machsym_str part, size_t *used)
{
    ms_dm *d = p->d;
    if (part.len > d->mem_len - d->mem_used - *used) {
        d->no_mem = d->failed = true;
        return false;
    }
    ms_copy(d->mem + d->mem_used + *used, part.ptr, part.len);
    *used += part.len;
    return true;
}

/* An identifier with word substitutions, put together in the scratch. */
static bool ms_dmsw_word_identifier(ms_dmsw *p, machsym_str *out)
{
    size_t used = 0;
    machsym_str part;
    for (bool more = true; more;) {
        for (char c = ms_dmsw_peek(p); more && (ms_dmsw_lower(c) || ms_dmsw_upper(c)); c = ms_dmsw_peek(p)) {
            more = ms_dmsw_lower(c);
            unsigned word = (unsigned)(more ? c - 'a' : c - 'A');
            p->at++;
            if (word >= p->word_count || !ms_dmsw_grow(p, p->words[word], &used))
                return false;
        }
        if (ms_dmsw_next_if(p, '0'))
            break;
        if (!ms_dmsw_literal(p, &part) || !ms_dmsw_grow(p, part, &used))
            return false;
        ms_dmsw_add_words(p, part.ptr, part.len);
    }
    out->ptr = (const char *)p->d->mem + p->d->mem_used;
    out->len = used;
    return ms_dm_alloc(p->d, used) != NULL && used > 0;
}

/* Identifiers */
static uint32_t ms_dmsw_identifier(ms_dmsw *p)
{
    machsym_str name = {NULL, 0};
    if (ms_dmsw_peek(p) != '0') {
        if (!ms_dmsw_literal(p, &name))
            return 0;
        ms_dmsw_add_words(p, name.ptr, name.len);
    } else if (ms_dmsw_next_is(p, "00", 2)) {
        int64_t len = ms_dmsw_natural(p);
        ms_dmsw_next_if(p, '_');
        if (len <= 0 || (uint64_t)len > p->len - p->at || !ms_dmsw_puny(p, p->s + p->at, (size_t)len, &name))
            return 0;
        p->at += (size_t)len;
    } else {
        p->at++;
        if (!ms_dmsw_word_identifier(p, &name))
            return 0;
    }
    return ms_dmsw_remember(p, ms_dmsw_make_text(p, ms_DMSW_Identifier, name.ptr, name.len));
}

/* ---- the stack of Swift 4 and later ---- */

static void ms_dmsw_push(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_append(p, &p->stack, ref);
}

static uint32_t ms_dmsw_top(const ms_dmsw *p)
{
    return p->stack.count ? p->stack.v[p->stack.count - 1] : 0;
}

static uint32_t ms_dmsw_pop_any(ms_dmsw *p)
{
    return p->stack.count ? p->stack.v[--p->stack.count] : 0;
}

/* Pops the top when it is of that kind, else returns 0. */
static uint32_t ms_dmsw_pop(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_top(p);
    if (!ref || ms_dmsw_kind_of(p, ref) != kind)
        return 0;
    p->stack.count--;
    return ref;
}

/* Pops the top when its kind has one of the traits, else returns 0. */
static uint32_t ms_dmsw_pop_trait(ms_dmsw *p, unsigned traits)
{
    uint32_t ref = ms_dmsw_top(p);
    if (!ref || !(ms_dmsw_traits(p, ref) & traits))
        return 0;
    p->stack.count--;
    return ref;
}

static uint32_t ms_dmsw_pop_type(ms_dmsw *p)
{
    return ms_dmsw_pop(p, ms_DMSW_Type);
}

/* A type without its "as a type" bit. */
static uint32_t ms_dmsw_pop_bare(ms_dmsw *p)
{
    return ms_dmsw_pop_type(p) & ~ms_DMSW_AS_TYPE;
}

static uint32_t ms_dmsw_pop_nominal(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_pop_bare(p);
    return ms_dmsw_traits(p, ref) & ms_DMSW_T_NOMINAL ? ref : 0;
}

static uint32_t ms_dmsw_pop_entity(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_pop_type(p);
    return ref ? ref : ms_dmsw_pop_trait(p, ms_DMSW_T_CONTEXT);
}

static bool ms_dmsw_pop_first(ms_dmsw *p)
{
    return ms_dmsw_pop(p, ms_DMSW_FirstElementMarker) != 0;
}

static uint32_t ms_dmsw_pop_signature(ms_dmsw *p)
{
    return ms_dmsw_pop(p, ms_DMSW_DependentGenericSignature);
}

static uint32_t ms_dmsw_pop_module(ms_dmsw *p)
{
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    return name ? ms_dmsw_with_kind(p, name, ms_DMSW_Module) : ms_dmsw_pop(p, ms_DMSW_Module);
}

static uint32_t ms_dmsw_pop_context(ms_dmsw *p)
{
    uint32_t module = ms_dmsw_pop_module(p);
    if (module)
        return module;
    uint32_t type = ms_dmsw_pop_bare(p);
    if (type)
        return ms_dmsw_traits(p, type) & ms_DMSW_T_CONTEXT ? type : 0;
    return ms_dmsw_pop_trait(p, ms_DMSW_T_CONTEXT);
}

static uint32_t ms_dmsw_pop_protocol(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_pop_type(p);
    if (type)
        return ms_dmsw_inner(p, type) == ms_DMSW_Protocol ? type : 0;
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_Protocol, context, name));
}

static uint32_t ms_dmsw_pop_conformance(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t module = ms_dmsw_pop_module(p);
    uint32_t protocol = ms_dmsw_pop_protocol(p);
    uint32_t type = ms_dmsw_pop_type(p), name = 0;
    if (!type) { /* property behaviour */
        name = ms_dmsw_pop(p, ms_DMSW_Identifier);
        type = ms_dmsw_pop_type(p);
    }
    if (signature)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, type));
    uint32_t ref = ms_dmsw_make3(p, ms_DMSW_ProtocolConformance, type, protocol, module);
    return name ? ms_dmsw_add(p, ref, name) : ref;
}

static uint32_t ms_dmsw_pop_assoc_name(ms_dmsw *p)
{
    uint32_t protocol = ms_dmsw_pop_type(p);
    if (protocol && ms_dmsw_inner(p, protocol) != ms_DMSW_Protocol)
        return 0;
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentAssociatedTypeRef, name);
    return protocol ? ms_dmsw_add(p, ref, protocol) : ref;
}

/* Pops elements up to the one that follows the first-element marker, into a new node of that kind. */
static uint32_t ms_dmsw_pop_list(ms_dmsw *p, unsigned kind, uint32_t (*element)(ms_dmsw *))
{
    uint32_t list = ms_dmsw_make(p, kind);
    bool first;
    do {
        first = ms_dmsw_pop_first(p);
        list = ms_dmsw_add(p, list, element(p));
    } while (list && !first);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* The same list, or the mark for an empty one. */
static uint32_t ms_dmsw_pop_list_or_empty(ms_dmsw *p, unsigned kind, uint32_t (*element)(ms_dmsw *))
{
    return ms_dmsw_pop(p, ms_DMSW_EmptyList) ? ms_dmsw_make(p, kind) : ms_dmsw_pop_list(p, kind, element);
}

static uint32_t ms_dmsw_pop_requirement(ms_dmsw *p)
{
    return ms_dmsw_pop_trait(p, ms_DMSW_T_REQ);
}

static uint32_t ms_dmsw_pop_any_conformance(ms_dmsw *p)
{
    return ms_dmsw_pop_trait(p, ms_DMSW_T_CONF);
}

static uint32_t ms_dmsw_pop_type_list(ms_dmsw *p)
{
    return ms_dmsw_pop_list_or_empty(p, ms_DMSW_TypeList, ms_dmsw_pop_type);
}

static uint32_t ms_dmsw_pop_assoc_path(ms_dmsw *p)
{
    return ms_dmsw_pop_list(p, ms_DMSW_AssocTypePath, ms_dmsw_pop_assoc_name);
}

static uint32_t ms_dmsw_pop_tuple_element(ms_dmsw *p)
{
    uint32_t element = ms_dmsw_make(p, ms_DMSW_TupleElement);
    uint32_t variadic = ms_dmsw_pop(p, ms_DMSW_VariadicMarker);
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    if (variadic)
        element = ms_dmsw_add(p, element, variadic);
    if (name)
        element = ms_dmsw_add(p, element, ms_dmsw_with_kind(p, name, ms_DMSW_TupleElementName));
    return ms_dmsw_add(p, element, ms_dmsw_pop_type(p));
}

/* ---- operators of Swift 4 and later ---- */

/* A: substitution */
static uint32_t ms_dmsw_substitution(ms_dmsw *p)
{
    int64_t repeat = -1;
    for (;;) {
        char c = ms_dmsw_next(p);
        if (c == '_') {
            uint64_t i = (uint64_t)(repeat + 27);
            return i < p->subs.count ? p->subs.v[i] : 0;
        }
        bool last = ms_dmsw_upper(c);
        if (!last && !ms_dmsw_lower(c)) {
            p->at -= c != '\0';
            repeat = ms_dmsw_natural(p);
            if (repeat < 0)
                return 0;
            continue;
        }
        uint32_t i = (uint32_t)(last ? c - 'A' : c - 'a');
        if (i >= p->subs.count || repeat > ms_DMSW_MAX_REPEAT)
            return 0;
        for (; repeat > 1 && ms_dmsw_step(p); repeat--)
            ms_dmsw_push(p, p->subs.v[i]);
        if (last)
            return p->subs.v[i];
        ms_dmsw_push(p, p->subs.v[i]);
        repeat = -1;
    }
}

/* A predefined type of the standard library. */
static uint32_t ms_dmsw_known_type(ms_dmsw *p, unsigned kind, const char *name, size_t len)
{
    uint32_t ref = ms_dmsw_make_text(p, kind, name, len);
    if (ref)
        ms_dmsw_at(p, ref)->form = ms_DMSW_F_KNOWN;
    return ms_dmsw_type(ref);
}

#define ms_dmsw_known(p, kind, name) ms_dmsw_known_type(p, ms_DMSW_##kind, name, sizeof(name) - 1)

/* KNOWN-TYPE-KIND */
static uint32_t ms_dmsw_known1(ms_dmsw *p, char letter)
{
    switch (letter) {
    case 'A': return ms_dmsw_known(p, Structure, "AutoreleasingUnsafeMutablePointer");
    case 'a': return ms_dmsw_known(p, Structure, "Array");
    case 'B': return ms_dmsw_known(p, Protocol, "BinaryFloatingPoint");
    case 'b': return ms_dmsw_known(p, Structure, "Bool");
    case 'D': return ms_dmsw_known(p, Structure, "Dictionary");
    case 'd': return ms_dmsw_known(p, Structure, "Double");
    case 'E': return ms_dmsw_known(p, Protocol, "Encodable");
    case 'e': return ms_dmsw_known(p, Protocol, "Decodable");
    case 'F': return ms_dmsw_known(p, Protocol, "FloatingPoint");
    case 'f': return ms_dmsw_known(p, Structure, "Float");
    case 'G': return ms_dmsw_known(p, Protocol, "RandomNumberGenerator");
    case 'H': return ms_dmsw_known(p, Protocol, "Hashable");
    case 'h': return ms_dmsw_known(p, Structure, "Set");
    case 'I': return ms_dmsw_known(p, Structure, "DefaultIndices");
    case 'i': return ms_dmsw_known(p, Structure, "Int");
    case 'J': return ms_dmsw_known(p, Structure, "Character");
    case 'j': return ms_dmsw_known(p, Protocol, "Numeric");
    case 'K': return ms_dmsw_known(p, Protocol, "BidirectionalCollection");
    case 'k': return ms_dmsw_known(p, Protocol, "RandomAccessCollection");
    case 'L': return ms_dmsw_known(p, Protocol, "Comparable");
    case 'l': return ms_dmsw_known(p, Protocol, "Collection");
    case 'M': return ms_dmsw_known(p, Protocol, "MutableCollection");
    case 'm': return ms_dmsw_known(p, Protocol, "RangeReplaceableCollection");
    case 'N': return ms_dmsw_known(p, Structure, "ClosedRange");
    case 'n': return ms_dmsw_known(p, Structure, "Range");
    case 'O': return ms_dmsw_known(p, Structure, "ObjectIdentifier");
    case 'P': return ms_dmsw_known(p, Structure, "UnsafePointer");
    case 'p': return ms_dmsw_known(p, Structure, "UnsafeMutablePointer");
    case 'Q': return ms_dmsw_known(p, Protocol, "Equatable");
    case 'q': return ms_dmsw_known(p, Enum, "Optional");
    case 'R': return ms_dmsw_known(p, Structure, "UnsafeBufferPointer");
    case 'r': return ms_dmsw_known(p, Structure, "UnsafeMutableBufferPointer");
    case 'S': return ms_dmsw_known(p, Structure, "String");
    case 's': return ms_dmsw_known(p, Structure, "Substring");
    case 'T': return ms_dmsw_known(p, Protocol, "Sequence");
    case 't': return ms_dmsw_known(p, Protocol, "IteratorProtocol");
    case 'U': return ms_dmsw_known(p, Protocol, "UnsignedInteger");
    case 'u': return ms_dmsw_known(p, Structure, "UInt");
    case 'V': return ms_dmsw_known(p, Structure, "UnsafeRawPointer");
    case 'v': return ms_dmsw_known(p, Structure, "UnsafeMutableRawPointer");
    case 'W': return ms_dmsw_known(p, Structure, "UnsafeRawBufferPointer");
    case 'w': return ms_dmsw_known(p, Structure, "UnsafeMutableRawBufferPointer");
    case 'X': return ms_dmsw_known(p, Protocol, "RangeExpression");
    case 'x': return ms_dmsw_known(p, Protocol, "Strideable");
    case 'Y': return ms_dmsw_known(p, Protocol, "RawRepresentable");
    case 'y': return ms_dmsw_known(p, Protocol, "StringProtocol");
    case 'Z': return ms_dmsw_known(p, Protocol, "SignedInteger");
    case 'z': return ms_dmsw_known(p, Protocol, "BinaryInteger");
    default: return 0;
    }
}

/* KNOWN-TYPE-KIND-2 */
static uint32_t ms_dmsw_known2(ms_dmsw *p, char letter)
{
    switch (letter) {
    case 'A': return ms_dmsw_known(p, Protocol, "Actor");
    case 'C': return ms_dmsw_known(p, Structure, "CheckedContinuation");
    case 'c': return ms_dmsw_known(p, Structure, "UnsafeContinuation");
    case 'E': return ms_dmsw_known(p, Structure, "CancellationError");
    case 'e': return ms_dmsw_known(p, Structure, "UnownedSerialExecutor");
    case 'F': return ms_dmsw_known(p, Protocol, "Executor");
    case 'f': return ms_dmsw_known(p, Protocol, "SerialExecutor");
    case 'G': return ms_dmsw_known(p, Structure, "TaskGroup");
    case 'g': return ms_dmsw_known(p, Structure, "ThrowingTaskGroup");
    case 'h': return ms_dmsw_known(p, Protocol, "TaskExecutor");
    case 'I': return ms_dmsw_known(p, Protocol, "AsyncIteratorProtocol");
    case 'i': return ms_dmsw_known(p, Protocol, "AsyncSequence");
    case 'J': return ms_dmsw_known(p, Structure, "UnownedJob");
    case 'M': return ms_dmsw_known(p, Class, "MainActor");
    case 'P': return ms_dmsw_known(p, Structure, "TaskPriority");
    case 'S': return ms_dmsw_known(p, Structure, "AsyncStream");
    case 's': return ms_dmsw_known(p, Structure, "AsyncThrowingStream");
    case 'T': return ms_dmsw_known(p, Structure, "Task");
    case 't': return ms_dmsw_known(p, Structure, "UnsafeCurrentTask");
    default: return 0;
    }
}

/* S: standard-substitutions and known modules */
static uint32_t ms_dmsw_standard(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'o'))
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C");
    if (ms_dmsw_next_if(p, 'C'))
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C_Synthesized");
    if (ms_dmsw_next_if(p, 'g')) {
        uint32_t args = ms_dmsw_make1(p, ms_DMSW_TypeList, ms_dmsw_pop_type(p));
        uint32_t optional = ms_dmsw_known(p, Enum, "Optional");
        return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_BoundGenericEnum, optional, args)));
    }
    int64_t repeat = -1;
    if (ms_dmsw_digit(ms_dmsw_peek(p)))
        repeat = ms_dmsw_natural(p);
    bool second = ms_dmsw_next_if(p, 'c');
    char letter = ms_dmsw_next(p);
    if (repeat > ms_DMSW_MAX_REPEAT)
        return 0;
    uint32_t ref = second ? ms_dmsw_known2(p, letter) : ms_dmsw_known1(p, letter);
    for (; ref && repeat > 1 && ms_dmsw_step(p); repeat--)
        ms_dmsw_push(p, ref);
    return ref;
}

/* C O V P a XY: any-generic-type */
static uint32_t ms_dmsw_any_generic(ms_dmsw *p, unsigned kind)
{
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, kind, context, name)));
}

/* E: extension context */
static uint32_t ms_dmsw_extension(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t module = ms_dmsw_pop_module(p);
    uint32_t type = ms_dmsw_pop_nominal(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_Extension, module, type);
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* o: operator names */
static uint32_t ms_dmsw_operator(ms_dmsw *p)
{
    static const char signs[] = "& @/= >    <*!|+?%-~   ^ .";
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    if (!name)
        return 0;
    const ms_dmsw_node *n = ms_dmsw_at(p, name);
    char *text = (char *)ms_dm_alloc(p->d, n->count + 1u);
    if (!text)
        return 0;
    for (uint32_t i = 0; i < n->count; i++) {
        char c = n->u.text[i];
        if (ms_dmsw_lower(c))
            c = signs[c - 'a'];
        else if ((unsigned char)c < 0x80)
            return 0;
        if (c == ' ')
            return 0;
        text[i] = c;
    }
    switch (ms_dmsw_next(p)) {
    case 'i': return ms_dmsw_make_text(p, ms_DMSW_InfixOperator, text, n->count);
    case 'p': return ms_dmsw_make_text(p, ms_DMSW_PrefixOperator, text, n->count);
    case 'P': return ms_dmsw_make_text(p, ms_DMSW_PostfixOperator, text, n->count);
    default: return 0;
    }
}

/* L: names with a discriminator */
static uint32_t ms_dmsw_local(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'L')) {
        uint32_t file = ms_dmsw_pop(p, ms_DMSW_Identifier);
        return ms_dmsw_make2(p, ms_DMSW_PrivateDeclName, file, ms_dmsw_pop_trait(p, ms_DMSW_T_NAME));
    }
    if (ms_dmsw_next_if(p, 'l'))
        return ms_dmsw_make1(p, ms_DMSW_PrivateDeclName, ms_dmsw_pop(p, ms_DMSW_Identifier));
    char c = ms_dmsw_peek(p);
    if ((c >= 'a' && c <= 'j') || (c >= 'A' && c <= 'J')) {
        uint32_t related = ms_dmsw_make_text(p, ms_DMSW_Identifier, p->s + p->at++, 1);
        return ms_dmsw_make2(p, ms_DMSW_RelatedEntityDeclName, related, ms_dmsw_pop_any(p));
    }
    uint32_t index = ms_dmsw_index_node(p);
    return ms_dmsw_make2(p, ms_DMSW_LocalDeclName, index, ms_dmsw_pop_trait(p, ms_DMSW_T_NAME));
}

/* A name made of a number between two fixed parts, in the scratch. */
static uint32_t ms_dmsw_builtin_number(ms_dmsw *p, machsym_str head, int64_t number, machsym_str tail)
{
    char digits[20];
    machsym_str middle = {digits, 0};
    if (number <= 0 || number > 4096)
        return 0;
    for (int64_t n = number; n > 0; n /= 10)
        middle.len++;
    for (size_t i = middle.len; i-- > 0; number /= 10)
        digits[i] = (char)('0' + number % 10);
    size_t used = 0;
    const char *text = (const char *)p->d->mem + p->d->mem_used;
    if (!ms_dmsw_grow(p, head, &used) || !ms_dmsw_grow(p, middle, &used) || !ms_dmsw_grow(p, tail, &used) ||
        !ms_dm_alloc(p->d, used))
        return 0;
    return ms_dmsw_make_text(p, ms_DMSW_BuiltinTypeName, text, used);
}

/* Builtin.Vec<n>x<element> */
static uint32_t ms_dmsw_builtin_vector(ms_dmsw *p, int64_t count, uint32_t element)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, element);
    if (!element || n->kind != ms_DMSW_BuiltinTypeName || n->count <= 8)
        return 0;
    machsym_str head = {"Builtin.Vec", 11}, tail;
    size_t used = 0;
    machsym_str x = {"x", 1}, rest = {n->u.text + 8, n->count - 8u};
    tail.ptr = (const char *)p->d->mem + p->d->mem_used;
    if (!ms_dmsw_grow(p, x, &used) || !ms_dmsw_grow(p, rest, &used) || !ms_dm_alloc(p->d, used))
        return 0;
    tail.len = used;
    return ms_dmsw_builtin_number(p, head, count, tail);
}

static uint32_t ms_dmsw_builtin_sized(ms_dmsw *p, char c, int64_t size)
{
    machsym_str tail = {"", 0};
    machsym_str fp = {"Builtin.FPIEEE", 14}, integer = {"Builtin.Int", 11};
    return ms_dmsw_builtin_number(p, c == 'f' ? fp : integer, size, tail);
}

#define ms_dmsw_builtin_name(p, name) ms_dmsw_make_lit(p, ms_DMSW_BuiltinTypeName, "Builtin." name)

/* The builtin types that are one letter in both manglings. */
static uint32_t ms_dmsw_builtin_simple(ms_dmsw *p, char c)
{
    switch (c) {
    case 'A': return ms_dmsw_builtin_name(p, "ImplicitActor");
    case 'b': return ms_dmsw_builtin_name(p, "BridgeObject");
    case 'B': return ms_dmsw_builtin_name(p, "UnsafeValueBuffer");
    case 'c': return ms_dmsw_builtin_name(p, "RawUnsafeContinuation");
    case 'D': return ms_dmsw_builtin_name(p, "DefaultActorStorage");
    case 'd': return ms_dmsw_builtin_name(p, "NonDefaultDistributedActorStorage");
    case 'e': return ms_dmsw_builtin_name(p, "Executor");
    case 'I': return ms_dmsw_builtin_name(p, "IntLiteral");
    case 'j': return ms_dmsw_builtin_name(p, "Job");
    case 'O': return ms_dmsw_builtin_name(p, "UnknownObject");
    case 'o': return ms_dmsw_builtin_name(p, "NativeObject");
    case 'P': return ms_dmsw_builtin_name(p, "PackIndex");
    case 'p': return ms_dmsw_builtin_name(p, "RawPointer");
    case 't': return ms_dmsw_builtin_name(p, "SILToken");
    case 'T': return ms_dmsw_make(p, ms_DMSW_BuiltinTupleType);
    case 'w': return ms_dmsw_builtin_name(p, "Word");
    default: return 0;
    }
}

/* B: builtin types */
static uint32_t ms_dmsw_builtin(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    uint32_t ref;
    if (c == 'f' || c == 'i') {
        ref = ms_dmsw_builtin_sized(p, c, ms_dmsw_index(p) - 1);
    } else if (c == 'v') {
        int64_t count = ms_dmsw_index(p) - 1;
        ref = ms_dmsw_builtin_vector(p, count, ms_dmsw_pop_bare(p));
    } else if (c == 'V') {
        uint32_t element = ms_dmsw_pop_type(p);
        ref = ms_dmsw_make2(p, ms_DMSW_BuiltinFixedArray, ms_dmsw_pop_type(p), element);
    } else if (c == 'W') {
        ref = ms_dmsw_make1(p, ms_DMSW_BuiltinBorrow, ms_dmsw_pop_type(p));
    } else {
        ref = ms_dmsw_builtin_simple(p, c);
    }
    return ms_dmsw_type(ref);
}

/* t: tuples */
static uint32_t ms_dmsw_tuple(ms_dmsw *p)
{
    return ms_dmsw_type(ms_dmsw_pop_list_or_empty(p, ms_DMSW_Tuple, ms_dmsw_pop_tuple_element));
}

/* params-type, result-type */
static uint32_t ms_dmsw_pop_params(ms_dmsw *p, unsigned kind)
{
    uint32_t type = ms_dmsw_pop(p, ms_DMSW_EmptyList) ? ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_Tuple))
                                                      : ms_dmsw_pop_type(p);
    return ms_dmsw_make1(p, kind, type);
}

/* C-TYPE */
static uint32_t ms_dmsw_clang_type(ms_dmsw *p)
{
    machsym_str part;
    return ms_dmsw_literal(p, &part) ? ms_dmsw_make_text(p, ms_DMSW_ClangType, part.ptr, part.len) : 0;
}

/* function-signature: the children are the optional parts in the order of the pops, parameters, result. */
static uint32_t ms_dmsw_pop_function(ms_dmsw *p, unsigned kind, bool has_clang_type)
{
    uint32_t ref = ms_dmsw_make(p, kind), part;
    if (has_clang_type && (part = ms_dmsw_clang_type(p)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_SendingResultFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop_trait(p, ms_DMSW_T_ISOLATION)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_DifferentiableFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_ThrowsAnnotation)) != 0 ||
        (part = ms_dmsw_pop(p, ms_DMSW_TypedThrowsAnnotation)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_ConcurrentFunctionType)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    if ((part = ms_dmsw_pop(p, ms_DMSW_AsyncAnnotation)) != 0)
        ref = ms_dmsw_add(p, ref, part);
    ref = ms_dmsw_add(p, ref, ms_dmsw_pop_params(p, ms_DMSW_ArgumentTuple));
    ref = ms_dmsw_add(p, ref, ms_dmsw_pop_params(p, ms_DMSW_ReturnType));
    return ms_dmsw_type(ref);
}

/* The tuple or the single type of a function's parameters, 0 when type is no function. */
static uint32_t ms_dmsw_params_of(const ms_dmsw *p, uint32_t type)
{
    if (!(type & ms_DMSW_AS_TYPE))
        return 0;
    if (ms_dmsw_inner(p, type) == ms_DMSW_DependentGenericType)
        type = ms_dmsw_kid(p, type, 1);
    unsigned kind = ms_dmsw_inner(p, type);
    if (kind != ms_DMSW_FunctionType && kind != ms_DMSW_NoEscapeFunctionType)
        return 0;
    uint32_t args = ms_dmsw_kid_of(p, type, ms_DMSW_ArgumentTuple);
    return ms_dmsw_kid(p, args, 0) & ~ms_DMSW_AS_TYPE;
}

/* Swift 4.0: takes the labels out of the parameter tuple. */
static uint32_t ms_dmsw_labels_of_tuple(ms_dmsw *p, uint32_t tuple)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_LabelList);
    uint32_t count = ms_dmsw_kid_count(p, tuple);
    bool any = false;
    if (ms_dmsw_inner(p, tuple) != ms_DMSW_Tuple)
        return list;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t param = ms_dmsw_kid(p, tuple, i), name = ms_dmsw_kid_of(p, param, ms_DMSW_TupleElementName);
        if (!name) {
            list = ms_dmsw_add(p, list, ms_dmsw_make(p, ms_DMSW_FirstElementMarker));
            continue;
        }
        any = true;
        list = ms_dmsw_add(p, list, ms_dmsw_with_kind(p, name, ms_DMSW_Identifier));
        uint32_t bare = ms_dmsw_make(p, ms_DMSW_TupleElement);
        for (uint32_t k = 0; k < ms_dmsw_kid_count(p, param); k++)
            if (ms_dmsw_kid(p, param, k) != name)
                bare = ms_dmsw_add(p, bare, ms_dmsw_kid(p, param, k));
        ms_dmsw_set_kid(p, tuple, i, bare);
    }
    return any ? list : ms_dmsw_make(p, ms_DMSW_LabelList);
}

/* label-list; 0 when there is none. */
static uint32_t ms_dmsw_pop_labels(ms_dmsw *p, uint32_t type)
{
    if (!p->old_functions && ms_dmsw_pop(p, ms_DMSW_EmptyList))
        return ms_dmsw_make(p, ms_DMSW_LabelList);
    uint32_t params = ms_dmsw_params_of(p, type);
    if (!params)
        return 0;
    uint32_t count = ms_dmsw_inner(p, params) == ms_DMSW_Tuple ? ms_dmsw_kid_count(p, params) : 1;
    if (count == 0)
        return 0;
    if (p->old_functions)
        return ms_dmsw_labels_of_tuple(p, params);
    uint32_t list = ms_dmsw_make(p, ms_DMSW_LabelList);
    bool any = false;
    for (; list && count > 0; count--) {
        uint32_t label = ms_dmsw_pop_any(p);
        unsigned kind = ms_dmsw_kind_of(p, label);
        if (kind != ms_DMSW_Identifier && kind != ms_DMSW_FirstElementMarker)
            return 0;
        any = any || kind == ms_DMSW_Identifier;
        list = ms_dmsw_add(p, list, label);
    }
    if (!any)
        return ms_dmsw_make(p, ms_DMSW_LabelList);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* F: function */
static uint32_t ms_dmsw_function(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t type = ms_dmsw_pop_function(p, ms_DMSW_FunctionType, false);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    if (signature)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, type));
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_Function, context, name);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

/* ACCESSOR, after the storage it belongs to */
static uint32_t ms_dmsw_accessor(ms_dmsw *p, uint32_t storage)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'm': kind = ms_DMSW_MaterializeForSet; break;
    case 's': kind = ms_DMSW_Setter; break;
    case 'g': kind = ms_DMSW_Getter; break;
    case 'G': kind = ms_DMSW_GlobalGetter; break;
    case 'w': kind = ms_DMSW_WillSet; break;
    case 'W': kind = ms_DMSW_DidSet; break;
    case 'r': kind = ms_DMSW_ReadAccessor; break;
    case 'y': kind = ms_DMSW_Read2Accessor; break;
    case 'M': kind = ms_DMSW_ModifyAccessor; break;
    case 'x': kind = ms_DMSW_Modify2Accessor; break;
    case 'b': kind = ms_DMSW_BorrowAccessor; break;
    case 'z': kind = ms_DMSW_MutateAccessor; break;
    case 'i': kind = ms_DMSW_InitAccessor; break;
    case 'a':
        switch (ms_dmsw_next(p)) {
        case 'O': kind = ms_DMSW_OwningMutableAddressor; break;
        case 'o': kind = ms_DMSW_NativeOwningMutableAddressor; break;
        case 'p': kind = ms_DMSW_NativePinningMutableAddressor; break;
        case 'u': kind = ms_DMSW_UnsafeMutableAddressor; break;
        default: return 0;
        }
        break;
    case 'l':
        switch (ms_dmsw_next(p)) {
        case 'O': kind = ms_DMSW_OwningAddressor; break;
        case 'o': kind = ms_DMSW_NativeOwningAddressor; break;
        case 'p': kind = ms_DMSW_NativePinningAddressor; break;
        case 'u': kind = ms_DMSW_UnsafeAddressor; break;
        default: return 0;
        }
        break;
    case 'p': return storage;
    default: return 0;
    }
    return ms_dmsw_make1(p, kind, storage);
}

/* decl-name label-list? type with a context before it */
static uint32_t ms_dmsw_typed_decl(ms_dmsw *p, unsigned kind)
{
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t name = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
    uint32_t context = ms_dmsw_pop_context(p);
    uint32_t ref = ms_dmsw_make2(p, kind, context, name);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

/* i: subscript */
static uint32_t ms_dmsw_subscript(ms_dmsw *p)
{
    uint32_t private_name = ms_dmsw_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_Subscript, ms_dmsw_pop_context(p));
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    ref = ms_dmsw_add(p, ref, type);
    if (private_name)
        ref = ms_dmsw_add(p, ref, private_name);
    return ms_dmsw_accessor(p, ref);
}

/* fC fc: a type with labels and perhaps a private name */
static uint32_t ms_dmsw_constructor(ms_dmsw *p, unsigned kind)
{
    uint32_t private_name = ms_dmsw_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make1(p, kind, ms_dmsw_pop_context(p));
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    ref = ms_dmsw_add(p, ref, type);
    return private_name ? ms_dmsw_add(p, ref, private_name) : ref;
}

/* fU fu: a number and a type */
static uint32_t ms_dmsw_closure(ms_dmsw *p, unsigned kind)
{
    uint32_t index = ms_dmsw_index_node(p);
    uint32_t type = ms_dmsw_pop_type(p);
    return ms_dmsw_make3(p, kind, ms_dmsw_pop_context(p), index, type);
}

/* fMX: a place in a file of a macro's expansion */
static uint32_t ms_dmsw_macro_place(ms_dmsw *p)
{
    uint32_t line = ms_dmsw_index_node(p), column = ms_dmsw_index_node(p);
    uint32_t file = ms_dmsw_pop(p, ms_DMSW_Identifier), module = ms_dmsw_pop(p, ms_DMSW_Identifier);
    return ms_dmsw_add(p, ms_dmsw_make3(p, ms_DMSW_MacroExpansionLoc, module, file, line), column);
}

/* fM: macro expansions */
static uint32_t ms_dmsw_macro_expansion(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'a': kind = ms_DMSW_AccessorAttachedMacroExpansion; break;
    case 'r': kind = ms_DMSW_MemberAttributeAttachedMacroExpansion; break;
    case 'f': kind = ms_DMSW_FreestandingMacroExpansion; break;
    case 'm': kind = ms_DMSW_MemberAttachedMacroExpansion; break;
    case 'p': kind = ms_DMSW_PeerAttachedMacroExpansion; break;
    case 'c': kind = ms_DMSW_ConformanceAttachedMacroExpansion; break;
    case 'e': kind = ms_DMSW_ExtensionAttachedMacroExpansion; break;
    case 'q': kind = ms_DMSW_PreambleAttachedMacroExpansion; break;
    case 'b': kind = ms_DMSW_BodyAttachedMacroExpansion; break;
    case 'u': kind = ms_DMSW_MacroExpansionUniqueName; break;
    case 'X': return ms_dmsw_macro_place(p);
    default: return 0;
    }
    bool attached = kind != ms_DMSW_FreestandingMacroExpansion && kind != ms_DMSW_MacroExpansionUniqueName;
    uint32_t macro = ms_dmsw_pop(p, ms_DMSW_Identifier);
    uint32_t private_name = attached ? 0 : ms_dmsw_pop(p, ms_DMSW_PrivateDeclName);
    uint32_t decl = attached ? ms_dmsw_pop_trait(p, ms_DMSW_T_NAME) : 0;
    uint32_t context = ms_dmsw_pop_trait(p, ms_DMSW_T_MACRO);
    if (!context)
        context = ms_dmsw_pop_context(p);
    uint32_t index = ms_dmsw_index_node(p);
    uint32_t ref = ms_dmsw_make1(p, kind, context);
    if (decl)
        ref = ms_dmsw_add(p, ref, decl);
    ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, macro), index);
    return private_name ? ms_dmsw_add(p, ref, private_name) : ref;
}

/* f: entity-spec */
static uint32_t ms_dmsw_function_entity(ms_dmsw *p)
{
    uint32_t index;
    switch (ms_dmsw_next(p)) {
    case 'D': return ms_dmsw_make1(p, ms_DMSW_Deallocator, ms_dmsw_pop_context(p));
    case 'Z': return ms_dmsw_make1(p, ms_DMSW_IsolatedDeallocator, ms_dmsw_pop_context(p));
    case 'd': return ms_dmsw_make1(p, ms_DMSW_Destructor, ms_dmsw_pop_context(p));
    case 'E': return ms_dmsw_make1(p, ms_DMSW_IVarDestroyer, ms_dmsw_pop_context(p));
    case 'e': return ms_dmsw_make1(p, ms_DMSW_IVarInitializer, ms_dmsw_pop_context(p));
    case 'i': return ms_dmsw_make1(p, ms_DMSW_Initializer, ms_dmsw_pop_context(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_PropertyWrapperBackingInitializer, ms_dmsw_pop_context(p));
    case 'W': return ms_dmsw_make1(p, ms_DMSW_PropertyWrapperInitFromProjectedValue, ms_dmsw_pop_context(p));
    case 'F': return ms_dmsw_make1(p, ms_DMSW_PropertyWrappedFieldInitAccessor, ms_dmsw_pop_context(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_RuntimeAttributeGenerator, ms_dmsw_pop_context(p));
    case 'A':
        index = ms_dmsw_index_node(p);
        return ms_dmsw_make2(p, ms_DMSW_DefaultArgumentInitializer, ms_dmsw_pop_context(p), index);
    case 'C': return ms_dmsw_constructor(p, ms_DMSW_Allocator);
    case 'c': return ms_dmsw_constructor(p, ms_DMSW_Constructor);
    case 'U': return ms_dmsw_closure(p, ms_DMSW_ExplicitClosure);
    case 'u': return ms_dmsw_closure(p, ms_DMSW_ImplicitClosure);
    case 'm': return ms_dmsw_typed_decl(p, ms_DMSW_Macro);
    case 'M': return ms_dmsw_macro_expansion(p);
    case 'p': return ms_dmsw_typed_decl(p, ms_DMSW_GenericTypeParamDecl);
    default: return 0;
    }
}

/* ---- types of Swift 4 and later ---- */

static uint32_t ms_dmsw_pop_retroactive(ms_dmsw *p)
{
    uint32_t list = 0, ref;
    while ((ref = ms_dmsw_pop(p, ms_DMSW_RetroactiveConformance)) != 0)
        list = ms_dmsw_add(p, list ? list : ms_dmsw_make(p, ms_DMSW_TypeList), ref);
    if (list)
        ms_dmsw_reverse(p, list, 0);
    return list;
}

/* bound-generic-args: a list of lists, the innermost type's arguments first. */
static uint32_t ms_dmsw_pop_bound_args(ms_dmsw *p)
{
    uint32_t lists = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (lists) {
        uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList), type;
        while ((type = ms_dmsw_pop_type(p)) != 0)
            list = ms_dmsw_add(p, list, type);
        if (list)
            ms_dmsw_reverse(p, list, 0);
        lists = ms_dmsw_add(p, lists, list);
        if (ms_dmsw_pop(p, ms_DMSW_EmptyList))
            break;
        if (!ms_dmsw_pop_first(p))
            return 0;
    }
    return lists;
}

static unsigned ms_dmsw_bound_kind(unsigned kind)
{
    switch (kind) {
    case ms_DMSW_Class: return ms_DMSW_BoundGenericClass;
    case ms_DMSW_Structure: return ms_DMSW_BoundGenericStructure;
    case ms_DMSW_Enum: return ms_DMSW_BoundGenericEnum;
    case ms_DMSW_Protocol: return ms_DMSW_BoundGenericProtocol;
    case ms_DMSW_OtherNominalType: return ms_DMSW_BoundGenericOtherNominalType;
    case ms_DMSW_TypeAlias: return ms_DMSW_BoundGenericTypeAlias;
    case ms_DMSW_Function:
    case ms_DMSW_Constructor: return ms_DMSW_BoundGenericFunction;
    default: return ms_DMSW_None;
    }
}

/* Whether a list of arguments belongs to this context (a local type's arguments include its functions'). */
static bool ms_dmsw_takes_args(unsigned kind)
{
    switch (kind) {
    case ms_DMSW_Variable:
    case ms_DMSW_Subscript:
    case ms_DMSW_ImplicitClosure:
    case ms_DMSW_ExplicitClosure:
    case ms_DMSW_DefaultArgumentInitializer:
    case ms_DMSW_Initializer:
    case ms_DMSW_PropertyWrapperBackingInitializer:
    case ms_DMSW_PropertyWrapperInitFromProjectedValue:
    case ms_DMSW_Static: return false;
    default: return true;
    }
}

/* Gives each level of a nested type its arguments, from the innermost outwards. */
static uint32_t ms_dmsw_bind(ms_dmsw *p, uint32_t ref, uint32_t lists, uint32_t i)
{
    uint32_t list_count = ms_dmsw_kid_count(p, lists), context = ms_dmsw_kid(p, ref, 0), args;
    if (!ref || i >= list_count || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    unsigned kind = n->kind;
    bool takes = ms_dmsw_takes_args(kind);
    args = ms_dmsw_kid(p, lists, i);
    if (takes)
        i++;
    if (i < list_count) {
        uint32_t parent;
        if (ms_dmsw_kind_of(p, context) == ms_DMSW_Extension) {
            uint32_t signature = ms_dmsw_kid(p, context, 2);
            parent = ms_dmsw_bind(p, ms_dmsw_kid(p, context, 1), lists, i);
            parent = ms_dmsw_make2(p, ms_DMSW_Extension, ms_dmsw_kid(p, context, 0), parent);
            if (signature)
                parent = ms_dmsw_add(p, parent, signature);
        } else {
            parent = ms_dmsw_bind(p, context & ~ms_DMSW_AS_TYPE, lists, i);
        }
        uint32_t rebuilt = ms_dmsw_make1(p, kind, parent);
        for (uint32_t k = 1; k < ms_dmsw_kid_count(p, ref); k++)
            rebuilt = ms_dmsw_add(p, rebuilt, ms_dmsw_kid(p, ref, k));
        ref = rebuilt;
    }
    p->d->depth--;
    if (!ref || !takes || ms_dmsw_kid_count(p, args) == 0)
        return ref;
    unsigned bound = ms_dmsw_bound_kind(kind);
    if (bound == ms_DMSW_None)
        return 0;
    return ms_dmsw_make2(p, bound, bound == ms_DMSW_BoundGenericFunction ? ref : ms_dmsw_type(ref), args);
}

/* G: bound generic type */
static uint32_t ms_dmsw_bound_generic(ms_dmsw *p)
{
    uint32_t retroactive = ms_dmsw_pop_retroactive(p);
    uint32_t lists = ms_dmsw_pop_bound_args(p);
    uint32_t nominal = ms_dmsw_pop_nominal(p);
    if (!lists)
        return 0;
    uint32_t ref = ms_dmsw_bind(p, nominal, lists, 0);
    if (ref && retroactive) {
        /* the list of arguments may be shared: only a bound node of this type can take them */
        ref = ms_dmsw_add(p, ms_dmsw_with_kind(p, ref, ms_dmsw_inner(p, ref)), retroactive);
    }
    return ms_dmsw_remember(p, ms_dmsw_type(ref));
}

static uint32_t ms_dmsw_param_type(ms_dmsw *p, uint64_t depth, uint64_t index)
{
    return ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamType, depth << 32 | index);
}

/* GENERIC-PARAM-INDEX */
static uint32_t ms_dmsw_generic_param(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'z'))
        return ms_dmsw_param_type(p, 0, 0);
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_make(p, ms_DMSW_ConstrainedExistentialSelf);
    int64_t depth = 0, index;
    if (ms_dmsw_next_if(p, 'd')) {
        depth = ms_dmsw_index(p) + 1;
        index = ms_dmsw_index(p);
        if (depth <= 0)
            return 0;
    } else {
        index = ms_dmsw_index(p);
        index += index >= 0;
    }
    return index >= 0 ? ms_dmsw_param_type(p, (uint64_t)depth, (uint64_t)index) : 0;
}

/* An associated type of base, or of the type on the stack when base is 0. */
static uint32_t ms_dmsw_assoc_simple(ms_dmsw *p, uint32_t base)
{
    uint32_t name = ms_dmsw_pop_assoc_name(p);
    uint32_t type = base ? ms_dmsw_type(base) : ms_dmsw_pop_type(p);
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, type, name));
}

/* assoc-type-list applied to base, or to the type on the stack when base is 0. */
static uint32_t ms_dmsw_assoc_compound(ms_dmsw *p, uint32_t base)
{
    uint32_t path = ms_dmsw_pop_assoc_path(p);
    if (!path)
        return 0;
    uint32_t type = base ? ms_dmsw_type(base) : ms_dmsw_pop_type(p);
    for (uint32_t i = 0; i < ms_dmsw_kid_count(p, path); i++)
        type = ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, type, ms_dmsw_kid(p, path, i)));
    return type;
}

/* 'Qo': an opaque type with the arguments of its declaration */
static uint32_t ms_dmsw_opaque_type(ms_dmsw *p)
{
    uint32_t index = ms_dmsw_index_node(p);
    uint32_t retroactive = ms_dmsw_pop_retroactive(p);
    uint32_t lists = ms_dmsw_pop_bound_args(p);
    uint32_t name = ms_dmsw_pop_any(p);
    if (lists)
        ms_dmsw_reverse(p, lists, 0);
    uint32_t ref = ms_dmsw_make3(p, ms_DMSW_OpaqueType, name, index, lists);
    if (retroactive)
        ref = ms_dmsw_add(p, ref, retroactive);
    return ms_dmsw_remember(p, ms_dmsw_type(ref));
}

/* Q: archetypes, associated types, packs and opaque types */
static uint32_t ms_dmsw_archetype(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'a':
        a = ms_dmsw_pop(p, ms_DMSW_Identifier);
        b = ms_dmsw_pop_bare(p);
        return ms_dmsw_remember(p, ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_AssociatedTypeRef, b, a)));
    case 'e':
        a = ms_dmsw_pop_bare(p);
        b = ms_dmsw_index_node(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_PackElement, a, b));
    case 'O': return ms_dmsw_make1(p, ms_DMSW_OpaqueReturnTypeOf, ms_dmsw_pop_context(p));
    case 'o': return ms_dmsw_opaque_type(p);
    case 'p':
        a = ms_dmsw_pop_bare(p);
        b = ms_dmsw_pop_bare(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_PackExpansion, b, a));
    case 'P': return ms_dmsw_type(ms_dmsw_pop_list_or_empty(p, ms_DMSW_Pack, ms_dmsw_pop_type));
    case 'S':
        c = ms_dmsw_next(p);
        if (c != 'd' && c != 'i')
            return 0;
        return ms_dmsw_type(ms_dmsw_pop_list_or_empty(
            p, c == 'd' ? ms_DMSW_SILPackDirect : ms_DMSW_SILPackIndirect, ms_dmsw_pop_type));
    case 'r':
    case 'u': return ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_OpaqueReturnType));
    case 'R':
    case 'U': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_OpaqueReturnType, ms_dmsw_index_node(p)));
    case 'x': return ms_dmsw_remember(p, ms_dmsw_assoc_simple(p, 0));
    case 'X': return ms_dmsw_remember(p, ms_dmsw_assoc_compound(p, 0));
    case 'y':
    case 'Y':
        a = ms_dmsw_generic_param(p);
        if (!a)
            return 0;
        return ms_dmsw_remember(p, c == 'y' ? ms_dmsw_assoc_simple(p, a) : ms_dmsw_assoc_compound(p, a));
    case 'z':
    case 'Z':
        a = ms_dmsw_param_type(p, 0, 0);
        return ms_dmsw_remember(p, c == 'z' ? ms_dmsw_assoc_simple(p, a) : ms_dmsw_assoc_compound(p, a));
    default: return 0;
    }
}

/* The constrained type of a requirement; form is one of Generic, Assoc, Compound, Substitution by letter. */
static uint32_t ms_dmsw_constrained(ms_dmsw *p, char form)
{
    if (form == 'S')
        return ms_dmsw_pop_type(p);
    uint32_t param = ms_dmsw_generic_param(p);
    if (!param)
        return 0;
    if (form == 'G')
        return ms_dmsw_type(param);
    return ms_dmsw_remember(p,
                            form == 'A' ? ms_dmsw_assoc_simple(p, param) : ms_dmsw_assoc_compound(p, param));
}

/* LAYOUT-CONSTRAINT */
static uint32_t ms_dmsw_layout(ms_dmsw *p, uint32_t type)
{
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find("URNCDTBSEeMm", c) < 0)
        return 0;
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentGenericLayoutRequirement, type);
    if (!ref)
        return 0;
    ms_dmsw_at(p, ref)->mark = (uint8_t)c;
    if (ms_dmsw_find("EMemS", c) >= 0)
        ref = ms_dmsw_add(p, ref, ms_dmsw_index_node(p));
    if (c == 'E' || c == 'M')
        ref = ms_dmsw_add(p, ref, ms_dmsw_index_node(p));
    return ref;
}

/* R: requirement, generic-param-marker */
static uint32_t ms_dmsw_requirement(ms_dmsw *p)
{
    /* letter, form of the constrained type, what it is */
    static const char table[] = "VGv"
                                "vGp"
                                "cAb"
                                "CCb"
                                "bGb"
                                "BSb"
                                "tAs"
                                "TCs"
                                "sGs"
                                "SSs"
                                "mAl"
                                "MCl"
                                "lGl"
                                "LSl"
                                "pAq"
                                "PCq"
                                "QSq"
                                "hGh"
                                "iGi"
                                "ISi"
                                "jAi"
                                "JCi";
    char c = ms_dmsw_peek(p), form = 'G', what = 'q';
    for (size_t i = 0; c != '\0' && i + 2 < sizeof table; i += 3) {
        if (table[i] != c)
            continue;
        form = table[i + 1];
        what = table[i + 2];
        p->at++;
        break;
    }
    uint32_t inverse = what == 'i' ? ms_dmsw_index_node(p) : 0;
    uint32_t type = ms_dmsw_constrained(p, form);
    switch (what) {
    case 'v': return ms_dmsw_make2(p, ms_DMSW_DependentGenericParamValueMarker, type, ms_dmsw_pop_type(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_DependentGenericParamPackMarker, type);
    case 'q':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type,
                             ms_dmsw_pop_protocol(p));
    case 'b':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type, ms_dmsw_pop_type(p));
    case 's': return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameTypeRequirement, type, ms_dmsw_pop_type(p));
    case 'h':
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameShapeRequirement, type, ms_dmsw_pop_type(p));
    case 'i': return ms_dmsw_make2(p, ms_DMSW_DependentGenericInverseConformanceRequirement, type, inverse);
    default: return ms_dmsw_layout(p, type);
    }
}

/* l r: generic-signature */
static uint32_t ms_dmsw_signature(ms_dmsw *p, bool has_counts)
{
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_DependentGenericSignature), requirement;
    if (!has_counts) {
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, 1));
    } else {
        while (ref && !ms_dmsw_next_if(p, 'l')) {
            int64_t count = ms_dmsw_next_if(p, 'z') ? 0 : ms_dmsw_index(p) + 1;
            if (count < 0 || (count == 0 && p->s[p->at - 1] != 'z'))
                return 0;
            ref = ms_dmsw_add(p, ref,
                              ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, (uint64_t)count));
        }
    }
    uint32_t counts = ms_dmsw_kid_count(p, ref);
    while ((requirement = ms_dmsw_pop_requirement(p)) != 0)
        ref = ms_dmsw_add(p, ref, requirement);
    if (ref)
        ms_dmsw_reverse(p, ref, counts);
    return ref;
}

/* protocol-list */
static uint32_t ms_dmsw_pop_protocols(ms_dmsw *p)
{
    return ms_dmsw_make1(p, ms_DMSW_ProtocolList,
                         ms_dmsw_pop_list_or_empty(p, ms_DMSW_TypeList, ms_dmsw_pop_protocol));
}

static uint32_t ms_dmsw_metatype_repr(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 't': return ms_dmsw_make_lit(p, ms_DMSW_MetatypeRepresentation, "@thin");
    case 'T': return ms_dmsw_make_lit(p, ms_DMSW_MetatypeRepresentation, "@thick");
    case 'o': return ms_dmsw_make_lit(p, ms_DMSW_MetatypeRepresentation, "@objc_metatype");
    default: return 0;
    }
}

/* Xx XX: SIL boxes */
static uint32_t ms_dmsw_sil_box(ms_dmsw *p, bool generic)
{
    uint32_t signature = 0, args = 0;
    if (generic) {
        signature = ms_dmsw_pop_signature(p);
        args = ms_dmsw_pop_type_list(p);
        if (!signature || !args)
            return 0;
    }
    uint32_t types = ms_dmsw_pop_type_list(p), layout = ms_dmsw_make(p, ms_DMSW_SILBoxLayout);
    if (!types)
        return 0;
    for (uint32_t i = 0; i < ms_dmsw_kid_count(p, types); i++) {
        uint32_t type = ms_dmsw_kid(p, types, i);
        unsigned kind = ms_DMSW_SILBoxImmutableField;
        if (ms_dmsw_inner(p, type) == ms_DMSW_InOut) { /* how a mutable field is written */
            kind = ms_DMSW_SILBoxMutableField;
            type = ms_dmsw_kid(p, type, 0);
        }
        layout = ms_dmsw_add(p, layout, ms_dmsw_make1(p, kind, type));
    }
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_SILBoxTypeWithLayout, layout);
    if (generic)
        ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, signature), args);
    return ms_dmsw_type(ref);
}

/* XS: sugared types of the debugger */
static uint32_t ms_dmsw_sugared(ms_dmsw *p)
{
    uint32_t type;
    switch (ms_dmsw_next(p)) {
    case 'q': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredOptional, ms_dmsw_pop_type(p)));
    case 'a': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredArray, ms_dmsw_pop_type(p)));
    case 'p': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SugaredParen, ms_dmsw_pop_type(p)));
    case 'D':
        type = ms_dmsw_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_SugaredDictionary, ms_dmsw_pop_type(p), type));
    case 'A':
        type = ms_dmsw_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_SugaredInlineArray, ms_dmsw_pop_type(p), type));
    default: return 0;
    }
}

/* X: types that are rarer than one letter */
static uint32_t ms_dmsw_special_type(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'E': return ms_dmsw_pop_function(p, ms_DMSW_NoEscapeFunctionType, false);
    case 'A': return ms_dmsw_pop_function(p, ms_DMSW_EscapingAutoClosureType, false);
    case 'f': return ms_dmsw_pop_function(p, ms_DMSW_ThinFunctionType, false);
    case 'K': return ms_dmsw_pop_function(p, ms_DMSW_AutoClosureType, false);
    case 'U': return ms_dmsw_pop_function(p, ms_DMSW_UncurriedFunctionType, false);
    case 'L': return ms_dmsw_pop_function(p, ms_DMSW_EscapingObjCBlock, false);
    case 'B': return ms_dmsw_pop_function(p, ms_DMSW_ObjCBlock, false);
    case 'C': return ms_dmsw_pop_function(p, ms_DMSW_CFunctionPointer, false);
    case 'z':
        c = ms_dmsw_next(p);
        if (c != 'B' && c != 'C')
            return 0;
        return ms_dmsw_pop_function(p, c == 'B' ? ms_DMSW_ObjCBlock : ms_DMSW_CFunctionPointer, true);
    case 'g': return ms_dmsw_make1(p, ms_DMSW_ExtendedExistentialTypeShape, ms_dmsw_pop_type(p));
    case 'G':
        a = ms_dmsw_pop_type(p);
        return ms_dmsw_make2(p, ms_DMSW_ExtendedExistentialTypeShape, ms_dmsw_pop_signature(p), a);
    case 'o': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Unowned, ms_dmsw_pop_type(p)));
    case 'u': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Unmanaged, ms_dmsw_pop_type(p)));
    case 'w': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Weak, ms_dmsw_pop_type(p)));
    case 'b': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_SILBoxType, ms_dmsw_pop_type(p)));
    case 'D': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_DynamicSelf, ms_dmsw_pop_type(p)));
    case 'M':
    case 'm':
        a = ms_dmsw_metatype_repr(p);
        b = ms_dmsw_pop_type(p);
        return ms_dmsw_type(
            ms_dmsw_make2(p, c == 'M' ? ms_DMSW_Metatype : ms_DMSW_ExistentialMetatype, a, b));
    case 'p': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ExistentialMetatype, ms_dmsw_pop_type(p)));
    case 'P':
        a = ms_dmsw_pop_list(p, ms_DMSW_ConstrainedExistentialRequirementList, ms_dmsw_pop_requirement);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_ConstrainedExistential, ms_dmsw_pop_type(p), a));
    case 'c':
        a = ms_dmsw_pop_type(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_ProtocolListWithClass, ms_dmsw_pop_protocols(p), a));
    case 'l':
        return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ProtocolListWithAnyObject, ms_dmsw_pop_protocols(p)));
    case 'x':
    case 'X': return ms_dmsw_sil_box(p, c == 'X');
    case 'Y': return ms_dmsw_any_generic(p, ms_DMSW_OtherNominalType);
    case 'Z':
        a = ms_dmsw_pop_type_list(p);
        b = ms_dmsw_pop(p, ms_DMSW_Identifier);
        return ms_dmsw_make3(p, ms_DMSW_AnonymousContext, b, ms_dmsw_pop_context(p), a);
    case 'e': return ms_dmsw_type(ms_dmsw_make(p, ms_DMSW_ErrorType));
    case 'S': return ms_dmsw_sugared(p);
    default: return 0;
    }
}

static uint32_t ms_dmsw_marked(ms_dmsw *p, unsigned kind, char mark)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ref)
        ms_dmsw_at(p, ref)->mark = (uint8_t)mark;
    return ref;
}

static bool ms_dmsw_diff_letter(char c)
{
    return c == 'd' || c == 'f' || c == 'l' || c == 'r';
}

/* Y: parts of function types and of parameters */
static uint32_t ms_dmsw_annotation(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'a': return ms_dmsw_make(p, ms_DMSW_AsyncAnnotation);
    case 'A': return ms_dmsw_make(p, ms_DMSW_IsolatedAnyFunctionType);
    case 'b': return ms_dmsw_make(p, ms_DMSW_ConcurrentFunctionType);
    case 'c': return ms_dmsw_make1(p, ms_DMSW_GlobalActorFunctionType, ms_dmsw_pop_type(p));
    case 'C': return ms_dmsw_make(p, ms_DMSW_NonIsolatedCallerFunctionType);
    case 'g': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_ConstValue, ms_dmsw_pop_bare(p)));
    case 'i': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Isolated, ms_dmsw_pop_bare(p)));
    case 'j':
        c = ms_dmsw_next(p);
        return ms_dmsw_diff_letter(c) ? ms_dmsw_marked(p, ms_DMSW_DifferentiableFunctionType, c) : 0;
    case 'k': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_NoDerivative, ms_dmsw_pop_bare(p)));
    case 'K': return ms_dmsw_make1(p, ms_DMSW_TypedThrowsAnnotation, ms_dmsw_pop_bare(p));
    case 't': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_CompileTimeLiteral, ms_dmsw_pop_bare(p)));
    case 'T': return ms_dmsw_make(p, ms_DMSW_SendingResultFunctionType);
    case 'u': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Sending, ms_dmsw_pop_bare(p)));
    default: return 0;
    }
}

/* $: integers as types */
static uint32_t ms_dmsw_integer(ms_dmsw *p)
{
    bool negative = ms_dmsw_next_if(p, 'n');
    int64_t value = ms_dmsw_index(p);
    if (value < 0)
        return 0;
    return ms_dmsw_type(
        ms_dmsw_make_index(p, negative ? ms_DMSW_NegativeInteger : ms_DMSW_Integer, (uint64_t)value));
}

/* ---- implementation function types ---- */

/* PARAM-CONVENTION and RESULT-CONVENTION: the letters, and the words in the same order */
static const char ms_dmsw_param_letters[] = "iclbnXxgeyvpm";
static const char *const ms_dmsw_param_words[] = {
    "@in",         "@in_constant",     "@inout",      "@inout_aliasable", "@in_guaranteed",
    "@in_cxx",     "@owned",           "@guaranteed", "@deallocating",    "@unowned",
    "@pack_owned", "@pack_guaranteed", "@pack_inout"};
static const char ms_dmsw_result_letters[] = "roduaklgm";
static const char *const ms_dmsw_result_words[] = {"@out",
                                                   "@owned",
                                                   "@unowned",
                                                   "@unowned_inner_pointer",
                                                   "@autoreleased",
                                                   "@pack_out",
                                                   "@guaranteed_address",
                                                   "@guaranteed",
                                                   "@inout"};

/* The mark of a parameter or result. */
enum {
    ms_DMSW_M_WORD = 0x0f, /* place in one of the tables above */
    ms_DMSW_M_NO_DERIVATIVE = 0x10,
    ms_DMSW_M_SENDING = 0x20,
    ms_DMSW_M_ISOLATED = 0x40,
    ms_DMSW_M_IMPLICIT = 0x80
};

/* One parameter or result without its type; 0 when the next letter is none. */
static uint32_t ms_dmsw_impl_part(ms_dmsw *p, unsigned kind, const char *letters)
{
    int word = ms_dmsw_find(letters, ms_dmsw_peek(p));
    if (word < 0)
        return 0;
    p->at++;
    return ms_dmsw_marked(p, kind, (char)word);
}

/* PARAM-DIFFERENTIABILITY to IMPLICIT-LEADING-PARAM; a result has only the first of them */
static void ms_dmsw_impl_marks(ms_dmsw *p, uint32_t ref, bool is_param)
{
    static const char letters[] = "wTIL";
    unsigned mark = ms_dmsw_at(p, ref)->mark;
    for (unsigned i = 0; letters[i] != '\0' && (i == 0 || is_param); i++)
        if (ms_dmsw_next_if(p, letters[i]))
            mark |= (unsigned)ms_DMSW_M_NO_DERIVATIVE << i;
    ms_dmsw_at(p, ref)->mark = (uint8_t)mark;
}

/* PATTERN-SUBS, INVOCATION-SUB */
static uint32_t ms_dmsw_impl_subs(ms_dmsw *p, unsigned kind)
{
    uint32_t retroactive = ms_dmsw_pop_retroactive(p);
    uint32_t lists = ms_dmsw_pop_bound_args(p);
    uint32_t ref = ms_dmsw_make(p, kind);
    if (kind == ms_DMSW_ImplPatternSubstitutions)
        ref = ms_dmsw_add(p, ref, ms_dmsw_pop_signature(p));
    if (ms_dmsw_kid_count(p, lists) != 1)
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_kid(p, lists, 0));
    return retroactive ? ms_dmsw_add(p, ref, retroactive) : ref;
}

/* FUNC-REPRESENTATION */
static uint32_t ms_dmsw_impl_representation(ms_dmsw *p, uint32_t ref)
{
    uint32_t name = 0, clang = 0;
    bool has_clang =
        ms_dmsw_peek(p) == 'z' && p->len - p->at > 1 && (p->s[p->at + 1] == 'B' || p->s[p->at + 1] == 'C');
    p->at += has_clang;
    switch (ms_dmsw_peek(p)) {
    case 'B': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "block"); break;
    case 'C': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "c"); break;
    case 'M': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "method"); break;
    case 'J': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "objc_method"); break;
    case 'K': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "closure"); break;
    case 'W': name = ms_dmsw_make_lit(p, ms_DMSW_Identifier, "witness_method"); break;
    default: return ref;
    }
    p->at++;
    uint32_t convention = ms_dmsw_make1(p, ms_DMSW_ImplFunctionConvention, name);
    if (has_clang) {
        clang = ms_dmsw_clang_type(p);
        convention = ms_dmsw_add(p, convention, clang);
    }
    return ms_dmsw_add(p, ref, convention);
}

/* CALLEE-ESCAPE to SENDING-RESULT */
static uint32_t ms_dmsw_impl_attributes(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_next_if(p, 'e'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplEscaping));
    if (ms_dmsw_next_if(p, 'A'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplErasedIsolation));
    else if (ms_dmsw_next_if(p, 'N'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplNonIsolated));
    if (ms_dmsw_next_if(p, 'O'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplCalledOnce));
    if (ms_dmsw_diff_letter(ms_dmsw_peek(p)))
        ref = ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_ImplDifferentiabilityKind, ms_dmsw_next(p)));
    uint32_t callee = 0;
    switch (ms_dmsw_next(p)) {
    case 'y': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_unowned"); break;
    case 'g': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_guaranteed"); break;
    case 'x': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_owned"); break;
    case 't': callee = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@convention(thin)"); break;
    default: return 0;
    }
    ref = ms_dmsw_impl_representation(p, ms_dmsw_add(p, ref, callee));
    if (ms_dmsw_next_if(p, 'A'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@yield_once"));
    else if (ms_dmsw_next_if(p, 'I'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@yield_once_2"));
    else if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@yield_many"));
    if (ms_dmsw_next_if(p, 'h'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@Sendable"));
    if (ms_dmsw_next_if(p, 'H'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@async"));
    if (ms_dmsw_next_if(p, 'T'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ImplSendingResult));
    return ref;
}

/* I: impl-function-type */
static uint32_t ms_dmsw_impl_function(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_ImplFunctionType), part;
    if (ms_dmsw_next_if(p, 's'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_impl_subs(p, ms_DMSW_ImplPatternSubstitutions));
    if (ms_dmsw_next_if(p, 'I'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_impl_subs(p, ms_DMSW_ImplInvocationSubstitutions));
    uint32_t signature = ms_dmsw_pop_signature(p), first;
    if (signature && ms_dmsw_next_if(p, 'P'))
        signature = ms_dmsw_with_kind(p, signature, ms_DMSW_DependentPseudogenericSignature);
    ref = ms_dmsw_impl_attributes(p, ref);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    first = ms_dmsw_kid_count(p, ref);
    while (ref && (part = ms_dmsw_impl_part(p, ms_DMSW_ImplParameter, ms_dmsw_param_letters)) != 0) {
        ms_dmsw_impl_marks(p, part, true);
        ref = ms_dmsw_add(p, ref, part);
    }
    while (ref && (part = ms_dmsw_impl_part(p, ms_DMSW_ImplResult, ms_dmsw_result_letters)) != 0) {
        ms_dmsw_impl_marks(p, part, false);
        ref = ms_dmsw_add(p, ref, part);
    }
    while (ref && ms_dmsw_next_if(p, 'Y')) {
        part = ms_dmsw_impl_part(p, ms_DMSW_ImplYield, ms_dmsw_param_letters);
        if (part)
            ms_dmsw_impl_marks(p, part, true);
        ref = ms_dmsw_add(p, ref, part);
    }
    if (ms_dmsw_next_if(p, 'z')) {
        part = ms_dmsw_impl_part(p, ms_DMSW_ImplErrorResult, ms_dmsw_result_letters);
        if (part)
            ms_dmsw_impl_marks(p, part, false);
        ref = ms_dmsw_add(p, ref, part);
    }
    if (!ref || !ms_dmsw_next_if(p, '_'))
        return 0;
    for (uint32_t i = ms_dmsw_kid_count(p, ref); i > first; i--)
        if (!ms_dmsw_add(p, ms_dmsw_kid(p, ref, i - 1), ms_dmsw_pop_type(p)))
            return 0;
    return ms_dmsw_type(ref);
}

/* ---- conformances ---- */

/* DEPENDENT-CONFORMANCE-INDEX: 0 is reserved, 1 means unknown, the rest is moved by two */
static uint32_t ms_dmsw_conformance_index(ms_dmsw *p)
{
    int64_t index = ms_dmsw_index(p);
    if (index <= 0)
        return 0;
    return index == 1 ? ms_dmsw_make(p, ms_DMSW_UnknownIndex)
                      : ms_dmsw_make_index(p, ms_DMSW_Index, (uint64_t)index - 2);
}

static uint32_t ms_dmsw_concrete_conformance(ms_dmsw *p)
{
    uint32_t list =
        ms_dmsw_pop_list_or_empty(p, ms_DMSW_AnyProtocolConformanceList, ms_dmsw_pop_any_conformance);
    uint32_t ref = ms_dmsw_pop(p, ms_DMSW_ProtocolConformanceRefInTypeModule);
    if (!ref)
        ref = ms_dmsw_pop(p, ms_DMSW_ProtocolConformanceRefInProtocolModule);
    if (!ref) {
        uint32_t module = ms_dmsw_pop_module(p);
        ref = ms_dmsw_make2(p, ms_DMSW_ProtocolConformanceRefInOtherModule, ms_dmsw_pop_protocol(p), module);
    }
    return ms_dmsw_make3(p, ms_DMSW_ConcreteProtocolConformance, ms_dmsw_pop_type(p), ref, list);
}

/* H: conformances and runtime records */
static uint32_t ms_dmsw_conformance_op(ms_dmsw *p)
{
    uint32_t a, b, index;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'A':
        index = ms_dmsw_conformance_index(p);
        a = ms_dmsw_pop_protocol(p);
        a = ms_dmsw_make2(p, ms_DMSW_DependentAssociatedConformance, ms_dmsw_pop_type(p), a);
        b = ms_dmsw_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceAssociated, b, a, index);
    case 'D':
        index = ms_dmsw_conformance_index(p);
        a = ms_dmsw_pop_protocol(p);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceRoot, ms_dmsw_pop_type(p), a, index);
    case 'I':
        index = ms_dmsw_conformance_index(p);
        a = ms_dmsw_pop_protocol(p);
        b = ms_dmsw_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make3(p, ms_DMSW_DependentProtocolConformanceInherited, b, a, index);
    case 'O':
        a = ms_dmsw_pop_type(p);
        b = ms_dmsw_pop_trait(p, ms_DMSW_T_DEPCONF);
        return ms_dmsw_make2(p, ms_DMSW_DependentProtocolConformanceOpaque, b, a);
    case 'C': return ms_dmsw_concrete_conformance(p);
    case 'X':
        a = ms_dmsw_pop_list_or_empty(p, ms_DMSW_AnyProtocolConformanceList, ms_dmsw_pop_any_conformance);
        return ms_dmsw_make1(p, ms_DMSW_PackProtocolConformance, a);
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceRefInTypeModule, ms_dmsw_pop_protocol(p));
    case 'p':
        return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceRefInProtocolModule, ms_dmsw_pop_protocol(p));
    case 'c':
        return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceDescriptorRecord, ms_dmsw_pop_conformance(p));
    case 'n': return ms_dmsw_make1(p, ms_DMSW_NominalTypeDescriptorRecord, ms_dmsw_pop_type(p));
    case 'o': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorRecord, ms_dmsw_pop_any(p));
    case 'r': return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptorRecord, ms_dmsw_pop_protocol(p));
    case 'F': return ms_dmsw_make(p, ms_DMSW_AccessibleFunctionRecord);
    default: return 0;
    }
}

/* g: retroactive-conformance */
static uint32_t ms_dmsw_retroactive(ms_dmsw *p)
{
    uint32_t index = ms_dmsw_index_node(p);
    return ms_dmsw_make2(p, ms_DMSW_RetroactiveConformance, index, ms_dmsw_pop_any_conformance(p));
}

/* ---- metadata, witnesses ---- */

/* MX: context descriptors */
static uint32_t ms_dmsw_context_descriptor(ms_dmsw *p)
{
    uint32_t a;
    switch (ms_dmsw_next(p)) {
    case 'E': return ms_dmsw_make1(p, ms_DMSW_ExtensionDescriptor, ms_dmsw_pop_context(p));
    case 'M': return ms_dmsw_make1(p, ms_DMSW_ModuleDescriptor, ms_dmsw_pop_module(p));
    case 'X': return ms_dmsw_make1(p, ms_DMSW_AnonymousDescriptor, ms_dmsw_pop_context(p));
    case 'Y':
        a = ms_dmsw_pop_any(p);
        return ms_dmsw_make2(p, ms_DMSW_AnonymousDescriptor, ms_dmsw_pop_context(p), a);
    case 'A':
        a = ms_dmsw_pop_assoc_path(p);
        return ms_dmsw_make2(p, ms_DMSW_AssociatedTypeGenericParamRef, ms_dmsw_pop_type(p), a);
    default: return 0;
    }
}

/* M: metadata */
static uint32_t ms_dmsw_metadata(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'a': kind = ms_DMSW_TypeMetadataAccessFunction; break;
    case 'b': kind = ms_DMSW_CanonicalSpecializedGenericTypeMetadataAccessFunction; break;
    case 'B': kind = ms_DMSW_ReflectionMetadataBuiltinDescriptor; break;
    case 'C': kind = ms_DMSW_ReflectionMetadataSuperclassDescriptor; break;
    case 'd': /* Apple's own compilers write this letter for 'D' */
    case 'D': kind = ms_DMSW_TypeMetadataDemanglingCache; break;
    case 'f': kind = ms_DMSW_FullTypeMetadata; break;
    case 'F': kind = ms_DMSW_ReflectionMetadataFieldDescriptor; break;
    case 'i': kind = ms_DMSW_TypeMetadataInstantiationFunction; break;
    case 'I': kind = ms_DMSW_TypeMetadataInstantiationCache; break;
    case 'l': kind = ms_DMSW_TypeMetadataSingletonInitializationCache; break;
    case 'L': kind = ms_DMSW_TypeMetadataLazyCache; break;
    case 'm': kind = ms_DMSW_Metaclass; break;
    case 'M': kind = ms_DMSW_CanonicalSpecializedGenericMetaclass; break;
    case 'n': kind = ms_DMSW_NominalTypeDescriptor; break;
    case 'N': kind = ms_DMSW_NoncanonicalSpecializedGenericTypeMetadata; break;
    case 'o': kind = ms_DMSW_ClassMetadataBaseOffset; break;
    case 'P': kind = ms_DMSW_GenericTypeMetadataPattern; break;
    case 'r': kind = ms_DMSW_TypeMetadataCompletionFunction; break;
    case 'R': kind = ms_DMSW_TypeMetadataMangledNameRef; break; /* written by Apple's own compilers only */
    case 's': kind = ms_DMSW_ObjCResilientClassStub; break;
    case 't': kind = ms_DMSW_FullObjCResilientClassStub; break;
    case 'u': kind = ms_DMSW_MethodLookupFunction; break;
    case 'U': kind = ms_DMSW_ObjCMetadataUpdateFunction; break;
    case 'z': kind = ms_DMSW_CanonicalPrespecializedGenericTypeCachingOnceToken; break;
    case 'A':
        return ms_dmsw_make1(p, ms_DMSW_ReflectionMetadataAssocTypeDescriptor, ms_dmsw_pop_conformance(p));
    case 'c': return ms_dmsw_make1(p, ms_DMSW_ProtocolConformanceDescriptor, ms_dmsw_pop_conformance(p));
    case 'g': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessor, ms_dmsw_pop_any(p));
    case 'h': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorImpl, ms_dmsw_pop_any(p));
    case 'j': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorKey, ms_dmsw_pop_any(p));
    case 'k': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptorAccessorVar, ms_dmsw_pop_any(p));
    case 'J':
        return ms_dmsw_make1(p, ms_DMSW_NoncanonicalSpecializedGenericTypeMetadataCache, ms_dmsw_pop_any(p));
    case 'K': return ms_dmsw_make1(p, ms_DMSW_MetadataInstantiationCache, ms_dmsw_pop_any(p));
    case 'q': return ms_dmsw_make1(p, ms_DMSW_Uniquable, ms_dmsw_pop_any(p));
    case 'Q': return ms_dmsw_make1(p, ms_DMSW_OpaqueTypeDescriptor, ms_dmsw_pop_any(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptor, ms_dmsw_pop_protocol(p));
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceDescriptor, ms_dmsw_pop_protocol(p));
    case 'V': return ms_dmsw_make1(p, ms_DMSW_PropertyDescriptor, ms_dmsw_pop_entity(p));
    case 'X': return ms_dmsw_context_descriptor(p);
    default: return 0;
    }
    return ms_dmsw_make1(p, kind, ms_dmsw_pop_type(p));
}

/* WO: outlined value operations */
static uint32_t ms_dmsw_outlined(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'y': kind = ms_DMSW_OutlinedCopy; break;
    case 'e': kind = ms_DMSW_OutlinedConsume; break;
    case 'r': kind = ms_DMSW_OutlinedRetain; break;
    case 's': kind = ms_DMSW_OutlinedRelease; break;
    case 'b':
    case 'B': kind = ms_DMSW_OutlinedInitializeWithTake; break;
    case 'c':
    case 'C': kind = ms_DMSW_OutlinedInitializeWithCopy; break;
    case 'd':
    case 'D': kind = ms_DMSW_OutlinedAssignWithTake; break;
    case 'f':
    case 'F': kind = ms_DMSW_OutlinedAssignWithCopy; break;
    case 'h':
    case 'H': kind = ms_DMSW_OutlinedDestroy; break;
    case 'g': kind = ms_DMSW_OutlinedEnumGetTag; break;
    case 'i': kind = ms_DMSW_OutlinedEnumTagStore; break;
    case 'j': kind = ms_DMSW_OutlinedEnumProjectDataForLoad; break;
    default: return 0;
    }
    if ((kind == ms_DMSW_OutlinedEnumTagStore || kind == ms_DMSW_OutlinedEnumProjectDataForLoad) &&
        ms_dmsw_index(p) < 0)
        return 0; /* which case it is: not printed */
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t ref = ms_dmsw_make1(p, kind, ms_dmsw_pop_type(p));
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* INDEX-SUBSET */
static uint32_t ms_dmsw_index_subset(ms_dmsw *p)
{
    size_t start = p->at;
    while (ms_dmsw_peek(p) == 'S' || ms_dmsw_peek(p) == 'U')
        p->at++;
    return p->at > start ? ms_dmsw_make_text(p, ms_DMSW_IndexSubset, p->s + start, p->at - start) : 0;
}

/* Everything on the stack becomes the children: the function that an autodiff function comes from. */
static uint32_t ms_dmsw_pop_all(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    for (uint32_t i = 0; i < p->stack.count; i++)
        ref = ms_dmsw_add(p, ref, p->stack.v[i]);
    p->stack.count = 0;
    return ref;
}

/* A kind letter and two subsets, 'p' and 'r' behind them; what comes before them is ref's children. */
static uint32_t ms_dmsw_diff_parts(ms_dmsw *p, uint32_t ref, const char *letters)
{
    if (ms_dmsw_kid_count(p, ref) == 0)
        return 0;
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find(letters, c) < 0)
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_AutoDiffFunctionKind, c));
    ref = ms_dmsw_add(p, ref, ms_dmsw_index_subset(p));
    if (!ms_dmsw_next_if(p, 'p'))
        return 0;
    ref = ms_dmsw_add(p, ref, ms_dmsw_index_subset(p));
    return ms_dmsw_next_if(p, 'r') ? ref : 0;
}

/* WJ */
static uint32_t ms_dmsw_diff_witness(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t ref = ms_dmsw_diff_parts(p, ms_dmsw_pop_all(p, ms_DMSW_DifferentiabilityWitness), "frdl");
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* WZ Wz */
static uint32_t ms_dmsw_once(ms_dmsw *p, unsigned kind)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_GlobalVariableOnceDeclList);
    while (list && ms_dmsw_pop_first(p))
        list = ms_dmsw_add(p, list, ms_dmsw_pop_trait(p, ms_DMSW_T_NAME));
    if (!list)
        return 0;
    ms_dmsw_reverse(p, list, 0);
    return ms_dmsw_make2(p, kind, ms_dmsw_pop_context(p), list);
}

/* The subject of WT, Tn and TN: a path of associated types, or a type that is no protocol. */
static uint32_t ms_dmsw_pop_subject(ms_dmsw *p)
{
    uint32_t top = ms_dmsw_top(p);
    if ((top & ms_DMSW_AS_TYPE) && ms_dmsw_inner(p, top) != ms_DMSW_Protocol)
        return ms_dmsw_pop_type(p);
    return ms_dmsw_pop_assoc_path(p);
}

/* W: witness tables and value operations */
static uint32_t ms_dmsw_witness(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'C': return ms_dmsw_make1(p, ms_DMSW_EnumCase, ms_dmsw_pop_entity(p));
    case 'V': return ms_dmsw_make1(p, ms_DMSW_ValueWitnessTable, ms_dmsw_pop_type(p));
    case 'v':
        c = ms_dmsw_next(p);
        a = c == 'd' || c == 'i' ? ms_dmsw_make1(p, ms_DMSW_FieldOffset, ms_dmsw_pop_entity(p)) : 0;
        if (a)
            ms_dmsw_at(p, a)->mark = (uint8_t)c;
        return a;
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceWitnessTable, ms_dmsw_pop_protocol(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTable, ms_dmsw_pop_conformance(p));
    case 'p': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTablePattern, ms_dmsw_pop_conformance(p));
    case 'G': return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTable, ms_dmsw_pop_conformance(p));
    case 'I':
        return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTableInstantiationFunction,
                             ms_dmsw_pop_conformance(p));
    case 'r': return ms_dmsw_make1(p, ms_DMSW_ResilientProtocolWitnessTable, ms_dmsw_pop_conformance(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTableAccessor, ms_dmsw_pop_conformance(p));
    case 'l':
    case 'L':
        a = ms_dmsw_pop_conformance(p);
        return ms_dmsw_make2(p,
                             c == 'l' ? ms_DMSW_LazyProtocolWitnessTableAccessor
                                      : ms_DMSW_LazyProtocolWitnessTableCacheVariable,
                             ms_dmsw_pop_type(p), a);
    case 't':
        a = ms_dmsw_pop_trait(p, ms_DMSW_T_NAME);
        return ms_dmsw_make2(p, ms_DMSW_AssociatedTypeMetadataAccessor, ms_dmsw_pop_conformance(p), a);
    case 'T':
        a = ms_dmsw_pop_type(p);
        b = ms_dmsw_pop_subject(p);
        return ms_dmsw_make3(p, ms_DMSW_AssociatedTypeWitnessTableAccessor, ms_dmsw_pop_conformance(p), b, a);
    case 'b':
        a = ms_dmsw_pop_type(p);
        return ms_dmsw_make2(p, ms_DMSW_BaseWitnessTableAccessor, ms_dmsw_pop_conformance(p), a);
    case 'O': return ms_dmsw_outlined(p);
    case 'Z': return ms_dmsw_once(p, ms_DMSW_GlobalVariableOnceFunction);
    case 'z': return ms_dmsw_once(p, ms_DMSW_GlobalVariableOnceToken);
    case 'J': return ms_dmsw_diff_witness(p);
    default: return 0;
    }
}

/* VALUE-WITNESS-KIND, the letters and the words in the same order */
static const char ms_dmsw_vw_letters[] = "alcatadexxXXXxCPCpcpTKTktkprxsxgCcTttTugupuietst";
static const char *const ms_dmsw_vw_words[] = {"allocateBuffer",
                                               "assignWithCopy",
                                               "assignWithTake",
                                               "deallocateBuffer",
                                               "destroy",
                                               "destroyBuffer",
                                               "destroyArray",
                                               "initializeBufferWithCopyOfBuffer",
                                               "initializeBufferWithCopy",
                                               "initializeWithCopy",
                                               "initializeBufferWithTakeOfBuffer",
                                               "initializeBufferWithTake",
                                               "initializeWithTake",
                                               "projectBuffer",
                                               "storeExtraInhabitant",
                                               "getExtraInhabitantIndex",
                                               "initializeArrayWithCopy",
                                               "initializeArrayWithTakeFrontToBack",
                                               "initializeArrayWithTakeBackToFront",
                                               "getEnumTag",
                                               "destructiveProjectEnumData",
                                               "destructiveInjectEnumTag",
                                               "getEnumTagSinglePayload",
                                               "storeEnumTagSinglePayload"};

/* The two letters of a value witness; the node still lacks its type. */
static uint32_t ms_dmsw_value_witness(ms_dmsw *p)
{
    char a = ms_dmsw_next(p), b = ms_dmsw_next(p);
    for (size_t i = 0; i + 2 < sizeof ms_dmsw_vw_letters; i += 2)
        if (ms_dmsw_vw_letters[i] == a && ms_dmsw_vw_letters[i + 1] == b)
            return ms_dmsw_marked(p, ms_DMSW_ValueWitness, (char)(i / 2));
    return 0;
}

/* ---- thunks and specializations ---- */

/* SPEC-INFO */
static uint32_t ms_dmsw_spec_info(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    ms_dmsw_next_if(p, 'm'); /* compilers before Swift 6: metatype parameters removed; never printed */
    if (ms_dmsw_next_if(p, 'q'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized));
    ms_dmsw_next_if(p, 'a'); /* async effect removed; not printed */
    if (ms_dmsw_next_if(p, 'r') && ref)
        ms_dmsw_at(p, ref)->mark = 1;
    return ms_dmsw_digit(ms_dmsw_next(p)) ? ref : 0;
}

/* The types on the stack become the parameters of a generic specialization. */
static uint32_t ms_dmsw_generic_spec(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_spec_info(p, kind), types = ms_dmsw_pop_type_list(p);
    if (!types)
        return 0;
    for (uint32_t i = 0; ref && i < ms_dmsw_kid_count(p, types); i++)
        ref = ms_dmsw_add(p, ref,
                          ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmsw_kid(p, types, i)));
    return ref;
}

/* dropped-arg: which argument is not printed */
static uint32_t ms_dmsw_generic_spec_dropped(ms_dmsw *p)
{
    p->at--;
    while (ms_dmsw_next_if(p, 't'))
        if (ms_dmsw_digit(ms_dmsw_peek(p)) && ms_dmsw_natural(p) < 0)
            return 0;
    switch (ms_dmsw_next(p)) {
    case 'g': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecialization);
    case 'G': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationNotReAbstracted);
    case 'B': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationInResilienceDomain);
    default: return 0;
    }
}

/* What happened to an argument; the first are exclusive, the last can be combined. */
enum ms_dmsw_spec {
    ms_DMSW_P_FUNCTION = 1,
    ms_DMSW_P_GLOBAL,
    ms_DMSW_P_INTEGER,
    ms_DMSW_P_FLOAT,
    ms_DMSW_P_STRING,
    ms_DMSW_P_KEYPATH,
    ms_DMSW_P_STRUCT,
    ms_DMSW_P_CLOSURE,
    ms_DMSW_P_ESCAPING_CLOSURE,
    ms_DMSW_P_SAME_CLOSURE,
    ms_DMSW_P_BOX_TO_VALUE,
    ms_DMSW_P_BOX_TO_STACK,
    ms_DMSW_P_INOUT_TO_OUT,
    ms_DMSW_P_EXISTENTIAL = 1u << 4,
    ms_DMSW_P_DEAD = 1u << 5,
    ms_DMSW_P_OWNED_TO_GUARANTEED = 1u << 6,
    ms_DMSW_P_GUARANTEED_TO_OWNED = 1u << 7,
    ms_DMSW_P_EXPLODED = 1u << 8
};

static uint32_t ms_dmsw_spec_kind(ms_dmsw *p, uint32_t param, unsigned what)
{
    return ms_dmsw_add(p, param,
                       ms_dmsw_make_index(p, ms_DMSW_FunctionSignatureSpecializationParamKind, what));
}

static uint32_t ms_dmsw_spec_text(ms_dmsw *p, uint32_t param, const char *text, size_t len)
{
    return ms_dmsw_add(p, param,
                       ms_dmsw_make_text(p, ms_DMSW_FunctionSignatureSpecializationParamPayload, text, len));
}

/* A run of digits, printed as it stands: it may have 64 bits or more. */
static uint32_t ms_dmsw_spec_digits(ms_dmsw *p, uint32_t param)
{
    size_t start = p->at;
    while (ms_dmsw_digit(ms_dmsw_peek(p)))
        p->at++;
    return p->at > start ? ms_dmsw_spec_text(p, param, p->s + start, p->at - start) : 0;
}

/* CONST-PROP */
static uint32_t ms_dmsw_spec_const(ms_dmsw *p, uint32_t param)
{
    switch (ms_dmsw_next(p)) {
    case 'f': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_FUNCTION);
    case 'g': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_GLOBAL);
    case 'i': return ms_dmsw_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_INTEGER));
    case 'd': return ms_dmsw_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FLOAT));
    case 'k': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_KEYPATH);
    case 'S': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_STRUCT);
    case 's':
        param = ms_dmsw_spec_kind(p, param, ms_DMSW_P_STRING);
        switch (ms_dmsw_next(p)) {
        case 'b': return ms_dmsw_spec_text(p, param, "u8", 2);
        case 'w': return ms_dmsw_spec_text(p, param, "u16", 3);
        case 'c': return ms_dmsw_spec_text(p, param, "objc", 4);
        default: return 0;
        }
    default: return 0;
    }
}

/* CONST-PROP of a struct: it and its operands, which are constants too, each as a parameter of its own */
static uint32_t ms_dmsw_spec_struct(ms_dmsw *p, uint32_t param)
{
    while (param && ms_dmsw_find("fgikdsS", ms_dmsw_peek(p)) >= 0) {
        uint32_t part = ms_dmsw_make(p, ms_DMSW_FunctionSignatureSpecializationParam);
        param = ms_dmsw_add(p, param, ms_dmsw_spec_const(p, part));
    }
    return param;
}

/* The combinable rest of an ARG-SPEC-KIND */
static uint32_t ms_dmsw_spec_options(ms_dmsw *p, uint32_t param, unsigned what)
{
    if ((what & ms_DMSW_P_EXISTENTIAL) && ms_dmsw_next_if(p, 'D'))
        what |= ms_DMSW_P_DEAD;
    if ((what & (ms_DMSW_P_EXISTENTIAL | ms_DMSW_P_DEAD)) != 0) {
        if (ms_dmsw_next_if(p, 'G'))
            what |= ms_DMSW_P_OWNED_TO_GUARANTEED;
        if (ms_dmsw_next_if(p, 'O'))
            what |= ms_DMSW_P_GUARANTEED_TO_OWNED;
    }
    if (ms_dmsw_next_if(p, 'X'))
        what |= ms_DMSW_P_EXPLODED;
    return ms_dmsw_spec_kind(p, param, what);
}

/* ARG-SPEC-KIND */
static uint32_t ms_dmsw_spec_param(ms_dmsw *p, unsigned kind)
{
    uint32_t param = ms_dmsw_make(p, kind);
    switch (ms_dmsw_next(p)) {
    case 'n': return param;
    case 'c': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_CLOSURE);
    case 'E': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_ESCAPING_CLOSURE);
    case 'C': return ms_dmsw_spec_digits(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_SAME_CLOSURE));
    case 'p': return ms_dmsw_peek(p) == 'S' ? ms_dmsw_spec_struct(p, param) : ms_dmsw_spec_const(p, param);
    case 'e': return ms_dmsw_spec_options(p, param, ms_DMSW_P_EXISTENTIAL);
    case 'd': return ms_dmsw_spec_options(p, param, ms_DMSW_P_DEAD);
    case 'g': return ms_dmsw_spec_options(p, param, ms_DMSW_P_OWNED_TO_GUARANTEED);
    case 'o': return ms_dmsw_spec_options(p, param, ms_DMSW_P_GUARANTEED_TO_OWNED);
    case 'x': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_EXPLODED);
    case 'i': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_VALUE);
    case 's': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_STACK);
    case 'r': return ms_dmsw_spec_kind(p, param, ms_DMSW_P_INOUT_TO_OUT);
    default: return 0;
    }
}

/* Takes what a constant or closure needs off the stack: types and the name before them. */
static bool ms_dmsw_spec_operands(ms_dmsw *p, uint32_t param, uint64_t kind)
{
    bool closure = kind == ms_DMSW_P_CLOSURE || kind == ms_DMSW_P_ESCAPING_CLOSURE;
    uint32_t type, fixed = ms_dmsw_kid_count(p, param);
    while ((type = ms_dmsw_pop_type(p)) != 0)
        if ((!closure && kind != ms_DMSW_P_KEYPATH) || !ms_dmsw_add(p, param, type))
            return false;
    uint32_t name = ms_dmsw_pop(p, ms_DMSW_Identifier);
    if (!name)
        return false;
    const char *text = ms_dmsw_at(p, name)->u.text;
    size_t len = ms_dmsw_at(p, name)->count;
    if (kind == ms_DMSW_P_STRING && len > 0 && text[0] == '_') { /* it escapes a digit or another _ */
        text++;
        len--;
    }
    if (!ms_dmsw_spec_text(p, param, text, len))
        return false;
    ms_dmsw_reverse(p, param, fixed);
    return true;
}

/* The same for any argument; the operands of the last come off first. */
static bool ms_dmsw_spec_finish(ms_dmsw *p, uint32_t param)
{
    uint32_t first = ms_dmsw_kid(p, param, 0);
    if (!first)
        return true;
    if (ms_dmsw_kind_of(p, first) == ms_DMSW_FunctionSignatureSpecializationParam) {
        for (uint32_t i = ms_dmsw_kid_count(p, param); i > 0; i--) {
            uint32_t part = ms_dmsw_kid(p, param, i - 1), kind = ms_dmsw_kid(p, part, 0);
            bool is_struct = ms_dmsw_at(p, kind)->u.index == ms_DMSW_P_STRUCT;
            if (is_struct ? !ms_dmsw_add(p, part, ms_dmsw_pop_type(p)) : !ms_dmsw_spec_finish(p, part))
                return false;
        }
        return true;
    }
    uint64_t kind = ms_dmsw_at(p, first)->u.index;
    switch (kind) {
    case ms_DMSW_P_FUNCTION:
    case ms_DMSW_P_GLOBAL:
    case ms_DMSW_P_STRING:
    case ms_DMSW_P_KEYPATH:
    case ms_DMSW_P_CLOSURE:
    case ms_DMSW_P_ESCAPING_CLOSURE: return ms_dmsw_spec_operands(p, param, kind);
    default: return true;
    }
}

/* Tf: function signature specialization */
static uint32_t ms_dmsw_function_spec(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_spec_info(p, ms_DMSW_FunctionSignatureSpecialization);
    if (ref && ms_dmsw_at(p, ref)->mark)
        return ref; /* a changed representation says nothing of the arguments */
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_spec_param(p, ms_DMSW_FunctionSignatureSpecializationParam));
    if (ref && !ms_dmsw_next_if(p, 'n'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_spec_param(p, ms_DMSW_FunctionSignatureSpecializationReturn));
    if (!ref)
        return 0;
    for (uint32_t i = ms_dmsw_kid_count(p, ref); i > 0; i--) {
        uint32_t param = ms_dmsw_kid(p, ref, i - 1);
        if (ms_dmsw_kind_of(p, param) == ms_DMSW_FunctionSignatureSpecializationParam &&
            !ms_dmsw_spec_finish(p, param))
            return 0;
    }
    return ref;
}

/* TK Tk: key path accessors */
static uint32_t ms_dmsw_keypath_accessor(ms_dmsw *p, unsigned kind)
{
    bool serialized = ms_dmsw_next_if(p, 'q');
    uint32_t start = p->stack.count, end = start, ref;
    while (start > 0 && (p->stack.v[start - 1] & ms_DMSW_AS_TYPE))
        start--;
    if (start == end || start == 0)
        return 0;
    uint32_t types = start, what = p->stack.v[--start], signature = 0;
    if (ms_dmsw_kind_of(p, what) == ms_DMSW_DependentGenericSignature) {
        if (start == 0)
            return 0;
        signature = what;
        what = p->stack.v[--start];
    }
    ref = ms_dmsw_make1(p, kind, what);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    for (uint32_t i = types; i < end; i++)
        ref = ms_dmsw_add(p, ref, p->stack.v[i]);
    if (serialized)
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized));
    p->stack.count = start;
    return ref;
}

/* TH Th: key path equality and hash */
static uint32_t ms_dmsw_keypath_helper(ms_dmsw *p, unsigned kind)
{
    bool serialized = ms_dmsw_next_if(p, 'q');
    uint32_t signature = ms_dmsw_pop_signature(p);
    uint32_t ref = ms_dmsw_make(p, kind), type;
    bool any = false;
    while ((type = ms_dmsw_pop_type(p)) != 0) {
        ref = ms_dmsw_add(p, ref, type);
        any = true;
    }
    if (!ref || (!any && !signature))
        return 0;
    ms_dmsw_reverse(p, ref, 0);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    return serialized ? ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized)) : ref;
}

/* TR Tr Ty: reabstraction thunks; the type reached comes first in the tree, the type left last. */
static uint32_t ms_dmsw_reabstraction(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind), signature = ms_dmsw_pop_signature(p);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    if (kind == ms_DMSW_ReabstractionThunkHelperWithSelf)
        ref = ms_dmsw_add(p, ref, ms_dmsw_pop_type(p));
    ref = ms_dmsw_add(p, ref, ms_dmsw_pop_type(p));
    return ms_dmsw_add(p, ref, ms_dmsw_pop_type(p));
}

/* Te: bridge-spec */
static uint32_t ms_dmsw_bridged(ms_dmsw *p)
{
    size_t start = p->at;
    char c = ms_dmsw_next(p);
    if (c != 'o' && c != 'p' && c != 'a' && c != 'm')
        return 0;
    while (!ms_dmsw_next_if(p, '_')) {
        c = ms_dmsw_next(p);
        if (c != 'n' && c != 'b' && c != 'g')
            return 0;
    }
    return ms_dmsw_make_text(p, ms_DMSW_OutlinedBridgedMethod, p->s + start, p->at - 1 - start);
}

/* TJO: the types left and reached, then perhaps a signature */
static uint32_t ms_dmsw_self_reordering(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_pop_signature(p), to = ms_dmsw_pop_type(p), from = ms_dmsw_pop_type(p);
    uint32_t ref = ms_dmsw_make2(p, ms_DMSW_AutoDiffSelfReorderingReabstractionThunk, from, to);
    char c = ms_dmsw_next(p);
    if (signature)
        ref = ms_dmsw_add(p, ref, signature);
    if (ms_dmsw_find("frdp", c) < 0)
        return 0;
    return ms_dmsw_add(p, ref, ms_dmsw_marked(p, ms_DMSW_AutoDiffFunctionKind, c));
}

/* TJ: functions of automatic differentiation */
static uint32_t ms_dmsw_autodiff(ms_dmsw *p)
{
    unsigned kind = ms_DMSW_AutoDiffFunction;
    if (ms_dmsw_next_if(p, 'O'))
        return ms_dmsw_self_reordering(p);
    if (ms_dmsw_next_if(p, 'S'))
        kind = ms_DMSW_AutoDiffSubsetParametersThunk;
    else if (ms_dmsw_next_if(p, 'V'))
        kind = ms_DMSW_AutoDiffDerivativeVTableThunk;
    uint32_t ref = ms_dmsw_diff_parts(p, ms_dmsw_pop_all(p, kind), "frdp");
    if (kind == ms_DMSW_AutoDiffSubsetParametersThunk) {
        ref = ms_dmsw_add(p, ref, ms_dmsw_index_subset(p));
        if (!ms_dmsw_next_if(p, 'P'))
            return 0;
    }
    return ms_dmsw_remember(p, ref);
}

/* Tz TZ: completion handlers that bridge to async functions */
static uint32_t ms_dmsw_completion(ms_dmsw *p, unsigned kind)
{
    uint32_t flag = ms_dmsw_index_node(p), signature = ms_dmsw_pop_signature(p);
    uint32_t result = ms_dmsw_pop_type(p), impl = ms_dmsw_pop_type(p);
    uint32_t ref = ms_dmsw_make3(p, kind, impl, result, flag);
    return signature ? ms_dmsw_add(p, ref, signature) : ref;
}

/* Tw: attributes of two letters */
static uint32_t ms_dmsw_thunk_w(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'b': return ms_dmsw_make(p, ms_DMSW_BackDeploymentThunk);
    case 'B': return ms_dmsw_make(p, ms_DMSW_BackDeploymentFallback);
    case 'c': return ms_dmsw_make(p, ms_DMSW_CoroFunctionPointer);
    case 'd': return ms_dmsw_make(p, ms_DMSW_DefaultOverride);
    case 'S': return ms_dmsw_make(p, ms_DMSW_HasSymbolQuery);
    default: return 0;
    }
}

/* T: the specializations */
static uint32_t ms_dmsw_specialization(ms_dmsw *p, char c)
{
    uint32_t ref;
    switch (c) {
    case 'g': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecialization);
    case 'G': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationNotReAbstracted);
    case 'B': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationInResilienceDomain);
    case 's': return ms_dmsw_generic_spec(p, ms_DMSW_GenericSpecializationPrespecialized);
    case 'i': return ms_dmsw_generic_spec(p, ms_DMSW_InlinedGenericFunction);
    case 't': return ms_dmsw_generic_spec_dropped(p);
    case 'P':
    case 'p':
        ref = ms_dmsw_spec_info(p, c == 'P' ? ms_DMSW_GenericPartialSpecializationNotReAbstracted
                                            : ms_DMSW_GenericPartialSpecialization);
        return ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmsw_pop_type(p)));
    default: return ms_dmsw_function_spec(p);
    }
}

/* T: descriptors of protocol parts */
static uint32_t ms_dmsw_protocol_part(ms_dmsw *p, char c)
{
    uint32_t a, b;
    switch (c) {
    case 'l': return ms_dmsw_make1(p, ms_DMSW_AssociatedTypeDescriptor, ms_dmsw_pop_assoc_name(p));
    case 'L': return ms_dmsw_make1(p, ms_DMSW_ProtocolRequirementsBaseDescriptor, ms_dmsw_pop_protocol(p));
    case 'M':
        return ms_dmsw_make1(p, ms_DMSW_DefaultAssociatedTypeMetadataAccessor, ms_dmsw_pop_assoc_name(p));
    case 'b':
        a = ms_dmsw_pop_protocol(p);
        return ms_dmsw_make2(p, ms_DMSW_BaseConformanceDescriptor, ms_dmsw_pop_type(p), a);
    default:
        a = ms_dmsw_pop_protocol(p);
        b = ms_dmsw_pop_subject(p);
        return ms_dmsw_make3(p,
                             c == 'n' ? ms_DMSW_AssociatedConformanceDescriptor
                                      : ms_DMSW_DefaultAssociatedConformanceAccessor,
                             ms_dmsw_pop_type(p), b, a);
    }
}

/* T: thunks and specializations */
static uint32_t ms_dmsw_thunk(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'c': return ms_dmsw_make1(p, ms_DMSW_CurryThunk, ms_dmsw_pop_entity(p));
    case 'T':
        if (ms_dmsw_next_if(p, 'I'))
            return ms_dmsw_make1(p, ms_DMSW_SILThunkIdentity, ms_dmsw_pop_entity(p));
        return ms_dmsw_next_if(p, 'H')
                   ? ms_dmsw_make1(p, ms_DMSW_SILThunkHopToMainActorIfNeeded, ms_dmsw_pop_entity(p))
                   : 0;
    case 'j': return ms_dmsw_make1(p, ms_DMSW_DispatchThunk, ms_dmsw_pop_entity(p));
    case 'q': return ms_dmsw_make1(p, ms_DMSW_MethodDescriptor, ms_dmsw_pop_entity(p));
    case 'o': return ms_dmsw_make(p, ms_DMSW_ObjCAttribute);
    case 'O': return ms_dmsw_make(p, ms_DMSW_NonObjCAttribute);
    case 'D': return ms_dmsw_make(p, ms_DMSW_DynamicAttribute);
    case 'd': return ms_dmsw_make(p, ms_DMSW_DirectMethodReferenceAttribute);
    case 'E': return ms_dmsw_make(p, ms_DMSW_DistributedThunk);
    case 'F': return ms_dmsw_make(p, ms_DMSW_DistributedAccessor);
    case 'a': return ms_dmsw_make(p, ms_DMSW_PartialApplyObjCForwarder);
    case 'A': return ms_dmsw_make(p, ms_DMSW_PartialApplyForwarder);
    case 'm': return ms_dmsw_make(p, ms_DMSW_MergedFunction);
    case 'X': return ms_dmsw_make(p, ms_DMSW_DynamicallyReplaceableFunctionVar);
    case 'x': return ms_dmsw_make(p, ms_DMSW_DynamicallyReplaceableFunctionKey);
    case 'I': return ms_dmsw_make(p, ms_DMSW_DynamicallyReplaceableFunctionImpl);
    case 'u': return ms_dmsw_make(p, ms_DMSW_AsyncFunctionPointer);
    case 'Y': return ms_dmsw_make1(p, ms_DMSW_AsyncSuspendResumePartialFunction, ms_dmsw_index_node(p));
    case 'Q': return ms_dmsw_make1(p, ms_DMSW_AsyncAwaitResumePartialFunction, ms_dmsw_index_node(p));
    case 'w': return ms_dmsw_thunk_w(p);
    case 'C': return ms_dmsw_make1(p, ms_DMSW_CoroutineContinuationPrototype, ms_dmsw_pop_type(p));
    case 'z': return ms_dmsw_completion(p, ms_DMSW_ObjCAsyncCompletionHandlerImpl);
    case 'Z': return ms_dmsw_completion(p, ms_DMSW_PredefinedObjCAsyncCompletionHandlerImpl);
    case 'V':
        a = ms_dmsw_pop_entity(p);
        return ms_dmsw_make2(p, ms_DMSW_VTableThunk, ms_dmsw_pop_entity(p), a);
    case 'W':
        a = ms_dmsw_pop_entity(p);
        return ms_dmsw_make2(p, ms_DMSW_ProtocolWitness, ms_dmsw_pop_conformance(p), a);
    case 'S': return ms_dmsw_make1(p, ms_DMSW_ProtocolSelfConformanceWitness, ms_dmsw_pop_entity(p));
    case 'R': return ms_dmsw_reabstraction(p, ms_DMSW_ReabstractionThunkHelper);
    case 'r': return ms_dmsw_reabstraction(p, ms_DMSW_ReabstractionThunk);
    case 'y': return ms_dmsw_reabstraction(p, ms_DMSW_ReabstractionThunkHelperWithSelf);
    case 'U':
        a = ms_dmsw_pop_type(p);
        b = ms_dmsw_pop_any(p);
        return ms_dmsw_make2(p, ms_DMSW_ReabstractionThunkHelperWithGlobalActor, b, a);
    case 'K':
    case 'k':
        if (ms_dmsw_next_is(p, "mu", 2))
            return ms_dmsw_keypath_accessor(p, ms_DMSW_KeyPathUnappliedMethodThunkHelper);
        if (ms_dmsw_next_is(p, "MA", 2))
            return ms_dmsw_keypath_accessor(p, ms_DMSW_KeyPathAppliedMethodThunkHelper);
        return ms_dmsw_keypath_accessor(p, c == 'K' ? ms_DMSW_KeyPathGetterThunkHelper
                                                    : ms_DMSW_KeyPathSetterThunkHelper);
    case 'H': return ms_dmsw_keypath_helper(p, ms_DMSW_KeyPathEqualsThunkHelper);
    case 'h': return ms_dmsw_keypath_helper(p, ms_DMSW_KeyPathHashThunkHelper);
    case 'v':
        a = ms_dmsw_index_node(p);
        return ms_dmsw_make1(
            p, ms_dmsw_next_if(p, 'r') ? ms_DMSW_OutlinedReadOnlyObject : ms_DMSW_OutlinedVariable, a);
    case 'e': return ms_dmsw_bridged(p);
    case 'J': return ms_dmsw_autodiff(p);
    case 'l':
    case 'L':
    case 'M':
    case 'b':
    case 'n':
    case 'N': return ms_dmsw_protocol_part(p, c);
    case 'g':
    case 'G':
    case 'B':
    case 's':
    case 'i':
    case 't':
    case 'P':
    case 'p':
    case 'f': return ms_dmsw_specialization(p, c);
    default: return 0;
    }
}

/* ---- the whole name, Swift 4 and later ---- */

/* A type with labels, or another type, for the debugger */
static uint32_t ms_dmsw_type_mangling(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_pop_type(p);
    uint32_t labels = ms_dmsw_pop_labels(p, type);
    uint32_t ref = ms_dmsw_make(p, ms_DMSW_TypeMangling);
    if (labels)
        ref = ms_dmsw_add(p, ref, labels);
    return ms_dmsw_add(p, ref, type);
}

static uint32_t ms_dmsw_value_witness_op(ms_dmsw *p)
{
    return ms_dmsw_add(p, ms_dmsw_value_witness(p), ms_dmsw_pop_type(p));
}

/* One operator: reads it, pops what it needs, returns the new node, 0 when malformed. */
static uint32_t ms_dmsw_op(ms_dmsw *p)
{
    uint32_t a;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'A': return ms_dmsw_substitution(p);
    case 'B': return ms_dmsw_builtin(p);
    case 'C': return ms_dmsw_any_generic(p, ms_DMSW_Class);
    case 'D': return ms_dmsw_type_mangling(p);
    case 'E': return ms_dmsw_extension(p);
    case 'F': return ms_dmsw_function(p);
    case 'G': return ms_dmsw_bound_generic(p);
    case 'H': return ms_dmsw_conformance_op(p);
    case 'I': return ms_dmsw_impl_function(p);
    case 'K': return ms_dmsw_make(p, ms_DMSW_ThrowsAnnotation);
    case 'L': return ms_dmsw_local(p);
    case 'M': return ms_dmsw_metadata(p);
    case 'N': return ms_dmsw_make1(p, ms_DMSW_TypeMetadata, ms_dmsw_pop_type(p));
    case 'O': return ms_dmsw_any_generic(p, ms_DMSW_Enum);
    case 'P': return ms_dmsw_any_generic(p, ms_DMSW_Protocol);
    case 'Q': return ms_dmsw_archetype(p);
    case 'R': return ms_dmsw_requirement(p);
    case 'S': return ms_dmsw_standard(p);
    case 'T': return ms_dmsw_thunk(p);
    case 'V': return ms_dmsw_any_generic(p, ms_DMSW_Structure);
    case 'W': return ms_dmsw_witness(p);
    case 'X': return ms_dmsw_special_type(p);
    case 'Y': return ms_dmsw_annotation(p);
    case 'Z': return ms_dmsw_make1(p, ms_DMSW_Static, ms_dmsw_pop_entity(p));
    case 'a': return ms_dmsw_any_generic(p, ms_DMSW_TypeAlias);
    case 'c': return ms_dmsw_pop_function(p, ms_DMSW_FunctionType, false);
    case 'd': return ms_dmsw_make(p, ms_DMSW_VariadicMarker);
    case 'f': return ms_dmsw_function_entity(p);
    case 'g': return ms_dmsw_retroactive(p);
    case 'h': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Shared, ms_dmsw_pop_bare(p)));
    case 'i': return ms_dmsw_subscript(p);
    case 'l': return ms_dmsw_signature(p, false);
    case 'm': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Metatype, ms_dmsw_pop_type(p)));
    case 'n': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_Owned, ms_dmsw_pop_bare(p)));
    case 'o': return ms_dmsw_operator(p);
    case 'p': return ms_dmsw_type(ms_dmsw_pop_protocols(p));
    case 'q': return ms_dmsw_type(ms_dmsw_generic_param(p));
    case 'r': return ms_dmsw_signature(p, true);
    case 's': return ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift");
    case 't': return ms_dmsw_tuple(p);
    case 'u':
        a = ms_dmsw_pop_signature(p);
        return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentGenericType, a, ms_dmsw_pop_type(p)));
    case 'v': return ms_dmsw_accessor(p, ms_dmsw_typed_decl(p, ms_DMSW_Variable));
    case 'w': return ms_dmsw_value_witness_op(p);
    case 'x': return ms_dmsw_type(ms_dmsw_param_type(p, 0, 0));
    case 'y': return ms_dmsw_make(p, ms_DMSW_EmptyList);
    case 'z': return ms_dmsw_type(ms_dmsw_make1(p, ms_DMSW_InOut, ms_dmsw_pop_bare(p)));
    case '_': return ms_dmsw_make(p, ms_DMSW_FirstElementMarker);
    case '$': return ms_dmsw_integer(p);
    case '.': /* what tools add behind the mangled name */
        a = ms_dmsw_make_text(p, ms_DMSW_Suffix, p->s + p->at - 1, p->len - p->at + 1);
        p->at = p->len;
        return a;
    default:
        if (!ms_dmsw_digit(c))
            return 0; /* among them the bytes of symbolic references */
        p->at--;
        return ms_dmsw_identifier(p);
    }
}

/* Puts the nodes on the stack into one tree: attributes of the function first, in the order they print. */
static uint32_t ms_dmsw_assemble(ms_dmsw *p)
{
    uint32_t suffix = ms_dmsw_pop(p, ms_DMSW_Suffix), attr;
    uint32_t top = ms_dmsw_make(p, ms_DMSW_Global), parent = top;
    while ((attr = ms_dmsw_pop_trait(p, ms_DMSW_T_ATTR)) != 0) {
        if (!ms_dmsw_add(p, parent, attr))
            return 0;
        unsigned kind = ms_dmsw_kind_of(p, attr);
        if (kind == ms_DMSW_PartialApplyForwarder || kind == ms_DMSW_PartialApplyObjCForwarder)
            parent = attr;
    }
    for (uint32_t i = 0; i < p->stack.count; i++)
        if (!ms_dmsw_add(p, parent, p->stack.v[i]))
            return 0;
    if (suffix)
        top = ms_dmsw_add(p, top, suffix);
    return ms_dmsw_kid_count(p, top) ? top : 0;
}

static uint32_t ms_dmsw_read(ms_dmsw *p)
{
    while (p->at < p->len && !p->d->failed) {
        uint32_t ref = ms_dmsw_op(p);
        if (!ref)
            return 0;
        ms_dmsw_push(p, ref);
    }
    return p->d->failed ? 0 : ms_dmsw_assemble(p);
}

/* ---- printing ---- */

/* floors: recursion */
static uint32_t ms_dmsw_print_as(ms_dmsw *p, uint32_t ref, bool as_prefix);
static bool ms_dmsw_nested(ms_dmsw *p, uint32_t payload);

#define ms_dmsw_lit(p, text) ms_dm_put((p)->d, text, sizeof(text) - 1)

static bool ms_dmsw_short(const ms_dmsw *p)
{
    return (p->style & MACHSYM_DEMANGLE_SIMPLIFIED) != 0;
}

static void ms_dmsw_char(ms_dmsw *p, char c)
{
    ms_dm_put(p->d, &c, 1);
}

/* A word from one of our tables. */
static void ms_dmsw_word(ms_dmsw *p, const char *word)
{
    size_t len = 0;
    while (word[len] != '\0')
        len++;
    ms_dm_put(p->d, word, len);
}

static void ms_dmsw_number(ms_dmsw *p, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    ms_dm_put(p->d, digits + at, sizeof digits - at);
}

static void ms_dmsw_own(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    if (n->form == ms_DMSW_F_TEXT || n->form == ms_DMSW_F_KNOWN)
        ms_dm_put(p->d, n->u.text, n->count);
}

/* The text of the kind's row. */
static void ms_dmsw_row_text(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dm_put(p->d, row->text, row->len);
}

static void ms_dmsw_print(ms_dmsw *p, uint32_t ref)
{
    (void)ms_dmsw_print_as(p, ref, false);
}

static void ms_dmsw_print_kid(ms_dmsw *p, uint32_t ref, uint32_t i)
{
    ms_dmsw_print(p, ms_dmsw_kid(p, ref, i));
}

static void ms_dmsw_print_kids(ms_dmsw *p, uint32_t ref, const char *sep, size_t len)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dm_put(p->d, sep, len);
        ms_dmsw_print_kid(p, ref, i);
    }
}

static void ms_dmsw_print_commas(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_print_kids(p, ref, ", ", 2);
}

static bool ms_dmsw_is_simple(const ms_dmsw *p, uint32_t type)
{
    unsigned kind = ms_dmsw_inner(p, type);
    if (kind == ms_DMSW_ProtocolList)
        return ms_dmsw_kid_count(p, ms_dmsw_kid(p, type, 0)) <= 1;
    if (kind == ms_DMSW_ProtocolListWithAnyObject)
        return ms_dmsw_kid_count(p, ms_dmsw_kid(p, ms_dmsw_kid(p, type, 0), 0)) == 0;
    return (ms_dmsw_rows[kind].traits & ms_DMSW_T_SIMPLE) != 0;
}

static void ms_dmsw_print_in_parens(ms_dmsw *p, uint32_t type)
{
    bool simple = ms_dmsw_is_simple(p, type);
    if (!simple)
        ms_dmsw_char(p, '(');
    ms_dmsw_print(p, type);
    if (!simple)
        ms_dmsw_char(p, ')');
}

/* Function types start with a parenthesis or an attribute: no space between the name and them. */
static bool ms_dmsw_needs_space(const ms_dmsw *p, uint32_t type)
{
    unsigned kind = ms_dmsw_inner(p, type);
    return kind != ms_DMSW_DependentGenericType && !(ms_dmsw_rows[kind].traits & ms_DMSW_T_FUNCTION);
}

static void ms_dmsw_print_label(ms_dmsw *p, uint32_t label)
{
    if (ms_dmsw_kind_of(p, label) == ms_DMSW_Identifier)
        ms_dmsw_print(p, label);
    else
        ms_dmsw_char(p, '_');
    ms_dmsw_char(p, ':');
}

/* Parameters in parentheses; the simplified style shows labels only. */
static void ms_dmsw_print_params(ms_dmsw *p, uint32_t labels, uint32_t args)
{
    bool types = !ms_dmsw_short(p);
    uint32_t params = ms_dmsw_kid(p, args, 0);
    if (ms_dmsw_inner(p, params) != ms_DMSW_Tuple) {
        ms_dmsw_char(p, '(');
        if (types)
            ms_dmsw_print(p, params);
        else
            ms_dmsw_lit(p, "_:");
        ms_dmsw_char(p, ')');
        return;
    }
    uint32_t count = ms_dmsw_kid_count(p, params);
    bool has_labels = ms_dmsw_kid_count(p, labels) > 0;
    ms_dmsw_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t param = ms_dmsw_kid(p, params, i);
        if (i > 0 && types)
            ms_dmsw_lit(p, ", ");
        if (has_labels) {
            ms_dmsw_print_label(p, ms_dmsw_kid(p, labels, i));
            if (types)
                ms_dmsw_char(p, ' ');
        } else if (!types) {
            uint32_t name = ms_dmsw_kid_of(p, param, ms_DMSW_TupleElementName);
            if (name)
                ms_dmsw_own(p, name);
            else
                ms_dmsw_char(p, '_');
            ms_dmsw_char(p, ':');
        }
        if (types)
            ms_dmsw_print(p, param);
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_diff(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_word(p, "@differentiable");
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'f': ms_dmsw_word(p, "(_forward)"); break;
    case 'r': ms_dmsw_word(p, "(reverse)"); break;
    case 'l': ms_dmsw_word(p, "(_linear)"); break;
    default: break;
    }
}

/* What stands before the parameters of a function type. */
static void ms_dmsw_print_function_head(ms_dmsw *p, uint32_t ref)
{
    uint32_t clang = ms_dmsw_kid_of(p, ref, ms_DMSW_ClangType);
    ms_dmsw_row_text(p, ref);
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_CFunctionPointer:
    case ms_DMSW_ObjCBlock:
    case ms_DMSW_EscapingObjCBlock:
        if (clang) {
            ms_dmsw_word(p, ", mangledCType: \"");
            ms_dmsw_own(p, clang);
            ms_dmsw_char(p, '"');
        }
        ms_dmsw_word(p, ") ");
        break;
    default: break;
    }
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t i = 0; i + 2 < count; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        unsigned kind = ms_dmsw_kind_of(p, kid);
        if ((ms_dmsw_rows[kind].traits & ms_DMSW_T_ISOLATION) || kind == ms_DMSW_ConcurrentFunctionType ||
            kind == ms_DMSW_DifferentiableFunctionType)
            ms_dmsw_print(p, kid);
    }
}

static void ms_dmsw_print_function(ms_dmsw *p, uint32_t labels, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref), part;
    if (count < 2) {
        p->d->failed = true;
        return;
    }
    if (count > 2 || !(ms_dmsw_rows[ms_dmsw_inner(p, ref)].traits & ms_DMSW_T_FUNCTION))
        ms_dmsw_print_function_head(p, ref);
    ms_dmsw_print_params(p, labels, ms_dmsw_kid(p, ref, count - 2));
    if (ms_dmsw_short(p))
        return;
    if (count > 2) {
        if (ms_dmsw_kid_of(p, ref, ms_DMSW_AsyncAnnotation))
            ms_dmsw_lit(p, " async");
        if ((part = ms_dmsw_kid_of(p, ref, ms_DMSW_ThrowsAnnotation)) != 0 ||
            (part = ms_dmsw_kid_of(p, ref, ms_DMSW_TypedThrowsAnnotation)) != 0)
            ms_dmsw_print(p, part);
    }
    ms_dmsw_lit(p, " -> ");
    if (count > 2 && ms_dmsw_kid_of(p, ref, ms_DMSW_SendingResultFunctionType))
        ms_dmsw_lit(p, "sending ");
    ms_dmsw_print_kid(p, ref, count - 1);
}

enum ms_dmsw_type_style { ms_DMSW_TY_NONE, ms_DMSW_TY_COLON, ms_DMSW_TY_FUNCTION };

typedef struct ms_dmsw_decl { /* How a declaration is to be printed. */
    unsigned type;            /* enum ms_dmsw_type_style */
    bool has_name;            /* the second child is its name */
    bool spaced;              /* extra contains a space: the context follows instead of coming first */
    const char *extra;
    size_t extra_len;
    uint32_t macro; /* 0, or the macro's name, which belongs to extra */
    int64_t index;  /* printed behind extra; -1: none */
    bool subscript; /* the name is the word subscript */
} ms_dmsw_decl;

static void ms_dmsw_print_entity_type(ms_dmsw *p, uint32_t ref, uint32_t type, uint32_t args)
{
    uint32_t labels = ms_dmsw_kid_of(p, ref, ms_DMSW_LabelList);
    if (!labels && !args) {
        ms_dmsw_print(p, type);
        return;
    }
    if (args) {
        ms_dmsw_char(p, '<');
        ms_dmsw_print_commas(p, args);
        ms_dmsw_char(p, '>');
    }
    if (ms_dmsw_inner(p, type) == ms_DMSW_DependentGenericType) {
        if (!args)
            ms_dmsw_print_kid(p, type, 0);
        type = ms_dmsw_kid(p, type, 1);
        if (ms_dmsw_needs_space(p, type))
            ms_dmsw_char(p, ' ');
    }
    ms_dmsw_print_function(p, labels, type);
}

static void ms_dmsw_print_extra(ms_dmsw *p, const ms_dmsw_decl *decl)
{
    ms_dm_put(p->d, decl->extra, decl->extra_len);
    if (decl->macro) {
        ms_dmsw_own(p, decl->macro);
        ms_dmsw_word(p, " expansion #");
    }
    if (decl->index >= 0)
        ms_dmsw_number(p, (uint64_t)decl->index);
}

/* The name of a declaration; false when it prints nothing, as a constructor's labels do. */
static bool ms_dmsw_print_name(ms_dmsw *p, uint32_t ref, const ms_dmsw_decl *decl)
{
    size_t before = p->d->out_len;
    if (decl->subscript) {
        ms_dmsw_word(p, "subscript");
    } else {
        uint32_t name = ms_dmsw_kid(p, ref, 1);
        uint32_t private_name = ms_dmsw_kid_of(p, ref, ms_DMSW_PrivateDeclName);
        if (ms_dmsw_kind_of(p, name) != ms_DMSW_PrivateDeclName)
            ms_dmsw_print(p, name);
        if (private_name)
            ms_dmsw_print(p, private_name);
    }
    return p->d->out_len != before;
}

static void ms_dmsw_print_decl_type(ms_dmsw *p, uint32_t ref, const ms_dmsw_decl *decl, bool spaced,
                                    uint32_t args)
{
    uint32_t type = ms_dmsw_kid_of(p, ref, ms_DMSW_Type);
    unsigned style = decl->type;
    if (!type) {
        p->d->failed = true;
        return;
    }
    if (style == ms_DMSW_TY_FUNCTION) {
        uint32_t t = type;
        while (ms_dmsw_inner(p, t) == ms_DMSW_DependentGenericType)
            t = ms_dmsw_kid(p, t, 1);
        unsigned kind = ms_dmsw_inner(p, t);
        if (!(ms_dmsw_rows[kind].traits & ms_DMSW_T_FUNCTION) && kind != ms_DMSW_CFunctionPointer &&
            kind != ms_DMSW_ThinFunctionType)
            style = ms_DMSW_TY_COLON;
    }
    if (style == ms_DMSW_TY_FUNCTION) {
        if (spaced || ms_dmsw_needs_space(p, type))
            ms_dmsw_char(p, ' ');
    } else if (ms_dmsw_short(p)) {
        return;
    } else {
        ms_dmsw_lit(p, " : ");
    }
    ms_dmsw_print_entity_type(p, ref, type, args);
}

/* A declaration with its context before it ("context.name") or behind it ("name in context"). Returns the
 * context that is left to print: as a prefix of something else, nothing can follow a declaration's name. */
static uint32_t ms_dmsw_print_decl(ms_dmsw *p, uint32_t ref, bool as_prefix, const ms_dmsw_decl *decl)
{
    uint32_t args = 0, left = 0, context;
    if (ms_dmsw_inner(p, ref) == ms_DMSW_BoundGenericFunction) {
        args = ms_dmsw_kid(p, ref, 1);
        ref = ms_dmsw_kid(p, ref, 0);
    }
    bool local = decl->has_name && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, 1)) == ms_DMSW_LocalDeclName;
    bool spaced = decl->spaced || local;
    if (as_prefix && (decl->type != ms_DMSW_TY_NONE || spaced))
        return ref;
    context = ms_dmsw_kid(p, ref, 0);
    if (spaced) {
        left = context;
    } else {
        size_t before = p->d->out_len;
        left = ms_dmsw_print_as(p, context, true);
        if (p->d->out_len != before && !left)
            ms_dmsw_char(p, '.');
    }
    bool extra = decl->extra_len > 0;
    if (decl->has_name || decl->subscript) {
        if (extra && spaced) {
            ms_dmsw_print_extra(p, decl);
            ms_dmsw_lit(p, " of ");
            extra = false;
        }
        if (ms_dmsw_print_name(p, ref, decl) && extra)
            ms_dmsw_char(p, '.');
    }
    if (extra)
        ms_dmsw_print_extra(p, decl);
    if (decl->type != ms_DMSW_TY_NONE)
        ms_dmsw_print_decl_type(p, ref, decl, spaced, args);
    if (as_prefix || !left)
        return left;
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_DefaultArgumentInitializer:
    case ms_DMSW_Initializer:
    case ms_DMSW_PropertyWrapperBackingInitializer:
    case ms_DMSW_PropertyWrapperInitFromProjectedValue:
    case ms_DMSW_PropertyWrappedFieldInitAccessor: ms_dmsw_lit(p, " of "); break;
    default: ms_dmsw_lit(p, " in "); break;
    }
    ms_dmsw_print(p, left);
    return 0;
}

/* The number behind an extra name; Swift's own printer holds it in an int and leaves out a negative one. */
static int64_t ms_dmsw_extra_index(const ms_dmsw *p, uint32_t index, uint64_t add)
{
    uint64_t low = (ms_dmsw_at(p, index)->u.index + add) & 0xffffffffu;
    return low > INT32_MAX ? -1 : (int64_t)low;
}

/* A declaration whose row's text is an extra name behind it, or its only name. */
static uint32_t ms_dmsw_print_part(ms_dmsw *p, uint32_t ref, bool as_prefix, unsigned type, int64_t index)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dmsw_decl decl = {type, false, false, row->text, row->len, 0, index, false};
    for (size_t i = 0; i < row->len; i++)
        decl.spaced = decl.spaced || row->text[i] == ' ';
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* A named declaration. */
static uint32_t ms_dmsw_print_named(ms_dmsw *p, uint32_t ref, bool as_prefix, unsigned type)
{
    ms_dmsw_decl decl = {type, true, false, "", 0, 0, -1, false};
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* An accessor of a variable or subscript. */
static uint32_t ms_dmsw_print_accessor(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    uint32_t storage = ms_dmsw_kid(p, ref, 0);
    unsigned kind = ms_dmsw_kind_of(p, storage);
    if (kind != ms_DMSW_Variable && kind != ms_DMSW_Subscript) {
        p->d->failed = true;
        return 0;
    }
    ms_dmsw_decl decl = {
        ms_DMSW_TY_COLON,         kind == ms_DMSW_Variable, false, row->text, row->len, 0, -1,
        kind == ms_DMSW_Subscript};
    return ms_dmsw_print_decl(p, storage, as_prefix, &decl);
}

static uint32_t ms_dmsw_print_macro(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_row *row = ms_dmsw_rows + ms_dmsw_inner(p, ref);
    ms_dmsw_decl decl = {ms_DMSW_TY_NONE, true, true, row->text, row->len, 0, -1, false};
    unsigned kind = ms_dmsw_inner(p, ref);
    bool attached = kind != ms_DMSW_FreestandingMacroExpansion && kind != ms_DMSW_MacroExpansionUniqueName;
    uint32_t index = ms_dmsw_kid_of(p, ref, ms_DMSW_Index);
    if (attached)
        decl.macro = ms_dmsw_kid(p, ref, ms_dmsw_kid(p, ref, 2) == index ? 1 : 2);
    decl.index = ms_dmsw_extra_index(p, index, 1);
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* The standard library's Optional, Array or Dictionary with that many arguments. */
static bool ms_dmsw_is_swift(const ms_dmsw *p, uint32_t type, const char *name, size_t len)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, type);
    if (n->form == ms_DMSW_F_KNOWN)
        return ms_dmsw_text_is(p, type, name, len);
    uint32_t context = ms_dmsw_kid(p, type, 0), id = ms_dmsw_kid(p, type, 1);
    return ms_dmsw_kind_of(p, context) == ms_DMSW_Module && ms_dmsw_text_is(p, context, "Swift", 5) &&
           ms_dmsw_kind_of(p, id) == ms_DMSW_Identifier && ms_dmsw_text_is(p, id, name, len);
}

/* [A], [A : B], A? for the types they stand for. Returns false when it is another type. */
static bool ms_dmsw_print_sugar(ms_dmsw *p, uint32_t ref)
{
    uint32_t type = ms_dmsw_kid(p, ref, 0), args = ms_dmsw_kid(p, ref, 1);
    uint32_t count = ms_dmsw_kid_count(p, args);
    if (count == 0 || count > 2 || (p->style & ms_DMSW_NO_SUGAR) || ms_dmsw_kid_count(p, ref) != 2)
        return false;
    if (ms_dmsw_inner(p, ref) == ms_DMSW_BoundGenericEnum) {
        bool forced = ms_dmsw_is_swift(p, type, "ImplicitlyUnwrappedOptional", 27);
        if (count != 1 || (!forced && !ms_dmsw_is_swift(p, type, "Optional", 8)))
            return false;
        ms_dmsw_print_in_parens(p, ms_dmsw_kid(p, args, 0));
        ms_dmsw_char(p, forced ? '!' : '?');
        return true;
    }
    if (!(count == 1 && ms_dmsw_is_swift(p, type, "Array", 5)) &&
        !(count == 2 && ms_dmsw_is_swift(p, type, "Dictionary", 10)))
        return false;
    ms_dmsw_char(p, '[');
    ms_dmsw_print_kids(p, args, " : ", 3);
    ms_dmsw_char(p, ']');
    return true;
}

static void ms_dmsw_print_bound(ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    if (kind == ms_DMSW_BoundGenericProtocol) {
        ms_dmsw_print_kids(p, ms_dmsw_kid(p, ref, 1), "", 0);
        ms_dmsw_word(p, " as ");
        ms_dmsw_print_kid(p, ref, 0);
        return;
    }
    if ((kind == ms_DMSW_BoundGenericEnum || kind == ms_DMSW_BoundGenericStructure) &&
        ms_dmsw_print_sugar(p, ref))
        return;
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_char(p, '<');
    ms_dmsw_print_commas(p, ms_dmsw_kid(p, ref, 1));
    ms_dmsw_char(p, '>');
}

/* A, B, ... AB; deeper levels carry their number: A1 */
static void ms_dmsw_print_param_name(ms_dmsw *p, uint64_t depth, uint64_t index)
{
    do {
        ms_dmsw_char(p, (char)('A' + index % 26));
        index /= 26;
    } while (index);
    if (depth)
        ms_dmsw_number(p, depth);
}

/* Whether a generic parameter has a marker of that kind. Swift's own printer compares a marker's depth with
 * the parameter's place and its place with the depth, so that only some markers show; the same here. */
static bool ms_dmsw_has_marker(ms_dmsw *p, uint32_t ref, unsigned kind, uint64_t depth, uint64_t index)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    if (p->d->work < count) {
        p->d->failed = true;
        return false;
    }
    p->d->work -= count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmsw_kind_of(p, kid) != kind)
            continue;
        const ms_dmsw_node *type = ms_dmsw_at(p, ms_dmsw_kid(p, kid, 0));
        if (type->kind == ms_DMSW_DependentGenericParamType && type->u.index == (index << 32 | depth))
            return true;
    }
    return false;
}

static void ms_dmsw_print_signature_level(ms_dmsw *p, uint32_t ref, uint64_t depth, uint64_t count,
                                          bool markers)
{
    for (uint64_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dmsw_word(p, ", ");
        if (i >= 128) { /* as far as Swift's own printer goes */
            ms_dmsw_word(p, "...");
            break;
        }
        if (markers && ms_dmsw_has_marker(p, ref, ms_DMSW_DependentGenericParamPackMarker, depth, i))
            ms_dmsw_word(p, "each ");
        if (markers && ms_dmsw_has_marker(p, ref, ms_DMSW_DependentGenericParamValueMarker, depth, i))
            ms_dmsw_word(p, "let ");
        ms_dmsw_print_param_name(p, depth, i);
    }
}

static void ms_dmsw_print_signature(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref), i = 0, first = 0;
    while (first < count &&
           ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, first)) == ms_DMSW_DependentGenericParamCount)
        first++;
    uint32_t levels = first;
    for (; first < count; first++) {
        unsigned kind = ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, first));
        if (kind != ms_DMSW_DependentGenericParamPackMarker &&
            kind != ms_DMSW_DependentGenericParamValueMarker)
            break;
    }
    ms_dmsw_char(p, '<');
    for (; i < levels && !p->d->failed; i++) {
        if (i > 0)
            ms_dmsw_word(p, "><");
        ms_dmsw_print_signature_level(p, ref, i, ms_dmsw_at(p, ms_dmsw_kid(p, ref, i))->u.index,
                                      first > levels);
    }
    if (first < count && !ms_dmsw_short(p)) {
        ms_dmsw_word(p, " where ");
        for (i = first; i < count && !p->d->failed; i++) {
            if (i > first)
                ms_dmsw_word(p, ", ");
            ms_dmsw_print_kid(p, ref, i);
        }
    }
    ms_dmsw_char(p, '>');
}

static void ms_dmsw_print_layout(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, ": ");
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'U': ms_dmsw_word(p, "_UnknownLayout"); break;
    case 'R': ms_dmsw_word(p, "_RefCountedObject"); break;
    case 'N': ms_dmsw_word(p, "_NativeRefCountedObject"); break;
    case 'C': ms_dmsw_word(p, "AnyObject"); break;
    case 'D': ms_dmsw_word(p, "_NativeClass"); break;
    case 'B':
    case 'S': break; /* Swift's own printer has no words for these two */
    case 'M':
    case 'm': ms_dmsw_word(p, "_TrivialAtMost"); break;
    default: ms_dmsw_word(p, "_Trivial"); break;
    }
    if (ms_dmsw_kid_count(p, ref) < 2)
        return;
    ms_dmsw_char(p, '(');
    ms_dmsw_print_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ref) > 2) {
        ms_dmsw_word(p, ", ");
        ms_dmsw_print_kid(p, ref, 2);
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_inverse(ms_dmsw *p, uint32_t ref)
{
    uint64_t bit = ms_dmsw_at(p, ms_dmsw_kid(p, ref, 1))->u.index;
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_row_text(p, ref);
    if (bit == 0) {
        ms_dmsw_word(p, "Copyable");
    } else if (bit == 1) {
        ms_dmsw_word(p, "Escapable");
    } else {
        ms_dmsw_word(p, "<bit ");
        ms_dmsw_number(p, bit);
        ms_dmsw_char(p, '>');
    }
}

/* ---- printing implementation function types ---- */

static void ms_dmsw_print_impl_part(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    unsigned word = n->mark & ms_DMSW_M_WORD;
    bool is_param = n->kind == ms_DMSW_ImplParameter || n->kind == ms_DMSW_ImplYield;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_word(p, is_param ? ms_dmsw_param_words[word] : ms_dmsw_result_words[word]);
    ms_dmsw_char(p, ' ');
    unsigned others = n->mark & (ms_DMSW_M_SENDING | ms_DMSW_M_ISOLATED | ms_DMSW_M_IMPLICIT);
    if ((others & (others - 1)) == 0) { /* Swift's own printer shows none of several */
        if (n->mark & ms_DMSW_M_NO_DERIVATIVE)
            ms_dmsw_word(p, "@noDerivative ");
        if (others == ms_DMSW_M_SENDING)
            ms_dmsw_word(p, "sending ");
        else if (others == ms_DMSW_M_ISOLATED)
            ms_dmsw_word(p, "isolated ");
        else if (others == ms_DMSW_M_IMPLICIT)
            ms_dmsw_word(p, "sil_implicit_leading_param ");
    }
    ms_dmsw_print_kid(p, ref, 0);
}

/* The attributes before the parameters. */
static void ms_dmsw_print_impl_head(ms_dmsw *p, uint32_t ref, uint32_t pattern)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        switch (ms_dmsw_kind_of(p, kid)) {
        case ms_DMSW_ImplPatternSubstitutions:
        case ms_DMSW_ImplInvocationSubstitutions:
        case ms_DMSW_ImplSendingResult:
        case ms_DMSW_ImplParameter:
        case ms_DMSW_ImplResult:
        case ms_DMSW_ImplYield:
        case ms_DMSW_ImplErrorResult: break;
        default:
            ms_dmsw_print(p, kid);
            ms_dmsw_char(p, ' ');
            break;
        }
    }
    if (pattern) {
        ms_dmsw_word(p, "@substituted ");
        ms_dmsw_print_kid(p, pattern, 0);
        ms_dmsw_char(p, ' ');
    }
}

/* The parameters (or, with want false, the results) in parentheses. */
static void ms_dmsw_print_impl_list(ms_dmsw *p, uint32_t ref, bool want_params)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    bool any = false;
    ms_dmsw_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        unsigned kind = ms_dmsw_kind_of(p, kid);
        bool is_param = kind == ms_DMSW_ImplParameter;
        if (is_param != want_params || (!is_param && kind != ms_DMSW_ImplResult &&
                                        kind != ms_DMSW_ImplYield && kind != ms_DMSW_ImplErrorResult))
            continue;
        if (any)
            ms_dmsw_word(p, ", ");
        any = true;
        ms_dmsw_print(p, kid);
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_impl_convention(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
    if (ms_dmsw_kid_count(p, ref) > 1) {
        ms_dmsw_word(p, ", mangledCType: \"");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 1));
        ms_dmsw_char(p, '"');
    }
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_impl_function(ms_dmsw *p, uint32_t ref)
{
    uint32_t pattern = ms_dmsw_kid_of(p, ref, ms_DMSW_ImplPatternSubstitutions);
    uint32_t invocation = ms_dmsw_kid_of(p, ref, ms_DMSW_ImplInvocationSubstitutions);
    ms_dmsw_print_impl_head(p, ref, pattern);
    ms_dmsw_print_impl_list(p, ref, true);
    ms_dmsw_lit(p, " -> ");
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_ImplSendingResult))
        ms_dmsw_lit(p, "sending ");
    ms_dmsw_print_impl_list(p, ref, false);
    if (pattern) {
        ms_dmsw_lit(p, " for <");
        ms_dmsw_print_commas(p, ms_dmsw_kid(p, pattern, 1));
        ms_dmsw_char(p, '>');
    }
    if (invocation) {
        ms_dmsw_lit(p, " for <");
        ms_dmsw_print_commas(p, ms_dmsw_kid(p, invocation, 0));
        ms_dmsw_char(p, '>');
    }
}

/* ---- printing specializations ---- */

static void ms_dmsw_print_spec_options(ms_dmsw *p, uint64_t what)
{
    static const uint32_t bits[] = {ms_DMSW_P_EXISTENTIAL, ms_DMSW_P_DEAD, ms_DMSW_P_OWNED_TO_GUARANTEED,
                                    ms_DMSW_P_GUARANTEED_TO_OWNED, ms_DMSW_P_EXPLODED};
    static const char *const words[] = {"Existential To Protocol Constrained Generic", "Dead",
                                        "Owned To Guaranteed", "Guaranteed To Owned", "Exploded"};
    bool any = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(what & bits[i]))
            continue;
        if (any)
            ms_dmsw_word(p, " and ");
        any = true;
        ms_dmsw_word(p, words[i]);
    }
}

static void ms_dmsw_print_spec_kind(ms_dmsw *p, uint32_t ref)
{
    uint64_t what = ms_dmsw_at(p, ref)->u.index;
    switch (what) {
    case ms_DMSW_P_FUNCTION: ms_dmsw_word(p, "Constant Propagated Function"); break;
    case ms_DMSW_P_GLOBAL: ms_dmsw_word(p, "Constant Propagated Global"); break;
    case ms_DMSW_P_INTEGER: ms_dmsw_word(p, "Constant Propagated Integer"); break;
    case ms_DMSW_P_FLOAT: ms_dmsw_word(p, "Constant Propagated Float"); break;
    case ms_DMSW_P_STRING: ms_dmsw_word(p, "Constant Propagated String"); break;
    case ms_DMSW_P_KEYPATH: ms_dmsw_word(p, "Constant Propagated KeyPath"); break;
    case ms_DMSW_P_STRUCT: ms_dmsw_word(p, "Constant Propagated Struct"); break;
    case ms_DMSW_P_CLOSURE: ms_dmsw_word(p, "Closure Propagated"); break;
    case ms_DMSW_P_ESCAPING_CLOSURE: ms_dmsw_word(p, "Escaping Closure Propagated"); break;
    case ms_DMSW_P_SAME_CLOSURE: ms_dmsw_word(p, "Same As Argument "); break;
    case ms_DMSW_P_BOX_TO_VALUE: ms_dmsw_word(p, "Value Promoted from Box"); break;
    case ms_DMSW_P_BOX_TO_STACK: ms_dmsw_word(p, "Stack Promoted from Box"); break;
    case ms_DMSW_P_INOUT_TO_OUT: ms_dmsw_word(p, "InOut Converted to Out"); break;
    default: ms_dmsw_print_spec_options(p, what); break;
    }
}

/* The closure's name and the types it closes over. */
static void ms_dmsw_print_spec_closure(ms_dmsw *p, uint32_t param)
{
    uint32_t count = ms_dmsw_kid_count(p, param);
    ms_dmsw_print_kid(p, param, 1);
    ms_dmsw_word(p, ", Argument Types : [");
    for (uint32_t i = 2; i < count && !p->d->failed; i++) {
        if (i > 2)
            ms_dmsw_word(p, ", ");
        ms_dmsw_print_kid(p, param, i);
    }
}

static void ms_dmsw_print_spec_const(ms_dmsw *p, uint32_t param)
{
    uint32_t kind = ms_dmsw_kid(p, param, 0), count = ms_dmsw_kid_count(p, param);
    uint64_t what = ms_dmsw_at(p, kind)->u.index;
    if (what > ms_DMSW_P_SAME_CLOSURE) {
        ms_dmsw_print(p, kind);
        return;
    }
    if (count < 2) /* a result has no operands */
        return;
    ms_dmsw_char(p, '[');
    ms_dmsw_print(p, kind);
    if (what != ms_DMSW_P_SAME_CLOSURE)
        ms_dmsw_word(p, " : ");
    switch (what) {
    case ms_DMSW_P_FUNCTION:
    case ms_DMSW_P_GLOBAL:
        if (!ms_dmsw_nested(p, ms_dmsw_kid(p, param, 1)))
            ms_dmsw_own(p, ms_dmsw_kid(p, param, 1));
        break;
    case ms_DMSW_P_STRING:
        ms_dmsw_print_kid(p, param, 1);
        ms_dmsw_char(p, '\'');
        ms_dmsw_print_kid(p, param, 2);
        ms_dmsw_char(p, '\'');
        break;
    case ms_DMSW_P_KEYPATH:
        ms_dmsw_print_kid(p, param, 1);
        ms_dmsw_char(p, '<');
        ms_dmsw_print_kid(p, param, 2);
        ms_dmsw_char(p, ',');
        ms_dmsw_print_kid(p, param, 3);
        ms_dmsw_char(p, '>');
        break;
    case ms_DMSW_P_CLOSURE:
    case ms_DMSW_P_ESCAPING_CLOSURE: ms_dmsw_print_spec_closure(p, param); break;
    default: ms_dmsw_print_kid(p, param, 1); break;
    }
    ms_dmsw_char(p, ']');
}

static void ms_dmsw_print_spec_param(ms_dmsw *p, uint32_t param)
{
    uint32_t count = ms_dmsw_kid_count(p, param);
    if (ms_dmsw_kind_of(p, ms_dmsw_kid(p, param, 0)) != ms_DMSW_FunctionSignatureSpecializationParam) {
        ms_dmsw_print_spec_const(p, param);
        return;
    }
    for (uint32_t i = 0; i < count && !p->d->failed; i++)
        ms_dmsw_print_spec_const(p, ms_dmsw_kid(p, param, i));
}

/* One part between the angle brackets; false when it prints nothing. */
static bool ms_dmsw_print_spec_part(ms_dmsw *p, uint32_t ref, uint32_t kid, uint32_t arg, bool first)
{
    unsigned kind = ms_dmsw_kind_of(p, kid);
    if (kind != ms_DMSW_IsSerialized && ms_dmsw_kid_count(p, kid) == 0)
        return false;
    if (!first)
        ms_dmsw_word(p, ", ");
    if (kind == ms_DMSW_IsSerialized) {
        ms_dmsw_print(p, kid);
        return true;
    }
    unsigned outer = ms_dmsw_inner(p, ref);
    if (outer == ms_DMSW_GenericPartialSpecialization ||
        outer == ms_DMSW_GenericPartialSpecializationNotReAbstracted)
        ms_dmsw_word(p, "Signature = ");
    if (kind == ms_DMSW_FunctionSignatureSpecializationParam) {
        ms_dmsw_word(p, "Arg[");
        ms_dmsw_number(p, arg);
        ms_dmsw_word(p, "] = ");
        ms_dmsw_print_spec_param(p, kid);
    } else if (kind == ms_DMSW_FunctionSignatureSpecializationReturn) {
        ms_dmsw_word(p, "Return = ");
        ms_dmsw_print_spec_param(p, kid);
    } else {
        ms_dmsw_print(p, kid);
    }
    return true;
}

static void ms_dmsw_print_specialization(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_short(p)) {
        if (!p->specialized)
            ms_dmsw_word(p, "specialized ");
        p->specialized = true;
        return;
    }
    uint32_t count = ms_dmsw_kid_count(p, ref), arg = 0;
    bool first = true;
    if (ms_dmsw_at(p, ref)->mark && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, 0)) != ms_DMSW_IsSerialized) {
        ms_dmsw_word(p, "representation changed of ");
        return;
    }
    ms_dmsw_row_text(p, ref);
    ms_dmsw_word(p, " <");
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmsw_print_spec_part(p, ref, kid, arg, first))
            first = false;
        arg += ms_dmsw_kind_of(p, kid) != ms_DMSW_IsSerialized;
    }
    ms_dmsw_word(p, "> of ");
}

static void ms_dmsw_print_spec_generic(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmsw_print_kid(p, ref, 0);
    for (uint32_t i = 1; i < count && !p->d->failed; i++) {
        if (i == 1)
            ms_dmsw_word(p, " with ");
        else
            ms_dmsw_word(p, " and ");
        ms_dmsw_print_kid(p, ref, i);
    }
}

/* ---- printing thunks ---- */

static void ms_dmsw_print_reabstraction(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    uint32_t signature = ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature);
    bool self = ms_dmsw_inner(p, ref) == ms_DMSW_ReabstractionThunkHelperWithSelf;
    if (ms_dmsw_short(p) && !self) {
        ms_dmsw_word(p, "thunk for ");
        ms_dmsw_print_kid(p, ref, count - 1);
        return;
    }
    ms_dmsw_row_text(p, ref);
    if (signature) {
        ms_dmsw_print(p, signature);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_word(p, "from ");
    ms_dmsw_print_kid(p, ref, count - 1);
    ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, count - 2);
    if (self) {
        ms_dmsw_word(p, " self ");
        ms_dmsw_print_kid(p, ref, count - 3);
    }
}

static void ms_dmsw_print_completion(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_row_text(p, ref);
    if (ms_dmsw_kid_count(p, ref) > 3)
        ms_dmsw_print_kid(p, ref, 3);
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " with result type ");
    ms_dmsw_print_kid(p, ref, 1);
    switch (ms_dmsw_at(p, ms_dmsw_kid(p, ref, 2))->u.index) {
    case 0: break;
    case 1: ms_dmsw_word(p, " nonzero on error"); break;
    case 2: ms_dmsw_word(p, " zero on error"); break;
    default: ms_dmsw_word(p, " <invalid error flag>"); break;
    }
}

static void ms_dmsw_print_keypath_accessor(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " : ");
    for (uint32_t i = 1; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (ms_dmsw_kind_of(p, kid) == ms_DMSW_IsSerialized)
            ms_dmsw_word(p, ", ");
        ms_dmsw_print(p, kid);
    }
}

static void ms_dmsw_print_keypath_helper(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    bool first = true;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print(p, ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature));
    ms_dmsw_char(p, '(');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        uint32_t kid = ms_dmsw_kid(p, ref, i);
        if (!(kid & ms_DMSW_AS_TYPE))
            continue;
        if (!first)
            ms_dmsw_word(p, ", ");
        first = false;
        ms_dmsw_print(p, kid);
    }
    ms_dmsw_char(p, ')');
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_IsSerialized))
        ms_dmsw_word(p, ", serialized");
}

static void ms_dmsw_print_diff_kind(ms_dmsw *p, uint32_t ref)
{
    switch (ms_dmsw_at(p, ref)->mark) {
    case 'f': ms_dmsw_word(p, "forward-mode derivative"); break;
    case 'r': ms_dmsw_word(p, "reverse-mode derivative"); break;
    case 'd': ms_dmsw_word(p, "differential"); break;
    default: ms_dmsw_word(p, "pullback"); break;
    }
}

static void ms_dmsw_print_index_subset(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    bool first = true;
    ms_dmsw_char(p, '{');
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->u.text[i] != 'S')
            continue;
        if (!first)
            ms_dmsw_word(p, ", ");
        first = false;
        ms_dmsw_number(p, i);
    }
    ms_dmsw_char(p, '}');
}

/* The place of the kind letter's node among the children. */
static uint32_t ms_dmsw_diff_at(const ms_dmsw *p, uint32_t ref)
{
    uint32_t i = 0, count = ms_dmsw_kid_count(p, ref);
    while (i < count && ms_dmsw_kind_of(p, ms_dmsw_kid(p, ref, i)) != ms_DMSW_AutoDiffFunctionKind)
        i++;
    return i;
}

static void ms_dmsw_print_respect(ms_dmsw *p, uint32_t ref, uint32_t at)
{
    ms_dmsw_word(p, " with respect to parameters ");
    ms_dmsw_print_kid(p, ref, at + 1);
    ms_dmsw_word(p, " and results ");
    ms_dmsw_print_kid(p, ref, at + 2);
}

static void ms_dmsw_print_autodiff(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref), end = at;
    uint32_t signature = end > 0 ? ms_dmsw_kid(p, ref, end - 1) : 0;
    if (ms_dmsw_kind_of(p, signature) == ms_DMSW_DependentGenericSignature)
        end--;
    else
        signature = 0;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, at);
    ms_dmsw_word(p, " of ");
    for (uint32_t i = 0; i < end && !p->d->failed; i++)
        ms_dmsw_print_kid(p, ref, i);
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_print_respect(p, ref, at);
    if (signature) {
        ms_dmsw_word(p, " with ");
        ms_dmsw_print(p, signature);
    }
}

static void ms_dmsw_print_diff_witness(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref);
    switch (ms_dmsw_at(p, ms_dmsw_kid(p, ref, at))->mark) {
    case 'f': ms_dmsw_word(p, "forward-mode"); break;
    case 'r': ms_dmsw_word(p, "reverse-mode"); break;
    case 'l': ms_dmsw_word(p, "linear"); break;
    default: ms_dmsw_word(p, "normal"); break;
    }
    ms_dmsw_word(p, " differentiability witness for ");
    for (uint32_t i = 0; i < at && !p->d->failed; i++)
        ms_dmsw_print_kid(p, ref, i);
    ms_dmsw_print_respect(p, ref, at);
    if (ms_dmsw_kid(p, ref, at + 3)) {
        ms_dmsw_word(p, " with ");
        ms_dmsw_print_kid(p, ref, at + 3);
    }
}

static void ms_dmsw_print_subset_thunk(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref), from = at > 1 ? at - 1 : at;
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, at);
    ms_dmsw_word(p, " from ");
    for (uint32_t i = 0; i < from && !p->d->failed; i++)
        ms_dmsw_print_kid(p, ref, i);
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_print_respect(p, ref, at);
    ms_dmsw_word(p, " to parameters ");
    ms_dmsw_print_kid(p, ref, at + 3);
    if (from < at) {
        ms_dmsw_word(p, " of type ");
        ms_dmsw_print_kid(p, ref, from);
    }
}

static void ms_dmsw_print_self_reordering(ms_dmsw *p, uint32_t ref)
{
    uint32_t at = ms_dmsw_diff_at(p, ref);
    uint32_t signature = ms_dmsw_kid_of(p, ref, ms_DMSW_DependentGenericSignature);
    ms_dmsw_row_text(p, ref);
    if (signature && !ms_dmsw_short(p)) {
        ms_dmsw_print(p, signature);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_word(p, "for ");
    if (ms_dmsw_short(p)) {
        ms_dmsw_print_kid(p, ref, 0);
        return;
    }
    ms_dmsw_print_kid(p, ref, at);
    ms_dmsw_word(p, " from ");
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, 1);
}

/* ---- printing names and the rest ---- */

static void ms_dmsw_print_private(ms_dmsw *p, uint32_t ref)
{
    bool shown = !ms_dmsw_short(p), named = ms_dmsw_kid_count(p, ref) > 1;
    if (shown && named)
        ms_dmsw_char(p, '(');
    if (named)
        ms_dmsw_print_kid(p, ref, 1);
    if (!shown)
        return;
    if (named)
        ms_dmsw_word(p, " in ");
    else
        ms_dmsw_word(p, "(in ");
    ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
    ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_quoted(ms_dmsw *p, uint32_t ref)
{
    static const char hex[] = "0123456789ABCDEF";
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    ms_dmsw_word(p, " with unmangled suffix \"");
    for (uint32_t i = 0; i < n->count && !p->d->failed; i++) {
        char c = n->u.text[i];
        switch (c) {
        case '\\': ms_dmsw_word(p, "\\\\"); break;
        case '\t': ms_dmsw_word(p, "\\t"); break;
        case '\n': ms_dmsw_word(p, "\\n"); break;
        case '\r': ms_dmsw_word(p, "\\r"); break;
        case '"': ms_dmsw_word(p, "\\\""); break;
        case '\'': ms_dmsw_word(p, "\\'"); break;
        case '\0': ms_dmsw_word(p, "\\0"); break;
        default:
            if ((unsigned char)c >= 0x20 && (unsigned char)c < 0x7f) {
                ms_dmsw_char(p, c);
            } else {
                ms_dmsw_word(p, "\\x");
                ms_dmsw_char(p, hex[(unsigned char)c >> 4]);
                ms_dmsw_char(p, hex[(unsigned char)c & 15]);
            }
            break;
        }
    }
    ms_dmsw_char(p, '"');
}

static void ms_dmsw_print_extension(ms_dmsw *p, uint32_t ref)
{
    if (!ms_dmsw_short(p)) {
        ms_dmsw_lit(p, "(extension in ");
        (void)ms_dmsw_print_as(p, ms_dmsw_kid(p, ref, 0), true);
        ms_dmsw_lit(p, "):");
    }
    ms_dmsw_print_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ref) > 2)
        ms_dmsw_print_kid(p, ref, 2);
}

static void ms_dmsw_print_anonymous(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_print_kid(p, ref, 1);
    ms_dmsw_word(p, ".(unknown context at ");
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_char(p, ')');
    if (ms_dmsw_kid_count(p, ms_dmsw_kid(p, ref, 2)) > 0) {
        ms_dmsw_char(p, '<');
        ms_dmsw_print_kid(p, ref, 2);
        ms_dmsw_char(p, '>');
    }
}

static void ms_dmsw_print_tuple_element(ms_dmsw *p, uint32_t ref)
{
    uint32_t name = ms_dmsw_kid_of(p, ref, ms_DMSW_TupleElementName);
    if (name) {
        ms_dmsw_own(p, name);
        ms_dmsw_lit(p, ": ");
    }
    ms_dmsw_print(p, ms_dmsw_kid_of(p, ref, ms_DMSW_Type));
    if (ms_dmsw_kid_of(p, ref, ms_DMSW_VariadicMarker))
        ms_dmsw_lit(p, "...");
}

static void ms_dmsw_print_metatype(ms_dmsw *p, uint32_t ref)
{
    uint32_t last = ms_dmsw_kid_count(p, ref) - 1, type = ms_dmsw_kid(p, ref, last);
    if (last > 0) {
        ms_dmsw_print_kid(p, ref, 0);
        ms_dmsw_char(p, ' ');
    }
    if (ms_dmsw_inner(p, ref) == ms_DMSW_ExistentialMetatype) {
        ms_dmsw_print(p, type);
        ms_dmsw_word(p, ".Type");
        return;
    }
    ms_dmsw_print_in_parens(p, type);
    if (ms_dmsw_rows[ms_dmsw_inner(p, type)].traits & ms_DMSW_T_EXISTENTIAL)
        ms_dmsw_word(p, ".Protocol");
    else
        ms_dmsw_word(p, ".Type");
}

static void ms_dmsw_print_protocols(ms_dmsw *p, uint32_t ref)
{
    unsigned kind = ms_dmsw_inner(p, ref);
    uint32_t list = ms_dmsw_kid(p, kind == ms_DMSW_ProtocolList ? ref : ms_dmsw_kid(p, ref, 0), 0);
    uint32_t count = ms_dmsw_kid_count(p, list);
    if (kind == ms_DMSW_ProtocolListWithClass) {
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_word(p, " & ");
    }
    ms_dmsw_print_kids(p, list, " & ", 3);
    if (kind == ms_DMSW_ProtocolListWithAnyObject) {
        if (count > 0)
            ms_dmsw_word(p, " & ");
        ms_dmsw_word(p, "Swift.AnyObject");
    } else if (count == 0 && kind == ms_DMSW_ProtocolList) {
        ms_dmsw_word(p, "Any");
    }
}

static void ms_dmsw_print_sil_layout(ms_dmsw *p, uint32_t ref)
{
    uint32_t count = ms_dmsw_kid_count(p, ref);
    ms_dmsw_char(p, '{');
    for (uint32_t i = 0; i < count && !p->d->failed; i++) {
        if (i > 0)
            ms_dmsw_char(p, ',');
        ms_dmsw_char(p, ' ');
        ms_dmsw_print_kid(p, ref, i);
    }
    ms_dmsw_word(p, " }");
}

static void ms_dmsw_print_sil_box(ms_dmsw *p, uint32_t ref)
{
    bool generic = ms_dmsw_kid_count(p, ref) > 2;
    if (generic) {
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_print_kid(p, ref, 0);
    if (generic) {
        ms_dmsw_word(p, " <");
        ms_dmsw_print_commas(p, ms_dmsw_kid(p, ref, 2));
        ms_dmsw_char(p, '>');
    }
}

static void ms_dmsw_print_conformance(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_kid_count(p, ref) == 4) {
        ms_dmsw_lit(p, "property behavior storage of ");
        ms_dmsw_print_kid(p, ref, 2);
        ms_dmsw_lit(p, " in ");
        ms_dmsw_print_kid(p, ref, 0);
        ms_dmsw_lit(p, " : ");
        ms_dmsw_print_kid(p, ref, 1);
        return;
    }
    ms_dmsw_print_kid(p, ref, 0);
    if (ms_dmsw_short(p))
        return;
    ms_dmsw_lit(p, " : ");
    ms_dmsw_print_kid(p, ref, 1);
    ms_dmsw_lit(p, " in ");
    ms_dmsw_print_kid(p, ref, 2);
}

/* The row's text, a known index, two children with a word between them. */
static void ms_dmsw_print_dependent_conformance(ms_dmsw *p, uint32_t ref)
{
    uint32_t index = ms_dmsw_kid(p, ref, 2);
    bool opaque = ms_dmsw_inner(p, ref) == ms_DMSW_DependentProtocolConformanceOpaque;
    ms_dmsw_row_text(p, ref);
    if (index && ms_dmsw_kind_of(p, index) == ms_DMSW_Index) {
        ms_dmsw_char(p, '#');
        ms_dmsw_print(p, index);
        ms_dmsw_char(p, ' ');
    }
    ms_dmsw_print_kid(p, ref, 0);
    if (opaque)
        ms_dmsw_word(p, " of ");
    else
        ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, 1);
}

static void ms_dmsw_print_concrete_conformance(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, 0);
    ms_dmsw_word(p, " to ");
    ms_dmsw_print_kid(p, ref, 1);
    if (ms_dmsw_kid_count(p, ms_dmsw_kid(p, ref, 2)) > 0) {
        ms_dmsw_word(p, " with conditional requirements: ");
        ms_dmsw_print_kid(p, ref, 2);
    }
}

/* The row's text and two or three children in an order of their own with texts between them. */
static void ms_dmsw_print_woven(ms_dmsw *p, uint32_t ref, uint32_t a, const char *ab, uint32_t b,
                                const char *bc, uint32_t c)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kid(p, ref, a);
    ms_dmsw_word(p, ab);
    ms_dmsw_print_kid(p, ref, b);
    if (!bc)
        return;
    ms_dmsw_word(p, bc);
    ms_dmsw_print_kid(p, ref, c);
}

static void ms_dmsw_print_value_witness(ms_dmsw *p, uint32_t ref)
{
    ms_dmsw_word(p, ms_dmsw_vw_words[ms_dmsw_at(p, ref)->mark]);
    if (ms_dmsw_short(p))
        ms_dmsw_word(p, " for ");
    else
        ms_dmsw_word(p, " value witness for ");
    ms_dmsw_print_kid(p, ref, 0);
}

static void ms_dmsw_print_once(ms_dmsw *p, uint32_t ref)
{
    uint32_t list = ms_dmsw_kid(p, ref, 1);
    bool several = ms_dmsw_kid_count(p, list) > 1;
    ms_dmsw_row_text(p, ref);
    if (several)
        ms_dmsw_char(p, '(');
    ms_dmsw_print_commas(p, list);
    if (several)
        ms_dmsw_char(p, ')');
}

static void ms_dmsw_print_partial_apply(ms_dmsw *p, uint32_t ref)
{
    if (ms_dmsw_short(p))
        ms_dmsw_word(p, "partial apply");
    else
        ms_dmsw_row_text(p, ref);
    if (ms_dmsw_kid_count(p, ref) > 0) {
        ms_dmsw_word(p, " for ");
        ms_dmsw_print_kids(p, ref, "", 0);
    }
}

static void ms_dmsw_print_type_mangling(ms_dmsw *p, uint32_t ref)
{
    uint32_t first = ms_dmsw_kid(p, ref, 0);
    if (ms_dmsw_kind_of(p, first) != ms_DMSW_LabelList) {
        ms_dmsw_print(p, first);
        return;
    }
    uint32_t type = ms_dmsw_kid(p, ref, 1);
    if (ms_dmsw_params_of(p, type))
        ms_dmsw_print_entity_type(p, ref, type, 0);
    else
        ms_dmsw_print(p, type);
}

/* The text of the row and the children in brackets that close with `close`. */
static void ms_dmsw_print_list(ms_dmsw *p, uint32_t ref, const char *sep, size_t len, char close)
{
    ms_dmsw_row_text(p, ref);
    ms_dmsw_print_kids(p, ref, sep, len);
    ms_dmsw_char(p, close);
}

/* A function, a part of one, or a storage declaration. Returns the context that is left to print. */
static uint32_t ms_dmsw_print_callable(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    bool is_class = ms_dmsw_inner(p, ms_dmsw_kid(p, ref, 0)) == ms_DMSW_Class;
    unsigned kind = ms_dmsw_inner(p, ref);
    ms_dmsw_decl decl = {ms_DMSW_TY_FUNCTION, false, false, "", 0, 0, -1, false};
    switch (kind) {
    case ms_DMSW_Variable: return ms_dmsw_print_named(p, ref, as_prefix, ms_DMSW_TY_COLON);
    case ms_DMSW_Macro:
        return ms_dmsw_print_named(p, ref, as_prefix,
                                   ms_dmsw_kid_count(p, ref) == 3 ? ms_DMSW_TY_COLON : ms_DMSW_TY_FUNCTION);
    case ms_DMSW_Subscript: decl.subscript = true; break;
    case ms_DMSW_Allocator:
        decl.extra = is_class ? "__allocating_init" : "init";
        decl.extra_len = is_class ? 17 : 4;
        break;
    case ms_DMSW_Constructor:
        decl.has_name = ms_dmsw_kid_count(p, ref) > 2;
        decl.extra = "init";
        decl.extra_len = 4;
        break;
    case ms_DMSW_Deallocator:
    case ms_DMSW_IsolatedDeallocator:
        decl.type = ms_DMSW_TY_NONE;
        decl.extra = is_class ? ms_dmsw_rows[kind].text : "deinit";
        decl.extra_len = is_class ? ms_dmsw_rows[kind].len : 6;
        break;
    default: decl.has_name = true; break;
    }
    return ms_dmsw_print_decl(p, ref, as_prefix, &decl);
}

/* Types and their parts. */
static void ms_dmsw_print_type(ms_dmsw *p, uint32_t ref)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    switch (n->kind) {
    case ms_DMSW_BuiltinFixedArray:
    case ms_DMSW_BuiltinBorrow: ms_dmsw_print_list(p, ref, ", ", 2, '>'); break;
    case ms_DMSW_ArgumentTuple: ms_dmsw_print_params(p, 0, ref); break;
    case ms_DMSW_TypedThrowsAnnotation:
    case ms_DMSW_Tuple:
    case ms_DMSW_SugaredParen: ms_dmsw_print_list(p, ref, ", ", 2, ')'); break;
    case ms_DMSW_GlobalActorFunctionType: ms_dmsw_print_list(p, ref, "", 0, ' '); break;
    case ms_DMSW_DifferentiableFunctionType:
        ms_dmsw_print_diff(p, ref);
        ms_dmsw_char(p, ' ');
        break;
    case ms_DMSW_ImplDifferentiabilityKind: ms_dmsw_print_diff(p, ref); break;
    case ms_DMSW_TupleElement: ms_dmsw_print_tuple_element(p, ref); break;
    case ms_DMSW_Pack:
    case ms_DMSW_SILPackDirect:
    case ms_DMSW_SILPackIndirect: ms_dmsw_print_list(p, ref, ", ", 2, '}'); break;
    case ms_DMSW_PackElement:
        ms_dmsw_row_text(p, ref);
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_word(p, " */ each ");
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_SILBoxTypeWithLayout: ms_dmsw_print_sil_box(p, ref); break;
    case ms_DMSW_SILBoxLayout: ms_dmsw_print_sil_layout(p, ref); break;
    case ms_DMSW_Metatype:
    case ms_DMSW_ExistentialMetatype: ms_dmsw_print_metatype(p, ref); break;
    case ms_DMSW_ConstrainedExistential:
        ms_dmsw_print_woven(p, ref, 0, "<", 1, NULL, 0);
        ms_dmsw_char(p, '>');
        break;
    case ms_DMSW_ConstrainedExistentialRequirementList: ms_dmsw_print_commas(p, ref); break;
    case ms_DMSW_ExtendedExistentialTypeShape:
        ms_dmsw_row_text(p, ref);
        if (n->count > 1) {
            ms_dmsw_print_kid(p, ref, 0);
            ms_dmsw_char(p, ' ');
        }
        ms_dmsw_word(p, "any ");
        ms_dmsw_print_kid(p, ref, n->count - 1);
        break;
    case ms_DMSW_ProtocolList:
    case ms_DMSW_ProtocolListWithClass:
    case ms_DMSW_ProtocolListWithAnyObject: ms_dmsw_print_protocols(p, ref); break;
    case ms_DMSW_AssociatedTypeRef:
    case ms_DMSW_DependentMemberType:
    case ms_DMSW_AssocTypePath: ms_dmsw_print_kids(p, ref, ".", 1); break;
    case ms_DMSW_OpaqueType: ms_dmsw_print_woven(p, ref, 0, ".", 1, NULL, 0); break;
    case ms_DMSW_OpaqueReturnTypeOf:
        ms_dmsw_print_list(p, ref, "", 0, '>');
        ms_dmsw_char(p, '>');
        break;
    case ms_DMSW_DependentGenericParamType:
        ms_dmsw_print_param_name(p, n->u.index >> 32, n->u.index & 0xffffffffu);
        break;
    case ms_DMSW_DependentGenericType:
        ms_dmsw_print_kid(p, ref, 0);
        if (ms_dmsw_needs_space(p, ms_dmsw_kid(p, ref, 1)))
            ms_dmsw_char(p, ' ');
        ms_dmsw_print_kid(p, ref, 1);
        break;
    case ms_DMSW_DependentAssociatedTypeRef:
        if (n->count > 1) {
            ms_dmsw_print_kid(p, ref, 1);
            ms_dmsw_char(p, '.');
        }
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_NegativeInteger:
        ms_dmsw_char(p, '-');
        ms_dmsw_number(p, n->u.index);
        break;
    case ms_DMSW_SugaredOptional:
        ms_dmsw_print_in_parens(p, ms_dmsw_kid(p, ref, 0));
        ms_dmsw_char(p, '?');
        break;
    case ms_DMSW_SugaredArray: ms_dmsw_print_list(p, ref, "", 0, ']'); break;
    case ms_DMSW_SugaredDictionary: ms_dmsw_print_list(p, ref, " : ", 3, ']'); break;
    case ms_DMSW_SugaredInlineArray: ms_dmsw_print_list(p, ref, " of ", 4, ']'); break;
    case ms_DMSW_DependentGenericConformanceRequirement: ms_dmsw_print_kids(p, ref, ": ", 2); break;
    case ms_DMSW_DependentGenericSameTypeRequirement: ms_dmsw_print_kids(p, ref, " == ", 4); break;
    case ms_DMSW_DependentGenericSameShapeRequirement:
        ms_dmsw_print_kids(p, ref, ".shape == ", 10);
        ms_dmsw_word(p, ".shape");
        break;
    case ms_DMSW_DependentGenericInverseConformanceRequirement: ms_dmsw_print_inverse(p, ref); break;
    case ms_DMSW_DependentGenericLayoutRequirement: ms_dmsw_print_layout(p, ref); break;
    case ms_DMSW_DependentGenericSignature:
    case ms_DMSW_DependentPseudogenericSignature: ms_dmsw_print_signature(p, ref); break;
    case ms_DMSW_FunctionType:
    case ms_DMSW_NoEscapeFunctionType:
    case ms_DMSW_UncurriedFunctionType:
    case ms_DMSW_AutoClosureType:
    case ms_DMSW_EscapingAutoClosureType:
    case ms_DMSW_ThinFunctionType:
    case ms_DMSW_CFunctionPointer:
    case ms_DMSW_ObjCBlock:
    case ms_DMSW_EscapingObjCBlock: ms_dmsw_print_function(p, 0, ref); break;
    case ms_DMSW_BoundGenericClass:
    case ms_DMSW_BoundGenericStructure:
    case ms_DMSW_BoundGenericEnum:
    case ms_DMSW_BoundGenericProtocol:
    case ms_DMSW_BoundGenericOtherNominalType:
    case ms_DMSW_BoundGenericTypeAlias: ms_dmsw_print_bound(p, ref); break;
    case ms_DMSW_Integer: ms_dmsw_number(p, n->u.index); break;
    case ms_DMSW_ImplFunctionType: ms_dmsw_print_impl_function(p, ref); break;
    case ms_DMSW_ImplFunctionConvention: ms_dmsw_print_impl_convention(p, ref); break;
    default: ms_dmsw_print_impl_part(p, ref); break;
    }
}

/* Thunks, tables and attributes of whole functions. */
static void ms_dmsw_print_global(ms_dmsw *p, uint32_t ref)
{
    bool is_short = ms_dmsw_short(p);
    switch (ms_dmsw_inner(p, ref)) {
    case ms_DMSW_PartialApplyForwarder:
    case ms_DMSW_PartialApplyObjCForwarder: ms_dmsw_print_partial_apply(p, ref); break;
    case ms_DMSW_OutlinedVariable:
    case ms_DMSW_OutlinedReadOnlyObject:
        ms_dmsw_print_list(p, ref, "", 0, ' ');
        ms_dmsw_word(p, "of ");
        break;
    case ms_DMSW_OutlinedBridgedMethod:
        ms_dmsw_row_text(p, ref);
        ms_dmsw_own(p, ref);
        ms_dmsw_word(p, ") of ");
        break;
    case ms_DMSW_MergedFunction:
    case ms_DMSW_DistributedThunk:
    case ms_DMSW_DistributedAccessor:
    case ms_DMSW_DynamicallyReplaceableFunctionKey:
    case ms_DMSW_DynamicallyReplaceableFunctionImpl:
    case ms_DMSW_DynamicallyReplaceableFunctionVar:
    case ms_DMSW_BackDeploymentThunk:
    case ms_DMSW_AccessibleFunctionRecord:
        if (!is_short)
            ms_dmsw_row_text(p, ref);
        break;
    case ms_DMSW_AsyncAwaitResumePartialFunction:
    case ms_DMSW_AsyncSuspendResumePartialFunction:
        if (p->style & ms_DMSW_NO_ASYNC)
            break;
        ms_dmsw_char(p, '(');
        ms_dmsw_print_kid(p, ref, 0);
        ms_dmsw_row_text(p, ref);
        break;
    case ms_DMSW_GenericSpecializationParam: ms_dmsw_print_spec_generic(p, ref); break;
    case ms_DMSW_FunctionSignatureSpecializationParamKind: ms_dmsw_print_spec_kind(p, ref); break;
    case ms_DMSW_FunctionSignatureSpecializationParamPayload:
        if (!ms_dmsw_at(p, ref)->mark || !ms_dmsw_nested(p, ref))
            ms_dmsw_own(p, ref);
        break;
    case ms_DMSW_VTableThunk: ms_dmsw_print_woven(p, ref, 1, " dispatching to ", 0, NULL, 0); break;
    case ms_DMSW_ProtocolWitness: ms_dmsw_print_woven(p, ref, 1, " in conformance ", 0, NULL, 0); break;
    case ms_DMSW_ReabstractionThunk:
    case ms_DMSW_ReabstractionThunkHelper:
    case ms_DMSW_ReabstractionThunkHelperWithSelf: ms_dmsw_print_reabstraction(p, ref); break;
    case ms_DMSW_ReabstractionThunkHelperWithGlobalActor:
        ms_dmsw_print_woven(p, ref, 0, " with global actor constraint ", 1, NULL, 0);
        break;
    case ms_DMSW_ObjCAsyncCompletionHandlerImpl:
    case ms_DMSW_PredefinedObjCAsyncCompletionHandlerImpl: ms_dmsw_print_completion(p, ref); break;
    case ms_DMSW_KeyPathGetterThunkHelper:
    case ms_DMSW_KeyPathSetterThunkHelper:
    case ms_DMSW_KeyPathUnappliedMethodThunkHelper:
    case ms_DMSW_KeyPathAppliedMethodThunkHelper: ms_dmsw_print_keypath_accessor(p, ref); break;
    case ms_DMSW_KeyPathEqualsThunkHelper:
    case ms_DMSW_KeyPathHashThunkHelper: ms_dmsw_print_keypath_helper(p, ref); break;
    case ms_DMSW_AutoDiffFunction:
    case ms_DMSW_AutoDiffDerivativeVTableThunk: ms_dmsw_print_autodiff(p, ref); break;
    case ms_DMSW_AutoDiffSelfReorderingReabstractionThunk: ms_dmsw_print_self_reordering(p, ref); break;
    case ms_DMSW_AutoDiffSubsetParametersThunk: ms_dmsw_print_subset_thunk(p, ref); break;
    case ms_DMSW_AutoDiffFunctionKind: ms_dmsw_print_diff_kind(p, ref); break;
    case ms_DMSW_DifferentiabilityWitness: ms_dmsw_print_diff_witness(p, ref); break;
    case ms_DMSW_IndexSubset: ms_dmsw_print_index_subset(p, ref); break;
    case ms_DMSW_AssociatedConformanceDescriptor:
    case ms_DMSW_DefaultAssociatedConformanceAccessor: ms_dmsw_print_woven(p, ref, 0, ".", 1, ": ", 2); break;
    case ms_DMSW_BaseConformanceDescriptor: ms_dmsw_print_woven(p, ref, 0, ": ", 1, NULL, 0); break;
    case ms_DMSW_AssociatedTypeMetadataAccessor:
    case ms_DMSW_BaseWitnessTableAccessor: ms_dmsw_print_woven(p, ref, 1, " in ", 0, NULL, 0); break;
    case ms_DMSW_AssociatedTypeWitnessTableAccessor:
        ms_dmsw_print_woven(p, ref, 1, " : ", 2, " in ", 0);
        break;
    case ms_DMSW_ValueWitness: ms_dmsw_print_value_witness(p, ref); break;
    case ms_DMSW_FieldOffset:
        if (ms_dmsw_at(p, ref)->mark == 'd')
            ms_dmsw_word(p, "direct ");
        else
            ms_dmsw_word(p, "indirect ");
        ms_dmsw_row_text(p, ref);
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_LazyProtocolWitnessTableAccessor:
    case ms_DMSW_LazyProtocolWitnessTableCacheVariable:
        ms_dmsw_print_woven(p, ref, 0, " and conformance ", 1, NULL, 0);
        break;
    case ms_DMSW_GlobalVariableOnceToken:
    case ms_DMSW_GlobalVariableOnceFunction: ms_dmsw_print_once(p, ref); break;
    case ms_DMSW_ProtocolConformance: ms_dmsw_print_conformance(p, ref); break;
    case ms_DMSW_ConcreteProtocolConformance: ms_dmsw_print_concrete_conformance(p, ref); break;
    case ms_DMSW_DependentProtocolConformanceRoot:
    case ms_DMSW_DependentProtocolConformanceInherited:
    case ms_DMSW_DependentProtocolConformanceAssociated:
    case ms_DMSW_DependentProtocolConformanceOpaque: ms_dmsw_print_dependent_conformance(p, ref); break;
    case ms_DMSW_AnyProtocolConformanceList:
        if (ms_dmsw_kid_count(p, ref) == 0)
            break;
        ms_dmsw_char(p, '(');
        ms_dmsw_print_commas(p, ref);
        ms_dmsw_char(p, ')');
        break;
    default: ms_dmsw_print_specialization(p, ref); break;
    }
}

/* Names, contexts and declarations. Returns the context that is left to print. */
static uint32_t ms_dmsw_print_special(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    bool is_short = ms_dmsw_short(p);
    if (n->kind >= ms_DMSW_BuiltinTypeName && n->kind <= ms_DMSW_ImplInvocationSubstitutions) {
        ms_dmsw_print_type(p, ref);
        return 0;
    }
    switch (n->kind) {
    case ms_DMSW_Suffix:
        if (!is_short)
            ms_dmsw_print_quoted(p, ref);
        return 0;
    case ms_DMSW_Index: ms_dmsw_number(p, n->u.index); return 0;
    case ms_DMSW_InfixOperator:
    case ms_DMSW_PrefixOperator:
    case ms_DMSW_PostfixOperator:
        ms_dmsw_own(p, ref);
        ms_dmsw_row_text(p, ref);
        return 0;
    case ms_DMSW_LocalDeclName:
        ms_dmsw_print_kid(p, ref, 1);
        ms_dmsw_word(p, " #");
        ms_dmsw_number(p, ms_dmsw_at(p, ms_dmsw_kid(p, ref, 0))->u.index + 1);
        return 0;
    case ms_DMSW_PrivateDeclName: ms_dmsw_print_private(p, ref); return 0;
    case ms_DMSW_RelatedEntityDeclName:
        ms_dmsw_word(p, "related decl '");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
        ms_dmsw_word(p, "' for ");
        ms_dmsw_print_kid(p, ref, 1);
        return 0;
    case ms_DMSW_Module:
        if (!is_short)
            ms_dmsw_own(p, ref);
        return 0;
    case ms_DMSW_Extension: ms_dmsw_print_extension(p, ref); return 0;
    case ms_DMSW_AnonymousContext: ms_dmsw_print_anonymous(p, ref); return 0;
    case ms_DMSW_ExplicitClosure:
    case ms_DMSW_ImplicitClosure:
        return ms_dmsw_print_part(p, ref, as_prefix, is_short ? ms_DMSW_TY_NONE : ms_DMSW_TY_FUNCTION,
                                  ms_dmsw_extra_index(p, ms_dmsw_kid(p, ref, 1), 1));
    case ms_DMSW_DefaultArgumentInitializer:
        return ms_dmsw_print_part(p, ref, as_prefix, ms_DMSW_TY_NONE,
                                  ms_dmsw_extra_index(p, ms_dmsw_kid(p, ref, 1), 0));
    case ms_DMSW_TypeMangling: ms_dmsw_print_type_mangling(p, ref); return 0;
    case ms_DMSW_Function:
    case ms_DMSW_BoundGenericFunction:
    case ms_DMSW_Variable:
    case ms_DMSW_Subscript:
    case ms_DMSW_Macro:
    case ms_DMSW_Allocator:
    case ms_DMSW_Constructor:
    case ms_DMSW_Deallocator:
    case ms_DMSW_IsolatedDeallocator: return ms_dmsw_print_callable(p, ref, as_prefix);
    case ms_DMSW_MacroExpansionLoc:
        ms_dmsw_word(p, "module ");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 0));
        ms_dmsw_word(p, " file ");
        ms_dmsw_own(p, ms_dmsw_kid(p, ref, 1));
        ms_dmsw_word(p, " line ");
        ms_dmsw_print_kid(p, ref, 2);
        ms_dmsw_word(p, " column ");
        ms_dmsw_print_kid(p, ref, 3);
        return 0;
    default:
        if (ms_dmsw_rows[n->kind].traits & ms_DMSW_T_MACRO)
            return ms_dmsw_print_macro(p, ref, as_prefix);
        ms_dmsw_print_global(p, ref);
        return 0;
    }
}

/* Prints one node. Returns the context that is left to print when a declaration cannot be a prefix. */
static uint32_t ms_dmsw_print_as(ms_dmsw *p, uint32_t ref, bool as_prefix)
{
    if (!ref || p->d->failed || !ms_dmsw_step(p))
        return 0;
    if (++p->d->depth > ms_DMSW_MAX_DEPTH) {
        p->d->failed = true;
        return 0;
    }
    const ms_dmsw_node *n = ms_dmsw_at(p, ref);
    const ms_dmsw_row *row = ms_dmsw_rows + n->kind;
    uint32_t left = 0;
    switch (row->how) {
    case ms_DMSW_H_FIRST:
        ms_dm_put(p->d, row->text, row->len);
        ms_dmsw_print_kid(p, ref, 0);
        break;
    case ms_DMSW_H_ALL:
        ms_dm_put(p->d, row->text, row->len);
        ms_dmsw_print_kids(p, ref, "", 0);
        break;
    case ms_DMSW_H_TEXT: ms_dm_put(p->d, row->text, row->len); break;
    case ms_DMSW_H_OWN: ms_dmsw_own(p, ref); break;
    case ms_DMSW_H_NAMED:
        if (n->form == ms_DMSW_F_KNOWN) {
            if (!ms_dmsw_short(p))
                ms_dmsw_lit(p, "Swift.");
            ms_dmsw_own(p, ref);
        } else {
            left = ms_dmsw_print_named(p, ref, as_prefix, ms_DMSW_TY_NONE);
        }
        break;
    case ms_DMSW_H_PART: left = ms_dmsw_print_part(p, ref, as_prefix, ms_DMSW_TY_NONE, -1); break;
    case ms_DMSW_H_ACCESS: left = ms_dmsw_print_accessor(p, ref, as_prefix); break;
    default: left = ms_dmsw_print_special(p, ref, as_prefix); break;
    }
    p->d->depth--;
    return left;
}

/* ---- Swift 1 to 3: OldMangling.rst, a prefix grammar ---- */

/* floors: recursion */
static uint32_t ms_dmsw_old_type(ms_dmsw *p);
static uint32_t ms_dmsw_old_entity(ms_dmsw *p);
static uint32_t ms_dmsw_old_context(ms_dmsw *p);
static uint32_t ms_dmsw_old_global(ms_dmsw *p);

/* natural: too large a number wraps round, as in Swift's own reader */
static bool ms_dmsw_old_natural(ms_dmsw *p, uint64_t *value)
{
    if (!ms_dmsw_digit(ms_dmsw_peek(p)))
        return false;
    for (*value = 0; ms_dmsw_digit(ms_dmsw_peek(p));)
        *value = *value * 10 + (uint64_t)(ms_dmsw_next(p) - '0');
    return true;
}

/* index */
static bool ms_dmsw_old_index(ms_dmsw *p, uint64_t *value)
{
    *value = 0;
    if (ms_dmsw_next_if(p, '_'))
        return true;
    if (!ms_dmsw_old_natural(p, value) || !ms_dmsw_next_if(p, '_'))
        return false;
    ++*value;
    return true;
}

static uint32_t ms_dmsw_old_index_node(ms_dmsw *p)
{
    uint64_t value;
    return ms_dmsw_old_index(p, &value) ? ms_dmsw_make_index(p, ms_DMSW_Index, value) : 0;
}

/* operator-char */
static bool ms_dmsw_old_operator_text(ms_dmsw *p, machsym_str *name)
{
    static const char signs[] = "& @/= >    <*!|+?%-~   ^ .";
    char *text = (char *)ms_dm_alloc(p->d, name->len);
    if (!text)
        return false;
    for (size_t i = 0; i < name->len; i++) {
        char c = name->ptr[i];
        if ((unsigned char)c < 0x80) {
            c = ms_dmsw_lower(c) ? signs[c - 'a'] : ' ';
            if (c == ' ')
                return false;
        }
        text[i] = c;
    }
    name->ptr = text;
    return true;
}

/* identifier */
static uint32_t ms_dmsw_old_identifier(ms_dmsw *p, unsigned kind)
{
    machsym_str name;
    bool puny = ms_dmsw_next_if(p, 'X'), is_operator = ms_dmsw_next_if(p, 'o');
    if (is_operator) {
        if (kind != ms_DMSW_Identifier)
            return 0;
        switch (ms_dmsw_next(p)) {
        case 'p': kind = ms_DMSW_PrefixOperator; break;
        case 'P': kind = ms_DMSW_PostfixOperator; break;
        case 'i': kind = ms_DMSW_InfixOperator; break;
        default: return 0;
        }
    }
    if (!ms_dmsw_literal(p, &name) || (puny && !ms_dmsw_puny(p, name.ptr, name.len, &name)))
        return 0;
    if (is_operator && !ms_dmsw_old_operator_text(p, &name))
        return 0;
    return name.len > 0 ? ms_dmsw_make_text(p, kind, name.ptr, name.len) : 0;
}

/* decl-name */
static uint32_t ms_dmsw_old_decl_name(ms_dmsw *p)
{
    uint32_t first;
    if (ms_dmsw_next_if(p, 'L')) {
        first = ms_dmsw_old_index_node(p);
        return ms_dmsw_make2(p, ms_DMSW_LocalDeclName, first, ms_dmsw_old_identifier(p, ms_DMSW_Identifier));
    }
    if (ms_dmsw_next_if(p, 'P')) {
        first = ms_dmsw_old_identifier(p, ms_DMSW_Identifier);
        return ms_dmsw_make2(p, ms_DMSW_PrivateDeclName, first,
                             ms_dmsw_old_identifier(p, ms_DMSW_Identifier));
    }
    return ms_dmsw_old_identifier(p, ms_DMSW_Identifier);
}

#define ms_dmsw_old_known(p, kind, name) (ms_dmsw_known(p, kind, name) & ~ms_DMSW_AS_TYPE)

/* substitution, known-module and known-nominal-type, after 'S' */
static uint32_t ms_dmsw_old_substitution(ms_dmsw *p)
{
    char c = ms_dmsw_peek(p);
    if (c == '_' || ms_dmsw_digit(c)) {
        uint64_t i;
        return ms_dmsw_old_index(p, &i) && i < p->subs.count ? p->subs.v[i] : 0;
    }
    switch (ms_dmsw_next(p)) {
    case 'o': return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C");
    case 'C': return ms_dmsw_make_lit(p, ms_DMSW_Module, "__C_Synthesized");
    case 'a': return ms_dmsw_old_known(p, Structure, "Array");
    case 'b': return ms_dmsw_old_known(p, Structure, "Bool");
    case 'c': return ms_dmsw_old_known(p, Structure, "UnicodeScalar");
    case 'd': return ms_dmsw_old_known(p, Structure, "Double");
    case 'f': return ms_dmsw_old_known(p, Structure, "Float");
    case 'i': return ms_dmsw_old_known(p, Structure, "Int");
    case 'V': return ms_dmsw_old_known(p, Structure, "UnsafeRawPointer");
    case 'v': return ms_dmsw_old_known(p, Structure, "UnsafeMutableRawPointer");
    case 'P': return ms_dmsw_old_known(p, Structure, "UnsafePointer");
    case 'p': return ms_dmsw_old_known(p, Structure, "UnsafeMutablePointer");
    case 'R': return ms_dmsw_old_known(p, Structure, "UnsafeBufferPointer");
    case 'r': return ms_dmsw_old_known(p, Structure, "UnsafeMutableBufferPointer");
    case 'S': return ms_dmsw_old_known(p, Structure, "String");
    case 'u': return ms_dmsw_old_known(p, Structure, "UInt");
    case 'q': return ms_dmsw_old_known(p, Enum, "Optional");
    case 'Q': return ms_dmsw_old_known(p, Enum, "ImplicitlyUnwrappedOptional");
    default: return 0;
    }
}

/* module */
static uint32_t ms_dmsw_old_module(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift");
    if (ms_dmsw_next_if(p, 'S')) {
        uint32_t ref = ms_dmsw_old_substitution(p);
        return ms_dmsw_kind_of(p, ref) == ms_DMSW_Module ? ref : 0;
    }
    return ms_dmsw_remember(p, ms_dmsw_old_identifier(p, ms_DMSW_Module));
}

/* declaration-name of a type */
static uint32_t ms_dmsw_old_declaration(ms_dmsw *p, unsigned kind)
{
    uint32_t context = ms_dmsw_old_context(p);
    if (!context)
        return 0;
    return ms_dmsw_remember(p, ms_dmsw_make2(p, kind, context, ms_dmsw_old_decl_name(p)));
}

/* nominal-type */
static uint32_t ms_dmsw_old_nominal(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'S': return ms_dmsw_old_substitution(p);
    case 'V': return ms_dmsw_old_declaration(p, ms_DMSW_Structure);
    case 'O': return ms_dmsw_old_declaration(p, ms_DMSW_Enum);
    case 'C': return ms_dmsw_old_declaration(p, ms_DMSW_Class);
    case 'P': return ms_dmsw_old_declaration(p, ms_DMSW_Protocol);
    default: return 0;
    }
}

/* protocol in a context that is already read */
static uint32_t ms_dmsw_old_protocol_in(ms_dmsw *p, uint32_t context)
{
    if (!context)
        return 0;
    return ms_dmsw_type(
        ms_dmsw_remember(p, ms_dmsw_make2(p, ms_DMSW_Protocol, context, ms_dmsw_old_decl_name(p))));
}

/* protocol */
static uint32_t ms_dmsw_old_protocol(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'S')) {
        uint32_t ref = ms_dmsw_old_substitution(p);
        unsigned kind = ms_dmsw_kind_of(p, ref);
        if (kind == ms_DMSW_Protocol)
            return ms_dmsw_type(ref);
        return kind == ms_DMSW_Module ? ms_dmsw_old_protocol_in(p, ref) : 0;
    }
    if (ms_dmsw_next_if(p, 's'))
        return ms_dmsw_old_protocol_in(p, ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift"));
    return ms_dmsw_type(ms_dmsw_old_declaration(p, ms_DMSW_Protocol));
}

/* Types up to '_', as a list. */
static uint32_t ms_dmsw_old_types(ms_dmsw *p)
{
    uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (list && !ms_dmsw_next_if(p, '_'))
        list = ms_dmsw_add(p, list, ms_dmsw_old_type(p));
    return list;
}

/* The arguments of a generic type, the outermost level first. */
static uint32_t ms_dmsw_old_bind(ms_dmsw *p, uint32_t nominal)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, nominal);
    if (!(ms_dmsw_rows[n->kind].traits & ms_DMSW_T_NOMINAL) || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    if (n->form != ms_DMSW_F_KNOWN) {
        uint32_t parent = ms_dmsw_kid(p, nominal, 0), name = ms_dmsw_kid(p, nominal, 1);
        unsigned kind = ms_dmsw_kind_of(p, parent);
        if (kind != ms_DMSW_Module && kind != ms_DMSW_Function && kind != ms_DMSW_Extension)
            nominal = ms_dmsw_make2(p, n->kind, ms_dmsw_old_bind(p, parent), name);
    }
    p->d->depth--;
    uint32_t args = nominal ? ms_dmsw_old_types(p) : 0;
    if (!args)
        return 0;
    if (ms_dmsw_kid_count(p, args) == 0)
        return nominal;
    unsigned kind = ms_dmsw_inner(p, nominal);
    if (kind != ms_DMSW_Class && kind != ms_DMSW_Structure && kind != ms_DMSW_Enum)
        return 0;
    return ms_dmsw_make2(p, ms_dmsw_bound_kind(kind), ms_dmsw_type(nominal), args);
}

/* generic-param-index */
static uint32_t ms_dmsw_old_param(ms_dmsw *p)
{
    uint64_t depth = 0, index = 0;
    if (ms_dmsw_next_if(p, 'd')) {
        if (!ms_dmsw_old_index(p, &depth) || !ms_dmsw_old_index(p, &index))
            return 0;
        depth++;
    } else if (!ms_dmsw_next_if(p, 'x')) {
        if (!ms_dmsw_old_index(p, &index))
            return 0;
        index++;
    }
    if (depth > UINT32_MAX || index > UINT32_MAX)
        return 0;
    return ms_dmsw_type(ms_dmsw_param_type(p, depth, index));
}

/* A member of base: assoc-type-name */
static uint32_t ms_dmsw_old_member(ms_dmsw *p, uint32_t base)
{
    uint32_t name;
    if (!base)
        return 0;
    if (ms_dmsw_next_if(p, 'S')) {
        name = ms_dmsw_old_substitution(p);
        if (ms_dmsw_kind_of(p, name) != ms_DMSW_DependentAssociatedTypeRef)
            return 0;
    } else {
        uint32_t protocol = 0;
        if (ms_dmsw_next_if(p, 'P') && (protocol = ms_dmsw_old_protocol(p)) == 0)
            return 0;
        name = ms_dmsw_make1(p, ms_DMSW_DependentAssociatedTypeRef,
                             ms_dmsw_old_identifier(p, ms_DMSW_Identifier));
        if (protocol)
            name = ms_dmsw_add(p, name, protocol);
        name = ms_dmsw_remember(p, name);
    }
    return ms_dmsw_type(ms_dmsw_make2(p, ms_DMSW_DependentMemberType, base, name));
}

/* 'W': associated type at depth */
static uint32_t ms_dmsw_old_members(ms_dmsw *p)
{
    uint32_t base = ms_dmsw_old_param(p);
    while (base && !ms_dmsw_next_if(p, '_'))
        base = ms_dmsw_old_member(p, base);
    return base;
}

/* type-param */
static uint32_t ms_dmsw_old_type_param(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'w'))
        return ms_dmsw_old_member(p, ms_dmsw_old_param(p));
    return ms_dmsw_next_if(p, 'W') ? ms_dmsw_old_members(p) : ms_dmsw_old_param(p);
}

/* A layout requirement, after 'l' */
static uint32_t ms_dmsw_old_layout(ms_dmsw *p, uint32_t type)
{
    char c = ms_dmsw_next(p);
    if (ms_dmsw_find("URNCDTEeMm", c) < 0)
        return 0;
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_DependentGenericLayoutRequirement, type);
    if (!ref)
        return 0;
    ms_dmsw_at(p, ref)->mark = (uint8_t)c;
    bool two = c == 'E' || c == 'M';
    if (two || c == 'e' || c == 'm') {
        uint64_t size;
        if (!ms_dmsw_old_natural(p, &size))
            return 0;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_Index, size));
    }
    if (two) {
        uint64_t alignment;
        if (!ms_dmsw_next_if(p, '_') || !ms_dmsw_old_natural(p, &alignment))
            return 0;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_Index, alignment));
    }
    return ref;
}

/* requirement */
static uint32_t ms_dmsw_old_requirement(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_old_type_param(p), bound;
    if (!type)
        return 0;
    if (ms_dmsw_next_if(p, 'z'))
        return ms_dmsw_make2(p, ms_DMSW_DependentGenericSameTypeRequirement, type, ms_dmsw_old_type(p));
    if (ms_dmsw_next_if(p, 'l'))
        return ms_dmsw_old_layout(p, type);
    if (ms_dmsw_peek(p) == 'C') {
        bound = ms_dmsw_old_type(p);
    } else if (ms_dmsw_next_if(p, 'S')) { /* a class or protocol, or the module of a protocol */
        bound = ms_dmsw_old_substitution(p);
        unsigned kind = ms_dmsw_kind_of(p, bound);
        if (kind == ms_DMSW_Protocol || kind == ms_DMSW_Class)
            bound = ms_dmsw_type(bound);
        else
            bound = kind == ms_DMSW_Module ? ms_dmsw_old_protocol_in(p, bound) : 0;
    } else {
        bound = ms_dmsw_old_protocol(p);
    }
    return ms_dmsw_make2(p, ms_DMSW_DependentGenericConformanceRequirement, type, bound);
}

/* generic-signature */
static uint32_t ms_dmsw_old_signature(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    bool any = false;
    while (ref && ms_dmsw_peek(p) != 'R' && ms_dmsw_peek(p) != 'r') {
        uint64_t count = 0;
        if (!ms_dmsw_next_if(p, 'z')) {
            if (!ms_dmsw_old_index(p, &count))
                return 0;
            count++;
        }
        any = true;
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, count));
    }
    if (!any)
        ref = ms_dmsw_add(p, ref, ms_dmsw_make_index(p, ms_DMSW_DependentGenericParamCount, 1));
    if (ms_dmsw_next_if(p, 'r'))
        return ref;
    p->at++;
    while (ref && !ms_dmsw_next_if(p, 'r'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_requirement(p));
    return ref;
}

/* 'T' 't': tuples */
static uint32_t ms_dmsw_old_tuple(ms_dmsw *p, bool variadic)
{
    uint32_t tuple = ms_dmsw_make(p, ms_DMSW_Tuple), element = 0;
    while (tuple && !ms_dmsw_next_if(p, '_')) {
        element = ms_dmsw_make(p, ms_DMSW_TupleElement);
        char c = ms_dmsw_peek(p);
        if (ms_dmsw_digit(c) || c == 'o')
            element = ms_dmsw_add(p, element, ms_dmsw_old_identifier(p, ms_DMSW_TupleElementName));
        element = ms_dmsw_add(p, element, ms_dmsw_old_type(p));
        tuple = ms_dmsw_add(p, tuple, element);
    }
    if (tuple && variadic && !ms_dmsw_add(p, element, ms_dmsw_make(p, ms_DMSW_VariadicMarker)))
        return 0;
    return tuple;
}

/* throws-annotation? type type */
static uint32_t ms_dmsw_old_function(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'z'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_ThrowsAnnotation));
    ref = ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_ArgumentTuple, ms_dmsw_old_type(p)));
    return ref ? ms_dmsw_add(p, ref, ms_dmsw_make1(p, ms_DMSW_ReturnType, ms_dmsw_old_type(p))) : 0;
}

/* impl-parameter, impl-result: the letters of the later mangling that mean the same */
static uint32_t ms_dmsw_old_impl_part(ms_dmsw *p, bool is_param)
{
    static const char param_from[] = "dgeiloG", param_to[] = "ygeilxn";
    static const char result_from[] = "adDio", result_to[] = "aduro";
    unsigned kind = is_param ? ms_DMSW_ImplParameter : ms_DMSW_ImplResult;
    if (!is_param && ms_dmsw_next_if(p, 'z'))
        kind = ms_DMSW_ImplErrorResult;
    int place = ms_dmsw_find(is_param ? param_from : result_from, ms_dmsw_next(p));
    if (place < 0)
        return 0;
    int word = is_param ? ms_dmsw_find(ms_dmsw_param_letters, param_to[place])
                        : ms_dmsw_find(ms_dmsw_result_letters, result_to[place]);
    return ms_dmsw_add(p, ms_dmsw_marked(p, kind, (char)word), ms_dmsw_old_type(p));
}

/* impl-callee-convention and impl-function-attribute */
static uint32_t ms_dmsw_old_impl_head(ms_dmsw *p, uint32_t ref)
{
    uint32_t part;
    switch (ms_dmsw_next(p)) {
    case 't': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@convention(thin)"); break;
    case 'd': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_unowned"); break;
    case 'g': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_guaranteed"); break;
    case 'o': part = ms_dmsw_make_lit(p, ms_DMSW_ImplConvention, "@callee_owned"); break;
    default: return 0;
    }
    ref = ms_dmsw_add(p, ref, part);
    if (!ms_dmsw_next_if(p, 'C'))
        return ref;
    switch (ms_dmsw_next(p)) {
    case 'b': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(block)"); break;
    case 'c': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(c)"); break;
    case 'm': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(method)"); break;
    case 'O': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(objc_method)"); break;
    case 'w': part = ms_dmsw_make_lit(p, ms_DMSW_ImplFunctionAttribute, "@convention(witness_method)"); break;
    default: return 0;
    }
    return ms_dmsw_add(p, ref, part);
}

/* impl-function-type */
static uint32_t ms_dmsw_old_impl_function(ms_dmsw *p)
{
    uint32_t ref = ms_dmsw_old_impl_head(p, ms_dmsw_make(p, ms_DMSW_ImplFunctionType));
    if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature));
    else if (ms_dmsw_next_if(p, 'g'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_signature(p, ms_DMSW_DependentPseudogenericSignature));
    if (!ref || !ms_dmsw_next_if(p, '_'))
        return 0;
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_impl_part(p, true));
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_impl_part(p, false));
    return ref;
}

/* 'XB': SIL boxes with a layout */
static uint32_t ms_dmsw_old_sil_box(ms_dmsw *p)
{
    uint32_t signature = 0, layout = ms_dmsw_make(p, ms_DMSW_SILBoxLayout);
    bool generic = ms_dmsw_next_if(p, 'G');
    if (generic && (signature = ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature)) == 0)
        return 0;
    while (layout && !ms_dmsw_next_if(p, '_')) {
        char c = ms_dmsw_next(p);
        if (c != 'm' && c != 'i')
            return 0;
        unsigned kind = c == 'm' ? ms_DMSW_SILBoxMutableField : ms_DMSW_SILBoxImmutableField;
        layout = ms_dmsw_add(p, layout, ms_dmsw_make1(p, kind, ms_dmsw_old_type(p)));
    }
    uint32_t ref = ms_dmsw_make1(p, ms_DMSW_SILBoxTypeWithLayout, layout);
    if (generic && ref)
        ref = ms_dmsw_add(p, ms_dmsw_add(p, ref, signature), ms_dmsw_old_types(p));
    return ref;
}

static uint32_t ms_dmsw_old_metatype(ms_dmsw *p, unsigned kind)
{
    uint32_t repr = ms_dmsw_metatype_repr(p);
    return repr ? ms_dmsw_make2(p, kind, repr, ms_dmsw_old_type(p)) : 0;
}

/* 'X': types of two letters */
static uint32_t ms_dmsw_old_special(ms_dmsw *p)
{
    switch (ms_dmsw_next(p)) {
    case 'b': return ms_dmsw_make1(p, ms_DMSW_SILBoxType, ms_dmsw_old_type(p));
    case 'B': return ms_dmsw_old_sil_box(p);
    case 'P': return ms_dmsw_next_if(p, 'M') ? ms_dmsw_old_metatype(p, ms_DMSW_ExistentialMetatype) : 0;
    case 'M': return ms_dmsw_old_metatype(p, ms_DMSW_Metatype);
    case 'o': return ms_dmsw_make1(p, ms_DMSW_Unowned, ms_dmsw_old_type(p));
    case 'u': return ms_dmsw_make1(p, ms_DMSW_Unmanaged, ms_dmsw_old_type(p));
    case 'w': return ms_dmsw_make1(p, ms_DMSW_Weak, ms_dmsw_old_type(p));
    case 'F': return ms_dmsw_old_impl_function(p);
    case 'f': return ms_dmsw_old_function(p, ms_DMSW_ThinFunctionType);
    default: return 0;
    }
}

/* 'B': builtin types */
static uint32_t ms_dmsw_old_builtin(ms_dmsw *p)
{
    char c = ms_dmsw_next(p);
    int64_t size;
    if (c == 'f' || c == 'i') {
        size = ms_dmsw_natural(p);
        return ms_dmsw_next_if(p, '_') ? ms_dmsw_builtin_sized(p, c, size) : 0;
    }
    if (c != 'v')
        return ms_dmsw_find("bBOopwtDdcejI", c) >= 0 ? ms_dmsw_builtin_simple(p, c) : 0;
    int64_t count = ms_dmsw_natural(p);
    if (!ms_dmsw_next_if(p, 'B'))
        return 0;
    c = ms_dmsw_next(p);
    if (c == 'p')
        return ms_dmsw_builtin_vector(p, count, ms_dmsw_builtin_simple(p, c));
    if (c != 'f' && c != 'i')
        return 0;
    size = ms_dmsw_natural(p);
    uint32_t element = ms_dmsw_next_if(p, '_') ? ms_dmsw_builtin_sized(p, c, size) : 0;
    return element ? ms_dmsw_builtin_vector(p, count, element) : 0;
}

/* 'Q': archetypes; the plain ones have no meaning outside their context and are refused. */
static uint32_t ms_dmsw_old_archetype(ms_dmsw *p)
{
    uint32_t root;
    if (ms_dmsw_next_if(p, 'u'))
        return ms_dmsw_make(p, ms_DMSW_OpaqueReturnType);
    if (ms_dmsw_next_if(p, 'U'))
        return ms_dmsw_make1(p, ms_DMSW_OpaqueReturnType, ms_dmsw_old_index_node(p));
    if (++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    if (ms_dmsw_next_if(p, 'Q'))
        root = ms_dmsw_old_archetype(p);
    else if (ms_dmsw_next_if(p, 'S'))
        root = ms_dmsw_old_substitution(p);
    else
        root = ms_dmsw_next_if(p, 's') ? ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift") : 0;
    p->d->depth--;
    if (!root)
        return 0;
    uint32_t name = ms_dmsw_old_identifier(p, ms_DMSW_Identifier);
    return ms_dmsw_remember(p, ms_dmsw_make2(p, ms_DMSW_AssociatedTypeRef, root, name));
}

/* 'P': protocol types */
static uint32_t ms_dmsw_old_protocols(ms_dmsw *p)
{
    if (ms_dmsw_next_if(p, 'M'))
        return ms_dmsw_make1(p, ms_DMSW_ExistentialMetatype, ms_dmsw_old_type(p));
    uint32_t list = ms_dmsw_make(p, ms_DMSW_TypeList);
    while (list && !ms_dmsw_next_if(p, '_'))
        list = ms_dmsw_add(p, list, ms_dmsw_old_protocol(p));
    return ms_dmsw_make1(p, ms_DMSW_ProtocolList, list);
}

/* 'u': generic types */
static uint32_t ms_dmsw_old_generic(ms_dmsw *p)
{
    uint32_t signature = ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature);
    return signature ? ms_dmsw_make2(p, ms_DMSW_DependentGenericType, signature, ms_dmsw_old_type(p)) : 0;
}

/* A type without the "as a type" bit. */
static uint32_t ms_dmsw_old_bare(ms_dmsw *p)
{
    char c = ms_dmsw_next(p), n = ms_dmsw_peek(p);
    switch (c) {
    case 'B': return ms_dmsw_old_builtin(p);
    case 'a': return ms_dmsw_old_declaration(p, ms_DMSW_TypeAlias);
    case 'b': return ms_dmsw_old_function(p, ms_DMSW_ObjCBlock);
    case 'c': return ms_dmsw_old_function(p, ms_DMSW_CFunctionPointer);
    case 'D': return ms_dmsw_make1(p, ms_DMSW_DynamicSelf, ms_dmsw_old_type(p));
    case 'E': return ms_dmsw_next_is(p, "RR", 2) ? ms_dmsw_make(p, ms_DMSW_ErrorType) : 0;
    case 'F': return ms_dmsw_old_function(p, ms_DMSW_FunctionType);
    case 'f': return ms_dmsw_old_function(p, ms_DMSW_UncurriedFunctionType);
    case 'G': return ms_dmsw_old_bind(p, ms_dmsw_old_nominal(p));
    case 'X': return ms_dmsw_old_special(p);
    case 'K': return ms_dmsw_old_function(p, ms_DMSW_AutoClosureType);
    case 'M': return ms_dmsw_make1(p, ms_DMSW_Metatype, ms_dmsw_old_type(p));
    case 'P': return ms_dmsw_old_protocols(p);
    case 'Q': return ms_dmsw_old_archetype(p);
    case 'q':
        if (n == 'd' || n == '_' || ms_dmsw_digit(n))
            return ms_dmsw_old_param(p) & ~ms_DMSW_AS_TYPE;
        return ms_dmsw_old_member(p, ms_dmsw_old_type(p)) & ~ms_DMSW_AS_TYPE;
    case 'x': return ms_dmsw_param_type(p, 0, 0);
    case 'w': return ms_dmsw_old_member(p, ms_dmsw_old_param(p)) & ~ms_DMSW_AS_TYPE;
    case 'W': return ms_dmsw_old_members(p) & ~ms_DMSW_AS_TYPE;
    case 'R': return ms_dmsw_make1(p, ms_DMSW_InOut, ms_dmsw_old_type(p));
    case 'S': return ms_dmsw_old_substitution(p);
    case 'T': return ms_dmsw_old_tuple(p, false);
    case 't': return ms_dmsw_old_tuple(p, true);
    case 'u': return ms_dmsw_old_generic(p);
    case 'C': return ms_dmsw_old_declaration(p, ms_DMSW_Class);
    case 'V': return ms_dmsw_old_declaration(p, ms_DMSW_Structure);
    case 'O': return ms_dmsw_old_declaration(p, ms_DMSW_Enum);
    default: return 0;
    }
}

static uint32_t ms_dmsw_old_type(ms_dmsw *p)
{
    if (p->d->failed || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    uint32_t ref = ms_dmsw_old_bare(p);
    p->d->depth--;
    return ms_dmsw_type(ref);
}

/* context */
static uint32_t ms_dmsw_old_context(ms_dmsw *p)
{
    char c = ms_dmsw_peek(p);
    if (c == 'E' || c == 'e') {
        uint32_t signature = 0;
        p->at++;
        uint32_t module = ms_dmsw_old_module(p);
        if (module && c == 'e' &&
            (signature = ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature)) == 0)
            return 0;
        uint32_t ref = module ? ms_dmsw_make2(p, ms_DMSW_Extension, module, ms_dmsw_old_context(p)) : 0;
        return signature ? ms_dmsw_add(p, ref, signature) : ref;
    }
    if (c == 'S') {
        p->at++;
        return ms_dmsw_old_substitution(p);
    }
    if (c == 's') {
        p->at++;
        return ms_dmsw_make_lit(p, ms_DMSW_Module, "Swift");
    }
    if (c == 'G') {
        p->at++;
        return ms_dmsw_old_bind(p, ms_dmsw_old_nominal(p));
    }
    return ms_dmsw_find("FIivPZCVO", c) >= 0 ? ms_dmsw_old_entity(p) : ms_dmsw_old_module(p);
}

/* protocol-conformance */
static uint32_t ms_dmsw_old_conformance(ms_dmsw *p)
{
    uint32_t type = ms_dmsw_old_type(p), protocol = type ? ms_dmsw_old_protocol(p) : 0;
    return protocol ? ms_dmsw_make3(p, ms_DMSW_ProtocolConformance, type, protocol, ms_dmsw_old_context(p))
                    : 0;
}

/* The accessor a letter of entity-name stands for, None when it is none. */
static unsigned ms_dmsw_old_accessor(ms_dmsw *p)
{
    char kind = ms_dmsw_peek(p);
    switch (kind) {
    case 'g': p->at++; return ms_DMSW_Getter;
    case 'G': p->at++; return ms_DMSW_GlobalGetter;
    case 's': p->at++; return ms_DMSW_Setter;
    case 'm': p->at++; return ms_DMSW_MaterializeForSet;
    case 'w': p->at++; return ms_DMSW_WillSet;
    case 'W': p->at++; return ms_DMSW_DidSet;
    case 'r': p->at++; return ms_DMSW_ReadAccessor;
    case 'M': p->at++; return ms_DMSW_ModifyAccessor;
    case 'a':
    case 'l': break;
    default: return ms_DMSW_None;
    }
    p->at++;
    switch (ms_dmsw_next(p)) {
    case 'O': return kind == 'a' ? ms_DMSW_OwningMutableAddressor : ms_DMSW_OwningAddressor;
    case 'o': return kind == 'a' ? ms_DMSW_NativeOwningMutableAddressor : ms_DMSW_NativeOwningAddressor;
    case 'p': return kind == 'a' ? ms_DMSW_NativePinningMutableAddressor : ms_DMSW_NativePinningAddressor;
    case 'u': return kind == 'a' ? ms_DMSW_UnsafeMutableAddressor : ms_DMSW_UnsafeAddressor;
    default: return ms_DMSW_KIND_COUNT;
    }
}

/* An accessor of a variable, or of a subscript: one of that name. */
static uint32_t ms_dmsw_old_storage(ms_dmsw *p, unsigned kind, uint32_t context)
{
    uint32_t name = ms_dmsw_old_decl_name(p), type = name ? ms_dmsw_old_type(p) : 0, storage;
    uint32_t word = ms_dmsw_kind_of(p, name) == ms_DMSW_PrivateDeclName ? ms_dmsw_kid(p, name, 1) : name;
    if (!type)
        return 0;
    if (ms_dmsw_inner(p, word) == ms_DMSW_Identifier && ms_dmsw_text_is(p, word, "subscript", 9)) {
        storage = ms_dmsw_make2(p, ms_DMSW_Subscript, context, type);
        if (word != name) /* the file's discriminator stays */
            storage =
                ms_dmsw_add(p, storage, ms_dmsw_make1(p, ms_DMSW_PrivateDeclName, ms_dmsw_kid(p, name, 0)));
    } else {
        storage = ms_dmsw_make3(p, ms_DMSW_Variable, context, name, type);
    }
    return ms_dmsw_make1(p, kind, storage);
}

/* entity-name of what is no accessor; kind is that of entity-kind */
static uint32_t ms_dmsw_old_named(ms_dmsw *p, unsigned kind, uint32_t context)
{
    uint32_t name;
    switch (ms_dmsw_peek(p)) {
    case 'D': p->at++; return ms_dmsw_make1(p, ms_DMSW_Deallocator, context);
    case 'Z': p->at++; return ms_dmsw_make1(p, ms_DMSW_IsolatedDeallocator, context);
    case 'd': p->at++; return ms_dmsw_make1(p, ms_DMSW_Destructor, context);
    case 'e': p->at++; return ms_dmsw_make1(p, ms_DMSW_IVarInitializer, context);
    case 'E': p->at++; return ms_dmsw_make1(p, ms_DMSW_IVarDestroyer, context);
    case 'C': p->at++; return ms_dmsw_make2(p, ms_DMSW_Allocator, context, ms_dmsw_old_type(p));
    case 'c': p->at++; return ms_dmsw_make2(p, ms_DMSW_Constructor, context, ms_dmsw_old_type(p));
    case 'U':
    case 'u':
        kind = ms_dmsw_next(p) == 'U' ? ms_DMSW_ExplicitClosure : ms_DMSW_ImplicitClosure;
        name = ms_dmsw_old_index_node(p);
        return name ? ms_dmsw_make3(p, kind, context, name, ms_dmsw_old_type(p)) : 0;
    case 'A':
        if (kind != ms_DMSW_Initializer)
            break;
        p->at++;
        return ms_dmsw_make2(p, ms_DMSW_DefaultArgumentInitializer, context, ms_dmsw_old_index_node(p));
    case 'i':
        if (kind != ms_DMSW_Initializer)
            break;
        p->at++;
        return ms_dmsw_make1(p, ms_DMSW_Initializer, context);
    default: break;
    }
    name = ms_dmsw_old_decl_name(p);
    uint32_t type = name ? ms_dmsw_old_type(p) : 0;
    if (!type)
        return 0;
    return kind == ms_DMSW_Subscript ? ms_dmsw_make2(p, kind, context, type)
                                     : ms_dmsw_make3(p, kind, context, name, type);
}

/* entity */
static uint32_t ms_dmsw_old_entity(ms_dmsw *p)
{
    bool is_static = ms_dmsw_next_if(p, 'Z');
    unsigned kind;
    uint32_t ref, context;
    if (p->d->failed || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    switch (ms_dmsw_peek(p)) {
    case 'F': kind = ms_DMSW_Function; break;
    case 'v': kind = ms_DMSW_Variable; break;
    case 'I': kind = ms_DMSW_Initializer; break;
    case 'i': kind = ms_DMSW_Subscript; break;
    default: kind = ms_DMSW_None; break;
    }
    if (kind == ms_DMSW_None) {
        ref = ms_dmsw_old_nominal(p);
    } else {
        p->at++;
        context = ms_dmsw_old_context(p);
        if (!context)
            return 0;
        unsigned accessor = ms_dmsw_old_accessor(p);
        if (accessor == ms_DMSW_KIND_COUNT)
            return 0;
        ref = accessor != ms_DMSW_None ? ms_dmsw_old_storage(p, accessor, context)
                                       : ms_dmsw_old_named(p, kind, context);
    }
    p->d->depth--;
    return is_static ? ms_dmsw_make1(p, ms_DMSW_Static, ref) : ref;
}

/* 'M': metadata */
static uint32_t ms_dmsw_old_metadata(ms_dmsw *p)
{
    unsigned kind = ms_DMSW_TypeMetadata;
    switch (ms_dmsw_peek(p)) {
    case 'P': kind = ms_DMSW_GenericTypeMetadataPattern; break;
    case 'a': kind = ms_DMSW_TypeMetadataAccessFunction; break;
    case 'L': kind = ms_DMSW_TypeMetadataLazyCache; break;
    case 'm': kind = ms_DMSW_Metaclass; break;
    case 'n': kind = ms_DMSW_NominalTypeDescriptor; break;
    case 'f': kind = ms_DMSW_FullTypeMetadata; break;
    case 'p': p->at++; return ms_dmsw_make1(p, ms_DMSW_ProtocolDescriptor, ms_dmsw_old_protocol(p));
    default: break;
    }
    p->at += kind != ms_DMSW_TypeMetadata;
    return ms_dmsw_make1(p, kind, ms_dmsw_old_type(p));
}

/* 'W': witness tables */
static uint32_t ms_dmsw_old_witness(ms_dmsw *p)
{
    uint32_t a, b;
    char c = ms_dmsw_next(p);
    switch (c) {
    case 'V': return ms_dmsw_make1(p, ms_DMSW_ValueWitnessTable, ms_dmsw_old_type(p));
    case 'v':
        c = ms_dmsw_next(p);
        if (c != 'd' && c != 'i')
            return 0;
        return ms_dmsw_add(p, ms_dmsw_marked(p, ms_DMSW_FieldOffset, c), ms_dmsw_old_entity(p));
    case 'P': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTable, ms_dmsw_old_conformance(p));
    case 'G': return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTable, ms_dmsw_old_conformance(p));
    case 'I':
        return ms_dmsw_make1(p, ms_DMSW_GenericProtocolWitnessTableInstantiationFunction,
                             ms_dmsw_old_conformance(p));
    case 'a': return ms_dmsw_make1(p, ms_DMSW_ProtocolWitnessTableAccessor, ms_dmsw_old_conformance(p));
    case 'l':
    case 'L':
        a = ms_dmsw_old_type(p);
        return a ? ms_dmsw_make2(p,
                                 c == 'l' ? ms_DMSW_LazyProtocolWitnessTableAccessor
                                          : ms_DMSW_LazyProtocolWitnessTableCacheVariable,
                                 a, ms_dmsw_old_conformance(p))
                 : 0;
    case 't':
        a = ms_dmsw_old_conformance(p);
        return a ? ms_dmsw_make2(p, ms_DMSW_AssociatedTypeMetadataAccessor, a, ms_dmsw_old_decl_name(p)) : 0;
    case 'T':
        a = ms_dmsw_old_conformance(p);
        b = a ? ms_dmsw_old_decl_name(p) : 0;
        return b ? ms_dmsw_make3(p, ms_DMSW_AssociatedTypeWitnessTableAccessor, a, b, ms_dmsw_old_protocol(p))
                 : 0;
    default: return 0;
    }
}

/* reabstract-signature: the type reached, the type left */
static uint32_t ms_dmsw_old_reabstraction(ms_dmsw *p, unsigned kind)
{
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'G'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_signature(p, ms_DMSW_DependentGenericSignature));
    if (ref)
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_type(p));
    return ref ? ms_dmsw_add(p, ref, ms_dmsw_old_type(p)) : 0;
}

/* A partial application forwarder, after 'PA' */
static uint32_t ms_dmsw_old_forwarder(ms_dmsw *p)
{
    unsigned kind =
        ms_dmsw_next_if(p, 'o') ? ms_DMSW_PartialApplyObjCForwarder : ms_DMSW_PartialApplyForwarder;
    uint32_t ref = ms_dmsw_make(p, kind);
    return ms_dmsw_next_is(p, "__T", 3) ? ms_dmsw_add(p, ref, ms_dmsw_old_global(p)) : ref;
}

/* global */
static uint32_t ms_dmsw_old_global(ms_dmsw *p)
{
    uint32_t ref;
    if (p->d->failed || ++p->d->depth > ms_DMSW_MAX_DEPTH)
        return 0;
    if (ms_dmsw_next_if(p, 'M')) {
        ref = ms_dmsw_old_metadata(p);
    } else if (ms_dmsw_next_is(p, "PA", 2)) {
        ref = ms_dmsw_old_forwarder(p);
    } else if (ms_dmsw_next_if(p, 't')) {
        ref = ms_dmsw_make1(p, ms_DMSW_TypeMangling, ms_dmsw_old_type(p));
    } else if (ms_dmsw_next_if(p, 'w')) {
        ref = ms_dmsw_value_witness(p);
        ref = ref ? ms_dmsw_add(p, ref, ms_dmsw_old_type(p)) : 0;
    } else if (ms_dmsw_next_if(p, 'W')) {
        ref = ms_dmsw_old_witness(p);
    } else if (ms_dmsw_next_is(p, "TR", 2)) {
        ref = ms_dmsw_old_reabstraction(p, ms_DMSW_ReabstractionThunkHelper);
    } else if (ms_dmsw_next_is(p, "Tr", 2)) {
        ref = ms_dmsw_old_reabstraction(p, ms_DMSW_ReabstractionThunk);
    } else if (ms_dmsw_next_is(p, "TW", 2)) {
        uint32_t conformance = ms_dmsw_old_conformance(p);
        ref = conformance ? ms_dmsw_make2(p, ms_DMSW_ProtocolWitness, conformance, ms_dmsw_old_entity(p)) : 0;
    } else {
        ref = ms_dmsw_old_entity(p);
    }
    p->d->depth--;
    return ref;
}

/* The parameters of a generic specialization */
static uint32_t ms_dmsw_old_generic_spec(ms_dmsw *p, uint32_t ref)
{
    while (ref && !ms_dmsw_next_if(p, '_')) {
        uint32_t param = ms_dmsw_make1(p, ms_DMSW_GenericSpecializationParam, ms_dmsw_old_type(p));
        while (param && !ms_dmsw_next_if(p, '_'))
            param = ms_dmsw_add(p, param, ms_dmsw_old_conformance(p));
        ref = ms_dmsw_add(p, ref, param);
    }
    return ref;
}

/* The name of a symbol or constant; names of functions are read in turn when they are printed. */
static uint32_t ms_dmsw_old_spec_name(ms_dmsw *p, uint32_t param)
{
    uint32_t name = ms_dmsw_old_identifier(p, ms_DMSW_FunctionSignatureSpecializationParamPayload);
    if (name)
        ms_dmsw_at(p, name)->mark = 1;
    return ms_dmsw_add(p, param, name);
}

/* The text up to '_' */
static uint32_t ms_dmsw_old_spec_text(ms_dmsw *p, uint32_t param)
{
    size_t start = p->at;
    while (p->at < p->len && p->s[p->at] != '_')
        p->at++;
    return p->at > start ? ms_dmsw_spec_text(p, param, p->s + start, p->at - start) : 0;
}

/* funcsigspecializationconstantpropinfo */
static uint32_t ms_dmsw_old_spec_const(ms_dmsw *p, uint32_t param)
{
    if (ms_dmsw_next_is(p, "fr", 2)) {
        param = ms_dmsw_old_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FUNCTION));
    } else if (ms_dmsw_next_if(p, 'g')) {
        param = ms_dmsw_old_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_GLOBAL));
    } else if (ms_dmsw_next_if(p, 'i')) {
        param = ms_dmsw_old_spec_text(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_INTEGER));
    } else if (ms_dmsw_next_is(p, "fl", 2)) {
        param = ms_dmsw_old_spec_text(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_FLOAT));
    } else if (ms_dmsw_next_is(p, "se", 2)) {
        param = ms_dmsw_spec_kind(p, param, ms_DMSW_P_STRING);
        char encoding = ms_dmsw_next(p);
        if ((encoding != '0' && encoding != '1') || !ms_dmsw_next_if(p, 'v'))
            return 0;
        param =
            encoding == '0' ? ms_dmsw_spec_text(p, param, "u8", 2) : ms_dmsw_spec_text(p, param, "u16", 3);
        param = ms_dmsw_add(p, param,
                            ms_dmsw_old_identifier(p, ms_DMSW_FunctionSignatureSpecializationParamPayload));
    } else {
        return 0;
    }
    return ms_dmsw_next_if(p, '_') ? param : 0;
}

/* A specialized closure: its name and the types it closes over */
static uint32_t ms_dmsw_old_spec_closure(ms_dmsw *p, uint32_t param)
{
    param = ms_dmsw_old_spec_name(p, ms_dmsw_spec_kind(p, param, ms_DMSW_P_CLOSURE));
    while (param && !ms_dmsw_next_if(p, '_'))
        param = ms_dmsw_add(p, param, ms_dmsw_old_type(p));
    return param;
}

/* funcsigspecializationarginfo */
static uint32_t ms_dmsw_old_spec_param(ms_dmsw *p)
{
    uint32_t param = ms_dmsw_make(p, ms_DMSW_FunctionSignatureSpecializationParam);
    if (ms_dmsw_next_is(p, "n_", 2))
        return param;
    if (ms_dmsw_next_is(p, "cp", 2))
        return ms_dmsw_old_spec_const(p, param);
    if (ms_dmsw_next_is(p, "cl", 2))
        return ms_dmsw_old_spec_closure(p, param);
    if (ms_dmsw_next_is(p, "i_", 2))
        return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_VALUE);
    if (ms_dmsw_next_is(p, "k_", 2))
        return ms_dmsw_spec_kind(p, param, ms_DMSW_P_BOX_TO_STACK);
    if (ms_dmsw_next_is(p, "r_", 2))
        return ms_dmsw_spec_kind(p, param, ms_DMSW_P_INOUT_TO_OUT);
    unsigned what = 0;
    if (ms_dmsw_next_if(p, 'd'))
        what |= ms_DMSW_P_DEAD;
    if (ms_dmsw_next_if(p, 'g'))
        what |= ms_DMSW_P_OWNED_TO_GUARANTEED;
    if (ms_dmsw_next_if(p, 'o'))
        what |= ms_DMSW_P_GUARANTEED_TO_OWNED;
    if (ms_dmsw_next_if(p, 's'))
        what |= ms_DMSW_P_EXPLODED;
    return what && ms_dmsw_next_if(p, '_') ? ms_dmsw_spec_kind(p, param, what) : 0;
}

/* specializationinfo */
static uint32_t ms_dmsw_old_specialization(ms_dmsw *p)
{
    unsigned kind;
    switch (ms_dmsw_next(p)) {
    case 'g': kind = ms_DMSW_GenericSpecialization; break;
    case 'r': kind = ms_DMSW_GenericSpecializationNotReAbstracted; break;
    case 'f': kind = ms_DMSW_FunctionSignatureSpecialization; break;
    default: return 0;
    }
    uint32_t ref = ms_dmsw_make(p, kind);
    if (ms_dmsw_next_if(p, 'q'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_make(p, ms_DMSW_IsSerialized));
    if (!ms_dmsw_digit(ms_dmsw_next(p)))
        return 0;
    if (kind != ms_DMSW_FunctionSignatureSpecialization)
        return ms_dmsw_old_generic_spec(p, ref);
    while (ref && !ms_dmsw_next_if(p, '_'))
        ref = ms_dmsw_add(p, ref, ms_dmsw_old_spec_param(p));
    return ref;
}

/* The whole name, behind "_T" */
static uint32_t ms_dmsw_old_read(ms_dmsw *p)
{
    uint32_t top = ms_dmsw_make(p, ms_DMSW_Global), part = 0;
    if (ms_dmsw_next_is(p, "TS", 2)) {
        do {
            top = ms_dmsw_add(p, top, ms_dmsw_old_specialization(p));
            p->subs.count = 0; /* each part has substitutions of its own */
        } while (top && ms_dmsw_next_is(p, "_TTS", 4));
        if (!top || !ms_dmsw_next_is(p, "_T", 2))
            return 0;
    } else if (ms_dmsw_next_is(p, "To", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_ObjCAttribute);
    } else if (ms_dmsw_next_is(p, "TO", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_NonObjCAttribute);
    } else if (ms_dmsw_next_is(p, "TD", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_DynamicAttribute);
    } else if (ms_dmsw_next_is(p, "Td", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_DirectMethodReferenceAttribute);
    } else if (ms_dmsw_next_is(p, "TV", 2)) {
        part = ms_dmsw_make(p, ms_DMSW_VTableAttribute);
    }
    if (part)
        top = ms_dmsw_add(p, top, part);
    top = top ? ms_dmsw_add(p, top, ms_dmsw_old_global(p)) : 0;
    if (top && p->at < p->len)
        top = ms_dmsw_add(p, top, ms_dmsw_make_text(p, ms_DMSW_Suffix, p->s + p->at, p->len - p->at));
    return top;
}

/* ---- entrance ---- */

/* The length of the prefix of Swift 4 and later; 0: another name. */
static size_t ms_dmsw_prefix(const char *s, size_t len)
{
    static const char macro[] = "@__swiftmacro_";
    if (len >= 2 && s[0] == '$' && (s[1] == 's' || s[1] == 'S' || s[1] == 'e'))
        return 2;
    if (len >= 3 && s[0] == '_') {
        if (s[1] == 'T' && s[2] == '0')
            return 3;
        return s[1] == '$' && (s[2] == 's' || s[2] == 'S' || s[2] == 'e') ? 3 : 0;
    }
    return len >= sizeof macro - 1 && ms_equal(s, macro, sizeof macro - 1) ? sizeof macro - 1 : 0;
}

static void ms_dmsw_begin(ms_dmsw *p, ms_dm *d, const char *s, size_t len, uint32_t style)
{
    ms_dmsw_refs none = {NULL, 0, 0};
    p->d = d;
    p->base = (ms_dmsw_node *)(void *)(d->mem + d->mem_used);
    p->s = s;
    p->len = len;
    p->at = 0;
    p->style = style;
    p->old_functions = false;
    p->specialized = false;
    p->word_count = 0;
    p->stack = none;
    p->subs = none;
}

/* Reads the whole name into a tree; 0 when it is no Swift name. */
static uint32_t ms_dmsw_tree(ms_dmsw *p)
{
    size_t prefix = ms_dmsw_prefix(p->s, p->len);
    unsigned depth = p->d->depth;
    uint32_t top = 0;
    if (prefix) {
        p->at = prefix;
        p->old_functions = p->s[1] == 'T';
        top = ms_dmsw_read(p);
    } else if (p->len > 2 && p->s[0] == '_' && p->s[1] == 'T') {
        p->at = 2;
        top = ms_dmsw_old_read(p);
    }
    p->d->depth = depth;
    return p->d->failed ? 0 : top;
}

/* Prints what a symbol's name inside a name means, without sugar; false when it is none. */
static bool ms_dmsw_nested(ms_dmsw *p, uint32_t payload)
{
    const ms_dmsw_node *n = ms_dmsw_at(p, payload);
    ms_dmsw inner;
    if (n->count < 3 || p->d->depth + 64 > ms_DMSW_MAX_DEPTH)
        return false;
    ms_dmsw_begin(&inner, p->d, n->u.text, n->count, ms_DMSW_NO_SUGAR);
    inner.base = p->base;
    p->d->depth += 64;
    uint32_t top = ms_dmsw_tree(&inner);
    if (top)
        ms_dmsw_print(&inner, top);
    p->d->depth -= 64;
    return top != 0;
}

static bool ms_dm_swift(ms_dm *d)
{
    ms_dmsw p;
    if (d->len < 3 || (d->s[0] != '$' && d->s[0] != '_' && d->s[0] != '@'))
        return false;
    if (d->s[0] == '_' && d->s[1] != 'T' && d->s[1] != '$')
        return false;
    ms_dmsw_begin(&p, d, d->s, d->len, d->flags);
    if (d->len > UINT32_MAX / 16)
        return false;
    (void)ms_dmsw_make(&p, ms_DMSW_None); /* node 0, which stands for none */
    size_t before = d->out_len;
    uint32_t top = ms_dmsw_tree(&p);
    if (!top)
        return false;
    ms_dmsw_print(&p, top);
    return !d->failed && d->out_len > before;
}
#endif /* MACHSYM_NO_SWIFT */

#ifndef MACHSYM_NO_RUST
/* ---- names: Rust ----------------------------------------------------------------------------------------
 * Two schemes. The older ("legacy") one looks like a C++ nested name whose last part is a hash: it is taken
 * only when it has that hash or one of Rust's own $ escapes, so that a C++ name never matches. The newer one
 * ("v0") is a prefix grammar (rustc book, "v0 Symbol Format"; RFC 2603), printed while it is read.
 * Back-references are read again at their target, so no nodes are kept. Both print as rustc-demangle does. */

enum { ms_DMRS_MAX_DEPTH = 256 }; /* about 300 bytes of stack a level; the compiler's own limit is lower */

typedef struct ms_dmrs { /* The state of reading one v0 name. */
    ms_dm *d;
    const char *s;  /* the name behind its prefix: back-references count from here */
    size_t len;     /* up to the suffix */
    size_t at;      /* reading position */
    uint64_t bound; /* lifetimes bound by the binders around */
    bool quiet;     /* reading a part that is not shown */
    bool hash;      /* show crate hashes and the types of constants */
} ms_dmrs;

typedef struct ms_dmrs_id { /* One identifier as written. */
    const char *ptr;
    size_t len;
    bool punycode;
} ms_dmrs_id;

#define ms_dmrs_lit(r, text) ms_dmrs_put(r, text, sizeof(text) - 1)

/* ---- printing ---- */

static void ms_dmrs_put(ms_dmrs *r, const char *ptr, size_t len)
{
    if (!r->quiet)
        ms_dm_put(r->d, ptr, len);
}

/* Prints value in base 10 or 16. */
static void ms_dmrs_put_number(ms_dmrs *r, uint64_t value, unsigned base)
{
    char text[20];
    size_t at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    ms_dmrs_put(r, text + at, sizeof text - at);
}

static bool ms_dmrs_is_scalar(uint64_t code)
{
    return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
}

static void ms_dmrs_put_utf8(ms_dm *d, uint32_t code)
{
    char text[4];
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        text[i] = (char)(0x80u | (code & 0x3Fu));
        code >>= 6;
    }
    text[0] = (char)(len == 1 ? code : ((0xF00u >> len) & 0xFFu) | code);
    ms_dm_put(d, text, len);
}

/* Rust shows controls, odd spaces, combining marks, private use and unassigned code points as \u{...}. This
 * table holds the ranges of weight; the full Unicode list (900 ranges) would buy little in symbol names. */
static bool ms_dmrs_is_shown(uint32_t code)
{
    static const uint32_t v[][2] = {
        {0x00, 0x1F},     {0x7F, 0xA0},       {0xAD, 0xAD},       {0x300, 0x36F},   {0x483, 0x489},
        {0x591, 0x5BD},   {0x600, 0x605},     {0x610, 0x61A},     {0x61C, 0x61C},   {0x64B, 0x65F},
        {0x6DD, 0x6DD},   {0x70F, 0x70F},     {0x1680, 0x1680},   {0x180B, 0x180F}, {0x1AB0, 0x1ADD},
        {0x1DC0, 0x1DFF}, {0x2000, 0x200F},   {0x2028, 0x202F},   {0x205F, 0x206F}, {0x20D0, 0x20FF},
        {0x3000, 0x3000}, {0x302A, 0x302F},   {0x3099, 0x309A},   {0xE000, 0xF8FF}, {0xFDD0, 0xFDEF},
        {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},   {0xFEFF, 0xFEFF},   {0xFF9E, 0xFF9F}, {0xFFF0, 0xFFFB},
        {0xFFFE, 0xFFFF}, {0x1D173, 0x1D17A}, {0x3347A, 0x10FFFF}};
    for (size_t i = 0; i < sizeof v / sizeof v[0] && v[i][0] <= code; i++) {
        if (code <= v[i][1])
            return false;
    }
    return true;
}

/* Prints one character of a literal whose quote is given; the other kind of quote needs no escape. */
static void ms_dmrs_put_char(ms_dmrs *r, uint32_t code, char quote)
{
    if (r->quiet)
        return;
    switch (code) {
    case '\0': ms_dmrs_lit(r, "\\0"); return;
    case '\t': ms_dmrs_lit(r, "\\t"); return;
    case '\n': ms_dmrs_lit(r, "\\n"); return;
    case '\r': ms_dmrs_lit(r, "\\r"); return;
    default: break;
    }
    if (code == '\\' || code == (unsigned char)quote)
        ms_dmrs_lit(r, "\\");
    if (ms_dmrs_is_shown(code)) {
        ms_dmrs_put_utf8(r->d, code);
        return;
    }
    ms_dmrs_lit(r, "\\u{");
    ms_dmrs_put_number(r, code, 16);
    ms_dmrs_lit(r, "}");
}

/* ---- reading ---- */

/* Sticky: the reader moves to the end, where nothing matches. */
static void ms_dmrs_fail(ms_dmrs *r)
{
    r->d->failed = true;
    r->at = r->len;
}

static char ms_dmrs_peek(const ms_dmrs *r)
{
    return r->at < r->len ? r->s[r->at] : '\0';
}

static bool ms_dmrs_eat(ms_dmrs *r, char c)
{
    if (ms_dmrs_peek(r) != c)
        return false;
    r->at++;
    return true;
}

/* The next byte; at the end the name is malformed. */
static char ms_dmrs_next(ms_dmrs *r)
{
    if (r->at < r->len)
        return r->s[r->at++];
    ms_dmrs_fail(r);
    return '\0';
}

/* Takes steps from the budget. Parts that are not shown can be read again and again without any output, so
 * everything that is read at a back-reference's target has to pay. */
static void ms_dmrs_pay(ms_dmrs *r, size_t steps)
{
    if (steps > r->d->work)
        ms_dmrs_fail(r);
    else
        r->d->work -= steps;
}

/* Starts a path, type or constant; every successful call needs a ms_dmrs_leave. */
static bool ms_dmrs_enter(ms_dmrs *r)
{
    ms_dmrs_pay(r, 1);
    if (r->d->failed || r->d->depth >= ms_DMRS_MAX_DEPTH) {
        ms_dmrs_fail(r);
        return false;
    }
    r->d->depth++;
    return true;
}

static void ms_dmrs_leave(ms_dmrs *r)
{
    r->d->depth--;
}

/* The value of a base-62 digit + 1, 63 for `_`, 0 for bytes that no v0 name has. */
static unsigned ms_dmrs_digit(char c)
{
    static const unsigned char v[128] = {
        0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
        0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
        0,  0,  0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 0,  0,  0,  0,  0,  0,  0,  37,
        38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
        60, 61, 62, 0,  0,  0,  0,  63, 0,  11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 0,  0,  0,  0,  0};
    return (unsigned char)c < 128 ? v[(unsigned char)c] : 0;
}

/* base-62-number: `_` is 0, otherwise the digits' value + 1. */
static uint64_t ms_dmrs_base62(ms_dmrs *r)
{
    if (ms_dmrs_eat(r, '_'))
        return 0;
    uint64_t value = 0;
    while (r->at < r->len) {
        unsigned digit = ms_dmrs_digit(r->s[r->at++]) - 1; /* the alphabet has been checked */
        if (digit == 62)
            return value + 1;
        if (value > (UINT64_MAX - 63) / 62)
            break;
        value = value * 62 + digit;
    }
    ms_dmrs_fail(r);
    return 0;
}

/* disambiguator and binder: a tag and a number that counts from 1; 0 when the tag is missing. */
static uint64_t ms_dmrs_tagged(ms_dmrs *r, char tag)
{
    return ms_dmrs_eat(r, tag) ? ms_dmrs_base62(r) + 1 : 0;
}

/* undisambiguated-identifier */
static ms_dmrs_id ms_dmrs_ident(ms_dmrs *r)
{
    ms_dmrs_id id = {NULL, 0, false};
    id.punycode = ms_dmrs_eat(r, 'u');
    char c = ms_dmrs_next(r);
    if (c < '0' || c > '9') {
        ms_dmrs_fail(r);
        return id;
    }
    size_t len = (size_t)(c - '0');
    while (len != 0 && (c = ms_dmrs_peek(r)) >= '0' && c <= '9') {
        len = len * 10 + (size_t)(c - '0');
        r->at++;
        if (len > r->len)
            break;
    }
    ms_dmrs_eat(r, '_');
    if (len > r->len - r->at) {
        ms_dmrs_fail(r);
        return id;
    }
    id.ptr = r->s + r->at;
    id.len = len;
    r->at += len;
    if (id.punycode && (len == 0 || id.ptr[len - 1] == '_'))
        ms_dmrs_fail(r);
    return id;
}

/* RFC 3492 6.1: the step that adapts the bias. */
static uint32_t ms_dmrs_adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta /= first ? 700 : 2;
    delta += delta / count;
    while (delta > 455) {
        delta /= 35;
        k += 36;
    }
    return k + 36 * delta / (delta + 38);
}

/* RFC 3492 6.2: one variable-length number; false when malformed. */
static bool ms_dmrs_delta(const char **at, const char *end, uint32_t bias, uint32_t *out)
{
    uint32_t value = 0, weight = 1;
    for (uint32_t k = 36;; k += 36) {
        if (*at == end)
            return false;
        char c = *(*at)++;
        uint32_t digit = c >= 'a' && c <= 'z'   ? (uint32_t)(c - 'a')
                         : c >= '0' && c <= '9' ? (uint32_t)(c - '0') + 26
                                                : 36;
        if (digit == 36 || digit > (UINT32_MAX - value) / weight)
            return false;
        value += digit * weight;
        uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (digit < t)
            break;
        if (weight > UINT32_MAX / (36 - t))
            return false;
        weight *= 36 - t;
    }
    *out = value;
    return true;
}

/* Decodes the part behind the last `_` into code, which already holds count plain characters.
 * Returns the new count; 0 when malformed or too costly. */
static uint32_t ms_dmrs_unpuny(ms_dm *d, const char *at, const char *end, uint32_t *code, uint32_t count)
{
    uint32_t n = 0x80, i = 0, bias = 72;
    bool first = true;
    while (at < end) {
        uint32_t delta;
        if (!ms_dmrs_delta(&at, end, bias, &delta) || delta > UINT32_MAX - i)
            return 0;
        i += delta;
        count++;
        bias = ms_dmrs_adapt(delta, count, first);
        first = false;
        uint64_t next = (uint64_t)n + i / count;
        i %= count;
        size_t cost = (count - i) / 64 + 1; /* the move below is the only step that is not constant */
        if (!ms_dmrs_is_scalar(next) || cost > d->work)
            return 0;
        n = (uint32_t)next;
        d->work -= cost;
        ms_move(code + i + 1, code + i, (count - 1 - i) * sizeof *code);
        code[i++] = n;
    }
    return count;
}

/* Shows an identifier; Punycode needs scratch for its code points, given back at the end. */
static void ms_dmrs_put_ident(ms_dmrs *r, ms_dmrs_id id)
{
    if (r->quiet || r->d->failed)
        return;
    if (!id.punycode) {
        ms_dm_put(r->d, id.ptr, id.len);
        return;
    }
    size_t used = r->d->mem_used, plain = id.len;
    uint32_t *code = (uint32_t *)ms_dm_alloc(r->d, id.len * sizeof *code);
    if (code == NULL)
        return;
    while (plain > 0 && id.ptr[plain - 1] != '_')
        plain--;
    uint32_t count = 0;
    for (size_t i = 0; i + 1 < plain; i++)
        code[count++] = (unsigned char)id.ptr[i];
    count = ms_dmrs_unpuny(r->d, id.ptr + plain, id.ptr + id.len, code, count);
    if (count == 0)
        ms_dmrs_fail(r);
    for (uint32_t i = 0; i < count; i++)
        ms_dmrs_put_utf8(r->d, code[i]);
    r->d->mem_used = used;
}

/* A lifetime by its de Bruijn index: 'a for the outermost bound one, '_26 after 'z. */
static void ms_dmrs_put_lifetime(ms_dmrs *r, uint64_t index)
{
    if (index == 0) {
        ms_dmrs_lit(r, "'_");
        return;
    }
    if (index > r->bound) {
        ms_dmrs_fail(r);
        return;
    }
    uint64_t level = r->bound - index;
    if (level < 26) {
        char text[2] = {'\'', (char)('a' + level)};
        ms_dmrs_put(r, text, 2);
        return;
    }
    ms_dmrs_lit(r, "'_");
    ms_dmrs_put_number(r, level, 10);
}

/* binder: the caller puts r->bound back where the scope ends. */
static void ms_dmrs_binder(ms_dmrs *r)
{
    uint64_t count = ms_dmrs_tagged(r, 'G');
    if (count > 1024) { /* no source has as many, and a few bytes could print for ever */
        ms_dmrs_fail(r);
        return;
    }
    if (count == 0 || r->quiet) {
        r->bound += count;
        return;
    }
    ms_dmrs_lit(r, "for<");
    for (uint64_t i = 0; i < count && !r->d->failed; i++) {
        if (i > 0)
            ms_dmrs_lit(r, ", ");
        r->bound++;
        ms_dmrs_put_lifetime(r, 1);
    }
    ms_dmrs_lit(r, "> ");
}

/* Behind a `B`: goes to the target and stores where to come back to; false when there is nothing to show. */
static bool ms_dmrs_jump(ms_dmrs *r, size_t *back)
{
    size_t tag = r->at - 1;
    uint64_t to = ms_dmrs_base62(r);
    if (r->d->failed || to >= tag) {
        ms_dmrs_fail(r);
        return false;
    }
    *back = r->at;
    if (r->quiet)
        return false;
    r->at = (size_t)to;
    return true;
}

/* floors: recursion */
static void ms_dmrs_path(ms_dmrs *r, bool in_value);
static void ms_dmrs_type(ms_dmrs *r);
static void ms_dmrs_const(ms_dmrs *r, bool in_value);

/* ---- lists ---- */

static void ms_dmrs_generic_arg(ms_dmrs *r)
{
    if (ms_dmrs_eat(r, 'L'))
        ms_dmrs_put_lifetime(r, ms_dmrs_base62(r));
    else if (ms_dmrs_eat(r, 'K'))
        ms_dmrs_const(r, false);
    else
        ms_dmrs_type(r);
}

static void ms_dmrs_const_item(ms_dmrs *r)
{
    ms_dmrs_const(r, true);
}

/* Struct literal field: identifier and value. */
static void ms_dmrs_field(ms_dmrs *r)
{
    ms_dmrs_tagged(r, 's');
    ms_dmrs_put_ident(r, ms_dmrs_ident(r));
    ms_dmrs_lit(r, ": ");
    ms_dmrs_const(r, true);
}

/* Items up to `E`, with commas; returns their number. */
static size_t ms_dmrs_list(ms_dmrs *r, void (*item)(ms_dmrs *))
{
    size_t count = 0;
    while (!r->d->failed && !ms_dmrs_eat(r, 'E')) {
        if (count++ > 0)
            ms_dmrs_lit(r, ", ");
        item(r);
    }
    return count;
}

/* Tuples of one have a comma. */
static void ms_dmrs_tuple(ms_dmrs *r, void (*item)(ms_dmrs *))
{
    ms_dmrs_lit(r, "(");
    if (ms_dmrs_list(r, item) == 1)
        ms_dmrs_lit(r, ",");
    ms_dmrs_lit(r, ")");
}

/* ---- constants ---- */

/* const-data up to its `_`: lower-case hexadecimal digits. */
static machsym_str ms_dmrs_hex(ms_dmrs *r)
{
    machsym_str text = {r->s + r->at, 0};
    char c;
    while (((c = ms_dmrs_next(r)) >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))
        text.len++;
    if (c != '_')
        ms_dmrs_fail(r);
    ms_dmrs_pay(r, text.len / 16);
    return text;
}

static unsigned ms_dmrs_nibble(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* Like ms_dmrs_hex, for one number: at least one digit, no zeros in front; false when 64 bits are too few. */
static bool ms_dmrs_hex_number(ms_dmrs *r, machsym_str *text, uint64_t *value)
{
    *text = ms_dmrs_hex(r);
    *value = 0;
    if (text->len == 0 || (text->len > 1 && text->ptr[0] == '0'))
        ms_dmrs_fail(r);
    if (r->d->failed || text->len > 16)
        return false;
    for (size_t i = 0; i < text->len; i++)
        *value = *value << 4 | ms_dmrs_nibble(text->ptr[i]);
    return true;
}

/* basic-type by its tag; empty when the tag names none. */
static machsym_str ms_dmrs_basic(char tag)
{
    static const char names[26][6] = {"i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
                                      "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
                                      "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};
    static const unsigned char lens[26] = {2, 4, 4, 3, 3, 3, 0, 2, 5, 5, 0, 3, 3,
                                           4, 4, 1, 0, 0, 3, 3, 2, 3, 0, 3, 3, 1};
    machsym_str name = {"", 0};
    if (tag >= 'a' && tag <= 'z') {
        name.ptr = names[tag - 'a'];
        name.len = lens[tag - 'a'];
    }
    return name;
}

static void ms_dmrs_const_int(ms_dmrs *r, char tag, bool is_signed)
{
    machsym_str text;
    uint64_t value;
    if (is_signed && ms_dmrs_eat(r, 'n'))
        ms_dmrs_lit(r, "-");
    if (ms_dmrs_hex_number(r, &text, &value)) {
        ms_dmrs_put_number(r, value, 10);
    } else {
        ms_dmrs_lit(r, "0x");
        ms_dmrs_put(r, text.ptr, text.len);
    }
    if (r->hash) {
        machsym_str name = ms_dmrs_basic(tag);
        ms_dmrs_put(r, name.ptr, name.len);
    }
}

static void ms_dmrs_const_bool(ms_dmrs *r)
{
    machsym_str text = ms_dmrs_hex(r);
    if (text.len == 1 && text.ptr[0] == '0')
        ms_dmrs_lit(r, "false");
    else if (text.len == 1 && text.ptr[0] == '1')
        ms_dmrs_lit(r, "true");
    else
        ms_dmrs_fail(r);
}

static void ms_dmrs_const_char(ms_dmrs *r)
{
    machsym_str text;
    uint64_t value;
    if (!ms_dmrs_hex_number(r, &text, &value) || !ms_dmrs_is_scalar(value)) {
        ms_dmrs_fail(r);
        return;
    }
    ms_dmrs_lit(r, "'");
    ms_dmrs_put_char(r, (uint32_t)value, '\'');
    ms_dmrs_lit(r, "'");
}

/* Takes one UTF-8 sequence from pairs of digits; UINT32_MAX when malformed. */
static uint32_t ms_dmrs_hex_utf8(machsym_str text, size_t *at)
{
    uint32_t code = 0;
    size_t more = 0;
    for (size_t i = 0; i <= more; i++) {
        if (text.len - *at < 2)
            return UINT32_MAX;
        uint32_t byte = ms_dmrs_nibble(text.ptr[*at]) << 4 | ms_dmrs_nibble(text.ptr[*at + 1]);
        *at += 2;
        if (i > 0) {
            if ((byte & 0xC0u) != 0x80)
                return UINT32_MAX;
            code = code << 6 | (byte & 0x3Fu);
            continue;
        }
        if ((byte >= 0x80 && byte < 0xC2) || byte > 0xF4)
            return UINT32_MAX;
        more = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
        code = more == 0 ? byte : byte & (0x3Fu >> more);
    }
    if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000) || !ms_dmrs_is_scalar(code))
        return UINT32_MAX;
    return code;
}

static void ms_dmrs_const_str(ms_dmrs *r)
{
    machsym_str text = ms_dmrs_hex(r);
    size_t at = 0;
    ms_dmrs_lit(r, "\"");
    while (at < text.len && !r->d->failed) {
        uint32_t code = ms_dmrs_hex_utf8(text, &at);
        if (code == UINT32_MAX)
            ms_dmrs_fail(r);
        else
            ms_dmrs_put_char(r, code, '"');
    }
    ms_dmrs_lit(r, "\"");
}

/* A struct, tuple struct or unit struct literal; its type is a path. */
static void ms_dmrs_const_adt(ms_dmrs *r)
{
    ms_dmrs_path(r, true);
    switch (ms_dmrs_next(r)) {
    case 'U': break;
    case 'T':
        ms_dmrs_lit(r, "(");
        ms_dmrs_list(r, ms_dmrs_const_item);
        ms_dmrs_lit(r, ")");
        break;
    case 'S':
        ms_dmrs_lit(r, " { ");
        ms_dmrs_list(r, ms_dmrs_field);
        ms_dmrs_lit(r, " }");
        break;
    default: ms_dmrs_fail(r);
    }
}

/* Constants that are expressions: braces keep them apart from types, but once are enough. */
static void ms_dmrs_const_expr(ms_dmrs *r, char tag, bool in_value)
{
    if (!in_value)
        ms_dmrs_lit(r, "{");
    switch (tag) {
    case 'e':
        ms_dmrs_lit(r, "*");
        ms_dmrs_const_str(r);
        break;
    case 'R':
        ms_dmrs_lit(r, "&");
        ms_dmrs_const(r, true);
        break;
    case 'Q':
        ms_dmrs_lit(r, "&mut ");
        ms_dmrs_const(r, true);
        break;
    case 'A':
        ms_dmrs_lit(r, "[");
        ms_dmrs_list(r, ms_dmrs_const_item);
        ms_dmrs_lit(r, "]");
        break;
    case 'T': ms_dmrs_tuple(r, ms_dmrs_const_item); break;
    case 'V': ms_dmrs_const_adt(r); break;
    default: ms_dmrs_fail(r);
    }
    if (!in_value)
        ms_dmrs_lit(r, "}");
}

static void ms_dmrs_const(ms_dmrs *r, bool in_value)
{
    size_t back;
    if (!ms_dmrs_enter(r))
        return;
    char tag = ms_dmrs_next(r);
    switch (tag) {
    case 'p': ms_dmrs_lit(r, "_"); break;
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j': ms_dmrs_const_int(r, tag, false); break;
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i': ms_dmrs_const_int(r, tag, true); break;
    case 'b': ms_dmrs_const_bool(r); break;
    case 'c': ms_dmrs_const_char(r); break;
    case 'B':
        if (ms_dmrs_jump(r, &back)) {
            ms_dmrs_const(r, in_value);
            r->at = back;
        }
        break;
    case 'R':
        if (ms_dmrs_eat(r, 'e')) { /* `&str` literals need neither `&*` nor braces */
            ms_dmrs_const_str(r);
            break;
        }
        ms_dmrs_const_expr(r, tag, in_value);
        break;
    default: ms_dmrs_const_expr(r, tag, in_value);
    }
    ms_dmrs_leave(r);
}

/* ---- types ---- */

/* The ABI's name has `_` where the source has `-`. */
static void ms_dmrs_abi(ms_dmrs *r)
{
    ms_dmrs_lit(r, "extern \"");
    if (ms_dmrs_eat(r, 'C')) {
        ms_dmrs_lit(r, "C");
    } else {
        ms_dmrs_id id = ms_dmrs_ident(r);
        if (id.len == 0 || id.punycode)
            ms_dmrs_fail(r);
        for (size_t i = 0; i < id.len; i++)
            ms_dmrs_put(r, id.ptr[i] == '_' ? "-" : id.ptr + i, 1);
    }
    ms_dmrs_lit(r, "\" ");
}

static void ms_dmrs_fn(ms_dmrs *r)
{
    uint64_t bound = r->bound;
    ms_dmrs_binder(r);
    if (ms_dmrs_eat(r, 'U'))
        ms_dmrs_lit(r, "unsafe ");
    if (ms_dmrs_eat(r, 'K'))
        ms_dmrs_abi(r);
    ms_dmrs_lit(r, "fn(");
    ms_dmrs_list(r, ms_dmrs_type);
    ms_dmrs_lit(r, ")");
    if (!ms_dmrs_eat(r, 'u')) {
        ms_dmrs_lit(r, " -> ");
        ms_dmrs_type(r);
    }
    r->bound = bound;
}

/* A path whose closing `>` is left to the caller, who may add to the arguments; true when it is open. */
static bool ms_dmrs_open_path(ms_dmrs *r)
{
    size_t back;
    bool open = false;
    if (!ms_dmrs_enter(r))
        return false;
    if (ms_dmrs_eat(r, 'B')) {
        if (ms_dmrs_jump(r, &back)) {
            open = ms_dmrs_open_path(r);
            r->at = back;
        }
    } else if (ms_dmrs_eat(r, 'I')) {
        ms_dmrs_path(r, false);
        ms_dmrs_lit(r, "<");
        ms_dmrs_list(r, ms_dmrs_generic_arg);
        open = true;
    } else {
        ms_dmrs_path(r, false);
    }
    ms_dmrs_leave(r);
    return open;
}

/* dyn-trait: associated types and constants go among the generic arguments. */
static void ms_dmrs_dyn_trait(ms_dmrs *r)
{
    bool open = ms_dmrs_open_path(r);
    while (!r->d->failed && ms_dmrs_eat(r, 'p')) {
        ms_dmrs_put(r, open ? ", " : "<", open ? 2 : 1);
        open = true;
        ms_dmrs_put_ident(r, ms_dmrs_ident(r));
        ms_dmrs_lit(r, " = ");
        if (ms_dmrs_eat(r, 'K'))
            ms_dmrs_const(r, false);
        else
            ms_dmrs_type(r);
    }
    if (open)
        ms_dmrs_lit(r, ">");
}

static void ms_dmrs_dyn(ms_dmrs *r)
{
    uint64_t bound = r->bound;
    ms_dmrs_lit(r, "dyn ");
    ms_dmrs_binder(r);
    for (size_t count = 0; !r->d->failed && !ms_dmrs_eat(r, 'E'); count++) {
        if (count > 0)
            ms_dmrs_lit(r, " + ");
        ms_dmrs_dyn_trait(r);
    }
    r->bound = bound;
    if (ms_dmrs_next(r) != 'L') {
        ms_dmrs_fail(r);
        return;
    }
    uint64_t lifetime = ms_dmrs_base62(r);
    if (lifetime != 0) {
        ms_dmrs_lit(r, " + ");
        ms_dmrs_put_lifetime(r, lifetime);
    }
}

/* The right side of a pattern type, `u32 is 1..=9`. */
static void ms_dmrs_pattern(ms_dmrs *r)
{
    if (!ms_dmrs_enter(r))
        return;
    switch (ms_dmrs_next(r)) {
    case 'R':
        ms_dmrs_const(r, false);
        ms_dmrs_lit(r, "..=");
        ms_dmrs_const(r, false);
        break;
    case 'O':
        ms_dmrs_pattern(r);
        while (!r->d->failed && !ms_dmrs_eat(r, 'E')) {
            ms_dmrs_lit(r, " | ");
            ms_dmrs_pattern(r);
        }
        break;
    case 'N': ms_dmrs_lit(r, "!null"); break;
    default: ms_dmrs_fail(r);
    }
    ms_dmrs_leave(r);
}

/* Types that only put something in front of another: a loop, so that they cost no depth. */
static void ms_dmrs_pointers(ms_dmrs *r)
{
    for (;;) {
        char tag = ms_dmrs_peek(r);
        if (tag == 'P') {
            ms_dmrs_lit(r, "*const ");
        } else if (tag == 'O') {
            ms_dmrs_lit(r, "*mut ");
        } else if (tag == 'R' || tag == 'Q') {
            ms_dmrs_lit(r, "&");
        } else {
            return;
        }
        r->at++;
        ms_dmrs_pay(r, 1);
        if (tag != 'R' && tag != 'Q')
            continue;
        uint64_t lifetime = ms_dmrs_eat(r, 'L') ? ms_dmrs_base62(r) : 0;
        if (lifetime != 0) {
            ms_dmrs_put_lifetime(r, lifetime);
            ms_dmrs_lit(r, " ");
        }
        if (tag == 'Q')
            ms_dmrs_lit(r, "mut ");
    }
}

/* A type that has others inside. */
static void ms_dmrs_compound(ms_dmrs *r, char tag)
{
    size_t back;
    if (!ms_dmrs_enter(r))
        return;
    switch (tag) {
    case 'A':
    case 'S':
        ms_dmrs_lit(r, "[");
        ms_dmrs_type(r);
        if (tag == 'A') {
            ms_dmrs_lit(r, "; ");
            ms_dmrs_const(r, true);
        }
        ms_dmrs_lit(r, "]");
        break;
    case 'T': ms_dmrs_tuple(r, ms_dmrs_type); break;
    case 'F': ms_dmrs_fn(r); break;
    case 'D': ms_dmrs_dyn(r); break;
    case 'W':
        ms_dmrs_type(r);
        ms_dmrs_lit(r, " is ");
        ms_dmrs_pattern(r);
        break;
    case 'B':
        if (ms_dmrs_jump(r, &back)) {
            ms_dmrs_type(r);
            r->at = back;
        }
        break;
    default: ms_dmrs_fail(r);
    }
    ms_dmrs_leave(r);
}

static void ms_dmrs_type(ms_dmrs *r)
{
    ms_dmrs_pointers(r);
    char tag = ms_dmrs_peek(r);
    switch (tag) {
    case 'C':
    case 'M':
    case 'X':
    case 'Y':
    case 'N':
    case 'I': ms_dmrs_path(r, false); return;
    case 'A':
    case 'S':
    case 'T':
    case 'F':
    case 'D':
    case 'W':
    case 'B':
        r->at++;
        ms_dmrs_compound(r, tag);
        return;
    default: break;
    }
    machsym_str name = ms_dmrs_basic(tag);
    if (name.len == 0) {
        ms_dmrs_fail(r);
        return;
    }
    r->at++;
    ms_dmrs_put(r, name.ptr, name.len);
}

/* ---- paths ---- */

/* One step of a nested path: small letters are plain names, capitals are closures, shims and such. */
static void ms_dmrs_segment(ms_dmrs *r, char space)
{
    uint64_t number = ms_dmrs_tagged(r, 's');
    ms_dmrs_id id = ms_dmrs_ident(r);
    if (space >= 'a' && space <= 'z') {
        if (id.len > 0) {
            ms_dmrs_lit(r, "::");
            ms_dmrs_put_ident(r, id);
        }
        return;
    }
    ms_dmrs_lit(r, "::{");
    if (space == 'C')
        ms_dmrs_lit(r, "closure");
    else if (space == 'S')
        ms_dmrs_lit(r, "shim");
    else
        ms_dmrs_put(r, &space, 1);
    if (id.len > 0) {
        ms_dmrs_lit(r, ":");
        ms_dmrs_put_ident(r, id);
    }
    ms_dmrs_lit(r, "#");
    ms_dmrs_put_number(r, number, 10);
    ms_dmrs_lit(r, "}");
}

/* crate-root: a number of 0 marks names that are no crates, such as f128. */
static void ms_dmrs_crate(ms_dmrs *r)
{
    uint64_t number = ms_dmrs_tagged(r, 's');
    ms_dmrs_put_ident(r, ms_dmrs_ident(r));
    if (r->hash && number != 0) {
        ms_dmrs_lit(r, "[");
        ms_dmrs_put_number(r, number, 16);
        ms_dmrs_lit(r, "]");
    }
}

/* impl-path says where the impl stands; it is not shown. */
static void ms_dmrs_impl_path(ms_dmrs *r)
{
    bool quiet = r->quiet;
    r->quiet = true;
    ms_dmrs_tagged(r, 's');
    ms_dmrs_path(r, false);
    r->quiet = quiet;
}

/* Everything a nested path may start from. */
static void ms_dmrs_path_root(ms_dmrs *r, bool in_value)
{
    size_t back;
    char tag = ms_dmrs_next(r);
    switch (tag) {
    case 'C': ms_dmrs_crate(r); break;
    case 'M':
    case 'X':
    case 'Y':
        if (tag != 'Y')
            ms_dmrs_impl_path(r);
        ms_dmrs_lit(r, "<");
        ms_dmrs_type(r);
        if (tag != 'M') {
            ms_dmrs_lit(r, " as ");
            ms_dmrs_path(r, false);
        }
        ms_dmrs_lit(r, ">");
        break;
    case 'I':
        ms_dmrs_path(r, in_value);
        if (in_value)
            ms_dmrs_lit(r, "::");
        ms_dmrs_lit(r, "<");
        ms_dmrs_list(r, ms_dmrs_generic_arg);
        ms_dmrs_lit(r, ">");
        break;
    case 'B':
        if (ms_dmrs_jump(r, &back)) {
            ms_dmrs_path(r, in_value);
            r->at = back;
        }
        break;
    default: ms_dmrs_fail(r);
    }
}

/* in_value: generic arguments of a function or constant need `::` in front. */
static void ms_dmrs_path(ms_dmrs *r, bool in_value)
{
    size_t first = r->at, nested = 0;
    if (!ms_dmrs_enter(r))
        return;
    while (ms_dmrs_eat(r, 'N')) { /* the innermost step is written last, so its namespace is the first one */
        char space = ms_dmrs_next(r);
        if (!((space >= 'a' && space <= 'z') || (space >= 'A' && space <= 'Z')))
            ms_dmrs_fail(r);
        nested++;
    }
    ms_dmrs_path_root(r, in_value);
    ms_dmrs_pay(r, nested);
    while (nested > 0 && !r->d->failed) {
        nested--;
        ms_dmrs_segment(r, r->s[first + 2 * nested + 1]);
    }
    ms_dmrs_leave(r);
}

/* ---- whole names ---- */

/* Shows what stands behind the name, but the number that LLVM adds to make a local name unique. */
static bool ms_dmrs_suffix(ms_dm *d, const char *ptr, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (ptr[i] <= ' ' || ptr[i] > '~')
            return false;
    }
    for (size_t i = 0; len >= 6 && i <= len - 6; i++) {
        if (!ms_equal(ptr + i, ".llvm.", 6))
            continue;
        size_t k = i + 6;
        while (k < len &&
               (ptr[k] == '@' || (ptr[k] >= '0' && ptr[k] <= '9') || (ptr[k] >= 'A' && ptr[k] <= 'F')))
            k++;
        len = k == len ? i : len;
        break;
    }
    if (len > 0 && ptr[0] != '.')
        return false;
    ms_dm_put(d, ptr, len);
    return !d->failed;
}

/* True for C names like _RC4_init, which read as a crate root: compilers write that `_` only if they must. */
static bool ms_dmrs_is_plain_c(const ms_dmrs *r)
{
    size_t i = 1;
    if (r->s[0] != 'C')
        return false;
    while (i < r->len && r->s[i] >= '0' && r->s[i] <= '9')
        i++;
    return i + 1 < r->len && r->s[i] == '_' && r->s[i + 1] != '_' &&
           !(r->s[i + 1] >= '0' && r->s[i + 1] <= '9');
}

static bool ms_dmrs_v0(ms_dm *d, size_t prefix)
{
    ms_dmrs r = {d, d->s + prefix, 0, 0, 0, false, (d->flags & MACHSYM_DEMANGLE_RUST_HASH) != 0};
    size_t rest = d->len - prefix;
    while (r.len < rest && ms_dmrs_digit(r.s[r.len]) != 0) /* one check here saves it in every identifier */
        r.len++;
    if (r.len == 0 || (r.len < rest && r.s[r.len] != '.') || ms_dmrs_is_plain_c(&r))
        return false;
    ms_dmrs_path(&r, true);
    if (r.at < r.len) { /* instantiating-crate */
        r.quiet = true;
        ms_dmrs_path(&r, false);
    }
    return !d->failed && r.at == r.len && ms_dmrs_suffix(d, r.s + r.len, rest - r.len);
}

/* ---- the legacy scheme ---- */

/* $u7b$: a code point; UINT32_MAX when it is none. */
static uint32_t ms_dmrs_escape_hex(machsym_str text, size_t *used)
{
    uint32_t code = 0;
    size_t i = 2;
    if (text.len < 4 || text.ptr[1] != 'u')
        return UINT32_MAX;
    for (; i < text.len && i < 9 && text.ptr[i] != '$'; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return UINT32_MAX;
        code = code << 4 | ms_dmrs_nibble(c);
    }
    bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    if (i == 2 || i == text.len || text.ptr[i] != '$' || is_control || !ms_dmrs_is_scalar(code))
        return UINT32_MAX;
    *used = i + 1;
    return code;
}

/* The character of the escape at text[0] == '$' and its length; UINT32_MAX when it is none. */
static uint32_t ms_dmrs_escape(machsym_str text, size_t *used)
{
    static const char v[][4] = {"@SP", "*BP", "&RF", "<LT", ">GT", "(LP", ")RP"};
    if (text.len > 2 && text.ptr[1] == 'C' && text.ptr[2] == '$') {
        *used = 3;
        return ',';
    }
    for (size_t i = 0; text.len > 3 && text.ptr[3] == '$' && i < sizeof v / sizeof v[0]; i++) {
        if (text.ptr[1] == v[i][1] && text.ptr[2] == v[i][2]) {
            *used = 4;
            return (unsigned char)v[i][0];
        }
    }
    return ms_dmrs_escape_hex(text, used);
}

/* Shows one part of a path. Returns the number of escapes in it. */
static size_t ms_dmrs_put_part(ms_dm *d, machsym_str text)
{
    size_t escapes = 0;
    if (text.len >= 2 && text.ptr[0] == '_' && text.ptr[1] == '$') { /* `_` only makes it an identifier */
        text.ptr++;
        text.len--;
    }
    while (text.len > 0) {
        size_t n = 0;
        while (n < text.len && text.ptr[n] != '$' && text.ptr[n] != '.')
            n++;
        if (n > 0) {
            ms_dm_put(d, text.ptr, n);
        } else if (text.ptr[0] == '$') {
            uint32_t code = ms_dmrs_escape(text, &n);
            if (code == UINT32_MAX) { /* an unknown escape ends decoding */
                ms_dm_put(d, text.ptr, text.len);
                return escapes;
            }
            ms_dmrs_put_utf8(d, code);
            escapes++;
        } else {
            n = text.len > 1 && text.ptr[1] == '.' ? 2 : 1;
            ms_dm_put(d, n == 2 ? "::" : ".", n);
        }
        text.ptr += n;
        text.len -= n;
    }
    return escapes;
}

/* Reads `<length> <bytes>`; false when there is none. */
static bool ms_dmrs_part(const ms_dm *d, size_t *at, machsym_str *part)
{
    size_t len = 0, i = *at;
    while (i < d->len && d->s[i] >= '0' && d->s[i] <= '9' && len <= d->len)
        len = len * 10 + (size_t)(d->s[i++] - '0');
    if (i == *at || len > d->len - i)
        return false;
    part->ptr = d->s + i;
    part->len = len;
    *at = i + len;
    return true;
}

/* `h` and hexadecimal digits. */
static bool ms_dmrs_is_hash(machsym_str part)
{
    if (part.len == 0 || part.ptr[0] != 'h')
        return false;
    for (size_t i = 1; i < part.len; i++) {
        char c = part.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return true;
}

/* The compiler's hash has 16 digits and, but for one name in millions, five different ones. */
static bool ms_dmrs_is_full_hash(machsym_str part)
{
    unsigned seen = 0, count = 0;
    if (part.len != 17 || !ms_dmrs_is_hash(part))
        return false;
    for (size_t i = 1; i < part.len; i++)
        seen |= 1u << ms_dmrs_nibble(part.ptr[i]);
    for (; seen != 0; seen &= seen - 1)
        count++;
    return count >= 5;
}

static bool ms_dmrs_has_dollar(const ms_dm *d, size_t lo, size_t hi)
{
    while (lo < hi && d->s[lo] != '$')
        lo++;
    return lo < hi;
}

static bool ms_dmrs_legacy(ms_dm *d, size_t prefix)
{
    machsym_str part = {NULL, 0};
    size_t end = prefix, count = 0, escapes = 0;
    while (ms_dmrs_part(d, &end, &part))
        count++;
    if (count == 0 || end == d->len || d->s[end] != 'E' || (end + 1 < d->len && d->s[end + 1] != '.'))
        return false;
    bool sure = count > 1 && ms_dmrs_is_full_hash(part);
    if (!sure && !ms_dmrs_has_dollar(d, prefix, end))
        return false;
    if (ms_dmrs_is_hash(part) && (d->flags & MACHSYM_DEMANGLE_RUST_HASH) == 0)
        count--;
    for (size_t i = 0, at = prefix; i < count && ms_dmrs_part(d, &at, &part); i++) {
        if (i > 0)
            ms_dm_put(d, "::", 2);
        escapes += ms_dmrs_put_part(d, part);
    }
    return (sure || escapes > 0) && !d->failed && ms_dmrs_suffix(d, d->s + end + 1, d->len - end - 1);
}

/* The entry: `_ZN`, `_R` and the forms with one underscore less (Windows) or more (Mach-O). */
static bool ms_dm_rust(ms_dm *d)
{
    size_t at = 0;
    while (at < 2 && at < d->len && d->s[at] == '_')
        at++;
    if (d->len - at < 3)
        return false;
    if (d->s[at] == 'Z' && d->s[at + 1] == 'N')
        return ms_dmrs_legacy(d, at + 2);
    /* without any underscore a lone crate root would match C names such as RC2xy */
    return d->s[at] == 'R' && (at > 0 || d->s[1] != 'C') && ms_dmrs_v0(d, at + 1);
}

#endif /* MACHSYM_NO_RUST */

#ifndef MACHSYM_NO_CXX
/* ---- C++: the Itanium ABI's names ----
 * Grammar: Itanium C++ ABI, 5.1. The name becomes a tree of 16-byte nodes in the scratch and is printed from
 * it; a tree is needed because substitutions repeat parts, and because declarators print around their names.
 * Where the ABI leaves the spelling open, llvm-cxxfilt's is used, as Apple's tools do. */

/* Real names nest less than 50 deep, and need less than 50 nodes open to print. These keep the stack below
 * 128 KB. Substitutions make what is printed nest deeper than what is read. */
enum ms_dmcx_limits { ms_DMCX_MAX_DEPTH = 224, ms_DMCX_MAX_PRINT_DEPTH = 448, ms_DMCX_MAX_NAME = 1 << 24 };

#define ms_DMCX_UNSET UINT32_MAX

/* One entry of a list; also a list's head (item = first cell, next = last cell). References count cells. */
typedef struct ms_dmcx_cell {
    uint32_t item; /* a node, or 0 */
    uint32_t next; /* a cell, or 0 at the end */
} ms_dmcx_cell;

/* A part of the name; what a, b, c, x and y hold is told at its kind. */
typedef struct ms_dmcx_node {
    uint8_t kind;
    uint8_t flags; /* ms_dmcx_flag */
    uint8_t x;
    uint8_t y;
    uint32_t a, b, c; /* nodes (0 = none), first cells of lists, or offset and length in the mangled name */
} ms_dmcx_node;

/* Part of the mangled name. */
typedef struct ms_dmcx_span {
    uint32_t off;
    uint32_t len;
} ms_dmcx_span;

typedef struct ms_dmcx {
    ms_dm *d;
    const char *s;
    uint32_t at;
    uint32_t len;

    ms_dmcx_cell *cells; /* nodes (two cells each) and cells grow up from here */
    uint32_t used;       /* cells taken */
    uint32_t limit;      /* cells that may be taken; shrinks as substitutions grow down */
    uint32_t *subs_end;  /* substitution i is subs_end[-1 - i] */
    uint32_t sub_count;

    uint32_t levels;      /* innermost template parameter level: item = its list's head, next = outer one */
    uint32_t level_count; /* how many levels */
    uint32_t auto_level;  /* in the parameters of a lambda: the level of its `auto`s, else ms_DMCX_UNSET */
    uint32_t invented[3]; /* how many names of each kind were invented for template parameters */
    uint32_t forward;     /* last conversion operator parameter that still waits for its argument */
    bool try_args;        /* <template-args> may follow a parameter or a substitution */
    bool permit_forward;  /* parameters may refer to arguments that follow (type of a conversion operator) */
    bool constraint;      /* inside a requires-clause: levels are not known, parameters print as mangled */

    uint32_t pack_index; /* printing: which element of the packs of this expansion */
    uint32_t pack_count; /* printing: ms_DMCX_UNSET until the first pack is met */
    uint32_t brackets;   /* printing: brackets open in template arguments; in 0 a > needs its own */
    bool in_args;        /* printing: inside template arguments */
    uint32_t depth;      /* printing: nodes open */
    char last;           /* printing: last byte put */
} ms_dmcx;

/* What a name's reader tells the encoding around it. */
typedef struct ms_dmcx_name_state {
    uint32_t forward;     /* forward references below this one belong to the encoding outside */
    bool special;         /* constructor, destructor or conversion: no return type */
    bool ends_with_args;  /* a template: the return type is mangled */
    bool explicit_object; /* the first parameter is `this` */
    uint8_t quals;        /* of the member function */
    uint8_t ref;          /* 1 `&`, 2 `&&` */
} ms_dmcx_name_state;

/* ---- C++: tables ---- */

/* Fixed text: name and spelling. References below ms_DMCX_W_COUNT are these words and need no node. */
/* clang-format off */
#define ms_DMCX_WORDS(W)                                                                                     \
    W(NONE, "") W(VOID, "void") W(WCHAR, "wchar_t") W(BOOL, "bool") W(CHAR, "char") W(SCHAR, "signed char")  \
    W(UCHAR, "unsigned char") W(SHORT, "short") W(USHORT, "unsigned short") W(INT, "int")                    \
    W(UINT, "unsigned int") W(LONG, "long") W(ULONG, "unsigned long") W(LLONG, "long long")                  \
    W(ULLONG, "unsigned long long") W(INT128, "__int128") W(UINT128, "unsigned __int128") W(FLOAT, "float")  \
    W(DOUBLE, "double") W(LDOUBLE, "long double") W(FLOAT128, "__float128") W(ELLIPSIS, "...")               \
    W(DEC64, "decimal64") W(DEC128, "decimal128") W(DEC32, "decimal32") W(HALF, "half")                      \
    W(BFLOAT16, "std::bfloat16_t") W(CHAR32, "char32_t") W(CHAR16, "char16_t") W(CHAR8, "char8_t")           \
    W(AUTO, "auto") W(DECLTYPE_AUTO, "decltype(auto)") W(NULLPTR_T, "std::nullptr_t") W(NULLPTR, "nullptr")  \
    W(STD, "std") W(ANONYMOUS, "(anonymous namespace)") W(STRING_LITERAL, "string literal") W(THIS, "this")  \
    W(BLOCK, "'block-literal'") W(NOEXCEPT, "noexcept") W(THROW, "throw") W(TRUE, "true") W(FALSE, "false")  \
    W(SUFFIX_U, "u") W(SUFFIX_L, "l") W(SUFFIX_UL, "ul") W(SUFFIX_LL, "ll") W(SUFFIX_ULL, "ull")             \
    W(COMPLEX, " complex") W(IMAGINARY, " imaginary") W(K_AUTO, " auto")                                     \
    W(K_DECLTYPE_AUTO, " decltype(auto)") W(ACCUM_S, "short _Accum") W(ACCUM_T, "unsigned short _Accum")     \
    W(ACCUM_I, "_Accum") W(ACCUM_J, "unsigned _Accum") W(ACCUM_L, "long _Accum")                             \
    W(ACCUM_M, "unsigned long _Accum") W(FRACT_S, "short _Fract") W(FRACT_T, "unsigned short _Fract")        \
    W(FRACT_I, "_Fract") W(FRACT_J, "unsigned _Fract") W(FRACT_L, "long _Fract")                             \
    W(FRACT_M, "unsigned long _Fract") W(SAT_ACCUM_S, "_Sat short _Accum")                                   \
    W(SAT_ACCUM_T, "_Sat unsigned short _Accum") W(SAT_ACCUM_I, "_Sat _Accum")                               \
    W(SAT_ACCUM_J, "_Sat unsigned _Accum") W(SAT_ACCUM_L, "_Sat long _Accum")                                \
    W(SAT_ACCUM_M, "_Sat unsigned long _Accum") W(SAT_FRACT_S, "_Sat short _Fract")                          \
    W(SAT_FRACT_T, "_Sat unsigned short _Fract") W(SAT_FRACT_I, "_Sat _Fract")                               \
    W(SAT_FRACT_J, "_Sat unsigned _Fract") W(SAT_FRACT_L, "_Sat long _Fract")                                \
    W(SAT_FRACT_M, "_Sat unsigned long _Fract") W(STRUCT, "struct ") W(UNION, "union ") W(ENUM, "enum ")     \
    W(DECLTYPE_OF, "decltype") W(NOEXCEPT_OF, "noexcept ") W(SIZEOF_PACK, "sizeof... ")                      \
    W(VTABLE, "vtable for ") W(VTT, "VTT for ") W(TYPEINFO, "typeinfo for ")                                 \
    W(TYPEINFO_NAME, "typeinfo name for ") W(COVARIANT, "covariant return thunk to ")                        \
    W(TLS_WRAPPER, "thread-local wrapper routine for ")                                                      \
    W(TLS_INIT, "thread-local initialization routine for ")                                                  \
    W(PARAM_OBJECT, "template parameter object for ") W(VIRTUAL_THUNK, "virtual thunk to ")                  \
    W(THUNK, "non-virtual thunk to ") W(GUARD, "guard variable for ")                                        \
    W(REF_TEMP, "reference temporary for ") W(MODULE_INIT, "initializer for module ")                        \
    W(BLOCK_INVOKE, "invocation function for block in ") W(ALLOCATOR, "std::allocator")                      \
    W(BASIC_STRING, "std::basic_string") W(STRING, "std::string") W(ISTREAM, "std::istream")                 \
    W(OSTREAM, "std::ostream") W(IOSTREAM, "std::iostream")                                                  \
    W(FULL_STRING, "std::basic_string<char, std::char_traits<char>, std::allocator<char>>")                  \
    W(FULL_ISTREAM, "std::basic_istream<char, std::char_traits<char>>")                                      \
    W(FULL_OSTREAM, "std::basic_ostream<char, std::char_traits<char>>")                                      \
    W(FULL_IOSTREAM, "std::basic_iostream<char, std::char_traits<char>>")
/* clang-format on */

#define ms_DMCX_WORD_NAME(name, text) ms_DMCX_W_##name,
#define ms_DMCX_WORD_TEXT(name, text) {text, sizeof(text) - 1},
enum ms_dmcx_word { ms_DMCX_WORDS(ms_DMCX_WORD_NAME) ms_DMCX_W_COUNT };

typedef struct ms_dmcx_text {
    const char *ptr;
    size_t len;
} ms_dmcx_text;

static const ms_dmcx_text ms_dmcx_words[] = {ms_DMCX_WORDS(ms_DMCX_WORD_TEXT)};
#undef ms_DMCX_WORDS
#undef ms_DMCX_WORD_NAME
#undef ms_DMCX_WORD_TEXT

/* ABI 5.1.5, <builtin-type> of one letter; 0 = not one. */
/* clang-format off */
static const uint8_t ms_dmcx_builtins[26] = {
    ms_DMCX_W_SCHAR, ms_DMCX_W_BOOL,    ms_DMCX_W_CHAR,   ms_DMCX_W_DOUBLE,   ms_DMCX_W_LDOUBLE,
    ms_DMCX_W_FLOAT, ms_DMCX_W_FLOAT128, ms_DMCX_W_UCHAR, ms_DMCX_W_INT,      ms_DMCX_W_UINT,
    0,               ms_DMCX_W_LONG,    ms_DMCX_W_ULONG,  ms_DMCX_W_INT128,   ms_DMCX_W_UINT128,
    0,               0,                 0,                ms_DMCX_W_SHORT,    ms_DMCX_W_USHORT,
    0,               ms_DMCX_W_VOID,    ms_DMCX_W_WCHAR,  ms_DMCX_W_LLONG,    ms_DMCX_W_ULLONG,
    ms_DMCX_W_ELLIPSIS};
/* clang-format on */

/* Binding strength of expressions, strongest first (the C++ standard's grammar, [expr]). */
enum ms_dmcx_prec {
    ms_DMCX_PRIMARY,
    ms_DMCX_POSTFIX,
    ms_DMCX_UNARY,
    ms_DMCX_CAST,
    ms_DMCX_PTRMEM,
    ms_DMCX_MUL,
    ms_DMCX_ADD,
    ms_DMCX_SHIFT,
    ms_DMCX_SPACESHIP,
    ms_DMCX_RELATIONAL,
    ms_DMCX_EQUALITY,
    ms_DMCX_AND,
    ms_DMCX_XOR,
    ms_DMCX_IOR,
    ms_DMCX_ANDIF,
    ms_DMCX_ORIF,
    ms_DMCX_CONDITIONAL,
    ms_DMCX_ASSIGN,
    ms_DMCX_COMMA,
    ms_DMCX_ANY
};

/* How an operator's operands are mangled. Those after NAME_ONLY cannot name a function. */
enum ms_dmcx_op_kind {
    ms_DMCX_OP_PREFIX,
    ms_DMCX_OP_POSTFIX,
    ms_DMCX_OP_BINARY,
    ms_DMCX_OP_SUBSCRIPT,
    ms_DMCX_OP_ARROW, /* ->, ->*: nameable member access */
    ms_DMCX_OP_NEW,
    ms_DMCX_OP_NEW_ARRAY,
    ms_DMCX_OP_DELETE,
    ms_DMCX_OP_DELETE_ARRAY,
    ms_DMCX_OP_CALL,
    ms_DMCX_OP_PAREN_CALL, /* of a parenthesised name */
    ms_DMCX_OP_CONVERT,
    ms_DMCX_OP_CONDITIONAL,
    ms_DMCX_OP_NAME_ONLY,
    ms_DMCX_OP_DOT, /* ., .* */
    ms_DMCX_OP_NAMED_CAST,
    ms_DMCX_OP_OF_TYPE,
    ms_DMCX_OP_OF_EXPR
};

typedef struct ms_dmcx_op {
    char code[2];
    uint8_t kind;
    uint8_t prec;
    const char *symbol;
    size_t len;
} ms_dmcx_op;

/* ABI 5.1.3, <operator-name>, and the operator-like forms of <expression>, sorted by code. */
#define ms_DMCX_OP(c0, c1, kind, prec, symbol)                                                               \
    {                                                                                                        \
        {c0, c1}, ms_DMCX_OP_##kind, ms_DMCX_##prec, symbol, sizeof(symbol) - 1                              \
    }
static const ms_dmcx_op ms_dmcx_ops[] = {
    ms_DMCX_OP('a', 'N', BINARY, ASSIGN, "&="),
    ms_DMCX_OP('a', 'S', BINARY, ASSIGN, "="),
    ms_DMCX_OP('a', 'a', BINARY, ANDIF, "&&"),
    ms_DMCX_OP('a', 'd', PREFIX, UNARY, "&"),
    ms_DMCX_OP('a', 'n', BINARY, AND, "&"),
    ms_DMCX_OP('a', 't', OF_TYPE, UNARY, "alignof "),
    ms_DMCX_OP('a', 'w', NAME_ONLY, PRIMARY, "co_await"),
    ms_DMCX_OP('a', 'z', OF_EXPR, UNARY, "alignof "),
    ms_DMCX_OP('c', 'c', NAMED_CAST, POSTFIX, "const_cast"),
    ms_DMCX_OP('c', 'l', CALL, POSTFIX, "()"),
    ms_DMCX_OP('c', 'm', BINARY, COMMA, ","),
    ms_DMCX_OP('c', 'o', PREFIX, UNARY, "~"),
    ms_DMCX_OP('c', 'p', PAREN_CALL, POSTFIX, "()"),
    ms_DMCX_OP('c', 'v', CONVERT, CAST, ""),
    ms_DMCX_OP('d', 'V', BINARY, ASSIGN, "/="),
    ms_DMCX_OP('d', 'a', DELETE_ARRAY, UNARY, "delete[]"),
    ms_DMCX_OP('d', 'c', NAMED_CAST, POSTFIX, "dynamic_cast"),
    ms_DMCX_OP('d', 'e', PREFIX, UNARY, "*"),
    ms_DMCX_OP('d', 'l', DELETE, UNARY, "delete"),
    ms_DMCX_OP('d', 's', DOT, PTRMEM, ".*"),
    ms_DMCX_OP('d', 't', DOT, POSTFIX, "."),
    ms_DMCX_OP('d', 'v', BINARY, ASSIGN, "/"), /* looks wrong, but so llvm-cxxfilt sets its parentheses */
    ms_DMCX_OP('e', 'O', BINARY, ASSIGN, "^="),
    ms_DMCX_OP('e', 'o', BINARY, XOR, "^"),
    ms_DMCX_OP('e', 'q', BINARY, EQUALITY, "=="),
    ms_DMCX_OP('g', 'e', BINARY, RELATIONAL, ">="),
    ms_DMCX_OP('g', 't', BINARY, RELATIONAL, ">"),
    ms_DMCX_OP('i', 'x', SUBSCRIPT, POSTFIX, "[]"),
    ms_DMCX_OP('l', 'S', BINARY, ASSIGN, "<<="),
    ms_DMCX_OP('l', 'e', BINARY, RELATIONAL, "<="),
    ms_DMCX_OP('l', 's', BINARY, SHIFT, "<<"),
    ms_DMCX_OP('l', 't', BINARY, RELATIONAL, "<"),
    ms_DMCX_OP('m', 'I', BINARY, ASSIGN, "-="),
    ms_DMCX_OP('m', 'L', BINARY, ASSIGN, "*="),
    ms_DMCX_OP('m', 'i', BINARY, ADD, "-"),
    ms_DMCX_OP('m', 'l', BINARY, MUL, "*"),
    ms_DMCX_OP('m', 'm', POSTFIX, POSTFIX, "--"),
    ms_DMCX_OP('n', 'a', NEW_ARRAY, UNARY, "new[]"),
    ms_DMCX_OP('n', 'e', BINARY, EQUALITY, "!="),
    ms_DMCX_OP('n', 'g', PREFIX, UNARY, "-"),
    ms_DMCX_OP('n', 't', PREFIX, UNARY, "!"),
    ms_DMCX_OP('n', 'w', NEW, UNARY, "new"),
    ms_DMCX_OP('o', 'R', BINARY, ASSIGN, "|="),
    ms_DMCX_OP('o', 'o', BINARY, ORIF, "||"),
    ms_DMCX_OP('o', 'r', BINARY, IOR, "|"),
    ms_DMCX_OP('p', 'L', BINARY, ASSIGN, "+="),
    ms_DMCX_OP('p', 'l', BINARY, ADD, "+"),
    ms_DMCX_OP('p', 'm', ARROW, PTRMEM, "->*"),
    ms_DMCX_OP('p', 'p', POSTFIX, POSTFIX, "++"),
    ms_DMCX_OP('p', 's', PREFIX, UNARY, "+"),
    ms_DMCX_OP('p', 't', ARROW, POSTFIX, "->"),
    ms_DMCX_OP('q', 'u', CONDITIONAL, CONDITIONAL, "?"),
    ms_DMCX_OP('r', 'M', BINARY, ASSIGN, "%="),
    ms_DMCX_OP('r', 'S', BINARY, ASSIGN, ">>="),
    ms_DMCX_OP('r', 'c', NAMED_CAST, POSTFIX, "reinterpret_cast"),
    ms_DMCX_OP('r', 'm', BINARY, MUL, "%"),
    ms_DMCX_OP('r', 's', BINARY, SHIFT, ">>"),
    ms_DMCX_OP('s', 'c', NAMED_CAST, POSTFIX, "static_cast"),
    ms_DMCX_OP('s', 's', BINARY, SPACESHIP, "<=>"),
    ms_DMCX_OP('s', 't', OF_TYPE, UNARY, "sizeof "),
    ms_DMCX_OP('s', 'z', OF_EXPR, UNARY, "sizeof "),
    ms_DMCX_OP('t', 'e', OF_EXPR, POSTFIX, "typeid "),
    ms_DMCX_OP('t', 'i', OF_TYPE, POSTFIX, "typeid "),
};
#undef ms_DMCX_OP
enum ms_dmcx_op_count { ms_DMCX_OP_COUNT = sizeof(ms_dmcx_ops) / sizeof(ms_dmcx_ops[0]) };

/* ---- C++: nodes ---- */

enum ms_dmcx_kind {
    ms_DMCX_WORD, /* a word; never stored */
    /* Names */
    ms_DMCX_TEXT,          /* a, b: span */
    ms_DMCX_NESTED,        /* a::b */
    ms_DMCX_FRIEND,        /* a::friend b */
    ms_DMCX_LOCAL,         /* encoding a :: entity b */
    ms_DMCX_QUALIFIED,     /* a::b of an unresolved name */
    ms_DMCX_GLOBAL,        /* ::a */
    ms_DMCX_TEMPLATE,      /* a<list b> */
    ms_DMCX_ABI_TAG,       /* a[abi:b] */
    ms_DMCX_MODULE,        /* parent a, name b, x = partition */
    ms_DMCX_IN_MODULE,     /* name b at module a */
    ms_DMCX_CTOR,          /* of a */
    ms_DMCX_DTOR,          /* of a */
    ms_DMCX_DTOR_NAME,     /* ~a */
    ms_DMCX_OPERATOR,      /* x = index in the table */
    ms_DMCX_LITERAL_OP,    /* operator"" a */
    ms_DMCX_CONVERSION,    /* operator a */
    ms_DMCX_UNNAMED,       /* span a, b: count */
    ms_DMCX_CLOSURE,       /* lists of template parameters a and of parameters b, tail c */
    ms_DMCX_CLOSURE_TAIL,  /* constraints a and b, count c */
    ms_DMCX_BINDING,       /* [list a] */
    ms_DMCX_SPECIAL,       /* x = word; a */
    ms_DMCX_CTOR_VTABLE,   /* a in b */
    ms_DMCX_DOT_SUFFIX,    /* a (b) */
    ms_DMCX_ENCODING,      /* return type a, name b, tail c; x = qualifiers, y = reference */
    ms_DMCX_ENCODING_TAIL, /* list of parameters a, enable_if conditions b (x = has them), constraint c */
    ms_DMCX_THIS_PARAM,    /* this a */
    /* Types */
    ms_DMCX_QUAL,        /* a; x = qualifiers */
    ms_DMCX_VENDOR_QUAL, /* a, name (perhaps with arguments) b */
    ms_DMCX_OBJC_PROTO,  /* a<b> */
    ms_DMCX_POINTER,
    ms_DMCX_REFERENCE,        /* a; x = 1 &, 2 &&; y = being printed */
    ms_DMCX_MEMBER_PTR,       /* class a, member type b */
    ms_DMCX_ARRAY,            /* of a, dimension b */
    ms_DMCX_FUNCTION,         /* return type a, parameters b, exceptions c; x = qualifiers, y = reference */
    ms_DMCX_NOEXCEPT_IF,      /* noexcept(a) */
    ms_DMCX_THROW_LIST,       /* throw(list a) */
    ms_DMCX_VECTOR,           /* of a, dimension b */
    ms_DMCX_PIXEL,            /* dimension a */
    ms_DMCX_AFTER,            /* a, then word x */
    ms_DMCX_ELABORATED,       /* word x, then a */
    ms_DMCX_FLOAT_N,          /* span a, b */
    ms_DMCX_BIT_INT,          /* a = width; x = unsigned */
    ms_DMCX_TRANSFORM,        /* a(b) */
    ms_DMCX_EXPANSION,        /* a... */
    ms_DMCX_PACK,             /* a parameter that stands for b elements, in the cells from a */
    ms_DMCX_ARG_PACK,         /* the list a as an argument; c = its PACK once asked for */
    ms_DMCX_FORWARD,          /* parameter a, waits before it b, its argument c; y = being printed */
    ms_DMCX_SYNTHETIC,        /* an invented parameter name: x = 0 T, 1 N, 2 TT; a = number */
    ms_DMCX_DECL_TYPE,        /* typename a */
    ms_DMCX_DECL_CONSTRAINED, /* constraint b, name a */
    ms_DMCX_DECL_VALUE,       /* type b, name a */
    ms_DMCX_DECL_TEMPLATE,    /* template<list b> typename a requires c */
    ms_DMCX_DECL_PACK,        /* a... */
    ms_DMCX_QUALIFIED_ARG,    /* argument a, whose parameter's declaration is not printed */
    /* Expressions; x = index in the operator table where there is one */
    ms_DMCX_PREFIX,
    ms_DMCX_POSTFIX_OP,
    ms_DMCX_BINARY,
    ms_DMCX_SUBSCRIPT,
    ms_DMCX_MEMBER,
    ms_DMCX_NEW,        /* placement list a, type b, initialisers c; y = global */
    ms_DMCX_DELETE,     /* a; y = global */
    ms_DMCX_CALL,       /* a(list b) */
    ms_DMCX_CONVERT,    /* (a)(list b) */
    ms_DMCX_CHOICE,     /* a ? b : c */
    ms_DMCX_NAMED_CAST, /* x<a>(b) */
    ms_DMCX_OF,         /* operator x (a) */
    ms_DMCX_ENCLOSED,   /* word x (a) */
    ms_DMCX_SIZEOF_PARAM_PACK,
    ms_DMCX_SIZEOF_ARGS, /* list a */
    ms_DMCX_FOLD,        /* pack a, start b; y = left */
    ms_DMCX_INIT_LIST,   /* a{list b} */
    ms_DMCX_FIELD_INIT,  /* field a, value b */
    ms_DMCX_INDEX_INIT,  /* [a], value b */
    ms_DMCX_RANGE_INIT,  /* [a ... b], value c */
    ms_DMCX_THROW,
    ms_DMCX_FUNCTION_PARAM, /* fp and span a, b */
    ms_DMCX_INTEGER,        /* span a, b; word x */
    ms_DMCX_ENUM_VALUE,     /* (a) span b, c */
    ms_DMCX_FLOATING,       /* span a, b */
    ms_DMCX_STRING_OF,      /* type a */
    ms_DMCX_LAMBDA,         /* closure a */
    ms_DMCX_SUBOBJECT,      /* type a of b at offset c */
    ms_DMCX_MEMBER_CONVERT, /* (a)(b) */
    ms_DMCX_REQUIRES,       /* parameters a, requirements b */
    ms_DMCX_REQUIRE_EXPR,   /* a, noexcept x, type constraint b */
    ms_DMCX_REQUIRE_TYPE,   /* typename a */
    ms_DMCX_REQUIRE_NESTED  /* requires a */
};

/* A declarator's shape. The upper bits say "not known before printing", for packs and forward references. */
enum ms_dmcx_flag {
    ms_DMCX_RIGHT = 1, /* has a part behind the name */
    ms_DMCX_IS_ARRAY = 2,
    ms_DMCX_IS_FUNCTION = 4,
    ms_DMCX_SHAPE = 7,
    ms_DMCX_ASK = 8, /* shape bit times this: ask when printing */
    ms_DMCX_ASK_ALL = 56
};

static ms_dmcx_node *ms_dmcx_at(const ms_dmcx *p, uint32_t ref)
{
    return (ms_dmcx_node *)(void *)&p->cells[ref];
}

static uint32_t ms_dmcx_kind_of(const ms_dmcx *p, uint32_t ref)
{
    return ref < ms_DMCX_W_COUNT ? (uint32_t)ms_DMCX_WORD : ms_dmcx_at(p, ref)->kind;
}

static uint32_t ms_dmcx_flags_of(const ms_dmcx *p, uint32_t ref)
{
    return ref < ms_DMCX_W_COUNT ? 0u : ms_dmcx_at(p, ref)->flags;
}

/* Ends the work on this name. Returns 0, the reference that means failure. */
static uint32_t ms_dmcx_fail(ms_dmcx *p)
{
    p->d->failed = true;
    return 0;
}

/* Takes count cells; 0 when the scratch is used up. It is a budget of its own, so this costs no work. */
static uint32_t ms_dmcx_take(ms_dmcx *p, uint32_t count)
{
    uint32_t ref = p->used;
    if (count > p->limit - ref) {
        p->d->no_mem = true;
        return ms_dmcx_fail(p);
    }
    p->used = ref + count;
    return ref;
}

/* Makes a node; its flags are those of a plain name. */
static uint32_t ms_dmcx_make(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t ref = ms_dmcx_take(p, 2);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    n->kind = (uint8_t)kind;
    n->flags = 0;
    n->x = 0;
    n->y = 0;
    n->a = a;
    n->b = b;
    n->c = c;
    return ref;
}

/* As ms_dmcx_make, but 0 when the part it needs could not be read. */
static uint32_t ms_dmcx_make_of(ms_dmcx *p, uint32_t kind, uint32_t a)
{
    return a == 0 ? 0 : ms_dmcx_make(p, kind, a, 0, 0);
}

static uint32_t ms_dmcx_make_two(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t b)
{
    return a == 0 || b == 0 ? 0 : ms_dmcx_make(p, kind, a, b, 0);
}

static uint32_t ms_dmcx_make_x(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t x)
{
    uint32_t ref = ms_dmcx_make_of(p, kind, a);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)x;
    return ref;
}

static uint32_t ms_dmcx_make_flagged(ms_dmcx *p, uint32_t kind, uint32_t a, uint32_t b, uint32_t flags)
{
    uint32_t ref = ms_dmcx_make(p, kind, a, b, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->flags = (uint8_t)flags;
    return ref;
}

static uint32_t ms_dmcx_make_text(ms_dmcx *p, ms_dmcx_span t)
{
    return t.len == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_TEXT, t.off, t.len, 0);
}

/* The flags of a pointer to it, and the like: only the part behind the name shines through. */
static uint32_t ms_dmcx_right_flags(const ms_dmcx *p, uint32_t ref)
{
    return ms_dmcx_flags_of(p, ref) & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK);
}

static bool ms_dmcx_append(ms_dmcx *p, ms_dmcx_cell *head, uint32_t item)
{
    if (item == 0)
        return false;
    uint32_t ref = ms_dmcx_take(p, 1);
    if (ref == 0)
        return false;
    p->cells[ref].item = item;
    p->cells[ref].next = 0;
    if (head->item == 0)
        head->item = ref;
    else
        p->cells[head->next].next = ref;
    head->next = ref;
    return true;
}

static ms_dmcx_cell ms_dmcx_empty(void)
{
    ms_dmcx_cell head;
    head.item = 0;
    head.next = 0;
    return head;
}

/* Adds a substitution candidate (ABI 5.1.10). Returns ref, or 0. */
static uint32_t ms_dmcx_add_sub(ms_dmcx *p, uint32_t ref)
{
    if (ref == 0)
        return 0;
    if ((p->sub_count & 1u) == 0) {
        if (p->limit == p->used) {
            p->d->no_mem = true;
            return ms_dmcx_fail(p);
        }
        p->limit--;
    }
    p->sub_count++;
    p->subs_end[-(ptrdiff_t)p->sub_count] = ref;
    return ref;
}

/* ---- C++: reading ---- */

static char ms_dmcx_peek(const ms_dmcx *p, uint32_t ahead)
{
    return ahead < p->len - p->at ? p->s[p->at + ahead] : '\0';
}

static bool ms_dmcx_eat(ms_dmcx *p, char c)
{
    if (p->at == p->len || p->s[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool ms_dmcx_eat2(ms_dmcx *p, char c0, char c1)
{
    if (p->len - p->at < 2 || p->s[p->at] != c0 || p->s[p->at + 1] != c1)
        return false;
    p->at += 2;
    return true;
}

static bool ms_dmcx_starts(const ms_dmcx *p, uint32_t off, const char *text, uint32_t len)
{
    return len <= p->len - off && ms_equal(p->s + off, text, len);
}

static bool ms_dmcx_eat_text(ms_dmcx *p, const char *text, uint32_t len)
{
    if (!ms_dmcx_starts(p, p->at, text, len))
        return false;
    p->at += len;
    return true;
}

static bool ms_dmcx_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* <number>; its length is 0 when there is none. A lone n is read all the same: llvm-cxxfilt does so. */
static ms_dmcx_span ms_dmcx_number(ms_dmcx *p, bool may_be_negative)
{
    ms_dmcx_span t;
    t.off = p->at;
    t.len = 0;
    uint32_t at = p->at;
    if (may_be_negative && ms_dmcx_peek(p, 0) == 'n')
        at++;
    uint32_t digits = at;
    while (at < p->len && ms_dmcx_is_digit(p->s[at]))
        at++;
    p->at = at;
    t.len = at == digits ? 0 : at - t.off;
    return t;
}

/* A decimal number that fits a name's length. */
static bool ms_dmcx_count(ms_dmcx *p, uint32_t *out)
{
    uint32_t value = 0;
    uint32_t at = p->at;
    while (at < p->len && ms_dmcx_is_digit(p->s[at])) {
        value = value * 10u + (uint32_t)(p->s[at] - '0');
        if (value > ms_DMCX_MAX_NAME)
            return false;
        at++;
    }
    bool any = at != p->at;
    p->at = at;
    *out = value;
    return any;
}

/* <seq-id>: base 36. */
static bool ms_dmcx_seq_id(ms_dmcx *p, uint32_t *out)
{
    uint32_t value = 0;
    uint32_t start = p->at;
    for (; p->at < p->len; p->at++) {
        char c = p->s[p->at];
        if (ms_dmcx_is_digit(c))
            value = value * 36u + (uint32_t)(c - '0');
        else if (c >= 'A' && c <= 'Z')
            value = value * 36u + (uint32_t)(c - 'A') + 10u;
        else
            break;
        if (value > ms_DMCX_MAX_NAME)
            value = ms_DMCX_MAX_NAME; /* more than there can be candidates */
    }
    *out = value;
    return p->at != start;
}

/* <source-name>'s text; its length is 0 when there is none. */
static ms_dmcx_span ms_dmcx_source_text(ms_dmcx *p)
{
    ms_dmcx_span t;
    t.off = 0;
    t.len = 0;
    uint32_t len;
    if (!ms_dmcx_count(p, &len) || len > p->len - p->at)
        return t;
    t.off = p->at;
    t.len = len;
    p->at += len;
    return t;
}

static uint32_t ms_dmcx_source_name(ms_dmcx *p)
{
    ms_dmcx_span t = ms_dmcx_source_text(p);
    if (t.len >= 10 && ms_dmcx_starts(p, t.off, "_GLOBAL__N", 10))
        return ms_DMCX_W_ANONYMOUS;
    return ms_dmcx_make_text(p, t);
}

static bool ms_dmcx_is_text(const ms_dmcx *p, uint32_t ref, const char *text, uint32_t len)
{
    if (ms_dmcx_kind_of(p, ref) != ms_DMCX_TEXT)
        return false;
    const ms_dmcx_node *n = ms_dmcx_at(p, ref);
    return n->b == len && ms_equal(p->s + n->a, text, len);
}

/* <CV-qualifiers>: 1 const, 2 volatile, 4 restrict. */
static uint32_t ms_dmcx_quals(ms_dmcx *p)
{
    uint32_t quals = 0;
    if (ms_dmcx_eat(p, 'r'))
        quals |= 4u;
    if (ms_dmcx_eat(p, 'V'))
        quals |= 2u;
    if (ms_dmcx_eat(p, 'K'))
        quals |= 1u;
    return quals;
}

/* The operator at the reading position, which moves behind it; NULL when there is none. */
static const ms_dmcx_op *ms_dmcx_operator(ms_dmcx *p)
{
    if (p->len - p->at < 2)
        return NULL;
    char c0 = p->s[p->at];
    char c1 = p->s[p->at + 1];
    uint32_t lo = 0;
    uint32_t hi = ms_DMCX_OP_COUNT;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const ms_dmcx_op *op = &ms_dmcx_ops[mid];
        if (op->code[0] < c0 || (op->code[0] == c0 && op->code[1] < c1))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == ms_DMCX_OP_COUNT || ms_dmcx_ops[lo].code[0] != c0 || ms_dmcx_ops[lo].code[1] != c1)
        return NULL;
    p->at += 2;
    return &ms_dmcx_ops[lo];
}

/* One step deeper in the grammar; false when it goes too deep or the budget is spent. */
static bool ms_dmcx_enter(ms_dmcx *p)
{
    ms_dm *d = p->d;
    if (d->failed || d->work == 0 || d->depth >= ms_DMCX_MAX_DEPTH) {
        d->failed = true;
        return false;
    }
    d->work--;
    d->depth++;
    return true;
}

/* floors: recursion */
static uint32_t ms_dmcx_type(ms_dmcx *p);
static uint32_t ms_dmcx_expr(ms_dmcx *p);
static uint32_t ms_dmcx_name(ms_dmcx *p, ms_dmcx_name_state *state);
static uint32_t ms_dmcx_encoding(ms_dmcx *p);
static uint32_t ms_dmcx_template_arg(ms_dmcx *p);
static uint32_t ms_dmcx_template_args(ms_dmcx *p, uint32_t name, bool tag);
static uint32_t ms_dmcx_param_decl(ms_dmcx *p, ms_dmcx_cell *params);
static uint32_t ms_dmcx_unnamed(ms_dmcx *p, ms_dmcx_name_state *state);
static uint32_t ms_dmcx_qualified(ms_dmcx *p);

/* The expression behind Q. It may use parameters of all enclosing templates, whose levels are not known. */
static uint32_t ms_dmcx_constraint_expr(ms_dmcx *p)
{
    bool constraint = p->constraint;
    p->constraint = true;
    uint32_t expr = ms_dmcx_expr(p);
    p->constraint = constraint;
    return expr;
}

/* The same for a concept's name that stands before a parameter. */
static uint32_t ms_dmcx_constraint_name(ms_dmcx *p)
{
    bool constraint = p->constraint;
    p->constraint = true;
    uint32_t name = ms_dmcx_name(p, NULL);
    p->constraint = constraint;
    return name;
}

/* ---- C++: template parameters ---- */

/* Opens a level. Returns its head's cell, 0 on failure. */
static uint32_t ms_dmcx_push_level(ms_dmcx *p)
{
    uint32_t head = ms_dmcx_take(p, 1);
    uint32_t level = ms_dmcx_take(p, 1);
    if (level == 0)
        return 0;
    p->cells[head] = ms_dmcx_empty();
    p->cells[level].item = head;
    p->cells[level].next = p->levels;
    p->levels = level;
    p->level_count++;
    return head;
}

static void ms_dmcx_pop_level(ms_dmcx *p)
{
    p->levels = p->cells[p->levels].next;
    p->level_count--;
}

/* Closes levels until count are left. */
static void ms_dmcx_pop_levels_to(ms_dmcx *p, uint32_t count)
{
    while (p->level_count > count)
        ms_dmcx_pop_level(p);
}

/* Element i of a pack's array: two to a cell. */
static uint32_t *ms_dmcx_pack_at(const ms_dmcx *p, uint32_t v, uint32_t i)
{
    ms_dmcx_cell *cell = &p->cells[v + i / 2];
    return i % 2 == 0 ? &cell->item : &cell->next;
}

/* What a template argument means where its parameter is used: a pack becomes a pack that expansions walk. */
static uint32_t ms_dmcx_argument(ms_dmcx *p, uint32_t arg)
{
    uint32_t kind = ms_dmcx_kind_of(p, arg);
    if (kind == ms_DMCX_QUALIFIED_ARG)
        return ms_dmcx_at(p, arg)->a;
    if (kind != ms_DMCX_ARG_PACK)
        return arg;
    if (ms_dmcx_at(p, arg)->c != 0)
        return ms_dmcx_at(p, arg)->c;
    uint32_t list = ms_dmcx_at(p, arg)->a;
    uint32_t count = 0;
    uint32_t flags = 0;
    for (uint32_t cell = list; cell != 0; cell = p->cells[cell].next) {
        uint32_t of = ms_dmcx_flags_of(p, p->cells[cell].item);
        flags |= (of & ms_DMCX_SHAPE) * ms_DMCX_ASK | (of & ms_DMCX_ASK_ALL);
        count++;
    }
    uint32_t v = ms_dmcx_take(p, count / 2 + 1);
    uint32_t pack = v == 0 ? 0 : ms_dmcx_make_flagged(p, ms_DMCX_PACK, v, count, flags);
    if (pack == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        *ms_dmcx_pack_at(p, v, i) = p->cells[list].item;
        list = p->cells[list].next;
    }
    ms_dmcx_at(p, arg)->c = pack;
    return pack;
}

/* Argument index of a level; 0 when there is none. */
static uint32_t ms_dmcx_level_argument(ms_dmcx *p, uint32_t level, uint32_t index)
{
    if (level >= p->level_count)
        return 0;
    uint32_t at = p->levels;
    for (uint32_t up = p->level_count - 1; up > level; up--)
        at = p->cells[at].next;
    uint32_t head = p->cells[at].item;
    uint32_t cell = head == 0 ? 0 : p->cells[head].item;
    if (index >= p->d->work)
        return ms_dmcx_fail(p);
    p->d->work -= index;
    for (; cell != 0 && index != 0; index--)
        cell = p->cells[cell].next;
    return cell == 0 ? 0 : ms_dmcx_argument(p, p->cells[cell].item);
}

/* `auto` of a generic lambda is mangled as a parameter of a level that is not there (ABI 5.1.8). */
static uint32_t ms_dmcx_lambda_auto(ms_dmcx *p, uint32_t level)
{
    if (p->auto_level != level || level > p->level_count)
        return 0;
    if (level == p->level_count) {
        uint32_t head = ms_dmcx_push_level(p);
        if (head == 0)
            return 0;
        p->cells[p->levels].item = 0;
    }
    return ms_DMCX_W_AUTO;
}

/* <template-param> (ABI 5.1.8) */
static uint32_t ms_dmcx_template_param(ms_dmcx *p)
{
    ms_dmcx_span t;
    t.off = p->at;
    if (!ms_dmcx_eat(p, 'T'))
        return 0;
    uint32_t level = 0;
    if (ms_dmcx_eat(p, 'L')) {
        if (!ms_dmcx_count(p, &level) || !ms_dmcx_eat(p, '_'))
            return 0;
        level++;
    }
    uint32_t index = 0;
    if (!ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_count(p, &index) || !ms_dmcx_eat(p, '_'))
            return 0;
        index++;
    }
    if (p->constraint) {
        t.len = p->at - 1 - t.off;
        return ms_dmcx_make_text(p, t);
    }
    if (p->permit_forward && level == 0) {
        uint32_t ref = ms_dmcx_make_flagged(p, ms_DMCX_FORWARD, index, p->forward, ms_DMCX_ASK_ALL);
        if (ref != 0)
            p->forward = ref;
        return ref;
    }
    uint32_t arg = ms_dmcx_level_argument(p, level, index);
    return arg != 0 ? arg : ms_dmcx_lambda_auto(p, level);
}

/* Gives the references that a conversion operator's type made to arguments behind it their arguments. */
static bool ms_dmcx_resolve_forward(ms_dmcx *p, uint32_t until)
{
    while (p->forward != until) {
        ms_dmcx_node *n = ms_dmcx_at(p, p->forward);
        uint32_t arg = ms_dmcx_level_argument(p, 0, n->a);
        if (arg == 0)
            return false;
        n->c = arg;
        p->forward = n->b;
    }
    return true;
}

static bool ms_dmcx_at_param_decl(const ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) != 'T')
        return false;
    char c = ms_dmcx_peek(p, 1);
    return c == 'y' || c == 'p' || c == 't' || c == 'n' || c == 'k';
}

/* ---- C++: names ---- */

/* <abi-tags> */
static uint32_t ms_dmcx_abi_tags(ms_dmcx *p, uint32_t base)
{
    while (base != 0 && ms_dmcx_eat(p, 'B')) {
        uint32_t tag = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
        if (tag == 0)
            return 0;
        base = ms_dmcx_make_flagged(p, ms_DMCX_ABI_TAG, base, tag, ms_dmcx_flags_of(p, base));
    }
    return base;
}

/* <substitution> but not St (ABI 5.1.10) */
static uint32_t ms_dmcx_substitution(ms_dmcx *p)
{
    if (!ms_dmcx_eat(p, 'S'))
        return 0;
    char c = ms_dmcx_peek(p, 0);
    if (c >= 'a' && c <= 'z') {
        uint32_t word = 0;
        switch (c) {
        case 'a': word = ms_DMCX_W_ALLOCATOR; break;
        case 'b': word = ms_DMCX_W_BASIC_STRING; break;
        case 's': word = ms_DMCX_W_STRING; break;
        case 'i': word = ms_DMCX_W_ISTREAM; break;
        case 'o': word = ms_DMCX_W_OSTREAM; break;
        case 'd': word = ms_DMCX_W_IOSTREAM; break;
        default: return 0;
        }
        p->at++;
        uint32_t tagged = ms_dmcx_abi_tags(p, word);
        return tagged == word ? word : ms_dmcx_add_sub(p, tagged);
    }
    uint32_t index = 0;
    if (!ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_seq_id(p, &index) || !ms_dmcx_eat(p, '_'))
            return 0;
        index++;
    }
    return index < p->sub_count ? p->subs_end[-1 - (ptrdiff_t)index] : 0;
}

/* <module-name>s before an entity: W foo WP bar. Returns false when malformed. */
static bool ms_dmcx_module(ms_dmcx *p, uint32_t *module)
{
    while (ms_dmcx_eat(p, 'W')) {
        uint32_t partition = ms_dmcx_eat(p, 'P');
        uint32_t name = ms_dmcx_source_name(p);
        uint32_t next = name == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_MODULE, *module, name, 0);
        if (ms_dmcx_add_sub(p, next) == 0)
            return false;
        ms_dmcx_at(p, next)->x = (uint8_t)partition;
        *module = next;
    }
    return true;
}

/* The class of a constructor is written out in full where its scope is an abbreviation. */
static uint32_t ms_dmcx_written_out(uint32_t scope)
{
    switch (scope) {
    case ms_DMCX_W_STRING: return ms_DMCX_W_FULL_STRING;
    case ms_DMCX_W_ISTREAM: return ms_DMCX_W_FULL_ISTREAM;
    case ms_DMCX_W_OSTREAM: return ms_DMCX_W_FULL_OSTREAM;
    case ms_DMCX_W_IOSTREAM: return ms_DMCX_W_FULL_IOSTREAM;
    default: return scope;
    }
}

/* A name within a name */
static uint32_t ms_dmcx_inner_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t name = ms_dmcx_name(p, state);
    p->d->depth--;
    return name;
}

/* <ctor-dtor-name> */
static uint32_t ms_dmcx_ctor_dtor(ms_dmcx *p, uint32_t scope, ms_dmcx_name_state *state)
{
    char c = ms_dmcx_peek(p, 1);
    if (ms_dmcx_eat(p, 'D')) {
        if (c < '0' || c > '5' || c == '3')
            return 0;
        p->at++;
        if (state != NULL)
            state->special = true;
        return ms_dmcx_make_of(p, ms_DMCX_DTOR, scope);
    }
    p->at++;
    bool inherited = ms_dmcx_eat(p, 'I');
    c = ms_dmcx_peek(p, 0);
    if (c < '1' || c > '5')
        return 0;
    p->at++;
    if (state != NULL)
        state->special = true;
    if (inherited && ms_dmcx_inner_name(p, state) == 0)
        return 0;
    return ms_dmcx_make_of(p, ms_DMCX_CTOR, scope);
}

/* cv <type>: its parameters may stand for arguments that come behind it. */
static uint32_t ms_dmcx_conversion_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    bool try_args = p->try_args;
    bool permit_forward = p->permit_forward;
    p->try_args = false;
    p->permit_forward = permit_forward || state != NULL;
    uint32_t type = ms_dmcx_type(p);
    p->try_args = try_args;
    p->permit_forward = permit_forward;
    if (state != NULL)
        state->special = true;
    return ms_dmcx_make_of(p, ms_DMCX_CONVERSION, type);
}

/* <operator-name> */
static uint32_t ms_dmcx_operator_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op != NULL) {
        if (op->kind == ms_DMCX_OP_CONVERT)
            return ms_dmcx_conversion_name(p, state);
        if (op->kind > ms_DMCX_OP_NAME_ONLY)
            return 0;
        uint32_t ref = ms_dmcx_make(p, ms_DMCX_OPERATOR, 0, 0, 0);
        if (ref != 0)
            ms_dmcx_at(p, ref)->x = (uint8_t)(op - ms_dmcx_ops);
        return ref;
    }
    if (ms_dmcx_eat2(p, 'l', 'i'))
        return ms_dmcx_make_of(p, ms_DMCX_LITERAL_OP, ms_dmcx_source_name(p));
    if (ms_dmcx_peek(p, 0) == 'v' && ms_dmcx_is_digit(ms_dmcx_peek(p, 1))) {
        p->at += 2; /* vendor's operator: v, number of operands, name */
        return ms_dmcx_make_of(p, ms_DMCX_CONVERSION, ms_dmcx_source_name(p));
    }
    return 0;
}

/* DC <source-name>+ E: a structured binding. */
static uint32_t ms_dmcx_binding(ms_dmcx *p)
{
    ms_dmcx_cell names = ms_dmcx_empty();
    do {
        if (!ms_dmcx_append(p, &names, ms_dmcx_source_name(p)))
            return 0;
    } while (!ms_dmcx_eat(p, 'E'));
    return ms_dmcx_make_of(p, ms_DMCX_BINDING, names.item);
}

/* <unqualified-name> in scope (0 = none) and module (0 = none); returns it with its scope. */
static uint32_t ms_dmcx_unqualified(ms_dmcx *p, ms_dmcx_name_state *state, uint32_t scope, uint32_t module)
{
    bool is_friend = false;
    char c = ms_dmcx_peek(p, 0);
    if (c < '1' || c > '9') {
        if (!ms_dmcx_module(p, &module))
            return 0;
        is_friend = scope != 0 && ms_dmcx_eat(p, 'F');
        ms_dmcx_eat(p, 'L');
        c = ms_dmcx_peek(p, 0);
    }
    uint32_t name;
    if (c >= '1' && c <= '9') {
        name = ms_dmcx_source_name(p);
    } else if (c == 'U') {
        name = ms_dmcx_unnamed(p, state);
    } else if (ms_dmcx_eat2(p, 'D', 'C')) {
        name = ms_dmcx_binding(p);
    } else if (c == 'C' || c == 'D') {
        if (scope == 0 || module != 0)
            return 0;
        scope = ms_dmcx_written_out(scope);
        name = ms_dmcx_ctor_dtor(p, scope, state);
    } else {
        name = ms_dmcx_operator_name(p, state);
    }
    if (name != 0 && module != 0)
        name = ms_dmcx_make(p, ms_DMCX_IN_MODULE, module, name, 0);
    if (ms_dmcx_peek(p, 0) == 'B')
        name = ms_dmcx_abi_tags(p, name);
    if (scope == 0)
        return name;
    return ms_dmcx_make_two(p, is_friend ? ms_DMCX_FRIEND : ms_DMCX_NESTED, scope, name);
}

/* <unscoped-name>; *is_sub tells whether it was a substitution, which in a name must be a template's. */
static uint32_t ms_dmcx_unscoped(ms_dmcx *p, ms_dmcx_name_state *state, bool *is_sub)
{
    uint32_t scope = ms_dmcx_eat2(p, 'S', 't') ? (uint32_t)ms_DMCX_W_STD : 0u;
    uint32_t module = 0;
    if (ms_dmcx_peek(p, 0) == 'S') {
        uint32_t sub = ms_dmcx_substitution(p);
        if (sub == 0)
            return 0;
        if (ms_dmcx_kind_of(p, sub) == ms_DMCX_MODULE) {
            module = sub;
        } else if (scope == 0) {
            *is_sub = true;
            return sub;
        } else {
            return 0;
        }
    }
    return ms_dmcx_unqualified(p, state, scope, module);
}

/* <CV-qualifiers> and <ref-qualifier>, or H, at the start of a nested name */
static void ms_dmcx_member_quals(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (ms_dmcx_eat(p, 'H')) {
        if (state != NULL)
            state->explicit_object = true;
        return;
    }
    uint32_t quals = ms_dmcx_quals(p);
    uint32_t ref = ms_dmcx_eat(p, 'O') ? 2u : ms_dmcx_eat(p, 'R') ? 1u : 0u;
    if (state != NULL) {
        state->quals = (uint8_t)quals;
        state->ref = (uint8_t)ref;
    }
}

/* Dt or DT <expression> E */
static uint32_t ms_dmcx_decltype(ms_dmcx *p)
{
    p->at += 2;
    uint32_t expr = ms_dmcx_expr(p);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, expr, ms_DMCX_W_DECLTYPE_OF) : 0;
}

/* One more component of a nested name. A scope set by a substitution is no new candidate: *is_new says so. */
static uint32_t ms_dmcx_component(ms_dmcx *p, ms_dmcx_name_state *state, uint32_t scope, bool *is_new)
{
    char c = ms_dmcx_peek(p, 0);
    if (ms_dmcx_is_digit(c))
        return ms_dmcx_unqualified(p, state, scope, 0);
    if (c == 'T')
        return scope != 0 ? 0 : ms_dmcx_template_param(p);
    if (c == 'I') {
        if (scope == 0 || ms_dmcx_kind_of(p, scope) == ms_DMCX_TEMPLATE)
            return 0;
        uint32_t name = ms_dmcx_template_args(p, scope, state != NULL);
        if (state != NULL)
            state->ends_with_args = true;
        return name;
    }
    if (c == 'D' && (ms_dmcx_peek(p, 1) == 't' || ms_dmcx_peek(p, 1) == 'T'))
        return scope != 0 ? 0 : ms_dmcx_decltype(p);
    uint32_t module = 0;
    if (c == 'S') {
        uint32_t sub = ms_dmcx_eat2(p, 'S', 't') ? (uint32_t)ms_DMCX_W_STD : ms_dmcx_substitution(p);
        if (sub == 0)
            return 0;
        if (ms_dmcx_kind_of(p, sub) != ms_DMCX_MODULE) {
            *is_new = false;
            return scope != 0 ? 0 : sub;
        }
        module = sub;
    }
    return ms_dmcx_unqualified(p, state, scope, module);
}

/* <nested-name> */
static uint32_t ms_dmcx_nested(ms_dmcx *p, ms_dmcx_name_state *state)
{
    p->at++;
    ms_dmcx_member_quals(p, state);
    uint32_t scope = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        bool is_new = true;
        if (state != NULL)
            state->ends_with_args = false;
        scope = ms_dmcx_component(p, state, scope, &is_new);
        if (scope == 0)
            return 0;
        if (!is_new)
            continue;
        if (ms_dmcx_add_sub(p, scope) == 0)
            return 0;
        ms_dmcx_eat(p, 'M'); /* older ABIs marked the scope of a data member's initialiser */
    }
    if (scope == 0 || p->sub_count == 0)
        return 0;
    p->sub_count--; /* the whole name is a candidate only where it is a type, and then its reader adds it */
    if ((p->sub_count & 1u) == 0)
        p->limit++;
    return scope;
}

/* <discriminator>; it is not printed. Digits without the underscore end a name that a compiler numbered. */
static void ms_dmcx_discriminator(ms_dmcx *p)
{
    uint32_t at = p->at;
    if (ms_dmcx_peek(p, 0) == '_' && ms_dmcx_is_digit(ms_dmcx_peek(p, 1))) {
        p->at += 2;
        return;
    }
    bool wide = ms_dmcx_peek(p, 0) == '_' && ms_dmcx_peek(p, 1) == '_';
    if (wide)
        p->at += 2;
    bool any = ms_dmcx_number(p, false).len != 0;
    if (wide ? !ms_dmcx_eat(p, '_') : !any || p->at != p->len)
        p->at = at;
}

/* <local-name> */
static uint32_t ms_dmcx_local(ms_dmcx *p, ms_dmcx_name_state *state)
{
    p->at++;
    uint32_t encoding = ms_dmcx_encoding(p);
    if (encoding == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    if (ms_dmcx_eat(p, 's')) {
        ms_dmcx_discriminator(p);
        return ms_dmcx_make(p, ms_DMCX_LOCAL, encoding, ms_DMCX_W_STRING_LITERAL, 0);
    }
    uint32_t levels = p->levels;
    uint32_t level_count = p->level_count;
    p->levels = 0;
    p->level_count = 0;
    uint32_t entity = 0;
    if (ms_dmcx_eat(p, 'd')) { /* in a default argument: its number, then the entity */
        ms_dmcx_number(p, true);
        if (ms_dmcx_eat(p, '_'))
            entity = ms_dmcx_inner_name(p, state);
    } else {
        entity = ms_dmcx_inner_name(p, state);
        ms_dmcx_discriminator(p);
    }
    p->levels = levels;
    p->level_count = level_count;
    return ms_dmcx_make_two(p, ms_DMCX_LOCAL, encoding, entity);
}

/* <name>; state (NULL outside an encoding's own name) learns about it. It is no step deeper: what reads names
 * within names takes one. */
static uint32_t ms_dmcx_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'N')
        return ms_dmcx_nested(p, state);
    if (c == 'Z')
        return ms_dmcx_local(p, state);
    bool is_sub = false;
    uint32_t name = ms_dmcx_unscoped(p, state, &is_sub);
    if (ms_dmcx_peek(p, 0) != 'I')
        return is_sub ? 0 : name;
    if (!is_sub && ms_dmcx_add_sub(p, name) == 0)
        return 0;
    if (state != NULL)
        state->ends_with_args = true;
    return ms_dmcx_template_args(p, name, state != NULL);
}

/* ---- C++: unnamed types ---- */

/* Ul: the parameters of a lambda's operator(), explicit template parameters first. */
static uint32_t ms_dmcx_closure_parts(ms_dmcx *p)
{
    uint32_t head = ms_dmcx_push_level(p);
    if (head == 0)
        return 0;
    ms_dmcx_cell decls = ms_dmcx_empty();
    while (ms_dmcx_at_param_decl(p)) {
        if (!ms_dmcx_append(p, &decls, ms_dmcx_param_decl(p, &p->cells[head])))
            return 0;
    }
    if (decls.item == 0)
        ms_dmcx_pop_level(p);
    uint32_t before = 0;
    if (ms_dmcx_eat(p, 'Q') && (before = ms_dmcx_constraint_expr(p)) == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    if (!ms_dmcx_eat(p, 'v')) {
        do {
            if (!ms_dmcx_append(p, &params, ms_dmcx_type(p)))
                return 0;
        } while (ms_dmcx_peek(p, 0) != 'E' && ms_dmcx_peek(p, 0) != 'Q');
    }
    uint32_t after = 0;
    if (ms_dmcx_eat(p, 'Q') && (after = ms_dmcx_constraint_expr(p)) == 0)
        return 0;
    if (!ms_dmcx_eat(p, 'E'))
        return 0;
    ms_dmcx_span count = ms_dmcx_number(p, false);
    if (!ms_dmcx_eat(p, '_'))
        return 0;
    uint32_t tail = ms_dmcx_make(p, ms_DMCX_CLOSURE_TAIL, before, after, ms_dmcx_make_text(p, count));
    return tail == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_CLOSURE, decls.item, params.item, tail);
}

/* <unnamed-type-name>, <closure-type-name>, and blocks */
static uint32_t ms_dmcx_unnamed(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (state != NULL) {
        p->levels = 0;
        p->level_count = 0;
    }
    if (ms_dmcx_eat2(p, 'U', 't')) {
        ms_dmcx_span count = ms_dmcx_number(p, false);
        return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_UNNAMED, count.off, count.len, 0) : 0;
    }
    if (ms_dmcx_eat2(p, 'U', 'b')) {
        ms_dmcx_number(p, false);
        return ms_dmcx_eat(p, '_') ? (uint32_t)ms_DMCX_W_BLOCK : 0u;
    }
    if (!ms_dmcx_eat2(p, 'U', 'l'))
        return 0;
    uint32_t auto_level = p->auto_level;
    uint32_t level_count = p->level_count;
    p->auto_level = level_count;
    uint32_t closure = ms_dmcx_closure_parts(p);
    p->auto_level = auto_level;
    ms_dmcx_pop_levels_to(p, level_count);
    return closure;
}

/* ---- C++: template arguments ---- */

static uint32_t ms_dmcx_invented_name(ms_dmcx *p, uint32_t which, ms_dmcx_cell *params)
{
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_SYNTHETIC, p->invented[which]++, 0, 0);
    if (ref == 0)
        return 0;
    ms_dmcx_at(p, ref)->x = (uint8_t)which;
    return params != NULL && !ms_dmcx_append(p, params, ref) ? 0 : ref;
}

/* Tt <template-param-decl>* [Q <constraint>] E, behind the name that was invented for it */
static uint32_t ms_dmcx_template_decl(ms_dmcx *p, uint32_t name)
{
    uint32_t level_count = p->level_count;
    uint32_t head = ms_dmcx_push_level(p);
    if (name == 0 || head == 0)
        return 0;
    ms_dmcx_cell inner = ms_dmcx_empty();
    uint32_t constraint = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &inner, ms_dmcx_param_decl(p, &p->cells[head])))
            return 0;
        if (!ms_dmcx_eat(p, 'Q'))
            continue;
        constraint = ms_dmcx_constraint_expr(p);
        if (constraint == 0 || !ms_dmcx_eat(p, 'E'))
            return 0;
        break;
    }
    ms_dmcx_pop_levels_to(p, level_count);
    uint32_t ref = ms_dmcx_make_flagged(p, ms_DMCX_DECL_TEMPLATE, name, inner.item, ms_DMCX_RIGHT);
    if (ref != 0)
        ms_dmcx_at(p, ref)->c = constraint;
    return ref;
}

/* <template-param-decl>; a name is invented and added to params (may be NULL). */
static uint32_t ms_dmcx_param_decl(ms_dmcx *p, ms_dmcx_cell *params)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t kind = 0;
    uint32_t name = 0;
    uint32_t of = 0;
    uint32_t ref = 0;
    if (ms_dmcx_eat2(p, 'T', 'y')) {
        kind = ms_DMCX_DECL_TYPE;
        name = ms_dmcx_invented_name(p, 0, params);
    } else if (ms_dmcx_eat2(p, 'T', 'k')) {
        kind = ms_DMCX_DECL_CONSTRAINED;
        of = ms_dmcx_constraint_name(p);
        name = of == 0 ? 0 : ms_dmcx_invented_name(p, 0, params);
    } else if (ms_dmcx_eat2(p, 'T', 'n')) {
        kind = ms_DMCX_DECL_VALUE;
        name = ms_dmcx_invented_name(p, 1, params);
        of = name == 0 ? 0 : ms_dmcx_type(p);
        name = of == 0 ? 0 : name;
    } else if (ms_dmcx_eat2(p, 'T', 't')) {
        ref = ms_dmcx_template_decl(p, ms_dmcx_invented_name(p, 2, params));
    } else if (ms_dmcx_eat2(p, 'T', 'p')) {
        kind = ms_DMCX_DECL_PACK;
        name = ms_dmcx_param_decl(p, params);
    }
    if (name != 0)
        ref = ms_dmcx_make_flagged(p, kind, name, of, ms_DMCX_RIGHT);
    p->d->depth--;
    return ref;
}

/* J <template-arg>* E */
static uint32_t ms_dmcx_arg_pack(ms_dmcx *p)
{
    p->at++;
    ms_dmcx_cell args = ms_dmcx_empty();
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &args, ms_dmcx_template_arg(p)))
            return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_ARG_PACK, args.item, 0, 0);
}

/* <template-arg> */
static uint32_t ms_dmcx_template_arg(ms_dmcx *p)
{
    uint32_t ref = 0;
    switch (ms_dmcx_peek(p, 0)) {
    case 'X':
        p->at++;
        ref = ms_dmcx_expr(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'L':
        if (ms_dmcx_peek(p, 1) != 'Z')
            return ms_dmcx_expr(p);
        p->at += 2;
        ref = ms_dmcx_encoding(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'J':
    case 'T':
        if (ms_dmcx_peek(p, 0) == 'T' && !ms_dmcx_at_param_decl(p))
            return ms_dmcx_type(p);
        if (!ms_dmcx_enter(p))
            return 0;
        if (ms_dmcx_peek(p, 0) == 'J')
            ref = ms_dmcx_arg_pack(p);
        else if (ms_dmcx_param_decl(p, NULL) != 0)
            ref = ms_dmcx_make_of(p, ms_DMCX_QUALIFIED_ARG, ms_dmcx_template_arg(p));
        p->d->depth--;
        return ref;
    default: return ms_dmcx_type(p);
    }
}

/* <template-args> of name. With tag they are what template parameters in the rest of the encoding mean. */
static uint32_t ms_dmcx_template_args(ms_dmcx *p, uint32_t name, bool tag)
{
    if (name == 0 || !ms_dmcx_eat(p, 'I'))
        return 0;
    ms_dmcx_cell args = ms_dmcx_empty();
    ms_dmcx_cell *known = &args;
    if (tag) {
        p->levels = 0;
        p->level_count = 0;
        uint32_t head = ms_dmcx_push_level(p);
        if (head == 0)
            return 0;
        known = &p->cells[head]; /* an argument may already use those before it */
    }
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, known, ms_dmcx_template_arg(p)))
            return 0;
        if (!ms_dmcx_eat(p, 'Q'))
            continue;
        if (ms_dmcx_constraint_expr(p) == 0 || !ms_dmcx_eat(p, 'E'))
            return 0;
        break;
    }
    return ms_dmcx_make(p, ms_DMCX_TEMPLATE, name, known->item, 0);
}

/* ---- C++: types ---- */

/* [DS] DA <size>, [DS] DR <size>: the fixed-point types of ISO/IEC TR 18037; 0 = it is none of them. */
static uint32_t ms_dmcx_fixed_point(ms_dmcx *p)
{
    uint32_t at = p->at;
    bool saturates = ms_dmcx_eat2(p, 'D', 'S');
    char type = ms_dmcx_peek(p, 1);
    uint32_t word = 0;
    if (ms_dmcx_peek(p, 0) == 'D' && (type == 'A' || type == 'R')) {
        switch (ms_dmcx_peek(p, 2)) {
        case 's': word = ms_DMCX_W_ACCUM_S; break;
        case 't': word = ms_DMCX_W_ACCUM_T; break;
        case 'i': word = ms_DMCX_W_ACCUM_I; break;
        case 'j': word = ms_DMCX_W_ACCUM_J; break;
        case 'l': word = ms_DMCX_W_ACCUM_L; break;
        case 'm': word = ms_DMCX_W_ACCUM_M; break;
        default: break;
        }
    }
    if (word == 0) {
        p->at = at;
        return 0;
    }
    p->at += 3;
    if (type == 'R')
        word += ms_DMCX_W_FRACT_S - ms_DMCX_W_ACCUM_S;
    if (saturates)
        word += ms_DMCX_W_SAT_ACCUM_S - ms_DMCX_W_ACCUM_S;
    return word;
}

/* <builtin-type>: a type that is no substitution candidate. 0 = it is not one. */
static uint32_t ms_dmcx_builtin(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c >= 'a' && c <= 'z') {
        uint32_t word = ms_dmcx_builtins[c - 'a'];
        p->at += word != 0;
        return word;
    }
    if (c != 'D')
        return 0;
    uint32_t word = 0;
    switch (ms_dmcx_peek(p, 1)) {
    case 'd': word = ms_DMCX_W_DEC64; break;
    case 'e': word = ms_DMCX_W_DEC128; break;
    case 'f': word = ms_DMCX_W_DEC32; break;
    case 'h': word = ms_DMCX_W_HALF; break;
    case 'i': word = ms_DMCX_W_CHAR32; break;
    case 's': word = ms_DMCX_W_CHAR16; break;
    case 'u': word = ms_DMCX_W_CHAR8; break;
    case 'a': word = ms_DMCX_W_AUTO; break;
    case 'c': word = ms_DMCX_W_DECLTYPE_AUTO; break;
    case 'n': word = ms_DMCX_W_NULLPTR_T; break;
    case 'A':
    case 'R':
    case 'S': return ms_dmcx_fixed_point(p);
    default: return 0;
    }
    p->at += 2;
    return word;
}

/* DF<n>_ */
static uint32_t ms_dmcx_float_n(ms_dmcx *p)
{
    ms_dmcx_span width = ms_dmcx_number(p, false);
    return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_FLOAT_N, width.off, width.len, 0) : 0;
}

/* The size in DB<n>_, DB<expression>_, A<n>_, A<expression>_; 0 when malformed. */
static uint32_t ms_dmcx_width(ms_dmcx *p)
{
    uint32_t width;
    if (!ms_dmcx_is_digit(ms_dmcx_peek(p, 0)))
        width = ms_dmcx_expr(p);
    else
        width = ms_dmcx_make_text(p, ms_dmcx_number(p, false));
    return ms_dmcx_eat(p, '_') ? width : 0;
}

/* Dv: a vector */
static uint32_t ms_dmcx_vector(ms_dmcx *p)
{
    p->at += 2;
    uint32_t size = 0;
    char c = ms_dmcx_peek(p, 0);
    if (c >= '1' && c <= '9') {
        size = ms_dmcx_width(p);
        if (size == 0)
            return 0;
        if (ms_dmcx_eat(p, 'p'))
            return ms_dmcx_make_of(p, ms_DMCX_PIXEL, size);
    } else if (!ms_dmcx_eat(p, '_')) {
        size = ms_dmcx_expr(p);
        if (size == 0 || !ms_dmcx_eat(p, '_'))
            return 0;
    }
    uint32_t type = ms_dmcx_type(p);
    return type == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_VECTOR, type, size, 0);
}

/* <exception-spec>; *ok is false when it is malformed, 0 is returned when there is none. */
static uint32_t ms_dmcx_exception_spec(ms_dmcx *p, bool *ok)
{
    uint32_t ref = 0;
    if (ms_dmcx_eat2(p, 'D', 'o'))
        return ms_DMCX_W_NOEXCEPT;
    if (ms_dmcx_eat2(p, 'D', 'O')) {
        ref = ms_dmcx_make_of(p, ms_DMCX_NOEXCEPT_IF, ms_dmcx_expr(p));
        *ok = ref != 0 && ms_dmcx_eat(p, 'E');
    } else if (ms_dmcx_eat2(p, 'D', 'w')) {
        ms_dmcx_cell types = ms_dmcx_empty();
        while (*ok && !ms_dmcx_eat(p, 'E'))
            *ok = ms_dmcx_append(p, &types, ms_dmcx_type(p));
        ref = *ok ? ms_dmcx_make(p, ms_DMCX_THROW_LIST, types.item, 0, 0) : 0;
    }
    return ref;
}

/* <function-type> */
static uint32_t ms_dmcx_function(ms_dmcx *p)
{
    uint32_t quals = ms_dmcx_quals(p);
    bool ok = true;
    uint32_t spec = ms_dmcx_exception_spec(p, &ok);
    ms_dmcx_eat2(p, 'D', 'x'); /* transaction safe: not printed */
    if (!ok || !ms_dmcx_eat(p, 'F'))
        return 0;
    ms_dmcx_eat(p, 'Y'); /* extern "C": not printed */
    uint32_t result = ms_dmcx_type(p);
    if (result == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    uint32_t ref_qual = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        if (ms_dmcx_eat(p, 'v'))
            continue;
        ref_qual = ms_dmcx_eat2(p, 'R', 'E') ? 1u : ms_dmcx_eat2(p, 'O', 'E') ? 2u : 0u;
        if (ref_qual != 0)
            break;
        if (!ms_dmcx_append(p, &params, ms_dmcx_type(p)))
            return 0;
    }
    uint32_t ref =
        ms_dmcx_make_flagged(p, ms_DMCX_FUNCTION, result, params.item, ms_DMCX_RIGHT | ms_DMCX_IS_FUNCTION);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    n->c = spec;
    n->x = (uint8_t)quals;
    n->y = (uint8_t)ref_qual;
    return ref;
}

/* <array-type> */
static uint32_t ms_dmcx_array(ms_dmcx *p)
{
    p->at++;
    uint32_t size = 0;
    if (!ms_dmcx_eat(p, '_')) {
        size = ms_dmcx_width(p);
        if (size == 0)
            return 0;
    }
    uint32_t type = ms_dmcx_type(p);
    if (type == 0)
        return 0;
    return ms_dmcx_make_flagged(p, ms_DMCX_ARRAY, type, size, ms_DMCX_RIGHT | ms_DMCX_IS_ARRAY);
}

/* U <source-name> [<template-args>] <type>: a vendor's qualifier, among them Objective-C's protocols, whose
 * own name is mangled inside that name. */
static uint32_t ms_dmcx_vendor_qual(ms_dmcx *p)
{
    p->at++;
    ms_dmcx_span t = ms_dmcx_source_text(p);
    if (t.len >= 9 && ms_dmcx_starts(p, t.off, "objcproto", 9)) {
        uint32_t behind = p->at;
        uint32_t len = p->len;
        p->at = t.off + 9;
        p->len = t.off + t.len;
        uint32_t proto = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
        p->at = behind;
        p->len = len;
        uint32_t type = proto == 0 ? 0 : ms_dmcx_qualified(p);
        return ms_dmcx_make_two(p, ms_DMCX_OBJC_PROTO, type, proto);
    }
    uint32_t name = ms_dmcx_make_text(p, t);
    if (name != 0 && ms_dmcx_peek(p, 0) == 'I')
        name = ms_dmcx_template_args(p, name, false);
    uint32_t type = name == 0 ? 0 : ms_dmcx_qualified(p);
    return ms_dmcx_make_two(p, ms_DMCX_VENDOR_QUAL, type, name);
}

/* <qualified-type>: only the outermost set of qualifiers is a substitution candidate. */
static uint32_t ms_dmcx_qualified(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t ref;
    if (ms_dmcx_peek(p, 0) == 'U') {
        ref = ms_dmcx_vendor_qual(p);
    } else {
        uint32_t quals = ms_dmcx_quals(p);
        ref = ms_dmcx_type(p);
        if (quals != 0 && ref != 0) {
            uint32_t type = ref;
            ref = ms_dmcx_make_flagged(p, ms_DMCX_QUAL, type, 0, ms_dmcx_flags_of(p, type));
            if (ref != 0)
                ms_dmcx_at(p, ref)->x = (uint8_t)quals;
        }
    }
    p->d->depth--;
    return ref;
}

/* Whether qualifiers at the reading position belong to a function type, as in a pointer to a const member. */
static bool ms_dmcx_at_function(const ms_dmcx *p)
{
    uint32_t ahead = 0;
    ahead += ms_dmcx_peek(p, ahead) == 'r';
    ahead += ms_dmcx_peek(p, ahead) == 'V';
    ahead += ms_dmcx_peek(p, ahead) == 'K';
    char c = ms_dmcx_peek(p, ahead);
    if (c != 'D')
        return c == 'F';
    c = ms_dmcx_peek(p, ahead + 1);
    return c == 'o' || c == 'O' || c == 'w' || c == 'x';
}

/* <pointer-to-member-type> */
static uint32_t ms_dmcx_member_pointer(ms_dmcx *p)
{
    p->at++;
    uint32_t scope = ms_dmcx_type(p);
    uint32_t member = scope == 0 ? 0 : ms_dmcx_type(p);
    if (member == 0)
        return 0;
    return ms_dmcx_make_flagged(p, ms_DMCX_MEMBER_PTR, scope, member, ms_dmcx_right_flags(p, member));
}

/* P, R, O */
static uint32_t ms_dmcx_indirection(ms_dmcx *p, uint32_t kind, uint32_t x)
{
    p->at++;
    uint32_t type = ms_dmcx_type(p);
    if (type == 0)
        return 0;
    uint32_t ref = ms_dmcx_make_flagged(p, kind, type, 0, ms_dmcx_right_flags(p, type));
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)x;
    return ref;
}

/* Types that begin with D and are not one word */
static uint32_t ms_dmcx_d_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 1);
    switch (c) {
    case 'F':
        p->at += 2;
        if (ms_dmcx_eat_text(p, "16b", 3))
            return ms_DMCX_W_BFLOAT16;
        return ms_dmcx_float_n(p);
    case 'B':
    case 'U': p->at += 2; return ms_dmcx_make_x(p, ms_DMCX_BIT_INT, ms_dmcx_width(p), c == 'U');
    case 'k':
    case 'K':
        p->at += 2;
        return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcx_name(p, NULL),
                              c == 'k' ? ms_DMCX_W_K_AUTO : ms_DMCX_W_K_DECLTYPE_AUTO);
    case 't':
    case 'T': return ms_dmcx_decltype(p);
    case 'v': return ms_dmcx_vector(p);
    case 'p': p->at += 2; return ms_dmcx_make_of(p, ms_DMCX_EXPANSION, ms_dmcx_type(p));
    case 'o':
    case 'O':
    case 'w':
    case 'x': return ms_dmcx_function(p);
    default: return 0;
    }
}

/* u <source-name> [I <type> E]: a vendor's type */
static uint32_t ms_dmcx_vendor_type(ms_dmcx *p)
{
    p->at++;
    uint32_t name = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
    if (name == 0 || !ms_dmcx_eat(p, 'I'))
        return name;
    uint32_t type = ms_dmcx_type(p);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_two(p, ms_DMCX_TRANSFORM, name, type) : 0;
}

/* A class, union or enumeration; *is_new is false for a bare substitution. */
static uint32_t ms_dmcx_class(ms_dmcx *p, bool *is_new)
{
    if (ms_dmcx_peek(p, 0) != 'S' || ms_dmcx_peek(p, 1) == 't')
        return ms_dmcx_name(p, NULL);
    bool is_sub = false;
    uint32_t ref = ms_dmcx_unscoped(p, NULL, &is_sub);
    if (ref == 0)
        return 0;
    if (ms_dmcx_peek(p, 0) == 'I' && (!is_sub || p->try_args)) {
        if (!is_sub && ms_dmcx_add_sub(p, ref) == 0)
            return 0;
        return ms_dmcx_template_args(p, ref, false);
    }
    *is_new = !is_sub;
    return ref;
}

/* Ts, Tu, Te <name>, or a template parameter */
static uint32_t ms_dmcx_t_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 1);
    if (c == 's' || c == 'u' || c == 'e') {
        p->at += 2;
        uint32_t word = c == 's' ? ms_DMCX_W_STRUCT : c == 'u' ? ms_DMCX_W_UNION : ms_DMCX_W_ENUM;
        return ms_dmcx_make_x(p, ms_DMCX_ELABORATED, ms_dmcx_name(p, NULL), word);
    }
    uint32_t ref = ms_dmcx_template_param(p);
    if (ref == 0 || !p->try_args || ms_dmcx_peek(p, 0) != 'I')
        return ref;
    return ms_dmcx_add_sub(p, ref) == 0 ? 0 : ms_dmcx_template_args(p, ref, false);
}

/* A type that is more than a word; *is_new tells whether it is a substitution candidate. */
static uint32_t ms_dmcx_compound(ms_dmcx *p, bool *is_new)
{
    switch (ms_dmcx_peek(p, 0)) {
    case 'r':
    case 'V':
    case 'K': return ms_dmcx_at_function(p) ? ms_dmcx_function(p) : ms_dmcx_qualified(p);
    case 'U': return ms_dmcx_qualified(p);
    case 'u': return ms_dmcx_vendor_type(p);
    case 'D': {
        char c = ms_dmcx_peek(p, 1);
        *is_new = c != 'F' && c != 'k' && c != 'K';
        return ms_dmcx_d_type(p);
    }
    case 'F': return ms_dmcx_function(p);
    case 'A': return ms_dmcx_array(p);
    case 'M': return ms_dmcx_member_pointer(p);
    case 'T': return ms_dmcx_t_type(p);
    case 'P': return ms_dmcx_indirection(p, ms_DMCX_POINTER, 0);
    case 'R': return ms_dmcx_indirection(p, ms_DMCX_REFERENCE, 1);
    case 'O': return ms_dmcx_indirection(p, ms_DMCX_REFERENCE, 2);
    case 'C': p->at++; return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcx_type(p), ms_DMCX_W_COMPLEX);
    case 'G': p->at++; return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcx_type(p), ms_DMCX_W_IMAGINARY);
    default: return ms_dmcx_class(p, is_new);
    }
}

/* <type> */
static uint32_t ms_dmcx_type(ms_dmcx *p)
{
    uint32_t ref = ms_dmcx_builtin(p);
    if (ref != 0)
        return ref;
    if (!ms_dmcx_enter(p))
        return 0;
    bool is_new = true;
    ref = ms_dmcx_compound(p, &is_new);
    if (is_new)
        ref = ms_dmcx_add_sub(p, ref);
    p->d->depth--;
    return ref;
}

/* ---- C++: expressions ---- */

/* <expression>* up to the byte end, which is read */
static bool ms_dmcx_exprs(ms_dmcx *p, char end, ms_dmcx_cell *list)
{
    while (!ms_dmcx_eat(p, end)) {
        if (!ms_dmcx_append(p, list, ms_dmcx_expr(p)))
            return false;
    }
    return true;
}

/* [n] <number> E of a literal whose type prints as word */
static uint32_t ms_dmcx_integer(ms_dmcx *p, uint32_t word)
{
    p->at++;
    ms_dmcx_span t = ms_dmcx_number(p, true);
    if (t.len == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_INTEGER, t.off, t.len, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)word;
    return ref;
}

/* The bytes of a floating literal in hexadecimal, highest first. A long double is the x87's, on ARM a
 * double. */
static uint32_t ms_dmcx_floating(ms_dmcx *p, char type)
{
    p->at++;
    uint32_t at = p->at;
    for (char c = ms_dmcx_peek(p, 0); ms_dmcx_is_digit(c) || (c >= 'a' && c <= 'f'); c = ms_dmcx_peek(p, 0))
        p->at++;
    uint32_t len = p->at - at;
    bool fits = type == 'f' ? len == 8 : len == 16 || (type == 'e' && len == 20);
    if (!fits || !ms_dmcx_eat(p, 'E'))
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_FLOATING, at, len, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = type == 'f' ? 'f' : type == 'e' ? 'L' : 0;
    return ref;
}

/* The word that an integer literal's type prints as, before or behind it; W_COUNT = no integer type. */
static uint32_t ms_dmcx_integer_word(char c)
{
    switch (c) {
    case 'w': return ms_DMCX_W_WCHAR;
    case 'c': return ms_DMCX_W_CHAR;
    case 'a': return ms_DMCX_W_SCHAR;
    case 'h': return ms_DMCX_W_UCHAR;
    case 's': return ms_DMCX_W_SHORT;
    case 't': return ms_DMCX_W_USHORT;
    case 'i': return ms_DMCX_W_NONE;
    case 'j': return ms_DMCX_W_SUFFIX_U;
    case 'l': return ms_DMCX_W_SUFFIX_L;
    case 'm': return ms_DMCX_W_SUFFIX_UL;
    case 'x': return ms_DMCX_W_SUFFIX_LL;
    case 'y': return ms_DMCX_W_SUFFIX_ULL;
    case 'n': return ms_DMCX_W_INT128;
    case 'o': return ms_DMCX_W_UINT128;
    default: return ms_DMCX_W_COUNT;
    }
}

/* <expr-primary> (ABI 5.1.6) */
static uint32_t ms_dmcx_primary(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    uint32_t ref = ms_dmcx_integer_word(c);
    if (ref != ms_DMCX_W_COUNT)
        return ms_dmcx_integer(p, ref);
    switch (c) {
    case 'b':
        p->at++;
        if (ms_dmcx_eat2(p, '0', 'E'))
            return ms_DMCX_W_FALSE;
        return ms_dmcx_eat2(p, '1', 'E') ? (uint32_t)ms_DMCX_W_TRUE : 0u;
    case 'f':
    case 'd':
    case 'e': return ms_dmcx_floating(p, c);
    case '_':
        if (!ms_dmcx_eat2(p, '_', 'Z'))
            return 0;
        ref = ms_dmcx_encoding(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'A':
        ref = ms_dmcx_type(p);
        return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_of(p, ms_DMCX_STRING_OF, ref) : 0;
    case 'D':
        if (!ms_dmcx_eat2(p, 'D', 'n'))
            return 0;
        ms_dmcx_eat(p, '0');
        return ms_dmcx_eat(p, 'E') ? (uint32_t)ms_DMCX_W_NULLPTR : 0u;
    case 'T': return 0;
    case 'U':
        if (ms_dmcx_peek(p, 1) != 'l')
            return 0;
        ref = ms_dmcx_unnamed(p, NULL);
        return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_of(p, ms_DMCX_LAMBDA, ref) : 0;
    default: break;
    }
    uint32_t type = ms_dmcx_type(p);
    ms_dmcx_span value = ms_dmcx_number(p, true);
    if (type == 0 || value.len == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    return ms_dmcx_make(p, ms_DMCX_ENUM_VALUE, type, value.off, value.len);
}

/* <function-param>: fp and fL; qualifiers and scope are not printed. */
static uint32_t ms_dmcx_function_param(ms_dmcx *p)
{
    if (ms_dmcx_eat_text(p, "fpT", 3))
        return ms_DMCX_W_THIS;
    if (!ms_dmcx_eat2(p, 'f', 'p')) {
        if (!ms_dmcx_eat2(p, 'f', 'L') || ms_dmcx_number(p, false).len == 0 || !ms_dmcx_eat(p, 'p'))
            return 0;
    }
    ms_dmcx_quals(p);
    ms_dmcx_span t = ms_dmcx_number(p, false);
    return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_FUNCTION_PARAM, t.off, t.len, 0) : 0;
}

/* fl, fr, fL, fR: a fold */
static uint32_t ms_dmcx_fold(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    if (c != 'l' && c != 'r' && c != 'L' && c != 'R')
        return 0;
    p->at++;
    bool is_left = c == 'l' || c == 'L';
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op == NULL)
        return 0;
    bool is_member = op->kind == ms_DMCX_OP_ARROW || op->kind == ms_DMCX_OP_DOT;
    if (op->kind != ms_DMCX_OP_BINARY && !(is_member && op->prec == ms_DMCX_PTRMEM))
        return 0;
    uint32_t first = ms_dmcx_expr(p);
    uint32_t second = 0;
    if (first == 0 || ((c == 'L' || c == 'R') && (second = ms_dmcx_expr(p)) == 0))
        return 0;
    bool start_first = is_left && second != 0;
    uint32_t ref =
        ms_dmcx_make(p, ms_DMCX_FOLD, start_first ? second : first, start_first ? first : second, 0);
    if (ref == 0)
        return 0;
    ms_dmcx_at(p, ref)->x = (uint8_t)(op - ms_dmcx_ops);
    ms_dmcx_at(p, ref)->y = is_left;
    return ref;
}

/* <braced-expression> */
static uint32_t ms_dmcx_braced(ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) != 'd' || !ms_dmcx_enter(p))
        return ms_dmcx_expr(p);
    uint32_t kind = 0;
    uint32_t first = 0;
    uint32_t last = 0;
    if (ms_dmcx_eat2(p, 'd', 'i')) {
        kind = ms_DMCX_FIELD_INIT;
        first = ms_dmcx_source_name(p);
    } else if (ms_dmcx_eat2(p, 'd', 'x')) {
        kind = ms_DMCX_INDEX_INIT;
        first = ms_dmcx_expr(p);
    } else if (ms_dmcx_eat2(p, 'd', 'X')) {
        kind = ms_DMCX_RANGE_INIT;
        first = ms_dmcx_expr(p);
        last = first == 0 ? 0 : ms_dmcx_expr(p);
        first = last == 0 ? 0 : first;
    }
    uint32_t ref = 0;
    if (kind == 0) {
        ref = ms_dmcx_expr(p);
    } else if (first != 0) {
        uint32_t value = ms_dmcx_braced(p);
        bool is_range = kind == ms_DMCX_RANGE_INIT;
        ref = value == 0 ? 0 : ms_dmcx_make(p, kind, first, is_range ? last : value, is_range ? value : 0);
    }
    p->d->depth--;
    return ref;
}

/* <braced-expression>* E, initialising type (0 = none) */
static uint32_t ms_dmcx_init_list(ms_dmcx *p, uint32_t type)
{
    ms_dmcx_cell values = ms_dmcx_empty();
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &values, ms_dmcx_braced(p)))
            return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_INIT_LIST, type, values.item, 0);
}

/* nw, na: <expression>* _ <type> [pi <expression>*] E */
static uint32_t ms_dmcx_new(ms_dmcx *p)
{
    ms_dmcx_cell placement = ms_dmcx_empty();
    ms_dmcx_cell values = ms_dmcx_empty();
    if (!ms_dmcx_exprs(p, '_', &placement))
        return 0;
    uint32_t type = ms_dmcx_type(p);
    if (type == 0)
        return 0;
    if (ms_dmcx_eat2(p, 'p', 'i')) {
        if (!ms_dmcx_exprs(p, 'E', &values))
            return 0;
    } else if (!ms_dmcx_eat(p, 'E')) {
        return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_NEW, placement.item, type, values.item);
}

/* cv <type> <expression>, cv <type> _ <expression>* E */
static uint32_t ms_dmcx_convert(ms_dmcx *p)
{
    bool try_args = p->try_args;
    p->try_args = false;
    uint32_t type = ms_dmcx_type(p);
    p->try_args = try_args;
    if (type == 0)
        return 0;
    ms_dmcx_cell values = ms_dmcx_empty();
    if (ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_exprs(p, 'E', &values))
            return 0;
    } else if (!ms_dmcx_append(p, &values, ms_dmcx_expr(p))) {
        return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_CONVERT, type, values.item, 0);
}

/* The operands of an operator that was just read. */
static uint32_t ms_dmcx_operands(ms_dmcx *p, const ms_dmcx_op *op)
{
    uint32_t a = 0;
    uint32_t b = 0;
    ms_dmcx_cell list = ms_dmcx_empty();
    switch (op->kind) {
    case ms_DMCX_OP_PREFIX: return ms_dmcx_make_of(p, ms_DMCX_PREFIX, ms_dmcx_expr(p));
    case ms_DMCX_OP_POSTFIX:
        if (ms_dmcx_eat(p, '_'))
            return ms_dmcx_make_of(p, ms_DMCX_PREFIX, ms_dmcx_expr(p));
        return ms_dmcx_make_of(p, ms_DMCX_POSTFIX_OP, ms_dmcx_expr(p));
    case ms_DMCX_OP_BINARY:
    case ms_DMCX_OP_SUBSCRIPT:
    case ms_DMCX_OP_ARROW:
    case ms_DMCX_OP_DOT:
        a = ms_dmcx_expr(p);
        b = a == 0 ? 0 : ms_dmcx_expr(p);
        if (op->kind == ms_DMCX_OP_BINARY)
            return ms_dmcx_make_two(p, ms_DMCX_BINARY, a, b);
        return ms_dmcx_make_two(p, op->kind == ms_DMCX_OP_SUBSCRIPT ? ms_DMCX_SUBSCRIPT : ms_DMCX_MEMBER, a,
                                b);
    case ms_DMCX_OP_NEW:
    case ms_DMCX_OP_NEW_ARRAY: return ms_dmcx_new(p);
    case ms_DMCX_OP_DELETE:
    case ms_DMCX_OP_DELETE_ARRAY: return ms_dmcx_make_of(p, ms_DMCX_DELETE, ms_dmcx_expr(p));
    case ms_DMCX_OP_CALL:
    case ms_DMCX_OP_PAREN_CALL:
        a = ms_dmcx_expr(p);
        if (a == 0 || !ms_dmcx_exprs(p, 'E', &list))
            return 0;
        return ms_dmcx_make(p, ms_DMCX_CALL, a, list.item, 0);
    case ms_DMCX_OP_CONVERT: return ms_dmcx_convert(p);
    case ms_DMCX_OP_CONDITIONAL:
        a = ms_dmcx_expr(p);
        b = a == 0 ? 0 : ms_dmcx_expr(p);
        if (b == 0)
            return 0;
        list.item = ms_dmcx_expr(p);
        return list.item == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_CHOICE, a, b, list.item);
    case ms_DMCX_OP_NAMED_CAST:
        a = ms_dmcx_type(p);
        return ms_dmcx_make_two(p, ms_DMCX_NAMED_CAST, a, a == 0 ? 0 : ms_dmcx_expr(p));
    case ms_DMCX_OP_OF_TYPE: return ms_dmcx_make_of(p, ms_DMCX_OF, ms_dmcx_type(p));
    case ms_DMCX_OP_OF_EXPR: return ms_dmcx_make_of(p, ms_DMCX_OF, ms_dmcx_expr(p));
    default: return 0;
    }
}

/* so: <type> <expression> [<number>] (_ [<number>])* [p] E; the union members chosen are not printed. */
static uint32_t ms_dmcx_subobject(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_type(p);
    uint32_t of = type == 0 ? 0 : ms_dmcx_expr(p);
    if (of == 0)
        return 0;
    uint32_t offset = ms_dmcx_make_text(p, ms_dmcx_number(p, true));
    while (ms_dmcx_eat(p, '_'))
        ms_dmcx_number(p, false);
    ms_dmcx_eat(p, 'p');
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make(p, ms_DMCX_SUBOBJECT, type, of, offset) : 0;
}

/* mc: <type> <expression> [<number>] E */
static uint32_t ms_dmcx_member_convert(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_type(p);
    uint32_t of = type == 0 ? 0 : ms_dmcx_expr(p);
    ms_dmcx_number(p, true);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_two(p, ms_DMCX_MEMBER_CONVERT, type, of) : 0;
}

/* sZ: the size of a parameter pack, or of a function's */
static uint32_t ms_dmcx_sizeof_pack(ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) == 'T')
        return ms_dmcx_make_of(p, ms_DMCX_SIZEOF_PARAM_PACK, ms_dmcx_template_param(p));
    return ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, ms_dmcx_function_param(p), ms_DMCX_W_SIZEOF_PACK);
}

/* u <source-name> <template-arg>* E: a vendor's expression. Older compilers gave __uuidof one operand and
 * no E. */
static uint32_t ms_dmcx_vendor_expr(ms_dmcx *p)
{
    uint32_t name = ms_dmcx_source_name(p);
    if (name == 0)
        return 0;
    ms_dmcx_cell args = ms_dmcx_empty();
    bool is_uuid = ms_dmcx_is_text(p, name, "__uuidof", 8);
    if (is_uuid && ms_dmcx_eat(p, 't')) {
        if (!ms_dmcx_append(p, &args, ms_dmcx_type(p)))
            return 0;
    } else if (is_uuid && ms_dmcx_eat(p, 'z')) {
        if (!ms_dmcx_append(p, &args, ms_dmcx_expr(p)))
            return 0;
    } else {
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &args, ms_dmcx_template_arg(p)))
                return 0;
        }
    }
    return ms_dmcx_make(p, ms_DMCX_CALL, name, args.item, 0);
}

/* <requirement> */
static uint32_t ms_dmcx_requirement(ms_dmcx *p)
{
    if (ms_dmcx_eat(p, 'T'))
        return ms_dmcx_make_of(p, ms_DMCX_REQUIRE_TYPE, ms_dmcx_type(p));
    if (ms_dmcx_eat(p, 'Q'))
        return ms_dmcx_make_of(p, ms_DMCX_REQUIRE_NESTED, ms_dmcx_expr(p));
    if (!ms_dmcx_eat(p, 'X'))
        return 0;
    uint32_t expr = ms_dmcx_expr(p);
    if (expr == 0)
        return 0;
    bool is_noexcept = ms_dmcx_eat(p, 'N');
    uint32_t type = 0;
    if (ms_dmcx_eat(p, 'R') && (type = ms_dmcx_name(p, NULL)) == 0)
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_REQUIRE_EXPR, expr, type, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = is_noexcept;
    return ref;
}

/* rq <requirement>+ E, rQ <type>* _ <requirement>+ E */
static uint32_t ms_dmcx_requires(ms_dmcx *p, bool has_params)
{
    ms_dmcx_cell params = ms_dmcx_empty();
    ms_dmcx_cell list = ms_dmcx_empty();
    while (has_params && !ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_append(p, &params, ms_dmcx_type(p)))
            return 0;
    }
    do {
        if (!ms_dmcx_append(p, &list, ms_dmcx_requirement(p)))
            return 0;
    } while (!ms_dmcx_eat(p, 'E'));
    return ms_dmcx_make(p, ms_DMCX_REQUIRES, params.item, list.item, 0);
}

/* ---- C++: unresolved names ---- */

/* <simple-id> */
static uint32_t ms_dmcx_simple_id(ms_dmcx *p)
{
    uint32_t name = ms_dmcx_source_name(p);
    return name != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcx_template_args(p, name, false) : name;
}

/* <unresolved-type> */
static uint32_t ms_dmcx_unresolved_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'T')
        return ms_dmcx_add_sub(p, ms_dmcx_template_param(p));
    if (c != 'D')
        return ms_dmcx_substitution(p);
    c = ms_dmcx_peek(p, 1);
    return c == 't' || c == 'T' ? ms_dmcx_add_sub(p, ms_dmcx_decltype(p)) : 0;
}

/* <unresolved-type> [<template-args>] */
static uint32_t ms_dmcx_unresolved_scope(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_unresolved_type(p);
    return type != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcx_template_args(p, type, false) : type;
}

/* <base-unresolved-name> */
static uint32_t ms_dmcx_unresolved_base(ms_dmcx *p)
{
    if (ms_dmcx_is_digit(ms_dmcx_peek(p, 0)))
        return ms_dmcx_simple_id(p);
    if (ms_dmcx_eat2(p, 'd', 'n')) {
        bool is_name = ms_dmcx_is_digit(ms_dmcx_peek(p, 0));
        return ms_dmcx_make_of(p, ms_DMCX_DTOR_NAME,
                               is_name ? ms_dmcx_simple_id(p) : ms_dmcx_unresolved_type(p));
    }
    ms_dmcx_eat2(p, 'o', 'n');
    uint32_t name = ms_dmcx_operator_name(p, NULL);
    return name != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcx_template_args(p, name, false) : name;
}

/* <simple-id>* E, below scope (0 = none) */
static uint32_t ms_dmcx_unresolved_levels(ms_dmcx *p, uint32_t scope)
{
    while (!ms_dmcx_eat(p, 'E')) {
        uint32_t id = ms_dmcx_simple_id(p);
        if (id == 0)
            return 0;
        scope = scope == 0 ? id : ms_dmcx_make(p, ms_DMCX_QUALIFIED, scope, id, 0);
    }
    return scope;
}

/* <unresolved-name> */
static uint32_t ms_dmcx_unresolved(ms_dmcx *p, bool is_global)
{
    uint32_t scope = 0;
    if (ms_dmcx_eat_text(p, "srN", 3)) {
        scope = ms_dmcx_unresolved_scope(p);
        scope = scope == 0 ? 0 : ms_dmcx_unresolved_levels(p, scope);
    } else if (!ms_dmcx_eat2(p, 's', 'r')) {
        uint32_t name = ms_dmcx_unresolved_base(p);
        return is_global ? ms_dmcx_make_of(p, ms_DMCX_GLOBAL, name) : name;
    } else if (ms_dmcx_is_digit(ms_dmcx_peek(p, 0))) {
        scope = ms_dmcx_simple_id(p);
        if (is_global)
            scope = ms_dmcx_make_of(p, ms_DMCX_GLOBAL, scope);
        scope = scope == 0 ? 0 : ms_dmcx_unresolved_levels(p, scope);
    } else {
        scope = ms_dmcx_unresolved_scope(p);
    }
    return scope == 0 ? 0 : ms_dmcx_make_two(p, ms_DMCX_QUALIFIED, scope, ms_dmcx_unresolved_base(p));
}

/* Expressions that are marked by two letters and are no operators; *found tells whether one was there. */
static uint32_t ms_dmcx_marked(ms_dmcx *p, bool *found)
{
    *found = true;
    if (ms_dmcx_eat2(p, 'i', 'l'))
        return ms_dmcx_init_list(p, 0);
    if (ms_dmcx_eat2(p, 'm', 'c'))
        return ms_dmcx_member_convert(p);
    if (ms_dmcx_eat2(p, 'n', 'x'))
        return ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, ms_dmcx_expr(p), ms_DMCX_W_NOEXCEPT_OF);
    if (ms_dmcx_eat2(p, 's', 'o'))
        return ms_dmcx_subobject(p);
    if (ms_dmcx_eat2(p, 's', 'p'))
        return ms_dmcx_make_of(p, ms_DMCX_EXPANSION, ms_dmcx_expr(p));
    if (ms_dmcx_eat2(p, 's', 'Z'))
        return ms_dmcx_sizeof_pack(p);
    if (ms_dmcx_eat2(p, 's', 'P')) {
        ms_dmcx_cell args = ms_dmcx_empty();
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &args, ms_dmcx_template_arg(p)))
                return 0;
        }
        return ms_dmcx_make(p, ms_DMCX_SIZEOF_ARGS, args.item, 0, 0);
    }
    if (ms_dmcx_eat2(p, 't', 'l')) {
        uint32_t type = ms_dmcx_type(p);
        return type == 0 ? 0 : ms_dmcx_init_list(p, type);
    }
    if (ms_dmcx_eat2(p, 't', 'r'))
        return ms_DMCX_W_THROW;
    if (ms_dmcx_eat2(p, 't', 'w'))
        return ms_dmcx_make_of(p, ms_DMCX_THROW, ms_dmcx_expr(p));
    if (ms_dmcx_eat2(p, 'r', 'q'))
        return ms_dmcx_requires(p, false);
    if (ms_dmcx_eat2(p, 'r', 'Q'))
        return ms_dmcx_requires(p, true);
    *found = false;
    return 0;
}

static uint32_t ms_dmcx_expr_inside(ms_dmcx *p)
{
    bool is_global = ms_dmcx_eat2(p, 'g', 's');
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op != NULL) {
        uint32_t ref = ms_dmcx_operands(p, op);
        if (ref == 0)
            return 0;
        ms_dmcx_node *n = ms_dmcx_at(p, ref);
        n->x = (uint8_t)(op - ms_dmcx_ops);
        n->y = is_global;
        return ref;
    }
    if (p->len - p->at < 2)
        return 0;
    switch (p->s[p->at]) {
    case 'L': return ms_dmcx_primary(p);
    case 'T': return ms_dmcx_template_param(p);
    case 'f':
        if (ms_dmcx_peek(p, 1) == 'p' || (ms_dmcx_peek(p, 1) == 'L' && ms_dmcx_is_digit(ms_dmcx_peek(p, 2))))
            return ms_dmcx_function_param(p);
        return ms_dmcx_fold(p);
    case 'u': p->at++; return ms_dmcx_vendor_expr(p);
    default: break;
    }
    bool found;
    uint32_t ref = ms_dmcx_marked(p, &found);
    return found ? ref : ms_dmcx_unresolved(p, is_global);
}

/* <expression> (ABI 5.1.6) */
static uint32_t ms_dmcx_expr(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t ref = ms_dmcx_expr_inside(p);
    p->d->depth--;
    return ref;
}

/* ---- C++: encodings ---- */

/* <call-offset>: not printed */
static bool ms_dmcx_call_offset(ms_dmcx *p)
{
    if (ms_dmcx_eat(p, 'h'))
        return ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_');
    return ms_dmcx_eat(p, 'v') && ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_') &&
           ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_');
}

static uint32_t ms_dmcx_special_name(ms_dmcx *p, uint32_t child, uint32_t word)
{
    return ms_dmcx_make_x(p, ms_DMCX_SPECIAL, child, word);
}

/* TC <type> <offset> _ <base type> */
static uint32_t ms_dmcx_ctor_vtable(ms_dmcx *p)
{
    uint32_t type = ms_dmcx_type(p);
    if (type == 0 || ms_dmcx_number(p, true).len == 0 || !ms_dmcx_eat(p, '_'))
        return 0;
    return ms_dmcx_make_two(p, ms_DMCX_CTOR_VTABLE, ms_dmcx_type(p), type);
}

/* <special-name> that begins with T */
static uint32_t ms_dmcx_special_t(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    p->at += c != '\0';
    switch (c) {
    case 'A': return ms_dmcx_special_name(p, ms_dmcx_template_arg(p), ms_DMCX_W_PARAM_OBJECT);
    case 'V': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_VTABLE);
    case 'T': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_VTT);
    case 'I': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_TYPEINFO);
    case 'S': return ms_dmcx_special_name(p, ms_dmcx_type(p), ms_DMCX_W_TYPEINFO_NAME);
    case 'c':
        if (!ms_dmcx_call_offset(p) || !ms_dmcx_call_offset(p))
            return 0;
        return ms_dmcx_special_name(p, ms_dmcx_encoding(p), ms_DMCX_W_COVARIANT);
    case 'C': return ms_dmcx_ctor_vtable(p);
    case 'W': return ms_dmcx_special_name(p, ms_dmcx_name(p, NULL), ms_DMCX_W_TLS_WRAPPER);
    case 'H': return ms_dmcx_special_name(p, ms_dmcx_name(p, NULL), ms_DMCX_W_TLS_INIT);
    default: break;
    }
    p->at -= c != '\0';
    if (!ms_dmcx_call_offset(p))
        return 0;
    return ms_dmcx_special_name(p, ms_dmcx_encoding(p), c == 'v' ? ms_DMCX_W_VIRTUAL_THUNK : ms_DMCX_W_THUNK);
}

/* <special-name> that begins with G */
static uint32_t ms_dmcx_special_g(ms_dmcx *p)
{
    uint32_t name = 0;
    if (ms_dmcx_eat2(p, 'G', 'V'))
        return ms_dmcx_special_name(p, ms_dmcx_name(p, NULL), ms_DMCX_W_GUARD);
    if (ms_dmcx_eat2(p, 'G', 'R')) {
        name = ms_dmcx_name(p, NULL);
        uint32_t id;
        bool has_id = ms_dmcx_seq_id(p, &id);
        if (!ms_dmcx_eat(p, '_') && has_id)
            return 0;
        return ms_dmcx_special_name(p, name, ms_DMCX_W_REF_TEMP);
    }
    if (ms_dmcx_eat2(p, 'G', 'I') && ms_dmcx_module(p, &name))
        return ms_dmcx_special_name(p, name, ms_DMCX_W_MODULE_INIT);
    return 0;
}

/* Bytes that can follow an encoding; none begins a type. */
static bool ms_dmcx_at_end(const ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    return p->at == p->len || c == 'E' || c == '.' || c == '_';
}

/* The parameters, conditions and constraint of a function; its name is known. */
static uint32_t ms_dmcx_bare_function(ms_dmcx *p, const ms_dmcx_name_state *state, uint32_t name)
{
    ms_dmcx_cell conditions = ms_dmcx_empty();
    bool is_conditional = ms_dmcx_eat_text(p, "Ua9enable_ifI", 13);
    if (is_conditional) {
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &conditions, ms_dmcx_template_arg(p)))
                return 0;
        }
    }
    uint32_t result = 0;
    if (!state->special && state->ends_with_args && (result = ms_dmcx_type(p)) == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    if (!ms_dmcx_eat(p, 'v')) {
        do {
            uint32_t type = ms_dmcx_type(p);
            if (state->explicit_object && params.item == 0)
                type = ms_dmcx_make_of(p, ms_DMCX_THIS_PARAM, type);
            if (!ms_dmcx_append(p, &params, type))
                return 0;
        } while (!ms_dmcx_at_end(p) && ms_dmcx_peek(p, 0) != 'Q');
    }
    uint32_t constraint = 0;
    if (ms_dmcx_eat(p, 'Q') && (constraint = ms_dmcx_constraint_expr(p)) == 0)
        return 0;
    uint32_t tail = ms_dmcx_make(p, ms_DMCX_ENCODING_TAIL, params.item, conditions.item, constraint);
    uint32_t flags = ms_DMCX_RIGHT | ms_DMCX_IS_FUNCTION;
    uint32_t ref = tail == 0 ? 0 : ms_dmcx_make_flagged(p, ms_DMCX_ENCODING, result, name, flags);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    ms_dmcx_at(p, tail)->x = is_conditional;
    n->c = tail;
    n->x = state->quals;
    n->y = state->ref;
    return ref;
}

static uint32_t ms_dmcx_encoding_inside(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'T')
        return ms_dmcx_special_t(p);
    if (c == 'G')
        return ms_dmcx_special_g(p);
    ms_dmcx_name_state state;
    ms_zero(&state, sizeof(state));
    state.forward = p->forward;
    uint32_t name = ms_dmcx_name(p, &state);
    if (name == 0 || !ms_dmcx_resolve_forward(p, state.forward))
        return 0;
    return ms_dmcx_at_end(p) ? name : ms_dmcx_bare_function(p, &state, name);
}

/* <encoding>; template parameters in it are its own. */
static uint32_t ms_dmcx_encoding(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t levels = p->levels;
    uint32_t level_count = p->level_count;
    p->levels = 0;
    p->level_count = 0;
    uint32_t ref = ms_dmcx_encoding_inside(p);
    p->levels = levels;
    p->level_count = level_count;
    p->d->depth--;
    return ref;
}

/* The whole name; 0 when it is malformed. */
static uint32_t ms_dmcx_mangled(ms_dmcx *p)
{
    while (ms_dmcx_eat(p, '_'))
        continue;
    bool is_block = p->at >= 3;
    p->at++;
    uint32_t ref = ms_dmcx_encoding(p);
    if (ref == 0)
        return 0;
    if (is_block) {
        if (!ms_dmcx_eat_text(p, "_block_invoke", 13))
            return 0;
        bool needs_number = ms_dmcx_eat(p, '_');
        if (ms_dmcx_number(p, false).len == 0 && needs_number)
            return 0;
        if (ms_dmcx_peek(p, 0) != '.' && p->at != p->len)
            return 0;
        return ms_dmcx_special_name(p, ref, ms_DMCX_W_BLOCK_INVOKE);
    }
    if (ms_dmcx_peek(p, 0) == '.') {
        ms_dmcx_span t;
        t.off = p->at;
        t.len = p->len - p->at;
        return ms_dmcx_make_two(p, ms_DMCX_DOT_SUFFIX, ref, ms_dmcx_make_text(p, t));
    }
    return p->at == p->len ? ref : 0;
}

/* ---- C++: printing ---- */

static void ms_dmcx_put(ms_dmcx *p, const char *text, size_t len)
{
    if (len == 0)
        return;
    p->last = text[len - 1];
    ms_dm_put(p->d, text, len);
}

static void ms_dmcx_put_char(ms_dmcx *p, char c)
{
    ms_dm *d = p->d;
    p->last = c;
    if (d->out_len == d->out_limit)
        d->failed = true;
    else if (d->out_len < d->cap)
        d->out[d->out_len++] = c;
    else
        d->out_len++;
}

static void ms_dmcx_put_word(ms_dmcx *p, uint32_t word)
{
    ms_dmcx_put(p, ms_dmcx_words[word].ptr, ms_dmcx_words[word].len);
}

#define ms_DMCX_PUT(p, text) ms_dmcx_put(p, text, sizeof(text) - 1)

static void ms_dmcx_put_span(ms_dmcx *p, uint32_t off, uint32_t len)
{
    ms_dmcx_put(p, p->s + off, len);
}

/* A mangled number: n is its minus. */
static void ms_dmcx_put_number(ms_dmcx *p, uint32_t off, uint32_t len)
{
    if (len != 0 && p->s[off] == 'n') {
        ms_dmcx_put_char(p, '-');
        off++;
        len--;
    }
    ms_dmcx_put_span(p, off, len);
}

static void ms_dmcx_put_decimal(ms_dmcx *p, uint32_t value)
{
    char digits[10];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    ms_dmcx_put(p, digits + at, sizeof(digits) - at);
}

/* A bracket inside which a > closes no template arguments */
static void ms_dmcx_open(ms_dmcx *p, char c)
{
    p->brackets += p->in_args;
    ms_dmcx_put_char(p, c);
}

static void ms_dmcx_close(ms_dmcx *p, char c)
{
    p->brackets -= p->in_args;
    ms_dmcx_put_char(p, c);
}

static void ms_dmcx_put_quals(ms_dmcx *p, uint32_t quals, uint32_t ref)
{
    if (quals & 1u)
        ms_DMCX_PUT(p, " const");
    if (quals & 2u)
        ms_DMCX_PUT(p, " volatile");
    if (quals & 4u)
        ms_DMCX_PUT(p, " restrict");
    if (ref == 1)
        ms_DMCX_PUT(p, " &");
    else if (ref == 2)
        ms_DMCX_PUT(p, " &&");
}

/* A hexadecimal floating number as printf's %a writes it: first digit, fraction without its trailing zeros,
 * exponent. */
static void ms_dmcx_put_hex_float(ms_dmcx *p, uint32_t lead, uint64_t fraction, uint32_t digits,
                                  int32_t exponent)
{
    char text[16];
    uint32_t len = 0;
    ms_DMCX_PUT(p, "0x");
    ms_dmcx_put_char(p, (char)(lead < 10 ? '0' + lead : 'a' + (lead - 10)));
    for (; digits != 0; digits--) {
        uint32_t digit = (uint32_t)(fraction >> (4u * (digits - 1))) & 15u;
        text[len++] = (char)(digit < 10 ? '0' + digit : 'a' + (digit - 10));
    }
    while (len != 0 && text[len - 1] == '0')
        len--;
    if (len != 0)
        ms_dmcx_put_char(p, '.');
    ms_dmcx_put(p, text, len);
    ms_dmcx_put_char(p, 'p');
    ms_dmcx_put_char(p, exponent < 0 ? '-' : '+');
    ms_dmcx_put_decimal(p, (uint32_t)(exponent < 0 ? -exponent : exponent));
}

/* The x87's long double: 15 bits of exponent, 64 of mantissa with its leading one written. */
static void ms_dmcx_put_x87(ms_dmcx *p, uint32_t exponent, uint64_t mantissa)
{
    bool is_normal = mantissa >> 63 != 0;
    if (exponent == 0x7fff && mantissa << 1 == 0 && is_normal)
        ms_DMCX_PUT(p, "inf");
    else if (exponent == 0x7fff || (exponent != 0 && !is_normal))
        ms_DMCX_PUT(p, "nan");
    else if (mantissa == 0)
        ms_DMCX_PUT(p, "0x0p+0");
    else
        ms_dmcx_put_hex_float(p, (uint32_t)(mantissa >> 60), mantissa & (UINT64_MAX >> 4), 15,
                              (int32_t)(exponent == 0 ? 1 : exponent) - 16383 - 3);
}

/* An IEEE float or double, given as a double's parts. A float's small values are normal as doubles. */
static void ms_dmcx_put_ieee(ms_dmcx *p, uint32_t exponent, uint64_t fraction, bool is_float)
{
    int32_t power = (int32_t)exponent - 1023;
    uint32_t lead = exponent != 0;
    if (is_float) {
        power = (int32_t)exponent - 127;
        if (exponent == 255)
            exponent = 2047;
        fraction <<= 29;
        if (exponent == 0 && fraction != 0) {
            for (power = -126; fraction >> 52 == 0; power--)
                fraction <<= 1;
            fraction &= UINT64_MAX >> 12;
            lead = 1;
        }
    } else if (exponent == 0) {
        power = -1022;
    }
    if (exponent == 2047)
        ms_dmcx_put(p, fraction == 0 ? "inf" : "nan", 3);
    else if (lead == 0 && fraction == 0)
        ms_DMCX_PUT(p, "0x0p+0");
    else
        ms_dmcx_put_hex_float(p, lead, fraction, 13, power);
}

static void ms_dmcx_put_floating(ms_dmcx *p, const ms_dmcx_node *n)
{
    uint32_t high = 0; /* the bytes before the last eight: sign and exponent of an x87 number */
    uint64_t low = 0;
    for (uint32_t i = 0; i < n->b; i++) {
        char c = p->s[n->a + i];
        uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        high = high << 4 | (uint32_t)(low >> 60);
        low = low << 4 | digit;
    }
    uint32_t sign = n->b == 20 ? high >> 15 : (uint32_t)(low >> (4u * n->b - 1u)) & 1u;
    if (sign != 0)
        ms_dmcx_put_char(p, '-');
    if (n->b == 20)
        ms_dmcx_put_x87(p, high & 0x7fffu, low);
    else if (n->b == 16)
        ms_dmcx_put_ieee(p, (uint32_t)(low >> 52) & 2047u, low & (UINT64_MAX >> 12), false);
    else
        ms_dmcx_put_ieee(p, (uint32_t)(low >> 23) & 255u, low & 0x7fffffu, true);
    if (n->x != 0)
        ms_dmcx_put_char(p, (char)n->x);
}

static void ms_dmcx_put_operator(ms_dmcx *p, uint32_t index)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[index];
    ms_DMCX_PUT(p, "operator");
    if (op->symbol[0] >= 'a' && op->symbol[0] <= 'z')
        ms_dmcx_put_char(p, ' ');
    ms_dmcx_put(p, op->symbol, op->len);
}

/* How strongly an expression binds; what is none binds strongest. */
static uint32_t ms_dmcx_prec_of(const ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_PREFIX:
    case ms_DMCX_POSTFIX_OP:
    case ms_DMCX_BINARY:
    case ms_DMCX_SUBSCRIPT:
    case ms_DMCX_MEMBER:
    case ms_DMCX_OF: return ms_dmcx_ops[n->x].prec;
    case ms_DMCX_NEW:
    case ms_DMCX_DELETE:
    case ms_DMCX_MEMBER_CONVERT: return ms_DMCX_UNARY;
    case ms_DMCX_ENCLOSED: return n->x == ms_DMCX_W_NOEXCEPT_OF ? ms_DMCX_UNARY : ms_DMCX_PRIMARY;
    case ms_DMCX_CALL:
    case ms_DMCX_NAMED_CAST: return ms_DMCX_POSTFIX;
    case ms_DMCX_CONVERT: return ms_DMCX_CAST;
    case ms_DMCX_CHOICE: return ms_DMCX_CONDITIONAL;
    default: return ms_DMCX_PRIMARY;
    }
}

/* The name that a class's constructors repeat: its last component without arguments and tags. */
static void ms_dmcx_put_base(ms_dmcx *p, uint32_t ref)
{
    for (;;) {
        if (ref == ms_DMCX_W_TRUE || ref == ms_DMCX_W_FALSE)
            return;
        if (ref < ms_DMCX_W_COUNT) {
            ms_dmcx_text word = ms_dmcx_words[ref];
            size_t from = ref >= ms_DMCX_W_ALLOCATOR ? sizeof("std::") - 1 : 0;
            size_t to = from;
            while (to < word.len && (word.ptr[to] != '<' || from == 0))
                to++;
            ms_dmcx_put(p, word.ptr + from, to - from);
            return;
        }
        const ms_dmcx_node *n = ms_dmcx_at(p, ref);
        switch (n->kind) {
        case ms_DMCX_TEXT: ms_dmcx_put_span(p, n->a, n->b); return;
        case ms_DMCX_OPERATOR: ms_dmcx_put_operator(p, n->x); return;
        case ms_DMCX_NESTED:
        case ms_DMCX_FRIEND:
        case ms_DMCX_QUALIFIED:
        case ms_DMCX_IN_MODULE: ref = n->b; break;
        case ms_DMCX_TEMPLATE:
        case ms_DMCX_GLOBAL:
        case ms_DMCX_ABI_TAG: ref = n->a; break;
        default: return;
        }
    }
}

/* floors: recursion */
static void ms_dmcx_left(ms_dmcx *p, uint32_t ref);
static void ms_dmcx_right(ms_dmcx *p, uint32_t ref);

static void ms_dmcx_print(ms_dmcx *p, uint32_t ref)
{
    ms_dmcx_left(p, ref);
    if ((ms_dmcx_flags_of(p, ref) & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK)) != 0)
        ms_dmcx_right(p, ref);
}

/* Packs inside an expansion all show the same element; the first one met tells how many there are. */
static uint32_t ms_dmcx_pack_element(ms_dmcx *p, const ms_dmcx_node *pack)
{
    if (p->pack_count == ms_DMCX_UNSET) {
        p->pack_count = pack->b;
        p->pack_index = 0;
    }
    return p->pack_index < pack->b ? *ms_dmcx_pack_at(p, pack->a, p->pack_index) : 0;
}

/* Whether a declarator has a shape, looking through packs and forward references, which may form a circle. */
static bool ms_dmcx_has(ms_dmcx *p, uint32_t ref, uint32_t flag)
{
    for (uint32_t hops = 0; hops < ms_DMCX_MAX_PRINT_DEPTH; hops++) {
        uint32_t flags = ms_dmcx_flags_of(p, ref);
        if ((flags & flag) != 0)
            return true;
        if ((flags & (flag * ms_DMCX_ASK)) == 0 || p->d->work == 0)
            return false;
        p->d->work--;
        const ms_dmcx_node *n = ms_dmcx_at(p, ref);
        switch (n->kind) {
        case ms_DMCX_PACK: ref = ms_dmcx_pack_element(p, n); break;
        case ms_DMCX_MEMBER_PTR: ref = n->b; break;
        case ms_DMCX_FORWARD: ref = n->y != 0 ? 0 : n->c; break;
        case ms_DMCX_QUAL:
        case ms_DMCX_POINTER:
        case ms_DMCX_REFERENCE: ref = n->a; break;
        default: return false;
        }
    }
    return false;
}

/* An operand of something that binds as strongly as prec, in parentheses where it binds less. */
static void ms_dmcx_operand(ms_dmcx *p, uint32_t ref, uint32_t prec)
{
    if (ref < ms_DMCX_W_COUNT) {
        ms_dmcx_put_word(p, ref);
        return;
    }
    const ms_dmcx_node *n = ms_dmcx_at(p, ref);
    bool parens = n->kind >= ms_DMCX_PREFIX && ms_dmcx_prec_of(n) >= prec;
    if (parens)
        ms_dmcx_open(p, '(');
    ms_dmcx_print(p, ref);
    if (parens)
        ms_dmcx_close(p, ')');
}

/* A list with commas; an element that is an empty pack leaves no comma. */
static void ms_dmcx_list(ms_dmcx *p, uint32_t cell)
{
    bool first = true;
    for (; cell != 0 && !p->d->failed; cell = p->cells[cell].next) {
        size_t before = p->d->out_len;
        char last = p->last;
        if (!first)
            ms_DMCX_PUT(p, ", ");
        size_t behind = p->d->out_len;
        ms_dmcx_operand(p, p->cells[cell].item, ms_DMCX_COMMA);
        if (p->d->out_len != behind) {
            first = false;
            continue;
        }
        p->d->out_len = before;
        p->last = last;
    }
}

static void ms_dmcx_parens_list(ms_dmcx *p, uint32_t cell)
{
    ms_dmcx_open(p, '(');
    ms_dmcx_list(p, cell);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_parens(ms_dmcx *p, uint32_t ref)
{
    ms_dmcx_open(p, '(');
    ms_dmcx_print(p, ref);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_angles(ms_dmcx *p, uint32_t cell)
{
    bool in_args = p->in_args;
    p->in_args = true;
    ms_dmcx_put_char(p, '<');
    ms_dmcx_list(p, cell);
    ms_dmcx_put_char(p, '>');
    p->in_args = in_args;
}

/* <pattern>...: the pattern once for every element of its packs; with the dots where it has none (a pack of
 * function parameters). */
static void ms_dmcx_expansion(ms_dmcx *p, uint32_t pattern)
{
    uint32_t index = p->pack_index;
    uint32_t count = p->pack_count;
    p->pack_index = ms_DMCX_UNSET;
    p->pack_count = ms_DMCX_UNSET;
    size_t before = p->d->out_len;
    char last = p->last;
    ms_dmcx_print(p, pattern);
    if (p->pack_count == ms_DMCX_UNSET) {
        ms_DMCX_PUT(p, "...");
    } else if (p->pack_count == 0) {
        p->d->out_len = before;
        p->last = last;
    }
    uint32_t elements = p->pack_count == ms_DMCX_UNSET ? 0 : p->pack_count;
    for (uint32_t i = 1; i < elements && !p->d->failed; i++) {
        ms_DMCX_PUT(p, ", ");
        p->pack_index = i;
        ms_dmcx_print(p, pattern);
    }
    p->pack_index = index;
    p->pack_count = count;
}

/* ---- C++: printing types ---- */

/* id<P>: what a pointer to Objective-C's root object with a protocol is called. */
static bool ms_dmcx_is_id(const ms_dmcx *p, uint32_t ref)
{
    if (ms_dmcx_kind_of(p, ref) != ms_DMCX_OBJC_PROTO)
        return false;
    return ms_dmcx_is_text(p, ms_dmcx_at(p, ref)->a, "objc_object", 11);
}

/* What stands between a type and the name or parentheses of a pointer to it. */
static void ms_dmcx_open_declarator(ms_dmcx *p, uint32_t pointee)
{
    bool is_array = ms_dmcx_has(p, pointee, ms_DMCX_IS_ARRAY);
    if (is_array)
        ms_dmcx_put_char(p, ' ');
    if (is_array || ms_dmcx_has(p, pointee, ms_DMCX_IS_FUNCTION))
        ms_dmcx_put_char(p, '(');
}

static void ms_dmcx_close_declarator(ms_dmcx *p, uint32_t pointee)
{
    if (ms_dmcx_has(p, pointee, ms_DMCX_IS_ARRAY) || ms_dmcx_has(p, pointee, ms_DMCX_IS_FUNCTION))
        ms_dmcx_put_char(p, ')');
    ms_dmcx_right(p, pointee);
}

static void ms_dmcx_pointer_left(ms_dmcx *p, uint32_t pointee)
{
    if (ms_dmcx_is_id(p, pointee)) {
        ms_DMCX_PUT(p, "id<");
        ms_dmcx_print(p, ms_dmcx_at(p, pointee)->b);
        ms_dmcx_put_char(p, '>');
        return;
    }
    ms_dmcx_left(p, pointee);
    ms_dmcx_open_declarator(p, pointee);
    ms_dmcx_put_char(p, '*');
}

/* What is printed for a type where packs and forward references stand for something else. */
static uint32_t ms_dmcx_shown(ms_dmcx *p, uint32_t ref)
{
    for (uint32_t hops = 0; hops < ms_DMCX_MAX_PRINT_DEPTH && p->d->work != 0; hops++) {
        uint32_t kind = ms_dmcx_kind_of(p, ref);
        uint32_t next = 0;
        p->d->work--;
        if (kind == ms_DMCX_PACK)
            next = ms_dmcx_pack_element(p, ms_dmcx_at(p, ref));
        else if (kind == ms_DMCX_FORWARD && ms_dmcx_at(p, ref)->y == 0)
            next = ms_dmcx_at(p, ref)->c;
        if (next == 0)
            break;
        ref = next;
    }
    return ref;
}

/* Reference collapsing ([dcl.ref]): & wins. Returns what is referred to at last, 0 when that is a circle. */
static uint32_t ms_dmcx_collapse(ms_dmcx *p, const ms_dmcx_node *n, uint32_t *ref_qual)
{
    uint32_t pointee = n->a;
    *ref_qual = n->x;
    for (uint32_t hops = 0; hops < ms_DMCX_MAX_PRINT_DEPTH && p->d->work != 0; hops++) {
        uint32_t shown = ms_dmcx_shown(p, pointee);
        if (ms_dmcx_kind_of(p, shown) != ms_DMCX_REFERENCE)
            return pointee;
        p->d->work--;
        n = ms_dmcx_at(p, shown);
        pointee = n->a;
        if (n->x < *ref_qual)
            *ref_qual = n->x;
    }
    return 0;
}

static void ms_dmcx_reference(ms_dmcx *p, ms_dmcx_node *n, bool is_left)
{
    if (n->y != 0)
        return;
    n->y = 1;
    uint32_t ref_qual;
    uint32_t pointee = ms_dmcx_collapse(p, n, &ref_qual);
    if (pointee == 0) {
        n->y = 0;
        return;
    }
    if (is_left) {
        ms_dmcx_left(p, pointee);
        ms_dmcx_open_declarator(p, pointee);
        ms_dmcx_put(p, "&&", ref_qual);
    } else {
        ms_dmcx_close_declarator(p, pointee);
    }
    n->y = 0;
}

static void ms_dmcx_member_pointer_left(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_left(p, n->b);
    bool in_parens = ms_dmcx_has(p, n->b, ms_DMCX_IS_ARRAY) || ms_dmcx_has(p, n->b, ms_DMCX_IS_FUNCTION);
    ms_dmcx_put_char(p, in_parens ? '(' : ' ');
    ms_dmcx_print(p, n->a);
    ms_DMCX_PUT(p, "::*");
}

static void ms_dmcx_function_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_parens_list(p, n->b);
    ms_dmcx_right(p, n->a);
    ms_dmcx_put_quals(p, n->x, n->y);
    if (n->c != 0) {
        ms_dmcx_put_char(p, ' ');
        ms_dmcx_print(p, n->c);
    }
}

static void ms_dmcx_array_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (p->last != ']')
        ms_dmcx_put_char(p, ' ');
    ms_dmcx_put_char(p, '[');
    if (n->b != 0)
        ms_dmcx_print(p, n->b);
    ms_dmcx_put_char(p, ']');
    ms_dmcx_right(p, n->a);
}

static void ms_dmcx_vector_out(ms_dmcx *p, uint32_t type, uint32_t size)
{
    if (type == 0)
        ms_DMCX_PUT(p, "pixel");
    else
        ms_dmcx_print(p, type);
    ms_DMCX_PUT(p, " vector[");
    if (size != 0)
        ms_dmcx_print(p, size);
    ms_dmcx_put_char(p, ']');
}

/* ---- C++: printing names ---- */

static void ms_dmcx_requires_clause(ms_dmcx *p, uint32_t constraint)
{
    if (constraint == 0)
        return;
    ms_DMCX_PUT(p, " requires ");
    ms_dmcx_print(p, constraint);
}

/* The part of a lambda's name behind 'lambda', and all of a lambda expression's */
static void ms_dmcx_closure_declarator(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_node *tail = ms_dmcx_at(p, n->c);
    if (n->a != 0)
        ms_dmcx_angles(p, n->a);
    if (tail->a != 0) {
        ms_dmcx_requires_clause(p, tail->a);
        ms_dmcx_put_char(p, ' ');
    }
    ms_dmcx_parens_list(p, n->b);
    ms_dmcx_requires_clause(p, tail->b);
}

static void ms_dmcx_encoding_left(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->a != 0) {
        ms_dmcx_left(p, n->a);
        if (!ms_dmcx_has(p, n->a, ms_DMCX_RIGHT))
            ms_dmcx_put_char(p, ' ');
    }
    ms_dmcx_print(p, n->b);
}

static void ms_dmcx_encoding_right(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_node *tail = ms_dmcx_at(p, n->c);
    ms_dmcx_parens_list(p, tail->a);
    if (n->a != 0)
        ms_dmcx_right(p, n->a);
    ms_dmcx_put_quals(p, n->x, n->y);
    if (tail->x != 0) {
        ms_DMCX_PUT(p, " [enable_if:");
        ms_dmcx_list(p, tail->b);
        ms_dmcx_put_char(p, ']');
    }
    ms_dmcx_requires_clause(p, tail->c);
}

static void ms_dmcx_two(ms_dmcx *p, const ms_dmcx_node *n, const char *between, size_t len)
{
    ms_dmcx_print(p, n->a);
    ms_dmcx_put(p, between, len);
    ms_dmcx_print(p, n->b);
}

static void ms_dmcx_synthetic(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_put(p, n->x == 1 ? "$N" : "$TT", n->x == 2 ? 3 : 2);
    if (n->a != 0)
        ms_dmcx_put_decimal(p, n->a - 1);
}

/* ---- C++: printing expressions ---- */

static void ms_dmcx_binary(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[n->x];
    bool closes = op->symbol[0] == '>' && (op->len == 1 || (op->len == 2 && op->symbol[1] == '>'));
    bool parens = p->brackets == 0 && closes;
    bool assigns = op->prec == ms_DMCX_ASSIGN; /* binds to the right; its left side is a logical or */
    if (parens)
        ms_dmcx_open(p, '(');
    ms_dmcx_operand(p, n->a, assigns ? (uint32_t)ms_DMCX_ORIF : op->prec + 1u);
    if (op->prec != ms_DMCX_COMMA)
        ms_dmcx_put_char(p, ' ');
    ms_dmcx_put(p, op->symbol, op->len);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_operand(p, n->b, op->prec + (assigns ? 1u : 0u));
    if (parens)
        ms_dmcx_close(p, ')');
}

static void ms_dmcx_fold_pack(ms_dmcx *p, uint32_t pack)
{
    ms_dmcx_open(p, '(');
    ms_dmcx_expansion(p, pack);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_fold_operator(ms_dmcx *p, uint32_t index)
{
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_put(p, ms_dmcx_ops[index].symbol, ms_dmcx_ops[index].len);
    ms_dmcx_put_char(p, ' ');
}

static void ms_dmcx_fold_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool is_left = n->y != 0;
    ms_dmcx_open(p, '(');
    if (!is_left)
        ms_dmcx_fold_pack(p, n->a);
    else if (n->b != 0)
        ms_dmcx_operand(p, n->b, ms_DMCX_CAST + 1);
    if (!is_left || n->b != 0)
        ms_dmcx_fold_operator(p, n->x);
    ms_DMCX_PUT(p, "...");
    if (is_left || n->b != 0)
        ms_dmcx_fold_operator(p, n->x);
    if (is_left)
        ms_dmcx_fold_pack(p, n->a);
    else if (n->b != 0)
        ms_dmcx_operand(p, n->b, ms_DMCX_CAST + 1);
    ms_dmcx_close(p, ')');
}

static void ms_dmcx_new_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->y != 0)
        ms_DMCX_PUT(p, "::");
    ms_dmcx_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    if (n->a != 0)
        ms_dmcx_parens_list(p, n->a);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_print(p, n->b);
    if (n->c != 0)
        ms_dmcx_parens_list(p, n->c);
}

static void ms_dmcx_delete_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->y != 0)
        ms_DMCX_PUT(p, "::");
    ms_dmcx_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_print(p, n->a);
}

static void ms_dmcx_call_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (ms_dmcx_ops[n->x].kind == ms_DMCX_OP_PAREN_CALL)
        ms_dmcx_parens(p, n->a);
    else
        ms_dmcx_print(p, n->a);
    ms_dmcx_parens_list(p, n->b);
}

static void ms_dmcx_choice(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_operand(p, n->a, ms_DMCX_CONDITIONAL);
    ms_DMCX_PUT(p, " ? ");
    ms_dmcx_print(p, n->b);
    ms_DMCX_PUT(p, " : ");
    ms_dmcx_operand(p, n->c, ms_DMCX_ASSIGN + 1);
}

static void ms_dmcx_named_cast(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_args = p->in_args;
    ms_dmcx_put(p, ms_dmcx_ops[n->x].symbol, ms_dmcx_ops[n->x].len);
    p->in_args = true;
    ms_dmcx_put_char(p, '<');
    ms_dmcx_left(p, n->a);
    ms_dmcx_put_char(p, '>');
    p->in_args = in_args;
    ms_dmcx_parens(p, n->b);
}

/* The value of an integer literal that is a character, or 256. */
static uint32_t ms_dmcx_char_value(const ms_dmcx *p, uint32_t ref)
{
    if (ms_dmcx_kind_of(p, ref) != ms_DMCX_INTEGER)
        return 256;
    const ms_dmcx_node *n = ms_dmcx_at(p, ref);
    uint32_t value = 0;
    if (n->b > 8)
        return 256;
    for (uint32_t i = 0; i < n->b && value < 256; i++) {
        char c = p->s[n->a + i];
        value = ms_dmcx_is_digit(c) ? value * 10u + (uint32_t)(c - '0') : 256;
    }
    return value < 256 ? value : 256;
}

/* Whether a list that initialises type is an array of char that can print as a string. */
static bool ms_dmcx_is_string(const ms_dmcx *p, uint32_t type, uint32_t cell)
{
    if (ms_dmcx_kind_of(p, type) != ms_DMCX_ARRAY)
        return false;
    uint32_t of = ms_dmcx_at(p, type)->a;
    if (of != ms_DMCX_W_CHAR && !ms_dmcx_is_text(p, of, "char", 4))
        return false;
    for (; cell != 0; cell = p->cells[cell].next) {
        if (ms_dmcx_char_value(p, p->cells[cell].item) == 256)
            return false;
    }
    return true;
}

/* A character of a string. Returns whether it was written as a number, which a digit behind would extend. */
static bool ms_dmcx_put_escaped(ms_dmcx *p, uint32_t c)
{
    char text[4];
    size_t len = 1;
    text[0] = '\\';
    if (c >= 7 && c <= 13) {
        text[len++] = "abtnvfr"[c - 7];
    } else if (c == '"' || c == '\\') {
        text[len++] = (char)c;
    } else if (c < 7) {
        text[len++] = (char)('0' + c);
    } else if (c < 32 || c == 127) {
        text[len++] = 'x';
        if (c > 15)
            text[len++] = (char)('0' + c / 16);
        text[len++] = "0123456789ABCDEF"[c % 16];
    } else {
        text[0] = (char)c;
    }
    ms_dmcx_put(p, text, len);
    return len > 1 && (text[1] == 'x' || ms_dmcx_is_digit(text[1]));
}

static void ms_dmcx_string_out(ms_dmcx *p, uint32_t cell)
{
    bool after_number = false;
    ms_dmcx_put_char(p, '"');
    for (; cell != 0; cell = p->cells[cell].next) {
        uint32_t c = ms_dmcx_char_value(p, p->cells[cell].item);
        bool is_hex = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
        if (after_number && is_hex)
            ms_DMCX_PUT(p, "\"\"");
        after_number = ms_dmcx_put_escaped(p, c);
    }
    ms_dmcx_put_char(p, '"');
}

static void ms_dmcx_init_list_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->a != 0 && ms_dmcx_is_string(p, n->a, n->b)) {
        ms_dmcx_string_out(p, n->b);
        return;
    }
    if (n->a != 0)
        ms_dmcx_print(p, n->a);
    ms_dmcx_put_char(p, '{');
    ms_dmcx_list(p, n->b);
    ms_dmcx_put_char(p, '}');
}

static void ms_dmcx_init_value(ms_dmcx *p, uint32_t value)
{
    uint32_t kind = ms_dmcx_kind_of(p, value);
    if (kind != ms_DMCX_FIELD_INIT && kind != ms_DMCX_INDEX_INIT && kind != ms_DMCX_RANGE_INIT)
        ms_DMCX_PUT(p, " = ");
    ms_dmcx_print(p, value);
}

static void ms_dmcx_initialiser(ms_dmcx *p, const ms_dmcx_node *n)
{
    if (n->kind == ms_DMCX_FIELD_INIT) {
        ms_dmcx_put_char(p, '.');
        ms_dmcx_print(p, n->a);
        ms_dmcx_init_value(p, n->b);
        return;
    }
    ms_dmcx_put_char(p, '[');
    ms_dmcx_print(p, n->a);
    if (n->kind == ms_DMCX_RANGE_INIT) {
        ms_DMCX_PUT(p, " ... ");
        ms_dmcx_print(p, n->b);
    }
    ms_dmcx_put_char(p, ']');
    ms_dmcx_init_value(p, n->kind == ms_DMCX_RANGE_INIT ? n->c : n->b);
}

static void ms_dmcx_integer_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_front = ms_dmcx_words[n->x].len > 3;
    if (in_front) {
        ms_dmcx_open(p, '(');
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_close(p, ')');
    }
    ms_dmcx_put_number(p, n->a, n->b);
    if (!in_front)
        ms_dmcx_put_word(p, n->x);
}

static void ms_dmcx_subobject_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_dmcx_print(p, n->b);
    ms_DMCX_PUT(p, ".<");
    ms_dmcx_print(p, n->a);
    ms_DMCX_PUT(p, " at offset ");
    if (n->c == 0)
        ms_dmcx_put_char(p, '0');
    else
        ms_dmcx_put_number(p, ms_dmcx_at(p, n->c)->a, ms_dmcx_at(p, n->c)->b);
    ms_dmcx_put_char(p, '>');
}

static void ms_dmcx_requirement_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    bool in_braces = n->x != 0 || n->b != 0;
    ms_dmcx_put_char(p, ' ');
    if (in_braces)
        ms_dmcx_open(p, '{');
    ms_dmcx_print(p, n->a);
    if (in_braces)
        ms_dmcx_close(p, '}');
    if (n->x != 0)
        ms_DMCX_PUT(p, " noexcept");
    if (n->b != 0) {
        ms_DMCX_PUT(p, " -> ");
        ms_dmcx_print(p, n->b);
    }
    ms_dmcx_put_char(p, ';');
}

static void ms_dmcx_requires_out(ms_dmcx *p, const ms_dmcx_node *n)
{
    ms_DMCX_PUT(p, "requires");
    if (n->a != 0) {
        ms_dmcx_put_char(p, ' ');
        ms_dmcx_parens_list(p, n->a);
    }
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_open(p, '{');
    for (uint32_t cell = n->b; cell != 0; cell = p->cells[cell].next)
        ms_dmcx_print(p, p->cells[cell].item);
    ms_dmcx_put_char(p, ' ');
    ms_dmcx_close(p, '}');
}

static void ms_dmcx_left_expr(ms_dmcx *p, const ms_dmcx_node *n)
{
    const ms_dmcx_op *op = &ms_dmcx_ops[n->x < ms_DMCX_OP_COUNT ? n->x : 0];
    switch (n->kind) {
    case ms_DMCX_PREFIX:
        ms_dmcx_put(p, op->symbol, op->len);
        ms_dmcx_operand(p, n->a, op->prec);
        break;
    case ms_DMCX_POSTFIX_OP:
        ms_dmcx_operand(p, n->a, op->prec + 1u);
        ms_dmcx_put(p, op->symbol, op->len);
        break;
    case ms_DMCX_BINARY: ms_dmcx_binary(p, n); break;
    case ms_DMCX_SUBSCRIPT:
        ms_dmcx_operand(p, n->a, op->prec);
        ms_dmcx_open(p, '[');
        ms_dmcx_print(p, n->b);
        ms_dmcx_close(p, ']');
        break;
    case ms_DMCX_MEMBER:
        ms_dmcx_operand(p, n->a, op->prec + 1u);
        ms_dmcx_put(p, op->symbol, op->len);
        ms_dmcx_operand(p, n->b, op->prec);
        break;
    case ms_DMCX_NEW: ms_dmcx_new_out(p, n); break;
    case ms_DMCX_DELETE: ms_dmcx_delete_out(p, n); break;
    case ms_DMCX_CALL: ms_dmcx_call_out(p, n); break;
    case ms_DMCX_CONVERT:
        ms_dmcx_parens(p, n->a);
        ms_dmcx_parens_list(p, n->b);
        break;
    case ms_DMCX_CHOICE: ms_dmcx_choice(p, n); break;
    case ms_DMCX_NAMED_CAST: ms_dmcx_named_cast(p, n); break;
    case ms_DMCX_OF:
        ms_dmcx_put(p, op->symbol, op->len);
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_ENCLOSED:
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_SIZEOF_PARAM_PACK:
        ms_DMCX_PUT(p, "sizeof...");
        ms_dmcx_fold_pack(p, n->a);
        break;
    case ms_DMCX_SIZEOF_ARGS:
        ms_DMCX_PUT(p, "sizeof... ");
        ms_dmcx_parens_list(p, n->a);
        break;
    case ms_DMCX_FOLD: ms_dmcx_fold_out(p, n); break;
    case ms_DMCX_INIT_LIST: ms_dmcx_init_list_out(p, n); break;
    case ms_DMCX_FIELD_INIT:
    case ms_DMCX_INDEX_INIT:
    case ms_DMCX_RANGE_INIT: ms_dmcx_initialiser(p, n); break;
    case ms_DMCX_THROW:
        ms_DMCX_PUT(p, "throw ");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_FUNCTION_PARAM:
        ms_DMCX_PUT(p, "fp");
        ms_dmcx_put_span(p, n->a, n->b);
        break;
    case ms_DMCX_INTEGER: ms_dmcx_integer_out(p, n); break;
    case ms_DMCX_ENUM_VALUE:
        ms_dmcx_parens(p, n->a);
        ms_dmcx_put_number(p, n->b, n->c);
        break;
    case ms_DMCX_FLOATING: ms_dmcx_put_floating(p, n); break;
    case ms_DMCX_STRING_OF:
        ms_DMCX_PUT(p, "\"<");
        ms_dmcx_print(p, n->a);
        ms_DMCX_PUT(p, ">\"");
        break;
    case ms_DMCX_LAMBDA:
        ms_DMCX_PUT(p, "[]");
        if (ms_dmcx_kind_of(p, n->a) == ms_DMCX_CLOSURE)
            ms_dmcx_closure_declarator(p, ms_dmcx_at(p, n->a));
        ms_DMCX_PUT(p, "{...}");
        break;
    case ms_DMCX_SUBOBJECT: ms_dmcx_subobject_out(p, n); break;
    case ms_DMCX_MEMBER_CONVERT:
        ms_dmcx_parens(p, n->a);
        ms_dmcx_parens(p, n->b);
        break;
    case ms_DMCX_REQUIRES: ms_dmcx_requires_out(p, n); break;
    case ms_DMCX_REQUIRE_EXPR: ms_dmcx_requirement_out(p, n); break;
    case ms_DMCX_REQUIRE_TYPE:
        ms_DMCX_PUT(p, " typename ");
        ms_dmcx_print(p, n->a);
        ms_dmcx_put_char(p, ';');
        break;
    default: /* REQUIRE_NESTED */
        ms_DMCX_PUT(p, " requires ");
        ms_dmcx_print(p, n->a);
        ms_dmcx_put_char(p, ';');
        break;
    }
}

/* ---- C++: printing, the dispatch ---- */

static void ms_dmcx_left_type(ms_dmcx *p, ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_QUAL:
        ms_dmcx_left(p, n->a);
        ms_dmcx_put_quals(p, n->x, 0);
        break;
    case ms_DMCX_VENDOR_QUAL: ms_dmcx_two(p, n, " ", 1); break;
    case ms_DMCX_OBJC_PROTO:
        ms_dmcx_two(p, n, "<", 1);
        ms_dmcx_put_char(p, '>');
        break;
    case ms_DMCX_POINTER: ms_dmcx_pointer_left(p, n->a); break;
    case ms_DMCX_REFERENCE: ms_dmcx_reference(p, n, true); break;
    case ms_DMCX_MEMBER_PTR: ms_dmcx_member_pointer_left(p, n); break;
    case ms_DMCX_ARRAY: ms_dmcx_left(p, n->a); break;
    case ms_DMCX_FUNCTION:
        ms_dmcx_left(p, n->a);
        ms_dmcx_put_char(p, ' ');
        break;
    case ms_DMCX_NOEXCEPT_IF:
        ms_DMCX_PUT(p, "noexcept");
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_THROW_LIST:
        ms_DMCX_PUT(p, "throw");
        ms_dmcx_parens_list(p, n->a);
        break;
    case ms_DMCX_VECTOR: ms_dmcx_vector_out(p, n->a, n->b); break;
    case ms_DMCX_PIXEL: ms_dmcx_vector_out(p, 0, n->a); break;
    case ms_DMCX_AFTER:
        ms_dmcx_left(p, n->a);
        ms_dmcx_put_word(p, n->x);
        break;
    case ms_DMCX_ELABORATED:
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_FLOAT_N:
        ms_DMCX_PUT(p, "_Float");
        ms_dmcx_put_span(p, n->a, n->b);
        break;
    case ms_DMCX_BIT_INT:
        if (n->x != 0)
            ms_DMCX_PUT(p, "unsigned ");
        ms_DMCX_PUT(p, "_BitInt");
        ms_dmcx_parens(p, n->a);
        break;
    case ms_DMCX_TRANSFORM:
        ms_dmcx_two(p, n, "(", 1);
        ms_dmcx_put_char(p, ')');
        break;
    case ms_DMCX_EXPANSION: ms_dmcx_expansion(p, n->a); break;
    case ms_DMCX_PACK: {
        uint32_t element = ms_dmcx_pack_element(p, n);
        if (element != 0)
            ms_dmcx_left(p, element);
        break;
    }
    case ms_DMCX_ARG_PACK: ms_dmcx_list(p, n->a); break;
    case ms_DMCX_FORWARD:
        if (n->y == 0) {
            n->y = 1;
            ms_dmcx_left(p, n->c);
            n->y = 0;
        }
        break;
    case ms_DMCX_SYNTHETIC: ms_dmcx_synthetic(p, n); break;
    case ms_DMCX_DECL_TYPE: ms_DMCX_PUT(p, "typename "); break;
    case ms_DMCX_DECL_CONSTRAINED:
        ms_dmcx_print(p, n->b);
        ms_dmcx_put_char(p, ' ');
        break;
    case ms_DMCX_DECL_VALUE:
        ms_dmcx_left(p, n->b);
        if (!ms_dmcx_has(p, n->b, ms_DMCX_RIGHT))
            ms_dmcx_put_char(p, ' ');
        break;
    case ms_DMCX_DECL_TEMPLATE:
        ms_DMCX_PUT(p, "template");
        ms_dmcx_angles(p, n->b);
        ms_DMCX_PUT(p, " typename ");
        break;
    case ms_DMCX_DECL_PACK:
        ms_dmcx_left(p, n->a);
        ms_DMCX_PUT(p, "...");
        break;
    default: ms_dmcx_print(p, n->a); break; /* QUALIFIED_ARG */
    }
}

static void ms_dmcx_left_name(ms_dmcx *p, const ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_NESTED:
    case ms_DMCX_LOCAL:
    case ms_DMCX_QUALIFIED: ms_dmcx_two(p, n, "::", 2); break;
    case ms_DMCX_FRIEND: ms_dmcx_two(p, n, "::friend ", 9); break;
    case ms_DMCX_GLOBAL:
        ms_DMCX_PUT(p, "::");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_TEMPLATE:
        ms_dmcx_print(p, n->a);
        ms_dmcx_angles(p, n->b);
        break;
    case ms_DMCX_ABI_TAG:
        ms_dmcx_left(p, n->a);
        ms_DMCX_PUT(p, "[abi:");
        ms_dmcx_print(p, n->b);
        ms_dmcx_put_char(p, ']');
        break;
    case ms_DMCX_MODULE:
        if (n->a != 0)
            ms_dmcx_print(p, n->a);
        if (n->a != 0 || n->x != 0)
            ms_dmcx_put_char(p, n->x != 0 ? ':' : '.');
        ms_dmcx_print(p, n->b);
        break;
    case ms_DMCX_IN_MODULE:
        ms_dmcx_print(p, n->b);
        ms_dmcx_put_char(p, '@');
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_DTOR:
        ms_dmcx_put_char(p, '~');
        ms_dmcx_put_base(p, n->a);
        break;
    case ms_DMCX_CTOR: ms_dmcx_put_base(p, n->a); break;
    case ms_DMCX_DTOR_NAME:
        ms_dmcx_put_char(p, '~');
        ms_dmcx_left(p, n->a);
        break;
    case ms_DMCX_OPERATOR: ms_dmcx_put_operator(p, n->x); break;
    case ms_DMCX_LITERAL_OP:
        ms_DMCX_PUT(p, "operator\"\" ");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_CONVERSION:
        ms_DMCX_PUT(p, "operator ");
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_UNNAMED:
        ms_DMCX_PUT(p, "'unnamed");
        ms_dmcx_put_span(p, n->a, n->b);
        ms_dmcx_put_char(p, '\'');
        break;
    case ms_DMCX_CLOSURE:
        ms_DMCX_PUT(p, "'lambda");
        if (ms_dmcx_at(p, n->c)->c != 0)
            ms_dmcx_print(p, ms_dmcx_at(p, n->c)->c);
        ms_dmcx_put_char(p, '\'');
        ms_dmcx_closure_declarator(p, n);
        break;
    case ms_DMCX_BINDING:
        ms_dmcx_open(p, '[');
        ms_dmcx_list(p, n->a);
        ms_dmcx_close(p, ']');
        break;
    case ms_DMCX_SPECIAL:
        ms_dmcx_put_word(p, n->x);
        ms_dmcx_print(p, n->a);
        break;
    case ms_DMCX_CTOR_VTABLE:
        ms_DMCX_PUT(p, "construction vtable for ");
        ms_dmcx_two(p, n, "-in-", 4);
        break;
    case ms_DMCX_DOT_SUFFIX:
        ms_dmcx_two(p, n, " (", 2);
        ms_dmcx_put_char(p, ')');
        break;
    case ms_DMCX_ENCODING: ms_dmcx_encoding_left(p, n); break;
    default: /* THIS_PARAM */
        ms_DMCX_PUT(p, "this ");
        ms_dmcx_print(p, n->a);
        break;
    }
}

/* One node deeper; false when the name nests too deep or a budget is spent. */
static bool ms_dmcx_enter_node(ms_dmcx *p)
{
    ms_dm *d = p->d;
    if (d->failed || d->work == 0 || p->depth >= ms_DMCX_MAX_PRINT_DEPTH) {
        d->failed = true;
        return false;
    }
    d->work--;
    p->depth++;
    return true;
}

/* Prints a node, or of a declarator what stands before its name. */
static void ms_dmcx_left(ms_dmcx *p, uint32_t ref)
{
    if (ref < ms_DMCX_W_COUNT) {
        ms_dmcx_put_word(p, ref);
        return;
    }
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    if (n->kind == ms_DMCX_TEXT) {
        ms_dmcx_put_span(p, n->a, n->b);
        return;
    }
    if (!ms_dmcx_enter_node(p))
        return;
    if (n->kind < ms_DMCX_QUAL)
        ms_dmcx_left_name(p, n);
    else if (n->kind < ms_DMCX_PREFIX)
        ms_dmcx_left_type(p, n);
    else
        ms_dmcx_left_expr(p, n);
    p->depth--;
}

/* Prints what stands behind a declarator's name. */
static void ms_dmcx_right_inside(ms_dmcx *p, ms_dmcx_node *n)
{
    switch (n->kind) {
    case ms_DMCX_ENCODING: ms_dmcx_encoding_right(p, n); break;
    case ms_DMCX_QUAL: ms_dmcx_right(p, n->a); break;
    case ms_DMCX_POINTER:
        if (!ms_dmcx_is_id(p, n->a))
            ms_dmcx_close_declarator(p, n->a);
        break;
    case ms_DMCX_REFERENCE: ms_dmcx_reference(p, n, false); break;
    case ms_DMCX_MEMBER_PTR: ms_dmcx_close_declarator(p, n->b); break;
    case ms_DMCX_ARRAY: ms_dmcx_array_right(p, n); break;
    case ms_DMCX_FUNCTION: ms_dmcx_function_right(p, n); break;
    case ms_DMCX_PACK: {
        uint32_t element = ms_dmcx_pack_element(p, n);
        if (element != 0)
            ms_dmcx_right(p, element);
        break;
    }
    case ms_DMCX_FORWARD:
        if (n->y == 0) {
            n->y = 1;
            ms_dmcx_right(p, n->c);
            n->y = 0;
        }
        break;
    case ms_DMCX_DECL_TYPE:
    case ms_DMCX_DECL_CONSTRAINED: ms_dmcx_print(p, n->a); break;
    case ms_DMCX_DECL_VALUE:
        ms_dmcx_print(p, n->a);
        ms_dmcx_right(p, n->b);
        break;
    case ms_DMCX_DECL_TEMPLATE:
        ms_dmcx_print(p, n->a);
        ms_dmcx_requires_clause(p, n->c);
        break;
    case ms_DMCX_DECL_PACK: ms_dmcx_right(p, n->a); break;
    default: break;
    }
}

static void ms_dmcx_right(ms_dmcx *p, uint32_t ref)
{
    uint32_t flags = ms_dmcx_flags_of(p, ref);
    if ((flags & (ms_DMCX_RIGHT | ms_DMCX_RIGHT * ms_DMCX_ASK)) == 0 || !ms_dmcx_enter_node(p))
        return;
    ms_dmcx_right_inside(p, ms_dmcx_at(p, ref));
    p->depth--;
}

/* ---- C++: entry ---- */

/* Whether the name looks like C++'s: _Z behind up to three more underscores (two and three mark blocks). */
static bool ms_dmcx_is_mangled(const ms_dm *d)
{
    size_t at = 0;
    while (at < 4 && at < d->len && d->s[at] == '_')
        at++;
    return at != 0 && at < d->len && d->s[at] == 'Z' && d->len <= ms_DMCX_MAX_NAME;
}

static bool ms_dm_cxx(ms_dm *d)
{
    if (!ms_dmcx_is_mangled(d))
        return false;
    ms_dmcx p;
    ms_zero(&p, sizeof(p));
    p.d = d;
    p.s = d->s;
    p.len = (uint32_t)d->len;
    size_t room = (d->mem_len - d->mem_used) & ~(size_t)15;
    unsigned char *mem = (unsigned char *)ms_dm_alloc(d, room);
    if (mem == NULL)
        return false;
    p.limit = (uint32_t)(room / sizeof(ms_dmcx_cell));
    p.used = ms_DMCX_W_COUNT; /* references below are words */
    if (p.limit < p.used) {
        d->no_mem = true;
        return false;
    }
    p.cells = (ms_dmcx_cell *)(void *)mem;
    p.subs_end = (uint32_t *)(void *)(mem + room);
    p.auto_level = ms_DMCX_UNSET;
    p.try_args = true;
    uint32_t ref = ms_dmcx_mangled(&p);
    if (ref == 0 || d->failed)
        return false;
    p.pack_index = ms_DMCX_UNSET;
    p.pack_count = ms_DMCX_UNSET;
    ms_dmcx_print(&p, ref);
    return !d->failed;
}

#endif /* MACHSYM_NO_CXX */

#ifndef MACHSYM_NO_D
/* ---- names: D -------------------------------------------------------------------------------------------
 * The D ABI's "Name Mangling". The name is printed while it is read; where the source order differs from the
 * mangled one (associative arrays, function types) the first part is skipped and read again. Every function
 * returns false where the name does not fit, so that an alternative can be tried from an earlier position;
 * d->failed is left for spent budgets. Prints as libiberty does. */

enum { ms_DMD_MAX_DEPTH = 256 };

typedef struct ms_dmd { /* The state of reading one name. */
    ms_dm *d;
    const char *s;
    size_t len;
    size_t at;       /* reading position */
    size_t last_ref; /* the innermost type back-reference being read: those inside must lie before it */
    size_t tail;     /* where a closing `6__initZ` or the like starts; len when there is none */
    bool tail_seen;  /* the tail was read as an identifier */
    bool quiet;      /* reading a part that is not shown now */
} ms_dmd;

#define ms_dmd_lit(p, text) ms_dmd_put(p, text, sizeof(text) - 1)

static void ms_dmd_put(ms_dmd *p, const char *ptr, size_t len)
{
    if (!p->quiet)
        ms_dm_put(p->d, ptr, len);
}

static char ms_dmd_peek(const ms_dmd *p)
{
    return p->at < p->len ? p->s[p->at] : '\0';
}

static bool ms_dmd_eat(ms_dmd *p, char c)
{
    if (ms_dmd_peek(p) != c)
        return false;
    p->at++;
    return true;
}

static bool ms_dmd_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Compares text with the bytes at position at. */
static bool ms_dmd_has(const ms_dmd *p, size_t at, const char *text, size_t len)
{
    return at <= p->len && len <= p->len - at && ms_equal(p->s + at, text, len);
}

/* Takes steps from the budget; everything that can be read again through a back-reference has to pay. */
static bool ms_dmd_pay(ms_dmd *p, size_t steps)
{
    if (steps > p->d->work)
        p->d->failed = true;
    else
        p->d->work -= steps;
    return !p->d->failed;
}

/* Starts a type, identifier or value; every successful call needs a ms_dmd_leave. */
static bool ms_dmd_enter(ms_dmd *p)
{
    if (p->d->depth >= ms_DMD_MAX_DEPTH)
        p->d->failed = true;
    if (!ms_dmd_pay(p, 1))
        return false;
    p->d->depth++;
    return true;
}

static bool ms_dmd_leave(ms_dmd *p, bool ok)
{
    p->d->depth--;
    return ok && !p->d->failed;
}

/* Takes digits, without a limit. Returns how many. */
static size_t ms_dmd_digits(ms_dmd *p)
{
    size_t first = p->at;
    while (ms_dmd_is_digit(ms_dmd_peek(p)))
        p->at++;
    ms_dmd_pay(p, (p->at - first) / 16);
    return p->at - first;
}

/* Number: at least one digit, 32 bits, and never the end of the name. */
static bool ms_dmd_number(ms_dmd *p, uint32_t *out)
{
    uint32_t value = 0;
    size_t first = p->at;
    while (ms_dmd_is_digit(ms_dmd_peek(p))) {
        uint32_t digit = (uint32_t)(p->s[p->at] - '0');
        if (value > (UINT32_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
        p->at++;
    }
    *out = value;
    return p->at > first && p->at < p->len;
}

/* NumberBackRef behind the `Q` at position q: base 26, the last digit is a small letter. */
static bool ms_dmd_ref(const ms_dmd *p, size_t q, size_t *end, size_t *target)
{
    size_t value = 0;
    for (size_t at = q + 1; at < p->len && at - q <= 8; at++) { /* 26^8 exceeds any name */
        char c = p->s[at];
        bool last = c >= 'a' && c <= 'z';
        if ((!last && (c < 'A' || c > 'Z')) || value > p->len)
            return false;
        value = value * 26 + (size_t)(c - (last ? 'a' : 'A'));
        if (last) {
            *end = at + 1;
            *target = q - value;
            return value > 0 && value <= q;
        }
    }
    return false;
}

static bool ms_dmd_is_template(const ms_dmd *p, size_t at)
{
    return ms_dmd_has(p, at, "__T", 3) || ms_dmd_has(p, at, "__U", 3);
}

/* A SymbolName may start at position at. */
static bool ms_dmd_is_symbol(const ms_dmd *p, size_t at)
{
    size_t end, target;
    if (at >= p->len)
        return false;
    if (ms_dmd_is_digit(p->s[at]))
        return true;
    if (p->s[at] == 'Q')
        return ms_dmd_ref(p, at, &end, &target) && ms_dmd_is_digit(p->s[target]);
    return ms_dmd_is_template(p, at);
}

static bool ms_dmd_is_function(char c)
{
    return c == 'F' || c == 'U' || c == 'V' || c == 'W' || c == 'R' || c == 'Y';
}

/* floors: recursion */
static bool ms_dmd_type(ms_dmd *p);
static bool ms_dmd_ident(ms_dmd *p);
static bool ms_dmd_qualified(ms_dmd *p, bool with_modifiers);
static bool ms_dmd_value(ms_dmd *p, char type, size_t type_at);

/* Reads a type without showing it. */
static bool ms_dmd_skip_type(ms_dmd *p)
{
    bool quiet = p->quiet;
    p->quiet = true;
    bool ok = ms_dmd_type(p);
    p->quiet = quiet;
    return ok;
}

/* MangledName */
static bool ms_dmd_mangle(ms_dmd *p)
{
    p->at += 2;
    if (!ms_dmd_qualified(p, true))
        return false;
    return ms_dmd_eat(p, 'Z') || ms_dmd_skip_type(p);
}

static bool ms_dmd_is_mangle(const ms_dmd *p)
{
    return ms_dmd_has(p, p->at, "_D", 2) && ms_dmd_is_symbol(p, p->at + 2);
}

/* ---- functions ---- */

/* FuncAttrs, each shown with a blank behind it. */
static bool ms_dmd_attributes(ms_dmd *p)
{
    while (ms_dmd_peek(p) == 'N' && p->at + 1 < p->len) {
        switch (p->s[p->at + 1]) {
        case 'a': ms_dmd_lit(p, "pure "); break;
        case 'b': ms_dmd_lit(p, "nothrow "); break;
        case 'c': ms_dmd_lit(p, "ref "); break;
        case 'd': ms_dmd_lit(p, "@property "); break;
        case 'e': ms_dmd_lit(p, "@trusted "); break;
        case 'f': ms_dmd_lit(p, "@safe "); break;
        case 'i': ms_dmd_lit(p, "@nogc "); break;
        case 'j': ms_dmd_lit(p, "return "); break;
        case 'l': ms_dmd_lit(p, "scope "); break;
        case 'm': ms_dmd_lit(p, "@live "); break;
        case 'g':
        case 'h':
        case 'k':
        case 'n': return true; /* start the first parameter */
        default: return false;
        }
        p->at += 2;
    }
    return true;
}

static bool ms_dmd_parameter(ms_dmd *p)
{
    for (;;) { /* `return scope` and `scope return` differ, so both orders are written */
        if (ms_dmd_eat(p, 'M')) {
            ms_dmd_lit(p, "scope ");
        } else if (ms_dmd_has(p, p->at, "Nk", 2)) {
            p->at += 2;
            ms_dmd_lit(p, "return ");
        } else {
            break;
        }
    }
    if (ms_dmd_eat(p, 'I')) {
        ms_dmd_lit(p, "in ");
        if (ms_dmd_eat(p, 'K'))
            ms_dmd_lit(p, "ref ");
    } else if (ms_dmd_eat(p, 'J')) {
        ms_dmd_lit(p, "out ");
    } else if (ms_dmd_eat(p, 'K')) {
        ms_dmd_lit(p, "ref ");
    } else if (ms_dmd_eat(p, 'L')) {
        ms_dmd_lit(p, "lazy ");
    }
    return ms_dmd_type(p);
}

/* Parameters up to their end mark. */
static bool ms_dmd_parameters(ms_dmd *p)
{
    for (size_t count = 0;; count++) {
        switch (ms_dmd_peek(p)) {
        case 'Y':
            if (count > 0)
                ms_dmd_lit(p, ", ");
            ms_dmd_lit(p, "...");
            p->at++;
            return true;
        case 'X':
            ms_dmd_lit(p, "...");
            p->at++;
            return true;
        case 'Z': p->at++; return true;
        default: break;
        }
        if (count > 0)
            ms_dmd_lit(p, ", ");
        if (!ms_dmd_parameter(p))
            return false;
    }
}

/* TypeFunctionNoReturn as part of a symbol: only the parameters are shown. */
static bool ms_dmd_signature(ms_dmd *p)
{
    if (!ms_dmd_is_function(ms_dmd_peek(p)))
        return false;
    p->at++;
    bool quiet = p->quiet;
    p->quiet = true;
    bool ok = ms_dmd_attributes(p);
    p->quiet = quiet;
    ms_dmd_lit(p, "(");
    ok = ok && ms_dmd_parameters(p);
    ms_dmd_lit(p, ")");
    return ok;
}

/* TypeModifiers of a `this` or context pointer. */
static void ms_dmd_modifiers(ms_dmd *p)
{
    for (;;) {
        if (ms_dmd_eat(p, 'x')) {
            ms_dmd_lit(p, " const");
            return;
        }
        if (ms_dmd_eat(p, 'y')) {
            ms_dmd_lit(p, " immutable");
            return;
        }
        if (ms_dmd_eat(p, 'O')) {
            ms_dmd_lit(p, " shared");
        } else if (ms_dmd_has(p, p->at, "Ng", 2)) {
            p->at += 2;
            ms_dmd_lit(p, " inout");
        } else {
            return;
        }
    }
}

static void ms_dmd_skip_modifiers(ms_dmd *p)
{
    bool quiet = p->quiet;
    p->quiet = true;
    ms_dmd_modifiers(p);
    p->quiet = quiet;
}

/* TypeFunction as a type: `ret(params) attributes `; the caller adds what it is. */
static bool ms_dmd_function_type(ms_dmd *p)
{
    switch (ms_dmd_peek(p)) {
    case 'F': break;
    case 'U': ms_dmd_lit(p, "extern(C) "); break;
    case 'W': ms_dmd_lit(p, "extern(Windows) "); break;
    case 'V': ms_dmd_lit(p, "extern(Pascal) "); break;
    case 'R': ms_dmd_lit(p, "extern(C++) "); break;
    case 'Y': ms_dmd_lit(p, "extern(Objective-C) "); break;
    default: return false;
    }
    size_t attributes = ++p->at;
    bool quiet = p->quiet;
    p->quiet = true;
    bool ok = ms_dmd_attributes(p);
    size_t parameters = p->at;
    ok = ok && ms_dmd_parameters(p);
    p->quiet = quiet;
    if (!ok || !ms_dmd_type(p))
        return false;
    if (quiet)
        return true;
    size_t end = p->at;
    p->at = parameters;
    ms_dmd_lit(p, "(");
    ok = ms_dmd_parameters(p);
    ms_dmd_lit(p, ") ");
    p->at = attributes;
    ok = ok && ms_dmd_attributes(p);
    p->at = end;
    return ok;
}

/* ---- types ---- */

/* TypeBackRef */
static bool ms_dmd_type_ref(ms_dmd *p, bool is_function)
{
    size_t q = p->at, end, target;
    if (!ms_dmd_ref(p, q, &end, &target) || q >= p->last_ref)
        return false;
    size_t last_ref = p->last_ref;
    p->last_ref = q;
    p->at = target;
    bool ok = is_function ? ms_dmd_function_type(p) : ms_dmd_type(p);
    p->last_ref = last_ref;
    p->at = end;
    return ok;
}

static bool ms_dmd_delegate(ms_dmd *p)
{
    size_t modifiers = p->at;
    ms_dmd_skip_modifiers(p);
    bool ok = ms_dmd_peek(p) == 'Q' ? ms_dmd_type_ref(p, true) : ms_dmd_function_type(p);
    size_t end = p->at;
    ms_dmd_lit(p, "delegate");
    p->at = modifiers;
    ms_dmd_modifiers(p);
    p->at = end;
    return ok;
}

/* TypeStaticArray: the size stands in front, as in no source. */
static bool ms_dmd_static_array(ms_dmd *p)
{
    size_t first = p->at, len = ms_dmd_digits(p);
    bool ok = ms_dmd_type(p);
    ms_dmd_lit(p, "[");
    ms_dmd_put(p, p->s + first, len);
    ms_dmd_lit(p, "]");
    return ok;
}

/* TypeAssocArray: the key comes first, but is shown behind the value. */
static bool ms_dmd_assoc_array(ms_dmd *p)
{
    size_t key = p->at;
    if (!ms_dmd_skip_type(p) || !ms_dmd_type(p))
        return false;
    if (p->quiet)
        return true;
    size_t end = p->at;
    p->at = key;
    ms_dmd_lit(p, "[");
    bool ok = ms_dmd_type(p);
    ms_dmd_lit(p, "]");
    p->at = end;
    return ok;
}

/* TypeTuple: a count and types, or (the newer form) parameters and `Z`. */
static bool ms_dmd_tuple(ms_dmd *p)
{
    uint32_t count;
    bool ok = true;
    ms_dmd_lit(p, "Tuple!(");
    if (!ms_dmd_is_digit(ms_dmd_peek(p))) {
        ok = ms_dmd_parameters(p) && p->s[p->at - 1] == 'Z';
    } else {
        if (!ms_dmd_number(p, &count))
            return false;
        for (uint32_t i = 0; i < count && ok; i++) {
            if (i > 0)
                ms_dmd_lit(p, ", ");
            ok = ms_dmd_type(p);
        }
    }
    ms_dmd_lit(p, ")");
    return ok;
}

static bool ms_dmd_wrapped(ms_dmd *p, const char *open, size_t len)
{
    ms_dmd_put(p, open, len);
    bool ok = ms_dmd_type(p);
    ms_dmd_lit(p, ")");
    return ok;
}

/* Types that start with `N`. */
static bool ms_dmd_type_n(ms_dmd *p)
{
    if (ms_dmd_eat(p, 'g'))
        return ms_dmd_wrapped(p, "inout(", 6);
    if (ms_dmd_eat(p, 'h'))
        return ms_dmd_wrapped(p, "__vector(", 9);
    if (!ms_dmd_eat(p, 'n'))
        return false;
    ms_dmd_lit(p, "typeof(*null)");
    return true;
}

/* Types with others inside. */
static bool ms_dmd_compound(ms_dmd *p)
{
    bool ok;
    char tag = ms_dmd_peek(p);
    if (ms_dmd_is_function(tag)) {
        ok = ms_dmd_function_type(p);
        ms_dmd_lit(p, "function");
        return ok;
    }
    if (tag == 'Q')
        return ms_dmd_type_ref(p, false);
    p->at++;
    switch (tag) {
    case 'O': return ms_dmd_wrapped(p, "shared(", 7);
    case 'x': return ms_dmd_wrapped(p, "const(", 6);
    case 'y': return ms_dmd_wrapped(p, "immutable(", 10);
    case 'N': return ms_dmd_type_n(p);
    case 'A':
        ok = ms_dmd_type(p);
        ms_dmd_lit(p, "[]");
        return ok;
    case 'G': return ms_dmd_static_array(p);
    case 'H': return ms_dmd_assoc_array(p);
    case 'P':
        tag = ms_dmd_peek(p);
        ok = ms_dmd_type(p);
        if (!ms_dmd_is_function(tag)) /* a function pointer is shown without a star */
            ms_dmd_lit(p, "*");
        return ok;
    case 'C':
    case 'S':
    case 'E':
    case 'T':
    case 'I': return ms_dmd_qualified(p, false);
    case 'D': return ms_dmd_delegate(p);
    case 'B': return ms_dmd_tuple(p);
    default: return false;
    }
}

static bool ms_dmd_type(ms_dmd *p)
{
    static const char names[26][13] = {
        "char",  "bool",   "creal", "double", "real",         "float",  "byte",    "ubyte",  "int",
        "ireal", "uint",   "long",  "ulong",  "typeof(null)", "ifloat", "idouble", "cfloat", "cdouble",
        "short", "ushort", "wchar", "void",   "dchar",        "",       "",        ""};
    static const unsigned char lens[26] = {4,  4, 5, 6, 4, 5, 4, 5, 3, 5, 4, 4, 5,
                                           12, 6, 7, 6, 7, 5, 6, 5, 4, 5, 0, 0, 0};
    char tag = ms_dmd_peek(p);
    if (tag >= 'a' && tag <= 'w') {
        p->at++;
        ms_dmd_put(p, names[tag - 'a'], lens[tag - 'a']);
        return ms_dmd_pay(p, 1);
    }
    if (tag == 'z') {
        p->at++;
        char wide = ms_dmd_peek(p);
        p->at++;
        ms_dmd_put(p, wide == 'k' ? "ucent" : "cent", wide == 'k' ? 5 : 4);
        return wide == 'k' || wide == 'i';
    }
    return ms_dmd_enter(p) && ms_dmd_leave(p, ms_dmd_compound(p));
}

/* ---- values of template arguments ---- */

static bool ms_dmd_is_hex(char c)
{
    return ms_dmd_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static unsigned ms_dmd_nibble(char c)
{
    return ms_dmd_is_digit(c) ? (unsigned)(c - '0') : ((unsigned)(c - 'A') & 31u) + 10;
}

/* A char, wchar or dchar: as itself when it is printable ASCII, else in at least the digits of its width. */
static bool ms_dmd_char(ms_dmd *p, char type)
{
    uint32_t value;
    char text[8];
    size_t at = sizeof text, width = type == 'a' ? 2 : type == 'u' ? 4 : 8;
    if (!ms_dmd_number(p, &value))
        return false;
    ms_dmd_lit(p, "'");
    if (type == 'a' && value >= 0x20 && value < 0x7F) {
        char c = (char)value;
        ms_dmd_put(p, &c, 1);
    } else {
        while (value != 0 || sizeof text - at < width) {
            text[--at] = "0123456789abcdef"[value & 15u];
            value >>= 4;
        }
        ms_dmd_put(p, type == 'a' ? "\\x" : type == 'u' ? "\\u" : "\\U", 2);
        ms_dmd_put(p, text + at, sizeof text - at);
    }
    ms_dmd_lit(p, "'");
    return true;
}

/* The digits of a number, read as the type says. */
static bool ms_dmd_integer(ms_dmd *p, char type)
{
    uint32_t value;
    size_t first = p->at;
    if (!ms_dmd_is_digit(ms_dmd_peek(p)))
        return false;
    if (type == 'a' || type == 'u' || type == 'w')
        return ms_dmd_char(p, type);
    if (type == 'b') {
        if (!ms_dmd_number(p, &value))
            return false;
        ms_dmd_put(p, value != 0 ? "true" : "false", value != 0 ? 4 : 5);
        return true;
    }
    ms_dmd_put(p, p->s + first, ms_dmd_digits(p));
    switch (type) {
    case 'h':
    case 't':
    case 'k': ms_dmd_lit(p, "u"); break;
    case 'l': ms_dmd_lit(p, "L"); break;
    case 'm': ms_dmd_lit(p, "uL"); break;
    default: break;
    }
    return true;
}

/* HexFloat */
static bool ms_dmd_real(ms_dmd *p)
{
    if (ms_dmd_has(p, p->at, "NAN", 3)) {
        p->at += 3;
        ms_dmd_lit(p, "NaN");
        return true;
    }
    if (ms_dmd_eat(p, 'N'))
        ms_dmd_lit(p, "-");
    if (ms_dmd_has(p, p->at, "INF", 3)) {
        p->at += 3;
        ms_dmd_lit(p, "Inf");
        return true;
    }
    size_t first = p->at;
    while (ms_dmd_is_hex(ms_dmd_peek(p)))
        p->at++;
    size_t len = p->at - first;
    if (len == 0 || !ms_dmd_eat(p, 'P') || !ms_dmd_pay(p, len / 16))
        return false;
    ms_dmd_lit(p, "0x");
    ms_dmd_put(p, p->s + first, 1);
    ms_dmd_lit(p, ".");
    ms_dmd_put(p, p->s + first + 1, len - 1);
    ms_dmd_lit(p, "p");
    if (ms_dmd_eat(p, 'N'))
        ms_dmd_lit(p, "-");
    first = p->at;
    ms_dmd_put(p, p->s + first, ms_dmd_digits(p));
    return true;
}

/* `<count> _ <two digits for each byte>` */
static bool ms_dmd_string(ms_dmd *p, char kind)
{
    uint32_t count;
    if (!ms_dmd_number(p, &count) || !ms_dmd_eat(p, '_') || count > (p->len - p->at) / 2 ||
        !ms_dmd_pay(p, count / 8))
        return false;
    ms_dmd_lit(p, "\"");
    for (uint32_t i = 0; i < count; i++) {
        const char *at = p->s + p->at;
        if (!ms_dmd_is_hex(at[0]) || !ms_dmd_is_hex(at[1]))
            return false;
        char c = (char)(ms_dmd_nibble(at[0]) << 4 | ms_dmd_nibble(at[1]));
        p->at += 2;
        switch (c) {
        case '\t': ms_dmd_lit(p, "\\t"); break;
        case '\n': ms_dmd_lit(p, "\\n"); break;
        case '\r': ms_dmd_lit(p, "\\r"); break;
        case '\f': ms_dmd_lit(p, "\\f"); break;
        case '\v': ms_dmd_lit(p, "\\v"); break;
        default:
            if (c >= ' ' && c <= '~') {
                ms_dmd_put(p, &c, 1);
            } else {
                ms_dmd_lit(p, "\\x");
                ms_dmd_put(p, at, 2);
            }
        }
    }
    ms_dmd_lit(p, "\"");
    if (kind != 'a')
        ms_dmd_put(p, &kind, 1);
    return true;
}

/* A count and as many values, pairs when it is an associative array. */
static bool ms_dmd_values(ms_dmd *p, bool pairs)
{
    uint32_t count;
    if (!ms_dmd_number(p, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            ms_dmd_lit(p, ", ");
        if (!ms_dmd_value(p, '\0', 0))
            return false;
        if (!pairs)
            continue;
        ms_dmd_lit(p, ":");
        if (!ms_dmd_value(p, '\0', 0))
            return false;
    }
    return true;
}

/* A struct literal starts with its type, which was read before it. */
static bool ms_dmd_struct(ms_dmd *p, size_t type_at)
{
    if (type_at != 0 && !p->quiet) {
        size_t back = p->at;
        p->at = type_at;
        if (!ms_dmd_type(p))
            return false;
        p->at = back;
    }
    ms_dmd_lit(p, "(");
    bool ok = ms_dmd_values(p, false);
    ms_dmd_lit(p, ")");
    return ok;
}

static bool ms_dmd_any_value(ms_dmd *p, char type, size_t type_at)
{
    char tag = ms_dmd_peek(p);
    bool ok;
    if (ms_dmd_is_digit(tag)) /* early compilers wrote no `i` */
        return ms_dmd_integer(p, type);
    p->at++;
    switch (tag) {
    case 'n': ms_dmd_lit(p, "null"); return true;
    case 'i': return ms_dmd_integer(p, type);
    case 'N': ms_dmd_lit(p, "-"); return ms_dmd_integer(p, type);
    case 'e': return ms_dmd_real(p);
    case 'c':
        if (!ms_dmd_real(p) || !ms_dmd_eat(p, 'c'))
            return false;
        ms_dmd_lit(p, "+");
        ok = ms_dmd_real(p);
        ms_dmd_lit(p, "i");
        return ok;
    case 'a':
    case 'w':
    case 'd': return ms_dmd_string(p, tag);
    case 'A':
        ms_dmd_lit(p, "[");
        ok = ms_dmd_values(p, type == 'H');
        ms_dmd_lit(p, "]");
        return ok;
    case 'S': return ms_dmd_struct(p, type_at);
    case 'f': return ms_dmd_is_mangle(p) && ms_dmd_mangle(p);
    default: return false;
    }
}

/* type: the first letter of the value's type, '\0' inside literals, whose types are not written. */
static bool ms_dmd_value(ms_dmd *p, char type, size_t type_at)
{
    return ms_dmd_enter(p) && ms_dmd_leave(p, ms_dmd_any_value(p, type, type_at));
}

static bool ms_dmd_value_arg(ms_dmd *p)
{
    size_t type_at = p->at, end, target;
    char type = ms_dmd_peek(p);
    if (type == 'Q') {
        if (!ms_dmd_ref(p, p->at, &end, &target))
            return false;
        type = p->s[target];
    }
    return ms_dmd_skip_type(p) && ms_dmd_value(p, type, type_at);
}

/* ---- template arguments ---- */

/* Reads a symbol of size bytes at position at; a size of 0 takes any. */
static bool ms_dmd_sized_symbol(ms_dmd *p, size_t at, uint64_t size)
{
    size_t out_len = p->d->out_len;
    bool ok;
    p->at = at;
    if (ms_dmd_is_symbol(p, at))
        ok = ms_dmd_qualified(p, false);
    else
        ok = ms_dmd_is_mangle(p) && ms_dmd_mangle(p);
    if (ok && (size == 0 || p->at - at == size))
        return true;
    p->d->out_len = out_len;
    return false;
}

/* Compilers before 2.077 wrote the length of the symbol in front of it. The symbol may start with a digit as
 * well: the longest length that fits wins, and no length is the last choice. */
static bool ms_dmd_symbol_arg(ms_dmd *p)
{
    uint32_t size;
    size_t first = p->at;
    if (ms_dmd_is_mangle(p))
        return ms_dmd_mangle(p);
    if (ms_dmd_peek(p) == 'Q')
        return ms_dmd_qualified(p, false);
    if (!ms_dmd_number(p, &size) || size == 0)
        return false;
    for (size_t at = p->at; size != 0 && !p->d->failed; at--, size /= 10) {
        if (ms_dmd_sized_symbol(p, at, size))
            return true;
    }
    return ms_dmd_sized_symbol(p, first, 0);
}

/* ExternallyMangledName: shown as it is. */
static bool ms_dmd_external_arg(ms_dmd *p)
{
    uint32_t len;
    if (!ms_dmd_number(p, &len) || len > p->len - p->at)
        return false;
    ms_dmd_put(p, p->s + p->at, len);
    p->at += len;
    return true;
}

static bool ms_dmd_template_arg(ms_dmd *p)
{
    ms_dmd_eat(p, 'H'); /* a specialised parameter; not shown */
    char tag = ms_dmd_peek(p);
    p->at++;
    switch (tag) {
    case 'T': return ms_dmd_type(p);
    case 'V': return ms_dmd_value_arg(p);
    case 'S': return ms_dmd_symbol_arg(p);
    case 'X': return ms_dmd_external_arg(p);
    default: return false;
    }
}

/* TemplateInstanceName; size is the length in front of it, 0 when there was none. */
static bool ms_dmd_template(ms_dmd *p, size_t size)
{
    size_t first = p->at;
    if (!ms_dmd_is_symbol(p, first + 3) || p->s[first + 3] == '0')
        return false;
    p->at += 3;
    if (!ms_dmd_ident(p))
        return false;
    ms_dmd_lit(p, "!(");
    for (size_t count = 0; !ms_dmd_eat(p, 'Z'); count++) {
        if (count > 0)
            ms_dmd_lit(p, ", ");
        if (!ms_dmd_template_arg(p))
            return false;
    }
    ms_dmd_lit(p, ")");
    return size == 0 || p->at - first == size;
}

/* ---- names ---- */

/* The text of an LName of len bytes; some have a meaning. */
static void ms_dmd_name(ms_dmd *p, size_t len)
{
    const char *name = p->s + p->at;
    if (len == 6 && ms_equal(name, "__ctor", 6)) {
        ms_dmd_lit(p, "this");
    } else if (len == 6 && ms_equal(name, "__dtor", 6)) {
        ms_dmd_lit(p, "~this");
    } else if (len == 10 && ms_dmd_has(p, p->at, "__postblitMFZ", 13)) {
        ms_dmd_lit(p, "this(this)");
        len = 13;
    } else {
        ms_dmd_put(p, name, len);
    }
    p->at += len;
}

/* IdentifierBackRef: a name that stands earlier. */
static bool ms_dmd_ident_ref(ms_dmd *p)
{
    size_t end, target;
    uint32_t len;
    if (!ms_dmd_ref(p, p->at, &end, &target))
        return false;
    p->at = target;
    if (!ms_dmd_number(p, &len) || len == 0 || len > p->len - p->at)
        return false;
    ms_dmd_name(p, len);
    p->at = end;
    return true;
}

/* `__S` and digits: a number for a scope inside a function, not shown. */
static bool ms_dmd_is_scope(const ms_dmd *p, size_t len)
{
    if (len < 4 || !ms_equal(p->s + p->at, "__S", 3))
        return false;
    for (size_t i = 3; i < len; i++) {
        if (!ms_dmd_is_digit(p->s[p->at + i]))
            return false;
    }
    return true;
}

static bool ms_dmd_any_ident(ms_dmd *p)
{
    uint32_t len;
    for (;;) {
        if (p->at == p->tail && !p->quiet) {
            p->tail_seen = true;
            p->at = p->len - 1;
            return true;
        }
        if (ms_dmd_peek(p) == 'Q')
            return ms_dmd_ident_ref(p);
        if (ms_dmd_is_template(p, p->at))
            return ms_dmd_template(p, 0);
        if (!ms_dmd_number(p, &len) || len == 0 || len > p->len - p->at || !ms_dmd_pay(p, len / 16))
            return false;
        if (!ms_dmd_is_scope(p, len))
            break;
        p->at += len;
    }
    if (len >= 5 && ms_dmd_is_template(p, p->at))
        return ms_dmd_template(p, len);
    ms_dmd_name(p, len);
    return true;
}

static bool ms_dmd_ident(ms_dmd *p)
{
    return ms_dmd_enter(p) && ms_dmd_leave(p, ms_dmd_any_ident(p));
}

/* The function type that may follow a name. Where what follows is only the type of a variable, nothing is
 * taken. Modifiers of `this` are shown behind the parameters. */
static void ms_dmd_maybe_signature(ms_dmd *p, bool with_modifiers)
{
    size_t first = p->at, out_len = p->d->out_len, modifiers = 0;
    if (ms_dmd_eat(p, 'M')) {
        modifiers = p->at;
        ms_dmd_skip_modifiers(p);
    }
    if (!ms_dmd_signature(p) || p->at >= p->len) {
        p->at = first;
        p->d->out_len = out_len;
        return;
    }
    if (with_modifiers && modifiers != 0) {
        size_t end = p->at;
        p->at = modifiers;
        ms_dmd_modifiers(p);
        p->at = end;
    }
}

static bool ms_dmd_qualified(ms_dmd *p, bool with_modifiers)
{
    size_t count = 0;
    do {
        if (ms_dmd_peek(p) == '0') { /* anonymous */
            p->at++;
            continue;
        }
        size_t out_len = p->d->out_len;
        if (count++ > 0)
            ms_dmd_lit(p, ".");
        if (!ms_dmd_ident(p))
            return false;
        if (p->tail_seen)
            p->d->out_len = out_len;
        else if (ms_dmd_peek(p) == 'M' || ms_dmd_is_function(ms_dmd_peek(p)))
            ms_dmd_maybe_signature(p, with_modifiers);
    } while (!p->d->failed && ms_dmd_is_symbol(p, p->at));
    return !p->d->failed;
}

/* ---- whole names ---- */

typedef struct ms_dmd_special { /* A compiler-made symbol: its last identifier becomes words in front. */
    const char *tail;
    const char *text;
    unsigned char tail_len, text_len;
} ms_dmd_special;

static const ms_dmd_special *ms_dmd_find_special(const char *s, size_t len)
{
    static const ms_dmd_special v[] = {{"6__initZ", "initializer for ", 8, 16},
                                       {"6__vtblZ", "vtable for ", 8, 11},
                                       {"7__ClassZ", "ClassInfo for ", 9, 14},
                                       {"11__InterfaceZ", "Interface for ", 14, 14},
                                       {"12__ModuleInfoZ", "ModuleInfo for ", 15, 15}};
    if (s[len - 1] != 'Z')
        return NULL;
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        if (len > v[i].tail_len && ms_equal(s + len - v[i].tail_len, v[i].tail, v[i].tail_len))
            return &v[i];
    }
    return NULL;
}

/* Reads the whole name, with or without taking its end for a special one. */
static bool ms_dmd_read(ms_dm *d, const ms_dmd_special *special)
{
    ms_dmd p = {d, d->s, d->len, 0, d->len, d->len, false, false};
    d->out_len = 0;
    if (special != NULL) {
        p.tail = d->len - special->tail_len;
        ms_dm_put(d, special->text, special->text_len);
    }
    if (!ms_dmd_mangle(&p) || p.at != p.len || p.tail_seen != (special != NULL) || d->failed)
        return false;
    if (special != NULL && d->out_len == special->text_len)
        d->out_len--; /* no name at all: no blank either */
    return true;
}

static bool ms_dm_d(ms_dm *d)
{
    if (d->len < 4 || d->s[0] != '_' || d->s[1] != 'D')
        return false;
    if (d->len == 6 && ms_equal(d->s, "_Dmain", 6)) {
        ms_dm_put(d, "D main", 6);
        return !d->failed;
    }
    ms_dmd probe = {d, d->s, d->len, 0, d->len, d->len, false, false};
    if (!ms_dmd_is_mangle(&probe))
        return false;
    size_t most =
        4096 + 16 * d->len; /* real names take less than one step a byte; tries may nest without end */
    if (d->work > most)
        d->work = most;
    const ms_dmd_special *special = ms_dmd_find_special(d->s, d->len);
    if (special != NULL && ms_dmd_read(d, special))
        return true;
    return ms_dmd_read(d, NULL) && d->out_len > 0;
}

#endif /* MACHSYM_NO_D */

/* ---- names: which language ------------------------------------------------------------------------------
 * Behind the four languages. Each can be left out with MACHSYM_NO_SWIFT, MACHSYM_NO_RUST, MACHSYM_NO_CXX and
 * MACHSYM_NO_D; its names then come back unchanged. */

#if defined(__GNUC__) || defined(__clang__)
#define ms_DM_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define ms_DM_NOINLINE __declspec(noinline)
#else
#define ms_DM_NOINLINE
#endif

enum { ms_DM_SMALL_FRAME = 24576 };

enum ms_dm_language { ms_DM_NONE = 0, ms_DM_SWIFT = 1, ms_DM_RUST = 2, ms_DM_CXX = 4, ms_DM_D = 8 };

/* The languages that a name may be of, by its first bytes, and how many of those to leave out: Mach-O puts an
 * underscore in front of every C symbol, and names come with and without it. Objective-C methods are none. */
static unsigned ms_dm_detect(const char *s, size_t len, size_t *skip)
{
    size_t n = 0;
    while (n < len && n < 5 && s[n] == '_')
        n++;
    *skip = n == 2;
    if (len - n < 2)
        return ms_DM_NONE;
    switch (s[n]) {
    case '$': /* $s, $S, $e */
    case '@': /* @__swiftmacro_ */ *skip = n; return n <= 1 ? ms_DM_SWIFT : ms_DM_NONE;
    case 'T': return n == 1 || n == 2 ? ms_DM_SWIFT : ms_DM_NONE; /* _T0, _Tt and older */
    case 'R': return n <= 2 ? ms_DM_RUST : ms_DM_NONE;
    case 'D': return n == 1 || n == 2 ? ms_DM_D : ms_DM_NONE;
    case 'Z':
        if (n == 0)
            return s[1] == 'N' ? ms_DM_RUST : ms_DM_NONE;
        *skip = n == 2 || n == 4; /* ___Z is a block inside a C++ function */
        return n <= 4 ? ms_DM_RUST | ms_DM_CXX : ms_DM_NONE;
    default: return ms_DM_NONE;
    }
}

/* Forgets a failed try; budgets start anew, the wish for a larger frame stays. */
static void ms_dm_start(ms_dm *d)
{
    d->at = 0;
    d->out_len = 0;
    d->out_limit = ((size_t)256 << 10) + 16 * d->len;
    d->work = 65536 + 64 * d->len;
    d->depth = 0;
    d->failed = false;
    d->mem_used = 0;
}

static bool ms_dm_try(ms_dm *d, unsigned language)
{
    ms_dm_start(d);
    switch (language) {
#ifndef MACHSYM_NO_SWIFT
    case ms_DM_SWIFT: return ms_dm_swift(d);
#endif
#ifndef MACHSYM_NO_RUST
    case ms_DM_RUST: return ms_dm_rust(d);
#endif
#ifndef MACHSYM_NO_CXX
    case ms_DM_CXX: return ms_dm_cxx(d);
#endif
#ifndef MACHSYM_NO_D
    case ms_DM_D: return ms_dm_d(d);
#endif
    default: return false;
    }
}

/* Rust goes before C++: its older scheme is a C++ name by form, but asks for more. */
static bool ms_dm_any(ms_dm *d)
{
    size_t skip;
    unsigned languages = ms_dm_detect(d->s, d->len, &skip);
    d->s += skip;
    d->len -= skip;
    bool ok = false;
    for (unsigned language = ms_DM_SWIFT; language <= ms_DM_D && !ok; language <<= 1)
        ok = (languages & language) != 0 && ms_dm_try(d, language);
    d->s -= skip;
    d->len += skip;
    return ok;
}

/* The frame is the array: a function of its own, so that names that need none do not pay for it. */
static ms_DM_NOINLINE bool ms_dm_run_small(ms_dm *d)
{
    uint64_t frame[ms_DM_SMALL_FRAME / 8 + 1];
    d->mem = (unsigned char *)frame;
    d->mem += (uintptr_t)d->mem & 8u;
    d->mem_len = ms_DM_SMALL_FRAME;
    return ms_dm_any(d);
}

#if MACHSYM_DEMANGLE_STACK > 24576
static ms_DM_NOINLINE bool ms_dm_run_large(ms_dm *d)
{
    uint64_t frame[MACHSYM_DEMANGLE_STACK / 8 + 1];
    d->no_mem = false;
    d->mem = (unsigned char *)frame;
    d->mem += (uintptr_t)d->mem & 8u;
    d->mem_len = MACHSYM_DEMANGLE_STACK & ~(size_t)15u;
    return ms_dm_any(d);
}
#endif

static bool ms_dm_run(ms_dm *d)
{
    size_t skip;
    if (d->len > 0 && d->s[0] == '\1') { /* LLVM's mark of a name that is the linker's already */
        d->s++;
        d->len--;
    }
    if (ms_dm_detect(d->s, d->len, &skip) == ms_DM_NONE)
        return false;
    bool ok = ms_dm_run_small(d);
#if MACHSYM_DEMANGLE_STACK > 24576
    if (!ok && d->no_mem)
        ok = ms_dm_run_large(d);
#endif
    d->mem = NULL;
    return ok;
}

/* ==== >>entrance ===========================================================================================
 * Job:    the public functions: check arguments, call down, fill the error.
 * Uses:   every floor above.
 * Offers: machsym_*.
 * Never:  decides anything about formats. */

MACHSYM_API const char *machsym_version(void)
{
    return MACHSYM_VERSION;
}

MACHSYM_API uint64_t machsym_abi(void)
{
    return MACHSYM_ABI;
}

MACHSYM_API const char *machsym_result_name(machsym_result result)
{
    static const char *const names[] = {
#define MACHSYM_X(name, text) #name,
        MACHSYM_RESULTS(MACHSYM_X)
#undef MACHSYM_X
    };
    return (unsigned)result < MACHSYM_RESULT_COUNT ? names[result] : "?";
}

MACHSYM_API const char *machsym_source_name(machsym_source source)
{
    static const char *const names[] = {"none", "dwarf", "symtab", "stub",           "exports",
                                        "objc", "block", "swift",  "function_starts"};
    return (unsigned)source < MACHSYM_SOURCE_COUNT ? names[source] : "?";
}

MACHSYM_API const char *machsym_arch_name(uint32_t cputype, uint32_t cpusubtype)
{
    return ms_mo_arch_name(cputype, cpusubtype);
}

/* ---- Paths ---- */

static bool machsym_is_absolute(machsym_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

MACHSYM_API size_t machsym_path_join(const machsym_path *path, char *buf, size_t cap)
{
    const machsym_str parts[3] = {path->comp_dir, path->dir, path->name};
    size_t first = machsym_is_absolute(path->name) ? 2 : machsym_is_absolute(path->dir) ? 1 : 0;
    size_t len = 0;
    char last = '/';
    if (path->name.len == 0)
        first = 3;
    for (size_t i = first; i < 3; i++) {
        if (parts[i].len == 0)
            continue;
        if (last != '/') {
            if (len + 1 < cap)
                buf[len] = '/';
            len++;
        }
        if (len + 1 < cap)
            ms_copy(buf + len, parts[i].ptr, parts[i].len < cap - len - 1 ? parts[i].len : cap - len - 1);
        len += parts[i].len;
        last = parts[i].ptr[parts[i].len - 1];
    }
    if (cap > 0)
        buf[len < cap ? len : cap - 1] = 0;
    return len;
}

/* ---- Image ---- */

MACHSYM_API size_t machsym_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                                       machsym_error *err)
{
    ms_mo_input input;
    ms_span slice;
    uint64_t offset;
    uint32_t count = 0;
    size_t listed = 0;
    if (desc == NULL) {
        ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor is NULL", "", 0);
        return 0;
    }
    if (ms_mo_input_open(desc->path, desc->bytes, desc->flags, &input, err) != MACHSYM_OK)
        return 0;
    for (uint32_t i = 0; ms_mo_slice_at(input.bytes, i, &count, &slice, &offset); i++) {
        ms_mo mo;
        if (ms_mo_peek(slice, offset, &mo, err) != MACHSYM_OK)
            continue;
        if (listed < cap)
            slices[listed] = mo.slice;
        listed++;
    }
    if (count == 0)
        ms_fail(err, MACHSYM_ERR_DAMAGED, "a fat file without slices", "fat header", 4);
    else if (listed > 0)
        ms_fail(err, MACHSYM_OK, "no error", "", 0); /* a damaged slice among good ones is left out */
    ms_mo_input_close(&input);
    return listed;
}

/* Takes a slice of input into the image. */
static machsym_result machsym_add_file(machsym_image *image, const machsym_open_desc *desc,
                                       const ms_mo_input *input, const char *arch, const machsym_uuid *uuid,
                                       machsym_error *err)
{
    ms_mo *mo = &image->mo[image->mo_count];
    machsym_result result = ms_mo_choose(input->bytes, arch, uuid, mo, err);
    if (result != MACHSYM_OK)
        return result;
    machsym_slice slice = mo->slice;
    ms_span bytes = mo->bytes;
    ms_zero(mo, sizeof *mo);
    mo->bytes = bytes;
    mo->slice = slice;
    mo->is_loaded = (desc->flags & MACHSYM_OPEN_LOADED) != 0 && image->mo_count == 0; /* a pair is a file */
    result = desc->entry != NULL ? ms_mo_load_entry(mo, ms_str_from_c(desc->entry), &image->arena, err)
                                 : ms_mo_load(mo, &image->arena, err);
    if (result != MACHSYM_OK)
        return result;
    uint64_t load_addr = desc->load_addr != 0 ? desc->load_addr : (uint64_t)(uintptr_t)bytes.ptr;
    mo->slide = mo->is_loaded ? load_addr - mo->text_addr : 0;
    image->inputs[image->mo_count] = *input;
    image->mo_count++;
    return MACHSYM_OK;
}

/* Opens the other half and checks that it is one. */
static machsym_result machsym_add_pair(machsym_image *image, const machsym_open_desc *desc, const char *path,
                                       machsym_error *err)
{
    ms_mo_input input;
    const machsym_slice *own = &image->mo[0].slice;
    machsym_result result = ms_mo_input_open(path, desc->pair_bytes, desc->flags, &input, err);
    if (result != MACHSYM_OK)
        return result;
    result = machsym_add_file(image, desc, &input, own->has_uuid ? NULL : own->arch,
                              own->has_uuid ? &own->uuid : NULL, err);
    if (result == MACHSYM_OK)
        return result;
    ms_mo_input_close(&input);
    if (result == MACHSYM_ERR_UUID || result == MACHSYM_ERR_ARCH)
        return ms_fail(err, MACHSYM_ERR_PAIR, "the two files do not belong together: their UUIDs differ",
                       "LC_UUID", 0);
    return result;
}

#ifndef MACHSYM_NO_OS
static bool machsym_has_dwarf(const ms_mo *mo)
{
    return ms_mo_section_named(mo, NULL, "__debug_info") != NULL ||
           ms_mo_section_named(mo, NULL, "__zdebug_info") != NULL;
}

/* Tries BUNDLE.dSYM/Contents/Resources/DWARF/NAME for a bundle that may hold the binary. Returns true when it
 * fits. */
static bool machsym_try_dsym(machsym_image *image, const machsym_open_desc *desc, machsym_str bundle,
                             machsym_str name)
{
    char *path = ms_mo_text(bundle, ".dSYM/Contents/Resources/DWARF/", name);
    bool fits =
        path != NULL && ms_os_is_file(path) && machsym_add_pair(image, desc, path, NULL) == MACHSYM_OK;
    free(path);
    return fits;
}

/* Looks for the dSYM beside a binary, and beside the bundles that the binary lies in. */
static void machsym_find_dsym(machsym_image *image, const machsym_open_desc *desc)
{
    machsym_str path = ms_str_from_c(image->inputs[0].path);
    machsym_str name = ms_str_base_name(path);
    for (unsigned levels = 0; levels < 6 && path.len > 1; levels++) {
        machsym_str last = ms_str_base_name(path);
        bool is_bundle = levels == 0 || ms_str_ends(last, ".app") || ms_str_ends(last, ".framework") ||
                         ms_str_ends(last, ".appex") || ms_str_ends(last, ".xpc") ||
                         ms_str_ends(last, ".bundle") || ms_str_ends(last, ".kext") ||
                         ms_str_ends(last, ".xctest");
        if (is_bundle && last.len > 0 && machsym_try_dsym(image, desc, path, name))
            return;
        path.len -= last.len;
        while (path.len > 1 && path.ptr[path.len - 1] == '/')
            path.len--;
    }
}
#endif

/* Executable segments, for an image whose code sections are all empty.
 * seen: dSYMs by Apple's dsymutil of 2008, which kept the sections with size 0. */
static size_t machsym_list_code_segments(const machsym_image *image, ms_key *order)
{
    size_t count = 0;
    for (size_t m = 0; m < image->mo_count; m++) {
        for (uint32_t i = 0; i < image->mo[m].segment_count; i++) {
            const ms_mo_segment *segment = &image->mo[m].segments[i];
            uint64_t hi;
            if ((segment->initprot & ms_VM_PROT_EXECUTE) == 0 || segment->size == 0 ||
                !ms_add_ok(segment->addr, segment->size, &hi))
                continue;
            order[count].key = segment->addr;
            order[count++].item = hi;
        }
    }
    return count;
}

/* The executable sections of all halves, sorted and joined where they touch or overlap. */
static void machsym_list_code(machsym_image *image)
{
    size_t max = (size_t)image->mo[0].section_count + image->mo[1].section_count +
                 image->mo[0].segment_count + image->mo[1].segment_count;
    ms_key *order = (ms_key *)ms_arena_alloc(&image->arena, max, sizeof *order);
    ms_range *code = (ms_range *)ms_arena_alloc(&image->arena, max, sizeof *code);
    size_t count = 0;
    size_t kept = 0;
    if (order == NULL || code == NULL)
        return;
    for (size_t m = 0; m < image->mo_count; m++) {
        for (uint32_t i = 0; i < image->mo[m].section_count; i++) {
            const ms_mo_section *section = &image->mo[m].sections[i];
            uint64_t hi;
            if (!section->is_code || section->size == 0 || !ms_add_ok(section->addr, section->size, &hi))
                continue;
            order[count].key = section->addr;
            order[count++].item = hi;
        }
    }
    if (count == 0)
        count = machsym_list_code_segments(image, order);
    ms_key_heap_sort(order, count);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && order[i].key < code[kept - 1].hi) {
            code[kept - 1].hi = order[i].item > code[kept - 1].hi ? order[i].item : code[kept - 1].hi;
            continue;
        }
        code[kept].lo = order[i].key;
        code[kept++].hi = order[i].item;
    }
    image->dw.code = code;
    image->dw.code_count = kept;
}

/* Takes the debug info of the first half that has some. */
static void machsym_find_dwarf(machsym_image *image)
{
    ms_dw *dw = &image->dw;
    const struct ms_os_file *file = NULL;
    for (size_t m = 0; m < image->mo_count && dw->info.len == 0; m++) {
        const ms_mo *mo = &image->mo[m];
        image->has_compressed_dwarf |= ms_mo_section_named(mo, NULL, "__zdebug_info") != NULL;
        ms_om_read_dwarf(mo, &image->arena, dw);
#ifndef MACHSYM_NO_OS
        file = &image->inputs[m].file;
#endif
    }
    image->cus = ms_cu_index(dw, file, &image->arena, &image->cu_count, &image->damage_count);
}

static const char *machsym_keep_c(machsym_image *image, const char *text)
{
    size_t len = ms_str_from_c(text).len;
    char *copy = (char *)ms_arena_alloc(&image->arena, len + 1, 1);
    if (copy == NULL)
        return NULL;
    ms_copy(copy, text, len);
    copy[len] = 0;
    return copy;
}

static void machsym_set_name(machsym_image *image, const machsym_open_desc *desc)
{
    image->name = ms_str_base_name(ms_str_from_c(image->inputs[0].path));
    if (ms_str_ends(image->name, ".dSYM"))
        image->name.len -= 5;
    if (desc->entry != NULL)
        image->name = ms_str_from_c(machsym_keep_c(image, desc->entry));
}

/* Whether and how the image's object files are looked for, if it has a debug map. */
static void machsym_set_places(machsym_image *image, const machsym_open_desc *desc)
{
    ms_om_places *places = &image->places;
    size_t prefix_count = desc->oso_prefixes != NULL ? desc->oso_prefix_count : 0;
    size_t dir_count = desc->oso_dirs != NULL ? desc->oso_dir_count : 0;
    machsym_oso_prefix *prefixes =
        (machsym_oso_prefix *)ms_arena_alloc(&image->arena, prefix_count, sizeof *prefixes);
    const char **dirs = (const char **)ms_arena_alloc(&image->arena, dir_count, sizeof *dirs);
    if (prefixes == NULL || dirs == NULL)
        return;
    for (size_t i = 0; i < prefix_count; i++) {
        prefixes[i].from = machsym_keep_c(image, desc->oso_prefixes[i].from);
        prefixes[i].to = machsym_keep_c(image, desc->oso_prefixes[i].to);
    }
    for (size_t i = 0; i < dir_count; i++)
        dirs[i] = machsym_keep_c(image, desc->oso_dirs[i]);
    places->prefixes = prefixes;
    places->prefix_count = prefix_count;
    places->dirs = dirs;
    places->dir_count = dir_count;
    places->flags = desc->flags;
    image->follows_objects = (desc->flags & (MACHSYM_OPEN_NO_OBJECTS | MACHSYM_OPEN_LOADED)) == 0 &&
                             (image->inputs[0].path != NULL || prefix_count + dir_count > 0) &&
                             image->dw.info.len == 0;
}

/* Everything after the image exists; on failure the caller closes it. */
static machsym_result machsym_image_fill(machsym_image *image, const machsym_open_desc *desc,
                                         machsym_error *err)
{
    ms_mo_input input;
    bool wants_pair = desc->pair_path != NULL || desc->pair_bytes.ptr != NULL;
    if (desc->entry != NULL && (wants_pair || (desc->flags & MACHSYM_OPEN_LOADED) != 0))
        return ms_fail(
            err, MACHSYM_ERR_ARGUMENT,
            "an image of a kernel collection has other addresses than its dSYM: open that by itself", "", 0);
    machsym_result result = ms_mo_input_open(desc->path, desc->bytes, desc->flags, &input, err);
    if (result != MACHSYM_OK)
        return result;
    result = machsym_add_file(image, desc, &input, desc->arch, desc->uuid, err);
    if (result != MACHSYM_OK) {
        ms_mo_input_close(&input);
        return result;
    }
    if (wants_pair)
        result = machsym_add_pair(image, desc, desc->pair_path, err);
#ifndef MACHSYM_NO_OS
    else if ((desc->flags & MACHSYM_OPEN_NO_PAIR) == 0 && desc->entry == NULL &&
             image->inputs[0].path != NULL && !machsym_has_dwarf(&image->mo[0]))
        machsym_find_dsym(image, desc);
#endif
    if (result != MACHSYM_OK)
        return result;
    if ((desc->flags & MACHSYM_OPEN_NO_SYMTAB) != 0) {
        for (size_t i = 0; i < image->mo_count; i++)
            image->mo[i].hide_symtab = true;
    }
    machsym_set_name(image, desc);
    machsym_list_code(image);
    machsym_find_dwarf(image);
    machsym_set_places(image, desc);
#ifndef MACHSYM_NO_OS
    for (size_t i = 0; i < image->mo_count; i++)
        ms_os_settle(&image->inputs[i].file);
#endif
    return image->arena.oom ? ms_fail_memory(err) : MACHSYM_OK;
}

MACHSYM_API machsym_result machsym_image_open(const machsym_open_desc *desc, machsym_image **out,
                                              machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor or the place for the image is NULL", "", 0);
    ms_arena arena = ms_arena_make(ms_arena_default(desc->allocator));
    if (arena.allocator.alloc == NULL || arena.allocator.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    machsym_image *image = (machsym_image *)ms_arena_zeroed(&arena, 1, sizeof *image);
    if (image == NULL)
        return ms_fail_memory(err);
    image->arena = arena;
    machsym_result result = machsym_image_fill(image, desc, err);
    if (result == MACHSYM_OK)
        *out = image;
    else
        machsym_image_close(image);
    return result;
}

MACHSYM_API void machsym_image_close(machsym_image *image)
{
    if (image == NULL)
        return;
    for (size_t i = 0; i < 2; i++)
        ms_mo_input_close(&image->inputs[i]);
    ms_arena arena = image->arena; /* the image lies in its own arena */
    ms_arena_free(&arena);
}

MACHSYM_API void machsym_image_get_info(const machsym_image *image, machsym_image_info *out)
{
    const ms_mo *mo = &image->mo[0];
    ms_zero(out, sizeof *out);
    out->slice = mo->slice;
    out->name = image->name;
    out->path = image->inputs[0].path;
    out->pair_path = image->inputs[1].path;
    out->text_addr = mo->text_addr;
    out->text_size = mo->text_size;
    out->text_exec_addr = mo->text_exec_addr;
    out->address_size = mo->is_64 ? 8 : 4;
    out->platform = mo->platform;
    out->min_os = mo->min_os;
    out->sdk = mo->sdk;
    out->source_version = mo->source_version;
    out->has_dwarf = image->dw.info.len != 0;
    out->has_compressed_dwarf = image->has_compressed_dwarf;
    out->damage_count = image->damage_count;
    for (size_t i = 0; i < image->mo_count; i++) {
        out->symbol_count += (uint32_t)(ms_sym_nlists(&image->mo[i]).len / ms_sym_nlist_size(&image->mo[i]));
        out->has_function_starts |= image->mo[i].loads.starts_size != 0;
        out->damage_count += image->mo[i].damage_count;
    }
}

MACHSYM_API bool machsym_image_next_section(const machsym_image *image, machsym_cursor *at,
                                            machsym_section *out)
{
    while (at->a < image->mo_count && at->b >= image->mo[at->a].section_count) {
        at->a++;
        at->b = 0;
    }
    if (at->a >= image->mo_count)
        return false;
    const ms_mo_section *section = &image->mo[at->a].sections[at->b++];
    out->segment = section->segment;
    out->name = section->name;
    out->addr = section->addr;
    out->size = section->size;
    out->offset = section->off;
    out->bytes.ptr = section->bytes.ptr;
    out->bytes.len = section->bytes.len;
    out->flags = section->flags;
    out->is_code = section->is_code;
    out->is_pair = at->a != 0;
    return true;
}

MACHSYM_API bool machsym_image_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out)
{
    return ms_mo_next_entry(&image->mo[0], &at->a, out);
}

static uint64_t machsym_addr_in(uint32_t cputype, bool is_64, uint64_t text_addr, uint64_t load_addr,
                                uint64_t pc)
{
    if (cputype == ms_CPU_ARM64 && (pc & ((uint64_t)1 << 55)) == 0)
        pc &= ((uint64_t)1 << 47) - 1; /* user space: the bits above hold pointer authentication */
    if (cputype == ms_CPU_ARM)
        pc &= ~(uint64_t)1; /* Thumb */
    uint64_t addr = pc - load_addr + text_addr;
    return is_64 ? addr : addr & 0xffffffff;
}

MACHSYM_API uint64_t machsym_image_addr(const machsym_image *image, uint64_t load_addr, uint64_t pc)
{
    const ms_mo *mo = &image->mo[0];
    return machsym_addr_in(mo->slice.cputype, mo->is_64, mo->text_addr, load_addr, pc);
}

MACHSYM_API const machsym_loaded *machsym_loaded_from_pc(const machsym_loaded *images, size_t count,
                                                         uint64_t pc)
{
    size_t lo = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (images[lo + half].lo <= pc) {
            lo += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return lo > 0 && pc < images[lo - 1].hi ? &images[lo - 1] : NULL;
}

/* ---- Session ---- */

MACHSYM_API machsym_result machsym_session_open(const machsym_session_desc *desc, machsym_session **out,
                                                machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->image == NULL || (unsigned)desc->lines >= MACHSYM_LINES_COUNT)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the image is missing or the line policy is none", "", 0);
    machsym_allocator allocator = ms_arena_default(desc->allocator);
    if (allocator.alloc == NULL || allocator.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    machsym_session *session =
        ms_ans_open(desc->image, desc->lines, desc->flags, desc->cache_limit, allocator);
    if (session == NULL)
        return ms_fail_memory(err);
    if ((desc->flags & MACHSYM_SESSION_INDEX) != 0)
        ms_ans_index(session);
    if (ms_ans_failed(session)) {
        ms_ans_close(session);
        return ms_fail_memory(err);
    }
    *out = session;
    return MACHSYM_OK;
}

MACHSYM_API void machsym_session_trim(machsym_session *session)
{
    ms_ans_forget(session);
}

MACHSYM_API bool machsym_session_lacked_memory(const machsym_session *session)
{
    return ms_ans_failed(session);
}

MACHSYM_API void machsym_session_close(machsym_session *session)
{
    if (session != NULL)
        ms_ans_close(session);
}

MACHSYM_API size_t machsym_session_frames(machsym_session *session, uint64_t addr, machsym_frame *frames,
                                          size_t cap)
{
    return ms_ans_frames(session, addr, frames, cap);
}

MACHSYM_API size_t machsym_session_lookup(machsym_session *session, const uint64_t *addrs, size_t count,
                                          machsym_answer *answers, machsym_frame *frames, size_t cap)
{
    return ms_ans_many(session, addrs, count, answers, frames, cap);
}

MACHSYM_API bool machsym_session_next_function(machsym_session *session, machsym_cursor *at,
                                               machsym_function *out)
{
    return ms_ans_next_function(session, at, out);
}

MACHSYM_API bool machsym_session_next_line(machsym_session *session, machsym_cursor *at, machsym_line *out)
{
    return ms_ans_next_line(session, at, out);
}

MACHSYM_API bool machsym_session_next_symbol(machsym_session *session, machsym_cursor *at,
                                             machsym_symbol *out)
{
    const ms_sym_table *t = ms_ans_symbols(session);
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a, out);
    at->a = ms_sym_next(t, (size_t)at->a);
    return true;
}

MACHSYM_API bool machsym_session_next_alias(machsym_session *session, uint64_t addr, machsym_cursor *at,
                                            machsym_str *out)
{
    const ms_sym_table *t = ms_ans_symbols(session);
    size_t first = ms_sym_first(t, addr);
    for (size_t index = first + (size_t)at->a++; index < t->count && t->v[index].key == addr;
         index++, at->a++) {
        *out = ms_sym_name(t, t->v[index].item);
        if (out->len != 0 && ms_sym_is_new(t, first, index))
            return true;
    }
    return false;
}

MACHSYM_API bool machsym_session_next_name(machsym_session *session, machsym_cursor *at, machsym_symbol *out)
{
    const ms_sym_table *t = ms_ans_symbols(session);
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a++, out);
    return true;
}

MACHSYM_API bool machsym_session_next_objc(machsym_session *session, machsym_cursor *at, machsym_objc *out)
{
    return ms_ans_next_objc(session, at, out);
}

MACHSYM_API bool machsym_session_next_object(machsym_session *session, machsym_cursor *at,
                                             machsym_object *out)
{
    return ms_ans_next_object(session, at, out);
}

MACHSYM_API bool machsym_session_next_object_file(const machsym_session *session, machsym_cursor *at,
                                                  machsym_object_file *out)
{
    const ms_ans_objects *o = session->objects;
    if (o == NULL || at->a >= o->tried_count)
        return false;
    ms_ans_get_object(o, o->tried[at->a++], out);
    return true;
}

MACHSYM_API void machsym_session_explain(machsym_session *session, uint64_t addr, machsym_explanation *out)
{
    ms_ans_explain(session, addr, out);
}

MACHSYM_API void machsym_session_get_info(machsym_session *session, machsym_session_info *out)
{
    ms_ans_count(session, out);
}

/* ---- Map ---- */

static machsym_result machsym_plan_fill(machsym_plan *plan, const machsym_plan_desc *desc, machsym_error *err)
{
    plan->image = desc->image;
    plan->lines = desc->lines;
    plan->flags = desc->flags & MACHSYM_MAP_COLUMNS;
    machsym_session *session = ms_map_session(plan);
    plan->dict = (ms_map_dict *)ms_arena_zeroed(&plan->arena, 1, sizeof *plan->dict);
    plan->session = session;
    if (session == NULL || plan->dict == NULL)
        return ms_fail_memory(err);
    ms_ans_index(session);
    ms_map_set_spaces(plan->image, &plan->spaces);
    ms_map_fill_dict(&plan->spaces, ms_MAP_DICT / ms_MAP_SAMPLE, plan->dict);
    ms_map_cut_tasks(plan);
    return plan->arena.oom || ms_ans_failed(session) ? ms_fail_memory(err) : MACHSYM_OK;
}

MACHSYM_API machsym_result machsym_plan_open(const machsym_plan_desc *desc, machsym_plan **out,
                                             machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->image == NULL || (unsigned)desc->lines >= MACHSYM_LINES_COUNT)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the image is missing or the line policy is none", "", 0);
    ms_arena arena = ms_arena_make(ms_arena_default(desc->allocator));
    if (arena.allocator.alloc == NULL || arena.allocator.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    machsym_plan *plan = (machsym_plan *)ms_arena_zeroed(&arena, 1, sizeof *plan);
    if (plan == NULL) {
        ms_arena_free(&arena);
        return ms_fail_memory(err);
    }
    plan->arena = arena;
    plan->allocator = arena.allocator;
    machsym_result result = machsym_plan_fill(plan, desc, err);
    if (result == MACHSYM_OK)
        *out = plan;
    else
        machsym_plan_close(plan);
    return result;
}

MACHSYM_API void machsym_plan_close(machsym_plan *plan)
{
    if (plan == NULL)
        return;
    if (plan->session != NULL)
        ms_ans_close(plan->session);
    ms_arena arena = plan->arena; /* the plan lies in its own arena */
    ms_arena_free(&arena);
}

MACHSYM_API size_t machsym_plan_part_count(const machsym_plan *plan)
{
    return plan->count;
}

MACHSYM_API uint64_t machsym_plan_part_size(const machsym_plan *plan, size_t index)
{
    return index < plan->count ? plan->tasks[index].size : 0;
}

MACHSYM_API bool machsym_plan_next_object_file(const machsym_plan *plan, machsym_cursor *at,
                                               machsym_object_file *out)
{
    const ms_ans_objects *o = plan->session->objects;
    if (o == NULL || at->a >= o->map.count)
        return false;
    ms_ans_get_object(o, (size_t)at->a++, out);
    return true;
}

MACHSYM_API machsym_result machsym_part_build(const machsym_plan *plan, size_t index, machsym_part **out,
                                              machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (plan == NULL || out == NULL || index >= plan->count)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the plan has no such part", "", 0);
    *out = ms_map_build_part(plan, index);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

MACHSYM_API void machsym_part_close(machsym_part *part)
{
    if (part != NULL)
        ms_map_free_part(part);
}

static void machsym_close_parts(machsym_part **parts, size_t count)
{
    for (size_t i = 0; i < count && parts != NULL; i++) {
        machsym_part_close(parts[i]);
        parts[i] = NULL;
    }
}

static void machsym_set_head(ms_map_head *head, const machsym_image *image, const machsym_plan *plan)
{
    const ms_mo *mo = &image->mo[0];
    ms_zero(head, sizeof *head);
    head->version = ms_MAP_VERSION;
    head->flags = plan->flags;
    head->uuid = mo->slice.uuid;
    head->cputype = mo->slice.cputype;
    head->cpusubtype = mo->slice.cpusubtype;
    head->text_addr = mo->text_addr;
    head->text_size = mo->text_size;
    head->text_exec_addr = mo->text_exec_addr;
    for (size_t i = 0; i < image->dw.code_count; i++) {
        uint64_t hi = image->dw.code[i].hi;
        if (hi > mo->text_addr && hi - mo->text_addr > head->code_size)
            head->code_size = hi - mo->text_addr;
    }
    head->lines = (uint32_t)plan->lines;
}

MACHSYM_API machsym_result machsym_map_merge(const machsym_plan *plan, machsym_part **parts, size_t count,
                                             machsym_map **out, machsym_error *err)
{
    ms_map_merge m;
    ms_map_head head;
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    bool whole = plan != NULL && parts != NULL && out != NULL && count == plan->count;
    for (size_t i = 0; i < count && whole; i++)
        whole = parts[i] != NULL;
    if (!whole)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "all parts of the plan are needed", "", 0);
    ms_zero(&m, sizeof m);
    m.allocator = plan->allocator;
    m.arena = ms_arena_make(plan->allocator);
    m.parts = parts;
    m.part_count = count;
    m.text_addr = plan->image->mo[0].text_addr;
    m.block_count = plan->spaces.total / ms_MAP_BLOCK;
    m.symbols = ms_map_new_part(plan->allocator, ms_MAP_UNITS);
    machsym_result result = ms_fail_memory(err);
    if (m.symbols != NULL) {
        ms_map_coder *c = &m.symbols->coder;
        c->spaces = &plan->spaces;
        c->text_addr = m.text_addr;
        c->columns = (plan->flags & MACHSYM_MAP_COLUMNS) != 0;
        c->used = (uint8_t *)ms_arena_zeroed(&m.symbols->arena, (size_t)(m.block_count / 8 + 1), 1);
        machsym_set_head(&head, plan->image, plan);
        if (c->used != NULL)
            result =
                ms_map_finish(&m, &head, plan->image->name, plan->dict, &plan->session->symbols, out, err);
    }
    if (m.symbols != NULL)
        ms_map_free_part(m.symbols);
    machsym_close_parts(parts, count);
    ms_arena_free(&m.arena);
    if (result == MACHSYM_OK)
        ms_fail(err, MACHSYM_OK, "no error", "", 0);
    return result;
}

MACHSYM_API machsym_result machsym_map_build(const machsym_plan_desc *desc, machsym_map **out,
                                             machsym_error *err)
{
    machsym_plan *plan;
    if (out == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the place for the map is NULL", "", 0);
    *out = NULL;
    machsym_result result = machsym_plan_open(desc, &plan, err);
    if (result != MACHSYM_OK)
        return result;
    machsym_part **parts =
        (machsym_part **)ms_arena_zeroed(&plan->arena, plan->count, sizeof(machsym_part *));
    if (parts == NULL)
        result = ms_fail_memory(err);
    for (size_t i = 0; i < plan->count && result == MACHSYM_OK; i++)
        result = machsym_part_build(plan, i, &parts[i], err);
    if (result == MACHSYM_OK)
        result = machsym_map_merge(plan, parts, plan->count, out, err);
    machsym_close_parts(parts, plan->count);
    machsym_plan_close(plan);
    return result;
}

/* Checks what a map file says of itself. */
static machsym_result machsym_check_map(machsym_map *map, uint32_t flags, machsym_error *err)
{
    ms_map_head *head = &map->head;
    if (map->bytes.len < ms_MAP_HEAD || !ms_equal(map->bytes.ptr, ms_MAP_MAGIC, 8))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "not a symbol map", "map header", 0);
    ms_map_load_head(map->bytes.ptr, head);
    if (head->version != ms_MAP_VERSION)
        return ms_fail(err, MACHSYM_ERR_VERSION,
                       "the map was written in another format version; build it again", "map header", 8);
    if (head->size != map->bytes.len)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the map is cut short or has grown", "map header", 64);
    if (head->bucket_shift > 31 || head->lines >= MACHSYM_LINES_COUNT ||
        head->text_addr > UINT64_MAX - UINT32_MAX)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "a number in the header is out of bounds", "map header", 56);
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++) {
        if (head->tables[i].lo > head->tables[i].hi || head->tables[i].hi > map->bytes.len)
            return ms_fail(err, MACHSYM_ERR_DAMAGED, "a table lies outside the map", "map header",
                           80 + 16 * (uint64_t)i);
    }
    if ((flags & MACHSYM_MAP_UNCHECKED) == 0 && ms_map_sum_of(map->bytes) != head->checksum)
        return ms_fail(err, MACHSYM_ERR_CHECKSUM,
                       "the map's checksum does not match its bytes; build it again", "map header", 72);
    ms_map_set_tables(map);
    return MACHSYM_OK;
}

MACHSYM_API machsym_result machsym_map_open(const char *path, machsym_bytes bytes, uint32_t flags,
                                            const machsym_allocator *allocator, machsym_map **out,
                                            machsym_error *err)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the place for the map is NULL", "", 0);
    *out = NULL;
    machsym_allocator own = ms_arena_default(allocator != NULL ? *allocator : none);
    if (own.alloc == NULL || own.free == NULL || (path == NULL && bytes.ptr == NULL))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "neither a path nor bytes to open, or an allocator that lacks a function", "", 0);
    machsym_map *map = (machsym_map *)own.alloc(own.user, sizeof *map);
    if (map == NULL)
        return ms_fail_memory(err);
    ms_zero(map, sizeof *map);
    map->allocator = own;
    map->bytes = ms_span_make(bytes.ptr, bytes.len);
    machsym_result result = MACHSYM_OK;
#ifndef MACHSYM_NO_OS
    if (bytes.ptr == NULL) {
        int code = ms_os_map(path, (flags & MACHSYM_MAP_COPY) != 0, &map->file);
        map->bytes = ms_span_make(map->file.ptr, map->file.len);
        if (code != 0)
            result = ms_mo_fail_file(err, code);
    }
#endif
    if (result == MACHSYM_OK)
        result = machsym_check_map(map, flags, err);
    if (result == MACHSYM_OK)
        *out = map;
    else
        machsym_map_close(map);
    return result;
}

MACHSYM_API void machsym_map_close(machsym_map *map)
{
    if (map == NULL)
        return;
#ifndef MACHSYM_NO_OS
    ms_os_unmap(&map->file);
#endif
    if (map->memory != NULL)
        map->allocator.free(map->allocator.user, map->memory, map->memory_size);
    map->allocator.free(map->allocator.user, map, sizeof *map);
}

MACHSYM_API machsym_bytes machsym_map_bytes(const machsym_map *map)
{
    machsym_bytes bytes = {map->bytes.ptr, map->bytes.len};
    return bytes;
}

MACHSYM_API machsym_result machsym_map_save(const machsym_map *map, const char *path, machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
#ifdef MACHSYM_NO_OS
    (void)map;
    (void)path;
    return ms_fail(err, MACHSYM_ERR_UNSUPPORTED, "this build opens and writes no files", "", 0);
#else
    if (map == NULL || path == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the map or the path is missing", "", 0);
    int code = ms_os_write(path, map->bytes.ptr, map->bytes.len);
    if (code == 0)
        return MACHSYM_OK;
    ms_fail(err, MACHSYM_ERR_IO, "the file cannot be written", "", 0);
    if (err != NULL)
        err->os_errno = code;
    return MACHSYM_ERR_IO;
#endif
}

MACHSYM_API void machsym_map_get_info(const machsym_map *map, machsym_map_info *out)
{
    const ms_map_head *head = &map->head;
    ms_zero(out, sizeof *out);
    out->name = ms_str_make((const char *)map->tables[ms_TABLE_NAME].ptr, map->tables[ms_TABLE_NAME].len);
    out->uuid = head->uuid;
    out->cputype = head->cputype;
    out->cpusubtype = head->cpusubtype;
    out->arch = ms_mo_arch_name(head->cputype, head->cpusubtype);
    out->text_addr = head->text_addr;
    out->text_size = head->text_size;
    out->text_exec_addr = head->text_exec_addr;
    out->code_size = head->code_size;
    out->lines = (machsym_lines)head->lines;
    out->flags = head->flags;
    out->version = head->version;
    out->size = map->bytes.len;
    out->run_count = map->tables[ms_TABLE_RUNS].len / 8;
    out->symbol_run_count = map->tables[ms_TABLE_SYMBOL_RUNS].len / 8;
    out->text_bytes = map->tables[ms_TABLE_BLOCKS].len / 4 * ms_MAP_BLOCK;
    out->packed_bytes = map->tables[ms_TABLE_TEXT].len;
    out->data_bytes = map->tables[ms_TABLE_DATA].len;
}

MACHSYM_API uint64_t machsym_map_addr(const machsym_map *map, uint64_t load_addr, uint64_t pc)
{
    bool is_64 = (map->head.cputype & ms_CPU_IS_64) != 0;
    return machsym_addr_in(map->head.cputype, is_64, map->head.text_addr, load_addr, pc);
}

MACHSYM_API size_t machsym_map_frames(const machsym_map *map, uint64_t addr, machsym_frame *frames,
                                      size_t cap)
{
    return ms_map_frames(map, addr, frames, cap);
}

MACHSYM_API size_t machsym_map_names(const machsym_map *map, machsym_frame *frames, size_t count, char *text,
                                     size_t cap)
{
    return ms_map_names(map, frames, count, text, cap);
}

MACHSYM_API machsym_result machsym_names_open(const machsym_map *map, const machsym_allocator *allocator,
                                              machsym_names **out, machsym_error *err)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    machsym_allocator own = ms_arena_default(allocator != NULL ? *allocator : none);
    if (out == NULL || map == NULL || own.alloc == NULL || own.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the map is missing, or the allocator lacks a function", "",
                       0);
    *out = ms_map_open_names(map, own);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

MACHSYM_API void machsym_names_close(machsym_names *names)
{
    if (names != NULL)
        ms_map_close_names(names);
}

MACHSYM_API void machsym_names_trim(machsym_names *names, size_t limit)
{
    ms_map_trim_names(names, limit);
}

MACHSYM_API bool machsym_names_get(machsym_names *names, machsym_frame *frames, size_t count)
{
    return ms_map_get_names(names, frames, count);
}

MACHSYM_API bool machsym_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out)
{
    return ms_map_next(map, at, out);
}

MACHSYM_API machsym_result machsym_writer_open(const machsym_map_info *info,
                                               const machsym_allocator *allocator, machsym_writer **out,
                                               machsym_error *err)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    machsym_allocator own = ms_arena_default(allocator != NULL ? *allocator : none);
    if (out != NULL)
        *out = NULL;
    if (info == NULL || out == NULL || own.alloc == NULL || own.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "the info, the place for the writer or the allocator is missing", "", 0);
    ms_arena arena = ms_arena_make(own);
    machsym_writer *w = (machsym_writer *)ms_arena_zeroed(&arena, 1, sizeof *w);
    if (w == NULL) {
        ms_arena_free(&arena);
        return ms_fail_memory(err);
    }
    w->allocator = own;
    w->arena = arena;
    w->info = *info;
    w->chains.arena = w->sites.arena = &w->arena;
    w->text_arena = ms_arena_make(own);
    w->texts.arena = &w->text_arena;
    for (size_t i = 0; i < 2; i++) {
        w->parts[i] = ms_map_new_part(own, ms_MAP_UNITS);
        if (w->parts[i] == NULL) {
            machsym_writer_close(w);
            return ms_fail_memory(err);
        }
        w->parts[i]->coder.texts = &w->texts;
        w->parts[i]->coder.text_addr = info->text_addr;
        w->parts[i]->coder.columns = (info->flags & MACHSYM_MAP_COLUMNS) != 0;
    }
    *out = w;
    return MACHSYM_OK;
}

MACHSYM_API void machsym_writer_close(machsym_writer *writer)
{
    if (writer == NULL)
        return;
    machsym_part_close(writer->parts[0]);
    machsym_part_close(writer->parts[1]);
    ms_arena_free(&writer->text_arena);
    ms_arena arena = writer->arena; /* the writer lies in its own arena */
    ms_arena_free(&arena);
}

MACHSYM_API machsym_result machsym_writer_add(machsym_writer *writer, const machsym_map_range *range,
                                              const machsym_frame *frames, size_t count, machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (writer == NULL || range == NULL || (frames == NULL && count != 0))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the writer, the range or the frames are missing", "", 0);
    return ms_map_writer_add(writer, range, frames, count, err);
}

MACHSYM_API machsym_result machsym_writer_finish(machsym_writer *writer, machsym_map **out,
                                                 machsym_error *err)
{
    ms_map_merge m;
    ms_map_head head;
    if (out != NULL)
        *out = NULL;
    if (writer == NULL || out == NULL) {
        machsym_writer_close(writer);
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the writer or the place for the map is missing", "", 0);
    }
    ms_map_dict *dict = (ms_map_dict *)ms_arena_zeroed(&writer->arena, 1, sizeof *dict);
    machsym_result result = ms_fail_memory(err);
    ms_zero(&m, sizeof m);
    ms_zero(&head, sizeof head);
    ms_map_flush(&writer->parts[0]->coder, &writer->queue);
    for (size_t i = 0; i < 2; i++)
        writer->parts[i]->files_at = ms_map_end_part(&writer->parts[i]->coder);
    m.allocator = writer->allocator;
    m.arena = ms_arena_make(writer->allocator);
    m.text_addr = writer->info.text_addr;
    head.version = ms_MAP_VERSION;
    head.flags = writer->info.flags & (MACHSYM_MAP_COLUMNS | MACHSYM_MAP_CHUNK);
    head.uuid = writer->info.uuid;
    head.cputype = writer->info.cputype;
    head.cpusubtype = writer->info.cpusubtype;
    head.text_addr = writer->info.text_addr;
    head.text_size = writer->info.text_size;
    head.text_exec_addr = writer->info.text_exec_addr;
    head.code_size = writer->info.code_size;
    head.lines = (uint32_t)writer->info.lines;
    bool ok = dict != NULL && !writer->parts[0]->data_arena.oom && !writer->text_arena.oom;
    if (ok && ms_map_writer_pack(writer, &m, dict))
        result = ms_map_finish(&m, &head, writer->info.name, dict, NULL, out, err);
    machsym_part_close(m.symbols);
    for (size_t i = 0; i < m.part_count; i++)
        machsym_part_close(m.parts[i]);
    ms_arena_free(&m.arena);
    machsym_writer_close(writer);
    if (result == MACHSYM_OK)
        ms_fail(err, MACHSYM_OK, "no error", "", 0);
    return result;
}

MACHSYM_API size_t machsym_demangle(machsym_str mangled, uint32_t flags, char *buf, size_t cap)
{
    ms_dm d;
    ms_zero(&d, sizeof d);
    d.s = mangled.ptr;
    d.len = mangled.len;
    d.flags = flags & (MACHSYM_DEMANGLE_SIMPLIFIED | MACHSYM_DEMANGLE_RUST_HASH);
    d.out = buf;
    d.cap = cap > 0 ? cap - 1 : 0;
    size_t len = mangled.len;
    if (ms_dm_run(&d))
        len = d.out_len;
    else if (d.cap > 0 && len > 0)
        ms_copy(buf, mangled.ptr, len < d.cap ? len : d.cap);
    if (cap > 0)
        buf[len < d.cap ? len : d.cap] = '\0';
    return len;
}

#endif /* MACHSYM_IMPLEMENTATION */

/*
 * This software is available under two licenses. Choose whichever you like.
 *
 * ------------------------------------------------------------------------------
 * Alternative A: the MIT License
 *
 * Copyright (c) 2026 the machsym authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of
 * this software and associated documentation files (the "Software"), to deal in
 * the Software without restriction, including without limitation the rights to
 * use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
 * of the Software, and to permit persons to whom the Software is furnished to do
 * so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 *
 * ------------------------------------------------------------------------------
 * Alternative B: the public domain (www.unlicense.org)
 *
 * This is free and unencumbered software released into the public domain.
 *
 * Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
 * software, either in source code form or as a compiled binary, for any purpose,
 * commercial or non-commercial, and by any means.
 *
 * In jurisdictions that recognize copyright laws, the author or authors of this
 * software dedicate any and all copyright interest in the software to the public
 * domain. We make this dedication for the benefit of the public at large and to
 * the detriment of our heirs and successors. We intend this dedication to be an
 * overt act of relinquishment in perpetuity of all present and future rights to
 * this software under copyright law.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
 * ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
 * WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
