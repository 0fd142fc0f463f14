/* ==== >> base/json ====
 * Job: reads JSON (RFC 8259) in place: every value keeps where it stands in the input.
 * Offers: json_parse, json_parse_cut, json_free, json_get, json_next, json_is, json_equals, json_true,
 * json_raw, json_u64, json_unescape, json_unescape_one, text_utf8.
 * Never: changes the input.
 *
 * A JSON reader (RFC 8259) for texts that are edited in place: every value keeps where it stands in the
 * input. */
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
    JSON_KEY, /* of a member; its value is the next token */
    JSON_STRING,
    JSON_NUMBER,
    JSON_LITERAL /* true, false, null */
} json_type;

/* A value, or the key of a member. */
typedef struct json_token {
    uint32_t at;     /* offset of its first byte; of a string, of the opening quote */
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
    bool is_cut; /* the text ends inside the value; what was not whole is left out */
} json;

/* Why a text is no JSON. */
typedef struct json_error {
    const char *what;
    size_t at;
} json_error;

/* Parses the value that begins at `at`, after spaces; what follows it is left alone. The input must stay
 * where it is, and be shorter than 4 GB. Linear in the length of the value. Returns false and err; doc is
 * then empty. */
bool json_parse(mem_source *memory, json *doc, const char *input, size_t len, size_t at, json_error *err);
/* The same of a value in which the text ends: doc has what is whole. An object in which it ends is left out,
 * unless it is the root or has an array. Returns false when the value is whole, or wrong in another way. */
bool json_parse_cut(mem_source *memory, json *doc, const char *input, size_t len, size_t at);
void json_free(json *doc);

/* The value of a member; JSON_NONE when there is none or the token is no object. */
uint32_t json_get(const json *doc, uint32_t object, const char *key);
/* Steps through the members' keys or an array's elements; *at JSON_NONE begins. Returns false at the end. */
bool json_next(const json *doc, uint32_t container, uint32_t *at);
bool json_is(const json *doc, uint32_t token, json_type type);
/* Whether a key or string is written so, without escapes. */
bool json_equals(const json *doc, uint32_t token, const char *c_string);
bool json_true(const json *doc, uint32_t token);
/* The token as written; strings without their quotes, escapes as they are. Empty for JSON_NONE. */
machsym_str json_raw(const json *doc, uint32_t token);
/* A number as written in decimal, or a string with "0x..." or decimal digits; negative ones as two's
 * complement. */
bool json_u64(const json *doc, uint32_t token, uint64_t *out);
/* Appends the bytes a string stands for. */
void json_unescape(text *t, machsym_str raw);
/* The same of the escape whose letter stands at i; returns the index after it. */
size_t json_unescape_one(text *t, machsym_str raw, size_t i);
/* Appends a character, or a lone surrogate, as UTF-8 has it. */
void text_utf8(text *t, uint32_t c);

#endif
