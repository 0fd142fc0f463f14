/* Signatures of reports; see summary.h. */
#include "signature.h"
#include "../base/digits.h"
#include "../model/scan.h"
#include "../model/stack.h"
#include "message.h"
#include "stable.h"

#include <string.h>

/* Frames of a signature. More would separate reports of one crash that came from different callers. Fewer
 * would join different crashes of one helper. */
enum { SIGNATURE_FRAMES = 5 };

/* Frames to examine. Stacks of reports end at 512, and deeper frames are recursion. */
enum { SIGNATURE_DEPTH = 512 };

/* Names listed for functions that share their code. A set may have thousands. */
enum { SIGNATURE_SHARED = 4 };

/* A signature in the making. */
typedef struct signing {
    const report *r;
    const machinery *list;
    signature *out;
    text stack;
} signing;

/* ---- Its parts ---- */

machsym_str signature_part_of(const signature *s, signature_part part)
{
    return str_make(s->words.v + s->part_at[part], s->part_len[part]);
}

void signature_compose(signature *s, const machsym_str parts[PART_COUNT])
{
    static const char *const around[PART_COUNT][2] = {{"", ""}, {"", ""}, {"[", "]"}, {"(", ")"}, {"", ""}};
    s->words.len = 0;
    for (unsigned i = 0; i < PART_COUNT; i++) {
        const char *between = s->words.len == 0 ? "" : i == PART_STACK ? ": " : " ";
        if (parts[i].len == 0)
            continue;
        text_c(&s->words, between);
        text_c(&s->words, around[i][0]);
        s->part_at[i] = (uint32_t)s->words.len;
        s->part_len[i] = (uint32_t)parts[i].len;
        text_str(&s->words, parts[i]);
        text_c(&s->words, around[i][1]);
    }
    s->hash = str_hash(str_make(s->words.v, s->words.len));
}

bool signature_tells(const signature *s)
{
    return s->frame_count > 1 || (s->frame_count == 1 && s->frames[0] != str_hash(str_c("main")));
}

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

/* A failed check is an illegal instruction on Intel and a breakpoint on ARM. */
static bool signature_is_trap_of_intel(const report *r)
{
    machsym_str code_type = r->facts[FACT_CODE_TYPE];
    bool is_intel =
        str_starts(code_type, "X86") || str_starts(code_type, "x86") || str_starts(code_type, "i386");
    if (code_type.len == 0 && r->image_count > 0)
        is_intel = str_starts(r->images[0].arch, "x86_64") || str_starts(r->images[0].arch, "i386");
    return is_intel && (signature_says(r, "EXC_BAD_INSTRUCTION") || signature_says(r, "SIGILL"));
}

/* One crash is a Mach exception to one writer, and a signal to another. */
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
    bool is_event = r->facts[FACT_EXCEPTION].len == 0; /* a hang is not a crash with the same frames */
    if (signature_is_trap_of_intel(r)) {
        text_c(t, "EXC_BREAKPOINT");
        return;
    }
    machsym_str exception = r->facts[is_event ? FACT_EVENT : FACT_EXCEPTION];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t k = 0; k < 3 && kinds[i].words[k] != NULL; k++) {
            if (signature_says(r, kinds[i].words[k])) {
                text_c(t, kinds[i].kind);
                return;
            }
        }
    }
    for (size_t i = 0; i < exception.len && is_event; i++) /* its numbers belong to this report only */
        exception.len = scan_is_digit(exception.ptr[i]) ? i : exception.len;
    exception = str_trim(exception);
    exception.len = exception.len > 64 ? 64 : exception.len; /* names of exceptions are short */
    text_shown(t, exception);
}

/* Codes that spell words, like 0x8badf00d, identify their writer. Their namespace changed between systems. */
enum { LEAST_WORD = 0x10000 };

/* Signals are left out, because the exception has them. */
static void signature_put_termination(text *t, const report *r)
{
    machsym_str space = r->facts[FACT_TERMINATION];
    machsym_str code = r->facts[FACT_TERMINATION_CODE];
    uint64_t number = 0;
    if (str_is(space, "SIGNAL"))
        return;
    if (space.len == 0 && signature_says(r, "SIGKILL"))
        code = r->facts[FACT_CODES]; /* before iOS 13 */
    bool has_number = code.len > 0 && str_number_after(code, "", &number);
    if (space.len == 0 && number < LEAST_WORD)
        return;
    if (number < LEAST_WORD)
        text_shown(t, space);
    text_c(t, number < LEAST_WORD && has_number ? " " : "");
    if (has_number) {
        text_c(t, number < LEAST_WORD ? "" : "0x");
        if (number < LEAST_WORD)
            text_dec(t, number);
        else
            text_hex(t, number, 1);
    }
}

