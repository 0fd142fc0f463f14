#ifndef ms_ROOM_macho_pieces
#define ms_ROOM_macho_pieces
#include "../api/options.h"
#include "../base/bytes.h"

/* ==== >>pieces =============================================================================================
 * Job:    hands out bytes of a section, of a file or of a process.
 * Offers: ms_piece_source, ms_piece_at.
 * Never:  knows what is in them. */

/* A section. */
typedef struct ms_piece_source {
    ms_span bytes;                                                 /* of a file */
    bool (*read)(void *ctx, uint64_t addr, void *buf, size_t len); /* of a process; NULL: bytes has them */
    void *ctx;
    uint64_t addr; /* in the process */
    uint64_t size;
} ms_piece_source;

static ms_piece_source ms_piece_of_file(ms_span bytes, uint64_t addr)
{
    ms_piece_source source;
    source.bytes = bytes;
    source.read = NULL;
    source.ctx = NULL;
    source.addr = addr;
    source.size = bytes.len;
    return source;
}

/* Returns: len bytes at an offset, which are in the file, or in room; NULL: they are not all there. */
static const uint8_t *ms_piece_at(const ms_piece_source *source, uint64_t off, size_t len, uint8_t *room)
{
    uint64_t addr;
    MACHSYM_COUNT_WORK(1);
    if (source->read == NULL)
        return ms_span_sub(source->bytes, off, len).ptr;
    if (len > source->size || off > source->size - len || !ms_add_ok(source->addr, off, &addr) ||
        !source->read(source->ctx, addr, room, len))
        return NULL;
    return room;
}

#endif /* ms_ROOM_macho_pieces */
