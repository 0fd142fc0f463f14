/* The scanner of text reports; see scan.h. */

#include "scan.h"
#include "../base/digits.h"
#include "../base/text.h"
#include <string.h>

machsym_str scan_view(const text_parser *p, size_t lo, size_t hi)
{
    return str_make(p->r->shadow + lo, hi > lo ? hi - lo : 0);
}

static bool scan_is_in(machsym_str s, const char *begin, size_t len)
{
    return s.len > 0 && s.ptr >= begin && s.ptr < begin + len;
}

bool scan_is_padded(machsym_str body)
{
    return body.len > 0 &&
           (memchr(body.ptr, '&', body.len) != NULL || memchr(body.ptr, 0xc2, body.len) != NULL);
}

machsym_str scan_plain(report *r, machsym_str s)
{
    bool in_shadow = scan_is_in(s, r->shadow, r->len);
    if (!in_shadow && !scan_is_in(s, r->body, r->len))
        return s;
    size_t at = (size_t)(s.ptr - (in_shadow ? r->shadow : r->body));
    if (!scan_is_padded(str_make(r->body + at, s.len)))
        return s;
    text t = text_in(r->memory);
    for (size_t i = 0; i < s.len; i++) {
        machsym_str rest = {r->body + at + i, r->len - at - i};
        char c = r->shadow[at + i];
        text_char(&t, c);
        if (rest.ptr[0] == '&' && (c != '&' || str_starts(rest, "&amp;"))) /* other entities stay */
            i += str_find(rest, ";");
        else if (c == ' ' && str_starts(rest, "\xc2\xa0"))
            i++;
    }
    MACHSYM_COUNT_WORK(s.len / 16);
    s = pool_copy(&r->strings, t.v, t.len);
    text_free(&t);
    return s;
}

/* Returns where the byte next occurs, or hi. */
static size_t scan_next_end(const text_parser *p, size_t at, char byte)
{
    const char *s = p->r->shadow;
    const char *found = at < p->hi ? (const char *)memchr(s + at, byte, p->hi - at) : NULL;
    size_t end = found != NULL ? (size_t)(found - s) : p->hi;
    MACHSYM_COUNT_WORK(1 + (end - at) / 64);
    return end;
}

void scan_begin(text_parser *p, size_t lo)
{
    p->next_lf = scan_next_end(p, lo, '\n');
    p->next_cr = scan_next_end(p, lo, '\r');
}

/* Each kind of line end is searched for once, however far away it is: a text may have only one kind. */
text_line scan_line(text_parser *p, size_t at)
{
    text_line line = {at, at, at};
    const char *s = p->r->shadow;
    if (p->next_lf < at)
        p->next_lf = scan_next_end(p, at, '\n');
    if (p->next_cr < at)
        p->next_cr = scan_next_end(p, at, '\r');
    line.end = p->next_lf < p->next_cr ? p->next_lf : p->next_cr;
    line.next = line.end;
    if (line.next < p->hi)
        line.next += s[line.next] == '\r' && line.next + 1 < p->hi && s[line.next + 1] == '\n' ? 2 : 1;
    return line;
}

size_t scan_blanks(const text_parser *p, size_t at, size_t end)
{
    size_t to = at;
    while (to < end && scan_is_blank(p->r->shadow[to]))
        to++;
    MACHSYM_COUNT_WORK((to - at) / 64);
    return to;
}

size_t scan_word(const text_parser *p, size_t at, size_t end)
{
    size_t to = at;
    while (to < end && !scan_is_blank(p->r->shadow[to]))
        to++;
    MACHSYM_COUNT_WORK(1 + (to - at) / 64);
    return to;
}

/* The line before a line: a title, or the function that the line belongs to. */
machsym_str scan_line_before(const text_parser *p, size_t at)
{
    const char *s = p->r->shadow;
    size_t end = at;
    while (end > 0 && (s[end - 1] == '\n' || s[end - 1] == '\r'))
        end--;
    size_t lo = end;
    while (lo > 0 && s[lo - 1] != '\n' && s[lo - 1] != '\r')
        lo--;
    MACHSYM_COUNT_WORK((at - lo) / 64);
    return str_trim(scan_view(p, lo, end));
}

/* Decimal digits at s[*at]; moves past them. */
bool scan_decimal(machsym_str s, size_t *at, uint64_t *out)
{
    size_t i = *at;
    uint64_t number = 0;
    while (i < s.len && scan_is_digit(s.ptr[i]) && number < UINT64_MAX / 16)
        number = number * 10 + (uint64_t)(s.ptr[i++] - '0');
    if (i == *at)
        return false;
    *at = i;
    *out = number;
    return true;
}

/* "0x" and hexadecimal digits at s[*at], ended by another byte; moves past them. */
bool scan_address(machsym_str s, size_t *at, uint64_t *out)
{
    size_t digits = *at + 2;
    uint64_t number = 0;
    if (s.len < digits + 1 || s.ptr[*at] != '0' || (s.ptr[*at + 1] != 'x' && s.ptr[*at + 1] != 'X'))
        return false;
    size_t i = digits;
    for (; i < s.len; i++) {
        int digit = hex_digit(s.ptr[i]);
        if (digit < 0)
            break;
        if (number >> 60 != 0)
            return false;
        number = number << 4 | (uint64_t)digit;
    }
    MACHSYM_COUNT_WORK(1 + (i - *at) / 64);
    if (i == digits)
        return false;
    *at = i;
    *out = number;
    return true;
}

