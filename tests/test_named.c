/* The function of an address by its symbol and the table of names: which entry that is, what cannot be told so,
 * and that it is the same for sessions of one address, sessions that decode units, and maps. */
#define TEST_ROOM <rooms/src/answer/session.h>
#include "dwarf.h"
#include "maps.h"

enum { CODE_UNIT = 1, CODE_FUNCTION, CODE_OUTER, CODE_CALL, CODE_PLAIN, CODE_RANGES, CODE_LONG, CODE_PAIR };

enum { NAMES = 64, BUCKETS = 3, SYMBOLS = 64 };

/* A name to come in the table. */
typedef struct stated {
    const char *name;
    size_t off; /* of the entry */
    bool is_call;
} stated;

/* A unit with a table of names. */
typedef struct case_file {
    program p;
    size_t unit;
    stated names[NAMES];
    size_t name_count;
    make_symbol symbols[SYMBOLS];
    size_t symbol_count;
    bool is_apple;
} case_file;

static void begin_case(case_file *c, bool is_apple)
{
    memset(c, 0, sizeof *c);
    c->is_apple = is_apple;
    program *p = &c->p;
    ABBREV(p, CODE_UNIT, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, CODE_FUNCTION, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, CODE_OUTER, TAG_subprogram, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, CODE_CALL, TAG_inlined_subroutine, 0, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4, AT_call_line, FORM_data1);
    ABBREV(p, CODE_PLAIN, TAG_subprogram, 0, AT_name, FORM_string);
    ABBREV(p, CODE_RANGES, TAG_subprogram, 0, AT_name, FORM_string, AT_ranges, FORM_sec_offset);
    ABBREV(p, CODE_LONG, TAG_variable, 0, AT_name, FORM_string);
    ABBREV(p, CODE_PAIR, TAG_subprogram, 0, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    abbrev_end(p);
    unit_begin(p, dwarf4, 1, 0);
    c->unit = p->unit_at;
    die(p, CODE_UNIT);
    put_addr(p, &p->info, 0x1000);
    put32(&p->info, 0x800);
}

static void add_symbol(case_file *c, const char *name, uint64_t at)
{
    make_symbol symbol = {name, 0x0e, 1, at};
    c->symbols[c->symbol_count++] = symbol;
}

static void add_name(case_file *c, const char *name, size_t off)
{
    stated one = {name, off, false};
    c->names[c->name_count++] = one;
}

/* An entry of a function. Returns where it stands. */
static size_t put_bare(case_file *c, unsigned code, const char *name, uint64_t lo, uint32_t size)
{
    size_t at = die(&c->p, code);
    put_str(&c->p.info, name);
    put_addr(&c->p, &c->p.info, lo);
    put32(&c->p.info, size);
    return at;
}

/* The same with its symbol, stated in the table. The symbol has an underscore before the name. */
static size_t put_known(case_file *c, unsigned code, const char *symbol, uint64_t lo, uint32_t size)
{
    size_t at = put_bare(c, code, symbol + 1, lo, size);
    add_symbol(c, symbol, lo);
    add_name(c, symbol + 1, at);
    return at;
}

static uint32_t hash_of(const char *name, bool folds)
{
    uint32_t hash = 5381;
    for (; *name != 0; name++)
        hash = hash * 33 + (uint8_t)(folds && *name >= 'A' && *name <= 'Z' ? *name + 32 : *name);
    return hash;
}

/* The names in the order of their buckets. */
static size_t order_names(const case_file *c, unsigned *order, unsigned *first)
{
    size_t count = 0;
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        first[bucket] = (unsigned)count;
        for (unsigned i = 0; i < c->name_count; i++) {
            if (hash_of(c->names[i].name, !c->is_apple) % BUCKETS == bucket)
                order[count++] = i;
        }
    }
    first[BUCKETS] = (unsigned)count;
    return count;
}

