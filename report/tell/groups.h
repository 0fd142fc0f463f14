/* ==== >> tell/groups ====
 * Job: groups of reports: those of one signature, families that are similar, and what is known of them from
 * earlier runs.
 * Offers: groups_open, groups_close, groups_take_state, groups_add, groups_print, groups_put_state,
 * groups_has_state, group_compare_signatures, group_new, group_free, group_count_day, group_count_version,
 * groups_join, groups_free_shown, groups_find_heads, groups_totals and its kin.
 * Never: reads or writes a file: tool/files/state.h does. */
#ifndef MACHSYM_TOOL_GROUPS_H
#define MACHSYM_TOOL_GROUPS_H

#include "../base/text.h"
#include "../model/days.h"
#include "machsym.h"
#include "signature.h"

typedef struct group_list group_list;

group_list *groups_open(void);
void groups_close(group_list *groups);
/* Reads what earlier runs counted. Call it before the first groups_add. Returns NULL, or the error and its
 * place. */
const char *groups_take_state(group_list *groups, machsym_str input, size_t *at);
/* Takes over the signature. The path must outlive the list. The total time is linear in the reports. */
void groups_add(group_list *groups, const char *path, signature *s);
/* Prints the groups: the largest family first, its head first, then its members by size. Call it once, after
 * the last groups_add. */
void groups_print(group_list *groups, bool is_json, text *out);

/* Writes the counts of all runs for groups_take_state, one JSON object on each line. Call it after
 * groups_print. */
void groups_put_state(const group_list *groups, text *out);
bool groups_has_state(const group_list *groups); /* whether it began with counts of earlier runs */

/* ---- For the parts of it ---- */

/* What a group keeps is bounded. Trends use this many days. Of versions, the most recently seen ones are
 * kept: a service sees a new one every week or two, and runs for years. */
enum { GROUP_DAYS = 28, GROUP_VERSIONS = 64 };

/* Reports of one day. */
typedef struct day_reports {
    day on;
    uint64_t reports;
} day_reports;

/* Reports of one version of the program. */
typedef struct version_reports {
    text name;
    uint64_t reports;
    day first; /* 0: unknown */
    day last;
} version_reports;

/* Reports of one signature. */
typedef struct group {
    signature sign; /* of the first report; its day and version do not count here */
    uint64_t reports;
    uint64_t added; /* reports that this run added */
    day first;      /* 0: unknown */
    day last;
    day before;                   /* the last day in the state; 0: not in the state */
    day_reports days[GROUP_DAYS]; /* the latest ones, in order */
    unsigned day_count;
    version_reports *versions; /* by name */
    size_t version_count;
    size_t version_cap;
    const char **paths; /* paths of this run's reports */
    size_t path_count;
    size_t path_cap;
    struct group *joined;  /* the group that shows it; NULL: it is shown itself */
    struct group *head;    /* head of the family; itself if it stands alone */
    uint64_t family_count; /* reports of the whole family, kept at its head */
} group;

/* A report that is not yet counted. */
typedef struct group_report {
    signature sign;
    const char *path;
    size_t number; /* its place in the order of arrival */
} group_report;

struct group_list {
    group **v; /* by signature */
    size_t count;
    group_report *waiting;
    size_t waiting_count;
    size_t waiting_cap;
    day known_until; /* last day of the state */
    bool has_state;
};

/* By hash, then by text. */
int group_compare_signatures(const signature *a, const signature *b);
/* Makes a group. The caller inserts it. */
group *group_new(signature *s);
void group_free(group *g);
void group_count_day(group *g, day number, uint64_t reports);
void group_count_version(group *g, machsym_str name, uint64_t reports, day first, day last);
/* Makes the list that is shown. Reports without an exception, a termination or a message are added to the
 * group that has them, if all else is equal and exactly one group says more. The order of the reports does
 * not matter, and the groups stay unchanged. The first `made` groups of out are new; groups_free_shown frees
 * them. */
typedef struct groups_shown {
    group_list list;
    size_t made;
} groups_shown;

void groups_join(const group_list *groups, groups_shown *out);
void groups_free_shown(groups_shown *shown);
/* Sets the head of each group: the family it is most similar to, or itself. */
void groups_find_heads(group_list *groups);

/* The trend of a group. */
typedef enum group_trend { TREND_NONE = 0, TREND_NEW, TREND_REGRESSED, TREND_RISING } group_trend;

/* The totals that trends are compared with. */
typedef struct group_totals {
    day newest;
    uint64_t recent;
    uint64_t before;
} group_totals;

group_totals groups_totals(const group_list *groups);
group_trend group_trend_of(const group_list *groups, const group_totals *totals, const group *g);
const char *group_trend_name(group_trend trend); /* NULL: no trend */

#endif
