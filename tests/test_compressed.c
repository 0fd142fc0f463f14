/* Compressed debug info (__zdebug_*): answers are those of the same file without compression; a stream that
 * lies costs its section, and no more memory than the budget allows. */
#define TEST_PUBLIC
#include "dwarf.h"

static const char plain_path[] = "tests/fixtures/bin/inline-x86_64-d4-22.dwarf";
static const char packed_path[] = "tests/fixtures/bin/inline-x86_64-d4-zdebug.dwarf";

static size_t live;
static size_t peak;

static void *count_alloc(void *user, size_t size)
{
    (void)user;
    live += size;
    peak = live > peak ? live : peak;
    return malloc(size);
}

static void count_free(void *user, void *ptr, size_t size)
{
    (void)user;
    live -= size;
    free(ptr);
}

static machsym_image *open_bytes(const void *ptr, size_t len, uint32_t flags)
{
    machsym_open_desc desc;
    machsym_allocator counting = {count_alloc, count_free, NULL};
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    desc.flags = flags;
    desc.allocator = counting;
    live = peak = 0;
    return test_open_desc(&desc);
}

static machsym_image_info info_of(const machsym_image *image)
{
    machsym_image_info info;
    CHECK(machsym_image_count_damage(image, &info));
    return info;
}

/* Where the contents of a section begin in the file, and their length. */
static size_t find_section(const machsym_image *image, const char *name, size_t *len)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    while (machsym_image_next_section(image, &at, &section)) {
        if (test_same(section.name, test_str(name))) {
            *len = section.bytes.len;
            return (size_t)section.offset;
        }
    }
    printf("%s: no such section\n", name);
    exit(1);
}

/* What of an answer must agree. */
enum { NAMES = 1, LINES = 2 };

