/* What the subcommands of the machsym tool share: text buffers, errors, options, opening images, printing
 * frames. */
#ifndef MACHSYM_TOOL_H
#define MACHSYM_TOOL_H

#include "options.h"
#include "out.h"
#include "posix.h"
#include "../../report/base/digits.h"
#include "../../report/base/names.h"
#include "readfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Exit statuses: all that was asked is done; something failed or is damaged; the command line is wrong. */
enum { TOOL_OK = 0, TOOL_ERROR = 1, TOOL_USAGE = 2 };

/* ---- Messages ---- */

/* Prints "machsym: ..." to stderr: one line, whatever is in the names that it holds. */
void tool_say(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(POSIX_PRINTF, 1, 2)))
#endif
    ;
/* The same without "machsym: ". */
void tool_tell(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(POSIX_PRINTF, 1, 2)))
#endif
    ;
/* What this thread says from here on is added to a text, a line each, in place of standard error; NULL: no
 * more. Returns who heard it before. */
text *tool_hear(text *by);
/* Says it on standard error, whoever hears this thread, and ends the program with status 1. */
void tool_die(const char *what)
#if defined(__GNUC__)
    __attribute__((noreturn))
#endif
    ;
/* Prints why a file could not be opened or built, with where and at which offset, and what to do next. */
void tool_say_error(const char *path, const machsym_error *err);
/* Says what err has to say of a list of count slices. Returns whether all that are not damaged are in it. */
bool tool_say_slices(const char *path, size_t count, const machsym_error *err);

/* ---- Values of options ---- */

bool parse_lines(const char *written, machsym_lines *out); /* atos, dwarf, stmt, people */
const char *lines_name(machsym_lines lines);

typedef struct uuid_option {
    machsym_uuid uuid;
    bool is_set;
} uuid_option;

typedef struct lines_option {
    machsym_lines lines;
    bool is_set;
} lines_option;

enum { MAX_JOBS = 256 };

/* For tables of options; each says what is wrong with a value. */
bool take_uuid(void *field, const char *value);       /* a uuid_option */
bool take_lines(void *field, const char *value);      /* a lines_option */
bool take_jobs(void *field, const char *value);       /* an unsigned: threads */
bool take_full_names(void *field, const char *value); /* machsym_demangle_flags */
bool take_best_line(void *field, const char *value);  /* machsym_session_flags */

/* How many threads do work of so many pieces: those asked for, or, of 0, one for each processor that this
 * process may use. From 1 to MAX_JOBS, and no more than there are pieces. */
size_t tool_threads(unsigned asked, size_t pieces);

/* ---- Images ---- */

/* Opens an image, and on failure says why; several slices without a choice are listed. Damage that was
 * found is said. Returns NULL on failure. */
machsym_image *tool_open(const machsym_open_desc *desc);
/* The same for commands that do not look at debug info, nor for damage in it. */
machsym_image *tool_open_without_dwarf(const machsym_open_desc *desc);
/* The same, but leaves it to the caller to say what is damaged. */
machsym_image *tool_open_damaged(const machsym_open_desc *desc);
/* Tells what is known of an image, damage of its debug info with it. Returns whether memory was enough for that.
 * Threads: any. */
bool tool_read_info(const machsym_image *image, machsym_image_info *info);
/* Says what of a Mach-O file is damaged, once for each file. The exit status is 1 from then on. Of a map it
 * says nothing: map info and --explain do. Threads: any. */
void tool_say_damage(const machsym_image *image);
/* The same if any was met so far. Threads: any. */
void tool_say_met_damage(const machsym_image *image);
/* Says that a session found its map damaged, if it did; the rest as tool_say_damage. Threads: any. */
void tool_say_lost(const char *path, const machsym_session *session);
/* The same as text: which file, what is missing, how much. Adds nothing when there is no damage. */
void text_damage(text *t, const machsym_image_info *info);
/* Says what is wrong with a file that is one of several, once. The exit status is 1 from then on. Threads:
 * any. */
void tool_say_fault(const char *path, const machsym_error *err);
/* Reads the first bytes of a file, which tell its kind. Returns how many: none of what cannot be opened or read. That is
 * said as by tool_say_fault where the system failed; another reason is left to whoever opens the file. Threads: any. */
size_t tool_read_begin(const char *path, void *out, size_t len);
struct stat;
/* As stat, which returned 0. Where it failed and the system is why, that is said as by tool_say_fault. errno stays. Threads: any. */
bool tool_stat(const char *path, struct stat *st);
/* Notes damage that was said otherwise: the exit status is 1 from then on. Threads: any. */
void tool_note_damage(void);
/* Whether an image is a kernel collection or a shared cache, which answer by their images only: says so. */
bool tool_refuse_collection(const machsym_image *image);
/* Says why an image could not be opened. */
void tool_say_open(const machsym_open_desc *desc, const machsym_error *err);
/* Notes that memory was short for an answer, which then lacks names or lines. Threads: any. */
void tool_lacked_memory(void);
/* Whether memory was enough for all answers so far. If not, an output that is made of them must not get its name: says
 * so of it. An output that is NULL or "-" is standard output, and left as it is. */
bool tool_had_memory(const char *output);
bool tool_has_lacked_memory(void);
/* Notes that the system failed to read a file, which may be whole: what is known without it may change. Threads: any. */
void tool_note_fault(void);
bool tool_has_fault(void);
/* The exit status of the program, given its command's: says whether memory was short, and counts damage. */
int tool_end(int status);
/* Closes a session, and notes whether it lacked memory. */
void tool_session_close(machsym_session *session);
machsym_session *tool_session(const machsym_image *image, machsym_lines lines, uint32_t flags);

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
/* What commands that look at one image begin with: takes the options into *to, of which *from is a part,
 * and opens image and session. Returns an exit status; *image is NULL when the command is to end with it. */
int image_command_open(const command *c, image_options *from, int argc, char **argv, void *to,
                       machsym_image **image, machsym_session **session);
machsym_image *image_options_open(const image_options *from);

/* LC_BUILD_VERSION's number as people call it: "iOS". */
const char *platform_name(uint32_t platform);

/* ---- Frames ---- */

typedef struct symbol_source symbol_source; /* source.h */

/* How a frame is printed. */
typedef struct frame_style {
    bool full_path;
    bool raw_names; /* do not demangle */
    uint32_t demangle_flags;
    symbol_source *source; /* keeps the shown names of a map; may be NULL */
} frame_style;

/* The name to show: the demangled linkage name, or the name. */
void text_frame_name(text *t, const machsym_frame *frame, const frame_style *style);
/* The file to show: its base name, or the whole path. */
void text_frame_file(text *t, const machsym_frame *frame, bool full_path);
bool frame_has_line(const machsym_frame *frame);
/* A frame as a JSON object, with its offset from the function's start. */
void text_frame_json(text *t, const machsym_frame *frame, uint64_t addr, const frame_style *style);

/* ---- Commands ---- */

extern const command atos_command;
extern const command info_command;
extern const command crash_command;
extern const command objc_command;
extern const command symbols_command;
extern const command owners_command;
extern const command map_command;
extern const command store_command;
extern const command cache_command;
extern const command worker_command;
extern const command demangle_command;
extern const command completion_command;

/* All that stand on the command line first, ended by NULL. */
extern const command *const tool_commands[];

#endif
