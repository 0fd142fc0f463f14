/* ==== >> tell/signature ====
 * Job: what reports of one crash have in common.
 * Offers: signature_of, signature_part_of, signature_compose, signature_tells.
 * Never: compares two. */
#ifndef REPORT_SIGNATURE_H
#define REPORT_SIGNATURE_H

#include "../base/text.h"
#include "../model/report.h"
#include "machinery.h"
#include "machsym.h"

/* The parts of a signature. All but the stack may be empty, because services drop some. */
typedef enum signature_part {
    PART_EXCEPTION = 0, /* "EXC_BREAKPOINT", or the name of a hang and the like */
    PART_THROWN,        /* "NSRangeException" */
    PART_TERMINATION,   /* "0x8badf00d", "DYLD 4": why the system ended the process */
    PART_MESSAGE,       /* "Fatal error: Index out of range" */
    PART_STACK,         /* "a | b | c" */
    PART_COUNT
} signature_part;

/* A crash in a form that is equal for all of its reports: the top frames of the app, innermost first. */
typedef struct signature {
    text words;          /* "EXC_BREAKPOINT [0x8badf00d] (message): a | b | c" */
    uint64_t hash;       /* of words */
    uint64_t frames[16]; /* hashes of the app's frames, limited */
    unsigned frame_count;
    uint32_t part_at[PART_COUNT]; /* in words */
    uint32_t part_len[PART_COUNT];
    char day[11];     /* of the report, "2026-03-14"; empty: unknown */
    char version[64]; /* of the program, cut to fit; empty: unknown */
} signature;

/* list: functions to ignore beside the built-in ones; may be NULL. */
void signature_of(const report *r, const machinery *list, signature *out);

machsym_str signature_part_of(const signature *s, signature_part part);
/* Composes words and hash from the parts. The rest stays unchanged. */
void signature_compose(signature *s, const machsym_str parts[PART_COUNT]);
/* Whether the frames identify the crash. main alone does not, and neither does an empty stack. */
bool signature_tells(const signature *s);

#endif
