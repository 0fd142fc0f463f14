/* The example of the README: the functions at one address of a dSYM, the innermost inlined call first. */
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"
#include <stdio.h>

int main(void)
{
    machsym_open_desc file = {.path = "tests/fixtures/bin/demo.app.dSYM"};
    machsym_session_desc how = {0};
    machsym_image *image;
    machsym_session *session;
    machsym_frame f[16];
    if (machsym_image_open(&file, &image, NULL) != MACHSYM_OK)
        return 1;
    how.image = image;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        return 1;
    size_t count =
        machsym_session_frames(session, machsym_image_addr(image, 0x102a30000, 0x102a309b6), f, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        printf("%.*s %.*s:%u\n", (int)f[i].name.len, f[i].name.ptr, (int)f[i].file.name.len,
               f[i].file.name.ptr, f[i].line);
    machsym_session_close(session);
    machsym_image_close(image);
    return 0;
}
