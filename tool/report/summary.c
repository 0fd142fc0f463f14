/* What a report means; see summary.h. */
#include "summary.h"

#include <string.h>

enum { SHOWN_FRAMES = 8, SIGNATURE_FRAMES = 5 };

/* ---- Whose code ---- */

/* Of a report that lists no images, frames with a source line and those named as the process are the app's. */
static bool is_own(const report *r, const report_frame *frame)
{
    if (frame->image != REPORT_NONE)
        return !r->images[frame->image].is_system;
    machsym_str process = r->facts[FACT_PROCESS];
    machsym_str name = frame->image_name;
    return frame->given_line ||
           (name.len > 0 && name.len <= process.len && memcmp(name.ptr, process.ptr, name.len) == 0);
}

/* ---- Numbers inside facts ---- */

/* The first number behind a word: "Code 0x8badf00d", "Code 2343432205". */
static bool number_after(machsym_str s, const char *word, uint64_t *out)
{
    size_t at = str_find(s, word) + strlen(word);
    size_t end;
    if (at >= s.len)
        return false;
    while (at < s.len && (s.ptr[at] == ' ' || s.ptr[at] == ':'))
        at++;
    bool hex = s.len - at > 2 && s.ptr[at] == '0' && s.ptr[at + 1] == 'x';
    *out = 0;
    for (end = at + 2 * hex; end < s.len; end++) {
        char c = s.ptr[end];
        unsigned digit = c >= '0' && c <= '9'                        ? (unsigned)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' && hex ? (unsigned)((c | 32) - 'a' + 10)
                                                                     : 16;
        if (digit == 16)
            break;
        *out = *out * (hex ? 16 : 10) + digit;
    }
    return end > at + 2 * hex;
}

/* ---- Names of frames ---- */

/* How many functions a frame stands for: the inlined calls and the real one; 1 when nothing was found. */
static uint32_t layers(const report_frame *frame)
{
    return frame->call_count > 0 ? frame->call_count : 1;
}

static machsym_str layer_name(const report *r, const report_frame *frame, uint32_t layer)
{
    return frame->call_count > 0 ? r->calls[frame->call + layer].name : frame->name;
}

static machsym_str frame_image_name(const report *r, const report_frame *frame)
{
    return frame->image != REPORT_NONE ? r->images[frame->image].name : frame->image_name;
}

/* The stack that tells: the exception's when it was thrown, else the thread that crashed, else the first. */
static const report_thread *main_stack(const report *r)
{
    const report_thread *crashed = NULL;
    uint64_t number = UINT64_MAX;
    if (!number_after(r->facts[FACT_CRASHED_THREAD], "", &number))
        number = UINT64_MAX;
    for (uint32_t i = 0; i < r->thread_count; i++) {
        const report_thread *thread = &r->threads[i];
        if (thread->kind == THREAD_EXCEPTION && thread->count > 0)
            return thread;
        if (thread->count > 0 &&
            (crashed == NULL || (!crashed->crashed && (thread->crashed || thread->number == number))))
            crashed = thread;
    }
    return crashed;
}

/* The frame so many steps from the top. */
static const report_frame *frame_from_top(const report *r, const report_thread *thread, uint32_t step)
{
    return &r->frames[thread->first + (thread->callers_first ? thread->count - 1 - step : step)];
}

/* ---- Codes ---- */

static uint64_t first_code(const report *r)
{
    uint64_t code = 0;
    number_after(r->facts[FACT_CODES], "", &code);
    return code;
}

static uint64_t termination_code(const report *r)
{
    uint64_t code = 0;
    if (!number_after(r->facts[FACT_TERMINATION_CODE], "", &code) &&
        !number_after(r->facts[FACT_TERMINATION], "Code", &code))
        code = first_code(r);
    return code;
}

static bool fact_has(const report *r, report_fact fact, const char *needle)
{
    return r->facts[fact].len > 0 && str_find(r->facts[fact], needle) < r->facts[fact].len;
}

