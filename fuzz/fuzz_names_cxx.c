/* Fuzzes the C++ demangler: it must end, stay inside its buffers, and print the same whatever the buffer's
 * size.
 * Build: clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
 *            -o fuzz_names_cxx fuzz/fuzz_names_cxx.c
 * Seeds: mkdir seeds
 *        cut -f1 ../shared/vectors/cxx*.tsv | sort -u | shuf -n 4000 | split -l 1 -a 4 - seeds/
 * Run:   ./fuzz_names_cxx -max_len=4096 seeds
 *        ./fuzz_names_cxx -max_len=60000 -len_control=0 seeds */
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"
#include "../names_cxx.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool run(const char *name, size_t len, size_t mem_len, char *out, size_t cap, ms_dm *d)
{
    unsigned char *mem = (unsigned char *)malloc(mem_len);
    memset(d, 0, sizeof(*d));
    d->s = name;
    d->len = len;
    d->out = out;
    d->cap = cap;
    d->out_limit = 256 * 1024 + 16 * len;
    d->work = 64 * len + 65536;
    d->mem = mem;
    d->mem_len = mem_len;
    bool ok = ms_dm_cxx(d);
    if (d->out_len > d->out_limit)
        abort();
    free(mem);
    return ok;
}

/* Seeds end in a newline; whatever does not begin as a C++ name is made to. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size != 0 && data[size - 1] == '\n')
        size--;
    size_t lead = size != 0 && data[0] == '_' ? 0 : 2;
    size_t len = size + lead;
    char *name = (char *)malloc(len);
    memcpy(name, "_Z", lead);
    memcpy(name + lead, data, size);

    size_t room = 256 * 1024 + 16 * len;
    char *whole = (char *)malloc(room);
    ms_dm d;
    bool ok = run(name, len, 256 * 1024, whole, room, &d);
    size_t want = d.out_len;
    size_t cap = want / 2;
    char *part = (char *)malloc(cap + 1);
    bool part_ok = run(name, len, 256 * 1024, part, cap, &d);
    if (part_ok != ok || (ok && (d.out_len != want || memcmp(part, whole, cap) != 0)))
        abort();
    bool small_ok = run(name, len, 24 * 1024, part, cap, &d);
    if (small_ok != ok && !d.no_mem)
        abort();
    if (small_ok && (d.out_len != want || memcmp(part, whole, cap) != 0))
        abort();
    free(part);
    free(whole);
    free(name);
    return 0;
}
