/* ==== >> read/xctrace ====
 * Job: tables as XML, as `xctrace export --xpath` writes them.
 * Offers: its reader, for read/formats.h.
 * Never: reads a trace itself.
 *
 * In these tables frames and their images are described once, and then referred to by number. */
#include "../base/digits.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "formats.h"

#include <stdlib.h>
#include <string.h>

/* ---- Elements ---- */

/* A start tag of the shadow. */
typedef struct xml_tag {
    size_t at;  /* of its < */
    size_t end; /* after its > */
    machsym_str name;
    bool is_closed; /* ends in "/>" */
} xml_tag;

/* Finds the next tag at or after *at. Returns false at the end. It searches the body, because the shadow has
 * < where a value has &lt;. */
static bool xctrace_next_tag(const report *r, size_t *at, xml_tag *tag)
{
    size_t i = *at;
    while (i < r->len && r->body[i] != '<')
        i++;
    tag->at = i;
    size_t word = i + 1;
    while (i < r->len && r->body[i] != '>')
        i++;
    MACHSYM_COUNT_WORK(1 + (i - *at) / 64);
    *at = i;
    if (i >= r->len)
        return false;
    tag->end = *at = i + 1;
    tag->is_closed = r->body[i - 1] == '/';
    while (word < i && !scan_is_blank(r->shadow[word]) && r->shadow[word] != '/')
        word++;
    tag->name = str_make(r->shadow + tag->at + 1, word > tag->at + 1 ? word - tag->at - 1 : 0);
    if (tag->at + 1 < i && r->body[tag->at + 1] == '/')
        tag->name = str_make(r->shadow + tag->at + 1, i - tag->at - 1);
    return true;
}

/* Returns the value of an attribute as in the body; empty if it is absent. */
static machsym_str xctrace_attribute(const report *r, const xml_tag *tag, const char *key)
{
    size_t len = strlen(key);
    size_t i = tag->at;
    while (i < tag->end) {
        size_t open = i;
        while (open < tag->end && r->body[open] != '"')
            open++;
        size_t close = open + 1;
        while (close < tag->end && r->body[close] != '"')
            close++;
        if (close >= tag->end)
            break;
        bool is_key = open > tag->at + len + 1 && r->body[open - 1] == '=' &&
                      r->body[open - len - 2] == ' ' && memcmp(r->body + open - len - 1, key, len) == 0;
        if (is_key)
            return str_make(r->body + open + 1, close - open - 1);
        i = close + 1;
    }
    MACHSYM_COUNT_WORK((tag->end - tag->at) / 64);
    return str_make(NULL, 0);
}

static bool xctrace_number_of(machsym_str s, uint64_t *out)
{
    size_t at = 0;
    return (scan_address(s, &at, out) || scan_decimal(s, &at, out)) && at == s.len;
}

/* ---- Elements that others refer to ---- */

/* An image or a frame that an element with an id described. Ids increase from element to element. */
typedef struct xml_known {
    uint64_t id;
    uint32_t index;
} xml_known;

typedef struct xml_table {
    xml_known *v;
    uint32_t count;
    uint32_t cap;
    mem_source *memory;
} xml_table;

static void xctrace_remember(xml_table *t, machsym_str id, uint32_t index)
{
    uint64_t number;
    if (!xctrace_number_of(id, &number) || (t->count > 0 && t->v[t->count - 1].id >= number))
        return;
    xml_known one = {number, index};
    *(xml_known *)mem_add(t->memory, &t->v, &t->count, &t->cap, sizeof *t->v) = one;
}

static bool xctrace_is_below(const void *element, const void *id)
{
    return ((const xml_known *)element)->id < *(const uint64_t *)id;
}

static uint32_t xctrace_recall(const xml_table *t, machsym_str id)
{
    uint64_t number;
    if (!xctrace_number_of(id, &number))
        return REPORT_NONE;
    size_t at = mem_lower_bound(t->v, t->count, sizeof *t->v, &number, xctrace_is_below);
    return at < t->count && t->v[at].id == number ? t->v[at].index : REPORT_NONE;
}

/* ---- Stacks ---- */

typedef struct xctrace {
    report *r;
    xml_table images;
    xml_table frames;
    bool in_frame; /* an image belongs to the last frame */
    bool in_stack;
} xctrace;

static void xctrace_add_image(xctrace *x, const xml_tag *tag)
{
    report *r = x->r;
    machsym_uuid uuid;
    uint64_t base = 0;
    machsym_str ref = xctrace_attribute(r, tag, "ref");
    uint32_t index = xctrace_recall(&x->images, ref);
    if (ref.len == 0 && xctrace_number_of(xctrace_attribute(r, tag, "load-addr"), &base)) {
        bool has_uuid = parse_uuid_str(xctrace_attribute(r, tag, "UUID"), &uuid);
        index = r->image_count;
        report_image *image = report_add_image(r);
        image->base = base;
        image->path = scan_plain(r, xctrace_attribute(r, tag, "path"));
        image->name = scan_plain(r, xctrace_attribute(r, tag, "name"));
        image->arch = xctrace_attribute(r, tag, "arch");
        image->has_uuid = has_uuid;
        if (has_uuid)
            image->uuid = uuid;
        xctrace_remember(&x->images, xctrace_attribute(r, tag, "id"), index);
    }
    if (x->in_frame && index != REPORT_NONE)
        r->frames[r->frame_count - 1].image = index;
}

