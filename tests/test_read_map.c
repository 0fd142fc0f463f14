/* Maps that are not in memory, and maps that are checked piece by piece, answer as maps that are checked when
 * they are opened. A lookup asks few times and for little. What is damaged or cannot be read is counted and
 * takes frames and names away, but never gives others. */
#define TEST_PUBLIC
#include "counters.h"
#include "failer.h"
#include "maps.h"

#include <dirent.h>
#include <unistd.h>

enum { FUNCTIONS = 12000, STEP = 0x40, ASKED = 400 };

#define BASE 0x100000000u

/* A map, and what its answers should be. */
typedef struct subject {
    machsym_map *map;
    const uint8_t *bytes;
    size_t len;
    uint64_t addrs[ASKED];
    /* reads */
    size_t calls;
    size_t most;     /* bytes of the largest */
    size_t fails_at; /* the number of the call that gives only half, from 1; 0: none */
    size_t flipped;  /* the byte that is another one, when it is read; 0: none */
    size_t ruined;   /* the number of bytes after it that also are other ones, in memory */
    uint8_t *copy;   /* where it is another one in memory */
} subject;

static map_answer want;
static map_answer got;

static size_t read_map(void *user, uint64_t offset, void *out, size_t len)
{
    subject *s = (subject *)user;
    CHECK(offset <= s->len && len <= s->len - offset);
    s->most = len > s->most ? len : s->most;
    if (++s->calls == s->fails_at)
        len /= 2;
    memcpy(out, s->bytes + offset, len);
    if (s->flipped >= offset && s->flipped - offset < len && s->flipped != 0)
        ((uint8_t *)out)[s->flipped - offset] ^= 0x10;
    return len;
}

/* Opens the map by reads, or its bytes. */
static machsym_image *open_map(subject *s, bool by_reads)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    s->calls = s->most = 0;
    desc.flags = MACHSYM_OPEN_BY_PAGES;
    desc.bytes.ptr = s->copy;
    desc.bytes.len = s->len;
    memcpy(s->copy, s->bytes, s->len);
    for (size_t i = 0; s->flipped != 0 && i <= s->ruined && s->flipped + i < s->len; i++)
        s->copy[s->flipped + i] ^= 0x10;
    if (by_reads) {
        desc.bytes.ptr = NULL;
        desc.io.read = read_map;
        desc.io.user = s;
        desc.io.size = s->len;
    }
    machsym_image_open(&desc, &image, NULL);
    return image;
}

static machsym_frame frame_of(char *name, const char *word, uint64_t number)
{
    machsym_frame frame;
    memset(&frame, 0, sizeof frame);
    snprintf(name, 64, "_Z%s%llx%llx", word, (unsigned long long)(number * 0x9e3779b97f4a7c15u),
             (unsigned long long)(number * 0xd1b54a32d192ed03u));
    frame.linkage_name = test_str(name);
    frame.file.dir = test_str("/src");
    frame.file.name = test_str(number % 7 == 0 ? "seven.c" : "other.c");
    frame.line = (uint32_t)(number % 1000 + 1);
    frame.function_start = BASE + number / 4 * 4 * STEP;
    frame.function_size = 4 * STEP;
    frame.name_source = frame.line_source = MACHSYM_SOURCE_DWARF;
    return frame;
}

/* Adds a range: one from debug info lies in a call, one from a symbol has another name for the function. */
static bool add_range(machsym_writer *writer, uint64_t i, bool is_symbol)
{
    char names[2][64];
    machsym_map_range range = {BASE + i * STEP, BASE + i * STEP + STEP, is_symbol};
    machsym_frame frames[2] = {frame_of(names[0], "call", i),
                               frame_of(names[1], is_symbol ? "symbol" : "function", i / 4)};
    frames[0].is_inline = true;
    frames[1].function_start = frames[0].function_start;
    if (is_symbol) {
        frames[1].name_source = MACHSYM_SOURCE_SYMTAB;
        frames[1].line = 0;
        memset(&frames[1].file, 0, sizeof frames[1].file);
        frames[1].line_source = MACHSYM_SOURCE_NONE;
    }
    return machsym_writer_add(writer, &range, &frames[is_symbol ? 1 : 0], is_symbol ? 1 : 2, NULL) ==
           MACHSYM_OK;
}

