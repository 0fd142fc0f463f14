/* Writes debug info by hand: abbreviations, units, line programs; a program of them is opened as a dSYM in
 * memory. */
#ifndef MACHSYM_TEST_DWARF_H
#define MACHSYM_TEST_DWARF_H

#include "make.h"
#include "test.h"

enum {
    AT_name = 0x03,
    AT_stmt_list = 0x10,
    AT_low_pc = 0x11,
    AT_high_pc = 0x12,
    AT_comp_dir = 0x1b,
    AT_abstract_origin = 0x31,
    AT_specification = 0x47,
    AT_ranges = 0x55,
    AT_call_column = 0x57,
    AT_call_file = 0x58,
    AT_call_line = 0x59,
    AT_linkage_name = 0x6e,
    AT_str_offsets_base = 0x72,
    AT_addr_base = 0x73,
    AT_rnglists_base = 0x74,
    AT_unknown = 0x3ff0,

    TAG_lexical_block = 0x0b,
    TAG_compile_unit = 0x11,
    TAG_inlined_subroutine = 0x1d,
    TAG_subprogram = 0x2e,
    TAG_variable = 0x34,
    TAG_namespace = 0x39,
    TAG_partial_unit = 0x3c,
    TAG_imported_unit = 0x3d,
    TAG_type_unit = 0x41,
    TAG_skeleton_unit = 0x4a,

    FORM_addr = 0x01,
    FORM_block2 = 0x03,
    FORM_block4 = 0x04,
    FORM_data2 = 0x05,
    FORM_data4 = 0x06,
    FORM_data8 = 0x07,
    FORM_string = 0x08,
    FORM_block = 0x09,
    FORM_block1 = 0x0a,
    FORM_data1 = 0x0b,
    FORM_flag = 0x0c,
    FORM_sdata = 0x0d,
    FORM_strp = 0x0e,
    FORM_udata = 0x0f,
    FORM_ref_addr = 0x10,
    FORM_ref1 = 0x11,
    FORM_ref2 = 0x12,
    FORM_ref4 = 0x13,
    FORM_ref8 = 0x14,
    FORM_ref_udata = 0x15,
    FORM_indirect = 0x16,
    FORM_sec_offset = 0x17,
    FORM_exprloc = 0x18,
    FORM_flag_present = 0x19,
    FORM_strx = 0x1a,
    FORM_addrx = 0x1b,
    FORM_ref_sup4 = 0x1c,
    FORM_strp_sup = 0x1d,
    FORM_data16 = 0x1e,
    FORM_line_strp = 0x1f,
    FORM_ref_sig8 = 0x20,
    FORM_implicit_const = 0x21,
    FORM_loclistx = 0x22,
    FORM_rnglistx = 0x23,
    FORM_ref_sup8 = 0x24,
    FORM_strx1 = 0x25,
    FORM_strx4 = 0x28,
    FORM_addrx1 = 0x29,
    FORM_GNU_addr_index = 0x1f01,
    FORM_GNU_str_index = 0x1f02,
    FORM_GNU_ref_alt = 0x1f20,
    FORM_GNU_strp_alt = 0x1f21,
    FORM_LLVM_addrx_offset = 0x2001
};

/* How a unit is written. */
typedef struct encoding {
    unsigned version;
    unsigned addr_size;
    unsigned offset_size;
} encoding;

static const encoding dwarf4 = {4, 8, 4};
static const encoding dwarf5 = {5, 8, 4};

/* A program's sections as they grow; empty ones are left out. */
typedef struct program {
    bytes info, abbrev, str, line, line_str, str_offsets, addr, ranges, rnglists, aranges, names, apple_names;
    bytes file; /* after program_open */
    make_macho macho;
    size_t unit_at; /* of the open unit */
    encoding enc;
} program;

/* ---- Abbreviations ---- */

/* Adds an abbreviation: attribute, form, ... until an attribute 0. An implicit_const's value follows its
 * form. */
static inline void abbrev(program *p, unsigned code, unsigned tag, unsigned children, const int *spec)
{
    put_uleb(&p->abbrev, code);
    put_uleb(&p->abbrev, tag);
    put8(&p->abbrev, children);
    for (; *spec != 0; spec += 2) {
        put_uleb(&p->abbrev, (uint64_t)spec[0]);
        put_uleb(&p->abbrev, (uint64_t)spec[1]);
        if (spec[1] == FORM_implicit_const)
            put_sleb(&p->abbrev, *(spec++ + 2));
    }
    put16(&p->abbrev, 0);
}

#define ABBREV(p, code, tag, children, ...)                                                                  \
    do {                                                                                                     \
        static const int spec_[] = {__VA_ARGS__, 0};                                                         \
        abbrev((p), (code), (tag), (children), spec_);                                                       \
    } while (0)

/* Ends the table that is being written, so that the next unit may begin its own. */
static inline void abbrev_end(program *p)
{
    put8(&p->abbrev, 0);
}

