/* The damage matrix: every field that fields.h lists is set to 0, all ones, one more, one less, and with a bit flipped.
 * What is lost is what the field governs, and nothing else: all other answers equal those of the undamaged file.
 *
 * damage [--all] [--table] [FILE...]: without --all one file of each DWARF version. With STRIDE in the
 * environment only every STRIDE-th field. --table prints what each field cost at most. */
#include "answers.h"
#include "fields.h"

enum { KINDS = 160, SHOWN = 40 };

static const char *const of_each_version[] = {
    "inline-x86_64-d2-14.dwarf", "inline-x86_64-d3-22.dwarf", "inline-arm64_32-d4-22.dwarf",
    "cross-arm64-d5-22.dwarf",   "hand-dwarf64.dwarf",
};

/* What fields.h understands: thin files that are not compressed and whose units it can walk. */
static const char *const all_files[] = {
    "blocks-arm64-d4-22.dwarf",
    "blocks-x86_64-d4-14.dwarf",
    "cold-arm64-d5-22.dwarf",
    "cold-x86_64-d4-14.dwarf",
    "cross-arm64-d5-22.dwarf",
    "cross-x86_64-d4-14.dwarf",
    "exports-arm64-chained.dwarf",
    "exports-x86_64-opcodes.dwarf",
    "hand-dwarf64.dwarf",
    "hand-entry.dwarf",
    "hand-forms.dwarf",
    "hand-lines.dwarf",
    "hand-loops.dwarf",
    "hand-shared.dwarf",
    "hand-split4.dwarf",
    "hand-split5.dwarf",
    "hand-units.dwarf",
    "inline-arm64-d4-14.dwarf",
    "inline-arm64-d5-aranges-die.dwarf",
    "inline-arm64_32-d4-22.dwarf",
    "inline-arm64e-d4.dwarf",
    "inline-x86_64-d2-14.dwarf",
    "inline-x86_64-d3-22.dwarf",
    "inline-x86_64-d4-22.dwarf",
    "inline-x86_64-d4-aranges-die.dwarf",
    "inline-x86_64-d4-headers.dwarf",
    "inline-x86_64-d4-noaranges.dwarf",
    "inline-x86_64-d5-14-damaged.dwarf",
    "inline-x86_64-d5-O0-22.dwarf",
    "kernel-arm64.dwarf",
    "objc-cold-arm64-d4-22.dwarf",
    "outline-arm64-d4-14.dwarf",
    "outline-arm64-d4-22.dwarf",
    "zoo-x86_64-d5-22.dwarf",
};

static machsym_image *open_bytes(const uint8_t *ptr, size_t len)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    machsym_image_open(&desc, &image, NULL);
    return image;
}

/* A file, its fields, and what it answers undamaged. */
typedef struct subject {
    const char *name;
    test_file file;
    fields list;
    probes asked;
    answer want[PROBES];
} subject;

static void subject_open(subject *s, const char *name)
{
    char path[256];
    memset(s, 0, sizeof *s);
    s->name = name;
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    s->file = test_read(path);
    fields_list(&s->list, s->file.ptr, s->file.len);
    machsym_image *image = test_open_bytes(s->file.ptr, s->file.len);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    probes_choose(&s->asked, session);
    for (size_t i = 0; i < s->asked.count; i++) {
        machsym_explanation e;
        s->want[i] = answer_at(session, s->asked.v[i]);
        machsym_session_explain_addr(session, s->asked.v[i], &e);
        for (size_t j = 0; j < s->list.unit_count && s->want[i].is_dwarf; j++) {
            if (s->list.units[j].off == e.unit_offset)
                s->want[i].unit = j;
        }
    }
    machsym_session_close(session);
    machsym_image_close(image);
}

static void subject_close(subject *s)
{
    free(s->file.ptr);
    free(s->list.v);
}

/* ---- What a field costs ---- */

