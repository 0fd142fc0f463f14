/* The header and the trailer of Apple's text; see apple.h. */
#include "apple.h"
#include "../base/digits.h"

#include <string.h>

/* ---- Which form ---- */

static bool apple_is_simulator(const report *r)
{
    enum { IOS = 7, TVOS = 8, WATCHOS = 9, VISIONOS = 12 }; /* PLATFORM_*SIMULATOR of mach-o/loader.h */
    uint64_t platform = 0;
    if (r->meta_doc != REPORT_NONE)
        json_u64(&r->docs[r->meta_doc], json_get(&r->docs[r->meta_doc], 0, "platform"), &platform);
    return platform == IOS || platform == TVOS || platform == WATCHOS || platform == VISIONOS;
}

apple_text apple_open(const report *r, const write_options *how, text *out)
{
    apple_text a = {out, r, NULL, how, APPLE_IOS, false};
    uint64_t major = 0;
    if (r->kind != REPORT_IPS)
        return a;
    a.doc = &r->docs[r->main_doc];
    a.is_mac = str_number_after(r->facts[FACT_OS], "macOS ", &major);
    if (!a.is_mac)
        return a;
    if (apple_is_simulator(r))
        a.form = major <= 12 ? APPLE_CONSOLE : APPLE_IOS;
    else
        a.form = major < 26 ? APPLE_MAC : APPLE_MAC26;
    return a;
}

/* ---- Values ---- */

bool apple_has(const apple_text *a, uint32_t object, const char *key)
{
    uint32_t value = json_get(a->doc, object, key);
    return value != JSON_NONE && !(json_is(a->doc, value, JSON_LITERAL) && !json_true(a->doc, value));
}

static bool apple_is_set(const apple_text *a, const char *key)
{
    uint32_t value = json_get(a->doc, 0, key);
    uint64_t number = 0;
    return json_true(a->doc, value) || (json_u64(a->doc, value, &number) && number != 0);
}

static void apple_put_lines(text *t, machsym_str s)
{
    size_t from = 0;
    if (s.len == 0) /* its pointer may be NULL */
        return;
    for (size_t i = 0; i <= s.len; i++) {
        bool is_end = i == s.len;
        if (!is_end && s.ptr[i] != '\n' && s.ptr[i] != '\t')
            continue;
        text_shown(t, str_make(s.ptr + from, i - from));
        if (!is_end)
            text_char(t, s.ptr[i]);
        from = i + 1;
    }
}

void apple_put_value(const apple_text *a, uint32_t token)
{
    text plain = text_in(a->r->memory);
    json_unescape(&plain, json_raw(a->doc, token));
    apple_put_lines(a->t, str_make(plain.v, plain.len));
    text_free(&plain);
}

/* Most values are names, paths and words on one line. */
static void apple_put_name(const apple_text *a, uint32_t token)
{
    text plain = text_in(a->r->memory);
    json_unescape(&plain, json_raw(a->doc, token));
    text_shown(a->t, str_make(plain.v, plain.len));
    text_free(&plain);
}

static void apple_put_member(const apple_text *a, uint32_t object, const char *key, const char *otherwise)
{
    if (apple_has(a, object, key))
        apple_put_name(a, json_get(a->doc, object, key));
    else
        text_c(a->t, otherwise);
}

/* The strings of an array, a line each. */
static void apple_put_list(const apple_text *a, uint32_t array)
{
    uint32_t at = JSON_NONE;
    if (json_is(a->doc, array, JSON_STRING)) {
        apple_put_value(a, array);
        text_char(a->t, '\n');
    }
    while (json_next(a->doc, array, &at)) {
        apple_put_value(a, at);
        text_char(a->t, '\n');
    }
}

/* ---- Fields ---- */

/* Writes "Key:" and spaces. Forms differ in the column of the values. */
static void apple_put_key(const apple_text *a, const char *key)
{
    bool is_wide = a->form == APPLE_MAC || a->form == APPLE_CONSOLE;
    size_t width = is_wide ? 23 : 21;
    size_t at = a->t->len;
    text_c(a->t, key);
    text_char(a->t, ':');
    do
        text_char(a->t, ' ');
    while (a->t->len - at < width);
}

static void apple_put_field(const apple_text *a, const char *key, uint32_t object, const char *member)
{
    if (!apple_has(a, object, member))
        return;
    apple_put_key(a, key);
    apple_put_member(a, object, member, "");
    text_char(a->t, '\n');
}

