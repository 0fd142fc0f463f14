#ifndef ms_ROOM_image_sections
#define ms_ROOM_image_sections
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../base/inflate.h"
#include "../macho/macho.h"
#include "../macho/files.h"
#include "../macho/symbols.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/nametable.h"

/* ==== >>sections ===========================================================================================
 * Job:    reads, decompresses or relocates each section of debug info when it is first asked for, once.
 * Offers: ms_sec, ms_sec_start, ms_sec_drop, ms_sec_lend, ms_sec_units_of, ms_sec_has_units, ms_sec_load,
 *         ms_sec_add_damage, ms_sec_count_reads, ms_sec_has_info, ms_sec_is_one, ms_sec_is_compressed,
 *         ms_sec_is_stated.
 * Never:  makes a section anew; lets what a section has depend on which one was asked for first.
 *
 * The image is shared by threads, and there are no locks. What is made is complete before it is published in
 * its slot, and never changes again. If two threads make the same, the second one throws its own away. */

/* A section that is not in the file as it is needed: it was read, decompressed, or relocated. */
typedef struct ms_sec_part {
    size_t size;   /* of this and of the bytes that follow it */
    ms_span bytes; /* empty when it is damaged */
    ms_damage damage;
    uint64_t read_count; /* what was asked of the image's reader */
    uint64_t read_bytes;
} ms_sec_part;

/* The unit headers. */
typedef struct ms_sec_units {
    ms_arena arena; /* that this lies in */
    const ms_cu *v;
    size_t count;
    ms_damage damage;
} ms_sec_units;

/* Where entries stand that the table of names states. */
typedef struct ms_sec_stated {
    ms_arena arena; /* that this lies in */
    ms_nt_list list;
} ms_sec_stated;

enum {
    ms_SEC_HEADS = ms_DW_SECTIONS, /* a part that has the first bytes of all compressed sections */
    ms_SEC_NAMES,                  /* one without bytes, that has the damage of the symbols' names */
    ms_SEC_SYMBOLS,                /* the same of names that the debug info contradicts */
    ms_SEC_PARTS,
    ms_SEC_HEAD = 12 /* "ZLIB", and the size of the contents in 8 bytes, the highest first */
};

/* Where a half has a section. */
typedef struct ms_sec_place {
    const ms_mo_section *section; /* or the compressed one that stands for it; NULL: neither is there */
    bool is_compressed;
} ms_sec_place;

/* The debug info of an image. */
typedef struct ms_sec {
    const ms_mo *mo;
    const ms_file *inputs; /* of the halves */
    size_t mo_count;
    const ms_range *code; /* of the image; none: ranges of units are not compared with it */
    size_t code_count;
    machsym_allocator allocator;
    ms_sec_place places[2][ms_DW_SECTIONS];
    void *parts[2][ms_SEC_PARTS]; /* by half: ms_sec_part; NULL: not asked for yet, or as the file has it */
    void *units;                  /* ms_sec_units; NULL: not asked for yet */
    void *stated;                 /* ms_sec_stated; the same */
} ms_sec;

/* ---- Parts ---- */

/* A part with room for len bytes; NULL when memory is out. */
static ms_sec_part *ms_sec_new_part(const ms_sec *sec, uint64_t len)
{
    ms_sec_part *part = NULL;
    size_t size = sizeof *part + (size_t)len;
    if (len <= SIZE_MAX / 4)
        part = (ms_sec_part *)sec->allocator.alloc(sec->allocator.user, size);
    if (part == NULL)
        return NULL;
    ms_zero(part, sizeof *part);
    part->size = size;
    part->bytes = ms_span_make(part + 1, (size_t)len);
    return part;
}

static void ms_sec_free_part(const ms_sec *sec, ms_sec_part *part)
{
    if (part != NULL)
        sec->allocator.free(sec->allocator.user, part, part->size);
}

static uint8_t *ms_sec_room(ms_sec_part *part)
{
    return (uint8_t *)(part + 1);
}

/* Notes the damage of a part, which has no bytes then. */
static void ms_sec_fail(ms_sec_part *part, const char *what, const char *where, uint64_t at)
{
    ms_damage_note(&part->damage, what, where, at);
    part->bytes = ms_span_make(NULL, 0);
}

