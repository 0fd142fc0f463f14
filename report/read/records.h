/* ==== >> read/records ====
 * Job: reports whose lines each lie in a record of their own, as collectors of logs put them.
 * Offers: records_find_arrays, records_next_line, records_come_to, records_take, records_pass, records_end.
 * Never: reads the report: what is carried is read as a file is.
 *
 * Records are documents in a row, or elements of an array. What one of them has under the same keys
 * as the others is a line. */
#ifndef REPORT_RECORDS_H
#define REPORT_RECORDS_H

#include "../base/json.h"
#include "../base/text.h"
#include "../model/report.h"
#include "machsym.h"
#include "told.h"

/* Collectors nest a line no deeper in its record. */
enum { RECORD_MAX_STEPS = 8 };

/* The keys from a record to its line, innermost first; of an array the index. */
typedef struct record_path {
    machsym_str keys[RECORD_MAX_STEPS]; /* no pointer: an index */
    uint32_t indexes[RECORD_MAX_STEPS];
    unsigned count;
} record_path;

/* ---- Elements of an array ---- */

/* Elements of an array that are records. */
typedef struct record_array {
    uint32_t token;
    uint32_t before; /* the element ahead of the first one; JSON_NONE: there is none */
    uint32_t end;    /* the token after the last one */
    uint32_t line;   /* the first one's */
    record_path path;
} record_array;

typedef struct record_arrays {
    record_array *v;
    uint32_t count;
    uint32_t cap;
} record_arrays;

/* Finds the arrays of a document, or stretches of them, whose elements have lines of which one is certain to
 * be a report's. */
void records_find_arrays(const json *doc, record_arrays *out);

/* Where a walk through the lines of an array is. */
typedef struct record_cursor {
    uint32_t element; /* that has the line; at first what record_array has ahead */
    line_kind last;
    text room;
} record_cursor;

/* The next line's token; JSON_NONE: there is none, and the cursor's room is free. */
uint32_t records_next_line(const json *doc, const record_array *array, record_cursor *at);

/* ---- Documents in a row ---- */

/* Documents of no kind in a row. */
typedef struct record_run {
    size_t begin;
    size_t end;    /* equal: there are none */
    uint32_t part; /* how many parts of the report begin before them */
    bool has_path; /* a line was certain to be a report's */
    record_path path;
    line_kind last;
    text room;
} record_run;

/* A document begins at an offset: ends the run where something else stands ahead of it. */
void records_come_to(record_run *run, report *r, size_t at);
/* Whether a document is a record that has a line of a report; the run goes on over it. */
bool records_take(record_run *run, report *r, const json *doc);
/* The run goes on over a document that is no report. */
void records_pass(record_run *run, size_t end);
/* Ends the run: what it has is carried. Its room is free. */
void records_end(record_run *run, report *r);

#endif