/* " + N" at s[at]; returns the index after it, or at. backtrace_symbols writes large offsets as "+ -N". */
size_t scan_plus(machsym_str s, size_t at)
{
    size_t i = at + 3;
    if (s.len <= i || memcmp(s.ptr + at, " + ", 3) != 0)
        return at;
    i += s.ptr[i] == '-';
    size_t digits = i;
    while (i < s.len && scan_is_digit(s.ptr[i]))
        i++;
    MACHSYM_COUNT_WORK((i - at) / 64);
    return i > digits ? i : at;
}

/* ---- The current report ---- */

report_thread *scan_open_thread(text_parser *p)
{
    report_thread *thread = report_add_thread(p->r);
    p->open = true;
    p->section = SECTION_STACK;
    p->tree_frame = REPORT_NONE;
    return thread;
}

report_thread *scan_thread_at_hand(text_parser *p)
{
    if (!p->open)
        return scan_open_thread(p);
    return &p->r->threads[p->r->thread_count - 1];
}

report_frame *scan_add_frame(text_parser *p, text_line line, frame_form form)
{
    report_frame *frame = report_add_frame(p->r);
    p->r->has_text = true;
    frame->at = line.at;
    frame->end = line.at + str_trim(scan_view(p, line.at, line.end)).len;
    frame->end += scan_blanks(p, line.at, line.end) - line.at;
    frame->form = (uint8_t)form;
    frame->escape = (uint8_t)(p->escape == ESCAPE_NONE && p->r->has_entities ? ESCAPE_HTML : p->escape);
    return frame;
}

#include <string.h>

/* ---- What a frame's text says ---- */

/* Returns the text without " [WORDS]" at its end. */
static machsym_str scan_cut_mark(machsym_str s)
{
    size_t at = s.len;
    if (s.len == 0 || s.ptr[s.len - 1] != ']')
        return s;
    while (at > 0 && s.ptr[at - 1] != '[')
        at--;
    return at > 2 && s.ptr[at - 2] == ' ' ? str_make(s.ptr, at - 2) : s;
}

/* Removes " [callers left out]", and " [OWNER]" of --owners before it, if an offset or a place stands before
 * them. Otherwise the brackets belong to the name. */
static machsym_str scan_without_marks(machsym_str s)
{
    enum { MARKS = 2 };
    machsym_str rest = s;
    for (unsigned i = 0; i < MARKS; i++) {
        rest = scan_cut_mark(rest);
        if (rest.len > 0 && (rest.ptr[rest.len - 1] == ')' || scan_is_digit(rest.ptr[rest.len - 1])))
            return rest;
    }
    return s;
}

/* Splits "NAME + 12 (File.m:34)", "NAME (File.m:34)" and "NAME + 12  File.m:34". */
void scan_split_given(report_frame *frame, machsym_str s)
{
    size_t tail = s.len;
    frame->given_inline = s.len > 9 && memcmp(s.ptr + s.len - 9, "[inlined]", 9) == 0;
    if (frame->given_inline)
        tail = s.len = str_trim(str_make(s.ptr, s.len - 9)).len;
    tail = s.len = scan_without_marks(s).len;
    frame->name = s;
    for (size_t i = s.len; i-- > 0;) {
        size_t end = s.ptr[i] == ' ' ? scan_plus(s, i) : i;
        if (end != i && (end == s.len || scan_is_blank(s.ptr[end]))) {
            frame->name.len = i;
            frame->given_start = end == i + sizeof " + 0" - 1 && s.ptr[end - 1] == '0';
            tail = end;
            break;
        }
    }
    machsym_str where = str_trim(str_make(s.ptr + tail, s.len - tail));
    if (tail == s.len && s.len > 0 && s.ptr[s.len - 1] == ')') {
        size_t open = s.len;
        while (open > 0 && s.ptr[open - 1] != '(')
            open--;
        where = str_make(s.ptr + open, s.len - open - 1);
        if (open < 2 || s.ptr[open - 2] != ' ' || memchr(where.ptr, ':', where.len) == NULL)
            return;
        frame->name.len = open - 2;
    } else if (where.len > 1 && where.ptr[0] == '(') {
        where = str_make(where.ptr + 1, where.len - 2);
    }
    frame->where = where;
    frame->given_line = where.len > 0 && memchr(where.ptr, ':', where.len) != NULL;
}

void scan_set_given(report_frame *frame, machsym_str s)
{
    scan_split_given(frame, s);
    frame->given_folded = report_is_folded_name(str_trim(frame->name));
    if (report_is_no_name(str_trim(frame->name), frame->image_name))
        frame->name.len = 0;
    else
        frame->named = NAME_GIVEN;
}