/* ---- Which sections there are ---- */

static const char *ms_sec_name(unsigned which)
{
    static const char *const names[ms_DW_SECTIONS] = {
        "__debug_info",     "__debug_abbrev",   "__debug_str",   "__debug_line",
        "__debug_line_str", "__debug_str_offs", "__debug_addr",  "__debug_ranges",
        "__debug_rnglists", "__debug_aranges",  "__debug_names", "__apple_names"};
    return names[which]; /* Mach-O cuts names at 16 characters */
}

/* What a section is called when it is compressed: "__debug_line_str" is "__zdebug_line_st", because names are
 * cut at 16 characters. */
static void ms_sec_put_compressed(const char *name, char compressed[17])
{
    size_t len = ms_str_from_c(name).len;
    ms_zero(compressed, 17);
    ms_copy(compressed, "__z", 3);
    ms_copy(compressed + 3, name + 2, len < 15 ? len - 2 : 13);
}

/* Whether a section is one of those that are read here. */
static bool ms_sec_is_one(const ms_mo_section *section)
{
    char compressed[17];
    for (unsigned i = 0; i < ms_DW_SECTIONS; i++) {
        ms_sec_put_compressed(ms_sec_name(i), compressed);
        if (ms_str_is(section->name, ms_sec_name(i)) || ms_str_is(section->name, compressed))
            return true;
    }
    return false;
}

/* Whether a half has compressed debug info. */
static bool ms_sec_is_compressed(const ms_mo *mo)
{
    char compressed[17];
    ms_sec_put_compressed(ms_sec_name(ms_DW_INFO), compressed);
    return ms_mo_section_named(mo, NULL, compressed) != NULL;
}

#ifndef MACHSYM_NO_OS
/* Whether a half says that it has debug info: then no dSYM is looked for. */
static bool ms_sec_is_stated(const ms_mo *mo)
{
    return ms_mo_section_named(mo, NULL, ms_sec_name(ms_DW_INFO)) != NULL || ms_sec_is_compressed(mo);
}
#endif

static size_t ms_sec_len(const ms_mo_section *section)
{
    return section->unread != 0 ? section->unread : section->bytes.len;
}

/* Whether a section is within what those may have together that are read or decompressed: sections do not
 * share bytes, so that all are no longer than the slice. */
static bool ms_sec_fits(const ms_sec *sec, size_t half, unsigned which)
{
    uint64_t left = sec->mo[half].bytes.len;
    bool fits = false;
    for (unsigned i = 0; i <= which; i++) {
        const ms_sec_place *place = &sec->places[half][i];
        bool counts = place->section != NULL && (place->is_compressed || place->section->unread != 0);
        size_t len = counts ? ms_sec_len(place->section) : 0;
        fits = len <= left;
        left -= fits ? len : 0;
    }
    return fits;
}

/* ---- Sections of object files ---- */

/* reloc.h */
enum {
    ms_RELOC_UNSIGNED = 0, /* of every architecture; called VANILLA on the 32-bit ones */
    ms_ARM64_RELOC_SUBTRACTOR = 1,
    ms_X86_64_RELOC_SUBTRACTOR = 5
};

#define ms_R_SCATTERED 0x80000000u

/* Adds the address of a symbol to the value at off, or takes it away: what relocation_info asks for. */
static void ms_sec_relocate(const ms_mo *mo, uint8_t *bytes, size_t len, uint32_t off, uint32_t bits)
{
    ms_span nlists = ms_sym_nlists(mo);
    uint32_t index = bits & 0xffffff; /* symbol 24 bits, pcrel 1, length 2, extern 1, type 4 */
    size_t size = (size_t)1 << (bits >> 25 & 3);
    unsigned type = bits >> 28;
    bool subtracts = type == (mo->slice.cputype == ms_CPU_X86_64 ? (unsigned)ms_X86_64_RELOC_SUBTRACTOR
                                                                 : (unsigned)ms_ARM64_RELOC_SUBTRACTOR);
    if (off > len || size > len - off || index >= nlists.len / ms_sym_nlist_size(mo) ||
        (type != ms_RELOC_UNSIGNED && !subtracts))
        return;
    ms_sym_nlist symbol = ms_sym_nlist_at(mo, nlists, index);
    uint64_t value = ms_sym_is_defined(&symbol) ? symbol.value : 0;
    uint64_t sum = 0;
    for (size_t i = size; i-- > 0;)
        sum = sum << 8 | bytes[off + i];
    sum = subtracts ? sum - value : sum + value;
    for (size_t i = 0; i < size; i++)
        bytes[off + i] = (uint8_t)(sum >> 8 * i);
}

