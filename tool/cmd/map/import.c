/* machsym map import: a map of a text symbol table. */
#include "formats.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/memory.h"
#include "../../base/options.h"
#include "../../base/out.h"
#include "../../base/readfile.h"
#include "../../base/say.h"
#include "../../base/takes.h"
#include "map.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows ---- */

/* A row of a table; texts are views into the input. */
typedef struct row {
    uint64_t lo;
    uint64_t hi;
    machsym_str function;
    machsym_str file;
    uint32_t line;
    size_t number;           /* of the line in the table, from 1 on */
    uint64_t function_start; /* of all rows of the function that follow each other */
    uint64_t function_size;
} row;

typedef struct import_command {
    const char *path;
    const char *out;
    const char *arch;
    const char *name;
    uuid_option uuid;
    bool is_damaged; /* the table says that it is of a damaged file */
    uint64_t text_addr;
    bool has_text_addr;
    row *rows;
    size_t count;
    size_t cap;
    size_t skipped; /* lines that are no rows */
    size_t cut;     /* rows that overlap one before */
    bool json;
} import_command;

static machsym_str import_cut_field(const char **at, const char *end)
{
    const char *tab = memchr(*at, '\t', (size_t)(end - *at));
    machsym_str field = {*at, (size_t)((tab != NULL ? tab : end) - *at)};
    *at = tab != NULL ? tab + 1 : end;
    return field;
}

/* "file:line"; a number after the last colon. */
static void import_set_place(row *r, machsym_str place)
{
    size_t at = place.len;
    uint64_t line = 0;
    uint64_t unit = 1;
    while (at > 0 && place.ptr[at - 1] >= '0' && place.ptr[at - 1] <= '9' && unit < 10000000000u) {
        line += (uint64_t)(place.ptr[--at] - '0') * unit;
        unit *= 10;
    }
    r->file = place;
    if (at == 0 || place.ptr[at - 1] != ':' || at == place.len || line > UINT32_MAX)
        return;
    r->file.len = at - 1;
    r->line = r->file.len > 0 ? (uint32_t)line : 0; /* a line of no file tells nothing */
}

/* start, end (inclusive), function, file:line (may be missing). */
static bool import_parse_row(const char *line, size_t len, row *r)
{
    const char *at = line;
    const char *end = line + len;
    machsym_str lo = import_cut_field(&at, end);
    machsym_str hi = import_cut_field(&at, end);
    memset(r, 0, sizeof *r);
    r->function = import_cut_field(&at, end);
    import_set_place(r, import_cut_field(&at, end));
    if (!parse_hex(lo.ptr, lo.len, &r->lo) || !parse_hex(hi.ptr, hi.len, &r->hi) || r->hi < r->lo ||
        r->hi == UINT64_MAX || r->function.len == 0)
        return false;
    r->hi++;
    return true;
}

/* "UUID: ..." and "Damaged: yes" stand above the rows of some tables. */
static void import_parse_heading(import_command *c, const char *line, size_t len)
{
    char copy[128];
    char *value = copy;
    if (len >= sizeof copy)
        return;
    memcpy(copy, line, len);
    copy[len] = 0;
    while (*value != 0 && *value != ':')
        value++;
    if (*value == 0)
        return;
    *value++ = 0;
    while (*value == ' ' || *value == '\t')
        value++;
    machsym_uuid uuid;
    if (strcmp(copy, "UUID") == 0 && parse_uuid(value, &uuid) && symbol_uuid_is_none(&c->uuid.uuid))
        c->uuid.uuid = uuid;
    c->is_damaged |= strcmp(copy, MAP_DAMAGED_HEADING) == 0 && strcmp(value, "yes") == 0;
}

static void import_parse_table(import_command *c, const text *input)
{
    size_t number = 0;
    for (size_t at = 0; at < input->len;) {
        const char *line = input->v + at;
        const char *newline = memchr(line, '\n', input->len - at);
        size_t len = newline != NULL ? (size_t)(newline - line) : input->len - at;
        at += len + 1;
        number++;
        if (len > 0 && line[len - 1] == '\r')
            len--;
        c->rows = mem_room(c->rows, c->count, &c->cap, sizeof *c->rows);
        if (import_parse_row(line, len, &c->rows[c->count])) {
            c->rows[c->count++].number = number;
        } else if (len > 0) {
            import_parse_heading(c, line, len);
            c->skipped++;
        }
    }
}

