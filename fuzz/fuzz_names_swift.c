/* Fuzzes the Swift demangler: the same result for any room, no read outside the name, an end in the budgets.
 *
 *   mkdir -p build/corpus_swift && cut -f1 ../shared/vectors/swift*.tsv | sort -u | \
 *       awk '{ f = sprintf("build/corpus_swift/%05d", NR); printf "%s", $0 > f; close(f) }'
 *   clang -g -O1 -std=c11 -I. -fsanitize=fuzzer,address,undefined fuzz/fuzz_names_swift.c \
 *       -o build/fuzz_names_swift
 *   build/fuzz_names_swift -max_len=4096 -timeout=10 build/corpus_swift
 */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include "names_swift.h"

#include <stdlib.h>

enum { SMALL = 24 * 1024, LARGE = 256 * 1024, ROOM = 64 };

static union {
    uint64_t align[2];
    unsigned char bytes[LARGE];
} scratch;

static bool run(const char *s, size_t len, uint32_t flags, char *buf, size_t cap, size_t *out_len)
{
    ms_dm d;
    for (int round = 0; round < 2; round++) {
        memset(&d, 0, sizeof d);
        d.s = s;
        d.len = len;
        d.flags = flags;
        d.out = buf;
        d.cap = cap;
        d.out_limit = 256 * 1024 + 16 * len;
        d.work = 64 * len + 65536;
        d.mem = scratch.bytes;
        d.mem_len = round == 0 ? SMALL : LARGE;
        if (ms_dm_swift(&d)) {
            *out_len = d.out_len;
            return true;
        }
        if (!d.no_mem)
            break;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t styles[] = {0, MACHSYM_DEMANGLE_SIMPLIFIED, ms_dmsw_NO_SUGAR,
                                      MACHSYM_DEMANGLE_SIMPLIFIED | ms_dmsw_NO_ASYNC};
    char *name = (char *)malloc(size ? size : 1); /* a block of its own: a sanitizer sees reads behind it */
    if (!name)
        return 0;
    memcpy(name, data, size);
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        char small[ROOM];
        size_t len = 0, again = 0, limit = 256 * 1024 + 16 * size;
        char *buf = (char *)malloc(limit);
        if (!buf)
            break;
        bool a = run(name, size, styles[i], buf, limit, &len);
        bool b = run(name, size, styles[i], small, ROOM, &again);
        if (a != b ||
            (a && (len != again || len > limit || memcmp(buf, small, len < ROOM ? len : ROOM) != 0)))
            abort();
        free(buf);
    }
    free(name);
    return 0;
}
