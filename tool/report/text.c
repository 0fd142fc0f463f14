/* Text reports: crash, leaks, sample, spindump and its kin, pasted stacks. Each line is looked at once. */
#include "report.h"

#include <string.h>

/* A line of the shadow. */
typedef struct text_line {
    size_t at;
    size_t end;  /* of its text */
    size_t next; /* of the next line */
} text_line;

/* Which part of a report the lines are in. */
typedef enum text_section {
    SECTION_HEADER = 0,
    SECTION_STACK,
    SECTION_IMAGES,
    SECTION_STATE,
    SECTION_INFO
} text_section;

/* The state of one pass over text. */
typedef struct text_parser {
    report *r;
    size_t hi;
    frame_escape escape;
    text_section section;
    bool open;             /* the last thread of the report takes frames */
    bool leaks;            /* stacks are outermost first */
    uint64_t named_number; /* of "Thread N name:", for the thread that follows */
    machsym_str named;
    size_t info_at;      /* where Application Specific Information begins */
    uint32_t tree_frame; /* the tree frame before, and the column of its count */
    size_t tree_column;
    uint32_t process_frame; /* the first frame and image of the process at hand: spindump holds many */
    uint32_t process_image;
} text_parser;

static machsym_str view(const text_parser *p, size_t lo, size_t hi)
{
    return (machsym_str){p->r->shadow + lo, hi > lo ? hi - lo : 0};
}