/* Kinds of entries in .debug_names: a function, an inlined call, and two that a look-up passes by, whose fields
 * have all sizes that a form tells, and one that it does not. */
enum { ENTRY_FUNCTION = 1, ENTRY_CALL, ENTRY_FIXED, ENTRY_VARYING, ENTRY_BYTES = 1 + 25 + 1 + 6 + 5 + 1 };

static void put_entry_kinds(bytes *b)
{
    static const uint8_t kinds[] = {ENTRY_FUNCTION,
                                    TAG_subprogram,
                                    3,
                                    FORM_ref4,
                                    0,
                                    0, /* DW_IDX_die_offset */
                                    ENTRY_CALL,
                                    TAG_inlined_subroutine,
                                    3,
                                    FORM_ref4,
                                    0,
                                    0,
                                    ENTRY_FIXED,
                                    TAG_variable,
                                    1,
                                    FORM_data1,
                                    3,
                                    FORM_ref4,
                                    4,
                                    FORM_flag_present,
                                    5,
                                    FORM_data8,
                                    6,
                                    FORM_data2,
                                    7,
                                    FORM_data4,
                                    8,
                                    FORM_ref1,
                                    9,
                                    FORM_ref2,
                                    10,
                                    FORM_ref1,
                                    11,
                                    FORM_data2,
                                    0,
                                    0,
                                    ENTRY_VARYING,
                                    TAG_variable,
                                    3,
                                    FORM_ref4,
                                    5,
                                    FORM_udata,
                                    0,
                                    0,
                                    0};
    put(b, kinds, sizeof kinds);
}

/* The entries of a name; the last one may be found. */
static void put_entries(bytes *b, const stated *name, size_t unit)
{
    put8(b, ENTRY_FIXED);
    for (unsigned i = 0; i < 25; i++)
        put8(b, 0);
    put8(b, ENTRY_VARYING);
    put32(b, name->off - unit);
    put_uleb(b, 200);
    put8(b, name->is_call ? ENTRY_CALL : ENTRY_FUNCTION);
    put32(b, name->off - unit);
    put8(b, 0);
}

static void put_debug_names(case_file *c, const unsigned *order, const unsigned *first)
{
    bytes kinds = {0};
    put_entry_kinds(&kinds);
    bytes *b = &c->p.names;
    size_t count = c->name_count;
    c->p.enc = dwarf5;
    size_t at = begin_length(&c->p, b);
    put16(b, 5);
    put16(b, 0);
    put32(b, 1); /* units */
    put32(b, 0);
    put32(b, 0);
    put32(b, BUCKETS);
    put32(b, count);
    put32(b, kinds.len);
    put32(b, 0);
    put32(b, c->unit);
    for (unsigned i = 0; i < BUCKETS; i++)
        put32(b, first[i] == first[i + 1] ? 0 : first[i] + 1);
    for (size_t i = 0; i < count; i++)
        put32(b, hash_of(c->names[order[i]].name, true));
    for (size_t i = 0; i < count; i++)
        put32(b, add_text(&c->p.str, c->names[order[i]].name));
    for (size_t i = 0; i < count; i++)
        put32(b, ENTRY_BYTES * i);
    put(b, kinds.v, kinds.len);
    for (size_t i = 0; i < count; i++)
        put_entries(b, &c->names[order[i]], c->unit);
    end_length(&c->p, b, at);
    bytes_free(&kinds);
}

static void put_apple_names(case_file *c, const unsigned *order, const unsigned *first)
{
    bytes *b = &c->p.apple_names;
    size_t count = c->name_count;
    put32(b, 0x48415348);
    put16(b, 1);
    put16(b, 0);
    put32(b, BUCKETS);
    put32(b, count);
    put32(b, 12);
    put32(b, 0); /* offsets count from here */
    put32(b, 1);
    put16(b, 1);
    put16(b, FORM_data4);
    for (unsigned i = 0; i < BUCKETS; i++)
        put32(b, first[i] == first[i + 1] ? UINT32_MAX : first[i]);
    for (size_t i = 0; i < count; i++)
        put32(b, hash_of(c->names[order[i]].name, false));
    size_t data = b->len + 4 * count;
    for (size_t i = 0; i < count; i++)
        put32(b, data + 16 * i);
    for (size_t i = 0; i < count; i++) {
        put32(b, add_text(&c->p.str, c->names[order[i]].name));
        put32(b, 1);
        put32(b, c->names[order[i]].off);
        put32(b, 0);
    }
}

