/* Members of JSON; see json_put.h. */
#include "json_put.h"

void json_begin(text *t, const char *schema)
{
    text_c(t, "{\"schema\":\"");
    text_c(t, schema);
    text_c(t, "/" JSON_SCHEMA_VERSION "\"");
}

void json_put_key(text *t, const char *key)
{
    text_c(t, ",\"");
    text_c(t, key);
    text_c(t, "\":");
}

void json_put_str(text *t, const char *key, machsym_str value)
{
    json_put_key(t, key);
    if (value.len > 0)
        text_json(t, value);
    else
        text_c(t, "null");
}

void json_put_number(text *t, const char *key, uint64_t number)
{
    json_put_key(t, key);
    text_dec(t, number);
}

void json_put_hex(text *t, const char *key, uint64_t number)
{
    json_put_key(t, key);
    text_c(t, "\"0x");
    text_hex(t, number, 1);
    text_char(t, '"');
}

void json_put_hash(text *t, const char *key, uint64_t hash)
{
    json_put_key(t, key);
    text_char(t, '"');
    text_hex(t, hash, 16);
    text_char(t, '"');
}

void json_put_bool(text *t, const char *key, bool value)
{
    json_put_key(t, key);
    text_c(t, value ? "true" : "false");
}

void json_put_uuid(text *t, const char *key, const machsym_uuid *uuid)
{
    json_put_key(t, key);
    if (uuid == NULL) {
        text_c(t, "null");
        return;
    }
    text_char(t, '"');
    text_uuid(t, uuid);
    text_char(t, '"');
}

void json_one_line(text *t, size_t from)
{
    size_t to = from;
    for (size_t i = from; i < t->len; i++) {
        if (t->v[i] != '\n')
            t->v[to++] = t->v[i];
    }
    t->len = to;
    text_char(t, '\n');
}
