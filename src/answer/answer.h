#ifndef ms_ROOM_answer_answer
#define ms_ROOM_answer_answer
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../macho/sources.h"
#include "../dwarf/units.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "../dwarf/bodies.h"
#include "../symmap/pages.h"
#include "../symmap/symmap.h"
#include "session.h"
#include "objects.h"
#include "engine.h"
#include "near.h"

/* ==== >>answer =============================================================================================
 * Job:    decides which name and which line a frame has.
 * Offers: ms_ans_frames, ms_ans_many, ms_ans_name_block.
 * Never:  parses: the rooms that it includes decode everything it needs. */

/* ---- Names ---- */

/* Longer names are not searched for each other: the search takes the product of both. */
enum { ms_ANS_NAME_BYTES = 512 };

/* Whether a name is one that bitcode compilation put in place of the real one: __hidden#12_ */
static bool ms_ans_is_hidden(machsym_str name)
{
    return ms_str_begins(name, "__hidden#");
}

static machsym_str ms_ans_clean(machsym_str name)
{
    return name.len > 0 && name.ptr[0] == 1 ? ms_str_drop(name, 1) : name;
}

static bool ms_ans_is_mangled(machsym_str name)
{
    return ms_str_begins(name, "_Z") || ms_str_begins(name, "_R") || ms_str_begins(name, "_T") ||
           ms_str_begins(name, "_D") || ms_str_begins(name, "$s") || ms_str_begins(name, "$S") ||
           ms_str_begins(name, "$e");
}

/* The linkage name without Mach-O's underscore, which LLVM's outliner and asm("_name") leave on it. */
static machsym_str ms_ans_linkage(machsym_str linkage, machsym_str name)
{
    machsym_str rest = linkage.len > 1 && linkage.ptr[0] == '_' ? ms_str_drop(linkage, 1) : linkage;
    bool is_symbol = name.len != 0 && rest.len != linkage.len && rest.len >= name.len &&
                     ms_str_equal(ms_str_make(rest.ptr, name.len), name) &&
                     (rest.len == name.len || !ms_ans_is_mangled(linkage));
    return !is_symbol ? linkage : rest.len == name.len ? name : rest;
}

static char ms_ans_small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether a text has another one in it, small letters or not: Fortran and Pascal change them. */
static bool ms_ans_has(machsym_str text, machsym_str part)
{
    for (size_t at = 0; part.len <= text.len && at <= text.len - part.len; at++) {
        size_t same = 0;
        while (same < part.len && ms_ans_small(text.ptr[at + same]) == ms_ans_small(part.ptr[same]))
            same++;
        MACHSYM_COUNT_WORK(1);
        if (same == part.len)
            return true;
    }
    return false;
}

/* Whether a symbol cannot be that of a function of this name, which has no linkage name. A mangled symbol
 * can: -gmlt and Swift 3 leave linkage names out. Compilers and linkers put marks around others: foo.cold,
 * foo_, foo$UNIX2003. What has the name nowhere in it was renamed, or is an alias of another meaning. */
static bool ms_ans_contradicts(machsym_str symbol, machsym_str name)
{
    bool is_marked = name.len > 1 && name.ptr[0] == '_'; /* by Mach-O; asm("_name") leaves it on */
    machsym_str plain = is_marked ? ms_str_drop(name, 1) : name;
    size_t len = 0;
    while (len < plain.len && len < ms_ANS_NAME_BYTES && plain.ptr[len] != '<' && plain.ptr[len] != '(')
        len++;
    return len != 0 && symbol.len < ms_ANS_NAME_BYTES && !ms_ans_is_hidden(name) &&
           !ms_ans_is_mangled(symbol) && !ms_ans_has(symbol, ms_str_make(plain.ptr, len));
}

/* The debug info's linkage name, else the symbol at start (a function's own, or an out-of-line copy's), else
 * the name in the source. The session's flags may force one of both. */
