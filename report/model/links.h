/* ==== >> model/links ====
 * Job: addresses of source lines, made of a template.
 * Offers: link_rules; links_take_template, links_add_root, links_lack_commit, links_path, links_put.
 * Never: makes a link that runs code where it is followed: schemes are listed.
 *
 * "https://host/blob/{commit}/{path}#L{line}" of a call's file and line. What a file's path has ahead of the
 * repository goes, by rules FROM=TO. */
#ifndef REPORT_MODEL_LINKS_H
#define REPORT_MODEL_LINKS_H

#include "../base/text.h"
#include "machsym.h"
#include "report.h"

/* Builds have a root for themselves, one for packages, and one for generated files. */
enum { LINK_ROOTS = 16 };

/* What a path begins with, and what takes its place. */
typedef struct link_root {
    machsym_str from;
    machsym_str to;
} link_root;

/* How links are made. Texts are borrowed. */
typedef struct link_rules {
    machsym_str pattern; /* empty: no links */
    machsym_str commit;  /* empty: a template that asks for it makes no link */
    link_root roots[LINK_ROOTS];
    size_t root_count;
} link_rules;

/* Each returns NULL, or what is wrong with the text. */
const char *links_take_template(link_rules *rules, machsym_str text);
const char *links_add_root(link_rules *rules, machsym_str text); /* FROM=TO */
/* Whether the template wants a commit that is not told. */
bool links_lack_commit(const link_rules *rules);

/* Adds the path with its root replaced, without "." and "..". Returns false when it lies outside all roots,
 * where there are some, or leaves its own. */
bool links_path(const link_rules *rules, machsym_str path, text *out);
/* Adds the link to a line. Returns false, and adds nothing, when there is none. */
bool links_put(const link_rules *rules, const report *r, machsym_str path, uint32_t line, uint32_t column,
               text *out);

#endif