static bool exception_is(const report *r, const char *name)
{
    return fact_has(r, FACT_EXCEPTION, name) || fact_has(r, FACT_SIGNAL, name);
}

/* ---- The exception in words ---- */

static void sentence(text *t, const char *words)
{
    text_c(t, words);
    text_char(t, '\n');
}

static void sentence_str(text *t, const char *words, machsym_str str)
{
    size_t newline = str_find(str, "\n");
    text_c(t, words);
    text_add(t, str.ptr, newline);
    text_char(t, '\n');
}

/* What the watchdog allows: the report's own figure when it states one. */
static void say_watchdog(text *t, const report *r)
{
    static const struct {
        const char *word;
        const char *what;
    } stages[] = {{"launch", "launching: 20 s"},
                  {"scene-create", "launching: 20 s"},
                  {"resume", "resuming: 10 s"},
                  {"suspend", "suspending: 10 s"},
                  {"process-exit", "quitting: 6 s"},
                  {"terminat", "quitting: 6 s"},
                  {"scene-update", "updating the scene: 10 s"},
                  {"background", "background task: 10 min"}};
    machsym_str why =
        r->facts[FACT_DESCRIPTION].len > 0 ? r->facts[FACT_DESCRIPTION] : r->facts[FACT_TERMINATION];
    size_t at = str_find(why, "allowance of ");
    text_c(t, "watchdog: the app did not answer in the time the system allows");
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        if (str_find(why, stages[i].word) < why.len) {
            text_c(t, " (");
            text_c(t, stages[i].what);
            text_char(t, ')');
            break;
        }
    }
    if (at < why.len) {
        machsym_str rest = {why.ptr + at + 13, why.len - at - 13};
        text_c(t, "; the report says ");
        text_add(t, rest.ptr, str_find(rest, " "));
        text_c(t, " s");
    }
    text_char(t, '\n');
}

static const struct {
    uint64_t code;
    const char *words;
} kill_codes[] = {
    {0x8badf00d, NULL}, /* the watchdog */
    {0xdead10cc, "0xdead10cc: the app held a file lock or database while it was suspended"},
    {0xdeadfa11, "0xdeadfa11: the user forced the app to quit"},
    {0xc00010ff, "0xc00010ff: killed because the device was too hot"},
    {0xbaaaaaad, "0xbaaaaaad: a stackshot of the whole system, not a crash"},
    {0xbaadca11, "0xbaadca11: killed for not reporting a call it was woken up for"},
    {0xbad22222, "0xbad22222: a VoIP app that restarted too often"},
    {0xc51bad01, "0xc51bad01: a watch app used too much CPU time in the background"},
    {0xc51bad02, "0xc51bad02: a watch app did not finish a background task in time"},
};

static bool say_kill_code(text *t, const report *r)
{
    uint64_t code = termination_code(r) & 0xffffffff;
    for (size_t i = 0; i < sizeof kill_codes / sizeof kill_codes[0]; i++) {
        if (kill_codes[i].code != code)
            continue;
        if (kill_codes[i].words != NULL)
            sentence(t, kill_codes[i].words);
        else
            say_watchdog(t, r);
        return true;
    }
    return false;
}

static const char *const exception_names[] = {
    NULL,           "EXC_BAD_ACCESS", "EXC_BAD_INSTRUCTION", "EXC_ARITHMETIC",   "EXC_EMULATION",
    "EXC_SOFTWARE", "EXC_BREAKPOINT", "EXC_SYSCALL",         "EXC_MACH_SYSCALL", "EXC_RPC_ALERT",
    "EXC_CRASH",    "EXC_RESOURCE",   "EXC_GUARD",           "EXC_CORPSE_NOTIFY"};
