/* ==== >> cmd/worker/report ====
 * Job: requests for reports.
 * Offers: the kinds crash, signature, missing.
 * Never: names a format.
 *
 * machsym worker: requests for reports. */
#include "machsym.h"
#include "../../../report/base/json.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/text.h"
#include "../../../report/model/redact.h"
#include "../../../report/model/registers.h"
#include "../../../report/model/report.h"
#include "../../../report/model/status.h"
#include "../../../report/tell/missing.h"
#include "../../../report/tell/signature.h"
#include "../../../report/tell/summary.h"
#include "../../../report/walk.h"
#include "../../../report/write/brief.h"
#include "../../../report/write/call.h"
#include "../../../report/write/html.h"
#include "../../../report/write/write.h"
#include "../../base/say.h"
#include "../crash/crash.h"
#include "do.h"
#include "../../symbols/owners.h"
#include "../../symbols/resolve.h"

#include <string.h>

/* What an answer may tell of a report. */
typedef enum worker_want {
    WANT_JSON = 1 << 0,
    WANT_TEXT = 1 << 1,
    WANT_SUMMARY = 1 << 2,
    WANT_SIGNATURE = 1 << 3,
    WANT_SAME = 1 << 4,
    WANT_BRIEF = 1 << 5,
    WANT_IMAGES = 1 << 6,
    WANT_HTML = 1 << 7, /* a page of all reports together */
    WANT_USES = 1 << 8,
    WANT_STACKS = 1 << 9,  /* what the report has, before any lookup */
    WANT_PEOPLE = 1 << 10, /* values that name the report's user */
    WANT_MISSING = 1 << 11 /* of all reports together, and nothing else */
} worker_want;

/* What is wanted, as worker_want; what is not said is JSON. */
static bool worker_report_take_wants(answering *a, unsigned *wants)
{
    static const char *const names[] = {"json",   "text", "summary", "signature", "same",  "brief",
                                        "images", "html", "uses",    "stacks",    "people"};
    enum { WANTS = sizeof names / sizeof names[0] };
    uint32_t list = request_member(a, "want");
    uint32_t at = JSON_NONE;
    *wants = list != JSON_NONE ? 0 : a->is_tool ? WANT_BRIEF : WANT_JSON;
    if (list != JSON_NONE && !json_is(a->doc, list, JSON_ARRAY))
        return request_refuse(
            a, worker_bad_request,
            "want is a list of json, text, summary, signature, same, brief, images, html, uses, stacks, "
            "people");
    while (json_next(a->doc, list, &at)) {
        unsigned i = 0;
        while (i < WANTS && !json_equals(a->doc, at, names[i]))
            i++;
        if (i == WANTS)
            return request_refuse(
                a, worker_bad_request,
                "want is a list of json, text, summary, signature, same, brief, images, html, uses, stacks, "
                "people");
        *wants |= 1u << i;
    }
    return true;
}

/* What a request is about: one report or several. Each is answered. */
typedef struct report_input {
    answering *to;
    unsigned wants;
    uint32_t count;        /* of reports that are answered */
    resolve_budget budget; /* of all */
    size_t damaged_at;
    text same;
    text page;
    text broken; /* a line for each that cannot be answered */
    missing_list missing;
} report_input;

/* The images that frames are in, in short. Those without a UUID are left out: no file can be found for them. */
static void worker_report_put_uses(const report *r, text *out)
{
    bool is_first = true;
    json_put_key(out, "uses");
    text_char(out, '[');
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        missing_image m = missing_of(r, image);
        if (image->frame_count == 0 || !image->has_uuid)
            continue;
        text_c(out, is_first ? "{\"name\":" : ",{\"name\":");
        text_json(out, image->name);
        json_put_uuid(out, "uuid", &image->uuid);
        json_put_bool(out, "has_debug_info",
                      image->looked_for && image->status.found == IMAGE_FOUND && image->status.has_dwarf);
        json_put_bool(out, "missing", missing_has_frames(&m) && !m.is_system);
        text_char(out, '}');
        is_first = false;
    }
    text_char(out, ']');
}

/* A frame of stacks. module: the name of its image as the report has it, for a frame that is in no image of
 * the list. */
static void worker_report_put_stack_frame(const report_frame *frame, text *out)
{
    text_c(out, "{\"index\":");
    text_dec(out, frame->index);
    json_put_hex(out, "address", frame->addr);
    json_put_bool(out, "return_address", !frame->exact);
    if (frame->image != REPORT_NONE)
        json_put_number(out, "image", frame->image);
    else if (frame->image_name.len > 0)
        json_put_str(out, "module", frame->image_name);
    text_char(out, '}');
}

