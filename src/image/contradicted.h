#ifndef ms_ROOM_image_contradicted
#define ms_ROOM_image_contradicted
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../macho/macho.h"
#include "../macho/symbols.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/functions.h"
#include "sections.h"

/* ==== >>contradicted =======================================================================================
 * Job:    compares what some units of the debug info say of names and sections with the rest of the file.
 * Offers: ms_nm_check.
 * Never:  looks at more functions than a map of the file notices; takes renamed symbols for damage.
 *
 * Obfuscators rename symbols and leave debug info alone; linkers fold functions, and put several names at
 * one address. So another name is no contradiction. It is one if the string table has the function's own
 * name, but no symbol at its address has it: then symbols lead to names of others. */

enum {
    ms_NM_FUNCTIONS = 40, /* that are compared at most */
    ms_NM_FEWEST = 32,    /* of fewer nothing is concluded */
    ms_NM_UNITS = 16,  /* that they are taken from, if enough have functions; else from its square at most */
    ms_NM_SLOTS = 256, /* of the hash table: a power of two, several times the functions */
    ms_NM_WALKED = 65536, /* bytes of entries that are read, and a share of the rest: one in */
    ms_NM_WALKED_SHARE = 16,
    ms_NM_BYTES = 512 /* of a name that are compared: a million symbols may have one long name */
};

/* A function, and what the symbols say of it. */
typedef struct ms_nm_function {
    uint64_t addr;
    machsym_str name;    /* that the debug info gives it */
    bool has_linkage;    /* as symbols have it; else as the source has it, which -gmlt leaves alone in C++ */
    bool has_symbol;     /* at its address */
    bool has_own_symbol; /* of that name */
    bool is_elsewhere;   /* the string table has its name, and it has no symbol of its own */
} ms_nm_function;

/* The functions that are compared, by address or by name. */
typedef struct ms_nm_sample {
    ms_nm_function v[ms_NM_FUNCTIONS];
    size_t count;
    uint64_t walk;              /* bytes of entries that may still be walked through */
    unsigned lost;              /* a section that a unit needs, and that has no bytes; ms_DW_SECTIONS: none */
    uint64_t lost_by;           /* that unit's offset in .debug_info */
    uint8_t slots[ms_NM_SLOTS]; /* number + 1; 0: free */
} ms_nm_sample;

/* ---- Functions of the debug info ---- */

static size_t ms_nm_slot_of(uint64_t addr)
{
    return (size_t)((addr >> 2 ^ addr >> 10) & (ms_NM_SLOTS - 1));
}

/* The function at an address; NULL when the sample has none there. *slot: where one belongs. */
static inline ms_nm_function *ms_nm_at(ms_nm_sample *sample, uint64_t addr, size_t *slot)
{
    for (*slot = ms_nm_slot_of(addr); sample->slots[*slot] != 0; *slot = (*slot + 1) & (ms_NM_SLOTS - 1)) {
        ms_nm_function *one = &sample->v[sample->slots[*slot] - 1];
        if (one->addr == addr)
            return one;
    }
    return NULL;
}

static machsym_str ms_nm_begin_of(machsym_str name)
{
    if (name.len > 0 && name.ptr[0] == 1) /* the mark of a name that is complete */
        name = ms_str_drop(name, 1);
    return ms_str_make(name.ptr, name.len < ms_NM_BYTES ? name.len : (size_t)ms_NM_BYTES);
}

/* Adds a function that has a name, unless there is one at its address. */
static void ms_nm_add(ms_nm_sample *sample, ms_cu_env *env, uint64_t addr, uint64_t die_off)
{
    size_t slot;
    if (ms_dw_code_at(env->dw, addr) == NULL || ms_nm_at(sample, addr, &slot) != NULL)
        return;
    ms_fn_names names = ms_fn_names_of(env, die_off, false);
    machsym_str name = ms_nm_begin_of(names.linkage_name.len != 0 ? names.linkage_name : names.name);
    if (name.len == 0)
        return;
    ms_nm_function *one = &sample->v[sample->count++];
    ms_zero(one, sizeof *one);
    one->addr = addr;
    one->name = name;
    one->has_linkage = names.linkage_name.len != 0;
    sample->slots[slot] = (uint8_t)sample->count;
}

