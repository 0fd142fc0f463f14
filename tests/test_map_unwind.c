/* Maps that carry unwind tables: the sections are the file's, byte for byte; the sizes of large frames are those in the
 * code, also of tables by hand with one field changed; a frame is found by them as by the file. Damage, half a map and
 * maps that are read piece by piece have no tables. */
#define TEST_PUBLIC
#include "failer.h"
#include "make.h"
#include "maps.h"

enum {
    MODE = 0x0f000000,
    INDIRECT = 0x03000000,
    AMD64 = 0x01000007,
    SLIDE = 0x5000,
    STACK = 0x70000000,
    LARGE_TABLE = 65536
};

static uint32_t word_at(const void *p, uint64_t at)
{
    uint32_t word;
    memcpy(&word, (const char *)p + at, 4);
    return word;
}

/* The section of a file, as its map has to carry it: of the program, not of a dSYM. */
static machsym_section section_of(const machsym_image *image, const char *name)
{
    machsym_section found;
    machsym_cursor at = {0, 0};
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    while (machsym_image_next_section(image, &at, &found)) {
        bool is_dsym = info.slice.filetype == 10 && !found.is_pair;
        if (same_str(found.name, test_str(name)) && (!is_dsym || strcmp(name, "__debug_frame") == 0) &&
            found.bytes.len != 0)
            return found;
    }
    memset(&found, 0, sizeof found);
    return found;
}

static void check_section(const machsym_image *image, const char *name, const machsym_unwind_section *got)
{
    machsym_section want = section_of(image, name);
    CHECK_EQ(got->size, want.bytes.len);
    CHECK_EQ(got->bytes.len, want.bytes.len);
    CHECK(got->bytes.len == 0 || memcmp(got->bytes.ptr, want.bytes.ptr, want.bytes.len) == 0);
    CHECK_EQ(got->addr, want.bytes.len != 0 ? want.addr + SLIDE : 0);
}

/* What a map carries is what its file has. Returns how many bytes. */
static uint64_t check_tables(const machsym_image *image, const machsym_map *map)
{
    machsym_unwind_image tables;
    machsym_image_info info;
    machsym_map_info told;
    machsym_image_get_info(image, &info);
    machsym_map_get_info(map, &told);
    bool has = machsym_map_get_unwind(map, info.text_addr + SLIDE, &tables);
    check_section(image, "__unwind_info", &tables.unwind_info);
    check_section(image, "__eh_frame", &tables.eh_frame);
    check_section(image, "__debug_frame", &tables.debug_frame);
    uint64_t bytes =
        tables.unwind_info.size + tables.eh_frame.size + tables.debug_frame.size + tables.large_frames.len;
    CHECK_EQ(has, bytes != 0);
    CHECK_EQ(told.unwind_bytes, bytes);
    CHECK_EQ((told.flags & MACHSYM_MAP_UNWIND) != 0, has);
    CHECK_EQ(tables.load_addr, info.text_addr + SLIDE);
    CHECK_EQ(tables.file_addr, info.text_addr);
    CHECK_EQ(tables.size, info.text_size);
    return bytes;
}

/* Every fixture: with the flag its map has the tables, without it the map is what it was. */
static void check_fixtures(void)
{
    file_list files;
    size_t with = 0;
    memset(&files, 0, sizeof files);
    list_files(&files, "tests/fixtures/bin");
    list_files(&files, "tests/stacks");
    for (size_t i = 0; i < files.count; i++) {
        machsym_open_desc desc;
        machsym_image *image = NULL;
        machsym_map_info info;
        memset(&desc, 0, sizeof desc);
        desc.path = files.v[i];
        desc.flags = MACHSYM_OPEN_NO_OBJECTS;
        if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
            continue;
        machsym_map *plain = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_DAMAGED);
        machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_DAMAGED | MACHSYM_MAP_UNWIND);
        if (plain != NULL && map != NULL) {
            test_begin();
            machsym_map *opened = reopen_map(map, 0);
            uint64_t bytes = check_tables(image, opened);
            CHECK_EQ(check_tables(image, map), bytes);
            machsym_map_get_info(plain, &info);
            CHECK_EQ(info.unwind_bytes, 0);
            CHECK_EQ(info.flags & MACHSYM_MAP_UNWIND, 0);
            size_t len = machsym_map_bytes(map).len, plain_len = machsym_map_bytes(plain).len;
            CHECK(bytes != 0 ? len >= plain_len + bytes : len == plain_len);
            with += bytes != 0;
            machsym_map_close(opened);
            test_end(files.v[i]);
        }
        machsym_map_close(plain);
        machsym_map_close(map);
        machsym_image_close(image);
    }
    CHECK(with >= 10);
    free_list(&files);
}

