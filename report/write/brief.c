/* See brief.h. Members are tried in the order of their value. A member that exceeds the limit of its kind is
 * left out; a text is cut. */
#include "brief.h"
#include "../base/json_put.h"
#include "../model/registers.h"
#include "../model/stack.h"
#include "../model/status.h"
#include "../tell/access.h"
#include "../tell/blame.h"
#include "../tell/doubt.h"
#include "../tell/exception.h"
#include "../tell/facts.h"
#include "../tell/missing.h"
#include "../tell/signature.h"

/* The size of the brief, in bytes, at which each kind of member must end, so that later ones have room. */
enum {
    BRIEF_WHERE = 1040,
    BRIEF_MISSING = 1210,
    BRIEF_DO = 1450,
    BRIEF_ALL = BRIEF_BYTES - 2, /* the brace and the line end */
    BRIEF_FRAMES = 3,
    BRIEF_IMAGES = 2,
    BRIEF_REGISTERS = 4,
    BRIEF_LABEL = 80, /* limits of texts, with quotes and escapes */
    BRIEF_SENTENCE = 300,
    BRIEF_WORDS = 200,
    BRIEF_NAME = 110,
    BRIEF_FILE = 60,
    BRIEF_SHORT = 50,
    REGISTER_REACH = 0x1000 /* a field is at most this far after the pointer to its object */
};

/* ---- What fits ---- */

/* Returns the end of the longest piece of at most `most` bytes that cuts no character. */
static size_t brief_cut_at(machsym_str s, size_t most)
{
    size_t end = most < s.len ? most : s.len;
    while (end > 0 && end < s.len && ((uint8_t)s.ptr[end] & 0xc0) == 0x80)
        end--;
    return end;
}

/* Appends a text whose JSON has at most `most` bytes. A cut text ends in "...". */
static void brief_text(text *t, machsym_str s, size_t most)
{
    size_t from = t->len;
    size_t len = brief_cut_at(s, most);
    bool is_cut = len < s.len;
    text_json(t, str_make(s.ptr, len));
    while (t->len - from + (is_cut ? 3 : 0) > most && len > 0) {
        size_t over = t->len - from + 3 - most;
        t->len = from;
        is_cut = true;
        len = brief_cut_at(s, len - 1 -
                                  (over / 6 < len - 1 ? over / 6 : 0)); /* an escape has at most six bytes */
        text_json(t, str_make(s.ptr, len));
    }
    if (!is_cut)
        return;
    t->len--; /* the quote */
    text_c(t, "...\"");
}

static void brief_member(text *t, const char *key, machsym_str value, size_t most)
{
    if (value.len == 0)
        return;
    json_put_key(t, key);
    brief_text(t, value, most);
}

/* Appends a part if the brief then has at most `most` bytes. */
static bool brief_try(text *out, size_t from, text *part, size_t most)
{
    bool fits = out->len - from + part->len <= most;
    if (fits)
        text_add(out, part->v, part->len);
    part->len = 0;
    return fits;
}

/* ---- Parts ---- */

static void brief_put_head(const report *r, machsym_str label, text *t)
{
    text app = text_in(r->memory);
    bool is_named = r->facts[FACT_PROCESS].len > 0;
    text_str(&app, r->facts[is_named ? FACT_PROCESS : FACT_IDENTIFIER]);
    text_c(&app, app.len > 0 && r->facts[FACT_VERSION].len > 0 ? " " : "");
    text_str(&app, r->facts[FACT_VERSION]);
    json_begin(t, "crash-brief");
    brief_member(t, "report", label, BRIEF_LABEL);
    brief_member(t, "app", str_make(app.v, app.len), BRIEF_LABEL);
    brief_member(t, "os", r->facts[FACT_OS], BRIEF_SHORT);
    text_free(&app);
}

