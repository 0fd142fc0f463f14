#ifndef ms_ROOM_answer_near
#define ms_ROOM_answer_near
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../dwarf/lines.h"
#include "../dwarf/functions.h"
#include "session.h"

/* ==== >>near ===============================================================================================
 * Job:    finds the line that people need where the debug info has none that somebody wrote.
 * Offers: ms_near_is_wanted, ms_near_row, ms_near_call.
 * Never:  takes a line of code that another function has. */

/* The largest line that the people policy tells: a map has 31 bits for it. */
#define ms_NEAR_MOST_LINE 0x7fffffffu

/* The file of declarations that another unit states. It is not looked up. */
#define ms_NEAR_ELSEWHERE UINT32_MAX

/* Where a function was written. */
typedef struct ms_near_decl {
    uint32_t file; /* of the unit at hand, or ms_NEAR_ELSEWHERE */
    uint32_t line; /* 0: a compiler made the function */
} ms_near_decl;

/* A walk over the code of a function, from one place where row and call are the same to the next. */
typedef struct ms_near_walk {
    const ms_ln_table *lines;
    const ms_fn_block *blocks;
    const ms_seg *segs; /* address to innermost block */
    size_t seg_count;   /* 0: all is the function's */
    uint32_t function;
    uint32_t block;    /* the lines of which are looked for */
    ms_near_decl decl; /* what they must fit */
    ms_range area;     /* code that the walk stays in */
    size_t row;
    size_t seg;
    bool is_whole; /* the area has all code of the block */
    uint32_t left; /* steps */
} ms_near_walk;

/* ---- What somebody wrote ---- */

/* Whether a place is one in a source file: it has a line, and a compiler did not make up the file. */
static inline bool ms_near_is_written(const ms_ln_table *lines, uint64_t file, uint32_t line)
{
    if (line == 0 || !ms_ln_has_file(lines, file))
        return false;
    machsym_str name = lines->files[lines->version >= 5 ? file : file - 1].name;
    return name.ptr[0] != '<' || !ms_str_is(name, "<compiler-generated>");
}

/* Whether two numbers of files stand for one path: tables of DWARF 5 have their first file twice. */
static bool ms_near_same_file(const ms_ln_table *lines, uint64_t a, uint64_t b)
{
    if (a == b)
        return true;
    machsym_path one = ms_ln_path(lines, ms_str_empty(), a);
    machsym_path other = ms_ln_path(lines, ms_str_empty(), b);
    return one.name.len != 0 && ms_str_equal(one.name, other.name) && ms_str_equal(one.dir, other.dir);
}

/* What is remembered of an entry; NULL when memory is out. */
static ms_ses_site *ms_near_site(machsym_session *s, uint64_t die_off)
{
    if (s->sites == NULL)
        s->sites = (ms_ses_site *)ms_arena_zeroed(&s->keep, MACHSYM_KEPT_SITES, sizeof *s->sites);
    if (s->sites == NULL)
        return NULL;
    ms_ses_site *site = &s->sites[(die_off ^ die_off >> 10) % MACHSYM_KEPT_SITES];
    if (site->die_off != die_off) {
        ms_zero(site, sizeof *site);
        site->die_off = die_off;
    }
    return site;
}

/* Reads where a function was written; an entry that is not there was written nowhere. */
static void ms_near_read_decl(machsym_session *s, uint64_t die_off, ms_ses_site *site)
{
    ms_fn_decl from = ms_fn_decl_of(&s->env, die_off);
    bool has_line = !from.is_artificial && from.line <= ms_NEAR_MOST_LINE;
    bool has_file = from.root != NULL && from.file < ms_NEAR_ELSEWHERE;
    site->decl_line = has_line ? (uint32_t)from.line : 0;
    site->decl_file = has_file ? (uint32_t)from.file : ms_NEAR_ELSEWHERE;
    site->decl_unit = from.root != NULL ? from.root->enc.unit_off : 0;
    site->has_decl = !s->env.lacks_units; /* else it is read again, with a list of the units */
}

