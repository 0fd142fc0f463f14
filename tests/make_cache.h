/* A shared cache of three kilobytes with one image, for tests of damage and seeds of fuzzing: arm64e, a class with
 * relative methods, exports, function starts, local symbols. tests/cache builds caches that are true to the last
 * table; this one is small enough for every byte of it to be tried. */
#ifndef MACHSYM_TESTS_MAKE_CACHE_H
#define MACHSYM_TESTS_MAKE_CACHE_H

#include "make.h"

enum {
    TINY_TEXT = 0x10000000, /* addresses from the base on */
    TINY_DATA = 0x10010000,
    TINY_LINKEDIT = 0x10020000,
    TINY_HEADER = 0x1d8,
    TINY_CODE = 0x30 /* three functions of 16 bytes */
};

#define TINY_BASE    0x180000000u
#define TINY_PATH    "/usr/lib/libtiny.dylib"
#define TINY_LIBRARY "/usr/lib/libobjc.A.dylib"

/* What the cache is like. */
typedef struct tiny {
    unsigned slide;   /* version of the slide info, 1 to 3, or 5 */
    bool is_split;    /* data and __LINKEDIT lie in ".01", local symbols in ".symbols" */
    bool is_old;      /* local symbols have 32-bit entries, siblings no suffix, images no UUIDs */
    bool is_library;  /* the image is libobjc, which tells what selectors count from; the header does not */
    bytes main;       /* the files */
    bytes sibling;    /* empty unless it is split */
    bytes symbols;    /* the same */
    size_t text_off;  /* of __TEXT in main */
    size_t locals_at; /* of the local symbols in main or symbols */
    size_t slide_at;  /* of the slide info in main or sibling */
} tiny;

/* Where the parts of __TEXT, of the data and of __LINKEDIT lie in them. */
enum {
    TINY_CODE_AT = 0x2a0,
    TINY_NAMES_AT = TINY_CODE_AT + TINY_CODE, /* "Tiny", "go", "stop" */
    TINY_TABLE_AT = TINY_NAMES_AT + 16,       /* objc_opt_t */
    TINY_LIST_AT = TINY_TABLE_AT + 48,
    TINY_TEXT_SIZE = TINY_LIST_AT + 8 + 2 * 12,
    TINY_CLASS_AT = 8, /* after the list of classes */
    TINY_META_AT = TINY_CLASS_AT + 40,
    TINY_RO_AT = TINY_META_AT + 40,
    TINY_META_RO_AT = TINY_RO_AT + 72,
    TINY_DATA_SIZE = TINY_META_RO_AT + 72,
    TINY_STRINGS_AT = 2 * 16, /* after two symbols */
    TINY_STARTS_AT = TINY_STRINGS_AT + 40,
    TINY_TRIE_AT = TINY_STARTS_AT + 8,
    TINY_LINKEDIT_SIZE = TINY_TRIE_AT + 32
};

static inline void tiny_uuid(bytes *b, unsigned which)
{
    put_zeros(b, 15);
    put8(b, which);
}

/* A pointer as the version of slide info stores it. */
static inline void tiny_pointer(bytes *b, const tiny *t, uint64_t addr)
{
    uint64_t off = addr - TINY_BASE;
    switch (t->slide) {
    case 2: put64(b, off | (uint64_t)2 << 40); break; /* delta_mask 0xff << 40 */
    case 3: put64(b, off | (uint64_t)1 << 63 | (uint64_t)1 << 51 | (uint64_t)0xabcd << 32); break;
    case 4: put64(b, off | (uint64_t)2 << 30); break; /* of 32 bits: every second one is skipped */
    case 5: put64(b, off | (uint64_t)1 << 63 | (uint64_t)1 << 52 | (uint64_t)0x1bcd << 34); break;
    default: put64(b, addr);
    }
}

