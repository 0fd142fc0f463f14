/* Files that are not in memory: by a callback they answer as by their path, less is read than they have, and
 * what cannot be read is damage, never another answer. */
#define TEST_PUBLIC
#include "failer.h"
#include "make.h"
#include "maps.h"

/* A file, and which of the reads fail. */
typedef struct remote {
    test_file file;
    size_t calls;
    size_t fails_at; /* the number of this call, from 1; 0: none */
    size_t asked;
    const machsym_image *image; /* whose sections are looked at as they are read; NULL: none are */
    uint64_t slice;             /* where it begins in the file */
    size_t of_lines;            /* bytes of debug info that were read */
    size_t of_names;            /* of metadata */
    size_t of_others;           /* of what nothing needs */
    size_t of_tables;           /* of headers, and of tables outside sections */
} remote;

/* Counts what is read by the kind of section that it is of. image shows the same file. */
static void count_read(remote *r, uint64_t offset, size_t len)
{
    static const char *const lines[] = {"info", "abbrev", "str",      "line",    "line_str", "str_offs",
                                        "addr", "ranges", "rnglists", "aranges", "names"};
    machsym_cursor at = {0, 0};
    machsym_section s;
    while (r->image != NULL && machsym_image_next_section(r->image, &at, &s)) {
        char name[20];
        bool has_lines = false;
        if (s.bytes.len == 0 || offset != r->slice + s.offset || len != s.bytes.len)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)s.name.len, s.name.ptr);
        const char *plain = name + (strncmp(name, "__z", 3) == 0 ? 3 : 2); /* a compressed one */
        for (size_t i = 0; i < sizeof lines / sizeof lines[0] && strncmp(plain, "debug_", 6) == 0; i++)
            has_lines |= strncmp(lines[i], plain + 6, strlen(plain + 6)) == 0; /* names are cut */
        has_lines |= strcmp(plain, "apple_names") == 0;
        bool is_needed = !s.is_code || strcmp(name, "__objc_stubs") == 0;
        bool is_dwarf = test_same(s.segment, test_str("__DWARF"));
        *(has_lines ? &r->of_lines : is_needed && !is_dwarf ? &r->of_names : &r->of_others) += len;
        return;
    }
    r->of_tables += len;
}

static remote make_remote(test_file file)
{
    remote r;
    memset(&r, 0, sizeof r);
    r.file = file;
    return r;
}

static test_file file_of(const bytes *b)
{
    test_file file;
    file.ptr = b->v;
    file.len = b->len;
    return file;
}