static text_line line_at(const text_parser *p, size_t at)
{
    text_line line = {at, at, at};
    const char *s = p->r->shadow;
    while (line.end < p->hi && s[line.end] != '\n' && s[line.end] != '\r')
        line.end++;
    MACHSYM_COUNT_WORK(1 + (line.end - at) / 64);
    line.next = line.end;
    if (line.next < p->hi)
        line.next += s[line.next] == '\r' && line.next + 1 < p->hi && s[line.next + 1] == '\n' ? 2 : 1;
    return line;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static size_t skip_blanks(const text_parser *p, size_t at, size_t end)
{
    size_t to = at;
    while (to < end && is_blank(p->r->shadow[to]))
        to++;
    MACHSYM_COUNT_WORK((to - at) / 64);
    return to;
}

static size_t skip_word(const text_parser *p, size_t at, size_t end)
{
    size_t to = at;
    while (to < end && !is_blank(p->r->shadow[to]))
        to++;
    MACHSYM_COUNT_WORK(1 + (to - at) / 64);
    return to;
}

/* Decimal digits at s[*at]; moves past them. */
static bool take_decimal(machsym_str s, size_t *at, uint64_t *out)
{
    size_t i = *at;
    uint64_t number = 0;
    while (i < s.len && is_digit(s.ptr[i]) && number < UINT64_MAX / 16)
        number = number * 10 + (uint64_t)(s.ptr[i++] - '0');
    if (i == *at)
        return false;
    *at = i;
    *out = number;
    return true;
}

/* "0x" and hexadecimal digits at s[*at], ended by a byte that is none; moves past them. */
static bool take_address(machsym_str s, size_t *at, uint64_t *out)
{
    size_t i = *at + 2;
    if (s.len < i + 1 || s.ptr[*at] != '0' || (s.ptr[*at + 1] != 'x' && s.ptr[*at + 1] != 'X'))
        return false;
    while (i < s.len && (is_digit(s.ptr[i]) || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f') ||
                         (s.ptr[i] >= 'A' && s.ptr[i] <= 'F')))
        i++;
    MACHSYM_COUNT_WORK(1 + (i - *at) / 64);
    if (!parse_hex(s.ptr + *at, i - *at, out))
        return false;
    *at = i;
    return true;
}

/* " + N" at s[at]; returns the place behind, or at. */
static size_t skip_plus(machsym_str s, size_t at, uint64_t *number)
{
    size_t i = at + 3;
    if (s.len < i || memcmp(s.ptr + at, " + ", 3) != 0 || !take_decimal(s, &i, number))
        return at;
    return i;
}

/* ---- Threads ---- */

static report_thread *open_thread(text_parser *p)
{
    report_thread *thread = report_add_thread(p->r);
    p->open = true;
    p->section = SECTION_STACK;
    p->tree_frame = REPORT_NONE;
    return thread;
}

static report_thread *thread_at_hand(text_parser *p)
{
    if (!p->open)
        return open_thread(p);
    return &p->r->threads[p->r->thread_count - 1];
}

static void set_thread_name(report_thread *thread, machsym_str name)
{
    static const char queue[] = "Dispatch queue:";
    size_t at = str_find(name, queue);
    if (at < name.len)
        thread->queue =
            str_trim((machsym_str){name.ptr + at + sizeof queue - 1, name.len - at - (sizeof queue - 1)});
    name = str_trim((machsym_str){name.ptr, at});
    if (name.len > 0)
        thread->name = name;
}

/* "Thread 5 Crashed:: name  Dispatch queue: q", "Thread 5 name:  n", "Thread 5 crashed with ARM Thread
 * State". */
static bool parse_thread_header(text_parser *p, machsym_str s)
{
    uint64_t number;
    size_t at = sizeof "Thread " - 1;
    if (!str_starts(s, "Thread ") || !take_decimal(s, &at, &number))
        return false;
    machsym_str rest = {s.ptr + at, s.len - at};
    if (str_starts(rest, " name:")) {
        p->named_number = number;
        p->named = str_trim((machsym_str){rest.ptr + 6, rest.len - 6});
        p->open = false;
        return true;
    }
    bool crashed =
        str_starts(rest, " Crashed") || str_starts(rest, " Highlighted") || str_starts(rest, " Attributed");
    size_t colon = str_find(rest, ":");
    if (colon == rest.len || (!crashed && colon != 0)) {
        p->open = false;
        p->section = SECTION_STATE;
        return str_starts(rest, " crashed with") || str_starts(rest, " instruction stream");
    }
    report_thread *thread = open_thread(p);
    thread->number = number;
    thread->crashed = crashed;
    if (p->named.len > 0 && p->named_number == number)
        set_thread_name(thread, p->named);
    while (colon < rest.len && rest.ptr[colon] == ':')
        colon++;
    set_thread_name(thread, (machsym_str){rest.ptr + colon, rest.len - colon});
    p->named.len = 0;
    return true;
}

/* Lines that open a stack but have no number. */
static bool parse_stack_title(text_parser *p, machsym_str s)
{
    report_thread *thread;
    if (str_starts(s, "Last Exception Backtrace:")) {
        thread = open_thread(p);
        thread->kind = THREAD_EXCEPTION;
        return s.ptr[s.len - 1] == ':'; /* else the addresses follow on the line */
    }
    if (str_starts(s, "Application Specific Backtrace")) {
        size_t at = sizeof "Application Specific Backtrace";
        thread = open_thread(p);
        thread->kind = THREAD_SPECIFIC;
        if (!take_decimal(s, &at, &thread->number))
            thread->number = 0;
        return true;
    }
    if (str_starts(s, "Thread 0x") || str_starts(s, "Heaviest stack")) {
        thread = open_thread(p);
        thread->callers_first = true;
        thread->name = s;
        return true;
    }
    if (str_starts(s, "STACK OF ") || str_starts(s, "Call stack:")) {
        p->leaks = true;
        p->r->kind = REPORT_LEAKS;
        thread = open_thread(p);
        thread->callers_first = true;
        thread->name = s;
        return true;
    }
    return false;
}

/* ---- Images ---- */

static bool is_arch(machsym_str s)
{
    static const char *const archs[] = {"arm64",  "arm64e", "arm64_32", "armv7",  "armv7s",  "armv7k",
                                        "armv7f", "armv6",  "arm",      "x86_64", "x86_64h", "i386",
                                        "ppc",    "ppc64",  "armv6m",   "armv7m"};
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        if (str_is(s, archs[i]))
            return true;
    }
    return false;
}

static bool take_uuid(machsym_str s, machsym_uuid *out)
{
    char written[48];
    s = str_trim(s);
    if (s.len < 32 || s.len >= sizeof written)
        return false;
    memcpy(written, s.ptr, s.len);
    written[s.len] = 0;
    return parse_uuid(written, out);
}

