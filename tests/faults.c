/* Plants one fault at a time into runs of a program: each system call of a run fails once with each of five errors, and
 * each call for memory fails once, and once with all that follow. Holds every run to one rule:
 *
 *   exit 0 only with the output of the run without a fault, on standard output and in files; another status comes with a
 *   message; no file is left in part, changed or lost, no temporary file stays; no crash, no hang; and what a run left
 *   does not change what the next one gives.
 *
 * System calls fail by seccomp's user notification: this program answers for the kernel, call by call. That needs Linux
 * 5.5 and no privilege. Memory fails by a library that is loaded before the program (faults_memory.c).
 *
 * Usage: faults [--table] PROGRAM LIBRARY FOLDER TABLE KNOWN
 * A row of TABLE: name|seed|input|words. A run begins in a copy of the folder FOLDER/seeds/SEED; input is a file for
 * standard input, or nothing. A row |||words after it: files as this command writes them may be there, too, when a system
 * call failed, not memory: of a file of symbols that cannot be read a report lacks the names. A line of KNOWN: a pattern of cases, a tab, why they are not mended: they count as
 * broken, but not as a failure. Environment: SAMPLE: one of how many faults is planted; JOBS: runs at a time;
 * FAULTS_ONLY: a pattern of rows; FAULTS_KIND: calls or memory, which then fails once; FAULTS_SECONDS: that a run
 * may take.
 * Prints a line for each broken case; with --table the table; "N passed, N failed, N skipped". Exit status: 77 where the
 * system lets no process answer for it, 78 where the program takes no library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

enum {
    MAX_ROWS = 64,
    MAX_WORDS = 32,
    MAX_KNOWN = 64,
    MAX_CALLS = 1024, /* numbers of system calls */
    MAX_PATH = 1024,
    SECONDS = 60,    /* that a run may take, without FAULTS_SECONDS: the longest takes a tenth of one */
    NO_ANSWERS = 77, /* status: the system lets no process answer for it */
    NO_LIBRARY = 78  /* the program takes no library */
};

static const struct {
    int number;
    const char *name;
} errors[] = {{EIO, "EIO"}, {EINTR, "EINTR"}, {ENOMEM, "ENOMEM"}, {ENOSPC, "ENOSPC"}, {EMFILE, "EMFILE"}};

enum { ERRORS = sizeof errors / sizeof errors[0] };

/* Calls that cannot fail, or whose failure the C library answers by ending the program: it is no fault of a disk or of
 * memory. sendmsg and execve begin the run. */
static const unsigned spared[] = {
    SYS_futex,           SYS_exit,           SYS_exit_group,      SYS_rt_sigreturn, SYS_set_tid_address,
    SYS_set_robust_list, SYS_rt_sigprocmask, SYS_tgkill,          SYS_gettid,       SYS_rseq,
    SYS_sendmsg,         SYS_execve,         SYS_restart_syscall, SYS_sched_yield,
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
};

enum { SPARED = sizeof spared / sizeof spared[0] };

#define NAME(call)                                                                                           \
    {                                                                                                        \
        SYS_##call, #call                                                                                    \
    }
static const struct {
    unsigned number;
    const char *name;
} call_names[] = {
    NAME(openat),
    NAME(close),
    NAME(read),
    NAME(write),
    NAME(pread64),
    NAME(pwrite64),
    NAME(lseek),
    NAME(mmap),
    NAME(munmap),
    NAME(mprotect),
    NAME(brk),
    NAME(fstat),
    NAME(newfstatat),
    NAME(statx),
    NAME(getdents64),
    NAME(ioctl),
    NAME(fcntl),
    NAME(fsync),
    NAME(fdatasync),
    NAME(flock),
    NAME(sync_file_range),
    NAME(unlinkat),
    NAME(renameat2),
    NAME(linkat),
    NAME(mkdirat),
    NAME(madvise),
    NAME(prlimit64),
    NAME(sched_getaffinity),
    NAME(clone3),
    NAME(clone),
    NAME(getrandom),
    NAME(rt_sigaction),
    NAME(readlinkat),
    NAME(faccessat),
    NAME(getpid),
    NAME(mremap),
    NAME(writev),
    NAME(readv),
    NAME(ftruncate),
    NAME(getcwd),
    NAME(clock_gettime),
    NAME(sysinfo),
    NAME(utimensat),
    NAME(fchmod),
    NAME(renameat),
    NAME(ppoll),
    NAME(sched_setaffinity),
    NAME(fadvise64),
    NAME(clock_nanosleep),
    NAME(getuid),
#ifdef SYS_open
    NAME(open),
    NAME(stat),
    NAME(lstat),
    NAME(access),
    NAME(unlink),
    NAME(rename),
    NAME(link),
    NAME(mkdir),
    NAME(rmdir),
    NAME(readlink),
    NAME(poll),
    NAME(chmod),
    NAME(getdents),
#endif
};

