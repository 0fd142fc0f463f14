/* ==== >> symbols/store ====
 * Job: finds files of symbols by UUID and by name.
 * Offers: store, store_entry; store_open, store_add, store_find.
 * Never: opens what it finds to answer.
 *
 * Where symbols lie: dSYMs, binaries and maps in files, folders and archives, found by UUID. */
#ifndef MACHSYM_TOOL_STORE_H
#define MACHSYM_TOOL_STORE_H

#include "machsym.h"
#include "../../report/model/status.h"

/* The best last. */

/* One slice of one file, or one image of a shared cache. */
typedef struct store_entry {
    machsym_uuid uuid;
    const char *path; /* of the Mach-O file or map itself, or of the cache */
    const char *arch; /* static */
    store_kind kind;
} store_entry;

typedef struct store store;

/* How to look for files. */
typedef struct store_options {
    bool no_cache; /* neither read nor write the index files in $XDG_CACHE_HOME/machsym */
} store_options;

store *store_open(const store_options *how);
/* Adds a file, a bundle, or a folder with everything below it; with shallow only the files and bundles
 * right in it. A folder is remembered in an index file: the next run looks only at what has another time
 * or size. Returns false after a message when there is no such path. */
bool store_add(store *s, const char *path, bool shallow);
/* Ends adding: sorts. After it the store never changes and any number of threads may ask. */
void store_finish(store *s);
void store_close(store *s);

/* Whether a file that was added holds no symbols, which was reported. */
bool store_failed(const store *s);
/* Whether a folder holds a map or archive that does not open, or what cannot be read, which was reported: it
 * may be what a report waits for. */
bool store_has_broken(const store *s);
/* The same of shared caches, for which frames of the system may wait. */
bool store_has_broken_system(const store *s);
/* The entries of a UUID, best first: map, dSYM, binary; returns how many. arch "" or one that is not known:
 * any. */
size_t store_find(const store *s, const machsym_uuid *uuid, machsym_str arch, const store_entry **out,
                  size_t cap);
/* The path of an entry, in no order; NULL past the last one. */
const char *store_path(const store *s, size_t index);
/* The entries of files that go by a name; returns how many. */
size_t store_find_name(const store *s, machsym_str name, const store_entry **out, size_t cap);
/* The file that was most likely meant by a name, where none has the right UUID: of this arch, a dSYM if
 * there is one. NULL: none goes by the name. */
const store_entry *store_find_other(const store *s, machsym_str name, machsym_str arch);

#endif
