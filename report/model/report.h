/* ==== >> model/report ====
 * Job: what a report is: images, threads, frames and facts, each with the place of its text in the input.
 * Offers: report_close, report_kind_name, report_thread_kind_name, report_count_frames, report_add_image, report_image_at,
 * report_add_thread, report_add_frame, report_infer_frame, report_add_call, report_set_fact, report_set_exception,
 * report_exception_name, report_signal_name, report_set_signal, report_set_thrown and its kin.
 * Never: knows a format.
 *
 * A parsed report of any format. */
#ifndef MACHSYM_TOOL_REPORT_H
#define MACHSYM_TOOL_REPORT_H

#include "../base/json.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "machsym.h"
#include "status.h"

#define REPORT_NONE UINT32_MAX

/* ---- Parts of a report ---- */

/* A library or program that was loaded. */
typedef struct report_image {
    uint64_t base;
    uint64_t end;   /* first address after it; 0: unknown */
    bool is_open;   /* its end was unknown, and was set to the start of the next image */
    bool is_offset; /* its frames have offsets, so no address belongs to it */
    bool is_named;  /* named by --load: the user says which file it is */
    machsym_str name;
    machsym_str path;
    machsym_str arch;    /* as written; may be empty */
    machsym_str version; /* and build, as written; may be empty */
    machsym_str bundle;  /* bundle identifier; may be empty */
    uint32_t token;      /* its JSON object in the main document; 0: no object */
    machsym_uuid uuid;
    bool has_uuid;
    bool is_text_exec;    /* kernels: base is that of __TEXT_EXEC, not of __TEXT */
    bool is_system;       /* not the app's; set after parsing */
    uint32_t frame_count; /* frames in it */
    uint32_t missing;     /* frames without a name */
    uint32_t waiting;     /* frames that debug info could improve: without a name, or without a line */
    image_status status;  /* result of the search for its symbols, which is made only if a frame needs it */
    bool looked_for;
    const char *no_code; /* stacks held against code: why callers in it were not; static. NULL: they were */
} report_image;

/* What the report says about a frame's name. */
typedef enum frame_name {
    NAME_NONE = 0, /* no name, <redacted>, <deduplicated_symbol>, or only a load address */
    NAME_WEAK,     /* the nearest exported symbol, looked up on the device: debug info knows better */
    NAME_GIVEN
} frame_name;

/* How a frame is written. Its name is written in the same form. */
typedef enum frame_form {
    FORM_CLASSIC = 0, /* N Image 0xADDR 0xLOAD + OFF */
    FORM_LEAKS,       /* the same, outermost first, the line number after two spaces */
    FORM_SIDE,        /* N Image 0xADDR 0xLOAD + OFF (NAME + N) */
    FORM_SAMPLE,      /* tree COUNT NAME  (in Image) + OFF  [0xADDR] */
    FORM_SPIN,        /* tree COUNT NAME + OFF (Image + OFF) [0xADDR] */
    FORM_LIST,        /* N 0xADDR */
    FORM_BARE,        /* an address in a row of addresses; expanded to FORM_CLASSIC lines */
    FORM_LLDB,        /* frame #N: 0xADDR Image`NAME + N at FILE */
    FORM_SWIFT,       /* N [ra] 0xADDR NAME + N in Image at FILE */
    FORM_SANITIZER,   /* #N 0xADDR in NAME FILE (Image:arch+0xOFF) */
    FORM_XCTRACE,     /* <frame name="NAME" addr="0xADDR"> */
    FORM_INFERRED,    /* the report lacks it: it is written after the frame before it */
    FORM_IPS,         /* JSON objects, from here on */
    FORM_LOG,
    FORM_STACKSHOT, /* [image, offset] */
    FORM_METRIC,
    FORM_KSCRASH,
    FORM_SENTRY,
    FORM_SENTRY_API,
    FORM_BUGSNAG,
    FORM_NODE
} frame_form;

/* How the bytes around a frame are escaped. */
typedef enum frame_escape {
    ESCAPE_NONE = 0,
    ESCAPE_HTML,
    ESCAPE_JSON /* text inside a JSON string */
} frame_escape;