/* ---- Large frames ---- */

/* A copy of the program in which the functions with its first common encoding have large frames, whose size stands in
 * bytes 1 to 4 of their code. */
static uint8_t *large_program(size_t *len)
{
    test_file file = test_read("tests/stacks/x86_64.program");
    uint8_t *bytes = file.ptr;
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    *len = file.len;
    desc.bytes.ptr = bytes;
    desc.bytes.len = *len;
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    machsym_section table = section_of(image, "__unwind_info");
    uint64_t at = table.offset + word_at(table.bytes.ptr, 4);
    uint32_t encoding = INDIRECT | 1u << 16;
    CHECK(word_at(table.bytes.ptr, 8) > 1);
    machsym_image_close(image);
    memcpy(bytes + at, &encoding, 4);
    return bytes;
}

/* Lists the functions of a table of one compressed page by common encodings: {function, encoding}. */
static size_t list_functions(const machsym_section *table, uint32_t (*out)[2], size_t cap)
{
    const void *p = table->bytes.ptr;
    uint64_t index = word_at(p, 20), page = word_at(p, index + 4);
    uint32_t base = word_at(p, index), commons = word_at(p, 4), common_count = word_at(p, 8);
    size_t count = word_at(p, page + 4) >> 16;
    uint64_t entries = page + (word_at(p, page + 4) & 0xffff), own = page + (word_at(p, page + 8) & 0xffff);
    CHECK_EQ(word_at(p, 24), 2);
    CHECK_EQ(word_at(p, page), 3);
    CHECK(count <= cap);
    for (size_t i = 0; i < count && i < cap; i++) {
        uint32_t entry = word_at(p, entries + 4 * i), number = entry >> 24;
        out[i][0] = base + (entry & 0xffffff);
        out[i][1] =
            word_at(p, number < common_count ? commons + 4 * number : own + 4 * (number - common_count));
    }
    return count;
}

/* Memory of a process: a stack, and the code of the program if has_code. */
typedef struct process {
    const machsym_section *code;
    bool has_code;
    uint64_t caller;
} process;

static bool read_process(void *ctx, uint64_t addr, void *out, size_t len)
{
    const process *p = (const process *)ctx;
    uint64_t off = addr - (p->code->addr + SLIDE);
    if (addr >= STACK && addr < (uint64_t)STACK + UINT32_MAX && len == 8) {
        memcpy(out, &p->caller, 8);
        return true;
    }
    if (!p->has_code || off >= p->code->bytes.len || len > p->code->bytes.len - off)
        return false;
    memcpy(out, (const char *)p->code->bytes.ptr + off, len);
    return true;
}

/* One step out of the middle of a function that has called something. */
static machsym_unwind_state step_from(const machsym_unwind_image *tables, process *p, uint64_t pc)
{
    machsym_unwind_desc desc = {read_process, p, tables, 1, AMD64};
    machsym_unwind_state state;
    memset(&state, 0, sizeof state);
    state.how = MACHSYM_UNWIND_COMPACT;
    state.v[7] = STACK;
    state.v[16] = pc;
    state.known = 1u << 7 | 1u << 16;
    machsym_unwind_next(&desc, &state);
    return state;
}

