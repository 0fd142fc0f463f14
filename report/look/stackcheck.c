/* Whether a stack can be true; see stackcheck.h. */
#include "stackcheck.h"
#include "../base/memory.h"
#include "../model/registers.h"
#include "calls.h"
#include "stackwalk.h"

#include <string.h>

/* Return addresses that nothing called are made by hand where a thread or a coroutine begins: they lie this far
 * into a function at most. An async function of Swift resumes at its start. seen: Go's goexit, after a nop. */
enum { STACKCHECK_NEAR_START = 8 };

enum { STACKCHECK_CPU_ARM64 = 0x0100000c };

/* Steps up the stack, in one thread and in one report. A report has few bytes of a stack. */
enum { STACKCHECK_STEPS = 32, STACKCHECK_ALL_STEPS = 1024 };

/* Symbols are searched by name for imports: at most this often in one report. */
enum { STACKCHECK_NAMES = 64 };

/* An image of the report. */
typedef struct stackcheck_image {
    calls_image code;
    const machsym_image *file; /* NULL: a map answers, or nothing is at hand */
    const char *no_code;       /* static; NULL: it has code */
    bool is_asked;
    bool is_there;
    uint32_t ends;    /* frames after a call */
    uint32_t doubted; /* frames that nothing called */
} stackcheck_image;

/* What is wrong with a frame. */
typedef enum stackcheck_fault {
    STACKCHECK_FITS = 0,
    STACKCHECK_CODE_IS_LOST, /* the file lacks it: nothing is known */
    STACKCHECK_NO_CODE,
    STACKCHECK_NO_CALL,
    STACKCHECK_OTHER_CALL,
    STACKCHECK_STALE
} stackcheck_fault;

typedef struct stackcheck_note {
    uint32_t frame;
    stackcheck_fault fault;
    uint64_t target; /* STACKCHECK_OTHER_CALL: what is called, in the frame's image */
    uint32_t below;  /* the frame that it should have called */
    bool is_left;    /* lr holds it */
    bool is_second;  /* the frame below it is the one that stopped */
} stackcheck_note;

typedef struct stackcheck {
    report *r;
    const stackcheck_asked *asked;
    stackcheck_image *images; /* one for each of the report */
    uint64_t left;            /* bytes of code */
    unsigned names_left;
    unsigned steps_left;
    bool is_counted; /* has_all is known */
    bool has_all;    /* images of the app: of each the code is at hand */
    stackcheck_note *notes;
    uint32_t note_count;
    uint32_t note_cap;
} stackcheck;

/* ---- Images ---- */

/* Why callers in an image cannot be checked; NULL: they can. */
static const char *stackcheck_no_code(const stackcheck_image *one)
{
    machsym_image_info info;
    if (!one->is_there)
        return "no program is at hand";
    if (one->file == NULL)
        return "a map has no code";
    machsym_image_get_info(one->file, &info);
    if (info.map != NULL)
        return "a map has no code";
    if (info.is_encrypted)
        return "its code is encrypted";
    if (one->code.file == NULL)
        return "code of its processor is not read";
    return calls_has_code(&one->code) ? NULL : "the file has no code, as a dSYM";
}

/* An image, with or without code; NULL: frames in it have no addresses. */
static stackcheck_image *stackcheck_ask(stackcheck *c, uint32_t index)
{
    if (index == REPORT_NONE || c->r->images[index].is_offset || c->r->images[index].is_text_exec)
        return NULL;
    stackcheck_image *one = &c->images[index];
    if (!one->is_asked) {
        one->is_asked = true;
        one->is_there = c->asked->open(c->asked->context, index, &one->file);
        calls_image_of(one->file, &one->code);
        one->code.index = index;
        one->code.frames = one->is_there ? c->asked->frames : NULL;
        one->code.context = c->asked->context;
        one->no_code = stackcheck_no_code(one);
    }
    return one;
}

/* An image whose code is at hand. */
static stackcheck_image *stackcheck_image_of(stackcheck *c, uint32_t index)
{
    stackcheck_image *one = stackcheck_ask(c, index);
    return one != NULL && one->no_code == NULL ? one : NULL;
}

