/* A second thread that answers addresses ahead of the one that asks: its answers are those of a source of one thread,
 * whichever addresses are left out, and whenever the asking ends. */
#include "test.h"

#include "../tool/symbols/ahead.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ADDRESSES = 600, CAP = MACHSYM_MAX_INLINE_DEPTH + 1, WAITS = 5 /* left out: one of this many */ };

static bool same_text(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_frames(const machsym_frame *a, const machsym_frame *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!same_text(a[i].linkage_name, b[i].linkage_name) || !same_text(a[i].name, b[i].name) ||
            !same_text(a[i].file.name, b[i].file.name) || !same_text(a[i].file.dir, b[i].file.dir) ||
            a[i].line != b[i].line || a[i].column != b[i].column || a[i].is_inline != b[i].is_inline ||
            a[i].function_start != b[i].function_start || a[i].function_size != b[i].function_size)
            return false;
    }
    return true;
}

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u;
}

/* Asks for addresses of a file, but leaves some of them out. Returns how many the thread answered. */
static size_t ask_all(const symbol_file *file, bool asks_sharing, unsigned left_out, size_t until)
{
    static machsym_frame got[CAP];
    static machsym_frame want[CAP];
    symbol_source *own = symbol_source_open(file, 0, 0);
    symbol_source *second = symbol_source_open(file, 0, 0);
    uint64_t addrs[ADDRESSES];
    uint32_t seed = left_out + 1;
    size_t answered = 0;
    for (size_t i = 0; i < ADDRESSES; i++)
        addrs[i] = file->info.text_addr + next_random(&seed) % file->info.text_size;
    struct timespec moment = {0, 1000000};
    ahead *a = ahead_begin(second, addrs, ADDRESSES, asks_sharing);
    if (left_out == WAITS)
        nanosleep(&moment, NULL);
    for (size_t i = 0; a != NULL && i < until; i++) {
        size_t sharing = 0;
        size_t want_sharing = 0;
        size_t count;
        if (left_out != 0 && next_random(&seed) % left_out == 0)
            continue;
        if (!ahead_frames(a, addrs[i], got, CAP, &count, asks_sharing ? &sharing : NULL)) {
            symbol_source_frames(own, addrs[i], got, CAP);
            continue;
        }
        size_t wanted = asks_sharing ? symbol_source_shared_frames(own, addrs[i], want, CAP, &want_sharing)
                                     : symbol_source_frames(own, addrs[i], want, CAP);
        CHECK_EQ(count, wanted);
        CHECK_EQ(sharing, want_sharing);
        CHECK(count == wanted && same_frames(got, want, count));
        answered++;
    }
    size_t count;
    CHECK(a == NULL || !ahead_frames(a, 1, got, CAP, &count, NULL)); /* it was not told of this one */
    ahead_end(a);
    symbol_source_close(second);
    symbol_source_close(own);
    return answered;
}

static void test_one_file(const char *path)
{
    symbol_desc desc;
    symbol_file file;
    machsym_error err;
    size_t answered = 0;
    memset(&desc, 0, sizeof desc);
    desc.open.path = path;
    desc.lines = MACHSYM_LINES_PEOPLE;
    CHECK_EQ(symbol_file_open(&desc, &file, &err), MACHSYM_OK);
    CHECK(!ahead_worth(&file, 1) && !ahead_worth(&file, ADDRESSES)); /* it is small */
    for (unsigned left_out = 0; left_out <= WAITS; left_out++) {
        answered += ask_all(&file, true, left_out, ADDRESSES);
        answered += ask_all(&file, false, left_out, ADDRESSES);
        answered += ask_all(&file, true, left_out, ADDRESSES / 2);
        ask_all(&file, true, left_out, 0);
    }
    for (unsigned i = 0; i < 1000 && answered == 0; i++) /* the thread may have had no processor */
        answered += ask_all(&file, true, WAITS, ADDRESSES);
    CHECK(answered > 0);
    symbol_file_close(&file);
}

int main(void)
{
    test_one_file("tests/real/hidden/Sentry.dwarf");
    test_one_file("tests/fixtures/bin/folded-arm64-cpp.dwarf");
    ahead_end(NULL);
    return test_done();
}
