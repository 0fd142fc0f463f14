/* ==== >> symbols/keep ====
 * Job: what a store that machsym keeps has, UUID by UUID.
 * Offers: kept_find, kept_read, kept_remove, kept_sweep.
 * Never: decides what is worth keeping.
 *
 * What a store that machsym keeps has, UUID by UUID: docs/store.md. */
#ifndef MACHSYM_TOOL_KEEP_H
#define MACHSYM_TOOL_KEEP_H

#include "machsym.h"
#include "../../report/base/text.h"

/* What is kept of one UUID. Strings live as long as the list; those that are not known are empty. */
typedef struct kept_image {
    machsym_uuid uuid;
    const char *name; /* of the image */
    const char *version;
    const char *build;
    const char *arch;
    const char *dsym;       /* the file of its dSYM; NULL: none is kept */
    const char *binary;     /* the same of its binary */
    const char *map;        /* the same of a map */
    const char *other;      /* a file beside them that is not used */
    const char *incomplete; /* a folder that a killed run left without its file, and there is nothing else */
    uint64_t dsym_size;
    uint64_t binary_size;
    uint64_t map_size;
    int64_t date;    /* when the newest of them was added: seconds since 1970 */
    bool has_failed; /* a part of it could not be looked at, which was reported */
} kept_image;

typedef struct kept_list {
    kept_image *v; /* by UUID */
    size_t count;
    size_t cap;
    const char **left; /* temporary files of killed runs */
    size_t left_count;
    size_t left_cap;
    bool has_failed; /* what lies in the store could not be looked at, which was reported */
    pool strings;
} kept_list;

/* Whether a store can be there. Returns false after a message when there is no such folder. */
bool kept_is_folder(const char *dir);
/* Lists a store. Returns false after a message when there is no such folder. */
bool kept_read(const char *dir, kept_list *out);
void kept_free(kept_list *list);
/* Removes all that is kept of a UUID. Returns false after a message. */
bool kept_remove(const char *dir, const kept_image *image);
/* Removes the folders of a store that have nothing in them, but for the store. Returns false after a
 * message. */
bool kept_remove_empty(const char *dir);

/* ---- The files of one UUID ---- */

/* Each path ends in a NUL; empty: there is none. */
typedef struct kept_files {
    text dsym;
    text binary;
    text other;  /* another file in the bundle, which is not used */
    bool is_old; /* the binary lies in the dSYM's bundle, where version 0.1 kept one that had no dSYM */
} kept_files;

/* Finds the dSYM and the binary. Returns false after a message when a folder or file cannot be looked at. */
bool kept_find(const char *dir, const machsym_uuid *uuid, kept_files *out);
void kept_files_free(kept_files *files);

/* What stands in the places of a UUID at one moment: equal as long as no run changes it. */
typedef struct kept_stamp {
    uint64_t v[5][5];
} kept_stamp;

void kept_stamp_take(const char *dir, const machsym_uuid *uuid, const kept_files *files, kept_stamp *out);

/* Holds the place of a UUID: no other run changes it until the descriptor is closed. File systems without
 * locks let all through. Returns -1 after a message. */
int kept_hold(const char *dir, const machsym_uuid *uuid);
/* Removes the temporary files of killed runs beside the files of a UUID. */
void kept_sweep(const char *dir, const machsym_uuid *uuid);

/* ---- Versions ---- */

/* The Info.plist that tells the version of an image, of its bundle or archive; empty when there is none.
 * Returns false with *err and *path, of the file that is damaged or cannot be read. */
bool kept_find_plist(const char *image_path, text *out, text *path, machsym_error *err);
/* What an Info.plist says of the version. Returns false with *err when it is damaged. */
bool kept_version(machsym_str plist, text *version, text *build, machsym_error *err);

#endif
