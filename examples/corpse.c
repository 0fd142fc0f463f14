/* The stacks of a dead process, by callbacks alone: no file, no allocation, no lock, and an end for every stack.
 * On a Mac or an iPhone, from a CrashReportExtension: corpse_report(process.corpsePort, ...); docs/extension.md has the
 * Swift around it. Elsewhere the same code reads a core file of macOS:
 *     cc examples/corpse.c -o corpse && ./corpse tests/stacks/arm64.core */
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_IMAGES = 2048,
    MAX_SEGMENTS = 4096,
    MAX_DEPTH = 512,
    CPU_ARM64 = 0x0100000c,
    CPU_X86_64 = 0x01000007
};

/* A dead process. The images are kept here, so one is static: 200 KB. */
typedef struct corpse {
    bool (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
    void *ctx;
    uint32_t cputype;
    machsym_unwind_image images[MAX_IMAGES];
    const char *paths[MAX_IMAGES];
    size_t image_count;
} corpse;

/* ---- Images: where their tables lie is in their headers ---- */

static uint64_t get(const uint8_t *p, unsigned size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | p[size];
    return value;
}

/* The sections of an LC_SEGMENT_64 at an address, if it is __TEXT. */
static void take_text(const corpse *c, uint64_t at, machsym_unwind_image *image)
{
    uint8_t segment[72], section[80];
    if (!c->read(c->ctx, at, segment, sizeof segment) || memcmp(segment + 8, "__TEXT", 7) != 0)
        return;
    uint64_t slide = image->load_addr - get(segment + 24, 8);
    image->size = get(segment + 32, 8);
    for (uint64_t i = 0; i < get(segment + 64, 4) && i < 256; i++) {
        if (!c->read(c->ctx, at + sizeof segment + i * sizeof section, section, sizeof section))
            return;
        bool is_compact = memcmp(section, "__unwind_info", 14) == 0;
        machsym_unwind_section found = {{NULL, 0}, get(section + 32, 8) + slide, get(section + 40, 8)};
        if (is_compact)
            image->unwind_info = found;
        else if (memcmp(section, "__eh_frame", 11) == 0)
            image->eh_frame = found;
    }
}

static void add_image(corpse *c, uint64_t load_addr, const char *path)
{
    uint8_t header[32], command[8];
    if (c->image_count == MAX_IMAGES || !c->read(c->ctx, load_addr, header, sizeof header) ||
        get(header, 4) != 0xfeedfacf)
        return;
    machsym_unwind_image *image = &c->images[c->image_count];
    memset(image, 0, sizeof *image);
    image->load_addr = load_addr;
    uint64_t at = load_addr + sizeof header;
    for (uint64_t i = 0; i < get(header + 16, 4) && i < 1024; i++) {
        if (!c->read(c->ctx, at, command, sizeof command) || get(command + 4, 4) < sizeof command)
            break;
        if (get(command, 4) == 0x19)
            take_text(c, at, image);
        at += get(command + 4, 4);
    }
    c->paths[c->image_count++] = path;
}

/* ---- Threads ---- */

/* Registers as ARM_THREAD_STATE64 and x86_THREAD_STATE64 have them: from thread_get_state and in core files alike. */
static bool take_registers(uint32_t cputype, const uint8_t *p, size_t len, machsym_unwind_state *out)
{
    static const uint8_t x86_64[] = {0, 3, 2, 1, 5, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    unsigned count = cputype == CPU_ARM64 ? 33 : 17;
    memset(out, 0, sizeof *out);
    if ((cputype != CPU_ARM64 && cputype != CPU_X86_64) || len < 8 * count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        unsigned number = cputype == CPU_ARM64 ? i : x86_64[i];
        out->v[number] = get(p + 8 * i, 8);
        out->known |= UINT64_C(1) << number;
    }
    if (cputype == CPU_ARM64)
        out->v[32] = machsym_plain_pc(cputype, out->v[32]);
    return true;
}

static void print_frame(const corpse *c, unsigned number, uint64_t pc, machsym_unwind_how how)
{
    static const char *const words[] = {"context",  "compact", "fp",    "eh_frame", "signal",
                                        "prologue", "leaf",    "async", "?"};
    const char *word = words[how <= MACHSYM_UNWIND_ASYNC ? how : MACHSYM_UNWIND_ASYNC + 1];
    for (size_t i = 0; i < c->image_count; i++) {
        if (pc - c->images[i].load_addr >= c->images[i].size)
            continue;
        printf("%-3u 0x%llx %s + %llu (%s)\n", number, (unsigned long long)pc, c->paths[i],
               (unsigned long long)(pc - c->images[i].load_addr), word);
        return;
    }
    printf("%-3u 0x%llx ??? (%s)\n", number, (unsigned long long)pc, word);
}

/* An app keeps the numbers instead of printing them: UUID and offset are what a server looks up. */
static void print_stack(const corpse *c, unsigned number, machsym_unwind_state *state)
{
    machsym_unwind_desc desc = {c->read, c->ctx, c->images, c->image_count, c->cputype};
    unsigned pc = c->cputype == CPU_ARM64 ? 32 : 16;
    printf("Thread %u:\n", number);
    for (unsigned i = 0; i < MAX_DEPTH; i++) {
        print_frame(c, i, state->v[pc], state->how);
        if (!machsym_unwind_next(&desc, state))
            break;
    }
}

#if defined(__APPLE__)
#include <TargetConditionals.h>
#if TARGET_OS_OSX || TARGET_OS_IOS
#include <mach/mach.h>
#if defined(__has_include)
#if __has_include(<mach/mach_vm.h>)
#include <mach/mach_vm.h>
#define CORPSE_HAS_PORTS
#endif
#endif
#endif
#endif

#ifdef CORPSE_HAS_PORTS
/* ---- The port of a corpse: a read-only task port ---- */

static bool read_task(void *ctx, uint64_t addr, void *buf, size_t len)
{
    mach_vm_size_t got = 0;
    return mach_vm_read_overwrite(*(const task_t *)ctx, addr, len, (mach_vm_address_t)(uintptr_t)buf, &got) ==
               KERN_SUCCESS &&
           got == len;
}

/* addresses and paths: of process.binaryImages. Call it once: the process ends with the extension. */
void corpse_report(mach_port_t port, const uint64_t *addresses, const char *const *paths, size_t count)
{
    static corpse c;
    static task_t task;
    thread_act_array_t threads;
    mach_msg_type_number_t thread_count;
    task = port;
    c.read = read_task;
    c.ctx = &task;
#if defined(__arm64__)
    enum { FLAVOR = ARM_THREAD_STATE64 };
    c.cputype = CPU_ARM64;
#else
    enum { FLAVOR = x86_THREAD_STATE64 };
    c.cputype = CPU_X86_64;
#endif
    for (size_t i = 0; i < count; i++)
        add_image(&c, addresses[i], paths[i]);
    if (task_threads(task, &threads, &thread_count) != KERN_SUCCESS)
        return;
    for (mach_msg_type_number_t i = 0; i < thread_count; i++) {
        natural_t raw[THREAD_STATE_MAX];
        mach_msg_type_number_t size = THREAD_STATE_MAX;
        machsym_unwind_state state;
        if (thread_get_state(threads[i], FLAVOR, raw, &size) == KERN_SUCCESS &&
            take_registers(c.cputype, (const uint8_t *)raw, size * sizeof *raw, &state))
            print_stack(&c, i, &state);
    }
}
#endif

/* ---- A core file: the same process, saved ---- */

static uint8_t core[16 << 20];
static size_t core_len;

/* The bytes of a command, by its number; NULL: there is none. */
static const uint8_t *core_command(uint64_t number, size_t *len)
{
    size_t at = 32;
    for (uint64_t i = 0; at + 8 <= core_len; i++, at += *len) {
        *len = (size_t)get(core + at + 4, 4);
        if (*len < 8 || *len > core_len - at || i >= get(core + 16, 4))
            return NULL;
        if (i == number)
            return core + at;
    }
    return NULL;
}

/* Memory that the file has. */
static struct {
    uint64_t addr, size, off;
} segments[MAX_SEGMENTS];
static size_t segment_count;

static void list_segments(void)
{
    const uint8_t *p;
    size_t size;
    segment_count = 0;
    for (uint64_t i = 0; (p = core_command(i, &size)) != NULL && segment_count < MAX_SEGMENTS; i++) {
        if (get(p, 4) != 0x19 || size < 72)
            continue;
        uint64_t off = get(p + 40, 8), filed = get(p + 48, 8);
        if (off > core_len)
            continue;
        segments[segment_count].addr = get(p + 24, 8);
        segments[segment_count].size = filed < core_len - off ? filed : core_len - off;
        segments[segment_count++].off = off;
    }
}

static bool read_core(void *ctx, uint64_t addr, void *buf, size_t len)
{
    (void)ctx;
    for (size_t i = 0; i < segment_count; i++) {
        uint64_t from = addr - segments[i].addr;
        if (from >= segments[i].size || len > segments[i].size - from)
            continue;
        memcpy(buf, core + segments[i].off + from, len);
        return true;
    }
    return false;
}

/* LC_NOTE "all image infos", as lldb saves it: lldb.llvm.org describes it. */
static void add_core_images(corpse *c, const uint8_t *note)
{
    uint64_t at = get(note + 24, 8), count, entries;
    if (memcmp(note + 8, "all image infos", 16) != 0 || at > core_len || core_len - at < 24)
        return;
    count = get(core + at + 4, 4);
    entries = get(core + at + 8, 8);
    for (uint64_t i = 0; i < count && entries < core_len && core_len - entries >= 48; i++, entries += 48) {
        uint64_t path = get(core + entries, 8);
        bool is_text = path < core_len && memchr(core + path, 0, core_len - path) != NULL;
        add_image(c, get(core + entries + 24, 8), is_text ? (const char *)core + path : "???");
    }
}

int main(int argc, char **argv)
{
    static corpse c;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    const uint8_t *p;
    size_t len;
    unsigned thread = 0;
    core_len = file != NULL ? fread(core, 1, sizeof core, file) : 0;
    if (file != NULL)
        fclose(file);
    if (core_len < 32 || get(core, 4) != 0xfeedfacf) {
        fprintf(stderr, "usage: corpse CORE\n");
        return 2;
    }
    list_segments();
    c.read = read_core;
    c.cputype = (uint32_t)get(core + 4, 4);
    for (uint64_t i = 0; (p = core_command(i, &len)) != NULL; i++) {
        if (get(p, 4) == 0x31 && len >= 40)
            add_core_images(&c, p);
    }
    for (uint64_t i = 0; (p = core_command(i, &len)) != NULL; i++) {
        machsym_unwind_state state;
        if (get(p, 4) == 4 && len > 16 && take_registers(c.cputype, p + 16, len - 16, &state))
            print_stack(&c, thread++, &state);
    }
    return 0;
}
