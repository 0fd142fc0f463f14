/* Prefixes of a report's lines, from a quote or a log. */

#include "scan.h"
#include "../base/text.h"
#include <string.h>

/* ---- What a report's line begins with ---- */

enum { LOOKED_AT = 300 }; /* bytes of a line to examine: names of images and versions are shorter */

/* Returns where the first word begins that is an address; s.len if there is no such word. */
static size_t scan_find_address(machsym_str s)
{
    const char *x = s.ptr;
    while ((x = (const char *)memchr(x, 'x', (size_t)(s.ptr + s.len - x))) != NULL) {
        if (x - s.ptr >= 2 && x[-1] == '0' && scan_is_blank(x[-2]))
            return (size_t)(x - s.ptr) - 1;
        x++;
    }
    return s.len;
}

/* "3   Image name   0x0000000102a30a7c ", with at least six digits. */
bool scan_is_numbered(machsym_str s)
{
    enum { SHORTEST = 8 };
    uint64_t number;
    size_t at = 0;
    if (s.len > LOOKED_AT)
        s.len = LOOKED_AT;
    if (!scan_decimal(s, &at, &number) || at >= s.len || !scan_is_blank(s.ptr[at]))
        return false;
    size_t from = scan_find_address(s);
    size_t end = from;
    return scan_address(s, &end, &number) && end - from >= SHORTEST &&
           (end == s.len || scan_is_blank(s.ptr[end]));
}

/* "0x102a30000 - 0x102a33fff demo arm64 <uuid> /path". */
static bool scan_is_image(machsym_str s)
{
    uint64_t number;
    size_t at = 0;
    if (!scan_address(s, &at, &number))
        return false;
    while (at < s.len && scan_is_blank(s.ptr[at]))
        at++;
    at += at < s.len && s.ptr[at] == '-';
    while (at < s.len && scan_is_blank(s.ptr[at]))
        at++;
    return scan_address(s, &at, &number) &&
           memchr(s.ptr, '<', s.len < LOOKED_AT ? s.len : (size_t)LOOKED_AT) != NULL;
}

/* Whether a word begins within the first bytes. */
static bool scan_find_in(machsym_str s, size_t first, const char *word)
{
    machsym_str begin = {s.ptr, s.len < first ? s.len : first};
    return str_find(begin, word) < begin.len;
}

static bool scan_is_report_line(machsym_str s)
{
    static const char *const begins[] = {"Binary Images:",
                                         "Last Exception Backtrace:",
                                         "Exception Type:",
                                         "Exception Codes:",
                                         "frame #",
                                         "* frame #",
                                         "* thread #",
                                         "isolate_dso_base",
                                         "build_id: '",
                                         "Incident Identifier:",
                                         "Process: ",
                                         "Code Type: ",
                                         "OS Version: ",
                                         "panic(cpu ",
                                         "stack backtrace:",
                                         "Native stacktrace:",
                                         "WARNING: ThreadSanitizer: "};
    if (s.len > 0 && scan_is_digit(s.ptr[0]))
        return scan_is_numbered(s) || scan_is_image(s);
    for (size_t i = 0; s.len > 0 && i < sizeof begins / sizeof *begins; i++) {
        if (s.ptr[0] == begins[i][0] && str_starts(s, begins[i]))
            return true;
    }
    if (s.len > 10 && str_starts(s, "goroutine ") && scan_is_digit(s.ptr[10]))
        return scan_find_in(s, 60, " [");
    if (s.len > 7 && str_starts(s, "Thread ") && scan_is_digit(s.ptr[7]))
        return scan_find_in(s, 40, ":");
    return s.len > 3 && s.ptr[0] == '#' && scan_is_digit(s.ptr[1]) &&
           (scan_find_in(s, 8, " 0x") || scan_find_in(s, 9, " abs "));
}

/* ---- What logs and mails put there ---- */

/* Returns the end of a quote mark: "> > ". */
static size_t scan_quote_end(machsym_str s)
{
    size_t at = 0;
    size_t end = 0;
    while (at < s.len && (s.ptr[at] == '>' || scan_is_blank(s.ptr[at]))) {
        end = s.ptr[at] == '>' ? at + 1 : end;
        at++;
    }
    return end;
}

/* A log prefix, such as a time, a level or a name, ends with one of these characters and a blank. Longer
 * text, or text with more such ends, is not a prefix. */
enum { PREFIX_MAX = 200, PREFIX_ENDS = 12 };

/* Whether a terminal's colour code ends here, "\x1b[31m" or "\x1b[1;31m". */
static bool scan_is_colour_end(machsym_str s, size_t at)
{
    if (s.ptr[at] != 'm')
        return false;
    while (at > 0 && (scan_is_digit(s.ptr[at - 1]) || s.ptr[at - 1] == ';'))
        at--;
    return at > 0 && s.ptr[at - 1] == '[';
}