/* Makes a map of a megabyte. Symbols run on below the debug info, whose ranges end in the middle. */
static void make_map(subject *s)
{
    machsym_map_info info;
    machsym_writer *writer = NULL;
    memset(&info, 0, sizeof info);
    info.name = test_str("far");
    info.cputype = 0x100000c;
    info.text_addr = BASE;
    info.text_size = info.code_size = 2 * FUNCTIONS * STEP;
    CHECK_EQ(open_writer_of(&info, &writer), MACHSYM_OK);
    bool ok = true;
    for (uint64_t i = 0; i < 2 * FUNCTIONS; i++)
        ok = ok && (i >= FUNCTIONS || add_range(writer, i, false)) && add_range(writer, i, true);
    CHECK(ok);
    CHECK_EQ(machsym_writer_finish(writer, &s->map, NULL), MACHSYM_OK);
    s->bytes = (const uint8_t *)machsym_map_bytes(s->map).ptr;
    s->len = machsym_map_bytes(s->map).len;
    s->copy = (uint8_t *)malloc(s->len);
    uint64_t random = 1;
    for (size_t i = 0; i < ASKED; i++)
        s->addrs[i] = BASE + next_random(&random) % (2 * FUNCTIONS * STEP);
    CHECK(s->len > 40 * 16384);
}

/* Asks for all addresses. Returns how many answers are not those of the whole map; each must lack frames or
 * names of it, and have no others. */
static size_t ask_all(const subject *s, machsym_session *session)
{
    size_t less = 0;
    test_begin();
    for (size_t i = 0; i < ASKED; i++) {
        ask_map(s->map, s->addrs[i], &want);
        ask_session(session, s->addrs[i], &got);
        CHECK(got.count == 0 || got.count == want.count);
        if (frames_differ(&want, &got, true) == NULL)
            continue;
        less++;
        for (size_t k = 0; k < got.count; k++) {
            machsym_frame *a = &got.frames[k];
            const machsym_frame *b = &want.frames[k];
            CHECK(a->linkage_name.len == 0 || same_str(a->linkage_name, b->linkage_name));
            CHECK(a->name.len == 0 || same_str(a->name, b->name));
            CHECK(a->file.name.len == 0 || same_path(&a->file, &b->file));
            a->linkage_name = b->linkage_name;
            a->name = b->name;
            a->file = b->file;
        }
        CHECK(got.count == 0 || frames_differ(&want, &got, true) == NULL);
    }
    test_end("all addresses of a map");
    return less;
}

/* The answers are the same, and no more is read than the statistics report. */
static void test_answers(subject *s)
{
    machsym_image_info info;
    machsym_io_stats reads;
    for (int by_reads = 0; by_reads < 2; by_reads++) {
        machsym_image *image = open_map(s, by_reads != 0);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_image_get_info(image, &info);
        CHECK(test_same(info.name, test_str("far")));
        CHECK_EQ(info.damage_count, 0);
        CHECK_EQ(info.read_count, by_reads);
        CHECK_EQ(info.read_bytes, by_reads != 0 ? 32768 : 0);
        CHECK_EQ(ask_all(s, session), 0);
        machsym_session_get_io_stats(session, &reads);
        CHECK_EQ(reads.lost, 0);
        CHECK_EQ(reads.count + info.read_count, s->calls);
        size_t calls = s->calls;
        ask_session(session, s->addrs[ASKED - 1], &got); /* it is warm */
        CHECK_EQ(s->calls, calls);
        CHECK(machsym_session_memory(session) < ((size_t)6 << 20));
        machsym_session_close(session);
        machsym_image_close(image);
    }
}

