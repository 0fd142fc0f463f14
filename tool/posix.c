/* See posix.h. */
#include "posix.h"

#ifdef _WIN32
#include <errno.h>
#include <string.h>
#include <windows.h>

/* Whether a read would not wait: 1 and 0, or -1 where Windows does not tell, as of a console. */
static int is_ready(HANDLE handle)
{
    DWORD bytes = 0;
    DWORD type = GetFileType(handle);
    if (type == FILE_TYPE_DISK)
        return 1;
    if (type != FILE_TYPE_PIPE)
        return -1;
    if (PeekNamedPipe(handle, NULL, 0, NULL, &bytes, NULL))
        return bytes > 0;
    return GetLastError() == ERROR_BROKEN_PIPE ? 1 : -1; /* its writer is gone; or it is no pipe of Windows */
}

/* What cannot be told counts as not ready: then output is written out first. */
int poll(struct pollfd *fds, unsigned long count, int milliseconds)
{
    HANDLE handle = (HANDLE)_get_osfhandle(fds[0].fd);
    (void)count;
    for (int waited = 0;; waited++) {
        int ready = is_ready(handle);
        if (ready != 0 || waited >= milliseconds)
            return ready > 0;
        Sleep(1);
    }
}

long sysconf(int name)
{
    SYSTEM_INFO info;
    (void)name;
    GetSystemInfo(&info);
    return (long)info.dwNumberOfProcessors;
}

void *memmem(const void *hay, size_t hay_len, const void *needle, size_t needle_len)
{
    const char *at = hay;
    for (; hay_len >= needle_len; at++, hay_len--) {
        const char *first = needle_len > 0 ? memchr(at, *(const char *)needle, hay_len - needle_len + 1) : at;
        if (first == NULL)
            return NULL;
        hay_len -= (size_t)(first - at);
        at = first;
        if (memcmp(at, needle, needle_len) == 0)
            return (void *)at;
    }
    return NULL;
}

int posix_replace(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : -1;
}

int link(const char *from, const char *to)
{
    if (CreateHardLinkA(to, from, NULL))
        return 0;
    errno = GetLastError() == ERROR_ALREADY_EXISTS ? EEXIST : EPERM;
    return -1;
}

void posix_start(void)
{
    _fmode = O_BINARY;
    for (int fd = 0; fd < 3; fd++)
        _setmode(fd, O_BINARY);
}
/* The number in the name is the process: a run that goes on has the file open only part of the time. */
void posix_remove_abandoned(const char *path)
{
    const char *number = strrchr(path, '.');
    while (number != NULL && number > path && strchr("/\\", number[-1]) == NULL)
        number--;
    unsigned long process = number != NULL ? strtoul(number + sizeof ".machsym-" - 1, NULL, 10) : 0;
    HANDLE handle = process != 0 ? OpenProcess(SYNCHRONIZE, FALSE, process) : NULL;
    if (handle != NULL)
        CloseHandle(handle);
    else if (process != 0 && GetLastError() == ERROR_INVALID_PARAMETER) /* there is no such process */
        unlink(path);
}
#else
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

/* The lock goes with the process, however it ends. A file system without locks keeps what killed runs left. */
bool posix_hold(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

int posix_open_device(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

/* Only what still has the name that was opened is removed: its writer may have moved it meanwhile. */
void posix_remove_abandoned(const char *path)
{
    struct stat opened;
    struct stat named;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    bool mine = fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (mine && lstat(path, &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
        unlink(path);
    close(fd);
}
#endif
