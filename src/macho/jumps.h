#ifndef ms_ROOM_macho_jumps
#define ms_ROOM_macho_jumps
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "cache.h"
#include "macho.h"
#include "fixups.h"
#include "symbols.h"
#include "code.h"

/* ==== >>jumps ==============================================================================================
 * Job:    names code of an image in a shared cache that only jumps elsewhere by what it jumps to.
 * Offers: ms_jmp_add_names.
 * Never:  names code that has a name; takes a name that does not begin where the code jumps to. */

enum { ms_JMP_LONGEST = 16 /* bytes of code that only jumps */ };

/* Code without a name that only jumps: of a pair of addresses, key is where it goes and item is where it
 * is. */
typedef struct ms_jmp_list {
    ms_key *v;
    size_t count;
    size_t cap;
    ms_sym_table *table;
    ms_sym_table sorted; /* the table as it was: what is added to it is not in order */
    ms_fx_data *data;
    ms_arena *scratch;
    ms_arena other;     /* what is read of another image, one after the other */
    uint64_t left;      /* symbols of other images, their load commands by that size, and images to look at */
    ms_fx_data exports; /* of another image; its budget is for all of them */
} ms_jmp_list;

/* Where the code at an address goes in the end; 0 when it does something else. */
static uint64_t ms_jmp_target(const ms_jmp_list *list, uint64_t addr)
{
    const ms_mo *mo = list->data->mo;
    ms_span code = ms_dc_at(mo->cache, addr);
    ms_code_jump jump = ms_code_read_jump(mo->slice.cputype, code, addr);
    MACHSYM_COUNT_WORK(1);
    if (jump.kind == ms_CODE_THROUGH)
        return ms_fx_pointer_at(list->data, jump.addr).addr;
    return jump.kind == ms_CODE_TO ? jump.addr : 0;
}

static void ms_jmp_put(ms_jmp_list *list, uint64_t addr, uint64_t target)
{
    ms_key *v = target != 0
                    ? (ms_key *)ms_arena_grow(list->scratch, list->v, list->count, &list->cap, sizeof *v)
                    : NULL;
    if (v == NULL)
        return;
    list->v = v;
    v[list->count].key = target;
    v[list->count++].item = addr;
}

/* Lists the stubs of a section that no indirect symbol names. */
static void ms_jmp_list_stubs(ms_jmp_list *list, const ms_mo_section *section)
{
    uint64_t count = section->reserved2 == 0 ? 0 : section->bytes.len / section->reserved2;
    for (uint64_t i = 0; i < count && ms_fx_spend(list->data, 1); i++) {
        uint64_t addr = section->addr + i * section->reserved2;
        size_t at = ms_sym_first(list->table, addr);
        bool has_name = at < list->table->count && list->table->v[at].key == addr &&
                        ms_sym_source(list->table->v[at].item) != MACHSYM_SOURCE_FUNCTION_STARTS;
        if (!has_name)
            ms_jmp_put(list, addr, ms_jmp_target(list, addr));
    }
}

/* Lists starts without a name whose code is short and jumps out of the image: islands, by which calls reach
 * code that is too far away. */
static void ms_jmp_list_islands(ms_jmp_list *list)
{
    const ms_sym_table *t = list->table;
    const ms_mo *mo = list->data->mo;
    for (size_t i = 0; i < t->count && ms_fx_spend(list->data, 1); i = ms_sym_next(t, i)) {
        machsym_symbol symbol;
        if (ms_sym_source(t->v[i].item) != MACHSYM_SOURCE_FUNCTION_STARTS)
            continue;
        ms_sym_get(t, i, &symbol);
        uint64_t target = symbol.hi - symbol.lo <= ms_JMP_LONGEST ? ms_jmp_target(list, symbol.lo) : 0;
        if (target - mo->text_addr >= mo->text_size)
            ms_jmp_put(list, symbol.lo, target);
    }
}