/* "NAME [12]" */
static void apple_put_process(const apple_text *a, const char *key, uint32_t object, const char *name,
                              const char *pid)
{
    apple_put_key(a, key);
    apple_put_member(a, object, name, "???");
    text_c(a->t, " [");
    apple_put_member(a, object, pid, "Unknown");
    text_c(a->t, "]\n");
}

/* "17.4 (21E219)" */
static void apple_put_pair(const apple_text *a, const char *key, uint32_t object, const char *first,
                           const char *second)
{
    apple_put_key(a, key);
    apple_put_member(a, object, first, "");
    text_c(a->t, " (");
    apple_put_member(a, object, second, "???");
    text_c(a->t, ")\n");
}

static void apple_put_version(const apple_text *a, uint32_t bundle)
{
    if (apple_has(a, bundle, "CFBundleShortVersionString")) {
        apple_put_pair(a, "Version", bundle, "CFBundleShortVersionString", "CFBundleVersion");
        return;
    }
    apple_put_key(a, "Version");
    apple_put_member(a, bundle, "CFBundleVersion", "???");
    text_char(a->t, '\n');
}

static void apple_put_program(const apple_text *a)
{
    uint32_t bundle = json_get(a->doc, 0, "bundleInfo");
    uint32_t bought = json_get(a->doc, 0, "storeInfo");
    apple_put_process(a, "Process", 0, "procName", "pid");
    apple_put_field(a, "Path", 0, "procPath");
    apple_put_key(a, "Identifier");
    apple_put_member(a, bundle, "CFBundleIdentifier", "");
    if (!apple_has(a, bundle, "CFBundleIdentifier"))
        apple_put_member(a, 0, "procName", "???");
    text_char(a->t, '\n');
    apple_put_version(a, bundle);
    if (a->form == APPLE_IOS) {
        apple_put_field(a, "AppStoreTools", bundle, "DTAppStoreToolsBuild");
        apple_put_field(a, "AppVariant", bought, "applicationVariant");
        if (apple_is_set(a, "isBeta")) {
            apple_put_key(a, "Beta");
            text_c(a->t, "YES\n");
        }
    }
    apple_put_key(a, "Code Type");
    apple_put_member(a, 0, "cpuType", "???");
    text_c(a->t, apple_is_set(a, "translated") ? " (Translated)\n" : " (Native)\n");
    bool is_short = a->form == APPLE_MAC || a->form == APPLE_CONSOLE;
    if (!is_short) {
        apple_put_key(a, "Role");
        apple_put_member(a, 0, "procRole", "Unspecified");
        text_char(a->t, '\n');
    }
    apple_put_process(a, "Parent Process", 0, "parentProc", "parentPid");
    if (!is_short && apple_has(a, 0, "coalitionName"))
        apple_put_process(a, "Coalition", 0, "coalitionName", "coalitionID");
    if (apple_has(a, 0, "responsibleProc"))
        apple_put_process(a, is_short ? "Responsible" : "Responsible Process", 0, "responsibleProc",
                          "responsiblePid");
    if (a->form != APPLE_IOS)
        apple_put_field(a, "User ID", 0, "userID");
    text_char(a->t, '\n');
}

/* Converts "2022-08-05 13:24:19.1161 +0400" to "2022-08-05 13:24:19.116 +04:00". */
static void apple_put_console_date(const apple_text *a)
{
    machsym_str date = a->r->facts[FACT_DATE];
    size_t dot = str_find(date, ".");
    machsym_str rest = date.len > 0 ? str_from(date, dot) : date; /* without a date its pointer is NULL */
    size_t zone = dot + str_find(rest, " ");
    apple_put_key(a, "Date/Time");
    if (zone + 6 == date.len && zone > dot + 3) {
        text_shown(a->t, str_make(date.ptr, dot + 4));
        text_shown(a->t, str_make(date.ptr + zone, 4));
        text_char(a->t, ':');
        text_shown(a->t, str_make(date.ptr + zone + 4, 2));
    } else {
        text_shown(a->t, date);
    }
    text_char(a->t, '\n');
}

