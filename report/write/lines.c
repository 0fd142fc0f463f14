/* Puts names into text: numbered frames, call trees, rows of addresses. */
#include "lines.h"
#include "../base/text.h"
#include "machsym.h"
#include "call.h"

/* " (File.m:34)" */
static void row_put_place(writer *w, const report_call *call)
{
    if (!call->has_line)
        return;
    text_c(&w->part, " (");
    call_put_place(&w->part, call, w->how->full_path);
    text_char(&w->part, ')');
}

/* ---- Numbered frames ---- */

/* "NAME + 12 (File.m:34)" */
static void row_put_classic(writer *w, const report_frame *frame, const report_call *call)
{
    call_put_function(&w->part, call);
    if (call->has_line && frame->form == FORM_LEAKS) {
        text_c(&w->part, "  ");
        call_put_place(&w->part, call, w->how->full_path);
    } else {
        row_put_place(w, call);
    }
    call_put_tail(&w->part, call);
    edit_add_part(w, frame);
}

/* "(NAME + 12) (File.m:34)" after the address, which stays. */
static void row_put_side(writer *w, const report_frame *frame, const report_call *call)
{
    text_c(&w->part, " (");
    call_put_function(&w->part, call);
    text_char(&w->part, ')');
    row_put_place(w, call);
    call_put_tail(&w->part, call);
    edit_add_part(w, frame);
}

/* "NAME + 12 (in Image) (File.m:34)" after a bare address. */
static void row_put_list(writer *w, const report_frame *frame, const report_call *call)
{
    call_put_function(&w->part, call);
    text_c(&w->part, " (in ");
    text_str(&w->part, w->r->images[frame->image].name);
    text_char(&w->part, ')');
    row_put_place(w, call);
    call_put_tail(&w->part, call);
    edit_add_part(w, frame);
}

/* "NAME + 12 at File.m:34" after lldb's "demo`". The line may end after the address. */
static void row_put_lldb(writer *w, const report_frame *frame, const report_call *call)
{
    if (frame->symbol_at > 0 && w->r->shadow[frame->symbol_at - 1] != '`') {
        if (frame->image_name.len == 0) {
            text_char(&w->part, ' ');
            text_str(&w->part, w->r->images[frame->image].name);
        }
        text_char(&w->part, '`');
    }
    call_put_function(&w->part, call);
    if (call->has_line) {
        text_c(&w->part, " at ");
        call_put_place(&w->part, call, w->how->full_path);
    }
    call_put_tail(&w->part, call);
    edit_add_part(w, frame);
}

/* "NAME + 12 in Image at File.swift:34". */
static void row_put_swift(writer *w, const report_frame *frame, const report_call *call)
{
    call_put_function(&w->part, call);
    text_c(&w->part, " in ");
    text_str(&w->part, frame->image_name);
    if (call->has_line) {
        text_c(&w->part, " at ");
        call_put_place(&w->part, call, w->how->full_path);
    }
    call_put_tail(&w->part, call);
    edit_add_part(w, frame);
}

/* "in NAME File.c:34" before the module, which stays; "in NAME+0x12" without a line. If the line had a name,
 * do not write "in" again. */
static void row_put_sanitizer(writer *w, const report_frame *frame, const report_call *call)
{
    bool is_empty = frame->symbol_at == frame->symbol_end;
    text_c(&w->part, is_empty ? "in " : "");
    text_str(&w->part, call->name);
    if (call->has_line) {
        text_char(&w->part, ' ');
        call_put_place(&w->part, call, w->how->full_path);
    } else if (!call->is_inline) {
        text_c(&w->part, "+0x");
        text_hex(&w->part, call->offset, 1);
    }
    call_put_tail(&w->part, call);
    bool is_tight = frame->symbol_end < frame->end && w->r->shadow[frame->symbol_end] != ' ';
    text_c(&w->part, is_tight && !call->is_inline ? " " : "");
    edit_add_part(w, frame);
}

