/* What the tests of the demanglers share: running one language or the front, comparing, vector files.
 * Inline, because no test uses all of it. */
#ifndef NAMES_HARNESS_H
#define NAMES_HARNESS_H

#include "test.h"

#include <time.h>

enum { OUT_SIZE = 2 << 20, FIELDS = 5, SHOWN_FAILURES = 20 };

typedef bool (*entry_fn)(ms_dm *d); /* ms_dmswp_run, ms_dmrs_run, ms_dmcxp_run, ms_dmd_run */

static char out_a[OUT_SIZE], out_b[OUT_SIZE];

static inline void report(bool ok, const char *what, const char *name, const char *got, const char *expected)
{
    test_count(ok);
    if (!ok && test_wrong <= SHOWN_FAILURES)
        printf("%s: %.300s\n  got      %.500s\n  expected %.500s\n", what, name, got, expected);
}

/* One try as the front makes it. The frame has a block of its own, so that checking tools see a byte too
 * far. */
static inline bool try_frame(entry_fn entry, ms_dm *d, size_t size)
{
    unsigned char *frame = (unsigned char *)malloc(size);
    memset(frame, 0xa5, size < 4096 ? size : 4096); /* nothing may count on zeros */
    ms_dm_start(d);
    d->no_mem = false;
    d->mem = frame;
    d->mem_len = size;
    bool ok = entry(d);
    if (d->out_len > d->out_limit)
        ok = false;
    free(frame);
    return ok;
}

/* Runs one name as the front does: the small frame, then the large one. Returns the length, or SIZE_MAX when
 * the name is not taken. */
static inline size_t run(entry_fn entry, const char *name, size_t len, uint32_t flags, char *out, size_t cap)
{
    char *copy = (char *)malloc(len + (len == 0));
    memcpy(copy, name, len);
    ms_dm d;
    memset(&d, 0, sizeof d);
    d.s = copy;
    d.len = len;
    d.flags = flags;
    d.out = out;
    d.cap = cap;
    bool ok = try_frame(entry, &d, MACHSYM_DEMANGLE_SMALL_STACK);
    if (!ok && d.no_mem)
        ok = try_frame(entry, &d, MACHSYM_DEMANGLE_STACK);
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

/* The result must not depend on cap, and nothing may be stored after it. */
static inline void check_caps(entry_fn entry, const char *name, uint32_t flags)
{
    test_begin();
    size_t len = strlen(name);
    size_t full = run(entry, name, len, flags, out_a, OUT_SIZE);
    size_t caps[] = {0, 1, full / 2, full - 1, full, full + 1};
    for (size_t i = 0; full != SIZE_MAX && i < sizeof caps / sizeof caps[0]; i++) {
        memset(out_b, '#', full + 2);
        size_t got = run(entry, name, len, flags, caps[i] == 0 ? NULL : out_b, caps[i]);
        size_t kept = caps[i] < full ? caps[i] : full;
        bool ok = got == full && memcmp(out_a, out_b, kept) == 0 && out_b[caps[i]] == '#';
        report(ok, "cap", name, "a result that depends on cap", "the same");
    }
    report(full != SIZE_MAX, "cap", name, "not taken", "taken");
    test_end(name);
}

/* Every beginning of a name is read within bounds, and gives the same twice. */
static inline void check_truncation(entry_fn entry, const char *name, uint32_t flags)
{
    test_begin();
    for (size_t len = 0; len == 0 || len < strlen(name); len++) {
        size_t a = run(entry, name, len, flags, out_a, OUT_SIZE);
        size_t b = run(entry, name, len, flags, out_b, OUT_SIZE);
        bool ok = a == b && (a == SIZE_MAX || memcmp(out_a, out_b, a) == 0);
        report(ok, "truncation", name, "two results", "one");
    }
    test_end(name);
}

/* A hostile name ends within its budgets, whatever the result. The limit is wide enough for slow machines and
 * emulators: without the budgets these names would take hours. */
static inline void check_time(entry_fn entry, const char *what, const char *name)
{
    clock_t start = clock();
    size_t len = run(entry, name, strlen(name), 0, NULL, 0);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    char text[64];
    snprintf(text, sizeof text, "%.2f s, %s", seconds, len == SIZE_MAX ? "not taken" : "taken");
    report(seconds < 20, what, name, text, "an end in time");
}

/* Writes text count times at *at. */
static inline void repeat(char **at, const char *text, size_t count)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < count; i++, *at += len)
        memcpy(*at, text, len + 1);
}

/* Splits a line at its tabs; missing fields are "". */
static inline void split(char *line, char *field[FIELDS])
{
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < FIELDS; i++) {
        field[i] = line;
        char *tab = strchr(line, '\t');
        if (tab != NULL)
            *tab++ = '\0';
        line = tab != NULL ? tab : line + strlen(line);
    }
}

/* The folder of the vectors: what the environment's VECTORS says, all of them beside the checkout, or the
 * sample that comes with the project. */
static inline const char *vector_folder(void)
{
    static const char *const all = "../shared/vectors";
    static bool told;
    const char *folder = getenv("VECTORS");
    if (folder != NULL)
        return folder;
    FILE *in = fopen("../shared/vectors/README.md", "r");
    if (in != NULL) {
        fclose(in);
        return all;
    }
    if (!told)
        test_leave_out(all, "it is not here, and tests/vectors is only a sample");
    told = true;
    return "tests/vectors";
}

/* Units that are read one after the other are not nested, so no limit of depth counts them. A name of
 * SIBLINGS units between a head and a tail prints the text of each, with commas between them. */
static inline void check_siblings(entry_fn entry, const char *const ends[4], const char *const (*units)[2],
                                  size_t count)
{
    enum { SIBLINGS = 300, ROOM = 64 };
    char name[SIBLINGS * ROOM], want[SIBLINGS * ROOM];
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)sprintf(name, "%s", ends[0]);
        size_t to = (size_t)sprintf(want, "%s", ends[2]);
        for (unsigned k = 0; k < SIBLINGS; k++) {
            at += (size_t)sprintf(name + at, "%s", units[i][0]);
            to += (size_t)sprintf(want + to, "%s%s", k > 0 ? ", " : "", units[i][1]);
        }
        sprintf(name + at, "%s", ends[1]);
        sprintf(want + to, "%s", ends[3]);
        check(entry, name, 0, want);
    }
}

/* Calls row for every line of a table in a folder. */
static inline void each_row_in(const char *folder, const char *file, void (*row)(char *field[FIELDS]))
{
    static char line[1 << 20];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *in = fopen(path, "r");
    test_true(in != NULL, path, __FILE__, __LINE__);
    if (in == NULL)
        return;
    test_begin(); /* a table is a case, its rows are steps */
    while (fgets(line, sizeof line, in) != NULL) {
        char *field[FIELDS];
        split(line, field);
        row(field);
    }
    test_end(path);
    fclose(in);
}

/* Calls row for every line of a vector file. */
static inline void each_row(const char *file, void (*row)(char *field[FIELDS]))
{
    each_row_in(vector_folder(), file, row);
}

#endif
