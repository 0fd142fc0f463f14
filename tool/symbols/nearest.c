/* See nearest.h. */
#include "nearest.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct named {
    uint64_t start;
    machsym_str name;
} named;

struct nearest {
    const machsym_image *image;
    named *v;
    size_t count;
    size_t cap;
    pool strings;
};

static int nearest_by_start(const void *a, const void *b)
{
    const named *x = a;
    const named *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

nearest *nearest_open(const machsym_image *image, machsym_session *session)
{
    nearest *n = mem_alloc(sizeof *n);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    memset(n, 0, sizeof *n);
    n->image = image;
    while (machsym_session_next_symbol(session, &at, &symbol)) {
        if (symbol.name.len == 0)
            continue;
        n->v = mem_room(n->v, n->count, &n->cap, sizeof *n->v);
        n->v[n->count++] = (named){symbol.lo, pool_copy(&n->strings, symbol.name.ptr, symbol.name.len)};
    }
    if (n->count > 1)
        qsort(n->v, n->count, sizeof *n->v, nearest_by_start);
    return n;
}

void nearest_close(nearest *n)
{
    if (n == NULL)
        return;
    pool_free(&n->strings);
    free(n->v);
    free(n);
}

/* Where the section of an address begins; the address itself when no section has it. */
static uint64_t nearest_section_start(const machsym_image *image, uint64_t addr)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    while (machsym_image_next_section(image, &at, &section)) {
        if (addr >= section.addr && addr - section.addr < section.size)
            return section.addr;
    }
    return addr;
}

static bool nearest_starts_at_or_before(const void *element, const void *key)
{
    return ((const named *)element)->start <= *(const uint64_t *)key;
}

bool nearest_find(const nearest *n, uint64_t addr, machsym_str *name, uint64_t *start)
{
    size_t next = mem_lower_bound(n->v, n->count, sizeof *n->v, &addr, nearest_starts_at_or_before);
    if (next == 0 || n->v[next - 1].start < nearest_section_start(n->image, addr))
        return false;
    *name = n->v[next - 1].name;
    *start = n->v[next - 1].start;
    return true;
}