/* Moves rd to the next relocation that has to be applied: those against a symbol (r_extern). Those against a
 * section leave in the file what holds in the object's own addresses, and so do the scattered ones of 32-bit
 * files (SECTDIFF among them). */
static bool ms_sec_next_relocation(ms_rd *rd, uint32_t *off, uint32_t *bits)
{
    while (ms_rd_left(rd) >= 8) {
        *off = ms_rd_u32(rd);
        *bits = ms_rd_u32(rd);
        if ((*off & ms_R_SCATTERED) == 0 && (*bits >> 27 & 1) != 0)
            return true;
    }
    return false;
}

/* The relocations of a section, if it has any that have to be applied. */
static ms_rd ms_sec_relocations(const ms_mo *mo, const ms_mo_section *section)
{
    uint32_t off;
    uint32_t bits;
    ms_span none = ms_span_make(NULL, 0);
    if (mo->slice.filetype != ms_MH_OBJECT)
        return ms_rd_make(none);
    ms_rd rd = ms_rd_make(ms_mo_table(mo, section->reloc_off, section->reloc_count, 8));
    ms_rd first = rd;
    return ms_sec_next_relocation(&first, &off, &bits) ? rd : ms_rd_make(none);
}

/* A copy of a section of an object file, with its relocations applied. */
static ms_sec_part *ms_sec_relocated(const ms_sec *sec, const ms_mo *mo, const ms_mo_section *section,
                                     ms_rd relocations)
{
    uint32_t off;
    uint32_t bits;
    ms_sec_part *part = ms_sec_new_part(sec, section->bytes.len);
    if (part == NULL)
        return NULL;
    ms_copy(ms_sec_room(part), section->bytes.ptr, section->bytes.len);
    while (ms_sec_next_relocation(&relocations, &off, &bits))
        ms_sec_relocate(mo, ms_sec_room(part), section->bytes.len, off, bits);
    return part;
}

/* ---- Sections that are read ---- */

/* Copies the first bytes of a section, and counts in part what that asks of the reader. Returns false when
 * they cannot be read. */
static bool ms_sec_copy(const ms_sec *sec, size_t half, const ms_mo_section *section, uint8_t *out,
                        size_t len, ms_sec_part *part)
{
    const machsym_io *io = &sec->inputs[half].io;
    if (section->unread == 0) {
        ms_copy(out, section->bytes.ptr, len);
        return true;
    }
    part->read_count++;
    part->read_bytes += len;
    return io->read(io->user, ms_mo_file_offset(&sec->mo[half], section->off), out, len) >= len;
}

/* The bytes of a section as the file has them. */
static ms_sec_part *ms_sec_read(const ms_sec *sec, size_t half, unsigned which, const ms_mo_section *section)
{
    bool fits = ms_sec_fits(sec, half, which);
    size_t len = fits ? ms_sec_len(section) : 0;
    ms_sec_part *part = ms_sec_new_part(sec, len);
    if (part != NULL && (!fits || !ms_sec_copy(sec, half, section, ms_sec_room(part), len, part)))
        ms_sec_fail(part, "a section cannot be read, or shares its bytes with others", "section",
                    ms_mo_file_offset(&sec->mo[half], section->off));
    return part;
}

/* ---- Sections that are compressed ---- */

