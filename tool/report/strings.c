/* Reports inside strings of JSON documents: of a tracker's export, of a crash service, of Apple's own. */
#include "scan.h"

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

/* "3   demo   0x0000000102a30a7c demo + 2684": an element of callStackSymbols. */
static bool is_frame(const json *doc, uint32_t token)
{
    return json_is(doc, token, JSON_STRING) && text_is_numbered(json_raw(doc, token));
}

/* A stack of which each frame is a string: in the shadow their quotes become the ends of lines. */
static void parse_array(report *r, uint32_t doc_index, uint32_t array)
{
    const json_token *whole = &r->docs[doc_index].v[array];
    const json *doc = &r->docs[doc_index];
    size_t lo = whole->at;
    size_t hi = whole->end;
    uint32_t at = JSON_NONE;
    r->shadow[lo] = r->shadow[hi - 1] = ' ';
    while (json_next(doc, array, &at)) {
        const json_token *string = &doc->v[at];
        if (string->type != JSON_STRING)
            continue;
        plain_escapes(r, string->at + 1, string->end - 1);
        r->shadow[string->at] = r->shadow[string->end - 1] = '\n';
        for (size_t i = string->end; i < hi && r->shadow[i] != '"'; i++)
            r->shadow[i] = r->shadow[i] == ',' ? ' ' : r->shadow[i];
    }
    report_parse_text(r, lo, hi, ESCAPE_JSON);
}

bool report_parse_strings(report *r, uint32_t doc_index)
{
    uint32_t frames = r->frame_count;
    for (uint32_t i = 0; i < r->docs[doc_index].count; i++) {
        const json *doc = &r->docs[doc_index];
        if (json_is(doc, i, JSON_ARRAY) && is_frame(doc, i + 1)) {
            uint32_t next = doc->v[i].next;
            parse_array(r, doc_index, i);
            i = next - 1;
        } else if (json_is(doc, i, JSON_STRING) && may_hold_stack(json_raw(doc, i))) {
            report_parse_string(r, doc_index, i);
        }
    }
    if (r->frame_count == frames)
        return false;
    r->kind = r->kind == REPORT_UNKNOWN ? REPORT_STRINGS : r->kind;
    return true;
}
