/* Fuzzes images as they lie in memory: the input is the memory from the header on, which says of itself what it likes.
 * Run: build/fuzz/loaded -dict=fuzz/macho.dict -max_len=40000 fuzz/corpus/loaded */
#include "drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = data;
    desc.bytes.len = size;
    desc.flags = MACHSYM_OPEN_LOADED;
    desc.load_addr = 0x200000000; /* where the seeds stand */
    if (size != 0)
        drive_open(&desc);
    return 0;
}
