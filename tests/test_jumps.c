/* Names of code that only jumps: stubs of an image in a shared cache, made by hand. tests/cache has the
 * stubs of real dylibs. */
static unsigned long long work;
#define MACHSYM_COUNT_WORK(n) ((void)(work += (n)))
#define TEST_ROOM             "../src/macho/sources.h"
#include "test.h"
#include "make_cache.h"

enum {
    HEADER = 0x1d8,
    IMAGE_HEAD = 32 + 72 + 2 * 80 + 72 + 24, /* Mach-O header, two segments, LC_SYMTAB */
    LISTS = 0x3000,                          /* of mappings and images; images follow */
    STEP = 0x100000                          /* from a mapping to the next one, which has the same bytes */
};

/* A cache of several images. Each image has functions and stubs of 4 bytes each. */
typedef struct made {
    bytes file;
    size_t at[2]; /* of the images */
    ms_arena arena;
    ms_arena scratch;
    ms_dc dc;
    ms_mo mo;
    ms_src names;
} made;

static void put_nlist(bytes *b, size_t strx, uint64_t addr)
{
    tiny_nlist(b, strx, 0x0f, addr);
}

/* Adds an image. Its stubs jump to the addresses in `stubs`, and `functions` functions follow them. The
 * functions of image 'c' are "_c0", "_c1" and so on. `tail` bytes other than NUL end the string table. */
static size_t put_image(bytes *b, char c, unsigned functions, const uint64_t *stubs, unsigned stub_count,
                        size_t tail)
{
    size_t at = b->len;
    size_t jumps = at + IMAGE_HEAD;
    size_t code = jumps + 4 * stub_count;
    size_t nlists = code + 4 * functions;
    size_t strings = nlists + 16 * functions;
    bytes text = {NULL, 0, 0};
    put8(&text, 0);
    put32(b, 0xfeedfacf);
    put32(b, 0x0100000c);
    put32(b, 0x80000002);
    put32(b, 6); /* MH_DYLIB */
    put32(b, 3);
    put32(b, IMAGE_HEAD - 32);
    put64(b, 0x80000000);
    tiny_segment(b, "__TEXT", at, nlists - at, at, 2);
    tiny_section(b, "__TEXT", "__stubs", jumps, code - jumps, jumps, 0x80000408);
    patch(b, b->len - 8, 4, 4); /* reserved2: bytes of a stub */
    tiny_section(b, "__TEXT", "__text", code, nlists - code, code, 0x80000400);
    tiny_segment(b, "__LINKEDIT", nlists, strings + 16 * functions + 16 + tail - nlists, nlists, 0);
    put32(b, 2); /* LC_SYMTAB */
    put32(b, 24);
    put32(b, nlists);
    put32(b, functions);
    put32(b, strings);
    put32(b, 16 * functions + 16 + tail);
    for (unsigned i = 0; i < stub_count; i++)
        put32(b, 0x14000000 | ((stubs[i] - (TINY_BASE + b->len)) / 4 & 0x3ffffff)); /* b */
    for (unsigned i = 0; i < functions; i++)
        put32(b, 0xd65f03c0); /* ret */
    for (unsigned i = 0; i < functions; i++) {
        char name[16];
        put_nlist(b, text.len, TINY_BASE + code + 4 * i);
        put(&text, name, (size_t)snprintf(name, sizeof name, "_%c%u", c, i) + 1);
    }
    put_zeros(&text, 16 * functions + 16 - text.len);
    put_bytes(b, &text);
    bytes_free(&text);
    for (size_t i = 0; i < tail; i++)
        put8(b, 'x');
    return at;
}

/* The address of the stub or, after all stubs, function with this number, of the image at a place of the
 * file. */
static uint64_t code_at(size_t at, unsigned i)
{
    return TINY_BASE + at + IMAGE_HEAD + 4 * (uint64_t)i;
}

static void put_uleb_of_two(bytes *b, size_t value)
{
    put8(b, (value & 0x7f) | 0x80);
    put8(b, value >> 7);
}

/* Adds an image as put_image does, but only an exports trie names its functions: those of 'c' are "_c0" and
 * so on. The trie stands in the last `room` bytes of the image. `doubled` nodes of it have two edges to the
 * next node. */
