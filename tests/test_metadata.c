/* The table of names outside the debug info: encoded pointers, bind code, exports tries, selector stubs,
 * unwind bounds, the debug map, and the symbol table itself. */
#define TEST_ROOM <rooms/src/answer/session.h>
#include "test.h"
#include "make.h"

#include <time.h>

#define BIN "tests/fixtures/bin/"

static machsym_image *open_flags(const char *path, uint32_t flags)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = flags | MACHSYM_OPEN_NO_PAIR;
    return test_open_desc(&desc);
}

/* ---- Pointers ---- */

/* Values as fixup-chains.h lays out their bits; the image's base is 0x100000000. */
static void test_formats(void)
{
    static const struct {
        uint64_t raw;
        uint64_t addr;
        uint16_t format;
        uint32_t max_valid;
    } cases[] = {
        {0x0000000100001234, 0x100001234, 0, 0},
        {0x3dfffff007abcde0, 0xfffffff007abcde0, 0,
         0},                                     /* a signed address, as machsym_image_addr_of_pc has it */
        {0x0000000100001234, 0x100001234, 2, 0}, /* 64: an address */
        {0x0010000100001234, 0x100001234, 2, 0}, /* with the distance to the next */
        {0x000000ff00001234 & 0xfffffffff, 0xf00001234, 2, 0}, /* 36 bits of it */
        {0x0000000000001234, 0x100001234, 6, 0},               /* 64_OFFSET */
        {0x0008000000001234, 0x100001234, 6, 0},               /* high8 and next do not count */
        {0x0000000100001234, 0x100001234, 1, 0},               /* ARM64E: plain is an address */
        {0x8000000000001234, 0x100001234, 1, 0},               /* authenticated is an offset */
        {0x8001abcd00001234, 0x100001234, 1, 0},               /* diversity, key */
        {0x0000000000001234, 0x100001234, 7, 0},               /* ARM64E_KERNEL: offset */
        {0x0000000000001234, 0x100001234, 9, 0},               /* ARM64E_USERLAND */
        {0x8010abcd00001234, 0x100001234, 9, 0},               /* authenticated */
        {0x0000000000001234, 0x100001234, 12, 0},              /* ARM64E_USERLAND24 */
        {0x8010abcd00001234, 0x100001234, 12, 0},              /* authenticated */
        {0x0000000000001234, 0x100001234, 8, 0},               /* 64_KERNEL_CACHE */
        {0x8001abcd00001234, 0x100001234, 8, 0},               /* authenticated */
        {0x0000000040001234, 0, 8, 0},                         /* in another file of the cache */
        {0x0000000000001234, 0x100001234, 11, 0},              /* X86_64_KERNEL_CACHE */
        {0x00001234, 0x1234, 3, 0x100000},                     /* 32 */
        {0x0c001234, 0x1234, 3, 0x100000},                     /* next */
        {0x00200000, 0, 3, 0x100000},                          /* an integer in the chain */
        {0x0000000000001234, 0, 4, 0},                         /* 32_CACHE: refused */
        {0x0000000000001234, 0, 13, 0},                        /* ARM64E_SHARED_CACHE: refused */
        {0x0000000000001234, 0, 99, 0},
    };
    ms_mo mo;
    ms_fx_data d;
    ms_mo_segment segment;
    memset(&mo, 0, sizeof mo);
    memset(&d, 0, sizeof d);
    memset(&segment, 0, sizeof segment);
    mo.fixup_base = 0x100000000;
    mo.slice.cputype = ms_CPU_ARM64;
    d.mo = &mo;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        segment.fixup_format = cases[i].format;
        segment.max_valid_pointer = cases[i].max_valid;
        ms_fx_pointer pointer = ms_fx_decode(&d, &segment, cases[i].raw);
        CHECK_EQ(pointer.addr, cases[i].addr);
        CHECK_EQ(pointer.import.len, 0);
    }
}