static size_t remote_read(void *user, uint64_t offset, void *out, size_t len)
{
    remote *r = (remote *)user;
    size_t left = offset < r->file.len ? r->file.len - (size_t)offset : 0;
    CHECK(len <= left);
    r->asked += len;
    count_read(r, offset, len);
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

static machsym_result open_remote(remote *r, const char *arch, uint32_t flags, machsym_image **out,
                                  machsym_error *err)
{
    machsym_open_desc desc;
    machsym_allocator dirty = {dirty_alloc, dirty_free, NULL};
    memset(&desc, 0, sizeof desc);
    desc.io.read = remote_read;
    desc.io.user = r;
    desc.io.size = r->file.len;
    desc.arch = arch;
    desc.flags = MACHSYM_OPEN_NO_OBJECTS | flags;
    desc.allocator = dirty;
    return machsym_image_open(&desc, out, err);
}

static void reset(remote *r)
{
    r->calls = r->asked = r->of_lines = r->of_names = r->of_others = r->of_tables = 0;
}

static uint64_t add_symbols(machsym_session *session, uint64_t sum)
{
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    while (machsym_session_next_symbol(session, &at, &symbol)) {
        sum = (sum ^ symbol.lo) * 1099511628211u;
        for (size_t k = 0; k < symbol.name.len; k++)
            sum = (sum ^ (uint8_t)symbol.name.ptr[k]) * 1099511628211u;
    }
    return sum;
}

/* The symbols of an image, as one number. */
static uint64_t symbols_of(const machsym_image *image)
{
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    uint64_t sum = add_symbols(session, 0);
    machsym_session_close(session);
    return sum;
}

/* What a session says of the sections of code, as one number. */
static uint64_t sum_frames(const machsym_image *code, machsym_session *session, size_t *frames_seen)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    machsym_frame f[32];
    char text[600];
    uint64_t sum = 1469598103u;
    *frames_seen = 0;
    while (machsym_image_next_section(code, &at, &section)) {
        uint64_t step = section.size / 500 / 4 * 4 + 4;
        for (uint64_t i = 0; section.is_code && i < section.size; i += step) {
            size_t count = machsym_session_frames_at_addr(session, section.addr + i, f, 32);
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
    return sum;
}

/* What an image says of the sections of code, and its symbols. */
static uint64_t sum_of(const machsym_image *code, const machsym_image *image, size_t *frames_seen,
                       machsym_io_stats *reads)
{
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    uint64_t sum = add_symbols(session, sum_frames(code, session, frames_seen));
    machsym_session_get_io_stats(session, reads);
    machsym_session_close(session);
    return sum;
}

/* A map of the image answers by a reader as it does from memory. */
static void compare_map(const char *path, const machsym_image *image)
{
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_DAMAGED);
    machsym_open_desc desc;
    machsym_image *here = NULL;
    machsym_image *there = NULL;
    machsym_io_stats reads;
    size_t frames[2];
    if (map == NULL)
        return;
    machsym_bytes bytes = machsym_map_bytes(map);
    test_file file = {(uint8_t *)(uintptr_t)bytes.ptr, bytes.len};
    remote r = make_remote(file);
    memset(&desc, 0, sizeof desc);
    desc.bytes = bytes;
    CHECK_EQ(machsym_image_open(&desc, &here, NULL), MACHSYM_OK);
    CHECK_EQ(open_remote(&r, NULL, 0, &there, NULL), MACHSYM_OK);
    uint64_t sums[2] = {sum_of(image, here, &frames[0], &reads), sum_of(image, there, &frames[1], &reads)};
    if (sums[0] != sums[1])
        printf("%s: its map:\n", path);
    CHECK_EQ(sums[0], sums[1]);
    CHECK_EQ(frames[0], frames[1]);
    CHECK_EQ(reads.lost, 0);
    machsym_image_close(here);
    machsym_image_close(there);
    machsym_map_close(map);
}

/* No debug info is read for a caller that asks for symbols alone. It is read when more is asked for later. */
static void compare_symbols(const char *path, remote *r, const machsym_slice *slice, bool is_whole)
{
    machsym_image *there;
    machsym_image_info info;
    machsym_session_counts found;
    reset(r);
    CHECK_EQ(open_remote(r, slice->arch, 0, &there, NULL), MACHSYM_OK);
    CHECK_EQ(symbols_of(there), symbols_of(r->image));
    if (r->of_lines != 0 && !is_whole)
        printf("%s (%s), for symbols alone:\n", path, slice->arch);
    CHECK_EQ(is_whole ? 0 : r->of_lines, 0);
    machsym_session *session = test_session(there, MACHSYM_LINES_ATOS, 0);
    machsym_session_count_all(session, &found);
    machsym_image_get_info(there, &info);
    CHECK_EQ(info.has_dwarf, found.unit_count != 0);
    machsym_session_close(session);
    machsym_image_close(there);
}

/* Nothing of debug info is read a second time, and all of it is read for damage. */
static void read_again(remote *r, const machsym_image *here, const machsym_image *there, bool is_whole)
{
    machsym_image_info a;
    machsym_image_info b;
    machsym_io_stats reads;
    size_t frames;
    CHECK(machsym_image_count_damage(here, &a));
    CHECK(machsym_image_count_damage(there, &b));
    CHECK_EQ(a.damage_count, b.damage_count);
    CHECK_EQ(a.has_dwarf, b.has_dwarf);
    size_t lines = r->of_lines;
    machsym_cursor at = {0, 0};
    machsym_section section;
    size_t all = 0;
    while (machsym_image_next_section(here, &at, &section)) {
        size_t before = r->of_lines;
        count_read(r, r->slice + section.offset, section.bytes.len);
        all += r->of_lines - before;
        r->of_lines = before;
    }
    CHECK(is_whole || lines <= all);
    sum_of(here, there, &frames, &reads);
    CHECK_EQ(r->of_lines, lines);
}

/* The same answers for one slice. Returns how many frames there were. */
static size_t compare(const char *path, remote *r, const machsym_slice *slice)
{
    machsym_open_desc desc;
    machsym_image *here;
    machsym_image *there;
    machsym_image_info a;
    machsym_image_info b;
    machsym_io_stats reads;
    size_t frames[2];
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.arch = slice->arch;
    desc.flags = MACHSYM_OPEN_NO_OBJECTS | MACHSYM_OPEN_NO_PAIR;
    machsym_result result = machsym_image_open(&desc, &here, NULL);
    reset(r);
    r->image = here;
    r->slice = slice->offset;
    CHECK_EQ(open_remote(r, slice->arch, 0, &there, NULL), result);
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
    bool shares = strstr(path, "indirectsyms-overlap") != NULL;    /* a table and a section are one there */
    bool is_whole = slice->filetype == 1 || slice->filetype == 12; /* an object file, a collection */
    CHECK_EQ(shares ? 0 : r->of_names, 0);                         /* when it is opened */
    CHECK_EQ(is_whole ? 0 : r->of_lines, 0);
    uint64_t sums[2] = {sum_of(here, here, &frames[0], &reads), sum_of(here, there, &frames[1], &reads)};
    if (sums[0] != sums[1])
        printf("%s (%s):\n", path, slice->arch);
    CHECK_EQ(sums[0], sums[1]);
    CHECK_EQ(frames[0], frames[1]);
    CHECK_EQ(reads.lost, 0);
    CHECK_EQ(reads.bytes, is_whole || shares ? 0 : r->of_names);
    CHECK_EQ(is_whole ? 0 : r->of_others, 0);
    machsym_image_get_info(there, &b);
    CHECK_EQ(r->asked, b.read_bytes + reads.bytes);
    CHECK_EQ(r->calls, b.read_count + reads.count);
    compare_map(path, there);
    read_again(r, here, there, is_whole);
    compare_symbols(path, r, slice, is_whole);
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
    test_begin();
    remote r = make_remote(test_read(path));
    for (size_t i = 0; i < count && i < SLICES; i++)
        frames += compare(path, &r, &slices[i]);
    free(r.file.ptr);
    test_end(path);
    return frames;
}

/* Every file in a folder. Returns how many frames there were. */
static size_t test_folder(const char *folder)
{
    file_list files;
    size_t frames = 0;
    memset(&files, 0, sizeof files);
    list_files(&files, folder);
    for (size_t i = 0; i < files.count; i++)
        frames += test_path(files.v[i]);
    free_list(&files);
    return frames;
}

static void test_files(void)
{
    CHECK(test_folder("tests/fixtures/bin") > 5000);
    CHECK(test_folder("tests/real") > 0);
    if (test_folder("../shared/corpus") == 0)
        test_leave_out("../shared/corpus", "it is not here");
}

/* What was asked for once is not asked for again, if it failed too: the first session has had it all. */
static void ask_again(remote *r, const machsym_image *image)
{
    machsym_io_stats reads[2];
    size_t frames;
    r->fails_at = 0;
    sum_of(image, image, &frames, &reads[0]);
    size_t calls = r->calls;
    sum_of(image, image, &frames, &reads[1]);
    CHECK_EQ(r->calls - calls, reads[1].count); /* metadata, which each session reads */
}

/* Each read fails once: the file does not open, or says that it is damaged. */
static void test_failures(const char *path)
{
    remote r = make_remote(test_read(path));
    machsym_image *image;
    machsym_error err;
    machsym_io_stats reads;
    size_t frames;
    CHECK_EQ(open_remote(&r, NULL, 0, &image, &err), MACHSYM_OK);
    machsym_image_info all;
    CHECK(machsym_image_count_damage(image, &all));
    CHECK_EQ(all.read_count, r.calls);
    size_t opening = r.calls; /* with debug info */
    sum_of(image, image, &frames, &reads);
    machsym_image_close(image);
    size_t calls = r.calls;
    CHECK_EQ(calls, opening + reads.count);
    CHECK(opening > 3);
    for (size_t i = 1; i <= calls; i++) {
        r.calls = 0;
        r.fails_at = i;
        machsym_result result = open_remote(&r, NULL, 0, &image, &err);
        machsym_image_info info;
        machsym_session_counts found;
        if (i == 1) {
            CHECK_EQ(result, MACHSYM_ERR_IO);
            CHECK_TEXT(err.what, "the begin of the file cannot be read");
        }
        if (result != MACHSYM_OK)
            continue;
        CHECK(machsym_image_count_damage(image, &info));
        CHECK_EQ(info.damage_count > 0, i <= opening);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_session_count_all(session, &found);
        machsym_session_get_io_stats(session, &reads);
        CHECK_EQ(reads.lost, i > opening);
        CHECK(i <= opening || found.damaged_metadata > 0);
        machsym_session_close(session);
        sum_of(image, image, &frames, &reads);
        CHECK_EQ(reads.lost, 0); /* it is asked for again */
        ask_again(&r, image);
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

/* A universal file may be larger than memory: room is made for its chosen slice. A file without room is an
 * error. */
static void test_limits(void)
{
    remote fat = make_remote(test_read("tests/fixtures/bin/inline-fat.dwarf"));
    remote thin = make_remote(test_read("tests/fixtures/bin/zoo-arm64-opcodes"));
    const uint64_t huge = UINT64_MAX / 4 * 3;
    size_t most = 0;
    machsym_allocator counted = {counted_alloc, dirty_free, NULL};
    machsym_image *image;
    machsym_error err;
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    counted.user = &most;
    desc.allocator = counted;
    desc.io.read = remote_read;
    desc.io.user = &fat;
    desc.io.size = huge;
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_ERR_AMBIGUOUS);
    desc.arch = "arm64";
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_OK);
    CHECK(most > 0 && most <= 1 << 20); /* the first piece of an arena */
    CHECK(fat.asked < 4 * fat.file.len);
    machsym_image_close(image);
    desc.arch = NULL;
    desc.io.user = &thin;
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_ERR_MEMORY);
    CHECK_EQ(err.offset, huge < SIZE_MAX ? huge : SIZE_MAX);
    desc.io.size = 0;
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_ERR_FORMAT);
    free(fat.file.ptr);
    free(thin.file.ptr);
}

