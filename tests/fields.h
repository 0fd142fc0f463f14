/* Lists the fields of a thin Mach-O file that a program needs before it can read anything after them: of
 * the load commands, unit headers, abbreviations, line headers and .debug_aranges. Written from the
 * specifications, without the library: it reads whole files only, so it ends the program where it does not
 * understand one. */
#ifndef MACHSYM_FIELDS_H
#define MACHSYM_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whose answers a field governs. */
typedef enum field_reach {
    REACH_NOTHING = 0,
    REACH_UNIT,  /* the unit that owner is the number of */
    REACH_TABLE, /* units whose abbreviations begin at owner */
    REACH_LINES, /* lines of units whose line program begins at owner */
    REACH_ALL
} field_reach;

/* What of an answer may differ. */
enum {
    PART_SHAPE = 1, /* how many frames, and where their function lies */
    PART_NAMES = 2,
    PART_LINES = 4,   /* files, lines and columns */
    PART_SYMBOLS = 8, /* answers that debug info does not give */
    PART_DWARF = PART_SHAPE | PART_NAMES | PART_LINES,
    PART_ALL = 15
};

typedef struct field {
    const char *kind; /* "unit", "line", ... */
    const char *name;
    uint64_t off; /* in the file */
    unsigned size;
    bool is_leb;
    field_reach reach;
    unsigned parts;
    uint64_t owner;
} field;

typedef struct field_section {
    const char *name;
    uint64_t off;
    uint64_t size;
} field_section;

typedef struct field_unit {
    uint64_t off;
    uint64_t end;
    unsigned version;
    unsigned addr_size;
    unsigned offset_size;
    uint64_t table;
    uint64_t root; /* in .debug_info */
    bool has_line;
    uint64_t line;
    bool has_ranges; /* it states where its code lies */
} field_unit;

enum { FIELDS_UNITS = 64 };

/* A file and its fields. */
typedef struct fields {
    const uint8_t *file;
    uint64_t size;
    bool is_64;
    bool has_ref_addr; /* entries may take names from other units */
    field *v;
    size_t count;
    size_t cap;
    field_section info, abbrev, line, aranges;
    field_unit units[FIELDS_UNITS];
    size_t unit_count;
} fields;

static inline void fields_stop(const char *what)
{
    printf("fields: %s\n", what);
    exit(1);
}

static inline uint64_t fields_read(const fields *f, uint64_t off, unsigned size)
{
    uint64_t number = 0;
    if (size > 8 || off > f->size || size > f->size - off)
        fields_stop("a field past the end of the file");
    for (unsigned i = size; i-- > 0;)
        number = number << 8 | f->file[off + i];
    return number;
}

static inline uint64_t fields_leb(const fields *f, uint64_t *off)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = fields_read(f, (*off)++, 1);
        number |= shift < 64 ? (byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return number;
    }
}

/* What the next fields are of. */
static field fields_now;

static inline void fields_put(fields *f, const char *name, uint64_t off, unsigned size, bool is_leb)
{
    if (f->count == f->cap) {
        f->cap = f->cap == 0 ? 256 : 2 * f->cap;
        f->v = (field *)realloc(f->v, f->cap * sizeof *f->v);
        if (f->v == NULL)
            fields_stop("no memory");
    }
    field *one = &f->v[f->count++];
    *one = fields_now;
    one->name = name;
    one->off = off;
    one->size = size;
    one->is_leb = is_leb;
}

/* Lists a field of fixed size, and reads it. */
static inline uint64_t fields_take(fields *f, const char *name, uint64_t *off, unsigned size)
{
    fields_put(f, name, *off, size, false);
    *off += size;
    return fields_read(f, *off - size, size < 8 ? size : 8); /* names have 16 bytes */
}

static inline uint64_t fields_take_leb(fields *f, const char *name, uint64_t *off)
{
    uint64_t start = *off;
    uint64_t number = fields_leb(f, off);
    fields_put(f, name, start, (unsigned)(*off - start), true);
    return number;
}

