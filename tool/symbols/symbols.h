/* ==== >> symbols/symbols ====
 * Job: chooses among the files of one UUID.
 * Offers: uuid_files, uuid_choice; uuid_files_find, uuid_choice_open, symbols_find.
 * Never: decodes debug info.
 *
 * The files of one UUID, and which of them answers; --symbols, which has them found. */
#ifndef MACHSYM_TOOL_SYMBOLS_H
#define MACHSYM_TOOL_SYMBOLS_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "../../report/model/status.h"
#include "../base/options.h"
#include "../files/open.h"
#include "objects.h"
#include "source.h"
#include "store.h"

enum {
    MAX_UUID_FILES = 16, /* further ones are copies of these */
    MAX_SYMBOL_PATHS = 256
};

/* Files of one UUID, best first: maps, dSYMs, binaries. */
typedef struct uuid_files {
    const store_entry *v[MAX_UUID_FILES];
    size_t count;
} uuid_files;

/* Returns whether there is one. */
bool uuid_files_find(const store *s, const machsym_uuid *uuid, machsym_str arch, uuid_files *out);
/* The first of a kind; NULL when there is none. */
const store_entry *uuid_files_kind(const uuid_files *files, store_kind kind);
bool uuid_files_has_macho(const uuid_files *files);

/* ---- Which of them answers ---- */

/* How to open one. */
typedef struct uuid_choice_desc {
    const machsym_uuid *uuid;
    machsym_lines lines;
    uint32_t open_flags;           /* machsym_open_flags */
    const object_options *objects; /* NULL: as debug maps name them */
    bool no_maps;   /* what is asked for is in no map: one is taken only when there is nothing else */
    bool any_lines; /* where there is nothing else, a map of another line policy is taken */
} uuid_choice_desc;

/* The search for a file that opens and is whole. Zero it first. */
typedef struct uuid_choice {
    const uuid_choice_desc *desc;
    symbol_file file;
    const store_entry *used; /* whose file it is; NULL: none opened */
    bool is_whole;
    bool lacks_memory;   /* for one of them: what it would have answered is not known */
    const char *unread;  /* why the system could not read a file, which may be whole; NULL: it could all */
    symbol_file damaged; /* the first that is damaged, kept in case there is no whole one */
    const store_entry *damaged_entry;
    const char *bad[MAX_UUID_FILES]; /* "PATH: WHY" of those that are no good, in two parts */
    const char *why[MAX_UUID_FILES];
    text damage[MAX_UUID_FILES]; /* what is reported in place of both; empty: the file did not open */
    size_t bad_count;
} uuid_choice;

/* Opens the file that answers best. Its strings live as long as the store. */
void uuid_choice_open(uuid_choice *c, const uuid_choice_desc *desc, const uuid_files *files);
/* Adds a line for each file that is no good, with the one that answers in its place, and frees what they
 * were told with. The file stays open. */
void uuid_choice_end(uuid_choice *c, text *complaints);

/* Adds what a store keeps in the place of a UUID. */
void symbols_add_kept(store *s, const char *dir, const machsym_uuid *uuid);

/* ---- --symbols ---- */

typedef struct symbols_options {
    const char *paths[MAX_SYMBOL_PATHS];
    size_t path_count;
    bool no_cache;
} symbols_options;

extern const option symbols_option_table[];
/* What is wrong with --symbols beside options of an image; NULL: nothing. */
const char *symbols_fault(const symbols_options *from, const image_options *image);

/* Looks for the files of a UUID as machsym crash does. A folder that machsym store keeps is not looked
 * through when it has the UUID in its place. Returns NULL after a message when there is none; the files
 * live as long as what is returned. */
store *symbols_find(const symbols_options *from, const machsym_uuid *uuid, const char *arch, uuid_files *out);
/* The same for commands that want a Mach-O file: *path and *pair of it, which live as long as the store. */
store *symbols_find_macho(const symbols_options *from, const machsym_uuid *uuid, const char *arch,
                          const char **path, const char **pair);

#endif
