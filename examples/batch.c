/* Many addresses at once: machsym_session_frames_at_addrs takes them in the order that decodes every unit once, and says
 * for each address which frames are its own. Return addresses point after the call, so each is looked up one byte lower.
 *     cc -I. examples/batch.c -o batch && ./batch */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include <stdio.h>

enum { COUNT = 4, ROOM = 64 };

int main(void)
{
    static const uint64_t stack[COUNT] = {0x102a30aec, 0x102a30a7b, 0x102a309fb, 0x102a309b7};
    machsym_open_desc file = {.path = "tests/fixtures/bin/demo.app.dSYM"};
    machsym_session_desc how = {0};
    machsym_image *image;
    machsym_session *session;
    machsym_frame frames[ROOM];
    machsym_answer answers[COUNT];
    uint64_t addrs[COUNT];
    char name[1024];

    if (machsym_image_open(&file, &image, NULL) != MACHSYM_OK)
        return 1;
    how.image = image;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        return 1;
    for (size_t i = 0; i < COUNT; i++)
        addrs[i] = machsym_image_addr_of_pc(image, 0x102a30000, stack[i]) - 1;
    size_t count = machsym_session_frames_at_addrs(session, addrs, COUNT, answers, frames, ROOM);
    if (count > ROOM)
        return 1; /* ask again with more room, or with fewer addresses */
    for (size_t i = 0; i < COUNT; i++) {
        printf("0x%llx", (unsigned long long)stack[i]);
        for (size_t j = 0; j < answers[i].count; j++) {
            machsym_frame_name(&frames[answers[i].first + j], 0, name, sizeof name);
            printf("%s%s", j == 0 ? " " : " < ", name);
        }
        printf("%s\n", answers[i].count == 0 ? " nothing known" : "");
    }
    machsym_session_close(session);
    machsym_image_close(image);
    return 0;
}
