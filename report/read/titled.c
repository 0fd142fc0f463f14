/* ==== >> read/titled ====
 * Job: stacks under special titles: backtrace loggers, text stackshots, Umeng, Kotlin and Unreal.
 * Offers: its reader, for read/lines.h.
 * Never: reads such a line without its title. */
#include "../base/digits.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <string.h>

/* ---- Frames ---- */

/* Adds the next frame of the current thread. s[tail] of the line is the text after the address. */
static report_frame *titled_add_frame(text_parser *p, text_line line, uint64_t addr, machsym_str image,
                                      size_t tail)
{
    report_thread *thread = scan_thread_at_hand(p);
    report_frame *frame = scan_add_frame(p, line, FORM_CLASSIC);
    frame->addr = addr;
    frame->index = thread->count - 1;
    frame->exact = frame->index == 0;
    frame->image_name = image;
    frame->symbol_at = scan_blanks(p, line.at + tail, frame->end);
    frame->symbol_end = frame->end;
    if (frame->symbol_at >= frame->end)
        frame->symbol_at = frame->symbol_end = line.at + tail;
    machsym_str symbol = scan_view(p, frame->symbol_at, frame->symbol_end);
    if (symbol.len > 0)
        scan_set_given(frame, symbol);
    return frame;
}

/* Returns where the first address in s is: digits after 0x, followed by a blank or the end; s.len if there is
 * no address. */
static size_t titled_find_address(machsym_str s, uint64_t *addr, size_t *tail)
{
    for (size_t at = str_find(s, "0x"); at < s.len; at += 2 + str_find(str_from(s, at + 2), "0x")) {
        *tail = at;
        if (scan_address(s, tail, addr))
            return at;
    }
    return s.len;
}

/* ---- Loggers ---- */

/* "demo                           0x102a30a7c main + 100" of BSBacktraceLogger and similar loggers. The image
 * column has 31 characters; a longer name touches the address. */
static bool titled_parse_logged(text_parser *p, text_line line)
{
    uint64_t addr;
    size_t tail;
    size_t at = titled_find_address(scan_view(p, line.at, line.end), &addr, &tail);
    machsym_str image = str_trim(scan_view(p, line.at, line.at + at));
    if (at >= line.end - line.at || image.len == 0) {
        p->title.kind = TITLED_NONE;
        return false;
    }
    titled_add_frame(p, line, addr, image, tail);
    return true;
}

static bool titled_begin_logged(text_parser *p, machsym_str s)
{
    uint64_t number = 0;
    if (str_starts(s, "Call Backtrace of ") || str_starts(s, "Backtrace of : "))
        return true;
    if (!str_starts(s, "Backtrace of Thread ") || !str_number_after(s, "Thread ", &number))
        return false;
    scan_open_thread(p)->number = number;
    p->title.kind = TITLED_LOGGED;
    return true;
}

/* ---- Text stackshots ---- */

/* "Process 412 binary images:", "Process 412 demo threads:" */
static bool titled_begin_process(text_parser *p, machsym_str s)
{
    static const char images[] = " binary images:";
    static const char threads[] = " threads:";
    uint64_t pid;
    size_t at = sizeof "Process " - 1;
    if (!str_starts(s, "Process ") || !scan_decimal(s, &at, &pid))
        return false;
    if (str_is(str_from(s, at), images)) {
        text_parse_next_process(p);
        p->title.kind = TITLED_IMAGES;
        return true;
    }
    if (s.len < at + sizeof threads || !str_is(str_from(s, s.len - (sizeof threads - 1)), threads))
        return false;
    p->process = str_trim(str_make(s.ptr + at, s.len - at - (sizeof threads - 1)));
    p->title.kind = TITLED_PROCESS;
    p->r->kind = p->r->kind == REPORT_UNKNOWN ? REPORT_STACKSHOT : p->r->kind;
    return true;
}

/* " 0x16000 <1a6c526c3cca3e32b3c0f448b1d16c89>" */
static bool titled_parse_shot_image(text_parser *p, machsym_str s)
{
    size_t at = 0;
    uint64_t base;
    machsym_uuid uuid;
    if (!scan_address(s, &at, &base) || s.len - at < 4 || s.ptr[at + 1] != '<' || s.ptr[s.len - 1] != '>' ||
        !parse_uuid_str(str_make(s.ptr + at + 2, s.len - at - 3), &uuid))
        return false;
    report_image *image = report_add_image(p->r);
    image->base = base;
    image->uuid = uuid;
    image->has_uuid = true;
    return true;
}

/* "thread 0x14b TH_WAIT 0", and below it "user: 0x3964aa58 0x3964a859". */
static bool titled_parse_shot_thread(text_parser *p, text_line line, machsym_str s)
{
    static const char *const stacks[] = {"user:", "kernel:"};
    size_t at = sizeof "thread " - 1;
    uint64_t number;
    if (str_starts(s, "thread 0x") && scan_address(s, &at, &number)) {
        report_thread *thread = scan_open_thread(p);
        thread->number = number;
        thread->process = p->process;
        return true;
    }
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        if (!str_starts(s, stacks[i]))
            continue;
        uint32_t first = p->r->frame_count;
        size_t from = (size_t)(s.ptr - p->r->shadow) + strlen(stacks[i]);
        if (text_parse_row(p, scan_blanks(p, from, line.end), line.end) == 0 || p->r->frame_count == first)
            return false;
        p->r->frames[first].exact = true;
        p->r->threads[p->r->frames[first].thread].process = p->process;
        return true;
    }
    return false;
}

