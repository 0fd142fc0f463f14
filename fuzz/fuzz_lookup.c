/* Fuzzes the whole way from a file's bytes to answers: open, sessions of every policy, iterations, lookups.
 * Run: build/fuzz/lookup -dict=fuzz/macho.dict -max_len=40000 fuzz/corpus/lookup */
#include "mutate_whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drive_file(data, size, 0);
    return 0;
}
