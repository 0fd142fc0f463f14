/* Memory of the heap, for programs that end when memory runs out; see memory.h. machsym_report.h does not use
 * it, because all of its memory has a source. */
#include "memory.h"

#include <stdlib.h>

#ifdef msr_IS_JOINED

void *mem_from_heap(void *array, size_t size)
{
    (void)array;
    (void)size;
    return NULL;
}

void mem_to_heap(void *array)
{
    (void)array;
}

#else

void *mem_from_heap(void *array, size_t size)
{
    void *memory = realloc(array, size);
    if (memory == NULL)
        mem_is_out(size);
    return memory;
}

void mem_to_heap(void *array)
{
    free(array);
}

#endif
