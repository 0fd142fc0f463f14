/* Recognition of values in JSON documents; see told.h. */
#include "told.h"
#include "../model/scan.h"
#include "formats.h"
#include "split.h"

#include <string.h>

/* ---- Objects ---- */

/* The kinds that are recognised inside another document. */
static const struct {
    report_kind kind;
    bool (*tell)(const json *doc, uint32_t object);
} object_kinds[] = {
#define TOLD_NOTHING(...)
#define TOLD_OBJECT(kind, words, reader, member) FAMILY_IF_##kind({REPORT_##kind, report_tell_##reader}, )
    REPORT_KINDS(TOLD_NOTHING, TOLD_NOTHING, TOLD_OBJECT)
#undef TOLD_NOTHING
#undef TOLD_OBJECT
};

report_kind told_object(const json *doc, uint32_t object)
{
    for (size_t i = 0; json_is(doc, object, JSON_OBJECT) && i < sizeof object_kinds / sizeof *object_kinds;
         i++) {
        if (object_kinds[i].tell(doc, object))
            return object_kinds[i].kind;
    }
    return REPORT_UNKNOWN;
}

/* ---- Strings ---- */

static machsym_str told_after(machsym_str s, size_t at)
{
    return at < s.len ? str_make(s.ptr + at, s.len - at) : str_make(NULL, 0);
}

/* Returns the first "\\n" whose backslash is not itself escaped, or raw.len. */
static size_t told_escape(machsym_str raw)
{
    size_t from = 0;
    for (;;) {
        size_t at = from + str_find(told_after(raw, from), "\\n");
        size_t lo = at;
        if (at >= raw.len)
            return raw.len;
        while (lo > from && raw.ptr[lo - 1] == '\\')
            lo--;
        if ((at - lo) % 2 == 0)
            return at;
        from = at + 2;
    }
}

/* Returns the end of a line in a string: escaped, or a raw newline, which real documents contain. */
static size_t told_line_end(machsym_str raw)
{
    size_t end = told_escape(raw);
    size_t plain = str_line_len(str_make(raw.ptr, end));
    size_t number = str_find(str_make(raw.ptr, plain), "\\u000a");
    end = plain < end ? plain : end;
    return number < end ? number : end;
}

static bool told_ends(machsym_str raw, const char *word)
{
    size_t len = strlen(word);
    return raw.len >= len && memcmp(raw.ptr + raw.len - len, word, len) == 0;
}

/* Skips a character of a JSON string. An escape has two bytes, and a double escape has two escapes. */
static size_t told_next_character(machsym_str raw, size_t at)
{
    bool is_escape = raw.ptr[at] == '\\' && at + 1 < raw.len;
    return at + (is_escape ? 2 : 1);
}

/* Returns where a string ends that begins a string; its quotes are escaped. raw.len + 1: it does not end. */
static size_t told_inner_string_end(machsym_str raw)
{
    for (size_t at = 2; at + 1 < raw.len;) {
        bool is_quote = raw.ptr[at] == '\\' && raw.ptr[at + 1] == '"';
        bool is_escape = raw.ptr[at] == '\\' && raw.ptr[at + 1] == '\\';
        at = told_next_character(raw, at);
        if (is_quote)
            return at;
        if (is_escape && at < raw.len)
            at = told_next_character(raw, at);
    }
    return raw.len + 1;
}

/* Whether a one-line text that begins as a document also ends as one. Lines of a document may begin so,
 * too. */
static bool told_is_closed(machsym_str raw)
{
    while (told_ends(raw, " ") || told_ends(raw, "\\n") || told_ends(raw, "\\r"))
        raw.len -= told_ends(raw, " ") ? 1u : 2u;
    if (told_line_end(raw) < raw.len)
        return true;
    if (raw.ptr[0] != '\\')
        return told_ends(raw, raw.ptr[0] == '{' ? "}" : "]");
    return told_inner_string_end(raw) == raw.len;
}

bool told_is_document(machsym_str raw)
{
    while (raw.len > 1 && (raw.ptr[0] == ' ' || str_starts(raw, "\\n")))
        raw = told_after(raw, raw.ptr[0] == ' ' ? 1 : 2);
    return (str_starts(raw, "{") || str_starts(raw, "[") || str_starts(raw, "\\\"")) &&
           str_find(raw, "\\\"") < raw.len && told_is_closed(raw);
}

bool told_may_hold_report(machsym_str raw)
{
    static const char *const words[] = {"0x", "Incident Identifier:", "Exception Type:"};
    if (told_is_document(raw))
        return true;
    size_t line = told_line_end(raw);
    machsym_str rest = told_after(raw, line + 2);
    MACHSYM_COUNT_WORK(raw.len / 16);
    if (line >= raw.len || told_line_end(rest) >= rest.len)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_find(raw, words[i]) < raw.len)
            return true;
    }
    return false;
}

/* ---- Lines ---- */

/* "\"usedImages\" : [": a line of a document that is a report. */
static bool told_is_member_line(machsym_str s)
{
    return s.len > 0 && s.ptr[0] == '"' && split_has_member_of_report(s);
}

line_kind told_line(machsym_str raw, text *plain)
{
    plain->len = 0;
    json_unescape(plain, raw);
    machsym_str s = {plain->v, plain->len};
    MACHSYM_COUNT_WORK(1 + raw.len / 16);
    while (s.len > 0 && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    if (s.len > 0 && str_line_len(s) < s.len)
        return LINE_NONE;
    s = str_trim(s);
    if (s.len == 0)
        return LINE_PLAIN;
    if (split_is_metadata(s))
        return LINE_METADATA;
    if (s.ptr[0] == '{' && s.ptr[s.len - 1] == '}' && split_has_member_of_report(s))
        return LINE_DOCUMENT;
    return scan_is_line(s) || split_is_certain(s) || told_is_member_line(s) ? LINE_CERTAIN : LINE_PLAIN;
}
