/* ==== >> read/panic ====
 * Job: panics of the kernel, as text and as a string in panic-full reports.
 * Offers: its reader, for read/formats.h.
 * Never: reads registers, cores and zones.
 *
 * Only the backtraces of the text are stacks. Its registers, cores and zones are not. */
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "formats.h"
#include "lines.h"
#include "stackshot.h"

#include <string.h>

bool text_begins_panic(machsym_str s)
{
    return str_starts(s, "panic(cpu ") || str_starts(s, "*** Panic Report ***") ||
           str_starts(s, "Debugger message: ");
}

/* ---- Frames ---- */

static report_frame *panic_add_frame(text_parser *p, text_line line, uint64_t addr, size_t symbol_at)
{
    scan_thread_at_hand(p);
    report_frame *frame = scan_add_frame(p, line, FORM_CLASSIC);
    frame->addr = addr;
    frame->index = p->r->threads[frame->thread].count - 1;
    frame->symbol_at = scan_blanks(p, symbol_at, frame->end);
    frame->symbol_end = frame->end;
    if (frame->symbol_at == frame->end)
        frame->symbol_at = symbol_at < frame->end ? symbol_at : frame->end;
    return frame;
}

/* "lr: 0xfffffe0011d54ae0  fp: 0xfffffe647feeb750". */
static bool panic_parse_arm_frame(text_parser *p, text_line line, machsym_str s, size_t from)
{
    uint64_t addr;
    uint64_t fp;
    size_t at = sizeof "lr: " - 1;
    if (!str_starts(s, "lr: ") || !scan_address(s, &at, &addr))
        return false;
    size_t next = at + str_find(str_make(s.ptr + at, s.len - at), "fp: ") + 4;
    if (next >= s.len || !scan_address(s, &next, &fp))
        return false;
    report_frame *frame = panic_add_frame(p, line, addr, from + next);
    scan_set_given(frame, str_trim(scan_view(p, frame->symbol_at, frame->symbol_end)));
    return true;
}

/* "0xffffff80727fba80 : 0xffffff7f983a8e5a com.apple.iokit.IOUSBFamily : __ZN3Foo3barEv + 0x190": frame
 * pointer, return address, and a name if the kernel kept its symbols. */
static bool panic_parse_intel_frame(text_parser *p, text_line line, machsym_str s, size_t from)
{
    uint64_t fp;
    uint64_t addr;
    size_t at = 0;
    if (!scan_address(s, &at, &fp) || s.len - at < 4 || memcmp(s.ptr + at, " : ", 3) != 0)
        return false;
    at += 3;
    if (!scan_address(s, &at, &addr))
        return false;
    size_t colon = at + str_find(str_make(s.ptr + at, s.len - at), " : ");
    bool has_name = colon < s.len;
    report_frame *frame = panic_add_frame(p, line, addr, from + (has_name ? colon + 3 : at));
    machsym_str name = str_trim(scan_view(p, frame->symbol_at, frame->symbol_end));
    if (has_name) {
        size_t plus = str_find(name, " + 0x");
        frame->image_name = str_trim(str_make(s.ptr + at, colon - at));
        scan_set_given(frame, str_make(name.ptr, plus < name.len ? plus : name.len));
    } else {
        scan_set_given(frame, name);
    }
    return true;
}

/* ---- Images ---- */

/* The report gives the kernel's address as the start of __TEXT, on arm64 that of __TEXT_EXEC, where its code
 * is. */
static void panic_set_kernel(text_parser *p, machsym_str value, bool is_text_exec)
{
    uint64_t base;
    size_t at = 0;
    if (!scan_address(value, &at, &base))
        return;
    if (p->kernel == REPORT_NONE) {
        p->kernel = p->r->image_count;
        report_image *image = report_add_image(p->r);
        image->name = str_c("kernel");
        image->has_uuid = p->has_build_id;
        image->uuid = p->build_id;
    }
    p->r->images[p->kernel].base = base;
    p->r->images[p->kernel].is_text_exec = is_text_exec;
}