/* Ends the unit and writes what belongs to it. */
static void end_case(case_file *c)
{
    unsigned order[NAMES];
    unsigned first[BUCKETS + 1];
    program *p = &c->p;
    put8(&p->info, 0);
    unit_end(p);
    put8(&p->str, 0); /* .apple_names ends with a name at 0 */
    bytes *b = &p->aranges;
    size_t at = begin_length(p, b);
    put16(b, 2);
    put32(b, c->unit);
    put8(b, 8);
    put8(b, 0);
    put32(b, 0);
    put64(b, 0x1000);
    put64(b, 0x800);
    put64(b, 0);
    put64(b, 0);
    end_length(p, b, at);
    order_names(c, order, first);
    if (c->is_apple)
        put_apple_names(c, order, first);
    else
        put_debug_names(c, order, first);
    p->macho.symbols = c->symbols;
    p->macho.symbol_count = c->symbol_count;
}

/* ---- Cold, warm, map ---- */

/* What a new session says that is asked for one address: the name of the innermost frame. *alone: whether its
 * unit was not decoded. */
static void check_at(case_file *c, machsym_session *warm, const machsym_map *map, uint64_t addr,
                     const char *want, bool want_alone)
{
    static map_answer cold;
    static map_answer other;
    machsym_image *image = program_open(&c->p);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    ask_session(session, addr, &cold);
    bool is_alone = session->decoded == NULL && session->alone != NULL;
    CHECK_STR(cold.count > 0 ? cold.frames[0].name : test_str(""), want);
    CHECK_EQ(is_alone, want_alone);
    ask_session(warm, addr, &other);
    const char *what = frames_differ(&cold, &other, true);
    CHECK_TEXT(what == NULL ? "" : what, "");
    ask_map(map, addr, &other);
    what = frames_differ(&cold, &other, false);
    CHECK_TEXT(what == NULL ? "" : what, "");
    ask_session(session, addr, &other); /* again, and once units are decoded */
    what = frames_differ(&cold, &other, true);
    CHECK_TEXT(what == NULL ? "" : what, "");
    machsym_explanation e;
    machsym_session_explain_addr(session, addr, &e);
    ask_session(session, addr, &other);
    what = frames_differ(&cold, &other, true);
    CHECK_TEXT(what == NULL ? "" : what, "");
    machsym_session_close(session);
    machsym_image_close(image);
}

/* What is wanted at an address. */
typedef struct wanted {
    uint64_t addr;
    const char *name; /* NULL: the list ends */
    bool is_alone;    /* a cold session needs no other entry */
} wanted;

static void check_case(case_file *c, const wanted *v)
{
    end_case(c);
    machsym_image *image = program_open(&c->p);
    machsym_session *warm = test_session(image, MACHSYM_LINES_ATOS, MACHSYM_SESSION_INDEX);
    machsym_session *plain = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, 0);
    bytes kept = c->p.file; /* the image lies in it */
    memset(&c->p.file, 0, sizeof c->p.file);
    for (; v->name != NULL; v++) {
        check_at(c, warm, map, v->addr, v->name, v->is_alone);
        check_at(c, plain, map, v->addr, v->name, v->is_alone);
    }
    machsym_map_close(map);
    machsym_session_close(plain);
    machsym_session_close(warm);
    machsym_image_close(image);
    bytes_free(&kept);
    program_free(&c->p);
}

/* ---- Sound files ---- */