static bool scan_is_end(machsym_str s, size_t at)
{
    char c = s.ptr[at];
    if (scan_is_colour_end(s, at))
        return true;
    bool is_word = at > 0 && scan_is_blank(s.ptr[at - 1]); /* "stdout F " of CRI, "- - " of RFC 5424 */
    bool closes = c == ']' || c == ':' || c == '|' || c == ')' || c == '}' || scan_is_digit(c) || c == 'Z' ||
                  (is_word && (c == 'F' || c == 'P' || c == '-'));
    return c == '>' || (closes && at + 1 < s.len && scan_is_blank(s.ptr[at + 1])); /* > ends a mark of HTML */
}

/* Matches "<165>1 2026-03-14T...", the start of a line in RFC 5424. Returns the place after the version,
 * which is not the number of a frame; 0 for other lines. */
static size_t scan_syslog_version(machsym_str s)
{
    size_t at = 1;
    uint64_t number;
    if (s.len < 2 || s.ptr[0] != '<' || !scan_decimal(s, &at, &number) || at >= s.len || s.ptr[at] != '>')
        return 0;
    at++;
    bool has_version = scan_decimal(s, &at, &number) && at < s.len && s.ptr[at] == ' ';
    size_t year = at + 1;
    return has_version && scan_decimal(s, &year, &number) && year < s.len && s.ptr[year] == '-' ? at + 1 : 0;
}

/* Returns where the report's line begins after a log's prefix; 0 if there is no prefix. */
static size_t scan_log_end(machsym_str s)
{
    unsigned ends = 0;
    for (size_t at = scan_syslog_version(s); at < s.len && at < PREFIX_MAX && ends < PREFIX_ENDS; at++) {
        if (!scan_is_end(s, at))
            continue;
        size_t next = at + 1;
        while (next < s.len && scan_is_blank(s.ptr[next]))
            next++;
        if (scan_is_report_line(str_make(s.ptr + next, s.len - next)))
            return next;
        ends++;
    }
    return 0;
}

size_t scan_prefix_len(machsym_str line)
{
    size_t at = 0;
    while (at < line.len && scan_is_blank(line.ptr[at]))
        at++;
    machsym_str s = {line.ptr + at, line.len - at};
    at += s.len > 0 && s.ptr[0] == '>' ? scan_quote_end(s) : 0;
    while (at < line.len && scan_is_blank(line.ptr[at]))
        at++;
    s = str_make(line.ptr + at, line.len - at);
    MACHSYM_COUNT_WORK(PREFIX_ENDS);
    return at + (scan_is_report_line(s) ? 0 : scan_log_end(s));
}

bool scan_is_line(machsym_str s)
{
    size_t at = s.len > 0 && s.ptr[0] == '>' ? scan_quote_end(s) : 0;
    s = str_trim(str_make(s.ptr + at, s.len - at));
    MACHSYM_COUNT_WORK(PREFIX_ENDS);
    return scan_is_report_line(s) || scan_log_end(s) > 0;
}

/* Whether two lines have equal prefixes, apart from digits: the time changes. */
static bool scan_is_alike(machsym_str line, machsym_str prefix)
{
    for (size_t i = 0; i < prefix.len && i < line.len; i++) {
        bool is_digit = scan_is_digit(line.ptr[i]) && scan_is_digit(prefix.ptr[i]);
        if (!is_digit && line.ptr[i] != prefix.ptr[i])
            return false;
    }
    MACHSYM_COUNT_WORK(1 + prefix.len / 16);
    return prefix.len > 0 && prefix.len <= line.len;
}

/* A line with the same prefix as a certain line of a report belongs to the report, too. */
size_t scan_log_len(machsym_str line, machsym_str shadow, machsym_str *log)
{
    size_t blanks = 0;
    while (blanks < shadow.len && scan_is_blank(shadow.ptr[blanks]))
        blanks++;
    size_t len = scan_prefix_len(shadow);
    bool is_log = len > blanks && shadow.ptr[blanks] != '>';
    if (is_log) {
        *log = str_make(line.ptr, len);
        while (scan_is_blank(log->ptr[log->len - 1]))
            log->len--; /* these blanks belong to the report: its lines are indented or not */
    } else if (log->len > 0 && len == blanks && scan_is_alike(line, *log)) {
        for (len = log->len; len < line.len && scan_is_blank(line.ptr[len]);)
            len++;
    }
    return len;
}

/* A tool writes at most this many lines before one that is certain to be a report's. */
enum { FIRST_LINES = 32 };

machsym_str scan_first_log(machsym_str s)
{
    machsym_str log = {NULL, 0};
    size_t at = 0;
    for (unsigned i = 0; i < FIRST_LINES && at < s.len && log.len == 0; i++) {
        machsym_str line = {s.ptr + at, s.len - at};
        line.len = str_line_len(line);
        MACHSYM_COUNT_WORK(1 + line.len / 64);
        if (scan_is_report_line(str_trim(line)))
            break;
        scan_log_len(line, line, &log);
        at += line.len + 1;
    }
    return log;
}

void scan_blank_prefix(text_parser *p, text_line line)
{
    machsym_str s = {p->r->body + line.at, line.end - line.at};
    size_t blanks = scan_blanks(p, line.at, line.end) - line.at;
    size_t len = scan_log_len(s, scan_view(p, line.at, line.end), &p->log);
    if (len > blanks)
        memset(p->r->shadow + line.at + blanks, ' ', len - blanks);
}
