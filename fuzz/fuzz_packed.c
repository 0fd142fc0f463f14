/* Fuzzes zip, tar, gzip and ar files: the input is one. Every member is read, its first bytes and all of it;
 * what comes out keeps to the sizes that are stated, members are found by their names, and nothing is
 * written to the disk.
 * Run: build/fuzz/packed fuzz/corpus/packed */
#include "../report/base/text.h"
#include "../tool/files/archive.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MEMBERS = 64, LARGE = 1 << 20 };
    machsym_bytes bytes = {data, size};
    machsym_error err;
    archive *a = archive_open_bytes(bytes, &err);
    if (a == NULL)
        return 0;
    for (size_t i = 0; i < archive_count(a) && i < MEMBERS; i++) {
        const archive_member *member = archive_at(a, i);
        text head = {0};
        text whole = {0};
        const archive_member *found = archive_find(a, member->name);
        if (found == NULL || found->name.len != member->name.len)
            abort();
        bool has_head = archive_read(a, member, 32, &head, &err);
        if (head.len > 32 || (has_head && head.len != (member->size < 32 ? member->size : 32)))
            abort();
        if (member->size < LARGE && archive_read(a, member, UINT64_MAX, &whole, &err) &&
            (whole.len != member->size || !has_head || memcmp(whole.v, head.v, head.len) != 0))
            abort();
        text_free(&head);
        text_free(&whole);
    }
    archive_close(a);
    return 0;
}
