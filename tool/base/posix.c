/* See posix.h. */
#define _CRT_RAND_S /* rand_s of Windows */
#include "posix.h"

#ifdef _WIN32
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include <shellapi.h>

#undef _stat64
#undef getenv
#undef open

enum {
    PATH_UNITS = 32768, /* the most that Windows takes, with the NUL */
    PLAIN_UNITS = 240   /* longer ones need a prefix, of folders already before MAX_PATH */
};

/* Whether a read would not wait: 1 and 0, or -1 where Windows does not tell, as of a console. */
static int posix_is_ready(HANDLE handle)
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
        int ready = posix_is_ready(handle);
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

/* ---- Paths ---- */

/* Long paths become absolute, with the prefix \\?\. Returns false with errno. */
static bool posix_to_wide(const char *path, wchar_t *out)
{
    wchar_t full[PATH_UNITS];
    errno = ENOENT;
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, PATH_UNITS) == 0)
        return false;
    size_t len = wcslen(out);
    while (len > 3 &&
           (out[len - 1] == '/' || out[len - 1] == '\\')) /* stat knows no folder with one, but C:\\ */
        out[--len] = 0;
    if (len < PLAIN_UNITS || wcsncmp(out, L"\\\\", 2) == 0)
        return true;
    len = GetFullPathNameW(out, PATH_UNITS - 4, full, NULL);
    errno = ENAMETOOLONG;
    if (len == 0 || len >= PATH_UNITS - 4)
        return false;
    wmemcpy(out, L"\\\\?\\", 4);
    wmemcpy(out + 4, full, len + 1);
    return true;
}

/* UTF-8 of it, from malloc; NULL when memory is out. */
static char *posix_from_wide(const wchar_t *wide)
{
    int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *made = size > 0 ? malloc((size_t)size) : NULL;
    if (made != NULL)
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, made, size, NULL, NULL);
    return made;
}

int posix_open(const char *path, int flags, ...)
{
    wchar_t wide[PATH_UNITS];
    return posix_to_wide(path, wide) ? _wopen(wide, flags, _S_IREAD | _S_IWRITE) : -1;
}

int posix_stat(const char *path, struct stat *st)
{
    wchar_t wide[PATH_UNITS];
    return posix_to_wide(path, wide) ? _wstat64(wide, st) : -1;
}

int posix_access(const char *path, int how)
{
    wchar_t wide[PATH_UNITS];
    return posix_to_wide(path, wide) ? _waccess(wide, how) : -1;
}

int posix_mkdir(const char *path)
{
    wchar_t wide[PATH_UNITS];
    return posix_to_wide(path, wide) ? _wmkdir(wide) : -1;
}

int posix_unlink(const char *path)
{
    wchar_t wide[PATH_UNITS];
    return posix_to_wide(path, wide) ? _wunlink(wide) : -1;
}

int posix_rmdir(const char *path)
{
    wchar_t wide[PATH_UNITS];
    return posix_to_wide(path, wide) ? _wrmdir(wide) : -1;
}

static int posix_fail(int code)
{
    errno = code;
    return -1;
}

int posix_rename(const char *from, const char *to)
{
    wchar_t wide[2][PATH_UNITS];
    if (!posix_to_wide(from, wide[0]) || !posix_to_wide(to, wide[1]))
        return -1;
    if (MoveFileExW(wide[0], wide[1], MOVEFILE_REPLACE_EXISTING))
        return 0;
    DWORD attributes = GetFileAttributesW(wide[1]);
    bool is_folder = attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return posix_fail(is_folder ? EISDIR : EACCES);
}

int posix_link(const char *from, const char *to)
{
    wchar_t wide[2][PATH_UNITS];
    if (!posix_to_wide(from, wide[0]) || !posix_to_wide(to, wide[1]))
        return -1;
    if (CreateHardLinkW(wide[1], wide[0], NULL))
        return 0;
    return posix_fail(GetLastError() == ERROR_ALREADY_EXISTS ? EEXIST : EPERM);
}

char *posix_realpath(const char *path)
{
    wchar_t wide[PATH_UNITS];
    wchar_t full[PATH_UNITS];
    if (!posix_to_wide(path, wide) || _wfullpath(full, wide, PATH_UNITS) == NULL)
        return NULL;
    return posix_from_wide(full);
}

char *posix_getenv(const char *name)
{
    wchar_t wide[PATH_UNITS];
    const wchar_t *value = posix_to_wide(name, wide) ? _wgetenv(wide) : NULL;
    return value != NULL ? posix_from_wide(value) : NULL;
}