static inline void tiny_slide(bytes *b, const tiny *t)
{
    put32(b, t->slide);
    put32(b, 4096);
    switch (t->slide) {
    case 2:
    case 4:
        put32(b, 40);
        put32(b, 1);
        put64(b, 0); /* extras */
        put64(b, t->slide == 2 ? (uint64_t)0xff << 40 : 0xc0000000);
        put64(b, TINY_BASE);
        break;
    case 3:
    case 5:
        put64(b, 1); /* pages, padding */
        put64(b, TINY_BASE);
        break;
    default: put_zeros(b, 16);
    }
    put32(b, 0); /* the page starts at its first pointer */
}

static inline void tiny_segment(bytes *b, const char *name, uint64_t off, size_t size, size_t file_off,
                                unsigned sections)
{
    put32(b, 0x19);
    put32(b, 72 + 80 * sections);
    put_name(b, name);
    put64(b, TINY_BASE + off);
    put64(b, size);
    put64(b, file_off);
    put64(b, size);
    put32(b, 7);
    put32(b, strcmp(name, "__TEXT") == 0 ? 5 : 3);
    put32(b, sections);
    put32(b, 0);
}

static inline void tiny_section(bytes *b, const char *segment, const char *name, uint64_t off, size_t size,
                                size_t file_off, uint32_t flags)
{
    put_name(b, name);
    put_name(b, segment);
    put64(b, TINY_BASE + off);
    put64(b, size);
    put32(b, file_off);
    put_zeros(b, 12);
    put32(b, flags);
    put_zeros(b, 12);
}

static inline void tiny_command(bytes *b, uint32_t command, size_t off, size_t size)
{
    put32(b, command);
    put32(b, 16);
    put32(b, off);
    put32(b, size);
}

/* __TEXT of the image: its load commands, code, names of methods, a relative method list. */
static inline bytes tiny_text(const tiny *t, size_t file_off, size_t data_off, size_t linkedit_off)
{
    bytes b = {NULL, 0, 0};
    put32(&b, 0xfeedfacf);
    put32(&b, 0x0100000c);
    put32(&b, 0x80000002);
    put32(&b, 6); /* MH_DYLIB */
    put32(&b, 7);
    put32(&b, 3 * 72 + 3 * 80 + 24 + 24 + 16 + 16);
    put64(&b, 0x80000000); /* MH_DYLIB_IN_CACHE */
    tiny_segment(&b, "__TEXT", TINY_TEXT, TINY_TEXT_SIZE, file_off, 2);
    tiny_section(&b, "__TEXT", "__text", TINY_TEXT + TINY_CODE_AT, TINY_CODE, file_off + TINY_CODE_AT,
                 0x80000400);
    tiny_section(&b, "__TEXT", "__objc_opt_ro", TINY_TEXT + TINY_TABLE_AT, 80, file_off + TINY_TABLE_AT, 0);
    tiny_segment(&b, "__DATA", TINY_DATA, TINY_DATA_SIZE, data_off, 1);
    tiny_section(&b, "__DATA", "__objc_classlist", TINY_DATA, 8, data_off, 0);
    tiny_segment(&b, "__LINKEDIT", TINY_LINKEDIT, TINY_LINKEDIT_SIZE, linkedit_off, 0);
    put32(&b, 2); /* LC_SYMTAB */
    put32(&b, 24);
    put32(&b, linkedit_off);
    put32(&b, 2);
    put32(&b, linkedit_off + TINY_STRINGS_AT);
    put32(&b, 40);
    put32(&b, 0x1b); /* LC_UUID */
    put32(&b, 24);
    tiny_uuid(&b, 9);
    tiny_command(&b, 0x26, linkedit_off + TINY_STARTS_AT, 8);
    tiny_command(&b, 0x80000033, linkedit_off + TINY_TRIE_AT, 32);
    put_zeros(&b, TINY_CODE_AT - b.len);
    for (unsigned i = 0; i < TINY_CODE; i += 4)
        put32(&b, 0xd65f03c0); /* ret */
    put(&b, "Tiny\0go\0stop\0\0\0", 16);
    put32(&b, t->is_library ? 16 : 15);
    put_zeros(&b, 36);
    put64(&b, t->is_library ? (uint64_t)(int64_t)(TINY_NAMES_AT - TINY_TABLE_AT) : 0);
    put32(&b, 0xc000000c); /* relative, selectors direct */
    put32(&b, 2);
    for (unsigned i = 0; i < 2; i++) { /* selectors count from the names */
        size_t entry = b.len;
        put32(&b, t->is_old ? TINY_NAMES_AT + (i == 0 ? 5u : 8u) - entry : i == 0 ? 5u : 8u);
        put32(&b, 0);
        put32(&b, TINY_CODE_AT + 16 * i - (entry + 8));
    }
    return b;
}

