/* ==== >> base/json ====
 * Job: reads JSON (RFC 8259) in place: every value keeps its place in the input.
 * Offers: json_parse, json_parse_cut, json_free, json_get, json_next, json_is, json_equals, json_true,
 * json_raw, json_u64, json_unescape, json_unescape_one, text_utf8.
 * Never: changes the input.
 *
 * A JSON reader (RFC 8259) for texts that are edited in place. */
#ifndef MACHSYM_TOOL_JSON_H
#define MACHSYM_TOOL_JSON_H

#include "machsym.h"
#include "memory.h"
#include "text.h"

/* Deeper nesting is refused: MetricKit nests two levels a frame and stacks end at 512 frames. */
enum { JSON_MAX_DEPTH = 4096 };
#define JSON_NONE UINT32_MAX

typedef enum json_type {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_KEY, /* of a member; the next token is its value */
    JSON_STRING,
    JSON_NUMBER,
    JSON_LITERAL /* true, false, null */
} json_type;

/* A value, or the key of a member. */
typedef struct json_token {
    uint32_t at;     /* offset of its first byte; for a string, of the opening quote */
    uint32_t end;    /* offset past its last byte */
    uint32_t next;   /* index of the first token that is not inside this one */
    uint32_t parent; /* index of the object or array; JSON_NONE for the root */
    json_type type;
} json_token;

/* A parsed value with everything inside it; v[0] is the root. */
typedef struct json {
    const char *input;
    json_token *v;
    uint32_t count;
    uint32_t cap;
    mem_source *memory;
    bool is_cut; /* the text ends inside the value; incomplete values are left out */
} json;

/* Why a text is not JSON. */
typedef struct json_error {
    const char *what;
    size_t at;
} json_error;

/* Parses the value that begins at `at`, after spaces. Text after the value is ignored. The input must not
 * move, and must be shorter than 4 GB. The time is linear in the length of the value. On error, returns false
 * and sets err; doc is empty then. */
bool json_parse(mem_source *memory, json *doc, const char *input, size_t len, size_t at, json_error *err);
/* Parses a value that the text cuts off. doc has all complete values. An incomplete object is left out,
 * unless it is the root or contains an array. Returns false if the value is complete, or has another
 * error. */
bool json_parse_cut(mem_source *memory, json *doc, const char *input, size_t len, size_t at);
void json_free(json *doc);

/* Returns the value of a member; JSON_NONE if the member is absent or the token is not an object. */
uint32_t json_get(const json *doc, uint32_t object, const char *key);
/* Steps through the keys of an object or the elements of an array. Set *at to JSON_NONE before the first
 * call. Returns false at the end. */
bool json_next(const json *doc, uint32_t container, uint32_t *at);
bool json_is(const json *doc, uint32_t token, json_type type);
/* Whether a key or string equals the text and has no escapes. */
bool json_equals(const json *doc, uint32_t token, const char *c_string);
bool json_true(const json *doc, uint32_t token);
/* Returns the token as written. Strings come without quotes, and with their escapes. Empty for JSON_NONE. */
machsym_str json_raw(const json *doc, uint32_t token);
/* Reads a decimal number, or a string with "0x..." or decimal digits. Negative numbers become two's
 * complement. */
bool json_u64(const json *doc, uint32_t token, uint64_t *out);
/* Appends the unescaped bytes of a string. */
void json_unescape(text *t, machsym_str raw);
/* Appends what one escape stands for; i is the index of its letter. Returns the index after the escape. */
size_t json_unescape_one(text *t, machsym_str raw, size_t i);
/* Appends a character, or a lone surrogate, in UTF-8. */
void text_utf8(text *t, uint32_t c);

#endif