/* Windows does not replace a file that is open, so a file beside it is held. It goes with the process,
 * however that ends. */
int posix_hold_file(const char *path)
{
    wchar_t wide[PATH_UNITS];
    wchar_t beside[PATH_UNITS];
    if (!posix_to_wide(path, wide))
        return -1;
    size_t folder = wcslen(wide);
    while (folder > 0 && !posix_is_slash(wide[folder - 1]))
        folder--;
    if (swprintf(beside, PATH_UNITS, L"%.*ls.machsym-%ls.lock", (int)folder, wide, wide + folder) < 0)
        return posix_fail(ENAMETOOLONG);
    HANDLE handle = CreateFileW(beside, GENERIC_WRITE, 0, NULL, OPEN_ALWAYS,
                                FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    return handle != INVALID_HANDLE_VALUE ? _open_osfhandle((intptr_t)handle, 0) : posix_fail(EAGAIN);
}

/* ---- Folders ---- */

struct posix_dir {
    intptr_t handle;
    struct _wfinddata64_t found; /* what the next call gives */
    bool has_found;
    struct posix_entry entry;
};

posix_dir *posix_opendir(const char *path)
{
    wchar_t wide[PATH_UNITS + 2];
    posix_dir *dir = posix_to_wide(path, wide) ? malloc(sizeof *dir) : NULL;
    if (dir == NULL)
        return NULL;
    dir->handle = _wfindfirst64(wcscat(wide, L"\\*"), &dir->found);
    dir->has_found = dir->handle != -1;
    if (dir->has_found)
        return dir;
    free(dir);
    return NULL;
}

struct posix_entry *posix_readdir(posix_dir *dir)
{
    if (!dir->has_found)
        return NULL;
    WideCharToMultiByte(CP_UTF8, 0, dir->found.name, -1, dir->entry.d_name, sizeof dir->entry.d_name, NULL,
                        NULL);
    dir->has_found = _wfindnext64(dir->handle, &dir->found) == 0;
    return &dir->entry;
}

void posix_closedir(posix_dir *dir)
{
    _findclose(dir->handle);
    free(dir);
}

/* ---- The program ---- */

static UINT console_page; /* of the console before; 0: there is none */

static void posix_restore_console(void)
{
    SetConsoleOutputCP(console_page);
}

void posix_start(int *argc, char ***argv)
{
    int count = 0;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    char **made = words != NULL ? malloc(((size_t)count + 1) * sizeof *made) : NULL;
    for (int i = 0; made != NULL && i < count; i++)
        made[i] = posix_from_wide(words[i]);
    if (made != NULL) {
        made[count] = NULL;
        *argc = count;
        *argv = made;
    }
    _fmode = O_BINARY;
    for (int fd = 0; fd < 3; fd++)
        _setmode(fd, O_BINARY);
    console_page = GetConsoleOutputCP();
    if (console_page != 0 && SetConsoleOutputCP(CP_UTF8))
        atexit(posix_restore_console);
}

/* The number in the name is the process: a run that goes on has the file open only part of the time. */
bool posix_is_abandoned(const char *path)
{
    const char *number = strrchr(path, '.');
    while (number != NULL && number > path && strchr("/\\", number[-1]) == NULL)
        number--;
    unsigned long process = number != NULL ? strtoul(number + sizeof ".machsym-" - 1, NULL, 10) : 0;
    HANDLE handle = process != 0 ? OpenProcess(SYNCHRONIZE, FALSE, process) : NULL;
    if (handle != NULL)
        CloseHandle(handle);
    return handle == NULL && process != 0 &&
           GetLastError() == ERROR_INVALID_PARAMETER; /* there is no such process */
}

bool posix_remove_abandoned(const char *path)
{
    return posix_is_abandoned(path) && unlink(path) == 0;
}
#else
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif
#ifdef __linux__
#include <sys/xattr.h>
#endif

/* The lock goes with the process, however it ends. A file system without locks keeps what killed runs
 * left. A file whose state is unknown counts as held: if it is gone, it cannot get its name later. */
bool posix_hold(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

/* Returns whether the file now has the access list of the other one, or as that has none. Mode bits stand for
 * a list's mask, so that without the list they would give to a group what was given to somebody else. */
static bool posix_take_access_list(int fd, const char *path)
{
#ifdef __linux__
    static const char name[] = "system.posix_acl_access";
    char list[4096]; /* 500 entries: file systems allow fewer */
    ssize_t len = lgetxattr(path, name, list, sizeof list);
    if (len >= 0)
        return fsetxattr(fd, name, list, (size_t)len, 0) == 0;
    if (errno != ENODATA)
        return errno == ENOTSUP;
    return fremovexattr(fd, name) == 0 || errno == ENODATA ||
           errno == ENOTSUP; /* what the folder gives to new files */
#else
    (void)fd;
    (void)path;
    return true;
#endif
}

void posix_take_rights(int fd, const char *path)
{
    struct stat st;
    int failure = errno;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        errno = failure;
        return;
    }
    mode_t mode = st.st_mode & 0777;
    bool has_group = fchown(fd, st.st_uid, st.st_gid) == 0 || fchown(fd, (uid_t)-1, st.st_gid) == 0;
    bool has_list = posix_take_access_list(fd, path);
    if (!has_group || !has_list)
        mode = (mode & ~(mode_t)070) | (mode & 070 & (mode & 07) << 3);
    if (fchmod(fd, mode) != 0)
        fchmod(fd, 0600);
    errno = failure;
}

int posix_hold_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || posix_hold(fd))
        return fd;
    close(fd);
    return -1;
}

