/* machsym: the command-line tool. One file a subcommand; this one only chooses. */
#define MACHSYM_IMPLEMENTATION
#include "tool.h"

#include <string.h>

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} command;

static const command commands[] = {
    {"atos", cmd_atos, "addresses to function, file and line, as Apple's atos prints them"},
    {"info", cmd_info, "what a file holds: slices, UUIDs, sections, debug info, damage"},
    {"crash", cmd_crash, "names and lines into crash reports, .ips, sample, hang, MetricKit, pasted stacks"},
    {"objc", cmd_objc, "Objective-C classes, categories and methods with their addresses"},
    {"symbols", cmd_symbols, "every name that is known of a file, by address, with its source"},
    {"owners", cmd_owners, "whose code it is: libraries linked into a program"},
    {"map", cmd_map, "whole images resolved once: build, lookups, chunks for stores, other formats"},
    {"demangle", cmd_demangle, "C++, Swift, Rust and D names in source form; filters text"},
};

static void print_help(FILE *out)
{
    fputs("machsym " MACHSYM_VERSION ": names and lines for addresses of Apple programs, on any machine\n\n"
          "usage: machsym COMMAND ...\n\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputs("\n`machsym COMMAND --help` tells the options of one. `machsym --version` prints the version.\n",
          out);
}

int main(int argc, char **argv)
{
    posix_start();
    if (argc < 2) {
        print_help(stderr);
        return TOOL_ERROR;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return TOOL_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts(machsym_version());
        return TOOL_OK;
    }
    tool_say("no such command: %s; `machsym --help` lists them", argv[1]);
    return TOOL_ERROR;
}
