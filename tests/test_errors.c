/* Every error: what provokes it, and its code, text, part of the file and offset. Misuse of the API is an
 * error too, and leaves no result. */
#include "dwarf.h"

#include "../tool/files/open.h"
#include "../tool/symbols/source.h"

#include <errno.h>
#include <unistd.h>

static bool seen[MACHSYM_RESULT_COUNT];

/* What must come out. */
static void check(const machsym_error *err, machsym_result got, machsym_result code, const char *what,
                  const char *where, uint64_t offset)
{
    CHECK_EQ(got, code);
    CHECK_EQ(err->code, code);
    CHECK_TEXT(err->what, what);
    CHECK_TEXT(err->where, where);
    CHECK_EQ(err->offset, offset);
    seen[code] = true;
}

/* ---- Inputs ---- */

static bytes thin(uint8_t uuid)
{
    make_macho m;
    memset(&m, 0, sizeof m);
    m.uuid = uuid;
    return make_file(&m);
}

static bytes fat_of(const bytes *a, const bytes *b)
{
    bytes fat = {NULL, 0, 0};
    const bytes *slices[2] = {a, b};
    uint64_t at = 0x1000;
    put_be32(&fat, 0xcafebabe);
    put_be32(&fat, 2);
    for (unsigned i = 0; i < 2; i++) {
        put_be32(&fat, 0x0100000c);
        put_be32(&fat, 0);
        put_be32(&fat, at);
        put_be32(&fat, slices[i]->len);
        put_be32(&fat, 12);
        at += slices[i]->len;
    }
    put_zeros(&fat, 0x1000 - fat.len);
    put_bytes(&fat, a);
    put_bytes(&fat, b);
    return fat;
}

static void *no_memory(void *user, size_t size)
{
    (void)user;
    (void)size;
    return NULL;
}

static void free_nothing(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)ptr;
    (void)size;
}

static const machsym_allocator half = {no_memory, NULL, NULL};
static const machsym_allocator poor = {no_memory, free_nothing, NULL};

/* ---- Images ---- */

/* How to open; offset is where the error is. */
typedef struct open_case {
    const void *ptr;
    size_t len;
    const char *path;
    const char *arch;
    const machsym_uuid *uuid;
    const bytes *pair;
    machsym_allocator allocator;
    machsym_result code;
    const char *what;
    const char *where;
    uint64_t offset;
    int os_errno;
} open_case;

static void check_open(const open_case *c)
{
    machsym_open_desc desc;
    machsym_error err;
    machsym_image *image = (machsym_image *)&err; /* must be overwritten */
    memset(&desc, 0, sizeof desc);
    memset(&err, 0x55, sizeof err);
    desc.path = c->path;
    desc.bytes.ptr = c->ptr;
    desc.bytes.len = c->len;
    desc.arch = c->arch;
    desc.uuid = c->uuid;
    desc.allocator = c->allocator;
    if (c->pair != NULL) {
        desc.pair_bytes.ptr = c->pair->v;
        desc.pair_bytes.len = c->pair->len;
    }
    check(&err, machsym_image_open(&desc, &image, &err), c->code, c->what, c->where, c->offset);
    CHECK(image == NULL);
    CHECK_EQ(err.os_errno, c->os_errno);
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), c->code);
}

static const machsym_allocator none = {NULL, NULL, NULL};

