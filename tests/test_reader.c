/* The rooms bytes and reader: numbers, LEB128, strings, sticky failure, sorting and search. */
#define TEST_ROOM <rooms/src/base/reader.h>
#include "test.h"
#include "make.h"

static ms_span span_of(const bytes *b)
{
    return ms_span_make(b->v, b->len);
}

static void test_numbers(void)
{
    bytes b = {NULL, 0, 0};
    put8(&b, 0xa1);
    put16(&b, 0xb2b1);
    put32(&b, 0xc4c3c2c1u);
    put64(&b, UINT64_C(0xd8d7d6d5d4d3d2d1));
    put_be32(&b, 0xe1e2e3e4u);
    put_be64(&b, UINT64_C(0xf1f2f3f4f5f6f7f8));
    put_uint(&b, 0x030201, 3);
    ms_rd rd = ms_rd_make(span_of(&b));
    CHECK_EQ(ms_rd_u8(&rd), 0xa1);
    CHECK_EQ(ms_rd_u16(&rd), 0xb2b1);
    CHECK_EQ(ms_rd_u32(&rd), 0xc4c3c2c1u);
    CHECK_EQ(ms_rd_u64(&rd), UINT64_C(0xd8d7d6d5d4d3d2d1));
    CHECK_EQ(ms_rd_be32(&rd), 0xe1e2e3e4u);
    CHECK_EQ(ms_rd_be64(&rd), UINT64_C(0xf1f2f3f4f5f6f7f8));
    CHECK_EQ(ms_rd_uint(&rd, 3), 0x030201);
    CHECK(!rd.failed);
    CHECK_EQ(ms_rd_left(&rd), 0);
    CHECK_EQ(ms_rd_offset(&rd), b.len);
    static const unsigned sizes[] = {1, 2, 4, 8};
    for (unsigned i = 0; i < 4; i++) {
        rd = ms_rd_make(ms_span_make("\1\2\3\4\5\6\7\10", 8));
        CHECK_EQ(ms_rd_uint(&rd, sizes[i]),
                 UINT64_C(0x0807060504030201) & (~UINT64_C(0) >> (64 - 8 * sizes[i])));
        CHECK_EQ(ms_rd_offset(&rd), sizes[i]);
    }
    rd = ms_rd_make(span_of(&b));
    CHECK_EQ(ms_rd_uint(&rd, 5), 0);
    CHECK(rd.failed);
    bytes_free(&b);
}

/* Every read past the end returns 0, fails, and moves to the end: nothing is read after it. */
static void test_sticky(void)
{
    static const uint8_t seven[7] = {1, 2, 3, 4, 5, 6, 7};
    ms_rd rd = ms_rd_make(ms_span_make(seven, sizeof seven));
    CHECK_EQ(ms_rd_u64(&rd), 0);
    CHECK(rd.failed);
    CHECK_EQ(ms_rd_left(&rd), 0);
    CHECK_EQ(ms_rd_u8(&rd), 0);
    CHECK_EQ(ms_rd_u16(&rd), 0);
    CHECK_EQ(ms_rd_u32(&rd), 0);
    CHECK_EQ(ms_rd_be32(&rd), 0);
    CHECK_EQ(ms_rd_be64(&rd), 0);
    CHECK_EQ(ms_rd_uleb(&rd), 0);
    CHECK_EQ(ms_rd_sleb(&rd), 0);
    CHECK_EQ(ms_rd_str(&rd).len, 0);
    CHECK_EQ(ms_rd_span(&rd, 1).len, 0);
    rd = ms_rd_make(ms_span_make(seven, sizeof seven));
    ms_rd_skip(&rd, 7);
    CHECK(!rd.failed);
    ms_rd_skip(&rd, 1);
    CHECK(rd.failed);
    rd = ms_rd_make(ms_span_make(seven, sizeof seven));
    ms_rd_skip(&rd, UINT64_MAX);
    CHECK(rd.failed && ms_rd_left(&rd) == 0);
    rd = ms_rd_make(ms_span_make(NULL, 0));
    ms_rd_skip(&rd, 0);
    CHECK(!rd.failed);
    CHECK_EQ(ms_rd_u8(&rd), 0);
    CHECK(rd.failed);
    rd = ms_rd_at(ms_span_make(seven, sizeof seven), 7);
    CHECK(!rd.failed && ms_rd_left(&rd) == 0);
    rd = ms_rd_at(ms_span_make(seven, sizeof seven), 8);
    CHECK(rd.failed && ms_rd_left(&rd) == 0);
    rd = ms_rd_at(ms_span_make(seven, sizeof seven), 3);
    CHECK_EQ(ms_rd_u8(&rd), 4);
}