static void apple_put_system(const apple_text *a)
{
    uint32_t os = json_get(a->doc, 0, "osVersion");
    uint32_t bridge = json_get(a->doc, 0, "bridgeVersion");
    bool is_short = a->form == APPLE_MAC || a->form == APPLE_CONSOLE;
    if (a->form == APPLE_CONSOLE)
        apple_put_console_date(a);
    else
        apple_put_field(a, "Date/Time", 0, "captureTime");
    if (!is_short)
        apple_put_field(a, "Launch Time", 0, "procLaunch");
    if (a->form == APPLE_MAC26)
        apple_put_field(a, "Hardware Model", 0, "modelCode");
    apple_put_pair(a, "OS Version", os, "train", "build");
    if (!is_short)
        apple_put_field(a, "Release Type", os, "releaseType");
    apple_put_field(a, "Baseband Version", 0, "basebandVersion");
    if (a->form != APPLE_MAC26) {
        apple_put_key(a, "Report Version");
        text_c(a->t, a->form == APPLE_IOS ? "104\n" : "12\n");
    }
    if (a->form == APPLE_MAC && apple_has(a, bridge, "train"))
        apple_put_pair(a, "Bridge OS Version", bridge, "train", "build");
    if (is_short)
        apple_put_field(a, "Anonymous UUID", 0, "crashReporterKey");
    text_char(a->t, '\n');
    if (a->form == APPLE_MAC26) {
        apple_put_field(a, "Crash Reporter Key", 0, "crashReporterKey");
        apple_put_field(a, "Incident Identifier", 0, "incident");
        text_char(a->t, '\n');
    }
}

/* "Time Awake Since Boot: 12 seconds" */
static void apple_put_seconds(const apple_text *a, const char *key, const char *member)
{
    if (!apple_has(a, 0, member))
        return;
    text_c(a->t, key);
    apple_put_member(a, 0, member, "");
    text_c(a->t, " seconds\n");
}

static void apple_put_uptime(const apple_text *a)
{
    bool has_slept = apple_has(a, 0, "sleepWakeUUID");
    if (has_slept) {
        text_c(a->t, "Sleep/Wake UUID:       ");
        apple_put_member(a, 0, "sleepWakeUUID", "");
        text_char(a->t, '\n');
    }
    if (has_slept || a->form == APPLE_MAC)
        text_char(a->t, '\n');
    apple_put_seconds(a, "Time Awake Since Boot: ", "uptime");
    apple_put_seconds(a, "Time Since Wake:       ", "wakeTime");
    text_char(a->t, '\n');
    if (apple_has(a, 0, "sip")) {
        text_c(a->t, "System Integrity Protection: ");
        apple_put_member(a, 0, "sip", "");
        text_c(a->t, "\n\n");
    }
    if (a->form == APPLE_MAC && apple_has(a, 0, "reportNotes")) {
        text_c(a->t, "Notes:\n");
        apple_put_list(a, json_get(a->doc, 0, "reportNotes"));
        text_char(a->t, '\n');
    }
}

/* ---- What happened ---- */

/* Writes the thread, its name and its queue. The two forms of macOS join them differently. */
static void apple_put_crashed_thread(const apple_text *a)
{
    uint32_t thread = json_get(a->doc, json_get(a->doc, 0, "legacyInfo"), "threadTriggered");
    if (a->form == APPLE_MAC26)
        text_c(a->t, "Triggered by Thread: ");
    else
        apple_put_key(a, "Crashed Thread");
    apple_put_member(a, 0, "faultingThread", "Unknown");
    if (apple_has(a, thread, "name")) {
        text_c(a->t, "  ");
        apple_put_member(a, thread, "name", "");
    }
    if (apple_has(a, thread, "queue")) {
        text_c(a->t, a->form == APPLE_MAC26 ? ", Dispatch Queue: " : "  Dispatch queue: ");
        apple_put_member(a, thread, "queue", "");
    }
    text_c(a->t, "\n\n");
}

static void apple_put_noted(const apple_text *a, const char *key, const char *words)
{
    text_c(a->t, key);
    text_c(a->t, words);
    text_char(a->t, '\n');
}

static void apple_put_note(const apple_text *a, const char *key)
{
    if (apple_has(a, 0, "exceptionNote")) {
        text_c(a->t, key);
        apple_put_member(a, 0, "exceptionNote", "");
        text_char(a->t, '\n');
    } else if (apple_is_set(a, "isSimulated")) {
        apple_put_noted(a, key, "SIMULATED (this is NOT a crash)");
    } else if (apple_is_set(a, "isNonFatal")) {
        apple_put_noted(a, key, "NON-FATAL CONDITION (this is NOT a crash)");
    } else if (apple_is_set(a, "isCorpse")) {
        apple_put_noted(a, key, "EXC_CORPSE_NOTIFY");
    }
}

