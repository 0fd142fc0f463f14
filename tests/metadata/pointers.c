/* Reads lines "ADDRESS TARGET" of an image's pointers, as llvm-objdump lists them, where TARGET is an address
 * or the name of an import; prints those that machsym decodes otherwise, and how many there were. machsym
 * leaves out the top byte: Swift's tags are no part of an address. */
#define TEST_ROOM "../src/image/image.h"
#include "../room.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    ms_fx_data d;
    char line[4096];
    unsigned count = 0;
    memset(&desc, 0, sizeof desc);
    desc.path = argc > 1 ? argv[1] : NULL;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return 1;
    ms_fx_open(&d, &image->mo[0], NULL, &image->arena);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *target = NULL;
        uint64_t addr = strtoull(line, &target, 16);
        while (*target == ' ')
            target++;
        size_t len = strcspn(target, "\n");
        ms_fx_pointer pointer = ms_fx_pointer_at(&d, addr);
        bool same = target[0] == '0' && target[1] == 'x'
                        ? pointer.addr == (uint64_t)strtoull(target, NULL, 16) << 8 >> 8
                        : ms_str_equal(pointer.import, ms_str_make(target, len));
        if (!same)
            printf("0x%llx: 0x%llx %.*s, not %.*s\n", (unsigned long long)addr,
                   (unsigned long long)pointer.addr, (int)pointer.import.len, pointer.import.ptr, (int)len,
                   target);
        count++;
    }
    printf("%u\n", count);
    machsym_image_close(image);
    return 0;
}
