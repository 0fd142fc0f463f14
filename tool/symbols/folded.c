/* Functions that share their code; see folded.h. */
#include "folded.h"
#include "frames.h"

/* Whom they are asked of, and how they are shown. */
typedef struct folded_asked {
    symbol_source *source;
    const frame_style *style;
} folded_asked;

static size_t folded_next(void *context, uint64_t addr, machsym_cursor *at, machsym_frame *frames, size_t cap)
{
    const folded_asked *asked = context;
    return symbol_source_next_folded(asked->source, addr, at, frames, cap);
}

static void folded_put_name(void *context, const machsym_frame *frame, text *t)
{
    const folded_asked *asked = context;
    frame_put_name(t, frame, asked->style);
}

void folded_find(symbol_source *source, uint64_t addr, const machsym_frame *own, const frame_style *style,
                 shared_list *list)
{
    folded_asked context = {source, style};
    const shared_asked asked = {&context, folded_next, folded_put_name};
    shared_find(&asked, addr, own, list);
}

void folded_put_json(text *t, const shared_list *list, uint64_t addr, const frame_style *style)
{
    if (list->count == 0)
        return;
    text_c(t, ",\"folded\":[");
    for (size_t i = 0; i < list->count; i++) {
        text_c(t, i > 0 ? "," : "");
        frame_put_json(t, &list->v[i].frame, addr, style);
    }
    text_char(t, ']');
}