static uint64_t stackcheck_addr(const stackcheck *c, const stackcheck_image *one, uint64_t addr)
{
    return c->asked->addr(c->asked->context, one->code.index, addr);
}

/* The function that a frame is in. */
static bool stackcheck_function(stackcheck *c, const report_frame *frame, machsym_frame *out)
{
    const stackcheck_image *one = stackcheck_ask(c, frame->image);
    return one != NULL && one->is_there &&
           calls_function(&one->code, stackcheck_addr(c, one, frame->addr) - !frame->exact, out);
}

/* ---- What cannot be known ---- */

static bool stackcheck_is_checked(const report *r, const report_thread *thread)
{
    if (thread->count == 0 || thread->path > 0 || thread->callers_first || thread->is_echo)
        return false;
    switch ((frame_form)r->frames[thread->first].form) {
    case FORM_CLASSIC:
    case FORM_IPS:
    case FORM_KSCRASH: return true;
    default: return false;
    }
}

/* Systems, and the runtimes of some languages, put a frame below a function that an instruction interrupted:
 * signal handlers, and what Go and Mono do with a null pointer. */
static bool stackcheck_may_interrupt(stackcheck *c, const report_frame *frame)
{
    machsym_frame function;
    machsym_str name = frame->name;
    machsym_str image = frame->image != REPORT_NONE ? c->r->images[frame->image].name : frame->image_name;
    bool is_known = frame->named == NAME_GIVEN;
    if (!is_known && stackcheck_function(c, frame, &function)) {
        name = function.linkage_name.len > 0 ? function.linkage_name : function.name;
        is_known = true;
    }
    if (!is_known)
        return frame->image == REPORT_NONE || str_starts(image, "libsystem") ||
               str_starts(image, "libSystem");
    return str_starts(name, "_sigtramp") || str_starts(name, "sigtramp") || str_starts(name, "runtime.") ||
           str_starts(name, "mono_");
}

/* Nothing called a function that begins here, or the frame that a thread begins with. */
static bool stackcheck_is_start(stackcheck *c, const report_frame *frame)
{
    machsym_frame function;
    const report_thread *thread = &c->r->threads[frame->thread];
    const stackcheck_image *one = stackcheck_image_of(c, frame->image);
    uint64_t addr = stackcheck_addr(c, one, frame->addr);
    if (frame == &c->r->frames[thread->first + thread->count - 1])
        return true;
    for (unsigned before = 0; before < 2; before++) {
        if (!calls_function(&one->code, addr - before, &function) ||
            addr - function.function_start <= STACKCHECK_NEAR_START)
            return true;
    }
    machsym_str name = function.linkage_name;
    return str_starts(name, "runtime.") || str_find(name, "TQ") < name.len || str_find(name, "TY") < name.len;
}

/* ---- One frame called another ---- */

/* The address of a name among an image's own functions. */
static bool stackcheck_find_name(stackcheck *c, const stackcheck_image *one, machsym_str name, uint64_t *addr)
{
    machsym_session *session = c->asked->session(c->asked->context, one->code.index);
    machsym_cursor at;
    machsym_symbol symbol;
    memset(&at, 0, sizeof at);
    if (session == NULL || c->names_left == 0)
        return false;
    c->names_left--;
    while (machsym_session_next_name(session, &at, &symbol)) {
        if (symbol.source != MACHSYM_SOURCE_STUB && str_equal(symbol.name, name)) {
            *addr = symbol.lo;
            return true;
        }
    }
    return false;
}

/* Another image that is not at hand may have a function of the same name, which dyld prefers. */
static bool stackcheck_has_all(stackcheck *c)
{
    if (c->is_counted)
        return c->has_all;
    c->is_counted = c->has_all = true;
    for (uint32_t i = 0; i < c->r->image_count && c->has_all; i++)
        c->has_all = c->r->images[i].is_system || stackcheck_image_of(c, i) != NULL;
    return c->has_all;
}

