/* The room macho through the public functions: fat files, slices, load commands, sections, and what is wrong
 * with files. */
#include "test.h"
#include "make.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static machsym_open_desc desc_of(const bytes *file)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = file->v;
    desc.bytes.len = file->len;
    return desc;
}

/* Opens and closes; returns the result. */
static machsym_result open_result(const machsym_open_desc *desc, machsym_error *err)
{
    machsym_image *image;
    machsym_result result = machsym_image_open(desc, &image, err);
    CHECK((result == MACHSYM_OK) == (image != NULL));
    machsym_image_close(image);
    return result;
}

/* What is known of an image that opens. */
static machsym_image_info info_of(const machsym_open_desc *desc)
{
    machsym_image_info info;
    machsym_image *image = test_open_desc(desc);
    machsym_image_get_info(image, &info);
    machsym_image_close(image);
    return info;
}

static machsym_result open_bytes(const bytes *file, machsym_error *err)
{
    machsym_open_desc desc = desc_of(file);
    return open_result(&desc, err);
}

static bytes thin(uint32_t cputype, uint32_t cpusubtype, uint8_t uuid)
{
    make_macho m;
    memset(&m, 0, sizeof m);
    m.cputype = cputype;
    m.cpusubtype = cpusubtype;
    m.uuid = uuid;
    return make_file(&m);
}

/* A fat file of slices, each at a multiple of 4 KB. */
static bytes fat(const bytes *slices, uint32_t count, bool is_64)
{
    bytes file = {NULL, 0, 0};
    uint64_t at = 0x1000;
    put_be32(&file, is_64 ? 0xcafebabfu : 0xcafebabeu);
    put_be32(&file, count);
    for (uint32_t i = 0; i < count; i++) {
        put_be32(&file, slices[i].v[4] | (uint32_t)slices[i].v[7] << 24);
        put_be32(&file, slices[i].v[8]);
        if (is_64) {
            put_be64(&file, at);
            put_be64(&file, slices[i].len);
            put_be32(&file, 12);
            put_be32(&file, 0);
        } else {
            put_be32(&file, at);
            put_be32(&file, slices[i].len);
            put_be32(&file, 12);
        }
        at += (slices[i].len + 0xfff) & ~(uint64_t)0xfff;
    }
    for (uint32_t i = 0; i < count; i++) {
        put_zeros(&file, (0x1000 - (file.len & 0xfff)) & 0xfff);
        put_bytes(&file, &slices[i]);
    }
    return file;
}

enum { ARM64 = 0x0100000c, X86_64 = 0x01000007, ARM = 12 };

static void test_thin(void)
{
    bytes file = thin(ARM64, 0x80000002u, 7);
    machsym_slice slices[2];
    machsym_error err;
    machsym_open_desc desc = desc_of(&file);
    CHECK_EQ(machsym_list_slices(&desc, slices, 2, &err), 1);
    CHECK_EQ(err.code, MACHSYM_OK);
    CHECK_TEXT(slices[0].arch, "arm64e");
    CHECK_EQ(slices[0].filetype, 10);
    CHECK(slices[0].has_uuid && slices[0].uuid.v[0] == 7 && slices[0].uuid.v[15] == 7);
    CHECK_EQ(slices[0].offset, 0);
    CHECK_EQ(slices[0].size, file.len);
    machsym_image *image = test_open_desc(&desc);
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    CHECK_EQ(info.text_addr, MAKE_TEXT);
    CHECK_EQ(info.text_size, MAKE_CODE_SIZE);
    CHECK_EQ(info.address_size, 8);
    CHECK(!info.has_dwarf && !info.has_function_starts && info.path == NULL && info.damage_count == 0);
    CHECK_EQ(info.name.len, 0);
    machsym_image_close(image);
    desc.arch = "arm64e";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_OK);
    desc.arch = "arm64";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_ARCH);
    bytes_free(&file);
}

