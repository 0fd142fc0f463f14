/* dyld shared caches: those that tests/cache builds, with all that LLVM's tools said of the dylibs in them
 * (truth.tsv), and what hand-made headers make of the reader. */
#define TEST_ROOM <rooms/src/image/image.h>
#include "test.h"
#include "make_cache.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the Makefile has the caches built: $B/caches for $B/tests/test_cache. */
static char folder[512];

/* ---- What must be found ---- */

/* A row of truth.tsv. */
typedef struct row {
    char kind[8];
    char image[128];
    uint64_t addr;
    char name[256];
} row;

/* A cache of tests/cache. */
typedef struct made {
    const char *name;
    const char *file;
    size_t files;      /* that it consists of */
    size_t images;     /* that it lists */
    bool has_locals;   /* names of local symbols are somewhere */
    bool has_uuids;    /* in its list of images */
    bool has_link;     /* the list without UUIDs has a second path of an image */
    uint32_t platform; /* that it is for; 0: the header does not tell */
} made;

static const made caches[] = {
    {"ios17", "dyld_shared_cache_arm64e", 1, 6, true, true, false, 2},
    {"ios16", "dyld_shared_cache_arm64e", 4, 6, true, true, false, 2},
    {"ios15", "dyld_shared_cache_arm64e", 4, 6, true, true, false, 2},
    {"ios14", "dyld_shared_cache_arm64e", 1, 6, true, true, true, 2},
    {"ios13", "dyld_shared_cache_arm64", 1, 6, true, true, true, 2},
    {"ios8", "dyld_shared_cache_arm64", 1, 6, true, false, true, 0},
    {"ios6", "dyld_shared_cache_armv7", 1, 6, true, false, true, 0},
    {"macos12", "dyld_shared_cache_x86_64h", 2, 6, false, true, false, 1},
    {"watchos9", "dyld_shared_cache_arm64_32", 1, 6, true, true, false, 4},
    {"watchos5", "dyld_shared_cache_armv7k", 1, 6, true, true, true, 4},
};

static FILE *open_truth(const char *name)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s/truth.tsv", folder, name);
    return fopen(path, "r");
}

static bool next_row(FILE *in, row *out)
{
    unsigned long long addr;
    memset(out, 0, sizeof *out);
    bool ok =
        fscanf(in, "%7[^\t]\t%127[^\t]\t%llx\t%255[^\n]\n", out->kind, out->image, &addr, out->name) == 4;
    out->addr = ok ? addr : 0;
    return ok;
}

static machsym_image *open_cache(const made *cache, uint32_t flags)
{
    char path[700];
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    snprintf(path, sizeof path, "%s/%s/%s", folder, cache->name, cache->file);
    desc.path = path;
    desc.flags = flags;
    return test_open_desc(&desc);
}

static machsym_image *open_in(const machsym_image *cache, const char *entry, uint32_t flags)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.from = cache;
    desc.entry = entry;
    desc.flags = flags;
    return test_open_desc(&desc);
}

static machsym_session *open_session(const machsym_image *image)
{
    machsym_session_desc desc;
    machsym_session *s = NULL;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    CHECK_EQ(machsym_session_open(&desc, &s, NULL), MACHSYM_OK);
    return s;
}

/* ---- Lists ---- */

static void read_uuid(const char *text, machsym_uuid *out)
{
    for (unsigned i = 0; i < 16; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        out->v[i] = (uint8_t)byte;
    }
}

/* The images of a cache, by each way to them. */
static void compare_images(const made *cache, const machsym_image *image)
{
    test_begin();
    FILE *in = open_truth(cache->name);
    row truth;
    size_t count = 0;
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    while (machsym_image_next_entry(image, &at, &entry))
        count += entry.addr != 0 && entry.name.len != 0;
    CHECK_EQ(count, cache->images);
    for (count = 0; next_row(in, &truth);) {
        machsym_uuid uuid;
        machsym_image_info info;
        if (strcmp(truth.kind, "image") != 0)
            continue;
        count++;
        read_uuid(truth.name, &uuid);
        CHECK(machsym_image_entry_at_addr(image, truth.addr, &entry));
        CHECK_STR(entry.name, truth.image);
        CHECK_EQ(entry.addr, truth.addr);
        CHECK_EQ(entry.has_uuid, cache->has_uuids);
        CHECK(!entry.has_uuid || memcmp(&entry.uuid, &uuid, sizeof uuid) == 0);
        machsym_image *one = open_in(image, truth.image, 0);
        machsym_image_get_info(one, &info);
        CHECK(memcmp(&info.slice.uuid, &uuid, sizeof uuid) == 0);
        CHECK_EQ(info.text_addr, truth.addr);
        CHECK_EQ(info.damage_count, 0);
        CHECK(machsym_image_entry_at_addr(image, truth.addr + info.text_size - 1, &entry) &&
              entry.addr == truth.addr);
        CHECK(!cache->has_uuids || entry.size == info.text_size);
        CHECK(!machsym_image_next_entry(one, &at, &entry));
        const char *base = strrchr(truth.image, '/') + 1;
        CHECK_STR(info.name, base);
        machsym_image_close(one);
        one = open_in(image, base, 0); /* no two have one name */
        machsym_image_get_info(one, &info);
        CHECK_EQ(info.text_addr, truth.addr);
        machsym_image_close(one);
    }
    CHECK_EQ(count, cache->images);
    CHECK(!machsym_image_entry_at_addr(image, 0, &entry) &&
          !machsym_image_entry_at_addr(image, UINT64_MAX, &entry));
    fclose(in);
    test_end(cache->name);
}

