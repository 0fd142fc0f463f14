/* What every test program uses: the API, or a room with its private functions (TEST_ROOM), checks that count,
 * the fixtures. Programs run from the top of the tree. */
#ifndef MACHSYM_TEST_H
#define MACHSYM_TEST_H

#include "room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_passed;
static int test_failed;
static int test_skipped;

/* The steps of a case that is one, however many they are. A case may have others inside, which are steps of it. */
static unsigned test_in_case;
static size_t test_steps;
static size_t test_bad_steps;
static size_t test_all_steps; /* of all cases */
static size_t test_wrong;     /* checks that failed, steps too */

static inline void test_count(bool ok)
{
    test_wrong += !ok;
    if (test_in_case > 0) {
        test_steps++;
        test_all_steps++;
        test_bad_steps += !ok;
        return;
    }
    if (ok)
        test_passed++;
    else
        test_failed++;
}

static inline void test_true(bool ok, const char *text, const char *file, int line)
{
    test_count(ok);
    if (!ok)
        printf("%s:%d: not true: %s\n", file, line, text);
}

static inline void test_equal(uint64_t got, uint64_t want, const char *text, const char *file, int line)
{
    test_count(got == want);
    if (got != want)
        printf("%s:%d: %s is %llu (0x%llx), not %llu (0x%llx)\n", file, line, text, (unsigned long long)got,
               (unsigned long long)got, (unsigned long long)want, (unsigned long long)want);
}

/* From here on checks are steps of one case, up to test_end. */
static inline void test_begin(void)
{
    if (test_in_case++ == 0)
        test_steps = test_bad_steps = 0;
}

/* The case ends: it passes when there was a step, and none failed. */
static inline void test_end(const char *what)
{
    if (--test_in_case > 0)
        return;
    test_count(test_steps > 0 && test_bad_steps == 0);
    if (test_steps == 0 || test_bad_steps > 0)
        printf("%s: %llu of %llu steps failed\n", what, (unsigned long long)test_bad_steps,
               (unsigned long long)test_steps);
}

/* ---- Text ---- */

static inline machsym_str test_str(const char *text)
{
    machsym_str str;
    str.ptr = text;
    str.len = text != NULL ? strlen(text) : 0;
    return str;
}

static inline bool test_same(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- Checks ---- */

static inline void test_text(machsym_str got, const char *want, const char *text, const char *file, int line)
{
    bool same = test_same(got, test_str(want));
    test_count(same);
    if (!same)
        printf("%s:%d: %s is \"%.*s\", not \"%s\"\n", file, line, text, (int)got.len,
               got.ptr != NULL ? got.ptr : "", want);
}

/* What cannot be checked here, and why. What CI may skip is listed in tests/skips. */
static inline void test_leave_out(const char *what, const char *why)
{
    test_skipped++;
    printf("skipped: %s: %s\n", what, why);
}

#define CHECK(condition)      test_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, want)   test_equal((uint64_t)(got), (uint64_t)(want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want)  test_text((got), (want), #got, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) test_text(test_str(got), (want), #got, __FILE__, __LINE__)

/* A number of the environment, 1 when it is not there. SAMPLE: one of how many inputs is tried of what
 * there are ten thousands of; CI tries all. STRIDE: the same for builds that are slow. */
static inline size_t test_env(const char *name)
{
    const char *wanted = getenv(name);
    return wanted != NULL && atoi(wanted) > 0 ? (size_t)atoi(wanted) : 1;
}

/* QUICK in the environment is for builds that are slow: no growth is measured, and what is tried at many places
 * is tried at fewer. */
static inline bool test_is_quick(void)
{
    return getenv("QUICK") != NULL;
}

/* Whether to measure the next trap at a second size too, and so its growth: all traps where SAMPLE is 1, none in a
 * slow build. */
static inline bool test_measures_growth(void)
{
    static size_t turn;
    return !test_is_quick() && turn++ % test_env("SAMPLE") == 0;
}

/* Whether this program has a sanitizer, which takes memory of its own. */
static inline bool test_is_sanitized(void)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    return true;
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

/* Prints the last line; main returns what it returns. Ahead of it stands how many steps the cases had (tests/run). */
static inline int test_done(void)
{
    if (test_in_case > 0) { /* the program ends in the middle of one */
        test_in_case = 0;
        test_count(false);
    }
    if (test_all_steps > 0)
        printf("steps: %llu\n", (unsigned long long)test_all_steps);
    printf("%d passed, %d failed, %d skipped\n", test_passed, test_failed, test_skipped);
    return test_failed == 0 && test_passed + test_skipped > 0 ? 0 : 1;
}

/* ---- Files ---- */

/* A whole file in memory. */
typedef struct test_file {
    uint8_t *ptr;
    size_t len;
} test_file;

/* Reads a file; ends the program when there is none. */
static inline test_file test_read(const char *path)
{
    test_file file = {NULL, 0};
    size_t cap = 0;
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    for (size_t got = 1; got != 0; file.len += got) {
        if (file.len == cap) {
            cap = cap == 0 ? 65536 : cap * 2;
            file.ptr = (uint8_t *)realloc(file.ptr, cap);
        }
        got = file.ptr != NULL ? fread(file.ptr + file.len, 1, cap - file.len, in) : 0;
    }
    fclose(in);
    return file;
}

/* ---- Images ---- */

static inline machsym_image *test_open_desc(const machsym_open_desc *desc)
{
    machsym_image *image = NULL;
    machsym_error err;
    if (machsym_image_open(desc, &image, &err) != MACHSYM_OK)
        printf("%s: %s (%s, %llu)\n", desc->path != NULL ? desc->path : "bytes", err.what, err.where,
               (unsigned long long)err.offset);
    test_true(image != NULL, "the image opens", __FILE__, __LINE__);
    return image;
}

static inline machsym_image *test_open(const char *path)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    return test_open_desc(&desc);
}

static inline machsym_image *test_open_bytes(const void *ptr, size_t len)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    return test_open_desc(&desc);
}

static inline machsym_session *test_session(const machsym_image *image, machsym_lines lines, uint32_t flags)
{
    machsym_session *session = NULL;
    machsym_session_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = lines;
    desc.flags = flags;
    test_true(machsym_session_open(&desc, &session, NULL) == MACHSYM_OK, "the session opens", __FILE__,
              __LINE__);
    return session;
}

/* How many names of one source an image has. */
static inline size_t test_count_names(const machsym_image *image, machsym_source source)
{
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    size_t count = 0;
    while (machsym_session_next_name(session, &at, &symbol))
        count += symbol.source == source;
    machsym_session_close(session);
    return count;
}

#endif
