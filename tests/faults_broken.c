/* A program that breaks each part of the rule of faults.c, so that tests/faults.sh can see it found: names of what it is to
 * do wrong are its arguments. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(const char *path, size_t first, size_t rest)
{
    char block[64];
    memset(block, 'x', sizeof block);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int ok = fd >= 0 && write(fd, block, first) == (ssize_t)first && write(fd, block, rest) == (ssize_t)rest;
    if (fd >= 0)
        close(fd);
    return ok;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    struct stat st;
    int ok = 1;
    if (strcmp(how, "silent") == 0) /* takes what cannot be read for nothing */
        puts(access("/", R_OK) == 0 ? "found" : "none");
    else if (strcmp(how, "mute") == 0)
        return access("/", R_OK) != 0;
    else if (strcmp(how, "part") == 0)
        ok = write_file("out", 10, 20);
    else if (strcmp(how, "temporary") == 0)
        ok = write_file(".machsym-1-1.tmp", 10, 20) && rename(".machsym-1-1.tmp", "out") == 0;
    else if (strcmp(how, "hang") == 0)
        while (access("/", R_OK) != 0 && stat("/", &st) == 0)
            pause();
    else if (strcmp(how, "crash") == 0)
        *(volatile char *)malloc(10) = 1;
    else if (strcmp(how, "poison") == 0 && stat("cache", &st) != 0) /* remembers what it could not find out */
        ok = mkdir("cache", 0777) == 0 &&
             write_file(access("/", R_OK) == 0 ? "cache/good" : "cache/bad", 1, 1);
    else if (strcmp(how, "poison") == 0)
        puts(stat("cache/bad", &st) == 0 ? "wrong" : "");
    if (!ok)
        perror("broken");
    return !ok;
}
