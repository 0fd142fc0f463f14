/* ==== >> model/report ====
 * Job: what a report is: images, threads, frames and facts, each with where in the input its text lies.
 * Offers: report_close, report_kind_name, report_count_frames, report_add_image, report_image_at,
 * report_add_thread, report_add_frame, report_add_call, report_set_fact, report_set_exception,
 * report_exception_name, report_signal_name, report_set_signal, report_set_thrown and its kin.
 * Never: knows a format.
 *
 * One parsed report of any format: its images, threads and frames, each with where in the input its text
 * lies. */
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
    uint64_t end;   /* first address past it; 0: not told */
    bool is_open;   /* its end was not told: it was taken to reach to the next image */
    bool is_offset; /* its frames have offsets in it: none is in it by its address */
    bool is_named;  /* by --load: the user says which file it is */
    machsym_str name;
    machsym_str path;
    machsym_str arch;    /* as written; may be empty */
    machsym_str version; /* and build, as written; may be empty */
    machsym_str bundle;  /* its identifier; may be empty */
    uint32_t token;      /* of its JSON object in the main document; 0: none */
    machsym_uuid uuid;
    bool has_uuid;
    bool is_text_exec;    /* base stands for __TEXT_EXEC, not __TEXT: kernels */
    bool is_system;       /* not the app's: set when all is parsed */
    uint32_t frame_count; /* frames in it */
    uint32_t missing;     /* those that stayed without a name */
    uint32_t waiting;     /* those that debug info would tell more of: without a name, or without a line */
    image_status status;  /* how the search for its symbols ended; only looked for when a frame needs it */
    bool looked_for;
} report_image;

/* What a frame's text says of its name. */
typedef enum frame_name {
    NAME_NONE = 0, /* nothing, <redacted>, <deduplicated_symbol>, or only a load address */
    NAME_WEAK,     /* the nearest exported symbol, looked up on the device: debug info knows better */
    NAME_GIVEN
} frame_name;

/* How a frame is written, which is how its symbol must be. */
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
    FORM_IPS,         /* JSON objects from here on */
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

/* One call of the chain at a frame's address, as symbols tell it. */
typedef struct report_call {
    machsym_str name; /* demangled; empty when nothing is known */
    machsym_str path; /* whole; may be empty */
    uint32_t line;
    uint32_t column;
    uint64_t offset;   /* of the address as printed from the function's start */
    uint64_t cost;     /* bytes that it takes at most wherever it is written */
    machsym_str owner; /* whose code it is, where a rule knows */
    /* Names of other functions that share the code of this one, sorted, each with a 0 after it; empty when it
     * has the code for itself, or the caller says that it is this one. */
    machsym_str others;
    uint32_t other_count;
    bool is_decided; /* the function shares its code, and the caller says that it is this one */
    bool is_inline;
    bool lacks_callers; /* calls are left out between this one and the next */
    bool has_line;
    machsym_source name_source;
    machsym_source line_source;
    machsym_str link;       /* to the line; may be empty */
    machsym_str context;    /* lines of source around it; may be empty */
    uint32_t context_first; /* the number of the first */
} report_call;

/* A frame of a stack. */
typedef struct report_frame {
    uint64_t addr;    /* at run time, without pointer authentication */
    uint64_t given;   /* as written */
    size_t at;        /* of its line or JSON object */
    size_t end;       /* without the newline */
    size_t symbol_at; /* what a symbol takes the place of */
    size_t symbol_end;
    uint32_t image; /* REPORT_NONE: not known */
    uint32_t thread;
    uint32_t index; /* 0: the top of its stack, where the report counts */
    uint32_t doc;   /* JSON forms: which document, which token */
    uint32_t token;
    uint32_t samples;  /* that were taken in it; 0: the report does not count */
    uint32_t depth;    /* in a tree of samples; 0: a root */
    uint8_t form;      /* frame_form */
    uint8_t escape;    /* frame_escape */
    uint8_t named;     /* frame_name */
    bool exact;        /* not a return address */
    bool is_placed;    /* its own report's images were looked at: those of others are none of its */
    bool given_line;   /* the text has a source line already */
    bool given_inline; /* the text is of a call that was inlined */
    bool given_start;  /* the text says that the function begins at this address: "+ 0" */
    bool given_folded; /* the text says that several functions have this address: <deduplicated_symbol> */
    machsym_str name;  /* as the text has it */
    machsym_str where; /* File.m:12, as the text has it */
    machsym_str image_name;
    uint32_t call;       /* the first of its calls, innermost first */
    uint32_t call_count; /* 0: nothing found */
} report_frame;

