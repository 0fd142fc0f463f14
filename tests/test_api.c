/* The public functions: names, paths, address arithmetic, pairs; tests/test_errors.c has what they refuse. */
static int asserted; /* how often an assertion of the header failed */
#define MACHSYM_ASSERT(condition) ((condition) ? (void)0 : (void)asserted++)
#define machsym_abi               library_abi /* the header asks a library for this: here, this file */
#include "dwarf.h"

static uint64_t library_skew;
uint64_t library_abi(void)
{
    return MACHSYM_ABI + library_skew;
}

static machsym_open_desc desc_of(const void *ptr, size_t len)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    return desc;
}

/* The texts of the codes and the names are one list. */
static void test_names(void)
{
    CHECK_TEXT(machsym_version(), MACHSYM_VERSION);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", MACHSYM_VERSION_MAJOR, MACHSYM_VERSION_MINOR,
             MACHSYM_VERSION_PATCH);
    CHECK_TEXT(machsym_version(), version);
    CHECK_TEXT(machsym_result_name(MACHSYM_OK), "OK");
    CHECK_TEXT(machsym_result_name(MACHSYM_ERR_ARCH), "ERR_ARCH");
    CHECK_TEXT(machsym_result_name(MACHSYM_ERR_LIMIT), "ERR_LIMIT");
    CHECK_TEXT(machsym_result_name(MACHSYM_RESULT_COUNT), "?");
    CHECK_TEXT(machsym_result_name((machsym_result)-1), "?");
    static const char *const sources[] = {"none",  "dwarf", "symtab",          "stub", "exports", "objc",
                                          "block", "swift", "function_starts", "near"};
    for (unsigned i = 0; i < sizeof sources / sizeof sources[0]; i++)
        CHECK_TEXT(machsym_source_name((machsym_source)i), sources[i]);
    CHECK_EQ(MACHSYM_SOURCE_COUNT, sizeof sources / sizeof sources[0]);
    CHECK_TEXT(machsym_source_name(MACHSYM_SOURCE_COUNT), "?");
}

/* Flags of one meaning have one value, whichever descriptor they are for; no two flags of one share a bit. */
static void test_flags(void)
{
    static const uint32_t all[] = {MACHSYM_OPEN_COPY,      MACHSYM_OPEN_NO_PAIR,    MACHSYM_OPEN_LOADED,
                                   MACHSYM_OPEN_NO_SYMTAB, MACHSYM_OPEN_NO_OBJECTS, MACHSYM_OPEN_ANY_TIME,
                                   MACHSYM_OPEN_UNCHECKED, MACHSYM_OPEN_BY_PAGES};
    uint32_t seen = 0;
    CHECK_EQ(MACHSYM_OPEN_COPY, MACHSYM_MAP_COPY);
    CHECK_EQ(MACHSYM_OPEN_UNCHECKED, MACHSYM_MAP_UNCHECKED);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        CHECK_EQ(all[i] & (all[i] - 1), 0);
        CHECK_EQ(seen & all[i], 0);
        seen |= all[i];
    }
}

static machsym_path path_of(const char *comp_dir, const char *dir, const char *name)
{
    machsym_path path;
    path.comp_dir = test_str(comp_dir);
    path.dir = test_str(dir);
    path.name = test_str(name);
    return path;
}

static void check_join(const char *comp_dir, const char *dir, const char *name, const char *want)
{
    machsym_path path = path_of(comp_dir, dir, name);
    size_t len = strlen(want);
    char buf[64];
    CHECK_EQ(machsym_path_join(&path, NULL, 0), len);
    for (size_t cap = 1; cap <= len + 3; cap++) { /* as snprintf: whatever fits, a NUL, nothing after */
        memset(buf, '#', sizeof buf);
        CHECK_EQ(machsym_path_join(&path, buf, cap), len);
        size_t kept = len < cap - 1 ? len : cap - 1;
        CHECK(memcmp(buf, want, kept) == 0 && buf[kept] == 0 && buf[cap] == '#');
    }
}

static void test_path_join(void)
{
    check_join("/comp", "dir", "a.c", "/comp/dir/a.c");
    check_join("/comp", "", "a.c", "/comp/a.c");
    check_join("/comp", "/dir", "a.c", "/dir/a.c");
    check_join("/comp", "dir", "/a.c", "/a.c");
    check_join("", "dir", "a.c", "dir/a.c");
    check_join("/comp/", "dir/", "a.c", "/comp/dir/a.c");
    check_join("", "", "a.c", "a.c");
    check_join("/comp", "dir", "", "");
    check_join("", "", "<compiler-generated>", "<compiler-generated>");
}

