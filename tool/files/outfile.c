/* Output files; see outfile.h. */
#include "outfile.h"
#include "../../report/base/memory.h"
#include "../base/machine.h"
#include "../base/out.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "members.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_OPEN = MAX_JOBS + 1, /* a thread writes one file at a time */
    MAX_TEMPORARY = 4096,    /* bytes of a path: the system refuses longer ones (PATH_MAX) */
    MAX_TRIES = 100,         /* other names to try when one is taken: each has a number of its own */
    WRITE_STEP = 1 << 21     /* bytes at once: the disk writes them while the next ones are copied */
};

/* What all temporary names begin and end with: only such are swept. Their dot hides them from stores. */
static const char temporary_begin[] = ".machsym-";
static const char temporary_end[] = ".tmp";

/* ---- Names to remove ---- */

/* The signal handler reads these, so they stay where they are. */
static char temporary[MAX_OPEN][MAX_TEMPORARY];
static volatile sig_atomic_t is_used[MAX_OPEN];
static unsigned long numbers;     /* handed out so far */
static char swept[MAX_TEMPORARY]; /* the folder that was swept last */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void outfile_remove_all(void)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        if (is_used[i])
            unlink(temporary[i]);
    }
}

static void outfile_end_by_signal(int number)
{
    outfile_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

void outfile_start(void)
{
    static const int signals[] = {
#ifndef _WIN32
        SIGHUP, SIGPIPE, SIGXCPU,
#endif
        SIGINT, SIGTERM};
#ifndef _WIN32
    signal(SIGXFSZ, SIG_IGN); /* the write fails with EFBIG, which is reported */
#endif
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (signal(signals[i], outfile_end_by_signal) == SIG_IGN)
            signal(signals[i], SIG_IGN);
    }
    atexit(outfile_remove_all); /* memory may end while a file is written */
}

/* A slot with the next name in the folder of a path; -1 with errno when there is none. */
static int outfile_take_slot(const char *path)
{
    int slot = 0;
    pthread_mutex_lock(&lock);
    while (slot < MAX_OPEN && is_used[slot])
        slot++;
    errno = EMFILE;
    if (slot < MAX_OPEN) {
        int len = snprintf(temporary[slot], MAX_TEMPORARY, "%.*s%s%ld-%lu%s", (int)file_folder_len(path),
                           path, temporary_begin, (long)getpid(), ++numbers, temporary_end);
        errno = ENAMETOOLONG;
        slot = len > 0 && len < MAX_TEMPORARY ? slot : MAX_OPEN;
    }
    if (slot < MAX_OPEN)
        is_used[slot] = 1;
    pthread_mutex_unlock(&lock);
    return slot < MAX_OPEN ? slot : -1;
}

static void outfile_free_slot(int slot)
{
    pthread_mutex_lock(&lock);
    is_used[slot] = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- What killed runs left ---- */

bool outfile_is_temporary(const char *name)
{
    size_t len = strlen(name);
    size_t end = sizeof temporary_end - 1;
    return str_starts(str_c(name), temporary_begin) && len > end &&
           memcmp(name + len - end, temporary_end, end) == 0;
}

static void outfile_sweep_folder(const char *folder)
{
    text path = {0};
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = posix_next_entry(dir)) != NULL) {
        if (!outfile_is_temporary(entry->d_name))
            continue;
        path.len = 0;
        text_c(&path, folder);
        text_c(&path, entry->d_name);
        posix_remove_abandoned(text_z(&path));
    }
    if (dir != NULL)
        closedir(dir);
    text_free(&path);
}

/* A run sweeps a folder when it begins to write into it, not for each of its files. */
static void outfile_sweep(const char *path)
{
    char folder[MAX_TEMPORARY];
    int own = (int)file_folder_len(path);
    int len = snprintf(folder, sizeof folder, "%.*s", own > 0 ? own : 2, own > 0 ? path : "./");
    if (len < 0 || (size_t)len >= sizeof folder)
        return;
    pthread_mutex_lock(&lock);
    bool again = strcmp(folder, swept) == 0;
    memcpy(swept, folder, (size_t)len + 1);
    pthread_mutex_unlock(&lock);
    if (!again)
        outfile_sweep_folder(folder);
}