/* Where the function of a block was written. What is inlined has it from its origin, as all calls of it. */
static ms_near_decl ms_near_decl_of(machsym_session *s, const ms_ses_span *span, uint32_t block)
{
    const ms_fn_block *from = &span->table->blocks[block];
    uint64_t die_off = from->parent != ms_SEG_NONE && from->origin != 0 ? from->origin : from->die_off;
    ms_near_decl decl = {ms_NEAR_ELSEWHERE, 0};
    ms_ses_site *site = ms_near_site(s, die_off);
    if (site == NULL)
        return decl;
    if (!site->has_decl)
        ms_near_read_decl(s, die_off, site);
    decl.line = site->decl_line;
    if (decl.line == 0 || site->decl_unit != span->root->enc.unit_off)
        return decl;
    decl.file = site->decl_file;
    if (decl.file != ms_NEAR_ELSEWHERE && !ms_near_is_written(span->unit->lines, decl.file, decl.line))
        decl.line = 0;
    return decl;
}

/* ---- Code near by ---- */

/* Makes sure that the calls of a function are in segments. Returns false when memory is out. */
static bool ms_near_order_calls(machsym_session *s, ms_fn_inside *inside)
{
    if (inside == NULL || inside->has_calls)
        return true;
    ms_arena_reset(&s->scratch);
    ms_fn_find_calls(inside, &s->scratch, &s->cache);
    return !s->scratch.oom && !s->cache.oom;
}

/* Lowers an area to where the code of a block lies. Returns whether all of that is there. */
static bool ms_near_narrow(const ms_fn_block *block, ms_range *area)
{
    ms_range all = {UINT64_MAX, 0};
    for (size_t i = 0; i < block->range_count; i++) {
        ms_range range = ms_fn_range(block, i);
        all.lo = range.lo < all.lo ? range.lo : all.lo;
        all.hi = range.hi > all.hi ? range.hi : all.hi;
    }
    if (block->range_count == 0)
        return false;
    bool is_whole = area->lo <= all.lo && all.hi <= area->hi;
    area->lo = all.lo > area->lo ? all.lo : area->lo;
    ms_lower_to(&area->hi, all.hi);
    return is_whole;
}

/* The code around an address that a function has without a gap; empty when the address is another one's. */
static ms_range ms_near_own_code(const ms_ses_span *span, uint64_t addr)
{
    ms_ses_unit *unit = span->unit;
    const ms_seg *v = unit->functions.segs;
    ms_range none = {0, 0};
    if (unit->own_of == span->function && unit->own.lo <= addr && addr < unit->own.hi)
        return unit->own;
    size_t at = ms_seg_find(v, unit->functions.seg_count, addr);
    if (at + 1 >= unit->functions.seg_count || v[at].owner != span->function)
        return none;
    unit->own_of = span->function;
    unit->own.lo = v[at].lo;
    unit->own.hi = v[at + 1].lo;
    return unit->own;
}

/* The row of an address, which is that of the span at hand or another one, as ms_ln_find tells it. */
static size_t ms_near_row_at(const ms_ses_span *span, uint64_t addr, ms_ln_hint *hint)
{
    const ms_ln_table *lines = span->unit->lines;
    uint64_t hi = UINT64_MAX;
    if (span->row != lines->row_count && hint->lo <= addr && addr < hint->hi &&
        lines->rows[span->row].addr <= addr && lines->rows[span->row + 1].addr > addr)
        return span->row;
    return ms_ln_find(lines, MACHSYM_LINES_DWARF, false, addr, hint, &hi);
}

/* Puts a walk at an address, within the code of one sequence that the function has without a gap. Returns
 * false when no row is there, the code is another function's, or memory is out. */
static bool ms_near_begin(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                          ms_near_walk *w)
{
    ms_fn_inside *inside = span->inside;
    ms_ln_hint hint = span->unit->hint;
    if (!ms_near_order_calls(s, inside))
        return false;
    w->area = ms_near_own_code(span, addr);
    w->lines = span->unit->lines;
    w->row = ms_near_row_at(span, addr, &hint);
    if (w->row == w->lines->row_count || w->area.hi == 0)
        return false;
    w->blocks = span->table->blocks;
    w->block = block;
    w->area.lo = w->area.lo > hint.lo ? w->area.lo : hint.lo;
    ms_lower_to(&w->area.hi, hint.hi);
    w->is_whole = ms_near_narrow(&w->blocks[block], &w->area);
    w->function = inside != NULL ? inside->function : span->function;
    w->segs = inside != NULL ? inside->calls.v : NULL;
    w->seg_count = inside != NULL ? inside->calls.count : 0;
    w->seg = inside != NULL ? inside->hint : 0;
    if (w->seg_count != 0 && !ms_seg_holds(w->segs, w->seg_count, w->seg, addr))
        w->seg = ms_seg_find(w->segs, w->seg_count, addr);
    return true;
}

