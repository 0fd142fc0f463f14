/* Swift type metadata by hand: types with vtables, generics and initialisation records, protocols and
 * conformances; broken ones; and a real framework against the symbols of its dSYM. */
#define TEST_ROOM <rooms/src/answer/session.h>
#include "test.h"
#include "make.h"

#include <time.h>

#define CAMERA                                                                                               \
    "../shared/corpus/npm-expo-camera-57.0.6/prebuilds/output/release/xcframeworks/ExpoCamera/"              \
    "ExpoCamera.xcframework/ios-arm64/"

enum {
    TYPES = 0x10000000,
    PROTOCOLS = 0x10000100,
    CONFORMANCES = 0x10000200,
    DATA = 0x10001000,
    MODULE = 0x800,
    NAMES = 0x900,
    CODE = MAKE_TEXT
};

/* A file to come: descriptors by offset in data. */
typedef struct swift_file {
    bytes data;
    bytes types;
    bytes protocols;
    bytes conformances;
} swift_file;

static void put_distance(bytes *b, uint64_t place, uint64_t to)
{
    put32(b, (uint32_t)(to - place));
}

static void at_u32(swift_file *f, size_t at, uint32_t number)
{
    patch(&f->data, at, number, 4);
}

static void at_distance(swift_file *f, size_t at, uint64_t to)
{
    patch(&f->data, at, (uint32_t)(to - (DATA + at)), 4);
}

static void at_text(swift_file *f, size_t at, const char *text)
{
    memcpy(f->data.v + at, text, strlen(text) + 1);
}

/* A module "Mod" and names; every test adds descriptors. */
static swift_file begin(void)
{
    swift_file f;
    memset(&f, 0, sizeof f);
    put_zeros(&f.data, 0x1000);
    at_text(&f, NAMES, "Mod");
    at_text(&f, NAMES + 0x10, "Type");
    at_text(&f, NAMES + 0x20, "Inner");
    at_distance(&f, MODULE + 8, DATA + NAMES);
    return f;
}

/* Flags, parent, name and accessor of a type. */
static void add_type(swift_file *f, size_t at, uint32_t flags, size_t parent, size_t name)
{
    at_u32(f, at, flags);
    at_distance(f, at + 4, DATA + parent);
    at_distance(f, at + 8, DATA + name);
    at_distance(f, at + 12, CODE + 0x10 + at);
    put_distance(&f->types, TYPES + f->types.len, DATA + at);
}

static bytes file_of(const swift_file *f)
{
    static const struct {
        const char *name;
        uint64_t addr;
    } sections[] = {{"__swift5_types", TYPES},
                    {"__swift5_protos", PROTOCOLS},
                    {"__swift5_proto", CONFORMANCES},
                    {"__const", DATA}};
    const bytes *contents[] = {&f->types, &f->protocols, &f->conformances, &f->data};
    make_macho m;
    memset(&m, 0, sizeof m);
    m.filetype = 2;
    for (unsigned i = 0; i < 4; i++) {
        make_add(&m, sections[i].name, contents[i]);
        m.sections[i].addr = sections[i].addr;
    }
    return make_file(&m);
}

/* Checks that the names are exactly these, by address. */
static void check_names(swift_file *f, const char *const *want, size_t count)
{
    bytes file = file_of(f);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    char line[256];
    for (size_t i = 0; i < count; i++) {
        bool more = machsym_session_next_name(s, &at, &symbol);
        CHECK(more);
        if (!more)
            break;
        CHECK_EQ(symbol.source, MACHSYM_SOURCE_SWIFT);
        snprintf(line, sizeof line, "%llx %.*s", (unsigned long long)symbol.lo - CODE, (int)symbol.name.len,
                 symbol.name.ptr);
        CHECK_TEXT(line, want[i]);
    }
    CHECK(!machsym_session_next_name(s, &at, &symbol));
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&file);
    bytes_free(&f->data);
    bytes_free(&f->types);
    bytes_free(&f->protocols);
    bytes_free(&f->conformances);
}

/* A struct in an enum in the module, which is reached through an anonymous context and by a pointer. */
static void test_nested(void)
{
    static const char *const want[] = {"10 type metadata accessor for Mod.Type",
                                       "110 type metadata accessor for Mod.Type.Inner"};
    swift_file f = begin();
    add_type(&f, 0, 0x52, 0x200, NAMES + 0x10);
    at_u32(&f, 0x200, 2); /* anonymous */
    at_distance(&f, 0x204, DATA + 0x300 + 1);
    patch(&f.data, 0x300, DATA + MODULE, 8);
    add_type(&f, 0x100, 0x51, 0, NAMES + 0x20);
    check_names(&f, want, 2);
}

