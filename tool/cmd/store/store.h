/* ==== >> cmd/store/store ====
 * Job: what a store holds, and what a file in it is worth.
 * Offers: store_worth, store_told; store_cmd_judge, store_cmd_compare_worth; the commands of store.
 * Never: adds a file. */
#ifndef MACHSYM_TOOL_CMD_STORE_H
#define MACHSYM_TOOL_CMD_STORE_H

#include "machsym.h"
#include "../../../report/base/text.h"
#include "../../base/options.h"
#include "../map/build.h"

extern const command store_add_command;
extern const command store_list_command;
extern const command store_missing_command;
extern const command store_gc_command;
extern const command store_verify_command;

/* "NAME VERSION (BUILD)" */
void store_cmd_put_name(text *t, const char *name, const char *version, const char *build);
/* The members that all of the command's schemas have. */
void store_cmd_put_json(text *t, const machsym_uuid *uuid, const char *arch, const char *name,
                        const char *version, const char *build);

/* ---- What a file is worth ---- */

/* How much a map tells. */
typedef struct store_told {
    bool has_lines;
    bool is_damaged; /* what it was made of */
    uint64_t ranges;
    uint64_t symbols; /* ranges from symbols */
    uint64_t names;   /* bytes */
} store_told;

/* What a Mach-O file of a UUID is worth beside others of its kind. */
typedef struct store_worth {
    bool opens;
    bool is_encrypted;
    uint32_t damage;   /* parts that are damaged */
    machsym_error err; /* damage: the first; or why it does not open */
    uint64_t debug_bytes;
    uint64_t entries; /* of the symbol table: those of object files answer nothing, but lead to debug info */
    store_told told;  /* by a map of it alone */
} store_worth;

store_told store_cmd_told_of(const machsym_map *map);
/* Less than 0: the first tells less; 0: as much. */
int store_cmd_compare_told(const store_told *a, const store_told *b);
/* The same of files; *why is what the better one has: "has less damage". */
int store_cmd_compare_worth(const store_worth *a, const store_worth *b, const char **why);
/* Decodes all of a file. Returns false after a message when the system fails; a file that does not open is
 * worth nothing. */
bool store_cmd_judge(const char *path, const char *arch, const machsym_uuid *uuid, const build_options *how,
                     store_worth *out);
/* Appends bytes of a file, or of a member of an archive; fewer where it ends. Returns false with errno when
 * they cannot be read. */
bool store_cmd_read_part(const char *path, uint64_t off, uint64_t len, text *out);
/* Whether the ends of an image's debug info and names were written: else they are zeros, and *err says so. */
bool store_cmd_is_written(const machsym_image *image, machsym_error *err);

#endif