/* A universal file of two thin ones, both after what is read at first. */
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
    return make_remote(file_of(&b));
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
    desc.io.read = remote_read;
    desc.io.user = &r;
    desc.io.size = r.file.len;
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
    machsym_session_counts found;
    machsym_io_stats reads;
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
        put_name(&b, "__objc_classlist");
        put_name(&b, "__TEXT");
        put64(&b, 0x100000000);
        put64(&b, SIZE - 32);
        put32(&b, 32);
        put_zeros(&b, 28);
    }
    put_zeros(&b, SIZE - b.len);
    remote r = make_remote(file_of(&b));
    CHECK_EQ(open_remote(&r, NULL, 0, &image, NULL), MACHSYM_OK);
    machsym_image_get_info(image, &info);
    CHECK_EQ(info.damage_count, SECTIONS - 1); /* all have one address */
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session_count_all(session, &found);
    machsym_session_get_io_stats(session, &reads);
    CHECK(r.asked < 3 * SIZE);
    CHECK_EQ(reads.lost, SECTIONS - 1);
    CHECK_EQ(found.damaged_metadata, SECTIONS - 1);
    machsym_session_close(session);
    machsym_image_close(image);
    bytes_free(&b);
}

/* ---- What is made once ---- */

/* A file whose reader asks the image itself, while a section of debug info is read. */
typedef struct nested {
    test_file file;
    const machsym_image *image; /* NULL: it does not */
    size_t calls;
    size_t depth;
    uint64_t sum;
} nested;

