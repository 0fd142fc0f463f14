/* ==== >> api ====
 * Job: whole reports for a program: bytes in, reports as data, bytes out.
 * Offers: machsym_reports_desc, machsym_report_symbols, machsym_report_files, and what MACHSYM_API declares.
 * Never: reads a file.
 *
 * EXPERIMENTAL: until 1.0 these declarations may change with every version.
 *
 *     go through the reports of an input     machsym_reports_open calls begin and each
 *     list the images that symbols are for   machsym_report_next_image, in begin
 *     give symbols                           machsym_report_of_files, or callbacks of one's own
 *     walk the frames of one                 machsym_report_next_frame, in each
 *     its threads, registers, facts          machsym_report_next_thread, _register, _fact, in begin or each
 *     write it in a form                     machsym_report_write, in each
 *     the input with names put in            machsym_reports_same
 *
 * Callbacks must return, without an exception and without longjmp. They may only call the functions for one report.
 * When memory runs out, longjmp returns to the function that was called.
 *
 * At -Os on x86_64 all of it is 306 KB of text with gcc, and 333 KB with clang. Define these before the
 * implementation to leave kinds or checks out. An input of such a kind is then read as if the kind were unknown: most
 * end in `fails`. Text, .ips and addresses are always read. Saved with gcc:
 *     MACHSYM_REPORT_NO_DUMPS      23 KB  minidumps and core files
 *     MACHSYM_REPORT_NO_SERVICES   24 KB  PLCrashReporter, KSCrash, Sentry, Bugsnag, Crashlytics, Datadog
 *     MACHSYM_REPORT_NO_PROFILES   13 KB  sample, spindump, xctrace, MetricKit
 *     MACHSYM_REPORT_NO_SYSTEM     11 KB  kernel panics, stackshots, jetsam, the system's log
 *     MACHSYM_REPORT_NO_STACKS     15 KB  what lldb, sanitizers, Swift, Dart, Node and others print
 *     MACHSYM_REPORT_NO_CHECKS     12 KB  MACHSYM_REPORT_CHECK_STACK, which is then ERR_ARGUMENT
 *     all six                     102 KB
 *
 * Threads: an input belongs to one thread and has its own sessions. Any number of inputs may be read at once. */
#ifndef MACHSYM_REPORT_H
#define MACHSYM_REPORT_H

#include "machsym.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a report is ---- */

/* One report, while a callback is about it. */
typedef struct machsym_report machsym_report;

typedef struct machsym_report_info {
    const char *kind; /* static: "ips", "crash text", ... */
    uint32_t number;  /* in its input, from 1 on; 0: it is the only one */
    uint32_t frames;
    uint32_t named;   /* frames with a name, from symbols or from the report */
    uint32_t missing; /* without a name */
    uint64_t cut_at;  /* where the input ends inside the report; 0: the report is whole */
} machsym_report_info;

/* A program or library that was loaded. Texts live until the callback returns. */
typedef struct machsym_report_image {
    machsym_str name;
    machsym_str path;
    machsym_str arch;    /* as written; may be empty */
    machsym_str version; /* may be empty */
    machsym_uuid uuid;
    bool has_uuid;
    bool is_system;    /* belongs to the system, not to the app */
    bool is_text_exec; /* kernels: base is that of __TEXT_EXEC, not of __TEXT */
    uint64_t base;     /* load address */
    uint64_t end;      /* first address after it; 0: unknown */
    uint32_t frames;   /* frames in this image */
    uint32_t missing;  /* frames in this image without a name */
} machsym_report_image;

/* One call. Of each frame, the innermost inlined call comes first. Frames come in the order of the report. */
typedef struct machsym_report_frame {
    uint64_t addr;   /* at run time */
    uint64_t thread; /* its number */
    bool is_crashed; /* whether this thread crashed */
    bool is_inline;
    machsym_str image;
    machsym_str name; /* empty: unknown */
    machsym_str path; /* empty: unknown */
    uint32_t line;    /* 0: unknown */
    uint64_t offset;  /* from the start of the function; 0 if the name is the report's own */
    /* With MACHSYM_REPORT_CHECK_STACK: */
    bool is_inferred; /* the report lacks this caller */
    machsym_str
        doubt; /* why the frame before it cannot have been called from it; empty: nothing speaks against it */
} machsym_report_frame;

