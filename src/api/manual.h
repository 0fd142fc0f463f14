#ifndef ms_ROOM_api_manual
#define ms_ROOM_api_manual

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
 * know report formats (the tool in tool does).
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
 *   >>table      the hash table
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
 *   >>pack       text in packed blocks
 *   >>symmap     symbol maps of whole images: looking addresses up
 *   >>encode     the records of a map
 *   >>merge      parts of a map to a whole one
 *   >>build      parts from debug info and symbols
 *   >>writer     maps from ranges that the caller has
 *   >>names      mangled names to source form
 *   >>text       what is known, written for people
 *   >>entrance   the public functions
 */

#endif /* ms_ROOM_api_manual */