/* Whether a call of an import may get to a function of another image, or of its own. */
static bool stackcheck_import_fits(stackcheck *c, const stackcheck_image *from, uint64_t stub,
                                   const stackcheck_image *to, const machsym_frame *callee)
{
    machsym_frame import;
    uint64_t addr;
    text name = text_in(c->r->memory);
    if (to == NULL || !calls_function(&from->code, stub, &import) ||
        import.name_source != MACHSYM_SOURCE_STUB)
        return true;
    uint64_t start = callee->function_start;
    text_str(&name, import.linkage_name.len > 0 ? import.linkage_name : import.name);
    bool is_found = stackcheck_has_all(c) && stackcheck_find_name(c, to, str_make(name.v, name.len), &addr) &&
                    !calls_is_stub(&to->code, addr);
    text_free(&name);
    return !is_found || calls_may_reach(&to->code, addr, start, &c->left);
}

/* Whether a call may get to the function that a frame is in. */
static bool stackcheck_target_fits(stackcheck *c, const stackcheck_image *one, uint64_t target,
                                   const report_frame *below)
{
    machsym_frame callee;
    const stackcheck_image *to = stackcheck_image_of(c, below->image);
    if (!stackcheck_function(c, below, &callee))
        return true;
    if (calls_is_stub(&one->code, target))
        return stackcheck_import_fits(c, one, target, to, &callee);
    return to != one || calls_may_reach(&one->code, target, callee.function_start, &c->left);
}

/* Some tools subtract one from return addresses. */
static calls_kind stackcheck_call_before(const stackcheck_image *one, uint64_t addr, uint64_t *target)
{
    calls_kind kind = calls_end_at(&one->code, addr, target);
    calls_kind later =
        kind == CALLS_NOTHING || kind == CALLS_NO_CODE ? calls_end_at(&one->code, addr + 1, target) : kind;
    return later == CALLS_SOMEWHERE || later == CALLS_TARGET ? later : kind;
}

/* No section of code has the frame's address. A damaged file may have lost the section. */
static stackcheck_fault stackcheck_lacks_code(stackcheck *c, const stackcheck_image *one,
                                              const report_frame *frame)
{
    machsym_image_info info;
    machsym_frame function;
    machsym_image_get_info(one->code.file, &info);
    if (info.damage_count > 0 ||
        calls_function(&one->code, stackcheck_addr(c, one, frame->addr) - 1, &function))
        return STACKCHECK_CODE_IS_LOST;
    return c->r->images[frame->image].is_open ? STACKCHECK_FITS : STACKCHECK_NO_CODE;
}

/* Whether the frame at `above` may have called the one at `below`. */
static stackcheck_fault stackcheck_pair(stackcheck *c, const report_frame *below, const report_frame *above,
                                        uint64_t *target)
{
    stackcheck_image *one = stackcheck_image_of(c, above->image);
    if (one == NULL || above->exact || below->addr == above->addr)
        return STACKCHECK_FITS;
    calls_kind kind = stackcheck_call_before(one, stackcheck_addr(c, one, above->addr), target);
    one->ends += kind == CALLS_SOMEWHERE || kind == CALLS_TARGET;
    if (kind == CALLS_UNKNOWN)
        return STACKCHECK_CODE_IS_LOST;
    if (kind == CALLS_NO_CODE)
        return stackcheck_lacks_code(c, one, above);
    if (kind == CALLS_NOTHING && !stackcheck_may_interrupt(c, below) && !stackcheck_is_start(c, above))
        return STACKCHECK_NO_CALL;
    if (kind == CALLS_TARGET && below->image != REPORT_NONE &&
        !stackcheck_target_fits(c, one, *target, below) && !stackcheck_may_interrupt(c, below))
        return STACKCHECK_OTHER_CALL;
    return STACKCHECK_FITS;
}

/* ---- The first frame ---- */

static uint64_t stackcheck_register(const stackcheck *c, const report_thread *thread, const char *name,
                                    const report_register **out)
{
    *out = registers_find(c->r, thread, name);
    return *out != NULL ? report_plain_addr(c->r, (*out)->value) : 0;
}

