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
 * Offers: ms_near_row, ms_near_call.
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

static ms_near_decl ms_near_read_decl(machsym_session *s, const ms_ses_span *span, uint64_t die_off)
{
    ms_fn_decl from = ms_fn_decl_of(&s->env, die_off);
    bool is_here = from.root != NULL && from.root->enc.unit_off == span->root->enc.unit_off;
    bool has_line = !from.is_artificial && from.line <= ms_NEAR_MOST_LINE;
    ms_near_decl decl = {ms_NEAR_ELSEWHERE, has_line ? (uint32_t)from.line : 0};
    if (is_here && from.file < ms_NEAR_ELSEWHERE)
        decl.file = (uint32_t)from.file;
    if (is_here && !ms_near_is_written(span->unit->lines, from.file, decl.line))
        decl.line = 0;
    return decl;
}

/* Where the function of a block was written. */
static ms_near_decl ms_near_decl_of(machsym_session *s, const ms_ses_span *span, uint32_t block)
{
    uint64_t die_off = span->table->blocks[block].die_off;
    ms_near_decl decl = {ms_NEAR_ELSEWHERE, 0};
    ms_ses_site *site = ms_near_site(s, die_off);
    if (site == NULL)
        return decl;
    if (!site->has_decl) {
        decl = ms_near_read_decl(s, span, die_off);
        site->decl_file = decl.file;
        site->decl_line = decl.line;
        site->has_decl = !s->env.lacks_units; /* else it is read again, with a list of the units */
    }
    decl.file = site->decl_file;
    decl.line = site->decl_line;
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

/* Lowers an area to where the code of an inlined call lies. */
static void ms_near_narrow(const ms_fn_block *block, ms_range *area)
{
    ms_range all = {UINT64_MAX, 0};
    if (block->parent == ms_SEG_NONE || block->range_count == 0)
        return;
    for (size_t i = 0; i < block->range_count; i++) {
        ms_range range = ms_fn_range(block, i);
        all.lo = range.lo < all.lo ? range.lo : all.lo;
        all.hi = range.hi > all.hi ? range.hi : all.hi;
    }
    area->lo = all.lo > area->lo ? all.lo : area->lo;
    ms_lower_to(&area->hi, all.hi);
}

/* Puts a walk at an address, within the code of one sequence that the function has without a gap. Returns
 * false when no row is there, the code is another function's, or memory is out. */
static bool ms_near_begin(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                          ms_near_walk *w)
{
    const ms_fn_table *functions = &span->unit->functions;
    const ms_seg *v = functions->segs;
    uint64_t hi = UINT64_MAX;
    ms_ln_hint hint;
    ms_zero(&hint, sizeof hint);
    if (!ms_near_order_calls(s, span->inside))
        return false;
    size_t at = ms_seg_find(v, functions->seg_count, addr);
    w->lines = span->unit->lines;
    w->row = ms_ln_find(w->lines, MACHSYM_LINES_DWARF, false, addr, &hint, &hi);
    if (w->row == w->lines->row_count || at + 1 >= functions->seg_count || v[at].owner != span->function)
        return false;
    w->blocks = span->table->blocks;
    w->function = span->inside != NULL ? span->inside->function : span->function;
    w->block = block;
    w->area.lo = v[at].lo > hint.lo ? v[at].lo : hint.lo;
    w->area.hi = v[at + 1].lo < hint.hi ? v[at + 1].lo : hint.hi;
    ms_near_narrow(&w->blocks[block], &w->area);
    w->segs = span->inside != NULL ? span->inside->calls.v : NULL;
    w->seg_count = span->inside != NULL ? span->inside->calls.count : 0;
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

/* Whether the block of a walk has a line at this place that fits its declaration: values of properties that
 * an initializer has stand before it. */
static bool ms_near_fits(ms_near_walk *w, ms_ses_place *out)
{
    if (!ms_near_place(w, out) || !ms_near_is_written(w->lines, out->file, out->line))
        return false;
    return out->line >= w->decl.line &&
           (w->decl.file == ms_NEAR_ELSEWHERE || ms_near_same_file(w->lines, out->file, w->decl.file));
}

/* The nearest line of a block before an address, else after it. decl is what it must fit. *left is how many
 * steps may be taken, and how many were not. */
static bool ms_near_search(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                           ms_near_decl decl, uint32_t *left, ms_ses_place *out)
{
    ms_near_walk w;
    ms_ses_place place;
    bool found = false;
    ms_zero(&w, sizeof w);
    ms_zero(&place, sizeof place);
    if (!ms_near_begin(s, span, block, addr, &w))
        return false;
    ms_near_walk on = w;
    w.decl = on.decl = decl;
    w.left = *left;
    place.from = MACHSYM_NEAR_BEFORE;
    while (!found && ms_near_go_back(&w))
        found = ms_near_fits(&w, &place);
    on.left = w.left;
    if (!found)
        place.from = MACHSYM_NEAR_AFTER;
    while (!found && ms_near_go_on(&on))
        found = ms_near_fits(&on, &place);
    *left = on.left;
    if (found)
        *out = place;
    return found;
}

/* Whether a function has a line of its own that somebody wrote, in whatever file. */
static bool ms_near_has_lines(machsym_session *s, const ms_ses_span *span, uint32_t function, uint32_t left)
{
    const ms_fn_block *block = &span->table->blocks[function];
    ms_near_decl any = {ms_NEAR_ELSEWHERE, 0};
    ms_ses_place place;
    ms_near_walk w;
    ms_zero(&w, sizeof w);
    for (size_t i = 0; i < block->range_count && left > 0; i++, left = w.left > 0 ? w.left - 1 : 0) {
        w.left = left;
        w.decl = any;
        if (!ms_near_begin(s, span, function, ms_fn_range(block, i).lo, &w))
            continue;
        do {
            if (ms_near_fits(&w, &place))
                return true;
        } while (ms_near_go_on(&w));
    }
    return false;
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

/* Finds a line for a block at an address where it has none: from the block itself, from its caller, and so on
 * outwards to the function. Returns false when there is none to tell. */
static bool ms_near_find(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                         ms_ses_place *out)
{
    const ms_fn_block *blocks = span->table->blocks;
    uint32_t root = span->inside != NULL ? span->inside->function : span->function;
    uint32_t left = MACHSYM_MAX_NEAR_STEPS;
    ms_near_decl whole = ms_near_decl_of(s, span, root);
    ms_near_decl own = block == root ? whole : ms_near_decl_of(s, span, block);
    bool is_deep = span->table->depths != NULL && span->table->depths[block].calls > MACHSYM_MAX_INLINE_DEPTH;
    if ((whole.line == 0 && own.line == 0) || is_deep)
        return false;
    for (uint32_t at = block; at != root || whole.line != 0; at = blocks[at].parent) {
        ms_near_decl decl = at == block ? own : at == root ? whole : ms_near_decl_of(s, span, at);
        if (ms_near_search(s, span, at, addr, decl.line != 0 ? decl : whole, &left, out)) {
            if (at != block)
                out->from = MACHSYM_NEAR_CALL;
            return true;
        }
        if (at == root)
            return ms_near_has_lines(s, span, root, left) && ms_near_take_decl(whole, out);
        if (ms_near_take_call(span, &blocks[at], out))
            return true;
        addr = blocks[at].lo;
    }
    return ms_near_take_decl(own, out);
}

/* Where the code of an address comes from: what the row says that answers, or a line near by. */
static ms_ses_place ms_near_row(machsym_session *s, const ms_ses_span *span, uint64_t addr)
{
    const ms_ln_row *row = &span->unit->lines->rows[span->row];
    ms_ses_place place = {row->file, row->line, row->column, MACHSYM_NEAR_NONE, 0};
    if (s->lines == MACHSYM_LINES_PEOPLE && span->function != ms_SEG_NONE &&
        !ms_near_is_written(span->unit->lines, place.file, place.line))
        ms_near_find(s, span, span->call, addr, &place);
    return place;
}

/* Where a call is, which is inlined: what its entry says, or a line near by. That is found from where the
 * code of the call begins, so that it is the same for all of the call. */
static ms_ses_place ms_near_call(machsym_session *s, const ms_ses_span *span, uint32_t call)
{
    const ms_fn_block *block = &span->table->blocks[call];
    ms_ses_place place = {block->call_file, block->call_line, block->call_column, MACHSYM_NEAR_NONE, 0};
    if (s->lines != MACHSYM_LINES_PEOPLE || ms_near_is_written(span->unit->lines, place.file, place.line))
        return place;
    ms_ses_site *site = ms_near_site(s, block->die_off);
    if (site != NULL && site->has_call)
        return site->call;
    ms_near_find(s, span, block->parent, block->lo, &place);
    site = ms_near_site(s, block->die_off); /* others may have taken its place */
    if (site != NULL) {
        site->call = place;
        site->has_call = !s->env.lacks_units;
    }
    return place;
}

#endif /* ms_ROOM_answer_near */