static void compare_header(const made *cache, const machsym_image *image)
{
    machsym_image_info info;
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    size_t count = 0;
    machsym_image_get_info(image, &info);
    CHECK_TEXT(info.slice.arch, strrchr(cache->file, '_') + 1 - (strstr(cache->file, "64_32") ? 6 : 0) -
                                    (strstr(cache->file, "x86") ? 4 : 0));
    CHECK(info.slice.has_uuid && info.damage_count == 0);
    CHECK_EQ(info.platform, cache->platform);
    CHECK_STR(info.name, cache->file);
    while (machsym_image_next_cache_file(image, &at, &file)) {
        CHECK_EQ(file.status, MACHSYM_CACHE_FILE_FOUND);
        CHECK(file.size > 0 && ms_str_begins(file.name, cache->file));
        count++;
    }
    CHECK_EQ(count, cache->files);
}

/* ---- Names ---- */

/* Whether a name starts at an address, under any of its aliases. */
static bool has_name(machsym_session *s, uint64_t addr, const char *name)
{
    machsym_cursor at = {0, 0};
    machsym_str found;
    while (machsym_session_next_alias_at_addr(s, addr, &at, &found)) {
        if (ms_str_is(found, name))
            return true;
    }
    return false;
}

static const char *plain(const char *name)
{
    return name[0] == '_' ? name + 1 : name;
}

/* All rows of one image. bare: without its symbol table, where Objective-C and exports must do. */
static void compare_names(const made *cache, const machsym_image *image, const char *name, bool bare)
{
    test_begin();
    FILE *in = open_truth(cache->name);
    row truth;
    machsym_image *one = open_in(image, name, bare ? MACHSYM_OPEN_NO_SYMTAB : 0);
    machsym_session *s = open_session(one);
    while (next_row(in, &truth)) {
        machsym_frame frame;
        bool is_text = toupper(truth.kind[0]) == 'T' && truth.kind[1] == 0;
        bool is_method = truth.name[0] == '-' || truth.name[0] == '+';
        if (strcmp(truth.image, name) != 0)
            continue;
        if (is_text && (bare ? is_method : truth.kind[0] == 'T' || cache->has_locals)) {
            bool ok = has_name(s, truth.addr, plain(truth.name));
            if (!ok)
                printf("%s %s%s: %s is missing\n", cache->name, name, bare ? " bare" : "", truth.name);
            CHECK(ok);
        }
        if (is_text || strcmp(truth.kind, "start") == 0) {
            for (unsigned past = 0; past < 4; past += 2) {
                size_t count = machsym_session_frames_at_addr(s, truth.addr + past, &frame, 1);
                CHECK(count == 1 && frame.function_start == truth.addr);
                if (is_text && is_method && (bare || cache->has_locals))
                    CHECK_STR(frame.linkage_name, truth.name);
                CHECK(!ms_str_begins(frame.linkage_name, "<redacted") &&
                      !ms_str_begins(frame.name, "<redac"));
            }
        }
    }
    machsym_session_close(s);
    machsym_image_close(one);
    fclose(in);
    test_end(cache->name);
}

/* The pointer at an address, by a copy that begins and ends inside of others, but for the ends of a page. */
static uint64_t copied_pointer(const machsym_image *image, uint64_t addr, unsigned size)
{
    uint8_t bytes[16];
    uint64_t pointer = 0;
    size_t before = addr % 0x1000 != 0 ? 3 : 0;
    size_t len = before + size + ((addr + size) % 0x1000 != 0 ? 3 : 0);
    memset(bytes, 0xa5, sizeof bytes);
    CHECK_EQ(machsym_image_read_cache_at_addr(image, addr - before, bytes, len), len);
    for (size_t i = size; i-- > 0;)
        pointer = pointer << 8 | bytes[before + i];
    CHECK_EQ(bytes[len], 0xa5);
    return pointer;
}

static void compare_pointers(const made *cache, const machsym_image *image)
{
    FILE *in = open_truth(cache->name);
    row truth;
    size_t count = 0;
    const ms_dc *dc = &image->cache->dc;
    unsigned size = image->mo[0].is_64 ? 8 : 4;
    test_begin();
    while (next_row(in, &truth)) {
        if (strcmp(truth.kind, "pointer") != 0)
            continue;
        CHECK_EQ(ms_dc_pointer_at(dc, truth.addr, size), strtoull(truth.name, NULL, 16));
        CHECK_EQ(copied_pointer(image, truth.addr, size), strtoull(truth.name, NULL, 16));
        count++;
    }
    CHECK(count > 100);
    test_end("pointers of a cache");
    fclose(in);
}

