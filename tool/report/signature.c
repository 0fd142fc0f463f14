/* Signatures of reports; see summary.h. */
#include "stack.h"
#include "summary.h"

#include <string.h>

enum { SIGNATURE_FRAMES = 5 };

/* A name that is the same in the next build: without the numbers that compilers hand out at will. */
static machsym_str stable_name(machsym_str name)
{
    static const char *const tails[] = {".llvm.", ".cold.", " (.cold", ".resume.", ".destroy."};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
        name.len = str_find(name, tails[i]);
    return name;
}

static void add_to_signature(signature *out, machsym_str name, machsym_str image, bool in_text)
{
    text one = {0};
    if (name.len > 0) {
        text_str(&one, stable_name(name));
    } else {
        text_str(&one, image);
        text_c(&one, " (no name)");
    }
    machsym_str whole = {one.v, one.len};
    uint64_t hash = str_hash(whole);
    bool again = out->frame_count > 0 && out->frames[out->frame_count - 1] == hash; /* recursion */
    if (!again && out->frame_count < sizeof out->frames / sizeof out->frames[0]) {
        out->frames[out->frame_count++] = hash;
        if (in_text) {
            text_c(&out->text, out->text.len > 0 ? " | " : "");
            text_str(&out->text, whole);
        }
    }
    text_free(&one);
}

static void add_stack_to_signature(const report *r, const report_thread *thread, bool own, signature *out)
{
    unsigned most = sizeof out->frames / sizeof out->frames[0];
    for (uint32_t i = 0; i < thread->count && out->frame_count < most; i++) {
        const report_frame *frame = stack_frame(r, thread, i);
        if (own && !stack_is_own(r, frame))
            continue;
        for (uint32_t layer = 0; layer < stack_layers(frame); layer++)
            add_to_signature(out, stack_layer_name(r, frame, layer), stack_image_name(r, frame),
                             out->frame_count < SIGNATURE_FRAMES);
        if (!own && out->frame_count >= SIGNATURE_FRAMES)
            return;
    }
}

void report_signature(const report *r, signature *out)
{
    const report_thread *thread = stack_main(r);
    memset(out, 0, sizeof *out);
    if (thread != NULL) {
        add_stack_to_signature(r, thread, true, out);
        if (out->frame_count == 0)
            add_stack_to_signature(r, thread, false, out);
    }
    if (out->text.len == 0)
        text_c(&out->text, "(no stack)");
    out->hash = str_hash((machsym_str){out->text.v, out->text.len});
}