static ms_sec_part *ms_sec_heads(const ms_sec *sec, size_t half)
{
    const size_t len = (size_t)ms_SEC_HEAD * ms_DW_SECTIONS;
    ms_sec_part *part = ms_sec_new_part(sec, len);
    if (part == NULL)
        return NULL;
    ms_zero(ms_sec_room(part), len);
    for (unsigned i = 0; i < ms_DW_SECTIONS; i++) {
        uint8_t *head = ms_sec_room(part) + i * (size_t)ms_SEC_HEAD;
        const ms_mo_section *section = sec->places[half][i].section;
        if (section == NULL || !sec->places[half][i].is_compressed || ms_sec_len(section) < ms_SEC_HEAD ||
            !ms_sec_fits(sec, half, i))
            continue;
        if (!ms_sec_copy(sec, half, section, head, ms_SEC_HEAD, part))
            ms_zero(head, ms_SEC_HEAD);
    }
    return part;
}

static ms_sec_part *ms_sec_publish(const ms_sec *sec, void **slot, ms_sec_part *part)
{
    ms_sec_part *first = part != NULL ? (ms_sec_part *)ms_once_put(slot, part) : NULL;
    if (first != part)
        ms_sec_free_part(sec, part);
    return first;
}

/* The size that a compressed section says that its contents have. Returns false when it says none. */
static bool ms_sec_size_of(ms_span bytes, uint64_t *size)
{
    ms_rd rd = ms_rd_make(bytes);
    ms_span magic = ms_rd_span(&rd, 4);
    *size = ms_rd_be64(&rd);
    return !rd.failed && ms_equal(magic.ptr, "ZLIB", 4);
}

/* How many bytes the contents of a compressed section may have, after those of the sections before it.
 * Returns false when memory is out. */
static bool ms_sec_limit(ms_sec *sec, size_t half, unsigned which, uint64_t *limit)
{
    void **slot = &sec->parts[half][ms_SEC_HEADS];
    *limit = (uint64_t)sec->mo[half].bytes.len * MACHSYM_INFLATED_PER_BYTE + MACHSYM_INFLATED;
    if (which == 0)
        return true;
    ms_sec_part *heads = (ms_sec_part *)ms_once_get(slot);
    if (heads == NULL)
        heads = ms_sec_publish(sec, slot, ms_sec_heads(sec, half));
    for (unsigned i = 0; i < which && heads != NULL; i++) {
        uint64_t size;
        ms_span head = ms_span_sub(heads->bytes, i * (size_t)ms_SEC_HEAD, ms_SEC_HEAD);
        if (ms_sec_size_of(head, &size) && size <= *limit)
            *limit -= size;
    }
    return heads != NULL;
}

/* A part without bytes that says why. */
static ms_sec_part *ms_sec_refused(const ms_sec *sec, const char *what, const char *where, uint64_t at)
{
    ms_sec_part *part = ms_sec_new_part(sec, 0);
    if (part != NULL)
        ms_sec_fail(part, what, where, at);
    return part;
}

/* Decompresses a section: its head, then a zlib stream. Of a stream that is cut short, what it has is used.
 * One that is damaged in another way may be wrong from its first byte on, so nothing of it is used. */
static ms_sec_part *ms_sec_inflated(ms_sec *sec, size_t half, unsigned which, ms_span packed, uint64_t at)
{
    const char *where = "compressed section";
    uint64_t size;
    uint64_t limit;
    if (!ms_sec_size_of(packed, &size))
        return ms_sec_refused(sec, "compressed debug info does not begin with ZLIB and its size", where, at);
    if (!ms_sec_limit(sec, half, which, &limit))
        return NULL;
    if (size > limit || size > SIZE_MAX / 4)
        return ms_sec_refused(sec, "compressed debug info is larger than MACHSYM_INFLATED_PER_BYTE allows",
                              where, at);
#ifdef MACHSYM_NO_INFLATE
    return ms_sec_new_part(sec, 0);
#else
    size_t len;
    size_t used;
    ms_sec_part *part = ms_sec_new_part(sec, size);
    if (part == NULL)
        return NULL;
    ms_inf_end end =
        ms_inf_zlib(ms_span_from(packed, ms_SEC_HEAD), ms_sec_room(part), (size_t)size, &len, &used);
    if (end == ms_INF_SHORT)
        ms_damage_note_cut(&part->damage, "compressed debug info is cut short", where, at);
    else if (end != ms_INF_OK || len != size)
        ms_damage_note(&part->damage, "compressed debug info is damaged", where, at);
    bool is_usable = end == ms_INF_OK || end == ms_INF_SHORT;
    part->bytes = ms_span_sub(part->bytes, 0, is_usable ? len : 0);
    return part;
#endif
}

