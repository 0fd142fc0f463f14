/* ==== >> look/stackcheck ====
 * Job: whether the frames of a report can have called each other, by the code of their images.
 * Offers: stackcheck_asked, stackcheck_report.
 * Never: changes or removes a frame of the report.
 *
 * The code says what is impossible. Where the code is not at hand, or does not say where it goes, every stack is
 * possible. Stacks that are samples, excerpts, or put together by other tools are not checked. */
#ifndef REPORT_LOOK_STACKCHECK_H
#define REPORT_LOOK_STACKCHECK_H

#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"

/* Where the code of images is. Images are told by their index in the report. */
typedef struct stackcheck_asked {
    void *context;
    bool no_uuid; /* images without a UUID are the file of their name */
    /* Opens an image; called once for each. Returns false if nothing of it is at hand. *file: borrowed until the check
     * ends; NULL: a map answers. The others are called for images that were opened. */
    bool (*open)(void *context, uint32_t index, const machsym_image **file);
    /* Converts a run-time address to an address of the file. */
    uint64_t (*addr)(void *context, uint32_t index, uint64_t addr);
    /* As in calls_image. */
    size_t (*frames)(void *context, uint32_t index, uint64_t addr, machsym_frame *frames, size_t cap);
    /* Returns a session that lists the names of an image; NULL: they are unknown. */
    machsym_session *(*session)(void *context, uint32_t index);
    /* Appends the name of a function as it is shown in a doubt. */
    void (*put_name)(void *context, uint32_t index, const machsym_frame *frame, text *t);
} stackcheck_asked;

/* Sets `doubt` of frames that the frame before cannot be called from. If the function of the first frame still has
 * its return address in lr, and the stack lacks that caller, adds it with FORM_INFERRED. Call it before the
 * frames are looked up. */
void stackcheck_report(report *r, const stackcheck_asked *asked);

#endif
