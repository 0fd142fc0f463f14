/* Where one report of a file ends and the next one begins; see split.h. A report ends where a start of a
 * report is found: the metadata of an .ips, its document if the metadata are missing, the header of a text,
 * or the first words of other tools. If these are lost, image lists separate the reports, since a report has
 * one. */
#include "split.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "core.h"
#include "minidump.h"
#include "plcrash.h"

#include <string.h>

/* What was seen of the current report. */
typedef struct split_state {
    bool has_metadata; /* the line before an .ips */
    bool has_document; /* the JSON document after it */
    bool has_exception;
    bool has_stacks;
    bool is_translated; /* the text is a translation; its .ips follows */
    bool is_body;       /* it began with a document of an .ips without metadata, which has ended */
    bool looked_for_body;
    bool ends_object; /* the last non-empty line ends in } */
    bool has_incident;
    bool has_process;  /* "Process:" of a crash, a sample or leaks; each has it once */
    bool has_identity; /* the fields after it */
    bool is_wide;      /* of many processes: it began with its date */
    bool has_begun;    /* the first words of a tool were seen */
    bool has_list;     /* an image list was seen */
    bool is_list_first;
    bool has_stack_since; /* a stack since the last image list, or since the start */
    bool looked_for_list;
    bool has_any;        /* something that only reports have: a stack, an image list, a document */
    bool is_lldb;        /* all of that came from lldb */
    bool is_in_document; /* the last non-empty line is JSON */
    bool has_object;     /* one of its documents is a report */
    size_t passed;       /* documents up to here are not reports */
    machsym_str log;     /* the last prefix that a log put before a line */
    size_t loose;        /* place of "0 0x..." without a thread, after has_any; 0: not seen */
} split_state;

static void split_start(split_state *seen, machsym_str log)
{
    memset(seen, 0, sizeof *seen);
    seen->log = log;
}

static bool split_is_complete(const split_state *seen)
{
    return seen->is_body || (seen->has_metadata && seen->has_document) ||
           (seen->has_exception && seen->has_stacks);
}

/* Metadata have a few hundred bytes. A longer line is a whole document. */
enum { MAX_METADATA = 8192 };

/* {level=info} is the mark of a log, not an object. */
static bool split_begins_object(machsym_str line)
{
    return line.len > 0 && line.ptr[0] == '{' && !(line.len > 1 && scan_is_letter(line.ptr[1]));
}

bool split_is_metadata(machsym_str line)
{
    return line.len < MAX_METADATA && line.len > 1 && split_begins_object(line) &&
           line.ptr[line.len - 1] == '}' && str_find(line, "\"bug_type\"") < line.len &&
           (str_find(line, "\"os_version\"") < line.len || str_find(line, "\"timestamp\"") < line.len);
}

static bool split_is_header(machsym_str line)
{
    return str_starts(line, "Incident Identifier:") || str_starts(line, "Process:") ||
           str_starts(line, "Translated Report (");
}

/* "Process:  demo [412]". The brackets are required, because logs have other lines with "Process:". */
static bool split_is_process(machsym_str line)
{
    return str_starts(line, "Process:") && line.ptr[line.len - 1] == ']' && str_find(line, " [") < line.len;
}

/* The first words of tools that do not write Apple's header. */
static bool split_begins_tool(machsym_str line)
{
    static const char *const words[] = {
#define SPLIT_NOTHING(...)
#define SPLIT_BEGIN(kind, words, begin) begin,
        REPORT_KINDS(SPLIT_BEGIN, SPLIT_NOTHING, SPLIT_NOTHING)
#undef SPLIT_NOTHING
#undef SPLIT_BEGIN
    };
    for (size_t i = 0; i < sizeof words / sizeof *words && line.len > 0; i++) {
        if (words[i][0] == line.ptr[0] && words[i][0] != 0 && str_starts(line, words[i]))
            return true;
    }
    size_t at = str_starts(line, "==") ? str_find(line, "==ERROR: ") : line.len;
    bool is_sanitizer = at < line.len && str_find(line, "Sanitizer: ") < line.len;
    return is_sanitizer || str_starts(line, "WARNING: ThreadSanitizer: ");
}

