/* The library in WebAssembly: flat.h with the little of a C library that it needs. A file is read through the host.
 * The host makes an instance of the program for each image and drops it when the image is closed, so memory that was
 * given back is kept for the same size only. */
#include "flat.h"
#include "machsym.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

enum {
    PAGE = 65536,
    LEAST_STEP = 2048, /* pages that memory grows by at least: engines clear up their garbage each time */
    STEP_SHARE = 4,    /* large memory grows by this share of it; pages that are not used cost nothing */
    HEAD = 16,         /* before each block; keeps blocks aligned */
    FIRST_BITS = 5,    /* the smallest blocks have 32 bytes */
    LARGE_BITS =
        20 /* from 1 MB on a block has the bytes asked for, since room for a file is asked for once */
};

typedef struct block {
    size_t size;        /* with its head */
    struct block *next; /* of the free ones */
} block;

extern unsigned char __heap_base;
static uint64_t heap_end;
static block *unused[LARGE_BITS + 1]; /* by the power of two of their size; the last has the large ones */

static unsigned bits_of(uint64_t size)
{
    unsigned bits = FIRST_BITS;
    while (bits < LARGE_BITS && size > (uint64_t)1 << bits)
        bits++;
    return bits;
}

static bool grow(uint64_t pages)
{
    return pages < PAGE && __builtin_wasm_memory_grow(0, (size_t)pages) != (size_t)-1;
}

/* Makes memory end at an address or after it. */
static bool grow_to(uint64_t end)
{
    uint64_t have = __builtin_wasm_memory_size(0);
    uint64_t want = (end + PAGE - 1) / PAGE;
    uint64_t step = have / STEP_SHARE > LEAST_STEP ? have / STEP_SHARE : LEAST_STEP;
    if (want <= have)
        return true;
    return (step > want - have && grow(step)) || grow(want - have);
}

/* A block that was given back, of at least a number of bytes. */
static block *reuse(unsigned bits, uint64_t size)
{
    for (block **at = &unused[bits]; *at != NULL; at = &(*at)->next) {
        block *one = *at;
        if (one->size >= size) {
            *at = one->next;
            return one;
        }
    }
    return NULL;
}

void *malloc(size_t len)
{
    uint64_t size = (uint64_t)len + HEAD;
    unsigned bits = bits_of(size);
    size = bits < LARGE_BITS ? (uint64_t)1 << bits : (size + HEAD - 1) & ~(uint64_t)(HEAD - 1);
    block *one = reuse(bits, size);
    if (one == NULL) {
        if (heap_end == 0)
            heap_end = ((uint64_t)(size_t)&__heap_base + HEAD - 1) & ~(uint64_t)(HEAD - 1);
        if (!grow_to(heap_end + size))
            return NULL;
        one = (block *)(size_t)heap_end;
        one->size = (size_t)size;
        heap_end += size;
    }
    return (unsigned char *)one + HEAD;
}

void free(void *ptr)
{
    if (ptr == NULL)
        return;
    block *one = (block *)((unsigned char *)ptr - HEAD);
    unsigned bits = bits_of(one->size);
    one->next = unused[bits];
    unused[bits] = one;
}

void *calloc(size_t count, size_t size)
{
    uint64_t len = (uint64_t)count * size;
    void *ptr = len <= SIZE_MAX ? malloc((size_t)len) : NULL;
    return ptr != NULL ? memset(ptr, 0, (size_t)len) : NULL;
}

void *realloc(void *old, size_t size)
{
    size_t had = old != NULL ? ((block *)((unsigned char *)old - HEAD))->size - HEAD : 0;
    if (old != NULL && had >= size)
        return old;
    void *ptr = malloc(size);
    if (ptr != NULL && had > 0)
        memcpy(ptr, old, had);
    if (ptr != NULL)
        free(old);
    return ptr;
}

/* ---- What the host calls ---- */

/* The host copies bytes of a file, which it knows by a number; returns how many. It takes 64-bit numbers as doubles, which
 * hold every size of a file. */
__attribute__((import_module("host"), import_name("read"))) extern size_t
host_read(size_t file, double offset, void *out, size_t len);

static size_t read_file(void *user, uint64_t offset, void *out, size_t len)
{
    return host_read((size_t)user, (double)offset, out, len);
}

static flat_image *image;
static flat_image *built;
static flat_error error;

#define EXPORT(name) __attribute__((export_name(#name)))

EXPORT(take) void *lib_take(size_t size)
{
    return malloc(size);
}

EXPORT(give) void lib_give(void *ptr)
{
    free(ptr);
}

EXPORT(demangle) size_t lib_demangle(const char *name, size_t len, uint32_t flags, char *out, size_t cap)
{
    return flat_demangle(name, len, flags, out, cap);
}

EXPORT(version) const char *lib_version(void)
{
    return flat_version();
}