/* The contents of a compressed section. */
static ms_sec_part *ms_sec_unpacked(ms_sec *sec, size_t half, unsigned which, const ms_mo_section *section)
{
    uint64_t at = ms_mo_file_offset(&sec->mo[half], section->off);
    if (!ms_sec_fits(sec, half, which))
        return ms_sec_refused(sec, "compressed sections overlap: together they are larger than the file",
                              "compressed section", at);
    if (section->unread == 0)
        return ms_sec_inflated(sec, half, which, section->bytes, at);
    ms_sec_part *packed = ms_sec_read(sec, half, which, section);
    if (packed == NULL || packed->damage.count != 0)
        return packed;
    ms_sec_part *part = ms_sec_inflated(sec, half, which, packed->bytes, at);
    if (part != NULL) {
        part->read_count = packed->read_count;
        part->read_bytes = packed->read_bytes;
    }
    ms_sec_free_part(sec, packed);
    return part;
}

/* ---- All of them ---- */

/* A section of a half. Returns false when memory is out. */
static bool ms_sec_of_half(ms_sec *sec, size_t half, unsigned which, ms_span *out)
{
    const ms_mo *mo = &sec->mo[half];
    void **slot = &sec->parts[half][which];
    const ms_mo_section *section = sec->places[half][which].section;
    bool is_compressed = sec->places[half][which].is_compressed;
    *out = ms_span_make(NULL, 0);
    if (section == NULL)
        return true;
    ms_rd relocations = ms_sec_relocations(mo, section);
    if (!is_compressed && section->unread == 0 && ms_rd_left(&relocations) == 0) {
        *out = section->bytes;
        return true;
    }
    ms_sec_part *part = (ms_sec_part *)ms_once_get(slot);
    if (part == NULL) {
        part = is_compressed          ? ms_sec_unpacked(sec, half, which, section)
               : section->unread != 0 ? ms_sec_read(sec, half, which, section)
                                      : ms_sec_relocated(sec, mo, section, relocations);
        part = ms_sec_publish(sec, slot, part);
    }
    if (part != NULL)
        *out = part->bytes;
    return part != NULL;
}

/* The half that has the debug info: the first one whose .debug_info has something; sec->mo_count when
 * there is none. Returns false when memory is out. */
static bool ms_sec_half(ms_sec *sec, size_t *half)
{
    ms_span info;
    for (*half = 0; *half < sec->mo_count; ++*half) {
        if (!ms_sec_of_half(sec, *half, ms_DW_INFO, &info))
            return false;
        if (info.len != 0)
            break;
    }
    return true;
}

/* Lends a section to a session: see ms_dw_lender. */
static bool ms_sec_lend(void *owner, ms_dw_section which, ms_span *out)
{
    ms_sec *sec = (ms_sec *)owner;
    size_t half;
    *out = ms_span_make(NULL, 0);
    if (!ms_sec_half(sec, &half))
        return false;
    return half == sec->mo_count || ms_sec_of_half(sec, half, (unsigned)which, out);
}

/* Remembers a section of a half if it is one of debug info. Of sections of one name the first counts; one
 * that is compressed counts where there is no other. */
static void ms_sec_place_one(ms_sec_place *places, const ms_mo_section *section)
{
    bool is_compressed = ms_str_begins(section->name, "__z");
    char compressed[17] = {0};
    if (!is_compressed && !ms_str_begins(section->name, "__debug_") &&
        !ms_str_begins(section->name, "__apple_"))
        return;
    for (unsigned i = 0; i < ms_DW_SECTIONS; i++) {
        ms_sec_place *place = &places[i];
        if (is_compressed)
            ms_sec_put_compressed(ms_sec_name(i), compressed);
        if (!ms_str_is(section->name, is_compressed ? compressed : ms_sec_name(i)) ||
            (place->section != NULL && (is_compressed || !place->is_compressed)))
            continue;
        place->section = section;
        place->is_compressed = is_compressed;
    }
}

