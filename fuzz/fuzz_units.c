/* Fuzzes unit headers and .debug_aranges: part 1 is .debug_info, the rest .debug_aranges; the abbreviations are fixed.
 * Run: build/fuzz/units fuzz/corpus/units */
#include "units.h"

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
