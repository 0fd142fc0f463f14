/* ==== >> read/lines ====
 * Job: which lines of text there are, for readers of text.
 * Offers: text_parse_numbered and its kin.
 * Never: reads one: each format is a file of its own.
 *
 * The readers of lines of text, one file for each format. A reader returns false if a line is not in its format.
 * text.c tries them. */
#ifndef REPORT_LINES_H
#define REPORT_LINES_H

#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"

/* Formats whose lines are recognised one by one, in the order of the attempts: text_parse_NAME. */
#define READ_LINES(X)                                                                                        \
    X(lldb)  /* lldb's `bt`: its threads and frames */                                                       \
    X(hash)  /* "#0 0xADDR in NAME File.c:1 (Image:arm64+0xOFF)" of sanitizers, "#00 abs ADDR NAME" */       \
    X(swift) /* Swift's own backtraces: "0 [ra] 0xADDR NAME + 4 in Image at /File.swift:1:2" */              \
    X(place) /* "0xADDR - /path/Image : NAME" of Mono, "<UUID> + OFFSET" of logs */

#define READ_LINE(name) bool text_parse_##name(text_parser *p, text_line line);
READ_LINES(READ_LINE)
#undef READ_LINE

/* Crash reports and leaks: "12  Image name  0xADDR ...", or "12 0xADDR". */
bool text_parse_numbered(text_parser *p, text_line line);
/* sample, spindump and similar tools: drawing, a count, a name, "[0xADDR]". */
bool text_parse_tree(text_parser *p, text_line line);
/* Reads a pasted row of addresses that begins at lo. Returns where the text continues; 0 if there is no
 * row. */
size_t text_parse_row(text_parser *p, size_t lo, size_t line_end);
/* "0x1000 - 0x1fff +Name arm64 <uuid> /path"; the end may be "???". */
bool text_parse_image(text_parser *p, machsym_str s);
/* What sanitizers and Swift print about the error before their stacks. */
bool text_parse_error(text_parser *p, machsym_str s);
/* A title that names a kind, or a line under such a title. s: the line without surrounding blanks. */
bool text_parse_titled(text_parser *p, text_line line, machsym_str s);
/* Begins the next process of a report of several processes. Earlier images do not belong to it. */
void text_parse_next_process(text_parser *p);
/* Whether a line begins a kernel panic's text, and whether it belongs to one. */
bool text_begins_panic(machsym_str s);
void text_parse_panic(text_parser *p, text_line line);
/* lldb's `image list`: "[  0] UUID 0xLOAD PATH". */
bool text_parse_lldb_image(text_parser *p, machsym_str s);

/* Begins the state of a thread: its registers, or the instructions around its pc follow. */
void text_parse_state_title(text_parser *p, uint64_t number, bool in_code);
/* "    x0: 0x0000000000000000   x1: 0x0000000000001111", "Error Code: 0x00000004". */
bool text_parse_state(text_parser *p, machsym_str s);

/* ---- Crashlytics ---- */

/* Whether a line belongs to Crashlytics' console without being a frame: a header, the title of a stack. */
bool text_parse_crashlytics(text_parser *p, machsym_str s);
/* Whether a frame says that its symbols are missing. The image that it names is added. */
bool text_parse_missing(text_parser *p, report_frame *frame, machsym_str s);
/* Finds the images of frames from first_frame on, among the images from first_image on. */
void text_place_missing(report *r, uint32_t first_frame, uint32_t first_image);

#endif
