/* ==== >> cmd/atos/answer ====
 * Job: opens what atos is asked about, and finds and prints the answer to one word.
 * Offers: atos, target, finding; answer_open_targets, answer_find, answer_print.
 * Never: reads the words. */
#ifndef MACHSYM_TOOL_CMD_ATOS_ANSWER_H
#define MACHSYM_TOOL_CMD_ATOS_ANSWER_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "../../base/takes.h"
#include "../../files/open.h"
#include "../../symbols/bcsymbolmap.h"
#include "../../symbols/nearest.h"
#include "../../symbols/objects.h"
#include "../../symbols/owners.h"
#include "../../symbols/source.h"
#include "../../symbols/symbols.h"

enum { MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1 };

/* What the given addresses count from. */
typedef enum address_kind {
    ADDRESS_FILE = 0,
    ADDRESS_LOAD,
    ADDRESS_SLIDE,
    ADDRESS_OFFSET,
    ADDRESS_TEXT_EXEC
} address_kind;

/* One -o, or an image of a kernel collection or a shared cache. */
typedef struct target {
    symbol_file file;
    /* Of a shared cache or a kernel collection, by address. Each is opened when an address is for it. */
    struct target *images;
    size_t image_count;
    struct open_images *open; /* which of them are open */
    struct target *next_open; /* of an image: the next one that is */
    char *entry;              /* the path or name of one of these */
    uint64_t entry_addr;
    bool is_tried;      /* it is open, or cannot be opened */
    bool was_open;      /* its damage was reported */
    uint64_t text_addr; /* what a load address stands for: a collection's own for all its images */
    uint64_t text_exec_addr;
    symbol_source *source;
    nearest *below;         /* NULL without --nearest */
    owners_image *owned;    /* NULL without --owners */
    bcsymbolmap *names;     /* that a bitcode build hid; NULL: none, or they were not needed */
    bool seeks_names;       /* they were not looked for yet */
    machsym_cursor objects; /* those of the debug map that were spoken of */
} target;

/* What the options say. */
typedef struct atos {
    const char *paths[64];
    size_t path_count;
    target *targets;
    size_t target_count;
    image_options image; /* which slice; without an entry all images of a kernel collection or a cache */
    address_kind kind;
    uint64_t base;
    bool inline_frames;
    bool dedup;
    bool folded;
    bool stack;
    bool is_decided; /* of the word at hand: its caller says which function of one body it is */
    bool nearest;
    bool json;
    bool explain;
    bool asks_one; /* see symbol_desc */
    bool strict;
    bool base64;       /* map chunk: its input is */
    bool print_header; /* accepted: there is no live process to tell of */
    const char *delimiter;
    const char *input;
    owners *rules; /* NULL without --owners */
    symbols_options symbols;
    machsym_bytes bytes; /* a map, in place of -o */
    lines_option lines;
    uint32_t session_flags;
    frame_style style;
    object_options objects;
    bool unresolved;                  /* an address stayed without a name */
    bool answered_many;               /* words were answered together: their units are decoded */
    machsym_frame frames[MAX_FRAMES]; /* the last field: never cleared */
} atos;

/* A word of the input. */
typedef struct token {
    uint64_t number;
    size_t len;
    bool is_number;
} token;

/* What was found for a word. */
typedef struct finding {
    target *t;     /* NULL: it is for none, or the word is no number */
    uint64_t addr; /* in its file */
    size_t count;  /* of frames, in atos.frames */
} finding;

/* Says what was found damaged while one address was answered. */
void answer_say_met_damage(const atos *a);
/* Opens what the options name. Returns false after a message; close in both cases. */
bool answer_open_targets(atos *a);
void answer_close_targets(atos *a);
/* The target that an address is for, and the address in its file; NULL when there is none. */
target *answer_target_of(atos *a, uint64_t given, uint64_t *addr);

/* The names that a bitcode build hid, looked for once; NULL: there are none. */
const bcsymbolmap *answer_hidden_names(target *t);

/* Settles what was found for a word of a target, in atos.frames: names that a bitcode build hid, and what is
 * to be said of it. */
void answer_settle(atos *a, const finding *found, const token *word);
/* Finds the frames for a word of the input. */
finding answer_find(atos *a, const token *word);
/* Appends the answer: what was found for a word. */
void answer_print(atos *a, text *out, const finding *found, const token *word, const char *written);
/* Whether an answer with frames is a line for each of them. */
bool answer_prints_lines(const atos *a);
/* Appends the line of one frame of such an answer. */
void answer_print_line(atos *a, text *out, const finding *found, const token *word, size_t frame);
/* Appends the answer for a word of the input. */
void answer_word(atos *a, text *out, const token *word, const char *written);

#endif
