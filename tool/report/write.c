/* The report in its own format: names are spliced into the input, every other byte stays. */
#include "write.h"

#include <stdlib.h>
#include <string.h>

/* A piece of the body that gives way to a piece of added text. */
typedef struct edit {
    size_t at;
    size_t end;
    size_t text_at;
    size_t text_end;
} edit;

/* All edits of a report. */
typedef struct writer {
    const report *r;
    const write_options *how;
    edit *edits;
    size_t count;
    size_t cap;
    text added;
    text part; /* a name or place before it is escaped */
} writer;

static void edit_open(writer *w, size_t at, size_t end)
{
    if (w->count == w->cap) {
        w->cap = w->cap == 0 ? 64 : w->cap * 2;
        w->edits = tool_grow(w->edits, w->cap * sizeof *w->edits);
    }
    w->edits[w->count++] = (edit){at, end, w->added.len, w->added.len};
}

static void edit_close(writer *w)
{
    w->edits[w->count - 1].text_end = w->added.len;
}

/* ---- Added text ---- */

void text_call_place(text *t, const report_call *call, bool full_path)
{
    text_str(t, full_path ? call->path : str_base_name(call->path));
    text_char(t, ':');
    text_dec(t, call->line);
}

static void add_html(text *t, machsym_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '<')
            text_c(t, "&lt;");
        else if (s.ptr[i] == '>')
            text_c(t, "&gt;");
        else if (s.ptr[i] == '&')
            text_c(t, "&amp;");
        else
            text_char(t, s.ptr[i]);
    }
}

/* Moves w->part into the added text, escaped as the frame's surroundings are. */
static void add_part(writer *w, const report_frame *frame)
{
    machsym_str part = {w->part.v, w->part.len};
    if (frame->escape == ESCAPE_HTML) {
        add_html(&w->added, part);
    } else if (frame->escape == ESCAPE_JSON) {
        size_t at = w->added.len;
        text_json(&w->added, part); /* without its quotes */
        memmove(w->added.v + at, w->added.v + at + 1, part.len == 0 ? 0 : w->added.len - at - 2);
        w->added.len -= 2;
    } else {
        text_str(&w->added, part);
    }
    w->part.len = 0;
}

static void add_body(writer *w, size_t at, size_t end)
{
    text_add(&w->added, w->r->body + at, end - at);
}

/* The newline that ends the frame's line, or the usual one. */
static void add_newline(writer *w, const report_frame *frame)
{
    size_t at = frame->end;
    const report *r = w->r;
    if (frame->escape == ESCAPE_JSON) {
        text_c(&w->added, "\\n");
        return;
    }
    while (at < r->len && (r->shadow[at] == ' ' || r->shadow[at] == '\t'))
        at++;
    if (at < r->len && r->body[at] == '\r')
        text_c(&w->added, at + 1 < r->len && r->body[at + 1] == '\n' ? "\r\n" : "\r");
    else
        text_char(&w->added, '\n');
}

/* ---- Numbered frames ---- */

/* "NAME + 12"; inlined calls have no offset. */
static void put_function(text *t, const report_call *call)
{
    text_str(t, call->name);
    if (!call->is_inline) {
        text_c(t, " + ");
        text_dec(t, call->offset);
    }
}

/* " (File.m:34)" */
static void put_place(writer *w, const report_call *call)
{
    if (!call->has_line)
        return;
    text_c(&w->part, " (");
    text_call_place(&w->part, call, w->how->full_path);
    text_char(&w->part, ')');
}

/* What stands at the very end of a line: " [OWNER]", " [inlined]". */
static void put_tail(text *t, const report_call *call)
{
    if (call->owner.len > 0) {
        text_c(t, " [");
        text_str(t, call->owner);
        text_char(t, ']');
    }
    text_c(t, call->is_inline ? " [inlined]" : "");
}

/* "NAME + 12 (File.m:34)" */
static void put_classic(writer *w, const report_frame *frame, const report_call *call)
{
    put_function(&w->part, call);
    if (call->has_line && frame->form == FORM_LEAKS) {
        text_c(&w->part, "  ");
        text_call_place(&w->part, call, w->how->full_path);
    } else {
        put_place(w, call);
    }
    put_tail(&w->part, call);
    add_part(w, frame);
}

