/* The JSON reader: whatever it accepts has tokens in order, each inside its parent; strings unescape within
 * bounds. Run: build/fuzz/report_json -dict=fuzz/report.dict fuzz/corpus/report_json */
#include "../report/base/json.h"
#include "../report/base/memory.h"
#include "../report/base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_token(const json *doc, uint32_t i, size_t size)
{
    const json_token *t = &doc->v[i];
    if (t->at > t->end || t->end > size || t->next <= i || t->next > doc->count)
        abort();
    if (i == 0 ? t->parent != JSON_NONE : t->parent >= i)
        abort();
    if (i > 0 &&
        (t->at < doc->v[t->parent].at || t->end > doc->v[t->parent].end || t->next > doc->v[t->parent].next))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json doc;
    json_error err = {NULL, 0};
    text plain = {0};
    uint64_t number;
    char *copy = mem_alloc(size);
    memcpy(copy, size > 0 ? (const char *)data : "", size);
    if (!json_parse(NULL, &doc, copy, size, 0, &err)) {
        if (err.what == NULL || err.at > size || doc.count != 0)
            abort();
        free(copy);
        return 0;
    }
    for (uint32_t i = 0; i < doc.count; i++) {
        uint32_t at = JSON_NONE;
        check_token(&doc, i, size);
        json_unescape(&plain, json_raw(&doc, i));
        json_u64(&doc, i, &number);
        json_get(&doc, i, "frames");
        if (i < 64) {
            while (json_next(&doc, i, &at)) {
                if (doc.v[at].parent != i)
                    abort();
            }
        }
    }
    text_free(&plain);
    json_free(&doc);
    free(copy);
    return 0;
}
