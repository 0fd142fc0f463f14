/* ==== >> cmd/atos/lines ====
 * Job: keeps the answers of many addresses small until they are printed.
 * Offers: atos_lines; lines_start, lines_add, lines_print.
 * Never: looks an address up.
 *
 * machsym atos: the answers of many addresses, kept small until they are printed in the order of the words.
 * A line that is made of a name, a file and a number is kept as references to them; only other lines are kept
 * as text. Answers share the lines of the frames that they have in common, from the outermost on. */
#ifndef MACHSYM_TOOL_CMD_ATOS_LINES_H
#define MACHSYM_TOOL_CMD_ATOS_LINES_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "../../base/room.h"
#include "answer.h"

/* A line of an answer, or several that no other answer has. */
typedef struct atos_line {
    union {
        const char *name;
        size_t at; /* of a kept text, which is all that is printed */
    } text;
    uint32_t len;  /* of the text */
    uint32_t file; /* NO_FILE: the number is the offset in the function; KEPT_TEXT */
    uint32_t number;
    uint32_t outer; /* the line after it; NO_LINE: there is none */
} atos_line;

enum { NO_LINE = 0, NO_FILE = 0, KEPT_TEXT = 1, FIRST_FILE = 2 };

/* Lines in the order of their numbers, a fixed number in a block: blocks stay where they are, and what is
 * left of the last one is not touched. */
enum { LINE_BITS = 13, LINES_OF_BLOCK = 1 << LINE_BITS };

/* A frame of the last answer, and the line it has. */
typedef struct atos_lined {
    machsym_frame frame;
    uint32_t line;
} atos_lined;

/* A name that was shown lately. */
typedef struct atos_recent_name {
    machsym_str whole;
    machsym_str shown; /* empty: it has to be shown otherwise */
} atos_recent_name;

/* A file that was referred to lately. */
typedef struct atos_recent_file {
    machsym_str whole;
    uint32_t number; /* 0: as above */
} atos_recent_file;

enum { RECENT_NAMES = 256, RECENT_FILES = 64 };

/* The lines of what one thread answers. */
typedef struct atos_lines {
    atos *a;
    atos_line **blocks;
    size_t block_cap;
    size_t count;       /* of lines; the first stands for none */
    machsym_str *files; /* the first two stand for none */
    size_t file_count;
    size_t file_cap;
    text kept;
    text in_image; /* what stands between a name and what follows; empty: all lines are kept as text */
    machsym_str delimiter;
    text spelled;    /* one name */
    room *room;      /* for lines and copies; NULL: there are few */
    pool few_copies; /* of what does not stay where it is */
    char *copy_at;   /* the same in the room */
    size_t copy_left;
    atos_recent_name recent_names[RECENT_NAMES];
    atos_recent_file recent_files[RECENT_FILES];
    atos_lined last[MAX_FRAMES]; /* outermost first */
    size_t last_count;
    const target *last_target;
    unsigned last_trims; /* of its source: names of frames before are gone */
} atos_lines;

/* Gets lines ready for a number of answers. They refer to what the sources of a have: those must live on, and
 * so must the room. That of few answers is NULL. */
void lines_start(atos_lines *lines, atos *a, size_t answers, room *shared);
/* Adds what was found for a word of some target. Returns the number of the answer's first line. */
uint32_t lines_add(atos_lines *lines, const finding *found, const token *word);
/* Ends the program: the numbers of lines, or what is made of them, have 32 bits. */
void lines_too_many(void);
/* Appends an answer's lines. */
void lines_print(const atos_lines *lines, uint32_t line, text *out);
/* Asks memory for an answer's first line; for that after it, once the first one is near; and for the texts
 * of all, once these are. */
void lines_fetch_first(const atos_lines *lines, uint32_t line);
void lines_fetch_outer(const atos_lines *lines, uint32_t line);
void lines_fetch_texts(const atos_lines *lines, uint32_t line);
void lines_free(atos_lines *lines);

#endif