static void ms_ans_name(machsym_session *s, const ms_fn_names *names, bool has_start, uint64_t start,
                        machsym_frame *frame)
{
    frame->name = ms_ans_clean(names->name);
    frame->linkage_name = ms_ans_linkage(ms_ans_clean(names->linkage_name), frame->name);
    frame->name_source = MACHSYM_SOURCE_DWARF;
    bool is_objc = ms_str_begins(frame->name, "-[") || ms_str_begins(frame->name, "+[");
    bool hidden = ms_ans_is_hidden(frame->linkage_name);
    bool has_name = (frame->linkage_name.len != 0 && !hidden) || is_objc ||
                    ((s->flags & MACHSYM_SESSION_NAMES_DWARF) != 0 && frame->name.len != 0);
    bool wants_symbol = (s->flags & MACHSYM_SESSION_NAMES_SYMTAB) != 0;
    if ((has_name && !wants_symbol) || !has_start)
        return;
    machsym_str want = has_name && frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
    machsym_str symbol = ms_src_exact(ms_ses_symbols(s), start, want);
    if (symbol.len == 0 || (ms_ans_is_hidden(symbol) && (has_name || ms_ans_is_hidden(frame->name))))
        return;
    if (has_name ? ms_str_equal(symbol, want) : !wants_symbol && ms_ans_contradicts(symbol, frame->name))
        return;
    frame->linkage_name = symbol;
    if (!ms_str_equal(symbol, frame->name))
        frame->name_source = MACHSYM_SOURCE_SYMTAB;
}

/* If several functions have the code, a symbol there with another name is not this function's. */
static void ms_ans_settle_shared(machsym_frame *frame)
{
    if (frame->name_source != MACHSYM_SOURCE_SYMTAB || frame->name.len == 0 || ms_ans_is_hidden(frame->name))
        return;
    frame->linkage_name = ms_str_empty();
    frame->name_source = MACHSYM_SOURCE_DWARF;
}

/* The same, if the debug info of the unit says so. */
static ms_NOINLINE void ms_ans_settle_twin(const ms_fn_table *functions, const ms_fn_block *real,
                                           machsym_frame *frame)
{
    size_t twins;
    ms_body_twins(functions, real->lo, &twins);
    if (twins != 0)
        ms_ans_settle_shared(frame);
}

/* The table that has the out-of-line copies of a call, if its name is needed: that of one function that was
 * found alone has none of the unit. */
static const ms_fn_table *ms_ans_copies_for(machsym_session *s, const ms_fn_table *functions,
                                            const ms_fn_block *block, const ms_fn_names *names)
{
    machsym_str linkage = ms_ans_clean(names->linkage_name);
    bool is_named = linkage.len != 0 && !ms_ans_is_hidden(linkage);
    const ms_ses_unit *unit = NULL;
    if (functions->is_alone && !is_named)
        unit = ms_ses_functions_of(s, ms_cu_number_of(&s->env, block->die_off));
    return unit != NULL ? &unit->functions : functions;
}

static void ms_ans_name_block(machsym_session *s, const ms_fn_table *functions, const ms_fn_block *block,
                              machsym_frame *frame)
{
    bool from_origin = frame->is_inline && block->origin != 0; /* a call has no name of its own */
    const ms_fn_names *names = ms_ses_names_of(s, from_origin ? block->origin : block->die_off);
    if (frame->is_inline)
        functions = ms_ans_copies_for(s, functions, block, names);
    const ms_fn_block *real = frame->is_inline ? ms_fn_copy_of(functions, block) : block;
    bool is_made_up =
        functions->has_real_names && names->name.len != 0 && (s->flags & MACHSYM_SESSION_NAMES_SYMTAB) == 0;
    bool has_start = real != NULL && !is_made_up;
    ms_ans_name(s, names, has_start, real != NULL ? real->lo : 0, frame);
    if (frame->name_source == MACHSYM_SOURCE_SYMTAB)
        ms_ans_settle_twin(functions, real, frame);
    machsym_symbol symbol;
    if (frame->name.len != 0 || frame->linkage_name.len != 0 || frame->is_inline)
        return;
    if (ms_src_find(ms_ses_symbols(s), block->lo, &symbol)) { /* a function without a name of its own */
        frame->linkage_name = symbol.name;
        frame->name_source = symbol.source;
    }
}