typedef enum thread_kind { THREAD_PLAIN = 0, THREAD_EXCEPTION, THREAD_SPECIFIC } thread_kind;

/* Whether a stack of lldb's without a list of images got those of the report ahead of it. */
typedef enum report_borrowed {
    BORROWED_NONE = 0, /* it has its own, or there are none */
    BORROWED_USED,
    BORROWED_REFUSED /* its frames name others */
} report_borrowed;

/* A register of the thread that crashed. */
typedef struct report_register {
    machsym_str name; /* as Apple's JSON has it: x0, lr, far, rip, rflags */
    uint64_t value;
    machsym_str
        note;       /* what the report says of it: "(Data Abort) byte read Translation fault"; may be empty */
    uint32_t image; /* that the value points into; REPORT_NONE: none that is known */
    uint32_t call;  /* what it points to, innermost first */
    uint32_t call_count; /* 0: nothing found */
} report_register;

/* Apple's reports have 96 to 128 bytes of instructions. */
enum { CODE_BYTES = 1024 };

/* A stack. */
typedef struct report_thread {
    uint32_t first;
    uint32_t count;
    uint64_t number;  /* as the report counts */
    machsym_str name; /* name or dispatch queue */
    machsym_str queue;
    machsym_str process; /* where a report holds several; empty: the report's */
    uint32_t token;      /* of its JSON object in an .ips; 0: none */
    uint32_t path;       /* of a tree of samples: its first frames, which are its heaviest path; 0: no tree */
    thread_kind kind;
    report_borrowed borrowed;
    bool crashed;
    bool callers_first; /* outermost frame first: leaks, trees, Sentry */
    bool is_echo;       /* the text of a stack that follows as JSON: written like it, but not counted again */
    size_t open_at; /* "(0x.. 0x..)": the parenthesis, and past the closing one; equal when there is none */
    size_t open_end;
    uint32_t first_register;
    uint32_t register_count; /* 0: the report does not tell them */
    machsym_str code;        /* instructions around where it stood, in hexadecimal digits; empty: not told */
    size_t code_at;          /* which byte of these it stood at; SIZE_MAX: not told */
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
    FACT_TERMINATION, /* its namespace */
    FACT_TERMINATION_CODE,
    FACT_DESCRIPTION, /* of the termination: what stands after its code, and the lines after it */
    FACT_TERMINATOR,  /* the process that asked for it */
    FACT_CRASHED_THREAD,
    FACT_APP_INFO,
    FACT_REASON,    /* of an uncaught exception */
    FACT_EVENT,     /* what a hang, cpu or disk report was made for */
    FACT_AMOUNT,    /* how long it took, how much it wrote */
    FACT_DETAILS,   /* what the report is about in whole sentences, one a line */
    FACT_RAW_CODES, /* the codes in numbers, where a line ahead of them has words */
    FACT_ENDING,    /* of the termination alone: FACT_DESCRIPTION may be the exception's message */
    FACT_MESSAGE,   /* of the exception */
    FACT_THROWN,    /* the name of an uncaught exception */
    FACT_REGION,    /* VM Region Info: which memory the address lies in */
    FACT_TAGS,      /* whether the process used memory tags */
    FACT_NOTES,     /* what the program told its reporter: lines of "Annotation: KEY: VALUE" */
    FACT_COUNT
} report_fact;

/* Every kind of report, a row each. Documents of JSON are tried in the order of their rows.
 *   PLAIN(kind, words, begin)              lines of text, a table as XML, binary; begin: what only such a
 *                                          report begins with, or ""
 *   DOCUMENT(kind, words, reader)          a document of JSON, which report_parse_READER reads
 *   OBJECT(kind, words, reader, member)    the same, and report_tell_READER tells it wherever it lies in
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
    OBJECT(PANIC, "kernel panic", panic, "panicString") /* which may hold a stackshot */                     \
    OBJECT(STACKSHOT, "stackshot", stackshot, "processByPid")                                                \
    OBJECT(STACKLESS, "no stacks", jetsam, "largestProcess")                                                 \
    OBJECT(IPS, "ips", ips, "usedImages")                                                                    \
    OBJECT(KSCRASH, "KSCrash JSON", kscrash, "binary_images")                                                \
    OBJECT(SENTRY, "Sentry event", sentry, "debug_meta")                                                     \
    OBJECT(BUGSNAG, "Bugsnag event", bugsnag, "frameAddress")                                                \
    OBJECT(DATADOG, "Datadog event", datadog, "binary_images")                                               \
    OBJECT(NODE, "Node report", node, "nativeStack")                                                         \
    OBJECT(METRIC, "MetricKit", metric, "callStackRootFrames")                                               \
    DOCUMENT(LOG, "log", log) /* an event may have no stack: those of an array are one report */

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
    ENCODING_PLCRASH, /* from here on: binary, which is read as text and comes out so */
    ENCODING_MINIDUMP,
    ENCODING_CORE
} report_encoding;

