/* The room symbols: which entries of LC_SYMTAB count, which name of several wins, where a guess ends, stubs,
 * and function starts. */
#include "dwarf.h"

enum {
    EXT = 0x0f,
    LOCAL = 0x0e,
    PRIVATE = 0x1f,
    UNDEFINED = 0x01,
    ABSOLUTE = 0x03,
    STAB_FUN = 0x24,
    STAB_GSYM = 0x20
};

static bool begins(machsym_str text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.ptr, with, len) == 0;
}

static lookup open_symbols(program *p, const make_symbol *symbols, size_t count)
{
    lookup l;
    p->macho.symbols = symbols;
    p->macho.symbol_count = count;
    lookup_open(&l, p, MACHSYM_LINES_ATOS, 0);
    return l;
}

static void add_code(program *p, const char *name, uint64_t addr, uint64_t size, uint32_t flags)
{
    make_section *section = &p->macho.sections[p->macho.section_count++];
    memset(section, 0, sizeof *section);
    section->segment = "__TEXT";
    section->name = name;
    section->addr = addr;
    section->size = size;
    section->flags = flags;
}

/* Opens p->macho as it is: program_open would begin its sections anew. */
static lookup open_macho(program *p)
{
    lookup l;
    memset(&l, 0, sizeof l);
    p->file = make_file(&p->macho);
    l.image = test_open_bytes(p->file.v, p->file.len);
    l.session = test_session(l.image, MACHSYM_LINES_ATOS, 0);
    return l;
}

/* The symbol's name, offset and source at an address. */
static void check_symbol(lookup *l, uint64_t addr, const char *name, uint64_t start, machsym_source source)
{
    CHECK_EQ(ask(l, addr), name == NULL ? 0 : 1);
    if (name == NULL || l->count == 0)
        return;
    CHECK_STR(l->v[0].linkage_name, name);
    CHECK_EQ(l->v[0].function_start, start);
    CHECK_EQ(l->v[0].name_source, source);
    CHECK_EQ(l->v[0].line_source, MACHSYM_SOURCE_NONE);
    CHECK_EQ(l->v[0].line, 0);
}

static void test_which(void)
{
    static const make_symbol symbols[] = {
        {"_undefined", UNDEFINED, 0, 0x1010},
        {"_absolute", ABSOLUTE, 0, 0x1020},
        {"_stab", STAB_FUN, 1, 0x1030},
        {"_below", EXT, 1, 0xff0},
        {"_above", EXT, 1, 0x2000},
        {"_header", EXT, 1, 0},
        {"", EXT, 1, 0x1050},
        {"_main", EXT, 1, 0x1100},
        {"__start", EXT, 1, 0x1200},
        {"no_underscore", LOCAL, 1, 0x1300},
        {"_", LOCAL, 1, 0x1400},
        {"\001-[Gate pass:].cold.1", LOCAL, 1, 0x1500},
        {"\001_raw", LOCAL, 1, 0x1600},
        {"-[Gate pass:]", LOCAL, 1, 0x1700},
    };
    program p;
    memset(&p, 0, sizeof p);
    lookup l = open_symbols(&p, symbols, sizeof symbols / sizeof symbols[0]);
    check_symbol(&l, 0x1000, NULL, 0, MACHSYM_SOURCE_NONE);
    check_symbol(&l, 0x10ff, NULL, 0, MACHSYM_SOURCE_NONE);
    check_symbol(&l, 0x1100, "main", 0x1100, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x11ff, "main", 0x1100, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1200, "_start", 0x1200, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1300, "no_underscore", 0x1300, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1400, "_", 0x1400, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1500, "-[Gate pass:].cold.1", 0x1500, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x17ff, "-[Gate pass:]", 0x1700, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1fff, "-[Gate pass:]", 0x1700, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x2000, NULL, 0, MACHSYM_SOURCE_NONE);
    machsym_image_info info;
    machsym_image_get_info(l.image, &info);
    CHECK_EQ(info.symbol_count, sizeof symbols / sizeof symbols[0]);
    lookup_close(&l);
    program_free(&p);
}

