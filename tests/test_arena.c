/* The room memory: chunks, growth, alignment, failure that sticks. */
#undef MACHSYM_ARENA_CHUNK /* a sanitizer's build gives each object an allocation of its own */
#define MACHSYM_ARENA_CHUNK 262144
#define TEST_ROOM           "../src/base/memory.h" /* compiled here, with that */
#include "test.h"

/* Counts what is out; fails from the n-th allocation on. */
typedef struct counter {
    size_t out;
    size_t bytes_out;
    size_t calls;
    size_t fail_at; /* 0: never */
    bool wrong_size;
} counter;

static void *counted_alloc(void *user, size_t size)
{
    counter *c = (counter *)user;
    c->calls++;
    if (c->fail_at != 0 && c->calls >= c->fail_at)
        return NULL;
    size_t *block = (size_t *)malloc(size + 16);
    if (block == NULL)
        return NULL;
    *block = size;
    c->out++;
    c->bytes_out += size;
    return (char *)block + 16;
}

static void counted_free(void *user, void *ptr, size_t size)
{
    counter *c = (counter *)user;
    void *block = (char *)ptr - 16;
    size_t was;
    memcpy(&was, block, sizeof was);
    c->wrong_size = c->wrong_size || was != size;
    c->out--;
    c->bytes_out -= size;
    free(block);
}

static ms_arena arena_of(counter *c)
{
    machsym_allocator allocator = {counted_alloc, counted_free, c};
    return ms_arena_make(allocator);
}