/* ---- Lines ---- */

static void ms_ans_set_line(const ms_ses_span *span, uint64_t file, uint32_t line, uint32_t column,
                            machsym_frame *frame)
{
    frame->file = ms_ln_path(span->unit->lines, span->unit->comp_dir, file);
    frame->line = line;
    frame->column = column;
    if (frame->file.name.len != 0 || line != 0)
        frame->line_source = MACHSYM_SOURCE_DWARF;
}

/* The same of a place that may be one near by, and its file. */
static void ms_ans_set_place(const machsym_path *file, const ms_ses_place *place, machsym_frame *frame)
{
    frame->file = *file;
    frame->line = place->line;
    frame->column = place->column;
    if (place->from != MACHSYM_NEAR_NONE)
        frame->line_source = MACHSYM_SOURCE_NEAR;
    else if (file->name.len != 0 || place->line != 0)
        frame->line_source = MACHSYM_SOURCE_DWARF;
}

/* Sets the line of the code itself, for the innermost frame. */
static void ms_ans_set_row(machsym_session *s, const ms_ses_span *span, uint64_t addr, machsym_frame *frame)
{
    const ms_ln_table *lines = span->unit->lines;
    if (span->row == lines->row_count)
        return;
    const ms_ln_row *row = &lines->rows[span->row];
    if (!ms_near_is_wanted(s, span->unit, row->file, row->line)) {
        ms_ans_set_line(span, row->file, row->line, row->column, frame);
        return;
    }
    const ms_ses_near *last = ms_near_wanted_row(s, span, addr);
    ms_ans_set_place(&last->file, &last->place, frame);
}

/* Sets the line where a frame has an inlined call. */
static void ms_ans_set_call(machsym_session *s, const ms_ses_span *span, const ms_fn_block *call,
                            machsym_frame *frame)
{
    if (!ms_near_is_wanted(s, span->unit, call->call_file, call->call_line)) {
        ms_ans_set_line(span, call->call_file, call->call_line, call->call_column, frame);
        return;
    }
    const ms_ses_place *known = ms_near_known_call(s, call);
    ms_ses_place place;
    if (known == NULL) {
        place = ms_near_find_call(s, span, (uint32_t)(call - span->table->blocks));
        known = &place;
    }
    machsym_path file = ms_ln_path(span->unit->lines, span->unit->comp_dir, known->file);
    ms_ans_set_place(&file, known, frame);
}

/* Gives a frame of line 0 the line of the nearest frame that has one. Inner frames are tried before outer
 * ones. */
static void ms_ans_best_lines(machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t from = count;
        for (size_t j = i; j-- > 0 && from == count;)
            from = frames[j].line != 0 ? j : count;
        for (size_t j = i + 1; j < count && from == count; j++)
            from = frames[j].line != 0 ? j : count;
        if (frames[i].line != 0 || from == count)
            continue;
        frames[i].file = frames[from].file;
        frames[i].line = frames[from].line;
        frames[i].column = frames[from].column;
    }
}

/* ---- Frames ---- */

/* The frame of a block, but for its line. */
static void ms_ans_begin_frame(machsym_session *s, const ms_ses_span *span, const ms_fn_block *block,
                               machsym_frame *frame)
{
    ms_zero(frame, sizeof *frame);
    frame->is_inline = block->parent != ms_SEG_NONE;
    frame->die_offset = block->die_off;
    frame->function_start = span->range.lo;
    frame->function_size = span->range.hi - span->range.lo;
    ms_ans_name_block(s, &span->unit->functions, block, frame);
}

