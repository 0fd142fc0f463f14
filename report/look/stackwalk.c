/* The callers of a stopped thread; see stackwalk.h. */
#include "stackwalk.h"
#include "../base/digits.h"
#include "../model/registers.h"
#include "../model/tables.h"

#include <string.h>

enum { STACKWALK_CPU_X86_64 = 0x01000007 };

/* What memory is read from. */
typedef struct stackwalk_memory {
    const stackwalk *walk;
    bool has_read_stack;
} stackwalk_memory;

/* ---- Registers ---- */

/* Names by their numbers in machsym_unwind_state. KSCrash calls the frame pointer x29. */
static const char *const stackwalk_x86_64[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                               "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
static const char *const stackwalk_arm64[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",
                                              "x9",  "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
                                              "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
                                              "x27", "x28", "fp",  "lr",  "sp",  "pc"};
enum { STACKWALK_ARM64_FP = 29, STACKWALK_ARM64_PC = 32, STACKWALK_X86_64_PC = 16 };

static unsigned stackwalk_pc(const stackwalk *walk)
{
    return walk->cputype == STACKWALK_CPU_X86_64 ? STACKWALK_X86_64_PC : STACKWALK_ARM64_PC;
}

static void stackwalk_fill(const stackwalk *walk, machsym_unwind_state *out)
{
    bool is_x86_64 = walk->cputype == STACKWALK_CPU_X86_64;
    const char *const *names = is_x86_64 ? stackwalk_x86_64 : stackwalk_arm64;
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i <= stackwalk_pc(walk); i++) {
        const report_register *one = registers_find(walk->r, walk->thread, names[i]);
        if (one == NULL && !is_x86_64 && i == STACKWALK_ARM64_FP)
            one = registers_find(walk->r, walk->thread, "x29");
        if (one == NULL)
            continue;
        out->v[i] =
            !is_x86_64 && i > STACKWALK_ARM64_FP ? report_plain_addr(walk->r, one->value) : one->value;
        out->known |= UINT64_C(1) << i;
    }
}

/* ---- Memory ---- */

/* The stack's bytes are hexadecimal digits. */
static bool stackwalk_read_stack(const report_thread *thread, uint64_t addr, void *out, size_t len)
{
    size_t size = thread->stack.len / 2;
    uint64_t from = addr - thread->stack_at;
    if (addr < thread->stack_at || from > size || len > size - from)
        return false;
    for (size_t i = 0; i < len; i++) {
        int high = hex_digit(thread->stack.ptr[2 * (from + i)]);
        int low = hex_digit(thread->stack.ptr[2 * (from + i) + 1]);
        if (high < 0 || low < 0)
            return false;
        ((uint8_t *)out)[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool stackwalk_read(void *context, uint64_t addr, void *out, size_t len)
{
    stackwalk_memory *memory = (stackwalk_memory *)context;
    const stackwalk *walk = memory->walk;
    uint32_t image;
    if (stackwalk_read_stack(walk->thread, addr, out, len)) {
        memory->has_read_stack = true;
        return true;
    }
    const machsym_image *file = walk->code(walk->context, addr, &image);
    return file != NULL && tables_read(file, walk->r->images[image].base, addr, out, len);
}

/* ---- Steps ---- */

static bool stackwalk_step(stackwalk_memory *memory, machsym_unwind_state *state)
{
    const stackwalk *walk = memory->walk;
    bool stopped = state->how == MACHSYM_UNWIND_CONTEXT || state->how == MACHSYM_UNWIND_SIGNAL;
    uint32_t index;
    const machsym_image *file = walk->code(walk->context, state->v[stackwalk_pc(walk)] - !stopped, &index);
    machsym_image_info info;
    if (file == NULL)
        return false;
    machsym_image_get_info(file, &info);
    machsym_unwind_image image;
    memset(&image, 0, sizeof image);
    image.load_addr = walk->r->images[index].base;
    image.size = info.text_size;
    tables_of_file(file, walk->cputype, image.load_addr, &image);
    machsym_unwind_desc desc = {stackwalk_read, memory, &image, 1, walk->cputype};
    return machsym_unwind_next(&desc, state) && state->how != MACHSYM_UNWIND_FP;
}

unsigned stackwalk_callers(const stackwalk *walk, stackwalk_frame *out, unsigned cap)
{
    stackwalk_memory memory = {walk, false};
    machsym_unwind_state state;
    unsigned count = 0;
    stackwalk_fill(walk, &state);
    while (count < cap && stackwalk_step(&memory, &state)) {
        stackwalk_frame *one = &out[count];
        one->pc = report_plain_addr(walk->r, state.v[stackwalk_pc(walk)]);
        if (walk->code(walk->context, one->pc - 1, &one->image) == NULL)
            break;
        one->is_of_stack = memory.has_read_stack;
        one->found_by = memory.has_read_stack ? tables_how(state.how) : "leaf";
        count++;
    }
    return count;
}