/* A class_ro_t. Only its name and its methods matter. */
static inline void tiny_ro(bytes *b, const tiny *t, bool has_methods)
{
    put_zeros(b, 24);
    tiny_pointer(b, t, TINY_BASE + TINY_TEXT + TINY_NAMES_AT);
    if (has_methods)
        tiny_pointer(b, t, TINY_BASE + TINY_TEXT + TINY_LIST_AT);
    put_zeros(b, has_methods ? 32 : 40);
}

static inline bytes tiny_data(const tiny *t)
{
    bytes b = {NULL, 0, 0};
    uint64_t data = TINY_BASE + TINY_DATA;
    tiny_pointer(&b, t, data + TINY_CLASS_AT);
    tiny_pointer(&b, t, data + TINY_META_AT); /* class_t: isa */
    put_zeros(&b, 24);
    tiny_pointer(&b, t, data + TINY_RO_AT);
    put_zeros(&b, 32);
    tiny_pointer(&b, t, data + TINY_META_RO_AT);
    tiny_ro(&b, t, true);
    tiny_ro(&b, t, false);
    return b;
}

static inline void tiny_nlist(bytes *b, size_t strx, unsigned type, uint64_t addr)
{
    put32(b, strx);
    put8(b, type);
    put8(b, 1);
    put16(b, 0);
    put64(b, addr);
}

/* __LINKEDIT: an external symbol and a redacted one, their strings, function starts, exports. */
static inline bytes tiny_linkedit(void)
{
    static const uint8_t trie[32] = {0,   1,   '_', 't', 'i', 'n', 'y',  '_',  'o', 'p',
                                     'e', 'n', 0,   14,  3,   0,   0xc0, 0x05, 0}; /* 0x2c0 */
    uint64_t code = TINY_BASE + TINY_TEXT + TINY_CODE_AT;
    bytes b = {NULL, 0, 0};
    tiny_nlist(&b, 1, 0x0f, code + 32);
    tiny_nlist(&b, 12, 0x0e, code);
    put(&b, "\0_tiny_open\0<redacted>", 23);
    put_zeros(&b, 17);
    put_uleb(&b, TINY_CODE_AT);
    put8(&b, 16);
    put8(&b, 16);
    put_zeros(&b, TINY_TRIE_AT - b.len);
    put(&b, trie, sizeof trie);
    return b;
}

/* local_symbols_info with one image. key names the image. */
static inline bytes tiny_locals(const tiny *t, uint64_t key)
{
    bytes b = {NULL, 0, 0};
    put32(&b, 24); /* nlists */
    put32(&b, 1);
    put32(&b, 40); /* strings */
    put32(&b, 16);
    put32(&b, 56); /* entries */
    put32(&b, 1);
    tiny_nlist(&b, 1, 0x0e, TINY_BASE + TINY_TEXT + TINY_CODE_AT + 16);
    put(&b, "\0_tiny_local\0\0\0\0", 16);
    put_uint(&b, key, t->is_old ? 4 : 8);
    put32(&b, 0);
    put32(&b, 1);
    return b;
}

static inline void tiny_mapping(bytes *b, uint64_t off, size_t size, size_t file_off)
{
    put64(b, TINY_BASE + off);
    put64(b, size);
    put64(b, file_off);
}

/* The mappings of a file, then the same with slide info; count of them from first on. */
static inline void tiny_mappings(bytes *b, const uint64_t *addrs, const size_t *sizes, const size_t *offs,
                                 unsigned count, unsigned slid, size_t slide_at)
{
    for (unsigned i = 0; i < count; i++) {
        tiny_mapping(b, addrs[i], sizes[i], offs[i]);
        put64(b, 0);
    }
    for (unsigned i = 0; i < count; i++) {
        tiny_mapping(b, addrs[i], sizes[i], offs[i]);
        put64(b, i == slid ? slide_at : 0);
        put64(b, i == slid ? 64 : 0);
        put64(b, 0);
        put64(b, 0);
    }
}