/* One call at a frame's address, from symbols. */
typedef struct report_call {
    machsym_str name; /* demangled; empty: unknown */
    machsym_str path; /* whole; may be empty */
    uint32_t line;
    uint32_t column;
    uint64_t offset;   /* from the function's start to the address as printed */
    uint64_t cost;     /* upper bound of the bytes that it takes wherever it is written */
    machsym_str owner; /* owner of the code, if a rule matches */
    /* Names of the other functions that share its code, sorted, each with a NUL after it. Empty if the code
     * is not shared, or if the caller decides. */
    machsym_str others;
    uint32_t other_count;
    bool is_decided; /* the function shares its code, and the caller decided for this function */
    bool is_inline;
    bool lacks_callers; /* calls between this one and the next are left out */
    bool has_line;
    machsym_source name_source;
    machsym_source line_source;
    machsym_str link;       /* link to the line; may be empty */
    machsym_str context;    /* lines of source around it; may be empty */
    uint32_t context_first; /* number of the first of these lines */
} report_call;

/* A frame of a stack. */
typedef struct report_frame {
    uint64_t addr;    /* run-time address, without pointer authentication */
    uint64_t given;   /* as written */
    size_t at;        /* offset of its line or JSON object */
    size_t end;       /* offset of its end, without the newline */
    size_t symbol_at; /* offset of the text that a symbol replaces */
    size_t symbol_end;
    uint32_t image; /* REPORT_NONE: unknown */
    uint32_t thread;
    uint32_t index; /* 0 is the top of its stack, if the report numbers frames */
    uint32_t doc;   /* doc and token: only in JSON forms */
    uint32_t token;
    uint32_t samples;  /* samples taken in it; 0: the report does not count them */
    uint32_t depth;    /* in a tree of samples; 0: a root */
    uint8_t form;      /* frame_form */
    uint8_t escape;    /* frame_escape */
    uint8_t named;     /* frame_name */
    bool exact;        /* the address is not a return address */
    bool is_placed;    /* the images of its own report were searched; images of other reports do not count */
    bool given_line;   /* the text already has a source line */
    bool given_inline; /* the text is of an inlined call */
    bool given_start;  /* the text has "+ 0": the function begins at this address */
    bool is_caller;    /* stacks held against code: the frame must follow a call */
    bool is_stale;     /* the same: what lr held is no caller */
    bool is_checked;   /* the same: its code was at hand */
    bool given_folded; /* the text has <deduplicated_symbol>: several functions share this address */
    machsym_str name;  /* as in the text */
    machsym_str where; /* File.m:12, as in the text */
    machsym_str image_name;
    const char *found_by; /* how it was found, of stacks that are walked here; static. NULL: not here */
    const char *doubt;    /* why the frame before it cannot be called from here; NULL: no doubt */
    uint32_t call;        /* index of its first call; the innermost comes first */
    uint32_t call_count;  /* 0: nothing was found */
} report_frame;

typedef enum thread_kind { THREAD_PLAIN = 0, THREAD_EXCEPTION, THREAD_SPECIFIC } thread_kind;

/* Whether an lldb stack without image list uses the images of the report before it. */
typedef enum report_borrowed {
    BORROWED_NONE = 0, /* it has images of its own, or the report has no images */
    BORROWED_USED,
    BORROWED_REFUSED /* its frames name other images */
} report_borrowed;

/* A register of the crashed thread. */
typedef struct report_register {
    machsym_str name; /* as in Apple's JSON: x0, lr, far, rip, rflags */
    uint64_t value;
    machsym_str note;    /* the report's remark: "(Data Abort) byte read Translation fault"; may be empty */
    uint32_t image;      /* the image that the value points into; REPORT_NONE: unknown */
    uint32_t call;       /* first call at the value, innermost first */
    uint32_t call_count; /* 0: nothing was found */
} report_register;

/* Apple's reports have 96 to 128 bytes of instructions. */
enum { CODE_BYTES = 1024 };

