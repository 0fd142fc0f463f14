#ifndef ms_ROOM_api_api
#define ms_ROOM_api_api
#include "options.h"

/* ==== >>api ============================================================================================= */

#define MACHSYM_VERSION_MAJOR 0
#define MACHSYM_VERSION_MINOR 1
#define MACHSYM_VERSION_PATCH 0
#define MACHSYM_VERSION       "0.1.0"

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

/* The first damage that was found while a file was opened: it costs what is damaged, and nothing else. */
typedef struct machsym_damage {
    const char *what; /* static, one clause: what is wrong; "" when nothing is */
    const char
        *where;      /* static, the part of the file: "load commands", "section", ".debug_info", ...; or "" */
    uint64_t offset; /* of that part in the file; of a unit, in .debug_info */
    bool is_cut_short; /* a part, not always the first one, runs past the end: the file may be incomplete */
} machsym_damage;

/* ---- Names of things ---- */

/* Where a name or a line comes from, best first: the constant's end, and its name in JSON. */
#define MACHSYM_SOURCES(X)                                                                                   \
    X(NONE, "none")                                                                                          \
    X(DWARF, "dwarf")                     /* debug info */                                                   \
    X(SYMTAB, "symtab")                   /* LC_SYMTAB */                                                    \
    X(STUB, "stub")                       /* an import stub, named by what it calls */                       \
    X(EXPORTS, "exports")                 /* the exports trie */                                             \
    X(OBJC, "objc")                       /* Objective-C metadata */                                         \
    X(BLOCK, "block")                     /* a guess: a block's function, named by the method above it */    \
    X(SWIFT, "swift")                     /* a guess: Swift type metadata */                                 \
    X(FUNCTION_STARTS, "function_starts") /* no name: only where the function starts */

typedef enum machsym_source {
#define MACHSYM_X(name, text) MACHSYM_SOURCE_##name,
    MACHSYM_SOURCES(MACHSYM_X)
#undef MACHSYM_X
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
    MACHSYM_OPEN_ANY_TIME = 1u << 5, /* take object files whose time is not the one in the debug map */
    MACHSYM_OPEN_UNCHECKED = 1u << 6 /* of a map: do not compare its checksum, as MACHSYM_MAP_UNCHECKED */
};

/* Where the object files of a debug map went: paths that begin with from are looked up with to in its
 * place. */
typedef struct machsym_oso_prefix {
    const char *from;
    const char *to;
} machsym_oso_prefix;

/* What to open; zero means the default everywhere. */
typedef struct machsym_open_desc {
    const char *path;         /* a Mach-O file, a .dSYM bundle, or a symbol map */
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
typedef struct machsym_map machsym_map; /* see machsym_map_open */

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
    /* Of the first platform; machsym_image_next_platform has all. */
    uint32_t platform; /* LC_BUILD_VERSION's number, or the one that LC_VERSION_MIN_* stands for; 0 unknown */
    uint32_t min_os;   /* xxxx.yy.zz as 16.8.8 bits */
    uint32_t sdk;      /* the same */
    uint64_t source_version; /* A.B.C.D.E as 24.10.10.10.10 bits; 0 none */
    bool has_dwarf;
    bool has_compressed_dwarf; /* __zdebug_* sections: recognised, not read */
    bool has_function_starts;
    uint32_t symbol_count; /* entries in LC_SYMTAB, stabs included; of both halves */
    uint32_t
        damage_count; /* parts found damaged while opening; what lookups find: machsym_session_read_info */
    machsym_damage damage;  /* the first of them */
    const machsym_map *map; /* the map that answers, when the file is one; else NULL */
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
 * The file may be a symbol map (machsym_map_save): then sessions answer from it as from the file that it was made of,
 * but iterations find nothing, and no plan can be made of it.
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
/* A platform that an image was built for. Zippered images have two: macOS, Mac Catalyst. */
typedef struct machsym_platform {
    uint32_t platform; /* LC_BUILD_VERSION's number, or the one that LC_VERSION_MIN_* stands for */
    uint32_t min_os;   /* xxxx.yy.zz as 16.8.8 bits */
    uint32_t sdk;      /* the same */
} machsym_platform;

/* Iterates over the platforms of an image, in file order: at most MACHSYM_MAX_PLATFORMS. Returns: false at the end. */
MACHSYM_API bool machsym_image_next_platform(const machsym_image *image, machsym_cursor *at,
                                             machsym_platform *out);
/* Iterates over the images of a kernel collection. Returns: false at the end, and for other files. */
MACHSYM_API bool machsym_image_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out);

