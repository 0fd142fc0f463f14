/* Options; see options.h. */
#include "options.h"
#include "out.h"
#include "say.h"

#include <stdlib.h>

enum { OPTIONS_HELP = -1, OPTIONS_WRONG = -2, HELP_COLUMN = 22 };

/* ---- What a misspelt word may stand for ---- */

enum { NEAR_LEN = 32, NEAR_EDITS = 2 };

/* Letters in lower case, without the dashes that people leave out. Returns how many; 0: too many. */
static size_t option_near_letters(machsym_str word, char out[NEAR_LEN])
{
    size_t len = 0;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (c == '-' || c == '_')
            continue;
        if (len == NEAR_LEN)
            return 0;
        out[len++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    return len;
}

/* How many letters must be put in, left out or changed to make one word of the other; swapped neighbours are
 * two. SIZE_MAX: a word is too long, or too short to tell. */
static size_t option_edits(machsym_str one, machsym_str other)
{
    char a[NEAR_LEN];
    char b[NEAR_LEN];
    size_t row[NEAR_LEN + 1];
    size_t a_len = option_near_letters(one, a);
    size_t b_len = option_near_letters(other, b);
    if (a_len < 3 || b_len < 3)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 0; i < a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            size_t changed = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            size_t moved = (row[j] < diagonal ? row[j] : diagonal) + 1;
            row[j + 1] = changed < moved ? changed : moved;
        }
    }
    return row[b_len];
}

/* Takes a word as the one that was meant, if it is nearer than what was found before. Words of four letters
 * may differ in one. */
static void option_take_nearer(machsym_str written, machsym_str word, machsym_str *best, size_t *least)
{
    size_t count = option_edits(written, word);
    size_t most = written.len < 5 ? 1 : NEAR_EDITS;
    if (count <= most && count < *least) {
        *best = word;
        *least = count;
    }
}

/* ---- The command line ---- */

bool options_take_word(machsym_str *rest, machsym_str *word)
{
    size_t len = str_find(*rest, " ");
    size_t skip = len < rest->len ? len + 1 : len;
    *word = str_make(rest->ptr, len);
    *rest = str_make(rest->ptr + skip, rest->len - skip);
    return word->len > 0;
}

static bool option_goes_by(const option *o, machsym_str name)
{
    machsym_str rest = str_c(o->names != NULL ? o->names : "");
    machsym_str word;
    while (options_take_word(&rest, &word)) {
        if (word.ptr[0] == '-')
            word = str_make(word.ptr + 1, word.len - 1);
        if (str_equal(word, name))
            return true;
    }
    return false;
}

bool options_is_end(const option *o)
{
    return o->names == NULL && o->help == NULL;
}

/* The option that goes by a name, and the field that it sets; NULL when there is none. */
static const option *option_find(const command *c, void *to, machsym_str name, void **field)
{
    for (size_t i = 0; i < OPTION_SETS && c->options[i].v != NULL; i++) {
        for (const option *o = c->options[i].v; !options_is_end(o); o++) {
            if (option_goes_by(o, name)) {
                *field = (char *)to + c->options[i].at + o->at;
                return o;
            }
        }
    }
    return NULL;
}

static bool option_set_field(const option *o, void *field, const char *value)
{
    if (o->take != NULL)
        return o->take(field, value);
    if (o->value == NULL)
        *(bool *)field = true;
    else
        *(const char **)field = value;
    return true;
}

/* -j8: a number may follow a letter at once. */
static bool option_has_number(machsym_str written)
{
    return written.len > 1 && written.ptr[1] >= '0' && written.ptr[1] <= '9';
}

/* An option as it is written: "--name=value", "-j8". */
typedef struct written_option {
    const option *o;   /* NULL: there is none of that name */
    void *field;       /* that it sets */
    const char *value; /* after "=" or a letter; NULL: none */
    int len;           /* of its name, with dashes */
} written_option;

static written_option option_read(const command *c, void *to, const char *arg)
{
    const char *name = arg[1] == '-' ? arg + 2 : arg + 1;
    const char *equals = strchr(name, '=');
    machsym_str written = {name, equals != NULL ? (size_t)(equals - name) : strlen(name)};
    written_option w = {NULL, NULL, equals != NULL ? equals + 1 : NULL,
                        (int)(name - arg + (ptrdiff_t)written.len)};
    w.o = option_find(c, to, written, &w.field);
    if (w.o == NULL && option_has_number(written)) {
        w.o = option_find(c, to, str_make(name, 1), &w.field);
        if (w.o != NULL && w.o->value != NULL)
            w.value = name + 1;
        else
            w.o = NULL;
    }
    return w;
}

/* Whether an argument is an option of the command. As a value it has to stand after "=": a value was
 * forgotten more often than a file is called so. */
