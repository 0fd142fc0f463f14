/* ==== >> tell/signature ====
 * Job: what reports of one crash have in common.
 * Offers: signature_of.
 * Never: compares two. */
#ifndef REPORT_SIGNATURE_H
#define REPORT_SIGNATURE_H

#include "../base/text.h"
#include "../model/report.h"
#include "stable.h"

/* A crash in a form that is the same for every report of it: the top frames of the app, innermost first. */
typedef struct signature {
    text text;           /* "EXC_BREAKPOINT: a | b | c" */
    uint64_t hash;       /* of text */
    uint64_t frames[16]; /* hashes of all app frames, most */
    unsigned frame_count;
    char day[11];     /* of the report, "2026-03-14"; empty: not told */
    char version[64]; /* of the program, as much as fits; empty: not told */
} signature;

/* list: functions that count for nothing where the system's have to tell; NULL: the built-in one. */
void signature_of(const report *r, const machinery *list, signature *out);

#endif
