/* Fuzzes the exports trie.
 * Input: the trie.
 * Run: build/fuzz/exports -dict=fuzz/metadata.dict fuzz/corpus/exports */
#include "metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    fuzz_slice f;
    if (len > FUZZ_MAX)
        return 0;
    fuzz_begin(&f, true, ptr, len);
    f.mo.loads.exports_size = (uint32_t)len;
    ms_fx_open(&f.data, &f.mo, NULL, &f.arena);
    ms_sym_add_exports(&f.table, &f.data, &f.arena);
    fuzz_end(&f);
    return 0;
}
