/* Runs a fuzz target over files without libFuzzer: all of fuzz/corpus/NAME for build/replay/NAME, or those
 * named. Prints how many ran; a finding ends the program. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    fseek(in, 0, SEEK_END);
    size_t size = (size_t)ftell(in);
    rewind(in);
    uint8_t *data = malloc(size + (size == 0));
    if (data == NULL || fread(data, 1, size, in) != size) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    fclose(in);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

int main(int argc, char **argv)
{
    char folder[512];
    char path[1024];
    unsigned count = 0;
    const char *slash = strrchr(argv[0], '/');
    snprintf(folder, sizeof folder, "fuzz/corpus/%s", slash != NULL ? slash + 1 : argv[0]);
    for (int i = 1; i < argc; i++) {
        run_file(argv[i]);
        count++;
    }
    DIR *dir = argc > 1 ? NULL : opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        run_file(path);
        count++;
    }
    if (dir != NULL)
        closedir(dir);
    printf("%u passed, %d failed, 0 skipped\n", count, count == 0);
    return count == 0;
}