static void check_large(void)
{
    size_t len, large = 0;
    uint8_t *bytes = large_program(&len);
    uint32_t functions[64][2];
    machsym_open_desc desc;
    machsym_image *image = NULL;
    machsym_unwind_image by_map, by_file;
    machsym_cursor at = {0, 0};
    machsym_section code;
    test_begin();
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = bytes;
    desc.bytes.len = len;
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    machsym_section table = section_of(image, "__unwind_info");
    while (machsym_image_next_section(image, &at, &code) && !code.is_code)
        continue;
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_UNWIND);
    uint64_t base = 0x100000000 + SLIDE;
    CHECK(machsym_map_get_unwind(map, base, &by_map));
    by_file = by_map;
    memset(&by_file.large_frames, 0, sizeof by_file.large_frames);
    size_t count = list_functions(&table, functions, 64);
    for (size_t i = 0; i < count; i++) {
        process p = {&code, false, base + functions[0][0] + 8};
        uint64_t pc = base + functions[i][0] + 5;
        if ((functions[i][1] & MODE) != INDIRECT)
            continue;
        machsym_unwind_state got = step_from(&by_map, &p, pc);
        uint64_t size = word_at(code.bytes.ptr,
                                functions[i][0] + 0x100000000 - code.addr + (functions[i][1] >> 16 & 0xff));
        CHECK(8 * large < by_map.large_frames.len);
        CHECK_EQ(word_at(by_map.large_frames.ptr, 8 * large), functions[i][0]);
        CHECK_EQ(word_at(by_map.large_frames.ptr, 8 * large + 4), size);
        large++;
        CHECK_EQ(got.how, MACHSYM_UNWIND_COMPACT);
        CHECK_EQ(got.v[7], STACK + size + 8 * (functions[i][1] >> 13 & 7));
        CHECK_EQ(got.v[16], p.caller);
        machsym_unwind_state without = step_from(&by_file, &p, pc);
        CHECK(without.end != MACHSYM_UNWIND_GOES_ON); /* so it was the map that told */
        p.has_code = true;
        machsym_unwind_state file = step_from(&by_file, &p, pc);
        CHECK(memcmp(&file, &got, sizeof got) == 0);
    }
    CHECK(large >= 2);
    CHECK_EQ(by_map.large_frames.len, 8 * large);
    machsym_map_close(map);
    machsym_image_close(image);
    free(bytes);
    test_end("large frames of x86_64");
}

/* ---- Tables by hand, after compact_unwind_encoding.h ---- */

/* Offsets from the image's header. __text has no bytes in the file; code with bytes begins at CODE. */
enum { TEXT = 0x1000, CODE = 0x1000, CODE_SIZE = 0xa08, CONST = 0x2000, MANY = 200 };

static uint8_t code_byte(uint64_t at)
{
    return (uint8_t)(at * 37 + at / 7);
}

static void put_code(bytes *b)
{
    for (uint64_t at = 0; at < CODE_SIZE; at++)
        put8(b, code_byte(at));
}

/* A regular page of four functions and a compressed one of three: five have large frames. */
static void put_table(bytes *b)
{
    static const uint32_t words[] = {1,
                                     28,
                                     1,
                                     32,
                                     0,
                                     32,
                                     3,
                                     INDIRECT,
                                     0x1000,
                                     68,
                                     0,
                                     0x1800,
                                     108,
                                     0,
                                     0x1c00,
                                     0,
                                     0,
                                     2,
                                     8 | 4 << 16,
                                     0x1000,
                                     INDIRECT,
                                     0x1100,
                                     INDIRECT | 4 << 16,
                                     0x1200,
                                     0x02000000,
                                     0x17fc,
                                     INDIRECT,
                                     3,
                                     12 | 3 << 16,
                                     24 | 1 << 16,
                                     0,
                                     0x01000100,
                                     0x00000200,
                                     INDIRECT | 8 << 16};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        put32(b, words[i]);
}

/* One page of MANY functions, four bytes apart. */
static void put_many(bytes *b)
{
    const uint32_t words[] = {1, 28, 0, 28, 0, 28, 2, CODE, 52, 0, CODE + 4 * MANY, 0, 0, 2, 8 | MANY << 16};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        put32(b, words[i]);
    for (uint32_t i = 0; i < MANY; i++) {
        put32(b, CODE + 4 * i);
        put32(b, INDIRECT);
    }
}

