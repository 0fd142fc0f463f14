/* Reports of any bytes, gone through as the tool does: written without symbols, they must come back as they
 * were, but for binary ones, which come back as text.
 * Run: build/fuzz/report_text -dict=fuzz/report.dict fuzz/corpus/report_text */
#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/model/report.h"
#include "../report/walk.h"
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

static walk_step look_up(void *context, report *r, resolve_counts *counts)
{
    (void)context;
    check_frames(r);
    report_count_frames(r, counts);
    return WALK_ANSWER;
}

static bool answer(void *context, report *one, const resolve_counts *counts)
{
    (void)counts;
    *(bool *)context |= report_is_binary(one);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_options how = {false, false, false, false};
    report_walk walk;
    text out = {0};
    bool is_binary = false;
    char *copy = mem_alloc(size); /* exactly as long: a byte too far is seen */
    memcpy(copy, size > 0 ? (const char *)data : "", size);
    memset(&walk, 0, sizeof walk);
    walk.same = &how;
    walk.context = &is_binary;
    walk.look_up = look_up;
    walk.answer = answer;
    if (!walk_all(&walk, (machsym_str){copy, size}, &out))
        abort();
    if (!is_binary && (out.len != size || (size > 0 && memcmp(out.v, data, size) != 0)))
        abort();
    text_free(&out);
    free(copy);
    return 0;
}
