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

/* What a signature is made of. All but the stack may be empty: services drop what others have. */
typedef enum signature_part {
    PART_EXCEPTION = 0, /* "EXC_BREAKPOINT", or what a hang or the like is called */
    PART_THROWN,        /* "NSRangeException" */
    PART_TERMINATION,   /* "0x8badf00d", "DYLD 4": why the system ended the process */
    PART_MESSAGE,       /* "Fatal error: Index out of range" */
    PART_STACK,         /* "a | b | c" */
    PART_COUNT
} signature_part;

/* A crash in a form that is the same for every report of it: the top frames of the app, innermost first. */
typedef struct signature {
    text words;          /* "EXC_BREAKPOINT [0x8badf00d] (message): a | b | c" */
    uint64_t hash;       /* of text */
    uint64_t frames[16]; /* hashes of all app frames, most */
    unsigned frame_count;
    uint32_t part_at[PART_COUNT]; /* in text */
    uint32_t part_len[PART_COUNT];
    char day[11];     /* of the report, "2026-03-14"; empty: not told */
    char version[64]; /* of the program, as much as fits; empty: not told */
} signature;

/* list: functions that count for nothing beside the built-in ones; may be NULL. */
void signature_of(const report *r, const machinery *list, signature *out);

machsym_str signature_part_of(const signature *s, signature_part part);
/* Makes the text and its hash of the parts; all else stays. */
void signature_compose(signature *s, const machsym_str parts[PART_COUNT]);
/* Whether the frames say which crash it is: main alone, or none, does not. */
bool signature_tells(const signature *s);

#endif