/* Where a report begins in a document that holds several, as MetricKit has one for each diagnostic. */
typedef struct report_part {
    uint32_t thread; /* its first thread and frame */
    uint32_t frame;
    uint32_t doc;
    uint32_t element; /* of an array of that document, which it stands in; JSON_NONE: of none */
    bool is_left_out; /* when the document is written as it is */
    report_kind kind;
    machsym_str facts[FACT_COUNT];
} report_part;

/* A piece of the body that gives way to a piece of added text. */
typedef struct edit {
    size_t at;
    size_t end;
    size_t text_at;
    size_t text_end;
} edit;

/* Edits in the order of their places, without overlap. */
typedef struct edit_list {
    edit *v;
    size_t count;
    size_t cap;
    text added;
} edit_list;

/* A string of a document whose text is carried, or a piece of that text, or a line of the body without what a
 * log put ahead of it. */
typedef struct report_string {
    uint32_t token;   /* JSON_NONE: of no document that is kept */
    uint32_t element; /* of an array, which goes with the string; JSON_NONE: none does */
    size_t at;        /* of the body: without quotes */
    size_t end;
    size_t from; /* what of the body goes with the string; equal: nothing, or the element */
    size_t to;
    size_t lo; /* of the carried text that it is */
    size_t hi;
    bool is_left_out;
} report_string;

/* A text that a document carries in one string or in several, or that the body carries line by line, and that
 * may hold reports of its own. */
typedef struct report_carried {
    uint32_t doc;   /* REPORT_NONE: none that is kept */
    uint32_t first; /* of its strings */
    uint32_t count;
    uint32_t part;    /* how many parts of the report begin before it */
    size_t at;        /* of its document, or of its first line */
    bool is_raw;      /* its bytes are the body's: they have no escapes */
    bool is_lines;    /* each string is a line */
    bool is_kept;     /* a report in it was answered, or stays as it is */
    bool is_left_out; /* it holds reports, and none is kept */
    edit_list edits;  /* what its reports got, when the document is written as it is */
} report_carried;

/* Frames by how they got their name. */
typedef struct resolve_counts {
    uint32_t frames;
    uint32_t given;   /* had one already */
    uint32_t dwarf;   /* name and line */
    uint32_t symbols; /* name only */
    uint32_t missing;
    bool is_unreached; /* chunks of an image could not be had: asked again, they may be */
    bool is_unread;    /* a file was not read, or memory was out: asked again, there may be more */
} resolve_counts;

/* Whose code it is, by what a report tells of it; empty: no rule knows. */
typedef struct report_rules {
    const void *context;
    machsym_str (*owner)(const void *context, machsym_str image, machsym_str name, machsym_str path);
} report_rules;

/* A whole report. */
typedef struct report {
    machsym_str input;  /* as given */
    mem_source *memory; /* NULL: the heap */
    text changed;       /* UTF-16 as UTF-8, binary as text, and what --redact took out */
    const char *body;   /* what offsets count in: input, or changed */
    char *shadow; /* body with every odd space a space and every entity its character, padded: same offsets */
    size_t len;
    report_encoding encoding;
    bool is_redacted;
    edit_list redactions; /* what --redact took out: places of the input and of the body; no text is added */
    const report_rules *rules; /* whose code is whose; NULL: not told */
    report_kind kind;
    bool has_text;
    bool has_entities; /* &lt; and the like: what is added is written so too */
    bool has_json;
    pool strings;
    json *docs;
    uint32_t doc_count;
    uint32_t main_doc;   /* the JSON document with the stacks; REPORT_NONE */
    uint32_t meta_doc;   /* the metadata ahead of an .ips; REPORT_NONE */
    uint32_t main_image; /* of an .ips: the first of its images and threads */
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
    report_part *parts; /* several reports in one document; of the whole, facts is the first one's */
    uint32_t part_count;
    uint32_t part_cap;
    report_carried *carried;
    uint32_t carried_count;
    uint32_t carried_cap;
    report_string *carried_strings;
    uint32_t string_count;
    uint32_t string_cap;
    unsigned depth;  /* how many documents carry it, one in the other */
    uint32_t part;   /* which of them this is, from 1 on; 0: the whole */
    uint32_t number; /* which report of its file this is, or its first one; 0: the only one */
    machsym_str facts[FACT_COUNT];
    uint64_t cache_lo; /* where the dyld shared cache lies, which holds the system's images */
    uint64_t cache_hi;
    const char *failure; /* why the report is damaged; NULL */
    size_t failed_at;
    const char *damage; /* what is damaged of a binary report whose rest is told; NULL: its kind says it */
    size_t cut_at; /* where the text ends inside a JSON document, read as far as it is whole; 0: nowhere */
    uint32_t doc_cap;
    uint32_t image_cap;
    uint32_t thread_cap;
    uint32_t frame_cap;
    uint32_t call_cap;
    uint32_t register_cap;
    uint32_t register_placed; /* how many were looked for in the images of their report */
} report;

