/* ==== >> read/text ====
 * Job: text reports: which part of a report a line belongs to, threads, facts.
 * Offers: its reader, for read/formats.h.
 * Never: reads frames: each format has a file.
 *
 * The lines of each format have their own files. */
#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "../model/termination.h"
#include "machsym.h"
#include "formats.h"
#include "lines.h"

#include <string.h>

/* ---- Threads ---- */

static void plain_set_thread_name(report_thread *thread, machsym_str name)
{
    static const char queue[] = "Dispatch queue:";
    size_t at = str_find(name, queue);
    if (at < name.len)
        thread->queue =
            str_trim(str_make(name.ptr + at + sizeof queue - 1, name.len - at - (sizeof queue - 1)));
    name = str_trim(str_make(name.ptr, at));
    if (name.len > 0)
        thread->name = name;
}

/* "Thread 5 Crashed:: name  Dispatch queue: q", "Thread 5 name:  n", "Thread 5 crashed with ARM Thread
 * State". */
static bool plain_parse_thread_header(text_parser *p, machsym_str s)
{
    uint64_t number;
    size_t at = sizeof "Thread " - 1;
    if (!str_starts(s, "Thread ") || !scan_decimal(s, &at, &number))
        return false;
    machsym_str rest = {s.ptr + at, s.len - at};
    if (str_starts(rest, " name:")) {
        p->named_number = number;
        p->named = str_trim(str_make(rest.ptr + 6, rest.len - 6));
        p->open = false;
        return true;
    }
    bool crashed = str_starts(rest, " Crashed") || str_starts(rest, " Highlighted") ||
                   str_starts(rest, " Attributed") || str_find(rest, " crashed:") < rest.len;
    size_t colon = str_find(rest, ":");
    if (colon == rest.len || (!crashed && colon != 0)) {
        p->open = false;
        p->section = SECTION_STATE;
        bool in_code = str_starts(rest, " instruction stream");
        bool is_state = in_code || str_starts(rest, " crashed with") || str_starts(rest, " stopped with");
        text_parse_state_title(p, is_state ? number : UINT64_MAX, in_code);
        return is_state;
    }
    report_thread *thread = scan_open_thread(p);
    thread->number = number;
    thread->crashed = crashed;
    if (p->named.len > 0 && p->named_number == number)
        plain_set_thread_name(thread, p->named);
    while (colon < rest.len && rest.ptr[colon] == ':')
        colon++;
    plain_set_thread_name(thread, str_make(rest.ptr + colon, rest.len - colon));
    p->named.len = 0;
    return true;
}

/* Lines that begin a stack but have no number. */
static bool plain_parse_stack_title(text_parser *p, machsym_str s)
{
    report_thread *thread;
    if (str_starts(s, "Last Exception Backtrace:")) {
        thread = scan_open_thread(p);
        thread->kind = THREAD_EXCEPTION;
        return s.ptr[s.len - 1] == ':'; /* else the addresses are on the same line */
    }
    if (str_starts(s, "Application Specific Backtrace")) {
        size_t at = sizeof "Application Specific Backtrace";
        thread = scan_open_thread(p);
        thread->kind = THREAD_SPECIFIC;
        if (!scan_decimal(s, &at, &thread->number))
            thread->number = 0;
        return true;
    }
    if (str_starts(s, "Thread 0x") || str_starts(s, "Heaviest stack")) {
        thread = scan_open_thread(p);
        thread->callers_first = true;
        thread->name = s;
        thread->process = str_starts(s, "Thread 0x") ? p->process : str_make(NULL, 0);
        return true;
    }
    if (str_starts(s, "STACK OF ") || str_starts(s, "Call stack:")) {
        p->leaks = true;
        p->r->kind = REPORT_LEAKS;
        thread = scan_open_thread(p);
        thread->callers_first = true;
        thread->name = s;
        return true;
    }
    return false;
}

/* ---- Facts ---- */

