/* ==== >> cmd/demangle ====
 * Job: the command that writes mangled names in source form.
 * Offers: the command.
 * Never: knows a language.
 *
 * machsym demangle: names as compilers mangle them to names as programmers write them. */
#include "machsym.h"
#include "../../report/base/json_put.h"
#include "../../report/base/names.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "commands.h"
#include "demangle_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool demangle_take_style(void *field, const char *style)
{
    uint32_t *flags = field;
    if (strcmp(style, "simplified") == 0)
        *flags |= MACHSYM_DEMANGLE_SIMPLIFIED;
    else if (strcmp(style, "full") == 0)
        *flags &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    else {
        say_message("--style is one of full, simplified, not %s", style);
        return false;
    }
    return true;
}

static bool demangle_take_hash(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field |= MACHSYM_DEMANGLE_RUST_HASH;
    return true;
}

static bool demangle_take_all(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field &= ~(uint32_t)MACHSYM_DEMANGLE_IN_TEXT;
    return true;
}

typedef struct demangle_options {
    uint32_t flags;
    bool json;
} demangle_options;

static void demangle_print_name(machsym_str mangled, const demangle_options *o)
{
    text name = {0};
    uint32_t flags = o->flags & ~(uint32_t)MACHSYM_DEMANGLE_IN_TEXT;
    text_demangled(&name, mangled, flags);
    if (o->json) {
        text line = {0};
        json_begin(&line, "demangle");
        json_put_key(&line, "linkage_name");
        text_json(&line, mangled);
        json_put_key(&line, "name");
        text_json(&line, (machsym_str){name.v, name.len});
        text_c(&line, "}\n");
        out_text(&line);
        text_free(&line);
    } else {
        text_end_line(&name, 0);
        out_text(&name);
    }
    text_free(&name);
}

/* A file that is named in place of names: its text is standard input's. */
static void demangle_say_file(const char *name)
{
    struct stat st;
    text same = {0};
    text_demangled(&same, str_c(name), 0);
    if (str_is((machsym_str){same.v, same.len}, name) && file_stat(name, &st) && S_ISREG(st.st_mode))
        say_message(
            "%s: no mangled name, but there is such a file; for the names in it: machsym demangle <FILE",
            name);
    text_free(&same);
}

/* A name a line, in place of a text with names in it. */
static int demangle_print_lines(const demangle_options *o)
{
    text input = {0};
    machsym_str line;
    const char *why = file_read(&input, "-");
    machsym_str rest = {input.v, input.len};
    if (why != NULL)
        say_message("standard input: %s", why);
    while (why == NULL && !out_failed() && str_take_line(&rest, &line))
        demangle_print_name(line, o);
    text_free(&input);
    return why == NULL ? TOOL_OK : TOOL_ERROR;
}

static int demangle_run(int argc, char **argv)
{
    demangle_options o = {MACHSYM_DEMANGLE_IN_TEXT, false};
    int count = options_parse(&demangle_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    for (int i = 1; i <= count; i++) {
        demangle_print_name(str_c(argv[i]), &o);
        demangle_say_file(argv[i]);
    }
    if (count == 0 && o.json)
        return demangle_print_lines(&o);
    if (count > 0 || filter_text(fileno(stdin), o.flags) == 0 || out_failed())
        return TOOL_OK;
    say_message("standard input cannot be copied: %s", strerror(errno));
    return TOOL_ERROR;
}

static const option table[] = {
    {"style", "full|simplified",
     "full: Swift names with modules and types, as `swift demangle` prints them\n(default); simplified: as "
     "Apple's "
     "crash reports print them",
     0, demangle_take_style},
    {"hash", NULL, "keep the hashes of Rust names", 0, demangle_take_hash},
    {"all", NULL,
     "in text, replace all that the grammars take, bare types and markers too, as\n$sSi is and a variable "
     "$el",
     0, demangle_take_all},
    {"json", NULL, "one JSON object a name; standard input has one a line", offsetof(demangle_options, json),
     NULL},
    {0},
};

const command demangle_command = {
    "demangle",
    "C++, Swift, Rust and D names in source form; filters text",
    "[options] [NAME ...]",
    "Prints C++, Swift, Rust and D names in source form, one a line; any other name as it is. Without names\n"
    "standard input is copied, and every mangled name of a symbol in it replaced.\n",
    {{table, 0}},
    "A NAME that begins with - goes after --. Mach-O's extra leading underscore may be there or not.\n",
    demangle_run,
    NULL,
};
