/* Objective-C metadata: every layout of the same program, records by hand, hostile lists, blocks; and
 * recovery: what metadata names must be what the symbol table says, in the fixtures and in real files. */
#define TEST_ROOM <rooms/src/image/image.h>
#include "test.h"
#include "make.h"
#include "maps.h"

#include <time.h>

#define BIN    "tests/fixtures/bin/"
#define CORPUS "../shared/corpus/"

static machsym_image *open_flags(const char *path, uint32_t flags)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = flags | MACHSYM_OPEN_NO_PAIR;
    return test_open_desc(&desc);
}

/* ---- The same program in every layout ---- */

static const char *const zoo_class[] = {
    "class Animal : Root",  "-[Animal work:]", "-[Animal feed:with:]",        "-[Animal age]",
    "-[Animal setAge:]",    "+[Animal load]",  "+[Animal animalWithWeight:]", "+[Animal rate]",
    "class Empty : Animal",
};
static const char *const zoo_root[] = {"class Root : ", "-[Root init]", "+[Root alloc]"};
static const char *const zoo_categories[] = {
    "category Animal(Loud)",    "-[Animal(Loud) shout]",    "+[Animal(Loud) load]",
    "+[Animal(Loud) loudest]",  "category Animal(Quiet)",   "-[Animal(Quiet) hush]",
    "category Imported(Extra)", "-[Imported(Extra) extra]", "+[Imported(Extra) extraRate]"};

/* One item as a line. */
static void describe(const machsym_objc *item, char *out, size_t cap)
{
    char category[64] = "";
    if (item->category.len != 0)
        snprintf(category, sizeof category, "(%.*s)", (int)item->category.len, item->category.ptr);
    if (item->kind == MACHSYM_OBJC_METHOD)
        snprintf(out, cap, "%c[%.*s%s %.*s]", item->is_class_method ? '+' : '-', (int)item->class_name.len,
                 item->class_name.ptr, category, (int)item->selector.len, item->selector.ptr);
    else if (item->kind == MACHSYM_OBJC_CLASS)
        snprintf(out, cap, "class %.*s : %.*s", (int)item->class_name.len, item->class_name.ptr,
                 (int)item->super_name.len, item->super_name.ptr != NULL ? item->super_name.ptr : "");
    else
        snprintf(out, cap, "category %.*s%s", (int)item->class_name.len, item->class_name.ptr, category);
}

static void check_items(machsym_session *s, machsym_cursor *at, const char *const *want, size_t count)
{
    machsym_objc item;
    char line[256];
    for (size_t i = 0; i < count; i++) {
        bool more = machsym_session_next_objc(s, at, &item);
        CHECK(more);
        if (!more)
            return;
        describe(&item, line, sizeof line);
        CHECK_TEXT(line, want[i]);
    }
}

