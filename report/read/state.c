/* ==== >> read/state ====
 * Job: the lines of a thread's state in text reports.
 * Offers: its reader, for read/lines.h.
 * Never: says what a value means. */
#include "../base/digits.h"
#include "../base/text.h"
#include "../model/registers.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <string.h>

/* Longest name of a register: "rflags". Longer words are prose. */
enum { REGLINE_NAME_MAX_LEN = 6 };

/* Finds "NAME: 0xVALUE" from *at on, and moves *at past it. */
static bool regline_next(machsym_str s, size_t *at, machsym_str *name, uint64_t *value)
{
    for (size_t colon = *at; colon + 2 < s.len; colon++) {
        size_t lo = colon;
        size_t end = colon + 1;
        if (s.ptr[colon] != ':')
            continue;
        while (lo > *at && (scan_is_letter(s.ptr[lo - 1]) || scan_is_digit(s.ptr[lo - 1])))
            lo--;
        while (end < s.len && scan_is_blank(s.ptr[end]))
            end++;
        if (lo == colon || colon - lo > REGLINE_NAME_MAX_LEN || !scan_address(s, &end, value))
            continue;
        *name = str_make(s.ptr + lo, colon - lo);
        *at = end;
        return true;
    }
    return false;
}

/* "Error Code: 0x00000004 (no mapping for user data read)" and "Trap Number: 14"; JSON calls them err and
 * trap. */
static bool regline_parse_trap(text_parser *p, report_thread *thread, machsym_str s)
{
    size_t at = 0;
    uint64_t value;
    machsym_str rest = str_trim(str_after(s, ":"));
    if (str_starts(s, "Error Code:")) {
        bool has_prefix = str_starts(rest, "0x");
        size_t end = has_prefix ? 2 : 0;
        while (end < rest.len && !scan_is_blank(rest.ptr[end]))
            end++;
        if (parse_hex(rest.ptr, end, &value))
            registers_add(p->r, thread, str_c("err"), value, str_trim(str_from(rest, end)));
        return true;
    }
    if (str_starts(s, "Logical CPU:") || str_starts(s, "Trap Number:")) {
        if (scan_decimal(rest, &at, &value))
            registers_add(p->r, thread, str_c(s.ptr[0] == 'L' ? "cpu" : "trap"), value, str_make(NULL, 0));
        return true;
    }
    return false;
}

/* "  a5 d9 00 08-[7f]c6 01 aa ...  ..........": a row of at most 16 bytes, and their characters. */
static bool regline_parse_code(text_parser *p, report_thread *thread, machsym_str s)
{
    enum { ROW = 16 };
    text t = text_in(p->r->memory);
    size_t count = 0;
    size_t mark = SIZE_MAX;
    size_t at = 0;
    uint64_t byte;
    while (count < ROW && at + 2 <= s.len) {
        bool is_marked = s.ptr[at] == '[';
        at += is_marked;
        if (at + 2 > s.len || !parse_hex(s.ptr + at, 2, &byte))
            break;
        mark = is_marked ? count : mark;
        text_add(&t, s.ptr + at, 2);
        count++;
        at += 2;
        bool is_end = at + 1 < s.len && scan_is_blank(s.ptr[at + 1]);
        at += at < s.len && s.ptr[at] != '[' ? 1 : 0;
        if (is_end)
            break;
    }
    if (mark != SIZE_MAX)
        thread->code_at = thread->code.len / 2 + mark;
    if (count > 0 && thread->code.len < 2 * CODE_BYTES) {
        text whole = text_in(p->r->memory);
        text_str(&whole, thread->code);
        text_add(&whole, t.v, t.len);
        thread->code = pool_copy(&p->r->strings, whole.v, whole.len);
        text_free(&whole);
    }
    text_free(&t);
    return count > 0;
}

void text_parse_state_title(text_parser *p, uint64_t number, bool in_code)
{
    p->state_thread = REPORT_NONE;
    p->in_code = in_code;
    for (uint32_t i = p->r->thread_count; i-- > p->first_thread;) {
        report_thread *thread = &p->r->threads[i];
        bool is_new = in_code ? thread->code.len == 0 : thread->register_count == 0;
        if (thread->kind == THREAD_PLAIN && thread->number == number && is_new) {
            thread->code_at = in_code ? SIZE_MAX : thread->code_at;
            p->state_thread = i;
            return;
        }
    }
}

bool text_parse_state(text_parser *p, machsym_str s)
{
    machsym_str name;
    machsym_str next;
    uint64_t value;
    uint64_t next_value;
    size_t at = 0;
    if (p->section != SECTION_STATE || p->state_thread == REPORT_NONE)
        return false;
    report_thread *thread = &p->r->threads[p->state_thread];
    if (p->in_code)
        return regline_parse_code(p, thread, s);
    if (regline_parse_trap(p, thread, s))
        return true;
    if (str_find(s, ": <unavailable>") <=
        REGLINE_NAME_MAX_LEN) /* "rip: <unavailable>       rfl: 0x0000000000000246" */
        s = str_trim(str_after(s, "<unavailable>"));
    if (!regline_next(s, &at, &name, &value) || name.ptr != s.ptr)
        return false;
    for (bool has_next = true; has_next; name = next, value = next_value) {
        size_t from = at;
        has_next = regline_next(s, &at, &next, &next_value);
        size_t to = has_next ? (size_t)(next.ptr - s.ptr) : s.len;
        bool is_flags = str_is(name, "rfl");
        registers_add(p->r, thread, is_flags ? str_c("rflags") : name, value,
                      str_trim(str_make(s.ptr + from, to - from)));
    }
    return true;
}
