/* ==== >> takes ====
 * Job: takes the values of options that several commands have, and says what is wrong with one.
 * Offers: uuid_option, lines_option; take_uuid, take_lines, take_jobs, take_full_names, take_best_line,
 *         take_names, take_word.
 * Never: knows a command. */
#ifndef MACHSYM_TOOL_TAKES_H
#define MACHSYM_TOOL_TAKES_H

#include "machsym.h"

typedef struct uuid_option {
    machsym_uuid uuid;
    bool is_set;
} uuid_option;

typedef struct lines_option {
    machsym_lines lines;
    bool is_set;
} lines_option;

/* For tables of options; each says what is wrong with a value. */
bool take_uuid(void *field, const char *value);       /* a uuid_option */
bool take_lines(void *field, const char *value);      /* a lines_option */
bool take_jobs(void *field, const char *value);       /* an unsigned: threads */
bool take_full_names(void *field, const char *value); /* machsym_demangle_flags */
bool take_best_line(void *field, const char *value);  /* machsym_session_flags */
bool take_names(void *field, const char *value);      /* the same */

/* The index of a value among the words that an option has, words[0] to words[count - 1], in *index. Says which
 * there are when it is another word, and returns false. */
bool take_word(const char *option, const char *value, const char *const *words, unsigned count,
               unsigned *index);

/* What all that have it say of --names. */
#define HELP_NAMES                                                                                           \
    "whose name counts: the symbol table's where there is one, or the debug info's;\nwithout it the debug "  \
    "info's linkage name, else a symbol that has the function's\nname in it or is mangled"

#endif