/* ---- Umeng ---- */

/* Frames name their image. The list has only this one, without its end, so addresses do not decide. */
static void titled_place_in_last(text_parser *p)
{
    report *r = p->r;
    for (uint32_t i = p->process_frame; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        if (frame->is_placed)
            continue;
        frame->is_placed = true;
        frame->image = str_equal(frame->image_name, p->title.image) ? r->image_count - 1 : REPORT_NONE;
    }
    p->process_frame = r->frame_count;
}

/* The lines below a stack: "dSYM UUID: ...", "CPU Type: arm64", "Binary Image: demo", "Base Address:
 * 0x...". */
static bool titled_parse_umeng(text_parser *p, machsym_str s)
{
    size_t colon = str_find(s, ": ");
    machsym_str key = str_make(s.ptr, colon);
    machsym_str value = str_trim(str_from(s, colon + 2));
    titled *t = &p->title;
    uint64_t base;
    size_t at = 0;
    if (str_is(key, "dSYM UUID")) {
        t->kind = TITLED_UMENG;
        t->has_uuid = parse_uuid_str(value, &t->uuid);
        return t->has_uuid;
    }
    if (t->kind != TITLED_UMENG)
        return false;
    if (str_is(key, "CPU Type"))
        t->arch = value;
    else if (str_is(key, "Binary Image"))
        t->image = value;
    else if (!str_is(key, "Base Address") || !scan_address(value, &at, &base))
        return str_is(key, "Slide Address");
    else {
        report_image *image = report_add_image(p->r);
        image->base = base;
        image->uuid = t->uuid;
        image->has_uuid = t->has_uuid;
        image->arch = t->arch;
        image->name = t->image;
        titled_place_in_last(p);
    }
    return true;
}

/* ---- Runtimes ---- */

/* "    at 3   shared   0x1072dafe3   kfun:demo#play(){} + 95 (/src/Player.kt:12:3)" below "Uncaught Kotlin
 * exception: ". All addresses are return addresses, also the first. */
static bool titled_parse_kotlin(text_parser *p, text_line line, machsym_str s)
{
    static const char title[] = "Uncaught Kotlin exception: ";
    if (str_starts(s, title)) {
        machsym_str said = str_from(s, sizeof title - 1);
        size_t colon = str_find(said, ": ");
        report_set_thrown(p->r, str_make(said.ptr, colon), str_from(said, colon + 2));
        scan_open_thread(p)->crashed = true;
        p->title.kind = TITLED_KOTLIN;
        return true;
    }
    if (p->title.kind != TITLED_KOTLIN)
        return false;
    if (str_starts(s, "Caused by: ")) {
        scan_open_thread(p);
        return true;
    }
    if (!str_starts(s, "at "))
        return false;
    size_t whole = line.at;
    line.at = (size_t)(s.ptr - p->r->shadow) + sizeof "at " - 1;
    uint32_t first = p->r->frame_count;
    if (!text_parse_numbered(p, line))
        return false;
    p->r->frames[first].exact = false;
    p->r->frames[first].at = whole; /* lines of inlined calls begin in the same way */
    return true;
}

/* "[Callstack] 0x0000000102a30a7c demo!FPlayer::Play(int) [/src/Player.cpp:12]", possibly after the name of a
 * log. */
static bool titled_parse_unreal(text_parser *p, text_line line)
{
    static const char mark[] = "[Callstack] ";
    machsym_str s = scan_view(p, line.at, line.end);
    size_t at = str_find(s, mark) + sizeof mark - 1;
    uint64_t addr;
    if (at >= s.len || !scan_address(s, &at, &addr))
        return false;
    at = scan_blanks(p, line.at + at, line.end) - line.at;
    size_t bang = at + str_find(str_from(s, at), "!");
    size_t place = bang + str_find(str_from(s, bang), " [");
    if (bang >= s.len)
        return false;
    report_frame *frame = titled_add_frame(p, line, addr, str_make(s.ptr + at, bang - at), bang + 1);
    machsym_str where = str_from(s, place + 2);
    where.len = str_find(where, "]");
    bool has_line = str_find(where, ":") < where.len;
    if (!has_line && !str_is(where, "UnknownFile"))
        return true; /* names were put in */
    machsym_str name = str_trim(str_make(s.ptr + bang + 1, place - bang - 1));
    bool is_named = name.len > 0 && !str_starts(name, "Unknown");
    frame->named = is_named ? NAME_GIVEN : NAME_NONE;
    frame->name = is_named ? name : str_make(NULL, 0);
    frame->given_line = is_named && has_line;
    frame->where = frame->given_line ? str_base_name(where) : str_make(NULL, 0);
    return true;
}

bool text_parse_titled(text_parser *p, text_line line, machsym_str s)
{
    static const char letters[] = "BCPUdL["; /* first letters of the titles; Unreal's lines begin with [ */
    titled_kind kind = p->title.kind;
    if (kind == TITLED_NONE && memchr(letters, s.ptr[0], sizeof letters - 1) == NULL)
        return false;
    if (titled_begin_logged(p, s) || titled_begin_process(p, s) || titled_parse_kotlin(p, line, s) ||
        titled_parse_umeng(p, s) || titled_parse_unreal(p, line))
        return true;
    if (kind == TITLED_LOGGED)
        return titled_parse_logged(p, line);
    if (kind == TITLED_IMAGES)
        return titled_parse_shot_image(p, s);
    return kind == TITLED_PROCESS && titled_parse_shot_thread(p, line, s);
}
