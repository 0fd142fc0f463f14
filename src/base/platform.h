#ifndef ms_ROOM_base_platform
#define ms_ROOM_base_platform
#include "../api/options.h"
#include "../api/api.h"
#include "bytes.h"

/* ==== >>platform ===========================================================================================
 * Job:    makes all calls to the operating system.
 * Offers: ms_os_map, ms_os_open_unread, ms_os_read, ms_os_reopen, ms_os_peek, ms_os_settle, ms_os_unmap,
 *         ms_os_is_folder, ms_os_is_file, ms_os_first_file, ms_os_base_name, ms_os_error_text.
 * Never:  looks at contents. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What parts the names in a path of this system. */
#ifdef _WIN32
#define ms_os_is_slash(c) ((c) == '/' || (c) == '\\')
#else
#define ms_os_is_slash(c) ((c) == '/')
#endif

/* The part of a system's path after its last slash. */
static machsym_str ms_os_base_name(machsym_str path)
{
    size_t at = path.len;
    while (at > 0 && !ms_os_is_slash(path.ptr[at - 1]))
        at--;
    return at == 0 ? path : ms_str_make(path.ptr + at, path.len - at); /* NULL + 0 is undefined */
}

#ifndef MACHSYM_NO_OS
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A whole file in memory, read-only. */
typedef struct ms_os_file {
    void *ptr;
    size_t len;
    uint64_t time;   /* of its last change, in seconds since 1970 */
    uint64_t device; /* and number there: 0 where the system has none */
    uint64_t number;
    machsym_allocator allocator;
    size_t taken; /* bytes from the allocator */
    bool mapped;  /* else read into memory from the allocator */
    bool is_open; /* fd is open, until ms_os_settle: of a file that is not mapped or read at once */
    int fd;
} ms_os_file;

#ifdef _MSC_VER
#error "define MACHSYM_NO_OS with this compiler: its library lacks dirent.h and unistd.h"
#endif
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _WIN32 /* with MinGW's library */
#include <io.h>
#include <wchar.h>
#ifdef _WIN64
typedef unsigned long long ms_os_size; /* SIZE_T */
#else
typedef unsigned long ms_os_size;
#endif
#ifdef __cplusplus
extern "C" {
#endif
/* As windows.h declares them. */
struct _SECURITY_ATTRIBUTES;
__declspec(dllimport) unsigned long __stdcall GetLastError(void);
__declspec(dllimport) int __stdcall CloseHandle(void *handle);
__declspec(dllimport) void *__stdcall CreateFileW(const wchar_t *path, unsigned long access,
                                                  unsigned long share, struct _SECURITY_ATTRIBUTES *security,
                                                  unsigned long how, unsigned long flags, void *model);
__declspec(dllimport) void *__stdcall CreateFileMappingW(void *file, struct _SECURITY_ATTRIBUTES *security,
                                                         unsigned long pages, unsigned long high,
                                                         unsigned long low, const wchar_t *name);
__declspec(dllimport) void *__stdcall MapViewOfFile(void *mapping, unsigned long access, unsigned long high,
                                                    unsigned long low, ms_os_size len);
__declspec(dllimport) int __stdcall UnmapViewOfFile(const void *view);
__declspec(dllimport) int __stdcall MoveFileExW(const wchar_t *from, const wchar_t *to, unsigned long flags);
__declspec(dllimport) unsigned long __stdcall GetFullPathNameW(const wchar_t *path, unsigned long units,
                                                               wchar_t *out, wchar_t **name);
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned page, unsigned long flags, const char *text,
                                                        int len, wchar_t *out, int units);
__declspec(dllimport) int __stdcall WideCharToMultiByte(unsigned page, unsigned long flags,
                                                        const wchar_t *text, int len, char *out, int bytes,
                                                        const char *other, int *used_other);
#ifdef __cplusplus
}
#endif
#define ms_OS_NEW        O_BINARY
#define ms_os_count(len) ((unsigned)(len))
#define ms_OS_MAPS       true
#define ms_os_read_at(fd, out, len, at)                                                                      \
    (_lseeki64(fd, at, SEEK_SET) < 0 ? -1 : _read(fd, out, (unsigned)(len)))