/* A header; the caller patches what it needs besides. */
static inline bytes tiny_header(unsigned uuid, size_t header, unsigned mappings)
{
    bytes b = {NULL, 0, 0};
    put(&b, "dyld_v1  arm64e", 16);
    put32(&b, header);
    put32(&b, mappings);
    put_zeros(&b, header - b.len);
    b.v[0x58 + 15] = (uint8_t)uuid;
    patch(&b, 0x138, header + 32 * mappings, 4);
    patch(&b, 0x13c, mappings, 4);
    return b;
}

static inline void tiny_pad(bytes *b, size_t at)
{
    put_zeros(b, at > b->len ? at - b->len : 0);
}

/* Where the parts of the main file lie. */
enum {
    TINY_IMAGES_AT = 0x340,
    TINY_SIBLINGS_AT = TINY_IMAGES_AT + 64, /* after two lists of images */
    TINY_PATH_AT = TINY_SIBLINGS_AT + 56,
    TINY_SLIDE_AT = TINY_PATH_AT + 32,
    TINY_OBJC_AT = TINY_SLIDE_AT + 64,
    TINY_TEXT_AT = TINY_OBJC_AT + 56,
    TINY_DATA_AT = TINY_TEXT_AT + TINY_TEXT_SIZE,
    TINY_LINKEDIT_AT = TINY_DATA_AT + TINY_DATA_SIZE,
    TINY_LOCALS_AT = TINY_LINKEDIT_AT + TINY_LINKEDIT_SIZE,
    TINY_SIBLING_HEADER = 0x198 /* siblings have their slide info, data and __LINKEDIT after 2 mappings */
};

static inline void tiny_put(bytes *b, bytes part)
{
    put_bytes(b, &part);
    bytes_free(&part);
}

/* The main file. */
static inline void tiny_make_main(tiny *t)
{
    size_t header = t->is_old ? 0x188 : t->is_library ? 0x1d0 : TINY_HEADER;
    size_t in_sibling = TINY_SIBLING_HEADER + 2 * 88 + 64;
    uint64_t addrs[3] = {0, TINY_DATA, TINY_LINKEDIT};
    size_t sizes[3] = {TINY_OBJC_AT + 56, TINY_DATA_SIZE, TINY_LINKEDIT_SIZE};
    size_t offs[3] = {0, TINY_DATA_AT, TINY_LINKEDIT_AT};
    unsigned count = t->is_split ? 1 : 3;
    bytes *b = &t->main;
    *b = tiny_header(1, header, count + 1);
    bytes lists = {NULL, 0, 0};
    uint64_t all_addrs[4] = {addrs[0], TINY_TEXT, addrs[1], addrs[2]};
    size_t all_sizes[4] = {sizes[0], TINY_TEXT_SIZE, sizes[1], sizes[2]};
    size_t all_offs[4] = {offs[0], TINY_TEXT_AT, offs[1], offs[2]};
    tiny_mappings(&lists, all_addrs, all_sizes, all_offs, count + 1, 2, TINY_SLIDE_AT);
    put_bytes(b, &lists);
    bytes_free(&lists);
    tiny_pad(b, TINY_IMAGES_AT);
    put64(b, TINY_BASE + TINY_TEXT); /* images: address, times, path */
    put_zeros(b, 16);
    put64(b, TINY_PATH_AT);
    tiny_uuid(b, 9); /* texts: UUID, address, size, path */
    put64(b, TINY_BASE + TINY_TEXT);
    put32(b, TINY_TEXT_SIZE);
    put32(b, TINY_PATH_AT);
    tiny_uuid(b, 2);
    put64(b, TINY_DATA);
    put(b, t->is_old ? "\0\0\0" : ".01", 4);
    tiny_pad(b, TINY_PATH_AT);
    put_str(b, t->is_library ? TINY_LIBRARY : TINY_PATH);
    tiny_pad(b, TINY_SLIDE_AT);
    tiny_slide(b, t);
    tiny_pad(b, TINY_OBJC_AT + 48);
    put64(b, TINY_TEXT + TINY_NAMES_AT);
    size_t shift = t->is_split ? in_sibling : TINY_DATA_AT;
    tiny_put(b, tiny_text(t, TINY_TEXT_AT, shift, shift + TINY_DATA_SIZE));
    if (!t->is_split) {
        tiny_put(b, tiny_data(t));
        tiny_put(b, tiny_linkedit());
        tiny_put(b, tiny_locals(t, t->is_old ? (uint64_t)TINY_TEXT_AT : (uint64_t)TINY_TEXT));
        patch(b, 0x48, TINY_LOCALS_AT, 8);
        patch(b, 0x50, b->len - TINY_LOCALS_AT, 8);
    }
    patch(b, t->is_old ? 0x18 : 0x1c0, TINY_IMAGES_AT, 4);
    patch(b, t->is_old ? 0x1c : 0x1c4, 1, 4);
    if (!t->is_old) {
        patch(b, 0x88, TINY_IMAGES_AT + 32, 8);
        patch(b, 0x90, 1, 8);
    }
    if (header > 0x1d0) {
        patch(b, 0x1d0, TINY_OBJC_AT, 8);
    }
    patch(b, 0xd8, 2, 4); /* iOS */
    if (t->is_split) {
        patch(b, 0x188, TINY_SIBLINGS_AT, 4);
        patch(b, 0x18c, 1, 4);
        b->v[0x190 + 15] = (uint8_t)3;
    }
}

