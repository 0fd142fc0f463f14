/* ==== >> look/look ====
 * Job: gives the frames and registers of a report their names and lines.
 * Offers: look_symbols, look_options; look_report.
 * Never: knows where symbols are: that is asked.
 *
 * Gives the frames and registers of a report their names and lines, image by image, so that few are open at a
 * time. */
#ifndef REPORT_LOOK_LOOK_H
#define REPORT_LOOK_LOOK_H

#include "../base/text.h"
#include "../model/redact.h"
#include "../model/report.h"
#include "../model/status.h"
#include "machsym.h"
#include "shared.h"

/* Where symbols are. One image is asked at a time. */
typedef struct look_symbols {
    /* asked.put_name and asked.next get this context, too. */
    shared_asked asked;
    /* Finds an image's symbols. Returns false with *status when there are none; else leave is called. */
    bool (*find)(void *context, const report_image *image, image_status *status);
    void (*leave)(void *context);
    /* Whether an address at run time lies in its __TEXT; true where that is not known. */
    bool (*holds)(void *context, const report_image *image, uint64_t addr);
    /* The address in the file that one at run time stands for. */
    uint64_t (*addr)(void *context, const report_image *image, uint64_t addr);
    /* The frames at an address of the file, innermost first. Returns how many, never more than cap. sharing: how
     * many functions share the code; NULL: not asked. */
    size_t (*frames)(void *context, uint64_t addr, machsym_frame *frames, size_t cap, size_t *sharing);
    /* As machsym_session_stack: all of a stack at once, since a caller tells which of several functions it called. */
    size_t (*stack)(void *context, const machsym_pc *pcs, size_t count, machsym_call *calls,
                    machsym_frame *frames, size_t cap);
    /* Why an answer, or an image, is not all that there is, so far: the report is not to be written then; NULL: all
     * is there. */
    const char *(*lacks)(void *context);
    /* Fills the place of a call, path and line and column, and whose code it is: what is put into path is the path. */
    void (*set_place)(void *context, const machsym_frame *from, uint64_t file_addr, report_call *call,
                      text *path);
    /* Adds what leads to the line of a call, and what stands there; NULL: nothing does. */
    void (*set_source)(void *context, machsym_str path, report_call *call);
    /* Takes bytes that an answer takes. Returns why no more may be taken; NULL: they may. */
    const char *(*spend)(void *context, uint64_t bytes);
    /* Why there is no time for more; NULL: there is. */
    const char *(*is_late)(void *context);
} look_symbols;

/* What to look up. */
typedef struct look_options {
    bool all;               /* frames that have a name too */
    bool raw_addresses;     /* take return addresses as they are */
    bool no_inline;         /* only the real function of each frame */
    bool no_folded;         /* functions that share their code are as the first of them; no caller is asked */
    const redactor *redact; /* NULL: names and paths are shown as they are */
} look_options;

/* Looks up what needs it. Fills calls, image status, counts. Returns NULL; else why the report is not to be written. */
const char *look_report(report *r, const look_symbols *symbols, const look_options *how,
                        resolve_counts *counts);
/* Moves a text into the report's memory, without what tells of persons, and empties it. */
machsym_str look_keep(report *r, const redactor *redact, text *t);

#endif
