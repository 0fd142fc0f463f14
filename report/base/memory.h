/* ==== >> base/memory ====
 * Job: memory whose requests never fail.
 * Offers: mem_source, mem_is_out; mem_take, mem_resize, mem_give, mem_twice, mem_times, mem_add, mem_more; of the
 * heap mem_alloc, mem_grow, mem_double, mem_product, mem_push, mem_room; mem_lower_bound.
 * Never: decides what happens when memory runs out: the program defines mem_is_out. */
#ifndef REPORT_MEMORY_H
#define REPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code that reads and writes reports counts its work with MACHSYM_COUNT_WORK, too (see machsym.h), for
 * tests/test_report_bounds.c. */

#ifndef msr_IS_JOINED
/* The program defines what happens when memory runs out. This function must not return. */
void mem_is_out(size_t wanted)
#if defined(__GNUC__)
    __attribute__((noreturn))
#endif
    ;
#endif

/* A source of memory. A request never fails: if memory runs out, the call does not return. */
typedef struct mem_source {
    void *(*resize)(struct mem_source *m, void *array, size_t size); /* array NULL: allocates a new one */
    void (*give)(struct mem_source *m, void *array);                 /* frees; array may be NULL */
} mem_source;

void *mem_from_heap(void *array, size_t size); /* works as resize */
void mem_to_heap(void *array);
/* In all of these, a NULL source is the heap of the C library with mem_is_out. */
void *mem_resize(mem_source *m, void *array, size_t size);
void *mem_take(mem_source *m, size_t size);
void mem_give(mem_source *m, void *array);
void *mem_twice(mem_source *m, void *array, size_t *cap, size_t size); /* room for twice as many elements */
size_t mem_times(mem_source *m, size_t count, size_t size);            /* on overflow memory is out */
/* Adds a zeroed element to *array. `array` is a pointer to a pointer. */
void *mem_add(mem_source *m, void *array, uint32_t *count, uint32_t *cap, size_t size);
/* Returns the index of the first element that is not before the key. The array must be sorted. */
size_t mem_lower_bound(const void *v, size_t count, size_t size, const void *key,
                       bool (*is_before)(const void *element, const void *key));

/* Not inline where size counts, as text.h has it. */
#if defined(__GNUC__) && defined(__OPTIMIZE_SIZE__)
#define MEM_INLINE __attribute__((noinline, unused))
#else
#define MEM_INLINE inline
#endif

/* Makes room for one more element. */
static MEM_INLINE void *mem_more(mem_source *m, void *array, size_t count, size_t *cap, size_t size)
{
    return count < *cap ? array : mem_twice(m, array, cap, size);
}

/* ---- From the heap ---- */

static inline void *mem_alloc(size_t size)
{
    return mem_take(NULL, size);
}

static inline void *mem_grow(void *array, size_t size)
{
    return mem_resize(NULL, array, size);
}

static inline void *mem_double(void *array, size_t *cap, size_t size)
{
    return mem_twice(NULL, array, cap, size);
}

static inline size_t mem_product(size_t count, size_t size)
{
    return mem_times(NULL, count, size);
}

static inline void *mem_push(void *array, uint32_t *count, uint32_t *cap, size_t size)
{
    return mem_add(NULL, array, count, cap, size);
}

static inline void *mem_room(void *array, size_t count, size_t *cap, size_t size)
{
    return mem_more(NULL, array, count, cap, size);
}

#endif
