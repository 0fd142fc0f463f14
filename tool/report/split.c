/* Where one report of a file ends and the next one begins; see split.h. A report is cut off at what reports begin
 * with: the metadata of an .ips, its document where the metadata were left out, the header of a text, the words that
 * other tools begin with. Where reports have lost those, the lists of images tell: a report has one. */
#include "split.h"
#include "plcrash.h"
#include "scan.h"

#include <string.h>

/* What was seen of a report. */
typedef struct split_state {
    bool has_metadata; /* the line ahead of an .ips */
    bool has_document; /* and the JSON that follows it */
    bool has_exception;
    bool has_stacks;
    bool is_translated; /* the .ips that the text is of follows */
    bool is_body;       /* the text begins with the document of an .ips, without metadata, which has ended */
    bool looked_for_body;
    bool ends_object; /* the last line that is not empty ends in } */
    bool has_incident;
    bool has_process;  /* "Process:" of a crash, a sample or leaks, which have one */
    bool has_identity; /* and what follows there */
    bool is_wide;      /* of many processes: it began with its date */
    bool has_begun;    /* with the words of a tool */
    bool has_list;     /* of images */
    bool is_list_first;
    bool has_stack_since; /* since the last list, or the begin */
    bool looked_for_list;
} split_state;

static bool is_complete(const split_state *seen)
{
    return seen->is_body || (seen->has_metadata && seen->has_document) ||
           (seen->has_exception && seen->has_stacks);
}

/* The metadata have a few hundred bytes. Longer lines are whole documents. */
enum { MAX_METADATA = 8192 };

static bool is_metadata(machsym_str line)
{
    return line.len < MAX_METADATA && line.len > 1 && line.ptr[0] == '{' && line.ptr[line.len - 1] == '}' &&
           str_find(line, "\"bug_type\"") < line.len &&
           (str_find(line, "\"os_version\"") < line.len || str_find(line, "\"timestamp\"") < line.len);
}

static bool is_header(machsym_str line)
{
    return str_starts(line, "Incident Identifier:") || str_starts(line, "Process:") ||
           str_starts(line, "Translated Report (");
}

/* "Process:  demo [412]": logs have lines that begin so and mean something else. */
static bool is_process(machsym_str line)
{
    return str_starts(line, "Process:") && line.ptr[line.len - 1] == ']' && str_find(line, " [") < line.len;
}

/* What the tools write first that do not write Apple's header. */
static bool begins_tool(machsym_str line)
{
    static const char *const words[] = {"Analysis of sampling ", "# Crashlytics - ",
                                        "*** Program crashed: ", "*** *** *** ***", "<?xml "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_starts(line, words[i]))
            return true;
    }
    size_t at = str_starts(line, "==") ? str_find(line, "==ERROR: AddressSanitizer") : line.len;
    return at < line.len || str_starts(line, "WARNING: ThreadSanitizer: ");
}

/* The first line of a list of images: Apple's, lldb's, Swift's. */
static bool is_list(machsym_str line)
{
    return str_starts(line, "Binary Images:") || str_starts(line, "[  0] ") ||
           (str_starts(line, "Images (") && line.ptr[line.len - 1] == ':');
}

/* "Thread 0 Crashed:", "* thread #1, stop reason = ...", "Exception Type:". */
static bool is_stack(machsym_str line)
{
    bool is_thread = str_starts(line, "Thread ") && line.len > 7 && scan_is_digit(line.ptr[7]);
    return (is_thread && str_find(line, "State") == line.len) || str_starts(line, "* thread #") ||
           str_starts(line, "Exception Type:") || str_starts(line, "Last Exception Backtrace:");
}

/* Whether another report begins with the line; else takes note of it. */
static bool begins_next(split_state *seen, machsym_str line)
{
    bool is_new = is_metadata(line);
    if (seen->is_translated && is_new)
        *seen = (split_state){.has_metadata = true};
    else if ((is_new || is_header(line)) && is_complete(seen))
        return true;
    else if (is_new)
        seen->has_metadata = true;
    else
        seen->has_document |= seen->has_metadata && str_starts(line, "{"); /* iOS 14 writes text there */
    seen->has_exception |= str_starts(line, "Exception Type:");
    seen->has_stacks |= str_starts(line, "Thread ") || str_starts(line, "Binary Images:");
    seen->is_translated |= str_is(line, "Full Report");
    return false;
}

/* The same of a report that may be cut: what it has once comes again. */
static bool begins_again(split_state *seen, machsym_str line)
{
    bool is_incident = str_starts(line, "Incident Identifier:");
    bool is_first = !seen->has_incident && !seen->has_process && !seen->has_identity;
    if (str_starts(line, "Date/Time:")) {
        if (seen->is_wide && seen->has_list)
            return true;
        seen->is_wide |= is_first;
    }
    if (begins_tool(line)) {
        if (seen->has_begun || is_complete(seen))
            return true;
        seen->has_begun = true;
    }
    if (is_incident && seen->has_incident)
        return true;
    if (is_process(line) && seen->has_process && seen->has_identity && !seen->is_wide)
        return true;
    seen->has_incident |= is_incident;
    seen->has_process |= is_process(line);
    seen->has_identity |= str_starts(line, "Identifier:") || str_starts(line, "Path:");
    return false;
}