static const struct {
    const char *key;
    report_fact fact;
} fact_keys[] = {
    {"Process", FACT_PROCESS},
    {"Command", FACT_PROCESS},
    {"Path", FACT_PATH},
    {"Identifier", FACT_IDENTIFIER},
    {"Version", FACT_VERSION},
    {"Code Type", FACT_CODE_TYPE},
    {"Architecture", FACT_CODE_TYPE},
    {"Role", FACT_ROLE},
    {"Parent Process", FACT_PARENT},
    {"Parent", FACT_PARENT},
    {"Date/Time", FACT_DATE},
    {"Date", FACT_DATE},
    {"Launch Time", FACT_LAUNCH},
    {"OS Version", FACT_OS},
    {"Hardware Model", FACT_HARDWARE},
    {"Hardware model", FACT_HARDWARE},
    {"Incident Identifier", FACT_INCIDENT},
    {"CrashReporter Key", FACT_REPORTER},
    {"Report Version", FACT_REPORT_VERSION},
    {"Exception Type", FACT_EXCEPTION},
    {"Exception Subtype", FACT_SUBTYPE},
    {"Exception Codes", FACT_CODES},
    {"Exception Code", FACT_CODES},
    {"Exception Note", FACT_NOTE},
    {"Exception Message", FACT_DESCRIPTION},
    {"Exception Reason", FACT_REASON},
    {"Terminating Process", FACT_TERMINATOR},
    {"Termination Description", FACT_DESCRIPTION},
    {"Termination Details", FACT_DESCRIPTION},
    {"Triggered by Thread", FACT_CRASHED_THREAD},
    {"Crashed Thread", FACT_CRASHED_THREAD},
    {"Event", FACT_EVENT},
    {"Analysis Tool", FACT_EVENT},
    {"CrashDoctor Diagnosis", FACT_DESCRIPTION},
};

/* The reason of a termination continues over lines, up to an empty line or a known key. */
static void plain_end_reason(text_parser *p, const char *end)
{
    if (p->reason_at == SIZE_MAX)
        return;
    const char *begin = p->r->shadow + p->reason_at;
    p->reason_at = SIZE_MAX;
    termination_parse(p->r, str_make(begin, end > begin ? (size_t)(end - begin) : 0));
}

/* "VM Region Info: 0xe0 is not in any region." continues over lines, too. */
static void plain_end_region(text_parser *p, const char *end)
{
    if (p->region_at == SIZE_MAX)
        return;
    const char *begin = p->r->shadow + p->region_at;
    p->region_at = SIZE_MAX;
    report_set_fact(p->r, FACT_REGION, str_make(begin, end > begin ? (size_t)(end - begin) : 0));
}

/* Keys of text that stand for two members of Apple's JSON, either because the key already has another fact,
 * or because it occurs twice: "Exception Codes: KERN_INVALID_ADDRESS at 0xe0" before "Exception Codes: 0x1,
 * 0xe0". */
static void plain_set_second(text_parser *p, machsym_str key, machsym_str value)
{
    if (str_is(key, "Exception Codes") && str_starts(value, "0x"))
        report_set_fact(p->r, FACT_RAW_CODES, value);
    if (str_is(key, "Exception Message"))
        report_set_fact(p->r, FACT_MESSAGE, value);
}

/* "Annotation:   KEY: VALUE": consecutive lines become one fact. */
static bool plain_parse_note(text_parser *p, machsym_str s)
{
    machsym_str *notes = &p->r->facts[FACT_NOTES];
    if (!str_starts(s, "Annotation: "))
        return false;
    const char *end = notes->len > 0 ? notes->ptr + notes->len : s.ptr;
    if (notes->len == 0)
        *notes = s;
    else if (str_is(str_trim(str_make(end, (size_t)(s.ptr - end))), "\n"))
        notes->len = (size_t)(s.ptr - notes->ptr) + s.len;
    return true;
}

/* "Key:   value" before the stacks. */
static bool plain_parse_fact(text_parser *p, machsym_str s)
{
    size_t colon = str_find(str_make(s.ptr, s.len < 32 ? s.len : 32), ":");
    if (colon >= s.len || s.ptr[colon] != ':')
        return false;
    if (plain_parse_note(p, s))
        return true;
    machsym_str key = {s.ptr, colon};
    machsym_str value = str_trim(str_make(s.ptr + colon + 1, s.len - colon - 1));
    for (size_t i = 0; i < sizeof fact_keys / sizeof fact_keys[0]; i++) {
        if (str_is(key, fact_keys[i].key)) {
            plain_end_reason(p, s.ptr);
            plain_end_region(p, s.ptr);
            plain_set_second(p, key, value);
            p->process = str_is(key, "Process") ? value : p->process;
            report_set_fact(p->r, fact_keys[i].fact, value);
            return true;
        }
    }
    if (str_is(key, "Termination Reason")) {
        plain_end_reason(p, s.ptr);
        plain_end_region(p, s.ptr);
        p->reason_at = (size_t)(value.ptr - p->r->shadow);
    }
    if ((str_is(key, "VM Region Info") || str_starts(key, "VM Regions Near ")) &&
        p->r->facts[FACT_REGION].len == 0)
        p->region_at = (size_t)(value.ptr - p->r->shadow);
    return false;
}

