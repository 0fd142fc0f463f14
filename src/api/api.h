#ifndef ms_ROOM_api_api
#define ms_ROOM_api_api
#include "options.h"

/* ==== >>api ============================================================================================= */

#define MACHSYM_VERSION_MAJOR 0
#define MACHSYM_VERSION_MINOR 2
#define MACHSYM_VERSION_PATCH 0
#define MACHSYM_VERSION       "0.2.0"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plain values ---- */

/* A view of text. It may hold any bytes, no NUL ends it, and it may be empty. */
typedef struct machsym_str {
    const char *ptr;
    size_t len;
} machsym_str;

/* A view of raw input. */
typedef struct machsym_bytes {
    const void *ptr;
    size_t len;
} machsym_bytes;

/* A file name, in the parts that debug info stores. machsym_path_join puts them together. */
typedef struct machsym_path {
    machsym_str comp_dir;
    machsym_str dir;
    machsym_str name;
} machsym_path;

typedef struct machsym_uuid {
    uint8_t v[16];
} machsym_uuid;

/* Where an iteration stands. Zero it to begin. */
typedef struct machsym_cursor {
    uint64_t a;
    uint64_t b;
} machsym_cursor;

/* Where memory for everything that is opened comes from. alloc NULL: malloc and free. */
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

/* The first damage that was found in a file. Damage costs what is damaged, and nothing else. */
typedef struct machsym_damage {
    /* Static, one clause: what is wrong; "" when nothing is. */
    const char *what;
    /* Static: which part of the file, as "load commands", "section", ".debug_info"; or "". */
    const char *where;
    /* Of that part in the file; of a unit, in .debug_info. */
    uint64_t offset;
    /* A part (not always this first one) runs past the end of the file: the file may be incomplete. */
    bool is_cut_short;
    /* The part is in the other half. */
    bool is_pair;
    /* The part contradicts the rest of the file: answers may be wrong, not only missing. */
    bool is_misleading;
} machsym_damage;

/* How a file is cut short: the first section or segment that lacks bytes. */
typedef struct machsym_cut {
    /* "__debug_info" and so on; empty when the part has no name. Borrows: a view into the image. */
    machsym_str name;
    /* How many bytes the part should have, and how many of them lie in the file. */
    uint64_t size;
    uint64_t present;
    /* How many bytes the file lacks at its end, at least. 0: no bytes, or unknown. */
    uint64_t missing;
    /* The part is in the other half. */
    bool is_pair;
} machsym_cut;

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
    X(FUNCTION_STARTS, "function_starts") /* no name: only where the function starts */                      \
    X(NEAR, "near")                       /* of a line: one near by: MACHSYM_LINES_PEOPLE */

typedef enum machsym_source {
#define MACHSYM_X(name, text) MACHSYM_SOURCE_##name,
    MACHSYM_SOURCES(MACHSYM_X)
#undef MACHSYM_X
        MACHSYM_SOURCE_COUNT
} machsym_source;

/* Which row of the line table answers. */
typedef enum machsym_lines {
    /* The row that holds the address; of several rows at one address the first. atos prints this one. */
    MACHSYM_LINES_ATOS = 0,
    /* The row that holds the address; of several rows at one address the last. llvm-symbolizer prints this
     * one. */
    MACHSYM_LINES_DWARF,
    /* The nearest row at or below the address that begins a statement. Fewer lines are 0. */
    MACHSYM_LINES_STMT,
    /* The row of MACHSYM_LINES_DWARF, unless it has line 0 or the file <compiler-generated> where somebody
     * wrote the function. Then the frame has a line near by, and says so by MACHSYM_SOURCE_NEAR: that of the
     * nearest code before the address which the same function or inlined call has, else after it; else the
     * line of the inlined call; else that of the function's declaration. The file of nearby code is the one
     * that the function is declared in. Functions that a compiler made stay as they are: those whose entry is
     * artificial, or has no DW_AT_decl_line, or that have no other lines. */
    MACHSYM_LINES_PEOPLE,
    MACHSYM_LINES_COUNT
} machsym_lines;

/* The version of the implementation, "1.2.3". Compare it with MACHSYM_VERSION to find a stale library.
 * Returns: a static string. Threads: any. Cost: constant. */
MACHSYM_API const char *machsym_version(void);
/* MACHSYM_ABI of the library. A program that was compiled with structs of other sizes passes garbage. Debug
 * builds notice that by themselves (see MACHSYM_ASSERT). A release that uses a shared library may compare
 * this with MACHSYM_ABI once. Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_abi(void);
/* The name of a result: "ERR_ARCH" and so on.
 * Returns: a static string; "?" for a number that is no result. Threads: any. Cost: constant. */
MACHSYM_API const char *machsym_result_name(machsym_result result);
/* The name of a source, as the tool's JSON has it: "dwarf", "symtab" and so on.
 * Returns: a static string; "?" for a number that is no source. Threads: any. Cost: constant. */
MACHSYM_API const char *machsym_source_name(machsym_source source);
/* The name of an architecture by Mach-O's numbers: "arm64e" and so on. The ABI and library bits of cpusubtype
 * are ignored. Returns: a static string; "unknown" when there is no name. Threads: any. Cost: constant. */
MACHSYM_API const char *machsym_arch_name(uint32_t cputype, uint32_t cpusubtype);

/* Puts a path together: comp_dir/dir/name. An absolute part drops the parts before it.
 * Returns: the length of the whole without the closing NUL, as snprintf does. At most cap bytes are written,
 * the NUL among them. Threads: any. Cost: one copy. */
MACHSYM_API size_t machsym_path_join(const machsym_path *path, char *buf, size_t cap);

/* ---- Image: a file opened for lookups. It never changes, so any number of threads may share it ---- */

/* Flags of one meaning have one value here and in machsym_map_flags. */
enum machsym_open_flags {
    /* Read files into memory instead of mapping them: see the manual. Files up to 64 KB always are. */
    MACHSYM_OPEN_COPY = 1u << 4,
    /* Do not look for NAME.dSYM beside a binary. */
    MACHSYM_OPEN_NO_PAIR = 1u << 1,
    /* The bytes are an image as dyld laid it out in memory: see load_addr. */
    MACHSYM_OPEN_LOADED = 1u << 2,
    /* Ignore the names that LC_SYMTAB has for the image's own code, as if the image were stripped. */
    MACHSYM_OPEN_NO_SYMTAB = 1u << 0,
    /* Do not follow the debug map: no file that the program names is opened. */
    MACHSYM_OPEN_NO_OBJECTS = 1u << 6,
    /* Take object files whose time is not the one in the debug map. */
    MACHSYM_OPEN_ANY_TIME = 1u << 5,
    /* The file is a map: do not compare its checksum. The same as MACHSYM_MAP_UNCHECKED. */
    MACHSYM_OPEN_UNCHECKED = 1u << 3,
    /* The file is a map: sessions compare the checksum of each page of 16 KB when they first need it, so
     * that opening costs the same whatever the size. See machsym_session_get_io_stats. What
     * machsym_image_info.map gives by itself is unchecked. */
    MACHSYM_OPEN_BY_PAGES = 1u << 7
};

/* Where the object files of a debug map went: in a path that begins with from, to takes its place. */
typedef struct machsym_oso_prefix {
    const char *from;
    const char *to;
} machsym_oso_prefix;