/* The program: code, which ends with its section; what is no code; its table. */
static bytes put_program(const bytes *table, uint32_t cputype, uint32_t filetype)
{
    static const struct {
        const char *name;
        uint64_t off;
        uint32_t flags;
    } sections[] = {{"__hot", CODE, 0x80000400u}, {"__const", CONST, 0}, {"__unwind_info", 0x3000, 0}};
    bytes code = {NULL, 0, 0};
    make_macho m;
    memset(&m, 0, sizeof m);
    m.filetype = filetype;
    m.cputype = cputype;
    m.is_32 = cputype < 0x01000000;
    put_code(&code);
    for (size_t i = 0; i < 3; i++) {
        make_add(&m, sections[i].name, i == 2 ? table : &code);
        m.sections[i].segment = "__TEXT";
        m.sections[i].addr = TEXT + sections[i].off;
        m.sections[i].flags = sections[i].flags;
    }
    bytes file = make_file(&m);
    bytes_free(&code);
    return file;
}

/* A function, and the offset of its word; 0: of the word where it begins. */
typedef struct large {
    uint32_t function, word;
} large;

/* The map of the program has these large frames and no others; function 0 ends them. */
static void check_frames(const char *what, const bytes *table, uint32_t cputype, uint32_t filetype,
                         const large *want)
{
    machsym_unwind_image got;
    size_t count = 0;
    bytes file = put_program(table, cputype, filetype);
    test_begin();
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_UNWIND);
    CHECK(map != NULL && machsym_map_get_unwind(map, TEXT, &got) == (filetype != 10));
    for (; want[count].function != 0; count++) {
        uint64_t at = (want[count].word != 0 ? want[count].word : want[count].function) - CODE;
        CHECK(8 * count < got.large_frames.len);
        if (8 * count >= got.large_frames.len)
            break;
        CHECK_EQ(word_at(got.large_frames.ptr, 8 * count), want[count].function);
        for (uint64_t i = 0; i < 4; i++)
            CHECK_EQ(((const uint8_t *)got.large_frames.ptr)[8 * count + 4 + i], code_byte(at + i));
    }
    CHECK_EQ(got.large_frames.len, 8 * count);
    machsym_map_close(map);
    machsym_image_close(image);
    bytes_free(&file);
    test_end(what);
}

#define FIRST                                                                                                \
    {0x1000, 0}, {0x1100, 0x1104},                                                                           \
    {                                                                                                        \
        0x17fc, 0                                                                                            \
    }
#define SECOND                                                                                               \
    {0x1800, 0}, {0x1900, 0x1908},                                                                           \
    {                                                                                                        \
        0x1a00, 0                                                                                            \
    }