/* ---- Files ---- */

static void outfile_fail(outfile *out)
{
    if (out->failure == 0)
        out->failure = errno != 0 ? errno : EIO;
}

/* A new file beside a path. No other program has it: it must not be there before, and no link leads
 * elsewhere. */
static int outfile_open_beside(outfile *out)
{
    outfile_sweep(out->path);
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        out->slot = outfile_take_slot(out->path);
        if (out->slot < 0)
            return -1;
        int fd = open(temporary[out->slot], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 && posix_hold(fd)) {
            posix_take_rights(fd, out->path);
            return fd;
        }
        outfile_free_slot(out->slot);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0)
            close(fd); /* another run took it for abandoned */
    }
    return -1;
}

bool outfile_spares(const char *path, const char *input)
{
    struct stat a;
    struct stat b;
    if (path == NULL || input == NULL || stat(path, &a) != 0 || !S_ISREG(a.st_mode))
        return true;
    size_t end = members_end(input); /* of its archive */
    char *file = str_copy_z(str_make(input, end > 0 ? end : strlen(input)));
    bool same = stat(file, &b) == 0;
    if (same) /* Windows has no numbers of files */
        same = a.st_ino != 0 ? a.st_ino == b.st_ino && a.st_dev == b.st_dev : strcmp(path, file) == 0;
    if (same)
        say_message("%s: is the input, which would be gone: name another output", path);
    free(file);
    return !same;
}

/* Whether two names are of one folder, and of one file there for a file system that does not tell cases
 * apart. */
static bool outfile_is_same_name(const char *a, const char *b)
{
    struct stat at;
    struct stat bt;
    size_t len = file_folder_len(a);
    char *folder = str_copy_z(len > 0 ? str_make(a, len) : str_c("."));
    bool same = strcasecmp(a + len, b + file_folder_len(b)) == 0 && stat(folder, &at) == 0;
    free(folder);
    folder = str_copy_z(file_folder_len(b) > 0 ? str_make(b, file_folder_len(b)) : str_c("."));
    same = same && stat(folder, &bt) == 0 && at.st_ino == bt.st_ino && at.st_dev == bt.st_dev;
    free(folder);
    return same;
}

bool outfile_is_same(const char *a, const char *b)
{
    struct stat at;
    struct stat bt;
    bool has_a = stat(a, &at) == 0;
    bool has_b = stat(b, &bt) == 0;
    if (has_a && S_ISCHR(at.st_mode))
        return false;
    if (strcmp(a, b) == 0)
        return true;
    if (has_a && has_b)
        return at.st_ino != 0 && S_ISREG(at.st_mode) && at.st_ino == bt.st_ino && at.st_dev == bt.st_dev;
    return !has_a && !has_b && outfile_is_same_name(a, b);
}

/* ---- What is read ---- */

/* The file itself, of what lies in an archive that. */
static char *outfile_file_of(const char *input)
{
    size_t end = members_end(input);
    return str_copy_z(str_make(input, end > 0 ? end : strlen(input)));
}

void outfile_inputs_add(outfile_inputs *all, const char *path)
{
    struct stat st;
    char *file = outfile_file_of(path);
    if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino != 0) {
        all->v = mem_room(all->v, all->count, &all->cap, sizeof *all->v);
        all->v[all->count++] = (outfile_input){(uint64_t)st.st_dev, (uint64_t)st.st_ino};
        all->is_sorted = false;
    }
    free(file);
}

