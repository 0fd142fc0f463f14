/* ==== >> read/places ====
 * Job: frames that give their place in a form of their own: Mono's, Go's, offsets from a UUID.
 * Offers: its reader, for read/lines.h.
 * Never: reads their headers.
 *
 * These are Mono's native stacks, Go's goroutines, and offsets from a UUID. */
#include "../base/digits.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <string.h>

enum { UUID_TEXT = 36 };

/* Returns the length of "<4C4C44B5-5555-3144-A1BA-79CA685DEC58> + 2796"; 0 for other text. */
static size_t places_scan_uuid_offset(machsym_str s, machsym_uuid *uuid, uint64_t *offset)
{
    enum { FIRST_DASH = 8 };
    bool open = s.len > 0 && s.ptr[0] == '<';
    size_t at = open;
    if (s.len < open + (size_t)UUID_TEXT || s.ptr[open + FIRST_DASH] != '-')
        return 0;
    while (at < s.len && (scan_is_digit(s.ptr[at]) || scan_is_letter(s.ptr[at]) || s.ptr[at] == '-') &&
           at < open + (size_t)UUID_TEXT)
        at++;
    if (at - open != UUID_TEXT || !parse_uuid_str(str_make(s.ptr + open, UUID_TEXT), uuid))
        return 0;
    at += open && at < s.len && s.ptr[at] == '>';
    if (s.len - at < 4 || memcmp(s.ptr + at, " + ", 3) != 0)
        return 0;
    at += 3;
    return scan_address(s, &at, offset) || scan_decimal(s, &at, offset) ? at : 0;
}

/* Reads the text after a frame's place, up to the end of its line. */
static void places_set_symbol(text_parser *p, report_frame *frame, size_t at)
{
    frame->symbol_at = scan_blanks(p, at, frame->end);
    frame->symbol_end = frame->end;
    if (frame->symbol_at == frame->end)
        frame->symbol_at = at;
    machsym_str symbol = str_trim(scan_view(p, frame->symbol_at, frame->symbol_end));
    if (symbol.len > 0)
        scan_set_given(frame, symbol);
}

static bool places_parse_uuid_frame(text_parser *p, text_line line, size_t at)
{
    machsym_uuid uuid;
    uint64_t offset;
    size_t len = places_scan_uuid_offset(scan_view(p, at, line.end), &uuid, &offset);
    if (len == 0)
        return false;
    scan_thread_at_hand(p);
    bool open = p->r->shadow[at] == '<';
    uint32_t image =
        report_image_at(p->r, p->process_image, 0, scan_view(p, at + open, at + open + UUID_TEXT), &uuid);
    report_frame *frame = scan_add_frame(p, line, FORM_CLASSIC);
    frame->addr = offset;
    frame->image = image;
    frame->index = p->r->threads[frame->thread].count - 1;
    places_set_symbol(p, frame, at + len);
    return true;
}

/* "0x1054df0c2 - /path/libmonosgen-2.0.dylib : mono_get_hazardous_pointer", "0x1 - Unknown". */
static bool places_parse_mono(text_parser *p, text_line line, size_t at)
{
    machsym_str s = scan_view(p, line.at, line.end);
    uint64_t addr;
    at -= line.at;
    if (!scan_address(s, &at, &addr) || s.len - at < 4 || memcmp(s.ptr + at, " - ", 3) != 0)
        return false;
    machsym_str rest = str_trim(str_make(s.ptr + at + 3, s.len - at - 3));
    size_t colon = str_find(rest, " : ");
    if (rest.len == 0 || (rest.ptr[0] != '/' && !str_starts(rest, "Unknown")))
        return false;
    scan_thread_at_hand(p);
    report_frame *frame = scan_add_frame(p, line, FORM_CLASSIC);
    frame->addr = addr;
    frame->index = p->r->threads[frame->thread].count - 1;
    bool is_known = rest.ptr[0] == '/';
    if (is_known)
        frame->image_name = str_base_name(str_make(rest.ptr, colon));
    size_t symbol = (size_t)(rest.ptr - p->r->shadow) + (is_known ? colon : 0);
    places_set_symbol(p, frame, symbol + (is_known && colon < rest.len ? 3 : 0));
    return true;
}

/* "       /Users/a/main.go:12 +0x1d fp=0xc0000a2f78 sp=0xc0000a2f60 pc=0x102a30a7c" after a line with the
 * function, as Go prints with GOTRACEBACK=system. Go programs keep their names, so these frames are only
 * counted. */
static bool places_parse_go(text_parser *p, text_line line, size_t at)
{
    static const char pc[] = " pc=0x";
    machsym_str s = scan_view(p, at, line.end);
    size_t found = s.ptr[0] == '/' ? str_find(s, pc) : s.len;
    size_t addr_at = found + sizeof pc - 3;
    uint64_t addr;
    if (found == s.len || !scan_address(s, &addr_at, &addr))
        return false;
    machsym_str name = scan_line_before(p, line.at);
    size_t arguments = name.len;
    while (arguments > 0 && name.ptr[arguments - 1] != '(')
        arguments--;
    scan_thread_at_hand(p);
    report_frame *frame = scan_add_frame(p, line, FORM_BARE);
    frame->addr = addr;
    frame->index = p->r->threads[frame->thread].count - 1;
    frame->exact = frame->index == 0;
    frame->symbol_at = frame->symbol_end = frame->end;
    frame->name = str_make(name.ptr, arguments > 1 ? arguments - 1 : name.len);
    frame->named = NAME_GIVEN;
    frame->where = str_base_name(str_make(s.ptr, str_find(s, " ")));
    frame->given_line = true;
    return true;
}

bool text_parse_place(text_parser *p, text_line line)
{
    size_t at = scan_blanks(p, line.at, line.end);
    size_t numbered = at;
    uint64_t index;
    machsym_str s = scan_view(p, 0, line.end);
    if (at >= line.end)
        return false;
    if (places_parse_mono(p, line, at) || places_parse_go(p, line, at) ||
        places_parse_uuid_frame(p, line, at))
        return true;
    return scan_decimal(s, &numbered, &index) && numbered < line.end && scan_is_blank(s.ptr[numbered]) &&
           places_parse_uuid_frame(p, line, scan_blanks(p, numbered, line.end));
}
