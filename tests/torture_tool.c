/* Files cut short and with bits flipped through every subcommand of the tool, which is linked in: starting a process for
 * each would take days. See tests/torture.sh, which makes this with sanitizers.
 *
 *   build/fuzzed/tests/torture_tool [--map=FILE.symmap] [--cuts=N] [--flips=N] [--seed=N] [--only=VARIANT] FILE ...
 *
 * Commands run one after another in a child, on variant after variant, until one of them exits, crashes or takes too
 * long; the next child goes on after it. A variant is the same on every machine; what fails is named with its output. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "variants.h"

int tool_main(int argc, char **argv); /* the tool's main */

/* What sanitizers find must not look like the tool's own statuses. Children that stop in the middle leave
 * memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=77:detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=8";
}

/* SECONDS of processor time for all commands on a variant. What commands do not free stays until their child
 * ends. So a child ends after CHILD_VARIANTS variants or about CHILD_BYTES bytes of them. */
enum { SECONDS = 60, WORDS = 12, CHILD_VARIANTS = 64, CHILD_BYTES = 4000000 };

/* {file} is the variant, {out} a file that may be written, {map} the map of --map. Commands that read
 * standard input read the variant. */
static const char *const commands[][WORDS] = {
    {"info", "{file}"},
    {"atos", "-o", "{file}", "-offset", "-i", "--explain", "0", "0x10", "0x7a4", "0x1238", "0x4004"},
    {"atos", "-o", "{file}", "-arch", "arm64", "--lines=stmt", "--best-line", "--json", "-fullPath", "-f",
     "{file}"},
    {"symbols", "{file}"},
    {"objc", "--json", "{file}"},
    {"owners", "{file}"},
    {"owners", "--rules", "{file}", "tests/fixtures/bin/demo.app.dSYM"},
    {"owners", "--linkmap", "{file}", "tests/fixtures/bin/demo.app.dSYM"},
    {"map", "build", "-j", "1", "--columns", "-o", "{out}", "{file}"},
    {"map", "import", "--format=bugly", "--name", "x", "-o", "{out}", "{file}"},
    {"map", "info", "{file}"},
    {"map", "dump", "{file}"},
    {"map", "lookup", "{file}", "0", "0x100000a94", "0x100000aec"},
    {"map", "verify", "{map}", "{file}"},
    {"map", "export", "--format=breakpad", "-o", "{out}", "{file}"},
    {"map", "export", "--chunks=4096", "--format=resp", "-o", "{out}", "{file}"},
    {"map", "chunk", "0x10", "0x100"},
    {"crash", "-q", "--no-cache", "-d", "{file}", "-o", "{out}", "{file}"},
    {"crash", "-q", "--no-cache", "-d", "{map}", "--to=json", "--all", "-o", "{out}", "{file}"},
    {"crash", "-q", "--no-cache", "-d", "{map}", "--to=text", "-o", "{out}", "{file}"},
    {"crash", "-q", "--no-cache", "-d", "{map}", "--summary", "{file}"},
    {"crash", "-q", "--no-cache", "-d", "{map}", "--group", "{file}"},
    {"crash", "-q", "--no-cache", "-d", "{map}", "--bcsymbolmap", "{file}", "{file}"},
    {"demangle"},
    {"check", "{file}"},
    {"find", "{file}", "a*"},
    {"find", "--json", "{file}", "queue.hpp:13"},
    {"dwarfdump", "--uuid", "{file}"},
    {"dwarfdump", "--lookup=0x100000aec", "{file}"},
    {"dwarfdump", "--lookup=0x1000007e0", "{file}"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static char folder[] = "/dev/shm/torture.XXXXXX";
static char variant_path[64];
static char out_path[64];
static char log_path[64];
static const char *map_path = "none"; /* --map=PATH */

/* How many runs the children have begun: number n is command n % COMMANDS on variant n / COMMANDS. Shared
 * with them. */
static volatile unsigned long *begun;

/* A command as the child runs it: words filled in, standard input the variant. */
static void run_command(const char *const *words)
{
    char *argv[WORDS + 2];
    int argc = 0;
    bool is_called_so = strcmp(words[0], "dwarfdump") == 0; /* a name of Apple's, not a subcommand */
    argv[argc++] = (char *)(uintptr_t)(is_called_so ? words[0] : "machsym");
    for (unsigned i = is_called_so; i < WORDS && words[i] != NULL; i++) {
        const char *word = strcmp(words[i], "{file}") == 0  ? variant_path
                           : strcmp(words[i], "{out}") == 0 ? out_path
                           : strcmp(words[i], "{map}") == 0 ? map_path
                                                            : words[i];
        argv[argc++] = (char *)(uintptr_t)word;
    }
    argv[argc] = NULL;
    fflush(stdin);
    int in = open(variant_path, O_RDONLY);
    if (in < 0 || dup2(in, 0) < 0)
        _exit(99);
    close(in);
    clearerr(stdin);
    tool_main(argc, argv);
}

/* Writes the variant and gives it its time. */
static void begin_variant(const variant_file *file, long index, const variant_options *o)
{
    struct itimerval limit = {{0, 0}, {SECONDS, 0}};
    size_t len;
    uint8_t *bytes = variant_make(file, index, o, &len);
    variant_save(variant_path, bytes, len);
    free(bytes);
    if (setitimer(ITIMER_PROF, &limit, NULL) != 0)
        _exit(99);
}

/* Does runs [first, end). Never returns. */
static void child(const variant_file *file, const variant_options *o, unsigned long first, unsigned long end)
{
    int quiet = open("/dev/null", O_WRONLY);
    int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (quiet < 0 || log < 0 || dup2(quiet, 1) < 0 || dup2(log, 2) < 0)
        _exit(99);
    for (unsigned long n = first; n < end; n++) {
        if (n == first || n % COMMANDS == 0)
            begin_variant(file, (long)(n / COMMANDS), o);
        *begun = n + 1;
        run_command(commands[n % COMMANDS]);
        if (ftruncate(2, 0) == 0)
            lseek(2, 0, SEEK_SET);
    }
    fflush(stdout);
    _exit(0);
}

static void print_log(void)
{
    char line[512];
    FILE *log = fopen(log_path, "r");
    for (unsigned i = 0; i < 40 && log != NULL && fgets(line, sizeof line, log) != NULL; i++)
        fputs(line, stdout);
    if (log != NULL)
        fclose(log);
}

static void print_failure(const char *path, unsigned long n, int status)
{
    const char *const *words = commands[n % COMMANDS];
    printf("torture: %s, --only=%lu, status 0x%x:", path, n / COMMANDS, (unsigned)status);
    for (unsigned i = 0; i < WORDS && words[i] != NULL; i++)
        printf(" %s", words[i]);
    putchar('\n');
    print_log();
}

/* Does runs [first, end) in a child, as far as it comes. Returns its status, -1 when there is no child. */
static int run_child(const variant_file *file, const variant_options *o, unsigned long first,
                     unsigned long end)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        child(file, o, first, end);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 ? status : -1;
}

/* Runs every command on every variant. A run fails when it ends by a signal, or with a status that the tool
 * does not have. */
static void torture(const char *path, const variant_options *o, unsigned long counts[2])
{
    variant_file file = variant_read(path);
    unsigned long variants = (unsigned long)(o->only >= 0 ? o->only + 1 : o->cuts + o->flips);
    unsigned long step = CHILD_BYTES / (file.len + 1) + 1;
    step = step < CHILD_VARIANTS ? step : CHILD_VARIANTS;
    *begun = o->only >= 0 ? COMMANDS * (unsigned long)o->only : 0;
    while (*begun < COMMANDS * variants) {
        unsigned long first = *begun;
        unsigned long last = first / COMMANDS + step;
        int status = run_child(&file, o, first, COMMANDS * (last < variants ? last : variants));
        bool good = *begun > first && WIFEXITED(status) && WEXITSTATUS(status) <= 2;
        if (*begun == first)
            *begun = first + 1; /* the child did not come so far as to begin it: on after it */
        counts[0] += *begun - first - !good;
        counts[1] += !good;
        if (!good)
            print_failure(path, *begun - 1, status);
    }
    free(file.ptr);
}

int main(int argc, char **argv)
{
    variant_options o = {4, 4, 1, -1};
    unsigned long counts[2] = {0, 0};
    begun = (volatile unsigned long *)mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (begun == MAP_FAILED || mkdtemp(folder) == NULL) {
        puts("torture: no memory to share, or no folder for the variants");
        return 1;
    }
    snprintf(variant_path, sizeof variant_path, "%s/file", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--map=", 6) == 0)
            map_path = argv[i] + 6;
        else if (!variant_option(argv[i], &o))
            torture(argv[i], &o, counts);
    }
    unlink(variant_path);
    unlink(out_path);
    unlink(log_path);
    rmdir(folder);
    printf("%lu passed, %lu failed, 0 skipped\n", counts[0], counts[1]);
    return counts[1] == 0 && counts[0] > 0 ? 0 : 1;
}
