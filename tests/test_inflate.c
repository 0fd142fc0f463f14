/* The room inflate: streams by hand, of every kind of block and with every kind of damage, each also cut
 * short everywhere and with less room everywhere. With an argument: the streams that tests/inflate.py wrote. */
#define TEST_ROOM <rooms/src/base/inflate.h>
#include "test.h"

/* A stream by hand. */
typedef struct sample {
    const char *what;
    const char *hex; /* without a wrapper, unless is_zlib */
    const char *text;
    ms_inf_end end;
    bool is_zlib;
} sample;

static const sample samples[] = {
    {"no bytes, stored", "010000ffff", "", ms_INF_OK, false},
    {"stored", "010300fcff616263", "abc", ms_INF_OK, false},
    {"two blocks, stored", "000100feff61010200fdff6263", "abc", ms_INF_OK, false},
    {"a stored length that its complement contradicts", "010300fdff616263", "", ms_INF_BAD, false},
    {"fixed codes", "4b4c4a0600", "abc", ms_INF_OK, false},
    {"an empty block of fixed codes", "0300", "", ms_INF_OK, false},
    {"a copy that reads what it writes", "4b4c440100", "aaaaaaaaaaaaaaa", ms_INF_OK, false},
    {"a copy from before the begin", "030200", "", ms_INF_BAD, false},
    {"a distance that has no meaning", "033e00", "", ms_INF_BAD, false},
    {"a length that has no meaning", "1b0300", "", ms_INF_BAD, false},
    {"a block of the reserved kind", "07", "", ms_INF_BAD, false},
    {"dynamic codes that are cut short", "fd00", "", ms_INF_SHORT, false},
    {"dynamic codes with 288 lengths", "fdff0000000000", "", ms_INF_BAD, false},
    {"too many codes for code lengths", "05009200", "", ms_INF_BAD, false},
    {"a length repeated before there is one", "05001200000000", "", ms_INF_BAD, false},
    {"a length repeated past the last one", "050090e0ff1f000000", "", ms_INF_BAD, false},
    {"codes without an end of the block", "050090e07f1b000000", "", ms_INF_BAD, false},
    {"dynamic codes for the end alone", "05c081000000000090ff6b00", "", ms_INF_OK, false},
    {"the other bit of a code of one", "05c081000000000090ff6b0200", "", ms_INF_BAD, false},
    {"zlib", "789c4b4c4a0600024d0127", "abc", ms_INF_OK, true},
    {"zlib with a wrong checksum", "789c4b4c4a0600024d0128", "abc", ms_INF_BAD, true},
    {"zlib with a checksum that is cut short", "789c4b4c4a0600024d01", "abc", ms_INF_SHORT, true},
    {"zlib with a dictionary", "78bb00000000", "", ms_INF_BAD, true},
    {"zlib with another method", "779c", "", ms_INF_BAD, true},
    {"zlib with wrong check bits", "789d4b4c4a0600", "", ms_INF_BAD, true},
    {"zlib with a window of 64 KB", "8819", "", ms_INF_BAD, true},
    {"half a header", "78", "", ms_INF_SHORT, true},
    {"nothing", "", "", ms_INF_SHORT, false},
};

static ms_inf_end run(bool is_zlib, ms_span in, uint8_t *out, size_t cap, size_t *len, size_t *used)
{
    return is_zlib ? ms_inf_zlib(in, out, cap, len, used) : ms_inf_raw(in, out, cap, len, used);
}

/* The same in memory of its own for each, so that a byte too far is seen by memory checkers. */
static ms_inf_end run_tight(bool is_zlib, ms_span in, size_t cap, const uint8_t *text, size_t *len)
{
    size_t used;
    uint8_t *copy = (uint8_t *)malloc(in.len + 1) + 1; /* a malloc of 0 bytes may be NULL */
    uint8_t *out = (uint8_t *)malloc(cap + 1) + 1;
    if (in.len != 0)
        memcpy(copy, in.ptr, in.len);
    ms_inf_end end = run(is_zlib, ms_span_make(copy, in.len), out, cap, len, &used);
    test_count(*len <= cap && used <= in.len && (*len == 0 || memcmp(out, text, *len) == 0));
    free(copy - 1);
    free(out - 1);
    return end;
}

/* A whole stream, cut short everywhere, and with less room everywhere. */
static void test_edges(bool is_zlib, ms_span in, const uint8_t *text, size_t text_len, size_t step)
{
    test_begin();
    size_t len;
    for (size_t cut = 0; cut < in.len; cut += step)
        CHECK_EQ(run_tight(is_zlib, ms_span_make(in.ptr, cut), text_len, text, &len), ms_INF_SHORT);
    for (size_t cap = 0; cap < text_len; cap += step) {
        CHECK_EQ(run_tight(is_zlib, in, cap, text, &len), ms_INF_FULL);
        CHECK_EQ(len, cap);
    }
    test_end("a stream cut short, and less room");
}

