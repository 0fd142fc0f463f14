/* FORTIFY for a C library that has none, as musl: the compiler tells how much room a copy or a formatted text has, and where
 * it cannot prove that it suffices, it is compared when the program runs. What does not fit ends the program before anything
 * is written. Used by packaging/dist, for each file by -include, and once with FORTIFY_FUNCTIONS for the functions below. It
 * needs gcc: clang has no __builtin_va_arg_pack. Formats are not checked: the tool's are literals (-Wformat-security). */
#ifndef MACHSYM_FORTIFY_H
#define MACHSYM_FORTIFY_H
#pragma GCC system_header
#include <features.h>
#ifdef __GLIBC__
#error "glibc has FORTIFY of its own"
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the compiler calls where it is not sure. */
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int value, size_t n, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...);
int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list list);
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
_Noreturn void fortify_overflow(void);

#if defined FORTIFY_FUNCTIONS
_Noreturn void fortify_overflow(void)
{
    static const char said[] = "*** buffer overflow detected ***: terminated\n";
    if (write(2, said, sizeof said - 1) < 0)
        abort();
    abort();
}

static void fortify_compare(size_t n, size_t room)
{
    if (n > room)
        fortify_overflow();
}

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
    fortify_compare(n, room);
    return memcpy(to, from, n);
}

void *__memmove_chk(void *to, const void *from, size_t n, size_t room)
{
    fortify_compare(n, room);
    return memmove(to, from, n);
}

void *__memset_chk(void *to, int value, size_t n, size_t room)
{
    fortify_compare(n, room);
    return memset(to, value, n);
}

char *__strcpy_chk(char *to, const char *from, size_t room)
{
    size_t n = strlen(from) + 1;
    fortify_compare(n, room);
    return memcpy(to, from, n);
}

int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list list)
{
    (void)flag;
    fortify_compare(n, room);
    return vsnprintf(to, n, format, list);
}

int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = __vsnprintf_chk(to, n, flag, room, format, list);
    va_end(list);
    return length;
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(to, room, format, list);
    va_end(list);
    (void)flag;
    fortify_compare(length < 0 ? 0 : (size_t)length + 1, room);
    return length;
}
#elif defined __OPTIMIZE__
/* 0: up to the end of the whole object, as copies may go over several members; 1: of the member, as texts may not. */
#define FORTIFY_WHOLE(p)  __builtin_dynamic_object_size(p, 0)
#define FORTIFY_MEMBER(p) __builtin_dynamic_object_size(p, 1)
#define FORTIFY_INLINE    extern inline __attribute__((gnu_inline, always_inline, artificial))

FORTIFY_INLINE void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    return __builtin___memcpy_chk(to, from, n, FORTIFY_WHOLE(to));
}

FORTIFY_INLINE void *memmove(void *to, const void *from, size_t n)
{
    return __builtin___memmove_chk(to, from, n, FORTIFY_WHOLE(to));
}

FORTIFY_INLINE void *memset(void *to, int value, size_t n)
{
    return __builtin___memset_chk(to, value, n, FORTIFY_WHOLE(to));
}

FORTIFY_INLINE char *strcpy(char *restrict to, const char *restrict from)
{
    return __builtin___strcpy_chk(to, from, FORTIFY_MEMBER(to));
}

FORTIFY_INLINE int vsnprintf(char *restrict to, size_t n, const char *restrict format, va_list list)
{
    return __builtin___vsnprintf_chk(to, n, 1, FORTIFY_MEMBER(to), format, list);
}

FORTIFY_INLINE int snprintf(char *restrict to, size_t n, const char *restrict format, ...)
{
    return __builtin___snprintf_chk(to, n, 1, FORTIFY_MEMBER(to), format, __builtin_va_arg_pack());
}

FORTIFY_INLINE int sprintf(char *restrict to, const char *restrict format, ...)
{
    return __builtin___sprintf_chk(to, 1, FORTIFY_MEMBER(to), format, __builtin_va_arg_pack());
}

/* The compiler has nothing for these: they are called by another name. Room that it does not know is SIZE_MAX. */
extern __typeof__(read) fortify_read __asm__("read");
extern __typeof__(pread) fortify_pread __asm__("pread");
extern __typeof__(fread) fortify_fread __asm__("fread");

FORTIFY_INLINE ssize_t read(int fd, void *to, size_t n)
{
    if (n > FORTIFY_WHOLE(to))
        fortify_overflow();
    return fortify_read(fd, to, n);
}

FORTIFY_INLINE ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    if (n > FORTIFY_WHOLE(to))
        fortify_overflow();
    return fortify_pread(fd, to, n, at);
}

FORTIFY_INLINE size_t fread(void *restrict to, size_t size, size_t n, FILE *restrict file)
{
    if (size > 0 && n > FORTIFY_WHOLE(to) / size)
        fortify_overflow();
    return fortify_fread(to, size, n, file);
}
#endif

#endif