/* The image with code that holds an address. */
static const machsym_image *stackcheck_code(void *context, uint64_t addr, uint32_t *image)
{
    stackcheck *c = (stackcheck *)context;
    for (uint32_t i = 0; i < c->r->image_count; i++) {
        if (addr < c->r->images[i].base || addr >= c->r->images[i].end)
            continue;
        const stackcheck_image *one = stackcheck_image_of(c, i);
        *image = i;
        return one != NULL ? one->code.file : NULL;
    }
    return NULL;
}

/* The first frame of a thread that is no inlined call; NULL: none. */
static report_frame *stackcheck_first(const stackcheck *c, const report_thread *thread)
{
    for (uint32_t i = 0; i < thread->count; i++) {
        if (!c->r->frames[thread->first + i].given_inline)
            return &c->r->frames[thread->first + i];
    }
    return NULL;
}

/* Some tools subtract one from return addresses. */
static bool stackcheck_is_at(const report_frame *frame, uint64_t addr)
{
    return frame != NULL && frame->addr <= addr && addr - frame->addr <= 4;
}

/* The next frame of the same thread that is no inlined call; NULL: none. */
static report_frame *stackcheck_above(const stackcheck *c, uint32_t below)
{
    const report_thread *thread = &c->r->threads[c->r->frames[below].thread];
    for (uint32_t i = below + 1; i < thread->first + thread->count; i++) {
        if (!c->r->frames[i].given_inline)
            return &c->r->frames[i];
    }
    return NULL;
}

/* Adds a caller that the report lacks, if it can have called the frame below. */
static bool stackcheck_add(stackcheck *c, uint32_t below, const stackwalk_frame *one)
{
    report_frame caller = c->r->frames[below];
    uint64_t target;
    caller.addr = caller.given = one->pc;
    caller.image = one->image;
    caller.exact = false;
    if (stackcheck_pair(c, &c->r->frames[below], &caller, &target) != STACKCHECK_FITS)
        return false;
    report_infer_frame(c->r, below, one->pc, one->image);
    c->r->frames[below + 1].found_by = one->found_by;
    return true;
}

/* How many callers, from v[from] on, the report lacks before its frame `above`. If the walk does not reach that
 * frame, only the first caller is sure: those that follow may be in the report. */
static unsigned stackcheck_lacking(const report_frame *above, const stackwalk_frame *v, unsigned from,
                                   unsigned count)
{
    for (unsigned i = from; i < count && above != NULL; i++) {
        if (stackcheck_is_at(above, v[i].pc))
            return i - from;
    }
    return above == NULL ? count - from : 1;
}

/* lr may hold an address that an earlier call left there. Reporters that do not know take it for a caller. If the
 * call before it leads to the function that stopped, it may be one: of outlined code. */
static bool stackcheck_is_stale(stackcheck *c, uint32_t below, const report_frame *frame, uint64_t lr,
                                uint64_t caller)
{
    const stackcheck_image *one = frame != NULL ? stackcheck_image_of(c, frame->image) : NULL;
    uint64_t target;
    if (one == NULL || frame->addr != lr || lr == caller ||
        !stackcheck_is_at(stackcheck_above(c, (uint32_t)(frame - c->r->frames)), caller))
        return false;
    bool is_direct = stackcheck_call_before(one, stackcheck_addr(c, one, lr), &target) == CALLS_TARGET;
    return !is_direct || !stackcheck_target_fits(c, one, target, &c->r->frames[below]);
}

