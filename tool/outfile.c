/* Output files; see outfile.h. */
#include "outfile.h"
#include "out.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_OPEN = MAX_JOBS + 1, /* a thread writes one file at a time */
    MAX_TEMPORARY = 4096,    /* bytes of a name: longer ones are no paths (PATH_MAX) */
    MAX_TRIES = 100          /* other names to try when one is taken: each has a number of its own */
};

/* ---- Names to remove ---- */

/* The signal handler reads these, so they stay where they are. */
static char temporary[MAX_OPEN][MAX_TEMPORARY];
static volatile sig_atomic_t is_used[MAX_OPEN];
static unsigned long numbers; /* handed out so far */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void remove_all(void)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        if (is_used[i])
            unlink(temporary[i]);
    }
}

static void end_by_signal(int number)
{
    remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

void outfile_start(void)
{
    static const int signals[] = {
#ifndef _WIN32
        SIGHUP, SIGPIPE, SIGXCPU, SIGXFSZ,
#endif
        SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (signal(signals[i], end_by_signal) == SIG_IGN)
            signal(signals[i], SIG_IGN);
    }
    atexit(remove_all); /* memory may end while a file is written */
}

/* A slot with the next name beside a path; -1 with errno when there is none. */
static int take_slot(const char *path)
{
    int slot = 0;
    pthread_mutex_lock(&lock);
    while (slot < MAX_OPEN && is_used[slot])
        slot++;
    errno = EMFILE;
    if (slot < MAX_OPEN) {
        int len = snprintf(temporary[slot], MAX_TEMPORARY, "%s.%ld-%lu.tmp", path, (long)getpid(), ++numbers);
        errno = ENAMETOOLONG;
        slot = len > 0 && len < MAX_TEMPORARY ? slot : MAX_OPEN;
    }
    if (slot < MAX_OPEN)
        is_used[slot] = 1;
    pthread_mutex_unlock(&lock);
    return slot < MAX_OPEN ? slot : -1;
}

/* ---- Files ---- */

static void fail(outfile *out)
{
    if (out->failure == 0)
        out->failure = errno != 0 ? errno : EIO;
}

/* Nobody else has the file: it must not be there before, and no link leads elsewhere. */
bool outfile_begin(outfile *out, const char *path, outfile_rule rule)
{
    memset(out, 0, sizeof *out);
    out->path = path;
    out->rule = rule;
    if (path == NULL)
        return true;
    struct stat st;
    out->is_device =
        rule == OUTFILE_REPLACE && stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    int fd = out->is_device ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (out->is_device && fd < 0) {
        fail(out);
        return false;
    }
    for (int tries = 0; fd < 0 && tries < MAX_TRIES; tries++) {
        out->slot = take_slot(path);
        if (out->slot < 0)
            break;
        fd = open(temporary[out->slot], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0)
            is_used[out->slot] = 0;
        if (fd < 0 && errno != EEXIST)
            break;
    }
    out->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (out->file == NULL)
        fail(out);
    return out->file != NULL;
}

static void put(outfile *out, const void *ptr, size_t len)
{
    if (out->path == NULL)
        out_write(ptr, len);
    else if (len > 0 && out->failure == 0 && fwrite(ptr, 1, len, out->file) != len)
        fail(out);
}

void outfile_flush(outfile *out, text *t)
{
    if (t->len < OUTFILE_BLOCK)
        return;
    put(out, t->v, t->len);
    t->len = 0;
}

/* A name is as safe as its folder: without this a power cut may take the file that was moved there. */
static void sync_folder(const char *path)
{
#ifndef _WIN32
    text folder = {0};
    const char *slash = strrchr(path, '/');
    text_add(&folder, path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
    text_c(&folder, folder.len == 0 ? "." : "");
    int fd = open(text_z(&folder), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd); /* some file systems refuse: then there is nothing more to do */
        close(fd);
    }
    text_free(&folder);
#else
    (void)path;
#endif
}

/* Gives the file its name. A file that is to be kept is not replaced even when it came a moment ago. */
static bool take_place(outfile *out)
{
    const char *from = temporary[out->slot];
    if (out->rule != OUTFILE_KEEP)
        return rename(from, out->path) == 0;
    if (link(from, out->path) == 0)
        return unlink(from) == 0;
    struct stat st;
    if (errno == EEXIST)
        return false;
    if (lstat(out->path, &st) == 0) { /* a file system without links */
        errno = EEXIST;
        return false;
    }
    return rename(from, out->path) == 0;
}

/* Ends the file; what is left of it when something failed goes. */
static void close_file(outfile *out, bool ok)
{
    if (out->file == NULL)
        return;
    if (fflush(out->file) != 0 || (ok && !out->is_device && fsync(fileno(out->file)) != 0))
        fail(out);
    if (fclose(out->file) != 0)
        fail(out);
    out->file = NULL;
    if (out->is_device)
        return;
    if (ok && out->failure == 0 && !take_place(out))
        fail(out);
    if (!ok || out->failure != 0)
        unlink(temporary[out->slot]);
    else
        sync_folder(out->path);
    is_used[out->slot] = 0;
}

bool outfile_end(outfile *out, text *t, bool ok)
{
    if (ok)
        put(out, t->v, t->len);
    text_free(t);
    close_file(out, ok);
    if (out->failure != 0)
        tool_say("%s: %s", out->path, strerror(out->failure));
    return ok && out->failure == 0;
}

int outfile_write(const char *path, const void *ptr, size_t len, outfile_rule rule)
{
    outfile out;
    if (outfile_begin(&out, path, rule)) {
        put(&out, ptr, len);
        close_file(&out, true);
    }
    return out.failure;
}