int posix_open_device(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

/* Only what still has the name that was opened is removed: its writer may have moved it meanwhile. */
static bool posix_take_abandoned(const char *path, bool removes)
{
    struct stat opened;
    struct stat named;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is = fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
              lstat(path, &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
    is = is && (!removes || unlink(path) == 0);
    close(fd);
    return is;
}

bool posix_is_abandoned(const char *path)
{
    return posix_take_abandoned(path, false);
}

bool posix_remove_abandoned(const char *path)
{
    return posix_take_abandoned(path, true);
}
#endif

/* ---- Reading, on all systems ---- */

#ifdef _WIN32
#define open(...) posix_open(__VA_ARGS__)
#endif

enum { MAX_TRIES = 1000 /* of a call that is interrupted: a timer that never lets one through is a fault */ };

void posix_let_go(int fd)
{
#ifndef _WIN32
    flock(fd, LOCK_UN); /* a close that fails may leave it */
#endif
    close(fd);
}

int posix_open_to_read(const char *path)
{
    int fd = -1;
    for (int i = 0; i < MAX_TRIES && fd < 0; i++) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 && errno != EINTR)
            break;
    }
    return fd;
}

long posix_read(int fd, void *out, size_t len)
{
    size_t done = 0;
    int tries = 0;
    while (done < len) {
        long got = (long)read(fd, (char *)out + done, (unsigned)(len - done));
        if (got < 0 && errno == EINTR && tries++ < MAX_TRIES)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (long)done;
}

struct dirent *posix_next_entry(DIR *dir)
{
    struct dirent *entry = NULL;
    for (int i = 0; i < MAX_TRIES && entry == NULL; i++) {
        errno = 0;
        entry = readdir(dir);
        if (entry == NULL && errno != EINTR)
            break;
    }
    return entry;
}

bool posix_is_fault(int error)
{
    static const int of_paths[] = {0,        ENOENT, ENOTDIR, EACCES, EPERM, EISDIR, ENAMETOOLONG,
                                   ENXIO,    ENODEV, EINVAL,  EEXIST,
#ifdef ELOOP
                                   ELOOP,
#endif
#ifdef EOVERFLOW
                                   EOVERFLOW
#endif
    };
    for (size_t i = 0; i < sizeof of_paths / sizeof of_paths[0]; i++) {
        if (error == of_paths[i])
            return false;
    }
    return true;
}

#ifdef _WIN32
bool posix_random(void *out, size_t len)
{
    unsigned char *to = out;
    for (size_t i = 0; i < len; i++) {
        unsigned drawn;
        if (rand_s(&drawn) != 0)
            return false;
        to[i] = (unsigned char)drawn;
    }
    return true;
}

char *posix_own_path(void)
{
    return NULL;
}

bool posix_link_to(const char *target, const char *path)
{
    (void)target;
    (void)path;
    errno = ENOSYS;
    return false;
}
#else
bool posix_random(void *out, size_t len)
{
    int fd = posix_open_to_read("/dev/urandom");
    bool ok = fd >= 0 && posix_read(fd, out, len) == (long)len;
    if (fd >= 0)
        close(fd);
    return ok;
}

char *posix_own_path(void)
{
#ifdef __APPLE__
    char path[4096];
    uint32_t size = sizeof path;
    return _NSGetExecutablePath(path, &size) == 0 ? realpath(path, NULL) : NULL;
#else
    return realpath("/proc/self/exe", NULL);
#endif
}

bool posix_link_to(const char *target, const char *path)
{
    return symlink(target, path) == 0;
}
#endif