static void test_imports(void)
{
    static const struct {
        uint64_t raw;
        uint16_t format;
        const char *name;
    } cases[] = {
        {0x8000000000000000, 2, "_zero"},
        {0x8000000000000001, 6, "_one"},
        {0x8010000000000001, 6, "_one"},
        {0x4000000000000001, 1, "_one"},
        {0xc001abcd00000001, 1, "_one"},
        {0x4000000000000000, 9, "_zero"},
        {0x4000000000000001, 12, "_one"},
        {0xc001abcd00000001, 12, "_one"},
        {0x80000001, 3, "_one"},
        {0x8000000000000002, 2, ""},
        {0x40000000000000ff, 9, ""},
        /* with an addend they lead to something else */
        {0x8010000005000001, 6, ""},
        {0x4000000500000001, 1, ""},
        {0x80500001, 3, ""},
    };
    static const unsigned sizes[] = {4, 8, 16};
    ms_mo mo;
    ms_mo_segment segment;
    memset(&mo, 0, sizeof mo);
    memset(&segment, 0, sizeof segment);
    for (unsigned format = 1; format <= 3; format++) {
        bytes b = {NULL, 0, 0};
        put32(&b, 0);  /* version */
        put32(&b, 28); /* starts: none */
        put32(&b, 32); /* imports */
        put32(&b, 32 + 2 * sizes[format - 1]);
        put32(&b, 2);
        put32(&b, format);
        put32(&b, 0);
        put32(&b, 0);
        for (unsigned i = 0; i < 2; i++) {
            uint32_t name = i == 0 ? 1 : 7;
            put_uint(&b, format == 3 ? (uint64_t)name << 32 | 5 : name << 9 | 5, format == 3 ? 8 : 4);
            put_zeros(&b, sizes[format - 1] - (format == 3 ? 8 : 4));
        }
        put8(&b, 0);
        put_str(&b, "_zero");
        put_str(&b, "_one");
        mo.bytes = ms_span_make(b.v, b.len);
        mo.loads.fixups_size = (uint32_t)b.len;
        ms_fx_data d;
        memset(&d, 0, sizeof d);
        d.mo = &mo;
        ms_fx_refill(&d);
        ms_fx_read_imports(&d);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            segment.fixup_format = cases[i].format;
            ms_fx_pointer pointer = ms_fx_decode(&d, &segment, cases[i].raw);
            CHECK_STR(pointer.import, cases[i].name);
            CHECK_EQ(pointer.addr, 0);
        }
        patch(&b, 20, 4, 4); /* no such format */
        memset(&d, 0, sizeof d);
        d.mo = &mo;
        ms_fx_refill(&d);
        ms_fx_read_imports(&d);
        CHECK_EQ(ms_fx_import(&d, 0).len, 0);
        if (format > 1) {
            patch(&b, 20, format, 4);
            patch(&b, 32 + sizes[format - 1] / 2, 1,
                  sizes[format - 1] / 2); /* an addend of the import itself */
            memset(&d, 0, sizeof d);
            d.mo = &mo;
            ms_fx_refill(&d);
            ms_fx_read_imports(&d);
            CHECK_EQ(ms_fx_import(&d, 0).len, 0);
            CHECK_STR(ms_fx_import(&d, 1), "_one");
        }
        bytes_free(&b);
    }
}

/* ---- Bind code ---- */

static ms_fx_data run_binds(const ms_mo *mo, const bytes *code, ms_arena *arena)
{
    ms_fx_data d;
    memset(&d, 0, sizeof d);
    d.mo = mo;
    ms_fx_refill(&d);
    ms_fx_read_binds(&d, ms_span_make(code->v, code->len), arena);
    return d;
}

static void check_bind(const ms_fx_data *d, size_t index, uint64_t addr, const char *name)
{
    CHECK(index < d->bind_count);
    if (index >= d->bind_count)
        return;
    CHECK_EQ(d->binds[index].key, addr);
    CHECK_STR(d->bind_names[d->binds[index].item], name);
}

static void test_binds(void)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_mo_segment segments[3];
    ms_mo mo;
    bytes code = {NULL, 0, 0};
    memset(&mo, 0, sizeof mo);
    memset(segments, 0, sizeof segments);
    segments[2].addr = 0x8000;
    mo.is_64 = true;
    mo.segments = segments;
    mo.segment_count = 3;
    put8(&code, 0x11); /* dylib */
    put8(&code, 0x20);
    put_uleb(&code, 300);
    put8(&code, 0x3e); /* special dylib */
    put8(&code, 0x40);
    put_str(&code, "_a");
    put8(&code, 0x51); /* type pointer */
    put8(&code, 0x60);
    put_sleb(&code, -5);
    put8(&code, 0x72); /* segment 2 */
    put_uleb(&code, 8);
    put8(&code, 0x90); /* with an addend it leads to something else */
    put8(&code, 0x60);
    put_sleb(&code, 0);
    put8(&code, 0x90);
    put8(&code, 0xa0); /* and 8 bytes on */
    put_uleb(&code, 8);
    put8(&code, 0xb2); /* and two words on */
    put8(&code, 0x40);
    put_str(&code, "_b");
    put8(&code, 0xc0);
    put_uleb(&code, 3);
    put_uleb(&code, 8);
    put8(&code, 0x80);
    put_uleb(&code, 0x100);
    put8(&code, 0x90);
    put8(&code, 0x00);
    put8(&code, 0x90); /* after the end */
    ms_fx_data d = run_binds(&mo, &code, &arena);
    CHECK_EQ(d.bind_count, 7);
    check_bind(&d, 0, 0x8010, "_a");
    check_bind(&d, 1, 0x8018, "_a");
    check_bind(&d, 2, 0x8028, "_a");
    check_bind(&d, 3, 0x8040, "_b");
    check_bind(&d, 4, 0x8050, "_b");
    check_bind(&d, 5, 0x8060, "_b");
    check_bind(&d, 6, 0x8170, "_b");
    CHECK_EQ(d.damage_count, 0);
    ms_arena_free(&arena);
    bytes_free(&code);
}