static const char *const signal_names[] = {NULL,      "SIGHUP",  "SIGINT",  "SIGQUIT", "SIGILL", "SIGTRAP",
                                           "SIGABRT", "SIGEMT",  "SIGFPE",  "SIGKILL", "SIGBUS", "SIGSEGV",
                                           "SIGSYS",  "SIGPIPE", "SIGALRM", "SIGTERM"};

/* EXC_CRASH keeps what it came from in its first code: signal << 24 | exception << 20 | code. */
static void say_exc_crash(text *t, const report *r)
{
    uint64_t code = first_code(r);
    uint64_t number = code >> 24 & 0xff;
    uint64_t exception = code >> 20 & 0xf;
    if (!exception_is(r, "EXC_CRASH") || code == 0 || number == 0 ||
        number >= sizeof signal_names / sizeof *signal_names)
        return;
    text_c(t, "EXC_CRASH code: ");
    text_c(t, signal_names[number]);
    if (exception > 0 && exception < sizeof exception_names / sizeof *exception_names) {
        text_c(t, " from ");
        text_c(t, exception_names[exception]);
        text_c(t, ", code 0x");
        text_hex(t, code & 0xfffff, 1);
    }
    text_char(t, '\n');
}

/* "*** Terminating app due to uncaught exception 'NAME', reason: 'WHY'" */
static bool say_uncaught(text *t, const report *r)
{
    static const char due[] = "uncaught exception '";
    static const char because[] = "reason: '";
    machsym_str info = r->facts[FACT_APP_INFO];
    size_t at = str_find(info, due);
    if (at < info.len) {
        machsym_str rest = {info.ptr + at + sizeof due - 1, info.len - at - (sizeof due - 1)};
        size_t end = str_find(rest, "'");
        size_t why = str_find(rest, because);
        text_c(t, "uncaught exception ");
        text_add(t, rest.ptr, end);
        if (why < rest.len) {
            machsym_str reason = {rest.ptr + why + sizeof because - 1, rest.len - why - (sizeof because - 1)};
            size_t line = str_find(reason, "\n");
            text_c(t, ": ");
            text_add(t, reason.ptr, line > 0 && reason.ptr[line - 1] == '\'' ? line - 1 : line);
        }
        text_char(t, '\n');
        return true;
    }
    if (r->facts[FACT_REASON].len > 0) {
        sentence_str(t, "reason: ", r->facts[FACT_REASON]);
        return true;
    }
    return false;
}

/* The name at the top of the stack, and whether any of its names is that of a Swift function's failure. */
static machsym_str top_name(const report *r)
{
    const report_thread *thread = main_stack(r);
    machsym_str none = {NULL, 0};
    return thread != NULL ? layer_name(r, frame_from_top(r, thread, 0), 0) : none;
}

static bool is_swift(const report *r)
{
    const report_thread *thread = main_stack(r);
    for (uint32_t i = 0; thread != NULL && i < thread->count && i < 4; i++) {
        const report_frame *frame = frame_from_top(r, thread, i);
        for (uint32_t layer = 0; layer < layers(frame); layer++) {
            machsym_str name = layer_name(r, frame, layer);
            if (str_find(name, "Swift") < name.len || str_find(name, "swift") < name.len)
                return true;
            if (frame->call_count > 0) {
                machsym_str path = r->calls[frame->call + layer].path;
                if (path.len > 6 && memcmp(path.ptr + path.len - 6, ".swift", 6) == 0)
                    return true;
            }
        }
        if (str_find(frame->where, ".swift:") < frame->where.len ||
            str_starts(frame_image_name(r, frame), "libswift"))
            return true;
    }
    return false;
}

static void say_trap(text *t, const report *r)
{
    machsym_str info = r->facts[FACT_APP_INFO];
    if (str_find(info, "Fatal error") < info.len || str_find(info, "fatal error") < info.len)
        sentence_str(t, "Swift runtime failure: ", info);
    else if (is_swift(r))
        sentence(
            t,
            "Swift runtime failure: a trap the compiler put in (nil unwrapped, index out of range, overflow, "
            "failed cast, precondition)");
    else
        sentence(t, "a trap: a check in the code or the compiler failed, or __builtin_trap was called");
}

