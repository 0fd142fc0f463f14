/* Debug maps: programs whose debug info still lies in their object files answer as the dSYM of the same link
 * does. */
#define TEST_ROOM <rooms/src/answer/session.h>
#include "test.h"

#include "make.h"

#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { FRAMES = 64 };

static const machsym_lines policies[] = {MACHSYM_LINES_ATOS, MACHSYM_LINES_DWARF, MACHSYM_LINES_STMT,
                                         MACHSYM_LINES_PEOPLE};

/* ---- Opening ---- */

static machsym_image *open_program(const char *path, const char *from, const char *to, const char *dir,
                                   uint32_t flags)
{
    machsym_open_desc desc;
    machsym_oso_prefix prefix = {from, to};
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = MACHSYM_OPEN_NO_PAIR | flags;
    desc.oso_prefixes = &prefix;
    desc.oso_prefix_count = from != NULL;
    desc.oso_dirs = &dir;
    desc.oso_dir_count = dir != NULL;
    return test_open_desc(&desc);
}

static machsym_image *open_pair(const char *path, const char *pair)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.pair_path = pair;
    return test_open_desc(&desc);
}

/* ---- Comparing answers ---- */

static bool same_str(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_frame(const machsym_frame *a, const machsym_frame *b)
{
    char x[4096];
    char y[4096];
    machsym_path_join(&a->file, x, sizeof x);
    machsym_path_join(&b->file, y, sizeof y);
    return same_str(a->linkage_name, b->linkage_name) && same_str(a->name, b->name) && strcmp(x, y) == 0 &&
           a->line == b->line && a->column == b->column && a->function_start == b->function_start &&
           a->function_size == b->function_size && a->is_inline == b->is_inline &&
           a->name_source == b->name_source && a->line_source == b->line_source;
}

static void print_frames(const char *who, const machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        machsym_path_join(&frames[i].file, path, sizeof path);
        printf("  %s: %.*s | %.*s %s:%u:%u 0x%llx+%llu %d %d\n", who, (int)frames[i].linkage_name.len,
               frames[i].linkage_name.len ? frames[i].linkage_name.ptr : "", (int)frames[i].name.len,
               frames[i].name.len ? frames[i].name.ptr : "", path, frames[i].line, frames[i].column,
               (unsigned long long)frames[i].function_start, (unsigned long long)frames[i].function_size,
               (int)frames[i].name_source, (int)frames[i].line_source);
    }
}

/* Every address of the code, by both sessions. Returns how many of them had a line. */
static size_t compare_sessions(const machsym_image *image, machsym_session *map, machsym_session *dsym,
                               const char *what)
{
    static machsym_frame a[FRAMES];
    static machsym_frame b[FRAMES];
    machsym_cursor at = {0, 0};
    machsym_section section;
    size_t different = 0;
    size_t lines = 0;
    while (machsym_image_next_section(image, &at, &section)) {
        if (!section.is_code || section.is_pair)
            continue;
        for (uint64_t addr = section.addr; addr < section.addr + section.size; addr++) {
            size_t count = machsym_session_frames_at_addr(map, addr, a, FRAMES);
            size_t want = machsym_session_frames_at_addr(dsym, addr, b, FRAMES);
            bool same = count == want;
            for (size_t i = 0; same && i < count; i++)
                same = same_frame(&a[i], &b[i]);
            lines += count > 0 && a[0].line != 0;
            if (!same && different++ < 4) {
                printf("%s: 0x%llx differs\n", what, (unsigned long long)addr);
                print_frames("map ", a, count);
                print_frames("dSYM", b, want);
            }
        }
    }
    CHECK_EQ(different, 0);
    return lines;
}

/* All line policies. */
static void compare_images(const machsym_image *program, const machsym_image *pair, const char *what,
                           size_t lines)
{
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        machsym_session *map = test_session(program, policies[i], 0);
        machsym_session *dsym = test_session(pair, policies[i], 0);
        CHECK(compare_sessions(program, map, dsym, what) >= lines);
        machsym_session_close(map);
        machsym_session_close(dsym);
    }
}

static const char *const maps[] = {"map-arm64-d4-O0", "map-arm64-d5-O2", "map-x86_64-d4-O2",
                                   "map-x86_64-d5-O0"};

static void test_equal_to_dsym(void)
{
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        char path[256];
        char dwarf[256];
        snprintf(path, sizeof path, "tests/fixtures/bin/%s/program", maps[i]);
        snprintf(dwarf, sizeof dwarf, "tests/fixtures/bin/%s/program.dwarf", maps[i]);
        machsym_image *program = open_program(path, "map-", "tests/fixtures/bin/map-", NULL, 0);
        machsym_image *pair = open_pair(path, dwarf);
        compare_images(program, pair, maps[i], 150);
        machsym_image_close(program);
        machsym_image_close(pair);
    }
}

/* ---- The symbol map built from a debug map ---- */

/* What a map does not keep: offsets of entries, and what only a session can tell. */
static void compare_map(const machsym_image *image, machsym_lines lines, const char *what)
{
    static machsym_map_frame found[FRAMES];
    static machsym_frame a[FRAMES];
    static machsym_frame b[FRAMES];
    static char text[1 << 16];
    machsym_plan_desc desc;
    machsym_map *map = NULL;
    machsym_cursor at = {0, 0};
    machsym_section section;
    size_t different = 0;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = lines;
    desc.flags = MACHSYM_MAP_COLUMNS;
    CHECK(machsym_map_build(&desc, &map, NULL) == MACHSYM_OK);
    machsym_session *session = test_session(image, lines, 0);
    while (map != NULL && machsym_image_next_section(image, &at, &section)) {
        for (uint64_t addr = section.addr; section.is_code && addr < section.addr + section.size; addr++) {
            size_t count = machsym_map_frames_at_addr(map, addr, found, FRAMES);
            size_t want = machsym_session_frames_at_addr(session, addr, b, FRAMES);
            bool same = count == want;
            machsym_map_names(map, found, count, a, text, sizeof text);
            for (size_t i = 0; same && i < count; i++)
                same = same_frame(&a[i], &b[i]);
            if (!same && different++ < 4) {
                printf("%s: 0x%llx of the map differs\n", what, (unsigned long long)addr);
                print_frames("map    ", a, count);
                print_frames("session", b, want);
            }
        }
    }
    CHECK_EQ(different, 0);
    machsym_session_close(session);
    machsym_map_close(map);
}

