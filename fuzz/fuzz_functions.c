/* Fuzzes the entries of functions and inlined calls, and range lists: part 1 is .debug_ranges,
 * .debug_rnglists and .debug_addr, the rest the entries of a unit in each of five encodings under fixed
 * abbreviations. Run: build/fuzz/functions -dict=fuzz/dwarf.dict fuzz/corpus/functions */
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_macho m;
    bytes abbrev = {NULL, 0, 0};
    bytes info = {NULL, 0, 0};
    bytes ranges = drive_part(&data, &size, false);
    bytes entries = drive_part(&data, &size, true);
    memset(&m, 0, sizeof m);
    fuzz_abbrevs(&abbrev);
    for (unsigned i = 0; i < FUZZ_ENCODINGS; i++)
        fuzz_unit(&info, &fuzz_encodings[i], &entries);
    make_add(&m, "__debug_info", &info);
    make_add(&m, "__debug_abbrev", &abbrev);
    make_add(&m, "__debug_ranges", &ranges);
    make_add(&m, "__debug_rnglists", &ranges);
    make_add(&m, "__debug_addr", &ranges);
    make_add(&m, "__debug_str_offs", &ranges);
    make_add(&m, "__debug_str", &entries);
    drive_made(&m);
    bytes_free(&info);
    bytes_free(&abbrev);
    bytes_free(&ranges);
    bytes_free(&entries);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    size_t choice = mutate_random(&m, 8);
    if (size < 2 || choice < 2)
        return LLVMFuzzerMutate(data, size, max);
    mutate_open_part(&m, choice == 2);
    if (choice == 2) {
        mutate_words(&m, mutate_random(&m, 2) == 0 ? 4 : 8);
    } else {
        bytes abbrev = {NULL, 0, 0};
        fuzz_abbrevs(&abbrev);
        mutate_entries how = {&abbrev, fuzz_encodings[mutate_random(&m, FUZZ_ENCODINGS)]};
        mutate_in_entries(&m, &how, m.lo - 11);
        bytes_free(&abbrev);
    }
    mutate_close_part(&m, choice == 2);
    return m.len;
}