/* ---- The table ---- */

typedef struct row {
    char *name;
    char *seed;
    char *input; /* "": nothing */
    char *words[MAX_WORDS + 1];
    char
        *less[MAX_WORDS +
              1]; /* the command that writes what a run may write when something cannot be read; or nothing */
} row;

typedef struct known_case {
    char *pattern;
    bool is_met;
} known_case;

static row rows[MAX_ROWS];
static size_t row_count;
static known_case known[MAX_KNOWN];
static size_t known_count;
static const char *program;
static const char *library;
static const char *folder;
static unsigned long sample;
static unsigned long seconds;

typedef enum kind { CALLS, MEMORY_ONCE, MEMORY_FROM, KINDS } kind;

/* What the workers share. */
typedef struct tally {
    _Atomic uint64_t next;  /* case that is to be taken */
    _Atomic uint64_t calls; /* of a run without a fault, for the system */
    _Atomic uint64_t memory;
    _Atomic uint64_t planted[KINDS];
    _Atomic uint64_t broken[KINDS];
} tally;

static tally *tallies;

static _Noreturn void die(const char *what, const char *of)
{
    fprintf(stderr, "faults: %s: %s: %s\n", what, of, strerror(errno));
    exit(1);
}

static char *copy_of(const char *ptr, size_t len)
{
    char *made = strndup(ptr, len);
    if (made == NULL)
        die("memory", "strndup");
    return made;
}

static void take_words(char **words, char *at)
{
    words[0] = copy_of("machsym", 7);
    for (size_t i = 1; at != NULL && i < MAX_WORDS; i++) {
        char *word = strsep(&at, " ");
        words[i] = copy_of(word, strlen(word));
    }
}

static void read_rows(const char *path)
{
    const char *only = getenv("FAULTS_ONLY") != NULL ? getenv("FAULTS_ONLY") : "";
    bool has_row = false;
    char line[4096];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        die("table", path);
    while (row_count < MAX_ROWS && fgets(line, sizeof line, file) != NULL) {
        row *r = &rows[row_count];
        char *at = line;
        line[strcspn(line, "\n")] = 0;
        if (line[0] == 0 || line[0] == '#')
            continue;
        char *name = strsep(&at, "|");
        char *seed = strsep(&at, "|");
        char *input = strsep(&at, "|");
        if (name[0] == 0 && at != NULL && has_row)
            take_words(rows[row_count - 1].less, at);
        if (at == NULL || name[0] == 0)
            continue;
        has_row = only[0] == 0 || fnmatch(only, name, FNM_EXTMATCH) == 0;
        if (!has_row)
            continue;
        r->name = copy_of(name, strlen(name));
        r->seed = copy_of(seed, strlen(seed));
        r->input = copy_of(input, strlen(input));
        take_words(r->words, at);
        row_count++;
    }
    fclose(file);
}

static void read_known(const char *path)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        die("known cases", path);
    while (known_count < MAX_KNOWN && fgets(line, sizeof line, file) != NULL) {
        if (line[0] != '#' && line[0] != '\n')
            known[known_count++].pattern = copy_of(line, strcspn(line, "\t\n"));
    }
    fclose(file);
}

/* ---- Trees of files ---- */

typedef struct entry {
    char *path; /* below the tree's folder */
    uint64_t hash;
    size_t len;
} entry;

typedef struct tree {
    entry *v;
    size_t count;
    size_t cap;
} tree;