static bool is_messenger(machsym_str name)
{
    static const char *const names[] = {
        "objc_msgSend",  "objc_release",     "objc_retain",   "objc_autorelease", "_objc_msgSend",
        "objc_loadWeak", "objc_storeStrong", "swift_release", "swift_retain",     "CFRelease",
        "CFRetain",      "_objc_release",    "objc_opt_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (str_starts(name, names[i]))
            return true;
    }
    return false;
}

/* Whether the topmost frames are all of one function. */
static bool is_recursion(const report *r)
{
    const report_thread *thread = main_stack(r);
    machsym_str name = top_name(r);
    if (thread == NULL || thread->count < 20 || name.len == 0)
        return false;
    for (uint32_t i = 1; i < 10; i++) {
        if (!str_equal(layer_name(r, frame_from_top(r, thread, i), 0), name))
            return false;
    }
    return true;
}

static void say_bad_access(text *t, const report *r)
{
    uint64_t addr = UINT64_MAX;
    machsym_str info = r->facts[FACT_APP_INFO];
    bool known = number_after(r->facts[FACT_SUBTYPE], " at ", &addr) ||
                 number_after(r->facts[FACT_CODES], " at ", &addr);
    if (is_messenger(top_name(r)))
        sentence(t, "message to a freed or damaged object: objc_msgSend or a retain or release is on top");
    else if (known && addr < 0x1000)
        sentence(t, "access through a null pointer");
    else if (fact_has(r, FACT_SUBTYPE, "KERN_PROTECTION_FAILURE") ||
             fact_has(r, FACT_CODES, "KERN_PROTECTION_FAILURE"))
        sentence(t, "access to memory that may not be read or written so");
    else if (fact_has(r, FACT_SUBTYPE, "pointer authentication"))
        sentence(t, "a pointer whose authentication failed was used");
    else
        sentence(t, "access to memory that is not there");
    size_t selector = str_find(info, "selector name: ");
    if (selector < info.len)
        sentence_str(t, "the message: ", (machsym_str){info.ptr + selector + 15, info.len - selector - 15});
    if (is_recursion(r))
        sentence(t, "one function calls itself all over the top of the stack: the stack overflowed");
}

static void say_signal(text *t, const report *r)
{
    if (exception_is(r, "EXC_BREAKPOINT") || exception_is(r, "SIGTRAP"))
        say_trap(t, r);
    else if (exception_is(r, "EXC_BAD_INSTRUCTION") || exception_is(r, "SIGILL"))
        is_swift(r) ? say_trap(t, r) : sentence(t, "an illegal instruction was executed");
    else if (exception_is(r, "EXC_BAD_ACCESS") || exception_is(r, "SIGSEGV") || exception_is(r, "SIGBUS"))
        say_bad_access(t, r);
    else if (exception_is(r, "EXC_RESOURCE"))
        sentence_str(t,
                     "a limit of CPU, memory, wakeups or disk writes was exceeded: ", r->facts[FACT_SUBTYPE]);
    else if (exception_is(r, "EXC_GUARD"))
        sentence_str(t, "a guarded resource was misused: ", r->facts[FACT_SUBTYPE]);
    else if (exception_is(r, "SIGABRT"))
        sentence(
            t,
            "the program called abort: an uncaught exception, a failed assertion, or a library's own check");
    else if (exception_is(r, "SIGQUIT"))
        sentence(t, "another process asked for the end of this one");
    else if (exception_is(r, "SIGKILL"))
        sentence(t, "the system killed the process: watchdog, memory pressure or a broken rule");
    else if (exception_is(r, "SIGFPE") || exception_is(r, "EXC_ARITHMETIC"))
        sentence(t, "an arithmetic error: division by zero, or an overflow the processor reports");
    else if (exception_is(r, "SIGSYS"))
        sentence(t, "a system call that does not exist");
    else if (exception_is(r, "SIGPIPE"))
        sentence(t, "a write to a pipe or socket that nobody reads");
}