static void test_plain(bool is_apple)
{
    case_file c;
    begin_case(&c, is_apple);
    put_known(&c, CODE_FUNCTION, "_first", 0x1000, 0x10);
    put_known(&c, CODE_FUNCTION, "_Second", 0x1010, 0x10);
    add_name(&c, "-[Third do:]", put_bare(&c, CODE_FUNCTION, "-[Third do:]", 0x1020, 0x10));
    add_symbol(&c, "-[Third do:]", 0x1020);
    put_bare(&c, CODE_FUNCTION, "bare", 0x1040, 0x10); /* without a symbol, and not stated */
    add_symbol(&c, "_after", 0x1060);
    static const wanted v[] = {{0x1000, "first", true},  {0x100f, "first", true},
                               {0x1018, "Second", true}, {0x1021, "-[Third do:]", true},
                               {0x1040, "bare", false},  {0x1050, "", false},
                               {0x1061, "", false},      {0, NULL, false}};
    check_case(&c, v);
}

/* A call without a linkage name takes it from an out-of-line copy, which another entry is. */
static void test_calls(bool is_apple)
{
    case_file c;
    begin_case(&c, is_apple);
    size_t origin = die(&c.p, CODE_PLAIN);
    put_str(&c.p.info, "inlined");
    put_known(&c, CODE_OUTER, "_outer", 0x1000, 0x40);
    size_t call = die(&c.p, CODE_CALL);
    put32(&c.p.info, local(&c.p, origin));
    put_addr(&c.p, &c.p.info, 0x1010);
    put32(&c.p.info, 0x10);
    put8(&c.p.info, 7);
    put8(&c.p.info, 0);
    size_t copy = die(&c.p, CODE_PAIR);
    put32(&c.p.info, local(&c.p, origin));
    put_addr(&c.p, &c.p.info, 0x1040);
    put32(&c.p.info, 0x10);
    add_symbol(&c, "_inlined", 0x1040);
    add_name(&c, "inlined", copy);
    add_name(&c, "inlined", call);
    c.names[c.name_count - 1].is_call = true;
    static const wanted v[] = {{0x1004, "outer", true},
                               {0x1018, "inlined", false},
                               {0x1024, "outer", true},
                               {0x1044, "inlined", true},
                               {0, NULL, false}};
    check_case(&c, v);
}

/* A unit that no set of .debug_aranges names. Its functions answer if the table of names has them, or cannot tell.
 * What neither table knows has no debug info, for all sessions. */
static void test_denied(bool is_apple)
{
    case_file c;
    begin_case(&c, is_apple);
    put_known(&c, CODE_FUNCTION, "_first", 0x1000, 0x10);
    put8(&c.p.info, 0);
    unit_end(&c.p);
    unit_begin(&c.p, dwarf4, 1, 0);
    die(&c.p, CODE_UNIT);
    put_addr(&c.p, &c.p.info, 0x1900);
    put32(&c.p.info, 0x100);
    put_bare(&c, CODE_FUNCTION, "lone", 0x1900, 0x10); /* its symbol is not at or below it alone */
    add_symbol(&c, "_one", 0x1900);
    add_symbol(&c, "_two", 0x1900);
    put_known(&c, CODE_FUNCTION, "_stated", 0x1910, 0x10);
    put_bare(&c, CODE_FUNCTION, "denied", 0x1920, 0x10);
    add_symbol(&c, "_denied", 0x1920);
    put_bare(&c, CODE_FUNCTION, "after", 0x1930, 0x10); /* without a symbol of its own */
    put_bare(&c, CODE_FUNCTION, "caf\xc3\xa9", 0x1940, 0x10);
    add_symbol(&c, "_caf\xc3\xa9", 0x1940);
    static const wanted v[] = {{0x1004, "first", true},   {0x1904, "lone", false},
                               {0x1914, "stated", false}, {0x1924, "", false},
                               {0x1934, "", false},       {0x1944, "caf\xc3\xa9", false},
                               {0x1950, "", false},       {0, NULL, false}};
    check_case(&c, v);
}