/* "+Name with spaces arm64 (1.0 - 1)": what stands between the range and the UUID. */
static void set_image_title(report_image *image, machsym_str s)
{
    s = str_trim(s);
    if (s.len > 0 && (s.ptr[0] == '+' || s.ptr[0] == '*'))
        s = str_trim((machsym_str){s.ptr + 1, s.len - 1});
    if (s.len > 0 && s.ptr[s.len - 1] == ')') {
        size_t at = s.len - 1;
        while (at > 0 && !(s.ptr[at] == '(' && is_blank(s.ptr[at - 1])))
            at--;
        if (at > 0)
            s = str_trim((machsym_str){s.ptr, at});
    }
    size_t word = s.len;
    while (word > 0 && !is_blank(s.ptr[word - 1]))
        word--;
    machsym_str last = {s.ptr + word, s.len - word};
    if (word > 0 && is_arch(last)) {
        image->arch = last;
        s = str_trim((machsym_str){s.ptr, word});
    }
    image->name = s;
}

/* The part of an image line behind the range. Outside the list of images it must hold a UUID. */
static bool parse_image_tail(text_parser *p, report_image *image, machsym_str s)
{
    for (size_t at = 0; at < s.len; at++) {
        if (s.ptr[at] != '<')
            continue;
        machsym_str inside = {s.ptr + at + 1, s.len - at - 1 < 64 ? s.len - at - 1 : 64};
        size_t close = str_find(inside, ">");
        bool closed = close < inside.len;
        inside.len = close;
        image->has_uuid = closed && take_uuid(inside, &image->uuid);
        if (image->has_uuid || (closed && str_is(str_trim(inside), "(null)"))) {
            size_t path = at + close + 2;
            set_image_title(image, (machsym_str){s.ptr, at});
            image->path = str_trim((machsym_str){s.ptr + path, s.len - path});
            return true;
        }
    }
    if (p->section != SECTION_IMAGES)
        return false;
    size_t slash = str_find(s, " /");
    set_image_title(image, (machsym_str){s.ptr, slash});
    image->path = str_trim((machsym_str){s.ptr + slash, s.len - slash});
    return image->name.len > 0;
}

/* "0x1000 - 0x1fff +Name arm64 <uuid> /path"; the end may be "???". */
static bool parse_image(text_parser *p, machsym_str s)
{
    report_image image;
    uint64_t last = 0;
    size_t at = s.len > 0 && s.ptr[0] == '*' ? 1 : 0;
    memset(&image, 0, sizeof image);
    if (!take_address(s, &at, &image.base))
        return false;
    while (at < s.len && is_blank(s.ptr[at]))
        at++;
    if (at >= s.len || s.ptr[at] != '-')
        return false;
    at++;
    while (at < s.len && is_blank(s.ptr[at]))
        at++;
    if (take_address(s, &at, &last))
        image.end = last > image.base && last < UINT64_MAX ? last + 1 : 0;
    else if (s.len - at >= 3 && memcmp(s.ptr + at, "???", 3) == 0)
        at += 3;
    else
        return false;
    if (!parse_image_tail(p, &image, (machsym_str){s.ptr + at, s.len - at}))
        return false;
    if (image.name.len == 0 || str_is(image.name, "???"))
        image.name = str_base_name(image.path);
    *report_add_image(p->r) = image;
    return true;
}

/* lldb's `image list`: "[  0] UUID 0xLOAD PATH". */
static bool parse_lldb_image(text_parser *p, machsym_str s)
{
    machsym_uuid uuid;
    uint64_t base;
    size_t at = str_find(s, "] ");
    if (s.len == 0 || s.ptr[0] != '[' || at + 2 >= s.len)
        return false;
    machsym_str rest = str_trim((machsym_str){s.ptr + at + 2, s.len - at - 2});
    at = 36;
    if (rest.len <= at || !take_uuid((machsym_str){rest.ptr, at}, &uuid))
        return false;
    while (at < rest.len && is_blank(rest.ptr[at]))
        at++;
    if (!take_address(rest, &at, &base))
        return false;
    report_image *image = report_add_image(p->r);
    image->base = base;
    image->uuid = uuid;
    image->has_uuid = true;
    image->path = str_trim((machsym_str){rest.ptr + at, rest.len - at});
    image->name = str_base_name(image->path);
    return true;
}

/* ---- What a frame's text says ---- */