/* The first line of an image list: Apple's, lldb's, Swift's. */
static bool split_is_list(machsym_str line)
{
    return str_starts(line, "Binary Images:") || str_starts(line, "[  0] ") ||
           (str_starts(line, "Images (") && line.ptr[line.len - 1] == ':');
}

/* "Thread 0 Crashed:", "* thread #1, stop reason = ...", "Exception Type:". */
static bool split_is_stack(machsym_str line)
{
    bool is_thread = str_starts(line, "Thread ") && line.len > 7 && scan_is_digit(line.ptr[7]);
    return (is_thread && str_find(line, "State") == line.len) || str_starts(line, "* thread #") ||
           str_starts(line, "Exception Type:") || str_starts(line, "Last Exception Backtrace:");
}

/* Whether the line begins another report. If not, notes what it is. */
static bool split_begins_next(split_state *seen, machsym_str line)
{
    bool is_new = split_is_metadata(line);
    if (seen->is_translated && is_new) {
        split_start(seen, seen->log);
        seen->has_metadata = true;
    } else if ((is_new || split_is_header(line)) && split_is_complete(seen)) {
        return true;
    } else if (is_new) {
        seen->has_metadata = true;
    } else {
        seen->has_document |= seen->has_metadata && split_begins_object(line); /* iOS 14 writes text there */
    }
    seen->has_exception |= str_starts(line, "Exception Type:");
    seen->has_stacks |= str_starts(line, "Thread ") || str_starts(line, "Binary Images:");
    seen->is_translated |= str_is(line, "Full Report");
    return false;
}

/* Does the same for a report that may be cut: a field that a report has once comes again. */
static bool split_begins_again(split_state *seen, machsym_str line)
{
    bool is_incident = str_starts(line, "Incident Identifier:");
    bool is_first = !seen->has_incident && !seen->has_process && !seen->has_identity;
    if (str_starts(line, "Date/Time:")) {
        if (seen->is_wide && seen->has_list)
            return true;
        seen->is_wide |= is_first;
    }
    if (split_begins_tool(line)) {
        if (seen->has_begun || split_is_complete(seen))
            return true;
        seen->has_begun = true;
    }
    if (is_incident && seen->has_incident)
        return true;
    if (split_is_process(line) && seen->has_process && seen->has_identity && !seen->is_wide)
        return true;
    seen->has_incident |= is_incident;
    seen->has_process |= split_is_process(line);
    seen->has_identity |= str_starts(line, "Identifier:") || str_starts(line, "Path:");
    return false;
}

static machsym_str split_without_return(machsym_str line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' '))
        line.len--;
    return line;
}

/* Returns the line at *at, and moves *at to the next one. */
static machsym_str split_next_line(machsym_str s, size_t *at)
{
    const char *line = s.ptr + *at;
    size_t len = str_line_len(str_make(line, s.len - *at));
    *at += len;
    bool is_return = *at < s.len && s.ptr[*at] == '\r';
    *at += *at < s.len;
    *at += is_return && *at < s.len && s.ptr[*at] == '\n';
    return split_without_return(str_make(line, len));
}

/* In a document, a line that ends in } is never followed by a line that begins with {, since a comma comes
 * between. */
static bool split_ends_object(machsym_str line)
{
    return line.len > 0 && line.ptr[line.len - 1] == '}';
}

static bool split_is_lldb(machsym_str line)
{
    return str_starts(line, "* thread #") ||
           (str_starts(line, "Process ") && str_find(line, " stopped") + 8 == line.len);
}

/* "0 0x102a30a7c" and no more: the start of a stack without a title. */
static bool split_is_loose_frame(machsym_str line)
{
    if (!str_starts(line, "0 "))
        return false;
    machsym_str rest = str_trim(str_make(line.ptr + 1, line.len - 1));
    return str_starts(rest, "0x") && str_find(rest, " ") == rest.len;
}

/* Lines that may begin or end a report. No search goes past one, so each byte is searched a bounded number of
 * times, however many reports a text has. */
static bool split_is_border(machsym_str line)
{
    return split_is_header(line) || split_is_metadata(line) || split_begins_tool(line) ||
           str_starts(line, "Date/Time:") || str_starts(line, "Anonymous UUID:") ||
           str_starts(line, "panic(cpu ");
}