/* Takes a step from what is left. Returns false when nothing is. */
static inline bool ms_near_spend(ms_near_walk *w)
{
    MACHSYM_COUNT_WORK(1);
    if (w->left == 0)
        return false;
    w->left--;
    return true;
}

/* Where the place begins that a walk is at. */
static inline uint64_t ms_near_lo(const ms_near_walk *w)
{
    uint64_t lo = w->lines->rows[w->row].addr;
    if (w->seg < w->seg_count && w->segs[w->seg].lo > lo)
        lo = w->segs[w->seg].lo;
    return lo > w->area.lo ? lo : w->area.lo;
}

/* Moves to the place before. Returns false at the begin of the area. */
static bool ms_near_go_back(ms_near_walk *w)
{
    uint64_t lo = ms_near_lo(w);
    if (lo <= w->area.lo || !ms_near_spend(w))
        return false;
    while (w->lines->rows[w->row].addr >= lo) { /* the sequence begins below lo */
        w->row--;
        if (!ms_near_spend(w))
            return false;
    }
    if (w->seg < w->seg_count && w->segs[w->seg].lo >= lo)
        w->seg--;
    return true;
}

/* Moves to the place after. Returns false at the end of the area. */
static bool ms_near_go_on(ms_near_walk *w)
{
    const ms_ln_row *rows = w->lines->rows;
    bool has_next = w->seg + 1 < w->seg_count;
    uint64_t next = rows[w->row + 1].addr;
    if (has_next)
        ms_lower_to(&next, w->segs[w->seg + 1].lo);
    if (next >= w->area.hi || !ms_near_spend(w))
        return false;
    while (rows[w->row + 1].addr <= next) { /* the sequence ends above next */
        w->row++;
        if (!ms_near_spend(w))
            return false;
    }
    w->seg += has_next && w->segs[w->seg + 1].lo <= next;
    return true;
}

/* Finds where in its own source the block of a walk is at this place: at the row, or at the call that the
 * code here is inlined through. Returns false when the code is not the block's. */
static bool ms_near_place(ms_near_walk *w, ms_ses_place *out)
{
    uint32_t at = w->seg < w->seg_count ? w->segs[w->seg].owner : w->function;
    const ms_ln_row *row = &w->lines->rows[w->row];
    out->addr = ms_near_lo(w);
    if (at == w->block) {
        out->file = row->file;
        out->line = row->line;
        out->column = row->column;
        return true;
    }
    while (at != ms_SEG_NONE && w->blocks[at].parent != w->block) {
        at = w->blocks[at].parent;
        if (!ms_near_spend(w))
            return false;
    }
    if (at == ms_SEG_NONE)
        return false;
    out->file = w->blocks[at].call_file;
    out->line = w->blocks[at].call_line;
    out->column = w->blocks[at].call_column;
    return true;
}

/* Whether a line is one of a function that is declared so: values of properties that an initializer has stand
 * before it. */
static inline bool ms_near_is_right(const ms_ln_table *lines, uint64_t file, uint32_t line, ms_near_decl decl)
{
    return ms_near_is_written(lines, file, line) && line >= decl.line &&
           (decl.file == ms_NEAR_ELSEWHERE || ms_near_same_file(lines, file, decl.file));
}

/* Whether the block of a walk has a line at this place that fits its declaration. */
static bool ms_near_fits(ms_near_walk *w, ms_ses_place *out)
{
    return ms_near_place(w, out) && ms_near_is_right(w->lines, out->file, out->line, w->decl);
}

/* Takes the line of the row before that of a span, when the first step of a walk would lead there: most lines
 * are that near. Returns false when a walk has to find out. */
static bool ms_near_take_row_before(const ms_ses_span *span, uint32_t block, uint64_t addr, ms_near_decl decl,
                                    ms_ses_place *out)
{
    const ms_ses_unit *unit = span->unit;
    const ms_fn_inside *inside = span->inside;
    if (block != span->call || span->row == 0 || span->row == unit->lines->row_count)
        return false;
    const ms_ln_row *row = &unit->lines->rows[span->row];
    const ms_ln_row *before = row - 1;
    bool is_own = unit->own_of == span->function && unit->own.lo <= before->addr && addr < unit->own.hi;
    if (!is_own || before->addr >= row->addr || before->addr < unit->hint.lo || addr >= unit->hint.hi)
        return false;
    if (inside != NULL && !inside->has_calls)
        return false;
    if (inside != NULL && inside->calls.count != 0 &&
        (!ms_seg_holds(inside->calls.v, inside->calls.count, inside->hint, addr) ||
         inside->calls.v[inside->hint].lo > before->addr))
        return false;
    if (!ms_near_is_right(unit->lines, before->file, before->line, decl))
        return false;
    out->file = before->file;
    out->line = before->line;
    out->column = before->column;
    out->from = MACHSYM_NEAR_BEFORE;
    out->addr = before->addr;
    return true;
}

