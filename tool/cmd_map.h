/* What the parts of machsym map share. */
#ifndef MACHSYM_TOOL_CMD_MAP_H
#define MACHSYM_TOOL_CMD_MAP_H

#include "source.h"

enum { MAP_MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1, OUTPUT_BLOCK = 1 << 16 };

int map_build(int argc, char **argv);
int map_lookup(int argc, char **argv);
int map_info(int argc, char **argv);
int map_dump(int argc, char **argv);
int map_verify(int argc, char **argv);
int map_export(int argc, char **argv);
int map_import(int argc, char **argv);
int map_chunk(int argc, char **argv);

int map_usage(FILE *out); /* returns the exit status */
/* Opens a map, and on failure says why. */
machsym_map *map_open(const char *path, uint32_t flags);
bool map_open_source(const symbol_desc *desc, symbol_file *file); /* refuses an image */
bool map_write(const machsym_map *map, const char *path);
/* NAME.symmap, or NAME-ARCH.symmap; ends in a NUL. */
void map_default_name(text *out, machsym_str name, const char *arch);

/* ---- Building with threads ---- */

typedef struct build_options {
    unsigned jobs; /* 0: all processors */
    bool progress;
} build_options;

/* A number of threads. Returns false after a message. */
bool parse_jobs(const char *written, build_options *how);
/* Builds the map of an image. Returns NULL after a message. */
machsym_map *map_build_image(const machsym_plan_desc *desc, const char *path, const build_options *how);

/* ---- Output that is whole or not there ---- */

typedef struct output {
    const char *path; /* NULL: standard output */
    text beside;
    FILE *file;
    bool failed;
} output;

bool output_begin(output *out, const char *path);
/* Writes the text and empties it, when there is enough of it. */
void output_flush(output *out, text *t);
/* Writes the rest and frees the text. When anything failed, or ok is false, no file is left. */
bool output_end(output *out, text *t, bool ok);

/* ---- Other formats ---- */

void text_field(text *t, const char *ptr, size_t len); /* tabs and line ends become blanks */
/* Breakpad's .sym. */
void export_breakpad(const symbol_file *file, const frame_style *style, output *out, text *t);

#endif
