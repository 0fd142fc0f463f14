/* Zstandard (tool/files/zstd.h): files that the zstd tool made of the same bytes at several levels hold these bytes; what is cut
 * short or changed is never taken for whole; bounds hold. tests/archives.sh tries more levels and sizes where the tool is there. */
#include "test.h"

#include "../report/base/text.h"
#include "../tool/base/readfile.h"
#include "../tool/files/zstd.h"

#include <string.h>

/* tests/fixtures/zstd/build.sh makes them: of words, of one byte a million times, of nothing, of two frames with one between
 * that holds something else. */
static const char *const names[] = {"words-1", "words-3", "words-19", "words-ultra",
                                    "run",     "nothing", "frames"};

static void read_fixture(text *out, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "tests/fixtures/zstd/%s", name);
    CHECK(file_read(out, path) == NULL);
}

static zstd_end decode(const text *packed, size_t len, uint64_t max, text *out)
{
    machsym_bytes in = {packed->v, len};
    size_t at = 0;
    zstd_end end = zstd_decode(in, max, out, &at);
    CHECK(at <= len && out->len <= max);
    return end;
}

/* "line N of a text that repeats itself, with words in turn", as build.sh writes it. */
static void put_words(text *out)
{
    static const char *const words[] = {"frame", "image", "thread", "report", "symbol"};
    for (unsigned i = 0; i < 3000; i++) {
        text_c(out, "line ");
        text_dec(out, i * 7919u % 10007u);
        text_c(out, " of ");
        text_c(out, words[i * i % 5]);
        text_c(out, "\n");
    }
}

static void put_wanted(const char *name, text *out)
{
    bool is_frames = strcmp(name, "frames") == 0;
    if (strncmp(name, "words", 5) == 0 || is_frames)
        put_words(out);
    if (is_frames)
        text_c(out, "x");
    for (unsigned i = 0; strcmp(name, "run") == 0 && i < 1000000; i++)
        text_char(out, 'z');
}

/* The first bytes, after others; also of a file that is cut after its first block. */
static void check_begins(const text *packed, const text *want)
{
    static const size_t lengths[] = {1, 100, 60000, 1 << 22};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        text out = {0};
        size_t at = 0;
        size_t len = lengths[i] < want->len ? lengths[i] : want->len;
        machsym_bytes in = {packed->v, packed->len - (lengths[i] == 1 && want->len > 1)};
        text_c(&out, "abc");
        CHECK(zstd_decode_begin(in, lengths[i], &out, &at) == ZSTD_DONE);
        CHECK_EQ(out.len, len + 3);
        CHECK(memcmp(out.v, "abc", 3) == 0 && (len == 0 || memcmp(out.v + 3, want->v, len) == 0));
        text_free(&out);
    }
}

static void test_whole(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[32];
        text packed = {0};
        text out = {0};
        text want = {0};
        snprintf(file, sizeof file, "%s.zst", names[i]);
        read_fixture(&packed, file);
        put_wanted(names[i], &want);
        CHECK(decode(&packed, packed.len, 1 << 24, &out) == ZSTD_DONE);
        CHECK(out.len == want.len && (want.len == 0 || memcmp(out.v, want.v, want.len) == 0));
        out.len = 0;
        CHECK(want.len == 0 || decode(&packed, packed.len, want.len - 1, &out) == ZSTD_FULL);
        check_begins(&packed, &want);
        text_free(&packed);
        text_free(&out);
        text_free(&want);
    }
}

/* The files have checksums, so no change gives other bytes, but in what a decoder skips. */
static void test_damaged(void)
{
    text packed = {0};
    text want = {0};
    unsigned silent = 0;
    read_fixture(&packed, "words-3.zst");
    put_words(&want);
    for (size_t len = 0; len < packed.len; len += len < 64 ? 1 : 37) {
        text out = {0};
        CHECK(len == 0 || decode(&packed, len, 1 << 20, &out) == ZSTD_SHORT);
        text_free(&out);
    }
    for (size_t at = 0; at < packed.len; at += at < 64 ? 1 : 37) {
        text out = {0};
        packed.v[at] ^= (char)(1 << (at % 8));
        if (decode(&packed, packed.len, 1 << 20, &out) == ZSTD_DONE)
            silent += out.len != want.len || memcmp(out.v, want.v, want.len) != 0;
        packed.v[at] ^= (char)(1 << (at % 8));
        text_free(&out);
    }
    CHECK_EQ(silent, 0);
    text_free(&packed);
    text_free(&want);
}

static void test_refused(void)
{
    static const char dictionary[] = "\x28\xb5\x2f\xfd\x21\x07\x01\x09\x00\x00z";
    static const char reserved[] = "\x28\xb5\x2f\xfd\x28\x01\x09\x00\x00z";
    text packed = {0};
    text out = {0};
    text_add(&packed, dictionary, sizeof dictionary - 1);
    CHECK(decode(&packed, packed.len, 100, &out) == ZSTD_DICTIONARY);
    packed.len = 0;
    text_add(&packed, reserved, sizeof reserved - 1);
    CHECK(decode(&packed, packed.len, 100, &out) == ZSTD_BAD);
    packed.len = 0;
    text_c(&packed, "no such file");
    CHECK(decode(&packed, packed.len, 100, &out) == ZSTD_BAD);
    text_free(&packed);
    text_free(&out);
}

int main(void)
{
    test_whole();
    test_damaged();
    test_refused();
    return test_done();
}
