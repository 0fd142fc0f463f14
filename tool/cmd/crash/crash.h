/* ==== >> cmd/crash/crash ====
 * Job: the command that answers reports: options, threads, outputs.
 * Offers: crash_options; crash_lookups_wrong, crash_lookups_begin, crash_images_how, crash_run_reports.
 * Never: knows a format of reports. */
#ifndef MACHSYM_TOOL_CMD_CRASH_H
#define MACHSYM_TOOL_CMD_CRASH_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "../../../report/model/redact.h"
#include "../../../report/model/report.h"
#include "../../../report/tell/filter.h"
#include "../../../report/tell/machinery.h"
#include "../../../report/write/call.h"
#include "../../base/options.h"
#include "../../base/takes.h"
#include "../../symbols/images.h"
#include "../../symbols/line_map.h"
#include "../../symbols/objects.h"
#include "../../symbols/owners.h"
#include "../../symbols/resolve.h"
#include "../../symbols/store.h"

enum { MAX_STORES = 256, MAX_LOADS = 256 };

typedef enum crash_format { FORMAT_SAME = 0, FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML } crash_format;

/* Where the table of missing images is printed: on standard error, or in place of the reports. */
typedef enum missing_form { MISSING_SAID = 0, MISSING_TEXT, MISSING_JSON } missing_form;

/* Whether a summary has colours. */
typedef enum crash_colour { COLOUR_AUTO = 0, COLOUR_ALWAYS, COLOUR_NEVER } crash_colour;

/* What the options say. */
typedef struct crash_options {
    const char *stores[MAX_STORES];
    size_t store_count;
    const char *maps[MAX_STORES];
    size_t map_count;
    report_load loads[MAX_LOADS];
    size_t load_count;
    owners *rules;        /* NULL without --owners */
    machinery *machinery; /* NULL without --machinery */
    filter only;
    line_map *csharp; /* NULL without --line-map */
    object_options objects;
    const char *files_from; /* a list of reports; NULL: none */
    const char *output;
    crash_format format;
    crash_colour colour;
    lines_option lines;
    uint32_t session_flags;
    resolve_options resolve;
    write_options write;
    redactor redact;
    unsigned context; /* lines of source before and after one; 0: none */
    const char *redact_key;
    bool is_redacted;
    unsigned jobs;
    bool no_cache;
    bool copy;
    bool summary;   /* in place of the report */
    bool brief;     /* the same */
    bool signature; /* the same */
    bool group;     /* the same, for all */
    const char
        *groups_in; /* --groups-in, --groups-out: what earlier runs counted, and what later ones take */
    const char *groups_out;
    const char *json_out; /* JSON of each report too, beside what is printed; NULL: none */
    missing_form missing;
    bool html; /* --html */
    bool json; /* all that goes to standard output, one object a line */
    bool force;
    bool quiet;
    bool strict;
    bool fails_missing; /* exit with 1 when an image of the app has no symbols */
} crash_options;

/* The options that say where symbols are and how to look up, for a crash_options; with
 * object_option_table. */
extern const option crash_lookup_table[];

/* What holds before any option is read. */
void crash_options_begin(crash_options *o);
/* What is wrong with them together; NULL: nothing. */
const char *crash_lookups_wrong(const crash_options *o);
/* What those options bring with them, once all are read. Returns false after a message. */
bool crash_lookups_begin(crash_options *o);
void crash_lookups_end(crash_options *o);
/* Adds what -d names. Returns false after a message. */
bool crash_add_named(const crash_options *o, store *s);
/* How to open images of a store by these options. */
images_options crash_images_how(const crash_options *o, const store *s);
/* Says which files of symbols are no good; returns whether nothing took the place of one. */
bool crash_say_complaints(image_pool *images);
/* What a file without frames is. */
typedef enum crash_without {
    WITHOUT_FRAMES, /* a report that has none */
    WITHOUT_REPORT, /* something else: of no concern when it was found beside reports */
    WITHOUT_END     /* damaged, or a report that cannot be read */
} crash_without;

/* Tells what it is, and why it is no report. */
crash_without crash_explain_no_frames(const report *r, text *why);
/* Where a report is damaged whose rest is answered; 0: it is whole. */
size_t crash_damaged_at(const report *r);
/* Whether something else is printed in place of the reports. */
bool crash_is_answered(const crash_options *o);
/* Does the reports and prints what is asked for. Returns an exit status. */
/* found: a byte a report, not 0 when it was found in a folder or archive; NULL: all are named. */
int crash_run_reports(const crash_options *o, char **reports, const char *found, size_t count);

#endif