/* An image that --load or an lldb list names. */
typedef struct report_load {
    machsym_str name;
    uint64_t base;
} report_load;

void report_close(report *r);
/* Whether its input is binary, which was turned into text. */
static inline bool report_is_binary(const report *r)
{
    return r->encoding >= ENCODING_PLCRASH;
}
const char *report_kind_name(report_kind kind);

/* Counts the frames anew, of the whole and of each image. */
void report_count_frames(report *r, resolve_counts *counts);

/* ---- For the parsers ---- */

report_image *report_add_image(report *r);
/* The image of a frame: one of those from the first on that were added last, or a new one. */
uint32_t report_image_at(report *r, uint32_t first, uint64_t base, machsym_str path,
                         const machsym_uuid *uuid);
report_thread *report_add_thread(report *r);
/* A frame of the last thread. */
report_frame *report_add_frame(report *r);
report_call *report_add_call(report *r);
report_carried *report_add_carried(report *r);
/* Takes the next name off what is left of a call's others. Returns false at the end. */
bool report_next_other(machsym_str *rest, machsym_str *name);
void report_set_fact(report *r, report_fact fact, machsym_str value); /* the first one stays */
/* The name of a Mach exception or a signal, "exception 42" where it has none; nothing for 0. */
void report_set_exception(report *r, uint64_t number);
const char *report_exception_name(uint64_t number); /* NULL: it has none */
const char *report_signal_name(uint64_t number);
void report_set_signal(report *r, uint64_t number);
/* An uncaught exception in the words that the system has for it. */
void report_set_thrown(report *r, machsym_str name, machsym_str reason);
/* An error by its class, "EXC_BREAKPOINT", "SIGABRT" or an exception's, and what is said of it. */
void report_set_error(report *r, machsym_str kind, machsym_str message);
/* "A (B)"; one of them may be empty. */
void report_set_pair(report *r, report_fact fact, machsym_str a, machsym_str b);
/* "iOS 17.4 (21E219)"; each may be empty. */
void report_set_os(report *r, machsym_str name, machsym_str version, machsym_str build);
/* "1.2 (7)", CFBundleShortVersionString and CFBundleVersion, in whichever order the text has them. When
 * all of the report is parsed. */
void report_settle_version(report *r);
/* "2026-03-14T08:26:53Z", of seconds since 1970; nothing for 0. */
void report_set_time(report *r, report_fact fact, uint64_t seconds);
void report_text_time(text *t, uint64_t seconds);
/* What a JSON string stands for, in the report's memory. */
machsym_str report_json_str(report *r, const json *doc, uint32_t token);
/* Of the images from first on, the first of those that are alike stays; frames from first_frame on follow. */
void report_merge_images(report *r, uint32_t first, uint32_t first_frame);
/* Finds the image of frames from first_frame on, among those from first_image on, by the address; frames that
 * have one keep it. A frame is placed once: programs of several reports lie at the same addresses. */
void report_place_frames(report *r, uint32_t first_frame, uint32_t first_image);
/* What the user says was loaded is there for all reports of a document. */
void report_place_in_loads(report *r, const report_load *loads, size_t load_count);
/* Which images are the system's, and how long their names are at most. When all is parsed. */
void report_finish_images(report *r);
/* Whether a report that tells no paths means an image of the system. */
bool report_has_system_name(machsym_str name);
bool report_arch_is_arm32(machsym_str arch);
/* The address without pointer authentication, unless the report says that its processor has none. */
uint64_t report_plain_addr(const report *r, uint64_t addr);
/* Whether a name stands where none is known: "<redacted>", "???", the image's own. */
bool report_is_no_name(machsym_str name, machsym_str image);
/* Whether it stands for the names of several functions that the linker made one. */
bool report_is_folded_name(machsym_str name);

#endif
