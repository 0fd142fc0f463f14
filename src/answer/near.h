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
 * Offers: ms_near_is_wanted, ms_near_wanted_row, ms_near_row, ms_near_known_call,
 *         ms_near_find_call, ms_near_call.
 * Never:  takes a line of code that another function has. */

/* The largest line that the people policy tells: a map has 31 bits for it. */
#define ms_NEAR_MOST_LINE 0x7fffffffu

/* Steps through all code of a block, which is looked through once; of all blocks together, since a hostile
 * program could make each one take as many. */
#define ms_NEAR_MOST_STEPS 8192u
#define ms_NEAR_ALL_STEPS  (1u << 22)

/* Searches that found nothing, before those of each function are counted: few addresses need no list. */
#define ms_NEAR_FEW 64u

/* How often the rows of a unit may be listed. Each is listed once, but for functions that share code. */
#define ms_NEAR_MOST_LISTED 4u

/* The file of lines that are of several. */
#define ms_NEAR_SEVERAL UINT32_MAX

/* The file of declarations that another unit states. It is not looked up. */
#define ms_NEAR_ELSEWHERE UINT32_MAX

/* Where a function was written. */
typedef struct ms_near_decl {
    uint32_t file; /* of the unit at hand, or ms_NEAR_ELSEWHERE */
    uint32_t line; /* 0: a compiler made the function */
} ms_near_decl;

/* A walk over the code of a function, from one place where row and call are the same to the next. */
typedef struct ms_near_walk {
    const ms_ses_unit *unit;
    const ms_fn_block *blocks;
    const ms_seg *segs; /* address to innermost block */
    size_t seg_count;
    uint32_t function; /* has what is in no segment */
    uint32_t block;    /* whose lines are searched */
    ms_near_decl decl; /* what they must fit */
    ms_range area;     /* code that the walk stays in */
    const ms_ln_row *row;
    size_t seg;
    ms_range seg_range;
    uint32_t owner; /* of the segment */
    bool is_whole;  /* the area has all code of the block */
    uint32_t left;  /* steps */
} ms_near_walk;

/* ---- What somebody wrote ---- */

static bool ms_near_is_made_up(machsym_str name)
{
    return name.len != 0 && name.ptr[0] == '<' && ms_str_is(name, "<compiler-generated>");
}

/* Lists the files of a unit that somebody wrote as one range of numbers, but for one in it. If that cannot
 * be, because two files are made up or a file has no name, the range stays empty. */
static void ms_near_list_plain(ms_ses_unit *unit)
{
    const ms_ln_table *lines = unit->lines;
    uint32_t first = lines->version >= 5 ? 0 : 1;
    size_t made = SIZE_MAX;
    unit->has_plain = true;
    for (size_t i = 0; i < lines->file_count; i++) {
        bool is_made_up = ms_near_is_made_up(lines->files[i].name);
        if (lines->files[i].name.len == 0 || (is_made_up && made != SIZE_MAX))
            return;
        made = is_made_up ? i : made;
    }
    unit->plain_first = first;
    unit->made_file = made < UINT32_MAX - first ? (uint32_t)made + first : UINT32_MAX;
    unit->plain_count = lines->file_count < UINT32_MAX ? (uint32_t)lines->file_count : 0;
}

/* Whether a place is known to be one that somebody wrote, of a line that a map has bits for. Nearly all
 * are. */
static inline bool ms_near_is_plain(const ms_ses_unit *unit, uint32_t file, uint32_t line)
{
    return line - 1u < ms_NEAR_MOST_LINE && file - unit->plain_first < unit->plain_count &&
           file != unit->made_file;
}

/* Whether a line is one in a source file, of a file that may have no name, or one that a compiler made up. */
static ms_NOINLINE bool ms_near_has_source(const ms_ses_unit *unit, uint32_t file)
{
    const ms_ln_table *lines = unit->lines;
    return ms_ln_has_file(lines, file) &&
           !ms_near_is_made_up(lines->files[lines->version >= 5 ? file : file - 1].name);
}

/* Whether a place is one in a source file: it has a line, and a compiler did not make up the file. */
static inline bool ms_near_is_written(const ms_ses_unit *unit, uint32_t file, uint32_t line)
{
    return line != 0 && (ms_near_is_plain(unit, file, line) || ms_near_has_source(unit, file));
}

