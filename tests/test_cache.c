/* dyld shared caches: those that tests/cache builds, with all that LLVM's tools said of the dylibs in them
 * (truth.tsv), and what hand-made headers make of the reader. */
#define TEST_ROOM "../src/image/image.h"
#include "test.h"

#include <ctype.h>

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
    size_t files;      /* of which it consists */
    size_t images;     /* that it lists */
    bool has_locals;   /* names of local symbols are somewhere */
    bool has_uuids;    /* in its list of images */
    uint32_t platform; /* that it is for; 0: the header does not tell */
} made;

static const made caches[] = {
    {"ios17", "dyld_shared_cache_arm64e", 1, 4, true, true, 2},
    {"ios16", "dyld_shared_cache_arm64e", 4, 4, true, true, 2},
    {"ios15", "dyld_shared_cache_arm64e", 4, 4, true, true, 2},
    {"ios14", "dyld_shared_cache_arm64e", 1, 4, true, true, 2},
    {"ios13", "dyld_shared_cache_arm64", 1, 4, true, true, 2},
    {"ios8", "dyld_shared_cache_arm64", 1, 4, true, false, 0},
    {"ios6", "dyld_shared_cache_armv7", 1, 4, true, false, 0},
    {"macos12", "dyld_shared_cache_x86_64h", 2, 4, false, true, 1},
    {"watchos9", "dyld_shared_cache_arm64_32", 1, 4, true, true, 4},
    {"watchos5", "dyld_shared_cache_armv7k", 1, 4, true, true, 4},
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
        CHECK(machsym_image_entry_at(image, truth.addr, &entry));
        CHECK_STR(entry.name, truth.image);
        CHECK_EQ(entry.addr, truth.addr);
        CHECK_EQ(entry.has_uuid, cache->has_uuids);
        CHECK(!entry.has_uuid || memcmp(&entry.uuid, &uuid, sizeof uuid) == 0);
        machsym_image *one = open_in(image, truth.image, 0);
        machsym_image_get_info(one, &info);
        CHECK(memcmp(&info.slice.uuid, &uuid, sizeof uuid) == 0);
        CHECK_EQ(info.text_addr, truth.addr);
        CHECK_EQ(info.damage_count, 0);
        CHECK(machsym_image_entry_at(image, truth.addr + info.text_size - 1, &entry) &&
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
    CHECK(!machsym_image_entry_at(image, 0, &entry) && !machsym_image_entry_at(image, UINT64_MAX, &entry));
    fclose(in);
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
    while (machsym_session_next_alias(s, addr, &at, &found)) {
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
                size_t count = machsym_session_frames(s, truth.addr + past, &frame, 1);
                CHECK(count == 1 && frame.function_start == truth.addr);
                CHECK(!ms_str_begins(frame.linkage_name, "<redacted") &&
                      !ms_str_begins(frame.name, "<redac"));
            }
        }
    }
    machsym_session_close(s);
    machsym_image_close(one);
    fclose(in);
}

static void compare_pointers(const made *cache, const machsym_image *image)
{
    FILE *in = open_truth(cache->name);
    row truth;
    size_t count = 0;
    const ms_dc *dc = &image->cache->dc;
    unsigned size = image->mo[0].is_64 ? 8 : 4;
    while (next_row(in, &truth)) {
        if (strcmp(truth.kind, "pointer") != 0)
            continue;
        CHECK_EQ(ms_dc_pointer_at(dc, truth.addr, size), strtoull(truth.name, NULL, 16));
        count++;
    }
    CHECK(count > 100);
    fclose(in);
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
        while (machsym_image_next_entry(image, &at, &entry)) {
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)entry.name.len, entry.name.ptr);
            compare_names(cache, image, name, false);
            compare_names(cache, image, name, true);
        }
        machsym_image_close(image);
    }
}

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    snprintf(folder, sizeof folder, "%.*s/../caches", slash != NULL ? (int)(slash - argv[0]) : 1,
             slash != NULL ? argv[0] : ".");
    FILE *truth = open_truth("ios17");
    if (truth == NULL) {
        test_leave_out("caches", "python3 has not built them");
    } else {
        fclose(truth);
        test_made();
    }
    return test_done();
}
