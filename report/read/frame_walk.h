/* ==== >> read/frame_walk ====
 * Job: the return addresses on the stack of a stopped thread, by unwind tables or frame pointers.
 * Offers: framewalk_stack.
 * Never: knows where tables are. */
#ifndef MACHSYM_TOOL_FRAME_WALK_H
#define MACHSYM_TOOL_FRAME_WALK_H

#include "machsym.h"

/* A stopped thread, and the process that it belongs to. */
typedef struct framewalk {
    /* Copies memory. Returns false if some of it is not there. */
    bool (*read)(void *context, uint64_t addr, void *out, size_t len);
    /* Returns the image that holds an address, with its tables. NULL: no image, or it has no tables. */
    const machsym_unwind_image *(*image)(void *context, uint64_t addr);
    void *context;
    uint32_t cputype;
    machsym_unwind_state state; /* the registers; pc must be known */
    uint64_t caller;            /* a return address that is known without the stack; 0: unknown */
} framewalk;

typedef struct framewalk_frame {
    uint64_t pc;          /* without pointer authentication */
    const char *found_by; /* how it was found; static */
} framewalk_frame;

/* Writes the frames of the stack to out, at most cap, the thread's own first. Each frame lies above the one
 * before, so every stack ends. Changes walk->state. Returns how many, at least 1 if cap is at least 1. */
uint32_t framewalk_stack(framewalk *walk, framewalk_frame *out, uint32_t cap);

#endif
