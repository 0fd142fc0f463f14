/* ==== >> read/pasted ====
 * Job: pasted rows of bare addresses.
 * Offers: its reader, for read/lines.h.
 * Never: takes one address for a stack. */
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

/* backtrace(3) and callStackReturnAddresses print these. All are return addresses, also the first. */

static bool pasted_is_row_space(char c)
{
    return scan_is_blank(c) || c == ',' || c == '\n' || c == '\r';
}

/* Counts the addresses from lo on if nothing else is there; inside parentheses they may span lines. *end:
 * after the last. */
static size_t pasted_count_row(const text_parser *p, size_t lo, size_t hi, size_t *end)
{
    machsym_str s = scan_view(p, 0, hi);
    bool open = s.ptr[lo] == '(';
    size_t count = 0;
    size_t at = lo + open;
    uint64_t addr;
    for (;;) {
        while (at < hi &&
               (open ? pasted_is_row_space(s.ptr[at]) : scan_is_blank(s.ptr[at]) || s.ptr[at] == ','))
            at++;
        if (at >= hi || !scan_address(s, &at, &addr))
            break;
        count++;
    }
    *end = at;
    if (!open)
        return at == hi ? count : 0;
    *end += at < hi;
    return at < hi && s.ptr[at] == ')' ? count : 0;
}

/* Reads a row of addresses that begins at lo. Returns where the text continues; 0 if there is no row. */
size_t text_parse_row(text_parser *p, size_t lo, size_t line_end)
{
    machsym_str s = scan_view(p, 0, p->hi);
    size_t end;
    uint64_t addr;
    if (lo >= line_end)
        return 0;
    size_t count = pasted_count_row(p, lo, s.ptr[lo] == '(' ? p->hi : line_end, &end);
    if (count == 0)
        return 0;
    bool alone = count == 1 && s.ptr[lo] != '(';
    report_thread *thread = scan_thread_at_hand(p);
    if (!alone) {
        if (thread->count > 0)
            thread = scan_open_thread(p);
        thread->open_at = lo;
        thread->open_end = end;
    }
    for (size_t at = lo; at < end; at++) {
        size_t token = at;
        if (!scan_address(s, &at, &addr))
            continue;
        text_line line = {token, at, at};
        report_frame *frame = scan_add_frame(p, line, alone ? FORM_LIST : FORM_BARE);
        frame->addr = addr;
        frame->index = thread->count - 1;
        frame->exact = thread->kind == THREAD_EXCEPTION && thread->count == 1;
        frame->symbol_at = frame->symbol_end =
            alone ? token + str_trim(scan_view(p, token, line_end)).len : at;
    }
    return end;
}
