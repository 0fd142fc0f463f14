/* ==== >> base/protobuf ====
 * Job: reads messages in protobuf's wire format.
 * Offers: proto_next, proto_get.
 * Never: knows what a field means.
 *
 * The format: protobuf.dev/programming-guides/encoding. */
#ifndef MACHSYM_TOOL_PROTOBUF_H
#define MACHSYM_TOOL_PROTOBUF_H

#include "machsym.h"

/* A field of a message. Its number says which one it is. Skip unknown numbers. */
typedef struct proto_field {
    uint32_t number;
    uint64_t value;    /* of a varint or a fixed-size number; else 0 */
    machsym_str bytes; /* of a text or a nested message; else empty */
} proto_field;

/* The outermost message, and the damage that was found while it was read. */
typedef struct proto {
    machsym_str all;
    bool is_damaged;
    size_t damaged_at; /* the first damaged byte */
} proto;

/* Steps through the fields of a message inside p->all. *at is 0 before the first call. Returns false at the
 * end, and where the message is damaged, which is noted in *p. */
bool proto_next(proto *p, machsym_str message, size_t *at, proto_field *field);
/* Returns the last field with this number, as protobuf requires. If it is missing: value 0 and no bytes. */
proto_field proto_get(proto *p, machsym_str message, uint32_t number);

#endif