/* A line as --owners makes it, without its " [OWNER]" at the end. */
static machsym_str without_owner(machsym_str s)
{
    size_t at = s.len;
    if (s.len == 0 || s.ptr[s.len - 1] != ']')
        return s;
    while (at > 0 && s.ptr[at - 1] != '[')
        at--;
    bool is_owner = at > 2 && s.ptr[at - 2] == ' ' && (s.ptr[at - 3] == ')' || is_digit(s.ptr[at - 3]));
    return is_owner ? (machsym_str){s.ptr, at - 2} : s;
}

/* Splits "NAME + 12 (File.m:34)", "NAME (File.m:34)" and "NAME + 12  File.m:34". */
static void split_given(report_frame *frame, machsym_str s)
{
    uint64_t number;
    size_t tail = s.len;
    frame->given_inline = s.len > 9 && memcmp(s.ptr + s.len - 9, "[inlined]", 9) == 0;
    if (frame->given_inline)
        tail = s.len = str_trim((machsym_str){s.ptr, s.len - 9}).len;
    tail = s.len = without_owner(s).len;
    frame->name = s;
    for (size_t i = s.len; i-- > 0;) {
        size_t end = skip_plus(s, i, &number);
        if (end != i && (end == s.len || is_blank(s.ptr[end]))) {
            frame->name.len = i;
            tail = end;
            break;
        }
    }
    machsym_str where = str_trim((machsym_str){s.ptr + tail, s.len - tail});
    if (tail == s.len && s.len > 0 && s.ptr[s.len - 1] == ')') {
        size_t open = s.len;
        while (open > 0 && s.ptr[open - 1] != '(')
            open--;
        where = (machsym_str){s.ptr + open, s.len - open - 1};
        if (open < 2 || s.ptr[open - 2] != ' ' || memchr(where.ptr, ':', where.len) == NULL)
            return;
        frame->name.len = open - 2;
    } else if (where.len > 1 && where.ptr[0] == '(') {
        where = (machsym_str){where.ptr + 1, where.len - 2};
    }
    frame->where = where;
    frame->given_line = where.len > 0 && memchr(where.ptr, ':', where.len) != NULL;
}

/* Names that stand where none is known. */
static bool is_no_name(machsym_str name, machsym_str image)
{
    return name.len == 0 || str_starts(name, "<redacted>") || str_is(name, "???") || str_equal(name, image) ||
           str_starts(name, "___lldb_unnamed_symbol") || str_is(name, "_mh_execute_header") ||
           str_is(name, "__mh_execute_header") || str_is(name, "0");
}

/* "(NAME + 12)" is what KSCrash found on the device; "(NAME + 12) (File.m:34)" is what this tool made of it. */
static void classify_side(report_frame *frame, machsym_str s)
{
    size_t close = str_find(s, ") (");
    frame->given_inline = s.len > 9 && memcmp(s.ptr + s.len - 9, "[inlined]", 9) == 0;
    frame->named = close < s.len ? NAME_GIVEN : NAME_WEAK;
    bool inlined = frame->given_inline;
    split_given(frame, (machsym_str){s.ptr + 1, close < s.len ? close - 1 : s.len - 2});
    frame->given_inline = inlined;
    if (close < s.len) {
        machsym_str where = {s.ptr + close + 3, s.len - close - 3};
        where.len = str_find(where, ")");
        frame->where = where;
        frame->given_line = true;
    }
}

/* Sorts out what stands behind the address of a numbered frame. s begins there. */
static void classify_tail(report_frame *frame, machsym_str s)
{
    uint64_t number;
    size_t at = 0;
    if (take_address(s, &at, &number)) {
        size_t plus = skip_plus(s, at, &number);
        machsym_str rest = str_trim((machsym_str){s.ptr + plus, s.len - plus});
        if (plus == at || (rest.len > 0 && rest.ptr[0] != '('))
            return;
        if (rest.len > 2) {
            frame->form = FORM_SIDE;
            frame->symbol_at += plus;
            classify_side(frame, rest);
        }
        return;
    }
    if (s.len == 0)
        return;
    split_given(frame, s);
    if (is_no_name(str_trim(frame->name), frame->image_name))
        frame->name.len = 0;
    else
        frame->named = NAME_GIVEN;
}

/* ---- Frames ---- */