static size_t nested_read(void *user, uint64_t offset, void *out, size_t len)
{
    nested *n = (nested *)user;
    machsym_io_stats reads;
    size_t frames;
    n->calls++;
    if (n->image != NULL && n->depth == 0) {
        n->depth++;
        n->sum = sum_of(n->image, n->image, &frames, &reads);
        n->depth--;
    }
    memcpy(out, n->file.ptr + offset, len);
    return len;
}

static machsym_image *open_nested(nested *n, failer *f)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.io.read = nested_read;
    desc.io.user = n;
    desc.io.size = n->file.len;
    desc.allocator.alloc = failing_alloc;
    desc.allocator.free = failing_free;
    desc.allocator.user = f;
    return test_open_desc(&desc);
}

/* Somebody else makes every section while it is made, as another thread may: that one stays, and the memory of
 * what comes second goes back. */
static void test_second(const char *path)
{
    failer f = {0, 0, false, 0, 0};
    machsym_image_info info;
    machsym_io_stats reads;
    size_t frames;
    nested n;
    memset(&n, 0, sizeof n);
    n.file = test_read(path);
    machsym_image *image = open_nested(&n, &f);
    uint64_t sum = sum_of(image, image, &frames, &reads);
    CHECK(frames > 100);
    CHECK(machsym_image_count_damage(image, &info));
    uint64_t count = info.read_count;
    machsym_image_close(image);
    CHECK_EQ(f.out, 0);
    image = open_nested(&n, &f);
    n.image = image;
    n.calls = 0;
    CHECK_EQ(sum_of(image, image, &frames, &reads), sum);
    CHECK_EQ(n.sum, sum);
    n.image = NULL;
    CHECK(machsym_image_count_damage(image, &info));
    CHECK_EQ(info.read_count, count); /* each section counts once */
    CHECK_EQ(info.damage_count, 0);
    machsym_image_close(image);
    CHECK_EQ(f.out, 0);
    free(n.file.ptr);
}