static void test_arch_names(void)
{
    static const struct {
        uint32_t type;
        uint32_t subtype;
        const char *name;
    } rows[] = {
        {ARM64, 0, "arm64"},
        {ARM64, 1, "arm64v8"},
        {ARM64, 2, "arm64e"},
        {ARM64, 0x80000002u, "arm64e"},
        {ARM64, 0xc1000002u, "arm64e"},
        {0x0200000c, 1, "arm64_32"},
        {ARM, 6, "armv6"},
        {ARM, 9, "armv7"},
        {ARM, 11, "armv7s"},
        {ARM, 12, "armv7k"},
        {X86_64, 3, "x86_64"},
        {X86_64, 8, "x86_64h"},
        {X86_64, 0x80000003u, "x86_64"},
        {7, 3, "i386"},
        {18, 0, "ppc"},
        {99, 0, "unknown"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_TEXT(machsym_arch_name(rows[i].type, rows[i].subtype), rows[i].name);
}

/* One slice needs no choice; several want an architecture or a UUID; arm64e is content with arm64, not the
 * reverse. */
static void test_fat(bool is_64)
{
    bytes slices[3] = {thin(ARM64, 0, 1), thin(X86_64, 3, 2), thin(ARM, 9, 3)};
    bytes file = fat(slices, 3, is_64);
    bytes one = fat(slices + 1, 1, is_64);
    machsym_slice listed[3];
    machsym_error err;
    machsym_open_desc desc = desc_of(&file);
    CHECK_EQ(machsym_list_slices(&desc, listed, 3, &err), 3);
    CHECK_TEXT(listed[0].arch, "arm64");
    CHECK_TEXT(listed[1].arch, "x86_64");
    CHECK_TEXT(listed[2].arch, "armv7");
    CHECK_EQ(listed[0].offset, 0x1000);
    CHECK_EQ(listed[1].offset, 0x1000 + ((slices[0].len + 0xfff) & ~(size_t)0xfff));
    CHECK_EQ(listed[2].uuid.v[3], 3);
    CHECK_EQ(machsym_list_slices(&desc, listed, 1, NULL), 3);
    CHECK_EQ(machsym_list_slices(&desc, NULL, 0, NULL), 3);
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_AMBIGUOUS);
    desc.arch = "x86_64";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_OK);
    desc.arch = "x86_64h";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_ARCH);
    desc.arch = "arm64e";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_OK);
    desc.arch = NULL;
    machsym_uuid uuid;
    memset(&uuid, 3, sizeof uuid);
    desc.uuid = &uuid;
    machsym_image *image = test_open_desc(&desc);
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    CHECK_TEXT(info.slice.arch, "armv7");
    machsym_image_close(image);
    desc.arch = "arm64"; /* the UUID is another slice's */
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_ARCH);
    uuid.v[5] = 9;
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_UUID);
    CHECK_EQ(open_bytes(&one, &err), MACHSYM_OK);
    for (unsigned i = 0; i < 3; i++)
        bytes_free(&slices[i]);
    bytes_free(&file);
    bytes_free(&one);
}

/* An exact name goes before a similar one, in either order. */
static void test_similar(void)
{
    bytes plain = thin(ARM64, 0, 1);
    bytes authenticated = thin(ARM64, 2, 2);
    for (unsigned order = 0; order < 2; order++) {
        bytes slices[2] = {order == 0 ? plain : authenticated, order == 0 ? authenticated : plain};
        bytes file = fat(slices, 2, false);
        machsym_open_desc desc = desc_of(&file);
        machsym_image_info info;
        desc.arch = "arm64e";
        machsym_image *image = test_open_desc(&desc);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.slice.uuid.v[0], 2);
        machsym_image_close(image);
        bytes_free(&file);
    }
    bytes_free(&plain);
    bytes_free(&authenticated);
}

/* A slice cut short still answers from what is there; one past the end, or one that is no Mach-O, is an
 * error. */
