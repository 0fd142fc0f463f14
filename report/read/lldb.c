/* ==== >> read/lldb ====
 * Job: what lldb prints for `bt`, `bt all` and `thread backtrace`.
 * Offers: its reader, for read/lines.h.
 * Never: takes images of another program. */
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "formats.h"
#include "lines.h"

#include <stdlib.h>
#include <string.h>

/* Returns the text between a word and the closing quote: "name = 'x'"; empty if the word is absent. */
static machsym_str lldb_quoted_after(machsym_str s, const char *word)
{
    size_t at = str_find(s, word) + strlen(word);
    if (at >= s.len)
        return str_make(NULL, 0);
    machsym_str value = {s.ptr + at, s.len - at};
    value.len = str_find(value, "'");
    return value;
}

/* "EXC_BAD_ACCESS (code=1, address=0x10)", "signal SIGABRT", "breakpoint 1.1". */
static void lldb_set_stop_reason(report *r, machsym_str reason)
{
    if (str_starts(reason, "signal "))
        reason = str_make(reason.ptr + 7, reason.len - 7);
    else if (!str_starts(reason, "EXC_"))
        return;
    size_t open = str_find(reason, " (");
    report_set_fact(r, FACT_EXCEPTION, str_make(reason.ptr, open < reason.len ? open : reason.len));
    if (open + 2 < reason.len && reason.ptr[reason.len - 1] == ')')
        report_set_fact(r, FACT_CODES, str_make(reason.ptr + open + 2, reason.len - open - 3));
}

/* "thread #1, name = 'n', queue = 'com.apple.main-thread', stop reason = EXC_BREAKPOINT (code=1)". */
static bool lldb_parse_thread(text_parser *p, machsym_str s, bool is_selected)
{
    static const char reason[] = "stop reason = ";
    uint64_t number;
    size_t at = sizeof "thread #" - 1;
    if (!scan_decimal(s, &at, &number))
        return false;
    report_thread *thread = scan_open_thread(p);
    thread->number = number;
    thread->name = lldb_quoted_after(s, "name = '");
    thread->queue = lldb_quoted_after(s, "queue = '");
    size_t stop = str_find(s, reason) + sizeof reason - 1, end = str_find(s, "</"); /* of a web page */
    if (stop < end && is_selected) {
        thread->crashed = true;
        lldb_set_stop_reason(p->r, str_make(s.ptr + stop, end - stop));
    }
    return true;
}

/* Removes marks from the end: "[opt]", "[artificial]", "[inlined]". */
static machsym_str lldb_without_marks(machsym_str s, bool *is_inlined)
{
    static const char *const marks[] = {" [opt]", " [artificial]", " [inlined]"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks;) {
        size_t len = strlen(marks[i]);
        bool has = s.len > len && memcmp(s.ptr + s.len - len, marks[i], len) == 0;
        *is_inlined |= has && i == 2;
        s.len -= has ? len : 0;
        i = has ? 0 : i + 1;
    }
    return s;
}

/* Whether " at " is followed by a place, "File.m:12" or "File.m:12:5": a name may contain the word. */
static bool lldb_is_place(machsym_str where)
{
    size_t digits = where.len;
    while (digits > 0 && scan_is_digit(where.ptr[digits - 1]))
        digits--;
    return digits > 4 && digits < where.len && where.ptr[digits - 1] == ':';
}

/* "NAME + 12", "NAME at File.m:12:5", "OUTER [inlined] NAME at File.m:12". */
static void lldb_set_symbol(report_frame *frame, machsym_str s)
{
    s = lldb_without_marks(s, &frame->given_inline);
    size_t at = str_find(s, " at ");
    for (size_t next = at; next < s.len;) { /* a name may contain it */
        at = next;
        next += 1 + str_find(str_make(s.ptr + next + 1, s.len - next - 1), " at ");
    }
    machsym_str where = {s.ptr + at, s.len - at};
    if (lldb_is_place(where)) {
        frame->where = str_make(where.ptr + 4, where.len - 4);
        frame->given_line = true;
        s.len = at;
    }
    size_t inner = str_find(s, " [inlined] ");
    if (inner < s.len) {
        frame->given_inline = true;
        s = str_make(s.ptr + inner + 11, s.len - inner - 11);
    }
    size_t plus = s.len;
    while (plus > 0 && scan_is_digit(s.ptr[plus - 1]))
        plus--;
    if (plus >= 3 && plus < s.len && memcmp(s.ptr + plus - 3, " + ", 3) == 0)
        s.len = plus - 3;
    frame->name = s;
    if (report_is_no_name(s, frame->image_name))
        frame->name.len = 0;
    else
        frame->named = NAME_GIVEN;
}

