/* What the targets of reports ask of JSON that was written. */
#ifndef MACHSYM_FUZZ_ONE_JSON_H
#define MACHSYM_FUZZ_ONE_JSON_H
#include "../report/base/json.h"

/* Whether the whole text is one JSON value. */
static bool is_json(const char *v, size_t len)
{
    json doc;
    json_error err;
    bool ok = json_parse(NULL, &doc, v, len, 0, &err);
    for (size_t at = ok ? doc.v[0].end : 0; ok && at < len; at++)
        ok = v[at] == ' ' || v[at] == '\n' || v[at] == '\r' || v[at] == '\t';
    json_free(&doc);
    return ok;
}

#endif
