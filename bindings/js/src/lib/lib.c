/* The library in WebAssembly: flat.h with the little of a C library that it needs. A file is read through the host.
 * The host makes an instance of the program for each image and drops it when the image is closed, so memory that was
 * given back is kept for the same size only. */
#include "flat.h"

#include <setjmp.h>
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

/* ---- Bytes ---- */

/* With bulk memory these are one instruction each. */
void *memcpy(void *to, const void *from, size_t len)
{
    return __builtin_memcpy(to, from, len);
}

void *memmove(void *to, const void *from, size_t len)
{
    return __builtin_memmove(to, from, len);
}

void *memset(void *to, int byte, size_t len)
{
    return __builtin_memset(to, byte, len);
}

int memcmp(const void *a, const void *b, size_t len)
{
    const unsigned char *x = a;
    const unsigned char *y = b;
    size_t i = 0;
    while (i < len && x[i] == y[i])
        i++;
    return i < len ? x[i] - y[i] : 0;
}

size_t strlen(const char *text)
{
    size_t len = 0;
    while (text[len] != 0)
        len++;
    return len;
}

void *memchr(const void *ptr, int byte, size_t len)
{
    const unsigned char *at = ptr;
    for (size_t i = 0; i < len; i++) {
        if (at[i] == (unsigned char)byte)
            return (void *)(at + i);
    }
    return NULL;
}

int strncmp(const char *a, const char *b, size_t len)
{
    size_t i = 0;
    while (i < len && a[i] == b[i] && a[i] != 0)
        i++;
    return i < len ? (unsigned char)a[i] - (unsigned char)b[i] : 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int letter)
{
    return memchr(text, letter, strlen(text) + 1);
}

char *strstr(const char *text, const char *part)
{
    size_t len = strlen(part);
    for (; strncmp(text, part, len) != 0; text++) {
        if (*text == 0)
            return NULL;
    }
    return (char *)text;
}

/* ---- Order ---- */

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

typedef int (*comparison)(const void *, const void *);

/* Moves an element of a heap down to its place. */
static void sink(unsigned char *v, size_t at, size_t count, size_t size, comparison compare)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && compare(v + child * size, v + (child + 1) * size) < 0)
            child++;
        if (compare(v + at * size, v + child * size) >= 0)
            return;
        swap(v + at * size, v + child * size, size);
        at = child;
    }
}

/* By a heap: no memory, and no order of the elements makes it slow. */
void qsort(void *array, size_t count, size_t size, comparison compare)
{
    unsigned char *v = array;
    for (size_t at = count / 2; at-- > 0;)
        sink(v, at, count, size, compare);
    for (size_t left = count; left-- > 1;) {
        swap(v, v + left * size, size);
        sink(v, 0, left, size, compare);
    }
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

/* ---- Reports ---- */

static bool lacked_memory;

/* What ran out of memory never goes on. */
void longjmp(jmp_buf home, int value)
{
    (void)home;
    (void)value;
    lacked_memory = true;
    __builtin_trap();
}

/* Whether the instance was stopped by longjmp. */
EXPORT(lacked_memory) int lib_lacked_memory(void)
{
    return lacked_memory;
}

/* Opens a file of the host beside the one of `open`. It stays open as long as the instance. NULL: it cannot be opened. */
EXPORT(image)
flat_image *lib_image(size_t file, double size, const char *name, const char *arch, const uint8_t *uuid)
{
    flat_desc desc = describe_file(file, size, name, arch, uuid, NULL);
    return flat_open(&desc, &error);
}

EXPORT(symbols) flat_symbols *lib_symbols(const flat_image *const *images, size_t count, int32_t lines)
{
    return flat_symbols_open(images, count, lines, &error);
}

EXPORT(symbols_close) void lib_symbols_close(flat_symbols *symbols)
{
    flat_symbols_close(symbols);
}

/* flat_symbolicate. name and redact may be NULL. */
EXPORT(symbolicate)
const char *lib_symbolicate(flat_symbols *symbols, const void *input, size_t input_len, const char *name,
                            const char *redact, uint32_t flags, uint32_t forms, uint32_t parts, size_t *len)
{
    flat_report_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.input = input;
    desc.len = input_len;
    desc.name = name;
    desc.redact = redact;
    desc.flags = flags;
    desc.forms = forms;
    desc.parts = parts;
    return flat_symbolicate(symbols, &desc, len, &error);
}