/* One cold lookup: header, index, run, then the dictionary and a piece for each name and file. The pieces of
 * names do not depend on each other. */
static void test_cold(subject *s)
{
    test_begin();
    machsym_image *image = open_map(s, true);
    machsym_io_stats reads;
    uint64_t most = 0;
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < ASKED; i++) {
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        s->calls = 0;
        ask_session(session, s->addrs[i], &got);
        machsym_session_get_io_stats(session, &reads);
        CHECK_EQ(reads.count, s->calls);
        most = reads.count > most ? reads.count : most;
        most_bytes = reads.bytes > most_bytes ? reads.bytes : most_bytes;
        machsym_session_close(session);
    }
    CHECK(most <= 4);
    CHECK(most_bytes <= 8 * 16384);
    CHECK(s->most <= 2 * 16384);
    machsym_image_close(image);
    test_end("test_cold");
}

/* One byte of each piece is another one. */
static void test_damage(subject *s)
{
    machsym_io_stats reads;
    size_t less = 0;
    machsym_image *image = NULL;
    for (size_t at = 100; at < s->len; at += 5 * 16384 + 77) {
        s->flipped = at;
        for (int by_reads = 0; by_reads < 2; by_reads++) {
            image = open_map(s, by_reads != 0);
            CHECK_EQ(image != NULL, at >= 4096); /* header, directory, checksums */
            if (image == NULL)
                continue;
            machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
            size_t differs = ask_all(s, session);
            machsym_session_get_io_stats(session, &reads);
            CHECK_EQ(reads.lost, differs > 0);
            CHECK(reads.lost == 0 || (reads.lost_at <= at && at < reads.lost_at + 16384));
            machsym_session_trim(session);
            CHECK_EQ(ask_all(s, session), differs);
            machsym_session_get_io_stats(session, &reads);
            CHECK_EQ(reads.lost, differs > 0 ? 2 : 0);
            less += differs;
            machsym_session_close(session);
            machsym_image_close(image);
        }
    }
    s->flipped = 0;
    CHECK(less > ASKED / 8);
    CHECK(less < ASKED * 10);
}

/* Pieces of a run, or of a block of text, are other ones, in a map that is in memory. */
static void test_ruined(subject *s)
{
    test_begin();
    machsym_io_stats reads;
    size_t less = 0;
    s->ruined = 1000;
    for (s->flipped = 8192; s->flipped < s->len; s->flipped += 3 * 1024 + 77) {
        machsym_image *image = open_map(s, false);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        size_t differs = ask_all(s, session);
        machsym_session_get_io_stats(session, &reads);
        CHECK_EQ(reads.lost > 0, differs > 0);
        CHECK(reads.lost <= 2);
        less += differs;
        machsym_session_close(session);
        machsym_image_close(image);
    }
    s->flipped = s->ruined = 0;
    CHECK(less > ASKED);
    test_end("test_ruined");
}

/* Each read gives only a half of what was asked for. */
static void test_short(subject *s)
{
    machsym_io_stats reads;
    for (size_t i = 1; i < 12; i++) {
        s->fails_at = i;
        machsym_image *image = open_map(s, true);
        CHECK_EQ(image != NULL, i > 1);
        if (image == NULL)
            continue;
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        CHECK(ask_all(s, session) > 0);
        machsym_session_get_io_stats(session, &reads);
        CHECK(reads.lost == 1 || reads.lost == 2);
        s->fails_at = 0;
        machsym_session_trim(session);
        CHECK_EQ(ask_all(s, session), 0);
        machsym_session_close(session);
        machsym_image_close(image);
    }
}

/* Asks for some addresses while allocation number n fails, once or with all after it. Returns whether
 * there was one: an answer that is less for it says that memory was short, and none is another one. */
