#ifndef ms_ROOM_api_manual
#define ms_ROOM_api_manual

/* ==== >>manual =============================================================================================
 * Turns an address of an iPhone or Mac program into function, file, line and inlined calls. One C or C++ file
 * of a program defines MACHSYM_IMPLEMENTATION before the include; all others have the include alone.
 *
 *     open a dSYM, a binary or a map      machsym_image_open, machsym_error_text    all threads may use it
 *     begin lookups                       machsym_session_open                      one for each thread
 *     make a file address of a pc         machsym_image_addr_of_pc
 *     look one address up                 machsym_session_frames_at_addr, machsym_frame_name
 *     look thousands up                   machsym_session_frames_at_addrs           examples/batch.c
 *     look the stack of a crash up        machsym_session_frames_of_stack
 *     resolve a whole image, keep that    machsym_map_build, machsym_map_save       examples/map.c
 *     list slices and UUIDs of a file     machsym_list_slices
 *     read a mangled name                 machsym_demangle
 *     find the callers of a dead thread   machsym_unwind_next
 *     answer a whole crash report         machsym_report.h                          docs/report-header.md
 *
 * ---- One address: examples/minimal.c ----
 *
 * <examples/minimal.c>
 *
 * A *runtime* address is what a crash report shows. A *file* address is what the file calls the same place:
 * runtime address - load address + vmaddr of __TEXT. The name of a function says which one it takes:
 * addr is a file address, pc a runtime address. machsym_image_addr_of_pc makes the first of the second. A
 * return address points after its call, so look up the address one below it: every frame of a thread but the
 * first one is such an address. (machsym_session_frames_of_stack does that by itself.)
 *
 * The first frame is the innermost inlined call. The last frame is the function that the linker knows, with
 * the place of the call in it. No frame means that nothing is known of the address; that is no error.
 * Where memory ran out, the frames say so.
 *
 * ---- What it reads ----
 *
 * Fat and thin Mach-O files of 32 and 64 bits, images of kernel collections and of dyld shared caches,
 * DWARF 2 to 5, debug maps to object files, symbol tables, stubs, exports, Objective-C and Swift metadata,
 * function starts; names of C++, Swift, Rust and D. It does not read ELF or PE, or read crash reports:
 * machsym_report.h and the program machsym read those. Compressed debug info (__zdebug_*) is decompressed
 * section by section, each once an image, when it is first needed.
 *
 * Which field of machsym_open_desc counts for which kind of file. file: a Mach-O file or a dSYM; memory: an
 * image in memory, by MACHSYM_OPEN_LOADED; map: a symbol map; cache: a dyld shared cache; entry: one image of
 * a cache; from: one image of a cache that is open. yes: the field counts; no: it is MACHSYM_ERR_ARGUMENT or
 * MACHSYM_ERR_PAIR; -: it is ignored.
 *
 *     field          file   memory  map    cache  entry  from
 *     path           yes    name    yes    yes    yes    -
 *     bytes          yes    yes     yes    yes    yes    -
 *     io             yes    no      yes    yes    yes    -
 *     pair_path      yes    yes     no     no     no     no
 *     pair_bytes     yes    yes     no     no     no     no
 *     arch           yes    yes     yes    yes    yes    yes
 *     uuid           yes    yes     yes    yes    yes    yes
 *     entry          no     no      -      yes    yes    yes
 *     load_addr      -      yes     -      -      -      -
 *     oso_prefixes   yes    -       -      -      -      -
 *     oso_dirs       yes    -       -      -      -      -
 *     cache_files    -      -       -      yes    yes    -
 *     allocator      yes    yes     yes    yes    yes    yes
 *
 * One of path, bytes, io and from says where the file is. from and entry belong together. name: what names
 * and messages call the bytes. Of a kernel collection, the images are opened by entry as those of a cache,
 * and object files are searched as for a file. Of the flags, MACHSYM_OPEN_UNCHECKED and
 * MACHSYM_OPEN_BY_PAGES are for maps, MACHSYM_OPEN_NO_OBJECTS and MACHSYM_OPEN_ANY_TIME for files with a
 * debug map, MACHSYM_OPEN_NO_PAIR and MACHSYM_OPEN_COPY for what is opened by its path.
 *
 * ---- Many addresses: examples/batch.c ----
 *
 * machsym_session_frames_at_addrs takes addresses in any order, and visits them in the order that decodes
 * each unit once. Ask for thousands at a time.
 *
 * ---- Many threads: examples/threads.c ----
 *
 * const means shareable: a function that takes a const T * may run on many threads with the same T. A T *
 * without const belongs to one thread at a time. So a program has one image, and one session for each thread.
 * There are no locks, and no globals.
 *
 * ---- A map: examples/map.c ----
 *
 * A map is a whole image resolved once, into a file that is used as it lies there. machsym_map_build makes
 * one; machsym_plan_open, machsym_part_build and machsym_map_merge make the same one with many threads.
 * machsym_image_open opens it like any other file, so sessions answer from maps too.
 * machsym_map_frames_at_addr is the bare lookup, which allocates nothing.
 *
 * A *part* is what a thread builds of a map, a *chunk* what a key-value store keeps of one, a *page* the
 * 16 KB that have a checksum, and a *run* the ranges that are stored together.
 *
 * ---- System libraries ----
 *
 * The code of the system's libraries lies in dyld shared caches, of many files since iOS 15.
 * machsym_image_open opens the main file, and finds the others beside it or in cache_files by their UUIDs.
 * machsym_image_next_entry lists the images, and machsym_image_entry_at_addr tells which one has an address.
 * An image is opened by machsym_open_desc.entry, with from when there are many. It has a session of its own,
 * and its addresses are those of the cache, which all slide by the same distance. No file is copied, and only
 * the pages that are needed are read. A file that is missing costs what lies in it:
 * machsym_image_next_cache_file. Names come from exports, local symbols, Objective-C and Swift metadata; the
 * <redacted> symbols of images only tell where functions begin. No real iOS cache was at hand when this was
 * written: caches made from the description of the format stood for them.
 *
 * ---- A service: examples/redis ----
 *
 * machsym_map_next and machsym_writer_open cut a map into chunks of some kilobytes that a key-value store can
 * hold. A chunk is a map of its own. The service fetches the chunk of an address and asks it.
 *
 * ---- In a running process: examples/backtrace.c ----
 *
 * MACHSYM_OPEN_LOADED opens an image as dyld laid it out in memory. Lookups in a map are async-signal-safe.
 * So are lookups in a session with MACHSYM_SESSION_INDEX that repeat what the session has decoded.
 *
 * ---- A stopped or dead thread ----
 *
 * machsym_unwind_next makes the registers of a frame those of its caller, again and again until the stack
 * ends. It asks a callback for memory: of a corpse, a core file, a minidump, or another thread. Images are
 * told by where they are, with __unwind_info and __eh_frame out of files, out of maps that were built with
 * MACHSYM_MAP_UNWIND (machsym_map_get_unwind), or out of the same memory. Each frame says how it was found,
 * and each stack why it ended. A frame that stopped may be half made or half undone (arm64, x86_64): its code
 * is followed up to where it returns or calls. So read has to give the code
 * of images, too: out of the files where a minidump or a core file lacks it.
 *
 * ---- Without an operating system: examples/bytes.c ----
 *
 * MACHSYM_NO_OS leaves out files and the C library. Images come as bytes, and each descriptor has an
 * allocator.
 *
 * ---- Files that are not in memory ----
 *
 * machsym_open_desc.io is a callback that copies bytes of a file: from a server, out of an archive, in a
 * browser. Only the chosen slice is read, in this order. Code other than __objc_stubs, types and locations of
 * variables are not read.
 *
 * - While the image is opened: headers, the tables of symbols and imports, function starts.
 * - When a lookup first needs it: each section of debug info, once. All sessions and threads share it. A
 *   program that asks for symbols alone reads none. No lock is needed: if two threads need a section at the
 *   same moment, both read it, and one throws its copy away.
 * - When a session first needs names that metadata may have (in a program, but not in a dSYM; and when it
 *   lists symbols, classes or types), and when a map of such a program is planned: each section of metadata
 *   that is looked into, once a session, which keeps it.
 *
 * machsym_image_info counts the first two, machsym_session_get_io_stats the third. Memory is asked for as
 * many bytes as the slice has. Bytes that are not read are never touched: systems provide no pages for them.
 * A slice that is too large for that is MACHSYM_ERR_MEMORY, with its size as the offset of the error. What
 * cannot be read is damage. To learn what a file is, machsym_list_slices reads its headers only.
 *
 * Of a symbol map only the beginning is read when it is opened: 32 KB, or more of maps above 32 MB. Then
 * sessions read pages of 16 KB when lookups need them. At most four of them wait for each other: index, run,
 * names, and names that go on in another page. Each session keeps MACHSYM_KEPT_PAGES pages, and asks in
 * its own thread. A page is compared with its checksum before it answers.
 *
 * ---- Lifetimes: docs/drawings/lifetimes.svg ----
 *
 * Input is mapped once and never written. Names and paths in frames are views into it, and live until the
 * image is closed. Names that are put together from parts, names out of a map's packed text, names out of
 * metadata that a session read, and names from the object files of a debug map live until the session is
 * trimmed or closed. All are the file's own bytes: the builder of the file may have put newlines and terminal
 * escapes there. Escape them before a terminal or a log shows them, as the tool does.
 *
 * A mapped file that another process truncates raises SIGBUS. One that another process writes to changes the
 * answers. MACHSYM_OPEN_COPY reads files into memory first, at the cost of that memory. Files that appear
 * under their names by rename, as linkers, dsymutil and machsym_map_save make them, need no copy. Object
 * files of a debug map are opened in the same way as their program.
 *
 * Windows refuses to truncate or replace a file while it is mapped, and may refuse to delete it: programs
 * that serve maps close them before others save them anew, or open them with MACHSYM_MAP_COPY. A file on a
 * network drive can still fail after it was mapped: that raises EXCEPTION_IN_PAGE_ERROR.
 *
 * Paths are the system's bytes. On Windows they are UTF-8, have slashes of both kinds, and may be longer
 * than MAX_PATH.
 *
 * Memory comes from the allocator of each descriptor, in large pieces, and goes back when the object is
 * closed. A lookup in a function that the session has decoded allocates nothing.
 *
 * To keep memory small: open by path without MACHSYM_OPEN_COPY, so that the file is mapped and only the pages
 * that are read come in; choose the slice by arch or uuid; set cache_limit of machsym_session_desc, or trim
 * the session between reports. Of a map that io reads, MACHSYM_KEPT_PAGES says how much a session keeps.
 *
 * ---- Errors and damage ----
 *
 * What cannot be opened or built returns a machsym_result and fills a machsym_error; machsym_error_text makes
 * a sentence of it. A descriptor that lacks something, or a NULL where a result should go, is
 * MACHSYM_ERR_ARGUMENT. Objects must not be NULL, except where they are closed. Each may be closed once.
 *
 * Damage inside a file fails no lookup. It costs what is damaged and nothing else, and it is counted:
 * machsym_image_info tells what was found so far, and how many bytes a file lacks that is cut short.
 * machsym_image_count_damage looks at the sections and unit headers of debug info before, which opening does
 * not touch. No map is made of half a file, or of one that contradicts itself, unless that is asked for, and
 * every map of a damaged file says what it is (MACHSYM_MAP_DAMAGED).
 *
 * What opening compares are load commands: their kinds and sizes, sections with their segments and each
 * other, and tables with __LINKEDIT. machsym_image_count_damage also compares names of symbols with their
 * string table and with those that the debug info gives some functions, units with the sections of code,
 * and sections with what some units need of them. machsym_session_count_all and machsym_map_merge
 * decode all units, and also compare their lines and ranges. Rows of a sequence ascend, name
 * files of the table, and end where a function does; lines are not counted down below 0; sequences lie
 * apart. A range ends after it begins, in the same section. A call lies inside of what it is inlined into,
 * and a function inside of its unit. A lookup compares none of that.
 *
 * Other damage has no trace in the file: a bit in the line, file or column of a row, in an address that stays
 * between its neighbours, in a range that stays inside of what is around it, in an entry's numbers or texts,
 * or in one symbol gives another answer without a report. Compare checksums where files are copied.
 *
 * Of 32,550 single bits flipped at random, 10,760 changed one of at most 400 answers of their file. When
 * a map is made, at least these shares of them are reported (make soak-flips; 75 sound images in the dSYMs of
 * tests/fixtures and tests/real and 29 published ones; seed 31):
 *
 *     Mach-O header 100 %, load commands 96 %, unit headers 99 %, .debug_ranges and .debug_rnglists 95 %,
 *     .debug_abbrev 74 %, entries of .debug_info 33 %, headers of .debug_line 26 %, its programs 25 %,
 *     symbols 24 %, .debug_addr 19 %, names of symbols, .debug_str and .debug_str_offsets 0 %.
 *
 * A debug build whose library was made from another machsym.h, with structs of other sizes, ends with a
 * message at the first call that opens something (MACHSYM_ASSERT).
 *
 * ---- Trust ----
 *
 * Files may come from strangers. Every offset, count and size is checked where it is read, every loop ends
 * with its input or its budget, and recursion is bounded. To open a file of N bytes, look 1,000 addresses up,
 * iterate over everything and make a map takes at most 2,048 N + 4,000,000 steps, whatever the file says; a
 * step is a record, or 64 bytes of text. It takes at most 640 N + 16 MB of memory. Real files take about 4 N
 * of each. Of a file with compressed debug info, N is its size and that of the decompressed sections. These
 * are at most 16 times the file and a megabyte (MACHSYM_INFLATED_PER_BYTE).
 *
 * A program without debug info names the object files that it was linked from, and they are opened for
 * reading: MACHSYM_OPEN_NO_OBJECTS forbids it. N counts each of those once, however often it is named
 * (MACHSYM_OBJECT_OVER_BUDGET). While one is open it takes up to 4 chunks of memory (MACHSYM_ARENA_CHUNK)
 * besides.
 *
 * ---- What stays as it is ----
 *
 * From version 1.0 on, a program that compiles with one version compiles with every later one of the same
 * major number, and means the same. Minor versions add functions, fields at the end of structs, and constants
 * at the end of lists. What is to go is called deprecated in the comment and in CHANGELOG.md for at least one
 * minor version, and goes with the next major one. Line policies give the same lines; a correction of a wrong
 * answer is no change of meaning, and CHANGELOG.md names it. A map says in its header which format version it
 * has; a reader refuses any other. Before 1.0 anything may change with the minor version.
 *
 * That holds for source. Callers allocate the structs that the library fills, and structs grow with minor
 * versions, so a compiled program needs the library of its own minor version. The shared library's name says
 * which: libmachsym.so.1.2 (libmachsym.1.2.dylib, libmachsym-1.2.dll), not libmachsym.so.1. With the library
 * of another minor version a program does not start, and libraries of several minor versions may be
 * installed side by side. Patch versions change no struct and remove no function. Debug builds compare the
 * sizes of all structs as well (machsym_abi), also where the library is loaded by a path.
 *
 * <docs/symmap.md>
 *
 * Contents; search for the tag:
 *   >>options       what may be defined before the include
 *   >>api           everything a user may touch
 * <contents>
 */

#endif /* ms_ROOM_api_manual */
