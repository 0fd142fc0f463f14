/* The functions at one address of a dSYM: the innermost inlined call first, the real function last. This is the example
 * of the README. 0x102a30000 is where the program was loaded, 0x102a309b6 is the address that the crash report shows. */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include <stdio.h>

int main(void)
{
    machsym_open_desc file = {.path = "tests/fixtures/bin/demo.app.dSYM"};
    machsym_session_desc how = {0};
    machsym_image *image;
    machsym_session *session;
    machsym_frame frames[16];
    machsym_error err;
    char text[1024];

    if (machsym_image_open(&file, &image, &err) != MACHSYM_OK) {
        machsym_error_text(&err, &file, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return 1;
    }
    how.image = image;
    if (machsym_session_open(&how, &session, &err) != MACHSYM_OK)
        return 1;
    uint64_t addr = machsym_image_addr_of_pc(image, 0x102a30000, 0x102a309b6);
    size_t count = machsym_session_frames_at_addr(session, addr, frames, 16);
    for (size_t i = 0; i < count && i < 16; i++) {
        machsym_frame_name(&frames[i], 0, text, sizeof text);
        machsym_str file_name = frames[i].file.name;
        printf("%s (%.*s:%u)\n", text, (int)file_name.len, file_name.ptr, frames[i].line);
    }
    machsym_session_close(session);
    machsym_image_close(image);
    return 0;
}