static machsym_str without_return(machsym_str line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' '))
        line.len--;
    return line;
}

/* The line at *at, which moves on to the next one. */
static machsym_str next_line(machsym_str s, size_t *at)
{
    const char *line = s.ptr + *at;
    const char *end = memchr(line, '\n', s.len - *at);
    size_t len = end != NULL ? (size_t)(end - line) : s.len - *at;
    *at += len + (end != NULL);
    MACHSYM_COUNT_WORK(1 + len / 64);
    return without_return((machsym_str){line, len});
}

/* A line that ends in } is never followed by one that begins with { inside a document: there is a comma. */
static bool ends_object(machsym_str line)
{
    return line.len > 0 && line.ptr[line.len - 1] == '}';
}

/* The document that a text begins with, and no more than up to where another report may begin. */
static machsym_str first_document(machsym_str s)
{
    size_t at = 0;
    size_t next = 0;
    bool ended = ends_object(next_line(s, &next));
    for (at = next; at < s.len; at = next) {
        machsym_str line = next_line(s, &next);
        if (is_header(line) || is_metadata(line) || (ended && str_starts(line, "{")))
            break;
        if (line.len > 0)
            ended = ends_object(line);
    }
    return (machsym_str){s.ptr, at};
}

static bool has_stacks_of_ips(machsym_str s)
{
    MACHSYM_COUNT_WORK(s.len / 64);
    return str_find(s, "\"usedImages\"") < s.len && str_find(s, "\"threads\"") < s.len;
}

/* Whether the line at an offset begins the document of an .ips without metadata, behind a whole report. Behind such a
 * document it does, whole or not. Only the first such place is looked at, and only to where the next one is, so that a
 * text is searched once. */
static bool begins_next_body(split_state *seen, machsym_str s, size_t at, machsym_str line)
{
    bool is_place = is_complete(seen) ? !seen->is_translated : seen->ends_object && !seen->has_metadata;
    bool is_after_object = seen->ends_object;
    if (line.len > 0)
        seen->ends_object = ends_object(line);
    if (!is_place || seen->looked_for_body || !(str_starts(line, "{") || is_header(line)))
        return false;
    seen->looked_for_body = true;
    seen->is_body = has_stacks_of_ips((machsym_str){s.ptr, at});
    return is_complete(seen) && str_starts(line, "{") &&
           ((is_after_object && seen->is_body) ||
            has_stacks_of_ips(first_document((machsym_str){s.ptr + at, s.len - at})));
}

/* ---- Reports without what they begin with ---- */

/* A line as its report has it: without what a mail or a log put ahead of it. */
static machsym_str plain_line(machsym_str line)
{
    size_t len = line.len > 0 && line.ptr[0] != '{' ? text_prefix_len(line) : 0;
    return (machsym_str){line.ptr + len, line.len - len};
}

/* Whether another list of images comes before what is certain to begin a report. */
static bool has_list_after(machsym_str s, size_t at)
{
    while (at < s.len) {
        machsym_str line = plain_line(next_line(s, &at));
        if (is_list(line))
            return true;
        if (is_header(line) || is_metadata(line) || begins_tool(line))
            return false;
    }
    return false;
}

/* Stacks and their images come in one order in all reports of a text, so the second of what comes first begins the
 * next report. What stands there may be of the same process where no list follows. */
static bool begins_without_header(split_state *seen, machsym_str line, machsym_str s, size_t next)
{
    if (seen->is_wide)
        return false;
    if (is_list(line)) {
        if (seen->has_list && seen->is_list_first && seen->has_stack_since)
            return true;
        seen->is_list_first |= !seen->has_list && !seen->has_stack_since;
        seen->has_list = true;
        seen->has_stack_since = false;
    }
    if (!is_stack(line))
        return false;
    if (seen->has_list && !seen->is_list_first && !seen->looked_for_list) {
        seen->looked_for_list = true;
        if (has_list_after(s, next))
            return true;
    }
    seen->has_stack_since = true;
    return false;
}

size_t report_first_len(machsym_str s)
{
    split_state seen = {.has_metadata = false};
    size_t rule =
        SIZE_MAX; /* where the line of dashes ahead of "Translated Report" begins, or of a sanitizer */
    size_t next = 0;
    for (size_t at = 0; at < s.len && !plcrash_is(s); at = next) {
        machsym_str line = next_line(s, &next);
        machsym_str plain = plain_line(line);
        bool is_next =
            begins_next_body(&seen, s, at, line) || begins_next(&seen, plain) ||
            (plain.len > 0 && (begins_again(&seen, plain) || begins_without_header(&seen, plain, s, next)));
        if (is_next && at > 0)
            return rule != SIZE_MAX && (str_starts(line, "Translated") || begins_tool(line)) ? rule : at;
        rule = str_starts(line, "-----") || str_starts(line, "=====") ? at : SIZE_MAX;
    }
    return s.len;
}
