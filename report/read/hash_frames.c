/* ==== >> read/hash_frames ====
 * Job: stacks whose frames begin with #: sanitizers' and Dart's.
 * Offers: its reader, for read/lines.h.
 * Never: reads gdb. */
#include "../base/digits.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <string.h>

/* ---- Sanitizers ---- */

/* Takes "(...)" off the end of s. */
static bool hash_take_group(machsym_str *s, machsym_str *inside)
{
    size_t at = s->len;
    if (at == 0 || s->ptr[at - 1] != ')')
        return false;
    while (at > 0 && s->ptr[at - 1] != '(')
        at--;
    if (at == 0)
        return false;
    *inside = str_make(s->ptr + at, s->len - at - 1);
    *s = str_trim(str_make(s->ptr, at - 1));
    return true;
}

/* Where the frame's code lies. */
typedef struct module {
    machsym_str path; /* empty: unknown */
    machsym_str arch;
    uint64_t offset; /* from the beginning of the file's addresses */
    machsym_uuid uuid;
    bool has_uuid;
} module;

/* "/path/demo:arm64+0x100000838". */
static bool hash_parse_module(machsym_str s, module *m)
{
    size_t plus = s.len;
    while (plus > 0 && s.ptr[plus - 1] != '+')
        plus--;
    size_t at = plus;
    if (plus == 0 || !scan_address(s, &at, &m->offset) || at != s.len)
        return false;
    m->path = str_make(s.ptr, plus - 1);
    size_t colon = m->path.len;
    while (colon > 0 && m->path.ptr[colon - 1] != ':' && m->path.ptr[colon - 1] != '/')
        colon--;
    if (colon > 0 && m->path.ptr[colon - 1] == ':') {
        m->arch = str_make(m->path.ptr + colon, m->path.len - colon);
        m->path.len = colon - 1;
    }
    return m->path.len > 0;
}

/* Takes the module and the build id off the end. On Apple platforms, compilers also write the load command
 * after the UUID into the build id. */
static machsym_str hash_take_module(machsym_str s, module *m)
{
    machsym_str rest = s;
    machsym_str group;
    if (!hash_take_group(&rest, &group))
        return s;
    if (str_starts(group, "BuildId: ")) {
        machsym_str id = {group.ptr + 9, group.len - 9};
        id.len = id.len > 32 ? 32 : id.len;
        m->has_uuid = parse_uuid_str(id, &m->uuid);
        if (!hash_take_group(&rest, &group))
            return s;
    }
    return hash_parse_module(group, m) ? rest : s;
}

/* Whether a word ends in ":12" or ":12:5". */
static bool hash_is_place(machsym_str s)
{
    size_t at = s.len;
    while (at > 0 && (scan_is_digit(s.ptr[at - 1]) || (s.ptr[at - 1] == ':' && at < s.len)))
        at--;
    return at > 0 && at < s.len && s.ptr[at] == ':';
}

/* "in NAME File.c:12:5", "in NAME+0x58", "NAME File.c:12", "<null> <null>". */
static void hash_set_symbol(report_frame *frame, machsym_str s)
{
    static const char mark[] = " [inlined]";
    size_t plus;
    frame->given_inline =
        s.len > sizeof mark && memcmp(s.ptr + s.len - sizeof mark + 1, mark, sizeof mark - 1) == 0;
    s.len -= frame->given_inline ? sizeof mark - 1 : 0;
    size_t word = s.len;
    while (word > 0 && !scan_is_blank(s.ptr[word - 1]))
        word--;
    machsym_str last = {s.ptr + word, s.len - word};
    if (word > 0 && hash_is_place(last)) {
        frame->where = last;
        frame->given_line = true;
    }
    if (word > 0 && (frame->given_line || str_is(last, "<null>")))
        s = str_trim(str_make(s.ptr, word));
    for (plus = s.len; plus > 0 && s.ptr[plus - 1] != '+';)
        plus--;
    uint64_t offset;
    size_t at = plus;
    if (plus > 1 && scan_address(s, &at, &offset) && at == s.len)
        s.len = plus - 1;
    bool is_named = !report_is_no_name(s, frame->image_name) && !str_starts(s, "<unknown module>");
    frame->name = str_make(s.ptr, is_named ? s.len : 0);
    frame->named = is_named ? NAME_GIVEN : NAME_NONE;
}

