#ifndef ms_ROOM_answer_explain
#define ms_ROOM_answer_explain
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../macho/sources.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "session.h"
#include "objects.h"
#include "named.h"
#include "engine.h"
#include "near.h"
#include "answer.h"
#include "iterate.h"

/* ==== >>explain ============================================================================================
 * Job:    tells how the answer for an address came about.
 * Offers: ms_ex_explain.
 * Never:  answers otherwise than ms_ans_frames. */

/* The rows around the one that answers; when none does, around the one at or below the address. */
static void ms_ex_rows(machsym_session *s, const ms_ses_span *span, uint64_t addr, machsym_explanation *out)
{
    const ms_ln_table *lines = span->unit->lines;
    uint64_t hi = span->hi;
    size_t at = span->row;
    if (at == lines->row_count)
        at = ms_ln_find(lines, s->lines, false, addr, &span->unit->hint, &hi);
    if (at == lines->row_count)
        return;
    size_t first = at < MACHSYM_EXPLAINED_ROWS / 2 ? 0 : at - MACHSYM_EXPLAINED_ROWS / 2;
    for (size_t i = first; i < lines->row_count && out->row_count < MACHSYM_EXPLAINED_ROWS; i++) {
        if (i == span->row)
            out->row_used = out->row_count;
        ms_it_get_row(span->unit, i, &out->rows[out->row_count++]);
    }
}

/* Whether LC_SYMTAB says something else of the function that answers than the debug info. */
static bool ms_ex_symbol_differs(machsym_session *s, const ms_ses_span *span, const machsym_symbol *symbol)
{
    if (span->function == ms_SEG_NONE || symbol->source != MACHSYM_SOURCE_SYMTAB ||
        ms_ans_is_hidden(symbol->name))
        return false;
    const ms_fn_table *functions = &span->unit->functions;
    machsym_frame frame;
    ms_zero(&frame, sizeof frame);
    ms_ans_name_block(s, functions, &functions->blocks[span->function], &frame);
    machsym_str name = frame.linkage_name.len != 0 ? frame.linkage_name : frame.name;
    return symbol->lo != span->range.lo ||
           !ms_str_equal(ms_src_exact(ms_ses_symbols(s), symbol->lo, name), name);
}

/* How many units have a function at an address beside the one that answers. */
static uint32_t ms_ex_count_rivals(machsym_session *s, const ms_ses_span *span, uint64_t addr)
{
    ms_arena room = ms_arena_make(s->allocator);
    const bool *claims = span->unit != NULL ? ms_cu_claims(&s->env, addr, &room) : NULL;
    uint32_t count = 0;
    for (size_t i = 0; claims != NULL && i < s->env.count; i++) {
        const ms_ses_unit *unit = claims[i] && i != span->unit->index ? ms_ses_functions_of(s, i) : NULL;
        count += unit != NULL &&
                 ms_seg_owner(unit->functions.segs, unit->functions.seg_count, addr) != ms_SEG_NONE;
    }
    ms_arena_admit(&s->scratch, room.failed);
    ms_arena_free(&room);
    return count;
}

/* Tells of the innermost frame whose line is one near by, if there is one. */
static void ms_ex_near(machsym_session *s, const ms_ses_span *span, uint64_t addr, machsym_explanation *out)
{
    const ms_fn_block *blocks = span->table->blocks;
    const ms_ln_table *lines = span->unit->lines;
    ms_ses_place place;
    ms_zero(&place, sizeof place);
    if (span->row != lines->row_count)
        place = ms_near_row(s, span, addr);
    uint32_t frame = 0;
    for (uint32_t at = span->call; place.from == MACHSYM_NEAR_NONE; at = blocks[at].parent, frame++) {
        if (at == ms_SEG_NONE || blocks[at].parent == ms_SEG_NONE || frame == MACHSYM_MAX_INLINE_DEPTH)
            return;
        place = ms_near_call(s, span, at);
    }
    out->near_kind = place.from;
    out->near_frame = frame;
    out->near_addr = place.addr != 0 ? place.addr : addr;
}

static void ms_ex_explain_own(machsym_session *s, uint64_t addr, machsym_explanation *out)
{
    ms_zero(out, sizeof *out);
    out->row_used = MACHSYM_EXPLAINED_ROWS;
    ms_ses_units(s); /* rivals may be any of them */
    ms_named_leave(s);
    ms_ses_span span = ms_eng_at(s, addr);
    if (span.unit != NULL) {
        out->unit_source = span.source;
        out->unit_offset = span.root->enc.unit_off;
        out->unit_version = span.root->enc.version;
        out->unit_name = ms_cu_text(&s->dw, span.root, ms_SLOT_NAME);
        out->unit_producer = ms_cu_text(&s->dw, span.root, ms_SLOT_PRODUCER);
        out->is_damaged = span.unit->functions.is_damaged || span.unit->lines->is_damaged;
        ms_ex_rows(s, &span, addr, out);
        if (span.function != ms_SEG_NONE)
            ms_ex_near(s, &span, addr, out);
    }
    if (out->row_used == MACHSYM_EXPLAINED_ROWS)
        out->row_used = out->row_count;
    out->has_symbol = ms_src_find(ms_ses_symbols(s), addr, &out->symbol);
    out->symbol_differs = out->has_symbol && ms_ex_symbol_differs(s, &span, &out->symbol);
    out->rival_count = ms_ex_count_rivals(s, &span, addr);
}

static void ms_ex_explain(machsym_session *s, uint64_t addr, machsym_explanation *out)
{
    ms_ses_begin(s);
    ms_ses_object *object = ms_obj_at(s, addr);
    if (object == NULL) {
        ms_ex_explain_own(s, addr, out);
        return;
    }
    ms_ex_explain_own(&object->session, addr, out);
    ms_obj_keep_text(s, &out->unit_name);
    ms_obj_keep_text(s, &out->unit_producer);
    for (unsigned i = 0; i < out->row_count; i++)
        ms_obj_keep_path(s, &out->rows[i].file);
    out->object_path = s->objects->map.v[object->index].path;
    out->object_member = s->objects->map.v[object->index].member;
    ms_obj_count(s->objects, object);
}

#endif /* ms_ROOM_answer_explain */
