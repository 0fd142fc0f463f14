/* The exception of a report in words. */
#include "exception.h"
#include "../model/stack.h"
#include "access.h"
#include "codes.h"
#include "guard.h"
#include "machsym.h"
#include "said.h"
#include "termination.h"

#include <string.h>

/* ---- Codes ---- */

static bool exception_fact_has(const report *r, report_fact fact, const char *needle)
{
    return r->facts[fact].len > 0 && str_find(r->facts[fact], needle) < r->facts[fact].len;
}

static bool exception_is(const report *r, const char *name)
{
    return exception_fact_has(r, FACT_EXCEPTION, name) || exception_fact_has(r, FACT_SIGNAL, name);
}

/* ---- The exception in words ---- */

static void exception_sentence_str(text *t, const char *words, machsym_str str)
{
    size_t newline = str_find(str, "\n");
    text_c(t, words);
    text_shown(t, str_make(str.ptr, newline));
    text_char(t, '\n');
}

/* The first code of EXC_CRASH holds its origin: signal << 24 | exception << 20 | code. */
static void exception_say_exc_crash(text *t, const report *r)
{
    uint64_t code = codes_find(r).first;
    uint64_t number = code >> 24 & 0xff;
    uint64_t exception = code >> 20 & 0xf;
    const char *signal = report_signal_name(number);
    const char *name = report_exception_name(exception);
    if (!exception_is(r, "EXC_CRASH") || signal == NULL)
        return;
    text_c(t, "EXC_CRASH code: ");
    text_c(t, signal);
    if (name != NULL) {
        text_c(t, " from ");
        text_c(t, name);
        text_c(t, ", code 0x");
        text_hex(t, code & 0xfffff, 1);
    }
    text_char(t, '\n');
}

/* Returns the name at the top of the stack, and whether one of its names is a Swift runtime failure. */
static machsym_str exception_top_name(const report *r)
{
    const report_thread *thread = stack_main(r);
    machsym_str none = {NULL, 0};
    return thread != NULL ? stack_layer_name(r, stack_frame(r, thread, 0), 0) : none;
}

static bool exception_is_swift(const report *r)
{
    const report_thread *thread = stack_main(r);
    for (uint32_t i = 0; thread != NULL && i < stack_count(thread) && i < 4; i++) {
        const report_frame *frame = stack_frame(r, thread, i);
        for (uint32_t layer = 0; layer < stack_layers(frame); layer++) {
            machsym_str name = stack_layer_name(r, frame, layer);
            if (str_find(name, "Swift") < name.len || str_find(name, "swift") < name.len)
                return true;
            if (frame->call_count > 0) {
                machsym_str path = r->calls[frame->call + layer].path;
                if (path.len > 6 && memcmp(path.ptr + path.len - 6, ".swift", 6) == 0)
                    return true;
            }
        }
        if (str_find(frame->where, ".swift:") < frame->where.len ||
            str_starts(stack_image_name(r, frame), "libswift"))
            return true;
    }
    return false;
}

/* "Swift runtime failure: arithmetic overflow". The compiler makes an inlined function for each check, and
 * its name says which one. */
static machsym_str exception_swift_check(const report *r)
{
    static const char name_begins[] = "Swift runtime failure: ";
    const report_thread *thread = stack_main(r);
    for (uint32_t i = 0; thread != NULL && i < stack_count(thread) && i < 2; i++) {
        const report_frame *frame = stack_frame(r, thread, i);
        for (uint32_t layer = 0; layer < stack_layers(frame); layer++) {
            machsym_str name = stack_layer_name(r, frame, layer);
            if (str_starts(name, name_begins))
                return name;
        }
    }
    return str_make(NULL, 0);
}

static void exception_say_trap(text *t, const report *r)
{
    machsym_str failed = exception_swift_check(r);
    if (failed.len > 0) {
        exception_sentence_str(t, "", failed);
        return;
    }
    if (exception_is_swift(r))
        text_sentence(
            t,
            "Swift runtime failure: a trap the compiler put in (nil unwrapped, index out of range, overflow, "
            "failed cast, precondition)");
    else
        text_sentence(t, "a trap: a check in the code or the compiler failed, or __builtin_trap was called");
}

/* Whether the topmost frames all belong to one function. */
static bool exception_is_recursion(const report *r)
{
    const report_thread *thread = stack_main(r);
    machsym_str name = exception_top_name(r);
    if (thread == NULL || stack_count(thread) < 20 || name.len == 0)
        return false;
    for (uint32_t i = 1; i < 10; i++) {
        if (!str_equal(stack_layer_name(r, stack_frame(r, thread, i), 0), name))
            return false;
    }
    return true;
}