/* ---- What cannot be told ---- */

static void test_unsure(bool is_apple)
{
    case_file c;
    begin_case(&c, is_apple);
    put_known(&c, CODE_FUNCTION, "_two", 0x1000, 0x10);
    add_symbol(&c, "_names", 0x1000);
    put_known(&c, CODE_FUNCTION, "_holds", 0x1010, 0x20);
    add_symbol(&c, "_label", 0x1020);
    size_t twin = put_known(&c, CODE_FUNCTION, "_twin", 0x1040, 0x10);
    put_bare(&c, CODE_FUNCTION, "twin", 0x1040, 0x10);
    add_name(&c, "twin", twin + 5 + 1 + 12); /* the second one, which follows */
    put_known(&c, CODE_FUNCTION, "_caf\xc3\xa9", 0x1050, 0x10);
    put_known(&c, CODE_OUTER, "_around", 0x1060, 0x20);
    put_known(&c, CODE_FUNCTION, "_inside", 0x1070, 0x10);
    put8(&c.p.info, 0);
    size_t listed = die(&c.p, CODE_RANGES);
    put_str(&c.p.info, "listed");
    put32(&c.p.info, 0);
    put64(&c.p.ranges, 0x90);
    put64(&c.p.ranges, 0xa0);
    put64(&c.p.ranges, 0);
    put64(&c.p.ranges, 0);
    add_symbol(&c, "_listed", 0x1090);
    add_name(&c, "listed", listed);
    put_bare(&c, CODE_FUNCTION, "elsewhere", 0x10a0, 0x10);
    put_known(&c, CODE_OUTER, "_wraps", 0x10b0, 0x20);
    put_bare(&c, CODE_FUNCTION, "nested", 0x10b8, 8); /* without a symbol */
    put8(&c.p.info, 0);
    add_symbol(&c, "_other", 0x10a0);
    add_name(&c, "other", 0x7fffffff);
    static const wanted v[] = {
        {0x1004, "two", false},   {0x1014, "holds", false},       {0x1024, "holds", false},
        {0x1044, "twin", false},  {0x1054, "caf\xc3\xa9", false}, {0x1064, "around", false},
        {0x1074, "inside", true}, {0x1094, "listed", false},      {0x10a4, "elsewhere", false},
        {0x10b4, "wraps", false}, {0x10bc, "nested", false},      {0, NULL, false}};
    check_case(&c, v);
}

/* ---- Tables that say otherwise than the entries ---- */

/* Two functions with one body: the symbol that is left names the one that answers. */
static void test_folded(bool is_apple)
{
    case_file c;
    begin_case(&c, is_apple);
    put_known(&c, CODE_FUNCTION, "_kept", 0x1000, 0x10);
    put_bare(&c, CODE_FUNCTION, "folded", 0x1000, 0x10);
    put_bare(&c, CODE_FUNCTION, "wide", 0x1020, 0x40); /* overlaps two that follow */
    put_known(&c, CODE_FUNCTION, "_part", 0x1030, 0x10);
    put_known(&c, CODE_OUTER, "_last", 0x1050, 0x20);
    put8(&c.p.info, 0);
    put_bare(&c, CODE_FUNCTION, "late", 0x1058, 0x10);
    static const wanted v[] = {{0x1004, "kept", true},  {0x1020, "wide", false}, {0x1030, "part", true},
                               {0x1044, "wide", false}, {0x1054, "last", true},  {0x105c, "last", true},
                               {0x106c, "last", true},  {0, NULL, false}};
    check_case(&c, v);
}