/* Frames of the function of a span, innermost first. Of more calls than MACHSYM_MAX_INLINE_DEPTH the
 * innermost ones are told, and the function itself with where it has the outermost one. Returns how many
 * frames there are. */
static ms_INLINE size_t ms_ans_function_frames(machsym_session *s, const ms_ses_span *span, uint64_t addr,
                                               machsym_frame *frames, size_t cap)
{
    const ms_fn_block *blocks = span->table->blocks;
    const ms_fn_block *inner = NULL;
    size_t count = 0;
    for (uint32_t at = span->call; at != ms_SEG_NONE; at = blocks[at].parent) {
        MACHSYM_COUNT_WORK(1);
        if (count == MACHSYM_MAX_INLINE_DEPTH && blocks[at].parent != ms_SEG_NONE) {
            inner = &blocks[span->table->depths[at].outer];
            at = inner->parent;
            if (count <= cap)
                frames[count - 1].lacks_callers = true;
        }
        const ms_fn_block *block = &blocks[at];
        if (count++ < cap) {
            machsym_frame *frame = &frames[count - 1];
            ms_ans_begin_frame(s, span, block, frame);
            if (inner == NULL)
                ms_ans_set_row(s, span, addr, frame);
            else
                ms_ans_set_call(s, span, inner, frame);
        }
        inner = block;
    }
    return count;
}

/* The frame of an address that lies in no function of the debug info. */
static size_t ms_ans_symbol_frame(machsym_session *s, const ms_ses_span *span, uint64_t addr,
                                  machsym_frame *frame)
{
    machsym_symbol symbol;
    ms_zero(frame, sizeof *frame);
    bool named = ms_src_find(ms_ses_symbols(s), addr, &symbol);
    if (named) {
        frame->linkage_name = symbol.name;
        frame->function_start = symbol.lo;
        frame->function_size = symbol.hi - symbol.lo;
        frame->name_source = symbol.source;
    }
    if (span->unit != NULL)
        ms_ans_set_row(s, span, addr, frame);
    return named || frame->line_source != MACHSYM_SOURCE_NONE;
}

/* All frames at an address that the session's own debug info and symbols know, as far as the units suffice
 * that were found. */
static size_t ms_ans_known_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    machsym_frame one;
    size_t count;
    ms_ses_span span = ms_eng_at(s, addr);
    if (span.function != ms_SEG_NONE)
        count = ms_ans_function_frames(s, &span, addr, frames, cap);
    else
        count = ms_ans_symbol_frame(s, &span, addr, cap > 0 ? frames : &one);
    if ((s->flags & MACHSYM_SESSION_BEST_LINE) != 0)
        ms_ans_best_lines(frames, count < cap ? count : cap);
    return count;
}

/* The same with all units, if names lead to one that was not found without a list. */
static size_t ms_ans_own_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    size_t count = ms_ans_known_frames(s, addr, frames, cap);
    if (!s->env.lacks_units)
        return count;
    ms_ses_units(s);
    if (s->names != NULL)
        ms_zero(s->names, MACHSYM_KEPT_NAMES * sizeof *s->names);
    if (s->sites != NULL)
        ms_zero(s->sites, MACHSYM_KEPT_SITES * sizeof *s->sites);
    return ms_ans_known_frames(s, addr, frames, cap);
}

/* Room for the frames that a map finds at one address. */
static bool ms_ans_make_room(machsym_session *s, size_t count)
{
    if (count > s->found_cap) {
        s->found = (machsym_map_frame *)ms_arena_alloc(&s->keep, count, sizeof *s->found);
        s->found_cap = s->found != NULL ? count : 0;
    }
    return s->found != NULL;
}

