/* ==== >> files/open ====
 * Job: opens the image that a command line names, or says why not.
 * Offers: image_options; open_image, open_for_command, open_say_damage, open_session.
 * Never: answers. */
#ifndef MACHSYM_TOOL_H
#define MACHSYM_TOOL_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/takes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- Images ---- */

/* Opens an image, and on failure says why; several slices without a choice are listed. Damage that was
 * found is reported. Returns NULL on failure. */
machsym_image *open_image(const machsym_open_desc *desc);
/* The same for commands that do not look at debug info, nor for damage in it. */
machsym_image *open_without_dwarf(const machsym_open_desc *desc);
/* The same, but leaves it to the caller to say what is damaged. */
machsym_image *open_damaged(const machsym_open_desc *desc);
/* Tells what is known of an image, damage of its debug info with it. Returns whether memory was enough for
 * that.
 * Threads: any. */
bool open_read_info(const machsym_image *image, machsym_image_info *info);
/* Says what of a Mach-O file is damaged, once for each file. The exit status is 1 from then on. Of a map it
 * says nothing: map info and --explain do. Threads: any. */
void open_say_damage(const machsym_image *image);
/* The same if any was met so far. Threads: any. */
void open_say_met_damage(const machsym_image *image);
/* Says that a session found its map damaged, if it did; the rest as open_say_damage. Threads: any. */
void open_say_lost(const char *path, const machsym_session *session);
/* The same as text: which file, what is missing, how much. Adds nothing when there is no damage. */
void open_put_damage(text *t, const machsym_image_info *info);
/* What is damaged, and, if it is misleading, what is wrong with it, where, and that names and lines may be
 * wrong. */
void open_put_misleading(text *t, const char *damaged, const machsym_damage *damage);
/* Whether an image is a kernel collection or a shared cache, which answer by their images only: says so. */
bool open_refuse_collection(const machsym_image *image);
/* Says why an image could not be opened. */
void open_say_failure(const machsym_open_desc *desc, const machsym_error *err);
/* Closes a session, and notes whether it lacked memory. */
void open_session_close(machsym_session *session);
machsym_session *open_session(const machsym_image *image, machsym_lines lines, uint32_t flags);

/* The options of commands that look at one image. */
typedef struct image_options {
    const char *path;
    const char *pair;
    const char *arch;
    const char *entry;  /* of a kernel collection or a shared cache */
    const char *member; /* of the archive that each file is; NULL: none */
    uuid_option uuid;
    bool copy;
    bool no_symtab; /* as if LC_SYMTAB had been stripped */
    bool no_dwarf;  /* of the command, or of another option: no debug info will be asked for */
} image_options;

/* Their tables, for a field of the struct above: which slice; all of them, the other half too. */
extern const option slice_option_table[];
extern const option image_option_table[];

/* The path that a file which is named stands for: with --member that of the member, which lives until the
 * program ends. */
const char *image_options_path(const image_options *from, const char *path);
void image_options_apply(const image_options *from, machsym_open_desc *desc);
/* What commands that look at one image begin with: takes the options into *to, with *from as a part of it,
 * and opens image and session. Returns an exit status; *image is NULL when the command is to end with it. */
int open_for_command(const command *c, image_options *from, int argc, char **argv, void *to,
                     machsym_image **image, machsym_session **session);
machsym_image *image_options_open(const image_options *from);

#endif