static void test_map_build(void)
{
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "tests/fixtures/bin/%s/program", maps[i]);
        machsym_image *program = open_program(path, "map-", "tests/fixtures/bin/map-", NULL, 0);
        for (size_t j = 0; j < sizeof policies / sizeof policies[0]; j++)
            compare_map(program, policies[j], maps[i]);
        machsym_image_close(program);
    }
}

/* ---- Finding object files ---- */

/* The statuses of the objects after looking up everything, as letters in the order of the debug map. */
static void statuses_of(const machsym_image *image, char *out, size_t cap)
{
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    machsym_cursor at = {0, 0};
    machsym_object_file file;
    size_t count = 0;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    CHECK(machsym_plan_open(&desc, &plan, NULL) == MACHSYM_OK);
    while (count + 1 < cap && machsym_plan_next_object_file(plan, &at, &file))
        out[count++] = "ufmacod"[file.status];
    out[count] = 0;
    machsym_plan_close(plan);
}

static void check_statuses(machsym_image *image, const char *want)
{
    char got[16];
    statuses_of(image, got, sizeof got);
    CHECK_TEXT(got, want);
    machsym_image_close(image);
}

static void copy_file(const char *from, const char *to)
{
    test_file file = test_read(from);
    FILE *out = fopen(to, "wb");
    CHECK(out != NULL && fwrite(file.ptr, 1, file.len, out) == file.len);
    if (out != NULL)
        fclose(out);
    free(file.ptr);
}

static void set_time(const char *path, long seconds)
{
    struct timeval times[2] = {{seconds, 0}, {seconds, 0}};
    CHECK(utimes(path, times) == 0);
}

static void test_places(void)
{
    const char *path = "tests/fixtures/bin/map-arm64-d5-O2/program";
    check_statuses(open_program(path, NULL, NULL, NULL, 0), "mmm");
    check_statuses(open_program(path, "map-arm64-d5-O2", "tests/fixtures/bin/map-arm64-d5-O2", NULL, 0),
                   "fff");
    check_statuses(
        open_program(path, "map-arm64-d5-O2/main", "tests/fixtures/bin/map-arm64-d5-O2/main", NULL, 0),
        "fmm");
    check_statuses(open_program(path, "elsewhere", "tests/fixtures/bin", NULL, 0), "mmm");
    check_statuses(open_program(path, NULL, NULL, "tests/fixtures/bin", 0), "fff");
    check_statuses(open_program(path, NULL, NULL, "tests/fixtures/bin/map-arm64-d5-O2", 0), "fff");
    check_statuses(open_program(path, NULL, NULL, "tests/fixtures/bin/archive", 0), "mmm");
    /* the same names, compiled for another architecture */
    check_statuses(open_program(path, NULL, NULL, "tests/fixtures/bin/map-x86_64-d4-O2", 0), "ooo");
    check_statuses(open_program(path, NULL, NULL, "tests/fixtures/bin", MACHSYM_OPEN_NO_OBJECTS), "");
}

/* Several places: the first that has an object which fits is taken. */
static void test_many_places(void)
{
    machsym_oso_prefix prefixes[2] = {{"map-", "nowhere/map-"},
                                      {"map-arm64", "tests/fixtures/bin/map-x86_64"}};
    const char *dirs[2] = {"tests/fixtures/bin/map-x86_64-d5-O0", "tests/fixtures/bin"};
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = "tests/fixtures/bin/map-arm64-d4-O0/program";
    desc.flags = MACHSYM_OPEN_NO_PAIR;
    desc.oso_prefixes = prefixes;
    desc.oso_prefix_count = 2;
    check_statuses(test_open_desc(&desc), "mmm");
    desc.oso_dirs = dirs;
    desc.oso_dir_count = 1;
    check_statuses(test_open_desc(&desc), "ooo");
    desc.oso_dir_count = 2;
    check_statuses(test_open_desc(&desc), "fff");
}

/* An image from bytes opens no file by itself. */
static void test_bytes(void)
{
    test_file file = test_read("tests/fixtures/bin/map-arm64-d5-O2/program");
    const char *dir = "tests/fixtures/bin";
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = file.ptr;
    desc.bytes.len = file.len;
    check_statuses(test_open_desc(&desc), "");
    desc.oso_dirs = &dir;
    desc.oso_dir_count = 1;
    check_statuses(test_open_desc(&desc), "fff");
    free(file.ptr);
}

static char folder[] = "debugmap-test-XXXXXX";
static char scratch_path[256];

static const char *in_folder(const char *name)
{
    snprintf(scratch_path, sizeof scratch_path, "%s/%s", folder, name);
    return scratch_path;
}

