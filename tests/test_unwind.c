/* The room unwind: where functions begin and end, by __unwind_info and __eh_frame made by hand. The bytes
 * follow compact_unwind_encoding.h and LSB 10.6; what llvm-objdump --unwind-info and llvm-dwarfdump
 * --eh-frame can read of them, they read the same. */
#include "test.h"
#include "make.h"

enum { ARM = 12, EH_FRAME = 0x4000 };

static make_macho program_of(const char *section, const bytes *content)
{
    make_macho m;
    memset(&m, 0, sizeof m);
    m.filetype = 2; /* MH_EXECUTE */
    make_add(&m, section, content);
    m.sections[0].segment = "__TEXT";
    m.sections[0].addr = EH_FRAME;
    return m;
}

/* The functions of a program begin at these addresses and nowhere else; 0 ends them. */
static void check_starts(const make_macho *m, const uint64_t *want)
{
    bytes file = make_file(m);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    for (; machsym_session_next_symbol(s, &at, &symbol) && *want != 0; want++) {
        CHECK_EQ(symbol.lo, *want);
        CHECK_EQ(symbol.source, MACHSYM_SOURCE_FUNCTION_STARTS);
    }
    CHECK_EQ(*want, 0);
    CHECK(!machsym_session_next_symbol(s, &at, &symbol));
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&file);
}

/* ---- __unwind_info ---- */

/* unwind_info_section_header */
static void put_header(bytes *b, uint32_t version, uint32_t pages)
{
    put32(b, version);
    put32(b, 28); /* common encodings: none */
    put32(b, 0);
    put32(b, 28); /* personalities: none */
    put32(b, 0);
    put32(b, 28); /* the index */
    put32(b, pages);
}

/* unwind_info_section_header_index_entry */
static void put_index(bytes *b, uint32_t function, uint32_t page)
{
    put32(b, function);
    put32(b, page);
    put32(b, 0);
}

/* A regular page, a compressed one, and the entry that ends them. */
static bytes unwind_info(uint32_t version)
{
    bytes b = {NULL, 0, 0};
    put_header(&b, version, 3);
    put_index(&b, 0x100, 64);
    put_index(&b, 0x400, 88);
    put_index(&b, 0x900, 0);
    put32(&b, 2); /* at 64: UNWIND_SECOND_LEVEL_REGULAR */
    put16(&b, 8);
    put16(&b, 2);
    put32(&b, 0x100);
    put32(&b, 0x04000000);
    put32(&b, 0x280);
    put32(&b, 0x02000000);
    put32(&b, 3); /* at 88: UNWIND_SECOND_LEVEL_COMPRESSED */
    put16(&b, 12);
    put16(&b, 3);
    put16(&b, 24);
    put16(&b, 1);
    put32(&b, 0x00000000);
    put32(&b, 0x00000110); /* 24 bits count from the page's first function */
    put32(&b, 0x01000220); /* 8 bits are the number of an encoding */
    put32(&b, 0x02000000);
    return b;
}

static void test_compact(void)
{
    static const uint64_t all[] = {0x1100, 0x1280, 0x1400, 0x1510, 0x1620, 0x1900, 0};
    static const uint64_t none[] = {0};
    bytes b = unwind_info(1);
    make_macho m = program_of("__unwind_info", &b);
    check_starts(&m, all);
    m.is_32 = true;
    m.cputype = 7;
    check_starts(&m, all);
    bytes_free(&b);
    b = unwind_info(2); /* an unknown version */
    check_starts(&m, none);
    bytes_free(&b);
}

/* Bit 0 of a function of 32-bit ARM says Thumb. */
static void test_thumb(void)
{
    static const uint64_t want[] = {0x1100, 0x1280, 0x1400, 0x1510, 0x1620, 0x1900, 0};
    bytes b = unwind_info(1);
    make_macho m = program_of("__unwind_info", &b);
    m.is_32 = true;
    m.cputype = ARM;
    m.cpusubtype = 9;
    patch(&b, 72, 0x101, 4);
    patch(&b, 80, 0x281, 4);
    check_starts(&m, want);
    bytes_free(&b);
}