/* Starts with the halves of an image, the files that they come from, and its code. NULL when memory is
 * out. */
static ms_sec *ms_sec_start(const ms_mo *mo, const ms_file *inputs, size_t mo_count, const ms_dw *dw,
                            ms_arena *arena)
{
    ms_sec *sec = (ms_sec *)ms_arena_zeroed(arena, 1, sizeof *sec);
    if (sec == NULL)
        return NULL;
    sec->mo = mo;
    sec->inputs = inputs;
    sec->mo_count = mo_count;
    sec->code = dw->code;
    sec->code_count = dw->code_count;
    sec->allocator = arena->allocator;
    for (size_t half = 0; half < mo_count; half++) {
        for (uint32_t i = 0; i < mo[half].section_count; i++)
            ms_sec_place_one(sec->places[half], &mo[half].sections[i]);
    }
    return sec;
}

/* ---- Unit headers ---- */

static void ms_sec_free_units(ms_sec_units *units)
{
    if (units == NULL)
        return;
    ms_arena arena = units->arena;
    ms_arena_free(&arena);
}

#ifndef MACHSYM_NO_OS
static bool ms_sec_peek(const void *file, const void *at, void *out, size_t len)
{
    return ms_os_peek((const ms_os_file *)file, at, out, len);
}
#endif

/* Lists the units of .debug_info, which lies in input or in memory. */
static void ms_sec_list_units(const ms_dw *dw, const ms_file *input, ms_sec_units *units)
{
#ifndef MACHSYM_NO_OS
    ms_os_file again;
    ms_cu_peeker peeker = {ms_sec_peek, &again};
    if (input->path != NULL && ms_os_reopen(&input->file, input->path, &again)) {
        units->v = ms_cu_index(dw, &peeker, &units->arena, &units->count, &units->damage);
        ms_os_settle(&again);
        return;
    }
#else
    (void)input;
#endif
    units->v = ms_cu_index(dw, NULL, &units->arena, &units->count, &units->damage);
}

/* ---- Units whose code is nowhere ---- */

/* Whether a range in .debug_aranges begins in code. Some lie in data: clang 3.3 listed variables. */
static bool ms_sec_sets_have_code(const ms_sec *sec, const ms_dw *dw)
{
    ms_cu_set set;
    ms_range range;
    for (ms_rd rd = ms_rd_make(dw->aranges); ms_cu_next_set(&rd, &set);) {
        while (ms_cu_next_tuple(&set, &range)) {
            if (ms_seg_range_at(sec->code, sec->code_count, range.lo) != NULL)
                return true;
        }
    }
    return false;
}

/* Whether a range that a root entry states is alive. Linkers put 0, 1, -1 and -2 in place of the addresses of
 * dead code. */
static bool ms_sec_is_live(uint64_t lo)
{
    return lo > 1 && lo < UINT64_MAX - 1 && lo != UINT32_MAX && lo != UINT32_MAX - 1;
}

/* Whether root entries state ranges, and no range begins in code; *off: the first unit that states one. */
static bool ms_sec_roots_lack_code(ms_sec *sec, const ms_sec_units *units, ms_arena *arena, uint64_t *off)
{
    const ms_range all = {1, UINT64_MAX};
    ms_arena scratch = ms_arena_make(sec->allocator);
    ms_ranges list = {&scratch, NULL, 0, 0, 0, false};
    bool is_stated = false;
    bool is_code = false;
    ms_cu_env env;
    ms_dw dw;
    ms_zero(&env, sizeof env);
    ms_zero(&dw, sizeof dw);
    dw.lender.lend = ms_sec_lend;
    dw.lender.owner = sec;
    dw.code = &all;
    dw.code_count = 1;
    env.dw = &dw;
    env.v = units->v;
    env.count = units->count;
    env.arena = arena;
    env.scratch = &scratch;
    list.budget = ms_cu_range_budget(&env);
    for (size_t i = 0; i < env.count && !is_code; i++) {
        ms_cu_read_ranges(&env, i, &list);
        for (size_t j = 0; j < list.count && !is_code; j++) {
            bool is_live = ms_sec_is_live(list.v[j].lo);
            *off = is_live && !is_stated ? env.v[i].off : *off;
            is_stated |= is_live;
            is_code = ms_seg_range_at(sec->code, sec->code_count, list.v[j].lo) != NULL;
        }
    }
    ms_arena_admit(arena, scratch.failed);
    ms_arena_free(&scratch);
    return is_stated && !is_code;
}