static bool option_is_written(const command *c, void *to, const char *arg)
{
    return arg[0] == '-' && arg[1] != 0 && option_read(c, to, arg).o != NULL;
}

static void option_say_none(const command *c, machsym_str written)
{
    machsym_str best = {NULL, 0};
    size_t least = SIZE_MAX;
    text meant = {0};
    for (size_t i = 0; i < OPTION_SETS && c->options[i].v != NULL; i++) {
        for (const option *o = c->options[i].v; !options_is_end(o); o++) {
            machsym_str rest = str_c(o->names != NULL ? o->names : "");
            machsym_str word;
            while (options_take_word(&rest, &word))
                option_take_nearer(written, word, &best, &least);
        }
    }
    if (best.len > 0) {
        text_c(&meant, " did you mean ");
        option_put_name(&meant, best);
        text_c(&meant, "?");
    }
    say_message("no such option: %.*s;%.*s see machsym %s --help", (int)written.len, written.ptr,
                (int)meant.len, meant.len > 0 ? meant.v : "", c->name);
    text_free(&meant);
}

/* Takes the option at argv[*at], and moves to the last of its values. */
static bool option_take_option(const command *c, void *to, int argc, char **argv, int *at)
{
    const char *arg = argv[*at];
    written_option w = option_read(c, to, arg);
    if (w.o == NULL) {
        option_say_none(c, str_make(arg, (size_t)w.len));
        return false;
    }
    if (w.o->value == NULL && w.value != NULL) {
        say_message("%.*s takes no value; see machsym %s --help", w.len, arg, c->name);
        return false;
    }
    machsym_str values = str_c(w.o->value != NULL ? w.o->value : "");
    machsym_str word;
    if (w.o->value == NULL)
        return option_set_field(w.o, w.field, NULL);
    while (options_take_word(&values, &word)) {
        if (w.value == NULL && *at + 1 < argc && !option_is_written(c, to, argv[*at + 1]))
            w.value = argv[++*at];
        if (w.value == NULL) {
            say_message("%s needs a value, %s; see machsym %s --help", arg, w.o->value, c->name);
            return false;
        }
        if (!option_set_field(w.o, w.field, w.value))
            return false;
        w.value = NULL;
    }
    return true;
}

static const char *running = ""; /* set before any thread begins */

const char *options_command(void)
{
    return running;
}

static bool option_is_help(const char *arg)
{
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-help") == 0 || strcmp(arg, "-h") == 0;
}

int options_parse(const command *c, void *to, int argc, char **argv)
{
    int count = 0;
    bool only_operands = false;
    running = c->name;
    for (int at = 1; at < argc; at++) {
        const char *arg = argv[at];
        if (only_operands || arg[0] != '-' || arg[1] == 0 ||
            arg[1] == '[') { /* "-[Class method]" is a name */
            argv[++count] = argv[at];
        } else if (strcmp(arg, "--") == 0) {
            only_operands = true;
        } else if (option_is_help(arg)) {
            text help = {0};
            command_put_help(&help, c);
            out_text(&help);
            text_free(&help);
            return OPTIONS_HELP;
        } else if (!option_take_option(c, to, argc, argv, &at)) {
            return OPTIONS_WRONG;
        }
    }
    return count;
}

int options_status(int parsed)
{
    return parsed == OPTIONS_HELP ? TOOL_OK : TOOL_USAGE;
}

int options_wrong(const command *c, const char *what)
{
    if (what == NULL) {
        text help = {0};
        command_put_help(&help, c);
        fwrite(help.v, 1, help.len, stderr);
        text_free(&help);
    } else {
        say_message("%s; see machsym %s --help", what, c->name);
    }
    return TOOL_USAGE;
}

/* ---- Help ---- */

value_kind options_value(machsym_str word)
{
    static const char *const files[] = {"FILE", "PATH", "FILE|DIR", "OUT", "RULES", NULL};
    for (size_t i = 0; files[i] != NULL; i++) {
        if (str_is(word, files[i]))
            return VALUE_FILE;
    }
    if (str_is(word, "DIR"))
        return VALUE_FOLDER;
    return word.len > 0 && word.ptr[0] >= 'a' && word.ptr[0] <= 'z' ? VALUE_WORDS : VALUE_OTHER;
}

void option_put_name(text *t, machsym_str name)
{
    text_c(t, name.ptr[0] == '-' ? "" : name.len == 1 ? "-" : "--");
    text_str(t, name);
}

/* "-i, -inlineFrames", "--json", "-o FILE", "--to=FORMAT". */
static void option_put_names(text *t, const option *o)
{
    machsym_str rest = str_c(o->names);
    machsym_str word = {NULL, 0};
    bool is_first = true;
    bool is_long = false;
    while (options_take_word(&rest, &word)) {
        is_long = word.len > 1 && word.ptr[0] != '-';
        text_c(t, is_first ? "" : ", ");
        option_put_name(t, word);
        is_first = false;
    }
    if (o->value == NULL)
        return;
    text_char(t, is_long && strchr(o->value, ' ') == NULL ? '=' : ' ');
    text_c(t, o->value);
}

