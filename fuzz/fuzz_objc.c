/* Fuzzes Objective-C metadata, the old runtime's too, and block literals.
 * Input: a byte of choices (64-bit, pointer format), then the lists of pointers (256 bytes), then data at
 * 0x4000.
 * Run: build/fuzz/objc -dict=fuzz/metadata.dict fuzz/corpus/objc */
#include "metadata.h"

#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    static const char *const lists[] = {"__objc_classlist", "__objc_nlclslist", "__objc_catlist",
                                        "__objc_nlcatlist"};
    fuzz_slice f;
    ms_oc_list list;
    if (len < 1 + FUZZ_LISTS || len > FUZZ_MAX)
        return 0;
    ms_span input = ms_span_make(ptr + 1, len - 1);
    fuzz_begin(&f, (ptr[0] & 1) != 0, ptr, len);
    f.segment.fixup_format = (uint16_t)(ptr[0] >> 2 & 15);
    f.segment.max_valid_pointer = FUZZ_MAX;
    for (unsigned i = 0; i < 4; i++)
        fuzz_section(&f, "__DATA", lists[i], 0x2000 + 64 * i, ms_span_sub(input, 64 * i, 64));
    fuzz_section(&f, "__OBJC", "__module_info", 0x3000, ms_span_sub(input, 0, 64));
    fuzz_section(&f, "__DATA", "__const", FUZZ_DATA, ms_span_from(input, FUZZ_LISTS));
    f.mo.is_loaded = (ptr[0] & 2) != 0; /* then any isa will do for a block */
    memset(&list, 0, sizeof list);
    list.arena = &f.arena;
    ms_fx_open(&f.data, &f.mo, NULL, &f.arena);
    ms_oc_read(&list, &f.data, &f.arena);
    ms_oc_add_names(&f.table, &f.data, &f.arena);
    ms_oc_add_blocks(&f.table, &f.data);
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
