/* ==== >> symbols/stackcheck ====
 * Job: whether the frames of a report can have called each other, by the code of their images.
 * Offers: stackcheck_options, stackcheck_report.
 * Never: changes or removes a frame of the report.
 *
 * The code says what is impossible. Where the code is not at hand, or does not say where it goes, every stack is
 * possible. Stacks that are samples, excerpts, or put together by other tools are not checked. */
#ifndef MACHSYM_TOOL_STACKCHECK_H
#define MACHSYM_TOOL_STACKCHECK_H

#include "machsym.h"
#include "../../report/model/report.h"
#include "images.h"
#include "source.h"

typedef struct stackcheck_options {
    bool no_uuid;      /* images without a UUID are the file of their name */
    frame_style style; /* of names in a doubt */
} stackcheck_options;

/* Sets `doubt` of frames that the frame before cannot be called from. If the function of the first frame still has
 * its return address in lr, and the stack lacks that caller, adds it with FORM_INFERRED. Call it before the
 * frames are looked up. */
void stackcheck_report(report *r, image_pool *all, const stackcheck_options *how);

#endif