/* Asks both images for every address of code. Returns how many frames agreed; others are failures. */
static size_t compare(const machsym_image *a, const machsym_image *b, int what)
{
    machsym_session *one = test_session(a, MACHSYM_LINES_ATOS, 0);
    machsym_session *two = test_session(b, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_section section;
    machsym_frame f[16];
    machsym_frame g[16];
    char path[2][512];
    size_t agreed = 0;
    bool same = true;
    while (machsym_image_next_section(a, &at, &section)) {
        for (uint64_t i = 0; section.is_code && i < section.size; i++) {
            size_t count = machsym_session_frames_at_addr(one, section.addr + i, f, 16);
            same = same && machsym_session_frames_at_addr(two, section.addr + i, g, 16) == count;
            for (size_t j = 0; same && j < count; j++) {
                machsym_path_join(&f[j].file, path[0], sizeof path[0]);
                machsym_path_join(&g[j].file, path[1], sizeof path[1]);
                same = ((what & NAMES) == 0 || test_same(f[j].name, g[j].name)) &&
                       ((what & LINES) == 0 || (f[j].line == g[j].line && f[j].column == g[j].column &&
                                                strcmp(path[0], path[1]) == 0));
                agreed++;
            }
        }
    }
    CHECK(same);
    machsym_session_close(one);
    machsym_session_close(two);
    return agreed;
}

static void test_same_answers(const machsym_image *plain)
{
    machsym_image *packed = test_open(packed_path);
    CHECK(info_of(packed).has_compressed_dwarf);
    CHECK(info_of(packed).has_dwarf);
    CHECK(!info_of(plain).has_compressed_dwarf);
    CHECK_EQ(info_of(packed).damage_count, 0);
    CHECK(compare(plain, packed, NAMES | LINES) > 300);
    machsym_image_close(packed);
}

/* A copy of the packed file in which a byte of a section has another value. from_end: counted from there. */
typedef struct lie {
    const char *section;
    bool from_end;
    size_t at;
    uint8_t flip;
    const char *what; /* of the damage; "": none */
    bool has_dwarf;
    int same; /* what still agrees with the plain file */
} lie;

static const lie lies[] = {
    {"__zdebug_info", false, 0, 1, "compressed debug info does not begin with ZLIB and its size", false, 0},
    {"__zdebug_info", false, 4, 0x80, "compressed debug info is larger than MACHSYM_INFLATED_PER_BYTE allows",
     false, 0},
    {"__zdebug_info", false, 8, 1, "compressed debug info is larger than MACHSYM_INFLATED_PER_BYTE allows",
     false, 0},
    {"__zdebug_info", false, 9, 1, "compressed debug info is damaged", true, NAMES | LINES}, /* too large */
    {"__zdebug_info", false, 12, 1, "compressed debug info is damaged", false, 0},
    {"__zdebug_info", true, 1, 1, "compressed debug info is damaged", false, 0}, /* the checksum */
    {"__zdebug_line", true, 1, 1, "compressed debug info is damaged", true, NAMES},
    {"__zdebug_line", false, 40, 1, "compressed debug info is damaged", true, NAMES},
    {"__zdebug_aranges", true, 1, 1, "compressed debug info is damaged", true, NAMES | LINES},
    {"__zdebug_loc", true, 1, 1, "", true, NAMES | LINES}, /* is not read */
};

/* Asks a file for its symbols. Returns how much memory it then has more than when it was opened. */
static size_t grown_by_symbols(const machsym_image *image)
{
    size_t opened = live;
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    CHECK(machsym_session_next_symbol(session, &at, &symbol));
    machsym_session_close(session);
    return live - opened;
}

/* Who asks for symbols alone has nothing decompressed: the file takes no more than one without compression, and
 * a lie is not found. */
static void check_symbols(const test_file *file)
{
    test_file without = test_read(plain_path);
    machsym_image *plain = open_bytes(without.ptr, without.len, 0);
    size_t grown = grown_by_symbols(plain);
    machsym_image_close(plain);
    free(without.ptr);
    machsym_image *image = open_bytes(file->ptr, file->len, 0);
    machsym_image_info info;
    CHECK_EQ(grown_by_symbols(image), grown);
    machsym_image_get_info(image, &info);
    CHECK(info.has_compressed_dwarf);
    CHECK(info.has_dwarf); /* as the section's header says */
    CHECK_EQ(info.damage_count, 0);
    machsym_image_close(image);
}

static void test_lies(const machsym_image *plain)
{
    test_file file = test_read(packed_path);
    machsym_image *packed = open_bytes(file.ptr, file.len, 0);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        const lie *l = &lies[i];
        size_t len;
        size_t at = find_section(packed, l->section, &len);
        at += l->from_end ? len - l->at : l->at;
        file.ptr[at] ^= l->flip;
        machsym_image *image = open_bytes(file.ptr, file.len, 0);
        machsym_image_info info = info_of(image);
        CHECK_TEXT(info.damage.what, l->what);
        CHECK_EQ(info.damage_count, l->what[0] != 0);
        CHECK_EQ(info.has_dwarf, l->has_dwarf);
        CHECK(l->same == 0 || compare(plain, image, l->same) > 300);
        CHECK(peak < 16 * file.len + (4 << 20));
        machsym_image_close(image);
        CHECK_EQ(live, 0);
        check_symbols(&file);
        file.ptr[at] ^= l->flip;
    }
    /* the file ends inside a stream: what it has until there answers */
    size_t len;
    size_t at = find_section(packed, "__zdebug_info", &len);
    machsym_image *image = open_bytes(file.ptr, at + len / 2, 0);
    CHECK(info_of(image).damage.is_cut_short);
    CHECK(info_of(image).has_dwarf);
    machsym_image_close(image);
    machsym_image_close(packed);
    free(file.ptr);
}

/* Streams of one byte, repeated: 158 for each byte. The file says how many there are, or less. */
static void test_bombs(void)
{
    enum { COPIES = 400000 };
    uint64_t out = 1 + (uint64_t)COPIES * 258;
    for (int liar = 0; liar < 2; liar++) {
        bytes content = {NULL, 0, 0};
        make_macho macho;
        uint64_t bits =
            1 | 1 << 1 | (uint64_t)0x0c << 3; /* the last block, fixed codes, a literal 0: 00110000 */
        unsigned count = 11;
        put(&content, "ZLIB", 4);
        put_be64(&content, liar ? 1 << 20 : out);
        put16(&content, 0x9c78);
        for (size_t i = 0; i < COPIES; i++) {
            bits |= (uint64_t)0xa3 << count; /* 258 bytes: 11000101, then 00000: from the byte before */
            for (count += 13; count >= 8; count -= 8, bits >>= 8)
                put8(&content, bits);
        }
        memset(&macho, 0, sizeof macho);
        make_add(&macho, "__zdebug_info", &content);
        bytes file = make_file(&macho);
        machsym_image *image = open_bytes(file.v, file.len, 0);
        CHECK_EQ(info_of(image).damage_count, 1);
        CHECK(!info_of(image).has_dwarf);
        CHECK(peak < 16 * file.len + (3 << 20));
        machsym_image_close(image);
        bytes_free(&file);
        bytes_free(&content);
    }
}