static uint64_t hash_file(const char *path, size_t *len)
{
    uint64_t hash = 14695981039346656037u;
    unsigned char block[65536];
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *len = 0;
    while (fd >= 0 && (got = read(fd, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < got; i++)
            hash = (hash ^ block[i]) * 1099511628211u;
        *len += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    return hash;
}

static void tree_add(tree *t, const char *path, uint64_t hash, size_t len)
{
    if (t->count == t->cap) {
        t->cap = t->cap == 0 ? 64 : 2 * t->cap;
        t->v = realloc(t->v, t->cap * sizeof *t->v);
        if (t->v == NULL)
            die("memory", path);
    }
    t->v[t->count++] = (entry){copy_of(path, strlen(path)), hash, len};
}

/* A bounded depth: no command makes more folders. */
static void tree_read(tree *t, const char *top, const char *below, int depth)
{
    char path[MAX_PATH];
    struct dirent *found;
    snprintf(path, sizeof path, "%s/%s", top, below);
    DIR *dir = opendir(path);
    while (dir != NULL && (found = readdir(dir)) != NULL) {
        char name[MAX_PATH];
        struct stat st;
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
            continue;
        if (snprintf(name, sizeof name, "%s%s%s", below, below[0] != 0 ? "/" : "", found->d_name) >=
                MAX_PATH ||
            snprintf(path, sizeof path, "%s/%s", top, name) >= MAX_PATH || lstat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < 16) {
            tree_read(t, top, name, depth + 1);
        } else {
            size_t len;
            uint64_t hash = hash_file(path, &len);
            tree_add(t, name, hash, len);
        }
    }
    if (dir != NULL)
        closedir(dir);
}

static void tree_free(tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->v[i].path);
    free(t->v);
    *t = (tree){0};
}

static const entry *tree_find(const tree *t, const char *path)
{
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->v[i].path, path) == 0)
            return &t->v[i];
    }
    return NULL;
}

static bool tree_has(const tree *t, const entry *e)
{
    const entry *found = tree_find(t, e->path);
    return found != NULL && found->hash == e->hash && found->len == e->len;
}

/* What a run may remember, and forget: it is not part of the output. */
static bool is_cache(const char *path)
{
    return strncmp(path, "cache/", 6) == 0;
}

/* Whether all of a is in b; with_cache: what is remembered, too. */
static bool tree_below(const tree *a, const tree *b, bool with_cache)
{
    for (size_t i = 0; i < a->count; i++) {
        if ((with_cache || !is_cache(a->v[i].path)) && !tree_has(b, &a->v[i]))
            return false;
    }
    return true;
}

static bool tree_equal(const tree *a, const tree *b, bool with_cache)
{
    return tree_below(a, b, with_cache) && tree_below(b, a, with_cache);
}

static void remove_below(const char *path, int depth)
{
    struct dirent *found;
    DIR *dir = opendir(path);
    while (dir != NULL && (found = readdir(dir)) != NULL) {
        char name[MAX_PATH];
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0 ||
            snprintf(name, sizeof name, "%s/%s", path, found->d_name) >= MAX_PATH)
            continue;
        if (unlink(name) != 0 && depth < 16) {
            remove_below(name, depth + 1);
            rmdir(name);
        }
    }
    if (dir != NULL)
        closedir(dir);
}

static void copy_file(const char *from, const char *to, const struct stat *st)
{
    char block[65536];
    ssize_t got;
    struct timespec times[2] = {st->st_atim, st->st_mtim};
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st->st_mode & 0777);
    while (in >= 0 && out >= 0 && (got = read(in, block, sizeof block)) > 0) {
        if (write(out, block, (size_t)got) != got)
            die("copy", to);
    }
    if (in < 0 || out < 0)
        die("copy", from);
    futimens(out, times); /* a store tells when something was added */
    close(in);
    close(out);
}

static void copy_below(const char *from, const char *to, int depth)
{
    struct dirent *found;
    DIR *dir = opendir(from);
    while (dir != NULL && (found = readdir(dir)) != NULL) {
        char source[MAX_PATH];
        char target[MAX_PATH];
        struct stat st;
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0 ||
            snprintf(source, sizeof source, "%s/%s", from, found->d_name) >= MAX_PATH ||
            snprintf(target, sizeof target, "%s/%s", to, found->d_name) >= MAX_PATH || stat(source, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < 16) {
            mkdir(target, 0777);
            copy_below(source, target, depth + 1);
        } else {
            copy_file(source, target, &st);
        }
    }
    if (dir != NULL)
        closedir(dir);
}