/* The first arm64e files: bind code lists the imports that pointers number. */
static void test_threaded(void)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_mo mo;
    bytes code = {NULL, 0, 0};
    memset(&mo, 0, sizeof mo);
    mo.is_64 = true;
    mo.fixup_base = 0x100000000;
    put8(&code, 0xd0);
    put_uleb(&code, 2);
    put8(&code, 0x40);
    put_str(&code, "_a");
    put8(&code, 0x90);
    put8(&code, 0x40);
    put_str(&code, "_b");
    put8(&code, 0x90);
    put8(&code, 0xd1);
    ms_fx_data d = run_binds(&mo, &code, &arena);
    CHECK(d.is_threaded);
    CHECK_EQ(d.bind_count, 0);
    CHECK_STR(ms_fx_decode_arm64e(&d, ms_DYLD_CHAINED_PTR_ARM64E, 0x4000000000000001).import, "_b");
    CHECK_STR(ms_fx_decode_arm64e(&d, ms_DYLD_CHAINED_PTR_ARM64E, 0xc000000000000000).import, "_a");
    CHECK_EQ(ms_fx_decode_arm64e(&d, ms_DYLD_CHAINED_PTR_ARM64E, 0x8000000000000040).addr, 0x100000040);
    ms_arena_free(&arena);
    bytes_free(&code);
}

/* More binds than the file could hold pointers, and code that ends in a number. */
static void test_bind_bombs(void)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_mo mo;
    bytes code = {NULL, 0, 0};
    memset(&mo, 0, sizeof mo);
    mo.is_64 = true;
    put8(&code, 0x40);
    put_str(&code, "_a");
    put8(&code, 0xc0);
    put_uleb(&code, ~(uint64_t)0);
    put_uleb(&code, ~(uint64_t)7);
    put8(&code, 0xa0);
    put8(&code, 0x80);
    ms_fx_data d = run_binds(&mo, &code, &arena);
    CHECK(d.bind_count <= 0x1000);
    CHECK_EQ(d.budget, 0);
    CHECK_EQ(d.damage_count, 2);
    ms_arena_free(&arena);
    bytes_free(&code);
}

/* ---- Exports ---- */

/* How many exports there are, and how many are unlike the symbols of the file that are its own and
 * external. */
