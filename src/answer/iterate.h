#ifndef ms_ROOM_answer_iterate
#define ms_ROOM_answer_iterate
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/segments.h"
#include "../macho/symbols.h"
#include "../macho/sources.h"
#include "../macho/objc.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../image/debugmap.h"
#include "session.h"
#include "objects.h"
#include "answer.h"
#include "check.h"

/* ==== >>iterate ============================================================================================
 * Job:    goes through all that a session can decode, one item after the other.
 * Offers: ms_it_next_function, ms_it_next_line, ms_it_next_symbol, ms_it_next_alias, ms_it_next_name,
 *         ms_it_next_objc, ms_it_next_object, ms_it_next_object_file, ms_it_count.
 * Never:  says which unit or function has an address. */

/* The first block that is a function and stands at entry, an offset in the unit, or after it. A unit may be
 * dropped between two steps of a cursor, and decoded again with its calls or without them. Blocks have other
 * numbers then, but offsets stay. Returns NULL when there is none. */
static const ms_fn_block *ms_it_function_at(const ms_fn_table *table, uint64_t unit_off, uint64_t entry)
{
    size_t count = table->count - table->late_count;
    size_t i = count == 0 ? 0
                          : ms_lower_bound(&table->blocks[0].die_off, count, sizeof *table->blocks,
                                           unit_off + entry);
    while (i < count && table->blocks[i].parent != ms_SEG_NONE)
        i++;
    /* a cursor has 32 bits for it */
    return i < count && table->blocks[i].die_off - unit_off < UINT32_MAX ? &table->blocks[i] : NULL;
}

/* Iterates over functions: cursor a is the unit; b is the offset of the function's entry in the unit, and the
 * number of its next range. A range is one even if inlined calls cut it into several segments. */
static bool ms_it_own_function(machsym_session *s, machsym_cursor *at, machsym_function *out)
{
    for (; at->a < ms_ses_units(s); at->a++, at->b = 0) {
        ms_ses_trim(s);
        const ms_ses_unit *unit = ms_ses_functions_of(s, (size_t)at->a);
        const ms_fn_table *table = unit != NULL ? &unit->functions : NULL;
        const uint64_t unit_off = s->env.v[at->a].off;
        const ms_fn_block *block;
        while (table != NULL && (block = ms_it_function_at(table, unit_off, at->b >> 32)) != NULL) {
            uint64_t entry = block->die_off - unit_off;
            uint32_t piece = entry == at->b >> 32 ? (uint32_t)at->b : 0;
            at->b = entry << 32 | piece;
            if (piece >= block->range_count) {
                at->b = (entry + 1) << 32;
                continue;
            }
            at->b++;
            machsym_frame frame;
            ms_zero(&frame, sizeof frame);
            ms_ans_name_block(s, table, block, &frame);
            out->lo = ms_fn_range(block, piece).lo;
            out->hi = ms_fn_range(block, piece).hi;
            out->linkage_name = frame.linkage_name;
            out->name = frame.name;
            out->name_source = frame.name_source;
            out->die_offset = block->die_off;
            out->unit_offset = unit_off;
            return true;
        }
    }
    return false;
}

static void ms_it_get_row(const ms_ses_unit *unit, size_t index, machsym_line *out)
{
    const ms_ln_row *row = &unit->lines->rows[index];
    out->addr = row->addr;
    out->file = ms_ln_path(unit->lines, unit->comp_dir, row->file);
    out->line = row->line;
    out->column = row->column;
    out->is_stmt = row->is_stmt;
    out->end_sequence = row->end_sequence;
}

static bool ms_it_own_line(machsym_session *s, machsym_cursor *at, machsym_line *out)
{
    ms_ses_list_programs(s);
    for (; at->a < ms_ses_units(s); at->a++, at->b = 0) {
        ms_ses_trim(s);
        if (at->b == 0 && !ms_ses_owns_lines(s, (size_t)at->a))
            continue; /* rows of a program that units share come with one of them */
        const ms_ses_unit *unit = ms_ses_unit_of(s, (size_t)at->a);
        if (unit == NULL || at->b >= unit->lines->row_count)
            continue;
        ms_it_get_row(unit, (size_t)at->b++, out);
        return true;
    }
    return false;
}

/* Moves a cursor over a debug map to the first object that opens. The upper half of a is the object; inner
 * is the cursor in that object. Returns NULL at the end, or when there is no debug map. */
