/* ==== >> read/numbered ====
 * Job: numbered frames: crash reports, leaks, backtrace_symbols, KSCrash's text.
 * Offers: its reader, for read/lines.h.
 * Never: reads other lines. */
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "formats.h"
#include "lines.h"

/* "(NAME + 12)" was found by KSCrash on the device; "(NAME + 12) (File.m:34)" was written by this tool. */
static void numbered_classify_side(report_frame *frame, machsym_str s)
{
    size_t close = str_find(s, ") (");
    frame->given_inline = s.len > 9 && memcmp(s.ptr + s.len - 9, "[inlined]", 9) == 0;
    frame->named = close < s.len ? NAME_GIVEN : NAME_WEAK;
    bool inlined = frame->given_inline;
    scan_split_given(frame, str_make(s.ptr + 1, close < s.len ? close - 1 : s.len - 2));
    frame->given_inline = inlined;
    if (close < s.len) {
        machsym_str where = {s.ptr + close + 3, s.len - close - 3};
        where.len = str_find(where, ")");
        frame->where = where;
        frame->given_line = true;
    }
}

/* Parses the text after the address of a numbered frame. s begins there. */
static void numbered_classify_tail(report_frame *frame, machsym_str s)
{
    uint64_t number;
    size_t at = 0;
    if (scan_address(s, &at, &number)) {
        size_t plus = scan_plus(s, at);
        machsym_str rest = str_trim(str_make(s.ptr + plus, s.len - plus));
        if (plus == at || (rest.len > 0 && rest.ptr[0] != '('))
            return;
        if (rest.len > 2) {
            frame->form = FORM_SIDE;
            frame->symbol_at += plus;
            numbered_classify_side(frame, rest);
        }
        return;
    }
    if (s.len > 0)
        scan_set_given(frame, s);
}

/* ---- Frames ---- */

/* Whether the frame before has this address, too. An inlined call has the number of its function, or in
 * Apple's text one of its own. */
static bool numbered_is_same_frame(const text_parser *p, uint64_t addr)
{
    const report_frame *before = &p->r->frames[p->r->frame_count - 1];
    return before->given_inline && before->addr == addr;
}

/* "12  Image name  0xADDR ...", or "12 0xADDR". */
bool text_parse_numbered(text_parser *p, text_line line)
{
    machsym_str s = scan_view(p, line.at, line.end);
    size_t at = scan_blanks(p, line.at, line.end) - line.at;
    uint64_t index;
    uint64_t addr = 0;
    if (!scan_decimal(s, &at, &index) || index > 1000000)
        return false;
    at += at < s.len && (s.ptr[at] == ':' || s.ptr[at] == '.');
    bool is_joined =
        index >= 1000 && at < s.len && scan_is_letter(s.ptr[at]); /* the column of numbers is 4 wide */
    if (at >= s.len || (!scan_is_blank(s.ptr[at]) && !is_joined))
        return false;
    size_t name_at = scan_blanks(p, line.at + at, line.end) - line.at;
    size_t addr_at = name_at;
    size_t tail = name_at;
    while (addr_at < s.len && !(s.ptr[addr_at] == '0' && scan_address(s, &tail, &addr) &&
                                (tail == s.len || scan_is_blank(s.ptr[tail]))))
        tail = addr_at = scan_blanks(p, scan_word(p, line.at + addr_at, line.end), line.end) - line.at;
    if (addr_at >= s.len)
        return false;
    report_thread *thread = scan_thread_at_hand(p);
    bool is_same = thread->count > 0 && numbered_is_same_frame(p, addr);
    if (index == 0 && thread->count > 0 && !thread->callers_first && !is_same)
        thread = scan_open_thread(p);
    report_frame *frame = scan_add_frame(p, line,
                                         addr_at == name_at ? FORM_LIST
                                         : p->leaks         ? FORM_LEAKS
                                                            : FORM_CLASSIC);
    frame->addr = addr;
    frame->index = (uint32_t)index;
    frame->exact = addr_at != name_at && (index == 0 || (is_same && frame[-1].exact));
    frame->image_name = str_trim(scan_view(p, line.at + name_at, line.at + addr_at));
    frame->symbol_at = scan_blanks(p, line.at + tail, line.end);
    frame->symbol_end = frame->end;
    if (frame->symbol_at == line.end)
        frame->symbol_at = frame->symbol_end = line.at + tail;
    if (frame->form == FORM_LIST && frame->symbol_end - frame->symbol_at > 2 &&
        memcmp(p->r->shadow + frame->symbol_at, "- ", 2) == 0) { /* of a Rust panic */
        frame->symbol_at += 2;
        frame->form = FORM_CLASSIC;
    }
    machsym_str rest = scan_view(p, frame->symbol_at, frame->symbol_end);
    if (!FAMILY_HAS_SERVICES || !text_parse_missing(p, frame, rest))
        numbered_classify_tail(frame, rest);
    return true;
}
