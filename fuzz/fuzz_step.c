/* Fuzzes unwinding: a compact unwind table, an eh_frame or a debug_frame, and memory that says anything.
 * Input: a byte of choices (processor; tables from memory or from a file; an eh_frame alone, or as a debug_frame; who
 * awaits async frames; memory that changes with each read; memory that goes away), 8 bytes of registers, then the
 * table and the memory, with the same bytes over and over.
 * Run: build/fuzz/step fuzz/corpus/step */
#define TEST_ROOM <src/unwind/step.h>
#include "../tests/room.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FROM_FILE = 4, FRAMES_ALONE = 8, DEBUG_FRAME = 16, AWAITING = 32, CHANGES = 64, GOES_AWAY = 128 };

typedef struct memory {
    const uint8_t *v;
    size_t len;
    unsigned long reads;
    unsigned long fails_at; /* this read fails, and others now and then; 0: none */
    bool changes;
} memory;

static bool read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
    memory *m = (memory *)ctx;
    m->reads++;
    if (addr >> 60 != 0 || (m->fails_at != 0 && m->reads % (m->fails_at + m->reads / 16) == 0))
        return false;
    if (m->changes)
        addr += m->reads * 7;
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
    m.reads = 0;
    m.changes = (ptr[0] & CHANGES) != 0;
    m.fails_at = (ptr[0] & GOES_AWAY) != 0 ? 1u + ptr[1] : 0;
    memset(&image, 0, sizeof image);
    image.size = UINT64_MAX;
    if ((ptr[0] & FROM_FILE) != 0) {
        image.unwind_info.bytes.ptr = m.v;
        image.unwind_info.bytes.len = m.len;
    } else {
        image.unwind_info.size = m.len;
    }
    image.eh_frame = image.unwind_info;
    if ((ptr[0] & FRAMES_ALONE) != 0)
        memset(&image.unwind_info, 0, sizeof image.unwind_info);
    if ((ptr[0] & DEBUG_FRAME) != 0) {
        image.debug_frame = image.eh_frame;
        memset(&image.eh_frame, 0, sizeof image.eh_frame);
    }
    desc.read = read_memory;
    desc.ctx = &m;
    desc.images = &image;
    desc.image_count = 1;
    desc.cputype = cputypes[ptr[0] & 3];
    memset(&s, 0, sizeof s);
    s.known = UINT64_MAX;
    s.awaiting = (ptr[0] & AWAITING) != 0;
    for (unsigned i = 0; i < 33; i++)
        s.v[i] = (uint64_t)ptr[1 + i % 8] * 8;
    unsigned sp = (ptr[0] & 3) == 1 ? 7 : (ptr[0] & 3) == 2 ? 4 : 31;
    machsym_unwind_state before = s;
    for (uint32_t frames = 1; machsym_unwind_next(&desc, &s); frames++) {
        bool stopped =
            frames == 1 || before.how == MACHSYM_UNWIND_SIGNAL; /* its caller may have the same stack */
        bool up = s.v[sp] > before.v[sp] || (stopped && s.v[sp] == before.v[sp]);
        bool anywhere = s.how == MACHSYM_UNWIND_SIGNAL || s.how == MACHSYM_UNWIND_ASYNC;
        if (s.frame_count != frames || frames > MACHSYM_MAX_UNWIND_FRAMES || (!up && !anywhere))
            abort();
        if (before.how == MACHSYM_UNWIND_ASYNC && s.how != MACHSYM_UNWIND_ASYNC)
            abort();
        before = s;
    }
    /* an entry of a table takes four reads; a frame reads code, tables and saved registers */
    if (s.searched > MACHSYM_MAX_STACK_SEARCH || m.reads > s.searched * 4ul + (s.frame_count + 1) * 20000ul)
        abort();
    if (s.end == MACHSYM_UNWIND_GOES_ON)
        abort();
    return 0;
}
