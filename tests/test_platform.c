/* The room platform: what it does when the operating system interrupts it, gives less than was asked for,
 * or refuses. The calls of POSIX go through functions that can be told to do so. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* How the next calls end. */
static struct {
    size_t most;         /* read and write move no more bytes at once; 0: as many as they like */
    unsigned interrupts; /* the number of calls that end with EINTR first */
    size_t good;         /* the number of calls that succeed before one fails with code */
    int code;            /* 0: none fails */
    int fstat_code;
    int fsync_code;
    int close_code;
    int open_code;
    bool no_map;
} system_is;

static size_t at_most(size_t len)
{
    return system_is.most != 0 && len > system_is.most ? system_is.most : len;
}

/* Sets errno and returns true when a call of read or write has to fail now. */
static bool call_fails(void)
{
    if (system_is.interrupts > 0) {
        system_is.interrupts--;
        errno = EINTR;
        return true;
    }
    if (system_is.code == 0 || system_is.good-- > 0)
        return false;
    errno = system_is.code;
    return true;
}

static ssize_t told_read(int fd, void *out, size_t len)
{
    return call_fails() ? -1 : read(fd, out, at_most(len));
}

static ssize_t told_write(int fd, const void *ptr, size_t len)
{
    return call_fails() ? -1 : write(fd, ptr, at_most(len));
}

/* Returns result, or -1 with errno when code is one. */
static int told(int code, int result)
{
    if (code == 0)
        return result;
    errno = code;
    return -1;
}

#define read(fd, out, len)     told_read(fd, out, len)
#define write(fd, ptr, len)    told_write(fd, ptr, len)
#define fstat(fd, st)          told(system_is.fstat_code, (fstat)(fd, st))
#define fsync(fd)              told(system_is.fsync_code, (fsync)(fd))
#define close(fd)              told(system_is.close_code, (close)(fd))
#define open(...)              (system_is.open_code != 0 ? told(system_is.open_code, -1) : (open)(__VA_ARGS__))
#define mmap(a, b, c, d, e, f) (system_is.no_map ? MAP_FAILED : (mmap)(a, b, c, d, e, f))
#define TEST_ROOM              "../src/base/platform.h"
#include "failer.h"
#undef read
#undef write
#undef fstat
#undef fsync
#undef close
#undef open
#undef mmap

static char folder[] = "/tmp/machsym-platform-XXXXXX";

static void system_is_well(void)
{
    memset(&system_is, 0, sizeof system_is);
}

/* A path inside the folder of this test; the next call but three reuses its memory. */
static const char *in_folder(const char *name)
{
    static char paths[4][64];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void make_text_file(const char *path, const char *text, size_t len)
{
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(text, 1, len, out) != len || fclose(out) != 0)
        printf("%s: cannot be written\n", path);
}

static machsym_allocator allocator_of(failer *f)
{
    machsym_allocator allocator = {failing_alloc, failing_free, f};
    return allocator;
}

/* Whether a file holds these bytes; fread is the witness. */
static bool holds(const char *path, const char *text, size_t len)
{
    test_file file = test_read(path);
    bool same = file.len == len && memcmp(file.ptr, text, len) == 0;
    free(file.ptr);
    return same;
}

/* Returns the number of files in the folder, with the hidden ones. */
static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

enum { BIG = MACHSYM_SMALL_FILE + 1000 };
static char big[BIG];

/* ---- Reading ---- */

static void check_reads(bool copy, bool mapped)
{
    failer f = {0, 0, false, 0, 0};
    ms_os_file file;
    char few[16];
    ms_os_file again;
    CHECK_EQ(ms_os_map(in_folder("big"), copy, allocator_of(&f), &file), 0);
    CHECK_EQ(file.len, BIG);
    CHECK(file.ptr != NULL && memcmp(file.ptr, big, BIG) == 0);
    CHECK_EQ(file.mapped, mapped);
    const char *begin = (const char *)file.ptr;
    CHECK(!ms_os_peek(&file, begin, few, 16)); /* it is closed */
    CHECK(!ms_os_reopen(&file, in_folder("no such"), &again));
    CHECK(!ms_os_reopen(&file, __FILE__, &again)); /* another file */
    CHECK_EQ(ms_os_reopen(&file, in_folder("big"), &again), mapped);
    if (mapped) {
        CHECK(ms_os_peek(&again, begin + 500, few, 16));
        CHECK(memcmp(few, big + 500, 16) == 0);
        CHECK(ms_os_peek(&again, begin + BIG - 16, few, 16));
        CHECK(!ms_os_peek(&again, begin + BIG - 15, few, 16));
        CHECK(!ms_os_peek(&again, big, few, 16));
        CHECK(!ms_os_peek(&again, begin, few, (size_t)BIG + 1));
        ms_os_settle(&again);
        CHECK(!ms_os_peek(&again, begin, few, 16));
    }
    ms_os_unmap(&file);
    CHECK(file.ptr == NULL && file.len == 0);
    CHECK_EQ(f.out, 0);
}

