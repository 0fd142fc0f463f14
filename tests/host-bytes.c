/* The bytes-only mode on a host without an operating system: an own allocator, no C library. The host hands
 * over a file and asks for addresses; the answers are put into memory. tests/host-wasm and tests/host-mingw
 * compile this. */
#define MACHSYM_NO_OS
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(name)))
void *memcpy(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
void *memmove(void *to, const void *from, size_t len);

void *memcpy(void *to, const void *from, size_t len)
{
    char *t = (char *)to;
    const char *f = (const char *)from;
    for (size_t i = 0; i < len; i++)
        ((volatile char *)t)[i] = f[i];
    return to;
}

void *memset(void *to, int byte, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((volatile char *)to)[i] = (char)byte;
    return to;
}

void *memmove(void *to, const void *from, size_t len)
{
    char *t = (char *)to;
    const char *f = (const char *)from;
    if (t < f)
        return memcpy(to, from, len);
    for (size_t i = len; i-- > 0;)
        ((volatile char *)t)[i] = f[i];
    return to;
}
#else
#define EXPORT(name)
#endif

enum { POOL = 8 << 20, FILE_MAX = 1 << 20 };

static uint8_t pool[POOL];
static size_t pool_used;
static uint8_t file[FILE_MAX];
static char answer[4096];

/* Gives out the pool from its start to its end; nothing comes back. */
static void *pool_alloc(void *user, size_t size)
{
    (void)user;
    size_t at = (pool_used + 15) & ~(size_t)15;
    if (size > POOL - at)
        return NULL;
    pool_used = at + size;
    return pool + at;
}

static void pool_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)ptr;
    (void)size;
}

uint8_t *bytes_file(void);
char *bytes_answer(void);
size_t bytes_ask(size_t file_len, uint64_t addr);

/* Where the host puts the file. */
EXPORT("bytes_file") uint8_t *bytes_file(void)
{
    return file;
}

/* Where the answer stands after bytes_ask. */
EXPORT("bytes_answer") char *bytes_answer(void)
{
    return answer;
}

static size_t add(size_t at, machsym_str text)
{
    for (size_t i = 0; i < text.len && at < sizeof answer; i++)
        answer[at++] = text.ptr[i];
    return at;
}

/* Writes "name file\n" for every frame at an address. Returns the length of the answer. */
EXPORT("bytes_ask") size_t bytes_ask(size_t file_len, uint64_t addr)
{
    machsym_open_desc desc = {0};
    machsym_session_desc how = {0};
    machsym_image *image;
    machsym_session *session;
    machsym_frame frames[16];
    size_t at = 0;
    pool_used = 0;
    desc.bytes.ptr = file;
    desc.bytes.len = file_len;
    desc.allocator.alloc = pool_alloc;
    desc.allocator.free = pool_free;
    how.allocator = desc.allocator;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return 0;
    how.image = image;
    if (machsym_session_open(&how, &session, NULL) == MACHSYM_OK) {
        size_t count = machsym_session_frames_at_addr(session, addr, frames, 16);
        for (size_t i = 0; i < count && i < 16; i++) {
            at = add(at, frames[i].name);
            at = add(at, (machsym_str){" ", 1});
            at = add(at, frames[i].file.name);
            at = add(at, (machsym_str){"\n", 1});
        }
        machsym_session_close(session);
    }
    machsym_image_close(image);
    return at;
}

#ifndef __wasm__
#include <stdio.h>
#include <stdlib.h>

/* host-bytes FILE ADDRESS */
int main(int argc, char **argv)
{
    FILE *in = argc > 2 ? fopen(argv[1], "rb") : NULL;
    size_t len = in != NULL ? fread(file, 1, sizeof file, in) : 0;
    fwrite(answer, 1, bytes_ask(len, argc > 2 ? strtoull(argv[2], NULL, 16) : 0), stdout);
    return len == 0;
}
#endif