static uint64_t uleb_of(const char *text, size_t len, bool *failed)
{
    ms_rd rd = ms_rd_make(ms_span_make(text, len));
    uint64_t number = ms_rd_uleb(&rd);
    *failed = rd.failed;
    return number;
}

static int64_t sleb_of(const char *text, size_t len, bool *failed)
{
    ms_rd rd = ms_rd_make(ms_span_make(text, len));
    int64_t number = ms_rd_sleb(&rd);
    *failed = rd.failed;
    return number;
}

/* DWARF5 7.6: table 7.8's examples, the limits of 64 bits, and what lies past them. */
static void test_leb(void)
{
    bool failed;
    CHECK_EQ(uleb_of("\x02", 1, &failed), 2);
    CHECK_EQ(uleb_of("\x7f", 1, &failed), 127);
    CHECK_EQ(uleb_of("\x80\x01", 2, &failed), 128);
    CHECK_EQ(uleb_of("\x81\x01", 2, &failed), 129);
    CHECK_EQ(uleb_of("\xb9\x64", 2, &failed), 12857);
    CHECK_EQ(uleb_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, &failed), UINT64_MAX);
    CHECK(!failed);
    CHECK_EQ(uleb_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, &failed), 0);
    CHECK(failed);
    CHECK_EQ(uleb_of("\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, &failed), 5);
    CHECK(!failed);
    CHECK_EQ(uleb_of("\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, &failed), 0);
    CHECK(failed);
    CHECK_EQ(uleb_of("\x80\x80", 2, &failed), 0);
    CHECK(failed);
    CHECK(sleb_of("\x02", 1, &failed) == 2);
    CHECK(sleb_of("\x7e", 1, &failed) == -2);
    CHECK(sleb_of("\xff\x00", 2, &failed) == 127);
    CHECK(sleb_of("\x81\x7f", 2, &failed) == -127);
    CHECK(sleb_of("\x80\x7f", 2, &failed) == -128);
    CHECK(sleb_of("\xff\x7e", 2, &failed) == -129);
    CHECK(sleb_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, &failed) == INT64_MIN);
    CHECK(!failed);
    CHECK(sleb_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, &failed) == INT64_MAX);
    CHECK(!failed);
    CHECK(sleb_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, &failed) == -1);
    CHECK(!failed);
    CHECK(sleb_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x3e", 10, &failed) ==
          0); /* bits above 63 differ from it */
    CHECK(failed);
    CHECK(sleb_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, &failed) == 0);
    CHECK(failed);
    CHECK(sleb_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\xff\x00", 11, &failed) == 0);
    CHECK(failed);
    CHECK(sleb_of("\x80", 1, &failed) == 0);
    CHECK(failed);
    CHECK(sleb_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 11, &failed) == 0);
    CHECK(failed);
    for (unsigned bit = 0; bit < 64; bit++) {
        bytes b = {NULL, 0, 0};
        uint64_t number = UINT64_C(1) << bit;
        put_uleb(&b, number);
        put_uleb(&b, number - 1);
        put_sleb(&b, (int64_t)(number >> 1));
        put_sleb(&b, -(int64_t)(number >> 1));
        ms_rd rd = ms_rd_make(span_of(&b));
        CHECK_EQ(ms_rd_uleb(&rd), number);
        CHECK_EQ(ms_rd_uleb(&rd), number - 1);
        CHECK(ms_rd_sleb(&rd) == (int64_t)(number >> 1));
        CHECK(ms_rd_sleb(&rd) == -(int64_t)(number >> 1));
        CHECK(!rd.failed && ms_rd_left(&rd) == 0);
        bytes_free(&b);
    }
}