/* An old list has another path of libbase, which leads to the same image. */
static void check_link(const machsym_image *image)
{
    char name[] = "/usr/lib/libbase.1.dylib";
    machsym_image_info info;
    machsym_image *base = open_in(image, "/usr/lib/libbase.dylib", 0);
    machsym_image *link = open_in(image, name, 0);
    memset(name, 'x', sizeof name - 1); /* the image keeps nothing of the descriptor */
    machsym_image_get_info(link, &info);
    CHECK_STR(info.name, "libbase.1.dylib");
    CHECK_EQ(info.text_addr, base->mo[0].text_addr);
    machsym_image_close(link);
    machsym_image_close(base);
}

static void test_made(void)
{
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        const made *cache = &caches[i];
        machsym_image *image = open_cache(cache, 0);
        machsym_cursor at = {0, 0};
        machsym_entry entry;
        if (image == NULL)
            continue;
        compare_header(cache, image);
        compare_images(cache, image);
        compare_pointers(cache, image);
        if (cache->has_link)
            check_link(image);
        while (machsym_image_next_entry(image, &at, &entry)) {
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)entry.name.len, entry.name.ptr);
            compare_names(cache, image, name, false);
            compare_names(cache, image, name, true);
        }
        machsym_image_close(image);
    }
}

/* ---- Pointers ---- */

/* Values as dyld_cache_format.h lays out their bits. */
static void test_pointers(void)
{
    static const struct {
        uint32_t version;
        uint64_t raw;
        uint64_t addr;
    } cases[] = {
        {0, 0x180001234, 0x180001234},
        {1, 0x180001234, 0x180001234},
        {2, 0x0000000012345678, 0x192345678},
        {2, 0x0000ff0012345678, 0x192345678}, /* the distance to the next */
        {2, 0x8000000012345678, 0x192345678}, /* a tag in the upper byte */
        {2, 0x0000ff0000000000, 0},           /* NULL in a chain */
        {3, 0x0000000192345678, 0x192345678},
        {3, 0x3ff8000192345678, 0x192345678}, /* next: 11 bits */
        {3, 0x0007f80192345678, 0x192345678}, /* bits 43 to 50 are a tag */
        {3, 0x8000000092345678, 0x212345678}, /* signed: 32 bits, from the base */
        {3, 0xbffdabcd92345678, 0x212345678},
        {5, 0x0000000012345678, 0x192345678},
        {5, 0x0000000312345678, 0x492345678}, /* 34 bits */
        {5, 0x7ff003fc12345678, 0x192345678}, /* a tag in 8 bits, next in 11 */
        {5, 0xffffabff12345678, 0x492345678}, /* signed */
        {6, 0x0000000012345678, 0},           /* a version to come */
        {3, 0, 0},
        {5, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ms_dc_mapping mapping;
        memset(&mapping, 0, sizeof mapping);
        mapping.slide_version = cases[i].version;
        mapping.value_add = cases[i].version >= 2 ? 0x180000000 : 0;
        mapping.delta_mask = cases[i].version == 2 ? 0x0000ff0000000000 : 0;
        CHECK_EQ(ms_dc_decode(&mapping, cases[i].raw), cases[i].addr);
    }
    static const uint32_t small[][3] = {/* version 4: raw, as a pointer, as a number */
                                        {0x02345678, 0x1c345678, 0x02345678},
                                        {0xc2345678, 0x1c345678, 0xc2345678},
                                        {0x8000000c, 0, 0xc},
                                        {0x00007fff, 0, 0x7fff},
                                        {0x3fffffff, 0, 0xffffffff},
                                        {0xffff8000, 0, 0xffff8000}};
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        ms_dc dc;
        ms_dc_mapping mapping;
        uint8_t raw[4];
        memset(&dc, 0, sizeof dc);
        memset(&mapping, 0, sizeof mapping);
        for (unsigned j = 0; j < 4; j++)
            raw[j] = (uint8_t)(small[i][0] >> 8 * j);
        mapping.addr = 0x1a000000;
        mapping.size = 4;
        mapping.bytes = ms_span_make(raw, 4);
        mapping.slide_version = 4;
        mapping.delta_mask = 0xc0000000;
        mapping.value_add = 0x1a000000;
        dc.mappings = &mapping;
        dc.count = 1;
        CHECK_EQ(ms_dc_pointer_at(&dc, mapping.addr, 4), small[i][1]);
        CHECK_EQ(ms_dc_number_at(&dc, mapping.addr), small[i][2]);
        CHECK_EQ(ms_dc_pointer_at(&dc, mapping.addr, 8) | ms_dc_pointer_at(&dc, mapping.addr + 1, 4), 0);
    }
}

/* ---- A cache made by hand ---- */

/* How its files are handed over: as bytes. */
static machsym_open_desc tiny_desc(const tiny *t, machsym_bytes parts[2])
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    tiny_describe(t, &desc, parts);
    desc.entry = NULL;
    return desc;
}