/* A file that is not in memory: on a server, in a browser, in a larger file. While the image is opened, it
 * is asked for its load commands, then for tables. Each section of debug info is asked for once, for the
 * first session that needs it, and shared by all. Sessions ask for the sections of metadata that they look
 * into, __objc_stubs among them. Other code, locations of variables, types, and the slices of other
 * architectures are never asked for. Object files and kernel collections are read whole. What cannot be read
 * is damage of its section. Of a map the beginning is read, and sessions read the rest on demand. */
typedef struct machsym_io {
    /* Copies len bytes from an offset of the file to out. Returns how many were copied: when that is less,
     * the rest cannot be read. NULL: there is no reader. It is called in the thread that needs the bytes, and
     * so by several at once. */
    size_t (*read)(void *user, uint64_t offset, void *out, size_t len);
    void *user;
    uint64_t size; /* of the file */
} machsym_io;

/* What to open; zero means the default everywhere. */
typedef struct machsym_open_desc {
    /* A Mach-O file, a .dSYM bundle, a dyld shared cache, or a symbol map. 32-bit programs of Linux are
     * compiled with -D_FILE_OFFSET_BITS=64; else the system refuses files that it numbers past 32 bits. */
    const char *path;
    /* The file's bytes, in place of what lies at path. They must outlive the image. path is then what names
     * and messages call them; it may be NULL. */
    machsym_bytes bytes;
    /* The other half: the binary to a dSYM, or the dSYM to a binary. */
    const char *pair_path;
    /* The bytes of the other half, in place of what lies at pair_path. They must outlive the image. */
    machsym_bytes pair_bytes;
    /* "arm64" and so on. NULL: the file has one slice, or uuid chooses. */
    const char *arch;
    /* NULL: any. */
    const machsym_uuid *uuid;
    /* The name of an image in a kernel collection, or the path of one in a shared cache or its last part (see
     * machsym_entry); else NULL. */
    const char *entry;
    /* Of machsym_open_flags. */
    uint32_t flags;
    /* With MACHSYM_OPEN_LOADED: the image's address in the memory of its process. 0: that of bytes.ptr. */
    uint64_t load_addr;
    /* Where the object files of a debug map were moved to. */
    const machsym_oso_prefix *oso_prefixes;
    size_t oso_prefix_count;
    /* More folders to look for object files in, by the ends of their paths: the whole path first, the bare
     * name last. */
    const char *const *oso_dirs;
    size_t oso_dir_count;
    /* It is called in every thread that has a session on the image, where sections of debug info have to be
     * read, decompressed or relocated, where unit headers are listed, and where the table of symbols is
     * made. */
    machsym_allocator allocator;
    /* In place of bytes and of what lies at path. It must work as long as the image is open. Except for maps,
     * the allocator gives as many bytes as the slice has at once, and only the bytes that are read are
     * touched. */
    machsym_io io;
    /* Other files of a split shared cache, in any order; they must outlive the image. Files that are not
     * among them are looked for beside path. */
    const machsym_bytes *cache_files;
    size_t cache_file_count;
    /* The open cache or collection that entry is an image of, in place of path, bytes and io: opening many
     * of its images opens its files once. It must outlive the image. */
    const struct machsym_image *from;
} machsym_open_desc;

/* One architecture of a file. */
typedef struct machsym_slice {
    uint32_t cputype;
    uint32_t cpusubtype;
    const char *arch; /* static */
    machsym_uuid uuid;
    bool has_uuid;
    uint32_t filetype; /* MH_EXECUTE 2, MH_DYLIB 6, MH_DSYM 10, ...; 0: a shared cache, or a map */
    uint64_t offset;   /* in the file */
    uint64_t size;
} machsym_slice;

typedef struct machsym_image machsym_image;
typedef struct machsym_map machsym_map; /* see machsym_map_open */

/* What is known of an open image. */
typedef struct machsym_image_info {
    machsym_slice slice;
    /* The base name of the path without ".dSYM"; empty for bytes without a path. */
    machsym_str name;
    /* Of the Mach-O file that was opened; of bytes, what machsym_open_desc.path says. */
    const char *path;
    /* Of the other half; may be NULL. */
    const char *pair_path;
    /* vmaddr of __TEXT: the address in the file that a load address stands for. */
    uint64_t text_addr;
    uint64_t text_size;
    /* vmaddr of __TEXT_EXEC, which kernels have; else 0. */
    uint64_t text_exec_addr;
    /* 4 or 8 bytes. */
    unsigned address_size;
    /* Of the first platform; machsym_image_next_platform has all. The fields are those of
     * machsym_platform. */
    uint32_t platform;
    uint32_t min_os;
    uint32_t sdk;
    /* A.B.C.D.E as 24.10.10.10.10 bits; 0: none. */
    uint64_t source_version;
    /* The file has debug info. Before it has been looked at, this is what the header of its section says. */
    bool has_dwarf;
    /* The file has __zdebug_* sections. Each is decompressed when it is first needed; those that cannot be
     * are damage. */
    bool has_compressed_dwarf;
    bool has_function_starts;
    /* An app store has encrypted __TEXT, as LC_ENCRYPTION_INFO says. Names that metadata holds there are not
     * known; a dSYM or the program without encryption has them. In memory nothing is encrypted. */
    bool is_encrypted;
    /* Entries in LC_SYMTAB of both halves, stabs among them. */
    uint32_t symbol_count;
    /* How many parts were found damaged so far: while opening, and in what is read once for all sessions (see
     * machsym_image_count_damage). machsym_session_count_all counts what lookups find. */
    uint32_t damage_count;
    /* The first of them. */
    machsym_damage damage;
    /* The map that answers, when the file is one; else NULL. Of a map that is read by machsym_open_desc.io
     * only sessions find frames and names; machsym_map_get_info and machsym_map_addr_of_pc work too. */
    const machsym_map *map;
    /* What is missing of a file that is cut short; all zero for others. */
    machsym_cut cut;
    /* How often machsym_open_desc.io was asked for what all sessions share, and for how many bytes:
     * while the image was opened, and since then for sections of debug info. If two threads asked for the
     * same section at once, one counts. machsym_session_get_io_stats tells what sessions asked for
     * themselves. */
    uint64_t read_count;
    uint64_t read_bytes;
} machsym_image_info;

/* One section of the image. */
typedef struct machsym_section {
    machsym_str segment;
    machsym_str name;
    uint64_t addr;
    uint64_t size;
    uint64_t offset;     /* in the slice; right even past 4 GB, where the file's own field wraps */
    machsym_bytes bytes; /* empty for zero-fill, for sections that a dSYM only mentions, for those that are
                            encrypted, and for those that machsym_open_desc.io was not asked for; of a file
                            that is cut short: those that are there */
    uint32_t flags;
    bool is_code;
    bool is_pair; /* from the other half */
} machsym_section;

/* Lists the slices of a file without opening one.
 * Returns: how many there are (at most cap are written); 0 and err if there is no slice. err->code is
 * not MACHSYM_OK either when a slice was left out because it is damaged, or lies past the end of the file.
 * When one was left out that is whole, as one for PowerPC, the code is MACHSYM_OK, and err->what says what it
 * is; err->where is not "" then.
 * Owns / Borrows: keeps nothing. Threads: any. Cost: reads headers only. */
MACHSYM_API size_t machsym_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                                       machsym_error *err);

/* One image of a kernel collection (MH_FILESET): the kernel, or an extension; or one of a dyld shared cache.
 * machsym_open_desc.entry opens it by itself. Its addresses are those of the collection or cache. These
 * answer nothing as a whole. */