/* Appends what happened, in the most informative sentence. */
static void brief_put_what(const report *r, const facts *found, text *t)
{
    text sentence = text_in(r->memory);
    facts_put_sentence(&sentence, r);
    json_put_str(t, "cause", str_c(facts_cause_name(found->cause)));
    json_put_key(t, "what");
    brief_text(t, str_make(sentence.v, sentence.len), BRIEF_SENTENCE);
    text_free(&sentence);
}

/* Appends the other sentences of the summary, as many as fit. */
static void brief_put_words(const report *r, text *t, size_t from)
{
    text sentence = text_in(r->memory);
    text words = text_in(r->memory);
    text part = text_in(r->memory);
    machsym_str line;
    bool has_one = false;
    facts_put_sentence(&sentence, r);
    exception_put(&words, r);
    machsym_str rest = {words.v, words.len};
    while (str_take_line(&rest, &line)) {
        line = str_trim(line);
        if (str_equal(line, str_make(sentence.v, sentence.len)))
            continue;
        text_c(&part, has_one ? "," : ",\"words\":[");
        brief_text(&part, line, BRIEF_WORDS);
        has_one |= brief_try(t, from, &part, BRIEF_ALL - 1);
    }
    text_c(t, has_one ? "]" : "");
    text_free(&sentence);
    text_free(&words);
    text_free(&part);
}

/* A function: {"name":...,"image":...,"file":...,"line":...,"link":...}. */
static void brief_put_function(const report *r, const report_frame *frame, uint32_t layer, bool has_link,
                               text *t)
{
    const report_call *call = frame->call_count > 0 ? &r->calls[frame->call + layer] : NULL;
    machsym_str name = stack_layer_name(r, frame, layer);
    text address = text_in(r->memory);
    if (name.len == 0) {
        text_c(&address, "0x");
        text_hex(&address, frame->addr, 1);
        name = str_make(address.v, address.len);
    }
    text_c(t, "{\"name\":");
    brief_text(t, name, BRIEF_NAME);
    brief_member(t, "image", stack_image_name(r, frame), BRIEF_SHORT);
    if (call != NULL && call->has_line) {
        brief_member(t, "file", str_base_name(call->path), BRIEF_FILE);
        json_put_number(t, "line", call->line);
        if (has_link && call->link.len > 0)
            json_put_str(t, "link", call->link);
    } else {
        brief_member(t, "place", frame->where, BRIEF_FILE);
    }
    text_c(t, call != NULL && call->is_inline ? ",\"inline\":true" : "");
    text_c(t, stack_is_own(r, frame) ? "}" : ",\"own\":false}");
    text_free(&address);
}

static bool brief_try_function(const report *r, const report_frame *frame, uint32_t layer, bool has_link,
                               text *t, size_t from, bool is_first)
{
    text part = text_in(r->memory);
    text_c(&part, is_first ? "" : ",");
    brief_put_function(r, frame, layer, has_link, &part);
    bool fits = brief_try(t, from, &part, BRIEF_WHERE - 1);
    text_free(&part);
    return fits;
}

/* Appends the first functions of the app on the main stack, the first `links` of them with a link; without
 * such functions, the top one. Returns whether all fit. */
static bool brief_put_functions(const report *r, unsigned links, text *t, size_t from)
{
    const report_thread *thread = stack_main(r);
    uint32_t count = thread != NULL ? stack_count(thread) : 0;
    unsigned shown = 0;
    for (uint32_t i = 0; i < count && shown < BRIEF_FRAMES; i++) {
        const report_frame *frame = stack_frame(r, thread, i);
        uint32_t layers = stack_is_own(r, frame) ? stack_layers(frame) : 0;
        for (uint32_t layer = 0; layer < layers && shown < BRIEF_FRAMES; layer++) {
            if (!brief_try_function(r, frame, layer, shown < links, t, from, shown == 0))
                return false;
            shown++;
        }
    }
    return shown > 0 || count == 0 ||
           brief_try_function(r, stack_frame(r, thread, 0), 0, links > 0, t, from, true);
}