static void apple_put_region(const apple_text *a)
{
    const char *key = apple_has(a, 0, "vmRegionInfo") ? "vmRegionInfo" : "vmregioninfo";
    if (!apple_has(a, 0, key))
        return;
    text_c(a->t, "VM Region Info: ");
    apple_put_value(a, json_get(a->doc, 0, key));
    text_c(a->t, a->form == APPLE_IOS ? "\n" : "\n\n");
}

/* Keys of the exception in each form; empty: the form has no such line. */
typedef struct exception_keys {
    const char *type;
    const char *subtype;
    const char *message;
    const char *codes;
    const char *note;
} exception_keys;

static void apple_put_exception_line(const apple_text *a, const char *key, uint32_t exception,
                                     const char *member)
{
    if (!apple_has(a, exception, member))
        return;
    text_c(a->t, key);
    apple_put_member(a, exception, member, "");
    text_char(a->t, '\n');
}

static void apple_put_exception(const apple_text *a)
{
    static const exception_keys all[] = {
        {"Exception Type:  ", "Exception Subtype: ", "Exception Message: ", "Exception Codes: ",
         "Exception Note:  "},
        {"Exception Type:        ", "Exception Codes:       ", "Exception Message:     ",
         "Exception Codes:       ", "Exception Note:        "},
        {"Exception Type:    ", "Exception Subtype: ", "Exception Message: ", "Exception Codes:   ",
         "Exception Note:    "},
        {"Exception Type:        ", "Exception Codes:       ", "Exception Message:     ",
         "Exception Codes:       ", "Exception Note:        "}};
    const exception_keys *keys = &all[a->form];
    uint32_t exception = json_get(a->doc, 0, "exception");
    text_c(a->t, keys->type);
    apple_put_member(a, exception, "type", "???");
    if (apple_has(a, exception, "signal")) {
        text_c(a->t, " (");
        apple_put_member(a, exception, "signal", "");
        text_char(a->t, ')');
    }
    text_char(a->t, '\n');
    apple_put_exception_line(a, keys->subtype, exception, "subtype");
    apple_put_exception_line(a, keys->message, exception, "message");
    if (a->form != APPLE_CONSOLE || !apple_has(a, exception, "subtype"))
        apple_put_exception_line(a, keys->codes, exception, "codes");
    if (a->form == APPLE_IOS)
        apple_put_region(a);
    if (a->form == APPLE_MAC26)
        apple_put_exception_line(a, "Exception Reason:  ", json_get(a->doc, 0, "exceptionReason"),
                                 "composed_message");
    apple_put_note(a, keys->note);
}

static void apple_put_termination_code(const apple_text *a, uint32_t termination)
{
    uint64_t code = 0;
    if (a->form == APPLE_CONSOLE && json_u64(a->doc, json_get(a->doc, termination, "code"), &code)) {
        text_c(a->t, "0x");
        text_hex(a->t, code, 1);
        return;
    }
    apple_put_member(a, termination, "code", "0");
    if (a->form == APPLE_MAC26 && apple_has(a, termination, "indicator"))
        text_char(a->t, ',');
    text_char(a->t, ' ');
    apple_put_member(a, termination, "indicator", "");
}

static void apple_put_termination(const apple_text *a)
{
    static const char *const keys[] = {"Termination Reason: ", "Termination Reason:    Namespace ",
                                       "Termination Reason:  Namespace ",
                                       "Termination Reason:    Namespace "};
    static const char *const by[] = {"Terminating Process: ", "Terminating Process:   ",
                                     "Terminating Process: ", "Terminating Process:   "};
    uint32_t termination = json_get(a->doc, 0, "termination");
    if (!json_is(a->doc, termination, JSON_OBJECT))
        return;
    text_c(a->t, keys[a->form]);
    apple_put_member(a, termination, "namespace", "???");
    text_c(a->t, a->form == APPLE_IOS ? " " : ", Code ");
    apple_put_termination_code(a, termination);
    text_char(a->t, '\n');
    apple_put_list(a, json_get(a->doc, termination, "reasons"));
    apple_put_list(a, json_get(a->doc, termination, "details"));
    if (apple_has(a, termination, "byPid")) {
        text_c(a->t, by[a->form]);
        apple_put_member(a, termination, "byProc", "???");
        text_c(a->t, " [");
        apple_put_member(a, termination, "byPid", "");
        text_c(a->t, "]\n");
    }
    if (a->form != APPLE_MAC26)
        text_char(a->t, '\n');
}

