/* machsym worker: one request to one answer. */
#include "answer.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/json.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/names.h"
#include "../../../report/model/redact.h"
#include "../../../report/model/status.h"
#include "../../base/options.h"
#include "../../base/say.h"
#include "kinds.h"
#include "../../symbols/chunks.h"
#include "../../symbols/frames.h"
#include "../../symbols/images.h"
#include "../../symbols/resolve.h"
#include "../../symbols/source.h"

#include <stdlib.h>
#include <string.h>

enum { WORKER_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1 };

/* ---- Frames ---- */

/* The frames of one offset, as atos --json has them, without what --redact takes out. */
static void reply_put_frames(answering *a, const image_loan *loan, uint64_t offset, bool is_return)
{
    const resolve_options *how = &a->options->lookups.resolve;
    machsym_frame frames[WORKER_FRAMES];
    frame_style style = how->style;
    text t = {0};
    uint64_t addr;
    style.source = loan_source(loan);
    size_t count = loan_frames(loan, 0, false, offset, is_return, frames, WORKER_FRAMES, &addr);
    if (loan_failure(loan) != NULL)
        request_refuse(a, request_kind_unreached(loan_failure(loan)), loan_failure(loan));
    for (size_t i = how->no_inline && count > 0 ? count - 1 : 0; i < count; i++) {
        text_c(&t, t.len > 0 ? "," : "");
        frame_put_json(&t, &frames[i], addr, &style);
    }
    if (how->redact != NULL)
        redact_users(how->redact, (machsym_str){t.v, t.len}, a->out);
    else
        text_add(a->out, t.v, t.len);
    text_free(&t);
}

static bool reply_put_offsets(answering *a, const image_loan *loan, uint32_t offsets)
{
    bool is_return = json_true(a->doc, request_member(a, "return_addresses"));
    uint64_t load = 0;
    resolve_budget left;
    uint32_t at = JSON_NONE;
    const char *between = "";
    if (request_member(a, "load") != JSON_NONE && !json_u64(a->doc, request_member(a, "load"), &load))
        return request_refuse(
            a, worker_bad_request,
            "load is the address where the image was loaded: a number, or a text \"0x...\"");
    resolve_budget_begin(&left, &a->options->lookups.resolve.limit, a->doc->v[0].end);
    text_c(a->out, ",\"frames\":[");
    while (json_next(a->doc, offsets, &at) && resolve_budget_in_time(&left) && a->kind == NULL) {
        size_t from = a->out->len;
        uint64_t offset;
        if (!json_u64(a->doc, at, &offset))
            return request_refuse(a, worker_bad_request,
                                  "an offset is a number, or a text: \"0x\" and hexadecimal digits");
        if (offset < load)
            return request_refuse(a, worker_bad_request, "an offset lies before load");
        text_c(a->out, between);
        text_char(a->out, '[');
        reply_put_frames(a, loan, offset - load, is_return);
        text_char(a->out, ']');
        between = ",";
        resolve_budget_spend(&left, a->out->len - from);
    }
    text_char(a->out, ']');
    if (left.failure != NULL && a->kind == NULL)
        request_refuse(a, "limit", left.failure);
    return a->kind == NULL;
}

static bool reply_answer_frames(answering *a)
{
    image_key key;
    image_loan loan;
    image_status status;
    uint32_t offsets = request_member(a, "offsets");
    memset(&key, 0, sizeof key);
    key.has_uuid = json_is(a->doc, request_member(a, "uuid"), JSON_STRING) &&
                   parse_uuid_str(json_raw(a->doc, request_member(a, "uuid")), &key.uuid);
    key.arch = json_raw(a->doc, request_member(a, "arch"));
    if (!key.has_uuid)
        return request_refuse(a, worker_bad_request,
                              "uuid has 32 hexadecimal digits, with or without dashes");
    if (!json_is(a->doc, offsets, JSON_ARRAY))
        return request_refuse(a, worker_bad_request,
                              "offsets is a list of offsets from the image's load address");
    bool is_found = images_borrow(a->symbols->images, &key, &loan, &status);
    bool ok = !request_refuse_unread(a, &status);
    if (!is_found)
        return ok ? request_refuse_image(a, &status) : false;
    const symbol_info *info = loan_info(&loan);
    json_put_str(a->out, "image", info->name);
    json_put_uuid(a->out, "uuid", &key.uuid);
    json_put_str(a->out, "arch", str_c(info->arch));
    json_put_bool(a->out, "has_debug_info", info->has_dwarf);
    ok = ok && reply_put_offsets(a, &loan, offsets);
    images_return(a->symbols->images, &loan);
    return ok;
}

/* ---- Names ---- */