/* pc - load address + __TEXT's address; arm64 drops authentication bits, arm the Thumb bit, 32-bit images
 * wrap. An address of more bits than the image has is not in the image. */
static void test_image_addr(void)
{
    static const struct {
        uint32_t cputype;
        bool is_32;
        uint64_t text;
        uint64_t load;
        uint64_t pc;
        uint64_t want;
    } rows[] = {
        {0x0100000c, false, 0x100000000, 0x102a30000, 0x102a30aef, 0x100000aef},
        {0x0100000c, false, 0x100000000, 0x102a30000, 0x004b000102a30aef, 0x100000aef},
        {0x0100000c, false, 0x100000000, 0x102a30000, 0xff7b800102a30aefu & ~(UINT64_C(1) << 55),
         0x100000aef},
        {0x0100000c, false, 0xfffffff007004000, 0xfffffff012004000, 0xfffffff012345678, 0xfffffff007345678},
        {0x01000007, false, 0x100000000, 0x10a0b0000, 0x10a0b1234, 0x100001234},
        {12, true, 0x4000, 0x1000, 0x2345, 0x5344},
        {0x0100000c, false, 0xfffffff007004000, 0xfffffff007004000, 0x3dfffff007abcde0, 0xfffffff007abcde0},
        {7, true, 0x1000, 0xfffff000u, 0x234, 0x2234},
        {7, true, 0x1000, 0xfffffffffffff000, 0x1234, 0x3234}, /* slid below its place */
        {7, true, 0x1000, 0x4000, 0x100004010, UINT64_MAX},
        {12, true, 0x4000, 0x100004000, 0x100004010, UINT64_MAX},
        {0x0200000c, true, 0x4000, 0x4000, 0xffffffff00004010, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make_macho m;
        memset(&m, 0, sizeof m);
        m.cputype = rows[i].cputype;
        m.is_32 = rows[i].is_32;
        m.text_addr = rows[i].text;
        bytes file = make_file(&m);
        machsym_image *image = test_open_bytes(file.v, file.len);
        CHECK_EQ(machsym_image_addr_of_pc(image, rows[i].load, rows[i].pc), rows[i].want);
        machsym_image_close(image);
        bytes_free(&file);
    }
}

/* Programs have addresses of 47 bits, kernels those with bit 55. */
static void test_plain_pc(void)
{
    const uint32_t arm64 = 0x0100000c;
    const uint32_t x86_64 = 0x01000007;
    CHECK_EQ(machsym_plain_pc(arm64, UINT64_C(0x8c61000102a30a7c)), UINT64_C(0x102a30a7c));
    CHECK_EQ(machsym_plain_pc(arm64, UINT64_C(0x102a30a7c)), UINT64_C(0x102a30a7c));
    CHECK_EQ(machsym_plain_pc(arm64, UINT64_C(0x1c80fe0007123456)), UINT64_C(0xfffffe0007123456));
    CHECK_EQ(machsym_plain_pc(x86_64, UINT64_C(0x8c61000102a30a7c)), UINT64_C(0x8c61000102a30a7c));
}

/* In a 32-bit image an address of more than 32 bits has no answer: no session, no explanation, no map gives
 * one. */
static void test_wide_address(void)
{
    const uint64_t inside = 0x8010; /* main, line 32: llvm-symbolizer-22 */
    const uint64_t high = UINT64_C(0x100000000);
    machsym_image *image = test_open("tests/fixtures/bin/inline-arm64_32-d4-22.dwarf");
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_plan_desc desc;
    machsym_map *map = NULL;
    machsym_explanation e;
    machsym_frame frames[4];
    machsym_map_frame small[4];
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    CHECK_EQ(machsym_map_build(&desc, &map, NULL), MACHSYM_OK);
    CHECK_EQ(machsym_image_addr_of_pc(image, 0x4000, inside), inside);
    CHECK(machsym_session_frames_at_addr(session, inside, frames, 4) > 0);
    CHECK(machsym_map_frames_at_addr(map, inside, small, 4) > 0);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t addr = i == 0   ? high + inside
                        : i == 1 ? machsym_image_addr_of_pc(image, 0x4000, high + inside)
                                 : machsym_map_addr_of_pc(map, 0x4000, high + inside);
        CHECK_EQ(machsym_session_frames_at_addr(session, addr, frames, 4), 0);
        CHECK_EQ(machsym_map_frames_at_addr(map, addr, small, 4), 0);
        machsym_session_explain_addr(session, addr, &e);
        CHECK(!e.has_symbol);
        CHECK_EQ(e.unit_source, MACHSYM_UNIT_NONE);
        CHECK_EQ(e.row_count, 0);
    }
    machsym_map_close(map);
    machsym_session_close(session);
    machsym_image_close(image);
}