/* Programs begin at 4 GB, libraries at 0. A frame without an address gets its offset in the file. */
static void hash_place(text_parser *p, report_frame *frame, const module *m, bool has_addr)
{
    uint64_t begin = m->offset >> 32 != 0 ? (uint64_t)1 << 32 : 0;
    if (!has_addr)
        frame->addr = m->offset;
    if (m->path.len == 0 || m->offset - begin > frame->addr)
        return;
    uint64_t base = frame->addr - (m->offset - begin);
    frame->image = report_image_at(p->r, p->process_image, base, m->path, m->has_uuid ? &m->uuid : NULL);
    p->r->images[frame->image].arch = m->arch;
}

static bool hash_parse_sanitizer(text_parser *p, text_line line, size_t at, uint64_t index)
{
    machsym_str s = scan_view(p, line.at, line.end);
    module m;
    uint64_t addr = 0;
    memset(&m, 0, sizeof m);
    bool has_addr = scan_address(s, &at, &addr);
    if (has_addr && (at >= s.len || !scan_is_blank(s.ptr[at])))
        return false;
    size_t addr_end = line.at + at;
    at = scan_blanks(p, addr_end, line.end);
    at = str_starts(scan_view(p, at, line.end), "in ") ? scan_blanks(p, at + 3, line.end) : at;
    machsym_str symbol = hash_take_module(str_trim(scan_view(p, at, line.end)), &m);
    if (!has_addr && m.path.len == 0)
        return false;
    if (symbol.len == 0 && has_addr && addr_end < line.end)
        at = addr_end + 1; /* the blank after it belongs to the module */
    report_thread *thread = scan_thread_at_hand(p);
    const report_frame *before = thread->count > 0 ? &p->r->frames[p->r->frame_count - 1] : NULL;
    if (index == 0 && before != NULL && !(before->given_inline && (before->addr == addr || !has_addr)))
        thread = scan_open_thread(p);
    if (thread->count == 0 && thread->name.len == 0)
        thread->name = scan_line_before(p, line.at); /* "freed by thread T0 here:" */
    thread->crashed |= p->error.len > 0 && p->r->kind != REPORT_SANITIZER;
    p->r->kind = p->r->kind == REPORT_UNKNOWN ? REPORT_SANITIZER : p->r->kind;
    report_frame *frame = scan_add_frame(p, line, FORM_SANITIZER);
    frame->addr = addr;
    frame->index = (uint32_t)index;
    frame->exact = true; /* sanitizers print the address of the call, not the return address */
    frame->image_name = str_base_name(m.path);
    frame->symbol_at = at;
    frame->symbol_end = at + symbol.len;
    hash_place(p, frame, &m, has_addr);
    hash_set_symbol(frame, symbol);
    return true;
}

/* ---- Dart ---- */

/* Hexadecimal digits without 0x. */
static bool hash_scan_hex_word(machsym_str s, size_t *at, uint64_t *out)
{
    size_t end = *at;
    while (end < s.len && !scan_is_blank(s.ptr[end]) && s.ptr[end] != ',')
        end++;
    if (!parse_hex(s.ptr + *at, end - *at, out))
        return false;
    *at = end;
    return true;
}

/* "abs 000000010c207b77 virt 0000000000272034 _kDartIsolateSnapshotInstructions+0x240337". Dart has already
 * subtracted one from its return addresses. */
static bool hash_parse_dart(text_parser *p, text_line line, size_t at, uint64_t index)
{
    machsym_str s = scan_view(p, line.at, line.end);
    uint64_t addr;
    uint64_t in_file;
    at += sizeof "abs " - 1;
    if (!hash_scan_hex_word(s, &at, &addr))
        return false;
    report_thread *thread = scan_thread_at_hand(p);
    const report_frame *before = thread->count > 0 ? &p->r->frames[p->r->frame_count - 1] : NULL;
    if (index == 0 && before != NULL && !(before->given_inline && before->addr == addr))
        scan_open_thread(p);
    p->r->kind = p->r->kind == REPORT_UNKNOWN ? REPORT_DART : p->r->kind;
    at = scan_blanks(p, line.at + at, line.end) - line.at;
    if (str_starts(str_make(s.ptr + at, s.len - at), "virt ")) {
        at += 5;
        hash_scan_hex_word(s, &at, &in_file);
    }
    report_frame *frame = scan_add_frame(p, line, FORM_CLASSIC);
    frame->addr = addr;
    frame->index = (uint32_t)index;
    frame->exact = true;
    frame->symbol_at = scan_blanks(p, line.at + at, line.end);
    frame->symbol_end = frame->end > frame->symbol_at ? frame->end : frame->symbol_at;
    machsym_str symbol = scan_view(p, frame->symbol_at, frame->symbol_end);
    if (symbol.len > 0 && !str_starts(symbol, "_kDart"))
        scan_set_given(frame, symbol);
    return true;
}

