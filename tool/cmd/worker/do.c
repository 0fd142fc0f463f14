/* What requests share; see do.h. */
#include "do.h"
#include "../../../report/base/json_put.h"
#include "../../base/readfile.h"
#include "../../symbols/source.h"

#include <stdlib.h>

const char worker_bad_request[] = "bad_request";
const char worker_unread_image[] = "unread_image";

bool request_refuse(answering *a, const char *kind, const char *what)
{
    a->kind = kind;
    text_c(&a->why, what);
    if (kind == worker_unread_image)
        text_c(&a->why, "; send the request again");
    return false;
}

uint32_t request_member(const answering *a, const char *key)
{
    return json_get(a->doc, 0, key);
}

void request_put_text(text *out, const char *key, const text *value)
{
    json_put_key(out, key);
    text_json(out, (machsym_str){value->v, value->len});
}

/* ---- Input ---- */

/* The request's own line could be read in place of a file, or a device without an end. input: NULL: it is
 * not read. */
static bool request_take_path(answering *a, const char *path, text *input)
{
    if (!a->options->paths)
        return request_refuse(a, worker_bad_request,
                              "path is taken only with --paths: send the bytes as base64");
    bool is_input = strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0;
    uint64_t most = a->options->max_request;
    const char *why = is_input ? "it is no file" : input != NULL ? file_read_most(input, path, most) : NULL;
    if (!is_input && input != NULL && input->len > most)
        why = "it is longer than --max-request";
    if (why == NULL)
        return true;
    text_c(&a->why, path);
    text_c(&a->why, ": ");
    return request_refuse(a, "no_file", why);
}

/* Takes the bytes that follow the line. */
static bool request_take_bytes(answering *a, uint32_t value, text *input)
{
    uint64_t len;
    if (!json_is(a->doc, value, JSON_NUMBER) || !json_u64(a->doc, value, &len) || len != a->bytes.len)
        return request_refuse(a, worker_bad_request,
                              "bytes is the first member, and the number of bytes that follow the line");
    text_str(input, a->bytes);
    return true;
}

bool request_take_input(answering *a, const char *what, const char *name, text *input, char **path)
{
    enum { NAMES = 4 };
    const char *names[NAMES] = {name != NULL ? name : "", "base64", "path", "bytes"};
    uint32_t value = JSON_NONE;
    unsigned which = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < NAMES; i++) {
        if (request_member(a, names[i]) == JSON_NONE)
            continue;
        value = request_member(a, names[i]);
        which = i;
        count++;
    }
    if (count == 1 && which == 3)
        return request_take_bytes(a, value, input);
    if (count != 1 || !json_is(a->doc, value, JSON_STRING)) {
        text_c(&a->why, what);
        text_c(&a->why, " is wanted as one of ");
        text_c(&a->why, names[0]);
        text_c(&a->why, name != NULL ? ", bytes, " : "");
        return request_refuse(a, worker_bad_request, "base64, path, a text");
    }
    json_unescape(input, json_raw(a->doc, value));
    if (which == 1 && !text_from_base64(input))
        return request_refuse(a, worker_bad_request, "base64 is no base64");
    if (which != 2)
        return true;
    char *named = str_copy_z((machsym_str){input->v, input->len});
    bool is_path = strlen(named) == input->len; /* no NUL in it */
    input->len = 0;
    bool ok = is_path ? request_take_path(a, named, path != NULL ? NULL : input)
                      : request_refuse(a, worker_bad_request, "path has a NUL");
    if (ok && path != NULL)
        *path = named;
    else
        free(named);
    return ok;
}

const char *request_kind_unreached(const char *why)
{
    return strcmp(why, symbol_no_memory) == 0 ? "memory" : "need";
}

bool request_refuse_unread(answering *a, const image_status *status)
{
    if (status->found == IMAGE_UNREACHED || status->unread == NULL)
        return false;
    text_c(&a->why, symbol_unread);
    request_refuse(a, worker_unread_image, status->unread);
    return true;
}

bool request_refuse_image(answering *a, const image_status *status)
{
    if (status->found == IMAGE_UNREACHED)
        return request_refuse(a, request_kind_unreached(status->failure), status->failure);
    if (status->found != IMAGE_BROKEN)
        return request_refuse(a, "no_image", "no file of symbols has this UUID; -d names where they are");
    text_c(&a->why, status->path);
    text_c(&a->why, ": ");
    return request_refuse(a, "damaged_image", status->why);
}

void request_put_notes(text *out, const text *said)
{
    machsym_str rest = {said->v, said->len};
    machsym_str line;
    const char *between = "";
    text_c(out, ",\"notes\":[");
    while (str_take_line(&rest, &line)) {
        text_c(out, between);
        text_json(out, line);
        between = ",";
    }
    text_char(out, ']');
}
