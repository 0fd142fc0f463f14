/* Reports of any bytes: parsed, and written without symbols, they must come back as they
 * were, but for protobuf, which comes back as text.
 * Run: build/fuzz/report_text -dict=fuzz/report.dict fuzz/corpus/report_text */
#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/model/report.h"
#include "../report/read/recognise.h"
#include "../report/write/call.h"
#include "../report/write/write.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frames(const report *r)
{
    for (uint32_t i = 0; i < r->frame_count; i++) {
        const report_frame *frame = &r->frames[i];
        if (frame->at > frame->end || frame->end > r->len || frame->symbol_at > frame->symbol_end ||
            frame->symbol_end > r->len || frame->thread >= r->thread_count ||
            (frame->image != REPORT_NONE && frame->image >= r->image_count))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_options how = {false, false, false, false};
    report r;
    text out = {0};
    char *copy = mem_alloc(size); /* exactly as long: a byte too far is seen */
    memcpy(copy, size > 0 ? (const char *)data : "", size);
    report_open(&r, copy, size, NULL, 0);
    check_frames(&r);
    write_same(&r, &how, &out);
    if (r.encoding != ENCODING_PLCRASH && (out.len != size || (size > 0 && memcmp(out.v, data, size) != 0)))
        abort();
    text_free(&out);
    report_close(&r);
    free(copy);
    return 0;
}