typedef struct machsym_entry {
    machsym_str name; /* "com.apple.kernel" and so on; of a cache, the path */
    uint64_t addr;    /* of its Mach-O header */
    uint64_t offset;  /* of the same in the slice; of a split cache, in the file that has it */
    uint64_t size;    /* of __TEXT; 0: only the image tells */
    machsym_uuid uuid;
    bool has_uuid; /* else only the image tells */
} machsym_entry;

/* Whether a file of a shared cache is there. Any other status costs what lies in the file. */
typedef enum machsym_cache_file_status {
    MACHSYM_CACHE_FILE_MISSING = 0, /* it was not given, and it is not beside the main file */
    MACHSYM_CACHE_FILE_FOUND,
    MACHSYM_CACHE_FILE_OTHER,      /* the file of this name has another UUID */
    MACHSYM_CACHE_FILE_DAMAGED,    /* the file of this name is no file of a cache */
    MACHSYM_CACHE_FILE_UNREADABLE, /* the file of this name cannot be opened or mapped */
    MACHSYM_CACHE_FILE_STATUS_COUNT
} machsym_cache_file_status;

/* One file of a shared cache. */
typedef struct machsym_cache_file {
    machsym_str name; /* "dyld_shared_cache_arm64e.01" and so on; of bytes without a path, its end */
    machsym_uuid uuid;
    uint64_t addr; /* where it begins in the cache; 0 for local symbols */
    uint64_t size; /* of the file; 0: it was not found */
    machsym_cache_file_status status;
    bool has_symbols; /* the local symbols of all images */
} machsym_cache_file;

/* Opens a slice for lookups: maps the file, and reads load commands. A file may be a symbol
 * map (machsym_map_save). Then sessions answer from it as from the file that it was made of. Iterations find
 * nothing in it, and no plan can be made of it. A dyld shared cache is opened with the files that lie beside
 * it. Without an entry that gives the list of its images; sessions answer for one that is opened by its
 * entry. A program without debug info names the object files that it was linked from, in its debug map
 * (N_OSO). If it was opened by its path, these files answer. If it was opened from bytes, they do when
 * oso_prefixes or oso_dirs are set. Sessions and plans open the files when they need them. With
 * MACHSYM_OPEN_LOADED, bytes is the memory of an image, from its header to the end of its last segment. dyld
 * maps segments apart, and what lies between them is not touched. Segments beyond bytes.len are left out.
 * dyld writes over chained fixups: what they named in other images, such as the class of a category, is "?".
 * Returns: OK and *out; else an error, with *out NULL, and err filled unless it is NULL.
 * Owns: *out, until machsym_image_close. Borrows: desc->bytes and desc->pair_bytes for as long; nothing else
 * of desc.
 * Threads: any. Cost: proportional to the number of load commands, not to the file. */
MACHSYM_API machsym_result machsym_image_open(const machsym_open_desc *desc, machsym_image **out,
                                              machsym_error *err);
/* Closes an image; NULL is allowed. Close its sessions first. All views into the image end here. Threads:
 * one. */
MACHSYM_API void machsym_image_close(machsym_image *image);
/* Tells what is known of an image so far. Borrows: views into the image. Threads: any. Cost: constant. */
MACHSYM_API void machsym_image_get_info(const machsym_image *image, machsym_image_info *out);
/* The same, after debug info has been looked at for damage: its sections are read or decompressed, those that
 * were not yet, and all unit headers are read. Who tells people about damage calls this.
 * Returns: false when memory is out: then some damage may be unknown. Borrows: views into the image.
 * Threads: any. Cost: debug info that has to be read or decompressed, and a record for each unit; once an
 * image. */
MACHSYM_API bool machsym_image_count_damage(const machsym_image *image, machsym_image_info *out);
/* Iterates over the sections of the image, then over those of its other half, each in file order.
 * Returns: false at the end. Borrows: views into the image. Threads: any. Cost: constant. */
MACHSYM_API bool machsym_image_next_section(const machsym_image *image, machsym_cursor *at,
                                            machsym_section *out);
/* A platform that an image was built for. Zippered images have two: macOS, Mac Catalyst. */
typedef struct machsym_platform {
    uint32_t platform; /* LC_BUILD_VERSION's number, or the one that LC_VERSION_MIN_* stands for */
    uint32_t min_os;   /* xxxx.yy.zz as 16.8.8 bits */
    uint32_t sdk;      /* the same */
} machsym_platform;

/* Iterates over the platforms of an image, in file order; at most MACHSYM_MAX_PLATFORMS are kept.
 * Returns: false at the end. Threads: any. Cost: constant. */
MACHSYM_API bool machsym_image_next_platform(const machsym_image *image, machsym_cursor *at,
                                             machsym_platform *out);
/* Iterates over the images of a kernel collection or a shared cache. Returns: false at the end, and at once
 * for other files. Borrows: views into the image. Threads: any. Cost: constant. */
MACHSYM_API bool machsym_image_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out);
/* Finds the image that has an address: in a shared cache in its __TEXT, where all code is, in a kernel
 * collection in any segment.
 * Returns: false if no image has it, and for other files. Borrows: views into the image. Threads: any.
 * Cost: a binary search. */
MACHSYM_API bool machsym_image_entry_at_addr(const machsym_image *image, uint64_t addr, machsym_entry *out);
/* Copies what lies at an address of a shared cache and after it. Pointers in data are as dyld leaves them
 * when nothing is slid, without signatures and tags. image: the cache, or an image of it. Returns: how
 * many bytes; fewer than len where no file that is there has them, or where pointers are stored in an unknown
 * way; 0 for other files. Threads: any. Cost: proportional to len, and to a page. */
MACHSYM_API size_t machsym_image_read_cache_at_addr(const machsym_image *image, uint64_t addr, void *to,
                                                    size_t len);
/* Iterates over the files of a shared cache: the one that was opened, then the others in its order, then the
 * one with local symbols. Returns: false at the end, and at once for other files. Borrows: views into the
 * image. Threads: any. Cost: constant. */
MACHSYM_API bool machsym_image_next_cache_file(const machsym_image *image, machsym_cursor *at,
                                               machsym_cache_file *out);

/* The address in the file that a runtime address stands for: pc - load_addr + __TEXT's vmaddr. Of an arm64e
 * pc the pointer authentication bits are dropped, of a 32-bit ARM pc the Thumb bit.
 * Returns: the address; UINT64_MAX when pc has more than 32 bits and the image is a 32-bit one. Lookups have
 * no answer for that. Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_image_addr_of_pc(const machsym_image *image, uint64_t load_addr, uint64_t pc);

/* Removes pointer authentication from a runtime address. Do so with the addresses of a report or stack of an
 * arm64 process before comparing them with load addresses. cputype is the Mach-O number; addresses of other
 * processors stay as they are.
 * Returns: the address. Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_plain_pc(uint32_t cputype, uint64_t pc);

/* One image of a process. */
typedef struct machsym_loaded {
    uint64_t lo;                /* load address */
    uint64_t hi;                /* first address past it */
    const machsym_image *image; /* may be NULL */
    void *user;
} machsym_loaded;

/* Which of a process's loaded images holds a runtime address. images must be sorted by lo and must not
 * overlap.
 * Returns: the entry, or NULL. Threads: any. Cost: a binary search. */
MACHSYM_API const machsym_loaded *machsym_loaded_from_pc(const machsym_loaded *images, size_t count,
                                                         uint64_t pc);

/* ---- Session: one thread's lookups in an image, with a cache of what they needed ---- */

typedef struct machsym_session machsym_session;