/* Compares the report with the callers that the walk found. */
static void stackcheck_compare(stackcheck *c, uint32_t below, uint64_t lr, const stackwalk_frame *v,
                               unsigned count)
{
    for (unsigned i = 0; i < count;) {
        report_frame *above = stackcheck_above(c, below);
        if (i == 0 && stackcheck_is_stale(c, below, above, lr, v[0].pc)) {
            above->is_stale = true;
            above = stackcheck_above(c, (uint32_t)(above - c->r->frames));
        } else if (above != NULL && !stackcheck_is_at(above, v[i].pc) &&
                   stackcheck_is_at(stackcheck_above(c, (uint32_t)(above - c->r->frames)), v[i].pc))
            return;
        unsigned lacking = stackcheck_lacking(above, v, i, count);
        for (unsigned k = 0; k < lacking; k++) {
            if (!stackcheck_add(c, below, &v[i + k]))
                return;
            below++;
        }
        i += lacking;
        above = stackcheck_above(c, below);
        while (above != NULL && above->is_stale)
            above = stackcheck_above(c, (uint32_t)(above - c->r->frames));
        if (i >= count || !stackcheck_is_at(above, v[i].pc))
            return;
        below = (uint32_t)(above - c->r->frames);
        i++;
    }
}

/* Adds callers that the report lacks: one that only lr tells, and those that bytes of the stack tell. */
static void stackcheck_infer(stackcheck *c, uint32_t index)
{
    stackwalk_frame v[STACKCHECK_STEPS];
    const report_thread *thread = &c->r->threads[index];
    const report_frame *first = stackcheck_first(c, thread);
    const stackcheck_image *one = first != NULL ? stackcheck_image_of(c, first->image) : NULL;
    const report_register *pc_at, *lr_at;
    if (one == NULL)
        return;
    bool is_arm64 = one->code.cputype == STACKCHECK_CPU_ARM64;
    uint64_t pc = stackcheck_register(c, thread, is_arm64 ? "pc" : "rip", &pc_at);
    uint64_t lr = stackcheck_register(c, thread, "lr", &lr_at);
    if (pc_at == NULL || lr == pc || !first->exact || pc != first->addr)
        return;
    stackwalk walk = {c->r, thread, stackcheck_code, c, one->code.cputype};
    const unsigned most = STACKCHECK_STEPS;
    unsigned cap = c->steps_left < most ? c->steps_left : most;
    unsigned count = stackwalk_callers(&walk, v, cap);
    c->steps_left -= count < c->steps_left ? count + 1 : c->steps_left;
    stackcheck_compare(c, (uint32_t)(first - c->r->frames), lr, v, count);
}

/* ---- Whole stacks ---- */

/* Notes on a frame whether its code was at hand, and on its image why not. */
static void stackcheck_mark(stackcheck *c, uint32_t index, stackcheck_fault fault)
{
    report_frame *frame = &c->r->frames[index];
    const stackcheck_image *one = stackcheck_image_of(c, frame->image);
    frame->is_caller = !frame->exact;
    frame->is_checked = one != NULL && fault != STACKCHECK_CODE_IS_LOST;
    if (frame->image == REPORT_NONE || frame->is_checked || frame->exact)
        return;
    if (one == NULL && stackcheck_ask(c, frame->image) == NULL)
        return;
    c->r->images[frame->image].no_code =
        one != NULL ? "the file lacks some of its code" : c->images[frame->image].no_code;
}

static void stackcheck_keep(stackcheck *c, const stackcheck_note *note)
{
    *(stackcheck_note *)mem_add(c->r->memory, &c->notes, &c->note_count, &c->note_cap, sizeof *note) = *note;
}

static void stackcheck_thread(stackcheck *c, const report_thread *thread)
{
    const report_frame *below = stackcheck_first(c, thread);
    const report_register *lr_at;
    uint64_t lr = stackcheck_register(c, thread, "lr", &lr_at);
    const report_frame *end = &c->r->frames[thread->first + thread->count];
    for (const report_frame *above = below != NULL ? below + 1 : end; above < end; above++) {
        bool is_next = above->index == above[-1].index + 1 || above->addr == above[-1].addr ||
                       above->form == FORM_INFERRED || above[-1].form == FORM_INFERRED || above[-1].is_stale;
        stackcheck_note note;
        memset(&note, 0, sizeof note);
        note.frame = (uint32_t)(above - c->r->frames);
        if (above->given_inline)
            continue;
        if (above->is_stale) {
            note.fault = STACKCHECK_STALE;
            note.is_left = true;
            stackcheck_mark(c, note.frame, note.fault);
            c->images[above->image].doubted++;
            stackcheck_keep(c, &note);
            continue;
        }
        note.fault = is_next ? stackcheck_pair(c, below, above, &note.target) : STACKCHECK_FITS;
        stackcheck_mark(c, note.frame, note.fault);
        note.is_second = below->exact;
        note.is_left = note.is_second && lr_at != NULL && above->addr == lr;
        note.below = (uint32_t)(below - c->r->frames);
        below = above;
        if (note.fault == STACKCHECK_FITS || note.fault == STACKCHECK_CODE_IS_LOST)
            continue;
        c->images[above->image].doubted++;
        stackcheck_keep(c, &note);
    }
}

