/* What the subcommands of the machsym tool share: text buffers, errors, options, opening images, printing
 * frames. */
#ifndef MACHSYM_TOOL_H
#define MACHSYM_TOOL_H

#include "../machsym.h"
#include "posix.h"
#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TOOL_OK = 0, TOOL_ERROR = 1, TOOL_UNRESOLVED = 2 }; /* exit statuses */

/* ---- Messages ---- */

/* Prints "machsym: ..." to stderr. */
void tool_say(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(POSIX_PRINTF, 1, 2)))
#endif
    ;
/* Prints why a file could not be opened or built, with where and at which offset, and what to do next. */
void tool_say_error(const char *path, const machsym_error *err);

/* ---- Options ---- */

/* A walk over the arguments; long options have one or two dashes. */
typedef struct options {
    int argc;
    char **argv;
    int at;
    bool only_operands; /* after "--" */
} options;

/* Moves to the next argument. Returns false at the end. *operand is set when it is no option. */
bool options_next(options *o, const char **name, const char **operand);
/* Whether the current option is this one; name without dashes. With "=" the value may follow in the same
 * argument. */
bool options_is(const options *o, const char *option, const char *name);
/* The value of the current option, from "=VALUE" or the next argument. Exits with a message when there is
 * none. */
const char *options_value(options *o, const char *name);

bool parse_hex(const char *digits, size_t len, uint64_t *out); /* with or without 0x */
bool parse_uuid(const char *written, machsym_uuid *out);       /* with or without dashes */
bool parse_uuid_str(machsym_str written, machsym_uuid *out);
bool parse_lines(const char *written, machsym_lines *out); /* atos, dwarf, stmt */
const char *lines_name(machsym_lines lines);

/* ---- Images ---- */

/* Opens an image, and on failure says why; several slices without a choice are listed. Returns NULL on
 * failure. */
machsym_image *tool_open(const machsym_open_desc *desc);
/* Whether an image is a kernel collection, which answers by its images only: says so. */
bool tool_refuse_collection(const machsym_image *image);
/* Says why an image could not be opened. */
void tool_say_open(const machsym_open_desc *desc, const machsym_error *err);
machsym_session *tool_session(const machsym_image *image, machsym_lines lines, uint32_t flags);

/* The options of commands that look at one image. */
typedef struct image_options {
    const char *path;
    const char *pair;
    const char *arch;
    const char *entry; /* of a kernel collection */
    machsym_uuid uuid;
    bool has_uuid;
    uint32_t flags; /* machsym_open_flags */
} image_options;

/* Takes an argument: -arch, --uuid, --pair, --entry, --copy, or the operand when there is none yet. Returns
 * false after a message. */
bool image_option(image_options *to, options *o, const char *name, const char *operand);
machsym_image *image_options_open(const image_options *from);

/* ---- Frames ---- */

typedef struct symbol_source symbol_source; /* source.h */

/* How a frame is printed. */
typedef struct frame_style {
    bool full_path;
    bool raw_names; /* do not demangle */
    uint32_t demangle_flags;
    symbol_source *source; /* keeps the shown names of a map; may be NULL */
} frame_style;

/* A linkage name, demangled, or the mangled parts of a name from metadata. */
void text_name(text *t, machsym_str name, uint32_t demangle_flags);
/* The name to show: the demangled linkage name, or the name. */
void text_frame_name(text *t, const machsym_frame *frame, const frame_style *style);
/* The file to show: its base name, or the whole path. */
void text_frame_file(text *t, const machsym_frame *frame, bool full_path);
bool frame_has_line(const machsym_frame *frame);
/* A frame as a JSON object, with its offset from the function's start. */
void text_frame_json(text *t, const machsym_frame *frame, uint64_t addr, const frame_style *style);

/* ---- Subcommands: argv[0] is the subcommand's name; each returns an exit status ---- */

int cmd_atos(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_crash(int argc, char **argv);
int cmd_objc(int argc, char **argv);
int cmd_symbols(int argc, char **argv);
int cmd_owners(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_demangle(int argc, char **argv);

#endif
