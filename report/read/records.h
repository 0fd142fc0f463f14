/* ==== >> read/records ====
 * Job: reports whose lines are in separate records, as log collectors write them.
 * Offers: records_find_arrays, records_next_line, records_come_to, records_take, records_pass, records_end.
 * Never: reads the report: carried text is read as a file is.
 *
 * Records are documents in a row, or elements of an array. The line of a record has the same keys as the lines
 * of the others. */
#ifndef REPORT_RECORDS_H
#define REPORT_RECORDS_H

#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "told.h"

/* Collectors nest a line at most this deep in its record. */
enum { RECORD_MAX_STEPS = 8 };

/* The keys from a record to its line, innermost first; for an array element the index. */
typedef struct record_path {
    machsym_str keys[RECORD_MAX_STEPS]; /* ptr NULL: use the index */
    uint32_t indexes[RECORD_MAX_STEPS];
    unsigned count;
} record_path;

/* ---- Elements of an array ---- */

/* Array elements that are records. */
typedef struct record_array {
    uint32_t token;
    uint32_t before; /* the element before the first record; JSON_NONE: it is the first element */
    uint32_t end;    /* the token after the last one */
    uint32_t line;   /* the line of the first record */
    record_path path;
} record_array;

typedef struct record_arrays {
    record_array *v;
    uint32_t count;
    uint32_t cap;
} record_arrays;

/* Finds arrays of a document, or parts of them, whose elements have lines. At least one of the lines must
 * certainly belong to a report. */
void records_find_arrays(const json *doc, record_arrays *out);

/* A position in the lines of an array. */
typedef struct record_cursor {
    uint32_t element; /* the element with the line; at first record_array.before */
    line_kind last;
    text room;
} record_cursor;

/* Returns the next line's token. JSON_NONE: no more lines; the cursor's memory is freed. */
uint32_t records_next_line(const json *doc, const record_array *array, record_cursor *at);

/* ---- Documents in a row ---- */

/* Documents of unknown kind in a row. */
typedef struct record_run {
    size_t begin;
    size_t end;    /* equal to begin: no documents */
    uint32_t part; /* how many parts of the report begin before them */
    bool has_path; /* one of the lines certainly belonged to a report */
    record_path path;
    line_kind last;
    text room;
} record_run;

/* Tells the run that a document begins at an offset. The run ends if other text comes before it. */
void records_come_to(record_run *run, report *r, size_t at);
/* Whether a document is a record with a line of a report. If so, it extends the run. */
bool records_take(record_run *run, report *r, const json *doc);
/* Extends the run over a document that is not a report. */
void records_pass(record_run *run, size_t end);
/* Ends the run, adds its lines as carried text, and frees its memory. */
void records_end(record_run *run, report *r);

#endif