static void check_exports(const char *path, size_t want)
{
    machsym_image *image = open_flags(path, 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    size_t count = 0;
    while (machsym_session_next_name(s, &at, &symbol)) {
        if (symbol.source != MACHSYM_SOURCE_EXPORTS)
            continue;
        count++;
        machsym_str same = ms_sym_exact(ms_src_table(ms_ses_symbols(s)), symbol.lo, symbol.name);
        CHECK(ms_str_equal(same, symbol.name));
    }
    CHECK_EQ(count, want);
    machsym_session_close(s);
    machsym_image_close(image);
}

static size_t count_source(const char *path, machsym_source source, uint32_t *damaged, size_t *longest)
{
    clock_t start = clock();
    machsym_image *image = open_flags(path, 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    machsym_session_counts info;
    size_t count = 0;
    *longest = 0;
    while (machsym_session_next_name(s, &at, &symbol)) {
        count += symbol.source == source;
        if (symbol.source == source && symbol.name.len > *longest)
            *longest = symbol.name.len;
    }
    machsym_session_count_all(s, &info);
    *damaged = info.damaged_metadata;
    CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
    machsym_session_close(s);
    machsym_image_close(image);
    return count;
}

static void test_exports(void)
{
    uint32_t damaged;
    size_t longest;
    check_exports(BIN "exports-arm64-chained.dylib", 4);
    check_exports(BIN "exports-x86_64-opcodes.dylib", 5);
    /* regular and weak, twice by a shared node; a stub and its resolver */
    CHECK_EQ(count_source(BIN "exports-x86_64-trie.dylib", MACHSYM_SOURCE_EXPORTS, &damaged, &longest), 7);
    CHECK_EQ(damaged, 0);
    CHECK_EQ(count_source(BIN "exports-x86_64-trie-cycle.dylib", MACHSYM_SOURCE_EXPORTS, &damaged, &longest),
             0);
    CHECK(damaged > 0);
    CHECK_EQ(count_source(BIN "exports-x86_64-trie-deep.dylib", MACHSYM_SOURCE_EXPORTS, &damaged, &longest),
             1);
    CHECK_EQ(longest, 3000);
}

/* A trie of nodes that all lead to the next one twice: 2^n paths without a budget. */
static void test_trie_bomb(void)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_arena arena = ms_arena_make(ms_arena_default(none));
    ms_range code = {0x1000, 0x2000};
    ms_sym_table t;
    ms_mo mo;
    ms_fx_data d;
    bytes trie = {NULL, 0, 0};
    for (unsigned i = 0; i < 200; i++) {
        put8(&trie, 0); /* nothing here; two edges, a and b, 8 bytes a node */
        put8(&trie, 2);
        for (unsigned edge = 0; edge < 2; edge++) {
            uint64_t next = 10 * (i + 1);
            put8(&trie, 'a' + edge);
            put8(&trie, 0);
            put8(&trie, (next & 0x7f) | 0x80);
            put8(&trie, next >> 7);
        }
    }
    put8(&trie, 3);
    put8(&trie, 0);
    put_uleb(&trie, 0x1000);
    put8(&trie, 0);
    memset(&t, 0, sizeof t);
    memset(&mo, 0, sizeof mo);
    memset(&d, 0, sizeof d);
    mo.bytes = ms_span_make(trie.v, trie.len);
    mo.loads.exports_size = (uint32_t)trie.len;
    d.mo = &mo;
    t.arena = &arena;
    t.code = &code;
    t.code_count = 1;
    ms_sym_add_exports(&t, &d, &arena);
    CHECK(t.count > 10);
    CHECK(t.count < 10000);
    CHECK_EQ(t.names[0].len, 200);
    ms_arena_free(&arena);
    bytes_free(&trie);
}

/* ---- Stubs ---- */

static void check_name(machsym_session *s, uint64_t addr, const char *name, machsym_source source,
                       uint64_t start)
{
    machsym_frame frame;
    memset(&frame, 0, sizeof frame);
    CHECK_EQ(machsym_session_frames_at_addr(s, addr, &frame, 1), 1);
    CHECK_STR(frame.linkage_name, name);
    CHECK_EQ(frame.name_source, source);
    CHECK_EQ(frame.function_start, start);
}

static void test_selector_stubs(void)
{
    static const char *const files[] = {BIN "stubs-arm64-small", BIN "stubs-arm64-fast"};
    static const char *const strips[] = {BIN "stubs-arm64-small-strip", BIN "stubs-arm64-fast-strip"};
    for (unsigned i = 0; i < 2; i++) {
        machsym_image *image = open_flags(files[i], 0);
        machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_image *strip = open_flags(strips[i], 0);
        machsym_session *bare = test_session(strip, MACHSYM_LINES_ATOS, 0);
        machsym_cursor at = {0, 0};
        machsym_symbol symbol;
        size_t count = 0;
        while (machsym_session_next_symbol(s, &at, &symbol)) {
            if (!ms_str_begins(symbol.name, "objc_msgSend$"))
                continue;
            machsym_frame frame;
            count++;
            CHECK_EQ(machsym_session_frames_at_addr(bare, symbol.lo + 4, &frame, 1), 1);
            CHECK(ms_str_equal(frame.linkage_name, symbol.name));
            CHECK_EQ(frame.name_source, MACHSYM_SOURCE_OBJC);
        }
        CHECK_EQ(count, 2);
        machsym_session_close(bare);
        machsym_image_close(strip);
        machsym_session_close(s);
        machsym_image_close(image);
    }
}

/* ---- Bounds ---- */

/* No LC_FUNCTION_STARTS: the program has main, odd_frame, odd_frame_too (ended by eh_frame) and one without
 * any. */
static void test_unwind(void)
{
    machsym_image *image = open_flags(BIN "frames-x86_64-strip", 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    check_name(s, 0x1000003a0, "main", MACHSYM_SOURCE_EXPORTS, 0x100000390);
    check_name(s, 0x1000003b4, "", MACHSYM_SOURCE_FUNCTION_STARTS, 0x1000003b0);
    check_name(s, 0x1000003c4, "", MACHSYM_SOURCE_FUNCTION_STARTS,
               0x1000003c1); /* past its end: not odd_frame */
    check_name(s, 0x1000003d2, "", MACHSYM_SOURCE_FUNCTION_STARTS, 0x1000003d0);
    check_name(s, 0x1000003e1, "", MACHSYM_SOURCE_FUNCTION_STARTS, 0x1000003e0);
    machsym_session_close(s);
    machsym_image_close(image);
}

/* Where LC_FUNCTION_STARTS is there, unwind tables add nothing to it. */
static void test_starts_win(void)
{
    machsym_image *image = open_flags(BIN "blocks-arm64-d4-22-strip", 0);
    CHECK_EQ(test_count_names(image, MACHSYM_SOURCE_FUNCTION_STARTS), 16);
    machsym_image_close(image);
}

/* eh_frame by hand: augmentation zPLR, signed 32-bit distances, a 64-bit length, an entry without its CIE. */
static void test_eh_frame(void)
{
    enum { AT = 0x10000000 };
    make_macho m;
    bytes b = {NULL, 0, 0};
    memset(&m, 0, sizeof m);
    m.filetype = 2;
    put32(&b, 24); /* CIE at 0 */
    put32(&b, 0);
    put8(&b, 3); /* version: the return address register is a number */
    put_str(&b, "zPLR");
    put_uleb(&b, 1);
    put_sleb(&b, -8);
    put_uleb(&b, 300);
    put_uleb(&b, 7);
    put8(&b, 0x9b); /* personality: 32 bits */
    put32(&b, 0x1234);
    put8(&b, 0x10); /* LSDA */
    put8(&b, 0x1b); /* addresses: 32 bits, relative */
    put_zeros(&b, 28 - b.len);
    put32(&b, 0xffffffff); /* FDE with a long length */
    put64(&b, 16);
    put32(&b, (uint32_t)b.len);
    put32(&b, (uint32_t)(MAKE_TEXT + 0x100 - (AT + b.len)));
    put32(&b, 0x40);
    put32(&b, 0);
    put32(&b, 12); /* FDE that points before the section */
    put32(&b, 0x1000);
    put64(&b, 0);
    put32(&b, 0xfffffff0); /* longer than the section */
    put32(&b, 4);
    make_add(&m, "__eh_frame", &b);
    m.sections[0].addr = AT;
    bytes file = make_file(&m);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    CHECK(machsym_session_next_symbol(s, &at, &symbol));
    CHECK_EQ(symbol.lo, MAKE_TEXT + 0x100);
    CHECK_EQ(symbol.hi, MAKE_TEXT + 0x140);
    CHECK(machsym_session_next_symbol(s, &at, &symbol));
    CHECK_EQ(symbol.lo, MAKE_TEXT + 0x140);
    CHECK(!machsym_session_next_symbol(s, &at, &symbol));
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&b);
    bytes_free(&file);
}

/* ---- The symbol table ---- */

/* OPEN_NO_SYMTAB hides the names of the image's own code, not what its stubs import. */
static void test_hidden(void)
{
    machsym_image *image = open_flags(BIN "exports-x86_64-opcodes.dylib", MACHSYM_OPEN_NO_SYMTAB);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    machsym_object object;
    size_t stubs = 0;
    while (machsym_session_next_name(s, &at, &symbol)) {
        CHECK(symbol.source != MACHSYM_SOURCE_SYMTAB);
        stubs += symbol.source == MACHSYM_SOURCE_STUB;
    }
    CHECK_EQ(stubs, 3);
    CHECK_EQ(ms_sym_scan_exact(image->mo, 1, 0x620, ms_str_from_c("api_open")).len, 0);
    memset(&at, 0, sizeof at);
    CHECK(!machsym_session_next_object(s, &at, &object));
    machsym_session_close(s);
    machsym_image_close(image);
    image = open_flags(BIN "exports-x86_64-opcodes.dylib", 0);
    CHECK_STR(ms_sym_scan_exact(image->mo, 1, 0x620, ms_str_from_c("api_open")), "api_open");
    CHECK_STR(ms_sym_scan_exact(image->mo, 1, 0x640, ms_str_from_c("api_alias")), "api_alias");
    CHECK_STR(ms_sym_scan_exact(image->mo, 1, 0x640, ms_str_empty()), "api_close");
    machsym_image_close(image);
}

/* Many long names at one address: neither the sort nor a lookup may take the square of their number. */
static void test_many_aliases(void)
{
    enum { COUNT = 100000 };
    static make_symbol symbols[COUNT];
    static char text[4096];
    make_macho m;
    memset(text, 'x', sizeof text - 1);
    memset(&m, 0, sizeof m);
    text[0] = '_';
    for (size_t i = 0; i < COUNT; i++) {
        symbols[i].name = i == 600 ? "_wanted" : i % 2 == 0 ? "_b" : "ltmp1";
        symbols[i].type = i % 3 == 0 ? 0x0f : 0x0e;
        symbols[i].section = 1;
        symbols[i].value = MAKE_TEXT;
    }
    symbols[7].name = text;
    m.symbols = symbols;
    m.symbol_count = COUNT;
    bytes file = make_file(&m);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    clock_t start = clock();
    CHECK_STR(ms_sym_exact(ms_src_table(ms_ses_symbols(s)), MAKE_TEXT, ms_str_from_c("wanted")), "wanted");
    for (size_t i = 0; i < 100000; i++) {
        machsym_frame frame;
        size_t count = machsym_session_frames_at_addr(s, MAKE_TEXT + i % 100, &frame, 1);
        if (count != 1 || !ms_str_is(frame.linkage_name, "b"))
            CHECK(false);
    }
    CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&file);
}

