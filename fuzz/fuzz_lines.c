/* Fuzzes line programs: the input is .debug_line, and the names that it refers to; units of five encodings
 * use it from its start, over code at 0x1000. Run: build/fuzz/lines -dict=fuzz/dwarf.dict
 * fuzz/corpus/lines */
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_macho m;
    bytes abbrev = {NULL, 0, 0};
    bytes info = {NULL, 0, 0};
    bytes line = drive_part(&data, &size, true);
    memset(&m, 0, sizeof m);
    fuzz_abbrevs(&abbrev);
    for (unsigned i = 0; i < FUZZ_ENCODINGS; i++) {
        bytes entries = {NULL, 0, 0};
        put8(&entries, 1);
        put_str(&entries, "unit.c");
        put8(&entries, 0);
        put_uint(&entries, 0x1000, fuzz_encodings[i].addr_size);
        put16(&entries, 0x1000);
        put8(&entries, 0);
        fuzz_unit(&info, &fuzz_encodings[i], &entries);
        bytes_free(&entries);
    }
    make_add(&m, "__debug_info", &info);
    make_add(&m, "__debug_abbrev", &abbrev);
    make_add(&m, "__debug_line", &line);
    make_add(&m, "__debug_line_str", &line);
    make_add(&m, "__debug_str", &line);
    drive_made(&m);
    bytes_free(&info);
    bytes_free(&abbrev);
    bytes_free(&line);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    if (mutate_random(&m, 4) == 0)
        return LLVMFuzzerMutate(data, size, max);
    mutate_line(&m);
    return m.len;
}