static report_frame *add_text_frame(text_parser *p, text_line line, frame_form form)
{
    report_frame *frame = report_add_frame(p->r);
    p->r->has_text = true;
    frame->at = line.at;
    frame->end = line.at + str_trim(view(p, line.at, line.end)).len;
    frame->end += skip_blanks(p, line.at, line.end) - line.at;
    frame->form = (uint8_t)form;
    frame->escape = (uint8_t)(p->escape == ESCAPE_NONE && p->r->has_entities ? ESCAPE_HTML : p->escape);
    return frame;
}

/* Whether the frame before is of this address too: an inlined call has the number of the function it is in. */
static bool is_same_frame(const text_parser *p, uint64_t addr)
{
    const report_frame *before = &p->r->frames[p->r->frame_count - 1];
    return before->given_inline && before->addr == addr;
}

/* "12  Image name  0xADDR ...", or "12 0xADDR". */
static bool parse_classic(text_parser *p, text_line line)
{
    machsym_str s = view(p, line.at, line.end);
    size_t at = skip_blanks(p, line.at, line.end) - line.at;
    uint64_t index;
    uint64_t addr = 0;
    if (!take_decimal(s, &at, &index) || index > 1000000)
        return false;
    at += at < s.len && (s.ptr[at] == ':' || s.ptr[at] == '.');
    bool is_joined =
        index >= 1000 && at < s.len && is_letter(s.ptr[at]); /* the column of numbers is 4 wide */
    if (at >= s.len || (!is_blank(s.ptr[at]) && !is_joined))
        return false;
    size_t name_at = skip_blanks(p, line.at + at, line.end) - line.at;
    size_t addr_at = name_at;
    size_t tail = name_at;
    while (addr_at < s.len && !(take_address(s, &tail, &addr) && (tail == s.len || is_blank(s.ptr[tail]))))
        tail = addr_at = skip_blanks(p, skip_word(p, line.at + addr_at, line.end), line.end) - line.at;
    if (addr_at >= s.len)
        return false;
    report_thread *thread = thread_at_hand(p);
    if (index == 0 && thread->count > 0 && !thread->callers_first && !is_same_frame(p, addr))
        thread = open_thread(p);
    report_frame *frame = add_text_frame(p, line,
                                         addr_at == name_at ? FORM_LIST
                                         : p->leaks         ? FORM_LEAKS
                                                            : FORM_CLASSIC);
    frame->addr = addr;
    frame->index = (uint32_t)index;
    frame->exact = addr_at != name_at && index == 0;
    frame->image_name = str_trim(view(p, line.at + name_at, line.at + addr_at));
    frame->symbol_at = skip_blanks(p, line.at + tail, line.end);
    frame->symbol_end = frame->symbol_at + str_trim(view(p, frame->symbol_at, line.end)).len;
    if (frame->symbol_at == line.end)
        frame->symbol_at = frame->symbol_end = line.at + tail;
    classify_tail(frame, view(p, frame->symbol_at, frame->symbol_end));
    return true;
}

/* A deeper line is called by the one before: that one's address is a return address then. */
static void note_tree(text_parser *p, const report_thread *thread, size_t column)
{
    uint32_t frame = p->r->frame_count - 1;
    if (p->r->frames[frame].given_inline)
        return; /* stands at the depth of the function it is in, which is what calls the next line */
    bool flat = str_starts(thread->name, "Heaviest stack"); /* one call a line, without indent */
    if (p->tree_frame != REPORT_NONE && p->tree_frame >= thread->first && (flat || column > p->tree_column))
        p->r->frames[p->tree_frame].exact = false;
    p->r->frames[frame].exact = true;
    p->tree_frame = frame;
    p->tree_column = column;
}

/* "NAME  (in Image) + 247" or "???  (in Image)  load address 0x1 + 0x3". */
static void set_sample_name(report_frame *frame, machsym_str s, size_t in)
{
    size_t open = in + sizeof "(in " - 1;
    size_t close = open;
    while (close < s.len && s.ptr[close] != ')')
        close++;
    frame->image_name = (machsym_str){s.ptr + open, close - open};
    frame->name = str_trim((machsym_str){s.ptr, in});
    if (is_no_name(frame->name, frame->image_name))
        frame->name.len = 0;
    else
        frame->named = NAME_GIVEN;
}