/* One more function is better than a link. */
static void brief_put_where(const report *r, text *t, size_t from)
{
    json_put_key(t, "where");
    text_char(t, '[');
    size_t begin = t->len;
    for (unsigned links = BRIEF_FRAMES; !brief_put_functions(r, links, t, from) && links > 0; links--)
        t->len = begin;
    text_char(t, ']');
}

/* Which images with frames lack symbols. */
typedef struct brief_missing {
    uint32_t own; /* images of the app */
    uint32_t system;
    missing_image first; /* the first one of the app */
} brief_missing;

static void brief_put_missing(const report *r, brief_missing *found, text *t, size_t from)
{
    text part = text_in(r->memory);
    unsigned shown = 0;
    memset(found, 0, sizeof *found);
    json_put_key(t, "missing");
    text_char(t, '[');
    for (uint32_t i = 0; i < r->image_count; i++) {
        missing_image m = missing_of(r, &r->images[i]);
        if (m.frames == 0)
            continue;
        if (m.is_system && m.status.found == IMAGE_MISSING) {
            found->system++;
            continue;
        }
        if (found->own++ == 0)
            found->first = m;
        text_c(&part, shown > 0 ? ",{\"image\":" : "{\"image\":");
        brief_text(&part, m.name, BRIEF_SHORT);
        json_put_uuid(&part, "uuid", m.has_uuid ? &m.uuid : NULL);
        json_put_str(&part, "why", str_c(missing_why(&m)));
        text_char(&part, '}');
        shown += shown < BRIEF_IMAGES && brief_try(t, from, &part, BRIEF_MISSING - 1);
        part.len = 0;
    }
    text_char(t, ']');
    text_free(&part);
}

/* Appends what to do next, in words. */
static void brief_put_do(const report *r, const resolve_counts *counts, const brief_missing *found, text *t)
{
    text words = text_in(r->memory);
    if (found->own > 0) {
        text_c(&words, found->first.status.found == IMAGE_BROKEN ? "replace the damaged dSYM of "
                                                                 : "get the dSYM of ");
        text_add(&words, found->first.name.ptr, brief_cut_at(found->first.name, BRIEF_SHORT));
        text_c(&words, found->first.has_uuid ? " with this UUID" : "");
        text_c(&words, " and name it with -d: ");
        text_dec(&words, found->first.frames);
        text_c(&words, found->first.frames == 1 ? " frame waits for it" : " frames wait for it");
    } else if (r->image_count == 0 && counts->missing > 0) {
        text_c(&words, "the report lists no images: --load NAME=ADDRESS names one");
    } else if (found->system > 0 && counts->dwarf + counts->symbols + counts->given == 0) {
        text_c(&words, "name a dyld shared cache of this system with -d: only it has these names");
    } else if (r->frame_count == 0) {
        text_c(&words, "the report has no stack");
    } else {
        text_c(&words, "read the code at the first line of where");
    }
    brief_member(t, "do", str_make(words.v, words.len), BRIEF_WORDS);
    text_free(&words);
}

static void brief_put_fault(const access_fault *fault, text *t)
{
    text_c(t, ",\"fault\":{\"kind\":");
    text_json(t, str_c(access_kind_name(fault->kind)));
    if (fault->has_address)
        json_put_hex(t, "address", fault->address);
    if (access_name(fault->access) != NULL)
        json_put_str(t, "access", str_c(access_name(fault->access)));
    if (fault->size > 0)
        json_put_number(t, "size", fault->size);
    brief_member(t, "region", fault->region, BRIEF_SHORT);
    text_char(t, '}');
}

/* ---- Registers ---- */

/* Registers that hold the address of the access, or the object that it is a field of; and the arguments of
 * the call, which messages to objects and failed checks depend on. */
static bool brief_matters(const report *r, const report_register *one, const access_fault *fault)
{
    static const char *const arguments[] = {"x0", "x1", "rdi", "rsi"};
    uint64_t below = report_plain_addr(r, fault->address) - report_plain_addr(r, one->value);
    if (fault->kind != ACCESS_NONE && fault->has_address && below < REGISTER_REACH)
        return !str_is(one->name, "far") && !str_is(one->name, "cr2");
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (str_is(one->name, arguments[i]))
            return true;
    }
    return false;
}