/* Names of the three functions: by Objective-C, by local symbols, by an export. */
static void check_tiny_names(const machsym_image *image, bool has_data, bool has_locals)
{
    static const uint64_t code = TINY_BASE + TINY_TEXT + TINY_CODE_AT;
    const char *const names[] = {"-[Tiny go]", has_locals ? "tiny_local" : "-[Tiny stop]", "tiny_open"};
    machsym_session *s = open_session(image);
    machsym_frame frame;
    for (unsigned i = 0; i < 3; i++) {
        size_t count = machsym_session_frames_at_addr(s, code + 16 * i + 15, &frame, 1);
        CHECK_EQ(count, has_data); /* without function starts no name would end */
        if (count == 0)
            continue;
        CHECK_STR(frame.linkage_name, names[i]);
        CHECK_EQ(frame.function_start, code + 16 * i);
        CHECK_EQ(frame.function_size, 16);
        CHECK((frame.name_source == MACHSYM_SOURCE_OBJC) == (names[i][0] == '-'));
    }
    CHECK_EQ(machsym_session_frames_at_addr(s, code + 48, &frame, 1), 0);
    machsym_session_close(s);
}

static void test_tiny(void)
{
    static const tiny kinds[] = {{.slide = 1},
                                 {.slide = 2},
                                 {.slide = 3, .is_old = true},
                                 {.slide = 5},
                                 {.slide = 3, .is_split = true},
                                 {.slide = 5, .is_library = true}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tiny t = kinds[i];
        machsym_bytes parts[2];
        machsym_image_info info;
        tiny_make(&t);
        machsym_open_desc desc = tiny_desc(&t, parts);
        tiny_describe(&t, &desc, parts);
        machsym_image *image = test_open_desc(&desc);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.damage_count, 0);
        CHECK_EQ(info.symbol_count, 3);
        check_tiny_names(image, true, true);
        machsym_image_close(image);
        tiny_free(&t);
    }
}

static machsym_result open_tiny(machsym_open_desc desc, const char *entry, machsym_image **image)
{
    desc.entry = entry;
    return machsym_image_open(&desc, image, NULL);
}

static size_t place_of(const bytes *b, const char *text, size_t len)
{
    for (size_t i = 0; i + len <= b->len; i++)
        if (memcmp(b->v + i, text, len) == 0)
            return i;
    CHECK(false);
    return 0;
}

static bool is_named(machsym_session *s, uint64_t addr, const char *name)
{
    machsym_frame frame;
    return machsym_session_frames_at_addr(s, addr, &frame, 1) == 1 && ms_str_is(frame.linkage_name, name);
}

/* What selectors count from stands in libobjc's __objc_opt_ro from version 16 on (objc-shared-cache.h). Without it
 * methods have no names, and the others keep theirs. */
static void test_selectors(void)
{
    uint64_t code = TINY_BASE + TINY_TEXT + TINY_CODE_AT;
    for (unsigned damage = 0; damage < 5; damage++) {
        tiny t = {.slide = 5, .is_library = true};
        machsym_bytes parts[2];
        machsym_image *image = NULL;
        tiny_make(&t);
        size_t text = t.text_off;
        switch (damage) {
        case 1: patch(&t.main, text, 0, 4); break;
        case 2: patch(&t.main, place_of(&t.main, "__objc_opt_ro", 13), 0, 4); break;
        case 3: patch(&t.main, text + TINY_TABLE_AT, 15, 4); break;
        case 4: patch(&t.main, text + TINY_TABLE_AT + 40, 0, 8); break;
        default: break;
        }
        CHECK_EQ(open_tiny(tiny_desc(&t, parts), NULL, &image), MACHSYM_OK);
        machsym_image_close(image);
        machsym_result result = open_tiny(tiny_desc(&t, parts), TINY_LIBRARY, &image);
        CHECK_EQ(result == MACHSYM_OK, damage != 1);
        if (result != MACHSYM_OK) {
            tiny_free(&t);
            continue;
        }
        machsym_session *s = open_session(image);
        CHECK_EQ(is_named(s, code + 15, "-[Tiny go]"), damage == 0);
        CHECK(is_named(s, code + 31, "tiny_local"));
        machsym_session_close(s);
        machsym_image_close(image);
        tiny_free(&t);
    }
}

static void put_file(const char *folder, const char *name, const bytes *b)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fwrite(b->v, 1, b->len, out) == b->len);
    if (out != NULL)
        fclose(out);
}

/* Opens a cache by its path, and returns what became of its second file. */
static machsym_cache_file_status second_file(const char *folder, const char *name)
{
    char path[256];
    machsym_open_desc desc;
    machsym_image *image = NULL;
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    memset(&desc, 0, sizeof desc);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    desc.path = path;
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    CHECK(machsym_image_next_cache_file(image, &at, &file) &&
          machsym_image_next_cache_file(image, &at, &file));
    machsym_image_close(image);
    return file.status;
}

/* A file lies beside the main one, under its name or that without .development (dyld: mapCacheFiles). A suffix that
 * leads into another folder is not followed, and a folder is no file. */
