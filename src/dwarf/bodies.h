#ifndef ms_ROOM_dwarf_bodies
#define ms_ROOM_dwarf_bodies
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "forms.h"
#include "units.h"
#include "lines.h"
#include "functions.h"

/* ==== >>bodies =============================================================================================
 * Job:    finds the rows of each function of a unit in which functions share their code.
 * Offers: ms_body_twins, ms_body_list, ms_body_rows_of, ms_BODY_ALL_ROWS, ms_BODY_NO_ROWS.
 * Never:  gives a function the rows of another one. */

#define ms_BODY_ALL_ROWS UINT32_MAX       /* the code has one sequence of rows, or too many to tell */
#define ms_BODY_NO_ROWS  (UINT32_MAX - 1) /* no sequence stands for the function */

/* The twins whose code begins at an address: *count of them, from the number on that is returned. */
static size_t ms_body_twins(const ms_fn_table *functions, uint64_t lo, size_t *count)
{
    const ms_key *v = functions->twins;
    size_t first = ms_lower_bound(v, functions->twin_count, sizeof *v, lo);
    *count = ms_upper_bound(v, functions->twin_count, sizeof *v, lo) - first;
    return first;
}

/* The functions of a unit by their code, and the sequence of rows of each. */
typedef struct ms_body_rows {
    ms_key *v; /* first address, block: in the order of blocks at one address */
    size_t count;
    uint32_t *rows;
} ms_body_rows;

/* What a search for rows needs. */
typedef struct ms_body_work {
    ms_cu_env *env;
    const ms_cu_root *root;
    const ms_fn_table *functions;
    const ms_key *v; /* the functions, as in the list */
    const ms_ln_table *lines;
    ms_arena *scratch;
    ms_key *by_off;  /* sequences in the order of the program */
    ms_key *by_lo;   /* sequences by their begin */
    uint64_t *reach; /* by that order: the largest end so far */
    ms_key *decls;   /* file and line, number in the group: twins of the group by their declaration */
    ms_key *found;   /* place in the program, sequence: those that have the group's code */
    size_t found_count;
    uint32_t *votes; /* by twin of the group */
    uint32_t *best;  /* by twin of the group: the votes of its sequence */
    bool *is_taken;  /* by sequence: a twin of the group has it */
    uint64_t budget; /* steps that are left */
    uint32_t *rows;  /* by twin: its sequence */
} ms_body_work;

/* ---- The sequence that the debug info names ---- */

/* The sequence that DW_AT_LLVM_stmt_sequence of a function leads to. dsymutil joins sequences, so it may lead
 * into the middle of one. An offset outside of the unit's lines leads nowhere.
 * seen: dsymutil 22 writes 0xffffffff for a sequence that it does not find, as after LTO. */
static uint32_t ms_body_stated(const ms_body_work *w, const ms_fn_block *block)
{
    static const uint16_t list[] = {ms_DW_AT_LLVM_stmt_sequence};
    const ms_cu_root *root = w->root;
    const ms_ln_table *lines = w->lines;
    ms_dw_value value;
    ms_rd rd = ms_rd_make(ms_span_sub(w->env->dw->info, block->die_off, root->enc.unit_end - block->die_off));
    const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(root->abbrevs, ms_rd_uleb(&rd));
    if (abbrev == NULL ||
        !ms_dw_read_listed(w->env->dw, root->abbrevs, abbrev, &rd, &root->enc, list, 1, &value) ||
        value.form == 0 || value.u - root->line_off >= lines->size)
        return ms_BODY_NO_ROWS;
    size_t at = ms_upper_bound(w->by_off, lines->seq_count, sizeof *w->by_off, value.u);
    if (at == 0)
        return ms_BODY_NO_ROWS;
    size_t number = (size_t)w->by_off[at - 1].item;
    const ms_ln_seq *seq = &lines->seqs[number];
    return seq->lo <= block->lo && block->lo < seq->hi ? (uint32_t)number : ms_BODY_NO_ROWS;
}

/* ---- The sequence that stands for a function ---- */