/* Notes what a search found that went to the end of the code before: other addresses lead to the same. left:
 * steps that it did not take. */
static void ms_near_note(machsym_session *s, const ms_near_walk *w, uint64_t addr, uint32_t left,
                         const ms_ses_place *after)
{
    const ms_fn_block *block = &w->blocks[w->block];
    ms_ses_site *site = left > 0 && !ms_ses_failed(s) ? ms_near_site(s, block->die_off) : NULL;
    if (site == NULL || s->env.lacks_units)
        return;
    site->has_no_lines |= after == NULL && w->is_whole;
    if (after != NULL) {
        site->after = *after;
        site->after_from = addr;
    }
}

/* The nearest line of a block before an address, else after it. decl is what it must fit. */
static bool ms_near_search(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                           ms_near_decl decl, ms_ses_place *out)
{
    ms_near_walk w;
    ms_ses_place place;
    if (ms_near_take_row_before(span, block, addr, decl, out))
        return true;
    const ms_ses_site *site = ms_near_site(s, span->table->blocks[block].die_off);
    if (site == NULL || site->has_no_lines)
        return false;
    if (site->after.line != 0 && site->after_from <= addr && addr < site->after.addr) {
        *out = site->after;
        return true;
    }
    if (!ms_near_begin(s, span, block, addr, &w))
        return false;
    w.decl = decl;
    w.left = MACHSYM_MAX_NEAR_STEPS;
    ms_near_walk on = w;
    bool found = false;
    while (!found && ms_near_go_back(&w))
        found = ms_near_fits(&w, &place);
    place.from = MACHSYM_NEAR_BEFORE;
    if (!found) {
        while (!found && ms_near_go_on(&on))
            found = ms_near_fits(&on, &place);
        place.from = MACHSYM_NEAR_AFTER;
        ms_near_note(s, &on, addr, w.left < on.left ? w.left : on.left, found ? &place : NULL);
    }
    if (found)
        *out = place;
    return found;
}

/* Whether a function has a line of its own that somebody wrote, in whatever file. */
static bool ms_near_look_for_lines(machsym_session *s, const ms_ses_span *span, uint32_t function)
{
    const ms_fn_block *block = &span->table->blocks[function];
    ms_near_decl any = {ms_NEAR_ELSEWHERE, 0};
    ms_ses_place place;
    ms_near_walk w;
    uint32_t left = MACHSYM_MAX_NEAR_STEPS;
    for (size_t i = 0; i < block->range_count && left > 0; i++, left--) {
        if (!ms_near_begin(s, span, function, ms_fn_range(block, i).lo, &w))
            continue;
        w.left = left;
        w.decl = any;
        do {
            if (ms_near_fits(&w, &place))
                return true;
        } while (ms_near_go_on(&w));
        left = w.left > 0 ? w.left : 1;
    }
    return false;
}

/* The same, looked for once. */
static bool ms_near_has_lines(machsym_session *s, const ms_ses_span *span, uint32_t function)
{
    ms_ses_site *site = ms_near_site(s, span->table->blocks[function].die_off);
    if (site == NULL || site->is_silent)
        return false;
    bool has_lines = ms_near_look_for_lines(s, span, function);
    site->is_silent = !has_lines && !ms_ses_failed(s);
    return has_lines;
}

/* ---- The line of a frame ---- */

static bool ms_near_take_decl(ms_near_decl decl, ms_ses_place *out)
{
    if (decl.line == 0 || decl.file == ms_NEAR_ELSEWHERE)
        return false;
    ms_zero(out, sizeof *out);
    out->file = decl.file;
    out->line = decl.line;
    out->from = MACHSYM_NEAR_DECLARATION;
    return true;
}

/* Takes the place where a block is called, when the debug info has one that somebody wrote. */
static bool ms_near_take_call(const ms_ses_span *span, const ms_fn_block *block, ms_ses_place *out)
{
    if (!ms_near_is_written(span->unit->lines, block->call_file, block->call_line))
        return false;
    ms_zero(out, sizeof *out);
    out->file = block->call_file;
    out->line = block->call_line;
    out->column = block->call_column;
    out->from = MACHSYM_NEAR_CALL;
    return true;
}

