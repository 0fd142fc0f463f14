/* libFuzzer's mutator and crossover of targets whose input is a whole Mach-O file. */
#ifndef MACHSYM_FUZZ_MUTATE_WHOLE_H
#define MACHSYM_FUZZ_MUTATE_WHOLE_H

#include "mutate_macho.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    mutate_file(&m, false);
    return m.len;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                                 uint8_t *out, size_t max, unsigned seed)
{
    if (size > max)
        return 0;
    memcpy(out, data, size);
    mutation m = mutate_begin(out, size, max, seed);
    mutation from = mutate_begin((uint8_t *)(uintptr_t)other, other_size, other_size, 0);
    return mutate_cross(&m, &from);
}

#endif