/* "frame #0: 0x0000000102a30aec demo`NAME + 88"; at: place of the index. */
static bool lldb_parse_frame(text_parser *p, text_line line, size_t at)
{
    machsym_str s = scan_view(p, line.at, line.end);
    uint64_t index;
    uint64_t addr;
    if (!scan_decimal(s, &at, &index) || at >= s.len || s.ptr[at] != ':')
        return false;
    at = scan_blanks(p, line.at + at + 1, line.end) - line.at;
    if (!scan_address(s, &at, &addr))
        return false;
    report_thread *thread = scan_thread_at_hand(p);
    const report_frame *before = thread->count > 0 ? &p->r->frames[p->r->frame_count - 1] : NULL;
    bool is_same = before != NULL && before->given_inline && before->addr == addr;
    if (index == 0 && before != NULL && !is_same)
        scan_open_thread(p);
    if (p->r->kind == REPORT_UNKNOWN)
        p->r->kind = REPORT_LLDB;
    report_frame *frame = scan_add_frame(p, line, FORM_LLDB);
    frame->addr = addr;
    frame->index = (uint32_t)index;
    frame->exact = index == 0 || (is_same && frame[-1].exact);
    size_t image = scan_blanks(p, line.at + at, frame->end);
    machsym_str rest = scan_view(p, image, frame->end);
    size_t tick = str_find(rest, "`");
    frame->image_name = str_make(rest.ptr, tick);
    frame->symbol_at = image + tick + (tick < rest.len);
    frame->symbol_end = frame->end;
    if (tick < rest.len)
        lldb_set_symbol(frame, scan_view(p, frame->symbol_at, frame->symbol_end));
    return true;
}

bool text_parse_lldb(text_parser *p, text_line line)
{
    size_t at = scan_blanks(p, line.at, line.end);
    bool is_selected = at < line.end && p->r->shadow[at] == '*';
    at = is_selected ? scan_blanks(p, at + 1, line.end) : at;
    machsym_str s = scan_view(p, at, line.end);
    if (str_starts(s, "thread #"))
        return lldb_parse_thread(p, s, is_selected);
    return str_starts(s, "frame #") && lldb_parse_frame(p, line, at + 7 - line.at);
}

/* ---- Images of the report before ---- */

/* lldb names an image by the last part of its path. */
static machsym_str lldb_module_of(const report_image *image)
{
    return image->path.len > 0 ? str_base_name(image->path) : image->name;
}

static int lldb_name_order(machsym_str a, machsym_str b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    MACHSYM_COUNT_WORK(1);
    return order != 0 ? order : a.len < b.len ? -1 : a.len > b.len;
}

static int lldb_by_name(const void *a, const void *b)
{
    return lldb_name_order(*(const machsym_str *)a, *(const machsym_str *)b);
}

static bool lldb_is_before_name(const void *element, const void *key)
{
    return lldb_name_order(*(const machsym_str *)element, *(const machsym_str *)key) < 0;
}

/* Whether an lldb frame and the images agree: it names the image that it lies in; or it lies in no image and
 * names an unlisted one. */
static bool lldb_is_agreed(const report *r, const report_frame *frame, const machsym_str *names, size_t count)
{
    if (frame->image != REPORT_NONE) {
        const report_image *image = &r->images[frame->image];
        return image->is_named || str_equal(lldb_module_of(image), frame->image_name);
    }
    if (frame->image_name.len == 0)
        return true;
    size_t at = mem_lower_bound(names, count, sizeof *names, &frame->image_name, lldb_is_before_name);
    return at == count || !str_equal(names[at], frame->image_name);
}

static bool lldb_all_agree(const report *r)
{
    machsym_str *names = (machsym_str *)mem_take(r->memory, r->image_count * sizeof *names);
    size_t count = 0;
    bool agree = true;
    for (uint32_t i = 0; i < r->image_count; i++) {
        machsym_str name = lldb_module_of(&r->images[i]);
        if (name.len > 0 && !r->images[i].is_named)
            names[count++] = name;
    }
    if (count > 0)
        qsort(names, count, sizeof *names, lldb_by_name);
    for (uint32_t i = 0; i < r->frame_count && agree; i++)
        agree = r->frames[i].form != FORM_LLDB || lldb_is_agreed(r, &r->frames[i], names, count);
    mem_give(r->memory, names);
    return agree;
}

void report_settle_lldb(report *r)
{
    bool has_lldb = false;
    bool has_other = false;
    for (uint32_t i = 0; i < r->frame_count; i++) {
        has_lldb |= r->frames[i].form == FORM_LLDB && r->frames[i].image != REPORT_NONE;
        has_other |= r->frames[i].form != FORM_LLDB;
    }
    if (!has_lldb || !has_other)
        return;
    report_borrowed borrowed = lldb_all_agree(r) ? BORROWED_USED : BORROWED_REFUSED;
    for (uint32_t i = 0; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        if (frame->form != FORM_LLDB || frame->image == REPORT_NONE || r->images[frame->image].is_named)
            continue;
        r->threads[frame->thread].borrowed = borrowed;
        frame->image = borrowed == BORROWED_USED ? frame->image : REPORT_NONE;
    }
}