static inline void fields_begin(const char *kind, field_reach reach, unsigned parts, uint64_t owner)
{
    fields_now.kind = kind;
    fields_now.reach = reach;
    fields_now.parts = parts;
    fields_now.owner = owner;
}

/* ---- Load commands ---- */

static inline bool fields_is(const fields *f, uint64_t off, const char *name)
{
    char text[17];
    memset(text, 0, sizeof text);
    memcpy(text, f->file + off, 16);
    return strcmp(text, name) == 0;
}

/* What is lost without a section: its own field governs no more. */
static inline unsigned fields_of_section(const fields *f, uint64_t off, uint32_t flags)
{
    static const struct {
        const char *name;
        unsigned parts;
    } rows[] = {
        {"__debug_info", PART_DWARF},
        {"__debug_abbrev", PART_DWARF},
        {"__debug_line", PART_LINES},
        {"__debug_line_str", PART_LINES},
        {"__debug_str", PART_NAMES | PART_LINES},
        {"__debug_str_offs", PART_NAMES | PART_LINES},
        {"__debug_addr", PART_DWARF},
        {"__debug_ranges", PART_DWARF},
        {"__debug_rnglists", PART_DWARF},
        {"__debug_aranges", 0},
    };
    if ((flags & 0x80000400u) != 0)
        return PART_ALL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (fields_is(f, off, rows[i].name))
            return rows[i].parts;
    }
    return 0;
}

static inline void fields_keep_section(fields *f, uint64_t at, uint64_t off, uint64_t size)
{
    field_section *all[] = {&f->info, &f->abbrev, &f->line, &f->aranges};
    static const char *const names[] = {"__debug_info", "__debug_abbrev", "__debug_line", "__debug_aranges"};
    for (size_t i = 0; i < 4; i++) {
        if (fields_is(f, at, names[i]) && off != 0) {
            all[i]->off = off;
            all[i]->size = size;
        }
    }
}

static inline void fields_section(fields *f, uint64_t at)
{
    unsigned word = f->is_64 ? 8 : 4;
    uint64_t start = at;
    uint32_t flags = (uint32_t)fields_read(f, at + 32 + 2 * word + 16, 4);
    bool is_code = (flags & 0x80000400u) != 0;
    unsigned parts = fields_of_section(f, at, flags);
    fields_begin("section", REACH_ALL, is_code ? 0 : parts, 0);
    fields_take(f, "sectname", &at, 16);
    fields_now.parts = 0;
    fields_take(f, "segname", &at, 16);
    fields_now.parts = is_code ? PART_ALL : 0;
    fields_take(f, "addr", &at, word);
    fields_now.parts = parts;
    uint64_t size = fields_take(f, "size", &at, word);
    fields_now.parts = is_code ? 0 : parts;
    uint64_t off = fields_take(f, "offset", &at, 4);
    fields_now.parts = 0;
    fields_take(f, "align", &at, 4);
    fields_take(f, "reloff", &at, 4);
    fields_take(f, "nreloc", &at, 4);
    fields_now.parts = parts;
    fields_take(f, "flags", &at, 4);
    fields_now.parts = 0;
    fields_take(f, "reserved1", &at, 4);
    fields_take(f, "reserved2", &at, 4);
    fields_keep_section(f, start, off, size);
}

static inline void fields_segment(fields *f, uint64_t command, uint64_t at)
{
    unsigned word = f->is_64 ? 8 : 4;
    uint64_t count = fields_read(f, at + 16 + 4 * word + 8, 4);
    bool is_text =
        fields_is(f, at, "__TEXT") || fields_is(f, at, "__TEXT_EXEC"); /* where code is: of kernels too */
    unsigned parts = is_text ? PART_ALL : fields_is(f, at, "__DWARF") ? PART_DWARF : 0;
    fields_begin("segment", REACH_ALL, parts, 0);
    fields_take(f, "cmd", &command, 4);
    fields_take(f, "cmdsize", &command, 4);
    fields_now.parts = is_text ? PART_ALL : 0;
    fields_take(f, "segname", &at, 16);
    fields_take(f, "vmaddr", &at, word);
    fields_take(f, "vmsize", &at, word);
    fields_now.parts = 0;
    fields_take(f, "fileoff", &at, word);
    fields_take(f, "filesize", &at, word);
    fields_take(f, "maxprot", &at, 4);
    fields_take(f, "initprot", &at, 4);
    fields_now.parts = parts;
    fields_take(f, "nsects", &at, 4);
    fields_now.parts = 0;
    fields_take(f, "flags", &at, 4);
    for (uint64_t i = 0; i < count; i++)
        fields_section(f, at + i * (f->is_64 ? 80 : 68));
}