static void worker_report_put_stack(const report *r, const report_thread *thread, text *out)
{
    text_c(out, "{\"kind\":");
    text_json(out, str_c(report_thread_kind_name(thread->kind)));
    json_put_number(out, "number", thread->number);
    json_put_str(out, "name", thread->name);
    json_put_bool(out, "crashed", thread->crashed);
    json_put_key(out, "frames");
    for (uint32_t i = 0; i < thread->count; i++) {
        text_char(out, i > 0 ? ',' : '[');
        worker_report_put_stack_frame(&r->frames[thread->first + i], out);
    }
    text_c(out, thread->count > 0 ? "]" : "[]");
    json_put_key(out, "registers");
    text_char(out, '{');
    for (uint32_t i = 0; i < thread->register_count; i++) {
        const report_register *one = registers_at(r, thread, i);
        text_c(out, i > 0 ? "," : "");
        text_json(out, one->name);
        text_c(out, ":\"0x");
        text_hex(out, one->value, 1);
        text_char(out, '"');
    }
    text_c(out, "}}");
}

static void worker_report_put_stack_image(const report_image *image, text *out)
{
    text_c(out, "{\"name\":");
    text_json(out, image->name);
    json_put_str(out, "path", image->path);
    json_put_str(out, "arch", image->arch);
    json_put_uuid(out, "uuid", image->has_uuid ? &image->uuid : NULL);
    json_put_hex(out, "base", image->base);
    json_put_number(out, "size", image->end > image->base && !image->is_open ? image->end - image->base : 0);
    text_char(out, '}');
}

/* The facts, stacks and images that the report has, without what lookups add. */
static void worker_report_put_stacks(const report *r, text *out)
{
    const char *between = "";
    const char *name;
    machsym_str value;
    json_put_key(out, "stacks");
    text_c(out, "{\"facts\":{");
    for (size_t i = 0; write_fact(r, i, &name, &value); i++) {
        if (value.len == 0)
            continue;
        text_c(out, between);
        text_json(out, str_c(name));
        text_char(out, ':');
        text_json(out, value);
        between = ",";
    }
    text_c(out, "},\"threads\":[");
    between = "";
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].is_echo)
            continue;
        text_c(out, between);
        worker_report_put_stack(r, &r->threads[i], out);
        between = ",";
    }
    text_c(out, "],\"images\":[");
    for (uint32_t i = 0; i < r->image_count; i++) {
        text_c(out, i > 0 ? "," : "");
        worker_report_put_stack_image(&r->images[i], out);
    }
    text_c(out, "]}");
}

/* One of the reports that the input holds. */
static void worker_report_put(answering *a, const report *r, const resolve_counts *counts, unsigned wants)
{
    const crash_options *o = &a->options->lookups;
    write_options how = o->write;
    text t = {0};
    how.one_line = true;
    text_c(a->out, "{\"format\":");
    text_json(a->out, str_c(report_kind_name(r->kind)));
    if (wants & WANT_JSON) {
        json_put_key(a->out, "json");
        write_json(r, &how, counts, a->out);
        a->out->len--; /* the newline */
    }
    if (wants & WANT_BRIEF) {
        json_put_key(a->out, "brief");
        brief_put(r, counts, (machsym_str){NULL, 0}, o->machinery, a->out);
        a->out->len--; /* the newline */
    }
    if (wants & WANT_IMAGES) {
        write_json_images(r, a->out);
        a->out->len--; /* the newline */
    }
    if (wants & WANT_USES)
        worker_report_put_uses(r, a->out);
    if (wants & WANT_STACKS)
        worker_report_put_stacks(r, a->out);
    if (wants & WANT_PEOPLE) {
        json_put_key(a->out, "people");
        redact_people(str_make(r->body, r->len), a->out);
    }
    if (wants & WANT_TEXT) {
        write_text(r, &how, &t);
        request_put_text(a->out, "text", &t);
        t.len = 0;
    }
    if (wants & WANT_SUMMARY) {
        summary_put(&t, r, counts, false);
        request_put_text(a->out, "summary", &t);
    }
    if (wants & WANT_SIGNATURE) {
        signature s;
        signature_of(r, o->machinery, &s);
        json_put_hash(a->out, "hash", s.hash);
        request_put_text(a->out, "signature", &s.words);
        text_free(&s.words);
    }
    text_char(a->out, '}');
    text_free(&t);
}

/* The input with names in it: base64 when it came so or as bytes, since it may be in UTF-16. */
static void worker_report_put_same(answering *a, const text *same)
{
    if (request_member(a, "base64") == JSON_NONE && request_member(a, "bytes") == JSON_NONE) {
        request_put_text(a->out, "same", same);
    } else {
        json_put_key(a->out, "same_base64");
        text_char(a->out, '"');
        text_base64(a->out, (const uint8_t *)same->v, same->len);
        text_char(a->out, '"');
    }
}

/* A report that cannot be answered costs no other. */
static void worker_report_note_broken(const report *r, const text *why, report_input *in)
{
    if (r->number > 0) {
        text_char(&in->broken, '#');
        text_dec(&in->broken, r->number);
        text_c(&in->broken, ": ");
    }
    text_add(&in->broken, why->v, why->len);
    text_char(&in->broken, '\n');
}

/* The kind of the error of a report whose lookups ended early. */
static const char *worker_report_kind_of(const resolve_counts *counts, const char *why)
{
    if (counts->is_unreached)
        return request_kind_unreached(why);
    return counts->is_unread ? worker_unread_image : "limit";
}