/* Returns a line without the prefix of a mail or a log. */
static machsym_str split_plain_line(machsym_str line, machsym_str *log)
{
    size_t len = line.len > 0 && !split_begins_object(line) ? scan_log_len(line, line, log) : 0;
    return str_make(line.ptr + len, line.len - len);
}

/* Returns the document at the start of a text, at most up to where another report may begin. */
static machsym_str split_first_document(machsym_str s, machsym_str log)
{
    size_t at = 0;
    size_t next = 0;
    bool ended = split_ends_object(split_next_line(s, &next));
    for (at = next; at < s.len; at = next) {
        machsym_str line = split_next_line(s, &next);
        machsym_str plain = split_plain_line(line, &log);
        if (split_is_border(plain) || split_is_list(plain) || split_is_stack(plain) || split_is_lldb(plain) ||
            split_is_loose_frame(plain) || (ended && split_begins_object(line)))
            break;
        if (line.len > 0)
            ended = split_ends_object(line);
    }
    return str_make(s.ptr, at);
}

static bool split_has_stacks_of_ips(machsym_str s)
{
    MACHSYM_COUNT_WORK(s.len / 64);
    return str_find(s, "\"usedImages\"") < s.len && str_find(s, "\"threads\"") < s.len;
}

/* Whether a line begins the document of an .ips without metadata, after a complete report. After another such
 * document any `{` line does, even if its document is cut. Only the first candidate is examined, up to the
 * next border, so that a text is searched once. */
static bool split_begins_next_body(split_state *seen, machsym_str s, size_t at, machsym_str line)
{
    bool is_place = split_is_complete(seen) ? !seen->is_translated : seen->ends_object && !seen->has_metadata;
    bool is_after_object = seen->ends_object;
    if (line.len > 0)
        seen->ends_object = split_ends_object(line);
    if (!is_place || seen->looked_for_body || !(split_begins_object(line) || split_is_header(line)))
        return false;
    seen->looked_for_body = true;
    seen->is_body = split_has_stacks_of_ips(str_make(s.ptr, at));
    return split_is_complete(seen) && split_begins_object(line) &&
           ((is_after_object && seen->is_body) ||
            split_has_stacks_of_ips(split_first_document(str_make(s.ptr + at, s.len - at), seen->log)));
}

/* ---- Reports without what they begin with ---- */

/* Whether another image list comes before the certain start of a report. */
static bool split_has_list_after(machsym_str s, size_t at, machsym_str log)
{
    while (at < s.len) {
        machsym_str line = split_plain_line(split_next_line(s, &at), &log);
        if (split_is_list(line))
            return true;
        if (split_is_border(line) || split_begins_object(line))
            return false;
    }
    return false;
}

/* ---- Another kind of report after a whole one ---- */

static bool split_starts_with_one(machsym_str line, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_starts(line, words[i]))
            return true;
    }
    return false;
}

bool split_has_member_of_report(machsym_str s)
{
    static const char *const members[] = {"\"bug_type\"",
#define SPLIT_NOTHING(...)
#define SPLIT_MEMBER(kind, words, reader, member) "\"" member "\"",
                                          REPORT_KINDS(SPLIT_NOTHING, SPLIT_NOTHING, SPLIT_MEMBER)
#undef SPLIT_NOTHING
#undef SPLIT_MEMBER
    };
    MACHSYM_COUNT_WORK(s.len / 64);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (str_find(s, members[i]) < s.len)
            return true;
    }
    return false;
}

/* Lines that only reports have and that are not headers. A header after such a line begins another report. */
static bool split_is_evidence(machsym_str line)
{
    static const char *const words[] = {
        "Thread 0x",     "Heaviest stack",   "STACK OF ",           "leaks Report Version", "Backtrace (CPU",
        "Panicked task", "Panicked thread",  "<trace-query-result", "Call graph:",          "goroutine ",
        "#0 0x",         "stack backtrace:", "Native stacktrace:"};
    machsym_str trimmed = str_trim(line);
    if (split_starts_with_one(trimmed, words, sizeof words / sizeof *words) || split_is_list(line))
        return true;
    return (split_is_stack(line) && !str_starts(line, "Exception Type:")) ||
           (split_begins_tool(line) && !str_starts(line, "<?xml ") && !str_starts(line, "Analysis of"));
}

