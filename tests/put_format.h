/* Formatted text for reports that tests put together. */
#ifndef MACHSYM_TEST_PUT_FORMAT_H
#define MACHSYM_TEST_PUT_FORMAT_H
#include "../report/base/text.h"

#include <stdarg.h>

static void put_format(text *t, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void put_format(text *t, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_c(t, line);
}

#endif