void text_parse_next_process(text_parser *p)
{
    if (p->r->frame_count > p->process_frame && p->r->image_count > p->process_image) {
        report_place_frames(p->r, p->process_frame, p->process_image);
        p->process_frame = p->r->frame_count;
        p->process_image = p->r->image_count;
    }
}

/* ---- Lines ---- */

static bool plain_parse_title(text_parser *p, machsym_str s)
{
    if (str_starts(s, "Binary Images")) {
        p->section = SECTION_IMAGES;
        p->open = false;
        return true;
    }
    if (str_starts(s, "Application Specific Information:")) {
        p->section = SECTION_INFO;
        p->info_at = (size_t)(s.ptr - p->r->shadow) + sizeof "Application Specific Information:";
        return true;
    }
    if (str_starts(s, "Sort by top of stack") || str_starts(s, "Total number in stack")) {
        p->section = SECTION_STATE;
        p->open = false;
        return true;
    }
    return plain_parse_thread_header(p, s) || plain_parse_stack_title(p, s);
}

static void plain_end_paragraph(text_parser *p, text_line line)
{
    plain_end_reason(p, p->r->shadow + line.at);
    plain_end_region(p, p->r->shadow + line.at);
    if (p->section == SECTION_INFO && p->info_at < line.at) {
        machsym_str info = str_trim(scan_view(p, p->info_at, line.at));
        while (info.len > 0 && (info.ptr[info.len - 1] == '\n' || info.ptr[info.len - 1] == '\r'))
            info.len--;
        report_set_fact(p->r, FACT_APP_INFO, info);
        p->section = SECTION_HEADER;
    }
    if (p->open && p->r->threads[p->r->thread_count - 1].count > 0)
        p->open = false;
}

/* "3   demo   0x0000000102a30a7c ...": recognises usual frames quickly. Other lines that begin with a number
 * have a mark, an address or a UUID after it, or end in "[0xADDR]". */
static bool plain_is_usual(machsym_str s)
{
    enum { FIRST_DASH = 8 };
    size_t at = 0;
    while (at < s.len && scan_is_digit(s.ptr[at]))
        at++;
    size_t name = at;
    while (name < s.len && scan_is_blank(s.ptr[name]))
        name++;
    bool is_uuid = s.len - name > FIRST_DASH && s.ptr[name + FIRST_DASH] == '-';
    return at > 0 && name > at && name < s.len && scan_is_letter(s.ptr[name]) && !is_uuid &&
           str_find(s, "[0x") == s.len;
}

/* Reads a line of a format that is recognised line by line. */
static bool plain_parse_told(text_parser *p, text_line line)
{
    static bool (*const formats[])(text_parser * p, text_line line) = {
#define PLAIN_FORMAT(name) text_parse_##name,
        READ_LINES(PLAIN_FORMAT)
#undef PLAIN_FORMAT
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i](p, line))
            return true;
    }
    return false;
}

/* Returns where the text continues. */
static size_t plain_parse_line(text_parser *p, text_line line)
{
    size_t at = scan_blanks(p, line.at, line.end);
    machsym_str s = str_trim(scan_view(p, at, line.end));
    size_t end;
    p->is_panic &= !str_starts(s, "Incident Identifier:");
    if (FAMILY_HAS_SYSTEM && (p->is_panic || text_begins_panic(s))) {
        text_parse_panic(p, line);
        return line.next;
    }
    if (s.len > 0 && s.ptr[0] == '<') { /* a tag of a web page before a frame */
        size_t mark = str_find(s, ">") + 1;
        if (mark < s.len && scan_is_digit(s.ptr[mark])) {
            line.at = at += mark;
            s = str_make(s.ptr + mark, s.len - mark);
        }
    }
    if (s.len == 0) {
        plain_end_paragraph(p, line);
        return line.next;
    }
    if (text_parse_state(p, s))
        return line.next;
    if ((FAMILY_HAS_SERVICES && text_parse_crashlytics(p, s)) ||
        (FAMILY_HAS_STACKS && text_parse_titled(p, line, s)))
        return line.next;
    if (str_starts(s, "leaks Report Version:"))
        p->r->kind = REPORT_LEAKS; /* it may have no stacks */
    if (s.ptr[0] >= 'A' && s.ptr[0] <= 'Z') {
        if (str_starts(s, "Process:") || str_starts(s, "Command:"))
            text_parse_next_process(p);
        if (plain_parse_title(p, s))
            return line.next;
        if (str_starts(s, "Last Exception Backtrace:")) {
            end = text_parse_row(p, scan_blanks(p, at + sizeof "Last Exception Backtrace:" - 1, line.end),
                                 line.end);
            return end > line.next ? end : line.next;
        }
        if (p->section != SECTION_INFO && !plain_parse_fact(p, s) && FAMILY_HAS_STACKS)
            text_parse_error(p, s);
        if (FAMILY_HAS_PROFILES && str_find(s, "[0x") < s.len)
            text_parse_tree(p, line);
        return line.next;
    }
    if (FAMILY_HAS_STACKS && s.ptr[0] == '[' && text_parse_lldb_image(p, s))
        return line.next;
    if ((s.ptr[0] == '0' || s.ptr[0] == '*') && text_parse_image(p, s))
        return line.next;
    if (p->section == SECTION_INFO || (plain_is_usual(s) && text_parse_numbered(p, line)))
        return line.next;
    if (FAMILY_HAS_STACKS && (plain_parse_told(p, line) || text_parse_error(p, s)))
        return line.next;
    if ((FAMILY_HAS_PROFILES && text_parse_tree(p, line)) ||
        (scan_is_digit(s.ptr[0]) && text_parse_numbered(p, line)))
        return line.next;
    if (s.ptr[0] == '(' || str_starts(s, "0x")) {
        end = text_parse_row(p, at, line.end);
        return end > line.next ? end : line.next;
    }
    return line.next;
}

