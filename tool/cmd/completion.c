/* ==== >> cmd/completion ====
 * Job: the command that tells a shell how to complete a command line.
 * Offers: the command.
 * Never: has names of commands or options of its own.
 *
 * machsym completion: what a shell needs to complete the command line, from the tables that the commands are
 * read by. */
#include "machsym.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/say.h"
#include "commands.h"

#include <string.h>

/* What is written for a shell. All that is quoted stands between single quotes. */
typedef struct shell {
    const char *name;
    void (*begin)(text *t);
    void (*command)(text *t, const command *c);
    const char *end;
} shell;

/* The first line of a help text, quoted: each character of special has a backslash before it, and a quote is
 * written as quote. */
static void completion_text_quoted(text *t, const char *help, const char *special, const char *quote)
{
    for (; *help != 0 && *help != '\n'; help++) {
        if (*help == '\'') {
            text_c(t, quote);
            continue;
        }
        if (strchr(special, *help) != NULL)
            text_char(t, '\\');
        text_char(t, *help);
    }
}

/* The words of a|b|c with blanks between. */
static void completion_text_words(text *t, machsym_str value)
{
    for (size_t i = 0; i < value.len; i++)
        text_char(t, value.ptr[i] == '|' ? ' ' : value.ptr[i]);
}

static void completion_text_list(text *t, const command *const *list)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        text_c(t, i == 0 ? "" : " ");
        text_c(t, command_own_name(list[i]));
    }
}

/* An option of a command, name by name. */
typedef struct option_walk {
    const command *c;
    size_t set;
    const option *o;
    machsym_str rest;
} option_walk;

static bool completion_next_option(option_walk *w)
{
    for (;;) {
        w->o = w->o == NULL ? w->c->options[w->set].v : w->o + 1;
        while (w->o == NULL || options_is_end(w->o)) {
            if (w->o != NULL)
                w->set++;
            if (w->set == OPTION_SETS || w->c->options[w->set].v == NULL)
                return false;
            w->o = w->c->options[w->set].v;
        }
        if (w->o->names == NULL)
            continue;
        w->rest = str_c(w->o->names);
        return true;
    }
}

/* The first value of an option; empty when it takes none. */
static machsym_str completion_first_value(const option *o)
{
    machsym_str rest = str_c(o->value != NULL ? o->value : "");
    machsym_str word = {NULL, 0};
    return options_take_word(&rest, &word) ? word : rest;
}

/* ---- bash ---- */

static void completion_bash_begin(text *t)
{
    text_c(
        t,
        "# machsym completion bash >/etc/bash_completion.d/machsym, or: eval \"$(machsym completion bash)\"\n"
        "_machsym()\n{\n"
        "    local IFS=$' \\t\\n' word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= "
        "value=file\n"
        "    local command=${COMP_WORDS[1]}\n"
        "    if [ \"$word\" = = ]; then\n        word=\n"
        "    elif [ \"$before\" = = ]; then\n        before=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n"
        "    [ \"$COMP_CWORD\" -gt 1 ] || command=\n"
        "    case \"$command\" in\n    '' | help) value='");
    completion_text_list(t, tool_commands);
    text_c(t, " help' ;;\n    esac\n    case \"$command\" in\n");
    for (size_t i = 0; tool_commands[i] != NULL; i++) {
        if (tool_commands[i]->below == NULL)
            continue;
        text_c(t, "    ");
        text_c(t, tool_commands[i]->name);
        text_c(t, ")\n        if [ \"$COMP_CWORD\" -eq 2 ]; then\n            value='");
        completion_text_list(t, tool_commands[i]->below);
        text_c(t, "'\n        else\n            command=\"$command ${COMP_WORDS[2]}\"\n        fi ;;\n");
    }
    text_c(t, "    esac\n    case \"$command\" in\n");
}

static void completion_bash_value(text *t, const option *o)
{
    machsym_str value = completion_first_value(o);
    machsym_str name;
    bool is_first = true;
    option_walk w = {NULL, 0, o, str_c(o->names)};
    text_c(t, "        ");
    while (options_take_word(&w.rest, &name)) {
        text_c(t, is_first ? "" : " | ");
        option_put_name(t, name);
        is_first = false;
    }
    text_c(t, ") value='");
    switch (options_value(value)) {
    case VALUE_FILE: text_c(t, "file"); break;
    case VALUE_FOLDER: text_c(t, "folder"); break;
    case VALUE_WORDS: completion_text_words(t, value); break;
    default: text_c(t, "other"); break;
    }
    text_c(t, "' ;;\n");
}