/* The address inside the file that a runtime address stands for: pc - load_addr + __TEXT's vmaddr. On arm64e
 * the pointer authentication bits of pc are dropped, on 32-bit ARM the Thumb bit is. A pc of more than 32 bits is
 * no address of a 32-bit image: it gives UINT64_MAX, for which every lookup has no answer.
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
        cache_limit; /* bytes of decoded units to keep, 0: 32 MB. Past it all are dropped, if more than three; lines
                           that units share are not */
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
    uint64_t
        die_offset; /* of the function's entry in .debug_info, the object file's if one answers; 0: none */
    machsym_source name_source;
    machsym_source line_source;
    bool is_inline;
    bool lacks_memory; /* the session ran out of memory: names, lines or calls may be missing */
} machsym_frame;

/* The frames of one address among those of many. */
typedef struct machsym_answer {
    size_t first;
    size_t count;
} machsym_answer;

/* Opens a session on an image.
 * Returns: OK and *out; else an error: MACHSYM_ERR_POLICY when the image is a map that was built for another line policy
 * (machsym_map_get_info tells which). Owns: *out. Borrows: the image. Threads: any; the session then belongs
 * to one thread at a time. Cost: constant; the work is done by lookups. */
MACHSYM_API machsym_result machsym_session_open(const machsym_session_desc *desc, machsym_session **out,
                                                machsym_error *err);
MACHSYM_API void machsym_session_close(machsym_session *session);
/* Drops everything cached. Names that were put together from parts (see machsym_session_frames) end here, and so do all
 * names from a map. A map's names are kept until then, so a program that asks one for days trims now and then. */
MACHSYM_API void machsym_session_trim(machsym_session *session);
/* Whether memory ran out since the session was opened or trimmed. Then answers may lack frames, names or
 * lines; without it they never do. Threads: the session's. Cost: constant. */
MACHSYM_API bool machsym_session_lacked_memory(const machsym_session *session);

/* How many bytes of memory the session holds. Threads: the session's. Cost: constant. */
MACHSYM_API size_t machsym_session_memory(const machsym_session *session);

/* Which functions hold an address: the innermost inlined call first, the real function last. addr is an
 * address of the file (machsym_image_addr). Subtract 1 from return addresses before.
 * Returns: the number of frames, even if it is more than cap; 0 when nothing is known of the address. When memory ran
 * out there is one frame at least, and each says so (lacks_memory): machsym_session_trim, then ask again.
 * Borrows: names and paths are views into the image; those that are put together from parts (Objective-C
 * methods without symbols), come from an object file of a debug map, or are names of a map live until
 * machsym_session_trim or close.
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
    machsym_line rows[MACHSYM_EXPLAINED_ROWS]; /* the line rows around the address, in table order */
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
MACHSYM_API void machsym_session_read_info(machsym_session *session, machsym_session_info *out);

/* ---- Map: a whole image resolved once; the file is the structure in memory ---- */

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

/* Which map to open; zero means the default everywhere. */
typedef struct machsym_map_desc {
    const char *path;    /* of the file; not used when there are bytes */
    machsym_bytes bytes; /* of a map; they must stay until the map is closed */
    uint32_t flags;      /* MACHSYM_MAP_UNCHECKED, MACHSYM_MAP_COPY */
    machsym_allocator allocator;
} machsym_map_desc;

/* Opens a map file, or the bytes of one, for lookups in place.
 * Returns: OK and *out; else an error: every table is checked to lie inside the file, and the checksum to
 * match. What the tables point to is checked where it is read, so that no file can lead a lookup astray.
 * Owns: *out. Borrows: bytes. Threads: a map never changes; share it. Cost: reads the file once; with
 * MACHSYM_MAP_UNCHECKED, only its header. */