/* A stack, in the order of the report. */
typedef struct machsym_report_thread {
    uint64_t number; /* as in the report; processes of one report may use a number again */
    machsym_str name;
    machsym_str queue;
    machsym_str process; /* in a report of several processes; else empty */
    bool is_crashed;
    bool is_callers_first; /* its outermost frame comes first */
    uint32_t frames;
    uint32_t registers;
} machsym_report_thread;

/* A register of a thread. */
typedef struct machsym_report_register {
    uint64_t thread;  /* its number */
    machsym_str name; /* as in Apple's JSON: "x0", "lr", "far", "rip" */
    uint64_t value;
} machsym_report_register;

/* What a report says about itself. */
typedef struct machsym_report_fact {
    const char *name; /* static: as in docs/json.md, "process", "os", "exception", ... */
    machsym_str value;
} machsym_report_fact;

/* ---- Symbols ---- */

/* Why an image has no symbols. */
typedef enum machsym_report_lack {
    MACHSYM_REPORT_NO_FILE = 0,
    MACHSYM_REPORT_OTHER_UUID, /* a file of its name has another UUID */
    MACHSYM_REPORT_UNPROVEN    /* the image has no UUID, and a file of its name may be of another build */
} machsym_report_lack;

/* The result of a search for an image. It is zeroed before the call. Texts are borrowed until the input is
 * read. */
typedef struct machsym_report_found {
    const char *path; /* path of the file to report; NULL: no file, and lack is not looked at */
    bool has_dwarf;
    machsym_report_lack lack; /* set if find returns false */
    machsym_uuid uuid;        /* the file's UUID, with OTHER_UUID and UNPROVEN */
} machsym_report_found;

/* The frame whose address `stack` is asked for, or the innermost of several. */
typedef struct machsym_report_asked {
    uint64_t thread; /* its number */
    bool is_crashed;
    uint32_t frame;                /* in its thread, the first of the report is 0 */
    bool is_exact;                 /* the address is not a return address */
    uint32_t registers;            /* of the thread: those of its innermost frame */
    machsym_cursor first_register; /* for machsym_report_next_register */
} machsym_report_asked;

/* The callbacks that answer addresses. Images are asked one at a time: find, then the others, then leave. */
typedef struct machsym_report_symbols {
    void *user;
    /* Returns false if there are no symbols. Then leave is not called. Otherwise it is, even if memory runs out
     * in between. */
    bool (*find)(void *user, const machsym_report_image *image, machsym_report_found *found);
    void (*leave)(void *user);
    /* Converts a run-time address to an address of the file. *holds: whether the address lies in the
     * image. */
    uint64_t (*addr)(void *user, const machsym_report_image *image, uint64_t pc, bool *holds);
    /* Looks up all addresses of a stack that lie in the image at once, as machsym_session_frames_of_stack
     * does. */
    size_t (*stack)(void *user, const machsym_stack_addr *pcs, size_t count, machsym_stack_answer *calls,
                    machsym_frame *frames, size_t cap);
    /* Works as machsym_session_next_folded_at_addr; NULL: no function shares its code. */
    size_t (*next_folded)(void *user, uint64_t addr, machsym_cursor *at, machsym_frame *frames, size_t cap);
    /* Called before `stack`, with what it is asked for. NULL: of equal addresses only one is asked for. */
    void (*asks)(void *user, const machsym_report *report, const machsym_report_asked *asked);
    /* Minidumps and core files have memory in place of stacks. These two are called when their stacks are
     * unwound, before `begin`. Of the image, name, path, arch and UUID are set, and for `read` its range. Both
     * may be NULL: stacks are then followed by frame pointers, and by tables that the input itself holds.
     * `file` returns the open file of an image, for its unwind tables, code and constants; NULL: there is
     * none. It is borrowed until the input is read. MACHSYM_REPORT_CHECK_STACK calls it after `begin`, once for
     * each image, with all that is known of the image. */
    const machsym_image *(*file)(void *user, const machsym_report_image *image);
    /* Copies bytes of an image at a run-time address, as they are in the process. Returns false if some are
     * missing. */
    bool (*read)(void *user, const machsym_report_image *image, uint64_t addr, void *out, size_t len);
} machsym_report_symbols;

