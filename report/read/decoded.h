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
    machsym_uuid uuid; /* zeros: unknown */
    const char *arch;  /* NULL: unknown */
    bool is_open;      /* its end is unknown: it reaches to the next image */
    const char *other; /* ELF or PE, if it is not a Mach-O file; "unloaded"; else NULL */
    bool is_unloaded;  /* it was in the process, but not any more when that died */
} decoded_image;

/* ---- The header ---- */

void decoded_put_key(text *t, const char *key);                     /* with blanks up to the value */
void decoded_put_text(text *t, const char *key, machsym_str value); /* no line for an empty value */
void decoded_put_hex(text *t, uint64_t number, unsigned digits);    /* after 0x */
void decoded_put_pair(text *t, const char *key, machsym_str a, machsym_str b); /* "A (B)" */
void decoded_put_time(text *t, const char *key, uint64_t seconds);             /* no line for 0 */
const char *decoded_code_type(const char *arch); /* Apple's words for a processor; NULL for NULL */

/* ---- Images and stacks ---- */

void decoded_sort_images(decoded_image *images, uint32_t count); /* by base; needed below */
/* Returns the image that holds an address; NULL if no image does. */
const decoded_image *decoded_find_image(const decoded_image *images, uint32_t count, uint64_t addr);
void decoded_put_images(text *t, const decoded_image *images, uint32_t count);
/* Writes a frame at pc. plain: the address without pointer authentication. symbol: nearest name that the
 * device found, which begins at start; a better one replaces it; may be empty. */
void decoded_put_frame(text *t, const decoded_image *image, uint64_t number, uint64_t pc, uint64_t plain,
                       machsym_str symbol, uint64_t start);
/* Writes registers, four on a line. count: registers that are already written. */
void decoded_put_register(text *t, uint32_t count, machsym_str name, uint64_t value, unsigned digits);
void decoded_end_registers(text *t, uint32_t count);

#endif
