/* Copies an object file under another name: `rename FROM=TO ... <in.o >out.o` replaces every FROM by its
 * TO, of equal length. The namespace, the mangled names and the source file's name all change, so that
 * linker and dsymutil meet a new unit, at a thousandth of the price of compiling one. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(FILE *in, size_t *len)
{
    size_t room = 1 << 20;
    char *v = malloc(room);
    size_t got;
    *len = 0;
    while (v && (got = fread(v + *len, 1, room - *len, in)) > 0) {
        *len += got;
        if (*len == room)
            v = realloc(v, room *= 2);
    }
    return v;
}

static void replace_all(char *v, size_t len, const char *from, const char *to)
{
    size_t name_len = strlen(to);
    for (char *at = v; (at = memmem(at, len - (size_t)(at - v), from, name_len)) != NULL; at += name_len)
        memcpy(at, to, name_len);
}

int main(int argc, char **argv)
{
    size_t len;
    char *v = read_all(stdin, &len);
    if (!v)
        return 1;
    for (int i = 1; i < argc; i++) {
        char *to = strchr(argv[i], '=');
        if (!to || to == argv[i] || (size_t)(to - argv[i]) != strlen(to + 1)) {
            fprintf(stderr, "usage: rename FROM=TO ... <in.o >out.o (FROM and TO of one length)\n");
            return 1;
        }
        *to++ = 0;
        replace_all(v, len, argv[i], to);
    }
    int failed = fwrite(v, 1, len, stdout) != len;
    free(v);
    return failed;
}
