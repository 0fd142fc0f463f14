/* Copies of a shared cache's data: each version of slide info, by chance, against a writer after dyld_cache_format.h; slide
 * info that is made to cost much takes no more steps than the copy has bytes. */
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

/* ---- Slide info by chance, of each version, written after dyld_cache_format.h ---- */

typedef struct form_of {
    uint32_t version;
    unsigned size;      /* of a pointer */
    unsigned align;     /* of its place */
    uint64_t mask;      /* versions 2 and 4: the bits that lead on, as the slide info tells them */
    unsigned shift;     /* where these bits begin */
    unsigned unit;      /* what they count in */
    uint64_t most;      /* the largest number they hold */
    uint32_t none;      /* what a page without pointers has for its start */
    uint64_t value_add; /* what is added to a place's value, as the slide info tells it */
} form_of;

static const form_of forms[] = {
    {2, 8, 4, 0x00ffff0000000000, 40, 4, 0xffff, 0x4000, 0},
    {2, 8, 4, 0x0000ff0000000000, 40, 4, 0xff, 0x4000, 0x180000000},
    {2, 4, 4, 0xff000000, 24, 4, 0xff, 0x4000, 0x1a000000},
    {3, 8, 8, 0, 51, 8, 0x7ff, 0xffff, 0x180000000},
    {4, 4, 4, 0xc0000000, 30, 4, 3, 0xffff, 0x1a000000},
    {5, 8, 8, 0, 52, 8, 0x7ff, 0xffff, 0x180000000},
};

typedef struct chance {
    uint64_t state;
    const form_of *form;
    uint32_t page_size;
    bytes starts;
    bytes extras;
    uint8_t raw[BYTES];
    uint8_t want[BYTES];
} chance;

static uint64_t below(chance *c, uint64_t n)
{
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return (c->state >> 16) % n;
}

/* A value that a place may have, and the address or number that dyld leaves there. */
static uint64_t choose_value(chance *c, uint64_t *want)
{
    uint64_t offset = 0x10000 + below(c, 0xff0000);
    const form_of *f = c->form;
    switch (f->version) {
    case 2: *want = below(c, 8) == 0 ? 0 : offset + f->value_add; return *want == 0 ? 0 : offset;
    case 3:
        if (below(c, 2) == 0) { /* signed: its diversity and key go */
            offset |= below(c, 256) << 24;
            *want = offset + f->value_add;
            return offset | below(c, 1u << 19) << 32 | (uint64_t)1 << 63;
        }
        *want = offset | below(c, 1u << 19) << 24; /* a tag of 8 bits goes */
        return *want | below(c, 256) << 43;
    case 4:
        switch (below(c, 4)) {
        case 0: return *want = 1 + below(c, 0x7fff);
        case 1: *want = 0xffff8000 + below(c, 0x8000); return *want & 0x3fffffff;
        default: *want = offset + f->value_add; return offset;
        }
    default: /* a tag of 8 bits goes, and what signs it */
        offset |= below(c, 1024) << 24;
        *want = offset + f->value_add;
        return offset | below(c, 256) << 34 | below(c, 2) << 63;
    }
}

static void put_place(chance *c, uint32_t at, uint64_t on)
{
    uint64_t want;
    uint64_t raw = choose_value(c, &want) | on << c->form->shift;
    for (unsigned i = 0; i < c->form->size; i++) {
        c->raw[at + i] = (uint8_t)(raw >> (8 * i));
        c->want[at + i] = (uint8_t)(want >> (8 * i));
    }
}

/* A chain from a place of a page on. Returns where the next one may begin. */
static uint32_t put_chain(chance *c, uint32_t at, uint32_t end)
{
    const form_of *f = c->form;
    for (;;) {
        uint64_t on = f->size / f->unit + below(c, below(c, 2) == 0   ? 3
                                                   : below(c, 8) == 0 ? c->page_size / f->unit
                                                                      : 60);
        on = on == 0 ? 1 : on > f->most ? f->most : on;
        uint64_t next = at + on * f->unit;
        if (next + f->size > end || below(c, 30) == 0) {
            put_place(c, at, 0);
            return at + f->size;
        }
        put_place(c, at, on);
        at = (uint32_t)next;
    }
}