static void test_beside(void)
{
    tiny t = {.slide = 5, .is_split = true};
    char folder[64];
    char path[128];
    tiny_make(&t);
    snprintf(folder, sizeof folder, "/tmp/machsym-test-cache-%ld", (long)getpid());
    CHECK_EQ(mkdir(folder, 0700), 0);
    put_file(folder, "small", &t.main);
    put_file(folder, "shared_cache", &t.main);
    put_file(folder, "shared_cache.development", &t.main);
    CHECK_EQ(second_file(folder, "small"), MACHSYM_CACHE_FILE_MISSING);
    CHECK_EQ(second_file(folder, "shared_cache"), MACHSYM_CACHE_FILE_MISSING);
    CHECK_EQ(second_file(folder, "shared_cache.development"), MACHSYM_CACHE_FILE_MISSING);
    put_file(folder, "shared_cache.01", &t.sibling);
    CHECK_EQ(second_file(folder, "shared_cache"), MACHSYM_CACHE_FILE_FOUND);
    CHECK_EQ(second_file(folder, "shared_cache.development"), MACHSYM_CACHE_FILE_FOUND);
    snprintf(path, sizeof path, "%s/small.01", folder);
    CHECK_EQ(mkdir(path, 0700), 0);
    CHECK_EQ(second_file(folder, "small"), MACHSYM_CACHE_FILE_MISSING);
    CHECK_EQ(rmdir(path), 0);
    memcpy(t.main.v + place_of(&t.main, ".01", 4), "x/1", 3);
    put_file(folder, "small", &t.main);
    snprintf(path, sizeof path, "%s/smallx", folder);
    CHECK_EQ(mkdir(path, 0700), 0);
    put_file(path, "1", &t.sibling);
    CHECK_EQ(second_file(folder, "small"), MACHSYM_CACHE_FILE_MISSING);
    static const char *const names[] = {"small",           "shared_cache", "shared_cache.development",
                                        "shared_cache.01", "smallx/1",     "smallx"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK_EQ(remove(path), 0);
    }
    CHECK_EQ(rmdir(folder), 0);
    tiny_free(&t);
}

/* Files of a split cache that are missing, or that belong to another one. */
static void test_siblings(void)
{
    tiny t = {.slide = 5, .is_split = true};
    machsym_bytes parts[2];
    machsym_image *image = NULL;
    tiny_make(&t);
    for (unsigned has = 0; has < 8; has++) { /* bits: symbols, data; whether what lacks has another UUID */
        machsym_open_desc desc = tiny_desc(&t, parts);
        bool other = (has & 4) != 0;
        machsym_cursor at = {0, 0};
        machsym_cache_file file;
        machsym_image_info info;
        desc.cache_file_count = 0;
        bytes strange = {NULL, 0, 0};
        put_bytes(&strange, &t.sibling);
        strange.v[0x58] = 1;
        machsym_bytes given[2];
        for (unsigned i = 0; i < 2; i++) {
            if ((has >> i & 1) != 0)
                given[desc.cache_file_count++] = parts[i];
            else if (other)
                given[desc.cache_file_count++] = (machsym_bytes){strange.v, strange.len};
        }
        desc.cache_files = given;
        CHECK_EQ(open_tiny(desc, NULL, &image), MACHSYM_OK);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.damage_count, (has & 2) == 0);
        CHECK(machsym_image_next_cache_file(image, &at, &file) && file.status == MACHSYM_CACHE_FILE_FOUND);
        CHECK(machsym_image_next_cache_file(image, &at, &file) && !file.has_symbols);
        CHECK_EQ(file.status, (has & 2) != 0 ? MACHSYM_CACHE_FILE_FOUND : MACHSYM_CACHE_FILE_MISSING);
        CHECK_STR(file.name, ".01");
        CHECK_EQ(file.addr, TINY_BASE + TINY_DATA);
        CHECK(machsym_image_next_cache_file(image, &at, &file) && file.has_symbols);
        CHECK_EQ(file.status, (has & 1) != 0 ? MACHSYM_CACHE_FILE_FOUND : MACHSYM_CACHE_FILE_MISSING);
        CHECK(!machsym_image_next_cache_file(image, &at, &file));
        machsym_image_close(image);
        CHECK_EQ(open_tiny(desc, "libtiny.dylib", &image), MACHSYM_OK);
        machsym_image_get_info(image, &info);
        CHECK((info.damage_count != 0) == ((has & 2) == 0)); /* __DATA, __LINKEDIT and its tables */
        CHECK_EQ(info.damage_count, (has & 2) == 0 ? 6 : 0);
        check_tiny_names(image, (has & 2) != 0, (has & 1) != 0);
        machsym_image_close(image);
        bytes_free(&strange);
    }
    tiny_free(&t);
}