/* Reads the paths of images inside a JSON string, without escapes. */
static void plain_paths(report *r, uint32_t first)
{
    for (uint32_t i = first; i < r->image_count; i++) {
        text plain = text_in(r->memory);
        report_image *image = &r->images[i];
        if (image->path.len == 0 || image->path.ptr < r->shadow || image->path.ptr >= r->shadow + r->len)
            continue;
        json_unescape(&plain, str_make(r->body + (image->path.ptr - r->shadow), image->path.len));
        image->path = pool_copy(&r->strings, plain.v, plain.len);
        text_free(&plain);
    }
}

/* Reads what a text with entities and no-break spaces says: each as its character. */
static void plain_entities(report *r, uint32_t first_thread, uint32_t first_frame, uint32_t first_image)
{
    for (uint32_t i = first_thread; i < r->thread_count; i++) {
        r->threads[i].name = scan_plain(r, r->threads[i].name);
        r->threads[i].queue = scan_plain(r, r->threads[i].queue);
    }
    for (uint32_t i = first_frame; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        frame->name = scan_plain(r, frame->name);
        frame->where = scan_plain(r, frame->where);
        frame->image_name = scan_plain(r, frame->image_name);
    }
    for (uint32_t i = first_image; i < r->image_count; i++) {
        r->images[i].name = scan_plain(r, r->images[i].name);
        r->images[i].path = scan_plain(r, r->images[i].path);
    }
    for (size_t i = 0; i < FACT_COUNT; i++)
        r->facts[i] = scan_plain(r, r->facts[i]);
}

void report_parse_text(report *r, size_t lo, size_t hi, frame_escape escape)
{
    text_parser p;
    uint32_t first_frame = r->frame_count;
    uint32_t first_image = r->image_count;
    memset(&p, 0, sizeof p);
    p.r = r;
    p.hi = hi;
    p.escape = escape;
    p.tree_frame = REPORT_NONE;
    p.kernel = REPORT_NONE;
    p.is_panic = r->kind == REPORT_PANIC && escape == ESCAPE_JSON;
    p.reason_at = SIZE_MAX;
    p.region_at = SIZE_MAX;
    p.first_thread = r->thread_count;
    p.state_thread = REPORT_NONE;
    p.process_frame = r->frame_count;
    p.process_image = r->image_count;
    if (escape == ESCAPE_NONE)
        p.log = scan_first_log(str_make(r->body + lo, hi - lo));
    scan_begin(&p, lo);
    for (size_t at = lo; at < hi;) {
        text_line line = scan_line(&p, at);
        scan_blank_prefix(&p, line);
        at = plain_parse_line(&p, line);
    }
    text_line end = {hi, hi, hi};
    plain_end_paragraph(&p, end);
    if (r->facts[FACT_EXCEPTION].len == 0)
        report_set_fact(r, FACT_SUBTYPE, p.error_place);
    report_set_fact(r, FACT_EXCEPTION, p.error);
    if (FAMILY_HAS_SERVICES && r->kind == REPORT_CRASHLYTICS)
        text_place_missing(r, first_frame, first_image);
    if (escape == ESCAPE_JSON)
        plain_paths(r, first_image);
    if (escape == ESCAPE_NONE && scan_is_padded(str_make(r->body + lo, hi - lo)))
        plain_entities(r, p.first_thread, first_frame, first_image);
    if (p.process_image > 0 && escape == ESCAPE_NONE)
        text_parse_next_process(&p);
}
