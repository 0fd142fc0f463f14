/* What several entries may name: lists of ranges, texts, abstract entries. A hostile file lets all of its
 * entries name one long thing, or things that share all but their beginning. Each combination of what is
 * shared, who names it, how and where the file lies keeps the bounds that the manual states, and grows by
 * no more than them. */
#include "bounds.h"

/* ---- What is combined ---- */

/* How the names of what is shared differ. */
typedef enum sharing {
    SAME,   /* all name one thing */
    TAILS,  /* each names what begins a little after the one before */
    HALVES, /* every other one names the whole, the others tails */
    SHARINGS
} sharing;

static const char *const sharing_names[] = {"same", "tails", "halves"};

/* How many things there are of each kind, of a file that n scales. */
typedef enum shape { LONG, EVEN, MANY, SHAPES } shape;

static const char *const shape_names[] = {"long", "even", "many"};

typedef struct counts {
    size_t length; /* of what is shared */
    size_t namers;
} counts;

static counts counts_of(shape s, size_t n)
{
    counts c = {n, n};
    if (s == LONG)
        c.namers = n / 16;
    if (s == MANY)
        c.length = 4000;
    return c;
}

/* Which part of length things number i names. */
static size_t begin_of(sharing how, size_t length, size_t i)
{
    if (how == SAME || (how == HALVES && i % 2 == 0))
        return 0;
    return i % length;
}

typedef enum list_form { RANGES_4, RANGES_5, RANGES_X, LIST_FORMS } list_form;

enum { INDEXES = 100 }; /* of lists that are named by an index */
typedef enum list_namer {
    OF_ROOTS,
    OF_FUNCTIONS,
    OF_CALLS,
    OF_NESTED_CALLS,
    OF_SMALL_FUNCTIONS,
    OF_NESTED_FUNCTIONS,
    LIST_NAMERS
} list_namer;

static const char *const list_names[] = {".debug_ranges", ".debug_rnglists", "rnglistx"};
static const char *const list_namer_names[] = {"roots",        "functions",           "calls",
                                               "nested calls", "functions of a call", "nested functions"};

typedef enum text_form { STRP, LINE_STRP, STRX, TEXT_FORMS } text_form;
typedef enum text_namer {
    OF_NAME,
    OF_LINKAGE_NAME,
    OF_BOTH_NAMES,
    OF_ORIGIN,
    OF_UNIT,
    OF_COMP_DIR,
    OF_FILE,
    OF_DIRECTORY,
    TEXT_NAMERS
} text_namer;

static const char *const text_names[] = {"strp", "line_strp", "strx"};
static const char *const text_namer_names[] = {"names",   "linkage names", "both names",
                                               "origins", "units",         "compilation directories",
                                               "files",   "directories"};

/* The combination at hand. */
static struct combination {
    sharing how;
    shape shape;
    int what;
    int namer;
    bool in_object;
} now;

/* ---- Lists of ranges ---- */

/* Where the first list begins, and how many bytes an entry takes. */
static size_t first_list(void)
{
    return now.what == RANGES_4 ? 0 : now.what == RANGES_5 ? 12 : 12 + 4 * INDEXES;
}

static size_t entry_size(void)
{
    return now.what == RANGES_4 ? 16 : 10;
}

/* A list of n ranges of 8 bytes, 16 apart. */
static void put_list(program *p, size_t n)
{
    if (now.what == RANGES_4) {
        for (size_t i = 0; i < n; i++) {
            put64(&p->ranges, 0x1000 + 16 * i);
            put64(&p->ranges, 0x1008 + 16 * i);
        }
        put_zeros(&p->ranges, 16);
        return;
    }
    size_t at = begin_length(p, &p->rnglists);
    put16(&p->rnglists, 5);
    put8(&p->rnglists, 8);
    put8(&p->rnglists, 0);
    put32(&p->rnglists, now.what == RANGES_X ? INDEXES : 0);
    for (size_t i = 0; now.what == RANGES_X && i < INDEXES; i++)
        put32(&p->rnglists, first_list() - 12 + entry_size() * begin_of(now.how, n, i));
    for (size_t i = 0; i < n; i++) { /* DW_RLE_start_length */
        put8(&p->rnglists, 7);
        put64(&p->rnglists, 0x1000 + 16 * i);
        put8(&p->rnglists, 8);
    }
    put8(&p->rnglists, 0);
    end_length(p, &p->rnglists, at);
}

