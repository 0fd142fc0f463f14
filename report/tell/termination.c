/* Why the system ended a process; see termination.h. */
#include "termination.h"
#include "../base/digits.h"
#include "../model/termination.h"
#include "access.h"
#include "guard.h"

#include <string.h>

/* Returns where the words occur in any case; s.len if they do not. lower must be lower case. */
static size_t ending_find_words(machsym_str s, const char *lower)
{
    size_t len = strlen(lower);
    for (size_t at = 0; at + len <= s.len; at++) {
        size_t k = 0;
        while (k < len && (s.ptr[at + k] >= 'A' && s.ptr[at + k] <= 'Z' ? s.ptr[at + k] + 32
                                                                        : s.ptr[at + k]) == lower[k])
            k++;
        if (k == len)
            return at;
    }
    return s.len;
}

/* In text, the exception's message has the same key, and comes before the termination's text. */
static machsym_str ending_description(const report *r)
{
    machsym_str all = r->facts[FACT_DESCRIPTION];
    if (r->facts[FACT_ENDING].len > 0)
        return r->facts[FACT_ENDING];
    return r->facts[FACT_MESSAGE].len > 0 && str_equal(all, r->facts[FACT_MESSAGE]) ? str_make(NULL, 0) : all;
}

/* Returns the reason: the text after "explanation:", up to the state of the process. */
static machsym_str ending_explanation(const report *r)
{
    machsym_str all = ending_description(r);
    machsym_str why = str_after(all, "explanation:");
    if (why.len == 0)
        return all;
    why.len = str_find(why, "ProcessVisibility:");
    return str_trim_end(str_trim(why));
}

/* Writes the stage by the report's own word for it, or by words of the explanation. */
static void ending_say_stage(text *t, const report *r)
{
    static const struct {
        const char *word;
        const char *what;
    } stages[] = {{"scene-create", "launching: 20 s"},
                  {"launch", "launching: 20 s"},
                  {"resume", "resuming: 10 s"},
                  {"suspend", "suspending: 10 s"},
                  {"process-exit", "quitting: 6 s"},
                  {"terminat", "quitting: 6 s"},
                  {"scene-update", "updating the scene: 10 s"},
                  {"background task", "background task: 10 min"},
                  {"background", "background task: 10 min"}};
    machsym_str event = str_after(ending_description(r), "WatchdogEvent:");
    machsym_str why = event.len > 0 ? str_make(event.ptr, str_find(event, "\n")) : ending_explanation(r);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        if (ending_find_words(why, stages[i].word) < why.len) {
            text_c(t, " (");
            text_c(t, stages[i].what);
            text_char(t, ')');
            return;
        }
    }
}

/* Below the first share of a processor the main thread waited. Above the second it computed. In between both
 * are possible. */
enum { IDLE_PERCENT = 10, BUSY_PERCENT = 50 };

/* "Elapsed application CPU time (seconds): 0.367, 1% CPU" */
static void ending_say_cpu(text *t, const report *r)
{
    uint64_t percent;
    machsym_str line = str_after(ending_description(r), "Elapsed application CPU time (seconds):");
    line = str_trim(str_make(line.ptr, str_find(line, "\n")));
    size_t comma = str_find(line, ",");
    if (comma == line.len || !str_number_after(line, ",", &percent))
        return;
    text_c(t, "the app used ");
    text_shown(t, str_make(line.ptr, comma));
    text_c(t, " s of CPU time (");
    text_dec(t, percent);
    text_sentence(t, percent < IDLE_PERCENT
                         ? "%): it waited; look for locks and synchronous calls on the main thread"
                     : percent >= BUSY_PERCENT ? "%): it computed; look for long work on the main thread"
                                               : "%)");
}