/* All that may stand between a class and its vtable, and an asynchronous method. */
static void test_class(void)
{
    static const char *const want[] = {"10 type metadata accessor for Mod.Type",
                                       "f0 type metadata completion function for Mod.Type",
                                       "200 Mod.Type.method[0]",
                                       "210 Mod.Type.init[1]",
                                       "220 Mod.Type.getter[2]",
                                       "230 Mod.Type.setter[3]",
                                       "240 Mod.Type.modify[4]",
                                       "250 Mod.Type.read[5]",
                                       "260 Mod.Type.method[6]",
                                       "300 Mod.Type.override[0]"};
    swift_file f = begin();
    add_type(&f, 0, 0x80u | 0x50 | 0x10000u | 0x20000000u | 0x40000000u | 0x80000000u, MODULE, NAMES + 0x10);
    size_t at = 44;
    at_u32(&f, at + 8, 3 | 2 << 16); /* three parameters, two requirements */
    at_u32(&f, at + 12, 1u << 16);   /* type packs: one */
    at += 16 + 4 + 24;
    at_u32(&f, at, 1 | 1 << 16);
    at += 4 + 8;
    at += 4; /* resilient superclass */
    at_distance(&f, at + 8, CODE + 0xf0);
    at += 12;
    at_u32(&f, at, 10);
    at_u32(&f, at + 4, 7);
    at += 8;
    for (uint32_t kind = 0; kind < 7; kind++, at += 8) {
        at_u32(&f, at, kind == 6 ? 0x50 : kind | 0x10); /* the last one is asynchronous */
        at_distance(&f, at + 4, kind == 6 ? DATA + 0x700 : CODE + 0x200 + 0x10 * kind);
    }
    at_distance(&f, 0x700, CODE + 0x260);
    at_u32(&f, at, 1);
    at_distance(&f, at + 12, CODE + 0x300);
    check_names(&f, want, sizeof want / sizeof want[0]);
}

/* A generic context with parts that are not known: its vtable cannot be found, its accessor can. */
static void test_unknown_generic(void)
{
    static const char *const want[] = {"10 type metadata accessor for Mod.Type"};
    swift_file f = begin();
    add_type(&f, 0, 0x800000d0u, MODULE, NAMES + 0x10);
    at_u32(&f, 44 + 12, 2u << 16);
    for (size_t at = 60; at < 0x100; at += 4)
        at_distance(&f, at, CODE + 0x200);
    check_names(&f, want, 1);
}

/* A protocol with a default implementation, and a conformance with a table and a resilient witness. */
static void test_protocol(void)
{
    static const char *const want[] = {
        "10 type metadata accessor for Mod.Type", "400 Mod.Inner.default[1]",
        "500 protocol witness for Mod.Inner.method[0] in conformance Mod.Type",
        "510 protocol witness for Mod.Inner.method[1] in conformance Mod.Type",
        "600 protocol witness for Mod.Inner.method[1] in conformance Mod.Type"};
    swift_file f = begin();
    add_type(&f, 0, 0x51, MODULE, NAMES + 0x10);
    at_u32(&f, 0x100, 3); /* protocol */
    at_distance(&f, 0x104, DATA + MODULE);
    at_distance(&f, 0x108, DATA + NAMES + 0x20);
    at_u32(&f, 0x10c, 1); /* one requirement in the signature, two of its own */
    at_u32(&f, 0x110, 2);
    at_u32(&f, 0x118 + 12, 1);
    at_u32(&f, 0x118 + 20, 1);
    at_distance(&f, 0x118 + 24, CODE + 0x400);
    put_distance(&f.protocols, PROTOCOLS, DATA + 0x100);
    at_distance(&f, 0x200, DATA + 0x100); /* conformance */
    at_distance(&f, 0x204, DATA);
    at_distance(&f, 0x208, DATA + 0x300);
    at_u32(&f, 0x20c, 0x10000);
    at_u32(&f, 0x210, 1);
    at_distance(&f, 0x214, DATA + 0x118 + 20);
    at_distance(&f, 0x218, CODE + 0x600);
    patch(&f.data, 0x300, DATA + 0x200, 8);
    patch(&f.data, 0x308, CODE + 0x500, 8);
    patch(&f.data, 0x310, CODE + 0x510, 8);
    patch(&f.data, 0x318, CODE + 0x520, 8); /* not of this table */
    put_distance(&f.conformances, CONFORMANCES, DATA + 0x200);
    check_names(&f, want, sizeof want / sizeof want[0]);
}

