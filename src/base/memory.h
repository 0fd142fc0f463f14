#ifndef ms_ROOM_base_memory
#define ms_ROOM_base_memory
#include "../api/options.h"
#include "../api/api.h"
#include "bytes.h"

/* ==== >>memory =============================================================================================
 * Job:    gives out memory from chunks of the user's allocator, all of it freed together.
 * Offers: ms_arena, ms_arena_alloc, ms_arena_grow, ms_arena_keep, ms_arena_reserve,
 *         ms_arena_drop_older, ms_arena_take_all.
 * Never:  frees a single object; loses a failure: a failed allocation sets oom, which callers check. */

#ifndef MACHSYM_NO_OS
#include <stdlib.h>

static void *ms_arena_malloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void ms_arena_libc_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}
#endif

/* The head of a block from the allocator; its memory follows. */
typedef struct ms_arena_chunk {
    struct ms_arena_chunk *next;
    size_t size; /* with this head */
    size_t used;
    size_t unused_padding;
} ms_arena_chunk;

typedef struct ms_arena {
    machsym_allocator allocator;
    ms_arena_chunk *head;  /* the one in use; older ones after it */
    ms_arena_chunk *spare; /* empty ones, from resets */
    size_t total;          /* bytes taken from the allocator */
    size_t live;           /* bytes of the chunks that hold objects */
    bool oom;              /* sticky, until a reset */
    bool failed;           /* the same, but a reset keeps it */
} ms_arena;

static machsym_allocator ms_arena_default(machsym_allocator allocator)
{
#ifndef MACHSYM_NO_OS
    if (allocator.alloc == NULL) {
        allocator.alloc = ms_arena_malloc;
        allocator.free = ms_arena_libc_free;
        allocator.user = NULL;
    }
#endif
    return allocator;
}

static ms_arena ms_arena_make(machsym_allocator allocator)
{
    ms_arena arena;
    ms_zero(&arena, sizeof arena);
    arena.allocator = allocator;
    return arena;
}

/* Remembers that memory was short elsewhere too. The arena itself goes on giving out memory. */
static void ms_arena_admit(ms_arena *arena, bool lacked)
{
    arena->failed |= lacked;
}

/* Forgets all objects and keeps the chunks for the next ones. */
static void ms_arena_reset(ms_arena *arena)
{
    while (arena->head != NULL) {
        ms_arena_chunk *chunk = arena->head;
        arena->head = chunk->next;
        chunk->next = arena->spare;
        chunk->used = sizeof *chunk;
        arena->spare = chunk;
    }
    arena->live = 0;
    arena->oom = false;
}

/* Gives the spare chunks back to the allocator. */
static void ms_arena_drop_spares(ms_arena *arena)
{
    while (arena->spare != NULL) {
        ms_arena_chunk *chunk = arena->spare;
        arena->spare = chunk->next;
        arena->total -= chunk->size;
        arena->allocator.free(arena->allocator.user, chunk, chunk->size);
    }
}

static void ms_arena_free(ms_arena *arena)
{
    ms_arena_reset(arena);
    ms_arena_drop_spares(arena);
    arena->failed = false;
}

/* Takes over all objects of another arena, which is empty afterwards and remembers no failure. */
static void ms_arena_take_all(ms_arena *arena, ms_arena *from)
{
    ms_arena_drop_spares(from);
    while (from->head != NULL) {
        ms_arena_chunk *chunk = from->head;
        from->head = chunk->next;
        chunk->next = arena->head;
        arena->head = chunk;
    }
    arena->total += from->total;
    arena->live += from->live;
    from->total = from->live = 0;
    from->oom = from->failed = false;
}

/* A spare chunk with room for size bytes; NULL when there is none. */
static ms_arena_chunk *ms_arena_take_spare(ms_arena *arena, size_t size)
{
    for (ms_arena_chunk **link = &arena->spare; *link != NULL; link = &(*link)->next) {
        ms_arena_chunk *chunk = *link;
        if (size <= chunk->size - sizeof *chunk) {
            *link = chunk->next;
            return chunk;
        }
    }
    return NULL;
}

/* A chunk of want bytes, with its head. */
static ms_arena_chunk *ms_arena_take(ms_arena *arena, size_t want)
{
    ms_arena_chunk *chunk = (ms_arena_chunk *)arena->allocator.alloc(arena->allocator.user, want);
    if (chunk == NULL)
        return NULL;
    chunk->size = want;
    chunk->used = sizeof *chunk;
    arena->total += want;
    return chunk;
}

static ms_arena_chunk *ms_arena_new_chunk(ms_arena *arena, size_t size)
{
    const size_t least = MACHSYM_ARENA_CHUNK;
    size_t want =
        least > 1 ? arena->total / 2 : 0; /* chunks grow with use: few calls, at most a third unused */
    if (want < least)
        want = least;
    if (want > ((size_t)4 << 20))
        want = (size_t)4 << 20;
    if (want < size + sizeof(ms_arena_chunk))
        want = size + sizeof(ms_arena_chunk);
    return ms_arena_take(arena, want);
}