/* A section that a unit names or has texts in, if it has no bytes; else ms_DW_SECTIONS. */
static unsigned ms_nm_lost_by(const ms_dw *dw, const ms_cu_root *root)
{
    const uint32_t needs = root->abbrevs->needs;
    const bool is_old = root->enc.version < 5;
    uint64_t low;
    if (root->has_line && dw->line.len == 0)
        return ms_DW_LINE;
    if ((needs & ms_NEEDS_STR) != 0 && dw->str.len == 0)
        return ms_DW_STR;
    if ((needs & ms_NEEDS_LINE_STR) != 0 && dw->line_str.len == 0)
        return ms_DW_LINE_STR;
    if ((needs & 1u << ms_DW_STR_OFFSETS) != 0 && dw->str_offsets.len == 0)
        return ms_DW_STR_OFFSETS;
    if (root->low_pc.form != 0 && dw->addr.len == 0 && !ms_dw_address(dw, &root->enc, &root->low_pc, &low))
        return ms_DW_ADDR;
    if (root->ranges.form != 0 && (is_old ? dw->ranges.len : dw->rnglists.len) == 0)
        return is_old ? ms_DW_RANGES : ms_DW_RNGLISTS;
    return ms_DW_SECTIONS;
}

/* Adds functions of a unit, until there are enough in all, or enough was walked through. */
static void ms_nm_add_unit(ms_nm_sample *sample, ms_cu_env *env, size_t index, size_t most)
{
    const ms_cu_root *root = ms_cu_root_of(env, index);
    if (root == NULL || root->abbrevs == NULL)
        return;
    if (sample->lost == ms_DW_SECTIONS) {
        sample->lost = ms_nm_lost_by(env->dw, root);
        sample->lost_by = root->enc.unit_off;
    }
    if (root->first_child >= root->enc.unit_end)
        return;
    const ms_dw_enc *enc = &root->enc;
    const ms_dw_abbrevs *table = root->abbrevs;
    const ms_span unit = ms_span_sub(env->dw->info, enc->unit_off, enc->unit_end - enc->unit_off);
    const uint8_t *start = unit.ptr + (root->first_child - enc->unit_off);
    const uint8_t *end = unit.ptr + unit.len;
    const uint8_t *last = (size_t)(end - start) > sample->walk ? start + sample->walk : end;
    const uint8_t *brief_end = (size_t)(last - start) > table->brief_max ? last - table->brief_max : start;
    const uint8_t *p = start;
    while (p != NULL && p < last && sample->count < most) { /* every entry takes at least a byte */
        ms_fn_count count = {0, UINT32_MAX / 2, 0};         /* ends of lists do not matter */
        ms_dw_die die;
        uint64_t addr;
        p = ms_fn_skip_briefs(table, ms_BRIEF_LONG, p, brief_end, 0, &count);
        ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
        uint64_t die_off = (uint64_t)(p - unit.ptr) + enc->unit_off;
        MACHSYM_COUNT_WORK(1);
        uint64_t code = ms_rd_uleb(&rd);
        const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(table, code);
        p = rd.p;
        if (code == 0)
            continue;
        if (abbrev == NULL || !abbrev->has_code || abbrev->kind != ms_KIND_FUNCTION) {
            p = abbrev != NULL ? ms_dw_skip_die(table, abbrev, p, end, enc) : NULL;
            continue;
        }
        p = ms_dw_read_values(table, abbrev, p, end, enc, &die);
        if (p != NULL && ms_dw_address(env->dw, enc, ms_dw_get(&die, ms_SLOT_LOW_PC), &addr))
            ms_nm_add(sample, env, addr, die_off);
    }
    sample->walk -= p == NULL || p > last ? (uint64_t)(last - start) : (uint64_t)(p - start);
}

/* Chooses functions of units that lie evenly in the debug info. If those have too few, others are asked, and
 * the first ones again. */
static void ms_nm_choose(ms_nm_sample *sample, ms_cu_env *env)
{
    size_t step = env->count / ms_NM_UNITS + 1;
    size_t units = (env->count + step - 1) / step;
    for (size_t pass = 0; pass <= step && pass <= ms_NM_UNITS; pass++) {
        for (size_t i = pass % step; i < env->count && sample->count < ms_NM_FUNCTIONS; i += step) {
            size_t most = pass == 0 ? sample->count + (ms_NM_FUNCTIONS + units - 1) / units : SIZE_MAX;
            ms_nm_add_unit(sample, env, i, most < ms_NM_FUNCTIONS ? most : (size_t)ms_NM_FUNCTIONS);
        }
    }
}

/* ---- What the symbols say of them ---- */

