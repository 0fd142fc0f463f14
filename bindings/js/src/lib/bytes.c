/* What both programs have of a C library beside memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes ---- */

/* With bulk memory these are one instruction each. */
void *memcpy(void *to, const void *from, size_t len)
{
    return __builtin_memcpy(to, from, len);
}

void *memmove(void *to, const void *from, size_t len)
{
    return __builtin_memmove(to, from, len);
}

void *memset(void *to, int byte, size_t len)
{
    return __builtin_memset(to, byte, len);
}

int memcmp(const void *a, const void *b, size_t len)
{
    const unsigned char *x = a;
    const unsigned char *y = b;
    size_t i = 0;
    while (i < len && x[i] == y[i])
        i++;
    return i < len ? x[i] - y[i] : 0;
}

size_t strlen(const char *text)
{
    size_t len = 0;
    while (text[len] != 0)
        len++;
    return len;
}

void *memchr(const void *ptr, int byte, size_t len)
{
    const unsigned char *at = ptr;
    for (size_t i = 0; i < len; i++) {
        if (at[i] == (unsigned char)byte)
            return (void *)(at + i);
    }
    return NULL;
}

int strncmp(const char *a, const char *b, size_t len)
{
    size_t i = 0;
    while (i < len && a[i] == b[i] && a[i] != 0)
        i++;
    return i < len ? (unsigned char)a[i] - (unsigned char)b[i] : 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int letter)
{
    return memchr(text, letter, strlen(text) + 1);
}

char *strstr(const char *text, const char *part)
{
    size_t len = strlen(part);
    for (; strncmp(text, part, len) != 0; text++) {
        if (*text == 0)
            return NULL;
    }
    return (char *)text;
}

/* ---- Order ---- */

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

typedef int (*comparison)(const void *, const void *);

/* Moves an element of a heap down to its place. */
static void sink(unsigned char *v, size_t at, size_t count, size_t size, comparison compare)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && compare(v + child * size, v + (child + 1) * size) < 0)
            child++;
        if (compare(v + at * size, v + child * size) >= 0)
            return;
        swap(v + at * size, v + child * size, size);
        at = child;
    }
}

/* By a heap: no memory, and no order of the elements makes it slow. */
void qsort(void *array, size_t count, size_t size, comparison compare)
{
    unsigned char *v = array;
    for (size_t at = count / 2; at-- > 0;)
        sink(v, at, count, size, compare);
    for (size_t left = count; left-- > 1;) {
        swap(v, v + left * size, size);
        sink(v, 0, left, size, compare);
    }
}