/* What the fields of one name cost. */
typedef struct price {
    const char *kind;
    const char *name;
    size_t cases;
    size_t costly; /* that changed an answer */
    size_t most;   /* answers changed by one, in thousandths of all */
    size_t excess; /* cases that changed more than the field governs */
} price;

static price prices[KINDS];
static size_t price_count;
static size_t shown;

static price *price_of(const field *f)
{
    for (size_t i = 0; i < price_count; i++) {
        if (strcmp(prices[i].kind, f->kind) == 0 && strcmp(prices[i].name, f->name) == 0)
            return &prices[i];
    }
    if (price_count == KINDS) {
        puts("too many kinds of fields");
        exit(1);
    }
    prices[price_count].kind = f->kind;
    prices[price_count].name = f->name;
    return &prices[price_count++];
}

/* Which parts of an answer a field may change. */
static unsigned parts_of(const subject *s, const field *f, const answer *a)
{
    const field_unit *u = a->unit == SIZE_MAX ? NULL : &s->list.units[a->unit];
    if (f->reach == REACH_ALL &&
        (f->parts & PART_SYMBOLS) != 0) /* where no entry does, symbols bound the function */
        return u == NULL ? (unsigned)PART_ALL : a->has_die ? f->parts : f->parts | PART_SHAPE;
    if (f->reach == REACH_ALL)
        return f->parts;
    if (f->reach == REACH_NOTHING)
        return 0;
    if (u == NULL) /* a function whose end is damaged may reach over code that no unit claims */
        return f->reach == REACH_LINES ? 0 : PART_SHAPE | PART_NAMES;
    if ((f->reach == REACH_UNIT && f->owner == a->unit) ||
        (f->reach == REACH_TABLE && f->owner == u->table) ||
        (f->reach == REACH_LINES && u->has_line && f->owner == u->line))
        return f->parts;
    bool takes_names = f->reach != REACH_LINES && s->list.has_ref_addr; /* names from the other unit */
    return takes_names ? PART_NAMES : 0;
}

static unsigned parts_that_differ(const answer *a, const answer *b)
{
    unsigned parts = 0;
    parts |= a->shape != b->shape ? PART_SHAPE : 0;
    parts |= a->names != b->names ? PART_NAMES : 0;
    parts |= a->lines != b->lines ? PART_LINES : 0;
    return parts;
}

static void show_excess(const subject *s, const field *f, const char *how, size_t i, unsigned parts)
{
    if (shown++ >= SHOWN)
        return;
    printf("%s: %s, %s at 0x%llx of %llu, %s: 0x%llx of unit %d loses%s%s%s\n", s->name, f->kind, f->name,
           (unsigned long long)f->off, (unsigned long long)f->owner, how, (unsigned long long)s->asked.v[i],
           s->want[i].unit == SIZE_MAX ? -1 : (int)s->want[i].unit,
           (parts & PART_SHAPE) != 0 ? " function" : "", (parts & PART_NAMES) != 0 ? " names" : "",
           (parts & PART_LINES) != 0 ? " lines" : "");
}

/* Asks everything of the damaged bytes. */
static void check_case(const subject *s, const field *f, const char *how, unsigned number)
{
    price *p = price_of(f);
    size_t changed = 0;
    bool exceeds = false;
    machsym_image *image = open_bytes(s->file.ptr, s->file.len);
    machsym_session *session = NULL;
    if (image != NULL)
        session =
            test_session(image, MACHSYM_LINES_ATOS, number % 2 != 0 ? (uint32_t)MACHSYM_SESSION_INDEX : 0);
    for (size_t i = 0; i < s->asked.count; i++) {
        answer none = {0, 0, 0, 0, false, false};
        answer got = session != NULL ? answer_at(session, s->asked.v[i]) : none;
        unsigned parts = parts_that_differ(&got, &s->want[i]);
        changed += parts != 0;
        if ((parts & ~parts_of(s, f, &s->want[i])) != 0) {
            if (!exceeds)
                show_excess(s, f, how, i, parts);
            exceeds = true;
        }
    }
    machsym_session_close(session);
    machsym_image_close(image);
    size_t share = s->asked.count == 0 ? 0 : changed * 1000 / s->asked.count;
    p->cases++;
    p->costly += changed != 0;
    p->most = share > p->most ? share : p->most;
    p->excess += exceeds;
    test_count(!exceeds);
}

