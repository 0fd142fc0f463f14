/* ==== >> look/look ====
 * Job: gives the frames and registers of a report their names and lines.
 * Offers: look_symbols, look_options; look_report, look_keep, look_text_base, look_text_holds.
 * Never: knows where symbols are: callbacks do.
 *
 * Works image by image, so that few images are open at a time. */
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
    /* Finds an image's symbols. Returns false and sets *status if it has no symbols. After true, leave is
     * called. */
    bool (*find)(void *context, const report_image *image, image_status *status);
    void (*leave)(void *context);
    /* Whether a run-time address lies in the image's __TEXT; true if that is unknown. */
    bool (*holds)(void *context, const report_image *image, uint64_t addr);
    /* Converts a run-time address to an address of the file. */
    uint64_t (*addr)(void *context, const report_image *image, uint64_t addr);
    /* Returns the frames at an address of the file, innermost first, and never more than cap. sharing:
     * receives how many functions share the code; may be NULL. */
    size_t (*frames)(void *context, uint64_t addr, machsym_frame *frames, size_t cap, size_t *sharing);
    /* Looks up a whole stack at once, as machsym_session_frames_of_stack does, since a caller tells which of
     * several functions it called. */
    size_t (*stack)(void *context, const machsym_stack_addr *pcs, size_t count, machsym_stack_answer *calls,
                    machsym_frame *frames, size_t cap);
    /* Returns why an answer or an image is incomplete so far; then the report must not be written. NULL:
     * complete. */
    const char *(*lacks)(void *context);
    /* Fills in path, line, column and owner of a call. The path is what is appended to `path`. */
    void (*set_place)(void *context, const machsym_frame *from, uint64_t file_addr, report_call *call,
                      text *path);
    /* Adds a link to the line of a call, and the source lines there; NULL: no links. */
    void (*set_source)(void *context, machsym_str path, report_call *call);
    /* Reserves the bytes of an answer. Returns why the limit is reached, or NULL. */
    const char *(*spend)(void *context, uint64_t bytes);
    /* Returns why there is no time left, or NULL. */
    const char *(*is_late)(void *context);
    /* Called before frames and stack, with the first frame that they are asked for; NULL: equal addresses are
     * asked for once. */
    void (*asks)(void *context, const report *r, uint32_t frame);
    /* Tells which addresses of the file will be asked for next by frames, in this order, so that they can be
     * answered ahead. Some may be left out. NULL: that is of no use. */
    void (*ahead)(void *context, const uint64_t *addrs, size_t count, bool asks_sharing);
} look_symbols;

/* What to look up. */
typedef struct look_options {
    bool all;               /* also frames that already have a name */
    bool raw_addresses;     /* look up return addresses unchanged */
    bool no_inline;         /* only the real function of each frame */
    bool no_folded;         /* report only the first of the functions that share code; do not ask callers */
    const redactor *redact; /* NULL: names and paths are shown as they are */
} look_options;

/* Looks up what needs it. Fills in calls, image status and counts. Returns NULL, or why the report must not
 * be written. */
const char *look_report(report *r, const look_symbols *symbols, const look_options *how,
                        resolve_counts *counts);
/* Moves a text into the report's memory, without personal data, and empties it. */
machsym_str look_keep(report *r, const redactor *redact, text *t);
/* Where __TEXT lies, from the load address of an image. Kernels tell that of __TEXT_EXEC (is_text_exec); a file
 * without one has 0 there. */
uint64_t look_text_base(uint64_t base, bool is_text_exec, uint64_t text_addr, uint64_t text_exec_addr);
/* Whether an address of the file lies in its __TEXT. Kernels have their code outside of it: always true. */
bool look_text_holds(uint64_t addr, bool is_text_exec, uint64_t text_addr, uint64_t text_size);

#endif