/* Whether two numbers of files stand for one path: tables of DWARF 5 have their first file twice. */
static ms_NOINLINE bool ms_near_same_path(const ms_ln_table *lines, uint32_t a, uint32_t b)
{
    machsym_path one = ms_ln_path(lines, ms_str_empty(), a);
    machsym_path other = ms_ln_path(lines, ms_str_empty(), b);
    return one.name.len != 0 && ms_str_equal(one.name, other.name) && ms_str_equal(one.dir, other.dir);
}

/* Where it is remembered what is known of an entry; another one's may be there. */
static ms_INLINE ms_ses_site *ms_near_slot(const machsym_session *s, uint64_t die_off)
{
    return &s->sites[(die_off ^ die_off >> 10) % MACHSYM_KEPT_SITES];
}

/* What is remembered of an entry; NULL when memory is out. */
static ms_ses_site *ms_near_site(machsym_session *s, uint64_t die_off)
{
    if (s->sites == NULL)
        s->sites = (ms_ses_site *)ms_arena_zeroed(&s->keep, MACHSYM_KEPT_SITES, sizeof *s->sites);
    if (s->sites == NULL)
        return NULL;
    ms_ses_site *site = ms_near_slot(s, die_off);
    if (site->die_off != die_off) {
        ms_zero(site, sizeof *site);
        site->die_off = die_off;
    }
    return site;
}