/* A name of several sources is told once. */
static void test_aliases(void)
{
    machsym_image *image = open_flags(BIN "exports-x86_64-opcodes.dylib", 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_str name;
    CHECK(machsym_session_next_alias_at_addr(s, 0x640, &at, &name));
    CHECK_STR(name, "api_close");
    CHECK(machsym_session_next_alias_at_addr(s, 0x640, &at, &name));
    CHECK_STR(name, "api_alias");
    CHECK(!machsym_session_next_alias_at_addr(s, 0x640, &at, &name));
    machsym_session_close(s);
    machsym_image_close(image);
}

/* ---- The debug map ---- */

static void test_objects(void)
{
    machsym_image *image = open_flags(BIN "map-arm64-d4-O0/program", 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_object object;
    size_t of_main = 0;
    size_t of_util = 0;
    size_t count = 0;
    while (machsym_session_next_object(s, &at, &object)) {
        CHECK(object.lo < object.hi);
        of_main += ms_str_ends(object.path, "main.o") && object.member.len == 0;
        of_util += ms_str_ends(object.path, "libutil.a") && ms_str_begins(object.member, "util");
        count++;
    }
    CHECK_EQ(of_main, 2);
    CHECK_EQ(of_util, 5);
    CHECK_EQ(count, 7);
    machsym_session_close(s);
    machsym_image_close(image);
}

/* ---- Kernel collections ---- */

static machsym_image *open_entry(const char *path, const char *entry, machsym_result want)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.entry = entry;
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), want);
    return image;
}