static void test_fat_damage(void)
{
    bytes slices[2] = {thin(ARM64, 0, 1), thin(X86_64, 3, 2)};
    bytes file = fat(slices, 2, false);
    machsym_error err;
    machsym_open_desc desc = desc_of(&file);
    desc.arch = "x86_64";
    desc.bytes.len = file.len - 8;
    CHECK_EQ(open_result(&desc, &err), MACHSYM_OK);
    desc.bytes.len = 0x1800;
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_DAMAGED);
    CHECK_TEXT(err.what, "the file is cut short: a slice lies past its end");
    CHECK_TEXT(err.where, "fat header");
    machsym_slice listed[2];
    CHECK_EQ(machsym_list_slices(&desc, listed, 2, &err), 1); /* and why the other one is not among them */
    CHECK_EQ(err.code, MACHSYM_ERR_DAMAGED);
    desc.arch = NULL; /* the only slice that is left needs no choice, but the loss is told */
    machsym_image_info info = info_of(&desc);
    CHECK(info.slice.cputype == ARM64 && info.damage_count == 1 && info.damage.is_cut_short);
    desc.arch = "arm64"; /* of this one nothing is lost */
    info = info_of(&desc);
    CHECK_EQ(info.damage_count, 0);
    desc.bytes.len = 27; /* not even one whole entry */
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_DAMAGED);
    CHECK_TEXT(err.where, "fat header");
    CHECK_EQ(machsym_list_slices(&desc, NULL, 0, &err), 0);
    CHECK_EQ(err.code, MACHSYM_ERR_DAMAGED);
    bytes empty = {NULL, 0, 0};
    put_be32(&empty, 0xcafebabe);
    put_be32(&empty, 0);
    CHECK_EQ(open_bytes(&empty, &err), MACHSYM_ERR_DAMAGED);
    file.v[0x1000] = 0;
    desc = desc_of(&file);
    desc.arch = "arm64";
    CHECK(open_result(&desc, &err) != MACHSYM_OK);
    for (unsigned i = 0; i < 2; i++)
        bytes_free(&slices[i]);
    bytes_free(&file);
    bytes_free(&empty);
}

static void test_wrong_magic(void)
{
    static const struct {
        const char *head;
        size_t len;
        machsym_result result;
        const char *what;
    } rows[] = {
        {"", 0, MACHSYM_ERR_FORMAT, "the file is empty"},
        {"\177ELF\2\1\1\0", 8, MACHSYM_ERR_FORMAT, "an ELF file, not Mach-O"},
        {"!<arch>\nx", 9, MACHSYM_ERR_UNSUPPORTED, "a static library; name a linked file or an object in it"},
        {"!<thin>\nx", 9, MACHSYM_ERR_UNSUPPORTED, "a static library; name a linked file or an object in it"},
        {"\xca\xfe\xba\xbe\0\0\0\1\1\0\0\x0c\0\0\0\0\0\0\0\x1c\0\0\0\x08\0\0\0\0!<arch>\n", 36,
         MACHSYM_ERR_UNSUPPORTED,
         "a universal static library; name a linked file, or an object taken out of it by lipo -thin and ar "
         "-x"},
        {"MZ\0\0\0\0\0\0", 8, MACHSYM_ERR_FORMAT, "not a Mach-O file"},
        {"\xce", 1, MACHSYM_ERR_FORMAT, "not a Mach-O file"},
        {"\xfe\xed\xfa\xce\0\0\0\x12", 8, MACHSYM_ERR_UNSUPPORTED,
         "a big-endian (PowerPC) image; only little-endian ones are read"},
        {"\xfe\xed\xfa\xcf\0\0\0\x12", 8, MACHSYM_ERR_UNSUPPORTED,
         "a big-endian (PowerPC) image; only little-endian ones are read"},
        {"\xcf\xfa\xed\xfe\x0c\0\0\1\0\0\0\0", 12, MACHSYM_ERR_DAMAGED, "the file ends inside its header"},
        {"\xce\xfa\xed\xfe", 4, MACHSYM_ERR_DAMAGED, "the file ends inside its header"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machsym_error err;
        machsym_open_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.bytes.ptr = rows[i].head;
        desc.bytes.len = rows[i].len;
        CHECK_EQ(open_result(&desc, &err), rows[i].result);
        CHECK_EQ(err.code, rows[i].result);
        CHECK_TEXT(err.what, rows[i].what);
        CHECK_EQ(machsym_list_slices(&desc, NULL, 0, &err), 0);
        CHECK_EQ(err.code, rows[i].result);
    }
}

static machsym_section section_named(const machsym_image *image, const char *name)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    while (machsym_image_next_section(image, &at, &section)) {
        if (test_same(section.name, test_str(name)))
            return section;
    }
    memset(&section, 0, sizeof section);
    CHECK(!"there is such a section");
    return section;
}

/* A text and its zero fill a section. */
static machsym_str text_of(machsym_section section)
{
    machsym_str text;
    text.ptr = (const char *)section.bytes.ptr;
    text.len = section.bytes.len - 1;
    return text;
}

