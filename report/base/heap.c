/* Memory of the heap, for programs that end when there is none left; see memory.h. In machsym_report.h all memory has
 * a source: nothing is asked for here. */
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
