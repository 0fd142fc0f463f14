/* ==== >> look/stackwalk ====
 * Job: the callers of a thread that stopped, by its registers, unwind tables and what a report has of its stack.
 * Offers: stackwalk, stackwalk_frame; stackwalk_callers.
 * Never: guesses: a frame pointer alone finds no caller.
 *
 * KSCrash keeps some bytes around the stack pointer. Other reports have registers alone: then a caller is found
 * if its address is still in lr. */
#ifndef REPORT_LOOK_STACKWALK_H
#define REPORT_LOOK_STACKWALK_H

#include "../model/report.h"
#include "machsym.h"

/* A thread of a report, and the code of its images. */
typedef struct stackwalk {
    const report *r;
    const report_thread *thread;
    /* Returns the file of the image that holds an address, with its code, and its index; NULL: none. */
    const machsym_image *(*code)(void *context, uint64_t addr, uint32_t *image);
    void *context;
    uint32_t cputype;
} stackwalk;

typedef struct stackwalk_frame {
    uint64_t pc;          /* a return address */
    uint32_t image;       /* of the report; REPORT_NONE: none */
    bool is_of_stack;     /* bytes of the stack were needed; else registers alone tell */
    const char *found_by; /* static */
} stackwalk_frame;

/* Writes the callers of the frame that stopped, the innermost first. Returns how many. */
unsigned stackwalk_callers(const stackwalk *walk, stackwalk_frame *out, unsigned cap);

#endif
