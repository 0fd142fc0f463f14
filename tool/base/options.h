/* ==== >> base/options ====
 * Job: options and help of commands, from one table each.
 * Offers: option, command; options_parse, options_status, command_run, command_find,
 * command_put_help.
 * Never: knows a command.
 *
 * Options of a command: one table says what they are called, what they set, and what help says of them. */
#ifndef MACHSYM_TOOL_OPTIONS_H
#define MACHSYM_TOOL_OPTIONS_H

#include "machsym.h"
#include "../../report/base/text.h"

/* An option. On the command line it has one or two dashes; its value follows after "=" or as the next
 * argument. */
typedef struct option {
    /* With blanks between; help writes one dash for a letter, two for a word, a given one as it is. NULL: a
     * line of help that parts options. */
    const char *names;
    /* What help calls its value, a word for each if there are several. NULL: it takes none. Words in lower
     * case with | between are all values that there are. Shells complete those, and by options_value what is
     * a path. */
    const char *value;
    const char *help; /* may have several lines */
    size_t at;        /* of the field that it sets, in what its table is for */
    /* Sets the field, once for each value. Returns false after a message. NULL: a flag sets a bool, others a
     * const char *. */
    bool (*take)(void *field, const char *value);
} option;

/* A table of options, ended by an empty one, and where in what the command is given lies what they set. */
typedef struct option_set {
    const option *v;
    size_t at;
} option_set;

enum { OPTION_SETS = 6 };

/* A command, or one that only has others below it. */
typedef struct command {
    const char *name;  /* with the names of those above it: "map build" */
    const char *brief; /* in the list of commands */
    const char *usage; /* what follows the name */
    const char *about; /* what it does, in lines */
    option_set options[OPTION_SETS];
    const char *more;                   /* lines after the options */
    int (*run)(int argc, char **argv);  /* argv[0] is the name; returns an exit status */
    const struct command *const *below; /* ended by NULL */
} command;

/* Takes the options into *to and leaves the operands at argv[1] and on. Returns how many these are; or a
 * negative number when the command is to end with options_status of it: help was printed, or a message. */
int options_parse(const command *c, void *to, int argc, char **argv);
int options_status(int parsed);
/* The name of the command whose options were taken last; "" before. */
const char *options_command(void);
/* Says what is wrong with a command line; with NULL prints the help to standard error. Returns the exit
 * status. */
int options_wrong(const command *c, const char *what);

/* Says that a list has no command of this name, and which one may be meant; above is what stands before
 * it. */
void command_say_none(const command *const *list, const char *above, const char *written);

typedef enum value_kind {
    VALUE_OTHER = 0,
    VALUE_FILE, /* or a folder */
    VALUE_FOLDER,
    VALUE_WORDS /* those with | between */
} value_kind;

/* What a word of option.value stands for. */
value_kind options_value(machsym_str word);
/* Takes a word off a list with blanks between, and returns false when there is none. */
bool options_take_word(machsym_str *rest, machsym_str *word);
/* Whether an option ends its table. */
bool options_is_end(const option *o);
/* An option's name as help writes it: "-o", "--json". */
void option_put_name(text *t, machsym_str name);
/* The last word of a command's name. */
const char *command_own_name(const command *c);

/* A line for each command. */
void command_put_list(text *t, const command *const *list);
/* The help of a command. */
void command_put_help(text *t, const command *c);
/* Runs the command that argv[1] names. above is "" or the names of those above, and a blank. */
int command_run(const command *const *list, int argc, char **argv);
/* The command that arguments name; NULL when there is none. */
const command *command_find(const command *const *list, int argc, char **argv);

#endif