static int outfile_by_number(const void *a, const void *b)
{
    const outfile_input *x = a;
    const outfile_input *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Whether a path leads into a bundle of symbols, whose files belong together. */
static bool outfile_is_in_bundle(const char *path)
{
    char *folder = str_copy_z(file_folder_len(path) > 0 ? str_make(path, file_folder_len(path)) : str_c("."));
    char *real = realpath(folder, NULL);
    bool is = false;
    for (const char *at = real; at != NULL && (at = strstr(at, ".dSYM")) != NULL; at++)
        is |= at[5] == 0 || posix_is_slash(at[5]);
    free(real);
    free(folder);
    return is;
}

bool outfile_inputs_spare(outfile_inputs *all, const char *path)
{
    struct stat st;
    if (path == NULL || strcmp(path, "-") == 0)
        return true;
    if (outfile_is_in_bundle(path)) {
        say_message("%s: lies in a bundle of symbols: name another output", path);
        return false;
    }
    if (all->count == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    if (!all->is_sorted)
        qsort(all->v, all->count, sizeof *all->v, outfile_by_number);
    all->is_sorted = true;
    outfile_input wanted = {(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    if (bsearch(&wanted, all->v, all->count, sizeof wanted, outfile_by_number) == NULL)
        return true;
    say_message("%s: is the input, which would be gone: name another output", path);
    return false;
}

void outfile_inputs_free(outfile_inputs *all)
{
    free(all->v);
    memset(all, 0, sizeof *all);
}

bool outfile_begin(outfile *out, const char *path, outfile_rule rule)
{
    struct stat st;
    memset(out, 0, sizeof *out);
    out->path = path;
    out->rule = rule;
    out->fd = -1;
    if (path == NULL || strcmp(path, "-") == 0) {
        out->path = NULL;
        return true;
    }
    out->is_device =
        rule == OUTFILE_REPLACE && stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    out->fd = out->is_device ? posix_open_device(path) : outfile_open_beside(out);
    if (out->fd < 0)
        outfile_fail(out);
    return out->fd >= 0;
}

static void outfile_put_bytes(outfile *out, const char *ptr, size_t len)
{
    if (out->path == NULL) {
        out_write(ptr, len);
        return;
    }
    while (len > 0 && out->failure == 0) {
        size_t step = len < WRITE_STEP ? len : WRITE_STEP;
        ssize_t done = write(out->fd, ptr, (unsigned)step);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            outfile_fail(out);
            return;
        }
        if (step == WRITE_STEP)
            posix_begin_sync(out->fd);
        ptr += done;
        len -= (size_t)done;
    }
}

void outfile_flush(outfile *out, text *t)
{
    if (t->len >= OUTFILE_BLOCK)
        outfile_put(out, t);
}

void outfile_put(outfile *out, text *t)
{
    outfile_put_bytes(out, t->v, t->len);
    t->len = 0;
}

/* A name is as safe as its folder: without this a power cut may take the file that was moved there. */
static void outfile_sync_folder(const char *path)
{
#ifndef _WIN32
    text folder = {0};
    text_add(&folder, path, file_folder_len(path));
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

/* Whether a folder is there; errno stays. Above a folder that may be written to there may be one that may
 * not, or C: of Windows. */
static bool outfile_is_there(const char *path)
{
    int failure = errno;
    struct stat st;
    bool is = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    errno = failure;
    return is;
}

/* Gives the file its name. A file that is to be kept is not replaced even when it came a moment ago. */
static bool outfile_take_place(outfile *out)
{
    const char *from = temporary[out->slot];
    if (out->rule != OUTFILE_KEEP) {
        if (rename(from, out->path) == 0)
            return true;
        if (outfile_is_there(out->path)) /* "." is busy, says the system */
            errno = EISDIR;
        return false;
    }
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

static void outfile_shut(outfile *out)
{
    if (out->fd >= 0 && close(out->fd) != 0)
        outfile_fail(out);
    out->fd = -1;
}

/* Makes what was written safe from a power cut. */
static void outfile_sync_file(outfile *out)
{
    if (out->fd >= 0 && out->failure == 0 && !out->is_device && fsync(out->fd) != 0)
        outfile_fail(out);
}

/* Ends the file; what is left of it when something failed goes. It has its name before it is closed: until
 * then no other run takes it for abandoned. */
static void outfile_close_file(outfile *out)
{
    if (out->fd < 0)
        return;
    if (POSIX_CLOSE_FIRST || out->is_device)
        outfile_shut(out);
    if (out->is_device)
        return;
    if (out->failure == 0 && !outfile_take_place(out))
        outfile_fail(out);
    if (out->failure != 0)
        unlink(temporary[out->slot]);
    outfile_free_slot(out->slot);
    outfile_shut(out);
}

static bool outfile_has_same_folder(const outfile *a, const outfile *b)
{
    size_t len = file_folder_len(a->path);
    return len == file_folder_len(b->path) && memcmp(a->path, b->path, len) == 0;
}

void outfile_end_all(outfile *v, size_t count)
{
    const outfile *last = NULL; /* that got its name in a folder that is not safe yet */
    for (size_t i = 0; i < count && count > 1; i++)
        posix_begin_sync(v[i].fd);
    for (size_t i = 0; i < count; i++)
        outfile_sync_file(&v[i]);
    for (size_t i = 0; i < count; i++) {
        bool has_place = v[i].fd >= 0 && !v[i].is_device;
        outfile_close_file(&v[i]);
        if (!has_place || v[i].failure != 0)
            continue;
        if (last != NULL && !outfile_has_same_folder(last, &v[i]))
            outfile_sync_folder(last->path);
        last = &v[i];
    }
    if (last != NULL)
        outfile_sync_folder(last->path);
}

/* One that is not to be: nothing failed, but nothing is left. */
static void outfile_drop_file(outfile *out)
{
    int failure = out->failure;
    out->failure = ECANCELED;
    outfile_close_file(out);
    out->failure = failure;
}

bool outfile_end(outfile *out, text *t, bool ok)
{
    if (ok)
        outfile_put_bytes(out, t->v, t->len);
    text_free(t);
    if (ok)
        outfile_end_all(out, 1);
    else
        outfile_drop_file(out);
    if (out->failure != 0)
        say_message("%s: %s", out->path, outfile_error(out->failure));
    return ok && out->failure == 0;
}

const char *outfile_error(int failure)
{
    switch (failure) {
    case ENXIO: return "a pipe that has no reader";
    case EISDIR: return "a folder: name a file, which may lie in it";
    case ENOENT: return "No such file or directory: make its folder first";
    case ENOTDIR: return "Not a directory: a part of its path is a file";
    case EACCES: return "Permission denied: name a place that you may write to";
    case EROFS: return "Read-only file system: name a place that you may write to";
    default: return strerror(failure);
    }
}

bool outfile_is_full(int failure)
{
#ifdef EDQUOT
    if (failure == EDQUOT)
        return true;
#endif
    return failure == ENOSPC;
}

void outfile_begin_with(outfile *out, const char *path, const void *ptr, size_t len, outfile_rule rule)
{
    if (outfile_begin(out, path, rule))
        outfile_put_bytes(out, ptr, len);
}

int outfile_write(const char *path, const void *ptr, size_t len, outfile_rule rule)
{
    outfile out;
    outfile_begin_with(&out, path, ptr, len, rule);
    outfile_end_all(&out, 1);
    return out.failure;
}

bool outfile_make_folders(const char *path)
{
    text folder = {0};
    bool ok = true;
    for (size_t i = 0; path[i] != 0 && ok; i++) {
        if (i > 0 && posix_is_slash(path[i]))
            ok = mkdir(text_z(&folder), 0777) == 0 || errno == EEXIST || outfile_is_there(folder.v);
        text_char(&folder, path[i]);
    }
    text_free(&folder);
    return ok;
}