/* Writes the watchdog and its limit: the report's own figure if it has one. */
static void ending_say_watchdog(text *t, const report *r)
{
    machsym_str why = ending_explanation(r);
    machsym_str allowance = str_after(why, "allowance of ");
    if (ending_find_words(why, "background task") < why.len && ending_find_words(why, "assertion") < why.len)
        text_c(t,
               "a background task was not ended in time: endBackgroundTask was not called before it expired");
    else
        text_c(t, "watchdog: the app did not answer in the time the system allows");
    ending_say_stage(t, r);
    if (allowance.len > 0) {
        text_c(t, "; the report says ");
        text_shown(t, str_make(allowance.ptr, str_find(allowance, " ")));
        text_c(t, " s");
    }
    text_char(t, '\n');
    ending_say_cpu(t, r);
}

/* "... was suspended with locked system files:", then one path on each line. At most this many are shown. */
enum { SHOWN_FILES = 8 };

static void ending_say_locked_files(text *t, const report *r)
{
    machsym_str rest = str_after(ending_description(r), "locked system files:");
    machsym_str line;
    if (rest.len == 0)
        rest = str_after(r->facts[FACT_APP_INFO], "locked system files:");
    unsigned shown = 0;
    text_sentence(t, "0xdead10cc: the app held a file lock or database while it was suspended");
    while (shown < SHOWN_FILES && str_take_line(&rest, &line)) {
        line = str_trim(line);
        if (line.len == 0)
            continue;
        if (line.ptr[0] != '/')
            return;
        text_c(t, "the file: ");
        text_shown(t, str_make(line.ptr, str_find(line, ">")));
        text_char(t, '\n');
        shown++;
    }
}

static const struct {
    uint64_t code;
    const char *words;
} kill_codes[] = {
    {0xdeadfa11, "0xdeadfa11: the user forced the app to quit"},
    {0xc00010ff, "0xc00010ff: killed because the device was too hot"},
    {0xbaaaaaad, "0xbaaaaaad: a stackshot of the whole system, not a crash"},
    {0xbaadca11, "0xbaadca11: killed for not reporting a call it was woken up for"},
    {0xbad22222, "0xbad22222: a VoIP app that restarted too often"},
    {0xc51bad01, "0xc51bad01: a watch app used too much CPU time in the background"},
    {0xc51bad02, "0xc51bad02: a watch app did not finish a background task in time"},
    {0xc51bad03, "0xc51bad03: a watch app had no CPU time for its background task; the system was busy"},
};

static bool ending_say_kill_code(text *t, const report *r, uint64_t code)
{
    if (code == 0x8badf00d) {
        ending_say_watchdog(t, r);
        return true;
    }
    if (code == 0xdead10cc) {
        ending_say_locked_files(t, r);
        return true;
    }
    for (size_t i = 0; i < sizeof kill_codes / sizeof kill_codes[0]; i++) {
        if (kill_codes[i].code == code) {
            text_sentence(t, kill_codes[i].words);
            return true;
        }
    }
    return false;
}

/* Known codes. Code 0 is the text for all others of a namespace. docs/facts.md has the source of
 * each. */
