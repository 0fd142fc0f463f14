/* What other languages call: machsym.h without structs that change, and with every text of an answer ready. So a binding
 * declares two structs and a dozen functions, and pays the price of a foreign call once for a whole batch of addresses.
 * flat.c holds the implementation of machsym.h too. */
#ifndef FLAT_H
#define FLAT_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define FLAT_API extern __declspec(dllexport)
#elif defined(__GNUC__)
#define FLAT_API extern __attribute__((visibility("default")))
#else
#define FLAT_API extern
#endif

/* machsym_open_desc. All pointers may be NULL; uuid is 16 bytes. A prefix is two texts, from and to. The bytes must
 * outlive the image. */
typedef struct flat_desc {
    const char *path;
    const void *bytes;
    size_t len;
    const char *pair_path;
    const char *arch;
    const uint8_t *uuid;
    const char *entry;
    const char *const *prefixes;
    size_t prefix_count;
    const char *const *dirs;
    size_t dir_count;
    uint32_t flags; /* 1: read files into memory (MACHSYM_OPEN_COPY) */
    /* machsym_io: a file that is not in memory; NULL: there is none. */
    size_t (*read)(void *user, uint64_t offset, void *out, size_t len);
    void *read_user;
    uint64_t read_size;
} flat_desc;

enum { FLAT_ERROR_TEXT = 2048 };

/* machsym_error, with its sentence. */
typedef struct flat_error {
    int32_t code;
    int32_t os_errno;
    uint64_t offset;
    char text[FLAT_ERROR_TEXT];
} flat_error;

/* A Mach-O file or a map. Threads: any, but for closing. */
typedef struct flat_image flat_image;
/* Lookups of one thread at a time. */
typedef struct flat_session flat_session;

FLAT_API const char *flat_version(void);
FLAT_API const char *flat_result_name(int32_t code);
FLAT_API const char *flat_source_name(int32_t source); /* "?" past the last */
/* machsym_demangle. */
FLAT_API size_t flat_demangle(const char *name, size_t len, uint32_t flags, char *out, size_t cap);

/* In what these two write, a text is a u32 length and the bytes; all is in the host's byte order. They return how many
 * bytes that takes, even if it is more than cap: then nothing of use is in out.
 * Slices: u32 count, then for each: u32 filetype, u32 has a UUID, u64 offset, u64 size, text UUID (16 bytes), text
 * architecture. 0 and an error when there is none. */
FLAT_API size_t flat_slices(const flat_desc *desc, char *out, size_t cap, flat_error *err);
/* u32 is a map, u32 its line policy, u32 filetype, u32 has a UUID, u32 platform, u32 minimum system, u32 SDK, u32 has
 * debug info, u32 damaged parts, u32 is cut short, u64 address and u64 size of __TEXT, text UUID, text architecture, text
 * name, text path, text pair's path, u64 reads, u64 bytes that they read. */
FLAT_API size_t flat_info(const flat_image *image, char *out, size_t cap);

/* NULL and an error when it cannot be opened. */
FLAT_API flat_image *flat_open(const flat_desc *desc, flat_error *err);
/* Close its sessions first. NULL is allowed. */
FLAT_API void flat_close(flat_image *image);
/* machsym_image_addr_of_pc. */
FLAT_API uint64_t flat_addr(const flat_image *image, uint64_t load, uint64_t pc);

/* The map of an image, in memory. */
FLAT_API flat_image *flat_map_build(const flat_image *image, int32_t lines, uint32_t flags, flat_error *err);
/* Its bytes, as long as it is open. NULL: it is no map. */
FLAT_API const void *flat_map_bytes(const flat_image *map, size_t *len);
/* Whole, or not at all. Returns whether it was written. MACHSYM_NO_OS has no files. */
FLAT_API int flat_map_save(const flat_image *map, const char *path, flat_error *err);

/* lines: machsym_lines, or -1: that of the map, of other files MACHSYM_LINES_ATOS. */
FLAT_API flat_session *flat_session_open(const flat_image *image, int32_t lines, uint32_t flags,
                                         flat_error *err);
FLAT_API void flat_session_close(flat_session *session);
/* Looks up addresses: runtime ones of an image loaded at load when is_runtime, else the file's. names:
 * machsym_demangle_flags. An answer has each text once: u32 number of texts, u32 number of frames, u32 length of each text
 * (the first is empty), u32 number of frames of each address, the frames, the texts without gaps. The frames of an address
 * follow each other, the innermost first. A frame: u64 function start, u64 function size, u32 line, u32 column, u32 1 when
 * it is inlined plus 2 when it lacks callers, u32 name source, u32 line source, u32 numbers of the texts name (demangled), linkage name and file.
 * Returns: where that begins, until the next call, and *len; NULL when there is no memory, or no address. */
FLAT_API const char *flat_lookup(flat_session *session, int is_runtime, uint64_t load, uint32_t names,
                                 const uint64_t *addrs, size_t count, size_t *len);

#ifdef FLAT_REPORTS
/* Whole reports, by machsym_report.h. Symbols belong to one call at a time; their images may be shared. */
typedef struct flat_symbols flat_symbols;

enum { FLAT_REPORT_IMAGES = 1, FLAT_REPORT_FRAMES = 2 };

/* machsym_reports_desc. name and redact may be NULL. */
typedef struct flat_report_desc {
    const void *input;
    size_t len;
    const char *name;
    const char *redact;
    uint32_t flags; /* machsym_report_flags */
    uint32_t forms; /* of each report: 1 << machsym_report_form */
    uint32_t parts; /* what else is written of each: FLAT_REPORT_IMAGES, FLAT_REPORT_FRAMES */
} flat_report_desc;

/* The images must outlive it. Their sessions are opened when a report needs them, by lines as in flat_session_open; maps have
 * their own. NULL and an error when there is no memory. */
FLAT_API flat_symbols *flat_symbols_open(const flat_image *const *images, size_t count, int32_t lines,
                                         flat_error *err);
FLAT_API void flat_symbols_close(flat_symbols *symbols);
/* Answers all reports of an input. Returns where the answer begins, until the next call, and *len; NULL and an error when
 * there is no memory. The answer is in the host's byte order; a text is a u32 length and the bytes. Its parts follow each
 * other, each with a u32 that says what it is:
 * 1, a report: u32 number, u32 frames, u32 named, u32 missing, u64 cut at, text kind; u32 count, then each image: u64
 *   base, u64 end, u32 1 when it has a UUID plus 2 when it is the system's, u32 frames, u32 missing, texts UUID (16
 *   bytes), name, path, arch, version; u32 count, then each frame: u64 address, u64 thread, u64 offset, u32 line, u32 1 when
 *   its thread crashed plus 2 when it is inlined plus 4 when the report lacks it, texts image, name, path, doubt; then a text for each form, by its number.
 * 2, a report that cannot be answered: u32 number, u64 place in the input, text why.
 * 3, the last one: the text of machsym_reports_same. */
FLAT_API const char *flat_symbolicate(flat_symbols *symbols, const flat_report_desc *desc, size_t *len,
                                      flat_error *err);
#endif

#endif
