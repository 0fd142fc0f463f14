/* machsym demangle: names as compilers mangle them to names as programmers write them. */
#include "demangle_text.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: machsym demangle [options] [NAME ...]\n"
    "Prints C++, Swift, Rust and D names in source form, one a line; any other name as it is. Without names\n"
    "standard input is copied, and every mangled name in it replaced.\n"
    "\n"
    "  --style=full        Swift names with modules and types, as `swift demangle` prints them (default)\n"
    "  --style=simplified  Swift names as Apple's crash reports print them\n"
    "  --hash              keep the hashes of Rust names\n"
    "\n"
    "A NAME that begins with - goes after --. Mach-O's extra leading underscore may be there or not.\n";

static bool set_style(uint32_t *flags, const char *style)
{
    if (strcmp(style, "simplified") == 0)
        *flags |= MACHSYM_DEMANGLE_SIMPLIFIED;
    else if (strcmp(style, "full") == 0)
        *flags &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    else
        return false;
    return true;
}

/* Takes one option. Returns false after a message. */
static bool set_option(uint32_t *flags, options *o, const char *name)
{
    if (options_is(o, name, "style")) {
        bool known = set_style(flags, options_value(o, "style"));
        if (!known)
            tool_say("--style is one of full, simplified");
        return known;
    }
    if (options_is(o, name, "hash")) {
        *flags |= MACHSYM_DEMANGLE_RUST_HASH;
        return true;
    }
    tool_say("no such option: -%s; see machsym demangle --help", name);
    return false;
}

static void print_name(const char *name, uint32_t flags)
{
    text line = {0};
    machsym_str mangled = {name, strlen(name)};
    size_t len = machsym_demangle(mangled, flags, NULL, 0);
    line.v = tool_alloc(len + 1);
    line.len = machsym_demangle(mangled, flags, line.v, len + 1);
    line.v[line.len++] = '\n';
    fwrite(line.v, 1, line.len, stdout);
    text_free(&line);
}

static int filter_stdin(uint32_t flags)
{
    if (filter_text(fileno(stdin), stdout, flags) == 0)
        return TOOL_OK;
    tool_say("standard input cannot be copied: %s", strerror(errno));
    return TOOL_ERROR;
}

int cmd_demangle(int argc, char **argv)
{
    options o = {argc, argv, 0, false};
    const char *name;
    const char *operand;
    uint32_t flags = 0;
    const char **names = tool_alloc((size_t)argc * sizeof *names);
    size_t count = 0;
    int status = TOOL_OK;
    bool help = false;
    while (status == TOOL_OK && !help && options_next(&o, &name, &operand)) {
        if (operand != NULL)
            names[count++] = operand;
        else if (options_is(&o, name, "help") || options_is(&o, name, "h"))
            help = true;
        else if (!set_option(&flags, &o, name))
            status = TOOL_ERROR;
    }
    if (help)
        fputs(usage, stdout);
    for (size_t i = 0; i < count && status == TOOL_OK && !help; i++)
        print_name(names[i], flags);
    if (count == 0 && status == TOOL_OK && !help)
        status = filter_stdin(flags);
    free(names);
    return status;
}
