/* ==== >> model/scan ====
 * Job: what readers of text share: the lines of the shadow, numbers in them, the thread at hand.
 * Offers: scan_view, scan_begin, scan_line, scan_blanks, scan_line_before, scan_word, scan_decimal,
 * scan_address, scan_plus, scan_open_thread, scan_thread_at_hand, scan_add_frame, scan_split_given,
 * scan_set_given and its kin.
 * Never: knows a format.
 *
 * What the parsers of text reports share: the lines of the shadow, numbers in them, the thread at hand. Each
 * line is looked at once. */
#ifndef MACHSYM_TOOL_SCAN_H
#define MACHSYM_TOOL_SCAN_H

#include "machsym.h"
#include "report.h"

/* A line of the shadow. */
typedef struct text_line {
    size_t at;
    size_t end;  /* of its text */
    size_t next; /* of the next line */
} text_line;

/* Which part of a report the lines are in. */
typedef enum text_section {
    SECTION_HEADER = 0,
    SECTION_STACK,
    SECTION_IMAGES,
    SECTION_STATE,
    SECTION_INFO
} text_section;

/* Which title the lines at hand stand under. */
typedef enum titled_kind {
    TITLED_NONE = 0,
    TITLED_LOGGED,  /* a thread of BSBacktraceLogger and its kin */
    TITLED_IMAGES,  /* of a process in a text stackshot */
    TITLED_PROCESS, /* its threads */
    TITLED_UMENG,   /* the image that its frames are in */
    TITLED_KOTLIN   /* an exception */
} titled_kind;

/* A title, and what was told below it. */
typedef struct titled {
    titled_kind kind;
    machsym_str image;
    machsym_str arch;
    machsym_uuid uuid;
    bool has_uuid;
} titled;

/* The state of one pass over text. */
typedef struct text_parser {
    report *r;
    size_t hi;
    size_t
        next_lf; /* the next end of a line of either kind, at the line at hand or after; hi: there is none */
    size_t next_cr;
    frame_escape escape;
    text_section section;
    bool open;         /* the last thread of the report takes frames */
    machsym_str error; /* what tools say of it, where the report has no exception; empty: nothing */
    machsym_str error_place;
    machsym_str process; /* whose threads follow in a spindump */
    bool is_panic;       /* the lines are of a kernel's panic */
    uint32_t kernel;     /* its image; REPORT_NONE: not told yet */
    titled title;
    bool leaks;            /* stacks are outermost first */
    bool crashlytics;      /* titles of stacks follow */
    uint64_t named_number; /* of "Thread N name:", for the thread that follows */
    machsym_str named;
    size_t info_at;      /* where Application Specific Information begins */
    size_t reason_at;    /* where a Termination Reason begins that may go on; SIZE_MAX: there is none */
    uint32_t tree_frame; /* the tree frame before, and the column of its count */
    size_t tree_column;
    machsym_str log;       /* what stood ahead of the last line that a log had put there; empty: nothing */
    machsym_uuid build_id; /* of the Dart program whose frames follow */
    bool has_build_id;
    uint32_t process_frame; /* the first frame and image of the process at hand: spindump holds many */
    uint32_t process_image;
    uint32_t first_thread; /* of the text: those before belong to other reports */
    uint32_t state_thread; /* whose registers or instructions follow; REPORT_NONE: no thread's */
    bool in_code;          /* its instructions */
    size_t region_at; /* where VM Region Info begins, which goes on over lines; SIZE_MAX: there is none */
} text_parser;

/* ---- Scanning ---- */

machsym_str scan_view(const text_parser *p, size_t lo, size_t hi);
void scan_begin(text_parser *p, size_t lo); /* before the first line */
text_line scan_line(text_parser *p, size_t at);
size_t scan_blanks(const text_parser *p, size_t at, size_t end); /* after them */
machsym_str scan_line_before(const text_parser *p, size_t at);
size_t scan_word(const text_parser *p, size_t at, size_t end);
/* Decimal digits at s[*at]; moves past them. */
bool scan_decimal(machsym_str s, size_t *at, uint64_t *out);
/* "0x" and hexadecimal digits at s[*at], ended by a byte that is none; moves past them. */
bool scan_address(machsym_str s, size_t *at, uint64_t *out);
/* " + N" or " + -N" at s[at]; returns the place after, or at. */
size_t scan_plus(machsym_str s, size_t at);

static inline bool scan_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool scan_is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* ---- The report at hand ---- */

report_thread *scan_open_thread(text_parser *p);
report_thread *scan_thread_at_hand(text_parser *p); /* the last one while it takes frames, or a new one */
report_frame *scan_add_frame(text_parser *p, text_line line, frame_form form);

/* Takes "NAME + 12 (File.m:34)" after an address apart. */
void scan_split_given(report_frame *frame, machsym_str s);
/* The same of what a frame is called, unless that is no name. */
void scan_set_given(report_frame *frame, machsym_str s);

/* Whether a line is a numbered frame of an image, whose address has no fewer digits than real ones have. */
bool scan_is_numbered(machsym_str s);
/* Whether a line is certain to be a report's, alone or after what a mail or a log put ahead of it. */
bool scan_is_line(machsym_str s);
/* How long that is which stands ahead of a report's line: blanks, and what a mail or a log put there. */
size_t scan_prefix_len(machsym_str line);
/* The same of a line in a log, of which *log is what stood ahead of the last line that was certain to be a
 * report's; it moves on. */
size_t scan_log_len(machsym_str line, machsym_str shadow, machsym_str *log);
/* What a log put ahead of the first line of a text that is certain to be a report's; empty: nothing, or that
 * line is far below. */
machsym_str scan_first_log(machsym_str s);
/* Makes blanks of it in the shadow. */
void scan_blank_prefix(text_parser *p, text_line line);

#endif
