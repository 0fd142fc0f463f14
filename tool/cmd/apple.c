/* Names of Apple's tools: a link to machsym that is called so does what people's scripts ask of them. */
#include "apple.h"
#include "machsym.h"
#include "../../report/base/text.h"
#include "../base/out.h"
#include "../base/posix.h"
#include "../base/say.h"
#include "commands.h"
#include "crash/crash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- symbolicatecrash ---- */

typedef struct symbolicate_options {
    const char *output;
    const char *dsyms[MAX_STORES];
    size_t dsym_count;
    bool verbose;
    bool ignored;
} symbolicate_options;

static bool called_take_dsym(void *field, const char *value)
{
    symbolicate_options *o = field;
    if (o->dsym_count == MAX_STORES) {
        say_message("at most %d -d", (int)MAX_STORES);
        return false;
    }
    o->dsyms[o->dsym_count++] = value;
    return true;
}

static const option symbolicate_table[] = {
    {"d dsym", "PATH", "a dSYM, or a folder of some; may repeat", 0, called_take_dsym},
    {"o output", "FILE", "where to write; without it standard output", offsetof(symbolicate_options, output),
     NULL},
    {"v verbose", NULL, "tell of each report what was found", offsetof(symbolicate_options, verbose), NULL},
    {"A", NULL, "taken, and without effect", offsetof(symbolicate_options, ignored), NULL},
    {0},
};

static const command symbolicate_command;

static int called_run_symbolicate(int argc, char **argv)
{
    static crash_options crash;
    static symbolicate_options o;
    memset(&o, 0, sizeof o);
    crash_options_begin(&crash);
    int count = options_parse(&symbolicate_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count == 0)
        return options_wrong(&symbolicate_command, "no report is named");
    if (o.dsym_count + (size_t)count - 1 > MAX_STORES)
        return options_wrong(&symbolicate_command, "too many places of symbols are named");
    if (getenv("DEVELOPER_DIR") != NULL)
        say_message("DEVELOPER_DIR is not used: names of the system come from a shared cache or a folder "
                    "that -d names");
    for (size_t i = 0; i < o.dsym_count; i++)
        crash.stores[crash.store_count++] = o.dsyms[i];
    for (int i = 2; i <= count; i++)
        crash.stores[crash.store_count++] = argv[i];
    crash.output = o.output;
    crash.quiet = !o.verbose;
    int status = crash_lookups_begin(&crash) ? crash_run_reports(&crash, argv + 1, NULL, 1) : TOOL_ERROR;
    crash_lookups_end(&crash);
    return status;
}

static const command symbolicate_command = {
    "symbolicatecrash",
    "names and lines into a crash report, as Apple's script is called",
    "[options] REPORT [PLACE OF SYMBOLS...]",
    "Puts function names and lines into a report; machsym crash does the same, and has more options.\n",
    {{symbolicate_table, 0}},
    NULL,
    called_run_symbolicate,
    NULL,
};

const command *const called_commands[] = {&atos_command, &symbolicate_command, &called_dwarfdump_command,
                                          NULL};

const char *called_name(const char *program)
{
    machsym_str base = str_base_name(str_c(program));
    for (size_t i = 0; called_commands[i] != NULL; i++) {
        if (str_equal(base, str_c(called_commands[i]->name)))
            return called_commands[i]->name;
    }
    return NULL;
}

/* ---- install-names ---- */

/* Makes a link in a folder. One that is there already is well if it is such a link. Returns false after a
 * message. */
static bool called_link(const char *dir, const char *name, const char *program)
{
    text path = {0};
    struct stat st;
    text_c(&path, dir);
    text_char(&path, '/');
    text_c(&path, name);
    int failure = posix_link_to(program, text_z(&path)) ? 0 : errno;
    struct stat own;
    bool ok =
        failure == 0 || (failure == EEXIST && stat(text_z(&path), &st) == 0 && stat(program, &own) == 0 &&
                         st.st_dev == own.st_dev && st.st_ino == own.st_ino);
    if (!ok)
        say_message("%s: %s", text_z(&path),
                    failure == EEXIST
                        ? "is there already, and is not this program: remove it, or name another folder"
                        : strerror(failure));
    else
        out_line("%s", text_z(&path));
    text_free(&path);
    return ok;
}

static const option install_table[] = {{0}};

static int called_run_install(int argc, char **argv)
{
    int none;
    bool ok = true;
    int count = options_parse(&install_names_command, &none, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&install_names_command, "name one folder, which is in PATH");
    char *program = posix_own_path();
    if (program == NULL) {
        say_message("this system does not tell where machsym lies: make links to it called atos, "
                    "symbolicatecrash and dwarfdump");
        return TOOL_ERROR;
    }
    for (size_t i = 0; called_commands[i] != NULL; i++)
        ok = called_link(argv[1], called_commands[i]->name, program) && ok;
    free(program);
    return ok ? TOOL_OK : TOOL_ERROR;
}

const command install_names_command = {
    "install-names",
    "links called atos, symbolicatecrash and dwarfdump, for scripts that call these",
    "DIR",
    "Makes links to this program in a folder, with the names of Apple's tools. Called so it takes their\n"
    "options: all of atos; of symbolicatecrash -d, -o, -v, -A; of dwarfdump --uuid, --lookup and --arch. A\n"
    "file that has such a name already stays as it is.\n",
    {{install_table, 0}},
    NULL,
    called_run_install,
    NULL,
};
