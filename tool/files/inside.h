/* ==== >> files/inside ====
 * Job: the files that a path stands for, in archives and folders too.
 * Offers: inside_expand, inside_expand_reports, inside_read, inside_image_open, inside_map_open.
 * Never: chooses by what a file tells.
 *
 * Files inside archives and folders. Wherever the tool takes a Mach-O file it also takes an archive or a
 * folder that holds such files, archives in them too, and ARCHIVE/MEMBER for one of them. A member that is
 * opened is read into memory, where it stays until members_forget. */
#ifndef MACHSYM_TOOL_INSIDE_H
#define MACHSYM_TOOL_INSIDE_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "outfile.h"

/* Paths, each from malloc. */
typedef struct path_list {
    char **v;
    size_t count;
    size_t cap;
} path_list;

void path_list_add(path_list *list, const char *path);
void path_list_free(path_list *list);
/* Which files of an archive or folder are meant. */
typedef enum inside_kind {
    INSIDE_BEST, /* its dSYMs; without any its other Mach-O files; without any its maps */
    /* its dSYMs and maps, and programs and libraries without a dSYM among these; without any all Mach-O
     * files */
    INSIDE_KEPT,
    INSIDE_ALL, /* Mach-O files and maps */
    INSIDE_MAPS /* maps only */
} inside_kind;

/* The files that a path stands for, as paths, sorted: those of an archive or folder; of anything else the
 * path itself. Says what is wrong with an archive, and returns false. */
bool inside_expand(const char *path, inside_kind kind, path_list *out);
/* The same of INSIDE_ALL for an archive that lies in a folder: nothing is reported, and it may hold nothing.
 * Returns false with *err, whose what is NULL otherwise, when it is damaged. */
bool inside_expand_quietly(const char *path, path_list *out, machsym_error *err);
/* Whether a file begins as a symbol map does; a member of an archive, too. */
bool inside_is_map(const char *path);
/* Whether a folder is a dSYM that has a place for debug info. */
bool inside_is_bundle(const char *path);
/* Whether a path is an archive or a folder that holds several files, so that one must be named. */
bool inside_is_container(const char *path);
/* Adds the Mach-O files of an archive or folder with their slices, a line each. Returns false when there are
 * none. */
bool inside_list(const char *path, text *out);

/* The reports that a path stands for, by the ends of their names: those of an archive or folder, sorted; of
 * anything else the path itself. Says what is wrong, and returns false. */
bool inside_expand_reports(const char *path, path_list *out);
/* Adds the paths that a list has, a line each, or each ended by a NUL, as find -print0 does; "-" is standard
 * input. Says what is wrong, and returns false. */
bool inside_read_list(const char *path, path_list *out);
/* Appends a whole file, or a member of an archive. Returns NULL, or why it cannot be read. Threads: any. */
const char *inside_read(const char *path, text *out);
/* Whether there is such a file, or such a member. Threads: any. */
bool inside_has(const char *path);
/* Writes a part of a file, or of a member of an archive. Returns NULL, or why it cannot be read. */
const char *inside_copy(const char *path, uint64_t off, uint64_t len, outfile *out);
/* The slices of a Mach-O file; of a map one, of file type 0. Of a thin member of an archive only the begin is
 * read. */
size_t inside_probe(const char *path, machsym_slice *slices, size_t cap, machsym_error *err);

/* As the functions of machsym.h without "inside". Of a path that leads into an archive the member is opened;
 * of an archive or folder the one file in it that arch and uuid ask for. Threads: any. */
machsym_result inside_image_open(const machsym_open_desc *desc, machsym_image **out, machsym_error *err);
machsym_result inside_map_open(const machsym_map_desc *desc, machsym_map **out, machsym_error *err);
size_t inside_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                          machsym_error *err);

#endif