/* "(NAME + 12) (File.m:34)" behind the address that stays. */
static void put_side(writer *w, const report_frame *frame, const report_call *call)
{
    text_c(&w->part, " (");
    put_function(&w->part, call);
    text_char(&w->part, ')');
    put_place(w, call);
    put_tail(&w->part, call);
    add_part(w, frame);
}

/* "NAME + 12 (in Image) (File.m:34)" behind an address that stands alone. */
static void put_list(writer *w, const report_frame *frame, const report_call *call)
{
    put_function(&w->part, call);
    text_c(&w->part, " (in ");
    text_str(&w->part, w->r->images[frame->image].name);
    text_char(&w->part, ')');
    put_place(w, call);
    put_tail(&w->part, call);
    add_part(w, frame);
}

static void put_numbered(writer *w, const report_frame *frame, const report_call *call)
{
    bool gap = frame->symbol_at > 0 && frame->form != FORM_SIDE &&
               w->r->shadow[frame->symbol_at - 1] != ' ' && w->r->shadow[frame->symbol_at - 1] != '\t';
    if (gap)
        text_char(&w->added, ' ');
    if (frame->form == FORM_SIDE)
        put_side(w, frame, call);
    else if (frame->form == FORM_LIST)
        put_list(w, frame, call);
    else
        put_classic(w, frame, call);
}

/* Inlined calls get lines of their own, which begin as the frame's line does: before it, or behind it in
 * stacks that list callers first. */
static void write_numbered(writer *w, const report_frame *frame)
{
    const report_call *calls = &w->r->calls[frame->call];
    uint32_t real = frame->call_count - 1;
    bool callers_first = w->r->threads[frame->thread].callers_first;
    if (!callers_first && real > 0) {
        edit_open(w, frame->at, frame->at);
        for (uint32_t i = 0; i < real; i++) {
            add_body(w, frame->at, frame->symbol_at);
            put_numbered(w, frame, &calls[i]);
            add_newline(w, frame);
        }
        edit_close(w);
    }
    edit_open(w, frame->symbol_at, frame->symbol_end);
    put_numbered(w, frame, &calls[real]);
    edit_close(w);
    if (callers_first && real > 0) {
        edit_open(w, frame->end, frame->end);
        for (uint32_t i = real; i-- > 0;) {
            add_newline(w, frame);
            add_body(w, frame->at, frame->symbol_at);
            put_numbered(w, frame, &calls[i]);
        }
        edit_close(w);
    }
}

/* ---- Call trees ---- */

/* "NAME  (in Image) + 247", the line number behind the bracket as sample has it. */
static void put_sample(writer *w, const report_frame *frame, const report_call *call)
{
    text_str(&w->part, call->name);
    text_c(&w->part, "  (in ");
    text_str(&w->part, frame->image_name);
    text_char(&w->part, ')');
    if (!call->is_inline) {
        text_c(&w->part, " + ");
        text_dec(&w->part, call->offset);
    }
    add_part(w, frame);
}

static void put_sample_place(writer *w, const report_frame *frame, const report_call *call)
{
    if (call->has_line) {
        text_c(&w->part, "  ");
        text_call_place(&w->part, call, w->how->full_path);
    }
    add_part(w, frame);
}

/* "NAME + 12 (File.m:34 in Image + 56)". */
static void put_spin(writer *w, const report_frame *frame, const report_call *call)
{
    bool has_image = frame->image_name.len > 0;
    size_t image_at = has_image ? (size_t)(frame->image_name.ptr - w->r->shadow) : 0;
    put_function(&w->part, call);
    if (has_image || call->has_line)
        text_c(&w->part, " (");
    if (call->has_line)
        text_call_place(&w->part, call, w->how->full_path);
    if (has_image && call->has_line)
        text_c(&w->part, " in ");
    add_part(w, frame);
    if (has_image)
        add_body(w, image_at, frame->symbol_end);
    else if (call->has_line)
        text_char(&w->added, ')');
}

/* Past the "[0xADDR]" of a tree's line. */
static size_t bracket_end(const writer *w, const report_frame *frame)
{
    size_t at = frame->symbol_end;
    while (at < frame->end && w->r->shadow[at] != ']')
        at++;
    return at < frame->end ? at + 1 : at;
}