/* A dSYM names sections that have no bytes in the file: offset 0 would be the header. Zero-fill has none
 * either. */
static void test_sections(bool is_32)
{
    make_macho m;
    bytes content = {NULL, 0, 0};
    put_str(&content, "some bytes");
    memset(&m, 0, sizeof m);
    m.is_32 = is_32;
    m.cputype = is_32 ? ARM : ARM64;
    make_add(&m, "__debug_str", &content);
    make_add(&m, "__debug_str_offsets_is_longer_than_16", &content);
    make_add(&m, "__bss", &content);
    m.sections[2].flags = 1;
    make_add(&m, "__eh_frame", NULL);
    m.sections[3].size = 100;
    bytes file = make_file(&m);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_section section = section_named(image, "__text");
    CHECK(section.is_code && section.bytes.len == 0 && section.size == MAKE_CODE_SIZE);
    section = section_named(image, "__debug_str");
    CHECK_STR(section.segment, "__DWARF");
    CHECK_STR(text_of(section), "some bytes");
    CHECK_EQ(section.bytes.len, 11);
    CHECK_EQ(section.offset, 0x1000);
    CHECK(!section.is_code && !section.is_pair);
    CHECK_EQ(section_named(image, "__debug_str_offs").offset, 0x1000 + 11);
    CHECK_EQ(section_named(image, "__bss").bytes.len, 0);
    CHECK_EQ(section_named(image, "__eh_frame").bytes.len, 0);
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    CHECK_EQ(info.damage_count, 0);
    CHECK_EQ(info.address_size, is_32 ? 4 : 8);
    machsym_image_close(image);

    /* the same, cut inside the last section that has bytes: they are missing, and that is counted, of the segment
     * too */
    image = test_open_bytes(file.v, file.len - 14);
    machsym_image_get_info(image, &info);
    CHECK_EQ(info.damage_count, 2);
    CHECK(info.damage.is_cut_short && !info.damage.is_misleading);
    CHECK_EQ(section_named(image, "__debug_str").bytes.len, 11);
    machsym_image_close(image);
    bytes_free(&file);
    bytes_free(&content);
}

/* Counts and sizes that lie cost what they describe, and are counted. */
static void test_command_damage(void)
{
    make_macho m;
    machsym_error err;
    machsym_image_info info;
    memset(&m, 0, sizeof m);
    m.uuid = 5;
    bytes file = make_file(&m);
    static const struct {
        size_t at;
        uint32_t value;
    } rows[] = {
        {16, 1000},          /* ncmds: more than there are */
        {20, 0xffffffffu},   /* sizeofcmds past the end */
        {36, 0},             /* cmdsize 0 */
        {36, 7},             /* smaller than its head */
        {36, 0x7fffffff},    /* past the end */
        {32 + 64, 0xffffff}, /* nsects of __TEXT */
        {36, 40},            /* too small for a segment */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes damaged = {NULL, 0, 0};
        put_bytes(&damaged, &file);
        patch(&damaged, rows[i].at, rows[i].value, 4);
        machsym_image *image = NULL;
        machsym_open_desc desc = desc_of(&damaged);
        CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_OK);
        if (image != NULL) {
            machsym_image_get_info(image, &info);
            CHECK(info.damage_count > 0);
        }
        machsym_image_close(image);
        bytes_free(&damaged);
    }
    bytes_free(&file);
}

static void test_versions(void)
{
    make_macho m;
    bytes more = {NULL, 0, 0};
    machsym_image_info info;
    memset(&m, 0, sizeof m);
    put32(&more, 0x32); /* LC_BUILD_VERSION */
    put32(&more, 24);
    put32(&more, 11);
    put32(&more, 0x00120300);
    put32(&more, 0x00130000);
    put32(&more, 0);
    put32(&more, 0x2a); /* LC_SOURCE_VERSION */
    put32(&more, 16);
    put64(&more, UINT64_C(1) << 40 | 2u << 30);
    m.commands = &more;
    m.command_count = 2;
    bytes file = make_file(&m);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_image_get_info(image, &info);
    CHECK_EQ(info.platform, 11);
    CHECK_EQ(info.min_os, 0x00120300);
    CHECK_EQ(info.sdk, 0x00130000);
    CHECK_EQ(info.source_version, UINT64_C(1) << 40 | 2u << 30);
    machsym_image_close(image);
    bytes_free(&file);
    static const uint32_t old[4][2] = {{0x24, 1}, {0x25, 2}, {0x2f, 3}, {0x30, 4}};
    for (unsigned i = 0; i < 4; i++) {
        more.len = 0;
        put32(&more, old[i][0]);
        put32(&more, 16);
        put32(&more, 0x000a0e02);
        put32(&more, 0x000b0000);
        m.command_count = 1;
        file = make_file(&m);
        image = test_open_bytes(file.v, file.len);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.platform, old[i][1]);
        CHECK_EQ(info.min_os, 0x000a0e02);
        CHECK_EQ(info.sdk, 0x000b0000);
        machsym_image_close(image);
        bytes_free(&file);
    }
    bytes_free(&more);
}