static void put_list_name(program *p, const counts *c, size_t i)
{
    if (now.what == RANGES_X)
        put8(&p->info, i % INDEXES);
    else
        put32(&p->info, first_list() + entry_size() * begin_of(now.how, c->length, i));
}

static void list_unit(program *p)
{
    unit_begin(p, now.what == RANGES_4 ? dwarf4 : dwarf5, 1, 0);
}

/* 1: a root without code, 2: one with ranges, 3 and 4: functions without and with children, 5 and 6:
 * calls. */
static void put_list_abbrevs(program *p)
{
    static const unsigned tags[] = {TAG_compile_unit, TAG_subprogram, TAG_subprogram, TAG_inlined_subroutine,
                                    TAG_inlined_subroutine};
    ABBREV(p, 1, TAG_compile_unit, 1, AT_rnglists_base, FORM_sec_offset);
    for (unsigned i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        put_uleb(&p->abbrev, i + 2);
        put_uleb(&p->abbrev, tags[i]);
        put8(&p->abbrev, i == 0 || i % 2 == 0);
        if (i == 0) {
            put_uleb(&p->abbrev, AT_rnglists_base);
            put_uleb(&p->abbrev, FORM_sec_offset);
        }
        put_uleb(&p->abbrev, AT_ranges);
        put_uleb(&p->abbrev, now.what == RANGES_X ? FORM_rnglistx : FORM_sec_offset);
        put16(&p->abbrev, 0);
    }
    abbrev_end(p);
}

/* A root; its lists count from after the header of .debug_rnglists. */
static void put_root(program *p, unsigned code)
{
    die(p, code);
    put32(&p->info, now.what == RANGES_4 ? 0 : 12);
}

static void put_namer(program *p, unsigned code, const counts *c, size_t i)
{
    die(p, code);
    put_list_name(p, c, i);
}

static void set_lists(trap *t, size_t n)
{
    program *p = &t->p;
    counts c = counts_of(now.shape, n);
    if (now.shape == MANY) /* of few, what an array doubles by is more than what they need */
        c.namers *= now.what == RANGES_X ? 16 : 4; /* one takes 2 bytes, or 5 */
    p->enc = now.what == RANGES_4 ? dwarf4 : dwarf5;
    put_list_abbrevs(p);
    p->macho.code_size = 16 * c.length + 16;
    put_list(p, c.length);
    for (size_t i = 0; now.namer == OF_ROOTS && i < c.namers; i++) {
        list_unit(p);
        put_root(p, 2);
        put_list_name(p, &c, i);
        put_namer(p, 3, &c, i);
        put8(&p->info, 0);
        unit_end(p);
    }
    if (now.namer == OF_ROOTS)
        return;
    list_unit(p);
    put_root(p, 1);
    if (now.namer == OF_CALLS || now.namer == OF_NESTED_CALLS)
        put_namer(p, 4, &c, 0);
    for (size_t i = 0; i < c.namers; i++) {
        bool has_call = now.namer == OF_SMALL_FUNCTIONS || now.namer == OF_NESTED_FUNCTIONS;
        bool is_call = now.namer == OF_CALLS || now.namer == OF_NESTED_CALLS;
        put_namer(p, is_call ? (now.namer == OF_CALLS ? 5 : 6) : has_call ? 4 : 3, &c, i);
        if (has_call) {
            put_namer(p, 5, &c, i);
            put_zeros(&p->info, now.namer == OF_SMALL_FUNCTIONS);
        }
    }
    put_zeros(&p->info, now.namer == OF_NESTED_CALLS || now.namer == OF_NESTED_FUNCTIONS ? c.namers + 2 : 2);
    unit_end(p);
}