/* A tree lists callers first, so inlined calls follow their function, at its depth. */
static void write_tree(writer *w, const report_frame *frame)
{
    const report_call *calls = &w->r->calls[frame->call];
    bool sample = frame->form == FORM_SAMPLE;
    size_t tail = bracket_end(w, frame);
    uint32_t real = frame->call_count - 1;
    edit_open(w, frame->symbol_at, frame->symbol_end);
    (sample ? put_sample : put_spin)(w, frame, &calls[real]);
    edit_close(w);
    edit_open(w, sample ? tail : frame->end, frame->end);
    if (sample)
        put_sample_place(w, frame, &calls[real]);
    put_tail(&w->part, &calls[real]);
    add_part(w, frame);
    for (uint32_t i = real; i-- > 0;) {
        add_newline(w, frame);
        add_body(w, frame->at, frame->symbol_at);
        (sample ? put_sample : put_spin)(w, frame, &calls[i]);
        add_body(w, frame->symbol_end, tail);
        if (sample)
            put_sample_place(w, frame, &calls[i]);
        put_tail(&w->part, &calls[i]);
        add_part(w, frame);
    }
    edit_close(w);
}

/* ---- Rows of addresses ---- */

static bool is_narrow(const report_image *image)
{
    return report_arch_is_arm32(image->arch) || str_is(image->arch, "i386");
}

/* "3   Image                         	0x0000000100001234 " */
static void put_head(text *t, uint32_t index, machsym_str image, uint64_t addr, bool narrow)
{
    size_t at = t->len;
    text_dec(t, index);
    while (t->len - at < 4)
        text_char(t, ' ');
    text_str(t, image);
    while (t->len - at < 34)
        text_char(t, ' ');
    text_c(t, t->v[t->len - 1] == ' ' ? "0x" : " 0x");
    text_hex(t, addr, narrow ? 8 : 16);
    text_char(t, ' ');
}

static void put_bare(writer *w, const report_frame *frame)
{
    const report *r = w->r;
    bool known = frame->image != REPORT_NONE;
    machsym_str name = known ? r->images[frame->image].name : str_c("???");
    bool narrow = known && is_narrow(&r->images[frame->image]);
    for (uint32_t i = 0; i < frame->call_count; i++) {
        put_head(&w->part, frame->index, name, frame->addr, narrow);
        put_classic(w, frame, &r->calls[frame->call + i]);
        if (i + 1 < frame->call_count)
            add_newline(w, frame);
    }
    if (frame->call_count > 0)
        return;
    put_head(&w->part, frame->index, name, frame->addr, narrow);
    text_c(&w->part, "0x");
    text_hex(&w->part, known ? r->images[frame->image].base : 0, 1);
    text_c(&w->part, " + ");
    text_dec(&w->part, known ? frame->addr - r->images[frame->image].base : frame->addr);
    add_part(w, frame);
}

/* A row in which something resolved becomes a list of frames. */
static void write_row(writer *w, const report_thread *thread)
{
    const report_frame *frames = &w->r->frames[thread->first];
    bool resolved = false;
    for (uint32_t i = 0; i < thread->count; i++)
        resolved |= frames[i].call_count > 0;
    if (!resolved)
        return;
    size_t before = thread->open_at;
    while (before > 0 && (w->r->shadow[before - 1] == ' ' || w->r->shadow[before - 1] == '\t'))
        before--;
    edit_open(w, before, thread->open_end);
    if (before > 0 && w->r->shadow[before - 1] != '\n' && w->r->shadow[before - 1] != '\r')
        add_newline(w, &frames[thread->count - 1]);
    for (uint32_t i = 0; i < thread->count; i++) {
        if (i > 0)
            add_newline(w, &frames[i]);
        put_bare(w, &frames[i]);
    }
    edit_close(w);
}

/* ---- JSON objects ---- */

/* Members to be added to an object, each with a comma before it. */
static void add_member(writer *w, const char *key)
{
    text_c(&w->added, ",\"");
    text_c(&w->added, key);
    text_c(&w->added, "\":");
}

/* Whether an object has a member; if so its value is set to what follows until edit_close. */
static bool replace_member(writer *w, const report_frame *frame, const char *key)
{
    const json *doc = &w->r->docs[frame->doc];
    uint32_t value = json_get(doc, frame->token, key);
    if (value == JSON_NONE)
        return false;
    edit_open(w, doc->v[value].at, doc->v[value].end);
    return true;
}

/* Behind the last member of an object. */
static size_t members_end(const report *r, const report_frame *frame)
{
    const json *doc = &r->docs[frame->doc];
    uint32_t at = JSON_NONE;
    size_t end = doc->v[frame->token].at + 1;
    while (json_next(doc, frame->token, &at))
        end = doc->v[at + 1].end;
    return end;
}