static void check_zoo(const char *path, bool has_root)
{
    test_begin();
    machsym_image *image = open_flags(path, 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_objc item;
    size_t wrong = test_wrong;
    check_items(s, &at, zoo_class, sizeof zoo_class / sizeof zoo_class[0]);
    if (has_root)
        check_items(s, &at, zoo_root, sizeof zoo_root / sizeof zoo_root[0]);
    check_items(s, &at, zoo_categories, sizeof zoo_categories / sizeof zoo_categories[0]);
    CHECK(!machsym_session_next_objc(s, &at, &item));
    if (test_wrong != wrong)
        printf("in %s\n", path);
    machsym_session_close(s);
    machsym_image_close(image);
    test_end(path);
}

static void test_layouts(void)
{
    static const char *const linked[] = {
        "zoo-arm64-opcodes",
        "zoo-arm64-opcodes-strip",
        "zoo-arm64-opcodes-strip-x",
        "zoo-arm64-chained",
        "zoo-arm64-relative",
        "zoo-arm64-chained-relative",
        "zoo-arm64-chained-relative-strip",
        "zoo-x86_64-opcodes",
        "zoo-x86_64-opcodes-strip",
        "zoo-x86_64-chained-relative",
        "zoo-arm64_32-opcodes",
        "zoo-arm64_32-fixups-3",
        "zoo-arm64-fixups-1",
        "zoo-arm64-fixups-6",
        "zoo-arm64-fixups-7",
        "zoo-arm64-fixups-9",
        "zoo-arm64-fixups-12",
    };
    char path[256];
    for (size_t i = 0; i < sizeof linked / sizeof linked[0]; i++) {
        snprintf(path, sizeof path, BIN "%s", linked[i]);
        check_zoo(path, true);
    }
    check_zoo(BIN "zoo-armv7.o", false);
    check_zoo(BIN "zoo-i386.o", false);
}

/* The old runtime: the compiler lists the synthesized accessors twice. */
static void test_old_runtime(void)
{
    static const char *const want[] = {
        "class Animal : Root", "-[Animal work:]",     "-[Animal feed:with:]", "-[Animal age]",
        "-[Animal setAge:]",   "-[Animal age]",       "-[Animal setAge:]",    "+[Animal animalWithWeight:]",
        "+[Animal rate]",      "class Empty : Animal"};
    machsym_image *image = open_flags(BIN "zoo-i386-old.o", 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_objc item;
    check_items(s, &at, want, 7);
    CHECK(machsym_session_next_objc(s, &at, &item)); /* +load, whose code lies at 0 */
    CHECK_STR(item.selector, "load");
    CHECK_EQ(item.addr, 0);
    check_items(s, &at, want + 7, 3);
    check_items(s, &at, zoo_categories, sizeof zoo_categories / sizeof zoo_categories[0]);
    CHECK(!machsym_session_next_objc(s, &at, &item));
    machsym_session_close(s);
    machsym_image_close(image);
}

/* An image as dyld laid it out: pointers hold addresses of the process. */
static void test_loaded(void)
{
    machsym_image *file = open_flags(BIN "zoo-arm64-opcodes", 0);
    bytes memory = {NULL, 0, 0};
    uint64_t base = file->mo[0].text_addr;
    uint64_t slide = 0x40000;
    for (uint32_t i = 0; i < file->mo[0].segment_count; i++) {
        const ms_mo_segment *segment = &file->mo[0].segments[i];
        if (segment->addr < base)
            continue;
        put_zeros(&memory, (size_t)(segment->addr - base) - memory.len);
        put(&memory, file->mo[0].bytes.ptr + segment->off, (size_t)segment->file_size);
    }
    for (uint32_t i = 0; i < file->mo[0].section_count; i++) {
        const ms_mo_section *section = &file->mo[0].sections[i];
        for (uint64_t at = section->addr; at + 8 <= section->addr + section->size && section->addr % 8 == 0;
             at += 8) {
            uint64_t raw = ms_rd_raw_u64(memory.v + (at - base));
            if (ms_str_begins(section->segment, "__DATA") && raw >= base + 0x100 && raw < base + memory.len)
                patch(&memory, (size_t)(at - base), (raw + slide) | (uint64_t)0x1234 << 48, 8); /* signed */
        }
    }
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = memory.v;
    desc.bytes.len = memory.len;
    desc.flags = MACHSYM_OPEN_LOADED;
    desc.load_addr = base + slide;
    machsym_image *image = test_open_desc(&desc);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    check_items(s, &at, zoo_class, sizeof zoo_class / sizeof zoo_class[0]);
    check_items(s, &at, zoo_root, sizeof zoo_root / sizeof zoo_root[0]);
    machsym_session_close(s);
    machsym_image_close(image);
    machsym_image_close(file);
    bytes_free(&memory);
}

/* ---- Records by hand: one section of data after the code ---- */

enum { DATA = 0x10000000, CODE = MAKE_TEXT };

/* A file with a section of class pointers (to DATA + at) and one of everything else. */
static bytes file_of(const bytes *data, const bytes *list, const char *list_name)
{
    make_macho m;
    memset(&m, 0, sizeof m);
    m.filetype = 2;
    make_add(&m, "__objc_const", data);
    m.sections[0].addr = DATA;
    make_add(&m, list_name, list);
    m.sections[1].addr = DATA + 0x8000000;
    return make_file(&m);
}

static size_t names_at(machsym_session *s, uint64_t addr, machsym_str *last)
{
    machsym_cursor at = {0, 0};
    size_t count = 0;
    while (machsym_session_next_alias_at_addr(s, addr, &at, last))
        count++;
    return count;
}

/* class_t at 0, class_ro_t at 40 (name at 120), baseMethods as given. */
static bytes class_with(uint64_t methods)
{
    bytes b = {NULL, 0, 0};
    put64(&b, 0); /* isa */
    put64(&b, 0);
    put64(&b, 0);
    put64(&b, 0);
    put64(&b, DATA + 40 + 1); /* a Swift class */
    put_zeros(&b, 24);
    put64(&b, DATA + 120);
    put64(&b, methods);
    put_zeros(&b, 120 - b.len);
    put_str(&b, "Hand");
    put_zeros(&b, 128 - b.len);
    return b;
}

/* A list of lists: one of another image (its distance leads outside), one with direct selectors. */
static void test_list_of_lists(void)
{
    bytes b = class_with(DATA + 128 + 1);
    bytes list = {NULL, 0, 0};
    machsym_str name = {NULL, 0};
    put32(&b, 8);
    put32(&b, 2);
    put64(&b, 0xffff000000ull << 16 | 3); /* image 3: outside this file */
    put64(&b, (uint64_t)16 << 16);        /* here: 16 bytes on from the entry at 144 */
    put_zeros(&b, 160 - b.len);
    put32(&b, 0x80000000u | 0x40000000u | 12);
    put32(&b, 1);
    put32(&b, 180 - 168); /* selector: the text itself */
    put32(&b, 0);
    put32(&b, (uint32_t)(CODE + 0x40 - (DATA + 176)));
    put_str(&b, "direct:");
    put64(&list, DATA);
    bytes file = file_of(&b, &list, "__objc_classlist");
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    CHECK_EQ(names_at(s, CODE + 0x40, &name), 1);
    CHECK_STR(name, "-[Hand direct:]");
    machsym_symbol symbol;
    machsym_cursor at = {0, 0};
    CHECK(machsym_session_next_name(s, &at, &symbol));
    CHECK_EQ(symbol.lo, CODE + 0x40);
    CHECK_STR(symbol.name, "-[Hand direct:]");
    CHECK_EQ(symbol.source, MACHSYM_SOURCE_OBJC);
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&b);
    bytes_free(&list);
    bytes_free(&file);
}

/* ---- Hostile lists ---- */

/* Opens bytes with Objective-C in them; the table must be made in time. Returns how many names it has. */
static size_t count_names(const bytes *file)
{
    clock_t start = clock();
    machsym_image *image = test_open_bytes(file->v, file->len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    size_t count = 0;
    while (machsym_session_next_name(s, &at, &symbol))
        count++;
    CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
    machsym_session_close(s);
    machsym_image_close(image);
    return count;
}

/* Many classes that share one long list of methods: without a budget 400 million names. */
static void test_shared_list(void)
{
    enum { CLASSES = 20000, METHODS = 20000 };
    bytes b = {NULL, 0, 0};
    bytes list = {NULL, 0, 0};
    size_t list_at = 128;
    size_t classes_at = list_at + 8 + 12 * METHODS;
    bytes one = class_with(DATA + list_at);
    put(&b, one.v, 128);
    put32(&b, 0x80000000u | 0x40000000u | 12);
    put32(&b, METHODS);
    for (size_t i = 0; i < METHODS; i++) {
        uint64_t field = DATA + b.len;
        put32(&b, (uint32_t)(DATA + 120 - field)); /* the class's own name will do */
        put32(&b, 0);
        put32(&b, (uint32_t)(CODE + i % MAKE_CODE_SIZE - (field + 8)));
    }
    put_zeros(&b, classes_at - b.len);
    for (size_t i = 0; i < CLASSES; i++) {
        put64(&list, DATA + b.len);
        put(&b, one.v, 40);
    }
    bytes file = file_of(&b, &list, "__objc_classlist");
    size_t count = count_names(&file);
    CHECK(count > METHODS);
    CHECK(count < file.len); /* far from CLASSES x METHODS */
    bytes_free(&one);
    bytes_free(&b);
    bytes_free(&list);
    bytes_free(&file);
}

/* A stripped program with many methods: its map has the names of all, though there is no string table. */
static void test_many_names_in_a_map(void)
{
    enum { METHODS = 6000, SELECTOR = 200 };
    char selector[SELECTOR + 1];
    bytes b = class_with(DATA + 128);
    bytes list = {NULL, 0, 0};
    make_macho m;
    size_t texts_at = 128 + 8 + 12 * METHODS;
    put32(&b, 0x80000000u | 0x40000000u | 12);
    put32(&b, METHODS);
    for (uint32_t i = 0; i < METHODS; i++) {
        size_t field = b.len;
        put32(&b, (uint32_t)(texts_at + i * sizeof selector - field));
        put32(&b, 0);
        put32(&b, (uint32_t)(CODE + 4 * i - (DATA + field + 8)));
    }
    for (unsigned i = 0; i < METHODS; i++) {
        snprintf(selector, sizeof selector, "method%0*u", SELECTOR - 6, i);
        put(&b, selector, sizeof selector);
    }
    put64(&list, DATA);
    memset(&m, 0, sizeof m);
    m.filetype = 2;
    m.code_size = 4 * METHODS;
    make_add(&m, "__objc_const", &b);
    m.sections[0].addr = DATA;
    m.sections[0].segment = "__DATA_CONST";
    make_add(&m, "__objc_classlist", &list);
    m.sections[1].addr = DATA + 0x8000000;
    m.sections[1].segment = "__DATA";
    bytes file = make_file(&m);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, 0);
    machsym_image *made = test_open_bytes(machsym_map_bytes(map).ptr, machsym_map_bytes(map).len);
    machsym_session *s = test_session(made, MACHSYM_LINES_ATOS, 0);
    size_t named = 0;
    for (unsigned i = 0; i < METHODS; i++) {
        machsym_frame frame;
        snprintf(selector, sizeof selector, "method%0*u", SELECTOR - 6, i);
        named += machsym_session_frames_at_addr(s, CODE + 4 * i, &frame, 1) == 1 &&
                 frame.linkage_name.len == SELECTOR + 8 &&
                 memcmp(frame.linkage_name.ptr + 7, selector, SELECTOR) == 0;
    }
    CHECK_EQ(named, METHODS);
    machsym_session_close(s);
    machsym_image_close(made);
    machsym_map_close(map);
    machsym_image_close(image);
    bytes_free(&b);
    bytes_free(&list);
    bytes_free(&file);
}

/* Counts past the end, entries too small, names without an end, lists and classes that point to
 * themselves. */
static void test_broken_lists(void)
{
    static const struct {
        uint64_t methods;
        uint32_t head;
        uint32_t count;
        size_t names;
    } cases[] = {
        {DATA + 128, 0x80000000u | 0x40000000u | 12, 0xffffffffu, 1}, /* as many as there are */
        {DATA + 128, 0x80000000u | 0x40000000u | 8, 1, 0},
        {DATA + 128, 24, 1, 0},
        {DATA + 128, 0, 1, 0},
        {DATA + 0x7ff0, 12, 1, 0},
        {DATA + 128 + 1, 0xffffffffu, 0xffffffffu, 0},
        {DATA + 128 + 1, 0, 0xffffffffu, 0},
        {DATA, 0, 0, 0},
        {0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes b = class_with(cases[i].methods);
        bytes list = {NULL, 0, 0};
        put32(&b, cases[i].head);
        put32(&b, cases[i].count);
        put32(&b, (uint32_t)120 - 136);
        put32(&b, 0);
        put32(&b, (uint32_t)(CODE - (DATA + 144)));
        for (unsigned twice = 0; twice < 2; twice++)
            put64(&list, DATA);
        put64(&list, DATA + 0xffff);
        put64(&list, ~(uint64_t)0);
        bytes file = file_of(&b, &list, "__objc_classlist");
        CHECK_EQ(count_names(&file), cases[i].names);
        bytes_free(&b);
        bytes_free(&list);
        bytes_free(&file);
    }
}

/* A category without a class that the file could name, and one without a name. */
static void test_odd_categories(void)
{
    bytes b = {NULL, 0, 0};
    bytes list = {NULL, 0, 0};
    machsym_str name = {NULL, 0};
    put64(&b, DATA + 48); /* category_t at 0 */
    put64(&b, 0);
    put64(&b, 0);
    put64(&b, DATA + 64);
    put_zeros(&b, 48 - b.len);
    put_str(&b, "Loose");
    put_zeros(&b, 64 - b.len);
    put32(&b, 24); /* big list */
    put32(&b, 1);
    put64(&b, DATA + 96);
    put64(&b, 0);
    put64(&b, CODE + 8);
    put_str(&b, "s");
    put64(&list, DATA);
    put64(&list, DATA + 8); /* its name would be NULL */
    bytes file = file_of(&b, &list, "__objc_nlcatlist");
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session_counts info;
    CHECK_EQ(names_at(s, CODE + 8, &name), 1);
    CHECK_STR(name, "+[?(Loose) s]");
    machsym_session_count_all(s, &info);
    CHECK_EQ(info.damaged_metadata, 1);
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&b);
    bytes_free(&list);
    bytes_free(&file);
}

/* ---- Blocks ---- */

static void at_word(bytes *b, size_t at, uint64_t number)
{
    patch(b, at, number, 4);
}

static void at_text(bytes *b, size_t at, const char *text)
{
    memcpy(b->v + at, text, strlen(text) + 1);
}

/* A method of the old runtime: selector, types, code. */
static void at_method(bytes *b, size_t at, uint64_t selector, uint64_t code)
{
    at_word(b, at, selector);
    at_word(b, at + 8, code);
}

enum { OLD_AT = 0x10001000, OLD_SIZE = 0x500, OLD_LAST = OLD_SIZE - 20 };

static void put_old_records(bytes *module, bytes *data)
{
    enum { AT = OLD_AT, CLASSES = 4, LAST = OLD_LAST };
    static const uint64_t items[] = {0x100, 0, 0x140, 0x240, 0x200, 0x220};
    put32(module, 7);
    put32(module, 16);
    put32(module, 0);
    put32(module, AT);
    put_zeros(module, 16); /* a module without a symtab */
    put_zeros(data, OLD_SIZE);
    at_word(data, 8, CLASSES | 2 << 16);
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        at_word(data, 12 + 4 * i, items[i] != 0 ? AT + items[i] : 0);
    at_text(data, 0x400, "Base");
    at_text(data, 0x410, "Alpha");
    at_text(data, 0x420, "go");
    at_text(data, 0x430, "bad\001name");
    at_text(data, 0x440, "make");
    at_text(data, 0x450, "Extra");
    at_text(data, 0x460, "more");
    at_text(data, 0x470, "Delta");
    at_text(data, 0x480, "last");
    at_text(data, 0x490, "bad\177");
    at_word(data, 0x100, AT + 0x180); /* class Alpha : Base */
    at_word(data, 0x104, AT + 0x400);
    at_word(data, 0x108, AT + 0x410);
    at_word(data, 0x11c, AT + 0x300);
    at_word(data, 0x19c, AT + 0x340); /* its metaclass */
    at_word(data, 0x148, AT + 0x430); /* a class whose name is invalid */
    at_word(data, 0x200, AT + 0x450); /* category Extra of Alpha */
    at_word(data, 0x204, AT + 0x410);
    at_word(data, 0x208, AT + 0x360);
    at_word(data, 0x220, AT + 0x450); /* a category of a class whose name is invalid */
    at_word(data, 0x224, AT + 0x490);
    at_word(data, 0x248, AT + 0x470); /* class Delta, without a metaclass */
    at_word(data, 0x25c, AT + LAST);
    at_word(data, 0x304, 3);
    at_method(data, 0x308, AT + 0x420, MAKE_TEXT + 0x10);
    at_method(data, 0x314, AT + 0x430, MAKE_TEXT + 0x20); /* an invalid selector */
    at_method(data, 0x320, AT + 0x460, MAKE_TEXT + 0x60); /* past the end */
    at_word(data, 0x344, 1);
    at_method(data, 0x348, AT + 0x440, MAKE_TEXT + 0x30);
    at_word(data, 0x364, 1);
    at_method(data, 0x368, AT + 0x460, MAKE_TEXT + 0x40);
    at_word(data, LAST + 4, 5); /* more methods than bytes */
    at_method(data, LAST + 8, AT + 0x480, MAKE_TEXT + 0x50);
}

/* Modules, classes, categories and lists of objc-runtime-old.h by hand; what has no name or no end costs
 * itself. */
static void test_old_records(void)
{
    static const char *const want[] = {"1010 -[Alpha go]", "1030 +[Alpha make]", "1040 -[Alpha(Extra) more]",
                                       "1050 -[Delta last]"};
    make_macho m;
    bytes module = {NULL, 0, 0};
    bytes data = {NULL, 0, 0};
    put_old_records(&module, &data);
    memset(&m, 0, sizeof m);
    m.is_32 = true;
    m.cputype = 7;
    m.filetype = 2;
    make_add(&m, "__module_info", &module);
    m.sections[0].segment = "__OBJC";
    m.sections[0].addr = OLD_AT - 0x100;
    make_add(&m, "__data", &data);
    m.sections[1].addr = OLD_AT;
    bytes file = make_file(&m);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    machsym_session_counts info;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        char line[128];
        CHECK(machsym_session_next_name(s, &at, &symbol));
        snprintf(line, sizeof line, "%llx %.*s", (unsigned long long)symbol.lo, (int)symbol.name.len,
                 symbol.name.ptr);
        CHECK_TEXT(line, want[i]);
        CHECK_EQ(symbol.source, MACHSYM_SOURCE_OBJC);
    }
    CHECK(!machsym_session_next_name(s, &at, &symbol));
    machsym_session_count_all(s, &info);
    CHECK_EQ(info.damaged_metadata, 2); /* the nameless category, the long list */
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&file);
    bytes_free(&data);
    bytes_free(&module);
}

