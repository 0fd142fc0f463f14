/* ==== >> read/tree ====
 * Job: call trees: sample, spindump, hang, cpu and disk reports.
 * Offers: its reader, for read/lines.h.
 * Never: adds samples up. */
#include "../base/digits.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <string.h>

/* A deeper line is called by the line before, whose address is then a return address. */
static void tree_note(text_parser *p, const report_thread *thread, size_t column)
{
    uint32_t frame = p->r->frame_count - 1;
    if (p->r->frames[frame].given_inline)
        return; /* it has the depth of its function, which is what calls the next line */
    bool flat = str_starts(thread->name, "Heaviest stack"); /* one call on each line, without indentation */
    if (p->tree_frame != REPORT_NONE && p->tree_frame >= thread->first && (flat || column > p->tree_column))
        p->r->frames[p->tree_frame].exact = false;
    p->r->frames[frame].exact = true;
    p->tree_frame = frame;
    p->tree_column = column;
}

/* "NAME  (in Image) + 247" or "???  (in Image)  load address 0x1 + 0x3". */
static void tree_set_sample_name(report_frame *frame, machsym_str s, size_t in)
{
    size_t open = in + sizeof "(in " - 1;
    size_t close = open;
    while (close < s.len && s.ptr[close] != ')')
        close++;
    frame->image_name = str_make(s.ptr + open, close - open);
    frame->name = str_trim(str_make(s.ptr, in));
    if (report_is_no_name(frame->name, frame->image_name))
        frame->name.len = 0;
    else
        frame->named = NAME_GIVEN;
}

/* "NAME + 12 (Image + 34)", "NAME + 12 (File.m:5 in Image + 34)", "??? (Image + 34)". */
static void tree_set_spin_name(report_frame *frame, machsym_str s)
{
    size_t open = s.len;
    while (open > 0 && s.ptr[open - 1] != '(')
        open--;
    machsym_str inside = {s.ptr + open, s.len > open ? s.len - open - 1 : 0};
    frame->name = open > 0 ? str_trim(str_make(s.ptr, open - 1)) : s;
    size_t in = str_find(inside, " in ");
    if (in < inside.len) {
        frame->where = str_make(inside.ptr, in);
        frame->given_line = true;
        inside = str_make(inside.ptr + in + 4, inside.len - in - 4);
    }
    size_t plus_at = str_find(inside, " + ");
    if (open > 0 && plus_at < inside.len) {
        frame->image_name = str_make(inside.ptr, plus_at);
    } else if (in >= inside.len && memchr(inside.ptr, ':', inside.len) != NULL) {
        frame->where = inside;
        frame->given_line = true;
    }
    size_t plus = str_find(frame->name, " + ");
    while (plus < frame->name.len && scan_plus(frame->name, plus) != frame->name.len)
        plus += 1 + str_find(str_make(frame->name.ptr + plus + 1, frame->name.len - plus - 1), " + ");
    frame->name.len = plus < frame->name.len ? plus : frame->name.len;
    if (report_is_no_name(frame->name, frame->image_name))
        frame->name.len = 0;
    else
        frame->named = NAME_GIVEN;
}

/* "??? (<4C4C44B5-5555-3144-A1BA-79CA685DEC58> + 2684)": only the UUID of the image is known. */
static void tree_place_by_uuid(text_parser *p, report_frame *frame)
{
    machsym_uuid uuid;
    uint64_t offset;
    machsym_str name = frame->image_name;
    if (name.len != 38 || name.ptr[0] != '<' || !parse_uuid_str(str_make(name.ptr + 1, 36), &uuid))
        return;
    machsym_str rest = scan_view(p, (size_t)(name.ptr - p->r->shadow) + name.len + 3, frame->end);
    size_t at = 0;
    if (!scan_decimal(rest, &at, &offset) || offset > frame->addr)
        return;
    frame->image =
        report_image_at(p->r, p->process_image, frame->addr - offset, str_make(name.ptr + 1, 36), &uuid);
}

/* sample's "    2426 Thread_1234   DispatchQueue_1: com.apple.main-thread  (serial)". */
static bool tree_parse_thread(text_parser *p, machsym_str s)
{
    uint64_t count;
    size_t at = 0;
    while (at < s.len && memchr(" \t+!:|*", s.ptr[at], 7) != NULL)
        at++;
    if (!scan_decimal(s, &at, &count) || !str_starts(str_make(s.ptr + at, s.len - at), " Thread_"))
        return false;
    report_thread *thread = scan_open_thread(p);
    thread->callers_first = true;
    thread->name = str_trim(str_make(s.ptr + at, s.len - at));
    return true;
}

/* A line of a call tree: drawing, a count, a name, "[0xADDR]". */
bool text_parse_tree(text_parser *p, text_line line)
{
    machsym_str s = scan_view(p, line.at, line.end);
    size_t bracket = str_find(s, "[0x");
    size_t at = bracket + 1;
    size_t column = 0;
    uint64_t addr;
    uint64_t count;
    if (bracket == s.len || !scan_address(s, &at, &addr))
        return tree_parse_thread(p, s);
    while (column < bracket && memchr(" \t+!:|*", s.ptr[column], 7) != NULL)
        column++;
    size_t name_at = column;
    if (!scan_decimal(s, &name_at, &count) || name_at >= bracket || !scan_is_blank(s.ptr[name_at]))
        return false;
    name_at = scan_blanks(p, line.at + name_at, line.end) - line.at;
    machsym_str name = str_trim(str_make(s.ptr + name_at, bracket - name_at));
    size_t in = str_find(name, "(in ");
    report_thread *thread = scan_thread_at_hand(p);
    thread->callers_first = true;
    report_frame *frame = scan_add_frame(p, line, in < name.len ? FORM_SAMPLE : FORM_SPIN);
    frame->addr = addr;
    frame->index = thread->count - 1;
    frame->given_inline =
        frame->end - line.at > 9 && memcmp(p->r->shadow + frame->end - 9, "[inlined]", 9) == 0;
    frame->symbol_at = line.at + name_at;
    frame->symbol_end = frame->symbol_at + name.len;
    size_t close = at + str_find(str_make(s.ptr + at, s.len - at), "]") + 1; /* "[0x1,0x2,...]" */
    if (in < name.len)
        tree_set_sample_name(frame, name, in);
    if (in < name.len && close < s.len) {
        frame->where = str_trim(str_make(s.ptr + close, s.len - close));
        frame->given_line = frame->where.len > 0;
    }
    if (in == name.len) {
        tree_set_spin_name(frame, name);
        tree_place_by_uuid(p, frame);
    }
    if (p->r->kind == REPORT_UNKNOWN)
        p->r->kind = in < name.len ? REPORT_SAMPLE : REPORT_SPIN;
    tree_note(p, thread, column);
    return true;
}