/* An entry in the middle of another one: it is what the table says it is, for all sessions. */
static void test_stray(bool is_apple)
{
    case_file c;
    begin_case(&c, is_apple);
    put_known(&c, CODE_FUNCTION, "_plain", 0x1000, 0x10);
    put_bare(&c, CODE_FUNCTION, "hidden", 0x1010, 0x10);
    die(&c.p, CODE_LONG);
    size_t stray = c.p.info.len;
    put8(&c.p.info, CODE_FUNCTION); /* the bytes of a variable's name are an entry, too */
    put_str(&c.p.info, "stray");
    patch(&c.p.info, c.p.info.len - 1, 0, 1);
    put64(&c.p.info, 0x1010);
    put32(&c.p.info, 0x10);
    add_symbol(&c, "_stray", 0x1010);
    add_name(&c, "stray", stray);
    add_symbol(&c, "_end", 0x1030);
    static const wanted v[] = {{0x1004, "plain", true},
                               {0x1010, "stray", true},
                               {0x101c, "stray", true},
                               {0x1024, "", false},
                               {0, NULL, false}};
    check_case(&c, v);
}

/* Entries that cannot be read any further: functions after them are told by the table. */
static void test_damaged(bool is_apple)
{
    case_file c;
    begin_case(&c, is_apple);
    put_known(&c, CODE_FUNCTION, "_before", 0x1000, 0x10);
    die(&c.p, 99); /* no abbreviation */
    put_known(&c, CODE_OUTER, "_behind", 0x1010, 0x20);
    size_t origin = die(&c.p, CODE_PLAIN);
    put_str(&c.p.info, "called");
    size_t call = die(&c.p, CODE_CALL);
    put32(&c.p.info, local(&c.p, origin));
    put_addr(&c.p, &c.p.info, 0x1018);
    put32(&c.p.info, 8);
    put8(&c.p.info, 3);
    put8(&c.p.info, 0);
    (void)call;
    put_bare(&c, CODE_FUNCTION, "lost", 0x1030, 0x10);
    add_symbol(&c, "_lost", 0x1030);
    static const wanted v[] = {{0x1004, "before", true}, {0x1014, "behind", true}, {0x101a, "called", false},
                               {0x1024, "behind", true}, {0x1034, "", false},      {0, NULL, false}};
    check_case(&c, v);
}

/* Names that share their entries, so that to read all takes more bytes than the table has: what a look-up finds
 * is the same. */
static void test_shared_entries(void)
{
    case_file c;
    static char names[40][8];
    begin_case(&c, true);
    put_known(&c, CODE_FUNCTION, "_real", 0x1000, 0x10);
    put_bare(&c, CODE_FUNCTION, "below", 0x1010, 0x10);
    size_t stray = put_bare(&c, CODE_FUNCTION, "above", 0x1010, 0x10);
    add_symbol(&c, "_below", 0x1010);
    add_name(&c, "below", stray - 5 - 1 - 13);
    for (unsigned i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "n%u", i);
        add_name(&c, names[i], stray);
    }
    end_case(&c);
    bytes *b = &c.p.apple_names; /* each hash has all entries that follow it: no 0 ends them */
    size_t data = 32 + 4 * BUCKETS + 8 * c.name_count;
    for (size_t i = 0; i + 1 < c.name_count; i++)
        patch(b, data + 16 * i + 12, 0, 4);
    for (size_t i = 0; i < c.name_count; i++)
        patch(b, data + 16 * i + 4, 1, 4);
    bytes merged = {0};
    put(&merged, b->v, data);
    for (size_t i = 0; i < c.name_count; i++)
        put(&merged, b->v + data + 16 * i, 12);
    put32(&merged, 0);
    for (size_t i = 0; i < c.name_count; i++)
        patch(&merged, data - 4 * c.name_count + 4 * i, data + 12 * i, 4);
    bytes_free(b);
    *b = merged;
    lookup cold;
    lookup warm;
    lookup_open(&cold, &c.p, MACHSYM_LINES_ATOS, 0);
    CHECK_STR(name_at(&cold, 0x1014), "below");
    CHECK(cold.session->decoded == NULL);
    lookup_close(&cold);
    lookup_open(&warm, &c.p, MACHSYM_LINES_ATOS, MACHSYM_SESSION_INDEX);
    CHECK_STR(name_at(&warm, 0x1014), "below");
    CHECK_STR(name_at(&warm, 0x1004), "real");
    CHECK(warm.session->stated != NULL && warm.session->stated->count == 2);
    lookup_close(&warm);
    program_free(&c.p);
}

