/* A peer of bench/run: gcc's libbacktrace over a Mach-O file's DWARF.
 *   libbacktrace FILE < addresses      hexadecimal, one a line
 * Prints the frames of each address, innermost first, with names as they are in the file, then an empty
 * line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "backtrace.h"

static void on_error(void *data, const char *text, int code)
{
    (void)data;
    fprintf(stderr, "libbacktrace: %s (%d)\n", text, code);
}

static int on_frame(void *data, uintptr_t addr, const char *file, int line, const char *name)
{
    (void)data;
    (void)addr;
    printf("%s\n%s:%d\n", name ? name : "??", file ? file : "??", line);
    return 0;
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    char line[64];
    struct backtrace_state *state;
    if (argc != 2) {
        fprintf(stderr, "usage: libbacktrace FILE < addresses\n");
        return 1;
    }
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    state = backtrace_create_state(argv[1], 0, on_error, NULL);
    if (state == NULL)
        return 1;
    while (fgets(line, sizeof line, stdin) != NULL) {
        backtrace_pcinfo(state, (uintptr_t)strtoull(line, NULL, 16), on_frame, on_error, NULL);
        putchar('\n');
    }
    return 0;
}
