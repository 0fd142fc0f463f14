/* ==== >> tell/filter ====
 * Job: which reports are wanted: by what they tell of themselves, and whose fault they are.
 * Offers: only_add, only_has, only_fits, only_fits_owner.
 * Never: prints what is wrong with a condition: it is returned. */
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

/* More are not typed; a program that makes command lines can run twice. */
enum { FILTER_MAX = 64 };

/* One condition. */
typedef struct condition {
    filter_what what;
    machsym_str text; /* with * at its end: what begins so */
    day date;         /* of SINCE and UNTIL */
} condition;

/* Of one kind any condition may hold, and of each kind one must. */
typedef struct filter {
    condition v[FILTER_MAX];
    size_t count;
} filter;

/* Adds a condition, "WHAT=TEXT", which it borrows. Returns false when it is none, and adds to why what it
 * lacks. */
bool only_add(filter *f, const char *value, text *why);
bool only_has(const filter *f, filter_what what);
/* Whether a report fits all conditions but those of owners, which need no lookups. */
bool only_fits(const filter *f, const report *r);
/* Whether it fits those of owners; after the lookups. */
bool only_fits_owner(const filter *f, const report *r);

#endif