/* Whether a text of the string table begins like a name, and ends where that does. */
static bool ms_nm_is_text(ms_span strings, size_t at, machsym_str name)
{
    if (at >= strings.len || strings.len - at < name.len || !ms_equal(strings.ptr + at, name.ptr, name.len))
        return false;
    return name.len == ms_NM_BYTES || at + name.len == strings.len || strings.ptr[at + name.len] == 0;
}

/* The same of a name with or without Mach-O's underscore. */
static bool ms_nm_is_name(ms_span strings, size_t at, machsym_str name)
{
    bool has_underscore = at < strings.len && strings.ptr[at] == '_';
    return ms_nm_is_text(strings, at, name) || (has_underscore && ms_nm_is_text(strings, at + 1, name));
}

/* Whether a symbol may be that of a function: it has its name, or one made of the name in the source. */
static bool ms_nm_is_of(ms_span strings, size_t at, const ms_nm_function *one)
{
    const machsym_str begin = ms_str_make((const char *)ms_span_from(strings, at).ptr, 3);
    bool is_mangled = at < strings.len && strings.len - at >= begin.len &&
                      (ms_str_is(begin, "__Z") || ms_str_is(begin, "__R") || ms_str_is(begin, "__T") ||
                       ms_str_is(begin, "_$s") || ms_str_is(begin, "_$S"));
    return (is_mangled && !one->has_linkage) || ms_nm_is_name(strings, at, one->name);
}

/* Looks which of the functions have symbols, and which of those have their names. Debugging symbols count,
 * too: linkers take them from the object files. Ends early when half of the functions have their names. */
static void ms_nm_ask_symbols(ms_nm_sample *sample, const ms_mo *mo)
{
    const ms_span nlists = ms_sym_nlists(mo);
    const ms_span strings = ms_sym_strings(mo);
    const size_t count = nlists.len / ms_sym_nlist_size(mo);
    size_t own = 0;
    for (size_t i = 0; i < count && own * 2 < sample->count; i++) {
        size_t slot;
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (sample->slots[ms_nm_slot_of(entry.value)] == 0)
            continue;
        ms_nm_function *one = ms_nm_at(sample, entry.value, &slot);
        if (one == NULL || one->has_own_symbol || entry.strx == 0)
            continue;
        one->has_symbol |= ms_sym_is_defined(&entry);
        one->has_own_symbol = ms_nm_is_of(strings, entry.strx, one);
        own += one->has_own_symbol;
    }
}

/* Marks the functions that have only symbols of other names, if their name is this text of the string
 * table. */
static void ms_nm_compare_text(ms_nm_sample *sample, ms_span text)
{
    MACHSYM_COUNT_WORK(sample->count);
    for (size_t i = 0; i < sample->count; i++) {
        ms_nm_function *one = &sample->v[i];
        bool is_long_enough = text.len >= one->name.len;
        bool is_short_enough = text.len <= one->name.len + 1 || one->name.len == ms_NM_BYTES;
        if (one->has_symbol && !one->has_own_symbol && !one->is_elsewhere && is_long_enough &&
            is_short_enough)
            one->is_elsewhere = ms_nm_is_name(text, 0, one->name);
    }
}

/* Looks for the functions' names in the string table. */
static void ms_nm_ask_strings(ms_nm_sample *sample, const ms_mo *mo)
{
    const ms_span strings = ms_sym_whole_strings(mo);
    for (size_t at = 0; at < strings.len;) { /* each text takes at least a byte */
        machsym_str text = ms_str_bounded((const char *)strings.ptr + at, strings.len - at);
        ms_nm_compare_text(sample, ms_span_make(text.ptr, text.len));
        at += text.len + 1;
    }
}

/* Whether most functions that have symbols have only such of other names, and there are enough of them.
 * *elsewhere: the same of functions whose names the string table has. */
static bool ms_nm_are_most(const ms_nm_sample *sample, bool *elsewhere)
{
    size_t named = 0;
    size_t other = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < sample->count; i++) {
        named += sample->v[i].has_symbol;
        other += sample->v[i].has_symbol && !sample->v[i].has_own_symbol;
        wrong += sample->v[i].is_elsewhere;
    }
    *elsewhere = wrong * 2 > named;
    return named >= ms_NM_FEWEST && other * 2 > named;
}

