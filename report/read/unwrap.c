/* Documents whose lines have prefixes; see unwrap.h. */
#include "unwrap.h"
#include "../base/json.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/scan.h"
#include "machsym.h"
#include "split.h"

#include <string.h>

/* ---- One line ---- */

/* Longest prefix of a document. */
enum { UNWRAP_PREFIX_MAX = 200 };

static machsym_str unwrap_after(machsym_str s, size_t at)
{
    return str_make(s.ptr + at, s.len - at);
}

static size_t unwrap_blanks(machsym_str s, size_t at)
{
    while (at < s.len && scan_is_blank(s.ptr[at]))
        at++;
    return at;
}

/* Whether a document begins at an offset of a line: an object, an array of documents, a table as XML. */
static bool unwrap_begins_document(machsym_str line, size_t at)
{
    machsym_str s = unwrap_after(line, at);
    if (s.ptr[0] == '<')
        return str_starts(s, "<?xml ") || str_starts(s, "<trace-query-result");
    size_t next = unwrap_blanks(s, 1);
    char c = next < s.len && s.ptr[next] != '\r' ? s.ptr[next] : 0;
    return s.ptr[0] == '{' ? c == 0 || c == '"' || c == '}' : c == 0 || c == '{' || c == '"';
}

/* Returns the length of the prefix before the document that a line begins; 0 if there is no prefix or no
 * document. A line inside a document begins with a quote or a bracket. */
static size_t unwrap_prefix_of(machsym_str line)
{
    size_t first = unwrap_blanks(line, 0);
    char after = first + 1 < line.len ? line.ptr[first + 1] : 0;
    bool is_mark = first < line.len && ((line.ptr[first] == '{' && scan_is_letter(after)) ||
                                        (line.ptr[first] == '<' && scan_is_digit(after)));
    if (first == line.len ||
        (strchr("{\"}],<", line.ptr[first]) != NULL && !is_mark)) /* {level=info}, <165> */
        return 0;
    for (size_t at = first + 1; at < line.len && at < UNWRAP_PREFIX_MAX; at++) {
        char c = line.ptr[at];
        if ((c == '{' || c == '[' || c == '<') && strchr(" \t]:|)>}", line.ptr[at - 1]) != NULL &&
            unwrap_begins_document(line, at))
            return at;
    }
    MACHSYM_COUNT_WORK(UNWRAP_PREFIX_MAX / 16);
    return 0;
}

/* Returns how many bytes of a line match the prefix of another line, with different numbers allowed;
 * SIZE_MAX: no match. A line that ends with the prefix may lack the blanks after it. */
static size_t unwrap_match(machsym_str line, machsym_str prefix)
{
    size_t solid = prefix.len;
    size_t at = 0;
    while (solid > 0 && scan_is_blank(prefix.ptr[solid - 1]))
        solid--;
    for (size_t i = 0; i < solid;) {
        bool is_number = at < line.len && scan_is_digit(line.ptr[at]) && scan_is_digit(prefix.ptr[i]);
        if (at >= line.len || (!is_number && line.ptr[at] != prefix.ptr[i]))
            return SIZE_MAX;
        do
            i++;
        while (is_number && i < solid && scan_is_digit(prefix.ptr[i]));
        do
            at++;
        while (is_number && at < line.len && scan_is_digit(line.ptr[at]));
    }
    for (size_t i = solid; i < prefix.len && at < line.len && scan_is_blank(line.ptr[at]); i++)
        at++;
    MACHSYM_COUNT_WORK(1 + prefix.len / 16);
    return at;
}

/* ---- Lines that begin alike ---- */

static machsym_str unwrap_line(const report *r, size_t at, size_t hi)
{
    return str_make(r->body + at, str_line_len(str_make(r->body + at, hi - at)));
}

