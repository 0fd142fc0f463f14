/* Writes reports as Apple's classic text, which Xcode and Console show for an .ips. */
#include "write.h"
#include "../base/json.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../model/json_stack.h"
#include "../model/registers.h"
#include "../model/stack.h"
#include "apple.h"

#include <stdlib.h>
#include <string.h>

/* ---- Stacks ---- */

/* "12  Image                         \t       0x102a30aec ": Apple's columns. The number is followed by
 * spaces up to the width. */
static void write_put_place(const apple_text *a, const report_frame *frame, uint64_t number, unsigned width)
{
    const report_image *image = frame->image != REPORT_NONE ? &a->r->images[frame->image] : NULL;
    bool is_console = a->form == APPLE_CONSOLE;
    machsym_str name = image != NULL ? image->name : frame->image_name;
    text address = text_in(a->r->memory);
    if (is_console && image != NULL && image->bundle.len > 0)
        name = image->bundle;
    size_t at = a->t->len;
    text_dec(a->t, number);
    do
        text_char(a->t, ' ');
    while (a->t->len - at < width);
    text_shown(a->t, name.len > 0 ? name : str_c("???"));
    while (a->t->len - at < (is_console ? 33 : 30) + width)
        text_char(a->t, ' ');
    text_char(a->t, is_console ? ' ' : '\t');
    text_c(&address, "0x");
    text_hex(&address, frame->given, is_console ? 16 : 1);
    for (size_t i = address.len; i < 18; i++)
        text_char(a->t, ' ');
    text_add(a->t, address.v, address.len);
    text_char(a->t, ' ');
    text_free(&address);
}

static void write_put_words(const apple_text *a, const report_call *call)
{
    text_str(a->t, call->name);
    call_put_others(a->t, call);
    if (!call->is_inline || a->how->is_apple) {
        text_c(a->t, " + ");
        text_dec(a->t, call->offset);
    }
    if (call->has_line) {
        text_c(a->t, " (");
        call_put_place(a->t, call, a->how->full_path);
        text_char(a->t, ')');
    }
    if (call->owner.len > 0 && !a->how->is_apple) {
        text_c(a->t, " [");
        text_str(a->t, call->owner);
        text_char(a->t, ']');
    }
    text_c(a->t, call->lacks_callers && !a->how->is_apple ? " [callers left out]" : "");
    text_c(a->t, call->is_inline ? " [inlined]" : "");
}

static void write_put_call(const apple_text *a, const report_call *call)
{
    size_t from = a->t->len;
    write_put_words(a, call);
    text_end_line(a->t, from);
}

/* Writes "0x102a30000 + 2796", or "???" if the base is unknown. */
static void write_put_offset(const apple_text *a, const report_frame *frame)
{
    if (frame->image == REPORT_NONE || a->r->images[frame->image].base == 0) {
        text_c(a->t, "???");
        return;
    }
    uint64_t base = a->r->images[frame->image].base;
    text_c(a->t, "0x");
    text_hex(a->t, base, 1);
    text_c(a->t, " + ");
    text_dec(a->t, frame->addr - base);
}

/* Finds a JSON frame's offset from the start of its function: given, or computed from the address. Inlined
 * calls have one in Apple's own text only. */
static bool write_find_offset(const apple_text *a, const report_frame *frame, uint64_t *offset)
{
    if (frame->form < FORM_IPS || frame->named == NAME_NONE || (frame->given_inline && !a->how->is_apple))
        return false;
    const json *doc = &a->r->docs[frame->doc];
    const json_words *words = fields_words_of((frame_form)frame->form);
    if (words->offset != NULL)
        return json_u64(doc, json_get(doc, frame->token, words->offset), offset);
    uint64_t start;
    if (!json_u64(doc, json_get(doc, frame->token, words->start), &start) || start == 0 ||
        start > frame->addr)
        return false;
    *offset = frame->addr - start;
    return true;
}