/* Damage in a page costs that page, from where it cannot be read. */
static void test_compact_damage(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        unsigned size;
        uint64_t want[7];
    } rows[] = {
        {64, 9, 4, {0x1100, 0x1400, 0x1510, 0x1620, 0x1900, 0}},           /* an unknown kind */
        {88, 4, 4, {0x1100, 0x1280, 0x1400, 0x1900, 0}},                   /* the same of the other page */
        {32, 0xfffff0, 4, {0x1100, 0x1400, 0x1510, 0x1620, 0x1900, 0}},    /* a page after the section */
        {68, 0xfff0, 2, {0x1100, 0x1400, 0x1510, 0x1620, 0x1900, 0}},      /* entries after it */
        {94, 0xffff, 2, {0x1100, 0x1280, 0x1400, 0x1510, 0x1620, 0x1900}}, /* more entries than bytes */
        {20, 0xfffff0, 4, {0}},                                            /* an index after the section */
        {56, 124, 4, {0x1100, 0x1280, 0x1400, 0x1510, 0x1620, 0x1900, 0}}, /* half a page header */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes b = unwind_info(1);
        uint64_t want[8] = {0};
        memcpy(want, rows[i].want, sizeof rows[i].want);
        patch(&b, rows[i].at, rows[i].value, rows[i].size);
        make_macho m = program_of("__unwind_info", &b);
        check_starts(&m, want);
        bytes_free(&b);
    }
}

/* An index that says it is longer than the section ends with it. */
static void test_long_index(void)
{
    static const uint64_t want[] = {0x1100, 0x1400, 0x1900, 0};
    bytes b = unwind_info(1);
    make_macho m = program_of("__unwind_info", &b);
    patch(&b, 24, 0xffffffff, 4);
    b.len = 64; /* the pages are gone */
    check_starts(&m, want);
    bytes_free(&b);
}

/* ---- __eh_frame ---- */

/* How the FDEs of a CIE write a pointer, and how many bytes that takes. */
typedef struct pointer {
    unsigned encoding; /* DW_EH_PE_* */
    unsigned size;
    bool is_32;
} pointer;

static size_t begin_entry(bytes *b, bool is_long)
{
    put32(b, is_long ? 0xffffffff : 0);
    if (is_long)
        put64(b, 0);
    return b->len;
}

static void end_entry(bytes *b, size_t at, bool is_long)
{
    while ((b->len - at) % 4 != 0)
        put8(b, 0); /* DW_CFA_nop */
    patch(b, is_long ? at - 8 : at - 4, b->len - at, is_long ? 8 : 4);
}

/* A CIE; its data is what its augmentation asks for, encoding the byte of R. Returns where it stands. */
static size_t put_cie(bytes *b, unsigned version, const char *augmentation, unsigned encoding, bool is_long)
{
    size_t begin = b->len;
    size_t at = begin_entry(b, is_long);
    bytes data = {NULL, 0, 0};
    for (const char *p = augmentation; *p != 0; p++) {
        if (*p == 'R')
            put8(&data, encoding);
        if (*p == 'L')
            put8(&data, 0x10);
        if (*p == 'P') {
            put8(&data, 0x9b);
            put32(&data, 0x1234);
        }
    }
    put32(b, 0);
    put8(b, version);
    put_str(b, augmentation);
    put_uleb(b, 1);
    put_sleb(b, -8);
    if (version == 1)
        put8(b, 16);
    else
        put_uleb(b, 16);
    if (*augmentation == 'z') {
        put_uleb(b, data.len);
        put_bytes(b, &data);
    }
    end_entry(b, at, is_long);
    bytes_free(&data);
    return begin;
}

static void put_fde(bytes *b, size_t cie, pointer p, uint64_t lo, uint64_t size)
{
    size_t at = begin_entry(b, false);
    put32(b, b->len - cie);
    put_uint(b, (p.encoding & 0x70) == 0x10 ? lo - (EH_FRAME + b->len) : lo, p.size);
    put_uint(b, size, p.size);
    put8(b, 0); /* no augmentation data */
    end_entry(b, at, false);
}

/* Every size, signed or not, absolute or relative to its own place. */
static void test_encodings(void)
{
    static const pointer all[] = {{0x00, 8, false}, {0x02, 2, false}, {0x03, 4, false}, {0x04, 8, false},
                                  {0x0a, 2, false}, {0x0b, 4, false}, {0x0c, 8, false}, {0x10, 8, false},
                                  {0x1a, 2, false}, {0x1b, 4, false}, {0x1c, 8, false}, {0x14, 8, false},
                                  {0x00, 4, true},  {0x10, 4, true},  {0x1b, 4, true},  {0x13, 4, true},
                                  {0x0c, 8, true},  {0x9b, 4, false}};
    static const uint64_t want[] = {0x1200, 0x1280, 0x1300, 0x1310, 0};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bytes b = {NULL, 0, 0};
        pointer p = all[i];
        if (p.encoding == 0x9b)
            p.encoding = 0x1b; /* DW_EH_PE_indirect is for personalities; it changes nothing here */
        size_t cie = put_cie(&b, 1, "zR", all[i].encoding, false);
        put_fde(&b, cie, p, 0x1200, 0x80);
        put_fde(&b, cie, p, 0x1300, 0x10);
        make_macho m = program_of("__eh_frame", &b);
        m.is_32 = p.is_32;
        m.cputype = p.is_32 ? 7 : 0;
        check_starts(&m, want);
        bytes_free(&b);
    }
}

