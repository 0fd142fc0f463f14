/* ==== >> model/status ====
 * Job: the result of a search for an image's symbols.
 * Offers: image_status.
 * Never: searches for them. */
#ifndef REPORT_STATUS_H
#define REPORT_STATUS_H

#include "machsym.h"

/* The kind of file that answers. */
typedef enum store_kind { STORE_CACHE = 0, STORE_BINARY, STORE_DSYM, STORE_MAP } store_kind;

typedef enum image_found {
    IMAGE_FOUND = 0,
    IMAGE_MISSING,    /* no file has this UUID */
    IMAGE_OTHER_UUID, /* a file of this name has another UUID */
    IMAGE_BROKEN,     /* the file cannot be opened */
    IMAGE_AMBIGUOUS,  /* no UUID, and several files have this name */
    IMAGE_UNPROVEN,   /* no UUID; a file of this name may be of another build */
    IMAGE_UNREACHED   /* its chunks could not be fetched, or memory ran out; a retry may succeed */
} image_found;

enum { IMAGE_FAILURE = 256 };

/* The result of a search. Strings live as long as the searcher. */
typedef struct image_status {
    image_found found;
    const char *path;
    machsym_uuid uuid; /* OTHER_UUID: that of the file */
    const char *why;   /* BROKEN: the reason; FOUND: damage in the file, or NULL */
    bool has_dwarf;
    bool other_lines;  /* a map with another line policy than requested */
    const char *lines; /* the map's policy */
    const char *wanted_lines;
    store_kind kind;
    const char *unread;          /* why a file that may hold it was not read; NULL: all were read */
    char failure[IMAGE_FAILURE]; /* UNREACHED: why */
} image_status;

#endif