/* The first row of a sequence that is not below an address. */
static size_t ms_body_row_from(const ms_ln_table *lines, const ms_ln_seq *seq, uint64_t addr)
{
    return seq->first + ms_lower_bound(&lines->rows[seq->first], seq->count, sizeof *lines->rows, addr);
}

/* Lists the sequences that have a row where the group's code begins, unless a twin has one already. */
static void ms_body_find_sequences(ms_body_work *w, uint64_t lo)
{
    const ms_ln_table *lines = w->lines;
    size_t at = ms_upper_bound(w->by_lo, lines->seq_count, sizeof *w->by_lo, lo);
    w->found_count = 0;
    for (; at > 0 && w->reach[at - 1] > lo && w->budget > 0; at--) {
        size_t number = (size_t)w->by_lo[at - 1].item;
        const ms_ln_seq *seq = &lines->seqs[number];
        MACHSYM_COUNT_WORK(1);
        w->budget--;
        if (w->is_taken[number] || seq->hi <= lo || lines->rows[ms_body_row_from(lines, seq, lo)].addr != lo)
            continue;
        w->found[w->found_count].key = seq->off;
        w->found[w->found_count++].item = number;
    }
    for (size_t i = 0, j = w->found_count; i + 1 < j; i++) { /* by their begin again, then by their place */
        ms_key swap = w->found[i];
        w->found[i] = w->found[--j];
        w->found[j] = swap;
    }
}

/* Lists the twins of a group by where they were written. */
static size_t ms_body_list_decls(ms_body_work *w, size_t first, size_t end, ms_key *room)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const ms_fn_block *block = &w->functions->blocks[w->v[i].item];
        ms_fn_decl decl = ms_fn_names_of(w->env, block->die_off, true).decl;
        if (w->rows[i] != ms_BODY_NO_ROWS || decl.root != w->root || decl.line == 0 ||
            decl.line > UINT32_MAX || decl.file > UINT32_MAX)
            continue;
        w->decls[count].key = decl.file << 32 | decl.line;
        w->decls[count++].item = i - first;
    }
    ms_sort(w->decls, count, room);
    return count;
}

/* The twin that a line counts for: the one that is declared last before it. count: of twins with a
 * declaration. Returns its number in the group; ms_SEG_NONE when there is none. */
static uint32_t ms_body_twin_of_line(const ms_body_work *w, const ms_ln_row *row, size_t count)
{
    uint64_t key = (uint64_t)row->file << 32 | row->line;
    size_t at = row->line == 0 ? 0 : ms_upper_bound(w->decls, count, sizeof *w->decls, key);
    bool is_declared = at != 0 && w->decls[at - 1].key >> 32 == row->file;
    return is_declared ? (uint32_t)w->decls[at - 1].item : ms_SEG_NONE;
}

/* The twin that most rows from first to before end count for, with their number; ms_SEG_NONE when none does.
 * All votes are 0, before and after. */
static uint32_t ms_body_voted(ms_body_work *w, size_t first, size_t end, size_t count, uint32_t *votes)
{
    const ms_ln_row *rows = w->lines->rows;
    uint32_t best = ms_SEG_NONE;
    *votes = 0;
    for (size_t i = first; i < end; i++) {
        uint32_t twin = ms_body_twin_of_line(w, &rows[i], count);
        MACHSYM_COUNT_WORK(1);
        if (twin == ms_SEG_NONE || ++w->votes[twin] <= *votes)
            continue;
        *votes = w->votes[twin];
        best = twin;
    }
    for (size_t i = first; i < end; i++) {
        uint32_t twin = ms_body_twin_of_line(w, &rows[i], count);
        if (twin != ms_SEG_NONE)
            w->votes[twin] = 0;
    }
    return best;
}