/* Compares the symbols of a half with the functions. */
static void ms_nm_compare_half(const ms_nm_sample *chosen, const ms_mo *mo, ms_damage *damage)
{
    bool elsewhere;
    ms_nm_sample sample = *chosen;
    ms_nm_ask_symbols(&sample, mo);
    if (!ms_nm_are_most(&sample, &elsewhere))
        return;
    ms_nm_ask_strings(&sample, mo);
    ms_nm_are_most(&sample, &elsewhere);
    if (elsewhere)
        ms_damage_note_wrong(damage, "symbols give most functions other names than the debug info does",
                             "symbol table", ms_mo_file_offset(mo, mo->loads.sym_off));
}

/* ---- Once an image ---- */

/* Chooses functions of an image's debug info. Returns false when memory is out. */
static bool ms_nm_read(ms_sec *sec, const ms_sec_units *units, ms_nm_sample *sample)
{
    ms_cu_env env;
    ms_dw dw;
    ms_arena arena = ms_arena_make(sec->allocator);
    ms_arena scratch = ms_arena_make(sec->allocator);
    ms_zero(&env, sizeof env);
    ms_zero(&dw, sizeof dw);
    dw.lender.lend = ms_sec_lend;
    dw.lender.owner = sec;
    dw.code = sec->code;
    dw.code_count = sec->code_count;
    env.dw = &dw;
    env.v = units->v;
    env.count = units->count;
    env.meets_few = true;
    env.arena = &arena;
    env.scratch = &scratch;
    if (ms_dw_need(&dw, ms_NEEDS_ALL)) {
        sample->walk = ms_NM_WALKED + dw.info.len / ms_NM_WALKED_SHARE;
        ms_nm_choose(sample, &env);
    } else {
        arena.failed = true;
    }
    bool ok = !arena.failed && !scratch.failed;
    ms_arena_free(&scratch);
    ms_arena_free(&arena);
    return ok;
}

/* Whether a half has abbreviations, but no section of units. seen: a table that is only its end, in dSYMs of
 * Swift's own libraries */
static bool ms_nm_lacks_units(const ms_sec *sec, size_t half)
{
    const ms_mo_section *abbrev = sec->places[half][ms_DW_ABBREV].section;
    return abbrev != NULL && ms_sec_len(abbrev) > 1 && sec->places[half][ms_DW_INFO].section == NULL;
}

/* Whether a section is not there, or empty. One that is there and damaged is counted where it is read. */
static bool ms_nm_has_lost(const ms_sec *sec, size_t half, unsigned which)
{
    if (which == ms_DW_SECTIONS || sec->places[half][ms_DW_INFO].section == NULL)
        return false;
    const ms_mo_section *section = sec->places[half][which].section;
    return section == NULL || ms_sec_len(section) == 0;
}

/* Compares a half with what was chosen of the units. The names of a cache's images and of what is in memory
 * are no own table. */
static ms_sec_part *ms_nm_compare(const ms_sec *sec, size_t half, const ms_nm_sample *sample)
{
    const ms_mo *mo = &sec->mo[half];
    ms_sec_part *part = ms_sec_new_part(sec, 0);
    if (part == NULL)
        return NULL;
    if (ms_nm_has_lost(sec, half, sample->lost))
        ms_damage_note(&part->damage, "a unit needs a section that is not there", ms_sec_name(sample->lost),
                       sample->lost_by);
    if (ms_nm_lacks_units(sec, half))
        ms_damage_note(&part->damage, "there are abbreviations of units, but no units", "__debug_info", 0);
    if (!ms_mo_is_mapped(mo))
        ms_nm_compare_half(sample, mo, &part->damage);
    return part;
}

/* Compares the halves of an image with its debug info, once. Returns false when memory is out. */
static bool ms_nm_check(ms_sec *sec)
{
    bool oom;
    ms_nm_sample sample;
    ms_zero(&sample, sizeof sample);
    sample.lost = ms_DW_SECTIONS;
    const ms_sec_units *units = ms_sec_units_of(sec, &oom);
    if (oom || ms_once_get(&sec->parts[sec->mo_count - 1][ms_SEC_SYMBOLS]) != NULL)
        return !oom;
    if (units != NULL && !ms_nm_read(sec, units, &sample))
        return false;
    for (size_t half = 0; half < sec->mo_count; half++) {
        void **slot = &sec->parts[half][ms_SEC_SYMBOLS];
        if (ms_once_get(slot) == NULL && ms_sec_publish(sec, slot, ms_nm_compare(sec, half, &sample)) == NULL)
            return false;
    }
    return true;
}

#endif /* ms_ROOM_image_contradicted */
