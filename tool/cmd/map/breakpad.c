/* machsym map export --format=breakpad: the text that minidump services read. Addresses count from the
 * image's base; all numbers but lines, files and depths are hexadecimal. Records: FILE, INLINE_ORIGIN, FUNC
 * with INLINE and lines, PUBLIC. */
#include "formats.h"
#include "../../../report/base/memory.h"
#include "../../symbols/frames.h"
#include "../../symbols/map_budget.h"

#include <stdlib.h>
#include <string.h>

/* How many places of a table are looked at for a text; real texts need ten. Those of a hostile map can be
 * made to meet at one place: past the limit a text gets another number each time. */
enum { MOST_PROBES = 128 };

/* Texts and their numbers, in the order they were first asked for. */
typedef struct numbered {
    const char *record; /* what is written when a new one comes */
    text texts;
    size_t *ends; /* of text i in texts */
    size_t count;
    size_t cap;
    uint32_t *table; /* number + 1, by a hash */
    size_t table_cap;
} numbered;

/* A call inlined into the function at hand, over one range. */
typedef struct inlined_call {
    size_t depth;
    uint64_t lo;
    uint64_t hi;
    size_t origin;
    size_t file; /* of the call */
    uint32_t line;
} inlined_call;

typedef struct breakpad {
    const symbol_file *file;
    map_budget budget;
    frame_style style;
    symbol_source *source;
    machsym_frame *frames;
    size_t frame_count;
    numbered files;
    numbered origins;
    outfile *out;
    text *t;
    /* the function at hand, and its records so far */
    bool has_function;
    uint64_t start; /* function_start of the frames: what tells one function from the next */
    uint64_t lo;
    uint64_t hi;
    text name;
    text lines;
    inlined_call *calls; /* as they begin, so that an outer one stands before what it holds */
    size_t call_count;
    size_t call_cap;
    size_t open[MAP_MAX_FRAMES]; /* of calls, those that hold the range at hand, outermost first */
    size_t open_count;
    uint64_t line_lo;
    size_t line_file;
    uint32_t line;
} breakpad;

/* ---- Numbers for texts ---- */

static machsym_str breakpad_numbered_text(const numbered *n, size_t i)
{
    size_t from = i > 0 ? n->ends[i - 1] : 0;
    return (machsym_str){n->texts.v + from, n->ends[i] - from};
}

/* Where the number of a text stands, or goes; NULL: there is no place for it. */
static uint32_t *breakpad_numbered_slot(const numbered *n, const char *ptr, size_t len)
{
    uint64_t hash = str_hash(str_make(ptr, len));
    size_t at = (size_t)(hash ^ hash >> 32) & (n->table_cap - 1);
    for (size_t i = 0; i < MOST_PROBES; i++, at = (at + 1) & (n->table_cap - 1)) {
        MACHSYM_COUNT_WORK(1);
        if (n->table[at] == 0)
            return &n->table[at];
        machsym_str have = breakpad_numbered_text(n, n->table[at] - 1);
        if (have.len == len && (len == 0 || memcmp(have.ptr, ptr, len) == 0))
            return &n->table[at];
    }
    return NULL;
}

static void breakpad_numbered_grow(numbered *n)
{
    n->cap = n->cap == 0 ? 256 : n->cap * 2;
    n->ends = mem_grow(n->ends, n->cap * sizeof *n->ends);
    n->table_cap = n->cap * 2;
    n->table = mem_grow(n->table, n->table_cap * sizeof *n->table);
    memset(n->table, 0, n->table_cap * sizeof *n->table);
    for (size_t i = 0; i < n->count; i++) {
        machsym_str have = breakpad_numbered_text(n, i);
        uint32_t *slot = breakpad_numbered_slot(n, have.ptr, have.len);
        if (slot != NULL)
            *slot = (uint32_t)i + 1;
    }
}

/* The number of a text; a new one is written as a record at once, so that it stands before its use. */
static size_t breakpad_number_of(numbered *n, const text *t, text *records)
{
    if (n->count == n->cap)
        breakpad_numbered_grow(n);
    uint32_t *slot = breakpad_numbered_slot(n, t->v, t->len);
    if (slot != NULL && *slot != 0)
        return *slot - 1;
    text_add(&n->texts, t->v, t->len);
    n->ends[n->count] = n->texts.len;
    n->count++;
    if (slot != NULL)
        *slot = (uint32_t)n->count;
    text_c(records, n->record);
    text_char(records, ' ');
    text_dec(records, n->count - 1);
    text_char(records, ' ');
    text_add(records, t->v, t->len);
    text_char(records, '\n');
    return n->count - 1;
}

