/* ==== >> files/members ====
 * Job: members of archives by path, in archives too.
 * Offers: members_walk, members_read, members_keep, members_forget.
 * Never: uses a member's name as a path of the system.
 *
 * Members of archives by path: ARCHIVE/MEMBER, and ARCHIVE/MEMBER/MEMBER where a member is an archive itself.
 * All is read into memory; no name of a member is ever used as a path of the system. One lock guards it: any
 * thread may call. */
#ifndef MACHSYM_TOOL_MEMBERS_H
#define MACHSYM_TOOL_MEMBERS_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "archive.h"

enum {
    MEMBERS_MAX_DEPTH =
        3 /* archives in archives: App Store Connect's have one level, a zipped CI artefact two */
};

/* Where the path of an archive ends in a path that leads into it; 0 when it does not. */
size_t members_end(const char *path);
/* Whether a name ends as that of an archive in which others may lie. */
bool members_is_archive_name(machsym_str name);

/* A member that is met on a walk. */
typedef struct member_found {
    const char *path; /* that leads to it */
    const archive *archive;
    const archive_member *member;
} member_found;

/* What a walk met beside what it was for. */
typedef struct member_walk {
    size_t count;        /* of members that were shown */
    bool is_deep;        /* archives lie deeper than is looked */
    machsym_error fault; /* the last that could not be looked into; MACHSYM_OK: none */
    text fault_path;
} member_walk;

/* Shows every member of the archive at a path, and of the archives in it. Returns false, with *err, when
 * there is no archive (MACHSYM_OK) or a damaged one. visit must not call functions of this file. Threads:
 * any. */
bool members_walk(const char *path, void (*visit)(void *user, const member_found *found, machsym_error *err),
                  void *user, member_walk *walk, machsym_error *err);

/* Whether an archive has the member. */
bool members_has(const char *path);
/* Appends the first bytes of a member, at most max. Returns false with *err. */
bool members_read(const char *path, uint64_t max, text *out, machsym_error *err);
/* A whole member, which stays in memory until members_forget. *name: with its whole name, from malloc. */
bool members_keep(const char *path, machsym_bytes *bytes, char **name, machsym_error *err);
/* Lets go of the members that were kept, once nothing uses them any more. */
void members_forget(void);

#endif
