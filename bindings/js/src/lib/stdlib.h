/* What flat.c uses of the C library, for WebAssembly without one. */
#ifndef LIB_STDLIB_H
#define LIB_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *ptr);
void qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