enum machsym_session_flags {
    /* A frame with line 0 takes the line of the nearest frame that has one. */
    MACHSYM_SESSION_BEST_LINE = 1u << 0,
    /* Make all tables of units and symbols when the session is opened, not only once they pay. Decode units
     * whole, with the inlined calls of functions that no lookup asks for. */
    MACHSYM_SESSION_INDEX = 1u << 1,
    /* Whose name counts where debug info and symbol table differ. Without these: the linkage name of the
     * debug info; else the symbol, unless it cannot be the function's, because it is neither a mangled name
     * nor one that has the function's name in it: then the debug info's name. A map has the names that it
     * was built with. SYMTAB: the symbol at the begin of the function, if there is one. */
    MACHSYM_SESSION_NAMES_SYMTAB = 1u << 2,
    /* DWARF: the symbol only where the debug info has no name. */
    MACHSYM_SESSION_NAMES_DWARF = 1u << 3
};

/* How to look up; zero means the default everywhere but for image. */
typedef struct machsym_session_desc {
    const machsym_image *image;
    machsym_lines lines;
    /* Of machsym_session_flags. */
    uint32_t flags;
    /* How many bytes of decoded units to keep; 0: 32 MB. When there are more, and more than three units, all
     * are dropped. Lines that units share are not counted. */
    size_t cache_limit;
    machsym_allocator allocator;
} machsym_session_desc;

/* One function at an address, concrete or inlined. */
typedef struct machsym_frame {
    /* Mangled, as the linker knows it, but without Mach-O's leading underscore; may be empty. */
    machsym_str linkage_name;
    /* As written in the source, without its scope; may be empty. */
    machsym_str name;
    machsym_path file;
    /* 0: not known, or the code belongs to no line. */
    uint32_t line;
    /* 0: not known. */
    uint32_t column;
    /* Of the concrete function, as an address of the file. */
    uint64_t function_start;
    /* 0: not known. */
    uint64_t function_size;
    /* Of the function's entry in .debug_info, of an object file if one answers; 0: none. */
    uint64_t die_offset;
    machsym_source name_source;
    machsym_source line_source;
    bool is_inline;
    /* The session ran out of memory: names, lines or calls may be missing. */
    bool lacks_memory;
    /* The calls between this frame and the next one are left out: more than MACHSYM_MAX_INLINE_DEPTH calls
     * are inlined into each other here. The next frame is the concrete function, with the line where it has
     * the outermost of them. */
    bool lacks_callers;
} machsym_frame;

/* The frames of one address among those of many. */
typedef struct machsym_answer {
    size_t first;
    size_t count;
} machsym_answer;

/* Opens a session on an image.
 * Returns: OK and *out; else an error. It is MACHSYM_ERR_POLICY when the image is a map that was built for
 * another line policy; machsym_map_get_info tells which.
 * Owns: *out, until machsym_session_close. Borrows: the image. Threads: any; the session then belongs to one
 * thread at a time. Cost: constant, lookups do the work; with MACHSYM_SESSION_INDEX, root entries of all
 * units and all symbols. */
MACHSYM_API machsym_result machsym_session_open(const machsym_session_desc *desc, machsym_session **out,
                                                machsym_error *err);
/* Closes a session; NULL is allowed. Names and paths that it put together end here. Threads: the
 * session's. */
MACHSYM_API void machsym_session_close(machsym_session *session);
/* Drops everything that the session keeps. Some names and paths end here: those that the session put together
 * (see machsym_session_frames_at_addr), and all names from a map. Until then a session keeps every name that
 * a map gave, so a program that asks a map for days should trim now and then. Threads: the session's. */
MACHSYM_API void machsym_session_trim(machsym_session *session);
/* Whether memory ran out since the session was opened or trimmed. If so, answers since then may lack frames,
 * names or lines.
 * Threads: the session's. Cost: constant. */
MACHSYM_API bool machsym_session_lacked_memory(const machsym_session *session);

/* What a session read by itself: see machsym_io and MACHSYM_OPEN_BY_PAGES. */
typedef struct machsym_io_stats {
    uint64_t count; /* how often machsym_open_desc.io was asked */
    uint64_t bytes; /* for how many bytes */
    /* Of a map: pages of 16 KB whose checksum does not match, or that cannot be read. An address has no
     * frames when its data is lost; when only the name is lost, the frame has no name. Of other images:
     * sections of metadata that cannot be read, or share their bytes with others; machsym_session_count_all
     * counts them as damage too. They are asked for again after machsym_session_trim, and counted again. */
    uint64_t lost;
    uint64_t lost_at; /* where the first of them begins in the file */
} machsym_io_stats;

/* Tells what the session read since it was opened; all zero for files that are in memory. Threads: the
 * session's. Cost: constant. */
MACHSYM_API void machsym_session_get_io_stats(const machsym_session *session, machsym_io_stats *out);

/* How many bytes of memory the session holds. What an image keeps for all its sessions is not counted:
 * sections of debug info that had to be decompressed, and the table of its symbols, which is made once
 * several were looked up. Threads: the session's. Cost: constant. */
MACHSYM_API size_t machsym_session_memory(const machsym_session *session);

/* Which functions hold an address: the innermost inlined call first, the concrete function last. addr is an
 * address of the file (machsym_image_addr_of_pc). Subtract 1 from return addresses before.
 * Returns: the number of frames, even if it is more than cap; 0 when nothing is known of the address. When
 * memory ran out there is at least one frame, and each has lacks_memory until machsym_session_trim. No later
 * lookup uses what was found without memory: asked again, once there is some, the session tells all. If
 * memory ran out again and again, and what answers borrow is more than cache_limit, call
 * machsym_session_trim before.
 * Borrows: most names and paths are views into the image. Others live until machsym_session_trim or close:
 * names put together from parts (Objective-C methods without symbols), texts of object files of a debug map,
 * names of a map.
 * Threads: the session's.
 * Cost: the first lookup of an image reads the headers of all units. It reads only those of the units that
 * the answer needs where .debug_aranges states them, as dsymutil's does, and the session was asked nothing
 * before. Few lookups in a dSYM read one function each, where its table of names leads to it. Else the first
 * lookup in a unit decodes its functions. The first lookup in a function decodes the calls
 * inlined into it; with MACHSYM_SESSION_INDEX, or once a third of all functions was asked for, they are
 * decoded with the unit. Lookups from the third on are a few binary searches.
 * Signals: some lookups are async-signal-safe: they allocate nothing, take no lock, and call nothing but
 * memcpy, memcmp, memchr and memset. Without debug info, all lookups of a session with MACHSYM_SESSION_INDEX
 * are. With debug info, those of such a session are whose unit is still decoded: the same address was asked
 * before, without a trim since, the cache stayed under its limit, and no more than MACHSYM_MAX_OBJECTS object
 * files were asked. The signal must not have interrupted a call on this very session. */
MACHSYM_API size_t machsym_session_frames_at_addr(machsym_session *session, uint64_t addr,
                                                  machsym_frame *frames, size_t cap);

/* machsym_session_frames_at_addr for many addresses, asked in an order that decodes every unit once.
 * answers[i] says which frames belong to addrs[i]. Frames are written as long as they fit into cap.
 * Returns: how many frames there are in all. If that is more than cap, ask again with more room or fewer
 * addresses. Borrows, Threads: as machsym_session_frames_at_addr. Cost: that of the lookups, and a sort. */
MACHSYM_API size_t machsym_session_frames_at_addrs(machsym_session *session, const uint64_t *addrs,
                                                   size_t count, machsym_answer *answers,
                                                   machsym_frame *frames, size_t cap);