/* Counts debug info whose units state ranges without any code: what the load commands say of code or
 * what the units say of it is damaged. In sound files the first range that is looked at is code. */
static void ms_sec_check_ranges(ms_sec *sec, const ms_dw *dw, ms_sec_units *units)
{
    uint64_t off = 0;
    ms_arena arena = ms_arena_make(sec->allocator);
    if (sec->code_count != 0 && !ms_sec_sets_have_code(sec, dw) &&
        ms_sec_roots_lack_code(sec, units, &arena, &off))
        ms_damage_note_wrong(&units->damage, "no range of the debug info is code", ".debug_info", off);
    ms_arena_admit(&units->arena, arena.failed);
    ms_arena_free(&arena);
}

static ms_sec_units *ms_sec_make_units(ms_sec *sec)
{
    ms_dw dw;
    size_t half;
    ms_arena arena = ms_arena_make(sec->allocator);
    ms_zero(&dw, sizeof dw);
    if (!ms_sec_half(sec, &half) || half == sec->mo_count ||
        !ms_sec_of_half(sec, half, ms_DW_INFO, &dw.info) ||
        !ms_sec_of_half(sec, half, ms_DW_ABBREV, &dw.abbrev) ||
        !ms_sec_of_half(sec, half, ms_DW_ARANGES, &dw.aranges))
        return NULL;
    ms_sec_units *units = (ms_sec_units *)ms_arena_zeroed(&arena, 1, sizeof *units);
    if (units == NULL)
        return NULL;
    units->arena = arena;
    ms_sec_list_units(&dw, &sec->inputs[half], units);
    if (!units->arena.failed)
        ms_sec_check_ranges(sec, &dw, units);
    units->damage.first.is_pair = half != 0;
    if (!units->arena.failed)
        return units;
    ms_sec_free_units(units);
    return NULL;
}

/* The unit headers of the image; NULL when there are none, or memory is out, which *oom tells. */
static const ms_sec_units *ms_sec_units_of(ms_sec *sec, bool *oom)
{
    size_t half;
    *oom = !ms_sec_half(sec, &half);
    if (*oom || half == sec->mo_count)
        return NULL;
    ms_sec_units *units = (ms_sec_units *)ms_once_get(&sec->units);
    if (units != NULL)
        return units;
    ms_sec_units *made = ms_sec_make_units(sec);
    *oom = made == NULL;
    if (made == NULL)
        return NULL;
    units = (ms_sec_units *)ms_once_put(&sec->units, made);
    if (units != made)
        ms_sec_free_units(made);
    return units;
}

/* Whether somebody has listed the units. */
static bool ms_sec_has_units(const ms_sec *sec)
{
    return ms_once_get(&sec->units) != NULL;
}

/* ---- What the table of names states ---- */

static void ms_sec_free_stated(ms_sec_stated *stated)
{
    if (stated == NULL)
        return;
    ms_arena arena = stated->arena;
    ms_arena_free(&arena);
}

/* Lists what a table of names states; NULL when memory is out. */
static ms_sec_stated *ms_sec_make_stated(const ms_sec *sec, const ms_nt *table)
{
    ms_arena scratch = ms_arena_make(sec->allocator);
    ms_arena arena = ms_arena_make(sec->allocator);
    ms_sec_stated *stated = (ms_sec_stated *)ms_arena_zeroed(&arena, 1, sizeof *stated);
    if (stated == NULL)
        return NULL;
    stated->arena = arena;
    stated->list.arena = &stated->arena;
    bool ok = ms_nt_list_all(table, &scratch, &stated->list);
    ms_arena_free(&scratch);
    if (ok)
        return stated;
    ms_sec_free_stated(stated);
    return NULL;
}