/* Makes the files; slide, is_split and is_old are set. An old one is not split. */
static inline void tiny_make(tiny *t)
{
    t->text_off = TINY_TEXT_AT;
    t->locals_at = TINY_LOCALS_AT;
    t->slide_at = TINY_SLIDE_AT;
    tiny_make_main(t);
    if (!t->is_split)
        return;
    size_t first = TINY_SIBLING_HEADER + 2 * 88;
    uint64_t addrs[2] = {TINY_DATA, TINY_LINKEDIT};
    size_t sizes[2] = {TINY_DATA_SIZE, TINY_LINKEDIT_SIZE};
    size_t offs[2] = {first + 64, first + 64 + TINY_DATA_SIZE};
    t->slide_at = first;
    t->sibling = tiny_header(2, TINY_SIBLING_HEADER, 2);
    tiny_mappings(&t->sibling, addrs, sizes, offs, 2, 0, first);
    tiny_slide(&t->sibling, t);
    tiny_pad(&t->sibling, first + 64);
    tiny_put(&t->sibling, tiny_data(t));
    tiny_put(&t->sibling, tiny_linkedit());
    t->symbols = tiny_header(3, TINY_SIBLING_HEADER, 0);
    t->locals_at = t->symbols.len;
    tiny_put(&t->symbols, tiny_locals(t, TINY_TEXT));
    patch(&t->symbols, 0x48, t->locals_at, 8);
    patch(&t->symbols, 0x50, t->symbols.len - t->locals_at, 8);
}

/* Hands its files over as bytes, and asks for its image. */
static inline void tiny_describe(const tiny *t, machsym_open_desc *desc, machsym_bytes parts[2])
{
    desc->bytes.ptr = t->main.v;
    desc->bytes.len = t->main.len;
    parts[0].ptr = t->symbols.v;
    parts[0].len = t->symbols.len;
    parts[1].ptr = t->sibling.v;
    parts[1].len = t->sibling.len;
    desc->cache_files = parts;
    desc->cache_file_count = t->is_split ? 2 : 0;
    desc->entry = t->is_library ? TINY_LIBRARY : TINY_PATH;
}

static inline void tiny_free(tiny *t)
{
    bytes_free(&t->main);
    bytes_free(&t->sibling);
    bytes_free(&t->symbols);
}

/* ---- A cache whose first image jumps into the others ---- */