static void brief_put_register(const report *r, const report_register *one, text *t)
{
    machsym_str region = access_region_at(r, report_plain_addr(r, one->value));
    text_c(t, "{\"name\":");
    brief_text(t, one->name, BRIEF_SHORT);
    json_put_hex(t, "value", one->value);
    if (one->call_count > 0)
        brief_member(t, "function", r->calls[one->call + one->call_count - 1].name, BRIEF_SHORT);
    else if (one->image != REPORT_NONE)
        brief_member(t, "image", r->images[one->image].name, BRIEF_SHORT);
    else
        brief_member(t, "region", region, BRIEF_SHORT);
    text_char(t, '}');
}

static void brief_put_registers(const report *r, const access_fault *fault, text *t, size_t from)
{
    const report_thread *thread = registers_thread(r);
    text part = text_in(r->memory);
    unsigned shown = 0;
    for (uint32_t i = 0; thread != NULL && i < thread->register_count && shown < BRIEF_REGISTERS; i++) {
        const report_register *one = registers_at(r, thread, i);
        if (!brief_matters(r, one, fault))
            continue;
        text_c(&part, shown == 0 ? ",\"registers\":[" : ",");
        brief_put_register(r, one, &part);
        if (!brief_try(t, from, &part, BRIEF_ALL - 1))
            break;
        shown++;
    }
    text_c(t, shown > 0 ? "]" : "");
    text_free(&part);
}

/* ---- All together ---- */

static void brief_put_whose(const report *r, text *t)
{
    blame who;
    text place = text_in(r->memory);
    if (r->rules != NULL && blame_find(r, &who, &place))
        brief_member(t, "owner", who.owner, BRIEF_LABEL);
    text_free(&place);
}

/* Appends the first doubt: "frame 1: no call ends here: ...". */
static void brief_put_doubt(const report *r, text *t)
{
    const report_frame *frame = doubt_first(r);
    text words = text_in(r->memory);
    if (frame != NULL) {
        text_c(&words, "frame ");
        text_dec(&words, frame->index);
        text_c(&words, ": ");
        text_c(&words, frame->doubt);
    }
    brief_member(t, "doubt", str_make(words.v, words.len), BRIEF_WORDS);
    text_free(&words);
}

/* Appends the optional members. */
static void brief_put_rest(const report *r, const facts *found, const machinery *list, text *out, size_t from)
{
    signature s;
    text part = text_in(r->memory);
    signature_of(r, list, &s);
    json_put_hash(&part, "signature", s.hash);
    text_free(&s.words);
    brief_try(out, from, &part, BRIEF_ALL);
    brief_put_whose(r, &part);
    brief_try(out, from, &part, BRIEF_ALL);
    brief_put_doubt(r, &part);
    brief_try(out, from, &part, BRIEF_ALL);
    if (found->fault.kind != ACCESS_NONE)
        brief_put_fault(&found->fault, &part);
    brief_try(out, from, &part, BRIEF_ALL);
    brief_put_registers(r, &found->fault, out, from);
    brief_put_words(r, out, from);
    text_free(&part);
}

void brief_put(const report *r, const resolve_counts *counts, machsym_str label, const machinery *list,
               text *out)
{
    size_t from = out->len;
    text part = text_in(r->memory);
    facts found;
    brief_missing missing;
    facts_find(r, &found);
    brief_put_head(r, label, out);
    brief_put_what(r, &found, out);
    brief_put_where(r, out, from);
    brief_put_missing(r, &missing, out, from);
    if (missing.own > BRIEF_IMAGES)
        json_put_number(&part, "missing_images", missing.own);
    brief_try(out, from, &part, BRIEF_DO);
    brief_put_do(r, counts, &missing, &part);
    brief_try(out, from, &part, BRIEF_DO);
    brief_put_rest(r, &found, list, out, from);
    text_c(out, "}\n");
    text_free(&part);
}