/* Adds a frame again that an earlier element described. Only that element is written. */
static void xctrace_repeat_frame(xctrace *x, uint32_t before)
{
    report *r = x->r;
    if (before == REPORT_NONE)
        return;
    report_frame *frame = report_add_frame(r);
    uint32_t thread = frame->thread;
    *frame = r->frames[before];
    frame->thread = thread;
    frame->index = r->threads[thread].count - 1;
    frame->form = FORM_BARE;
}

static void xctrace_add_frame(xctrace *x, const xml_tag *tag)
{
    report *r = x->r;
    uint64_t addr;
    machsym_str ref = xctrace_attribute(r, tag, "ref");
    x->in_frame = false;
    if (!x->in_stack)
        return;
    if (ref.len > 0) {
        xctrace_repeat_frame(x, xctrace_recall(&x->frames, ref));
        return;
    }
    if (!xctrace_number_of(xctrace_attribute(r, tag, "addr"), &addr))
        return;
    xctrace_remember(&x->frames, xctrace_attribute(r, tag, "id"), r->frame_count);
    machsym_str name = xctrace_attribute(r, tag, "name");
    report_frame *frame = report_add_frame(r);
    frame->form = FORM_XCTRACE;
    frame->escape = ESCAPE_HTML;
    frame->at = tag->at;
    frame->end = tag->end;
    frame->index = r->threads[frame->thread].count - 1;
    frame->exact = addr % 2 == 1 || frame->index == 0; /* where a thread was stopped, one is added */
    frame->addr = frame->given = addr - addr % 2;
    frame->symbol_at = frame->symbol_end = tag->at;
    if (name.ptr != NULL) {
        frame->symbol_at = (size_t)(name.ptr - r->body);
        frame->symbol_end = frame->symbol_at + name.len;
    }
    frame->name = str_starts(name, "0x") ? str_make(NULL, 0) : scan_plain(r, name);
    frame->named = frame->name.len > 0 ? NAME_GIVEN : NAME_NONE;
    x->in_frame = !tag->is_closed;
}

/* Begins a stack. The name of its thread comes before it in the row. */
static void xctrace_take_tag(xctrace *x, const xml_tag *tag, machsym_str *thread_name)
{
    report *r = x->r;
    bool is_tagged = str_is(tag->name, "tagged-backtrace"); /* since xctrace 27 it contains frames directly */
    if (str_is(tag->name, "thread") && xctrace_attribute(r, tag, "fmt").len > 0) {
        *thread_name = scan_plain(r, xctrace_attribute(r, tag, "fmt"));
    } else if ((is_tagged || str_is(tag->name, "backtrace")) && xctrace_attribute(r, tag, "ref").len == 0) {
        if (!x->in_stack || r->threads[r->thread_count - 1].count > 0)
            report_add_thread(r)->name = *thread_name;
        x->in_stack = true;
    } else if (str_is(tag->name, "/backtrace") || str_is(tag->name, "/tagged-backtrace")) {
        x->in_stack = false;
    } else if (str_is(tag->name, "frame")) {
        xctrace_add_frame(x, tag);
    } else if (str_is(tag->name, "/frame")) {
        x->in_frame = false;
    } else if (str_is(tag->name, "binary")) {
        xctrace_add_image(x, tag);
    }
}

/* Whether a table begins a line, or follows an XML declaration that does. In strings and quotes it does
 * not. */
static bool xctrace_is_there(const report *r)
{
    enum { LOOKED_AT = 128 }; /* bytes before it to search: no declaration is longer */
    static const char root[] = "<trace-query-result";
    static const char declaration[] = "<?xml ";
    machsym_str body = {r->body, r->len};
    for (size_t at = 0; (at += str_find(str_make(body.ptr + at, body.len - at), root)) < body.len;) {
        size_t lo = at;
        size_t end = at;
        while (lo > 0 && end - lo < LOOKED_AT && body.ptr[lo - 1] != '\n' && body.ptr[lo - 1] != '\r')
            lo--;
        while (lo < end && (unsigned char)r->shadow[lo] == ' ')
            lo++;
        MACHSYM_COUNT_WORK((end - lo) / 64);
        if (lo == at || str_starts(str_make(body.ptr + lo, at - lo), declaration))
            return true;
        at += sizeof root - 1;
    }
    return false;
}

bool report_parse_xctrace(report *r)
{
    xctrace x = {r, {NULL, 0, 0, r->memory}, {NULL, 0, 0, r->memory}, false, false};
    machsym_str thread_name = {NULL, 0};
    xml_tag tag;
    size_t at = 0;
    if (!xctrace_is_there(r))
        return false;
    r->kind = REPORT_XCTRACE;
    r->has_text = true;
    while (xctrace_next_tag(r, &at, &tag))
        xctrace_take_tag(&x, &tag, &thread_name);
    mem_give(r->memory, x.images.v);
    mem_give(r->memory, x.frames.v);
    return true;
}
