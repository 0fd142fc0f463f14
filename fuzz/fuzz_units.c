/* Fuzzes unit headers and .debug_aranges: part 1 is .debug_info, the rest .debug_aranges; the abbreviations
 * are fixed. Run: build/fuzz/units -dict=fuzz/dwarf.dict fuzz/corpus/units */
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_macho m;
    bytes abbrev = {NULL, 0, 0};
    bytes info = drive_part(&data, &size, false);
    bytes aranges = drive_part(&data, &size, true);
    memset(&m, 0, sizeof m);
    fuzz_abbrevs(&abbrev);
    make_add(&m, "__debug_info", &info);
    make_add(&m, "__debug_abbrev", &abbrev);
    make_add(&m, "__debug_aranges", &aranges);
    drive_made(&m);
    bytes_free(&info);
    bytes_free(&abbrev);
    bytes_free(&aranges);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    size_t choice = mutate_random(&m, 8);
    if (size < 2 || choice < 2)
        return LLVMFuzzerMutate(data, size, max);
    mutate_open_part(&m, choice < 6);
    if (choice < 6) {
        bytes abbrev = {NULL, 0, 0};
        fuzz_abbrevs(&abbrev);
        mutate_info(&m, &abbrev);
        bytes_free(&abbrev);
    } else {
        mutate_words(&m, 8);
    }
    mutate_close_part(&m, choice < 6);
    return m.len;
}
