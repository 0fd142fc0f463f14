/* Memory; see memory.h. */

#include "memory.h"
#include "machsym.h"
#include <stdlib.h>
#include <string.h>

static void *mem_checked(void *memory, size_t size)
{
    if (memory == NULL)
        mem_is_out(size);
    return memory;
}

void *mem_grow(void *array, size_t size)
{
    MACHSYM_COUNT_WORK(size / 64); /* it may have to be copied */
    return mem_checked(realloc(array, size != 0 ? size : 1), size);
}

size_t mem_product(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        mem_checked(NULL, SIZE_MAX);
    return count * size;
}

void *mem_alloc(size_t size)
{
    return mem_grow(NULL, size);
}

void *mem_double(void *array, size_t *cap, size_t size)
{
    *cap = *cap < 64 ? 64 : mem_product(*cap, 2);
    return mem_grow(array, mem_product(*cap, size));
}

void *mem_push(void *array, uint32_t *count, uint32_t *cap, size_t size)
{
    char **v = (char **)array;
    if (*count == *cap) {
        if (*cap > UINT32_MAX / 2)
            mem_checked(NULL, SIZE_MAX);
        *cap = *cap < 16 ? 16 : *cap * 2;
        *v = (char *)mem_grow(*v, mem_product(*cap, size));
    }
    char *element = *v + (size_t)(*count)++ * size;
    memset(element, 0, size);
    return element;
}

size_t mem_lower_bound(const void *v, size_t count, size_t size, const void *key,
                       bool (*is_before)(const void *element, const void *key))
{
    size_t lo = 0;
    while (count > 0) {
        size_t half = count / 2;
        MACHSYM_COUNT_WORK(1);
        if (is_before((const char *)v + (lo + half) * size, key)) {
            lo += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return lo;
}
