/* Images and stacks as KSCrash and Sentry write them: the same fields under nearly the same names. */
#ifndef MACHSYM_TOOL_JSON_STACK_H
#define MACHSYM_TOOL_JSON_STACK_H

#include "report.h"

/* The first member of an object that goes by one of two names. */
uint32_t json_either(const json *doc, uint32_t object, const char *a, const char *b);
/* The text of a string or a number; empty for anything else. */
machsym_str json_text(report *r, const json *doc, uint32_t token);
void json_fact_of(report *r, const json *doc, uint32_t token, report_fact fact);

/* Which fact a member is. */
typedef struct json_fact {
    const char *key;
    report_fact fact;
} json_fact;

void json_set_facts(report *r, const json *doc, uint32_t object, const json_fact *facts, size_t count);
/* Adds the images of an array. */
void json_add_images(report *r, const json *doc, uint32_t array);
/* Adds the frames of an array to the last thread. */
void json_add_stack(report *r, uint32_t doc_index, uint32_t array, frame_form form);

#endif