/* Each allocation of the image fails once. A session says so, and has all when it is asked again. */
static void test_memory(const char *path, bool by_reader)
{
    failer f = {0, 0, false, 0, 0};
    test_file file = test_read(path);
    remote r = make_remote(file);
    machsym_open_desc desc;
    machsym_image_info info;
    machsym_io_stats reads;
    size_t frames;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = by_reader ? NULL : file.ptr;
    desc.bytes.len = file.len;
    desc.io.read = remote_read;
    desc.io.user = &r;
    desc.io.size = file.len;
    desc.flags = MACHSYM_OPEN_NO_OBJECTS;
    desc.allocator.alloc = failing_alloc;
    desc.allocator.free = failing_free;
    desc.allocator.user = &f;
    machsym_image *image = test_open_desc(&desc);
    uint64_t want = sum_of(image, image, &frames, &reads);
    size_t opening = 0;
    machsym_image_close(image);
    for (bool more = true; more;) {
        f.calls = 0;
        f.fail_at++;
        if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK) {
            opening = f.fail_at;
            CHECK_EQ(f.out, 0);
            continue;
        }
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        uint64_t sum = sum_frames(image, session, &frames);
        more = f.calls >= f.fail_at;
        CHECK_EQ(machsym_session_lacked_memory(session), more);
        machsym_session_trim(session);
        sum = add_symbols(session, sum_frames(image, session, &frames));
        CHECK_EQ(sum, want);
        CHECK(!machsym_session_lacked_memory(session));
        machsym_session_close(session);
        machsym_image_close(image);
        CHECK_EQ(f.out, 0);
    }
    CHECK(f.fail_at > opening + 3);
    f.fail_at = opening;
    for (bool more = true; more;) {
        f.calls = 0;
        f.fail_at++;
        CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
        bool has_all = machsym_image_count_damage(image, &info);
        more = f.calls >= f.fail_at;
        CHECK_EQ(has_all, !more);
        CHECK(machsym_image_count_damage(image, &info));
        CHECK_EQ(info.damage_count, 0);
        machsym_image_close(image);
    }
    free(file.ptr);
}

/* With arguments: these files. */
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("%s: %zu frames\n", argv[i], test_path(argv[i]));
    if (argc > 1)
        return test_done();
    test_files();
    test_failures("tests/fixtures/bin/inline-arm64-d5-22");
    test_failures("tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo");
    test_failures("tests/fixtures/bin/zoo-arm64-chained");
    test_second("tests/fixtures/bin/inline-x86_64-d4-zdebug.dwarf");
    test_second("tests/fixtures/bin/inline-x86_64-d5-O0-22.dwarf");
    test_memory("tests/fixtures/bin/inline-x86_64-d4-zdebug.dwarf", false);
    test_memory("tests/fixtures/bin/inline-x86_64-d4-zdebug.dwarf", true);
    test_memory("tests/fixtures/bin/inline-x86_64-d5-O0-22.dwarf", true);
    test_limits();
    test_slices();
    test_overlaps();
    return test_done();
}