/* Of several names at one address: external before private before local before temporary, else the first. */
static void test_rank(void)
{
    static const make_symbol symbols[] = {
        {"ltmp0", EXT, 1, 0x1000},     {"_local", LOCAL, 1, 0x1000},      {"_private", PRIVATE, 1, 0x1000},
        {"_external", EXT, 1, 0x1000}, {"_second", EXT, 1, 0x1000},       {"_local2", LOCAL, 1, 0x1100},
        {"l_tmp", EXT, 1, 0x1100},     {"_private2", PRIVATE, 1, 0x1200}, {"_local3", LOCAL, 1, 0x1200},
        {"ltmp1", LOCAL, 1, 0x1300},
    };
    static const char *const aliases[] = {"external", "second", "private", "local", "ltmp0"};
    program p;
    memset(&p, 0, sizeof p);
    lookup l = open_symbols(&p, symbols, sizeof symbols / sizeof symbols[0]);
    check_symbol(&l, 0x1000, "external", 0x1000, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1100, "local2", 0x1100, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1200, "private2", 0x1200, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1300, "ltmp1", 0x1300, MACHSYM_SOURCE_SYMTAB);
    machsym_cursor at = {0, 0};
    machsym_str name;
    size_t count = 0;
    while (machsym_session_next_alias_at_addr(l.session, 0x1000, &at, &name) && count < 9) {
        CHECK_STR(name, count < 5 ? aliases[count] : "nothing more");
        count++;
    }
    CHECK_EQ(count, 5);
    memset(&at, 0, sizeof at);
    CHECK(!machsym_session_next_alias_at_addr(l.session, 0x1001, &at, &name));
    memset(&at, 0, sizeof at);
    CHECK(!machsym_session_next_alias_at_addr(l.session, 0, &at, &name));
    lookup_close(&l);
    program_free(&p);
}

