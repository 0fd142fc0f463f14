/* Fuzzes abbreviation tables and the forms of values: part 1 is .debug_abbrev, the rest the entries of a unit in each
 * of five encodings. Run: build/fuzz/abbrev fuzz/corpus/abbrev */
#include "units.h"

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