/* ---- A run ---- */

typedef struct fault {
    kind kind;
    uint64_t at; /* which call, from 1; 0: none */
    int error;   /* index of errors */
} fault;

typedef struct text {
    char *v;
    size_t len;
} text;

typedef struct outcome {
    int status; /* of waitpid */
    bool hangs;
    bool is_planted;
    bool has_begun;     /* what the loader does before is no part of the program */
    uint64_t calls;     /* of the system, since then */
    uint64_t memory;    /* calls for it */
    unsigned number;    /* of the system call that failed */
    uint64_t nth;       /* how many of its number there were with it */
    bool was_a_message; /* that could not be written */
    text out;
    text err;
} outcome;

typedef struct worker {
    char run[MAX_PATH]; /* the folder that commands run in */
    char out[MAX_PATH]; /* what they print */
    char err[MAX_PATH];
    char plan_path[MAX_PATH];
    memory_plan *plan;
    FILE *log;
} worker;

static bool send_fd(int to, int fd)
{
    char byte = 0;
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {0};
    memset(&control, 0, sizeof control);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(to, &message, 0) == 1;
}

static int receive_fd(int from)
{
    char byte;
    int fd = -1;
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

/* Every call but the spared ones is asked about. */
static int install_filter(void)
{
    struct sock_filter code[SPARED + 4];
    size_t n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < SPARED; i++)
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, spared[i],
                                                 (unsigned char)(SPARED - i), 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static _Noreturn void begin_run(const worker *w, const row *r, char *const *words, const fault *f,
                                int channel)
{
    int in = open(r->input[0] != 0 ? r->input : "/dev/null", O_RDONLY);
    int out = open(w->out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(w->err, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    char cache[MAX_PATH + 8];
    snprintf(cache, sizeof cache, "%s/cache", w->run);
    if (in < 0 || out < 0 || err < 0 || chdir(w->run) != 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(err, 2) < 0)
        _exit(126);
    close(in);
    close(out);
    close(err);
    setenv("XDG_CACHE_HOME", cache, 1);
    if (f->error >= 0) {
        setenv("LD_PRELOAD", library, 1);
        setenv("FAULTS_FILE", w->plan_path, 1);
    }
    if (channel >= 0) {
        int listener = install_filter();
        if (listener < 0 || !send_fd(channel, listener))
            syscall(SYS_exit_group, NO_ANSWERS);
    }
    execv(program, words);
    syscall(SYS_exit_group, 126);
    __builtin_unreachable();
}

/* Answers for the kernel: a call goes on, or fails. */
static void answer(int listener, const fault *f, outcome *o, uint64_t *counts)
{
    struct seccomp_notif asked;
    struct seccomp_notif_resp said;
    memset(&asked, 0, sizeof asked);
    memset(&said, 0, sizeof said);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
        return;
    said.id = asked.id;
    unsigned number = (unsigned)asked.data.nr;
    if (number == SYS_prctl && asked.data.args[0] == FAULTS_BEGIN)
        o->has_begun = true;
    else
        o->calls += o->has_begun;
    if (number < MAX_CALLS)
        counts[number]++;
    if (o->calls == f->at && o->has_begun && !o->is_planted && number != SYS_prctl) {
        o->is_planted = true;
        o->number = number;
        o->nth = number < MAX_CALLS ? counts[number] : 0;
        o->was_a_message = (number == SYS_write || number == SYS_writev) && asked.data.args[0] == 2;
        said.error =
            number != SYS_brk ? -errors[f->error].number : 0; /* that gives an address, which is 0 then */
    } else {
        said.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND,
          &said); /* fails when the program has ended: then nothing waits */
}

/* Until the program ends, or its time does. */
static void attend(pid_t pid, int listener, const fault *f, outcome *o)
{
    uint64_t counts[MAX_CALLS] = {0};
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    struct timespec begin;
    struct timespec now;
    struct pollfd wait[2] = {{process, POLLIN, 0}, {listener, POLLIN, 0}};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        o->hangs = now.tv_sec - begin.tv_sec > (time_t)seconds;
        if (o->hangs)
            kill(pid, SIGKILL);
        if (poll(wait, listener >= 0 ? 2 : 1, 1000) < 0 && errno != EINTR)
            die("poll", "a run");
        if ((wait[0].revents & POLLIN) != 0)
            break;
        if (listener >= 0 && (wait[1].revents & POLLIN) != 0)
            answer(listener, f, o, counts);
    }
    waitpid(pid, &o->status, 0);
    close(process);
}

static text read_text(const char *path)
{
    text t = {NULL, 0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0) {
        t.v = malloc((size_t)st.st_size + 1);
        ssize_t got = t.v != NULL ? read(fd, t.v, (size_t)st.st_size) : 0;
        t.len = got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return t;
}

static outcome run(worker *w, const row *r, char *const *words, const fault *f)
{
    outcome o;
    int channel[2] = {-1, -1};
    int listener = -1;
    memset(&o, 0, sizeof o);
    atomic_store(&w->plan->calls, 0);
    w->plan->fail_at = f->kind != CALLS ? f->at : 0;
    w->plan->stays = f->kind == MEMORY_FROM;
    bool asks = f->kind == CALLS && f->error >= 0;
    if (asks && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0)
        die("socketpair", r->name);
    pid_t pid = fork();
    if (pid < 0)
        die("fork", r->name);
    if (pid == 0)
        begin_run(w, r, words, f, channel[1]);
    if (asks) {
        close(channel[1]);
        listener = receive_fd(channel[0]);
        close(channel[0]);
    }
    attend(pid, listener, f, &o);
    if (listener >= 0)
        close(listener);
    o.memory = atomic_load(&w->plan->calls);
    if (f->kind != CALLS)
        o.is_planted = f->at != 0 && o.memory >= f->at;
    o.out = read_text(w->out);
    o.err = read_text(w->err);
    return o;
}

static void outcome_free(outcome *o)
{
    free(o->out.v);
    free(o->err.v);
}

static bool text_equal(const text *a, const text *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->v, b->v, a->len) == 0);
}

/* ---- The rule ---- */

/* What a row does without a fault. */
typedef struct whole {
    tree seed;
    tree after;
    tree less; /* of the row's other command */
    outcome usual;
} whole;

static bool is_temporary(const char *path)
{
    const char *name = strrchr(path, '/');
    return strncmp(name != NULL ? name + 1 : path, ".machsym-", 9) == 0;
}

/* What is wrong with the files that a run left; NULL: nothing. */
static const char *wrong_files(const whole *should, const tree *after, bool may_lack)
{
    for (size_t i = 0; i < after->count; i++) {
        const entry *e = &after->v[i];
        if (is_temporary(e->path) && !tree_has(&should->seed, e))
            return "a temporary file stays";
        if (!is_cache(e->path) && !tree_has(&should->seed, e) && !tree_has(&should->after, e) &&
            !(may_lack && tree_has(&should->less, e)))
            return tree_find(&should->after, e->path) != NULL ? "a file is there in part" : "a file too many";
    }
    for (size_t i = 0; i < should->seed.count; i++) {
        const entry *e = &should->seed.v[i];
        if (tree_find(&should->after, e->path) != NULL && tree_find(after, e->path) == NULL &&
            !is_cache(e->path))
            return "a file is lost";
    }
    return NULL;
}

/* A worker says what failed in its answers: as an error, or in notes of what was answered. */
static bool is_said_in_answer(const outcome *o)
{
    static const char begin[] = "{\"schema\":\"worker/";
    static const char error[] = "\"error\":{";
    static const char notes[] = "\"notes\":[\"";
    return o->out.len > 0 && memmem(o->out.v, o->out.len, begin, strlen(begin)) == o->out.v &&
           (memmem(o->out.v, o->out.len, error, strlen(error)) != NULL ||
            memmem(o->out.v, o->out.len, notes, strlen(notes)) != NULL);
}

static const char *wrong_end(const whole *should, const fault *f, const outcome *o, const tree *after)
{
    if (o->hangs)
        return "it hangs";
    if (WIFSIGNALED(o->status))
        return "it crashes";
    int status = WEXITSTATUS(o->status);
    if (status == 0 && !text_equal(&o->out, &should->usual.out))
        return "exit 0, other output";
    if (status == 0 && !tree_equal(after, &should->after, false))
        return "exit 0, other files";
    if (status > 1)
        return "another status than 0 and 1";
    if (status != 0 && !o->was_a_message && !is_said_in_answer(o) &&
        (o->err.len == 0 || text_equal(&o->err, &should->usual.err)))
        return "it says nothing";
    return wrong_files(should, after, status != 0 && f->kind == CALLS);
}

static void empty_run(worker *w, const row *r)
{
    char seed[MAX_PATH];
    snprintf(seed, sizeof seed, "%s/seeds/%s", folder, r->seed);
    remove_below(w->run, 0);
    copy_below(seed, w->run, 0);
}

/* Another run finds what this one left, and gives what it should. */
static const char *wrong_next(worker *w, const row *r, const whole *should, const tree *left)
{
    const fault none = {CALLS, 0, -1};
    const char *wrong = NULL;
    bool only_remembers = tree_equal(left, &should->seed, false);
    tree after = {0};
    outcome o = run(w, r, r->words, &none);
    tree_read(&after, w->run, "", 0);
    if (WIFSIGNALED(o.status) || WEXITSTATUS(o.status) != 0)
        wrong = "the next run fails";
    else if (only_remembers && !text_equal(&o.out, &should->usual.out))
        wrong = "the next run gives other output";
    else if (!tree_equal(&after, &should->after, false))
        wrong = "the next run leaves other files";
    tree_free(&after);
    outcome_free(&o);
    return wrong;
}

/* ---- Cases ---- */

static const char *call_name(unsigned number, char *room, size_t size)
{
    for (size_t i = 0; i < sizeof call_names / sizeof call_names[0]; i++) {
        if (call_names[i].number == number)
            return call_names[i].name;
    }
    snprintf(room, size, "syscall %u", number);
    return room;
}

/* The case as patterns of KNOWN match it, a tab, and how to see it again. */
static void log_case(worker *w, const row *r, const fault *f, const outcome *o, const char *wrong)
{
    char room[32];
    if (f->kind == CALLS) {
        const char *name = call_name(o->number, room, sizeof room);
        const char *error = errors[f->error].name;
        fprintf(w->log, "%s: %s %s: %s\tstrace -f -e inject=%s:error=%s:when=%llu; \"%.*s\"\n", r->name, name,
                error, wrong, name, error, (unsigned long long)o->nth,
                (int)strcspn(o->err.len > 0 ? o->err.v : "\n", "\n"), o->err.v);
    } else {
        fprintf(w->log, "%s: memory%s: %s\tcall %llu; \"%.*s\"\n", r->name,
                f->kind == MEMORY_FROM ? " from then on" : "", wrong, (unsigned long long)f->at,
                o->err.len > 0 ? (int)strcspn(o->err.v, "\n") : 0, o->err.v);
    }
    fflush(w->log);
}

/* Returns whether the fault was planted: threads may make fewer calls than in the run before. */
static bool try_case(worker *w, const row *r, const whole *should, const fault *f, bool *is_broken)
{
    tree left = {0};
    outcome o = run(w, r, r->words, f);
    if (o.err.v != NULL)
        o.err.v[o.err.len] = 0;
    tree_read(&left, w->run, "", 0);
    const char *wrong = wrong_end(should, f, &o, &left);
    bool is_fresh = tree_equal(&left, &should->seed, true);
    if (wrong == NULL && !is_fresh && !tree_equal(&left, &should->after, true))
        wrong = wrong_next(w, r, should, &left);
    *is_broken = o.is_planted && wrong != NULL;
    if (*is_broken)
        log_case(w, r, f, &o, wrong);
    if (!is_fresh)
        empty_run(w, r);
    bool is_planted = o.is_planted;
    tree_free(&left);
    outcome_free(&o);
    return is_planted;
}

/* Cases of a row: the system calls with each error, then memory that fails once, then from then on. */
static bool nth_case(const tally *t, uint64_t n, fault *f)
{
    const char *only = getenv("FAULTS_KIND") != NULL ? getenv("FAULTS_KIND") : "";
    uint64_t calls = strcmp(only, "memory") == 0 ? 0 : t->calls * ERRORS;
    uint64_t once = strcmp(only, "calls") == 0 ? 0 : t->memory;
    uint64_t from = only[0] != 0 ? 0 : t->memory;
    if (n < calls)
        *f = (fault){CALLS, n / ERRORS + 1, (int)(n % ERRORS)};
    else if (n < calls + once)
        *f = (fault){MEMORY_ONCE, n - calls + 1, 0};
    else
        *f = (fault){MEMORY_FROM, n - calls - once + 1, 0};
    return n < calls + once + from;
}

/* Runs a row without a fault: twice alone, to see that it gives the same, and with what plants faults. */
static void measure(worker *w, const row *r, whole *should, tally *t)
{
    const fault none = {CALLS, 0, -1};
    const fault calls = {CALLS, 0, 0};
    const fault memory = {MEMORY_ONCE, 0, 0};
    const fault *const all[] = {&none, &calls, &memory};
    memset(should, 0, sizeof *should);
    for (size_t i = 0; i < 3; i++) {
        tree after = {0};
        empty_run(w, r);
        if (i == 0)
            tree_read(&should->seed, w->run, "", 0);
        outcome o = run(w, r, r->words, all[i]);
        tree_read(&after, w->run, "", 0);
        if (i == 1 && WIFEXITED(o.status) && WEXITSTATUS(o.status) == NO_ANSWERS)
            exit(NO_ANSWERS);
        if (i == 1 && !o.has_begun)
            exit(NO_LIBRARY);
        if (!WIFEXITED(o.status) || WEXITSTATUS(o.status) != 0) {
            fprintf(stderr, "faults: %s: status %x without a fault: %.*s\n", r->name, (unsigned)o.status,
                    (int)o.err.len, o.err.v);
            exit(1);
        }
        if (i == 0) {
            should->usual = o;
            should->after = after;
            continue;
        }
        if (!text_equal(&o.out, &should->usual.out) || !tree_equal(&after, &should->after, false)) {
            fprintf(stderr, "faults: %s: two runs without a fault differ\n", r->name);
            exit(1);
        }
        uint64_t none_yet = 0;
        if (i == 1)
            atomic_compare_exchange_strong(&t->calls, &none_yet, o.calls);
        else
            atomic_compare_exchange_strong(&t->memory, &none_yet, o.memory);
        tree_free(&after);
        outcome_free(&o);
    }
    empty_run(w, r);
    if (r->less[0] != NULL) {
        outcome o = run(w, r, r->less, &none);
        tree_read(&should->less, w->run, "", 0);
        outcome_free(&o);
        empty_run(w, r);
    }
}

/* Of a sample another fault of each row: its first one moves with the row, and the step has no divisor with the errors. */
static void work(worker *w)
{
    for (size_t i = 0; i < row_count; i++) {
        whole should;
        tally *t = &tallies[i];
        fault f;
        uint64_t n;
        measure(w, &rows[i], &should, t);
        while (n = atomic_fetch_add(&t->next, 1) * sample + i % sample, nth_case(t, n, &f)) {
            bool is_broken;
            if (!try_case(w, &rows[i], &should, &f, &is_broken))
                continue;
            atomic_fetch_add(&t->planted[f.kind], 1);
            atomic_fetch_add(&t->broken[f.kind], is_broken);
        }
        tree_free(&should.seed);
        tree_free(&should.after);
        tree_free(&should.less);
        outcome_free(&should.usual);
    }
}

static _Noreturn void begin_work(unsigned number)
{
    worker w;
    char log[MAX_PATH];
    memset(&w, 0, sizeof w);
    snprintf(w.run, sizeof w.run, "%s/run.%u", folder, number);
    snprintf(w.out, sizeof w.out, "%s/out.%u", folder, number);
    snprintf(w.err, sizeof w.err, "%s/err.%u", folder, number);
    snprintf(w.plan_path, sizeof w.plan_path, "%s/plan.%u", folder, number);
    snprintf(log, sizeof log, "%s/log.%u", folder, number);
    int fd = open(w.plan_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (mkdir(w.run, 0777) != 0 || fd < 0 || ftruncate(fd, sizeof *w.plan) != 0 ||
        (w.log = fopen(log, "we")) == NULL)
        die("folder", folder);
    w.plan = mmap(NULL, sizeof *w.plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (w.plan == MAP_FAILED)
        die("memory", w.plan_path);
    close(fd);
    work(&w);
    fclose(w.log);
    exit(0);
}

/* ---- What came of it ---- */

/* Prints the broken cases of a worker. Returns how many are not known. */
static unsigned long report(unsigned number, unsigned long *all)
{
    char path[MAX_PATH];
    char line[8192];
    unsigned long fresh = 0;
    snprintf(path, sizeof path, "%s/log.%u", folder, number);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *tab = strchr(line, '\t');
        bool is_known = false;
        if (tab == NULL)
            continue;
        *tab = 0;
        for (size_t i = 0; i < known_count; i++) {
            if (fnmatch(known[i].pattern, line, 0) == 0)
                known[i].is_met = is_known = true;
        }
        ++*all;
        fresh += !is_known;
        printf("%s: %s; %s", is_known ? "known" : "broken", line, tab + 1);
    }
    if (file != NULL)
        fclose(file);
    return fresh;
}

static void print_table(void)
{
    uint64_t sums[2 * KINDS] = {0};
    printf("\n| command | system calls failed | broken | memory failed once | broken | ... and from then on "
           "| broken |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i <= row_count; i++) {
        printf("| %s", i < row_count ? rows[i].name : "all");
        for (size_t j = 0; j < KINDS; j++) {
            if (i < row_count) {
                sums[2 * j] += tallies[i].planted[j];
                sums[2 * j + 1] += tallies[i].broken[j];
            }
            printf(" | %llu | %llu",
                   (unsigned long long)(i < row_count ? tallies[i].planted[j] : sums[2 * j]),
                   (unsigned long long)(i < row_count ? tallies[i].broken[j] : sums[2 * j + 1]));
        }
        printf(" |\n");
    }
    printf("\n");
}

static unsigned long number_of(const char *name, unsigned long without)
{
    const char *value = getenv(name);
    unsigned long number = value != NULL ? strtoul(value, NULL, 10) : 0;
    return number != 0 ? number : without;
}

int main(int argc, char **argv)
{
    bool with_table = argc > 1 && strcmp(argv[1], "--table") == 0;
    unsigned long planted = 0;
    unsigned long all = 0;
    unsigned long fresh = 0;
    argv += with_table;
    if (argc - with_table != 6) {
        fprintf(stderr, "usage: faults [--table] PROGRAM LIBRARY FOLDER TABLE KNOWN\n");
        return 2;
    }
    program = argv[1];
    library = argv[2];
    folder = argv[3];
    read_rows(argv[4]);
    read_known(argv[5]);
    sample = number_of("SAMPLE", 1);
    seconds = number_of("FAULTS_SECONDS", SECONDS);
    unsigned jobs = (unsigned)number_of("JOBS", 1);
    tallies = mmap(NULL, sizeof(tally) * MAX_ROWS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED)
        die("memory", "mmap");
    fflush(stdout);
    for (unsigned i = 0; i < jobs; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork", "a worker");
        if (pid == 0)
            begin_work(i);
    }
    for (unsigned i = 0; i < jobs; i++) {
        int status;
        wait(&status);
        if (WIFEXITED(status) && (WEXITSTATUS(status) == NO_ANSWERS || WEXITSTATUS(status) == NO_LIBRARY))
            return WEXITSTATUS(status);
        fresh += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    for (unsigned i = 0; i < jobs; i++)
        fresh += report(i, &all);
    for (size_t i = 0; i < known_count && sample == 1 && getenv("FAULTS_ONLY") == NULL; i++) {
        if (!known[i].is_met) {
            printf("failed: known, but no longer broken: take it out of the list: %s\n", known[i].pattern);
            fresh++;
        }
    }
    for (size_t i = 0; i < row_count; i++) {
        for (size_t j = 0; j < KINDS; j++)
            planted += tallies[i].planted[j];
    }
    if (with_table)
        print_table();
    printf("%lu faults planted, %lu broken\n", planted, all);
    printf("%zu passed, %lu failed, 0 skipped\n", row_count, fresh);
    return fresh != 0;
}
