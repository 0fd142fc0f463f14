/* A reader of messages in protobuf's wire format: protobuf.dev/programming-guides/encoding. */
#ifndef MACHSYM_TOOL_PROTOBUF_H
#define MACHSYM_TOOL_PROTOBUF_H

#include "../tool.h"

/* A field of a message. Which it is, its number says; other numbers are to be passed over. */
typedef struct proto_field {
    uint32_t number;
    uint64_t value;    /* of a varint or a number of fixed size; else 0 */
    machsym_str bytes; /* of a text or a message inside; else empty */
} proto_field;

/* Steps through the fields of a message; *at begins at 0. False at the end, and where the message is damaged:
 * then *at is not the end. */
bool proto_next(machsym_str message, size_t *at, proto_field *field);
/* The last field of a number, as protobuf has it; of one that is missing, value 0 and no bytes. */
proto_field proto_get(machsym_str message, uint32_t number);

#endif