/* What it is like. Addresses are TINY_BASE and the offset in the file. */
typedef struct jumping {
    size_t images;   /* that are jumped into: one function each, and all one symbol table */
    size_t jumps;    /* stubs of the first image, and as many islands */
    size_t symbols;  /* of the table */
    size_t unended;  /* bytes after the last text of its strings */
    size_t commands; /* bytes that the last load command of each image claims besides its own */
    bool is_x86_64;  /* else arm64 */
    bytes file;
    size_t code_at; /* of the islands; the stubs are after them */
    size_t tables_at;
} jumping;

#define JUMPING_PATH "/a" /* of the first image; the others have it too */

enum {
    JUMPING_FIRST = 0x240,                     /* after the header and its mapping */
    JUMPING_COMMANDS = 2 * 72 + 80 + 24,       /* of an image; the first one has more */
    JUMPING_OTHER = 32 + JUMPING_COMMANDS + 16 /* with its function */
};

static inline size_t jumping_pointers(const jumping *j)
{
    return j->code_at + 32 * j->jumps;
}

/* Where image number i begins, of those that are jumped into, and where its function is. */
static inline size_t jumping_image_at(const jumping *j, size_t i)
{
    return jumping_pointers(j) + 8 * j->jumps + JUMPING_OTHER * i;
}

static inline size_t jumping_function_at(const jumping *j, size_t i)
{
    return jumping_image_at(j, i) + JUMPING_OTHER - 16;
}

static inline void jumping_section(bytes *b, const char *name, size_t off, size_t size, uint32_t flags,
                                   uint32_t one)
{
    tiny_section(b, "__TEXT", name, off, size, off, flags);
    patch(b, b->len - 8, one, 4);
}

/* An image's header and load commands. */
static inline void jumping_image(const jumping *j, bytes *b, size_t size, bool is_first)
{
    size_t tables = 16 * j->symbols + 8 + j->unended;
    size_t begin = b->len;
    size_t claimed = is_first ? 0 : j->commands;
    put32(b, 0xfeedfacf);
    put32(b, j->is_x86_64 ? 0x01000007 : 0x0100000c);
    put32(b, j->is_x86_64 ? 3 : 0);
    put32(b, 6); /* MH_DYLIB */
    put32(b, is_first ? 4 : 3);
    put32(b, JUMPING_COMMANDS + (is_first ? 80 + 16 : 0) + claimed);
    put64(b, 0x80000000); /* MH_DYLIB_IN_CACHE */
    tiny_segment(b, "__TEXT", begin, size, begin, is_first ? 2 : 1);
    if (is_first) {
        jumping_section(b, "__text", j->code_at, 16 * j->jumps, 0x80000400, 0);
        jumping_section(b, "__stubs", j->code_at + 16 * j->jumps, 16 * j->jumps, 0x80000408, 16);
    } else {
        jumping_section(b, "__text", begin + size - 16, 16, 0x80000400, 0);
    }
    tiny_segment(b, "__LINKEDIT", j->tables_at, tables + j->jumps + 16, j->tables_at, 0);
    put32(b, 2); /* LC_SYMTAB */
    put32(b, 24 + claimed);
    put32(b, j->tables_at);
    put32(b, j->symbols);
    put32(b, j->tables_at + 16 * j->symbols);
    put32(b, 8 + j->unended);
    if (is_first)
        tiny_command(b, 0x26, j->tables_at + tables, j->jumps + 8);
}