static void apple_put_ios_thread(const apple_text *a)
{
    uint32_t legacy = json_get(a->doc, 0, "legacyInfo");
    if (apple_has(a, 0, "faultingThread")) {
        text_c(a->t, "Triggered by Thread:  ");
        apple_put_member(a, 0, "faultingThread", "");
    } else if (apple_has(a, legacy, "threadHighlighted")) {
        text_c(a->t, "Highlighted by Thread:  ");
        apple_put_member(a, legacy, "threadHighlighted", "");
    } else {
        text_c(a->t, "Triggered by Thread:  Unknown");
    }
    text_c(a->t, "\n\n");
}

/* ---- What the process left ---- */

/* Each library's strings, a line each. */
static void apple_put_information(const apple_text *a)
{
    uint32_t asi = json_get(a->doc, 0, "asi");
    uint32_t at = JSON_NONE;
    if (json_is(a->doc, asi, JSON_OBJECT)) {
        text_c(a->t, "Application Specific Information:\n");
        while (json_next(a->doc, asi, &at))
            apple_put_list(a, at + 1);
        text_c(a->t, a->form == APPLE_CONSOLE ? "\n" : "\n\n");
    }
    if (apple_has(a, 0, "asiSignatures")) {
        text_c(a->t, "Application Specific Signatures:\n");
        apple_put_list(a, json_get(a->doc, 0, "asiSignatures"));
        text_char(a->t, '\n');
    }
}

static void apple_put_report_notes(const apple_text *a)
{
    if (!apple_has(a, 0, "reportNotes"))
        return;
    text_c(a->t, "Error Formulating Crash Report:\n");
    apple_put_list(a, json_get(a->doc, 0, "reportNotes"));
    text_char(a->t, '\n');
}

void apple_put_triage(const apple_text *a)
{
    if (a->doc == NULL || !apple_has(a, 0, "ktriageinfo"))
        return;
    text_c(a->t, "Kernel Triage:\n");
    apple_put_value(a, json_get(a->doc, 0, "ktriageinfo"));
    text_c(a->t, "\n\n");
}

/* ---- Reports that are no .ips ---- */

static void apple_put_fact(const apple_text *a, const char *key, report_fact fact)
{
    if (a->r->facts[fact].len == 0)
        return;
    apple_put_key(a, key);
    apple_put_lines(a->t, a->r->facts[fact]);
    text_char(a->t, '\n');
}

/* "Namespace SIGNAL, Code 11 Segmentation fault: 11" */
static void apple_put_reason(const apple_text *a)
{
    machsym_str code = a->r->facts[FACT_TERMINATION_CODE];
    if (a->r->facts[FACT_TERMINATION].len == 0) {
        apple_put_fact(a, "Termination Description", FACT_DESCRIPTION);
        return;
    }
    apple_put_key(a, "Termination Reason");
    text_c(a->t, "Namespace ");
    text_shown(a->t, a->r->facts[FACT_TERMINATION]);
    text_c(a->t, code.len > 0 ? ", Code " : "");
    text_shown(a->t, code);
    text_char(a->t, ' ');
    apple_put_lines(a->t, a->r->facts[FACT_DESCRIPTION]);
    text_char(a->t, '\n');
}

/* Writes what was measured, under the key of Apple's texts. */
static void apple_put_event(const apple_text *a)
{
    machsym_str event = a->r->facts[FACT_EVENT];
    apple_put_fact(a, "Event", FACT_EVENT);
    apple_put_fact(a,
                   str_is(event, "cpu usage")     ? "CPU"
                   : str_is(event, "disk writes") ? "Writes"
                                                  : "Duration",
                   FACT_AMOUNT);
}