/* A command whose body is numbers of 4 bytes. */
static inline void fields_command(fields *f, const char *kind, unsigned parts, uint64_t at, uint64_t size)
{
    uint64_t end = at + size;
    fields_begin(kind, REACH_ALL, parts, 0);
    fields_take(f, "cmd", &at, 4);
    fields_take(f, "cmdsize", &at, 4);
    while (at + 4 <= end)
        fields_take(f, "body", &at, 4);
}

static inline void fields_commands(fields *f)
{
    uint64_t at = 0;
    fields_begin("mach header", REACH_ALL, PART_ALL, 0);
    f->is_64 = fields_take(f, "magic", &at, 4) == 0xfeedfacf;
    fields_take(f, "cputype", &at, 4);
    fields_now.parts = 0;
    fields_take(f, "cpusubtype", &at, 4);
    fields_now.parts = PART_ALL;
    fields_take(f, "filetype", &at, 4);
    fields_now.parts = 0;
    uint64_t count = fields_take(f, "ncmds", &at, 4);
    fields_take(f, "sizeofcmds", &at, 4);
    fields_take(f, "flags", &at, 4);
    at = f->is_64 ? 32 : 28;
    for (; count > 0; count--) {
        uint64_t command = fields_read(f, at, 4) & 0x7fffffff;
        uint64_t size = fields_read(f, at + 4, 4);
        if (command == 1 || command == 0x19)
            fields_segment(f, at, at + 8);
        else if (command == 2)
            fields_command(f, "LC_SYMTAB", PART_NAMES | PART_SYMBOLS, at, size);
        else if (command == 0x1b)
            fields_command(f, "LC_UUID", 0, at, size);
        else if (command == 0x26 || command == 0xb || command == 0x22 || command == 0x33)
            fields_command(f, "LC of symbols", PART_SYMBOLS, at, size);
        else
            fields_command(f, "other LC", 0, at, size);
        at += size;
    }
}

/* ---- Units and abbreviations ---- */

enum { FIELDS_BLOCK = -1, FIELDS_TEXT = -2, FIELDS_LEB = -3 };

/* Bytes of a value, or how it tells them. */
static inline int fields_form(unsigned form, const field_unit *u)
{
    switch (form) {
    case 0x19:
    case 0x21: return 0;
    case 0x0b:
    case 0x0c:
    case 0x11:
    case 0x25:
    case 0x29: return 1;
    case 0x05:
    case 0x12:
    case 0x26:
    case 0x2a: return 2;
    case 0x27:
    case 0x2b: return 3;
    case 0x06:
    case 0x13:
    case 0x28:
    case 0x2c: return 4;
    case 0x07:
    case 0x14:
    case 0x20: return 8;
    case 0x1e: return 16;
    case 0x01: return (int)u->addr_size;
    case 0x0e:
    case 0x17:
    case 0x1f: return (int)u->offset_size;
    case 0x08: return FIELDS_TEXT;
    case 0x09:
    case 0x18: return FIELDS_BLOCK;
    case 0x0d:
    case 0x0f:
    case 0x15:
    case 0x1a:
    case 0x1b:
    case 0x22:
    case 0x23: return FIELDS_LEB;
    default: fields_stop("a form of a root entry that is not known"); return 0;
    }
}

