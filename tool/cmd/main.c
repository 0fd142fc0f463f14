/* ==== >> cmd/main ====
 * Job: chooses the subcommand.
 * Offers: main.
 * Never: does a subcommand's work.
 *
 * machsym: the command-line tool. One file a subcommand; this one only chooses. */
#include "machsym.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/posix.h"
#include "../base/say.h"
#include "apple.h"
#include "commands.h"
#include "../files/outfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const command *const tool_commands[] = {&atos_command,
                                        &info_command,
                                        &crash_command,
                                        &objc_command,
                                        &symbols_command,
                                        &find_command,
                                        &owners_command,
                                        &map_command,
                                        &store_command,
                                        &check_command,
                                        &cache_command,
                                        &worker_command,
                                        &mcp_command,
                                        &demangle_command,
                                        &completion_command,
                                        &install_names_command,
                                        NULL};

static void main_text_help(text *t)
{
    text_c(t,
           "machsym " MACHSYM_VERSION ": names and lines for addresses of Apple programs, on any machine\n\n"
           "usage: machsym COMMAND ...\n\n");
    command_put_list(t, tool_commands);
    text_c(t, "\n`machsym help COMMAND` tells the options of one; -V, --version prints the version.\n"
              "exit status: 0 all that was asked is done, 1 something failed or is damaged, 2 usage\n");
}

static const char *const help_words[] = {"help", "--help", "-help", "-h", NULL};

static bool main_is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

/* machsym help, machsym help map build */
static int main_run_help(int argc, char **argv)
{
    text t = {0};
    const command *c = argc > 0 ? command_find(tool_commands, argc, argv) : NULL;
    if (argc > 0 && c == NULL && !main_is_one_of(argv[0], help_words)) {
        const command *above = argc > 1 ? command_find(tool_commands, 1, argv) : NULL;
        if (above != NULL && above->below != NULL)
            command_say_none(above->below, above->name, argv[1]);
        else
            command_say_none(tool_commands, "", argv[0]);
        return TOOL_USAGE;
    }
    if (c != NULL)
        command_put_help(&t, c);
    else
        main_text_help(&t);
    out_text(&t);
    text_free(&t);
    return TOOL_OK;
}

/* The program was called by a name of Apple's: that is its command. */
static int main_run_called(int argc, char **argv, const char *name)
{
    char **words = mem_alloc(((size_t)argc + 2) * sizeof *words);
    words[0] = argv[0];
    words[1] = (char *)(uintptr_t)name;
    for (int i = 1; i <= argc; i++) /* the NULL too */
        words[i + 1] = argv[i];
    int status = command_run(called_commands, argc + 1, words);
    free(words);
    return status;
}

static int main_run(int argc, char **argv)
{
    static const char *const version[] = {"--version", "-version", "-V", NULL};
    const char *name = argc > 0 ? called_name(argv[0]) : NULL;
    if (name != NULL)
        return main_run_called(argc, argv, name);
    if (argc < 2) {
        text t = {0};
        main_text_help(&t);
        fwrite(t.v, 1, t.len, stderr);
        text_free(&t);
        return TOOL_USAGE;
    }
    if (main_is_one_of(argv[1], help_words))
        return main_run_help(argc - 2, argv + 2);
    if (!main_is_one_of(argv[1], version))
        return command_run(tool_commands, argc, argv);
    out_format("%s\n", machsym_version());
    return TOOL_OK;
}

int main(int argc, char **argv)
{
    posix_start(&argc, &argv);
    outfile_start();
    return say_finish_output(status_end(main_run(argc, argv)));
}