static void test_samples(void)
{
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const sample *s = &samples[i];
        uint8_t in[64];
        uint8_t out[512];
        size_t in_len = strlen(s->hex) / 2;
        size_t len;
        size_t used;
        for (size_t j = 0; j < in_len; j++) {
            unsigned byte;
            sscanf(s->hex + 2 * j, "%2x", &byte);
            in[j] = (uint8_t)byte;
        }
        ms_span span = ms_span_make(in, in_len);
        ms_inf_end end = run(s->is_zlib, span, out, sizeof out, &len, &used);
        if (end != s->end)
            printf("%s:\n", s->what);
        CHECK_EQ(end, s->end);
        if (s->text != NULL)
            CHECK_STR(ms_str_make((const char *)out, len), s->text);
        if (end == ms_INF_OK) {
            CHECK_EQ(used, in_len);
            test_edges(s->is_zlib, span, out, len, 1);
        }
    }
}

/* Stored blocks are as long as their field says, which has 16 bits; a copy repeats its own bytes. */
static void test_long(void)
{
    static uint8_t in[65535 + 5];
    static uint8_t out[65535];
    size_t len;
    size_t used;
    in[0] = 1;
    in[1] = in[2] = 0xff;
    for (size_t i = 5; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7 % 251);
    CHECK_EQ(ms_inf_raw(ms_span_make(in, sizeof in), out, sizeof out, &len, &used), ms_INF_OK);
    CHECK_EQ(len, sizeof out);
    CHECK(memcmp(out, in + 5, sizeof out) == 0);
    test_edges(false, ms_span_make(in, sizeof in), in + 5, sizeof out, 4099);
    /* fixed codes: 'a', then 258 bytes from distance 1, the end */
    static const uint8_t run_of_a[] = {0x4b, 0x1c, 0x05, 0x00};
    static uint8_t a[259];
    memset(a, 'a', sizeof a);
    CHECK_EQ(ms_inf_raw(ms_span_make(run_of_a, sizeof run_of_a), out, sizeof out, &len, &used), ms_INF_OK);
    CHECK_EQ(len, sizeof a);
    CHECK(memcmp(out, a, sizeof a) == 0);
    test_edges(false, ms_span_make(run_of_a, sizeof run_of_a), a, sizeof a, 1);
}

/* What the public function says. */
static void test_public(void)
{
    static const uint8_t abc[] = {0x4b, 0x4c, 0x4a, 0x06, 0x00, 'x'};
    machsym_bytes in = {abc, sizeof abc};
    machsym_error err;
    char out[8];
    size_t len;
    size_t used;
    CHECK_EQ(machsym_inflate(MACHSYM_DEFLATE_RAW, in, out, 3, &len, &used, &err), MACHSYM_OK);
    CHECK_EQ(err.code, MACHSYM_OK);
    CHECK_EQ(used, 5);
    CHECK_STR(ms_str_make(out, len), "abc");
    CHECK_EQ(machsym_inflate(MACHSYM_DEFLATE_RAW, in, out, 2, &len, NULL, &err), MACHSYM_ERR_LIMIT);
    CHECK_STR(ms_str_make(out, len), "ab");
    CHECK_EQ(machsym_inflate(MACHSYM_DEFLATE_ZLIB, in, out, 3, &len, &used, &err), MACHSYM_ERR_DAMAGED);
    in.len = 4;
    CHECK_EQ(machsym_inflate(MACHSYM_DEFLATE_RAW, in, out, 3, &len, &used, &err), MACHSYM_ERR_DAMAGED);
    CHECK_TEXT(err.what, "the compressed bytes are cut short");
    CHECK_EQ(machsym_inflate(MACHSYM_DEFLATE_RAW, in, out, 3, NULL, NULL, &err), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(machsym_inflate((machsym_deflate)2, in, out, 3, &len, NULL, NULL), MACHSYM_ERR_ARGUMENT);
}

/* ---- Streams of zlib ---- */

static void test_cases(const char *path)
{
    test_file file = test_read(path);
    ms_rd rd = ms_rd_make(ms_span_make(file.ptr, file.len));
    while (ms_rd_left(&rd) > 0) {
        bool is_zlib = ms_rd_u8(&rd) != 0;
        uint8_t verdict = ms_rd_u8(&rd);
        size_t used = ms_rd_u32(&rd);
        size_t in_len = ms_rd_u32(&rd);
        ms_span in = ms_rd_span(&rd, in_len);
        size_t text_len = ms_rd_u32(&rd);
        ms_span text = ms_rd_span(&rd, text_len);
        size_t got_used;
        size_t len;
        size_t cap = verdict == 2 ? in_len * 1100 + 4096 : text_len; /* nothing grows more than by 1,032 */
        uint8_t *out = (uint8_t *)malloc(cap + 1);
        ms_inf_end end = run(is_zlib, in, out, cap, &len, &got_used);
        CHECK_EQ(end, verdict == 0 ? ms_INF_OK : verdict == 1 ? ms_INF_SHORT : ms_INF_BAD);
        CHECK(verdict != 0 || got_used == used);
        CHECK(verdict == 2 || (len == text_len && (len == 0 || memcmp(out, text.ptr, len) == 0)));
        free(out);
    }
    free(file.ptr);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        test_cases(argv[1]);
        return test_done();
    }
    test_samples();
    test_long();
    test_public();
    return test_done();
}