static void say_title(text *t, const report *r)
{
    if (r->facts[FACT_EXCEPTION].len == 0) {
        text_c(t, report_kind_name(r->kind));
        if (r->facts[FACT_EVENT].len > 0)
            text_c(t, ": ");
        text_str(t, r->facts[FACT_EVENT]);
    } else {
        text_str(t, r->facts[FACT_EXCEPTION]);
        if (r->facts[FACT_SIGNAL].len > 0) {
            text_c(t, " (");
            text_str(t, r->facts[FACT_SIGNAL]);
            text_char(t, ')');
        }
        if (r->facts[FACT_SUBTYPE].len > 0) {
            text_c(t, ": ");
            text_str(t, r->facts[FACT_SUBTYPE]);
        }
    }
    text_char(t, '\n');
}

void text_exception(text *t, const report *r)
{
    say_title(t, r);
    if (r->kind == REPORT_STACKLESS && str_starts(r->facts[FACT_EVENT], "stackshot")) {
        sentence(
            t, "a stackshot of all processes: its stacks are pairs of numbers, which are not looked up here");
        return;
    }
    if (r->kind == REPORT_STACKLESS) {
        sentence(t, "this kind of report holds no stacks, so there is nothing to look up");
        return;
    }
    if (fact_has(r, FACT_NOTE, "SIMULATED"))
        sentence(t, "SIMULATED: not a crash; the report was asked for while the process went on");
    say_exc_crash(t, r);
    bool killed = say_kill_code(t, r);
    bool thrown = say_uncaught(t, r);
    machsym_str top = top_name(r);
    if (str_is(top, "gpus_ReturnNotPermittedKillClient"))
        sentence(t, "the app used the GPU while it was in the background");
    else if (!killed && !thrown)
        say_signal(t, r);
    if (r->facts[FACT_DESCRIPTION].len > 0 && !killed)
        sentence_str(t, "the report says: ", r->facts[FACT_DESCRIPTION]);
}

/* ---- The summary ---- */

/* Escape sequences of a terminal; empty without colour. */
typedef struct palette {
    const char *strong;
    const char *warn;
    const char *plain;
} palette;

static void put_layer(text *t, const report *r, const report_frame *frame, uint32_t layer,
                      const palette *colours)
{
    machsym_str name = layer_name(r, frame, layer);
    size_t at = t->len;
    text_c(t, "    ");
    text_str(t, frame_image_name(r, frame));
    do
        text_char(t, ' ');
    while (t->len - at < 28);
    text_c(t, colours->strong);
    if (name.len > 0) {
        text_str(t, name);
    } else {
        text_c(t, "0x");
        text_hex(t, frame->addr, 1);
    }
    text_c(t, colours->plain);
    if (frame->call_count > 0 && r->calls[frame->call + layer].has_line) {
        const report_call *call = &r->calls[frame->call + layer];
        text_c(t, "  ");
        text_str(t, str_base_name(call->path));
        text_char(t, ':');
        text_dec(t, call->line);
        text_c(t, call->is_inline ? "  (inlined)" : "");
    } else if (frame->where.len > 0) {
        text_c(t, "  ");
        text_str(t, frame->where);
    }
    text_char(t, '\n');
}