/* Iterates over the functions that share the code at an address: a linker that folds identical code keeps one
 * body for functions of equal code. The first one is that of machsym_session_frames_at_addr. The others are
 * functions of the debug info with the same range, each with its own lines and inlined calls, then symbols of
 * the same address with other names, which have no lines. At most MACHSYM_MAX_FOLDED are told. A map tells
 * the same functions, after the first one in an order of its own; a chunk of a map tells the first one alone.
 * Returns: the number of frames of the next function, as machsym_session_frames_at_addr does; 0 at the end.
 * Borrows, Threads: as machsym_session_frames_at_addr. Cost: for the first function that of
 * machsym_session_frames_at_addr. For the second the unit headers, .debug_aranges and the symbols are read
 * and sorted once a session; then a few binary searches, and units that have functions with the same code are
 * decoded. */
MACHSYM_API size_t machsym_session_next_folded_at_addr(machsym_session *session, uint64_t addr,
                                                       machsym_cursor *at, machsym_frame *frames, size_t cap);

/* One address of a stack. */
typedef struct machsym_stack_addr {
    /* Of the file: see machsym_image_addr_of_pc. UINT64_MAX: an address of another image. */
    uint64_t addr;
    /* The address is the one after a call, as all of a stack but the innermost one are: the call before it is
     * looked up. Nothing is to be subtracted from addr. */
    bool is_return;
} machsym_stack_addr;

/* What is known of one address of a stack. */
typedef struct machsym_stack_answer {
    size_t first; /* its frames among those of the stack */
    size_t count;
    /* Functions that share the code there: 1 when one function has it for itself, 0 when nothing is known. */
    size_t function_count;
    /* There are several, and the caller's debug info says which one it called: the frames are those of that
     * one. Else they are what machsym_session_frames_at_addr tells; machsym_session_next_folded_at_addr tells
     * all. */
    bool is_decided;
} machsym_stack_answer;

/* Looks up a whole stack, the innermost address first. Where a linker folded functions of equal code, the
 * name of a frame depends on its caller's: DW_TAG_call_site of the caller's function, or of what is inlined
 * into it, at the caller's return address says which function it called. Optimised C, C++ and Objective-C
 * have that for most direct calls, Swift has not. calls[i] says which frames belong to pcs[i]. Frames are
 * written as long as they fit into cap. A caller in another image decides nothing. A map decides by the calls
 * that it has: see docs/symmap.md.
 * Returns: how many frames there are in all. If that is more than cap, ask again with more room or fewer
 * addresses. When memory ran out, frames have lacks_memory, and what it lacked for is not decided.
 * Owns / Borrows, Threads: as machsym_session_frames_at_addr.
 * Cost: that of machsym_session_frames_at_addr and machsym_session_next_folded_at_addr for each address;
 * where several functions share code, a pass over the entries of the caller's function. */
MACHSYM_API size_t machsym_session_frames_of_stack(machsym_session *session, const machsym_stack_addr *pcs,
                                                   size_t count, machsym_stack_answer *calls,
                                                   machsym_frame *frames, size_t cap);

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
    uint64_t hi;      /* a guess: the next symbol, function start or section end */
    machsym_str name; /* without Mach-O's leading underscore; empty for a bare function start */
    machsym_source source;
} machsym_symbol;

/* These three iterate over all functions, line rows and symbols. Functions and rows come unit by unit,
 * symbols by address.
 * Returns: false at the end. Borrows: as machsym_session_frames_at_addr. Threads: the session's.
 * Cost: proportional to what there is, over all calls. */
MACHSYM_API bool machsym_session_next_function(machsym_session *session, machsym_cursor *at,
                                               machsym_function *out);
MACHSYM_API bool machsym_session_next_line(machsym_session *session, machsym_cursor *at, machsym_line *out);
MACHSYM_API bool machsym_session_next_symbol(machsym_session *session, machsym_cursor *at,
                                             machsym_symbol *out);

/* Iterates over every name of every source and every function start without a name, by address; of one
 * address the best comes first. machsym_session_next_symbol chooses from these.
 * Returns: false at the end. Borrows, Threads, Cost: as above. */
MACHSYM_API bool machsym_session_next_name(machsym_session *session, machsym_cursor *at, machsym_symbol *out);

/* Iterates over the names that share a start address, the best first. A function has several when the linker
 * folded functions of equal code. Returns: false at the end. Borrows, Threads: as above. Cost: a search. */
MACHSYM_API bool machsym_session_next_alias_at_addr(machsym_session *session, uint64_t addr,
                                                    machsym_cursor *at, machsym_str *out);

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

/* Iterates over the Objective-C metadata in the file's order: classes, then categories. The methods of each
 * follow it.
 * Returns: false at the end. Borrows, Threads: as above. Cost: the first call reads all metadata. */
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
    MACHSYM_OBJECT_CUT_SHORT,   /* left out: the file ends before its parts do */
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
 * hear of later ones. Where the status is not MACHSYM_OBJECT_FOUND, the symbol table answers in place of the
 * object file.
 * Returns: false when the cursor has passed all so far. Borrows: views into the image.
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

/* Where the line of a frame is from under MACHSYM_LINES_PEOPLE. */
typedef enum machsym_near {
    MACHSYM_NEAR_NONE = 0,   /* the line is that of the table */
    MACHSYM_NEAR_BEFORE,     /* of the nearest code before the address */
    MACHSYM_NEAR_AFTER,      /* of the nearest code after it */
    MACHSYM_NEAR_CALL,       /* of the inlined call: as the debug info has it, or near by in the caller */
    MACHSYM_NEAR_DECLARATION /* of the function's declaration */
} machsym_near;

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
    unsigned row_used; /* which of rows answered; row_count if no row did */
    bool has_symbol;
    machsym_symbol symbol;  /* the nearest one at or below the address */
    bool symbol_differs;    /* LC_SYMTAB has another name, or another start, for the function that answers */
    uint32_t rival_count;   /* other units that have a function at the address too; the first unit answers */
    bool is_damaged;        /* the unit: a part of its functions or lines is missing */
    machsym_near near_kind; /* of the innermost frame whose line is near by */
    uint32_t near_frame;    /* which frame that is */
    uint64_t near_addr;     /* before, after, and of a call whose line is near by: where code with that line
                               begins; else the address */
} machsym_explanation;

/* Tells how machsym_session_frames_at_addr comes to its answer for an address. Not meant to be fast.
 * Borrows: as machsym_session_frames_at_addr. Threads: the session's. Cost: a lookup, and one pass over all
 * units. */
MACHSYM_API void machsym_session_explain_addr(machsym_session *session, uint64_t addr,
                                              machsym_explanation *out);

/* What the debug info of an image holds, and what of it is damaged. */
typedef struct machsym_session_counts {
    uint32_t unit_count;
    uint32_t units_without_code; /* skeletons, headers only, declarations only */
    uint32_t units_without_ranges;
    uint32_t damaged_units;
    /* Parts left out of exports trie, binds, unwind info, Objective-C and Swift metadata. */
    uint32_t damaged_metadata;
    uint32_t arange_set_count;
    uint32_t object_count;         /* object files in the debug map that is followed; 0: no object file */
    uint32_t missing_object_count; /* those that cannot answer */
    uint32_t version_count[6];     /* [n]: units of DWARF version n */
    uint64_t function_count;
    uint64_t inline_count;
    uint64_t line_row_count;
    uint64_t die_count;           /* entries visited */
    uint64_t first_damage_offset; /* in .debug_info; of the first damaged unit */
    machsym_damage damage;        /* of a unit: the first that is misleading, else the first of all */
} machsym_session_counts;

