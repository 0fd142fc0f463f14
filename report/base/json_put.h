/* ==== >> base/json_put ====
 * Job: members of the tool's own JSON, which docs/json.md describes.
 * Offers: json_begin, json_put_key, json_put_str, json_put_number, json_put_hex, json_put_hash,
 * json_put_bool, json_put_uuid, json_one_line.
 * Never: reads JSON. */
#ifndef MACHSYM_TOOL_JSON_PUT_H
#define MACHSYM_TOOL_JSON_PUT_H

#include "machsym.h"
#include "text.h"

/* The version of all schemas. It changes when a member is removed or changes its meaning. New members do not
 * change it. */
#define JSON_SCHEMA_VERSION "1"

/* Begins an object with its schema. */
void json_begin(text *t, const char *schema);
/* Add a member: a comma, the key and the value. In an object without a schema, write the first member by
 * hand, because it has no comma. */
void json_put_key(text *t, const char *key);
void json_put_str(text *t, const char *key, machsym_str value); /* null if the value is empty */
void json_put_number(text *t, const char *key, uint64_t number);
void json_put_hex(text *t, const char *key, uint64_t number); /* "0x..." */
void json_put_hash(text *t, const char *key, uint64_t hash);  /* 16 digits, no 0x */
void json_put_bool(text *t, const char *key, bool value);
void json_put_uuid(text *t, const char *key, const machsym_uuid *uuid); /* null for NULL */
/* Puts a document on one line: removes the line ends between its members. */
void json_one_line(text *t, size_t from);

#endif