static const struct {
    termination_space space;
    uint64_t code;
    const char *words;
} space_codes[] = {
    {SPACE_JETSAM, 2, "jetsam: the process went above the memory mark set for it"},
    {SPACE_JETSAM, 3, "jetsam: the system had no more vnodes: too many files were open"},
    {SPACE_JETSAM, 4, "jetsam: the system had no more free memory"},
    {SPACE_JETSAM, 5, "jetsam: the system only moved memory of processes in and out"},
    {SPACE_JETSAM, 6, "jetsam: the system only read files anew that it had to forget"},
    {SPACE_JETSAM, 7, "jetsam: the process used more memory than one process may"},
    {SPACE_JETSAM, 8, "jetsam: the system had no more space on disk"},
    {SPACE_JETSAM, 9, "jetsam: the process was idle, and its memory was wanted"},
    {SPACE_JETSAM, 10, "jetsam: the kernel had no more memory of its own"},
    {SPACE_JETSAM, 11, "jetsam: the system only compressed and decompressed memory"},
    {SPACE_JETSAM, 12, "jetsam: the system had no more space for compressed memory"},
    {SPACE_JETSAM, 13, "jetsam: the system had hardly any space to swap memory to"},
    {SPACE_JETSAM, 14, "jetsam: the system was short of memory for too long"},
    {SPACE_JETSAM, 15, "jetsam: the system could not write memory out fast enough"},
    {SPACE_JETSAM, 16, "jetsam: the process used more memory of its conclave than it may"},
    {SPACE_JETSAM, 17, "jetsam: the process was idle for long, and its memory was wanted"},
    {SPACE_JETSAM, 100, "jetsam: the process used more CPU time than it may"},
    {SPACE_JETSAM, 0, "jetsam: the system was short of memory and ended the process"},
    {SPACE_CODESIGNING, 1, "code signing: the program has no valid signature, or may not run here"},
    {SPACE_CODESIGNING, 2, "code signing: a page of memory does not match the signature, or is not signed"},
    {SPACE_CODESIGNING, 3,
     "code signing: the process asked for the task port of another without being allowed to"},
    {SPACE_CODESIGNING, 4, "code signing: a launch constraint does not allow the program to be started so"},
    {SPACE_CODESIGNING, 0, "code signing: the signature does not allow what was done"},
    {SPACE_HANGTRACER, 0, "the process did not answer for too long"},
    {SPACE_TEST, 0, "a test of the system ended the process"},
    {SPACE_DYLD, 1, "dyld: a library that the program needs is missing"},
    {SPACE_DYLD, 2, "dyld: a library is there, but not for this architecture"},
    {SPACE_DYLD, 3, "dyld: a library is older than the program needs"},
    {SPACE_DYLD, 4, "dyld: a library lacks a symbol that the program needs"},
    {SPACE_DYLD, 5, "dyld: the signature of a library does not allow to load it"},
    {SPACE_DYLD, 6, "dyld: the sandbox does not allow to open a library"},
    {SPACE_DYLD, 7, "dyld: a Mach-O file is malformed"},
    {SPACE_DYLD, 0, "dyld: the program could not be loaded"},
    {SPACE_LIBXPC, 0, "libxpc: the process misused XPC"},
    {SPACE_OBJC, 0, "the Objective-C runtime found something wrong and ended the process"},
    {SPACE_EXEC, 1, "exec: the program is no Mach-O file that may run"},
    {SPACE_EXEC, 2, "exec: the user or group that the program asks for could not be set"},
    {SPACE_EXEC, 3, "exec: the first thread could not be set up"},
    {SPACE_EXEC, 4, "exec: there was no memory for the stack"},
    {SPACE_EXEC, 5, "exec: the kernel's own strings for the program could not be set up"},
    {SPACE_EXEC, 6, "exec: the arguments could not be copied to the program"},
    {SPACE_EXEC, 7, "exec: the path of dyld could not be copied to the program"},
    {SPACE_EXEC, 8, "exec: a security policy does not allow the program to run"},
    {SPACE_EXEC, 9, "exec: the check of the signature failed"},
    {SPACE_EXEC, 10, "exec: the program is encrypted by an app store, and could not be decrypted"},
    {SPACE_EXEC, 11, "exec: the program is encrypted, and could not be decrypted"},
    {SPACE_EXEC, 12, "exec: the program was changed by a packer that may not run"},
    {SPACE_EXEC, 13, "exec: programs of 32 bits do not run here"},
    {SPACE_EXEC, 14, "exec: the program is for another platform"},
    {SPACE_EXEC, 15, "exec: there was no descriptor for the program's file"},
    {SPACE_EXEC, 16, "exec: what Rosetta needs could not be copied to the program"},
    {SPACE_EXEC, 17, "exec: dyld's information could not be set"},
    {SPACE_EXEC, 18, "exec: the first thread could not be made"},
    {SPACE_EXEC, 19, "exec: an attribute of posix_spawn is not valid"},
    {SPACE_EXEC, 0, "the system could not start the program"},
    {SPACE_SPRINGBOARD, 0, "the app was ended by what shows apps on the screen"},
    {SPACE_FRONTBOARD, 0, "the app was ended by what shows apps on the screen"},
    {SPACE_TCC, 0,
     "privacy: the app used what a usage description in its Info.plist must explain, and has none"},
    {SPACE_REPORTCRASH, 0, "the crash reporter ended the process"},
    {SPACE_COREANIMATION, 0, "Core Animation found something wrong and ended the process"},
    {SPACE_AGGREGATED, 0, "the process that collects counts of the system ended the process"},
    {SPACE_RUNNINGBOARD, 0, "RunningBoard, which decides what may run, ended the process"},
    {SPACE_SKYWALK, 0, "Skywalk, the kernel's network channels: the process misused one"},
    {SPACE_SETTINGS, 0, "a change in Settings ended the process"},
    {SPACE_LIBSYSTEM, 1, "libsystem: a thread ended while it owned a workloop"},
    {SPACE_LIBSYSTEM, 3, "libsystem: the sandbox could not be set up when the process began"},
    {SPACE_LIBSYSTEM, 4, "libsystem: the list of threads is damaged: memory was overwritten"},
    {SPACE_LIBSYSTEM, 0, "libsystem found something wrong and ended the process"},
    {SPACE_FOUNDATION, 0, "Foundation found something wrong and ended the process"},
    {SPACE_WATCHDOG, 0, "the watchdog of the system was not fed in time"},
    {SPACE_METAL, 0, "Metal: the GPU or its driver gave up"},
    {SPACE_WATCHKIT, 0, "WatchKit ended the app of the watch"},
    {SPACE_GUARD, 1, "a guarded file was misused"},
    {SPACE_GUARD, 2, "guarded memory was misused"},
    {SPACE_GUARD, 3, "a guarded Mach port was misused"},
    {SPACE_GUARD, 0, "a guarded file descriptor, port or piece of memory was misused"},
    {SPACE_ANALYTICS, 0, "the analytics of the system ended the process"},
    {SPACE_SANDBOX, 0, "the sandbox does not allow what was done"},
    {SPACE_SECURITY, 0, "the Security framework or a policy of it ended the process"},
    {SPACE_ENDPOINTSECURITY, 0, "a client of Endpoint Security did not answer in time, or broke its rules"},
    {SPACE_PAC_EXCEPTION, 0, "a pointer whose authentication failed was used"},
    {SPACE_BLUETOOTH_CHIP, 0, "the Bluetooth chip failed or was reset"},
    {SPACE_PORT_SPACE, 0, "the process had no space for more Mach ports: it leaks them"},
    {SPACE_WEBKIT, 0, "WebKit ended one of its processes"},
    {SPACE_BACKLIGHTSERVICES, 0, "what drives the display's light ended the process"},
    {SPACE_MEDIA, 0, "the media services ended the process"},
    {SPACE_ROSETTA, 0, "Rosetta could not go on translating the program"},
    {SPACE_LIBIGNITION, 0, "libignition, which starts the system, failed"},
    {SPACE_BOOTMOUNT, 0, "a volume that the start of the system needs could not be mounted"},
    {SPACE_REALITYKIT, 0, "RealityKit ended the process"},
    {SPACE_AUDIO, 0, "the audio services ended the process"},
    {SPACE_WAKEBOARD, 0, "WakeBoard ended the process"},
    {SPACE_CORERC, 0, "CoreRC, the services for remote controls, ended the process"},
    {SPACE_SELF_RESTRICT, 0, "the process broke a restriction that it had set for itself"},
    {SPACE_ARKIT, 0, "ARKit ended the process"},
    {SPACE_CAMERA, 0, "the camera services ended the process"},
    {SPACE_BACKBOARD, 0, "backboardd, which handles touches and the display, ended the process"},
    {SPACE_POWEREXCEPTIONS, 0, "the process used more power than it may"},
    {SPACE_SECINIT, 0, "the sandbox of the app could not be set up when it began"},
    {SPACE_SECURITY_SOFT_TRAPS, 0, "a check of the hardened system failed, and the process went on"},
    {SPACE_MTE_FAIL, 0, "memory was used that may not be, by a check of Memory Integrity Enforcement"},
};