/* ---- Damage ---- */

static void write_number(uint8_t *at, const field *f, uint64_t number)
{
    for (unsigned i = 0; i < f->size; i++) {
        if (f->is_leb)
            at[i] = (uint8_t)((at[i] & 0x80) | (i < 9 ? number >> (7 * i) & 0x7f : 0));
        else if (i < 8)
            at[i] = (uint8_t)(number >> (8 * i));
    }
}

static uint64_t read_number(const uint8_t *at, const field *f)
{
    uint64_t number = 0;
    for (unsigned i = f->size; i-- > 0;) {
        if (f->is_leb)
            number = number << 7 | (at[i] & 0x7f);
        else if (i < 8)
            number = number << 8 | at[i];
    }
    return number;
}

/* Sets one field in five ways, one after another. number chooses the bit. */
static void check_field(subject *s, const field *f, unsigned number)
{
    static const char *const how[] = {"0", "all ones", "+1", "-1", "a bit"};
    uint8_t was[16];
    uint8_t *at = s->file.ptr + f->off;
    memcpy(was, at, f->size);
    for (unsigned i = 0; i < 5; i++) {
        unsigned bit = number * 5 % (8 * f->size);
        if (i == 0 && !f->is_leb)
            memset(at, 0, f->size);
        else if (i == 0)
            write_number(at, f, 0);
        else if (i == 1)
            memset(at, 0xff, f->size);
        else if (i == 4)
            at[bit / 8] ^= (uint8_t)(1u << bit % 8);
        else
            write_number(at, f, read_number(was, f) + (i == 2 ? 1 : ~(uint64_t)0));
        if (memcmp(was, at, f->size) != 0)
            check_case(s, f, how[i], number);
        memcpy(at, was, f->size);
    }
}

static void check_file(const char *name, size_t stride, size_t *turn)
{
    test_begin();
    static subject s;
    subject_open(&s, name);
    CHECK(s.asked.count > 0);
    for (size_t i = 0; i < s.list.count; i++) {
        if ((*turn)++ % stride == 0)
            check_field(&s, &s.list.v[i], (unsigned)i);
    }
    subject_close(&s);
    test_end(name);
}

static void print_table(void)
{
    printf("%-14s %-27s %6s %6s %7s %7s\n", "of", "field", "cases", "costly", "most", "excess");
    for (size_t i = 0; i < price_count; i++) {
        const price *p = &prices[i];
        printf("%-14s %-27s %6zu %6zu %5zu.%zu%% %7zu\n", p->kind, p->name, p->cases, p->costly, p->most / 10,
               p->most % 10, p->excess);
    }
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("STRIDE");
    size_t stride = wanted != NULL && atoi(wanted) > 0 ? (size_t)atoi(wanted) : 1;
    size_t turn = 0;
    bool all = false;
    bool table = false;
    bool named = false;
    for (int i = 1; i < argc; i++) {
        all |= strcmp(argv[i], "--all") == 0;
        table |= strcmp(argv[i], "--table") == 0;
        if (argv[i][0] != '-') {
            named = true;
            check_file(argv[i], stride, &turn);
        }
    }
    for (size_t i = 0; i < sizeof all_files / sizeof all_files[0] && all; i++)
        check_file(all_files[i], stride, &turn);
    for (size_t i = 0; i < sizeof of_each_version / sizeof of_each_version[0] && !all && !named; i++)
        check_file(of_each_version[i], stride, &turn);
    if (table || test_failed > 0)
        print_table();
    return test_done();
}
