/* ==== >> cmd/worker/search ====
 * Job: requests for functions by a piece of their name.
 * Offers: the kind search.
 * Never: opens an image of its own.
 *
 * machsym worker: where functions of an image begin whose names have a text in them. */
#include "machsym.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/json.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/text.h"
#include "../../../report/model/redact.h"
#include "../../../report/model/status.h"
#include "do.h"
#include "../../symbols/frames.h"
#include "../../symbols/images.h"
#include "../../symbols/resolve.h"
#include "../../symbols/search.h"
#include "../../symbols/source.h"

#include <stdlib.h>
#include <string.h>

/* How many functions are told without `limit`, and with it at most: more are of no use. */
enum { LISTED = 50, MAX_LISTED = 10000, FIND_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1 };

/* What a request asks for. */
typedef struct finding {
    image_key key;
    text image; /* the name of the image */
    text name;
    uint64_t limit;
} finding;

static bool find_take_limit(answering *a, finding *f)
{
    uint32_t limit = request_member(a, "limit");
    f->limit = LISTED;
    if (limit == JSON_NONE)
        return true;
    if (json_is(a->doc, limit, JSON_NUMBER) && json_u64(a->doc, limit, &f->limit) && f->limit > 0 &&
        f->limit <= MAX_LISTED)
        return true;
    return request_refuse(a, worker_bad_request, "limit is a number from 1 to 10000");
}

/* An image by its UUID, or by its name where there is one file of it. */
static bool find_take_request(answering *a, finding *f)
{
    uint32_t uuid = request_member(a, "uuid");
    uint32_t image = request_member(a, "image");
    uint32_t name = request_member(a, "name");
    f->key.has_uuid =
        json_is(a->doc, uuid, JSON_STRING) && parse_uuid_str(json_raw(a->doc, uuid), &f->key.uuid);
    if (uuid != JSON_NONE && !f->key.has_uuid)
        return request_refuse(a, worker_bad_request,
                              "uuid has 32 hexadecimal digits, with or without dashes");
    if (json_is(a->doc, image, JSON_STRING))
        json_unescape(&f->image, json_raw(a->doc, image));
    if (!f->key.has_uuid && f->image.len == 0)
        return request_refuse(a, worker_bad_request, "uuid or image tells in which image to search");
    f->key.any_build = !f->key.has_uuid;
    f->key.name = (machsym_str){f->image.v, f->image.len};
    f->key.arch = json_raw(a->doc, request_member(a, "arch"));
    if (json_is(a->doc, name, JSON_STRING))
        json_unescape(&f->name, json_raw(a->doc, name));
    if (f->name.len == 0)
        return request_refuse(a, worker_bad_request, "name is a text that the names have in them");
    return find_take_limit(a, f);
}

/* {"offset":..., "name":..., "file":..., "line":...} of the function that begins at an address of the
 * file. */
static void find_put_function(answering *a, const image_loan *loan, uint64_t offset, text *out)
{
    machsym_frame frames[FIND_FRAMES];
    frame_style style = a->options->lookups.resolve.style;
    text part = {0};
    uint64_t addr;
    style.source = loan_source(loan);
    size_t count = loan_frames(loan, 0, false, offset, false, frames, FIND_FRAMES, &addr);
    if (count == 0)
        return;
    const machsym_frame *real = &frames[count - 1];
    text_c(out, out->len > 0 ? ",{\"offset\":\"0x" : "{\"offset\":\"0x");
    text_hex(out, offset, 1);
    text_c(out, "\",\"name\":");
    frame_put_name(&part, real, &style);
    text_json(out, (machsym_str){part.v, part.len});
    text_c(out, ",\"linkage_name\":");
    text_json(out, real->linkage_name);
    part.len = 0;
    text_path(&part, &real->file);
    json_put_str(out, "file", (machsym_str){part.v, frame_has_line(real) ? part.len : 0});
    json_put_number(out, "line", frame_has_line(real) ? real->line : 0);
    json_put_str(out, "name_source", str_c(machsym_source_name(real->name_source)));
    text_char(out, '}');
    text_free(&part);
}

static void find_put_all(answering *a, const finding *f, const image_loan *loan, resolve_budget *left)
{
    const redactor *redact = a->options->lookups.resolve.redact;
    const symbol_info *info = loan_info(loan);
    search_result found;
    text t = {0};
    search_names(loan_source(loan), str_make(f->name.v, f->name.len), left, &found);
    for (size_t i = 0; i < found.count && i < f->limit && resolve_budget_in_time(left); i++) {
        find_put_function(a, loan, found.v[i] - info->text_addr, &t);
        resolve_budget_spend(left, t.len);
    }
    json_put_number(a->out, "found", found.count);
    text_c(a->out, ",\"functions\":[");
    if (redact != NULL)
        redact_users(redact, (machsym_str){t.v, t.len}, a->out);
    else
        text_add(a->out, t.v, t.len);
    text_char(a->out, ']');
    free(found.v);
    text_free(&t);
}

static bool find_in_image(answering *a, const finding *f)
{
    image_loan loan;
    image_status status;
    resolve_budget left;
    bool is_found = images_borrow(a->symbols->images, &f->key, &loan, &status);
    bool ok = !request_refuse_unread(a, &status);
    if (!is_found)
        return ok ? request_refuse_image(a, &status) : false;
    const symbol_info *info = loan_info(&loan);
    json_put_str(a->out, "image", info->name);
    json_put_uuid(a->out, "uuid", info->has_uuid ? &info->uuid : NULL);
    json_put_str(a->out, "arch", str_c(info->arch));
    resolve_budget_begin(&left, &a->options->lookups.resolve.limit, a->doc->v[0].end);
    if (ok && symbol_source_map(loan_source(&loan)) == NULL &&
        symbol_source_session(loan_source(&loan)) == NULL)
        ok = request_refuse(a, "no_symbols",
                            "the host has the image in chunks, which are found by address only");
    else if (ok)
        find_put_all(a, f, &loan, &left);
    if (ok && left.failure != NULL)
        ok = request_refuse(a, "limit", left.failure);
    images_return(a->symbols->images, &loan);
    return ok;
}

static bool find_answer(answering *a)
{
    finding f;
    memset(&f, 0, sizeof f);
    bool ok = find_take_request(a, &f) && find_in_image(a, &f);
    text_free(&f.image);
    text_free(&f.name);
    return ok;
}

const request_kind worker_search_kind = {"search", "id do uuid image arch name limit", find_answer};
