/* No operating system: MACHSYM_NO_OS leaves out files and the C library, so images come as bytes and memory from the
 * program's own allocator. This main reads the file itself, to have some bytes; a kernel or a browser has them already.
 *     cc -I. examples/bytes.c -o bytes && ./bytes */
#define MACHSYM_NO_OS
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include <stdio.h>

static unsigned char bytes[1 << 18];
static unsigned char memory[8 << 20];
static size_t used;

/* Gives out memory and never takes it back: enough for one image. */
static void *take(void *user, size_t size)
{
    size_t at = (used + 15) / 16 * 16;
    (void)user;
    if (size > sizeof memory - at)
        return NULL;
    used = at + size;
    return memory + at;
}

static void give_back(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)ptr;
    (void)size;
}

int main(void)
{
    machsym_allocator allocator = {take, give_back, NULL};
    machsym_open_desc file = {.bytes = {bytes, 0}, .allocator = allocator};
    machsym_session_desc how = {.allocator = allocator};
    machsym_image *image;
    machsym_session *session;
    machsym_frame frames[16];

    FILE *f = fopen("tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo", "rb");
    if (f == NULL)
        return 1;
    file.bytes.len = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    if (machsym_image_open(&file, &image, NULL) != MACHSYM_OK)
        return 1;
    how.image = image;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        return 1;
    size_t count = machsym_session_frames_at_addr(
        session, machsym_image_addr_of_pc(image, 0x102a30000, 0x102a30aeb), frames, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        printf("%.*s:%u\n", (int)frames[i].name.len, frames[i].name.ptr, frames[i].line);
    machsym_session_close(session);
    machsym_image_close(image);
    return 0;
}