/* Finds what lies at an address of a cache: an image, up to its end or to the next image where the cache
 * does not tell its size; or what is between two images. Returns whether it is an image. Cost: the number of
 * images. */
static bool ms_jmp_find_image(ms_jmp_list *list, uint64_t addr, ms_range *out)
{
    const ms_dc *dc = list->data->mo->cache;
    uint64_t best_size = 0;
    bool has = false;
    out->lo = 0;
    out->hi = UINT64_MAX;
    for (size_t i = 0; i < ms_dc_image_count(dc) && list->left > 0; i++, list->left--) {
        uint64_t size;
        uint64_t lo = ms_dc_image_addr(dc, i, &size);
        if (lo > addr) {
            out->hi = lo < out->hi ? lo : out->hi;
        } else if (!has || lo > out->lo) {
            out->lo = lo;
            best_size = size;
            has = true;
        }
    }
    has = has && (best_size == 0 || addr - out->lo < best_size);
    if (has && best_size != 0 && best_size < out->hi - out->lo)
        out->hi = out->lo + best_size;
    return has;
}

/* Names code that jumps to other code of its image, by the table as it was sorted. */
static void ms_jmp_name_near(ms_jmp_list *list, const ms_key *v, size_t count)
{
    machsym_symbol symbol;
    for (size_t i = 0; i < count; i++) {
        bool is_known = ms_sym_find(&list->sorted, v[i].key, &symbol) && symbol.lo == v[i].key;
        if (is_known && symbol.name.len != 0)
            ms_sym_add_name(list->table, v[i].item, MACHSYM_SOURCE_STUB, symbol.name);
    }
}

static void ms_jmp_spend(ms_jmp_list *list, uint64_t symbols)
{
    list->left -= symbols < list->left ? symbols : list->left;
}

/* Finds the best symbols at sorted addresses in the symbol table of another image, in one pass: of each
 * the rank + 1 and the string. 0: there is none. */
static void ms_jmp_find_symbols(ms_jmp_list *list, const ms_mo *mo, const ms_key *v, size_t count,
                                ms_key *best)
{
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo); /* images may share them: finding where they end costs too much */
    size_t symbols = nlists.len / ms_sym_nlist_size(mo);
    for (size_t i = 0; i < symbols && list->left > 0; i++, list->left--) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        size_t at = ms_lower_bound(v, count, sizeof *v, entry.value);
        if (at == count || v[at].key != entry.value || !ms_sym_is_defined(&entry))
            continue;
        unsigned rank = ms_sym_rank(&entry, ms_sym_head_at(strings, entry.strx));
        if (rank < 4 && (best[at].key == 0 || rank + 1 < best[at].key)) {
            best[at].key = rank + 1;
            best[at].item = entry.strx;
        }
    }
}

/* Names code that jumps to what no symbol of another image names, by the exports of that. */
static void ms_jmp_name_exported(ms_jmp_list *list, const ms_mo *mo, const ms_key *v, size_t count)
{
    ms_sym_table t;
    ms_range *code = (ms_range *)ms_arena_alloc(&list->other, count, sizeof *code);
    ms_zero(&t, sizeof t);
    if (count == 0 || code == NULL || list->exports.is_spent)
        return;
    for (size_t i = 0; i < count; i++) {
        if (t.code_count != 0 && code[t.code_count - 1].lo == v[i].key)
            continue;
        code[t.code_count].lo = v[i].key;
        code[t.code_count++].hi = v[i].key + 1;
    }
    t.code = code;
    t.arena = &list->other;
    list->exports.mo = mo;
    ms_sym_walk_exports(&t, &list->exports, &list->other);
    ms_sym_sort(&t, &list->other);
    for (size_t i = 0; i < count; i++) {
        size_t at = ms_sym_first(&t, v[i].key);
        machsym_str name =
            at < t.count && t.v[at].key == v[i].key ? ms_sym_name(&t, t.v[at].item) : ms_str_empty();
        name = ms_sym_join(list->table, list->data, &name, 1); /* what is read of another image goes */
        if (name.len != 0)
            ms_sym_add_name(list->table, v[i].item, MACHSYM_SOURCE_STUB, name);
    }
}