/* A zippered image names two platforms; a hostile one more than are kept. */
static void test_platforms(void)
{
    for (unsigned count = 0; count <= MACHSYM_MAX_PLATFORMS + 1; count++) {
        make_macho m;
        bytes more = {NULL, 0, 0};
        machsym_image_info info;
        machsym_platform platform;
        machsym_cursor at = {0, 0};
        unsigned kept = count < MACHSYM_MAX_PLATFORMS ? count : MACHSYM_MAX_PLATFORMS;
        memset(&m, 0, sizeof m);
        for (unsigned i = 0; i < count; i++) {
            put32(&more, 0x32); /* LC_BUILD_VERSION */
            put32(&more, 24);
            put32(&more, i == 0 ? 1 : 5 + i); /* macOS, Mac Catalyst */
            put32(&more, 0x000b0000 + i);
            put32(&more, 0x000c0000 + i);
            put32(&more, 0);
        }
        m.commands = &more;
        m.command_count = count;
        bytes file = make_file(&m);
        machsym_image *image = test_open_bytes(file.v, file.len);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.platform, count == 0 ? 0 : 1);
        CHECK_EQ(info.min_os, count == 0 ? 0 : 0x000b0000);
        CHECK_EQ(info.sdk, count == 0 ? 0 : 0x000c0000);
        for (unsigned i = 0; i < kept; i++) {
            CHECK(machsym_image_next_platform(image, &at, &platform));
            CHECK_EQ(platform.platform, i == 0 ? 1 : 5 + i);
            CHECK_EQ(platform.min_os, 0x000b0000 + i);
            CHECK_EQ(platform.sdk, 0x000c0000 + i);
        }
        CHECK(!machsym_image_next_platform(image, &at, &platform));
        machsym_image_close(image);
        bytes_free(&file);
        bytes_free(&more);
    }
}

/* Sections beyond 4 GB: section_64.offset has 32 bits and wraps; a step back is a carry. The file is
 * sparse. */
static void test_wrapping_offsets(void)
{
    char path[] = "/tmp/machsym-wrap-XXXXXX";
    uint64_t far = UINT64_C(0x100001000);
    make_macho m;
    bytes first = {NULL, 0, 0};
    bytes second = {NULL, 0, 0};
    if (sizeof(size_t) < 8) {
        test_leave_out("a file over 4 GB", "it cannot be mapped here");
        return;
    }
    put_str(&first, "near");
    put_str(&second, "far away");
    memset(&m, 0, sizeof m);
    m.uuid = 1;
    make_add(&m, "__debug_str", &first);
    make_add(&m, "__debug_line_str", &second);
    bytes file = make_file(&m);
    /* the second section: its header is the last of the __DWARF segment; give it the low bits of where it
     * will be */
    size_t header = 32 + (72 + 80) + 72 + 80;
    CHECK_EQ(file.v[header + 8], 'l');
    patch(&file, header + 48, (uint32_t)far, 4);
    patch(&file, header - 80 + 48, 0x1100, 4); /* the first stays near, above the second's low bits */
    int fd = mkstemp(path);
    bool written = fd >= 0 && write(fd, file.v, file.len) == (ssize_t)file.len &&
                   pwrite(fd, first.v, first.len, 0x1100) == (ssize_t)first.len &&
                   pwrite(fd, second.v, second.len, (off_t)far) == (ssize_t)second.len;
    CHECK(written);
    machsym_image *image = test_open(path);
    machsym_section section = section_named(image, "__debug_line_str");
    CHECK_EQ(section.offset, far);
    CHECK_STR(text_of(section), "far away");
    CHECK_EQ(section_named(image, "__debug_str").offset, 0x1100);
    machsym_image_close(image);
    close(fd);
    unlink(path);
    bytes_free(&file);
    bytes_free(&first);
    bytes_free(&second);
}

