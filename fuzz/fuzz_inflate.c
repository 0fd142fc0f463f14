/* Fuzzes decompression: the first byte says whether the rest is a zlib stream. With all the room there is,
 * and with half of what was written, the same bytes come out; nothing is written past the room.
 * Run: build/fuzz/inflate fuzz/corpus/inflate */
#define TEST_ROOM <src/base/inflate.h>
#include "drive.h"

static ms_inf_end run(bool is_zlib, ms_span in, uint8_t *out, size_t cap, size_t *len)
{
    size_t used;
    ms_inf_end end = is_zlib ? ms_inf_zlib(in, out, cap, len, &used) : ms_inf_raw(in, out, cap, len, &used);
    if (*len > cap || used > in.len)
        abort();
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ROOM = 1 << 18 };
    size_t len;
    size_t half_len;
    if (size < 1)
        return 0;
    uint8_t *whole = (uint8_t *)malloc(ROOM);
    ms_span in = ms_span_make(data + 1, size - 1);
    ms_inf_end end = run((data[0] & 1) != 0, in, whole, ROOM, &len);
    if (end == ms_INF_FULL && len != ROOM)
        abort();
    size_t cap = len / 2;
    uint8_t *half = (uint8_t *)malloc(cap + 1);
    if (run((data[0] & 1) != 0, in, half, cap, &half_len) == ms_INF_OK ? len != 0 : half_len != cap)
        abort(); /* less room than bytes is full, and filled */
    if (cap != 0 && memcmp(whole, half, cap) != 0)
        abort();
    free(whole);
    free(half);
    return 0;
}
