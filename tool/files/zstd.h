/* ==== >> files/zstd ====
 * Job: decompresses Zstandard (RFC 8878).
 * Offers: zstd_is, zstd_decode, zstd_decode_begin.
 * Never: uses a dictionary; writes more than it is allowed; trusts a size. */
#ifndef MACHSYM_TOOL_ZSTD_H
#define MACHSYM_TOOL_ZSTD_H

#include "../../report/base/text.h"
#include "machsym.h"

/* How decompressing ended. */
typedef enum zstd_end {
    ZSTD_DONE = 0,
    ZSTD_SHORT,      /* the file ends inside a frame */
    ZSTD_BAD,        /* no such stream, or its checksum differs */
    ZSTD_FULL,       /* it has more bytes than are allowed */
    ZSTD_DICTIONARY, /* it needs a dictionary */
} zstd_end;

/* Whether bytes begin as a file of it does. */
bool zstd_is(machsym_bytes bytes);
/* Appends what all frames of a file hold, at most max bytes. *at: where it ended, at a block that is
 * damaged. */
zstd_end zstd_decode(machsym_bytes in, uint64_t max, text *out, size_t *at);
/* Appends the first bytes of what a file holds, at most max. The blocks after them are not looked at. */
zstd_end zstd_decode_begin(machsym_bytes in, size_t max, text *out, size_t *at);

#endif