/* "NAME + 12 (Image + 34)", "NAME + 12 (File.m:5 in Image + 34)", "??? (Image + 34)". */
static void set_spin_name(report_frame *frame, machsym_str s)
{
    size_t open = s.len;
    uint64_t number;
    while (open > 0 && s.ptr[open - 1] != '(')
        open--;
    machsym_str inside = {s.ptr + open, s.len > open ? s.len - open - 1 : 0};
    frame->name = open > 0 ? str_trim((machsym_str){s.ptr, open - 1}) : s;
    size_t in = str_find(inside, " in ");
    if (in < inside.len) {
        frame->where = (machsym_str){inside.ptr, in};
        frame->given_line = true;
        inside = (machsym_str){inside.ptr + in + 4, inside.len - in - 4};
    }
    size_t plus_at = str_find(inside, " + ");
    if (open > 0 && plus_at < inside.len) {
        frame->image_name = (machsym_str){inside.ptr, plus_at};
    } else if (in >= inside.len && memchr(inside.ptr, ':', inside.len) != NULL) {
        frame->where = inside;
        frame->given_line = true;
    }
    size_t plus = str_find(frame->name, " + ");
    while (plus < frame->name.len && skip_plus(frame->name, plus, &number) != frame->name.len)
        plus += 1 + str_find((machsym_str){frame->name.ptr + plus + 1, frame->name.len - plus - 1}, " + ");
    frame->name.len = plus < frame->name.len ? plus : frame->name.len;
    if (is_no_name(frame->name, frame->image_name))
        frame->name.len = 0;
    else
        frame->named = NAME_GIVEN;
}

/* sample's "    2426 Thread_1234   DispatchQueue_1: com.apple.main-thread  (serial)". */
static bool parse_tree_thread(text_parser *p, machsym_str s)
{
    uint64_t count;
    size_t at = 0;
    while (at < s.len && memchr(" \t+!:|*", s.ptr[at], 7) != NULL)
        at++;
    if (!take_decimal(s, &at, &count) || !str_starts((machsym_str){s.ptr + at, s.len - at}, " Thread_"))
        return false;
    report_thread *thread = open_thread(p);
    thread->callers_first = true;
    thread->name = str_trim((machsym_str){s.ptr + at, s.len - at});
    return true;
}

/* A line of a call tree: drawing, a count, a name, "[0xADDR]". */
static bool parse_tree(text_parser *p, text_line line)
{
    machsym_str s = view(p, line.at, line.end);
    size_t bracket = str_find(s, "[0x");
    size_t at = bracket + 1;
    size_t column = 0;
    uint64_t addr;
    uint64_t count;
    if (bracket == s.len || !take_address(s, &at, &addr))
        return parse_tree_thread(p, s);
    while (column < bracket && memchr(" \t+!:|*", s.ptr[column], 7) != NULL)
        column++;
    size_t name_at = column;
    if (!take_decimal(s, &name_at, &count) || name_at >= bracket || !is_blank(s.ptr[name_at]))
        return false;
    name_at = skip_blanks(p, line.at + name_at, line.end) - line.at;
    machsym_str name = str_trim((machsym_str){s.ptr + name_at, bracket - name_at});
    size_t in = str_find(name, "(in ");
    report_thread *thread = thread_at_hand(p);
    thread->callers_first = true;
    report_frame *frame = add_text_frame(p, line, in < name.len ? FORM_SAMPLE : FORM_SPIN);
    frame->addr = addr;
    frame->index = thread->count - 1;
    frame->given_inline =
        frame->end - line.at > 9 && memcmp(p->r->shadow + frame->end - 9, "[inlined]", 9) == 0;
    frame->symbol_at = line.at + name_at;
    frame->symbol_end = frame->symbol_at + name.len;
    size_t close = at + 1;
    if (in < name.len)
        set_sample_name(frame, name, in);
    if (in < name.len && close < s.len) {
        frame->where = str_trim((machsym_str){s.ptr + close, s.len - close});
        frame->given_line = frame->where.len > 0;
    }
    if (in == name.len)
        set_spin_name(frame, name);
    if (p->r->kind == REPORT_UNKNOWN)
        p->r->kind = in < name.len ? REPORT_SAMPLE : REPORT_SPIN;
    note_tree(p, thread, column);
    return true;
}

/* ---- Rows of bare addresses ----
 * backtrace(3) and callStackReturnAddresses make these: all are return addresses, the first too. */

