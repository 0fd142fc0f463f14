/* ==== >> cmd/worker/profile ====
 * Job: requests for the stacks of profilers.
 * Offers: the kind symbolicate.
 * Never: opens an image of its own.
 *
 * machsym worker: stacks in the JSON of Mozilla's symbolication API, /symbolicate/v5, which profilers
 * speak. */
#include "machsym.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/json.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/memory.h"
#include "../../../report/base/text.h"
#include "../../../report/model/redact.h"
#include "../../../report/model/status.h"
#include "do.h"
#include "../../symbols/frames.h"
#include "../../symbols/images.h"
#include "../../symbols/resolve.h"
#include "../../symbols/source.h"

#include <stdlib.h>

enum { PROFILE_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1, UUID_DIGITS = 32 };

typedef enum module_found { MODULE_NOT_ASKED = 0, MODULE_FOUND, MODULE_MISSING } module_found;

/* A pair of memoryMap. */
typedef struct profile_module {
    machsym_str name; /* as written, escapes and all */
    machsym_str id;
    image_key key;
    module_found found;
} profile_module;

/* One job. One image is on loan at a time: a thread has one loan of an image at most. */
typedef struct profile_job {
    answering *a;
    profile_module *modules;
    uint32_t count;
    uint32_t cap;
    resolve_budget *left;
    image_loan loan;
    uint32_t loaned; /* the module; JSON_NONE: none */
} profile_job;

/* ---- Modules ---- */

/* A breakpad id: the UUID, and the age after it, which Mach-O files do not have. */
static bool profile_parse_id(machsym_str id, machsym_uuid *uuid)
{
    return id.len >= UUID_DIGITS && parse_uuid_str((machsym_str){id.ptr, UUID_DIGITS}, uuid);
}

/* Takes a list of two values; returns false when it is another one. */
static bool profile_take_pair(const json *doc, uint32_t list, uint32_t *first, uint32_t *second)
{
    uint32_t at = JSON_NONE;
    if (!json_is(doc, list, JSON_ARRAY) || !json_next(doc, list, &at))
        return false;
    *first = at;
    if (!json_next(doc, list, &at))
        return false;
    *second = at;
    return !json_next(doc, list, &at);
}

static bool profile_take_modules(profile_job *job, uint32_t list)
{
    const json *doc = job->a->doc;
    uint32_t at = JSON_NONE;
    uint32_t name;
    uint32_t id;
    if (!json_is(doc, list, JSON_ARRAY))
        return request_refuse(job->a, worker_bad_request, "memoryMap is a list of [debug name, breakpad id]");
    while (json_next(doc, list, &at)) {
        if (!profile_take_pair(doc, at, &name, &id) || !json_is(doc, name, JSON_STRING) ||
            !json_is(doc, id, JSON_STRING))
            return request_refuse(job->a, worker_bad_request,
                                  "a module of memoryMap is [debug name, breakpad id], two texts");
        profile_module *module = mem_push(&job->modules, &job->count, &job->cap, sizeof *job->modules);
        module->name = json_raw(doc, name);
        module->id = json_raw(doc, id);
        module->key.has_uuid = profile_parse_id(module->id, &module->key.uuid);
    }
    return true;
}

static void profile_return_loan(profile_job *job)
{
    if (job->loaned != JSON_NONE)
        images_return(job->a->symbols->images, &job->loan);
    job->loaned = JSON_NONE;
}

/* Has the module on loan; returns false when there are no symbols of it, or the request is refused. */
static bool profile_loan_module(profile_job *job, uint32_t index)
{
    profile_module *module = &job->modules[index];
    image_status status;
    if (job->loaned == index)
        return true;
    if (module->found == MODULE_MISSING)
        return false;
    profile_return_loan(job);
    module->found = MODULE_MISSING;
    if (!module->key.has_uuid)
        return false;
    bool is_found = images_borrow(job->a->symbols->images, &module->key, &job->loan, &status);
    if (status.found == IMAGE_UNREACHED)
        request_refuse(job->a, request_kind_unreached(status.failure), status.failure);
    if (is_found)
        job->loaned = index; /* to be returned, refused or not */
    if (request_refuse_unread(job->a, &status) || !is_found)
        return false;
    module->found = MODULE_FOUND;
    return true;
}

/* Adds what the request wrote, "name" or "name/id". */
static void profile_put_module_name(text *out, const profile_module *module, bool with_id)
{
    text t = {0};
    json_unescape(&t, module->name);
    if (with_id) {
        text_char(&t, '/');
        json_unescape(&t, module->id);
    }
    text_json(out, (machsym_str){t.v, t.len});
    text_free(&t);
}

/* ---- Frames ---- */

static void profile_put_place(text *t, const machsym_frame *frame)
{
    text path = {0};
    if (!frame_has_line(frame))
        return;
    text_path(&path, &frame->file);
    request_put_text(t, "file", &path);
    json_put_number(t, "line", frame->line);
    text_free(&path);
}

static void profile_put_function(text *t, const machsym_frame *frame, const frame_style *style)
{
    text name = {0};
    frame_put_name(&name, frame, style);
    text_json(t, (machsym_str){name.v, name.len});
    text_free(&name);
}

/* The function that the code lies in, and what is inlined there, the innermost first. */
static void profile_put_calls(text *t, const machsym_frame *frames, size_t count, uint64_t addr,
                              const frame_style *style)
{
    const machsym_frame *real = &frames[count - 1];
    json_put_key(t, "function");
    profile_put_function(t, real, style);
    json_put_hex(t, "function_offset", addr - real->function_start);
    if (real->function_size > 0)
        json_put_hex(t, "function_size", real->function_size);
    profile_put_place(t, real);
    for (size_t i = 0; i + 1 < count; i++) {
        text_c(t, i == 0 ? ",\"inlines\":[" : ",");
        text_c(t, "{\"function\":");
        profile_put_function(t, &frames[i], style);
        profile_put_place(t, &frames[i]);
        text_c(t, frames[i].lacks_callers ? ",\"callers_left_out\":true}" : "}");
    }
    text_c(t, count > 1 ? "]" : "");
}