/* ---- Texts of debug info ---- */

/* The section that has the text. */
static bytes *text_section(program *p)
{
    return now.what == LINE_STRP ? &p->line_str : &p->str;
}

static unsigned text_form_code(void)
{
    return now.what == STRP ? FORM_strp : now.what == LINE_STRP ? FORM_line_strp : FORM_strx4;
}

/* Names text number i: by its offset, or by its index. */
static void put_text(bytes *b, const counts *c, size_t i)
{
    put32(b, now.what == STRX ? i % c->namers : begin_of(now.how, c->length, i));
}

/* An abbreviation whose last attributes are texts. */
static void text_abbrev(program *p, unsigned code, unsigned tag, unsigned children, const unsigned *plain,
                        const unsigned *texts)
{
    put_uleb(&p->abbrev, code);
    put_uleb(&p->abbrev, tag);
    put8(&p->abbrev, children);
    for (; *plain != 0; plain++)
        put_uleb(&p->abbrev, *plain);
    for (; *texts != 0; texts++) {
        put_uleb(&p->abbrev, *texts);
        put_uleb(&p->abbrev, text_form_code());
    }
    put16(&p->abbrev, 0);
}

static void put_text_abbrevs(program *p)
{
    static const unsigned none[] = {0};
    static const unsigned code[] = {AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, 0};
    static const unsigned unit[] = {AT_low_pc,           FORM_addr,       AT_high_pc,
                                    FORM_data4,          AT_stmt_list,    FORM_sec_offset,
                                    AT_str_offsets_base, FORM_sec_offset, 0};
    static const unsigned call[] = {AT_low_pc,          FORM_addr, AT_high_pc, FORM_data4,
                                    AT_abstract_origin, FORM_ref4, 0};
    static const unsigned name[] = {AT_name, 0};
    static const unsigned linkage[] = {AT_linkage_name, 0};
    static const unsigned both[] = {AT_name, AT_linkage_name, 0};
    static const unsigned dir[] = {AT_comp_dir, 0};
    text_abbrev(p, 1, TAG_compile_unit, 1, unit,
                now.namer == OF_UNIT       ? name
                : now.namer == OF_COMP_DIR ? dir
                                           : none);
    text_abbrev(p, 2, TAG_subprogram, 0, code,
                now.namer == OF_NAME           ? name
                : now.namer == OF_LINKAGE_NAME ? linkage
                : now.namer == OF_BOTH_NAMES   ? both
                                               : none);
    text_abbrev(p, 3, TAG_subprogram, 1, code, none);
    text_abbrev(p, 4, TAG_subprogram, 0, none, both);
    text_abbrev(p, 5, TAG_inlined_subroutine, 0, call, none);
    abbrev_end(p);
}

/* A line program of DWARF 5: a row of another file every 16 bytes. */
static void put_text_lines(program *p, const counts *c)
{
    bool files = now.namer == OF_FILE || now.namer == OF_DIRECTORY;
    size_t count = files ? c->namers : 1;
    size_t at = begin_length(p, &p->line);
    put16(&p->line, 5);
    put8(&p->line, 8);
    put8(&p->line, 0);
    put32(&p->line, 0);
    size_t head = p->line.len;
    put(&p->line, "\1\1\1\0\1\12\0\1\1\1\1\0\0\0\1", 15);
    for (unsigned list = 0; list < 2; list++) { /* directories, files */
        bool shares = now.namer == (list == 0 ? OF_DIRECTORY : OF_FILE);
        put8(&p->line, 1 + list);
        put8(&p->line, 1); /* DW_LNCT_path */
        put_uleb(&p->line, shares ? text_form_code() : (unsigned)FORM_string);
        if (list == 1) {
            put8(&p->line, 2); /* DW_LNCT_directory_index */
            put_uleb(&p->line, FORM_udata);
        }
        put_uleb(&p->line, list == 0 && !shares ? 1 : count);
        for (size_t i = 0; i < (list == 0 && !shares ? 1 : count); i++) {
            if (shares)
                put_text(&p->line, c, i);
            else
                put_str(&p->line, "a");
            if (list == 1)
                put_uleb(&p->line, now.namer == OF_DIRECTORY ? i : 0);
        }
    }
    patch(&p->line, head - 4, p->line.len - head, 4);
    put(&p->line, "\0\11\2", 3);
    put64(&p->line, 0x1000);
    for (size_t i = 0; i < c->namers; i++) {
        put8(&p->line, 4);
        put_uleb(&p->line, i % count);
        put8(&p->line, 26);
    }
    put(&p->line, "\0\1\1", 3);
    end_length(p, &p->line, at);
}