static void exception_say_bad_access(text *t, const report *r)
{
    access_fault fault;
    machsym_str info = r->facts[FACT_APP_INFO];
    size_t selector = str_find(info, "selector name: ");
    access_find(r, &fault);
    if (fault.kind == ACCESS_NONE)
        text_sentence(t, "the process was sent the signal: no access to memory failed");
    else
        access_put(t, &fault);
    if (selector < info.len)
        exception_sentence_str(t,
                               "the message: ", str_make(info.ptr + selector + 15, info.len - selector - 15));
    if (exception_is_recursion(r))
        text_sentence(t, "one function calls itself all over the top of the stack: the stack overflowed");
}

/* If the codes do not explain it, the report's own words are used. */
static machsym_str exception_own_words(const report *r)
{
    return r->facts[FACT_MESSAGE].len > 0 ? r->facts[FACT_MESSAGE] : codes_subtype(r);
}

static void exception_say_guard(text *t, const report *r)
{
    guard found;
    guard_find(r, &found);
    if (found.type != GUARD_NONE && found.type != GUARD_UNKNOWN)
        guard_put(t, &found);
    else
        exception_sentence_str(t, "a guarded resource was misused: ", exception_own_words(r));
}

static void exception_say_limit(text *t, const report *r)
{
    if (!guard_put_limit(t, r))
        exception_sentence_str(
            t, "a limit of CPU, memory, wakeups or disk writes was exceeded: ", exception_own_words(r));
}

static void exception_say_signal(text *t, const report *r)
{
    if (exception_is(r, "EXC_BREAKPOINT") || exception_is(r, "SIGTRAP"))
        exception_say_trap(t, r);
    else if (exception_is(r, "EXC_BAD_INSTRUCTION") || exception_is(r, "SIGILL"))
        exception_is_swift(r) ? exception_say_trap(t, r)
                              : text_sentence(t, "an illegal instruction was executed");
    else if (exception_is(r, "EXC_BAD_ACCESS") || exception_is(r, "SIGSEGV") || exception_is(r, "SIGBUS"))
        exception_say_bad_access(t, r);
    else if (exception_is(r, "EXC_RESOURCE"))
        exception_say_limit(t, r);
    else if (exception_is(r, "EXC_GUARD"))
        exception_say_guard(t, r);
    else if (exception_is(r, "SIGABRT"))
        text_sentence(
            t,
            "the program called abort: an uncaught exception, a failed assertion, or a library's own check");
    else if (exception_is(r, "SIGQUIT"))
        text_sentence(t, "another process asked for the end of this one");
    else if (exception_is(r, "SIGKILL"))
        text_sentence(t, "the system killed the process: watchdog, memory pressure or a broken rule");
    else if (exception_is(r, "SIGFPE") || exception_is(r, "EXC_ARITHMETIC"))
        text_sentence(t, "an arithmetic error: division by zero, or an overflow the processor reports");
    else if (exception_is(r, "SIGSYS"))
        text_sentence(t, "a system call that does not exist");
    else if (exception_is(r, "SIGPIPE"))
        text_sentence(t, "a write to a pipe or socket that has no reader");
}

/* Writes what was measured, for reports that are not crashes. */
static void exception_say_event(text *t, const report *r)
{
    static const char *const events[][2] = {
        {"hang", "the main thread did not answer for "},
        {"cpu usage", "more CPU time than the system allows: "},
        {"disk writes", "more written to storage than the system allows: "},
        {"slow launch", "the launch took "},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events && r->facts[FACT_AMOUNT].len > 0; i++) {
        if (str_is(r->facts[FACT_EVENT], events[i][0]))
            exception_sentence_str(t, events[i][1], r->facts[FACT_AMOUNT]);
    }
}

static void exception_say_lines(text *t, machsym_str lines)
{
    machsym_str line;
    while (str_take_line(&lines, &line))
        exception_sentence_str(t, "", line);
}

/* Words of the kernel's panics, by a part of its message. */
static const char *const panic_causes[][2] = {
    {"watchdog timeout",
     "a service that must answer the watchdog did not in time: the machine hung until the kernel "
     "restarted it"},
    {"watchdog reset", "the hardware's watchdog reset the machine, since the kernel did not answer it"},
    {"transition timed out", "a driver did not finish going to sleep or waking in time"},
    {"page fault", "code of the kernel used memory that is not there"},
    {"data abort", "code of the kernel used memory that is not there"},
    {"instruction fetch abort", "the kernel jumped to memory that holds no code"},
    {"modified after free", "memory of the kernel was written after it was freed"},
    {"initproc", "launchd, without which nothing runs, ended"},
    {"launchd", "launchd, without which nothing runs, ended"},
    {"zalloc", "the kernel ran out of memory for one of its zones"},
    {"assertion failed", "a check in the kernel failed"},
};