/* Writes a name from JSON in source form. */
static void write_put_name(const apple_text *a, const report_frame *frame)
{
    text name = text_in(a->r->memory);
    text_name(&name, frame->name, MACHSYM_DEMANGLE_SIMPLIFIED);
    text_shown(a->t, str_make(name.v, name.len));
    text_free(&name);
}

/* Writes a frame as the report has it. */
static void write_put_given(const apple_text *a, const report_frame *frame)
{
    uint64_t offset;
    bool has_offset = write_find_offset(a, frame, &offset);
    bool is_no_name = frame->form > FORM_IPS && frame->named == NAME_NONE && frame->image != REPORT_NONE &&
                      a->r->images[frame->image].base != 0;
    if (frame->form < FORM_IPS && frame->name.len > 0) {
        text_shown(a->t, str_make(a->r->shadow + frame->symbol_at, frame->symbol_end - frame->symbol_at));
    } else if (frame->name.len == 0 || is_no_name) {
        write_put_offset(a, frame);
    } else {
        write_put_name(a, frame);
        if (has_offset) {
            text_c(a->t, " + ");
            text_dec(a->t, offset);
        }
        if (frame->where.len > 0) {
            text_c(a->t, " (");
            text_shown(a->t, frame->where);
            text_char(a->t, ')');
        }
        text_c(a->t, frame->given_inline ? " [inlined]" : "");
    }
    text_char(a->t, '\n');
}

/* "Thread 0 name:  N Dispatch queue: Q" on its own line, as devices write it. */
static void write_put_device_title(const apple_text *a, const report_thread *thread)
{
    bool is_named = thread->name.len + thread->queue.len > 0;
    if (is_named) {
        text_c(a->t, "Thread ");
        text_dec(a->t, thread->number);
        text_c(a->t, " name:  ");
        text_shown(a->t, thread->name);
        text_c(a->t, thread->queue.len > 0 ? " Dispatch queue: " : "");
        text_shown(a->t, thread->queue);
        text_char(a->t, '\n');
    }
    text_c(a->t, "Thread ");
    text_dec(a->t, thread->number);
    text_c(a->t, thread->crashed ? stack_is_crash(a->r) ? " Crashed:\n" : " Attributed:\n" : ":\n");
}

static void write_put_title(const apple_text *a, const report_thread *thread)
{
    if (thread->kind == THREAD_EXCEPTION) {
        text_c(a->t, "Last Exception Backtrace:\n");
        return;
    }
    if (thread->kind == THREAD_PLAIN && !a->is_mac) {
        write_put_device_title(a, thread);
        return;
    }
    text_c(a->t, thread->kind == THREAD_SPECIFIC ? "Application Specific Backtrace " : "Thread ");
    text_dec(a->t, thread->number);
    text_c(a->t, thread->crashed ? " Crashed:" : ":");
    if (thread->name.len + thread->queue.len > 0)
        text_c(a->t, a->form == APPLE_CONSOLE && thread->name.len == 0 ? ":" : ": ");
    text_shown(a->t, thread->name);
    if (thread->queue.len > 0) {
        text_c(a->t, " Dispatch queue: ");
        text_shown(a->t, thread->queue);
    }
    text_char(a->t, '\n');
}

/* Deeper branches begin in the same column. Otherwise the text of a deep tree would grow with the square of
 * its depth. */
enum { MAX_INDENT = 512 };

/* ---- Recursion ---- */

/* Repeated frames that the report left out. Levels are counted down from the innermost one. The three
 * innermost and the three outermost are written. */
typedef struct recursion {
    uint64_t addr;  /* of the frame that ends a level */
    uint64_t level; /* of the next such frame; 0: no more */
    uint64_t depth;
    uint64_t skipped; /* frames left out */
} recursion;

enum { SHOWN_LEVELS = 3 };