static void check_table(void)
{
    static const large whole[] = {FIRST, SECOND, {0, 0}}, none[] = {{0, 0}};
    static const struct {
        const char *what;
        size_t at; /* where the table is changed */
        uint32_t value;
        unsigned size;
        large want[8];
    } rows[] = {
        {"an unknown version", 0, 2, 4, {{0, 0}}},
        {"an index past the section", 20, 0xfffff0, 4, {{0, 0}}},
        {"an index that goes on past the section", 24, 0xffffffff, 4, {FIRST, SECOND}},
        {"an entry of the index without a page", 36, 0, 4, {SECOND}},
        {"a page past the section", 48, 0xfffff0, 4, {FIRST}},
        {"a first page of an unknown kind", 68, 9, 4, {SECOND}},
        {"a second page of an unknown kind", 108, 4, 4, {FIRST}},
        {"entries past the section", 72, 0xfff0, 2, {SECOND}},
        {"no entries", 74, 0, 2, {SECOND}},
        {"more entries than bytes", 114, 0xffff, 2, {FIRST, SECOND}},
        {"the number of no encoding", 118, 0, 2, {FIRST, {0x1800, 0}, {0x1a00, 0}}},
        {"own encodings past the section", 116, 0xfff0, 2, {FIRST, {0x1800, 0}, {0x1a00, 0}}},
        {"no common encodings", 8, 0, 4, {FIRST, {0x1800, 0x1808}}},
        {"a frame of another kind", 88, 0x02040000, 4, {{0x1000, 0}, {0x17fc, 0}, SECOND}},
        {"two entries of one function", 76, 0x1100, 4, {{0x1100, 0}, {0x17fc, 0}, SECOND}},
        {"a function out of order", 100, 0x10ff, 4, {{0x1000, 0}, {0x1100, 0x1104}, SECOND}},
        {"a function one past the one before",
         100,
         0x1101,
         4,
         {{0x1000, 0}, {0x1100, 0x1104}, {0x1101, 0}, SECOND}},
        {"the last word of the code", 84, 0x1a00, 4, {{0x1000, 0}, {0x1a00, 0x1a04}}},
        {"a word that the section cuts", 84, 0x1a01, 4, {{0x1000, 0}, {0x17fc, 0}, SECOND}},
        {"a function without bytes in the file", 76, 0x10, 4, {{0x1100, 0x1104}, {0x17fc, 0}, SECOND}},
        {"a function outside code", 84, CONST, 4, {{0x1000, 0}, {0x17fc, 0}, SECOND}},
        {"a function outside all sections", 84, 0x90000, 4, {{0x1000, 0}, {0x17fc, 0}, SECOND}},
        {"functions past 4 GB", 44, 0xffffff00, 4, {FIRST}},
    };
    bytes b = {NULL, 0, 0};
    put_table(&b);
    check_frames("a table by hand, x86_64", &b, AMD64, 2, whole);
    check_frames("a table by hand, i386", &b, 7, 2, whole);
    check_frames("a table by hand, arm64: the mode is of another frame", &b, 0x0100000c, 2, none);
    check_frames("a table by hand in a dSYM", &b, AMD64, 10, none);
    bytes_free(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        large want[9] = {{0, 0}};
        memcpy(want, rows[i].want, sizeof rows[i].want);
        put_table(&b);
        patch(&b, rows[i].at, rows[i].value, rows[i].size);
        check_frames(rows[i].what, &b, AMD64, 2, want);
        bytes_free(&b);
    }
}

/* More frames than there is room for at first, also if memory is out at any time. */
static void check_many(void)
{
    large want[MANY + 1];
    bytes b = {NULL, 0, 0};
    machsym_result result = MACHSYM_ERR_MEMORY;
    memset(want, 0, sizeof want);
    for (uint32_t i = 0; i < MANY; i++)
        want[i].function = CODE + 4 * i;
    put_many(&b);
    check_frames("two hundred large frames", &b, AMD64, 2, want);
    bytes file = put_program(&b, AMD64, 2);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_map *whole = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_UNWIND);
    test_begin();
    for (size_t n = 1; result != MACHSYM_OK && n < 10000; n++) {
        failer f;
        machsym_plan_desc desc;
        machsym_map *map = NULL;
        memset(&f, 0, sizeof f);
        memset(&desc, 0, sizeof desc);
        f.fail_at = n;
        desc.image = image;
        desc.flags = MACHSYM_MAP_UNWIND;
        desc.allocator.alloc = failing_alloc;
        desc.allocator.free = failing_free;
        desc.allocator.user = &f;
        result = machsym_map_build(&desc, &map, NULL);
        CHECK(f.calls < n ? result == MACHSYM_OK : result == MACHSYM_ERR_MEMORY);
        CHECK(result != MACHSYM_OK || same_bytes(map, whole));
        machsym_map_close(map);
        CHECK_EQ(f.out, 0);
    }
    CHECK_EQ(result, MACHSYM_OK);
    test_end("memory is out while large frames are listed");
    machsym_map_close(whole);
    machsym_image_close(image);
    bytes_free(&file);
    bytes_free(&b);
}

/* ---- Damage ---- */

static size_t read_copy(void *user, uint64_t offset, void *out, size_t len)
{
    memcpy(out, (const char *)user + offset, len);
    return len;
}