bool split_is_certain(machsym_str line)
{
    return split_begins_tool(line) || split_is_evidence(line);
}

/* The header of leaks or of a crash: a process of a spindump has no such lines. At most this many lines are
 * read, and only those of the header. */
enum { MAX_HEADER_LINES = 16 };

static bool split_is_whole_header(machsym_str s, size_t at, machsym_str log)
{
    static const char *const words[] = {"Load Address:", "Parent Process:", "Analysis Tool:"};
    for (unsigned i = 0; i < MAX_HEADER_LINES && at < s.len; i++) {
        machsym_str line = split_plain_line(split_next_line(s, &at), &log);
        if (line.len == 0)
            return false;
        if (split_starts_with_one(line, words, sizeof words / sizeof *words))
            return true;
    }
    return false;
}

/* Whether one of the next lines begins with a word, up to a line that may begin a report. */
static bool split_comes_soon(machsym_str s, size_t at, machsym_str log, const char *word)
{
    for (unsigned i = 0; i < MAX_HEADER_LINES && at < s.len; i++) {
        machsym_str line = str_trim(split_plain_line(split_next_line(s, &at), &log));
        if (str_starts(line, word))
            return true;
        if (split_is_border(line))
            return false;
    }
    return false;
}

/* "file.c:3:5: runtime error: ..." */
static bool split_is_runtime_error(machsym_str line)
{
    size_t at = str_find(line, ": runtime error: ");
    return at < line.len && at > 0 && scan_is_digit(line.ptr[at - 1]);
}

/* What runtimes print before their stacks: Go, Mono, Rust, UndefinedBehaviorSanitizer. Logs contain the same
 * words without a stack. */
static bool split_begins_runtime(machsym_str line, machsym_str s, size_t next, machsym_str log)
{
    machsym_str trimmed = str_trim(line);
    if (str_is(trimmed, "Native Crash Reporting"))
        return true;
    if (str_starts(line, "panic: ") || str_starts(line, "fatal error: ") || str_starts(line, "SIG"))
        return split_comes_soon(s, next, log, "goroutine ");
    if (str_starts(line, "thread '") && str_find(line, " panicked at ") < line.len)
        return split_comes_soon(s, next, log, "stack backtrace:");
    return split_is_runtime_error(line) && split_comes_soon(s, next, log, "#0 ");
}

/* First words that may have a line of dashes before them. */
static bool split_has_rule(machsym_str line)
{
    return str_starts(line, "Translated") || split_begins_tool(line) ||
           str_is(str_trim(line), "Native Crash Reporting");
}

/* The first words of another kind of report. */
static bool split_begins_kind(const split_state *seen, machsym_str line, machsym_str s, size_t next)
{
    if (split_is_metadata(line) || str_starts(line, "Incident Identifier:") ||
        str_starts(line, "Date/Time:") || str_starts(line, "Anonymous UUID:") ||
        str_starts(line, "panic(cpu ") || split_begins_tool(line) ||
        split_begins_runtime(line, s, next, seen->log))
        return true;
    if (split_is_process(line))
        return split_is_whole_header(s, next, seen->log);
    if (split_is_lldb(line))
        return !seen->is_lldb &&
               split_has_list_after(s, next, seen->log); /* without a list, it may use the images before it */
    return seen->has_object && !seen->has_stack_since && split_is_loose_frame(line);
}

/* Whether a document at an offset is another report, after a text that is one. A document after "Full Report"
 * belongs to the text. */
static bool split_begins_document(split_state *seen, machsym_str s, size_t at)
{
    bool is_after = !seen->is_in_document || seen->ends_object;
    if (at < seen->passed || seen->is_translated || !is_after)
        return false;
    machsym_str document = split_first_document(str_make(s.ptr + at, s.len - at), seen->log);
    seen->passed = at + document.len;
    return seen->has_object && !seen->has_metadata ? split_has_stacks_of_ips(document)
                                                   : split_has_member_of_report(document);
}

/* Whether a line can continue a document. Programs other than Apple's write array elements on separate
 * lines. */