static void put_code(program *p, unsigned code, const counts *c, size_t i, size_t texts)
{
    put_entry(p, code, 0x1000 + 16 * i, 16);
    for (size_t j = 0; j < texts; j++)
        put_text(&p->info, c, i);
}

static void text_unit(program *p, const counts *c, size_t i, uint64_t size)
{
    unit_begin(p, dwarf5, 1, 0);
    put_entry(p, 1, 0x1000 + 16 * i, size);
    put32(&p->info, 0);
    put32(&p->info, 8);
    if (now.namer == OF_UNIT || now.namer == OF_COMP_DIR)
        put_text(&p->info, c, i);
}

static void put_inlined(program *p, const counts *c)
{
    size_t first = p->info.len;
    for (size_t i = 0; i < c->namers; i++) {
        die(p, 4);
        put_text(&p->info, c, i);
        put_text(&p->info, c, i);
    }
    put_entry(p, 3, 0x1000, 16 * c->namers);
    for (size_t i = 0; i < c->namers; i++) {
        put_code(p, 5, c, i, 0);
        put32(&p->info, local(p, first + 9 * i));
    }
    put8(&p->info, 0);
}

static void set_texts(trap *t, size_t n)
{
    program *p = &t->p;
    counts c = counts_of(now.shape, n);
    c.length *= 16;
    p->enc = dwarf5;
    p->macho.code_size = 16 * c.namers;
    put_long_text(text_section(p), c.length / 16);
    if (now.what == STRX) {
        size_t at = begin_length(p, &p->str_offsets);
        put32(&p->str_offsets, 5);
        for (size_t i = 0; i < c.namers; i++)
            put32(&p->str_offsets, begin_of(now.how, c.length, i));
        end_length(p, &p->str_offsets, at);
    }
    put_text_abbrevs(p);
    put_text_lines(p, &c);
    bool is_unit = now.namer == OF_UNIT || now.namer == OF_COMP_DIR;
    if (!is_unit)
        text_unit(p, &c, 0, 16 * c.namers);
    for (size_t i = 0; now.namer != OF_ORIGIN && i < c.namers; i++) {
        if (is_unit)
            text_unit(p, &c, i, 16);
        put_code(p, 2, &c, i,
                 now.namer == OF_BOTH_NAMES ? 2 : now.namer == OF_NAME || now.namer == OF_LINKAGE_NAME);
        if (is_unit) {
            put8(&p->info, 0);
            unit_end(p);
        }
    }
    if (now.namer == OF_ORIGIN)
        put_inlined(p, &c);
    if (!is_unit) {
        put8(&p->info, 0);
        unit_end(p);
    }
}

/* ---- Where the file lies ---- */

/* Makes the file of a trap an object file, and one that was linked from it alone the trap's. */
static void put_into_object(trap *t)
{
    static const make_symbol symbol = {"_f", 0x0f, 1, 0x1000};
    program *p = &t->p;
    bytes commands = {NULL, 0, 0};
    size_t tail = 32 + 72 + 80 + 24;
    p->macho.filetype = 1;
    p->macho.symbols = &symbol;
    p->macho.symbol_count = 1;
    machsym_image_close(program_open(p));
    jsonframe_object(&p->file);
    t->beside = p->file.len;
    put_segment(&commands, "__TEXT", 0x1000, p->macho.code_size, 0, tail, 1);
    put_section(&commands, "__TEXT", "__text", 0x1000, p->macho.code_size, 0, 0x80000400u, 0, 0);
    put_symtab(&commands, tail, 4, 16);
    put_header(&t->file, 2, 2, commands.len);
    put_bytes(&t->file, &commands);
    put_nlist(&t->file, 2, 0x66, 0, 0);
    put_nlist(&t->file, 8, 0x24, 1, 0x1000);
    put_nlist(&t->file, 0, 0x24, 0, p->macho.code_size);
    put_nlist(&t->file, 0, 0x64, 1, 0);
    put(&t->file, "\0\0o.o\0\0\0_f\0\0\0\0\0\0", 16);
    bytes_free(&commands);
}

