/* Files that are not in memory: by a callback they answer as by their path, less is read than they have, and
 * what cannot be read is damage, never another answer. */
#define TEST_PUBLIC
#include "failer.h"
#include "make.h"

#include <dirent.h>

/* A file, and which of the reads fail. */
typedef struct remote {
    test_file file;
    size_t calls;
    size_t fails_at; /* the number of this call, from 1; 0: none */
    size_t asked;
} remote;

static size_t remote_read(void *user, uint64_t offset, void *out, size_t len)
{
    remote *r = (remote *)user;
    size_t left = offset < r->file.len ? r->file.len - (size_t)offset : 0;
    CHECK(len <= left);
    r->asked += len;
    if (++r->calls == r->fails_at)
        len /= 2;
    memcpy(out, r->file.ptr + offset, len);
    return len;
}

/* Fills memory that was not read with what would show. */
static void *dirty_alloc(void *user, size_t size)
{
    void *memory = malloc(size);
    (void)user;
    if (memory != NULL)
        memset(memory, 0xa5, size);
    return memory;
}

static void dirty_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}

static machsym_result open_remote(remote *r, const char *arch, machsym_image **out, machsym_error *err)
{
    machsym_open_desc desc;
    machsym_allocator dirty = {dirty_alloc, dirty_free, NULL};
    memset(&desc, 0, sizeof desc);
    desc.read.call = remote_read;
    desc.read.user = r;
    desc.read.size = r->file.len;
    desc.arch = arch;
    desc.flags = MACHSYM_OPEN_NO_OBJECTS;
    desc.allocator = dirty;
    return machsym_image_open(&desc, out, err);
}

/* What an image says of all its code, as one number. */
static uint64_t sum_of(const machsym_image *image, size_t *frames_seen)
{
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_section section;
    machsym_symbol symbol;
    machsym_frame f[32];
    char text[600];
    uint64_t sum = 1469598103u;
    *frames_seen = 0;
    while (machsym_image_next_section(image, &at, &section)) {
        uint64_t step = section.size / 500 / 4 * 4 + 4;
        for (uint64_t i = 0; section.is_code && i < section.size; i += step) {
            size_t count = machsym_session_frames(session, section.addr + i, f, 32);
            *frames_seen += count;
            for (size_t j = 0; j < count && j < 32; j++) {
                size_t len = machsym_path_join(&f[j].file, text, sizeof text);
                len = len < sizeof text ? len : sizeof text - 1;
                for (size_t k = 0; k < len; k++)
                    sum = (sum ^ (uint8_t)text[k]) * 1099511628211u;
                for (size_t k = 0; k < f[j].linkage_name.len; k++)
                    sum = (sum ^ (uint8_t)f[j].linkage_name.ptr[k]) * 1099511628211u;
                sum = (sum ^ f[j].line ^ (uint64_t)f[j].name_source << 32) * 1099511628211u;
            }
        }
    }
    memset(&at, 0, sizeof at);
    while (machsym_session_next_symbol(session, &at, &symbol)) {
        sum = (sum ^ symbol.lo) * 1099511628211u;
        for (size_t k = 0; k < symbol.name.len; k++)
            sum = (sum ^ (uint8_t)symbol.name.ptr[k]) * 1099511628211u;
    }
    machsym_session_close(session);
    return sum;
}

/* The same answers for one slice. Returns how many frames there were. */
static size_t compare(const char *path, remote *r, const machsym_slice *slice)
{
    machsym_open_desc desc;
    machsym_image *here;
    machsym_image *there;
    machsym_image_info a;
    machsym_image_info b;
    size_t frames[2];
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.arch = slice->arch;
    desc.flags = MACHSYM_OPEN_NO_OBJECTS | MACHSYM_OPEN_NO_PAIR;
    machsym_result result = machsym_image_open(&desc, &here, NULL);
    r->calls = r->asked = 0;
    CHECK_EQ(open_remote(r, slice->arch, &there, NULL), result);
    if (result != MACHSYM_OK)
        return 0;
    machsym_image_get_info(here, &a);
    machsym_image_get_info(there, &b);
    CHECK_EQ(a.damage_count, b.damage_count);
    CHECK_EQ(a.has_dwarf, b.has_dwarf);
    CHECK_EQ(a.symbol_count, b.symbol_count);
    CHECK_EQ(a.read_count, 0);
    CHECK_EQ(b.read_count, r->calls);
    CHECK_EQ(b.read_bytes, r->asked);
    uint64_t sums[2] = {sum_of(here, &frames[0]), sum_of(there, &frames[1])};
    if (sums[0] != sums[1])
        printf("%s (%s):\n", path, slice->arch);
    CHECK_EQ(sums[0], sums[1]);
    CHECK_EQ(frames[0], frames[1]);
    machsym_image_close(here);
    machsym_image_close(there);
    return frames[0];
}

