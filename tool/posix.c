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
#else
typedef int posix_is_there; /* C wants something in every file */
#endif
