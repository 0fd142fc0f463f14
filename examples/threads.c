/* Many threads: one image for all of them, since it never changes after it is open, and a session for each, since a
 * session keeps what its lookups decoded. There are no locks. Here each thread answers every second address of a function.
 *     cc -I. examples/threads.c -o threads -pthread && ./threads */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, FIRST = 0xa94, SIZE = 92 }; /* -[Player skip:] */

typedef struct worker {
    const machsym_image *image;
    unsigned number;
    size_t frames; /* found by this thread */
    bool failed;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    machsym_session_desc how = {.image = w->image};
    machsym_session *session;
    machsym_frame frames[16];
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK) {
        w->failed = true;
        return NULL;
    }
    for (uint64_t off = w->number; off < SIZE; off += THREADS)
        w->frames += machsym_session_frames_at_addr(session, 0x100000000 + FIRST + off, frames, 16);
    w->failed = machsym_session_lacked_memory(session);
    machsym_session_close(session);
    return NULL;
}

int main(void)
{
    machsym_open_desc file = {.path = "tests/fixtures/bin/demo.app.dSYM"};
    machsym_image *image;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    size_t frames = 0;

    if (machsym_image_open(&file, &image, NULL) != MACHSYM_OK)
        return 1;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.image = image, .number = i};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        frames += workers[i].frames;
        if (workers[i].failed)
            return 1;
    }
    machsym_image_close(image); /* after all its sessions */
    printf("%d addresses, %zu frames\n", SIZE, frames);
    return 0;
}
