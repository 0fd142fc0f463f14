/* machsym_inflate beside zlib's uncompress: inflate FILE... For each file a line: how many bytes zlib's
 * level 6 makes of its first 8 MB, how many MB a second come out of each, and the ratio of the times. Both
 * compare the checksum; the output is compared with the file. Processor time, the best of some rounds, in
 * turn. */
#include "../machsym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { MOST = 8 << 20, ROUNDS = 9 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The processor time of each: ours in best[0], zlib's in best[1]. Returns false when one has other bytes. */
static bool race(machsym_bytes packed, const unsigned char *bytes, size_t len, unsigned char *out,
                 double best[2])
{
    best[0] = best[1] = 1e9;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        machsym_error err;
        size_t got = 0;
        size_t used;
        uLongf room = (uLongf)len;
        memset(out, 0, len);
        double begin = seconds();
        if (i % 2 == 0)
            machsym_inflate(MACHSYM_DEFLATE_ZLIB, packed, out, len, &got, &used, &err);
        else if (uncompress(out, &room, packed.ptr, (uLong)packed.len) == Z_OK)
            got = room;
        double took = seconds() - begin;
        if (got != len || memcmp(out, bytes, len) != 0)
            return false;
        best[i % 2] = took < best[i % 2] ? took : best[i % 2];
    }
    return true;
}

static bool measure(const char *path, unsigned char *bytes, unsigned char *out)
{
    double best[2];
    FILE *in = fopen(path, "rb");
    size_t len = in != NULL ? fread(bytes, 1, MOST, in) : 0;
    if (in != NULL)
        fclose(in);
    uLongf packed_len = compressBound((uLong)len);
    unsigned char *packed = malloc(packed_len);
    bool ok = len > 0 && packed != NULL && compress2(packed, &packed_len, bytes, (uLong)len, 6) == Z_OK &&
              race((machsym_bytes){packed, packed_len}, bytes, len, out, best);
    if (ok)
        printf("%s: %lu -> %zu bytes: machsym %.0f MB/s, zlib %s %.0f MB/s: %.2f of its time\n", path,
               (unsigned long)packed_len, len, (double)len / best[0] * 1e-6, zlibVersion(),
               (double)len / best[1] * 1e-6, best[0] / best[1]);
    else
        fprintf(stderr, "inflate: %s: empty, cannot be read, or became other bytes\n", path);
    free(packed);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned char *bytes = malloc(MOST);
    unsigned char *out = malloc(MOST);
    bool ok = bytes != NULL && out != NULL;
    for (int i = 1; i < argc && bytes != NULL && out != NULL; i++)
        ok = measure(argv[i], bytes, out) && ok;
    free(bytes);
    free(out);
    return ok ? 0 : 1;
}
