/* ==== >> model/scan ====
 * Job: what readers of text share: the lines of the shadow, numbers in them, the current thread.
 * Offers: scan_view, scan_begin, scan_line, scan_blanks, scan_line_before, scan_word, scan_decimal,
 * scan_address, scan_plus, scan_open_thread, scan_thread_at_hand, scan_add_frame, scan_split_given,
 * scan_set_given and its kin.
 * Never: knows a format.
 *
 * Each line is scanned once. */
#ifndef MACHSYM_TOOL_SCAN_H
#define MACHSYM_TOOL_SCAN_H

#include "machsym.h"
#include "report.h"

/* A line of the shadow. */
typedef struct text_line {
    size_t at;
    size_t end;  /* end of its text */
    size_t next; /* begin of the next line */
} text_line;

/* The part of a report that the lines are in. */
typedef enum text_section {
    SECTION_HEADER = 0,
    SECTION_STACK,
    SECTION_IMAGES,
    SECTION_STATE,
    SECTION_INFO
} text_section;

/* The title above the current lines. */
typedef enum titled_kind {
    TITLED_NONE = 0,
    TITLED_LOGGED,  /* a thread of BSBacktraceLogger and similar loggers */
    TITLED_IMAGES,  /* of a process in a text stackshot */
    TITLED_PROCESS, /* its threads */
    TITLED_UMENG,   /* the image that its frames are in */
    TITLED_KOTLIN   /* an exception */
} titled_kind;

/* A title, and what the lines below it say. */
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
    size_t next_lf; /* next end of a line of each kind, from the current line on; hi: no more */
    size_t next_cr;
    frame_escape escape;
    text_section section;
    bool open;         /* the last thread still takes frames */
    machsym_str error; /* the error as tools report it, if the report has no exception; may be empty */
    machsym_str error_place;
    machsym_str process; /* of a spindump: the process of the threads that follow */
    bool is_panic;       /* the lines belong to a kernel panic */
    uint32_t kernel;     /* the kernel's image; REPORT_NONE: not known yet */
    titled title;
    bool leaks;            /* stacks have the outermost frame first */
    bool crashlytics;      /* titles of stacks follow */
    uint64_t named_number; /* of "Thread N name:", for the thread that follows */
    machsym_str named;
    size_t info_at;      /* where Application Specific Information begins */
    size_t reason_at;    /* begin of a Termination Reason that may go on; SIZE_MAX: absent */
    uint32_t tree_frame; /* the last tree frame, and the column of its count */
    size_t tree_column;
    machsym_str log;       /* the last prefix that a log put before a line; may be empty */
    machsym_uuid build_id; /* of the Dart program whose frames follow */
    bool has_build_id;
    uint32_t process_frame; /* first frame and image of the current process: a spindump holds many */
    uint32_t process_image;
    uint32_t first_thread; /* of this text: earlier threads belong to other reports */
    uint32_t state_thread; /* the thread whose registers or instructions follow; REPORT_NONE: no thread */
    bool in_code;          /* its instructions follow */
    size_t region_at;      /* begin of VM Region Info, which has several lines; SIZE_MAX: absent */
} text_parser;

/* ---- Scanning ---- */

machsym_str scan_view(const text_parser *p, size_t lo, size_t hi);
/* Whether text of the body may have characters of several bytes that are one in the shadow: entities, no-break spaces. */
bool scan_is_padded(machsym_str body);
/* A range of the shadow or of the body as it is meant: each of these is one character, without the blanks that keep its place. */
machsym_str scan_plain(report *r, machsym_str s);
void scan_begin(text_parser *p, size_t lo); /* call it before the first line */
text_line scan_line(text_parser *p, size_t at);
size_t scan_blanks(const text_parser *p, size_t at, size_t end); /* returns the index after them */
machsym_str scan_line_before(const text_parser *p, size_t at);
size_t scan_word(const text_parser *p, size_t at, size_t end);
/* Decimal digits at s[*at]; moves past them. */
bool scan_decimal(machsym_str s, size_t *at, uint64_t *out);
/* "0x" and hexadecimal digits at s[*at], ended by another byte; moves past them. */
bool scan_address(machsym_str s, size_t *at, uint64_t *out);
/* " + N" or " + -N" at s[at]; returns the index after it, or at. */
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

/* ---- The current report ---- */

report_thread *scan_open_thread(text_parser *p);
report_thread *scan_thread_at_hand(text_parser *p); /* the last one while it takes frames, else a new one */
report_frame *scan_add_frame(text_parser *p, text_line line, frame_form form);

/* Splits "NAME + 12 (File.m:34)" after an address. */
void scan_split_given(report_frame *frame, machsym_str s);
/* Sets the name of a frame in the same way, unless the text is not a name. */
void scan_set_given(report_frame *frame, machsym_str s);

/* Whether a line is a numbered frame of an image, with an address of as many digits as real ones have. */
bool scan_is_numbered(machsym_str s);
/* Whether a line certainly belongs to a report, alone or after the prefix of a mail or a log. */
bool scan_is_line(machsym_str s);
/* Returns the length of the prefix of a report's line: blanks, and the prefix of a mail or a log. */
size_t scan_prefix_len(machsym_str line);
/* Returns the same for a line of a log. *log is the prefix of the last line that certainly belonged to a
 * report; it is updated. */
size_t scan_log_len(machsym_str line, machsym_str shadow, machsym_str *log);
/* Returns the log prefix of the first line that certainly belongs to a report; empty if there is no prefix,
 * or if that line comes late. */
machsym_str scan_first_log(machsym_str s);
/* Overwrites the prefix with blanks in the shadow. */
void scan_blank_prefix(text_parser *p, text_line line);

#endif
