/* ==== >> look/calls ====
 * Job: which call ends at an address, and whether the function that it calls gets to another one by jumps.
 * Offers: calls_image, calls_kind, calls_end_at, calls_is_stub, calls_function, calls_may_reach.
 * Never: follows a call; takes more than its budget.
 *
 * Addresses are those of the file. */
#ifndef REPORT_LOOK_CALLS_H
#define REPORT_LOOK_CALLS_H

#include "machsym.h"

/* The code of an image. Borrows the file. */
typedef struct calls_image {
    const machsym_image *file; /* NULL: its code is not at hand */
    uint32_t cputype;
    uint32_t index; /* of the image, for `frames` */
    /* Returns the frames at an address of the file, innermost first, and never more than cap. Names live until the
     * next call. NULL: no function is known. */
    size_t (*frames)(void *context, uint32_t index, uint64_t addr, machsym_frame *frames, size_t cap);
    void *context;
} calls_image;

typedef enum calls_kind {
    CALLS_UNKNOWN = 0, /* the code there is not at hand */
    CALLS_NO_CODE,     /* no section of code has the address */
    CALLS_NOTHING,     /* no call ends there */
    CALLS_SOMEWHERE,   /* a call of what a register or a pointer says */
    CALLS_TARGET
} calls_kind;

/* A function jumps to another one: at most this many are followed, and this many bytes of code for one
 * report. A function of a real program jumps to few others, and has 200 bytes. */
enum { CALLS_FUNCTIONS = 64, CALLS_BYTES = 32 << 20 };

/* Takes the code of a file, which may be NULL. The user sets index, frames and context. The file needs code of arm64
 * or x86_64 that is not encrypted. */
void calls_image_of(const machsym_image *file, calls_image *out);
/* Whether the file has bytes of code. */
bool calls_has_code(const calls_image *image);
/* Tells which call ends at an address; *target: what it calls. */
calls_kind calls_end_at(const calls_image *image, uint64_t addr, uint64_t *target);
/* Whether an address lies in stubs, which jump to other images. */
bool calls_is_stub(const calls_image *image, uint64_t addr);
/* The function at an address. Returns false if it is unknown. Names live until the next call. */
bool calls_function(const calls_image *image, uint64_t addr, machsym_frame *out);
/* Whether code at `from` may get into the function that begins at `to` by jumps alone. True where that cannot
 * be known: a function jumps to where a register says, or the budget is spent. *left: bytes of code. */
bool calls_may_reach(const calls_image *image, uint64_t from, uint64_t to, uint64_t *left);

#endif