/* "com.apple.iokit.IOPCIFamily(2.9)[7E6672DD-F880-3B24-A0F9-C39A7F79FA46]@0xfffffe0014677640->0x..8763". */
static bool panic_parse_kext(text_parser *p, machsym_str s)
{
    machsym_uuid uuid;
    uint64_t base;
    uint64_t last;
    s = str_starts(s, "dependency: ") ? str_make(s.ptr + 12, s.len - 12) : s;
    size_t open = str_find(s, ")[");
    size_t version = str_find(s, "(");
    size_t at = open + 2 + 36 + 2;
    if (open == s.len || version > open || at >= s.len || s.ptr[at - 2] != ']' || s.ptr[at - 1] != '@' ||
        !parse_uuid_str(str_make(s.ptr + open + 2, 36), &uuid) || !scan_address(s, &at, &base))
        return false;
    uint32_t index = report_image_at(p->r, p->process_image, base, str_make(s.ptr, version), &uuid);
    report_image *image = &p->r->images[index];
    image->bundle = image->name;
    image->version = str_make(s.ptr + version + 1, open - version - 1);
    image->is_text_exec = p->kernel != REPORT_NONE && p->r->images[p->kernel].is_text_exec;
    if (s.len - at > 2 && memcmp(s.ptr + at, "->", 2) == 0) {
        at += 2;
        image->end = scan_address(s, &at, &last) && last > base && last < UINT64_MAX ? last + 1 : 0;
    }
    return true;
}

/* ---- What happened ---- */

/* "Panicked thread: 0xf4fffe186a31e560, backtrace: 0xfffffebfcc0076d0, tid: 562", "Backtrace (CPU 0),
 * panicked thread: 0xffffff86cf3e5aa0, Frame : Return Address". */
static bool panic_parse_title(text_parser *p, machsym_str s)
{
    static const char id[] = "tid: ";
    bool is_panicked = str_starts(s, "Panicked thread: ");
    if (!is_panicked && !str_starts(s, "Backtrace"))
        return false;
    report_thread *thread = scan_open_thread(p);
    size_t at = str_find(s, id) + sizeof id - 1;
    thread->crashed = is_panicked || str_starts(s, "Backtrace (CPU ");
    if (at < s.len)
        scan_decimal(s, &at, &thread->number);
    return true;
}

/* "Panicked task 0xf4fffe2402035c88: 0 pages, 623 threads: pid 0: kernel_task": "kernel_task [0]". */
static void panic_set_task(text_parser *p, machsym_str s)
{
    static const char pid[] = ": pid ";
    text t = text_in(p->r->memory);
    size_t at = str_find(s, pid) + sizeof pid - 1;
    size_t end = at;
    while (end < s.len && scan_is_digit(s.ptr[end]))
        end++;
    if (end == at || s.len - end < 3)
        return;
    text_str(&t, str_trim(str_make(s.ptr + end + 1, s.len - end - 1)));
    text_c(&t, " [");
    text_add(&t, s.ptr + at, end - at);
    text_char(&t, ']');
    report_set_fact(p->r, FACT_PROCESS, pool_copy(&p->r->strings, t.v, t.len));
    text_free(&t);
}

/* Returns what follows the caller in "panic(cpu 2 caller 0xfffffe0057271718): what @file.c:12". */
static void panic_set_reason(report *r, machsym_str s)
{
    size_t at = str_starts(s, "panic(cpu ") ? str_find(s, "): ") + 3 : 0;
    if (at < s.len)
        report_set_fact(r, FACT_EVENT, str_make(s.ptr + at, s.len - at));
}