/* Requirements of every kind. Witnesses refer to each, then to places between two requirements, before the
 * first, and past the last. In a second round the record of the protocol has another kind. */
static void test_requirements(void)
{
    static const char *const kinds[] = {"base protocol", "method",          "init",
                                        "getter",        "setter",          "read",
                                        "modify",        "associated type", "associated conformance",
                                        "requirement"};
    static const int32_t others[] = {4, -8, 80};
    for (unsigned is_other = 0; is_other < 2; is_other++) {
        swift_file f = begin();
        char lines[14][96];
        const char *want[14] = {"10 type metadata accessor for Mod.Type"};
        add_type(&f, 0, 0x51, MODULE, NAMES + 0x10);
        at_u32(&f, 0x100, is_other != 0 ? 0x51 : 3);
        at_distance(&f, 0x104, DATA + MODULE);
        at_distance(&f, 0x108, DATA + NAMES + 0x20);
        at_u32(&f, 0x110, 10);
        at_distance(&f, 0x200, DATA + 0x100); /* conformance */
        at_distance(&f, 0x204, DATA);
        at_u32(&f, 0x20c, 0x10000);
        at_u32(&f, 0x210, 13);
        for (uint32_t i = 0; i < 13; i++) {
            bool is_one = i < 10 && is_other == 0;
            size_t to = 0x118 + (i < 10 ? 8 * i : (size_t)others[i - 10]);
            if (i < 10)
                at_u32(&f, to, 0x10 | i);
            at_distance(&f, 0x214 + 8 * i, DATA + to);
            at_distance(&f, 0x218 + 8 * i, CODE + 0x600 + 16 * i);
            snprintf(lines[i], sizeof lines[i], "%x protocol witness%s%s[%u] in conformance Mod.Type",
                     0x600 + 16 * i, is_one ? " for Mod.Inner." : "", is_one ? kinds[i] : "", i);
            want[i + 1] = lines[i];
        }
        put_distance(&f.conformances, CONFORMANCES, DATA + 0x200);
        check_names(&f, want, 14);
    }
}

/* Resilient witnesses stand after the module of a retroactive conformance and after the conditions of one
 * that has some; type packs among these are not read. */
static void test_late_witnesses(void)
{
    static const char *const want[] = {"10 type metadata accessor for Mod.Type",
                                       "600 protocol witness[0] in conformance Mod.Type",
                                       "610 protocol witness[0] in conformance Mod.Type"};
    swift_file f = begin();
    add_type(&f, 0, 0x51, MODULE, NAMES + 0x10);
    for (size_t i = 0; i < 3; i++) {
        static const uint32_t flags[] = {0x10040, 0x10240, 0x1010240};
        size_t at = 0x200 + i * 0x80;
        size_t witnesses = at + 20 + (i > 0 ? 24 : 0);
        at_distance(&f, at + 4, DATA);
        at_u32(&f, at + 12, flags[i]);
        at_u32(&f, witnesses, 1);
        at_distance(&f, witnesses + 8, CODE + 0x600 + i * 16);
        put_distance(&f.conformances, CONFORMANCES + 4 * i, DATA + at);
    }
    check_names(&f, want, sizeof want / sizeof want[0]);
}

/* A conformance says how it refers to its type (TypeReferenceKind of MetadataValues.h): 0 a descriptor, 1 a
 * pointer to one, 2 the name of an Objective-C class, 3 a pointer to such a class. Without the type's name
 * there is nothing to say. */
static void test_conforming(void)
{
    static const char *const want[] = {
        "10 type metadata accessor for Mod.Type", "600 protocol witness[0] in conformance Mod.Type",
        "610 protocol witness[0] in conformance Mod.Type", "620 protocol witness[0] in conformance OBJCName"};
    swift_file f = begin();
    add_type(&f, 0, 0x51, MODULE, NAMES + 0x10);
    patch(&f.data, 0x700, DATA, 8); /* a pointer to the type */
    at_text(&f, 0x710, "OBJCName");
    for (uint32_t kind = 0; kind < 6; kind++) {
        static const uint64_t to[] = {DATA, DATA + 0x700, DATA + 0x710, DATA + 0x700, DATA, DATA + 0xff0};
        size_t at = 0x200 + kind * 0x40;
        at_distance(&f, at + 4, to[kind]);
        at_u32(&f, at + 12, 0x10000 | (kind < 5 ? kind : 1) << 3); /* the last pointer is NULL */
        at_u32(&f, at + 16, 1);
        at_distance(&f, at + 24, CODE + 0x600 + kind * 16);
        put_distance(&f.conformances, CONFORMANCES + 4 * kind, DATA + at);
    }
    check_names(&f, want, sizeof want / sizeof want[0]);
}