/* Reads a value of a root entry; *at moves past it. */
static inline uint64_t fields_value(const fields *f, unsigned form, const field_unit *u, uint64_t *at)
{
    int size = fields_form(form, u);
    uint64_t number = 0;
    if (size == FIELDS_LEB || size == FIELDS_BLOCK)
        number = fields_leb(f, at);
    if (size == FIELDS_BLOCK)
        *at += number;
    while (size == FIELDS_TEXT && fields_read(f, (*at)++, 1) != 0)
        continue;
    if (size > 0 && size <= 8)
        number = fields_read(f, *at, (unsigned)size);
    *at += size > 0 ? (unsigned)size : 0;
    return number;
}

/* Finds the unit's line program, and whether it states its ranges. */
static inline void fields_root(fields *f, field_unit *u)
{
    uint64_t at = f->info.off + u->root;
    uint64_t table = f->abbrev.off + u->table;
    if (u->root >= u->end)
        return;
    uint64_t want = fields_leb(f, &at);
    for (uint64_t code = fields_leb(f, &table); code != 0; code = fields_leb(f, &table)) {
        fields_leb(f, &table);
        table++;
        for (;;) {
            uint64_t attribute = fields_leb(f, &table);
            unsigned form = (unsigned)fields_leb(f, &table);
            if (form == 0x21)
                fields_leb(f, &table);
            if (attribute == 0 && form == 0)
                break;
            f->has_ref_addr |= form == 0x10;
            uint64_t number = code == want ? fields_value(f, form, u, &at) : 0;
            if (code == want && attribute == 0x10) {
                u->has_line = true;
                u->line = number;
            }
            u->has_ranges |= code == want && (attribute == 0x55 || attribute == 0x12);
        }
    }
}

static inline void fields_units(fields *f)
{
    fields_begin("unit", REACH_UNIT, PART_DWARF, 0);
    for (uint64_t off = 0; off < f->info.size;) {
        field_unit *u = &f->units[f->unit_count];
        uint64_t at = f->info.off + off;
        if (f->unit_count == FIELDS_UNITS)
            fields_stop("too many units");
        memset(u, 0, sizeof *u);
        fields_now.owner = f->unit_count++;
        u->off = off;
        u->offset_size = fields_read(f, at, 4) == 0xffffffff ? 8 : 4;
        if (u->offset_size == 8)
            fields_take(f, "escape", &at, 4);
        uint64_t len = fields_take(f, "unit_length", &at, u->offset_size);
        u->end = at - f->info.off + len;
        u->version = (unsigned)fields_take(f, "version", &at, 2);
        unsigned type = u->version >= 5 ? (unsigned)fields_take(f, "unit_type", &at, 1) : 0;
        if (u->version >= 5)
            u->addr_size = (unsigned)fields_take(f, "address_size", &at, 1);
        u->table = fields_take(f, "debug_abbrev_offset", &at, u->offset_size);
        if (u->version < 5)
            u->addr_size = (unsigned)fields_take(f, "address_size", &at, 1);
        if (type == 4 || type == 5)
            fields_take(f, "dwo_id", &at, 8);
        if (type == 2 || type == 6) {
            fields_take(f, "type_signature", &at, 8);
            fields_take(f, "type_offset", &at, u->offset_size);
        }
        u->root = at - f->info.off;
        fields_root(f, u);
        off = u->end;
    }
}

static inline void fields_table(fields *f, uint64_t table)
{
    uint64_t at = f->abbrev.off + table;
    fields_begin("abbreviation", REACH_TABLE, PART_DWARF, table);
    while (fields_take_leb(f, "code", &at) != 0) {
        fields_take_leb(f, "tag", &at);
        fields_take(f, "has_children", &at, 1);
        for (;;) {
            uint64_t attribute = fields_take_leb(f, "attribute", &at);
            uint64_t form = fields_take_leb(f, "form", &at);
            if (form == 0x21)
                fields_take_leb(f, "implicit_const", &at);
            if (attribute == 0 && form == 0)
                break;
        }
    }
}

/* Every table that a unit names, once. */
static inline void fields_tables(fields *f)
{
    for (size_t i = 0; i < f->unit_count; i++) {
        bool is_new = true;
        for (size_t j = 0; j < i; j++)
            is_new = is_new && f->units[j].table != f->units[i].table;
        if (is_new && f->units[i].root < f->units[i].end)
            fields_table(f, f->units[i].table);
    }
}