static void check_frame(machsym_session *s, uint64_t addr, const char *name, machsym_source source)
{
    machsym_frame frame;
    memset(&frame, 0, sizeof frame);
    CHECK_EQ(machsym_session_frames_at_addr(s, addr, &frame, 1), 1);
    CHECK_STR(frame.linkage_name, name);
    CHECK_EQ(frame.name_source, source);
}

/* Addresses as the symbols of blocks-arm64-d4-22 have them. */
static void test_blocks(void)
{
    static const char *const files[] = {BIN "blocks-arm64-d4-22-strip", BIN "blocks-arm64-d4-22"};
    for (unsigned i = 0; i < 2; i++) {
        machsym_image *image = open_flags(files[i], i == 1 ? MACHSYM_OPEN_NO_SYMTAB : 0);
        machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
        check_frame(s, 0x100000924, "block in -[Keeper plain:]", MACHSYM_SOURCE_BLOCK);
        check_frame(s, 0x1000009c4, "block in +[Keeper nested:]", MACHSYM_SOURCE_BLOCK);
        check_frame(s, 0x1000009d4, "block in +[Keeper nested:]", MACHSYM_SOURCE_BLOCK);
        check_frame(s, 0x1000009ec, "block in free_function", MACHSYM_SOURCE_BLOCK);
        check_frame(s, 0x100000980, "", MACHSYM_SOURCE_FUNCTION_STARTS); /* captures: no literal */
        check_frame(s, 0x1000008fc, "", MACHSYM_SOURCE_FUNCTION_STARTS); /* a direct method is in no list */
        check_frame(s, 0x100000ab8, "objc_msgSend", MACHSYM_SOURCE_STUB);
        machsym_session_close(s);
        machsym_image_close(image);
    }
    machsym_image *image = open_flags(BIN "blocks-arm64-d4-22", 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    check_frame(s, 0x100000924, "__16-[Keeper plain:]_block_invoke", MACHSYM_SOURCE_SYMTAB);
    machsym_session_close(s);
    machsym_image_close(image);
}

/* A dSYM without names of its own draws on the metadata of its binary. */
static void test_pair(void)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = BIN "blocks-arm64-d4-22.dwarf";
    desc.pair_path = BIN "blocks-arm64-d4-22-strip";
    desc.flags = MACHSYM_OPEN_NO_SYMTAB;
    machsym_image *image = test_open_desc(&desc);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_symbol symbol = {0, 0, {NULL, 0}, MACHSYM_SOURCE_NONE};
    machsym_cursor at = {0, 0};
    while (symbol.lo != 0x100000910 && machsym_session_next_symbol(s, &at, &symbol))
        ;
    CHECK_STR(symbol.name, "-[Keeper plain:]");
    CHECK_EQ(symbol.source, MACHSYM_SOURCE_OBJC);
    machsym_session_close(s);
    machsym_image_close(image);
}