static bool reply_take_style(answering *a, uint32_t *flags)
{
    uint32_t style = request_member(a, "style");
    *flags = json_equals(a->doc, style, "simplified") ? MACHSYM_DEMANGLE_SIMPLIFIED : 0;
    if (style == JSON_NONE || *flags != 0 || json_equals(a->doc, style, "full"))
        return true;
    return request_refuse(a, worker_bad_request, "style is one of full, simplified");
}

static bool reply_answer_demangle(answering *a)
{
    uint32_t names = request_member(a, "names");
    uint32_t at = JSON_NONE;
    uint32_t flags;
    resolve_budget left;
    text name = {0};
    text shown = {0};
    if (!reply_take_style(a, &flags))
        return false;
    if (!json_is(a->doc, names, JSON_ARRAY))
        return request_refuse(a, worker_bad_request, "names is a list of names");
    resolve_budget_begin(&left, &a->options->lookups.resolve.limit, a->doc->v[0].end);
    const char *between = "";
    text_c(a->out, ",\"names\":[");
    while (json_next(a->doc, names, &at) && resolve_budget_in_time(&left) && a->kind == NULL) {
        if (!json_is(a->doc, at, JSON_STRING))
            request_refuse(a, worker_bad_request, "a name is a text");
        name.len = shown.len = 0;
        json_unescape(&name, json_raw(a->doc, at));
        text_demangled(&shown, (machsym_str){name.v, name.len}, flags);
        text_c(a->out, between);
        text_json(a->out, (machsym_str){shown.v, shown.len});
        between = ",";
        resolve_budget_spend(&left, shown.len);
    }
    text_char(a->out, ']');
    text_free(&name);
    text_free(&shown);
    if (left.failure != NULL && a->kind == NULL)
        request_refuse(a, "limit", left.failure);
    return a->kind == NULL;
}

/* ---- Counts ---- */

static void reply_put_chunk_stats(answering *a, const worker_counts *done)
{
    chunk_counts chunks = chunk_cache_count(a->w->chunks);
    json_put_number(a->out, "chunks_asked", chunks.asked);
    json_put_number(a->out, "chunks_fetched", chunks.fetched);
    json_put_number(a->out, "chunks_forgotten", chunks.forgotten);
    json_put_number(a->out, "chunks_kept", chunks.count);
    json_put_number(a->out, "chunk_bytes", chunks.bytes);
    json_put_number(a->out, "needs", done->needs);
    json_put_number(a->out, "needs_failed", done->needs_failed);
    json_put_number(a->out, "needs_late", done->late);
}

static bool reply_answer_stats(answering *a)
{
    pthread_mutex_lock(&a->w->lock);
    worker_counts done = a->w->counts;
    images_counts former = a->w->former;
    pthread_mutex_unlock(&a->w->lock);
    images_counts images = images_count(a->symbols->images);
    text_c(a->out, ",\"stats\":{\"machsym\":");
    text_json(a->out, str_c(MACHSYM_VERSION));
    json_put_number(a->out, "requests", done.requests);
    json_put_number(a->out, "refused", done.refused);
    json_put_number(a->out, "images_asked", images.asked + former.asked);
    json_put_number(a->out, "images_opened", images.opened + former.opened);
    json_put_number(a->out, "images_closed", images.closed + former.closed);
    json_put_number(a->out, "images_open", images.open);
    json_put_number(a->out, "cache_bytes", images.bytes);
    json_put_number(a->out, "cache_max", a->options->cache);
    json_put_number(a->out, "cache_forgotten", images.forgotten + former.forgotten);
    if (a->w->chunks != NULL)
        reply_put_chunk_stats(a, &done);
    text_char(a->out, '}');
    return true;
}

/* ---- Symbols that changed ---- */

static bool reply_answer_reload(answering *a)
{
    text said = {0};
    text *before = say_to(&said);
    bool ok = worker_reload(a->w);
    say_to(before);
    if (!ok)
        request_refuse(a, "no_symbols", text_z(&said));
    else
        request_put_notes(a->out, &said);
    text_free(&said);
    return ok;
}

/* ---- Requests ---- */

static const request_kind frames_kind = {"frames", "id do uuid arch offsets load return_addresses",
                                         reply_answer_frames};
static const request_kind demangle_kind = {"demangle", "id do names style", reply_answer_demangle};
static const request_kind reload_kind = {"reload", "id do", reply_answer_reload};
static const request_kind stats_kind = {"stats", "id do", reply_answer_stats};

static const request_kind *const kinds[] = {
    &worker_crash_kind,   &worker_signature_kind, &frames_kind, &demangle_kind,       &worker_build_kind,
    &worker_profile_kind, &reload_kind,           &stats_kind,  &worker_missing_kind, &worker_search_kind,
};

