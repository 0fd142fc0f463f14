/* machsym demangle: names as compilers mangle them to names as programmers write them. */
#include "demangle_text.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool take_style(void *field, const char *style)
{
    uint32_t *flags = field;
    if (strcmp(style, "simplified") == 0)
        *flags |= MACHSYM_DEMANGLE_SIMPLIFIED;
    else if (strcmp(style, "full") == 0)
        *flags &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    else {
        tool_say("--style is one of full, simplified, not %s", style);
        return false;
    }
    return true;
}

static bool take_hash(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field |= MACHSYM_DEMANGLE_RUST_HASH;
    return true;
}

static bool take_all(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field &= ~(uint32_t)MACHSYM_DEMANGLE_IN_TEXT;
    return true;
}

static void print_name(const char *name, uint32_t flags)
{
    text line = {0};
    machsym_str mangled = {name, strlen(name)};
    size_t len = machsym_demangle(mangled, flags, NULL, 0);
    line.len = machsym_demangle(mangled, flags, text_room(&line, len + 1), len + 1);
    text_end_line(&line, 0);
    out_text(&line);
    text_free(&line);
}

static int run_demangle(int argc, char **argv)
{
    uint32_t flags = MACHSYM_DEMANGLE_IN_TEXT;
    int count = options_parse(&demangle_command, &flags, argc, argv);
    if (count < 0)
        return options_status(count);
    for (int i = 1; i <= count; i++)
        print_name(argv[i], flags & ~(uint32_t)MACHSYM_DEMANGLE_IN_TEXT);
    if (count > 0 || filter_text(fileno(stdin), flags) == 0 || out_failed())
        return TOOL_OK;
    tool_say("standard input cannot be copied: %s", strerror(errno));
    return TOOL_ERROR;
}

static const option table[] = {
    {"style", "full|simplified",
     "full: Swift names with modules and types, as `swift demangle` prints them\n(default); simplified: as "
     "Apple's "
     "crash reports print them",
     0, take_style},
    {"hash", NULL, "keep the hashes of Rust names", 0, take_hash},
    {"all", NULL,
     "in text, replace all that the grammars take, bare types and markers too, as\n$sSi is and a variable "
     "$el",
     0, take_all},
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
    run_demangle,
    NULL,
};
