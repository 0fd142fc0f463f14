/* Fuzzes Zstandard: the input is a file. With all the room there is and with half of what was written the same bytes come out;
 * never more than is allowed; the place of damage lies in the file. So do the first bytes alone.
 * Run: build/fuzz/zstd fuzz/corpus/zstd */
#include "../report/base/text.h"
#include "../tool/files/zstd.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ROOM = 1 << 20 };
    machsym_bytes in = {data, size};
    text whole = {0};
    text half = {0};
    size_t at = 0;
    zstd_end end = zstd_decode(in, ROOM, &whole, &at);
    if (whole.len > ROOM || at > size)
        abort();
    size_t max = whole.len / 2;
    zstd_end second = zstd_decode(in, max, &half, &at);
    if (half.len > max || (max < whole.len && second == ZSTD_DONE) ||
        (whole.len > 0 && end == ZSTD_DICTIONARY && second == ZSTD_DONE))
        abort();
    if (half.len > 0 && memcmp(whole.v, half.v, half.len) != 0)
        abort();
    text first = {0};
    zstd_end third = zstd_decode_begin(in, max, &first, &at);
    if (first.len > max || at > size || (end == ZSTD_DONE && (third != ZSTD_DONE || first.len != max)) ||
        (first.len > 0 && memcmp(whole.v, first.v, first.len) != 0))
        abort();
    text_free(&whole);
    text_free(&half);
    text_free(&first);
    return 0;
}