static void put_page(chance *c, uint32_t lo)
{
    const form_of *f = c->form;
    uint32_t end = lo + c->page_size;
    uint32_t at = lo + f->align * (uint32_t)below(c, 12);
    if (below(c, 4) == 0) {
        put16(&c->starts, f->none);
        return;
    }
    if ((f->version != 2 && f->version != 4) || below(c, 3) == 0) {
        put16(&c->starts, (at - lo) / (f->version == 3 || f->version == 5 ? 1 : 4));
        put_chain(c, at, end);
        return;
    }
    put16(&c->starts, 0x8000 | c->extras.len / 2);
    for (bool is_last = false; !is_last;) {
        uint32_t begin = at;
        at = put_chain(c, at, end) + f->align * (uint32_t)below(c, 20);
        is_last = at + f->size > end || below(c, 6) == 0;
        put16(&c->extras, (begin - lo) / 4 | (is_last ? 0x8000 : 0));
    }
}

static bytes slide_by_chance(chance *c)
{
    bytes b = {NULL, 0, 0};
    const form_of *f = c->form;
    bool has_extras = f->version == 2 || f->version == 4;
    if (f->version == 4 && below(c, 2) == 0) /* more than version 2 can number */
        put_zeros(&c->extras, 2 * 0x4000);
    for (unsigned i = 0; i < BYTES; i++)
        c->raw[i] = c->want[i] = (uint8_t)below(c, 256);
    for (uint32_t lo = 0; lo < BYTES; lo += c->page_size)
        put_page(c, lo);
    put32(&b, f->version);
    put32(&b, c->page_size);
    if (has_extras) {
        put32(&b, 40);
        put32(&b, c->starts.len / 2);
        put32(&b, 40 + c->starts.len);
        put32(&b, c->extras.len / 2);
        put64(&b, f->mask);
    } else {
        put32(&b, c->starts.len / 2);
        put32(&b, 0);
    }
    put64(&b, f->value_add);
    put_bytes(&b, &c->starts);
    put_bytes(&b, &c->extras);
    return b;
}

/* Every piece of a mapping has the pointers that were put there, whatever its ends, and all other bytes as they are. */
static void test_by_chance(void)
{
    static chance c;
    static uint8_t copy[BYTES + 1];
    c.state = 33;
    for (unsigned round = 0; round < 240; round++) {
        ms_arena arena = ms_arena_make(ms_arena_default((machsym_allocator){NULL, NULL, NULL}));
        bytes file = {NULL, 0, 0};
        unsigned wrong = 0;
        c.form = &forms[round % (sizeof forms / sizeof forms[0])];
        c.page_size = 256u << below(&c, 7);
        bytes slide = slide_by_chance(&c);
        ms_dc dc = open_slid(&slide, &file, &arena);
        memcpy(file.v + 0x80 + 2 * 32, c.raw, BYTES);
        CHECK_EQ(dc.damage.count, 0);
        for (unsigned i = 0; i < 40; i++) {
            size_t lo = below(&c, BYTES - 8) & ~(uint64_t)7; /* no pointer of a page before it reaches here */
            size_t len = 1 + below(&c, i % 2 == 0 ? 64 : BYTES);
            len = len > BYTES - lo ? BYTES - lo : len;
            copy[len] = 0x5a; /* nothing is written past what is asked for */
            wrong +=
                ms_sl_read(&dc, 0x20000000 + lo, copy, len) != len || memcmp(copy, c.want + lo, len) != 0;
            wrong += copy[len] != 0x5a;
        }
        if (wrong != 0)
            printf("version %u, pages of %u bytes:\n", (unsigned)c.form->version, (unsigned)c.page_size);
        CHECK_EQ(wrong, 0);
        bytes_free(&slide);
        bytes_free(&file);
        bytes_free(&c.starts);
        bytes_free(&c.extras);
        memset(&c.starts, 0, sizeof c.starts);
        memset(&c.extras, 0, sizeof c.extras);
        ms_arena_free(&arena);
    }
}

int main(void)
{
    test_by_chance();
    test_several_chains();
    test_extras();
    test_pages();
    return test_done();
}