static walk_step worker_report_look_up(void *context, report *r, resolve_counts *counts)
{
    report_input *in = context;
    resolve_options how = in->to->options->lookups.resolve;
    text why = {0};
    how.shared = &in->budget;
    if (r->frame_count == 0 && crash_explain_no_frames(r, &why) != WITHOUT_FRAMES) {
        worker_report_note_broken(r, &why, in);
        text_free(&why);
        return WALK_BROKEN;
    }
    if ((in->wants & ~(unsigned)(WANT_STACKS | WANT_PEOPLE)) == 0) {
        memset(counts, 0, sizeof *counts);
        return WALK_ANSWER;
    }
    const char *over = resolve_report(r, in->to->symbols->images, &how, counts);
    if (over != NULL) {
        request_refuse(in->to, worker_report_kind_of(counts, over), over);
        return WALK_STOP;
    }
    in->damaged_at = in->damaged_at > 0 ? in->damaged_at : crash_damaged_at(r);
    return WALK_ANSWER;
}

static bool worker_report_put_one(void *context, report *one, const resolve_counts *counts)
{
    report_input *in = context;
    const crash_options *o = &in->to->options->lookups;
    if (in->wants == WANT_MISSING) {
        in->count++;
        missing_add_report(&in->missing, one);
        return true;
    }
    text_c(in->to->out, in->count++ > 0 ? "," : "");
    worker_report_put(in->to, one, counts, in->wants);
    if (in->wants & WANT_HTML)
        html_add(one, &o->write, counts, "report", o->machinery, &in->page);
    return true;
}

static bool worker_report_answer_reports(answering *a, machsym_str input, report_input *in)
{
    const crash_options *o = &a->options->lookups;
    report_walk walk = {.loads = o->loads,
                        .load_count = o->load_count,
                        .redact = o->resolve.redact,
                        .rules = owners_rules(o->rules),
                        .same = in->wants & WANT_SAME ? &o->write : NULL,
                        .context = in,
                        .look_up = worker_report_look_up,
                        .answer = worker_report_put_one};
    resolve_files files;
    resolve_files_begin(&files, a->symbols->images, &o->resolve);
    walk.tables = &files.tables;
    in->to = a;
    return walk_all(&walk, input, &in->same);
}

/* What the reports wait for. */
static void worker_report_put_missing(answering *a, report_input *in)
{
    size_t from;
    json_put_key(a->out, "missing");
    from = a->out->len;
    missing_put_json(&in->missing, a->out);
    json_one_line(a->out, from);
    a->out->len--; /* the newline */
}

/* What stands after the reports. Returns false when there is none. */
static bool worker_report_end_reports(answering *a, report_input *in)
{
    if (in->count == 0) {
        machsym_str rest = {in->broken.v, in->broken.len};
        machsym_str first;
        if (str_take_line(&rest, &first))
            text_str(&a->why, first);
        return request_refuse(a, "no_report", "");
    }
    if (in->wants == WANT_MISSING)
        worker_report_put_missing(a, in);
    else
        text_char(a->out, ']');
    if (in->damaged_at > 0)
        json_put_number(a->out, "damaged_at", in->damaged_at);
    if (in->broken.len > 0)
        request_put_notes(a->out, &in->broken);
    if (in->damaged_at > 0 || in->broken.len > 0)
        status_note_damage();
    if (in->wants & WANT_SAME)
        worker_report_put_same(a, &in->same);
    if (in->wants & WANT_HTML) {
        html_end(&in->page);
        request_put_text(a->out, "html", &in->page);
    }
    return true;
}

static bool worker_report_answer_input(answering *a, unsigned wants)
{
    text input = {0};
    report_input in;
    memset(&in, 0, sizeof in);
    in.wants = wants;
    if (wants & WANT_HTML)
        html_begin(&in.page);
    bool ok = request_take_input(a, "a report", "report", &input, NULL);
    if (ok) {
        resolve_budget_begin(&in.budget, &a->options->lookups.resolve.limit, input.len);
        text_c(a->out, wants == WANT_MISSING ? "" : ",\"reports\":[");
        ok = worker_report_answer_reports(a, (machsym_str){text_z(&input), input.len}, &in) &&
             worker_report_end_reports(a, &in);
    }
    text_free(&input);
    text_free(&in.same);
    text_free(&in.page);
    text_free(&in.broken);
    missing_free(&in.missing);
    return ok;
}

static bool worker_report_answer_crash(answering *a)
{
    unsigned wants = 0;
    return worker_report_take_wants(a, &wants) && worker_report_answer_input(a, wants);
}

static bool worker_report_answer_signature(answering *a)
{
    return worker_report_answer_input(a, WANT_SIGNATURE);
}

static bool worker_report_answer_missing(answering *a)
{
    return worker_report_answer_input(a, WANT_MISSING);
}

const request_kind worker_crash_kind = {"crash", "id do report bytes base64 path want",
                                        worker_report_answer_crash};

const request_kind worker_signature_kind = {"signature", "id do report bytes base64 path",
                                            worker_report_answer_signature};

const request_kind worker_missing_kind = {"missing", "id do report bytes base64 path",
                                          worker_report_answer_missing};