static void test_strings(void)
{
    ms_span section = ms_span_make("one\0\0three\0open", 15);
    ms_rd rd = ms_rd_make(section);
    CHECK_STR(ms_rd_str(&rd), "one");
    CHECK_STR(ms_rd_str(&rd), "");
    CHECK(!rd.failed);
    CHECK_STR(ms_rd_str(&rd), "three");
    CHECK_STR(ms_rd_str(&rd), "");
    CHECK(rd.failed);
    CHECK_STR(ms_rd_str_at(section, 5), "three");
    CHECK_STR(ms_rd_str_at(section, 7), "ree");
    CHECK_STR(ms_rd_str_at(section, 11), "");
    CHECK_STR(ms_rd_str_at(section, 15), "");
    CHECK_STR(ms_rd_str_at(section, UINT64_MAX), "");
    CHECK_STR(ms_str_bounded("0123456789abcdefXX", 16), "0123456789abcdef");
    CHECK_STR(ms_str_bounded("short\0bytes", 11), "short");
    CHECK(ms_str_begins(ms_str_from_c("__text"), "__") && !ms_str_begins(ms_str_from_c("_"), "__"));
    CHECK(ms_str_ends(ms_str_from_c("App.dSYM"), ".dSYM") && !ms_str_ends(ms_str_from_c("SYM"), ".dSYM"));
    CHECK_STR(ms_str_drop(ms_str_from_c("_main"), 1), "main");
    CHECK_STR(ms_str_drop(ms_str_from_c("_main"), 9), "");
}

static void test_spans(void)
{
    static const uint8_t ten[10] = {0};
    ms_span span = ms_span_make(ten, 10);
    CHECK_EQ(ms_span_sub(span, 0, 10).len, 10);
    CHECK_EQ(ms_span_sub(span, 4, 6).len, 6);
    CHECK(ms_span_sub(span, 4, 6).ptr == ten + 4);
    CHECK_EQ(ms_span_sub(span, 4, 7).len, 0);
    CHECK_EQ(ms_span_sub(span, 11, 0).len, 0);
    CHECK_EQ(ms_span_sub(span, UINT64_MAX, 1).len, 0);
    CHECK_EQ(ms_span_sub(span, 1, UINT64_MAX).len, 0);
    CHECK_EQ(ms_span_from(span, 3).len, 7);
    CHECK_EQ(ms_span_from(span, 10).len, 0);
    CHECK_EQ(ms_span_from(span, UINT64_MAX).len, 0);
    uint64_t sum;
    CHECK(ms_add_ok(UINT64_MAX - 1, 1, &sum) && sum == UINT64_MAX);
    CHECK(!ms_add_ok(UINT64_MAX, 1, &sum));
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool is_sorted(const ms_key *v, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (ms_key_less(&v[i], &v[i - 1]))
            return false;
    }
    return true;
}

/* All ways to sort, from no key to many, with keys that share bytes and keys that repeat. */
static void test_sort(void)
{
    static ms_key v[3000];
    static ms_key room[3000];
    static const size_t counts[] = {0, 1, 2, 24, 25, 100, 3000};
    uint64_t state = 88172645463325252u;
    for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (unsigned kind = 0; kind < 8; kind++) {
            uint64_t sum = 0;
            uint64_t sum_after = 0;
            for (size_t i = 0; i < counts[c]; i++) {
                uint64_t random = next_random(&state);
                v[i].key = (kind & 1) != 0 ? random : random % 50 << 40;
                v[i].key = (kind & 4) != 0 ? i : v[i].key;
                v[i].item = i;
                sum += v[i].key ^ (v[i].item << 7);
            }
            ms_sort(v, counts[c], (kind & 2) != 0 ? room : NULL);
            for (size_t i = 0; i < counts[c]; i++)
                sum_after += v[i].key ^ (v[i].item << 7);
            CHECK(is_sorted(v, counts[c]));
            CHECK_EQ(sum, sum_after);
        }
    }
}

/* Keys of many kinds, which ms_sort takes different ways for. */
static uint64_t sort_key(unsigned kind, size_t i, size_t count, uint64_t random)
{
    switch (kind) {
    case 0: return random;
    case 1: return random % 7;                                               /* many are equal */
    case 2: return 42;                                                       /* all are */
    case 3: return count - i;                                                /* the wrong way round */
    case 4: return i < count / 2 ? i * 3 : (i - count / 2) * 3;              /* two lists in order */
    case 5: return (i == count / 3 ? (uint64_t)1 << 63 : 0) + random % 5000; /* one far from all others */
    case 6: return random & 0x8000010000000001u;                             /* few bits vary, far apart */
    case 7: return i == count - 1 ? 0 : i;                                   /* the last one is the first */
    case 8: return i % 2 == 0 ? random : random % 100000; /* half of them share their highest bits */
    default: return i ^ (random % 16 == 0 ? 5 : 0);       /* nearly in order */
    }
}