static size_t unwrap_next_line(const report *r, size_t at, size_t hi)
{
    at += unwrap_line(r, at, hi).len;
    if (at < hi && r->body[at] == '\r' && at + 1 < hi && r->body[at + 1] == '\n')
        at++;
    return at < hi ? at + 1 : hi;
}

/* Returns the first line before `at` such that all lines in between match the prefix; not before lo. */
static size_t unwrap_begin(const report *r, size_t at, size_t lo, machsym_str prefix)
{
    while (at > lo) {
        size_t line = at - 1;
        line -= line > lo && r->body[line] == '\n' && r->body[line - 1] == '\r';
        while (line > lo && r->body[line - 1] != '\n' && r->body[line - 1] != '\r')
            line--;
        if (unwrap_match(unwrap_line(r, line, at), prefix) == SIZE_MAX)
            break;
        at = line;
    }
    return at;
}

static size_t unwrap_end(const report *r, size_t at, size_t hi, machsym_str prefix)
{
    while (at < hi && unwrap_match(unwrap_line(r, at, hi), prefix) != SIZE_MAX)
        at = unwrap_next_line(r, at, hi);
    return at;
}

/* Appends the lines from begin to end without their prefixes. */
static void unwrap_put_plain(const report *r, size_t begin, size_t end, machsym_str prefix, text *out)
{
    for (size_t at = begin; at < end; at = unwrap_next_line(r, at, end)) {
        machsym_str line = unwrap_line(r, at, end);
        text_str(out, unwrap_after(line, unwrap_match(line, prefix)));
        text_char(out, '\n');
    }
}

/* Whether lines may be a document that is a report or carries one. document: the offset of the document in
 * them. */
static bool unwrap_may_hold_report(mem_source *memory, machsym_str plain, size_t document)
{
    static const char *const words[] = {"0x", "Incident Identifier:", "Exception Type:"};
    json doc;
    json_error err;
    if (plain.ptr[document] == '<' || split_has_member_of_report(plain))
        return true;
    if (!json_parse(memory, &doc, plain.ptr, plain.len, document, &err))
        return false;
    json_free(&doc);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_find(plain, words[i]) < plain.len)
            return true;
    }
    return false;
}

static void unwrap_carry(report *r, size_t begin, size_t end, machsym_str prefix)
{
    report_carried *carried = report_add_carried(r);
    carried->doc = REPORT_NONE;
    carried->at = begin;
    carried->first = r->string_count;
    carried->part = r->part_count;
    carried->is_raw = carried->is_lines = true;
    for (size_t at = begin; at < end; at = unwrap_next_line(r, at, end)) {
        machsym_str line = unwrap_line(r, at, end);
        report_string *string = (report_string *)mem_add(r->memory, &r->carried_strings, &r->string_count,
                                                         &r->string_cap, sizeof *string);
        string->token = string->element = JSON_NONE;
        string->from = at;
        string->at = at + unwrap_match(line, prefix);
        string->end = string->to = at + line.len;
        carried->count++;
    }
}

size_t unwrap_text(report *r, size_t at, size_t hi, size_t *end)
{
    size_t lo = at;
    while (at < hi) {
        machsym_str line = unwrap_line(r, at, hi);
        machsym_str prefix = {line.ptr, unwrap_prefix_of(line)};
        text plain = text_in(r->memory);
        if (prefix.len == 0) {
            at = unwrap_next_line(r, at, hi);
            continue;
        }
        size_t begin = unwrap_begin(r, at, lo, prefix);
        *end = unwrap_end(r, at, hi, prefix);
        unwrap_put_plain(r, begin, at, prefix, &plain);
        size_t document = plain.len;
        unwrap_put_plain(r, at, *end, prefix, &plain);
        bool is_one = unwrap_may_hold_report(r->memory, str_make(plain.v, plain.len), document);
        text_free(&plain);
        if (is_one) {
            unwrap_carry(r, begin, *end, prefix);
            return begin;
        }
        lo = at = *end;
    }
    *end = hi;
    return hi;
}