static void test_fixtures(void)
{
    machsym_open_desc desc;
    machsym_slice slices[4];
    machsym_error err;
    static const char *const fat_files[] = {"tests/fixtures/bin/inline-fat.dwarf",
                                            "tests/fixtures/bin/inline-fat64.dwarf"};
    for (unsigned i = 0; i < 2; i++) {
        memset(&desc, 0, sizeof desc);
        desc.path = fat_files[i];
        CHECK_EQ(machsym_list_slices(&desc, slices, 4, &err), 2);
        CHECK_TEXT(slices[0].arch, "x86_64");
        CHECK_TEXT(slices[1].arch, "arm64");
        CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_AMBIGUOUS);
        desc.arch = "arm64";
        CHECK_EQ(open_result(&desc, &err), MACHSYM_OK);
    }
    static const struct {
        const char *path;
        const char *arch;
        uint32_t filetype;
    } rows[] = {
        {"plain-arm64.bundle", "arm64", 8},
        {"plain-arm64.kext", "arm64", 11},
        {"plain-arm64.dylinker", "arm64", 7},
        {"plain-armv7k.o", "armv7k", 1},
        {"plain-i386-d2.o", "i386", 1},
        {"inline-arm64e-d4.dwarf", "arm64e", 10},
        {"inline-arm64_32-d4-22.dwarf", "arm64_32", 10},
        {"exports-arm64-chained.dylib", "arm64", 6},
        {"inline-arm64-d5-22", "arm64", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "tests/fixtures/bin/%s", rows[i].path);
        machsym_image *image = test_open(path);
        machsym_image_info info;
        machsym_image_get_info(image, &info);
        CHECK_TEXT(info.slice.arch, rows[i].arch);
        CHECK_EQ(info.slice.filetype, rows[i].filetype);
        CHECK_STR(info.name, rows[i].path);
        CHECK_EQ(info.damage_count, 0);
        machsym_image_close(image);
    }
}

/* A bundle is opened by its folder; a binary finds the dSYM beside it; a pair must be of one UUID. */
static void test_pairs(void)
{
    machsym_open_desc desc;
    machsym_image_info info;
    machsym_error err;
    machsym_image *image = test_open("tests/fixtures/bin/demo.app.dSYM/");
    machsym_image_get_info(image, &info);
    CHECK_STR(info.name, "demo");
    CHECK_TEXT(info.path, "tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo");
    CHECK(info.has_dwarf && info.pair_path == NULL);
    machsym_image_close(image);

    image = test_open("tests/fixtures/bin/inline-arm64-d5-22");
    machsym_image_get_info(image, &info);
    CHECK(info.has_dwarf && info.has_function_starts);
    CHECK_TEXT(info.pair_path != NULL ? info.pair_path : "",
               "tests/fixtures/bin/inline-arm64-d5-22.dSYM/Contents/Resources/DWARF/inline-arm64-d5-22");
    machsym_image_close(image);

    memset(&desc, 0, sizeof desc);
    desc.path = "tests/fixtures/bin/inline-arm64-d5-22";
    desc.flags = MACHSYM_OPEN_NO_PAIR;
    image = test_open_desc(&desc);
    machsym_image_get_info(image, &info);
    CHECK(!info.has_dwarf && info.pair_path == NULL);
    machsym_image_close(image);

    desc.flags = 0;
    desc.path = "tests/fixtures/bin/demo.app.dSYM";
    desc.pair_path = "tests/fixtures/bin/demo";
    image = test_open_desc(&desc);
    machsym_image_get_info(image, &info);
    CHECK(info.has_dwarf && info.has_function_starts);
    machsym_cursor at = {0, 0};
    machsym_section section;
    unsigned paired = 0;
    while (machsym_image_next_section(image, &at, &section))
        paired += section.is_pair;
    CHECK(paired > 0);
    machsym_image_close(image);

    desc.pair_path = "tests/fixtures/bin/inline-arm64-d5-22";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_PAIR);
    CHECK_TEXT(err.where, "LC_UUID");
    desc.pair_path = "tests/fixtures/bin/no-such-file";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_IO);
    CHECK(err.os_errno != 0);
    desc.pair_path = "tests/fixtures/NOTES.md";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_FORMAT);
}