/* Finds a line for a block at an address, where it has none, from its callers: outwards to the function. */
static bool ms_near_find_outside(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                                 ms_near_decl own, ms_ses_place *out)
{
    const ms_fn_block *blocks = span->table->blocks;
    uint32_t root = span->inside != NULL ? span->inside->function : span->function;
    ms_near_decl whole = block == root ? own : ms_near_decl_of(s, span, root);
    uint32_t at = block;
    if (own.line == 0 && whole.line == 0)
        return false;
    for (unsigned calls = 0; calls <= MACHSYM_MAX_NEAR_CALLS && (at != root || whole.line != 0); calls++) {
        ms_near_decl decl = at == root ? whole : at == block ? own : ms_near_decl_of(s, span, at);
        if ((at != block || own.line == 0) &&
            ms_near_search(s, span, at, addr, decl.line != 0 ? decl : whole, out)) {
            if (at != block)
                out->from = MACHSYM_NEAR_CALL;
            return true;
        }
        if (at == root)
            return ms_near_has_lines(s, span, root) && ms_near_take_decl(whole, out);
        if (ms_near_take_call(span, &blocks[at], out))
            return true;
        addr = blocks[at].lo;
        at = blocks[at].parent;
    }
    return ms_near_take_decl(own, out);
}

/* Finds a line for a block at an address where it has none. Returns false when there is none to tell. */
static bool ms_near_find(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                         ms_ses_place *out)
{
    const ms_fn_depth *depths = span->table->depths;
    if (depths != NULL && depths[block].calls > MACHSYM_MAX_INLINE_DEPTH)
        return false;
    ms_near_decl own = ms_near_decl_of(s, span, block);
    return (own.line != 0 && ms_near_search(s, span, block, addr, own, out)) ||
           ms_near_find_outside(s, span, block, addr, own, out);
}

/* Whether the people policy has another line than the debug info: where it has none that somebody wrote, or
 * one that is too large. */
static inline bool ms_near_is_wanted(const machsym_session *s, const ms_ln_table *lines, uint64_t file,
                                     uint32_t line)
{
    return s->lines == MACHSYM_LINES_PEOPLE &&
           (line > ms_NEAR_MOST_LINE || !ms_near_is_written(lines, file, line));
}

/* Sets a place to a line near by, if it is wanted and there is one. */
static ms_NOINLINE void ms_near_improve(machsym_session *s, const ms_ses_span *span, uint32_t block,
                                        uint64_t addr, ms_ses_place *place)
{
    if (ms_near_is_written(span->unit->lines, place->file, place->line))
        place->line = ms_NEAR_MOST_LINE;
    else
        ms_near_find(s, span, block, addr, place);
}

/* Where the code of an address comes from: what the row says that answers, or a line near by. */
static ms_ses_place ms_near_row(machsym_session *s, const ms_ses_span *span, uint64_t addr)
{
    const ms_ln_row *row = &span->unit->lines->rows[span->row];
    ms_ses_place place = {row->file, row->line, row->column, MACHSYM_NEAR_NONE, 0};
    if (span->function != ms_SEG_NONE && ms_near_is_wanted(s, span->unit->lines, place.file, place.line))
        ms_near_improve(s, span, span->call, addr, &place);
    return place;
}

/* Where a call is, which is inlined: what its entry says, or a line near by. That is found from where the
 * code of the call begins, so that it is the same for all of the call. */
static ms_ses_place ms_near_call(machsym_session *s, const ms_ses_span *span, uint32_t call)
{
    const ms_fn_block *block = &span->table->blocks[call];
    ms_ses_place place = {block->call_file, block->call_line, block->call_column, MACHSYM_NEAR_NONE, 0};
    if (!ms_near_is_wanted(s, span->unit->lines, place.file, place.line))
        return place;
    ms_ses_site *site = ms_near_site(s, block->die_off);
    if (site != NULL && site->has_call)
        return site->call;
    ms_near_improve(s, span, block->parent, block->lo, &place);
    site = ms_near_site(s, block->die_off); /* others may have taken its place */
    if (site != NULL) {
        site->call = place;
        site->has_call = !s->env.lacks_units;
    }
    return place;
}

#endif /* ms_ROOM_answer_near */