#define ms_os_sync(fd)      _commit(fd)
#define ms_os_fstat(fd, st) _fstat64(fd, st)
typedef struct _stat64 ms_os_info;
typedef int64_t ms_os_off; /* off_t has 32 bits */

enum {
    ms_OS_SHARE_ALL = 7,      /* FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_SHARE_DELETE */
    ms_OS_OPEN_EXISTING = 3,  /* OPEN_EXISTING */
    ms_OS_PLAIN_FILE = 0x80,  /* FILE_ATTRIBUTE_NORMAL */
    ms_OS_PAGE_READ = 2,      /* PAGE_READONLY */
    ms_OS_MAP_READ = 4,       /* FILE_MAP_READ */
    ms_OS_UTF8 = 65001,       /* CP_UTF8 */
    ms_OS_PATH_UNITS = 32768, /* the most that Windows takes, with the NUL */
    ms_OS_PLAIN_UNITS = 240,  /* longer ones need a prefix, of folders already before MAX_PATH */
    ms_OS_NAME_BYTES = 780    /* a name has 260 units of UTF-16 at most */
};

/* A folder that is being read. */
typedef struct ms_os_dir {
    intptr_t handle;
    struct _wfinddata64_t found; /* what the next call gives */
    int code;                    /* of the last step; ENOENT: that was all */
    char name[ms_OS_NAME_BYTES];
} ms_os_dir;

/* A path of UTF-8 as Windows has it. One that is too long for most functions becomes an absolute one after
 * its prefix. Returns false with errno. */
static bool ms_os_wide(const char *path, wchar_t *out)
{
    wchar_t full[ms_OS_PATH_UNITS];
    errno = ENOENT;
    if (MultiByteToWideChar(ms_OS_UTF8, 8 /* MB_ERR_INVALID_CHARS */, path, -1, out, ms_OS_PATH_UNITS) == 0)
        return false;
    size_t len = wcslen(out);
    while (len > 3 && ms_os_is_slash(out[len - 1])) /* stat knows no folder with one, but C:\\ */
        out[--len] = 0;
    if (len < ms_OS_PLAIN_UNITS || (out[0] == '\\' && out[1] == '\\'))
        return true;
    len = GetFullPathNameW(out, ms_OS_PATH_UNITS - 4, full, NULL);
    errno = ENAMETOOLONG;
    if (len == 0 || len >= ms_OS_PATH_UNITS - 4)
        return false;
    wcscpy(out, L"\\\\?\\");
    wcscat(out, full);
    return true;
}

static int ms_os_open_path(const char *path, int flags)
{
    wchar_t wide[ms_OS_PATH_UNITS];
    return ms_os_wide(path, wide) ? _wopen(wide, flags, _S_IREAD | _S_IWRITE) : -1;
}

/* The errno of a file that CreateFileW did not open. */
static int ms_os_open_errno(unsigned long error)
{
    switch (error) {
    case 2:                        /* ERROR_FILE_NOT_FOUND */
    case 3:                        /* ERROR_PATH_NOT_FOUND */
    case 53:                       /* ERROR_BAD_NETPATH */
    case 67:                       /* ERROR_BAD_NET_NAME */
    case 123: return ENOENT;       /* ERROR_INVALID_NAME */
    case 4: return EMFILE;         /* ERROR_TOO_MANY_OPEN_FILES */
    case 5:                        /* ERROR_ACCESS_DENIED */
    case 32: return EACCES;        /* ERROR_SHARING_VIOLATION */
    case 8: return ENOMEM;         /* ERROR_NOT_ENOUGH_MEMORY */
    case 206: return ENAMETOOLONG; /* ERROR_FILENAME_EXCED_RANGE */
    default: return EIO;
    }
}

/* Opens a file to read. Unlike _wopen it lets others rename and delete the file meanwhile. */
static int ms_os_open_to_read(const char *path)
{
    wchar_t wide[ms_OS_PATH_UNITS];
    if (!ms_os_wide(path, wide))
        return -1;
    void *file = CreateFileW(wide, 0x80000000u /* GENERIC_READ */, ms_OS_SHARE_ALL, NULL, ms_OS_OPEN_EXISTING,
                             ms_OS_PLAIN_FILE, NULL);
    if ((intptr_t)file == -1 /* INVALID_HANDLE_VALUE */) {
        errno = ms_os_open_errno(GetLastError());
        return -1;
    }
    int fd = _open_osfhandle((intptr_t)file, O_RDONLY | O_BINARY);
    if (fd < 0) {
        CloseHandle(file);
        errno = EMFILE;
    }
    return fd;
}