static void test_refused(void)
{
    static const machsym_uuid of_cache = {{[15] = 1}};
    static const machsym_uuid of_image = {{[15] = 9}};
    tiny t = {.slide = 5};
    machsym_bytes parts[2];
    machsym_image *image = NULL;
    machsym_slice slice;
    machsym_error err;
    tiny_make(&t);
    machsym_open_desc desc = tiny_desc(&t, parts);
    CHECK_EQ(machsym_list_slices(&desc, &slice, 1, &err), 1);
    CHECK(err.code == MACHSYM_OK && strcmp(slice.arch, "arm64e") == 0);
    CHECK(slice.has_uuid && memcmp(&slice.uuid, &of_cache, 16) == 0);
    desc.arch = "arm64e";
    desc.uuid = &of_cache;
    CHECK_EQ(open_tiny(desc, NULL, &image), MACHSYM_OK);
    machsym_open_desc from;
    memset(&from, 0, sizeof from);
    from.from = image;
    machsym_image *one = NULL;
    CHECK_EQ(open_tiny(from, NULL, &one), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(open_tiny(from, "libtiny", &one), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(open_tiny(from, "/libtiny.dylib", &one), MACHSYM_ERR_ARGUMENT);
    from.uuid = &of_cache;
    CHECK_EQ(open_tiny(from, TINY_PATH, &one), MACHSYM_ERR_UUID);
    from.uuid = &of_image;
    CHECK_EQ(open_tiny(from, TINY_PATH, &one), MACHSYM_OK);
    from.from = one; /* an image of a cache leads to the others as well */
    machsym_image *other = NULL;
    CHECK_EQ(open_tiny(from, TINY_PATH, &other), MACHSYM_OK);
    machsym_image_close(other);
    machsym_image_close(one);
    machsym_image_close(image);
    desc.uuid = &of_image;
    CHECK_EQ(open_tiny(desc, NULL, &image), MACHSYM_ERR_UUID);
    desc.uuid = NULL;
    desc.arch = "arm64";
    CHECK_EQ(open_tiny(desc, NULL, &image), MACHSYM_ERR_ARCH);
    desc.arch = NULL;
    desc.pair_bytes = desc.bytes;
    CHECK_EQ(open_tiny(desc, NULL, &image), MACHSYM_ERR_PAIR);
    memset(&desc.pair_bytes, 0, sizeof desc.pair_bytes);
    patch(&t.main, 0x90, 2, 8); /* another image with a path of the same end */
    patch(&t.main, TINY_SIBLINGS_AT + 28, TINY_PATH_AT + 4, 4);
    CHECK_EQ(open_tiny(desc, "libtiny.dylib", &image), MACHSYM_ERR_AMBIGUOUS);
    CHECK_EQ(open_tiny(desc, TINY_PATH, &image), MACHSYM_OK);
    machsym_image_close(image);
    CHECK_EQ(open_tiny(desc, &TINY_PATH[4], &image), MACHSYM_ERR_DAMAGED); /* it lies nowhere */
    desc.bytes.len = 0x40;
    CHECK_EQ(open_tiny(desc, NULL, &image), MACHSYM_ERR_DAMAGED);
    CHECK_EQ(machsym_list_slices(&desc, &slice, 1, &err), 0);
    CHECK_EQ(err.code, MACHSYM_ERR_DAMAGED);
    tiny_free(&t);
}

static size_t read_tiny(void *user, uint64_t offset, void *out, size_t len)
{
    const bytes *file = (const bytes *)user;
    CHECK(offset <= file->len && len <= file->len - offset);
    memcpy(out, file->v + offset, len);
    return len;
}

/* A list of slices reads only the begin of a cache that comes by a reader, and still has the size of the
 * cache. */
static void test_listed(void)
{
    tiny t = {.slide = 5};
    machsym_open_desc desc;
    machsym_slice slice;
    tiny_make(&t);
    put_zeros(&t.main, 40000);
    memset(&desc, 0, sizeof desc);
    desc.io.read = read_tiny;
    desc.io.user = &t.main;
    desc.io.size = t.main.len;
    CHECK_EQ(machsym_list_slices(&desc, &slice, 1, NULL), 1);
    CHECK_EQ(slice.size, t.main.len);
    tiny_free(&t);
}

/* Two paths of one image have the same last part: it means that image. */
static void test_linked(void)
{
    tiny t = {.slide = 3, .is_old = true};
    machsym_bytes parts[2];
    machsym_image *image = NULL;
    tiny_make(&t);
    patch(&t.main, 0x1c, 2, 4);
    patch(&t.main, TINY_IMAGES_AT + 32, TINY_BASE + TINY_TEXT, 8);
    patch(&t.main, TINY_IMAGES_AT + 32 + 24, TINY_PATH_AT + 4, 4);
    machsym_open_desc desc = tiny_desc(&t, parts);
    CHECK_EQ(open_tiny(desc, "libtiny.dylib", &image), MACHSYM_OK);
    machsym_image_close(image);
    patch(&t.main, TINY_IMAGES_AT + 32, TINY_BASE + TINY_DATA, 8);
    CHECK_EQ(open_tiny(desc, "libtiny.dylib", &image), MACHSYM_ERR_AMBIGUOUS);
    tiny_free(&t);
}

/* What the lists of a header leave out is reported. */
static void test_limits(void)
{
    static const struct {
        size_t at;
        uint32_t count;
        size_t len; /* of the file; 0: its own */
        const char *what;
    } cases[] = {
        {0x18c, 300, 0, "the list of the other files runs past the end of the file"},
        {0x18c, 300, 20000, "the cache has more files than MACHSYM_MAX_CACHE_FILES"},
        {0x14, 65, 20000, "a file has more mappings than MACHSYM_MAX_CACHE_MAPPINGS"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny t = {.slide = 5, .is_split = true};
        machsym_bytes parts[2];
        machsym_image_info info;
        tiny_make(&t);
        put_zeros(&t.main, cases[i].len);
        patch(&t.main, cases[i].at, cases[i].count, 4);
        machsym_open_desc desc = tiny_desc(&t, parts);
        machsym_image *image = test_open_desc(&desc);
        machsym_image_get_info(image, &info);
        CHECK(info.damage_count > 0);
        CHECK_TEXT(info.damage.what, cases[i].what);
        machsym_image_close(image);
        tiny_free(&t);
    }
}

/* ---- Damage ---- */

/* Uses all that opens; every answer must keep to the code. */
static void use_tiny(const tiny *t, machsym_open_desc desc)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    machsym_image *image = NULL;
    machsym_image *one = NULL;
    machsym_frame frame;
    (void)t;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return;
    machsym_image_entry_at_addr(image, TINY_BASE + TINY_TEXT, &entry);
    for (unsigned i = 0; i < 4 && machsym_image_next_entry(image, &at, &entry); i++) {
        char name[64];
        machsym_open_desc from;
        memset(&from, 0, sizeof from);
        snprintf(name, sizeof name, "%.*s", (int)(entry.name.len < 63 ? entry.name.len : 63),
                 entry.name.len != 0 ? entry.name.ptr : "");
        from.from = image;
        if (open_tiny(from, name, &one) != MACHSYM_OK)
            continue;
        machsym_session *s = open_session(one);
        test_begin();
        for (unsigned off = 0; off < TINY_CODE; off += 8) {
            uint64_t addr = TINY_BASE + TINY_TEXT + TINY_CODE_AT + off;
            size_t count = machsym_session_frames_at_addr(s, addr, &frame, 1);
            CHECK(count == 0 || frame.function_size == 0 ||
                  addr - frame.function_start < frame.function_size);
        }
        test_end("addresses of an image of a changed cache");
        machsym_session_close(s);
        machsym_image_close(one);
    }
    machsym_image_close(image);
}

/* Local symbols whose strings or entries run past the end of what holds them. */
static void test_cut_locals(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        uint32_t damage;
        bool has_name;
    } cases[] = {{0, 24, 0, true}, {12, 1000, 1, true}, {8, 70, 1, false},     {0, 0xffff, 1, false},
                 {4, 0, 0, false}, {20, 1000, 0, true}, {16, 0xffff, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny t = {.slide = 5};
        machsym_bytes parts[2];
        machsym_open_desc desc;
        machsym_image_info info;
        tiny_make(&t);
        memset(&desc, 0, sizeof desc);
        tiny_describe(&t, &desc, parts);
        patch(&t.main, t.locals_at + cases[i].at, cases[i].value, 4);
        machsym_image *image = test_open_desc(&desc);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.damage_count, cases[i].damage);
        CHECK(info.damage_count == 0 || (info.damage.is_pair && info.damage.is_cut_short));
        check_tiny_names(image, true, cases[i].has_name);
        machsym_image_close(image);
        tiny_free(&t);
    }
}

/* Entries name symbols by their first one: one past the table has none, whatever lies there. The table is
 * empty here, and the symbol itself lies where its second one would. */
static void test_past_locals(void)
{
    for (unsigned first = 0; first < 2; first++) {
        tiny t = {.slide = 5};
        machsym_bytes parts[2];
        tiny_make(&t);
        machsym_open_desc desc = tiny_desc(&t, parts);
        tiny_describe(&t, &desc, parts);
        patch(&t.main, t.locals_at, 24 - 16 * first, 4);
        patch(&t.main, t.locals_at + 4, first == 0, 4);
        patch(&t.main, t.locals_at + 64, first, 4);
        machsym_image *image = test_open_desc(&desc);
        check_tiny_names(image, true, first == 0);
        machsym_image_close(image);
        tiny_free(&t);
    }
}

/* A file that the cache names twice, or that is the main one, is there once: its bytes count once. */
static void test_named_twice(void)
{
    for (unsigned uuid = 1; uuid < 3; uuid++) { /* that of the main file, of the first other one */
        tiny t = {.slide = 5, .is_split = true};
        machsym_bytes parts[3];
        machsym_cursor at = {0, 0};
        machsym_cache_file file;
        machsym_image_info info;
        machsym_image *image = NULL;
        unsigned found = 0;
        uint8_t record[56];
        tiny_make(&t);
        patch(&t.main, 0x188, t.main.len, 4);
        patch(&t.main, 0x18c, 2, 4);
        memcpy(record, t.main.v + TINY_SIBLINGS_AT, sizeof record);
        put(&t.main, record, sizeof record);
        tiny_uuid(&t.main, uuid);
        put64(&t.main, TINY_DATA);
        put(&t.main, ".02", 4);
        put_zeros(&t.main, 28);
        machsym_open_desc desc = tiny_desc(&t, parts);
        parts[2].ptr = t.main.v;
        parts[2].len = t.main.len;
        desc.cache_file_count = 3;
        CHECK_EQ(open_tiny(desc, NULL, &image), MACHSYM_OK);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.damage_count, 1);
        while (machsym_image_next_cache_file(image, &at, &file)) {
            bool is_again = at.a == 3;
            CHECK_EQ(file.status, is_again ? MACHSYM_CACHE_FILE_MISSING : MACHSYM_CACHE_FILE_FOUND);
            CHECK_EQ(file.size == 0, is_again);
            found += file.status == MACHSYM_CACHE_FILE_FOUND;
        }
        CHECK_EQ(found, 3); /* the main one, the data, the local symbols */
        machsym_image_close(image);
        CHECK_EQ(open_tiny(desc, "libtiny.dylib", &image), MACHSYM_OK);
        check_tiny_names(image, true, true);
        machsym_image_close(image);
        tiny_free(&t);
    }
}

