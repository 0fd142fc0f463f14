/* Memory; see memory.h. */

#include "memory.h"
#include "machsym.h"
#include <string.h>

/* No heap gives this many bytes, and compilers know it. */
#define MEM_TOO_MUCH (SIZE_MAX / 2)

void *mem_resize(mem_source *m, void *array, size_t size)
{
    MACHSYM_COUNT_WORK(size / 64); /* the memory may have to be copied */
    size = size != 0 ? size : 1;
    return m != NULL ? m->resize(m, array, size) : mem_from_heap(array, size);
}

void mem_give(mem_source *m, void *array)
{
    if (m != NULL)
        m->give(m, array);
    else
        mem_to_heap(array);
}

size_t mem_times(mem_source *m, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        mem_resize(m, NULL, MEM_TOO_MUCH);
    return count * size;
}

void *mem_take(mem_source *m, size_t size)
{
    return mem_resize(m, NULL, size);
}

void *mem_twice(mem_source *m, void *array, size_t *cap, size_t size)
{
    *cap = *cap < 64 ? 64 : mem_times(m, *cap, 2);
    return mem_resize(m, array, mem_times(m, *cap, size));
}

void *mem_add(mem_source *m, void *array, uint32_t *count, uint32_t *cap, size_t size)
{
    char **v = (char **)array;
    if (*count == *cap) {
        if (*cap > UINT32_MAX / 2)
            mem_resize(m, NULL, MEM_TOO_MUCH);
        *cap = *cap < 16 ? 16 : *cap * 2;
        *v = (char *)mem_resize(m, *v, mem_times(m, *cap, size));
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