static int ms_os_stat(const char *path, ms_os_info *st)
{
    wchar_t wide[ms_OS_PATH_UNITS];
    return ms_os_wide(path, wide) ? _wstat64(wide, st) : -1;
}

static int ms_os_rename(const char *from, const char *to)
{
    wchar_t wide[2][ms_OS_PATH_UNITS];
    if (!ms_os_wide(from, wide[0]) || !ms_os_wide(to, wide[1]))
        return -1;
    errno = EACCES;
    return MoveFileExW(wide[0], wide[1], 1 /* MOVEFILE_REPLACE_EXISTING */) != 0 ? 0 : -1;
}

static int ms_os_remove(const char *path)
{
    wchar_t wide[ms_OS_PATH_UNITS];
    return ms_os_wide(path, wide) ? _wunlink(wide) : -1;
}

static int ms_os_open_dir(ms_os_dir *dir, const char *path)
{
    wchar_t wide[ms_OS_PATH_UNITS + 2];
    if (!ms_os_wide(path, wide))
        return ENAMETOOLONG;
    dir->handle = _wfindfirst64(wcscat(wide, L"\\*"), &dir->found);
    dir->code = dir->handle != -1 ? 0 : errno;
    return dir->code;
}

/* Sets *name to the next name in a folder, which stays until the next call; NULL: that was all. Returns 0, or
 * an errno. */
static int ms_os_next_name(ms_os_dir *dir, const char **name)
{
    *name = NULL;
    if (dir->code != 0)
        return dir->code == ENOENT ? 0 : dir->code;
    WideCharToMultiByte(ms_OS_UTF8, 0, dir->found.name, -1, dir->name, sizeof dir->name, NULL, NULL);
    dir->code = _wfindnext64(dir->handle, &dir->found) == 0 ? 0 : errno;
    *name = dir->name;
    return 0;
}

static void ms_os_close_dir(ms_os_dir *dir)
{
    _findclose(dir->handle);
}

/* Maps a file. Returns NULL when that cannot be: it is read then. */
static void *ms_os_map_bytes(int fd, size_t len)
{
    void *mapping = CreateFileMappingW((void *)_get_osfhandle(fd), NULL, ms_OS_PAGE_READ, 0, 0, NULL);
    if (mapping == NULL)
        return NULL;
    void *ptr = MapViewOfFile(mapping, ms_OS_MAP_READ, 0, 0, len);
    CloseHandle(mapping); /* the view holds it */
    return ptr;
}

static void ms_os_unmap_bytes(void *ptr, size_t len)
{
    (void)len;
    UnmapViewOfFile(ptr);
}
#else
#include <dirent.h>
#ifdef __wasi__ /* WebAssembly: files are read, not mapped */
#define ms_OS_MAPS false
#else
#include <sys/mman.h>
#define ms_OS_MAPS true
#endif
#ifdef O_CLOEXEC
#define ms_OS_NEW                       O_CLOEXEC
#define ms_os_read_at(fd, out, len, at) pread(fd, out, len, at)
#else /* POSIX 2008 is not declared under a strict -std=c99 */
#define ms_OS_NEW                       0
#define ms_os_read_at(fd, out, len, at) (lseek(fd, at, SEEK_SET) < 0 ? -1 : read(fd, out, len))
#endif
#define ms_os_count(len)             (len)
#define ms_os_sync(fd)               fsync(fd)
#define ms_os_rename(from, to)       rename(from, to)
#define ms_os_remove(path)           unlink(path)
#define ms_os_open_path(path, flags) open(path, flags, 0666)
#define ms_os_open_to_read(path)     open(path, O_RDONLY | ms_OS_NEW | O_NONBLOCK) /* no wait for a FIFO */
#define ms_os_fstat(fd, st)          fstat(fd, st)
#define ms_os_stat(path, st)         stat(path, st)
typedef struct stat ms_os_info;
typedef off_t ms_os_off;

/* A folder that is being read. */
typedef struct ms_os_dir {
    DIR *handle;
} ms_os_dir;