/* With hardly any cache, functions that are found alone stay as long as addresses lie in their unit, with its
 * lines: these would be made again for each. */
static void test_small_cache(bool is_apple)
{
    static char text[0x10000];
    case_file c;
    machsym_session_desc desc;
    machsym_session *session = NULL;
    machsym_frame frame;
    begin_case(&c, is_apple);
    memset(text, 'x', sizeof text - 1);
    die(&c.p, CODE_LONG); /* a unit that is worth reading a few functions of */
    put_str(&c.p.info, text);
    put_known(&c, CODE_FUNCTION, "_first", 0x1000, 0x10);
    put_known(&c, CODE_FUNCTION, "_second", 0x1010, 0x10);
    end_case(&c);
    memset(&desc, 0, sizeof desc);
    desc.image = program_open(&c.p);
    desc.cache_limit = 1;
    CHECK_EQ(machsym_session_open(&desc, &session, NULL), MACHSYM_OK);
    CHECK_EQ(machsym_session_frames_at_addr(session, 0x1004, &frame, 1), 1);
    const ms_ses_unit *first = session->alone;
    CHECK_EQ(machsym_session_frames_at_addr(session, 0x1014, &frame, 1), 1);
    CHECK_STR(frame.name, "second");
    CHECK(first != NULL && session->alone != NULL && session->alone->next == first);
    CHECK(first != NULL && session->alone != NULL && session->alone->lines == first->lines);
    CHECK_EQ(machsym_session_frames_at_addr(session, 0x1900, &frame, 1), 1); /* of no unit */
    CHECK(session->alone == NULL);
    machsym_session_close(session);
    machsym_image_close((machsym_image *)desc.image);
    program_free(&c.p);
}

/* How many of some addresses of a file are asked with their stack, each in a session of its own, without
 * decoding a unit. */
static unsigned stacks_without_units(const char *path)
{
    enum { PARTS = 64 };
    machsym_open_desc file;
    machsym_image *image = NULL;
    machsym_image_info info;
    unsigned count = 0;
    memset(&file, 0, sizeof file);
    file.path = path;
    CHECK_EQ(machsym_image_open(&file, &image, NULL), MACHSYM_OK);
    machsym_image_get_info(image, &info);
    for (unsigned i = 0; i < PARTS; i++) {
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_stack_addr pc = {info.text_addr + info.text_size / PARTS * i, false};
        machsym_stack_answer call;
        machsym_frame frame;
        machsym_session_frames_of_stack(session, &pc, 1, &call, &frame, 1);
        count += session->alone != NULL && session->decoded == NULL;
        machsym_session_close(session);
    }
    machsym_image_close(image);
    return count;
}

/* Where no sequences of rows overlap, to ask which functions share the code decodes no unit. */
static void test_stacks(void)
{
    CHECK(stacks_without_units("tests/real/hidden/Sentry.dwarf") > 24);
    CHECK(stacks_without_units("tests/real/crashprobe/CrashLibiOS.dwarf") > 24);
}

int main(void)
{
    for (unsigned is_apple = 0; is_apple < 2; is_apple++) {
        test_plain(is_apple != 0);
        test_calls(is_apple != 0);
        test_denied(is_apple != 0);
        test_unsure(is_apple != 0);
        test_folded(is_apple != 0);
        test_stray(is_apple != 0);
        test_damaged(is_apple != 0);
        test_small_cache(is_apple != 0);
    }
    test_shared_entries();
    test_stacks();
    return test_done();
}