/* Decodes every unit once, to count. Threads: the session's. Cost: decodes the whole debug info. */
MACHSYM_API void machsym_session_count_all(machsym_session *session, machsym_session_counts *out);

/* ---- Map: a whole image resolved once; the file is the structure in memory ---- */

typedef struct machsym_plan machsym_plan;
typedef struct machsym_part machsym_part;
typedef struct machsym_writer machsym_writer;

enum machsym_map_flags {
    /* The map holds columns. */
    MACHSYM_MAP_COLUMNS = 1u << 0,
    /* The map holds a part of an image only. */
    MACHSYM_MAP_CHUNK = 1u << 1,
    /* Of a map: what it was made of was damaged, encrypted without debug info, or had more text than
     * MACHSYM_PART_TEXT allows, so it may lack names, lines and ranges. To build: make a map of a file that
     * is cut short or misleading too. */
    MACHSYM_MAP_DAMAGED = 1u << 2,
    /* Open: do not compare the checksum. Lookups stay safe without it. */
    MACHSYM_MAP_UNCHECKED = 1u << 3,
    /* Open: read the file into memory, as MACHSYM_OPEN_COPY. */
    MACHSYM_MAP_COPY = 1u << 4,
    /* The map carries the unwind tables of its image: see machsym_map_get_unwind. */
    MACHSYM_MAP_UNWIND = 1u << 5
};

/* What to build a map from; zero means the default everywhere but for image. */
typedef struct machsym_plan_desc {
    const machsym_image *image;
    machsym_lines lines;         /* recorded in the map */
    uint32_t flags;              /* MACHSYM_MAP_COLUMNS, MACHSYM_MAP_DAMAGED, MACHSYM_MAP_UNWIND */
    uint32_t names;              /* MACHSYM_SESSION_NAMES_SYMTAB or _DWARF, or 0 */
    machsym_allocator allocator; /* called from every thread that builds a part */
} machsym_plan_desc;

/* Divides the work on an image into parts that any threads may build in any order. The map of half a file
 * would hide the whole one in a store, and one of a file that contradicts itself may give wrong names: an
 * image that is cut short or misleading (machsym_damage) is refused unless MACHSYM_MAP_DAMAGED is given.
 * Other damage costs what is damaged, and the map says so (MACHSYM_MAP_DAMAGED in its flags).
 * Returns: OK and *out; else an error. It is MACHSYM_ERR_DAMAGED when the image is refused.
 * Owns: *out, until machsym_plan_close. Borrows: the image.
 * Threads: the finished plan may be shared. Cost: root entries of all units and all symbols. */
MACHSYM_API machsym_result machsym_plan_open(const machsym_plan_desc *desc, machsym_plan **out,
                                             machsym_error *err);
/* Closes a plan; NULL is allowed. Close its parts first. Threads: one. */
MACHSYM_API void machsym_plan_close(machsym_plan *plan);
/* How many parts there are. Threads: any. Cost: constant. */
MACHSYM_API size_t machsym_plan_part_count(const machsym_plan *plan);
/* How many bytes of input a part stands for, to show progress by. Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_plan_part_size(const machsym_plan *plan, size_t index);

/* Iterates over all object files of the debug map that the plan works from.
 * Returns: false at the end, and at once for an image with debug info of its own. Borrows: views into the
 * image.
 * Threads: any. Cost: constant. */
MACHSYM_API bool machsym_plan_next_object_file(const machsym_plan *plan, machsym_cursor *at,
                                               machsym_object_file *out);

/* Builds one part. The result depends on the plan and the index only.
 * Returns: OK and *out; else an error. Owns: *out, until machsym_part_close or machsym_map_merge. Borrows:
 * the plan.
 * Threads: any. Cost: decodes the part's units once. */
MACHSYM_API machsym_result machsym_part_build(const machsym_plan *plan, size_t index, machsym_part **out,
                                              machsym_error *err);
/* What a part was made of. */
typedef struct machsym_part_info {
    uint32_t unit_count;
    uint32_t damaged_units; /* the map lacks some of their functions or lines, or they are wrong */
    machsym_damage damage;  /* of a unit: the first that is misleading, else the first of all */
} machsym_part_info;

/* Tells what a part was made of. Threads: any. Cost: constant. */
MACHSYM_API void machsym_part_get_info(const machsym_part *part, machsym_part_info *out);
/* Closes a part; NULL is allowed. Threads: one. */
MACHSYM_API void machsym_part_close(machsym_part *part);

/* Puts all parts of a plan, in their order, into a map. Each part is closed as soon as it has been copied,
 * and parts[i] becomes NULL: so no more than one copy of the map is in memory. On failure all parts are
 * closed too, except after MACHSYM_ERR_ARGUMENT.
 * Returns: OK and *out; else an error. It is MACHSYM_ERR_DAMAGED when a unit is misleading, as
 * machsym_part_info tells too, and the plan was opened without MACHSYM_MAP_DAMAGED.
 * Owns: *out, until machsym_map_close. Threads: one. Cost: a copy of the map. */
MACHSYM_API machsym_result machsym_map_merge(const machsym_plan *plan, machsym_part **parts, size_t count,
                                             machsym_map **out, machsym_error *err);
/* Builds a map with one thread: a plan, all its parts, and the merge.
 * Returns: OK and *out; else an error. Owns: *out, until machsym_map_close. Threads: one.
 * Cost: decodes the whole debug info. */
MACHSYM_API machsym_result machsym_map_build(const machsym_plan_desc *desc, machsym_map **out,
                                             machsym_error *err);

/* Which map to open; zero means the default everywhere. */
typedef struct machsym_map_desc {
    const char *path;    /* of the file; not used when there are bytes */
    machsym_bytes bytes; /* of a map; they must stay until the map is closed */
    uint32_t flags;      /* MACHSYM_MAP_UNCHECKED, MACHSYM_MAP_COPY */
    machsym_allocator allocator;
} machsym_map_desc;

/* Opens a map file, or the bytes of one, for lookups in place. Every table is checked to lie inside the file,
 * and the checksum is compared. What the tables point to is checked when it is read, so no file can lead a
 * lookup astray.
 * Returns: OK and *out; else an error.
 * Owns: *out, until machsym_map_close. Borrows: bytes. Threads: any; a map never changes, so threads may
 * share it.
 * Cost: reads the file once; with MACHSYM_MAP_UNCHECKED, only its header and directory. */
MACHSYM_API machsym_result machsym_map_open(const machsym_map_desc *desc, machsym_map **out,
                                            machsym_error *err);
/* Closes a map; NULL is allowed. All views into it end here. Threads: one. */
MACHSYM_API void machsym_map_close(machsym_map *map);
/* The map's bytes, as machsym_map_save writes them; empty if machsym_open_desc.io reads the map.
 * Borrows: a view into the map. Threads: any. Cost:
 * constant. */
MACHSYM_API machsym_bytes machsym_map_bytes(const machsym_map *map);
/* Writes the map to a file: whole, or not at all. Returns: OK, or an error. Threads: any. Cost: a copy of the
 * map. */
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
    uint64_t data_bytes;       /* runs: ranges, and the chains of calls that they lie in */
    uint64_t unwind_bytes;     /* unwind tables */
} machsym_map_info;

/* Tells what a map says of itself. Borrows: views into the map. Threads: any. Cost: constant. */
MACHSYM_API void machsym_map_get_info(const machsym_map *map, machsym_map_info *out);