/* All slices of a file; none of what is no Mach-O file. Returns how many frames there were. */
static size_t test_path(const char *path)
{
    enum { SLICES = 16 };
    machsym_open_desc desc;
    machsym_slice slices[SLICES];
    size_t frames = 0;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    size_t count = machsym_list_slices(&desc, slices, SLICES, NULL);
    if (count == 0)
        return 0;
    remote r = {test_read(path), 0, 0, 0};
    for (size_t i = 0; i < count && i < SLICES; i++)
        frames += compare(path, &r, &slices[i]);
    free(r.file.ptr);
    return frames;
}

/* Every file of the fixtures. */
static void test_fixtures(void)
{
    DIR *dir = opendir("tests/fixtures/bin");
    char path[600];
    size_t frames = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "tests/fixtures/bin/%s", entry->d_name);
        if (strstr(path, ".dSYM") == NULL) /* a folder */
            frames += test_path(path);
    }
    if (dir != NULL)
        closedir(dir);
    CHECK(frames > 5000);
}

/* Each read fails once: the file does not open, or says that it is damaged. */
static void test_failures(const char *path)
{
    remote r = {test_read(path), 0, 0, 0};
    machsym_image *image;
    machsym_error err;
    CHECK_EQ(open_remote(&r, NULL, &image, &err), MACHSYM_OK);
    size_t calls = r.calls;
    CHECK(calls > 3);
    machsym_image_close(image);
    for (size_t i = 1; i <= calls; i++) {
        r.calls = 0;
        r.fails_at = i;
        machsym_result result = open_remote(&r, NULL, &image, &err);
        machsym_image_info info;
        size_t frames;
        if (i == 1) {
            CHECK_EQ(result, MACHSYM_ERR_IO);
            CHECK_TEXT(err.what, "the begin of the file cannot be read");
        }
        if (result != MACHSYM_OK)
            continue;
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.damage_count > 0, 1);
        sum_of(image, &frames);
        machsym_image_close(image);
    }
    free(r.file.ptr);
}

/* Counts the most that it gave at once. */
static void *counted_alloc(void *user, size_t size)
{
    size_t *most = (size_t *)user;
    *most = size > *most ? size : *most;
    return malloc(size);
}

/* A universal file may be larger than memory: room is made for its chosen slice. What has no room is said. */
static void test_limits(void)
{
    remote fat = {test_read("tests/fixtures/bin/inline-fat.dwarf"), 0, 0, 0};
    remote thin = {test_read("tests/fixtures/bin/zoo-arm64-opcodes"), 0, 0, 0};
    const uint64_t huge = UINT64_MAX / 4 * 3;
    size_t most = 0;
    machsym_allocator counted = {counted_alloc, dirty_free, NULL};
    machsym_image *image;
    machsym_error err;
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    counted.user = &most;
    desc.allocator = counted;
    desc.read.call = remote_read;
    desc.read.user = &fat;
    desc.read.size = huge;
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_ERR_AMBIGUOUS);
    desc.arch = "arm64";
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_OK);
    CHECK(most > 0 && most <= 1 << 20); /* the first piece of an arena */
    CHECK(fat.asked < 4 * fat.file.len);
    machsym_image_close(image);
    desc.arch = NULL;
    desc.read.user = &thin;
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_ERR_MEMORY);
    CHECK_EQ(err.offset, huge < SIZE_MAX ? huge : SIZE_MAX);
    desc.read.size = 0;
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_ERR_FORMAT);
    free(fat.file.ptr);
    free(thin.file.ptr);
}

