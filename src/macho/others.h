#ifndef ms_ROOM_macho_others
#define ms_ROOM_macho_others
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "cache.h"
#include "macho.h"
#include "fixups.h"
#include "symbols.h"

/* ==== >>others =============================================================================================
 * Job:    finds the names of addresses in other images of a shared cache.
 * Offers: ms_oth, ms_oth_open, ms_oth_find, ms_oth_close.
 * Never:  takes a name that does not begin at the address. */

/* A search for names that the symbols and exports of a cache's images give to addresses. */
typedef struct ms_oth {
    const ms_dc *dc;
    ms_sym_table *table; /* what is found lives as long as it */
    ms_fx_data *data;    /* of the image that asks: it pays for the names */
    ms_arena arena;      /* what is read of an image, one after the other */
    uint64_t left;       /* symbols, load commands by that size, and images to look at */
    ms_fx_data exports;  /* of an image; its budget is for all of them */
} ms_oth;

/* Starts a search for an image of a cache. */
static void ms_oth_open(ms_oth *o, ms_sym_table *t, ms_fx_data *d, ms_arena *scratch)
{
    uint32_t nlist_size = ms_sym_nlist_size(d->mo);
    ms_zero(o, sizeof *o);
    o->dc = d->mo->cache;
    o->table = t;
    o->data = d;
    o->arena = ms_arena_make(scratch->allocator);
    o->left = o->dc->size / nlist_size; /* no more than the whole cache has */
    if (o->left > MACHSYM_JUMP_SYMBOLS)
        o->left = MACHSYM_JUMP_SYMBOLS;
    o->exports.budget = o->left * nlist_size;
}

/* Ends the search. scratch learns when memory was out. */
static void ms_oth_close(ms_oth *o, ms_arena *scratch)
{
    o->data->damage_count += o->left == 0 || o->exports.is_spent; /* names were left out */
    scratch->oom |= o->arena.failed;
    ms_arena_admit(scratch, o->arena.failed); /* oom ends with the next reset */
    ms_arena_free(&o->arena);
}

/* Finds what lies at an address of a cache: an image, up to its end or to the next image where the cache
 * does not tell its size; or what is between two images. Returns whether it is an image. Cost: the number of
 * images. */
static bool ms_oth_find_image(ms_oth *o, uint64_t addr, ms_range *out)
{
    const ms_dc *dc = o->dc;
    uint64_t best_size = 0;
    bool has = false;
    out->lo = 0;
    out->hi = UINT64_MAX;
    for (size_t i = 0; i < ms_dc_image_count(dc) && o->left > 0; i++, o->left--) {
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

static void ms_oth_spend(ms_oth *o, uint64_t symbols)
{
    o->left -= symbols < o->left ? symbols : o->left;
}

/* Finds the best symbols at sorted addresses in the symbol table of an image, in one pass: of each the
 * rank + 1 and the string. 0: there is none. */
static void ms_oth_find_symbols(ms_oth *o, const ms_mo *mo, const ms_key *v, size_t count, ms_key *best)
{
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo); /* images may share them: finding where they end costs too much */
    size_t symbols = nlists.len / ms_sym_nlist_size(mo);
    for (size_t i = 0; i < symbols && o->left > 0; i++, o->left--) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (entry.value < v[0].key || entry.value > v[count - 1].key)
            continue; /* most are no neighbours: the metadata of an image lies together */
        size_t at = ms_lower_bound(v, count, sizeof *v, entry.value);
        if (v[at].key != entry.value || !ms_sym_is_defined(&entry))
            continue;
        unsigned rank = ms_sym_rank(&entry, ms_sym_head_at(strings, entry.strx));
        if (rank < 4 && (best[at].key == 0 || rank + 1 < best[at].key)) {
            best[at].key = rank + 1;
            best[at].item = entry.strx;
        }
    }
}

/* Finds the names that no symbol gives in the exports of an image. The addresses are sorted; names has a
 * place for each. */
static void ms_oth_find_exports(ms_oth *o, const ms_mo *mo, const ms_key *v, size_t count, machsym_str *names)
{
    ms_sym_table t;
    ms_range *wanted = (ms_range *)ms_arena_alloc(&o->arena, count, sizeof *wanted);
    ms_zero(&t, sizeof t);
    if (wanted == NULL || o->exports.is_spent)
        return;
    for (size_t i = 0; i < count; i++) {
        bool is_same = t.code_count != 0 && wanted[t.code_count - 1].lo == v[i].key;
        if (names[i].len != 0 || is_same)
            continue;
        wanted[t.code_count].lo = v[i].key;
        wanted[t.code_count++].hi = v[i].key + 1;
    }
    if (t.code_count == 0)
        return;
    t.code = wanted;
    t.arena = &o->arena;
    o->exports.mo = mo;
    ms_sym_walk_exports(&t, &o->exports, &o->arena);
    ms_sym_sort(&t, &o->arena);
    for (size_t i = 0; i < count; i++) {
        size_t at = ms_sym_first(&t, v[i].key);
        if (at == t.count || t.v[at].key != v[i].key)
            continue;
        machsym_str name = ms_sym_name(&t, t.v[at].item);
        names[i] = ms_sym_join(o->table, o->data, &name, 1); /* what is read of another image goes */
    }
}

/* Finds names in one image: by its symbols, and by its exports where it has no symbol. */
static void ms_oth_find_in(ms_oth *o, uint64_t image, const ms_key *v, size_t count, machsym_str *names)
{
    ms_mo mo;
    ms_arena_reset(&o->arena);
    if (ms_mo_load_cached(&mo, o->dc, image, &o->arena, NULL) != MACHSYM_OK)
        return;
    ms_oth_spend(o, mo.commands.len / ms_sym_nlist_size(&mo));
    ms_span strings = ms_sym_strings(&mo);
    ms_key *best = (ms_key *)ms_arena_zeroed(&o->arena, count, sizeof *best);
    if (best == NULL)
        return;
    ms_oth_find_symbols(o, &mo, v, count, best);
    for (size_t i = 0, first = 0; i < count; i++) {
        first = v[i].key == v[first].key ? first : i;
        if (best[first].key != 0)
            names[i] = ms_sym_c_name(ms_fx_str_in(o->data, ms_span_from(strings, best[first].item)));
    }
    ms_oth_find_exports(o, &mo, v, count, names);
}

/* Finds the names of sorted addresses, which are keys; names has an empty place for each. One image, whose
 * address this is, is left out; 0: none is. */
static void ms_oth_find(ms_oth *o, const ms_key *v, size_t count, uint64_t but, machsym_str *names)
{
    for (size_t lo = 0, hi; lo < count && o->left > 0; lo = hi) {
        ms_range image = {0, 0};
        bool has = ms_oth_find_image(o, v[lo].key, &image);
        for (hi = lo + 1; hi < count && v[hi].key < image.hi;)
            hi++;
        if (has && image.lo != but)
            ms_oth_find_in(o, image.lo, v + lo, hi - lo, names + lo);
    }
}

#endif /* ms_ROOM_macho_others */
