/* Standard output; see out.h. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>

static int failure; /* errno of the first write that failed; 0: none did */

/* One thread at a time prints, those that answer together take turns. */
static void out_note(bool ok)
{
    if (!ok && failure == 0)
        failure = errno != 0 ? errno : EIO;
}

void out_write(const char *ptr, size_t len)
{
    if (len > 0 && failure == 0)
        out_note(fwrite(ptr, 1, len, stdout) == len);
}

void out_text(text *t)
{
    out_write(t->v, t->len);
    t->len = 0;
}

void out_c(const char *c_string)
{
    out_write(c_string, strlen(c_string));
}

void out_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (failure == 0)
        out_note(vfprintf(stdout, format, args) >= 0);
    va_end(args);
}

void out_format_to(text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t room = len > 0 ? (size_t)len : 0;
    vsnprintf(text_room(t, room + 1), room + 1, format, args);
    t->len += room;
}

void out_line(const char *format, ...)
{
    text line = {0};
    va_list args;
    va_start(args, format);
    out_format_to(&line, format, args);
    va_end(args);
    text_end_line(&line, 0);
    out_text(&line);
    text_free(&line);
}

void out_whole(void)
{
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

void out_flush(void)
{
    if (failure == 0)
        out_note(fflush(stdout) == 0);
}

int out_failure(void)
{
    return failure;
}

bool out_failed(void)
{
    return failure != 0;
}