MACHSYM_API machsym_result machsym_map_open(const machsym_map_desc *desc, machsym_map **out,
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

/* One function at an address as a map holds it: its names and its file are references into the map. */
typedef struct machsym_map_frame {
    uint32_t name_ref; /* 0: no name */
    uint32_t file_ref; /* 0: no file */
    uint32_t line;     /* as in machsym_frame, and all that follow */
    uint32_t column;
    uint64_t function_start;
    uint64_t function_size;
    machsym_source name_source;
    machsym_source line_source;
    bool is_inline;
} machsym_map_frame;

/* Which functions hold an address of the file, as machsym_session_frames tells it. No name is unpacked:
 * machsym_map_names makes machsym_frames of these. Sessions on a map do both.
 * Returns: the number of frames, even if it is more than cap; 0 when nothing is known of the address.
 * Threads: any. Cost: about 0.2 microseconds; no allocation, no lock, no call to the system: usable in signal
 * handlers. */
MACHSYM_API size_t machsym_map_frames(const machsym_map *map, uint64_t addr, machsym_map_frame *frames,
                                      size_t cap);
/* Makes count frames with names and files of what machsym_map_frames gave. die_offset is 0: a map has none.
 * Borrows: files are views into the map; names are unpacked into text.
 * Returns: the bytes of text that all names need; names that do not fit stay empty.
 * Threads: any. Cost: about a microsecond a name; no allocation, lock or call to the system: usable in signal
 * handlers too. */
MACHSYM_API size_t machsym_map_names(const machsym_map *map, const machsym_map_frame *from, size_t count,
                                     machsym_frame *frames, char *text, size_t cap);

/* Iterates over the ranges of a map by address. Returns: false at the end. Ask for the frames of lo. Signals:
 * as above. */
typedef struct machsym_map_range {
    uint64_t lo;
    uint64_t hi;
    bool is_symbol; /* not from debug info */
} machsym_map_range;
MACHSYM_API bool machsym_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out);

/* What a map that is written shall say of itself; zero means the default everywhere but for info. */
typedef struct machsym_writer_desc {
    const machsym_map_info *info; /* its name to code_size, lines and flags; the name must stay */
    machsym_allocator allocator;
} machsym_writer_desc;

/* Writes a map range by range: for chunks of another map, and for symbol tables of other formats. Ranges must
 * ascend without overlap; those from debug info and those from symbols (is_symbol) each by themselves.
 * Returns: OK and *out; else an error. Owns: *out, until machsym_writer_finish or close. Threads: one at a time. */
MACHSYM_API machsym_result machsym_writer_open(const machsym_writer_desc *desc, machsym_writer **out,
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

/* ---- Text for people ----
 * All return the length of the whole text without the closing NUL, as snprintf does: when that is cap or more, the
 * text is cut. Owns / Borrows: nothing is kept. Threads: any. Cost: one copy, and demangling; no allocation. */

/* The name to show of a frame: its linkage name, or else its name, in source form (machsym_demangle_flags).
 * Empty when the frame has no name: then show the address. */
MACHSYM_API size_t machsym_frame_name(const machsym_frame *frame, uint32_t flags, char *buf, size_t cap);
/* The same of any name that a session or map gave: machsym_demangle, which also knows the mangled class names inside
 * names from metadata, such as -[_TtC4Demo6Player play]. */
MACHSYM_API size_t machsym_name_text(machsym_str name, uint32_t flags, char *buf, size_t cap);
/* An error as one sentence: what is wrong, where in the file, what to do. desc may be NULL; else it is what could not
 * be opened: the sentence begins with its path, and where the file has no slice that was asked for, or several, it
 * ends with those that the file has, their UUIDs too. */
MACHSYM_API size_t machsym_error_text(const machsym_error *err, const machsym_open_desc *desc, char *buf,
                                      size_t cap);

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
    X(machsym_uuid, 9007199254740881)                                                                        \
    X(machsym_map_desc, 36028797018963913)                                                                   \
    X(machsym_map_frame, 72057594037927931)                                                                  \
    X(machsym_writer_desc, 288230376151711717)                                                               \
    X(machsym_platform, 576460752303423433)                                                                  \
    X(machsym_damage, 1152921504606846883)
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
                (const machsym_map_desc *desc, machsym_map **out, machsym_error *err), (desc, out, err))
MACHSYM_CHECKED(machsym_result, machsym_writer_open,
                (const machsym_writer_desc *desc, machsym_writer **out, machsym_error *err), (desc, out, err))
#undef MACHSYM_CHECKED
#define machsym_list_slices  machsym_list_slices_checked
#define machsym_image_open   machsym_image_open_checked
#define machsym_session_open machsym_session_open_checked
#define machsym_plan_open    machsym_plan_open_checked
#define machsym_map_build    machsym_map_build_checked
#define machsym_map_open     machsym_map_open_checked
#define machsym_writer_open  machsym_writer_open_checked
#endif

#ifdef __cplusplus
}
#endif

#endif /* ms_ROOM_api_api */
