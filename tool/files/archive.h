/* ==== >> files/archive ====
 * Job: what is in zip, tar, gzip, zstd and ar files, and in mails.
 * Offers: archive_open, archive_count, archive_at, archive_find, archive_read.
 * Never: writes to disk.
 *
 * Zip, tar, gzip, zstd and ar files, folders, and mails with an encoded part: what is in them, read
 * into memory. Nothing is written to disk, and no name of a member is ever used as a path. */
#ifndef MACHSYM_TOOL_ARCHIVE_H
#define MACHSYM_TOOL_ARCHIVE_H

#include "machsym.h"
#include "../../report/base/text.h"

enum {
    ARCHIVE_MAX_MEMBERS = 1 << 20,     /* real ones have 100,000; more is an error */
    ARCHIVE_MAX_DIRECTORY = 1 << 28,   /* bytes of a zip's central directory: 256 a member */
    ARCHIVE_MAX_RATIO = 256,           /* bytes that a byte of an archive may become: real symbols make 10 */
    ARCHIVE_MAX_RATIO_AHEAD = 1 << 24, /* ... and this many more */
    ARCHIVE_MAX_TAR_NAME = 1 << 16,    /* bytes of a name in a header of its own */
    ARCHIVE_MAX_AR_NAME = 1 << 10 /* of one in a table, to which many members may point: files have 255 */
};

/* The bytes that all members together may become: the machine is to have them. */
#define ARCHIVE_MAX_BYTES ((uint64_t)8 << 30)

/* A file in an archive. */
typedef struct archive_member {
    machsym_str name;
    uint64_t at;     /* of its header in a zip, of its contents in others */
    uint64_t packed; /* bytes that it takes in the archive */
    uint64_t size;   /* bytes of its contents */
    uint32_t crc;
    uint16_t method; /* of a zip: 0 stored, 8 deflate, 93 zstd */
    uint16_t flags;
} archive_member;

typedef struct archive archive;

/* Opens a file if it is an archive. Returns NULL with err->code MACHSYM_OK when it is not, and with another
 * code when it is a damaged one. */
archive *archive_open(const char *path, machsym_error *err);
/* The same of bytes, which must outlive it. */
archive *archive_open_bytes(machsym_bytes bytes, machsym_error *err);
/* The same of a file that was read into a text, which it takes and leaves empty. */
archive *archive_open_text(const char *path, text *content, machsym_error *err);
/* Whether that many bytes are more than what an archive may become: a bomb, or a lie. */
bool archive_is_bomb(const archive *a, uint64_t bytes);
void archive_close(archive *a);
size_t archive_count(const archive *a);
const archive_member *archive_at(const archive *a, size_t i);
/* The first member of a name; NULL when there is none. */
const archive_member *archive_find(const archive *a, machsym_str name);
/* The first in the order of names of those whose names begin so and go on; NULL when there is none. */
const archive_member *archive_find_below(const archive *a, machsym_str begin);
/* Appends the first bytes of a member, at most max; all of it, and checked against its checksum, when max is
 * UINT64_MAX. */
bool archive_read(const archive *a, const archive_member *member, uint64_t max, text *out,
                  machsym_error *err);

#endif
