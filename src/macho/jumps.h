#ifndef ms_ROOM_macho_jumps
#define ms_ROOM_macho_jumps
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "cache.h"
#include "macho.h"
#include "fixups.h"
#include "symbols.h"
#include "code.h"
#include "others.h"

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

/* Finds the names of code of the image itself, by the table as it was sorted. */
static void ms_jmp_find_near(ms_jmp_list *list, machsym_str *names)
{
    machsym_symbol symbol;
    size_t last = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (ms_sym_find(&list->sorted, list->v[i].key, &last, &symbol) && symbol.lo == list->v[i].key)
            names[i] = symbol.name;
    }
}

/* Adds the names to a sorted table. Returns whether there are any: then the table is to be sorted again. */
static bool ms_jmp_add_names(ms_sym_table *t, ms_fx_data *d, ms_arena *scratch)
{
    const ms_mo *mo = d->mo;
    size_t before = t->count;
    ms_jmp_list list;
    ms_oth others;
    if (ms_mo_cache(mo) == NULL)
        return false;
    ms_zero(&list, sizeof list);
    list.table = t;
    list.sorted = *t;
    list.data = d;
    list.scratch = scratch;
    ms_fx_refill(d);
    for (uint32_t i = 0; i < mo->section_count; i++) {
        if ((mo->sections[i].flags & ms_SECTION_TYPE) == ms_S_SYMBOL_STUBS)
            ms_jmp_list_stubs(&list, &mo->sections[i]);
    }
    ms_jmp_list_islands(&list);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, list.count, sizeof *room);
    machsym_str *names = (machsym_str *)ms_arena_zeroed(scratch, list.count, sizeof *names);
    if (list.count == 0 || room == NULL || names == NULL)
        return false;
    ms_sort(list.v, list.count, room);
    ms_jmp_find_near(&list, names);
    ms_oth_open(&others, t, d, scratch);
    ms_oth_find(&others, list.v, list.count, mo->text_addr, names);
    ms_oth_close(&others, scratch);
    for (size_t i = 0; i < list.count; i++) {
        if (names[i].len != 0)
            ms_sym_add_name(t, list.v[i].item, MACHSYM_SOURCE_STUB, names[i]);
    }
    return t->count > before;
}

#endif /* ms_ROOM_macho_jumps */
