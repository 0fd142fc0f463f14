/* Names the functions of the calling thread's stack from inside the process, as a crash reporter would.
 *
 * On Apple systems: cc -fno-omit-frame-pointer examples/backtrace.c && ./a.out
 * Elsewhere there is no such process: a Mach-O file is laid out in memory as dyld would do it, with a stack that leads
 * through its functions: cc examples/backtrace.c && ./a.out FILE
 *
 * A crash reporter does the first half (open_images) at its start; then the second half (walk, and print_stack less its
 * printf) allocates nothing and takes no lock: it may run in a signal handler. */
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <pthread.h>
#endif

enum { MAX_IMAGES = 2048, MAX_DEPTH = 128 };

/* ---- The stack ---- */

/* Where a thread's stack lies: it grows from hi down to lo. */
typedef struct stack_bounds {
    uintptr_t lo;
    uintptr_t hi;
} stack_bounds;

/* What every function with a frame pointer leaves on the stack (arm64 and x86_64 alike). */
typedef struct stack_frame {
    uintptr_t caller; /* its frame */
    uintptr_t pc;     /* where it goes on */
} stack_frame;

static bool is_frame(const stack_bounds *bounds, uintptr_t at)
{
    return at % sizeof(uintptr_t) == 0 && at >= bounds->lo && at < bounds->hi &&
           bounds->hi - at >= sizeof(stack_frame);
}

/* Follows the frames from one on. A damaged stack ends the walk: a frame must be aligned, lie inside the stack, and
 * every caller's frame must lie above. Returns how many return addresses there are. */
static size_t walk(const stack_bounds *bounds, uintptr_t at, uintptr_t *pcs, size_t cap)
{
    size_t count = 0;
    while (count < cap && is_frame(bounds, at)) {
        stack_frame frame;
        memcpy(&frame, (const void *)at, sizeof frame);
        if (frame.pc == 0)
            break;
        pcs[count++] = frame.pc;
        if (frame.caller <= at)
            break;
        at = frame.caller;
    }
    return count;
}

/* ---- The images of the process ---- */

/* One of them, ready to be asked. */
typedef struct process_image {
    machsym_image *image;
    machsym_session *session;
    const char *name;
} process_image;

static process_image images[MAX_IMAGES];
static machsym_loaded loaded[MAX_IMAGES]; /* sorted by address; user is a process_image */
static size_t image_count;

/* Adds the image whose header is at memory. It is known up to the end of its last segment, len bytes. */
static bool add_image(const void *memory, size_t len, const char *name)
{
    machsym_open_desc desc;
    machsym_session_desc how;
    process_image *added = &images[image_count];
    if (image_count == MAX_IMAGES)
        return false;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.bytes.ptr = memory;
    desc.bytes.len = len;
    desc.flags = MACHSYM_OPEN_LOADED;
    if (machsym_image_open(&desc, &added->image, NULL) != MACHSYM_OK)
        return false;
    how.image = added->image;
    how.flags = MACHSYM_SESSION_INDEX; /* now, not in a signal handler */
    if (machsym_session_open(&how, &added->session, NULL) != MACHSYM_OK) {
        machsym_image_close(added->image);
        return false;
    }
    const char *slash = strrchr(name, '/');
    added->name = slash != NULL ? slash + 1 : name;
    machsym_image_info info;
    machsym_image_get_info(added->image, &info);
    size_t at = image_count++;
    uint64_t lo = (uint64_t)(uintptr_t)memory;
    for (; at > 0 && loaded[at - 1].lo > lo; at--)
        loaded[at] = loaded[at - 1];
    loaded[at].lo = lo;
    loaded[at].hi = lo + info.text_size; /* code is in __TEXT: other segments may lie among other images' */
    loaded[at].image = added->image;
    loaded[at].user = added;
    return true;
}

static void close_images(void)
{
    for (size_t i = 0; i < image_count; i++) {
        machsym_session_close(images[i].session);
        machsym_image_close(images[i].image);
    }
}

static void print_stack(const uintptr_t *pcs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t pc = pcs[i];
#if defined(__aarch64__) || defined(__arm64__)
        pc &= ((uint64_t)1 << 47) - 1; /* pointer authentication */
#endif
        const machsym_loaded *in = machsym_loaded_from_pc(loaded, image_count, pc);
        const process_image *image = in != NULL ? (const process_image *)in->user : NULL;
        machsym_frame frame;
        machsym_str name = {NULL, 0};
        uint64_t off = 0;
        if (image != NULL) {
            /* a return address belongs to the call before it */
            uint64_t addr = machsym_image_addr_of_pc(image->image, in->lo, pc) - 1;
            if (machsym_session_frames_at_addr(image->session, addr, &frame, 1) > 0) {
                name = frame.linkage_name;
                off = addr + 1 - frame.function_start;
            }
        }
        printf("%-3zu %-30s 0x%016llx %.*s + %llu\n", i, image != NULL ? image->name : "???",
               (unsigned long long)pc, name.len != 0 ? (int)name.len : 3, name.len != 0 ? name.ptr : "???",
               (unsigned long long)off);
    }
}

#ifdef __APPLE__