static bool is_row_space(char c)
{
    return is_blank(c) || c == ',' || c == '\n' || c == '\r';
}

/* How many addresses stand from lo on, and nothing else; in parentheses over several lines too. *end is set
 * behind. */
static size_t count_row(const text_parser *p, size_t lo, size_t hi, size_t *end)
{
    machsym_str s = view(p, 0, hi);
    bool open = s.ptr[lo] == '(';
    size_t count = 0;
    size_t at = lo + open;
    uint64_t addr;
    for (;;) {
        while (at < hi && (open ? is_row_space(s.ptr[at]) : is_blank(s.ptr[at]) || s.ptr[at] == ','))
            at++;
        if (at >= hi || !take_address(s, &at, &addr))
            break;
        count++;
    }
    *end = at;
    if (!open)
        return at == hi ? count : 0;
    *end += at < hi;
    return at < hi && s.ptr[at] == ')' ? count : 0;
}

/* Takes the addresses of a row that begins at lo. Returns where the text goes on, 0 when there is no row. */
static size_t parse_row(text_parser *p, size_t lo, size_t line_end)
{
    machsym_str s = view(p, 0, p->hi);
    size_t end;
    uint64_t addr;
    if (lo >= line_end)
        return 0;
    size_t count = count_row(p, lo, s.ptr[lo] == '(' ? p->hi : line_end, &end);
    if (count == 0)
        return 0;
    bool alone = count == 1 && s.ptr[lo] != '(';
    report_thread *thread = thread_at_hand(p);
    if (!alone) {
        if (thread->count > 0)
            thread = open_thread(p);
        thread->open_at = lo;
        thread->open_end = end;
    }
    for (size_t at = lo; at < end; at++) {
        size_t token = at;
        if (!take_address(s, &at, &addr))
            continue;
        report_frame *frame = add_text_frame(p, (text_line){token, at, at}, alone ? FORM_LIST : FORM_BARE);
        frame->addr = addr;
        frame->index = thread->count - 1;
        frame->exact = thread->kind == THREAD_EXCEPTION && thread->count == 1;
        frame->symbol_at = frame->symbol_end = alone ? token + str_trim(view(p, token, line_end)).len : at;
    }
    return end;
}

/* ---- Facts ---- */

static const struct {
    const char *key;
    report_fact fact;
} fact_keys[] = {
    {"Process", FACT_PROCESS},
    {"Command", FACT_PROCESS},
    {"Path", FACT_PATH},
    {"Identifier", FACT_IDENTIFIER},
    {"Version", FACT_VERSION},
    {"Code Type", FACT_CODE_TYPE},
    {"Architecture", FACT_CODE_TYPE},
    {"Role", FACT_ROLE},
    {"Parent Process", FACT_PARENT},
    {"Parent", FACT_PARENT},
    {"Date/Time", FACT_DATE},
    {"Launch Time", FACT_LAUNCH},
    {"OS Version", FACT_OS},
    {"Hardware Model", FACT_HARDWARE},
    {"Hardware model", FACT_HARDWARE},
    {"Incident Identifier", FACT_INCIDENT},
    {"CrashReporter Key", FACT_REPORTER},
    {"Report Version", FACT_REPORT_VERSION},
    {"Exception Type", FACT_EXCEPTION},
    {"Exception Subtype", FACT_SUBTYPE},
    {"Exception Codes", FACT_CODES},
    {"Exception Note", FACT_NOTE},
    {"Exception Message", FACT_DESCRIPTION},
    {"Termination Reason", FACT_TERMINATION},
    {"Termination Description", FACT_DESCRIPTION},
    {"Termination Details", FACT_DESCRIPTION},
    {"Triggered by Thread", FACT_CRASHED_THREAD},
    {"Crashed Thread", FACT_CRASHED_THREAD},
    {"Event", FACT_EVENT},
    {"Analysis Tool", FACT_EVENT},
    {"CrashDoctor Diagnosis", FACT_DESCRIPTION},
};

