/* Fuzzes unwinding: a compact unwind table or an eh_frame, and memory that says anything.
 * Input: a byte of choices (processor; tables from memory or from a file; an eh_frame alone), 8 bytes of registers, then the table and
 * the memory, with the same bytes over and over.
 * Run: build/fuzz/step fuzz/corpus/step */
#define TEST_ROOM <src/unwind/step.h>
#include "../tests/room.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct memory {
    const uint8_t *v;
    size_t len;
} memory;

static bool read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
    const memory *m = (const memory *)ctx;
    if (addr >> 60 != 0)
        return false;
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)buf)[i] = m->v[(size_t)((addr + i) % m->len)];
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    static const uint32_t cputypes[] = {ms_CPU_ARM64, ms_CPU_X86_64, 7, ms_CPU_ARM64_32};
    machsym_unwind_image image;
    machsym_unwind_desc desc;
    machsym_unwind_state s;
    memory m;
    if (len < 10 || len > 4096)
        return 0;
    m.v = ptr + 9;
    m.len = len - 9;
    memset(&image, 0, sizeof image);
    image.size = UINT64_MAX;
    if ((ptr[0] & 4) != 0) {
        image.unwind_info.bytes.ptr = m.v;
        image.unwind_info.bytes.len = m.len;
    } else {
        image.unwind_info.size = m.len;
    }
    image.eh_frame = image.unwind_info;
    if ((ptr[0] & 8) != 0)
        memset(&image.unwind_info, 0, sizeof image.unwind_info);
    desc.read = read_memory;
    desc.ctx = &m;
    desc.images = &image;
    desc.image_count = 1;
    desc.cputype = cputypes[ptr[0] & 3];
    memset(&s, 0, sizeof s);
    s.known = UINT64_MAX;
    for (unsigned i = 0; i < 33; i++)
        s.v[i] = (uint64_t)ptr[1 + i % 8] * 8;
    unsigned sp = (ptr[0] & 3) == 1 ? 7 : (ptr[0] & 3) == 2 ? 4 : 31;
    machsym_unwind_state before = s;
    for (uint32_t frames = 1; machsym_unwind_next(&desc, &s); frames++) {
        bool stopped =
            frames == 1 || before.how == MACHSYM_UNWIND_SIGNAL; /* its caller may have the same stack */
        bool up = s.v[sp] > before.v[sp] || (stopped && s.v[sp] == before.v[sp]);
        if (s.frame_count != frames || frames > MACHSYM_MAX_UNWIND_FRAMES ||
            (!up && s.how != MACHSYM_UNWIND_SIGNAL))
            abort();
        before = s;
    }
    if (s.end == MACHSYM_UNWIND_GOES_ON)
        abort();
    return 0;
}
