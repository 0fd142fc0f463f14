/* The table of the manual that tells which field of machsym_open_desc counts for which kind of file. It is read from
 * src/api/manual.h; each cell is compared with what becomes of a file of the kind when the field is set to something else:
 * another answer or error (yes), a refusal (no), or the same answers (-). */
#include "test.h"
#include "make_cache.h"

#define PROGRAM "tests/fixtures/bin/map-arm64-d4-O0/program"

enum { FILE_KIND, MEMORY, MAP, CACHE, ENTRY, FROM, KIND_COUNT };

static const char *const kind_names[KIND_COUNT] = {"file", "memory", "map", "cache", "entry", "from"};
static const char *const field_names[] = {"path",     "bytes",       "io",       "pair_path", "pair_bytes",
                                          "arch",     "uuid",        "entry",    "load_addr", "oso_prefixes",
                                          "oso_dirs", "cache_files", "allocator"};
enum { FIELD_COUNT = sizeof field_names / sizeof field_names[0] };

/* What the kinds are opened from. */
static test_file program;
static machsym_map *map;
static tiny parted; /* a split cache */
static machsym_bytes parts[2];
static machsym_image *whole; /* the cache, open */

static uint64_t add(uint64_t sum, const void *ptr, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ ((const uint8_t *)ptr)[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t add_text(uint64_t sum, machsym_str text)
{
    return add(add(sum, text.ptr, text.len), &text.len, sizeof text.len);
}

static uint64_t add_answers(uint64_t sum, machsym_session *s, uint64_t addr)
{
    machsym_frame frames[4];
    for (uint64_t end = addr + 0x1000; addr < end; addr += 4) {
        size_t count = machsym_session_frames_at_addr(s, addr, frames, 4);
        sum = add(sum, &count, sizeof count);
        for (size_t i = 0; i < count && i < 4; i++) {
            sum = add_text(add_text(sum, frames[i].linkage_name), frames[i].file.name);
            sum = add(sum, &frames[i].line, sizeof frames[i].line);
        }
    }
    return sum;
}

/* All that is told of a file: the same number for the same answers. */
static uint64_t told(const machsym_image *image)
{
    uint64_t sum = 0xcbf29ce484222325u;
    machsym_image_info info;
    machsym_session_desc how;
    machsym_session *s;
    machsym_cache_file file;
    machsym_cursor at;
    machsym_image_get_info(image, &info);
    sum = add_text(add_text(sum, info.name), test_str(info.path != NULL ? info.path : ""));
    sum = add(sum, info.slice.uuid.v, sizeof info.slice.uuid.v);
    sum = add(sum, &info.slice.filetype, sizeof info.slice.filetype);
    memset(&at, 0, sizeof at);
    while (machsym_image_next_cache_file(image, &at, &file))
        sum = add(sum, &file.status, sizeof file.status);
    memset(&how, 0, sizeof how);
    how.image = image;
    if (machsym_session_open(&how, &s, NULL) != MACHSYM_OK)
        return 0;
    sum = add_answers(sum, s, info.text_addr);
    machsym_session_close(s);
    return sum;
}

static machsym_open_desc desc_of(unsigned kind)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    if (kind == FILE_KIND) {
        desc.path = PROGRAM;
    } else if (kind == MEMORY) {
        desc.bytes.ptr = program.ptr;
        desc.bytes.len = program.len;
        desc.flags = MACHSYM_OPEN_LOADED;
    } else if (kind == MAP) {
        desc.bytes = machsym_map_bytes(map);
    } else if (kind == FROM) {
        desc.from = whole;
    } else {
        desc.bytes.ptr = parted.main.v;
        desc.bytes.len = parted.main.len;
    }
    if (kind == ENTRY || kind == FROM)
        desc.entry = TINY_PATH;
    return desc;
}

static size_t read_nothing(void *user, uint64_t offset, void *out, size_t len)
{
    (void)user;
    (void)offset;
    (void)out;
    (void)len;
    return 0;
}

static void *no_memory(void *user, size_t size)
{
    (void)user;
    (void)size;
    return NULL;
}

static void no_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)ptr;
    (void)size;
}

