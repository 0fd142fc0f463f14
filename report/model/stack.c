/* The stack that shows what happened; see stack.h. */

#include "stack.h"
#include "../base/digits.h"
#include <string.h>

/* If a report has no image list, frames with a source line and frames outside the system's images are the
 * app's. */
bool stack_is_own(const report *r, const report_frame *frame)
{
    if (frame->image != REPORT_NONE)
        return !r->images[frame->image].is_system;
    return frame->given_line || !report_has_system_name(frame->image_name);
}

/* How many functions a frame stands for: the inlined calls and the real one; 1 if nothing was found. */
uint32_t stack_layers(const report_frame *frame)
{
    return frame->call_count > 0 ? frame->call_count : 1;
}

machsym_str stack_layer_name(const report *r, const report_frame *frame, uint32_t layer)
{
    return frame->call_count > 0 ? r->calls[frame->call + layer].name : frame->name;
}

machsym_str stack_image_name(const report *r, const report_frame *frame)
{
    return frame->image != REPORT_NONE ? r->images[frame->image].name : frame->image_name;
}

/* The stack that shows what happened: the exception's if it was thrown, else the crashed thread, else the
 * first. */
const report_thread *stack_main(const report *r)
{
    const report_thread *crashed = NULL;
    uint64_t number = UINT64_MAX;
    if (!str_number_after(r->facts[FACT_CRASHED_THREAD], "", &number))
        number = UINT64_MAX;
    for (uint32_t i = 0; i < r->thread_count; i++) {
        const report_thread *thread = &r->threads[i];
        if (thread->is_echo)
            continue;
        if (thread->kind == THREAD_EXCEPTION && thread->count > 0)
            return thread;
        if (thread->count > 0 &&
            (crashed == NULL || (!crashed->crashed && (thread->crashed || thread->number == number))))
            crashed = thread;
    }
    return crashed;
}

/* How many frames it has: in a tree of samples, those of its heaviest path. */
uint32_t stack_count(const report_thread *thread)
{
    return thread->path > 0 ? thread->path : thread->count;
}

bool stack_is_same(const report *r, const report_thread *a, const report_thread *b)
{
    bool is_same = a->count > 0 && a->count == b->count;
    for (uint32_t i = 0; is_same && i < a->count; i++)
        is_same = r->frames[a->first + i].addr == r->frames[b->first + i].addr;
    return is_same;
}

bool stack_is_crash(const report *r)
{
    return r->facts[FACT_EVENT].len == 0 || r->facts[FACT_EXCEPTION].len > 0 || r->kind == REPORT_PANIC;
}

/* The frame that is this many steps below the top. */
const report_frame *stack_frame(const report *r, const report_thread *thread, uint32_t step)
{
    return &r->frames[thread->first + (thread->callers_first ? stack_count(thread) - 1 - step : step)];
}
