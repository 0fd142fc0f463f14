/* ==== >> api ====
 * Job: whole reports for a program: bytes in, reports as data, bytes out.
 * Offers: machsym_reports_desc, machsym_report_symbols, machsym_report_files, and what MACHSYM_API declares.
 * Never: reads a file.
 *
 * EXPERIMENTAL: until 1.0 what is declared here may change with every version.
 *
 *     go through the reports of an input     machsym_reports_open calls begin and each
 *     list the images that symbols are for   machsym_report_next_image, in begin
 *     give symbols                           machsym_report_of_files, or callbacks of one's own
 *     walk the frames of one                 machsym_report_next_frame, in each
 *     write it in a form                     machsym_report_write, in each
 *     the input with names put in            machsym_reports_same
 *
 * Callbacks return: no exception and no longjmp leaves them, and of the functions here they call those of one report.
 * When memory runs out, setjmp.h leads back to where a function was called. At -Os on x86_64 all of it is 284 KB of
 * text with gcc, and 330 KB with clang.
 *
 * Threads: an input is one thread's, with sessions of its own; any number of inputs may be read at once. */
#ifndef MACHSYM_REPORT_H
#define MACHSYM_REPORT_H

#include "machsym.h"

/* ---- What a report is ---- */

/* One report, while a callback is about it. */
typedef struct machsym_report machsym_report;

typedef struct machsym_report_info {
    const char *kind; /* static: "ips", "crash text", ... */
    uint32_t number;  /* which of its input, from 1 on; 0: the only one */
    uint32_t frames;
    uint32_t named;   /* of them, by symbols or by the report itself */
    uint32_t missing; /* without a name */
    uint64_t cut_at;  /* where the input ends inside it; 0: it is whole */
} machsym_report_info;

/* A program or library that was loaded. Texts live as long as the callback. */
typedef struct machsym_report_image {
    machsym_str name;
    machsym_str path;
    machsym_str arch;    /* as written; may be empty */
    machsym_str version; /* may be empty */
    machsym_uuid uuid;
    bool has_uuid;
    bool is_system;    /* not the app's */
    bool is_text_exec; /* of a kernel: base stands for __TEXT_EXEC, not __TEXT */
    uint64_t base;     /* where it was loaded */
    uint64_t end;      /* the first address past it; 0: not told */
    uint32_t frames;   /* in it */
    uint32_t missing;  /* of them, without a name */
} machsym_report_image;

/* A call: the innermost inlined one of a frame first, and frames in the order of the report. */
typedef struct machsym_report_frame {
    uint64_t addr;   /* at run time */
    uint64_t thread; /* its number */
    bool is_crashed; /* the thread */
    bool is_inline;
    machsym_str image;
    machsym_str name; /* empty: none is known */
    machsym_str path; /* empty: none is known */
    uint32_t line;    /* 0: none is known */
    uint64_t offset;  /* from the start of the function; 0 where the report itself has the name */
} machsym_report_frame;

/* ---- Symbols ---- */

/* Why no symbols are there for an image. */
typedef enum machsym_report_lack {
    MACHSYM_REPORT_NO_FILE = 0,
    MACHSYM_REPORT_OTHER_UUID, /* a file of its name has another UUID */
    MACHSYM_REPORT_UNPROVEN    /* the image has no UUID, and a file of its name may be of another build */
} machsym_report_lack;

/* What was found for an image. Zeroed before; texts are borrowed until the input is read. */
typedef struct machsym_report_found {
    const char *path; /* of the file that is told; NULL: none */
    bool has_dwarf;
    machsym_report_lack lack; /* when find returns false */
    machsym_uuid uuid;        /* with OTHER_UUID and UNPROVEN: the file's */
} machsym_report_found;

/* Whom addresses are asked of. One image is asked at a time: find, then the others, then leave. */
typedef struct machsym_report_symbols {
    void *user;
    /* Returns false when there are none; leave is not called then. */
    bool (*find)(void *user, const machsym_report_image *image, machsym_report_found *found);
    void (*leave)(void *user);
    /* The address in the file that one at run time stands for; *holds: whether it lies in the image. */
    uint64_t (*addr)(void *user, const machsym_report_image *image, uint64_t pc, bool *holds);
    /* All of a stack that lies in the image at once, as machsym_session_stack. */
    size_t (*stack)(void *user, const machsym_pc *pcs, size_t count, machsym_call *calls,
                    machsym_frame *frames, size_t cap);
    /* As machsym_session_next_folded; NULL: no function shares its code. */
    size_t (*next_folded)(void *user, uint64_t addr, machsym_cursor *at, machsym_frame *frames, size_t cap);
} machsym_report_symbols;

/* A dSYM, a binary or a map that is open, and a session of the thread that reads. */
typedef struct machsym_report_file {
    machsym_image *image;
    machsym_session *session;
} machsym_report_file;

