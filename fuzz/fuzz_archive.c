/* Fuzzes archives of object files: the input is one. No member may reach out of it.
 * Run: build/fuzz/archive -dict=fuzz/archive.dict fuzz/corpus/archive */
#define TEST_ROOM <src/image/debugmap.h>
#include "drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ms_om_archive archive;
    ms_om_member member;
    if (!ms_om_archive_open(&archive, ms_span_make(data, size)))
        return 0;
    while (ms_om_next_member(&archive, &member)) {
        drive_text(member.name);
        drive_text(ms_str_make((const char *)member.bytes.ptr, member.bytes.len));
    }
    return 0;
}