/* "Key:   value" before the stacks. */
static bool parse_fact(text_parser *p, machsym_str s)
{
    size_t colon = str_find((machsym_str){s.ptr, s.len < 32 ? s.len : 32}, ":");
    if (colon >= s.len || s.ptr[colon] != ':')
        return false;
    machsym_str key = {s.ptr, colon};
    machsym_str value = str_trim((machsym_str){s.ptr + colon + 1, s.len - colon - 1});
    for (size_t i = 0; i < sizeof fact_keys / sizeof fact_keys[0]; i++) {
        if (str_is(key, fact_keys[i].key)) {
            report_set_fact(p->r, fact_keys[i].fact, value);
            return true;
        }
    }
    return false;
}

/* A spindump goes on to the next process, whose images have nothing to do with those before. */
static void begin_process(text_parser *p)
{
    if (p->r->frame_count > p->process_frame && p->r->image_count > p->process_image) {
        report_place_frames(p->r, p->process_frame, p->process_image);
        p->process_frame = p->r->frame_count;
        p->process_image = p->r->image_count;
    }
}

/* ---- Lines ---- */

static bool parse_title(text_parser *p, machsym_str s)
{
    if (str_starts(s, "Binary Images")) {
        p->section = SECTION_IMAGES;
        p->open = false;
        return true;
    }
    if (str_starts(s, "Application Specific Information:")) {
        p->section = SECTION_INFO;
        p->info_at = (size_t)(s.ptr - p->r->shadow) + sizeof "Application Specific Information:";
        return true;
    }
    if (str_starts(s, "Sort by top of stack") || str_starts(s, "Total number in stack")) {
        p->section = SECTION_STATE;
        p->open = false;
        return true;
    }
    return parse_thread_header(p, s) || parse_stack_title(p, s);
}

static void end_paragraph(text_parser *p, text_line line)
{
    if (p->section == SECTION_INFO && p->info_at < line.at) {
        machsym_str info = str_trim(view(p, p->info_at, line.at));
        while (info.len > 0 && (info.ptr[info.len - 1] == '\n' || info.ptr[info.len - 1] == '\r'))
            info.len--;
        report_set_fact(p->r, FACT_APP_INFO, info);
        p->section = SECTION_HEADER;
    }
    if (p->open && p->r->threads[p->r->thread_count - 1].count > 0)
        p->open = false;
}

/* Returns where the text goes on. */
static size_t parse_line(text_parser *p, text_line line)
{
    size_t at = skip_blanks(p, line.at, line.end);
    machsym_str s = str_trim(view(p, at, line.end));
    size_t end;
    if (s.len == 0) {
        end_paragraph(p, line);
        return line.next;
    }
    if (s.ptr[0] >= 'A' && s.ptr[0] <= 'Z') {
        if (str_starts(s, "Process:") || str_starts(s, "Command:"))
            begin_process(p);
        if (parse_title(p, s))
            return line.next;
        if (str_starts(s, "Last Exception Backtrace:")) {
            end =
                parse_row(p, skip_blanks(p, at + sizeof "Last Exception Backtrace:" - 1, line.end), line.end);
            return end > line.next ? end : line.next;
        }
        if (p->section != SECTION_INFO)
            parse_fact(p, s);
        if (str_find(s, "[0x") < s.len)
            parse_tree(p, line);
        return line.next;
    }
    if (s.ptr[0] == '[' && parse_lldb_image(p, s))
        return line.next;
    if ((s.ptr[0] == '0' || s.ptr[0] == '*') && parse_image(p, s))
        return line.next;
    if (p->section == SECTION_INFO)
        return line.next;
    if (parse_tree(p, line) || (is_digit(s.ptr[0]) && parse_classic(p, line)))
        return line.next;
    if (s.ptr[0] == '(' || str_starts(s, "0x")) {
        end = parse_row(p, at, line.end);
        return end > line.next ? end : line.next;
    }
    return line.next;
}

void report_parse_text(report *r, size_t lo, size_t hi, frame_escape escape)
{
    text_parser p;
    memset(&p, 0, sizeof p);
    p.r = r;
    p.hi = hi;
    p.escape = escape;
    p.tree_frame = REPORT_NONE;
    p.process_frame = r->frame_count;
    p.process_image = r->image_count;
    for (size_t at = lo; at < hi;)
        at = parse_line(&p, line_at(&p, at));
    end_paragraph(&p, (text_line){hi, hi, hi});
    if (p.process_image > 0 && escape == ESCAPE_NONE)
        begin_process(&p);
}