static void profile_put_lookup(profile_job *job, uint64_t offset, text *t)
{
    const resolve_options *how = &job->a->options->lookups.resolve;
    machsym_frame frames[PROFILE_FRAMES];
    frame_style style = how->style;
    uint64_t addr;
    style.source = loan_source(&job->loan);
    size_t count = loan_frames(&job->loan, 0, false, offset, false, frames, PROFILE_FRAMES, &addr);
    if (loan_failure(&job->loan) != NULL)
        request_refuse(job->a, request_kind_unreached(loan_failure(&job->loan)), loan_failure(&job->loan));
    else if (count > 0 && how->no_inline)
        profile_put_calls(t, frames + count - 1, 1, addr, &style);
    else if (count > 0)
        profile_put_calls(t, frames, count, addr, &style);
}

/* Returns false when the request is refused. */
static bool profile_put_frame(profile_job *job, uint32_t frame, uint64_t number)
{
    answering *a = job->a;
    uint32_t index;
    uint32_t value;
    uint64_t module;
    uint64_t offset;
    text t = {0};
    if (!profile_take_pair(a->doc, frame, &index, &value) || !json_u64(a->doc, index, &module) ||
        !json_u64(a->doc, value, &offset))
        return request_refuse(a, worker_bad_request,
                              "a frame is [module index, offset in the module], two numbers");
    if (module >= job->count && module != UINT64_MAX) /* -1 is code of no module */
        return request_refuse(a, worker_bad_request, "the module index of a frame is not in memoryMap");
    text_c(&t, "{\"frame\":");
    text_dec(&t, number);
    json_put_hex(&t, "module_offset", offset);
    json_put_key(&t, "module");
    if (module < job->count)
        profile_put_module_name(&t, &job->modules[module], false);
    else
        text_c(&t, "\"<unknown>\"");
    if (module < job->count && profile_loan_module(job, (uint32_t)module))
        profile_put_lookup(job, offset, &t);
    text_char(&t, '}');
    resolve_budget_spend(job->left, t.len);
    if (a->options->lookups.resolve.redact != NULL)
        redact_users(a->options->lookups.resolve.redact, (machsym_str){t.v, t.len}, a->out);
    else
        text_add(a->out, t.v, t.len);
    text_free(&t);
    return a->kind == NULL;
}

static bool profile_put_stacks(profile_job *job, uint32_t stacks)
{
    answering *a = job->a;
    uint32_t stack = JSON_NONE;
    if (!json_is(a->doc, stacks, JSON_ARRAY))
        return request_refuse(a, worker_bad_request, "stacks is a list of stacks, each a list of frames");
    text_c(a->out, "{\"stacks\":[");
    for (bool is_first = true; json_next(a->doc, stacks, &stack); is_first = false) {
        uint32_t frame = JSON_NONE;
        if (!json_is(a->doc, stack, JSON_ARRAY))
            return request_refuse(a, worker_bad_request, "a stack is a list of frames");
        text_c(a->out, is_first ? "[" : ",[");
        for (uint64_t number = 0; json_next(a->doc, stack, &frame); number++) {
            text_c(a->out, number > 0 ? "," : "");
            if (!profile_put_frame(job, frame, number))
                return false;
            if (!resolve_budget_in_time(job->left))
                return request_refuse(a, "limit", job->left->failure);
        }
        text_char(a->out, ']');
    }
    text_c(a->out, "],\"found_modules\":{");
    return true;
}

/* null: no frame lies in it. */
static void profile_put_modules(const profile_job *job)
{
    static const char *const words[] = {"null", "true", "false"};
    text *out = job->a->out;
    for (uint32_t i = 0; i < job->count; i++) {
        text_c(out, i > 0 ? "," : "");
        profile_put_module_name(out, &job->modules[i], true);
        text_char(out, ':');
        text_c(out, words[job->modules[i].found]);
    }
    text_c(out, "}}");
}

static bool profile_put_job(answering *a, uint32_t object, resolve_budget *left)
{
    profile_job job;
    memset(&job, 0, sizeof job);
    job.a = a;
    job.left = left;
    job.loaned = JSON_NONE;
    bool ok = profile_take_modules(&job, json_get(a->doc, object, "memoryMap")) &&
              profile_put_stacks(&job, json_get(a->doc, object, "stacks"));
    if (ok)
        profile_put_modules(&job);
    profile_return_loan(&job);
    free(job.modules);
    return ok;
}

static bool profile_answer(answering *a)
{
    uint32_t jobs = request_member(a, "jobs");
    uint32_t at = JSON_NONE;
    resolve_budget left;
    bool ok = true;
    bool is_first = true;
    resolve_budget_begin(&left, &a->options->lookups.resolve.limit, a->doc->v[0].end);
    text_c(a->out, ",\"results\":[");
    if (jobs == JSON_NONE) {
        ok = profile_put_job(a, 0, &left);
    } else if (!json_is(a->doc, jobs, JSON_ARRAY)) {
        ok = request_refuse(a, worker_bad_request, "jobs is a list of objects with memoryMap and stacks");
    }
    while (ok && json_next(a->doc, jobs, &at)) {
        text_c(a->out, is_first ? "" : ",");
        ok = profile_put_job(a, at, &left);
        is_first = false;
    }
    text_char(a->out, ']');
    return ok;
}

const request_kind worker_profile_kind = {"symbolicate", "id do jobs memoryMap stacks", profile_answer};