/* From the header to the end of the last segment, as dyld laid them out. */
static size_t memory_size(const struct mach_header_64 *header)
{
    const char *at = (const char *)(header + 1);
    uint64_t text = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < header->ncmds; i++) {
        const struct segment_command_64 *segment = (const struct segment_command_64 *)(const void *)at;
        if (segment->cmd == LC_SEGMENT_64 && strcmp(segment->segname, "__TEXT") == 0)
            text = segment->vmaddr;
        if (segment->cmd == LC_SEGMENT_64 && segment->vmaddr + segment->vmsize > end)
            end = segment->vmaddr + segment->vmsize;
        at += segment->cmdsize;
    }
    return (size_t)(end - text);
}

static void open_images(void)
{
    for (uint32_t i = 0; i < _dyld_image_count(); i++) {
        const struct mach_header_64 *header =
            (const struct mach_header_64 *)(const void *)_dyld_get_image_header(i);
        if (header != NULL && header->magic == MH_MAGIC_64)
            add_image(header, memory_size(header), _dyld_get_image_name(i));
    }
}

__attribute__((noinline)) static void innermost(void)
{
    uintptr_t pcs[MAX_DEPTH];
    stack_bounds bounds;
    bounds.hi = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
    bounds.lo = bounds.hi - pthread_get_stacksize_np(pthread_self());
    size_t count = walk(&bounds, (uintptr_t)__builtin_frame_address(0), pcs, MAX_DEPTH);
    print_stack(pcs, count);
}

int main(void)
{
    open_images();
    innermost();
    close_images();
    return 0;
}

#else

static uint64_t number_at(const uint8_t *p, unsigned size)
{
    uint64_t number = 0;
    for (unsigned i = size; i-- > 0;)
        number = number << 8 | p[i];
    return number;
}

static uint8_t *read_file(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    uint8_t *file = NULL;
    if (in == NULL || fseek(in, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return NULL;
    }
    long size = ftell(in);
    rewind(in);
    if (size > 32)
        file = malloc((size_t)size);
    *len = file != NULL ? fread(file, 1, (size_t)size, in) : 0;
    fclose(in);
    return file;
}

/* Lays a 64-bit file out as dyld does: every segment at its distance from the header. Pointers stay as they are: only
 * Objective-C's names need them. With memory NULL it only measures. Returns the size; 0 when the file is no such one. */
static size_t lay_out(const uint8_t *file, size_t len, uint8_t *memory)
{
    enum { LC_SEGMENT_64 = 0x19 };
    uint64_t text = 0;
    uint64_t end = 0;
    size_t at = 32;
    if (len < 32 || number_at(file, 4) != 0xfeedfacf)
        return 0;
    for (uint64_t left = number_at(file + 16, 4); left > 0 && len - at >= 72; left--) {
        const uint8_t *command = file + at;
        uint64_t addr = number_at(command + 24, 8);
        uint64_t size = number_at(command + 32, 8);
        uint64_t off = number_at(command + 40, 8);
        uint64_t file_size = number_at(command + 48, 8);
        if (number_at(command, 4) == LC_SEGMENT_64 && off == 0 && file_size != 0)
            text = addr;
        bool usable = number_at(command, 4) == LC_SEGMENT_64 && addr >= text && addr - text < 1 << 28 &&
                      size < 1 << 28 && file_size <= size && off <= len && file_size <= len - off;
        if (usable && file_size != 0 && memory != NULL)
            memcpy(memory + (addr - text), file + off, (size_t)file_size);
        if (usable && file_size != 0 && addr - text + size > end)
            end = addr - text + size;
        uint64_t step = number_at(command + 4, 4);
        if (step < 8 || step > len - at)
            break;
        at += (size_t)step;
    }
    return (size_t)end;
}

/* A stack that leads through the first functions of the image, as if each had called the one before it. */
static void show_stack(const process_image *image, const uint8_t *memory)
{
    stack_frame frames[8];
    uintptr_t pcs[MAX_DEPTH];
    machsym_image_info info;
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    stack_bounds bounds = {(uintptr_t)frames, (uintptr_t)(frames + 8)};
    size_t count = 0;
    machsym_image_get_info(image->image, &info);
    memset(frames, 0, sizeof frames);
    while (count < 8 && machsym_session_next_symbol(image->session, &at, &symbol)) {
        if (symbol.name.len == 0)
            continue;
        frames[count].pc = (uintptr_t)memory + (uintptr_t)(symbol.lo - info.text_addr) + 1;
        frames[count].caller = (uintptr_t)&frames[count + 1];
        count++;
    }
    print_stack(pcs, walk(&bounds, (uintptr_t)frames, pcs, MAX_DEPTH));
}

int main(int argc, char **argv)
{
    size_t len = 0;
    uint8_t *file = argc == 2 ? read_file(argv[1], &len) : NULL;
    size_t size = file != NULL ? lay_out(file, len, NULL) : 0;
    uint8_t *memory = size != 0 ? calloc(1, size) : NULL;
    bool ok = memory != NULL;
    if (ok) {
        lay_out(file, len, memory);
        ok = add_image(memory, size, argv[1]);
    }
    if (ok)
        show_stack(&images[0], memory);
    else
        fprintf(stderr, "usage: %s FILE, a thin 64-bit Mach-O program or library\n", argv[0]);
    close_images();
    free(memory);
    free(file);
    return ok ? 0 : 1;
}

#endif