/* Where the function of a block was written. What is inlined has it from its origin, as all calls of it. */
static ms_near_decl ms_near_decl_of(machsym_session *s, const ms_ses_span *span, uint32_t block)
{
    const ms_fn_block *at = &span->table->blocks[block];
    uint64_t die_off = at->parent != ms_SEG_NONE && at->origin != 0 ? at->origin : at->die_off;
    const ms_fn_decl *from = &ms_ses_names_of(s, die_off)->decl;
    ms_near_decl decl = {ms_NEAR_ELSEWHERE, 0};
    if (from->is_artificial || from->line > ms_NEAR_MOST_LINE)
        return decl;
    decl.line = (uint32_t)from->line;
    if (decl.line == 0 || from->root == NULL || from->file >= ms_NEAR_ELSEWHERE ||
        from->root->enc.unit_off != span->root->enc.unit_off)
        return decl;
    decl.file = (uint32_t)from->file;
    if (!ms_near_is_written(span->unit, decl.file, decl.line))
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

/* Whether two functions of a unit have the same code, which a linker folded. One of them owns it. */
static bool ms_near_is_twin(const ms_ses_unit *unit, uint32_t owner, uint32_t function)
{
    const ms_fn_block *a = &unit->functions.blocks[owner];
    const ms_fn_block *b = &unit->functions.blocks[function];
    return a->range_count == 1 && b->range_count == 1 && a->lo == b->lo && a->hi == b->hi;
}

/* The code around an address that a function has without a gap; empty when the address is another one's. */
static ms_range ms_near_own_code(const ms_ses_span *span, uint64_t addr)
{
    ms_ses_unit *unit = span->unit;
    const ms_seg *v = unit->functions.segs;
    size_t count = unit->functions.seg_count;
    ms_range none = {0, 0};
    if (unit->named.count != 0) { /* what is found now may not hold for a search by another source */
        unit->own.hi = 0;
        if (span->is_named) {
            v = unit->named.v;
            count = unit->named.count;
        }
    }
    if (unit->own_of == span->function && unit->own.lo <= addr && addr < unit->own.hi)
        return unit->own;
    size_t at = ms_seg_find(v, count, addr);
    if (at + 1 >= count || v[at].owner == ms_SEG_NONE ||
        (v[at].owner != span->function &&
         (span->is_named || !ms_near_is_twin(unit, v[at].owner, span->function))))
        return none;
    unit->own_of = span->function;
    unit->own.lo = v[at].lo;
    unit->own.hi = v[at + 1].lo;
    return unit->own;
}

/* The last row at or below an address, which is that of the span at hand or another one; row_count when no
 * sequence has the address. A walk may begin at a row of a file that the table does not have. */
static size_t ms_near_row_at(const ms_ses_span *span, uint64_t addr, ms_ln_hint *hint)
{
    const ms_ln_table *lines = span->unit->lines;
    uint64_t hi = UINT64_MAX;
    if (span->row != lines->row_count && hint->lo <= addr && addr < hint->hi &&
        lines->rows[span->row].addr <= addr && lines->rows[span->row + 1].addr > addr)
        return span->row;
    if ((addr < hint->lo || addr >= hint->hi) && !ms_ln_turn_to(lines, addr, hint, &hi))
        return lines->row_count;
    hint->row = ms_ln_last_at(lines->rows, &lines->seqs[hint->seq], hint->row, addr);
    return hint->row;
}

/* Puts a walk at a segment; a number that no segment has stands for all code. */
static ms_INLINE void ms_near_enter(ms_near_walk *w, size_t seg)
{
    bool is_there = seg < w->seg_count;
    w->seg = seg;
    w->owner = is_there ? w->segs[seg].owner : w->function;
    w->seg_range.lo = is_there ? w->segs[seg].lo : 0;
    w->seg_range.hi = is_there && seg + 1 < w->seg_count ? w->segs[seg + 1].lo : UINT64_MAX;
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
    w->unit = span->unit;
    size_t row = ms_near_row_at(span, addr, &hint);
    if (row == span->unit->lines->row_count || w->area.hi == 0)
        return false;
    w->row = &span->unit->lines->rows[row];
    w->blocks = span->table->blocks;
    w->block = block;
    w->area.lo = w->area.lo > hint.lo ? w->area.lo : hint.lo;
    ms_lower_to(&w->area.hi, hint.hi);
    w->is_whole = ms_near_narrow(&w->blocks[block], &w->area);
    w->function = inside != NULL ? inside->function : span->function;
    w->segs = inside != NULL ? inside->calls.v : NULL;
    w->seg_count = inside != NULL ? inside->calls.count : 0;
    size_t seg = inside != NULL ? inside->hint : 0;
    if (w->seg_count != 0 && !ms_seg_holds(w->segs, w->seg_count, seg, addr))
        seg = ms_seg_find(w->segs, w->seg_count, addr);
    ms_near_enter(w, seg);
    return true;
}

/* Takes a step from what is left. Returns false when nothing is. */
static ms_INLINE bool ms_near_spend(ms_near_walk *w)
{
    MACHSYM_COUNT_WORK(1);
    if (w->left == 0)
        return false;
    w->left--;
    return true;
}

/* Where the place begins that a walk is at. */
static ms_INLINE uint64_t ms_near_lo(const ms_near_walk *w)
{
    uint64_t lo = w->row->addr > w->seg_range.lo ? w->row->addr : w->seg_range.lo;
    return lo > w->area.lo ? lo : w->area.lo;
}

/* Moves to the place before. Returns false at the begin of the area. */
static ms_INLINE bool ms_near_go_back(ms_near_walk *w)
{
    uint64_t lo = ms_near_lo(w);
    if (lo <= w->area.lo || !ms_near_spend(w))
        return false;
    while (w->row->addr >= lo) { /* the sequence begins below lo */
        w->row--;
        if (!ms_near_spend(w))
            return false;
    }
    if (w->seg_range.lo >= lo)
        ms_near_enter(w, w->seg - 1);
    return true;
}

/* Moves to the place after. Returns false at the end of the area. */
static ms_INLINE bool ms_near_go_on(ms_near_walk *w)
{
    uint64_t next = w->row[1].addr;
    ms_lower_to(&next, w->seg_range.hi);
    if (next >= w->area.hi || !ms_near_spend(w))
        return false;
    while (w->row[1].addr <= next) { /* the sequence ends above next */
        w->row++;
        if (!ms_near_spend(w))
            return false;
    }
    if (w->seg_range.hi <= next)
        ms_near_enter(w, w->seg + 1);
    return true;
}

/* The call that code is inlined through from the block of a walk, when block at has the code; ms_SEG_NONE
 * when it is not the walk's. */
static ms_INLINE uint32_t ms_near_call_through(ms_near_walk *w, uint32_t at)
{
    while (at != ms_SEG_NONE && w->blocks[at].parent != w->block) {
        at = w->blocks[at].parent;
        if (!ms_near_spend(w))
            return ms_SEG_NONE;
    }
    return at;
}

/* Whether a line is one of a function that is declared so: values of properties that an initializer has stand
 * before it. */
static ms_INLINE bool ms_near_is_right(const ms_ses_unit *unit, uint32_t file, uint32_t line,
                                       ms_near_decl decl)
{
    return ms_near_is_written(unit, file, line) && line >= decl.line &&
           (decl.file == ms_NEAR_ELSEWHERE || decl.file == file ||
            ms_near_same_path(unit->lines, file, decl.file));
}

/* Whether the block of a walk has a line at this place that fits its declaration: at the row, or at the call
 * that the code here is inlined through. */
static ms_INLINE bool ms_near_fits(ms_near_walk *w, ms_ses_place *out)
{
    uint32_t at = w->owner;
    if (at == w->block) {
        const ms_ln_row *row = w->row;
        if (!ms_near_is_right(w->unit, row->file, row->line, w->decl))
            return false;
        out->file = row->file;
        out->line = row->line;
        out->column = row->column;
    } else {
        at = ms_near_call_through(w, at);
        if (at == ms_SEG_NONE ||
            !ms_near_is_right(w->unit, w->blocks[at].call_file, w->blocks[at].call_line, w->decl))
            return false;
        out->file = w->blocks[at].call_file;
        out->line = w->blocks[at].call_line;
        out->column = w->blocks[at].call_column;
    }
    out->addr = ms_near_lo(w);
    return true;
}

/* Takes the line of the row before that of a span, when the first step of a walk would lead there: most lines
 * are that near. Returns false when a walk has to find out. */
static bool ms_near_take_row_before(const ms_ses_span *span, uint64_t addr, ms_near_decl decl,
                                    ms_ses_place *out)
{
    const ms_ses_unit *unit = span->unit;
    const ms_fn_inside *inside = span->inside;
    if (span->row == 0 || span->row == unit->lines->row_count)
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
    if (!ms_near_is_right(unit, before->file, before->line, decl))
        return false;
    out->file = before->file;
    out->line = before->line;
    out->column = before->column;
    out->from = MACHSYM_NEAR_BEFORE;
    out->addr = before->addr;
    return true;
}

/* Whether a span has all code of its block: no other code of that can have a line. */
static bool ms_near_is_all(const ms_ses_span *span)
{
    const ms_fn_block *block = &span->table->blocks[span->call];
    const ms_fn_inside *inside = span->inside;
    const ms_ln_table *lines = span->unit->lines;
    if (block->range_count != 1 || span->hi < block->hi || span->row == lines->row_count ||
        lines->rows[span->row].addr > block->lo)
        return false;
    return inside == NULL ||
           (inside->has_calls && (inside->calls.count == 0 || inside->calls.v[inside->hint].lo <= block->lo));
}

/* ---- Which blocks have lines ---- */

static inline void ms_near_add_line(ms_ses_lined *lined, uint32_t file, uint32_t line)
{
    lined->file = lined->most == 0 || lined->file == file ? file : ms_NEAR_SEVERAL;
    lined->most = line > lined->most ? line : lined->most;
}

/* Adds the lines of calls to the blocks that have them. v begins with the function. */
static void ms_near_list_calls(const ms_ses_unit *unit, const ms_fn_inside *inside, ms_ses_lined *v)
{
    const ms_fn_block *blocks = inside->table->blocks;
    uint32_t function = inside->function;
    for (uint32_t i = function + 1; i < blocks[function].end; i++) {
        const ms_fn_block *block = &blocks[i];
        MACHSYM_COUNT_WORK(1);
        if (block->parent != ms_SEG_NONE && ms_near_is_written(unit, block->call_file, block->call_line))
            ms_near_add_line(&v[block->parent - function], block->call_file, block->call_line);
    }
}

/* Adds the line of a row to the innermost blocks that have its code: the owners of the segments from seg on
 * that begin below the address of the next row. */
static inline void ms_near_list_row(const ms_fn_inside *inside, size_t seg, const ms_ln_row *row,
                                    ms_ses_lined *v)
{
    const ms_seg *segs = inside->calls.v;
    size_t count = inside->calls.count;
    do {
        uint32_t owner = seg < count ? segs[seg].owner : inside->function; /* as in a walk */
        if (owner != ms_SEG_NONE)
            ms_near_add_line(&v[owner - inside->function], row->file, row->line);
        seg++;
    } while (seg < count && segs[seg].lo < row[1].addr);
}

/* The same of all rows of a piece of code, from the row that a hint is at, which has the begin of it. Returns
 * how many rows that were. */
static size_t ms_near_list_rows(const ms_ses_unit *unit, const ms_fn_inside *inside, ms_range code,
                                const ms_ln_hint *hint, ms_ses_lined *v)
{
    const ms_seg *segs = inside->calls.v;
    size_t count = inside->calls.count;
    size_t seg = ms_seg_find(segs, count, code.lo);
    const ms_ln_seq *seq = &unit->lines->seqs[hint->seq];
    const ms_ln_row *first = &unit->lines->rows[hint->row];
    const ms_ln_row *last = &unit->lines->rows[seq->first + seq->count - 1];
    const ms_ln_row *row = first;
    for (; row < last && row->addr < code.hi; row++) {
        MACHSYM_COUNT_WORK(1);
        if (!ms_near_is_written(unit, row->file, row->line))
            continue;
        while (seg + 1 < count && segs[seg + 1].lo <= row->addr)
            seg++;
        ms_near_list_row(inside, seg, row, v);
    }
    return (size_t)(row - first);
}

/* Lists the lines that the code of a span's function has. Returns false when that is of several sequences in
 * one piece, or the unit's rows were listed too often. */
static bool ms_near_list_code(const ms_ses_span *span, ms_ses_lined *v)
{
    ms_ses_unit *unit = span->unit;
    const ms_ln_table *lines = unit->lines;
    const ms_fn_block *own = &unit->functions.blocks[span->function]; /* whose code walks stay in */
    for (size_t i = 0; i < own->range_count; i++) {
        ms_range code = ms_fn_range(own, i);
        ms_ln_hint hint = unit->hint;
        uint64_t hi = UINT64_MAX;
        bool is_there =
            (hint.lo <= code.lo && code.lo < hint.hi) || ms_ln_turn_to(lines, code.lo, &hint, &hi);
        if (!is_there || hint.hi < code.hi || unit->rows_listed / ms_NEAR_MOST_LISTED > lines->row_count)
            return false;
        hint.row = ms_ln_last_at(lines->rows, &lines->seqs[hint.seq], hint.row, code.lo);
        unit->rows_listed += ms_near_list_rows(unit, span->inside, code, &hint, v);
    }
    return true;
}

/* Lists the lines of a span's function and of what is inlined into it; NULL when memory is out. */
static ms_NOINLINE ms_ses_lined *ms_near_list(machsym_session *s, const ms_ses_span *span)
{
    const ms_fn_inside *inside = span->inside;
    size_t count = inside->table->blocks[inside->function].end - inside->function;
    ms_ses_lined *v = (ms_ses_lined *)ms_arena_zeroed(&s->cache, count, sizeof *v);
    if (v == NULL)
        return NULL;
    ms_near_list_calls(span->unit, inside, v);
    if (ms_near_list_code(span, v))
        return v;
    for (size_t i = 0; i < count; i++) { /* each may have any line */
        v[i].file = ms_NEAR_SEVERAL;
        v[i].most = UINT32_MAX;
    }
    return v;
}

/* Counts the steps of a search that found nothing in a function that calls are inlined into. Of the first
 * ones nothing is kept. */
static void ms_near_count_vain(machsym_session *s, const ms_ses_span *span, uint32_t steps)
{
    ms_ses_unit *unit = span->unit;
    if (s->near_walks < ms_NEAR_FEW || span->inside == NULL || unit->named.count != 0) {
        s->near_walks += s->near_walks < ms_NEAR_FEW;
        return;
    }
    if (unit->lined == NULL)
        unit->lined = (ms_ses_lines *)ms_arena_zeroed(&s->cache, unit->functions.count, sizeof *unit->lined);
    if (unit->lined != NULL)
        unit->lined[span->function].vain += steps;
}

/* What is listed of a block; NULL: nothing. The lines of a function are listed after searches in vain of one
 * step for each of its blocks. That takes about as much, and saves the searches to come. */
static const ms_ses_lined *ms_near_lined(machsym_session *s, const ms_ses_span *span, uint32_t block)
{
    const ms_ses_unit *unit = span->unit;
    const ms_fn_inside *inside = span->inside;
    if (unit->lined == NULL || inside == NULL || unit->named.count != 0)
        return NULL;
    ms_ses_lines *lines = &unit->lined[span->function];
    uint32_t blocks = inside->table->blocks[inside->function].end - inside->function;
    if (lines->v == NULL && lines->vain >= blocks)
        lines->v = ms_near_list(s, span);
    return lines->v != NULL ? &lines->v[block - inside->function] : NULL;
}

/* Whether no code of a block has a line that fits its declaration, as far as that is listed. */
static bool ms_near_lacks_lines(machsym_session *s, const ms_ses_span *span, uint32_t block,
                                ms_near_decl decl)
{
    const ms_ses_lined *lined = ms_near_lined(s, span, block);
    if (lined == NULL)
        return false;
    if (lined->most == 0 || lined->most < decl.line)
        return true;
    return decl.file != ms_NEAR_ELSEWHERE && lined->file != ms_NEAR_SEVERAL && lined->file != decl.file &&
           !ms_near_same_path(span->unit->lines, lined->file, decl.file);
}

/* ---- Searches ---- */

/* Notes what a search found that went to the end of the code before: other addresses lead to the same. */
static void ms_near_note(const machsym_session *s, ms_ses_site *site, bool is_whole, uint64_t addr,
                         const ms_ses_place *after)
{
    if (ms_ses_failed(s) || s->env.lacks_units)
        return;
    site->has_no_lines |= after == NULL && is_whole;
    if (after != NULL) {
        site->after = *after;
        site->after_from = addr;
    }
}

/* The nearest line of a block before where a walk begins. *left: steps that it did not take. */
static bool ms_near_search_back(ms_near_walk w, ms_ses_place *out, uint32_t *left)
{
    bool found = false;
    while (!found && ms_near_go_back(&w))
        found = ms_near_fits(&w, out);
    out->from = MACHSYM_NEAR_BEFORE;
    *left = w.left;
    return found;
}

/* The same after it. */
static bool ms_near_search_on(ms_near_walk w, ms_ses_place *out, uint32_t *left)
{
    bool found = false;
    while (!found && ms_near_go_on(&w))
        found = ms_near_fits(&w, out);
    out->from = MACHSYM_NEAR_AFTER;
    *left = w.left;
    return found;
}

/* Whether a walk finds a line, from where it is on. */
static ms_NOINLINE bool ms_near_has_line(ms_near_walk *w)
{
    ms_ses_place place;
    do {
        if (ms_near_fits(w, &place))
            return true;
    } while (ms_near_go_on(w));
    return false;
}

/* Looks through all code of a block, once, when a search in it was given up: if no line fits anywhere, that
 * holds for all addresses. w begins where the search did. */
static ms_NOINLINE void ms_near_look_at_all(machsym_session *s, const ms_ses_span *span, ms_near_walk w,
                                            ms_ses_site *site)
{
    ms_near_decl decl = w.decl;
    bool is_done = site->is_looked_at;
    site->is_looked_at = true;
    if (is_done || !w.is_whole || s->looked_steps > ms_NEAR_ALL_STEPS ||
        !ms_near_begin(s, span, w.block, w.area.lo, &w))
        return;
    w.decl = decl;
    w.left = ms_NEAR_MOST_STEPS;
    bool found = ms_near_has_line(&w);
    s->looked_steps += ms_NEAR_MOST_STEPS - w.left;
    if (!found && w.left != 0)
        ms_near_note(s, site, true, w.area.lo, NULL);
}

/* The nearest line of a block before an address, else after it. decl is what it must fit, site what is
 * remembered of the block. Its code is walked through. */
static ms_NOINLINE bool ms_near_search_code(machsym_session *s, const ms_ses_span *span, uint32_t block,
                                            uint64_t addr, ms_near_decl decl, ms_ses_site *site,
                                            ms_ses_place *out)
{
    ms_near_walk w;
    ms_ses_place place;
    uint32_t left[2];
    if (!ms_near_begin(s, span, block, addr, &w))
        return false;
    w.decl = decl;
    w.left = MACHSYM_MAX_NEAR_STEPS;
    bool found = ms_near_search_back(w, &place, &left[0]);
    if (!found) {
        found = ms_near_search_on(w, &place, &left[1]);
        if (!found)
            ms_near_count_vain(s, span, 2 * MACHSYM_MAX_NEAR_STEPS - left[0] - left[1]);
        if (left[0] != 0 && left[1] != 0)
            ms_near_note(s, site, w.is_whole, addr, found ? &place : NULL);
        else if (!found)
            ms_near_look_at_all(s, span, w, site);
    }
    if (found)
        *out = place;
    return found;
}

/* The same, unless what is known of the block tells. */
static bool ms_near_search(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                           ms_near_decl decl, ms_ses_site *site, ms_ses_place *out)
{
    if (block == span->call && ms_near_is_all(span))
        return false;
    if (block == span->call && ms_near_take_row_before(span, addr, decl, out))
        return true;
    if (site == NULL || site->has_no_lines)
        return false;
    if (site->after.line != 0 && site->after_from <= addr && addr < site->after.addr) {
        *out = site->after;
        return true;
    }
    if (ms_near_lacks_lines(s, span, block, decl)) {
        ms_near_note(s, site, true, addr, NULL);
        return false;
    }
    return ms_near_search_code(s, span, block, addr, decl, site, out);
}

/* Whether a function has a line of its own that somebody wrote, in whatever file. */
static bool ms_near_look_for_lines(machsym_session *s, const ms_ses_span *span, uint32_t function)
{
    const ms_fn_block *block = &span->table->blocks[function];
    ms_near_decl any = {ms_NEAR_ELSEWHERE, 0};
    ms_near_walk w;
    uint32_t left = MACHSYM_MAX_NEAR_STEPS;
    for (size_t i = 0; i < block->range_count && left > 0; i++, left--) {
        if (!ms_near_begin(s, span, function, ms_fn_range(block, i).lo, &w))
            continue;
        w.left = left;
        w.decl = any;
        if (ms_near_has_line(&w))
            return true;
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
    if (!ms_near_is_written(span->unit, block->call_file, block->call_line))
        return false;
    ms_zero(out, sizeof *out);
    out->file = block->call_file;
    out->line = block->call_line;
    out->column = block->call_column;
    out->from = MACHSYM_NEAR_CALL;
    return true;
}

/* The function that an address lies in. */
static uint32_t ms_near_root(const ms_ses_span *span)
{
    return span->inside != NULL ? span->inside->function : span->function;
}

/* Finds a line for a block at an address, where it has none, from its callers: outwards to the function. */
static bool ms_near_find_outside(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                                 ms_near_decl own, ms_ses_site *site, ms_ses_place *out)
{
    const ms_fn_block *blocks = span->table->blocks;
    uint32_t root = ms_near_root(span);
    uint32_t at = block;
    if (own.line != 0 && block != root) { /* its own code was searched */
        if (ms_near_take_call(span, &blocks[block], out))
            return true;
        addr = blocks[block].lo;
        at = blocks[block].parent;
    }
    ms_near_decl whole = block == root ? own : ms_near_decl_of(s, span, root);
    if (own.line == 0 && whole.line == 0)
        return false;
    for (unsigned calls = at != block; calls <= MACHSYM_MAX_NEAR_CALLS && (at != root || whole.line != 0);
         calls++) {
        ms_near_decl decl = at == root ? whole : at == block ? own : ms_near_decl_of(s, span, at);
        ms_ses_site *at_site = at == block ? site : ms_near_site(s, blocks[at].die_off);
        if ((at != block || own.line == 0) &&
            ms_near_search(s, span, at, addr, decl.line != 0 ? decl : whole, at_site, out)) {
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

/* Notes the line that was found outside of a block, NULL: none, if all code of the block has it: none of that
 * has a line to take, or a compiler made both block and function. */
static void ms_near_note_outside(machsym_session *s, const ms_ses_span *span, uint32_t block,
                                 ms_near_decl own, ms_ses_site *site, const ms_ses_place *found)
{
    bool is_made = found == NULL && own.line == 0 && ms_near_decl_of(s, span, ms_near_root(span)).line == 0;
    bool is_there = site != NULL && site->die_off == span->table->blocks[block].die_off;
    if (!is_there || !(site->has_no_lines || is_made) || ms_ses_failed(s) || s->env.lacks_units)
        return;
    site->has_outside = true;
    if (found != NULL)
        site->outside = *found;
}

/* Finds a line for a block at an address where it has none. Returns false when there is none to tell. If no
 * code of the block decides, all of it has the same line. */
static bool ms_near_find(machsym_session *s, const ms_ses_span *span, uint32_t block, uint64_t addr,
                         ms_ses_place *out)
{
    const ms_fn_block *at = &span->table->blocks[block];
    const ms_fn_depth *depths = span->table->depths;
    ms_ses_place place;
    if (depths != NULL && depths[block].calls > MACHSYM_MAX_INLINE_DEPTH)
        return false;
    ms_ses_site *site = ms_near_site(s, at->die_off);
    if (site != NULL && site->has_outside) {
        if (site->outside.line != 0)
            *out = site->outside;
        return site->outside.line != 0;
    }
    ms_near_decl own = ms_near_decl_of(s, span, block);
    if (own.line != 0 && ms_near_search(s, span, block, addr, own, site, out))
        return true;
    bool found = ms_near_find_outside(s, span, block, addr, own, site, &place);
    if (found)
        *out = place;
    ms_near_note_outside(s, span, block, own, site, found ? &place : NULL);
    return found;
}

/* The same of a place that is not known to be plain. */
static ms_NOINLINE bool ms_near_is_bare(ms_ses_unit *unit, uint32_t file, uint32_t line)
{
    if (!unit->has_plain)
        ms_near_list_plain(unit);
    return line > ms_NEAR_MOST_LINE || !ms_near_is_written(unit, file, line);
}

/* Whether the people policy has another line than the debug info: where it has none that somebody wrote, or
 * one that is too large. */
static inline bool ms_near_is_wanted(const machsym_session *s, ms_ses_unit *unit, uint32_t file,
                                     uint32_t line)
{
    return s->lines == MACHSYM_LINES_PEOPLE && !ms_near_is_plain(unit, file, line) &&
           (line == 0 || ms_near_is_bare(unit, file, line));
}

static void ms_near_bound(ms_ses_place *place)
{
    place->line = place->line < ms_NEAR_MOST_LINE ? place->line : ms_NEAR_MOST_LINE;
}

/* Sets a place to a line near by, if it is wanted and there is one. */
static ms_NOINLINE void ms_near_improve(machsym_session *s, const ms_ses_span *span, uint32_t block,
                                        uint64_t addr, ms_ses_place *place)
{
    if (!ms_near_is_written(span->unit, place->file, place->line))
        ms_near_find(s, span, block, addr, place);
    ms_near_bound(place);
}

/* Whether the line that was asked for last is that of this address, too: it is the same for all of a
 * span. */
static inline bool ms_near_is_known(const ms_ses_near *last, const ms_ses_span *span, uint64_t addr)
{
    return last->lo <= addr && addr < last->hi && last->unit == span->unit &&
           last->function == span->function && last->call == span->call;
}

/* Finds where the code of an address comes from, whose row has no line that people need, and remembers it. */
static ms_NOINLINE void ms_near_find_row(machsym_session *s, const ms_ses_span *span, uint64_t addr)
{
    ms_ses_unit *unit = span->unit;
    const ms_ln_row *row = &unit->lines->rows[span->row];
    ms_ses_near *last = &s->last_near;
    ms_ses_place place = {row->file, row->line, row->column, MACHSYM_NEAR_NONE, 0};
    if (span->function != ms_SEG_NONE)
        ms_near_improve(s, span, span->call, addr, &place);
    ms_near_bound(&place);
    bool is_final = !ms_ses_failed(s) && !s->env.lacks_units && unit->named.count == 0;
    last->unit = unit;
    last->lo = addr;
    last->hi = is_final ? span->hi : addr;
    last->function = span->function;
    last->call = span->call;
    last->place = place;
    last->file = ms_ln_path(unit->lines, unit->comp_dir, place.file);
}

/* Where the code of an address comes from, whose row has no line that people need. The answer stays until the
 * session is asked again. */
static ms_INLINE const ms_ses_near *ms_near_wanted_row(machsym_session *s, const ms_ses_span *span,
                                                       uint64_t addr)
{
    if (!ms_near_is_known(&s->last_near, span, addr))
        ms_near_find_row(s, span, addr);
    return &s->last_near;
}

/* The same of any address: what the row says that answers, or a line near by. */
static ms_ses_place ms_near_row(machsym_session *s, const ms_ses_span *span, uint64_t addr)
{
    const ms_ln_row *row = &span->unit->lines->rows[span->row];
    ms_ses_place place = {row->file, row->line, row->column, MACHSYM_NEAR_NONE, 0};
    if (ms_near_is_wanted(s, span->unit, place.file, place.line))
        return ms_near_wanted_row(s, span, addr)->place;
    return place;
}

/* Where a call is, which is inlined, and whose entry has no line that people need. */
static ms_NOINLINE ms_ses_place ms_near_find_call(machsym_session *s, const ms_ses_span *span, uint32_t call)
{
    const ms_fn_block *block = &span->table->blocks[call];
    ms_ses_place place = {block->call_file, block->call_line, block->call_column, MACHSYM_NEAR_NONE, 0};
    ms_ses_site *site = ms_near_site(s, block->die_off);
    if (site != NULL && site->has_call)
        return site->call;
    ms_near_improve(s, span, block->parent, block->lo, &place);
    if (site != NULL && site->die_off == block->die_off) { /* others may have taken its place */
        site->call = place;
        site->has_call = !s->env.lacks_units;
    }
    return place;
}

/* The call of an entry, if its place was found before. */
static ms_INLINE const ms_ses_place *ms_near_known_call(const machsym_session *s, const ms_fn_block *block)
{
    const ms_ses_site *site = s->sites != NULL ? ms_near_slot(s, block->die_off) : NULL;
    return site != NULL && site->die_off == block->die_off && site->has_call ? &site->call : NULL;
}

/* Where a call is, which is inlined: what its entry says, or a line near by. That is found from where the
 * code of the call begins, so that it is the same for all of the call. */
static ms_ses_place ms_near_call(machsym_session *s, const ms_ses_span *span, uint32_t call)
{
    const ms_fn_block *block = &span->table->blocks[call];
    ms_ses_place place = {block->call_file, block->call_line, block->call_column, MACHSYM_NEAR_NONE, 0};
    return ms_near_is_wanted(s, span->unit, place.file, place.line) ? ms_near_find_call(s, span, call)
                                                                    : place;
}

#endif /* ms_ROOM_answer_near */
