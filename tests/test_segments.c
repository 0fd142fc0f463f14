/* The room segments, against the plain rule: of the ranges that hold an address the last one has it. */
#define TEST_ROOM <rooms/src/base/segments.h>
#include "test.h"

enum { MAX_PIECES = 40, SPACE = 64 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint32_t owner_by_rule(const ms_piece *pieces, size_t count, uint64_t addr)
{
    uint32_t owner = ms_SEG_NONE;
    for (size_t i = 0; i < count; i++) {
        if (addr >= pieces[i].lo && addr < pieces[i].hi)
            owner = pieces[i].owner;
    }
    return owner;
}

static ms_segs build(const ms_piece *pieces, size_t count, ms_arena *scratch, ms_arena *arena)
{
    ms_segs segs = {NULL, 0, arena};
    ms_seg_build(pieces, count, scratch, &segs);
    return segs;
}

/* Pieces at base + [0, 64): every address is compared, and that no two segments could be one. */
static void compare(const ms_piece *pieces, size_t count, uint64_t base)
{
    ms_arena scratch = ms_arena_make(ms_arena_default((machsym_allocator){NULL, NULL, NULL}));
    ms_arena arena = scratch;
    ms_segs segs = build(pieces, count, &scratch, &arena);
    size_t wrong = 0;
    for (uint64_t addr = base == 0 ? 0 : base - 1; addr < base + SPACE + 1; addr++)
        wrong += ms_seg_owner(segs.v, segs.count, addr) != owner_by_rule(pieces, count, addr);
    for (size_t i = 1; i < segs.count; i++)
        wrong += segs.v[i].lo <= segs.v[i - 1].lo || segs.v[i].owner == segs.v[i - 1].owner;
    if (segs.count > 0)
        wrong += segs.v[segs.count - 1].owner != ms_SEG_NONE;
    CHECK_EQ(wrong, 0);
    ms_arena_free(&scratch);
    ms_arena_free(&arena);
}

static void test_few(void)
{
    static const ms_piece nested[] = {{10, 50, 0}, {20, 40, 1}, {25, 30, 2}, {30, 35, 3}, {55, 60, 4}};
    static const ms_piece crossing[] = {{10, 30, 0}, {20, 40, 1}, {5, 15, 2}};
    static const ms_piece hidden[] = {{20, 30, 0}, {10, 40, 1}};
    static const ms_piece same[] = {{10, 20, 0}, {10, 20, 1}, {10, 20, 2}};
    static const ms_piece touching[] = {{10, 20, 7}, {20, 30, 7}, {30, 40, 8}};
    static const ms_piece zero[] = {{0, 5, 1}, {0, 3, 2}};
    compare(nested, 5, 0);
    compare(crossing, 3, 0);
    compare(hidden, 2, 0);
    compare(same, 3, 0);
    compare(touching, 3, 0);
    compare(zero, 2, 0);
    compare(nested, 0, 0);
}

static void test_random(void)
{
    test_begin();
    ms_piece pieces[MAX_PIECES];
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (unsigned round = 0; round < 3000; round++) {
        uint64_t base = round % 3 == 0 ? 0 : UINT64_C(0x100000000);
        size_t count = next_random(&state) % MAX_PIECES;
        for (size_t i = 0; i < count; i++) {
            uint64_t lo = next_random(&state) % SPACE;
            pieces[i].lo = base + lo;
            pieces[i].hi = base + lo + 1 + next_random(&state) % (SPACE - lo);
            pieces[i].owner = (uint32_t)(next_random(&state) % 6);
        }
        compare(pieces, count, base);
    }
    test_end("pieces by chance");
}

/* The end of the address space is an end like others. */
static void test_limits(void)
{
    static const ms_piece last[] = {{UINT64_MAX - 10, UINT64_MAX, 1}, {UINT64_MAX - 5, UINT64_MAX, 2}};
    ms_arena scratch = ms_arena_make(ms_arena_default((machsym_allocator){NULL, NULL, NULL}));
    ms_segs segs = build(last, 2, &scratch, &scratch);
    CHECK_EQ(ms_seg_owner(segs.v, segs.count, UINT64_MAX - 10), 1);
    CHECK_EQ(ms_seg_owner(segs.v, segs.count, UINT64_MAX - 1), 2);
    CHECK_EQ(ms_seg_owner(segs.v, segs.count, UINT64_MAX), ms_SEG_NONE);
    CHECK_EQ(ms_seg_owner(segs.v, segs.count, 0), ms_SEG_NONE);
    CHECK_EQ(ms_seg_find(segs.v, segs.count, 0), segs.count);
    ms_arena_free(&scratch);
}

int main(void)
{
    test_few();
    test_random();
    test_limits();
    return test_done();
}