static void completion_bash_command(text *t, const command *c)
{
    machsym_str name;
    text_c(t, "    '");
    text_c(t, c->name);
    text_c(t, "')\n        options='");
    for (option_walk w = {c, 0, NULL, {NULL, 0}}; completion_next_option(&w);) {
        while (options_take_word(&w.rest, &name)) {
            option_put_name(t, name);
            text_char(t, ' ');
        }
    }
    text_c(t, "--help'\n        case \"$before\" in\n");
    for (option_walk w = {c, 0, NULL, {NULL, 0}}; completion_next_option(&w);) {
        if (w.o->value != NULL)
            completion_bash_value(t, w.o);
    }
    text_c(t, "        *) case \"$word\" in -*) value=$options ;; esac ;;\n        esac ;;\n");
}

static const char bash_end[] =
    "    esac\n"
    "    local words=$value\n"
    "    case \"$value\" in\n"
    "    file) words=$(compgen -f -- \"$word\") && compopt -o filenames 2>/dev/null ;;\n"
    "    folder) words=$(compgen -d -- \"$word\") && compopt -o filenames 2>/dev/null ;;\n"
    "    other) words= ;;\n"
    "    *) words=$(compgen -W \"$value\" -- \"$word\") ;;\n"
    "    esac\n"
    "    COMPREPLY=()\n"
    "    [ -z \"$words\" ] || while IFS= read -r word; do\n"
    "        COMPREPLY+=(\"$word\")\n"
    "    done <<<\"$words\"\n"
    "}\n"
    "complete -F _machsym machsym\n";

/* ---- zsh ---- */

static void completion_zsh_list(text *t, const command *const *list)
{
    text_c(t, "list=(");
    for (size_t i = 0; list[i] != NULL; i++) {
        text_c(t, i == 0 ? "'" : " '");
        text_c(t, command_own_name(list[i]));
        text_char(t, ':');
        completion_text_quoted(t, list[i]->brief, ":\\", "'\\''");
        text_char(t, '\'');
    }
    text_c(t, ")\n        _describe command list\n        return\n    fi\n");
}

static void completion_zsh_begin(text *t)
{
    text_c(t, "#compdef machsym\n# machsym completion zsh >_machsym, in a folder of $fpath\n_machsym() {\n   "
              " local -a list\n"
              "    if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n        ");
    completion_zsh_list(t, tool_commands);
    text_c(t, "    local command=$words[2]\n");
    for (size_t i = 0; tool_commands[i] != NULL; i++) {
        if (tool_commands[i]->below == NULL)
            continue;
        text_c(t, "    if [[ $command == ");
        text_c(t, tool_commands[i]->name);
        text_c(t, " ]] && (( CURRENT == 3 )); then\n        ");
        completion_zsh_list(t, tool_commands[i]->below);
        text_c(t, "    if [[ $command == ");
        text_c(t, tool_commands[i]->name);
        text_c(t, " ]]; then\n        command=\"$command $words[3]\"\n        shift words\n        (( "
                  "CURRENT-- ))\n    fi\n");
    }
    text_c(t, "    shift words\n    (( CURRENT-- ))\n    case $command in\n");
}

static void completion_zsh_option(text *t, const option *o, machsym_str name)
{
    machsym_str rest = str_c(o->value != NULL ? o->value : "");
    machsym_str value;
    text_c(t, " \\\n        '*");
    option_put_name(t, name);
    if (o->value != NULL && name.len > 1 && name.ptr[0] != '-' && strchr(o->value, ' ') == NULL)
        text_char(t, '=');
    text_char(t, '[');
    completion_text_quoted(t, o->help, "[]:\\", "'\\''");
    text_char(t, ']');
    while (options_take_word(&rest, &value)) {
        value_kind kind = options_value(value);
        text_char(t, ':');
        if (kind == VALUE_WORDS)
            text_c(t, "value");
        else
            text_str(t, value);
        text_c(t, kind == VALUE_FILE     ? ":_files"
                  : kind == VALUE_FOLDER ? ":_files -/"
                  : kind == VALUE_WORDS  ? ":("
                                         : ": ");
        if (kind == VALUE_WORDS) {
            completion_text_words(t, value);
            text_char(t, ')');
        }
    }
    text_char(t, '\'');
}

static void completion_zsh_command(text *t, const command *c)
{
    machsym_str name;
    text_c(t, "    '");
    text_c(t, c->name);
    text_c(t, "') _arguments '--help[tells all options]'");
    for (option_walk w = {c, 0, NULL, {NULL, 0}}; completion_next_option(&w);) {
        while (options_take_word(&w.rest, &name))
            completion_zsh_option(t, w.o, name);
    }
    text_c(t, " \\\n        '*:file:_files' ;;\n");
}