/* A section whose header claims nearly the whole file: the bytes of each section are decompressed once. */
static void test_overlap(void)
{
    static const char name[16] = "__zdebug_abbrev";
    test_file file = test_read(packed_path);
    size_t at = 0;
    while (memcmp(file.ptr + at, name, sizeof name) != 0)
        at++;
    bytes header = {NULL, 0, 0}; /* from its size on: section_64 in loader.h */
    put64(&header, file.len - 1);
    put32(&header, 1);
    memcpy(file.ptr + at + 40, header.v, header.len);
    machsym_image *image = open_bytes(file.ptr, file.len, 0);
    CHECK_TEXT(info_of(image).damage.what, "a section lies outside of its segment");
    CHECK_EQ(info_of(image).damage_count,
             7); /* with the sections that it reaches over, and what is not unpacked */
    CHECK(info_of(image).cut.size == 0);
    machsym_image_close(image);
    bytes_free(&header);
    free(file.ptr);
}

/* A zlib stream of one stored block, after the head of a compressed section. RFC 1950, 1951 */
static bytes stored(const bytes *plain)
{
    bytes b = {NULL, 0, 0};
    uint32_t low = 1;
    uint32_t high = 0;
    put(&b, "ZLIB", 4);
    put_be64(&b, plain->len);
    put16(&b, 0x0178);
    put8(&b, 1);
    put16(&b, (uint16_t)plain->len);
    put16(&b, (uint16_t)~plain->len);
    put_bytes(&b, plain);
    for (size_t i = 0; i < plain->len; i++) {
        low = (low + plain->v[i]) % 65521;
        high = (high + low) % 65521;
    }
    for (unsigned i = 0; i < 4; i++)
        put8(&b, (high << 16 | low) >> (24 - 8 * i) & 0xff);
    return b;
}

/* A unit with one function of this name, as .debug_info; the abbreviations are the same for all. */
static void put_named(program *p, const char *name)
{
    ABBREV(p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, 2, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    abbrev_end(p);
    unit_begin(p, dwarf4, 1, 0);
    for (unsigned code = 1; code < 3; code++) {
        die(p, code);
        if (code == 2)
            put_str(&p->info, name);
        put_addr(p, &p->info, 0x1000);
        put32(&p->info, 0x1000);
    }
    put8(&p->info, 0);
    unit_end(p);
}

/* Of sections of one name the first counts; one that is compressed counts where there is no plain one, wherever
 * it stands. Sections are written p1, p2 (plain) and z1, z2 (compressed). */
static void test_beside(void)
{
    static const struct {
        const char *sections;
        const char *name;
    } cases[] = {{"p1", "p1"},   {"z1", "z1"},   {"p1z1", "p1"},   {"z1p1", "p1"},       {"p1p2", "p1"},
                 {"z1z2", "z1"}, {"z2z1", "z2"}, {"z1p1p2", "p1"}, {"z1z2p2z1p1", "p2"}, {"p2z1z2", "p2"}};
    static const char *const names[] = {"p1", "p2", "z1", "z2"};
    program p[4];
    bytes infos[4];
    memset(p, 0, sizeof p);
    for (unsigned i = 0; i < 4; i++) {
        put_named(&p[i], names[i]);
        infos[i] = i < 2 ? p[i].info : stored(&p[i].info);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_macho macho;
        machsym_frame frame;
        memset(&macho, 0, sizeof macho);
        for (const char *at = cases[i].sections; *at != 0; at += 2) {
            unsigned which = (at[0] == 'z') * 2u + (at[1] == '2');
            make_add(&macho, which < 2 ? "__debug_info" : "__zdebug_info", &infos[which]);
        }
        make_add(&macho, "__debug_abbrev", &p[0].abbrev);
        bytes file = make_file(&macho);
        machsym_image *image = open_bytes(file.v, file.len, 0);
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        CHECK_EQ(info_of(image).damage_count, 0);
        CHECK_EQ(machsym_session_frames_at_addr(session, 0x1000, &frame, 1), 1);
        CHECK_STR(frame.name, cases[i].name);
        machsym_session_close(session);
        machsym_image_close(image);
        bytes_free(&file);
    }
    for (unsigned i = 0; i < 4; i++) {
        if (i >= 2)
            bytes_free(&infos[i]);
        program_free(&p[i]);
    }
}

int main(void)
{
    machsym_image *plain = test_open(plain_path);
    test_same_answers(plain);
    test_lies(plain);
    test_bombs();
    test_overlap();
    test_beside();
    machsym_image_close(plain);
    return test_done();
}