static void write_read_recursion(const apple_text *a, const report_thread *thread, recursion *out)
{
    uint64_t hot = 0;
    uint64_t cold = 0;
    memset(out, 0, sizeof *out);
    if (a->r->part > 0) /* its images have other numbers than those of the document */
        return;
    if (a->doc == NULL || thread->kind != THREAD_PLAIN || thread->token == 0)
        return;
    uint32_t array = json_get(a->doc, thread->token, "recursionInfoArray");
    uint32_t first = JSON_NONE;
    if (!json_next(a->doc, array, &first))
        return;
    uint32_t key = json_get(a->doc, first, "keyFrame");
    uint64_t image = UINT64_MAX;
    uint64_t offset = 0;
    if (!json_is(a->doc, key, JSON_OBJECT) ||
        !json_u64(a->doc, json_get(a->doc, first, "depth"), &out->depth))
        return;
    json_u64(a->doc, json_get(a->doc, first, "hottestElided"), &hot);
    json_u64(a->doc, json_get(a->doc, first, "coldestElided"), &cold);
    json_u64(a->doc, json_get(a->doc, key, "imageIndex"), &image);
    json_u64(a->doc, json_get(a->doc, key, "imageOffset"), &offset);
    if (image < a->r->image_count - a->r->main_image)
        offset += a->r->images[a->r->main_image + (uint32_t)image].base;
    out->addr = offset;
    out->level = out->depth;
    out->skipped = cold >= hot ? cold - hot + 1 : 0;
}

/* Writes the lines after a frame that ends a level. Returns how many frames are left out there. */
static uint64_t write_put_level(const apple_text *a, recursion *at, const report_frame *frame)
{
    if (at->level == 0 || frame->given != at->addr)
        return 0;
    text_c(a->t, "-------- RECURSION LEVEL ");
    text_dec(a->t, at->level--);
    text_char(a->t, '\n');
    if (at->depth <= 2 * SHOWN_LEVELS || at->level != at->depth - SHOWN_LEVELS)
        return 0;
    text_c(a->t, "--------\n-------- ELIDED ");
    text_dec(a->t, at->depth - 2 * SHOWN_LEVELS);
    text_c(a->t, " LEVELS OF RECURSION THROUGH 0x");
    text_hex(a->t, frame->given, 1);
    text_char(a->t, ' ');
    if (frame->call_count > 0)
        write_put_call(a, &a->r->calls[frame->call + frame->call_count - 1]);
    else
        write_put_given(a, frame);
    text_c(a->t, "--------\n");
    at->level = SHOWN_LEVELS;
    return at->skipped;
}

/* ---- Trees of samples ---- */

/* "      12  ", indented by two columns for each enclosing frame. */
static void write_put_branch(const apple_text *a, const report_frame *frame)
{
    uint32_t depth = frame->depth < MAX_INDENT ? frame->depth : (uint32_t)MAX_INDENT;
    text count = text_in(a->r->memory);
    text_dec(&count, frame->samples);
    for (size_t i = count.len; i < 8 + 2 * (size_t)depth; i++)
        text_char(a->t, ' ');
    text_add(a->t, count.v, count.len);
    text_c(a->t, "  ");
    text_free(&count);
}

/* " (Image + 2684) [0x102a30a7c]" */
static void write_put_branch_end(const apple_text *a, const report_frame *frame)
{
    if (frame->image != REPORT_NONE) {
        text_c(a->t, " (");
        text_shown(a->t, a->r->images[frame->image].name);
        text_c(a->t, " + ");
        text_dec(a->t, frame->addr - a->r->images[frame->image].base);
        text_char(a->t, ')');
    }
    text_c(a->t, " [0x");
    text_hex(a->t, frame->given, 1);
    text_c(a->t, "]\n");
}

/* Writes a tree as a spindump does: callers first, callees below. An inlined call comes below its function at
 * the same depth. */
