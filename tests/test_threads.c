/* Threads that share an image, each with a session of its own, and answer as one thread does. All of them ask
 * at once for debug info that was not asked for before. Under `make tsan` a write to what they share would be
 * reported. */
#include "test.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 3, STEPS = 400 };

/* What one thread does and finds. */
typedef struct worker {
    pthread_t thread;
    const machsym_image *image;
    pthread_mutex_t *begin; /* held until all are there; NULL: there is only one */
    machsym_lines lines;
    uint64_t sum;
    bool ran;
} worker;

static uint64_t add_text(uint64_t sum, machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        sum = sum * 31 + (uint8_t)text.ptr[i];
    return sum;
}

static void *work(void *user)
{
    worker *w = (worker *)user;
    machsym_session_desc how;
    machsym_session *session;
    machsym_frame frames[32];
    machsym_section code;
    machsym_cursor at = {0, 0};
    memset(&how, 0, sizeof how);
    how.image = w->image;
    how.lines = w->lines;
    if (w->begin != NULL) {
        pthread_mutex_lock(w->begin);
        pthread_mutex_unlock(w->begin);
    }
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        return NULL;
    while (machsym_image_next_section(w->image, &at, &code) && !code.is_code) {
    }
    for (unsigned i = 0; i < ROUNDS * STEPS; i++) {
        uint64_t addr = code.addr + code.size * (i % STEPS) / STEPS;
        size_t count = machsym_session_frames_at_addr(session, addr, frames, 32);
        for (size_t j = 0; j < count && j < 32; j++)
            w->sum = add_text(add_text(w->sum + frames[j].line, frames[j].name), frames[j].linkage_name);
        if (i % STEPS == 0)
            machsym_session_trim(session);
    }
    machsym_session_close(session);
    w->ran = true;
    return NULL;
}

static const char *const objects = "tests/fixtures/bin"; /* where those of debug maps are */

static size_t read_file(void *user, uint64_t offset, void *out, size_t len)
{
    const test_file *file = (const test_file *)user;
    memcpy(out, file->ptr + offset, len);
    return len;
}

/* What one thread finds in an image that no other thread has. */
static uint64_t alone(const machsym_open_desc *desc, machsym_image_info *info)
{
    worker one;
    machsym_image *image = test_open_desc(desc);
    memset(&one, 0, sizeof one);
    one.image = image;
    work(&one);
    CHECK(one.ran && one.sum != 0);
    CHECK(machsym_image_count_damage(image, info));
    machsym_image_close(image);
    return one.sum;
}

static void check_desc(const machsym_open_desc *desc)
{
    worker workers[THREADS];
    machsym_image_info want;
    machsym_image_info got;
    pthread_mutex_t begin;
    uint64_t sum = alone(desc, &want);
    machsym_image *image = test_open_desc(desc);
    memset(workers, 0, sizeof workers);
    pthread_mutex_init(&begin, NULL);
    pthread_mutex_lock(&begin);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].image = image;
        workers[i].begin = &begin;
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    pthread_mutex_unlock(&begin);
    CHECK(machsym_image_count_damage(image, &got));
    CHECK_EQ(got.damage_count, want.damage_count);
    CHECK_EQ(got.read_count, want.read_count);
    CHECK_EQ(got.read_bytes, want.read_bytes);
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
        CHECK(workers[i].ran);
        CHECK_EQ(workers[i].sum, sum);
    }
    machsym_image_close(image);
    pthread_mutex_destroy(&begin);
}

/* A file by its path, and the same by a reader. */
static void check_file(const char *name)
{
    char path[256];
    machsym_open_desc desc;
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    test_file file = test_read(path);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.oso_dirs = &objects;
    desc.oso_dir_count = 1;
    check_desc(&desc);
    desc.io.read = read_file;
    desc.io.user = &file;
    desc.io.size = file.len;
    check_desc(&desc);
    free(file.ptr);
}

#ifndef __OPTIMIZE_SIZE__
static size_t taken; /* bytes that an image took for what its sessions share */

static void *count_alloc(void *user, size_t size)
{
    (void)user;
    taken += size;
    return malloc(size);
}

static void count_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

/* The table of symbols is made once an image, by the first session that needs all of it. It outlives the
 * session, and a trim. */
static void check_symbols_are_shared(void)
{
    machsym_open_desc desc;
    machsym_symbol symbols[3];
    memset(&desc, 0, sizeof desc);
    desc.path = "tests/fixtures/bin/inline-arm64-d4-14.dwarf";
    desc.allocator.alloc = count_alloc;
    desc.allocator.free = count_free;
    machsym_image *image = test_open_desc(&desc);
    size_t before = taken;
    for (unsigned i = 0; i < 3; i++) {
        machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
        machsym_cursor at = {0, 0};
        size_t own = machsym_session_memory(session);
        CHECK(machsym_session_next_symbol(session, &at, &symbols[i]));
        CHECK(i > 0 || taken > before);
        CHECK(i == 0 || taken == before);
        CHECK(i == 0 || machsym_session_memory(session) == own);
        before = taken;
        if (i == 1)
            machsym_session_trim(session);
        machsym_session_close(session);
        CHECK(symbols[i].name.len != 0 && symbols[i].name.ptr == symbols[0].name.ptr);
    }
    machsym_image_close(image);
}
#endif

int main(void)
{
#ifndef __OPTIMIZE_SIZE__ /* small code has each session make its own */
    check_symbols_are_shared();
#endif
    check_file("inline-arm64-d4-14.dwarf");
    check_file("inline-x86_64-d5-O0-22.dwarf");
    check_file("inline-arm64-d5-22");
    check_file("inline-x86_64-d4-noaranges.dwarf");
    check_file("cross-arm64-d5-22.dwarf");
    check_file("inline-x86_64-d4-zdebug.dwarf");
    check_file("map-x86_64-d4-O2/program");
    check_file("map-arm64-d5-O2/program");
    return test_done();
}