static size_t put_exports(bytes *b, char c, unsigned functions, unsigned doubled, size_t room)
{
    enum { ROOT = 9, TWO = 10, LEAF = 2, NODE = 5 };
    size_t at = put_image(b, c, functions, NULL, 0, room);
    size_t trie = b->len - room;
    size_t names = ROOT + TWO * doubled + LEAF;
    bytes t = {NULL, 0, 0};
    char name[8];
    put8(&t, 0); /* exports nothing */
    put8(&t, 2); /* edges */
    put(&t, name, (size_t)snprintf(name, sizeof name, "_%c", c) + 1);
    put_uleb_of_two(&t, names);
    put(&t, "", 1);
    put8(&t, ROOT);
    for (unsigned i = 1; i <= doubled; i++) {
        put8(&t, 0);
        put8(&t, 2);
        for (unsigned j = 0; j < 2; j++) {
            put(&t, j == 0 ? "y" : "z", 2);
            put_uleb_of_two(&t, ROOT + TWO * i);
        }
    }
    put_zeros(&t, LEAF);
    put8(&t, 0);
    put8(&t, functions);
    names += LEAF;
    for (unsigned i = 0; i < functions; i++)
        names += (size_t)snprintf(name, sizeof name, "%u", i) + 1 + 2;
    for (unsigned i = 0; i < functions; i++) {
        put(&t, name, (size_t)snprintf(name, sizeof name, "%u", i) + 1);
        put_uleb_of_two(&t, names + NODE * i);
    }
    for (unsigned i = 0; i < functions; i++) {
        put8(&t, 3); /* bytes of what it exports */
        put8(&t, 0); /* flags */
        put_uleb_of_two(&t, IMAGE_HEAD + 4 * i);
        put8(&t, 0); /* edges */
    }
    CHECK(t.len <= room);
    memcpy(b->v + trie, t.v, t.len);
    bytes_free(&t);
    patch(b, at + IMAGE_HEAD - 24, 0x80000033, 4); /* LC_DYLD_EXPORTS_TRIE in the place of LC_SYMTAB */
    patch(b, at + IMAGE_HEAD - 20, 16, 4);
    patch(b, at + IMAGE_HEAD - 16, trie, 4);
    patch(b, at + IMAGE_HEAD - 12, room, 4);
    patch(b, at + IMAGE_HEAD - 8, 0x10, 4); /* a command that nothing reads */
    patch(b, at + IMAGE_HEAD - 4, 8, 4);
    patch(b, at + 16, 4, 4); /* commands */
    return at;
}

/* Begins a file that lists images. Each of its `mappings` mappings covers all of the file. */
static void begin(made *m, unsigned mappings, unsigned images)
{
    memset(m, 0, sizeof *m);
    m->file = tiny_header(1, HEADER, mappings);
    patch(&m->file, 0x13c, 0, 4); /* no slide info */
    patch(&m->file, 0x88, LISTS / 2, 8);
    patch(&m->file, 0x90, images, 8);
    put_zeros(&m->file, LISTS - m->file.len);
}

static void list_image(made *m, unsigned index, uint64_t addr, size_t size)
{
    patch(&m->file, LISTS / 2 + 32 * index + 16, addr, 8);
    patch(&m->file, LISTS / 2 + 32 * index + 24, size, 4);
}

/* Opens the image that begins at a place of the file. */
static void open_image(made *m, unsigned mappings, size_t at, ms_range *code)
{
    machsym_allocator none = {NULL, NULL, NULL};
    for (unsigned i = 0; i < mappings; i++) {
        patch(&m->file, HEADER + 32 * i, TINY_BASE + (uint64_t)i * STEP, 8);
        patch(&m->file, HEADER + 32 * i + 8, m->file.len, 8);
    }
    m->arena = ms_arena_make(ms_arena_default(none));
    m->scratch = ms_arena_make(ms_arena_default(none));
    CHECK(ms_dc_open(&m->dc, ms_span_make(m->file.v, m->file.len), &m->arena));
    ms_dc_settle(&m->dc, &m->arena);
    CHECK_EQ(ms_mo_load_cached(&m->mo, &m->dc, TINY_BASE + at, &m->arena, NULL), MACHSYM_OK);
    code->lo = code_at(at, 0);
    code->hi = m->mo.text_addr + m->mo.text_size;
    ms_src_start(&m->names, &m->mo, 1, code, 1, NULL, &m->scratch, &m->arena);
}

static void close_image(made *m)
{
    ms_arena_free(&m->arena);
    ms_arena_free(&m->scratch);
    bytes_free(&m->file);
}

/* Stubs of an image that jump to an image before it, which has symbols or exports only, and to functions
 * of its own. */
static void test_both(bool exports)
{
    enum { FAR = 100, OWN = 30 };
    uint64_t stubs[FAR + OWN];
    made m;
    ms_range code;
    begin(&m, 1, 2);
    m.at[0] = exports ? put_exports(&m.file, 'a', FAR, 0, 2048) : put_image(&m.file, 'a', FAR, NULL, 0, 0);
    m.at[1] = m.file.len;
    for (unsigned i = 0; i < FAR + OWN; i++)
        stubs[i] = i < FAR ? code_at(m.at[0], i) : code_at(m.at[1], i + OWN);
    put_image(&m.file, 'b', OWN, stubs, FAR + OWN, 0);
    list_image(&m, 0, TINY_BASE + m.at[0], m.at[1] - m.at[0]);
    list_image(&m, 1, TINY_BASE + m.at[1], m.file.len - m.at[1]);
    open_image(&m, 1, m.at[1], &code);
    test_begin();
    for (unsigned i = 0; i < FAR + OWN; i++) {
        machsym_symbol symbol;
        char name[16];
        snprintf(name, sizeof name, i < FAR ? "a%u" : "b%u", i < FAR ? i : i - FAR);
        CHECK(ms_src_find(&m.names, code_at(m.at[1], i), &symbol));
        CHECK_STR(symbol.name, name);
        CHECK_EQ(symbol.source, MACHSYM_SOURCE_STUB);
    }
    test_end("every stub");
    close_image(&m);
}

