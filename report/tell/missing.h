/* ==== >> tell/missing ====
 * Job: which images the frames of reports wait for, over all reports of a run.
 * Offers: missing_of, missing_why, missing_put_image, missing_add_report, missing_add_list, missing_waits,
 * missing_waits_for_system, missing_put_text, missing_put_json, missing_free, missing_bundle.
 * Never: searches for them.
 *
 * Which images the frames of reports wait for, over all reports of a run: what a team has to find or
 * upload. */
#ifndef MACHSYM_TOOL_MISSING_H
#define MACHSYM_TOOL_MISSING_H

#include "../base/text.h"
#include "../model/report.h"
#include "../model/status.h"
#include "machsym.h"

/* An image without debug info. */
typedef struct missing_image {
    machsym_str name;
    machsym_str version; /* and build, as the report writes them; may be empty */
    machsym_str arch;    /* may be empty */
    machsym_str os;      /* of an image of the system: version and build; may be empty */
    machsym_uuid uuid;
    bool has_uuid;
    bool is_system;
    image_status status;
    uint64_t frames; /* that wait for it */
    uint64_t reports;
    size_t number; /* in the order of coming */
} missing_image;

/* A system whose images have no names: what people must get is its shared cache, or a folder of its
 * symbols. */
typedef struct missing_system {
    machsym_str os;
    machsym_str arch;
    uint64_t images;
    uint64_t frames;
    uint64_t reports;
} missing_system;

/* All of them, each once; in front those that are sorted. */
typedef struct missing_list {
    missing_system *systems; /* their images are counted when they are printed */
    size_t system_count;
    size_t system_cap;
    missing_image *v;
    size_t count;
    size_t cap;
    size_t sorted;
    uint64_t reports;       /* how many were added, whatever they lack */
    uint64_t system_frames; /* frames of the system without a name, those of images that were found too */
    size_t number;
    pool strings;
} missing_list;

/* What is missing of one image of a report that was looked up; frames is 0 when nothing is. Borrows the
 * image. */
missing_image missing_of(const report *r, const report_image *image);
/* Why it does not answer, as crash-missing/1 has it. */
const char *missing_why(const missing_image *m);
/* "NAME VERSION UUID U ARCH: WHY" */
void missing_put_image(text *t, const missing_image *m);

/* Adds what a report that was looked up lacks. */
void missing_add_report(missing_list *list, const report *r);
void missing_add_list(missing_list *to, const missing_list *from);
/* Whether a report waits for a file of the app: images of the system cannot be uploaded. */
bool missing_waits(const missing_list *list);
/* Whether it waits for a shared cache: frames of the system have no name. */
bool missing_waits_for_system(const missing_list *list);
/* A table, most wanted first; images of the system by system. Nothing when nothing is missing. */
void missing_put_text(missing_list *list, text *out);
/* The same as one JSON object. */
void missing_put_json(missing_list *list, text *out);
void missing_free(missing_list *list);

/* A file by the name that people know: the bundle of a dSYM, not the file inside it. */
machsym_str missing_bundle(const char *path);

#endif
