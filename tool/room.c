/* Memory for a session of many lookups; see room.h. */
#include "room.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#ifdef MADV_HUGEPAGE

/* A piece is address space; only what is touched of it becomes memory. The C library takes care of parts that
 * are smaller than the least. */
enum { PIECE = 32 << 20, LEAST_PART = 1 << 17, LARGE_PAGE = 2 << 20, ALIGNED = 16 };

/* The head of a part that was given out, or of a free one; its memory begins ALIGNED bytes behind. */
typedef struct part {
    struct part *next; /* of the free ones */
    size_t size;       /* with this head */
} part;

typedef struct piece {
    struct piece *next;
    char *memory;
    size_t size;
    size_t used;
} piece;

struct room {
    piece *pieces; /* parts come from the first one */
    part *free;
};

void room_enlarge_pages(void *memory, size_t size)
{
    size_t skip = (LARGE_PAGE - (uintptr_t)memory % LARGE_PAGE) % LARGE_PAGE;
    if (size >= skip + LARGE_PAGE)
        madvise((char *)memory + skip, (size - skip) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
}

static piece *add_piece(room *r, size_t size)
{
    piece *p = tool_alloc(sizeof *p);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        free(p);
        return NULL;
    }
    room_enlarge_pages(memory, size);
    *p = (piece){r->pieces, memory, size, 0};
    r->pieces = p;
    return p;
}

/* A free part that wastes at most half of itself; NULL when there is none. */
static part *take_free(room *r, size_t size)
{
    for (part **link = &r->free; *link != NULL; link = &(*link)->next) {
        part *found = *link;
        if (found->size >= size && found->size / 2 <= size) {
            *link = found->next;
            return found;
        }
    }
    return NULL;
}

static void *take(void *user, size_t size)
{
    room *r = user;
    if (size < LEAST_PART)
        return malloc(size);
    if (size > SIZE_MAX - LARGE_PAGE)
        return NULL;
    size = (size + 2 * ALIGNED - 1) / ALIGNED * ALIGNED;
    part *found = take_free(r, size);
    piece *p = r->pieces;
    if (found == NULL) {
        if (p == NULL || p->size - p->used < size)
            p = size < PIECE ? add_piece(r, PIECE) : NULL;
        if (p == NULL)
            p = add_piece(r, size);
        if (p == NULL)
            return NULL;
        found = (part *)(void *)(p->memory + p->used);
        found->size = size;
        p->used += size;
    }
    return (char *)found + ALIGNED;
}

static void give_back(void *user, void *memory, size_t size)
{
    room *r = user;
    if (size < LEAST_PART) {
        free(memory);
        return;
    }
    part *back = (part *)(void *)((char *)memory - ALIGNED);
    back->next = r->free;
    r->free = back;
}

room *room_open(void)
{
    room *r = tool_alloc(sizeof *r);
    memset(r, 0, sizeof *r);
    return r;
}

machsym_allocator room_allocator(room *r)
{
    return (machsym_allocator){take, give_back, r};
}

void room_close(room *r)
{
    while (r != NULL && r->pieces != NULL) {
        piece *p = r->pieces;
        r->pieces = p->next;
        munmap(p->memory, p->size);
        free(p);
    }
    free(r);
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

void room_enlarge_pages(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

#endif