static void write_put_tree(const apple_text *a, const report_thread *thread)
{
    for (uint32_t i = 0; i < thread->count; i++) {
        const report_frame *frame = &a->r->frames[thread->first + i];
        for (uint32_t layer = frame->call_count; layer-- > 0;) {
            write_put_branch(a, frame);
            size_t from = a->t->len;
            write_put_words(a, &a->r->calls[frame->call + layer]);
            text_escape(a->t, from);
            write_put_branch_end(a, frame);
        }
        if (frame->call_count > 0)
            continue;
        write_put_branch(a, frame);
        text_shown(a->t, frame->name.len > 0 ? frame->name : str_c("???"));
        write_put_branch_end(a, frame);
    }
    text_char(a->t, '\n');
}

/* How many numbers a frame takes. Inlined calls have the number of their frame, as in JSON and in reports
 * that stay text. Apple's text numbers them separately. */
static uint32_t write_numbers_of(const apple_text *a, const report_frame *frame)
{
    return a->how->is_apple && frame->call_count > 0 ? frame->call_count : 1;
}

/* Width of the number column of a stack: the widest number and a space, at least four. */
static unsigned write_number_width(const apple_text *a, const report_thread *thread, const recursion *levels)
{
    uint64_t count = levels->depth > 2 * SHOWN_LEVELS ? levels->skipped : 0;
    unsigned width = 4;
    for (uint32_t i = 0; i < thread->count; i++)
        count += write_numbers_of(a, &a->r->frames[thread->first + i]);
    for (uint64_t last = count > 0 ? (count - 1) / 1000 : 0; last > 0; last /= 10)
        width++;
    return width;
}

static const char *write_inferred(const report_frame *frame)
{
    bool is_of_lr = frame->found_by != NULL && strcmp(frame->found_by, "leaf") == 0;
    return is_of_lr ? " [inferred from lr]" : " [inferred from the stack]";
}

/* What --check-stack found, at the end of the frame's line. */
static void write_put_doubt(const apple_text *a, const report_frame *frame)
{
    if (a->how->is_apple || (frame->doubt == NULL && frame->form != FORM_INFERRED))
        return;
    a->t->len -= a->t->len > 0 && a->t->v[a->t->len - 1] == '\n';
    size_t from = a->t->len;
    text_c(a->t, frame->form == FORM_INFERRED ? write_inferred(frame) : "");
    if (frame->doubt != NULL) {
        text_c(a->t, " [");
        text_c(a->t, frame->doubt);
        text_char(a->t, ']');
    }
    text_end_line(a->t, from);
}

static void write_put_thread(const apple_text *a, const report_thread *thread)
{
    uint64_t number = 0;
    recursion levels;
    write_read_recursion(a, thread, &levels);
    write_put_title(a, thread);
    if (thread->path > 0) {
        write_put_tree(a, thread);
        return;
    }
    unsigned width = write_number_width(a, thread, &levels);
    for (uint32_t i = 0; i < thread->count; i++) {
        const report_frame *frame =
            &a->r->frames[thread->first + (thread->callers_first ? thread->count - 1 - i : i)];
        for (uint32_t layer = 0; layer < frame->call_count; layer++) {
            write_put_place(a, frame, number + (a->how->is_apple ? layer : 0), width);
            write_put_call(a, &a->r->calls[frame->call + layer]);
        }
        if (frame->call_count == 0) {
            write_put_place(a, frame, number, width);
            write_put_given(a, frame);
        }
        write_put_doubt(a, frame);
        number += write_numbers_of(a, frame) + write_put_level(a, &levels, frame);
    }
    text_char(a->t, '\n');
}

/* Whether a stack that the report has as one string gained names. If not, the string is written. *at: its
 * first thread; afterwards the thread after its last. */
static bool write_gained_names(const apple_text *a, uint32_t *at, size_t end)
{
    bool gained = false;
    for (; *at < a->r->thread_count; (*at)++) {
        const report_thread *thread = &a->r->threads[*at];
        if (thread->kind == THREAD_SPECIFIC && thread->count > 0 && a->r->frames[thread->first].at >= end)
            break;
        for (uint32_t i = 0; i < thread->count && thread->kind == THREAD_SPECIFIC; i++)
            gained |= a->r->frames[thread->first + i].call_count > 0;
    }
    return gained;
}

