/* Whose fault it is; see blame.h. */
#include "blame.h"
#include "../model/stack.h"

#include <string.h>

/* Rules use the image if its file was read, else what the report says of it. */
static machsym_str blame_owner_of(const report *r, const report_frame *frame, uint32_t layer)
{
    const report_call *call = frame->call_count > 0 ? &r->calls[frame->call + layer] : NULL;
    if (call != NULL && call->owner.len > 0)
        return call->owner;
    return r->rules->owner(r->rules->context, stack_image_name(r, frame), stack_layer_name(r, frame, layer),
                           call != NULL ? call->path : frame->where);
}

static void blame_set_place(const report *r, const report_frame *frame, uint32_t layer, blame *out,
                            text *room)
{
    const report_call *call = frame->call_count > 0 ? &r->calls[frame->call + layer] : NULL;
    room->len = 0;
    if (call != NULL && call->has_line) {
        text_str(room, str_base_name(call->path));
        text_char(room, ':');
        text_dec(room, call->line);
    } else if (call == NULL) {
        text_str(room, frame->where);
    }
    out->place = str_make(room->v, room->len);
}

bool blame_find(const report *r, blame *out, text *room)
{
    const report_thread *thread = stack_main(r);
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; thread != NULL && r->rules != NULL && i < thread->count; i++) {
        const report_frame *frame = stack_frame(r, thread, i);
        for (uint32_t layer = 0; layer < stack_layers(frame); layer++) {
            machsym_str owner = blame_owner_of(r, frame, layer);
            if (owner.len == 0)
                continue;
            out->owner = owner;
            out->image = stack_image_name(r, frame);
            out->name = stack_layer_name(r, frame, layer);
            blame_set_place(r, frame, layer, out, room);
            return true;
        }
    }
    return false;
}