/* An open dSYM, binary or map, with a session that belongs to the reading thread. */
typedef struct machsym_report_file {
    machsym_image *image;
    machsym_session *session;
} machsym_report_file;

/* Files to search. A file answers if it has the image's UUID; of several the first with debug info does. The
 * unwind tables of dumps come from the first that has some. An image without a UUID is UNPROVEN. */
typedef struct machsym_report_files {
    const machsym_report_file *v;
    size_t count;
    const machsym_report_file *at; /* the file that answers at the moment */
} machsym_report_files;

/* Makes callbacks from files. The files are borrowed. */
MACHSYM_API machsym_report_symbols machsym_report_of_files(machsym_report_files *files);

/* ---- Reading ---- */

typedef enum machsym_report_flags {
    MACHSYM_REPORT_ALL = 1u << 0,        /* also look up frames that already have a name */
    MACHSYM_REPORT_FULL_PATHS = 1u << 1, /* of source files */
    MACHSYM_REPORT_FULL_NAMES = 1u << 2, /* with the arguments of Swift's functions */
    MACHSYM_REPORT_NO_INLINE = 1u << 3,  /* only the real function of each frame */
    MACHSYM_REPORT_NO_FOLDED =
        1u << 4, /* do not ask callers which of the functions that share code they mean */
    MACHSYM_REPORT_RAW_ADDRESSES = 1u << 5, /* look up return addresses unchanged, as Apple's tools do */
    MACHSYM_REPORT_SAME = 1u << 6,          /* prepare machsym_reports_same */
    /* Check whether frames can have called each other, by the code of the files that symbols.file returns, and
     * add callers that registers, or bytes of the stack, tell. Set before the other lookups; `asks` is not called for it. */
    MACHSYM_REPORT_CHECK_STACK = 1u << 7
} machsym_report_flags;

/* Zero it first. Fields that stay zero have their default. */
typedef struct machsym_reports_desc {
    machsym_allocator allocator; /* alloc NULL: malloc and free */
    machsym_str input;           /* borrowed until machsym_reports_close */
    const char *name;            /* of the input, for briefs; may be NULL */
    uint32_t flags;              /* machsym_report_flags */
    const char *redact; /* words of a key: personal data and device identifiers are replaced; NULL: kept */
    uint64_t
        max_bytes; /* of names, paths and lines that are added; 0: 32 MB plus 64 times the input's length */
    machsym_report_symbols symbols; /* find NULL: no symbols */
    void *user;
    /* Called before the addresses of a report are looked up. All reports of one document count as one report
     * here. Returns false if the report is not wanted. NULL: every report is wanted. */
    bool (*begin)(void *user, machsym_report *report);
    /* Called after the addresses of a report were looked up. Returns false to leave the report out of
     * machsym_reports_same. NULL: keep every report. */
    bool (*each)(void *user, machsym_report *report);
    /* Called for a report that cannot be answered, with the reason and its place in the input. The other
     * reports are still answered. NULL: such reports are only counted. */
    void (*fails)(void *user, uint32_t number, const char *why, uint64_t at);
} machsym_reports_desc;

/* An input that has been read. */
typedef struct machsym_reports machsym_reports;

/* Reads an input and answers each of its reports. An input without a report is not an error; `fails` is
 * called with the reason. Errors: ERR_MEMORY, if the allocator or a session runs out of memory. Then *out is
 * not set, and reports that `each` was called for are whole. ERR_ARGUMENT. Cost: linear in the input, and one
 * lookup for each frame. */
MACHSYM_API machsym_result machsym_reports_open(const machsym_reports_desc *desc, machsym_reports **out,
                                                machsym_error *err);
/* Return how many reports were answered, and how many could not be answered. */
MACHSYM_API uint32_t machsym_reports_count(const machsym_reports *reports, uint32_t *failed);
/* With MACHSYM_REPORT_SAME: returns the input with names put in. Every other byte is unchanged. Minidumps, core files and
 * PLCrashReporter's files come as text, which says so of one that cannot be read. */
