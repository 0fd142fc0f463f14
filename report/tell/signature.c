/* Signatures of reports; see summary.h. */
#include "signature.h"
#include "../model/scan.h"
#include "../model/stack.h"
#include "machsym.h"

#include <string.h>

/* Frames that tell one crash from another: more would part reports of one crash that were called from
 * elsewhere, fewer would join crashes of one helper. */
enum { SIGNATURE_FRAMES = 5 };

/* Frames that are looked at: stacks of reports end at 512, and what is deeper is recursion. */
enum { SIGNATURE_DEPTH = 512 };

/* A signature in the making. */
typedef struct signing {
    const report *r;
    const machinery *list;
    signature *out;
} signing;

/* ---- The kind of failure ---- */

static bool signature_says(const report *r, const char *word)
{
    machsym_str exception = r->facts[FACT_EXCEPTION];
    machsym_str signal = r->facts[FACT_SIGNAL];
    machsym_str info = r->facts[FACT_APP_INFO];
    bool is_thrown = strcmp(word, "NSException") == 0 && exception.len + signal.len == 0 &&
                     str_find(info, "due to uncaught exception '") < info.len;
    return is_thrown || str_find(exception, word) < exception.len || str_find(signal, word) < signal.len;
}

/* One crash is a Mach exception to one writer and a signal to another. */
static void signature_put_kind(text *t, const report *r)
{
    static const struct {
        const char *kind;
        const char *words[3];
    } kinds[] = {{"EXC_BAD_ACCESS", {"EXC_BAD_ACCESS", "SIGSEGV", "SIGBUS"}},
                 {"EXC_BREAKPOINT", {"EXC_BREAKPOINT", "SIGTRAP", NULL}},
                 {"EXC_BAD_INSTRUCTION", {"EXC_BAD_INSTRUCTION", "SIGILL", NULL}},
                 {"EXC_ARITHMETIC", {"EXC_ARITHMETIC", "SIGFPE", NULL}},
                 {"EXC_RESOURCE", {"EXC_RESOURCE", NULL, NULL}},
                 {"EXC_GUARD", {"EXC_GUARD", NULL, NULL}},
                 {"SIGKILL", {"SIGKILL", NULL, NULL}},
                 {"SIGQUIT", {"SIGQUIT", NULL, NULL}},
                 {"SIGABRT", {"SIGABRT", "EXC_CRASH", "NSException"}}};
    bool is_event = r->facts[FACT_EXCEPTION].len == 0; /* a hang is no crash of the same frames */
    machsym_str exception = r->facts[is_event ? FACT_EVENT : FACT_EXCEPTION];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t k = 0; k < 3 && kinds[i].words[k] != NULL; k++) {
            if (signature_says(r, kinds[i].words[k])) {
                text_c(t, kinds[i].kind);
                text_c(t, ": ");
                return;
            }
        }
    }
    for (size_t i = 0; i < exception.len && is_event; i++) /* its numbers are of this report alone */
        exception.len = scan_is_digit(exception.ptr[i]) ? i : exception.len;
    exception = str_trim(exception);
    exception.len = exception.len > 64 ? 64 : exception.len; /* names of exceptions are short */
    text_shown(t, exception);
    text_c(t, exception.len > 0 ? ": " : "");
}

/* ---- Frames ---- */

/* Image and offset stand for a function without a name: they are the same in every report of a build. */
static void signature_put_unnamed(text *t, const report *r, const report_frame *frame)
{
    bool is_known = frame->image != REPORT_NONE;
    machsym_str image = stack_image_name(r, frame);
    text_shown(t, image.len > 0 ? image : str_c("???"));
    text_c(t, " + 0x");
    text_hex(t, frame->addr - (is_known ? r->images[frame->image].base : 0), 1);
}

/* The function that the frame is in; inlined calls in it may be there or not. */
static void signature_put_function(text *t, const report *r, const report_frame *frame)
{
    machsym_str name = stack_layer_name(r, frame, stack_layers(frame) - 1);
    if (frame->call_count == 0 && frame->named == NAME_NONE)
        name.len = 0;
    if (name.len > 0)
        stable_name(t, name, stack_image_name(r, frame));
    else
        signature_put_unnamed(t, r, frame);
}