/* Names code that jumps into another image: by its symbols, and by its exports where it has no symbol. */
static void ms_jmp_name_far(ms_jmp_list *list, const ms_key *v, size_t count, uint64_t image)
{
    ms_mo mo;
    ms_arena_reset(&list->other);
    if (ms_mo_load_cached(&mo, list->data->mo->cache, image, &list->other, NULL) != MACHSYM_OK)
        return;
    ms_jmp_spend(list, mo.commands.len / ms_sym_nlist_size(&mo));
    ms_span strings = ms_sym_strings(&mo);
    ms_key *best = (ms_key *)ms_arena_zeroed(&list->other, count, sizeof *best);
    ms_key *rest = (ms_key *)ms_arena_alloc(&list->other, count, sizeof *rest);
    size_t rest_count = 0;
    if (best == NULL || rest == NULL)
        return;
    ms_jmp_find_symbols(list, &mo, v, count, best);
    for (size_t i = 0, first = 0; i < count; i++) {
        first = v[i].key == v[first].key ? first : i;
        if (best[first].key == 0) {
            rest[rest_count++] = v[i];
            continue;
        }
        machsym_str name = ms_sym_c_name(ms_fx_str_in(list->data, ms_span_from(strings, best[first].item)));
        if (name.len != 0)
            ms_sym_add_name(list->table, v[i].item, MACHSYM_SOURCE_STUB, name);
    }
    ms_jmp_name_exported(list, &mo, rest, rest_count);
}

/* Adds the names to a sorted table. Returns whether there are any: then the table is to be sorted again. */
static bool ms_jmp_add_names(ms_sym_table *t, ms_fx_data *d, ms_arena *scratch)
{
    const ms_mo *mo = d->mo;
    size_t before = t->count;
    ms_jmp_list list;
    ms_zero(&list, sizeof list);
    list.table = t;
    list.sorted = *t;
    list.data = d;
    list.scratch = scratch;
    list.other = ms_arena_make(scratch->allocator);
    if (mo->cache == NULL)
        return false;
    list.left = mo->cache->size / ms_sym_nlist_size(mo); /* no more than the whole cache has */
    if (list.left > MACHSYM_JUMP_SYMBOLS)
        list.left = MACHSYM_JUMP_SYMBOLS;
    list.exports.budget = list.left * ms_sym_nlist_size(mo);
    ms_fx_refill(d);
    for (uint32_t i = 0; i < mo->section_count; i++) {
        if ((mo->sections[i].flags & ms_SECTION_TYPE) == ms_S_SYMBOL_STUBS)
            ms_jmp_list_stubs(&list, &mo->sections[i]);
    }
    ms_jmp_list_islands(&list);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, list.count, sizeof *room);
    if (list.count == 0 || room == NULL)
        return false;
    ms_sort(list.v, list.count, room);
    for (size_t lo = 0, hi; lo < list.count && list.left > 0; lo = hi) {
        ms_range image = {0, 0};
        bool has = ms_jmp_find_image(&list, list.v[lo].key, &image);
        for (hi = lo + 1; hi < list.count && list.v[hi].key < image.hi;)
            hi++;
        if (has && image.lo == mo->text_addr)
            ms_jmp_name_near(&list, list.v + lo, hi - lo);
        else if (has)
            ms_jmp_name_far(&list, list.v + lo, hi - lo, image.lo);
    }
    d->damage_count += list.left == 0 || list.exports.is_spent; /* names were left out */
    scratch->oom |= list.other.failed;
    ms_arena_admit(scratch, list.other.failed); /* oom ends with the next reset */
    ms_arena_free(&list.other);
    return t->count > before;
}

#endif /* ms_ROOM_macho_jumps */
