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
/* Takes what earlier runs counted, before the first groups_add. Returns NULL, or what is wrong with it, and
 * where. */
const char *groups_take_state(group_list *groups, machsym_str input, size_t *at);
/* Takes over the signature. The path must live as long as the list; time is in proportion to the reports. */
void groups_add(group_list *groups, const char *path, signature *s);
/* Once, when all are added: the largest family first, in it the head, then the others by size. */
void groups_print(group_list *groups, bool is_json, text *out);

/* What all runs counted, for groups_take_state: a JSON object a line. After groups_print. */
void groups_put_state(const group_list *groups, text *out);
bool groups_has_state(const group_list *groups); /* whether it began with what earlier runs counted */

/* ---- For the parts of it ---- */

/* What is kept of a group, whatever comes. Trends look at this many days. Of the versions those stay that
 * were seen last: a service sees a new one every week or two, and runs for years. */
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
    day first; /* 0: not told */
    day last;
} version_reports;

/* Reports of one signature. */
typedef struct group {
    signature sign; /* of the first of them; its day and version count for nothing here */
    uint64_t reports;
    uint64_t added; /* of these, by this run */
    day first;      /* 0: not told */
    day last;
    day before;                   /* the last day that the state knew; 0: none */
    day_reports days[GROUP_DAYS]; /* the latest ones, in order */
    unsigned day_count;
    version_reports *versions; /* by name */
    size_t version_count;
    size_t version_cap;
    const char **paths; /* of this run's reports */
    size_t path_count;
    size_t path_cap;
    struct group *joined;  /* the group that it is shown with; NULL: it is shown itself */
    struct group *head;    /* of the family; itself when it stands alone */
    uint64_t family_count; /* reports of the whole family, kept at its head */
} group;

/* A report, until it is counted. */
typedef struct group_report {
    signature sign;
    const char *path;
    size_t number; /* in the order in which they came */
} group_report;

struct group_list {
    group **v; /* by signature */
    size_t count;
    group_report *waiting;
    size_t waiting_count;
    size_t waiting_cap;
    day known_until; /* the last day of the state */
    bool has_state;
};

/* By hash, then by text. */
int group_compare_signatures(const signature *a, const signature *b);
/* A new group, which is to be put where it belongs. */
group *group_new(signature *s);
void group_free(group *g);
void group_count_day(group *g, day number, uint64_t reports);
void group_count_version(group *g, machsym_str name, uint64_t reports, day first, day last);
/* The groups as they are shown: reports that do not tell an exception, a termination or a message are with
 * those that do, where all else is equal and exactly one group tells more. What came first makes no
 * difference, and the groups stay as they are. The first made groups of out are new: groups_free_shown takes
 * them back. */
typedef struct groups_shown {
    group_list list;
    size_t made;
} groups_shown;

void groups_join(const group_list *groups, groups_shown *out);
void groups_free_shown(groups_shown *shown);
/* Gives each group the head of the family that it is most similar to, or itself. */
void groups_find_heads(group_list *groups);

/* What has become of a group. */
typedef enum group_trend { TREND_NONE = 0, TREND_NEW, TREND_REGRESSED, TREND_RISING } group_trend;

/* All that trends are measured against. */
typedef struct group_totals {
    day newest;
    uint64_t recent;
    uint64_t before;
} group_totals;

group_totals groups_totals(const group_list *groups);
group_trend group_trend_of(const group_list *groups, const group_totals *totals, const group *g);
const char *group_trend_name(group_trend trend); /* NULL for none */

#endif