static int by_key(const void *a, const void *b)
{
    const ms_key *x = (const ms_key *)a;
    const ms_key *y = (const ms_key *)b;
    return ms_key_less(x, y) ? -1 : ms_key_less(y, x);
}

/* The order is that of the C library's sort, at all sizes where a way of ms_sort begins or ends. */
static void test_sort_is_plain(void)
{
    enum { MOST = 70000 };
    static const size_t counts[] = {0,  1,   2,   3,   25,  26,   27,   28,   29,   30,   63,   64,
                                    65, 127, 128, 255, 511, 1023, 1024, 2047, 2048, 4097, 9000, MOST};
    ms_key *v = (ms_key *)malloc(MOST * sizeof *v);
    ms_key *room = (ms_key *)malloc(MOST * sizeof *v);
    ms_key *plain = (ms_key *)malloc(MOST * sizeof *v);
    uint64_t state = 0x2545f4914f6cdd1du;
    for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (unsigned kind = 0; kind < 10; kind++) {
            size_t count = counts[c];
            for (size_t i = 0; i < count; i++) {
                v[i].key = sort_key(kind, i, count, next_random(&state));
                v[i].item = i;
                plain[i] = v[i];
            }
            qsort(plain, count, sizeof *plain, by_key);
            ms_sort(v, count, room);
            size_t equal = 0;
            while (equal < count && v[equal].key == plain[equal].key && v[equal].item == plain[equal].item)
                equal++;
            CHECK_EQ(equal, count);
        }
    }
    free(v);
    free(room);
    free(plain);
}

/* A record whose key is not its first field, and whose size is not that of a key twice. */
typedef struct record {
    uint32_t before;
    uint64_t key;
    uint8_t behind[13];
} record;

/* Compares both bounds with counting, for every key from 0 to most and the largest. */
static void check_bounds(const record *v, size_t count, uint64_t most)
{
    test_begin();
    for (uint64_t i = 0; i <= most + 1; i++) {
        uint64_t key = i <= most ? i : UINT64_MAX;
        size_t below = 0;
        size_t equal = 0;
        for (size_t j = 0; j < count; j++) {
            below += v[j].key < key;
            equal += v[j].key == key;
        }
        CHECK_EQ(ms_lower_bound(&v->key, count, sizeof *v, key), below);
        CHECK_EQ(ms_upper_bound(&v->key, count, sizeof *v, key), below + equal);
    }
    test_end("bounds by counting");
}

static void test_bounds(void)
{
    CHECK_EQ(ms_upper_bound(NULL, 0, sizeof(ms_key), 99), 0);
    CHECK_EQ(ms_lower_bound(NULL, 0, sizeof(ms_key), 99), 0);
    static const ms_key keys[] = {{0, 9}, {20, 1}, {20, 2}, {UINT64_MAX, 3}};
    CHECK_EQ(ms_lower_bound(keys, 4, sizeof *keys, 0), 0);
    CHECK_EQ(ms_upper_bound(keys, 4, sizeof *keys, 0), 1);
    CHECK_EQ(ms_lower_bound(keys, 4, sizeof *keys, 20), 1);
    CHECK_EQ(ms_upper_bound(keys, 4, sizeof *keys, 20), 3);
    CHECK_EQ(ms_upper_bound(keys, 4, sizeof *keys, UINT64_MAX - 1), 3);
    CHECK_EQ(ms_lower_bound(keys, 4, sizeof *keys, UINT64_MAX), 3);
    CHECK_EQ(ms_upper_bound(keys, 4, sizeof *keys, UINT64_MAX), 4);

    static const uint64_t steps[] = {0, 0, 1, 0, 3, 1, 0, 0, 0, 7, 2}; /* from one key to the next */
    record v[sizeof steps / sizeof *steps];
    uint64_t key = 0;
    memset(v, 0xff, sizeof v);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        v[i].key = key += steps[i];
    for (size_t first = 0; first < sizeof steps / sizeof *steps; first++) {
        for (size_t count = 0; count <= sizeof steps / sizeof *steps - first; count++)
            check_bounds(v + first, count, key + 1);
    }
}

int main(void)
{
    test_numbers();
    test_sticky();
    test_leb();
    test_strings();
    test_spans();
    test_sort();
    test_sort_is_plain();
    test_bounds();
    return test_done();
}