/* An image of the collection has the names, the classes and the addresses of the program it was made of, all
 * moved by the same distance. */
static void compare_entry(const char *entry, uint64_t moved, const char *program)
{
    machsym_image *image = open_entry(BIN "collection-arm64", entry, MACHSYM_OK);
    machsym_image *plain = open_flags(program, 0);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session *t = test_session(plain, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_cursor in = {0, 0};
    machsym_symbol a;
    machsym_symbol b;
    size_t count = 0;
    for (; machsym_session_next_name(t, &in, &b); count++) {
        CHECK(machsym_session_next_name(s, &at, &a));
        CHECK(a.lo == b.lo + moved && a.hi == b.hi + moved && a.source == b.source);
        bool is_import = ms_str_begins(a.name, "-[?(") || ms_str_begins(a.name, "+[?("); /* not in a kernel */
        CHECK(is_import || ms_str_equal(a.name, b.name));
    }
    CHECK(count > 30 && !machsym_session_next_name(s, &at, &a));
    machsym_objc item;
    machsym_objc same;
    memset(&at, 0, sizeof at);
    memset(&in, 0, sizeof in);
    for (count = 0; machsym_session_next_objc(t, &in, &same); count++) {
        CHECK(machsym_session_next_objc(s, &at, &item));
        CHECK(item.addr == same.addr + moved && ms_str_equal(item.selector, same.selector));
        CHECK(ms_str_equal(item.class_name, same.class_name) || ms_str_is(item.class_name, "?"));
    }
    CHECK_EQ(count, 21);
    machsym_session_close(s);
    machsym_session_close(t);
    machsym_image_close(plain);
    machsym_image_close(image);
}

/* Selector stubs as the builder of shared caches leaves them: ADRP, ADD give the selector itself. */
static void test_direct_selectors(void)
{
    test_file file = test_read(BIN "stubs-arm64-fast-strip");
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = file.ptr;
    desc.bytes.len = file.len;
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    const ms_mo_section *stubs = ms_mo_section_named(&image->mo[0], NULL, "__objc_stubs");
    const ms_mo_section *names = ms_mo_section_named(&image->mo[0], NULL, "__objc_methname");
    uint64_t pages = (names->addr >> 12) - (stubs->addr >> 12);
    uint32_t adrp = 0x90000001 | (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5;
    uint32_t add = 0x91000021 | (uint32_t)(names->addr & 0xfff) << 10;
    const uint32_t begins[][2] = {{adrp, add},
                                  {adrp ^ 3, add},           /* x2 */
                                  {adrp ^ 0x80000000, add},  /* ADR */
                                  {adrp, add ^ 1},           /* x0 */
                                  {adrp, add ^ 0x20},        /* of x0 */
                                  {adrp, add | 0x40000000}}; /* SUB */
    uint8_t *code = file.ptr + (stubs->bytes.ptr - file.ptr);
    uint64_t addr = stubs->addr;
    machsym_str selector = ms_rd_str_at(names->bytes, 0);
    machsym_image_close(image);
    for (unsigned i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        for (unsigned k = 0; k < 8; k++)
            code[k] = (uint8_t)(begins[i][k / 4] >> 8 * (k % 4));
        CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
        machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_frame frame;
        size_t count = machsym_session_frames_at_addr(s, addr, &frame, 1);
        bool is_stub =
            count == 1 && frame.function_start == addr && ms_str_begins(frame.linkage_name, "objc_msgSend$");
        CHECK_EQ(is_stub, i == 0);
        CHECK(!is_stub || ms_str_equal(ms_str_drop(frame.linkage_name, 13), selector));
        machsym_session_close(s);
        machsym_image_close(image);
    }
    free(file.ptr);
}

static void test_collection(void)
{
    machsym_image *image = open_entry(BIN "collection-arm64", NULL, MACHSYM_OK);
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    CHECK(machsym_image_next_entry(image, &at, &entry));
    CHECK_STR(entry.name, "com.apple.kernel");
    CHECK_EQ(entry.addr, 0xfffffff007008000);
    CHECK_EQ(entry.offset, 0x4000);
    CHECK(machsym_image_next_entry(image, &at, &entry));
    CHECK_STR(entry.name, "org.example.zoo");
    CHECK_EQ(entry.addr, 0xfffffff007018000);
    CHECK(!machsym_image_next_entry(image, &at, &entry));
    static const struct {
        uint64_t addr;
        const char *name;
    } cases[] = {{0xfffffff007008000, "com.apple.kernel"},
                 {0xfffffff007008940, "com.apple.kernel"},
                 {0xfffffff007018000, "org.example.zoo"},
                 {0xfffffff007018940, "org.example.zoo"},
                 {0xfffffff007007fff, NULL}, /* of the collection itself */
                 {0xfffffff007028000, NULL}, /* __LINKEDIT of all */
                 {0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool found = machsym_image_entry_at_addr(image, cases[i].addr, &entry);
        CHECK_EQ(found, cases[i].name != NULL);
        if (found)
            CHECK_STR(entry.name, cases[i].name);
    }
    machsym_open_desc desc;
    machsym_image *one = NULL;
    memset(&desc, 0, sizeof desc);
    desc.from = image;
    CHECK_EQ(machsym_image_open(&desc, &one, NULL), MACHSYM_ERR_ARGUMENT);
    desc.entry = "org.example.zoo";
    CHECK_EQ(machsym_image_open(&desc, &one, NULL), MACHSYM_OK);
    CHECK_EQ(one->mo[0].text_addr, 0xfffffff007018000);
    machsym_image *same = NULL;
    machsym_uuid strange = {{1}};
    const machsym_uuid *const uuids[] = {&one->mo[0].slice.uuid, &image->mo[0].slice.uuid, &strange};
    for (unsigned i = 0; i < 3; i++) {
        desc.uuid = uuids[i];
        CHECK_EQ(machsym_image_open(&desc, &same, NULL), i < 2 ? MACHSYM_OK : MACHSYM_ERR_UUID);
        if (i < 2)
            machsym_image_close(same);
    }
    desc.uuid = NULL;
    desc.arch = "x86_64";
    CHECK_EQ(machsym_image_open(&desc, &same, NULL), MACHSYM_ERR_ARCH);
    desc.arch = NULL;
    CHECK(!machsym_image_entry_at_addr(one, 0xfffffff007018000, &entry));
    desc.from = one; /* which is no collection */
    desc.entry = "com.apple.kernel";
    machsym_image *other = NULL;
    CHECK_EQ(machsym_image_open(&desc, &other, NULL), MACHSYM_ERR_ARGUMENT);
    machsym_image_close(one);
    machsym_image_close(image);
    compare_entry("com.apple.kernel", 0xfffffff007008000 - 0x100000000, BIN "zoo-arm64-fixups-8");
    compare_entry("org.example.zoo", 0xfffffff007018000 - 0x100000000,
                  BIN "zoo-arm64-chained-relative-strip");

    image = open_entry(BIN "collection-arm64", "org.example.zoo", MACHSYM_OK);
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    CHECK_STR(info.name, "org.example.zoo");
    CHECK_EQ(info.slice.filetype, 11);
    CHECK_EQ(info.slice.offset, 0x14000);
    memset(&at, 0, sizeof at);
    CHECK(!machsym_image_next_entry(image, &at, &entry));
    machsym_image_close(image);
    open_entry(BIN "collection-arm64", "org.example", MACHSYM_ERR_ARGUMENT);
    open_entry(BIN "zoo-arm64-chained", "com.apple.kernel", MACHSYM_ERR_ARGUMENT);
}

/* Entries whose names or headers lie outside, and one that is the collection itself. */
static void test_broken_collection(void)
{
    test_file file = test_read(BIN "collection-arm64");
    uint8_t *commands = (uint8_t *)file.ptr + 32;
    uint8_t *entry = commands + 4 * 72 + 24 + 16;
    machsym_open_desc desc;
    machsym_image *image = NULL;
    CHECK_EQ(entry[0], ms_LC_FILESET_ENTRY);
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = file.ptr;
    desc.bytes.len = file.len;
    desc.entry = "com.apple.kernel";
    static const uint32_t offsets[] = {0, 0x4010, 0x8000000, 0xffffffff, 0x4000};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        for (unsigned j = 0; j < 4; j++)
            entry[16 + j] = (uint8_t)(offsets[i] >> 8 * j);
        CHECK((machsym_image_open(&desc, &image, NULL) == MACHSYM_OK) == (offsets[i] == 0x4000));
        machsym_image_close(image);
    }
    static const uint8_t names[] = {0, 7, 8, 31, 57, 0xff};
    for (size_t i = 0; i < sizeof names; i++) {
        entry[24] = names[i];
        CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_ERR_ARGUMENT);
    }
    free(file.ptr);
}

/* ---- The symbols next to an address ---- */

enum { SIDES_ENTRIES = 400, SIDES_TABLES = 60, SIDES_ASKED = 40 };

typedef struct side_entry {
    uint8_t type;
    uint64_t value;
} side_entry;

/* Entries of LC_SYMTAB by chance, in order of their addresses or not, and the bytes that they are in the file. */
static bytes make_sides(side_entry *v, size_t count, bool is_sorted, bool is_64, uint64_t *state)
{
    static const uint8_t types[] = {0x0f, 0x0e, 0x0e, 0x1e,
                                    0x01, 0x03, 0x24, 0x0e}; /* the last but one: a stab */
    bytes b = {NULL, 0, 0};
    for (size_t i = 0; i < count; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        v[i].type = types[*state >> 40 & 7];
        v[i].value = is_sorted ? 0x1000 + i / 3 * 8 : 0x1000 + (*state >> 50) % 0x400;
        put32(&b, 1);
        put8(&b, v[i].type);
        put8(&b, 1);
        put16(&b, 0);
        put_uint(&b, v[i].value, is_64 ? 8 : 4);
    }
    return b;
}

/* What the search must find, by a look at each entry: between two values, the nearest at or below the address
 * (0) or past it (1), and the first and the last entry that has it. */
static ms_sym_side side_of(const side_entry *v, size_t count, uint64_t asked, unsigned which, uint64_t lo,
                           uint64_t hi)
{
    ms_sym_side side = {which == 0 ? lo : hi, 0, 0};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = v[i].value;
        if ((v[i].type & 0xe0) != 0 || (v[i].type & 0x0e) != 0x0e || value < lo || value > hi ||
            (value > asked) != (which == 1))
            continue;
        bool is_nearer = which == 0 ? value > side.value : value < side.value;
        if (is_nearer || side.end == 0) {
            side.value = value;
            side.first = i;
        }
        side.end = value == side.value ? i + 1 : side.end;
    }
    return side;
}