static void copy_to(const char *from, const char *to)
{
    test_file file = test_read(from);
    FILE *out = fopen(to, "wb");
    CHECK(out != NULL && fwrite(file.ptr, 1, file.len, out) == file.len && fclose(out) == 0);
    free(file.ptr);
}

/* Makes the folders below top that a path leads through. */
static void make_folders(const char *top, const char *path)
{
    char folder[256];
    for (const char *p = strchr(path, '/'); p != NULL; p = strchr(p + 1, '/')) {
        snprintf(folder, sizeof folder, "%s/%.*s", top, (int)(p - path), path);
        mkdir(folder, 0700);
    }
}

/* The dSYM of a bundle stands beside the bundle, however deep inside the binary lies. What is no bundle has
 * none. */
static void test_bundles(void)
{
    static const struct {
        const char *binary;
        const char *dsym;
        bool found;
    } rows[] = {
        {"a.app/Contents/MacOS/x", "a.app.dSYM", true},
        {"a.framework/x", "a.framework.dSYM", true},
        {"a.framework//x", "a.framework.dSYM", true},
        {"a.appex/x", "a.appex.dSYM", true},
        {"a.xpc/x", "a.xpc.dSYM", true},
        {"a.bundle/x", "a.bundle.dSYM", true},
        {"a.kext/Contents/MacOS/x", "a.kext.dSYM", true},
        {"a.xctest/x", "a.xctest.dSYM", true},
        {"a.app/b.appex/x", "a.app.dSYM", true},
        {"folder/x", "folder.dSYM", false},
        {"folder/x", "folder/x.dSYM", true},
        {"a.app/b/x", "a.app/b.dSYM", false},
    };
    char top[] = "/tmp/machsym-bundles-XXXXXX";
    char command[64];
    CHECK(mkdtemp(top) != NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char inside[128];
        char binary[256];
        char dsym[256];
        machsym_image_info info;
        snprintf(inside, sizeof inside, "%zu/%s", i, rows[i].binary);
        make_folders(top, inside);
        snprintf(binary, sizeof binary, "%s/%s", top, inside);
        copy_to("tests/fixtures/bin/inline-arm64-d5-22", binary);
        snprintf(inside, sizeof inside, "%zu/%s/Contents/Resources/DWARF/x", i, rows[i].dsym);
        make_folders(top, inside);
        snprintf(dsym, sizeof dsym, "%s/%s", top, inside);
        copy_to("tests/fixtures/bin/inline-arm64-d5-22.dSYM/Contents/Resources/DWARF/inline-arm64-d5-22",
                dsym);
        machsym_image *image = test_open(binary);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.has_dwarf, rows[i].found);
        CHECK_TEXT(info.pair_path != NULL ? info.pair_path : "", rows[i].found ? dsym : "");
        machsym_image_close(image);
        if (i == 0) { /* a file of its own whose name says what it is */
            snprintf(binary, sizeof binary, "%s/thing.dSYM", top);
            copy_to(dsym, binary);
            image = test_open(binary);
            machsym_image_get_info(image, &info);
            CHECK_STR(info.name, "thing");
            machsym_image_close(image);
        }
    }
    snprintf(command, sizeof command, "rm -r %s", top);
    CHECK_EQ(system(command), 0);
}

/* What is no regular file gives an error at once: a FIFO must not block. */
static void test_odd_files(void)
{
    char folder[] = "/tmp/machsym-odd-XXXXXX";
    char path[64];
    machsym_open_desc desc;
    machsym_error err;
    CHECK(mkdtemp(folder) != NULL);
    memset(&desc, 0, sizeof desc);
    snprintf(path, sizeof path, "%s/fifo", folder);
    desc.path = path;
    CHECK(mkfifo(path, 0600) == 0);
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_IO);
    CHECK_TEXT(err.what, "a FIFO or a device, not a regular file");
    unlink(path);
    snprintf(path, sizeof path, "%s/empty", folder);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_FORMAT);
    CHECK_TEXT(err.what, "the file is empty");
    desc.flags = MACHSYM_OPEN_COPY;
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_FORMAT);
    unlink(path);
    desc.flags = 0;
    desc.path = folder;
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_IO);
    CHECK_EQ(err.os_errno, 0);
    desc.path = "/dev/null";
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_IO);
    rmdir(folder);
    CHECK_EQ(open_result(&desc, &err), MACHSYM_ERR_IO);
}

