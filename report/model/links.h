/* ==== >> model/links ====
 * Job: addresses of source lines, made of a template.
 * Offers: link_rules; links_take_template, links_add_root, links_lack_commit, links_path, links_put.
 * Never: makes a link that runs code when it is followed: allowed schemes are listed.
 *
 * "https://host/blob/{commit}/{path}#L{line}" for a call's file and line. Rules FROM=TO remove the part of a path
 * before the repository. */
#ifndef REPORT_MODEL_LINKS_H
#define REPORT_MODEL_LINKS_H

#include "../base/text.h"
#include "machsym.h"
#include "report.h"

/* Builds have a root of their own, one for packages, and one for generated files. */
enum { LINK_ROOTS = 16 };

/* The start of a path, and its replacement. */
typedef struct link_root {
    machsym_str from;
    machsym_str to;
} link_root;

/* Settings for links. Texts are borrowed. */
typedef struct link_rules {
    machsym_str pattern; /* empty: no links */
    machsym_str commit;  /* empty: a template with {commit} makes no links */
    link_root roots[LINK_ROOTS];
    size_t root_count;
} link_rules;

/* Each returns NULL, or the error in the text. */
const char *links_take_template(link_rules *rules, machsym_str text);
const char *links_add_root(link_rules *rules, machsym_str text); /* FROM=TO */
/* Whether the template needs a commit that was not given. */
bool links_lack_commit(const link_rules *rules);

/* Appends the path with its root replaced, without "." and "..". Returns false if roots are given and the
 * path lies outside all of them, or leaves its root. */
bool links_path(const link_rules *rules, machsym_str path, text *out);
/* Appends the link to a line. Returns false, and appends nothing, if there is no link. */
bool links_put(const link_rules *rules, const report *r, machsym_str path, uint32_t line, uint32_t column,
               text *out);

#endif
