/* Threads that share an image, each with a session of its own, and answer as one thread does. Under `make
 * tsan` a write to what they share would be reported. */
#include "test.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 3, STEPS = 400 };

/* What one thread does and finds. */
typedef struct worker {
    pthread_t thread;
    const machsym_image *image;
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
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        return NULL;
    while (machsym_image_next_section(w->image, &at, &code) && !code.is_code) {
    }
    for (unsigned i = 0; i < ROUNDS * STEPS; i++) {
        uint64_t addr = code.addr + code.size * (i % STEPS) / STEPS;
        size_t count = machsym_session_frames(session, addr, frames, 32);
        for (size_t j = 0; j < count && j < 32; j++)
            w->sum = add_text(w->sum + frames[j].line, frames[j].name);
        if (i % STEPS == 0)
            machsym_session_trim(session);
    }
    machsym_session_close(session);
    w->ran = true;
    return NULL;
}

static const char *const objects = "tests/fixtures/bin"; /* where those of debug maps are */

static void check_file(const char *name)
{
    char path[256];
    worker workers[THREADS + 1];
    machsym_open_desc desc;
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.oso_dirs = &objects;
    desc.oso_dir_count = 1;
    machsym_image *image = test_open_desc(&desc);
    memset(workers, 0, sizeof workers);
    for (unsigned i = 0; i <= THREADS; i++)
        workers[i].image = image;
    work(&workers[THREADS]);
    CHECK(workers[THREADS].ran && workers[THREADS].sum != 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
        CHECK(workers[i].ran);
        CHECK_EQ(workers[i].sum, workers[THREADS].sum);
    }
    machsym_image_close(image);
}

int main(void)
{
    check_file("inline-arm64-d4-14.dwarf");
    check_file("inline-x86_64-d5-O0-22.dwarf");
    check_file("inline-arm64-d5-22");
    check_file("inline-x86_64-d4-noaranges.dwarf");
    check_file("cross-arm64-d5-22.dwarf");
    check_file("map-x86_64-d4-O2/program");
    check_file("map-arm64-d5-O2/program");
    return test_done();
}