/* Makes what lookups in a map need. Returns false when memory is out. */
static bool ms_ans_begin_map(machsym_session *s)
{
    if (s->kept == NULL)
        s->kept = ms_map_open_kept(s->image->map, s->allocator, &s->reads);
    if (s->kept != NULL && ms_ans_make_room(s, MACHSYM_MAX_INLINE_DEPTH + 1))
        return true;
    ms_arena_admit(&s->keep, true);
    return false;
}

/* Gives count frames that a map has found their names. Returns how many there are. */
static size_t ms_ans_tell_found(machsym_session *s, size_t count, machsym_frame *frames, size_t cap)
{
    size_t told = count < cap ? count : cap;
    told = told < s->found_cap ? told : s->found_cap;
    if (!ms_map_kept_names(s->kept, s->found, told, frames))
        ms_arena_admit(&s->keep, true);
    if ((s->flags & MACHSYM_SESSION_BEST_LINE) != 0)
        ms_ans_best_lines(frames, told);
    return s->found_cap == 0 ? 0 : count;
}

/* All frames at an address that a map has. */
static size_t ms_ans_map_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    const machsym_map *map = s->image->map;
    if (!ms_ans_begin_map(s))
        return 0;
    ms_pg *pages = ms_map_kept_pages(s->kept);
    size_t count = ms_map_frames(map, pages, addr, s->found, s->found_cap);
    if (count > s->found_cap && ms_ans_make_room(s, count))
        ms_map_frames(map, pages, addr, s->found, s->found_cap);
    return ms_ans_tell_found(s, count, frames, cap);
}

/* The frames at an address, as far as memory sufficed. */
static size_t ms_ans_find_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    if (s->image->map != NULL)
        return ms_ans_map_frames(s, addr, frames, cap);
    ms_ses_trim_for(s, addr);
    ms_ses_object *object = ms_obj_at(s, addr);
    if (object == NULL)
        return ms_ans_own_frames(s, addr, frames, cap);
    ms_ses_trim_for(&object->session, addr);
    size_t count = ms_ans_own_frames(&object->session, addr, frames, cap);
    ms_obj_keep_frames(s, frames, count < cap ? count : cap);
    ms_obj_count(s->objects, object);
    return count;
}

/* All frames at an address. When memory has run out, there is at least one frame, and each says so. */
static size_t ms_ans_frames(machsym_session *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    ms_ses_begin(s);
    size_t count = ms_ans_find_frames(s, addr, frames, cap);
    if (!ms_ses_lacked_memory(s))
        return count;
    if (count == 0) {
        count = 1;
        if (cap > 0)
            ms_zero(frames, sizeof *frames);
    }
    for (size_t i = 0; i < count && i < cap; i++)
        frames[i].lacks_memory = true;
    return count;
}

/* The frames of many addresses. They are asked in the order of addresses, so that each unit is decoded
 * once. */
static size_t ms_ans_many(machsym_session *s, const uint64_t *addrs, size_t count, machsym_answer *answers,
                          machsym_frame *frames, size_t cap)
{
    ms_arena room = ms_arena_make(s->allocator); /* the session's scratch is in use below */
    ms_key *order = (ms_key *)ms_arena_alloc(&room, count, sizeof *order);
    ms_key *spare = (ms_key *)ms_arena_alloc(&room, count, sizeof *order);
    size_t total = 0;
    if (order != NULL) {
        for (size_t i = 0; i < count; i++) {
            order[i].key = addrs[i];
            order[i].item = i;
        }
        ms_sort(order, count, spare);
    }
    s->asks_many |= count > 1;
    for (size_t i = 0; i < count; i++) {
        size_t which = order != NULL ? (size_t)order[i].item : i;
        machsym_answer *answer = &answers[which];
        answer->first = total;
        answer->count = ms_ans_frames(s, addrs[which], total < cap ? frames + total : NULL,
                                      total < cap ? cap - total : 0);
        total += answer->count;
    }
    ms_arena_free(&room);
    return total;
}

#endif /* ms_ROOM_answer_answer */
