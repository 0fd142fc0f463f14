/* Frames as text; see frames.h. */
#include "frames.h"

bool frame_has_line(const machsym_frame *frame)
{
    return frame->line_source != MACHSYM_SOURCE_NONE && frame->file.name.len != 0;
}

void frame_put_name(text *t, const machsym_frame *frame, const frame_style *style)
{
    if (style->raw_names || style->source == NULL || !symbol_source_name(style->source, frame, style, t))
        symbol_spell(t, frame, style);
}

void frame_put_file(text *t, const machsym_frame *frame, bool full_path)
{
    if (full_path) {
        text_path(t, &frame->file);
        return;
    }
    text_base_name(t, frame->file.name);
}

void frame_put_json(text *t, const machsym_frame *frame, uint64_t addr, const frame_style *style)
{
    text part = {0};
    frame_put_name(&part, frame, style);
    text_c(t, "{\"name\":");
    text_json(t, (machsym_str){part.v, part.len});
    text_c(t, ",\"linkage_name\":");
    text_json(t, frame->linkage_name);
    part.len = 0;
    text_path(&part, &frame->file);
    text_c(t, ",\"file\":");
    text_json(t, (machsym_str){part.v, part.len});
    text_c(t, ",\"line\":");
    text_dec(t, frame->line);
    text_c(t, ",\"column\":");
    text_dec(t, frame->column);
    text_c(t, frame->is_inline ? ",\"inline\":true" : ",\"inline\":false");
    text_c(t, frame->lacks_callers ? ",\"callers_left_out\":true" : "");
    text_c(t, ",\"offset\":");
    text_dec(t, addr - frame->function_start);
    text_c(t, ",\"name_source\":\"");
    text_c(t, machsym_source_name(frame->name_source));
    text_c(t, "\",\"line_source\":\"");
    text_c(t, machsym_source_name(frame->line_source));
    text_c(t, "\"}");
    text_free(&part);
}