/* ---- Recovery: the symbol table is hidden, and what metadata names is compared with it ---- */

/* A name of one address. */
typedef struct named {
    uint64_t addr;
    char *name;
} named;

typedef struct names {
    named *v;
    size_t count;
    size_t cap;
} names;

static void add_name(names *to, uint64_t addr, const char *text, size_t len)
{
    if (to->count == to->cap) {
        to->cap = to->cap == 0 ? 1024 : to->cap * 2;
        to->v = (named *)realloc(to->v, to->cap * sizeof *to->v);
    }
    char *copy = (char *)malloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    to->v[to->count].addr = addr;
    to->v[to->count++].name = copy;
}

static int by_name(const void *a, const void *b)
{
    const named *x = (const named *)a;
    const named *y = (const named *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool has_name(const names *in, uint64_t addr, char *name)
{
    named key = {addr, name};
    return in->count > 0 && bsearch(&key, in->v, in->count, sizeof key, by_name) != NULL;
}

static void free_names(names *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->v[i].name);
    free(all->v);
}

/* All method names of one source: those that begin with -[ or +[. */
static names methods_of(const char *path, uint32_t flags, machsym_source source)
{
    names out = {NULL, 0, 0};
    machsym_image *image = open_flags(path, flags);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    while (machsym_session_next_name(s, &at, &symbol)) {
        if (symbol.source == source && (ms_str_begins(symbol.name, "-[") || ms_str_begins(symbol.name, "+[")))
            add_name(&out, symbol.lo, symbol.name.ptr, symbol.name.len);
    }
    machsym_session_close(s);
    machsym_image_close(image);
    if (out.count > 0)
        qsort(out.v, out.count, sizeof *out.v, by_name);
    return out;
}

/* The classes and categories in the lists, as "Class" and "Class(Category)"; address 0. */
static names owners_of(const char *path)
{
    names out = {NULL, 0, 0};
    machsym_image *image = open_flags(path, 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_objc item;
    char text[512];
    while (machsym_session_next_objc(s, &at, &item)) {
        if (item.kind == MACHSYM_OBJC_METHOD)
            continue;
        bool is_class = item.kind == MACHSYM_OBJC_CLASS;
        snprintf(text, sizeof text, "%.*s%s%.*s%s", (int)item.class_name.len, item.class_name.ptr,
                 is_class ? "" : "(", (int)item.category.len, is_class ? "" : item.category.ptr,
                 is_class ? "" : ")");
        add_name(&out, 0, text, strlen(text));
    }
    machsym_session_close(s);
    machsym_image_close(image);
    if (out.count > 0)
        qsort(out.v, out.count, sizeof *out.v, by_name);
    return out;
}

/* What became of the method symbols of a file. */
typedef struct tally {
    size_t all;
    size_t same;   /* recovered: same name, same address */
    size_t merged; /* in a category that the linker merged into its class, or into another category of it */
    size_t parts;  /* pieces of methods: -[C m].cold.1 */
    size_t absent; /* direct methods, and those of classes and categories that are in no list */
    size_t wrong;  /* should have been recovered */
} tally;

/* Clang's direct methods have symbols and no entry in a list; the fixtures have one. */
static bool is_direct(const char *name)
{
    return strcmp(name, "-[Keeper quick:]") == 0;
}

/* Writes a method's name without its category. */
static void without_category(const char *name, char *out, size_t cap)
{
    const char *space = strchr(name, ' ');
    const char *open = strchr(name, '(');
    bool has_category = open != NULL && space != NULL && open < space;
    snprintf(out, cap, "%.*s%s", (int)(has_category ? (size_t)(open - name) : strlen(name)), name,
             has_category ? space : "");
}

static void classify(const named *symbol, const names *ours, const names *plain, const names *owners,
                     tally *t)
{
    char text[1024];
    size_t len = strlen(symbol->name);
    t->all++;
    if (has_name(ours, symbol->addr, symbol->name)) {
        t->same++;
        return;
    }
    if (symbol->name[len - 1] != ']') {
        t->parts++;
        return;
    }
    without_category(symbol->name, text, sizeof text);
    if (has_name(plain, symbol->addr, text)) {
        t->merged++;
        return;
    }
    snprintf(text, sizeof text, "%.*s", (int)strcspn(symbol->name + 2, " "), symbol->name + 2);
    if (!has_name(owners, 0, text) || is_direct(symbol->name)) {
        t->absent++;
        return;
    }
    t->wrong++;
    printf("not recovered: 0x%llx %s\n", (unsigned long long)symbol->addr, symbol->name);
}

/* Compares a file's metadata with its symbol table. */
static void recover(const char *binary, size_t min_same)
{
    tally t;
    names real = methods_of(binary, 0, MACHSYM_SOURCE_SYMTAB);
    names ours = methods_of(binary, MACHSYM_OPEN_NO_SYMTAB, MACHSYM_SOURCE_OBJC);
    names owners = owners_of(binary);
    names plain = {NULL, 0, 0};
    char text[1024];
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < ours.count; i++) {
        without_category(ours.v[i].name, text, sizeof text);
        add_name(&plain, ours.v[i].addr, text, strlen(text));
    }
    if (plain.count > 0)
        qsort(plain.v, plain.count, sizeof *plain.v, by_name);
    for (size_t i = 0; i < real.count; i++)
        classify(&real.v[i], &ours, &plain, &owners, &t);
    printf(
        "%-28s %6zu of %6zu (%5.1f %%); %zu in merged categories, %zu parts, %zu in no list, %zu missing\n",
        strrchr(binary, '/') + 1, t.same, t.all, t.all != 0 ? 100.0 * (double)t.same / (double)t.all : 100.0,
        t.merged, t.parts, t.absent, t.wrong);
    CHECK_EQ(t.wrong, 0);
    CHECK(t.same >= min_same);
    free_names(&real);
    free_names(&ours);
    free_names(&plain);
    free_names(&owners);
}

/* ---- Damage: whatever a file's metadata says after that, it says nothing new ---- */

/* The section of that name in a file that a test changes; its address, offset and size. */
static ms_mo_section section_of(const char *path, const char *name)
{
    machsym_image *image = open_flags(path, 0);
    const ms_mo_section *section = ms_mo_section_named(&image->mo[0], NULL, name);
    ms_mo_section out;
    memset(&out, 0, sizeof out);
    CHECK(section != NULL);
    if (section != NULL)
        out = *section;
    machsym_image_close(image);
    return out;
}

/* The file's bytes, which a test changes. */
static bytes bytes_of(const char *path)
{
    bytes b = {NULL, 0, 0};
    test_file file = test_read(path);
    put(&b, file.ptr, file.len);
    free(file.ptr);
    return b;
}

/* How many names metadata gives; *others: that are not among those of the sound file. Closes the image. */
static size_t count_methods_of(machsym_image *image, const names *sound, size_t *others)
{
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    size_t count = 0;
    while (machsym_session_next_name(s, &at, &symbol)) {
        char text[1024];
        snprintf(text, sizeof text, "%.*s", (int)symbol.name.len, symbol.name.ptr);
        if (symbol.source != MACHSYM_SOURCE_OBJC)
            continue;
        count++;
        *others += !has_name(sound, symbol.lo, text);
    }
    machsym_session_close(s);
    machsym_image_close(image);
    return count;
}

static size_t count_methods(const bytes *b, const names *sound, size_t *others)
{
    return count_methods_of(test_open_bytes(b->v, b->len), sound, others);
}

/* Writes a number of `size` bytes into a copy of the file. The copy must give no other methods than the sound
 * file. */
static void change(const bytes *b, uint64_t at, uint64_t number, unsigned size, const names *sound)
{
    bytes copy = {NULL, 0, 0};
    size_t others = 0;
    put(&copy, b->v, b->len);
    patch(&copy, (size_t)at, number, size);
    count_methods(&copy, sound, &others);
    CHECK_EQ(others, 0);
    bytes_free(&copy);
}

/* Every count of a list of methods, too large: what follows are other classes' lists. Every pointer to a
 * selector, to text of another kind. */
static void test_damaged_lists(void)
{
    static const struct {
        const char *path;
        const char *lists;
        uint64_t head;
    } files[] = {{BIN "zoo-arm64-opcodes-strip", "__objc_const", 24},
                 {BIN "zoo-arm64-chained-relative-strip", "__objc_methlist", 0x8000000cu}};
    for (size_t i = 0; i < 2; i++) {
        names sound = methods_of(files[i].path, MACHSYM_OPEN_NO_SYMTAB, MACHSYM_SOURCE_OBJC);
        bytes b = bytes_of(files[i].path);
        ms_mo_section lists = section_of(files[i].path, files[i].lists);
        ms_mo_section selectors = section_of(files[i].path, "__objc_methname");
        ms_mo_section types = section_of(files[i].path, "__cstring");
        uint64_t type = types.off; /* of a method */
        while (memcmp(b.v + type, "v16@0:8", 8) != 0 && type < types.off + types.size)
            type++;
        size_t counts = 0;
        size_t pointers = 0;
        for (uint64_t at = lists.off; at + 8 <= lists.off + lists.size; at += 4) {
            static const uint32_t wrong[] = {7, 20, 60, 0xffff, 0xffffffff};
            if (ms_rd_raw_u32(b.v + at) != files[i].head || ms_rd_raw_u32(b.v + at + 4) > 9)
                continue;
            for (unsigned k = 0; k < 5; k++)
                change(&b, at + 4, wrong[k], 4, &sound);
            counts++;
        }
        for (uint64_t at = lists.off; i == 0 && at + 8 <= lists.off + lists.size; at += 8) {
            uint64_t to = ms_rd_raw_u64(b.v + at);
            if (to - selectors.addr >= selectors.size)
                continue;
            change(&b, at, type - types.off + types.addr, 8, &sound);
            pointers++;
        }
        CHECK(sound.count > 10 && counts > 3 && (i == 1 || pointers > 10) && type < types.off + types.size);
        bytes_free(&b);
        free_names(&sound);
    }
}

static size_t read_bytes(void *user, uint64_t offset, void *out, size_t size)
{
    const bytes *b = (const bytes *)user;
    if (offset > b->len || size > b->len - offset)
        return 0;
    memcpy(out, b->v + offset, size);
    return size;
}

static bool says_encrypted(const bytes *b)
{
    machsym_image_info info;
    machsym_image *image = test_open_bytes(b->v, b->len);
    machsym_image_get_info(image, &info);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session_counts counts;
    machsym_session_count_all(s, &counts);
    CHECK_EQ(counts.damaged_metadata, 0);
    machsym_session_close(s);
    machsym_cursor at = {0, 0};
    machsym_section section;
    while (machsym_image_next_section(image, &at, &section))
        CHECK((section.bytes.len == 0) ==
                  (info.is_encrypted && test_same(section.segment, test_str("__TEXT"))) ||
              test_same(section.name, test_str("__common")));
    machsym_image_close(image);
    return info.is_encrypted;
}

/* A program as an app store hands it out: __TEXT is noise, here noise that is text. Once it is decrypted, the
 * same command says that nothing is encrypted. */
static void test_encrypted(void)
{
    static const char path[] = BIN "zoo-arm64-chained-relative-strip";
    names sound = methods_of(path, MACHSYM_OPEN_NO_SYMTAB, MACHSYM_SOURCE_OBJC);
    ms_mo_section code = section_of(path, "__text");
    ms_mo_section selectors = section_of(path, "__objc_methname");
    bytes b = bytes_of(path);
    size_t commands = 32 + ms_rd_raw_u32(b.v + 20);
    uint32_t command[] = {0x2c, 24, (uint32_t)code.off, 0x4000 - (uint32_t)code.off, 0, 0};
    CHECK(commands + 24 <= code.off && selectors.off + selectors.size <= 0x4000);
    for (unsigned i = 0; i < 6; i++)
        patch(&b, commands + 4 * i, command[i], 4);
    patch(&b, 16, ms_rd_raw_u32(b.v + 16) + 1, 4);
    patch(&b, 20, ms_rd_raw_u32(b.v + 20) + 24, 4);
    size_t others = 0;
    CHECK_EQ(count_methods(&b, &sound, &others), sound.count);
    CHECK_EQ(others, 0);
    CHECK(!says_encrypted(&b));
    patch(&b, commands + 16, 1, 4);
    CHECK(says_encrypted(&b));
    for (uint64_t at = selectors.off; at < selectors.off + selectors.size; at += 2)
        patch(&b, (size_t)at, 'x', 2);
    CHECK_EQ(count_methods(&b, &sound, &others), 0);
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.io.read = read_bytes; /* sections are read by sessions */
    desc.io.user = &b;
    desc.io.size = b.len;
    CHECK_EQ(count_methods_of(test_open_desc(&desc), &sound, &others), 0);
    bytes_free(&b);
    free_names(&sound);
}

static bool exists(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static void test_recovery(void)
{
    static const struct {
        const char *path;
        size_t min_same;
    } files[] = {
        {BIN "zoo-arm64-opcodes", 15},
        {BIN "zoo-arm64-chained", 15},
        {BIN "zoo-arm64-relative", 15},
        {BIN "zoo-arm64-merged", 14},
        {BIN "zoo-arm64-chained-relative", 15},
        {BIN "zoo-x86_64-opcodes", 15},
        {BIN "zoo-x86_64-chained-relative", 15},
        {BIN "zoo-arm64_32-opcodes", 15},
        {BIN "zoo-arm64_32-fixups-3", 15},
        {BIN "zoo-armv7.o", 13},
        {BIN "zoo-i386.o", 13},
        {BIN "zoo-i386-old.o", 13},
        {BIN "blocks-arm64-d4-22", 5},
        {BIN "tails-arm64-pointers", 9},
        {BIN "tails-arm64-relative", 9},
        {CORPUS "npm-expo-camera-57.0.6/prebuilds/spm-deps/ZXingObjC/release/ZXingObjC.xcframework/ios-arm64/"
                "ZXingObjC.framework/ZXingObjC",
         2152},
        {CORPUS
         "npm-expo-image-58.0.4/prebuilds/spm-deps/SDWebImage/release/SDWebImage.xcframework/ios-arm64/"
         "SDWebImage.framework/SDWebImage",
         1130},
        {CORPUS "npm-nativescript-core-8.0.0/platforms/ios/TNSWidgets.xcframework/ios-arm64/"
                "TNSWidgets.framework/TNSWidgets",
         31},
        {CORPUS "debian-llvm-16/llvm/test/DebugInfo/Inputs/dwarfdump-objc.x86_64.o", 21},
        {CORPUS "debian-llvm-16/llvm/test/tools/dsymutil/Inputs/objc.macho.x86_64", 1},
        {CORPUS "debian-llvm-16/llvm/test/tools/dsymutil/Inputs/objc.macho.x86_64.o", 2},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (exists(files[i].path))
            recover(files[i].path, files[i].min_same);
        else
            test_leave_out(files[i].path, "it is not here");
    }
}

int main(void)
{
    test_layouts();
    test_old_runtime();
    test_old_records();
    test_loaded();
    test_list_of_lists();
    test_shared_list();
    test_many_names_in_a_map();
    test_broken_lists();
    test_odd_categories();
    test_blocks();
    test_pair();
    test_damaged_lists();
    test_encrypted();
    test_recovery();
    return test_done();
}
