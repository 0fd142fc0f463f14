/* The writers: frames of any report get made-up calls, the last input byte says which; a report of nothing
 * but JSON must stay JSON, redacted too, and what is written must be readable again. Run:
 * build/fuzz/report_write -dict=fuzz/report.dict fuzz/corpus/report_write */
#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/model/parts.h"
#include "../report/model/redact.h"
#include "../report/model/report.h"
#include "../report/read/recognise.h"
#include "../report/read/split.h"
#include "../report/tell/signature.h"
#include "../report/tell/summary.h"
#include "../report/write/call.h"
#include "../report/write/write.h"
#include "one_json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_calls(report *r, unsigned seed)
{
    for (uint32_t i = 0; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        uint32_t count = (i + seed) % 4;
        if (frame->image == REPORT_NONE)
            continue;
        r->images[frame->image].missing += count == 0;
        if (count == 0 || frame->given_inline)
            continue;
        frame->call = r->call_count;
        frame->call_count = count;
        for (uint32_t k = 0; k < count; k++) {
            report_call *call = report_add_call(r);
            call->name = str_c((seed & 4) != 0 ? "a<b>::\"c\" \\ d&e" : "-[Player play:]");
            call->path = str_c("/src/some \"folder\"/player.mm");
            call->line = k;
            call->offset = i;
            call->has_line = (seed & 8) == 0;
            call->is_inline = k + 1 < count;
        }
    }
}

static void check_json(const report *r, const text *out)
{
    if (r->encoding == ENCODING_BYTES && is_json(r->input.ptr, r->input.len) && !is_json(out->v, out->len))
        abort();
}

/* What is printed of one report. */
static void print(const report *r, const write_options *how, bool colour, text *out)
{
    resolve_counts counts = {0};
    signature sign;
    out->len = 0;
    write_text(r, how, out);
    out->len = 0;
    write_json(r, how, &counts, out);
    if (!is_json(out->v, out->len))
        abort();
    out->len = 0;
    summary_put(out, r, &counts, colour);
    signature_of(r, NULL, &sign);
    text_free(&sign.words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned seed = size > 0 ? data[size - 1] : 0;
    write_options how = {(seed & 1) != 0, (seed & 2) != 0, (seed & 32) != 0, false};
    redactor key;
    redact_open(&key, "words");
    report r;
    report again;
    text out = {0};
    char *copy = mem_alloc(size);
    memcpy(copy, size > 0 ? (const char *)data : "", size);
    for (size_t at = 0; at < size; at += split_first_len((machsym_str){copy + at, size - at})) {
        if (split_first_len((machsym_str){copy + at, size - at}) == 0)
            abort();
    }
    report_open(&r, copy, size > 0 ? size - 1 : 0, NULL, 0);
    make_calls(&r, seed);
    write_same(&r, &how, &out);
    check_json(&r, &out);
    report_open(&again, out.v != NULL ? out.v : "", out.len, NULL, 0);
    report_close(&again);
    out.len = 0;
    redact_report(&key, (machsym_str){r.body, r.len}, &out, NULL);
    check_json(&r, &out);
    print(&r, &how, (seed & 16) != 0, &out);
    for (uint32_t i = 0; i < parts_count(&r) && r.part_count > 1; i++) {
        report part;
        parts_take(&r, i, &part);
        print(&part, &how, (seed & 16) != 0, &out);
        parts_free(&part);
    }
    text_free(&out);
    report_close(&r);
    free(copy);
    return 0;
}
