/* ==== >> model/status ====
 * Job: what was found of an image's symbols.
 * Offers: image_status.
 * Never: searches for them. */
#ifndef REPORT_STATUS_H
#define REPORT_STATUS_H

#include "machsym.h"

/* What kind of file answers. */
typedef enum store_kind { STORE_CACHE = 0, STORE_BINARY, STORE_DSYM, STORE_MAP } store_kind;

typedef enum image_found {
    IMAGE_FOUND = 0,
    IMAGE_MISSING,    /* no file has this UUID */
    IMAGE_OTHER_UUID, /* a file of this name has another */
    IMAGE_BROKEN,     /* the file cannot be opened */
    IMAGE_AMBIGUOUS,  /* no UUID, and several files go by the name */
    IMAGE_UNPROVEN,   /* no UUID; a file of this name may be of another build */
    IMAGE_UNREACHED   /* its chunks could not be had, or memory ran out: asked again, it may be there */
} image_found;

enum { IMAGE_FAILURE = 256 };

/* How a request ended; strings live as long as who found it. */
typedef struct image_status {
    image_found found;
    const char *path;
    machsym_uuid uuid; /* OTHER_UUID: the file's */
    const char *why;   /* BROKEN: why; FOUND: what is damaged in the file, or NULL */
    bool has_dwarf;
    bool other_lines;  /* a map of another line policy than asked for */
    const char *lines; /* which that is */
    const char *wanted_lines;
    store_kind kind;
    const char *unread;          /* why a file of it could not be read that may be whole; NULL: all could */
    char failure[IMAGE_FAILURE]; /* UNREACHED: why */
} image_status;

#endif