/* A universal file of two thin ones, both behind what is read at first. */
static remote make_fat(const char *first, const char *second)
{
    test_file files[2] = {test_read(first), test_read(second)};
    bytes b = {NULL, 0, 0};
    size_t at = 1 << 16;
    put_be32(&b, 0xcafebabe);
    put_be32(&b, 2);
    for (unsigned i = 0; i < 2; i++) {
        put_zeros(&b, 8);
        put_be32(&b, at);
        put_be32(&b, files[i].len);
        put_be32(&b, 14);
        at += files[i].len;
    }
    put_zeros(&b, (1 << 16) - b.len);
    for (unsigned i = 0; i < 2; i++) {
        put(&b, files[i].ptr, files[i].len);
        free(files[i].ptr);
    }
    remote r = {{b.v, b.len}, 0, 0, 0};
    return r;
}

/* A slice whose begin cannot be read, or has no memory, does not count as one that is damaged or not
 * there. */
static void test_slices(void)
{
    remote r = make_fat("tests/fixtures/bin/zoo-arm64-opcodes", "tests/fixtures/bin/symbols-x86_64");
    machsym_open_desc desc;
    machsym_slice slices[4];
    machsym_image *image;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.read.call = remote_read;
    desc.read.user = &r;
    desc.read.size = r.file.len;
    CHECK_EQ(machsym_list_slices(&desc, slices, 4, &err), 2);
    for (r.fails_at = 2; r.fails_at < 4; r.fails_at++) {
        r.calls = 0;
        CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_ERR_IO);
        CHECK_TEXT(err.what, "the begin of a slice cannot be read");
        r.calls = 0;
        CHECK_EQ(machsym_list_slices(&desc, slices, 4, &err), 1);
        CHECK_EQ(err.code, MACHSYM_ERR_IO);
    }
    r.fails_at = 0;
    for (unsigned which = 0; which < 2; which++) {
        static const char *const archs[] = {"arm64", "x86_64"};
        failer f;
        memset(&f, 0, sizeof f);
        desc.arch = archs[which];
        desc.allocator.alloc = failing_alloc;
        desc.allocator.free = failing_free;
        desc.allocator.user = &f;
        do {
            f.calls = 0;
            f.fail_at++;
            machsym_result result = machsym_image_open(&desc, &image, &err);
            CHECK_EQ(result, f.calls < f.fail_at ? MACHSYM_OK : MACHSYM_ERR_MEMORY);
            if (result == MACHSYM_OK)
                machsym_image_close(image);
            CHECK_EQ(f.out, 0);
        } while (f.calls >= f.fail_at);
        CHECK(f.fail_at > 3);
    }
    free(r.file.ptr);
}

/* Sections that all claim the whole file are not all read. */
static void test_overlaps(void)
{
    enum { SECTIONS = 300, SIZE = 1 << 16 };
    bytes b = {NULL, 0, 0};
    machsym_image *image;
    machsym_image_info info;
    put32(&b, 0xfeedfacf);
    put32(&b, 0x0100000c);
    put64(&b, (uint64_t)10 << 32); /* MH_DSYM */
    put32(&b, 1);
    put32(&b, 72 + 80 * SECTIONS);
    put64(&b, 0);
    put32(&b, 0x19);
    put32(&b, 72 + 80 * SECTIONS);
    put_name(&b, "__TEXT");
    put64(&b, 0x100000000);
    put64(&b, SIZE);
    put64(&b, 0);
    put64(&b, SIZE);
    put64(&b, (uint64_t)5 << 32 | 7);
    put32(&b, SECTIONS);
    put32(&b, 0);
    for (unsigned i = 0; i < SECTIONS; i++) {
        put_name(&b, "__const");
        put_name(&b, "__TEXT");
        put64(&b, 0x100000000);
        put64(&b, SIZE - 32);
        put32(&b, 32);
        put_zeros(&b, 28);
    }
    put_zeros(&b, SIZE - b.len);
    remote r = {{b.v, b.len}, 0, 0, 0};
    CHECK_EQ(open_remote(&r, NULL, &image, NULL), MACHSYM_OK);
    machsym_image_get_info(image, &info);
    CHECK(r.asked < 3 * SIZE);
    CHECK_EQ(info.damage_count, SECTIONS - 1);
    machsym_image_close(image);
    bytes_free(&b);
}

/* With arguments: these files. */
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("%s: %zu frames\n", argv[i], test_path(argv[i]));
    if (argc > 1)
        return test_done();
    test_fixtures();
    test_failures("tests/fixtures/bin/inline-arm64-d5-22");
    test_failures("tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo");
    test_failures("tests/fixtures/bin/zoo-arm64-chained");
    test_limits();
    test_slices();
    test_overlaps();
    return test_done();
}
