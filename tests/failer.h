/* An allocator that fails when it is told to, and counts what is out. */
#ifndef FAILER_H
#define FAILER_H

#include "test.h"

/* Fails the n-th allocation once, or that and all after it. */
typedef struct failer {
    size_t calls;
    size_t fail_at; /* 0: never */
    bool for_good;
    size_t out;
    size_t bytes_out;
} failer;

static inline void *failing_alloc(void *user, size_t size)
{
    failer *f = (failer *)user;
    f->calls++;
    if (f->fail_at != 0 && (f->calls == f->fail_at || (f->for_good && f->calls > f->fail_at)))
        return NULL;
    void *memory = malloc(size);
    f->out++;
    f->bytes_out += size;
    return memory;
}

static inline void failing_free(void *user, void *ptr, size_t size)
{
    failer *f = (failer *)user;
    f->out--;
    f->bytes_out -= size;
    free(ptr);
}

#endif
