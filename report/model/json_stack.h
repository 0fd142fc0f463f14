/* ==== >> model/json_stack ====
 * Job: images and stacks of reports that are JSON: the same fields under nearly the same names.
 * Offers: fields_either, fields_text, fields_fact_of, fields_set_facts, fields_words_of, fields_add_images,
 * fields_add_stack.
 * Never: tells kinds of documents apart. */
#ifndef MACHSYM_TOOL_JSON_STACK_H
#define MACHSYM_TOOL_JSON_STACK_H

#include "../base/json.h"
#include "machsym.h"
#include "report.h"

/* Returns the first member of an object that has one of two names. */
uint32_t fields_either(const json *doc, uint32_t object, const char *a, const char *b);
/* Returns the text of a string or a number; empty for other values. */
machsym_str fields_text(report *r, const json *doc, uint32_t token);
void fields_fact_of(report *r, const json *doc, uint32_t token, report_fact fact);

/* Maps a member to a fact. */
typedef struct json_fact {
    const char *key;
    report_fact fact;
} json_fact;

void fields_set_facts(report *r, const json *doc, uint32_t object, const json_fact *facts, size_t count);
/* The names that each format has for the parts of a frame object; NULL if the format lacks the part. */
typedef struct json_words {
    const char *address; /* NULL: its reader parses the frames itself */
    const char *image;   /* the path or name of the frame's image */
    const char *symbol;
    const char *offset; /* from the function's start; NULL: the format has the start instead */
    const char *start;
    bool hex; /* numbers are "0x..." strings */
    const char *file;
    const char *path; /* a second member, for the whole path */
    const char *line;
    const char *column;
    const char *owner;
    const char *kept[8]; /* members that an inlined call copies from its function; ends with NULL */
} json_words;

const json_words *fields_words_of(frame_form form);

/* Adds the images of an array. */
void fields_add_images(report *r, const json *doc, uint32_t array);
/* Adds the frames of an array to the last thread. */
void fields_add_stack(report *r, uint32_t doc_index, uint32_t array, frame_form form);

#endif