/* Of the names that another image has at one address the best is taken, wherever it stands: a global one before
 * a hidden one, that before a local one. A redacted name, one that is not defined, and what lies outside of all
 * images name nothing. */
static void test_choice(void)
{
    enum { NAMES = 8, NLIST = 16, TYPE = 4, VALUE = 8 };
    enum { UNDEFINED = 0x01, LOCAL = 0x0e, GLOBAL = 0x0f, HIDDEN = 0x1f };
    static const uint8_t types[NAMES] = {LOCAL,     HIDDEN,
                                         GLOBAL,    LOCAL,   /* a0 to a3, all at the first function */
                                         LOCAL,     HIDDEN,  /* a4, a5: at the second */
                                         UNDEFINED, GLOBAL}; /* a6, a7 "<redacted>": at the third */
    static const uint8_t of[NAMES] = {0, 0, 0, 0, 1, 1, 2, 2};
    static const char *const want[] = {"a2", "a5", NULL, "a2", NULL, NULL, NULL};
    uint64_t stubs[7];
    made m;
    ms_range code;
    begin(&m, 1, 3);
    size_t before = m.file.len;
    put_zeros(&m.file, 64);
    m.at[0] = put_image(&m.file, 'a', NAMES, NULL, 0, 0);
    size_t nlists = m.at[0] + IMAGE_HEAD + 4 * NAMES;
    for (size_t i = 0; i < NAMES; i++) {
        patch(&m.file, nlists + NLIST * i + TYPE, types[i], 1);
        patch(&m.file, nlists + NLIST * i + VALUE, code_at(m.at[0], of[i]), 8);
    }
    size_t strings = nlists + NLIST * NAMES;
    patch(&m.file, nlists + NLIST * 7, 32, 4);
    memcpy(m.file.v + strings + 32, "<redacted>", 11);
    size_t end = m.file.len;
    size_t broken = m.file.len + 64;
    put_zeros(&m.file, 256); /* an image of the list begins in the middle of these */
    m.at[1] = m.file.len;
    stubs[0] = code_at(m.at[0], 0);
    stubs[1] = code_at(m.at[0], 1);
    stubs[2] = code_at(m.at[0], 2);
    stubs[3] = stubs[0];                /* the same again */
    stubs[4] = TINY_BASE + before;      /* before all images */
    stubs[5] = TINY_BASE + end + 32;    /* between two */
    stubs[6] = TINY_BASE + broken + 64; /* in one that has no header */
    put_image(&m.file, 'b', 1, stubs, 7, 0);
    list_image(&m, 0, TINY_BASE + m.at[0], end - m.at[0]);
    list_image(&m, 1, TINY_BASE + broken, 128);
    list_image(&m, 2, TINY_BASE + m.at[1], m.file.len - m.at[1]);
    open_image(&m, 1, m.at[1], &code);
    for (unsigned i = 0; i < 7; i++) {
        machsym_symbol symbol; /* without a name of its own the stub belongs to what is before it */
        uint64_t addr = code_at(m.at[1], i);
        CHECK_EQ(ms_src_find(&m.names, addr, &symbol) && symbol.lo == addr, want[i] != NULL);
        if (want[i] != NULL)
            CHECK_STR(symbol.name, want[i]);
    }
    close_image(&m);
}

/* Many images with one string table, which has no NUL for long: each of them would look for its end. Or with
 * one exports trie whose nodes are shared, which takes long to read. */
static void test_bounded(bool exports)
{
    enum { IMAGES = 100, TAIL = 65536 };
    uint64_t stubs[IMAGES];
    made m;
    ms_range code;
    begin(&m, IMAGES, IMAGES);
    m.at[0] = exports ? put_exports(&m.file, 'a', 1, 14, TAIL) : put_image(&m.file, 'a', 1, NULL, 0, TAIL);
    m.at[1] = m.file.len;
    for (unsigned i = 0; i < IMAGES; i++) {
        list_image(&m, i, TINY_BASE + m.at[0] + (uint64_t)i * STEP, STEP / 2);
        stubs[i] = code_at(m.at[0], 0) + (uint64_t)i * STEP;
    }
    put_image(&m.file, 'b', 1, stubs, IMAGES, 0);
    open_image(&m, IMAGES, m.at[1], &code);
    machsym_symbol symbol;
    work = 0;
    CHECK(ms_src_find(&m.names, code_at(m.at[1], 0), &symbol));
    CHECK_STR(symbol.name, "a0");
    CHECK(work < 8 * m.file.len);
    close_image(&m);
}

int main(void)
{
    test_both(false);
    test_both(true);
    test_choice();
    test_bounded(false);
    test_bounded(true);
    return test_done();
}