static void set_now(trap *t, size_t n, void (*set)(trap *t, size_t n))
{
    set(t, n);
    if (now.in_object)
        put_into_object(t);
}

static void set_lists_now(trap *t, size_t n)
{
    set_now(t, n, set_lists);
}

static void set_texts_now(trap *t, size_t n)
{
    set_now(t, n, set_texts);
}

/* ---- What is checked ---- */

/* What four times the file takes more than the file, against what its further bytes allow. A quick test takes
 * one size. */
static void check(const char *what, const char *namer, void (*set)(trap *t, size_t n), size_t n)
{
    cost one = spring(set, n);
    if (test_is_quick()) {
        CHECK(within_budget(&one));
        return;
    }
    cost four = spring(set, 4 * n);
    double bytes_more = (double)(four.size - one.size);
    double steps = ((double)four.work - (double)one.work) / bytes_more;
    double memory = ((double)four.memory - (double)one.memory) / bytes_more;
    bool cheap = within_budget(&one) && within_budget(&four) && steps <= 2048 && memory <= 640;
    test_count(cheap);
    if (!cheap || getenv("VERBOSE") != NULL)
        printf("%-16s %-22s %-6s %-5s %s: of %zu bytes more %.1f steps and %.1f bytes of memory a byte\n",
               what, namer, sharing_names[now.how], shape_names[now.shape], now.in_object ? "object" : "dSYM",
               four.size - one.size, steps, memory);
    fflush(stdout);
}

/* The file of a combination: four times as many namers, or a list four times as long, or both. Every fifth of the
 * 756 combinations has each pair of values of two axes (223), and 736 of the 774 triples; every eleventh still has each
 * pair. */
enum { SIZE = 600, STRIDE_ALL = 5, STRIDE_SAMPLE = 31 };

static size_t count; /* of combinations so far */
static size_t stride;

static void check_all(const char *const *what, int what_count, const char *const *namer, int namer_count,
                      void (*set)(trap *t, size_t n))
{
    for (now.what = 0; now.what < what_count; now.what++) {
        for (now.namer = 0; now.namer < namer_count; now.namer++) {
            if (count++ % stride == 0)
                check(what[now.what], namer[now.namer], set, SIZE);
        }
    }
}

/* STRIDE=1 tries all combinations, a larger number a part of them; without it SAMPLE says whether it is the
 * larger. */
int main(void)
{
    char path[64];
    const char *asked = getenv("STRIDE");
    stride = asked != NULL && atoi(asked) > 0 ? (size_t)atoi(asked)
             : test_env("SAMPLE") == 1        ? (size_t)STRIDE_ALL
                                              : (size_t)STRIDE_SAMPLE;
    if (mkdtemp(folder) == NULL)
        return 1;
    for (unsigned i = 0; i < 2 * SHARINGS * SHAPES; i++) {
        now.how = (sharing)(i / 2 % SHARINGS);
        now.shape = (shape)(i / 2 / SHARINGS);
        now.in_object = i % 2 != 0;
        check_all(list_names, LIST_FORMS, list_namer_names, LIST_NAMERS, set_lists_now);
        check_all(text_names, TEXT_FORMS, text_namer_names, TEXT_NAMERS, set_texts_now);
    }
    snprintf(path, sizeof path, "%s/o.o", folder);
    unlink(path);
    rmdir(folder);
    return test_done();
}
