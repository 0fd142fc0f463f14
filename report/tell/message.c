/* What a program said before it ended; see message.h. */
#include "message.h"
#include "../model/scan.h"

#include <string.h>

/* Services cut messages, and the start of a message is what distinguishes checks. Quotes are searched in the
 * first MESSAGE_READ bytes. */
enum { MESSAGE_MAX_LEN = 100, MESSAGE_READ = 1024 };

/* ---- Finding it ---- */

static machsym_str message_line(machsym_str s)
{
    s.len = str_line_len(s);
    return str_trim(s);
}

/* "NAME: words", or the name alone. */
static void message_split_thrown(machsym_str s, message *out)
{
    size_t colon = str_find(s, ": ");
    out->thrown = str_trim(str_make(s.ptr, colon));
    out->words = str_trim(str_from(s, colon + 2));
}

/* "NAME', reason: 'words'" of Foundation. The words may span lines. */
static void message_take_foundation(machsym_str s, message *out)
{
    static const char reason[] = "reason: '";
    size_t quote = str_find(s, "'");
    out->thrown = str_make(s.ptr, quote);
    s = str_after(s, reason);
    size_t end = str_find(s, "'\n");
    out->words = str_make(s.ptr, end);
    if (end == s.len && end > 0 && s.ptr[end - 1] == '\'')
        out->words.len--;
}

/* Finds an uncaught exception by the words of runtimes. */
static bool message_find_thrown(machsym_str s, message *out)
{
    static const char foundation[] = "due to uncaught exception '";
    static const char *const words[] = {"threw exception ",
                                        "Uncaught Kotlin exception: ", "uncaught exception of type "};
    machsym_str rest = str_after(s, foundation);
    if (rest.len > 0) {
        message_take_foundation(rest, out);
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rest = message_line(str_after(s, words[i]));
        if (rest.len > 0 && !str_is(rest, "NSException")) {
            message_split_thrown(rest, out);
            return true;
        }
    }
    return false;
}

/* Finds a failed check, without its place in the source, which changes with each build. */
static bool message_find_check(machsym_str s, message *out)
{
    static const char *const words[] = {"Fatal error", "Precondition failed", "Assertion failed",
                                        "Assertion failure"};
    static const char *const places[] = {": file ", ", function ", ", file "};
    size_t first = s.len;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t at = str_find(s, words[i]);
        first = at < first ? at : first;
    }
    if (first == s.len)
        return false;
    out->words = message_line(str_from(s, first));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        out->words.len = str_find(out->words, places[i]);
    return true;
}

void message_find(const report *r, message *out)
{
    static const report_fact places[] = {FACT_APP_INFO, FACT_DESCRIPTION, FACT_REASON};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (message_find_thrown(r->facts[places[i]], out))
            break;
    }
    if (out->thrown.len == 0)
        out->thrown = r->facts[FACT_THROWN];
    if (out->words.len == 0)
        out->words = r->facts[FACT_REASON];
    for (size_t i = 0; i < sizeof places / sizeof *places && out->words.len == 0; i++)
        message_find_check(r->facts[places[i]], out);
}

/* ---- In a form that stays the same ---- */

static bool message_is_word(char c)
{
    return scan_is_letter(c) || scan_is_digit(c) || (unsigned char)c >= 0x80;
}

/* A word with a digit is a number, an address or an identifier. */
static void message_put_word(text *out, machsym_str s)
{
    bool has_digit = false;
    for (size_t i = 0; i < s.len; i++)
        has_digit |= scan_is_digit(s.ptr[i]);
    if (has_digit)
        text_char(out, '#');
    else
        text_str(out, s);
}

static bool message_is_path(machsym_str s)
{
    size_t slashes = 0;
    for (size_t i = 0; i < s.len; i++)
        slashes += s.ptr[i] == '/';
    return slashes >= 2;
}

/* Writes the text between two blanks. */
static void message_put_piece(text *out, machsym_str s)
{
    if (message_is_path(s)) {
        text_char(out, '*');
        return;
    }
    for (size_t at = 0; at < s.len;) {
        size_t end = at;
        while (end < s.len && message_is_word(s.ptr[end]))
            end++;
        if (end > at)
            message_put_word(out, str_make(s.ptr + at, end - at));
        else if (s.ptr[at] != '-' || at + 1 >= s.len || !scan_is_digit(s.ptr[at + 1]))
            text_char(out, s.ptr[at]);
        at = end > at ? end : at + 1;
    }
}

/* Returns the length of a quoted text, or of an object in angle brackets, at the start of s; else 0. */
static size_t message_quoted_len(machsym_str s)
{
    static const struct {
        const char *open;
        const char *close;
    } quotes[] = {{"'", "'"},
                  {"\"", "\""},
                  {"`", "`"},
                  {"\xe2\x80\x9c", "\xe2\x80\x9d"},
                  {"\xe2\x80\x98", "\xe2\x80\x99"}};
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        if (!str_starts(s, quotes[i].open))
            continue;
        size_t open = strlen(quotes[i].open);
        size_t close = str_find(str_from(s, open), quotes[i].close);
        return close < s.len - open ? open + close + strlen(quotes[i].close) : 0;
    }
    size_t close = s.len > 0 && s.ptr[0] == '<' ? str_find(s, ">") : s.len;
    return close < s.len && str_find(str_make(s.ptr, close), ":") < close ? close + 1 : 0;
}

/* "*** -[__NSArrayM objectAtIndex:]: index 5 beyond bounds": short arrays have another class and another
 * message. Only the selector is the same. */
static machsym_str message_selector(machsym_str s)
{
    if (str_starts(s, "*** "))
        s = str_from(s, 4);
    size_t close = str_starts(s, "-[") || str_starts(s, "+[") ? str_find(s, "]") : s.len;
    size_t blank = str_find(s, " ");
    return close < s.len && blank < close ? str_make(s.ptr + blank + 1, close - blank - 1) : s;
}

void message_put_stable(text *out, machsym_str words)
{
    size_t from = out->len;
    words = message_selector(str_trim(words));
    if (words.len > MESSAGE_READ)
        words.len = MESSAGE_READ;
    while (words.len > 0) {
        size_t before = out->len;
        size_t quoted = message_quoted_len(words);
        size_t end = quoted;
        if (quoted > 0)
            text_char(out, '*');
        while (end < words.len && (unsigned char)words.ptr[end] > ' ' &&
               (end == 0 || message_quoted_len(str_from(words, end)) == 0 ||
                message_is_word(words.ptr[end - 1])))
            end++;
        message_put_piece(out, str_make(words.ptr + quoted, end - quoted));
        while (end < words.len && (unsigned char)words.ptr[end] <= ' ')
            end++;
        if (out->len - from > MESSAGE_MAX_LEN) {
            out->len = before;
            break;
        }
        text_c(out, end < words.len ? " " : "");
        words = str_from(words, end);
    }
    while (out->len > from && out->v[out->len - 1] == ' ')
        out->len--;
}