static void row_put_numbered(writer *w, const report_frame *frame, const report_call *call)
{
    bool gap = frame->symbol_at > 0 && frame->form != FORM_SIDE && frame->form != FORM_LLDB &&
               w->r->shadow[frame->symbol_at - 1] != ' ' && w->r->shadow[frame->symbol_at - 1] != '\t';
    if (gap)
        text_char(&w->added, ' ');
    if (frame->form == FORM_SIDE)
        row_put_side(w, frame, call);
    else if (frame->form == FORM_LIST)
        row_put_list(w, frame, call);
    else if (frame->form == FORM_LLDB)
        row_put_lldb(w, frame, call);
    else if (frame->form == FORM_SWIFT)
        row_put_swift(w, frame, call);
    else if (frame->form == FORM_SANITIZER)
        row_put_sanitizer(w, frame, call);
    else
        row_put_classic(w, frame, call);
}

/* Writes inlined calls on lines of their own, which begin as the frame's line does. They come before it, or
 * after it in stacks that list callers first. */
void row_numbered(writer *w, const report_frame *frame)
{
    const report_call *calls = &w->r->calls[frame->call];
    uint32_t real = frame->call_count - 1;
    bool callers_first = w->r->threads[frame->thread].callers_first;
    if (!callers_first && real > 0) {
        edit_open(w, frame->at, frame->at);
        for (uint32_t i = 0; i < real; i++) {
            edit_add_body(w, frame->at, frame->symbol_at);
            row_put_numbered(w, frame, &calls[i]);
            edit_add_newline(w, frame);
        }
        edit_close(w);
    }
    edit_open(w, frame->symbol_at, frame->symbol_end);
    row_put_numbered(w, frame, &calls[real]);
    edit_close(w);
    if (callers_first && real > 0) {
        edit_open(w, frame->end, frame->end);
        for (uint32_t i = real; i-- > 0;) {
            edit_add_newline(w, frame);
            edit_add_body(w, frame->at, frame->symbol_at);
            row_put_numbered(w, frame, &calls[i]);
        }
        edit_close(w);
    }
}

/* ---- Call trees ---- */

/* "NAME  (in Image) + 247", with the line number after the bracket, as sample writes it. */
static void row_put_sample(writer *w, const report_frame *frame, const report_call *call)
{
    text_str(&w->part, call->name);
    text_c(&w->part, "  (in ");
    text_str(&w->part, frame->image_name);
    text_char(&w->part, ')');
    if (!call->is_inline) {
        text_c(&w->part, " + ");
        text_dec(&w->part, call->offset);
    }
    edit_add_part(w, frame);
}

static void row_put_sample_place(writer *w, const report_frame *frame, const report_call *call)
{
    if (call->has_line) {
        text_c(&w->part, "  ");
        call_put_place(&w->part, call, w->how->full_path);
    }
    edit_add_part(w, frame);
}

/* "NAME + 12 (File.m:34 in Image + 56)". */
static void row_put_spin(writer *w, const report_frame *frame, const report_call *call)
{
    bool has_image = frame->image_name.len > 0;
    size_t image_at = has_image ? (size_t)(frame->image_name.ptr - w->r->shadow) : 0;
    call_put_function(&w->part, call);
    if (has_image || call->has_line)
        text_c(&w->part, " (");
    if (call->has_line)
        call_put_place(&w->part, call, w->how->full_path);
    if (has_image && call->has_line)
        text_c(&w->part, " in ");
    edit_add_part(w, frame);
    if (has_image)
        edit_add_body(w, image_at, frame->symbol_end);
    else if (call->has_line)
        text_char(&w->added, ')');
}

/* Returns the index after the "[0xADDR]" of a tree's line. */
static size_t row_bracket_end(const writer *w, const report_frame *frame)
{
    size_t at = frame->symbol_end;
    while (at < frame->end && w->r->shadow[at] != ']')
        at++;
    return at < frame->end ? at + 1 : at;
}

/* A tree lists callers first, so inlined calls come after their function, at its depth. */
void row_tree(writer *w, const report_frame *frame)
{
    const report_call *calls = &w->r->calls[frame->call];
    bool sample = frame->form == FORM_SAMPLE;
    size_t tail = row_bracket_end(w, frame);
    uint32_t real = frame->call_count - 1;
    edit_open(w, frame->symbol_at, frame->symbol_end);
    (sample ? row_put_sample : row_put_spin)(w, frame, &calls[real]);
    edit_close(w);
    edit_open(w, sample ? tail : frame->end, frame->end);
    if (sample)
        row_put_sample_place(w, frame, &calls[real]);
    call_put_tail(&w->part, &calls[real]);
    edit_add_part(w, frame);
    for (uint32_t i = real; i-- > 0;) {
        edit_add_newline(w, frame);
        edit_add_body(w, frame->at, frame->symbol_at);
        (sample ? row_put_sample : row_put_spin)(w, frame, &calls[i]);
        edit_add_body(w, frame->symbol_end, tail);
        if (sample)
            row_put_sample_place(w, frame, &calls[i]);
        call_put_tail(&w->part, &calls[i]);
        edit_add_part(w, frame);
    }
    edit_close(w);
}