static void test_loaded(void)
{
    static const machsym_loaded images[] = {
        {0x1000, 0x2000, NULL, NULL}, {0x2000, 0x3000, NULL, NULL}, {0x8000, 0x9000, NULL, NULL}};
    CHECK(machsym_loaded_from_pc(images, 3, 0xfff) == NULL);
    CHECK(machsym_loaded_from_pc(images, 3, 0x1000) == &images[0]);
    CHECK(machsym_loaded_from_pc(images, 3, 0x1fff) == &images[0]);
    CHECK(machsym_loaded_from_pc(images, 3, 0x2000) == &images[1]);
    CHECK(machsym_loaded_from_pc(images, 3, 0x3000) == NULL);
    CHECK(machsym_loaded_from_pc(images, 3, 0x8fff) == &images[2]);
    CHECK(machsym_loaded_from_pc(images, 3, UINT64_MAX) == NULL);
    CHECK(machsym_loaded_from_pc(images, 0, 0x1000) == NULL);
    CHECK(machsym_loaded_from_pc(NULL, 0, 0x1000) == NULL);
}

/* A pair given as bytes: the dSYM's debug info and the binary's function starts answer together, in either
 * order. */
static void test_pair_bytes(void)
{
    test_file dsym = test_read("tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo");
    test_file binary = test_read("tests/fixtures/bin/demo");
    for (unsigned order = 0; order < 2; order++) {
        machsym_open_desc desc =
            desc_of(order == 0 ? dsym.ptr : binary.ptr, order == 0 ? dsym.len : binary.len);
        desc.pair_bytes.ptr = order == 0 ? binary.ptr : dsym.ptr;
        desc.pair_bytes.len = order == 0 ? binary.len : dsym.len;
        machsym_image *image = test_open_desc(&desc);
        machsym_image_info info;
        machsym_frame frames[8];
        machsym_image_get_info(image, &info);
        CHECK(info.has_dwarf && info.has_function_starts);
        CHECK(info.path == NULL && info.pair_path == NULL);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        CHECK_EQ(machsym_session_frames_at_addr(
                     session, machsym_image_addr_of_pc(image, 0x102a30000, 0x102a30aef), frames, 8),
                 4);
        CHECK_STR(frames[0].name, "require");
        CHECK_EQ(frames[0].line, 6);
        machsym_session_close(session);
        machsym_image_close(image);
    }
    free(dsym.ptr);
    free(binary.ptr);
}

/* Without LC_SYMTAB the rest of the file answers. */
static void test_no_symtab(void)
{
    machsym_open_desc desc;
    machsym_symbol symbol;
    memset(&desc, 0, sizeof desc);
    desc.path = "tests/fixtures/bin/symbols-x86_64";
    for (unsigned flag = 0; flag < 2; flag++) {
        machsym_cursor at = {0, 0};
        desc.flags = flag == 1 ? MACHSYM_OPEN_NO_SYMTAB : 0;
        machsym_image *image = test_open_desc(&desc);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        bool named = false;
        while (machsym_session_next_symbol(session, &at, &symbol))
            named = named || symbol.source == MACHSYM_SOURCE_SYMTAB;
        CHECK_EQ(named, flag == 0);
        machsym_session_close(session);
        machsym_image_close(image);
    }
}

/* A demangler that knows nothing of a name copies it, as snprintf would. */
static void test_demangle_plain(void)
{
    char buf[16];
    machsym_str name = test_str("main");
    CHECK_EQ(machsym_demangle(name, 0, NULL, 0), 4);
    memset(buf, '#', sizeof buf);
    CHECK_EQ(machsym_demangle(name, 0, buf, 3), 4);
    CHECK(memcmp(buf, "ma\0#", 4) == 0);
    CHECK_EQ(machsym_demangle(name, 0, buf, sizeof buf), 4);
    CHECK_TEXT(buf, "main");
    CHECK_EQ(machsym_demangle(test_str(NULL), 0, buf, sizeof buf), 0);
    CHECK_TEXT(buf, "");
}

/* What is shown of a name: source form, of mangled parts too. `swift demangle` of 5.9 gives Demo.Player for
 * the class. */