/* Sets a field to what another file, or none, would have. */
static void set_other(machsym_open_desc *desc, unsigned kind, unsigned field)
{
    static const machsym_uuid other = {{1}};
    static const char garbage[] = "garbage that is no file";
    static const machsym_oso_prefix prefix = {"", "tests/fixtures/bin/"};
    static const char *const folder = "tests/fixtures/bin/map-arm64-d4-O0";
    switch (field) {
    case 0: desc->path = "tests/nothing"; break;
    case 1:
        desc->bytes.ptr = garbage;
        desc->bytes.len = sizeof garbage;
        break;
    case 2:
        desc->io.read = read_nothing;
        desc->io.size = 4096;
        break;
    case 3: desc->pair_path = "tests/nothing"; break;
    case 4:
        desc->pair_bytes.ptr = garbage;
        desc->pair_bytes.len = sizeof garbage;
        break;
    case 5: desc->arch = "ppc"; break;
    case 6: desc->uuid = &other; break;
    case 7: desc->entry = kind == CACHE ? TINY_PATH : "nothing"; break;
    case 8: desc->load_addr = 0x7700000000; break;
    case 9:
        desc->oso_prefixes = &prefix;
        desc->oso_prefix_count = 1;
        break;
    case 10:
        desc->oso_dirs = &folder;
        desc->oso_dir_count = 1;
        break;
    case 11:
        desc->cache_files = parts;
        desc->cache_file_count = 2;
        break;
    case 12:
        desc->allocator.alloc = no_memory;
        desc->allocator.free = no_free;
        break;
    default: break;
    }
}

/* What becomes of a kind when a field is set: as the table says it. */
static const char *seen(unsigned kind, unsigned field)
{
    machsym_open_desc desc = desc_of(kind);
    machsym_image *image;
    bool is_source = field <= 2 && kind != FROM; /* path, bytes, io: in place of what is there */
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    uint64_t before = told(image);
    machsym_image_close(image);
    if (is_source && field != 1 && !(field == 0 && kind == MEMORY)) { /* the file is what is set */
        desc.path = NULL;
        memset(&desc.bytes, 0, sizeof desc.bytes);
    }
    set_other(&desc, kind, field);
    machsym_result result = machsym_image_open(&desc, &image, NULL);
    uint64_t after = result == MACHSYM_OK ? told(image) : 0;
    machsym_image_close(result == MACHSYM_OK ? image : NULL);
    if (result == MACHSYM_ERR_PAIR || (result == MACHSYM_ERR_ARGUMENT && kind != ENTRY && kind != FROM) ||
        (result == MACHSYM_ERR_ARGUMENT && field != 7))
        return "no";
    if (field == 0 && kind == MEMORY && result == MACHSYM_OK && after != before)
        return "name";
    return result != MACHSYM_OK || after != before ? "yes" : "-";
}

/* A row of the table: the field, then a word for each kind. Returns which field it is of; FIELD_COUNT: none. */
static unsigned row_of(const char *line, char words[KIND_COUNT][8])
{
    char field[32];
    char more[8];
    if (sscanf(line, " * %31s %7s %7s %7s %7s %7s %7s %7s", field, words[0], words[1], words[2], words[3],
               words[4], words[5], more) != 1 + KIND_COUNT)
        return FIELD_COUNT;
    if (strcmp(words[0], "yes") != 0 && strcmp(words[0], "no") != 0 && strcmp(words[0], "-") != 0)
        return FIELD_COUNT; /* a sentence */
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(field, field_names[i]) == 0)
            return i;
    }
    return FIELD_COUNT;
}

static void test_table(void)
{
    bool found[FIELD_COUNT] = {false};
    char words[KIND_COUNT][8];
    char line[256];
    FILE *in = fopen("src/api/manual.h", "r");
    if (in == NULL) {
        CHECK(in != NULL);
        return;
    }
    while (fgets(line, sizeof line, in) != NULL) {
        unsigned field = row_of(line, words);
        if (field == FIELD_COUNT)
            continue;
        test_begin();
        CHECK(!found[field]);
        found[field] = true;
        for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
            if (field == 8 && kind == MEMORY) /* tests/test_loaded.c: pointers are slid by it */
                continue;
            test_begin();
            CHECK_TEXT(words[kind], seen(kind, field));
            test_end(kind_names[kind]);
        }
        test_end(field_names[field]);
    }
    fclose(in);
    for (unsigned i = 0; i < FIELD_COUNT; i++)
        CHECK(found[i]);
}

int main(void)
{
    machsym_open_desc desc;
    machsym_plan_desc plan;
    machsym_image *image;
    program = test_read(PROGRAM);
    memset(&parted, 0, sizeof parted);
    parted.slide = 3;
    parted.is_split = true;
    tiny_make(&parted);
    memset(&desc, 0, sizeof desc);
    tiny_describe(&parted, &desc, parts);
    desc.entry = NULL;
    whole = test_open_desc(&desc);
    memset(&plan, 0, sizeof plan);
    plan.image = image = test_open(PROGRAM);
    CHECK_EQ(machsym_map_build(&plan, &map, NULL), MACHSYM_OK);
    machsym_image_close(image);
    test_table();
    machsym_map_close(map);
    machsym_image_close(whole);
    tiny_free(&parted);
    free(program.ptr);
    return test_done();
}
