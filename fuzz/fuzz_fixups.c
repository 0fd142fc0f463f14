/* Fuzzes encoded pointers: chained fixups, their imports, bind code.
 * Input: a byte of choices (64-bit, how many eighths are bind code, object file), bind code,
 * LC_DYLD_CHAINED_FIXUPS' data, which also is the data with the pointers. In an object file the bind code is
 * relocations, the rest symbols.
 * Run: build/fuzz/fixups -dict=fuzz/metadata.dict fuzz/corpus/fixups */
#include "metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    fuzz_slice f;
    if (len < 1 || len > FUZZ_MAX)
        return 0;
    size_t code_len = (len - 1) * (ptr[0] >> 1 & 7) / 8;
    fuzz_begin(&f, (ptr[0] & 1) != 0, ptr, len);
    f.mo.loads.bind_off = 1;
    f.mo.loads.bind_size = (uint32_t)code_len;
    f.mo.loads.fixups_off = 1 + code_len;
    f.mo.loads.fixups_size = (uint32_t)(len - 1 - code_len);
    fuzz_section(&f, "__DATA", "__data", FUZZ_DATA, ms_span_from(f.mo.bytes, 1 + code_len));
    if ((ptr[0] & 0x10) != 0) {
        f.mo.slice.filetype = ms_MH_OBJECT;
        f.mo.loads.bind_size = 0;
        f.mo.loads.sym_off = f.mo.loads.str_off = 1 + code_len;
        f.mo.loads.sym_count = (uint32_t)(len / 16);
        f.mo.loads.str_size = (uint32_t)(len - 1 - code_len);
        f.sections[0].reloc_off = 1;
        f.sections[0].reloc_count = (uint32_t)(code_len / 8);
    }
    ms_mo_read_fixup_formats(&f.mo);
    ms_fx_open(&f.data, &f.mo, NULL, &f.arena);
    for (uint64_t addr = FUZZ_DATA; addr < FUZZ_DATA + f.sections[0].size; addr++) {
        ms_fx_pointer pointer = ms_fx_pointer_at(&f.data, addr);
        if (pointer.addr != 0 && pointer.import.len != 0)
            abort();
        fuzz_text(ms_str_make(pointer.import.ptr, pointer.import.len < 64 ? pointer.import.len : 64));
    }
    fuzz_end(&f);
    return 0;
}