static bool ask_short_of_memory(const subject *s, const machsym_image *image, size_t n, bool for_good)
{
    failer f;
    machsym_session_desc desc;
    machsym_session *session = NULL;
    memset(&f, 0, sizeof f);
    memset(&desc, 0, sizeof desc);
    f.fail_at = n;
    f.for_good = for_good;
    desc.image = image;
    desc.allocator.alloc = failing_alloc;
    desc.allocator.free = failing_free;
    desc.allocator.user = &f;
    if (machsym_session_open(&desc, &session, NULL) != MACHSYM_OK)
        return true;
    test_begin();
    for (size_t i = 0; i < 40; i++) {
        ask_map(s->map, s->addrs[i], &want);
        ask_session(session, s->addrs[i], &got);
        CHECK(machsym_session_lacked_memory(session) || frames_differ(&want, &got, true) == NULL);
    }
    test_end("answers while an allocation fails");
    bool failed = f.calls >= n;
    CHECK_EQ(machsym_session_lacked_memory(session), failed);
    f.fail_at = 0;
    machsym_session_trim(session);
    ask_session(session, s->addrs[39], &got);
    CHECK(!machsym_session_lacked_memory(session) && frames_differ(&want, &got, true) == NULL);
    machsym_session_close(session);
    CHECK_EQ(f.out, 0);
    return failed;
}

static void test_memory(subject *s)
{
    for (int by_reads = 0; by_reads < 2; by_reads++) {
        machsym_image *image = open_map(s, by_reads != 0);
        size_t n = 1;
        while (ask_short_of_memory(s, image, n, false) && ask_short_of_memory(s, image, n, true))
            n++;
        CHECK(n > 5);
        machsym_image_close(image);
    }
}

/* What needs the whole map says that it is not there. */
static void test_whole(subject *s)
{
    machsym_image *image = open_map(s, true);
    machsym_image_info info;
    machsym_map_info map;
    machsym_error err;
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    machsym_answer answers[1] = {{7, 7}};
    machsym_image_get_info(image, &info);
    machsym_map_get_info(info.map, &map);
    CHECK(test_same(map.name, test_str("far")));
    CHECK_EQ(map.size, s->len);
    CHECK_EQ(machsym_map_frames_at_addr(info.map, s->addrs[0], want.found, MAPS_FRAMES), 0);
    CHECK_EQ(machsym_map_frames_at_addrs(info.map, s->addrs, 1, answers, want.found, MAPS_FRAMES), 0);
    CHECK_EQ(answers[0].count, 0);
    CHECK_EQ(machsym_map_next(info.map, &at, &range), 0);
    CHECK_EQ(machsym_map_bytes(info.map).len, 0);
    CHECK_EQ(machsym_map_save(info.map, "/nowhere", &err), MACHSYM_ERR_UNSUPPORTED);
    CHECK_EQ(machsym_map_frames_at_addr(s->map, s->addrs[0], want.found, MAPS_FRAMES) > 0, 1);
    machsym_map_names(info.map, want.found, 1, got.frames, got.text, MAPS_TEXT);
    CHECK_EQ(got.frames[0].linkage_name.len, 0);
    machsym_image_close(image);
}

static size_t open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count;
}

/* A map that is open keeps no file open: a service has thousands of them. */
static void test_files(subject *s)
{
    char path[] = "/tmp/machsym-map-XXXXXX";
    machsym_image *image = NULL;
    int fd = mkstemp(path);
    close(fd);
    CHECK_EQ(machsym_map_save(s->map, path, NULL), MACHSYM_OK);
    size_t before = open_files();
    image = test_open(path);
    CHECK_EQ(open_files(), before);
    machsym_image_close(image);
    unlink(path);
}

int main(void)
{
    static subject s;
    make_map(&s);
    test_files(&s);
    test_answers(&s);
    test_cold(&s);
    test_damage(&s);
    test_ruined(&s);
    test_short(&s);
    test_memory(&s);
    test_whole(&s);
    machsym_map_close(s.map);
    free(s.copy);
    return test_done();
}