static void stackcheck_put_function(stackcheck *c, const stackcheck_image *one, uint64_t addr, text *t)
{
    machsym_frame function;
    if (calls_function(&one->code, addr, &function) &&
        (function.linkage_name.len > 0 || function.name.len > 0)) {
        c->asked->put_name(c->asked->context, one->code.index, &function, t);
    } else {
        text_c(t, "0x");
        text_hex(t, addr, 1);
    }
}

/* Why the frame is there, as far as one can tell. Files that have the image's UUID are right. */
static const char *stackcheck_cause(const stackcheck *c, const stackcheck_note *note)
{
    uint32_t index = c->r->frames[note->frame].image;
    const report_image *image = &c->r->images[index];
    bool is_proven = image->has_uuid && !c->asked->no_uuid && !image->is_named;
    if (!is_proven && c->images[index].doubted > 1 && c->images[index].doubted >= c->images[index].ends / 2)
        return "the file is of another build";
    if (note->is_left)
        return "lr held it, left over from an earlier call";
    if (note->is_second)
        return "the frame of a function without a record is missing, or the stack is damaged";
    return is_proven ? "a frame is missing, or the stack is damaged"
                     : "a frame is missing, the stack is damaged, or the file is of another build";
}

static void stackcheck_tell(stackcheck *c, const stackcheck_note *note)
{
    report_frame *frame = &c->r->frames[note->frame];
    const stackcheck_image *one = &c->images[frame->image];
    text t = text_in(c->r->memory);
    if (note->fault == STACKCHECK_STALE) {
        text_c(&t, "the unwind tables lead past it");
    } else if (note->fault != STACKCHECK_OTHER_CALL) {
        text_c(&t, note->fault == STACKCHECK_NO_CODE ? "there is no code" : "no call ends here");
    } else {
        const report_frame *below = &c->r->frames[note->below];
        const stackcheck_image *to = stackcheck_image_of(c, below->image);
        text_c(&t, "it calls ");
        stackcheck_put_function(c, one, note->target, &t);
        text_c(&t, ", which does not get to ");
        stackcheck_put_function(c, to, stackcheck_addr(c, to, below->addr) - !below->exact, &t);
    }
    text_c(&t, ": ");
    text_c(&t, stackcheck_cause(c, note));
    frame->doubt = pool_copy_z(&c->r->strings, t.v, t.len);
    text_free(&t);
}

void stackcheck_report(report *r, const stackcheck_asked *asked)
{
    stackcheck c;
    memset(&c, 0, sizeof c);
    c.r = r;
    c.asked = asked;
    c.left = CALLS_BYTES;
    c.names_left = STACKCHECK_NAMES;
    c.steps_left = STACKCHECK_ALL_STEPS;
    r->is_checked = true;
    c.images =
        (stackcheck_image *)mem_take(r->memory, mem_times(r->memory, r->image_count, sizeof *c.images));
    memset(c.images, 0, r->image_count * sizeof *c.images);
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (stackcheck_is_checked(r, &r->threads[i]) && r->threads[i].register_count > 0)
            stackcheck_infer(&c, i);
    }
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (stackcheck_is_checked(r, &r->threads[i]))
            stackcheck_thread(&c, &r->threads[i]);
    }
    for (uint32_t i = 0; i < c.note_count; i++)
        stackcheck_tell(&c, &c.notes[i]);
    mem_give(r->memory, c.images);
    mem_give(r->memory, c.notes);
}