/* Opens a map by pages, out of memory or by reads, and asks for its tables. */
static bool has_tables(uint8_t *bytes, size_t len, bool by_reads)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    machsym_image_info info;
    machsym_unwind_image tables;
    memset(&desc, 0, sizeof desc);
    desc.flags = MACHSYM_OPEN_BY_PAGES;
    desc.bytes.ptr = bytes;
    desc.bytes.len = len;
    if (by_reads) {
        memset(&desc.bytes, 0, sizeof desc.bytes);
        desc.io.read = read_copy;
        desc.io.user = bytes;
        desc.io.size = len;
    }
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return false;
    machsym_image_get_info(image, &info);
    bool has = machsym_map_get_unwind(info.map, 0x1000, &tables);
    CHECK(has || (tables.unwind_info.size == 0 && tables.eh_frame.size == 0 && tables.debug_frame.size == 0));
    machsym_image_close(image);
    return has;
}

static void check_damage(void)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    machsym_unwind_image tables;
    machsym_map *opened = NULL;
    memset(&desc, 0, sizeof desc);
    test_begin();
    desc.path = "tests/stacks/x86_64.program";
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_UNWIND);
    machsym_bytes whole = machsym_map_bytes(map);
    uint8_t *copy = (uint8_t *)malloc(whole.len);
    memcpy(copy, whole.ptr, whole.len);
    CHECK(machsym_map_get_unwind(map, 0x1000, &tables));
    size_t from = (size_t)((const uint8_t *)tables.unwind_info.bytes.ptr - (const uint8_t *)whole.ptr);
    CHECK(has_tables(copy, whole.len, false));
    for (size_t at = from; at < whole.len; at += 1 + at % 3) {
        machsym_map_desc given = desc_of_bytes(copy, whole.len, 0);
        copy[at] ^= (uint8_t)(1 << at % 8);
        CHECK_EQ(machsym_map_open(&given, &opened, NULL), MACHSYM_ERR_CHECKSUM);
        CHECK(!has_tables(copy, whole.len, false));
        copy[at] ^= (uint8_t)(1 << at % 8);
    }
    for (size_t len = from - 8; len < whole.len; len += 61) {
        machsym_map_desc given = desc_of_bytes(copy, len, 0);
        CHECK_EQ(machsym_map_open(&given, &opened, NULL), MACHSYM_ERR_DAMAGED);
    }
    free(copy);
    machsym_map_close(map);
    machsym_image_close(image);
    test_end("flipped bits and half a map");
}

/* A program whose table is so long that a map is read piece by piece. */
static void check_pieces(void)
{
    test_file file = test_read("tests/stacks/x86_64.program");
    machsym_open_desc desc;
    machsym_unwind_image tables;
    test_begin();
    memset(&desc, 0, sizeof desc);
    uint8_t *bytes = (uint8_t *)calloc(file.len + LARGE_TABLE, 1);
    memcpy(bytes, file.ptr, file.len);
    desc.bytes.ptr = bytes;
    desc.bytes.len = file.len + LARGE_TABLE;
    uint8_t *section = bytes;
    while (memcmp(section, "__unwind_info\0\0\0__TEXT", 22) != 0)
        section++;
    uint32_t at = word_at(section, 48), len = word_at(section, 40), size[2] = {LARGE_TABLE, 0};
    memcpy(bytes + file.len, bytes + at, len);
    at = (uint32_t)file.len;
    memcpy(section + 40, size, 8);
    memcpy(section + 48, &at, 4);
    machsym_image *image = test_open_desc(&desc);
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, MACHSYM_MAP_UNWIND | MACHSYM_MAP_DAMAGED);
    CHECK(machsym_map_get_unwind(map, 0x1000, &tables));
    CHECK_EQ(tables.unwind_info.size, LARGE_TABLE);
    uint8_t *copy = (uint8_t *)malloc(machsym_map_bytes(map).len);
    memcpy(copy, machsym_map_bytes(map).ptr, machsym_map_bytes(map).len);
    CHECK(has_tables(copy, machsym_map_bytes(map).len, false));
    CHECK(!has_tables(copy, machsym_map_bytes(map).len, true));
    free(copy);
    machsym_map_close(map);
    machsym_image_close(image);
    free(bytes);
    free(file.ptr);
    test_end("a map that is read piece by piece");
}

int main(void)
{
    check_fixtures();
    check_large();
    check_table();
    check_many();
    check_damage();
    check_pieces();
    return test_done();
}
