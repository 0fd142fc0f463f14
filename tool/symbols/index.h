/* ==== >> symbols/index ====
 * Job: what a folder held when it was looked at last.
 * Offers: store_index; index_load, index_save, index_find.
 * Never: looks at the folder.
 *
 * Index files: what a folder held when it was looked at, so that the next run looks only at what changed. */
#ifndef MACHSYM_TOOL_INDEX_H
#define MACHSYM_TOOL_INDEX_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "../../report/model/status.h"

/* A slice as the index keeps it. */
typedef struct index_slice {
    machsym_uuid uuid;
    uint32_t cputype;
    uint32_t cpusubtype;
    store_kind kind;
    const char *member; /* of an archive: its name there; empty: the file itself */
} index_slice;

/* A file or folder of a folder. */
typedef struct index_child {
    const char *name;
    bool is_folder;
    int64_t mtime; /* nanoseconds */
    int64_t size;
    uint32_t first_slice;
    uint32_t slice_count;
} index_child;

typedef struct index_folder {
    const char *path;
    int64_t mtime;
    uint32_t first_child;
    uint32_t child_count;
} index_folder;

/* What is known of everything below one folder. */
typedef struct store_index {
    index_folder *folders;
    index_child *children;
    index_slice *slices;
    uint32_t folder_count;
    uint32_t child_count;
    uint32_t slice_count;
    uint32_t folder_cap;
    uint32_t child_cap;
    uint32_t slice_cap;
    uint32_t *table; /* folder index + 1 by a hash of the path */
    uint32_t table_size;
} store_index;

/* Each returns one more, zeroed. */
index_slice *index_add_slice(store_index *index);
index_child *index_add_child(store_index *index);
index_folder *index_add_folder(store_index *index);
void index_free(store_index *index);

/* The index file of a folder, with a NUL; false when there is no place for one. */
bool index_path(const char *folder, bool shallow, text *out);
/* Writes whole or not at all. */
void index_save(const store_index *index, const char *path);
/* Takes what an index file says; nothing when there is none or it is not whole. The names stay in
 * *content. */
void index_load(store_index *index, const char *path, char **content);
/* What a loaded index says of a folder; NULL when it does not know it. */
const index_folder *index_find(const store_index *index, const char *path);

#endif