/* Which augmentations say how addresses are written; without R they are words. */
static void test_augmentations(void)
{
    static const struct {
        const char *text;
        unsigned version;
        bool is_long;
        pointer p;
    } rows[] = {
        {"zR", 1, false, {0x1b, 4, false}},
        {"zPLR", 1, false, {0x1b, 4, false}},
        {"zRS", 3, false, {0x1b, 4, false}},
        {"zPLRS", 3, true, {0x1b, 4, false}},
        {"zLR", 1, true, {0x03, 4, false}},
        {"zPR", 1, false, {0x0b, 4, false}},
        {"zRB", 1, false, {0x1b, 4, false}},
        {"", 1, false, {0x00, 8, false}},
        {"z", 1, false, {0x00, 8, false}},
        {"zL", 1, false, {0x00, 8, false}},
        {"zP", 3, false, {0x00, 8, false}},
        {"zS", 1, false, {0x00, 8, false}},
        {"eh-other", 1, false, {0x00, 8, false}},
        {"sixteen bytes or more", 1, false, {0x00, 8, false}},
        {"zzzzzzzzzzzzzzzzzzzzR", 1, false, {0x00, 8, false}},
    };
    static const uint64_t want[] = {0x1200, 0x1280, 0x1300, 0x1310, 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes b = {NULL, 0, 0};
        size_t cie = put_cie(&b, rows[i].version, rows[i].text, rows[i].p.encoding, rows[i].is_long);
        put_fde(&b, cie, rows[i].p, 0x1200, 0x80);
        put_fde(&b, cie, rows[i].p, 0x1300, 0x10);
        make_macho m = program_of("__eh_frame", &b);
        check_starts(&m, want);
        bytes_free(&b);
    }
}

/* An FDE that cannot be read costs itself; the entry of length 0 ends the section. */
static void test_eh_frame_damage(void)
{
    static const pointer p = {0x1b, 4, false};
    static const pointer word = {0x00, 8, false};
    static const uint64_t want[] = {0x1200, 0x1280, 0x1300, 0x1310, 0x1500, 0x1520, 0};
    bytes b = {NULL, 0, 0};
    size_t odd = put_cie(&b, 1, "zR", 0x01, false); /* DW_EH_PE_uleb128: no compiler writes it */
    size_t cie = put_cie(&b, 1, "zR", 0x1b, false);
    put_fde(&b, odd, p, 0x1100, 0x20);
    put_fde(&b, cie, p, 0x1200, 0x80);
    put32(&b, 8); /* too short for its size */
    put32(&b, b.len - cie);
    put32(&b, 0x1700 - (EH_FRAME + b.len));
    put_fde(&b, cie, p, 0x1300, 0x10);
    put32(&b, 4); /* its CIE is before the section */
    put32(&b, 0xfffff0);
    size_t words = put_cie(&b, 1, "", 0, false);
    put_fde(&b, words, word, 0x1500, 0x20);
    put32(&b, 0);
    put_fde(&b, cie, p, 0x1600, 0x10);
    make_macho m = program_of("__eh_frame", &b);
    check_starts(&m, want);
    b.len -= 22; /* after the end less than a length is left */
    check_starts(&m, want);
    bytes_free(&b);
}

/* A dSYM's and an object file's tables are not for the addresses of the program. */
static void test_not_linked(void)
{
    static const uint64_t none[] = {0};
    bytes b = unwind_info(1);
    make_macho m = program_of("__unwind_info", &b);
    m.filetype = 10;
    check_starts(&m, none);
    m.filetype = 1;
    check_starts(&m, none);
    bytes_free(&b);
}

int main(void)
{
    test_compact();
    test_thumb();
    test_compact_damage();
    test_long_index();
    test_encodings();
    test_augmentations();
    test_eh_frame_damage();
    test_not_linked();
    return test_done();
}
