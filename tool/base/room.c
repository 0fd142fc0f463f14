/* Memory for work that takes and gives back much; see room.h. */
#include "room.h"
#include "../../report/base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#ifdef __linux__

/* A piece is address space; only what is touched of it becomes memory. The C library takes care of parts that
 * are smaller than the least. Large pages (MADV_HUGEPAGE) save a tenth of the time where the machine has
 * memory at hand. A virtual machine whose host took memory back pays for each of them, up to as much as all
 * the work. */
enum { PIECE = 32 << 20, LEAST_PART = 1 << 17, ALIGNED = 16 };

/* The head of a part that was given out, or of a free one; its memory begins ALIGNED bytes after. */
typedef struct part {
    struct part *next; /* of the free ones, by address */
    size_t size;       /* with this head */
} part;

typedef struct piece {
    struct piece *next;
    void *memory;
    size_t size;
} piece;

struct room {
    pthread_mutex_t lock; /* guards what is below it */
    piece *pieces;
    part *free;    /* by address; neighbours are one part */
    size_t taken;  /* how often something was taken that is not back yet */
    bool was_left; /* by its owner: freed when all is back */
};

static bool room_ends_at(const part *p, const part *next)
{
    return p != NULL && next != NULL && (const char *)p + p->size == (const char *)next;
}

/* Puts a part among the free ones, and joins it with its neighbours. */
static void room_set_free(room *r, part *back)
{
    part *before = NULL;
    part **link = &r->free;
    for (; *link != NULL && (uintptr_t)*link < (uintptr_t)back; link = &(*link)->next)
        before = *link;
    back->next = *link;
    *link = back;
    if (room_ends_at(back, back->next)) {
        back->size += back->next->size;
        back->next = back->next->next;
    }
    if (room_ends_at(before, back)) {
        before->size += back->size;
        before->next = back->next;
    }
}

static bool room_add_piece(room *r, size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    piece *p = mem_alloc(sizeof *p);
    *p = (piece){r->pieces, memory, size};
    r->pieces = p;
    part *all = memory;
    all->size = size;
    room_set_free(r, all);
    return true;
}

/* The end of the last part that has room; NULL when there is none. So what is given back soon lies above what
 * stays, and the first piece, which the system puts above later ones, is used before them. */
static part *room_take_free(room *r, size_t size)
{
    part **last = NULL;
    for (part **link = &r->free; *link != NULL; link = &(*link)->next)
        last = (*link)->size >= size ? link : last;
    if (last == NULL)
        return NULL;
    part *found = *last;
    if (found->size - size < LEAST_PART) {
        *last = found->next;
        return found;
    }
    found->size -= size;
    part *taken = (part *)(void *)((char *)found + found->size);
    taken->size = size;
    return taken;
}

static void *room_take_part(room *r, size_t size)
{
    if (size > SIZE_MAX - 2 * PIECE)
        return NULL;
    size = (size + 2 * ALIGNED - 1) / ALIGNED * ALIGNED;
    part *found = room_take_free(r, size);
    if (found == NULL && (room_add_piece(r, size < PIECE ? (size_t)PIECE : size) || room_add_piece(r, size)))
        found = room_take_free(r, size);
    return found != NULL ? (char *)found + ALIGNED : NULL;
}

static void *room_take_as_user(void *user, size_t size)
{
    room *r = user;
    pthread_mutex_lock(&r->lock);
    void *memory = size < LEAST_PART ? malloc(size) : room_take_part(r, size);
    r->taken += memory != NULL;
    pthread_mutex_unlock(&r->lock);
    return memory;
}

static void room_give_back(void *user, void *memory, size_t size)
{
    room *r = user;
    pthread_mutex_lock(&r->lock);
    if (size < LEAST_PART)
        free(memory);
    else
        room_set_free(r, (part *)(void *)((char *)memory - ALIGNED));
    bool was_last = --r->taken == 0 && r->was_left;
    pthread_mutex_unlock(&r->lock);
    if (was_last)
        room_close(r);
}

room *room_open(void)
{
    room *r = mem_alloc(sizeof *r);
    memset(r, 0, sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

machsym_allocator room_allocator(room *r)
{
    return (machsym_allocator){room_take_as_user, room_give_back, r};
}

void room_close(room *r)
{
    while (r != NULL && r->pieces != NULL) {
        piece *p = r->pieces;
        r->pieces = p->next;
        munmap(p->memory, p->size);
        free(p);
    }
    if (r != NULL)
        pthread_mutex_destroy(&r->lock);
    free(r);
}

void room_leave(room *r)
{
    if (r == NULL)
        return;
    pthread_mutex_lock(&r->lock);
    r->was_left = true;
    bool is_empty = r->taken == 0;
    pthread_mutex_unlock(&r->lock);
    if (is_empty)
        room_close(r);
}

void *room_take(room *r, size_t size)
{
    void *memory = r != NULL ? room_take_as_user(r, size) : mem_alloc(size);
    if (memory == NULL) {
        fprintf(stderr, "machsym: no memory left (%zu bytes wanted)\n", size);
        exit(1);
    }
    return memory;
}

void room_give(room *r, void *memory, size_t size)
{
    if (r != NULL && memory != NULL)
        room_give_back(r, memory, size);
    else
        free(memory);
}

#else

room *room_open(void)
{
    return NULL;
}

machsym_allocator room_allocator(room *r)
{
    (void)r;
    return (machsym_allocator){NULL, NULL, NULL}; /* the C library's */
}

void room_close(room *r)
{
    (void)r;
}

void room_leave(room *r)
{
    (void)r;
}

void *room_take(room *r, size_t size)
{
    (void)r;
    return mem_alloc(size);
}

void room_give(room *r, void *memory, size_t size)
{
    (void)r;
    (void)size;
    free(memory);
}

#endif

void *room_double(room *r, void *array, size_t *cap, size_t size)
{
    size_t before = *cap * size;
    if (r == NULL)
        return mem_double(array, cap, size);
    *cap *= 2;
    void *more = room_take(r, *cap * size);
    memcpy(more, array, before);
    room_give(r, array, before);
    return more;
}
