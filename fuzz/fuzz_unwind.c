/* Fuzzes compact unwind information and eh_frame.
 * Input: a byte of choices (64-bit), then both sections with the same bytes.
 * Run: build/fuzz/unwind -dict=fuzz/metadata.dict fuzz/corpus/unwind */
#include "metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    fuzz_slice f;
    if (len < 1 || len > FUZZ_MAX)
        return 0;
    ms_span input = ms_span_make(ptr + 1, len - 1);
    fuzz_begin(&f, (ptr[0] & 1) != 0, ptr, len);
    fuzz_section(&f, "__TEXT", "__unwind_info", FUZZ_DATA, input);
    fuzz_section(&f, "__TEXT", "__eh_frame", FUZZ_DATA, input);
    ms_fx_open(&f.data, &f.mo, NULL, &f.arena);
    ms_uw_add_starts(&f.table, &f.data);
    fuzz_end(&f);
    return 0;
}