static int import_by_address(const void *a, const void *b)
{
    const row *x = a;
    const row *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts, ends overlaps in favour of the row that begins first, and finds the functions. */
static void import_order_rows(import_command *c)
{
    size_t kept = 0;
    if (c->count > 0)
        qsort(c->rows, c->count, sizeof *c->rows, import_by_address);
    for (size_t i = 0; i < c->count; i++) {
        row *r = &c->rows[i];
        uint64_t end = kept > 0 ? c->rows[kept - 1].hi : 0;
        c->cut += r->lo < end;
        r->lo = r->lo < end ? end : r->lo;
        if (r->lo < r->hi)
            c->rows[kept++] = *r;
    }
    c->count = kept;
    for (size_t i = 0; i < c->count;) {
        size_t end = i + 1;
        while (end < c->count && c->rows[end].lo == c->rows[end - 1].hi &&
               c->rows[end].function.len == c->rows[i].function.len &&
               memcmp(c->rows[end].function.ptr, c->rows[i].function.ptr, c->rows[i].function.len) == 0)
            end++;
        for (size_t k = i; k < end; k++) {
            c->rows[k].function_start = c->rows[i].lo;
            c->rows[k].function_size = c->rows[end - 1].hi - c->rows[i].lo;
        }
        i = end;
    }
}

/* ---- The map ---- */

static bool import_set_arch(const char *arch, machsym_map_info *info)
{
    static const struct {
        uint32_t cputype;
        uint32_t cpusubtype;
    } known[] = {{0x0100000c, 0}, {0x0100000c, 2}, {0x01000007, 3}, {0x01000007, 8}, {7, 3},
                 {12, 6},         {12, 9},         {12, 11},        {12, 12},        {0x0200000c, 1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        info->cputype = known[i].cputype;
        info->cpusubtype = known[i].cpusubtype;
        if (arch == NULL || strcmp(arch, machsym_arch_name(info->cputype, info->cpusubtype)) == 0)
            return true;
    }
    say_message(
        "-arch: %s is not arm64, arm64e, x86_64, x86_64h, i386, armv6, armv7, armv7s, armv7k, arm64_32",
        arch);
    return false;
}

/* Programs of 64 bits begin at 4 GB; everything else counts from 0 unless it is told. */
static uint64_t import_text_base(const import_command *c)
{
    const uint64_t program = 0x100000000;
    if (c->has_text_addr)
        return c->text_addr;
    return c->rows[0].lo >= program && c->rows[c->count - 1].hi - program <= UINT32_MAX ? program : 0;
}

static void import_set_frame(const row *r, machsym_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    frame->linkage_name = r->function;
    frame->file.name = r->file;
    frame->line = r->line;
    frame->function_start = r->function_start;
    frame->function_size = r->function_size;
    frame->name_source = r->file.len != 0 ? MACHSYM_SOURCE_DWARF : MACHSYM_SOURCE_SYMTAB;
    frame->line_source = r->file.len != 0 ? MACHSYM_SOURCE_DWARF : MACHSYM_SOURCE_NONE;
}

static machsym_map *import_make_map(const import_command *c)
{
    machsym_map_info info;
    machsym_writer *writer;
    machsym_map *map = NULL;
    machsym_error err;
    memset(&info, 0, sizeof info);
    info.name = c->name != NULL ? (machsym_str){c->name, strlen(c->name)} : (machsym_str){NULL, 0};
    info.uuid = c->uuid.uuid;
    info.flags = c->is_damaged ? MACHSYM_MAP_DAMAGED : 0;
    info.text_addr = import_text_base(c);
    if (!import_set_arch(c->arch, &info))
        return NULL;
    info.text_size =
        c->rows[c->count - 1].hi > info.text_addr ? c->rows[c->count - 1].hi - info.text_addr : 0;
    machsym_writer_desc desc = {.info = &info};
    if (machsym_writer_open(&desc, &writer, &err) != MACHSYM_OK) {
        say_error(c->path, &err);
        return NULL;
    }
    for (size_t i = 0; i < c->count; i++) {
        const row *r = &c->rows[i];
        machsym_map_range range = {r->lo, r->hi, r->file.len == 0};
        machsym_frame frame;
        import_set_frame(r, &frame);
        if (machsym_writer_add(writer, &range, &frame, 1, &err) != MACHSYM_OK) {
            say_message("%s:%zu: %s", c->path, r->number, err.what);
            machsym_writer_close(writer);
            return NULL;
        }
    }
    if (machsym_writer_finish(writer, &map, &err) != MACHSYM_OK)
        say_error(c->path, &err);
    return map;
}

static void import_tell_json(const import_command *c, const char *path)
{
    text t = {0};
    json_begin(&t, "map-import");
    json_put_str(&t, "file", str_c(path));
    json_put_number(&t, "rows", c->count);
    json_put_number(&t, "other_lines", c->skipped);
    json_put_number(&t, "cut_rows", c->cut);
    text_c(&t, "}\n");
    out_text(&t);
    text_free(&t);
}

static bool import_run_import(import_command *c)
{
    text input = {0};
    text path = {0};
    machsym_map *map = NULL;
    const char *why = file_read_words(&input, c->path);
    bool ok = why == NULL;
    if (!ok)
        say_message("%s: %s", c->path, why);
    import_parse_table(c, &input);
    import_order_rows(c);
    if (ok && c->count == 0)
        say_message("%s: no row of start, end, function and file:line, separated by tabs", c->path);
    else if (ok)
        map = import_make_map(c);
    if (c->out != NULL) {
        text_c(&path, c->out);
        text_add(&path, "", 1);
    } else {
        map_default_name(&path, (machsym_str){c->name, c->name != NULL ? strlen(c->name) : 0}, NULL);
    }
    ok = map != NULL && map_write(map, path.v);
    if (ok && c->json)
        import_tell_json(c, path.v);
    else if (ok)
        (strcmp(path.v, "-") == 0 ? say_plain : out_line)(
            "%s: %zu rows, %zu other lines, %zu rows cut where they overlap one before", path.v, c->count,
            c->skipped, c->cut);
    machsym_map_close(map);
    text_free(&input);
    text_free(&path);
    free(c->rows);
    return ok;
}

static bool import_take_format(void *to, const char *value)
{
    (void)to;
    if (strcmp(value, "bugly") == 0)
        return true;
    say_message("--format of an import is bugly, not %s", value);
    return false;
}

static bool import_take_text(void *to, const char *value)
{
    import_command *c = to;
    c->has_text_addr = parse_hex(value, strlen(value), &c->text_addr);
    if (!c->has_text_addr)
        say_message("--text wants a hexadecimal address, not %s", value);
    return c->has_text_addr;
}

static int import_run(int argc, char **argv)
{
    import_command c;
    memset(&c, 0, sizeof c);
    int count = options_parse(&map_import_command, &c, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&map_import_command, count == 0 ? "no table is named" : "one table at a time");
    if (c.out != NULL && strcmp(c.out, "-") == 0 && c.json)
        return options_wrong(&map_import_command, "-o - writes the map where --json goes: name a file");
    c.path = argv[1];
    return outfile_spares(c.out, c.path) && import_run_import(&c) ? TOOL_OK : TOOL_ERROR;
}

static const option table[] = {
    {"format", "bugly", "rows of start, end (inclusive), function, file:line, separated by tabs", 0,
     import_take_format},
    {"-arch", "NAME", "what the table does not tell: the architecture", offsetof(import_command, arch), NULL},
    {"uuid", "UUID", "... the UUID", offsetof(import_command, uuid), take_uuid},
    {"name", "NAME", "... the image's name", offsetof(import_command, name), NULL},
    {"text", "ADDR", "... what the rows count from", 0, import_take_text},
    {"o", "OUT", "the file to write, - is standard output; NAME.symmap in this folder without it",
     offsetof(import_command, out), NULL},
    {"json", NULL, "one JSON object, in place of a line", offsetof(import_command, json), NULL},
    {0},
};

const command map_import_command = {
    "map import",     "a map from a text symbol table",
    "[options] FILE", "Makes a map of a text symbol table; - is standard input.\n",
    {{table, 0}},     NULL,
    import_run,       NULL,
};