/* The address in the file that a runtime address stands for, as machsym_image_addr_of_pc tells it.
 * Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_map_addr_of_pc(const machsym_map *map, uint64_t load_addr, uint64_t pc);

/* One function at an address as a map holds it: its names and its file are references into the map. */
typedef struct machsym_map_frame {
    uint64_t name_ref; /* 0: no name */
    uint64_t file_ref; /* 0: no file */
    uint32_t line;     /* as in machsym_frame, and all that follow */
    uint32_t column;
    uint64_t function_start;
    uint64_t function_size;
    machsym_source name_source;
    machsym_source line_source;
    bool is_inline;
    bool lacks_callers;
} machsym_map_frame;

/* Which functions hold an address of the file, as machsym_session_frames_at_addr tells it. No name is
 * unpacked: machsym_map_names makes machsym_frames of these. A session on a map does both.
 * Returns: the number of frames, even if it is more than cap; 0 when nothing is known of the address.
 * Threads: any. Cost: 0.06 to 0.4 microseconds; the larger the map, the more of it is waiting for memory.
 * Signals: usable in handlers; no allocation, lock or system call. */
MACHSYM_API size_t machsym_map_frames_at_addr(const machsym_map *map, uint64_t addr,
                                              machsym_map_frame *frames, size_t cap);
/* machsym_map_frames_at_addr for many addresses, in the shape of machsym_session_frames_at_addrs: answers[i]
 * says which frames belong to addrs[i]. Frames are written as long as they fit into cap. Memory is fetched
 * for several lookups at once. The order of addresses does not matter.
 * Returns: how many frames there are in all. If that is more than cap, ask again with more room or fewer
 * addresses. Threads: any. Cost: count lookups at most. Signals: usable in handlers. */
MACHSYM_API size_t machsym_map_frames_at_addrs(const machsym_map *map, const uint64_t *addrs, size_t count,
                                               machsym_answer *answers, machsym_map_frame *frames,
                                               size_t cap);
/* Makes frames with names and files of the count frames that machsym_map_frames_at_addr gave. Names and paths
 * are unpacked into text. Frames that follow each other may be of many addresses: what they share is mostly
 * unpacked once, so a batch of sorted addresses costs less than each alone. A map has no debug info, so
 * die_offset is 0.
 * Returns: how many bytes of text all names and paths need; those that do not fit are empty.
 * Borrows: names and paths are views into text; frames may share them.
 * Threads: any. Cost: about a microsecond a name. Signals: usable in handlers; no allocation, lock or system
 * call. */
MACHSYM_API size_t machsym_map_names(const machsym_map *map, const machsym_map_frame *from, size_t count,
                                     machsym_frame *frames, char *text, size_t cap);

/* A range of addresses whose frames are the same. */
typedef struct machsym_map_range {
    uint64_t lo;
    uint64_t hi;
    bool is_symbol; /* not from debug info */
} machsym_map_range;
/* Iterates over the ranges of a map by address. Ask machsym_map_frames_at_addr for the frames of lo.
 * Returns: false at the end. Threads: any. Cost: constant. Signals: usable in handlers. */
MACHSYM_API bool machsym_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out);

/* What the new map says of itself; zero means the default everywhere but for info. */
typedef struct machsym_writer_desc {
    /* Used are the fields from name to code_size, lines and flags. The text of name must outlive the
     * writer. */
    const machsym_map_info *info;
    machsym_allocator allocator;
} machsym_writer_desc;

/* Opens a writer, which makes a map range by range: for chunks of another map, and for symbol tables of other
 * formats.
 * Returns: OK and *out; else an error. Owns: *out, until machsym_writer_finish or machsym_writer_close.
 * Borrows: the name in desc->info. Threads: one at a time. Cost: constant. */
MACHSYM_API machsym_result machsym_writer_open(const machsym_writer_desc *desc, machsym_writer **out,
                                               machsym_error *err);
/* Closes a writer without making a map; NULL is allowed. */
MACHSYM_API void machsym_writer_close(machsym_writer *writer);
/* Adds a range with its frames, the innermost first. Ranges from debug info must ascend without overlap, and
 * so must those from symbols (is_symbol); the two kinds may overlap.
 * Returns: OK, or an error; MACHSYM_ERR_LIMIT for a name or a part of a path of more than MACHSYM_MAX_TEXT
 * bytes. Borrows: nothing. Threads: one at a time. Cost: a copy of the texts. */
MACHSYM_API machsym_result machsym_writer_add(machsym_writer *writer, const machsym_map_range *range,
                                              const machsym_frame *frames, size_t count, machsym_error *err);
/* Makes the map, and closes the writer, on failure too.
 * Returns: OK and *out; else an error. Owns: *out, until machsym_map_close. Threads: one at a time. */
MACHSYM_API machsym_result machsym_writer_finish(machsym_writer *writer, machsym_map **out,
                                                 machsym_error *err);

/* ---- Names ---- */

enum machsym_demangle_flags {
    /* As `swift demangle` prints it. C++, Rust and D have one style only. */
    MACHSYM_DEMANGLE_FULL = 0,
    /* Swift as Apple's reports print it, with the prefixes of async functions. */
    MACHSYM_DEMANGLE_SIMPLIFIED = 1u << 0,
    /* Keep the hashes in Rust names. */
    MACHSYM_DEMANGLE_RUST_HASH = 1u << 1,
    /* For words of ordinary text: a word stays as it is that may be a name by accident. $el, $sd and
     * _TSS_ID are Swift names by the grammar: a generic signature, a marker and a type. Only names of
     * symbols are taken: a declaration, or a thunk, metadata or a witness of one. */
    MACHSYM_DEMANGLE_IN_TEXT = 1u << 2
};

/* Writes the source form of a mangled C++, Swift, Rust or D name. Any other name is copied unchanged. A
 * leading byte 1 and Mach-O's extra underscore may be there or not.
 * Returns: the length of the whole result without the closing NUL, as snprintf does. At most cap bytes are
 * written, the NUL among them; nothing when cap is 0.
 * Owns / Borrows: keeps nothing. Threads: any. Cost: linear in input plus output; no allocation. */
MACHSYM_API size_t machsym_demangle(machsym_str mangled, uint32_t flags, char *buf, size_t cap);

/* ---- Text for people ----
 * These three return the length of the whole text without the closing NUL, as snprintf does. If that is cap
 * or more, the text is cut. Owns / Borrows: keep nothing. Threads: any. Cost: one copy, and demangling; no
 * allocation. */

/* The name to show of a frame, in source form: its linkage name, or else its name. flags:
 * machsym_demangle_flags. Empty when the frame has no name: then show the address. */
MACHSYM_API size_t machsym_frame_name(const machsym_frame *frame, uint32_t flags, char *buf, size_t cap);
/* The source form of any name that a session or map gave. Unlike machsym_demangle, it also finds the mangled
 * class names inside names from metadata, such as -[_TtC4Demo6Player play]. */
MACHSYM_API size_t machsym_name_text(machsym_str name, uint32_t flags, char *buf, size_t cap);
/* An error as one sentence: what is wrong, where in the file, and what to do. desc is what could not be
 * opened, or NULL. With desc, the sentence begins with its path. If the error is about slices, it ends with
 * the slices and UUIDs that the file has: then their headers are read again. */
MACHSYM_API size_t machsym_error_text(const machsym_error *err, const machsym_open_desc *desc, char *buf,
                                      size_t cap);

/* ---- Compressed bytes ---- */