static void test_objects(void)
{
    counter c = {0, 0, 0, 0, false};
    ms_arena arena = arena_of(&c);
    uint8_t *v[400];
    for (size_t i = 0; i < 400; i++) {
        v[i] = (uint8_t *)ms_arena_alloc(&arena, i + 1, 7);
        CHECK(v[i] != NULL && (uintptr_t)v[i] % 16 == 0);
        memset(v[i], (int)(i & 0xff), (i + 1) * 7);
    }
    size_t wrong = 0;
    for (size_t i = 0; i < 400; i++) {
        for (size_t j = 0; j < (i + 1) * 7; j++)
            wrong += v[i][j] != (i & 0xff);
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(arena.total, c.bytes_out);
    CHECK(c.calls < 20);
    uint8_t *zeroed = (uint8_t *)ms_arena_zeroed(&arena, 1000, 3);
    for (size_t j = 0; j < 3000; j++)
        wrong += zeroed[j] != 0;
    CHECK_EQ(wrong, 0);
    ms_arena_free(&arena);
    CHECK_EQ(c.out, 0);
    CHECK_EQ(c.bytes_out, 0);
    CHECK(!c.wrong_size);
}

/* reset keeps the chunks, so that the same work needs the allocator no more, nor does other work of that
 * size. */
static void test_reset(void)
{
    counter c = {0, 0, 0, 0, false};
    ms_arena arena = arena_of(&c);
    for (unsigned i = 0; i < 10; i++)
        ms_arena_alloc(&arena, 1, MACHSYM_ARENA_CHUNK / 2);
    CHECK(c.out > 1);
    size_t calls = c.calls;
    for (unsigned round = 0; round < 3; round++) {
        ms_arena_reset(&arena);
        CHECK(arena.live == 0 && arena.total == c.bytes_out);
        for (unsigned i = 0; i < 10; i++)
            CHECK(ms_arena_alloc(&arena, 1, MACHSYM_ARENA_CHUNK / 2) != NULL);
    }
    CHECK_EQ(c.calls, calls);
    CHECK(arena.live > 4 * (size_t)MACHSYM_ARENA_CHUNK && arena.live <= arena.total);
    ms_arena_free(&arena);
    ms_arena_reset(&arena);
    CHECK_EQ(c.out, 0);
    CHECK(!c.wrong_size);
}

/* Spare chunks that are too small for an object go back to the allocator when a larger one is taken. */
static void test_spares(void)
{
    counter c = {0, 0, 0, 0, false};
    ms_arena arena = arena_of(&c);
    for (size_t size = MACHSYM_ARENA_CHUNK; size <= 16 * (size_t)MACHSYM_ARENA_CHUNK; size *= 2) {
        CHECK(ms_arena_alloc(&arena, size, 1) != NULL);
        CHECK_EQ(c.out, 1);
        CHECK_EQ(arena.total, c.bytes_out);
        ms_arena_reset(&arena);
    }
    size_t calls = c.calls;
    CHECK(ms_arena_alloc(&arena, 1, MACHSYM_ARENA_CHUNK) != NULL);
    CHECK(c.calls == calls && c.out == 1); /* a spare one that is large enough stays */
    ms_arena_free(&arena);
    CHECK_EQ(c.out, 0);
}

static void test_grow(void)
{
    counter c = {0, 0, 0, 0, false};
    ms_arena arena = arena_of(&c);
    uint32_t *v = NULL;
    uint64_t *w = NULL;
    size_t cap = 0;
    size_t w_cap = 0;
    for (uint32_t i = 0; i < 50000; i++) {
        v = (uint32_t *)ms_arena_grow(&arena, v, i, &cap, sizeof *v);
        v[i] = i;
        if (i % 3 == 0) {
            w = (uint64_t *)ms_arena_grow(&arena, w, i / 3, &w_cap, sizeof *w);
            w[i / 3] = ~(uint64_t)i;
        }
    }
    size_t wrong = 0;
    for (uint32_t i = 0; i < 50000; i++)
        wrong += v[i] != i || (i % 3 == 0 && w[i / 3] != ~(uint64_t)i);
    CHECK_EQ(wrong, 0);
    CHECK(cap >= 50000 && w_cap >= 16667);
    ms_arena_free(&arena);

    /* the newest object of a chunk grows where it is */
    arena = arena_of(&c);
    cap = 0;
    v = (uint32_t *)ms_arena_grow(&arena, NULL, 0, &cap, sizeof *v);
    uint32_t *before = v;
    for (uint32_t i = 0; i < 1000; i++)
        v = (uint32_t *)ms_arena_grow(&arena, v, i, &cap, sizeof *v);
    CHECK(v == before);
    ms_arena_free(&arena);
    CHECK_EQ(c.out, 0);

    /* one that grew alone leaves chunks that can go */
    arena = arena_of(&c);
    v = NULL;
    cap = 0;
    wrong = 0;
    for (uint32_t i = 0; i < 1000000; i++) {
        v = (uint32_t *)ms_arena_grow(&arena, v, i, &cap, sizeof *v);
        ms_arena_drop_older(&arena);
        wrong += arena.total != arena.head->size || arena.live != arena.total;
        v[i] = i;
    }
    for (uint32_t i = 0; i < 1000000; i++)
        wrong += v[i] != i;
    CHECK_EQ(wrong, 0);
    ms_arena_free(&arena);
    ms_arena_drop_older(&arena);
    CHECK_EQ(c.out, 0);
}

static void test_failure(void)
{
    counter c = {0, 0, 0, 2, false};
    ms_arena arena = arena_of(&c);
    size_t cap = 0;
    CHECK(ms_arena_alloc(&arena, 1, 100) != NULL);
    CHECK(!arena.oom && !arena.failed);
    CHECK(ms_arena_alloc(&arena, 3, MACHSYM_ARENA_CHUNK) == NULL);
    CHECK(arena.oom && arena.failed);
    CHECK(ms_arena_alloc(&arena, 1, 1) == NULL); /* until a reset */
    ms_arena_reset(&arena);
    CHECK(!arena.oom && arena.failed); /* that something was missing is not forgotten */
    CHECK(ms_arena_alloc(&arena, 1, 1) != NULL);
    ms_arena_free(&arena);
    CHECK(!arena.oom && !arena.failed);
    CHECK_EQ(c.out, 0);

    counter d = {0, 0, 0, 0, false};
    arena = arena_of(&d);
    CHECK(ms_arena_alloc(&arena, SIZE_MAX / 2, 3) == NULL);
    CHECK(arena.oom && d.calls == 0);
    ms_arena_free(&arena);
    arena = arena_of(&d);
    cap = SIZE_MAX / 8;
    CHECK(ms_arena_grow(&arena, NULL, cap, &cap, 16) == NULL);
    CHECK(arena.oom && d.calls == 0);
    ms_arena_free(&arena);

    /* an array that cannot grow stays as it was */
    counter e = {0, 0, 0, 2, false};
    arena = arena_of(&e);
    cap = 0;
    uint64_t *v = NULL;
    uint64_t *next = NULL;
    size_t count = 0;
    while ((next = (uint64_t *)ms_arena_grow(&arena, v, count, &cap, sizeof *v)) != NULL) {
        v = next;
        v[count] = count;
        count++;
    }
    CHECK(arena.oom && count >= 32 && v[0] == 0 && v[count - 1] == count - 1);
    ms_arena_free(&arena);
    CHECK_EQ(e.out, 0);
}

int main(void)
{
    test_objects();
    test_reset();
    test_spares();
    test_grow();
    test_failure();
    return test_done();
}