/* Gives the twins of a group the sequences whose lines are theirs. */
static void ms_body_vote(ms_body_work *w, size_t first, size_t end, size_t count)
{
    const ms_fn_block *block = &w->functions->blocks[w->v[first].item];
    ms_zero(w->best, (end - first) * sizeof *w->best);
    for (size_t i = 0; i < w->found_count; i++) {
        size_t number = (size_t)w->found[i].item;
        const ms_ln_seq *seq = &w->lines->seqs[number];
        size_t from = ms_body_row_from(w->lines, seq, block->lo);
        size_t to = ms_body_row_from(w->lines, seq, block->hi < seq->hi ? block->hi : seq->hi);
        uint32_t votes;
        w->budget -= w->budget < to - from ? w->budget : to - from;
        uint32_t twin = w->budget > 0 ? ms_body_voted(w, from, to, count, &votes) : ms_SEG_NONE;
        if (twin == ms_SEG_NONE || votes <= w->best[twin])
            continue;
        if (w->best[twin] != 0)
            w->is_taken[w->rows[first + twin]] = false;
        w->best[twin] = votes;
        w->rows[first + twin] = (uint32_t)number;
        w->is_taken[number] = true;
    }
}

/* Pairs the twins that are left with the sequences that are left, if there are as many. dsymutil puts a
 * sequence before those of the same address that it has already; the sequences of an object file stand in the
 * order of its code. */
static void ms_body_pair(ms_body_work *w, size_t first, size_t end)
{
    size_t twins = 0;
    size_t left = 0;
    for (size_t i = 0; i < w->found_count; i++) {
        if (!w->is_taken[w->found[i].item])
            w->found[left++] = w->found[i];
    }
    for (size_t i = first; i < end; i++)
        twins += w->rows[i] == ms_BODY_NO_ROWS;
    if (twins != left)
        return;
    for (size_t i = first, at = 0; i < end; i++) {
        if (w->rows[i] != ms_BODY_NO_ROWS)
            continue;
        size_t from = w->env->dw->moves != NULL ? at : left - 1 - at;
        w->rows[i] = (uint32_t)w->found[from].item;
        at++;
    }
}

/* Takes what its debug info states of the twins of one body, then looks for the sequences of the others. */
static void ms_body_find_group(ms_body_work *w, size_t first, size_t end, ms_key *room)
{
    const ms_fn_block *block = &w->functions->blocks[w->v[first].item];
    size_t known = 0;
    for (size_t i = first; i < end; i++) {
        w->rows[i] = ms_body_stated(w, &w->functions->blocks[w->v[i].item]);
        if (w->rows[i] == ms_BODY_NO_ROWS)
            continue;
        w->is_taken[w->rows[i]] = true;
        known++;
    }
    if (known == end - first)
        return;
    ms_body_find_sequences(w, block->lo);
    ms_sort(w->found, w->found_count, room);
    bool is_one = known + w->found_count < 2;
    if (!is_one) {
        ms_body_vote(w, first, end, ms_body_list_decls(w, first, end, room));
        ms_body_pair(w, first, end);
    }
    for (size_t i = first; i < end && (is_one || w->budget == 0); i++)
        w->rows[i] = w->found_count == 1 && end - first == 1 ? (uint32_t)w->found[0].item : ms_BODY_ALL_ROWS;
}

/* Makes what all groups need. Returns false when memory is out. */
static bool ms_body_begin(ms_body_work *w, ms_key *room)
{
    const ms_ln_table *lines = w->lines;
    for (size_t i = 0; i < lines->seq_count; i++) {
        w->by_off[i].key = lines->seqs[i].off;
        w->by_lo[i].key = lines->seqs[i].lo;
        w->by_off[i].item = w->by_lo[i].item = i;
    }
    ms_sort(w->by_off, lines->seq_count, room);
    ms_sort(w->by_lo, lines->seq_count, room);
    for (size_t i = 0; i < lines->seq_count; i++) {
        w->reach[i] = lines->seqs[w->by_lo[i].item].hi;
        if (i > 0)
            ms_raise_to(&w->reach[i], w->reach[i - 1]);
    }
    return !w->scratch->oom;
}