/* Read or mapped, whole or in pieces, the bytes are the same. */
static void test_reading(void)
{
    check_reads(false, true);
    check_reads(true, false);
    system_is.no_map = true;
    check_reads(false, false);
    system_is.most = 7000;
    system_is.interrupts = 3;
    check_reads(true, false);
    CHECK_EQ(system_is.interrupts, 0);
    system_is_well();
}

/* A failed open gives the code, no bytes, and every allocation back. */
static void check_refused(const char *path, int code)
{
    failer f = {0, 0, false, 0, 0};
    ms_os_file file;
    CHECK_EQ(ms_os_map(path, true, allocator_of(&f), &file), code);
    CHECK(file.ptr == NULL && file.len == 0 && !file.is_open);
    CHECK_EQ(f.out, 0);
    system_is_well();
}

static void test_reading_fails(void)
{
    char long_name[400];
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = 0;
    check_refused(in_folder("none"), ENOENT);
    check_refused(in_folder("big/below"), ENOTDIR);
    check_refused(long_name, ENAMETOOLONG);
    check_refused(folder, EISDIR);
    check_refused("/dev/null", ms_OS_NO_FILE);
    CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
    check_refused(in_folder("fifo"), ms_OS_NO_FILE);
    unlink(in_folder("fifo"));
    system_is.open_code = EACCES; /* root may read every file */
    check_refused(in_folder("big"), EACCES);
    system_is.fstat_code = EIO;
    check_refused(in_folder("big"), EIO);
    system_is.code = EIO;
    check_refused(in_folder("big"), EIO);
    system_is.code = EIO;
    system_is.good = 2;
    system_is.most = 100;
    check_refused(in_folder("big"), EIO);
    failer f = {0, 1, false, 0, 0};
    ms_os_file file;
    CHECK_EQ(ms_os_map(in_folder("big"), true, allocator_of(&f), &file), ENOMEM);
    CHECK(file.ptr == NULL);
}

/* The file was cut between fstat and read. */
static void test_shrinks(void)
{
    failer f = {0, 0, false, 0, 0};
    ms_os_file file;
    memset(&file, 0, sizeof file);
    int fd = (open)(in_folder("big"), O_RDONLY);
    file.len = BIG + 77;
    file.allocator = allocator_of(&f);
    CHECK_EQ(ms_os_read_all(fd, &file), 0);
    CHECK_EQ(file.len, BIG);
    CHECK(memcmp(file.ptr, big, BIG) == 0);
    ms_os_unmap(&file);
    CHECK_EQ(f.out, 0);
    close(fd);
}

/* The time is in seconds since 1970; what is before counts as 0. */
static void test_times(void)
{
    static const long rows[][2] = {{1234567890, 1234567890}, {1, 1}, {0, 0}, {-5, 0}};
    failer f = {0, 0, false, 0, 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ms_os_file file;
        struct timeval times[2];
        memset(times, 0, sizeof times);
        times[1].tv_sec = rows[i][0];
        CHECK(utimes(in_folder("big"), times) == 0);
        CHECK_EQ(ms_os_map(in_folder("big"), false, allocator_of(&f), &file), 0);
        CHECK_EQ(file.time, rows[i][1]);
        ms_os_unmap(&file);
    }
}