static void breakpad_numbered_free(numbered *n)
{
    text_free(&n->texts);
    free(n->ends);
    free(n->table);
}

static size_t breakpad_file_of(breakpad *b, const machsym_frame *frame)
{
    text path = {0};
    frame_put_file(&path, frame, true);
    text_escape(&path, 0);
    if (path.len == 0)
        text_c(&path, "<unknown>");
    size_t number = breakpad_number_of(&b->files, &path, b->t);
    text_free(&path);
    return number;
}

static void breakpad_name_of(breakpad *b, const machsym_frame *frame, text *name)
{
    frame_put_name(name, frame, &b->style);
    text_escape(name, 0);
    if (name->len == 0)
        text_c(name, "<name omitted>");
    budget_spend(&b->budget, name->len);
}

static size_t breakpad_origin_of(breakpad *b, const machsym_frame *frame)
{
    text name = {0};
    breakpad_name_of(b, frame, &name);
    size_t number = breakpad_number_of(&b->origins, &name, b->t);
    text_free(&name);
    return number;
}

/* ---- One function ---- */

static uint64_t breakpad_from_base(const breakpad *b, uint64_t addr)
{
    return addr - b->file->info.text_addr;
}

/* INLINE depth line file origin address size */
static void breakpad_put_call(breakpad *b, const inlined_call *call)
{
    text_c(b->t, "INLINE ");
    text_dec(b->t, call->depth);
    text_char(b->t, ' ');
    text_dec(b->t, call->line);
    text_char(b->t, ' ');
    text_dec(b->t, call->file);
    text_char(b->t, ' ');
    text_dec(b->t, call->origin);
    text_char(b->t, ' ');
    text_hex(b->t, breakpad_from_base(b, call->lo), 1);
    text_char(b->t, ' ');
    text_hex(b->t, call->hi - call->lo, 1);
    text_char(b->t, '\n');
}

/* address size line file */
static void breakpad_close_line(breakpad *b)
{
    if (b->line_lo == b->hi)
        return;
    text_hex(&b->lines, breakpad_from_base(b, b->line_lo), 1);
    text_char(&b->lines, ' ');
    text_hex(&b->lines, b->hi - b->line_lo, 1);
    text_char(&b->lines, ' ');
    text_dec(&b->lines, b->line);
    text_char(&b->lines, ' ');
    text_dec(&b->lines, b->line_file);
    text_char(&b->lines, '\n');
    b->line_lo = b->hi;
}

/* FUNC address size parameter-size name */
static void breakpad_close_function(breakpad *b)
{
    if (!b->has_function)
        return;
    breakpad_close_line(b);
    text_c(b->t, "FUNC ");
    text_hex(b->t, breakpad_from_base(b, b->lo), 1);
    text_char(b->t, ' ');
    text_hex(b->t, b->hi - b->lo, 1);
    text_c(b->t, " 0 ");
    text_add(b->t, b->name.v, b->name.len);
    text_char(b->t, '\n');
    for (size_t i = 0; i < b->call_count; i++)
        breakpad_put_call(b, &b->calls[i]);
    text_add(b->t, b->lines.v, b->lines.len);
    b->name.len = b->lines.len = 0;
    b->call_count = b->open_count = 0;
    b->has_function = false;
    outfile_flush(b->out, b->t);
}

static void breakpad_open_call(breakpad *b, const inlined_call *call)
{
    b->calls = mem_room(b->calls, b->call_count, &b->call_cap, sizeof *b->calls);
    b->open_count = call->depth;
    b->open[b->open_count++] = b->call_count;
    b->calls[b->call_count++] = *call;
}

/* Sets the open calls to those of the frames. A call that continues is extended. */
static void breakpad_set_calls(breakpad *b, const machsym_map_range *range)
{
    size_t depth = 0;
    bool same = true;
    for (size_t i = b->frame_count - 1; i-- > 0 && !b->budget.is_spent; depth++) {
        const machsym_frame *caller = &b->frames[i + 1];
        inlined_call call = {depth,
                             range->lo,
                             range->hi,
                             breakpad_origin_of(b, &b->frames[i]),
                             breakpad_file_of(b, caller),
                             caller->line};
        const inlined_call *before = depth < b->open_count ? &b->calls[b->open[depth]] : NULL;
        same = same && before != NULL && before->origin == call.origin && before->file == call.file &&
               before->line == call.line;
        if (same)
            b->calls[b->open[depth]].hi = range->hi;
        else
            breakpad_open_call(b, &call);
    }
    b->open_count = depth;
}