static void option_put_indent(text *t, size_t from, size_t to)
{
    do
        text_char(t, ' ');
    while (t->len - from < to);
}

static void option_put_help(text *t, const option *o)
{
    machsym_str rest = str_c(o->help);
    machsym_str line;
    size_t at = t->len;
    if (o->names == NULL) {
        text_str(t, rest);
        text_char(t, '\n');
        return;
    }
    text_c(t, "  ");
    option_put_names(t, o);
    while (str_take_line(&rest, &line)) {
        if (t->len - at > HELP_COLUMN - 2) { /* two blanks part a name from its help */
            text_char(t, '\n');
            at = t->len;
        }
        option_put_indent(t, at, HELP_COLUMN);
        text_str(t, line);
        text_char(t, '\n');
        at = t->len;
    }
}

void command_put_list(text *t, const command *const *list)
{
    size_t longest = 10;
    for (size_t i = 0; list[i] != NULL; i++)
        longest = strlen(list[i]->name) > longest ? strlen(list[i]->name) : longest;
    for (size_t i = 0; list[i] != NULL; i++) {
        size_t at = t->len;
        text_c(t, "  ");
        text_c(t, list[i]->name);
        option_put_indent(t, at, longest + 4);
        text_c(t, list[i]->brief);
        text_char(t, '\n');
    }
}

void command_put_help(text *t, const command *c)
{
    text_c(t, "usage: machsym ");
    text_c(t, c->name);
    text_char(t, ' ');
    text_c(t, c->usage);
    text_char(t, '\n');
    text_c(t, c->about);
    if (c->below != NULL) {
        text_char(t, '\n');
        command_put_list(t, c->below);
    }
    for (size_t i = 0; i < OPTION_SETS && c->options[i].v != NULL; i++) {
        text_c(t, i == 0 ? "\n" : "");
        for (const option *o = c->options[i].v; !options_is_end(o); o++)
            option_put_help(t, o);
    }
    if (c->more != NULL) {
        text_char(t, '\n');
        text_c(t, c->more);
    }
}

/* ---- Commands ---- */

const char *command_own_name(const command *c)
{
    const char *blank = strrchr(c->name, ' ');
    return blank != NULL ? blank + 1 : c->name;
}

const command *command_find(const command *const *list, int argc, char **argv)
{
    for (size_t i = 0; argc > 0 && list[i] != NULL; i++) {
        if (strcmp(argv[0], command_own_name(list[i])) != 0)
            continue;
        if (argc == 1 || list[i]->below == NULL)
            return list[i];
        return command_find(list[i]->below, argc - 1, argv + 1);
    }
    return NULL;
}

void command_say_none(const command *const *list, const char *above, const char *written)
{
    machsym_str best = {NULL, 0};
    size_t least = SIZE_MAX;
    text meant = {0};
    const char *blank = above[0] != 0 ? " " : "";
    for (size_t i = 0; list[i] != NULL; i++)
        option_take_nearer(str_c(written), str_c(command_own_name(list[i])), &best, &least);
    if (best.len > 0) {
        text_c(&meant, " did you mean ");
        text_str(&meant, best);
        text_c(&meant, "?");
    }
    say_message("no such command: %s%s%s;%s see machsym %s%s--help", above, blank, written, text_z(&meant),
                above, blank);
    text_free(&meant);
}

static int option_run_below(const command *c, int argc, char **argv)
{
    text help = {0};
    int status = TOOL_USAGE;
    command_put_help(&help, c);
    if (argc < 2) {
        fwrite(help.v, 1, help.len, stderr);
    } else if (option_is_help(argv[1])) {
        out_text(&help);
        status = TOOL_OK;
    } else {
        const command *found = command_find(c->below, 1, argv + 1);
        if (found == NULL)
            command_say_none(c->below, c->name, argv[1]);
        else
            status = found->run(argc - 1, argv + 1);
    }
    text_free(&help);
    return status;
}

int command_run(const command *const *list, int argc, char **argv)
{
    const command *c = command_find(list, 1, argv + 1);
    if (c == NULL) {
        if (argv[1][0] == '-')
            say_message(
                "%s: options come after a command: machsym COMMAND %s ...; `machsym --help` lists the "
                "commands",
                argv[1], argv[1]);
        else
            command_say_none(list, "", argv[1]);
        return TOOL_USAGE;
    }
    return c->below != NULL ? option_run_below(c, argc - 1, argv + 1) : c->run(argc - 1, argv + 1);
}