/* What the result says of each code. */
static void test_fail(void)
{
    machsym_error err;
    CHECK_EQ(ms_os_fail(&err, ms_OS_NO_FILE), MACHSYM_ERR_IO);
    CHECK_EQ(err.os_errno, 0);
    CHECK_EQ(ms_os_fail(&err, ENOMEM), MACHSYM_ERR_MEMORY);
    CHECK_EQ(ms_os_fail(&err, EACCES), MACHSYM_ERR_IO);
    CHECK_EQ(err.os_errno, EACCES);
    CHECK_EQ(ms_os_fail(NULL, EACCES), MACHSYM_ERR_IO);
    static const int told_in_words[] = {ENOENT, EACCES, EPERM, EISDIR, ENOTDIR, ENAMETOOLONG,
                                        EMFILE, ENOSPC, EROFS, EFBIG,  ENOMEM,  EIO};
    enum { WORDS = sizeof told_in_words / sizeof told_in_words[0] };
    for (size_t i = 0; i < WORDS; i++) {
        CHECK(ms_os_error_text(told_in_words[i]) != NULL);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(ms_os_error_text(told_in_words[i]), ms_os_error_text(told_in_words[j])) != 0);
    }
    CHECK(ms_os_error_text(0) == NULL && ms_os_error_text(EAGAIN) == NULL);
}

/* ---- Folders ---- */

static void check_first(const char *want)
{
    failer f = {0, 0, false, 0, 0};
    machsym_allocator allocator = allocator_of(&f);
    char *path = NULL;
    CHECK_EQ(ms_os_first_file(in_folder("sub"), &allocator, &path), 0);
    CHECK_TEXT(path != NULL ? path : "none", want != NULL ? in_folder(want) : "none");
    ms_os_free_text(&allocator, path);
    CHECK_EQ(f.out, 0);
    size_t calls = f.calls;
    for (size_t n = 1; n <= calls; n++) { /* memory ends at each allocation in turn */
        failer none = {0, n, true, 0, 0};
        allocator = allocator_of(&none);
        CHECK_EQ(ms_os_first_file(in_folder("sub"), &allocator, &path), ENOMEM);
        CHECK(path == NULL);
        CHECK_EQ(none.out, 0);
    }
}

/* The first file in the order of the bytes of its name. Folders and hidden files do not count. */
static void test_folders(void)
{
    static const char *const names[] = {"sub/m", "sub/z", "sub/.a", "sub/b", "sub/B", "sub/c"};
    static const char *const first[] = {"sub/m", "sub/m", "sub/m", "sub/b", "sub/B", "sub/B"};
    failer f = {0, 0, false, 0, 0};
    machsym_allocator allocator = allocator_of(&f);
    char *path = NULL;
    CHECK(ms_os_first_file(in_folder("sub"), &allocator, &path) == 0 && path == NULL);
    CHECK_EQ(symlink("loop", in_folder("loop")), 0);
    CHECK_EQ(ms_os_first_file(in_folder("loop"), &allocator, &path), ELOOP); /* not that none is there */
    CHECK_EQ(unlink(in_folder("loop")), 0);
    CHECK(mkdir(in_folder("sub"), 0700) == 0 && mkdir(in_folder("sub/0"), 0700) == 0);
    check_first(NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        make_text_file(in_folder(names[i]), "x", 1);
        check_first(first[i]);
    }
    CHECK(ms_os_is_folder(in_folder("sub")) && !ms_os_is_file(in_folder("sub")));
    CHECK(ms_os_is_file(in_folder("sub/b")) && !ms_os_is_folder(in_folder("sub/b")));
    CHECK(!ms_os_is_file(in_folder("none")) && !ms_os_is_folder(in_folder("none")));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(names[i]));
    rmdir(in_folder("sub/0"));
    rmdir(in_folder("sub"));
}

/* ---- Writing ---- */

static int write_new(const char *name, failer *f)
{
    machsym_allocator allocator = allocator_of(f);
    int code = ms_os_write(in_folder(name), big, BIG, &allocator);
    CHECK_EQ(f->out, 0);
    system_is_well();
    return code;
}

/* What cannot be written whole leaves what was there, and nothing beside it. */
static void check_keeps(int code)
{
    failer f = {0, 0, false, 0, 0};
    make_text_file(in_folder("map"), "old", 3);
    CHECK_EQ(write_new("map", &f), code);
    CHECK(holds(in_folder("map"), "old", 3));
    CHECK_EQ(files_in_folder(), 2); /* map and big */
}