/* With OPEN_COPY nothing of the file is needed afterwards: it may shrink to nothing. */
static void test_copy(void)
{
    char path[] = "/tmp/machsym-copy-XXXXXX";
    test_file file = test_read("tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo");
    int fd = mkstemp(path);
    machsym_open_desc desc;
    machsym_frame frames[8];
    CHECK(fd >= 0 && write(fd, file.ptr, file.len) == (ssize_t)file.len);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = MACHSYM_OPEN_COPY;
    machsym_image *image = test_open_desc(&desc);
    CHECK(ftruncate(fd, 0) == 0);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    uint64_t addr = machsym_image_addr_of_pc(image, 0x102a30000, 0x102a30aef);
    CHECK_EQ(machsym_session_frames_at_addr(session, addr, frames, 8), 4);
    CHECK_STR(frames[3].name, "-[Player skip:]");
    machsym_session_close(session);
    machsym_image_close(image);
    close(fd);
    unlink(path);
    free(file.ptr);
}

/* What is told of a cut agrees with the sections: the first one that is cut, and where the last one ends. */
static void check_cut(const machsym_image *image, const machsym_image_info *info)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    bool is_first = true;
    uint64_t end = 0;
    while (machsym_image_next_section(image, &at, &section)) {
        if (section.offset == 0 || section.bytes.len == section.size)
            continue;
        if (is_first) {
            CHECK(test_same(info->cut.name, section.name));
            CHECK_EQ(info->cut.size, section.size);
            CHECK_EQ(info->cut.present, section.bytes.len);
            CHECK(info->cut.present > 0);
        }
        is_first = false;
        end = section.offset + section.size;
    }
    CHECK(!is_first && !info->cut.is_pair && !info->damage.is_pair);
    CHECK_EQ(info->cut.missing, end - info->slice.size);
}

/* What was found damaged while opening is told: what, where, and whether the file is cut short. */
static void test_damage_told(void)
{
    test_file file = test_read("tests/fixtures/bin/inline-x86_64-d4-22.dwarf");
    machsym_image_info info;
    machsym_image *image = test_open_bytes(file.ptr, file.len);
    machsym_image_get_info(image, &info);
    CHECK_EQ(info.damage_count, 0);
    CHECK_TEXT(info.damage.what, "");
    CHECK_TEXT(info.damage.where, "");
    CHECK(!info.damage.is_cut_short);
    CHECK(info.cut.name.len == 0 && info.cut.size == 0 && info.cut.missing == 0);
    machsym_image_close(image);

    image = test_open_bytes(file.ptr, file.len / 4 * 3); /* no section that lies in front is lost */
    machsym_image_get_info(image, &info);
    CHECK(info.damage_count > 0);
    CHECK_TEXT(info.damage.what, "a section runs past the end of the file");
    CHECK_TEXT(info.damage.where, "section");
    CHECK(info.damage.offset > 0 && info.damage.is_cut_short);
    check_cut(image, &info);
    machsym_image_close(image);

    file.ptr[0x54] = 0xff; /* cmdsize of LC_SYMTAB */
    image = test_open_bytes(file.ptr, file.len);
    machsym_image_get_info(image, &info);
    CHECK_EQ(info.damage_count, 1);
    CHECK_TEXT(info.damage.where, "load commands");
    CHECK_EQ(info.damage.offset, 0x50);
    CHECK(!info.damage.is_cut_short);
    machsym_image_close(image);
    free(file.ptr);
}

int main(void)
{
    test_thin();
    test_arch_names();
    test_fat(false);
    test_fat(true);
    test_similar();
    test_fat_damage();
    test_wrong_magic();
    test_sections(false);
    test_sections(true);
    test_command_damage();
    test_versions();
    test_platforms();
    test_wrapping_offsets();
    test_fixtures();
    test_pairs();
    test_bundles();
    test_odd_files();
    test_copy();
    test_damage_told();
    return test_done();
}
