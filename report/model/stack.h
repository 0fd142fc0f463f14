/* ==== >> model/stack ====
 * Job: the stack of a report that shows what happened, and the names on it.
 * Offers: stack_main, stack_count, stack_frame, stack_is_crash, stack_is_same, stack_is_own, stack_layers,
 * stack_layer_name, stack_image_name.
 * Never: looks an address up. */
#ifndef MACHSYM_TOOL_STACK_H
#define MACHSYM_TOOL_STACK_H

#include "machsym.h"
#include "report.h"

/* The stack that shows what happened: the exception's if it was thrown, else the crashed thread, else the
 * first; NULL: no stack. */
const report_thread *stack_main(const report *r);
/* How many frames it has: in a tree of samples, those of its heaviest path. */
uint32_t stack_count(const report_thread *thread);
/* Returns the frame that is this many steps below the top. */
const report_frame *stack_frame(const report *r, const report_thread *thread, uint32_t step);
/* Whether the report is of a crash, and not of a hang or the like. */
bool stack_is_crash(const report *r);
/* Whether two stacks have equal addresses. */
bool stack_is_same(const report *r, const report_thread *a, const report_thread *b);
/* Whether a frame is in the app's own code. */
bool stack_is_own(const report *r, const report_frame *frame);
/* How many functions a frame stands for: the inlined calls and the real one; 1 if nothing was found. */
uint32_t stack_layers(const report_frame *frame);
machsym_str stack_layer_name(const report *r, const report_frame *frame, uint32_t layer);
machsym_str stack_image_name(const report *r, const report_frame *frame);

#endif