/* Imported types: the name that symbols have follows the one that Swift code uses. */
static void test_imported(void)
{
    static const char code[] = "Code\0StX\0NAVError\0St\0";
    static const char *const want[] = {"10 type metadata accessor for Mod.AVError",
                                       "110 type metadata accessor for Mod.related decl 'e' for AVError",
                                       "210 type metadata accessor for Mod.Code"};
    swift_file f = begin();
    memcpy(f.data.v + NAMES + 0x40, code, sizeof code);
    memcpy(f.data.v + NAMES + 0x80, "AVError\0Re\0", 12);
    add_type(&f, 0, 0x40051, MODULE, NAMES + 0x40);
    add_type(&f, 0x100, 0x40052, MODULE, NAMES + 0x80);
    add_type(&f, 0x200, 0x51, MODULE, NAMES + 0x40); /* the text after it is not its own */
    check_names(&f, want, sizeof want / sizeof want[0]);
}

/* Counts too large, so that other types' code follows: a table of methods ends at what is no code, one of
 * witnesses at what is neither requirement nor code, and requirements end at flags that none has. */
static void test_long_tables(void)
{
    static const char *const want[] = {
        "10 type metadata accessor for Mod.Type", "100 Mod.Type.method[0]",
        "600 protocol witness for Mod.Inner.method[0] in conformance Mod.Type",
        "700 protocol witness for Mod.Inner.method[0] in conformance Mod.Type"};
    swift_file f = begin();
    add_type(&f, 0, 0x80000050u, MODULE, NAMES + 0x10);
    at_u32(&f, 48, 50);
    at_distance(&f, 56, CODE + 0x100);
    at_distance(&f, 64, DATA);
    at_distance(&f, 72, CODE + 0x110);
    at_u32(&f, 0x100, 3); /* protocol Inner of one requirement */
    at_distance(&f, 0x104, DATA + MODULE);
    at_distance(&f, 0x108, DATA + NAMES + 0x20);
    at_u32(&f, 0x110, 50);
    at_u32(&f, 0x118, 0x11);
    at_u32(&f, 0x120, 0x8051);
    at_distance(&f, 0x200, DATA + 0x100);
    at_distance(&f, 0x204, DATA);
    at_distance(&f, 0x208, DATA + 0x300);
    at_u32(&f, 0x20c, 0x10000);
    at_u32(&f, 0x210, 50);
    at_distance(&f, 0x214, DATA + 0x118);
    at_distance(&f, 0x218, CODE + 0x700);
    at_distance(&f, 0x21c, DATA + 0x100);
    at_distance(&f, 0x220, DATA);
    at_distance(&f, 0x224, DATA + 0x118);
    at_distance(&f, 0x228, CODE + 0x710);
    patch(&f.data, 0x308, CODE + 0x600, 8);
    patch(&f.data, 0x310, CODE + 0x610, 8);
    put_distance(&f.conformances, CONFORMANCES, DATA + 0x200);
    at_distance(&f, MODULE + 12, CODE + 0x120);
    put_distance(&f.types, TYPES + f.types.len, DATA + MODULE); /* a module is no type */
    put_distance(&f.protocols, PROTOCOLS, DATA);                /* and a type no protocol */
    check_names(&f, want, sizeof want / sizeof want[0]);
}

/* Parents in a loop, distances to nowhere, counts without end. */
static void test_broken(void)
{
    swift_file f = begin();
    add_type(&f, 0, 0x80000050u, 0, NAMES + 0x10); /* its own parent */
    at_u32(&f, 48, 0xffffffffu);
    add_type(&f, 0xf00, 0x50, MODULE, 0xfffff0);
    put32(&f.types, 0x7ffffffcu);
    put32(&f.protocols, 0x7ffffffcu);
    put32(&f.conformances, 0x7ffffffdu);
    put_distance(&f.protocols, PROTOCOLS + 4, DATA);
    put_distance(&f.conformances, CONFORMANCES + 4, DATA);
    bytes file = file_of(&f);
    clock_t start = clock();
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session_counts info;
    machsym_symbol symbol;
    machsym_cursor at = {0, 0};
    CHECK(machsym_session_next_name(s, &at, &symbol));
    CHECK_STR(symbol.name,
              "type metadata accessor for Type.Type.Type.Type.Type.Type.Type.Type.Type.Type.Type.Type."
              "Type.Type.Type.Type");
    CHECK(!machsym_session_next_name(s, &at, &symbol));
    machsym_session_count_all(s, &info);
    CHECK_EQ(info.damaged_metadata, 3); /* one is the table without end */
    CHECK(clock() - start < 2 * CLOCKS_PER_SEC);
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&file);
    bytes_free(&f.data);
    bytes_free(&f.types);
    bytes_free(&f.protocols);
    bytes_free(&f.conformances);
}

