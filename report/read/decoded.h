/* ==== >> read/decoded ====
 * Job: the lines of crash text that binary reports are turned into.
 * Offers: decoded_put_key, decoded_put_text, decoded_put_hex, decoded_put_pair, decoded_put_time,
 * decoded_code_type, decoded_sort_images, decoded_find_image, decoded_put_images, decoded_put_frame,
 * decoded_put_register, decoded_end_registers.
 * Never: knows a binary format. */
#ifndef MACHSYM_TOOL_DECODED_H
#define MACHSYM_TOOL_DECODED_H

#include "../base/text.h"
#include "machsym.h"

typedef struct decoded_image {
    uint64_t base;
    uint64_t end;
    uint32_t index; /* in the report */
    machsym_str path;
    machsym_uuid uuid; /* zeros: not told */
    const char *arch;  /* NULL: not told */
    bool is_open;      /* its end is not known: it reaches to the next image */
    const char *other; /* what it is if it is no Mach-O file: ELF, PE; NULL: it is one */
} decoded_image;

/* ---- The header ---- */

void decoded_put_key(text *t, const char *key);                     /* with blanks up to the value */
void decoded_put_text(text *t, const char *key, machsym_str value); /* no line for an empty value */
void decoded_put_hex(text *t, uint64_t number, unsigned digits);    /* after 0x */
void decoded_put_pair(text *t, const char *key, machsym_str a, machsym_str b); /* "A (B)" */
void decoded_put_time(text *t, const char *key, uint64_t seconds);             /* no line for 0 */
const char *decoded_code_type(const char *arch); /* Apple's words for a processor; NULL: of NULL */

/* ---- Images and stacks ---- */

void decoded_sort_images(decoded_image *images, uint32_t count); /* by base, as the rest needs them */
/* The image that holds an address; NULL: none does. */
const decoded_image *decoded_find_image(const decoded_image *images, uint32_t count, uint64_t addr);
void decoded_put_images(text *t, const decoded_image *images, uint32_t count);
/* A frame at pc; plain: without pointer authentication. symbol: the nearest name that the device found, which
 * begins at start, and stands where a better one is to go; empty: none. */
void decoded_put_frame(text *t, const decoded_image *image, uint64_t number, uint64_t pc, uint64_t plain,
                       machsym_str symbol, uint64_t start);
/* Registers, four a line; count: how many stand there already. */
void decoded_put_register(text *t, uint32_t count, machsym_str name, uint64_t value, unsigned digits);
void decoded_end_registers(text *t, uint32_t count);

#endif
