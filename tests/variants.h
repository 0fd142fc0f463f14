/* Variants of a file, the same on every machine: the first ones are cut short, the others have bits
 * flipped. */
#ifndef MACHSYM_VARIANTS_H
#define MACHSYM_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which variants to make. */
typedef struct variant_options {
    long cuts;
    long flips;
    uint64_t seed;
    long only; /* -1: all */
} variant_options;

typedef struct variant_file {
    uint8_t *ptr;
    size_t len;
} variant_file;

static uint64_t variant_chance;

static inline uint64_t variant_roll(uint64_t below)
{
    variant_chance ^= variant_chance << 13;
    variant_chance ^= variant_chance >> 7;
    variant_chance ^= variant_chance << 17;
    return below == 0 ? 0 : (variant_chance >> 11) % below;
}

/* Takes --cuts=, --flips=, --seed= and --only=. Returns false when the argument is another. */
static inline bool variant_option(const char *arg, variant_options *o)
{
    if (strncmp(arg, "--cuts=", 7) == 0)
        o->cuts = strtol(arg + 7, NULL, 10);
    else if (strncmp(arg, "--flips=", 8) == 0)
        o->flips = strtol(arg + 8, NULL, 10);
    else if (strncmp(arg, "--seed=", 7) == 0)
        o->seed = strtoull(arg + 7, NULL, 10);
    else if (strncmp(arg, "--only=", 7) == 0)
        o->only = strtol(arg + 7, NULL, 10);
    else
        return false;
    return true;
}

/* A whole file; the program ends when there is none. */
static inline variant_file variant_read(const char *path)
{
    variant_file file = {NULL, 0};
    FILE *in = fopen(path, "rb");
    if (in == NULL || fseek(in, 0, SEEK_END) != 0) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    long len = ftell(in);
    rewind(in);
    file.ptr = (uint8_t *)malloc(len > 0 ? (size_t)len : 1);
    file.len = file.ptr != NULL && len > 0 ? fread(file.ptr, 1, (size_t)len, in) : 0;
    fclose(in);
    return file;
}

/* Flips bits: half of them anywhere, half at the begin of the file or near some place, where they hurt
 * more. */
static inline void variant_flip(uint8_t *bytes, size_t len)
{
    size_t near = (size_t)variant_roll(len);
    unsigned count = (unsigned)variant_roll(16) + 1;
    for (unsigned i = 0; i < count && len > 0; i++) {
        size_t at = (size_t)variant_roll(len);
        if (variant_roll(4) == 0)
            at = (size_t)variant_roll(len < 4096 ? len : 4096);
        else if (variant_roll(3) == 0)
            at = (near + (size_t)variant_roll(64)) % len;
        uint64_t how = variant_roll(4);
        bytes[at] = how == 0 ? 0xff : how == 1 ? 0 : (uint8_t)(bytes[at] ^ 1u << variant_roll(8));
    }
}

/* Variant number index, in memory of its exact size, which the caller frees. */
static inline uint8_t *variant_make(const variant_file *file, long index, const variant_options *o,
                                    size_t *len)
{
    variant_chance =
        (o->seed * 0x9e3779b97f4a7c15u) ^ ((uint64_t)(index + 1) * 0xff51afd7ed558ccdu) ^ file->len;
    variant_chance = variant_chance == 0 ? 1 : variant_chance;
    *len = index < o->cuts ? (size_t)((uint64_t)file->len * (uint64_t)index / (uint64_t)o->cuts) : file->len;
    uint8_t *bytes = (uint8_t *)malloc(*len == 0 ? 1 : *len);
    if (bytes == NULL) {
        puts("no memory for a variant");
        exit(1);
    }
    if (*len != 0)
        memcpy(bytes, file->ptr, *len);
    if (index >= o->cuts)
        variant_flip(bytes, *len);
    return bytes;
}

static inline void variant_save(const char *path, const uint8_t *bytes, size_t len)
{
    FILE *out = fopen(path, "wb");
    bool written = out != NULL && fwrite(bytes, 1, len, out) == len;
    if ((out != NULL && fclose(out) != 0) || !written) {
        printf("%s: cannot be written\n", path);
        exit(1);
    }
}

#endif