static int ms_os_open_dir(ms_os_dir *dir, const char *path)
{
    dir->handle = opendir(path);
    return dir->handle != NULL ? 0 : errno;
}

/* Sets *name to the next name in a folder, which stays until the next call; NULL: that was all. Returns 0, or
 * an errno. */
static int ms_os_next_name(ms_os_dir *dir, const char **name)
{
    errno = 0;
    const struct dirent *entry = readdir(dir->handle);
    *name = entry != NULL ? entry->d_name : NULL;
    return entry != NULL ? 0 : errno;
}

static void ms_os_close_dir(ms_os_dir *dir)
{
    closedir(dir->handle);
}

/* Maps a file. Returns NULL when that cannot be: it is read then. */
static void *ms_os_map_bytes(int fd, size_t len)
{
#ifdef __wasi__
    (void)fd;
    (void)len;
    return NULL;
#else
    void *ptr = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
#endif
}

static void ms_os_unmap_bytes(void *ptr, size_t len)
{
#ifdef __wasi__
    (void)ptr;
    (void)len;
#else
    munmap(ptr, len);
#endif
}
#endif

enum {
    ms_OS_NO_FILE = -1,  /* no errno has this value */
    ms_OS_STEP = 1 << 30 /* bytes read or written at once */
};

static void *ms_os_take(const machsym_allocator *allocator, size_t size)
{
    return allocator->alloc(allocator->user, size);
}

/* Gives a text back to the allocator. Its size is that of its bytes and the NUL. NULL is allowed. */
static void ms_os_free_text(const machsym_allocator *allocator, char *text)
{
    if (text != NULL)
        allocator->free(allocator->user, text, strlen(text) + 1);
}

/* Reads len bytes into memory; for files that others may change while we look. */
static int ms_os_read_all(int fd, ms_os_file *file)
{
    size_t done = 0;
    size_t size = file->len + 1;
    char *memory = (char *)ms_os_take(&file->allocator, size);
    if (memory == NULL)
        return ENOMEM;
    while (done < file->len) {
        size_t left = file->len - done < ms_OS_STEP ? file->len - done : (size_t)ms_OS_STEP;
        ssize_t got = read(fd, memory + done, ms_os_count(left));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int code = errno;
            file->allocator.free(file->allocator.user, memory, size);
            return code;
        }
        if (got == 0)
            break;
        done += (size_t)got;
    }
    file->ptr = memory;
    file->len = done;
    file->taken = size;
    return 0;
}

/* Looks at an open file. Returns 0, an errno, or ms_OS_NO_FILE. */
static int ms_os_examine(int fd, ms_os_file *file, uint64_t *size)
{
    ms_os_info st;
    *size = 0;
    if (ms_os_fstat(fd, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode))
        return ms_OS_NO_FILE; /* a FIFO or a device: would block, or never end */
    file->time = st.st_mtime > 0 ? (uint64_t)st.st_mtime : 0;
    file->device = (uint64_t)st.st_dev;
    file->number = (uint64_t)st.st_ino;
    *size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return 0;
}

static int ms_os_map_fd(int fd, bool copy, ms_os_file *file)
{
    uint64_t size = 0;
    int code = ms_os_examine(fd, file, &size);
    if (code != 0 || size == 0)
        return code;
    if (size > (uint64_t)SIZE_MAX / 2)
        return EFBIG;
    file->len = (size_t)size;
    if (!copy && file->len > MACHSYM_SMALL_FILE)
        file->ptr = ms_os_map_bytes(fd, file->len);
    file->mapped = file->ptr != NULL;
    return file->mapped ? 0 : ms_os_read_all(fd, file);
}

static void ms_os_clear(machsym_allocator allocator, ms_os_file *file)
{
    const ms_os_file none = {NULL, 0, 0, 0, 0, allocator, 0, false, false, 0};
    *file = none;
}

/* Maps or reads a file. Returns 0, an errno, or ms_OS_NO_FILE. An empty file gives ptr NULL and len 0. */
static int ms_os_map(const char *path, bool copy, machsym_allocator allocator, ms_os_file *file)
{
    ms_os_clear(allocator, file);
    int fd = ms_os_open_to_read(path);
    if (fd < 0)
        return errno;
    int code = ms_os_map_fd(fd, copy, file);
    if (code != 0)
        ms_os_clear(allocator, file);
    close(fd);
    return code;
}

