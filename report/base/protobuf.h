/* ==== >> base/protobuf ====
 * Job: reads messages in protobuf's wire format.
 * Offers: proto_next, proto_get.
 * Never: knows what a field means.
 *
 * A reader of messages in protobuf's wire format: protobuf.dev/programming-guides/encoding. */
#ifndef MACHSYM_TOOL_PROTOBUF_H
#define MACHSYM_TOOL_PROTOBUF_H

#include "machsym.h"

/* A field of a message. Which it is, its number says; other numbers are to be passed over. */
typedef struct proto_field {
    uint32_t number;
    uint64_t value;    /* of a varint or a number of fixed size; else 0 */
    machsym_str bytes; /* of a text or a message inside; else empty */
} proto_field;

/* The outermost message, and what was found damaged while it was read. */
typedef struct proto {
    machsym_str all;
    bool is_damaged;
    size_t damaged_at; /* the first byte of all that is damaged */
} proto;

/* Steps through the fields of a message that lies in p->all; *at begins at 0. False at the end, and where the
 * message is damaged, which *p notes. */
bool proto_next(proto *p, machsym_str message, size_t *at, proto_field *field);
/* The last field of a number, as protobuf has it; of one that is missing, value 0 and no bytes. */
proto_field proto_get(proto *p, machsym_str message, uint32_t number);

#endif
