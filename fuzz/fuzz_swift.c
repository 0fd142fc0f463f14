/* Fuzzes Swift type metadata.
 * Input: a byte of choices (64-bit), then the lists of distances (3 x 64 bytes), then descriptors at
 * 0x4000.
 * Run: build/fuzz/swift -dict=fuzz/metadata.dict fuzz/corpus/swift */
#include "metadata.h"

#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    fuzz_slice f;
    if (len < 1 + 192 || len > FUZZ_MAX)
        return 0;
    ms_span input = ms_span_make(ptr + 1, len - 1);
    fuzz_begin(&f, (ptr[0] & 1) != 0, ptr, len);
    fuzz_section(&f, "__TEXT", "__swift5_types", 0x3000, ms_span_sub(input, 0, 64));
    fuzz_section(&f, "__TEXT", "__swift5_protos", 0x3040, ms_span_sub(input, 64, 64));
    fuzz_section(&f, "__TEXT", "__swift5_proto", 0x3080, ms_span_sub(input, 128, 64));
    fuzz_section(&f, "__TEXT", "__const", FUZZ_DATA, ms_span_from(input, 192));
    ms_fx_open(&f.data, &f.mo, NULL, &f.arena);
    ms_sw_add_names(&f.table, &f.data, &f.arena);
    fuzz_end(&f);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    if (size < 9 || mutate_random(&m, 2) == 0)
        return LLVMFuzzerMutate(data, size, max);
    m.lo = 1;
    mutate_words(&m, mutate_random(&m, 2) == 0 ? 4 : 8);
    return m.len;
}
