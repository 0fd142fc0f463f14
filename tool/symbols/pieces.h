/* ==== >> symbols/pieces ====
 * Job: which object file the code of an image came from.
 * Offers: pieces; pieces_read_objects, pieces_read_linkmap, pieces_find.
 * Never: names an owner.
 *
 * Which object file the code of an image came from: by the debug map in it, or by the linker's map. */
#ifndef MACHSYM_TOOL_PIECES_H
#define MACHSYM_TOOL_PIECES_H

#include "machsym.h"
#include "../../report/base/text.h"

/* Code that came from one object file. */
typedef struct piece {
    uint64_t lo;
    uint64_t hi;
    machsym_str path;  /* whole, for `object` */
    machsym_str owner; /* as it is shown */
} piece;

/* All of an image, sorted by address when it is finished. */
typedef struct pieces {
    piece *v;
    size_t count;
    size_t cap;
    pool strings; /* that they point into */
} pieces;

/* Adds what the debug map in the file says. */
void pieces_read_objects(pieces *to, machsym_session *session);
/* Adds what a link map of ld64 or lld says. Returns false after a message. */
bool pieces_read_linkmap(pieces *to, const char *path);
void pieces_finish(pieces *of);                            /* once all are added: sorts */
const piece *pieces_find(const pieces *in, uint64_t addr); /* NULL: none */
void pieces_free(pieces *of);

#endif