/* N_OSO says when the object was written: one that was written later is not the one that was linked. */
static void test_times(void)
{
    const char *path = "tests/fixtures/bin/map-x86_64-times/program";
    copy_file("tests/fixtures/bin/map-x86_64-times/main.o", in_folder("main.o"));
    copy_file("tests/fixtures/bin/map-x86_64-times/libutil.a", in_folder("libutil.a"));
    set_time(in_folder("main.o"), 1600000000);
    set_time(in_folder("libutil.a"), 1600000777); /* members have times of their own */
    check_statuses(open_program(path, NULL, NULL, folder, 0), "fff");
    machsym_image *program = open_program(path, NULL, NULL, folder, 0);
    machsym_image *pair = open_pair(path, "tests/fixtures/bin/map-x86_64-times/program.dwarf");
    compare_images(program, pair, "map-x86_64-times", 100);
    machsym_image_close(program);
    machsym_image_close(pair);

    set_time(in_folder("main.o"), 1600000001);
    check_statuses(open_program(path, NULL, NULL, folder, 0), "cff");
    check_statuses(open_program(path, NULL, NULL, folder, MACHSYM_OPEN_ANY_TIME), "fff");

    program = open_program(path, NULL, NULL, folder, 0);
    machsym_session *session = test_session(program, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_object_file file;
    machsym_frame frame;
    CHECK(!machsym_session_next_object_file(session, &at, &file));
    for (int i = 0; i < 3; i++) { /* main: the symbol table answers, and the file is named once */
        CHECK_EQ(machsym_session_frames_at_addr(session, 0x100000440, &frame, 1), 1);
        CHECK_STR(frame.linkage_name, "main");
        CHECK_EQ(frame.line, 0);
        CHECK_EQ(frame.name_source, MACHSYM_SOURCE_SYMTAB);
    }
    CHECK(machsym_session_next_object_file(session, &at, &file));
    CHECK_STR(file.path, "map-x86_64-times/main.o");
    CHECK_STR(file.member, "");
    CHECK_EQ(file.status, MACHSYM_OBJECT_CHANGED);
    CHECK_EQ(file.time, 1600000000);
    CHECK_EQ(file.found_time, 1600000001);
    CHECK(!machsym_session_next_object_file(session, &at, &file));
    CHECK_EQ(machsym_session_frames_at_addr(session, 0x100000470, &frame, 1), 1);
    CHECK_EQ(frame.line, 12);
    CHECK(machsym_session_next_object_file(session, &at, &file));
    CHECK_STR(file.path, "map-x86_64-times/libutil.a");
    CHECK_STR(file.member, "util.o");
    CHECK_EQ(file.status, MACHSYM_OBJECT_FOUND);
    CHECK_EQ(file.found_time, 1600000001);
    machsym_session_close(session);
    machsym_image_close(program);
}

/* ---- Archives ---- */

static const char *const archives[] = {"darwin.a", "bsd.a", "gnu.a", "darwin64.a"};

static void check_member(const char *archive, const char *name, const char *object)
{
    test_begin();
    ms_om_member member;
    test_file file = test_read(archive);
    test_file want = test_read(object);
    memset(&member, 0, sizeof member);
    CHECK(ms_om_find_member(ms_span_make(file.ptr, file.len), ms_str_from_c(name), 0, NULL, &member));
    /* Darwin's archives pad members */
    CHECK(member.bytes.len >= want.len && member.bytes.len < want.len + 8);
    CHECK(member.bytes.len >= want.len && memcmp(member.bytes.ptr, want.ptr, want.len) == 0);
    CHECK(!ms_om_find_member(ms_span_make(file.ptr, file.len), ms_str_from_c("util"), 0, NULL, &member));
    CHECK(!ms_om_find_member(ms_span_make(file.ptr, file.len), ms_str_from_c(""), 0, NULL, &member));
    /* cut short anywhere: no member that reaches out of the file */
    for (size_t len = 0; len < file.len; len += 61) {
        if (ms_om_find_member(ms_span_make(file.ptr, len), ms_str_from_c(name), 0, NULL, &member))
            CHECK(member.bytes.len == 0 || member.bytes.ptr + member.bytes.len <= file.ptr + len);
    }
    free(file.ptr);
    free(want.ptr);
    test_end(name);
}

static void test_archives(void)
{
    for (size_t i = 0; i < sizeof archives / sizeof archives[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "tests/fixtures/bin/archive/%s", archives[i]);
        check_member(path, "util.o", "tests/fixtures/bin/archive/util.o");
        check_member(path, "util_with_a_long_name.o", "tests/fixtures/bin/archive/util_with_a_long_name.o");
    }
}

/* Several members of one name: the time says which. */
static void test_twins(void)
{
    static const char archive[] = "!<arch>\n"
                                  "twin.o/         11          0     0     644     3         `\none\n"
                                  "twin.o/         22          0     0     644     4         `\ntwo!"
                                  "other.o/        33          0     0     644     1         `\n3";
    ms_span file = ms_span_make(archive, sizeof archive - 1);
    ms_om_member member;
    CHECK(ms_om_find_member(file, ms_str_from_c("twin.o"), 0, NULL, &member));
    CHECK_STR(ms_str_make((const char *)member.bytes.ptr, member.bytes.len), "one");
    CHECK(ms_om_find_member(file, ms_str_from_c("twin.o"), 22, NULL, &member));
    CHECK_STR(ms_str_make((const char *)member.bytes.ptr, member.bytes.len), "two!");
    CHECK(ms_om_find_member(file, ms_str_from_c("twin.o"), 44, NULL, &member));
    CHECK_EQ(member.time, 11);
    CHECK(ms_om_find_member(file, ms_str_from_c("other.o"), 33, NULL, &member));
    CHECK_STR(ms_str_make((const char *)member.bytes.ptr, member.bytes.len), "3");
}

/* Every kind of archive in the place of the one that was linked. */
static void test_archive_kinds(void)
{
    static const char *const kinds[] = {"darwin.a", "bsd.a", "gnu.a", "darwin64.a", "fat.a", "thin.a"};
    /* util_mix in the object, which is not what was linked: names and lines agree all the same */
    copy_file("tests/fixtures/bin/archive/util.o", in_folder("util.o"));
    copy_file("tests/fixtures/bin/archive/util_with_a_long_name.o", in_folder("util_with_a_long_name.o"));
    copy_file("tests/fixtures/bin/map-arm64-d5-O2/main.o", in_folder("main.o"));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char path[256];
        machsym_frame frames[4];
        snprintf(path, sizeof path, "tests/fixtures/bin/archive/%s", kinds[i]);
        copy_file(path, in_folder("libutil.a"));
        check_statuses(open_program("tests/fixtures/bin/map-arm64-d5-O2/program", NULL, NULL, folder, 0),
                       "fff");
        machsym_image *image =
            open_program("tests/fixtures/bin/map-arm64-d5-O2/program", NULL, NULL, folder, 0);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        size_t count = machsym_session_frames_at_addr(session, 0x1000004e8, frames, 4);
        CHECK(count > 0 && count <= 4);
        CHECK_STR(frames[count - 1].name, "util_mix");
        CHECK_STR(frames[count - 1].file.name, "util_with_a_long_name.c");
        machsym_session_close(session);
        machsym_image_close(image);
    }
    unlink(in_folder("util.o")); /* the thin archive names it */
    check_statuses(open_program("tests/fixtures/bin/map-arm64-d5-O2/program", NULL, NULL, folder, 0), "fof");
    copy_file("tests/fixtures/bin/map-arm64-d5-O2/main.o", in_folder("libutil.a"));
    check_statuses(open_program("tests/fixtures/bin/map-arm64-d5-O2/program", NULL, NULL, folder, 0), "faa");
}

/* ---- Archives by hand ---- */