static void write_put_backtraces(const apple_text *a)
{
    uint32_t thread = a->r->main_thread;
    uint32_t token = JSON_NONE;
    if (a->doc == NULL)
        return;
    uint32_t array = json_get(a->doc, 0, "asiBacktraces");
    for (uint64_t number = 0; json_next(a->doc, array, &token); number++) {
        uint32_t first = thread;
        bool gained = write_gained_names(a, &thread, a->doc->v[token].end);
        if (!gained) {
            text_c(a->t, "Application Specific Backtrace ");
            text_dec(a->t, number);
            text_c(a->t, ":\n");
            apple_put_value(a, token);
            text_c(a->t, "\n\n");
        }
        for (; gained && first < thread; first++) {
            if (a->r->threads[first].kind == THREAD_SPECIFIC && a->r->threads[first].count > 0)
                write_put_thread(a, &a->r->threads[first]);
        }
    }
}

static void write_put_threads(const apple_text *a, thread_kind kind)
{
    for (uint32_t i = 0; i < a->r->thread_count; i++) {
        const report_thread *thread = &a->r->threads[i];
        if (thread->kind == kind && !thread->is_echo && (thread->count > 0 || thread->token != 0))
            write_put_thread(a, thread);
    }
}

/* ---- Images ---- */

/* "0x" and digits, 18 wide. */
static void write_put_address(text *t, uint64_t addr)
{
    unsigned digits = 1;
    while (digits < 16 && addr >> (4 * digits) != 0)
        digits++;
    for (unsigned i = digits; i < 16; i++)
        text_char(t, ' ');
    text_c(t, "0x");
    text_hex(t, addr, 1);
}

/* "(1.0)", "(1.0 - 7)", or a sign for a missing version. */
static void write_put_image_version(const apple_text *a, const report_image *image)
{
    bool is_console = a->form == APPLE_CONSOLE;
    if (!apple_has(a, image->token, "CFBundleShortVersionString")) {
        text_c(a->t, is_console ? " (?\?\?) <" : " (*) <");
        return;
    }
    text_c(a->t, " (");
    apple_put_value(a, json_get(a->doc, image->token, "CFBundleShortVersionString"));
    if (is_console) {
        text_c(a->t, " - ");
        apple_put_value(a, json_get(a->doc, image->token, "CFBundleVersion"));
    }
    text_c(a->t, ") <");
}

static void write_put_dashed(const apple_text *a, const report_image *image)
{
    text uuid = text_in(a->r->memory);
    text_uuid(&uuid, &image->uuid);
    for (size_t i = 0; i < uuid.len && a->form != APPLE_CONSOLE; i++)
        uuid.v[i] = uuid.v[i] >= 'A' && uuid.v[i] <= 'F' ? (char)(uuid.v[i] + 32) : uuid.v[i];
    text_add(a->t, uuid.v, uuid.len);
    text_free(&uuid);
}

static void write_put_plain_uuid(const apple_text *a, const report_image *image)
{
    for (size_t i = 0; i < 16; i++)
        text_hex(a->t, image->uuid.v[i], 2);
}

/* Sorts the user's own images by address. */
static bool write_is_marked(const report_image *image)
{
    return !str_starts(image->bundle, "com.apple.") && !str_starts(image->path, "/usr/lib/") &&
           !str_starts(image->path, "/System/");
}

