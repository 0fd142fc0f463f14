/* The compact unwind encodings of offsets on stdin, from an __unwind_info that is read out of a file and as out of a
 * process. Usage: encodings FILE OFFSET SIZE */
#include "../../src/unwind/compact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT = 0x1000 };

static bool read_table(void *ctx, uint64_t addr, void *buf, size_t len)
{
    const ms_span *table = (const ms_span *)ctx;
    if (addr < AT || addr - AT > table->len || len > table->len - (addr - AT))
        return false;
    memcpy(buf, table->ptr + (addr - AT), len);
    return true;
}

int main(int argc, char **argv)
{
    size_t size = argc == 4 ? strtoul(argv[3], NULL, 0) : 0;
    uint8_t *bytes = (uint8_t *)malloc(size + 1);
    FILE *file = fopen(argv[1], "rb");
    if (size == 0 || bytes == NULL || file == NULL || fseek(file, strtol(argv[2], NULL, 0), SEEK_SET) != 0 ||
        fread(bytes, 1, size, file) != size)
        return 1;
    ms_span all = ms_span_make(bytes, size);
    ms_piece_source in_file = ms_piece_of_file(all, 0);
    ms_piece_source in_process = {{NULL, 0}, read_table, &all, AT, size};
    unsigned long off;
    while (scanf("%lx", &off) == 1) {
        ms_unc_entry a = {0, 0}, b = {0, 0};
        bool found = ms_unc_find(&in_file, off, &a);
        if (ms_unc_find(&in_process, off, &b) != found || a.lo != b.lo || a.encoding != b.encoding)
            puts("the process says something else");
        else if (found)
            printf("0x%08lx 0x%08lx\n", (unsigned long)a.lo, (unsigned long)a.encoding);
        else
            puts("none");
    }
    fclose(file);
    free(bytes);
    return 0;
}