/* A header of ar.h: name, time, owner, group, mode, size, and two bytes that end it. */
static void put_member(bytes *b, const char *name, const char *time, const char *size)
{
    char header[64];
    snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10s`\n", name, time, "0", "0", "644", size);
    put(b, header, 60);
}

static void put_text(bytes *b, const char *text)
{
    put(b, text, strlen(text));
}

typedef struct wanted_member {
    const char *name;
    uint64_t time;
    const char *content;
} wanted_member;

static void check_members(const bytes *b, const wanted_member *want, size_t count)
{
    ms_om_archive archive;
    ms_om_member member;
    CHECK(ms_om_archive_open(&archive, ms_span_make(b->v, b->len)));
    for (size_t i = 0; i < count; i++) {
        CHECK(ms_om_next_member(&archive, &member));
        CHECK_STR(member.name, want[i].name);
        CHECK_EQ(member.time, want[i].time);
        CHECK_STR(ms_str_make((const char *)member.bytes.ptr, member.bytes.len), want[i].content);
    }
    CHECK(!ms_om_next_member(&archive, &member));
}

/* Names of the GNU kind, of System V's and of BSD's; tables of symbols are no members; what is longer than
 * the file ends with it. */
static void test_members(void)
{
    static const wanted_member want[] = {
        {"long_name_of_a.o", 7, "ab"}, {"sysv_name.o", 123456789012, "odd"},
        {"unended.o", 0, ""},          {"", 12, "x"},
        {"short.o", 0, "12"},          {"spaces.o", 0, ""},
        {"bsd.o", 5, "content!"},      {"", 0, ""},
        {"last.o", 0, "cut"},
    };
    static const wanted_member thin[] = {{"a/b.o", 3, ""}, {"c.o", 0, ""}};
    static const wanted_member none = {"", 0, ""};
    bytes b = {0};
    put_text(&b, "!<arch>\n");
    put_member(&b, "/", "", "4");
    put_text(&b, "....");
    put_member(&b, "/SYM64/", "", "3");
    put_text(&b, "...\n");
    put_member(&b, "//", "", "39");
    put_text(&b, "long_name_of_a.o/\nsysv_name.o\nunended.o\n");
    put_member(&b, "/0", "7", "2");
    put_text(&b, "ab");
    put_member(&b, "/18", "123456789012", "3");
    put_text(&b, "odd\n");
    put_member(&b, "/30", "", "0");
    put_member(&b, "/999", "12 345", "1");
    put_text(&b, "x\n");
    put_member(&b, "short.o/", "", "2");
    put_text(&b, "12");
    put_member(&b, "spaces.o", "x", "0");
    put_member(&b, "#1/8", "5", "16");
    put(&b, "bsd.o\0\0\0content!", 16);
    put_member(&b, "#1/99", "", "2"); /* its name is longer than the member */
    put_text(&b, "zz");
    put_member(&b, "last.o/", "", "9999999999");
    put_text(&b, "cut");
    check_members(&b, want, sizeof want / sizeof want[0]);
    bytes_free(&b);
    put_text(&b, "!<thin>\n");
    put_member(&b, "//", "", "7");
    put_text(&b, "a/b.o/\n\n");
    put_member(&b, "/0", "3", "4000");
    put_member(&b, "c.o/", "", "4000");
    check_members(&b, thin, 2);
    bytes_free(&b);
    put_text(&b, "!<thin>\n");
    put_member(&b, "//", "", "4000"); /* a table longer than the file */
    put_text(&b, "a/b.o/\n");
    check_members(&b, &none, 0);
    ms_om_archive archive;
    CHECK(!ms_om_archive_open(&archive, ms_span_make("!<ar", 4)));
    CHECK(!ms_om_archive_open(&archive, ms_span_make(NULL, 0)));
    bytes_free(&b);
}

typedef struct wanted_slice {
    uint32_t types[3][2]; /* cputype, cpusubtype; 0 ends them */
    size_t best;          /* 3: none */
} wanted_slice;

/* Of a fat file the slice of the program's own architecture, else one of its processor. */
static void test_best_slice(void)
{
    enum { ARM64 = 0x0100000c, X86_64 = 0x01000007, SIZE = 32 };
    static const wanted_slice rows[] = {
        {{{X86_64, 3}, {ARM64, 0}, {ARM64, 2}}, 2},     {{{ARM64, 2}, {ARM64, 0}, {X86_64, 3}}, 0},
        {{{ARM64, 0x80000002}, {ARM64, 0}, {0, 0}}, 0}, {{{X86_64, 2}, {ARM64, 0}, {0, 0}}, 1},
        {{{ARM64, 0}, {ARM64, 1}, {0, 0}}, 0},          {{{X86_64, 3}, {0, 0}, {0, 0}}, 3},
    };
    ms_mo program;
    memset(&program, 0, sizeof program);
    program.slice.cputype = ARM64;
    program.slice.cpusubtype = 2; /* arm64e */
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        const wanted_slice *row = &rows[i / 2];
        bool is_64 = i % 2 != 0;
        bytes b = {0};
        uint32_t count = 0;
        while (count < 3 && row->types[count][0] != 0)
            count++;
        put_be32(&b, is_64 ? 0xcafebabf : 0xcafebabe);
        put_be32(&b, count);
        for (uint32_t j = 0; j < count; j++) {
            put_be32(&b, row->types[j][0]);
            put_be32(&b, row->types[j][1]);
            if (is_64) {
                put_be64(&b, 0x100 + j * SIZE);
                put_be64(&b, SIZE);
                put_be64(&b, 2);
            } else {
                put_be32(&b, 0x100 + j * SIZE);
                put_be32(&b, SIZE);
                put_be32(&b, 2);
            }
        }
        put_zeros(&b, 0x100 + 3 * SIZE - b.len);
        ms_span slice = ms_om_slice(ms_span_make(b.v, b.len), &program);
        CHECK_EQ(slice.len, row->best < 3 ? SIZE : 0);
        CHECK(row->best == 3 || slice.ptr == b.v + 0x100 + row->best * SIZE);
        bytes_free(&b);
    }
    ms_span thin = ms_span_make("!<arch>\n", 8);
    CHECK(ms_om_slice(thin, &program).ptr == thin.ptr);
}

/* What a thin archive names is mapped as the archive is, and with MACHSYM_OPEN_COPY read into memory: then
 * it may be cut short under the session. It is larger than what is read anyway. */
static void test_thin_members(void)
{
    static const char zeros[MACHSYM_SMALL_FILE + 1];
    copy_file("tests/fixtures/bin/archive/thin.a", in_folder("libutil.a"));
    for (uint32_t flags = 0; flags <= MACHSYM_OPEN_COPY; flags += MACHSYM_OPEN_COPY) {
        machsym_frame frames[4];
        copy_file("tests/fixtures/bin/archive/util_with_a_long_name.o", in_folder("util_with_a_long_name.o"));
        FILE *out = fopen(in_folder("util_with_a_long_name.o"), "ab");
        CHECK(out != NULL && fwrite(zeros, 1, sizeof zeros, out) == sizeof zeros && fclose(out) == 0);
        machsym_image *image =
            open_program("tests/fixtures/bin/map-arm64-d5-O2/program", NULL, NULL, folder, flags);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_explanation e;
        machsym_session_explain_addr(session, 0x1000004e8, &e);
        CHECK_STR(e.object_member, "util_with_a_long_name.o");
        CHECK(session->objects != NULL && session->objects->first != NULL);
        const ms_om_file *file = &session->objects->first->file;
        CHECK(file->files[1].len > MACHSYM_SMALL_FILE);
        CHECK_EQ(file->files[1].mapped, flags == 0);
        if (!file->files[1].mapped)
            CHECK(truncate(in_folder("util_with_a_long_name.o"), 0) == 0);
        size_t count = machsym_session_frames_at_addr(session, 0x1000004e8, frames, 4);
        CHECK(count > 0 && count <= 4);
        CHECK_STR(frames[count - 1].file.name, "util_with_a_long_name.c");
        machsym_session_close(session);
        machsym_image_close(image);
    }
}

/* Every byte of an object and of an archive wrong in turn: less is known, nothing else happens. */
static void damage(const char *name, size_t stride)
{
    test_begin();
    char from[256];
    snprintf(from, sizeof from, "tests/fixtures/bin/map-x86_64-d5-O0/%s", name);
    test_file file = test_read(from);
    size_t answered = 0;
    for (size_t i = 0; i < file.len; i += stride) {
        copy_file("tests/fixtures/bin/map-x86_64-d5-O0/main.o", in_folder("main.o"));
        copy_file("tests/fixtures/bin/map-x86_64-d5-O0/libutil.a", in_folder("libutil.a"));
        FILE *out = fopen(in_folder(name), "r+b");
        CHECK(out != NULL && fseek(out, (long)i, SEEK_SET) == 0 && fputc(file.ptr[i] ^ 0xff, out) != EOF);
        fclose(out);
        machsym_image *image = open_program("tests/fixtures/bin/map-x86_64-d5-O0/program", NULL, NULL, folder,
                                            MACHSYM_OPEN_COPY);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        for (uint64_t addr = 0x100000440; addr < 0x100000600; addr += 24) {
            machsym_frame frames[4];
            answered += machsym_session_frames_at_addr(session, addr, frames, 4);
        }
        machsym_session_close(session);
        machsym_image_close(image);
    }
    CHECK(answered > file.len / stride * 18); /* the symbol table at least */
    free(file.ptr);
    test_end(name);
}

static void test_damage(void)
{
    damage("main.o", 11);
    damage("libutil.a", 29);
}

/* ---- Sessions: limits, iteration ---- */

/* Frames stay readable after their object was closed. */
static void test_frames_outlive_objects(void)
{
    machsym_image *image =
        open_program("tests/fixtures/bin/map-arm64-d5-O2/program", NULL, NULL, "tests/fixtures/bin", 0);
    machsym_session_desc desc;
    machsym_session *session = NULL;
    machsym_frame first;
    machsym_frame other;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.cache_limit = 1;
    CHECK(machsym_session_open(&desc, &session, NULL) == MACHSYM_OK);
    CHECK_EQ(machsym_session_frames_at_addr(session, 0x100000448, &first, 1), 1);
    for (int i = 0; i < 100; i++) {
        CHECK(machsym_session_frames_at_addr(session, 0x100000484, &other, 1) > 0);
        CHECK(machsym_session_frames_at_addr(session, 0x1000004e8, &other, 1) > 0);
        CHECK(session->objects->open_count <= 2);
    }
    CHECK_STR(first.linkage_name, "main");
    CHECK_STR(first.file.name, "map/main.c");
    machsym_session_trim(session);
    CHECK_EQ(machsym_session_frames_at_addr(session, 0x100000448, &first, 1), 1);
    CHECK_STR(first.linkage_name, "main");
    machsym_session_close(session);
    machsym_image_close(image);
}

static size_t allocations;

static void *counting_alloc(void *user, size_t size)
{
    (void)user;
    allocations++;
    return malloc(size);
}

static void counting_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}

/* What the comments promise for signal handlers: with all indexed, what was asked before allocates
 * nothing. */
static void check_warm(machsym_open_desc *desc)
{
    machsym_allocator allocator = {counting_alloc, counting_free, NULL};
    machsym_session_desc how;
    machsym_session *session = NULL;
    machsym_frame frames[4];
    machsym_image *image = test_open_desc(desc);
    memset(&how, 0, sizeof how);
    how.image = image;
    how.flags = MACHSYM_SESSION_INDEX;
    how.allocator = allocator;
    CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
    for (int round = 0; round < 3; round++) {
        size_t before = allocations;
        for (uint64_t addr = 0x100000440; addr < 0x100000600; addr++)
            machsym_session_frames_at_addr(session, addr, frames, 4);
        /* where each object is an allocation of its own, an answer takes what it needs */
        CHECK(round == 0 || MACHSYM_ARENA_CHUNK == 1 || allocations == before);
    }
    machsym_session_close(session);
    machsym_image_close(image);
}

static void test_warm(void)
{
    const char *dir = "tests/fixtures/bin";
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = "tests/fixtures/bin/map-arm64-d5-O2/program";
    check_warm(&desc); /* no object is found */
    desc.oso_dirs = &dir;
    desc.oso_dir_count = 1;
    check_warm(&desc);
    desc.pair_path = "tests/fixtures/bin/map-arm64-d5-O2/program.dwarf";
    check_warm(&desc);
    memset(&desc, 0, sizeof desc);
    desc.path = "tests/fixtures/bin/zoo-arm64-opcodes-strip";
    check_warm(&desc);
}

/* Functions and rows are those of the dSYM, in another order. */
static void test_iteration(void)
{
    uint64_t sums[2][4];
    memset(sums, 0, sizeof sums);
    for (int which = 0; which < 2; which++) {
        const char *path = "tests/fixtures/bin/map-x86_64-d5-O0/program";
        machsym_image *image = which == 0
                                   ? open_program(path, NULL, NULL, "tests/fixtures/bin", 0)
                                   : open_pair(path, "tests/fixtures/bin/map-x86_64-d5-O0/program.dwarf");
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_cursor at = {0, 0};
        machsym_function function;
        machsym_line line;
        machsym_session_counts info;
        while (machsym_session_next_function(session, &at, &function)) {
            sums[which][0]++;
            sums[which][1] += function.lo * 31 + function.hi + function.name.len;
        }
        memset(&at, 0, sizeof at);
        while (machsym_session_next_line(session, &at, &line)) {
            sums[which][2] += !line.end_sequence;
            sums[which][3] += line.end_sequence ? 0 : line.addr * 31 + line.line * 7 + line.file.name.len;
        }
        machsym_session_count_all(session, &info);
        CHECK_EQ(info.unit_count, 3);
        CHECK_EQ(info.object_count, which == 0 ? 3 : 0);
        CHECK_EQ(info.missing_object_count, 0);
        machsym_session_close(session);
        machsym_image_close(image);
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(sums[0][i], sums[1][i]);
    CHECK(sums[0][0] > 5);
}

/* ---- Relocations ---- */

/* One section and its relocations against two symbols, at 0x1000 and 0x1230. */
static void check_relocated(uint32_t cputype, bool is_64, const uint32_t *relocs, size_t count,
                            const uint8_t *want)
{
    bytes file = {0};
    uint8_t section_bytes[24];
    ms_mo mo;
    ms_mo_section section;
    ms_arena arena = ms_arena_make(ms_arena_default((machsym_allocator){0}));
    for (size_t i = 0; i < sizeof section_bytes; i++)
        section_bytes[i] = (uint8_t)i;
    put(&file, section_bytes, sizeof section_bytes);
    for (size_t i = 0; i < 2 * count; i++)
        put32(&file, relocs[i]);
    size_t symbols = file.len;
    for (unsigned i = 0; i < 3; i++) { /* two defined, one not */
        put32(&file, 0);
        put8(&file, i < 2 ? 0x0e : 0x01);
        put8(&file, 1);
        put16(&file, 0);
        put_uint(&file, i == 0 ? 0x1000 : i == 1 ? 0x1230 : 0x777, is_64 ? 8 : 4);
    }
    memset(&mo, 0, sizeof mo);
    memset(&section, 0, sizeof section);
    mo.bytes = ms_span_make(file.v, file.len);
    mo.is_64 = is_64;
    mo.slice.cputype = cputype;
    mo.slice.filetype = 1;
    mo.loads.sym_off = symbols;
    mo.loads.sym_count = 3;
    section.bytes = ms_span_make(file.v, sizeof section_bytes);
    section.reloc_off = sizeof section_bytes;
    section.reloc_count = (uint32_t)count;
    section.name = ms_str_from_c("__debug_info");
    mo.sections = &section;
    mo.section_count = 1;
    ms_file input;
    ms_span got;
    ms_dw dw;
    memset(&input, 0, sizeof input);
    memset(&dw, 0, sizeof dw);
    ms_sec *sec = ms_sec_start(&mo, &input, 1, &dw, &arena);
    CHECK(ms_sec_lend(sec, ms_DW_INFO, &got));
    CHECK(got.len == sizeof section_bytes && memcmp(got.ptr, want, sizeof section_bytes) == 0);
    ms_sec_drop(sec);
    ms_arena_free(&arena);
    free(file.v);
}

static void add_at(uint8_t *to, size_t size, uint64_t number)
{
    uint64_t sum = 0;
    for (size_t i = size; i-- > 0;)
        sum = sum << 8 | to[i];
    sum += number;
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(sum >> 8 * i);
}

static void plain_bytes(uint8_t *to)
{
    for (unsigned i = 0; i < 24; i++)
        to[i] = (uint8_t)i;
}

enum { EXTERN = 1 << 27, LENGTH_4 = 2 << 25, LENGTH_8 = 3 << 25 };

static void test_relocations(void)
{
    uint8_t want[24];
    const uint32_t arm64 = 0x0100000c;
    const uint32_t x86_64 = 0x01000007;
    plain_bytes(want);
    const uint32_t local[] = {8, LENGTH_8 | 1}; /* by section: the file has the address */
    check_relocated(arm64, true, local, 1, want);
    const uint32_t undefined[] = {8, EXTERN | LENGTH_8 | 2};
    check_relocated(arm64, true, undefined, 1, want);
    const uint32_t hostile[] = {20, EXTERN | LENGTH_8,    0x7fffffff, EXTERN | LENGTH_8,
                                0,  EXTERN | LENGTH_8 | 3};
    check_relocated(arm64, true, hostile, 3, want);
    const uint32_t scattered[] = {0xa0000000u, 0x1000,      0xa2000004u,
                                  0x1230,      0xa1000000u, 0x1000}; /* SECTDIFF, PAIR */
    check_relocated(7, false, scattered, 3, want);
    check_relocated(12, false, scattered, 3, want);

    const uint32_t pointer[] = {8, EXTERN | LENGTH_8 | 1};
    add_at(want + 8, 8, 0x1230);
    check_relocated(arm64, true, pointer, 1, want);
    check_relocated(x86_64, true, pointer, 1, want);

    plain_bytes(want);
    const uint32_t vanilla[] = {4, EXTERN | LENGTH_4};
    add_at(want + 4, 4, 0x1000);
    check_relocated(7, false, vanilla, 1, want);  /* GENERIC_RELOC_VANILLA */
    check_relocated(12, false, vanilla, 1, want); /* ARM_RELOC_VANILLA */
    check_relocated(arm64, true, vanilla, 1, want);

    plain_bytes(want);
    const uint32_t pair_arm64[] = {0, 1u << 28 | EXTERN | LENGTH_8, 0, EXTERN | LENGTH_8 | 1};
    const uint32_t pair_x86_64[] = {0, 5u << 28 | EXTERN | LENGTH_8, 0, EXTERN | LENGTH_8 | 1};
    const uint32_t pair_short[] = {16, 5u << 28 | EXTERN | LENGTH_4 | 1, 16, EXTERN | LENGTH_4};
    add_at(want, 8, 0x230);
    check_relocated(arm64, true, pair_arm64, 2, want);
    check_relocated(x86_64, true, pair_x86_64, 2, want);
    plain_bytes(want);
    add_at(want + 16, 4, (uint64_t)0 - 0x230);
    check_relocated(x86_64, true, pair_short, 2, want);
}

/* ---- Stabs ---- */

typedef struct stab {
    const char *name;
    uint8_t type;
    uint8_t sect;
    uint64_t value;
} stab;

/* A debug map of stabs by hand, listed and indexed. */
static void with_stabs(const stab *stabs, size_t count, void (*check)(ms_om_map *map, ms_arena *arena))
{
    bytes file = {0};
    bytes strings = {0};
    ms_mo mo;
    ms_om_map map;
    ms_arena arena = ms_arena_make(ms_arena_default((machsym_allocator){0}));
    ms_arena scratch = ms_arena_make(ms_arena_default((machsym_allocator){0}));
    put8(&strings, 0);
    for (size_t i = 0; i < count; i++) {
        put32(&file, stabs[i].name[0] != 0 ? strings.len : 0);
        put8(&file, stabs[i].type);
        put8(&file, stabs[i].sect);
        put16(&file, 0);
        put64(&file, stabs[i].value);
        put(&strings, stabs[i].name, strlen(stabs[i].name) + 1);
    }
    memset(&mo, 0, sizeof mo);
    mo.loads.sym_count = (uint32_t)count;
    mo.loads.str_off = file.len;
    mo.loads.str_size = (uint32_t)strings.len;
    put(&file, strings.v, strings.len);
    mo.bytes = ms_span_make(file.v, file.len);
    mo.is_64 = true;
    ms_om_list(&map, &mo, &arena);
    test_begin();
    for (uint64_t addr = 0; addr < 0x1000; addr += 4) { /* the scan and the index tell the same */
        size_t by_scan = ms_om_scan(&map, addr);
        if (map.segs.count == 0)
            ms_om_index(&map, &scratch, &arena);
        test_equal(ms_om_find(&map, addr), by_scan, "object", __FILE__, __LINE__);
    }
    test_end("the scan and the index of a debug map");
    check(&map, &arena);
    ms_arena_free(&arena);
    ms_arena_free(&scratch);
    free(file.v);
    free(strings.v);
}

/* Functions that are listed one after the other, with the object files that they are in. */
static void check_listed(const ms_om_map *map, const machsym_object *want, size_t count)
{
    machsym_object got;
    uint64_t at = 0;
    uint64_t oso = 0;
    size_t i = 0;
    for (; ms_om_next_function(map->mo, &at, &oso, &got) && i < count; i++) {
        CHECK_EQ(got.lo, want[i].lo);
        CHECK_EQ(got.hi, want[i].hi);
        CHECK(test_same(got.path, want[i].path));
        CHECK(test_same(got.member, want[i].member));
    }
    CHECK_EQ(i, count);
    CHECK(!ms_om_next_function(map->mo, &at, &oso, &got));
}

/* What a row of such functions says. */
static machsym_object listed(uint64_t lo, uint64_t hi, const char *path, const char *member)
{
    machsym_object row;
    memset(&row, 0, sizeof row);
    row.lo = lo;
    row.hi = hi;
    row.path = test_str(path);
    row.member = test_str(member);
    return row;
}

static void check_two_objects(ms_om_map *map, ms_arena *arena)
{
    const machsym_object want[] = {listed(0x100, 0x120, "/b/one.o", ""),
                                   listed(0x108, 0x118, "/b/lib (x).a", "two.o"),
                                   listed(0x200, 0x240, "/b/lib (x).a", "two.o")};
    (void)arena;
    check_listed(map, want, 3);
    CHECK_EQ(map->count, 2);
    CHECK_STR(map->v[0].path, "/b/one.o");
    CHECK_STR(map->v[0].member, "");
    CHECK_EQ(map->v[0].time, 77);
    CHECK_STR(map->v[1].path, "/b/lib (x).a");
    CHECK_STR(map->v[1].member, "two.o");
    CHECK_EQ(ms_om_find(map, 0x100), 0);
    CHECK_EQ(ms_om_find(map, 0x11f), 0);
    CHECK_EQ(ms_om_find(map, 0x120), 2); /* a gap */
    CHECK_EQ(ms_om_find(map, 0x200), 1);
    CHECK_EQ(ms_om_find(map, 0x108), 0); /* both claim it: the first has it */
    CHECK_EQ(ms_om_find(map, 0x400), 2); /* after the N_SO that closes the object */
}

static void test_stabs(void)
{
    static const stab stabs[] = {
        {"/src/", 0x64, 0, 0},        {"one.c", 0x64, 0, 0},
        {"/b/one.o", 0x66, 0, 77},    {"", 0x2e, 1, 0x100},
        {"_one", 0x24, 1, 0x100},     {"", 0x24, 0, 0x20},
        {"", 0x4e, 1, 0x100},         {"_data", 0x26, 2, 0x800},
        {"_global", 0x20, 0, 0},      {"", 0x64, 1, 0},
        {"two.c", 0x64, 0, 0},        {"/b/lib (x).a(two.o)", 0x66, 3, 0},
        {"_twin", 0x24, 1, 0x108},    {"", 0x24, 0, 0x10},
        {"_two", 0x24, 1, 0x200},     {"", 0x24, 0, 0x40},
        {"_alone", 0x24, 1, 0x300},   {"", 0x64, 1, 0},
        {"_outside", 0x24, 1, 0x400}, {"", 0x24, 0, 0x40},
    };
    with_stabs(stabs, sizeof stabs / sizeof stabs[0], check_two_objects);
}

static void check_next_source(ms_om_map *map, ms_arena *arena)
{
    const machsym_object want[] = {listed(0x100, 0x120, "/b/one.o", ""),
                                   listed(0x300, 0x340, "/b/three.o", "")};
    (void)arena;
    CHECK_EQ(map->count, 2);
    CHECK_EQ(ms_om_find(map, 0x100), 0);
    CHECK_EQ(ms_om_find(map, 0x200), 2); /* of a source file without an object file */
    CHECK_EQ(ms_om_find(map, 0x300), 1);
    check_listed(map, want, 2);
}

/* The next source file ends the object file before it, whether an empty N_SO closes that or not. */
static void test_next_source(void)
{
    static const stab stabs[] = {
        {"/src/", 0x64, 0, 0},      {"one.c", 0x64, 0, 0},      {"/b/one.o", 0x66, 0, 7},
        {"_one", 0x24, 1, 0x100},   {"", 0x24, 0, 0x20},        {"two.c", 0x64, 0, 0},
        {"_two", 0x24, 1, 0x200},   {"", 0x24, 0, 0x20},        {"three.c", 0x64, 0, 0},
        {"/b/three.o", 0x66, 0, 7}, {"_three", 0x24, 1, 0x300}, {"", 0x24, 0, 0x40},
    };
    with_stabs(stabs, sizeof stabs / sizeof stabs[0], check_next_source);
}

static void check_odd_stabs(ms_om_map *map, ms_arena *arena)
{
    (void)arena;
    CHECK_EQ(map->count, 3);
    CHECK_STR(map->v[0].path, "/b/odd).o)"); /* no archive: nothing opens the parenthesis */
    CHECK_STR(map->v[0].member, "");
    CHECK_STR(map->v[1].path, "/b/lib.a");
    CHECK_STR(map->v[1].member, "x.o");
    CHECK_EQ(ms_om_find(map, 0x100), 3); /* no size */
    CHECK_EQ(ms_om_find(map, 0x200), 0);
    CHECK_EQ(ms_om_find(map, 0x300), 3); /* its second entry is of the next object */
    CHECK_EQ(ms_om_find(map, 0x500), 2); /* no N_SO closes the last object */
    CHECK_EQ(ms_om_find(map, 0x600), 3);
}

/* Impossible sizes, functions cut in two, an object that nothing closes. */
static void test_odd_stabs(void)
{
    static const stab stabs[] = {
        {"/b/odd).o)", 0x66, 0, 1},
        {"_empty", 0x24, 1, 0x100},
        {"", 0x24, 0, 0},
        {"_far", 0x24, 1, 0xfffffffffffffff0},
        {"", 0x24, 0, 0x20},
        {"_good", 0x24, 1, 0x200},
        {"", 0x24, 0, 0x20},
        {"_half", 0x24, 1, 0x300},
        {"/b/lib.a(x.o)", 0x66, 0, 2},
        {"", 0x64, 1, 0},
        {"/b/last.o", 0x66, 0, 3},
        {"_last", 0x24, 1, 0x500},
        {"", 0x24, 0, 0x40},
        {"_alone", 0x24, 1, 0x600},
    };
    with_stabs(stabs, sizeof stabs / sizeof stabs[0], check_odd_stabs);
}

/* ---- Moving code ---- */

static void check_moves(ms_om_map *map, ms_arena *arena)
{
    ms_dw_move moves[4] = {
        {0x40, 0x60, 0x1040}, {0x00, 0x20, 0x1000}, {0x20, 0x48, 0x1020}, {0x80, 0x80, 0x9000}};
    (void)map;
    CHECK_EQ(ms_om_join_moves(moves, 4, arena),
             1); /* overlap cut, order made, neighbours joined, empty one dropped */
    CHECK_EQ(moves[0].lo, 0);
    CHECK_EQ(moves[0].hi, 0x60);
    ms_dw_move apart[3] = {{0x00, 0x20, 0x1000}, {0x20, 0x40, 0x3000}, {0x60, 0x80, 0x3040}};
    CHECK_EQ(ms_om_join_moves(apart, 3, arena), 3);
    ms_dw dw;
    memset(&dw, 0, sizeof dw);
    dw.moves = apart;
    dw.move_count = 3;
    uint64_t lo = 0x18;
    uint64_t hi = 0x30; /* over the end of what moved as one */
    CHECK(ms_dw_move_range(&dw, &lo, &hi));
    CHECK_EQ(lo, 0x1018);
    CHECK_EQ(hi, 0x1020);
    lo = 0x40;
    hi = 0x50; /* left out by the linker */
    CHECK(!ms_dw_move_range(&dw, &lo, &hi));
    lo = 0x80;
    CHECK(!ms_dw_move_range(&dw, &lo, &hi));
}

static void test_moves(void)
{
    static const stab none[] = {{"", 0x64, 1, 0}};
    with_stabs(none, 1, check_moves);
}

/* ---- Object files by themselves ---- */

/* An object answers with the names and lines that the program linked from it has. */
static void test_objects(void)
{
    static const struct {
        const char *path;
        uint64_t addr;
        const char *name;
        uint32_t line;
    } cases[] = {
        {"tests/fixtures/bin/map-arm64-d4-O0/main.o", 0, "main", 12},
        {"tests/fixtures/bin/map-arm64-d5-O2/main.o", 0, "main", 12},
        {"tests/fixtures/bin/map-x86_64-d4-O2/main.o", 0, "main", 12},
        {"tests/fixtures/bin/map-x86_64-d5-O0/main.o", 0, "main", 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machsym_image *image = test_open(cases[i].path);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_frame frame;
        CHECK(machsym_session_frames_at_addr(session, cases[i].addr, &frame, 1) > 0);
        CHECK_STR(frame.name, cases[i].name);
        CHECK_EQ(frame.line, cases[i].line);
        CHECK_EQ(frame.line_source, MACHSYM_SOURCE_DWARF);
        machsym_session_close(session);
        compare_map(image, MACHSYM_LINES_ATOS, cases[i].path);
        machsym_image_close(image);
    }
}

/* ---- The corpus: Apple's linker ---- */

static void test_corpus(void)
{
    static const char *const names[] = {"abstract-linkage-names", "simple-example"};
    for (size_t i = 0; i < 2; i++) {
        char program[300];
        char dsym[300];
        char binary[256];
        char dir[256];
        snprintf(dir, sizeof dir, "../shared/corpus/samply/fixtures/other/%s/out/mac-oso", names[i]);
        snprintf(program, sizeof program, "%s/main", dir);
        snprintf(binary, sizeof binary, "../shared/corpus/samply/fixtures/other/%s/out/mac-dsym/main",
                 names[i]);
        snprintf(dsym, sizeof dsym, "%s.dSYM", binary);
        if (access(program, R_OK) != 0) {
            test_leave_out(program, "it is not here");
            continue;
        }
        machsym_image *image = open_program(program, NULL, NULL, dir, MACHSYM_OPEN_ANY_TIME);
        machsym_image *pair = open_pair(binary, dsym);
        compare_images(image, pair, names[i], 60);
        compare_map(image, MACHSYM_LINES_ATOS, names[i]);
        machsym_image_close(image);
        machsym_image_close(pair);
    }
}

/* The explanation names the object file that answers; its texts outlive that. */
static void test_explanation(void)
{
    machsym_image *image =
        open_program("tests/fixtures/bin/map-arm64-d5-O2/program", NULL, NULL, "tests/fixtures/bin", 0);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_explanation e;
    machsym_session_explain_addr(session, 0x100000448, &e);
    CHECK(ms_str_ends(e.object_path, "/main.o"));
    CHECK_EQ(e.object_member.len, 0);
    CHECK(ms_str_ends(e.unit_name, "main.c"));
    CHECK(e.row_count > 0 && e.row_used < e.row_count);
    CHECK(e.has_symbol && !e.symbol_differs && e.rival_count == 0);
    machsym_session_close(session);
    machsym_image_close(image);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    test_equal_to_dsym();
    test_explanation();
    test_map_build();
    test_places();
    test_many_places();
    test_bytes();
    test_times();
    test_archives();
    test_twins();
    test_archive_kinds();
    test_thin_members();
    test_members();
    test_best_slice();
    test_damage();
    test_frames_outlive_objects();
    test_warm();
    test_iteration();
    test_relocations();
    test_stabs();
    test_next_source();
    test_odd_stabs();
    test_moves();
    test_objects();
    test_corpus();
    static const char *const made[] = {"main.o", "libutil.a", "util.o", "util_with_a_long_name.o"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        unlink(in_folder(made[i]));
    CHECK(rmdir(folder) == 0);
    return test_done();
}