/* Sixteen bytes at addr that jump to a target: straight, or through a pointer to it. */
static inline void jumping_code(const jumping *j, bytes *b, unsigned kind, uint64_t target, uint64_t pointer)
{
    uint64_t addr = b->len;
    uint64_t goal = kind < 2 ? target : pointer;
    uint64_t pages = (goal >> 12) - (addr >> 12);
    size_t end = b->len + 16;
    if (j->is_x86_64) {
        put(b, kind < 2 ? "\351" : "\377\45", kind < 2 ? 1 : 2);
        put32(b, goal - addr - (kind < 2 ? 5 : 6));
    } else if (kind == 0) { /* b */
        put32(b, 0x14000000 | ((goal - addr) >> 2 & 0x3ffffff));
    } else { /* adrp x16 */
        put32(b, 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
        if (kind != 2) /* add x16 */
            put32(b, 0x91000210 | (goal & 0xfff) << 10);
        if (kind != 1) /* ldr x16 */
            put32(b, 0xf9400210 | (kind == 2 ? (goal & 0xfff) / 8 << 10 : 0));
        put32(b, kind == 3 ? 0xd71f0a11 : 0xd61f0200); /* braa x16, x17; br x16 */
    }
    tiny_pad(b, end);
}

/* The table of symbols, which local symbols have once more; its texts are after it. */
static inline void jumping_symbols(const jumping *j, bytes *b, unsigned type)
{
    for (size_t i = 0; i < j->symbols; i++)
        tiny_nlist(b, 1, type, TINY_BASE + jumping_function_at(j, i % j->images));
    put(b, "\0_far\0\0", 8);
}

/* What says of all images that they have all local symbols; the first image comes last. */
static inline void jumping_locals(const jumping *j, bytes *b)
{
    size_t begin = b->len;
    size_t entries = 24 + 16 * j->symbols + 8;
    put32(b, 24);
    put32(b, j->symbols);
    put32(b, entries - 8);
    put32(b, 8);
    put32(b, entries);
    put32(b, j->images + 1);
    jumping_symbols(j, b, 0x0e);
    for (size_t i = j->images + 1; i-- > 0;) {
        put64(b, i == 0 ? (size_t)JUMPING_FIRST : jumping_image_at(j, i - 1));
        put32(b, 0);
        put32(b, j->symbols);
    }
    patch(b, 0x48, begin, 8);
    patch(b, 0x50, b->len - begin, 8);
}

/* The images' list, and the one path. */
static inline void jumping_list(const jumping *j, bytes *b)
{
    size_t begin = b->len;
    for (size_t i = 0; i <= j->images; i++) {
        tiny_uuid(b, 9);
        put64(b, TINY_BASE + (i == 0 ? (size_t)JUMPING_FIRST : jumping_image_at(j, i - 1)));
        put32(b, i == 0 ? jumping_pointers(j) - JUMPING_FIRST : (size_t)JUMPING_OTHER);
        put32(b, begin + 32 * (j->images + 1));
    }
    put_str(b, JUMPING_PATH);
    patch(b, 0x88, begin, 8);
    patch(b, 0x90, j->images + 1, 8);
}

/* Makes the file; all but file and offsets is set. */
static inline void jumping_make(jumping *j)
{
    const uint64_t addr = 0;
    const size_t off = 0;
    bytes lists = {NULL, 0, 0};
    bytes *b = &j->file;
    *b = tiny_header(1, TINY_HEADER, 1);
    if (j->is_x86_64)
        memcpy(b->v, "dyld_v1  x86_64", 16);
    j->code_at = JUMPING_FIRST + 32 + JUMPING_COMMANDS + 80 + 16;
    j->tables_at = jumping_image_at(j, j->images);
    tiny_pad(b, JUMPING_FIRST);
    jumping_image(j, b, jumping_pointers(j) - JUMPING_FIRST, true);
    for (size_t i = 0; i < 2 * j->jumps; i++) {
        size_t k = i % j->jumps;
        jumping_code(j, b, i % 4, jumping_function_at(j, k % j->images), jumping_pointers(j) + 8 * k);
    }
    for (size_t k = 0; k < j->jumps; k++)
        put64(b, TINY_BASE + jumping_function_at(j, k % j->images));
    for (size_t i = 0; i < j->images; i++) {
        jumping_image(j, b, JUMPING_OTHER, false);
        put_zeros(b, 16);
    }
    jumping_symbols(j, b, 0x0f);
    for (size_t i = 0; i < j->unended; i++)
        put8(b, 'a');
    put_uleb(b, j->code_at - JUMPING_FIRST); /* function starts */
    for (size_t k = 1; k < j->jumps; k++)
        put8(b, 16);
    put_zeros(b, 16);
    jumping_locals(j, b);
    jumping_list(j, b);
    tiny_mappings(&lists, &addr, &b->len, &off, 1, 1, 0);
    memcpy(b->v + TINY_HEADER, lists.v, lists.len);
    bytes_free(&lists);
}

#endif