/* A stack. */
typedef struct report_thread {
    uint32_t first;
    uint32_t count;
    uint64_t number;  /* as in the report */
    machsym_str name; /* of the thread or its dispatch queue */
    machsym_str queue;
    machsym_str process; /* in a report of several processes; else empty */
    uint32_t token;      /* its JSON object in an .ips; 0: no object */
    uint32_t path;       /* trees: how many of its first frames form the heaviest path; 0: no tree */
    thread_kind kind;
    report_borrowed borrowed;
    bool crashed;
    bool callers_first; /* outermost frame first: leaks, trees, Sentry */
    bool is_echo;       /* the text of a stack that follows as JSON: written, but not counted again */
    size_t open_at;     /* "(0x.. 0x..)": from the parenthesis to after the closing one; equal: absent */
    size_t open_end;
    uint32_t first_register;
    uint32_t register_count; /* 0: the report has no registers */
    machsym_str code;        /* instructions around the pc, in hexadecimal digits; may be empty */
    machsym_str stack;       /* bytes of its stack, in hexadecimal digits; may be empty */
    uint64_t stack_at;       /* where they lie */
    size_t code_at;          /* index of the byte at the pc; SIZE_MAX: unknown */
} report_thread;

/* What a report says about itself. */
typedef enum report_fact {
    FACT_PROCESS = 0,
    FACT_PID,
    FACT_PATH,
    FACT_IDENTIFIER,
    FACT_VERSION,
    FACT_CODE_TYPE,
    FACT_ROLE,
    FACT_PARENT,
    FACT_DATE,
    FACT_LAUNCH,
    FACT_OS,
    FACT_HARDWARE,
    FACT_INCIDENT,
    FACT_REPORTER,
    FACT_REPORT_VERSION,
    FACT_BUG_TYPE,
    FACT_EXCEPTION,
    FACT_SIGNAL,
    FACT_SUBTYPE,
    FACT_CODES,
    FACT_NOTE,
    FACT_TERMINATION, /* namespace */
    FACT_TERMINATION_CODE,
    FACT_DESCRIPTION, /* of the termination: the text after its code, and the lines below */
    FACT_TERMINATOR,  /* the process that requested it */
    FACT_CRASHED_THREAD,
    FACT_APP_INFO,
    FACT_REASON,    /* of an uncaught exception */
    FACT_EVENT,     /* what triggered a hang, cpu or disk report */
    FACT_AMOUNT,    /* duration, or amount written */
    FACT_DETAILS,   /* the subject of the report in sentences, one on each line */
    FACT_RAW_CODES, /* the codes as numbers, if an earlier line has words */
    FACT_ENDING,    /* of the termination alone: FACT_DESCRIPTION may be the exception's message */
    FACT_MESSAGE,   /* of the exception */
    FACT_THROWN,    /* name of an uncaught exception */
    FACT_REGION,    /* VM Region Info: the memory region of the address */
    FACT_TAGS,      /* whether the process used memory tags */
    FACT_NOTES,     /* what the program told its reporter: lines "Annotation: KEY: VALUE" */
    FACT_COUNT
} report_fact;

/* Every kind of report, a row each. Documents of JSON are tried in the order of their rows.
 *   PLAIN(kind, words, begin)              lines of text, a table as XML, binary; begin: what only such a
 *                                          report begins with, or ""
 *   DOCUMENT(kind, words, reader)          a document of JSON, which report_parse_READER reads
 *   OBJECT(kind, words, reader, member)    the same, and report_tell_READER recognises it inside
 *                                          another document; member: what no other JSON has
 * words: what people call it. read/formats.h declares the readers; CONTRIBUTING.md says what else a new kind
 * needs. */