/* Lists the functions of a unit whose code is one range, by that. Returns false when memory is out. */
static bool ms_body_list_functions(const ms_fn_table *functions, ms_arena *scratch, ms_arena *arena,
                                   ms_body_rows *out)
{
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, functions->function_count, sizeof *room);
    out->v = (ms_key *)ms_arena_alloc(arena, functions->function_count, sizeof *out->v);
    out->rows = (uint32_t *)ms_arena_alloc(arena, functions->function_count, sizeof *out->rows);
    out->count = 0;
    if (room == NULL || out->v == NULL || out->rows == NULL)
        return false;
    for (size_t i = 0; i < functions->count && out->count < functions->function_count; i++) {
        const ms_fn_block *block = &functions->blocks[i];
        if (block->parent != ms_SEG_NONE || block->range_count != 1)
            continue;
        out->v[out->count].key = block->lo;
        out->v[out->count++].item = i;
    }
    ms_sort(out->v, out->count, room);
    return true;
}

/* Finds the sequence of each function of a unit: the one that DW_AT_LLVM_stmt_sequence states, else the one
 * whose lines are those of the function. Work is done in scratch; the result comes from arena. Returns false
 * when memory is out. */
static bool ms_body_list(ms_cu_env *env, const ms_cu_root *root, const ms_fn_table *functions,
                         const ms_ln_table *lines, ms_arena *scratch, ms_arena *arena, ms_body_rows *out)
{
    ms_body_work w;
    ms_zero(&w, sizeof w);
    if (!ms_body_list_functions(functions, scratch, arena, out))
        return false;
    size_t most = out->count > lines->seq_count ? out->count : lines->seq_count;
    w.env = env;
    w.root = root;
    w.functions = functions;
    w.lines = lines;
    w.scratch = scratch;
    w.v = out->v;
    w.rows = out->rows;
    w.budget = MACHSYM_BODY_WORK * (uint64_t)(out->count + lines->row_count + 1);
    w.by_off = (ms_key *)ms_arena_alloc(scratch, lines->seq_count, sizeof(ms_key));
    w.by_lo = (ms_key *)ms_arena_alloc(scratch, lines->seq_count, sizeof(ms_key));
    w.reach = (uint64_t *)ms_arena_alloc(scratch, lines->seq_count, sizeof *w.reach);
    w.found = (ms_key *)ms_arena_alloc(scratch, lines->seq_count, sizeof(ms_key));
    w.decls = (ms_key *)ms_arena_alloc(scratch, out->count, sizeof(ms_key));
    w.votes = (uint32_t *)ms_arena_zeroed(scratch, out->count, sizeof *w.votes);
    w.is_taken = (bool *)ms_arena_zeroed(scratch, lines->seq_count, sizeof *w.is_taken);
    w.best = (uint32_t *)ms_arena_alloc(scratch, out->count, sizeof *w.best);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, most, sizeof *room);
    if (scratch->oom || !ms_body_begin(&w, room))
        return false;
    for (size_t first = 0, end; first < out->count; first = end) {
        for (end = first + 1; end < out->count && out->v[end].key == out->v[first].key;)
            end++;
        ms_body_find_group(&w, first, end, room);
        for (size_t i = first; i < end; i++) { /* sequences that were joined have code of several groups */
            if (w.rows[i] < ms_BODY_NO_ROWS)
                w.is_taken[w.rows[i]] = false;
        }
    }
    return true;
}

/* The sequence of a function. */
static uint32_t ms_body_rows_of(const ms_body_rows *list, const ms_fn_table *functions, uint32_t function)
{
    const ms_key *v = list->v;
    uint64_t lo = functions->blocks[function].lo;
    size_t first = ms_lower_bound(v, list->count, sizeof *v, lo);
    size_t count = ms_upper_bound(v, list->count, sizeof *v, lo) - first;
    size_t at = count == 0 ? 0 : ms_lower_bound(&v[first].item, count, sizeof *v, function);
    bool is_there = at < count && v[first + at].item == function;
    return is_there ? list->rows[first + at] : ms_BODY_ALL_ROWS;
}

#endif /* ms_ROOM_dwarf_bodies */