/* What a frame object of each format calls its parts. */
typedef struct json_words {
    const char *symbol;
    const char *offset; /* from the function's start; NULL: the format has the start itself */
    const char *start;
    bool hex; /* numbers as "0x..." strings */
    const char *file;
    const char *path; /* a second member for the whole path; NULL: none */
    const char *line;
    const char *column;
    const char *owner;
    const char *const *kept; /* members that an inlined call's object takes from its function's */
} json_words;

static const char *const ips_kept[] = {"imageOffset", "imageIndex", NULL};
static const char *const kscrash_kept[] = {"instruction_addr", "object_addr", "object_name", NULL};
static const char *const sentry_kept[] = {"instruction_addr", "image_addr", "package", "in_app", NULL};
static const json_words ips_words = {"symbol", "symbolLocation", NULL, false,   "sourceFile",
                                     NULL,     "sourceLine",     NULL, "owner", ips_kept};
static const json_words kscrash_words = {"symbol_name", NULL,          "symbol_addr", false,   "source_file",
                                         NULL,          "source_line", NULL,          "owner", kscrash_kept};
static const json_words sentry_words = {"function", NULL,     "symbol_addr", true,    "filename",
                                        "abs_path", "lineno", "colno",       "owner", sentry_kept};

static const json_words *words_of(const report_frame *frame)
{
    return frame->form == FORM_IPS       ? &ips_words
           : frame->form == FORM_KSCRASH ? &kscrash_words
                                         : &sentry_words;
}

/* One value of a call by its place in the words; false when the call has none. */
typedef enum json_part {
    PART_SYMBOL = 0,
    PART_OFFSET,
    PART_FILE,
    PART_PATH,
    PART_LINE,
    PART_COLUMN,
    PART_OWNER,
    PART_COUNT
} json_part;

static const char *part_key(const json_words *words, json_part part)
{
    switch (part) {
    case PART_SYMBOL: return words->symbol;
    case PART_OFFSET: return words->offset != NULL ? words->offset : words->start;
    case PART_FILE: return words->file;
    case PART_PATH: return words->path;
    case PART_LINE: return words->line;
    case PART_COLUMN: return words->column;
    default: return words->owner;
    }
}

static bool has_part(const json_words *words, const report_call *call, json_part part)
{
    if (part_key(words, part) == NULL)
        return false;
    if (part == PART_OWNER)
        return call->owner.len > 0;
    if (part == PART_COLUMN)
        return call->has_line && call->column != 0;
    return part <= PART_OFFSET || call->has_line;
}

/* Where the function begins at run time: without a Thumb bit and pointer authentication. */
static uint64_t function_start(const report *r, const report_frame *frame, const report_call *call)
{
    machsym_str arch = r->images[frame->image].arch;
    uint64_t addr = frame->addr;
    if (report_arch_is_arm32(arch))
        addr &= ~(uint64_t)1;
    if (str_is(arch, "arm64e"))
        addr &= 0x7fffffffffff;
    return addr - call->offset;
}

static void put_part(writer *w, const report_frame *frame, const json_words *words, const report_call *call,
                     json_part part)
{
    text *t = &w->added;
    switch (part) {
    case PART_SYMBOL: text_json(t, call->name); break;
    case PART_OFFSET:
        if (words->offset != NULL) {
            text_dec(t, call->is_inline ? 0 : call->offset);
        } else if (words->hex) {
            text_c(t, "\"0x");
            text_hex(t, function_start(w->r, frame, call), 1);
            text_char(t, '"');
        } else {
            text_dec(t, function_start(w->r, frame, call));
        }
        break;
    case PART_FILE: text_json(t, w->how->full_path ? call->path : str_base_name(call->path)); break;
    case PART_PATH: text_json(t, call->path); break;
    case PART_LINE: text_dec(t, call->line); break;
    case PART_COLUMN: text_dec(t, call->column); break;
    default: text_json(t, call->owner); break;
    }
}

