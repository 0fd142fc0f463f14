/* What the tests of symbol maps share: files to try, building, comparing frames. */
#ifndef MACHSYM_MAPS_H
#define MACHSYM_MAPS_H

#include "test.h"

#include <dirent.h>
#include <sys/stat.h>

enum { MAPS_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1, MAPS_TEXT = 1 << 20 };

/* ---- Files ---- */

typedef struct file_list {
    char **v;
    size_t count;
    size_t cap;
} file_list;

/* Regular files below a folder, by name. */
static inline void list_files(file_list *list, const char *folder)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || lstat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            list_files(list, path);
        if (!S_ISREG(st.st_mode))
            continue;
        if (list->count == list->cap) {
            list->cap = list->cap == 0 ? 64 : list->cap * 2;
            list->v = (char **)realloc(list->v, list->cap * sizeof *list->v);
        }
        list->v[list->count] = (char *)malloc(strlen(path) + 1);
        strcpy(list->v[list->count++], path);
    }
    closedir(dir);
}

static inline void free_list(file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->v[i]);
    free(list->v);
    memset(list, 0, sizeof *list);
}

/* ---- Maps ---- */

static inline machsym_map *build_map(const machsym_image *image, machsym_lines lines, uint32_t flags)
{
    machsym_plan_desc desc;
    machsym_map *map = NULL;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = lines;
    desc.flags = flags;
    if (machsym_map_build(&desc, &map, &err) != MACHSYM_OK)
        printf("map: %s\n", err.what);
    return map;
}

/* What opens the map that some bytes are. */
static inline machsym_map_desc desc_of_bytes(const void *ptr, size_t len, uint32_t flags)
{
    machsym_map_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    desc.flags = flags;
    return desc;
}

/* The map that a map's bytes are. */
static inline machsym_map *reopen_map(const machsym_map *map, uint32_t flags)
{
    machsym_map *opened = NULL;
    machsym_error err;
    machsym_map_desc desc = desc_of_bytes(machsym_map_bytes(map).ptr, machsym_map_bytes(map).len, flags);
    if (machsym_map_open(&desc, &opened, &err) != MACHSYM_OK)
        printf("map: %s\n", err.what);
    return opened;
}

/* A writer of what a map's info says. */
static inline machsym_result open_writer_of(const machsym_map_info *info, machsym_writer **out)
{
    machsym_writer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.info = info;
    return machsym_writer_open(&desc, out, NULL);
}

static inline bool same_bytes(const machsym_map *a, const machsym_map *b)
{
    machsym_bytes x = machsym_map_bytes(a);
    machsym_bytes y = machsym_map_bytes(b);
    return x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0;
}

/* ---- Frames ---- */

/* Room for the answers of one thread. */
typedef struct map_answer {
    machsym_map_frame found[MAPS_FRAMES];
    machsym_frame frames[MAPS_FRAMES];
    size_t count;
    char text[MAPS_TEXT];
} map_answer;

static inline void ask_map(const machsym_map *map, uint64_t addr, map_answer *out)
{
    out->count = machsym_map_frames_at_addr(map, addr, out->found, MAPS_FRAMES);
    size_t count = out->count < MAPS_FRAMES ? out->count : MAPS_FRAMES;
    machsym_map_names(map, out->found, count, out->frames, out->text, MAPS_TEXT);
}

static inline void ask_session(machsym_session *session, uint64_t addr, map_answer *out)
{
    out->count = machsym_session_frames_at_addr(session, addr, out->frames, MAPS_FRAMES);
}

static inline bool same_str(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool same_path(const machsym_path *a, const machsym_path *b)
{
    return same_str(a->comp_dir, b->comp_dir) && same_str(a->dir, b->dir) && same_str(a->name, b->name);
}

/* What differs; NULL when nothing does. Entries of debug info have no place in a map. */
static inline const char *frames_differ(const map_answer *a, const map_answer *b, bool columns)
{
    if (a->count != b->count)
        return "count";
    for (size_t i = 0; i < a->count && i < MAPS_FRAMES; i++) {
        const machsym_frame *x = &a->frames[i];
        const machsym_frame *y = &b->frames[i];
        if (!same_str(x->linkage_name, y->linkage_name))
            return "linkage name";
        if (!same_str(x->name, y->name))
            return "name";
        if (x->line != y->line || (columns && x->column != y->column))
            return "line";
        if ((x->file.name.len != 0 || y->file.name.len != 0) && !same_path(&x->file, &y->file))
            return "file";
        if (x->function_start != y->function_start || x->function_size != y->function_size)
            return "function's bounds";
        if (x->name_source != y->name_source || x->line_source != y->line_source)
            return "source";
        if (x->is_inline != y->is_inline)
            return "inline";
    }
    return NULL;
}

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