/* ---- Frames ---- */

/* Image and offset replace the name of a function without one. They are equal in every report of a build. */
static void signature_put_unnamed(text *t, const report *r, const report_frame *frame)
{
    bool is_known = frame->image != REPORT_NONE;
    machsym_str image = stack_image_name(r, frame);
    text_shown(t, image.len > 0 ? image : str_c("???"));
    text_c(t, " + 0x");
    text_hex(t, frame->addr - (is_known ? r->images[frame->image].base : 0), 1);
}

/* Writes the sorted names of functions that share their code, because another one answers in the next build.
 * The first names suffice to identify the set. */
static void signature_put_shared(text *t, const report_call *call, machsym_str image)
{
    machsym_str rest = call->others;
    machsym_str name;
    machsym_str own = call->name;
    size_t from = t->len;
    unsigned named = 0;
    bool more = report_next_other(&rest, &name);
    while (named < SIGNATURE_SHARED && (more || own.len > 0)) {
        bool is_own = own.len > 0 && (!more || str_order(own, name) <= 0);
        text_c(t, t->len > from ? " or " : "");
        stable_name(t, is_own ? own : name, image);
        named++;
        if (is_own)
            own.len = 0;
        else
            more = report_next_other(&rest, &name);
    }
    text_c(t, more || own.len > 0 ? " or others" : "");
}

/* Writes the function of the frame. Inlined calls are left out, because not all reports have them. */
static void signature_put_function(text *t, const report *r, const report_frame *frame)
{
    machsym_str name = stack_layer_name(r, frame, stack_layers(frame) - 1);
    if (frame->call_count == 0 && frame->named == NAME_NONE)
        name.len = 0;
    const report_call *real = frame->call_count > 0 ? &r->calls[frame->call + frame->call_count - 1] : NULL;
    if (name.len > 0 && real != NULL && real->other_count > 0)
        signature_put_shared(t, real, stack_image_name(r, frame));
    else if (name.len > 0)
        stable_name(t, name, stack_image_name(r, frame));
    else
        signature_put_unnamed(t, r, frame);
}

/* A name that is already listed is recursion, of one function or of several in turn. */
static bool signature_is_there(const signature *s, uint64_t hash)
{
    for (unsigned i = 0; i < s->frame_count; i++) {
        MACHSYM_COUNT_WORK(1);
        if (s->frames[i] == hash)
            return true;
    }
    return false;
}

/* Whether a frame identifies no function: an address outside all images without a name, as after a bad jump;
 * or code whose names are unknown and that several functions share, because its address changes with each
 * build. */
static bool signature_is_nowhere(const report_frame *frame)
{
    machsym_str image = frame->image_name;
    bool is_unknown = image.len == 0 || image.ptr[0] == '<' || image.ptr[0] == '?';
    if (frame->given_folded && frame->call_count == 0)
        return true;
    return frame->image == REPORT_NONE && frame->call_count == 0 && frame->named == NAME_NONE && is_unknown;
}

/* Some machinery is recognised by its image. If a program contains its runtime, that is an app's image. */
static bool signature_is_machinery(const signing *w, const report_frame *frame, machsym_str name)
{
    return machinery_has(w->list, name) ||
           (stack_is_own(w->r, frame) &&
            machinery_has_of_image(w->list, stack_image_name(w->r, frame), name));
}

static void signature_add_frame(signing *w, const report_frame *frame, bool any)
{
    signature *out = w->out;
    text name = text_in(w->r->memory);
    bool is_full = out->frame_count == sizeof out->frames / sizeof *out->frames;
    if (is_full || signature_is_nowhere(frame))
        return;
    signature_put_function(&name, w->r, frame);
    machsym_str whole = {name.v, name.len};
    uint64_t hash = str_hash(whole);
    if (whole.len > 0 && !signature_is_there(out, hash) &&
        (any || !signature_is_machinery(w, frame, whole))) {
        if (out->frame_count < SIGNATURE_FRAMES) {
            text_c(&w->stack, out->frame_count > 0 ? " | " : "");
            text_str(&w->stack, whole);
        }
        out->frames[out->frame_count++] = hash;
    }
    text_free(&name);
}