#define REPORT_KINDS(PLAIN, DOCUMENT, OBJECT)                                                                \
    PLAIN(UNKNOWN, "unknown", "")                                                                            \
    PLAIN(TEXT, "crash text", "")                                                                            \
    PLAIN(SAMPLE, "sample", "Analysis of sampling ")                                                         \
    PLAIN(SPIN, "spindump", "")                                                                              \
    PLAIN(LEAKS, "leaks", "")                                                                                \
    PLAIN(LLDB, "lldb backtrace", "")                                                                        \
    PLAIN(SWIFT, "Swift backtrace", "*** Program crashed: ")                                                 \
    PLAIN(SANITIZER, "sanitizer report", "")                                                                 \
    PLAIN(DART, "Dart stack", "*** *** *** ***")                                                             \
    PLAIN(XCTRACE, "xctrace export", "<?xml ")                                                               \
    PLAIN(CRASHLYTICS, "Crashlytics text", "# Crashlytics - ")                                               \
    PLAIN(PLCRASH, "PLCrashReporter", "")                                                                    \
    PLAIN(MINIDUMP, "minidump", "")                                                                          \
    PLAIN(CORE, "Mach-O core", "")                                                                           \
    OBJECT(PANIC, "kernel panic", panic, "panicString") /* may hold a stackshot */                           \
    OBJECT(STACKSHOT, "stackshot", stackshot, "processByPid")                                                \
    OBJECT(STACKLESS, "no stacks", jetsam, "largestProcess")                                                 \
    OBJECT(IPS, "ips", ips, "usedImages")                                                                    \
    OBJECT(KSCRASH, "KSCrash JSON", kscrash, "binary_images")                                                \
    OBJECT(SENTRY, "Sentry event", sentry, "debug_meta")                                                     \
    OBJECT(BUGSNAG, "Bugsnag event", bugsnag, "frameAddress")                                                \
    OBJECT(DATADOG, "Datadog event", datadog, "binary_images")                                               \
    OBJECT(NODE, "Node report", node, "nativeStack")                                                         \
    OBJECT(METRIC, "MetricKit", metric, "callStackRootFrames")                                               \
    DOCUMENT(LOG, "log", log) /* an event may lack a stack; the events of an array are one report */

typedef enum report_kind {
#define REPORT_KIND_NUMBER(kind, ...) REPORT_##kind,
    REPORT_KINDS(REPORT_KIND_NUMBER, REPORT_KIND_NUMBER, REPORT_KIND_NUMBER)
#undef REPORT_KIND_NUMBER
        REPORT_KIND_COUNT
} report_kind;

typedef enum report_encoding {
    ENCODING_BYTES = 0,
    ENCODING_UTF16LE,
    ENCODING_UTF16BE,
    ENCODING_PLCRASH, /* from here on: binary, read as text and written as text */
    ENCODING_MINIDUMP,
    ENCODING_CORE
} report_encoding;

/* The start of a report in a document that holds several. MetricKit has one for each diagnostic. */
typedef struct report_part {
    uint32_t thread; /* thread and frame: its first ones */
    uint32_t frame;
    uint32_t doc;
    uint32_t element; /* the array element of that document that contains it; JSON_NONE: no element */
    bool is_left_out; /* left out when the document is written in its own format */
    report_kind kind;
    machsym_str facts[FACT_COUNT];
} report_part;

/* A range of the body, and the range of added text that replaces it. */
typedef struct edit {
    size_t at;
    size_t end;
    size_t text_at;
    size_t text_end;
} edit;

/* Edits sorted by place, without overlap. */
typedef struct edit_list {
    edit *v;
    size_t count;
    size_t cap;
    text added;
} edit_list;

/* A carried string of a document, or a piece of one, or a line of the body without the prefix of a log. */
typedef struct report_string {
    uint32_t token;   /* JSON_NONE: not in a document that was kept */
    uint32_t element; /* the array element that is removed with the string; JSON_NONE: no element */
    size_t at;        /* in the body, without quotes */
    size_t end;
    size_t from; /* range of the body that is removed with the string; empty: nothing, or the element */
    size_t to;
    size_t lo; /* range in the carried text */
    size_t hi;
    bool is_left_out;
} report_string;

/* A text that may hold reports. A document carries it in one string or several, or the body carries it line
 * by line. */
