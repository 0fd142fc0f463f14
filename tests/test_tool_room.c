/* The memory of a session of many lookups (tool/room.h): parts of all sizes, given back in any order, lie apart from
 * each other, and what was given back is used again. */
#include "test.h"

#include "../tool/room.h"

enum { PARTS = 400, ROUNDS = 4000, ALIGNMENT = 16, SMALL = 1 << 17, LARGE = 33 << 20 };

typedef struct taken {
    unsigned char *memory; /* NULL: given back */
    size_t size;
    unsigned char mark;
} taken;

static uint32_t any; /* numbers that follow each other without order, the same in each run */

static uint32_t next_any(void)
{
    any = any * 1664525u + 1013904223u;
    return any >> 8;
}

/* Most parts are those of an arena, from 1 byte to some hundred KB. */
static size_t size_of(uint32_t number)
{
    return number % 8 != 0 ? 1 + number % 5000 : SMALL - 20 + number % (3 * SMALL);
}

static bool is_whole(const taken *t)
{
    return t->memory[0] == t->mark && t->memory[t->size / 2] == t->mark && t->memory[t->size - 1] == t->mark;
}

static void take(const machsym_allocator *from, taken *t, size_t size, unsigned char mark)
{
    t->memory = from->alloc(from->user, size);
    t->size = size;
    t->mark = mark;
    if (t->memory == NULL)
        return;
    CHECK((uintptr_t)t->memory % ALIGNMENT == 0);
    memset(t->memory, mark, size);
}

static void give_back(const machsym_allocator *to, taken *t)
{
    CHECK(is_whole(t));
    to->free(to->user, t->memory, t->size);
    t->memory = NULL;
}

static void test_parts(const machsym_allocator *allocator)
{
    static taken parts[PARTS];
    for (size_t i = 0; i < ROUNDS; i++) {
        taken *t = &parts[next_any() % PARTS];
        if (t->memory != NULL)
            give_back(allocator, t);
        else
            take(allocator, t, size_of(next_any()), (unsigned char)i);
    }
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].memory != NULL)
            give_back(allocator, &parts[i]);
}

/* What was given back is there for the next part of its size or a little less, not for one of half its size. */
static void test_reuse(const machsym_allocator *allocator)
{
    taken first;
    taken same;
    taken half;
    take(allocator, &first, LARGE, 1);
    unsigned char *where = first.memory;
    give_back(allocator, &first);
    take(allocator, &half, LARGE / 3, 2);
    CHECK(half.memory != where);
    take(allocator, &same, LARGE - 100, 3);
    CHECK(same.memory == where);
    give_back(allocator, &same);
    give_back(allocator, &half);
}

int main(void)
{
    room *r = room_open();
    if (r == NULL) { /* no large pages on this system: the C library has the memory */
        CHECK(room_allocator(r).alloc == NULL);
        return test_done();
    }
    machsym_allocator allocator = room_allocator(r);
    test_parts(&allocator);
    test_reuse(&allocator);
    CHECK(allocator.alloc(allocator.user, SIZE_MAX - 100) == NULL);
    CHECK(allocator.alloc(allocator.user, SIZE_MAX / 2) == NULL);
    room_close(r);
    room_close(NULL);
    return test_done();
}