static void check_sides(const side_entry *v, size_t count, bytes file, bool is_64, uint64_t *state)
{
    ms_mo mo;
    ms_span span = {file.v, file.len};
    memset(&mo, 0, sizeof mo);
    mo.is_64 = is_64;
    for (unsigned i = 0; i < SIDES_ASKED; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        uint64_t asked = 0xff0 + (*state >> 33) % 0x440;
        bool is_bound = (*state >> 60 & 3) == 0;
        uint64_t lo = is_bound ? asked - (*state >> 20 & 63) : 0;
        uint64_t hi = is_bound ? asked + 1 + (*state >> 26 & 63) : UINT64_MAX;
        ms_sym_side sides[2] = {{lo, 0, 0}, {hi, 0, 0}};
        ms_sym_find_sides(&mo, span, asked, sides);
        for (unsigned which = 0; which < 2; which++) {
            ms_sym_side want = side_of(v, count, asked, which, lo, hi);
            CHECK_EQ(sides[which].end, want.end);
            if (want.end == 0)
                continue;
            CHECK_EQ(sides[which].value, want.value);
            CHECK_EQ(sides[which].first, want.first);
        }
    }
}

static void test_sides(void)
{
    static side_entry v[SIDES_ENTRIES];
    uint64_t state = 11;
    test_begin();
    for (unsigned i = 0; i < SIDES_TABLES; i++) {
        size_t count = i < 4 ? i : (state >> 33) % SIDES_ENTRIES;
        bool is_64 = i % 4 != 3;
        bytes file = make_sides(v, count, i % 2 == 0, is_64, &state);
        check_sides(v, count, file, is_64, &state);
        free(file.v);
    }
    test_end("the symbols next to an address, in tables by chance");
}

int main(void)
{
    test_sides();
    test_collection();
    test_broken_collection();
    test_formats();
    test_imports();
    test_binds();
    test_threaded();
    test_bind_bombs();
    test_exports();
    test_trie_bomb();
    test_selector_stubs();
    test_direct_selectors();
    test_unwind();
    test_starts_win();
    test_eh_frame();
    test_hidden();
    test_many_aliases();
    test_aliases();
    test_objects();
    return test_done();
}
