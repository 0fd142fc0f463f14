/* ==== >> cmd/worker/do ====
 * Job: what requests share: their members, inputs and errors.
 * Offers: answering, request_kind; request_refuse, request_member, request_refuse_unread,
 * request_refuse_image, request_take_input, request_put_notes.
 * Never: knows a kind of request. */
#ifndef MACHSYM_TOOL_CMD_WORKER_DO_H
#define MACHSYM_TOOL_CMD_WORKER_DO_H

#include "machsym.h"
#include "../../../report/base/json.h"
#include "../../../report/base/text.h"
#include "../../../report/model/status.h"
#include "state.h"

/* One request while it is answered. */
typedef struct answering {
    worker *w;
    worker_symbols *symbols;
    const worker_options *options;
    const json *doc;
    machsym_str bytes; /* that follow the line */
    text *out;
    text why;         /* it is refused: what is wrong, and what to do */
    const char *kind; /* of the error; NULL: none */
    /* Asked as a tool: the request has no id and no do, and of a report it wants a brief if it does not say
     * what. */
    bool is_tool;
} answering;

/* The kind of an error: a member, or a part of it, is not what it should be. */
extern const char worker_bad_request[];

/* Each returns false when the request is refused, with a->kind and a->why. */
bool request_refuse(answering *a, const char *kind, const char *what);
/* The kind of an error that another try may not have: chunks that could not be had, or memory. */
const char *request_kind_unreached(const char *why);
/* The kind of an error that another try may not have: the system failed to read a file of symbols. */
extern const char worker_unread_image[];
/* Whether the answer would lack what a file of the image has that could not be read: the request is
 * refused. */
bool request_refuse_unread(answering *a, const image_status *status);
/* Refuses a request about an image that no file answers for. */
bool request_refuse_image(answering *a, const image_status *status);
/* The bytes that the request is about, in one of the members name, base64 and path, or after the line, as bytes
 * says. name: the member that holds text, or NULL. path: if not NULL, receives the path (malloc) and the file
 * is not read. what: what the bytes are. */
bool request_take_input(answering *a, const char *what, const char *name, text *input, char **path);

/* The value of a member of the request; JSON_NONE when it has none. */
uint32_t request_member(const answering *a, const char *key);
void request_put_text(text *out, const char *key, const text *value);

/* The messages that came while the request was answered. */
void request_put_notes(text *out, const text *said);

/* What requests can ask for. */
typedef struct request_kind {
    const char *name;
    const char *members; /* that it may have, with blanks between; the first are id and do */
    bool (*answer)(answering *a);
} request_kind;

#endif
