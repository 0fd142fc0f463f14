/* machsym worker: requests for reports. */
#include "cmd_worker_do.h"
#include "report/parts.h"
#include "report/split.h"

/* What an answer may tell of a report. */
typedef enum worker_want {
    WANT_JSON = 1 << 0,
    WANT_TEXT = 1 << 1,
    WANT_SUMMARY = 1 << 2,
    WANT_SIGNATURE = 1 << 3,
    WANT_SAME = 1 << 4
} worker_want;

/* What is wanted, as worker_want; what is not said is JSON. */
static bool take_wants(answering *a, unsigned *wants)
{
    static const char *const names[] = {"json", "text", "summary", "signature", "same"};
    uint32_t list = worker_member(a, "want");
    uint32_t at = JSON_NONE;
    *wants = list == JSON_NONE ? WANT_JSON : 0;
    if (list != JSON_NONE && !json_is(a->doc, list, JSON_ARRAY))
        return worker_refuse(a, worker_bad_request, "want is a list of json, text, summary, signature, same");
    while (json_next(a->doc, list, &at)) {
        unsigned i = 0;
        while (i < 5 && !json_equals(a->doc, at, names[i]))
            i++;
        if (i == 5)
            return worker_refuse(a, worker_bad_request,
                                 "want is a list of json, text, summary, signature, same");
        *wants |= 1u << i;
    }
    return true;
}

/* What a request is about: one report, or several, of which each is answered. */
typedef struct report_input {
    unsigned wants;
    bool is_one;           /* text, of which nothing was split off */
    uint32_t held;         /* reports, so far */
    uint32_t count;        /* of these, those that are answered */
    resolve_budget budget; /* of all */
    size_t damaged_at;
    text same;
    text broken; /* a line for each that cannot be answered */
} report_input;

/* One of the reports that the input holds. */
static void put_report(answering *a, const report *r, const resolve_counts *counts, unsigned wants)
{
    const crash_options *o = &a->options->lookups;
    write_options how = o->write;
    text t = {0};
    how.one_line = true;
    text_c(a->out, "{\"format\":");
    text_json(a->out, str_c(report_kind_name(r->kind)));
    if (wants & WANT_JSON) {
        json_put_key(a->out, "json");
        report_write_json(r, &how, counts, a->out);
        a->out->len--; /* the newline */
    }
    if (wants & WANT_TEXT) {
        report_write_text(r, &how, &t);
        worker_put_text(a->out, "text", &t);
        t.len = 0;
    }
    if (wants & WANT_SUMMARY) {
        text_summary(&t, r, counts, false);
        worker_put_text(a->out, "summary", &t);
    }
    if (wants & WANT_SIGNATURE) {
        signature s;
        report_signature(r, o->machinery, &s);
        json_put_hash(a->out, "hash", s.hash);
        worker_put_text(a->out, "signature", &s.text);
        text_free(&s.text);
    }
    text_char(a->out, '}');
    text_free(&t);
}

static void put_parts(answering *a, const report *whole, const resolve_counts *counts, report_input *in)
{
    uint32_t count = report_count_parts(whole);
    for (uint32_t i = 0; i < count && count > 1; i++) {
        report part;
        resolve_counts part_counts;
        report_take_part(whole, i, &part);
        report_count_frames(&part, &part_counts);
        text_c(a->out, in->count++ > 0 ? "," : "");
        put_report(a, &part, &part_counts, in->wants);
        report_free_part(&part);
    }
    if (count > 1)
        return;
    text_c(a->out, in->count++ > 0 ? "," : "");
    put_report(a, whole, counts, in->wants);
}

/* The input with names in it: base64 when it came so, since it may be in UTF-16. */
static void put_same(answering *a, const text *same)
{
    if (worker_member(a, "base64") == JSON_NONE) {
        worker_put_text(a->out, "same", same);
    } else {
        json_put_key(a->out, "same_base64");
        text_char(a->out, '"');
        text_base64(a->out, (const uint8_t *)same->v, same->len);
        text_char(a->out, '"');
    }
}

/* A report that cannot be answered costs no other. */
static void note_broken(const report *r, const text *why, report_input *in)
{
    if (!in->is_one) {
        text_char(&in->broken, '#');
        text_dec(&in->broken, r->number);
        text_c(&in->broken, ": ");
    }
    text_add(&in->broken, why->v, why->len);
    text_char(&in->broken, '\n');
}

static bool answer_report(answering *a, report *r, report_input *in)
{
    const crash_options *o = &a->options->lookups;
    resolve_options how = o->resolve;
    resolve_counts counts;
    text why = {0};
    how.shared = &in->budget;
    if (r->frame_count == 0 && !crash_explain_no_frames(r, &why)) {
        note_broken(r, &why, in);
    } else {
        const char *over = report_resolve(r, a->symbols->images, &how, &counts);
        if (over != NULL)
            return worker_refuse(a, counts.is_unreached ? "need" : "limit", over);
        put_parts(a, r, &counts, in);
        in->damaged_at = crash_damaged_at(r);
    }
    if (in->wants & WANT_SAME)
        report_write_same(r, &o->write, &in->same);
    text_free(&why);
    return true;
}

static bool answer_reports(answering *a, machsym_str rest, report_input *in)
{
    const crash_options *o = &a->options->lookups;
    bool ok = true;
    size_t len = report_first_len(rest);
    in->is_one = len == rest.len;
    for (bool is_first = true; ok && (is_first || rest.len > 0); is_first = false) {
        report r;
        report_open_redacted(&r, rest.ptr, len, o->loads, o->load_count, o->resolve.redact);
        r.rules = o->rules;
        r.number = in->is_one ? 0 : in->held + 1;
        in->held += report_count_parts(&r);
        ok = answer_report(a, &r, in);
        report_close(&r);
        rest = (machsym_str){rest.ptr + len, rest.len - len};
        len = report_first_len(rest);
    }
    return ok;
}

/* What stands after the reports. Returns false when there is none. */
static bool end_reports(answering *a, const report_input *in)
{
    if (in->count == 0) {
        machsym_str rest = {in->broken.v, in->broken.len};
        machsym_str first;
        if (str_take_line(&rest, &first))
            text_str(&a->why, first);
        return worker_refuse(a, "no_report", "");
    }
    text_char(a->out, ']');
    if (in->damaged_at > 0)
        json_put_number(a->out, "damaged_at", in->damaged_at);
    if (in->broken.len > 0)
        worker_put_notes(a->out, &in->broken);
    if (in->damaged_at > 0 || in->broken.len > 0)
        tool_note_damage();
    if (in->wants & WANT_SAME)
        put_same(a, &in->same);
    return true;
}

static bool answer_input(answering *a, unsigned wants)
{
    text input = {0};
    report_input in;
    memset(&in, 0, sizeof in);
    in.wants = wants;
    bool ok = worker_take_input(a, "a report", "report", &input, NULL);
    if (ok) {
        resolve_budget_begin(&in.budget, &a->options->lookups.resolve.limit, input.len);
        text_c(a->out, ",\"reports\":[");
        ok = answer_reports(a, (machsym_str){text_z(&input), input.len}, &in) && end_reports(a, &in);
    }
    text_free(&input);
    text_free(&in.same);
    text_free(&in.broken);
    return ok;
}

bool worker_answer_crash(answering *a)
{
    unsigned wants = 0;
    return take_wants(a, &wants) && answer_input(a, wants);
}

bool worker_answer_signature(answering *a)
{
    return answer_input(a, WANT_SIGNATURE);
}