/* An object for an inlined call: where the frame is, and what the call is. */
static void put_inline_object(writer *w, const report_frame *frame, const json_words *words,
                              const report_call *call)
{
    const json *doc = &w->r->docs[frame->doc];
    size_t open = w->added.len;
    for (size_t i = 0; words->kept[i] != NULL; i++) {
        uint32_t value = json_get(doc, frame->token, words->kept[i]);
        if (value == JSON_NONE)
            continue;
        add_member(w, words->kept[i]);
        add_body(w, doc->v[value].at, doc->v[value].end);
    }
    for (int part = 0; part < PART_COUNT; part++) {
        if (!has_part(words, call, (json_part)part))
            continue;
        add_member(w, part_key(words, (json_part)part));
        put_part(w, frame, words, call, (json_part)part);
    }
    add_member(w, "inline");
    text_c(&w->added, "true}");
    w->added.v[open] = '{'; /* in place of the first comma */
}

static void write_members(writer *w, const report_frame *frame, const json_words *words,
                          const report_call *call)
{
    bool missing[PART_COUNT] = {false};
    for (int part = 0; part < PART_COUNT; part++) {
        if (!has_part(words, call, (json_part)part))
            continue;
        missing[part] = !replace_member(w, frame, part_key(words, (json_part)part));
        if (missing[part])
            continue;
        put_part(w, frame, words, call, (json_part)part);
        edit_close(w);
    }
    size_t end = members_end(w->r, frame);
    edit_open(w, end, end);
    for (int part = 0; part < PART_COUNT; part++) {
        if (!missing[part])
            continue;
        add_member(w, part_key(words, (json_part)part));
        put_part(w, frame, words, call, (json_part)part);
    }
    edit_close(w);
}

static void write_object(writer *w, const report_frame *frame)
{
    const json_words *words = words_of(frame);
    const report_call *calls = &w->r->calls[frame->call];
    uint32_t real = frame->call_count - 1;
    bool callers_first = w->r->threads[frame->thread].callers_first;
    size_t at = callers_first ? frame->end : frame->at;
    if (real > 0) {
        edit_open(w, at, at);
        for (uint32_t i = 0; i < real; i++) {
            text_c(&w->added, callers_first ? "," : "");
            put_inline_object(w, frame, words, &calls[callers_first ? real - 1 - i : i]);
            text_c(&w->added, callers_first ? "" : ",");
        }
        edit_close(w);
    }
    write_members(w, frame, words, &calls[real]);
}

/* The members of a call in a MetricKit frame. */
static void put_metric_call(writer *w, const report_call *call)
{
    text_c(&w->added, "\"symbol\":");
    text_json(&w->added, call->name);
    if (!call->is_inline) {
        text_c(&w->added, ",\"symbolLocation\":");
        text_dec(&w->added, call->offset);
    }
    if (call->has_line) {
        text_c(&w->added, ",\"sourceFile\":");
        text_json(&w->added, w->how->full_path ? call->path : str_base_name(call->path));
        text_c(&w->added, ",\"sourceLine\":");
        text_dec(&w->added, call->line);
    }
    if (call->owner.len > 0) {
        text_c(&w->added, ",\"owner\":");
        text_json(&w->added, call->owner);
    }
}

/* MetricKit frames hold their callers, so all members go to the front, and inlined calls into a list of their
 * own. */
static void write_metric(writer *w, const report_frame *frame)
{
    const report_call *calls = &w->r->calls[frame->call];
    uint32_t real = frame->call_count - 1;
    edit_open(w, frame->at + 1, frame->at + 1);
    put_metric_call(w, &calls[real]);
    for (uint32_t i = 0; i < real; i++) {
        text_c(&w->added, i == 0 ? ",\"inlined\":[{" : ",{");
        put_metric_call(w, &calls[i]);
        text_char(&w->added, '}');
    }
    text_c(&w->added, real > 0 ? "]," : ",");
    edit_close(w);
}

/* ---- All together ---- */

static int by_edit_place(const void *a, const void *b)
{
    const edit *x = a;
    const edit *y = b;
    MACHSYM_COUNT_WORK(1);
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->text_at < y->text_at ? -1 : x->text_at > y->text_at;
}

