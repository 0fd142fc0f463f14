/* Runs commands in turn, for several rounds, and prints time and memory of each.
 *
 *   measure ROUNDS REPEATS < commands
 *
 * A command is one line: LABEL, the file for its standard input (or -), the program and its arguments, all
 * separated by tabs. Its output goes to /dev/null. In every round every command runs REPEATS times, one
 * command after the other, so that a noisy moment of the machine hits all alike. Prints a line each:
 *
 *   LABEL  MEDIAN-SECONDS  MEDIAN-CPU-SECONDS  PEAK-RSS-KB  PEAK-ANONYMOUS-KB  EXIT-STATUS
 *
 * Memory comes from one more run that is not timed: anonymous pages are what a program needs beyond the
 * files it maps. They are sampled while it runs, and read once more when it stops just before its exit. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_COMMANDS = 32, MAX_ARGS = 2048, MAX_RUNS = 4096 };

typedef struct command { /* One line of the input with what was measured. */
    char *label, *input, *args[MAX_ARGS];
    double seconds[MAX_RUNS], cpu[MAX_RUNS];
    int runs, status;
    long rss_kb, anon_kb;
} command;

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static const char *input_path(const command *c)
{
    return strcmp(c->input, "-") ? c->input : "/dev/null";
}

static void run_timed(command *c)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, input_path(c), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    double start = now();
    int failed = posix_spawn(&pid, c->args[0], &files, NULL, c->args, environ);
    struct rusage usage;
    if (failed || wait4(pid, &c->status, 0, &usage) < 0) {
        fprintf(stderr, "measure: cannot run %s: %s\n", c->args[0], strerror(failed ? failed : errno));
        exit(1);
    }
    c->seconds[c->runs] = now() - start;
    c->cpu[c->runs++] = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    if (usage.ru_maxrss > c->rss_kb)
        c->rss_kb = usage.ru_maxrss;
    posix_spawn_file_actions_destroy(&files);
}

static void sample_anonymous(command *c, pid_t pid)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "r");
    long kb;
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "RssAnon: %ld", &kb) == 1 && kb > c->anon_kb)
            c->anon_kb = kb;
    if (in)
        fclose(in);
}

static void start_traced(const command *c)
{
    int in = open(input_path(c), O_RDONLY), out = open("/dev/null", O_WRONLY);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execv(c->args[0], c->args);
    _exit(127);
}

static void run_for_memory(command *c)
{
    const struct timespec pause = {0, 300000};
    int status;
    pid_t pid = fork();
    if (pid == 0)
        start_traced(c);
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
        return;
    ptrace(PTRACE_SETOPTIONS, pid, NULL,
           (void *)(long)(PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    for (;;) {
        pid_t changed = waitpid(pid, &status, WNOHANG);
        if (changed < 0 || (changed && !WIFSTOPPED(status)))
            return;
        sample_anonymous(c, pid);
        if (!changed) {
            nanosleep(&pause, NULL);
            continue;
        }
        long signal = status >> 16 ? 0 : WSTOPSIG(status);
        ptrace(PTRACE_CONT, pid, NULL, (void *)signal);
    }
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int read_commands(command *v)
{
    char *line = NULL;
    size_t room = 0;
    int count = 0;
    for (ssize_t len; count < MAX_COMMANDS && (len = getline(&line, &room, stdin)) > 0; count++) {
        line[len - (line[len - 1] == '\n')] = 0;
        char *rest = strdup(line);
        v[count].label = strsep(&rest, "\t");
        v[count].input = strsep(&rest, "\t");
        for (int i = 0; rest && i < MAX_ARGS - 1; i++)
            v[count].args[i] = strsep(&rest, "\t");
        if (!v[count].input || !v[count].args[0]) {
            fprintf(stderr, "measure: not LABEL, INPUT, PROGRAM: %s\n", line);
            exit(1);
        }
    }
    free(line);
    return count;
}

int main(int argc, char **argv)
{
    static command v[MAX_COMMANDS];
    int rounds = argc == 3 ? atoi(argv[1]) : 0, repeats = argc == 3 ? atoi(argv[2]) : 0;
    if (rounds < 1 || repeats < 1 || rounds > MAX_RUNS / repeats) {
        fprintf(stderr, "usage: measure ROUNDS REPEATS < commands\n");
        return 1;
    }
    int count = read_commands(v);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++)
            for (int n = 0; n < repeats; n++)
                run_timed(&v[i]);
    for (int i = 0; i < count; i++) {
        command *c = &v[i];
        run_for_memory(c);
        qsort(c->seconds, (size_t)c->runs, sizeof c->seconds[0], compare_seconds);
        qsort(c->cpu, (size_t)c->runs, sizeof c->cpu[0], compare_seconds);
        printf("%s\t%.6f\t%.6f\t%ld\t%ld\t%d\n", c->label, c->seconds[c->runs / 2], c->cpu[c->runs / 2],
               c->rss_kb, c->anon_kb,
               WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 128 + WTERMSIG(c->status));
    }
    return 0;
}