static ms_ses_object *ms_it_cursor_object(machsym_session *s, machsym_cursor *at, machsym_cursor *inner)
{
    ms_ses_objects *o = ms_obj_map_of(s);
    for (; o != NULL && (at->a >> 32) < o->map.count; at->a = ((at->a >> 32) + 1) << 32, at->b = 0) {
        ms_ses_trim(s);
        ms_ses_object *object = ms_obj_of(s, (size_t)(at->a >> 32));
        inner->a = (uint32_t)at->a;
        inner->b = at->b;
        if (object != NULL)
            return object;
    }
    return NULL;
}

/* Puts the cursor in an object back into the whole one; at the end of the object, moves to the next
 * object. */
static void ms_it_cursor_back(machsym_session *s, ms_ses_object *object, machsym_cursor *at,
                              const machsym_cursor *inner, bool more)
{
    at->a = more ? (at->a >> 32) << 32 | inner->a : ((at->a >> 32) + 1) << 32;
    at->b = more ? inner->b : 0;
    ms_obj_count(s->objects, object);
}

static bool ms_it_next_function(machsym_session *s, machsym_cursor *at, machsym_function *out)
{
    machsym_cursor inner;
    if (ms_obj_map_of(s) == NULL)
        return ms_it_own_function(s, at, out);
    for (ms_ses_object *object; (object = ms_it_cursor_object(s, at, &inner)) != NULL;) {
        bool more = ms_it_own_function(&object->session, &inner, out);
        ms_it_cursor_back(s, object, at, &inner, more);
        if (!more)
            continue;
        ms_obj_keep_text(s, &out->linkage_name);
        ms_obj_keep_text(s, &out->name);
        return true;
    }
    return false;
}

static bool ms_it_next_line(machsym_session *s, machsym_cursor *at, machsym_line *out)
{
    machsym_cursor inner;
    if (ms_obj_map_of(s) == NULL)
        return ms_it_own_line(s, at, out);
    for (ms_ses_object *object; (object = ms_it_cursor_object(s, at, &inner)) != NULL;) {
        bool more = ms_it_own_line(&object->session, &inner, out);
        ms_it_cursor_back(s, object, at, &inner, more);
        if (!more)
            continue;
        ms_obj_keep_path(s, &out->file);
        return true;
    }
    return false;
}

/* ---- Names outside the debug info ---- */

/* Iterates over the addresses with a name or a start, each once: cursor a is the entry of the table. */
static bool ms_it_next_symbol(machsym_session *s, machsym_cursor *at, machsym_symbol *out)
{
    const ms_sym_table *t = ms_src_table(ms_ses_symbols(s));
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a, out);
    at->a = ms_sym_next(t, (size_t)at->a);
    return true;
}

/* Iterates over the names at one address, each once: cursor a counts the entries of the table there. */
static bool ms_it_next_alias(machsym_session *s, uint64_t addr, machsym_cursor *at, machsym_str *out)
{
    const ms_sym_table *t = ms_src_table(ms_ses_symbols(s));
    size_t first = ms_sym_first(t, addr);
    for (size_t index = first + (size_t)at->a++; index < t->count && t->v[index].key == addr;
         index++, at->a++) {
        *out = ms_sym_name(t, t->v[index].item);
        if (out->len != 0 && ms_sym_is_new(t, first, index))
            return true;
    }
    return false;
}

/* Iterates over all entries of the table: cursor a is the entry. */
static bool ms_it_next_name(machsym_session *s, machsym_cursor *at, machsym_symbol *out)
{
    const ms_sym_table *t = ms_src_table(ms_ses_symbols(s));
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a++, out);
    return true;
}

/* ---- Metadata and object files ---- */

/* The owner of metadata that a cursor stands at: a is the class or category, counted over both halves. NULL
 * at the end. */
static const ms_oc_owner *ms_it_objc_owner(const machsym_session *s, const ms_oc_list **list,
                                           const machsym_cursor *at)
{
    uint64_t index = at->a;
    for (size_t i = 0; i + 1 < s->image->mo_count && index >= (*list)->owner_count; i++)
        index -= (*list)++->owner_count;
    return index < (*list)->owner_count ? &(*list)->owners[index] : NULL;
}