static void test_images(void)
{
    bytes one = thin(1);
    bytes two = thin(2);
    bytes fat = fat_of(&one, &two);
    machsym_uuid uuid;
    memset(&uuid, 9, sizeof uuid);
    const open_case cases[] = {
        {NULL, 0, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_ARGUMENT, "neither a path nor bytes to open", "",
         0, 0},
        {one.v, one.len, NULL, NULL, NULL, NULL, half, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function",
         "", 0, 0},
        {one.v, one.len, NULL, NULL, NULL, NULL, poor, MACHSYM_ERR_MEMORY, "the allocator has no memory left",
         "", 0, 0},
        {NULL, 0, "tests/no-such-file", NULL, NULL, NULL, none, MACHSYM_ERR_IO, "the file cannot be read", "",
         0, ENOENT},
        {NULL, 0, "/dev/null", NULL, NULL, NULL, none, MACHSYM_ERR_IO,
         "a FIFO or a device, not a regular file", "", 0, 0},
        {NULL, 0, "tests", NULL, NULL, NULL, none, MACHSYM_ERR_IO,
         "a folder without Contents/Resources/DWARF/FILE in it; name a Mach-O file or a .dSYM", "", 0, 0},
        {"", 0, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_FORMAT, "the file is empty", "", 0, 0},
        {"plain text", 10, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_FORMAT, "not a Mach-O file", "", 0, 0},
        {"\177ELF\2\1\1", 8, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_FORMAT, "an ELF file, not Mach-O", "",
         0, 0},
        {"!<arch>\n", 8, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_UNSUPPORTED,
         "a static library; name a linked file or an object in it", "", 0, 0},
        {one.v, 30, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_DAMAGED, "the file ends inside its header",
         "Mach-O header", 0, 0},
        {fat.v, 0x1000 + one.len + 30, NULL, NULL, &uuid, NULL, none, MACHSYM_ERR_DAMAGED,
         "the file ends inside its header", "Mach-O header", 0x1000 + one.len, 0},
        {fat.v, 8, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_DAMAGED, "a fat file without slices",
         "fat header", 4, 0},
        {one.v, one.len, NULL, "armv7", NULL, NULL, none, MACHSYM_ERR_ARCH,
         "the file has no slice for this architecture", "", 0, 0},
        {one.v, one.len, NULL, NULL, &uuid, NULL, none, MACHSYM_ERR_UUID,
         "the file has no slice with this UUID", "", 0, 0},
        {fat.v, fat.len, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_AMBIGUOUS,
         "the file has several slices; name an architecture or a UUID", "", 0, 0},
        {"\xfe\xed\xfa\xce\0\0\0\x12", 8, NULL, NULL, NULL, NULL, none, MACHSYM_ERR_UNSUPPORTED,
         "a big-endian (PowerPC) image; only little-endian ones are read", "Mach-O header", 0, 0},
        {one.v, one.len, NULL, NULL, NULL, &two, none, MACHSYM_ERR_PAIR,
         "the two files do not belong together: their UUIDs differ", "LC_UUID", 0, 0},
        {"MACHSYM\n", 8, NULL, NULL, NULL, &two, none, MACHSYM_ERR_PAIR, "a map has no other half", "", 0, 0},
        {"dyld_v1  arm64e", 16, NULL, NULL, NULL, &two, none, MACHSYM_ERR_PAIR,
         "a shared cache has no other half", "", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_open(&cases[i]);
    machsym_error err;
    machsym_open_desc desc;
    machsym_image *image = (machsym_image *)&err;
    const char *what = "the descriptor or the place for the image is NULL";
    memset(&desc, 0, sizeof desc);
    check(&err, machsym_image_open(NULL, &image, &err), MACHSYM_ERR_ARGUMENT, what, "", 0);
    CHECK(image == NULL);
    check(&err, machsym_image_open(&desc, NULL, &err), MACHSYM_ERR_ARGUMENT, what, "", 0);
    CHECK_EQ(machsym_image_open(NULL, NULL, NULL), MACHSYM_ERR_ARGUMENT);
    machsym_image_close(NULL);
    desc.bytes.ptr = one.v;
    desc.bytes.len = one.len;
    desc.allocator.free = free_nothing; /* without alloc it is the C library's */
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_OK);
    machsym_image_close(image);
    CHECK_EQ(machsym_list_slices(NULL, NULL, 0, &err), 0);
    check(&err, err.code, MACHSYM_ERR_ARGUMENT, "the descriptor is NULL", "", 0);
    desc.allocator = half;
    CHECK_EQ(machsym_list_slices(&desc, NULL, 0, &err), 0);
    check(&err, err.code, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    desc.allocator = none;
    desc.bytes.ptr = fat.v;
    desc.bytes.len = 8;
    CHECK_EQ(machsym_list_slices(&desc, NULL, 0, &err), 0);
    check(&err, err.code, MACHSYM_ERR_DAMAGED, "a fat file without slices", "fat header", 4);
    bytes_free(&one);
    bytes_free(&two);
    bytes_free(&fat);
}

/* ---- Sessions and plans ---- */

static const char no_image[] = "no image is named, or the line policy is unknown";

static void test_sessions(void)
{
    bytes file = thin(1);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_error err;
    machsym_session_desc desc;
    machsym_session *session = (machsym_session *)&err;
    memset(&desc, 0, sizeof desc);
    check(&err, machsym_session_open(&desc, &session, &err), MACHSYM_ERR_ARGUMENT, no_image, "", 0);
    CHECK(session == NULL);
    check(&err, machsym_session_open(NULL, &session, &err), MACHSYM_ERR_ARGUMENT, no_image, "", 0);
    desc.image = image;
    check(&err, machsym_session_open(&desc, NULL, &err), MACHSYM_ERR_ARGUMENT, no_image, "", 0);
    desc.lines = MACHSYM_LINES_COUNT;
    check(&err, machsym_session_open(&desc, &session, &err), MACHSYM_ERR_ARGUMENT, no_image, "", 0);
    desc.lines = MACHSYM_LINES_ATOS;
    desc.allocator = half;
    check(&err, machsym_session_open(&desc, &session, &err), MACHSYM_ERR_ARGUMENT,
          "the allocator lacks a function", "", 0);
    desc.allocator = poor;
    check(&err, machsym_session_open(&desc, &session, &err), MACHSYM_ERR_MEMORY,
          "the allocator has no memory left", "", 0);
    CHECK(session == NULL);
    machsym_session_close(NULL);
    machsym_image_close(image);
    bytes_free(&file);
}

static void test_plans(void)
{
    machsym_image *image = test_open("tests/fixtures/bin/inline-arm64-d4-14.dwarf");
    machsym_error err;
    machsym_plan_desc desc;
    machsym_plan *plan = (machsym_plan *)&err;
    machsym_part *part = (machsym_part *)&err;
    machsym_map *map = (machsym_map *)&err;
    const char *parts = "all parts of the plan are needed";
    memset(&desc, 0, sizeof desc);
    check(&err, machsym_plan_open(&desc, &plan, &err), MACHSYM_ERR_ARGUMENT, no_image, "", 0);
    CHECK(plan == NULL);
    check(&err, machsym_map_build(&desc, &map, &err), MACHSYM_ERR_ARGUMENT, no_image, "", 0);
    CHECK(map == NULL);
    desc.image = image;
    check(&err, machsym_map_build(&desc, NULL, &err), MACHSYM_ERR_ARGUMENT, "the place for the map is NULL",
          "", 0);
    check(&err, machsym_plan_open(&desc, NULL, &err), MACHSYM_ERR_ARGUMENT, no_image, "", 0);
    desc.allocator = half;
    check(&err, machsym_plan_open(&desc, &plan, &err), MACHSYM_ERR_ARGUMENT, "the allocator lacks a function",
          "", 0);
    desc.allocator = poor;
    check(&err, machsym_plan_open(&desc, &plan, &err), MACHSYM_ERR_MEMORY, "the allocator has no memory left",
          "", 0);
    desc.allocator = none;
    CHECK_EQ(machsym_plan_open(&desc, &plan, &err), MACHSYM_OK);
    size_t count = machsym_plan_part_count(plan);
    check(&err, machsym_part_build(plan, count, &part, &err), MACHSYM_ERR_ARGUMENT,
          "the plan has no such part", "", 0);
    CHECK(part == NULL);
    check(&err, machsym_part_build(plan, 0, NULL, &err), MACHSYM_ERR_ARGUMENT, "the plan has no such part",
          "", 0);
    check(&err, machsym_part_build(NULL, 0, &part, &err), MACHSYM_ERR_ARGUMENT, "the plan has no such part",
          "", 0);
    CHECK_EQ(machsym_plan_part_size(plan, count), 0);
    check(&err, machsym_map_merge(NULL, NULL, 0, &map, &err), MACHSYM_ERR_ARGUMENT, parts, "", 0);
    check(&err, machsym_map_merge(plan, NULL, count, &map, &err), MACHSYM_ERR_ARGUMENT, parts, "", 0);
    for (size_t i = 0; i < 3; i++) { /* too many, one missing, no place for the map: the parts stay */
        machsym_part *some[2] = {NULL, NULL};
        map = (machsym_map *)&err;
        CHECK_EQ(machsym_part_build(plan, 0, &some[0], &err), MACHSYM_OK);
        CHECK_EQ(count, 1);
        if (i == 1) {
            machsym_part_close(some[0]);
            some[0] = NULL;
        }
        machsym_map **out = i == 2 ? NULL : &map;
        check(&err, machsym_map_merge(plan, some, i == 0 ? 2 : 1, out, &err), MACHSYM_ERR_ARGUMENT, parts, "",
              0);
        CHECK((some[0] == NULL) == (i == 1) && (i == 2 || map == NULL));
        machsym_part_close(some[0]);
    }
    machsym_plan_close(plan);
    machsym_plan_close(NULL);
    machsym_part_close(NULL);
    machsym_image_close(image);
}

/* ---- Maps ---- */

/* A byte of the map to change before it is opened; at SIZE_MAX: none. */
typedef struct map_case {
    size_t len;
    size_t at;
    uint8_t byte;
    machsym_result code;
    const char *what;
    uint64_t offset;
} map_case;

static machsym_map *small_map(void)
{
    machsym_plan_desc desc;
    machsym_map *map = NULL;
    bytes file = thin(1);
    memset(&desc, 0, sizeof desc);
    machsym_image *image = test_open_bytes(file.v, file.len);
    desc.image = image;
    CHECK_EQ(machsym_map_build(&desc, &map, NULL), MACHSYM_OK);
    machsym_image_close(image);
    bytes_free(&file);
    return map;
}

static machsym_map_desc map_desc_of(const void *ptr, size_t len)
{
    machsym_map_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    return desc;
}

static void test_maps(void)
{
    machsym_map *map = small_map();
    machsym_bytes whole = machsym_map_bytes(map);
    const map_case cases[] = {
        {95, SIZE_MAX, 0, MACHSYM_ERR_FORMAT, "not a symbol map", 0},
        {whole.len, 0, 'm', MACHSYM_ERR_FORMAT, "not a symbol map", 0},
        {whole.len, 8, 9, MACHSYM_ERR_VERSION,
         "the map was written in another format version; build it again", 8},
        {whole.len - 1, SIZE_MAX, 0, MACHSYM_ERR_DAMAGED, "the map is cut short or has grown", 64},
        {whole.len, 56, 9, MACHSYM_ERR_DAMAGED, "a number in the header is out of bounds", 56},
        {whole.len, 60, 65, MACHSYM_ERR_DAMAGED, "the directory has too many rows", 60},
        {whole.len, 96, 99, MACHSYM_ERR_VERSION,
         "the map has a table that this version does not know; build it again", 96},
        {whole.len, 96 + 32 * 2 + 24, 32, MACHSYM_ERR_DAMAGED, "a number of an index is out of bounds", 160},
        {whole.len, 96 + 32 * 3 + 16 + 7, 1, MACHSYM_ERR_DAMAGED, "a table lies outside the map", 192},
        {whole.len, 72, 0x5a, MACHSYM_ERR_CHECKSUM,
         "the map's checksum does not match its bytes; build it again", 72},
    };
    uint8_t *copy = (uint8_t *)malloc(whole.len);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && copy != NULL; i++) {
        const map_case *c = &cases[i];
        machsym_error err;
        machsym_map_desc given = map_desc_of(copy, c->len);
        machsym_map *opened = (machsym_map *)&err;
        memcpy(copy, whole.ptr, c->len);
        if (c->at != SIZE_MAX)
            copy[c->at] ^= c->byte;
        check(&err, machsym_map_open(&given, &opened, &err), c->code, c->what, "map header", c->offset);
        CHECK(opened == NULL);
    }
    free(copy);
    machsym_map_close(map);
    machsym_map_close(NULL);
}

static void test_map_arguments(void)
{
    machsym_map *map = small_map();
    machsym_bytes bytes = machsym_map_bytes(map);
    machsym_map_desc whole = map_desc_of(bytes.ptr, bytes.len);
    machsym_map_desc desc = map_desc_of(NULL, 0);
    const char *place = "the descriptor or the place for the map is NULL";
    const char *missing = "neither a path nor bytes to open, or an allocator that lacks a function";
    machsym_error err;
    machsym_map *opened = (machsym_map *)&err;
    check(&err, machsym_map_open(&whole, NULL, &err), MACHSYM_ERR_ARGUMENT, place, "", 0);
    check(&err, machsym_map_open(NULL, &opened, &err), MACHSYM_ERR_ARGUMENT, place, "", 0);
    CHECK(opened == NULL);
    opened = (machsym_map *)&err;
    check(&err, machsym_map_open(&desc, &opened, &err), MACHSYM_ERR_ARGUMENT, missing, "", 0);
    CHECK(opened == NULL);
    whole.allocator = half;
    check(&err, machsym_map_open(&whole, &opened, &err), MACHSYM_ERR_ARGUMENT, missing, "", 0);
    whole.allocator = poor;
    check(&err, machsym_map_open(&whole, &opened, &err), MACHSYM_ERR_MEMORY,
          "the allocator has no memory left", "", 0);
    desc.path = "tests/no-such-file";
    check(&err, machsym_map_open(&desc, &opened, &err), MACHSYM_ERR_IO, "the file cannot be read", "", 0);
    CHECK_EQ(err.os_errno, ENOENT);
    check(&err, machsym_map_save(map, "tests/no-such-folder/x.symmap", &err), MACHSYM_ERR_IO,
          "the file cannot be written", "", 0);
    CHECK_EQ(err.os_errno, ENOENT);
    CHECK_EQ(machsym_map_save(map, "tests/no-such-folder/x.symmap", NULL), MACHSYM_ERR_IO);
    check(&err, machsym_map_save(map, NULL, &err), MACHSYM_ERR_ARGUMENT, "the map or the path is missing", "",
          0);
    check(&err, machsym_map_save(NULL, "x.symmap", &err), MACHSYM_ERR_ARGUMENT,
          "the map or the path is missing", "", 0);
    machsym_map_close(map);
}

static void test_writers(void)
{
    const char *order = "ranges must ascend, lie above the text base and have a frame";
    const char *missing = "the info, the place for the writer or the allocator is missing";
    machsym_error err;
    machsym_map_info info;
    machsym_writer *writer = (machsym_writer *)&err;
    machsym_map *map = (machsym_map *)&err;
    machsym_map_range range = {0x2000, 0x2010, false};
    machsym_frame frame;
    memset(&info, 0, sizeof info);
    memset(&frame, 0, sizeof frame);
    info.text_addr = 0x1000;
    machsym_writer_desc desc;
    memset(&desc, 0, sizeof desc);
    check(&err, machsym_writer_open(NULL, &writer, &err), MACHSYM_ERR_ARGUMENT, missing, "", 0);
    CHECK(writer == NULL);
    check(&err, machsym_writer_open(&desc, &writer, &err), MACHSYM_ERR_ARGUMENT, missing, "", 0);
    desc.info = &info;
    check(&err, machsym_writer_open(&desc, NULL, &err), MACHSYM_ERR_ARGUMENT, missing, "", 0);
    desc.allocator = half;
    check(&err, machsym_writer_open(&desc, &writer, &err), MACHSYM_ERR_ARGUMENT, missing, "", 0);
    desc.allocator = poor;
    check(&err, machsym_writer_open(&desc, &writer, &err), MACHSYM_ERR_MEMORY,
          "the allocator has no memory left", "", 0);
    memset(&desc.allocator, 0, sizeof desc.allocator);
    CHECK_EQ(machsym_writer_open(&desc, &writer, &err), MACHSYM_OK);
    check(&err, machsym_writer_add(writer, &range, &frame, 0, &err), MACHSYM_ERR_ARGUMENT, order, "", 0x2000);
    check(&err, machsym_writer_add(NULL, &range, &frame, 1, &err), MACHSYM_ERR_ARGUMENT,
          "the writer, the range or the frames are missing", "", 0);
    check(&err, machsym_writer_add(writer, &range, NULL, 0, &err), MACHSYM_ERR_ARGUMENT, order, "", 0x2000);
    check(&err, machsym_writer_add(writer, NULL, &frame, 1, &err), MACHSYM_ERR_ARGUMENT,
          "the writer, the range or the frames are missing", "", 0);
    check(&err, machsym_writer_add(writer, &range, NULL, 1, &err), MACHSYM_ERR_ARGUMENT,
          "the writer, the range or the frames are missing", "", 0);
    range.hi = 0x200000000;
    check(&err, machsym_writer_add(writer, &range, &frame, 1, &err), MACHSYM_ERR_LIMIT,
          "a map holds 4 GB of text and of data at most", "", 0x2000);
    range.hi = 0x2010;
    check(&err, machsym_writer_add(writer, &range, &frame, 4097, &err), MACHSYM_ERR_LIMIT,
          "a map holds chains of 4096 frames at most", "", 0x2000);
    check(&err, machsym_writer_finish(writer, NULL, &err), MACHSYM_ERR_ARGUMENT,
          "the writer or the place for the map is missing", "", 0);
    check(&err, machsym_writer_finish(NULL, &map, &err), MACHSYM_ERR_ARGUMENT,
          "the writer or the place for the map is missing", "", 0);
    CHECK(map == NULL);
    machsym_writer_close(NULL);
}

/* The tool opens maps for a line policy and says when they are of another. */
static void test_policy(void)
{
    const char *path = "tests/test_errors.symmap";
    machsym_map *map = small_map();
    machsym_error err;
    symbol_desc desc;
    symbol_file file;
    memset(&desc, 0, sizeof desc);
    CHECK_EQ(machsym_map_save(map, path, &err), MACHSYM_OK);
    desc.open.path = path;
    desc.lines = MACHSYM_LINES_STMT;
    check(&err, symbol_file_open(&desc, &file, &err), MACHSYM_ERR_POLICY,
          "the map was built for another line policy", "map header",
          56); /* docs/symmap.md: u32 line policy */
    CHECK_EQ(remove(path), 0);
    machsym_map_close(map);
}

/* ---- A file that changes ---- */

enum { FEW = 2, MANY = 60, SLICES_AT = 4096 };

static char changing[] = "/tmp/machsym-errors-XXXXXX";

/* A fat file whose slices differ in their subtype alone. */
static bytes put_slices(uint32_t count)
{
    make_macho m;
    bytes file = {NULL, 0, 0};
    memset(&m, 0, sizeof m);
    bytes slice = make_file(&m);
    put_be32(&file, 0xcafebabeu);
    put_be32(&file, count);
    for (uint32_t i = 0; i < count; i++) {
        put_be32(&file, 0x0100000c);
        put_be32(&file, i);
        put_be32(&file, SLICES_AT);
        put_be32(&file, slice.len);
        put_be32(&file, 0);
    }
    put_zeros(&file, SLICES_AT - file.len);
    put_bytes(&file, &slice);
    bytes_free(&slice);
    return file;
}

static void write_slices(uint32_t count)
{
    bytes file = put_slices(count);
    FILE *out = fopen(changing, "wb");
    CHECK(out != NULL && fwrite(file.v, 1, file.len, out) == file.len && fclose(out) == 0);
    bytes_free(&file);
}

/* Gives back the bytes of the file with few slices: it has been read, and becomes one with many. */
static void free_and_change(void *user, void *ptr, size_t size)
{
    if (size > SLICES_AT && !*(bool *)user) {
        write_slices(MANY);
        *(bool *)user = true;
    }
    free(ptr);
}

static void *alloc_plainly(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

/* The tool counts the slices of a file, then lists them. In between another file may come to stand there. */
static void test_changed_file(void)
{
    bool changed = false;
    machsym_open_desc desc;
    machsym_error err;
    char said[4096];
    memset(&desc, 0, sizeof desc);
    memset(&err, 0, sizeof err);
    desc.path = changing;
    desc.flags = MACHSYM_OPEN_COPY;
    desc.allocator.alloc = alloc_plainly;
    desc.allocator.free = free_and_change;
    desc.allocator.user = &changed;
    err.code = MACHSYM_ERR_AMBIGUOUS;
    err.what = err.where = "";
    int fd = mkstemp(changing);
    CHECK(fd >= 0 && close(fd) == 0);
    write_slices(FEW);
    FILE *file = tmpfile();
    int kept = dup(2);
    CHECK(file != NULL && kept >= 0 && dup2(fileno(file), 2) == 2);
    open_say_failure(&desc, &err);
    fflush(stderr);
    CHECK(dup2(kept, 2) == 2);
    close(kept);
    rewind(file);
    size_t len = fread(said, 1, sizeof said, file);
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += said[i] == '\n';
    CHECK(changed);
    CHECK_EQ(lines, 1 + FEW); /* what is wrong, and the slices that were counted */
    fclose(file);
    CHECK_EQ(machsym_list_slices(&desc, NULL, 0, NULL), MANY);
    CHECK_EQ(remove(changing), 0);
}

/* Structs of another size have another number. */
static void test_abi(void)
{
    CHECK_EQ(machsym_abi(), MACHSYM_ABI);
    CHECK(machsym_abi() != 0 MACHSYM_STRUCTS(MACHSYM_WEIGH) + 8 * UINT64_C(8388593)); /* a larger frame */
}

int main(void)
{
    test_images();
    test_sessions();
    test_plans();
    test_maps();
    test_map_arguments();
    test_writers();
    test_policy();
    test_changed_file();
    test_abi();
    for (unsigned code = MACHSYM_ERR_ARGUMENT; code < MACHSYM_RESULT_COUNT; code++)
        test_true(seen[code], machsym_result_name((machsym_result)code), __FILE__, __LINE__);
    return test_done();
}