EXPORT(result_name) const char *lib_result_name(void)
{
    return flat_result_name(error.code);
}

EXPORT(source_name) const char *lib_source_name(int32_t source)
{
    return flat_source_name(source);
}

EXPORT(error_text) const char *lib_error_text(void)
{
    return error.text;
}

EXPORT(error_offset) double lib_error_offset(void)
{
    return (double)error.offset;
}

static flat_desc describe_file(size_t file, double size, const char *name, const char *arch,
                               const uint8_t *uuid, const char *entry)
{
    flat_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = name;
    desc.arch = arch;
    desc.uuid = uuid;
    desc.entry = entry;
    desc.read = read_file;
    desc.read_user = (void *)file;
    desc.read_size = (uint64_t)size;
    return desc;
}

/* flat_slices of a file of the host. */
EXPORT(slices) size_t lib_slices(size_t file, double size, const char *name, char *out, size_t cap)
{
    flat_desc desc = describe_file(file, size, name, NULL, NULL, NULL);
    return flat_slices(&desc, out, cap, &error);
}

/* Opens the host's file 0. Texts may be NULL. Returns whether it is open. */
EXPORT(open)
int lib_open(double size, const char *name, const char *arch, const uint8_t *uuid, const char *entry)
{
    flat_desc desc = describe_file(0, size, name, arch, uuid, entry);
    image = flat_open(&desc, &error);
    return image != NULL;
}

EXPORT(info) size_t lib_info(char *out, size_t cap)
{
    return flat_info(image, out, cap);
}

EXPORT(address) uint64_t lib_address(uint64_t load, uint64_t pc)
{
    return flat_addr(image, load, pc);
}

/* Builds the map of the image. Returns its bytes until drop_map; 0: there is none. */
EXPORT(build) const void *lib_build(int32_t lines, uint32_t flags, size_t *len)
{
    built = flat_map_build(image, lines, flags, &error);
    return built != NULL ? flat_map_bytes(built, len) : NULL;
}

EXPORT(drop_map) void lib_drop_map(void)
{
    flat_close(built);
    built = NULL;
}

EXPORT(session) flat_session *lib_session(int32_t lines, uint32_t flags)
{
    return flat_session_open(image, lines, flags, &error);
}

EXPORT(session_close) void lib_session_close(flat_session *session)
{
    flat_session_close(session);
}

EXPORT(lookup)
const char *lib_lookup(flat_session *session, int is_runtime, uint64_t load, uint32_t names,
                       const uint64_t *addrs, size_t count, size_t *len)
{
    return flat_lookup(session, is_runtime, load, names, addrs, count, len);
}

/* Decompresses a raw stream. Returns how many bytes were written. ends[0]: bytes that the stream takes; ends[1]: 0, the
 * stream is whole; 1, it has more than cap bytes; 2, it is damaged. */
EXPORT(inflate)
size_t lib_inflate(const void *in, size_t in_len, void *out, size_t cap, uint32_t *ends)
{
    machsym_bytes bytes;
    size_t len, used;
    bytes.ptr = in;
    bytes.len = in_len;
    machsym_result result = machsym_inflate(MACHSYM_DEFLATE_RAW, bytes, out, cap, &len, &used, NULL);
    ends[0] = (uint32_t)used;
    ends[1] = result == MACHSYM_OK ? 0 : result == MACHSYM_ERR_LIMIT ? 1 : 2;
    return len;
}

/* ---- For reports.c ---- */

/* As `image`, of bytes that stay in memory as long as the instance: unwind tables and code are read there. */
EXPORT(image_of_bytes)
flat_image *lib_image_of_bytes(const void *bytes, size_t len, const char *name, const char *arch,
                               const uint8_t *uuid, const char *entry)
{
    flat_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = name;
    desc.arch = arch;
    desc.uuid = uuid;
    desc.entry = entry;
    desc.bytes = bytes;
    desc.len = len;
    return flat_open(&desc, &error);
}

/* Opens a file of the host beside the one of `open`. It stays open as long as the instance. NULL: it cannot be opened. */
EXPORT(image)
flat_image *lib_image(size_t file, double size, const char *name, const char *arch, const uint8_t *uuid,
                      const char *entry)
{
    flat_desc desc = describe_file(file, size, name, arch, uuid, entry);
    return flat_open(&desc, &error);
}

/* The error of the last call that failed. */
flat_error *lib_error(void)
{
    return &error;
}

/* Keeps memory from begin to end for the other program. Returns false if something lies there, or if that program is of
 * another version, whose structs may differ. */
EXPORT(reserve) int lib_reserve(size_t begin, size_t end, const char *version)
{
    if (heap_end != 0 || begin < (size_t)&__heap_base || strcmp(version, flat_version()) != 0)
        return 0;
    heap_end = ((uint64_t)end + HEAD - 1) & ~(uint64_t)(HEAD - 1);
    return 1;
}