static bool split_goes_on(machsym_str line)
{
    machsym_str word = {line.ptr, line.len - (line.ptr[line.len - 1] == ',')};
    size_t at = line.ptr[0] == '-';
    if (strchr(" \t\"}]", line.ptr[0]) != NULL || str_is(line, "[") || str_is(word, "true") ||
        str_is(word, "false") || str_is(word, "null"))
        return true;
    if (at == word.len || !scan_is_digit(word.ptr[at]))
        return false;
    while (at < word.len && (scan_is_digit(word.ptr[at]) || strchr(".eE+-", word.ptr[at]) != NULL))
        at++;
    return at == word.len;
}

/* Whether another kind of report begins with a line. *to: where it begins, which may be before the line. */
static bool split_begins_other_kind(split_state *seen, machsym_str line, machsym_str s, size_t at,
                                    size_t next, size_t *to)
{
    bool is_object = split_begins_object(line);
    bool is_json = is_object || (seen->is_in_document && split_goes_on(line));
    *to = at;
    if (seen->has_any && !(seen->is_translated && is_object)) {
        if (is_json ? is_object && !split_is_metadata(line) && split_begins_document(seen, s, at) : false)
            return true;
        if ((!is_json || split_is_metadata(line)) && split_begins_kind(seen, line, s, next))
            return true;
        if (seen->loose > 0 && str_starts(line, "[  0] ")) {
            *to = seen->loose;
            return true;
        }
        if (seen->loose == 0 && split_is_loose_frame(line))
            seen->loose = at;
    }
    seen->is_in_document = is_json;
    if (is_json && !split_is_metadata(line) && !seen->has_object)
        seen->has_object = split_has_member_of_report(line);
    seen->is_lldb |= split_is_lldb(line) || str_starts(line, "[  0] ");
    seen->has_any |= seen->has_object || split_is_evidence(line);
    return false;
}

/* All reports of a text have stacks and image lists in the same order. So if the second of the first kind
 * appears, the next report begins. Stacks after a list may belong to the same process if no other list
 * follows. */
static bool split_begins_without_header(split_state *seen, machsym_str line, machsym_str s, size_t next)
{
    if (seen->is_wide)
        return false;
    if (split_is_list(line)) {
        if (seen->has_list && seen->is_list_first && seen->has_stack_since)
            return true;
        seen->is_list_first |= !seen->has_list && !seen->has_stack_since;
        seen->has_list = true;
        seen->has_stack_since = false;
    }
    seen->has_stack_since |= split_is_loose_frame(line);
    if (!split_is_stack(line))
        return false;
    if (seen->has_list && !seen->is_list_first && !seen->looked_for_list) {
        seen->looked_for_list = true;
        if (split_has_list_after(s, next, seen->log))
            return true;
    }
    seen->has_stack_since = true;
    return false;
}

size_t split_first_len(machsym_str s)
{
    split_state seen;
    split_start(&seen, scan_first_log(s));
    size_t rule =
        SIZE_MAX; /* place of the line of dashes before "Translated Report" or before a sanitizer's report */
    machsym_str before = {NULL, 0};
    size_t next = 0;
    for (size_t at = 0; at < s.len && !plcrash_is(s) && !minidump_is(s) && !core_is(s); at = next) {
        machsym_str line = split_next_line(s, &next);
        bool is_log = seen.log.len > 0;
        machsym_str plain = split_plain_line(line, &seen.log);
        size_t to;
        if (!is_log && seen.log.len > 0 &&
            before.len > 0) /* the date of a spindump comes before its first certain line */
            split_begins_again(&seen, split_plain_line(before, &seen.log));
        before = line;
        if (plain.len > 0 && split_begins_other_kind(&seen, plain, s, at, next, &to) && to > 0)
            return rule != SIZE_MAX && to == at && split_has_rule(plain) ? rule : to;
        bool is_next = split_begins_next_body(&seen, s, at, line) || split_begins_next(&seen, plain) ||
                       (plain.len > 0 && (split_begins_again(&seen, plain) ||
                                          split_begins_without_header(&seen, plain, s, next)));
        if (is_next && at > 0)
            return rule != SIZE_MAX && split_has_rule(plain) ? rule : at;
        rule = str_starts(plain, "-----") || str_starts(plain, "=====") ? at : SIZE_MAX;
    }
    return s.len;
}
