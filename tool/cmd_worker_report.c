/* machsym worker: requests for reports. */
#include "cmd_worker_do.h"
#include "report/parts.h"

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

static void put_parts(answering *a, const report *whole, const resolve_counts *counts, unsigned wants)
{
    uint32_t count = report_count_parts(whole);
    for (uint32_t i = 0; i < count && count > 1; i++) {
        report part;
        resolve_counts part_counts;
        report_take_part(whole, i, &part);
        report_count_frames(&part, &part_counts);
        text_c(a->out, i > 0 ? "," : "");
        put_report(a, &part, &part_counts, wants);
        report_free_part(&part);
    }
    if (count == 1)
        put_report(a, whole, counts, wants);
}

/* The input with names in it: base64 when it came so, since it may be in UTF-16. */
static void put_same(answering *a, const report *r)
{
    text t = {0};
    report_write_same(r, &a->options->lookups.write, &t);
    if (worker_member(a, "base64") == JSON_NONE) {
        worker_put_text(a->out, "same", &t);
    } else {
        json_put_key(a->out, "same_base64");
        text_char(a->out, '"');
        text_base64(a->out, (const uint8_t *)t.v, t.len);
        text_char(a->out, '"');
    }
    text_free(&t);
}

static bool answer_report(answering *a, report *r, unsigned wants)
{
    const crash_options *o = &a->options->lookups;
    resolve_counts counts;
    if (r->frame_count == 0 && !crash_explain_no_frames(r, &a->why))
        return worker_refuse(a, "no_report", "");
    const char *over = report_resolve(r, a->symbols->images, &o->resolve, &counts);
    if (over != NULL)
        return worker_refuse(a, counts.is_unreached ? "need" : "limit", over);
    text_c(a->out, ",\"reports\":[");
    put_parts(a, r, &counts, wants);
    text_char(a->out, ']');
    if (crash_damaged_at(r) > 0) {
        json_put_number(a->out, "damaged_at", crash_damaged_at(r));
        tool_note_damage();
    }
    if (wants & WANT_SAME)
        put_same(a, r);
    return true;
}

static bool answer_input(answering *a, unsigned wants)
{
    const crash_options *o = &a->options->lookups;
    text input = {0};
    bool ok = worker_take_input(a, "a report", "report", &input, NULL);
    if (ok) {
        report r;
        report_open_redacted(&r, text_z(&input), input.len, o->loads, o->load_count, o->resolve.redact);
        r.rules = o->rules;
        ok = answer_report(a, &r, wants);
        report_close(&r);
    }
    text_free(&input);
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