static void put_own_frames(text *t, const report *r, const palette *colours)
{
    const report_thread *thread = main_stack(r);
    unsigned shown = 0;
    if (thread == NULL)
        return;
    text_c(t, thread->kind == THREAD_EXCEPTION ? "  the exception was thrown at"
              : thread->crashed                ? "  crashed in thread "
                                               : "  thread ");
    if (thread->kind != THREAD_EXCEPTION)
        text_dec(t, thread->number);
    if (thread->name.len + thread->queue.len > 0) {
        text_c(t, ", ");
        text_str(t, thread->name.len > 0 ? thread->name : thread->queue);
    }
    text_c(t, ", the app's own frames:\n");
    for (uint32_t i = 0; i < thread->count && shown < SHOWN_FRAMES; i++) {
        const report_frame *frame = frame_from_top(r, thread, i);
        for (uint32_t layer = 0; is_own(r, frame) && layer < layers(frame) && shown < SHOWN_FRAMES;
             layer++, shown++)
            put_layer(t, r, frame, layer, colours);
    }
    if (shown == 0)
        put_layer(t, r, frame_from_top(r, thread, 0), 0, colours);
}

/* Nothing is looked for where the report tells neither a UUID nor a name. */
static image_found found_of(const report_image *image)
{
    return image->looked_for ? image->status.found : IMAGE_MISSING;
}

static void put_missing_image(text *t, const report_image *image, const palette *colours)
{
    text_c(t, "    ");
    text_c(t, colours->warn);
    text_str(t, image->name.len > 0 ? image->name : str_c("???"));
    text_c(t, colours->plain);
    switch (found_of(image)) {
    case IMAGE_OTHER_UUID:
        text_c(t, ": report wants UUID ");
        text_uuid(t, &image->uuid);
        text_c(t, ", found ");
        text_uuid(t, &image->status.uuid);
        text_c(t, " in ");
        text_c(t, image->status.path);
        break;
    case IMAGE_BROKEN:
        text_c(t, ": ");
        text_c(t, image->status.path);
        text_c(t, ": ");
        text_c(t, image->status.why);
        break;
    case IMAGE_AMBIGUOUS: text_c(t, ": several files of this name, and no UUID to choose by"); break;
    case IMAGE_FOUND:
        text_c(t, ": ");
        text_c(t, image->status.path);
        text_c(t, " knows no name for ");
        text_dec(t, image->missing);
        text_c(t, image->missing == 1 ? " frame" : " frames");
        break;
    default:
        if (image->has_uuid) {
            text_c(t, " UUID ");
            text_uuid(t, &image->uuid);
        }
        text_c(t, image->arch.len > 0 ? " " : "");
        text_str(t, image->arch);
        text_c(t, image->has_uuid ? ": no file has this UUID" : ": the report gives no UUID");
        break;
    }
    text_char(t, '\n');
}

static void put_images(text *t, const report *r, uint32_t missing, const palette *colours)
{
    unsigned system = 0;
    bool title = false;
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        if (image->missing == 0)
            continue;
        if (image->is_system && found_of(image) == IMAGE_MISSING) {
            system++;
            continue;
        }
        text_c(t, title ? "" : "  symbols are missing for:\n");
        title = true;
        put_missing_image(t, image, colours);
    }
    if (system > 0) {
        text_c(t, "  no symbols for ");
        text_dec(t, system);
        text_c(t, system == 1 ? " image of the system\n" : " images of the system\n");
    }
    if (r->image_count == 0 && missing > 0)
        text_c(t,
               "  the report lists no images, so nothing can be looked up; --load NAME=ADDRESS names one\n");
}

static void put_sources(text *t, const report *r)
{
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        if (found_of(image) != IMAGE_FOUND || image->missing == image->frame_count)
            continue;
        text_c(t, "    ");
        text_str(t, image->name);
        text_c(t, image->status.has_dwarf ? ": debug info of " : ": symbols of ");
        text_c(t, image->status.path);
        if (image->status.other_lines) {
            text_c(t, ", a map built with --lines=");
            text_c(t, image->status.lines);
            text_c(t, ": some lines differ; build it with --lines=");
            text_c(t, image->status.wanted_lines);
        }
        text_char(t, '\n');
    }
}