MACHSYM_API machsym_str machsym_reports_same(const machsym_reports *reports);
/* NULL is allowed. */
MACHSYM_API void machsym_reports_close(machsym_reports *reports);

/* ---- One report, in a callback ---- */

MACHSYM_API void machsym_report_get_info(const machsym_report *report, machsym_report_info *out);
/* These return false at the end. */
MACHSYM_API bool machsym_report_next_image(const machsym_report *report, machsym_cursor *at,
                                           machsym_report_image *out);
MACHSYM_API bool machsym_report_next_frame(const machsym_report *report, machsym_cursor *at,
                                           machsym_report_frame *out);
MACHSYM_API bool machsym_report_next_thread(const machsym_report *report, machsym_cursor *at,
                                            machsym_report_thread *out);
MACHSYM_API bool machsym_report_next_register(const machsym_report *report, machsym_cursor *at,
                                              machsym_report_register *out);
/* Facts that the report does not state are left out. */
MACHSYM_API bool machsym_report_next_fact(const machsym_report *report, machsym_cursor *at,
                                          machsym_report_fact *out);

typedef enum machsym_report_form {
    MACHSYM_REPORT_AS_TEXT = 0, /* Apple's text, and what it lacks: inlined calls, owners */
    MACHSYM_REPORT_AS_APPLE,    /* as Apple's tools write it; set RAW_ADDRESSES and NO_FOLDED for it */
    MACHSYM_REPORT_AS_JSON,     /* one line: docs/json.md, crash/1 */
    MACHSYM_REPORT_AS_BRIEF,    /* one line of JSON, short enough for a message: crash-brief/1 */
    MACHSYM_REPORT_AS_SUMMARY,  /* what happened, in a few lines */
    MACHSYM_REPORT_AS_SIGNATURE /* a hash, two blanks, and the words that all reports of one crash share */
} machsym_report_form;

/* Writes a report in a form. *out lives until the next call or until the callback returns. Returns ERR_MEMORY
 * if the allocator runs out of memory; then machsym_reports_open fails, too. Call it only in `each`: in
 * `begin` no frame has been looked up. */
MACHSYM_API machsym_result machsym_report_write(machsym_report *report, machsym_report_form form,
                                                machsym_str *out);

/* ---- Version skew ---- */

/* The public structs, as MACHSYM_STRUCTS has those of machsym.h. */
#define MACHSYM_REPORT_STRUCTS(X)                                                                            \
    X(machsym_report_info, 3)                                                                                \
    X(machsym_report_image, 7)                                                                               \
    X(machsym_report_frame, 31)                                                                              \
    X(machsym_report_thread, 127)                                                                            \
    X(machsym_report_register, 509)                                                                          \
    X(machsym_report_fact, 2039)                                                                             \
    X(machsym_report_found, 8191)                                                                            \
    X(machsym_report_asked, 32749)                                                                           \
    X(machsym_report_symbols, 131071)                                                                        \
    X(machsym_report_file, 524287)                                                                           \
    X(machsym_report_files, 2097143)                                                                         \
    X(machsym_reports_desc, 8388593)
#define MACHSYM_REPORT_ABI (MACHSYM_ABI MACHSYM_REPORT_STRUCTS(MACHSYM_WEIGH))

/* Returns MACHSYM_REPORT_ABI of the library. A program that was compiled with structs of other sizes passes
 * garbage. Debug builds notice that by themselves, as for machsym.h. Threads: any. Cost: constant. */
MACHSYM_API uint64_t machsym_report_abi(void);

#ifdef MACHSYM_CHECKS_ABI
static inline machsym_result machsym_reports_open_checked(const machsym_reports_desc *desc,
                                                          machsym_reports **out, machsym_error *err)
{
    bool same = machsym_report_abi() == MACHSYM_REPORT_ABI;
    (void)same;
    MACHSYM_ASSERT(same && "the machsym library was built from another machsym_report.h than this program");
    return machsym_reports_open(desc, out, err);
}
#define machsym_reports_open machsym_reports_open_checked
#endif

#ifdef __cplusplus
}
#endif

#endif