/* A call that the input shows as inlined goes when its function was looked up anew: it comes back from there. */
static bool is_redone(const report *r, const report_frame *frame)
{
    const report_thread *thread = &r->threads[frame->thread];
    uint32_t at = (uint32_t)(frame - r->frames);
    for (unsigned steps = 0; steps <= MACHSYM_MAX_INLINE_DEPTH; steps++) {
        MACHSYM_COUNT_WORK(1);
        if (r->frames[at].addr != frame->addr)
            return false;
        if (!r->frames[at].given_inline)
            return r->frames[at].call_count > 0;
        if (at == (thread->callers_first ? thread->first : thread->first + thread->count - 1))
            return false;
        at = thread->callers_first ? at - 1 : at + 1;
    }
    return false;
}

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes a line away with its newline, an object with the comma between it and its function's. */
static void write_removal(writer *w, const report_frame *frame)
{
    const char *s = w->r->body;
    bool object = frame->form >= FORM_IPS;
    size_t at = frame->at;
    size_t end = frame->end;
    if (object && w->r->threads[frame->thread].callers_first) {
        while (at > 0 && is_gap(s[at - 1]))
            at--;
        at -= at > 0 && s[at - 1] == ',';
    } else {
        while (end < w->r->len && is_gap(s[end]) && (object || s[end] != '\n'))
            end++;
        end += end < w->r->len && s[end] == (object ? ',' : '\n');
    }
    MACHSYM_COUNT_WORK((end - at) / 64);
    edit_open(w, at, end);
    edit_close(w);
}

static void write_frame(writer *w, const report_frame *frame)
{
    if (frame->given_inline && w->how->all && is_redone(w->r, frame))
        write_removal(w, frame);
    if (frame->call_count == 0)
        return;
    switch ((frame_form)frame->form) {
    case FORM_CLASSIC:
    case FORM_LEAKS:
    case FORM_LIST:
    case FORM_SIDE: write_numbered(w, frame); break;
    case FORM_SAMPLE:
    case FORM_SPIN: write_tree(w, frame); break;
    case FORM_BARE: break; /* with its row */
    case FORM_IPS:
    case FORM_KSCRASH:
    case FORM_SENTRY: write_object(w, frame); break;
    case FORM_METRIC: write_metric(w, frame); break;
    }
}

/* The body with all edits done. Edits that would overlap (damaged reports only) are left out. */
static void splice_edits(writer *w, text *out)
{
    size_t at = 0;
    qsort(w->edits, w->count, sizeof *w->edits, by_edit_place);
    for (size_t i = 0; i < w->count; i++) {
        const edit *e = &w->edits[i];
        if (e->at < at)
            continue;
        text_add(out, w->r->body + at, e->at - at);
        text_add(out, w->added.v + e->text_at, e->text_end - e->text_at);
        at = e->end;
    }
    text_add(out, w->r->body + at, w->r->len - at);
}

/* UTF-8 of decode_utf16 back to UTF-16. */
static void encode_utf16(const report *r, machsym_str s, text *out)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    for (size_t i = 0; i < s.len;) {
        size_t len = p[i] < 0x80 ? 1 : p[i] < 0xe0 ? 2 : p[i] < 0xf0 ? 3 : 4;
        uint32_t c = p[i] & (len == 1 ? 0x7fu : 0x7fu >> len);
        for (size_t k = 1; k < len && i + k < s.len; k++)
            c = c << 6 | (p[i + k] & 0x3f);
        i += len;
        uint32_t units[2] = {c, 0};
        if (c >= 0x10000) {
            units[0] = 0xd800 + ((c - 0x10000) >> 10);
            units[1] = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        for (size_t k = 0; k < (c >= 0x10000 ? 2u : 1u); k++) {
            bool little = r->encoding == ENCODING_UTF16LE;
            text_char(out, (char)(little ? units[k] & 0xff : units[k] >> 8));
            text_char(out, (char)(little ? units[k] >> 8 : units[k] & 0xff));
        }
    }
    if (r->input.len % 2 != 0)
        text_char(out, r->input.ptr[r->input.len - 1]);
}

void report_write_same(const report *r, const write_options *how, text *out)
{
    writer w;
    memset(&w, 0, sizeof w);
    w.r = r;
    w.how = how;
    for (uint32_t i = 0; i < r->frame_count; i++)
        write_frame(&w, &r->frames[i]);
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].open_end > r->threads[i].open_at)
            write_row(&w, &r->threads[i]);
    }
    if (w.count == 0) {
        text_str(out, r->input);
    } else if (r->encoding == ENCODING_BYTES) {
        splice_edits(&w, out);
    } else {
        text plain = {0};
        splice_edits(&w, &plain);
        encode_utf16(r, (machsym_str){plain.v, plain.len}, out);
        text_free(&plain);
    }
    free(w.edits);
    text_free(&w.added);
    text_free(&w.part);
}