/* Writes the words of every namespace but SIGNAL, which the signal explains. If the exception's codes name
 * the access or the guard, they are better. */
static bool ending_say_space(text *t, machsym_str space, uint64_t code, bool is_told)
{
    for (size_t i = 0; i < sizeof space_codes / sizeof space_codes[0]; i++) {
        if (!str_is(space, termination_space_name(space_codes[i].space)) ||
            (space_codes[i].code != 0 && space_codes[i].code != code))
            continue;
        if (is_told && (space_codes[i].space == SPACE_MTE_FAIL || space_codes[i].space == SPACE_GUARD))
            return true;
        text_sentence(t, space_codes[i].words);
        return true;
    }
    return false;
}

/* "Segmentation fault: 11" repeats the signal's number. "Namespace MTE_FAIL, Code 262" repeats other
 * fields. */
static bool ending_is_signal(const report *r, machsym_str why)
{
    uint64_t code;
    uint64_t number;
    why = str_trim(str_make(why.ptr, str_find(why, "\n")));
    if (str_starts(why, "Namespace "))
        return str_find(why, ", Code ") < why.len;
    return str_is(r->facts[FACT_TERMINATION], "SIGNAL") &&
           str_number_after(r->facts[FACT_TERMINATION_CODE], "", &code) &&
           str_number_after(why, ": ", &number) && number == code;
}