/* The metadata: cursor b is 0 for an owner itself, else its method plus 1. */
static bool ms_it_next_objc(machsym_session *s, machsym_cursor *at, machsym_objc *out)
{
    const ms_oc_list *list = ms_ses_objc(s);
    const ms_oc_owner *owner = ms_it_objc_owner(s, &list, at);
    if (owner != NULL && at->b > owner->count) { /* a list read again may be shorter: memory ran out */
        at->a++;
        at->b = 0;
        list = ms_ses_objc(s);
        owner = ms_it_objc_owner(s, &list, at);
    }
    if (owner == NULL)
        return false;
    ms_zero(out, sizeof *out);
    out->kind = owner->is_category ? MACHSYM_OBJC_CATEGORY : MACHSYM_OBJC_CLASS;
    out->class_name = owner->class_name;
    out->category = owner->category;
    out->super_name = owner->super_name;
    out->is_swift = owner->is_swift;
    out->addr = owner->addr;
    if (at->b > 0) {
        const ms_oc_method *method = &list->methods[owner->first + at->b - 1];
        out->kind = MACHSYM_OBJC_METHOD;
        out->selector = method->selector;
        out->addr = method->addr;
        out->is_class_method = method->is_class_method;
    }
    if (at->b++ == owner->count) {
        at->a++;
        at->b = 0;
    }
    return true;
}

/* The debug map: cursor a is the half and, shifted, the entry of the object file plus 1; b the entry. */
static bool ms_it_next_object(const machsym_session *s, machsym_cursor *at, machsym_object *out)
{
    for (; (at->a & 1) < s->image->mo_count && at->a != UINT64_MAX; at->b = 0) {
        uint64_t oso = at->a >> 1;
        bool found = ms_om_next_function(&s->image->mo[at->a & 1], &at->b, &oso, out);
        at->a = (at->a & 1) | oso << 1;
        if (found)
            return true;
        at->a = (at->a & 1) != 0 ? UINT64_MAX : 1;
    }
    return false;
}

/* The object files that the session tried to open, in that order: cursor a. */
static bool ms_it_next_object_file(const machsym_session *s, machsym_cursor *at, machsym_object_file *out)
{
    const ms_ses_objects *o = s->objects;
    if (o == NULL || at->a >= o->tried_count)
        return false;
    ms_obj_get(o, o->tried[at->a++], out);
    return true;
}

/* ---- Counts ---- */

static void ms_it_count_own(machsym_session *s, machsym_session_counts *out, ms_damage *damage)
{
    bool reads_calls = s->reads_calls;
    ms_ses_drop_units(s); /* they may have been read without calls */
    s->reads_calls = true;
    ms_ses_need(s, ms_NEEDS_ARANGES);
    out->arange_set_count += (uint32_t)ms_cu_count_sets(&s->dw);
    out->unit_count += (uint32_t)ms_ses_units(s);
    ms_ses_list_programs(s);
    ms_cu_index_ranges(&s->env);
    for (size_t i = 0; i < s->env.count; i++) {
        ms_ses_trim(s);
        uint32_t found = damage->count;
        const ms_cu *cu = &s->env.v[i];
        const ms_ses_unit *unit = ms_ses_unit_of(s, i);
        out->version_count[cu->version < 6 ? cu->version : 0]++;
        if (unit != NULL)
            ms_ck_unit(s, unit, damage);
        else
            ms_damage_note(damage, "a unit cannot be read", ".debug_info", cu->off);
        if (damage->count != found && out->damaged_units++ == 0)
            out->first_damage_offset = cu->off;
        if (unit == NULL)
            continue;
        out->units_without_code += unit->functions.count == unit->functions.late_count;
        out->units_without_ranges += ms_cu_is_silent(ms_cu_root_of(&s->env, i));
        out->function_count += unit->functions.function_count;
        out->inline_count +=
            unit->functions.count - unit->functions.late_count - unit->functions.function_count;
        out->line_row_count += ms_ses_owns_lines(s, i) ? unit->lines->row_count : 0;
        out->die_count += unit->functions.die_count;
    }
    s->reads_calls = reads_calls;
}

static void ms_it_count(machsym_session *s, machsym_session_counts *out)
{
    ms_damage damage;
    ms_zero(out, sizeof *out);
    ms_zero(&damage, sizeof damage);
    damage.first.what = damage.first.where = "";
    ms_it_count_own(s, out, &damage);
    out->damaged_metadata = ms_src_table(ms_ses_symbols(s))->damage_count;
    ms_ses_objects *o = ms_obj_map_of(s);
    for (size_t i = 0; o != NULL && i < o->map.count; i++) {
        ms_ses_trim(s);
        ms_ses_object *object = ms_obj_of(s, i);
        out->object_count++;
        out->missing_object_count += object == NULL;
        if (object == NULL)
            continue;
        ms_it_count_own(&object->session, out, &damage);
        ms_obj_count(o, object);
    }
    out->damage = damage.first;
}

#endif /* ms_ROOM_answer_iterate */
