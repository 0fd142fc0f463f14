/* PLCrashReporter's protobuf: of any fields it becomes text, which is read as a report and comes out as it is; its
 * size stays within what the fields can make. Run: build/fuzz/report_plcrash fuzz/corpus/report_plcrash */
#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/model/report.h"
#include "../report/read/plcrash.h"
#include "../report/read/recognise.h"
#include "../report/write/call.h"
#include "../report/write/write.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A frame of two bytes becomes a line; the longest has an image's name with every byte escaped. */
enum { MOST_A_BYTE = 256, HEAD = 2048 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_options how = {false, false, false, false};
    report r;
    text decoded = {0};
    text out = {0};
    char *copy = mem_alloc(size);
    memcpy(copy, size > 0 ? (const char *)data : "", size);
    if (!plcrash_is((machsym_str){copy, size})) {
        free(copy);
        return 0;
    }
    plcrash_decode((machsym_str){copy, size}, &decoded);
    if (decoded.len > HEAD + size * MOST_A_BYTE || memchr(decoded.v, 0, decoded.len) != NULL)
        abort();
    report_open(&r, copy, size, NULL, 0);
    write_same(&r, &how, &out);
    if (r.kind != REPORT_PLCRASH || out.len != decoded.len || memcmp(out.v, decoded.v, out.len) != 0)
        abort();
    text_free(&out);
    text_free(&decoded);
    report_close(&r);
    free(copy);
    return 0;
}