/* The same, made once an image. */
static const ms_nt_list *ms_sec_stated_of(ms_sec *sec, const ms_nt *table)
{
    ms_sec_stated *stated = (ms_sec_stated *)ms_once_get(&sec->stated);
    if (stated != NULL)
        return &stated->list;
    ms_sec_stated *made = ms_sec_make_stated(sec, table);
    if (made == NULL)
        return NULL;
    stated = (ms_sec_stated *)ms_once_put(&sec->stated, made);
    if (stated != made)
        ms_sec_free_stated(made);
    return &stated->list;
}

/* ---- What is known ---- */

/* Compares the names of a half's symbols with its string table, once. Returns false when memory is out. */
static bool ms_sec_check_names(const ms_sec *sec, size_t half, void **slot)
{
    ms_sec_part *part = (ms_sec_part *)ms_once_get(slot);
    if (part != NULL)
        return true;
    part = ms_sec_new_part(sec, 0);
    if (part != NULL)
        ms_sym_check_names(&sec->mo[half], &part->damage);
    return ms_sec_publish(sec, slot, part) != NULL;
}

/* Reads all that damage may be found in. Returns false when memory is out. */
static bool ms_sec_load(ms_sec *sec)
{
    ms_span bytes;
    bool oom;
    bool has_info = false;
    for (size_t half = 0; half < sec->mo_count; half++) {
        if (!ms_sec_check_names(sec, half, &sec->parts[half][ms_SEC_NAMES]))
            return false;
    }
    for (size_t half = 0; half < sec->mo_count && !has_info; half++) {
        for (unsigned i = 0; i < ms_DW_SECTIONS; i++) {
            if (!ms_sec_of_half(sec, half, i, &bytes))
                return false;
            has_info |= i == ms_DW_INFO && bytes.len != 0;
        }
    }
    ms_sec_units_of(sec, &oom);
    return !oom;
}

/* Adds the damage that was found so far. */
static void ms_sec_add_damage(const ms_sec *sec, ms_damage *damage)
{
    for (size_t half = 0; half < sec->mo_count; half++) {
        for (unsigned i = 0; i < ms_SEC_PARTS; i++) {
            const ms_sec_part *part = (const ms_sec_part *)ms_once_get(&sec->parts[half][i]);
            if (part == NULL)
                continue;
            ms_damage found = part->damage;
            found.first.is_pair = half != 0;
            ms_damage_add(damage, &found);
        }
    }
    const ms_sec_units *units = (const ms_sec_units *)ms_once_get(&sec->units);
    if (units != NULL)
        ms_damage_add(damage, &units->damage);
}

/* Adds what was asked of the image's reader so far. */
static void ms_sec_count_reads(const ms_sec *sec, uint64_t *count, uint64_t *bytes)
{
    for (size_t half = 0; half < sec->mo_count; half++) {
        for (unsigned i = 0; i < ms_SEC_PARTS; i++) {
            const ms_sec_part *part = (const ms_sec_part *)ms_once_get(&sec->parts[half][i]);
            bool counts = part != NULL && !sec->inputs[half].reads_itself;
            *count += counts ? part->read_count : 0;
            *bytes += counts ? part->read_bytes : 0;
        }
    }
}

/* Whether a half has debug info, as far as that is known: of a section that was not made yet its header
 * tells. */
static bool ms_sec_has_info(const ms_sec *sec)
{
    bool has = false;
    for (size_t half = 0; half < sec->mo_count && !has; half++) {
        const ms_mo_section *section = sec->places[half][ms_DW_INFO].section;
        const ms_sec_part *part = (const ms_sec_part *)ms_once_get(&sec->parts[half][ms_DW_INFO]);
        has = part != NULL ? part->bytes.len != 0 : section != NULL && ms_sec_len(section) != 0;
    }
    return has;
}

static void ms_sec_drop(ms_sec *sec)
{
    for (size_t half = 0; sec != NULL && half < 2; half++) {
        for (unsigned i = 0; i < ms_SEC_PARTS; i++)
            ms_sec_free_part(sec, (ms_sec_part *)sec->parts[half][i]);
    }
    if (sec != NULL)
        ms_sec_free_units((ms_sec_units *)sec->units);
    if (sec != NULL)
        ms_sec_free_stated((ms_sec_stated *)sec->stated);
}

#endif /* ms_ROOM_image_sections */
