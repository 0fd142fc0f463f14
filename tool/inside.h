/* Files inside archives and folders. Wherever the tool takes a Mach-O file it also takes an archive or a
 * folder that holds such files, and ARCHIVE/MEMBER for one of them. A member is read into memory, where it
 * stays until the program ends. */
#ifndef MACHSYM_TOOL_INSIDE_H
#define MACHSYM_TOOL_INSIDE_H

#include "outfile.h"
#include "tool.h"

/* Paths, each from malloc. */
typedef struct path_list {
    char **v;
    size_t count;
    size_t cap;
} path_list;

void path_list_add(path_list *list, const char *path);
void path_list_free(path_list *list);
/* The Mach-O files that a path stands for, as paths: the dSYMs of an archive or folder, or where there are
 * none its other Mach-O files, sorted; of anything else the path itself. all: not the dSYMs alone. Says what
 * is wrong with an archive, and returns false. */
bool inside_expand(const char *path, bool all, path_list *out);
/* Whether a path is an archive or a folder that holds several files, of which one must be named. */
bool inside_is_container(const char *path);
/* Adds the Mach-O files of an archive or folder with their slices, a line each. Returns false when there are
 * none. */
bool inside_list(const char *path, text *out);

/* The reports that a path stands for, by the ends of their names: those of an archive or folder, sorted; of
 * anything else the path itself. Says what is wrong, and returns false. */
bool inside_expand_reports(const char *path, path_list *out);
/* Adds the paths that a list has, a line each; "-" is standard input. Says what is wrong, and returns
 * false. */
bool inside_read_list(const char *path, path_list *out);
/* Appends a whole file, or a member of an archive. Returns NULL, or why it cannot be read. Threads: any. */
const char *inside_read(const char *path, text *out);
/* Writes a part of a file, or of a member of an archive. Returns NULL, or why it cannot be read. */
const char *inside_copy(const char *path, uint64_t off, uint64_t len, outfile *out);
/* Lets go of the members that were read, once nothing uses them any more: those of a large archive are more
 * than fit into memory. */
void inside_forget(void);
/* Whether a path leads into an archive: the length of the archive's own path; else 0. */
size_t inside_is_member(const char *path);
/* The slices of a Mach-O file. Of a thin member of an archive only the begin is read. */
size_t inside_probe(const char *path, machsym_slice *slices, size_t cap, machsym_error *err);

/* As the functions of machsym.h without "inside". Of a path that leads into an archive the member is opened;
 * of an archive or folder the one file in it that arch and uuid ask for. Threads: any. */
machsym_result inside_image_open(const machsym_open_desc *desc, machsym_image **out, machsym_error *err);
size_t inside_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                          machsym_error *err);

#endif
