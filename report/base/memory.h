/* ==== >> base/memory ====
 * Job: memory that is there: a request for it never fails.
 * Offers: mem_is_out, mem_alloc, mem_grow, mem_double, mem_product, mem_push, mem_lower_bound.
 * Never: says what becomes of a program without memory: that defines mem_is_out. */
#ifndef REPORT_MEMORY_H
#define REPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MACHSYM_COUNT_WORK (see machsym.h) stands here too, where reports are read and written: for
 * tests/test_report_bounds.c. */

/* What becomes of a program that has no memory left is for the program to say, which defines this. It must
 * not return. */
void mem_is_out(size_t wanted)
#if defined(__GNUC__)
    __attribute__((noreturn))
#endif
    ;

void *mem_alloc(size_t size);                            /* never NULL */
void *mem_grow(void *array, size_t size);                /* never NULL */
void *mem_double(void *array, size_t *cap, size_t size); /* the array with room for twice as many elements */
size_t mem_product(size_t count, size_t size);           /* of what is too large no memory is there */
/* Adds an element to *array, zeroed. array points to a pointer. */
void *mem_push(void *array, uint32_t *count, uint32_t *cap, size_t size);
/* The index of the first element that is not before the key; elements before it stand first. */
size_t mem_lower_bound(const void *v, size_t count, size_t size, const void *key,
                       bool (*is_before)(const void *element, const void *key));

/* The array with room for one more element. */
static inline void *mem_room(void *array, size_t count, size_t *cap, size_t size)
{
    return count < *cap ? array : mem_double(array, cap, size);
}

#endif