static void test_writing(void)
{
    failer f = {0, 0, false, 0, 0};
    CHECK_EQ(write_new("map", &f), 0);
    CHECK(holds(in_folder("map"), big, BIG));
    make_text_file(in_folder("map"), "old", 3);
    system_is.most = 1001;
    system_is.interrupts = 5;
    CHECK_EQ(write_new("map", &f), 0);
    CHECK(holds(in_folder("map"), big, BIG));
    /* a file system that cannot promise that bytes are on the disk */
    system_is.fsync_code = EINVAL;
    CHECK_EQ(write_new("map", &f), 0);
    system_is.fsync_code = EROFS;
    CHECK_EQ(write_new("map", &f), 0);
    CHECK_EQ(files_in_folder(), 2);
}

static void test_writing_fails(void)
{
    failer f = {0, 0, false, 0, 0};
    system_is.code = ENOSPC;
    check_keeps(ENOSPC);
    system_is.code = ENOSPC;
    system_is.good = 3;
    system_is.most = 1000;
    check_keeps(ENOSPC);
    system_is.fsync_code = EIO;
    check_keeps(EIO);
    system_is.close_code = EIO;
    check_keeps(EIO);
    system_is.close_code = EIO;
    system_is.code = ENOSPC; /* the first failure is the one that counts */
    check_keeps(ENOSPC);
    system_is.open_code = EACCES;
    check_keeps(EACCES);
    system_is.open_code = EEXIST; /* however many names are tried */
    check_keeps(EEXIST);
    failer none = {0, 1, false, 0, 0};
    CHECK_EQ(write_new("map", &none), ENOMEM);
    CHECK(holds(in_folder("map"), "old", 3));
    CHECK_EQ(write_new("none/map", &f), ENOENT);
    CHECK(mkdir(in_folder("sub"), 0700) == 0);
    CHECK_EQ(write_new("sub", &f), EISDIR);
    rmdir(in_folder("sub"));
    CHECK_EQ(files_in_folder(), 2);
}

/* The name beside is taken, by another writer or by what one left: that file stays as it is. */
static void test_beside(void)
{
    failer f = {0, 0, false, 0, 0};
    char beside[64];
    char second[64];
    snprintf(beside, sizeof beside, "%s/map.%ld.0.tmp", folder, (long)getpid());
    make_text_file(beside, "other", 5);
    int fd = ms_os_open_beside(in_folder("map"), second, sizeof second);
    CHECK(fd >= 0 && strcmp(second, beside) != 0);
    close(fd);
    CHECK_EQ(write_new("map", &f), 0);
    CHECK(holds(in_folder("map"), big, BIG));
    CHECK(holds(beside, "other", 5));
    unlink(beside);
    unlink(second);
    CHECK_EQ(files_in_folder(), 2);
}

/* A disk that is really full. */
static void test_full(void)
{
    int fd = (open)("/dev/full", O_WRONLY);
    if (fd < 0) {
        test_leave_out("a full disk", "there is no /dev/full");
        return;
    }
    CHECK_EQ(ms_os_write_all(fd, big, BIG), ENOSPC);
    close(fd);
}

static void test_names(void)
{
    CHECK_STR(ms_os_base_name(ms_str_from_c("/a/b.c")), "b.c");
    CHECK_STR(ms_os_base_name(ms_str_from_c("b.c")), "b.c");
    CHECK_STR(ms_os_base_name(ms_str_from_c("a/")), "");
    CHECK_STR(ms_os_base_name(ms_str_from_c("a\\b")), "a\\b"); /* a name of POSIX */
}

int main(void)
{
    for (size_t i = 0; i < BIG; i++)
        big[i] = (char)(i * 31 + i / 251);
    CHECK(mkdtemp(folder) != NULL);
    make_text_file(in_folder("big"), big, BIG);
    test_reading();
    test_reading_fails();
    test_shrinks();
    test_times();
    test_fail();
    test_folders();
    test_writing();
    test_writing_fails();
    test_beside();
    test_full();
    test_names();
    unlink(in_folder("map"));
    unlink(in_folder("big"));
    CHECK(rmdir(folder) == 0);
    return test_done();
}
