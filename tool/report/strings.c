/* Reports inside strings of JSON documents: of a tracker's export, of a crash service, of Apple's own. */
#include "report.h"

#include <string.h>

/* Makes the escapes of a JSON string readable in the shadow: two bytes stay two bytes. */
static void plain_escapes(report *r, size_t lo, size_t hi)
{
    for (size_t i = lo; i + 1 < hi; i++) {
        if (r->shadow[i] != '\\')
            continue;
        char c = r->shadow[i + 1];
        r->shadow[i] = ' ';
        r->shadow[++i] = c == 'n' ? '\n' : c == 't' || c == 'r' ? ' ' : c;
    }
}

void report_parse_string(report *r, uint32_t doc, uint32_t token)
{
    const json_token *string = &r->docs[doc].v[token];
    plain_escapes(r, string->at + 1, string->end - 1);
    report_parse_text(r, string->at + 1, string->end - 1, ESCAPE_JSON);
}

/* Of several lines, with an address. */
static bool may_hold_stack(machsym_str raw)
{
    size_t line = str_find(raw, "\\n");
    return line < raw.len && str_find(raw, "0x") < raw.len &&
           str_find((machsym_str){raw.ptr + line + 1, raw.len - line - 1}, "\\n") < raw.len - line - 1;
}

bool report_parse_strings(report *r, uint32_t doc_index)
{
    uint32_t frames = r->frame_count;
    for (uint32_t i = 0; i < r->docs[doc_index].count; i++) {
        const json *doc = &r->docs[doc_index];
        if (json_is(doc, i, JSON_STRING) && may_hold_stack(json_raw(doc, i)))
            report_parse_string(r, doc_index, i);
    }
    if (r->frame_count == frames)
        return false;
    r->kind = r->kind == REPORT_UNKNOWN ? REPORT_STRINGS : r->kind;
    return true;
}
