/* Protobuf messages; see protobuf.h. */
#include "protobuf.h"
#include "text.h"

static bool proto_take_varint(machsym_str message, size_t *at, uint64_t *out)
{
    enum { MAX_BITS = 64 };
    *out = 0;
    for (unsigned shift = 0; shift < MAX_BITS && *at < message.len; shift += 7) {
        unsigned char c = (unsigned char)message.ptr[(*at)++];
        *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return true;
    }
    return false;
}

/* Little endian. */
static bool proto_take_fixed(machsym_str message, size_t *at, size_t size, uint64_t *out)
{
    if (message.len - *at < size)
        return false;
    for (size_t i = 0; i < size; i++)
        *out |= (uint64_t)(unsigned char)message.ptr[*at + i] << (8 * i);
    *at += size;
    return true;
}

static bool proto_take_field(machsym_str message, size_t *at, proto_field *field)
{
    enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
    uint64_t tag;
    uint64_t len;
    if (!proto_take_varint(message, at, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
        return false;
    field->number = (uint32_t)(tag >> 3);
    field->value = 0;
    field->bytes = str_make(message.ptr + *at, 0);
    MACHSYM_COUNT_WORK(1);
    switch (tag & 7) {
    case WIRE_VARINT: return proto_take_varint(message, at, &field->value);
    case WIRE_FIXED64: return proto_take_fixed(message, at, 8, &field->value);
    case WIRE_FIXED32: return proto_take_fixed(message, at, 4, &field->value);
    case WIRE_BYTES:
        if (!proto_take_varint(message, at, &len) || len > message.len - *at)
            return false;
        field->bytes = str_make(message.ptr + *at, (size_t)len);
        *at += (size_t)len;
        return true;
    default: return false;
    }
}

bool proto_next(proto *p, machsym_str message, size_t *at, proto_field *field)
{
    size_t before = *at;
    if (before == message.len)
        return false;
    if (proto_take_field(message, at, field))
        return true;
    size_t place = (size_t)(message.ptr - p->all.ptr) + before;
    p->damaged_at = p->is_damaged && p->damaged_at < place ? p->damaged_at : place;
    p->is_damaged = true;
    *at = before;
    return false;
}

proto_field proto_get(proto *p, machsym_str message, uint32_t number)
{
    proto_field last = {number, 0, {NULL, 0}};
    proto_field field;
    size_t at = 0;
    while (proto_next(p, message, &at, &field)) {
        if (field.number == number)
            last = field;
    }
    return last;
}
