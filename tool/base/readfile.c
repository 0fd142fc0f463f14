/* Whole files; see readfile.h. */
#include "readfile.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads to the end; fails with EFBIG where a file has none, or is too large to be a report or a table. */
static bool file_read_all(text *t, int fd, uint64_t most)
{
    enum { STEP = 1 << 16 };
    size_t from = t->len;
    for (;;) {
        ssize_t got = read(fd, text_room(t, STEP), STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        t->len += (size_t)got;
        if (t->len - from > most) {
            errno = EFBIG;
            return false;
        }
    }
}

/* What the shell opened for the command: <(...), </dev/stdin. It may be a pipe. */
static bool file_is_descriptor(const char *path)
{
    return strncmp(path, "/dev/fd/", 8) == 0 || strcmp(path, "/dev/stdin") == 0;
}

const char *file_read(text *t, const char *path)
{
    return file_read_most(t, path, TEXT_FILE_MAX);
}

/* People name few such files; of more, and of maps of lines in folders, the first are noted. */
enum { MAX_WORDS_PATHS = 256 };
static const char *words_paths[MAX_WORDS_PATHS];

/* Options are read by one thread. The paths are words of the command line, or live as long. */
static void file_note_words(const char *path)
{
    size_t at = 0;
    while (at < MAX_WORDS_PATHS && words_paths[at] != NULL && strcmp(words_paths[at], path) != 0)
        at++;
    if (at < MAX_WORDS_PATHS && words_paths[at] == NULL)
        words_paths[at] = str_copy_z(str_c(path));
}

const char *file_words_path(size_t index)
{
    return index < MAX_WORDS_PATHS ? words_paths[index] : NULL;
}

const char *file_read_words(text *t, const char *path)
{
    size_t from = t->len;
    file_note_words(path);
    const char *why = file_read(t, path);
    if (t->len == from)
        return why;
    size_t mark = str_mark_len((machsym_str){t->v + from, t->len - from});
    if (mark > 0)
        memmove(t->v + from, t->v + from + mark, t->len - from - mark);
    t->len -= mark;
    return why;
}

const char *file_read_most(text *t, const char *path, uint64_t most)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return file_read_all(t, STDIN_FILENO, most) ? NULL : strerror(errno);
    bool any = file_is_descriptor(path);
    int fd = any ? open(path, O_RDONLY | O_CLOEXEC) : posix_open_to_read(path);
    if (fd < 0)
        return strerror(errno);
    const char *why = NULL;
    if (!any && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        why = "a FIFO or a device, not a regular file; - reads standard input";
    else if (!file_read_all(t, fd, most))
        why = strerror(errno);
    close(fd);
    return why;
}

size_t file_folder_len(const char *path)
{
    size_t len = strlen(path);
    while (len > 0 && !posix_is_slash(path[len - 1]))
        len--;
    return len;
}

size_t file_read_begin(const char *path, void *out, size_t len)
{
    int fd = posix_open_to_read(path);
    long got = fd >= 0 ? posix_read(fd, out, len) : -1;
    int failure = got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    machsym_error err = {MACHSYM_ERR_IO, failure, "cannot be read", "", 0};
    if (posix_is_fault(failure))
        say_fault(path, &err);
    return got > 0 ? (size_t)got : 0;
}

bool file_stat(const char *path, struct stat *st)
{
    if (stat(path, st) == 0)
        return true;
    int failure = errno;
    machsym_error err = {MACHSYM_ERR_IO, failure, "cannot be read", "", 0};
    if (posix_is_fault(failure))
        say_fault(path, &err);
    errno = failure;
    return false;
}