typedef struct report_carried {
    uint32_t doc;   /* REPORT_NONE: not in a document that was kept */
    uint32_t first; /* its first string */
    uint32_t count;
    uint32_t part;    /* how many parts of the report begin before it */
    size_t at;        /* offset of its document, or of its first line */
    bool is_raw;      /* its bytes equal those of the body: no escapes */
    bool is_lines;    /* each string is a line */
    bool is_kept;     /* a report in it was answered, or stays unchanged */
    bool is_left_out; /* it holds reports, and all were left out */
    edit_list edits;  /* edits of its reports, for writing the document in its own format */
} report_carried;

/* Frames counted by the source of their name. */
typedef struct resolve_counts {
    uint32_t frames;
    uint32_t given;   /* already had a name */
    uint32_t dwarf;   /* name and line */
    uint32_t symbols; /* name only */
    uint32_t missing;
    bool is_unreached; /* chunks of an image could not be fetched; a retry may succeed */
    bool is_unread;    /* a file was not read, or memory ran out; a retry may find more */
} resolve_counts;

/* Asks for the owner of code, by what a report says about it; empty: no rule matches. */
typedef struct report_rules {
    const void *context;
    machsym_str (*owner)(const void *context, machsym_str image, machsym_str name, machsym_str path);
} report_rules;

/* A whole report. */
typedef struct report {
    machsym_str input;  /* as given */
    mem_source *memory; /* NULL: the heap */
    text changed;       /* UTF-16 as UTF-8, binary as text, or the input after --redact */
    const char *body;   /* offsets count in this: input, or changed */
    char *shadow;       /* body with plain spaces and decoded entities, padded: the offsets are equal */
    size_t len;
    report_encoding encoding;
    bool is_redacted;
    edit_list redactions; /* what --redact replaced: places in the input and in the body; no added text */
    const report_rules *rules; /* rules of ownership; NULL: not given */
    report_kind kind;
    bool is_checked; /* its stacks were held against code */
    bool has_text;
    bool has_entities; /* the text has &lt; and the like: added text is escaped, too */
    bool has_json;
    pool strings;
    json *docs;
    uint32_t doc_count;
    uint32_t main_doc;   /* the JSON document with the stacks; may be REPORT_NONE */
    uint32_t meta_doc;   /* the metadata before an .ips; may be REPORT_NONE */
    uint32_t main_image; /* main_image and main_thread: the first ones of an .ips */
    uint32_t main_thread;
    report_image *images;
    uint32_t image_count;
    report_thread *threads;
    uint32_t thread_count;
    report_frame *frames;
    uint32_t frame_count;
    report_call *calls;
    uint32_t call_count;
    report_register *registers;
    uint32_t register_count;
    report_part *parts; /* several reports in one document; in the whole, facts are those of the first */
    uint32_t part_count;
    uint32_t part_cap;
    report_carried *carried;
    uint32_t carried_count;
    uint32_t carried_cap;
    report_string *carried_strings;
    uint32_t string_count;
    uint32_t string_cap;
    unsigned depth;  /* nesting depth: how many documents carry it */
    uint32_t part;   /* its part number, from 1 on; 0: the whole */
    uint32_t number; /* its number in its file, or that of its first report; 0: the only one */
    machsym_str facts[FACT_COUNT];
    uint64_t cache_lo; /* range of the dyld shared cache, which holds the system's images */
    uint64_t cache_hi;
    const char *failure; /* why the report is damaged; may be NULL */
    size_t failed_at;
    const char *damage; /* damage of a binary report whose rest is readable; NULL: its kind describes it */
    size_t cut_at; /* where the text ends inside a JSON document, whose whole values are read; 0: nowhere */
    uint32_t doc_cap;
    uint32_t image_cap;
    uint32_t thread_cap;
    uint32_t frame_cap;
    uint32_t call_cap;
    uint32_t register_cap;
    uint32_t register_placed; /* how many registers were placed in the images of their report */
} report;

/* An image named by --load or by an lldb list. */
typedef struct report_load {
    machsym_str name;
    uint64_t base;
} report_load;

