/* ==== >> symbols/resolve ====
 * Job: the symbols that a report's frames get their names and lines of.
 * Offers: resolve_options, resolve_budget, resolve_files; resolve_report.
 * Never: writes a report.
 *
 * Gives the frames of a report their names and lines. */
#ifndef MACHSYM_TOOL_RESOLVE_H
#define MACHSYM_TOOL_RESOLVE_H

#include "machsym.h"
#include "../../report/model/redact.h"
#include "../../report/model/report.h"
#include "../../report/model/links.h"
#include "../../report/model/status.h"
#include "../../report/model/tables.h"
#include "context.h"
#include "images.h"
#include "line_map.h"
#include "source.h"

/* What the lookups of one report or request may take, so that a hostile one costs itself and no other.
 * Where no bytes are named they are RESOLVE_BYTES and RESOLVE_FACTOR times the report's length. A report
 * of 300 frames, each of 20 inlined calls with names of 1,000 bytes, takes 10 MB. */
typedef struct resolve_limit {
    double seconds; /* 0: any time */
    double bytes;   /* of names, paths and lines that are added; 0: see above */
} resolve_limit;

enum { RESOLVE_SECONDS = 300, RESOLVE_BYTES = 32 << 20, RESOLVE_FACTOR = 64 };

/* What is left of a limit while something is answered. */
typedef struct resolve_budget {
    double bytes;
    double deadline;               /* 0: none */
    const char *failure;           /* which limit was reached; NULL: none */
    char kept[IMAGE_FAILURE + 64]; /* a failure that outlives the report it is of */
} resolve_budget;

/* For an input of a number of bytes. */
void resolve_budget_begin(resolve_budget *left, const resolve_limit *limit, size_t input_len);
/* Each returns false once a limit is reached. */
bool resolve_budget_spend(resolve_budget *left, uint64_t bytes);
bool resolve_budget_in_time(resolve_budget *left);

/* What to look up. */
typedef struct resolve_options {
    resolve_limit limit;
    bool all;           /* frames that have a name too */
    bool raw_addresses; /* take return addresses as they are */
    bool no_inline;     /* only the real function of each frame */
    bool no_folded;     /* functions that share their code are as the first of them; no caller is asked */
    bool has_helper;    /* a second thread may answer a part of the frames */
    bool check_stack;   /* whether the frames can have called each other */
    bool no_uuid;       /* images without a UUID are looked up by their name */
    frame_style style;
    const line_map *csharp; /* lines of C# in place of il2cpp's; NULL: none */
    const redactor *redact; /* NULL: names and paths are shown as they are */
    link_rules links;
    context_rules sources;
    resolve_budget *shared; /* by all reports of a file; NULL: this one has its own */
} resolve_options;

/* The files of images that a dump is read with. */
typedef struct resolve_files {
    report_tables tables; /* what a walk wants */
    image_pool *all;
    const resolve_options *how;
    image_loan *loans; /* of those that are in use */
    uint32_t loan_count;
    uint32_t loan_cap;
} resolve_files;

/* Borrows the images and the options. No file stays in use between two reports. */
void resolve_files_begin(resolve_files *files, image_pool *all, const resolve_options *how);

/* Looks up what needs it, image by image, so that few images are open at a time. Fills calls, image
 * status, counts. Returns NULL; else which limit was reached, or which chunk could not be had: then the
 * report is not to be written. */
const char *resolve_report(report *r, image_pool *all, const resolve_options *how, resolve_counts *counts);

#endif
