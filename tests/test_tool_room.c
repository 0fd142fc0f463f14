/* Memory for work that takes and gives back much (tool/base/room.h): parts of all sizes, given back in any order,
 * lie apart from each other, and what was given back is used again. */
#include "test.h"

#include "../tool/base/room.h"

#include <errno.h>
#include <pthread.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

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
    test_begin();
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
    test_end("parts taken and given back");
}

static bool lies_in(const taken *inner, const unsigned char *memory, size_t size)
{
    return inner->memory >= memory && inner->memory + inner->size <= memory + size;
}

/* What was given back is there for smaller parts, as many as it has room for. When all of them are back, it
 * is whole again. */
static void test_reuse(const machsym_allocator *allocator)
{
    taken first;
    taken half;
    taken third;
    take(allocator, &first, LARGE, 1);
    unsigned char *where = first.memory;
    give_back(allocator, &first);
    take(allocator, &third, LARGE / 3, 2);
    take(allocator, &half, LARGE / 2, 3);
    CHECK(lies_in(&third, where, LARGE) && lies_in(&half, where, LARGE));
    give_back(allocator, &third);
    give_back(allocator, &half);
    take(allocator, &first, LARGE, 4);
    CHECK(first.memory == where);
    give_back(allocator, &first);
}

/* Of two free parts that have room the one is taken that was taken first, from its end on: what is given back
 * soon is used again, and what stays lies together. */
static void test_last(const machsym_allocator *allocator)
{
    taken parts[4];
    size_t sizes[4] = {6 * SMALL, SMALL, 2 * SMALL, SMALL};
    taken one;
    for (size_t i = 0; i < 4; i++)
        take(allocator, &parts[i], sizes[i], (unsigned char)i);
    unsigned char *end = parts[0].memory + parts[0].size;
    for (size_t i = 1; i < 4; i++)
        CHECK(parts[i].memory < parts[i - 1].memory);
    give_back(allocator, &parts[0]);
    give_back(allocator, &parts[2]);
    take(allocator, &one, 2 * SMALL, 9);
    CHECK(one.memory + one.size == end);
    give_back(allocator, &one);
    give_back(allocator, &parts[1]);
    give_back(allocator, &parts[3]);
}

/* A room that its owner leaves stays until all is given back. */
static void test_leave(void)
{
    room *r = room_open();
    machsym_allocator allocator = room_allocator(r);
    taken parts[2];
    take(&allocator, &parts[0], LARGE, 1);
    take(&allocator, &parts[1], 100, 2);
    uintptr_t page = (uintptr_t)parts[0].memory / 65536 * 65536 + 65536;
    room_leave(r);
    give_back(&allocator, &parts[0]);
    CHECK(msync((void *)page, 4096, MS_ASYNC) == 0);
    give_back(&allocator, &parts[1]);
    CHECK(msync((void *)page, 4096, MS_ASYNC) != 0 && errno == ENOMEM);
    room_leave(room_open());
    room_leave(NULL);
}

typedef struct taker {
    const machsym_allocator *allocator;
    unsigned char mark; /* of this thread */
} taker;

/* Returns NULL if all memory was given and no other thread wrote to it. */
static void *take_many(void *user)
{
    const taker *own = user;
    const machsym_allocator *allocator = own->allocator;
    unsigned char *parts[8] = {NULL};
    bool ok = true;
    for (size_t i = 0; i < 200 * ROUNDS && ok; i++) {
        unsigned char **p = &parts[i * 5 % 8];
        size_t size = SMALL + i * 5 % 8 * SMALL;
        if (*p == NULL) {
            *p = allocator->alloc(allocator->user, size);
            ok = *p != NULL;
            if (ok)
                (*p)[0] = (*p)[size - 1] = own->mark;
        } else {
            ok = (*p)[0] == own->mark && (*p)[size - 1] == own->mark;
            allocator->free(allocator->user, *p, size);
            *p = NULL;
        }
    }
    return ok ? NULL : user;
}

/* Several threads take from one room. */
static void test_threads(void)
{
    pthread_t threads[4];
    taker takers[4];
    void *failed;
    room *r = room_open();
    machsym_allocator allocator = room_allocator(r);
    for (size_t i = 0; i < 4; i++) {
        takers[i] = (taker){&allocator, (unsigned char)(i + 1)};
        CHECK(pthread_create(&threads[i], NULL, take_many, &takers[i]) == 0);
    }
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], &failed) == 0 && failed == NULL);
    room_close(r);
}

/* An array that grows keeps what is in it, and is memory of its room: all of it is free when it was given back. */
static void test_double(room *r)
{
    size_t cap = 65536, count = 0; /* large enough to be a piece of the room */
    uint32_t *v = room_take(r, cap * sizeof *v);
    for (; count < 500000; count++) {
        if (count == cap)
            v = room_double(r, v, &cap, sizeof *v);
        v[count] = (uint32_t)(count * 7);
    }
    CHECK_EQ(cap, 524288);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += v[i] != i * 7;
    CHECK_EQ(wrong, 0);
    room_give(r, v, cap * sizeof *v);
}

static void in_new_room(void (*test)(const machsym_allocator *allocator))
{
    room *r = room_open();
    machsym_allocator allocator = room_allocator(r);
    test(&allocator);
    room_close(r);
}

int main(void)
{
    room *r = room_open();
    if (r == NULL) { /* on this system the C library has the memory */
        CHECK(room_allocator(r).alloc == NULL);
        return test_done();
    }
    machsym_allocator allocator = room_allocator(r);
    test_parts(&allocator);
    test_double(r);
    test_double(NULL); /* the C library's */
    CHECK(allocator.alloc(allocator.user, SIZE_MAX - 100) == NULL);
    CHECK(allocator.alloc(allocator.user, SIZE_MAX / 2) == NULL);
    room_close(r);
    room_close(NULL);
    in_new_room(test_reuse);
    in_new_room(test_last);
    test_leave();
    test_threads();
    return test_done();
}