void report_close(report *r);
/* Whether its input is binary and was converted to text. */
static inline bool report_is_binary(const report *r)
{
    return r->encoding >= ENCODING_PLCRASH;
}
const char *report_kind_name(report_kind kind);

/* What JSON calls a thread of this kind. */
const char *report_thread_kind_name(thread_kind kind);

/* Recounts the frames, in total and for each image. */
void report_count_frames(report *r, resolve_counts *counts);

/* ---- For the parsers ---- */

report_image *report_add_image(report *r);
/* Returns the image of a frame: an equal one of the images added last (from `first` on), or a new one. */
uint32_t report_image_at(report *r, uint32_t first, uint64_t base, machsym_str path,
                         const machsym_uuid *uuid);
report_thread *report_add_thread(report *r);
/* Adds a frame to the last thread. */
report_frame *report_add_frame(report *r);
/* Adds the caller of a frame after it; the report lacks it. Indexes of frames after it change. */
void report_infer_frame(report *r, uint32_t below, uint64_t addr, uint32_t image);
report_call *report_add_call(report *r);
report_carried *report_add_carried(report *r);
/* Takes the next name from the rest of a call's other names. Returns false at the end. */
bool report_next_other(machsym_str *rest, machsym_str *name);
void report_set_fact(report *r, report_fact fact, machsym_str value); /* a fact that is already set stays */
/* Sets the name of a Mach exception or a signal; "exception 42" for an unknown number, nothing for 0. */
void report_set_exception(report *r, uint64_t number);
const char *report_exception_name(uint64_t number); /* NULL: unknown */
const char *report_signal_name(uint64_t number);
void report_set_signal(report *r, uint64_t number);
/* Sets an uncaught exception, in the system's words. */
void report_set_thrown(report *r, machsym_str name, machsym_str reason);
/* Sets an error by its class ("EXC_BREAKPOINT", "SIGABRT" or the name of an exception), and its message. */
void report_set_error(report *r, machsym_str kind, machsym_str message);
/* Sets "A (B)"; one of the two may be empty. */
void report_set_pair(report *r, report_fact fact, machsym_str a, machsym_str b);
/* Sets "iOS 17.4 (21E219)"; each may be empty. */
void report_set_os(report *r, machsym_str name, machsym_str version, machsym_str build);
/* Sets "1.2 (7)", CFBundleShortVersionString and CFBundleVersion, from either order. Call it after
 * parsing. */
void report_settle_version(report *r);
/* "2026-03-14T08:26:53Z" for seconds since 1970; nothing for 0. */
void report_set_time(report *r, report_fact fact, uint64_t seconds);
void report_text_time(text *t, uint64_t seconds);
/* Returns the unescaped JSON string, in the report's memory. */
machsym_str report_json_str(report *r, const json *doc, uint32_t token);
/* Merges equal images from `first` on into the first of them, and updates the frames from first_frame on. */
void report_merge_images(report *r, uint32_t first, uint32_t first_frame);
/* Finds the image of each frame from first_frame on by its address, among images from first_image on. Frames
 * that have an image keep it. A frame is placed once, because programs of several reports lie at equal
 * addresses. */
void report_place_frames(report *r, uint32_t first_frame, uint32_t first_image);
/* Applies --load to all reports of a document. */
void report_place_in_loads(report *r, const report_load *loads, size_t load_count);
/* Marks the system's images, and limits the length of names. Call it after parsing. */
void report_finish_images(report *r);
/* Whether a name is that of a system image, for reports without paths. */
bool report_has_system_name(machsym_str name);
bool report_arch_is_arm32(machsym_str arch);
/* Returns the address without pointer authentication. Addresses of Intel processes stay unchanged. */
uint64_t report_plain_addr(const report *r, uint64_t addr);
/* Whether a name says that there is no name: "<redacted>", "???", or the image's name. */
bool report_is_no_name(machsym_str name, machsym_str image);
/* Whether a name stands for several functions that the linker merged. */
bool report_is_folded_name(machsym_str name);

#endif
