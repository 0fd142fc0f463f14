/* The body of the demangler targets: runs FUZZ_ENTRY into a large and into a small buffer and compares. */
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGE_CAP = 1 << 20, FRAME = 256 << 10 };

static bool run(const uint8_t *name, size_t len, uint32_t flags, char *out, size_t cap, ms_dm *d)
{
    static unsigned char *frame;
    if (frame == NULL)
        frame = (unsigned char *)malloc(FRAME);
    memset(d, 0, sizeof *d);
    d->s = (const char *)name;
    d->len = len;
    d->flags = flags;
    d->out = out;
    d->cap = cap;
    d->out_limit = (256u << 10) + 16 * len;
    d->work = 64 * len + 65536;
    d->mem = frame;
    d->mem_len = FRAME;
    return FUZZ_ENTRY(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *large;
    char small[16];
    ms_dm a, b;
    if (large == NULL)
        large = (char *)malloc(LARGE_CAP);
    if (size == 0)
        return 0;
    bool ok_a = run(data + 1, size - 1, data[0] & 3u, large, LARGE_CAP, &a);
    bool ok_b = run(data + 1, size - 1, data[0] & 3u, small, sizeof small, &b);
    if (ok_a != ok_b || a.out_len != b.out_len || a.depth != b.depth || a.work != b.work)
        abort();
    if (ok_a && memcmp(large, small, a.out_len < sizeof small ? a.out_len : sizeof small) != 0)
        abort();
    return 0;
}