/* A guess ends at the next symbol, the next function start, or the section's end, whichever is lowest. */
static void test_bounds(void)
{
    static const make_symbol symbols[] = {
        {"_a", EXT, 1, 0x1000}, {"_b", EXT, 1, 0x1100}, {"_c", EXT, 1, 0x1f00}, {"_d", EXT, 3, 0x3010}};
    program p;
    bytes starts = {NULL, 0, 0};
    memset(&p, 0, sizeof p);
    put_uleb(&starts, 0x80);   /* 0x1080 */
    put_uleb(&starts, 0x80);   /* 0x1100 */
    put_uleb(&starts, 0x700);  /* 0x1800 */
    put_uleb(&starts, 0x5000); /* no code */
    put_uleb(&starts, 0);
    put_uleb(&starts, 0x10); /* after the end */
    p.macho.symbols = symbols;
    p.macho.symbol_count = 4;
    p.macho.starts = &starts;
    add_code(&p, "__stuff", 0x3000, 0x100, 0x80000400u);
    add_code(&p, "__data", 0x4000, 0x100, 0);
    lookup l = open_macho(&p);
    check_symbol(&l, 0x107f, "a", 0x1000, MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(l.v[0].function_size, 0x80);
    check_symbol(&l, 0x1080, "", 0x1080, MACHSYM_SOURCE_FUNCTION_STARTS);
    CHECK_EQ(l.v[0].function_size, 0x80);
    check_symbol(&l, 0x1100, "b", 0x1100, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x17ff, "b", 0x1100, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1810, "", 0x1800, MACHSYM_SOURCE_FUNCTION_STARTS);
    check_symbol(&l, 0x1fff, "c", 0x1f00, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x2000, NULL, 0, MACHSYM_SOURCE_NONE);
    check_symbol(&l, 0x3000, NULL, 0, MACHSYM_SOURCE_NONE); /* another section: c must not reach it */
    check_symbol(&l, 0x3010, "d", 0x3010, MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(l.v[0].function_size, 0xf0);
    check_symbol(&l, 0x3100, NULL, 0, MACHSYM_SOURCE_NONE);
    check_symbol(&l, 0x4000, NULL, 0, MACHSYM_SOURCE_NONE);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    uint64_t last = 0;
    size_t count = 0;
    for (; machsym_session_next_symbol(l.session, &at, &symbol); count++) {
        CHECK(symbol.lo >= last && symbol.hi > symbol.lo);
        last = symbol.hi;
    }
    CHECK_EQ(count, 6);
    lookup_close(&l);
    program_free(&p);
    bytes_free(&starts);
}

/* Data that begins where the code ends, and a function of one byte before it. Each lookup is the session's
 * first: that one reads only the symbols around its address. */
static void test_behind_code(void)
{
    static const make_symbol symbols[] = {
        {"_a", EXT, 1, 0x1000}, {"_b", EXT, 1, 0x1fff}, {"_data", EXT, 2, 0x2000}};
    static const struct {
        uint64_t addr;
        const char *name;
        uint64_t start;
        uint64_t size;
    } want[] = {{0x1000, "a", 0x1000, 0xfff}, {0x1ffe, "a", 0x1000, 0xfff}, {0x1fff, "b", 0x1fff, 1}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        program p;
        memset(&p, 0, sizeof p);
        p.macho.symbols = symbols;
        p.macho.symbol_count = 3;
        add_code(&p, "__data", 0x2000, 0x100, 0);
        lookup l = open_macho(&p);
        check_symbol(&l, want[i].addr, want[i].name, want[i].start, MACHSYM_SOURCE_SYMTAB);
        CHECK_EQ(l.v[0].function_size, want[i].size);
        check_symbol(&l, 0x2000, NULL, 0, MACHSYM_SOURCE_NONE);
        lookup_close(&l);
        program_free(&p);
    }
}

/* Thumb functions have bit 0 set in the symbol and in the function starts. */
static void test_thumb(void)
{
    static const make_symbol symbols[] = {{"_thumb", EXT, 1, 0x1101}, {"_arm", EXT, 1, 0x1200}};
    program p;
    bytes starts = {NULL, 0, 0};
    memset(&p, 0, sizeof p);
    put_uleb(&starts, 0x101);
    put_uleb(&starts, 0x80);
    put_uleb(&starts, 0);
    p.macho.is_32 = true;
    p.macho.cputype = 12;
    p.macho.cpusubtype = 9;
    p.macho.symbols = symbols;
    p.macho.symbol_count = 2;
    p.macho.starts = &starts;
    lookup l = open_macho(&p);
    check_symbol(&l, 0x1100, "thumb", 0x1100, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x117f, "thumb", 0x1100, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1180, "", 0x1180, MACHSYM_SOURCE_FUNCTION_STARTS);
    check_symbol(&l, 0x1200, "arm", 0x1200, MACHSYM_SOURCE_SYMTAB);
    lookup_close(&l);
    program_free(&p);
    bytes_free(&starts);
}

/* Stubs are named by the indirect symbol table, also beside symbols of their own section's neighbours. */
static void test_stubs(void)
{
    static const make_symbol symbols[] = {
        {"_main", EXT, 1, 0x1000}, {"_malloc", UNDEFINED, 0, 0}, {"__Znwm", UNDEFINED, 0, 0}};
    program p;
    bytes indirect = {NULL, 0, 0};
    memset(&p, 0, sizeof p);
    put32(&indirect, 0);
    put32(&indirect, 1);
    put32(&indirect, 2);
    put32(&indirect, 0x80000000u); /* local */
    put32(&indirect, 0x40000000u); /* absolute */
    put32(&indirect, 77);          /* past the symbols */
    p.macho.symbols = symbols;
    p.macho.symbol_count = 3;
    p.macho.indirect = &indirect;
    add_code(&p, "__stubs", 0x2000, 12 * 7, 0x80000408u);
    p.macho.sections[0].reserved1 = 1;
    p.macho.sections[0].reserved2 = 12;
    lookup l = open_macho(&p);
    check_symbol(&l, 0x2000, "malloc", 0x2000, MACHSYM_SOURCE_STUB);
    check_symbol(&l, 0x200b, "malloc", 0x2000, MACHSYM_SOURCE_STUB);
    check_symbol(&l, 0x200c, "_Znwm", 0x200c, MACHSYM_SOURCE_STUB);
    check_symbol(&l, 0x1fff, "main", 0x1000, MACHSYM_SOURCE_SYMTAB);
    lookup_close(&l);
    p.macho.sections[0].reserved2 = 0; /* must not divide */
    bytes_free(&p.file);
    l = open_macho(&p);
    check_symbol(&l, 0x2000, NULL, 0, MACHSYM_SOURCE_NONE);
    lookup_close(&l);
    program_free(&p);
    bytes_free(&indirect);
}

/* Go's linker says 6 for every architecture. The code of its arm64 programs has stubs of three instructions
 * (`go build cmd/asm` for darwin/arm64: 636 bytes of code, 53 pointers); of x86_64 they have 6 bytes. */
static void test_stubs_of_go(void)
{
    static const make_symbol symbols[] = {{"_open", UNDEFINED, 0, 0}, {"_close", UNDEFINED, 0, 0}};
    static const struct {
        uint32_t cputype;
        uint64_t size;
        uint64_t second; /* stub; 0: none has a name */
    } rows[] = {{0x0100000c, 24, 0x200c},
                {0x0200000c, 24, 0x200c},
                {0x0100000c, 30, 0}, /* no whole number of stubs */
                {0x01000007, 12, 0x2006}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        program p;
        bytes indirect = {NULL, 0, 0};
        memset(&p, 0, sizeof p);
        put32(&indirect, 0);
        put32(&indirect, 1);
        p.macho.cputype = rows[i].cputype;
        p.macho.symbols = symbols;
        p.macho.symbol_count = 2;
        p.macho.indirect = &indirect;
        add_code(&p, "__symbol_stub1", 0x2000, rows[i].size, 0x80000408u);
        p.macho.sections[0].reserved2 = 6;
        lookup l = open_macho(&p);
        if (rows[i].second == 0) {
            check_symbol(&l, 0x2000, NULL, 0, MACHSYM_SOURCE_NONE);
        } else {
            check_symbol(&l, rows[i].second - 1, "open", 0x2000, MACHSYM_SOURCE_STUB);
            check_symbol(&l, rows[i].second, "close", rows[i].second, MACHSYM_SOURCE_STUB);
        }
        lookup_close(&l);
        program_free(&p);
        bytes_free(&indirect);
    }
}

/* Tables cut short, and text that leads nowhere, cost the entries concerned. */
static void test_damage(void)
{
    static const make_symbol symbols[] = {
        {"_a", EXT, 1, 0x1000}, {"_b", EXT, 1, 0x1100}, {"_c", EXT, 1, 0x1200}};
    program p;
    memset(&p, 0, sizeof p);
    p.macho.symbols = symbols;
    p.macho.symbol_count = 3;
    bytes file = make_file(&p.macho);
    size_t nlists = 0x1000;
    patch(&file, nlists + 16, 0xffffff, 4); /* the name of b */
    machsym_image *image = test_open_bytes(file.v, file.len);
    lookup l;
    memset(&l, 0, sizeof l);
    l.image = image;
    l.session = test_session(image, MACHSYM_LINES_ATOS, 0);
    check_symbol(&l, 0x1180, "a", 0x1000, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x1200, "c", 0x1200, MACHSYM_SOURCE_SYMTAB);
    lookup_close(&l);
    /* the strings end before the name of c does */
    l.image = test_open_bytes(file.v, file.len - 1);
    l.session = test_session(l.image, MACHSYM_LINES_ATOS, 0);
    check_symbol(&l, 0x1200, "a", 0x1000, MACHSYM_SOURCE_SYMTAB);
    lookup_close(&l);
    bytes_free(&file);
    program_free(&p);
}

/* A file of an assembler that has every odd kind of symbol: see the notes of the fixtures. */
static void test_fixture(void)
{
    machsym_image *image = test_open("tests/fixtures/bin/symbols-x86_64");
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    unsigned seen = 0;
    unsigned spaces = 0;
    uint64_t last = 0;
    while (machsym_session_next_symbol(session, &at, &symbol)) {
        CHECK(symbol.lo >= last && symbol.hi > symbol.lo);
        last = symbol.hi;
        seen++;
        for (size_t i = 0; i < symbol.name.len; i++)
            spaces += symbol.name.ptr[i] == ' ';
        CHECK(!begins(symbol.name, "ltmp") && !begins(symbol.name, "l_"));
    }
    CHECK(seen >= 4);
    CHECK(spaces > 0);
    machsym_session_close(session);
    machsym_image_close(image);
}

/* The first lookups of a session search LC_SYMTAB instead of sorting it. They find what later ones find, also
 * where the nearest entry has no name, where several share an address, and in any order of entries. */
static void test_cold(void)
{
    static const make_symbol symbols[] = {
        {"_first", EXT, 1, 0x1000},
        {"", EXT, 1, 0x1080},
        {"_second", LOCAL, 1, 0x1100},
        {"", EXT, 1, 0x1180},
        {"_second2", EXT, 1, 0x1100},
        {"_last", EXT, 1, 0x1ff0},
        {"_fourth", EXT, 1, 0x1300},
        {"_third", EXT, 1, 0x1200},
        {"_third2", PRIVATE, 1, 0x1200},
        {"", EXT, 1, 0x1280},
        {"", EXT, 1, 0x1fff},
        {"_stab", STAB_FUN, 1, 0x1110},
        {"_undefined", UNDEFINED, 0, 0x1120},
    };
    program p;
    memset(&p, 0, sizeof p);
    lookup l = open_symbols(&p, symbols, sizeof symbols / sizeof symbols[0]);
    for (unsigned i = 0; i < MACHSYM_SCANS + 1; i++) /* so that the table is sorted */
        check_symbol(&l, 0x1000, "first", 0x1000, MACHSYM_SOURCE_SYMTAB);
    check_symbol(&l, 0x11ff, "second2", 0x1100, MACHSYM_SOURCE_SYMTAB);
    test_begin();
    for (uint64_t addr = 0x1000; addr < 0x2000; addr += 0x10) {
        machsym_frame cold;
        machsym_session *session = test_session(l.image, MACHSYM_LINES_ATOS, 0);
        CHECK_EQ(ask(&l, addr), 1);
        CHECK_EQ(machsym_session_frames_at_addr(session, addr, &cold, 1), 1);
        CHECK(cold.linkage_name.len == l.v[0].linkage_name.len &&
              memcmp(cold.linkage_name.ptr, l.v[0].linkage_name.ptr, cold.linkage_name.len) == 0);
        CHECK_EQ(cold.function_start, l.v[0].function_start);
        CHECK_EQ(cold.function_size, l.v[0].function_size);
        machsym_session_close(session);
    }
    test_end("each address, cold and warm");
    lookup_close(&l);
    program_free(&p);
}

enum { LISTED = 2000, LISTED_ASKED = 60 };

/* Symbols by chance: several at one address, some outside the code, some that do not count. Of every few one
 * has no name. */
static void make_listed(make_symbol *symbols, char (*names)[16], unsigned nameless, uint64_t *state)
{
    static const uint8_t types[] = {EXT, EXT, LOCAL, LOCAL, PRIVATE, UNDEFINED, ABSOLUTE, STAB_FUN};
    static const char *const forms[] = {"_a%u", "ltmp%u", "-[A m%u]", "\001_b%u"};
    for (unsigned i = 0; i < LISTED; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        unsigned random = (unsigned)(*state >> 33);
        snprintf(names[i], sizeof names[i], forms[random % 4], i);
        symbols[i].name = nameless != 0 && random / 4 % nameless == 0 ? "" : names[i];
        symbols[i].type = types[random / 512 % 8];
        symbols[i].section = symbols[i].type == UNDEFINED || symbols[i].type == ABSOLUTE ? 0 : 1;
        symbols[i].value = 0xf00 + random / 4096 % 0x1200 / 4 * 4;
    }
}

/* Lookups by the list of symbols give what the table gives, and what the first lookup gives. */
static void check_listed(unsigned nameless, uint64_t *state)
{
    static make_symbol symbols[LISTED];
    static char names[LISTED][16];
    program p;
    memset(&p, 0, sizeof p);
    make_listed(symbols, names, nameless, state);
    lookup l = open_symbols(&p, symbols, LISTED);
    machsym_session *table = test_session(l.image, MACHSYM_LINES_ATOS, MACHSYM_SESSION_INDEX);
    for (uint64_t from = 0xff0; from < 0x2010; from += LISTED_ASKED) {
        machsym_image *image = test_open_bytes(p.file.v, p.file.len); /* no table was made of it */
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        for (uint64_t addr = from; addr < from + LISTED_ASKED; addr++) {
            machsym_frame want;
            machsym_frame got;
            size_t count = machsym_session_frames_at_addr(table, addr, &want, 1);
            CHECK_EQ(machsym_session_frames_at_addr(session, addr, &got, 1), count);
            if (count == 0)
                continue;
            CHECK(want.linkage_name.len == got.linkage_name.len &&
                  memcmp(want.linkage_name.ptr, got.linkage_name.ptr, want.linkage_name.len) == 0);
            CHECK_EQ(got.function_start, want.function_start);
            CHECK_EQ(got.function_size, want.function_size);
            CHECK_EQ(got.name_source, want.name_source);
        }
        machsym_session_close(session);
        machsym_image_close(image);
    }
    machsym_session_close(table);
    lookup_close(&l);
    program_free(&p);
}

static void test_listed(void)
{
    uint64_t state = 7;
    test_begin();
    check_listed(0, &state);
    check_listed(1000, &state);
    check_listed(5, &state);
    test_end("each address, by the list of symbols and by the table");
}

int main(void)
{
    test_listed();
    test_which();
    test_rank();
    test_cold();
    test_bounds();
    test_behind_code();
    test_thumb();
    test_stubs();
    test_stubs_of_go();
    test_damage();
    test_fixture();
    return test_done();
}
