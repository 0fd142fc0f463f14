/* Fuzzes images as they lie in memory: the input is the memory from the header on, which says of itself what
 * it likes. Run: build/fuzz/loaded -dict=fuzz/macho.dict -max_len=40000 fuzz/corpus/loaded */
#include "mutate_macho.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = data;
    desc.bytes.len = size;
    desc.flags = MACHSYM_OPEN_LOADED;
    desc.load_addr = 0x200000000; /* where the seeds stand */
    machsym_image *image;
    if (size == 0 || machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return 0;
    machsym_session_desc how;
    machsym_session *session;
    memset(&how, 0, sizeof how);
    how.image = image;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        abort();
    drive_session(session, image);
    machsym_session_close(session);
    machsym_image_close(image);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    mutate_file(&m, true);
    return m.len;
}