/* What lies at an address of a cache: an image, up to its end or the next one, or what is between two. */
static void test_between(void)
{
    static const struct {
        uint64_t addr;
        bool has;
        ms_range want;
    } cases[] = {{0xfff, false, {0, 0x1000}},          {0x1000, true, {0x1000, 0x1100}},
                 {0x10ff, true, {0x1000, 0x1100}},     {0x1100, false, {0x1000, 0x2000}},
                 {0x1fff, false, {0x1000, 0x2000}},    {0x2000, true, {0x2000, 0x3000}},
                 {0x2fff, true, {0x2000, 0x3000}},     {0x3000, true, {0x3000, 0x3080}},
                 {0x3080, false, {0x3000, UINT64_MAX}}};
    static const uint64_t images[][2] = {{0x3000, 0x80}, {0x1000, 0x100}, {0x2000, 0}}; /* 0: not told */
    bytes texts = {NULL, 0, 0};
    ms_dc dc;
    ms_oth o;
    for (size_t i = 0; i < 3; i++) {
        tiny_uuid(&texts, (unsigned)i);
        put64(&texts, images[i][0]);
        put32(&texts, (uint32_t)images[i][1]);
        put32(&texts, 0);
    }
    memset(&dc, 0, sizeof dc);
    memset(&o, 0, sizeof o);
    dc.texts = ms_span_make(texts.v, texts.len);
    o.dc = &dc;
    o.left = 1000;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ms_range got;
        CHECK_EQ(ms_oth_find_image(&o, cases[i].addr, &got), cases[i].has);
        CHECK_EQ(got.hi, cases[i].want.hi);
        CHECK(!cases[i].has || got.lo == cases[i].want.lo);
    }
    bytes_free(&texts);
}