static void breakpad_set_line(breakpad *b, const machsym_map_range *range)
{
    const machsym_frame *inner = &b->frames[0];
    if (!frame_has_line(inner)) {
        breakpad_close_line(b);
        b->line_lo = b->hi = range->hi;
        return;
    }
    size_t file = breakpad_file_of(b, inner);
    if (file == b->line_file && inner->line == b->line && b->line_lo != b->hi) {
        b->hi = range->hi;
        return;
    }
    breakpad_close_line(b);
    b->line_lo = range->lo;
    b->line_file = file;
    b->line = inner->line;
    b->hi = range->hi;
}

static void breakpad_add_range(breakpad *b, const machsym_map_range *range)
{
    const machsym_frame *real = &b->frames[b->frame_count - 1];
    if (b->has_function && (real->function_start != b->start || range->lo != b->hi))
        breakpad_close_function(b);
    if (!b->has_function) {
        b->has_function = true;
        b->start = real->function_start;
        b->lo = b->hi = b->line_lo = range->lo;
        breakpad_name_of(b, real, &b->name);
    }
    breakpad_set_calls(b, range);
    breakpad_set_line(b, range);
}

/* PUBLIC address parameter-size name, once for every symbol: a range may go on after debug info. */
static void breakpad_add_symbol(breakpad *b, uint64_t *last)
{
    const machsym_frame *frame = &b->frames[0];
    if (frame->function_start == *last || (frame->linkage_name.len == 0 && frame->name.len == 0))
        return;
    *last = frame->function_start;
    text_c(b->t, "PUBLIC ");
    text_hex(b->t, breakpad_from_base(b, frame->function_start), 1);
    text_c(b->t, " 0 ");
    text name = {0};
    breakpad_name_of(b, frame, &name);
    text_add(b->t, name.v, name.len);
    text_char(b->t, '\n');
    text_free(&name);
    outfile_flush(b->out, b->t);
}

/* MODULE mac cpu id name; the id is the UUID and an age of 0. */
static void breakpad_put_module(breakpad *b)
{
    const symbol_info *info = &b->file->info;
    text_c(b->t, "MODULE mac ");
    text_c(b->t, strcmp(info->arch, "i386") == 0 ? "x86" : info->arch);
    text_char(b->t, ' ');
    for (size_t i = 0; i < 16; i++) {
        text_char(b->t, "0123456789ABCDEF"[info->uuid.v[i] >> 4]);
        text_char(b->t, "0123456789ABCDEF"[info->uuid.v[i] & 15]);
    }
    text_c(b->t, "0 ");
    text_shown(b->t, info->name);
    text_char(b->t, '\n');
    if (info->is_damaged) /* readers pass by what they do not know after INFO */
        text_c(b->t, "INFO DAMAGED made of a damaged file\n");
}

static void breakpad_for_each_range(breakpad *b, bool symbols)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    uint64_t last = UINT64_MAX;
    while (!b->budget.is_spent && machsym_map_next(b->file->map, &at, &range)) {
        if (range.is_symbol != symbols)
            continue;
        b->frame_count = budget_frames(&b->budget, b->source, range.lo, b->frames);
        if (b->frame_count > 0 && symbols)
            breakpad_add_symbol(b, &last);
        else if (b->frame_count > 0)
            breakpad_add_range(b, &range);
    }
    breakpad_close_function(b);
}

bool export_breakpad(const symbol_file *file, const frame_style *style, outfile *out, text *t)
{
    breakpad *b = mem_alloc(sizeof *b);
    memset(b, 0, sizeof *b);
    b->file = file;
    b->budget = budget_of(file, 1);
    b->style = *style;
    b->style.source = b->source = symbol_source_open(file, 0, 0);
    b->frames = mem_alloc(MAP_MAX_FRAMES * sizeof *b->frames);
    b->files.record = "FILE";
    b->origins.record = "INLINE_ORIGIN";
    b->out = out;
    b->t = t;
    breakpad_put_module(b);
    breakpad_for_each_range(b, false);
    breakpad_for_each_range(b, true);
    bool ok = !b->budget.is_spent;
    symbol_source_close(b->source);
    breakpad_numbered_free(&b->files);
    breakpad_numbered_free(&b->origins);
    text_free(&b->name);
    text_free(&b->lines);
    free(b->calls);
    free(b->frames);
    free(b);
    return ok;
}