/* An empty image ends before its start, as in Apple's text. */
static void write_put_image(const apple_text *a, const report_image *image)
{
    bool is_mac = a->is_mac && image->token != 0;
    machsym_str name = is_mac && image->bundle.len > 0 ? image->bundle : image->name;
    bool is_console = a->form == APPLE_CONSOLE;
    write_put_address(a->t, image->base);
    text_c(a->t, " - ");
    if (image->is_open && image->token == 0)
        text_c(a->t, "               ???");
    else
        write_put_address(a->t, (image->is_open ? image->base : image->end) - !is_console);
    text_c(a->t, is_console && write_is_marked(image) ? " +" : " ");
    text_shown(a->t, name.len > 0 ? name : str_c("???"));
    if (is_mac) {
        write_put_image_version(a, image);
        write_put_dashed(a, image);
    } else {
        text_char(a->t, ' ');
        text_shown(a->t, image->arch.len > 0 ? image->arch : str_c("unknown-arch"));
        text_c(a->t, "  <");
        write_put_plain_uuid(a, image);
    }
    text_c(a->t, "> ");
    text_shown(a->t, image->path.len > 0 || image->token == 0 ? image->path : str_c("???"));
    text_char(a->t, '\n');
}

static int write_by_base(const void *a, const void *b)
{
    const report_image *x = *(const report_image *const *)a;
    const report_image *y = *(const report_image *const *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void write_list_images(const apple_text *a)
{
    uint32_t count = a->r->image_count;
    const report_image **order =
        (const report_image **)mem_take(a->r->memory, count * sizeof(report_image *));
    text_c(a->t, "Binary Images:\n");
    for (uint32_t i = 0; i < count; i++)
        order[i] = &a->r->images[i];
    if (a->form == APPLE_CONSOLE)
        qsort(order, count, sizeof(report_image *), write_by_base);
    for (uint32_t i = 0; i < count; i++)
        write_put_image(a, order[i]);
    mem_give(a->r->memory, order);
}

/* ---- Registers ---- */

/* Writes the registers of a report that is not an .ips, four on a line. */
static void write_put_registers(const apple_text *a)
{
    static const char *const states[][2] = {{"x0", "ARM Thread State (64-bit)"},
                                            {"r0", "ARM Thread State (32-bit)"},
                                            {"rax", "X86 Thread State (64-bit)"},
                                            {"eax", "X86 Thread State (32-bit)"}};
    const report_thread *thread = registers_thread(a->r);
    size_t state = 0;
    if (thread == NULL || thread->register_count == 0)
        return;
    while (state < 4 && registers_find(a->r, thread, states[state][0]) == NULL)
        state++;
    text_c(a->t, "Thread ");
    text_dec(a->t, thread->number);
    text_c(a->t, " crashed with ");
    text_c(a->t, state < 4 ? states[state][1] : "Thread State");
    text_c(a->t, ":\n");
    for (uint32_t i = 0; i < thread->register_count; i++) {
        const report_register *one = registers_at(a->r, thread, i);
        for (size_t k = one->name.len; k < 6; k++)
            text_char(a->t, ' ');
        text_shown(a->t, one->name);
        text_c(a->t, ": 0x");
        bool is_short = state % 2 == 1 || str_is(one->name, "cpsr") || str_is(one->name, "esr");
        text_hex(a->t, one->value, is_short ? 8 : 16);
        text_c(a->t, i % 4 == 3 || i + 1 == thread->register_count ? "\n" : "");
    }
    text_char(a->t, '\n');
}

/* ---- All together ---- */

/* A report that is already text stays unchanged. */
void write_text(const report *r, const write_options *how, text *out)
{
    text_c(out, r->number > 1 ? "\n" : "");
    if (!r->has_json || r->main_doc == REPORT_NONE) {
        write_same(r, how, out);
        return;
    }
    apple_text a = apple_open(r, how, out);
    apple_put_head(&a);
    write_put_backtraces(&a);
    write_put_threads(&a, THREAD_EXCEPTION);
    apple_put_triage(&a);
    write_put_threads(&a, THREAD_PLAIN);
    if (a.doc != NULL && a.form != APPLE_CONSOLE)
        text_char(out, '\n');
    if (a.doc != NULL)
        apple_put_state(&a);
    else
        write_put_registers(&a);
    write_list_images(&a);
    if (a.doc != NULL)
        text_char(out, '\n');
    apple_put_tail(&a);
}