static const char zsh_end[] = "    esac\n}\n_machsym \"$@\"\n";

/* ---- fish ---- */

static void completion_fish_list(text *t, const char *above, const command *const *list)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        text_c(t, "complete -c machsym -n \"__machsym_in '");
        text_c(t, above);
        text_c(t, "'\" -f -a ");
        text_c(t, command_own_name(list[i]));
        text_c(t, " -d '");
        completion_text_quoted(t, list[i]->brief, "\\", "\\'");
        text_c(t, "'\n");
    }
}

static void completion_fish_begin(text *t)
{
    text_c(t, "# machsym completion fish >~/.config/fish/completions/machsym.fish\n"
              "function __machsym_in\n    set -l words (commandline -opc)\n    set -e words[1]\n    switch "
              "\"$words[1]\"\n");
    for (size_t i = 0; tool_commands[i] != NULL; i++) {
        if (tool_commands[i]->below == NULL)
            continue;
        text_c(t, "        case ");
        text_c(t, tool_commands[i]->name);
        text_c(t, "\n            set words \"$words[1..2]\"\n");
    }
    text_c(t, "    end\n    test \"$words[1]\" = \"$argv\"\nend\n");
    completion_fish_list(t, "", tool_commands);
    completion_fish_list(t, "help", tool_commands);
    for (size_t i = 0; tool_commands[i] != NULL; i++) {
        if (tool_commands[i]->below != NULL)
            completion_fish_list(t, tool_commands[i]->name, tool_commands[i]->below);
    }
}

static void completion_fish_option(text *t, const command *c, const option *o)
{
    machsym_str rest = str_c(o->names);
    machsym_str name;
    machsym_str value = completion_first_value(o);
    text_c(t, "complete -c machsym -n \"__machsym_in '");
    text_c(t, c->name);
    text_c(t, "'\"");
    while (options_take_word(&rest, &name)) {
        text_c(t, name.ptr[0] == '-' ? " -o " : name.len == 1 ? " -s " : " -l ");
        text_str(t, name.ptr[0] == '-' ? str_make(name.ptr + 1, name.len - 1) : name);
    }
    if (o->value != NULL) {
        value_kind kind = options_value(value);
        text_c(t, kind == VALUE_FILE     ? " -r -F"
                  : kind == VALUE_FOLDER ? " -x -a '(__fish_complete_directories)'"
                  : kind == VALUE_WORDS  ? " -x -a '"
                                         : " -x");
        if (kind == VALUE_WORDS) {
            completion_text_words(t, value);
            text_char(t, '\'');
        }
    }
    text_c(t, " -d '");
    completion_text_quoted(t, o->help, "\\", "\\'");
    text_c(t, "'\n");
}

static void completion_fish_command(text *t, const command *c)
{
    for (option_walk w = {c, 0, NULL, {NULL, 0}}; completion_next_option(&w);)
        completion_fish_option(t, c, w.o);
}

/* ---- The command ---- */

static const shell shells[] = {{"bash", completion_bash_begin, completion_bash_command, bash_end},
                               {"zsh", completion_zsh_begin, completion_zsh_command, zsh_end},
                               {"fish", completion_fish_begin, completion_fish_command, ""}};

static void completion_text_commands(text *t, const shell *s, const command *const *list)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        if (list[i]->below != NULL)
            completion_text_commands(t, s, list[i]->below);
        else
            s->command(t, list[i]);
    }
}

static int completion_run(int argc, char **argv)
{
    char unused = 0;
    text t = {0};
    int count = options_parse(&completion_command, &unused, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&completion_command, "a shell is needed, and one");
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(argv[1], shells[i].name) != 0)
            continue;
        shells[i].begin(&t);
        completion_text_commands(&t, &shells[i], tool_commands);
        text_c(&t, shells[i].end);
        out_text(&t);
        text_free(&t);
        return TOOL_OK;
    }
    return options_wrong(&completion_command, "the shell is one of bash, zsh, fish");
}

const command completion_command = {
    "completion",
    "what bash, zsh or fish need to complete this command line",
    "bash|zsh|fish",
    "Prints what a shell needs to complete commands, options and their values. `make install` has installed "
    "it;\n"
    "else: eval \"$(machsym completion bash)\" in .bashrc, machsym completion zsh >_machsym in a folder of "
    "$fpath,\n"
    "machsym completion fish >~/.config/fish/completions/machsym.fish.\n",
    {{NULL, 0}},
    NULL,
    completion_run,
    NULL,
};
