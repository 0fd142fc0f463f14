/* Copies of a shared cache's data: slide info that is made to cost much takes no more steps than the copy
 * has bytes. */
static unsigned long long work;
#define MACHSYM_COUNT_WORK(n) (work += (n))
#define TEST_ROOM             "../src/macho/slide.h"
#include "test.h"
#include "make.h"

enum { BYTES = 1 << 16, EXTRAS = 1 << 12 };

/* Opens a cache of one file, whose second mapping has this slide info and zeros. */
static ms_dc open_slid(const bytes *slide, bytes *file, ms_arena *arena)
{
    ms_dc dc;
    put(file, "dyld_v1   arm64\0", 16);
    put32(file, 0x80);
    put32(file, 2);
    put_zeros(file, 0x80 - file->len);
    patch(file, 0x38, 0x80 + 2 * 32 + BYTES, 8);
    patch(file, 0x40, slide->len, 8);
    for (uint64_t i = 0; i < 2; i++) {
        put64(file, 0x10000000 * (i + 1));
        put64(file, i == 0 ? 0x80 : BYTES);
        put64(file, i == 0 ? 0 : 0x80 + 2 * 32);
        put64(file, 0);
    }
    put_zeros(file, BYTES);
    put_bytes(file, slide);
    CHECK(ms_dc_open(&dc, ms_span_make(file->v, file->len), arena));
    ms_dc_settle(&dc, arena);
    CHECK_EQ(dc.count, 2);
    return dc;
}

/* Version 2. All pages begin with the same list of chains, and no chain has a place in its page. */
static bytes slide_of_extras(uint32_t page_size)
{
    bytes b = {NULL, 0, 0};
    uint32_t pages = BYTES / page_size;
    put32(&b, 2);
    put32(&b, page_size);
    put32(&b, 40);
    put32(&b, pages);
    put32(&b, 40 + 2 * pages);
    put32(&b, EXTRAS);
    put64(&b, (uint64_t)0xff << 40);
    put64(&b, 0x10000000);
    for (uint32_t i = 0; i < pages; i++)
        put16(&b, 0x8000);
    for (uint32_t i = 0; i < EXTRAS; i++)
        put16(&b, 0x3fff);
    return b;
}

static void test_extras(void)
{
    static uint8_t copy[BYTES];
    for (uint32_t page_size = 4; page_size <= 4096; page_size *= 32) {
        ms_arena arena = ms_arena_make(ms_arena_default((machsym_allocator){NULL, NULL, NULL}));
        bytes slide = slide_of_extras(page_size);
        bytes file = {NULL, 0, 0};
        ms_dc dc = open_slid(&slide, &file, &arena);
        CHECK_EQ(dc.damage.count, 0);
        work = 0;
        CHECK_EQ(ms_sl_read(&dc, 0x20000000, copy, BYTES), BYTES);
        CHECK(work < 2 * BYTES);
        bytes_free(&slide);
        bytes_free(&file);
        ms_arena_free(&arena);
    }
}

/* A page that no cache has is damage, and what needs it is not there. */
static void test_pages(void)
{
    static const uint32_t sizes[] = {0, 4096, MACHSYM_MAX_SLIDE_PAGE, MACHSYM_MAX_SLIDE_PAGE + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bool is_right = sizes[i] == 4096 || sizes[i] == MACHSYM_MAX_SLIDE_PAGE;
        ms_arena arena = ms_arena_make(ms_arena_default((machsym_allocator){NULL, NULL, NULL}));
        bytes slide = slide_of_extras(4096);
        bytes file = {NULL, 0, 0};
        uint8_t copy[8];
        patch(&slide, 4, sizes[i], 4);
        ms_dc dc = open_slid(&slide, &file, &arena);
        CHECK_EQ(dc.damage.count, !is_right);
        CHECK_EQ(ms_sl_read(&dc, 0x20000000, copy, 8), is_right ? 8 : 0);
        CHECK_EQ(ms_sl_read(&dc, 0x10000000, copy, 8), 8);
        bytes_free(&slide);
        bytes_free(&file);
        ms_arena_free(&arena);
    }
}

/* Version 2: a page with two chains. The bits are worked out by hand from the standard. The entry of the page
 * leads to a place of the list. Each entry of the list counts in fours. The last one has the highest bit. */
static void test_several_chains(void)
{
    enum { FIRST = 0x2002, COUNT = 0x2005 };
    static const struct {
        size_t at;
        uint64_t raw;
        uint64_t want;
    } places[] = {
        {8, 0x111, 0x111},                           /* of the list's begin, which no page has */
        {64, (uint64_t)2 << 40 | 0x100, 0x10000100}, /* first chain: the next place is 8 bytes on */
        {72, 0x200, 0x10000200},
        {128, 0x300, 0x10000300}, /* its end; second chain, the last one */
        {256, 0x400, 0x400},
        {512, (uint64_t)1 << 40, (uint64_t)1 << 40}, /* past the last one; in no chain */
    };
    ms_arena arena = ms_arena_make(ms_arena_default((machsym_allocator){NULL, NULL, NULL}));
    bytes slide = {NULL, 0, 0};
    bytes file = {NULL, 0, 0};
    uint8_t copy[4096];
    put32(&slide, 2);
    put32(&slide, 4096);
    put32(&slide, 40);
    put32(&slide, 1);
    put32(&slide, 42);
    put32(&slide, COUNT);
    put64(&slide, (uint64_t)0xff << 40);
    put64(&slide, 0x10000000);
    put16(&slide, 0x8000 | FIRST);
    for (unsigned i = 0; i < FIRST; i++)
        put16(&slide, 0x8000 | 8 / 4);
    put16(&slide, 64 / 4);
    put16(&slide, 0x8000 | 128 / 4);
    put16(&slide, 0x8000 | 256 / 4);
    ms_dc dc = open_slid(&slide, &file, &arena);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        patch(&file, 0x80 + 2 * 32 + places[i].at, places[i].raw, 8);
    CHECK_EQ(ms_sl_read(&dc, 0x20000000, copy, sizeof copy), sizeof copy);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        CHECK_EQ(ms_rd_raw_u64(copy + places[i].at), places[i].want);
    bytes_free(&slide);
    bytes_free(&file);
    ms_arena_free(&arena);
}

int main(void)
{
    test_several_chains();
    test_extras();
    test_pages();
    return test_done();
}
