/* Fuzzes abbreviation tables and the forms of values: part 1 is .debug_abbrev, the rest the entries of a unit
 * in each of five encodings. Run: build/fuzz/abbrev -dict=fuzz/dwarf.dict fuzz/corpus/abbrev */
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_macho m;
    bytes info = {NULL, 0, 0};
    bytes text = {NULL, 0, 0};
    bytes abbrev = drive_part(&data, &size, false);
    bytes entries = drive_part(&data, &size, true);
    memset(&m, 0, sizeof m);
    for (unsigned i = 0; i < FUZZ_ENCODINGS; i++)
        fuzz_unit(&info, &fuzz_encodings[i], &entries);
    put_str(&text, "some text");
    make_add(&m, "__debug_info", &info);
    make_add(&m, "__debug_abbrev", &abbrev);
    make_add(&m, "__debug_str", &text);
    make_add(&m, "__debug_str_offs", &entries);
    make_add(&m, "__debug_addr", &entries);
    drive_made(&m);
    bytes_free(&info);
    bytes_free(&text);
    bytes_free(&abbrev);
    bytes_free(&entries);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    size_t choice = mutate_random(&m, 8);
    if (size < 2 || choice < 2)
        return LLVMFuzzerMutate(data, size, max);
    mutate_open_part(&m, choice < 5);
    if (choice < 5) {
        mutate_abbrev(&m);
    } else {
        bytes abbrev = {NULL, 0, 0};
        put(&abbrev, data + 2, mutate_first_len(&m));
        mutate_entries how = {&abbrev, fuzz_encodings[mutate_random(&m, FUZZ_ENCODINGS)]};
        mutate_in_entries(&m, &how, m.lo - 11);
        bytes_free(&abbrev);
    }
    mutate_close_part(&m, choice < 5);
    return m.len;
}