static machsym_session *open_real(const char *path, uint32_t flags, machsym_image **image)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = flags | MACHSYM_OPEN_NO_PAIR;
    *image = test_open_desc(&desc);
    return test_session(*image, MACHSYM_LINES_ATOS, 0);
}

/* Accessors, completion functions and witnesses are what the mangled names of the dSYM end in. */
/* Descriptors of the types that functions return as "some View" stand among the types. They have no name of their own:
 * nothing is made of them, and they are no damage. seen: Xcode 26, frameworks built without optimising */
static void test_opaque(void)
{
    static const char *const want[] = {"type metadata accessor for Mod.Type",
                                       "type metadata accessor for Mod.Inner"};
    swift_file f = begin();
    add_type(&f, 0, 0x50, MODULE, NAMES + 0x10);
    at_u32(&f, 0x100, 0x20084); /* opaque type, generic, two arguments */
    at_distance(&f, 0x104, DATA + MODULE);
    put_distance(&f.types, TYPES + f.types.len, DATA + 0x100);
    patch(&f.data, 0x300, DATA + 0x100, 8);
    put_distance(&f.types, TYPES + f.types.len, DATA + 0x300 + 1); /* by a pointer */
    add_type(&f, 0x200, 0x51, MODULE, NAMES + 0x20);
    bytes file = file_of(&f);
    machsym_image *image = test_open_bytes(file.v, file.len);
    machsym_session *s = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session_counts info;
    machsym_symbol symbol;
    machsym_cursor at = {0, 0};
    for (size_t i = 0; i < 2; i++) {
        CHECK(machsym_session_next_name(s, &at, &symbol));
        CHECK_STR(symbol.name, want[i]);
    }
    CHECK(!machsym_session_next_name(s, &at, &symbol));
    machsym_session_count_all(s, &info);
    CHECK_EQ(info.damaged_metadata, 0);
    machsym_session_close(s);
    machsym_image_close(image);
    bytes_free(&file);
    bytes_free(&f.data);
    bytes_free(&f.types);
    bytes_free(&f.protocols);
    bytes_free(&f.conformances);
}

static void test_real(void)
{
    static const struct {
        const char *guess;
        const char *end;
    } kinds[] = {{"type metadata accessor for ", "Ma"},
                 {"type metadata completion function for ", "Mr"},
                 {"protocol witness", "TW"}};
    FILE *file = fopen(CAMERA "ExpoCamera.framework/ExpoCamera", "rb");
    machsym_image *binary;
    machsym_image *dsym;
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    size_t counts[3] = {0, 0, 0};
    size_t unlike = 0;
    if (file == NULL) {
        test_leave_out("a real Swift framework", "it is not here");
        return;
    }
    fclose(file);
    machsym_session *s = open_real(CAMERA "ExpoCamera.framework/ExpoCamera", MACHSYM_OPEN_NO_SYMTAB, &binary);
    machsym_session *real = open_real(CAMERA "dSYMs/ExpoCamera.framework.dSYM", 0, &dsym);
    while (machsym_session_next_name(s, &at, &symbol)) {
        for (unsigned i = 0; i < 3; i++) {
            if (symbol.source != MACHSYM_SOURCE_SWIFT || !ms_str_begins(symbol.name, kinds[i].guess))
                continue;
            machsym_str name = ms_sym_exact(ms_src_table(ms_ses_symbols(real)), symbol.lo, ms_str_empty());
            counts[i]++;
            unlike += !ms_str_ends(name, kinds[i].end);
        }
    }
    printf("ExpoCamera: %zu accessors, %zu completion functions, %zu witnesses\n", counts[0], counts[1],
           counts[2]);
    CHECK_EQ(unlike, 1); /* a witness that is the initialiser itself: the compiler needs no code between */
    CHECK(counts[0] > 50 && counts[1] > 15 && counts[2] > 300);
    machsym_session_close(s);
    machsym_session_close(real);
    machsym_image_close(binary);
    machsym_image_close(dsym);
}

int main(void)
{
    test_nested();
    test_class();
    test_unknown_generic();
    test_protocol();
    test_requirements();
    test_late_witnesses();
    test_conforming();
    test_imported();
    test_long_tables();
    test_broken();
    test_opaque();
    test_real();
    return test_done();
}