/* Lists the kernel extensions in the backtrace. The first one is where to look. */
static void exception_say_kexts(text *t, const report *r)
{
    enum { SHOWN = 4 };
    const report_thread *thread = stack_main(r);
    uint32_t shown[SHOWN];
    unsigned count = 0;
    text names = text_in(r->memory);
    for (uint32_t i = 0; thread != NULL && i < thread->count && count < SHOWN; i++) {
        uint32_t image = stack_frame(r, thread, i)->image;
        bool is_new = image != REPORT_NONE && r->images[image].bundle.len > 0;
        for (unsigned k = 0; k < count; k++)
            is_new = is_new && shown[k] != image;
        if (!is_new)
            continue;
        text_c(&names, count > 0 ? ", " : "");
        text_str(&names, r->images[image].bundle);
        shown[count++] = image;
    }
    if (count > 0)
        exception_sentence_str(
            t, "kernel extensions on the stack, innermost first: ", str_make(names.v, names.len));
    text_free(&names);
}

static void exception_say_panic(text *t, const report *r)
{
    text_sentence(
        t,
        "the kernel stopped the machine: no crash of an app, though what a process did may have led to it");
    for (size_t i = 0; i < sizeof panic_causes / sizeof *panic_causes; i++) {
        if (exception_fact_has(r, FACT_EVENT, panic_causes[i][0])) {
            text_sentence(t, panic_causes[i][1]);
            break;
        }
    }
    if (r->facts[FACT_PROCESS].len > 0)
        exception_sentence_str(t, "the processor that panicked ran ", r->facts[FACT_PROCESS]);
    exception_say_kexts(t, r);
}

static void exception_say_details(text *t, const report *r)
{
    machsym_str rest = r->facts[FACT_DETAILS];
    machsym_str line;
    while (str_take_line(&rest, &line))
        exception_sentence_str(t, "", str_trim(line));
}

static void exception_say_title(text *t, const report *r)
{
    if (r->facts[FACT_EXCEPTION].len == 0) {
        text_c(t, report_kind_name(r->kind));
        if (r->facts[FACT_EVENT].len > 0)
            text_c(t, ": ");
        text_shown(t, r->facts[FACT_EVENT]);
    } else {
        text_shown(t, r->facts[FACT_EXCEPTION]);
        if (r->facts[FACT_SIGNAL].len > 0) {
            text_c(t, " (");
            text_shown(t, r->facts[FACT_SIGNAL]);
            text_char(t, ')');
        }
        machsym_str subtype = r->facts[FACT_RAW_CODES].len > 0 ? codes_subtype(r) : r->facts[FACT_SUBTYPE];
        if (subtype.len > 0) {
            text_c(t, ": ");
            text_shown(t, subtype);
        }
    }
    text_char(t, '\n');
}

/* Writes the message of the exception, unless it repeats the codes in other words. */
static void exception_say_message(text *t, const report *r)
{
    if (r->facts[FACT_MESSAGE].len > 0 && !exception_is(r, "EXC_GUARD") && !exception_is(r, "EXC_RESOURCE"))
        exception_sentence_str(t, "the report says: ", r->facts[FACT_MESSAGE]);
}

/* Whether the signal needs more words: always for a failed access and a guard; for others only if no reason
 * was given. */
static bool exception_wants_signal(const report *r, const said *words, bool killed)
{
    access_fault fault;
    guard broken;
    access_find(r, &fault);
    guard_find(r, &broken);
    return fault.kind != ACCESS_NONE || broken.type != GUARD_NONE ||
           (!killed && (words->kind == SAID_NOTHING || words->kind == SAID_OTHER));
}

void exception_put(text *t, const report *r)
{
    exception_say_title(t, r);
    if (r->kind == REPORT_STACKSHOT) {
        ending_explain(t, r);
        text_sentence(t, "a stackshot of all processes: what each thread did at one moment, not a crash");
        return;
    }
    if (r->kind == REPORT_PANIC) {
        exception_say_panic(t, r);
        return;
    }
    exception_say_details(t, r);
    if (r->kind == REPORT_STACKLESS) {
        text_sentence(t, "this kind of report holds no stacks, so there is nothing to look up");
        exception_say_lines(t, r->facts[FACT_DESCRIPTION]);
        return;
    }
    exception_say_event(t, r);
    if (exception_fact_has(r, FACT_NOTE, "SIMULATED"))
        text_sentence(t, "SIMULATED: not a crash; the report was asked for while the process went on");
    if (exception_fact_has(r, FACT_NOTE, "NON-FATAL"))
        text_sentence(t, "not a crash: the report was made while the process went on");
    if (exception_fact_has(r, FACT_NOTE, "RECRASH"))
        text_sentence(t,
                      "the crash reporter itself crashed; what it was writing is the report before this one");
    exception_say_exc_crash(t, r);
    said words;
    said_find(r, &words);
    said_put(t, &words);
    exception_say_message(t, r);
    bool killed = ending_explain(t, r);
    if (str_is(exception_top_name(r), "gpus_ReturnNotPermittedKillClient"))
        text_sentence(t, "the app used the GPU while it was in the background");
    else if (exception_wants_signal(r, &words, killed))
        exception_say_signal(t, r);
}
