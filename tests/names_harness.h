/* What the tests of the demanglers share: running a name, comparing, vector files. Include behind machsym.h
 * (with MACHSYM_IMPLEMENTATION) and the fragment under test. Inline, because no test uses all of it. */
#ifndef NAMES_HARNESS_H
#define NAMES_HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OUT_SIZE = 1 << 20, SMALL_FRAME = 24 << 10, LARGE_FRAME = 256 << 10 };

typedef bool (*entry_fn)(ms_dm *d);

static int passed, failed;
static char out_a[OUT_SIZE], out_b[OUT_SIZE];
static unsigned char *frame;

static inline void report(bool ok, const char *what, const char *name, const char *got, const char *expected)
{
    if (ok) {
        passed++;
        return;
    }
    if (failed++ < 20)
        printf("FAIL %s\n  name     %s\n  got      %s\n  expected %s\n", what, name, got, expected);
}

static inline bool try_frame(entry_fn entry, ms_dm *d, size_t size)
{
    d->at = d->out_len = d->mem_used = 0;
    d->depth = 0;
    d->failed = d->no_mem = false;
    d->out_limit = (256u << 10) + 16 * d->len;
    d->work = 64 * d->len + 65536;
    d->mem = frame;
    d->mem_len = size;
    return entry(d);
}

/* Runs one name as the library will. Returns the length, or SIZE_MAX when the name is not taken. The name
 * lies at the end of its own allocation, so that checking tools see a read too far. */
static inline size_t run(entry_fn entry, const char *name, size_t len, uint32_t flags, char *out, size_t cap)
{
    if (frame == NULL)
        frame = (unsigned char *)malloc(LARGE_FRAME);
    char *copy = (char *)malloc(len + (len == 0));
    memcpy(copy, name, len);
    ms_dm d;
    memset(&d, 0, sizeof d);
    d.s = copy;
    d.len = len;
    d.flags = flags;
    d.out = out;
    d.cap = cap;
    bool ok = try_frame(entry, &d, SMALL_FRAME);
    if (!ok && d.no_mem)
        ok = try_frame(entry, &d, LARGE_FRAME);
    free(copy);
    return ok ? d.out_len : SIZE_MAX;
}

/* Runs one name into out_a as a string; the name itself when it is not taken. */
static inline const char *run_text(entry_fn entry, const char *name, uint32_t flags)
{
    size_t len = run(entry, name, strlen(name), flags, out_a, OUT_SIZE - 1);
    if (len == SIZE_MAX)
        return name;
    out_a[len] = '\0';
    return out_a;
}

static inline void check(entry_fn entry, const char *name, uint32_t flags, const char *expected)
{
    const char *got = run_text(entry, name, flags);
    report(strcmp(got, expected) == 0, "text", name, got, expected);
}

/* The result must not depend on cap, and nothing may be stored behind it. */
static inline void check_caps(entry_fn entry, const char *name, uint32_t flags)
{
    size_t len = strlen(name);
    size_t full = run(entry, name, len, flags, out_a, OUT_SIZE);
    size_t caps[] = {0, 1, full / 2, full, full + 1};
    for (size_t i = 0; full != SIZE_MAX && i < sizeof caps / sizeof caps[0]; i++) {
        memset(out_b, '#', full + 2);
        size_t got = run(entry, name, len, flags, caps[i] == 0 ? NULL : out_b, caps[i]);
        size_t kept = caps[i] < full ? caps[i] : full;
        bool ok = got == full && memcmp(out_a, out_b, kept) == 0 && out_b[caps[i]] == '#';
        report(ok, "cap", name, "a result that depends on cap", "the same");
    }
    report(full != SIZE_MAX, "cap", name, "not taken", "taken");
}

/* Every beginning of a name is read within bounds, and gives the same twice. */
static inline void check_truncation(entry_fn entry, const char *name, uint32_t flags)
{
    for (size_t len = 0; len < strlen(name); len++) {
        size_t a = run(entry, name, len, flags, out_a, OUT_SIZE);
        size_t b = run(entry, name, len, flags, out_b, OUT_SIZE);
        bool ok = a == b && (a == SIZE_MAX || memcmp(out_a, out_b, a) == 0);
        report(ok, "truncation", name, "two results", "one");
    }
}

/* A hostile name must end quickly, whatever the result. */
static inline void check_time(entry_fn entry, const char *what, const char *name)
{
    clock_t start = clock();
    size_t len = run(entry, name, strlen(name), 0, out_a, OUT_SIZE);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    char text[64];
    snprintf(text, sizeof text, "%.2f s, %s", seconds, len == SIZE_MAX ? "not taken" : "taken");
    report(seconds < 0.5, "time", what, text, "under 0.5 s");
}

/* Writes text count times at *at. */
static inline void repeat(char **at, const char *text, size_t count)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < count; i++, *at += len)
        memcpy(*at, text, len + 1);
}

/* Splits a line at its tabs; missing fields are "". */
static inline void split(char *line, char *field[], size_t count)
{
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < count; i++) {
        field[i] = line;
        char *tab = strchr(line, '\t');
        if (tab != NULL)
            *tab++ = '\0';
        line = tab != NULL ? tab : line + strlen(line);
    }
}

/* Calls row for every line of dir/file; a missing file is said and skipped. */
static inline void each_row(const char *dir, const char *file, void (*row)(char *field[4]))
{
    static char line[1 << 18];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        printf("skipped: no %s\n", file);
        return;
    }
    while (fgets(line, sizeof line, in) != NULL) {
        char *field[4];
        split(line, field, 4);
        row(field);
    }
    fclose(in);
}

static inline int finish(void)
{
    free(frame);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#endif
