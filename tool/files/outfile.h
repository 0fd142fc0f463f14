/* ==== >> files/outfile ====
 * Job: output files that are whole or not there.
 * Offers: outfile_begin, outfile_put, outfile_end, outfile_write, outfile_spares.
 * Never: leaves half a file.
 *
 * Output files that are whole or not there: written in their folder under a name of their own, then moved. A
 * file that is replaced gives them its mode, owner and access list; a link is replaced itself, as if nothing
 * were there. What a run left there that was killed goes when the next one writes into the folder. */
#ifndef MACHSYM_TOOL_OUTFILE_H
#define MACHSYM_TOOL_OUTFILE_H

#include "machsym.h"
#include "../../report/base/text.h"

enum { OUTFILE_BLOCK = 1 << 16 };

/* What becomes of what has the name already. */
typedef enum outfile_rule {
    OUTFILE_REPLACE = 0, /* a file is replaced, a device or pipe written to: the user named it */
    OUTFILE_KEEP,        /* it stays, and the output fails */
    OUTFILE_OWN          /* it is replaced, whatever it is */
} outfile_rule;

/* A file that is being written. */
typedef struct outfile {
    const char *path; /* NULL: standard output */
    int fd;           /* -1: none */
    int slot;         /* of the names to remove when a signal ends the program */
    outfile_rule rule;
    bool is_device; /* or a pipe: written to as it is */
    int failure;    /* errno; 0: none */
} outfile;

/* Whether an output is another file than an input, or than the archive of one; else says so. Either may be
 * NULL. */
bool outfile_spares(const char *path, const char *input);

/* Whether two outputs are one file, by any name: a link, a path that leads there in another way; of files
 * that are not there yet also in other letters. Devices are not: both may go there. */
bool outfile_is_same(const char *a, const char *b);

/* A file that is read. */
typedef struct outfile_input {
    uint64_t dev;
    uint64_t ino;
} outfile_input;

/* Files that are read, many of them. Zero it first. */
typedef struct outfile_inputs {
    outfile_input *v;
    size_t count;
    size_t cap;
    bool is_sorted;
} outfile_inputs;

void outfile_inputs_add(outfile_inputs *all, const char *path);
/* As outfile_spares, for all of them; and no output goes into a bundle of symbols. */
bool outfile_inputs_spare(outfile_inputs *all, const char *path);
void outfile_inputs_free(outfile_inputs *all);

/* Opens the file beside its place; nothing for standard output, which is NULL and "-". Returns false with
 * out->failure. */
bool outfile_begin(outfile *out, const char *path, outfile_rule rule);
/* Writes the text and empties it. */
void outfile_put(outfile *out, text *t);
/* The same, when there is enough of it. */
void outfile_flush(outfile *out, text *t);
/* Writes the rest, frees the text and gives the file its name; with ok false, or when anything failed, no
 * file is left. Returns false after a message unless ok was false. */
bool outfile_end(outfile *out, text *t, bool ok);

/* Begins a file and writes all of it; its name it gets from outfile_end_all. */
void outfile_begin_with(outfile *out, const char *path, const void *ptr, size_t len, outfile_rule rule);
/* Gives files their names that were written whole, each with its own failure, or drops them where it has
 * one. A disk makes many files safe in little more time than one. */
void outfile_end_all(outfile *v, size_t count);

/* Whether a name is that of a file that is being written, or that a killed run left. */
bool outfile_is_temporary(const char *name);

/* All in one: returns 0, or errno, without a message. */
int outfile_write(const char *path, const void *ptr, size_t len, outfile_rule rule);

/* Makes the folders above a file, where they are missing. Returns false with errno. */
bool outfile_make_folders(const char *path);

/* What such an errno says of an output. */
const char *outfile_error(int failure);
bool outfile_is_full(int failure); /* whether it is that there is no room, which the next file has neither */

/* From here on no file is left when a signal or a lack of memory ends the program. Called once. */
void outfile_start(void);

#endif