/* Opens a file whose bytes are read later, until ms_os_settle: for systems that do not map files. Returns as
 * ms_os_map does. */
static int ms_os_open_unread(const char *path, machsym_allocator allocator, ms_os_file *file, uint64_t *size)
{
    ms_os_clear(allocator, file);
    int fd = ms_os_open_to_read(path);
    if (fd < 0)
        return errno;
    int code = ms_os_examine(fd, file, size);
    file->is_open = code == 0;
    file->fd = fd;
    if (code != 0)
        close(fd);
    return code;
}

/* Closes a file that is open: nothing is read of it after this. */
static void ms_os_settle(ms_os_file *file)
{
    if (file->is_open)
        close(file->fd);
    file->is_open = false;
}

/* Reads bytes of the open file with the number fd, as a machsym_io does. */
static size_t ms_os_read(void *fd, uint64_t offset, void *out, size_t len)
{
    size_t done = 0;
    while (done < len) {
        size_t left = len - done < ms_OS_STEP ? len - done : (size_t)ms_OS_STEP;
        ssize_t got = ms_os_read_at((int)(intptr_t)fd, (char *)out + done, left, (ms_os_off)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* Opens a mapped file once more, for ms_os_peek, until ms_os_settle. Returns false when another file has its
 * path now. */
static bool ms_os_reopen(const ms_os_file *file, const char *path, ms_os_file *again)
{
    uint64_t size;
    if (!file->mapped || ms_os_open_unread(path, file->allocator, again, &size) != 0)
        return false;
    if (size == file->len && again->time == file->time && again->device == file->device &&
        again->number == file->number) {
        again->ptr = file->ptr;
        again->len = file->len;
        return true;
    }
    ms_os_settle(again);
    return false;
}

/* Copies a few bytes out of a mapped file by reading the file. Touching a page of the map for the first
 * time costs several times as much. Returns false when that is not possible. */
static bool ms_os_peek(const ms_os_file *file, const void *at, void *out, size_t len)
{
    const char *begin = (const char *)file->ptr;
    const char *p = (const char *)at;
    return file->is_open && p >= begin && len <= file->len && p <= begin + (file->len - len) &&
           ms_os_read_at(file->fd, out, len, (ms_os_off)(p - begin)) == (ssize_t)len;
}

static void ms_os_unmap(ms_os_file *file)
{
    ms_os_settle(file);
    if (file->mapped)
        ms_os_unmap_bytes(file->ptr, file->len);
    else if (file->ptr != NULL)
        file->allocator.free(file->allocator.user, file->ptr, file->taken);
    file->ptr = NULL;
    file->len = 0;
}

/* A file that ms_os_map did not open. */
static machsym_result ms_os_fail(machsym_error *err, int code)
{
    if (code == ms_OS_NO_FILE)
        return ms_fail(err, MACHSYM_ERR_IO, "a FIFO or a device, not a regular file", "", 0);
    if (code == ENOMEM)
        return ms_fail_memory(err);
    ms_fail(err, MACHSYM_ERR_IO, "the file cannot be read", "", 0);
    if (err != NULL)
        err->os_errno = code;
    return MACHSYM_ERR_IO;
}

static bool ms_os_is_folder(const char *path)
{
    ms_os_info st;
    return ms_os_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool ms_os_is_file(const char *path)
{
    ms_os_info st;
    return ms_os_stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Whether an errno tells of a path: that nothing is there, or may not be read. Others tell of the system (a
 * disk, memory, too many open files): what the path leads to is not known then. */
static bool ms_os_is_of_path(int code)
{
    static const int codes[] = {0,
                                ENOENT,
                                ENOTDIR,
                                EACCES,
                                EPERM,
                                EISDIR,
                                ENAMETOOLONG,
                                EINVAL,
                                ENXIO,
#ifdef ELOOP
                                ELOOP,
#endif
                                ms_OS_NO_FILE};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i] == code)
            return true;
    }
    return false;
}

/* Looks for a file. Returns 0 with *is, or the errno of a system that failed to tell. */
static int ms_os_find_file(const char *path, bool *is)
{
    ms_os_info st;
    bool known = ms_os_stat(path, &st) == 0;
    *is = known && S_ISREG(st.st_mode);
    return known || ms_os_is_of_path(errno) ? 0 : errno;
}

/* Finds the first file in a folder, in byte order, without hidden files. Returns 0 with its path, which comes
 * from the allocator, or with NULL when there is none; else an errno: ENOMEM if the allocator fails. */
static int ms_os_first_file(const char *folder, const machsym_allocator *allocator, char **first)
{
    ms_os_dir dir;
    const char *name = NULL;
    int code = ms_os_open_dir(&dir, folder);
    *first = NULL;
    if (code != 0)
        return code == ENOENT || code == ENOTDIR ? 0 : code;
    while (code == 0 && (code = ms_os_next_name(&dir, &name)) == 0 && name != NULL) {
        size_t size = strlen(folder) + strlen(name) + 2;
        bool is_file = false;
        if (name[0] == '.')
            continue;
        char *path = (char *)ms_os_take(allocator, size);
        if (path == NULL) {
            code = ENOMEM;
            break;
        }
        snprintf(path, size, "%s/%s", folder, name);
        code = ms_os_find_file(path, &is_file);
        if (!is_file || (*first != NULL && strcmp(path, *first) > 0)) {
            ms_os_free_text(allocator, path);
            continue;
        }
        ms_os_free_text(allocator, *first);
        *first = path;
    }
    ms_os_close_dir(&dir);
    if (code != 0) {
        ms_os_free_text(allocator, *first);
        *first = NULL;
    }
    return code;
}

/* Writes all bytes. Returns 0, or an errno. */
static int ms_os_write_all(int fd, const char *ptr, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, ptr, ms_os_count(len < ms_OS_STEP ? len : (size_t)ms_OS_STEP));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        ptr += put;
        len -= (size_t)put;
    }
    return ms_os_sync(fd) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

/* Opens a new file beside path, which takes the name path when it is complete. Each of several writers gets
 * a file of its own. */
static int ms_os_open_beside(const char *path, char *beside, size_t cap)
{
    int fd = -1;
    for (unsigned i = 0; i < MACHSYM_MAX_TEMPORARY_NAMES && fd < 0; i++) {
        snprintf(beside, cap, "%s.%ld.%u.tmp", path, (long)getpid(), i);
        fd = ms_os_open_path(beside, O_WRONLY | O_CREAT | O_EXCL | ms_OS_NEW);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Makes a file of these bytes: whole under its name, or not at all. Returns 0, or an errno. */
static int ms_os_write(const char *path, const void *ptr, size_t len, const machsym_allocator *allocator)
{
    size_t cap = strlen(path) + 48;
    char *beside = (char *)ms_os_take(allocator, cap);
    if (beside == NULL)
        return ENOMEM;
    int fd = ms_os_open_beside(path, beside, cap);
    int code = fd < 0 ? errno : ms_os_write_all(fd, (const char *)ptr, len);
    if (fd >= 0 && close(fd) != 0 && code == 0)
        code = errno;
    if (code == 0 && ms_os_rename(beside, path) != 0)
        code = errno;
    if (code != 0 && fd >= 0)
        ms_os_remove(beside);
    allocator->free(allocator->user, beside, cap);
    return code;
}
/* The text of an error that people meet; NULL for any other. strerror differs between systems, and is not
 * safe in threads. */
static const char *ms_os_error_text(int number)
{
    switch (number) {
    case ENOENT: return "there is no such file";
    case EACCES: return "permission denied";
    case EPERM: return "not permitted";
    case EISDIR: return "it is a folder";
    case ENOTDIR: return "a part of its path is no folder";
    case ENAMETOOLONG: return "its name is too long";
    case EMFILE: return "too many open files";
    case ENOSPC: return "no space left on the disk";
    case EROFS: return "the file system is read-only";
    case EFBIG: return "the file would be too large";
    case ENOMEM: return "out of memory";
    case EIO: return "the disk cannot be read or written";
    default: return NULL;
    }
}
#else
static const char *ms_os_error_text(int number)
{
    (void)number;
    return NULL;
}
#endif /* MACHSYM_NO_OS */

#endif /* ms_ROOM_base_platform */