/* ---- Rows of addresses ---- */

static bool row_is_narrow(const report_image *image)
{
    return report_arch_is_arm32(image->arch) || str_is(image->arch, "i386");
}

/* "3   Image                         	0x0000000100001234 " */
static void row_put_head(text *t, uint32_t index, machsym_str image, uint64_t addr, bool narrow)
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

static void row_put_bare(writer *w, const report_frame *frame)
{
    const report *r = w->r;
    bool known = frame->image != REPORT_NONE;
    machsym_str name = known ? r->images[frame->image].name : str_c("???");
    bool narrow = known && row_is_narrow(&r->images[frame->image]);
    for (uint32_t i = 0; i < frame->call_count; i++) {
        row_put_head(&w->part, frame->index, name, frame->addr, narrow);
        row_put_classic(w, frame, &r->calls[frame->call + i]);
        if (i + 1 < frame->call_count)
            edit_add_newline(w, frame);
    }
    if (frame->call_count > 0)
        return;
    row_put_head(&w->part, frame->index, name, frame->addr, narrow);
    text_c(&w->part, "0x");
    text_hex(&w->part, known ? r->images[frame->image].base : 0, 1);
    text_c(&w->part, " + ");
    text_dec(&w->part, known ? frame->addr - r->images[frame->image].base : frame->addr);
    edit_add_part(w, frame);
}

/* If an address of a row was found, the row becomes a list of frames. */
void row_bare(writer *w, const report_thread *thread)
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
        edit_add_newline(w, &frames[thread->count - 1]);
    for (uint32_t i = 0; i < thread->count; i++) {
        if (i > 0)
            edit_add_newline(w, &frames[i]);
        row_put_bare(w, &frames[i]);
    }
    edit_close(w);
}

/* ---- What --check-stack found ---- */

/* A report that is JSON stays what it is. */
void row_doubt(writer *w, const report_frame *frame)
{
    if (frame->form == FORM_INFERRED && frame[-1].form != FORM_CLASSIC)
        return;
    edit_open(w, frame->end, frame->end);
    text_c(&w->part, " [");
    text_c(&w->part, frame->doubt);
    text_char(&w->part, ']');
    edit_add_part(w, frame);
    edit_close(w);
}

/* A line has the frame's number, as those of inlined calls. */
void row_inferred(writer *w, const report_frame *frame)
{
    if (frame[-1].form != FORM_CLASSIC)
        return;
    edit_open(w, frame->end, frame->end);
    edit_add_newline(w, frame);
    row_put_bare(w, frame);
    text_c(&w->part, " [inferred from lr]");
    edit_add_part(w, frame);
    edit_close(w);
}

/* ---- Elements of XML ---- */

/* Writes the real function's name in place of the address, and its line as a separate element, as xctrace
 * does. Inlined calls are not written, because other elements refer to frames. */
void row_xctrace(writer *w, const report_frame *frame)
{
    const report_call *call = &w->r->calls[frame->call + frame->call_count - 1];
    if (frame->symbol_end == frame->symbol_at)
        return;
    edit_open(w, frame->symbol_at, frame->symbol_end);
    text_str(&w->part, call->name);
    edit_add_part(w, frame);
    edit_close(w);
    if (!call->has_line || w->r->body[frame->end - 2] == '/')
        return;
    edit_open(w, frame->end, frame->end);
    text_c(&w->added, "<source line=\"");
    text_dec(&w->added, call->line);
    text_c(&w->added, "\"><path>");
    text_str(&w->part, w->how->full_path ? call->path : str_base_name(call->path));
    edit_add_part(w, frame);
    text_c(&w->added, "</path></source>");
    edit_close(w);
}
