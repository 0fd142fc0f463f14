/* What a store that machsym keeps has, UUID by UUID: docs/store.md. */
#ifndef MACHSYM_TOOL_KEEP_H
#define MACHSYM_TOOL_KEEP_H

#include "layout.h"

/* What is kept of one UUID. Strings live as long as the list; those that are not known are empty. */
typedef struct kept_image {
    machsym_uuid uuid;
    const char *name; /* of the image */
    const char *version;
    const char *build;
    const char *arch;
    const char *dsym;       /* the Mach-O file; NULL: none is kept */
    const char *map;        /* the same of a map */
    const char *incomplete; /* a bundle that a killed run left without its file, and there is nothing else */
    uint64_t dsym_size;
    uint64_t map_size;
    int64_t date; /* when the newest of the two was added: seconds since 1970 */
} kept_image;

typedef struct kept_list {
    kept_image *v; /* by UUID */
    size_t count;
    size_t cap;
    pool strings;
} kept_list;

/* Whether a store can be there. Returns false after a message when there is no such folder. */
bool kept_is_folder(const char *dir);
/* Lists a store. Returns false after a message when there is no such folder. */
bool kept_read(const char *dir, kept_list *out);
void kept_free(kept_list *list);
/* Removes all that is kept of a UUID. Returns false after a message. */
bool kept_remove(const char *dir, const kept_image *image);

/* The Mach-O file of the dSYM that is kept of a UUID, with a NUL; false when there is none. */
bool kept_dsym(const char *dir, const machsym_uuid *uuid, text *out);

/* The Info.plist that tells the version of an image, of its bundle or archive; empty when there is none.
 * Returns false with *err and *path, of the file that is damaged. */
bool kept_find_plist(const char *image_path, text *out, text *path, machsym_error *err);
/* What an Info.plist says of the version. Returns false with *err when it is damaged. */
bool kept_version(machsym_str plist, text *version, text *build, machsym_error *err);

#endif