/* Every length of each file, and each byte changed. */
static void test_damaged(void)
{
    test_begin();
    for (unsigned split = 0; split < 2; split++) {
        tiny t = {.slide = split ? 5 : 3, .is_split = split != 0};
        machsym_bytes parts[2];
        tiny_make(&t);
        bytes *files[3] = {&t.main, &t.sibling, &t.symbols};
        size_t step = test_env("SAMPLE") > 1 ? 3 : 1;
        for (unsigned f = 0; f < (split ? 3 : 1); f++) {
            size_t len = files[f]->len;
            for (size_t at = 0; at < len; at += step) {
                uint8_t *exact =
                    (uint8_t *)malloc(at + 1); /* so that sanitizers see what is read past the end */
                uint8_t *whole = files[f]->v;
                memcpy(exact, whole, at);
                files[f]->v = exact;
                files[f]->len = at;
                use_tiny(&t, tiny_desc(&t, parts));
                free(exact);
                files[f]->v = whole;
                files[f]->len = len;
                uint8_t kept = whole[at];
                whole[at] ^= (uint8_t)(1u << at % 8);
                use_tiny(&t, tiny_desc(&t, parts));
                whole[at] = at % 2 ? 0xff : 0;
                use_tiny(&t, tiny_desc(&t, parts));
                whole[at] = kept;
            }
        }
        tiny_free(&t);
    }
    test_end("caches cut and changed everywhere");
}

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    snprintf(folder, sizeof folder, "%.*s/../caches", slash != NULL ? (int)(slash - argv[0]) : 1,
             slash != NULL ? argv[0] : ".");
    FILE *truth = open_truth("ios17");
    if (truth == NULL) {
        test_leave_out("caches", "it needs python3");
    } else {
        fclose(truth);
        test_made();
    }
    test_pointers();
    test_tiny();
    test_selectors();
    test_beside();
    test_siblings();
    test_refused();
    test_listed();
    test_linked();
    test_limits();
    test_cut_locals();
    test_past_locals();
    test_named_twice();
    test_between();
    test_damaged();
    return test_done();
}