machsym_str ending_why(const report *r)
{
    machsym_str rest = ending_explanation(r);
    machsym_str line = {NULL, 0};
    if (ending_is_signal(r, rest))
        return line;
    while (line.len == 0 && str_take_line(&rest, &line))
        line = str_trim(line);
    return line;
}

/* Writes the report's own reason on one line, and what dyld could not load. Leaves out what was already
 * written. */
static void ending_say_description(text *t, const report *r)
{
    static const char *const wanted[] = {"Library not loaded:", "Symbol not found:"};
    machsym_str why = ending_explanation(r);
    machsym_str first = ending_why(r);
    if (first.len == 0)
        return;
    text_c(t, "the report says: ");
    text_shown(t, first);
    text_char(t, '\n');
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t at = str_find(why, wanted[i]);
        machsym_str line = str_from(why, at);
        if (at == 0 || line.len == 0)
            continue;
        text_shown(t, str_trim(str_make(line.ptr, str_find(line, "\n"))));
        text_char(t, '\n');
    }
}

/* Whether the codes of the exception explain what happened. */
static bool ending_is_told(const report *r)
{
    access_fault fault;
    guard broken;
    access_find(r, &fault);
    guard_find(r, &broken);
    return fault.kind != ACCESS_NONE || broken.type != GUARD_NONE;
}

bool ending_explain(text *t, const report *r)
{
    uint64_t code = 0;
    if (!str_number_after(r->facts[FACT_TERMINATION_CODE], "", &code))
        str_number_after(r->facts[FACT_CODES], "", &code);
    if (ending_say_kill_code(t, r, code & 0xffffffff)) {
        bool has_more = (code & 0xffffffff) == 0x8badf00d || (code & 0xffffffff) == 0xdead10cc;
        if (!has_more)
            ending_say_description(t, r);
        return true;
    }
    bool said = ending_say_space(t, r->facts[FACT_TERMINATION], code, ending_is_told(r));
    ending_say_description(t, r);
    return said;
}