static bool ms_arena_more(ms_arena *arena, size_t size)
{
    ms_arena_chunk *chunk = ms_arena_take_spare(arena, size);
    if (chunk == NULL) { /* the spare ones are too small: the allocator has a use for them */
        ms_arena_drop_spares(arena);
        chunk = ms_arena_new_chunk(arena, size);
    }
    if (chunk == NULL)
        return false;
    chunk->next = arena->head;
    arena->head = chunk;
    arena->live += chunk->size;
    return true;
}

/* How many bytes objects take in a chunk. */
static size_t ms_arena_size(size_t count, size_t size)
{
    return (count * size + 15u) & ~(size_t)15u;
}

/* Makes an empty arena ready for objects of that many bytes by ms_arena_size, and takes no more for them:
 * they will stay for long. Returns false when memory is out. */
static bool ms_arena_reserve(ms_arena *arena, size_t size)
{
    const size_t least = MACHSYM_ARENA_CHUNK;
    if (least == 1) /* each object has an allocation of its own */
        return true;
    arena->head = ms_arena_take(arena, size + sizeof(ms_arena_chunk));
    if (arena->head == NULL) {
        arena->oom = arena->failed = true;
        return false;
    }
    arena->head->next = NULL;
    arena->live = arena->head->size;
    return true;
}

/* Returns count objects of size bytes, 16-byte aligned and not cleared; NULL sets oom. */
static void *ms_arena_alloc(ms_arena *arena, size_t count, size_t size)
{
    size_t need = 0;
    if (arena->oom)
        return NULL;
    if (size != 0 && count <= ((size_t)-1 / 4) / size)
        need = (count * size + 15u) & ~(size_t)15u;
    if (need == 0 && count != 0) {
        arena->oom = arena->failed = true;
        return NULL;
    }
    if (arena->head == NULL || need > arena->head->size - arena->head->used) {
        if (!ms_arena_more(arena, need)) {
            arena->oom = arena->failed = true;
            return NULL;
        }
    }
    uint8_t *memory = (uint8_t *)arena->head + arena->head->used;
    arena->head->used += need;
    MACHSYM_COUNT_WORK(need / 64);
    return memory;
}

static ms_NOINLINE void *ms_arena_zeroed(ms_arena *arena, size_t count, size_t size)
{
    void *memory = ms_arena_alloc(arena, count, size);
    if (memory != NULL)
        ms_zero(memory, count * size);
    return memory;
}

/* Doubles *cap: in place when the array is the newest object and its chunk has room, else by copying. */
static void *ms_arena_double(ms_arena *arena, void *array, size_t count, size_t *cap, size_t size)
{
    size_t new_cap = *cap < 16 ? 32 : *cap * 2;
    size_t old_need = (*cap * size + 15u) & ~(size_t)15u;
    if (new_cap > ((size_t)-1 / 4) / size) {
        arena->oom = arena->failed = true;
        return NULL;
    }
    size_t more = ((new_cap * size + 15u) & ~(size_t)15u) - old_need;
    ms_arena_chunk *head = arena->head;
    if (head != NULL && array != NULL && (uint8_t *)array + old_need == (uint8_t *)head + head->used &&
        more <= head->size - head->used) {
        head->used += more;
        *cap = new_cap;
        MACHSYM_COUNT_WORK(more / 64);
        return array;
    }
    void *bigger = ms_arena_alloc(arena, new_cap, size);
    if (bigger == NULL)
        return NULL;
    ms_copy(bigger, array, count * size);
    *cap = new_cap;
    return bigger;
}

/* Gives back the chunks before the one in use: an array that grew alone in its arena has left them. */
static void ms_arena_drop_older(ms_arena *arena)
{
    while (arena->head != NULL && arena->head->next != NULL) {
        ms_arena_chunk *chunk = arena->head->next;
        arena->head->next = chunk->next;
        arena->total -= chunk->size;
        arena->live -= chunk->size;
        arena->allocator.free(arena->allocator.user, chunk, chunk->size);
    }
}

/* A copy of an array from another arena, of no more than it needs. NULL when memory is out. */
static void *ms_arena_keep(ms_arena *arena, const void *array, size_t count, size_t size)
{
    void *kept = ms_arena_alloc(arena, count, size);
    if (kept != NULL)
        ms_copy(kept, array, count * size);
    return kept;
}

/* Gives back what an array that grew does not use, if it is still the newest object. */
static void ms_arena_fit(ms_arena *arena, const void *array, size_t count, size_t cap, size_t size)
{
    size_t need = (count * size + 15u) & ~(size_t)15u;
    size_t had = (cap * size + 15u) & ~(size_t)15u;
    ms_arena_chunk *head = arena->head;
    if (head != NULL && array != NULL && (const uint8_t *)array + had == (const uint8_t *)head + head->used)
        head->used -= had - need;
}

/* Makes room for at least count + 1 objects. Returns the array, or NULL (and oom) with the old one
 * untouched. *cap is that of the array returned: keep it before anything else may fail. */
static ms_SHARED void *ms_arena_grow(ms_arena *arena, void *array, size_t count, size_t *cap, size_t size)
{
    return count < *cap ? array : ms_arena_double(arena, array, count, cap, size);
}

#endif /* ms_ROOM_base_memory */