/* "Key: value". */
static void panic_parse_fact(text_parser *p, machsym_str s)
{
    size_t colon = str_find(str_make(s.ptr, s.len < 64 ? s.len : 64), ": ");
    if (colon + 2 >= s.len)
        return;
    machsym_str key = {s.ptr, colon};
    machsym_str value = str_trim(str_make(s.ptr + colon + 2, s.len - colon - 2));
    if (str_is(key, "Kernel UUID"))
        p->has_build_id = parse_uuid_str(value, &p->build_id);
    else if (str_is(key, "Kernel text base"))
        panic_set_kernel(p, value, false);
    else if (str_is(key, "Kernel text exec base"))
        panic_set_kernel(p, value, true);
    else if (str_is(key, "OS version"))
        report_set_fact(p->r, FACT_OS, value);
    else if (str_starts(key, "Panicked task "))
        panic_set_task(p, s);
    else if (str_starts(key, "Process name corresponding to current thread") ||
             str_is(key, "BSD process name corresponding to current thread"))
        report_set_fact(p->r, FACT_PROCESS, value);
    else if (str_is(key, "System model name"))
        report_set_fact(p->r, FACT_HARDWARE, value);
}

void text_parse_panic(text_parser *p, text_line line)
{
    size_t from = scan_blanks(p, line.at, line.end);
    machsym_str s = str_trim(scan_view(p, from, line.end));
    if (!p->is_panic) {
        p->is_panic = true;
        p->open = false;
        p->r->kind = p->r->kind == REPORT_UNKNOWN ? REPORT_PANIC : p->r->kind;
    }
    if (s.len == 0 || str_starts(s, "*** Panic Report ***"))
        return;
    if (str_starts(s, "panic(cpu "))
        panic_set_reason(p->r, s);
    if (panic_parse_arm_frame(p, line, s, from) || panic_parse_intel_frame(p, line, s, from) ||
        panic_parse_title(p, s) || panic_parse_kext(p, s))
        return;
    panic_parse_fact(p, s);
}

/* ---- panic-full reports ---- */

static const struct {
    const char *key;
    report_fact fact;
} document_facts[] = {
    {"build", FACT_OS},          {"product", FACT_HARDWARE},          {"date", FACT_DATE},
    {"incident", FACT_INCIDENT}, {"crashReporterKey", FACT_REPORTER},
};

/* A Mac with a T2 writes macOS's panic beside the coprocessor's. */
static const char *const panic_strings[] = {"macOSPanicString", "panicString"};

bool report_tell_panic(const json *doc, uint32_t object)
{
    for (size_t i = 0; i < sizeof panic_strings / sizeof *panic_strings; i++) {
        if (json_is(doc, json_get(doc, object, panic_strings[i]), JSON_STRING))
            return true;
    }
    return false;
}

/* Most panics contain a stackshot of all processes. */
bool report_parse_panic(report *r, uint32_t doc_index)
{
    uint32_t first_frame = r->frame_count;
    uint32_t first_image = r->image_count;
    if (!report_tell_panic(&r->docs[doc_index], 0))
        return false;
    for (size_t i = 0; i < sizeof panic_strings / sizeof *panic_strings; i++) {
        uint32_t token = json_get(&r->docs[doc_index], 0, panic_strings[i]);
        if (!json_is(&r->docs[doc_index], token, JSON_STRING))
            continue;
        if (r->kind == REPORT_UNKNOWN)
            r->kind = REPORT_PANIC;
        if (json_equals(&r->docs[doc_index], token, "not yet set"))
            continue; /* only the coprocessor panicked */
        machsym_str what = report_json_str(r, &r->docs[doc_index], token);
        what.len = str_find(what, "\n");
        if (str_starts(what, "panic(cpu ")) /* here its quotes are without the blanks that the parser sees */
            panic_set_reason(r, what);
        report_parse_string(r, doc_index, token);
        report_set_fact(r, FACT_EVENT, what);
    }
    for (size_t i = 0; i < sizeof document_facts / sizeof *document_facts; i++)
        report_set_fact(
            r, document_facts[i].fact,
            report_json_str(r, &r->docs[doc_index], json_get(&r->docs[doc_index], 0, document_facts[i].key)));
    report_place_frames(r, first_frame, first_image); /* the stackshot has its own images */
    stackshot_parse(r, doc_index, 0);
    return true;
}