/* The lines before Dart's frames: "build_id: '...'", "isolate_dso_base: 10bfbc000, vm_dso_base: ...". */
static bool hash_parse_dart_header(text_parser *p, machsym_str s)
{
    static const char id[] = "build_id: '";
    static const char base[] = "isolate_dso_base: ";
    uint64_t addr;
    size_t at = sizeof base - 1;
    if (str_starts(s, id)) {
        machsym_str uuid = {s.ptr + sizeof id - 1, s.len - sizeof id + 1};
        uuid.len = str_find(uuid, "'");
        p->has_build_id = parse_uuid_str(uuid, &p->build_id);
        return true;
    }
    if (!str_starts(s, base) || !hash_scan_hex_word(s, &at, &addr))
        return false;
    report_image_at(p->r, p->process_image, addr, str_c("App"), p->has_build_id ? &p->build_id : NULL);
    p->has_build_id = false;
    p->open = false;
    return true;
}

bool text_parse_hash(text_parser *p, text_line line)
{
    size_t at = scan_blanks(p, line.at, line.end) - line.at;
    machsym_str s = scan_view(p, line.at, line.end);
    uint64_t index;
    if (at < s.len && (s.ptr[at] == 'b' || s.ptr[at] == 'i'))
        return hash_parse_dart_header(p, str_make(s.ptr + at, s.len - at));
    if (at >= s.len || s.ptr[at] != '#')
        return false;
    at++;
    if (!scan_decimal(s, &at, &index) || index > 1000000 || at >= s.len || !scan_is_blank(s.ptr[at]))
        return false;
    at = scan_blanks(p, line.at + at, line.end) - line.at;
    if (str_starts(str_make(s.ptr + at, s.len - at), "abs "))
        return hash_parse_dart(p, line, at, index);
    return hash_parse_sanitizer(p, line, at, index);
}

/* ---- What happened ---- */

/* The first one is kept. */
static void hash_take_error(text_parser *p, machsym_str what)
{
    if (p->error.len == 0)
        p->error = what;
}

/* "==12==ERROR: AddressSanitizer: heap-use-after-free on address ...", "WARNING: ThreadSanitizer: data
 * race (pid=1)", "file.c:3:5: runtime error: signed integer overflow: ...", "*** Program crashed: Bad
 * pointer dereference at 0x4 ***". */
bool text_parse_error(text_parser *p, machsym_str s)
{
    static const char swift[] = "Program crashed: ";
    enum { MARK = 8 }; /* length of the longest mark before it: "*** " */
    size_t len = s.len < MARK + sizeof swift ? s.len : MARK + sizeof swift;
    size_t at = str_find(str_make(s.ptr, len), swift);
    if (at < MARK && at < len) {
        machsym_str what = {s.ptr + at + sizeof swift - 1, s.len - at - sizeof swift + 1};
        what.len = str_find(what, " ***");
        size_t place = str_find(what, " at 0x"); /* the address differs between equal crashes */
        if (place < what.len)
            p->error_place = str_make(what.ptr + place, what.len - place);
        hash_take_error(p, str_make(what.ptr, place));
        return true;
    }
    if ((str_starts(s, "==") || str_starts(s, "WARNING: ")) && str_find(s, "Sanitizer: ") < s.len) {
        size_t from = str_starts(s, "==") ? str_find(s, ": ") + 2 : sizeof "WARNING: " - 1;
        machsym_str what = {s.ptr + from, s.len > from ? s.len - from : 0};
        at = str_find(what, " on ");
        what.len = at < what.len ? at : str_find(what, " (");
        hash_take_error(p, what);
        return true;
    }
    if (str_starts(s, "[signal ")) { /* of Go */
        machsym_str what = {s.ptr + 8, s.len - 8};
        what.len = str_find(what, ":");
        hash_take_error(p, what);
        return true;
    }
    at = str_find(s, ": runtime error: ");
    if (at >= s.len)
        return false;
    hash_take_error(p, str_make(s.ptr + at + 2, s.len - at - 2));
    return true;
}