void text_summary(text *t, const report *r, const resolve_counts *counts, bool colour)
{
    static const palette none = {"", "", ""};
    static const palette ansi = {"\033[1m", "\033[33m", "\033[0m"};
    const palette *colours = colour ? &ansi : &none;
    if (r->facts[FACT_PROCESS].len > 0) {
        text_str(t, r->facts[FACT_PROCESS]);
        text_c(t, r->facts[FACT_VERSION].len > 0 ? " " : "");
        text_str(t, r->facts[FACT_VERSION]);
        text_c(t, r->facts[FACT_OS].len > 0 ? " on " : "");
        text_str(t, r->facts[FACT_OS]);
        text_char(t, '\n');
    }
    text words = {0};
    text_exception(&words, r);
    for (size_t at = 0; at < words.len;) {
        machsym_str rest = {words.v + at, words.len - at};
        size_t line = str_find(rest, "\n");
        text_c(t, "  ");
        text_add(t, rest.ptr, line + 1);
        at += line + 1;
    }
    text_free(&words);
    if (r->frame_count == 0)
        return;
    put_own_frames(t, r, colours);
    text_c(t, "  ");
    text_dec(t, counts->frames);
    text_c(t, counts->frames == 1 ? " frame: " : " frames: ");
    text_dec(t, counts->dwarf);
    text_c(t, " named with line, ");
    text_dec(t, counts->symbols);
    text_c(t, " named, ");
    text_dec(t, counts->given);
    text_c(t, " had a name, ");
    text_dec(t, counts->missing);
    text_c(t, " without\n");
    put_sources(t, r);
    put_images(t, r, counts->missing, colours);
}

/* ---- Signatures ---- */

static uint64_t hash_str(uint64_t hash, machsym_str s)
{
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
    return hash;
}

static const uint64_t hash_start = 0xcbf29ce484222325u;

/* A name that is the same in the next build: without the numbers that compilers hand out at will. */
static machsym_str stable_name(machsym_str name)
{
    static const char *const tails[] = {".llvm.", ".cold.", " (.cold", ".resume.", ".destroy."};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
        name.len = str_find(name, tails[i]);
    return name;
}

static void add_to_signature(signature *out, machsym_str name, machsym_str image, bool in_text)
{
    text one = {0};
    if (name.len > 0) {
        text_str(&one, stable_name(name));
    } else {
        text_str(&one, image);
        text_c(&one, " (no name)");
    }
    machsym_str whole = {one.v, one.len};
    uint64_t hash = hash_str(hash_start, whole);
    bool again = out->frame_count > 0 && out->frames[out->frame_count - 1] == hash; /* recursion */
    if (!again && out->frame_count < sizeof out->frames / sizeof out->frames[0]) {
        out->frames[out->frame_count++] = hash;
        if (in_text) {
            text_c(&out->text, out->text.len > 0 ? " | " : "");
            text_str(&out->text, whole);
        }
    }
    text_free(&one);
}

static void add_stack_to_signature(const report *r, const report_thread *thread, bool own, signature *out)
{
    unsigned most = sizeof out->frames / sizeof out->frames[0];
    for (uint32_t i = 0; i < thread->count && out->frame_count < most; i++) {
        const report_frame *frame = frame_from_top(r, thread, i);
        if (own && !is_own(r, frame))
            continue;
        for (uint32_t layer = 0; layer < layers(frame); layer++)
            add_to_signature(out, layer_name(r, frame, layer), frame_image_name(r, frame),
                             out->frame_count < SIGNATURE_FRAMES);
        if (!own && out->frame_count >= SIGNATURE_FRAMES)
            return;
    }
}

void report_signature(const report *r, signature *out)
{
    const report_thread *thread = main_stack(r);
    memset(out, 0, sizeof *out);
    if (thread != NULL) {
        add_stack_to_signature(r, thread, true, out);
        if (out->frame_count == 0)
            add_stack_to_signature(r, thread, false, out);
    }
    if (out->text.len == 0)
        text_c(&out->text, "(no stack)");
    out->hash = hash_str(hash_start, (machsym_str){out->text.v, out->text.len});
}
