/* ==== >> read/swift_trace ====
 * Job: backtraces that Swift's runtime prints when a program crashes.
 * Offers: its reader, for read/lines.h.
 * Never: reads them as JSON.
 *
 * Since Swift 5.9: docs/Backtracing.rst in Swift's source. */
#include "../base/digits.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <string.h>

/* Marks before the address: "[ra]", "[async]", "[inlined]", "[system]", "[thunk]". */
typedef struct swift_marks {
    bool is_return; /* a return address; where a task resumes, the address is exact */
    bool is_inlined;
} swift_marks;

/* Returns the index after the marks at s[at] and the blanks between them. */
static size_t swift_take_marks(machsym_str s, size_t at, swift_marks *marks)
{
    while (at < s.len && (scan_is_blank(s.ptr[at]) || s.ptr[at] == '[')) {
        size_t close = at + 1;
        while (s.ptr[at] == '[' && close < s.len && scan_is_letter(s.ptr[close]))
            close++;
        machsym_str mark = {s.ptr + at, close - at};
        if (s.ptr[at] == '[' && (close >= s.len || s.ptr[close] != ']'))
            return at;
        marks->is_return |= str_is(mark, "[ra");
        marks->is_inlined |= str_is(mark, "[inlined");
        at = s.ptr[at] == '[' ? close + 1 : at + 1;
    }
    return at;
}

/* Parses "NAME + 12 in Image at /File.swift:1:2", "<unknown> in Image", "in Image". Returns false for other
 * text. */
static bool swift_set_symbol(report_frame *frame, machsym_str s)
{
    size_t in = str_starts(s, "in ") ? 0 : str_find(s, " in ") + 1;
    for (size_t next = in; next < s.len;) { /* a name may contain it: "closure #1 in f" */
        next += 1 + str_find(str_make(s.ptr + next, s.len - next), " in ");
        in = next < s.len ? next : in;
    }
    if (in >= s.len)
        return false;
    machsym_str image = {s.ptr + in + 3, s.len - in - 3};
    size_t at = str_find(image, " at ");
    if (at < image.len) {
        frame->where = str_make(image.ptr + at + 4, image.len - at - 4);
        frame->given_line = true;
    }
    frame->image_name = str_trim(str_make(image.ptr, at));
    s = str_trim(str_make(s.ptr, in));
    size_t plus = s.len;
    while (plus > 0 && scan_is_digit(s.ptr[plus - 1]))
        plus--;
    if (plus >= 3 && plus < s.len && memcmp(s.ptr + plus - 3, " + ", 3) == 0)
        s.len = plus - 3;
    bool is_named = !report_is_no_name(s, frame->image_name);
    frame->name = str_make(s.ptr, is_named ? s.len : 0);
    frame->named = is_named ? NAME_GIVEN : NAME_NONE;
    return true;
}

/* "12 [ra] [system] 0xADDR NAME + 4 in Image". */
static bool swift_parse_frame(text_parser *p, text_line line)
{
    machsym_str s = scan_view(p, line.at, line.end);
    size_t at = scan_blanks(p, line.at, line.end) - line.at;
    swift_marks marks = {false, false};
    report_frame read;
    uint64_t index;
    uint64_t addr;
    memset(&read, 0, sizeof read);
    if (!scan_decimal(s, &at, &index) || at >= s.len || !scan_is_blank(s.ptr[at]))
        return false;
    at = swift_take_marks(s, at, &marks);
    if (!scan_address(s, &at, &addr) || at >= s.len || !scan_is_blank(s.ptr[at]))
        return false;
    at = scan_blanks(p, line.at + at, line.end);
    if (!swift_set_symbol(&read, str_trim(scan_view(p, at, line.end))))
        return false;
    report_thread *thread = scan_thread_at_hand(p);
    if (index == 0 && thread->count > 0 && !p->r->frames[p->r->frame_count - 1].given_inline)
        scan_open_thread(p);
    if (p->r->kind == REPORT_UNKNOWN)
        p->r->kind = REPORT_SWIFT;
    report_frame *frame = scan_add_frame(p, line, FORM_SWIFT);
    frame->addr = addr;
    frame->index = (uint32_t)index;
    frame->exact = !marks.is_return;
    frame->given_inline = marks.is_inlined;
    frame->symbol_at = at;
    frame->symbol_end = frame->end;
    frame->name = read.name;
    frame->named = read.named;
    frame->where = read.where;
    frame->given_line = read.given_line;
    frame->image_name = read.image_name;
    return true;
}

/* "0x102a30000-0x102a34000 4c4c44b555553144a1ba79ca685dec58 demo /path/demo", with a long dash. The end is
 * exclusive. */
static bool swift_parse_image(text_parser *p, machsym_str s)
{
    static const char dash[] = "\xe2\x80\x93";
    uint64_t base;
    uint64_t end;
    size_t at = 0;
    machsym_uuid uuid;
    if (!scan_address(s, &at, &base) || s.len - at < 3 || memcmp(s.ptr + at, dash, 3) != 0)
        return false;
    at += 3;
    if (!scan_address(s, &at, &end))
        return false;
    machsym_str rest = str_trim(str_make(s.ptr + at, s.len - at));
    size_t word = str_starts(rest, "<no build ID>") ? 13 : str_find(rest, " ");
    bool has_uuid = parse_uuid_str(str_make(rest.ptr, word), &uuid);
    rest = str_trim(str_make(rest.ptr + word, rest.len - word));
    size_t path = str_find(rest, " /");
    report_image *image = report_add_image(p->r);
    image->base = base;
    image->end = end > base ? end : 0;
    image->has_uuid = has_uuid;
    if (has_uuid)
        image->uuid = uuid;
    image->path = str_trim(str_make(rest.ptr + path, rest.len - path));
    image->name = str_trim(str_make(rest.ptr, path));
    p->open = false;
    return true;
}

bool text_parse_swift(text_parser *p, text_line line)
{
    size_t at = scan_blanks(p, line.at, line.end);
    if (at < line.end && p->r->shadow[at] == '0' &&
        swift_parse_image(p, str_trim(scan_view(p, at, line.end))))
        return true;
    return at < line.end && scan_is_digit(p->r->shadow[at]) && swift_parse_frame(p, line);
}