/* What is shown of an unknown member: names have a few letters. */
enum { SHOWN_BYTES = 64 };

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* A misspelt member would be a wish that is not fulfilled. */
static bool reply_check_members(answering *a, const request_kind *kind)
{
    uint32_t at = JSON_NONE;
    const char *members = a->is_tool ? kind->members + strlen("id do ") : kind->members;
    while (json_next(a->doc, 0, &at)) {
        machsym_str rest = str_c(members);
        machsym_str word;
        bool is_known = false;
        while (!is_known && options_take_word(&rest, &word))
            is_known = str_equal(word, json_raw(a->doc, at));
        if (is_known)
            continue;
        word = json_raw(a->doc, at);
        text_c(&a->why, kind->name);
        text_c(&a->why, " has no member ");
        text_add(&a->why, word.ptr, word.len < SHOWN_BYTES ? word.len : SHOWN_BYTES);
        text_c(&a->why, "; it has ");
        return request_refuse(a, worker_bad_request, members);
    }
    return true;
}

/* The id as the request has it, so that the host finds its own. */
static bool reply_put_id(answering *a)
{
    uint32_t id = request_member(a, "id");
    machsym_str raw = json_raw(a->doc, id);
    uint64_t number;
    text t = {0};
    json_put_key(a->out, "id");
    if (json_is(a->doc, id, JSON_STRING)) {
        json_unescape(&t, raw);
        text_json(a->out, (machsym_str){t.v, t.len});
        text_free(&t);
        return true;
    }
    if (json_is(a->doc, id, JSON_NUMBER) && raw.ptr[0] != '-' && json_u64(a->doc, id, &number)) {
        text_dec(a->out, number);
        return true;
    }
    text_c(a->out, "null");
    return id == JSON_NONE ||
           request_refuse(a, worker_bad_request,
                          "id is a text, or a whole number from 0 to 18446744073709551615");
}

bool reply_as(answering *a, machsym_str name)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (str_is(name, kinds[i]->name))
            return reply_check_members(a, kinds[i]) && kinds[i]->answer(a);
    }
    text_c(&a->why, "do is one of ");
    for (size_t i = 0; i + 1 < KINDS; i++) {
        text_c(&a->why, kinds[i]->name);
        text_c(&a->why, ", ");
    }
    return request_refuse(a, worker_bad_request, kinds[KINDS - 1]->name);
}

/* ---- Lines ---- */

static void reply_begin(text *out, uint64_t number)
{
    json_begin(out, "worker");
    json_put_number(out, "line", number);
}

static void reply_put_error(text *out, const char *kind, const text *why)
{
    text_c(out, ",\"error\":{\"kind\":");
    text_json(out, str_c(kind));
    request_put_text(out, "what", why);
    text_c(out, "}}\n");
}

bool reply_is_blank(machsym_str s)
{
    size_t i = 0;
    while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t' || s.ptr[i] == '\r'))
        i++;
    return i == s.len;
}

static bool reply_parse_line(answering *a, json *doc, machsym_str line)
{
    json_error err = {"", 0};
    if (!json_parse(NULL, doc, line.ptr, line.len, 0, &err)) {
        text_c(&a->why, err.what);
        text_c(&a->why, ", at byte ");
        text_dec(&a->why, err.at);
        return request_refuse(a, "bad_json", " of the line");
    }
    machsym_str rest = {line.ptr + doc->v[0].end, line.len - doc->v[0].end};
    if (!json_is(doc, 0, JSON_OBJECT) || !reply_is_blank(rest))
        return request_refuse(a, "bad_json", "a line is one JSON object");
    return true;
}

bool reply_to_line(worker *w, machsym_str line, machsym_str bytes, uint64_t number, text *out)
{
    json doc = {0};
    answering a;
    memset(&a, 0, sizeof a);
    a.w = w;
    a.symbols = worker_hold(w);
    a.options = w->options;
    a.doc = &doc;
    a.bytes = bytes;
    a.out = out;
    reply_begin(out, number);
    bool ok = reply_parse_line(&a, &doc, line);
    if (ok)
        ok = reply_put_id(&a);
    else
        text_c(out, ",\"id\":null");
    size_t from = out->len;
    ok = ok && reply_as(&a, json_is(&doc, request_member(&a, "do"), JSON_STRING)
                                ? json_raw(&doc, request_member(&a, "do"))
                                : (machsym_str){NULL, 0});
    if (ok) {
        text_c(out, "}\n");
    } else {
        out->len = from; /* what was answered before something failed */
        reply_put_error(out, a.kind, &a.why);
    }
    json_free(&doc);
    text_free(&a.why);
    worker_release(w, a.symbols);
    return ok;
}

bool reply_refuse_long(const worker *w, uint64_t number, text *out)
{
    text why = {0};
    text_c(&why, "the line has more than ");
    text_dec(&why, w->options->max_request >> 20);
    text_c(&why, " MB; --max-request=MEGABYTES allows more");
    reply_begin(out, number);
    text_c(out, ",\"id\":null");
    reply_put_error(out, "too_long", &why);
    text_free(&why);
    return false;
}