/* ---- Line headers and aranges ---- */

static inline void fields_line_names_5(fields *f, uint64_t *at)
{
    uint64_t pairs = fields_take(f, "entry_format_count", at, 1);
    for (; pairs > 0; pairs--) {
        fields_take_leb(f, "content_type", at);
        fields_take_leb(f, "content_form", at);
    }
    fields_take_leb(f, "entry_count", at);
}

static inline void fields_line(fields *f, uint64_t off)
{
    uint64_t at = f->line.off + off;
    unsigned offset_size = fields_read(f, at, 4) == 0xffffffff ? 8 : 4;
    fields_begin("line header", REACH_LINES, PART_LINES, off);
    if (offset_size == 8)
        fields_take(f, "escape", &at, 4);
    fields_take(f, "unit_length", &at, offset_size);
    uint64_t version = fields_take(f, "version", &at, 2);
    if (version >= 5) {
        fields_take(f, "address_size", &at, 1);
        fields_take(f, "segment_selector_size", &at, 1);
    }
    fields_take(f, "header_length", &at, offset_size);
    fields_take(f, "minimum_instruction_length", &at, 1);
    if (version >= 4)
        fields_take(f, "maximum_operations", &at, 1);
    fields_take(f, "default_is_stmt", &at, 1);
    fields_take(f, "line_base", &at, 1);
    fields_take(f, "line_range", &at, 1);
    uint64_t base = fields_take(f, "opcode_base", &at, 1);
    for (; base > 1; base--)
        fields_take(f, "standard_opcode_length", &at, 1);
    if (version >= 5)
        fields_line_names_5(f, &at);
}

static inline void fields_lines(fields *f)
{
    for (size_t i = 0; i < f->unit_count; i++) {
        bool is_new = f->units[i].has_line && f->units[i].line < f->line.size;
        for (size_t j = 0; j < i; j++)
            is_new = is_new && (!f->units[j].has_line || f->units[j].line != f->units[i].line);
        if (is_new)
            fields_line(f, f->units[i].line);
    }
}

/* A set costs nothing, unless its unit does not state its ranges itself. */
static inline void fields_aranges(fields *f)
{
    for (uint64_t off = 0; off < f->aranges.size;) {
        uint64_t at = f->aranges.off + off;
        unsigned offset_size = fields_read(f, at, 4) == 0xffffffff ? 8 : 4;
        fields_begin("aranges set", REACH_NOTHING, 0, 0);
        uint64_t info = fields_read(f, at + (offset_size == 8 ? 14 : 6), offset_size);
        for (size_t i = 0; i < f->unit_count; i++) {
            if (info >= f->units[i].off && info < f->units[i].end && !f->units[i].has_ranges)
                fields_begin("aranges set", REACH_UNIT, PART_DWARF, i);
        }
        if (offset_size == 8)
            fields_take(f, "escape", &at, 4);
        uint64_t len = fields_take(f, "unit_length", &at, offset_size);
        uint64_t end = at + len;
        fields_take(f, "version", &at, 2);
        fields_take(f, "debug_info_offset", &at, offset_size);
        unsigned addr_size = (unsigned)fields_take(f, "address_size", &at, 1);
        fields_take(f, "segment_selector_size", &at, 1);
        uint64_t start = f->aranges.off + off;
        at = start + (at - start + 2 * addr_size - 1) / (2 * addr_size) * (2 * addr_size);
        while (at + 2 * addr_size <= end) {
            fields_take(f, "address", &at, addr_size);
            fields_take(f, "length", &at, addr_size);
        }
        off = end - f->aranges.off;
    }
}

/* Lists all fields of a file. */
static inline void fields_list(fields *f, const uint8_t *file, uint64_t size)
{
    memset(f, 0, sizeof *f);
    f->file = file;
    f->size = size;
    fields_commands(f);
    fields_units(f);
    fields_tables(f);
    fields_lines(f);
    fields_aranges(f);
}

#endif