static void test_shown_names(void)
{
    static const char *const names[][2] = {
        {"_Z7requireb", "require(bool)"},
        {"main", "main"},
        {"-[_TtC4Demo6Player play:]", "-[Demo.Player play:]"},
        {"block in -[_TtC4Demo6Player play]", "block in -[Demo.Player play]"},
        {"-[Player skip:]", "-[Player skip:]"},
        {"-[$s", "-[$s"},
        {"", ""},
    };
    char buf[64];
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t len = strlen(names[i][1]);
        for (size_t cap = 1; cap <= len + 3; cap++) { /* as snprintf */
            memset(buf, '#', sizeof buf);
            CHECK_EQ(machsym_name_text(test_str(names[i][0]), 0, buf, cap), len);
            size_t kept = len < cap - 1 ? len : cap - 1;
            CHECK(memcmp(buf, names[i][1], kept) == 0 && buf[kept] == 0 && buf[cap] == '#');
        }
    }
    machsym_frame frame;
    memset(&frame, 0, sizeof frame);
    CHECK_EQ(machsym_frame_name(&frame, 0, buf, sizeof buf), 0);
    frame.name = test_str("require");
    machsym_frame_name(&frame, 0, buf, sizeof buf);
    CHECK_TEXT(buf, "require");
    frame.linkage_name = test_str("_Z7requireb");
    machsym_frame_name(&frame, 0, buf, sizeof buf);
    CHECK_TEXT(buf, "require(bool)");
}

static void check_error(const char *path, const char *arch, const char *want)
{
    machsym_open_desc desc;
    machsym_error err;
    machsym_image *image;
    char buf[512];
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.arch = arch;
    CHECK(machsym_image_open(&desc, &image, &err) != MACHSYM_OK);
    CHECK_EQ(machsym_error_text(&err, &desc, buf, sizeof buf), strlen(want));
    CHECK_TEXT(buf, want);
    CHECK_EQ(machsym_error_text(&err, &desc, NULL, 0), strlen(want));
}

/* The UUIDs are those that llvm-objdump --private-headers prints. */
static void test_error_text(void)
{
    machsym_error err;
    char buf[128];
    check_error("tests/fixtures/bin/none", NULL,
                "tests/fixtures/bin/none: the file cannot be read: there is no such file");
    check_error(
        "tests/fixtures/bin/demo-stack.txt", NULL,
        "tests/fixtures/bin/demo-stack.txt: not a Mach-O file; name a Mach-O file, a .dSYM or a .symmap");
    check_error(
        "tests/fixtures/bin/inline-fat.dwarf", NULL,
        "tests/fixtures/bin/inline-fat.dwarf: the file has several slices; name an architecture or a UUID; "
        "the file has x86_64 4C4C44F8-5555-3144-A12C-1279AC5ED114, "
        "arm64 4C4C4437-5555-3144-A176-523D550379D0");
    check_error("tests/fixtures/bin/inline-fat.dwarf", "armv7",
                "tests/fixtures/bin/inline-fat.dwarf: the file has no slice for this architecture; "
                "the file has x86_64 4C4C44F8-5555-3144-A12C-1279AC5ED114, "
                "arm64 4C4C4437-5555-3144-A176-523D550379D0");
    memset(&err, 0, sizeof err);
    err.code = MACHSYM_ERR_DAMAGED;
    err.what = "the map is cut short";
    err.where = "map header";
    err.offset = 64;
    machsym_error_text(&err, NULL, buf, sizeof buf);
    CHECK_TEXT(buf, "the map is cut short (map header, offset 64)");
    err.where = "";
    err.os_errno = 12345;
    machsym_error_text(&err, NULL, buf, sizeof buf);
    CHECK_TEXT(buf, "the map is cut short: system error 12345");
}

/* A debug build of a program asks the library that it opens something with whether both have the same structs. */
static void test_abi(void)
{
    machsym_open_desc desc = desc_of("", 0);
    machsym_session_desc how;
    machsym_image *image = NULL;
    machsym_session *session = NULL;
    memset(&how, 0, sizeof how);
    machsym_image_open(&desc, &image, NULL);
    CHECK_EQ(asserted, 0);
    library_skew = 8;
    machsym_image_open(&desc, &image, NULL);
    machsym_session_open(&how, &session, NULL);
    CHECK_EQ(asserted, 2);
    library_skew = 0;
}

int main(void)
{
    test_abi();
    test_names();
    test_flags();
    test_path_join();
    test_image_addr();
    test_plain_pc();
    test_wide_address();
    test_loaded();
    test_pair_bytes();
    test_no_symtab();
    test_demangle_plain();
    test_shown_names();
    test_error_text();
    return test_done();
}
