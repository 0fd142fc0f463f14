/* ==== >> tell/codes ====
 * Job: the codes of an exception, in numbers.
 * Offers: codes_find, codes_subtype.
 * Never: says what a number means. */
#ifndef REPORT_TELL_CODES_H
#define REPORT_TELL_CODES_H

#include "../model/report.h"
#include "machsym.h"

/* The two codes of a Mach exception. */
typedef struct exception_codes {
    bool has_first;
    bool has_second;
    uint64_t first;
    uint64_t second;
} exception_codes;

/* Takes the codes from any line that has them. Text of a Mac has a line of words and a line of numbers under
 * the same key. */
exception_codes codes_find(const report *r);
/* Returns the name of the code: Exception Subtype, or the first of two lines Exception Codes; may be
 * empty. */
machsym_str codes_subtype(const report *r);

#endif
