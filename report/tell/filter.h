/* ==== >> tell/filter ====
 * Job: selects reports by their fields and by who is responsible for them.
 * Offers: only_add, only_has, only_fits, only_fits_owner.
 * Never: prints an error in a condition: it is returned. */
#ifndef MACHSYM_TOOL_FILTER_H
#define MACHSYM_TOOL_FILTER_H

#include "../base/text.h"
#include "../model/days.h"
#include "../model/report.h"
#include "machsym.h"

typedef enum filter_what {
    FILTER_PROCESS = 0,
    FILTER_VERSION,
    FILTER_KIND,
    FILTER_IMAGE,
    FILTER_OWNER,
    FILTER_SINCE,
    FILTER_UNTIL,
    FILTER_COUNT
} filter_what;

/* A typed command has fewer. A program that makes command lines can run the tool twice. */
enum { FILTER_MAX = 64 };

/* One condition. */
typedef struct condition {
    filter_what what;
    machsym_str text; /* may end in *: matches every text that begins so */
    day date;         /* for SINCE and UNTIL */
} condition;

/* Conditions of one kind are alternatives; every kind that is given must match. */
typedef struct filter {
    condition v[FILTER_MAX];
    size_t count;
} filter;

/* Adds a condition, "WHAT=TEXT", which it borrows. Returns false if it is not valid, and appends the error to
 * why. */
bool only_add(filter *f, const char *value, text *why);
bool only_has(const filter *f, filter_what what);
/* Whether a report matches all conditions except those of owners. No lookups are needed. */
bool only_fits(const filter *f, const report *r);
/* Whether it matches the conditions of owners. Call it after the lookups. */
bool only_fits_owner(const filter *f, const report *r);

#endif