/* An inlined call has the address of its function, which follows. */
static bool signature_is_inlined(const report *r, const report_thread *thread, uint32_t step)
{
    const report_frame *frame = stack_frame(r, thread, step);
    if (frame->given_inline)
        return true;
    return step + 1 < stack_count(thread) && stack_frame(r, thread, step + 1)->addr == frame->addr &&
           frame->form < FORM_SENTRY;
}

/* Which frames of a stack to use: the app's without machinery; all without the system's machinery; all. */
typedef enum frame_choice { TAKE_OWN = 0, TAKE_MORE, TAKE_ALL } frame_choice;

static void signature_add_stack(signing *w, const report_thread *thread, frame_choice choice)
{
    w->stack.len = 0;
    w->out->frame_count = 0;
    for (uint32_t i = 0; i < stack_count(thread) && i < SIGNATURE_DEPTH; i++) {
        const report_frame *frame = stack_frame(w->r, thread, i);
        bool is_own = stack_is_own(w->r, frame);
        bool any = choice == TAKE_ALL || (choice == TAKE_MORE && is_own);
        if (!signature_is_inlined(w->r, thread, i) && (choice != TAKE_OWN || is_own))
            signature_add_frame(w, frame, any);
        if (choice != TAKE_OWN && w->out->frame_count >= SIGNATURE_FRAMES)
            return;
    }
}

/* Copies text into a fixed-size field, without a partial character at the end. */
static void signature_set_field(char *field, size_t size, machsym_str s)
{
    size_t len = s.len < size ? s.len : size - 1;
    while (len < s.len && len > 0 && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
        len--;
    memcpy(field, len > 0 ? s.ptr : "", len);
    field[len] = 0;
}

/* Returns "2026-03-14" for a date in one of the forms that begin so. */
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

/* Writes the program's message in printable and stable form. A program ends itself by an abort or a trap.
 * With any other exception, the message is older than the crash. */
static void signature_put_message(const report *r, machsym_str kind, text *thrown, text *words)
{
    message said;
    text stable = text_in(r->memory);
    bool is_by_itself = kind.len == 0 || str_is(kind, "SIGABRT") || str_is(kind, "EXC_BREAKPOINT") ||
                        str_is(kind, "EXC_BAD_INSTRUCTION");
    if (!stack_is_crash(r) || !is_by_itself)
        return;
    message_find(r, &said);
    message_put_stable(&stable, said.words);
    text_shown(thrown, said.thrown);
    text_shown(words, str_make(stable.v, stable.len));
    text_free(&stable);
}

static void signature_add_stacks(signing *w)
{
    const report_thread *thread = stack_main(w->r);
    if (thread == NULL)
        return;
    signature_add_stack(w, thread, TAKE_OWN);
    if (!signature_tells(w->out))
        signature_add_stack(w, thread, TAKE_MORE);
    if (w->out->frame_count == 0)
        signature_add_stack(w, thread, TAKE_ALL);
}

void signature_of(const report *r, const machinery *list, signature *out)
{
    signing w = {r, list, out, text_in(r->memory)};
    text made[PART_COUNT];
    machsym_str parts[PART_COUNT];
    memset(out, 0, sizeof *out);
    out->words = text_in(r->memory);
    for (unsigned i = 0; i < PART_COUNT; i++)
        made[i] = text_in(r->memory);
    signature_set_day(out, r->facts[FACT_DATE]);
    signature_set_field(out->version, sizeof out->version, r->facts[FACT_VERSION]);
    signature_add_stacks(&w);
    signature_put_kind(&made[PART_EXCEPTION], r);
    signature_put_termination(&made[PART_TERMINATION], r);
    signature_put_message(r, str_make(made[PART_EXCEPTION].v, made[PART_EXCEPTION].len), &made[PART_THROWN],
                          &made[PART_MESSAGE]);
    for (unsigned i = 0; i < PART_COUNT; i++)
        parts[i] = str_make(made[i].v, made[i].len);
    parts[PART_STACK] = out->frame_count > 0 ? str_make(w.stack.v, w.stack.len) : str_c("(no stack)");
    signature_compose(out, parts);
    for (unsigned i = 0; i < PART_COUNT; i++)
        text_free(&made[i]);
    text_free(&w.stack);
}
