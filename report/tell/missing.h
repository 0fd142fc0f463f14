/* ==== >> tell/missing ====
 * Job: which images the frames of reports wait for, over all reports of a run.
 * Offers: missing_of, missing_has_frames, missing_why, missing_put_image, missing_add_report, missing_add_list, missing_waits,
 * missing_waits_for_system, missing_put_text, missing_put_json, missing_free, missing_bundle.
 * Never: searches for them.
 *
 * A team must find or upload these images. */
#ifndef MACHSYM_TOOL_MISSING_H
#define MACHSYM_TOOL_MISSING_H

#include "../base/text.h"
#include "../model/report.h"
#include "../model/status.h"
#include "machsym.h"

/* An image without debug info. */
typedef struct missing_image {
    machsym_str name;
    machsym_str version; /* with its build, as in the report; may be empty */
    machsym_str arch;    /* may be empty */
    machsym_str os;      /* system images: version and build of the system; may be empty */
    machsym_uuid uuid;
    bool has_uuid;
    bool is_system;
    image_status status;
    uint64_t frames; /* frames that need it */
    uint64_t reports;
    size_t number; /* its place in the order of arrival */
} missing_image;

/* A system whose images have no names. Its shared cache, or a folder of its symbols, is needed. */
typedef struct missing_system {
    machsym_str os;
    machsym_str arch;
    uint64_t images;
    uint64_t frames;
    uint64_t reports;
} missing_system;

/* All images, each once. The sorted ones come first. */
typedef struct missing_list {
    missing_system *systems; /* their images are counted when the table is printed */
    size_t system_count;
    size_t system_cap;
    missing_image *v;
    size_t count;
    size_t cap;
    size_t sorted;
    uint64_t reports;       /* all reports that were added, also complete ones */
    uint64_t system_frames; /* frames of the system without a name, also those in images that were found */
    size_t number;
    pool strings;
} missing_list;

/* Finds what is missing of one image of a report that was looked up. frames is 0 if nothing is missing.
 * Borrows the image. */
missing_image missing_of(const report *r, const report_image *image);
/* Returns whether frames of the image wait for a file. */
bool missing_has_frames(const missing_image *m);
/* Returns why the image does not answer, as in crash-missing/1. */
const char *missing_why(const missing_image *m);
/* "NAME VERSION UUID U ARCH: WHY" */
void missing_put_image(text *t, const missing_image *m);

/* Adds what is missing in a report that was looked up. */
void missing_add_report(missing_list *list, const report *r);
void missing_add_list(missing_list *to, const missing_list *from);
/* Whether a report waits for a file of the app: images of the system cannot be uploaded. */
bool missing_waits(const missing_list *list);
/* Whether a shared cache is needed: frames of the system have no name. */
bool missing_waits_for_system(const missing_list *list);
/* Prints a table, most needed first; images of the system by system. Prints nothing if nothing is missing. */
void missing_put_text(missing_list *list, text *out);
/* Writes the same as one JSON object. */
void missing_put_json(missing_list *list, text *out);
void missing_free(missing_list *list);

/* Returns the name of a file as people know it: the bundle of a dSYM, not the file inside it. */
machsym_str missing_bundle(const char *path);

#endif