/* ---- Units ---- */

static inline void put_offset(program *p, bytes *b, uint64_t number)
{
    put_uint(b, number, p->enc.offset_size);
}

static inline void put_addr(program *p, bytes *b, uint64_t number)
{
    put_uint(b, number, p->enc.addr_size);
}

/* A length still to come. Returns where; end_length fills it. */
static inline size_t begin_length(program *p, bytes *b)
{
    if (p->enc.offset_size == 8)
        put32(b, 0xffffffffu);
    put_uint(b, 0, p->enc.offset_size);
    return b->len;
}

static inline void end_length(program *p, bytes *b, size_t at)
{
    patch(b, at - p->enc.offset_size, b->len - at, p->enc.offset_size);
}

/* A unit header; the abbreviations begin at abbrev_off. */
static inline void unit_begin(program *p, encoding enc, unsigned unit_type, uint64_t abbrev_off)
{
    p->enc = enc;
    p->unit_at = p->info.len;
    begin_length(p, &p->info);
    put16(&p->info, enc.version);
    if (enc.version >= 5) {
        put8(&p->info, unit_type);
        put8(&p->info, enc.addr_size);
        put_offset(p, &p->info, abbrev_off);
        if (unit_type == 4 || unit_type == 5)
            put64(&p->info, 0x1122334455667788u);
        if (unit_type == 2 || unit_type == 6) {
            put64(&p->info, 0x1122334455667788u);
            put_offset(p, &p->info, 0);
        }
    } else {
        put_offset(p, &p->info, abbrev_off);
        put8(&p->info, enc.addr_size);
    }
}

static inline void unit_end(program *p)
{
    end_length(p, &p->info, p->unit_at + (p->enc.offset_size == 8 ? 12 : 4));
}

/* Begins an entry. Returns its offset in .debug_info. */
static inline size_t die(program *p, unsigned code)
{
    size_t at = p->info.len;
    put_uleb(&p->info, code);
    return at;
}

/* An offset as a local reference has it. */
static inline uint64_t local(const program *p, size_t die_at)
{
    return die_at - p->unit_at;
}

/* Adds text to a string section. Returns its offset. */
static inline size_t add_text(bytes *section, const char *text)
{
    size_t at = section->len;
    put_str(section, text);
    return at;
}

/* ---- Files ---- */

static inline void program_add(program *p, const char *name, const bytes *section)
{
    if (section->len != 0)
        make_add(&p->macho, name, section);
}

/* Builds the file and opens it; the code is at 0x1000 to 0x2000 unless p->macho says otherwise. */
static inline machsym_image *program_open(program *p)
{
    p->macho.section_count = 0;
    program_add(p, "__debug_info", &p->info);
    program_add(p, "__debug_abbrev", &p->abbrev);
    program_add(p, "__debug_str", &p->str);
    program_add(p, "__debug_line", &p->line);
    program_add(p, "__debug_line_str", &p->line_str);
    program_add(p, "__debug_str_offs", &p->str_offsets);
    program_add(p, "__debug_addr", &p->addr);
    program_add(p, "__debug_ranges", &p->ranges);
    program_add(p, "__debug_rnglists", &p->rnglists);
    program_add(p, "__debug_aranges", &p->aranges);
    program_add(p, "__debug_names", &p->names);
    program_add(p, "__apple_names", &p->apple_names);
    bytes_free(&p->file);
    p->file = make_file(&p->macho);
    return test_open_bytes(p->file.v, p->file.len);
}

static inline void program_free(program *p)
{
    bytes *all[] = {&p->info,        &p->abbrev,      &p->str,    &p->line,     &p->line_str,
                    &p->str_offsets, &p->addr,        &p->ranges, &p->rnglists, &p->aranges,
                    &p->names,       &p->apple_names, &p->file};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        bytes_free(all[i]);
    memset(p, 0, sizeof *p);
}

/* ---- Answers ---- */

enum { FRAMES = 64 };

/* An image and a session on it, and the frames of the last address asked. */
typedef struct lookup {
    machsym_image *image;
    machsym_session *session;
    machsym_frame v[FRAMES];
    size_t count;
} lookup;

static inline void lookup_open(lookup *l, program *p, machsym_lines lines, uint32_t flags)
{
    memset(l, 0, sizeof *l);
    l->image = program_open(p);
    l->session = test_session(l->image, lines, flags);
}

static inline size_t ask(lookup *l, uint64_t addr)
{
    memset(l->v, 0, sizeof l->v);
    l->count = machsym_session_frames_at_addr(l->session, addr, l->v, FRAMES);
    return l->count;
}

static inline void lookup_close(lookup *l)
{
    machsym_session_close(l->session);
    machsym_image_close(l->image);
}

/* The name at an address, of the innermost frame. */
static inline machsym_str name_at(lookup *l, uint64_t addr)
{
    return ask(l, addr) == 0 ? test_str(NULL) : l->v[0].name;
}

#endif