/* What a stream of compressed bytes is. */
typedef enum machsym_deflate {
    /* Deflate alone (RFC 1951): members of zip files, and what is after the header of a gzip file. */
    MACHSYM_DEFLATE_RAW = 0,
    /* A header before it and a checksum after it, which is compared (RFC 1950). */
    MACHSYM_DEFLATE_ZLIB
} machsym_deflate;

/* Decompresses a stream as a whole. *len is how many bytes were written to out, also where an error ends it;
 * *used, unless it is NULL, how many bytes of in the stream takes.
 * Returns: OK; ERR_DAMAGED; ERR_LIMIT when the stream has more than cap bytes; ERR_UNSUPPORTED when the
 * library was built with MACHSYM_NO_INFLATE.
 * Threads: any. Cost: proportional to the bytes written and read; 13 KB of
 * stack, no other memory. */
MACHSYM_API machsym_result machsym_inflate(machsym_deflate kind, machsym_bytes in, void *out, size_t cap,
                                           size_t *len, size_t *used, machsym_error *err);

/* ---- Unwinding: the callers of a thread that has stopped, or died ---- */

/* How a frame was found. */
typedef enum machsym_unwind_how {
    MACHSYM_UNWIND_CONTEXT, /* the frame that the caller began with, with its registers */
    MACHSYM_UNWIND_COMPACT, /* by the compact unwind table */
    MACHSYM_UNWIND_FP,      /* by the frame pointer only */
    MACHSYM_UNWIND_CFA,     /* by the function's CFA program in __eh_frame or __debug_frame */
    MACHSYM_UNWIND_SIGNAL,  /* a signal interrupted the frame at its pc; by a CFA program */
    /* By the code ahead of a pc where a frame stopped: its function makes or undoes its frame there. */
    MACHSYM_UNWIND_PROLOGUE,
    MACHSYM_UNWIND_LEAF, /* in the same way; arm64: the return address was still in its register */
    /* A Swift function that awaits the frame before. pc is where it goes on, and is looked up as it is: the
     * begin of a function of its own. Of its registers only the async context is known: x22, or r14. */
    MACHSYM_UNWIND_ASYNC
} machsym_unwind_how;

/* Why a stack ended. */
typedef enum machsym_unwind_end {
    MACHSYM_UNWIND_GOES_ON,
    MACHSYM_UNWIND_BOTTOM,       /* the return address is 0, as where a thread begins */
    MACHSYM_UNWIND_NO_FRAME,     /* no table and no frame pointer finds a caller, or memory cannot be read */
    MACHSYM_UNWIND_WRONG_WAY,    /* the caller's stack pointer is not above this one: a cycle or damage */
    MACHSYM_UNWIND_TOO_MANY,     /* MACHSYM_MAX_UNWIND_FRAMES */
    MACHSYM_UNWIND_NO_REGISTERS, /* pc or sp is unknown, or no stack of this cputype can be unwound */
    MACHSYM_UNWIND_ARGUMENT,     /* desc is NULL, or its read or images are missing */
    MACHSYM_UNWIND_LEFT_OUT      /* built with MACHSYM_NO_UNWIND */
} machsym_unwind_end;

/* A section of an image in the process. */
typedef struct machsym_unwind_section {
    machsym_bytes bytes; /* as in a file; ptr NULL: read from the process */
    uint64_t addr;       /* in the process */
    uint64_t size;
} machsym_unwind_section;

/* An image in the process. Sections that are zero are not there. */
typedef struct machsym_unwind_image {
    uint64_t load_addr; /* address of its header */
    uint64_t size;      /* bytes that are mapped from there on */
    machsym_unwind_section unwind_info;
    machsym_unwind_section eh_frame;
    machsym_unwind_section debug_frame; /* of a dSYM or a program; asked last */
    uint64_t file_addr;                 /* address of the header in the file; debug_frame counts from it */
    machsym_bytes large_frames;         /* x86: sizes of large frames, of a map; else they are read in code */
} machsym_unwind_image;

/* A process to unwind in. read copies len bytes of its memory at addr. It returns false if some are
 * missing. Code is read, too, of frames that stopped. */
typedef struct machsym_unwind_desc {
    bool (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
    void *ctx;
    const machsym_unwind_image *images;
    size_t image_count;
    uint32_t cputype; /* as in a Mach-O header: arm64, arm64_32, x86_64 or i386 */
} machsym_unwind_desc;

/* The registers of a frame. arm64: x0 to x28, fp 29, lr 30, sp 31, pc 32. x86_64: DWARF's numbers, rip 16.
 * i386: DWARF's numbers, eip 8. The caller zeroes the state and fills in v and known. arm64 needs lr, too. */
typedef struct machsym_unwind_state {
    uint64_t v[33];
    uint64_t known;       /* one bit for each register of v whose value is known */
    uint32_t frame_count; /* 0: the registers of a thread that stopped at pc */
    uint32_t searched;    /* entries of DWARF tables that were looked through for this stack */
    bool awaiting;        /* set by the caller: who awaits a Swift async frame comes instead of its callers */
    machsym_unwind_how how;
    machsym_unwind_end end;
} machsym_unwind_state;

/* Replaces the registers of a frame by those of its caller. The caller's pc is the return address. Returns:
 * false at the end of the stack; state->end has the reason. Allocates nothing, takes no lock, and reads the
 * process only through desc->read. It is async-signal-safe if desc->read is. It takes 24 KB of stack. Every
 * stack ends after at most MACHSYM_MAX_UNWIND_FRAMES frames, whatever the process contains. */
MACHSYM_API bool machsym_unwind_next(const machsym_unwind_desc *desc, machsym_unwind_state *state);

/* The unwind tables that a map carries (MACHSYM_MAP_UNWIND), of an image that lies at load_addr. A map has no
 * code. So the caller of a frame that stopped in the first or last instructions of its function is right only
 * if desc->read gives that code.
 * Returns: whether the map has tables; load_addr, size and file_addr of out are set in any case. Damaged
 * tables, and those of a map that is read piece by piece, count as missing.
 * Borrows: out has views into the map. Threads: any. Signals: usable in handlers; no allocation, lock or
 * system call. Cost: constant; of a map that was opened by pages, the tables are compared with their
 * checksums each time. */
MACHSYM_API bool machsym_map_get_unwind(const machsym_map *map, uint64_t load_addr,
                                        machsym_unwind_image *out);

/* ---- Version skew ---- */

/* The public structs. Each has its own weight, so that two changes of size do not cancel out. */
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
    X(machsym_session_counts, 2199023255531)                                                                 \
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
    X(machsym_damage, 1152921504606846883)                                                                   \
    X(machsym_cut, 2305843009213693951)                                                                      \
    X(machsym_part_info, 4611686018427387847)                                                                \
    X(machsym_io_stats, 9223372036854775643)                                                                 \
    X(machsym_io, 9223372036854775783)                                                                       \
    X(machsym_cache_file, 1152921504606846869)                                                               \
    X(machsym_stack_addr, 2305843009213693921)                                                               \
    X(machsym_stack_answer, 4611686018427387817)                                                             \
    X(machsym_unwind_section, 9223372036854775549)                                                           \
    X(machsym_unwind_image, 1152921504606846803)                                                             \
    X(machsym_unwind_desc, 2305843009213693907)                                                              \
    X(machsym_unwind_state, 4611686018427387787)
#define MACHSYM_WEIGH(type, weight) +(uint64_t)sizeof(type) * (uint64_t)weight
#define MACHSYM_ABI                 ((uint64_t)0 MACHSYM_STRUCTS(MACHSYM_WEIGH)) /* see machsym_abi */

/* In debug builds, every function that opens something compares the sizes first: see MACHSYM_ASSERT. */
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
