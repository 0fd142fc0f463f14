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
 * <docs/symmap.md>
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
 *   >>names      one mangled name on its way to source form; four languages, and which one it is:
 *     >>swift-nodes >>swift-reader >>swift-old >>swift-symbols >>swift-printer
 *     >>rust >>cxx-nodes >>cxx-reader >>cxx-printer >>d >>language
 *   >>text       what is known, written for people
 *   >>entrance   the public functions
 */

#endif /* ms_ROOM_api_manual */