static void apple_put_facts(const apple_text *a)
{
    apple_put_fact(a, "Incident Identifier", FACT_INCIDENT);
    apple_put_fact(a, "Hardware Model", FACT_HARDWARE);
    apple_put_fact(a, "Process", FACT_PROCESS);
    apple_put_fact(a, "Identifier", FACT_IDENTIFIER);
    apple_put_fact(a, "Version", FACT_VERSION);
    apple_put_fact(a, "Date/Time", FACT_DATE);
    apple_put_fact(a, "OS Version", FACT_OS);
    apple_put_key(a, "Report Version");
    text_c(a->t, "104\n\n");
    if (a->r->facts[FACT_EXCEPTION].len > 0) {
        text_c(a->t, "Exception Type:  ");
        text_shown(a->t, a->r->facts[FACT_EXCEPTION]);
        if (a->r->facts[FACT_SIGNAL].len > 0) {
            text_c(a->t, " (");
            text_shown(a->t, a->r->facts[FACT_SIGNAL]);
            text_char(a->t, ')');
        }
        text_char(a->t, '\n');
    }
    apple_put_fact(a, "Exception Subtype", FACT_SUBTYPE);
    apple_put_reason(a);
    apple_put_fact(a, "Exception Reason", FACT_REASON);
    apple_put_event(a);
    if (a->r->facts[FACT_APP_INFO].len > 0) {
        text_c(a->t, "\nApplication Specific Information:\n");
        apple_put_lines(a->t, a->r->facts[FACT_APP_INFO]);
        text_char(a->t, '\n');
    }
    text_char(a->t, '\n');
}

/* ---- All together ---- */

static void apple_put_mac_head(const apple_text *a)
{
    apple_put_program(a);
    apple_put_system(a);
    apple_put_uptime(a);
    apple_put_crashed_thread(a);
    apple_put_exception(a);
    text_char(a->t, '\n');
    apple_put_termination(a);
    if (a->form == APPLE_MAC26)
        text_char(a->t, '\n');
    apple_put_region(a);
}

static void apple_put_ios_head(const apple_text *a)
{
    apple_put_field(a, "Incident Identifier", 0, "incident");
    apple_put_field(a, "CrashReporter Key", 0, "crashReporterKey");
    apple_put_field(a, "Distributor ID", json_get(a->doc, 0, "storeInfo"), "distributorID");
    apple_put_field(a, "Hardware Model", 0, "modelCode");
    apple_put_program(a);
    apple_put_system(a);
    apple_put_exception(a);
    apple_put_termination(a);
    apple_put_ios_thread(a);
}

void apple_put_head(const apple_text *a)
{
    if (a->doc == NULL) {
        apple_put_facts(a);
        return;
    }
    if (a->form == APPLE_IOS)
        apple_put_ios_head(a);
    else
        apple_put_mac_head(a);
    apple_put_information(a);
    if (a->form != APPLE_IOS)
        apple_put_report_notes(a);
}

static void apple_put_modifications(const apple_text *a)
{
    static const char *const who[][2] = {
        {"targeted", "Calls made by other processes targeting this process:\n"},
        {"caller", "Calls made by this process:\n"},
        {"system", "Calls made by all processes on this machine:\n"}};
    static const char *const calls[] = {"task_for_pid", "thread_create", "thread_set_state"};
    uint32_t all = json_get(a->doc, 0, "extMods");
    if (!json_is(a->doc, all, JSON_OBJECT))
        return;
    text_c(a->t, "External Modification Summary:\n");
    for (size_t i = 0; i < 3; i++) {
        uint32_t counts = json_get(a->doc, all, who[i][0]);
        text_c(a->t, a->form == APPLE_CONSOLE ? " " : "  ");
        text_c(a->t, who[i][1]);
        for (size_t k = 0; k < 3; k++) {
            text_c(a->t, "    ");
            text_c(a->t, calls[k]);
            text_c(a->t, ": ");
            apple_put_member(a, counts, calls[k], "0");
            text_char(a->t, '\n');
        }
    }
    text_char(a->t, '\n');
}

/* Writes what follows the JSON: the machine's profile, if the user added it. */
static void apple_put_rest(const apple_text *a)
{
    size_t at = a->doc->v[0].end;
    while (at < a->r->len && (a->r->body[at] == '\n' || a->r->body[at] == '\r' || a->r->body[at] == ' '))
        at++;
    apple_put_lines(a->t, str_make(a->r->body + at, a->r->len - at));
}

void apple_put_tail(const apple_text *a)
{
    if (a->doc == NULL)
        return;
    if (a->form == APPLE_IOS) {
        apple_put_report_notes(a);
        text_c(a->t, "EOF\n");
        return;
    }
    apple_put_modifications(a);
    if (apple_has(a, 0, "vmSummary")) {
        text_c(a->t, "VM Region Summary:\n");
        apple_put_value(a, json_get(a->doc, 0, "vmSummary"));
        text_c(a->t, a->form == APPLE_MAC ? "\n\n" : a->form == APPLE_MAC26 ? "\n" : "");
    }
    apple_put_rest(a);
}