/* Files of which those answer that have an image's UUID. An image without one is UNPROVEN. */
typedef struct machsym_report_files {
    const machsym_report_file *v;
    size_t count;
    const machsym_report_file *at; /* the one that is asked */
} machsym_report_files;

/* The symbols of files, which are borrowed. */
MACHSYM_API machsym_report_symbols machsym_report_of_files(machsym_report_files *files);

/* ---- Reading ---- */

typedef enum machsym_report_flags {
    MACHSYM_REPORT_ALL = 1u << 0,        /* look up frames too that have a name already */
    MACHSYM_REPORT_FULL_PATHS = 1u << 1, /* of sources */
    MACHSYM_REPORT_FULL_NAMES = 1u << 2, /* with the arguments of Swift's functions */
    MACHSYM_REPORT_NO_INLINE = 1u << 3,  /* only the real function of each frame */
    MACHSYM_REPORT_NO_FOLDED =
        1u << 4, /* no caller is asked which of the functions that share code it means */
    MACHSYM_REPORT_RAW_ADDRESSES = 1u << 5, /* take return addresses as they are, as Apple's tools do */
    MACHSYM_REPORT_SAME = 1u << 6           /* machsym_reports_same is asked for */
} machsym_report_flags;

/* Zero it; what is not set has the default. */
typedef struct machsym_reports_desc {
    machsym_allocator allocator; /* alloc NULL: malloc and free */
    machsym_str input;           /* borrowed until machsym_reports_close */
    const char *name;            /* of the input, for briefs; NULL: none */
    uint32_t flags;              /* machsym_report_flags */
    const char *redact; /* the words of a key: who and whose device it is of is taken out; NULL: nothing is */
    uint64_t
        max_bytes; /* of names, paths and lines that are added; 0: 32 MB and 64 times the input's length */
    machsym_report_symbols symbols; /* find NULL: there are none */
    void *user;
    /* Before the addresses of a report are looked up, or of all reports of one document, which are one here. Returns
     * false when they are not wanted. NULL: they are. */
    bool (*begin)(void *user, machsym_report *report);
    /* A report whose addresses were looked up. Returns false when it is left out of machsym_reports_same. NULL:
     * nothing is done. */
    bool (*each)(void *user, machsym_report *report);
    /* One that cannot be answered, which costs no other: why, and where in the input. NULL: it is only counted. */
    void (*fails)(void *user, uint32_t number, const char *why, uint64_t at);
} machsym_reports_desc;

/* An input that was read. */
typedef struct machsym_reports machsym_reports;

/* Reads an input and answers each of its reports. An input without a report is no error: fails says why there is none.
 * Errors: ERR_MEMORY, when the allocator has none left, also for an answer of a session: then no *out is there, and
 * reports that each was called for are whole. ERR_ARGUMENT. Cost: linear in the input; a lookup a frame. */
MACHSYM_API machsym_result machsym_reports_open(const machsym_reports_desc *desc, machsym_reports **out,
                                                machsym_error *err);
/* How many reports were answered, and how many could not be. */
MACHSYM_API uint32_t machsym_reports_count(const machsym_reports *reports, uint32_t *failed);
/* With MACHSYM_REPORT_SAME: the input with names put in; every other byte as it was. */
MACHSYM_API machsym_str machsym_reports_same(const machsym_reports *reports);
/* NULL: nothing. */
MACHSYM_API void machsym_reports_close(machsym_reports *reports);

/* ---- One report, in a callback ---- */

MACHSYM_API void machsym_report_get_info(const machsym_report *report, machsym_report_info *out);
/* Return false at the end. */
MACHSYM_API bool machsym_report_next_image(const machsym_report *report, machsym_cursor *at,
                                           machsym_report_image *out);
MACHSYM_API bool machsym_report_next_frame(const machsym_report *report, machsym_cursor *at,
                                           machsym_report_frame *out);

typedef enum machsym_report_form {
    MACHSYM_REPORT_AS_TEXT = 0, /* Apple's text, and what it does not tell: inlined calls, owners */
    MACHSYM_REPORT_AS_APPLE,    /* without that; lookups want RAW_ADDRESSES and NO_FOLDED for it */
    MACHSYM_REPORT_AS_JSON,     /* a line: docs/json.md, crash/1 */
    MACHSYM_REPORT_AS_BRIEF,    /* a line of JSON that fits a message: crash-brief/1 */
    MACHSYM_REPORT_AS_SUMMARY,  /* what happened, in a few lines */
    MACHSYM_REPORT_AS_SIGNATURE /* a hash, two blanks, and its words: what reports of one crash have in common */
} machsym_report_form;

/* Writes a report in a form. *out lives until the next call or the end of the callback. Returns ERR_MEMORY when the
 * allocator has none left; then machsym_reports_open fails, too. Only in each: begin's report has no names yet. */
MACHSYM_API machsym_result machsym_report_write(machsym_report *report, machsym_report_form form,
                                                machsym_str *out);

#endif