/* A name that is there already is recursion, of one function or of several in turn. */
static bool signature_is_there(const signature *s, uint64_t hash)
{
    for (unsigned i = 0; i < s->frame_count; i++) {
        MACHSYM_COUNT_WORK(1);
        if (s->frames[i] == hash)
            return true;
    }
    return false;
}

static void signature_add_frame(signing *w, const report_frame *frame, bool any)
{
    signature *out = w->out;
    text name = {0};
    signature_put_function(&name, w->r, frame);
    machsym_str whole = {name.v, name.len};
    uint64_t hash = str_hash(whole);
    bool is_full = out->frame_count == sizeof out->frames / sizeof *out->frames;
    if (whole.len > 0 && !is_full && !signature_is_there(out, hash) &&
        (any || !machinery_has(w->list, whole))) {
        if (out->frame_count < SIGNATURE_FRAMES) {
            text_c(&out->text, out->frame_count > 0 ? " | " : "");
            text_str(&out->text, whole);
        }
        out->frames[out->frame_count++] = hash;
    }
    text_free(&name);
}

/* An inlined call has the address of the function that it is in, which follows. */
static bool signature_is_inlined(const report *r, const report_thread *thread, uint32_t step)
{
    const report_frame *frame = stack_frame(r, thread, step);
    if (frame->given_inline)
        return true;
    return step + 1 < stack_count(thread) && stack_frame(r, thread, step + 1)->addr == frame->addr &&
           frame->form < FORM_SENTRY;
}

/* Which frames of a stack to take. */
typedef enum frame_choice { TAKE_OWN = 0, TAKE_SYSTEM, TAKE_ALL } frame_choice;

static void signature_add_stack(signing *w, const report_thread *thread, frame_choice choice)
{
    for (uint32_t i = 0; i < stack_count(thread) && i < SIGNATURE_DEPTH; i++) {
        const report_frame *frame = stack_frame(w->r, thread, i);
        bool is_own = stack_is_own(w->r, frame);
        if (!signature_is_inlined(w->r, thread, i) && (choice == TAKE_ALL || is_own == (choice == TAKE_OWN)))
            signature_add_frame(w, frame, choice == TAKE_ALL);
        if (choice != TAKE_OWN && w->out->frame_count >= SIGNATURE_FRAMES)
            return;
    }
}

static void signature_clear(signature *s, size_t text_len)
{
    s->text.len = text_len;
    s->frame_count = 0;
}

/* main alone tells nothing: every crash of the main thread has it. */
static bool signature_tells_nothing(const signature *s)
{
    return s->frame_count == 0 || (s->frame_count == 1 && s->frames[0] == str_hash(str_c("main")));
}

/* Text in a field of fixed size, without a part of a character at its end. */
static void signature_set_field(char *field, size_t size, machsym_str s)
{
    size_t len = s.len < size ? s.len : size - 1;
    while (len < s.len && len > 0 && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
        len--;
    memcpy(field, len > 0 ? s.ptr : "", len);
    field[len] = 0;
}

/* "2026-03-14" of a date in one of the forms that begin so. */
static void signature_set_day(signature *out, machsym_str date)
{
    static const char form[] = "dddd-dd-dd";
    for (size_t i = 0; i < sizeof form - 1; i++) {
        bool fits =
            i < date.len && (form[i] == 'd' ? date.ptr[i] >= '0' && date.ptr[i] <= '9' : date.ptr[i] == '-');
        if (!fits)
            return;
    }
    signature_set_field(out->day, sizeof out->day, date);
}

void signature_of(const report *r, const machinery *list, signature *out)
{
    const report_thread *thread = stack_main(r);
    signing w = {r, list, out};
    memset(out, 0, sizeof *out);
    signature_set_day(out, r->facts[FACT_DATE]);
    signature_set_field(out->version, sizeof out->version, r->facts[FACT_VERSION]);
    signature_put_kind(&out->text, r);
    size_t kind = out->text.len;
    if (thread != NULL) {
        signature_add_stack(&w, thread, TAKE_OWN);
        if (signature_tells_nothing(out)) {
            signature_clear(out, kind);
            signature_add_stack(&w, thread, TAKE_SYSTEM);
            signature_add_stack(&w, thread, TAKE_OWN);
        }
        if (out->frame_count == 0)
            signature_add_stack(&w, thread, TAKE_ALL);
    }
    if (out->frame_count == 0)
        text_c(&out->text, "(no stack)");
    out->hash = str_hash((machsym_str){out->text.v, out->text.len});
}
